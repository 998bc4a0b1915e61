package source

import (
	"context"
	"errors"
	"io"
	"math"
	"runtime"
	"sync"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/kernel"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/pages"
)

// Options say how a Gather runs, never what it answers.
type Options struct {
	// Memory is how many bytes the run may hold: blocks of the result, rows on
	// their way and indices together. 0 stands for no budget: what is in the page
	// cache is then read from mapped files, whose pages the system counts as
	// resident memory. With one, no file is mapped, and resident memory stays
	// within it and what the program takes anyway; a budget that is too small for
	// a few elements is exceeded by them.
	Memory int64

	// Threads is how many cores copy; all of GOMAXPROCS where it is not positive.
	Threads int

	// Progress is told of the bytes of the result how many were written, those
	// of From included, after each block.
	Progress func(done, total int64)

	// From is how many bytes of the result an earlier run has written already:
	// this one goes on behind them.
	From int64
}

// Gather runs op over arrays that need not be in memory, and writes the result
// to out: row-major, little-endian, packed types without padding, block by
// block in order.
//
// Each block is read in the order in which data is stored, each distinct row
// once, while the block before it is written. Where the indices fit into the
// budget, all of them are looked at before anything of data is read; else those
// of a block before the block is written. The error is the same: the one that
// garner.Gather would give.
//
// Errors are those of garner.NewPlan, a *garner.IndexError, a *ReadError, and
// whatever out says. A file that is no longer what it was is found at the end,
// and then nothing that was written is good. A cancelled ctx ends the run with
// its cause within 10 ms, and the time that a Write under way takes; no work
// outlives the call.
func Gather(ctx context.Context, op garner.Op, data, indices Array, out io.Writer, o Options) error {
	g, err := newGather(op, data, indices, o)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	defer g.free()
	if err := g.allocate(); err != nil {
		return err
	}
	if err := g.open(ctx); err != nil {
		return err
	}
	if err := g.run(ctx, out); err != nil {
		return err
	}
	for _, a := range []Array{data, indices} {
		if c, ok := a.(interface{ Changed() error }); ok {
			if err := c.Changed(); err != nil {
				return err
			}
		}
	}
	return nil
}

// unbudgeted is what a run without a budget makes do with, but for the indices.
const unbudgeted = 96 << 20

// gather is a run of Gather.
type gather struct {
	data, indices Array
	o             Options
	threads       int
	plan          *garner.Plan // in order
	bits          int          // of an element of data
	fill          []byte       // as the kernels want it
	total         int64        // elements of the result
	size          int64        // bytes of the result
	dataBytes     int64

	whole    bool          // all indices are at hand
	index    garner.Tensor // those
	indexBuf []byte        // for parts of them
	finder   sorter        // puts what is fetched in order

	block   int64 // elements of the result in a block
	near    int64 // those where data is in memory
	isNear  bool  // it was, when the block before was made
	rows    int   // rows of a block, at most
	buffers [2][]byte
	row     []int64
	stage   []byte
}

