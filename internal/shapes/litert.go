package shapes

import (
	"math"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// liteRule gives the rule of a node of LiteRT.
func liteRule(n *model.Node) rule {
	if n.Domain != "" {
		return nil
	}
	return liteRules[n.Op]
}

// liteRules have no dtype of their own where LiteRT takes that of the result from the file.
var liteRules = func() map[string]rule {
	all := map[string]rule{
		"CAST":       func(c *call) { cast(c.said())(c) },
		"DEQUANTIZE": func(c *call) { c.set(0, c.at(0).as(c.said())) }, "QUANTIZE": func(c *call) { c.set(0, c.at(0).as(c.said())) },

		"ADD": elementwise(plus), "SUB": elementwise(minus), "MUL": elementwise(times), "DIV": elementwise(divide),
		"FLOOR_DIV": elementwise(divide), "FLOOR_MOD": elementwise(remainder), "MINIMUM": elementwise(least), "MAXIMUM": elementwise(greater),
		"POW": elementwise(nil), "SQUARED_DIFFERENCE": elementwise(nil), "PRELU": elementwise(nil), "ATAN2": elementwise(nil), "BITWISE_XOR": elementwise(nil), "RIGHT_SHIFT": elementwise(nil),
		"ADD_N": alike, "NEG": unary(negative), "ABS": unary(absolute), "LOGICAL_NOT": unary(opposite),
		"EQUAL": compare(isEqual), "NOT_EQUAL": compare(isUnequal), "LESS": compare(isLess), "GREATER": compare(isGreater), "LESS_EQUAL": compare(isAtMost), "GREATER_EQUAL": compare(isAtLeast),
		"LOGICAL_AND": compare(both), "LOGICAL_OR": compare(oneOf),
		"SELECT": tensorflowSelect, "SELECT_V2": choose, "ZEROS_LIKE": likeOf(0),

		"SHAPE":         func(c *call) { c.shapeOf(c.dtypeNamed("out_type", garner.I32), 0, math.MaxInt64) },
		"RANK":          rankOf,
		"RESHAPE":       liteReshape,
		"EXPAND_DIMS":   func(c *call) { c.unsqueeze(c.single(1)) },
		"SQUEEZE":       func(c *call) { c.squeezeAxes("squeeze_dims") },
		"TRANSPOSE":     func(c *call) { c.transpose(c.list("", 1), false) },
		"PACK":          func(c *call) { c.pack(c.number("axis", 0)) },
		"UNPACK":        func(c *call) { c.unpack(c.number("axis", 0)) },
		"CONCATENATION": func(c *call) { c.concat(c.number("axis", 0), true, c.in) },
		"SPLIT": func(c *call) {
			axis := c.one("", 0, whole)
			c.split(1, axis.low, axis.known(), nil, c.number("num_splits", int64(len(c.out))), true)
		},
		"SPLIT_V":       splitSizes,
		"SLICE":         sliceOfSizes,
		"STRIDED_SLICE": stridedSlice,
		"FILL":          func(c *call) { c.filled(c.dtype(1), c.list("", 0), c.one("", 1, whole)) },
		"BROADCAST_TO":  broadcastTo,
		"TILE":          func(c *call) { c.tile(c.list("", 1), false) },
		"RANGE":         onnxRange,
		"PAD":           padByPairs, "PADV2": padByPairs, "MIRROR_PAD": padByPairs,

		"ARG_MAX": func(c *call) { c.extreme(c.dtypeNamed("output_type", garner.I64), c.single(1), false) },
		"ARG_MIN": func(c *call) { c.extreme(c.dtypeNamed("output_type", garner.I64), c.single(1), false) },
		"TOPK_V2": func(c *call) { c.topK(exactly(-1), c.one("", 1, whole), c.saidOf(1)) },
		"WHERE":   where,
		"ONE_HOT": func(c *call) { c.oneHot(c.dtype(2), c.number("axis", -1), c.one("", 1, whole)) },
		"UNIQUE": func(c *call) {
			unique(c)
			c.set(1, c.at(0).refined(garner.SpecOfRank(garner.Invalid, garner.Exactly(1))).as(c.saidOf(1)))
		},
		"BATCH_MATMUL": batchMatMul("adj_x", "adj_y"),
		"SCATTER_ND":   func(c *call) { c.filled(c.dtype(1), c.list("", 2), whole) },
		"SEGMENT_SUM":  segments, "UNSORTED_SEGMENT_SUM": unsortedSegments, "UNSORTED_SEGMENT_MAX": unsortedSegments, "UNSORTED_SEGMENT_MIN": unsortedSegments, "UNSORTED_SEGMENT_PROD": unsortedSegments,
		"RESIZE_BILINEAR": resized, "RESIZE_NEAREST_NEIGHBOR": resized,
	}
	for _, op := range []string{
		"CEIL", "COS", "CUMSUM", "ELU", "EXP", "FLOOR", "GELU", "HARD_SWISH", "L2_NORMALIZATION", "LEAKY_RELU", "LOCAL_RESPONSE_NORMALIZATION", "LOG", "LOGISTIC", "LOG_SOFTMAX", "RELU", "RELU6", "RELU_0_TO_1",
		"RELU_N1_TO_1", "REVERSE_SEQUENCE", "REVERSE_V2", "ROUND", "RSQRT", "SIGN", "SIN", "SOFTMAX", "SQRT", "SQUARE", "TANH", "DYNAMIC_UPDATE_SLICE",
	} {
		all[op] = first
	}
	for lite, op := range map[string]string{
		"SUM": "Sum", "MEAN": "Mean", "REDUCE_PROD": "Prod", "REDUCE_MAX": "Max", "REDUCE_MIN": "Min", "REDUCE_ANY": "Any", "REDUCE_ALL": "All",
	} {
		all[lite] = reductions[op].reduce("keep_dims")
	}
	return all
}()

// said is the dtype that the file gives the first output, and saidOf that of another.
func (c *call) said() garner.DType { return c.saidOf(0) }

func (c *call) saidOf(i int) garner.DType {
	if i < len(c.node.Outputs) && c.node.Outputs[i] != nil {
		return c.node.Outputs[i].Spec.DType
	}
	return garner.Invalid
}

// liteReshape is RESHAPE: its shape is an input, or an option. What a 0 means depends on LiteRT's version.
func liteReshape(c *call) {
	shape := c.list("", 1)
	if !c.has(1) {
		shape = c.list("new_shape", -1)
	}
	if slices.ContainsFunc(shape, func(n number) bool { return n.has(0) && !n.known() }) || slices.ContainsFunc(shape, func(n number) bool { return n.equals(0) }) {
		shape = slices.Clone(shape)
		for i, n := range shape {
			if n.has(0) {
				shape[i] = number{low: min(n.low, 0), high: math.MaxInt64}
			}
		}
	}
	c.reshape(shape, reshaping{minusOne: true})
}
