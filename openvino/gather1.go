package openvino

import "github.com/garner-go/garner"

// Gather1 is Gather of opset1: slices of data along one axis. The axis is the
// operator's third input.
//
//	output[p_0…p_{axis-1}, i…j, …] = data[p_0…p_{axis-1}, indices[i…j], …]
//
// Axes count from 0: axis 1 is the second dimension, as in the page's formula and
// layer example; the page's prose contradicts them. Indices are in
// 0 … data.shape[axis]-1; a negative index is an error.
//
// Spec: https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/movement/gather-1.html
type Gather1 struct {
	Axis int `input:"axis"` // third input, a scalar or one element; -r … r-1
}

// Lower spends the operands' axes; see garner.Op.
func (g Gather1) Lower(l *garner.Lowering) {
	l.NeedRanks(1, 0)         // OG1.1
	axis := l.Axis(g.Axis)    // OG1.2
	l.Outer(axis)             // OG1.3: p_0 … p_{axis-1}
	l.Gather()                // the gathered axis
	l.Tuples()                // OG1.3: i … j
	l.Copy()                  // OG1.3: the dims after the axis
	l.Negative(garner.Reject) // OG1.4
	l.Outside(garner.Error)   // OG1.4
}
