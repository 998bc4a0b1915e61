package onnx

import "github.com/garner-go/garner"

// GatherElements13 is GatherElements since opset 13: one element of data per
// index. On the axis the index is the coordinate; on all other axes the
// coordinates are those of the index itself. The versions differ in the data
// types that they list.
//
//	output[p_0…p_{r-1}] = data[p_0…p_{axis-1}, indices[p_0…p_{r-1}], p_{axis+1}…p_{r-1}]
//
// Dims of the indices off the axis may be smaller than data's; the rest of data
// is then not read. An index outside -s … s-1 is an error.
//
// Spec: https://onnx.ai/onnx/operators/onnx__GatherElements.html
type GatherElements13 struct {
	Axis int `attr:"axis"` // -r … r-1
}

// GatherElements11 is GatherElements of opsets 11 and 12; see
// [GatherElements13].
type GatherElements11 GatherElements13

// Lower spends the operands' axes; see garner.Op.
func (g GatherElements13) Lower(l *garner.Lowering) {
	l.NeedRanks(1, 1)               // XE.1
	l.SameRank()                    // XE.1
	axis := l.Axis(g.Axis)          // XE.2
	l.Elements(axis, garner.Within) // XE.3
	l.Negative(garner.FromEnd)      // XE.4
	l.Outside(garner.Error)         // XE.4
}

// Lower spends the operands' axes; see garner.Op.
func (g GatherElements11) Lower(l *garner.Lowering) { GatherElements13(g).Lower(l) }
