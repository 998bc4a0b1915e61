package source

import (
	"math/bits"
	"slices"

	"github.com/garner-go/garner"
)

// A Range is elements First … End-1 of a result, row-major. What is written of packed
// types begins with a byte, wherever the range does.
type Range struct{ First, End int64 }

// A Part is one of several parts of a result, for runs that share the work: part Number of
// Of, counted from 1. The parts are contiguous ranges of the result's first axis that differ
// by one element of it at most, and those of a first axis shorter than Of are empty. One
// behind the other they are the result, byte for byte where the dtype has whole bytes. The
// zero Part is the whole result.
type Part struct{ Number, Of int }

// whole reports whether there is no other part.
func (p Part) whole() bool { return p.Of <= 1 }

// axis returns the elements first … end-1 of an axis of n elements that the part has.
func (p Part) axis(n int) (first, end int) {
	if p.whole() {
		return 0, n
	}
	at := func(k int) int {
		high, low := bits.Mul64(uint64(n), uint64(k))
		q, _ := bits.Div64(high, low, uint64(p.Of))
		return int(q)
	}
	return at(p.Number - 1), at(p.Number)
}

// Shape returns the shape of the part of a result. Errors: a Number that is not in 1 … Of,
// and a result without axes, of which there are no parts, are a garner.ErrShape.
func (p Part) Shape(of garner.Shape) (garner.Shape, error) {
	switch {
	case p == Part{} || p == Part{1, 1}:
		return of, nil
	case p.Number < 1 || p.Number > p.Of:
		return nil, garner.Errorf(garner.ErrShape, "part %d of %d; parts count from 1 to %d", p.Number, p.Of, p.Of)
	case len(of) == 0:
		return nil, garner.Errorf(garner.ErrShape, "part %d of %d of a result without axes; parts are ranges of the first axis", p.Number, p.Of)
	}
	first, end := p.axis(of[0])
	shape := slices.Clone(of)
	shape[0] = end - first
	return shape, nil
}

// Range returns the elements of a result that the part has, as Options takes them. Errors
// are those of Shape.
func (p Part) Range(of garner.Shape) (Range, error) {
	shape, err := p.Shape(of)
	if err != nil {
		return Range{}, err
	}
	n, _ := shape.Len()
	first := int64(0)
	if !p.whole() && shape[0] > 0 {
		from, _ := p.axis(of[0])
		first = int64(from) * int64(n/shape[0])
	}
	return Range{first, first + int64(n)}, nil
}
