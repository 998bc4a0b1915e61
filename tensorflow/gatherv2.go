package tensorflow

import "github.com/garner-go/garner"

// GatherV2 is the raw operator GatherV2: slices of params along one axis, the
// third input. The first batch_dims dimensions of params and indices are shared.
//
//	output[p_0…p_{axis-1}, i_b…i_{q-1}, p_{axis+1}…p_{r-1}] =
//	    params[p_0…p_{axis-1}, indices[p_0…p_{b-1}, i_b…i_{q-1}], p_{axis+1}…p_{r-1}]
//
// Spec: https://www.tensorflow.org/api_docs/python/tf/raw_ops/GatherV2
type GatherV2 struct {
	Axis      int `input:"axis,scalar"` // third input, a scalar; -r … r-1
	BatchDims int `attr:"batch_dims"`   // b: -q … q, a negative one counts from the rank q of indices; not above the axis
}

// Lower spends the operands' axes; see garner.Op.
func (g GatherV2) Lower(l *garner.Lowering) { lowerGather(l, g.Axis, g.BatchDims) }
