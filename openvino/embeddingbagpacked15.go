package openvino

import "github.com/garner-go/garner"

// EmbeddingBagPacked15 is EmbeddingBagPacked of opset15: sums or means of rows. Each
// row of the indices is a bag.
//
//	output[b, :] = reduction of emb_table[indices[b, j], :] · per_sample_weights[b, j]   for each j
//
// Means of integers round toward zero.
//
// Spec: https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/sparse/embedding-bag-packed-15.html
type EmbeddingBagPacked15 struct {
	Reduction string `attr:"reduction" values:"sum,mean"` // "" is sum
}

// Operands returns per_sample_weights.
func (EmbeddingBagPacked15) Operands() []garner.Operand { return []garner.Operand{perSampleWeights} }

// Lower spends the operands' axes; see garner.Op.
func (e EmbeddingBagPacked15) Lower(l *garner.Lowering) {
	bag := garner.Bag{Reduction: reduce(l, e.Reduction), WeightsAt: garner.PositionAt(0)} // OBK.2
	lowerBags(l, bag, nil, garner.AnyDim)
}
