package convert

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

// irGather8 is what OpenVINO's CPU plugin makes of the indices of a Gather-8, as its page says.
var irGather8 = policy{fromEnd: true, outside: zeros}

// What it makes of those of the other gathers, which is not what their pages say.
var (
	irGatherND = policyAsRun("openvino.GatherND-8")
	irElements = policyAsRun("openvino.GatherElements-6")
)

// policyAsRun gives the policy of a gather whose runtime departs from its page.
func policyAsRun(operator string) policy {
	g, _ := departures.OfGather(operator)
	return policy{
		fromEnd: g.Negative == departures.Counted,
		outside: map[departures.Answer]outcome{departures.Refused: refused, departures.Zeros: zeros, departures.OtherMemory: undefined}[g.Outside],
	}
}

// irSource is OpenVINO IR as OpenVINO's CPU plugin runs it.
var irSource = &origin{
	runtime: openVINO,
	nodes: map[string]func(c *call){
		"Convert":               irConvert,
		"ConvertLike":           castLikeOf,
		"Reshape":               func(c *call) { c.set(c.reshape(c.in(0), c.in(1), c.attribute("special_zero", 0) != 0)) },
		"Squeeze":               squeezeOf(true),
		"Unsqueeze":             unsqueezeOf,
		"Transpose":             transposeOf,
		"Concat":                concatOf,
		"Slice":                 sliceOf(4, 3),
		"StridedSlice":          irStridedSlice,
		"ShapeOf":               irShapeOf,
		"Broadcast":             irBroadcast,
		"Tile":                  irTile,
		"Range":                 irRange,
		"ReduceProd":            reduceProdOf("keep_dims", 0),
		"ReduceSum":             reduceSumOf("keep_dims", 0),
		"ReduceMax":             extremeOf(opReduceMax, "keep_dims", 0),
		"ReduceMin":             extremeOf(opReduceMin, "keep_dims", 0),
		"Pad":                   irPad,
		"IsNaN":                 irStays(isNaNOf),
		"Sign":                  irStays(signOf),
		"CumSum":                cumSumOf,
		"NonZero":               nonZeroOf,
		"Abs":                   irStays(absOf),
		"TopK":                  irTopK,
		"ScatterElementsUpdate": irScatter,
		"Split":                 irSplit,
		"VariadicSplit":         irVariadicSplit,
		"Select":                irBroadcasts(whereOf),
		"Clamp":                 irClamp,
		"Floor":                 irRound,
		"Ceiling":               irRound,
		"Negative":              irStays(negOf),
		"Add":                   irBroadcasts(pair(opAdd)),
		"Subtract":              irBroadcasts(pair(opSub)),
		"Multiply":              irBroadcasts(pair(opMul)),
		"Divide":                irBroadcasts(irDivide),
		"Mod":                   irBroadcasts(irQuotient(opMod)),
		"FloorMod":              irBroadcasts(irQuotient(opFloorMod)),
		"Minimum":               irBroadcasts(pair(opMin)),
		"Maximum":               irBroadcasts(pair(opMax)),
		"Equal":                 irBroadcasts(pair(opEqual)),
		"NotEqual":              irBroadcasts(func(c *call) { c.set(c.one(opNot, c.compute(opEqual, c.in(0), c.in(1)))) }),
		"Less":                  irBroadcasts(pair(opLess)),
		"LessEqual":             irBroadcasts(pair(opLessEq)),
		"Greater":               irBroadcasts(pair(opGreater)),
		"GreaterEqual":          irBroadcasts(pair(opGreatEq)),
		"LogicalAnd":            irBroadcasts(pair(opAnd)),
		"LogicalOr":             irBroadcasts(pair(opOr)),
		"LogicalXor":            irBroadcasts(pair(opXor)),
		"LogicalNot":            irNot(opNot),
		"BitwiseAnd":            irBroadcasts(irBits(opBitAnd, opAnd)),
		"BitwiseOr":             irBroadcasts(irBits(opBitOr, opOr)),
		"BitwiseXor":            irBroadcasts(irBits(opBitXor, opXor)),
		"BitwiseNot":            irStays(irNot(opBitNot)),
	},
	gathers: map[string]func(g *call){
		"openvino.Gather-1":         irGather,
		"openvino.Gather-7":         irGather,
		"openvino.Gather-8":         irGather,
		"openvino.GatherND-5":       irGatherNDOf,
		"openvino.GatherND-8":       irGatherNDOf,
		"openvino.GatherElements-6": irElementsOf,

		"openvino.EmbeddingBagOffsetsSum-3": irOffsets, "openvino.EmbeddingBagOffsets-15": irOffsets,
		"openvino.EmbeddingBagPackedSum-3": irPacked, "openvino.EmbeddingBagPacked-15": irPacked,
		"openvino.EmbeddingSegmentsSum-3": irSegments,
	},
}

