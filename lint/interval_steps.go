package lint

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// An operation is one output of a node whose bounds are computed.
type operation struct {
	*linter
	node   *model.Node
	result *model.Value
	output int   // the number of the output
	err    error // of reading a constant
}

// A step says how an operator's results are bounded.
type step struct {
	operands []int // the inputs whose bounds it needs; nil means all
	bounds   func(c *operation) bounds
	more     func(n *model.Node) []*model.Value // further values whose bounds it needs
}

// reads lists the operands that a node has.
func (s step) reads(n *model.Node) []*model.Value {
	if s.operands == nil {
		return n.Inputs
	}
	var list []*model.Value
	for _, i := range s.operands {
		if i < len(n.Inputs) {
			list = append(list, n.Inputs[i])
		}
	}
	if s.more != nil {
		list = append(list, s.more(n)...)
	}
	return list
}

// stepOf finds the step of a node; false where its results may be anything.
func stepOf(n *model.Node) (step, bool) {
	if n.IsGather() {
		return step{operands: []int{0, 1}, bounds: gathered}, true
	}
	if n.Domain != "" || len(n.Graphs) > 0 {
		return step{}, false
	}
	switch effect, _ := operators.EffectOf(n); effect {
	case operators.Reshaped:
		return step{operands: first, bounds: reshaped}, true
	case operators.Cast:
		return step{operands: first, bounds: castTo}, true
	case operators.Permuted:
		return step{operands: first, bounds: transposed}, true
	}
	s, ok := steps[n.Op]
	return s, ok
}

// input gives the bounds of the i-th input; false where the node lacks it.
func (c *operation) input(i int) (bounds, bool) {
	if i < len(c.node.Inputs) && c.node.Inputs[i] != nil {
		return c.of(c.node.Inputs[i]), true
	}
	return anything(c.result), false
}

// spec gives what is known of the i-th input's shape.
func (c *operation) spec(i int) garner.Spec { return input(c.node, i).Spec }

// number gives an integer attribute.
func (c *operation) number(name string, without int64) int64 {
	switch v := c.node.Attributes[name].(type) {
	case int64:
		return v
	case string: // of OpenVINO's IR, whose reader leaves most of them text
		if n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64); err == nil {
			return n
		}
	}
	return without
}

// list gives integers that are an attribute or a constant input; false where they
// are neither, or are more than tensors have dims.
func (c *operation) list(name string, i int) ([]int64, bool) {
	if list, ok := c.node.Attributes[name].([]int64); ok {
		return list, true
	}
	from := c.constant(input(c.node, i))
	if from == nil || !from.Spec.DType.IsInteger() {
		return nil, false
	}
	if size, ok := from.Bytes(); !ok || size > 8*garner.MaxRank {
		return nil, false
	}
	var list []int64
	err := c.pieces(from, func(t garner.Tensor, _ int64) (bool, error) {
		return true, integers(t, func(_ int, v garner.Index) bool {
			list = append(list, int64(v.Bits))
			return true
		})
	})
	if err != nil {
		if c.ctx.Err() != nil || errors.Is(err, garner.ErrFault) {
			c.err = err
		}
		return nil, false
	}
	return list, true
}

// dim gives an extent of the i-th input by its axis, which may count from the end;
// AnyDim where it is unknown.
func (c *operation) dim(i int, axis int64) garner.Dim {
	s := c.spec(i)
	if axis < 0 {
		axis += int64(s.Rank.Min)
	}
	if !s.Rank.Known() || axis < 0 || axis >= int64(len(s.Dims)) {
		return garner.AnyDim
	}
	return s.Dims[axis]
}

// count gives the number of elements along some axes of the first input; along all
// where the axes are unknown.
func (c *operation) count(axes []int64, known bool) garner.Dim {
	s := c.spec(0)
	if !s.Rank.Known() {
		return garner.AnyDim
	}
	if !known || len(axes) == 0 {
		axes = nil
		for i := range s.Dims {
			axes = append(axes, int64(i))
		}
	}
	n := garner.Exactly(1)
	for _, a := range axes {
		d := c.dim(0, a)
		if d.Max == garner.Unbounded || n.Max > 0 && d.Max > math.MaxInt32/n.Max {
			return garner.AnyDim
		}
		n = garner.Dim{Min: n.Min * d.Min, Max: n.Max * d.Max}
	}
	return n
}

// steps are the operators whose results are bounded, by their names in ONNX and in
// OpenVINO, but those that package operators knows: they change only the shape, the
// type or the order.
var steps map[string]step

