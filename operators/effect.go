package operators

import "github.com/garner-go/garner/model"

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
	Selected               // some elements of the inputs, or the same one several times
	Computed               // arithmetic on the elements of the inputs
)

// around is what the operators around gathers do, by their names in ONNX and in
// OpenVINO. inputs are those whose elements go into the result; nil means all.
var around = map[string]struct {
	effect Effect
	inputs []int
}{
	"Identity": {Reshaped, first}, "Reshape": {Reshaped, first}, "Flatten": {Reshaped, first},
	"Squeeze": {Reshaped, first}, "Unsqueeze": {Reshaped, first},

	"Cast": {Cast, first}, "CastLike": {Cast, first}, "Convert": {Cast, first}, "ConvertLike": {Cast, first},

	"Transpose": {Permuted, first},

	"Slice": {Selected, first}, "StridedSlice": {Selected, first}, "Split": {Selected, first}, "VariadicSplit": {Selected, first},
	"Expand": {Selected, first}, "Broadcast": {Selected, first}, "Tile": {Selected, first}, "Concat": {Selected, nil},
	"Where": {Selected, second}, "Select": {Selected, second},
	"Gather": {Selected, first}, "GatherND": {Selected, first}, "GatherElements": {Selected, first},

	"Neg": {Computed, first}, "Negative": {Computed, first}, "Add": {Computed, nil}, "Sub": {Computed, nil}, "Subtract": {Computed, nil},
	"Mul": {Computed, nil}, "Multiply": {Computed, nil}, "Div": {Computed, nil}, "Divide": {Computed, nil},
}

var (
	first  = []int{0}
	second = []int{1, 2} // of a condition and two values
)

// EffectOf gives the effect of a node, and the inputs whose elements go into its
// result; those that the node leaves out are not among them. A node of a domain
// other than the framework's own is Opaque, unless it is a gather.
func EffectOf(n *model.Node) (Effect, []*model.Value) {
	o, ok := around[n.Op]
	if !ok || n.Domain != "" && !n.IsGather() {
		return Opaque, nil
	}
	var inputs []*model.Value
	for i, v := range n.Inputs {
		if v == nil {
			continue
		}
		if o.inputs == nil {
			inputs = append(inputs, v)
			continue
		}
		for _, wanted := range o.inputs {
			if i == wanted {
				inputs = append(inputs, v)
			}
		}
	}
	return o.effect, inputs
}
