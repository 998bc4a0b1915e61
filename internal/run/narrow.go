package run

import (
	"context"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/departures"
	"github.com/garner-go/garner/model"
)

// narrows reports whether OpenVINO reduces the bags of a plan in another dtype than that of the model.
func (r *runner) narrows(plan *garner.Plan) bool {
	return plan.Bag != nil && r.model.Format == irFormat && departures.Held(plan.DType) != plan.DType
}

// narrowBags refuses bags of which OpenVINO makes other rows, because it holds i64, u32 and u64 in i32, and f64 in
// f32: it reduces them so too, and compares.
func (r *runner) narrowBags(ctx context.Context, n *model.Node, g *gathering, plan *garner.Plan, out garner.Tensor) error {
	c, held := &call{runner: r, node: n}, departures.Held(plan.DType)
	if g.data.apart != nil {
		if err := r.decode(g.data, g.data.apart); err != nil {
			return err
		}
	}
	narrow := func(t garner.Tensor) (garner.Tensor, error) {
		if err := c.openvinoHolds(t); err != nil {
			return t, err
		}
		return r.cast(t, held)
	}
	data, err := narrow(g.data.tensor)
	if err != nil || r.bare {
		return err
	}
	further := append([]garner.Tensor{}, g.further...)
	if at := plan.Bag.WeightsAt; at.Given && further[at.At].DType().Valid() {
		if further[at.At], err = narrow(further[at.At]); err != nil || r.bare {
			return err
		}
	}
	op := g.op
	if plan.Outside == garner.Fill {
		fill, err := narrow(plan.Fill)
		if err != nil || r.bare {
			return err
		}
		op = garner.WithFill(op, fill)
	}
	made, err := r.new(held, out.Shape())
	if err != nil || r.bare {
		return err
	}
	prepared, err := garner.Prepare(op, data.Spec(), g.indices.Spec(), garner.FurtherTensors(further...))
	if err == nil {
		err = prepared.Run(ctx, data, g.indices, made, further...)
	}
	if err == nil {
		made, err = r.cast(made, plan.DType)
	}
	if err != nil || r.bare {
		return err
	}
	return c.eachNumber(out, func(i int, v float64) error {
		has, err := made.Float64(i)
		if err == nil && has != v && (v == v || has == has) {
			err = garner.Errorf(garner.ErrDType, "%s of %s: element %d is %v, and %v in OpenVINO, which reduces in %s; give an input that makes none such", n.Op, plan.DType, i, v, has, held)
		}
		return err
	})
}
