package tensorflow

import "github.com/garner-go/garner"

// BatchGather is the function tf.compat.v1.batch_gather: slices of params along
// axis q-1 with batch_dims q-1, where q is the rank of the indices.
//
//	output[p_0…p_{q-2}, i, …] = params[p_0…p_{q-2}, indices[p_0…p_{q-2}, i], …]
//
// Spec: https://www.tensorflow.org/api_docs/python/tf/compat/v1/batch_gather
type BatchGather struct{}

// Lower spends the operands' axes; see garner.Op.
func (g BatchGather) Lower(l *garner.Lowering) {
	l.NeedRanks(1, 1)     // TB.1
	q := l.Indices().Rank // TB.2
	if !q.Known() {
		lowerGather(l, garner.Unknown, -1)
		return
	}
	lowerGather(l, q.Min-1, q.Min-1) // TB.2, TB.3
}
