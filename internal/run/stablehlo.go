package run

import (
	"math"
	"slices"

	"github.com/garner-go/garner"
)

// stablehloOperators are the operators of StableHLO that are evaluated: those that move elements, and arithmetic; that of
// floats as far as stablehlo_floats.go says.
var stablehloOperators = map[string]evaluator{
	"reshape":                  declared(hloReshape),
	"dynamic_reshape":          declared(hloReshape),
	"broadcast_in_dim":         declared(hloBroadcast),
	"dynamic_broadcast_in_dim": declared(hloBroadcast),
	"transpose":                declared(hloTranspose),
	"slice":                    declared(hloSlice),
	"reverse":                  declared(hloReverse),
	"concatenate":              declared(hloConcatenate),
	"iota":                     declared(hloIota),
	"get_dimension_size":       declared(hloDimensionSize),
	"convert":                  declared(hloConvert),
	"select":                   declared(hloSelect),
	"clamp":                    declared(hloClamp),
	"compare":                  declared(hloCompare),
	"reduce":                   declared(hloReduce),
	"add":                      declared(alike(ofFloatsToo(binaryOf("add")))),
	"subtract":                 declared(alike(ofFloatsToo(binaryOf("sub")))),
	"multiply":                 declared(alike(ofFloatsToo(binaryOf("mul")))),
	"divide":                   declared(alike(ofFloatsToo(binaryOf("div")))),
	"remainder":                declared(alike(ofIntegers(binaryOf("truncated mod")))),
	"minimum":                  declared(alike(ofFloatsToo(binaryOf("min")))),
	"maximum":                  declared(alike(ofFloatsToo(binaryOf("max")))),
	"negate":                   declared(ofFloatsToo(negate)),
	"abs":                      declared(ofFloatsToo(absolute)),
	"sign":                     declared(ofIntegers(sign)),
	"and":                      declared(alike(binaryOf("and"))),
	"or":                       declared(alike(binaryOf("or"))),
	"xor":                      declared(alike(binaryOf("xor"))),
	"not":                      declared(not),
}

// declared refuses a result of another type than the text says. Operators of StableHLO take
// their result's shape from there.
func declared(f evaluator) evaluator {
	return func(c *call) (garner.Tensor, error) {
		t, err := f(c)
		if err != nil {
			return garner.Tensor{}, err
		}
		said, dtype := c.node.Outputs[0].Spec, t.DType()
		if c.pending != garner.Invalid {
			dtype = c.pending
		}
		is := garner.SpecOf(dtype, t.Shape()...)
		differs := said.DType != garner.Invalid && said.DType != dtype || said.Rank.Known() && said.Rank != is.Rank
		for i, d := range said.Dims {
			differs = differs || i >= len(is.Dims) || is.Dims[i].Min < d.Min || is.Dims[i].Max > d.Max
		}
		if differs {
			return garner.Tensor{}, mismatch("%s of its inputs makes %s, and the model says %s", c.node.Op, is, said)
		}
		return t, nil
	}
}

// alike refuses inputs of different shapes: StableHLO does not broadcast.
func alike(f evaluator) evaluator {
	return func(c *call) (garner.Tensor, error) {
		in, err := c.inputs(2)
		if err != nil {
			return garner.Tensor{}, err
		}
		if !in[0].Shape().Equal(in[1].Shape()) {
			return garner.Tensor{}, mismatch("%s and %s differ; %s takes two of one shape", in[0].Shape(), in[1].Shape(), c.node.Op)
		}
		return f(c)
	}
}

// hloShape gives the shape of the result: from the second input, where there is one, or as the model says.
func hloShape(c *call) (garner.Shape, error) {
	if c.has(1) {
		dims, err := c.list("", 1)
		if err != nil {
			return nil, err
		}
		return shapeOfDims(dims)
	}
	shape, ok := c.node.Outputs[0].Spec.Shape()
	if !ok {
		return nil, mismatch("its result is %s, of an unknown shape", c.node.Outputs[0].Spec)
	}
	return shape, nil
}

func hloReshape(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	shape, err := hloShape(c)
	if err != nil {
		return garner.Tensor{}, err
	}
	return c.runner.reshape(t, shape)
}

// hloBroadcast is broadcast_in_dim: dim i of the operand becomes dim broadcast_dimensions[i] of the result.
func hloBroadcast(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	shape, err := hloShape(c)
	if err != nil {
		return garner.Tensor{}, err
	}
	dims, err := c.list("broadcast_dimensions", len(c.node.Inputs))
	if err != nil {
		return garner.Tensor{}, err
	}
	if len(dims) != t.Rank() || slices.ContainsFunc(dims, func(d int64) bool { return d < 0 }) {
		return garner.Tensor{}, mismatch("its broadcast_dimensions %v do not name a dim for each of %s", dims, t.Shape())
	}
	if _, err := axisSet(dims, len(shape)); err != nil {
		return garner.Tensor{}, err
	}
	order := make([]int, len(dims)) // of the operand's dims in the result
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(dims[a] - dims[b]) })
	wide := slices.Repeat(garner.Shape{1}, len(shape))
	for i, d := range dims {
		wide[d] = t.Shape()[i]
	}
	if !slices.IsSorted(order) {
		if t, err = t.Transpose(order...); err != nil {
			return garner.Tensor{}, err
		}
	}
	if t, err = c.runner.reshape(t, wide); err != nil {
		return garner.Tensor{}, err
	}
	return c.broadcast(t, shape)
}

