package garner

import (
	"context"
	"sort"
)

// bags are the operands of a plan: the definition of what the terms of its bags are, if
// it has bags.
type bags struct {
	*Plan
	data, indices Tensor // data is the zero Tensor while operands are only checked
	ends, weights Tensor // the zero Tensor where there are none
	stored        *views // of the definition: what adds the terms of a Summer; else nil
}

// ofBags returns the operands of p's bags.
func (p *Plan) ofBags(data, indices Tensor, further []Tensor) *bags {
	return &bags{p, data, indices, operandAt(further, p.Bag.EndsAt), operandAt(further, p.Bag.WeightsAt), nil}
}

// bagsOf returns the operands of p, without data, for checks of them. indices of another
// dtype or shape than the plan's are an ErrDType or an ErrShape; so are ends and weights.
func (p *Plan) bagsOf(indices Tensor, further []Tensor) (*bags, error) {
	if err := p.takes(indices); err != nil {
		return nil, err
	}
	return p.furtherOf(indices, further)
}

// furtherOf is bagsOf of indices that are checked, or a part of them.
func (p *Plan) furtherOf(indices Tensor, further []Tensor) (*bags, error) {
	if p.Bag == nil {
		return &bags{Plan: p, indices: indices}, nil
	}
	b := p.ofBags(Tensor{}, indices, further)
	if b.ends.dtype.Valid() {
		name, rank, length := p.operands[p.Bag.EndsAt.At].Name, 1, b.count()
		switch p.Bag.Ends {
		case Bounds:
			length++
		case Segments:
			length = b.terms()
		}
		if p.Bag.Column {
			rank = 2
		}
		if !b.ends.dtype.IsInteger() { // R.26
			return nil, noInteger(name, b.ends.dtype)
		}
		if len(b.ends.shape) != rank || b.ends.shape[0] != length || rank == 2 && b.ends.shape[1] == 0 {
			return nil, shapeError(KindMismatch, "%s is %s%s; the plan was made for rank %d and %d elements along axis 0", name, b.ends.dtype, b.ends.shape, rank, length)
		}
	}
	if b.weights.dtype.Valid() {
		name := p.operands[p.Bag.WeightsAt.At].Name
		if b.weights.dtype != p.DType { // R.35
			return nil, errorf(ErrDType, "%s is %s; the plan was made for %s", name, b.weights.dtype, p.DType)
		}
		if !b.weights.shape.Equal(p.Indices) { // R.35
			return nil, shapeError(KindMismatch, "%s is %s%s; the plan was made for the shape of the indices, %s", name, b.weights.dtype, b.weights.shape, p.Indices)
		}
	}
	return b, nil
}

// guard calls look while the memory of every operand is held.
func (b *bags) guard(look func(b *bags) error) error {
	return b.data.Guard(func(data Tensor) error {
		return b.indices.Guard(func(indices Tensor) error {
			return b.ends.Guard(func(ends Tensor) error {
				return b.weights.Guard(func(weights Tensor) error {
					return look(&bags{b.Plan, data, indices, ends, weights, b.stored})
				})
			})
		})
	})
}

// count returns the number of bags, terms that of all indices.
func (b *bags) count() int { return b.Loops[0].Extent }
func (b *bags) terms() int { n, _ := b.Indices.Len(); return n }

// end returns element i of the operand that says where bags end.
func (b *bags) end(i int) Index {
	return b.ends.index(b.ends.mem.Offset + i*b.ends.strides[0])
}

// between returns the terms of a bag: those from first on, and before end. The ends
// are checked.
func (b *bags) between(bag int) (first, end int) {
	switch n := b.terms(); b.Bag.Ends {
	case Even:
		each := b.Loops[1].Extent
		return bag * each, (bag + 1) * each
	case Segments:
		from := func(bag int) int { return sort.Search(n, func(t int) bool { return b.end(t).Bits >= uint64(bag) }) }
		return from(bag), from(bag + 1)
	default:
		end = n
		if bag+1 < b.ends.Len() {
			end = int(b.end(bag + 1).Bits)
		}
		return int(b.end(bag).Bits), end
	}
}

// each calls f with the terms of each bag, from first on and before end, until f returns
// false. The ends are checked. It is an error of the context alone.
func (b *bags) each(ctx context.Context, f func(first, end int) bool) error {
	first, end := 0, 0
	for bag := range b.count() {
		if bag%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if b.Bag.Ends == Segments { // a search for each bag takes longer than one pass
			for first = end; end < b.terms() && b.end(end).Bits == uint64(bag); end++ {
				if end%4096 == 0 && ctx.Err() != nil {
					return context.Cause(ctx)
				}
			}
		} else {
			first, end = b.between(bag)
		}
		if !f(first, end) {
			return nil
		}
	}
	return nil
}

// endAt returns the position of element i of the ends in their operand.
func (b *bags) endAt(i int) Shape {
	if b.Bag.Column {
		return Shape{i, 0}
	}
	return Shape{i}
}

