package run

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/departures"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type real interface{ float32 | float64 }

type number interface{ integer | real }

// arithmetic evaluates a binary operator. ONNX's Min and Max take one input and
// more, from left to right.
func arithmetic(op string) evaluator {
	return func(c *call) (garner.Tensor, error) {
		n := 2
		if c.onnx() && (op == "min" || op == "max") {
			n = max(len(c.node.Inputs), 1)
		}
		in, err := c.operands(n)
		if err != nil {
			return garner.Tensor{}, err
		}
		made := in[0]
		for _, t := range in[1:] {
			if made, err = c.binary(op, made, t); err != nil {
				return garner.Tensor{}, err
			}
		}
		return made, nil
	}
}

// binaryOf evaluates a binary operator of exactly two inputs.
func binaryOf(op string) evaluator {
	return func(c *call) (garner.Tensor, error) {
		in, err := c.operands(2)
		if err != nil {
			return garner.Tensor{}, err
		}
		return c.binary(op, in[0], in[1])
	}
}

// operands returns the inputs of an operator that broadcasts. Before opset 7,
// ONNX broadcast only the second input, and only with broadcast=1: its dims match
// those of the first from an axis on.
func (c *call) operands(n int) ([]garner.Tensor, error) {
	positions := make([]int, n)
	for i := range positions {
		positions[i] = i
	}
	in, err := c.widened(positions...)
	if err != nil {
		return nil, err
	}
	if !c.beforeOpset(7) || n != 2 {
		if err := c.keepsDims(in); err != nil {
			return nil, err
		}
		return in, c.checkBroadcast()
	}
	wide, err := c.number("broadcast", 0)
	if err != nil {
		return nil, err
	}
	a, b := in[0].Shape(), in[1].Shape()
	axis, err := c.number("axis", int64(len(a)-len(b)))
	if err != nil {
		return nil, err
	}
	switch {
	case wide == 0 && !a.Equal(b), axis < 0, axis > int64(len(a)-len(b)):
		return nil, mismatch("%s and %s do not broadcast with broadcast=%d and axis=%d, in opset %d", a, b, wide, axis, c.node.Version)
	}
	shape := slices.Concat(b, slices.Repeat(garner.Shape{1}, len(a)-len(b)-int(axis)))
	if in[1], err = c.runner.reshape(in[1], shape); err != nil {
		return nil, err
	}
	if full, err := broadcastShape(a, shape); err != nil || !full.Equal(a) {
		return nil, mismatch("%s does not broadcast to %s, in opset %d", b, a, c.node.Version)
	}
	return in, nil
}

// keepsDims refuses arithmetic that may lack dims in OpenVINO, which takes a constant of one element for a scalar.
func (c *call) keepsDims(in []garner.Tensor) error {
	if !c.openvino() || len(in) != 2 || in[1].Len() != 1 || in[1].Rank() <= in[0].Rank() {
		return nil
	}
	of := func(i int) dependence { return dependenceOf(c.depends, c.node.Inputs[i], c.given) }
	if of(0) == ofConstants || of(1) == ofData || !operators.DropsDims(c.node) {
		return nil
	}
	return mismatch("its second input is one number of %d dims, and its first has %d: behind a Gather, a Reshape or a Transpose OpenVINO may leave the others away; write a scalar", in[1].Rank(), in[0].Rank())
}

