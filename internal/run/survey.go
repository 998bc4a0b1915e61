package run

import (
	"errors"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// A survey is a first pass over the nodes that makes no large tensor. A node whose
// result has more than surveyed bytes, or that reads elements of a stand-in, gives a
// stand-in: a tensor of the right dtype and shape with all elements in one place. So
// the survey finds in milliseconds what the run would refuse: tensors that do not fit,
// and indices that do not depend on a stand-in.
//
// Where the wanted values need no element of a stand-in, such as the shape of a large
// tensor, there is no second pass.

// surveyed is the size in bytes up to which the survey computes a tensor. Shapes and
// what exporters compute of them take less. The run computes such tensors once more: a
// Range and an Add of 4 KiB take 14 µs together, of 64 KiB 130 µs.
var surveyed float64 = 4 << 10

// errLeft ends the survey of a node whose shape depends on elements that the survey
// does not have.
var errLeft = errors.New("left to the run")

// findings are what a survey leaves to the run.
type findings struct {
	values map[*model.Value]garner.Tensor // results that need only the shape of a stand-in
	left   map[*model.Node]bool           // nodes that may refuse elements of a stand-in
}

// leave leaves a tensor to the run, in the survey, where it is large.
func (r *runner) leave(size float64) {
	r.bare = r.bare || (r.survey != nil || r.rehearses) && size > surveyed
}

// mayRefuse records that the node refuses some elements. Where its inputs are
// stand-ins, the run evaluates it, also where nothing needs its result.
func (r *runner) mayRefuse() { r.refuses = true }

// known is errLeft where the survey does not have the elements of the i-th input.
func (c *call) known(i int) error {
	if have := c.values[c.aliases.of(c.node.Inputs[i])]; have != nil && have.bare {
		return errLeft
	}
	return nil
}

// standIn returns a tensor whose elements all lie in one place.
func standIn(dtype garner.DType, shape garner.Shape) (garner.Tensor, error) {
	if dtype == garner.String {
		return garner.Tensor{}, errLeft // a tensor of strings has no strides of 0
	}
	return garner.FromStrided(dtype, make([]byte, 16), 0, shape, make([]int, len(shape)))
}

// note records what the survey of a node leaves to the run.
func (r *runner) note(n *model.Node, made []*value, err error) error {
	if errors.Is(err, errLeft) {
		for _, v := range made {
			*v = value{unknown: true}
		}
		r.survey.left[n] = true
		return nil
	}
	if err != nil {
		return err
	}
	if r.bare {
		if r.refuses {
			r.survey.left[n] = true
		}
		return nil
	}
	for i, v := range made {
		if out := n.Outputs[i]; out != nil && v.pending == garner.Invalid && r.shapeOnly(n) {
			r.survey.values[out] = v.tensor
		}
	}
	return nil
}

// shapeOnly reports whether a node has a stand-in among its inputs. Where its result
// is none, the node read only the shape of that input.
func (r *runner) shapeOnly(n *model.Node) bool {
	return slices.ContainsFunc(r.nodes[n], func(v *model.Value) bool {
		have := r.values[v]
		return have != nil && have.bare
	})
}

// rest lists the nodes that the run evaluates, of those surveyed: those that may refuse
// elements of a stand-in, and those that the wanted values need, as far as
// findings.values does not have their results.
func (f *findings) rest(surveyed nodeSet, wanted []*model.Value, given map[*model.Value]garner.Tensor) nodeSet {
	nodes := make(nodeSet)
	var left []*model.Node
	push := func(n *model.Node) {
		if _, ok := nodes[n]; n != nil && !ok {
			nodes[n] = surveyed[n]
			left = append(left, n)
		}
	}
	need := func(values []*model.Value) {
		for _, v := range values {
			if v == nil || v.Constant != nil {
				continue
			}
			if _, ok := given[v]; ok {
				continue
			}
			if _, ok := f.values[v]; !ok {
				push(v.From)
			}
		}
	}
	need(wanted)
	for n := range f.left {
		push(n)
	}
	for len(left) > 0 {
		n := left[len(left)-1]
		left = left[:len(left)-1]
		need(nodes[n])
	}
	return nodes
}
