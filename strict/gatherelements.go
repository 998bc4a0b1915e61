package strict

import "github.com/garner-go/garner"

// GatherElements takes one element per index. On the axis the index is the
// coordinate; on all other axes the coordinates are those of the index itself:
//
//	out[p_0…p_{r-1}] = data[p_0…p_{axis-1}, indices[p_0…p_{r-1}], p_{axis+1}…p_{r-1}]
//
// for data and indices of equal rank r ≥ 1 whose dims off the axis are equal.
type GatherElements struct {
	Axis int `attr:"axis"` // -r … r-1
}

// Lower spends the operands' axes; see garner.Op.
func (g GatherElements) Lower(l *garner.Lowering) {
	l.NeedRanks(1, 1)              // SE.1
	l.SameRank()                   // SE.1
	axis := l.Axis(g.Axis)         // SE.2
	l.Elements(axis, garner.Equal) // SE.3
	l.Negative(garner.Reject)      // SE.4
	l.Outside(garner.Error)        // SE.4
}