func init() {
	unit := func(low, high float64) step {
		return step{operands: []int{}, bounds: func(c *operation) bounds { return c.ranged(span(low, high)) }}
	}
	truth := step{operands: []int{}, bounds: func(c *operation) bounds {
		return bounds{interval: span(0, 1), dtype: garner.Bool, rank: -1}
	}}
	steps = map[string]step{
		"Slice": {operands: first, bounds: sliced}, "StridedSlice": {operands: first, bounds: stridedSlice},
		"Split": {operands: first, bounds: split}, "VariadicSplit": {operands: first, bounds: split}, "Compress": {operands: first, bounds: elementsOf}, "Tile": {operands: first, bounds: elementsOf},
		"Reverse": {operands: first, bounds: elementsOf}, "ReverseSequence": {operands: first, bounds: elementsOf}, "DepthToSpace": {operands: first, bounds: elementsOf}, "SpaceToDepth": {operands: first, bounds: elementsOf},
		"Roll": {operands: first, bounds: elementsOf}, "Expand": {operands: first, bounds: expanded}, "Broadcast": {operands: first, bounds: expanded},
		"ReduceMax": {operands: first, bounds: elementsOf}, "ReduceMin": {operands: first, bounds: elementsOf}, "ReduceMean": {operands: first, bounds: mean},
		"Concat": {operands: nil, bounds: concatenated}, "Where": {[]int{1, 2}, chosen, compared}, "Select": {[]int{1, 2}, chosen, compared},
		"ScatterElements": {operands: []int{0, 2}, bounds: scattered}, "ScatterND": {operands: []int{0, 2}, bounds: scattered}, "Scatter": {operands: []int{0, 2}, bounds: scattered},
		"ScatterUpdate": {operands: []int{0, 2}, bounds: scattered}, "ScatterElementsUpdate": {operands: []int{0, 2}, bounds: scattered}, "ScatterNDUpdate": {operands: []int{0, 2}, bounds: scattered},
		"Pad": {operands: nil, bounds: padded}, "Trilu": {operands: first, bounds: orZero}, "OneHot": {operands: nil, bounds: oneHot},

		"Add": {operands: nil, bounds: folded(sum)}, "Sub": {operands: nil, bounds: folded(difference)}, "Subtract": {operands: nil, bounds: folded(difference)},
		"Mul": {operands: nil, bounds: folded(product)}, "Multiply": {operands: nil, bounds: folded(product)}, "Sum": {operands: nil, bounds: folded(sum)},
		"Div": {operands: nil, bounds: folded(truncatedQuotient)}, "Divide": {operands: nil, bounds: divided},
		"Mod": {operands: nil, bounds: modulo}, "FloorMod": {operands: nil, bounds: folded(remainder)},
		"Min": {operands: nil, bounds: folded(ofAnyType(least))}, "Minimum": {operands: nil, bounds: folded(ofAnyType(least))},
		"Max": {operands: nil, bounds: folded(ofAnyType(most))}, "Maximum": {operands: nil, bounds: folded(ofAnyType(most))},
		"Clip": {operands: nil, bounds: clipped}, "Clamp": {operands: nil, bounds: clipped},
		"Neg": {operands: first, bounds: unary(negative)}, "Negative": {operands: first, bounds: unary(negative)}, "Abs": {operands: first, bounds: unary(absolute)},
		"Relu":  {operands: first, bounds: unary(func(_ garner.DType, x interval) interval { return most(x, number(0)) })},
		"Floor": {operands: first, bounds: unary(rounded(math.Floor))}, "Ceil": {operands: first, bounds: unary(rounded(math.Ceil))}, "Ceiling": {operands: first, bounds: unary(rounded(math.Ceil))},
		"Round":      {operands: first, bounds: unary(rounded(math.RoundToEven))},
		"BitwiseAnd": {operands: nil, bounds: folded(bitwise(true))}, "BitwiseOr": {operands: nil, bounds: folded(bitwise(false))}, "BitwiseXor": {operands: nil, bounds: folded(bitwise(false))},
		"Sign": unit(-1, 1), "Tanh": unit(-1, 1), "Sin": unit(-1, 1), "Cos": unit(-1, 1), "Erf": unit(-1, 1),
		"Sigmoid": unit(0, 1), "HardSigmoid": unit(0, 1), "Softmax": unit(0, 1), "SoftMax": unit(0, 1), "Hardmax": unit(0, 1),
		"ReduceSum": {operands: first, bounds: summed}, "CumSum": {operands: first, bounds: cumulated}, "ReduceProd": {operands: first, bounds: multiplied},

		"Equal": truth, "NotEqual": truth, "Less": truth, "LessOrEqual": truth, "LessEqual": truth, "Greater": truth, "GreaterOrEqual": truth, "GreaterEqual": truth,
		"And": truth, "Or": truth, "Xor": truth, "Not": truth, "LogicalAnd": truth, "LogicalOr": truth, "LogicalXor": truth, "LogicalNot": truth, "IsNaN": truth, "IsInf": truth,

		"Shape": {operands: []int{}, bounds: shapeOf}, "ShapeOf": {operands: []int{}, bounds: shapeOf}, "Size": {operands: []int{}, bounds: sizeOf},
		"ArgMax": {operands: []int{}, bounds: argument}, "ArgMin": {operands: []int{}, bounds: argument}, "TopK": {operands: first, bounds: topK},
		"NonZero": {operands: first, bounds: nonZero}, "NonMaxSuppression": {operands: []int{}, bounds: boxes}, "Bucketize": {operands: []int{}, bounds: bucketized},
		"Range": {operands: nil, bounds: counting}, "ConstantOfShape": {operands: []int{}, bounds: constantOfShape},
	}
}

