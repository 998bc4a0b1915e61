package exec

import "github.com/garner-go/garner/internal/kernel"

// columns visits single elements as tuples of neighbouring columns, one index
// for each: GatherElements along any axis, and Gather along an axis where every
// turn wants the same indices. A tuple is a row of the result.
//
// Where data is far and its rows lie apart, as along an axis that is not the
// last, each neighbour in the result comes from a cache line of its own. There
// a strip of columns is copied row by row into a buffer that stays near, and
// gathered from.
type columns struct {
	outer  []Loop // the loops around the tuples
	around Loop   // the tuple loop
	inner  Loop   // the columns
	rows   int    // positions of the axis
	stride int    // from one position to the next, in elements
	wide   int    // columns per unit
	tuples int    // tuples per unit
	width  int    // bytes of an element
	reach  int    // elements of data from the first on, where nothing is copied
	shared bool   // every turn wants the same indices: they are resolved first
	lines  int    // lines of data that are prefetched with each tuple, in order
	next   int    // bytes in data from a turn's first element to the first of those lines
	skip   int    // bytes from a tuple's first line to the next tuple's
	stream bool   // stores are non-temporal: too much data passes through the caches for the result to stay
}

// tuplesAhead is the prefetch distance of indices, in tuples.
const tuplesAhead = 8

// narrowest is the least width of a strip in bytes, two lines, unless it holds
// all columns.
const narrowest = 128

// columnsBytes is about how much is gathered before the context is looked at.
const columnsBytes = 64 << 10

// newColumns finds whether n is columns that are best visited as such: its way
// is then Columns or Strips, and Nothing otherwise.
func newColumns(n *Nest, t *Tuning, threads int) (columns, Way) {
	none := columns{}
	nest := n.Index
	if len(n.Free) > 0 && len(n.Index) == 1 {
		nest = n.loops[:len(n.Free)+1] // Free and Index lie side by side
	}
	last := len(nest) - 1
	if last < 1 || len(n.Free) > 0 && len(n.Index) > 1 || n.Empty || n.Slice != 1 || len(n.Axes) != 1 || len(n.Axes[0].Parts) > 0 || n.Bits < 8 {
		return none, Nothing
	}
	c := columns{
		outer: nest[:last-1], around: nest[last-1], inner: nest[last],
		rows: n.Axes[0].Dim, stride: n.Axes[0].Data, width: n.Bits / 8, shared: len(n.Free) > 0,
	}
	if c.inner.Index != 1 || c.inner.Out != 1 || c.inner.Data < 0 || c.around.Data < 0 || c.rows == 0 {
		return none, Nothing
	}
	if c.shared && c.inner.Extent > t.SharedRows || !c.shared && !n.plain() {
		return none, Nothing
	}
	far, apart := n.Reach > t.NearBytes, n.span()*c.width > t.NearBytes
	still := c.around.Data == 0 // the tuples read the same rows, as along an axis that is not the last
	if still && apart && c.inner.Data == 1 && !c.shared {
		return c.strips(n, t)
	}
	count := c.inner.Extent // elements that read what a tuple, or all tuples of a turn, can reach
	if still {
		count *= c.around.Extent
	}
	reach := ((c.rows-1)*c.stride + (c.inner.Extent-1)*c.inner.Data + 1) * c.width
	switch {
	case c.width > 8 || c.stride < 0 || c.around.Extent*c.inner.Extent < t.ColumnsFrom:
		return none, Nothing // a unit would be a few elements
	case !c.shared && n.Policy.Outside != kernel.Error && c.inner.Extent < t.ColumnsFrom/2:
		return none, Nothing // many indices outside would stop as many tuples
	case far && (reach > 2*t.UnitBytes || count*64 < reach):
		return none, Nothing // what is reached does not stay near, or most of its lines are not read
	case far && still:
		if c.lines = (reach/64 + c.around.Extent) / c.around.Extent; last > 1 {
			c.next, c.skip = c.outer[last-2].Data*c.width, c.lines*64
		}
	case far:
		c.lines = reach/64 + 1
		c.skip = c.around.Data * c.width
		c.next = max(1, prefetchBytes/max(1, c.skip)) * c.skip
	}
	c.wide = min(c.inner.Extent, max(8, t.UnitBytes/c.width&^7))
	c.tuples = max(1, min(t.UnitBytes/(c.wide*c.width), turns(c.outer)*c.around.Extent/(4*threads), c.around.Extent))
	for _, l := range nest {
		c.reach += max(0, (l.Extent-1)*l.Data)
	}
	c.reach += (c.rows-1)*c.stride + 1
	return c, Columns
}

// strips cuts the columns of far data into strips; Nothing where most of the
// rows would be copied in vain.
func (c columns) strips(n *Nest, t *Tuning) (columns, Way) {
	c.tuples = c.around.Extent
	c.wide = t.StripBytes / c.width
	room := 16 * t.UnitBytes // that stays near
	for c.rows*c.wide*c.width > room && c.wide*c.width > narrowest {
		c.wide /= 2
	}
	switch {
	case c.wide < 2 || c.inner.Extent < 2*c.wide:
		return columns{}, Nothing // narrow
	case c.around.Extent < c.rows/16 || c.rows*c.wide*c.width > room:
		return columns{}, Nothing // few of the rows are read, or the buffer would not stay near
	}
	c.stream = n.span()*c.width >= t.StreamBytes
	return c, Strips
}

