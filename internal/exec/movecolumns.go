package exec

import "github.com/garner-go/garner/internal/kernel"

// tuplesAhead is the prefetch distance of indices, in tuples.
const tuplesAhead = 8

// columnsBytes is about how many bytes a run gathers between two looks at the
// context.
const columnsBytes = 64 << 10

// moveColumns gathers one unit of columns.
func (u *state) moveColumns(w *worker, unit int) {
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

	if c.fold > 0 {
		u.moveFolded(data, out, tuples)
		return
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
		// The kernel stopped at a tuple with an index outside, or has no form for elements this wide.
		if !u.moveTuple(w, src[i*g.Data:], g, index+i*c.around.Index, out+i*c.around.Out) {
			return
		}
		i++
	}
}

// fold makes the positions of many turns out of the shared ones of one turn. They count
// elements of data from the first turn's.
func (u *state) fold() {
	c := &u.program.choice.columns
	n := c.fold * c.wide
	if len(u.folded) < n {
		u.folded = make([]int64, n)
	}
	for turn := range c.fold {
		for j, at := range u.shared[:c.wide] {
			u.folded[turn*c.wide+j] = int64(turn*c.around.Data) + at*int64(c.stride) + int64(j*c.inner.Data)
		}
	}
}

// moveFolded gathers so many turns, many as one tuple. data and out are the first
// turn's elements.
func (u *state) moveFolded(data, out, turns int) {
	c := &u.program.choice.columns
	src, dst := u.src.Buf[data*c.width:(u.src.Offset+c.reach)*c.width], u.dst.Buf
	g := kernel.Columns{
		Values: kernel.Values{Bytes: kernel.Bytes(u.folded), Width: 8}, Stride: 1,
		To: c.fold * c.wide * c.width, Data: c.fold * c.around.Data * c.width,
	}
	for i := 0; i < turns && !u.stopped(); {
		n := min(c.fold, turns-i)
		g.Wide, g.At = n*c.wide, (out+i*c.wide)*c.width
		g.Tuples = min(max(1, columnsBytes/g.To), (turns-i)/n)
		g.Dim = (n-1)*c.around.Data + (c.rows-1)*c.stride + (c.wide-1)*c.inner.Data + 1
		if kernel.Gather(dst, src[i*c.around.Data*c.width:], c.width, g) != g.Tuples {
			panic("exec: positions of turns outside their turns")
		}
		i += n * g.Tuples
	}
}

// copyStrip copies a strip of data into the worker's buffer; nil if the run was
// stopped.
func (u *state) copyStrip(w *worker, data, wide int) []byte {
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

// moveTuple resolves and moves one tuple, whose indices begin at element index
// and whose result begins at element out. It returns false if the run fails.
func (u *state) moveTuple(w *worker, src []byte, g kernel.Columns, index, out int) bool {
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
