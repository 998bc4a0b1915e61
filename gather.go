package garner

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"
)

// Gather runs op on all cores and returns a new, row-major result of data's
// dtype. data and indices may be any views and are only read.
//
// Errors are those of NewPlan, an *IndexError, and ErrFault for Volatile
// operands. Nothing is kept from one call to the next; Prepare saves the
// lowering and the scratch where a gather is repeated.
func Gather(op Op, data, indices Tensor) (Tensor, error) {
	return GatherContext(context.Background(), op, data, indices)
}

// GatherContext is Gather that ends early, within 10 ms, with the context's
// cause where ctx is cancelled.
func GatherContext(ctx context.Context, op Op, data, indices Tensor) (Tensor, error) {
	p, err := Prepare(op, data.Spec(), indices.Spec())
	if err != nil {
		return Tensor{}, err
	}
	out, err := New(p.plan.DType, p.plan.Out...)
	if err != nil {
		return Tensor{}, err
	}
	if err := p.run(ctx, data, indices, out); err != nil {
		return Tensor{}, err
	}
	return out, nil
}

// GatherInto is GatherContext into memory of the caller's: out has the dtype
// and shape that Infer says, may be any view whose elements are apart, and must
// not share memory with data or indices (ErrOverlap). After an error its
// contents are unspecified; nothing beyond it is ever touched.
func GatherInto(ctx context.Context, op Op, data, indices, out Tensor) error {
	p, err := Prepare(op, data.Spec(), indices.Spec())
	if err != nil {
		return err
	}
	return p.Run(ctx, data, indices, out)
}

// A PrepareOption changes how a Prepared runs, never what it answers.
type PrepareOption func(*Prepared)

// Threads is how many cores a run may use; all of GOMAXPROCS where it is not
// given or not positive.
func Threads(n int) PrepareOption {
	return func(p *Prepared) { p.threads = n }
}

// A Prepared is a plan with the scratch to run it: a run allocates nothing, on
// one core or on all. It serves one goroutine at a time, which runs of more than a
// few rows hold it to, and keeps no result and no resolved rows from one run to
// the next.
type Prepared struct {
	op            Op
	data, indices Spec
	threads       int
	progress      func(done, total int64)
	tuning        tuning
	plan          *Plan
	outStrides    []int

	normal   normal
	resolver resolver
	layout   layout
	fill     []byte
	workers  []worker
	shared   []int64  // every tuple's row, or position, where they are wanted more than once
	straight []int64  // places of data from end to end, where those are prefetched instead of rows
	columns  *columns // nil where single elements are not visited as columns
	crew     *crew

	met [3]met // data, indices and the output of the last run

	// The run that is under way.
	running atomic.Bool
	ctx     context.Context
	src     Tensor
	at      Tensor
	dst     Tensor
	next    atomic.Int64 // the next unit that nobody has taken
	limit   int64
	phase   phase
	stop    atomic.Bool
	refuse  atomic.Bool // an index was refused
	outside atomic.Bool // a tuple of shared is outside, and filled
	fault   atomic.Bool
}

// Prepare lowers op for operands of known shape and allocates what running it
// takes: about 16 KiB a core and 8 bytes a tuple, up to 512 KiB, as a rule; and
// up to 4 MiB a core where GatherElements visits far data in strips of columns.
// The strides in the specs are those that a run is fastest with; a run with
// others lowers anew. Errors are those of NewPlan.
func Prepare(op Op, data, indices Spec, options ...PrepareOption) (*Prepared, error) {
	p := &Prepared{op: op, data: data, indices: indices, tuning: tuned}
	for _, o := range options {
		o(p)
	}
	if p.threads <= 0 {
		p.threads = runtime.GOMAXPROCS(0)
	}
	return p, p.lower(nil)
}

// Plan is the plan that is run.
func (p *Prepared) Plan() *Plan { return p.plan }

// lower makes the plan for the strides in p.data, p.indices and out, nil for
// row-major, and the scratch.
func (p *Prepared) lower(out []int) error {
	l, _, err := lower(p.op, p.data, p.indices)
	if err != nil {
		return err
	}
	if l.partial {
		return shapeError(KindRank, "a plan needs every dim of data %s and of indices %s; Infer does without", p.data, p.indices)
	}
	plan, err := l.plan()
	if err != nil {
		return err
	}
	if p.outStrides = plan.Out.Strides(); out != nil {
		p.outStrides = slices.Clone(out)
		l.restride(plan, p.outStrides)
	}
	// Lowering may read operands as of another rank; those that come to run are
	// compared with these.
	p.data.Strides, p.indices.Strides = p.data.strides(), p.indices.strides()
	p.prepare(plan)
	return nil
}