func irGather(g *call) {
	if c := g.tables[g.node]; c != nil {
		irBlocks(g, c)
		return
	}
	if v, codes := operators.Misread(g.node); v != nil {
		g.fail(ErrUnsupported, "a scale or a zero point of its table is %s and its codes are %s, of which OpenVINO decodes another table than its nodes compute; write one that broadcasts to the codes", v.Spec, codes.Spec)
		return
	}
	axis, batch := g.constantInteger(2), int(g.attribute("batch_dims", 0))
	if g.err != nil {
		return
	}
	pol := irGather8
	departs, old := departures.OfGather(g.node.Operator)
	if old {
		pol = policyAsRun(departs.Operator)
	}
	data, indices := g.in(0), g.in(1)
	atLoad := !data.varies() && !indices.varies()
	if old && atLoad && departs.NegativeAtLoad != departs.Negative {
		if list, ok := indices.integers(); !ok || slices.ContainsFunc(list, func(n int64) bool { return n < 0 }) {
			g.fail(ErrUnsupported, "its data and its indices are constants, and OpenVINO counts a negative one from the end where it folds that, and takes it for outside elsewhere; write it as a number from 0 on")
			return
		}
	} else if old {
		g.note("replaced", "OpenVINO's page has it refuse an index outside, and its CPU plugin gives zeros, as recorded in %s: so does the target", departs.OutsideCase)
	}
	if batch < 0 {
		batch += g.needRank(indices)
	}
	if !atLoad && departures.ShortVector(data.spec, indices.spec) {
		g.note("differs", "of a vector of up to 64 integers and up to 64 indices OpenVINO reads other memory for an index outside; it is 0 here")
	}
	along := g.axisOf(axis, g.needRank(data))
	if g.err == nil && g.options.Outside == Keep && (&guard{program: g.program, op: opGather, data: data, indices: indices, axis: along, batch: batch, from: pol}).inside(indices) == nil {
		g.zeroed[g.node] = true
	}
	g.set(g.gather(opGather, data, indices, along, batch, pol))
}

func irGatherNDOf(g *call) {
	batch := int(g.attribute("batch_dims", 0))
	flat := g.node.Operator == "openvino.GatherND-5" && batch > 1
	data, indices := g.in(0), g.in(1)
	made := g.gather(opGatherND, data, indices, 0, batch, irGatherND)
	if flat { // version 5 joins the batch dims of its result
		all := g.reduceProd(g.dims(indices, 0, batch, garner.I64), []int64{0}, true)
		parts := []*value{all}
		if rank := g.needRank(made); rank > batch {
			parts = append(parts, g.dims(made, batch, rank-batch, garner.I64))
		}
		made = g.reshape(made, g.concat(0, parts...), false)
	}
	g.set(made)
}

func irElementsOf(g *call) {
	data := g.in(0)
	g.set(g.gather(opGatherElements, data, g.in(1), g.axisOf(g.attribute("axis", 0), g.needRank(data)), 0, irElements))
}

