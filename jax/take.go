package jax

import "github.com/garner-go/garner"

// NumpyTake is jax.numpy.take: slices of data along one axis, or elements of
// flattened data if there is no axis.
//
//	out[p_0…p_{axis-1}, i…j, …] = a[p_0…p_{axis-1}, indices[i…j], …]
//
// An index into an empty axis is an error in every mode.
//
// Spec: https://docs.jax.dev/en/latest/_autosummary/jax.numpy.take.html
type NumpyTake struct {
	Axis             *int   `attr:"axis"`                         // -r … r-1; nil: data is flattened
	Mode             string `attr:"mode" values:"fill,clip,wrap"` // "" or fill: negatives count from the end, an index outside is filled; wrap: modulo; clip: the nearest end, 0 for negatives
	FillValue        string `attr:"fill_value"`                   // a value of data's dtype, as text; "": JAX's default, see the package comment
	UniqueIndices    bool   `attr:"unique_indices"`               // ignored: no promise is needed
	IndicesAreSorted bool   `attr:"indices_are_sorted"`           // ignored: no promise is needed
}

// Lower spends the operands' axes; see garner.Op.
func (t NumpyTake) Lower(l *garner.Lowering) {
	switch t.Mode { // JT.4
	case "", "fill":
		l.Negative(garner.FromEnd)
		fill(l, t.FillValue)
	case "clip":
		l.Outside(garner.Clamp)
	case "wrap":
		l.Outside(garner.Wrap)
	default:
		l.FailAttribute("mode %q; there are fill, clip and wrap", t.Mode)
	}
	axis := 0
	if t.Axis == nil {
		l.FlattenData() // JT.2
	} else {
		l.NeedRanks(1, 0)      // JT.1
		axis = l.Axis(*t.Axis) // JT.3
	}
	if d := l.Data(); axis >= 0 && axis < len(d.Dims) && d.Dims[axis] == garner.Exactly(0) { // JT.5
		l.Outside(garner.Error)
	}
	l.Outer(axis) // p_0 … p_{axis-1}
	l.Gather()    // the gathered axis
	l.Tuples()    // i … j
	l.Copy()      // the dims after the axis
}
