package garner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/garner-go/garner/internal/exec"
	"github.com/garner-go/garner/internal/kernel"
)

// A Regime describes how a Prepared runs on this machine: the choices made for
// its sizes, dtypes and strides. No result depends on it.
type Regime struct {
	Kernel    string // the form of the kernels: AVX512VBMI, AVX512, AVX2, AMD64 or Generic; "" where rows are decoded or reduced, each kind by kernels of its own
	Way       string // the way that rows are moved: near, ahead, direct, columns, strips and others, as docs/kernels.md lists them
	SliceSize int    // size of one row in bytes; in bits for packed types, in strings for strings
	Ahead     int    // prefetch distance in rows; 0: none. Kernels that decode many rows in a call have one of their own
	Straight  bool   // data is prefetched sequentially instead of row by row
	Stream    bool   // stores to the result are non-temporal
	Shared    bool   // the rows of all tuples are resolved before any row moves
	Threads   int    // number of cores used
}

// Regime returns how p runs operands of the strides that it was prepared for.
// For a Prepared that serves batches, it describes the shortest batch that has
// an index, with further operands as long as that needs. It lowers that batch, which
// allocates.
func (p *Prepared) Regime() Regime {
	f := p.fixed
	if f == nil {
		if f = p.shortest(); f == nil {
			return Regime{Kernel: kernel.Form(), Way: exec.Nothing.String(), Threads: 1}
		}
	}
	c := f.Chosen()
	if f.bags != nil {
		c = f.bags.Chosen()
	}
	return Regime{
		Kernel: c.Kernel, Way: c.Way.String(), SliceSize: c.Size, Ahead: c.Ahead,
		Straight: c.Stretch, Stream: c.Stream, Shared: c.Shared, Threads: c.Threads,
	}
}

// shortest returns the program of the shortest batch that has an index; nil if
// there is none.
func (p *Prepared) shortest() *program {
	if p.lowered == nil {
		return nil // the zero Prepared
	}
	dims := slices.Clone(p.indices.Dims)
	for _, l := range p.lowered.nest {
		if l.indexAxis > 0 {
			dims[l.indexAxis-1] = l.extent
		}
	}
	for i, d := range dims {
		dims[i] = Exactly(min(max(d.Min, 1), d.Max))
	}
	further := slices.Clone(p.further)
	for i := range further {
		further[i].Dims = p.shortestOf(i, dims)
	}
	data := p.data
	if p.blocks != nil {
		data = p.elements
	}
	plan, err := NewPlan(p.op, data, SpecOfDims(p.indices.DType, dims...), further...)
	if err != nil {
		return nil
	}
	plan.Stored = p.lowered.stored
	if plan.Bag == nil {
		return &program{Program: *exec.NewProgram(plan.Nest(p.nest.Reach), &p.tuning, p.threads)}
	}
	f := &program{walked: slices.Clone(plan.Loops)}
	p.setBags(f, plan.Nest(p.nest.Reach).Axes, placed(further))
	return f
}

// shortestOf returns the dims of a further operand for the shortest batch, whose indices
// have these dims.
func (p *Prepared) shortestOf(operand int, indices []Dim) []Dim {
	dims := slices.Clone(p.further[operand].Dims)
	for i, d := range dims {
		least := 1
		if b := p.lowered.bag; b != nil {
			ends := PositionAt(operand) == b.EndsAt
			switch {
			case PositionAt(operand) == b.WeightsAt && i < len(indices), ends && b.Ends == Segments && i == 0:
				least = indices[i].Min
			case ends && (b.Ends == Bounds || b.Column):
				least = 2 // one bag has two bounds; a row of a matrix has the bag and a place in it
			}
		}
		dims[i] = Exactly(min(max(d.Min, least), d.Max))
	}
	return dims
}

// String returns the regime as a short phrase.
func (r Regime) String() string {
	unit := "byte"
	switch r.Way {
	case exec.Bits.String():
		unit = "bit"
	case exec.Strings.String():
		unit = "string"
	}
	size := fmt.Sprintf("%d %ss", r.SliceSize, unit)
	if r.SliceSize == 1 {
		size = "1 " + unit
	}
	what := "rows of " + size
	switch way := r.Way; {
	case way == exec.Strings.String(), way == exec.Bits.String():
		what = way + " of " + size
	case strings.HasPrefix(way, exec.Direct.String()):
		what += ", straight from the indices"
	case way == exec.Reduced.String():
		what += ", reduced into bags"
	case way == exec.Decoded.String():
		what += ", each decoded"
	case way == exec.Columns.String():
		what = "columns of " + size + ", straight from the indices, row after row"
	case way == exec.Strips.String():
		what = "elements of " + size + ", in strips of columns through a buffer"
	}
	words := []string{what, "way " + r.Way}
	if r.Kernel != "" {
		words = append(words, r.Kernel)
	}
	if r.Shared {
		words = append(words, "rows resolved once")
	}
	switch {
	case r.Ahead == 0 && r.Way == exec.Decoded.String(): // far, where rows are short
	case r.Ahead == 0:
		words = append(words, "data near")
	case r.Straight:
		words = append(words, "data prefetched end to end")
	case r.Way != exec.Strips.String():
		words = append(words, fmt.Sprintf("prefetched %d rows ahead", r.Ahead))
	}
	if r.Stream {
		words = append(words, "non-temporal stores")
	}
	if r.Threads == 1 {
		words = append(words, "one core")
	} else {
		words = append(words, fmt.Sprintf("%d cores", r.Threads))
	}
	return strings.Join(words, " · ")
}
