package npy

import (
	"io"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/source"
)

// OpenArray opens a file of numbers of any size. Only its header is read, and
// nothing mapped; numbers in big-endian order are swapped as rows are fetched,
// and Fortran order is told by the strides of the Spec. Errors are those of
// Open; strings, and packed types, whose values take a byte each in a file, are
// a layout.ErrMemory: Open reads them.
func OpenArray(path string, o Options) (*source.File, error) {
	a, err := Layout(path, o)
	if err != nil {
		return nil, err
	}
	return a.Open()
}

// Layout is where the array of a file stands, so that it can be opened or joined
// with others.
func Layout(path string, o Options) (layout.Array, error) {
	_, a, err := Stat(path, o)
	return a, err
}

// Stat is Layout, and says too what the file's header says, whether there is a
// layout or not.
func Stat(path string, o Options) (Info, layout.Array, error) {
	h, err := layout.OpenHeader(path)
	if err != nil {
		return Info{}, layout.Array{}, err
	}
	defer h.Close()
	info, a, err := LayoutAt(h, h, 0, h.Size(), o)
	if err != nil {
		return info, layout.Array{}, names.Error(path, err)
	}
	return info, a, nil
}

// Info is what a header says of an array.
type Info struct {
	Descr   string       // NumPy's name of the dtype: "<f4", "|S10"
	DType   garner.DType // Invalid where the dtype does not say what its bytes mean
	Shape   garner.Shape
	Fortran bool
	Bytes   int64 // of the elements in the file
}

// LayoutAt is where an array stands that takes some of the bytes of a larger
// file, size of them from an offset on, its own header first; r reads them. What
// the array does not need of them is ignored. Messages do not name the file.
// Where the header is sound, Info tells what it says even if the error says that
// the array is not read.
func LayoutAt(r io.Reader, file *layout.Header, from, size int64, o Options) (Info, layout.Array, error) {
	h, start, err := headerAt(io.LimitReader(r, size))
	if err != nil {
		return Info{}, layout.Array{}, err
	}
	d, known := h.native()
	info := Info{Descr: h.descr, DType: d, Shape: slices.Clone(h.shape), Fortran: h.fortran, Bytes: int64(h.bytes)}
	if !known {
		info.DType = garner.Invalid
	}
	if have := size - int64(start); have < int64(h.bytes) {
		return info, layout.Array{}, formatError("its header asks for %s%s, %d bytes, and the file has %d; it was cut short: copy or save it again", h.descr, garner.Shape(h.shape), h.bytes, have)
	}
	if d, err = h.dtype(o.DType); err != nil {
		return info, layout.Array{}, err
	}
	info.DType = d
	switch {
	case d == garner.String:
		return info, layout.Array{}, layout.InMemory("it holds strings")
	case d.Packed():
		return info, layout.Array{}, layout.InMemory("it holds %s in bytes of their own", d)
	}
	a := layout.Array{
		Spec:     garner.SpecOf(d, h.shape...),
		Segments: []source.Segment{{Path: file.Path(), Offset: from + int64(start), Bytes: int64(h.bytes)}},
		Headers:  []*layout.Header{file},
	}
	if h.fortran && len(h.shape) > 1 {
		reversed := slices.Clone(h.shape)
		slices.Reverse(reversed)
		a.Spec.Strides = garner.Shape(reversed).Strides()
		slices.Reverse(a.Spec.Strides)
	}
	if h.big {
		a.Codec = layout.Swap(d)
	}
	return info, a, nil
}

// headerAt reads the header that a file begins with, and says where it ends.
func headerAt(r io.Reader) (h *header, end int, err error) {
	var start [12]byte
	k, err := io.ReadFull(r, start[:8])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, 0, readFailed(err)
	}
	n, err := prefix(start[:k])
	if err != nil {
		return nil, 0, err
	}
	if k, err = io.ReadFull(r, start[8:n]); err != nil {
		return nil, 0, ended(err, endsInHeader(8+k))
	}
	size, err := textLen(start[:n])
	if err != nil {
		return nil, 0, err
	}
	text := make([]byte, size)
	if k, err = io.ReadFull(r, text); err != nil {
		return nil, 0, ended(err, endsInHeader(n+k))
	}
	h, err = parseHeader(string(text))
	return h, n + size, err
}

// Form is how the file of an array looks, byte for byte as Write writes it.
// Strings are a garner.ErrDType: Write takes them.
func Form(spec garner.Spec) (layout.Form, error) {
	if _, _, err := layout.Size(spec); err != nil {
		return layout.Form{}, err
	}
	shape, _ := spec.Shape()
	return layout.Form{Spec: spec, Header: appendHeader(nil, descrOf(spec.DType), shape), Bytes: true}, nil
}

// NewWriter writes the header of an array and answers what takes its elements,
// row-major and little-endian, in pieces of any size: a result can be written
// that is larger than memory. Close it when all are written. Errors are those of
// Form and of w.
func NewWriter(w io.Writer, spec garner.Spec) (*layout.Writer, error) {
	form, err := Form(spec)
	if err != nil {
		return nil, err
	}
	return form.NewWriter(w)
}
