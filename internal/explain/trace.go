package explain

import "github.com/garner-go/garner"

// A source is where one element of the result comes from.
type source struct {
	data  int // position in data, in row-major order; filled or refused where there is none
	row   int // which row of data: the same for every element that one tuple of one batch asks for
	tuple int // position of the tuple's first index in the indices, in row-major order
}

// What a source's data may be besides a position.
const (
	filled  = -1
	refused = -2
)

// A tracer follows elements of the result back to data, through a plan for
// row-major operands.
type tracer struct {
	plan     *garner.Plan
	indices  garner.Tensor
	meanings map[int]garner.Meaning // by position in the indices
}

func newTracer(s Subject) (*tracer, error) {
	plan, err := garner.NewPlan(s.Op, garner.SpecOf(s.Data.DType(), s.Data.Shape()...), garner.SpecOf(s.Indices.DType(), s.Indices.Shape()...))
	if err != nil {
		return nil, err
	}
	return &tracer{plan, s.Indices, map[int]garner.Meaning{}}, nil
}

// meaning is what the plan makes of an index, looked up once.
func (t *tracer) meaning(i int) (garner.Meaning, error) {
	if m, ok := t.meanings[i]; ok {
		return m, nil
	}
	m, err := t.plan.Meaning(t.indices, i)
	t.meanings[i] = m
	return m, err
}

// source is where the element at a position of the result comes from.
func (t *tracer) source(out int) (source, error) {
	var s source
	offset := out % t.plan.Slice
	for _, l := range t.plan.Loops {
		c := out / l.Out % l.Extent
		s.tuple += c * l.Index
		if kindOf(l) == outer {
			offset += c * l.Data
		} else {
			s.row += c * l.Data
		}
	}
	state := 0
	for _, a := range t.plan.Axes {
		m, err := t.meaning(s.tuple + a.Index)
		if err != nil {
			return s, err
		}
		switch {
		case m.Refused:
			state = refused
		case m.At < 0:
			state = min(state, filled)
		default:
			s.row += m.At * a.Data
		}
	}
	if s.data = s.row + offset; state != 0 {
		s.data, s.row = state, state
	}
	return s, nil
}

// batchDims is how many leading dims of both operands, and of the result, are
// batch dims; 0 where the batch dims lie elsewhere.
func (t *tracer) batchDims(s Subject) (operands, result int) {
	data, indices := s.Data.Shape().Strides(), s.Indices.Shape().Strides()
	b, product := 0, 1
	for b < min(len(t.plan.Loops), len(data), len(indices)) {
		l := t.plan.Loops[b]
		if kindOf(l) != batch || l.Data != data[b] || l.Index != indices[b] {
			break
		}
		product *= l.Extent
		b++
	}
	out := t.plan.Out
	switch {
	case b == 0:
		return 0, 0
	case len(out) >= b && out[:b].Equal(s.Indices.Shape()[:b]):
		return b, b
	case len(out) > 0 && out[0] == product:
		return b, 1 // written as one dim
	}
	return b, 0
}

// coordinates are those of a position in row-major order.
func coordinates(shape garner.Shape, position int) []int {
	c := make([]int, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		c[i] = position % shape[i]
		position /= shape[i]
	}
	return c
}
