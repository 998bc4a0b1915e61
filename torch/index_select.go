package torch

import "github.com/garner-go/garner"

// IndexSelect is torch.index_select: slices of data along one dim, at a vector
// of indices.
//
//	out[p_0…p_{dim-1}, i, …] = input[p_0…p_{dim-1}, index[i], …]
//
// A scalar index leaves a dim of 1 in the result. Data of rank 0 takes exactly
// one index, and the result has rank 0. A negative index is an error.
//
// Spec: https://docs.pytorch.org/docs/stable/generated/torch.index_select.html
type IndexSelect struct {
	Dim int `attr:"dim"` // -r … r-1
}

// Lower spends the operands' axes; see garner.Op.
func (s IndexSelect) Lower(l *garner.Lowering) {
	scalar := l.DataAsVector() // RS.4
	l.NeedVector()             // RS.1
	dim := l.Axis(s.Dim)       // RS.2
	l.Outer(dim)               // RS.3: p_0 … p_{dim-1}
	l.Gather()                 // the gathered dim
	l.Tuples()                 // i
	if scalar {
		l.Hide() // RS.4
	}
	l.Copy()                  // the dims after dim
	l.Negative(garner.Reject) // RS.5
	l.Outside(garner.Error)   // RS.5
}
