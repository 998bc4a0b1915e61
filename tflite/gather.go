package tflite

import "github.com/garner-go/garner"

// Gather is the operator GATHER: slices of params along one axis. The first
// batch_dims dimensions of params and indices are shared.
//
//	output[p_0…p_{axis-1}, i_b…i_{q-1}, p_{axis+1}…p_{r-1}] =
//	    params[p_0…p_{axis-1}, indices[p_0…p_{b-1}, i_b…i_{q-1}], p_{axis+1}…p_{r-1}]
//
// Spec: https://ai.google.dev/edge/litert/conversion/tensorflow/op_compatibility#tfl.gather
type Gather struct {
	Axis      int `attr:"axis"`       // -r … r-1
	BatchDims int `attr:"batch_dims"` // b: -q … q, a negative one counts from the rank q of indices; not above the axis
}

// Lower spends the operands' axes; see garner.Op.
func (g Gather) Lower(l *garner.Lowering) {
	l.NeedRanks(1, 0)                   // LG.1
	axis := l.Axis(g.Axis)              // LG.2
	b := l.BatchDims(g.BatchDims, axis) // LG.3
	l.Batch(b)                          // LG.4: p_0 … p_{b-1}
	l.Outer(axis - b)                   // p_b … p_{axis-1}
	l.Gather()                          // the gathered axis
	l.Tuples()                          // i_b … i_{q-1}
	l.Copy()                            // p_{axis+1} … p_{r-1}
	l.Negative(garner.Reject)           // LG.5
	l.Outside(garner.Error)             // LG.5
}