// binary computes a binary operator of a and b, broadcast. An operator that is
// not evaluated for their type is an ErrDType.
func (c *call) binary(op string, a, b garner.Tensor) (garner.Tensor, error) {
	if a.DType() != b.DType() {
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "%s of %s and %s; cast one", c.node.Op, a.DType(), b.DType())
	}
	shape, err := broadcastShape(a.Shape(), b.Shape())
	if err != nil {
		return garner.Tensor{}, err
	}
	switch a.DType() {
	case garner.Bool:
		return binaryBools(c, op, a, b, shape)
	case garner.I8:
		return binaryIntegers[int8](c, op, a, b, shape)
	case garner.I16:
		return binaryIntegers[int16](c, op, a, b, shape)
	case garner.I32:
		return binaryIntegers[int32](c, op, a, b, shape)
	case garner.I64:
		return binaryIntegers[int64](c, op, a, b, shape)
	case garner.U8:
		return binaryIntegers[uint8](c, op, a, b, shape)
	case garner.U16:
		return binaryIntegers[uint16](c, op, a, b, shape)
	case garner.U32:
		return binaryIntegers[uint32](c, op, a, b, shape)
	case garner.U64:
		return binaryIntegers[uint64](c, op, a, b, shape)
	case garner.F32:
		return binaryFloats[float32](c, op, a, b, shape)
	case garner.F64:
		return binaryFloats[float64](c, op, a, b, shape)
	}
	return garner.Tensor{}, c.unsupportedType(a.DType())
}

// unsupportedType is the error of an operator that is not evaluated for a type.
func (c *call) unsupportedType(d garner.DType) error {
	return garner.Errorf(garner.ErrDType, "%s of %s is not run; arithmetic is of integers, and that of floats as far as every machine rounds alike", c.node.Op, d)
}

func binaryIntegers[T interface {
	integer
	garner.Element
}](c *call, op string, a, b garner.Tensor, shape garner.Shape) (garner.Tensor, error) {
	var f func(x, y T) T
	switch op {
	case "add":
		f = func(x, y T) T { return x + y }
	case "sub":
		f = func(x, y T) T { return x - y }
	case "mul":
		f = func(x, y T) T { return x * y }
	case "min":
		f = func(x, y T) T { return min(x, y) }
	case "max":
		f = func(x, y T) T { return max(x, y) }
	case "and":
		f = func(x, y T) T { return x & y }
	case "or":
		f = func(x, y T) T { return x | y }
	case "xor":
		f = func(x, y T) T { return x ^ y }
	case "div", "div down or towards 0", "div to any":
		f = func(x, y T) T { return x / y }
	case "floor div":
		f = func(x, y T) T {
			q := x / y
			if r := x % y; r != 0 && (r < 0) != (y < 0) {
				q--
			}
			return q
		}
	case "truncated mod":
		f = func(x, y T) T { return x % y }
	case "mod":
		f = func(x, y T) T {
			r := x % y
			if r != 0 && (r < 0) != (y < 0) {
				r += y
			}
			return r
		}
	default:
		return compare[T](c, op, a, b, shape)
	}
	if strings.Contains(op, "div") || strings.HasSuffix(op, "mod") {
		c.mayRefuse()
		if c.leave(Memory(garner.SpecOf(a.DType(), shape...))); c.bare {
			return elementwise(c.runner, a, b, shape, f)
		}
		narrow, divisors, err := elements[T](c.runner, b)
		if err != nil {
			return garner.Tensor{}, err
		}
		if n, _ := shape.Len(); n > 0 && slices.Contains(divisors, 0) {
			return garner.Tensor{}, garner.Errorf(nil, "%s by 0, at element %d of %s; give an input that makes none", c.node.Op, slices.Index(divisors, 0), narrow.Shape())
		}
	}
	var bad refusal
	switch {
	case c.onnx() && op == "truncated mod" && a.DType().Bits() == 64:
		made, err := elementwise(c.runner, a, b, shape, throughDoubles(f, &bad))
		return c.unless(&bad, made, err)
	case !c.openvino():
		return elementwise(c.runner, a, b, shape, f)
	}
	made, err := elementwise(c.runner, a, b, shape, openvinoIntegers(op, a.DType(), f, &bad))
	return c.unless(&bad, made, err)
}

