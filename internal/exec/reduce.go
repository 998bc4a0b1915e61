package exec

import (
	"sort"

	"github.com/garner-go/garner/internal/kernel"
)

// loadEnds loads elements of the ends.
func (u *state) loadEnds(values []int64, first int) {
	b := &u.bags.bag
	most := int64(u.bags.resolver.total) + 1 // what is beyond stays beyond
	if b.Ends == Segments {
		most = int64(b.Count) + 1
	}
	kernel.Load(values, u.ends.Buf, u.ends.Offset+first*b.EndsStep, b.EndsStep, b.Width, most)
}

// loadStarts loads ends that checkUnit has accepted. Another goroutine may have written
// to them since, so they are made such that no term outside is resolved: the result is
// then any.
func (u *state) loadStarts(values []int64, first int) {
	u.loadEnds(values, first)
	last := int64(0)
	for i, v := range values {
		last = min(max(v, last), int64(u.bags.resolver.total))
		values[i] = last
	}
}

// checkUnit checks some ends: that none falls, and that each is a term, or a bag.
func (u *state) checkUnit(w *worker, unit int) {
	p := u.bags
	top, last := int64(p.bag.Count)-1, int64(0)
	if p.bag.Ends == Starts {
		top = int64(p.resolver.total)
	}
	first := unit * endsOfUnit
	end := min(first+endsOfUnit, p.endCount())
	if first > 0 {
		u.loadEnds(w.values[:1], first-1)
		last = w.values[0]
	}
	for first < end {
		if u.stopped() {
			return
		}
		values := w.values[:min(len(w.values), end-first)]
		u.loadEnds(values, first)
		if first == 0 && p.bag.First && values[0] != 0 {
			u.refuse()
			return
		}
		for _, v := range values {
			if v < last || v > top {
				u.refuse()
				return
			}
			last = v
		}
		first += len(values)
	}
}

// loadedEnds is the number of ends that are loaded at a time.
const loadedEnds = 256

// bounds sets w.ends to the first terms of the bags first … first+n, where the last
// is the end of the one before.
func (u *state) bounds(w *worker, first, n int) []int64 {
	p := u.bags
	ends := w.ends[:n+1]
	switch total := p.resolver.total; p.bag.Ends {
	case Even:
		for i := range ends {
			ends[i] = int64((first + i) * p.bag.Each)
		}
	case Starts:
		have := min(n+1, p.endCount()-first)
		u.loadStarts(ends[:have], first)
		if have <= n {
			ends[n] = int64(total)
		}
	default:
		var loaded [loadedEnds]int64
		at := sort.Search(total, func(t int) bool {
			u.loadEnds(loaded[:1], t)
			return loaded[0] >= int64(first)
		})
		ends[0] = int64(at)
		next := 1
		for at < total && next <= n {
			segments := loaded[:min(len(loaded), total-at)]
			u.loadEnds(segments, at)
			for _, bag := range segments {
				for ; next <= n && bag >= int64(first+next); next++ {
					ends[next] = int64(at)
				}
				at++
			}
		}
		for ; next <= n; next++ {
			ends[next] = int64(total)
		}
	}
	return ends
}

// reduceUnit reduces some columns of some bags. The unit behind the last looks at the
// indices that are in no bag.
func (u *state) reduceUnit(w *worker, unit int) {
	p := u.bags
	if unit == p.units {
		u.lookAtRest(w)
		return
	}
	first := unit / p.parts * p.group
	n := min(p.group, p.bag.Count-first)
	column := unit % p.parts * p.chunk
	ends := u.bounds(w, first, n)
	part := terms{state: u, w: w, last: int(ends[n])}
	width := min(p.chunk, p.nest.Slice-column)
	for i := 0; i < n && !u.stopped(); {
		done := u.reduceWhole(&part, first+i, ends[i:], column, width)
		if done == 0 && !u.stopped() {
			u.reduceBag(&part, first+i, int(ends[i]), int(ends[i+1]), column, width)
			done = 1
		}
		i += done
	}
}

