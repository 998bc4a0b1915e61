package run

import (
	"math"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// tensorflowFormat is the Format of models of TensorFlow.
const tensorflowFormat = "TensorFlow"

// tensorflowOperators are the operators of TensorFlow that are evaluated. Where its order of
// inputs, its attributes or its limits are those of another framework, so is the evaluator.
//
// TensorFlow's threads take denormal floats for zeros, and make none. What arithmetic,
// comparisons and casts would make of one is refused, and so is a NaN that arithmetic makes,
// whose bits depend on the processor. Its optimiser changes the order of additions and
// multiplications of floats, and makes multiplications of divisions by constants: one of these alone is
// run, and a division by a constant where the quotient is the product with its reciprocal.
var tensorflowOperators = map[string]evaluator{
	"Identity": identity, "ReadVariableOp": identity, "StopGradient": identity, "PreventGradient": identity, "Snapshot": identity,

	"Cast":         tensorflowCast,
	"Reshape":      reshape,
	"ExpandDims":   expandDims,
	"Squeeze":      squeezeDims,
	"Transpose":    transposeAny,
	"ConcatV2":     concatLast,
	"Pack":         pack,
	"Slice":        sliceOfSize,
	"StridedSlice": stridedSliceOfMasks,
	"Shape":        shapeOfType,
	"Size":         sizeOfType,
	"Rank":         rankOf,
	"Range":        ascendingRange,
	"Tile":         tileAll,
	"Fill":         fill,
	"BroadcastTo":  broadcastTo, "BroadcastArgs": broadcastArgs,
	"ZerosLike": like(0), "OnesLike": like(1),
	"Pad": padRows, "PadV2": padRows, "MirrorPad": padRows,
	"Prod":   prodOfShape,
	"Select": selectRows, "SelectV2": where,

	"Neg":         ofIntegers(negate),
	"Add":         alone(ordinary(arithmetic("add"))),
	"AddV2":       alone(ordinary(arithmetic("add"))),
	"Sub":         alone(ordinary(arithmetic("sub"))),
	"Mul":         alone(ordinary(arithmetic("mul"))),
	"Div":         ofIntegers(binaryOf("div")),
	"RealDiv":     alone(ordinary(realDiv)),
	"Where":       tensorflowWhere,
	"FloorDiv":    ofIntegers(binaryOf("floor div")),
	"TruncateDiv": ofIntegers(binaryOf("div")),
	"FloorMod":    ofIntegers(binaryOf("mod")),
	"Mod":         ofIntegers(binaryOf("truncated mod")),
	"TruncateMod": ofIntegers(binaryOf("truncated mod")),
	"Minimum":     ofIntegers(binaryOf("min")), "Maximum": ofIntegers(binaryOf("max")),
	"Equal": ordinary(binaryOf("=")), "NotEqual": ordinary(binaryOf("!=")),
	"Less": ordinary(binaryOf("<")), "LessEqual": ordinary(binaryOf("<=")),
	"Greater": ordinary(binaryOf(">")), "GreaterEqual": ordinary(binaryOf(">=")),
	"LogicalAnd": binaryOf("and"), "LogicalOr": binaryOf("or"), "LogicalNot": not,
	"BitwiseAnd": ofIntegers(binaryOf("and")), "BitwiseOr": ofIntegers(binaryOf("or")), "BitwiseXor": ofIntegers(binaryOf("xor")), "Invert": ofIntegers(not),
}

// tensorflowManyOperators are those of any number of outputs.
var tensorflowManyOperators = map[string]manyEvaluator{
	"TopKV2": topK,
	"Unpack": unpack,
}

// ofIntegers evaluates an operator of integers, and refuses others.
func ofIntegers(f evaluator) evaluator {
	return func(c *call) (garner.Tensor, error) {
		v, err := c.unjoinedInput()
		if err != nil {
			return garner.Tensor{}, err
		}
		if !v.dtype().IsInteger() {
			return garner.Tensor{}, c.unsupportedType(v.dtype())
		}
		return f(c)
	}
}

// alone evaluates arithmetic. Of floats it refuses operands that are made by arithmetic.
func alone(f evaluator) evaluator {
	return func(c *call) (garner.Tensor, error) {
		v, err := c.unjoinedInput()
		if err != nil {
			return garner.Tensor{}, err
		}
		if v.dtype().IsFloat() {
			for _, v := range c.node.Inputs {
				if err := c.isMade(v); err != nil {
					return garner.Tensor{}, err
				}
			}
		}
		return f(c)
	}
}

// realDiv is RealDiv of floats.
func realDiv(c *call) (garner.Tensor, error) {
	in, err := c.inputs(2)
	if err != nil {
		return garner.Tensor{}, err
	}
	of := dependenceOf(c.depends, c.aliases.of(c.node.Inputs[1]), c.given)
	switch d := in[0].DType(); {
	case d != garner.F32 && d != garner.F64 || in[1].DType() != d:
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "%s of %s and %s is not run; it is of two f32 or f64", c.node.Op, d, in[1].DType())
	case of == ofData:
		return c.binary("div", in[0], in[1])
	case d == garner.F32:
		return byReciprocal[float32](c, in[0], in[1])
	}
	return byReciprocal[float64](c, in[0], in[1])
}

