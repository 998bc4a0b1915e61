package operators

import (
	"slices"

	"github.com/garner-go/garner/model"
)

// dropping are the operators of arithmetic whose second input OpenVINO's CPU plugin takes for a scalar, and movers
// those that it computes them before.
var (
	dropping = []string{"Add", "Subtract", "Multiply", "Divide", "Mod", "FloorMod", "Minimum", "Maximum", "Power", "SquaredDifference"}
	movers   = []string{"Gather", "Reshape", "Squeeze", "Transpose", "Unsqueeze"}
)

// DropsDims reports whether the result of a node may lack the dims, in OpenVINO's CPU plugin, that it has of the second
// input, where that is a constant of one element with more dims than the first: the plugin computes the node before one
// that moves elements, of which it makes the first input, and of a scalar. It moves that one behind others beforehand, so that
// it may stand anywhere before the node.
func DropsDims(n *model.Node) bool {
	if n.Domain != "" || !slices.Contains(dropping, n.Op) || len(n.Inputs) != 2 {
		return false
	}
	seen := map[*model.Node]bool{}
	todo := slices.Clone(n.Inputs[:1])
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if v == nil || v.From == nil || seen[v.From] {
			continue
		}
		if slices.Contains(movers, v.From.Op) {
			return true
		}
		seen[v.From] = true
		todo = append(todo, v.From.Inputs...)
	}
	return false
}

// Misread returns the scale or the zero point, and the codes, of the compressed table of an OpenVINO Gather, where its CPU
// plugin decodes other elements or dims than the nodes compute, or ends its process: the scale or the zero point has
// more dims than the codes, or such as do not broadcast to theirs. It returns nil for any other node.
func Misread(n *model.Node) (factor, codes *model.Value) {
	if b, given := n.Attributes["batch_dims"]; n.Operator != "openvino.Gather-8" || len(n.Inputs) == 0 || given && b != int64(0) {
		return nil, nil // of batch dims OpenVINO computes the table
	}
	c := chain{}
	t, _, _, ok := c.product(n.Inputs[0])
	if !ok {
		return nil, nil
	}
	table, _ := t.codes.Spec.Shape()
	for _, v := range []*model.Value{t.scale, t.zero} {
		if v == nil {
			continue
		}
		dims, _ := v.Spec.Shape()
		for i, d := range dims {
			if own := i + len(table) - len(dims); own < 0 || d != 1 && d != table[own] {
				return v, t.codes
			}
		}
	}
	return nil, nil
}