// reduceWhole reduces n columns, from one on, of as many bags as have all of their
// terms resolved, and returns how many. ends has the first term of each bag of the unit
// from one on.
func (u *state) reduceWhole(part *terms, bag int, ends []int64, column, n int) (bags int) {
	p, b := u.bags, &u.bags.bag
	size, from := p.resolver.elem, int(ends[0])
	if p.skips || b.Out < 0 || b.Number.Wide() > size || !kernel.Aligned(u.dst.Buf, size) {
		return 0
	}
	if (from < part.first || int(ends[1]) > part.end) && !part.resolve(from) {
		return 0
	}
	end := part.end
	if p.nest.Decoder != nil && p.sum == nil {
		end = min(end, from+p.room)
	} else if part.filled {
		return 0
	}
	for bags+1 < len(ends) && int(ends[bags+1]) <= end {
		bags++
	}
	if bags == 0 {
		return 0
	}
	t := kernel.Terms{Rows: part.w.rows[from-part.first : end-part.first], Ahead: p.ahead, Max: b.Reduction == Max, Begin: true, Zero: b.Zero, Fused: b.Fused}
	if b.Weighted {
		t.Weights = part.weightsOf(from, end-from)
	}
	to := kernel.Bags{Ends: ends[:bags+1], First: int64(from), Size: n * size, Step: b.Out * size}
	for turn := range p.turns {
		bias, out := u.turnOf(turn)
		t.Bias = (bias + column) * size
		dst := u.dst.Buf[(u.dst.Offset+bag*b.Out+out+column)*size:]
		switch used := int(ends[bags]) - from; {
		case p.nest.Decoder == nil || used == 0: // of stored data without elements only empty bags come here
			kernel.ReduceBags(dst, u.src.Buf, b.Number, t, to)
		case p.sum != nil:
			t.Rows = t.Rows[:used]
			p.sum.Sum(dst, &u.From, t, to)
		default:
			t.Rows = t.Rows[:used]
			kernel.ReduceBags(dst, part.w.decoded, b.Number, u.decoded(part.w, t, n, part.filled), to)
		}
		if b.Empty == -1 && !b.divides() {
			continue // the kernel has zeroed bags without terms
		}
		for i := range bags {
			first, last, weights := int(ends[i])-from, int(ends[i+1])-from, uint64(0)
			if b.divides() && b.Weighted {
				weights = kernel.AddWeights(0, t.Weights[first*size:last*size], b.Number, b.Reduction == SqrtN)
			}
			one := dst[i*to.Step:][:to.Size]
			u.finish(one, one, last-first, weights, t.Bias)
		}
	}
	return bags
}

// reduceBag reduces n columns, from one on, of the terms first … end-1.
func (u *state) reduceBag(part *terms, bag, first, end, column, n int) {
	p, b := u.bags, &u.bags.bag
	size := p.resolver.elem
	for turn := range p.turns {
		bias, place := u.turnOf(turn)
		at := (u.dst.Offset + bag*b.Out + place + column) * size
		out := u.dst.Buf[at : at+n*size]
		dst := out
		if p.strip(out) {
			dst = part.w.strip[:n*b.Number.Wide()]
		}
		t := kernel.Terms{Ahead: p.ahead, Bias: (bias + column) * size, Max: b.Reduction == Max, Begin: true, Zero: b.Zero, Fused: b.Fused}
		count, weights := 0, uint64(0)
		for from := first; from < end; {
			rows, weight, used, ok := part.take(from, end)
			if !ok {
				return
			}
			from += used
			if len(rows) == 0 {
				continue
			}
			t.Rows, t.Weights = rows, weight
			if p.nest.Decoder != nil && p.sum == nil {
				u.reduceStored(dst, part.w, t, part.filled)
			} else {
				u.reduce(dst, part.w, t, part.filled)
			}
			t.Begin = false
			count += len(rows)
			if b.Weighted && b.divides() {
				weights = kernel.AddWeights(weights, weight, b.Number, b.Reduction == SqrtN)
			}
		}
		u.finish(out, dst, count, weights, t.Bias)
	}
}

// strip reports whether bags in out are reduced elsewhere.
func (p *Bags) strip(out []byte) bool {
	n := p.bag.Number
	return n.Wide() > n.Size() || !kernel.Aligned(out, n.Size())
}

// finish sets dst to what reduced holds of count terms, a sum divided, or to a bag without
// terms. weights is the sum of AddWeights. bias is that of a row, in bytes.
func (u *state) finish(dst, reduced []byte, count int, weights uint64, bias int) {
	p, b := u.bags, &u.bags.bag
	switch {
	case count > 0:
		if b.divides() {
			kernel.Divide(reduced, b.Number, kernel.Quotient{
				Terms: count, Weights: weights, Weighted: b.Weighted, Root: b.Reduction == SqrtN, Reciprocal: b.Reciprocal, Rounded: b.Rounded, Away: b.Away,
			})
		}
		kernel.Store(dst, reduced, b.Number, b.Away && b.Reduction == Sum)
	case b.Empty >= 0:
		size := p.resolver.elem
		at := (u.src.Offset+p.nest.Axes[0].Offset(b.Empty))*size + bias
		if p.nest.Decoder != nil {
			p.nest.Decoder.Decode(dst, &u.From, at/size, len(dst)/size)
		} else {
			copy(dst, u.src.Buf[at:at+len(dst)])
		}
	case b.Empty < -1:
		u.refuse()
	default:
		clear(dst)
	}
}

