package tensorflow

import "github.com/garner-go/garner"

// Gather is the raw operator Gather, version 1: slices of params along its
// first axis.
//
//	output[i…j, …] = params[indices[i…j], …]
//
// Spec: https://www.tensorflow.org/api_docs/python/tf/raw_ops/Gather
type Gather struct {
	ValidateIndices bool `attr:"validate_indices"` // ignored: indices are always checked
}

// Lower spends the operands' axes; see garner.Op.
func (g Gather) Lower(l *garner.Lowering) {
	lowerGather(l, 0, 0) // TG.1, TG.2, TG.3
}

// lowerGather is the lowering that all gathers along an axis share.
func lowerGather(l *garner.Lowering, axis, batchDims int) {
	l.NeedRanks(1, 0)                 // TG.1, TG2.1, Tg.1
	axis = l.Axis(axis)               // TG2.2, Tg.2
	b := l.BatchDims(batchDims, axis) // TG2.3, Tg.3
	l.Batch(b)                        // TG2.4, Tg.4: p_0 … p_{b-1}
	l.Outer(axis - b)                 // p_b … p_{axis-1}
	l.Gather()                        // the gathered axis
	l.Tuples()                        // TG.2: i_b … i_{q-1}
	l.Copy()                          // TG.2: p_{axis+1} … p_{r-1}
	l.Negative(garner.Reject)         // TG.3, TG2.5, Tg.5
	l.Outside(garner.Error)           // TG.3, TG2.5, Tg.5
}
