package run

import (
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// An origin is what the elements of a value depend on. A value depends on the greatest
// origin of the inputs of its node.
type origin int

const (
	ofConstants origin = iota
	ofShapes           // and perhaps of constants
	ofData             // elements of inputs
)

// shapeOperators give the shape or the size of their input.
var shapeOperators = []string{"Shape", "ShapeOf", "Size"}

// origins finds the origins of what nodes of a model make.
func origins(m *model.Model, nodes nodeSet, given map[*model.Value]garner.Tensor) map[*model.Value]origin {
	all := make(map[*model.Value]origin)
	for n := range m.Nodes() {
		reads, ok := nodes[n]
		if !ok {
			continue
		}
		made := ofConstants
		if n.Domain == "" && slices.Contains(shapeOperators, n.Op) {
			made = ofShapes
		} else {
			for _, v := range reads {
				made = max(made, originOf(all, v, given))
			}
		}
		for _, v := range n.Outputs {
			if v != nil {
				all[v] = made
			}
		}
	}
	return all
}

// originOf returns the origin of a value. What is given is data, whatever makes it in
// the model.
func originOf(made map[*model.Value]origin, v *model.Value, given map[*model.Value]garner.Tensor) origin {
	if v == nil {
		return ofConstants
	}
	if _, ok := given[v]; ok {
		return ofData
	}
	if o, ok := made[v]; ok {
		return o
	}
	if v.Constant != nil {
		return ofConstants
	}
	return ofData
}

// ofShapes reports whether a gather is part of the arithmetic on shapes; see Gather.
func (r *runner) ofShapes(n *model.Node) bool {
	reads := r.nodes[n]
	data, indices := originOf(r.origins, reads[0], r.given), originOf(r.origins, reads[1], r.given)
	return data == ofShapes && indices != ofData || data == ofConstants && indices == ofConstants
}
