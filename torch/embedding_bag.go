package torch

import "github.com/garner-go/garner"

// EmbeddingBag is torch.nn.functional.embedding_bag: rows of a matrix, reduced bag
// by bag.
//
//	out[b, :] = reduce(weight[input[i], :] · per_sample_weights[i] for each i of bag b)
//
// Indices of two dims are a bag a row. Indices of one dim are bags behind each
// other, and offsets has the first index of each. A bag without terms is zeros.
//
// Spec: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.embedding_bag.html
type EmbeddingBag struct {
	Mode              string `attr:"mode" values:"sum,mean,max"` // "" is mean
	IncludeLastOffset bool   `attr:"include_last_offset"`        // offsets has one element more, the end of the last bag
	PaddingIdx        *int   `attr:"padding_idx"`                // terms of this row are left out; -r … r-1
}

// Operands returns offsets and per_sample_weights.
func (EmbeddingBag) Operands() []garner.Operand {
	return []garner.Operand{
		{Name: "offsets", Types: garner.IntegerTypes, Optional: true},
		{Name: "per_sample_weights", Types: garner.ElementType, Optional: true},
	}
}

// Lower spends the operands' axes; see garner.Op.
func (e EmbeddingBag) Lower(l *garner.Lowering) {
	l.NeedNumbers(true)                                                               // REB.1
	bag := garner.Bag{WeightsAt: garner.PositionAt(1), FromZero: true, Rounded: true} // REB.7
	switch e.Mode {                                                                   // REB.2
	case "sum":
	case "", "mean":
		bag.Reduction = garner.Mean
	case "max":
		bag.Reduction = garner.Max
	default:
		l.FailAttribute("mode %q; there are sum, mean and max", e.Mode)
	}
	if _, weighted := l.Operand("per_sample_weights"); weighted && bag.Reduction != garner.Sum { // REB.3
		l.FailAttribute("per_sample_weights go with the mode sum alone; the mode is %s", bag.Reduction)
	}
	if e.PaddingIdx != nil { // REB.4
		bag.Padding = garner.PositionAt(l.Row("padding_idx", *e.PaddingIdx))
	}
	if e.PaddingIdx == nil { // REB.7
		bag.Fused, bag.Away = l.Data().DType != garner.F64, true
	}
	l.NeedRanks(2, 1) // REB.5
	l.LimitRanks(2, 2)
	if _, ok := l.Operand("offsets"); ok { // REB.6
		if l.Indices().Rank.Min > 1 {
			l.Fail(garner.KindRank, "indices %s have rank 2 and offsets are given; leave them out, since each row is a bag, or give a vector of indices", l.Indices())
		}
		l.LimitRanks(2, 1)
		bag.EndsAt, bag.Ends = garner.PositionAt(0), garner.ZeroStart
		if e.IncludeLastOffset {
			bag.Ends = garner.Bounds
		}
	} else {
		if l.Indices().Rank.Max < 2 {
			l.Fail(garner.KindRank, "indices %s are a vector and offsets are not given, which say where bags begin", l.Indices())
		}
		l.NeedRanks(2, 2)
	}
	l.Bags(bag, garner.AnyDim) // REB.7: the rows, b
	l.Copy()                   // REB.7: the columns
	l.Negative(garner.Reject)  // REB.8
	l.Outside(garner.Error)    // REB.8
}
