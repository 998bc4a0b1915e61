package garner

import (
	"errors"
	"math"
	"slices"
)

// NeedNumbers checks that data has a dtype to calculate with: integers of a byte or
// more, f16, bf16, f32 and f64; of these only floats, if integers is false. It
// precedes all methods but Operand.
func (l *Lowering) NeedNumbers(integers bool) {
	d := l.data.DType // R.34
	if _, ok := arithmetics[d]; ok && (integers || d.IsFloat()) || d == Invalid || l.err != nil && errors.Is(l.err, ErrDType) {
		return
	}
	want := "a float: f16, bf16, f32 or f64"
	if integers {
		want = "an integer of 8 bits or more, f16, bf16, f32 or f64"
	}
	l.err = errorf(ErrDType, "data is %s; the operator calculates, and data must be %s", d, want)
}

// Count returns a number of bags as a Dim; AnyDim if it is Unknown. A negative one is
// an ErrAttribute.
func (l *Lowering) Count(name string, n int) Dim {
	switch {
	case n == Unknown:
		l.open = true
		return AnyDim
	case n < 0:
		l.FailAttribute("%s %d; it may be 0 or more", name, n)
		return AnyDim
	}
	return Exactly(n)
}

// Row returns a row of data, of axis 0, counted from the front; of a negative one
// while the number of rows is unknown, Unknown. A row that data does not have is an
// ErrAttribute.
func (l *Lowering) Row(name string, row int) int {
	if len(l.data.Dims) == 0 {
		return row
	}
	d := l.data.Dims[0]
	if row >= d.Max || row < -d.Max {
		l.FailAttribute("%s %d of data %s; it may be %s", name, row, l.data, between(-d.Max, d.Max-1))
	}
	switch {
	case row >= 0:
		return row
	case !d.Known():
		return Unknown
	}
	return row + d.Min
}

// Bags spends the next axis of data as the gathered axis, and all axes of the indices
// on bags. If b.Ends is Even these are two: the bags, and the terms of each. Else
// there is one, the terms of all bags, and the operand b.EndsAt says where each of the count bags ends; an unknown count
// is that of the operand's elements. The dims behind the gathered axis are the
// columns: see Copy. Operands that do not fit are an ErrShape. Data that does not
// calculate, ends that are no integers and weights of another dtype than the elements of
// data are an ErrDType, whatever Operands says of them.
//
// If Ends is Segments and count unknown, the result has as many bags as the last
// segment says: Infer leaves them open, and each run reads the last segment.
func (l *Lowering) Bags(b Bag, count Dim) *Lowering {
	l.computes = true
	l.needBag(&b)
	if l.err != nil {
		return l
	}
	want := 1
	if b.Ends == Even {
		want = 2
		l.count(1)
	}
	if both, ok := l.indices.Rank.intersect(Exactly(want)); !ok {
		l.Fail(KindRank, "indices %s have rank %s; bags of them need %d", l.indices, l.indices.Rank, want)
		return l
	} else if both.Known() {
		l.narrow(&l.indices, both)
	}
	l.Gather()
	l.bag = &b
	b.summed = l.sumsStored(&b)
	if b.WeightsAt.Given {
		l.fits(b.WeightsAt.At, false)
	}
	ends := b.EndsAt.At
	terms, counted := nestLoop{extent: AnyDim, written: reduced}, false
	switch b.Ends {
	case Segments:
		l.fits(ends, b.Column)
		l.ended = !count.Known() && !l.open
		counted = l.ended
		if l.ended && l.values != nil && l.values[ends].dtype.Valid() && l.err == nil {
			count = l.segments(ends)
		}
	case Starts, ZeroStart, Bounds:
		s := l.further[ends]
		if both, ok := s.Rank.intersect(Exactly(1)); !ok || !both.Known() {
			l.Fail(KindRank, "%s %s have rank %s; they must be a vector", l.takes[ends].Name, s, s.Rank)
		} else if s.Rank.Known() {
			count = s.Dims[0]
			if b.Ends == Bounds {
				if count.Max == 0 {
					l.Fail(KindMismatch, "%s %s have no element; the last is the end of the last bag", l.takes[ends].Name, s)
					return l
				}
				if count.Min = max(count.Min-1, 0); count.Max != Unbounded {
					count.Max--
				}
			}
		}
		counted = !count.Known()
	}
	l.partial = l.partial || b.Ends != Even && !count.Known()
	if l.idle() {
		return l
	}
	if b.Ends == Even {
		q, qs := l.indexAxis()
		l.nest = append(l.nest, nestLoop{extent: q, index: qs, indexAxis: l.nextIndex})
	} else {
		l.nest = append(l.nest, nestLoop{extent: count, counted: counted})
	}
	terms.extent, terms.index = l.indexAxis()
	terms.indexAxis = l.nextIndex
	l.nest = append(l.nest, terms)
	return l
}

