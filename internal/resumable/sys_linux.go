package resumable

import (
	"errors"
	"math"
	"math/bits"
	"os"

	"golang.org/x/sys/unix"
)

// reserve gives a file its size and its disk space; it does nothing where the file
// system cannot reserve.
func reserve(file *os.File, size int64) error {
	const piece = 1 << 30 // bytes; a signal interrupts the call, which starts over
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

// free is how many bytes a file can have, those that it has included; false where
// the file system does not say.
func free(file *os.File) (int64, bool) {
	var about unix.Statfs_t
	if unix.Fstatfs(int(file.Fd()), &about) != nil || about.Blocks == 0 {
		return 0, false
	}
	high, low := bits.Mul64(about.Bavail, uint64(about.Bsize))
	if high != 0 || low > math.MaxInt64/2 {
		return 0, false
	}
	room := int64(low)
	var taken unix.Stat_t
	if unix.Fstat(int(file.Fd()), &taken) == nil {
		const block = 512 // the unit of Stat_t.Blocks on every file system
		room += min(taken.Blocks, math.MaxInt64/2/block) * block
	}
	return room, true
}

// flush flushes a file's bytes to the disk.
func flush(file *os.File) error {
	for {
		if err := unix.Fdatasync(int(file.Fd())); !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
