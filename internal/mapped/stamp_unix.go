//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package mapped

import (
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// StampOf returns an open file's Stamp by one system call. It allocates nothing.
func StampOf(file *os.File) (Stamp, error) {
	var s unix.Stat_t
	for {
		if err := unix.Fstat(int(file.Fd()), &s); err == nil {
			return Stamp{s.Size, time.Unix(s.Mtim.Unix()), s.Ino, time.Unix(s.Ctim.Unix())}, nil
		} else if err != unix.EINTR {
			return Stamp{}, os.NewSyscallError("fstat", err)
		}
	}
}

// alike reports whether a file has the same mode, owner and number of links in two
// states.
func alike(a, b fs.FileInfo) bool {
	s, ok := a.Sys().(*syscall.Stat_t)
	t, too := b.Sys().(*syscall.Stat_t)
	return ok && too && s.Mode == t.Mode && s.Nlink == t.Nlink && s.Uid == t.Uid && s.Gid == t.Gid
}
