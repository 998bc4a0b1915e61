package run

import (
	"fmt"
	"math"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/departures"
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
	low, high := integerBounds(departures.Held(dtype))
	wraps := dtype == garner.I32 // i16 and u16 are i32 inside OpenVINO, which cuts them off at its results alone
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
		case "mod", "truncated mod", "div", "floor div", "div down or towards 0", "div to any":
			if math.Abs(a) >= 1<<24 || math.Abs(b) >= 1<<24 {
				bad.of("of %d and %d; OpenVINO divides %s in f32, and gives other results from 2^24 on", x, y, dtype)
			}
			if op == "mod" && math.Abs(a-float64(f(x, y))) > 1<<24 {
				bad.of("of %d and %d; OpenVINO multiplies the quotient in f32, and gives other results beyond 2^24", x, y)
			}
			if outside(a / b) {
				bad.of("of %d and %d, whose quotient %s does not hold", x, y, dtype)
			}
			if x%y == 0 {
				break
			}
			if op == "div to any" {
				bad.of("of %d and %d; OpenVINO rounds a quotient of %s towards 0 or to the nearest", x, y, dtype)
			}
			if op == "div down or towards 0" && (a < 0) != (b < 0) {
				bad.of("of %d and %d; OpenVINO rounds the quotient down or towards 0, by whether it computes it of constants", x, y)
			}
		}
		if !wraps && (outside(a) || outside(b) || outside(exact)) {
			bad.of("of %d and %d, beyond those in which OpenVINO computes %s", x, y, dtype)
		}
		return f(x, y)
	}
}

// openvinoCompares is f where OpenVINO compares the same: integers of 32 bits and more as f32,
// those of more in i32, and f64 in f32. A denormal constant is 0 there, and no number is
// greater than NaN nor less.
func openvinoCompares[T number](name, op string, dtype garner.DType, f func(x, y T) bool, bad *refusal) func(x, y T) bool {
	if dtype.IsInteger() && !departures.ComparesInF32(dtype) {
		return f
	}
	single, _ := compares[float32](op)
	low, high := integerBounds(garner.I32)
	return func(x, y T) bool {
		is, a, b := f(x, y), float64(x), float64(y)
		switch {
		case dtype.IsInteger():
			if min(a, b) < low || max(a, b) >= high {
				bad.of("of %v and %v, beyond those in which OpenVINO computes %s", x, y, dtype)
			} else if single(float32(a), float32(b)) != is {
				bad.of("of %v and %v, which OpenVINO compares in f32", x, y)
			}
		case x != x || y != y:
			if departures.TrueOfNaN(name) {
				bad.of("of %v and %v, of which OpenVINO answers true where it does not fold that", x, y)
			}
		case !isSingle(a) && dtype == garner.F64 || !isSingle(b) && dtype == garner.F64:
			bad.of("of %v and %v; OpenVINO computes f64 in f32", x, y)
		case isDenormal(a) || isDenormal(b):
			bad.of("of %v and %v, a denormal number, which OpenVINO takes for 0 in a constant", x, y)
		}
		return is
	}
}

// isDenormal reports whether a number is too small for a normal f32.
func isDenormal(v float64) bool { return v != 0 && math.Abs(v) < 0x1p-126 }

// openvinoFloats is f where OpenVINO computes the same: it computes f64 in f32, and divides
// by the product with the reciprocal, but for constants. A reciprocal of a constant of f16 may
// be one of f16; that of a power of 2 is the same in both.
// With a constant of one element it computes a product and a sum, in which -0 may become 0,
// and 0 less 0 is -0. See eitherZero for two zeros.
func openvinoFloats[T real](op string, narrow, single bool, constant []bool, f func(x, y T) T, bad *refusal) func(x, y T) T {
	return func(x, y T) T {
		z := f(x, y)
		switch {
		case x == 0 && y == 0 && eitherZero(op, constant, [2]bool{math.Signbit(float64(x)), math.Signbit(float64(y))}):
			bad.of("of %v and %v, of which OpenVINO gives a zero of either sign", x, y)
		case !isSingle(x) || !isSingle(y) || !isSingle(z):
			bad.of("of %v and %v; OpenVINO computes f64 in f32", x, y)
		case single && z == 0 && (op == "sub" && x == 0 || op != "sub" && math.Signbit(float64(z))):
			bad.of("of %v and %v, of which OpenVINO gives a zero of either sign", x, y)
		case op == "div":
			fraction, _ := math.Frexp(math.Abs(float64(y)))
			if other := float32(x) * (1 / float32(y)); other != float32(z) || narrow && fraction != .5 {
				bad.of("%v by %v; OpenVINO gives the quotient or the product with 1/%v", x, y, y)
			}
		}
		return z
	}
}

// eitherZero reports whether OpenVINO may give a sum or a difference of two zeros another sign, by the signs of the
// two and by which of them are constant: it gives x for x+0 and for x-(-0), and computes 0-x of a vector, and of
// dims that it does not know, in steps of its own.
func eitherZero(op string, constant []bool, minus [2]bool) bool {
	switch {
	case constant == nil: // it computes them when it loads the model
		return false
	case op == "add":
		return (constant[0] || constant[1]) && minus[0] != minus[1]
	case op != "sub":
		return false
	case minus[1]:
		return constant[1] && minus[0]
	}
	return constant[0] || minus[0] && !constant[1]
}

