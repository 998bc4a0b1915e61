//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package mapped

import (
	"io"
	"os"
)

// mapFile reads the file: this system's standard library maps none.
func mapFile(file *os.File, size int) ([]byte, func([]byte) error, error) {
	data := make([]byte, size)
	_, err := io.ReadFull(file, data)
	return data, func([]byte) error { return nil }, err
}