func hloTranspose(c *call) (garner.Tensor, error) {
	return transpose(c.amended(map[string]any{"perm": c.node.Attributes["permutation"]}))
}

// hloSlice is slice, whose bounds lie within the operand.
func hloSlice(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	var lists [3][]int64
	for i, name := range []string{"start_indices", "limit_indices", "strides"} {
		if lists[i], err = c.list(name, 1); err != nil {
			return garner.Tensor{}, err
		}
		if len(lists[i]) != t.Rank() {
			return garner.Tensor{}, mismatch("its %s %v are not one for each dim of %s", name, lists[i], t.Shape())
		}
	}
	for axis, d := range t.Shape() {
		start, limit, stride := lists[0][axis], lists[1][axis], lists[2][axis]
		if start < 0 || limit < start || limit > int64(d) || stride < 1 {
			return garner.Tensor{}, mismatch("%d:%d:%d is no slice of dim %d of %s", start, limit, stride, axis, t.Shape())
		}
		if t, err = sliceAxis(t, axis, start, limit, stride); err != nil {
			return garner.Tensor{}, err
		}
	}
	return t, nil
}

func hloReverse(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	dims, err := c.list("dimensions", 1)
	if err != nil {
		return garner.Tensor{}, err
	}
	turned, err := axisSet(dims, t.Rank())
	if err != nil {
		return garner.Tensor{}, err
	}
	for axis, is := range turned {
		if is {
			if t, err = sliceAxis(t, axis, math.MaxInt64, math.MinInt64, -1); err != nil {
				return garner.Tensor{}, err
			}
		}
	}
	return t, nil
}

func hloConcatenate(c *call) (garner.Tensor, error) {
	return concat(c.amended(map[string]any{"axis": c.node.Attributes["dimension"]}))
}

// hloIota counts along a dim, in integers.
func hloIota(c *call) (garner.Tensor, error) {
	shape, err := hloShape(c)
	if err != nil {
		return garner.Tensor{}, err
	}
	dtype := c.node.Outputs[0].Spec.DType
	along, err := c.number("iota_dimension", -1)
	if err != nil {
		return garner.Tensor{}, err
	}
	if along < 0 || along >= int64(len(shape)) {
		return garner.Tensor{}, mismatch("its iota_dimension is %d, and its result is %s", along, shape)
	}
	if !dtype.IsInteger() {
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "iota of %s is not run; it is of integers", dtype)
	}
	wide := slices.Repeat(garner.Shape{1}, len(shape))
	wide[along] = shape[along]
	made, err := c.new(garner.I64, wide)
	if err != nil {
		return garner.Tensor{}, err
	}
	if !c.bare {
		list, err := garner.Values[int64](made)
		if err != nil {
			return garner.Tensor{}, err
		}
		for i := range list {
			list[i] = int64(i)
		}
	}
	if made, err = c.cast(made, dtype); err != nil {
		return garner.Tensor{}, err
	}
	return c.broadcast(made, shape)
}

func hloDimensionSize(c *call) (garner.Tensor, error) {
	v, err := c.unjoinedInput()
	if err != nil {
		return garner.Tensor{}, err
	}
	at, err := c.number("dimension", -1)
	if err != nil {
		return garner.Tensor{}, err
	}
	if at < 0 || at >= int64(v.tensor.Rank()) {
		return garner.Tensor{}, mismatch("its dimension is %d, and its input is %s", at, v.tensor.Shape())
	}
	n := v.tensor.Shape()[at]
	if int64(n) != int64(int32(n)) {
		return garner.Tensor{}, mismatch("dim %d of %s is more than i32 has", at, v.tensor.Shape())
	}
	return garner.Of([]int32{int32(n)}), nil
}

// hloConvert is convert between integers, which wraps, and bools; and of floats.
func hloConvert(c *call) (garner.Tensor, error) {
	v, err := c.unjoinedInput()
	if err != nil {
		return garner.Tensor{}, err
	}
	from, to := v.dtype(), c.node.Outputs[0].Spec.DType
	if from.IsFloat() != to.IsFloat() || from.IsFloat() && from != to {
		return hloConvertFloats(c, to)
	}
	exact := func(d garner.DType) bool { return d == garner.Bool || d.IsInteger() && d.Bits() >= 8 }
	if from != to && (!exact(from) || !exact(to)) {
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "convert of %s to %s is not run; between integers and bools of 8 bits and more it is", from, to)
	}
	return c.castLater(to)
}

