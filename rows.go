package garner

import (
	"context"
	"math"
	"slices"

	"github.com/garner-go/garner/internal/kernel"
)

// resolver turns index values into rows: the only door through which an index
// is looked at, with every bit that it has (R.3). It belongs to one plan and is immutable.
type resolver struct {
	loops  []Loop // that move the indices, normalised; Data in units
	total  int    // how many tuples there are: the turns of loops
	axes   []Axis // Data in units
	unit   int    // what rows count, per element: bytes, bits of packed types, strings
	width  kernel.Width
	policy kernel.Policy

	// Where the tuples lie one after the other in integers of 4 or 8 bytes,
	// whole tuples are resolved at once; those that are to be moved back onto
	// their axis are then looked at again.
	tuples     bool
	single     bool // tuples of one, which are resolved at once too when they are loaded
	components []kernel.Component
	position   bool // tuples resolve to positions on their one axis, not to rows
}

func newResolver(p *Plan, loops []Loop) resolver {
	r := resolver{loops: slices.Clone(loops), total: turns(loops), axes: slices.Clone(p.Axes), unit: 1}
	switch bits := p.DType.Bits(); {
	case bits >= 8:
		r.unit = bits / 8
	case bits > 0:
		r.unit = bits
	}
	for i := range r.loops {
		r.loops[i].Data *= r.unit
	}
	r.width = kernel.Width{Bits: p.IndexType.Bits(), Unsigned: p.IndexType.IsUnsigned()}
	r.policy.FromEnd = p.Negative == FromEnd
	switch p.outside() {
	case Zero, Fill:
		r.policy.Outside = kernel.Fill
	case Clamp:
		r.policy.Outside = kernel.Clamp
	case Wrap:
		r.policy.Outside = kernel.Wrap
	}
	k := len(r.axes)
	r.tuples = 0 < k && k <= kernel.MaxTuple && len(r.loops) > 0 && r.loops[len(r.loops)-1].Index == k && p.plain()
	r.policy.FromEnd = r.policy.FromEnd && !r.width.Unsigned
	r.single = k == 1 && len(r.axes[0].Parts) == 0
	for i := range r.axes {
		axis := &r.axes[i]
		axis.Data *= r.unit
		r.components = append(r.components, kernel.Component{Dim: int64(axis.Dim), Stride: int64(axis.Data)})
		r.tuples = r.tuples && axis.Index == i && len(axis.Parts) == 0
	}
	return r
}

// plain reports whether index values can be read as signed integers of 4 or 8
// bytes where none is outside: an unsigned one that is below zero as such is
// beyond every axis too.
func (p *Plan) plain() bool {
	for _, axis := range p.Axes {
		if p.IndexType == U32 && axis.Dim > math.MaxInt32 {
			return false
		}
	}
	return p.IndexType.Bits() >= 32
}

// positions makes the one component of every tuple resolve to its position
// instead of to a row.
func (r *resolver) positions() {
	r.axes[0].Data, r.components[0].Stride, r.loops[0].Data = 1, 1, 0
	r.position = true
}

// outside is what the plan does with an index outside: an operator that would
// write zeros has none to write where the dtype has no zero.
func (p *Plan) outside() Outside {
	if p.Outside == Zero && !p.DType.HasZero() { // R.11
		return Error
	}
	return p.Outside
}

// prefetchBytes is from how many bytes of indices on those that follow are
// asked for: a tile, not a run that is over before they come.
const prefetchBytes = 2048

// rows resolves the tuples first … first+len(rows)-1, in the order of the
// loops, to where their slices begin in data, in units; -1 is the plan's fill.
// values is scratch of the same length. base is data's offset, in units, and
// origin that of the indices, in elements. It returns how many tuples are
// outside: they are filled, or the run fails.
func (r *resolver) rows(rows, values []int64, indices []byte, base, origin, first int) (outside int) {
	w := r.width.Bits / 8
	aligned := r.tuples && kernel.Aligned(indices, w)
	single := r.single && !aligned
	if aligned && len(r.loops) == 1 {
		l := &r.loops[0]
		at, size := (origin+first*l.Index)*w, len(rows)*l.Index*w
		piece := len(rows)
		if size > prefetchBytes {
			piece = max(8, kernel.BurstLines*64/(l.Index*w)&^7)
		}
		for from := 0; from < len(rows); from += piece {
			n, here := min(piece, len(rows)-from), at+from*l.Index*w
			if size > prefetchBytes {
				// The tuples that come next; the hardware does not see early
				// enough that they come in order.
				after := here + size
				kernel.Prefetch(indices[min(after, len(indices)):min(after+n*l.Index*w, len(indices))])
			}
			outside += kernel.Tuples(rows[from:from+n], indices[here:], w, int64(base+(first+from)*l.Data), int64(l.Data), r.components, r.policy.FromEnd)
		}
		if outside == 0 || r.policy.Outside <= kernel.Fill {
			return outside
		}
		outside, aligned = 0, false // some are to be moved back, one component at a time
	}
	walk(r.loops, first, len(rows), func(at, n, _, data, index int, inner Loop) {
		run := rows[at : at+n]
		if aligned {
			o := kernel.Tuples(run, indices[(origin+index)*w:], w, int64(base+data), int64(inner.Data), r.components, r.policy.FromEnd)
			if o == 0 || r.policy.Outside <= kernel.Fill {
				outside += o
				return
			}
		}
		if single {
			v := values[at : at+n]
			kernel.Load(v, indices, origin+index+r.axes[0].Index, inner.Index, r.width, int64(r.axes[0].Dim))
			o := kernel.TuplesOf(run, v, int64(base+data), int64(inner.Data), r.components, r.policy.FromEnd)
			if o == 0 || r.policy.Outside <= kernel.Fill {
				outside += o
				return
			}
		}
		kernel.Start(run, int64(base+data), int64(inner.Data))
		for _, axis := range r.axes {
			v := values[at : at+n]
			kernel.Load(v, indices, origin+index+axis.Index, inner.Index, r.width, int64(axis.Dim))
			if len(axis.Parts) > 0 {
				outside += r.flat(run, v, axis)
				continue
			}
			outside += kernel.Resolve(run, v, int64(axis.Dim), int64(axis.Data), r.policy)
		}
	})
	if outside > 0 {
		kernel.Finish(rows)
	}
	return outside
}

