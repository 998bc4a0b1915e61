package exec

import "github.com/garner-go/garner/internal/kernel"

// A choice is the way to move a nest, and the division of its work among cores.
type choice struct {
	way       Way
	byRows    Way    // equals way, unless way is columnar: then the way for tuples that it cannot move
	tile      int    // tuples per tile
	tiles     int    // of all tuples
	unitTiles int    // tiles per unit of work, if a unit resolves and moves
	free      int    // turns of the free loops times chunks
	chunks    int    // pieces of a slice
	chunk     int    // elements per piece; the last may be shorter
	group     int    // free turns per unit, where rows are shared
	shared    bool   // the rows of all tuples are resolved before any row moves
	alone     bool   // one goroutine only
	even      bool   // the tuples' rows in the result are evenly spaced
	step      int    // the distance between them in elements, if even
	ahead     int    // prefetch distance in rows; 0: none
	stream    bool   // stores to the result are non-temporal
	past      bool   // the result does not stay in the caches: stream also those blocks whose rows prove to lie close together
	little    bool   // so few rows that starting a run takes most of its time
	run       int    // turns of the innermost free loop that a tuple moves at once: for across
	stretch   int    // bytes of data that a tile reads, or a turn: for linear ways
	near      int    // largest data in bytes that is not prefetched
	index     []Loop // the nest's loops that move the indices, or those that they were cut into
	columns   columns
}

// choose returns the way to move n on this many cores and divides n's work. It
// changes nothing but room, the memory of the choice's loops if they are not n's.
func choose(n *Nest, t *Tuning, threads int, room []Loop) choice {
	if n.Decoder != nil {
		return decoded(n, t, threads)
	}
	c, way := newColumns(n, t, threads)
	walked := *n
	if !way.columnar() {
		walked.Index = cutColumns(n, t, room)
	}
	l := cut(&walked, t, threads, way.columnar())
	l.index = walked.Index
	if l.byRows = l.way; way.columnar() {
		l.way, l.columns, l.little = way, c, false
	}
	return l
}

// prefetchedElements is the least number of elements of a slice that are prefetched:
// to find where shorter ones are stored takes as long as to decode them.
const prefetchedElements = 16

// decoded returns the choice for a nest that has a Decoder: rows are decoded into their
// places, tile by tile.
func decoded(n *Nest, t *Tuning, threads int) choice {
	quick := *t
	quick.AloneBytes /= 4 // to decode an element takes several times as long as to copy it
	quick.AloneTime /= 4
	l := cut(n, &quick, threads, true)
	l.index = n.Index
	if l.way != Nothing {
		l.way = Decoded
	}
	l.byRows = l.way
	l.little, l.stream, l.past, l.ahead = false, false, false, 0
	if n.Reach > t.NearBytes && n.Slice >= prefetchedElements && !n.Empty {
		touched := 0
		for _, s := range n.Decoder.Spans(0, min(n.Slice, l.chunk)) {
			if s.To > s.From {
				touched += int(s.To-s.From+63) &^ 63
			}
		}
		l.ahead = min(max(2, t.AheadLines*64/max(touched, 64)), l.tile)
	}
	return l
}

