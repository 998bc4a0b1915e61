package openvino

import "github.com/garner-go/garner"

// Gather8 is Gather of opset8. It differs from [Gather7] in its policies: a
// negative index counts from the end of the axis, and an index outside the axis
// yields zeros.
//
//	output[p_0…p_{axis-1}, i_b…i_{q-1}, p_{axis+1}…p_{r-1}] =
//	    data[p_0…p_{axis-1}, indices[p_0…p_{b-1}, i_b…i_{q-1}], p_{axis+1}…p_{r-1}]
//
// Spec: https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/movement/gather-8.html
type Gather8 struct {
	Axis      int `input:"axis"`      // third input; -r … r-1
	BatchDims int `attr:"batch_dims"` // b: -q … q, a negative one counts from the rank q of indices; not above the axis
}

// Lower spends the operands' axes; see garner.Op.
func (g Gather8) Lower(l *garner.Lowering) {
	lowerGather7(l, g.Axis, g.BatchDims)
	l.Negative(garner.FromEnd) // OG8.5
	l.Outside(garner.Zero)     // OG8.6
}
