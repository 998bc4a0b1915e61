package stablehlo

import (
	"slices"

	"github.com/garner-go/garner"
)

// DynamicGather is stablehlo.dynamic_gather: [Gather] with slice_sizes as the
// third input.
//
// Spec: https://openxla.org/stablehlo/spec#dynamic_gather
type DynamicGather struct {
	OffsetDims               []int `attr:"offset_dims"`
	CollapsedSliceDims       []int `attr:"collapsed_slice_dims"`
	OperandBatchingDims      []int `attr:"operand_batching_dims"`
	StartIndicesBatchingDims []int `attr:"start_indices_batching_dims"`
	StartIndexMap            []int `attr:"start_index_map"`
	IndexVectorDim           int   `attr:"index_vector_dim"`
	IndicesAreSorted         bool  `attr:"indices_are_sorted"`              // ignored: no promise is needed
	SliceSizes               []int `attr:"slice_sizes" input:"slice_sizes"` // third input, a vector with one size per dim of the operand; nil: unknown
}

// Lower spends the operands' axes; see garner.Op.
func (g DynamicGather) Lower(l *garner.Lowering) {
	sizes := g.SliceSizes
	if sizes == nil {
		sizes = slices.Repeat([]int{garner.Unknown}, len(g.OffsetDims)+len(g.CollapsedSliceDims)+len(g.OperandBatchingDims))
	}
	Gather{
		OffsetDims:               g.OffsetDims,
		CollapsedSliceDims:       g.CollapsedSliceDims,
		OperandBatchingDims:      g.OperandBatchingDims,
		StartIndicesBatchingDims: g.StartIndicesBatchingDims,
		StartIndexMap:            g.StartIndexMap,
		IndexVectorDim:           g.IndexVectorDim,
		SliceSizes:               sizes,
	}.Lower(l) // HD.1
}