// cut chooses among the ways that are not columnar, and divides the work into
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
		l.chunk = max(64, n.Slice/(bytes/t.UnitBytes+1)&^63) // a multiple of 64 elements: whole cache lines, and whole bytes of packed types
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
	l.shared = n.Known || l.free > 1 && total <= t.SharedRows
	perTurn := max(1, min(total, l.tile)*bytes)
	l.group = max(1, min(l.free, t.UnitBytes/perTurn))
	l.even, l.step = evenly(n.Index, n.Slice)

	size := product(max(total, 1), max(l.free, 1), bytes) // bytes of the result
	l.alone = threads == 1 || size <= t.AloneBytes && total <= t.SharedRows || t.short(n.Reach, product(max(total, 1), max(l.free, 1)), size)
	if bitsOf > 0 && bitsOf < 8 {
		// No two units may write into one byte of the result.
		l.alone = l.alone || l.free > 1 || !l.even || l.step != n.Slice
	}
	used := threads
	if l.alone {
		used = 1
	}
	far := bitsOf >= 8 && !n.Empty && n.Reach > t.NearBytes
	if far {
		touched, under := (bytes+63)&^63, t.AheadLines // bytes of the cache lines that a row touches
		if bytes%64 != 0 && 64%bytes != 0 {
			touched = bytes + 63 // a row rarely begins on a line, so on average it touches this many bytes
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
		// All tuples read the same few lines in a turn; only the next turn's lines are far.
		l.way = Turning
	default:
		l.way = Ahead
	}
	beside := l.beside(n, t, total)
	if beside || l.across(n, t, total) {
		l.way, l.ahead = Across, 0
		// What a run reads stays near until the next tuple reads beside it.
		inner := n.Free[len(n.Free)-1]
		l.run = min(t.TileRows, inner.Extent, max(16, t.UnitBytes/max(1, max(inner.Data, -inner.Data)*n.elem())))
		if beside {
			l.tile = min(l.tile, max(8, t.UnitBytes/(bytes*l.run)&^7))
			l.tiles, l.group = (total+l.tile-1)/l.tile, min(l.free, max(l.run, t.UnitBytes/(bytes*l.tile)))
		}
	}
	l.straighten(n, t, total, columnar)
	if l.way == TurningLinear && l.tiles > 1 {
		l.group = 1 // the next turn's data arrives while this turn's tiles move
	}
	l.unitTiles = max(1, min(t.UnitTiles, l.tiles/(4*used)))
	l.little = l.alone && l.free == 1 && l.even && l.tiles == 1 && !n.Empty && bitsOf >= 8
	if n.direct() {
		switch {
		case l.way == Near && (n.single() || !l.little):
			l.way = Direct
		case l.way == Linear && n.single():
			l.way = DirectLinear
		case l.way == Ahead && len(n.Index) == 1 && (n.single() || !l.little): // shorter runs end before their prefetched lines arrive
			l.way = DirectAhead
		}
	}
	l.store(n, t, threads, size, bytes)
	return l
}

// short reports whether a run is estimated to take no longer than AloneTime: rows of data that
// so many bytes hold, into a result of size bytes. A row and 32 bytes of it take a nanosecond
// where data is near, two where it is in the last-level cache, six beyond it (one core of a Zen 4).
func (t *Tuning) short(reach, rows, size int) bool {
	if t.AloneTime == 0 {
		return false
	}
	each := 1
	switch {
	case reach > t.StayBytes:
		each = 6
	case reach > t.NearBytes:
		each = 2
	}
	return rows <= t.AloneTime/each && size/32 <= t.AloneTime/each-rows
}

// store chooses the stores of a result of size bytes. They are non-temporal if
// the result is too large to stay in the caches. The threshold is half for long
// slices of far data, which needs the cache, and for single elements straight
// from their indices: on two cores, whose second-level caches hold twice as much,
// only for those of 8 bytes. It is higher for slices of near data, which leaves the
// cache to the result. Short slices of far data use ordinary stores: a line
// of non-temporal stores would stay open until the next slice arrives.
func (l *choice) store(n *Nest, t *Tuning, threads, size, bytes int) {
	far, from := n.Reach >= t.StreamBytes, t.StreamBytes
	elements := l.way.direct() && n.single()
	switch {
	case bytes >= 256 && far || elements && (threads == 1 || n.elem() == 8):
		from /= 2
	case !elements && (n.Reach <= t.NearBytes || far && bytes <= 32):
		from = t.resultStays()
	}
	l.stream = size >= from && (bytes > 32 || elements || len(n.Axes) > 0 && !far)
	if !elements {
		from = t.resultStays()
	}
	l.past = size >= from && len(n.Axes) > 0
	if l.way.direct() && !elements {
		// No kernel of slices has non-temporal stores.
		switch {
		case l.way == DirectAhead && l.stream:
			l.way = Ahead
		case l.way == Direct && l.stream:
			l.way = Near
		}
		return
	}
	if l.way == DirectAhead {
		// No kernel of elements combines prefetching with non-temporal stores.
		if l.stream = l.stream && n.elem() >= 4 && n.Reach <= t.StayBytes; l.stream {
			l.way, l.ahead = Direct, 0
		}
	}
}

// acrossTuples and acrossTurns are the most tuples, and the fewest turns of the
// innermost free loop, that move across: one row a call of a kernel took 23 ns, in
// runs of turns it takes 1 to 2 (one index along axis 1 of f32[100000,20], Xeon).
const (
	acrossTuples = 16
	acrossTurns  = 64
)

// across reports whether n has few tuples under many free turns.
func (l *choice) across(n *Nest, t *Tuning, total int) bool {
	if n.Known || !l.shared || l.chunks > 1 || n.Bits < 8 || n.Empty || total > acrossTuples || l.tiles != 1 {
		return false
	}
	inner := n.Free[len(n.Free)-1]
	return inner.Extent >= min(acrossTurns, 4*t.TileRows)
}

