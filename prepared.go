package garner

import (
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/garner-go/garner/internal/codec"
	"github.com/garner-go/garner/internal/exec"
)

// A PrepareOption gives the specs of further operands, or changes how a Prepared
// runs, never its result.
type PrepareOption func(*Prepared)

// Further gives the specs of the operator's further operands, in its order; the
// zero Spec is one that no run gives.
func Further(specs ...Spec) PrepareOption {
	return func(p *Prepared) { p.further = specs }
}

// FurtherTensors is Further for operands that are there: the number of bags can depend on
// their elements.
func FurtherTensors(tensors ...Tensor) PrepareOption {
	return func(p *Prepared) { p.further, p.values = specs(tensors), tensors }
}

// FurtherValues adds to Further the elements of those operands that are known before a
// run. The zero Tensor stands for an operand whose elements are not.
func FurtherValues(tensors ...Tensor) PrepareOption {
	return func(p *Prepared) { p.values = tensors }
}

// Threads limits a run to n cores. The default, and the meaning of n < 1, is
// GOMAXPROCS.
func Threads(n int) PrepareOption {
	return func(p *Prepared) { p.threads = n }
}

// Progress calls f during a run with the approximate number of elements of the
// result that were moved, and their total. The goroutine that called Run, and
// no other, calls f after each unit of work that it finishes, some 20 to 60 µs
// each. done never falls, and a run that succeeds ends with done equal to
// total. f delays the run, so it should only store the numbers. A run allocates
// nothing for it.
func Progress(f func(done, total int64)) PrepareOption {
	return func(p *Prepared) { p.progress = f }
}

// Blocks says that a run takes, as data, a vector of u8 with the blocks that hold the
// elements of the spec that Prepare is given, in the order of its strides, which leave no
// gaps. A block holds so many elements in so many bytes; the last may hold more than there
// are. decode writes the elements of whole blocks to dst, little-endian; it allocates
// nothing, and many goroutines call it at once. Prepare refuses elements narrower than a
// byte, strings, and an operator that stores data in a form of its own (ErrDType); strides
// with gaps, and a data spec whose dims are not all known (ErrShape).
func Blocks(elements, bytes int, decode func(dst, src []byte)) PrepareOption {
	return func(p *Prepared) { p.blocks = &codec.Codec{Elements: elements, Bytes: bytes, Decode: decode} }
}

// A Prepared is an operator that was lowered once, to be run many times. It is
// safe for concurrent use: every run takes its scratch from a free list. Once
// runs of a size have filled that list, further ones allocate nothing, on one
// core or on all. A Prepared keeps no result and no resolved row.
type Prepared struct {
	op            Op
	data, indices Spec
	further       []Spec
	values        []Tensor // of further operands, while Gather lowers; nil elsewhere
	bare          bool     // the operator takes no indices
	simple        bool     // the operator copies, and a call is data, indices and an output alone
	threads       int
	progress      func(done, total int64)
	tuning        exec.Tuning
	blocks        *codec.Codec // of data; nil: runs take the elements
	elements      Spec         // that blocks hold

	lowered *Lowering
	nest    exec.Nest // its element size, policies and fill serve every program
	plan    *Plan     // nil for batches
	fixed   *program  // for the strides of data and indices and a row-major result; nil for batches
	others  sync.Pool // programs for other strides and batches
}

