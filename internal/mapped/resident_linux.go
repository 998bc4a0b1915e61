package mapped

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Resident reports whether the pages of the bytes from … to-1 are in the page cache,
// by mincore; it takes 0.25 µs per page. known is false for a file that the program
// neither owns nor may write to, because the kernel reports all of its pages as
// resident.
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

// told reports whether mincore reports the truth for a file.
func told(path string, info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(stat.Uid) == os.Geteuid() || unix.Access(path, unix.W_OK) == nil)
}

// Scattered advises the kernel of random access (MADV_RANDOM): a page fault then
// reads one page instead of the megabytes around it.
func (f *File) Scattered() {
	if len(f.data) > 0 {
		_ = unix.Madvise(f.data, unix.MADV_RANDOM) // it is only advice
	}
}

// Passed takes the pages that lie in a part of the File's memory out of the process (MADV_DONTNEED): they
// count no longer as its memory, and the next read of them finds them in the page cache.
func (f *File) Passed(b []byte) {
	if !Overlap(b, f.data) {
		return
	}
	from := int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(f.data))))
	to := (from + len(b)) / pageSize * pageSize
	if from = (from + pageSize - 1) / pageSize * pageSize; from < to {
		_ = unix.Madvise(f.data[from:to], unix.MADV_DONTNEED) // it is only advice
	}
}

// Alone disables the kernel's readahead for a file (FADV_RANDOM).
func Alone(file *os.File) {
	_ = unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_RANDOM) // it is only advice
}

// WillNeed makes the kernel start reading n bytes of a file from offset on, and does
// not wait. It returns false if the system cannot.
func WillNeed(file *os.File, offset, n int64) bool {
	return unix.Fadvise(int(file.Fd()), offset, n, unix.FADV_WILLNEED) == nil
}
