package shapes

import (
	"math"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// tensorflowRule gives the rule of a node of TensorFlow.
func tensorflowRule(n *model.Node) rule { return tensorflowRules[n.Op] }

var tensorflowRules = func() map[string]rule {
	all := map[string]rule{
		"EnsureShape": func(c *call) { c.set(0, c.at(0).refined(c.shapeAttribute("shape"))) },
		"Placeholder": tensorflowPlaceholder, "PlaceholderWithDefault": tensorflowPlaceholder,
		"IdentityN": func(c *call) {
			for i := range c.out {
				c.set(i, c.at(i))
			}
		},
		"Switch": func(c *call) { c.set(0, c.at(0)); c.set(1, c.at(0)) },
		"Merge":  tensorflowMerge,
		"Cast":   func(c *call) { cast(operators.CastType(c.node))(c) },

		"Add": elementwise(plus), "AddV2": elementwise(plus), "Sub": elementwise(minus), "Mul": elementwise(times),
		"Div": elementwise(divide), "FloorDiv": elementwise(divide), "TruncateDiv": elementwise(divide),
		"FloorMod": elementwise(remainder), "Mod": elementwise(remainder), "TruncateMod": elementwise(remainder),
		"Minimum": elementwise(least), "Maximum": elementwise(greater), "AddN": alike,
		"Neg": unary(negative), "Abs": unary(absolute), "LogicalNot": unary(opposite),
		"Equal": tensorflowEqual(isEqual), "NotEqual": tensorflowEqual(isUnequal),
		"Less": compare(isLess), "Greater": compare(isGreater), "LessEqual": compare(isAtMost), "GreaterEqual": compare(isAtLeast),
		"LogicalAnd": compare(both), "LogicalOr": compare(oneOf),
		"ApproximateEqual": func(c *call) { c.set(0, c.alike1().as(garner.Bool)) },
		"Select":           tensorflowSelect, "SelectV2": choose,
		"ZerosLike": likeOf(0), "OnesLike": likeOf(1),

		"Shape": func(c *call) { c.shapeOf(c.dtypeNamed("out_type", garner.I32), 0, math.MaxInt64) },
		"ShapeN": func(c *call) {
			for i := range min(len(c.out), len(c.in)) {
				if c.node.Outputs[i] == nil {
					continue // which nothing reads
				}
				one := &call{inference: c.inference, node: c.node, in: c.in[i:], out: c.out[i : i+1]}
				one.shapeOf(c.dtypeNamed("out_type", garner.I32), 0, math.MaxInt64)
			}
		},
		"VariableShape": func(c *call) { c.shapeOf(c.dtypeNamed("out_type", garner.I32), 0, math.MaxInt64) },
		"Size":          func(c *call) { c.sizeOf(c.dtypeNamed("out_type", garner.I32)) },
		"Rank":          rankOf,
		"Reshape":       func(c *call) { c.reshape(c.list("", 1), reshaping{minusOne: true}) },
		"ExpandDims":    func(c *call) { c.unsqueeze(c.single(1)) },
		"Squeeze":       func(c *call) { c.squeezeAxes("squeeze_dims") },
		"Transpose":     func(c *call) { c.transpose(c.list("", 1), false) }, "ConjugateTranspose": func(c *call) { c.transpose(c.list("", 1), false) },
		"Pack":     func(c *call) { c.pack(c.number("axis", 0)) },
		"Unpack":   func(c *call) { c.unpack(c.number("axis", 0)) },
		"ConcatV2": func(c *call) { last := max(len(c.in)-1, 0); c.join(last, c.in[:last]) },
		"Concat":   func(c *call) { c.join(0, c.in[min(1, len(c.in)):]) },
		"Split": func(c *call) {
			axis := c.one("", 0, whole)
			c.split(1, axis.low, axis.known(), nil, c.number("num_split", 0), true)
		},
		"SplitV":       splitSizes,
		"Slice":        sliceOfSizes,
		"StridedSlice": stridedSlice,
		"Fill":         func(c *call) { c.filled(c.dtype(1), c.list("", 0), c.one("", 1, whole)) },
		"BroadcastTo":  broadcastTo,
		"BroadcastArgs": func(c *call) {
			if a, b := c.elems(0), c.elems(1); a != nil && b != nil {
				c.set(0, asList(c.dtype(0), broadcastDims(extents(a), extents(b))))
			} else {
				c.set(0, of(c.dtype(0), anyExtent))
			}
		},
		"Tile":     func(c *call) { c.tile(c.list("", 1), false) },
		"Range":    onnxRange,
		"LinSpace": func(c *call) { c.set(0, of(c.dtype(0), c.one("", 2, whole).extent())) },
		"Pad":      padByPairs, "PadV2": padByPairs, "MirrorPad": padByPairs,

		"ArgMax": tensorflowExtreme, "ArgMin": tensorflowExtreme,
		"TopKV2": func(c *call) { c.topK(exactly(-1), c.one("", 1, whole), c.dtypeNamed("index_type", garner.I32)) },
		"TopK":   func(c *call) { c.topK(exactly(-1), c.one("k", -1, whole), garner.I32) },
		"Where":  where,
		"OneHot": func(c *call) { c.oneHot(c.dtype(2), c.number("axis", -1), c.one("", 1, whole)) },
		"Unique": unique, "UniqueWithCounts": unique, "UniqueV2": uniqueAlong, "UniqueWithCountsV2": uniqueAlong,
		"InTopKV2": func(c *call) {
			c.set(0, c.at(1).refined(garner.SpecOfRank(garner.Invalid, garner.Exactly(1))).as(garner.Bool))
		},

		"MatMul": func(c *call) {
			c.product2(c.dtype(0), 0, 1, c.flag("transpose_a", false), c.flag("transpose_b", false))
		},
		"BatchMatMul": batchMatMul("adj_x", "adj_y"), "BatchMatMulV2": batchMatMul("adj_x", "adj_y"),
		"BatchMatMulV3": func(c *call) {
			c.set(0, matMul(c.dtypeNamed("Tout", garner.Invalid), c.at(0), c.at(1), c.flag("adj_x", false), c.flag("adj_y", false)))
		},
		"Einsum": func(c *call) { c.einsum(c.dtype(0), c.text("equation", ""), c.in) },
		"L2Loss": func(c *call) { c.set(0, scalar(c.dtype(0))) },

		"BiasAdd": biasAdd, "BiasAddV1": biasAdd,
		"LoopCond":         func(c *call) { c.set(0, scalar(garner.Bool).with(c.elems(0))) },
		"Bincount":         func(c *call) { c.set(0, of(c.dtype(2), c.one("", 1, whole).extent())) },
		"StringNGrams":     func(c *call) { c.set(0, of(garner.String, anyExtent)); c.set(1, c.at(1).bare()) },
		"TensorListStack":  tensorListStack,
		"DynamicPartition": dynamicPartition,
		"DynamicStitch":    dynamicStitch, "ParallelDynamicStitch": dynamicStitch,
		"SegmentSum": segments, "SegmentMean": segments, "SegmentMax": segments, "SegmentMin": segments, "SegmentProd": segments,
		"UnsortedSegmentSum": unsortedSegments, "UnsortedSegmentMax": unsortedSegments, "UnsortedSegmentMin": unsortedSegments, "UnsortedSegmentProd": unsortedSegments,
		"ScatterNd":     func(c *call) { c.filled(c.dtype(1), c.list("", 2), whole) },
		"SparseToDense": func(c *call) { c.filled(c.dtype(2), c.list("", 1), whole) },
		"SparseReshape": func(c *call) {
			rows, n := anyExtent, anyExtent
			if f := c.at(0); f.ranked() && len(f.dims) == 2 {
				rows = f.dims[0]
			}
			if f := c.at(2); f.ranked() && len(f.dims) == 1 {
				n = f.dims[0]
			}
			c.set(0, of(garner.I64, rows, n))
			c.set(1, of(garner.I64, n))
		},
		"SparseFillEmptyRows": sparseFillEmptyRows,
		"StringSplit":         stringSplit, "StringSplitV2": stringSplit,
		"AsString": firstAs(garner.String), "StringLength": firstAs(garner.I32),
		"StringToNumber":         func(c *call) { c.set(0, c.at(0).as(c.dtypeNamed("out_type", garner.F32))) },
		"StringToHashBucketFast": firstAs(garner.I64), "StringToHashBucketStrong": firstAs(garner.I64), "StringToHashBucket": firstAs(garner.I64),
		"RegexFullMatch": firstAs(garner.Bool), "StaticRegexFullMatch": firstAs(garner.Bool),
		"IsNan": firstAs(garner.Bool), "IsInf": firstAs(garner.Bool), "IsFinite": firstAs(garner.Bool),
		"LookupTableFind": lookUp, "LookupTableFindV2": lookUp,

		"RandomUniform": tensorflowRandom, "RandomStandardNormal": tensorflowRandom, "TruncatedNormal": tensorflowRandom,
		"StatelessRandomUniform": tensorflowRandom, "StatelessRandomNormal": tensorflowRandom, "StatelessRandomUniformV2": tensorflowRandom, "StatelessRandomNormalV2": tensorflowRandom,
		"RandomUniformInt": func(c *call) { c.filled(c.dtype(1), c.list("", 0), whole) },
		"Multinomial": func(c *call) {
			batch := anyExtent
			if f := c.at(0); f.ranked() && len(f.dims) == 2 {
				batch = f.dims[0]
			}
			c.set(0, of(c.dtypeNamed("output_dtype", garner.I64), batch, c.one("", 1, whole).extent()))
		},

		"Conv2D": tensorflowConv, "Conv3D": tensorflowConv, "DepthwiseConv2dNative": tensorflowConv,
		"Conv2DBackpropInput": convBack(4), "Conv3DBackpropInputV2": convBack(5),
		"MaxPool": tensorflowPool, "AvgPool": tensorflowPool, "MaxPool3D": tensorflowPool, "AvgPool3D": tensorflowPool,
		"FusedBatchNorm": batchNorm, "FusedBatchNormV2": batchNorm, "FusedBatchNormV3": batchNorm,
		"ResizeBilinear": resized, "ResizeNearestNeighbor": resized, "ResizeBicubic": resized, "ResizeArea": resized,
		"DepthToSpace": func(c *call) { c.blocksOfLast(c.number("block_size", 0), false) }, "SpaceToDepth": func(c *call) { c.blocksOfLast(c.number("block_size", 0), true) },
	}
	for _, op := range []string{"Identity", "ReadVariableOp", "StopGradient", "PreventGradient", "Snapshot", "CheckNumerics", "DeepCopy", "Enter", "RefEnter", "Exit", "RefExit", "NextIteration", "Print", "DebugIdentityV2"} {
		all[op] = copied
	}
	for _, op := range []string{
		"Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "ClipByValue", "Conj", "Cos", "Cosh", "Cumprod", "Cumsum", "CumulativeLogsumexp", "Digamma",
		"Elu", "Erf", "Erfc", "Erfinv", "Exp", "Expm1", "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel", "Floor", "Inv", "Invert", "InvertPermutation", "LRN", "LeakyRelu",
		"Lgamma", "Log", "Log1p", "LogSoftmax", "MatrixBandPart", "MatrixInverse", "Ndtri", "QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4", "RandomShuffle", "Reciprocal", "RegexReplace",
		"Relu", "Relu6", "Reverse", "ReverseSequence", "ReverseV2", "Rint", "Roll", "Round", "Rsqrt", "Selu", "Sigmoid", "Sign", "Sin", "Sinh", "Softmax", "Softplus", "Softsign", "Sqrt", "Square",
		"StaticRegexReplace", "StringLower", "StringStrip", "StringUpper", "Tan", "Tanh", "TensorScatterAdd", "TensorScatterMax", "TensorScatterMin", "TensorScatterSub", "TensorScatterUpdate",
	} {
		all[op] = first
	}
	for _, op := range []string{
		"Atan2", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "DivNoNan", "Igamma", "Igammac", "LeftShift", "MulNoNan", "NextAfter", "Pow", "RealDiv", "RightShift", "SquaredDifference",
		"Xdivy", "Xlog1py", "Xlogy", "Zeta",
	} {
		all[op] = elementwise(nil)
	}
	for op, do := range reductions {
		all[op] = do.reduce("keep_dims")
	}
	return all
}()

// A reduction says what a reduction makes of the elements of a list.
type reduction struct {
	do   func(e []number) number // nil: elements are not followed
	none int64                   // of no element
	any  bool                    // the reduction of no element is none
}

// reductions are those that TensorFlow has, by their names.
var reductions = map[string]reduction{
	"Sum": {plus, 0, true}, "Prod": {times, 1, true}, "Max": {do: greater}, "Min": {do: least}, "Mean": {}, "EuclideanNorm": {}, "All": {both, 1, true}, "Any": {oneOf, 0, true},
}

// reduce is the rule of a reduction along the axes of its second input; along none where there is none.
func (r reduction) reduce(keeps string) rule {
	return func(c *call) {
		f, axes := c.at(0), c.list("", 1)
		if axes == nil && c.at(1).ranked() && len(c.at(1).dims) == 0 {
			axes = []number{whole}
		}
		made := reduced(f, f.dtype, axes, false, c.flag(keeps, false))
		if len(axes) == 0 && axes != nil {
			made = f
		} else if len(axes) == 1 && axes[0].known() && (r.any || len(f.elems) > 0) {
			made = reducedElements(made, f, r.do, exactly(r.none))
		}
		c.set(0, made)
	}
}

// dtypeNamed gives the dtype that an attribute names.
func (c *call) dtypeNamed(name string, otherwise garner.DType) garner.DType {
	if s, ok := c.node.Attributes[name].(string); ok {
		d, _ := garner.ParseDType(s)
		return d
	}
	return otherwise
}

// single is the one number of an input that is an axis, as a list.
func (c *call) single(i int) []number { return []number{c.one("", i, whole)} }

// shapeAttribute is a shape that an attribute has, in which -1 is an open dim.
func (c *call) shapeAttribute(name string) garner.Spec {
	list, ok := c.node.Attributes[name].([]int64)
	if !ok || len(list) > garner.MaxRank {
		return model.Unknown
	}
	dims := make([]garner.Dim, len(list))
	for i, d := range list {
		dims[i] = anyExtent.dim()
		if d >= 0 {
			dims[i] = exactly(d).dim()
		}
	}
	return garner.SpecOfDims(garner.Invalid, dims...)
}

// tensorflowPlaceholder is Placeholder and PlaceholderWithDefault. Of old graphs the shape of a scalar may be
// one that is not known.
func tensorflowPlaceholder(c *call) {
	made := declared(c.shapeAttribute("shape"))
	if c.node.Op == "Placeholder" && made.ranked() && len(made.dims) == 0 {
		made = nothing
	}
	made.dtype = c.dtypeNamed("dtype", c.dtype(0))
	c.set(0, made)
}

// tensorflowMerge is what one of several branches gives. Of a loop one of the inputs is left out.
func tensorflowMerge(c *call) {
	if len(c.in) == 0 {
		return
	}
	made := c.in[0]
	for i, f := range c.in {
		if !c.has(i) {
			made = fact{dtype: c.in[0].dtype, rank: garner.AnyDim}
			break
		}
		made = made.either(f)
	}
	c.set(0, made)
	c.set(1, scalar(garner.I32))
}

// alike is the rule of an operator whose operands and result have the same dims.
func alike(c *call) { c.set(0, c.alike1()) }

// alike1 is what the inputs of an operator are where all have the same dims.
func (c *call) alike1() fact {
	made := c.at(0).bare()
	for i := 1; i < len(c.in); i++ {
		made = made.met(c.in[i])
	}
	return made
}

// isUnequal is NotEqual.
func isUnequal(e []number) number { return opposite([]number{isEqual(e)}) }

// tensorflowEqual is Equal and NotEqual. Where incompatible_shape_error is false, operands that do not
// broadcast give a scalar.
func tensorflowEqual(do func(e []number) number) rule {
	return func(c *call) {
		compare(do)(c)
		if !c.flag("incompatible_shape_error", true) && !broadcasts(c.at(0), c.at(1)) {
			c.set(0, fact{dtype: garner.Bool, rank: garner.AnyDim})
		}
	}
}

// broadcasts reports whether two operands broadcast in every run.
func broadcasts(f, g fact) bool {
	if f.rank == garner.Exactly(0) || g.rank == garner.Exactly(0) {
		return true
	}
	if !f.ranked() || !g.ranked() {
		return false
	}
	for i := range min(len(f.dims), len(g.dims)) {
		a, b := f.dims[len(f.dims)-1-i], g.dims[len(g.dims)-1-i]
		if !a.equals(1) && !b.equals(1) && !(a == b && (a.known() || a.is != 0 && a.low >= 1)) {
			return false
		}
	}
	return true
}

// tensorflowSelect is Select: its operands have the same dims, and the condition may have fewer.
func tensorflowSelect(c *call) {
	x, y := c.at(1), c.at(2)
	made := x.bare().met(y)
	if f := c.at(0); f.ranked() && len(f.dims) > 1 {
		made = made.met(f.as(garner.Invalid))
	}
	if e := c.elems(0); len(e) == 1 && c.at(0).ranked() && len(c.at(0).dims) == 0 && x.elems != nil && y.elems != nil && len(x.elems) == len(y.elems) {
		switch {
		case e[0].equals(1):
			made = made.with(x.elems)
		case e[0].equals(0):
			made = made.with(y.elems)
		default:
			made = made.with(unions(x.elems, y.elems))
		}
	}
	c.set(0, made)
}

// likeOf is the rule of an operator that gives every element one number.
func likeOf(n int64) rule {
	return func(c *call) {
		made := c.at(0).bare()
		if k, ok := made.len(); ok {
			made = made.with(slices.Repeat([]number{exactly(n)}, k))
		}
		c.set(0, made)
	}
}

// rankOf is the rule of Rank: a scalar of i32.
func rankOf(c *call) {
	f := c.at(0)
	c.set(0, scalar(garner.I32).with([]number{{low: int64(f.rank.Min), high: int64(min(f.rank.Max, garner.MaxRank))}}))
}

// squeezeAxes takes the dims away that an attribute lists, or every one where it lists none.
func (c *call) squeezeAxes(name string) {
	axes, ok := c.ints(name)
	if !ok && c.given(name) {
		c.squeeze(nil, false)
		return
	}
	c.squeeze(c.list(name, -1), len(axes) == 0)
}

// pack is the rule of an operator that stacks its inputs along a new axis.
func (c *call) pack(axis int64) {
	if len(c.in) == 0 {
		return
	}
	f := c.alike1()
	if !f.ranked() {
		c.set(0, ofUnknown(f.dtype, plusRank(f.rank, 1)))
		return
	}
	rank := len(f.dims) + 1
	at, ok := axisOf(axis, rank)
	if !ok {
		c.set(0, ofUnknown(f.dtype, garner.Exactly(rank)))
		return
	}
	made := of(f.dtype, slices.Insert(slices.Clone(f.dims), at, exactly(int64(len(c.in))))...)
	if rank == 1 {
		elems := make([]number, len(c.in))
		for i, f := range c.in {
			elems[i] = rangeOf(made.dtype)
			if len(f.elems) == 1 {
				elems[i] = f.elems[0]
			}
		}
		if len(elems) <= mostElements {
			made = made.with(elems)
		}
	}
	c.set(0, made)
}

// unpack is the rule of an operator that gives each position along an axis as an output.
func (c *call) unpack(axis int64) {
	f := c.at(0)
	at, ok := axisOf(axis, len(f.dims))
	made := fact{dtype: f.dtype, rank: garner.Dim{Min: max(f.rank.Min-1, 0), Max: f.rank.Max}}
	switch {
	case !f.ranked():
	case !ok:
		made = ofUnknown(f.dtype, garner.Exactly(max(len(f.dims)-1, 0)))
	default:
		made = of(f.dtype, slices.Delete(slices.Clone(f.dims), at, at+1)...)
	}
	for i := range c.out {
		c.set(i, made)
		if len(f.dims) == 1 && i < len(f.elems) {
			c.set(i, made.with(f.elems[i:i+1]))
		}
	}
}

// join is the rule of an operator that joins list along the axis that is the i-th input.
func (c *call) join(i int, list []fact) {
	axis := c.one("", i, whole)
	c.concat(axis.low, axis.known(), list)
}

// splitSizes is the rule of an operator of a value, the sizes of its parts, of which one may be -1, and an axis.
func splitSizes(c *call) {
	f, axis, sizes := c.at(0), c.one("", 2, whole), slices.Clone(c.list("", 1))
	if sizes == nil {
		sizes = make([]number, 0, len(c.out))
	}
	for i := len(sizes); i < len(c.out); i++ {
		sizes = append(sizes, number{low: -1, high: math.MaxInt64})
	}
	if at, ok := axisOf(axis.low, len(f.dims)); ok && axis.known() && f.ranked() {
		if open := slices.IndexFunc(sizes, func(n number) bool { return n.equals(-1) }); open >= 0 {
			rest := f.dims[at]
			for i, n := range sizes {
				if i != open {
					rest = rest.minus(n)
				}
			}
			if rest.low >= 0 {
				sizes[open] = rest
			}
		}
	}
	c.split(0, axis.low, axis.known(), sizes, int64(len(c.out)), false)
}

// sliceOfSizes is the rule of Slice: where it begins along each axis, and how much it takes, of which -1
// is all that is left.
func sliceOfSizes(c *call) {
	f, begins, sizes := c.at(0), c.list("", 1), c.list("", 2)
	if !f.ranked() {
		n := len(sizes)
		if sizes == nil {
			n = len(begins)
		}
		if sizes == nil && begins == nil {
			c.set(0, f.bare())
			return
		}
		f = ofRank(f.dtype, garner.Exactly(min(n, garner.MaxRank)))
	}
	dims := slices.Clone(f.dims)
	for i, d := range dims {
		begin, size := number{low: 0, high: math.MaxInt64}, number{low: -1, high: math.MaxInt64}
		if i < len(begins) && len(begins) == len(dims) {
			begin = begins[i].extent()
		}
		if i < len(sizes) && len(sizes) == len(dims) {
			size = sizes[i]
		}
		rest := number{low: max(d.minus(begin).low, 0), high: d.high}
		switch {
		case begin.equals(0):
			rest = d
		case begin.known() && d.high < math.MaxInt64:
			rest.high = max(d.high-begin.low, 0)
		}
		switch {
		case size.equals(-1):
			dims[i] = rest
		case size.low >= 0 && size.is != 0 && size.is == d.is:
			dims[i] = d
		case size.low >= 0:
			dims[i] = size
			if most := rest.high; size.low <= most {
				dims[i].high = min(size.high, most)
			}
		default:
			dims[i] = number{low: 0, high: rest.high}
		}
		if dims[i].low > dims[i].high {
			dims[i] = number{low: 0, high: d.high} // there is no run
		}
	}
	made := of(f.dtype, dims...)
	if len(dims) == 1 && f.elems != nil && len(begins) == 1 && begins[0].known() && dims[0].known() {
		if at, n := begins[0].low, dims[0].low; at >= 0 && n >= 0 && at <= int64(len(f.elems)) && n <= int64(len(f.elems))-at {
			made = made.with(f.elems[at : at+n])
		}
	}
	c.set(0, made)
}

// stridedSlice is the rule of StridedSlice: slices by masks, with new axes, an ellipsis and axes that
// one position is taken of. LiteRT's offset says that ends count from the begins.
func stridedSlice(c *call) {
	f := c.at(0)
	begins, ends, strides := c.list("", 1), c.list("", 2), c.list("", 3)
	mask := func(name string) func(i int) bool {
		m := c.number(name, 0)
		return func(i int) bool { return i < 32 && m>>i&1 != 0 }
	}
	begin, end, ellipsis, newAxis, shrink := mask("begin_mask"), mask("end_mask"), mask("ellipsis_mask"), mask("new_axis_mask"), mask("shrink_axis_mask")
	n := max(len(begins), len(ends), len(strides))
	if begins == nil && ends == nil && strides == nil {
		c.set(0, fact{dtype: f.dtype, rank: garner.AnyDim})
		return
	}
	// What the entries are: the axes that they count through are those that neither add one nor are the ellipsis.
	taken, added, dots := 0, 0, -1
	for i := range n {
		switch {
		case ellipsis(i):
			if dots >= 0 {
				c.set(0, fact{dtype: f.dtype, rank: garner.AnyDim}) // which TensorFlow refuses
				return
			}
			dots = i
		case newAxis(i):
			added++
		default:
			taken++
		}
	}
	if !f.ranked() || taken > len(f.dims) {
		made := fact{dtype: f.dtype, rank: garner.AnyDim}
		gone := 0
		for i := range n {
			if shrink(i) && !newAxis(i) && !ellipsis(i) {
				gone++
			}
		}
		made.rank.Min = max(f.rank.Min-gone, 0)
		c.set(0, made)
		return
	}
	at := func(list []number, i int) number {
		if i < len(list) {
			return list[i]
		}
		return whole
	}
	left := len(f.dims) - taken // axes that an ellipsis stands for
	dims, next := []number{}, 0
	var elems []number
	for i := range n + 1 {
		if i == n && dots >= 0 {
			break
		}
		if i == n || i == dots {
			dims = append(dims, f.dims[next:next+left]...)
			next += left
			continue
		}
		if newAxis(i) {
			dims = append(dims, exactly(1))
			continue
		}
		d := f.dims[next]
		next++
		cut := cut{start: at(begins, i), stop: at(ends, i), step: at(strides, i), from: begin(i), to: end(i)}
		if shrink(i) {
			if k := cut.start; !cut.from && k.known() && len(f.dims) == 1 && f.elems != nil {
				if k, ok := axisOf(k.low, len(f.elems)); ok {
					elems = f.elems[k : k+1]
				}
			}
			continue
		}
		if c.flag("offset", false) && !cut.to {
			cut.stop = cut.start.plus(cut.stop)
			if cut.start.low < 0 {
				cut.stop = whole
			}
		}
		dims = append(dims, cut.length(d))
		if len(f.dims) == 1 && f.elems != nil {
			elems = cut.of(f.elems)
		}
	}
	made := of(f.dtype, dims...)
	if taken == 0 {
		elems = f.elems
	}
	if elems != nil {
		made = made.with(elems)
	}
	c.set(0, made)
}

func extents(list []number) []number {
	made := make([]number, len(list))
	for i, n := range list {
		made[i] = n.extent()
	}
	return made
}

// broadcastTo is the rule of an operator whose result has the dims of its second input.
func broadcastTo(c *call) {
	f, shape := c.at(0), c.list("", 1)
	if shape == nil {
		made := fact{dtype: f.dtype, rank: garner.Dim{Min: f.rank.Min, Max: garner.Unbounded}}
		if s := c.at(1); s.ranked() && len(s.dims) == 1 {
			made = ofUnknown(f.dtype, garner.Dim{Min: int(min(s.dims[0].low, garner.MaxRank)), Max: int(min(s.dims[0].high, garner.MaxRank))})
		}
		c.set(0, made)
		return
	}
	dims := extents(shape)
	for i, d := range f.dims { // one that is not 1 stays
		if at := len(dims) - len(f.dims) + i; at >= 0 && !d.has(1) {
			dims[at] = dims[at].meet(d)
		}
	}
	made := of(f.dtype, dims...)
	switch n, ok := made.len(); {
	case !ok:
	case len(f.elems) == 1:
		made = made.with(slices.Repeat(f.elems, n))
	case len(shape) <= 1:
		made = made.with(f.elems)
	}
	c.set(0, made)
}

// padByPairs is the rule of an operator whose second input has two numbers for each axis.
func padByPairs(c *call) {
	f, pairs := c.at(0), c.at(1)
	if !f.ranked() && pairs.ranked() && len(pairs.dims) == 2 && pairs.dims[0].known() && pairs.dims[0].low <= garner.MaxRank {
		f = ofRank(f.dtype, garner.Exactly(int(pairs.dims[0].low)))
	}
	if !f.ranked() || len(pairs.elems) != 2*len(f.dims) {
		c.set(0, f.openDims())
		return
	}
	dims := slices.Clone(f.dims)
	for i, d := range dims {
		dims[i] = padded(d, pairs.elems[2*i], pairs.elems[2*i+1])
	}
	c.set(0, of(f.dtype, dims...))
}

func tensorflowExtreme(c *call) {
	c.extreme(c.dtypeNamed("output_type", garner.I64), c.single(1), false)
}

// where is the rule of the positions of what is not 0, a row each.
func where(c *call) {
	f := c.at(0)
	count := anyExtent
	if f.ranked() {
		count = number{low: 0, high: volume(f.dims).high}
	}
	c.set(0, of(garner.I64, count, number{low: int64(f.rank.Min), high: int64(min(f.rank.Max, garner.MaxRank))}))
}

// unique is the rule of the elements of a list, each once, their places and how often each is there.
func unique(c *call) {
	f, n := c.at(0), anyExtent
	all := fact{dtype: f.dtype, rank: garner.Exactly(1), dims: []number{anyExtent}}
	if f.ranked() && len(f.dims) == 1 {
		all, n = f, number{low: min(f.dims[0].low, 1), high: f.dims[0].high}
	}
	d := c.dtypeNamed("out_idx", garner.I32)
	c.set(0, of(f.dtype, n))
	c.set(1, all.as(d))
	c.set(2, of(d, n))
}

// uniqueAlong is UniqueV2, whose second input is an axis, or nothing of a list.
func uniqueAlong(c *call) {
	f, axes := c.at(0), c.list("", 1)
	if axes != nil && len(axes) == 0 {
		unique(c)
		return
	}
	d := c.dtypeNamed("out_idx", garner.I32)
	c.set(0, f.openDims())
	n, all := anyExtent, anyExtent
	if len(axes) == 1 && axes[0].known() && f.ranked() {
		if at, ok := axisOf(axes[0].low, len(f.dims)); ok {
			all = f.dims[at]
			n = number{low: min(all.low, 1), high: all.high}
			dims := slices.Clone(f.dims)
			dims[at] = n
			c.set(0, of(f.dtype, dims...))
		}
	}
	c.set(1, of(d, all))
	c.set(2, of(d, n))
}

// batchMatMul is the rule of products of matrices, of which each may be transposed.
func batchMatMul(x, y string) rule {
	return func(c *call) { c.set(0, matMul(c.dtype(0), c.at(0), c.at(1), c.flag(x, false), c.flag(y, false))) }
}

// behind is the dims of data without its first ones, as many as another value has; an extent stands in their place.
func behind(data, other fact, n number) fact {
	if !data.ranked() || !other.ranked() || len(other.dims) > len(data.dims) {
		return fact{dtype: data.dtype, rank: garner.Dim{Min: 1, Max: garner.Unbounded}}
	}
	return of(data.dtype, slices.Concat([]number{n}, data.dims[len(other.dims):])...)
}

// tensorListStack is TensorListStack: the elements of a list, each of the shape that is the second input, in which -1
// is an open dim.
func tensorListStack(c *call) {
	d, n := c.dtypeNamed("element_dtype", garner.Invalid), anyExtent
	if k := c.number("num_elements", -1); k >= 0 {
		n = exactly(k)
	}
	f := c.at(1)
	if !f.ranked() || len(f.dims) != 1 || f.elems == nil { // a scalar of -1 is no shape
		c.set(0, fact{dtype: d, rank: garner.Dim{Min: 1, Max: garner.Unbounded}})
		return
	}
	dims := []number{n}
	for _, e := range f.elems {
		if e.low < 0 {
			e = anyExtent
		}
		dims = append(dims, e)
	}
	c.set(0, of(d, dims...))
}

func dynamicPartition(c *call) {
	n := anyExtent
	if f := c.at(1); f.ranked() {
		n = number{low: 0, high: volume(f.dims).high}
	}
	made := behind(c.at(0), c.at(1), n)
	for i := range c.out {
		c.set(i, made)
	}
}

// dynamicStitch is the rule of rows that indices put into their places: half of the inputs are indices.
func dynamicStitch(c *call) {
	half := len(c.in) / 2
	if half == 0 || 2*half != len(c.in) {
		return
	}
	rows := exactly(0) // one more than the greatest index
	for i := range half {
		if c.elems(i) == nil {
			rows = anyExtent
			break
		}
		for _, e := range c.elems(i) {
			rows = greater([]number{rows, e.plus(exactly(1)).extent()})
		}
	}
	made := behind(c.at(half), c.at(0), rows)
	for i := 1; i < half && !made.ranked(); i++ {
		made = behind(c.at(half+i), c.at(i), rows)
	}
	made.dtype = c.dtype(half)
	c.set(0, made)
}

func segments(c *call) { c.set(0, behind(c.at(0), of(garner.I32, anyExtent), anyExtent)) }

func unsortedSegments(c *call) { c.set(0, behind(c.at(0), c.at(1), c.one("", 2, whole).extent())) }

// sparseFillEmptyRows is the rule of SparseFillEmptyRows: of indices, values, the dense shape and a default.
func sparseFillEmptyRows(c *call) {
	rank, rows, all := anyExtent, anyExtent, anyExtent
	if f := c.at(0); f.ranked() && len(f.dims) == 2 {
		all, rank = f.dims[0], f.dims[1]
	}
	if e := c.elems(2); len(e) > 0 {
		rows = e[0].extent()
	}
	c.set(0, of(garner.I64, anyExtent, rank))
	c.set(1, of(c.dtype(1), anyExtent))
	c.set(2, of(garner.Bool, rows))
	c.set(3, of(garner.I64, all))
}

func stringSplit(c *call) {
	c.set(0, of(garner.I64, anyExtent, exactly(2)))
	c.set(1, of(garner.String, anyExtent))
	c.set(2, of(garner.I64, exactly(2)))
}

// lookUp is the rule of a look-up in a table, whose values are scalars unless the table says otherwise.
func lookUp(c *call) {
	d := c.dtype(2)
	made := fact{dtype: d, rank: garner.AnyDim}
	if c.has(0) && c.node.Inputs[0].From != nil {
		switch c.node.Inputs[0].From.Op {
		case "HashTable", "HashTableV2", "MutableHashTable", "MutableHashTableV2":
			made = c.at(1).as(d)
		}
	}
	c.set(0, made)
}

func tensorflowRandom(c *call) { c.filled(c.dtypeNamed("dtype", garner.F32), c.list("", 0), whole) }

// An imaging says where the dims of images are: N × spatial × C, or N × C × spatial.
type imaging struct {
	rank, channel, first int // first: the first of the spatial dims
}

// images reads data_format of a node whose data has such a rank.
func (c *call) images(rank int) imaging {
	if format := c.text("data_format", ""); len(format) > 1 && format[1] == 'C' {
		return imaging{rank, 1, 2}
	}
	return imaging{rank, rank - 1, 1}
}

// spatial picks the numbers of spatial dims of a list that has one for every dim.
func (i imaging) spatial(list []int64) []int64 {
	if len(list) != i.rank {
		return nil
	}
	return list[i.first : i.first+i.rank-2]
}

// tensorflowWindows are the windows of a node along the spatial dims.
func (c *call) tensorflowWindows(i imaging, sizes []number) []window {
	read := func(name string) []int64 {
		list, _ := c.ints(name)
		return i.spatial(list)
	}
	padding := c.text("padding", "")
	var begins, ends []int64
	if pads, _ := c.ints("explicit_paddings"); padding == "EXPLICIT" && len(pads) == 2*i.rank {
		for k := range i.rank - 2 {
			begins, ends = append(begins, pads[2*(i.first+k)]), append(ends, pads[2*(i.first+k)+1])
		}
	}
	list := windowsOf(i.rank-2, sizes, read("strides"), read("dilations"), begins, ends, padding == "SAME", padding == "VALID", false)
	if padding != "SAME" && padding != "VALID" && begins == nil || len(read("strides")) != i.rank-2 {
		for k := range list {
			list[k].stride = 0 // nothing is known
		}
	}
	return list
}

// tensorflowConv is a convolution of images by a kernel: spatial × in × out, of which a depthwise one has
// out for each in.
func tensorflowConv(c *call) {
	x, w := c.at(0), c.at(1)
	rank := 4
	if c.node.Op == "Conv3D" {
		rank = 5
	}
	made := ofRank(x.dtype, garner.Exactly(rank))
	c.set(0, made)
	if c.text("data_format", "NHWC") == "NCHW_VECT_C" {
		c.set(0, fact{dtype: x.dtype, rank: garner.AnyDim})
		return
	}
	i := c.images(rank)
	if x.ranked() && len(x.dims) == rank {
		copy(made.dims, x.dims)
	}
	made.dims[i.channel] = anyExtent
	var sizes []number
	if w.ranked() && len(w.dims) == rank {
		sizes = w.dims[:rank-2]
		made.dims[i.channel] = w.dims[rank-1]
		if c.node.Op == "DepthwiseConv2dNative" {
			made.dims[i.channel] = w.dims[rank-1].multiply(w.dims[rank-2])
		}
	}
	moved(made.dims, i.first, c.tensorflowWindows(i, sizes))
	c.set(0, made)
}

// biasAdd is BiasAdd, whose second input has a number for each channel.
func biasAdd(c *call) {
	f := c.at(0).bare()
	if b := c.at(1); f.ranked() && len(f.dims) > 1 && b.ranked() && len(b.dims) == 1 {
		at := len(f.dims) - 1
		if c.text("data_format", "NHWC") == "NCHW" {
			at = 1
		}
		f.dims = slices.Clone(f.dims)
		f.dims[at] = f.dims[at].meet(b.dims[0])
	}
	c.set(0, f)
}

// convBack is the rule of the gradient of a convolution, whose first input is the shape of the result.
func convBack(rank int) rule {
	return func(c *call) {
		made := ofRank(c.dtype(1), garner.Exactly(rank))
		if list := c.list("", 0); len(list) == rank {
			made.dims = extents(list)
		}
		c.set(0, made)
	}
}

func tensorflowPool(c *call) {
	f := c.at(0)
	rank := 4
	if c.node.Op == "MaxPool3D" || c.node.Op == "AvgPool3D" {
		rank = 5
	}
	made := ofRank(f.dtype, garner.Exactly(rank))
	c.set(0, made)
	if c.text("data_format", "NHWC") == "NCHW_VECT_C" {
		c.set(0, fact{dtype: f.dtype, rank: garner.AnyDim})
		return
	}
	if !f.ranked() || len(f.dims) != rank {
		return
	}
	i := c.images(rank)
	copy(made.dims, f.dims)
	list, _ := c.ints("ksize")
	strides, _ := c.ints("strides")
	if len(list) != rank || list[i.channel] != 1 || list[0] != 1 || len(strides) != rank || strides[i.channel] != 1 || strides[0] != 1 {
		c.set(0, f.openDims())
		return
	}
	var sizes []number
	for _, n := range i.spatial(list) {
		sizes = append(sizes, exactly(n))
	}
	moved(made.dims, i.first, c.tensorflowWindows(i, sizes))
	c.set(0, made)
}

// batchNorm is FusedBatchNorm: beside its data it gives lists with a number for each channel.
func batchNorm(c *call) {
	c.set(0, c.at(0).bare())
	n := anyExtent
	for i := 1; i < 3; i++ {
		if f := c.at(i); f.ranked() && len(f.dims) == 1 {
			n = f.dims[0]
		}
	}
	c.set(1, of(c.dtype(1), n))
	c.set(2, of(c.dtype(1), n))
}

// resized is the rule of an operator that scales images N × H × W × C to its second input.
func resized(c *call) {
	f := c.at(0)
	made := ofRank(garner.Invalid, garner.Exactly(4))
	if f.ranked() && len(f.dims) == 4 {
		copy(made.dims, f.dims)
	}
	made.dims[1], made.dims[2] = anyExtent, anyExtent
	if size := c.list("", 1); len(size) == 2 {
		made.dims[1], made.dims[2] = size[0].extent(), size[1].extent()
	}
	if c.node.Op == "ResizeNearestNeighbor" || c.node.Op == "RESIZE_NEAREST_NEIGHBOR" {
		made.dtype = f.dtype
	}
	c.set(0, made)
}

// blocksOfLast is the rule of DepthToSpace, and of SpaceToDepth, of N × H × W × C.
func (c *call) blocksOfLast(n int64, intoDepth bool) {
	f := c.at(0)
	if format := c.text("data_format", "NHWC"); format != "NHWC" {
		if format == "NCHW" {
			c.blocks(n, intoDepth)
		}
		return
	}
	made := ofRank(f.dtype, garner.Exactly(4))
	if f.ranked() && len(f.dims) == 4 && n >= 1 && n <= most {
		by := exactly(n)
		square := by.multiply(by)
		if intoDepth {
			made.dims = []number{f.dims[0], f.dims[1].over(by), f.dims[2].over(by), f.dims[3].multiply(square)}
		} else {
			made.dims = []number{f.dims[0], f.dims[1].multiply(by), f.dims[2].multiply(by), f.dims[3].over(square)}
		}
	}
	c.set(0, made)
}
