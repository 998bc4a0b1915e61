package exec

// A choice is the way that a nest is moved, and how its work is cut.
type choice struct {
	way       Way
	byRows    Way  // the same, but where way is columnar: how tuples are moved that cannot be
	tile      int  // tuples per tile
	tiles     int  // of all tuples
	unitTiles int  // tiles per unit of work, if a unit resolves and moves
	free      int  // turns of the free loops, times chunks
	chunks    int  // pieces of a slice
	chunk     int  // elements per piece but the last
	group     int  // free turns per unit, where rows are shared
	shared    bool // the rows of all tuples are resolved before anything moves
	alone     bool // one goroutine only
	even      bool // the tuples' places in the result are evenly spaced
	step      int  // their distance, in elements, where even
	ahead     int  // prefetch distance in rows; 0: none
	stream    bool // stores to the result are non-temporal
	probing   bool // stream those blocks whose rows prove to lie close together
	little    bool // so few rows that starting to run is most of the time
	stretch   int  // bytes that a linear tile, or turn, reads
	near      int  // bytes of data up to which nothing is prefetched
	columns   columns
}

// choose finds the way to move n on so many cores, and cuts n's work for it. It
// reads nothing but its arguments. Where it cuts the columns of a nest that is
// moved by rows, it changes n.Index.
func choose(n *Nest, t *Tuning, threads int) choice {
	c, way := newColumns(n, t, threads)
	if !way.columnar() {
		cutColumns(n, t)
	}
	l := cut(n, t, threads, way.columnar())
	if l.byRows = l.way; way.columnar() {
		l.way, l.columns, l.little = way, c, false
	}
	return l
}

// cut chooses among the ways that are not columnar, and cuts the work into
// tiles, chunks and units.
func cut(n *Nest, t *Tuning, threads int, columnar bool) choice {
	bitsOf, total := n.Bits, turns(n.Index)
	l := choice{tile: t.TileRows, chunk: max(n.Slice, 1), chunks: 1, near: t.NearBytes}
	bytes := n.Slice
	switch {
	case bitsOf == 0:
		bytes *= 16 // a string's header
	case bitsOf >= 8:
		bytes *= bitsOf / 8
	default:
		bytes /= 8 / bitsOf
	}
	bytes = max(bytes, 1)
	if bytes > t.UnitBytes {
		l.chunk = max(64, n.Slice/(bytes/t.UnitBytes+1)&^63) // whole lines, and whole bytes of a packed type
		l.chunks = (n.Slice + l.chunk - 1) / l.chunk
		bytes = max(bytes/l.chunks, 1)
	}
	if bytes*t.TileRows > t.UnitBytes {
		l.tile = max(8, t.UnitBytes/bytes&^7)
	} else if bytes*t.TileRows < t.TileBytes {
		l.tile = min(4*t.TileRows, t.TileBytes/bytes&^7)
	}
	l.tiles = (total + l.tile - 1) / l.tile
	l.free = turns(n.Free) * l.chunks
	l.shared = l.free > 1 && total <= t.SharedRows
	perTurn := max(1, min(total, l.tile)*bytes)
	l.group = max(1, min(l.free, t.UnitBytes/perTurn))
	l.even, l.step = evenly(n.Index, n.Slice)

	size := product(max(total, 1), max(l.free, 1), bytes) // bytes of the result
	l.alone = threads == 1 || size <= t.AloneBytes && total <= t.SharedRows
	if bitsOf > 0 && bitsOf < 8 {
		// Two units must not meet inside a byte of the result.
		l.alone = l.alone || l.free > 1 || !l.even || l.step != n.Slice
	}
	used := threads
	if l.alone {
		used = 1
	}
	far := bitsOf >= 8 && !n.Empty && n.Reach > t.NearBytes
	if far {
		touched, under := (bytes+63)&^63, t.AheadLines // bytes of whole lines
		if bytes%64 != 0 && 64%bytes != 0 {
			touched = bytes + 63 // most rows begin and end inside a line; this many bytes on average
		}
		if touched >= 512 {
			under = under * 3 / 4
		}
		l.ahead = max(4, under*64/touched)
	}
	switch {
	case n.Empty:
		l.way = Nothing
	case bitsOf == 0:
		l.way = Strings
	case bitsOf < 8:
		l.way = Bits
	case !far:
		l.way = Near
	case l.shared && l.chunks == 1 && n.span()*n.elem() <= t.UnitBytes:
		// The axes reach little: the lines that are far are those of the next turn.
		l.way = Turning
	default:
		l.way = Ahead
	}
	l.straighten(n, t, total, columnar)
	if l.way == TurningLinear && l.tiles > 1 {
		l.group = 1 // the next turn's data arrives while all tiles of this one are moved
	}
	l.unitTiles = max(1, min(t.UnitTiles, l.tiles/(4*used)))
	if n.direct() {
		switch {
		case l.way == Near:
			l.way = Direct
		case l.way == Linear:
			l.way = DirectLinear
		case l.way == Ahead && len(n.Index) == 1: // else a run ends before what it prefetches arrives
			l.way = DirectAhead
		}
	}
	l.store(n, t, size, bytes)
	l.little = l.alone && l.free == 1 && l.even && l.tiles == 1 && !n.Empty && bitsOf >= 8
	return l
}

