package garner

import "math"

// tuning is how work is cut up. Tests cut it small, so that few elements see
// every way through.
type tuning struct {
	tileRows    int // rows that are moved at once, a multiple of 8; of short ones up to four times as many
	tileBytes   int // as many of them as fill this
	unitBytes   int // about what is moved at once
	unitTiles   int // up to how many tiles one core takes together
	sharedRows  int // up to how many tuples are resolved before anything moves, where their rows are wanted more than once
	aloneBytes  int // up to which size of result a run stays on the caller's goroutine
	nearBytes   int // up to which size data is taken to be in the caches: nothing is prefetched
	stayBytes   int // up to which size data stays in the last cache, if the result is written past it
	aheadLines  int // how many cache lines are asked for before their turn; three quarters of that for rows of eight and more
	streamBytes int // from which size on a result, per core up to two, is written past the caches; half of that for short slices, and for long ones of far data
	columnsFrom int // from how many elements on columns are worth their call
	stripBytes  int // how wide the strips are in which the columns of far data are visited
}

// tuned keeps a tile's rows and index values, 8 KiB each, in the first-level
// cache, those of short rows, up to 32 KiB each, in the second-level one; moving
// a tile takes some 20 to 60 µs, so that the context is looked at often. Up to
// aloneBytes, waking another core costs more than it brings.
// docs/kernels.md has the measurements.
var tuned = tuning{
	tileRows: 1024, tileBytes: 64 << 10, unitBytes: 256 << 10, unitTiles: 16, sharedRows: 64 << 10, aloneBytes: 512 << 10,
	nearBytes: 512 << 10, stayBytes: 8 << 20, aheadLines: 128, streamBytes: 24 << 20, columnsFrom: 128, stripBytes: 512,
}

// layout is how a plan's work is cut into units.
type layout struct {
	tile    int // tuples per tile
	tiles   int
	unit    int // tiles per unit, in phase moveTiles
	free    int // turns of the free loops times chunks
	chunks  int // pieces of a slice
	chunk   int // elements per piece but the last
	group   int // free turns per unit, in phase moveShared
	share   bool
	alone   bool // one goroutine only
	whole   bool // the tuples' places in the result are evenly spaced
	step    int  // their distance, in elements, where whole
	ahead   int  // how many rows before its turn a row is prefetched; 0: data is near
	turning bool // what is prefetched is the next free turn, not the next tile
	linear  bool // what is prefetched is the data of the next tile from end to end, not its rows
	stream  bool // the result is written past the caches
	near    bool // it would be, if the data were near: where it turns out to be, it is
	direct  int  // bytes of an element that goes straight from its index; 0: by rows
	little  bool // so few rows that starting to run is most of the time
}

// prepare cuts the plan's work into units and allocates the scratch.
func (p *Prepared) prepare(plan *Plan) {
	p.plan, p.normal = plan, plan.normalize()
	n := &p.normal
	if len(plan.Axes) == 0 {
		// Without indices every turn is a row of its own.
		n.index, n.free = n.free, nil
	}
	if p.columns = newColumns(plan, n, p.reach(), p.threads, p.tuning); p.columns == nil {
		n.index = cutColumns(n.index, plan, n.slice, p.tuning)
	}
	p.resolver = newResolver(plan, n.index)
	if p.columns != nil && p.columns.shared {
		p.resolver.positions()
	}
	p.layout = p.cut()
	p.fill = nil
	if plan.Outside == Fill && plan.DType != String {
		p.fill = plan.Fill.scalar()
	}
	p.scratch()
}

