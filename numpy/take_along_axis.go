package numpy

import "github.com/garner-go/garner"

// TakeAlongAxis is numpy.take_along_axis: one element of data per index. On the
// axis the index is the coordinate; on all other axes the coordinates are those
// of the index itself.
//
//	out[p_0…p_{r-1}] = arr[p_0…p_{axis-1}, indices[p_0…p_{r-1}], p_{axis+1}…p_{r-1}]
//
// Off the axis the dims broadcast. If Axis is nil, which is NumPy's axis=None, data
// is flattened and the indices must be a vector. NumPy's own default is -1, and
// package operators uses it where the attribute is not given.
//
// Spec: https://numpy.org/doc/stable/reference/generated/numpy.take_along_axis.html
type TakeAlongAxis struct {
	Axis *int `attr:"axis" default:"-1"` // -r … r-1; nil: data is flattened
}

// Lower spends the operands' axes; see garner.Op.
func (t TakeAlongAxis) Lower(l *garner.Lowering) {
	axis := 0
	if t.Axis == nil {
		l.FlattenData() // NA.1
	}
	l.NeedRanks(1, 1) // NA.2
	l.SameRank()      // NA.2
	if t.Axis != nil {
		axis = l.Axis(*t.Axis) // NA.3
	}
	l.Elements(axis, garner.Broadcast) // NA.4
	l.Negative(garner.FromEnd)         // NA.5
	l.Outside(garner.Error)            // NA.5
}
