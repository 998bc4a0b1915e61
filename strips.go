package garner

import "github.com/garner-go/garner/internal/kernel"

// strips visits data that is gathered along an axis that is not its last, one
// element per index, as GatherElements does: neighbours in the result come from
// rows that lie far apart, each from a line of its own. A strip of columns is
// copied into a buffer that stays near, row by row, and gathered from there.
type strips struct {
	outer  []Loop // the nest around
	around Loop   // the tuple loop: data stands still
	inner  Loop   // the columns: everything moves by one
	rows   int    // of data, as many as the axis has
	stride int    // from one to the next, in elements
	wide   int    // columns of a strip
	width  int    // bytes of an element
	stream bool   // so much data passes by that the result does not stay near: it is written past the caches
}

// stripsAhead is how many tuples before its turn one's indices and place are
// asked for.
const stripsAhead = 8

// narrowest is how many bytes of a row a strip takes at least, if it is not to
// have them all: two lines.
const narrowest = 128

// stripsTuples is how many tuples are gathered before the context is looked at.
const stripsTuples = 64

// newStrips is nil where the plan has no such columns, or where most rows of
// data would be copied in vain.
func newStrips(p *Plan, n *normal, t tuning) *strips {
	last := len(n.index) - 1
	if last < 1 || n.empty || n.slice != 1 || len(n.free) > 0 || len(p.Axes) != 1 || p.DType.Bits() < 8 {
		return nil
	}
	s := &strips{
		outer: n.index[:last-1], around: n.index[last-1], inner: n.index[last],
		rows: p.Axes[0].Dim, stride: p.Axes[0].Data, width: p.DType.Bits() / 8,
	}
	s.wide = t.stripBytes / s.width
	room := 16 * t.unitBytes // that stays near
	for s.rows*s.wide*s.width > room && s.wide*s.width > narrowest {
		s.wide /= 2
	}
	switch {
	case s.inner.Data != 1 || s.inner.Index != 1 || s.inner.Out != 1 || s.around.Data != 0 || len(p.Axes[0].Parts) > 0:
		return nil // other columns, or other rows
	case s.wide < 2 || s.inner.Extent < 2*s.wide || span(p)*s.width <= t.nearBytes:
		return nil // narrow, or near as they are
	case s.around.Extent < s.rows/16 || s.rows*s.wide*s.width > room:
		return nil // few of the rows are read, or too many for the buffer to be near
	}
	s.stream = span(p)*s.width >= t.streamBytes
	return s
}

// bytes is the size of the buffer.
func (s *strips) bytes() int { return s.rows*s.wide*s.width + kernel.StripPad }

// per is how many strips the columns make.
func (s *strips) per() int { return (s.inner.Extent + s.wide - 1) / s.wide }

// units is how many strips there are in all.
func (s *strips) units() int { return turns(s.outer) * s.per() }

// moveStrip copies one strip of data into the worker's buffer and gathers from
// it.
func (p *Prepared) moveStrip(w *worker, unit int) {
	s, r := p.strips, &p.resolver
	column := unit % s.per() * s.wide
	wide := min(s.wide, s.inner.Extent-column)
	data, index, out := p.src.offset+column, p.at.offset+column, p.dst.offset+column
	for i, rest := len(s.outer)-1, unit/s.per(); i >= 0; i-- {
		c := rest % s.outer[i].Extent
		rest /= s.outer[i].Extent
		data += c * s.outer[i].Data
		index += c * s.outer[i].Index
		out += c * s.outer[i].Out
	}

	size := wide * s.width
	for first := 0; first < s.rows; {
		if p.stop.Load() || p.ctx.Err() != nil {
			p.stop.Store(true)
			return
		}
		n := min(len(w.rows), s.rows-first)
		rows := w.rows[:n]
		kernel.Start(rows, int64((data+first*s.stride)*s.width), int64(s.stride*s.width))
		ahead := kernel.Ahead{Rows: rows[min(16, n):]}
		kernel.Rows(w.strip, p.src.buf, rows, kernel.Move{At: first * size, Step: size, Size: size, Elem: s.width, Ahead: ahead}, nil)
		first += n
	}

	width := r.width.Bits / 8
	c := kernel.Columns{
		Values: kernel.Values{Bytes: p.at.buf, Width: width, Dim: s.rows, FromEnd: r.policy.FromEnd, Ahead: stripsAhead, Stream: s.stream},
		From:   s.around.Index * width, To: s.around.Out * s.width, Wide: wide, Stride: wide,
	}
	for i := 0; i < s.around.Extent; {
		if p.stop.Load() || p.ctx.Err() != nil {
			p.stop.Store(true)
			return
		}
		c.First, c.At = index*width+i*c.From, out*s.width+i*c.To
		c.Tuples = min(stripsTuples, s.around.Extent-i)
		moved := 0
		if s.width <= 8 {
			moved = kernel.Strip(p.dst.buf, w.strip, s.width, c)
		}
		if i += moved; moved == c.Tuples {
			continue
		}
		// The next tuple has an index outside, or elements that are too wide.
		if !p.moveStripTuple(w, c, index+i*s.around.Index, out+i*s.around.Out) {
			return
		}
		i++
	}
}

// moveStripTuple resolves and moves one tuple of a strip, whose indices and
// place begin at element index and out; it reports false where the run fails.
func (p *Prepared) moveStripTuple(w *worker, c kernel.Columns, index, out int) bool {
	s, r := p.strips, &p.resolver
	rows, values := w.rows[:min(c.Wide, len(w.rows))], w.values[:min(c.Wide, len(w.rows))]
	// A strip is narrower than a worker's rows but where those are few.
	for from := 0; from < c.Wide; from += len(rows) {
		n := min(len(rows), c.Wide-from)
		run := rows[:n]
		kernel.Start(run, int64(from*s.width), int64(s.width))
		kernel.Load(values[:n], p.at.buf, index+from, 1, r.width, int64(s.rows))
		outside := kernel.Resolve(run, values[:n], int64(s.rows), int64(c.Stride*s.width), r.policy)
		if r.refused(outside) {
			p.refuse.Store(true)
			p.stop.Store(true)
			return false
		}
		if outside > 0 {
			kernel.Finish(run)
		}
		m := kernel.Move{At: (out + from) * s.width, Step: s.width, Size: s.width, Elem: s.width, Filled: outside > 0}
		kernel.Rows(p.dst.buf, w.strip, run, m, p.fill)
	}
	return true
}
