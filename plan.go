package garner

import (
	"slices"

	"github.com/garner-go/garner/internal/exec"
	"github.com/garner-go/garner/internal/kernel"
)

// Negative says what a negative index means.
type Negative uint8

const (
	Reject  Negative = iota // it is outside, as any other index that the axis does not have
	FromEnd                 // -1 is the last, -2 the one before
)

// String is "reject" or "from-end".
func (n Negative) String() string {
	if n == FromEnd {
		return "from-end"
	}
	return "reject"
}

// Outside says what an index means that its axis does not have.
type Outside uint8

const (
	Error Outside = iota // the call fails with an IndexError
	Zero                 // its row is all bits zero: 0, false, ""
	Fill                 // its row is a given value
	Clamp                // it means the nearest position that there is
	Wrap                 // it counts modulo the axis
)

var outsideNames = [...]string{Error: "error", Zero: "zero", Fill: "fill", Clamp: "clamp", Wrap: "wrap"}

// String is "error", "zero", "fill", "clamp" or "wrap".
func (o Outside) String() string {
	if int(o) < len(outsideNames) {
		return outsideNames[o]
	}
	return "?"
}

// A Loop walks one dimension of the output. A zero stride means that the
// operand does not move along it, so the zeros alone tell the kinds apart:
//
//	batch   Data != 0, Index != 0   both operands move      (GatherND's batch_dims)
//	outer   Data != 0, Index == 0   the indices are reused  (the axes before Gather's axis)
//	tuple   Data == 0, Index != 0   the data is reused      (the indices' own axes)
type Loop struct {
	Extent int // how many turns
	Data   int // strides, in elements
	Index  int
	Out    int
}

// An Axis is a gathered axis of data: where the component of an index tuple
// that addresses it stands, and what that component may be.
type Axis struct {
	Number int // which axis of data; -1 for data taken flat
	Dim    int // the component lies in 0 … Dim-1
	Data   int // stride in data, in elements
	Index  int // how far the component stands from the tuple's first, in elements

	// Parts is what a position of data taken flat is made of, outermost first,
	// where data's own strides are not those of one axis; Data is 1 then.
	Parts []Part
}

// A Part is one dim of data that is taken flat.
type Part struct {
	Extent int
	Data   int // stride, in elements
}

// offset is how far from data's first element a position of the axis stands.
func (a *Axis) offset(at int) int {
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

// A Plan is one gather, freed of its framework:
//
//	for every position c of Loops, outermost first:
//	    i_j = indices[c·Index + Axes[j].Index]      for each gathered axis j
//	    row = c·Data + Σ_j i_j·Axes[j].Data
//	    out[c·Out : c·Out+Slice] = data[row : row+Slice]
//
// Strides are in elements and are those of the operands that it was made for.
// A Plan is immutable and safe for concurrent use.
type Plan struct {
	DType     DType  // of data and of the result
	IndexType DType  // of the indices
	Out       Shape  // the shape of the result
	Indices   Shape  // the shape of the indices
	Loops     []Loop // the rows of the result, outermost first
	Axes      []Axis // the gathered axes, one per component of a tuple
	Slice     int    // elements per row, contiguous in data and in the result
	Negative  Negative
	Outside   Outside
	Fill      Tensor // a scalar of DType, where Outside is Fill

	component int // the dimension of the indices along which a tuple lies; -1: tuples of one
}

// Nest is the plan as the executors of this module walk it: its type is
// internal. data of so many bytes, about, decides what is prefetched. Nothing of
// the plan is shared with the nest but Fill's bytes and the Parts of its axes.
func (p *Plan) Nest(bytes int) exec.Nest {
	n := exec.Nest{
		Bits: p.DType.Bits(), Width: kernel.Width{Bits: p.IndexType.Bits(), Unsigned: p.IndexType.IsUnsigned()}, Reach: bytes,
		Axes: make([]exec.Axis, len(p.Axes)), Policy: kernel.Policy{FromEnd: p.Negative == FromEnd},
	}
	switch p.outside() {
	case Zero, Fill:
		n.Policy.Outside = kernel.Fill
	case Clamp:
		n.Policy.Outside = kernel.Clamp
	case Wrap:
		n.Policy.Outside = kernel.Wrap
	}
	switch {
	case p.Outside != Fill:
	case p.DType == String:
		n.Str = p.Fill.mem.Strs[p.Fill.mem.Offset]
	default:
		n.Fill = p.Fill.scalar()
	}
	for i, a := range p.Axes {
		n.Axes[i] = a.exec()
	}
	n.Walk(execLoops(p.Loops), p.Slice)
	length, _ := p.Indices.Len()
	n.Idle = length == 0
	return n
}

func (a *Axis) exec() exec.Axis {
	e := exec.Axis{Dim: a.Dim, Data: a.Data, Index: a.Index}
	for _, part := range a.Parts {
		e.Parts = append(e.Parts, exec.Part(part))
	}
	return e
}

func execLoops(loops []Loop) []exec.Loop {
	all := make([]exec.Loop, len(loops))
	for i, l := range loops {
		all[i] = exec.Loop(l)
	}
	return all
}

func planLoops(loops []exec.Loop) []Loop {
	all := make([]Loop, len(loops))
	for i, l := range loops {
		all[i] = Loop(l)
	}
	return all
}

// Normalize is the same rows in the form that executors walk: loops of one turn
// dropped, loops that step as one joined, loops over contiguous elements sunk
// into the slice, and those that move the indices outermost.
func (p *Plan) Normalize() *Plan {
	n := p.Nest(0)
	walked := *p
	walked.Loops, walked.Slice = planLoops(slices.Concat(n.Index, n.Free)), n.Slice
	return &walked
}

// InOrder is the same rows in the order of the result, which is row-major: its
// loops keep their nesting, those of one turn are dropped, those that step as
// one are joined, and the innermost ones over contiguous elements of data are
// sunk into the slice. Row i of it is then elements i·Slice … (i+1)·Slice-1 of
// the result, so that a result larger than memory can be made from its
// beginning to its end.
func (p *Plan) InOrder() *Plan {
	o := *p
	o.Loops = make([]Loop, 0, len(p.Loops))
	for _, l := range p.Loops {
		if len(p.Axes) == 0 {
			l.Index = 0 // nothing is addressed
		}
		if l.Extent != 1 {
			o.Loops = append(o.Loops, l)
		}
	}
	for n := len(o.Loops); n > 0; n-- {
		l := o.Loops[n-1]
		if l.Index != 0 || l.Data != o.Slice || l.Out != o.Slice {
			break
		}
		o.Slice *= l.Extent
		o.Loops = o.Loops[:n-1]
	}
	o.Loops = planLoops(exec.Join(execLoops(o.Loops)))
	return &o
}
