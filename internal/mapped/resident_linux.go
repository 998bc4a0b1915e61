package mapped

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Resident reports whether the pages of the bytes from … to-1 are in the page
// cache, by mincore: a quarter of a microsecond for a page. known is false where the
// kernel does not tell: of a file that the program neither owns nor may write
// to, it would call all pages resident.
func (f *File) Resident(from, to int) (resident, known bool) {
	if !f.told || from < 0 || to > len(f.data) || from >= to {
		return false, false
	}
	from -= from % pageSize
	var few [8]byte
	for from < to {
		n := min(to-from, len(few)*pageSize)
		_, _, e := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&f.data[from])), uintptr(n), uintptr(unsafe.Pointer(&few[0])))
		if e != 0 {
			return false, false
		}
		for _, in := range few[:(n+pageSize-1)/pageSize] {
			if in&1 == 0 {
				return false, true
			}
		}
		from += n
	}
	return true, true
}

var pageSize = os.Getpagesize()

// told reports whether mincore tells the truth of a file.
func told(path string, info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(stat.Uid) == os.Geteuid() || unix.Access(path, unix.W_OK) == nil)
}

// Scattered tells the kernel that the mapping is looked at here and there: a
// page that is not in memory then comes alone, instead of with megabytes around
// it.
func (f *File) Scattered() {
	if len(f.data) > 0 {
		_ = unix.Madvise(f.data, unix.MADV_RANDOM) // it is only advice
	}
}

// Alone tells the kernel that reads of a file say all that they want: nothing is
// read ahead.
func Alone(file *os.File) {
	_ = unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_RANDOM) // it is only advice
}

// WillNeed has the kernel begin to read n bytes of a file from offset on, without
// waiting for them; false where it does not know how.
func WillNeed(file *os.File, offset, n int64) bool {
	return unix.Fadvise(int(file.Fd()), offset, n, unix.FADV_WILLNEED) == nil
}

// Forget has the kernel drop what it keeps of a file in memory, so that the
// next read comes from the disk; false where it does not know how. Pages that
// are mapped and were looked at stay.
func Forget(file *os.File) bool {
	return unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED) == nil
}
