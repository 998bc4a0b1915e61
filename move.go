package garner

import (
	"context"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/garner-go/garner/internal/kernel"
)

type phase uint8

const (
	moveTiles   phase = iota // a unit is a tile of tuples: resolved, then moved for every free turn
	resolveAll               // a unit is a tile of tuples: resolved into shared
	moveShared               // a unit is a tile of tuples and some free turns
	moveColumns              // a unit is some columns of some tuples
)

type worker struct {
	rows, values []int64
	strip        []byte
}

// runLittle is a run of few rows: on the caller's goroutine, without anything
// that many cores would need.
func (p *Prepared) runLittle(ctx context.Context, data, indices, out *Tensor) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r, w := &p.resolver, &p.workers[0]
	rows := w.rows[:r.total]
	outside := r.rows(rows, w.values[:r.total], indices.buf, data.offset*r.unit, indices.offset, 0)
	if r.refused(outside) {
		return p.explain(ctx, *indices)
	}
	m := kernel.Move{At: out.offset * r.unit, Step: p.layout.step * r.unit, Size: p.normal.slice * r.unit, Elem: r.unit, Filled: outside > 0}
	kernel.Rows(out.buf, data.buf, rows, m, p.fill)
	return nil
}

// run moves every row. The operands are those that the plan was lowered for.
func (p *Prepared) run(ctx context.Context, data, indices, out Tensor) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if len(p.plan.Axes) > 0 && indices.Len() == 0 {
		// Whatever their strides are, there is nothing to look at, and no row.
		if p.progress != nil {
			p.reportAll()
		}
		return nil
	}
	p.ctx, p.src, p.at, p.dst = ctx, data, indices, out
	p.stop.Store(false)
	p.refuse.Store(false)
	p.outside.Store(false)
	p.fault.Store(false)
	l, c := &p.layout, p.columns
	if c != nil && c.shared {
		p.spread(resolveAll, l.tiles)
		switch {
		case p.stop.Load():
		case p.outside.Load():
			p.sharedRows()
			p.spread(moveShared, l.tiles*((l.free+l.group-1)/l.group))
		default:
			p.spread(moveColumns, c.units())
		}
	} else if c != nil && kernel.Aligned(indices.buf, p.resolver.width.Bits/8) {
		p.spread(moveColumns, c.units())
	} else if p.normal.empty || l.share {
		// Where nothing moves, every index is looked at all the same (R.7).
		p.spread(resolveAll, l.tiles)
		if !p.stop.Load() && !p.normal.empty {
			p.spread(moveShared, l.tiles*((l.free+l.group-1)/l.group))
		}
	} else {
		p.spread(moveTiles, (l.tiles+l.unit-1)/l.unit)
	}
	p.src, p.at, p.dst, p.ctx = Tensor{}, Tensor{}, Tensor{}, nil
	switch {
	case p.fault.Load():
		return errorf(ErrFault, "a mapped file was cut short while it was read; nothing can be said of the result")
	case p.refuse.Load():
		return p.explain(ctx, indices)
	case p.stop.Load():
		return context.Cause(ctx)
	}
	if p.progress != nil {
		p.reportAll()
	}
	return nil
}

// explain finds the first refused index in row-major order.
func (p *Prepared) explain(ctx context.Context, indices Tensor) (err error) {
	if indices.volatile {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			if r := recover(); r != nil {
				if !isFault(r) {
					panic(r)
				}
				err = errorf(ErrFault, "a mapped file was cut short while it was read; nothing can be said of the result")
			}
		}()
	}
	if err := p.plan.check(ctx, indices); err != nil {
		return err
	}
	return errorf(ErrIndex, "an index was refused, but stands no longer in indices: they changed while they were read")
}

// spread hands out units on as many cores as serve.
func (p *Prepared) spread(ph phase, units int) {
	p.phase, p.limit = ph, int64(units)
	p.next.Store(0)
	threads := min(len(p.workers), units)
	if p.layout.alone || p.plan.DType.Packed() && p.dst.offset*p.plan.DType.Bits()%8 != 0 {
		threads = min(threads, 1) // two units would meet inside a byte of the result
	}
	if threads > 1 {
		p.crew.begin(threads - 1)
		defer p.crew.end()
	}
	if threads > 0 {
		p.work(0)
	}
}

