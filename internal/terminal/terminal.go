// Package terminal tells terminals from files and pipes, and shows on them how
// far long work is.
package terminal

import (
	"io"
	"os"
)

// Width is how many columns a line has where w is a terminal; ok is false where
// it is anything else, or one that only appends (TERM is "dumb").
func Width(w io.Writer) (columns int, ok bool) {
	file, isFile := w.(*os.File)
	if !isFile || os.Getenv("TERM") == "dumb" {
		return 0, false
	}
	if columns, ok = width(file); ok && columns <= 0 {
		columns = 80 // one that does not know, such as a serial line
	}
	return columns, ok
}
