package exec

import "github.com/garner-go/garner/internal/kernel"

// A Program is a nest with the way chosen to move it. Between calls of Choose
// it is immutable, and any number of Runners can run it at a time.
type Program struct {
	nest     Nest
	resolver Resolver
	choice   choice
	cut      []Loop  // memory of the choice's loops
	cores    int     // goroutines that find a unit in some phase
	straight []int64 // offsets in data, in bytes, that a linear way prefetches in sequence
	elements int64   // of the result
}

// NewProgram chooses how n runs on this many cores. It keeps n's slices.
func NewProgram(n Nest, t *Tuning, threads int) *Program {
	p := new(Program)
	p.nest = n
	p.Choose(t, threads)
	return p
}

// SetDecoder replaces the Decoder of a program that has one, for operands that lie
// otherwise. The elements that it makes are the same.
func (p *Program) SetDecoder(d Decoder) { p.nest.Decoder = d }

// Axes returns the memory of p's axes, empty, for the next call of SetLoops.
func (p *Program) Axes() []Axis { return p.nest.Axes[:0] }

// SetLoops makes p the program of another nest of loops, around rows of slice
// elements, with of's element size, policies and fill. idle says that the
// indices have no element. SetLoops keeps axes. It allocates nothing if p has
// held as many loops and axes before.
func (p *Program) SetLoops(of *Nest, axes []Axis, loops []Loop, slice int, idle bool, t *Tuning, threads int) {
	n := &p.nest
	n.Bits, n.Width, n.Policy, n.Fill, n.Str, n.Reach, n.Decoder = of.Bits, of.Width, of.Policy, of.Fill, of.Str, of.Reach, of.Decoder
	n.Axes, n.Idle, n.Known = axes, idle, false
	n.Walk(loops, slice)
	p.Choose(t, threads)
}

// Choose chooses how the nest, which must be filled in, runs on this many
// cores. It allocates nothing if p has held as many loops and axes, and as long
// a prefetch sequence, before. No run of p may be in progress.
func (p *Program) Choose(t *Tuning, threads int) {
	n := &p.nest
	p.choice = choose(n, t, threads, p.cut)
	if len(p.choice.index) > len(n.Index) {
		p.cut = p.choice.index
	}
	p.resolver.set(n, p.choice.index)
	if p.choice.way.columnar() && p.choice.columns.shared {
		p.resolver.positions()
	}
	p.cores = min(threads, p.choice.most())
	p.elements = 0
	if !n.Empty {
		p.elements = int64(turns(n.Index)) * int64(turns(n.Free)) * int64(n.Slice)
	}
	p.straight = p.straight[:0]
	if p.choice.byRows.linear() {
		count := p.choice.tile
		if p.choice.byRows.turning() {
			count = p.resolver.total
		}
		for j := range count {
			p.straight = append(p.straight, int64(j*p.choice.stretch/count))
		}
	}
}

// SetKnown makes p a program for RunKnown: n rows of slice elements, each of
// the given bits, side by side in the result. reach is the size of data in
// bytes; fill is as in a Nest. A repeated call allocates nothing.
func (p *Program) SetKnown(n, slice, bits, reach int, fill []byte, t *Tuning, threads int) {
	loop := [...]Loop{{Extent: n, Out: slice}}
	p.nest.Bits, p.nest.Reach, p.nest.Fill, p.nest.Axes, p.nest.Known = bits, reach, fill, nil, true
	p.nest.Walk(loop[:], slice)
	if n == 1 { // Walk dropped the loop
		p.nest.Index = append(p.nest.Index, loop[0])
	}
	p.Choose(t, threads)
}

// Chosen describes how a program runs: the choices made for its sizes, widths
// and strides. No result depends on it.
type Chosen struct {
	Way     Way
	Kernel  string // the form of the kernels: AVX512VBMI, AVX512, AVX2, AMD64 or Generic; "" of Decoded and Reduced, whose kernels differ by kind
	Size    int    // size of one row in bytes; in bits for packed types, in strings for strings
	Ahead   int    // prefetch distance in rows; 0: none
	Stretch bool   // data is prefetched sequentially instead of row by row
	Stream  bool   // stores are non-temporal
	Shared  bool   // the rows of all tuples are resolved before any row moves
	Threads int    // number of cores used
}

// Chosen returns how p runs.
func (p *Program) Chosen() Chosen {
	l := &p.choice
	c := Chosen{
		Way: l.way, Kernel: kernel.Form(), Size: p.nest.Slice * p.nest.elem(),
		Ahead: l.ahead, Stretch: l.way.linear(), Stream: l.stream, Shared: l.shared, Threads: p.cores,
	}
	switch l.way {
	case Strings, Bits:
		c.Kernel = "Generic"
	case Decoded:
		c.Kernel = ""
	case Strips:
		c.Stream = l.columns.stream
	case Columns:
		c.Stretch, c.Stream = l.ahead > 0, false
	}
	return c
}

// Reread returns how many bytes of data each further run reads again if a run
// is split into runs of fewer tuples; 0 if splitting costs nothing.
func (p *Program) Reread() int {
	if p.choice.way != Strips {
		return 0
	}
	return p.nest.Reach
}
