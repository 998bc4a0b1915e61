//go:build !darwin && !linux

package resumable

import (
	"os"
	"runtime"
)

// reserve gives a file its size on Windows, which takes the room on the disk at
// once; elsewhere that would take none.
func reserve(file *os.File, size int64) error {
	if runtime.GOOS != "windows" {
		return nil
	}
	return file.Truncate(size)
}

// free is not asked: reserve takes all or nothing.
func free(*os.File) (int64, bool) { return 0, false }

// flush sees a file's bytes to the disk.
func flush(file *os.File) error { return file.Sync() }