func newGather(op garner.Op, data, indices Array, o Options) (*gather, error) {
	spec := data.Spec()
	plan, err := garner.NewPlan(op, spec, indices.Spec())
	if err != nil {
		return nil, err
	}
	g := &gather{data: data, indices: indices, o: o, threads: o.Threads, plan: plan.InOrder(), bits: spec.DType.Bits()}
	if g.threads <= 0 {
		g.threads = runtime.GOMAXPROCS(0)
	}
	if g.dataBytes, err = sizeOf(spec); err != nil {
		return nil, err
	}
	n, _ := plan.Out.Len()
	g.total = int64(n)
	if g.size, err = sizeOf(garner.SpecOf(plan.DType, n)); err != nil {
		return nil, err
	}
	if o.From < 0 || o.From > g.size {
		return nil, garner.Errorf(nil, "%d bytes of the result are there already, which takes %d; begin from 0", o.From, g.size)
	}
	if plan.Outside == garner.Fill {
		if g.fill, err = fillBytes(plan.Fill); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// fillBytes is a scalar as the kernels want it: of a packed type, its bits in
// the low bits.
func fillBytes(fill garner.Tensor) ([]byte, error) {
	c, err := fill.Clone()
	if err != nil {
		return nil, err
	}
	return c.Bytes()
}

// allocate shares the budget out, and allocates all that the run needs.
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
			budget -= readers * readBytes // what reading takes beside
		}
		g.whole = size <= budget/4
		if g.whole {
			budget -= size
		}
	} else {
		_, mapped := viewOf(g.indices)
		g.whole = mapped || size <= 4*unbudgeted
	}
	budget = min(budget, 1<<30) // blocks that are larger are no faster
	// What a row takes: its place, its place in order, its bytes as they are
	// fetched, and those of two blocks of the result.
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
	const most = 1 << 18 // rows; sorting them is soon done
	if row+3*sliceBytes <= budget {
		rows := min(budget/(row+3*sliceBytes), most)
		if rows >= 8 {
			rows &^= 7
		}
		g.block = max(rows*slice/per*per, per)
	} else {
		// Slices are cut, at bytes.
		g.block = max((budget-row)/3*8/int64(g.bits)/per*per, per)
	}
	g.block = min(g.block, (g.total+per-1)/per*per)
	g.rows = int(min(g.block/max(slice, 1)+2, g.total/max(slice, 1)+2, most))
	if g.total == 0 {
		return nil
	}
	blockBytes := g.block*int64(g.bits)/8 + 1
	for i := range g.buffers {
		if int64(i)*g.block >= g.total {
			break
		}
		// Not of the collector's memory: it is given back at once.
		if g.buffers[i], err = pages.Alloc(int(blockBytes)); err != nil {
			return err
		}
	}
	g.row = make([]int64, g.rows)
	// Where data is in memory, a block that stays in the caches is best.
	g.near = nearBytes * 8 / int64(g.bits)
	if slice > 0 && slice < g.near {
		g.near = g.near / slice * slice // longer slices are cut
	}
	if g.near = min(g.block, g.near) / per * per; g.near == 0 {
		g.near = g.block
	}
	return nil
}

// nearBytes is how large a block of the result is where nothing need be read:
// what was copied into it is still in the second-level cache when it is written.
const nearBytes = 512 << 10

// free gives the buffers back.
func (g *gather) free() {
	for _, b := range append(g.buffers[:], g.stage) {
		_ = pages.Free(b) // the memory is not lost, if it should fail
	}
}

// open reads the indices where there is room for them, and looks at each.
func (g *gather) open(ctx context.Context) error {
	spec := g.indices.Spec()
	if !g.whole {
		if g.total == 0 {
			return g.survey(ctx) // R.7
		}
		return nil
	}
	if v, ok := g.indices.(interface{ Tensor() (garner.Tensor, bool) }); ok {
		if _, inMemory := g.indices.(*memory); inMemory || g.o.Memory == 0 {
			g.index, ok = v.Tensor()
		} else {
			ok = false
		}
		if ok {
			return g.vanished(g.plan.Check(ctx, g.index))
		}
	}
	size, err := sizeOf(spec)
	if err != nil {
		return err
	}
	b := make([]byte, size)
	if size > 0 {
		if err := g.fetch(ctx, g.indices, Rows{At: []int64{0}, Size: int(size), Dst: b}); err != nil {
			return err
		}
	}
	shape, _ := spec.Shape()
	if g.index, err = garner.FromStrided(spec.DType, b, 0, shape, stridesOf(spec)); err != nil {
		return err
	}
	return g.plan.Check(ctx, g.index)
}

func stridesOf(spec garner.Spec) []int {
	if spec.Strides != nil {
		return spec.Strides
	}
	shape, _ := spec.Shape()
	return shape.Strides()
}

