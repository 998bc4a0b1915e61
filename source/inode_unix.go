//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package source

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// inode returns a file's number and its time of change. The device is left out,
// because a file system may get another one each time that it is mounted.
func inode(file *os.File) (number uint64, changed time.Time, err error) {
	var about unix.Stat_t
	for {
		err = unix.Fstat(int(file.Fd()), &about)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return 0, time.Time{}, os.NewSyscallError("fstat", err)
	}
	return about.Ino, time.Unix(about.Ctim.Unix()), nil
}
