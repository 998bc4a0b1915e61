package run

import (
	"math"
	"slices"

	"github.com/garner-go/garner"
)

// tfliteOperators are the builtin operators of LiteRT that are evaluated.
var tfliteOperators = map[string]evaluator{
	"DEQUANTIZE":     dequantize,
	"CAST":           tfliteCast,
	"RESHAPE":        moves(tfliteReshape),
	"SQUEEZE":        moves(tfliteSqueeze),
	"EXPAND_DIMS":    moves(unsqueeze),
	"TRANSPOSE":      moves(tfliteTranspose),
	"CONCATENATION":  moves(unfused(concat)),
	"PACK":           moves(pack),
	"SLICE":          moves(tfliteSlice),
	"STRIDED_SLICE":  moves(tfliteStridedSlice),
	"TILE":           moves(tile),
	"BROADCAST_TO":   moves(expand),
	"FILL":           moves(tfliteFill),
	"PAD":            moves(tflitePad),
	"PADV2":          moves(tflitePad),
	"MIRROR_PAD":     moves(tflitePad),
	"SHAPE":          tfliteShape,
	"RANK":           tfliteRank,
	"ZEROS_LIKE":     unquantised(zerosLike),
	"RANGE":          unquantised(tfliteRange),
	"SELECT":         moves(tfliteSelect),
	"SELECT_V2":      moves(where),
	"ADD":            numbers("add"),
	"SUB":            numbers("sub"),
	"MUL":            numbers("mul"),
	"DIV":            numbers("div"),
	"FLOOR_DIV":      unquantised(ofIntegers(binaryOf("floor div"))),
	"FLOOR_MOD":      unquantised(ofIntegers(binaryOf("mod"))),
	"MAXIMUM":        unquantised(ofIntegers(binaryOf("max"))),
	"MINIMUM":        unquantised(ofIntegers(binaryOf("min"))),
	"NEG":            unquantised(tfliteNegate),
	"EQUAL":          unquantised(binaryOf("=")),
	"NOT_EQUAL":      unquantised(binaryOf("!=")),
	"LESS":           unquantised(binaryOf("<")),
	"LESS_EQUAL":     unquantised(binaryOf("<=")),
	"GREATER":        unquantised(binaryOf(">")),
	"GREATER_EQUAL":  unquantised(binaryOf(">=")),
	"LOGICAL_AND":    binaryOf("and"),
	"LOGICAL_OR":     binaryOf("or"),
	"LOGICAL_NOT":    not,
	"REDUCE_PROD":    unquantised(reduceProd),
	"BROADCAST_ARGS": unquantised(broadcastArgs),
	"WHERE":          unquantised(tfliteWhere),
}

// tfliteManyOperators are those of any number of outputs.
var tfliteManyOperators = map[string]manyEvaluator{
	"SPLIT":   tfliteSplit,
	"TOPK_V2": unquantisedMany(topK),
	"SPLIT_V": tfliteSplitV,
	"UNPACK":  tfliteUnpack,
}

// moves is an operator that moves elements and computes nothing. Where its inputs and its result are
// quantised differently, LiteRT computes new codes; that is refused.
func moves(f evaluator) evaluator {
	return func(c *call) (garner.Tensor, error) {
		if err := c.oneScale(); err != nil {
			return garner.Tensor{}, err
		}
		return f(c)
	}
}

// oneScale refuses codes of one type that stand for different numbers.
func (c *call) oneScale() error {
	first := c.node.Outputs[0]
	if first == nil || first.Spec.DType.Bits() > 16 {
		return nil
	}
	for _, v := range slices.Concat(c.node.Inputs, c.node.Outputs) {
		if v != nil && v.Spec.DType == first.Spec.DType && !v.Quantised.Equal(first.Quantised) {
			return garner.Errorf(garner.ErrDType, "%s of values that are quantised differently is not run: LiteRT computes new codes", c.node.Op)
		}
	}
	return nil
}

