package torch

import "github.com/garner-go/garner"

// Embedding is torch.nn.functional.embedding: rows of a matrix.
//
//	out[i…j, :] = weight[input[i…j], :]
//
// A negative index is an error.
//
// Spec: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.embedding.html
type Embedding struct {
	PaddingIdx *int `attr:"padding_idx"` // ignored: it affects only the gradient
}

// Lower spends the operands' axes; see garner.Op.
func (Embedding) Lower(l *garner.Lowering) {
	l.NeedRanks(2, 0)
	if l.Data().Rank.Min > 2 { // RE.1
		l.Fail(garner.KindRank, "data %s has rank %d; an embedding's table is a matrix", l.Data(), l.Data().Rank.Min)
	}
	l.LimitRanks(2, garner.Unbounded)
	l.Gather()                // RE.2: the rows
	l.Tuples()                // i … j
	l.Copy()                  // the columns
	l.Negative(garner.Reject) // RE.3
	l.Outside(garner.Error)   // RE.3
}
