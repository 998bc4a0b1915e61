package garner

import (
	"context"
	"slices"
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

// Normalize is the same rows in the form that executors walk: loops of one turn
// dropped, loops that step as one joined, loops over contiguous elements sunk
// into the slice, and those that move the indices outermost.
func (p *Plan) Normalize() *Plan {
	n := p.normalize()
	walked := *p
	walked.Loops, walked.Slice = slices.Concat(n.index, n.free), n.slice
	return &walked
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
