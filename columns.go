package garner

import "github.com/garner-go/garner/internal/kernel"

// columns visits single elements as tuples of neighbouring columns, one index
// for each: GatherElements along any axis, and Gather along one where the same
// indices serve turn after turn. A tuple is a row of the result.
//
// Where data is far and its rows lie apart, as along an axis that is not the
// last, neighbours in the result come each from a line of its own: there a
// strip of columns is copied into a buffer that stays near, row by row, and
// gathered from.
type columns struct {
	outer  []Loop // the nest around
	around Loop   // the tuple loop
	inner  Loop   // the columns
	rows   int    // positions that the axis has
	stride int    // from one to the next, in elements
	wide   int    // columns of a unit
	tuples int    // tuples of a unit
	width  int    // bytes of an element
	reach  int    // elements of data from the first on, where nothing is copied
	buffer bool   // a unit is a strip that is copied first
	shared bool   // the indices are resolved first, for they are the same for all tuples
	lines  int    // of data that are asked for with each tuple, in order
	next   int    // from what the first tuple of a turn counts from to the first of them, in bytes
	skip   int    // from a tuple's first line to the next's
	stream bool   // so much data passes by that the result does not stay near: it is written past the caches
}

// tuplesAhead is how many tuples before its turn one's indices are asked for.
const tuplesAhead = 8

// narrowest is how many bytes of a row a strip takes at least, if it is not to
// have them all: two lines.
const narrowest = 128

// columnsBytes is about how much is gathered before the context is looked at.
const columnsBytes = 64 << 10

// newColumns is nil where the plan has no such columns, and where they are
// better visited otherwise. All data is so many bytes.
func newColumns(p *Plan, n *normal, all, threads int, t tuning) *columns {
	nest := n.index
	if len(n.free) > 0 && len(n.index) == 1 {
		nest = append(n.free[:len(n.free):len(n.free)], n.index...)
	}
	last := len(nest) - 1
	if last < 1 || len(n.free) > 0 && len(n.index) > 1 || n.empty || n.slice != 1 || len(p.Axes) != 1 || len(p.Axes[0].Parts) > 0 || p.DType.Bits() < 8 {
		return nil
	}
	c := &columns{
		outer: nest[:last-1], around: nest[last-1], inner: nest[last],
		rows: p.Axes[0].Dim, stride: p.Axes[0].Data, width: p.DType.Bits() / 8, shared: len(n.free) > 0,
	}
	if c.inner.Index != 1 || c.inner.Out != 1 || c.inner.Data < 0 || c.around.Data < 0 || c.rows == 0 {
		return nil
	}
	if c.shared && c.inner.Extent > t.sharedRows || !c.shared && !p.plain() {
		return nil
	}
	far, apart := all > t.nearBytes, span(p)*c.width > t.nearBytes
	still := c.around.Data == 0 // as along an axis that is not the last
	if still && apart && c.inner.Data == 1 && !c.shared {
		return c.strips(p, t)
	}
	count := c.inner.Extent // that read what a tuple, or the tuples of a turn, can reach
	if still {
		count *= c.around.Extent
	}
	reach := ((c.rows-1)*c.stride + (c.inner.Extent-1)*c.inner.Data + 1) * c.width
	switch {
	case c.width > 8 || c.stride < 0 || c.around.Extent*c.inner.Extent < t.columnsFrom:
		return nil // a unit would be a few elements
	case !c.shared && p.outside() != Error && c.inner.Extent < t.columnsFrom/2:
		return nil // where many are outside, as many tuples would stop
	case far && (reach > 2*t.unitBytes || count*64 < reach):
		return nil // what is reached does not stay near, or most of its lines are not read
	case far && still:
		if c.lines = (reach/64 + c.around.Extent) / c.around.Extent; last > 1 {
			c.next, c.skip = c.outer[last-2].Data*c.width, c.lines*64
		}
	case far:
		c.lines = reach/64 + 1
		c.skip = c.around.Data * c.width
		c.next = max(1, prefetchBytes/max(1, c.skip)) * c.skip
	}
	c.wide = min(c.inner.Extent, max(8, t.unitBytes/c.width&^7))
	c.tuples = max(1, min(t.unitBytes/(c.wide*c.width), turns(c.outer)*c.around.Extent/(4*threads), c.around.Extent))
	for _, l := range nest {
		c.reach += max(0, (l.Extent-1)*l.Data)
	}
	c.reach += (c.rows-1)*c.stride + 1
	return c
}

// strips makes strips of columns of data that is far; nil where most of its rows
// would be copied in vain.
func (c *columns) strips(p *Plan, t tuning) *columns {
	c.buffer, c.tuples = true, c.around.Extent
	c.wide = t.stripBytes / c.width
	room := 16 * t.unitBytes // that stays near
	for c.rows*c.wide*c.width > room && c.wide*c.width > narrowest {
		c.wide /= 2
	}
	switch {
	case c.wide < 2 || c.inner.Extent < 2*c.wide:
		return nil // narrow
	case c.around.Extent < c.rows/16 || c.rows*c.wide*c.width > room:
		return nil // few of the rows are read, or too many for the buffer to be near
	}
	c.stream = span(p)*c.width >= t.streamBytes
	return c
}

