package exec

import "github.com/garner-go/garner/internal/kernel"

// resolve resolves tuples to rows. It returns the number of tuples outside, and
// false if they make the run fail.
func (u *state) resolve(rows, values []int64, first int) (outside int, ok bool) {
	r := &u.program.resolver
	base := u.src.Offset * r.elem
	if r.position {
		base = 0
	}
	outside = r.Rows(rows, values, u.at.Buf, base, u.at.Offset, first)
	if r.Refused(outside) {
		u.refuse()
		return outside, false
	}
	return outside, true
}

// rowsOfPositions turns the positions in shared into rows. Some of them are -1,
// the fill.
func (u *state) rowsOfPositions() {
	c := &u.program.choice.columns
	base, stride, lane := int64(u.src.Offset*c.width), int64(c.stride*c.width), int64(c.inner.Data*c.width)
	for j, at := range u.shared[:u.program.resolver.total] {
		if at >= 0 {
			u.shared[j] = base + at*stride + int64(j)*lane
		}
	}
}

func (u *state) resolveTile(w *worker, tile int) {
	l, total := &u.program.choice, u.program.resolver.total
	first := tile * l.tile
	n := min(l.tile, total-first)
	rows := w.rows[:n]
	if l.shared {
		rows = u.shared[first : first+n]
	}
	if outside, _ := u.resolve(rows, w.values[:n], first); outside > 0 {
		u.outside.Store(true)
	}
}

// moveUnit resolves and moves the tiles of one unit.
func (u *state) moveUnit(w *worker, unit int) {
	l := &u.program.choice
	first := unit * l.unitTiles * l.tile
	end := min(first+l.unitTiles*l.tile, u.program.resolver.total)
	if !u.way.direct() || !u.moveDirect(w, first, end) {
		u.moveTuples(w, first, end)
	}
}

