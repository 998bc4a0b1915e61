package source

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/garner-go/garner"
)

// ErrChanged means that a file has changed since it was opened: it was truncated,
// grew, was written to, or was replaced by another of its name.
var ErrChanged = errors.New("changed")

// errCut is the class of a file that is shorter than it was when it was opened,
// however it was read.
var errCut = errors.Join(garner.ErrFault, ErrChanged, io.ErrUnexpectedEOF)

// A ReadError is a row that could not be read. errors.Is finds its cause, such as
// the system's error, ErrChanged where the file has changed, garner.ErrFault and
// io.ErrUnexpectedEOF besides where it was cut short, fs.ErrClosed where it was closed.
type ReadError struct {
	Path     string // the file
	Row      int64  // along axis 0 of the array; -1 where the error is not of one row
	From, To int64  // bytes From … To-1 of the file; 0, 0 where the error is of the whole file
	Err      error

	told bool // the text of Err names the file already
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

// Unwrap returns the cause.
func (e *ReadError) Unwrap() error { return e.Err }
