// Package explain says what a gather will do, in words for the terminal and as a
// picture for a paper: its loops, its index axes and policies, what it moves,
// and what becomes of every index. It moves nothing itself.
package explain

import (
	"context"

	"github.com/garner-go/garner"
)

// A Subject is a gather to be explained.
type Subject struct {
	Name       string   // the operator's, as openvino.Gather-8
	Attributes []string // what it was given, each as "axis=1"
	Op         garner.Op
	Data       garner.Tensor
	Indices    garner.Tensor
}

// An Explanation is all that is said of one gather.
type Explanation struct {
	Subject
	plan   *garner.Plan
	loops  []garner.Loop // the plan's, less those that the slice is made of
	slice  int           // elements per row
	survey garner.Survey
}

// New looks at the plan of a gather and at every index. An index that the
// operator refuses is part of the explanation; errors are those of
// garner.NewPlan, of reading, and the context's cause.
func New(ctx context.Context, s Subject) (*Explanation, error) {
	plan, err := garner.NewPlan(s.Op, s.Data.Spec(), s.Indices.Spec())
	if err != nil {
		return nil, err
	}
	e := &Explanation{Subject: s, plan: plan, loops: plan.Loops, slice: plan.Slice}
	for n := len(e.loops); n > 0; n-- {
		l := e.loops[n-1]
		if kindOf(l) != outer || l.Data != e.slice || l.Out != e.slice {
			break
		}
		e.loops, e.slice = e.loops[:n-1], e.slice*l.Extent
	}
	if e.survey, err = plan.Survey(ctx, s.Indices); err != nil {
		return nil, err
	}
	return e, nil
}

// A kind is what a loop's zeros mean.
type kind int

const (
	batch kind = iota // both operands move
	outer             // the indices are reused
	tuple             // the data is reused
	still             // neither moves: a dim that the operator made, or a broadcast view
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

// rows is how many rows the result has; the turns of the loops.
func (e *Explanation) rows() int {
	n := 1
	for _, l := range e.loops {
		n *= l.Extent
	}
	return n
}

// fails reports whether the gather would end with an error.
func (e *Explanation) fails() bool { return e.survey.Refused > 0 }
