package garner

import (
	"slices"

	"github.com/garner-go/garner/internal/kernel"
)

// position is where the i-th element in row-major order stands, in elements.
func (t *Tensor) position(i int) int {
	at := t.mem.Offset
	for axis := len(t.shape) - 1; axis >= 0; axis-- {
		d := t.shape[axis]
		at += i % d * t.strides[axis]
		i /= d
	}
	return at
}

// copyElement copies one element between tensors of one dtype, by its bits.
func copyElement(dst Tensor, to int, src Tensor, from int) {
	switch bits := src.dtype.Bits(); {
	case src.dtype == String:
		dst.mem.Strs[to] = src.mem.Strs[from]
	case bits < 8:
		setPacked(dst.mem.Buf, to, bits, packed(src.mem.Buf, from, bits))
	default:
		w := bits / 8
		copy(dst.mem.Buf[to*w:(to+1)*w], src.mem.Buf[from*w:(from+1)*w])
	}
}

// packed reads element i of a packed type of the given width.
func packed(b []byte, i, bits int) byte {
	per := 8 / bits
	return b[i/per] >> (i % per * bits) & (1<<bits - 1)
}

// setPacked writes element i of a packed type and leaves its neighbours alone.
func setPacked(b []byte, i, bits int, v byte) {
	per := 8 / bits
	shift := i % per * bits
	mask := byte(1<<bits-1) << shift
	b[i/per] = b[i/per]&^mask | v<<shift&mask
}

// index is the integer that stands at a position, in elements.
func (t *Tensor) index(at int) Index {
	var v [1]int64
	w := kernel.Width{Bits: t.dtype.Bits(), Unsigned: t.dtype.IsUnsigned()}
	if w.Bits == 64 && w.Unsigned {
		w.Unsigned = false // the bits as they stand
		kernel.Load(v[:], t.mem.Buf, at, 0, w, 0)
		return Index{Bits: uint64(v[0]), Unsigned: true}
	}
	kernel.Load(v[:], t.mem.Buf, at, 0, w, 0)
	return Index{Bits: uint64(v[0]), Unsigned: w.Unsigned}
}

// scalar is the bytes of a scalar; of a packed one, its bits in the low bits.
func (t *Tensor) scalar() []byte {
	bits := t.dtype.Bits()
	if bits < 8 {
		return []byte{packed(t.mem.Buf, t.mem.Offset, bits)}
	}
	w := bits / 8
	return slices.Clone(t.mem.Buf[t.mem.Offset*w : (t.mem.Offset+1)*w])
}