// byReciprocal divides, and refuses a quotient that is not the product with the reciprocal.
func byReciprocal[T interface {
	real
	garner.Element
}](c *call, a, b garner.Tensor) (garner.Tensor, error) {
	shape, err := broadcastShape(a.Shape(), b.Shape())
	if err != nil {
		return garner.Tensor{}, err
	}
	var bad refusal
	made, err := elementwise(c.runner, a, b, shape, func(x, y T) T {
		z, inverse := x/y, 1/y
		if z == z && z != x*inverse { // a NaN is refused anyway
			bad.of("%v by %v, a constant: TensorFlow gives the quotient or the product with 1/%v", x, y, y)
		}
		return z
	})
	return c.unless(&bad, made, err)
}

// tensorflowWhere is Where. It takes no f16, and denormals for zeros.
func tensorflowWhere(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	if d := t.DType(); d.IsFloat() && d != garner.F32 && d != garner.F64 || t.Rank() > 8 {
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "Where of %s%s is not run, because TensorFlow does not run it on a CPU", d, t.Shape())
	}
	if !c.bare && t.DType().IsFloat() {
		if err := c.usual(t, false); err != nil {
			return garner.Tensor{}, err
		}
	}
	return positions(c)
}

// positions is Where of one input: the position of each element that is not 0, a row for each.
func positions(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	if t.Rank() == 0 {
		return garner.Tensor{}, mismatch("it looks for elements of a scalar, which has no positions")
	}
	found, err := nonZero(c)
	if err != nil || c.bare {
		return found, err
	}
	return found.Transpose(1, 0)
}

// isMade refuses a value that arithmetic makes, or that is such a value in another shape.
func (c *call) isMade(v *model.Value) error {
	const most = 64 // operators that change the shape alone
	for range most {
		if v = c.aliases.of(v); v == nil || v.Constant != nil || v.From == nil {
			return nil
		}
		if _, given := c.given[v]; given {
			return nil
		}
		effect, inputs := operators.EffectOf(v.From)
		if effect == operators.Computed {
			break
		}
		if effect == operators.Opaque || effect == operators.Cast || len(inputs) == 0 {
			return nil
		}
		v = inputs[0]
	}
	return garner.Errorf(garner.ErrDType, "%s of floats that are sums or products is not run, because TensorFlow's optimiser changes the order of both; give what the first makes", c.node.Op)
}

// ordinary evaluates an operator of two tensors. It refuses denormals among the operands and
// the elements of the result, and NaNs among these.
func ordinary(f evaluator) evaluator {
	return func(c *call) (garner.Tensor, error) {
		in, err := c.inputs(2)
		if err != nil {
			return garner.Tensor{}, err
		}
		if !in[0].DType().IsFloat() {
			return f(c)
		}
		c.mayRefuse()
		made, err := f(c)
		if err != nil || c.bare {
			return made, err
		}
		for i, t := range append(in, made) {
			if err := c.usual(t, i == len(in)); err != nil {
				return garner.Tensor{}, err
			}
		}
		return made, nil
	}
}

// usual refuses denormals among the elements of a tensor, and, where noNaN is set, NaNs.
func (c *call) usual(t garner.Tensor, noNaN bool) error {
	odd := ""
	switch t.DType() {
	case garner.F32:
		_, v, err := elements[float32](c.runner, t)
		if err != nil {
			return err
		}
		for _, x := range v {
			if x != 0 && math.Abs(float64(x)) < 0x1p-126 {
				odd = oddDenormal
			} else if x != x && noNaN {
				odd = "NaN, whose bits depend on the processor"
			}
		}
	case garner.F64:
		_, v, err := elements[float64](c.runner, t)
		if err != nil {
			return err
		}
		for _, x := range v {
			if x != 0 && math.Abs(x) < 0x1p-1022 {
				odd = oddDenormal
			} else if x != x && noNaN {
				odd = "NaN, whose bits depend on the processor"
			}
		}
	}
	if odd != "" {
		return oddError(c.node.Op, odd)
	}
	return nil
}

