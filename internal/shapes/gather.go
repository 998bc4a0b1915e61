package shapes

import (
	"slices"
	"strconv"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// spec is a fact as a Spec.
func (f fact) spec() garner.Spec {
	s := garner.Spec{DType: f.dtype, Rank: f.rank}
	if f.ranked() {
		s.Dims = make([]garner.Dim, len(f.dims))
		for i, d := range f.dims {
			s.Dims[i] = d.dim()
		}
	}
	return s
}

// gather is the rule of the nodes that package operators has. Where its rules refuse the operands,
// the result is what the file says.
func gather(c *call) {
	// The inference of package operators reads the Specs of a node's inputs.
	n := *c.node
	n.Inputs = make([]*model.Value, len(c.in))
	for i, f := range c.in {
		if v := c.node.Inputs[i]; v != nil {
			n.Inputs[i] = &model.Value{Name: v.Name, Spec: f.spec(), Constant: v.Fixed()}
			if elems := f.elems; i >= 2 && v.Constant == nil && len(elems) == 1 && elems[0].known() {
				n.Inputs[i].Constant = one(v, f, elems[0].low)
			}
		}
	}
	spec, err := operators.InferNode(&n)
	if err != nil {
		return
	}
	made := declared(spec)
	o, err := operators.Find(n.Operator, 0)
	if err != nil || !made.ranked() || len(c.in) < 2 || !c.in[0].ranked() || !c.in[1].ranked() {
		c.set(0, made)
		return
	}
	data, indices := c.in[0], c.in[1]
	var like []number // dims that the result has, with their symbols
	axis, ok := c.axis(o, len(data.dims))
	batch := c.number("batch_dims", 0)
	switch {
	case o.Kind == operators.Elements:
		like = indices.dims
	case o.Kind == operators.Gather && ok && batch == 0 && len(o.Further()) == 0:
		like = slices.Concat(data.dims[:axis], indices.dims, data.dims[axis+1:])
	case o.Kind == operators.GatherND && batch == 0 && len(indices.dims) > 0:
		last := len(indices.dims) - 1
		if k := indices.dims[last]; k.known() && k.low <= int64(len(data.dims)) {
			like = slices.Concat(indices.dims[:last], data.dims[k.low:])
		}
	}
	if len(like) == len(made.dims) {
		for i, d := range like {
			if d.dim() == made.dims[i].dim() {
				made.dims[i] = d
			}
		}
	}
	// A shape is taken apart by gathers of its elements.
	if o.Kind == operators.Gather && ok && batch == 0 && len(data.dims) == 1 && data.elems != nil && indices.elems != nil {
		elems := make([]number, 0, len(indices.elems))
		for _, e := range indices.elems {
			at, ok := axisOf(e.low, len(data.elems))
			if !e.known() || !ok {
				break
			}
			elems = append(elems, data.elems[at])
		}
		made = made.with(elems)
	}
	c.set(0, made)
}

// axis gives the axis of a gather along one, counted from 0.
func (c *call) axis(o operators.Operator, rank int) (int, bool) {
	if o.Kind != operators.Gather {
		return 0, false
	}
	n := exactly(c.number("axis", 0))
	if i := slices.Index(o.Inputs(), "axis"); i >= 0 {
		n = c.one("", 2+i, exactly(0))
	}
	at, ok := axisOf(n.low, rank)
	return at, ok && n.known()
}

// one is a constant of the one integer that an inference has found.
func one(v *model.Value, f fact, n int64) *model.Constant {
	spec := f.spec()
	return model.NewConstant(v.Name, spec, func() (garner.Tensor, error) {
		shape, _ := spec.Shape()
		t, err := garner.New(spec.DType, shape...)
		if err != nil {
			return t, err
		}
		return t, t.SetText(0, strconv.FormatInt(n, 10))
	})
}
