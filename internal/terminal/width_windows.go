package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

func width(file *os.File) (int, bool) {
	var info windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(windows.Handle(file.Fd()), &info); err != nil {
		return 0, false
	}
	return int(info.Window.Right) - int(info.Window.Left) + 1, true
}

// isTerminal holds for the input of a console too, which has no width.
func isTerminal(file *os.File) bool {
	var mode uint32
	return windows.GetConsoleMode(windows.Handle(file.Fd()), &mode) == nil
}
