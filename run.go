package garner

import (
	"context"
	"errors"
	"slices"

	"github.com/garner-go/garner/internal/exec"
)

// Run executes the plan on tensors of the dtypes and shapes that it was
// prepared for; other tensors are an ErrDType or an ErrShape. See GatherInto
// for out and the other errors. A cancelled ctx ends Run within 10 ms with the
// context's cause. No work continues after Run returns. A helper goroutine that
// the scheduler has not started by then exits without work.
//
// further are the operands behind the indices, of the specs that Further gave to Prepare.
//
// Any number of goroutines may run one Prepared at a time, each with its own
// output.
func (p *Prepared) Run(ctx context.Context, data, indices, out Tensor, further ...Tensor) error {
	if (len(further) > 0 || !p.simple) && p.lowered != nil {
		if err := p.takesFurther(further, &out); err != nil {
			return err
		}
		if p.bare {
			if indices.dtype != Invalid { // R.36
				return errorf(ErrAttribute, "indices %s%s are given; the operator takes data alone", indices.dtype, indices.shape)
			}
			indices = noIndices
		}
		if p.lowered.computes {
			return p.runComputed(ctx, &data, &indices, &out, further)
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

// takesFurther checks further operands against those that p was prepared for, and
// that none of them shares memory with out.
func (p *Prepared) takesFurther(further []Tensor, out *Tensor) error {
	for i := len(p.lowered.takes); i < len(further); i++ {
		if further[i].dtype.Valid() { // R.27
			return errorf(ErrAttribute, "the operator takes %d operands; %d were given", 2+len(p.lowered.takes), 3+i)
		}
	}
	for i, o := range p.lowered.takes {
		s, t := &p.lowered.further[i], Tensor{}
		if i < len(further) {
			t = further[i]
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
	if err := f.outputApart(data, indices, out); err != nil {
		return err
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

// outputApart is the error of an output that shares memory with data or the indices.
func (f *program) outputApart(data, indices, out *Tensor) error {
	from, to := f.out.span(out)
	if low, high := f.data.span(data); low < to && from < high { // R.17
		return sharedOutput("data")
	}
	if low, high := f.indices.span(indices); low < to && from < high { // R.17
		return sharedOutput("indices")
	}
	return nil
}

// runKept is runProgram for operands that Keepers keep.
func (p *Prepared) runKept(ctx context.Context, f *program, data, indices, out *Tensor) error {
	held := [...]Tensor{*data, *indices}
	if err := holdAll(held[:]); err != nil {
		return err
	}
	defer releaseAll(held[:])
	heldData, heldIndices := *data, *indices
	heldData.keeper, heldIndices.keeper = nil, nil
	err := p.runProgram(ctx, f, &heldData, &heldIndices, out)
	var cut error
	switch {
	case err == nil || errors.Is(err, ErrFault):
		cut = checkAll(held[:])
	case errors.Is(err, ErrIndex):
		cut = checkAll(held[1:])
	}
	if cut != nil {
		return cut
	}
	return err
}

// holdAll holds the memory of tensors; on an error, of none.
func holdAll(tensors []Tensor) error {
	for i := range tensors {
		if err := tensors[i].hold(); err != nil {
			releaseAll(tensors[:i])
			return err
		}
	}
	return nil
}

// releaseAll releases what holdAll holds.
func releaseAll(tensors []Tensor) {
	for i := range tensors {
		tensors[i].release()
	}
}

// checkAll checks the memory of tensors, of the last one first.
func checkAll(tensors []Tensor) error {
	for i := len(tensors) - 1; i >= 0; i-- {
		if cut := tensors[i].check(); cut != nil {
			return cut
		}
	}
	return nil
}

// sharedOutput is the error of an output that shares memory with the operand of a name.
func sharedOutput(name string) error {
	return errorf(ErrOverlap, "the output shares memory with an input, %s; gather into memory of its own", name)
}

// explain returns the error of a run that did not succeed. For a refused index
// it finds the first in row-major order.
func (p *Prepared) explain(ctx context.Context, how exec.Outcome, data, indices Tensor, further []Tensor) error {
	switch how {
	case exec.Vanished:
		return Vanished()
	case exec.Stopped:
		return context.Cause(ctx)
	}
	plan := p.plan
	if plan == nil || p.lowered.ended { // other segments can say another number of bags
		l, _, err := lower(p.op, p.specOf(&data), indices.Spec(), p.specsOf(further), slices.Clone(further))
		if err != nil {
			return err
		}
		if plan, err = l.needWhole(p.specOf(&data), indices.Spec()); err != nil {
			return err
		}
	}
	if err := plan.check(ctx, indices, further); err != nil || how == exec.Done {
		return err
	}
	return changedIndices()
}

// runComputed is Run for bags, and for data that is decoded.
func (p *Prepared) runComputed(ctx context.Context, data, indices, out *Tensor, further []Tensor) error {
	f := p.fixed
	if f == nil || !f.takes(data, indices, out) || !p.takesBags(f, further) {
		f = p.others.Get().(*program)
		defer p.others.Put(f)
		if !f.takes(data, indices, out) || !p.takesBags(f, further) {
			if err := p.bind(f, data, indices, out, further); err != nil {
				return err
			}
		}
	}
	if err := f.outputApart(data, indices, out); err != nil {
		return err
	}
	b, stored := p.lowered.bag, p.lowered.stored
	held := [...]Tensor{*data, *indices, {}, {}, {}, {}}
	if b != nil {
		held[2], held[3] = operandAt(further, b.EndsAt), operandAt(further, b.WeightsAt)
	}
	if stored != nil {
		held[4], held[5] = operandAt(further, stored.scales), operandAt(further, stored.zeros)
	}
	if err := holdAll(held[:]); err != nil {
		return err
	}
	defer releaseAll(held[:])
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
	if inside || b.EmptyOnUse { // R.33
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
		err = p.explain(ctx, how, *data, *indices, further)
	}
	if err == nil || errors.Is(err, ErrIndex) || errors.Is(err, ErrShape) || errors.Is(err, ErrFault) {
		if cut := checkAll(held[:]); cut != nil {
			return cut
		}
	}
	return err
}