var first = []int{0}

// ranged is the bounds of values in an interval, of the type that the model gives.
func (c *operation) ranged(i interval) bounds {
	return bounds{interval: i, dtype: c.result.Spec.DType, rank: -1}
}

// elementsOf is the bounds of some elements of the first input, in any order.
func elementsOf(c *operation) bounds {
	b, _ := c.input(0)
	b.exact = false
	return b.flat()
}

// reshaped keeps the positions along the last axis where its extent stays.
func reshaped(c *operation) bounds {
	b, _ := c.input(0)
	if c.node.Op == "Identity" {
		return b
	}
	dims := c.result.Spec.Dims
	axes, known := c.list("axes", 1)
	if c.node.Op == "Unsqueeze" && slices.Equal(axes, []int64{-1}) || len(dims) > 0 && dims[len(dims)-1] == garner.Exactly(1) {
		b.last = []interval{b.interval} // there is one position
	} else if !b.one && (len(dims) == 0 || len(b.last) == 0 || dims[len(dims)-1] != garner.Exactly(len(b.last))) {
		return b.flat()
	}
	rank := -1
	if known && b.rank >= 0 {
		switch c.node.Op {
		case "Unsqueeze":
			rank = b.rank + len(axes)
		case "Squeeze":
			rank = b.rank - len(axes)
		}
	}
	b.rank = rank
	return b
}

func castTo(c *operation) bounds {
	b, _ := c.input(0)
	to := c.result.Spec.DType
	switch v := c.node.Attributes["to"].(type) {
	case int64:
		to = operators.ONNXType(v)
	case string:
		to, _ = garner.ParseDType(v)
	}
	if name, ok := c.node.Attributes["destination_type"].(string); ok {
		to, _ = garner.ParseDType(name)
	}
	if to == garner.Invalid && strings.HasSuffix(c.node.Op, "Like") {
		to = c.spec(1).DType
	}
	if !to.Valid() || !to.IsInteger() && !to.IsFloat() && to != garner.Bool {
		return anything(c.result)
	}
	return b.each(to, func(i interval) interval { return cast(to, i) })
}

// transposed keeps what is known of the components of NonZero's positions, which
// stand along its first axis.
func transposed(c *operation) bounds {
	b, _ := c.input(0)
	rank := b.rank
	b = b.flat()
	b.rank = rank
	order, given := c.list("perm", 1)
	if turned := !given && len(c.node.Inputs) == 1 && c.node.Attributes["perm"] == nil || slices.Equal(order, []int64{1, 0}); !turned {
		return b
	}
	if from := input(c.node, 0).From; from != nil && from.Op == "NonZero" && from.Domain == "" {
		for _, d := range input(from, 0).Spec.Dims {
			b.last = append(b.last, upTo(d, -1, position))
		}
	}
	return b
}

// onLast reports whether an axis is the last of so many; a rank of -1 is unknown.
func onLast(axis int64, rank int) bool { return axis == -1 || rank > 0 && axis == int64(rank)-1 }