// oddDenormal says what is odd about a denormal number.
const oddDenormal = "a denormal number, which the runtime takes for 0"

func oddError(op, odd string) error {
	return garner.Errorf(garner.ErrDType, "%s has or makes %s; give an input that makes none", op, odd)
}

// tensorflowCast is Cast. Of floats, all but the exact widenings of f16 and bf16 are cast at
// once, because some are refused.
func tensorflowCast(c *call) (garner.Tensor, error) {
	name, _ := c.node.Attributes["DstT"].(string)
	to, err := garner.ParseDType(name)
	if err != nil {
		return garner.Tensor{}, err
	}
	if truncate, err := c.number("Truncate", 0); err != nil || truncate != 0 {
		return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "a cast with Truncate is not run; leave the attribute out")
	}
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	from := t.DType()
	if !from.IsFloat() || from == to || to == garner.F32 && from.Bits() == 16 {
		return c.castLater(to)
	}
	if err := castable(from, to); err != nil {
		return garner.Tensor{}, err
	}
	c.mayRefuse()
	made, err := c.cast(t, to)
	if err != nil || c.bare {
		return made, err
	}
	if err := c.usual(t, to.IsFloat()); err != nil {
		return garner.Tensor{}, err
	}
	if to.IsFloat() && to.Bits() == 16 { // whose denormals, too, some processors do not make
		least := 0x1p-126
		if to == garner.F16 {
			least = 0x1p-14
		}
		wide, err := c.cast(made, garner.F32)
		if err != nil {
			return garner.Tensor{}, err
		}
		_, v, err := elements[float32](c.runner, wide)
		if err != nil {
			return garner.Tensor{}, err
		}
		if slices.ContainsFunc(v, func(x float32) bool { return x != 0 && math.Abs(float64(x)) < least }) {
			return garner.Tensor{}, garner.Errorf(garner.ErrDType, "a cast that makes a denormal %s is not run; give an input that makes none", to)
		}
		return made, nil
	}
	return made, c.usual(made, to.IsFloat())
}

// axisInput reads an axis that is the i-th input, one integer, for a tensor of a rank.
func (c *call) axisInput(i, rank int) (int, error) {
	list, err := c.list("", i)
	if err != nil {
		return 0, err
	}
	if len(list) != 1 {
		return 0, mismatch("its axis has %d numbers; it must be one", len(list))
	}
	return axisOf(list[0], rank)
}

func expandDims(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	axis, err := c.axisInput(1, t.Rank()+1)
	if err != nil {
		return garner.Tensor{}, err
	}
	return c.runner.reshape(t, slices.Insert(slices.Clone(t.Shape()), axis, 1))
}

func squeezeDims(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	axes, err := c.list("squeeze_dims", math.MaxInt)
	if err != nil {
		return garner.Tensor{}, err
	}
	drop, err := axisSet(axes, t.Rank())
	if err != nil {
		return garner.Tensor{}, err
	}
	shape := garner.Shape{}
	for i, d := range t.Shape() {
		switch {
		case drop[i] && d != 1:
			return garner.Tensor{}, mismatch("axis %d of %s cannot be dropped: it is not 1", i, t.Shape())
		case drop[i] || len(axes) == 0 && d == 1:
		default:
			shape = append(shape, d)
		}
	}
	return c.runner.reshape(t, shape)
}

// transposeAny is Transpose, whose axes may count from the end.
func transposeAny(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	order, err := c.list("", 1)
	if err != nil {
		return garner.Tensor{}, err
	}
	if len(order) != t.Rank() {
		return garner.Tensor{}, mismatch("%v is no order of the dims of %s", order, t.Shape())
	}
	if _, err := axisSet(order, t.Rank()); err != nil {
		return garner.Tensor{}, err
	}
	perm := make([]int, len(order))
	for i, a := range order {
		if perm[i], err = axisOf(a, t.Rank()); err != nil {
			return garner.Tensor{}, err
		}
	}
	return t.Transpose(perm...)
}

// concatLast is ConcatV2, whose last input is the axis.
func concatLast(c *call) (garner.Tensor, error) {
	n := len(c.node.Inputs) - 1
	if n < 1 {
		_, err := c.input(1)
		return garner.Tensor{}, err
	}
	parts, err := c.inputs(n)
	if err != nil {
		return garner.Tensor{}, err
	}
	axis, err := c.axisInput(n, parts[0].Rank())
	if err != nil {
		return garner.Tensor{}, err
	}
	return c.join(parts, axis)
}

