package garner

import (
	"context"
	"math"
	"sort"

	"github.com/garner-go/garner/internal/kernel"
)

// bags are the operands of a plan of bags: the definition of what its terms are.
type bags struct {
	*Plan
	data, indices Tensor
	ends, weights Tensor // the zero Tensor where there are none
}

// ofBags returns the operands of p's bags.
func (p *Plan) ofBags(data, indices Tensor, more []Tensor) *bags {
	return &bags{p, data, indices, operandAt(more, p.Bag.EndsAt), operandAt(more, p.Bag.WeightsAt)}
}

// guard calls look while the memory of every operand is held.
func (b *bags) guard(look func(b *bags) error) error {
	return b.data.Guard(func(data Tensor) error {
		return b.indices.Guard(func(indices Tensor) error {
			return b.ends.Guard(func(ends Tensor) error {
				return b.weights.Guard(func(weights Tensor) error {
					return look(&bags{b.Plan, data, indices, ends, weights})
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
	case Segments, SegmentRows:
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

// A pace looks at a context once in some thousand steps of less than a microsecond each.
type pace struct {
	ctx   context.Context
	steps int
}

// stopped counts a step, and reports whether the context has ended.
func (p *pace) stopped() bool {
	p.steps++
	return p.steps%4096 == 0 && p.ctx.Err() != nil
}

// checkEnds returns the error of ends that no bags can have.
func (b *bags) checkEnds(at *pace) error {
	n, name := b.terms(), ""
	if b.Bag.EndsAt >= 0 {
		name = b.operands[b.Bag.EndsAt].Name
	}
	switch b.Bag.Ends {
	case Starts, ZeroStart, Bounds: // R.31
		var last Index
		for i := range b.ends.Len() {
			v := b.end(i)
			switch {
			case at.stopped():
				return context.Cause(at.ctx)
			case v.negative():
				return shapeError(KindMismatch, "%s[%d] = %s; a bag begins at an index of 0…%d", name, i, v, n)
			case i == 0 && b.Bag.Ends != Starts && v.Bits != 0:
				return shapeError(KindMismatch, "%s[0] = %s; the first bag must begin at 0", name, v)
			case v.Bits < last.Bits:
				return shapeError(KindMismatch, "%s[%d] = %s, and the one before is %s; they must not fall", name, i, v, last)
			case v.Bits > uint64(n):
				return shapeError(KindMismatch, "%s[%d] = %s passes the end; there are %d indices", name, i, v, n)
			}
			last = v
		}
	case Segments, SegmentRows: // R.32
		for t := 1; t < n; t++ {
			if at.stopped() {
				return context.Cause(at.ctx)
			}
			if v, last := b.end(t), b.end(t-1); v.negative() && !last.negative() || v.negative() == last.negative() && v.Bits < last.Bits {
				return shapeError(KindMismatch, "%s[%d] = %s, and the one before is %s; they must not fall", name, t, v, last)
			}
		}
		var bad *IndexError
		for t := range n {
			if at.stopped() {
				return context.Cause(at.ctx)
			}
			if v := b.end(t); v.negative() || v.Bits >= uint64(b.count()) {
				if bad == nil {
					bad = &IndexError{Operand: name, Position: []int{t}, Value: v, Axis: BagAxis, Dim: b.count(), Others: -1, Total: n}
				}
				bad.Others++
			}
		}
		if bad != nil {
			return bad
		}
	}
	return nil
}

// check returns the error of bags that a run refuses: first of their ends, then of
// the first index in row-major order, then of the row of empty bags.
func (b *bags) check(ctx context.Context) error {
	at := &pace{ctx: ctx}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := b.checkEnds(at); err != nil {
		return err
	}
	var first *IndexError
	refused := 0
	for t := range b.terms() {
		if at.stopped() {
			return context.Cause(ctx)
		}
		if m := b.meaning(&b.indices, t, t); m.Refused && !b.leftOut(t) {
			if refused++; first == nil {
				first = b.refused(m, t)
			}
		}
	}
	if first != nil { // R.8
		first.Others, first.Total = refused-1, b.terms()
		return first
	}
	return b.checkEmpty(at)
}

// checkEmpty returns the error of a row of empty bags that data does not have.
func (b *bags) checkEmpty(at *pace) error { // R.33
	empty, axis := b.Bag.Empty, b.Axes[0]
	if !empty.Given || empty.At >= 0 && empty.At < axis.Dim {
		return nil
	}
	if b.Bag.EmptyLate {
		if some, err := b.anyEmpty(at); err != nil || !some {
			return err
		}
	}
	return &IndexError{Operand: b.Bag.EmptyName, Value: Index{Bits: uint64(empty.At)}, Axis: axis.Number, Dim: axis.Dim, Total: 1}
}

// anyEmpty reports whether a bag has no term. The ends are checked.
func (b *bags) anyEmpty(at *pace) (bool, error) {
	segments := b.Bag.Ends.segments()
	t := 0 // of segments, the first term of the bag: to search it takes far longer
	for bag := range b.count() {
		end := b.terms()
		if !segments {
			t, end = b.between(bag)
		}
		empty := true
		for ; t < end && !(segments && b.end(t).Bits != uint64(bag)); t++ {
			if at.stopped() {
				return false, context.Cause(at.ctx)
			}
			empty = empty && b.leftOut(t)
		}
		if empty {
			return true, nil
		}
		if at.stopped() {
			return false, context.Cause(at.ctx)
		}
	}
	return false, nil
}

// leftOut reports whether a term counts nowhere.
func (b *bags) leftOut(t int) bool {
	v := b.indices.index(b.indices.position(t))
	if b.Bag.SkipNegative && v.negative() {
		return true
	}
	if b.Bag.SkipWeightless && b.weights.dtype.Valid() {
		if w, _ := b.weights.Float64(t); !(w > 0) {
			return true
		}
	}
	at, ok := b.position(v, b.Axes[0].Dim)
	return ok && b.Bag.Padding.Given && at == b.Bag.Padding.At
}

// checkAll returns the error of the first operand that a run refuses: of the first
// refused index in row-major order, or of bags.
func (p *Plan) checkAll(ctx context.Context, data, indices Tensor, more []Tensor) error {
	if p.Bag == nil {
		return p.check(ctx, indices)
	}
	return p.ofBags(data, indices, more).guard(func(b *bags) error { return b.check(ctx) })
}

// BagTerms reads the operands of a plan of bags, for executors that reduce rows by
// themselves: it is the definition of what its terms are.
type BagTerms struct{ of *bags }

// BagTerms returns what reads these operands of a call: indices, and more, the further
// operands, which keep their memory. Scales and zero points are not read, so that they may
// be missing.
func (p *Plan) BagTerms(indices Tensor, more ...Tensor) *BagTerms {
	return &BagTerms{p.ofBags(Tensor{}, indices, more)}
}

// Check returns the error of operands that a gather refuses, by the rules and in the order
// of garner.Gather: of the ends, of the first index in row-major order, of the row of
// empty bags. It takes some 25 ns an index, on one core.
func (b *BagTerms) Check(ctx context.Context) error { return b.of.check(ctx) }

// Bag returns the terms of a bag: those from first on, and before end. The ends must
// have passed Check.
func (b *BagTerms) Bag(bag int) (first, end int) { return b.of.between(bag) }

// Term returns where the row of a term begins in data, in elements from the first one;
// -1 for zeros or the plan's Fill. It returns the bits of the term's weight. counts is
// false for a term that is left out.
func (b *BagTerms) Term(t int) (row int, weight uint64, counts bool) {
	one, counts := b.of.term(t)
	return one.row, one.weight, counts
}

// Empty returns where the row of a bag without terms begins in data; false where such a
// bag is zeros.
func (b *BagTerms) Empty() (row int, given bool) {
	empty := b.of.Bag.Empty
	if !empty.Given {
		return 0, false
	}
	return b.of.Axes[0].offset(empty.At), true
}

// Number returns what the elements are to this module's kernels; its type is internal.
func (b *BagTerms) Number() kernel.Number { return numbers[b.of.DType] }

// A term is a row of data that a bag reduces.
type term struct {
	row    int    // the position of its first element in memory, in elements; -1: the plan's fill
	weight uint64 // its bits
}

// termsOf returns the terms of a bag that count.
func (b *bags) termsOf(bag int) (terms []term) {
	for t, end := b.between(bag); t < end; t++ {
		if one, counts := b.term(t); counts {
			terms = append(terms, one)
		}
	}
	return terms
}

// term returns a term; false where it is left out.
func (b *bags) term(t int) (one term, counts bool) {
	if b.leftOut(t) {
		return one, false
	}
	one.row = -1
	if at, _ := b.position(b.indices.index(b.indices.position(t)), b.Axes[0].Dim); at >= 0 {
		one.row = b.data.mem.Offset + b.Axes[0].offset(at)
	}
	if b.weights.dtype.Valid() {
		one.weight = b.weights.bits(b.weights.position(t))
	}
	return one, true
}

// reduce returns the bits of one element of a bag. column is its distance from the
// first element of a row, in elements.
func (b *bags) reduce(terms []term, column int) uint64 {
	a, narrow := arithmetics[b.DType], narrowFloats[b.DType]
	if len(terms) == 0 { // R.33
		if b.Bag.Empty.Given {
			return b.data.bits(b.data.mem.Offset + b.Axes[0].offset(b.Bag.Empty.At) + column)
		}
		return 0
	}
	wide := func(v uint64) uint64 {
		if narrow != nil {
			return uint64(math.Float32bits(narrow.Decode(v)))
		}
		return v
	}
	rounded := func(v uint64) uint64 {
		if narrow != nil {
			return uint64(narrow.Round(math.Float32frombits(uint32(v))))
		}
		return v
	}
	weighted := b.weights.dtype.Valid()
	var sum uint64
	for i, t := range terms { // R.29
		var v uint64
		if t.row >= 0 {
			v = b.data.bits(t.row + column)
		} else if b.Outside == Fill {
			v = b.Fill.bits(b.Fill.mem.Offset)
		}
		v = wide(v)
		if weighted {
			v = a.mul(v, wide(t.weight))
		}
		switch {
		case i == 0 && b.Bag.FromZero && b.Bag.Reduction != Max: // R.30
			sum = a.add(0, v)
		case i == 0:
			sum = v
		case b.Bag.Reduction != Max:
			sum = a.add(sum, v)
		case a.greater(v, sum):
			sum = v
		}
	}
	divisor := a.of(len(terms))
	if weighted {
		divisor = 0
		for _, t := range terms {
			w := wide(t.weight)
			if b.Bag.Reduction == SqrtN {
				w = a.mul(w, w)
			}
			divisor = a.add(divisor, w)
		}
	}
	switch {
	case b.Bag.Reduction == SqrtN:
		divisor = a.sqrt(divisor)
	case b.Bag.Reduction != Mean:
		return rounded(sum)
	}
	if b.Bag.Rounded {
		sum = wide(rounded(sum))
	}
	if divisor == 0 { // TES.5; a sum that begins at +0 is never -0
		return 0
	}
	if b.Bag.Reciprocal && !weighted && b.DType.IsFloat() {
		return rounded(a.mul(sum, a.div(a.of(1), divisor)))
	}
	return rounded(a.div(sum, divisor))
}

// defineBags sets the elements of dst, which is new and row-major, to those of the
// result from the first-th on.
func (b *bags) defineBags(dst Tensor, first int) {
	columns := b.Slice
	for _, l := range b.Loops[2:] {
		columns *= l.Extent
	}
	var terms []term
	for i := range dst.Len() {
		bag, column := (first+i)/columns, (first+i)%columns
		if i == 0 || column == 0 {
			terms = b.termsOf(bag)
		}
		at := column % b.Slice
		column /= b.Slice
		for n := len(b.Loops) - 1; n >= 2; n-- {
			at += column % b.Loops[n].Extent * b.Loops[n].Data
			column /= b.Loops[n].Extent
		}
		dst.setBits(dst.mem.Offset+i, b.reduce(terms, at))
	}
}
