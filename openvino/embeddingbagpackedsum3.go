package openvino

import "github.com/garner-go/garner"

// EmbeddingBagPackedSum3 is EmbeddingBagPackedSum of opset3: sums of rows. Each row
// of the indices is a bag.
//
//	output[b, :] = Σ_j emb_table[indices[b, j], :] · per_sample_weights[b, j]
//
// Spec: https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/sparse/embedding-bag-packed-sum-3.html
type EmbeddingBagPackedSum3 struct{}

// Operands returns per_sample_weights.
func (EmbeddingBagPackedSum3) Operands() []garner.Operand { return []garner.Operand{perSampleWeights} }

// Lower spends the operands' axes; see garner.Op.
func (EmbeddingBagPackedSum3) Lower(l *garner.Lowering) {
	lowerBags(l, garner.Bag{WeightsAt: garner.PositionAt(0)}, nil, garner.AnyDim)
}
