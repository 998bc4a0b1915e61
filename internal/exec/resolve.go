package exec

import (
	"math"

	"github.com/garner-go/garner/internal/kernel"
)

// A Resolver resolves index values to rows. No other code reads an index; it
// compares every bit of the value with the axis (R.3). It is immutable once
// NewResolver has returned.
//
// A row is an offset in data that counts bytes; for packed types it counts
// bits, for strings strings.
type Resolver struct {
	loops  []Loop // the loops that move the indices; Data counts as rows do
	total  int    // number of tuples
	axes   []Axis // Data counts as rows do
	elem   int    // size of one element as rows count it, see Nest.elem
	width  kernel.Width
	policy kernel.Policy

	// Kernels resolve whole tuples if the components lie side by side in
	// integers of 4 or 8 bytes. If a policy moves some of these back onto their
	// axis, all are resolved again, one component at a time.
	tuples     bool
	single     bool // tuples have one component: they resolve whole once their values are loaded
	components []kernel.Component
	position   bool // tuples resolve to positions on the one axis instead of rows
}

// NewResolver returns a resolver of n's tuples in the order of loops, which may
// differ from n's.
func NewResolver(n *Nest, loops []Loop) *Resolver {
	r := new(Resolver)
	r.set(n, loops)
	return r
}

// set makes r a resolver of n's tuples in the order of loops. It allocates
// nothing if r has held as many loops and axes before.
func (r *Resolver) set(n *Nest, loops []Loop) {
	*r = Resolver{
		loops: append(r.loops[:0], loops...), total: turns(loops), elem: n.elem(), width: n.Width, policy: n.Policy,
		axes: append(r.axes[:0], n.Axes...), components: r.components[:0],
	}
	for i := range r.loops {
		r.loops[i].Data *= r.elem
	}
	k := len(r.axes)
	r.tuples = 0 < k && k <= kernel.MaxTuple && len(r.loops) > 0 && r.loops[len(r.loops)-1].Index == k && n.plain()
	r.policy.FromEnd = r.policy.FromEnd && !r.width.Unsigned
	r.single = k == 1 && len(r.axes[0].Parts) == 0
	for i := range r.axes {
		axis := &r.axes[i]
		axis.Data *= r.elem
		r.components = append(r.components, kernel.Component{Dim: int64(axis.Dim), Stride: int64(axis.Data)})
		r.tuples = r.tuples && axis.Index == i && len(axis.Parts) == 0
	}
}

// plain reports whether index values can be read as signed integers of 4 or 8
// bytes: an unsigned value that reads as negative lies beyond every axis.
func (n *Nest) plain() bool {
	if n.Width.Unsigned && n.Width.Bits == 32 {
		for i := range n.Axes {
			if n.Axes[i].Dim > math.MaxInt32 {
				return false
			}
		}
	}
	return n.Width.Bits >= 32
}

// positions makes every tuple, which has one component, resolve to its position
// on the axis instead of a row.
func (r *Resolver) positions() {
	r.axes[0].Data, r.components[0].Stride, r.loops[0].Data = 1, 1, 0
	r.position = true
}

// prefetchBytes is the least size in bytes of a run of indices that prefetches
// the run after it. A shorter run ends before the lines arrive.
const prefetchBytes = 2048

// Elem returns the size of one element as rows count it: bytes; bits of packed types; 1 for strings.
func (r *Resolver) Elem() int { return r.elem }

// Rows resolves the tuples first … first+len(rows)-1, in the order of the
// loops, to the rows where their slices begin; -1 is the fill. values is
// scratch of the same length. base is data's offset, counted as rows are;
// origin is that of the indices in elements. Rows returns the number of tuples
// outside. Their rows are the fill; if Refused reports true, the run fails and
// rows are undefined.
func (r *Resolver) Rows(rows, values []int64, indices []byte, base, origin, first int) (outside int) {
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
				// The hardware prefetcher detects the sequence of tuples too late.
				after := here + size
				kernel.Prefetch(indices[min(after, len(indices)):min(after+n*l.Index*w, len(indices))])
			}
			outside += kernel.Tuples(rows[from:from+n], indices[here:], w, int64(base+(first+from)*l.Data), int64(l.Data), r.components, r.policy.FromEnd)
		}
		if outside == 0 || r.policy.Outside <= kernel.Fill {
			return outside
		}
		outside, aligned = 0, false // clamp and wrap apply to each component
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
		for i := range r.axes {
			axis := &r.axes[i]
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

// Refused reports whether a run fails because of this many tuples outside.
func (r *Resolver) Refused(outside int) bool {
	return outside > 0 && r.policy.Outside != kernel.Fill
}

// flat adds to rows the positions of data that is read as a vector but has no
// single stride. Refused and filled rows become negative, as in kernel.Resolve.
func (r *Resolver) flat(rows, values []int64, axis *Axis) (outside int) {
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
				rows[j] += int64(axis.Offset(int(p)) * r.elem)
			}
		}
		rows, values = rows[n:], values[n:]
	}
	return outside
}