// reduceStored is reduce for rows that are decoded first, as many at a time as there is
// room for.
func (u *state) reduceStored(dst []byte, w *worker, t kernel.Terms, filled bool) {
	size := u.program.nest.elem()
	rows, weights := t.Rows, t.Weights
	for len(rows) > 0 {
		n := min(len(rows), u.bags.room)
		t.Rows = rows[:n]
		if weights != nil {
			t.Weights, weights = weights[:n*size], weights[n*size:]
		}
		kernel.Reduce(dst, w.decoded, u.bags.bag.Number, u.decoded(w, t, len(dst)/u.bags.bag.Number.Wide(), filled))
		t.Begin = false
		rows = rows[n:]
	}
}

// decoded decodes n elements of each row of t into w's room, and returns the terms that
// lie there. filled says that some rows are the fill.
func (u *state) decoded(w *worker, t kernel.Terms, n int, filled bool) kernel.Terms {
	nest := &u.program.nest
	size := nest.elem()
	if filled || !nest.Decoder.DecodeRows(w.decoded[:len(t.Rows)*n*size], &u.From, t.Rows, t.Bias, n) {
		for j, row := range t.Rows {
			if t.Ahead > 0 && j+t.Ahead < len(t.Rows) && t.Rows[j+t.Ahead] >= 0 {
				u.prefetchStored((int(t.Rows[j+t.Ahead])+t.Bias)/size, n)
			}
			u.decodeRow(w.decoded[j*n*size:(j+1)*n*size], row, t.Bias/size)
		}
	}
	places := w.places[:len(t.Rows)]
	kernel.Start(places, 0, int64(n*size))
	t.Rows, t.Ahead, t.Bias = places, 0, 0
	return t
}

// reduceRows is kernel.Reduce of rows. Where there is a Summer they are stored ones, and it
// sums them.
func (u *state) reduceRows(dst []byte, w *worker, t kernel.Terms) {
	if u.bags.sum == nil {
		kernel.Reduce(dst, u.src.Buf, u.bags.bag.Number, t)
		return
	}
	w.whole = [2]int64{0, int64(len(t.Rows))}
	u.bags.sum.Sum(dst, &u.From, t, kernel.Bags{Ends: w.whole[:], Size: len(dst), Step: len(dst)})
}

// reduce reduces rows, of which some may be the fill.
func (u *state) reduce(dst []byte, w *worker, t kernel.Terms, filled bool) {
	n := u.bags.bag.Number
	if !filled {
		u.reduceRows(dst, w, t)
		return
	}
	one, size := t, n.Size()
	var fill [256]byte // zeros, or the plan's
	if f := u.program.nest.Fill; f != nil {
		kernel.Repeat(fill[:], f)
	}
	for j, row := range t.Rows {
		if t.Weights != nil {
			one.Weights = t.Weights[j*size : (j+1)*size]
		}
		if row >= 0 {
			one.Rows, one.Bias = t.Rows[j:j+1], t.Bias
			u.reduceRows(dst, w, one)
		} else {
			rest := one // what a Summer is given moves to the heap
			rest.Bias = 0
			most := len(fill) / size * n.Wide()
			for at := 0; at < len(dst); at += most {
				to := dst[at:min(at+most, len(dst))]
				zero := [1]int64{}
				rest.Rows = zero[:]
				kernel.Reduce(to, fill[:], n, rest)
			}
		}
		one.Begin = false
	}
}

// turnOf returns the offsets of a turn of the loops of columns in data and in the
// result, in elements.
func (u *state) turnOf(turn int) (data, out int) {
	free := u.program.nest.Free
	for i := len(free) - 1; i >= 0; i-- {
		f := &free[i]
		c := turn % f.Extent
		turn /= f.Extent
		data += c * f.Data
		out += c * f.Out
	}
	return data, out
}

// terms are resolved terms of a unit: those from first on, and before end.
type terms struct {
	*state
	w          *worker
	last       int // the end of the unit's terms
	first, end int
	filled     bool // some are the fill
	kept       int  // terms that the last call of choose kept
	from, upTo int  // the terms of that call
}

// resolve resolves the terms from one on, as many as there is room for. It returns false
// where the run has ended.
func (t *terms) resolve(from int) bool {
	if t.stopped() {
		return false
	}
	p := t.bags
	t.first, t.end, t.filled = from, min(from+p.piece, t.last), false
	if n := t.end - t.first; n > 0 {
		outside := p.resolver.Rows(t.w.rows[:n], t.w.values[:n], t.at.Buf, t.src.Offset*p.resolver.elem, t.at.Offset, from)
		if p.resolver.Refused(outside) {
			t.refuse()
			return false
		}
		t.filled = outside > 0
	}
	return true
}

