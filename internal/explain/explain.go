// Package explain describes a gather, in words for the terminal and as a
// picture: its loops, its index axes and policies, how much it reads and
// writes, and the position that each index addresses. It does not run the
// gather.
package explain

import (
	"context"
	"strconv"

	"github.com/garner-go/garner"
)

// A Subject is the gather to explain.
type Subject struct {
	Name       string   // of the operator, for example openvino.Gather-8
	Attributes []string // the attributes that were set, each as "axis=1"
	Op         garner.Op
	Data       garner.Tensor
	Indices    garner.Tensor
	Whole      garner.Spec     // of all indices, a range, where Indices are the first of them, two or more; else zero
	Further    []garner.Tensor // the operands that Op takes after the indices

	stored *garner.Stored // how Data holds the elements that a plan reads; nil: as they are
	bare   bool           // the operator takes no indices
}

// elements returns the dtype and the shape of the elements that a plan reads.
func (s *Subject) elements() (garner.DType, garner.Shape) {
	if s.stored == nil {
		return s.Data.DType(), s.Data.Shape()
	}
	spec := s.stored.Elements()
	shape, _ := spec.Shape()
	return spec.DType, shape
}

// MostSurveyed is the most indices that an explanation looks at, which takes about 2 s.
// A variable, so that a test can set a smaller one.
var MostSurveyed = 1 << 26

// element returns the text of an element, given its row-major position. Of stored data
// it decodes that element alone.
func (s *Subject) element(position int) (string, error) {
	if s.stored == nil {
		return s.Data.At(coordinates(s.Data.Shape(), position)...)
	}
	one, err := s.stored.DecodePart(position, 1, s.Data, s.Further...)
	if err != nil {
		return "", err
	}
	return one.At(0)
}

// lower returns the plan of the gather, for operands of these specs.
func (s *Subject) lower(data, indices garner.Spec) (*garner.Plan, error) {
	if s.bare {
		indices = garner.Spec{}
	}
	p, err := garner.Prepare(s.Op, data, indices, garner.Threads(1), garner.FurtherTensors(s.Further...))
	if err != nil {
		return nil, err
	}
	return p.Plan(), nil
}

// An Explanation describes one gather.
type Explanation struct {
	Subject
	whole  *garner.Plan  // with its bags
	plan   *garner.Plan  // of the terms of bags
	loops  []garner.Loop // of the plan, without those that are part of the slice
	slice  int           // elements per row
	survey garner.Survey
}

// indicesSpec is the spec of all indices.
func (s *Subject) indicesSpec() garner.Spec {
	if s.Whole.DType.Valid() {
		return s.Whole
	}
	return s.Indices.Spec()
}

// indicesShape is the shape of all indices, and indicesLen their number.
func (s *Subject) indicesShape() garner.Shape {
	shape, _ := s.indicesSpec().Shape()
	return shape
}

// index returns a tensor of the shape of all indices that has index i in its place.
func (s *Subject) index(i int) (garner.Tensor, error) {
	if !s.Whole.DType.Valid() {
		return s.Indices, nil
	}
	first, err := s.Indices.Int(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	second, err := s.Indices.Int(1)
	if err != nil {
		return garner.Tensor{}, err
	}
	at := int64(first.Bits) + int64(i)*int64(second.Bits-first.Bits)
	one, err := garner.New(s.Whole.DType)
	if err == nil {
		err = one.SetText(0, strconv.FormatInt(at, 10))
	}
	if err != nil {
		return garner.Tensor{}, err
	}
	b, err := one.Bytes()
	if err != nil {
		return garner.Tensor{}, err
	}
	shape := s.indicesShape()
	return garner.FromStrided(s.Whole.DType, b, 0, shape, make([]int, len(shape))) // all elements lie in one place
}

func (s *Subject) indicesLen() int {
	n, _ := s.indicesShape().Len()
	return n
}

// surveyOf surveys the indices: of more than MostSurveyed the first ones in row-major order,
// as many as are whole rows.
func surveyOf(ctx context.Context, plan *garner.Plan, indices garner.Tensor, further []garner.Tensor) (garner.Survey, error) {
	if n, _ := plan.Indices.Len(); indices.Len() == n && n <= MostSurveyed {
		return plan.Survey(ctx, indices, further...)
	}
	part := indices
	if indices.Len() <= MostSurveyed {
		return plan.SurveyPart(ctx, part, 0, further...)
	}
	for axis, rows := range indices.Shape() {
		if rows == 1 {
			continue
		}
		var err error
		each := part.Len() / rows // of one position; more than MostSurveyed are divided along the next axis
		if part, err = part.Slice(axis, 0, max(MostSurveyed/each, 1), 1); err != nil {
			return garner.Survey{}, err
		}
		if each <= MostSurveyed {
			break
		}
	}
	return plan.SurveyPart(ctx, part, 0, further...)
}

// New lowers the gather and looks at the indices, at MostSurveyed of them. Of bags, it
// explains the gather of their terms, and says how they are reduced. An index that the
// operator refuses is part of the explanation and no error. Errors are those of
// garner.NewPlan and of reading, and the cause of the context.
func New(ctx context.Context, s Subject) (*Explanation, error) {
	if s.bare = !garner.TakesIndices(s.Op); s.bare {
		s.Indices = garner.Of([]int64{0}) // nothing reads it
	}
	whole, err := s.lower(s.Data.Spec(), s.indicesSpec())
	if err != nil {
		return nil, err
	}
	s.stored = whole.Stored
	plan := whole.Terms()
	e := &Explanation{Subject: s, whole: whole, plan: plan, loops: plan.Loops, slice: plan.Slice}
	for n := len(e.loops); n > 0; n-- {
		l := e.loops[n-1]
		if kindOf(l) != outer || l.Data != e.slice || l.Out != e.slice {
			break
		}
		e.loops, e.slice = e.loops[:n-1], e.slice*l.Extent
	}
	if e.survey, err = surveyOf(ctx, whole, s.Indices, s.Further); err != nil {
		return nil, err
	}
	return e, nil
}

// A kind says which operands move along a loop, which the zeros among its
// strides tell.
type kind int

const (
	batch kind = iota // both operands move
	outer             // the indices are reused
	tuple             // the data is reused
	still             // neither moves: a dim that the operator adds, or a broadcast view
)

var kindNames = [...]string{batch: "batch", outer: "outer", tuple: "tuple", still: "repeat"}

func (k kind) String() string { return kindNames[k] }

func kindOf(l garner.Loop) kind {
	switch {
	case l.Data != 0 && l.Index != 0:
		return batch
	case l.Data != 0:
		return outer
	case l.Index != 0:
		return tuple
	}
	return still
}

// rows returns how many rows the result has, the product of the loops' extents.
func (e *Explanation) rows() int {
	n := 1
	for _, l := range e.loops {
		n *= l.Extent
	}
	return n
}

// fails reports whether the gather ends with an error.
func (e *Explanation) fails() bool { return e.survey.Err() != nil }
