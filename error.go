package garner

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The classes of errors, for errors.Is. A gather checks them in this order, so
// that a call that breaks several rules always returns the same class.
var (
	ErrDType     = errors.New("dtype")              // an index or an axis that is not an integer, a fill of another dtype than data
	ErrAttribute = errors.New("attribute")          // a name that the operator lacks, or an unknown value of one
	ErrShape     = errors.New("shape")              // ranks, axis, batch_dims and extents; see ShapeError
	ErrIndex     = errors.New("index-out-of-range") // see IndexError
)

// Classes of errors in execution; the request itself is valid. What was closed is an
// fs.ErrClosed.
var (
	ErrOverlap = errors.New("overlap") // the output shares memory with an input
	ErrFault   = errors.New("fault")   // memory that has vanished: its file was cut short while it was in use
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

// Errorf returns an error of one of the classes above, for operators and readers
// outside this package. Its message begins with "garner: ".
func Errorf(class error, format string, args ...any) error {
	return errorf(class, format, args...)
}

// A ShapeKind is the kind of rule that a ShapeError reports.
type ShapeKind string

// The kinds of shape error, in the order of the checks.
const (
	KindRank     ShapeKind = "rank"              // too few or too many dimensions
	KindAxis     ShapeKind = "axis-out-of-range" // an axis that data does not have
	KindBatch    ShapeKind = "batch-dims"        // batch_dims outside its range, or batch dims that differ
	KindMismatch ShapeKind = "shape-mismatch"    // extents that conflict, or are too large
)

// A ShapeError reports a rule on ranks or extents that the operands break.
// errors.Is(err, ErrShape) holds for it.
type ShapeError struct {
	Kind    ShapeKind
	Message string // the value found and the values allowed
}

func (e *ShapeError) Error() string { return "garner: " + e.Message }

// Unwrap makes errors.Is(err, ErrShape) hold.
func (e *ShapeError) Unwrap() error { return ErrShape }

// An IndexError reports an index outside its axis: the first in row-major order
// of the indices, whatever the number of threads. It gives the coordinates in the
// indices tensor, not a row of the plan, so that the caller can look it up.
// errors.Is(err, ErrIndex) holds for it.
type IndexError struct {
	Operand  string // the operand that has the value, if it is not the indices
	Position []int  // coordinates in indices, or in Operand
	Value    Index  // the index value
	Axis     int    // the axis of data that it addresses; -1: data is flattened; BagAxis: the bags of the result
	Dim      int    // length of that axis, in elements
	FromEnd  bool   // whether -Dim … -1 is inside too
	Others   int    // how many more indices are outside
	Total    int    // number of indices
	Hint     string // a remedy to append to the message; may be empty
}

// BagAxis is the Axis of an IndexError whose value names a bag of the result.
const BagAxis = -2

func (e *IndexError) Error() string {
	var b strings.Builder
	b.WriteString("garner: ")
	if e.Operand != "" {
		b.WriteString(e.Operand)
	} else {
		b.WriteString("indices")
	}
	if len(e.Position) > 0 {
		b.WriteString(Shape(e.Position).String())
	}
	fmt.Fprintf(&b, " = %s is outside ", e.Value)
	switch {
	case e.Axis >= 0:
		fmt.Fprintf(&b, "axis %d of data", e.Axis)
	case e.Axis == BagAxis:
		b.WriteString("the result")
	default:
		b.WriteString("data, taken flat")
	}
	switch {
	case e.Dim == 0:
		b.WriteString(", which is empty")
	case e.Axis == BagAxis:
		fmt.Fprintf(&b, ", which has bags 0…%d", e.Dim-1)
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

// An Index is the exact value of an index: any int64 or uint64.
type Index struct {
	Bits     uint64 // the value in two's complement
	Unsigned bool   // whether Bits is a uint64 rather than an int64
}

// negative reports whether the value is below 0.
func (i Index) negative() bool { return !i.Unsigned && int64(i.Bits) < 0 }

// String returns the value in decimal, up to 18446744073709551615.
func (i Index) String() string {
	if i.Unsigned {
		return strconv.FormatUint(i.Bits, 10)
	}
	return strconv.FormatInt(int64(i.Bits), 10)
}

func shapeError(kind ShapeKind, format string, args ...any) error {
	return &ShapeError{kind, fmt.Sprintf(format, args...)}
}
