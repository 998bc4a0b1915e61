package openvino

import "github.com/garner-go/garner"

// CompressedGather is no operator of OpenVINO but the pattern to which it compresses
// a table: Convert, Subtract, Multiply and perhaps Reshape of a constant, and then
// [Gather8]. Further operands are scale and zero_point, which broadcast to data.
//
//	table = reshape((data - zero_point)·scale)
//	output[p…, i…, q…] = table[p…, indices[i…], q…]
//
// A negative index counts from the end of the axis, and an index outside the axis
// yields zeros.
//
// Spec: https://docs.openvino.ai/2025/openvino-workflow/model-optimization-guide/weight-compression.html
type CompressedGather struct {
	Axis    int    `attr:"axis"`    // -r … r-1, r the rank of the table
	Output  string `attr:"output"`  // dtype of the result, f32, f16 or bf16; empty: that of scale
	Reshape []int  `attr:"reshape"` // dims of the table, one of them perhaps -1; nil: those of data
}

var compressedOperands = []garner.Operand{{Name: "scale"}, {Name: "zero_point", Optional: true}}

// Operands returns scale and zero_point; see garner.Operander.
func (CompressedGather) Operands() []garner.Operand { return compressedOperands }

// Lower spends the operands' axes; see garner.Op.
func (g CompressedGather) Lower(l *garner.Lowering) {
	out := garner.Invalid
	if g.Output != "" {
		var err error
		if out, err = garner.ParseDType(g.Output); err != nil || out != garner.F32 && out != garner.F16 && out != garner.BF16 { // OC.1
			l.FailAttribute("output %q; it may be f32, f16 or bf16", g.Output)
			out = garner.F32
		}
	}
	// OC.2, OC.3, OC.4
	l.StoredCodes(garner.Codes{Scales: "scale", Zeros: "zero_point", DType: out, Shape: g.Reshape, Axis: -1})
	lowerGather7(l, g.Axis, 0) // OC.5
	l.Negative(garner.FromEnd) // OC.6
	l.Outside(garner.Zero)     // OC.6
}
