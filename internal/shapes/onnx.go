package shapes

import (
	"math"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// onnxRule gives the rule of a node of ONNX, or of one of ONNX Runtime's own operators.
func onnxRule(n *model.Node) rule {
	switch n.Domain {
	case "":
		return onnxRules[n.Op]
	case "com.microsoft":
		return microsoftRules[n.Op]
	}
	return nil
}

var onnxRules = func() map[string]rule {
	all := map[string]rule{
		"Identity": copied,
		"Cast":     func(c *call) { cast(operators.CastType(c.node))(c) },
		"CastLike": func(c *call) { cast(c.dtype(1))(c) },

		"Add": onnxElementwise(plus), "Sub": onnxElementwise(minus), "Mul": onnxElementwise(times), "Div": onnxElementwise(divide),
		"Mod": onnxElementwise(remainder), "Pow": onnxElementwise(nil), "BitShift": elementwise(nil), "PRelu": first,
		"Sum": onnxElementwise(plus), "Mean": elementwise(nil), "Min": elementwise(least), "Max": elementwise(greater),
		"BitwiseAnd": elementwise(nil), "BitwiseOr": elementwise(nil), "BitwiseXor": elementwise(nil),
		"Equal": onnxCompare(isEqual), "Less": onnxCompare(isLess), "Greater": onnxCompare(isGreater),
		"LessOrEqual": compare(isAtMost), "GreaterOrEqual": compare(isAtLeast),
		"And": onnxCompare(both), "Or": onnxCompare(oneOf), "Xor": onnxCompare(nil),
		"Not": unary(opposite), "Neg": unary(negative), "Abs": unary(absolute),
		"Where": choose, "IsNaN": firstAs(garner.Bool), "IsInf": firstAs(garner.Bool),

		"Shape":           func(c *call) { c.shapeOf(garner.I64, c.number("start", 0), c.number("end", math.MaxInt64)) },
		"Size":            func(c *call) { c.sizeOf(garner.I64) },
		"Reshape":         func(c *call) { c.reshape(c.list("shape", 1), reshaping{!c.flag("allowzero", false), true}) },
		"Flatten":         flatten,
		"Unsqueeze":       func(c *call) { c.unsqueeze(c.list("axes", 1)) },
		"Squeeze":         func(c *call) { c.squeeze(c.list("axes", 1), !c.has(1) && !c.given("axes")) },
		"Transpose":       func(c *call) { c.transpose(c.list("perm", -1), !c.given("perm")) },
		"Concat":          func(c *call) { c.concat(c.number("axis", 1), true, c.in) },
		"Split":           onnxSplit,
		"Slice":           onnxSlice,
		"Expand":          func(c *call) { c.expand(c.list("", 1)) },
		"Tile":            onnxTile,
		"Pad":             onnxPad,
		"ConstantOfShape": onnxFill,
		"Range":           onnxRange,
		"EyeLike":         func(c *call) { c.set(0, c.at(0).as(c.dtypeOf("dtype", c.dtype(0)))) },
		"DepthToSpace":    func(c *call) { c.blocks(c.number("blocksize", 0), false) },
		"SpaceToDepth":    func(c *call) { c.blocks(c.number("blocksize", 0), true) },

		"ArgMax": onnxExtreme, "ArgMin": onnxExtreme,
		"TopK":              onnxTopK,
		"NonZero":           func(c *call) { c.nonZero(garner.I64, true) },
		"OneHot":            func(c *call) { c.oneHot(c.dtype(2), c.number("axis", -1), c.one("", 1, whole)) },
		"Compress":          func(c *call) { c.compress(c.number("axis", 0), c.given("axis")) },
		"Unique":            onnxUnique,
		"CumSum":            totals,
		"CumProd":           totals,
		"NonMaxSuppression": func(c *call) { c.set(0, of(garner.I64, anyExtent, exactly(3))) },

		"MatMul":        func(c *call) { c.set(0, matMul(c.dtype(0), c.at(0), c.at(1), false, false)) },
		"MatMulInteger": func(c *call) { c.set(0, matMul(garner.I32, c.at(0), c.at(1), false, false)) },
		"QLinearMatMul": func(c *call) { c.set(0, matMul(c.dtype(7), c.at(0), c.at(3), false, false)) },
		"Gemm":          func(c *call) { c.product2(c.dtype(0), 0, 1, c.flag("transA", false), c.flag("transB", false)) },
		"Einsum":        func(c *call) { c.einsum(c.dtype(0), c.text("equation", ""), c.in) },

		"Conv":          func(c *call) { c.conv(c.dtype(0), 0, 1) },
		"ConvInteger":   func(c *call) { c.conv(garner.I32, 0, 1) },
		"QLinearConv":   func(c *call) { c.conv(c.dtype(7), 0, 3) },
		"ConvTranspose": func(c *call) { c.convTranspose() },
		"MaxPool":       onnxPool, "AveragePool": onnxPool, "LpPool": onnxPool,
		"GlobalAveragePool": onnxGlobalPool, "GlobalMaxPool": onnxGlobalPool, "GlobalLpPool": onnxGlobalPool,
		"Resize": onnxResize, "Upsample": onnxResize,
		"LSTM": func(c *call) { onnxRecurrent(c) }, "GRU": onnxRecurrent, "RNN": onnxRecurrent,

		"LayerNormalization": onnxLayerNorm,
		"Dropout":            onnxDropout,
		"QuantizeLinear":     onnxQuantize,
		"DequantizeLinear":   onnxDequantize,
		"DynamicQuantizeLinear": func(c *call) {
			c.set(0, c.at(0).as(garner.U8))
			c.set(1, scalar(garner.F32))
			c.set(2, scalar(garner.U8))
		},
		"RandomNormal": onnxRandom, "RandomUniform": onnxRandom,
		"RandomNormalLike": onnxLike, "RandomUniformLike": onnxLike, "Bernoulli": onnxLike,
		"Multinomial": onnxMultinomial,
	}
	for _, op := range []string{
		"Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BatchNormalization", "BitwiseNot", "Ceil", "Celu", "Clip", "Cos", "Cosh", "Elu", "Erf", "Exp", "Floor",
		"Gelu", "GroupNormalization", "HardSigmoid", "HardSwish", "Hardmax", "InstanceNormalization", "LRN", "LeakyRelu", "Log", "LogSoftmax",
		"LpNormalization", "MeanVarianceNormalization", "Mish", "RMSNormalization", "Reciprocal", "Relu", "ReverseSequence", "Round", "Scatter", "ScatterElements", "ScatterND", "TensorScatter",
		"Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softmax", "Softplus", "Softsign", "Sqrt", "Swish", "Tan", "Tanh", "ThresholdedRelu", "Trilu",
		"SimplifiedLayerNormalization", "RotaryEmbedding",
	} {
		all[op] = first
	}
	for op, do := range map[string]func(e []number) number{
		"ReduceSum": plus, "ReduceProd": times, "ReduceMax": greater, "ReduceMin": least,
		"ReduceMean": nil, "ReduceL1": nil, "ReduceL2": nil, "ReduceLogSum": nil, "ReduceLogSumExp": nil, "ReduceSumSquare": nil,
	} {
		all[op] = onnxReduce(do, map[string]int64{"ReduceProd": 1}[op], op == "ReduceSum" || op == "ReduceProd")
	}
	return all
}()

var microsoftRules = map[string]rule{
	"Gelu": first, "FastGelu": first, "QuickGelu": first, "BiasGelu": first, "BiasSoftmax": first, "Inverse": first, "Trilu": first,
	"RotaryEmbedding": first, "BiasDropout": first,
	"SkipLayerNormalization":           func(c *call) { c.set(0, c.at(0).bare()); c.set(3, c.at(0).bare()) },
	"SkipSimplifiedLayerNormalization": func(c *call) { c.set(0, c.at(0).bare()); c.set(3, c.at(0).bare()) },
	"QuantizeLinear":                   onnxQuantize,
	"DequantizeLinear":                 onnxDequantize,
	"FusedConv":                        func(c *call) { c.conv(c.dtype(0), 0, 1) },
	"FusedMatMul": func(c *call) {
		if !c.flag("transBatchA", false) && !c.flag("transBatchB", false) {
			c.set(0, matMul(c.dtype(0), c.at(0), c.at(1), c.flag("transA", false), c.flag("transB", false)))
		}
	},
	"DynamicQuantizeMatMul": func(c *call) { c.set(0, matMul(c.dtype(0), c.at(0), c.at(1), false, false)) },
	"MatMulIntegerToFloat":  func(c *call) { c.set(0, matMul(c.dtype(2), c.at(0), c.at(1), false, false)) },
	"MatMulNBits": func(c *call) {
		f := c.at(0)
		if f.ranked() && len(f.dims) > 0 && c.given("N") {
			dims := slices.Clone(f.dims)
			dims[len(dims)-1] = exactly(c.number("N", 0)).extent()
			c.set(0, of(f.dtype, dims...))
		}
	},
}

// oldBroadcast reports whether the node is of an opset below 7, where the result has the dims of the first operand.
func oldBroadcast(c *call) bool { return c.node.Version > 0 && c.node.Version < 7 && len(c.in) == 2 }

func onnxElementwise(do func(e []number) number) rule {
	return func(c *call) {
		if oldBroadcast(c) {
			first(c)
			return
		}
		elementwise(do)(c)
		if d := c.dtype(0); len(c.out) > 0 && c.out[0].dtype != d && (d != garner.Invalid || c.node.Op == "Pow") {
			c.out[0] = c.out[0].as(d)
		}
	}
}

func onnxCompare(do func(e []number) number) rule {
	return func(c *call) {
		if oldBroadcast(c) {
			firstAs(garner.Bool)(c)
			return
		}
		compare(do)(c)
	}
}

// dtypeOf gives the dtype that an attribute names by ONNX's number.
func (c *call) dtypeOf(name string, otherwise garner.DType) garner.DType {
	if n, ok := c.node.Attributes[name].(int64); ok {
		return operators.ONNXType(n)
	}
	return otherwise
}

func onnxSplit(c *call) {
	axis, sizes := c.number("axis", 0), c.list("split", 1)
	if sizes == nil && (c.has(1) || c.given("split")) {
		sizes = slices.Repeat([]number{anyExtent}, len(c.out))
		for i := range sizes {
			sizes[i].low = -1 // not known
		}
	}
	parts := c.number("num_outputs", int64(len(c.out)))
	c.split(0, axis, true, sizes, parts, !c.given("num_outputs"))
}

func onnxSlice(c *call) {
	starts, ends := c.list("starts", 1), c.list("ends", 2)
	axes, steps := c.list("axes", 3), c.list("steps", 4)
	hasAxes, hasSteps := c.given("axes") || c.has(3), c.has(4)
	c.slice(c.cuts(starts, ends, axes, steps, hasAxes, hasSteps))
}

// cuts gives the slices by axis; nil where an axis is not known.
func (c *call) cuts(starts, ends, axes, steps []number, hasAxes, hasSteps bool) map[int]cut {
	f := c.at(0)
	if hasAxes && axes == nil || !hasAxes && starts == nil || !f.ranked() {
		return nil
	}
	if !hasAxes {
		axes = make([]number, len(starts))
		for i := range axes {
			axes[i] = exactly(int64(i))
		}
	}
	get := func(list []number, i int, given bool, otherwise number) number {
		switch {
		case !given:
			return otherwise
		case i < len(list):
			return list[i]
		}
		return whole
	}
	cuts := map[int]cut{}
	for i, a := range axes {
		at, ok := axisOf(a.low, len(f.dims))
		if _, twice := cuts[at]; !a.known() || !ok || twice {
			return nil
		}
		made := cut{start: get(starts, i, true, whole), stop: get(ends, i, true, whole), step: get(steps, i, hasSteps, exactly(1))}
		made.to = made.step.high < 0 && (made.stop.equals(math.MaxInt32) || made.stop.equals(math.MaxInt64)) // the end in the direction of the step
		cuts[at] = made
	}
	return cuts
}

func onnxTile(c *call) {
	if c.node.Version > 0 && c.node.Version < 6 {
		c.set(0, c.at(0).openDims()) // tiles and an axis
		return
	}
	c.tile(c.list("", 1), false)
}

// openDims is f with dims that may be anything.
func (f fact) openDims() fact {
	if f.ranked() {
		return ofRank(f.dtype, f.rank)
	}
	return f.bare()
}

func onnxPad(c *call) {
	pads := c.list("pads", 1)
	if pads == nil {
		pads = c.list("paddings", -1)
	}
	var axes []int64
	if c.has(3) {
		list, ok := c.constants("", 3)
		if !ok {
			c.set(0, c.at(0).openDims())
			return
		}
		axes = list
	}
	if len(pads)%2 != 0 || pads == nil {
		c.set(0, c.at(0).openDims())
		return
	}
	c.pad(pads[:len(pads)/2], pads[len(pads)/2:], axes)
}

func onnxFill(c *call) {
	d, value := garner.F32, whole
	if v, ok := c.node.Attributes["value"].(*model.Constant); ok {
		d = v.Spec.DType
		if list := elementsOf(v); len(list) == 1 {
			value = list[0]
		}
	}
	c.filled(d, c.list("", 0), value)
}

func onnxRange(c *call) {
	d := c.dtype(0)
	if d == garner.Invalid {
		d = c.dtype(1)
	}
	if !d.IsInteger() {
		c.set(0, of(d, anyExtent))
		return
	}
	c.countUp(d, c.one("", 0, whole), c.one("", 1, whole), c.one("", 2, whole))
}

// blocks is the rule of DepthToSpace, and of SpaceToDepth, of N × C × H × W.
func (c *call) blocks(n int64, intoDepth bool) {
	f := c.at(0)
	made := ofRank(f.dtype, garner.Exactly(4))
	if f.ranked() && len(f.dims) == 4 && n >= 1 && n <= most {
		by := exactly(n)
		square := by.multiply(by)
		if intoDepth {
			made.dims = []number{f.dims[0], f.dims[1].multiply(square), f.dims[2].over(by), f.dims[3].over(by)}
		} else {
			made.dims = []number{f.dims[0], f.dims[1].over(square), f.dims[2].multiply(by), f.dims[3].multiply(by)}
		}
	}
	c.set(0, made)
}

func onnxExtreme(c *call) {
	c.extreme(garner.I64, []number{exactly(c.number("axis", 0))}, c.flag("keepdims", true))
}

func onnxReduce(do func(e []number) number, none int64, exact bool) rule {
	return func(c *call) {
		f := c.at(0)
		axes := c.list("axes", 1)
		every := !c.given("axes") && !c.has(1) || axes != nil && len(axes) == 0
		switch noop := c.flag("noop_with_empty_axes", false); {
		case every && noop:
			first(c)
			return
		case axes == nil && !every && c.has(1) && c.at(1).ranked() && len(c.at(1).dims) == 1 && c.at(1).dims[0].has(0):
			// perhaps no axis, which is all or none
			if c.flag("keepdims", true) {
				c.set(0, reduced(f, f.dtype, nil, false, true))
			} else {
				c.set(0, fact{dtype: f.dtype, rank: garner.Dim{Max: f.rank.Max}})
			}
			return
		}
		made := reduced(f, f.dtype, axes, every, c.flag("keepdims", true))
		if f.elems != nil && (exact || len(f.elems) > 0) && (every || len(axes) == 1 && axes[0].known()) {
			made = reducedElements(made, f, do, exactly(none))
		}
		c.set(0, made)
	}
}

func onnxTopK(c *call) { c.topK(exactly(c.number("axis", -1)), c.one("k", 1, whole), garner.I64) }

func onnxUnique(c *call) {
	c.compress(c.number("axis", 0), c.given("axis"))
	for i := 1; i < 4; i++ {
		c.set(i, of(garner.I64, anyExtent))
	}
}

// conv is the rule of a convolution of the i-th input by the kernel that is the j-th.
func (c *call) conv(d garner.DType, i, j int) {
	x, w := c.at(i), c.at(j)
	rank := x.rank
	if !x.ranked() {
		rank = w.rank
	}
	if !rank.Known() || rank.Min < 3 || x.ranked() && w.ranked() && len(x.dims) != len(w.dims) {
		c.set(0, fact{dtype: d, rank: rank})
		if rank.Known() {
			c.set(0, ofRank(d, rank))
		}
		return
	}
	dims := ofRank(d, rank).dims
	if x.ranked() {
		copy(dims, x.dims)
	}
	dims[1] = anyExtent
	n := len(dims) - 2
	var sizes []number
	if w.ranked() {
		dims[1] = w.dims[0]
		sizes = w.dims[2:]
	}
	if list := c.list("kernel_shape", -1); len(list) == n {
		sizes = list
	}
	moved(dims, 2, c.windows(n, sizes))
	c.set(0, of(d, dims...))
}

// windows reads the attributes of a convolution or a pool of ONNX.
func (c *call) windows(n int, sizes []number) []window {
	strides, _ := c.ints("strides")
	dilations, _ := c.ints("dilations")
	pads, _ := c.ints("pads")
	auto := c.text("auto_pad", "NOTSET")
	var begins, ends []int64
	if len(pads) == 2*n {
		begins, ends = pads[:n], pads[n:]
	}
	return windowsOf(n, sizes, strides, dilations, begins, ends, auto == "SAME_UPPER" || auto == "SAME_LOWER", auto == "VALID", c.flag("ceil_mode", false))
}

func onnxPool(c *call) {
	f := c.at(0)
	sizes := c.list("kernel_shape", -1)
	made := f.openDims()
	if f.ranked() && len(f.dims) >= 3 && len(sizes) == len(f.dims)-2 {
		dims := slices.Clone(f.dims)
		moved(dims, 2, c.windows(len(sizes), sizes))
		made = of(f.dtype, dims...)
	} else if !f.ranked() && sizes != nil {
		made = ofRank(f.dtype, garner.Exactly(len(sizes)+2))
	}
	c.set(0, made)
	if c.node.Op == "MaxPool" {
		c.set(1, made.as(garner.I64))
	}
}

func onnxGlobalPool(c *call) {
	f := c.at(0)
	if !f.ranked() || len(f.dims) < 2 {
		c.set(0, f.openDims())
		return
	}
	dims := slices.Repeat([]number{exactly(1)}, len(f.dims))
	copy(dims, f.dims[:2])
	c.set(0, of(f.dtype, dims...))
}

func (c *call) convTranspose() {
	x, w := c.at(0), c.at(1)
	made := x.openDims()
	c.set(0, made)
	if !x.ranked() || len(x.dims) < 3 {
		return
	}
	dims := slices.Clone(made.dims)
	dims[0] = x.dims[0]
	if w.ranked() && len(w.dims) == len(dims) {
		dims[1] = w.dims[1].multiply(exactly(c.number("group", 1))).extent()
	}
	n := len(dims) - 2
	outputShape, given := c.ints("output_shape")
	auto := c.text("auto_pad", "NOTSET")
	more, _ := c.ints("output_padding")
	sizes := c.list("kernel_shape", -1)
	if sizes == nil && w.ranked() && len(w.dims) == n+2 {
		sizes = w.dims[2:]
	}
	for i, win := range c.windows(n, sizes) {
		extra := int64(0)
		if len(more) == n {
			extra = more[i]
		}
		switch d := x.dims[2+i]; {
		case given && len(outputShape) == n:
			dims[2+i] = exactly(outputShape[i]).extent()
		case given || auto == "SAME_UPPER" || auto == "SAME_LOWER":
		default:
			dims[2+i] = win.back(d, extra)
		}
	}
	c.set(0, of(x.dtype, dims...))
}

// onnxResize is Resize, Resize of opset 10 and Upsample.
func onnxResize(c *call) {
	f := c.at(0)
	c.set(0, f.openDims())
	if !f.ranked() {
		return
	}
	scalesAt := 2
	if c.node.Op == "Upsample" || c.node.Version > 0 && c.node.Version < 11 {
		scalesAt = 1
	}
	dims := slices.Clone(f.dims)
	axes, some := c.ints("axes")
	if !some {
		for i := range dims {
			axes = append(axes, int64(i))
		}
	}
	policy := c.text("keep_aspect_ratio_policy", "stretch")
	sizes := c.list("", 3)
	scales := c.floats(scalesAt)
	if list, ok := c.node.Attributes["scales"].([]float64); ok {
		scales = list
	}
	hasSizes := scalesAt == 2 && c.has(3)
	for i, a := range axes {
		at, ok := axisOf(a, len(dims))
		if !ok {
			return
		}
		switch {
		case hasSizes && len(sizes) == len(axes) && policy == "stretch":
			dims[at] = sizes[i].extent()
		case !hasSizes && len(scales) == len(axes) && c.text("coordinate_transformation_mode", "") != "tf_crop_and_resize":
			dims[at] = scaled(f.dims[at], scales[i])
		default:
			dims[at] = anyExtent
		}
	}
	c.set(0, of(f.dtype, dims...))
}

// scaled is an extent times a factor, rounded down. Runtimes multiply in f32, so the number just
// above or below counts too where the product is near a whole one.
func scaled(d number, by float64) number {
	switch {
	case by == 1:
		return d
	case !(by > 0) || by > most || d.high > 1<<22:
		return anyExtent
	}
	low, high := float64(d.low)*by, float64(d.high)*by
	if by == math.Trunc(by) {
		return number{low: int64(low), high: int64(high)}
	}
	return number{low: int64(low * (1 - 1e-6)), high: int64(high * (1 + 1e-6))}
}

func onnxRecurrent(c *call) {
	x, w, r := c.at(0), c.at(1), c.at(2)
	batchFirst := c.flag("layout", false)
	sequence, batch, directions, hidden := anyExtent, anyExtent, anyExtent, anyExtent
	if x.ranked() && len(x.dims) == 3 {
		if sequence, batch = x.dims[0], x.dims[1]; batchFirst {
			sequence, batch = batch, sequence
		}
	}
	switch c.text("direction", "forward") {
	case "forward", "reverse":
		directions = exactly(1)
	case "bidirectional":
		directions = exactly(2)
	default:
		if w.ranked() && len(w.dims) == 3 {
			directions = w.dims[0]
		}
	}
	if c.given("hidden_size") {
		hidden = exactly(c.number("hidden_size", 0)).extent()
	} else if r.ranked() && len(r.dims) == 3 {
		hidden = r.dims[2]
	}
	all, last := recurrent(x.dtype, sequence, directions, batch, hidden, batchFirst)
	c.set(0, all)
	c.set(1, last)
	if c.node.Op == "LSTM" {
		c.set(2, last)
	}
}

func onnxLayerNorm(c *call) {
	f := c.at(0)
	c.set(0, f.bare())
	stash := c.dtypeOf("stash_type", garner.F32)
	made := fact{dtype: stash, rank: f.rank}
	if at, ok := axisOf(c.number("axis", -1), len(f.dims)); ok && f.ranked() {
		dims := slices.Repeat([]number{exactly(1)}, len(f.dims))
		copy(dims, f.dims[:at])
		made = of(stash, dims...)
	} else if f.ranked() {
		made = ofRank(stash, f.rank)
	}
	c.set(1, made)
	c.set(2, made)
}

func onnxDropout(c *call) {
	c.set(0, c.at(0).bare())
	if c.node.Version >= 10 {
		c.set(1, c.at(0).as(garner.Bool))
	} else {
		c.set(1, c.at(0).as(garner.Invalid))
	}
}

func onnxQuantize(c *call) {
	d := c.dtypeOf("output_dtype", garner.U8)
	if c.has(2) {
		d = c.dtype(2)
	}
	c.set(0, c.at(0).as(d))
}

func onnxDequantize(c *call) { c.set(0, c.at(0).as(c.dtypeOf("output_dtype", c.dtype(1)))) }

func onnxRandom(c *call) {
	list := c.list("shape", -1)
	dims := make([]number, len(list))
	for i, n := range list {
		dims[i] = n.extent()
	}
	if list != nil {
		c.set(0, of(c.dtypeOf("dtype", garner.F32), dims...))
	}
}

func onnxLike(c *call) {
	d := c.dtype(0)
	c.set(0, c.at(0).as(c.dtypeOf("dtype", d)))
}

func onnxMultinomial(c *call) {
	batch := anyExtent
	if f := c.at(0); f.ranked() && len(f.dims) == 2 {
		batch = f.dims[0]
	}
	c.set(0, of(c.dtypeOf("dtype", garner.I32), batch, exactly(c.number("sample_size", 1)).extent()))
}
