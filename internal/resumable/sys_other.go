//go:build !darwin && !linux

package resumable

import (
	"os"
	"runtime"
)

// reserve gives a file its size on Windows, which takes the disk space at once. On
// other systems a size alone takes none, so reserve does nothing.
func reserve(file *os.File, size int64) error {
	if runtime.GOOS != "windows" {
		return nil
	}
	return file.Truncate(size)
}

// free does not know: reserve takes all the space or none.
func free(*os.File) (int64, bool) { return 0, false }

// flush flushes a file's bytes to the disk.
func flush(file *os.File) error { return file.Sync() }
