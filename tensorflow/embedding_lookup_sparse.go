package tensorflow

import "github.com/garner-go/garner"

// EmbeddingLookupSparse is the function tf.nn.embedding_lookup_sparse: rows of
// params, combined bag by bag. The ids are the values of a sparse tensor; the first
// column of its indices has the bag of each id, and never falls.
//
//	output[b, …] = combiner of params[ids[i], …] · weights[i]   for each i with ids_indices[i, 0] = b
//
// The result ends with the last bag that has an id. Bags before it without an id are
// zeros. So an element of ids_indices can ask for a result of any size: where it may
// be hostile, look at the plan of a Prepare with garner.FurtherTensors first.
//
// Spec: https://www.tensorflow.org/api_docs/python/tf/nn/embedding_lookup_sparse
type EmbeddingLookupSparse struct {
	Combiner   string `attr:"combiner" values:"sum,mean,sqrtn"` // "" is mean
	DenseShape []int  `input:"dense_shape" after:"ids_indices"` // of the sparse tensor; ignored
}

// Operands returns the sparse tensor's indices, and the weights.
func (EmbeddingLookupSparse) Operands() []garner.Operand { return sparse() }

// Lower spends the operands' axes; see garner.Op.
func (e EmbeddingLookupSparse) Lower(l *garner.Lowering) {
	lowerSparse(l, garner.Bag{Reduction: combiner(l, e.Combiner)}, garner.AnyDim) // TES.4
}

// sparse are the operands of a lookup beyond params and ids.
func sparse() []garner.Operand {
	return []garner.Operand{
		{Name: "ids_indices", Types: garner.IntegerTypes},
		{Name: "weights", Types: garner.ElementType, Optional: true},
	}
}

// combiner returns the reduction of an attribute.
func combiner(l *garner.Lowering, name string) garner.Reduction {
	switch name { // TES.2, TSS.2
	case "sum":
		return garner.Sum
	case "", "mean":
		return garner.Mean
	case "sqrtn":
		return garner.SqrtN
	}
	l.FailAttribute("combiner %q; there are sum, mean and sqrtn", name)
	return garner.Sum
}

// lowerSparse is the lowering that both lookups share.
func lowerSparse(l *garner.Lowering, bag garner.Bag, count garner.Dim) {
	bag.Ends, bag.Column, bag.WeightsAt = garner.Segments, true, garner.PositionAt(1) // TES.4, TSS.4
	_, bag.FromZero = l.Operand("weights")
	lowerSegments(l, bag, count)
}

// lowerSegments is the lowering that all bags of TensorFlow share: operand 0 has the
// bag of each index. A mean of no weights is a product with 1/n.
func lowerSegments(l *garner.Lowering, bag garner.Bag, count garner.Dim) {
	l.NeedNumbers(true) // TES.1, TSS.1, TSG.1, TSM.1, TSQ.1
	bag.EndsAt, bag.Reciprocal = garner.PositionAt(0), true
	l.NeedRanks(1, 1)         // TES.3, TSS.3, TSG.2, TSM.2, TSQ.2
	l.Bags(bag, count)        // TES.4, TES.5, TSS.4, TSS.5, TSG.3, TSM.3, TSQ.3: the rows and the bags
	l.Copy()                  // the columns
	l.Negative(garner.Reject) // TES.6, TSS.6, TSG.5, TSM.5, TSQ.5
	l.Outside(garner.Error)   // TES.6, TSS.6, TSG.5, TSM.5, TSQ.5
}