// openvinoHolds refuses a tensor whose elements OpenVINO's types do not have: it holds i64,
// u32 and u64 in i32, and f64 in f32. Those of other formats and dtypes it does not refuse.
func (c *call) openvinoHolds(t garner.Tensor) error {
	d := t.DType()
	if !c.openvino() || departures.Held(d) == d {
		return nil
	}
	return c.eachNumber(t, func(i int, v float64) error {
		if d == garner.F64 && !isSingle(v) || d != garner.F64 && (v < math.MinInt32 || v > math.MaxInt32) {
			return garner.Errorf(garner.ErrDType, "%s of element %d, %v: OpenVINO holds i64, u32 and u64 in i32, and f64 in f32; give an input that makes none such", c.node.Op, i, v)
		}
		return nil
	})
}

// eachNumber calls f for each element of a tensor of numbers, which may refuse it. Of a stand-in
// it leaves that to the run.
func (r *runner) eachNumber(t garner.Tensor, f func(i int, v float64) error) error {
	r.mayRefuse()
	if r.bare {
		return nil
	}
	const block = 1 << 12
	list := make([]float64, block)
	flat, err := r.reshape(t, garner.Shape{t.Len()})
	if err != nil || r.bare {
		return err
	}
	for at := 0; at < t.Len(); at += block {
		n := min(block, t.Len()-at)
		part, err := flat.Slice(0, at, at+n, 1)
		if err == nil {
			err = r.numbers(part, list[:n])
		}
		if err != nil {
			return err
		}
		for i, v := range list[:n] {
			if err := f(at+i, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// castRefuses reports whether a cast of one dtype to another may refuse an element.
func (r *runner) castRefuses(from, to garner.DType) bool {
	return from.IsFloat() && !to.IsFloat() || r.model.Format == irFormat && openvinoConverts(from, to) != nil
}

// openvinoConverts returns what refuses an element that OpenVINO converts to something else than
// another runtime does, or to one thing where it folds the node and to another where it does not;
// nil where it converts every element alike. It holds what Held says.
func openvinoConverts(from, to garner.DType) func(v float64) (why string) {
	held := departures.Held(from)
	const (
		beyond    = "OpenVINO holds i64, u32 and u64 in i32"
		saturates = "OpenVINO saturates it in a constant"
		single    = "OpenVINO holds f64 in f32"
	)
	var checks []func(v float64) string
	check := func(why string, bad func(v float64) bool) {
		checks = append(checks, func(v float64) string {
			if bad(v) {
				return why
			}
			return ""
		})
	}
	switch {
	case from.IsInteger() && held == garner.I32 && from != garner.I32:
		check(beyond, func(v float64) bool { return v < math.MinInt32 || v > math.MaxInt32 })
	case from == garner.F64:
		check(single, func(v float64) bool {
			return math.IsInf(v, 0) || isDenormal(v) || v == 0 && math.Signbit(v) && to == garner.F32
		})
	}
	switch {
	case to == garner.U32 || to == garner.U64:
		if from != garner.U8 && from != garner.U16 && from != garner.Bool {
			check(saturates, func(v float64) bool { return v <= -1 || v > math.MaxInt32 })
		}
	case from.IsInteger() && (to == garner.I16 || to == garner.U16):
		low, high := integerBounds(to)
		check("OpenVINO keeps it in i32, and does not cut it off", func(v float64) bool { return v <= low-1 || v >= high })
	case to == garner.I64 && from.IsFloat():
		check(beyond, func(v float64) bool { return v < math.MinInt32 || v > math.MaxInt32 })
	case to == garner.F64 && held == garner.I32:
		check(single, func(v float64) bool { return float64(float32(v)) != v })
	case to == garner.F64 && from.IsFloat():
		check(single, func(v float64) bool { return math.IsInf(v, 0) })
	case to == garner.F16 && held == garner.I32:
		check(saturates, func(v float64) bool { return math.Abs(v) > maxF16 })
	case to == garner.Bool && held == garner.I32:
		check("OpenVINO takes it for 0 where it does not fold that", func(v float64) bool { return v == math.MinInt32 })
	case to == garner.Bool && from.IsFloat():
		check("OpenVINO takes it for 0 where it does not fold that", func(v float64) bool { return v != v })
	}
	if from == garner.F64 && !to.IsFloat() {
		check(single, func(v float64) bool { return v == v && math.Trunc(float64(float32(v))) != math.Trunc(v) })
	}
	if len(checks) == 0 {
		return nil
	}
	return func(v float64) string {
		for _, c := range checks {
			if why := c(v); why != "" {
				return why
			}
		}
		return ""
	}
}

// checkConvert refuses the elements of a tensor that OpenVINO converts to something else.
func (r *runner) checkConvert(n *model.Node, t garner.Tensor, to garner.DType) error {
	if r.model.Format != irFormat {
		return nil
	}
	refuses := openvinoConverts(t.DType(), to)
	if refuses == nil {
		return nil
	}
	return r.eachNumber(t, func(i int, v float64) error {
		if why := refuses(v); why != "" {
			return garner.Errorf(garner.ErrDType, "%s of element %d, %v, to %s: %s; give an input that makes none such", n.Op, i, v, to, why)
		}
		return nil
	})
}

// fused reports whether OpenVINO may make one node of this and of the one before it: both
// scale or shift floats by constants.
func (c *call) fused() bool {
	linear := func(n *model.Node) (other *model.Value) {
		if n == nil || len(n.Inputs) != 2 || n.Inputs[0] == nil || n.Inputs[1] == nil || !slices.Contains([]string{"Add", "Subtract", "Multiply", "Divide"}, n.Op) {
			return nil
		}
		for i, v := range n.Inputs {
			if dependenceOf(c.depends, v, c.given) == ofConstants {
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
