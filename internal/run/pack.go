package run

import (
	"slices"

	"github.com/garner-go/garner"
)

// pack joins tensors of one shape along a new axis.
func pack(c *call) (garner.Tensor, error) {
	parts, err := c.inputs(max(len(c.node.Inputs), 1))
	if err != nil {
		return garner.Tensor{}, err
	}
	a, err := c.number("axis", 0)
	if err != nil {
		return garner.Tensor{}, err
	}
	one := parts[0].Shape()
	if len(one) == garner.MaxRank {
		return garner.Tensor{}, mismatch("tensors of %d dims cannot be packed: there may be no more", garner.MaxRank)
	}
	axis, err := axisOf(a, len(one)+1)
	if err != nil {
		return garner.Tensor{}, err
	}
	for i, p := range parts {
		if !p.Shape().Equal(one) {
			return garner.Tensor{}, mismatch("%s and %s cannot be packed: they differ", one, p.Shape())
		}
		if parts[i], err = c.runner.reshape(p, slices.Insert(slices.Clone(p.Shape()), axis, 1)); err != nil {
			return garner.Tensor{}, err
		}
	}
	return c.join(parts, axis)
}

// unpack makes a tensor of each part of an axis, without the axis: one for each output. TensorFlow's reader lists
// the outputs up to the last that is read; num says how many parts there are.
func unpack(c *call) ([]garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return nil, err
	}
	a, err := c.number("axis", 0)
	if err != nil {
		return nil, err
	}
	axis, err := axisOf(a, t.Rank())
	if err != nil {
		return nil, err
	}
	outputs := len(c.node.Outputs)
	n, err := c.number("num", int64(outputs))
	if err != nil {
		return nil, err
	}
	if have := int64(t.Shape()[axis]); have != n || int64(outputs) > n {
		return nil, mismatch("axis %d of %s does not have %d parts, one for each output", axis, t.Shape(), max(n, int64(outputs)))
	}
	all := make([]garner.Tensor, outputs)
	shape := slices.Delete(slices.Clone(t.Shape()), axis, axis+1)
	for i := range all {
		part, err := t.Slice(axis, i, i+1, 1)
		if err != nil {
			return nil, err
		}
		if all[i], err = c.runner.reshape(part, shape); err != nil {
			return nil, err
		}
	}
	return all, nil
}
