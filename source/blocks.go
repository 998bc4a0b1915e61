package source

import (
	"context"
	"io"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/exec"
)

// budget returns the bytes that indices and rows may take.
func (g *gather) budget() int64 {
	budget := int64(unbudgeted)
	if g.blockwise != nil {
		budget = unbudgetedDecoded
	}
	if g.o.Memory > 0 {
		budget = g.o.Memory
		sides := 1 // Fetches side by side
		if g.blockwise != nil {
			sides = reading
		}
		if d, ok := g.elements.(*decoded); ok {
			budget -= d.most
			sides = max(sides, d.operands())
		}
		if g.o.Memory >= 4*readers*readBytes {
			budget -= int64(sides) * readers * readBytes // scratch of the requests
		}
		budget = max(budget-g.held, 1)
	}
	return budget
}

// mostBudget is above what makes blocks faster.
const mostBudget = 1 << 30

// divide divides the budget.
func (g *gather) divide() error {
	spec := g.indices.Spec()
	size, err := sizeOf(spec)
	if err != nil {
		return err
	}
	budget := g.budget()
	if g.o.Memory > 0 {
		// A piece reads its own indices alone.
		g.indicesFit = size <= budget/4 && (!g.piece() || inMemory(g.indices))
		if g.indicesFit {
			budget -= size
		}
	} else {
		_, mapped := viewOf(g.indices)
		g.indicesFit = mapped || size <= 4*unbudgeted
	}
	budget = min(budget, mostBudget)
	// A row takes its position, two keys and a position of the sorter, its bytes in
	// the fetcher's stage, and its bytes in two blocks of the result.
	row := int64(8 + 2*16 + 8)
	slice := int64(g.plan.Slice)
	sliceBytes := (slice*int64(g.bits)+7)/8 + 1
	if !g.indicesFit {
		k := int64(max(len(g.plan.Axes), 1))
		row += k * int64(spec.DType.Bits()/8+1+8+16)
	}
	per := g.perByte()
	ofRow := row + 3*sliceBytes
	if g.blockwise != nil {
		ofRow += 8 + g.blockwise.at(sliceBytes) - sliceBytes // the stage has them as they are stored
	}
	if ofRow <= budget {
		rows := min(budget/ofRow, maxRows)
		if rows >= 8 {
			rows &^= 7
		}
		g.block = max(rows*slice/per*per, per)
	} else {
		// A block is a part of a slice; it ends at a whole byte.
		g.block = max((budget-row)/3*8/int64(g.bits)/per*per, per)
	}
	made := g.End - g.First
	g.block = min(g.block, (made+per-1)/per*per)
	g.rows = int(min(g.block/max(slice, 1)+2, made/max(slice, 1)+2, maxRows))
	if made == 0 {
		g.rows = int(max(min(budget/row, maxRows), 1)) // of which the indices alone are looked at
		return nil
	}
	g.row = make([]int64, g.rows)
	g.fetcher.paged, g.fetcher.usual = true, g.block*int64(g.bits)/8
	if g.blockwise != nil {
		g.fetcher.usual = g.blockwise.at(g.fetcher.usual)
	}
	return nil
}

// heat finds out whether data is warm, and divides the result into blocks for it.
func (g *gather) heat() {
	if g.warm = g.newWarm(); g.warm == nil {
		return
	}
	slice, per := int64(g.plan.Slice), g.perByte()
	size := int64(firstBytes)
	if again() {
		size = warmBytes
	}
	g.warmBlock = max(size*8/int64(g.bits)/slice, 1) * slice
	if indexBytes := int64(len(g.resolver.bytes)); g.size <= wholeBytes && g.warm.inOnePiece(indexBytes, g.size) {
		g.warmBlock = g.End - g.First
	}
	if slice > g.block || g.o.Memory > 0 {
		g.warmBlock = min(g.warmBlock, g.block) // a long slice is divided, and a budget kept
	}
	g.warmBlock = min((g.warmBlock+per-1)/per*per, (g.End-g.First+per-1)/per*per)
	g.lastWarm = g.hot(g.First, samples)
}

// perByte is the number of elements of a byte, 1 where an element is longer.
func (g *gather) perByte() int64 {
	if g.bits < 8 {
		return int64(8 / g.bits)
	}
	return 1
}

// hot reports whether the block from element at on is made of warm rows, as far
// as a look at so many of them tells.
func (g *gather) hot(at int64, places int) bool {
	if g.warm == nil {
		return false
	}
	f, ok := g.data.(*File)
	if !ok {
		return true // in memory
	}
	slice := int64(g.plan.Slice)
	first := at / slice
	last := (min(at+g.warmBlock, g.End) + slice - 1) / slice
	return g.warm.resident(f, int(first), int(last-first), int(slice), places)
}

// allocate allocates the buffers of blocks, outside the heap.
func (g *gather) allocate() (err error) {
	if g.First == g.End {
		return nil
	}
	block := g.block
	if g.lastWarm {
		block = max(block, g.warmBlock)
	}
	for i := range g.buffers {
		if int64(i)*block >= g.End-g.First {
			break
		}
		if g.buffers[i], err = g.take(int(block*int64(g.bits)/8 + 1)); err != nil {
			return err
		}
	}
	return nil
}