// refused reports whether tuples that rows found outside make the run fail.
func (r *resolver) refused(outside int) bool {
	return outside > 0 && r.policy.Outside != kernel.Fill
}

// flat adds the positions of data taken flat whose strides are not those of one
// axis. Rows that are refused or filled come out below zero, as kernel.Resolve
// leaves them.
func (r *resolver) flat(rows, values []int64, axis Axis) (outside int) {
	var positions [64]int64
	for len(rows) > 0 {
		n := min(len(rows), len(positions))
		at := positions[:n]
		kernel.Start(at, 0, 0)
		outside += kernel.Resolve(at, values[:n], int64(axis.Dim), 1, r.policy)
		for j, p := range at {
			if p < 0 {
				rows[j] = kernel.Filled
			} else {
				rows[j] += int64(axis.offset(int(p)) * r.unit)
			}
		}
		rows, values = rows[n:], values[n:]
	}
	return outside
}

// walk visits the positions first … first+n-1 of a nest of loops in runs of its
// innermost loop: visit gets where the run begins among the n, its length, the
// out stride's share, and the shares in data and in the indices.
func walk(loops []Loop, first, n int, visit func(at, n, out, data, index int, inner Loop)) {
	if len(loops) == 0 {
		visit(0, n, 0, 0, 0, Loop{Extent: 1})
		return
	}
	var c [2 * MaxRank]int // dims that are written as one are loops of their own
	rest := first
	for i := len(loops) - 1; i >= 0; i-- {
		c[i] = rest % loops[i].Extent
		rest /= loops[i].Extent
	}
	last := len(loops) - 1
	inner := loops[last]
	out, data, index := 0, 0, 0
	for i, l := range loops {
		out += c[i] * l.Out
		data += c[i] * l.Data
		index += c[i] * l.Index
	}
	for at := 0; at < n; {
		run := min(inner.Extent-c[last], n-at)
		visit(at, run, out, data, index, inner)
		at += run
		// Step the nest: the innermost loop is at its end unless all is done.
		c[last] += run
		out += run * inner.Out
		data += run * inner.Data
		index += run * inner.Index
		for i := last; i > 0 && c[i] == loops[i].Extent; i-- {
			out += loops[i-1].Out - c[i]*loops[i].Out
			data += loops[i-1].Data - c[i]*loops[i].Data
			index += loops[i-1].Index - c[i]*loops[i].Index
			c[i] = 0
			c[i-1]++
		}
	}
}

// check looks at every index in row-major order, the slow and obvious way: it
// is the definition of which indices are refused, and writes the error. It
// returns nil where none is.
func (p *Plan) check(ctx context.Context, indices Tensor) error {
	s, err := p.Survey(ctx, indices)
	if err != nil {
		return err
	}
	if s.First != nil {
		return s.First
	}
	return nil
}

// componentOf is which component of its tuple the i-th index is, in row-major
// order.
func (p *Plan) componentOf(i int) int {
	if p.component < 0 {
		return 0
	}
	for axis := len(p.Indices) - 1; axis > p.component; axis-- {
		i /= p.Indices[axis]
	}
	return i % p.Indices[p.component]
}

func (p *Plan) coordinates(i int) []int {
	c := make([]int, len(p.Indices))
	for axis := len(c) - 1; axis >= 0; axis-- {
		c[axis] = i % p.Indices[axis]
		i /= p.Indices[axis]
	}
	return c
}

// position is which of an axis's dim positions an index value means: the
// definition of the policies. It is -1 for the plan's fill; ok is false where
// the index is refused.
func (p *Plan) position(v Index, dim int) (at int, ok bool) {
	negative := !v.Unsigned && int64(v.Bits) < 0
	switch {
	case !negative && v.Bits < uint64(dim):
		return int(v.Bits), true
	case negative && p.Negative == FromEnd && -v.Bits <= uint64(dim): // R.9
		return int(int64(v.Bits) + int64(dim)), true
	}
	switch p.outside() {
	case Zero, Fill:
		return -1, true
	case Clamp: // R.13
		if dim > 0 { // R.15
			if negative {
				return 0, true
			}
			return dim - 1, true
		}
	case Wrap: // R.14
		if dim > 0 { // R.15
			if negative {
				// -v.Bits is how far below zero it lies; -1 wraps to dim-1.
				return (dim - int(-v.Bits%uint64(dim))) % dim, true
			}
			return int(v.Bits % uint64(dim)), true
		}
	}
	return 0, false // R.10
}

// index is the integer that stands at a position, in elements.
func (t *Tensor) index(at int) Index {
	var v [1]int64
	w := kernel.Width{Bits: t.dtype.Bits(), Unsigned: t.dtype.IsUnsigned()}
	if w.Bits == 64 && w.Unsigned {
		w.Unsigned = false // the bits as they stand
		kernel.Load(v[:], t.buf, at, 0, w, 0)
		return Index{Bits: uint64(v[0]), Unsigned: true}
	}
	kernel.Load(v[:], t.buf, at, 0, w, 0)
	return Index{Bits: uint64(v[0]), Unsigned: w.Unsigned}
}
