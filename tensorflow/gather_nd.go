package tensorflow

import "github.com/garner-go/garner"

// GatherNdFunc is the function tf.gather_nd: [GatherNd] with batch_dims, the number
// of leading dimensions that params and indices share.
//
//	output[p_0…p_{b-1}, i_b…i_{q-2}, :] =
//	    params[p_0…p_{b-1}, indices[p_0…p_{b-1}, i_b…i_{q-2}, 0…k-1], :]
//
// Spec: https://www.tensorflow.org/api_docs/python/tf/gather_nd
type GatherNdFunc struct {
	BatchDims        int    `attr:"batch_dims"`                                       // b: 0 … min(ranks)-1; the first b dims are equal
	BadIndicesPolicy string `attr:"bad_indices_policy" values:"DEFAULT,ERROR,IGNORE"` // as GatherNd's
}

// Lower spends the operands' axes; see garner.Op.
func (g GatherNdFunc) Lower(l *garner.Lowering) {
	outside := badIndices(l, g.BadIndicesPolicy) // Tnd.6
	lowerGatherNd(l, g.BatchDims)                // Tnd.1 … Tnd.5
	l.Outside(outside)
}
