package tflite

import "github.com/garner-go/garner"

// GatherND is the operator GATHER_ND: slices of params at index tuples, which lie
// along the last dimension of the indices.
//
//	output[i_0…i_{q-2}, :] = params[indices[i_0…i_{q-2}, 0…k-1], :]
//
// Spec: https://ai.google.dev/edge/litert/conversion/tensorflow/op_compatibility#tfl.gather_nd
type GatherND struct{}

// Lower spends the operands' axes; see garner.Op.
func (GatherND) Lower(l *garner.Lowering) {
	l.NeedRanks(1, 1)           // LN.1
	l.Components(l.TupleLen(0)) // LN.2
	l.Tuples()                  // LN.3: i_0 … i_{q-2}
	l.Copy()                    // the slice
	l.Negative(garner.Reject)   // LN.4
	l.Outside(garner.Error)     // LN.4
}
