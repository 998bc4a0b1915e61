package run

import (
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// A dependence is what the elements of a value depend on. A value depends on the greatest
// dependence of the inputs of its node.
type dependence int

const (
	ofConstants dependence = iota
	ofShapes               // and perhaps of constants
	ofData                 // elements of inputs
)

// shapeOperators give the shape or the size of their input.
var shapeOperators = []string{"Shape", "ShapeOf", "Size", "Rank", "SHAPE", "RANK"}

// dependences finds the dependences of what nodes of a model make.
func dependences(m *model.Model, nodes nodeSet, given map[*model.Value]garner.Tensor) map[*model.Value]dependence {
	all := make(map[*model.Value]dependence)
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
				made = max(made, dependenceOf(all, v, given))
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

// dependenceOf returns the dependence of a value. What is given is data, whatever makes it in
// the model.
func dependenceOf(made map[*model.Value]dependence, v *model.Value, given map[*model.Value]garner.Tensor) dependence {
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
	data, indices := dependenceOf(r.depends, reads[0], r.given), dependenceOf(r.depends, reads[1], r.given)
	return data == ofShapes && indices != ofData || data == ofConstants && indices == ofConstants
}
