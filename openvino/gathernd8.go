package openvino

import "github.com/garner-go/garner"

// GatherND8 is GatherND of opset8: slices of data at index tuples, which lie along
// the last dimension of the indices.
//
//	output[p_0…p_{b-1}, i_b…i_{q-2}, :] =
//	    data[p_0…p_{b-1}, indices[p_0…p_{b-1}, i_b…i_{q-2}, 0…k-1], :]
//
// An index is in 0 … s-1, where s is the length of the dimension that it
// addresses; a negative index is an error. Later revisions of the page allow
// negative indices, and garner.WithNegative does too. They also allow batch
// dimensions to broadcast, which garner refuses.
//
// Spec: https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/movement/gather-nd-8.html
type GatherND8 struct {
	BatchDims int `attr:"batch_dims"` // b: 0 … min(ranks)-1; the first b dims are equal
}

// Lower spends the operands' axes; see garner.Op.
func (g GatherND8) Lower(l *garner.Lowering) {
	lowerGatherND(l, g.BatchDims) // ON8.5
}

// lowerGatherND is the lowering that GatherND of opset5 and of opset8 share.
func lowerGatherND(l *garner.Lowering, batchDims int) {
	l.NeedRanks(1, 1)             // ON5.1, ON8.1
	b := l.BatchDimsND(batchDims) // ON5.2, ON8.2
	k := l.TupleLen(b)            // ON5.3, ON8.3
	l.Batch(b)                    // ON5.4, ON8.4: p_0 … p_{b-1}
	l.Components(k)               // indices[…, 0…k-1]
	l.Tuples()                    // i_b … i_{q-2}
	l.Copy()                      // the slice
	l.Negative(garner.Reject)     // ON5.6, ON8.6
	l.Outside(garner.Error)       // ON5.6, ON8.6
}
