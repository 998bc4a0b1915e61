package jax

import "github.com/garner-go/garner"

// LaxGather is jax.lax.gather: windows of the operand, all of one size. Each tuple
// along the last dim of start_indices is the start of a window. See
// garner.DimensionNumbers for the meaning of the dimension numbers.
//
// If start_indices has no tuples, slice sizes are not compared with the operand.
// A collapsed dim has a slice size of 1.
//
// Spec: https://docs.jax.dev/en/latest/_autosummary/jax.lax.gather.html
type LaxGather struct {
	OffsetDims               []int  `attr:"offset_dims"`
	CollapsedSliceDims       []int  `attr:"collapsed_slice_dims"`
	OperandBatchingDims      []int  `attr:"operand_batching_dims"`
	StartIndicesBatchingDims []int  `attr:"start_indices_batching_dims"`
	StartIndexMap            []int  `attr:"start_index_map"`
	IndexVectorDim           *int   `attr:"index_vector_dim"` // nil, or the last dim of start_indices
	SliceSizes               []int  `attr:"slice_sizes"`
	Mode                     string `attr:"mode" values:"fill,clip,promise_in_bounds"` // "" or fill: a window with any part outside is filled whole; clip, promise_in_bounds: its start is clamped
	FillValue                string `attr:"fill_value"`                                // a value of data's dtype, as text; "": JAX's default, see the package comment
	UniqueIndices            bool   `attr:"unique_indices"`                            // ignored: no promise is needed
	IndicesAreSorted         bool   `attr:"indices_are_sorted"`                        // ignored: no promise is needed
}

// Lower spends the operands' axes; see garner.Op.
func (g LaxGather) Lower(l *garner.Lowering) {
	l.Negative(garner.Reject)
	switch g.Mode { // JG.3
	case "", "fill":
		fill(l, g.FillValue) // JG.4
	case "clip", "promise_in_bounds":
		l.Outside(garner.Clamp)
	default:
		l.FailAttribute("mode %q; there are fill, clip and promise_in_bounds", g.Mode)
	}
	l.NeedRanks(0, 1) // JG.1
	last := l.Indices().Rank.Min - 1
	if g.IndexVectorDim != nil && l.Indices().Rank.Known() && *g.IndexVectorDim != last { // JG.1
		l.Fail(garner.KindMismatch, "index_vector_dim %d of indices %s; it must be the last, %d", *g.IndexVectorDim, l.Indices(), last)
	}
	for _, dim := range g.CollapsedSliceDims {
		if dim >= 0 && dim < len(g.SliceSizes) && g.SliceSizes[dim] == 0 { // JG.5
			l.Fail(garner.KindMismatch, "slice_sizes %v has 0 along the collapsed dim %d; it must be 1", g.SliceSizes, dim)
		}
	}
	l.Windows(garner.DimensionNumbers{
		OffsetDims:               g.OffsetDims,
		CollapsedSliceDims:       g.CollapsedSliceDims,
		OperandBatchingDims:      g.OperandBatchingDims,
		StartIndicesBatchingDims: g.StartIndicesBatchingDims,
		StartIndexMap:            g.StartIndexMap,
		IndexVectorDim:           last,
	}, g.SliceSizes, true) // JG.2
}