// sliceOfSize is Slice: elements from begin on, as many as size says; -1 is the rest.
func sliceOfSize(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	begin, err := c.list("", 1)
	if err != nil {
		return garner.Tensor{}, err
	}
	size, err := c.list("", 2)
	if err != nil {
		return garner.Tensor{}, err
	}
	if len(begin) != t.Rank() || len(size) != t.Rank() {
		return garner.Tensor{}, mismatch("it has %d begins and %d sizes; %s has %d dims", len(begin), len(size), t.Shape(), t.Rank())
	}
	for axis, from := range begin {
		d, n := int64(t.Shape()[axis]), size[axis]
		if n == -1 {
			n = d - from
		}
		if from < 0 || from > d || n < 0 || n > d-from {
			return garner.Tensor{}, mismatch("it takes %d elements from %d on of axis %d of %s", size[axis], from, axis, t.Shape())
		}
		if t, err = t.Slice(axis, int(from), int(from+n), 1); err != nil {
			return garner.Tensor{}, err
		}
	}
	return t, nil
}

// stridedSliceOfMasks is StridedSlice, whose masks are bits of integers. A slice with a
// negative step that starts before the axis is empty, as in Python.
func stridedSliceOfMasks(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	var lists [3][]int64
	for i := range lists {
		if lists[i], err = c.list("", 1+i); err != nil {
			return garner.Tensor{}, err
		}
	}
	begin, end, steps := lists[0], lists[1], lists[2]
	if len(end) != len(begin) || len(steps) != len(begin) {
		return garner.Tensor{}, mismatch("it has %d begins, %d ends and %d strides; there must be as many", len(begin), len(end), len(steps))
	}
	masks := make(map[string]int64)
	for _, name := range []string{"begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask"} {
		if masks[name], err = c.number(name, 0); err != nil {
			return garner.Tensor{}, err
		}
	}
	marked := func(mask string, i int) bool { return i < 63 && masks[mask]>>i&1 != 0 }
	taken, ellipses := 0, 0
	for i := range begin {
		switch {
		case marked("ellipsis_mask", i):
			ellipses++
		case !marked("new_axis_mask", i):
			taken++
		}
	}
	if taken > t.Rank() || ellipses > 1 {
		return garner.Tensor{}, mismatch("it slices %d axes with %d ellipses; %s has %d", taken, ellipses, t.Shape(), t.Rank())
	}
	axis := 0
	shape := garner.Shape{}
	keep := func(n int) {
		shape = append(shape, t.Shape()[axis:axis+n]...)
		axis += n
	}
	for i, step := range steps {
		if marked("ellipsis_mask", i) {
			keep(t.Rank() - taken)
			continue
		}
		if marked("new_axis_mask", i) {
			shape = append(shape, 1)
			continue
		}
		d := int64(t.Shape()[axis])
		if marked("shrink_axis_mask", i) {
			at, err := axisOf(begin[i], int(d))
			if err != nil || step <= 0 {
				return garner.Tensor{}, mismatch("it takes element %d of axis %d of %s, with a stride of %d", begin[i], axis, t.Shape(), step)
			}
			if t, err = t.Slice(axis, at, at+1, 1); err != nil {
				return garner.Tensor{}, err
			}
			axis++
			continue
		}
		from, to := begin[i], end[i]
		if marked("begin_mask", i) {
			if from = 0; step < 0 {
				from = math.MaxInt64
			}
		}
		if marked("end_mask", i) {
			if to = math.MaxInt64; step < 0 {
				to = math.MinInt64
			}
		}
		if step < 0 && from < -d {
			from, to, step = 0, 0, 1
		}
		if t, err = sliceAxis(t, axis, from, to, step); err != nil {
			return garner.Tensor{}, err
		}
		keep(1)
	}
	keep(t.Rank() - axis)
	return c.runner.reshape(t, shape)
}

// ofType casts an i64 tensor to the type that an attribute names, i32 without it.
func (c *call) ofType(t garner.Tensor) (garner.Tensor, error) {
	d := garner.I32
	if name, ok := c.node.Attributes["out_type"].(string); ok {
		var err error
		if d, err = garner.ParseDType(name); err != nil {
			return garner.Tensor{}, err
		}
	}
	t, list, err := elements[int64](c.runner, t)
	if err != nil {
		return garner.Tensor{}, err
	}
	if len(list) > 0 && d == garner.I32 && slices.Max(list) > math.MaxInt32 {
		return garner.Tensor{}, mismatch("it makes %d, which i32 does not hold", slices.Max(list))
	}
	return c.cast(t, d)
}

