package garner

import (
	"slices"

	"github.com/garner-go/garner/internal/exec"
	"github.com/garner-go/garner/internal/kernel"
)

// A Negative says what a negative index means.
type Negative uint8

const (
	Reject  Negative = iota // it is outside, like an index beyond the end
	FromEnd                 // it counts from the end: -1 is the last position
)

// String returns "reject" or "from-end".
func (n Negative) String() string {
	if n == FromEnd {
		return "from-end"
	}
	return "reject"
}

// An Outside says what an index outside its axis means.
type Outside uint8

const (
	Error Outside = iota // the call fails with an IndexError
	Zero                 // its row has all bits zero: 0, false, ""
	Fill                 // its row repeats the plan's Fill
	Clamp                // it means the nearest position of the axis
	Wrap                 // it means its value modulo the axis's extent
)

var outsideNames = [...]string{Error: "error", Zero: "zero", Fill: "fill", Clamp: "clamp", Wrap: "wrap"}

// String returns "error", "zero", "fill", "clamp" or "wrap".
func (o Outside) String() string {
	if int(o) < len(outsideNames) {
		return outsideNames[o]
	}
	return "?"
}

// A Loop walks one dimension of the output. A zero stride means that the
// operand does not move along the loop, so the zeros alone tell the kinds of
// loop apart:
//
//	batch   Data != 0, Index != 0   both operands move      (GatherND's batch_dims)
//	outer   Data != 0, Index == 0   the indices are reused  (the axes before Gather's axis)
//	tuple   Data == 0, Index != 0   the data is reused      (the indices' own axes)
type Loop struct {
	Extent int // number of turns
	Data   int // strides, in elements
	Index  int
	Out    int
}

// An Axis is a gathered axis of data. One component of every index tuple
// addresses it.
type Axis struct {
	Number int // the axis of data, from 0; -1 for data read as a vector
	Dim    int // number of positions: a component addresses 0 … Dim-1
	Data   int // stride in data, in elements
	Index  int // from the tuple's first component to this one, in elements of the indices

	// Parts decompose a position of data that is read as a vector but has no
	// single stride, outermost first. Data is then 1.
	Parts []Part
}

// A Part is one dim of data that is read as a vector.
type Part struct {
	Extent int
	Data   int // stride, in elements
}

// offset returns the distance of a position of the axis from data's first
// element, in elements.
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
//	    out[c·Out : c·Out+Slice] = data[row : row+Slice]     (reduced as Bag says, where there is one)
//
// Strides are in elements. Data and Index strides are those of the operands
// that the plan was made for; Out strides are those of a row-major result. A
// Plan is immutable and safe for concurrent use.
type Plan struct {
	DType     DType  // of data and of the result
	IndexType DType  // of the indices
	Out       Shape  // the shape of the result
	Indices   Shape  // the shape of the indices
	Loops     []Loop // the rows of the result, outermost first
	Axes      []Axis // the gathered axes, one per component of a tuple
	Slice     int    // elements per row, contiguous in data and in the result
	Bag       *Bag   // how rows are reduced; nil: they are not
	Negative  Negative
	Outside   Outside
	Fill      Tensor  // a scalar of DType, if Outside is Fill
	Stored    *Stored // how data holds elements that a run decodes; nil: as they are. DType and rows are then those of the elements, which count in row-major order

	operands     []Operand // what the operator takes after data and indices
	emptyName    string    // what the operator calls Bag.Empty
	lacking      string    // the fill that DType lacks, if Outside is Error for that reason
	component    int       // the axis of the indices along which a tuple lies; -1: tuples of one component
	indexStrides []int     // of the indices that Loops walk; nil of a plan that no Lowering made
}

// outside returns the policy that applies: Error replaces Zero if the dtype has
// no zero.
func (p *Plan) outside() Outside {
	if p.Outside == Zero && !p.DType.HasZero() { // R.11
		return Error
	}
	return p.Outside
}

// Copies is Copies of the plan's operator: no Bag reduces rows, and no Stored is decoded.
func (p *Plan) Copies() bool { return p.Bag == nil && p.Stored == nil }