func binaryFloats[T interface {
	real
	garner.Element
}](c *call, op string, a, b garner.Tensor, shape garner.Shape) (garner.Tensor, error) {
	var f func(x, y T) T
	var bad refusal
	switch op {
	case "min", "max":
		f = extreme[T](op, c.openvino() || c.isHLO(), &bad)
	case "truncated mod":
		if c.openvino() {
			return garner.Tensor{}, c.unsupportedType(a.DType())
		}
		f = remainder[T](&bad)
	case "add":
		f = func(x, y T) T { return x + y }
	case "sub":
		f = func(x, y T) T { return x - y }
	case "mul":
		f = func(x, y T) T { return x * y }
	case "div":
		f = func(x, y T) T { return x / y }
	default:
		return compare[T](c, op, a, b, shape)
	}
	if c.openvino() {
		if c.fused() {
			return garner.Tensor{}, garner.Errorf(garner.ErrDType, "%s of %s and a constant is not run behind another such node: OpenVINO makes one of the two, which rounds elsewhere", c.node.Op, a.DType())
		}
		f = openvinoFloats(op, c.wide, c.ofSingle(op), c.constants(), f, &bad)
	}
	made, err := elementwise(c.runner, a, b, shape, f)
	return c.unless(&bad, made, err)
}

// ofSingle reports whether the node is OpenVINO's Negative, or a product, a quotient or a difference of which one
// constant element is a factor, the divisor or what is subtracted from; none that OpenVINO computes when it
// loads the model.
func (c *call) ofSingle(op string) bool {
	of := c.node.Inputs
	switch {
	case op == "add" || foldable(c.node.Outputs[0]):
		return false
	case c.node.Op == "Negative":
		return true
	case op == "sub":
		of = of[:1]
	}
	return slices.ContainsFunc(of, func(v *model.Value) bool { return v != nil && !c.isGiven(v) && single(v) != nil })
}

// constants reports of each of two inputs whether it depends on no input of the model; nil where OpenVINO computes the
// node when it loads the model.
func (c *call) constants() []bool {
	if foldable(c.node.Outputs[0]) {
		return nil
	}
	of := make([]bool, 2)
	for i := range of {
		of[i] = c.has(i) && dependenceOf(c.depends, c.node.Inputs[i], c.given) == ofConstants
	}
	return of
}

func compare[T interface {
	number
	garner.Element
}](c *call, op string, a, b garner.Tensor, shape garner.Shape) (garner.Tensor, error) {
	f, ok := compares[T](op)
	if !ok {
		return garner.Tensor{}, c.unsupportedType(a.DType())
	}
	if !c.openvino() {
		return elementwise(c.runner, a, b, shape, f)
	}
	var bad refusal
	made, err := elementwise(c.runner, a, b, shape, openvinoCompares(c.node.Op, op, a.DType(), f, &bad))
	return c.unless(&bad, made, err)
}

// compares returns a comparison by its sign.
func compares[T number](op string) (f func(x, y T) bool, ok bool) {
	switch op {
	case "=":
		f = func(x, y T) bool { return x == y }
	case "!=":
		f = func(x, y T) bool { return x != y }
	case "<":
		f = func(x, y T) bool { return x < y }
	case "<=":
		f = func(x, y T) bool { return x <= y }
	case ">":
		f = func(x, y T) bool { return x > y }
	case ">=":
		f = func(x, y T) bool { return x >= y }
	}
	return f, f != nil
}

func binaryBools(c *call, op string, a, b garner.Tensor, shape garner.Shape) (garner.Tensor, error) {
	var f func(x, y bool) bool
	switch op {
	case "=":
		f = func(x, y bool) bool { return x == y }
	case "!=", "xor":
		f = func(x, y bool) bool { return x != y }
	case "and":
		f = func(x, y bool) bool { return x && y }
	case "or":
		f = func(x, y bool) bool { return x || y }
	default:
		return garner.Tensor{}, c.unsupportedType(garner.Bool)
	}
	return elementwise(c.runner, a, b, shape, f)
}