// checkEnds returns the error of ends that no bags can have as wrong, and the context's
// cause as err. Without the operand of the ends there is neither.
func (b *bags) checkEnds(ctx context.Context) (wrong, err error) {
	if !b.ends.dtype.Valid() {
		return nil, nil
	}
	n, name := b.terms(), b.operands[b.Bag.EndsAt.At].Name
	stopped := func(i int) bool { return i%4096 == 0 && ctx.Err() != nil }
	switch b.Bag.Ends {
	case Starts, ZeroStart, Bounds: // R.31
		var last Index
		for i := range b.ends.Len() {
			if stopped(i) {
				return nil, context.Cause(ctx)
			}
			v := b.end(i)
			switch {
			case v.negative():
				return shapeError(KindMismatch, "%s[%d] = %s; a bag begins at an index of 0…%d", name, i, v, n), nil
			case i == 0 && b.Bag.Ends != Starts && v.Bits != 0:
				return shapeError(KindMismatch, "%s[0] = %s; the first bag must begin at 0", name, v), nil
			case v.Bits < last.Bits:
				return shapeError(KindMismatch, "%s[%d] = %s, and the one before is %s; they must not fall", name, i, v, last), nil
			case v.Bits > uint64(n):
				return shapeError(KindMismatch, "%s[%d] = %s passes the end; there are %d indices", name, i, v, n), nil
			}
			last = v
		}
	case Segments: // R.32
		for t := 1; t < n; t++ {
			if stopped(t) {
				return nil, context.Cause(ctx)
			}
			if v, last := b.end(t), b.end(t-1); v.negative() && !last.negative() || v.negative() == last.negative() && v.Bits < last.Bits {
				return shapeError(KindMismatch, "%s%s = %s, and the one before is %s; they must not fall", name, b.endAt(t), v, last), nil
			}
		}
		var bad *IndexError
		for t := range n {
			if stopped(t) {
				return nil, context.Cause(ctx)
			}
			if v := b.end(t); v.negative() || v.Bits >= uint64(b.count()) {
				if bad == nil {
					bad = &IndexError{Operand: name, Position: b.endAt(t), Value: v, Axis: BagAxis, Dim: b.count(), Others: -1, Total: n}
				}
				bad.Others++
			}
		}
		if bad != nil {
			return bad, nil
		}
	}
	return nil, nil
}

// checkWith returns the error of what a run refuses, given the check of the indices: first
// of ends, then of the indices, then of the row of empty bags.
func (b *bags) checkWith(ctx context.Context, indices func() error) error {
	if b.Bag == nil {
		return indices()
	}
	wrong, err := b.checkEnds(ctx)
	if err == nil && wrong == nil {
		err = indices()
	}
	if err == nil && wrong == nil {
		wrong, err = b.checkEmpty(ctx)
	}
	if err == nil {
		err = wrong
	}
	return err
}

// checkEmpty returns the error of a row of empty bags that data does not have as wrong,
// and the context's cause as err. Without the operand of the ends no bag counts as empty.
func (b *bags) checkEmpty(ctx context.Context) (wrong, err error) { // R.33
	empty, axis := b.Bag.Empty, b.Axes[0]
	if !empty.Given || empty.At >= 0 && empty.At < axis.Dim {
		return nil, nil
	}
	if b.Bag.EmptyOnUse {
		if empty, err := b.anyEmpty(ctx); err != nil || !empty {
			return nil, err
		}
	}
	return &IndexError{Operand: b.emptyName, Value: Index{Bits: uint64(empty.At)}, Axis: axis.Number, Dim: axis.Dim, Total: 1}, nil
}

// anyEmpty reports whether a bag has no term.
func (b *bags) anyEmpty(ctx context.Context) (empty bool, err error) {
	if b.Bag.Ends != Even && !b.ends.dtype.Valid() {
		return false, nil
	}
	err = b.each(ctx, func(first, end int) bool {
		for empty = true; first < end && empty; first++ {
			if first%4096 == 0 && ctx.Err() != nil {
				return false
			}
			empty = b.leftOut(b.valueOf(first), first)
		}
		return !empty
	})
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return empty, err
}

// valueOf returns the index of a term.
func (b *bags) valueOf(t int) Index { return b.indices.index(b.indices.position(t)) }

// leftOut reports whether a term, given its index, counts nowhere.
func (b *bags) leftOut(v Index, t int) bool {
	if b.Bag == nil {
		return false
	}
	if b.Bag.SkipNegative && v.negative() {
		return true
	}
	if b.Bag.SkipWeightless && b.weights.dtype.Valid() {
		if w, _ := b.weights.Float64(t); !(w > 0) {
			return true
		}
	}
	if !b.Bag.Padding.Given {
		return false
	}
	at, ok := b.position(v, b.Axes[0].Dim)
	return ok && at == b.Bag.Padding.At
}
