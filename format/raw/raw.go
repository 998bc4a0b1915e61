// Package raw reads and writes files of the elements of one array without a header,
// as numpy.ndarray.tofile and fwrite make them: little-endian, in row-major order.
// The reader gives the dtype and the shape.
package raw

import (
	"errors"
	"io"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/internal/blocks"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/source"
)

// ErrFormat is the class of errors about a file whose size contradicts the Options.
var ErrFormat = errors.New("raw file")

// Any is an extent that follows from the size of the file.
const Any = -1

// Options describe the contents of a file.
type Options struct {
	DType  garner.DType // not String
	Shape  []int        // at most one extent is Any; nil means one dimension of Any
	Offset int64        // bytes before the first element
}

// ParseShape reads extents such as "1000,256", "[?,256]" or "-1 256"; "?" and -1 mean
// Any. "[]" is the shape of a scalar. Other text is a garner.ErrShape.
func ParseShape(text string) ([]int, error) {
	inner := strings.TrimSpace(text)
	for _, pair := range []string{"[]", "()"} {
		if rest, ok := strings.CutPrefix(inner, pair[:1]); ok {
			if inner, ok = strings.CutSuffix(rest, pair[1:]); !ok {
				return nil, garner.Errorf(garner.ErrShape, "%q is no shape; write it as 1000,256 or ?,256", text)
			}
		}
	}
	shape := []int{}
	for field := range strings.FieldsFuncSeq(inner, func(r rune) bool { return r == ',' || r == ' ' }) {
		d, err := strconv.Atoi(field)
		switch {
		case field == "?" || err == nil && d == Any:
			d = Any
			if slices.Contains(shape, Any) {
				return nil, garner.Errorf(garner.ErrShape, "the shape %q has two extents to be found out; the file's size tells one", text)
			}
		case err != nil || d < 0:
			return nil, garner.Errorf(garner.ErrShape, "%q in the shape %q is no extent; write the shape as 1000,256 or ?,256", field, text)
		}
		shape = append(shape, d)
	}
	if len(shape) == 0 && strings.TrimSpace(text) == inner {
		return nil, garner.Errorf(garner.ErrShape, "the shape is empty; write it as 1000,256 or ?,256, that of one number as []")
	}
	if len(shape) > garner.MaxRank {
		return nil, garner.Errorf(garner.ErrShape, "the shape %q has %d extents; there may be %d", text, len(shape), garner.MaxRank)
	}
	return shape, nil
}

// OpenArray opens a file. Its size must be exactly that of the options; if an extent
// is Any, a multiple of the size of one step along it. Another size is an ErrFormat
// with the bytes found and the bytes expected.
func OpenArray(path string, o Options) (*source.File, error) {
	a, err := Layout(path, o)
	if err != nil {
		return nil, err
	}
	return a.Open()
}

// Layout returns the location of a file's array, for opening it or joining it with
// others.
func Layout(path string, o Options) (layout.Array, error) {
	file, err := layout.OpenHeader(path)
	if err != nil {
		return layout.Array{}, err
	}
	defer file.Close()
	spec, size, err := o.spec(file.Size())
	if err != nil {
		return layout.Array{}, names.Error(path, err)
	}
	return layout.Array{
		Spec:     spec,
		Segments: []source.Segment{{Path: path, Offset: o.Offset, Bytes: size}},
		Headers:  []*layout.Header{file},
	}, nil
}

