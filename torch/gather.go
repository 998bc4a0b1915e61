package torch

import "github.com/garner-go/garner"

// Gather is torch.gather: one element of data per index. On dim the index is the
// coordinate; on all other dims the coordinates are those of the index itself.
//
//	out[p_0…p_{r-1}] = input[p_0…p_{dim-1}, index[p_0…p_{r-1}], p_{dim+1}…p_{r-1}]
//
// The other dims of the indices may be smaller than data's. Indices without
// elements may have any rank and any extents. An operand of rank 0 counts as a
// vector of one element. A negative index is an error.
//
// Spec: https://docs.pytorch.org/docs/stable/generated/torch.gather.html
type Gather struct {
	Dim        int  `attr:"dim"`         // -r … r-1
	SparseGrad bool `attr:"sparse_grad"` // ignored: it affects only the gradient
}

// Lower spends the operands' axes; see garner.Op.
func (g Gather) Lower(l *garner.Lowering) {
	l.DataAsVector() // RG.1
	scalar := l.IndicesAsVector()
	dim := l.Axis(g.Dim)                  // RG.3
	l.Elements(dim, garner.WithinOrEmpty) // RG.2, RG.4, RG.6
	if scalar {
		l.Hide() // RG.1
	}
	l.Negative(garner.Reject) // RG.5
	l.Outside(garner.Error)   // RG.5
}
