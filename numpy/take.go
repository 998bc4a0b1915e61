package numpy

import "github.com/garner-go/garner"

// Take is numpy.take: slices of data along one axis, or elements of flattened
// data if there is no axis.
//
//	out[p_0…p_{axis-1}, i…j, …] = a[p_0…p_{axis-1}, indices[i…j], …]
//
// Data of rank 0 counts as a vector of one element.
//
// Spec: https://numpy.org/doc/stable/reference/generated/numpy.take.html
type Take struct {
	Axis *int   `attr:"axis"`                          // -r … r-1; nil: data is flattened
	Mode string `attr:"mode" values:"raise,wrap,clip"` // "" or raise: negatives count from the end, an index outside is an error; wrap: modulo; clip: the nearest end, 0 for negatives
}

// Lower spends the operands' axes; see garner.Op.
func (t Take) Lower(l *garner.Lowering) {
	negative, outside := garner.Reject, garner.Error
	switch t.Mode { // NT.4
	case "", "raise":
		negative = garner.FromEnd
	case "wrap":
		outside = garner.Wrap
	case "clip":
		outside = garner.Clamp
	default:
		l.FailAttribute("mode %q; there are raise, wrap and clip", t.Mode)
	}
	l.DataAsVector() // NT.1
	axis := 0
	if t.Axis == nil {
		l.FlattenData() // NT.2
	} else {
		axis = l.Axis(*t.Axis) // NT.3
	}
	l.Outer(axis) // p_0 … p_{axis-1}
	l.Gather()    // the gathered axis
	l.Tuples()    // i … j
	l.Copy()      // the dims after the axis
	l.Negative(negative)
	l.Outside(outside)
}