// take returns rows of terms from one on, at most those before end, their weights, and
// the number of terms that it used. ok is false where the run has ended.
func (t *terms) take(from, end int) (rows []int64, weights []byte, used int, ok bool) {
	p := t.bags
	if p.skips {
		return t.choose(from, end)
	}
	if (from < t.first || from >= t.end) && !t.resolve(from) {
		return nil, nil, 0, false
	}
	used = min(end, t.end) - from
	if p.bag.Weighted {
		weights = t.weightsOf(from, used)
	}
	return t.w.rows[from-t.first : from-t.first+used], weights, used, true
}

// choose is take for terms some of which can be left out.
func (t *terms) choose(from, end int) (rows []int64, weights []byte, used int, ok bool) {
	p, b := t.bags, &t.bags.bag
	used = min(end-from, p.piece)
	size := b.Number.Size()
	if t.from != from || t.upTo != from+used || t.kept < 0 {
		if t.stopped() {
			return nil, nil, 0, false
		}
		positions := t.w.rows[:used]
		outside := p.resolver.Rows(positions, t.w.values[:used], t.at.Buf, 0, t.at.Offset, from)
		if b.SkipNegative {
			t.loadIndices(t.w.values[:used], from)
		}
		if b.Weighted {
			weights = t.weightsOf(from, used)
			if len(weights) > 0 && &weights[0] != &t.w.weights[0] {
				copy(t.w.weights, weights) // they move together with the rows
			}
		}
		t.filled = false
		base, axis := int64(t.src.Offset*p.resolver.elem), &p.nest.Axes[0]
		kept := 0
		for j, at := range positions {
			switch {
			case b.SkipNegative && t.w.values[j] < 0, b.SkipWeightless && b.Weighted && kernel.Weightless(t.w.weights[j*size:], b.Number):
				continue
			case outside > 0 && (at < 0 || axis.Dim == 0) && p.nest.Policy.Outside != kernel.Fill: // R.15
				t.refuse()
				return nil, nil, 0, false
			case at < 0:
				t.filled = true
				t.w.rows[kept] = -1
			case b.Padding >= 0 && at == int64(b.Padding):
				continue
			default:
				t.w.rows[kept] = base + int64(axis.Offset(int(at))*p.resolver.elem)
			}
			if b.Weighted {
				copy(t.w.weights[kept*size:(kept+1)*size], t.w.weights[j*size:])
			}
			kept++
		}
		t.from, t.upTo, t.kept = from, from+used, kept
	}
	if b.Weighted {
		weights = t.w.weights[:t.kept*size]
	}
	return t.w.rows[:t.kept], weights, used, true
}

// loadIndices loads the values of indices, which are one to a term.
func (t *terms) loadIndices(values []int64, first int) {
	r := &t.bags.resolver
	walk(r.loops, first, len(values), func(at, n, _, _, index int, inner Loop) {
		kernel.Load(values[at:at+n], t.at.Buf, t.at.Offset+index+r.axes[0].Index, inner.Index, r.width, int64(r.axes[0].Dim))
	})
}

// weightsOf returns the weights of n terms from one on, adjacent and aligned.
func (t *terms) weightsOf(first, n int) []byte {
	b := &t.bags.bag
	size := b.Number.Size()
	each, step := max(b.Each, 1), b.Weights[1]
	memory := t.weights.Buf[t.weights.Offset*size:]
	if even := b.Ends != Even || b.Weights[0] == each*step; step == 1 && even && kernel.Aligned(memory, size) {
		return memory[first*size : (first+n)*size]
	}
	memory = t.weights.Buf
	for j := range n {
		i := first + j
		at := i * step
		if b.Ends == Even {
			at = i/each*b.Weights[0] + i%each*step
		}
		at += t.weights.Offset
		copy(t.w.weights[j*size:(j+1)*size], memory[at*size:])
	}
	return t.w.weights[:n*size]
}

// lookAtRest resolves the indices that are in no bag, or all where no element is
// reduced (R.7).
func (u *state) lookAtRest(w *worker) {
	p := u.bags
	total := p.resolver.total
	first, last := total, total // the terms in bags
	if p.units > 0 {
		first, last = 0, total
		if p.bag.Ends == Starts {
			u.loadStarts(w.values[:1], 0)
			first = int(w.values[0])
			if p.bag.Bounded {
				u.loadStarts(w.values[:1], p.bag.Count)
				last = int(w.values[0])
			}
		}
	}
	for _, rest := range [...][2]int{{0, first}, {last, total}} {
		part := terms{state: u, w: w, last: rest[1], kept: -1}
		for from := rest[0]; from < rest[1]; {
			_, _, used, ok := part.take(from, rest[1])
			if !ok {
				return
			}
			from += used
		}
	}
}