// moveTuples resolves and moves the rows of the tuples first … end-1, tile
// after tile. It resolves a tile's rows, and those that the tile prefetches,
// before it moves the tile.
func (u *state) moveTuples(w *worker, first, end int) {
	l, elem := &u.program.choice, u.program.resolver.elem
	have, filled := 0, 0 // number of resolved rows in w.rows, and of fills among them
	for first < end {
		if have > 0 && u.stopped() {
			return
		}
		want := min(l.tile+l.ahead, end-first)
		if u.way.linear() {
			want = min(l.tile, end-first)
		}
		outside, ok := u.resolve(w.rows[have:want], w.values[have:want], first+have)
		if !ok {
			return
		}
		filled += outside
		n := min(l.tile, want)
		later := w.rows[min(l.ahead, want):want]
		if l.ahead == 0 || together(later, len(later), elem) {
			later = nil
		}
		if u.way.linear() {
			later = u.program.straight
		}
		u.move(w.rows[:n], later, filled > 0, first, 0, l.free)
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

// together reports whether n rows lie within n/16 cache lines, judged by a
// sample of rows. Most of these lines are then in the caches before their turn,
// and prefetching them would take most of the time.
func together(rows []int64, n, elem int) bool {
	if len(rows) < samples {
		return false
	}
	low, high := rows[0], rows[0]
	for i := range samples {
		row := rows[i*(len(rows)-1)/(samples-1)]
		low, high = min(low, row), max(high, row)
	}
	return uint64(high-low) <= uint64(n*64/16/elem)
}

// samples is the number of rows that together reads.
const samples = 16

// moveDirect gathers elements, or short slices, straight from their indices.
// Around an index outside that does not make the run fail, it moves one piece by
// rows. It returns false and moves nothing if memory is not aligned.
func (u *state) moveDirect(w *worker, first, end int) bool {
	p := u.program
	l, r := &p.choice, &p.resolver
	size, width := r.elem, r.width.Bits/8
	slice, single := p.nest.Slice, p.nest.single()
	// Index values are widened before they are used; slices are selected by 8 bytes.
	loaded := !r.tuples || !kernel.Aligned(u.at.Buf, width) || !single && width != 8
	if single && !(kernel.Aligned(u.dst.Buf, size) && kernel.Aligned(u.src.Buf, size)) {
		return false
	}
	linear := u.way == DirectLinear
	v := kernel.Values{Width: width, Dim: r.axes[0].Dim, FromEnd: r.policy.FromEnd, Stream: l.stream || l.past}
	piece := 16 << 10 // elements: less than a millisecond of cache misses
	if linear {
		// Each piece prefetches a burst of the next run's data. A longer
		// burst fills the line fill buffers and stalls the loads that follow.
		piece = min(piece, max(8, l.index[len(l.index)-1].Extent*kernel.BurstLines*64/(v.Dim*size)&^7))
	}
	far := u.way == DirectAhead && (!loaded || v.Dim*slice*size > l.near) // an axis of few positions is near even if data is far
	extra := 0                                                            // values behind a piece that are loaded with it, for prefetching
	if loaded {
		if far && len(w.values) > 2*l.ahead {
			extra = l.ahead
		}
		v.Width, piece = 8, min(piece, len(w.values)-extra)
	}
	walk(l.index, first, end-first, func(at, run, out, data, index int, inner Loop) {
		src := u.src.Buf[(u.src.Offset+data)*size:]
		var later []byte
		if linear {
			next := (u.src.Offset + dataAt(l.index, first+at+run)) * size
			later = u.src.Buf[min(next, len(u.src.Buf)):min(next+v.Dim*size, len(u.src.Buf))]
		}
		for from := 0; from < run; from += piece {
			if u.stopped() {
				return
			}
			count, place := min(piece, run-from), u.at.Offset+index+from*inner.Index
			values := w.values[:min(count, len(w.values))]
			if loaded {
				values = w.values[:min(count+extra, run-from)]
				kernel.Load(values, u.at.Buf, place, inner.Index, r.width, int64(v.Dim))
				v.Bytes = kernel.Bytes(values)
			} else {
				v.Bytes = u.at.Buf[place*width : (place+run-from)*width]
				if values = values[:min(samples, len(values))]; far {
					kernel.Load(values, u.at.Buf, place, count/len(values), r.width, int64(v.Dim))
				}
			}
			close := far && together(values, count, slice*size)
			if v.Ahead = 0; far && !close {
				v.Ahead = l.ahead
			}
			moved, dst := 0, u.dst.Buf[(u.dst.Offset+out+from*slice)*size:]
			if !single {
				// moveTuples has non-temporal stores for rows that lie close together,
				// and moves on from a value that stops the kernel and may count from the end.
				if !close || !l.past {
					moved = kernel.Slices(dst, src, count, slice*size, v)
					if moved < count && r.policy.Outside >= kernel.Clamp {
						moved = u.moveSettled(w, dst, src, place, inner.Index, moved, count, v)
					}
				}
			} else if moved = kernel.Elements(dst, src, count, size, v); moved < count && r.policy.Outside == kernel.Error {
				u.refuse()
				return
			} else if moved < count && r.policy.Outside >= kernel.Clamp {
				moved = u.moveSettled(w, dst, src, place, inner.Index, moved, count, v)
			}
			u.moveTuples(w, first+at+from+moved, first+at+from+count)
			if linear {
				kernel.Prefetch(later[len(later)*from/run&^63 : len(later)*(from+count)/run])
			}
		}
	})
	return true
}

// settleBurst is how many values are settled at once: 8 KiB stay in the first-level
// cache.
const settleBurst = 1024

// moveSettled moves a piece of moveDirect on from its first index outside, under a
// policy that gives each index a position: it settles the values in the first-level
// cache, so that the kernels do not stop. place is the piece's first index, step the
// distance between two. It returns count.
func (u *state) moveSettled(w *worker, dst, src []byte, place, step, moved, count int, v kernel.Values) int {
	p := u.program
	r, bytes := &p.resolver, p.nest.Slice*p.resolver.elem
	v.Width, v.FromEnd = 8, false
	direct := step == 1 && r.width == kernel.Width{Bits: 64} && kernel.Aligned(u.at.Buf, 8)
	if len(w.values) <= 2*v.Ahead {
		v.Ahead = 0
	}
	burst := min(len(w.values)-v.Ahead, settleBurst)
	for moved < count {
		n := min(burst, count-moved)
		values := w.values[:min(n+v.Ahead, count-moved)]
		from := values
		if direct {
			from = kernel.Integers(u.at.Buf[(place+moved)*8:], len(values))
		} else {
			kernel.Load(values, u.at.Buf, place+moved*step, step, r.width, int64(v.Dim))
		}
		kernel.Settle(values, from, int64(v.Dim), r.policy)
		v.Bytes = kernel.Bytes(values)
		if p.nest.single() {
			kernel.Elements(dst[moved*bytes:], src, n, bytes, v)
		} else {
			kernel.Slices(dst[moved*bytes:], src, n, bytes, v)
		}
		moved += n
	}
	return count
}

// moveGroup moves a tile of shared rows for a group of free turns.
func (u *state) moveGroup(w *worker, unit int) {
	p := u.program
	l, total := &p.choice, p.resolver.total
	first := unit % l.tiles * l.tile
	from := unit / l.tiles * l.group
	last := min(first+l.tile, total)
	rows := u.shared[first:last]
	if u.way == Across {
		u.moveAcross(w, rows, first, from, min(from+l.group, l.free))
		return
	}
	var later []int64
	switch {
	case u.way.linear():
		later = p.straight[first:last]
	case u.way.turning():
		later = rows
	case l.ahead > 0:
		later = u.shared[min(first+l.ahead, total):min(last+l.ahead, total)]
	}
	u.move(rows, later, u.outside.Load(), first, from, min(from+l.group, l.free))
}

// move moves the rows of the tuples from first on, for the free turns from …
// to-1. It prefetches later.
func (u *state) move(rows, later []int64, filled bool, first, from, to int) {
	l, n := &u.program.choice, &u.program.nest
	for turn := from; turn < to; turn++ {
		if turn > from && (turn-from)%l.group == 0 && u.stopped() {
			return
		}
		bias, out := u.turn(turn)
		size := n.Slice
		if l.chunks > 1 {
			skip := turn % l.chunks * l.chunk
			bias, out, size = bias+skip, out+skip, min(l.chunk, size-skip)
		}
		next := bias
		switch {
		case u.way.turning() && turn+1 < l.free:
			next, _ = u.turn(turn + 1)
			if u.way.linear() {
				next += u.src.Offset
			}
		case u.way == Linear || u.way == DirectLinear:
			next = u.src.Offset + dataAt(l.index, first+len(rows))
		}
		if l.even {
			u.moveRun(rows, later, filled, out+first*l.step, l.step, bias, next, size)
			continue
		}
		walk(l.index, first, len(rows), func(at, run, place, _, _ int, inner Loop) {
			u.moveRun(rows[at:at+run], later[min(at, len(later)):min(at+run, len(later))], filled, out+place, inner.Out, bias, next, size)
		})
	}
}

// moveAcross moves each tuple's row for the free turns from … to-1, in runs of the
// innermost free loop: their rows are evenly spaced in data and in the result. shared
// holds the rows of the tuples from first on.
func (u *state) moveAcross(w *worker, shared []int64, first, from, to int) {
	p := u.program
	l, elem := &p.choice, p.resolver.elem
	inner := p.nest.Free[len(p.nest.Free)-1]
	for from < to {
		if u.stopped() {
			return
		}
		n := min(to-from, inner.Extent-from%inner.Extent, l.run)
		bias, out := u.turn(from)
		m := kernel.Move{Step: inner.Out * elem, Size: p.nest.Slice * elem, Elem: elem, Filled: u.outside.Load(), Stream: l.stream}
		walk(l.index, first, len(shared), func(at, run, place, _, _ int, tuples Loop) {
			for j, row := range shared[at : at+run] {
				rows, step := w.rows[:n], int64(inner.Data*elem)
				if row >= 0 {
					row += int64(bias * elem)
				} else {
					step = 0
				}
				kernel.Start(rows, row, step)
				m.At = (out + place + j*tuples.Out) * elem
				kernel.Rows(u.dst.Buf, u.src.Buf, rows, m, p.nest.Fill)
			}
		})
		from += n
	}
}

// turn returns the offsets of a free turn in data and in the result, in
// elements.
func (u *state) turn(turn int) (data, out int) {
	data, out = u.turnOf(turn / u.program.choice.chunks)
	return data, out + u.dst.Offset
}

// moveRun moves evenly spaced rows. place, step, bias and size are in elements;
// bias is added to each row, and next to each prefetched one.
func (u *state) moveRun(rows, later []int64, filled bool, place, step, bias, next, size int) {
	p := u.program
	bits, elem := p.nest.Bits, p.resolver.elem
	if p.nest.Decoder != nil {
		u.decodeRun(rows, later, filled, place, step, bias, next, size)
		return
	}
	if bits == 0 {
		u.moveStrings(rows, place, step, bias, size)
		return
	}
	m := kernel.Move{At: place * elem, Step: step * elem, Bias: bias * elem, Size: size * elem, Elem: elem, Filled: filled}
	if m.Stream = p.choice.stream; p.choice.ahead > 0 && len(later) == 0 {
		m.Stream = p.choice.past // the rows lie close together
	}
	if bits < 8 {
		fill := byte(0)
		if p.nest.Fill != nil {
			fill = p.nest.Fill[0]
		}
		kernel.Bits(u.dst.Buf, u.src.Buf, rows, m, fill)
		return
	}
	m.Ahead = kernel.Ahead{Rows: later, Bias: next * elem}
	kernel.Rows(u.dst.Buf, u.src.Buf, rows, m, p.nest.Fill)
}

// moveStrings moves rows by assignment: a string holds a pointer, and the
// garbage collector must see every pointer written (R.16).
func (u *state) moveStrings(rows []int64, place, step, bias, size int) {
	for _, row := range rows {
		dst := u.dst.Strs[place : place+size]
		if row >= 0 {
			from := int(row) + bias
			copy(dst, u.src.Strs[from:from+size])
		} else {
			for i := range dst {
				dst[i] = u.program.nest.Str
			}
		}
		place += step
	}
}
