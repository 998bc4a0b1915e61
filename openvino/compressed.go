package openvino

import (
	"slices"

	"github.com/garner-go/garner"
)

// Compressed is an operator of OpenVINO over a table that is compressed: Convert,
// Subtract, Multiply and perhaps Reshape of a constant, and then the operator. Its
// further operands are those of the operator, and then scale and zero_point, which
// broadcast to data.
//
//	table = reshape((data - zero_point)·scale)
//	output = Op(table, indices…)
type Compressed struct {
	Op      garner.Op
	Output  string // dtype of the table, f32, f16 or bf16; empty: that of scale
	Reshape []int  // dims of the table, one of them perhaps -1; nil: those of data
}

var compressedOperands = []garner.Operand{{Name: "scale"}, {Name: "zero_point", Optional: true}}

// Operands returns those of the operator, scale and zero_point; see garner.Operander.
func (c Compressed) Operands() []garner.Operand {
	return slices.Concat(garner.OperandsOf(c.Op), compressedOperands)
}

// Lower spends the operands' axes; see garner.Op.
func (c Compressed) Lower(l *garner.Lowering) {
	out := garner.Invalid
	if c.Output != "" {
		var err error
		if out, err = garner.ParseDType(c.Output); err != nil || out != garner.F32 && out != garner.F16 && out != garner.BF16 { // OC.1
			l.FailAttribute("output %q; it may be f32, f16 or bf16", c.Output)
			out = garner.F32
		}
	} else if scale, given := l.Operand("scale"); given {
		out = scale.DType
	}
	// OC.2, OC.3, OC.4
	l.StoredCodes(garner.Codes{Scales: "scale", Zeros: "zero_point", DType: out, Shape: c.Reshape, Axis: -1})
	c.Op.Lower(l)
}
