package garner

import (
	"context"
)

// A Meaning is the position that a plan resolves one index to.
type Meaning struct {
	Value     Index
	Component int  // its component in the tuple: it addresses the plan's Axes[Component]
	At        int  // the position on the axis; -1 if the row is filled, or the index left out or refused
	LeftOut   bool // it is of a term of a bag that counts nowhere; it is then neither Outside nor Refused
	Outside   bool // it is outside its axis, and the plan's Outside applies
	Refused   bool // a gather fails with an IndexError
}

// A Survey counts what a plan resolves all indices to.
type Survey struct {
	Indices int         // number of indices
	FromEnd int         // negative indices that count from the end
	Moved   int         // indices outside that Clamp or Wrap moves onto the axis
	Filled  int         // indices outside whose rows are zeros or the fill
	LeftOut int         // indices of terms of bags that count nowhere
	Refused int         // indices outside that are an error
	First   *IndexError // of the first refused index; nil if there is none
	Bags    error       // of ends that no bags can have, or, where no index is refused, of the row of empty bags; nil if there is none
}

// Err returns the error that a gather of these indices returns; nil if it succeeds.
func (s *Survey) Err() error {
	switch {
	case s.Bags != nil:
		return s.Bags
	case s.First != nil:
		return s.First
	}
	return nil
}

// Meaning resolves the i-th index in row-major order by the definition of the
// policies. indices must have the dtype and shape that the plan was made for;
// others are an ErrDType or an ErrShape. An i outside indices is an ErrShape.
//
// further are the operands of the call behind the indices, which decide what bags leave out; errors of
// their dtypes and shapes are those of indices. Without the weights no term is left out
// for its weight.
func (p *Plan) Meaning(indices Tensor, i int, further ...Tensor) (Meaning, error) {
	b, err := p.bagsOf(indices, further)
	if err != nil {
		return Meaning{}, err
	}
	if n := indices.Len(); i < 0 || i >= n || len(p.Axes) == 0 {
		return Meaning{}, shapeError(KindMismatch, "there is no index %d; the plan looks at %d", i, min(n, n*len(p.Axes)))
	}
	if err := p.tuples(); err != nil {
		return Meaning{}, err
	}
	var m Meaning
	err = b.guard(func(b *bags) error {
		m = b.meaning(i, i)
		return nil
	})
	return m, err
}

// Survey resolves every index and moves no row. Survey.Err is the error that
// a gather would return, nil if it would succeed. Survey takes some 25 ns per
// index, on one core. Errors are those of Meaning, and the context's cause.
//
// further are the operands of the call behind the indices. Of bags without the operand of their ends,
// Survey looks at the indices alone.
func (p *Plan) Survey(ctx context.Context, indices Tensor, further ...Tensor) (s Survey, err error) {
	b, err := p.bagsOf(indices, further)
	if err != nil || len(p.Axes) == 0 {
		return Survey{}, err
	}
	err = b.guard(func(b *bags) error {
		if s, err = b.survey(ctx, 0); err != nil || p.Bag == nil {
			return err
		}
		if s.Bags, err = b.checkEnds(ctx); err == nil && s.Err() == nil {
			s.Bags, err = b.checkEmpty(ctx)
		}
		return err
	})
	return s, err
}

// survey resolves part of the plan's indices: its first element is the
// first-th.
func (p *bags) survey(ctx context.Context, first int) (Survey, error) {
	if err := p.tuples(); err != nil {
		return Survey{}, err
	}
	s := Survey{Indices: p.indices.Len()}
	var stopped error
	err := p.indices.guard(func() {
		for i := range s.Indices {
			if i%4096 == 0 && ctx.Err() != nil {
				stopped = context.Cause(ctx)
				return
			}
			switch m := p.meaning(i, first+i); {
			case m.LeftOut:
				s.LeftOut++
			case m.Refused:
				if s.Refused++; s.Refused == 1 {
					s.First = p.refused(m, first+i)
				}
			case m.Outside && m.At < 0:
				s.Filled++
			case m.Outside:
				s.Moved++
			case m.Value.negative():
				s.FromEnd++
			}
		}
		if s.First != nil { // R.8
			s.First.Others, s.First.Total = s.Refused-1, s.Indices
		}
	})
	if err == nil {
		err = stopped
	}
	return s, err
}

// tuples checks that the tuples lie along a dim of Indices that is as long as they
// are: in a plan that was written or changed by hand they need not.
func (p *Plan) tuples() error {
	if k := len(p.Axes); k > 1 && (p.component < 0 || p.component >= len(p.Indices) || p.Indices[p.component] != k) {
		return shapeError(KindMismatch, "indices %s%s have no tuples of %d along the dim where the plan has them; use the plan that NewPlan made", p.IndexType, p.Indices, k)
	}
	return nil
}