// sumsStored reports whether bags sum rows as they are stored, instead of decoding them
// first. Rows of all positions must begin at the same place of a block: each position of
// the axis is a whole number of blocks from the one before.
func (l *Lowering) sumsStored(b *Bag) bool {
	if l.stored == nil || len(l.axes) == 0 || !b.Fused || b.Reduction == Max {
		return false
	}
	d, ok := l.stored.decoder.(*blockDecoder)
	axis := l.axes[len(l.axes)-1]
	return ok && d.Summer() != nil && d.kind.Elements > 0 && len(axis.Parts) == 0 && axis.Data%d.kind.Elements == 0
}

// needBag checks the dtypes of data and of the operands of bags. It leaves out the
// operands that b does not have.
func (l *Lowering) needBag(b *Bag) {
	if b.Ends == Even {
		b.EndsAt = Position{}
	}
	if !b.EndsAt.Given && b.Ends != Even {
		l.FailAttribute("the operator declares %d further operands, and none for the ends of bags", len(l.further))
		return
	}
	for _, at := range [...]Position{b.EndsAt, b.WeightsAt} {
		if at.Given && (at.At < 0 || at.At >= len(l.further)) {
			l.FailAttribute("the operator declares %d further operands; its bags read number %d of them", len(l.further), at.At+1)
			return
		}
	}
	if b.WeightsAt.Given && l.further[b.WeightsAt.At].DType == Invalid {
		b.WeightsAt = Position{}
	}
	l.NeedNumbers(b.Reduction != SqrtN)
	if b.EndsAt.Given {
		switch name, d := l.takes[b.EndsAt.At].Name, l.further[b.EndsAt.At].DType; {
		case d == Invalid: // R.27
			l.lacks(b.EndsAt.At)
		case !d.IsInteger(): // R.31, R.32
			l.failDType(noInteger(name, d))
		}
	}
	if b.WeightsAt.Given && l.data.DType != Invalid {
		if name, d := l.takes[b.WeightsAt.At].Name, l.further[b.WeightsAt.At].DType; d != l.data.DType { // R.35
			l.FailDType("%s is %s and the elements of data %s; they must be equal", name, d, l.data.DType)
		}
	}
}

// NameEmpty says what an operator calls the row of bags without terms, Bag.Empty, for the
// error of one that data does not have.
func (l *Lowering) NameEmpty(name string) *Lowering {
	l.emptyName = name
	return l
}

// fits checks that the dims of a further operand are those of the indices; of one whose
// first column counts, that it is a matrix with as many rows as there are indices.
func (l *Lowering) fits(at int, column bool) {
	s, name, dims := l.further[at], l.takes[at].Name, len(l.indices.Dims)
	rank := dims
	if column {
		rank = 2
	}
	if s.Rank.Max < rank || s.Rank.Min > rank { // R.35
		l.Fail(KindMismatch, "%s %s have rank %s; of indices %s they must have %d", name, s, s.Rank, l.indices, rank)
		return
	}
	if !s.Rank.Known() || !l.indices.Rank.Known() {
		return
	}
	for i, q := range l.indices.Dims[:min(dims, len(l.indices.Dims))] {
		if both, ok := q.intersect(s.Dims[i]); !ok { // R.35
			l.Fail(KindMismatch, "dim %d is %s in %s %s and %s in indices %s; they must be equal", i, s.Dims[i], name, s, q, l.indices)
			return
		} else if !q.Known() {
			l.indices.Dims = slices.Clone(l.indices.Dims)
			l.indices.Dims[i] = both
		}
	}
	if column && s.Dims[1].Max == 0 {
		l.Fail(KindMismatch, "%s %s have no column; the first has the bags", name, s)
	}
}

// mostBags is above the last segment of a result that has no number of bags: one that
// no memory holds.
const mostBags = 1 << 40

// segments returns the number of bags that the last segment says.
func (l *Lowering) segments(at int) Dim {
	last, n, err := lastSegment(&l.values[at])
	switch {
	case err != nil:
		l.err = err
		return AnyDim
	case n < 0: // R.32
		l.Fail(KindMismatch, "%s end with %s; a result without a number of bags has fewer than 2^40", l.takes[at].Name, last)
		return AnyDim
	}
	return Exactly(n)
}

// lastSegment returns the last of some segments, and how many bags it says: none where
// it is negative, which is refused where the bags are; -1 for more than a result can have.
func lastSegment(segments *Tensor) (last Index, bags int, err error) {
	n := segments.Len()
	if n == 0 || len(segments.shape) == 0 { // the second is refused where shapes are
		return last, 0, nil
	}
	at := segments.position(n - n/segments.shape[0])
	if segments.mem.Volatile {
		last, err = volatileIndex(segments, at)
	} else {
		last = segments.index(at)
	}
	switch {
	case err != nil || last.negative():
		return last, 0, err
	case last.Bits >= min(mostBags, math.MaxInt):
		return last, -1, nil
	}
	return last, int(last.Bits) + 1, nil
}

// volatileIndex is index of memory that can vanish. It allocates.
func volatileIndex(t *Tensor, at int) (v Index, err error) {
	err = t.guard(func() { v = t.index(at) })
	return v, err
}
