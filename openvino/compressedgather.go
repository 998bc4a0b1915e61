package openvino

import "github.com/garner-go/garner"

// CompressedGather is no operator of OpenVINO but the pattern to which it compresses
// a table: Convert, Subtract, Multiply and perhaps Reshape of a constant, and then
// [Gather8], [Gather7] or [Gather1]. Further operands are scale and zero_point, which
// broadcast to data.
//
//	table = reshape((data - zero_point)·scale)
//	output = Gather(table, indices)
//
// Spec: https://docs.openvino.ai/2025/openvino-workflow/model-optimization-guide/weight-compression.html
type CompressedGather struct {
	Axis      int    `attr:"axis"`       // -r … r-1, r the rank of the table
	BatchDims int    `attr:"batch_dims"` // of Gather7 and Gather8
	Version   int    `attr:"version"`    // of Gather: 1, 7 or 8; 0 is 8
	Output    string `attr:"output"`     // dtype of the result, f32, f16 or bf16; empty: that of scale
	Reshape   []int  `attr:"reshape"`    // dims of the table, one of them perhaps -1; nil: those of data
}

// Operands returns scale and zero_point; see garner.Operander.
func (CompressedGather) Operands() []garner.Operand { return compressedOperands }

// Lower spends the operands' axes; see garner.Op.
func (g CompressedGather) Lower(l *garner.Lowering) {
	var op garner.Op = Gather8{Axis: g.Axis, BatchDims: g.BatchDims} // OC.5, OC.6
	switch g.Version {
	case 0, 8:
	case 7:
		op = Gather7{Axis: g.Axis, BatchDims: g.BatchDims}
	case 1:
		op = Gather1{Axis: g.Axis}
		if g.BatchDims != 0 { // OC.8
			l.FailAttribute("batch_dims %d; version 1 has none, versions 7 and 8 have", g.BatchDims)
		}
	default:
		l.FailAttribute("version %d; there are 1, 7 and 8", g.Version) // OC.8
	}
	Compressed{Op: op, Output: g.Output, Reshape: g.Reshape}.Lower(l)
}
