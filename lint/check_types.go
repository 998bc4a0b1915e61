package lint

import (
	"math"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/departures"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/operators"
)

// answersFor returns the answers for a type of data or of the indices.
func (s *subject) answersFor(r *Rule, d garner.DType) []Evidence {
	return slices.DeleteFunc(slices.Clone(s.answers(r)), func(e Evidence) bool { return e.DType != d })
}

// listedDataType finds a type of data that the rule's evidence lists.
func listedDataType(r *Rule, s *subject) error {
	s.find(r, s.answersFor(r, s.data.Spec.DType), "data is %s", s.data.Spec.DType)
	return nil
}

// listedIndexType finds a type of indices that the rule's evidence lists.
func listedIndexType(r *Rule, s *subject) error {
	s.find(r, s.answersFor(r, s.indices.Spec.DType), "the indices are %s", s.indices.Spec.DType)
	return nil
}

func lossyConstant(r *Rule, s *subject) error {
	c := tableOf(s.node, s.constant)
	if c == nil || !s.allowed.allows(c) { // NotJudged tells the latter
		return nil
	}
	evidence := s.answersFor(r, c.Spec.DType)
	if len(evidence) == 0 {
		return nil // no runtime to report, so the table need not be read
	}
	first, err := s.loss(c)
	if err == nil && first.found {
		s.find(r, evidence, "element %d of the constant %s is %s, which 32 bits do not hold", first.at, names.Quote(c.Name), first.text)
	}
	return err
}

// is64Bit reports whether a type is one of those of 64 bits that OpenVINO's CPU
// computes in 32.
func is64Bit(d garner.DType) bool { return departures.Held(d).Bits() < d.Bits() }

func narrowedFloats(r *Rule, s *subject) error {
	if d := s.data.Spec.DType; d == garner.F64 && s.constant(s.data) == nil {
		s.find(r, s.answersFor(r, d), "data is %s", s.data.Type())
	}
	return nil
}

func narrowedIntegers(r *Rule, s *subject) error {
	d := s.data.Spec.DType
	if d != garner.I64 && d != garner.U64 || s.constant(s.data) != nil {
		return nil
	}
	b, err := s.bounds(s.data)
	if err != nil {
		return err
	}
	if b.why() < open || b.low.at >= math.MinInt32 && b.high.at <= math.MaxInt32 {
		return nil // lengths and positions, which fit, or values that the model bounds
	}
	s.find(r, s.answersFor(r, d), "data is %s", s.data.Type())
	return nil
}

func lostStrings(r *Rule, s *subject) error {
	if s.data.Spec.DType != garner.String || s.operator.Kind != operators.Gather {
		return nil
	}
	// A slice of one string arrives.
	if dims := s.data.Spec.Dims; s.axisKnown && s.data.Spec.Rank.Known() && s.axis < len(dims) {
		if !slices.ContainsFunc(dims[s.axis+1:], func(d garner.Dim) bool { return d != garner.Exactly(1) }) {
			return nil
		}
	}
	s.find(r, s.answers(r), "data is %s, and a slice of it may have several strings", s.data.Type())
	return nil
}