// Terms returns the plan of the rows that a plan of bags reduces, one row for each
// index, in the order of the indices. Other plans are their own.
func (p *Plan) Terms() *Plan {
	if p.Bag == nil {
		return p
	}
	t := *p
	t.Bag, t.Loops = nil, slices.Clone(p.Loops)
	if p.Bag.Ends != Even {
		t.Loops = t.Loops[1:]
	}
	t.Out = make(Shape, len(t.Loops))
	out := p.Slice
	for i := len(t.Loops) - 1; i >= 0; i-- {
		l := &t.Loops[i]
		t.Out[i], l.Out = l.Extent, out
		out *= max(l.Extent, 1)
	}
	if t.Slice != 1 {
		t.Out = append(t.Out, t.Slice)
	}
	return &t
}

// Nest returns the plan in the form that this module's executors walk, without its
// reduction; its type is internal. bytes is the approximate size of data, from which an executor
// chooses prefetching. The nest shares Fill's bytes and the Parts of the axes
// with the plan.
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
	case p.Outside != Fill || p.Fill.dtype != p.DType || p.Fill.Len() != 1:
		// Of a plan that was written by hand, without a Fill: zeros.
	case p.DType == String:
		n.Str = p.Fill.mem.Strs[p.Fill.mem.Offset]
	default:
		n.Fill = p.Fill.scalar()
	}
	for i, a := range p.Axes {
		n.Axes[i] = a.exec()
	}
	if p.Stored != nil {
		n.Decoder = p.Stored.decoder
	}
	n.Walk(execLoops(p.Terms().Loops), p.Slice)
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

// Normalize returns a plan of the same rows in the form that executors walk:
// without loops of one turn, with neighbouring loops joined that equal one
// loop, with loops over contiguous elements merged into Slice, and with the
// loops that do not move the indices innermost. Of a plan of bags, the first two
// loops stay as they are.
func (p *Plan) Normalize() *Plan {
	if p.Bag != nil {
		return p.InOrder() // the loops behind the first two leave the indices alone
	}
	n := p.Nest(0)
	walked := *p
	walked.Loops, walked.Slice = planLoops(slices.Concat(n.Index, n.Free)), n.Slice
	return &walked
}

// InOrder returns a plan whose rows follow the order of the row-major result:
// row i is elements i·Slice … (i+1)·Slice-1 of the result. So a result larger
// than memory can be written from its beginning to its end. The loops keep
// their nesting. Loops of one turn are dropped, neighbouring loops that equal
// one loop are joined, and innermost loops over contiguous elements of data are
// merged into Slice. A row of a plan of bags is a bag; its first two loops stay as
// they are.
func (p *Plan) InOrder() *Plan {
	if p.Bag != nil {
		row := *p
		row.Bag, row.Loops = nil, p.Loops[2:]
		o := row.InOrder()
		o.Bag, o.Loops = p.Bag, slices.Concat(p.Loops[:2], o.Loops)
		return o
	}
	o := *p
	o.Loops = make([]Loop, 0, len(p.Loops))
	for _, l := range p.Loops {
		if len(p.Axes) == 0 {
			l.Index = 0 // no axis is gathered
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

// takes checks that indices are those that the plan was made for. The zero Tensor is
// those of an Unindexed.
func (p *Plan) takes(indices Tensor) error {
	if indices.dtype == Invalid && len(p.Axes) == 0 && len(p.Indices) == 0 {
		return nil
	}
	if indices.dtype != p.IndexType {
		return errorf(ErrDType, "indices are %s; the plan was made for %s", indices.dtype, p.IndexType)
	}
	if !indices.shape.Equal(p.Indices) {
		return shapeError(KindMismatch, "indices are %s%s; the plan was made for %s%s", indices.dtype, indices.shape, p.IndexType, p.Indices)
	}
	return nil
}

// position returns the position that an index value means on an axis of extent
// dim: the definition of the policies. It returns -1 for a row of zeros or the
// fill; ok is false for a refused index.
func (p *Plan) position(v Index, dim int) (at int, ok bool) {
	negative := v.negative()
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
				// -v.Bits is the distance below zero; -1 wraps to dim-1.
				return (dim - int(-v.Bits%uint64(dim))) % dim, true
			}
			return int(v.Bits % uint64(dim)), true
		}
	}
	return 0, false // R.10
}
