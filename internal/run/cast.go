package run

import (
	"encoding/binary"
	"math"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/convert"
	"github.com/garner-go/garner/operators"
)

func onnxCast(c *call) (garner.Tensor, error) {
	switch to := c.node.Attributes["to"].(type) {
	case int64:
		d, err := onnxType(to)
		if err != nil {
			return garner.Tensor{}, err
		}
		return c.castLater(d)
	case string: // before opset 6
		d, err := garner.ParseDType(to)
		if err != nil {
			return garner.Tensor{}, err
		}
		return c.castLater(d)
	}
	return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "it does not say what to cast to; set its attribute to")
}

// onnxType returns the dtype of a number of ONNX's element types.
func onnxType(code int64) (garner.DType, error) {
	if d := operators.ONNXType(code); d != garner.Invalid {
		return d, nil
	}
	return 0, garner.Errorf(garner.ErrAttribute, "a cast to element type %d is not run, because garner lacks the type; cast to another", code)
}

func irConvert(c *call) (garner.Tensor, error) {
	name, _ := c.node.Attributes["destination_type"].(string)
	d, err := garner.ParseDType(name)
	if err != nil {
		return garner.Tensor{}, err
	}
	return c.castLater(d)
}

func castLike(c *call) (garner.Tensor, error) {
	if !c.has(1) {
		return c.input(1)
	}
	like, err := c.lazy(c.node.Inputs[1])
	if err != nil {
		return garner.Tensor{}, err
	}
	if like.pending != garner.Invalid {
		return c.castLater(like.pending)
	}
	return c.castLater(like.tensor.DType())
}

// castLater returns the first input with a pending cast, which happens when the
// elements are read.
func (c *call) castLater(to garner.DType) (garner.Tensor, error) {
	v, err := c.unjoinedInput()
	if err != nil {
		return garner.Tensor{}, err
	}
	if to, ok := v.wideCast(to); ok {
		c.keepWide(v)
		c.pending, c.wide = to, to == v.pending
		return v.tensor, nil
	}
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	if err := castable(t.DType(), to); err != nil {
		return garner.Tensor{}, err
	}
	if t.DType() != to {
		c.pending = to
	}
	return t, nil
}

// wideCast returns the pending cast that a cast of a wide value leaves, Invalid for none;
// false where the value is not wide, or the runtimes are not known to leave its own cast out.
func (v *value) wideCast(to garner.DType) (garner.DType, bool) {
	switch {
	case !v.wide || v.unknown:
		return 0, false
	case to == v.pending || to == garner.F64:
		return to, true
	case to == garner.F32:
		return garner.Invalid, true
	}
	return 0, false
}

// castable refuses casts that are not evaluated.
func castable(from, to garner.DType) error {
	switch to {
	case from:
		return nil
	case garner.Bool, garner.I8, garner.I16, garner.I32, garner.I64, garner.U8, garner.U16, garner.U32, garner.U64,
		garner.F16, garner.BF16, garner.F32, garner.F64:
		if from == garner.Bool || from.IsInteger() || from.IsFloat() {
			return nil
		}
	}
	return garner.Errorf(garner.ErrDType, "a cast of %s to %s is not run; numbers and bools are cast, to those of a byte and more and not to 8-bit floats", from, to)
}

// integerBounds returns the bounds of an integer type: it has a number v, cut
// to an integer, if low <= v && v < high.
func integerBounds(d garner.DType) (low, high float64) {
	if d.IsUnsigned() {
		return 0, math.Ldexp(1, d.Bits())
	}
	return -math.Ldexp(1, d.Bits()-1), math.Ldexp(1, d.Bits()-1)
}

// cast converts elements to another type. Integers wrap. Floats round to the
// nearest value, ties to even; those narrower than f32 go through f32, as in the
// runtimes. A float converts to an integer towards 0; one that the integer type
// does not have is refused, because its result differs between processors. A
// number converts to true where it is not 0.
func (r *runner) cast(t garner.Tensor, to garner.DType) (garner.Tensor, error) {
	from := t.DType()
	if from == to {
		return t, nil
	}
	if err := castable(from, to); err != nil {
		return garner.Tensor{}, err
	}
	if from.IsFloat() && to.IsInteger() {
		r.mayRefuse()
	}
	made, err := r.new(to, t.Shape())
	if err != nil || r.bare {
		return made, err
	}
	flat, err := r.reshape(t, garner.Shape{t.Len()})
	if err != nil || r.bare {
		return made, err
	}
	out, err := made.Bytes()
	if err != nil {
		return garner.Tensor{}, err
	}
	const block = 1 << 12
	size := to.Bits() / 8
	whole, real := make([]int64, block), make([]float64, block)
	for at := 0; at < t.Len(); at += block {
		n := min(block, t.Len()-at)
		part, err := flat.Slice(0, at, at+n, 1)
		if err != nil {
			return garner.Tensor{}, err
		}
		dst := out[at*size : (at+n)*size]
		switch {
		case from.IsFloat() && to.IsFloat():
			err = castFloats(dst, part, to)
		case from.IsFloat():
			err = castToWhole(dst, part, to, at, real[:n])
		default:
			if err = readIntegers(part, whole[:n]); err == nil {
				castWhole(dst, from, to, whole[:n])
			}
		}
		if err != nil {
			return garner.Tensor{}, err
		}
	}
	return made, nil
}