func shapeOfType(c *call) (garner.Tensor, error) {
	v, err := c.unjoinedInput()
	if err != nil {
		return garner.Tensor{}, err
	}
	dims := []int64{}
	for _, d := range v.tensor.Shape() {
		dims = append(dims, int64(d))
	}
	return c.ofType(garner.Of(dims, len(dims)))
}

func sizeOfType(c *call) (garner.Tensor, error) {
	v, err := c.unjoinedInput()
	if err != nil {
		return garner.Tensor{}, err
	}
	return c.ofType(garner.Of([]int64{int64(v.tensor.Len())}))
}

func rankOf(c *call) (garner.Tensor, error) {
	v, err := c.unjoinedInput()
	if err != nil {
		return garner.Tensor{}, err
	}
	return garner.Of([]int32{int32(v.tensor.Rank())}), nil
}

// ascendingRange is Range of integers. A limit on the wrong side of the start is refused, as
// by TensorFlow.
func ascendingRange(c *call) (garner.Tensor, error) {
	made, err := integerRange(c)
	if err != nil || made.Len() > 0 {
		return made, err
	}
	var ends [3]int64
	for i := range ends {
		t, err := c.input(i)
		if err != nil {
			return garner.Tensor{}, err
		}
		v, err := t.Int(0)
		if err != nil {
			return garner.Tensor{}, err
		}
		ends[i] = int64(v.Bits)
	}
	if ends[0] != ends[1] {
		return garner.Tensor{}, mismatch("it counts from %d to %d in steps of %d, which never ends", ends[0], ends[1], ends[2])
	}
	return made, nil
}

func tileAll(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	repeats, err := c.list("", 1)
	if err != nil {
		return garner.Tensor{}, err
	}
	if len(repeats) != t.Rank() {
		return garner.Tensor{}, mismatch("it has %d multiples for %s; there must be one for each dim", len(repeats), t.Shape())
	}
	return tile(c)
}

func fill(c *call) (garner.Tensor, error) {
	dims, err := c.list("", 0)
	if err != nil {
		return garner.Tensor{}, err
	}
	shape, err := shapeOfDims(dims)
	if err != nil {
		return garner.Tensor{}, err
	}
	t, err := c.input(1)
	if err != nil {
		return garner.Tensor{}, err
	}
	if t.Len() != 1 {
		return garner.Tensor{}, mismatch("its value is %s%s; it must be one element", t.DType(), t.Shape())
	}
	if t, err = t.Reshape(); err != nil {
		return garner.Tensor{}, err
	}
	return c.broadcast(t, shape)
}

func broadcastTo(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	dims, err := c.list("", 1)
	if err != nil {
		return garner.Tensor{}, err
	}
	shape, err := shapeOfDims(dims)
	if err != nil {
		return garner.Tensor{}, err
	}
	return c.broadcast(t, shape)
}

// like makes a tensor of one number, of the type and the shape of the input.
func like(n int64) evaluator {
	return func(c *call) (garner.Tensor, error) {
		v, err := c.unjoinedInput()
		if err != nil {
			return garner.Tensor{}, err
		}
		one, err := c.cast(garner.Of([]int64{n}), v.dtype())
		if err != nil {
			return garner.Tensor{}, err
		}
		return c.broadcast(one, v.tensor.Shape())
	}
}

// prodOfShape is Prod of a vector of integers along its axis; see reduceProd.
func prodOfShape(c *call) (garner.Tensor, error) {
	axes, err := c.list("", 1)
	if err != nil {
		return garner.Tensor{}, err
	}
	if len(axes) != 1 {
		return garner.Tensor{}, mismatch("Prod along %d axes is not run; it is along one, of a vector of integers", len(axes))
	}
	return reduceProd(c)
}

// selectRows is Select, which chooses elements by a condition of their shape, or all by one
// condition, or rows by a vector of conditions.
func selectRows(c *call) (garner.Tensor, error) {
	in, err := c.inputs(3)
	if err != nil {
		return garner.Tensor{}, err
	}
	shape := in[1].Shape()
	if !in[2].Shape().Equal(shape) {
		return garner.Tensor{}, mismatch("it chooses between %s and %s, which differ", shape, in[2].Shape())
	}
	condition := in[0].Shape()
	if len(condition) == 1 && len(shape) > 1 && condition[0] == shape[0] {
		wide := append(slices.Clone(condition), slices.Repeat(garner.Shape{1}, len(shape)-1)...)
		if in[0], err = c.runner.reshape(in[0], wide); err != nil {
			return garner.Tensor{}, err
		}
	} else if len(condition) > 0 && !condition.Equal(shape) {
		return garner.Tensor{}, mismatch("its condition is %s, and it chooses between %s", condition, shape)
	}
	return c.choose(in)
}
