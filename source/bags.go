package source

import (
	"context"
	"errors"
	"io"

	"github.com/garner-go/garner"
)

// planOf lowers op for arrays of these specs and further operands.
func planOf(op garner.Op, data, indices garner.Spec, further []garner.Tensor) (*garner.Plan, error) {
	if len(further) == 0 {
		return garner.NewPlan(op, data, indices)
	}
	p, err := garner.Prepare(op, data, indices, garner.Threads(1), garner.FurtherTensors(further...))
	if err != nil {
		return nil, err
	}
	return p.Plan(), nil
}

// inWhole reports whether a gather runs over arrays in memory or in mapped files alone:
// one into bags, or one of stored elements.
func (g *gather) inWhole() bool { return g.plan.Bag != nil || g.plan.Stored != nil }

// runWhole runs such a gather. out is the result; the zero Tensor makes one.
func (g *gather) runWhole(ctx context.Context, op garner.Op, out garner.Tensor) (garner.Tensor, error) {
	data, err := g.here("data", g.data)
	if err != nil {
		return out, err
	}
	indices, err := g.here("indices", g.indices)
	if err != nil {
		return out, err
	}
	p, err := garner.Prepare(op, data.Spec(), indices.Spec(), garner.Threads(g.threads), garner.FurtherTensors(g.o.Further...))
	if err != nil {
		return out, err
	}
	if !out.DType().Valid() {
		if out, err = garner.New(g.plan.DType, g.plan.Out...); err != nil {
			return out, err
		}
	}
	return out, p.Run(ctx, data, indices, out, g.o.Further...)
}

// here returns the tensor of an operand of such a gather.
func (g *gather) here(name string, a Array) (garner.Tensor, error) {
	t, ok := tensorOf(a)
	switch {
	case !ok:
		return t, garner.Errorf(errors.ErrUnsupported, "bags are reduced and stored elements decoded in memory, and %s %s is neither there nor in a file that can be mapped; read it into a tensor", name, a.Spec())
	case g.o.Memory > 0 && !inMemory(a):
		return t, garner.Errorf(errors.ErrUnsupported, "bags are reduced and stored elements decoded in memory, and with a budget the file of %s %s is not mapped; run without a budget", name, a.Spec())
	}
	return t, nil
}

// writeWhole writes the result of such a gather.
func (g *gather) writeWhole(ctx context.Context, op garner.Op, to io.Writer) error {
	out, err := g.runWhole(ctx, op, garner.Tensor{})
	if err != nil {
		return err
	}
	b, err := out.Bytes()
	if err != nil {
		return err
	}
	if g.o.Progress != nil {
		g.o.Progress(g.o.From, g.size)
	}
	if b = b[g.o.From:]; len(b) > 0 {
		if n, err := to.Write(b); err != nil {
			return err
		} else if n < len(b) {
			return io.ErrShortWrite
		}
		if g.o.Progress != nil {
			g.o.Progress(g.size, g.size)
		}
	}
	return nil
}
