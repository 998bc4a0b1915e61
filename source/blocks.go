package source

import (
	"context"
	"errors"
	"io"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/kernel"
	"github.com/garner-go/garner/internal/pages"
)

// allocate divides the budget and allocates the blocks.
func (g *gather) allocate() error {
	spec := g.indices.Spec()
	size, err := sizeOf(spec)
	if err != nil {
		return err
	}
	budget := int64(unbudgeted)
	if g.o.Memory > 0 {
		budget = g.o.Memory
		if g.o.Memory >= 4*readers*readBytes {
			budget -= readers * readBytes // scratch of the requests
		}
		g.whole = size <= budget/4
		if g.whole {
			budget -= size
		}
	} else {
		_, mapped := viewOf(g.indices)
		g.whole = mapped || size <= 4*unbudgeted
	}
	budget = min(budget, 1<<30) // larger blocks are no faster
	// A row takes its position, a key and a position of the sorter, its bytes in
	// the fetcher's stage, and its bytes in two blocks of the result.
	row := int64(8 + 16 + 8)
	slice := int64(g.plan.Slice)
	sliceBytes := (slice*int64(g.bits)+7)/8 + 1
	if !g.whole {
		k := int64(max(len(g.plan.Axes), 1))
		row += k * int64(spec.DType.Bits()/8+1+8+16)
	}
	per := int64(1)
	if g.bits < 8 {
		per = int64(8 / g.bits)
	}
	if row+3*sliceBytes <= budget {
		rows := min(budget/(row+3*sliceBytes), maxRows)
		if rows >= 8 {
			rows &^= 7
		}
		g.block = max(rows*slice/per*per, per)
	} else {
		// A block is a part of a slice; it ends at a whole byte.
		g.block = max((budget-row)/3*8/int64(g.bits)/per*per, per)
	}
	g.block = min(g.block, (g.total+per-1)/per*per)
	g.rows = int(min(g.block/max(slice, 1)+2, g.total/max(slice, 1)+2, maxRows))
	if g.total == 0 {
		return nil
	}
	blockBytes := g.block*int64(g.bits)/8 + 1
	for i := range g.buffers {
		if int64(i)*g.block >= g.total {
			break
		}
		// Outside the heap, so that free returns the memory at once.
		if g.buffers[i], err = pages.Alloc(int(blockBytes)); err != nil {
			return err
		}
	}
	g.row = make([]int64, g.rows)
	g.fetcher.paged, g.fetcher.usual = true, g.block*int64(g.bits)/8
	g.near = nearBytes * 8 / int64(g.bits)
	if slice > 0 && slice < g.near {
		g.near = g.near / slice * slice // whole slices; a longer slice is divided
	}
	if g.near = min(g.block, g.near) / per * per; g.near == 0 {
		g.near = g.block
	}
	return nil
}

// nearBytes is the size of a block of the result where data is in memory: the
// block is then still in the second-level cache when it is written.
const nearBytes = 512 << 10

// free returns the memory of the blocks and of the fetcher. An error leaves the
// memory allocated, and the result is as good without it.
func (g *gather) free() {
	for _, b := range g.buffers {
		_ = pages.Free(b)
	}
	_ = g.fetcher.free()
}

// A block is a part of the result that waits to be written.
type block struct {
	bytes  []byte
	buffer []byte // the one of gather.buffers that holds bytes
}

// run makes a block while it writes the one before.
func (g *gather) run(ctx context.Context, out io.Writer) error {
	done := g.o.From
	if g.o.Progress != nil {
		g.o.Progress(done, g.size)
	}
	if done == g.size {
		return nil
	}
	per := int64(1)
	if g.bits < 8 {
		per = int64(8 / g.bits)
	}
	first := done * 8 / int64(g.bits) / per * per // the element that holds byte From
	skip := done - first*int64(g.bits)/8

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	free, full := make(chan []byte, len(g.buffers)), make(chan block)
	for _, b := range g.buffers {
		if b != nil {
			free <- b
		}
	}
	go func() {
		defer close(full)
		var end int64
		for at := first; at < g.total; at = end {
			var buffer []byte
			select {
			case buffer = <-free:
			case <-ctx.Done():
				return
			}
			// The first block is short: it finds out whether data is in memory.
			end = min(at+g.block, g.total)
			if g.isNear || at == first {
				end = min(at+g.near, g.total)
			}
			n := ((end-at)*int64(g.bits) + 7) / 8
			if err := g.make(ctx, buffer, at, end); err != nil {
				cancel(err)
				return
			}
			b := block{buffer[:n], buffer}
			if at == first {
				b.bytes = b.bytes[skip:]
			}
			select {
			case full <- b:
			case <-ctx.Done():
				return
			}
		}
	}()
	for b := range full {
		if ctx.Err() != nil {
			continue // until the goroutine that makes blocks has ended
		}
		n, err := out.Write(b.bytes)
		if err == nil && n < len(b.bytes) {
			err = io.ErrShortWrite
		}
		if err != nil {
			cancel(err)
			continue
		}
		free <- b.buffer
		done += int64(n)
		if g.o.Progress != nil {
			g.o.Progress(done, g.size)
		}
	}
	if done == g.size {
		return nil
	}
	return context.Cause(ctx)
}

