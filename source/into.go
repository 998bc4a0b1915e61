package source

import (
	"context"
	"errors"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
)

// GatherInto is Gather into memory. out has the dtype and shape that garner.Infer
// gives, and must not share memory with data or indices. Where there is no budget,
// and data and indices are in memory or in a mapped file whose rows are in the page
// cache, it runs garner.GatherInto; else it reads rows as Gather does. It ignores
// From. Errors are those of Gather, and those of garner.GatherInto for out.
func GatherInto(ctx context.Context, op garner.Op, data, indices Array, out garner.Tensor, o Options) error {
	o.From = 0
	h, err := held(data, indices)
	if err != nil {
		return err
	}
	defer h.Release()
	g, err := newGather(op, data, indices, o)
	if err != nil {
		return err
	}
	switch {
	case out.DType() != g.plan.DType:
		return garner.Errorf(garner.ErrDType, "the output is %s; the result is %s", out.DType(), g.plan.DType)
	case !out.Shape().Equal(g.plan.Out):
		return garner.Errorf(garner.ErrShape, "the output is %s%s; the result is %s%s", out.DType(), out.Shape(), g.plan.DType, g.plan.Out)
	}
	if g.inWhole() {
		if _, err := g.runWhole(ctx, op, out); err != nil {
			return err
		}
		return h.Check()
	}
	d, dataHere := tensorOf(data)
	i, indicesHere := tensorOf(indices)
	here := o.Memory == 0 || inMemory(data) && inMemory(indices) // then no page is mapped
	if here && dataHere && indicesHere && g.inCache() {
		p, err := garner.Prepare(op, d.Spec(), i.Spec(), garner.Threads(o.Threads))
		if err != nil {
			return err
		}
		if err = p.Run(ctx, d, i, out); !errors.Is(err, garner.ErrFault) {
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
	}
	for _, a := range []Array{data, indices} {
		if c, ok := a.(*converted); ok {
			a = c.of
		}
		if v, ok := viewOf(a); err == nil && ok && mapped.Overlap(b, v) {
			return garner.Errorf(garner.ErrOverlap, "the output shares memory with an input; gather into memory of its own")
		}
	}
	if err == nil {
		return gatherAll(ctx, h, op, data, indices, b, o)
	}
	dense, err := garner.New(g.plan.DType, g.plan.Out...)
	if err != nil {
		return err
	}
	if b, err = dense.Bytes(); err != nil {
		return err
	}
	if err := gatherAll(ctx, h, op, data, indices, b, o); err != nil {
		return err
	}
	return garner.Copy(out, dense)
}

// gatherAll is gatherHeld into the memory of the whole result, block by block.
func gatherAll(ctx context.Context, h *mapped.Holds, op garner.Op, data, indices Array, b []byte, o Options) error {
	g, err := newGather(op, data, indices, o)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	defer g.free()
	if err := g.divide(); err != nil {
		return err
	}
	if err := g.check(ctx); err != nil {
		return err
	}
	bytes := func(elements int64) int64 { return (elements*int64(g.bits) + 7) / 8 }
	for at := int64(0); ; {
		if o.Progress != nil {
			o.Progress(bytes(at), g.size)
		}
		if at == g.total {
			return h.Check()
		}
		if at > 0 {
			g.lastWarm = g.hot(at, samples)
		}
		end := min(at+g.block, g.total)
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
	g.warmBlock = g.total
	// Fewer looks at small results: each takes a microsecond.
	return g.hot(0, int(min(max(g.size>>19, 2*fewSamples), samples)))
}