// sliced selects positions along the last axis where its starts and ends are
// constants.
func sliced(c *operation) bounds {
	b, _ := c.input(0)
	axesAt, stepsAt := 3, 4
	if c.format != "ONNX" {
		axesAt, stepsAt = 4, 3
	}
	starts, ok := c.list("starts", 1)
	ends, also := c.list("ends", 2)
	axes, named := c.list("axes", axesAt)
	if !ok || !also || len(starts) != 1 || len(ends) != 1 || b.rank != 1 && !(named && len(axes) == 1 && onLast(axes[0], b.rank)) {
		return elementsOf(c)
	}
	if by, known := c.list("steps", stepsAt); len(c.node.Inputs) > stepsAt && (!known || !slices.Equal(by, []int64{1})) {
		return elementsOf(c)
	}
	return b.along(b.part(starts[0], ends[0]))
}

// along gives some positions of b the rank of b.
func (b bounds) along(some bounds) bounds {
	some.rank, some.one = b.rank, some.one && b.rank == 1
	return some
}

// split selects the positions along the last axis that one of its outputs has.
func split(c *operation) bounds {
	b, _ := c.input(0)
	axis := c.number("axis", 0)
	sizes, ok := c.list("split", 1)
	given := len(c.node.Inputs) > 1
	if c.format != "ONNX" {
		list, known := c.list("axis", 1)
		if !known || len(list) != 1 {
			return elementsOf(c)
		}
		axis = list[0]
		sizes, ok = c.list("split_lengths", 2)
		given = len(c.node.Inputs) > 2
	}
	if outputs := len(c.node.Outputs); !ok && !given && outputs > 0 && len(b.last)%outputs == 0 {
		sizes, ok = slices.Repeat([]int64{int64(len(b.last) / outputs)}, outputs), true
	}
	if !ok || !onLast(axis, b.rank) || c.output < 0 || c.output >= len(sizes) {
		return elementsOf(c)
	}
	from := int64(0)
	for _, n := range sizes[:c.output+1] {
		if n < 0 || n > mostPositions { // -1 is the rest
			return elementsOf(c)
		}
		from += n
	}
	n := sizes[c.output]
	return b.along(b.part(from-n, from))
}

// part is the bounds of a slice of a vector.
func (b bounds) part(from, to int64) bounds {
	n := int64(len(b.last))
	if n == 0 {
		b.exact = false
		return b.flat()
	}
	if from < 0 {
		from += n
	}
	if to < 0 {
		to += n
	}
	from, to = min(max(from, 0), n), min(max(to, 0), n)
	if from >= to {
		b.exact = false
		return b.flat()
	}
	return b.positions(b.last[from:to])
}

// positions is the bounds of a vector of some of the positions of b.
func (b bounds) positions(list []interval) bounds {
	made := bounds{interval: list[0], last: list, dtype: b.dtype, rank: 1, one: len(list) == 1, from: b.from}
	for _, i := range list[1:] {
		made.interval = union(made.interval, i)
	}
	return made.settled()
}

func stridedSlice(c *operation) bounds {
	b, _ := c.input(0)
	begin, ok := c.list("begin", 1)
	end, also := c.list("end", 2)
	if !ok || !also || len(begin) != 1 || len(end) != 1 || b.rank != 1 {
		return elementsOf(c)
	}
	if by, known := c.list("strides", 3); len(c.node.Inputs) > 3 && (!known || !slices.Equal(by, []int64{1})) {
		return elementsOf(c)
	}
	marked := func(name string) bool {
		mask, _ := c.node.Attributes[name].([]int64)
		return len(mask) > 0 && mask[0] != 0
	}
	from, to := begin[0], end[0]
	switch {
	case marked("new_axis_mask"), marked("ellipsis_mask"):
		return b.flat()
	case marked("shrink_axis_mask"):
		if to = from + 1; to == 0 {
			to = math.MaxInt64
		}
	default:
		if marked("begin_mask") {
			from = 0
		}
		if marked("end_mask") {
			to = math.MaxInt64
		}
	}
	made := b.part(from, to)
	if marked("shrink_axis_mask") {
		made.rank = 0
	}
	return made
}

// expanded repeats elements.
func expanded(c *operation) bounds {
	b, _ := c.input(0)
	dims := c.result.Spec.Dims
	if len(dims) == 0 || len(b.last) == 0 || dims[len(dims)-1] != garner.Exactly(len(b.last)) {
		b = b.flat()
	}
	b.rank, b.one, b.exact = -1, false, false
	return b
}

func mean(c *operation) bounds {
	b := elementsOf(c)
	return b.each(b.dtype, func(i interval) interval { return fit(b.dtype, i) })
}

