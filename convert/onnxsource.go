package convert

import (
	"github.com/garner-go/garner"
	"github.com/garner-go/garner/operators"
)

// onnxGather is what ONNX Runtime makes of the indices of every gather.
var onnxGather = policy{fromEnd: true, outside: refused}

// onnxSource is ONNX as ONNX Runtime runs it.
var onnxSource = &origin{
	runtime: onnxRuntime,
	folds:   ofShape("Shape"), // and not Size
	nodes: map[string]func(c *call){
		"Identity":        func(c *call) { c.set(c.one(opIdentity, c.in(0))) },
		"Cast":            onnxCast,
		"CastLike":        castLikeOf,
		"Reshape":         onnxReshape,
		"Flatten":         onnxFlatten,
		"Squeeze":         squeezeOf(false),
		"Unsqueeze":       unsqueezeOf,
		"Transpose":       transposeOf,
		"Concat":          concatOf,
		"Slice":           sliceOf(3, 4),
		"Shape":           onnxShape,
		"Size":            func(c *call) { c.set(c.reduceProd(c.shape(c.in(0)), []int64{0}, false)) },
		"Expand":          func(c *call) { c.set(c.expand(c.in(0), c.in(1))) },
		"Tile":            onnxTile,
		"ConstantOfShape": onnxConstantOfShape,
		"Range":           rangeOf,
		"ReduceProd":      reduceProdOf("keepdims", 1),
		"ReduceSum":       reduceSumOf("keepdims", 1),
		"ReduceMax":       extremeOf(opReduceMax, "keepdims", 1),
		"ReduceMin":       extremeOf(opReduceMin, "keepdims", 1),
		"ArgMax":          argExtremeOf(opReduceMax),
		"ArgMin":          argExtremeOf(opReduceMin),
		"NonZero":         nonZeroOf,
		"Compress":        compressOf,
		"EyeLike":         eyeLikeOf,
		"Trilu":           triluOf,
		"OneHot":          oneHotOf,
		"Pad":             onnxPad,
		"IsNaN":           isNaNOf,
		"Sign":            signOf,
		"Sqrt":            sqrtOf,
		"CumSum":          cumSumOf,
		"Abs":             absOf,
		"TopK":            onnxTopK,
		"ScatterElements": onnxScatter,
		"Scatter":         onnxScatter,
		"Split":           onnxSplit,
		"Where":           whereOf,
		"Clip":            onnxClip,
		"Neg":             negOf,
		"Add":             onnxBroadcasts(pair(opAdd)),
		"Sub":             onnxBroadcasts(pair(opSub)),
		"Mul":             onnxBroadcasts(pair(opMul)),
		"Div":             onnxBroadcasts(pair(opDiv)),
		"Mod":             onnxMod,
		"Min":             chain(opMin),
		"Max":             chain(opMax),
		"Equal":           onnxBroadcasts(pair(opEqual)),
		"Less":            onnxBroadcasts(pair(opLess)),
		"LessOrEqual":     pair(opLessEq),
		"Greater":         onnxBroadcasts(pair(opGreater)),
		"GreaterOrEqual":  pair(opGreatEq),
		"And":             onnxBroadcasts(pair(opAnd)),
		"Or":              onnxBroadcasts(pair(opOr)),
		"Xor":             onnxBroadcasts(pair(opXor)),
		"Not":             func(c *call) { c.set(c.one(opNot, c.in(0))) },
	},
	gathers: map[string]func(g *call){
		"onnx.Gather-1": onnxGatherOf, "onnx.Gather-11": onnxGatherOf, "onnx.Gather-13": onnxGatherOf,
		"onnx.GatherElements-11": onnxElements, "onnx.GatherElements-13": onnxElements,
		"onnx.GatherND-11": onnxGatherND, "onnx.GatherND-12": onnxGatherND, "onnx.GatherND-13": onnxGatherND,
		"com.microsoft.GatherND-1": onnxGatherND, "com.microsoft.GatherBlockQuantized-1": onnxBlocks,
	},
}

func onnxGatherOf(g *call) {
	data := g.in(0)
	g.set(g.gather(opGather, data, g.in(1), g.axisOf(g.attribute("axis", 0), g.needRank(data)), 0, onnxGather))
}

func onnxElements(g *call) {
	data := g.in(0)
	g.set(g.gather(opGatherElements, data, g.in(1), g.axisOf(g.attribute("axis", 0), g.needRank(data)), 0, onnxGather))
}

func onnxGatherND(g *call) {
	g.set(g.gather(opGatherND, g.in(0), g.in(1), 0, int(g.attribute("batch_dims", 0)), onnxGather))
}

// before reports whether the node is of an opset older than n.
func (c *call) before(n int) bool { return c.node.Version > 0 && c.node.Version < n }

// onnxBroadcasts refuses the broadcasting of opsets before 7.
func onnxBroadcasts(then func(c *call)) func(c *call) {
	return func(c *call) {
		if c.before(7) && c.attribute("broadcast", 0) != 0 {
			c.fail(ErrUnsupported, "%s of opset %d with broadcast=1 is not converted; convert the model to a later opset first", c.node.Op, c.node.Version)
			return
		}
		then(c)
	}
}

