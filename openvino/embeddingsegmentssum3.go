package openvino

import "github.com/garner-go/garner"

// EmbeddingSegmentsSum3 is EmbeddingSegmentsSum of opset3: sums of rows. segment_ids
// has the bag of each index, and never falls.
//
//	output[b, :] = Σ emb_table[indices[i], :] · per_sample_weights[i]   for each i with segment_ids[i] = b
//
// A bag without indices is the row default_index, or zeros where that is not given.
//
// Spec: https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/sparse/embedding-segments-sum-3.html
type EmbeddingSegmentsSum3 struct {
	NumSegments  int  `input:"num_segments,needed" after:"segment_ids"` // number of bags
	DefaultIndex *int `input:"default_index" after:"segment_ids"`       // 0 … r-1; -1, which is no row, is refused where a bag is empty
}

// Operands returns segment_ids and per_sample_weights.
func (EmbeddingSegmentsSum3) Operands() []garner.Operand {
	return []garner.Operand{segmentIDs, perSampleWeights}
}

// Lower spends the operands' axes; see garner.Op.
func (e EmbeddingSegmentsSum3) Lower(l *garner.Lowering) {
	bag := garner.Bag{Ends: garner.Segments, EndsAt: garner.PositionAt(0), WeightsAt: garner.PositionAt(1)}
	bag.EmptyOnUse = e.DefaultIndex != nil && *e.DefaultIndex == -1           // OBS.6
	lowerBags(l, bag, e.DefaultIndex, l.Count("num_segments", e.NumSegments)) // OBS.5
}