func concatenated(c *operation) bounds {
	var list []bounds
	for i := range c.node.Inputs {
		if b, ok := c.input(i); ok {
			list = append(list, b)
		}
	}
	if len(list) == 0 {
		return anything(c.result)
	}
	made := join(list)
	axis, rank := c.number("axis", 1), rankOf(c.result.Spec)
	for _, b := range list {
		rank = max(rank, b.rank)
	}
	made.rank = rank
	if axis != -1 && (rank < 0 || axis != int64(rank)-1) {
		if rank < 0 {
			made.last = nil // the axis may be the last
		}
		return made
	}
	made.last = nil
	for _, b := range list {
		if len(b.last) == 0 || len(made.last)+len(b.last) > mostPositions {
			made.last = nil
			break
		}
		made.last = append(made.last, b.last...)
	}
	return made
}

// compared lists what a condition x < k compares, and what is added to x.
func compared(n *model.Node) []*model.Value {
	list := slices.Clone(operandsOf(input(n, 0), "Less", "GreaterOrEqual", "GreaterEqual"))
	for _, i := range []int{1, 2} {
		list = append(list, operandsOf(input(n, i), "Add")...)
	}
	return list
}

// operandsOf gives the two operands of the node that makes a value, if its operator
// is one of some.
func operandsOf(v *model.Value, ops ...string) []*model.Value {
	n := v.From
	if n == nil || n.Domain != "" || !slices.Contains(ops, n.Op) || len(n.Inputs) != 2 || n.Inputs[0] == nil || n.Inputs[1] == nil {
		return nil
	}
	return n.Inputs
}

// chosen is the bounds of Where, whose condition broadcasts with the two values. It
// understands how exporters count negative indices from the end: x < 0 ? x + n : x.
func chosen(c *operation) bounds {
	a, _ := c.input(1)
	b, _ := c.input(2)
	if in := operandsOf(input(c.node, 0), "Less", "GreaterOrEqual", "GreaterEqual"); in != nil && c.of(in[0]).dtype.IsInteger() {
		if x, k := c.of(in[0]), c.of(in[1]); k.point() && k.why() == fixed {
			under, above := x, x
			under.interval = least(x.interval, number(k.low.at-1))
			above.interval = most(x.interval, number(k.low.at))
			if input(c.node, 0).From.Op != "Less" {
				under, above = above, under
			}
			a, b = c.where(input(c.node, 1), in[0], under, a), c.where(input(c.node, 2), in[0], above, b)
			// A value that no element can choose adds nothing.
			switch less := input(c.node, 0).From.Op == "Less"; {
			case x.low.at >= k.low.at && less, x.high.at < k.low.at && !less:
				a.interval, a.last = b.interval, b.last
			case x.low.at >= k.low.at && !less, x.high.at < k.low.at && less:
				b.interval, b.last = a.interval, a.last
			}
		}
	}
	made := both(typeOf(a, b), a, b, func(x, y interval) interval {
		i := union(x, y)
		i.exact = false // the condition may choose one, or have no element
		return i
	})
	condition := c.spec(0)
	if len(made.last) == 1 && condition.Rank != garner.Exactly(0) {
		made.last, made.one = nil, false
	}
	if rank := rankOf(condition); rank < 0 || made.rank < rank {
		made.rank = -1
	}
	return made
}

// where gives the bounds of a value where x is within narrower ones: of x itself, and
// of a sum with x. Those of any other are as they were.
func (c *operation) where(v, x *model.Value, within, otherwise bounds) bounds {
	in := operandsOf(v, "Add")
	switch {
	case v == x:
		otherwise.interval, otherwise.last = within.interval, nil
	case in != nil && in[0] == x:
		otherwise.interval, otherwise.last = sum(within.dtype, within.interval, c.of(in[1]).interval), nil
	case in != nil && in[1] == x:
		otherwise.interval, otherwise.last = sum(within.dtype, within.interval, c.of(in[0]).interval), nil
	}
	return otherwise.settled()
}

// scattered is the bounds of the first input with elements of the third in places.
func scattered(c *operation) bounds {
	if how, ok := c.node.Attributes["reduction"].(string); ok && how != "none" {
		return anything(c.result)
	}
	a, _ := c.input(0)
	b, _ := c.input(2)
	made := join([]bounds{a.flat(), b.flat()})
	made.exact = false
	return made
}