// cut decides what a unit of work is, and how the kernels are to move it.
func (p *Prepared) cut() layout {
	t, n, r, bits := p.tuning, &p.normal, &p.resolver, p.plan.DType.Bits()
	l := layout{tile: t.tileRows, chunk: max(n.slice, 1), chunks: 1}
	bytes, reach := n.slice, p.reach()
	switch {
	case bits == 0:
		bytes *= 16 // a string's header
	case bits >= 8:
		bytes *= bits / 8
	default:
		bytes /= 8 / bits
	}
	bytes = max(bytes, 1)
	if bytes > t.unitBytes {
		l.chunk = max(64, n.slice/(bytes/t.unitBytes+1)&^63) // whole lines, and whole bytes of a packed type
		l.chunks = (n.slice + l.chunk - 1) / l.chunk
		bytes = max(bytes/l.chunks, 1)
	}
	if bytes*t.tileRows > t.unitBytes {
		l.tile = max(8, t.unitBytes/bytes&^7)
	} else if bytes*t.tileRows < t.tileBytes {
		l.tile = min(4*t.tileRows, t.tileBytes/bytes&^7)
	}
	l.tiles = (r.total + l.tile - 1) / l.tile
	l.free = turns(n.free) * l.chunks
	l.share = l.free > 1 && r.total <= t.sharedRows
	perTurn := max(1, min(r.total, l.tile)*bytes)
	l.group = max(1, min(l.free, t.unitBytes/perTurn))
	l.whole, l.step = evenly(n.index, n.slice)

	size := math.MaxInt // bytes of the result
	if n, ok := mul(max(r.total, 1), max(l.free, 1)); ok {
		if n, ok = mul(n, bytes); ok {
			size = n
		}
	}
	l.alone = p.threads == 1 || size <= t.aloneBytes && r.total <= t.sharedRows
	if p.plan.DType.Packed() {
		// Two units must not meet inside a byte of the result.
		l.alone = l.alone || l.free > 1 || !l.whole || l.step != n.slice
	}
	threads := p.threads
	if l.alone {
		threads = 1
	}
	if bits >= 8 && !n.empty && reach > t.nearBytes {
		touched, under := (bytes+63)&^63, t.aheadLines // bytes of whole lines
		if bytes%64 != 0 && 64%bytes != 0 {
			touched = bytes + 63 // most rows begin and end inside one; so much in the mean
		}
		if touched >= 512 {
			under = under * 3 / 4
		}
		l.ahead = max(4, under*64/touched)
		// Where the axes reach little, the lines that are far are those of the
		// next turn.
		l.turning = l.share && l.chunks == 1 && span(p.plan)*r.unit <= t.unitBytes
	}
	p.straighten(&l)
	if l.linear && l.turning && l.tiles > 1 {
		l.group = 1 // the next turn's data comes while all tiles are moved
	}
	l.unit = max(1, min(t.unitTiles, l.tiles/(4*threads)))
	if l.direct = direct(p.plan, n, r); len(n.index) > 1 && l.ahead > 0 && !l.linear {
		l.direct = 0 // a run is over before what it asks for comes
	}
	// The result is written past the caches where it is too large to stay in
	// them: sooner where a line of it is made of several slices, which costs most
	// if it has to be read first, and where data from far away needs the room.
	// Short slices that come one by one from far away would keep a line open that
	// is written past the caches.
	far, from := reach >= t.streamBytes, t.streamBytes*min(p.threads, 2)
	if bytes < 64 || bytes >= 256 && far {
		from /= 2
	}
	l.near = size >= from && len(p.plan.Axes) > 0
	l.stream = size >= from && (bytes > 32 || l.direct > 0) || l.near && !far
	if l.direct > 0 && l.ahead > 0 && !l.linear {
		// No form of elements asks ahead and writes past the caches.
		if l.stream = l.stream && l.direct >= 4 && reach <= t.stayBytes; l.stream {
			l.ahead = 0
		}
	}
	l.little = l.alone && l.free == 1 && l.whole && l.tiles == 1 && !n.empty && bits >= 8 && p.columns == nil && p.progress == nil
	return l
}

// scratch makes what the workers need, where it is not there yet.
func (p *Prepared) scratch() {
	l, total := &p.layout, p.resolver.total
	threads := p.threads
	if l.alone {
		threads = 1
	}
	for len(p.workers) < threads {
		p.workers = append(p.workers, worker{})
	}
	if threads > 1 && p.crew == nil {
		p.crew = newCrew(p.work)
	}
	rows := min(l.tile+l.ahead, total)
	for i := range p.workers[:threads] {
		w := &p.workers[i]
		if len(w.rows) < rows {
			w.rows, w.values = make([]int64, rows), make([]int64, rows)
		}
		if p.columns != nil && len(w.strip) < p.columns.bytes() {
			w.strip = make([]byte, p.columns.bytes())
		}
	}
	if l.share && len(p.shared) < total {
		p.shared = make([]int64, total)
	}
}

