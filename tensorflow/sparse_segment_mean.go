package tensorflow

import "github.com/garner-go/garner"

// SparseSegmentMean is the function tf.sparse.segment_mean: means of rows of data.
// segment_ids has the bag of each index, and never falls.
//
//	output[b, …] = 1/n Σ data[indices[i], …]   for each i with segment_ids[i] = b
//
// The result has num_segments bags; where that is not given, it ends with the last
// bag that has an index. A bag without indices is zeros.
//
// Spec: https://www.tensorflow.org/api_docs/python/tf/sparse/segment_mean
type SparseSegmentMean struct {
	NumSegments *int `input:"num_segments" after:"segment_ids"` // number of bags
}

// Operands returns segment_ids.
func (SparseSegmentMean) Operands() []garner.Operand { return segments() }

// Lower spends the operands' axes; see garner.Op.
func (s SparseSegmentMean) Lower(l *garner.Lowering) {
	lowerSegments(l, garner.Bag{Reduction: garner.Mean, Ends: garner.Segments}, numSegments(l, s.NumSegments))
}