func padded(c *operation) bounds {
	b, _ := c.input(0)
	how := "constant"
	for _, name := range []string{"mode", "pad_mode"} {
		if v, ok := c.node.Attributes[name].(string); ok {
			how = v
		}
	}
	b = b.flat()
	b.exact = false
	if how != "constant" {
		return b
	}
	with := bounds{interval: number(0), dtype: b.dtype}
	at := 2
	if c.format != "ONNX" {
		at = 3
	}
	if v, ok := c.input(at); ok {
		with = v
	} else if v, ok := c.node.Attributes["value"].(float64); ok {
		with.interval = number(v)
	}
	return join([]bounds{b, with.flat()}).flat()
}

func orZero(c *operation) bounds {
	b := elementsOf(c)
	b.interval = union(b.interval, span(0, 0))
	b.last = nil
	return b
}

// oneHot is the bounds of the two values that OneHot writes.
func oneHot(c *operation) bounds {
	at := []int{2}
	if c.format != "ONNX" {
		at = []int{2, 3}
	}
	var list []bounds
	for _, i := range at {
		b, ok := c.input(i)
		if !ok {
			return anything(c.result)
		}
		list = append(list, b.flat())
	}
	made := join(list)
	made.exact, made.last = false, nil
	return made
}

// unary makes the bounds of a function of one operand.
func unary(f func(d garner.DType, x interval) interval) func(c *operation) bounds {
	return func(c *operation) bounds {
		b, _ := c.input(0)
		return b.each(b.dtype, func(i interval) interval { return f(b.dtype, i) })
	}
}

// folded makes the bounds of a function of all operands, from left to right.
func folded(f func(d garner.DType, x, y interval) interval) func(c *operation) bounds {
	return func(c *operation) bounds {
		made, ok := c.input(0)
		for i := 1; ok && i < len(c.node.Inputs); i++ {
			var b bounds
			if b, ok = c.input(i); ok {
				d := typeOf(made, b)
				made = both(d, made, b, func(x, y interval) interval { return f(d, x, y) })
			}
		}
		if !ok {
			return anything(c.result)
		}
		return made
	}
}

func ofAnyType(f func(x, y interval) interval) func(d garner.DType, x, y interval) interval {
	return func(_ garner.DType, x, y interval) interval { return f(x, y) }
}

func negative(d garner.DType, x interval) interval {
	return fit(d, interval{end{-x.high.at, x.high.why}, end{-x.low.at, x.low.why}, x.exact})
}

func rounded(f func(float64) float64) func(d garner.DType, x interval) interval {
	return func(_ garner.DType, x interval) interval {
		x.low.at, x.high.at = f(x.low.at), f(x.high.at)
		return x
	}
}

func bitwise(and bool) func(d garner.DType, x, y interval) interval {
	return func(d garner.DType, x, y interval) interval { return bits(d, x, y, and) }
}

func truncatedQuotient(d garner.DType, x, y interval) interval { return quotient(d, x, y, math.Trunc) }

// divided is OpenVINO's Divide, which rounds down unless the model says otherwise;
// its CPU plugin truncates always.
func divided(c *operation) bounds {
	return folded(func(d garner.DType, x, y interval) interval {
		i := union(quotient(d, x, y, math.Floor), quotient(d, x, y, math.Trunc))
		i.exact = i.exact && i.point()
		return i
	})(c)
}

// modulo is Mod: of ONNX with the sign of the divisor unless fmod is set, of
// OpenVINO with that of the dividend.
func modulo(c *operation) bounds {
	if c.format != "ONNX" || c.number("fmod", 0) != 0 {
		return folded(truncatedRemainder)(c)
	}
	return folded(remainder)(c)
}

// clipped is Clip with its bounds as inputs or attributes, and Clamp.
func clipped(c *operation) bounds {
	made, _ := c.input(0)
	for i, f := range []func(x, y interval) interval{most, least} {
		name := []string{"min", "max"}[i]
		by, ok := c.input(1 + i)
		if !ok {
			var v float64
			switch a := c.node.Attributes[name].(type) {
			case float64:
				v = a
			case int64:
				v = float64(a)
			case string: // of OpenVINO, which rounds towards the inside
				n, err := strconv.ParseFloat(strings.TrimSpace(a), 64)
				if v = n; err != nil {
					continue
				}
			default:
				continue
			}
			if made.dtype.IsInteger() {
				v = []func(float64) float64{math.Ceil, math.Floor}[i](v)
			}
			by = bounds{interval: number(v), last: []interval{number(v)}, dtype: made.dtype}
		}
		if len(by.last) > 1 {
			by = by.flat()
		}
		made = both(typeOf(made, by), made, by, f)
	}
	return made
}

