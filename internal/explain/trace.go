package explain

import "github.com/garner-go/garner"

// A source says where an element of the result comes from.
type source struct {
	data  int // row-major position in data; filled, refused or leftOut where there is none
	row   int // number of the row of data; all elements that one tuple of one batch addresses share it
	tuple int // row-major position in the indices of the first index of the tuple
}

// Values of source.data that are no position.
const (
	filled  = -1
	refused = -2
	leftOut = -3
)

// A tracer traces elements of the result back to data, by a plan for row-major
// operands.
type tracer struct {
	whole    *garner.Plan // with its bags
	plan     *garner.Plan // of the terms of bags
	subject  Subject
	further  []garner.Tensor
	meanings map[int]garner.Meaning // by position in the indices
}

func newTracer(s Subject) (*tracer, error) {
	whole, err := s.lower(garner.SpecOf(s.Data.DType(), s.Data.Shape()...), garner.SpecOf(s.Indices.DType(), s.indicesShape()...))
	if err != nil {
		return nil, err
	}
	return &tracer{whole, whole.Terms(), s, s.Further, map[int]garner.Meaning{}}, nil
}

// meaning returns the plan's interpretation of an index, from a cache.
func (t *tracer) meaning(i int) (garner.Meaning, error) {
	if m, ok := t.meanings[i]; ok {
		return m, nil
	}
	indices, err := t.subject.index(i)
	if err != nil {
		return garner.Meaning{}, err
	}
	m, err := t.whole.Meaning(indices, i, t.further...)
	t.meanings[i] = m
	return m, err
}

// source returns the source of the element at a position of the result.
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
			state = min(state, refused)
		case m.LeftOut:
			state = leftOut
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

// batchDims returns how many leading dims of both operands, and of the result,
// are batch dims; 0 where batch dims are elsewhere.
func (t *tracer) batchDims(s Subject) (operands, result int) {
	_, shape := s.elements()
	data, indices := shape.Strides(), s.indicesShape().Strides()
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
	case len(out) >= b && out[:b].Equal(s.indicesShape()[:b]):
		return b, b
	case len(out) > 0 && out[0] == product:
		return b, 1 // flattened to one dim
	}
	return b, 0
}

// coordinates returns the coordinates of a row-major position.
func coordinates(shape garner.Shape, position int) []int {
	c := make([]int, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		c[i] = position % shape[i]
		position /= shape[i]
	}
	return c
}