// make writes the elements at … end-1 of the result to dst. Element at begins a
// byte.
func (g *gather) make(ctx context.Context, dst []byte, at, end int64) error {
	if g.bits < 8 {
		dst[((end-at)*int64(g.bits)+7)/8-1] = 0 // unused bits behind the last element
	}
	slice := int64(g.plan.Slice)
	for e := at; e < end; {
		// Whole rows, or else a part of one.
		from, n, size := e%slice, 1, int64(0)
		if whole := (end - e) / slice; from == 0 && whole > 0 {
			n, size = int(min(whole, int64(len(g.row)))), slice
		} else {
			size = min(slice-from, end-e)
		}
		if err := g.move(ctx, dst, (e-at)*int64(g.bits), int(e/slice), n, from, size); err != nil {
			return err
		}
		e += int64(n) * size
	}
	return nil
}

// move writes size elements, from element from on, of each of the rows first …
// first+n-1 to dst, from bit to on.
func (g *gather) move(ctx context.Context, dst []byte, to int64, first, n int, from, size int64) error {
	rows := g.row[:n]
	filled, err := g.resolver.Rows(ctx, rows, first)
	if err != nil {
		return err
	}
	if from > 0 {
		for i, row := range rows {
			if row >= 0 {
				rows[i] = row + from
			}
		}
	}
	if g.bits < 8 {
		return g.moveBits(ctx, dst, int(to), rows, int(size), filled)
	}
	width := int64(g.bits / 8)
	m := kernel.Move{At: int(to / 8), Step: int(size * width), Size: int(size * width), Elem: int(width), Filled: filled > 0}
	for i, row := range rows {
		if row >= 0 {
			rows[i] = row * width
		}
	}
	src, ok := g.warm(rows, m.Size)
	if g.isNear = ok; ok {
		err := moveRows(ctx, g.threads, dst, src, rows, m, g.fill)
		if !errors.Is(err, garner.ErrFault) {
			return err
		}
		// A read names the file and the row.
	}
	return g.fetcher.fetch(ctx, g.stored, g.threads, dst, rows, m, g.fill)
}

// moveBits is move for packed types: it fetches the bytes that hold a slice and
// places its bits.
func (g *gather) moveBits(ctx context.Context, dst []byte, to int, rows []int64, size, filled int) error {
	bits := int64(g.bits)
	// The bytes that a slice touches, whichever bit of a byte it begins with.
	n := min((int64(size)*bits+7)/8+1, g.dataBytes)
	if int64(size)*bits%8 == 0 && multiples(rows, 8/bits) {
		n = int64(size) * bits / 8
	}
	shift := make([]uint8, len(rows))
	for i, row := range rows {
		if row >= 0 {
			at := min(row*bits/8, g.dataBytes-n)
			shift[i] = uint8(row*bits - at*8)
			rows[i] = at
		}
	}
	src, err := g.fetcher.fetchDistinct(ctx, g.stored, rows, int(n))
	if err != nil {
		return err
	}
	fill := byte(0)
	if g.fill != nil {
		fill = g.fill[0]
	}
	for i, row := range rows {
		if row >= 0 {
			rows[i] = row*8 + int64(shift[i])
		}
	}
	m := kernel.Move{At: to, Step: size * g.bits, Size: size * g.bits, Elem: g.bits, Filled: filled > 0}
	piece := max(1, moveBytes*8/max(m.Size, 1))
	for len(rows) > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		k := min(piece, len(rows))
		kernel.Bits(dst, src, rows[:k], m, fill)
		rows, m.At = rows[k:], m.At+k*m.Step
	}
	return nil
}

// multiples reports whether every row that is not a fill is a multiple of of.
func multiples(rows []int64, of int64) bool {
	for _, row := range rows {
		if row >= 0 && row%of != 0 {
			return false
		}
	}
	return true
}

// viewOf returns the bytes of an array that is in memory or in a mapped file.
func viewOf(a Array) ([]byte, bool) {
	v, ok := a.(interface{ view() []byte })
	if !ok {
		return nil, false
	}
	b := v.view()
	return b, b != nil
}

// warm returns data's bytes where they are in memory, or in a mapped file of
// which a sample of the rows is in the page cache.
func (g *gather) warm(rows []int64, size int) ([]byte, bool) {
	if m, ok := g.data.(*memory); ok {
		b := m.view()
		return b, b != nil
	}
	f, ok := g.data.(*File)
	if !ok || g.o.Memory > 0 {
		return nil, false
	}
	b := f.view()
	places := samples
	if g.isNear {
		places = fewSamples // the block before was warm, and this one is small
	}
	if b == nil || !f.resident(rows, size, places) {
		return nil, false
	}
	return b, true
}