// work takes units until there are none.
func (p *Prepared) work(worker int) {
	if p.src.volatile || p.at.volatile {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer p.recoverFault()
	}
	w := &p.workers[worker]
	for !p.stop.Load() {
		if p.ctx.Err() != nil {
			p.stop.Store(true)
			return
		}
		unit := p.next.Add(1) - 1
		if unit >= p.limit {
			return
		}
		switch p.phase {
		case moveTiles:
			p.moveUnit(w, int(unit))
		case resolveAll:
			p.resolveTile(w, int(unit))
		case moveShared:
			p.moveGroup(int(unit))
		case moveColumns:
			p.moveColumns(w, int(unit))
		}
		if worker == 0 && p.progress != nil {
			p.report(unit + 1)
		}
	}
}

func (p *Prepared) recoverFault() {
	if r := recover(); r != nil {
		if !isFault(r) {
			panic(r)
		}
		p.fault.Store(true)
		p.stop.Store(true)
	}
}

// isFault reports whether a panic is that of a memory access.
func isFault(r any) bool {
	_, ok := r.(interface {
		runtime.Error
		Addr() uintptr
	})
	return ok
}

// resolve turns tuples into rows; it reports how many are outside, and false
// where that makes the run fail.
func (p *Prepared) resolve(rows, values []int64, first int) (outside int, ok bool) {
	r, base := &p.resolver, p.src.offset*p.resolver.unit
	if r.position {
		base = 0
	}
	outside = r.rows(rows, values, p.at.buf, base, p.at.offset, first)
	if r.refused(outside) {
		p.refuse.Store(true)
		p.stop.Store(true)
		return outside, false
	}
	return outside, true
}

// sharedRows makes rows of the positions in shared, some of which are the fill.
func (p *Prepared) sharedRows() {
	c := p.columns
	base, stride, lane := int64(p.src.offset*c.width), int64(c.stride*c.width), int64(c.inner.Data*c.width)
	for j, at := range p.shared[:p.resolver.total] {
		if at >= 0 {
			p.shared[j] = base + at*stride + int64(j)*lane
		}
	}
}

func (p *Prepared) resolveTile(w *worker, tile int) {
	first := tile * p.layout.tile
	n := min(p.layout.tile, p.resolver.total-first)
	rows := w.rows[:n]
	if p.layout.share {
		rows = p.shared[first : first+n]
	}
	if outside, _ := p.resolve(rows, w.values[:n], first); outside > 0 {
		p.outside.Store(true)
	}
}

// moveUnit resolves and moves some tiles.
func (p *Prepared) moveUnit(w *worker, unit int) {
	l := &p.layout
	first := unit * l.unit * l.tile
	end := min(first+l.unit*l.tile, p.resolver.total)
	if l.direct == 0 || !p.moveDirect(w, first, end) {
		p.moveTuples(w, first, end)
	}
}

// moveTuples resolves and moves the rows of the tuples first … end-1, a tile
// after the other. The rows that are prefetched while a tile is moved are
// resolved before it is.
func (p *Prepared) moveTuples(w *worker, first, end int) {
	l := &p.layout
	have, filled := 0, 0 // rows that are resolved, and how many of them are fills
	for first < end {
		if have > 0 && (p.stop.Load() || p.ctx.Err() != nil) {
			p.stop.Store(true)
			return
		}
		want := min(l.tile+l.ahead, end-first)
		if l.linear {
			want = min(l.tile, end-first)
		}
		outside, ok := p.resolve(w.rows[have:want], w.values[have:want], first+have)
		if !ok {
			return
		}
		filled += outside
		n := min(l.tile, want)
		later := w.rows[min(l.ahead, want):want]
		if l.ahead == 0 || together(later, len(later), p.resolver.unit) {
			later = nil
		}
		if l.linear {
			later = p.straight
		}
		p.move(w.rows[:n], later, filled > 0, first, 0, l.free)
		have = copy(w.rows, w.rows[n:want])
		first += n
		if filled > 0 {
			filled = 0
			for _, row := range w.rows[:have] {
				if row < 0 {
					filled++
				}
			}
		}
	}
}