// summed is ReduceSum.
func summed(c *operation) bounds {
	b, _ := c.input(0)
	n := c.count(c.list("axes", 1))
	made := b.flat().each(b.dtype, func(i interval) interval { return total(b.dtype, i, n) })
	made.last = nil
	return made
}

func cumulated(c *operation) bounds {
	b, _ := c.input(0)
	n := garner.AnyDim
	if axis, ok := c.list("axis", 1); ok && len(axis) == 1 {
		n = c.dim(0, axis[0])
	}
	made := b.flat().each(b.dtype, func(i interval) interval { return total(b.dtype, i, n) })
	made.last = nil
	return made
}

// multiplied is ReduceProd. It multiplies the positions of a vector, such as a shape.
func multiplied(c *operation) bounds {
	b, _ := c.input(0)
	if b.rank == 1 && len(b.last) > 0 && c.number("noop_with_empty_axes", 0) == 0 {
		made := number(1)
		for _, i := range b.last {
			made = product(b.dtype, made, i)
		}
		made.exact = made.exact && made.point()
		return bounds{interval: made, last: []interval{made}, dtype: b.dtype, rank: -1, one: true, from: b.from}.settled()
	}
	made := bounds{interval: whole(b.dtype, max(b.why(), counted)), dtype: b.dtype, rank: -1, from: b.from}
	return made.settled()
}

// shapeOf is the bounds of the dims of a shape.
func shapeOf(c *operation) bounds {
	s := c.spec(0)
	made := bounds{interval: interval{low: end{0, fixed}, high: end{longest, counted}}, dtype: garner.I64, rank: 1}
	if name, ok := c.node.Attributes["output_type"].(string); ok {
		made.dtype, _ = garner.ParseDType(name)
	}
	if s.Rank.Known() && len(s.Dims) > 0 {
		dims := s.Dims
		n := int64(len(dims))
		from, to := c.number("start", 0), c.number("end", n)
		if from < 0 {
			from += n
		}
		if to < 0 {
			to += n
		}
		from, to = min(max(from, 0), n), min(max(to, 0), n)
		if dims = dims[from:max(from, to)]; len(dims) == 0 {
			return bounds{interval: span(0, 0), dtype: made.dtype, rank: 1}
		}
		list := make([]interval, len(dims))
		for i, d := range dims {
			list[i] = lengthOf(d, counted)
		}
		made = made.positions(list)
	}
	return made.each(made.dtype, func(i interval) interval { return cast(made.dtype, i) })
}

func sizeOf(c *operation) bounds {
	n := lengthOf(c.count(nil, false), counted)
	return bounds{interval: n, last: []interval{n}, dtype: garner.I64, rank: 0, one: true}
}

// argument is the bounds of positions along an axis.
func argument(c *operation) bounds {
	return bounds{interval: upTo(c.dim(0, c.number("axis", 0)), -1, position), dtype: garner.I64, rank: -1}
}

// topK has values, and their positions.
func topK(c *operation) bounds {
	if c.output == 0 {
		return elementsOf(c)
	}
	made := c.ranged(upTo(c.dim(0, c.number("axis", -1)), -1, position))
	if c.format == "ONNX" {
		made.dtype = garner.I64
	}
	return made
}

// nonZero is the bounds of positions; transposed knows more of them. Where no element
// is 0, the positions are counted up to the length.
func nonZero(c *operation) bounds {
	why := position
	if b, ok := c.input(0); ok && (b.low.at > 0 || b.high.at < 0) {
		why = counted
	}
	s := c.spec(0)
	made := bounds{interval: interval{low: end{0, fixed}, high: end{longest, why}}, dtype: c.result.Spec.DType, rank: 2}
	if s.Rank.Known() {
		made.high = end{0, fixed}
		for _, d := range s.Dims {
			made.interval = union(made.interval, upTo(d, -1, why))
		}
	}
	if c.format == "ONNX" {
		made.dtype = garner.I64
	}
	return made
}

// boxes is NonMaxSuppression: its first result has batch, class and box; OpenVINO
// fills the rest of it with -1.
func boxes(c *operation) bounds {
	if c.output != 0 {
		return anything(c.result)
	}
	made := c.ranged(span(0, 0))
	for i, d := range []garner.Dim{c.dim(0, 0), c.dim(1, 1), c.dim(0, 1)} {
		one := upTo(d, -1, position)
		if c.format != "ONNX" {
			one.low.at = -1
		}
		if made.last = append(made.last, one); i == 0 {
			made.interval = one
		} else {
			made.interval = union(made.interval, one)
		}
	}
	return made
}

func bucketized(c *operation) bounds {
	return c.ranged(upTo(c.dim(1, 0), 0, position))
}

