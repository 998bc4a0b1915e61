package garner

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/garner-go/garner/internal/exec"
)

// A PrepareOption gives the specs of further operands, or changes how a Prepared
// runs, never its result.
type PrepareOption func(*Prepared)

// Further gives the specs of the operator's further operands, in its order; the
// zero Spec is one that no run gives.
func Further(more ...Spec) PrepareOption {
	return func(p *Prepared) { p.more = more }
}

// FurtherTensors is Further for operands that are there: the number of bags can depend on
// their elements.
func FurtherTensors(more ...Tensor) PrepareOption {
	return func(p *Prepared) { p.more, p.values = specs(more), more }
}

// FurtherValues adds to Further the elements of those operands that are known before a
// run. The zero Tensor stands for an operand whose elements are not.
func FurtherValues(more ...Tensor) PrepareOption {
	return func(p *Prepared) { p.values = more }
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

// A Prepared is an operator that was lowered once, to be run many times. It is
// safe for concurrent use: every run takes its scratch from a free list. Once
// runs of a size have filled that list, further ones allocate nothing, on one
// core or on all. A Prepared keeps no result and no resolved row.
type Prepared struct {
	op            Op
	data, indices Spec
	more          []Spec
	values        []Tensor // of further operands, while Gather lowers; nil elsewhere
	bare          bool     // the operator takes no indices
	further       bool     // the operator takes further operands or no indices, makes bags or reads stored data
	threads       int
	progress      func(done, total int64)
	tuning        exec.Tuning

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
// costs some 200 ns more. If op reads data as a vector, broadcasts, or moves a
// window, a batch of another length is lowered anew, which allocates.
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
	if p.lowered, _, err = lower(op, data, indices, p.more, p.values); err != nil {
		return nil, err
	}
	indices = p.lowered.given
	p.indices = indices
	p.values = nil
	p.bare = !TakesIndices(op)
	p.further = p.bare || len(p.lowered.takes) > 0 || p.lowered.bag != nil || p.lowered.stored != nil
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
	p.fixed.data.set(data.DType, shape, p.data.strides())
	at, _ := indices.Shape()
	p.fixed.indices.set(indices.DType, at, p.indices.strides())
	p.fixed.out.set(p.plan.DType, p.plan.Out, p.plan.Out.Strides())
	if p.plan.Bag == nil {
		p.fixed.Program = *exec.NewProgram(p.nest, &p.tuning, p.threads)
		return p, nil
	}
	p.fixed.walked = append(p.fixed.walked, p.plan.Loops...)
	p.fixed.setBags(p, p.nest.Axes, placed(p.more))
	return p, nil
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

// Run executes the plan on tensors of the dtypes and shapes that it was
// prepared for; other tensors are an ErrDType or an ErrShape. See GatherInto
// for out and the other errors. A cancelled ctx ends Run within 10 ms with the
// context's cause. No work continues after Run returns. A helper goroutine that
// the scheduler has not started by then exits without work.
//
// more are the further operands, of the specs that Further gave to Prepare.
//
// Any number of goroutines may run one Prepared at a time, each with its own
// output.
func (p *Prepared) Run(ctx context.Context, data, indices, out Tensor, more ...Tensor) error {
	if (len(more) > 0 || p.further) && p.lowered != nil {
		if err := p.takesMore(more, &out); err != nil {
			return err
		}
		if p.bare {
			if indices.dtype != Invalid { // R.36
				return errorf(ErrAttribute, "indices %s%s are given; the operator takes data alone", indices.dtype, indices.shape)
			}
			indices = noIndices
		}
		if p.lowered.bag != nil || p.lowered.stored != nil {
			return p.runMore(ctx, &data, &indices, &out, more)
		}
	}
	if f := p.fixed; f != nil && f.takes(&data, &indices, &out) {
		return p.runProgram(ctx, f, &data, &indices, &out)
	}
	f, ok := p.others.Get().(*program)
	if !ok {
		return errorf(nil, "the zero Prepared runs nothing; make one by Prepare")
	}
	defer p.others.Put(f)
	if !f.takes(&data, &indices, &out) {
		if err := p.bind(f, &data, &indices, &out, nil); err != nil {
			return err
		}
	}
	return p.runProgram(ctx, f, &data, &indices, &out)
}

// takesMore checks further operands against those that p was prepared for, and
// that none of them shares memory with out.
func (p *Prepared) takesMore(more []Tensor, out *Tensor) error {
	for i := len(p.lowered.takes); i < len(more); i++ {
		if more[i].dtype.Valid() { // R.27
			return errorf(ErrAttribute, "the operator takes %d operands; %d were given", 2+len(p.lowered.takes), 3+i)
		}
	}
	for i, o := range p.lowered.takes {
		s, t := &p.lowered.more[i], Tensor{}
		if i < len(more) {
			t = more[i]
		}
		if t.dtype != s.DType {
			switch {
			case t.dtype == Invalid:
				return errorf(ErrAttribute, "%s is not given; the plan was prepared with it", o.Name)
			case s.DType == Invalid:
				return errorf(ErrAttribute, "%s is given; the plan was prepared without it", o.Name)
			}
			return errorf(ErrDType, "%s is %s; the plan was prepared for %s", o.Name, t.dtype, s.DType)
		}
		if t.dtype == Invalid {
			continue
		}
		if n := len(t.shape); n < s.Rank.Min || n > s.Rank.Max || s.Rank.Known() && !sameDims(t.shape, s.Dims) {
			return shapeError(KindMismatch, "%s is %s%s; the plan was prepared for %s", o.Name, t.dtype, t.shape, *s)
		}
		if overlap(t, *out) { // R.17
			return sharedOutput(o.Name)
		}
	}
	return nil
}

// runProgram runs a program of the operands, with scratch from the free list.
func (p *Prepared) runProgram(ctx context.Context, f *program, data, indices, out *Tensor) error {
	from, to := f.out.span(out)
	if low, high := f.data.span(data); low < to && from < high { // R.17
		return sharedOutput("data")
	}
	if low, high := f.indices.span(indices); low < to && from < high { // R.17
		return sharedOutput("indices")
	}
	var how exec.Outcome
	if f.Few() && p.progress == nil && !data.mem.Volatile && !indices.mem.Volatile {
		how = f.RunFew(ctx, &data.mem, &indices.mem, &out.mem)
	} else if data.keeper != nil || indices.keeper != nil {
		return p.runKept(ctx, f, data, indices, out)
	} else {
		r := runners.Get().(*exec.Runner)
		r.Progress = p.progress
		how = r.Run(ctx, &f.Program, &data.mem, &indices.mem, &out.mem)
		runners.Put(r)
	}
	if how == exec.Done {
		return nil
	}
	return p.explain(ctx, how, *data, *indices, nil)
}

// runKept is runProgram for operands that Keepers keep.
func (p *Prepared) runKept(ctx context.Context, f *program, data, indices, out *Tensor) error {
	if err := data.hold(); err != nil {
		return err
	}
	defer data.release()
	if err := indices.hold(); err != nil {
		return err
	}
	defer indices.release()
	heldData, heldIndices := *data, *indices
	heldData.keeper, heldIndices.keeper = nil, nil
	err := p.runProgram(ctx, f, &heldData, &heldIndices, out)
	if err == nil || errors.Is(err, ErrIndex) {
		if cut := indices.check(); cut != nil {
			return cut
		}
	}
	if err == nil {
		err = data.check()
	}
	return err
}

// sharedOutput is the error of an output that shares memory with the operand of a name.
func sharedOutput(name string) error {
	return errorf(ErrOverlap, "the output shares memory with an input, %s; gather into memory of its own", name)
}

// explain returns the error of a run that did not succeed. For a refused index
// it finds the first in row-major order.
func (p *Prepared) explain(ctx context.Context, how exec.Outcome, data, indices Tensor, more []Tensor) error {
	switch how {
	case exec.Vanished:
		return Vanished()
	case exec.Stopped:
		return context.Cause(ctx)
	}
	plan := p.plan
	if plan == nil || p.lowered.ended { // other segments can say another number of bags
		l, _, err := lower(p.op, data.Spec(), indices.Spec(), p.specsOf(more), slices.Clone(more))
		if err != nil {
			return err
		}
		if plan, err = l.needWhole(data.Spec(), indices.Spec()); err != nil {
			return err
		}
	}
	if err := plan.check(ctx, indices, more); err != nil || how == exec.Done {
		return err
	}
	return changedIndices()
}

// specsOf returns the specs of further operands; those that p was prepared for where
// only they count.
func (p *Prepared) specsOf(more []Tensor) []Spec {
	if more == nil {
		return p.more
	}
	return specs(more)
}

// A program is the exec.Program for operands of certain shapes and strides.
type program struct {
	exec.Program
	bags               *exec.Bags // instead of Program, of bags
	data, indices, out operand
	more               []operand // of bags
	loops              []exec.Loop
	walked             []Loop
}

// takes reports whether f was chosen for the shapes and strides of these
// operands.
func (f *program) takes(data, indices, out *Tensor) bool {
	return f.indices.is(indices) && f.data.is(data) && f.out.is(out)
}

// bind checks operands that the Prepared has no program for, and chooses f for
// them. It allocates nothing if f served operands of these ranks before.
func (p *Prepared) bind(f *program, data, indices, out *Tensor, more []Tensor) error {
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
	axes, elements := f.axes(), p.lowered.elements(data)
	if p.lowered.odd || p.lowered.bag != nil && !p.lowered.bag.alike(indices, more) || !p.lowered.walk(f, elements, indices, out) {
		plan, err := p.lowerAnew(f, data, indices, out, more)
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
		f.setBags(p, axes, more)
	} else {
		f.setLoops()
		f.SetLoops(&p.nest, axes, f.loops, 1, indices.Len() == 0, &p.tuning, p.threads)
	}
	f.indices.set(indices.dtype, indices.shape, indices.strides)
	f.out.set(out.dtype, out.shape, out.strides)
	f.data.set(data.dtype, data.shape, data.strides)
	return nil
}

// setLoops makes loops those of internal/exec.
func (f *program) setLoops() {
	f.loops = f.loops[:0]
	for _, l := range f.walked {
		f.loops = append(f.loops, exec.Loop(l))
	}
}

// setBags makes f the program of the bags that it has walked, for further operands of
// these shapes and strides. It keeps axes.
func (f *program) setBags(p *Prepared, axes []exec.Axis, more []Tensor) {
	if f.bags == nil {
		f.bags = new(exec.Bags)
	}
	f.setLoops()
	b, terms := p.lowered.bag, f.loops[:2]
	if b.Ends != Even {
		terms = f.loops[1:2]
	}
	f.bags.Set(&p.nest, axes, terms, f.loops[2:], b.exec(p.lowered.data.DType, p.lowered.axes[0].Dim, f.walked, more), &p.tuning, p.threads)
	for len(f.more) < len(p.lowered.takes) {
		f.more = append(f.more, operand{})
	}
	for i := range f.more {
		if i < len(more) && more[i].dtype.Valid() {
			f.more[i].set(more[i].dtype, more[i].shape, more[i].strides)
		}
	}
}

// axes returns the memory of the program's axes, empty.
func (f *program) axes() []exec.Axis {
	if f.bags != nil {
		return f.bags.Axes()
	}
	return f.Axes()
}

// takesBags reports whether f, which takes the other operands, was chosen for the shapes
// and strides of these further operands, which are as many and as given as those that p
// was prepared for, and for as many bags as their last segment says.
func (p *Prepared) takesBags(f *program, more []Tensor) bool {
	for i := range f.more {
		if i < len(more) && more[i].dtype.Valid() && !f.more[i].is(&more[i]) {
			return false
		}
	}
	if !p.lowered.ended {
		return true
	}
	_, bags, err := lastSegment(&more[p.lowered.bag.EndsAt])
	return err == nil && bags == f.walked[0].Extent
}

// runMore is Run for bags, and for data that is decoded.
func (p *Prepared) runMore(ctx context.Context, data, indices, out *Tensor, more []Tensor) error {
	f := p.fixed
	if f == nil || !f.takes(data, indices, out) || !p.takesBags(f, more) {
		f = p.others.Get().(*program)
		defer p.others.Put(f)
		if !f.takes(data, indices, out) || !p.takesBags(f, more) {
			if err := p.bind(f, data, indices, out, more); err != nil {
				return err
			}
		}
	}
	from, to := f.out.span(out)
	if low, high := f.data.span(data); low < to && from < high { // R.17
		return sharedOutput("data")
	}
	if low, high := f.indices.span(indices); low < to && from < high { // R.17
		return sharedOutput("indices")
	}
	b, stored := p.lowered.bag, p.lowered.stored
	held := [...]Tensor{*data, *indices, {}, {}, {}, {}}
	if b != nil {
		held[2], held[3] = operandAt(more, b.EndsAt), operandAt(more, b.WeightsAt)
	}
	if stored != nil {
		held[4], held[5] = operandAt(more, stored.scales), operandAt(more, stored.zeros)
	}
	for i := range held {
		if err := held[i].hold(); err != nil {
			for j := range i {
				held[j].release()
			}
			return err
		}
	}
	defer func() {
		for i := range held {
			held[i].release()
		}
	}()
	program, bags, memory, bytes := &f.Program, f.bags, data.mem, exec.Stored{}
	if stored != nil {
		operands := [3]Tensor{held[0], held[4], held[5]}
		memory = exec.Memory{Volatile: data.mem.Volatile || held[4].mem.Volatile || held[5].mem.Volatile}
		if !dense(&operands, &bytes) {
			v := vieweds.Get().(*viewed)
			defer v.free()
			program, bags = v.set(stored.decoder, &operands, program, bags, &bytes)
		}
	}
	how := exec.Refused
	inside := b == nil || !b.Empty.Given || 0 <= b.Empty.At && b.Empty.At < p.lowered.axes[0].Dim
	if inside || b.EmptyLate { // R.33
		r := runners.Get().(*exec.Runner)
		r.Progress, r.From = p.progress, bytes
		if b != nil {
			how = r.RunBags(ctx, bags, &memory, &held[1].mem, &held[2].mem, &held[3].mem, &out.mem)
		} else {
			how = r.Run(ctx, program, &memory, &held[1].mem, &out.mem)
		}
		r.From = exec.Stored{}
		runners.Put(r)
	}
	var err error
	if how != exec.Done || !inside && out.Len() == 0 { // then no bag was reduced, and none found empty
		err = p.explain(ctx, how, *data, *indices, more)
	}
	if err == nil || errors.Is(err, ErrIndex) || errors.Is(err, ErrShape) {
		for i := len(held) - 1; i >= 0; i-- {
			if cut := held[i].check(); cut != nil {
				return cut
			}
		}
	}
	return err
}

// lowerAnew lowers the operator for operands of other shapes or strides.
func (p *Prepared) lowerAnew(f *program, data, indices, out *Tensor, more []Tensor) (*Plan, error) {
	plan, l := p.plan, p.lowered
	if plan == nil || p.lowered.odd || p.lowered.bag != nil {
		var err error
		if l, _, err = lower(p.op, data.Spec(), indices.Spec(), p.specsOf(more), slices.Clone(more)); err != nil { // a clone keeps Run's more off the heap
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

// walk sets f's loops from the extents and strides of the operands. It returns
// false if they break a rule or do not fit out; lowerAnew then returns the
// error.
func (l *Lowering) walk(f *program, data, indices, out *Tensor) bool {
	loops := f.walked[:0]
	at, extent := 0, 1
	for i := range l.nest {
		n := &l.nest[i]
		loop := Loop{Extent: n.extent.Min}
		if n.dataAxis > 0 {
			loop.Extent, loop.Data = data.shape[n.dataAxis-1], data.strides[n.dataAxis-1]
		}
		if n.indexAxis > 0 {
			d := indices.shape[n.indexAxis-1]
			if n.dataAxis > 0 && (d > loop.Extent || d < loop.Extent && !n.within) {
				return false
			}
			loop.Extent, loop.Index = d, indices.strides[n.indexAxis-1]
		}
		loops = append(loops, loop)
		// The loop is a dim of the result, alone or as a factor.
		if n.written >= hidden {
			continue
		}
		extent *= loop.Extent
		if i+1 < len(l.nest) && l.nest[i+1].written == joined {
			continue
		}
		if at == len(out.shape) || out.shape[at] != extent {
			return false
		}
		at, extent = at+1, 1
	}
	f.walked = loops
	if at != len(out.shape) {
		return false
	}
	l.restride(loops, out.strides)
	return true
}

func sameDims(shape Shape, dims []Dim) bool {
	if len(shape) != len(dims) {
		return false
	}
	for i, d := range dims {
		if shape[i] < d.Min || shape[i] > d.Max {
			return false
		}
	}
	return true
}