// unquantised refuses quantised inputs, whose codes mean other numbers.
func unquantised(f evaluator) evaluator {
	return func(c *call) (garner.Tensor, error) {
		for _, v := range slices.Concat(c.node.Inputs, c.node.Outputs) {
			if v != nil && v.Quantised != nil {
				return garner.Tensor{}, garner.Errorf(garner.ErrDType, "%s of a quantised value (%s) is not run; dequantise it before", c.node.Op, v.Quantised)
			}
		}
		return f(c)
	}
}

// unquantisedMany is unquantised of several outputs.
func unquantisedMany(f manyEvaluator) manyEvaluator {
	return func(c *call) (made []garner.Tensor, err error) {
		_, err = unquantised(func(c *call) (first garner.Tensor, err error) {
			made, err = f(c)
			return first, err
		})(c)
		return made, err
	}
}

// unfused refuses an operator with an activation function behind it.
func unfused(f evaluator) evaluator {
	return func(c *call) (garner.Tensor, error) {
		if name, ok := c.node.Attributes["fused_activation_function"]; ok {
			return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "%s with the activation %v behind it is not run", c.node.Op, name)
		}
		return f(c)
	}
}

// tfliteSqueeze is SQUEEZE, of all dims of 1 where it names none.
func tfliteSqueeze(c *call) (garner.Tensor, error) {
	axes := c.node.Attributes["squeeze_dims"]
	if axes == nil {
		axes = []int64{}
	}
	return squeeze(c.amended(map[string]any{"axes": axes}))
}

// amended gives the call's node other attributes.
func (c *call) amended(attributes map[string]any) *call {
	n := *c.node
	n.Attributes = attributes
	c.node = &n
	return c
}

// numbers is an arithmetic operator of i32, i64 and f32.
func numbers(op string) evaluator {
	return unquantised(unfused(func(c *call) (garner.Tensor, error) {
		in, err := c.inputs(2)
		if err != nil {
			return garner.Tensor{}, err
		}
		switch d := in[0].DType(); {
		case d == garner.F32 && in[1].DType() == d:
			return c.finite(op, in[0], in[1])
		case d == garner.I32 || d == garner.I64 && op != "div":
			return c.binary(op, in[0], in[1])
		default:
			return garner.Tensor{}, garner.Errorf(garner.ErrDType, "%s of %s and %s is not run; it is of two i32, i64 or f32", c.node.Op, d, in[1].DType())
		}
	}))
}

// finite computes with floats. It refuses a subnormal number, an infinity and a NaN, in operands
// and results: LiteRT answers these otherwise in a graph that its XNNPACK delegate takes (subnormal numbers
// are 0) than in one that it does not take (infinities are the greatest number). Nor does it negate a 0, which stays 0 there, and is -0 here.
func (c *call) finite(op string, a, b garner.Tensor) (garner.Tensor, error) {
	shape, err := broadcastShape(a.Shape(), b.Shape())
	if err != nil {
		return garner.Tensor{}, err
	}
	f := map[string]func(x, y float32) float32{
		"add": func(x, y float32) float32 { return x + y }, "sub": func(x, y float32) float32 { return x - y },
		"mul": func(x, y float32) float32 { return x * y }, "div": func(x, y float32) float32 { return x / y },
		"neg": func(x, y float32) float32 { return x * y }, // y is -1
	}[op]
	c.mayRefuse()
	odd, is := float32(0), false
	look := func(v float32) {
		if e := math.Float32bits(v) >> 23 & 0xff; e == 0xff || e == 0 && (v != 0 || op == "neg") {
			odd, is = v, true
		}
	}
	made, err := elementwise(c.runner, a, b, shape, func(x, y float32) float32 {
		v := f(x, y)
		look(x)
		look(y)
		look(v)
		return v
	})
	if err == nil && is && !c.bare {
		return garner.Tensor{}, garner.Errorf(nil, "%s takes or gives %v, of which LiteRT makes different numbers on different ways; give an input that makes none such", c.node.Op, odd)
	}
	return made, err
}

