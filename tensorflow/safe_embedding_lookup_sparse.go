package tensorflow

import "github.com/garner-go/garner"

// SafeEmbeddingLookupSparse is the function tf.nn.safe_embedding_lookup_sparse: rows
// of params, combined bag by bag, as [EmbeddingLookupSparse] does. It leaves out
// negative ids, and, unless the combiner is sum, those whose weight is not above 0.
//
//	output[b, …] = combiner of params[ids[i], …] · weights[i]   for each i that stays with ids_indices[i, 0] = b
//
// The result has as many bags as dense_shape[0] says. One without ids is the row
// default_id, or zeros where that is not given.
//
// Spec: https://www.tensorflow.org/api_docs/python/tf/nn/safe_embedding_lookup_sparse
type SafeEmbeddingLookupSparse struct {
	Combiner   string `attr:"combiner" values:"sum,mean,sqrtn"` // "" is mean
	DefaultID  *int   `attr:"default_id"`                       // 0 … r-1
	DenseShape []int  `input:"dense_shape" after:"ids_indices"` // of the sparse tensor; the first is the number of bags
}

// Operands returns the sparse tensor's indices, and the weights.
func (SafeEmbeddingLookupSparse) Operands() []garner.Operand { return sparse() }

// Lower spends the operands' axes; see garner.Op.
func (s SafeEmbeddingLookupSparse) Lower(l *garner.Lowering) {
	bag := garner.Bag{Reduction: combiner(l, s.Combiner), SkipNegative: true} // TSS.7
	bag.SkipWeightless = bag.Reduction != garner.Sum                          // TSS.7
	if s.DefaultID != nil {                                                   // TSS.8
		bag.Empty, bag.EmptyOnUse = garner.PositionAt(*s.DefaultID), true
		l.NameEmpty("default_id")
	}
	count := garner.Unknown
	if len(s.DenseShape) > 0 { // TSS.4
		count = s.DenseShape[0]
	}
	lowerSparse(l, bag, l.Count("dense_shape[0]", count))
}
