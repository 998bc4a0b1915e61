package openvino

import "github.com/garner-go/garner"

// GatherElements6 is GatherElements of opset6: one element of data per index. On
// the axis the index is the coordinate; on all other axes the coordinates are
// those of the index itself.
//
//	output[p_0…p_{r-1}] = data[p_0…p_{axis-1}, indices[p_0…p_{r-1}], p_{axis+1}…p_{r-1}]
//
// The dims of data and indices off the axis are equal. A negative index is an
// error.
//
// Spec: https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/movement/gather-elements-6.html
type GatherElements6 struct {
	Axis int `attr:"axis"` // -r … r-1
}

// Lower spends the operands' axes; see garner.Op.
func (g GatherElements6) Lower(l *garner.Lowering) {
	l.NeedRanks(1, 1)              // OE6.1
	l.SameRank()                   // OE6.1
	axis := l.Axis(g.Axis)         // OE6.2
	l.Elements(axis, garner.Equal) // OE6.3
	l.Negative(garner.Reject)      // OE6.4
	l.Outside(garner.Error)        // OE6.4
}
