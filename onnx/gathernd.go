package onnx

import "github.com/garner-go/garner"

// GatherND13 is GatherND since opset 13: slices of data at index tuples, which lie
// along the last dimension of the indices.
//
//	output[p_0…p_{b-1}, i_b…i_{q-2}, :] =
//	    data[p_0…p_{b-1}, indices[p_0…p_{b-1}, i_b…i_{q-2}, 0…k-1], :]
//
// An index outside -s … s-1 is an error.
//
// Spec: https://onnx.ai/onnx/operators/onnx__GatherND.html
type GatherND13 struct {
	BatchDims int `attr:"batch_dims"` // b: 0 … min(ranks)-1; the first b dims are equal
}

// GatherND12 is GatherND of opset 12; see [GatherND13].
type GatherND12 GatherND13

// GatherND11 is GatherND of opset 11, which has no batch_dims; see [GatherND13].
type GatherND11 struct{}

// Lower spends the operands' axes; see garner.Op.
func (g GatherND13) Lower(l *garner.Lowering) { lowerGatherND(l, g.BatchDims) }

// Lower spends the operands' axes; see garner.Op.
func (g GatherND12) Lower(l *garner.Lowering) { lowerGatherND(l, g.BatchDims) }

// Lower spends the operands' axes; see garner.Op.
func (g GatherND11) Lower(l *garner.Lowering) { lowerGatherND(l, 0) } // XN.6

// lowerGatherND is the lowering that every GatherND of ONNX shares, also that of
// com.microsoft.
func lowerGatherND(l *garner.Lowering, batchDims int) {
	l.NeedRanks(1, 1)             // XN.1, MN.1
	b := l.BatchDimsND(batchDims) // XN.2, MN.4
	k := l.TupleLen(b)            // XN.3, MN.2
	l.Batch(b)                    // XN.4: p_0 … p_{b-1}
	l.Components(k)               // indices[…, 0…k-1]
	l.Tuples()                    // i_b … i_{q-2}
	l.Copy()                      // the slice
	l.Negative(garner.FromEnd)    // XN.5, MN.3
	l.Outside(garner.Error)       // XN.5, MN.3
}
