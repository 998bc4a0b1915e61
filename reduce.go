package garner

import (
	"context"
	"math"

	"github.com/garner-go/garner/internal/float"
	"github.com/garner-go/garner/internal/kernel"
)

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
	v := b.valueOf(t)
	if b.leftOut(v, t) {
		return one, false
	}
	one.row = -1
	if at, _ := b.position(v, b.Axes[0].Dim); at >= 0 {
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
	roundedSum := func(v uint64) uint64 {
		if b.Bag.Away && b.DType == BF16 && b.Bag.Reduction != Max { // REB.7
			return float.AwayFromZero(math.Float32frombits(uint32(v)))
		}
		return rounded(v)
	}
	weighted := b.weights.dtype.Valid()
	fused := b.Bag.Fused && b.Bag.Reduction != Max && a.fma != nil
	var sum uint64
	for i, t := range terms { // R.29
		if i == 0 && fused && !b.Bag.FromZero {
			sum = 1 << (b.DType.Bits() - 1) // -0, which leaves the first term as it is
			if narrow != nil {
				sum = 1 << 31
			}
		}
		if t.row >= 0 && b.stored != nil { // RQB.2
			sum = b.stored.added(sum, t.row+column, t.weight, weighted)
			continue
		}
		var v uint64
		if t.row >= 0 {
			v = b.data.bits(t.row + column)
		} else if b.Outside == Fill {
			v = b.Fill.bits(b.Fill.mem.Offset)
		}
		v = wide(v)
		if weighted && fused { // REB.7
			sum = a.fma(v, wide(t.weight), sum)
			continue
		}
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
		if b.DType.IsInteger() && !b.DType.IsUnsigned() {
			divisor = uint64(signed(b.DType, divisor))
		}
	}
	switch {
	case b.Bag.Reduction == SqrtN:
		divisor = a.sqrt(divisor)
	case b.Bag.Reduction != Mean:
		return roundedSum(sum)
	}
	if b.Bag.Rounded {
		sum = wide(roundedSum(sum))
	}
	if divisor == 0 { // TES.5: a quotient by weights whose sum is 0
		return 0
	}
	switch {
	case weighted && b.DType == I64: // TES.5
		if q := float64(int64(sum)) / float64(int64(divisor)); q < 1<<63 {
			return uint64(int64(q))
		}
		return 1 << 63
	case weighted && b.DType == U64: // TES.5
		if q := float64(sum) / float64(divisor); q < 1<<64 {
			return uint64(q)
		}
		return 1 << 63
	}
	if b.Bag.Reciprocal && !weighted && b.DType.IsFloat() {
		return rounded(a.mul(sum, a.div(a.of(1), divisor)))
	}
	return rounded(a.div(sum, divisor))
}

// Sums reports whether an executor sums the stored rows of bags by Stored.SumParts,
// instead of decoding them first.
func (p *Plan) Sums() bool {
	return p.Bag != nil && p.Bag.summed
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

// BagTerms reads the operands of a plan of bags, for executors that reduce rows by
// themselves: it is the definition of what its terms are.
type BagTerms struct{ of *bags }

// BagTerms returns what reads these operands of a call: the indices and those behind
// them, which keep their memory. Scales and zero points are not read, so that they may
// be missing.
func (p *Plan) BagTerms(indices Tensor, further ...Tensor) *BagTerms {
	return &BagTerms{p.ofBags(Tensor{}, indices, further)}
}

// Check returns the error of operands that a gather refuses, by the rules and in the order
// of garner.Gather: of the ends, of the first index in row-major order, of the row of
// empty bags. It takes some 25 ns an index, on one core.
func (b *BagTerms) Check(ctx context.Context) error { return b.of.check(ctx) }

// CheckBags is Check for executors that share the bags: of the indices it looks at those
// of bags first … end-1 alone. The error of a refused one is that of Check.
func (b *BagTerms) CheckBags(ctx context.Context, first, end int) error {
	return b.of.checkWith(ctx, func() error {
		for bag := first; bag < end; bag++ {
			t, last := b.of.between(bag)
			for ; t < last; t++ {
				if t%4096 == 0 && ctx.Err() != nil {
					return context.Cause(ctx)
				}
				v := b.of.valueOf(t)
				if _, ok := b.of.position(v, b.of.Axes[0].Dim); !ok && !b.of.leftOut(v, t) {
					return b.of.firstRefused(ctx)
				}
			}
		}
		return nil
	})
}

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