// spec returns the Spec of a file of size bytes, and the bytes of its elements.
func (o Options) spec(size int64) (garner.Spec, int64, error) {
	bad := func(class error, format string, args ...any) (garner.Spec, int64, error) {
		return garner.Spec{}, 0, garner.Errorf(class, format, args...)
	}
	width := uint64(o.DType.Bits())
	switch {
	case o.DType == garner.Invalid:
		return bad(garner.ErrDType, "it does not say what its bytes are; give the dtype (Options.DType f32)")
	case width == 0:
		return bad(garner.ErrDType, "a file without a header cannot hold %s; give the dtype of its numbers (Options.DType f32)", o.DType)
	case o.Offset < 0:
		return bad(ErrFormat, "the offset %d is negative; give the bytes before the first element (Options.Offset)", o.Offset)
	case o.Offset > size:
		return bad(ErrFormat, "it has %d bytes, fewer than the offset %d", size, o.Offset)
	}
	have := uint64(size - o.Offset)
	shape := slices.Clone(o.Shape)
	if o.Shape == nil {
		shape = []int{Any}
	}
	open, empty := -1, false
	bitsOfOne := width // bits of one step along the extent Any
	for i, d := range shape {
		switch {
		case d == Any && open < 0:
			open = i
			continue
		case d == Any:
			return bad(garner.ErrShape, "its shape has two extents to be found out; the file's size tells one")
		case d < 0:
			return bad(garner.ErrShape, "its shape has an extent of %d; an extent is 0 or more, or -1 for what the file's size tells", d)
		}
		empty = empty || d == 0
	}
	for _, d := range shape {
		if d == Any || empty {
			continue
		}
		var high uint64
		if high, bitsOfOne = bits.Mul64(bitsOfOne, uint64(d)); high != 0 {
			return bad(garner.ErrShape, "%s%s has more bytes than can be counted; check the shape (Options.Shape)", o.DType, extents(shape))
		}
	}
	if empty {
		bitsOfOne = 0
	}
	if open >= 0 {
		if have > math.MaxUint64/8 {
			return bad(ErrFormat, "it has %d bytes, more than can be counted in bits", size)
		}
		n := uint64(0)
		switch {
		case bitsOfOne == 0 && have > 0, bitsOfOne > 0 && 8*have%bitsOfOne != 0:
			return bad(ErrFormat, "its %d bytes%s are no whole number of %s%s, %s each; check the dtype, the shape and the offset (Options.DType, Options.Shape, Options.Offset)",
				have, o.behind(), o.DType, extents(slices.Delete(slices.Clone(shape), open, open+1)), size8(bitsOfOne))
		case bitsOfOne > 0:
			n = 8 * have / bitsOfOne
		}
		if n > math.MaxInt {
			return bad(garner.ErrShape, "it has %d of %s%s, more than an int can count; use a 64-bit build", n, o.DType, extents(shape))
		}
		shape[open] = int(n)
		return garner.SpecOf(o.DType, shape...), int64(have), nil
	}
	want := bitsOfOne/8 + (bitsOfOne%8+7)/8
	if want != have {
		return bad(ErrFormat, "it has %d bytes%s, and %s%s takes %d; check the dtype, the shape and the offset (Options.DType, Options.Shape, Options.Offset), or leave one extent to the file's size (Options.Shape with ?)",
			have, o.behind(), o.DType, extents(shape), want)
	}
	return garner.SpecOf(o.DType, shape...), int64(have), nil
}

func (o Options) behind() string {
	if o.Offset == 0 {
		return ""
	}
	return " behind the offset " + strconv.FormatInt(o.Offset, 10)
}

// extents formats a shape with ? for Any.
func extents(shape []int) string {
	return strings.ReplaceAll(garner.Shape(shape).String(), "-1", "?")
}

// size8 formats a number of bits.
func size8(n uint64) string {
	if n%8 != 0 {
		return strconv.FormatUint(n, 10) + " bits"
	}
	return strconv.FormatUint(n/8, 10) + " bytes"
}

// Write writes the elements of a tensor of any strides, block by block, without
// a copy of the whole. Strings are a garner.ErrDType.
func Write(w io.Writer, t garner.Tensor) error {
	if err := Check(t.Spec()); err != nil {
		return err
	}
	return mapped.Guard(func() error {
		if t.DType().Packed() && !t.Contiguous() {
			// A block could begin inside a byte of the file.
			var err error
			if t, err = t.Clone(); err != nil {
				return err
			}
		}
		return blocks.Write(w, t)
	})
}

// Check returns the error with which Write would refuse a tensor of spec, or nil.
func Check(spec garner.Spec) error {
	if spec.DType.Bits() == 0 {
		return garner.Errorf(garner.ErrDType, "an array of %s cannot be written without a header; write it as .npy", spec.DType)
	}
	return nil
}

// Form returns the form of an array's file: its elements alone.
func Form(spec garner.Spec) (layout.Form, error) {
	if err := Check(spec); err != nil {
		return layout.Form{}, err
	}
	_, _, err := layout.Size(spec)
	return layout.Form{Spec: spec}, err
}

// NewWriter returns a writer for exactly the elements of an array, row-major and
// little-endian, in pieces of any size. Close it after the last element.
func NewWriter(w io.Writer, spec garner.Spec) (*layout.Writer, error) {
	form, err := Form(spec)
	if err != nil {
		return nil, err
	}
	return form.NewWriter(w)
}