// free returns the memory of the blocks and of the fetcher. An error leaves the
// memory allocated, and the result is as good without it.
func (g *gather) free() {
	for _, b := range g.buffers {
		g.give(b)
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
	done := int64(0)
	if g.o.Progress != nil {
		g.o.Progress(done, g.size)
	}
	if done == g.size {
		return nil
	}
	per := g.perByte()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	free, full := make(chan []byte, len(g.buffers)), make(chan block)
	for _, b := range g.buffers {
		if b != nil {
			free <- b
		}
	}
	// Also where out panics: the buffers are given back behind the goroutine.
	defer func() {
		cancel(nil)
		for range full {
		}
	}()
	var panics exec.Panics // of an Array or a codec
	produce := func() {
		var end int64
		for at := g.First; at < g.End; at = end {
			// A small block behind a warm one is looked at in a few places.
			places := samples
			if g.lastWarm && g.warmBlock*int64(g.bits)/8 < warmBytes/8 {
				places = fewSamples
			}
			if end = min(at+g.block, g.End); g.lastWarm && at == g.First || g.hot(at, places) {
				g.lastWarm, end = true, min(at+g.warmBlock, g.End)
			} else {
				g.lastWarm = false
			}
			var buffer []byte
			select {
			case buffer = <-free:
			case <-ctx.Done():
				return
			}
			if n := int64(len(buffer)) * 8 / int64(g.bits) / per * per; end-at > n {
				end = at + n // it was cold when the buffers were made
			}
			n := ((end-at)*int64(g.bits) + 7) / 8
			if err := g.make(ctx, buffer, at, end); err != nil {
				cancel(err)
				return
			}
			select {
			case full <- block{buffer[:n], buffer}:
			case <-ctx.Done():
				return
			}
		}
	}
	go func() {
		defer close(full)
		panics.Run(produce)
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
	panics.Rethrow()
	if done == g.size {
		return nil
	}
	return context.Cause(ctx)
}

// make writes the elements at … end-1 of the result to dst. Element at begins a
// byte.
func (g *gather) make(ctx context.Context, dst []byte, at, end int64) error {
	if g.bags != nil {
		return g.bags.make(ctx, dst, at, end)
	}
	if g.bits < 8 {
		dst[((end-at)*int64(g.bits)+7)/8-1] = 0 // unused bits behind the last element
	}
	slice := int64(g.plan.Slice)
	for e := at; e < end; {
		// Whole rows, or else a part of one.
		from, n, size := e%slice, 1, int64(0)
		if rows := (end - e) / slice; from == 0 && rows > 0 {
			n, size = int(min(rows, int64(len(g.row)))), slice
		} else {
			size = min(slice-from, end-e)
		}
		if g.lastWarm {
			if n, err := g.moveWarm(ctx, dst, e-at, e, end); err != nil {
				return err
			} else if n > 0 {
				e += n
				continue
			}
			g.lastWarm = false // a read names the file and the row
		}
		if err := g.move(ctx, dst, (e-at)*int64(g.bits), int(e/slice), n, from, size); err != nil {
			return err
		}
		e += int64(n) * size
	}
	return nil
}

// moveWarm writes elements of the result from e on to dst, from element to on:
// whole rows as far as end, or else a part of one. It returns how many; 0 where
// the pages of data are gone.
func (g *gather) moveWarm(ctx context.Context, dst []byte, to, e, end int64) (int64, error) {
	slice := int64(g.plan.Slice)
	from, n, size := e%slice, (end-e)/slice, slice
	if from > 0 || n == 0 {
		n, size = 1, min(slice-from, end-e)
	}
	done, err := g.warm.move(ctx, dst, int(to), int(e/slice), int(n), int(from), int(size))
	if err == errRefused {
		// It is nil where the indices have changed since.
		if err = g.resolver.check(ctx); err == nil {
			err = garner.Errorf(garner.ErrIndex, "an index was refused, but stands no longer in indices: they changed while they were read")
		}
	}
	if err != nil || !done {
		return 0, err
	}
	return n * size, nil
}

// move writes size elements, from element from on, of each of the rows first …
// first+n-1 to dst, from bit to on.
func (g *gather) move(ctx context.Context, dst []byte, to int64, first, n int, from, size int64) error {
	rows := g.row[:n]
	filled, err := g.resolver.resolve(ctx, rows, first)
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
	for i, row := range rows {
		if row >= 0 {
			rows[i] = row * width
		}
	}
	if g.direct != nil {
		if done, err := g.direct.move(ctx, g.threads, dst[to/8:to/8+int64(n)*size*width], rows, int(size*width), g.fill); done || err != nil {
			return err
		}
	}
	if g.blockwise != nil {
		to := dst[to/8 : to/8+int64(n)*size*width]
		if done, err := g.blockwise.move(ctx, &g.fetcher, g.threads, to, rows, int(size*width), g.fill); done || err != nil {
			return err
		}
	}
	return g.fetcher.fetch(ctx, g.elements, g.threads, dst[to/8:], rows, int(size*width), int(width), filled > 0, g.fill)
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
	src, err := g.fetcher.fetchDistinct(ctx, g.elements, rows, int(n))
	if err != nil {
		return err
	}
	for i, row := range rows {
		if row >= 0 {
			rows[i] = row*8 + int64(shift[i])
		}
	}
	return moveKnown(ctx, &g.fetcher.known, g.threads, dst, src, to, rows, size*g.bits, g.bits, filled > 0, g.fill)
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
