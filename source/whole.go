package source

import (
	"context"
	"errors"
	"io"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/exec"
)

// inPlace reports whether bags, or stored elements, are made by one run over operands that
// are all in memory, or in mapped files whose rows are in the page cache.
func (g *gather) inPlace() bool {
	if g.plan.Copies() {
		return false
	}
	for i, a := range g.o.given(g.data, g.indices) {
		_, ok := tensorOf(a)
		if i == 0 && !ok && g.plan.Stored == nil {
			_, _, ok = blocksOf(a) // bags decode their terms
		}
		if !ok || g.o.Memory > 0 && !inMemory(a) {
			return false
		}
	}
	return g.cached()
}

// cached reports whether the rows are in memory, or in the page cache, as far as a look at
// some of them tells.
func (g *gather) cached() bool {
	indices, ok := tensorOf(g.indices)
	if !ok {
		return false
	}
	of := [3]Array{g.data}
	if g.plan.Stored != nil {
		scales, zeros := g.plan.Stored.Operands()
		of[1], of[2] = g.further(scales), g.further(zeros)
	}
	terms := g.plan.Terms()
	total, _ := rowsOf(terms)
	n := min(total, int(min(max(g.size>>19, 2*fewSamples), samples)))
	for i := range n {
		var row [1]int64
		if _, err := terms.Rows(row[:], indices, int(int64(i)*int64(total)/int64(n))); err != nil || row[0] < 0 || terms.Slice == 0 {
			continue // the run says which index is refused
		}
		spans := [3]exec.Span{{From: row[0] * int64(g.bits) / 8, To: (row[0]+int64(terms.Slice))*int64(g.bits)/8 + 1}}
		if g.plan.Stored != nil {
			spans = g.plan.Stored.Spans(int(row[0]), terms.Slice)
		}
		for k, a := range of {
			if f, ok := a.(*File); ok && spans[k].To > spans[k].From && !f.resident([]int64{min(spans[k].From, f.size-1)}, 1, 1) {
				return false
			}
		}
	}
	return true
}

// runWhole makes the whole result in one run, and calls told, which may be nil, with the
// bytes of it that are made. out is the result; the zero Tensor makes one.
func (g *gather) runWhole(ctx context.Context, op garner.Op, out garner.Tensor, told func(done, total int64)) (garner.Tensor, error) {
	data, ok := tensorOf(g.data)
	spec := data.Spec()
	var codec *Codec
	if !ok {
		spec = g.data.Spec()
		data, codec, _ = blocksOf(g.data)
	}
	var indices garner.Tensor
	if garner.TakesIndices(op) {
		indices, _ = tensorOf(g.indices)
	}
	further := make([]garner.Tensor, len(g.o.Further))
	for i, a := range g.o.Further {
		if a != nil {
			further[i], _ = tensorOf(a)
		}
	}
	options := []garner.PrepareOption{garner.Threads(g.threads), garner.FurtherTensors(further...)}
	if told != nil {
		options = append(options, garner.Progress(func(done, _ int64) { told(done*int64(g.bits)/8, g.size) }))
	}
	if codec != nil {
		options = append(options, garner.Blocks(codec.Elements, codec.Bytes, codec.Decode))
	}
	p, err := garner.Prepare(op, spec, indices.Spec(), options...)
	if err != nil {
		return out, err
	}
	if !out.DType().Valid() {
		if out, err = garner.New(g.plan.DType, g.plan.Out...); err != nil {
			return out, err
		}
	}
	return out, p.Run(ctx, data, indices, out, further...)
}

// writeWhole writes the result of such a run. done is false where a page of a file
// vanished: reading says why.
func (g *gather) writeWhole(ctx context.Context, op garner.Op, to io.Writer) (done bool, err error) {
	out, err := g.runWhole(ctx, op, garner.Tensor{}, nil)
	if err != nil {
		return !errors.Is(err, garner.ErrFault), err
	}
	b, err := out.Bytes()
	if err != nil {
		return true, err
	}
	if g.o.Progress != nil {
		g.o.Progress(0, g.size)
	}
	if len(b) > 0 {
		if n, err := to.Write(b); err != nil {
			return true, err
		} else if n < len(b) {
			return true, io.ErrShortWrite
		}
		if g.o.Progress != nil {
			g.o.Progress(g.size, g.size)
		}
	}
	return true, nil
}
