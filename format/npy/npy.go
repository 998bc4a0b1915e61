// Package npy reads and writes NumPy's .npy files, versions 1.0, 2.0 and 3.0,
// as numpy.save writes them (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
//
// Booleans, integers, floats and complex numbers of either byte order, byte
// strings (S) and Unicode strings (U) have dtypes of garner's. What NumPy has
// no name for, such as the types of the ml_dtypes package, stands in a file as
// bytes without meaning (V), one value in one or two bytes; the reader says
// what it is with Options.DType, and values narrower than a byte are packed as
// they are read, and unpacked as they are written.
//
// Records, dates, long doubles and Python objects are refused.
package npy

import (
	"io"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/names"
)

// Options say how to read an array.
type Options struct {
	// DType is what the elements of V data are, of as many bytes as they have,
	// or of less than a byte where they have one. For data that says itself
	// what it is, DType is Invalid or just that.
	DType garner.DType
}

// A File is an opened array.
type File struct {
	tensor garner.Tensor
	descr  string
	copied bool
	mapped *mapped.File // what the tensor views; nil where it is of no file
}

// Open opens a file. Numbers in little-endian order are not read but mapped, in
// C and in Fortran order (a view with strides), so that the file may be larger
// than memory; the tensor is Volatile then. Big-endian numbers, strings and
// packed types are read into memory.
//
// An error that is about the contents is an ErrFormat, or a garner.ErrDType for
// a dtype that is not read. A header is believed only as far as the file has
// bytes for it. Bytes after the array are ignored, as numpy.load does.
func Open(path string, o Options) (*File, error) {
	m, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	var f *File
	err = mapped.Guard(func() error {
		var err error
		if f, _, err = fromBytes(m.Bytes(), o); err == nil && !f.copied {
			f.mapped, f.tensor = m, f.tensor.Volatile()
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

// FromBytes reads an array that b begins with, and answers what stands after
// it. It copies what Open copies; any other tensor shares b's memory, which must
// then stay as it is. Its numbers stand where Go would align them only if b
// itself does; Clone mends that.
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
	end := start + h.bytes
	t, copied, err := h.tensor(b[start:end:end], o.DType, false)
	return &File{tensor: t, descr: h.descr, copied: copied}, b[end:], err
}

// headerOf reads the header that b begins with, and says where it ends.
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

// OpenReader reads an array from a stream into memory, and nothing that stands
// after it. Memory grows with what the stream delivers, however much the header
// asks for.
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
	data, k, err := readGrowing(r, h.bytes)
	if err != nil {
		return nil, ended(err, formatError("its header asks for %s%s, %d bytes, and it ends after %d; it was cut short: send it again",
			h.descr, garner.Shape(h.shape), h.bytes, k))
	}
	t, _, err := h.tensor(data, o.DType, true)
	return &File{tensor: t, descr: h.descr, copied: true}, err
}

// ended tells a stream that ends too early from one that fails.
func ended(err, short error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return short
	}
	return readFailed(err)
}

func readFailed(err error) error {
	return garner.Errorf(err, "it cannot be read: %v", err)
}

// firstRead is how much memory is taken before anything of the elements has
// come.
const firstRead = 1 << 20

// readGrowing reads n bytes into memory that grows as they come: it doubles, and
// once an eighth has come it is whole, so that little is copied again. On an
// error it says how many came.
func readGrowing(r io.Reader, n int) (b []byte, have int, err error) {
	size := min(n, firstRead)
	for ; ; size *= 2 {
		if have > 0 && have >= n/8 {
			size = n
		}
		grown, err := aligned(size)
		if err != nil {
			return nil, have, err
		}
		copy(grown, b)
		b = grown
		k, err := io.ReadFull(r, b[have:])
		have += k
		if err != nil || have == n {
			return b, have, err
		}
	}
}

// aligned makes memory in which an element of any type finds its alignment.
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

// Tensor is the array. Of a mapped file it is a view, which may not be looked
// at after Close.
func (f *File) Tensor() garner.Tensor { return f.tensor }

// Descr is the dtype as the file names it: "<f4", ">i8", "|S10", "<U3".
func (f *File) Descr() string { return f.descr }

// Copied reports whether the elements stand in memory of their own, rather than
// in the file or the bytes that they were opened from.
func (f *File) Copied() bool { return f.copied }

// Close gives the mapped memory back.
func (f *File) Close() error {
	if f.mapped == nil {
		return nil
	}
	return f.mapped.Close()
}
