package convert

import (
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// liteGather is what the Interpreter makes of the indices of every gather.
var liteGather = policy{outside: refused}

// liteSource is LiteRT as its Interpreter runs it.
var liteSource = &origin{
	runtime: liteRT,
	unread:  func(*model.Node) bool { return true },
	nodes: map[string]func(c *call){
		"DEQUANTIZE":     liteDequantize,
		"CAST":           unquantised(liteCast),
		"RESHAPE":        moves(liteReshape),
		"SQUEEZE":        moves(squeezeDims),
		"EXPAND_DIMS":    moves(expandDims),
		"TRANSPOSE":      moves(transposeAny),
		"CONCATENATION":  moves(unfused(concatOf)),
		"PACK":           moves(packOf),
		"UNPACK":         moves(unpackOf),
		"SPLIT":          moves(liteSplit),
		"SPLIT_V":        moves(liteSplitV),
		"SLICE":          moves(sliceOfSize),
		"PAD":            moves(litePad),
		"PADV2":          moves(padRows(constantMode)),
		"MIRROR_PAD":     moves(padRows(liteMode)),
		"BROADCAST_ARGS": unquantised(broadcastArgsOf),
		"STRIDED_SLICE":  moves(stridedSliceOfBits),
		"TILE":           moves(tileOf),
		"BROADCAST_TO":   moves(func(c *call) { c.set(c.expand(c.in(0), c.in(1))) }),
		"FILL":           moves(func(c *call) { c.set(c.expand(c.in(1), c.in(0))) }),
		"SHAPE":          shapeOfType,
		"RANK":           rankOf,
		"ZEROS_LIKE":     unquantised(zerosLike),
		"RANGE":          unquantised(rangeOf),
		"TOPK_V2":        unquantised(lastTopK),
		"SELECT":         moves(selectOf),
		"SELECT_V2":      moves(whereOf),
		"WHERE":          unquantised(whereTrue),
		"ADD":            unquantised(unfused(pair(opAdd))),
		"SUB":            unquantised(unfused(pair(opSub))),
		"MUL":            unquantised(unfused(pair(opMul))),
		"DIV":            unquantised(unfused(pair(opDiv))),
		"FLOOR_DIV":      unquantised(integers(opFloorDiv)),
		"FLOOR_MOD":      unquantised(integers(opFloorMod)),
		"MAXIMUM":        unquantised(integers(opMax)),
		"MINIMUM":        unquantised(integers(opMin)),
		"NEG":            unquantised(negOf),
		"EQUAL":          unquantised(pair(opEqual)),
		"NOT_EQUAL":      unquantised(notEqual),
		"LESS":           unquantised(pair(opLess)),
		"LESS_EQUAL":     unquantised(pair(opLessEq)),
		"GREATER":        unquantised(pair(opGreater)),
		"GREATER_EQUAL":  unquantised(pair(opGreatEq)),
		"LOGICAL_AND":    pair(opAnd),
		"LOGICAL_OR":     pair(opOr),
		"LOGICAL_NOT":    func(c *call) { c.set(c.one(opNot, c.in(0))) },
		"REDUCE_PROD":    unquantised(reduceProdOf("keep_dims", 0)),
	},
	gathers: map[string]func(g *call){
		"tflite.GATHER": liteGatherOf, "tflite.GATHER_ND": liteGatherND, "tflite.EMBEDDING_LOOKUP": liteGatherOf,
	},
}

func liteGatherOf(g *call) {
	moves(func(*call) {})(g)
	axis, batch := g.attribute("axis", 0), int(g.attribute("batch_dims", 0))
	data, indices := g.in(0), g.in(1)
	if batch < 0 {
		batch += g.needRank(indices)
	}
	g.set(g.gather(opGather, data, indices, g.axisOf(axis, g.needRank(data)), batch, liteGather))
}

// liteGatherND looks rows up by their number in the data, as the Interpreter does: it refuses a tuple with a
// negative component, and one whose row lies behind the data, and takes one with a component beyond its
// axis whose row is inside. That is recorded in testdata/recorded.json.
func liteGatherND(g *call) {
	moves(func(*call) {})(g)
	data, indices := g.in(0), g.in(1)
	rank, q := g.needRank(data), g.needRank(indices)
	if g.err != nil {
		return
	}
	k, ok := 0, q > 0
	if ok {
		k, ok = indices.dim(q - 1)
	}
	switch {
	case !ok || k < 1 || k > rank:
		g.fail(garner.ErrShape, "the last dim of its indices %s is not known, or is not 1 to %d", indices.spec, rank)
		return
	case g.options.Outside != Keep || k == 1:
		g.set(g.gather(opGatherND, data, indices, 0, 0, liteGather))
		return
	}
	g.insideOnly = "garner's run refuses a tuple with a component outside, where LiteRT looks up rows by their number"
	g.looksUp(opGatherND, data, indices, 0, 0)
	g.note("replaced", "LiteRT looks up rows by their number in the data, and takes a tuple with a component beyond its axis whose row is inside: so does the target")
	var row, rows, bad *value // of each tuple; how many there are
	zero := g.number(indices.spec.DType, 0)
	for j := range k {
		part := g.squeeze(g.cut(indices, int64(q-1), int64(j), int64(j+1)), []int64{int64(q - 1)})
		length := g.length(data, j, indices.spec.DType)
		if row == nil {
			row, rows, bad = part, length, g.two(opLess, part, zero)
		} else {
			row = g.two(opAdd, g.two(opMul, row, length), part)
			rows = g.two(opMul, rows, length)
			bad = g.two(opOr, bad, g.two(opLess, part, zero))
		}
		// A component of which one alone leads behind the data: without them the row does not overflow.
		bad = g.two(opOr, bad, g.ordered(opGreatEq, part, rows))
	}
	row = g.choose(bad, g.number(indices.spec.DType, -1), row)
	shape := []*value{g.reshape(g.cast(rows, garner.I64), g.of(1), false)}
	if rank > k {
		shape = append(shape, g.dims(data, k, rank-k, garner.I64))
	}
	flat := g.reshape(data, g.concat(0, shape...), false)
	g.set(g.gather(opGather, flat, row, 0, 0, liteGather))
}

// moves is an operator that moves elements. Where its inputs and its result are quantised
// differently, LiteRT computes new codes; that is refused.
func moves(then func(c *call)) func(c *call) {
	return func(c *call) {
		if len(c.node.Outputs) == 0 || c.node.Outputs[0] == nil {
			c.fail(garner.ErrAttribute, "it has no output")
			return
		}
		first := c.node.Outputs[0]
		for _, v := range slices.Concat(c.node.Inputs, c.node.Outputs) {
			if v != nil && v.Spec.DType == first.Spec.DType && !v.Quantised.Equal(first.Quantised) {
				c.fail(ErrUnsupported, "%s of values that are quantised differently is not converted: LiteRT computes new codes", c.node.Op)
				return
			}
		}
		then(c)
	}
}

// unquantised refuses quantised values, whose codes mean other numbers.
func unquantised(then func(c *call)) func(c *call) {
	return func(c *call) {
		for _, v := range slices.Concat(c.node.Inputs, c.node.Outputs) {
			if v != nil && v.Quantised != nil {
				c.fail(ErrUnsupported, "%s of a quantised value (%s) is not converted; dequantise it before", c.node.Op, v.Quantised)
				return
			}
		}
		then(c)
	}
}

// unfused refuses an operator with an activation function behind it.
func unfused(then func(c *call)) func(c *call) {
	return func(c *call) {
		if name, ok := c.node.Attributes["fused_activation_function"]; ok {
			c.fail(ErrUnsupported, "%s with the activation %v behind it is not converted", c.node.Op, name)
			return
		}
		then(c)
	}
}

func liteCast(c *call) {
	if len(c.node.Outputs) == 0 || c.node.Outputs[0] == nil {
		c.fail(garner.ErrAttribute, "it has no output")
		return
	}
	c.set(c.castTo(c.in(0), c.node.Outputs[0].Spec.DType))
}

func liteReshape(c *call) {
	if c.has(1) {
		c.set(c.reshape(c.in(0), c.in(1), false))
		return
	}
	list, ok := c.node.Attributes["new_shape"].([]int64)
	if !ok || slices.Contains(list, 0) {
		c.fail(ErrUnsupported, "RESHAPE to the option new_shape %v is not converted; give the shape as an input", list)
		return
	}
	c.set(c.reshape(c.in(0), c.of(list...), false))
}

// liteSplit is SPLIT, into parts of one length along the axis that is its first input.
func liteSplit(c *call) {
	x := c.in(1)
	axis := c.axisAt(0, c.needRank(x))
	n := len(c.node.Outputs)
	d, ok := x.dim(int(axis))
	if !ok || n == 0 || d%n != 0 {
		c.fail(garner.ErrShape, "axis %d of %s is not known to have %d parts of one length", axis, x.spec, n)
		return
	}
	for i := range n {
		c.made = append(c.made, c.cut(x, axis, int64(i*(d/n)), int64((i+1)*(d/n))))
	}
}

// liteDequantize is DEQUANTIZE with one scale: (element - zero point)·scale in f32; of f16 it is a cast. Of a
// constant with a zero point LiteRT computes something else, which is refused.
func liteDequantize(c *call) {
	x := c.in(0)
	if c.err != nil {
		return
	}
	in := c.node.Inputs[0]
	if x.spec.DType == garner.F16 {
		c.set(c.castTo(x, garner.F32))
		return
	}
	q := in.Quantised
	switch {
	case !x.spec.DType.IsInteger() || x.spec.DType.Packed() || x.spec.DType.Bits() > 16:
		c.fail(garner.ErrDType, "DEQUANTIZE of %s is not converted; that of i8, u8, i16 and f16 is", x.spec.DType)
		return
	case q == nil || q.Blocks || len(q.Scales) != 1:
		c.fail(ErrUnsupported, "DEQUANTIZE of values that have not one scale is not converted")
		return
	case in.Constant != nil && q.Zeros[0] != 0:
		c.fail(ErrUnsupported, "DEQUANTIZE of a constant with a zero point is not converted: LiteRT rounds some of its elements twice")
		return
	}
	whole := c.cast(x, garner.I32)
	if q.Zeros[0] != 0 {
		whole = c.two(opSub, whole, c.number(garner.I32, q.Zeros[0]))
	}
	c.set(c.two(opMul, c.cast(whole, garner.F32), c.hold(garner.Of([]float32{q.Scales[0]}))))
}

// quantisedEnds notes inputs and results that are codes: a target does not say for which
// reals they stand.
func (p *program) quantisedEnds(g *model.Graph) {
	for _, v := range g.Inputs {
		if v.Quantised != nil {
			p.lossy("the input %.200q is codes (%s), and %s has no place for that", v.Name, v.Quantised, p.target.name)
		}
	}
	for _, o := range g.Outputs {
		if o.Value.Quantised != nil {
			p.lossy("the output %.200q is codes (%s), and %s has no place for that", o.Name, o.Value.Quantised, p.target.name)
		}
	}
}