// survey looks at every index, from the first on, and returns the error of the
// first that is refused.
func (g *gather) survey(ctx context.Context) error {
	shape := g.plan.Indices
	total, _ := shape.Len()
	if total == 0 || len(g.plan.Axes) == 0 {
		return nil
	}
	loops := make([]garner.Loop, len(shape))
	for i, stride := range stridesOf(g.indices.Spec()) {
		loops[i] = garner.Loop{Extent: shape[i], Index: stride}
	}
	var all garner.Survey
	for first := 0; first < total; {
		n := min(total-first, max(g.rows, 1))
		for n > 0 {
			b := boxAt(loops, first, n)
			part, err := g.readIndices(ctx, b, nil)
			if err != nil {
				return err
			}
			s, err := g.plan.SurveyPart(ctx, part, first)
			if err != nil {
				return err
			}
			all.Add(s)
			first, n = first+b.count, n-b.count
		}
	}
	if all.First != nil {
		return all.First
	}
	return nil
}

// A piece is a block of the result on its way.
type piece struct {
	bytes []byte
	owner []byte // the buffer that bytes lie in
}

// run makes block after block while the one before is written.
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
	first := done * 8 / int64(g.bits) / per * per // the element in which From lies
	skip := done - first*int64(g.bits)/8

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	free, full := make(chan []byte, len(g.buffers)), make(chan piece)
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
			// The first block finds out.
			end = min(at+g.block, g.total)
			if g.isNear || at == first {
				end = min(at+g.near, g.total)
			}
			n := ((end-at)*int64(g.bits) + 7) / 8
			if err := g.make(ctx, buffer, at, end); err != nil {
				cancel(err)
				return
			}
			p := piece{buffer[:n], buffer}
			if at == first {
				p.bytes = p.bytes[skip:]
			}
			select {
			case full <- p:
			case <-ctx.Done():
				return
			}
		}
	}()
	for p := range full {
		if ctx.Err() != nil {
			continue // until the maker is gone
		}
		n, err := out.Write(p.bytes)
		if err == nil && n < len(p.bytes) {
			err = io.ErrShortWrite
		}
		if err != nil {
			cancel(err)
			continue
		}
		free <- p.owner
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

// make makes the elements at … end-1 of the result, of which at is the first of
// a byte.
func (g *gather) make(ctx context.Context, dst []byte, at, end int64) error {
	if g.bits < 8 {
		dst[((end-at)*int64(g.bits)+7)/8-1] = 0 // beyond the last element
	}
	slice := int64(g.plan.Slice)
	for e := at; e < end; {
		// Whole rows as far as they go; else a piece of one.
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

// move puts n rows from the first-th on, or size elements of them from the
// from-th on, where bit number to of dst is.
func (g *gather) move(ctx context.Context, dst []byte, to int64, first, n int, from, size int64) error {
	rows := g.row[:n]
	filled, err := g.find(ctx, rows, first)
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
		err := g.spread(ctx, dst, src, rows, m)
		if !errors.Is(err, garner.ErrFault) {
			return err
		}
		// Reading names the row and says what is the matter.
	}
	if filled == 0 && ascending(rows) {
		return g.fetch(ctx, g.data, Rows{At: rows, Size: m.Size, Dst: dst[m.At : m.At+n*m.Size]})
	}
	at, err := g.finder.distinct(ctx, rows, m.Size)
	if err != nil {
		return err
	}
	if src, err = g.room(len(at) * m.Size); err != nil {
		return err
	}
	if len(at) > 0 {
		if err := g.fetch(ctx, g.data, Rows{At: at, Size: m.Size, Dst: src}); err != nil {
			return err
		}
	}
	return g.spread(ctx, dst, src, rows, m)
}

// moveBits is move for packed types: bytes are fetched, bits are placed.
func (g *gather) moveBits(ctx context.Context, dst []byte, to int, rows []int64, size, filled int) error {
	bits := int64(g.bits)
	// As many bytes as a slice touches wherever in a byte it begins.
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
	at, err := g.finder.distinct(ctx, rows, int(n))
	if err != nil {
		return err
	}
	src, err := g.room(len(at) * int(n))
	if err != nil {
		return err
	}
	if len(at) > 0 {
		if err := g.fetch(ctx, g.data, Rows{At: at, Size: int(n), Dst: src}); err != nil {
			return err
		}
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

func multiples(rows []int64, of int64) bool {
	for _, row := range rows {
		if row >= 0 && row%of != 0 {
			return false
		}
	}
	return true
}

func ascending(rows []int64) bool {
	last := int64(-1)
	for _, row := range rows {
		if row <= last {
			return false
		}
		last = row
	}
	return true
}

// room is n bytes for rows on their way.
func (g *gather) room(n int) ([]byte, error) {
	if n > len(g.stage) {
		if err := pages.Free(g.stage); err != nil {
			return nil, err
		}
		// Once, mostly, for all blocks: those that follow have as many rows.
		size := max(n, int(min(g.block*int64(g.bits)/8, 4*int64(n))))
		var err error
		if g.stage, err = pages.Alloc(size); err != nil {
			g.stage = nil
			return nil, err
		}
	}
	return g.stage[:n], nil
}

// moveBytes is how much is copied between looks at the context.
const moveBytes = 1 << 20

// spread moves rows on as many cores as pay.
func (g *gather) spread(ctx context.Context, dst, src []byte, rows []int64, m kernel.Move) error {
	return spread(ctx, g.threads, dst, src, rows, m, g.fill)
}

// spread moves rows on up to so many cores. src may be mapped memory.
func spread(ctx context.Context, threads int, dst, src []byte, rows []int64, m kernel.Move, fill []byte) error {
	prefetched := 1 + aheadBytes/max(m.Size, 1)
	each := max(1, moveBytes/2/max(m.Size, 1)) // rows at once
	step := func(first int) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		part := m
		part.At += first * m.Step
		end := min(first+each, len(rows))
		ahead := min(end+prefetched, len(rows))
		part.Ahead.Rows = rows[min(first+prefetched, ahead):ahead]
		if m.Filled {
			part.Ahead.Rows = nil
		}
		kernel.Rows(dst, src, rows[first:end], part, fill)
		return nil
	}
	threads = min(threads, (len(rows)+each-1)/each)
	if threads <= 1 {
		return mapped.Guard(func() error {
			for first := 0; first < len(rows); first += each {
				if err := step(first); err != nil {
					return err
				}
			}
			return nil
		})
	}
	var mu sync.Mutex
	next := 0
	var failed error
	work := func() {
		err := mapped.Guard(func() error {
			for {
				mu.Lock()
				first := next
				next += each
				stop := failed != nil
				mu.Unlock()
				if stop || first >= len(rows) {
					return nil
				}
				if err := step(first); err != nil {
					return err
				}
			}
		})
		if err != nil {
			mu.Lock()
			failed = err
			mu.Unlock()
		}
	}
	var wait sync.WaitGroup
	for range threads - 1 {
		wait.Go(work)
	}
	work()
	wait.Wait()
	return failed
}

// aheadBytes is how far before its turn a row is asked for: 128 cache lines, as
// garner's own moves do.
const aheadBytes = 128 * 64

// find finds where rows begin in data, in elements.
func (g *gather) find(ctx context.Context, rows []int64, first int) (filled int, err error) {
	if g.whole {
		filled, err = g.plan.Rows(rows, g.index, first)
		if errors.Is(err, garner.ErrIndex) {
			// They were looked at before: they changed since.
			if err := g.plan.Check(ctx, g.index); err != nil {
				return 0, g.vanished(err)
			}
		}
		return filled, g.vanished(err)
	}
	for len(rows) > 0 {
		b := boxAt(g.plan.Loops, first, len(rows))
		part, steps := *g.plan, make([]int, len(g.plan.Axes))
		for i, a := range g.plan.Axes {
			steps[i] = a.Index
		}
		part.Loops, part.Axes = nil, nil
		indices, err := g.readIndices(ctx, b, steps)
		if err != nil {
			return 0, err
		}
		// The box's loops over the indices that were read: the components of a
		// tuple side by side, and then the loops that move.
		stride := max(len(steps), 1)
		part.Loops = make([]garner.Loop, len(b.loops))
		for i := len(b.loops) - 1; i >= 0; i-- {
			l := b.loops[i]
			if l.Index != 0 {
				l.Index = stride
				stride *= l.Extent
			}
			part.Loops[i] = l
		}
		for i, a := range g.plan.Axes {
			a.Index = i
			part.Axes = append(part.Axes, a)
		}
		part.Indices = indices.Shape()
		n, err := part.Rows(rows[:b.count], indices, 0)
		if err != nil {
			if errors.Is(err, garner.ErrIndex) {
				if first := g.survey(ctx); first != nil {
					return 0, first
				}
			}
			return 0, err
		}
		if b.data != 0 {
			for i, row := range rows[:b.count] {
				if row >= 0 {
					rows[i] = row + int64(b.data)
				}
			}
		}
		filled += n
		rows, first = rows[b.count:], first+b.count
	}
	return filled, nil
}

// vanished names the file of indices that are mapped and are not there any more.
func (g *gather) vanished(err error) error {
	f, ok := g.indices.(*File)
	if !ok || !errors.Is(err, garner.ErrFault) {
		return err
	}
	if changed := f.Changed(); changed != nil {
		return changed
	}
	return &ReadError{Path: f.files[0].path, Row: -1, Err: err}
}

// A box is some turns of a nest of loops that are themselves a nest.
type box struct {
	loops       []garner.Loop // innermost ones, the outermost of them cut
	count       int           // turns
	data, index int           // where it begins, in elements
}

// boxAt is the largest box that begins with a nest's first-th turn and has n
// turns at most.
func boxAt(loops []garner.Loop, first, n int) box {
	b := box{count: 1}
	level, inner, rest := len(loops), 1, first
	open := true // the loops inside begin with their first turn
	for i := len(loops) - 1; i >= 0; i-- {
		l := loops[i]
		c := rest % l.Extent
		rest /= l.Extent
		b.data += c * l.Data
		b.index += c * l.Index
		if open && inner <= n {
			level = i
			b.count = inner * min(l.Extent-c, n/inner)
		}
		open = open && c == 0
		switch {
		case inner > n:
		case l.Extent > n/inner:
			inner = n + 1
		default:
			inner *= l.Extent
		}
	}
	if level < len(loops) {
		b.loops = append(b.loops, loops[level:]...)
		size := 1
		for _, l := range b.loops[1:] {
			size *= l.Extent
		}
		b.loops[0].Extent = b.count / size
	}
	return b
}

// readIndices reads the indices of a box, in the order of its loops that move
// the indices, with those that stand steps behind one after the other: a
// row-major tensor. Without steps there is one in each place.
func (g *gather) readIndices(ctx context.Context, b box, steps []int) (garner.Tensor, error) {
	spec := g.indices.Spec()
	width := spec.DType.Bits()
	shape, strides := garner.Shape{}, []int(nil)
	for _, l := range b.loops {
		if l.Index != 0 {
			shape, strides = append(shape, l.Extent), append(strides, l.Index)
		}
	}
	tuple := max(len(steps), 1)
	if steps == nil {
		steps = []int{0}
	}
	shape = append(shape, tuple)
	count, ok := shape.Len()
	if !ok {
		return garner.Tensor{}, garner.Errorf(garner.ErrShape, "a part %s of the indices holds more elements than an int can count", shape)
	}
	if len(steps) == 0 || count == 0 {
		return garner.New(spec.DType, shape...)
	}
	// As they are stored they are one run, mostly.
	run := true
	next := tuple
	for i := len(strides) - 1; i >= 0; i-- {
		run = run && strides[i] == next
		next *= shape[i]
	}
	for i, s := range steps {
		run = run && s == i
	}
	if run {
		from, to := int64(b.index)*int64(width)/8, (int64(b.index+count)*int64(width)+7)/8
		dst := g.indexRoom(int(to - from))
		if err := g.fetch(ctx, g.indices, Rows{At: []int64{from}, Size: len(dst), Dst: dst}); err != nil {
			return garner.Tensor{}, err
		}
		offset := int((int64(b.index)*int64(width) - from*8) / int64(width))
		return garner.FromStrided(spec.DType, dst, offset, shape, shape.Strides())
	}
	return g.scatteredIndices(ctx, b, steps, shape, strides)
}

func (g *gather) indexRoom(n int) []byte {
	if n > len(g.indexBuf) {
		g.indexBuf = make([]byte, n+8)
	}
	return g.indexBuf[:n]
}

// scatteredIndices is readIndices where they are stored in another order.
func (g *gather) scatteredIndices(ctx context.Context, b box, steps []int, shape garner.Shape, strides []int) (garner.Tensor, error) {
	spec := g.indices.Spec()
	width := int64(spec.DType.Bits())
	count, _ := shape.Len()
	places := make([]int64, 0, count) // in bits
	var walk func(axis, at int)
	walk = func(axis, at int) {
		if axis == len(strides) {
			for _, s := range steps {
				places = append(places, int64(at+s)*width)
			}
			return
		}
		for i := range shape[axis] {
			walk(axis+1, at+i*strides[axis])
		}
	}
	walk(0, b.index)
	size := max(1, width/8)
	shift := make([]uint8, 0, count)
	for i, place := range places {
		places[i] = place / 8
		shift = append(shift, uint8(place%8))
	}
	at, err := g.finder.distinct(ctx, places, int(size))
	if err != nil {
		return garner.Tensor{}, err
	}
	src := make([]byte, int64(len(at))*size)
	if err := g.fetch(ctx, g.indices, Rows{At: at, Size: int(size), Dst: src}); err != nil {
		return garner.Tensor{}, err
	}
	for i, place := range places {
		places[i] = place*8 + int64(shift[i])
	}
	dst := g.indexRoom(int((int64(count)*width + 7) / 8))
	kernel.Bits(dst, src, places, kernel.Move{Step: int(width), Size: int(width), Elem: int(width)}, 0)
	return garner.FromBytes(spec.DType, dst, shape...)
}

// viewOf is the bytes of an array where they are in memory, or may be looked at
// as if they were.
func viewOf(a Array) ([]byte, bool) {
	v, ok := a.(interface{ view() []byte })
	if !ok {
		return nil, false
	}
	b := v.view()
	return b, b != nil
}

// fetch fetches rows; within a budget no page of a file is mapped.
func (g *gather) fetch(ctx context.Context, a Array, rows Rows) error {
	if f, ok := a.(*File); ok && g.o.Memory > 0 {
		return f.fetchUnmapped(ctx, rows)
	}
	return a.Fetch(ctx, rows)
}

// warm is data's bytes where rows are best copied straight from them.
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
		places = fewSamples // so was the block before, and this is a small one
	}
	if b == nil || !f.resident(rows, size, places) {
		return nil, false
	}
	return b, true
}

// A sorter finds the distinct ones of many places, in order.
type sorter struct {
	keys, spare []key
	at          []int64
}

type key struct {
	at    int64
	index int
}

// distinct is the places at which rows begin, ascending, each once; those below
// zero are none. rows is then where each row's bytes begin if those of the
// distinct ones, of the given size, lie one after the other. What is returned is
// good until the next call.
func (s *sorter) distinct(ctx context.Context, rows []int64, size int) ([]int64, error) {
	if cap(s.keys) < len(rows) {
		s.keys, s.spare, s.at = make([]key, len(rows)), make([]key, len(rows)), make([]int64, len(rows))
	}
	keys, high := s.keys[:0], int64(0)
	for i, row := range rows {
		if row >= 0 {
			keys = append(keys, key{row, i})
			high |= row
		}
	}
	// By bytes, the lowest first: each turn keeps the order of the one before.
	spare := s.spare[:len(keys)]
	for shift := 0; shift < 63 && high>>shift > 0; shift += 8 {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var from [257]int
		for _, k := range keys {
			from[int(uint8(k.at>>shift))+1]++
		}
		if from[1] == len(keys) {
			continue
		}
		for i := range 256 {
			from[i+1] += from[i]
		}
		for _, k := range keys {
			b := uint8(k.at >> shift)
			spare[from[b]] = k
			from[b]++
		}
		keys, spare = spare, keys
	}
	at, last := s.at[:0], int64(math.MinInt64)
	for _, k := range keys {
		if k.at != last {
			at = append(at, k.at)
			last = k.at
		}
		rows[k.index] = int64(len(at)-1) * int64(size)
	}
	return at, nil
}
