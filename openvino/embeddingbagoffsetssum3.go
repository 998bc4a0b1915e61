package openvino

import "github.com/garner-go/garner"

// EmbeddingBagOffsetsSum3 is EmbeddingBagOffsetsSum of opset3: sums of rows. The
// indices are bags behind each other, and offsets has the first index of each.
//
//	output[b, :] = Σ emb_table[indices[i], :] · per_sample_weights[i]   for offsets[b] ≤ i < offsets[b+1]
//
// A bag without indices is the row default_index; zeros where that is -1 or not
// given.
//
// Spec: https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/sparse/embedding-bag-offsets-sum-3.html
type EmbeddingBagOffsetsSum3 struct {
	DefaultIndex *int `input:"default_index" after:"offsets"` // 0 … r-1, or -1 for zeros
}

// Operands returns offsets and per_sample_weights.
func (EmbeddingBagOffsetsSum3) Operands() []garner.Operand {
	return []garner.Operand{offsets, perSampleWeights}
}

// Lower spends the operands' axes; see garner.Op.
func (e EmbeddingBagOffsetsSum3) Lower(l *garner.Lowering) {
	lowerBags(l, garner.Bag{Ends: garner.Starts, EndsAt: garner.PositionAt(0), WeightsAt: garner.PositionAt(1)}, zeros(e.DefaultIndex), garner.AnyDim)
}
