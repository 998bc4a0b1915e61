package layout

import (
	"io"
	"math/bits"

	"github.com/garner-go/garner"
)

// A Writer writes one array of which the header stands already: its elements
// row-major and little-endian, in pieces of any size. It takes exactly as many
// bytes as the array has.
type Writer struct {
	to    io.Writer
	spec  garner.Spec
	left  int64 // bytes of the array that are to come
	bytes bool  // whether every element of a packed type gets a byte of its own
	count int64 // of elements that are to come
	buf   []byte
	end   func() error
}

// NewWriter writes a header, and answers what writes the elements of spec behind
// it. With bytes, every element of a packed type gets a byte of its own. end,
// where it is not nil, is called by Close when all elements are there.
func NewWriter(to io.Writer, header []byte, spec garner.Spec, bytes bool, end func() error) (*Writer, error) {
	size, count, err := Size(spec)
	if err != nil {
		return nil, err
	}
	if _, err := to.Write(header); err != nil {
		return nil, err
	}
	return &Writer{to: to, spec: spec, left: size, count: count, bytes: bytes && spec.DType.Packed(), end: end}, nil
}

// Write takes the next bytes of the array.
func (w *Writer) Write(b []byte) (n int, err error) {
	if int64(len(b)) > w.left {
		return 0, garner.Errorf(garner.ErrShape, "more bytes came than %s has; write no more than that", w.spec)
	}
	if !w.bytes {
		n, err = w.to.Write(b)
		w.left -= int64(n)
		return n, err
	}
	const piece = 32 << 10
	width := w.spec.DType.Bits()
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

// Close ends the array. It is an error where elements are missing.
func (w *Writer) Close() error {
	if w.left > 0 {
		return garner.Errorf(garner.ErrShape, "the last %d bytes of %s are missing; write them before the end", w.left, w.spec)
	}
	if w.end == nil {
		return nil
	}
	end := w.end
	w.end = nil
	return end()
}

// Size is how many bytes and elements an array has. A spec with dims that are
// not known, or more bytes than can be counted, is a garner.ErrShape, one of
// strings or of nothing a garner.ErrDType.
func Size(spec garner.Spec) (size, count int64, err error) {
	shape, ok := spec.Shape()
	width := spec.DType.Bits()
	if width == 0 {
		return 0, 0, garner.Errorf(garner.ErrDType, "an array of %s has no bytes; its elements must be of a fixed width", spec.DType)
	}
	n, fits := shape.Len()
	high, low := bits.Mul64(uint64(n), uint64(width))
	if !ok || !fits || high != 0 || low > 1<<63-8 {
		return 0, 0, garner.Errorf(garner.ErrShape, "%s has dims that are not known, or more bytes than can be counted; gather fewer rows at a time", spec)
	}
	return int64(low+7) / 8, int64(n), nil
}
