package webnn

import "github.com/garner-go/garner"

// Gather is MLGraphBuilder.gather: slices of data along one axis.
//
//	output[p_0…p_{axis-1}, i…j, …] = input[p_0…p_{axis-1}, indices[i…j], …]
//
// Spec: https://www.w3.org/TR/webnn/#api-mlgraphbuilder-gather
type Gather struct {
	Axis int `attr:"axis"` // -r … r-1
}

// Lower spends the operands' axes; see garner.Op.
func (g Gather) Lower(l *garner.Lowering) {
	l.NeedRanks(1, 0)          // WG.1
	axis := l.Axis(g.Axis)     // WG.2
	l.Outer(axis)              // WG.3: p_0 … p_{axis-1}
	l.Gather()                 // the gathered axis
	l.Tuples()                 // i … j
	l.Copy()                   // the dims after the axis
	l.Negative(garner.FromEnd) // WG.4
	l.Outside(garner.Clamp)    // WG.4
}