// not is logical for bools and bitwise for integers.
func not(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	if t.DType() == garner.Bool {
		return c.binary("=", t, garner.Of([]bool{false}))
	}
	if c.openvino() && t.DType() == garner.U16 {
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "%s of u16 is not run: OpenVINO computes it in i32, and leaves u16", c.node.Op)
	}
	ones, err := c.cast(garner.Of([]int64{-1}), t.DType())
	if err != nil {
		return garner.Tensor{}, err
	}
	return c.binary("xor", t, ones)
}

func negate(c *call) (garner.Tensor, error) {
	in, err := c.widened(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	t := in[0]
	// -1·x, because 0-x would lose the sign of a zero.
	minus, err := c.cast(garner.Of([]int64{-1}), t.DType())
	if err != nil {
		return garner.Tensor{}, err
	}
	return c.binary("mul", t, minus)
}

// mod is ONNX's Mod. The result has the sign of the divisor, as in Python, or
// with fmod that of the dividend, as in C.
func mod(c *call) (garner.Tensor, error) {
	fmod, err := c.number("fmod", 0)
	if err != nil {
		return garner.Tensor{}, err
	}
	if fmod != 0 {
		return arithmetic("truncated mod")(c)
	}
	return arithmetic("mod")(c)
}

// divide is OpenVINO's Divide. How it rounds quotients of integers depends on when the runtime
// computes them; where that is not known, those that tell are refused.
func divide(c *call) (garner.Tensor, error) {
	python, err := c.number("m_pythondiv", 1)
	if err != nil {
		return garner.Tensor{}, err
	}
	in, err := c.operands(2)
	if err != nil {
		return garner.Tensor{}, err
	}
	op := "div"
	if d := in[0].DType(); d.IsInteger() {
		switch departures.Quotient(d, python != 0, c.moment()) {
		case departures.Down:
			op = "floor div"
		case departures.DownOrTowardsZero:
			op = "div down or towards 0"
		case departures.Any:
			op = "div to any"
		}
	}
	return c.binary(op, in[0], in[1])
}

// moment tells when OpenVINO computes the node.
func (c *call) moment() departures.Moment {
	constants := true
	for _, v := range c.runner.nodes[c.node] {
		switch {
		case v == nil:
		case dependenceOf(c.depends, v, c.given) == ofData:
			return departures.InRun
		case v.Constant == nil || c.isGiven(v):
			constants = false
		}
	}
	if constants {
		return departures.AtLoad
	}
	return departures.Unknown
}

// roundInteger is Floor and Ceiling of integers, which leave them as they are. OpenVINO takes them
// through f32.
func roundInteger(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	switch {
	case err != nil:
	case !t.DType().IsInteger():
		err = c.unsupportedType(t.DType())
	case t.DType().Bits() >= 32:
		err = c.eachNumber(t, func(i int, v float64) error {
			if float64(float32(v)) != v || v < math.MinInt32 || v > math.MaxInt32 {
				return garner.Errorf(garner.ErrDType, "%s of element %d, %v: OpenVINO rounds %s in f32, which does not hold it; give an input that makes none such", c.node.Op, i, v, t.DType())
			}
			return nil
		})
	}
	return t, err
}

// logical evaluates an operator of truth values.
func logical(then evaluator) evaluator {
	return func(c *call) (garner.Tensor, error) {
		for i := range c.node.Inputs {
			t, err := c.input(i)
			if err != nil {
				return garner.Tensor{}, err
			}
			if t.DType() != garner.Bool {
				return garner.Tensor{}, garner.Errorf(garner.ErrDType, "%s of %s is not run; that of bool is", c.node.Op, t.DType())
			}
		}
		return then(c)
	}
}

// clip is Clip and Clamp.
func clip(c *call) (garner.Tensor, error) {
	c.strict = true // ONNX Runtime clips f16
	in, err := c.widened(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	t := in[0]
	if t.DType().IsFloat() {
		return clipFloats(c, t)
	}
	if !t.DType().IsInteger() {
		return garner.Tensor{}, c.unsupportedType(t.DType())
	}
	for i, op := range []string{"max", "min"} {
		name := []string{"min", "max"}[i]
		var end garner.Tensor
		switch bound := c.node.Attributes[name].(type) {
		case nil:
			if !c.has(1 + i) {
				continue
			}
			if end, err = c.input(1 + i); err != nil {
				return garner.Tensor{}, err
			}
		case string: // of OpenVINO, which rounds the bound towards the inside
			v, err := parseNumber(name, bound)
			if err != nil {
				return garner.Tensor{}, err
			}
			if op == "min" {
				v = math.Floor(v)
			} else {
				v = math.Ceil(v)
			}
			low, high := integerBounds(t.DType())
			if v <= low && op == "max" || v >= high && op == "min" {
				continue // the bound excludes no value of the type
			}
			if given, _ := parseNumber(name, bound); given != v && (op == "max") == (v > 0) {
				return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "its %s is %v; OpenVINO rounds it to %v or %v", name, given, math.Floor(given), math.Ceil(given))
			}
			if float64(float32(v)) != v {
				return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "its %s is %v, which f32 does not have; OpenVINO clamps %s in f32", name, v, t.DType())
			}
			if end, err = c.cast(garner.Of([]float64{v}), t.DType()); err != nil {
				return garner.Tensor{}, err
			}
		default:
			return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "its %s is %v; of integers it must be an input", name, bound)
		}
		if end.Len() != 1 {
			return garner.Tensor{}, mismatch("its %s is %s%s; it must be one element", name, end.DType(), end.Shape())
		}
		if end, err = end.Reshape(); err != nil {
			return garner.Tensor{}, err
		}
		if t, err = c.binary(op, t, end); err != nil {
			return garner.Tensor{}, err
		}
	}
	return t, nil
}

