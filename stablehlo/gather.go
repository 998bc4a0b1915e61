package stablehlo

import "github.com/garner-go/garner"

// Gather is stablehlo.gather: windows of the operand, of one size, each at a
// start that is a tuple of start_indices. See garner.DimensionNumbers for what
// the numbers mean; a start is moved to 0 … dim - slice_size.
//
// Spec: https://openxla.org/stablehlo/spec#gather
type Gather struct {
	OffsetDims               []int `attr:"offset_dims"`
	CollapsedSliceDims       []int `attr:"collapsed_slice_dims"`
	OperandBatchingDims      []int `attr:"operand_batching_dims"`
	StartIndicesBatchingDims []int `attr:"start_indices_batching_dims"`
	StartIndexMap            []int `attr:"start_index_map"`
	IndexVectorDim           int   `attr:"index_vector_dim"` // 0 … rank of start_indices; the rank itself: tuples of one
	SliceSizes               []int `attr:"slice_sizes"`
	IndicesAreSorted         bool  `attr:"indices_are_sorted"` // of no meaning: a promise that is not needed
}

// Lower spends the operands' axes; see garner.Op.
func (g Gather) Lower(l *garner.Lowering) {
	l.Windows(garner.DimensionNumbers{
		OffsetDims:               g.OffsetDims,
		CollapsedSliceDims:       g.CollapsedSliceDims,
		OperandBatchingDims:      g.OperandBatchingDims,
		StartIndicesBatchingDims: g.StartIndicesBatchingDims,
		StartIndexMap:            g.StartIndexMap,
		IndexVectorDim:           g.IndexVectorDim,
	}, g.SliceSizes, false) // HG.1 … HG.11
	l.Negative(garner.Reject) // HG.12
	l.Outside(garner.Clamp)   // HG.12
}
