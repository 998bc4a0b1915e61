package source

import (
	"errors"
	"fmt"
	"strings"
)

// ErrChanged says that a file is no longer the one that was opened: it was cut
// short, grew, was written to, or another stands under its name.
var ErrChanged = errors.New("changed")

// A ReadError is a row that could not be read. errors.Is finds what the system
// said of it: io.ErrUnexpectedEOF where the file ends too early, ErrChanged
// where it is another by now, garner.ErrFault where mapped memory vanished.
type ReadError struct {
	Path     string // the file
	Row      int64  // along axis 0 of the array; -1 where no one row was being read
	From, To int64  // bytes of the file, To excluded; 0, 0 where it is the file as a whole
	Err      error

	told bool // Err says which file it is, and that it cannot be read
}

func (e *ReadError) Error() string {
	cause := strings.TrimPrefix(e.Err.Error(), "garner: ")
	if e.told {
		return "garner: " + cause
	}
	var b strings.Builder
	fmt.Fprintf(&b, "garner: %s cannot be read", e.Path)
	if e.Row >= 0 {
		fmt.Fprintf(&b, " at row %d", e.Row)
	}
	if e.To > e.From {
		fmt.Fprintf(&b, ", bytes %d…%d", e.From, e.To-1)
	}
	fmt.Fprintf(&b, ": %s", cause)
	return b.String()
}

// Unwrap is what went wrong.
func (e *ReadError) Unwrap() error { return e.Err }
