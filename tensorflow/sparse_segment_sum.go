package tensorflow

import "github.com/garner-go/garner"

// SparseSegmentSum is the function tf.sparse.segment_sum: sums of rows of data.
// segment_ids has the bag of each index, and never falls.
//
//	output[b, …] = Σ data[indices[i], …]   for each i with segment_ids[i] = b
//
// The result has num_segments bags; where that is not given, it ends with the last
// bag that has an index. A bag without indices is zeros.
//
// Spec: https://www.tensorflow.org/api_docs/python/tf/sparse/segment_sum
type SparseSegmentSum struct {
	NumSegments *int `input:"num_segments" after:"segment_ids"` // number of bags
}

// Operands returns segment_ids.
func (SparseSegmentSum) Operands() []garner.Operand { return segments() }

// Lower spends the operands' axes; see garner.Op.
func (s SparseSegmentSum) Lower(l *garner.Lowering) {
	lowerSegments(l, garner.Bag{Reduction: garner.Sum, Ends: garner.Segments}, numSegments(l, s.NumSegments))
}

// segments are the operands of a reduction of segments beyond data and indices.
func segments() []garner.Operand {
	return []garner.Operand{{Name: "segment_ids", Types: garner.IntegerTypes}}
}

// numSegments returns the number of bags, as far as it is given.
func numSegments(l *garner.Lowering, n *int) garner.Dim {
	if n == nil { // TSG.4, TSM.4, TSQ.4
		return garner.AnyDim
	}
	return l.Count("num_segments", *n)
}
