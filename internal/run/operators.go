package run

import (
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// An evaluator computes the one output of a node by the definition of its
// operator, which is NumPy's but for the differences of its framework. Integers
// wrap.
type evaluator func(c *call) (garner.Tensor, error)

// A manyEvaluator computes the outputs of a node that may have several: one tensor for each,
// also for those that the node leaves out.
type manyEvaluator func(c *call) ([]garner.Tensor, error)

// A table has the operators of a format that are evaluated, by their names. Those of many
// have any number of outputs, those of one exactly one.
type table struct {
	one  map[string]evaluator
	many map[string]manyEvaluator
}

// tables are the operators of each model.Format. A format that has none here has gathers alone.
var tables = map[string]table{
	"ONNX":           {onnxOperators, onnxManyOperators},
	irFormat:         {irOperators, irManyOperators},
	tensorflowFormat: {tensorflowOperators, tensorflowManyOperators},
	"TFLite":         {tfliteOperators, tfliteManyOperators},
	"StableHLO":      {one: stablehloOperators},
}

// Operators lists the names of the operators around gathers that are run for a model.Format, sorted.
func Operators(format string) []string {
	of := tables[format]
	return slices.Sorted(func(yield func(string) bool) {
		for name := range of.one {
			if !yield(name) {
				return
			}
		}
		for name := range of.many {
			if !yield(name) {
				return
			}
		}
	})
}

// evaluatorOf returns the evaluator of a node that is not a gather, nil where
// there is none.
func evaluatorOf(m *model.Model, n *model.Node) manyEvaluator {
	if n.Domain != "" || len(n.Graphs) > 0 || len(n.Outputs) == 0 {
		return nil
	}
	of := tables[m.Format]
	if many := of.many[n.Op]; many != nil {
		return many
	}
	one := of.one[n.Op]
	if one == nil || len(n.Outputs) != 1 {
		return nil
	}
	return func(c *call) ([]garner.Tensor, error) {
		made, err := one(c)
		if err != nil {
			return nil, err
		}
		return []garner.Tensor{made}, nil
	}
}

// onnxOperators are the operators of ONNX's own domain that are evaluated.
var onnxOperators = map[string]evaluator{
	"Identity":        identity,
	"Cast":            onnxCast,
	"CastLike":        castLike,
	"Reshape":         reshape,
	"Flatten":         flatten,
	"Squeeze":         squeeze,
	"Unsqueeze":       unsqueeze,
	"Transpose":       transpose,
	"Concat":          concat,
	"Slice":           slice,
	"Shape":           shapeOf,
	"Size":            size,
	"Expand":          expand,
	"Tile":            tile,
	"ConstantOfShape": constantOfShape,
	"Range":           integerRange,
	"ReduceProd":      reduceProd,
	"Where":           where,
	"Clip":            clip,
	"Neg":             negate,
	"Add":             arithmetic("add"), "Sub": arithmetic("sub"), "Mul": arithmetic("mul"), "Div": arithmetic("div"),
	"Mod": mod, "Min": arithmetic("min"), "Max": arithmetic("max"),
	"Abs": absolute, "Sign": sign, "Sqrt": squareRoot, "IsNaN": isNaN,
	"ReduceSum": reduceSum, "ReduceMax": reduceExtreme(true), "ReduceMin": reduceExtreme(false),
	"ArgMax": argExtreme(true), "ArgMin": argExtreme(false),
	"CumSum":          cumSum,
	"ScatterElements": scatterElements, "Scatter": scatterElements,
	"NonZero":  nonZero,
	"Trilu":    trilu,
	"EyeLike":  eyeLike,
	"Compress": compress,
	"OneHot":   oneHot,
	"Pad":      pad,
	"Equal":    binaryOf("="), "Less": binaryOf("<"), "LessOrEqual": binaryOf("<="),
	"Greater": binaryOf(">"), "GreaterOrEqual": binaryOf(">="),
	"And": binaryOf("and"), "Or": binaryOf("or"), "Xor": binaryOf("xor"), "Not": not,
}

// onnxManyOperators are those of ONNX with several outputs.
var onnxManyOperators = map[string]manyEvaluator{
	"Split": onnxSplit,
	"TopK":  topK,
}

// irOperators are the operators of OpenVINO IR that are evaluated.
var irOperators = map[string]evaluator{
	"Convert":      irConvert,
	"ConvertLike":  castLike,
	"Reshape":      reshape,
	"Squeeze":      squeeze,
	"Unsqueeze":    unsqueeze,
	"Transpose":    transpose,
	"Concat":       concat,
	"Slice":        slice,
	"StridedSlice": stridedSlice,
	"ShapeOf":      shapeOf,
	"Broadcast":    expand,
	"Tile":         tile,
	"Range":        integerRange,
	"ReduceProd":   reduceProd,
	"Select":       where,
	"NonZero":      openvinoNonZero,
	"Clamp":        clip,
	"Floor":        roundInteger,
	"Ceiling":      roundInteger,
	"Negative":     negate,
	"Add":          arithmetic("add"),
	"Subtract":     arithmetic("sub"),
	"Multiply":     arithmetic("mul"),
	"Divide":       divide,
	"Mod":          arithmetic("truncated mod"),
	"FloorMod":     arithmetic("mod"),
	"Minimum":      arithmetic("min"),
	"Maximum":      arithmetic("max"),
	"Equal":        binaryOf("="),
	"NotEqual":     binaryOf("!="),
	"Less":         binaryOf("<"),
	"LessEqual":    binaryOf("<="),
	"Greater":      binaryOf(">"),
	"GreaterEqual": binaryOf(">="),
	"LogicalAnd":   logical(binaryOf("and")),
	"LogicalOr":    logical(binaryOf("or")),
	"LogicalXor":   logical(binaryOf("xor")),
	"LogicalNot":   logical(not),
	"BitwiseAnd":   binaryOf("and"),
	"BitwiseOr":    binaryOf("or"),
	"BitwiseXor":   binaryOf("xor"),
	"BitwiseNot":   not,
	"Abs":          absolute,
	"Sign":         sign,
	"IsNaN":        isNaN,
	"ReduceSum":    reduceSum,
	"ReduceMax":    reduceExtreme(true),
	"ReduceMin":    reduceExtreme(false),
	"CumSum":       cumSum,
	"Pad":          pad,

	"ScatterElementsUpdate": scatterElements,
}

// irManyOperators are those of OpenVINO IR with several outputs.
var irManyOperators = map[string]manyEvaluator{
	"Split":         irSplit,
	"VariadicSplit": variadicSplit,
	"TopK":          topK,
}