// Prepare lowers op for operands of known shape and chooses how to move them.
//
// Dims of the indices may be unknown or ranges, as in i64[?] and i64[1..4096],
// except the length of the tuples. The Prepared then serves every batch whose
// dims the spec allows. A batch whose length differs from the previous run's
// costs some 200 ns more. If op reads data as a vector, broadcasts, or moves a window,
// a batch of another length is lowered anew, which allocates. The dims of further
// operands may be unknown or ranges too, as the number of bags that offsets of i64[?] give.
//
// Stored data that is a view is decoded where it lies. What is stored of a row and does
// not lie side by side is copied first.
//
// A run is fastest with the strides in the specs; other strides cost as much as
// another length. A run usually takes scratch of about 16 KiB per core, and 8
// bytes per tuple up to 512 KiB. GatherElements that visits far data in strips
// of columns takes up to 4 MiB per core. Errors are those of NewPlan.
func Prepare(op Op, data, indices Spec, options ...PrepareOption) (*Prepared, error) {
	p := &Prepared{op: op, data: data, indices: indices, tuning: exec.Tuned}
	for _, o := range options {
		o(p)
	}
	if p.threads <= 0 {
		p.threads = runtime.GOMAXPROCS(0)
	}
	p.others.New = func() any { return new(program) }
	var err error
	if p.lowered, _, err = lower(op, data, indices, p.further, p.values); err != nil {
		return nil, err
	}
	if p.blocks != nil {
		if err := p.store(data); err != nil {
			return nil, err
		}
	}
	indices = p.lowered.given
	p.indices = indices
	p.values = nil
	p.bare = !TakesIndices(op)
	p.simple = !p.lowered.computes && !p.bare && len(p.lowered.takes) == 0
	shape, known := data.Shape()
	if p.lowered.partial {
		if p.lowered.open {
			return nil, unknownNumber()
		}
		if err := p.lowered.wholeStored(data); err != nil {
			return nil, err
		}
		if !known || !indices.Rank.Known() || p.lowered.counted() {
			return nil, shapeError(KindRank, "a plan needs every dim of data %s, and of indices %s the rank and the length of the tuples; Infer does without", data, indices)
		}
		p.nest = p.lowered.policies().Nest(reach(shape, data.DType))
		return p, nil
	}
	if p.plan, err = p.lowered.plan(); err != nil {
		return nil, err
	}
	p.nest = p.plan.Nest(reach(shape, data.DType))
	p.fixed = new(program)
	in, _ := p.data.Shape()
	p.fixed.data.set(p.data.DType, in, p.data.strides())
	at, _ := indices.Shape()
	p.fixed.indices.set(indices.DType, at, p.indices.strides())
	p.fixed.out.set(p.plan.DType, p.plan.Out, p.plan.Out.Strides())
	if p.plan.Bag == nil {
		p.fixed.Program = *exec.NewProgram(p.nest, &p.tuning, p.threads)
		return p, nil
	}
	p.fixed.walked = append(p.fixed.walked, p.plan.Loops...)
	p.setBags(p.fixed, p.nest.Axes, placed(p.further))
	return p, nil
}

// store makes data of runs the blocks of the elements of a spec.
func (p *Prepared) store(elements Spec) error {
	c := p.blocks
	shape, known := elements.Shape()
	switch {
	case c.Elements < 1 || c.Bytes < 1 || c.Decode == nil || c.Elements > math.MaxInt32 || c.Bytes > math.MaxInt32:
		return errorf(ErrAttribute, "blocks of %d elements in %d bytes; both are in 1 … 2^31-1, and decode is given", c.Elements, c.Bytes)
	case elements.DType == String || elements.DType.Packed():
		return errorf(ErrDType, "data is %s; blocks hold elements of a byte or more", elements.DType)
	case p.lowered.stored != nil || p.lowered.data.DType != elements.DType:
		return errorf(ErrDType, "the operator decodes data %s by itself; blocks hold elements that it takes as they are", elements)
	case !known:
		return shapeError(KindRank, "blocks of data need every dim of it, and it is %s", elements)
	}
	s := &Stored{name: "blocks", decoder: newBlockDecoder(c, elements.DType.Bits()/8)}
	s.view = Tensor{dtype: elements.DType, shape: shape, strides: elements.strides()}
	n := s.view.Len()
	if low, high, fits := s.view.extent(); n > 0 && (!fits || low != 0 || high != n-1 || !apart(&s.view)) {
		return shapeError(KindMismatch, "strides %v of data %s leave gaps or share elements; blocks hold each once", s.view.strides, elements)
	}
	bytes, ok := mul(Exactly(n).parts(c.Elements).Min, c.Bytes)
	if !ok {
		return shapeError(KindMismatch, "blocks of data %s have more bytes than an int can count", elements)
	}
	p.elements, p.data = elements, SpecOf(U8, bytes)
	s.specs = s.operands(placed([]Spec{p.data})[0], nil)
	p.lowered.stored, p.lowered.computes = s, true
	return nil
}

// specOf returns the spec that an operator is lowered for, given data of a run.
func (p *Prepared) specOf(data *Tensor) Spec {
	if p.blocks != nil {
		return p.elements
	}
	return data.Spec()
}

// reach returns about how many bytes of data a plan can read.
func reach(shape Shape, dtype DType) int {
	n := 1
	for _, d := range shape {
		n *= max(d, 1)
	}
	return int(min(int64(n)*int64(dtype.Bits())/8, math.MaxInt)) // an int of 32 bits does not count the bits
}

// Plan returns the plan that Run executes; where the last segment says how many bags there
// are, that of the segments that Prepare was given. It is nil for a Prepared that serves
// batches, because each batch has its own plan.
func (p *Prepared) Plan() *Plan { return p.plan }

