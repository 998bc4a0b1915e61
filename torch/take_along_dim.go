package torch

import "github.com/garner-go/garner"

// TakeAlongDim is torch.take_along_dim: one element of data per index. On dim the
// index is the coordinate; on all other dims the coordinates are those of the
// index itself.
//
//	out[p_0…p_{r-1}] = input[p_0…p_{dim-1}, indices[p_0…p_{r-1}], p_{dim+1}…p_{r-1}]
//
// The other dims broadcast. Without a dim, both operands are flattened, and a
// negative index is an error; with one, it counts from the end.
//
// Spec: https://docs.pytorch.org/docs/stable/generated/torch.take_along_dim.html
type TakeAlongDim struct {
	Dim *int `attr:"dim"` // -r … r-1; nil: both operands are flattened
}

// Lower spends the operands' axes; see garner.Op.
func (t TakeAlongDim) Lower(l *garner.Lowering) {
	negative := garner.FromEnd // RA.5
	if t.Dim == nil {          // RA.1
		negative = garner.Reject // RA.6
		l.FlattenData()
		l.Gather()
		l.Tuples()
		l.FlattenAll()
	} else {
		l.NeedRanks(1, 1)                 // RA.2
		l.SameRank()                      // RA.2
		dim := l.Axis(*t.Dim)             // RA.3
		l.Elements(dim, garner.Broadcast) // RA.4
	}
	l.Negative(negative)
	l.Outside(garner.Error) // RA.5
}