// together says whether n rows, to go by some of them, lie within a sixteenth as
// many lines: then most are there when their turn comes, and asking for them
// would be the greater part of the work.
func together(rows []int64, n, unit int) bool {
	if len(rows) < samples {
		return false
	}
	low, high := rows[0], rows[0]
	for i := range samples {
		row := rows[i*(len(rows)-1)/(samples-1)]
		low, high = min(low, row), max(high, row)
	}
	return uint64(high-low) <= uint64(n*64/16/unit)
}

// samples is how many rows are looked at to see where a block of them lies.
const samples = 16

// moveDirect moves elements straight from their indices. Where one is outside
// that does not make the run fail, the piece that it stands in goes on by rows.
// It reports false where memory is not aligned for that.
func (p *Prepared) moveDirect(w *worker, first, end int) bool {
	l, n, r := &p.layout, &p.normal, &p.resolver
	size, width := l.direct, r.width.Bits/8
	loaded := !r.tuples || !kernel.Aligned(p.at.buf, width) // index values are widened first
	if !kernel.Aligned(p.dst.buf, size) || !kernel.Aligned(p.src.buf, size) {
		return false
	}
	v := kernel.Values{Width: width, Dim: r.axes[0].Dim, FromEnd: r.policy.FromEnd, Stream: l.stream || l.near}
	piece := 16 << 10 // elements; not a millisecond, wherever they lie
	if l.linear {
		// With each, a burst of the next run's data is asked for. A long burst
		// is not taken up all at once, and holds up what follows.
		piece = min(piece, max(8, n.index[len(n.index)-1].Extent*kernel.BurstLines*64/(v.Dim*size)&^7))
	}
	if loaded {
		v.Width, piece = 8, min(piece, len(w.values))
	}
	far := !l.linear && l.ahead > 0 && (!loaded || v.Dim*size > p.tuning.nearBytes) // narrow indices reach little
	walk(n.index, first, end-first, func(at, run, out, data, index int, inner Loop) {
		src := p.src.buf[(p.src.offset+data)*size:]
		var later []byte
		if l.linear {
			next := (p.src.offset + dataAt(n.index, first+at+run)) * size
			later = p.src.buf[min(next, len(p.src.buf)):min(next+v.Dim*size, len(p.src.buf))]
		}
		for from := 0; from < run && !p.stop.Load(); from += piece {
			if p.ctx.Err() != nil {
				p.stop.Store(true)
				return
			}
			count, place := min(piece, run-from), p.at.offset+index+from
			values := w.values[:min(count, len(w.values))]
			if loaded {
				kernel.Load(values, p.at.buf, place, 1, r.width, int64(v.Dim))
				v.Bytes = kernel.Bytes(values)
			} else {
				v.Bytes = p.at.buf[place*width : (place+run-from)*width]
				if values = values[:min(samples, len(values))]; far {
					kernel.Load(values, p.at.buf, place, count/len(values), r.width, int64(v.Dim))
				}
			}
			if v.Ahead = 0; far && !together(values, count, size) {
				v.Ahead = l.ahead
			}
			moved := kernel.Elements(p.dst.buf[(p.dst.offset+out+from)*size:], src, count, size, v)
			if moved < count && r.policy.Outside == kernel.Error {
				p.refuse.Store(true)
				p.stop.Store(true)
				return
			}
			p.moveTuples(w, first+at+from+moved, first+at+from+count)
			if l.linear {
				kernel.Prefetch(later[len(later)*from/run&^63 : len(later)*(from+count)/run])
			}
		}
	})
	return true
}

func (p *Prepared) moveGroup(unit int) {
	l := &p.layout
	first := unit % l.tiles * l.tile
	from := unit / l.tiles * l.group
	last := min(first+l.tile, p.resolver.total)
	rows := p.shared[first:last]
	var later []int64
	switch {
	case l.linear:
		later = p.straight[first:last]
	case l.turning:
		later = rows
	case l.ahead > 0:
		later = p.shared[min(first+l.ahead, p.resolver.total):min(last+l.ahead, p.resolver.total)]
	}
	p.move(rows, later, p.outside.Load(), first, from, min(from+l.group, l.free))
}