// castFloats converts floats to another float dtype; f64 goes to one narrower than
// f32 through f32.
func castFloats(dst []byte, part garner.Tensor, to garner.DType) error {
	src, err := part.Bytes()
	if err != nil { // strided
		if part, err = part.Clone(); err == nil {
			src, err = part.Bytes()
		}
		if err != nil {
			return err
		}
	}
	from := part.DType()
	if from == garner.F64 && to != garner.F32 {
		single := make([]byte, 4*part.Len())
		convertRun(single, src, from, garner.F32)
		src, from = single, garner.F32
	}
	convertRun(dst, src, from, to)
	return nil
}

func convertRun(dst, src []byte, from, to garner.DType) {
	run, _ := convert.Between(from, to) // castable has asked
	run.Into(dst, src)
}

// castToWhole converts floats to integers and bools. at is the number of the first
// element, and real is scratch.
func castToWhole(dst []byte, part garner.Tensor, to garner.DType, at int, real []float64) error {
	if err := readFloats(part, real); err != nil {
		return err
	}
	size := to.Bits() / 8
	low, high := integerBounds(to)
	for i, v := range real {
		if to == garner.Bool {
			storeBits(dst[i*size:], truth(v != 0), size)
			continue
		}
		if v = math.Trunc(v); !(low <= v && v < high) {
			return garner.Errorf(garner.ErrDType, "element %d is %v, which %s does not hold; give an input that makes none such", at+i, real[i], to)
		}
		whole := uint64(int64(v))
		if v >= math.MaxInt64 {
			whole = uint64(v)
		}
		storeBits(dst[i*size:], whole, size)
	}
	return nil
}

// castWhole converts integers and bools, those of u64 by their bits.
func castWhole(dst []byte, from, to garner.DType, whole []int64) {
	size := to.Bits() / 8
	switch to {
	case garner.F16, garner.BF16:
		single := make([]byte, 4*len(whole))
		castWhole(single, from, garner.F32, whole)
		convertRun(dst, single, garner.F32, to)
		return
	}
	for i, v := range whole {
		bits := uint64(v)
		switch {
		case to == garner.Bool:
			bits = truth(v != 0)
		case to == garner.F32 && from == garner.U64:
			bits = uint64(math.Float32bits(float32(uint64(v))))
		case to == garner.F32:
			bits = uint64(math.Float32bits(float32(v)))
		case to == garner.F64 && from == garner.U64:
			bits = math.Float64bits(float64(uint64(v)))
		case to == garner.F64:
			bits = math.Float64bits(float64(v))
		}
		storeBits(dst[i*size:], bits, size)
	}
}

func truth(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}

// storeBits writes the low size bytes of v.
func storeBits(b []byte, v uint64, size int) {
	switch size {
	case 1:
		b[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(v))
	default:
		binary.LittleEndian.PutUint64(b, v)
	}
}

// readFloats reads the elements of a float tensor.
func readFloats(t garner.Tensor, to []float64) error {
	if v, err := garner.Values[float32](t); err == nil {
		for i, x := range v {
			to[i] = float64(x)
		}
		return nil
	}
	for i := range to {
		var err error
		if to[i], err = t.Float64(i); err != nil {
			return err
		}
	}
	return nil
}

// readIntegers reads the elements of a tensor of integers or bools; those of u64
// by their bits.
func readIntegers(t garner.Tensor, to []int64) error {
	if t.DType() == garner.Bool {
		v, err := garner.Values[bool](t)
		if err != nil {
			if t, err = t.Clone(); err == nil {
				v, err = garner.Values[bool](t)
			}
		}
		for i, b := range v {
			to[i] = 0
			if b {
				to[i] = 1
			}
		}
		return err
	}
	if v, err := garner.Values[int64](t); err == nil {
		copy(to, v)
		return nil
	}
	for i := range to {
		v, err := t.Int(i)
		if err != nil {
			return err
		}
		to[i] = int64(v.Bits)
	}
	return nil
}
