package main

/*
#include "garner.h"
*/
import "C"

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/operators"
)

// An operation is an operator as JSON names it.
type operation struct {
	Name     string         `json:"name"`
	Values   map[string]any `json:"values"`
	Negative string         `json:"negative"` // "", reject, from-end
	Outside  string         `json:"outside"`  // "", error, zero, clamp, wrap, fill
	Fill     string         `json:"fill"`     // the value of fill, as text
}

// unmarshal reads JSON whose integers stay exact.
func unmarshal(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return argumentf("a request that is no JSON of one: %v", err)
	}
	return nil
}

// op makes the operator.
func (o *operation) op() (operators.Operator, garner.Op, error) {
	of, err := operators.Find(o.Name, 0)
	if err != nil {
		return of, nil, err
	}
	op, err := of.New(o.Values)
	if err != nil {
		return of, nil, err
	}
	switch o.Negative {
	case "":
	case garner.Reject.String():
		op = garner.WithNegative(op, garner.Reject)
	case garner.FromEnd.String():
		op = garner.WithNegative(op, garner.FromEnd)
	default:
		return of, nil, garner.Errorf(garner.ErrAttribute, "negative %q; give reject or from-end", o.Negative)
	}
	switch o.Outside {
	case "":
	case "fill":
		op = garner.WithFillText(op, o.Fill)
	case "error":
		op = garner.WithOutside(op, garner.Error)
	case "zero":
		op = garner.WithOutside(op, garner.Zero)
	case "clamp":
		op = garner.WithOutside(op, garner.Clamp)
	case "wrap":
		op = garner.WithOutside(op, garner.Wrap)
	default:
		return of, nil, garner.Errorf(garner.ErrAttribute, "outside %q; give error, zero, clamp, wrap, or fill= with a value", o.Outside)
	}
	return of, op, nil
}

// A prepared is an operator for data of one layout, and, as serves says, for indices of many.
type prepared struct {
	p       *garner.Prepared
	op      garner.Op
	data    known
	indices view // as they were at garner_prepare
	out     view
	further []view
	serves  int
	last    atomic.Pointer[layout] // of the last run
}

// The extents of the indices that runs may change.
const (
	servesNone  = 0
	servesFirst = 1 // all but the last
	servesAll   = 2
)

// A layout is what a run knows by the numbers of garner_run. It is immutable.
type layout struct {
	numbers            []C.int64_t
	indices, out       view
	indicesOf, outputs garner.Tensor // over no memory, see nowhere
	plan               *garner.Plan  // for GARNER_WHOLE; nil: not asked for yet
}

//export garner_prepare
func garner_prepare(op *C.char, length C.int64_t, operands **C.DLTensor, count, threads C.int32_t, to *C.garner_prepared) C.int64_t {
	return tell(safely("garner_prepare", func() error {
		var o operation
		if to == nil {
			return argumentf("garner_prepare has no place for its result")
		}
		text, err := memory("a request", (*byte)(unsafe.Pointer(op)), length)
		if err == nil {
			err = unmarshal(text, &o)
		}
		if err != nil {
			return err
		}
		list, err := listed(operands, count)
		if err != nil {
			return err
		}
		if len(list) < 2 {
			return argumentf("%d operands; give data and indices, which may be NULL", count)
		}
		p := &prepared{}
		if _, p.op, err = o.op(); err != nil {
			return err
		}
		views := []*view{&p.data.view, &p.indices}
		p.further = make([]view, len(list)-2)
		for i := range p.further {
			views = append(views, &p.further[i])
		}
		specs, values := make([]garner.Spec, len(list)), make([]garner.Tensor, len(list))
		for i, t := range list {
			if *views[i], values[i], err = tensorAt(t); err != nil {
				return err
			}
			specs[i] = views[i].spec()
		}
		options := []garner.PrepareOption{garner.Threads(int(threads))}
		var plan *garner.Plan
		if len(p.further) > 0 || !p.indices.given {
			options = append(options, garner.Further(specs[2:]...), garner.FurtherValues(values[2:]...))
			if p.p, err = garner.Prepare(p.op, specs[0], specs[1], options...); err != nil {
				return err
			}
			plan = p.p.Plan()
		} else {
			if plan, err = garner.NewPlan(p.op, specs[0], specs[1]); err != nil {
				return err
			}
			if err = p.prepare(specs, options); err != nil {
				return err
			}
		}
		if plan == nil {
			return garner.Errorf(garner.ErrShape, "the shape of the result is not known before a run; give operands with memory")
		}
		p.out = rowMajor(plan.DType, plan.Out)
		to.rank, to.dtype, to.serves = C.int32_t(len(plan.Out)), dlOf(plan.DType), C.int32_t(p.serves)
		for i, n := range plan.Out {
			to.shape[i] = C.int64_t(n)
		}
		to.handle = C.int64_t(put(p))
		return nil
	}))
}

