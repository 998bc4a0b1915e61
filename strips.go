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
}

// stripsAhead is how many tuples before its turn one's indices and place are
// asked for.
const stripsAhead = 8

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
	switch {
	case s.inner.Data != 1 || s.inner.Index != 1 || s.inner.Out != 1 || s.around.Data != 0 || len(p.Axes[0].Parts) > 0:
		return nil // other columns, or other rows
	case s.wide < 2 || s.inner.Extent < 2*s.wide || span(p)*s.width <= t.nearBytes:
		return nil // narrow, or near as they are
	case s.around.Extent < s.rows/16 || s.bytes() > 16*t.unitBytes:
		return nil // few of the rows are read, or too many for the buffer to be near
	}
	return s
}

// bytes is the size of the buffer.
func (s *strips) bytes() int { return s.rows * s.wide * s.width }

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

	values, wv := p.at.buf, r.width.Bits/8
	axis := [1]kernel.Component{{Dim: int64(s.rows), Stride: int64(size)}}
	rows := w.rows[:min(wide, len(w.rows))]
	for i := range s.around.Extent {
		if i%64 == 0 && (p.stop.Load() || p.ctx.Err() != nil) {
			p.stop.Store(true)
			return
		}
		// Neither the indices nor the result of the next tuples lie in order.
		if i+stripsAhead < s.around.Extent {
			at := (index + (i+stripsAhead)*s.around.Index) * wv
			kernel.Prefetch(values[at : at+wide*wv])
			at = (out + (i+stripsAhead)*s.around.Out) * s.width
			kernel.Prefetch(p.dst.buf[at : at+size])
		}
		if r.policy.Outside == kernel.Error && s.width <= 8 {
			v := kernel.Values{Bytes: values[(index+i*s.around.Index)*wv:], Width: wv, Dim: s.rows, FromEnd: r.policy.FromEnd}
			if kernel.Strip(p.dst.buf[(out+i*s.around.Out)*s.width:], w.strip, wide, s.width, wide, v) < wide {
				p.refuse.Store(true)
				p.stop.Store(true)
				return
			}
			continue
		}
		// A strip is narrower than a worker's rows but where those are few.
		for from := 0; from < wide; from += len(rows) {
			run := rows[:min(len(rows), wide-from)]
			outside := kernel.Tuples(run, values[(index+i*s.around.Index+from)*wv:], wv, int64(from*s.width), int64(s.width), axis[:], r.policy.FromEnd)
			if r.refused(outside) {
				p.refuse.Store(true)
				p.stop.Store(true)
				return
			}
			m := kernel.Move{At: (out + i*s.around.Out + from) * s.width, Step: s.width, Size: s.width, Elem: s.width, Filled: outside > 0}
			kernel.Rows(p.dst.buf, w.strip, run, m, p.fill)
		}
	}
}
