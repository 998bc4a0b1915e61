package webnn

import "github.com/garner-go/garner"

// GatherND is MLGraphBuilder.gatherND: slices of data at index tuples, which lie
// along the last dimension of the indices.
//
//	output[i_0…i_{q-2}, :] = input[indices[i_0…i_{q-2}, 0…k-1], :]
//
// Spec: https://www.w3.org/TR/webnn/#api-mlgraphbuilder-gathernd
type GatherND struct{}

// Lower spends the operands' axes; see garner.Op.
func (GatherND) Lower(l *garner.Lowering) {
	l.NeedRanks(1, 1)           // WN.1
	l.Components(l.TupleLen(0)) // WN.2
	l.Tuples()                  // WN.3: i_0 … i_{q-2}
	l.Copy()                    // the slice
	l.Negative(garner.FromEnd)  // WN.4
	l.Outside(garner.Clamp)     // WN.4
}
