// Package terminal tells terminals from files and pipes, quotes text that would
// give a terminal commands, and shows the progress of long work.
package terminal

import (
	"io"
	"os"
)

// Width returns the columns of a terminal. ok is false where w is no terminal,
// or one that cannot rewrite a line (TERM is "dumb").
func Width(w io.Writer) (columns int, ok bool) {
	file, isFile := Raw(w).(*os.File)
	if !isFile || os.Getenv("TERM") == "dumb" {
		return 0, false
	}
	if columns, ok = width(file); ok && columns <= 0 {
		columns = 80 // a terminal without a size, such as a serial line
	}
	return columns, ok
}

// Is reports whether f, an *os.File or a Text over one, is a terminal.
func Is(f any) bool {
	if t, ok := f.(*Text); ok {
		f = t.w
	}
	file, ok := f.(*os.File)
	return ok && isTerminal(file)
}
