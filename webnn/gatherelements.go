package webnn

import "github.com/garner-go/garner"

// GatherElements is MLGraphBuilder.gatherElements: one element of data per index.
// On the axis the index is the coordinate; on all other axes the coordinates are
// those of the index itself.
//
//	output[p_0…p_{r-1}] = input[p_0…p_{axis-1}, indices[p_0…p_{r-1}], p_{axis+1}…p_{r-1}]
//
// Off the axis the dims are equal.
//
// Spec: https://www.w3.org/TR/webnn/#api-mlgraphbuilder-gatherelements
type GatherElements struct {
	Axis int `attr:"axis"` // -r … r-1
}

// Lower spends the operands' axes; see garner.Op.
func (g GatherElements) Lower(l *garner.Lowering) {
	l.NeedRanks(1, 1)              // WE.1
	l.SameRank()                   // WE.1
	axis := l.Axis(g.Axis)         // WE.2
	l.Elements(axis, garner.Equal) // WE.3
	l.Negative(garner.FromEnd)     // WE.4
	l.Outside(garner.Clamp)        // WE.4
}