// meaning resolves the i-th element of indices, which is the number-th of the
// plan's.
func (p *bags) meaning(i, number int) Meaning {
	m := Meaning{Component: p.componentOf(number), Value: p.indices.index(p.indices.position(i))}
	dim := p.Axes[m.Component].Dim
	if p.leftOut(m.Value, number) {
		m.At, m.LeftOut = -1, true
		return m
	}
	var inside, ok bool
	strictly := Plan{Negative: p.Negative, Outside: Error}
	if m.At, inside = strictly.position(m.Value, dim); inside {
		return m
	}
	m.Outside = true
	if m.At, ok = p.position(m.Value, dim); !ok {
		m.At, m.Refused = -1, true
	}
	return m
}

// refused returns the error of the i-th index, which the plan refuses.
func (p *Plan) refused(m Meaning, i int) *IndexError {
	axis := p.Axes[m.Component]
	e := &IndexError{Position: p.coordinates(i), Value: m.Value, Axis: axis.Number, Dim: axis.Dim, FromEnd: p.Negative == FromEnd}
	switch {
	case p.Outside == Zero && p.outside() == Error:
		e.Hint = p.DType.String() + " has no zero to put in its place; name a fill"
	case p.Outside == Error && p.lacking != "":
		e.Hint = p.DType.String() + " has no " + p.lacking + " to put in its place; name another fill"
	}
	return e
}

// check returns the error of what a run refuses, nil if there is nothing: first of the
// ends of bags, then of the first index in row-major order, then of the row of empty
// bags. It resolves index by index, which is slow, and defines which indices are
// refused.
func (p *Plan) check(ctx context.Context, indices Tensor, further []Tensor) error {
	b, err := p.bagsOf(indices, further)
	if err != nil || len(p.Axes) == 0 {
		return err
	}
	return b.guard(func(b *bags) error { return b.check(ctx) })
}

// check is Plan.check of operands whose memory is held.
func (b *bags) check(ctx context.Context) error {
	return b.checkWith(ctx, func() error { return b.firstRefused(ctx) })
}

// firstRefused returns the error of the first refused index; nil if there is none.
func (b *bags) firstRefused(ctx context.Context) error {
	s, err := b.survey(ctx, 0)
	if err != nil {
		return err
	}
	return s.Err()
}

// componentOf returns the component that the i-th index in row-major order is
// in its tuple.
func (p *Plan) componentOf(i int) int {
	if p.component < 0 || len(p.Axes) < 2 {
		return 0
	}
	for axis := len(p.Indices) - 1; axis > p.component; axis-- {
		i /= p.Indices[axis]
	}
	return i % p.Indices[p.component]
}

func (p *Plan) coordinates(i int) []int {
	c := make([]int, len(p.Indices))
	for axis := len(c) - 1; axis >= 0; axis-- {
		c[axis] = i % p.Indices[axis]
		i /= p.Indices[axis]
	}
	return c
}

// SurveyPart surveys a part of the indices: part holds consecutive ones in
// row-major order, from the first-th on, in a tensor of any shape. The surveys
// of all parts, added in order, equal Survey of the whole, including First, but for what it
// says of ends and of the row of empty bags. further are the whole operands behind the indices.
func (p *Plan) SurveyPart(ctx context.Context, part Tensor, first int, further ...Tensor) (Survey, error) {
	if part.dtype != p.IndexType {
		return Survey{}, errorf(ErrDType, "indices are %s; the plan was made for %s", part.dtype, p.IndexType)
	}
	if total, _ := p.Indices.Len(); first < 0 || part.Len() > total-first {
		return Survey{}, shapeError(KindMismatch, "%d indices from index %d on; the plan was made for %s%s", part.Len(), first, p.IndexType, p.Indices)
	}
	if len(p.Axes) == 0 {
		return Survey{}, nil
	}
	b, err := p.furtherOf(part, further)
	if err != nil {
		return Survey{}, err
	}
	var s Survey
	err = b.guard(func(b *bags) error {
		s, err = b.survey(ctx, first)
		return err
	})
	return s, err
}

// Add adds next, the survey of the part that follows.
func (s *Survey) Add(next Survey) {
	first := s.First
	if first == nil && next.First != nil {
		copied := *next.First
		first = &copied
	}
	bags := s.Bags
	if bags == nil {
		bags = next.Bags
	}
	*s = Survey{
		Indices: s.Indices + next.Indices, FromEnd: s.FromEnd + next.FromEnd, Moved: s.Moved + next.Moved, Filled: s.Filled + next.Filled,
		LeftOut: s.LeftOut + next.LeftOut, Refused: s.Refused + next.Refused, First: first, Bags: bags,
	}
	if first != nil { // R.8
		first.Others, first.Total = s.Refused-1, s.Indices
	}
}
