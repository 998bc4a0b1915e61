package run

import (
	"fmt"
	"math"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// A refusal is the first element that a node refuses; the zero refusal is none.
type refusal struct{ why string }

// of notes an element.
func (r *refusal) of(format string, args ...any) {
	if r.why == "" {
		r.why = fmt.Sprintf(format, args...)
	}
}

// unless returns the result of a node, or the error of the element that it refused.
func (c *call) unless(bad *refusal, made garner.Tensor, err error) (garner.Tensor, error) {
	c.mayRefuse()
	if err == nil && bad.why != "" {
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "%s: %s; give an input that makes none such", c.node.Op, bad.why)
	}
	return made, err
}

// extreme is Min and Max of floats. They are not run where processors and runtimes differ:
// of 0 and -0, of two NaN, and in OpenVINO of any NaN. ONNX Runtime gives the NaN.
func extreme[T real](op string, openvino bool, bad *refusal) func(x, y T) T {
	return func(x, y T) T {
		switch {
		case x < y:
			if op == "min" {
				return x
			}
			return y
		case y < x:
			if op == "min" {
				return y
			}
			return x
		case x != x || y != y:
			if openvino || x != x && y != y && floatBits(x) != floatBits(y) {
				bad.of("%v and %v, of which processors give either", x, y)
			}
			return x + y
		}
		if math.Signbit(float64(x)) != math.Signbit(float64(y)) {
			bad.of("%v and %v, of which processors give either", x, y)
		}
		return x
	}
}

func floatBits[T real](x T) uint64 {
	switch x := any(x).(type) {
	case float32:
		return uint64(math.Float32bits(x))
	default:
		return math.Float64bits(float64(x.(float64)))
	}
}

// remainder is C's fmod, which is exact. It is not run where it is NaN, whose sign differs
// between processors.
func remainder[T real](bad *refusal) func(x, y T) T {
	return func(x, y T) T {
		r := math.Mod(float64(x), float64(y))
		if r != r {
			bad.of("%v modulo %v is NaN, whose sign differs between processors", x, y)
		}
		return T(r)
	}
}

// throughDoubles is f where it is the same of f64, in which ONNX Runtime computes it.
func throughDoubles[T integer](f func(x, y T) T, bad *refusal) func(x, y T) T {
	return func(x, y T) T {
		if math.Abs(float64(x)) >= 1<<53 || math.Abs(float64(y)) >= 1<<53 {
			bad.of("of %d and %d, which ONNX Runtime computes in f64", x, y)
		}
		return f(x, y)
	}
}

// openvinoIntegers is f where OpenVINO computes the same: it computes i64, u32 and u64 in
// i32, saturates i8 and u8, and divides in f32.
func openvinoIntegers[T integer](op string, dtype garner.DType, f func(x, y T) T, bad *refusal) func(x, y T) T {
	low, high := integerBounds(dtype)
	wraps := false
	switch dtype {
	case garner.I64, garner.U64, garner.U32:
		low, high = math.MinInt32, math.MaxInt32+1
	case garner.I16, garner.I32:
		wraps = true
	}
	outside := func(v float64) bool { return v < low || v >= high }
	return func(x, y T) T {
		a, b := float64(x), float64(y)
		exact := 0.0
		switch op {
		case "add":
			exact = a + b
		case "sub":
			exact = a - b
		case "mul":
			exact = a * b
		case "mod", "truncated mod", "div", "floor div":
			if math.Abs(a) >= 1<<24 || math.Abs(b) >= 1<<24 {
				bad.of("of %d and %d; OpenVINO divides %s in f32, and gives other results from 2^24 on", x, y, dtype)
			}
		}
		if !wraps && (outside(a) || outside(b) || outside(exact)) {
			bad.of("of %d and %d, beyond those in which OpenVINO computes %s", x, y, dtype)
		}
		return f(x, y)
	}
}

// openvinoFloats is f where OpenVINO computes the same: it computes f64 in f32, and divides
// by the product with the reciprocal, but for constants.
func openvinoFloats[T real](op string, f func(x, y T) T, bad *refusal) func(x, y T) T {
	return func(x, y T) T {
		z := f(x, y)
		switch {
		case !isSingle(x) || !isSingle(y) || !isSingle(z):
			bad.of("of %v and %v; OpenVINO computes f64 in f32", x, y)
		case op == "div":
			if other := float32(x) * (1 / float32(y)); other != float32(z) {
				bad.of("%v by %v; OpenVINO gives the quotient or the product with 1/%v", x, y, y)
			}
		}
		return z
	}
}

