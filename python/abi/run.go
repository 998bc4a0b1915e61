package main

/*
#include "garner.h"
*/
import "C"

import (
	"bytes"
	"context"
	"encoding/json"
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

// A prepared is an operator for operands of known layouts.
type prepared struct {
	p                  *garner.Prepared
	data, indices, out known
	further            []view
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
		_, bound, err := o.op()
		if err != nil {
			return err
		}
		p := &prepared{}
		views := []*view{&p.data.view, &p.indices.view}
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
		var options []garner.PrepareOption
		if len(p.further) > 0 {
			options = append(options, garner.Further(specs[2:]...), garner.FurtherValues(values[2:]...))
		}
		if p.p, err = garner.Prepare(bound, specs[0], specs[1], append(options, garner.Threads(int(threads)))...); err != nil {
			return err
		}
		plan := p.p.Plan()
		if plan != nil && plan.Bag == nil && threads == 0 && threadsOf(p.p, p.data.end-p.data.first) == 1 {
			if p.p, err = garner.Prepare(bound, specs[0], specs[1], append(options, garner.Threads(1))...); err != nil {
				return err
			}
		}
		if plan == nil {
			return garner.Errorf(garner.ErrShape, "the shape of the result is not known before a run; give operands with memory")
		}
		p.out.view = view{given: true, dtype: plan.DType, shape: plan.Out, strides: plan.Out.Strides()}
		n, _ := plan.Out.Len()
		p.out.end = (n*plan.DType.Bits() + 7) / 8
		to.rank, to.dtype = C.int32_t(len(plan.Out)), dlOf(plan.DType)
		for i, n := range plan.Out {
			to.shape[i] = C.int64_t(n)
		}
		to.handle = C.int64_t(put(p))
		return nil
	}))
}

// runPrepared is garner_run on a thread of C.
//
//export runPrepared
func runPrepared(number C.int64_t, data, indices, out unsafe.Pointer, further *unsafe.Pointer, look C.garner_look, mapped C.int32_t, thread C.uint64_t) C.int64_t {
	return tell(safely("garner_run", func() error {
		p, err := get[*prepared](int64(number))
		if err == nil && mapped != 0 {
			err = guard()
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
		if look != nil {
			ctx = &looking{look: look, thread: thread}
		}
		return p.run(ctx, data, indices, out, given)
	}))
}

func (p *prepared) run(ctx context.Context, data, indices, out unsafe.Pointer, further []unsafe.Pointer) error {
	d, err := p.data.at(data)
	if err != nil {
		return err
	}
	i, err := p.indices.at(indices)
	if err != nil {
		return err
	}
	o, err := p.out.at(out)
	if err != nil {
		return err
	}
	if len(further) == 0 {
		return p.p.Run(ctx, d, i, o)
	}
	more := make([]garner.Tensor, len(further))
	for k := range more {
		if more[k], err = p.further[k].at(further[k]); err != nil {
			return err
		}
	}
	return p.p.Run(ctx, d, i, o, more...)
}

// aloneTime is the estimate, in nanoseconds, of the longest run that takes one core: a thread
// of C that wakes others waits some 50 µs for them.
const aloneTime = 1_000_000

// threadsOf returns the cores for a run over so many bytes of data: one where it is short,
// which 0 does not say.
func threadsOf(p *garner.Prepared, data int) int {
	r := p.Regime()
	n, _ := p.Plan().Out.Len()
	bytes := n * p.Plan().DType.Bits() / 8
	rows := bytes / max(r.SliceSize, 1)
	if data > farBytes {
		rows *= 4
	}
	if rows+bytes/32 < aloneTime {
		return 1
	}
	return 0
}

// farBytes is the size from which data counts as beyond the caches.
const farBytes = 32 << 20

//export garner_release
func garner_release(handle C.int64_t) {
	safely("garner_release", func() error {
		release(int64(handle))
		return nil
	})
}