// reach is about how many bytes of data the plan can read.
func (p *Prepared) reach() int {
	n := 1
	for _, d := range p.data.Dims {
		n *= max(d.Min, 1)
	}
	return n * p.plan.DType.Bits() / 8
}

// span is how far the gathered axes reach, in elements.
func span(p *Plan) int {
	n := 1
	for _, a := range p.Axes {
		n += max(a.Dim-1, 0) * max(a.Data, -a.Data)
	}
	return n
}

// direct is the bytes of an element where elements go straight from their
// indices: one gathered axis whose positions are neighbours, its indices and
// their results neighbours too.
func direct(p *Plan, n *normal, r *resolver) int {
	if !r.tuples && (!r.single || r.width.Bits < 8) || len(r.axes) != 1 || len(n.index) == 0 || len(n.free) > 0 || n.slice != 1 {
		return 0
	}
	if p.Axes[0].Dim == 0 {
		return 0 // there is no data to stand in, not even at its beginning
	}
	if l := n.index[len(n.index)-1]; l.Data != 0 || l.Index != 1 || l.Out != 1 || p.Axes[0].Data != 1 || p.DType.Bits() < 8 || r.unit > 8 {
		return 0
	}
	return r.unit
}

// cutColumns cuts the innermost loop where it runs along data while a loop around
// it jumps about in it, as along any axis of GatherElements but the last: in
// pieces, the lines of one are still near when the next jump comes to them.
func cutColumns(loops []Loop, p *Plan, slice int, t tuning) []Loop {
	last := len(loops) - 1
	width := p.DType.Bits() / 8
	if last < 1 || width == 0 || slice != 1 || len(p.Axes) == 0 {
		return loops
	}
	inner, around := loops[last], loops[last-1]
	wide := t.stripBytes / width
	if inner.Data != 1 || around.Data != 0 || wide < 2 || inner.Extent < 16*wide || span(p)*width <= t.nearBytes {
		return loops
	}
	// What is left over of the last piece would be a nest of its own: the width
	// is one that leaves nothing, if there is one near.
	for inner.Extent%wide != 0 && wide > t.stripBytes/width/2 {
		wide--
	}
	if inner.Extent%wide != 0 {
		return loops
	}
	piece := Loop{Extent: inner.Extent / wide, Data: inner.Data * wide, Index: inner.Index * wide, Out: inner.Out * wide}
	inner.Extent = wide
	return append(append(loops[:last-1:last-1], piece), around, inner)
}

// straighten finds whether the data that a tile, or a turn, can read is so
// little that it is prefetched from end to end, which memory likes better than
// row by row; and makes the list of places that asks for it.
func (p *Prepared) straighten(l *layout) {
	n, r := &p.normal, &p.resolver
	if l.ahead == 0 || len(p.plan.Axes) != 1 || n.slice != 1 {
		return
	}
	reach, count := span(p.plan)*r.unit, r.total // bytes, and rows that read them
	if !l.turning {
		last := len(n.index) - 1
		if l.share || len(n.free) > 0 || last < 1 || p.columns != nil {
			return
		}
		inner, around := n.index[last], n.index[last-1]
		if inner.Data != 0 || around.Data <= 0 || inner.Extent > 8*p.tuning.tileRows {
			return
		}
		runs := max(1, p.tuning.tileRows/inner.Extent)
		count = runs * inner.Extent
		reach = runs * around.Data * r.unit
	}
	if count*64 < reach {
		return // most lines are not read
	}
	l.linear = true
	if !l.turning {
		l.tile = count
		l.tiles = (r.total + count - 1) / count
	}
	p.straight = p.straight[:0]
	for j := range count {
		p.straight = append(p.straight, int64(j*reach/count))
	}
}

// evenly reports whether a nest's places in the result are evenly spaced, and
// how far apart.
func evenly(loops []Loop, slice int) (bool, int) {
	if len(loops) == 0 {
		return true, slice
	}
	for i := range len(loops) - 1 {
		if loops[i].Out != loops[i+1].Out*loops[i+1].Extent {
			return false, 0
		}
	}
	return true, loops[len(loops)-1].Out
}
