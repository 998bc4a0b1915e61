package garner

import "context"

// Reference runs op as its plan defines it, one element after another, on one
// core: the definition that every executor is tested against. The result is new
// and row-major. Errors are those of NewPlan, an *IndexError for a refused index,
// and those of Guard.
func Reference(op Op, data, indices Tensor, further ...Tensor) (Tensor, error) {
	p, elements, indices, err := checkedPlan(op, data, indices, further)
	if err != nil {
		return Tensor{}, err
	}
	out, err := New(p.DType, p.Out...)
	if err != nil {
		return Tensor{}, err
	}
	return out, p.defineInto(out, elements, data, indices, further, 0)
}

// ReferenceParts is Reference for a result that need not fit in memory. part
// returns n elements of the row-major result, from the first-th on, as a
// vector. Elements that the result does not have are an ErrShape.
func ReferenceParts(op Op, data, indices Tensor, further ...Tensor) (part func(first, n int) (Tensor, error), err error) {
	p, elements, indices, err := checkedPlan(op, data, indices, further)
	if err != nil {
		return nil, err
	}
	total, _ := p.Out.Len()
	return func(first, n int) (Tensor, error) {
		if first < 0 || n < 0 || first > total || n > total-first {
			return Tensor{}, shapeError(KindMismatch, "%d elements from element %d on; the result has %d", n, first, total)
		}
		out, err := New(p.DType, n)
		if err != nil {
			return Tensor{}, err
		}
		return out, p.defineInto(out, elements, data, indices, further, first)
	}, nil
}

// checkedPlan lowers op and checks every index. It returns the operands that the plan
// walks: data is decoded if it is stored in another form.
func checkedPlan(op Op, data, indices Tensor, further []Tensor) (p *Plan, elements, checked Tensor, err error) {
	l, _, err := lower(op, data.Spec(), indices.Spec(), specs(further), further)
	if err != nil {
		return nil, data, indices, err
	}
	if p, err = l.needWhole(data.Spec(), indices.Spec()); err != nil {
		return nil, data, indices, err
	}
	if data, indices, err = p.decoded(data, indices, further); err == nil {
		err = p.check(context.Background(), indices, further)
	}
	return p, data, indices, err
}

// decoded returns the data and the indices that the definition of a plan walks, given
// those of a call.
func (p *Plan) decoded(data, indices Tensor, further []Tensor) (Tensor, Tensor, error) {
	if len(p.Axes) == 0 && indices.dtype == Invalid {
		indices = noIndices
	}
	if p.Stored == nil {
		return data, indices, nil
	}
	data, err := p.Stored.Decode(data, further...)
	return data, indices, err
}

// defineInto sets the elements of dst, which is new and row-major, to those of the
// result from the first-th on. elements are those of data, decoded. Errors are those of
// Guard.
func (p *Plan) defineInto(dst, elements, data, indices Tensor, further []Tensor, first int) error {
	n := dst.Len()
	if n == 0 { // the loops of an empty result can turn 2^60 times
		return nil
	}
	if p.Bag != nil {
		b := p.ofBags(elements, indices, further)
		define := func() error {
			return b.guard(func(b *bags) error {
				b.defineBags(dst, first)
				return nil
			})
		}
		if !p.Sums() {
			return define()
		}
		return p.Stored.held(data, further, func(v *views) error {
			b.stored = v
			return define()
		})
	}
	// reach[at] is the distance between the first and the last element that the
	// loops from at on reach.
	reach := make([]int, len(p.Loops)+1)
	reach[len(p.Loops)] = p.Slice - 1
	for at := len(p.Loops) - 1; at >= 0; at-- {
		reach[at] = reach[at+1] + (p.Loops[at].Extent-1)*p.Loops[at].Out
	}
	return elements.Guard(func(data Tensor) error {
		return indices.Guard(func(indices Tensor) error {
			d := definition{Plan: p, dst: dst, data: data, indices: indices, first: first, end: first + n, reach: reach}
			d.walk(0, 0, data.mem.Offset, indices.mem.Offset)
			return nil
		})
	})
}

// A definition is the evaluation of a plan for the elements first … end-1 of its
// result.
type definition struct {
	*Plan
	dst, data, indices Tensor
	first, end         int
	reach              []int
}

// walk evaluates the formula in Plan's comment over its loops from at on,
// normalised or not. out, row and tuple are the positions in the result, in data
// and in indices that the loops outside at have reached.
func (d *definition) walk(at, out, row, tuple int) {
	if out >= d.end || out+d.reach[at] < d.first {
		return
	}
	if at < len(d.Loops) {
		l := d.Loops[at]
		for c := range l.Extent {
			d.walk(at+1, out+c*l.Out, row+c*l.Data, tuple+c*l.Index)
		}
		return
	}
	from, to := max(0, d.first-out), min(d.Slice, d.end-out)
	put := d.dst.mem.Offset + out - d.first
	for _, axis := range d.Axes {
		i, _ := d.position(d.indices.index(tuple+axis.Index), axis.Dim)
		if i < 0 {
			if d.Outside == Fill {
				for e := from; e < to; e++ {
					copyElement(d.dst, put+e, d.Fill, d.Fill.mem.Offset)
				}
			}
			return // dst is new, so it holds zeros
		}
		row += axis.offset(i)
	}
	for e := from; e < to; e++ {
		copyElement(d.dst, put+e, d.data, row+e)
	}
}
