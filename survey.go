package garner

import (
	"context"
)

// A Meaning is what a plan makes of one index.
type Meaning struct {
	Value     Index
	Component int  // which component of its tuple it is: it addresses the plan's Axes[Component]
	At        int  // the position that it means; -1 where it is filled or refused
	Outside   bool // its axis does not have it, so that the plan's Outside decided
	Refused   bool // the gather fails
}

// A Survey is what a plan makes of all indices together.
type Survey struct {
	Indices int // how many were looked at
	FromEnd int // negative ones that count from the end
	Moved   int // outside, and clamped or wrapped to a position that there is
	Filled  int // outside, and zeros or the fill stand for their rows
	Refused int // outside, and an error
	First   *IndexError
}

// Meaning is what the plan makes of the i-th index in row-major order, by the
// definition of the policies. indices are of the dtype and shape that the plan
// was made for; another is an ErrDType or an ErrShape, as is an i that they do
// not have.
func (p *Plan) Meaning(indices Tensor, i int) (Meaning, error) {
	if err := p.takes(indices); err != nil {
		return Meaning{}, err
	}
	if n := indices.Len(); i < 0 || i >= n || len(p.Axes) == 0 {
		return Meaning{}, shapeError(KindMismatch, "there is no index %d; the plan looks at %d", i, min(n, n*len(p.Axes)))
	}
	var m Meaning
	err := indices.guard(func() { m = p.meaning(&indices, i, i) })
	return m, err
}

// Survey looks at every index and moves nothing. Survey.First is the error that
// a gather would end with, nil where it would not. It takes some 25 ns an index,
// on one core. Errors are those of Meaning, and the context's cause.
func (p *Plan) Survey(ctx context.Context, indices Tensor) (Survey, error) {
	if err := p.takes(indices); err != nil || len(p.Axes) == 0 {
		return Survey{}, err
	}
	return p.survey(ctx, indices, 0)
}

// survey looks at indices of which the first is the first-th of the plan's.
func (p *Plan) survey(ctx context.Context, indices Tensor, first int) (Survey, error) {
	s := Survey{Indices: indices.Len()}
	var stopped error
	err := indices.guard(func() {
		for i := range s.Indices {
			if i%4096 == 0 && ctx.Err() != nil {
				stopped = context.Cause(ctx)
				return
			}
			switch m := p.meaning(&indices, i, first+i); {
			case m.Refused:
				if s.Refused++; s.Refused == 1 {
					s.First = p.refused(m, first+i)
				}
			case m.Outside && m.At < 0:
				s.Filled++
			case m.Outside:
				s.Moved++
			case !m.Value.Unsigned && int64(m.Value.Bits) < 0:
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

func (p *Plan) takes(indices Tensor) error {
	if indices.dtype != p.IndexType {
		return errorf(ErrDType, "indices are %s; the plan was made for %s", indices.dtype, p.IndexType)
	}
	if !indices.shape.Equal(p.Indices) {
		return shapeError(KindMismatch, "indices are %s%s; the plan was made for %s%s", indices.dtype, indices.shape, p.IndexType, p.Indices)
	}
	return nil
}

// meaning is that of the i-th element of indices, which is the plan's number-th.
func (p *Plan) meaning(indices *Tensor, i, number int) Meaning {
	m := Meaning{Component: p.componentOf(number), Value: indices.index(indices.position(i))}
	dim := p.Axes[m.Component].Dim
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

// refused is the error of the i-th index, which the plan does not take.
func (p *Plan) refused(m Meaning, i int) *IndexError {
	axis := p.Axes[m.Component]
	e := &IndexError{Position: p.coordinates(i), Value: m.Value, Axis: axis.Number, Dim: axis.Dim, FromEnd: p.Negative == FromEnd}
	if p.Outside == Zero && p.outside() == Error {
		e.Hint = p.DType.String() + " has no zero to put in its place; name a fill"
	}
	return e
}

// check looks at every index in row-major order, the slow and obvious way: it
// is the definition of which indices are refused, and writes the error. It
// returns nil where none is.
func (p *Plan) check(ctx context.Context, indices Tensor) error {
	s, err := p.Survey(ctx, indices)
	if err != nil {
		return err
	}
	if s.First != nil {
		return s.First
	}
	return nil
}

// componentOf is which component of its tuple the i-th index is, in row-major
// order.
func (p *Plan) componentOf(i int) int {
	if p.component < 0 {
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

// position is which of an axis's dim positions an index value means: the
// definition of the policies. It is -1 for the plan's fill; ok is false where
// the index is refused.
func (p *Plan) position(v Index, dim int) (at int, ok bool) {
	negative := !v.Unsigned && int64(v.Bits) < 0
	switch {
	case !negative && v.Bits < uint64(dim):
		return int(v.Bits), true
	case negative && p.Negative == FromEnd && -v.Bits <= uint64(dim): // R.9
		return int(int64(v.Bits) + int64(dim)), true
	}
	switch p.outside() {
	case Zero, Fill:
		return -1, true
	case Clamp: // R.13
		if dim > 0 { // R.15
			if negative {
				return 0, true
			}
			return dim - 1, true
		}
	case Wrap: // R.14
		if dim > 0 { // R.15
			if negative {
				// -v.Bits is how far below zero it lies; -1 wraps to dim-1.
				return (dim - int(-v.Bits%uint64(dim))) % dim, true
			}
			return int(v.Bits % uint64(dim)), true
		}
	}
	return 0, false // R.10
}

// outside is what the plan does with an index outside: an operator that would
// write zeros has none to write where the dtype has no zero.
func (p *Plan) outside() Outside {
	if p.Outside == Zero && !p.DType.HasZero() { // R.11
		return Error
	}
	return p.Outside
}

// SurveyPart is Survey of some of the indices: part holds those from the
// first-th on, in row-major order, in a tensor of any shape. The surveys of all
// parts, added in their order, are that of the whole, its First included.
func (p *Plan) SurveyPart(ctx context.Context, part Tensor, first int) (Survey, error) {
	if part.dtype != p.IndexType {
		return Survey{}, errorf(ErrDType, "indices are %s; the plan was made for %s", part.dtype, p.IndexType)
	}
	if total, _ := p.Indices.Len(); first < 0 || part.Len() > total-first {
		return Survey{}, shapeError(KindMismatch, "%d indices from index %d on; the plan was made for %s%s", part.Len(), first, p.IndexType, p.Indices)
	}
	if len(p.Axes) == 0 {
		return Survey{}, nil
	}
	return p.survey(ctx, part, first)
}

// Add adds the survey of the indices that follow.
func (s *Survey) Add(next Survey) {
	first := s.First
	if first == nil && next.First != nil {
		copied := *next.First
		first = &copied
	}
	*s = Survey{s.Indices + next.Indices, s.FromEnd + next.FromEnd, s.Moved + next.Moved, s.Filled + next.Filled, s.Refused + next.Refused, first}
	if first != nil { // R.8
		first.Others, first.Total = s.Refused-1, s.Indices
	}
}