// tfliteNegate is NEG of integers and of f32.
func tfliteNegate(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	switch d := t.DType(); {
	case d == garner.F32:
		return c.finite("neg", t, garner.Of([]float32{-1}))
	case !d.IsInteger():
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "NEG of %s is not run; it is of integers and f32", d)
	}
	return negate(c)
}

// dequantize is DEQUANTIZE: (element - zero point)·scale in f32, of the input's scales, rounded once.
// Of f16 it is a cast. Of a constant of i8 or i4 with one scale it is element·scale - zero point·scale, each rounded, but for
// the last elements that do not fill eight: so LiteRT computes constants, before the first run.
func dequantize(c *call) (garner.Tensor, error) {
	v, err := c.unjoinedInput()
	if err != nil {
		return garner.Tensor{}, err
	}
	from, to := v.dtype(), c.node.Outputs[0].Spec.DType
	if from == garner.F16 && to == garner.F32 {
		return c.castLater(to)
	}
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	in := c.node.Inputs[0]
	_, given := c.given[in]
	s, err := scalingOf(c.node, from, t.Shape(), in.Constant != nil && !given)
	if err != nil {
		return garner.Tensor{}, err
	}
	made, err := c.new(to, t.Shape())
	if err != nil || c.bare {
		return made, err
	}
	flat, err := c.runner.reshape(t, garner.Shape{t.Len()})
	if err != nil || c.bare {
		return made, err
	}
	inner := 1
	if len(s.q.Scales) > 1 {
		inner, _ = t.Shape()[s.q.Axis+1:].Len()
	}
	return made, s.decode(made, flat, func(i int) (int, bool) { return i / inner % len(s.q.Scales), i < s.twice })
}

// tfliteCast casts to the type of the result, as LiteRT does whatever the options say.
func tfliteCast(c *call) (garner.Tensor, error) {
	return c.castLater(c.node.Outputs[0].Spec.DType)
}

// tfliteReshape is RESHAPE. The new shape is an input or, without one, an option; of the option
// [0] is a scalar's shape in old files, which is not run.
func tfliteReshape(c *call) (garner.Tensor, error) {
	attributes := map[string]any{"allowzero": int64(1), "special_zero": false}
	if !c.has(1) {
		list, ok := c.node.Attributes["new_shape"].([]int64)
		if !ok || slices.Contains(list, 0) {
			return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "RESHAPE to the option new_shape %v is not run; give the shape as an input", list)
		}
		attributes["shape"] = list
		return reshape(c.amended(attributes))
	}
	// LiteRT takes a dim of 0 of a tensor with elements for what the others leave, or not, by its version.
	if _, err := c.input(1); err != nil {
		return garner.Tensor{}, err
	}
	if err := c.known(1); err != nil {
		return garner.Tensor{}, err
	}
	return reshape(c.amended(attributes))
}

// tfliteTranspose is TRANSPOSE, whose order may count from the end.
func tfliteTranspose(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	order, err := c.list("perm", 1)
	if err != nil {
		return garner.Tensor{}, err
	}
	if len(order) != t.Rank() {
		return garner.Tensor{}, mismatch("its order %v has not the dims of %s", order, t.Shape())
	}
	perm := make([]int64, len(order))
	for i, p := range order {
		at, err := axisOf(p, t.Rank())
		if err != nil {
			return garner.Tensor{}, err
		}
		perm[i] = int64(at)
	}
	return transpose(c.amended(map[string]any{"perm": perm}))
}

// tfliteUnpack is UNPACK: the parts of one axis, without it.
func tfliteUnpack(c *call) ([]garner.Tensor, error) {
	if err := c.oneScale(); err != nil {
		return nil, err
	}
	return unpack(c)
}