// prepare prepares for indices of as many extents as the operator leaves open.
func (p *prepared) prepare(specs []garner.Spec, options []garner.PrepareOption) (err error) {
	dims := slices.Repeat([]garner.Dim{garner.AnyDim}, len(p.indices.shape))
	for p.serves = servesAll; p.serves > servesNone; p.serves-- {
		if p.serves == servesFirst && len(dims) > 0 {
			dims[len(dims)-1] = garner.Exactly(p.indices.shape[len(dims)-1])
		}
		if p.p, err = garner.Prepare(p.op, specs[0], garner.SpecOfDims(p.indices.dtype, dims...), options...); err == nil {
			return nil
		}
	}
	p.p, err = garner.Prepare(p.op, specs[0], specs[1], options...)
	return err
}

// rowMajor returns the view of a row-major array.
func rowMajor(dtype garner.DType, shape garner.Shape) view {
	n, _ := shape.Len()
	return view{given: true, dtype: dtype, shape: shape, strides: shape.Strides(), end: (n*dtype.Bits() + 7) / 8}
}

//export garner_shape
func garner_shape(number C.int64_t, extents, shape *C.int64_t) C.int64_t {
	return tell(safely("garner_shape", func() error {
		p, err := get[*prepared](int64(number))
		if err != nil {
			return err
		}
		rank := len(p.indices.shape)
		if rank > 0 && extents == nil || len(p.out.shape) > 0 && shape == nil {
			return argumentf("garner_shape takes %d extents, and has no place for them or for its result", rank)
		}
		of := p.indices.spec()
		for i, n := range unsafe.Slice(extents, rank) {
			if n < 0 {
				return garner.Errorf(garner.ErrShape, "indices of %d in dim %d", n, i)
			}
			of.Dims[i] = garner.Exactly(int(n))
		}
		of.Strides = nil
		plan, err := p.planOf(of)
		if err != nil {
			return err
		}
		for i, n := range plan.Out {
			unsafe.Slice(shape, len(plan.Out))[i] = C.int64_t(n)
		}
		return nil
	}))
}

// planOf returns the plan for indices of a spec.
func (p *prepared) planOf(indices garner.Spec) (*garner.Plan, error) {
	if len(p.further) > 0 {
		return nil, argumentf("the operator was prepared with further operands, for one layout")
	}
	plan, err := garner.NewPlan(p.op, p.data.spec(), indices)
	if err == nil && len(plan.Out) != len(p.out.shape) {
		err = argumentf("the result has rank %d, and %d at garner_prepare", len(plan.Out), len(p.out.shape))
	}
	return plan, err
}

// runPrepared is garner_run on a thread of C.
//
//export runPrepared
func runPrepared(number C.int64_t, data, indices unsafe.Pointer, numbers *C.int64_t, out unsafe.Pointer, further *unsafe.Pointer, look C.garner_look, flags C.int32_t, thread C.uint64_t) C.int64_t {
	return tell(safely("garner_run", func() error {
		p, err := get[*prepared](int64(number))
		mapped := flags&C.GARNER_MAPPED != 0
		if err == nil && mapped {
			if err = guard(); err != nil && !ofFiles(data, indices, out) {
				err = nil
			} else if err != nil {
				err = fmt.Errorf("%w; copy what is mapped first, as by numpy.array", err)
			}
		}
		if err != nil {
			return err
		}
		var given []unsafe.Pointer
		if len(p.further) > 0 {
			if further == nil {
				return argumentf("the call takes %d further operands", len(p.further))
			}
			given = unsafe.Slice(further, len(p.further))
		}
		ctx := context.Background()
		if look != nil || mapped {
			ctx = &looking{look: look, thread: thread, mapped: mapped}
		}
		return p.run(ctx, data, indices, p.numbers(numbers), out, given, flags&C.GARNER_WHOLE != 0)
	}))
}