// parseNumber reads a number of an attribute.
func parseNumber(name, text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(v) {
		return 0, garner.Errorf(garner.ErrAttribute, "its %s is %.40q; it must be a number", name, text)
	}
	return v, nil
}

// integerRange is Range of integers.
func integerRange(c *call) (garner.Tensor, error) {
	in, err := c.inputs(3)
	if err != nil {
		return garner.Tensor{}, err
	}
	var ends [3]int64
	for i, t := range in {
		if !t.DType().IsInteger() || t.DType() == garner.U64 {
			return garner.Tensor{}, c.unsupportedType(t.DType())
		}
		if t.Len() != 1 {
			return garner.Tensor{}, mismatch("its input %d is %s%s; it must be one number", i, t.DType(), t.Shape())
		}
		if err := c.known(i); err != nil {
			return garner.Tensor{}, err
		}
		v, err := t.Int(0)
		if err != nil {
			return garner.Tensor{}, err
		}
		ends[i] = int64(v.Bits)
	}
	start, stop, step := ends[0], ends[1], ends[2]
	if step == 0 {
		return garner.Tensor{}, mismatch("its step is 0")
	}
	if c.openvino() && (step > 0 && stop < start || step < 0 && stop > start) {
		return garner.Tensor{}, mismatch("its limit %d lies on the other side of its start %d, where OpenVINO counts on", stop, start)
	}
	// The distance of two int64, and the size of a step, is a uint64.
	var n uint64
	if step > 0 && stop > start {
		n = (uint64(stop)-uint64(start)-1)/uint64(step) + 1
	} else if step < 0 && stop < start {
		n = (uint64(start)-uint64(stop)-1)/(-uint64(step)) + 1
	}
	if n > math.MaxInt {
		return garner.Tensor{}, mismatch("it has %d elements, more than an int can count", n)
	}
	made, err := c.new(garner.I64, garner.Shape{int(n)})
	if err != nil {
		return garner.Tensor{}, err
	}
	if !c.bare {
		list, err := garner.Values[int64](made)
		if err != nil {
			return garner.Tensor{}, err
		}
		for i := range list {
			list[i] = start + int64(i)*step
		}
	}
	if c.onnx() || c.node.Attributes["output_type"] == nil {
		return c.cast(made, in[0].DType())
	}
	return c.typed(made)
}
