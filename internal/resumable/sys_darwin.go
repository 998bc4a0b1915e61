package resumable

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserve takes a file's disk space; it does nothing where the file system cannot
// reserve.
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

// free does not know: reserve takes all the space or none.
func free(*os.File) (int64, bool) { return 0, false }

// flush flushes a file's bytes to the disk itself; fsync stops at its cache.
func flush(file *os.File) error { return file.Sync() }
