package strict

import "github.com/garner-go/garner"

// Gather takes slices of data along one axis:
//
//	out[p_0…p_{axis-1}, i_b…i_{q-1}, p_{axis+1}…p_{r-1}] =
//	    data[p_0…p_{axis-1}, indices[p_0…p_{b-1}, i_b…i_{q-1}], p_{axis+1}…p_{r-1}]
//
// for data of rank r ≥ 1 and indices of rank q, any integer dtype.
type Gather struct {
	Axis      int `attr:"axis"`       // -r … r-1
	BatchDims int `attr:"batch_dims"` // b: 0 … q, not above the axis; the first b dims are equal
}

// Lower spends the operands' axes; see garner.Op.
func (g Gather) Lower(l *garner.Lowering) {
	l.NeedRanks(1, 0)                   // SG.1
	axis := l.Axis(g.Axis)              // SG.2
	l.NotNegative(g.BatchDims)          // SG.3
	b := l.BatchDims(g.BatchDims, axis) // SG.3
	l.Batch(b)                          // SG.4: p_0 … p_{b-1}
	l.Outer(axis - b)                   // p_b … p_{axis-1}
	l.Gather()                          // the gathered axis
	l.Tuples()                          // i_b … i_{q-1}
	l.Copy()                            // p_{axis+1} … p_{r-1}
	l.Negative(garner.Reject)           // SG.5
	l.Outside(garner.Error)             // SG.5
}