// bind checks operands that the Prepared has no program for, and chooses f for
// them. It allocates nothing if f served operands of these ranks before.
func (p *Prepared) bind(f *program, data, indices, out *Tensor, further []Tensor) error {
	f.data.dtype = Invalid // takes reports false until bind has accepted all operands
	for i, t := range [...]*Tensor{data, indices} {
		s, name := &p.data, "data"
		if i == 1 {
			s, name = &p.indices, "indices"
		}
		if t.dtype != s.DType {
			return errorf(ErrDType, "%s is %s; the plan was prepared for %s", name, t.dtype, s.DType)
		}
		if !sameDims(t.shape, s.Dims) {
			return shapeError(KindMismatch, "%s is %s%s; the plan was prepared for %s", name, t.dtype, t.shape, *s)
		}
	}
	if dtype := p.lowered.data.DType; out.dtype != dtype {
		return errorf(ErrDType, "the output is %s; the result is %s", out.dtype, dtype)
	}
	axes, elements := f.axes(), p.lowered.walked(data)
	if p.lowered.odd || p.lowered.bag != nil && !p.lowered.bag.alike(indices, further) || !p.lowered.walk(f, elements, indices, out, further) {
		plan, err := p.lowerAnew(f, data, indices, out, further)
		if err != nil {
			return err
		}
		for i := range plan.Axes {
			axes = append(axes, plan.Axes[i].exec())
		}
	} else {
		for i := range p.lowered.axes {
			a := &p.lowered.axes[i]
			step := 0
			if c := p.lowered.component; c >= 0 {
				step = indices.strides[c]
			}
			axes = append(axes, exec.Axis{Dim: a.Dim, Data: elements.strides[a.Number], Index: i * step})
		}
	}
	if !apart(out) {
		return errorf(ErrOverlap, "the output's strides %v let its own elements overlap; gather into a tensor without", out.strides)
	}
	if p.lowered.bag != nil {
		p.setBags(f, axes, further)
	} else {
		f.setLoops()
		f.SetLoops(&p.nest, axes, f.loops, 1, indices.Len() == 0, &p.tuning, p.threads)
	}
	f.indices.set(indices.dtype, indices.shape, indices.strides)
	f.out.set(out.dtype, out.shape, out.strides)
	f.data.set(data.dtype, data.shape, data.strides)
	return nil
}

// setBags makes f the program of the bags that it has walked, for further operands of
// these shapes and strides. It keeps axes.
func (p *Prepared) setBags(f *program, axes []exec.Axis, further []Tensor) {
	if f.bags == nil {
		f.bags = new(exec.Bags)
	}
	f.setLoops()
	b, terms := p.lowered.bag, f.loops[:2]
	if b.Ends != Even {
		terms = f.loops[1:2]
	}
	f.bags.Set(&p.nest, axes, terms, f.loops[2:], b.exec(p.lowered.data.DType, p.lowered.axes[0].Dim, f.walked, further), &p.tuning, p.threads)
	for len(f.further) < len(p.lowered.takes) {
		f.further = append(f.further, operand{})
	}
	for i := range f.further {
		if i < len(further) && further[i].dtype.Valid() {
			f.further[i].set(further[i].dtype, further[i].shape, further[i].strides)
		}
	}
}

// takesBags reports whether f, which takes the other operands, was chosen for the shapes
// and strides of these further operands, which are as many and as given as those that p
// was prepared for, and for as many bags as their last segment says.
func (p *Prepared) takesBags(f *program, further []Tensor) bool {
	for i := range f.further {
		if i < len(further) && further[i].dtype.Valid() && !f.further[i].is(&further[i]) {
			return false
		}
	}
	if !p.lowered.ended {
		return true
	}
	bags, ok := p.lowered.bag.count(further)
	return ok && bags == f.walked[0].Extent
}

// lowerAnew lowers the operator for operands of other shapes or strides.
func (p *Prepared) lowerAnew(f *program, data, indices, out *Tensor, further []Tensor) (*Plan, error) {
	plan, l := p.plan, p.lowered
	if plan == nil || p.lowered.odd || p.lowered.bag != nil {
		var err error
		if l, _, err = lower(p.op, p.specOf(data), indices.Spec(), p.specsOf(further), slices.Clone(further)); err != nil { // a clone keeps Run's further off the heap
			return nil, err
		}
		if plan, err = l.plan(); err != nil {
			return nil, err
		}
	}
	if !out.shape.Equal(plan.Out) {
		return nil, shapeError(KindMismatch, "the output is %s%s; the result is %s%s", out.dtype, out.shape, plan.DType, plan.Out)
	}
	f.walked = append(f.walked[:0], plan.Loops...)
	l.restride(f.walked, out.strides)
	return plan, nil
}

// specsOf returns the specs of further operands; those that p was prepared for where
// only they count.
func (p *Prepared) specsOf(further []Tensor) []Spec {
	if further == nil {
		return p.further
	}
	return specs(further)
}
