package run

import (
	"encoding/binary"
	"math"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/float"
	"github.com/garner-go/garner/operators"
)

func onnxCast(c *call) (garner.Tensor, error) {
	switch to := c.node.Attributes["to"].(type) {
	case int64:
		if d := operators.ONNXType(to); d != garner.Invalid {
			return c.castLater(d)
		}
		return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "a cast to element type %d is not run, because garner lacks the type; cast to another", to)
	case string: // before opset 6
		d, err := garner.ParseDType(to)
		if err != nil {
			return garner.Tensor{}, err
		}
		return c.castLater(d)
	}
	return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "it does not say what to cast to; set its attribute to")
}

func convert(c *call) (garner.Tensor, error) {
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
	whole, real := make([]int64, block), make([]float64, block)
	for at := 0; at < t.Len(); at += block {
		n := min(block, t.Len()-at)
		part, err := flat.Slice(0, at, at+n, 1)
		if err != nil {
			return garner.Tensor{}, err
		}
		if from.IsFloat() {
			if err := readFloats(part, real[:n]); err != nil {
				return garner.Tensor{}, err
			}
			if to.IsInteger() {
				low, high := integerBounds(to)
				for i, v := range real[:n] {
					if v = math.Trunc(v); !(low <= v && v < high) {
						return garner.Tensor{}, garner.Errorf(garner.ErrDType, "element %d is %v, which %s does not hold; give an input that makes none such", at+i, real[i], to)
					}
					if whole[i] = int64(v); v >= math.MaxInt64 {
						whole[i] = int64(uint64(v))
					}
				}
			}
		} else if err := readIntegers(part, whole[:n]); err != nil {
			return garner.Tensor{}, err
		}
		size := to.Bits() / 8
		for i := range n {
			storeBits(out[(at+i)*size:], convertBits(from, to, whole[i], real[i]), size)
		}
	}
	return made, nil
}

// convertBits returns the bits of a number in another type. The number is real
// where from is a float, else whole.
func convertBits(from, to garner.DType, whole int64, real float64) uint64 {
	switch {
	case to == garner.Bool && (from.IsFloat() && real != 0 || !from.IsFloat() && whole != 0):
		return 1
	case to == garner.Bool:
		return 0
	case to.IsInteger():
		return uint64(whole)
	case to == garner.F64 && from.IsFloat():
		return math.Float64bits(real)
	case to == garner.F64 && from == garner.U64:
		return math.Float64bits(float64(uint64(whole)))
	case to == garner.F64:
		return math.Float64bits(float64(whole))
	}
	single := float32(real)
	if !from.IsFloat() {
		if single = float32(whole); from == garner.U64 {
			single = float32(uint64(whole))
		}
	}
	switch to {
	case garner.F16:
		return float.Float16.Round(single)
	case garner.BF16:
		return float.BFloat16.Round(single)
	}
	return uint64(math.Float32bits(single))
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