// irBroadcasts refuses an auto_broadcast other than NumPy's, and arithmetic that may lack dims in OpenVINO.
func irBroadcasts(then func(c *call)) func(c *call) {
	return func(c *call) {
		mode, _ := c.node.Attributes["auto_broadcast"].(string)
		if mode = strings.ToLower(mode); mode != "" && mode != "numpy" {
			c.fail(ErrUnsupported, "its auto_broadcast is %.40q; numpy is converted", mode)
			return
		}
		if operators.DropsDims(c.node) {
			a, b := c.in(0), c.in(1)
			m, known := a.rank()
			if n, also := b.rank(); known && also && n > m && b.oneConstant() && a.varies() {
				c.fail(ErrUnsupported, "its second input is one number of %d dims, and its first has %d: behind a Gather, a Reshape or a Transpose OpenVINO may leave the others away; write a scalar", n, m)
				return
			}
		}
		irStays(then)(c)
	}
}

// irStays keeps a node of OpenVINO in OpenVINO IR as it is, so that OpenVINO computes the same, exact or not. then converts
// it to other formats.
func irStays(then func(c *call)) func(c *call) {
	return func(c *call) {
		in := make([]*value, len(c.node.Inputs))
		for i := range in {
			in[i] = c.in(i)
		}
		to, moved := c.resultOf(in), func(d garner.DType) bool { return c.target.takes(opIdentity, d) }
		if !c.keeps() || len(c.node.Outputs) != 1 || !moved(to) || slices.ContainsFunc(in, func(v *value) bool { return !moved(v.spec.DType) }) {
			then(c)
			return
		}
		c.set(c.keep(to, in...))
	}
}

// resultOf gives the dtype of the result of a node that stays.
func (c *call) resultOf(in []*value) garner.DType {
	switch c.node.Op {
	case "Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual", "IsNaN":
		return garner.Bool
	}
	if len(in) == 0 {
		return garner.Invalid
	}
	return in[len(in)-1].spec.DType // a Select has its condition first
}

// keep makes the source's own node. What it notes is of a guard before the node, or of dims that raised moves.
func (c *call) keep(dtype garner.DType, in ...*value) *value {
	o := opAsIs
	switch c.node.Op {
	case "Multiply":
		o = opMul
	case "Select":
		o = opSelect
	}
	own := func(in ...*value) *value { return c.add(&node{op: o, in: in, kept: true}, dtype) }
	if len(in) == 1 && c.node.Op == "Negative" && in[0].spec.DType.IsFloat() && in[0].waits() {
		if _, known := in[0].spec.Shape(); known {
			c.lossy("the negative of 0 is 0 or -0 in OpenVINO by whether it knows all dims, which it does not behind the guard of a gather")
		}
	}
	if len(in) != 2 || c.err != nil {
		return own(in...)
	}
	a, b := in[0], in[1]
	if a.spec.DType != b.spec.DType {
		c.fail(garner.ErrDType, "its inputs are %s and %s, which differ in dtype", a.spec, b.spec)
		return a
	}
	made := c.raised(a, b, func(a, b *value) *value { return own(a, b) })
	apart, waits := !made.from.kept, a.waits() || b.waits()
	if _, known := made.spec.Shape(); waits && known && a.spec.DType.IsInteger() && a.spec.DType.Bits() <= 8 {
		switch c.node.Op {
		case "Add", "Subtract", "Multiply":
			c.lossy("OpenVINO cuts off numbers of %s otherwise where it knows no dims, which it does not behind the guard of a gather", a.spec.DType)
		}
	}
	switch d := a.spec.DType; c.node.Op {
	case "Add", "Subtract":
		for _, v := range in {
			if product, own := v.product(); d.IsFloat() && product && (apart || waits || !own) {
				c.lossy("OpenVINO may compute a product and a sum in one step, which rounds once, and the target has other nodes around them")
			}
		}
		if c.node.Op == "Subtract" && d.IsFloat() {
			c.zeros(opSub, a, b)
		}
	case "Multiply":
		if d.IsFloat() {
			c.zeros(opMul, a, b)
		}
	case "Divide":
		if d.IsFloat() {
			c.zeros(opDiv, a, b)
		} else if waits && departures.Quotient(d, false, departures.InRun) == departures.Any {
			c.lossy("OpenVINO rounds a quotient of %s to the nearest where it knows no dims, which it does not behind the guard of a gather", d)
		}
	}
	return made
}