// move moves the rows of the tuples from first on, for the free turns from …
// to-1.
func (p *Prepared) move(rows, later []int64, filled bool, first, from, to int) {
	l, n := &p.layout, &p.normal
	for turn := from; turn < to; turn++ {
		if turn > from && (turn-from)%l.group == 0 && (p.stop.Load() || p.ctx.Err() != nil) {
			p.stop.Store(true)
			return
		}
		bias, out := p.turn(turn)
		size := n.slice
		if l.chunks > 1 {
			skip := turn % l.chunks * l.chunk
			bias, out, size = bias+skip, out+skip, min(l.chunk, size-skip)
		}
		next := bias
		switch {
		case l.turning && turn+1 < l.free:
			next, _ = p.turn(turn + 1)
			if l.linear {
				next += p.src.offset
			}
		case l.linear && !l.turning:
			next = p.src.offset + dataAt(n.index, first+len(rows))
		}
		if l.whole {
			p.moveRun(rows, later, filled, out+first*l.step, l.step, bias, next, size)
			continue
		}
		walk(n.index, first, len(rows), func(at, run, place, _, _ int, inner Loop) {
			p.moveRun(rows[at:at+run], later[min(at, len(later)):min(at+run, len(later))], filled, out+place, inner.Out, bias, next, size)
		})
	}
}

// dataAt is where a nest stands in data at its i-th position.
func dataAt(loops []Loop, i int) (data int) {
	for k := len(loops) - 1; k >= 0; k-- {
		data += i % loops[k].Extent * loops[k].Data
		i /= loops[k].Extent
	}
	return data
}

// turn is where a free turn stands in data and in the result, in elements.
func (p *Prepared) turn(turn int) (data, out int) {
	out = p.dst.offset
	rest := turn / p.layout.chunks
	for i := len(p.normal.free) - 1; i >= 0; i-- {
		f := &p.normal.free[i]
		c := rest % f.Extent
		rest /= f.Extent
		data += c * f.Data
		out += c * f.Out
	}
	return data, out
}

// moveRun moves evenly spaced rows: places, step, bias and size are in
// elements, next is the bias of what is prefetched.
func (p *Prepared) moveRun(rows, later []int64, filled bool, place, step, bias, next, size int) {
	bits, unit := p.plan.DType.Bits(), p.resolver.unit
	if bits == 0 {
		p.moveStrings(rows, place, step, bias, size)
		return
	}
	m := kernel.Move{At: place * unit, Step: step * unit, Bias: bias * unit, Size: size * unit, Elem: unit, Filled: filled, Stream: p.layout.stream || p.layout.near && len(later) == 0}
	if bits < 8 {
		fill := byte(0)
		if p.fill != nil {
			fill = p.fill[0]
		}
		kernel.Bits(p.dst.buf, p.src.buf, rows, m, fill)
		return
	}
	m.Ahead = kernel.Ahead{Rows: later, Bias: next * unit}
	kernel.Rows(p.dst.buf, p.src.buf, rows, m, p.fill)
}

// moveStrings moves by assignment: a string is a pointer, which the collector
// must see being written (R.16).
func (p *Prepared) moveStrings(rows []int64, place, step, bias, size int) {
	fill := ""
	if p.plan.Outside == Fill {
		fill = p.plan.Fill.strs[p.plan.Fill.offset]
	}
	for _, row := range rows {
		dst := p.dst.strs[place : place+size]
		if row >= 0 {
			from := int(row) + bias
			copy(dst, p.src.strs[from:from+size])
		} else {
			for i := range dst {
				dst[i] = fill
			}
		}
		place += step
	}
}

// scalar is the bytes of a scalar; of a packed one, its bits in the low bits.
func (t *Tensor) scalar() []byte {
	bits := t.dtype.Bits()
	if bits < 8 {
		return []byte{packed(t.buf, t.offset, bits)}
	}
	w := bits / 8
	return slices.Clone(t.buf[t.offset*w : (t.offset+1)*w])
}
