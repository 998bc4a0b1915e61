package openvino

import "github.com/garner-go/garner"

// EmbeddingBagOffsets15 is EmbeddingBagOffsets of opset15: sums or means of rows.
// The indices are bags behind each other, and offsets has the first index of each.
//
//	output[b, :] = reduction of emb_table[indices[i], :] · per_sample_weights[i]   for offsets[b] ≤ i < offsets[b+1]
//
// A bag without indices is the row default_index; zeros where that is -1 or not
// given. Means of integers round toward zero.
//
// Spec: https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/sparse/embedding-bag-offsets-15.html
type EmbeddingBagOffsets15 struct {
	Reduction    string `attr:"reduction" values:"sum,mean"`    // "" is sum
	DefaultIndex *int   `input:"default_index" after:"offsets"` // 0 … r-1, or -1 for zeros
}

// Operands returns offsets and per_sample_weights.
func (EmbeddingBagOffsets15) Operands() []garner.Operand {
	return []garner.Operand{offsets, perSampleWeights}
}

// Lower spends the operands' axes; see garner.Op.
func (e EmbeddingBagOffsets15) Lower(l *garner.Lowering) {
	bag := garner.Bag{Reduction: reduce(l, e.Reduction), Ends: garner.Starts, EndsAt: garner.PositionAt(0), WeightsAt: garner.PositionAt(1)} // OBN.2
	lowerBags(l, bag, zeros(e.DefaultIndex), garner.AnyDim)
}