// product reports whether v is a product; not own: with dims that the source's node has not.
func (v *value) product() (is, own bool) {
	if n := v.from; n != nil && n.op == opUnsqueeze && n.in[0].from != nil && n.in[0].from.op == opMul {
		return true, n.origin != n.in[0].from.origin
	}
	return v.from != nil && v.from.op == opMul, true
}

func irBits(whole, bools op) func(c *call) {
	return func(c *call) {
		if c.in(0).spec.DType == garner.Bool {
			pair(bools)(c)
			return
		}
		pair(whole)(c)
	}
}

func irNot(o op) func(c *call) {
	return func(c *call) {
		x := c.in(0)
		switch {
		case x.spec.DType == garner.Bool:
			c.set(c.one(opNot, x))
		case o == opBitNot && x.spec.DType.IsInteger() && !x.spec.DType.Packed():
			if x.spec.DType == garner.U16 {
				c.leaves(garner.U16)
			}
			c.set(c.one(opBitNot, x))
		default:
			c.fail(garner.ErrDType, "%s of %s is not converted", c.node.Op, x.spec.DType)
		}
	}
}

func irConvert(c *call) {
	name, _ := c.node.Attributes["destination_type"].(string)
	to, err := garner.ParseDType(name)
	if err != nil {
		c.fail(garner.ErrAttribute, "its destination_type is %.40q, which is no type that garner has", name)
		return
	}
	c.set(c.castTo(c.in(0), to))
}

// outputType gives the dtype that an attribute names; without where it does not.
func (c *call) outputType(without garner.DType) garner.DType {
	name, ok := c.node.Attributes["output_type"].(string)
	if !ok {
		return without
	}
	d, err := garner.ParseDType(name)
	if err != nil {
		c.fail(garner.ErrAttribute, "its output_type is %.40q, which is no type", name)
		return without
	}
	return d
}

func irShapeOf(c *call) {
	c.set(c.one(opIdentity, c.cast(c.shape(c.in(0)), c.outputType(garner.I64))))
}

func irBroadcast(c *call) {
	x, shape := c.in(0), c.in(1)
	mode, _ := c.node.Attributes["mode"].(string)
	switch strings.ToLower(mode) {
	case "", "numpy", "bidirectional":
	case "explicit", "none":
		axes, ok := c.list("axes_mapping", 2)
		length, known := shape.dim(0)
		rank := c.needRank(x)
		if !ok || !known || len(axes) != rank || !slices.IsSorted(axes) || length > garner.MaxRank {
			c.fail(garner.ErrShape, "its axes_mapping must be constant, and name an axis of the result for each dim of its input, in their order")
			return
		}
		c.distinct(axes, length)
		var ones []int64
		for i := range int64(length) {
			if !slices.Contains(axes, i) {
				ones = append(ones, i)
			}
		}
		x = c.unsqueeze(x, ones...)
	default:
		c.fail(ErrUnsupported, "its mode is %.40q; numpy, bidirectional and explicit are converted", mode)
		return
	}
	c.set(c.expand(x, shape))
}

func irTile(c *call) {
	x, repeats := c.in(0), c.in(1)
	rank := c.needRank(x)
	n, ok := repeats.dim(0)
	switch {
	case !ok:
		c.fail(garner.ErrShape, "how many repeats it has is not known")
		return
	case n > garner.MaxRank:
		c.fail(garner.ErrShape, "it has %d repeats; there may be %d", n, garner.MaxRank)
		return
	case n > rank:
		var axes []int64
		for i := range n - rank {
			axes = append(axes, int64(i))
		}
		x = c.unsqueeze(x, axes...)
	case n < rank:
		repeats = c.concat(0, c.of(slices.Repeat([]int64{1}, rank-n)...), c.cast(repeats, garner.I64))
	}
	c.set(c.tiled(x, c.cast(repeats, garner.I64)))
}

