// Package npy reads and writes NumPy's .npy files, versions 1.0, 2.0 and 3.0,
// as numpy.save writes them (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
//
// Booleans, integers, floats and complex numbers of either byte order, byte
// strings (S) and Unicode strings (U) map to garner's dtypes. NumPy stores types
// that it has no name for, such as those of ml_dtypes, as untyped bytes (V), one
// value in one or two bytes. Options.DType names their type. The package packs
// values narrower than a byte when it reads them, and unpacks them when it writes.
//
// Records, dates, long doubles and Python objects are refused.
package npy

import (
	"io"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/names"
)

// Options for reading an array.
type Options struct {
	// DType is the dtype of V data, with the size of its elements, or narrower than
	// a byte where they have one byte. For all other data it is Invalid or the
	// dtype in the file.
	DType garner.DType

	// Memory is the most bytes that an array may take while it is read into memory; a
	// view of a mapped file takes none. A larger array is a layout.ErrTooLarge, found
	// by its header. 0 is no limit.
	Memory int64
}

// A File is an opened array.
type File struct {
	tensor garner.Tensor
	descr  string
	copied bool
	mapped *mapped.File // the memory that the tensor views; nil if it views no file
}

// Open opens a file. It maps little-endian numbers, in C and in Fortran order (a
// view with strides), so that the file may exceed memory; the File then keeps the
// tensor, see garner.Tensor.KeptBy. It reads big-endian numbers, strings and packed types into memory.
//
// Errors about the contents are an ErrFormat, or a garner.ErrDType for an
// unsupported dtype. A header that promises more elements than the file holds is
// refused before memory is allocated. Bytes after the array are ignored, as in
// numpy.load.
func Open(path string, o Options) (*File, error) {
	m, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	var f *File
	err = m.Read(0, m.Size(), func(b []byte) error {
		var err error
		if f, _, err = fromBytes(b, o); err == nil && !f.copied {
			f.mapped, f.tensor = m, f.tensor.KeptBy(m)
		}
		return err
	})
	if err != nil || f.copied {
		if closing := m.Close(); err == nil {
			err = closing
		}
	}
	if err != nil {
		return nil, names.Error(path, err)
	}
	return f, nil
}

// FromBytes reads the array at the beginning of b and returns the bytes behind it.
// It copies what Open copies. Any other tensor shares b's memory, which must then
// not change; its elements are aligned only if b is, and Clone aligns them.
func FromBytes(b []byte, o Options) (f *File, rest []byte, err error) {
	if f, rest, err = fromBytes(b, o); err != nil {
		return nil, nil, names.Error("the npy bytes", err)
	}
	return f, rest, nil
}

func fromBytes(b []byte, o Options) (*File, []byte, error) {
	h, start, err := headerOf(b)
	if err != nil {
		return nil, nil, err
	}
	if have := len(b) - start; have < h.bytes {
		return nil, nil, formatError("its header asks for %s%s, %d bytes, and the file has %d; it was cut short: copy or save it again", h.descr, garner.Shape(h.shape), h.bytes, have)
	}
	if err := layout.Fits(h.text(), h.copied(o.DType, false), float64(o.Memory)); err != nil {
		return nil, nil, err
	}
	end := start + h.bytes
	t, copied, err := h.tensor(b[start:end:end], o.DType, false)
	return &File{tensor: t, descr: h.descr, copied: copied}, b[end:], err
}

// headerOf reads the header at the beginning of b and returns its end.
func headerOf(b []byte) (h *header, end int, err error) {
	n, err := prefix(b[:min(len(b), 8)])
	if err != nil {
		return nil, 0, err
	}
	if len(b) < n {
		return nil, 0, endsInHeader(len(b))
	}
	size, err := textLen(b[:n])
	if err != nil {
		return nil, 0, err
	}
	if len(b)-n < size {
		return nil, 0, endsInHeader(len(b))
	}
	h, err = parseHeader(string(b[n : n+size]))
	return h, n + size, err
}

func endsInHeader(n int) error {
	return formatError("it ends after %d bytes, inside the header; it was cut short: copy or save it again", n)
}

// OpenReader reads an array from a stream into memory, and nothing behind it. Memory
// grows with the bytes received, whatever size the header promises.
func OpenReader(r io.Reader, o Options) (*File, error) {
	f, err := openReader(r, o)
	if err != nil {
		return nil, names.Error("the npy stream", err)
	}
	return f, nil
}

func openReader(r io.Reader, o Options) (*File, error) {
	h, _, err := headerAt(r)
	if err != nil {
		return nil, err
	}
	if _, err := h.dtype(o.DType); err != nil {
		return nil, err // before waiting for the elements
	}
	size := float64(h.bytes)
	if h.bytes > 8*firstRead {
		size += size / 8 // what readGrowing copies again
	}
	if err := layout.Fits(h.text(), size+h.copied(o.DType, true), float64(o.Memory)); err != nil {
		return nil, err
	}
	data, k, err := readGrowing(r, h.bytes)
	if err != nil {
		return nil, ended(err, formatError("its header asks for %s%s, %d bytes, and it ends after %d; it was cut short: send it again",
			h.descr, garner.Shape(h.shape), h.bytes, k))
	}
	t, _, err := h.tensor(data, o.DType, true)
	return &File{tensor: t, descr: h.descr, copied: true}, err
}

// ended distinguishes a stream that ends too early from one that fails.
func ended(err, short error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return short
	}
	return readFailed(err)
}

func readFailed(err error) error {
	return garner.Errorf(err, "it cannot be read: %v", err)
}

// firstRead is the memory allocated before the first element arrives, in bytes.
const firstRead = 1 << 20

// readGrowing reads n bytes into memory that grows with them: an eighth of them into
// parts, each as long as those before it, and then all into memory that is allocated
// whole. No part is dropped before that, so it takes 9/8 of n at most, whenever the
// garbage collector runs. With an error it returns the number of bytes read.
func readGrowing(r io.Reader, n int) (b []byte, have int, err error) {
	var parts [][]byte
	if n > 8*firstRead {
		for have < n/8 {
			part := make([]byte, min(max(have, firstRead), n/8-have))
			k, err := io.ReadFull(r, part)
			have += k
			if err != nil {
				return nil, have, err
			}
			parts = append(parts, part)
		}
	}
	if b, err = aligned(n); err != nil {
		return nil, have, err
	}
	at := 0
	for _, part := range parts {
		at += copy(b[at:], part)
	}
	k, err := io.ReadFull(r, b[at:])
	return b, have + k, err
}

// aligned allocates memory that is aligned for elements of any type.
func aligned(n int) ([]byte, error) {
	t, err := garner.New(garner.U8, n)
	if err != nil {
		return nil, err
	}
	return t.Bytes()
}

// Read reads an array from a stream, as OpenReader does.
func Read(r io.Reader, o Options) (garner.Tensor, error) {
	f, err := OpenReader(r, o)
	if err != nil {
		return garner.Tensor{}, err
	}
	return f.tensor, nil
}

// Tensor returns the array. Of a mapped file it is a view: calls that begin to read it
// after Close are an fs.ErrClosed.
func (f *File) Tensor() garner.Tensor { return f.tensor }

// Descr returns the file's name of the dtype: "<f4", ">i8", "|S10", "<U3".
func (f *File) Descr() string { return f.descr }

// Copied reports whether the elements are in memory of their own, rather than in
// the mapped file or the bytes passed in.
func (f *File) Copied() bool { return f.copied }

// Close unmaps the file, behind calls in progress that read its tensor.
func (f *File) Close() error {
	if f.mapped == nil {
		return nil
	}
	return f.mapped.Close()
}
