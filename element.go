package garner

import (
	"encoding/binary"
	"runtime/debug"
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

// guard calls access, which reads or writes the memory of t. A fault in volatile
// memory becomes an ErrFault; other memory does not fault.
func (t *Tensor) guard(access func()) (err error) {
	if t.volatile {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			if r := recover(); r != nil {
				if !isFault(r) {
					panic(r)
				}
				err = errorf(ErrFault, "the memory of the element is not there, or only to be read: a mapped file may have been cut short")
			}
		}()
	}
	access()
	return nil
}

// bits returns the element at position at of the memory, of a type of up to 64
// bits.
func (t *Tensor) bits(at int) uint64 {
	w := t.dtype.Bits()
	if w < 8 {
		return uint64(packed(t.buf, at, w))
	}
	return load(t.buf, at, w/8)
}

// setBits sets the element at position at of the memory.
func (t *Tensor) setBits(at int, v uint64) {
	w := t.dtype.Bits()
	if w < 8 {
		setPacked(t.buf, at, w, byte(v))
		return
	}
	store(t.buf, at, w/8, v)
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
