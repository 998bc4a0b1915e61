package npy

import (
	"io"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/source"
)

// OpenArray opens a file of numbers of any size. It reads the header alone and
// maps nothing. A fetch swaps the bytes of big-endian numbers; in Fortran order the
// Spec has the strides. Errors are those of Open. Strings and packed types, whose
// values take one byte each in the file, are a layout.ErrMemory: use Open.
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
	_, a, err := Stat(path, o)
	return a, err
}

// Stat returns the Layout and the Info of the file's header. The Info is valid also
// where the array has no layout.
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

// An Info describes an array as its header does.
type Info struct {
	Descr   string       // NumPy's name of the dtype: "<f4", "|S10"
	DType   garner.DType // Invalid where the dtype does not say what its bytes mean
	Shape   garner.Shape
	Fortran bool
	Bytes   int64 // size of the elements in the file
}

// LayoutAt is Stat for an array inside a larger file: its header and elements are
// in the size bytes from an offset on, which r reads. Bytes behind the elements are
// ignored. Messages do not name the file. The Info is valid where the header is
// valid, also beside an error that the array cannot be read.
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

// headerAt reads the header at the beginning of a file and returns its end.
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

// Form returns the form of an array's file, byte for byte as Write writes it.
// Strings are a garner.ErrDType: use Write.
func Form(spec garner.Spec) (layout.Form, error) {
	if _, _, err := layout.Size(spec); err != nil {
		return layout.Form{}, err
	}
	shape, _ := spec.Shape()
	return layout.Form{Spec: spec, Header: appendHeader(nil, descrOf(spec.DType), shape), Bytes: true}, nil
}

// NewWriter writes the header of an array and returns a writer for its elements,
// row-major and little-endian, in pieces of any size, so that the array may exceed
// memory. Close it after the last element. Errors are those of Form and of w.
func NewWriter(w io.Writer, spec garner.Spec) (*layout.Writer, error) {
	form, err := Form(spec)
	if err != nil {
		return nil, err
	}
	return form.NewWriter(w)
}