// Run runs the plan on tensors of the dtypes and shapes that it was prepared
// for; another is an ErrDType or an ErrShape. See GatherInto for out and the
// errors. A cancelled ctx ends it within 10 ms with the context's cause. No work
// outlives the call; a goroutine that was started to help, and came to nothing on
// a busy machine, may end after it.
func (p *Prepared) Run(ctx context.Context, data, indices, out Tensor) error {
	known := p.known(&data, &indices, &out)
	if !known || !p.layout.little {
		if p.running.Swap(true) {
			return errorf(nil, "a Prepared serves one goroutine at a time, and another one is running it; prepare one for each")
		}
		defer p.running.Store(false)
	}
	if !known {
		if err := p.accept(data, indices, out); err != nil {
			return err
		}
		if !apart(out) {
			p.met = [3]met{}
			return errorf(ErrOverlap, "the output's strides %v let its own elements overlap; gather into a tensor without", out.strides)
		}
		p.meet(&data, &indices, &out)
	}
	from, to, ok := p.met[2].span(&out)
	for i, t := range [...]*Tensor{&data, &indices} {
		if f, e, has := p.met[i].span(t); ok && has && f < to && from < e { // R.17
			return errorf(ErrOverlap, "the output shares memory with an input; gather into memory of its own")
		}
	}
	if p.layout.little && !data.volatile && !indices.volatile {
		return p.runLittle(ctx, &data, &indices, &out)
	}
	return p.run(ctx, data, indices, out)
}

// met is what was found out about the shape and the strides of an operand, and
// whose they were: Tensors are immutable, so that what has the same slices needs
// no second look.
type met struct {
	dtype          DType
	shape, strides *int
	rank           int
	any            bool // it has elements
	low, high      int  // from its offset to its first and its last element
}

// known reports whether the operands of a run were those of the run before, as
// far as shapes and strides go.
func (p *Prepared) known(data, indices, out *Tensor) bool {
	return p.met[2].is(out) && p.met[0].is(data) && p.met[1].is(indices)
}

func (m *met) is(t *Tensor) bool {
	return m.dtype == t.dtype && m.dtype != Invalid && m.rank == len(t.shape) && m.shape == first(t.shape) && m.strides == first(t.strides)
}

// first is where a slice lies; nil where it is empty.
func first(s []int) *int {
	if len(s) == 0 {
		return nil
	}
	return &s[0]
}

// meet remembers operands that were accepted.
func (p *Prepared) meet(operands ...*Tensor) {
	for i, t := range operands {
		m := met{dtype: t.dtype, rank: len(t.shape), shape: first(t.shape), strides: first(t.strides)}
		if n, _ := t.shape.Len(); n > 0 {
			low, high, _ := t.extent()
			m.any, m.low, m.high = true, low-t.offset, high-t.offset
		}
		p.met[i] = m
	}
}

// span is where the elements of t, which m is of, lie in memory.
func (m *met) span(t *Tensor) (from, to uintptr, ok bool) {
	if !m.any {
		return 0, 0, false
	}
	from, to = t.between(t.offset+m.low, t.offset+m.high)
	return from, to, true
}

// accept checks the operands of a run, and lowers anew where strides changed.
func (p *Prepared) accept(data, indices, out Tensor) error {
	for i, t := range [...]*Tensor{&data, &indices} {
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
	if out.dtype != p.plan.DType {
		return errorf(ErrDType, "the output is %s; the result is %s", out.dtype, p.plan.DType)
	}
	if !out.shape.Equal(p.plan.Out) {
		return shapeError(KindMismatch, "the output is %s%s; the result is %s%s", out.dtype, out.shape, p.plan.DType, p.plan.Out)
	}
	if !slices.Equal(data.strides, p.data.Strides) || !slices.Equal(indices.strides, p.indices.Strides) || !slices.Equal(out.strides, p.outStrides) {
		was := [...][]int{p.data.Strides, p.indices.Strides, p.outStrides}
		p.data.Strides, p.indices.Strides = slices.Clone(data.strides), slices.Clone(indices.strides)
		if err := p.lower(out.strides); err != nil {
			// The plan is still that of the strides before.
			p.data.Strides, p.indices.Strides, p.outStrides = was[0], was[1], was[2]
			return err
		}
	}
	return nil
}

func sameDims(shape Shape, dims []Dim) bool {
	if len(shape) != len(dims) {
		return false
	}
	for i, d := range dims {
		if shape[i] != d.Min {
			return false
		}
	}
	return true
}

// Copy copies the elements of src, any view, into dst, a view of the same dtype
// and shape whose elements are apart, on all cores. Another dtype is an
// ErrDType, another shape an ErrShape, shared memory an ErrOverlap.
func Copy(dst, src Tensor) error {
	switch {
	case dst.dtype != src.dtype || !dst.dtype.Valid():
		return errorf(ErrDType, "%s cannot be copied into %s", src.dtype, dst.dtype)
	case !dst.shape.Equal(src.shape):
		return shapeError(KindMismatch, "%s%s cannot be copied into %s%s", src.dtype, src.shape, dst.dtype, dst.shape)
	case overlap(dst, src):
		return errorf(ErrOverlap, "a tensor cannot be copied into memory that it shares")
	case !apart(dst):
		return errorf(ErrOverlap, "the strides %v let elements overlap; copy into a tensor without", dst.strides)
	}
	plan := &Plan{DType: dst.dtype, IndexType: I64, Out: dst.shape, Slice: 1, component: -1}
	for i, d := range dst.shape {
		plan.Loops = append(plan.Loops, Loop{Extent: d, Data: src.strides[i], Out: dst.strides[i]})
	}
	p := &Prepared{threads: runtime.GOMAXPROCS(0), tuning: tuned}
	p.prepare(plan)
	return p.run(context.Background(), src, Tensor{}, dst)
}
