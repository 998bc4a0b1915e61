package npy

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"github.com/garner-go/garner"
)

// copied returns how many bytes tensor allocates beside the elements' own. Of strings
// it is the most that they may take.
func (h *header) copied(asked garner.DType, own bool) float64 {
	d, err := h.dtype(asked)
	switch {
	case err != nil:
		return 0 // tensor refuses it
	case d == garner.String:
		const header = 16 // bytes of a Go string without its text
		return header*float64(h.count) + float64(h.bytes)
	case d.Packed():
		return float64(h.count) * float64(d.Bits()) / 8
	case h.big && h.size > 1 && !own:
		return float64(h.bytes)
	}
	return 0
}

// text names the array for a message.
func (h *header) text() string { return "the array " + h.descr + garner.Shape(h.shape).String() }

// tensor makes a tensor of the elements' bytes. copied is false where the tensor
// views them. own permits changing the bytes in place instead of copying them.
func (h *header) tensor(data []byte, asked garner.DType, own bool) (t garner.Tensor, copied bool, err error) {
	d, err := h.dtype(asked)
	if err != nil {
		return t, false, err
	}
	// Fortran order is the C order of the array transposed.
	shape := slices.Clone(h.shape)
	if h.fortran {
		slices.Reverse(shape)
	}
	switch {
	case d == garner.String:
		var values []string
		if values, err = h.strings(data, shape); err == nil {
			t, err = garner.FromSlice(values, shape...)
		}
		copied = true
	case d.Packed():
		t, err = pack(d, data, shape)
		copied = true
	case h.big && h.size > 1:
		if !own {
			var swapped []byte
			if swapped, err = aligned(len(data)); err != nil {
				return t, false, err
			}
			copy(swapped, data)
			data = swapped
		}
		swap(data, d)
		t, err = garner.FromBytes(d, data, shape...)
		copied = true
	default:
		t, err = garner.FromBytes(d, data, shape...)
	}
	if err == nil && h.fortran {
		t, err = t.Transpose()
	}
	return t, copied, err
}

// swap reverses the byte order of every number; a complex one is two.
func swap(b []byte, d garner.DType) {
	w := d.Bits() / 8
	if d.IsComplex() {
		w /= 2
	}
	for ; len(b) > 0; b = b[w:] {
		slices.Reverse(b[:w])
	}
}

// pack packs values of one byte each. It drops the bits that the type lacks, as
// ml_dtypes does.
func pack(d garner.DType, data []byte, shape []int) (garner.Tensor, error) {
	t, err := garner.New(d, shape...)
	if err != nil {
		return t, err
	}
	b, err := t.Bytes()
	if err != nil {
		return t, err
	}
	width := d.Bits()
	per, mask := 8/width, byte(1)<<width-1
	for i, v := range data {
		b[i/per] |= v & mask << (i % per * width)
	}
	return t, nil
}

// unpack expands each value of a packed type to one byte.
func unpack(dst []byte, d garner.DType, packed []byte) {
	width := d.Bits()
	per, mask := 8/width, byte(1)<<width-1
	for i := range dst {
		dst[i] = packed[i/per] >> (i % per * width) & mask
	}
}

// strings reads S or U elements. NUL at the end of an element is padding, as in
// NumPy.
func (h *header) strings(data []byte, shape []int) ([]string, error) {
	values := make([]string, h.count)
	var text []byte
	for i := range values {
		e := data[i*h.size : (i+1)*h.size]
		if h.kind == 'S' {
			values[i] = string(bytes.TrimRight(e, "\x00"))
			continue
		}
		text = text[:0]
		end := 0 // end of the text, after the last character that is not NUL
		for ; len(e) > 0; e = e[4:] {
			r := binary.LittleEndian.Uint32(e)
			if h.big {
				r = binary.BigEndian.Uint32(e)
			}
			if r > utf8.MaxRune || !utf8.ValidRune(rune(r)) {
				return nil, formatError("element %s of the file holds the code %#x, which is no Unicode character; save the strings as bytes, for example with numpy.strings.encode(a, \"utf-8\", \"surrogatepass\")",
					place(i, shape), r)
			}
			text = utf8.AppendRune(text, rune(r))
			if r != 0 {
				end = len(text)
			}
		}
		values[i] = string(text[:end])
	}
	return values, nil
}

// place returns the coordinates of the i-th element in row-major order.
func place(i int, shape garner.Shape) garner.Shape {
	at := make(garner.Shape, len(shape))
	for axis := len(shape) - 1; axis >= 0; axis-- {
		at[axis] = i % shape[axis]
		i /= shape[axis]
	}
	return at
}