// tfliteSlice is SLICE: from begin on, size elements of each axis, -1 for the rest. LiteRT reads other memory
// where begin is negative; that is refused.
func tfliteSlice(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	if _, err := c.inputs(3); err != nil {
		return garner.Tensor{}, err
	}
	begin, err := c.list("begin", 1)
	if err != nil {
		return garner.Tensor{}, err
	}
	size, err := c.list("size", 2)
	if err != nil {
		return garner.Tensor{}, err
	}
	if len(begin) != t.Rank() || len(size) != t.Rank() {
		return garner.Tensor{}, mismatch("its begin %v and size %v must have a number for each dim of %s", begin, size, t.Shape())
	}
	for axis, d := range t.Shape() {
		from, n := begin[axis], size[axis]
		if n == -1 {
			n = int64(d) - from
		}
		if from < 0 || n < 0 || from > int64(d) || n > int64(d)-from {
			return garner.Tensor{}, mismatch("it takes %d elements from %d on of axis %d of %s", size[axis], from, axis, t.Shape())
		}
		if t, err = t.Slice(axis, int(from), int(from+n), 1); err != nil {
			return garner.Tensor{}, err
		}
	}
	return t, nil
}

// tfliteStridedSlice is STRIDED_SLICE, whose masks are bits.
func tfliteStridedSlice(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	if _, err := c.inputs(4); err != nil {
		return garner.Tensor{}, err
	}
	begin, err := c.list("begin", 1)
	if err != nil {
		return garner.Tensor{}, err
	}
	steps, err := c.list("strides", 3)
	if err != nil {
		return garner.Tensor{}, err
	}
	if offset, _ := c.node.Attributes["offset"].(bool); offset {
		return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "STRIDED_SLICE with offset is not run")
	}
	masks := make(map[string]any)
	for _, name := range []string{"begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask"} {
		bits, err := c.number(name, 0)
		if err != nil {
			return garner.Tensor{}, err
		}
		list := make([]int64, len(begin))
		for i := range list {
			list[i] = bits >> i & 1
		}
		masks[name] = list
	}
	// A step back from before the axis: LiteRT takes nothing.
	longest := 0
	for _, d := range t.Shape() {
		longest = max(longest, d)
	}
	for i, b := range begin {
		if i < len(steps) && steps[i] < 0 && b < -int64(longest) && masks["begin_mask"].([]int64)[i] == 0 {
			return garner.Tensor{}, mismatch("its begin %d lies before the axis, and its step is %d", b, steps[i])
		}
	}
	return stridedSlice(c.amended(masks))
}

// tfliteFill is FILL: a tensor of a shape, all of one value.
func tfliteFill(c *call) (garner.Tensor, error) {
	value, err := c.input(1)
	if err != nil {
		return garner.Tensor{}, err
	}
	if value.Rank() != 0 {
		return garner.Tensor{}, mismatch("its value is %s%s; it must be a scalar", value.DType(), value.Shape())
	}
	dims, err := c.list("dims", 0)
	if err != nil || dims == nil {
		_, missing := c.input(0)
		if err == nil {
			err = missing
		}
		return garner.Tensor{}, err
	}
	shape, err := shapeOfDims(dims)
	if err != nil {
		return garner.Tensor{}, err
	}
	return c.broadcast(value, shape)
}

// zerosLike is ZEROS_LIKE: zeros of the shape and the type of the input.
func zerosLike(c *call) (garner.Tensor, error) {
	v, err := c.unjoinedInput()
	if err != nil {
		return garner.Tensor{}, err
	}
	return c.new(v.dtype(), v.tensor.Shape())
}

// tfliteShape is SHAPE, in the type of the result: i32 or i64.
func tfliteShape(c *call) (garner.Tensor, error) {
	made, err := shapeOf(c.amended(nil))
	if err != nil {
		return garner.Tensor{}, err
	}
	return c.cast(made, c.node.Outputs[0].Spec.DType)
}

// tfliteRank is RANK, an i32.
func tfliteRank(c *call) (garner.Tensor, error) {
	v, err := c.unjoinedInput()
	if err != nil {
		return garner.Tensor{}, err
	}
	return garner.Of([]int32{int32(v.tensor.Rank())}), nil
}

