package gguf

import (
	"encoding/binary"
	"io"
	"unicode/utf8"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/format/raw"
	"github.com/garner-go/garner/internal/names"
)

// The limits of llama.cpp: names of 64 bytes with the terminating NUL, and four
// extents.
const (
	longestName = 63
	mostDims    = 4
)

// Write writes a file of version 3 with one tensor of any strides, block by block,
// and no metadata. Errors are those of Form and of w.
func Write(w io.Writer, name string, t garner.Tensor) error {
	to, err := NewWriter(w, name, t.Spec())
	if err != nil {
		return err
	}
	if err := raw.Write(to, t); err != nil {
		return err
	}
	return to.Close()
}

// Form returns the form of a file of one tensor, byte for byte as Write writes it.
//
// The format has f16, bf16, f32, f64, i8, i16, i32 and i64; another dtype is a
// garner.ErrDType. A name that is longer than 63 bytes or not UTF-8, and more than
// four extents, are an ErrFormat, because llama.cpp does not read them.
func Form(name string, spec garner.Spec) (layout.Form, error) {
	size, _, err := layout.Size(spec)
	if err == nil {
		err = check(name, spec)
	}
	if err != nil {
		return layout.Form{}, err
	}
	shape, _ := spec.Shape()
	b := binary.LittleEndian.AppendUint32([]byte(magic), 3)
	b = binary.LittleEndian.AppendUint64(b, 1) // tensors
	b = binary.LittleEndian.AppendUint64(b, 0) // values
	b = binary.LittleEndian.AppendUint64(b, uint64(len(name)))
	b = append(b, name...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(shape)))
	for i := len(shape) - 1; i >= 0; i-- {
		b = binary.LittleEndian.AppendUint64(b, uint64(shape[i]))
	}
	number, _ := numberOf(spec.DType)
	b = binary.LittleEndian.AppendUint32(b, number)
	b = binary.LittleEndian.AppendUint64(b, 0) // offset of the tensor
	b = append(b, padding(int64(len(b)))...)
	return layout.Form{Spec: spec, Header: b, Trailer: padding(size)}, nil
}

// NewWriter writes the header of a file of one tensor and returns a writer for its
// elements, row-major and little-endian, in pieces of any size, so that the tensor
// may exceed memory. Close it after the last element. Errors are those of Form and
// of w.
func NewWriter(w io.Writer, name string, spec garner.Spec) (*layout.Writer, error) {
	form, err := Form(name, spec)
	if err != nil {
		return nil, err
	}
	return form.NewWriter(w)
}

func check(name string, spec garner.Spec) error {
	if _, ok := numberOf(spec.DType); !ok {
		return garner.Errorf(garner.ErrDType, "tensor %s is of %s, which GGUF does not have; write it as .npy or .safetensors", names.Quote(name), spec.DType)
	}
	switch {
	case len(name) > longestName || !utf8.ValidString(name):
		return formatError("the name %s of %d bytes is longer than %d, or not UTF-8; give the tensor another name", names.Quote(name), len(name), longestName)
	case len(spec.Dims) > mostDims:
		return formatError("tensor %s is %s, and llama.cpp reads up to %d extents; reshape it", names.Quote(name), spec, mostDims)
	}
	return nil
}

// numberOf returns the format's number of a dtype.
func numberOf(d garner.DType) (uint32, bool) {
	for n, k := range kinds {
		if k.block == 1 && k.dtype == d {
			return n, true
		}
	}
	return 0, false
}

// padding returns the padding of n bytes to a multiple of the alignment.
func padding(n int64) []byte {
	return make([]byte, (defaultAlignment-n%defaultAlignment)%defaultAlignment)
}
