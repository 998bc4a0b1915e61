package source

import (
	"context"
	"errors"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/kernel"
	"github.com/garner-go/garner/internal/mapped"
)

// GatherInto is Gather into memory. out has the dtype and shape that garner.Infer
// gives, and must not share memory with an operand. Where all operands are in memory, or
// without a budget in mapped files whose rows are in the page cache, it is one run of the
// engine; else it reads rows as Gather does. Errors are those of Gather, and those of
// garner.GatherInto for out; a Range of less than the result is a garner.ErrShape.
func GatherInto(ctx context.Context, op garner.Op, data, indices Array, out garner.Tensor, o Options) error {
	indices = indicesOf(op, indices)
	h, err := held(o.given(data, indices)...)
	if err != nil {
		return err
	}
	defer h.Release()
	g, err := newGather(ctx, op, data, indices, o)
	if err != nil {
		return err
	}
	defer g.free()
	switch {
	case g.piece():
		return garner.Errorf(garner.ErrShape, "elements %d up to %d of %s%s are no whole output; leave Range out, or write them with Gather", g.First, g.End, g.plan.DType, g.plan.Out)
	case out.DType() != g.plan.DType:
		return garner.Errorf(garner.ErrDType, "the output is %s; the result is %s", out.DType(), g.plan.DType)
	case !out.Shape().Equal(g.plan.Out):
		return garner.Errorf(garner.ErrShape, "the output is %s%s; the result is %s%s", out.DType(), out.Shape(), g.plan.DType, g.plan.Out)
	}
	_, dataHere := tensorOf(data)
	_, indicesHere := tensorOf(indices)
	here := o.Memory == 0 || inMemory(data) && inMemory(indices) // then no page is mapped
	if g.inPlace() || g.plan.Copies() && here && dataHere && indicesHere && g.inCache() {
		if o.Progress != nil {
			o.Progress(0, g.size)
		}
		if _, err = g.runWhole(ctx, op, out, o.Progress); !errors.Is(err, garner.ErrFault) {
			if err == nil {
				err = h.Check()
			}
			if err == nil && o.Progress != nil {
				o.Progress(g.size, g.size)
			}
			return err
		}
		// A read names the file and the row.
	}
	b, err := out.Bytes()
	if bits := out.DType().Bits(); err == nil && out.Len()*bits%8 != 0 {
		err = errors.ErrUnsupported // the last byte may have another's elements too
	} else if err == nil && g.plan.Bag != nil && !kernel.Aligned(b, bits/8) {
		err = errors.ErrUnsupported // sums are made in their places
	}
	names := []string{"data", "indices"}
	for _, operand := range garner.OperandsOf(op) {
		names = append(names, operand.Name)
	}
	for i, a := range append([]Array{data, indices}, o.Further...) {
		if c, ok := a.(*converted); ok {
			a = c.of
		}
		if v, ok := viewOf(a); err == nil && ok && mapped.Overlap(b, v) {
			return garner.Errorf(garner.ErrOverlap, "the output shares memory with an input, %s; gather into memory of its own", names[i])
		}
	}
	if err == nil {
		return g.all(ctx, h, b)
	}
	dense, err := garner.New(g.plan.DType, g.plan.Out...)
	if err != nil {
		return err
	}
	if b, err = dense.Bytes(); err != nil {
		return err
	}
	if err := g.all(ctx, h, b); err != nil {
		return err
	}
	return garner.Copy(out, dense)
}

// all is gatherHeld into the memory of the whole result, block by block.
func (g *gather) all(ctx context.Context, h *mapped.Holds, b []byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := g.begin(ctx); err != nil {
		return err
	}
	bytes := func(elements int64) int64 { return (elements*int64(g.bits) + 7) / 8 }
	for at := int64(0); ; {
		if g.o.Progress != nil {
			g.o.Progress(bytes(at), g.size)
		}
		if at == g.End {
			return h.Check()
		}
		if at > 0 {
			g.lastWarm = g.hot(at, samples)
		}
		end := min(at+g.block, g.End)
		if err := g.make(ctx, b[bytes(at):bytes(end)], at, end); err != nil {
			return err
		}
		at = end
	}
}

// inCache reports whether data's rows are in memory or in the page cache, judged by
// a sample of them.
func (g *gather) inCache() bool {
	g.indicesFit = true
	g.resolver = newResolver(g.plan, g.indices, false, maxRows)
	g.resolver.view()
	if g.warm = g.newWarm(); g.warm == nil {
		return inMemory(g.data)
	}
	g.warmBlock = g.End
	// Fewer looks at small results: each takes a microsecond.
	return g.hot(0, int(min(max(g.size>>19, 2*fewSamples), samples)))
}