// openvinoHolds refuses a tensor whose elements OpenVINO's types do not have: it holds i64,
// u32 and u64 in i32, and f64 in f32. Those of other formats and dtypes it does not refuse.
func (c *call) openvinoHolds(t garner.Tensor) error {
	d := t.DType()
	wide := d == garner.F64 || d == garner.I64 || d == garner.U32 || d == garner.U64
	if !c.openvino() || !wide {
		return nil
	}
	c.mayRefuse()
	if c.bare {
		return nil
	}
	const block = 1 << 12
	list := make([]float64, block)
	flat, err := c.runner.reshape(t, garner.Shape{t.Len()})
	if err != nil || c.bare {
		return err
	}
	for at := 0; at < t.Len(); at += block {
		n := min(block, t.Len()-at)
		part, err := flat.Slice(0, at, at+n, 1)
		if err == nil {
			err = c.numbers(part, list[:n])
		}
		if err != nil {
			return err
		}
		for i, v := range list[:n] {
			if d == garner.F64 && !isSingle(v) || d != garner.F64 && (v < math.MinInt32 || v > math.MaxInt32) {
				return garner.Errorf(garner.ErrDType, "%s of element %d, %v: OpenVINO holds i64, u32 and u64 in i32, and f64 in f32; give an input that makes none such", c.node.Op, at+i, v)
			}
		}
	}
	return nil
}

// fused reports whether OpenVINO may make one node of this and of the one before it: both
// scale or shift floats by constants.
func (c *call) fused() bool {
	linear := func(n *model.Node) (other *model.Value) {
		if n == nil || len(n.Inputs) != 2 || n.Inputs[0] == nil || n.Inputs[1] == nil || !slices.Contains([]string{"Add", "Subtract", "Multiply", "Divide"}, n.Op) {
			return nil
		}
		for i, v := range n.Inputs {
			if v.Constant != nil && !c.isGiven(v) {
				return n.Inputs[1-i]
			}
		}
		return nil
	}
	v := linear(c.node)
	return v != nil && linear(v.From) != nil && !foldable(v)
}

// isSingle reports whether OpenVINO, which holds f64 in f32, has a number. Infinities of f64
// become finite there.
func isSingle[T real](x T) bool {
	if _, double := any(x).(float64); !double {
		return true
	}
	return x != x || T(float32(x)) == x && !math.IsInf(float64(x), 0)
}

// clipFloats is Clip and Clamp of floats. A bound that ONNX leaves out is the greatest finite
// number. It is not run where processors and runtimes differ.
func clipFloats(c *call, t garner.Tensor) (garner.Tensor, error) {
	low, high := -math.MaxFloat32, math.MaxFloat32
	switch {
	case t.DType() == garner.F64:
		low, high = -math.MaxFloat64, math.MaxFloat64
	case c.pending == garner.F16:
		low, high = -maxF16, maxF16
	}
	for i, bound := range []*float64{&low, &high} {
		name := []string{"min", "max"}[i]
		switch v := c.node.Attributes[name].(type) {
		case nil:
			if !c.has(1 + i) {
				continue
			}
			in, err := c.boundOf(1 + i)
			if err != nil {
				return garner.Tensor{}, err
			}
			*bound = in
		case float64:
			*bound = v
		case string:
			given, err := parseNumber(name, v)
			if err != nil {
				return garner.Tensor{}, err
			}
			*bound = float64(float32(given))
		default:
			return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "its %s is %v; it must be a number", name, v)
		}
	}
	if low != low || high != high || low > high && !(c.onnx() && !c.beforeOpset(11)) {
		return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "its bounds are %v and %v; they must be numbers in that order", low, high)
	}
	if t.DType() == garner.F64 {
		return clipReals[float64](c, t, low, high)
	}
	return clipReals[float32](c, t, float32(low), float32(high))
}

const maxF16 = 65504

// boundOf returns the one number of an input, in the dtype of the first as it is computed.
func (c *call) boundOf(i int) (float64, error) {
	of, err := c.lazy(c.node.Inputs[0])
	if err != nil {
		return 0, err
	}
	bound, err := c.lazy(c.node.Inputs[i])
	if err != nil {
		return 0, err
	}
	in, err := c.widened(i)
	if err != nil {
		return 0, err
	}
	if of.dtype() != bound.dtype() || in[0].Len() != 1 {
		return 0, mismatch("its input %d is %s%s; it must be one element of the dtype of the first", i, in[0].DType(), in[0].Shape())
	}
	if err := c.known(i); err != nil {
		return 0, err
	}
	return in[0].Float64(0)
}

func clipReals[T interface {
	real
	garner.Element
}](c *call, t garner.Tensor, low, high T) (garner.Tensor, error) {
	var bad refusal
	f := func(x, _ T) T {
		if x != x && c.openvino() {
			bad.of("NaN, of which OpenVINO gives either bound")
		}
		if c.openvino() && !isSingle(x) {
			bad.of("%v; OpenVINO computes f64 in f32", x)
		}
		for _, bound := range []T{low, high} {
			if x == 0 && bound == 0 && math.Signbit(float64(x)) != math.Signbit(float64(bound)) {
				bad.of("%v at the bound %v, of which processors give either", x, bound)
			}
		}
		if x < low {
			x = low
		}
		if x > high {
			x = high
		}
		return x
	}
	made, err := elementwise(c.runner, t, t, t.Shape(), f)
	return c.unless(&bad, made, err)
}
