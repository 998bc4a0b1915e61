// Package exec runs gathers in memory. It takes a nest of loops and the memory
// that they walk, resolves index values to rows, chooses one way to move the
// rows and moves them on all cores.
//
// It stands below package garner and knows bytes, strides and numbers: no
// operator, no tensor, no dtype and no error text. A run that fails returns an
// [Outcome], which the caller puts into words.
package exec

import (
	"math"
	"math/bits"

	"github.com/garner-go/garner/internal/kernel"
)

// A Loop walks one dimension of the result. Strides are in elements.
type Loop struct {
	Extent int // turns
	Data   int // stride in data
	Index  int // stride in the indices
	Out    int // stride in the result
}

// An Axis is a gathered axis of data. One component of every index tuple
// addresses it.
type Axis struct {
	Dim   int // number of positions: a component addresses 0 … Dim-1
	Data  int // stride in data, in elements
	Index int // from a tuple's first component to this one, in elements

	// Parts decompose a position of data that is read as a vector but has no
	// single stride, outermost first. Data is then 1.
	Parts []Part
}

// A Part is one dim of data that is read as a vector.
type Part struct {
	Extent int
	Data   int // stride, in elements
}

// Offset returns the distance of a position of the axis from data's first
// element, in elements.
func (a *Axis) Offset(at int) int {
	if len(a.Parts) == 0 {
		return at * a.Data
	}
	offset := 0
	for i := len(a.Parts) - 1; i >= 0; i-- {
		offset += at % a.Parts[i].Extent * a.Parts[i].Data
		at /= a.Parts[i].Extent
	}
	return offset
}

// Memory is the memory that an operand views. A tensor holds a Memory and
// passes its address: passing it by value costs a run of a few rows 10 ns.
type Memory struct {
	Buf      []byte
	Strs     []string // instead of Buf, for strings
	Offset   int      // of the first element, in elements
	Volatile bool     // it can vanish while it is read, as a mapped file that is truncated
}

// A Nest is one gather, freed of its operator and its dtypes:
//
//	for every position c of Index and Free, outermost first:
//	    i_j = indices[c·Index + Axes[j].Index]      for each gathered axis j
//	    row = c·Data + Σ_j i_j·Axes[j].Data
//	    out[c·Out : c·Out+Slice] = data[row : row+Slice]
//
// Index holds the loops that move the indices, Free those that do not, each
// outermost first. Without Axes every turn is a row, and Index holds all loops.
type Nest struct {
	Index []Loop
	Free  []Loop
	Axes  []Axis
	Slice int  // elements per row, contiguous in data and in the result
	Empty bool // the result has no element
	Idle  bool // the indices have no element, so no index is resolved
	Known bool // the rows are given instead of resolved: see RunKnown

	Bits   int          // of an element; 0 for strings
	Width  kernel.Width // of an index value
	Policy kernel.Policy
	Fill   []byte // one element, a packed one in the low bits; nil: zeros
	Str    string // the fill of strings
	Reach  int    // approximate size of data in bytes, as stored

	Decoder Decoder // makes the elements of data, of 8 bits or more; nil: data has them as they are

	loops []Loop // holds Free, then Index
}

// Walk sets Index, Free, Slice and Empty from loops, outermost first, around
// rows of slice elements. It drops loops of one turn, joins neighbouring loops
// that equal one loop, and merges loops over contiguous elements that leave the
// indices alone into the slice. The rows stay the same. Axes must be set. Walk
// allocates nothing if the Nest has held as many loops before.
func (n *Nest) Walk(loops []Loop, slice int) {
	n.Slice, n.Empty = slice, slice == 0
	if need := len(loops) + 1; cap(n.loops) < need {
		n.loops = make([]Loop, need)
	}
	all := n.loops[:0]
	for _, l := range loops {
		n.Empty = n.Empty || l.Extent == 0
		if l.Extent != 1 && !n.moves(l) {
			all = append(all, l)
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		if l := all[i]; l.Data == n.Slice && l.Out == n.Slice {
			n.Slice *= l.Extent
			all = append(all[:i], all[i+1:]...)
			i = len(all) // another loop may fit the longer slice
		}
	}
	free := len(Join(all))
	all = all[:free]
	for _, l := range loops {
		if l.Extent != 1 && n.moves(l) {
			all = append(all, l)
		}
	}
	all = all[:free+len(Join(all[free:]))]
	n.Free, n.Index = all[:free:free], all[free:]
	if len(n.Axes) == 0 {
		n.Free, n.Index = nil, all
	}
}

// moves reports whether a loop moves the indices.
func (n *Nest) moves(l Loop) bool { return l.Index != 0 && len(n.Axes) > 0 }

// Join replaces neighbouring loops that equal one loop by that loop, in place.
func Join(loops []Loop) []Loop {
	joined := loops[:0]
	for _, in := range loops {
		if k := len(joined) - 1; k >= 0 {
			out := joined[k]
			if out.Data == in.Data*in.Extent && out.Index == in.Index*in.Extent && out.Out == in.Out*in.Extent {
				in.Extent *= out.Extent
				joined[k] = in
				continue
			}
		}
		joined = append(joined, in)
	}
	return joined
}

// elem returns the size of one element as rows count it: bytes; bits of packed types; 1 for strings.
func (n *Nest) elem() int {
	switch {
	case n.Bits >= 8:
		return n.Bits / 8
	case n.Bits > 0:
		return n.Bits
	}
	return 1
}

// span returns the extent of data that the gathered axes address, in elements.
func (n *Nest) span() int {
	span := 1
	for i := range n.Axes {
		a := &n.Axes[i]
		span += max(a.Dim-1, 0) * max(a.Data, -a.Data)
	}
	return span
}

// turns returns the number of turns of a nest of loops.
func turns(loops []Loop) int {
	n := 1
	for i := range loops {
		n *= loops[i].Extent
	}
	return n
}

// MaxLoops is the greatest number of loops of a nest that are walked: each has
// two turns or more, and an int counts the turns of all of them.
const MaxLoops = 64

// walk visits the positions first … first+n-1 of a nest of loops in runs of its
// innermost loop. visit receives the run's start among the n positions, its
// length, and the offsets of its first position in the result, in data and in
// the indices.
func walk(loops []Loop, first, n int, visit func(at, n, out, data, index int, inner Loop)) {
	if len(loops) == 0 {
		visit(0, n, 0, 0, 0, Loop{Extent: 1})
		return
	}
	var c [MaxLoops]int
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
		// The innermost loop has ended, unless this run is the last: step the outer loops.
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

// dataAt returns the offset in data of the i-th position of a nest.
func dataAt(loops []Loop, i int) (data int) {
	for k := len(loops) - 1; k >= 0; k-- {
		data += i % loops[k].Extent * loops[k].Data
		i /= loops[k].Extent
	}
	return data
}

// product multiplies positive factors. It returns math.MaxInt on overflow.
func product(factors ...int) int {
	n := uint(1)
	for _, f := range factors {
		high, low := bits.Mul(n, uint(f))
		if high > 0 || low > math.MaxInt {
			return math.MaxInt
		}
		n = low
	}
	return int(n)
}
