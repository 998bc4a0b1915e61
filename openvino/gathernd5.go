package openvino

import "github.com/garner-go/garner"

// GatherND5 is GatherND of opset5: slices of data at index tuples. It differs from
// [GatherND8] in the shape of the output alone: the batch dimensions are
// multiplied into one.
//
//	output.shape = [Π indices.shape[:b]] + indices.shape[b:-1] + data.shape[b+k:]
//
// Spec: https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/movement/gather-nd-5.html
type GatherND5 struct {
	BatchDims int `attr:"batch_dims"` // b: 0 … min(ranks)-1; the first b dims are equal
}

// Lower spends the operands' axes; see garner.Op.
func (g GatherND5) Lower(l *garner.Lowering) {
	lowerGatherND(l, g.BatchDims) // ON5.1, ON5.2, ON5.3, ON5.4, ON5.6
	l.Flatten(g.BatchDims)        // ON5.5
}
