package convert

import (
	"math"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// What TensorFlow's CPU kernels make of the indices of every gather, and GatherNd with the
// policy IGNORE.
var (
	tensorflowGather = policy{outside: refused}
	tensorflowIgnore = policy{outside: zeros}
)

// tensorflowSource is TensorFlow as its CPU kernels run it, without XLA. A variable that is
// read is a constant by now.
var tensorflowSource = &origin{
	runtime: tensorFlow,
	unread:  func(n *model.Node) bool { return n.Awaited }, // others are pruned, and these by the optimiser alone
	folds:   ofShape("Shape", "Size", "Rank"),              // in functions, as those of a SavedModel
	nodes: map[string]func(c *call){
		"Identity": same, "ReadVariableOp": same, "StopGradient": same, "PreventGradient": same, "Snapshot": same,
		"Cast":          tensorflowCast,
		"Reshape":       func(c *call) { c.set(c.reshape(c.in(0), c.in(1), false)) },
		"ExpandDims":    expandDims,
		"Squeeze":       squeezeDims,
		"Transpose":     transposeAny,
		"ConcatV2":      concatLast,
		"Pack":          packOf,
		"Unpack":        unpackOf,
		"Slice":         sliceOfSize,
		"StridedSlice":  stridedSliceOfBits,
		"Shape":         shapeOfType,
		"Size":          sizeOfType,
		"Rank":          rankOf,
		"Range":         rangeOf,
		"Tile":          tileOf,
		"Fill":          func(c *call) { c.set(c.expand(c.in(1), c.in(0))) },
		"BroadcastTo":   func(c *call) { c.set(c.expand(c.in(0), c.in(1))) },
		"ZerosLike":     zerosLike,
		"OnesLike":      onesLike,
		"Pad":           padRows(constantMode),
		"PadV2":         padRows(constantMode),
		"MirrorPad":     padRows(tensorflowMode),
		"TopKV2":        lastTopK,
		"Prod":          reduceProdOf("keep_dims", 0),
		"SelectV2":      whereOf,
		"Where":         whereTrue,
		"BroadcastArgs": broadcastArgsOf,
		"Select":        selectOf,
		"Neg":           negOf,
		"Add":           pair(opAdd),
		"AddV2":         pair(opAdd),
		"Sub":           pair(opSub),
		"Mul":           pair(opMul),
		"RealDiv":       realDivOf,
		"Div":           integers(opDiv),
		"FloorDiv":      integers(opFloorDiv),
		"TruncateDiv":   integers(opDiv),
		"FloorMod":      integers(opFloorMod),
		"Mod":           integers(opMod),
		"TruncateMod":   integers(opMod),
		"Minimum":       integers(opMin),
		"Maximum":       integers(opMax),
		"Equal":         pair(opEqual),
		"NotEqual":      notEqual,
		"Less":          pair(opLess),
		"LessEqual":     pair(opLessEq),
		"Greater":       pair(opGreater),
		"GreaterEqual":  pair(opGreatEq),
		"LogicalAnd":    pair(opAnd),
		"LogicalOr":     pair(opOr),
		"LogicalNot":    func(c *call) { c.set(c.one(opNot, c.in(0))) },
		"BitwiseAnd":    integers(opBitAnd),
		"BitwiseOr":     integers(opBitOr),
		"BitwiseXor":    integers(opBitXor),
		"Invert":        irNot(opBitNot),
	},
	gathers: map[string]func(g *call){
		"tensorflow.Gather": tensorflowGatherOf, "tensorflow.GatherV2": tensorflowGatherOf, "tensorflow.gather": tensorflowGatherOf,
		"tensorflow.GatherNd":           tensorflowGatherNd,
		"tensorflow.sparse_segment_sum": segmentReduction(garner.Sum), "tensorflow.sparse_segment_mean": segmentReduction(garner.Mean),
		"tensorflow.sparse_segment_sqrtn": segmentReduction(garner.SqrtN),
	},
}

func tensorflowGatherOf(g *call) {
	data, indices := g.in(0), g.in(1)
	axis, batch := int64(0), int(g.attribute("batch_dims", 0))
	switch g.node.Operator {
	case "tensorflow.GatherV2":
		axis = g.constantInteger(2)
	case "tensorflow.gather": // whose axis is that of the batch dims where it has none
		axis = g.attribute("axis", int64(batch))
	}
	if g.err != nil {
		return
	}
	if batch < 0 {
		batch += g.needRank(indices)
	}
	g.set(g.gather(opGather, data, indices, g.axisOf(axis, g.needRank(data)), batch, tensorflowGather))
}

func tensorflowGatherNd(g *call) {
	pol := tensorflowGather
	if g.node.Attributes["bad_indices_policy"] == "IGNORE" {
		pol = tensorflowIgnore
	}
	g.set(g.gather(opGatherND, g.in(0), g.in(1), 0, 0, pol))
}

// Converters that TensorFlow and LiteRT share.

func same(c *call) { c.set(c.in(0)) }

// integers is pair of integers.
func integers(o op) func(c *call) {
	return func(c *call) {
		if d := c.in(0).spec.DType; !d.IsInteger() {
			c.fail(garner.ErrDType, "%s of %s is not converted; that of integers is", c.node.Op, d)
			return
		}
		pair(o)(c)
	}
}

// realDivOf divides floats.
func realDivOf(c *call) {
	c.lossy("TensorFlow's optimiser makes a product with the reciprocal of a division, which may differ in the last bit")
	pair(opDiv)(c)
}

func notEqual(c *call) { c.set(c.one(opNot, c.compute(opEqual, c.in(0), c.in(1)))) }

func tensorflowCast(c *call) {
	name, _ := c.node.Attributes["DstT"].(string)
	to, err := garner.ParseDType(name)
	switch {
	case err != nil:
		c.fail(garner.ErrAttribute, "its DstT is %.40q, which is no type that garner has", name)
		return
	case c.attribute("Truncate", 0) != 0:
		c.fail(ErrUnsupported, "a cast with Truncate is not converted")
		return
	}
	c.set(c.castTo(c.in(0), to))
}

// axisAt gives an axis that is a constant input.
func (c *call) axisAt(i, rank int) int64 { return int64(c.axisOf(c.constantInteger(i), rank)) }

func expandDims(c *call) {
	x := c.in(0)
	c.set(c.unsqueeze(x, c.axisAt(1, c.needRank(x)+1)))
}

func squeezeDims(c *call) {
	x := c.in(0)
	axes, _ := c.list("squeeze_dims", math.MaxInt)
	if len(axes) == 0 {
		axes = nil
	} else {
		c.distinct(axes, c.needRank(x))
	}
	c.set(c.squeeze(x, axes))
}

// transposeAny is a transposition whose axes may count from the end.
func transposeAny(c *call) {
	x := c.in(0)
	rank := c.needRank(x)
	list, ok := c.list("", 1)
	if !ok || len(list) != rank {
		c.fail(garner.ErrShape, "its order %v has not the %d dims of its input", list, rank)
		return
	}
	c.distinct(list, rank)
	order := make([]int64, rank)
	for i, a := range list {
		order[i] = int64(c.axisOf(a, rank))
	}
	c.set(c.transpose(x, order))
}

// concatLast is ConcatV2, whose last input is the axis.
func concatLast(c *call) {
	n := len(c.node.Inputs) - 1
	if n < 1 {
		c.fail(garner.ErrAttribute, "it has no inputs, or no axis")
		return
	}
	in := make([]*value, n)
	for i := range in {
		if in[i] = c.in(i); in[i].spec.DType != in[0].spec.DType {
			c.fail(garner.ErrDType, "its inputs are %s and %s, which differ in dtype", in[0].spec, in[i].spec)
		}
	}
	c.set(c.concat(int(c.axisAt(n, c.needRank(in[0]))), in...))
}

// packOf joins tensors of one shape along a new axis.
func packOf(c *call) {
	first := c.in(0)
	axis := int64(c.axisOf(c.attribute("axis", 0), c.needRank(first)+1))
	in := make([]*value, len(c.node.Inputs))
	for i := range in {
		v := c.in(i)
		if v.spec.DType != first.spec.DType {
			c.fail(garner.ErrDType, "its inputs are %s and %s, which differ in dtype", first.spec, v.spec)
		}
		in[i] = c.unsqueeze(v, axis)
	}
	if len(in) > 0 {
		c.set(c.concat(int(axis), in...))
	}
}

// unpackOf gives the parts of an axis, without it.
func unpackOf(c *call) {
	x := c.in(0)
	axis := c.axisOf(c.attribute("axis", 0), c.needRank(x))
	if d, ok := x.dim(axis); !ok || d != len(c.node.Outputs) {
		c.fail(garner.ErrShape, "axis %d of %s is not known to have %d parts, one for each output", axis, x.spec, len(c.node.Outputs))
		return
	}
	for i := range c.node.Outputs {
		c.made = append(c.made, c.squeeze(c.cut(x, int64(axis), int64(i), int64(i+1)), []int64{int64(axis)}))
	}
}

// sliceOfSize is Slice: elements from begin on, as many as size says; -1 is the rest.
func sliceOfSize(c *call) {
	x, begin, size := c.in(0), c.cast(c.in(1), garner.I64), c.cast(c.in(2), garner.I64)
	rank := c.needRank(x)
	axes := make([]int64, rank)
	for i := range axes {
		axes[i] = int64(i)
	}
	var ends *value
	from, ok := begin.integers()
	sizes, also := size.integers()
	if ok && len(from) != rank || also && len(sizes) != rank {
		c.fail(garner.ErrShape, "it has %d begins and %d sizes; its input has %d dims", len(from), len(sizes), rank)
		return
	}
	all := c.of(slices.Repeat([]int64{math.MaxInt32}, rank)...)
	switch {
	case ok && also:
		list := make([]int64, rank)
		for i, n := range sizes {
			if list[i] = math.MaxInt32; n >= 0 {
				list[i] = min(from[i]+n, math.MaxInt32)
			}
			if from[i] < 0 || n < -1 {
				c.fail(garner.ErrShape, "its begin is %v and its size %v; they are 0 and more", from, sizes)
			}
		}
		ends = c.of(list...)
	case also && !slices.Contains(sizes, -1):
		ends = c.two(opAdd, begin, size)
	default:
		ends = c.choose(c.two(opLess, size, c.number(garner.I64, 0)), all, c.two(opAdd, begin, size))
	}
	c.set(c.slice(x, begin, ends, c.of(axes...), nil))
}

// stridedSliceOfBits is StridedSlice whose masks are bits. A slice with a negative step that
// starts before the axis is refused: it is empty here, and has an element elsewhere.
func stridedSliceOfBits(c *call) {
	begin, ok := c.list("", 1)
	steps, also := c.list("", 3)
	mask := func(name string) func(i int) bool {
		bits := c.attribute(name, 0)
		return func(i int) bool { return i < 63 && bits>>i&1 != 0 }
	}
	if c.attribute("offset", 0) != 0 {
		c.fail(ErrUnsupported, "%s with offset is not converted", c.node.Op)
	}
	given := mask("begin_mask")
	for i := range min(len(begin), len(steps)) {
		if ok && also && steps[i] < 0 && begin[i] < -1 && !given(i) {
			c.fail(garner.ErrShape, "its begin is %d and its step %d; where that is before the axis runtimes differ", begin[i], steps[i])
		}
	}
	c.stridedSlice(false, mask)
}

// typeOfShape gives the dtype that out_type names; i32 without it, and that of the node's
// output where the format says that alone.
func (c *call) typeOfShape() garner.DType {
	if name, ok := c.node.Attributes["out_type"].(string); ok {
		d, err := garner.ParseDType(name)
		if err != nil {
			c.fail(garner.ErrAttribute, "its out_type is %.40q, which is no type", name)
		}
		return d
	}
	if len(c.node.Outputs) > 0 && c.node.Outputs[0] != nil && c.node.Outputs[0].Spec.DType == garner.I64 {
		return garner.I64
	}
	return garner.I32
}

func shapeOfType(c *call) { c.set(c.cast(c.shape(c.in(0)), c.typeOfShape())) }

func sizeOfType(c *call) {
	c.set(c.cast(c.reduceProd(c.shape(c.in(0)), []int64{0}, false), c.typeOfShape()))
}

func rankOf(c *call) { c.set(c.number(garner.I32, int64(c.needRank(c.in(0))))) }

func tileOf(c *call) {
	x := c.in(0)
	c.set(c.tiled(x, c.cast(c.in(1), garner.I64)))
}

func zerosLike(c *call) {
	x := c.in(0)
	if !x.spec.DType.HasZero() || x.spec.DType == garner.String {
		c.fail(garner.ErrDType, "zeros of %s are not converted", x.spec.DType)
		return
	}
	c.set(c.expand(c.zero(x.spec.DType), c.shape(x)))
}

func onesLike(c *call) {
	x := c.in(0)
	c.set(c.expand(c.castTo(c.number(garner.I32, 1), x.spec.DType), c.shape(x)))
}

// selectOf is Select, whose condition has the shape of the others.
func selectOf(c *call) {
	condition, ok := c.in(0).rank()
	rank, also := c.in(1).rank()
	if !ok || !also || condition != rank && condition != 0 {
		c.fail(garner.ErrShape, "its condition %s is not known to have the shape of %s; SelectV2 is converted with any", c.in(0).spec, c.in(1).spec)
		return
	}
	whereOf(c)
}
