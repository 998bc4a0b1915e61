package tensorflow

import "github.com/garner-go/garner"

// SparseSegmentSqrtN is the function tf.sparse.segment_sqrtn: sums of rows of data, divided by the square root of
// their number.
// segment_ids has the bag of each index, and never falls.
//
//	output[b, …] = 1/√n Σ data[indices[i], …]   for each i with segment_ids[i] = b
//
// The result has num_segments bags; where that is not given, it ends with the last
// bag that has an index. A bag without indices is zeros.
//
// Spec: https://www.tensorflow.org/api_docs/python/tf/sparse/segment_sqrtn
type SparseSegmentSqrtN struct {
	NumSegments *int `input:"num_segments" after:"segment_ids"` // number of bags
}

// Operands returns segment_ids.
func (SparseSegmentSqrtN) Operands() []garner.Operand { return segments() }

// Lower spends the operands' axes; see garner.Op.
func (s SparseSegmentSqrtN) Lower(l *garner.Lowering) {
	lowerSegments(l, garner.Bag{Reduction: garner.SqrtN, Ends: garner.Segments}, numSegments(l, s.NumSegments))
}