func irRange(c *call) {
	to := c.outputType(c.in(0).spec.DType)
	in := make([]*value, 3)
	for i := range in {
		v := c.in(i)
		if !v.spec.DType.IsInteger() || v.spec.DType == garner.U64 {
			c.fail(garner.ErrDType, "a range of %s is not converted; that of integers is", v.spec.DType)
			return
		}
		if in[i] = c.cast(v, garner.I64); c.err != nil {
			return
		}
		if rank, ok := v.rank(); ok && rank == 1 {
			in[i] = c.squeeze(in[i], []int64{0})
		}
	}
	if !to.IsInteger() || to.Packed() {
		c.fail(garner.ErrDType, "a range of %s is not converted; that of integers is", to)
		return
	}
	c.leaves(to)
	c.set(c.cast(c.rangeFrom(in), to))
}

func irClamp(c *call) {
	x := c.in(0)
	dtype := x.spec.DType
	if !dtype.IsInteger() || dtype.Packed() {
		c.fail(garner.ErrDType, "Clamp of %s is not converted; that of integers is", dtype)
		return
	}
	low, high := math.Ldexp(-1, dtype.Bits()-1), math.Ldexp(1, dtype.Bits()-1)
	if dtype.IsUnsigned() {
		low, high = 0, math.Ldexp(1, dtype.Bits())
	}
	for i, o := range []op{opMax, opMin} {
		name := []string{"min", "max"}[i]
		text, ok := c.node.Attributes[name].(string)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || math.IsNaN(v) {
			c.fail(garner.ErrAttribute, "its %s is %.40q; it must be a number", name, text)
			return
		}
		if i == 0 {
			v = math.Ceil(v)
		} else {
			v = math.Floor(v)
		}
		switch {
		case i == 0 && v <= low || i == 1 && v >= high-1 && dtype.Bits() < 64 || i == 1 && v >= high:
			continue // it excludes no number of the dtype
		case v < math.MinInt64 || v >= math.MaxInt64 || v < low || v >= high:
			c.fail(garner.ErrAttribute, "its %s is %.40q, which leaves no number of %s", name, text, dtype)
			return
		}
		x = c.compute(o, x, c.number(dtype, int64(v)))
	}
	c.set(c.one(opIdentity, x))
}

func irRound(c *call) {
	if d := c.in(0).spec.DType; !d.IsInteger() {
		c.fail(garner.ErrDType, "%s of %s is not converted; that of integers is", c.node.Op, d)
		return
	}
	irStays(func(c *call) {
		if d := c.in(0).spec.DType; d.Bits() >= 32 {
			c.note("differs", "OpenVINO rounds %s as f32, and is a little off beyond 2^24; the target is exact", d)
		}
		c.set(c.one(opIdentity, c.in(0)))
	})(c)
}

// irDivide rounds quotients of integers as OpenVINO's CPU plugin does, which seldom asks m_pythondiv.
func irDivide(c *call) {
	a, b, o := c.in(0), c.in(1), opDiv
	if dtype := a.spec.DType; dtype.IsInteger() {
		when, python := departures.Unknown, c.attribute("m_pythondiv", 1) != 0
		switch {
		case a.varies() || b.varies():
			when = departures.InRun
		case a.held() && b.held():
			when = departures.AtLoad
		}
		switch departures.Quotient(dtype, python, when) {
		case departures.Any:
			c.lossy("OpenVINO rounds a quotient of %s to the nearest where it knows no dims, and elsewhere towards 0, as the target does", dtype)
		case departures.Down:
			o = opFloorDiv
		default:
			if python && !dtype.IsUnsigned() {
				c.note("replaced", "OpenVINO's page has quotients rounded down, and its CPU plugin cuts them off towards 0: so does the target")
			}
		}
	}
	irQuotient(o)(c)
}

// irQuotient is a division of numbers, or its remainder.
func irQuotient(o op) func(c *call) {
	return func(c *call) {
		if c.in(0).spec.DType.IsInteger() {
			c.note("differs", "OpenVINO divides integers as f32, and is a little off beyond 2^24; the target is exact")
		}
		pair(o)(c)
	}
}

