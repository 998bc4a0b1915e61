package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// forget drops pages of a file from the page cache; false if the kernel cannot.
// Mapped pages that were accessed stay, and so do dirty pages.
func forget(file *os.File, offset, n int64) bool {
	return unix.Fadvise(int(file.Fd()), offset, n, unix.FADV_DONTNEED) == nil
}

// written waits until dirty pages of a file are on the disk; false if the kernel
// cannot.
func written(file *os.File, offset, n int64) bool {
	const all = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	return unix.SyncFileRange(int(file.Fd()), offset, n, all) == nil
}

// openDirect opens a file for reads that bypass the page cache.
func openDirect(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_DIRECT, 0)
}
