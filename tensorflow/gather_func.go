package tensorflow

import "github.com/garner-go/garner"

// GatherFunc is the function tf.gather: [GatherV2] with an optional axis. The
// default axis is the value of batch_dims as written.
//
// Spec: https://www.tensorflow.org/api_docs/python/tf/gather
type GatherFunc struct {
	Axis      *int `attr:"axis"`       // -r … r-1; nil: BatchDims, counted from the rank of params if negative
	BatchDims int  `attr:"batch_dims"` // b: -q … q, a negative one counts from the rank q of indices; not above the axis
}

// Lower spends the operands' axes; see garner.Op.
func (g GatherFunc) Lower(l *garner.Lowering) {
	axis := g.BatchDims // Tg.6
	if g.Axis != nil {
		axis = *g.Axis
	}
	lowerGather(l, axis, g.BatchDims)
}
