package exec

import "github.com/garner-go/garner/internal/kernel"

// A Program is a nest with the way that was chosen to move it. It is immutable
// once it was chosen, and any number of Runners run it at a time.
type Program struct {
	nest     Nest
	resolver Resolver
	choice   choice
	threads  int
	straight []int64 // offsets of data from end to end, in bytes, that a linear way prefetches
	elements int64   // of the result
}

// NewProgram chooses how n runs on so many cores. It keeps n's slices.
func NewProgram(n Nest, t *Tuning, threads int) *Program {
	p := new(Program)
	p.nest = n
	p.Choose(t, threads)
	return p
}

// Axes is the memory of the axes that SetLoops was given last, for the next call.
func (p *Program) Axes() []Axis { return p.nest.Axes[:0] }

// SetLoops makes p the program of another nest of loops, around rows of slice
// elements, over operands as of has them: with of's bits, policies and fill. idle
// says that the indices have no element. It keeps axes. It allocates nothing
// where p had as many loops and axes before.
func (p *Program) SetLoops(of *Nest, axes []Axis, loops []Loop, slice int, idle bool, t *Tuning, threads int) {
	n := &p.nest
	n.Bits, n.Width, n.Policy, n.Fill, n.Str, n.Reach = of.Bits, of.Width, of.Policy, of.Fill, of.Str, of.Reach
	n.Axes, n.Idle = axes, idle
	n.Walk(loops, slice)
	p.Choose(t, threads)
}

// Choose finds the way to run the nest, which must be filled in, on so many
// cores. It allocates nothing where the nest had as many loops and axes before
// and prefetches no longer stretch. No run of p may be under way.
func (p *Program) Choose(t *Tuning, threads int) {
	n := &p.nest
	p.threads = threads
	p.choice = choose(n, t, threads)
	p.resolver.set(n, n.Index)
	if p.choice.way.columnar() && p.choice.columns.shared {
		p.resolver.positions()
	}
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

// SetKnown makes p the program that RunKnown runs: n rows of slice elements,
// each of so many bits, which go side by side into the result. data has reach
// bytes; fill is as in a Nest. It allocates nothing the second time.
func (p *Program) SetKnown(n, slice, bits, reach int, fill []byte, t *Tuning, threads int) {
	loop := [...]Loop{{Extent: n, Out: slice}}
	p.nest.Bits, p.nest.Reach, p.nest.Fill, p.nest.Axes = bits, reach, fill, nil
	p.nest.Walk(loop[:], slice)
	if n == 1 { // Walk dropped the loop
		p.nest.Index = append(p.nest.Index, loop[0])
	}
	p.Choose(t, threads)
	p.choice.shared = true
}

// Chosen says how a program runs: what was chosen for its sizes, widths and
// strides. It is information.
type Chosen struct {
	Way     Way
	Kernel  string // the form of the kernels: AVX512VBMI, AVX512, AVX2, AMD64 or Generic
	Size    int    // bytes that are moved for one row; bits of packed types, strings of strings
	Ahead   int    // prefetch distance in rows; 0: none
	Stretch bool   // data is prefetched end to end instead of row by row
	Stream  bool   // stores are non-temporal
	Shared  bool   // the rows of all tuples are resolved before anything moves
	Threads int    // cores that take part
}

// Chosen is how p runs.
func (p *Program) Chosen() Chosen {
	l := &p.choice
	c := Chosen{
		Way: l.way, Kernel: kernel.Form(), Size: p.nest.Slice * p.nest.elem(),
		Ahead: l.ahead, Stretch: l.way.linear(), Stream: l.stream, Shared: l.shared, Threads: p.threads,
	}
	if l.alone {
		c.Threads = 1
	}
	switch l.way {
	case Strings, Bits:
		c.Kernel = "Generic"
	case Strips:
		c.Stream = l.columns.stream
	case Columns:
		c.Stretch, c.Stream = l.ahead > 0, false
	}
	return c
}

// Reread is how many bytes of data a run reads again each time that it is cut
// into several runs of fewer tuples; 0 where a cut costs nothing.
func (p *Program) Reread() int {
	if p.choice.way != Strips {
		return 0
	}
	return p.nest.Reach
}
