//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

func width(file *os.File) (int, bool) {
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return int(size.Col), true
}

func isTerminal(file *os.File) bool {
	_, ok := width(file)
	return ok
}
