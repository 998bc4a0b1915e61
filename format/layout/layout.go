// Package layout holds the common part of the readers of file formats: the location
// of an array's bytes, opening it, and joining several.
package layout

import (
	"os"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/source"
)

// An Array is the location of an array by its header: all arguments of source.Open.
type Array struct {
	Spec     garner.Spec
	Codec    *source.Codec // two arrays are stored alike if their pointers are equal
	Segments []source.Segment
	Headers  []*Header // of its files
}

// Open opens the array. A file that is no longer the one whose header was read is an
// ErrChanged.
func (a Array) Open() (*source.File, error) {
	f, err := source.Open(a.Spec, a.Codec, a.Segments...)
	if err != nil {
		return nil, err
	}
	if err := a.unchanged(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// unchanged checks that the open files are those whose headers were read.
func (a Array) unchanged(f *source.File) error {
	states, err := f.States()
	if err != nil {
		return err
	}
	now := make(map[string]source.FileState, len(states))
	for i, s := range f.Segments() {
		now[s.Path] = states[i]
	}
	for _, h := range a.Headers {
		if state, ok := now[h.path]; ok && state != source.FileState(h.stamp) {
			return garner.Errorf(source.ErrChanged, "%s: the file was changed or replaced while it was opened; run again when nothing writes to it", h.path)
		}
	}
	return nil
}

// A Header is a file that is open while its header is read, and that can be
// recognised afterwards.
type Header struct {
	*os.File
	path  string
	stamp mapped.Stamp
}

// OpenHeader opens a regular file.
func OpenHeader(path string) (*Header, error) {
	file, _, err := mapped.OpenFile(path)
	if err != nil {
		return nil, err
	}
	stamp, err := mapped.StampOf(file)
	if err != nil {
		file.Close()
		return nil, garner.Errorf(err, "%s cannot be read: %v; copy it to another disk", path, err)
	}
	return &Header{file, path, stamp}, nil
}

// Path returns the name with which the file was opened.
func (h *Header) Path() string { return h.path }

// Size returns the size of the file when it was opened, in bytes.
func (h *Header) Size() int64 { return h.stamp.Size }

// Join concatenates arrays along axis 0. They must have one dtype, be stored alike in
// row-major order, and have equal extents after the first. A violation is a
// garner.ErrShape or garner.ErrDType that names the first file that differs.
func Join(arrays []Array) (Array, error) {
	if len(arrays) == 0 {
		return Array{}, garner.Errorf(garner.ErrShape, "there is no array to join")
	}
	if len(arrays) == 1 {
		return arrays[0], nil
	}
	first := arrays[0]
	shape, _ := first.Spec.Shape()
	joined := Array{Codec: first.Codec}
	rows := 0
	for i, a := range arrays {
		dims, ok := a.Spec.Shape()
		bad := func(class error, format string, args ...any) (Array, error) {
			args = append([]any{a.name(), a.Spec}, args...)
			return Array{}, garner.Errorf(class, "%s is %s"+format, args...)
		}
		switch {
		case !ok || len(dims) == 0:
			return bad(garner.ErrShape, ", which has no axis along which it could stand behind others; give it one")
		case a.Spec.DType != first.Spec.DType:
			return bad(garner.ErrDType, " and %s is %s; arrays of one dtype make a table", first.name(), first.Spec)
		case len(dims) != len(shape) || !dims[1:].Equal(shape[1:]):
			return bad(garner.ErrShape, " and %s is %s; only the first extent may differ from file to file", first.name(), first.Spec)
		case a.Codec != first.Codec:
			return bad(garner.ErrDType, ", and stored in another byte order or kind than %s; write them all in the same", first.name())
		}
		count, _ := dims.Len()
		switch {
		case !a.RowMajor():
			return bad(garner.ErrShape, " in Fortran order, in which its rows do not stand behind those of another; save it in C order")
		case i < len(arrays)-1 && a.Spec.DType.Packed() && count%(8/a.Spec.DType.Bits()) != 0:
			return bad(garner.ErrShape, ", which ends inside a byte; only the last array may")
		case i < len(arrays)-1 && a.Codec != nil && count%a.Codec.Elements != 0:
			return bad(garner.ErrShape, ", which ends inside a block of %d elements; only the last array may", a.Codec.Elements)
		}
		if rows += dims[0]; rows < 0 {
			return bad(garner.ErrShape, ", and up to it there are more rows than an int can count; join fewer files")
		}
		joined.Segments = append(joined.Segments, a.Segments...)
		joined.Headers = append(joined.Headers, a.Headers...)
	}
	dims := append([]int{rows}, shape[1:]...)
	if _, ok := garner.Shape(dims).Len(); !ok {
		return Array{}, garner.Errorf(garner.ErrShape, "together the %d arrays are %s%s, more elements than an int can count; join fewer files", len(arrays), first.Spec.DType, garner.Shape(dims))
	}
	joined.Spec = garner.SpecOf(first.Spec.DType, dims...)
	return joined, nil
}

// name returns the file in which an array begins.
func (a Array) name() string {
	if len(a.Segments) == 0 {
		return "an array"
	}
	return a.Segments[0].Path
}

// RowMajor reports whether the elements are stored in row-major order.
func (a Array) RowMajor() bool {
	shape, _ := a.Spec.Shape()
	count, _ := shape.Len()
	if count <= 1 || a.Spec.Strides == nil {
		return true
	}
	for i, s := range shape.Strides() {
		if shape[i] > 1 && a.Spec.Strides[i] != s {
			return false
		}
	}
	return true
}