// tfliteRange is RANGE of integers. A step away from the end is refused, as by LiteRT.
func tfliteRange(c *call) (garner.Tensor, error) {
	made, err := integerRange(c.amended(nil))
	if err != nil || made.Len() > 0 {
		return made, err
	}
	in, err := c.inputs(2)
	if err != nil {
		return garner.Tensor{}, err
	}
	a, err := in[0].Int(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	b, err := in[1].Int(0)
	if err == nil && a != b {
		err = mismatch("its step leads away from its end")
	}
	return made, err
}

// tfliteSelect is SELECT. Its condition has the shape of the others, or is a scalar or one bool for each of
// their rows.
func tfliteSelect(c *call) (garner.Tensor, error) {
	in, err := c.inputs(3)
	if err != nil {
		return garner.Tensor{}, err
	}
	shape := in[1].Shape()
	if !in[2].Shape().Equal(shape) {
		return garner.Tensor{}, mismatch("SELECT of %s and %s; they must have one shape", shape, in[2].Shape())
	}
	if is := in[0].Shape(); !is.Equal(shape) && len(is) > 0 {
		if len(is) != 1 || len(shape) == 0 || is[0] != shape[0] {
			return garner.Tensor{}, mismatch("SELECT by %s of %s; the condition has that shape, or one element for each row", is, shape)
		}
		if len(shape) > 1 {
			return garner.Tensor{}, mismatch("SELECT of rows is not run; SELECT_V2 is")
		}
	}
	return where(c)
}

// tfliteWhere is WHERE. LiteRT refuses a tensor without elements.
func tfliteWhere(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	switch d := t.DType(); {
	case t.Len() == 0:
		return garner.Tensor{}, mismatch("it looks for elements of %s%s, which has none", d, t.Shape())
	case slices.Contains([]garner.DType{garner.Bool, garner.F32, garner.I32, garner.I64, garner.U32, garner.I8, garner.U8}, d):
		return positions(c)
	default:
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "WHERE of %s is not run, because LiteRT does not run it", d)
	}
}

// broadcastArgs is BROADCAST_ARGS: the shape that two shapes broadcast to.
func broadcastArgs(c *call) (garner.Tensor, error) {
	var shapes [2]garner.Shape
	in, err := c.inputs(2)
	if err != nil {
		return garner.Tensor{}, err
	}
	for i := range shapes {
		list, err := c.list("shape", i)
		if err != nil {
			return garner.Tensor{}, err
		}
		if shapes[i], err = shapeOfDims(list); err != nil {
			return garner.Tensor{}, err
		}
	}
	shape, err := broadcastShape(shapes[:]...)
	if err != nil {
		return garner.Tensor{}, err
	}
	dims := make([]int64, len(shape))
	for i, d := range shape {
		dims[i] = int64(d)
	}
	return c.cast(garner.Of(dims, len(dims)), in[0].DType())
}

// tfliteSplit is SPLIT, into parts of one length along the axis that is its first input.
func tfliteSplit(c *call) ([]garner.Tensor, error) {
	if err := c.oneScale(); err != nil {
		return nil, err
	}
	axis, err := c.scalar(0, "axis")
	if err != nil {
		return nil, err
	}
	n := *c.node
	n.Inputs = c.node.Inputs[1:]
	c.node = &n
	return c.splitEvenly(axis, len(n.Outputs), false)
}

// tfliteSplitV is SPLIT_V, into parts of lengths, of which one may be -1: what the others leave.
func tfliteSplitV(c *call) ([]garner.Tensor, error) {
	if err := c.oneScale(); err != nil {
		return nil, err
	}
	axis, err := c.scalar(2, "axis")
	if err != nil {
		return nil, err
	}
	parts, err := c.longList("size_splits", 1, len(c.node.Outputs))
	if err != nil {
		return nil, err
	}
	return c.split(axis, parts)
}