// hloSelect is select; its condition has the shape of the others, or is a scalar.
func hloSelect(c *call) (garner.Tensor, error) {
	in, err := c.inputs(3)
	if err != nil {
		return garner.Tensor{}, err
	}
	if !in[1].Shape().Equal(in[2].Shape()) || in[0].Rank() > 0 && !in[0].Shape().Equal(in[1].Shape()) {
		return garner.Tensor{}, mismatch("select of %s, %s and %s; they have one shape, or the first is a scalar", in[0].Shape(), in[1].Shape(), in[2].Shape())
	}
	return c.choose(in)
}

// hloClamp is min(max(operand, least), most).
func hloClamp(c *call) (garner.Tensor, error) {
	in, err := c.inputs(3)
	if err != nil {
		return garner.Tensor{}, err
	}
	t := in[1]
	if t.DType().IsFloat() {
		if err := c.hloFloats(in...); err != nil {
			return garner.Tensor{}, err
		}
	} else if !t.DType().IsInteger() {
		return garner.Tensor{}, c.unsupportedType(t.DType())
	}
	for i, op := range []string{"max", "min"} {
		bound := in[2*i]
		if bound.Rank() > 0 && !bound.Shape().Equal(t.Shape()) {
			return garner.Tensor{}, mismatch("clamp of %s by %s; a bound is a scalar or has that shape", t.Shape(), bound.Shape())
		}
		if t, err = c.binary(op, t, bound); err != nil {
			return garner.Tensor{}, err
		}
	}
	return t, nil
}

var hloDirections = map[string]string{"EQ": "=", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}

// hloCompare is compare of numbers, and of bools whether they are equal.
func hloCompare(c *call) (garner.Tensor, error) {
	direction, _ := c.node.Attributes["comparison_direction"].(string)
	op := hloDirections[direction]
	if op == "" {
		return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "its comparison_direction is %.40q; there are EQ, NE, LT, LE, GT and GE", direction)
	}
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	if t.DType().IsFloat() {
		other, err := c.input(1)
		if err == nil {
			err = c.hloFloats(t, other)
		}
		if err != nil {
			return garner.Tensor{}, err
		}
	} else if t.DType() != garner.Bool && !t.DType().IsInteger() {
		return garner.Tensor{}, c.unsupportedType(t.DType())
	}
	return alike(binaryOf(op))(c)
}

// hloReducers are the operators that a reduce may apply, whose order does not matter, and the
// names that binary has for them.
var hloReducers = map[string]string{
	"stablehlo.and": "and", "stablehlo.or": "or", "stablehlo.xor": "xor", "stablehlo.add": "add", "stablehlo.multiply": "mul",
	"stablehlo.minimum": "min", "stablehlo.maximum": "max",
}

// mostReduced is the most elements of which hloReduce makes one: it computes with as many tensors.
const mostReduced = 64

// hloReduce is reduce of few integers or bools to one each, as index vectors are checked.
func hloReduce(c *call) (garner.Tensor, error) {
	in, err := c.inputs(2)
	if err != nil {
		return garner.Tensor{}, err
	}
	applies, _ := c.node.Attributes["applies"].(string)
	op, t := hloReducers[applies], in[0]
	switch {
	case op == "" || len(c.node.Inputs) != 2:
		return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "reduce by %.60q is not run; of one tensor, by one operator of integers or bools, it is", applies)
	case t.DType() != garner.Bool && !t.DType().IsInteger():
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "reduce of %s is not run; it is of integers and bools", t.DType())
	case in[1].Rank() != 0:
		return garner.Tensor{}, mismatch("its first value is %s; it is a scalar", in[1].Shape())
	}
	axes, err := c.list("dimensions", 2)
	if err != nil {
		return garner.Tensor{}, err
	}
	drop, err := axisSet(axes, t.Rank())
	if err != nil {
		return garner.Tensor{}, err
	}
	shape, each := garner.Shape{}, 1
	for i, d := range t.Shape() {
		switch {
		case !drop[i]:
			shape = append(shape, d)
		case d > mostReduced || each*d > mostReduced:
			return garner.Tensor{}, mismatch("reduce of %s along %v is not run; of up to %d elements it is", t.Shape(), axes, mostReduced)
		default:
			each *= d
		}
	}
	made, err := c.broadcast(in[1], shape)
	if err != nil {
		return garner.Tensor{}, err
	}
	for k := range each {
		part := t
		for i, d := range t.Shape() {
			if drop[i] {
				if part, err = part.Slice(i, k%d, k%d+1, 1); err != nil {
					return garner.Tensor{}, err
				}
				k /= d
			}
		}
		if part, err = c.runner.reshape(part, shape); err != nil {
			return garner.Tensor{}, err
		}
		if made, err = c.binary(op, made, part); err != nil {
			return garner.Tensor{}, err
		}
	}
	return made, nil
}
