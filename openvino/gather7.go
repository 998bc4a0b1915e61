package openvino

import "github.com/garner-go/garner"

// Gather7 is Gather of opset7: slices of data along one axis. The first
// batch_dims dimensions of data and indices are shared.
//
//	output[p_0…p_{axis-1}, i_b…i_{q-1}, p_{axis+1}…p_{r-1}] =
//	    data[p_0…p_{axis-1}, indices[p_0…p_{b-1}, i_b…i_{q-1}], p_{axis+1}…p_{r-1}]
//
// A negative index is an error.
//
// Spec: https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/movement/gather-7.html
type Gather7 struct {
	Axis      int `input:"axis"`      // third input; -r … r-1
	BatchDims int `attr:"batch_dims"` // b: -q … q, a negative one counts from the rank q of indices; not above the axis
}

// Lower spends the operands' axes; see garner.Op.
func (g Gather7) Lower(l *garner.Lowering) {
	lowerGather7(l, g.Axis, g.BatchDims)
	l.Negative(garner.Reject) // OG7.5
	l.Outside(garner.Error)   // OG7.5
}

// lowerGather7 is the lowering that Gather of opset7 and of opset8 share, all but
// the policies.
func lowerGather7(l *garner.Lowering, axis, batchDims int) {
	l.NeedRanks(1, 0)                 // OG7.1, OG8.1
	axis = l.Axis(axis)               // OG7.2, OG8.2
	b := l.BatchDims(batchDims, axis) // OG7.3, OG8.3
	l.Batch(b)                        // OG7.4, OG8.4: p_0 … p_{b-1}
	l.Outer(axis - b)                 // p_b … p_{axis-1}
	l.Gather()                        // the gathered axis
	l.Tuples()                        // i_b … i_{q-1}
	l.Copy()                          // p_{axis+1} … p_{r-1}
}
