package onnx

import "github.com/garner-go/garner"

// Gather13 is Gather since opset 13: slices of data along one axis. The versions
// differ in the data types that they list. Version 1 leaves negative indices
// undefined; since version 11 they count from the end. Here all versions do.
//
//	output[p_0…p_{axis-1}, i…j, …] = data[p_0…p_{axis-1}, indices[i…j], …]
//
// An index outside -s … s-1 is an error.
//
// Spec: https://onnx.ai/onnx/operators/onnx__Gather.html
type Gather13 struct {
	Axis int `attr:"axis"` // -r … r-1
}

// Gather11 is Gather of opsets 11 and 12; see [Gather13].
type Gather11 Gather13

// Gather1 is Gather of opsets 1 to 10; see [Gather13].
type Gather1 Gather13

// Lower spends the operands' axes; see garner.Op.
func (g Gather13) Lower(l *garner.Lowering) {
	l.NeedRanks(1, 0)          // XG.1
	axis := l.Axis(g.Axis)     // XG.2
	l.Outer(axis)              // XG.3: p_0 … p_{axis-1}
	l.Gather()                 // the gathered axis
	l.Tuples()                 // XG.3: i … j
	l.Copy()                   // XG.3: the dims after the axis
	l.Negative(garner.FromEnd) // XG.4
	l.Outside(garner.Error)    // XG.4
}

// Lower spends the operands' axes; see garner.Op.
func (g Gather11) Lower(l *garner.Lowering) { Gather13(g).Lower(l) }

// Lower spends the operands' axes; see garner.Op.
func (g Gather1) Lower(l *garner.Lowering) { Gather13(g).Lower(l) }