// counting is Range.
func counting(c *operation) bounds {
	var in [3]bounds
	for i := range in {
		var ok bool
		if in[i], ok = c.input(i); !ok {
			return anything(c.result)
		}
	}
	d := typeOf(in[:]...)
	start, stop, by := in[0].interval, in[1].interval, in[2].interval
	under := 1.0 // the last integer is one below stop, or further
	if !d.IsInteger() {
		under = 0
	}
	made := bounds{dtype: d, rank: 1, from: source(in[:]...)}
	up := interval{start.low, end{max(stop.high.at-under, start.low.at), stop.high.why}, false}
	down := interval{end{min(stop.low.at+under, start.high.at), stop.low.why}, start.high, false}
	settled := d.IsInteger()
	for _, i := range [...]interval{start, stop, by} {
		settled = settled && i.exact && i.point() && math.Abs(i.low.at) < math.MaxInt32
	}
	switch {
	case by.low.at > 0:
		made.interval = up
		if n := math.Ceil((stop.low.at - start.low.at) / by.low.at); settled && n > 0 {
			made.high, made.exact = end{start.low.at + (n-1)*by.low.at, fixed}, true
		}
	case by.high.at < 0:
		made.interval = down
		if n := math.Ceil((stop.low.at - start.low.at) / by.low.at); settled && n > 0 {
			made.low, made.exact = end{start.low.at + (n-1)*by.low.at, fixed}, true
		}
	default:
		made.interval = union(up, down)
	}
	made.interval = fit(d, made.interval)
	if to, ok := c.node.Attributes["output_type"].(string); ok {
		if made.dtype, _ = garner.ParseDType(to); !made.dtype.Valid() {
			return anything(c.result)
		}
		made.interval = cast(made.dtype, made.interval)
	}
	return made.settled()
}

func constantOfShape(c *operation) bounds {
	value, ok := c.node.Attributes["value"].(*model.Constant)
	if !ok {
		return bounds{interval: number(0), dtype: garner.F32, rank: -1}
	}
	b, err := c.constantBounds(&model.Value{Spec: value.Spec, Constant: value})
	if err != nil {
		c.err = err
	}
	b.last, b.rank, b.exact = nil, -1, false
	return b
}

// gathered is the bounds of the elements that a gather reads. Constant indices
// select positions of a vector, such as a shape.
func gathered(c *operation) bounds {
	b, _ := c.input(0)
	at, _ := c.input(1)
	if made, ok := b.selected(at, c); ok {
		return made
	}
	b.exact = false
	if b = b.flat(); zeroesOutside(c.node.Operator) {
		b = b.each(b.dtype, func(i interval) interval { return union(i, span(0, 0)) })
	}
	return b
}

// selected is the bounds of the positions of b that a gather reads at constant
// indices; false where there are none such.
func (b bounds) selected(at bounds, c *operation) (bounds, bool) {
	var list []interval
	if b.rank == 1 && len(b.last) > 0 && c.gathersAlong() {
		for _, i := range at.last {
			n := i.low.at
			if n < 0 && countsFromEnd(c.node.Operator) {
				n += float64(len(b.last))
			}
			if !i.exact || !i.point() || n < 0 || n >= float64(len(b.last)) {
				list = nil
				break
			}
			list = append(list, b.last[int(n)])
		}
	}
	if len(list) == 0 {
		return b.column(at, c)
	}
	made := b.positions(list)
	made.rank, made.one = at.rank, at.one
	return made, true
}

// column is the bounds of one position of b along its last axis.
func (b bounds) column(at bounds, c *operation) (bounds, bool) {
	axis := c.number("axis", 0)
	if list, ok := c.list("axis", 2); ok && len(list) == 1 {
		axis = list[0]
	}
	if b.rank == 1 || len(b.last) == 0 || !at.one || !at.exact || !onLast(axis, b.rank) || !c.gathersAlong() || c.number("batch_dims", 0) != 0 {
		return b, false
	}
	n := at.low.at
	if n < 0 && countsFromEnd(c.node.Operator) {
		n += float64(len(b.last))
	}
	if !at.point() || n < 0 || n >= float64(len(b.last)) {
		return b, false
	}
	b.interval = b.last[int(n)]
	return b.flat().settled(), true
}

// gathersAlong reports whether a gather takes slices along an axis.
func (c *operation) gathersAlong() bool {
	o, err := operators.Find(c.node.Operator, 0)
	return err == nil && o.Kind == operators.Gather
}
