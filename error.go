package garner

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The classes of what a gather refuses; errors.Is tells them apart. They are
// looked at in this order, so that a call that breaks several rules always
// answers with the same one.
var (
	ErrDType     = errors.New("dtype")              // an index or an axis that is no integer, a fill of another type
	ErrAttribute = errors.New("attribute")          // a name that the operator lacks, a value that it does not know
	ErrShape     = errors.New("shape")              // ranks, axis, batch_dims and extents; see ShapeError
	ErrIndex     = errors.New("index-out-of-range") // see IndexError
)

// Errors of execution, apart from what was asked for.
var (
	ErrOverlap = errors.New("overlap") // the output shares memory with an input
	ErrFault   = errors.New("fault")   // mapped memory that is no longer there: its file was cut short
)

type classError struct {
	class   error
	message string
}

func (e *classError) Error() string { return "garner: " + e.message }
func (e *classError) Unwrap() error { return e.class }

func errorf(class error, format string, args ...any) error {
	return &classError{class, fmt.Sprintf(format, args...)}
}

// Errorf makes an error of one of the classes above, for operators and readers
// outside this package; the message is prefixed with "garner: ".
func Errorf(class error, format string, args ...any) error {
	return errorf(class, format, args...)
}

// A ShapeKind says which sort of rule a ShapeError broke.
type ShapeKind string

// The kinds of shape error, in the order in which they are looked at.
const (
	KindRank     ShapeKind = "rank"              // too few or too many dimensions
	KindAxis     ShapeKind = "axis-out-of-range" // an axis that data does not have
	KindBatch    ShapeKind = "batch-dims"        // batch_dims outside its range, or prefixes that differ
	KindMismatch ShapeKind = "shape-mismatch"    // extents that do not go together, or too large
)

// A ShapeError is a rule on ranks or extents that the operands break.
// errors.Is(err, ErrShape) holds for it.
type ShapeError struct {
	Kind    ShapeKind
	Message string // what stood there and what would have been good
}

func (e *ShapeError) Error() string { return "garner: " + e.Message }

// Unwrap makes errors.Is(err, ErrShape) hold.
func (e *ShapeError) Unwrap() error { return ErrShape }

// An IndexError is an index that its axis does not have: the first in row-major
// order of the indices, whatever the number of threads. It names the place in
// the indices tensor, not a row of the plan, so that the caller can look it up.
// errors.Is(err, ErrIndex) holds for it.
type IndexError struct {
	Position []int  // coordinates in indices
	Value    Index  // what stands there
	Axis     int    // the axis of data that it addresses; -1: data taken flat
	Dim      int    // how many positions it may take
	FromEnd  bool   // whether -Dim … -1 would have been good
	Others   int    // how many more indices are outside
	Total    int    // how many indices there are
	Hint     string // what else to do about it, where there is something
}

func (e *IndexError) Error() string {
	var b strings.Builder
	b.WriteString("garner: indices")
	if len(e.Position) > 0 {
		b.WriteString(Shape(e.Position).String())
	}
	fmt.Fprintf(&b, " = %s is outside ", e.Value)
	if e.Axis >= 0 {
		fmt.Fprintf(&b, "axis %d of data", e.Axis)
	} else {
		b.WriteString("data, taken flat")
	}
	switch {
	case e.Dim == 0:
		b.WriteString(", which is empty")
	case e.FromEnd:
		fmt.Fprintf(&b, ", which has %d…%d", -e.Dim, e.Dim-1)
	default:
		fmt.Fprintf(&b, ", which has 0…%d", e.Dim-1)
	}
	if e.Others > 0 {
		verb := "are"
		if e.Others == 1 {
			verb = "is"
		}
		fmt.Fprintf(&b, " (%d more of %d indices %s outside)", e.Others, e.Total, verb)
	}
	if e.Hint != "" {
		b.WriteString("; ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

// Unwrap makes errors.Is(err, ErrIndex) hold.
func (e *IndexError) Unwrap() error { return ErrIndex }

// An Index is an index value as it stands in the indices: any int64 or uint64,
// exactly.
type Index struct {
	Bits     uint64 // the value in two's complement
	Unsigned bool   // whether Bits is a uint64 rather than an int64
}

// String is the value in decimal, 18446744073709551615 included.
func (i Index) String() string {
	if i.Unsigned {
		return strconv.FormatUint(i.Bits, 10)
	}
	return strconv.FormatInt(int64(i.Bits), 10)
}

func shapeError(kind ShapeKind, format string, args ...any) error {
	return &ShapeError{kind, fmt.Sprintf(format, args...)}
}