func onnxCast(c *call) {
	to := garner.Invalid
	switch v := c.node.Attributes["to"].(type) {
	case int64:
		to = operators.ONNXType(v)
	case string: // before opset 6
		to, _ = garner.ParseDType(v)
	}
	if to == garner.Invalid {
		c.fail(garner.ErrAttribute, "it does not say what to cast to, or garner lacks that type")
		return
	}
	c.set(c.castTo(c.in(0), to))
}

func onnxReshape(c *call) {
	dims := c.vector("shape", 1)
	if dims == nil {
		dims = c.in(1)
	}
	c.set(c.reshape(c.in(0), dims, c.attribute("allowzero", 0) == 0))
}

func onnxFlatten(c *call) {
	x := c.in(0)
	rank := c.needRank(x)
	axis := c.attribute("axis", 1)
	if axis != int64(rank) {
		axis = int64(c.axisOf(axis, rank))
	}
	if c.err != nil {
		return
	}
	if shape, ok := x.spec.Shape(); ok {
		left, fits := shape[:axis].Len()
		if right, also := shape[axis:].Len(); fits && also {
			c.set(c.reshape(x, c.of(int64(left), int64(right)), false))
			return
		}
	}
	product := func(from, n int) *value {
		if n == 0 {
			return c.of(1)
		}
		return c.reduceProd(c.dims(x, from, n, garner.I64), []int64{0}, true)
	}
	c.set(c.reshape(x, c.concat(0, product(0, int(axis)), product(int(axis), rank-int(axis))), false))
}

func onnxShape(c *call) {
	x := c.in(0)
	start, end := c.attribute("start", 0), c.attribute("end", int64(garner.MaxRank))
	made := c.shape(x)
	if start != 0 || end < int64(garner.MaxRank) {
		made = c.cut(made, 0, start, end)
	}
	c.set(c.one(opIdentity, made))
}

func onnxTile(c *call) {
	if c.before(6) {
		c.fail(ErrUnsupported, "Tile of opset %d is not converted; convert the model to a later opset first", c.node.Version)
		return
	}
	c.set(c.tiled(c.in(0), c.in(1)))
}

func onnxConstantOfShape(c *call) {
	one := c.zero(garner.F32)
	if v, ok := c.node.Attributes["value"]; ok {
		one = c.scalarOf(v)
	}
	if one == nil {
		return
	}
	c.set(c.expand(one, c.in(0)))
}

// rangeOf makes integers from start to stop.
func rangeOf(c *call) {
	in := []*value{c.in(0), c.in(1), c.in(2)}
	dtype := in[0].spec.DType
	for i, v := range in {
		if v.spec.DType != dtype {
			c.fail(garner.ErrDType, "its inputs are %s and %s, which differ in dtype", in[0].spec, v.spec)
		}
		if rank, ok := v.rank(); ok && rank == 1 {
			in[i] = c.squeeze(v, []int64{0})
		}
	}
	c.set(c.rangeFrom(in))
}

func (p *program) rangeFrom(in []*value) *value {
	dtype := in[0].spec.DType
	if dtype != garner.I32 && dtype != garner.I64 {
		p.fail(garner.ErrDType, "a range of %s is not converted; that of i32 and i64 is", dtype)
	}
	if p.target == irTarget && p.options.runtime != openVINO {
		// OpenVINO counts on where the limit is on the other side of the start.
		start, limit, step := in[0], in[1], in[2]
		if list, ok := step.integers(); ok && len(list) == 1 && list[0] > 0 {
			limit = p.two(opMax, start, limit)
		} else if ok && len(list) == 1 {
			limit = p.two(opMin, start, limit)
		} else {
			limit = p.choose(p.two(opGreater, step, p.number(dtype, 0)), p.two(opMax, start, limit), p.two(opMin, start, limit))
		}
		in = []*value{start, limit, step}
	}
	return p.add(&node{op: opRange, in: in}, dtype)
}

func onnxClip(c *call) {
	x := c.in(0)
	switch d := x.spec.DType; {
	case d == garner.F32 || d == garner.F64:
		if c.node.Attributes["min"] != nil || c.node.Attributes["max"] != nil || c.before(11) {
			c.fail(ErrUnsupported, "Clip of opset %d is not converted; convert the model to opset 11 first", c.node.Version)
			return
		}
		c.lossy("a Clip of floats becomes Max and Min, which may differ for a NaN, and in the sign of a zero")
	case !d.IsInteger():
		c.fail(garner.ErrDType, "Clip of %s is not converted; that of integers, f32 and f64 is", d)
		return
	}
	for i, o := range []op{opMax, opMin} {
		if c.has(1 + i) {
			x = c.compute(o, x, c.in(1+i))
		}
	}
	if x == c.in(0) {
		x = c.one(opIdentity, x)
	}
	c.set(x)
}

func onnxMod(c *call) {
	if c.attribute("fmod", 0) != 0 {
		pair(opMod)(c)
		return
	}
	pair(opFloorMod)(c)
}
