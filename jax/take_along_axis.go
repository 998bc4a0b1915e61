package jax

import "github.com/garner-go/garner"

// NumpyTakeAlongAxis is jax.numpy.take_along_axis: one element of data per index.
// On the axis the index is the coordinate; on all other axes the coordinates are
// those of the index itself.
//
//	out[p_0…p_{r-1}] = arr[p_0…p_{axis-1}, indices[p_0…p_{r-1}], p_{axis+1}…p_{r-1}]
//
// Off the axis the dims broadcast. If Axis is nil, which is JAX's axis=None, data
// is flattened and the indices must be a vector. JAX's own default is -1, and
// package operators uses it where the attribute is not given.
//
// Spec: https://docs.jax.dev/en/latest/_autosummary/jax.numpy.take_along_axis.html
type NumpyTakeAlongAxis struct {
	Axis                *int   `attr:"axis" default:"-1"`                         // -r … r-1; nil: data is flattened
	Mode                string `attr:"mode" values:"fill,clip,promise_in_bounds"` // "" or fill: an index outside is filled; clip, promise_in_bounds: the nearest end
	FillValue           string `attr:"fill_value"`                                // a value of data's dtype, as text; "": JAX's default, see the package comment
	WrapNegativeIndices *bool  `attr:"wrap_negative_indices" values:"true,false"` // true: negatives count from the end; false: they are outside; nil: true, except with promise_in_bounds
}

// Lower spends the operands' axes; see garner.Op.
func (t NumpyTakeAlongAxis) Lower(l *garner.Lowering) {
	switch t.Mode { // JA.5
	case "", "fill":
		fill(l, t.FillValue)
	case "clip", "promise_in_bounds":
		l.Outside(garner.Clamp)
	default:
		l.FailAttribute("mode %q; there are fill, clip and promise_in_bounds", t.Mode)
	}
	wrap := t.Mode != "promise_in_bounds" // JA.6
	if t.WrapNegativeIndices != nil {
		wrap = *t.WrapNegativeIndices
	}
	if wrap {
		l.Negative(garner.FromEnd)
	}
	axis := 0
	if t.Axis == nil {
		l.FlattenData() // JA.1
	}
	l.NeedRanks(1, 1) // JA.2
	l.SameRank()      // JA.2
	if t.Axis != nil {
		axis = l.Axis(*t.Axis) // JA.3
	}
	if d := l.Data(); axis >= 0 && axis < len(d.Dims) && d.Dims[axis] == garner.Exactly(0) { // JA.7
		l.Outside(garner.Zero)
	}
	l.Elements(axis, garner.Broadcast) // JA.4
}
