package fix

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// noData is what seeking beyond the last data of a file gives.
const noData = syscall.ENXIO

// clone makes target a clone of old, where the file system has clones.
func clone(old, target string) bool {
	in, err := os.Open(old)
	if err != nil {
		return false
	}
	defer in.Close()
	made, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return false
	}
	err = unix.IoctlFileClone(int(made.Fd()), int(in.Fd()))
	if err == nil {
		err = made.Sync()
	}
	if closing := made.Close(); err == nil {
		err = closing
	}
	if err != nil {
		os.Remove(target)
	}
	return err == nil
}
