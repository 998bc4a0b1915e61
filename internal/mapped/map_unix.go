//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package mapped

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// copied says whether a File is a copy of its file.
const copied = false

func mapFile(file *os.File, size int) ([]byte, func([]byte) error, error) {
	data, err := syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	return data, syscall.Munmap, err
}

// StampOf returns a file's stamp by one system call. It allocates nothing.
func StampOf(file *os.File) (Stamp, error) {
	var s unix.Stat_t
	for {
		if err := unix.Fstat(int(file.Fd()), &s); err == nil {
			return Stamp{s.Size, unix.TimespecToNsec(s.Mtim)}, nil
		} else if err != unix.EINTR {
			return Stamp{}, os.NewSyscallError("fstat", err)
		}
	}
}