// numbers returns the layout of a call as a slice; nil for that of garner_prepare.
func (p *prepared) numbers(at *C.int64_t) []C.int64_t {
	if at == nil {
		return nil
	}
	return unsafe.Slice(at, 2*len(p.indices.shape)+len(p.out.shape))
}

// layout returns that of a run, with tensors over its memory.
func (p *prepared) layout(numbers []C.int64_t, indices, out unsafe.Pointer) (l *layout, i, o garner.Tensor, err error) {
	if l = p.last.Load(); l != nil && slices.Equal(l.numbers, numbers) {
		b, err := l.indices.bytes(indices)
		if err != nil {
			return l, i, o, err
		}
		to, err := l.out.bytes(out)
		if err != nil {
			return l, i, o, err
		}
		if l.indices.given {
			if i, err = l.indicesOf.Over(b); err != nil {
				return l, i, o, err
			}
		}
		o, err = l.outputs.Over(to)
		return l, i, o, err
	}
	l = &layout{numbers: slices.Clone(numbers), indices: p.indices, out: p.out}
	if numbers != nil {
		rank, size := len(p.indices.shape), C.int64_t(max(p.indices.dtype.Bits()/8, 1))
		l.indices.shape, l.indices.strides = make([]int, rank), make([]int, rank)
		for k := range rank {
			by := numbers[rank+k]
			if numbers[k] <= 1 {
				by = 0 // whatever it is, no element lies so far away
			}
			if by%size != 0 {
				return l, i, o, argumentf("the indices have a stride of %d bytes, and elements of %d", by, size)
			}
			l.indices.shape[k], l.indices.strides[k] = int(numbers[k]), int(by/size)
		}
		if l.indices.given {
			if err := l.indices.measure(); err != nil {
				return l, i, o, err
			}
		}
		shape := make(garner.Shape, len(p.out.shape))
		for k := range shape {
			shape[k] = int(numbers[2*rank+k])
		}
		if _, ok := shape.Len(); !ok {
			return l, i, o, garner.Errorf(garner.ErrShape, "an output of shape %v: its extents are negative, or have no product", shape)
		}
		l.out = rowMajor(p.out.dtype, shape)
	}
	if i, err = l.indices.at(indices); err != nil {
		return l, i, o, err
	}
	if o, err = l.out.at(out); err != nil {
		return l, i, o, err
	}
	if l.indices.given {
		if l.indicesOf, err = nowhere(i, l.indices.end-l.indices.first); err != nil {
			return l, i, o, err
		}
	}
	if l.outputs, err = nowhere(o, l.out.end-l.out.first); err != nil {
		return l, i, o, err
	}
	p.last.Store(l)
	return l, i, o, nil
}

func (p *prepared) run(ctx context.Context, data, indices unsafe.Pointer, numbers []C.int64_t, out unsafe.Pointer, further []unsafe.Pointer, whole bool) error {
	d, err := p.data.at(data)
	if err != nil {
		return err
	}
	l, i, o, err := p.layout(numbers, indices, out)
	if err != nil {
		return err
	}
	var more []garner.Tensor
	if len(further) > 0 {
		more = make([]garner.Tensor, len(further))
		for k := range more {
			if more[k], err = p.further[k].at(further[k]); err != nil {
				return err
			}
		}
	}
	if whole && l.indices.given {
		if err := p.check(ctx, l, i, more); err != nil {
			return err
		}
	}
	return p.p.Run(ctx, d, i, o, more...)
}

// check returns the error of an index that the run will refuse.
func (p *prepared) check(ctx context.Context, l *layout, indices garner.Tensor, further []garner.Tensor) error {
	plan := l.plan
	if plan == nil {
		if plan = p.p.Plan(); plan == nil {
			var err error
			if plan, err = p.planOf(indices.Spec()); err != nil {
				return err
			}
		}
		known := *l
		known.plan = plan
		p.last.CompareAndSwap(l, &known)
	}
	if err := plan.Check(ctx, indices, further...); errors.Is(err, garner.ErrIndex) || errors.Is(err, garner.ErrFault) {
		return err
	}
	return nil // the run has its own words for the rest
}

//export garner_release
func garner_release(handle C.int64_t) {
	safely("garner_release", func() error {
		release(int64(handle))
		return nil
	})
}
