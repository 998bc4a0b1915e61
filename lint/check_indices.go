package lint

import (
	"fmt"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/operators"
)

func negativeConstant(r *Rule, s *subject) error {
	scan, err := s.scan()
	if err != nil || scan == nil || scan.negative.count == 0 {
		return err
	}
	var over []Answer
	if countsFromEnd(s.operator.Name) {
		over = append(over, Counts) // as the operator says
	}
	t := &scan.negative
	s.find(r, s.answers(r, over...), "%s = %s is negative%s", s.position(t.at), t.value, t.others(scan.total))
	return nil
}

func constantOutside(r *Rule, s *subject) error {
	scan, err := s.scan()
	if err != nil || scan == nil || scan.outside.count == 0 {
		return err
	}
	var over []Answer
	if zeroesOutside(s.operator.Name) {
		over = append(over, Zeros)
	}
	t := &scan.outside
	axis := ""
	if s.axisKnown && s.operator.Kind != operators.GatherND {
		axis = fmt.Sprintf(" axis %d of data", s.axis)
	} else if s.operator.Kind == operators.GatherND {
		axis = fmt.Sprintf(" axis %d of data", s.batch+t.axis)
	}
	s.find(r, s.answers(r, over...), "%s = %s is outside%s, whose length is %s%s",
		s.position(t.at), t.value, axis, s.addressed()[t.axis], t.others(scan.total))
	return nil
}

func uncheckedTuples(r *Rule, s *subject) error {
	return unchecked(r, s, s.operator.Kind == operators.GatherND)
}

func uncheckedIndices(r *Rule, s *subject) error {
	return unchecked(r, s, s.operator.Kind != operators.GatherND)
}

// unchecked finds indices from an input of the model that nothing bounds.
func unchecked(r *Rule, s *subject, concerned bool) error {
	if !concerned || slices.Contains(s.indices.Spec.Dims, garner.Exactly(0)) { // there is no index
		return nil
	}
	if o := s.origin(s.indices); o.input != nil {
		s.find(r, s.answers(r), "the indices come from the input %.200q and nothing bounds them; with one outside", o.input.Name)
	}
	return nil
}
