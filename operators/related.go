package operators

import (
	"strings"

	"github.com/garner-go/garner/model"
)

// Related describes an operator that takes rows of a table by indices and that this
// package does not have: gathers of quantised tables, and those that reduce what
// they gather.
type Related struct {
	Name          string // with its domain: "com.microsoft.GatherBlockQuantized"
	Data, Indices int    // the numbers of the inputs that are the table and the indices
}

// related lists the operators by domain and name.
var related = map[[2]string]Related{
	{"com.microsoft", "GatherBlockQuantized"}:     {Data: 0, Indices: 1},
	{"com.microsoft", "EmbedLayerNormalization"}:  {Data: 2, Indices: 0},
	{"com.microsoft", "QEmbedLayerNormalization"}: {Data: 2, Indices: 0},
	{"ai.onnx.ml", "ArrayFeatureExtractor"}:       {Data: 0, Indices: 1},
	{"", "EmbeddingSegmentsSum"}:                  {Data: 0, Indices: 1},
}

// RelatedOf describes a node of a related operator; false for any other node. Every
// operator whose name begins with EmbeddingBag is one: OpenVINO has five, and
// exporters keep them under names of their own.
func RelatedOf(n *model.Node) (Related, bool) {
	r, ok := related[[2]string{n.Domain, n.Op}]
	if aten, _ := n.Attributes["operator"].(string); !ok {
		ok = strings.HasPrefix(n.Op, "EmbeddingBag") || n.Op == "ATen" && strings.HasPrefix(aten, "embedding")
		r = Related{Data: 0, Indices: 1}
	}
	if !ok || n.IsGather() || max(r.Data, r.Indices) >= len(n.Inputs) {
		return Related{}, false
	}
	if r.Name = n.Op; n.Domain != "" {
		r.Name = n.Domain + "." + n.Op
	}
	return r, true
}

// Dequantised gives the constant that a value is the dequantisation of, as a whole:
// by DequantizeLinear, or as OpenVINO writes it, by a conversion of integers and
// arithmetic with constants. It is nil for any other value.
func Dequantised(v *model.Value) *model.Constant {
	const most = 64 // nodes: four are what exporters write
	computed := false
	for range most {
		if v == nil || v.Constant != nil || v.From == nil || len(v.From.Inputs) == 0 {
			break
		}
		n := v.From
		if n.Op == "DequantizeLinear" && (n.Domain == "" || n.Domain == "com.microsoft") {
			computed = true
			v = n.Inputs[0]
			continue
		}
		effect, inputs := EffectOf(n)
		switch {
		case effect == Opaque:
			return nil
		case effect <= Permuted && len(inputs) == 1:
			v = inputs[0]
		case effect == Computed && len(inputs) == 2 && isConstant(inputs[1]):
			computed = true
			v = inputs[0]
		default:
			return nil
		}
	}
	if !computed || v == nil || v.Constant == nil || !v.Constant.Spec.DType.IsInteger() && v.Constant.Spec.DType.Bits() > 8 {
		return nil
	}
	return v.Constant
}

// isConstant reports whether a value is a constant, perhaps cast or reshaped.
func isConstant(v *model.Value) bool {
	for range 8 {
		if v.Constant != nil || v.From == nil {
			break
		}
		effect, inputs := EffectOf(v.From)
		if effect != Reshaped && effect != Cast || len(inputs) != 1 {
			break
		}
		v = inputs[0]
	}
	return v.Constant != nil
}
