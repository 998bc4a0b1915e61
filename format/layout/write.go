package layout

import (
	"io"

	"github.com/garner-go/garner"
)

// A Form is the form of a file of one array: its elements, row-major and
// little-endian, between a header and a trailer.
type Form struct {
	Spec    garner.Spec
	Header  []byte
	Trailer []byte
	Bytes   bool // each element of a packed type takes one byte
}

// At returns the offset in the file of a byte of the elements, counted as they are in
// memory. Where a packed type takes one byte per element, it is the offset of the
// first element in the byte.
func (f Form) At(from int64) int64 {
	if f.expands() {
		from *= int64(8 / f.Spec.DType.Bits())
	}
	return int64(len(f.Header)) + from
}

// Size returns the size of the file in bytes. Errors are those of the function Size
// for its Spec.
func (f Form) Size() (int64, error) {
	size, count, err := Size(f.Spec)
	if f.expands() {
		size = count
	}
	return int64(len(f.Header)) + size + int64(len(f.Trailer)), err
}

func (f Form) expands() bool { return f.Bytes && f.Spec.DType.Packed() }

// NewWriter writes the header and returns a writer for the elements.
func (f Form) NewWriter(to io.Writer) (*Writer, error) {
	w, err := f.Resume(to, 0)
	if err == nil {
		_, err = to.Write(f.Header)
	}
	if err != nil {
		return nil, err
	}
	return w, nil
}

// Resume returns a writer for the elements from byte from on, counted as they are in
// memory. The file must hold all bytes before At(from).
func (f Form) Resume(to io.Writer, from int64) (*Writer, error) {
	size, count, err := Size(f.Spec)
	if err != nil {
		return nil, err
	}
	if from < 0 || from > size {
		return nil, garner.Errorf(garner.ErrShape, "%s has %d bytes, and %d of them cannot be there already; begin again", f.Spec, size, from)
	}
	w := &Writer{to: to, form: f, left: size - from, count: count}
	if f.expands() {
		w.count = max(0, count-from*int64(8/f.Spec.DType.Bits()))
	}
	w.End = func() error {
		if len(f.Trailer) == 0 {
			return nil
		}
		_, err := to.Write(f.Trailer)
		return err
	}
	return w, nil
}

// A Writer writes the elements of one array, in pieces of any size. It accepts
// exactly the bytes of the array.
type Writer struct {
	// End writes the trailer. Close calls it after the last element.
	End func() error

	to    io.Writer
	form  Form
	left  int64 // bytes of the missing elements
	count int64 // missing elements, where each takes one byte
	buf   []byte
}

// Write writes the next bytes of the array.
func (w *Writer) Write(b []byte) (n int, err error) {
	if int64(len(b)) > w.left {
		return 0, garner.Errorf(garner.ErrShape, "more bytes came than %s has; write no more than that", w.form.Spec)
	}
	if !w.form.expands() {
		n, err = w.to.Write(b)
		w.left -= int64(n)
		return n, err
	}
	const piece = 32 << 10
	width := w.form.Spec.DType.Bits()
	per, mask := 8/width, byte(1)<<width-1
	for n < len(b) {
		packed := b[n:min(len(b), n+piece)]
		w.buf = w.buf[:0]
		for _, v := range packed {
			for i := range min(int64(per), w.count) {
				w.buf = append(w.buf, v>>(int(i)*width)&mask)
			}
			w.count -= min(int64(per), w.count)
		}
		if _, err := w.to.Write(w.buf); err != nil {
			return n, err
		}
		n += len(packed)
		w.left -= int64(len(packed))
	}
	return n, nil
}

// Close ends the array. Missing elements are an error.
func (w *Writer) Close() error {
	if w.left > 0 {
		return garner.Errorf(garner.ErrShape, "the last %d bytes of %s are missing; write them before the end", w.left, w.form.Spec)
	}
	end := w.End
	if end == nil {
		return nil
	}
	w.End = nil
	return end()
}

// Size returns the bytes and the elements of an array. A spec with unknown dims, or
// with more bytes than an int counts, is a garner.ErrShape; strings and an invalid
// dtype are a garner.ErrDType.
func Size(spec garner.Spec) (size, count int64, err error) {
	shape, ok := spec.Shape()
	if spec.DType.Bits() == 0 {
		return 0, 0, garner.Errorf(garner.ErrDType, "an array of %s has no bytes; its elements must be of a fixed width", spec.DType)
	}
	n, fits := shape.Len()
	size, counts := spec.Bytes()
	if !ok || !fits || !counts {
		return 0, 0, garner.Errorf(garner.ErrShape, "%s has dims that are not known, or more bytes than can be counted; gather fewer rows at a time", spec)
	}
	return size, int64(n), nil
}
