package operators

import (
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// An Effect says what an operator that stands around a gather does with the
// elements of its inputs. Programs that look for the origin of a value walk
// through operators by their effect.
type Effect int

// The effects, from the least to the most. Each includes those before it: a
// value that is Permuted has the same elements and may have another shape.
const (
	Opaque   Effect = iota // unknown: nothing can be said of the result
	Reshaped               // the elements of the first input, in row-major order; the shape may change
	Cast                   // the same, in another dtype
	Permuted               // the elements of the first input in another order
	Computed               // arithmetic on the elements of all inputs
)

// around is what the operators around gathers do, by their names in ONNX, in
// OpenVINO, in TensorFlow, in LiteRT and in StableHLO.
var around = map[string]Effect{
	"Identity": Reshaped, "Reshape": Reshaped, "Flatten": Reshaped, "Squeeze": Reshaped, "Unsqueeze": Reshaped,
	"ExpandDims": Reshaped, "ReadVariableOp": Reshaped, "StopGradient": Reshaped, "PreventGradient": Reshaped, "Snapshot": Reshaped,

	"Cast": Cast, "CastLike": Cast, "Convert": Cast, "ConvertLike": Cast,

	"Transpose": Permuted,

	"AddV2": Computed, "RealDiv": Computed,
	"Add": Computed, "Sub": Computed, "Subtract": Computed, "Mul": Computed, "Multiply": Computed, "Div": Computed, "Divide": Computed,

	"RESHAPE": Reshaped, "SQUEEZE": Reshaped, "EXPAND_DIMS": Reshaped, "CAST": Cast, "TRANSPOSE": Permuted,
	"ADD": Computed, "SUB": Computed, "MUL": Computed, "DIV": Computed,

	"reshape": Reshaped, "convert": Cast, "transpose": Permuted,
}

// EffectOf gives the effect of a node, and the inputs whose elements go into its
// result; those that the node leaves out are not among them. A node of a domain
// other than the framework's own is Opaque.
func EffectOf(n *model.Node) (Effect, []*model.Value) {
	effect := around[n.Op]
	if n.Op == "DEQUANTIZE" && len(n.Inputs) > 0 && n.Inputs[0] != nil && n.Inputs[0].Spec.DType == garner.F16 {
		effect = Cast // of LiteRT: f16 has no scales
	}
	if effect == Opaque || n.Domain != "" {
		return Opaque, nil
	}
	inputs := n.Inputs
	if effect != Computed {
		inputs = inputs[:min(len(inputs), 1)]
	}
	if slices.Contains(inputs, nil) {
		inputs = slices.DeleteFunc(slices.Clone(inputs), func(v *model.Value) bool { return v == nil })
	}
	return effect, inputs
}
