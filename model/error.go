package model

import (
	"errors"
	"fmt"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/names"
)

// ErrSignature is the class of errors of a model that is read one signature at a time, of which it has several, or
// several functions, and none was named.
var ErrSignature = errors.New("a signature must be named")

// An Error says what is wrong with a model file, and where. Its message is
//
//	garner: PATH:LINE:COLUMN: AT: what is there; what to do
//
// Parts that are unknown are left out.
type Error struct {
	Path         string
	Line, Column int    // from 1 on; 0 where the file is no text
	At           string // the node, tensor or other part
	Err          error
}

// Errorf makes an Error at node n, which may be nil. InFile adds the path.
func Errorf(n *Node, format string, args ...any) *Error {
	return AtNode(n, garner.Errorf(nil, format, args...))
}

// AtNode makes an Error of err at node n, which may be nil. An Error that has a
// place keeps it.
func AtNode(n *Node, err error) *Error {
	e, ok := err.(*Error)
	if !ok {
		e = &Error{Err: err}
	}
	if n == nil || e.At != "" {
		return e
	}
	at := *e
	at.At = fmt.Sprintf("node %s (%s)", names.Quote(n.Name), n.At)
	return &at
}

// InFile adds the file's path to err, unless err has one. It gives nil for a nil
// err.
func InFile(path string, err error) error {
	switch e := err.(type) {
	case nil:
		return nil
	case *Error:
		if e.Path != "" {
			return e
		}
		named := *e
		named.Path = path
		return &named
	}
	return &Error{Path: path, Err: err}
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("garner: ")
	if e.Path != "" {
		b.WriteString(e.Path)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d", e.Line)
			if e.Column > 0 {
				fmt.Fprintf(&b, ":%d", e.Column)
			}
		}
		b.WriteString(": ")
	} else if e.Line > 0 {
		fmt.Fprintf(&b, "line %d, column %d: ", e.Line, e.Column)
	}
	if e.At != "" {
		b.WriteString(e.At)
		b.WriteString(": ")
	}
	b.WriteString(strings.TrimPrefix(e.Err.Error(), "garner: "))
	return b.String()
}

// Unwrap gives the wrapped error to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }
