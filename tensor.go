package garner

import (
	"math"
	"slices"
	"unsafe"

	"github.com/garner-go/garner/internal/exec"
)

// Float16 holds the bits of an IEEE 754 binary16, so that a []Float16 is an f16
// tensor and a []uint16 a u16 tensor. The types below do the same for the other
// formats that Go lacks.
type Float16 uint16

// BFloat16 holds the bits of a bfloat16.
type BFloat16 uint16

// The 8-bit floats, by their bits.
type (
	Float8E4M3FN   uint8
	Float8E5M2     uint8
	Float8E4M3FNUZ uint8
	Float8E5M2FNUZ uint8
	Float8E8M0     uint8
)

// An Element is a Go type whose slices become tensors without copying. An int
// or uint is an i64 or u64 (i32 or u32 on 32-bit machines).
type Element interface {
	bool | int8 | int16 | int32 | int64 | int | uint8 | uint16 | uint32 | uint64 | uint |
		float32 | float64 | complex64 | complex128 | string |
		Float16 | BFloat16 | Float8E4M3FN | Float8E5M2 | Float8E4M3FNUZ | Float8E5M2FNUZ | Float8E8M0
}

// An Integer is a Go type whose slices become indices without copying,
// including named types such as a TokenID.
type Integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint
}

// DTypeOf returns the dtype of a Go element type.
func DTypeOf[T Element]() DType {
	var zero T
	switch any(zero).(type) {
	case bool:
		return Bool
	case int8:
		return I8
	case int16:
		return I16
	case int32:
		return I32
	case int64:
		return I64
	case int:
		if math.MaxInt == math.MaxInt32 {
			return I32
		}
		return I64
	case uint8:
		return U8
	case uint16:
		return U16
	case uint32:
		return U32
	case uint64:
		return U64
	case uint:
		if math.MaxInt == math.MaxInt32 {
			return U32
		}
		return U64
	case float32:
		return F32
	case float64:
		return F64
	case complex64:
		return Complex64
	case complex128:
		return Complex128
	case Float16:
		return F16
	case BFloat16:
		return BF16
	case Float8E4M3FN:
		return F8E4M3FN
	case Float8E5M2:
		return F8E5M2
	case Float8E4M3FNUZ:
		return F8E4M3FNUZ
	case Float8E5M2FNUZ:
		return F8E5M2FNUZ
	case Float8E8M0:
		return F8E8M0
	default:
		return String
	}
}

// A Tensor is a view of memory with a dtype, a shape and strides. Copying a
// Tensor copies no element, and neither do Transpose, Slice and Reshape. Every
// function refuses the zero Tensor.
type Tensor struct {
	dtype   DType
	shape   Shape
	strides []int // in elements
	mem     exec.Memory
	keeper  Keeper // nil where the memory is not said to be kept; mem is Volatile where it is
}

// A Keeper keeps memory that can vanish, such as a mapped file: the file may be cut
// short by another process, or closed by another goroutine. It is safe for
// concurrent use.
type Keeper interface {
	// Hold keeps the memory in place until Release, which follows each Hold that
	// returned nil. An error says that the memory is gone, as an fs.ErrClosed.
	Hold() error

	// Check looks at the memory again after some of it was read. It is an ErrFault
	// where read, a part of the memory that was read since Hold, may have had other
	// bytes than were there: the rest of a page, behind the end of a file that was
	// cut short, reads as zeros without a fault.
	Check(read []byte) error

	// Release ends a Hold.
	Release()
}

// Of returns a tensor that shares the memory of values. It panics unless the
// shape holds exactly len(values) elements; FromSlice returns an error instead.
func Of[T Element](values []T, shape ...int) Tensor {
	t, err := FromSlice(values, shape...)
	if err != nil {
		panic(err)
	}
	return t
}

// ofIntegers returns a tensor that shares the memory of values, whose type may
// be a named one.
func ofIntegers[I Integer](values []I) Tensor {
	var zero I
	signed, unsigned := I64, U64
	switch unsafe.Sizeof(zero) {
	case 1:
		signed, unsigned = I8, U8
	case 2:
		signed, unsigned = I16, U16
	case 4:
		signed, unsigned = I32, U32
	}
	t := Tensor{dtype: signed, shape: Shape{len(values)}, strides: []int{1}}
	if ^zero > 0 {
		t.dtype = unsigned
	}
	if len(values) > 0 {
		t.mem.Buf = unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*int(unsafe.Sizeof(zero)))
	}
	return t
}

// FromSlice returns a tensor that shares the memory of values. A shape that
// does not hold exactly len(values) elements is an ErrShape.
func FromSlice[T Element](values []T, shape ...int) (Tensor, error) {
	t := Tensor{dtype: DTypeOf[T](), shape: slices.Clone(Shape(shape))}
	n, err := t.checkShape()
	if err != nil {
		return Tensor{}, err
	}
	if n != len(values) {
		return Tensor{}, shapeError(KindMismatch, "a slice of %d elements is no tensor of shape %s, which holds %d", len(values), t.shape, n)
	}
	if strs, ok := any(values).([]string); ok {
		t.mem.Strs = strs
	} else if n > 0 {
		t.mem.Buf = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), n*(t.dtype.Bits()/8))
	}
	t.strides = t.shape.Strides()
	return t, nil
}

// FromBytes returns a row-major tensor that shares the memory of b, which holds
// little-endian elements. len(b) must be exactly the size of the shape, for
// packed types rounded up to a whole byte (ErrShape). Strings have no such form
// (ErrDType).
func FromBytes(dtype DType, b []byte, shape ...int) (Tensor, error) {
	t := Tensor{dtype: dtype, shape: slices.Clone(Shape(shape)), mem: exec.Memory{Buf: b}}
	n, err := t.checkShape()
	if err != nil {
		return Tensor{}, err
	}
	if !dtype.Valid() || dtype == String {
		return Tensor{}, errorf(ErrDType, "a tensor of %s cannot be made from bytes", dtype)
	}
	want, ok := numBytes(dtype, n)
	if !ok || want != len(b) {
		return Tensor{}, shapeError(KindMismatch, "%d bytes are no %s%s, which takes %d", len(b), dtype, t.shape, want)
	}
	t.strides = t.shape.Strides()
	return t, nil
}

// FromStrided returns a tensor that shares the memory of b. Its element (i, j,
// …) lies at offset + i·strides[0] + j·strides[1] + …, counted in elements.
// Strides may be zero or negative. An element outside b is an ErrShape, strings
// are an ErrDType.
func FromStrided(dtype DType, b []byte, offset int, shape, strides []int) (Tensor, error) {
	t := Tensor{dtype: dtype, shape: slices.Clone(Shape(shape)), strides: slices.Clone(strides), mem: exec.Memory{Buf: b, Offset: offset}}
	n, err := t.checkShape()
	if err != nil {
		return Tensor{}, err
	}
	if !dtype.Valid() || dtype == String {
		return Tensor{}, errorf(ErrDType, "a tensor of %s cannot be made from bytes", dtype)
	}
	if len(strides) != len(shape) {
		return Tensor{}, shapeError(KindRank, "%d strides for shape %s", len(strides), t.shape)
	}
	if n == 0 {
		t.mem.Offset = 0
		return t, nil
	}
	lo, hi, ok := t.extent()
	var held int
	if bits := dtype.Bits(); bits >= 8 {
		held = len(b) / (bits / 8)
	} else {
		held = min(len(b), math.MaxInt/8) * (8 / bits)
	}
	if !ok || lo < 0 || hi >= held {
		return Tensor{}, shapeError(KindMismatch, "shape %s with strides %v from offset %d reaches outside the %d bytes given", t.shape, strides, offset, len(b))
	}
	return t, nil
}

// Over returns t with other memory, of as many bytes, in place of its own. It allocates
// nothing, and a Prepared that has run t knows the shape and the strides again. Memory of
// another length is an ErrShape, a tensor of strings an ErrDType. What KeptBy says of the
// memory is left behind, what Volatile says is not.
func (t Tensor) Over(b []byte) (Tensor, error) {
	if t.dtype == String {
		return Tensor{}, errorf(ErrDType, "a tensor of %s cannot be made from bytes", t.dtype)
	}
	if len(b) != len(t.mem.Buf) {
		return Tensor{}, shapeError(KindMismatch, "%d bytes for a tensor over %d", len(b), len(t.mem.Buf))
	}
	t.mem.Buf, t.keeper = b, nil
	return t, nil
}

// New returns a new row-major tensor of zeros, or of empty strings.
func New(dtype DType, shape ...int) (Tensor, error) {
	t := Tensor{dtype: dtype, shape: slices.Clone(Shape(shape))}
	n, err := t.checkShape()
	if err != nil {
		return Tensor{}, err
	}
	if !dtype.Valid() {
		return Tensor{}, errorf(ErrDType, "a tensor needs a dtype")
	}
	t.strides = t.shape.Strides()
	if dtype == String {
		t.mem.Strs = make([]string, n)
		return t, nil
	}
	size, ok := numBytes(dtype, n)
	if !ok {
		return Tensor{}, shapeError(KindMismatch, "a tensor %s%s has more bytes than an int can count", dtype, t.shape)
	}
	// 8-byte words align every element type.
	words := make([]uint64, size/8+1)
	t.mem.Buf = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)
	return t, nil
}

func (t *Tensor) checkShape() (n int, err error) {
	if len(t.shape) > MaxRank {
		return 0, shapeError(KindRank, "a tensor of %d dimensions; there may be %d", len(t.shape), MaxRank)
	}
	for i, d := range t.shape {
		if d < 0 {
			return 0, shapeError(KindMismatch, "dimension %d of shape %s is negative", i, t.shape)
		}
	}
	n, ok := t.shape.Len()
	if !ok {
		return 0, shapeError(KindMismatch, "shape %s holds more elements than an int can count", t.shape)
	}
	return n, nil
}

// extent returns the lowest and the highest position of an element of a tensor
// that has elements; false if they overflow an int.
func (t *Tensor) extent() (lo, hi int, ok bool) {
	lo, hi = t.mem.Offset, t.mem.Offset
	for i, d := range t.shape {
		s := t.strides[i]
		reach, fits := mul(d-1, max(s, -s))
		if !fits || s == math.MinInt {
			return 0, 0, false
		}
		if s >= 0 {
			if hi > math.MaxInt-reach {
				return 0, 0, false
			}
			hi += reach
		} else {
			if lo < math.MinInt+reach {
				return 0, 0, false
			}
			lo -= reach
		}
	}
	return lo, hi, true
}

// DType returns the type of the elements; Invalid for the zero Tensor.
func (t Tensor) DType() DType { return t.dtype }

// Shape returns the extents. The caller must not change them.
func (t Tensor) Shape() Shape { return t.shape }

// Strides returns the distances between neighbours along each dimension, in
// elements. The caller must not change them.
func (t Tensor) Strides() []int { return t.strides }

// Offset returns the position of the first element in the memory that the
// tensor views, in elements.
func (t Tensor) Offset() int { return t.mem.Offset }

// Rank returns the number of dimensions.
func (t Tensor) Rank() int { return len(t.shape) }

// Len returns the number of elements.
func (t Tensor) Len() int { n, _ := t.shape.Len(); return n }

// Contiguous reports whether the elements lie in row-major order without gaps.
func (t Tensor) Contiguous() bool {
	if t.Len() == 0 {
		return true
	}
	n := 1
	for i := len(t.shape) - 1; i >= 0; i-- {
		if t.shape[i] != 1 && t.strides[i] != n {
			return false
		}
		n *= t.shape[i]
	}
	return true
}

// Bytes returns the memory of a contiguous tensor, shared, in little-endian
// order. Strings are an ErrDType. Views that are not contiguous and packed
// tensors that begin inside a byte are an ErrShape; Clone such tensors first.
func (t Tensor) Bytes() ([]byte, error) {
	switch {
	case t.dtype == String || !t.dtype.Valid():
		return nil, errorf(ErrDType, "a tensor of %s has no bytes", t.dtype)
	case !t.Contiguous():
		return nil, shapeError(KindMismatch, "a view with strides %v is not contiguous; Clone it first", t.strides)
	case t.mem.Offset*t.dtype.Bits()%8 != 0 && t.dtype.Packed():
		return nil, shapeError(KindMismatch, "the view begins inside a byte; Clone it first")
	}
	n := t.Len()
	if n == 0 {
		return []byte{}, nil
	}
	from := t.byteOffset(t.mem.Offset)
	size, _ := numBytes(t.dtype, n)
	return t.mem.Buf[from : from+size : from+size], nil
}

func (t *Tensor) byteOffset(element int) int {
	if bits := t.dtype.Bits(); bits < 8 {
		return element / (8 / bits)
	} else {
		return element * (bits / 8)
	}
}

// Values returns the elements of a contiguous tensor as a Go slice that shares
// its memory. T must be exactly the element type: an f16 is a []Float16
// (ErrDType). Views that are not contiguous and memory that is not aligned for
// T are an ErrShape; Clone such tensors first.
func Values[T Element](t Tensor) ([]T, error) {
	if DTypeOf[T]() != t.dtype {
		return nil, errorf(ErrDType, "a tensor of %s does not read back as %s", t.dtype, DTypeOf[T]())
	}
	if t.dtype == String {
		if !t.Contiguous() {
			return nil, shapeError(KindMismatch, "a view with strides %v is not contiguous; Clone it first", t.strides)
		}
		return any(t.mem.Strs[t.mem.Offset : t.mem.Offset+t.Len()]).([]T), nil
	}
	b, err := t.Bytes()
	if err != nil {
		return nil, err
	}
	if len(b) == 0 {
		return []T{}, nil
	}
	var zero T
	p := unsafe.Pointer(unsafe.SliceData(b))
	if uintptr(p)%unsafe.Alignof(zero) != 0 {
		return nil, shapeError(KindMismatch, "the memory is not aligned for %s; Clone it first", t.dtype)
	}
	return unsafe.Slice((*T)(p), t.Len()), nil
}

// Transpose returns a view with its dimensions reordered: dimension i of the
// view is dimension perm[i] of t. Without arguments it reverses them. A perm
// that is no permutation is an ErrShape.
func (t Tensor) Transpose(perm ...int) (Tensor, error) {
	r := len(t.shape)
	if len(perm) == 0 {
		for i := range r {
			perm = append(perm, r-1-i)
		}
	}
	if len(perm) != r {
		return Tensor{}, shapeError(KindRank, "a permutation of %d dimensions for a tensor of rank %d", len(perm), r)
	}
	v, seen := t, [MaxRank]bool{}
	v.shape, v.strides = make(Shape, r), make([]int, r)
	for i, p := range perm {
		if p < 0 || p >= r || seen[p] {
			return Tensor{}, shapeError(KindAxis, "%v is no permutation of %d dimensions", perm, r)
		}
		seen[p] = true
		v.shape[i], v.strides[i] = t.shape[p], t.strides[p]
	}
	return v, nil
}

// Slice returns a view of the positions start, start+step, … before stop of one
// axis; a negative step goes down from start to above stop. Both ends must lie
// within the axis (ErrShape): Slice neither clips them nor counts from the end.
func (t Tensor) Slice(axis, start, stop, step int) (Tensor, error) {
	if axis < 0 || axis >= len(t.shape) {
		return Tensor{}, shapeError(KindAxis, "axis %d of a tensor of rank %d", axis, len(t.shape))
	}
	d, n := t.shape[axis], 0
	switch {
	case step > 0 && 0 <= start && start <= stop && stop <= d:
		n = (stop - start) / step
		if (stop-start)%step != 0 {
			n++
		}
	case step < 0 && step != math.MinInt && -1 <= stop && stop <= start && start < d:
		n = (start - stop) / -step
		if (start-stop)%-step != 0 {
			n++
		}
	default:
		return Tensor{}, shapeError(KindMismatch, "[%d:%d:%d] is no slice of an axis of %d", start, stop, step, d)
	}
	v := t
	v.shape, v.strides = slices.Clone(t.shape), slices.Clone(t.strides)
	v.shape[axis] = n
	if n > 0 && t.Len() > 0 {
		v.mem.Offset += start * t.strides[axis]
	}
	if n > 1 {
		v.strides[axis] *= step
	}
	return v, nil
}

// Reshape returns a view of the same elements, in the same row-major order,
// with other extents. It is an ErrShape if no strides describe that view; Clone
// t first.
func (t Tensor) Reshape(shape ...int) (Tensor, error) {
	v := t
	v.shape = slices.Clone(Shape(shape))
	n, err := v.checkShape()
	if err != nil {
		return Tensor{}, err
	}
	if n != t.Len() {
		return Tensor{}, shapeError(KindMismatch, "%s holds %d elements, %s %d", t.shape, t.Len(), v.shape, n)
	}
	strides, ok := reshapeStrides(t.shape, t.strides, v.shape)
	if !ok {
		return Tensor{}, shapeError(KindMismatch, "strides %v of shape %s do not allow a view of shape %s; Clone it first", t.strides, t.shape, v.shape)
	}
	v.strides = strides
	return v, nil
}

// reshapeStrides returns the strides with which shape to visits the same
// positions in the same order as shape from does with strides; false if there
// are none.
func reshapeStrides(from Shape, strides []int, to Shape) ([]int, bool) {
	n, _ := from.Len()
	if n == 0 {
		return to.Strides(), true
	}
	// The dimensions of from, outermost first, neighbours joined if one stride describes both.
	type run struct{ extent, stride int }
	var runs []run
	for i, d := range from {
		if d == 1 {
			continue
		}
		if k := len(runs); k > 0 && runs[k-1].stride == strides[i]*d {
			runs[k-1] = run{runs[k-1].extent * d, strides[i]}
		} else {
			runs = append(runs, run{d, strides[i]})
		}
	}
	out := make([]int, len(to))
	rest, stride := 1, 1 // what remains of the innermost run
	for i := len(to) - 1; i >= 0; i-- {
		if to[i] == 1 {
			out[i] = stride
			continue
		}
		if rest == 1 {
			k := len(runs) - 1
			rest, stride = runs[k].extent, runs[k].stride
			runs = runs[:k]
		}
		if rest%to[i] != 0 {
			return nil, false
		}
		out[i] = stride
		rest /= to[i]
		stride *= to[i]
	}
	return out, true
}
