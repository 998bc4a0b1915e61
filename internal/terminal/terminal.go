// Package terminal tells terminals from files and pipes, and shows the progress
// of long work on them.
package terminal

import (
	"io"
	"os"
)

// Width returns the columns of a terminal. ok is false where w is no terminal,
// or one that cannot rewrite a line (TERM is "dumb").
func Width(w io.Writer) (columns int, ok bool) {
	file, isFile := w.(*os.File)
	if !isFile || os.Getenv("TERM") == "dumb" {
		return 0, false
	}
	if columns, ok = width(file); ok && columns <= 0 {
		columns = 80 // a terminal without a size, such as a serial line
	}
	return columns, ok
}
