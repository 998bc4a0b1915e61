package resumable

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserve gives a file its size, and the room on the disk that it takes; where
// the file system cannot tell beforehand, nothing.
func reserve(file *os.File, size int64) error {
	const piece = 1 << 30 // so that a signal, which ends the call, costs little
	for at := int64(0); at < size; {
		err := unix.Fallocate(int(file.Fd()), 0, at, min(piece, size-at))
		switch {
		case err == nil:
			at += piece
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return nil
		default:
			return os.NewSyscallError("fallocate", err)
		}
	}
	return nil
}

// flush sees a file's bytes to the disk.
func flush(file *os.File) error {
	for {
		if err := unix.Fdatasync(int(file.Fd())); !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