// bytes is the size of a strip's buffer.
func (c *columns) bytes() int { return c.rows * c.wide * c.width }

// pieces is how many units the columns and the tuples of a turn make.
func (c *columns) pieces() (wide, tuples int) {
	return (c.inner.Extent + c.wide - 1) / c.wide, (c.around.Extent + c.tuples - 1) / c.tuples
}

// units is how many units there are in all.
func (c *columns) units() int {
	wide, tuples := c.pieces()
	return turns(c.outer) * wide * tuples
}

// moveColumns gathers one unit.
func (u *Runner) moveColumns(w *worker, unit int) {
	p := u.program
	c, r := &p.choice.columns, &p.resolver
	perRow, perTurn := c.pieces()
	column, tuple, turn := unit%perRow*c.wide, unit/perRow%perTurn*c.tuples, unit/perRow/perTurn
	wide, tuples := min(c.wide, c.inner.Extent-column), min(c.tuples, c.around.Extent-tuple)
	data := u.src.Offset + column*c.inner.Data + tuple*c.around.Data
	index := u.at.Offset + column + tuple*c.around.Index
	out := u.dst.Offset + column + tuple*c.around.Out
	for i := len(c.outer) - 1; i >= 0; i-- {
		at := turn % c.outer[i].Extent
		turn /= c.outer[i].Extent
		data += at * c.outer[i].Data
		index += at * c.outer[i].Index
		out += at * c.outer[i].Out
	}

	g := kernel.Columns{
		Values: kernel.Values{Bytes: u.at.Buf, Width: r.width.Bits / 8, Dim: c.rows, FromEnd: r.policy.FromEnd, Stream: c.stream},
		To:     c.around.Out * c.width, Data: c.around.Data * c.width, Wide: wide, Stride: c.stride, Lane: c.inner.Data,
		Asked: tuplesAhead, Lines: c.lines, Skip: c.skip,
	}
	if c.shared {
		g.Bytes, g.Width, g.FromEnd, index = kernel.Bytes(u.shared), 8, false, column
	}
	g.From = c.around.Index * g.Width
	var src []byte
	if p.choice.way == Columns {
		src = u.src.Buf[data*c.width : (u.src.Offset+c.reach)*c.width]
	} else if src, g.Stride, g.Data, g.Lane = u.copyStrip(w, data, wide), wide, 0, 1; src == nil {
		return
	}
	for i := 0; i < tuples; {
		if u.stopped() {
			return
		}
		g.First, g.At = (index+i*c.around.Index)*g.Width, (out+i*c.around.Out)*c.width
		g.Next = c.next + (tuple+i)*(c.skip-g.Data)
		g.Tuples = min(max(1, columnsBytes/(wide*c.width)), tuples-i)
		moved := 0
		if c.width <= 8 {
			moved = kernel.Gather(u.dst.Buf, src[i*g.Data:], c.width, g)
		}
		if i += moved; moved == g.Tuples {
			continue
		}
		// The next tuple has an index outside, or its elements are too wide.
		if !u.moveTuple(w, src[i*g.Data:], g, index+i*c.around.Index, out+i*c.around.Out) {
			return
		}
		i++
	}
}

// copyStrip copies a strip of data into the worker's buffer; nil where the run
// was stopped.
func (u *Runner) copyStrip(w *worker, data, wide int) []byte {
	c := &u.program.choice.columns
	size := wide * c.width
	for first := 0; first < c.rows; {
		if u.stopped() {
			return nil
		}
		n := min(len(w.rows), c.rows-first)
		rows := w.rows[:n]
		kernel.Start(rows, int64((data+first*c.stride)*c.width), int64(c.stride*c.width))
		ahead := kernel.Ahead{Rows: rows[min(16, n):]}
		kernel.Rows(w.strip, u.src.Buf, rows, kernel.Move{At: first * size, Step: size, Size: size, Elem: c.width, Ahead: ahead}, nil)
		first += n
	}
	return w.strip[:c.rows*size]
}

// moveTuple resolves and moves one tuple, whose indices and place begin at
// element index and out; it reports false where the run fails.
func (u *Runner) moveTuple(w *worker, src []byte, g kernel.Columns, index, out int) bool {
	c, r := &u.program.choice.columns, &u.program.resolver
	rows, values := w.rows[:min(g.Wide, len(w.rows))], w.values[:min(g.Wide, len(w.rows))]
	for from := 0; from < g.Wide; from += len(rows) {
		n := min(len(rows), g.Wide-from)
		run := rows[:n]
		kernel.Start(run, int64(from*g.Lane*c.width), int64(g.Lane*c.width))
		kernel.Load(values[:n], u.at.Buf, index+from, 1, r.width, int64(c.rows))
		outside := kernel.Resolve(run, values[:n], int64(c.rows), int64(g.Stride*c.width), r.policy)
		if r.Refused(outside) {
			u.refuse()
			return false
		}
		if outside > 0 {
			kernel.Finish(run)
		}
		m := kernel.Move{At: (out + from) * c.width, Step: c.width, Size: c.width, Elem: c.width, Filled: outside > 0}
		kernel.Rows(u.dst.Buf, src, run, m, u.program.nest.Fill)
	}
	return true
}
