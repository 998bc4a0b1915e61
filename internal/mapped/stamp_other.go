//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package mapped

import (
	"io/fs"
	"os"
)

// StampOf returns an open file's size and time of modification: package os says no
// more.
func StampOf(file *os.File) (Stamp, error) {
	info, err := file.Stat()
	if err != nil {
		return Stamp{}, err
	}
	return Stamp{Size: info.Size(), Modified: info.ModTime()}, nil
}

// alike is false: a FileInfo has no number of links.
func alike(fs.FileInfo, fs.FileInfo) bool { return false }
