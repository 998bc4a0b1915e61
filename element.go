package garner

import (
	"encoding/binary"
	"slices"

	"github.com/garner-go/garner/internal/kernel"
)

// Float64 returns the i-th element in row-major order as a float64: exact for
// every float and for integers of up to 53 bits, the nearest float64 for larger
// ones. Other types are an ErrDType.
func (t Tensor) Float64(i int) (float64, error) {
	at, err := t.element(i)
	if err != nil {
		return 0, err
	}
	if !t.dtype.IsFloat() && !t.dtype.IsInteger() {
		return 0, errorf(ErrDType, "a %s is no real number", t.dtype)
	}
	var code uint64
	if err := t.guard(func() { code = t.bits(at) }); err != nil {
		return 0, err
	}
	switch t.dtype.kind() {
	case kindFloat:
		return decodeFloat(t.dtype, code), nil
	case kindInt:
		return float64(signed(t.dtype, code)), nil
	}
	return float64(code), nil
}

// Int returns the i-th element in row-major order of a tensor of any integer
// type, exactly. Other types are an ErrDType.
func (t Tensor) Int(i int) (Index, error) {
	at, err := t.element(i)
	if err != nil {
		return Index{}, err
	}
	if !t.dtype.IsInteger() {
		return Index{}, errorf(ErrDType, "a %s is no integer", t.dtype)
	}
	var code uint64
	if err := t.guard(func() { code = t.bits(at) }); err != nil {
		return Index{}, err
	}
	if t.dtype.IsUnsigned() {
		return Index{Bits: code, Unsigned: true}, nil
	}
	return Index{Bits: uint64(signed(t.dtype, code))}, nil
}

// element returns the position in memory of the i-th element in row-major order.
// An i outside t is an ErrShape.
func (t *Tensor) element(i int) (at int, err error) {
	if !t.dtype.Valid() {
		return 0, errorf(ErrDType, "the zero Tensor has no elements")
	}
	if n := t.Len(); i < 0 || i >= n {
		return 0, shapeError(KindMismatch, "element %d of a tensor of %d", i, n)
	}
	return t.position(i), nil
}

// position returns the position in memory of the i-th element in row-major order,
// in elements.
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

// setPacked writes element i of a packed type and no bit of its neighbours.
func setPacked(b []byte, i, bits int, v byte) {
	per := 8 / bits
	shift := i % per * bits
	mask := byte(1<<bits-1) << shift
	b[i/per] = b[i/per]&^mask | v<<shift&mask
}

// index returns the integer at position at of the memory, in elements.
func (t *Tensor) index(at int) Index {
	var v [1]int64
	w := kernel.Width{Bits: t.dtype.Bits(), Unsigned: t.dtype.IsUnsigned()}
	if w.Bits == 64 && w.Unsigned {
		w.Unsigned = false // load the bits alone
		kernel.Load(v[:], t.mem.Buf, at, 0, w, 0)
		return Index{Bits: uint64(v[0]), Unsigned: true}
	}
	kernel.Load(v[:], t.mem.Buf, at, 0, w, 0)
	return Index{Bits: uint64(v[0]), Unsigned: w.Unsigned}
}

// scalar returns the bytes of a scalar; a packed one is in the low bits of a byte.
func (t *Tensor) scalar() []byte {
	bits := t.dtype.Bits()
	if bits < 8 {
		return []byte{packed(t.mem.Buf, t.mem.Offset, bits)}
	}
	w := bits / 8
	return slices.Clone(t.mem.Buf[t.mem.Offset*w : (t.mem.Offset+1)*w])
}

// bits returns the element at position at of the memory, of a type of up to 64
// bits.
func (t *Tensor) bits(at int) uint64 {
	w := t.dtype.Bits()
	if w < 8 {
		return uint64(packed(t.mem.Buf, at, w))
	}
	return load(t.mem.Buf, at, w/8)
}

// setBits sets the element at position at of the memory.
func (t *Tensor) setBits(at int, v uint64) {
	w := t.dtype.Bits()
	if w < 8 {
		setPacked(t.mem.Buf, at, w, byte(v))
		return
	}
	store(t.mem.Buf, at, w/8, v)
}

// load reads the i-th little-endian word of size bytes.
func load(b []byte, i, size int) uint64 {
	var word [8]byte
	copy(word[:], b[i*size:(i+1)*size])
	return binary.LittleEndian.Uint64(word[:])
}

// store writes the i-th little-endian word of size bytes.
func store(b []byte, i, size int, v uint64) {
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], v)
	copy(b[i*size:(i+1)*size], word[:])
}

// signed extends the sign of the bits of a signed integer type.
func signed(d DType, v uint64) int64 {
	shift := 64 - d.Bits()
	return int64(v<<shift) >> shift
}