// store chooses the stores. They are non-temporal where the result is too large
// to stay in the caches: sooner where a cache line of it is made of several
// slices, which costs most if the line is read first, and where far data needs
// the room. Short slices that arrive one by one from far away would keep a line
// of non-temporal stores open.
func (l *choice) store(n *Nest, t *Tuning, size, bytes int) {
	far, from := n.Reach >= t.StreamBytes, t.StreamBytes
	if bytes < 64 || bytes >= 256 && far {
		from /= 2
	}
	l.probing = size >= from && len(n.Axes) > 0
	l.stream = size >= from && (bytes > 32 || l.way.direct()) || l.probing && !far
	if l.way == DirectAhead {
		// No form of elements both prefetches and stores past the caches.
		if l.stream = l.stream && n.elem() >= 4 && n.Reach <= t.StayBytes; l.stream {
			l.way, l.ahead = Direct, 0
		}
	}
}

// straighten makes a way linear where a tile, or a turn, reads most of a stretch
// of data: memory delivers a stretch faster than its rows one by one.
func (l *choice) straighten(n *Nest, t *Tuning, total int, columnar bool) {
	if l.way != Ahead && l.way != Turning || len(n.Axes) != 1 || n.Slice != 1 {
		return
	}
	stretch, count := n.span()*n.elem(), total // bytes, and the rows that read them
	if l.way == Ahead {
		last := len(n.Index) - 1
		if l.shared || len(n.Free) > 0 || last < 1 || columnar {
			return
		}
		inner, around := n.Index[last], n.Index[last-1]
		if inner.Data != 0 || around.Data <= 0 || inner.Extent > 8*t.TileRows {
			return
		}
		runs := max(1, t.TileRows/inner.Extent)
		count = runs * inner.Extent
		stretch = runs * around.Data * n.elem()
	}
	if count*64 < stretch {
		return // most lines are not read
	}
	l.stretch = stretch
	if l.way == Turning {
		l.way = TurningLinear
		return
	}
	l.way, l.tile = Linear, count
	l.tiles = (total + count - 1) / count
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

// direct reports whether elements can go straight from their indices: one
// gathered axis whose positions are neighbours, and so are the indices and their
// results.
func (n *Nest) direct() bool {
	if len(n.Axes) != 1 || len(n.Axes[0].Parts) > 0 || n.Width.Bits < 8 || len(n.Index) == 0 || len(n.Free) > 0 || n.Slice != 1 {
		return false
	}
	l, axis := n.Index[len(n.Index)-1], &n.Axes[0]
	return axis.Dim > 0 && // else data has no position to point at
		l.Data == 0 && l.Index == 1 && l.Out == 1 && axis.Data == 1 && n.Bits >= 8 && n.Bits <= 64
}

// cutColumns cuts the innermost loop where it runs along data while the loop
// around it jumps about in it, as along any axis of GatherElements but the last:
// the lines of a piece are still near when the next jump comes to them.
func cutColumns(n *Nest, t *Tuning) {
	loops, last, width := n.Index, len(n.Index)-1, n.Bits/8
	if last < 1 || width == 0 || n.Slice != 1 || len(n.Axes) == 0 {
		return
	}
	inner, around := loops[last], loops[last-1]
	wide := t.StripBytes / width
	if inner.Data != 1 || around.Data != 0 || wide < 2 || inner.Extent < 16*wide || n.span()*width <= t.NearBytes {
		return
	}
	// A shorter last piece would be a nest of its own: take a width that leaves
	// none, if there is one nearby.
	for inner.Extent%wide != 0 && wide > t.StripBytes/width/2 {
		wide--
	}
	if inner.Extent%wide != 0 {
		return
	}
	piece := Loop{Extent: inner.Extent / wide, Data: inner.Data * wide, Index: inner.Index * wide, Out: inner.Out * wide}
	inner.Extent = wide
	n.Index = append(loops[:last-1], piece, around, inner)
}
