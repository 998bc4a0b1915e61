package run

import (
	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// An evaluator computes the one output of a node by the definition of its
// operator, which is NumPy's but for the differences of its framework. Integers
// wrap.
type evaluator func(c *call) (garner.Tensor, error)

// evaluatorOf returns the evaluator of a node that is not a gather, nil where
// there is none.
func evaluatorOf(m *model.Model, n *model.Node) evaluator {
	table := onnxOperators
	if m.Format == tensorflowFormat {
		table = tensorflowOperators
	} else if m.Format != "ONNX" {
		table = irOperators
	}
	if n.Domain != "" || len(n.Outputs) != 1 || len(n.Graphs) > 0 {
		return nil
	}
	return table[n.Op]
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
	"Equal": binaryOf("="), "Less": binaryOf("<"), "LessOrEqual": binaryOf("<="),
	"Greater": binaryOf(">"), "GreaterOrEqual": binaryOf(">="),
	"And": binaryOf("and"), "Or": binaryOf("or"), "Xor": binaryOf("xor"), "Not": not,
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
	"LogicalAnd":   binaryOf("and"),
	"LogicalOr":    binaryOf("or"),
	"LogicalXor":   binaryOf("xor"),
	"LogicalNot":   not,
	"BitwiseAnd":   binaryOf("and"),
	"BitwiseOr":    binaryOf("or"),
	"BitwiseXor":   binaryOf("xor"),
	"BitwiseNot":   not,
}
