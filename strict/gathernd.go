package strict

import "github.com/garner-go/garner"

// GatherND takes slices of data at index tuples, which lie along the last dim of
// the indices:
//
//	out[p_0…p_{b-1}, i_b…i_{q-2}, :] =
//	    data[p_0…p_{b-1}, indices[p_0…p_{b-1}, i_b…i_{q-2}, 0…k-1], :]
//
// for data of rank r ≥ 1, indices of rank q ≥ 1 and any integer dtype, and tuples
// of length k ≤ r-b; k = 0 takes the whole of each batch.
type GatherND struct {
	BatchDims int `attr:"batch_dims"` // b: 0 … min(r,q)-1; the first b dims are equal
}

// Lower spends the operands' axes; see garner.Op.
func (g GatherND) Lower(l *garner.Lowering) {
	l.NeedRanks(1, 1)               // SN.1
	b := l.BatchDimsND(g.BatchDims) // SN.2
	k := l.TupleLen(b)              // SN.3
	l.Batch(b)                      // SN.4: p_0 … p_{b-1}
	l.Components(k)                 // indices[…, 0…k-1]
	l.Tuples()                      // i_b … i_{q-2}
	l.Copy()                        // the slice
	l.Negative(garner.Reject)       // SN.5
	l.Outside(garner.Error)         // SN.5
}
