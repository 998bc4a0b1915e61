package resumable

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserve takes the room on the disk that a file needs; where the file system
// cannot tell beforehand, nothing.
func reserve(file *os.File, size int64) error {
	info, err := file.Stat()
	if err != nil || info.Size() >= size {
		return err
	}
	room := unix.Fstore_t{Flags: unix.F_ALLOCATEALL, Posmode: unix.F_PEOFPOSMODE, Length: size - info.Size()}
	if err := unix.FcntlFstore(file.Fd(), unix.F_PREALLOCATE, &room); errors.Is(err, unix.ENOSPC) {
		return os.NewSyscallError("fcntl", err)
	}
	return nil
}

// free is not asked: reserve takes all or nothing.
func free(*os.File) (int64, bool) { return 0, false }

// flush sees a file's bytes to the disk, and not only to its cache.
func flush(file *os.File) error { return file.Sync() }