// bytes is the size of the buffer.
func (c *columns) bytes() int {
	if !c.buffer {
		return 0
	}
	return c.rows * c.wide * c.width
}

// pieces are how many units of columns and of tuples there are.
func (c *columns) pieces() (wide, tuples int) {
	return (c.inner.Extent + c.wide - 1) / c.wide, (c.around.Extent + c.tuples - 1) / c.tuples
}

// units is how many there are in all.
func (c *columns) units() int {
	wide, tuples := c.pieces()
	return turns(c.outer) * wide * tuples
}

// moveColumns gathers one unit.
func (p *Prepared) moveColumns(w *worker, unit int) {
	c, r := p.columns, &p.resolver
	perRow, perTurn := c.pieces()
	column, tuple, turn := unit%perRow*c.wide, unit/perRow%perTurn*c.tuples, unit/perRow/perTurn
	wide, tuples := min(c.wide, c.inner.Extent-column), min(c.tuples, c.around.Extent-tuple)
	data := p.src.offset + column*c.inner.Data + tuple*c.around.Data
	index := p.at.offset + column + tuple*c.around.Index
	out := p.dst.offset + column + tuple*c.around.Out
	for i := len(c.outer) - 1; i >= 0; i-- {
		at := turn % c.outer[i].Extent
		turn /= c.outer[i].Extent
		data += at * c.outer[i].Data
		index += at * c.outer[i].Index
		out += at * c.outer[i].Out
	}

	g := kernel.Columns{
		Values: kernel.Values{Bytes: p.at.buf, Width: r.width.Bits / 8, Dim: c.rows, FromEnd: r.policy.FromEnd, Stream: c.stream},
		To:     c.around.Out * c.width, Data: c.around.Data * c.width, Wide: wide, Stride: c.stride, Lane: c.inner.Data,
		Asked: tuplesAhead, Lines: c.lines, Skip: c.skip,
	}
	if c.shared {
		g.Bytes, g.Width, g.FromEnd, index = kernel.Bytes(p.shared), 8, false, column
	}
	g.From = c.around.Index * g.Width
	var src []byte
	if !c.buffer {
		src = p.src.buf[data*c.width : (p.src.offset+c.reach)*c.width]
	} else if src, g.Stride, g.Data, g.Lane = p.copyStrip(w, data, wide), wide, 0, 1; src == nil {
		return
	}
	for i := 0; i < tuples; {
		if p.stop.Load() || p.ctx.Err() != nil {
			p.stop.Store(true)
			return
		}
		g.First, g.At = (index+i*c.around.Index)*g.Width, (out+i*c.around.Out)*c.width
		g.Next = c.next + (tuple+i)*(c.skip-g.Data)
		g.Tuples = min(max(1, columnsBytes/(wide*c.width)), tuples-i)
		moved := 0
		if c.width <= 8 {
			moved = kernel.Gather(p.dst.buf, src[i*g.Data:], c.width, g)
		}
		if i += moved; moved == g.Tuples {
			continue
		}
		// The next tuple has an index outside, or elements that are too wide.
		if !p.moveTuple(w, src[i*g.Data:], g, index+i*c.around.Index, out+i*c.around.Out) {
			return
		}
		i++
	}
}

// copyStrip copies a strip of data into the worker's buffer; nil where the run
// was stopped.
func (p *Prepared) copyStrip(w *worker, data, wide int) []byte {
	c := p.columns
	size := wide * c.width
	for first := 0; first < c.rows; {
		if p.stop.Load() || p.ctx.Err() != nil {
			p.stop.Store(true)
			return nil
		}
		n := min(len(w.rows), c.rows-first)
		rows := w.rows[:n]
		kernel.Start(rows, int64((data+first*c.stride)*c.width), int64(c.stride*c.width))
		ahead := kernel.Ahead{Rows: rows[min(16, n):]}
		kernel.Rows(w.strip, p.src.buf, rows, kernel.Move{At: first * size, Step: size, Size: size, Elem: c.width, Ahead: ahead}, nil)
		first += n
	}
	return w.strip[:c.rows*size]
}

// moveTuple resolves and moves one tuple, whose indices and place begin at
// element index and out; it reports false where the run fails.
func (p *Prepared) moveTuple(w *worker, src []byte, g kernel.Columns, index, out int) bool {
	c, r := p.columns, &p.resolver
	rows, values := w.rows[:min(g.Wide, len(w.rows))], w.values[:min(g.Wide, len(w.rows))]
	for from := 0; from < g.Wide; from += len(rows) {
		n := min(len(rows), g.Wide-from)
		run := rows[:n]
		kernel.Start(run, int64(from*g.Lane*c.width), int64(g.Lane*c.width))
		kernel.Load(values[:n], p.at.buf, index+from, 1, r.width, int64(c.rows))
		outside := kernel.Resolve(run, values[:n], int64(c.rows), int64(g.Stride*c.width), r.policy)
		if r.refused(outside) {
			p.refuse.Store(true)
			p.stop.Store(true)
			return false
		}
		if outside > 0 {
			kernel.Finish(run)
		}
		m := kernel.Move{At: (out + from) * c.width, Step: c.width, Size: c.width, Elem: c.width, Filled: outside > 0}
		kernel.Rows(p.dst.buf, src, run, m, p.fill)
	}
	return true
}