// besideBytes is the longest row that moves across where the turns of a tuple lie side
// by side in the result, besideApart how many bytes they may lie apart in data: from one
// line each, in transposed data, rows are faster in the order of the turns.
const (
	besideBytes = 16
	besideApart = 64
)

// beside reports whether the innermost free loop walks n's short rows side by side in
// the result, and the tuples do not: the elements of data have a step. A turn of all
// tuples would write each row to a line of its own.
func (l *choice) beside(n *Nest, t *Tuning, total int) bool {
	if n.Known || !l.shared || l.chunks > 1 || n.Bits < 8 || n.Empty || len(n.Free) == 0 || n.Slice*n.elem() > besideBytes {
		return false
	}
	inner := n.Free[len(n.Free)-1]
	return inner.Out == n.Slice && max(inner.Data, -inner.Data)*n.elem() <= besideApart && inner.Extent >= min(acrossTurns, 4*t.TileRows)
}

// straighten makes a way linear if a tile, or a turn, reads most lines of a
// stretch of data: memory delivers sequential lines faster than scattered ones.
func (l *choice) straighten(n *Nest, t *Tuning, total int, columnar bool) {
	if l.way != Ahead && l.way != Turning || len(n.Axes) != 1 || n.Slice != 1 {
		return
	}
	stretch, count := n.span()*n.elem(), total // bytes, and the number of rows that read from them
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
		return // the rows leave most lines unread
	}
	l.stretch = stretch
	if l.way == Turning {
		l.way = TurningLinear
		return
	}
	l.way, l.tile = Linear, count
	l.tiles = (total + count - 1) / count
}

// evenly reports whether the rows of a nest are evenly spaced in the result,
// and their distance in elements.
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

// direct reports whether a kernel can gather elements, or short slices, straight
// from their indices: one gathered axis, along which slices are
// adjacent, contiguous results, and indices that are contiguous or lie in long runs of
// one step, which are loaded side by side first.
func (n *Nest) direct() bool {
	if len(n.Axes) != 1 || len(n.Axes[0].Parts) > 0 || n.Width.Bits < 8 || len(n.Index) == 0 || len(n.Free) > 0 || n.Bits < 8 {
		return false
	}
	if !n.single() && n.Slice*n.Bits/8 > kernel.SlicesMost {
		return false
	}
	l, axis := n.Index[len(n.Index)-1], &n.Axes[0]
	return axis.Dim > 0 && // an empty axis has no first position to address
		l.Data == 0 && (l.Index == 1 || l.Extent >= steppedFrom) && l.Out == n.Slice && axis.Data == n.Slice
}

// steppedFrom is the shortest run of indices of another step than 1 for which a call of
// a kernel of elements is worth loading them.
const steppedFrom = 32

// single reports whether a row is one element that kernel.Elements can move; other
// short rows are slices.
func (n *Nest) single() bool { return n.Slice == 1 && n.Bits <= 64 }

// cutColumns returns n.Index, with the innermost loop cut into pieces if it runs along data while
// the loop around it gathers, as along any axis of GatherElements but the last.
// The cache lines that a piece reads then stay in the caches until the next
// tuple reads them.
func cutColumns(n *Nest, t *Tuning, room []Loop) []Loop {
	loops, last, width := n.Index, len(n.Index)-1, n.Bits/8
	if last < 1 || width == 0 || n.Slice != 1 || len(n.Axes) == 0 {
		return loops
	}
	inner, around := loops[last], loops[last-1]
	wide := t.StripBytes / width
	if inner.Data != 1 || around.Data != 0 || wide < 2 || inner.Extent < 16*wide || n.span()*width <= t.NearBytes {
		return loops
	}
	// All pieces of one nest have equal widths, so take a nearby width that
	// divides the extent.
	for inner.Extent%wide != 0 && wide > t.StripBytes/width/2 {
		wide--
	}
	if inner.Extent%wide != 0 {
		return loops
	}
	piece := Loop{Extent: inner.Extent / wide, Data: inner.Data * wide, Index: inner.Index * wide, Out: inner.Out * wide}
	inner.Extent = wide
	return append(append(room[:0], loops[:last-1]...), piece, around, inner)
}

// most is the number of units of the phase that has most, 1 if one goroutine
// alone may run.
func (l *choice) most() int {
	switch {
	case l.alone:
		return 1
	case l.way == Nothing:
		return max(1, l.tiles)
	case l.shared:
		return max(1, l.tiles*((l.free+l.group-1)/l.group), l.columnUnits())
	}
	return max(1, (l.tiles+l.unitTiles-1)/l.unitTiles, l.columnUnits())
}

func (l *choice) columnUnits() int {
	if !l.way.columnar() {
		return 0
	}
	return l.columns.units()
}
