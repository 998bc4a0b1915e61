package model

import (
	"fmt"
	"strings"

	"github.com/garner-go/garner"
)

// An Error is what is wrong with a model file, and where. Its message is
//
//	garner: PATH:LINE:COLUMN: AT: what stands there; what to do
//
// of which every part but the last may be missing.
type Error struct {
	Path         string
	Line, Column int    // from 1 on; 0 where the file is no text
	At           string // the node, tensor or other part
	Err          error
}

// Errorf makes an Error at a node; nil where it is at none. The Path is left to
// whoever knows it, see InFile.
func Errorf(n *Node, format string, args ...any) *Error {
	return AtNode(n, garner.Errorf(nil, format, args...))
}

// AtNode makes an Error of err at a node; nil where it is at none. One that has
// a place already keeps it.
func AtNode(n *Node, err error) *Error {
	e, ok := err.(*Error)
	if !ok {
		e = &Error{Err: err}
	}
	if n == nil || e.At != "" {
		return e
	}
	at := *e
	at.At = fmt.Sprintf("node %s (%s)", quote(n.Name), n.At)
	return &at
}

// InFile is err with the file's path, where it has none yet. A nil err stays
// nil.
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

// Unwrap gives errors.Is and errors.As what is inside.
func (e *Error) Unwrap() error { return e.Err }
