package stablehlo

import "github.com/garner-go/garner"

// Gather is stablehlo.gather: windows of the operand, all of one size. Each tuple
// of start_indices is the start of a window, clamped to 0 … dim - slice_size. See
// garner.DimensionNumbers for the meaning of the dimension numbers.
//
// Spec: https://openxla.org/stablehlo/spec#gather
type Gather struct {
	OffsetDims               []int `attr:"offset_dims"`
	CollapsedSliceDims       []int `attr:"collapsed_slice_dims"`
	OperandBatchingDims      []int `attr:"operand_batching_dims"`
	StartIndicesBatchingDims []int `attr:"start_indices_batching_dims"`
	StartIndexMap            []int `attr:"start_index_map"`
	IndexVectorDim           int   `attr:"index_vector_dim"` // 0 … rank of start_indices; the rank itself: tuples of one component
	SliceSizes               []int `attr:"slice_sizes"`
	IndicesAreSorted         bool  `attr:"indices_are_sorted"` // ignored: no promise is needed
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