// scalarOf gives an attribute that is a tensor of one element as a scalar.
func (c *call) scalarOf(v any) *value {
	constant, ok := v.(*model.Constant)
	if !ok {
		c.fail(garner.ErrAttribute, "its value is %v; it must be a tensor of one element", v)
		return nil
	}
	t, err := constant.Tensor()
	if err == nil {
		t, err = t.Clone()
	}
	if err == nil {
		t, err = t.Reshape()
	}
	if err != nil {
		c.fail(garner.ErrAttribute, "its value is %s, which must be one element: %v", constant.Spec, err)
		return nil
	}
	return c.hold(t)
}

// irStridedSlice is OpenVINO's StridedSlice, whose masks are lists.
func irStridedSlice(c *call) {
	c.stridedSlice(true, func(name string) func(i int) bool {
		list, _ := c.list(name, math.MaxInt)
		return func(i int) bool { return i < len(list) && list[i] != 0 }
	})
}

// stridedSlice is NumPy's indexing by slices, integers, newaxis and an ellipsis, as a
// Slice of the axes that it cuts, and a Squeeze and an Unsqueeze. masks says that an axis that it takes one
// element of looks at begin_mask, as OpenVINO has it.
func (c *call) stridedSlice(masks bool, mask func(name string) func(i int) bool) {
	x := c.in(0)
	rank := c.needRank(x)
	beginMask, endMask := mask("begin_mask"), mask("end_mask")
	newAxis, shrink, ellipsis := mask("new_axis_mask"), mask("shrink_axis_mask"), mask("ellipsis_mask")
	begin, ok := c.list("begin", 1)
	end, also := c.list("end", 2)
	steps, given := c.list("strides", 3)
	if !given {
		steps = slices.Repeat([]int64{1}, len(begin))
	}
	if !ok || !also || len(end) != len(begin) || len(steps) != len(begin) || len(begin) > garner.MaxRank {
		c.fail(garner.ErrShape, "it has %d begins, %d ends and %d strides; they must be as many, and constant", len(begin), len(end), len(steps))
		return
	}
	taken, ellipses := 0, 0
	for i := range begin {
		switch {
		case ellipsis(i):
			ellipses++
		case !newAxis(i):
			taken++
		}
	}
	if taken > rank || ellipses > 1 {
		c.fail(garner.ErrShape, "it slices %d axes with %d ellipses, and its input has %d dims", taken, ellipses, rank)
		return
	}
	var starts, ends, axes, strides, drop, added []int64
	axis, out := int64(0), int64(0)
	for i := range begin {
		switch {
		case ellipsis(i):
			axis += int64(rank - taken)
			out += int64(rank - taken)
			continue
		case newAxis(i):
			added = append(added, out)
			out++
			continue
		}
		from, to, step := begin[i], end[i], steps[i]
		if shrink(i) {
			if masks && beginMask(i) {
				from = 0
			}
			to, step = from+1, 1
			if from == -1 {
				to = math.MaxInt32
			}
			drop = append(drop, axis)
		} else {
			if beginMask(i) {
				if from = 0; step < 0 {
					from = math.MaxInt32
				}
			}
			if endMask(i) {
				if to = math.MaxInt32; step < 0 {
					to = math.MinInt32
				}
			}
			out++
		}
		if step == 0 {
			c.fail(garner.ErrShape, "its stride along axis %d is 0", axis)
			return
		}
		if from != 0 || to != math.MaxInt32 || step != 1 {
			starts, ends, axes, strides = append(starts, from), append(ends, to), append(axes, axis), append(strides, step)
		}
		axis++
	}
	made := x
	if len(axes) > 0 {
		made = c.slice(made, c.of(starts...), c.of(ends...), c.of(axes...), c.of(strides...))
	}
	if len(drop) > 0 {
		made = c.squeeze(made, drop)
	}
	made = c.unsqueeze(made, added...)
	if made == x {
		made = c.one(opIdentity, x)
	}
	c.set(made)
}
