package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// forget has the kernel drop some pages of a file from the page cache; false
// where it does not know how. Pages that are mapped and were looked at stay, and
// such as wait to be written.
func forget(file *os.File, offset, n int64) bool {
	return unix.Fadvise(int(file.Fd()), offset, n, unix.FADV_DONTNEED) == nil
}

// written waits until pages of a file that were changed are on the disk; false
// where it does not know how.
func written(file *os.File, offset, n int64) bool {
	const all = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	return unix.SyncFileRange(int(file.Fd()), offset, n, all) == nil
}

// openDirect opens a file to be read past the page cache.
func openDirect(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_DIRECT, 0)
}
