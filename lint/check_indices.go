package lint

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/internal/trail"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

func negativeConstant(r *Rule, s *subject) error {
	scan, err := s.scan()
	if err != nil {
		return err
	}
	var over []Answer
	if countsFromEnd(s.operator.Name) {
		over = append(over, Counts) // as the operator says
	}
	if scan == nil {
		return s.eachIndex(func(i index) bool {
			if !i.exact || i.low.at >= 0 || i.low.at < -float64(i.dim.Max) {
				return false
			}
			s.find(r, s.answers(r, over...), "the indices are computed from constants, and their least is %s, which is negative", digits(i.low.at))
			return true
		})
	}
	if scan.negative.count == 0 {
		return nil
	}
	t := &scan.negative
	s.find(r, s.answers(r, over...), "%s = %s is negative%s", s.position(t.at), t.value, t.others(scan.total))
	return nil
}

func constantOutside(r *Rule, s *subject) error {
	scan, err := s.scan()
	if err != nil {
		return err
	}
	var over []Answer
	severity := r.Severity
	switch {
	case zeroesOutside(s.operator.Name) && combines(s.operator): // no other runtime has the operator, so the answer is defined
		severity = Note
	case zeroesOutside(s.operator.Name):
		over = append(over, Zeros)
	}
	if scan == nil {
		return s.eachIndex(func(i index) bool {
			at := i.high.at
			if i.low.at < -float64(i.dim.Max) {
				at = i.low.at
			} else if at < float64(i.dim.Max) {
				return false
			}
			if !i.exact || i.dim.Max == garner.Unbounded {
				return false
			}
			s.findAs(r, severity, s.answers(r, over...), "the indices are computed from constants and reach %s, which is outside%s, whose length is %s", digits(at), s.axisNamed(i.axis), i.dim)
			return true
		})
	}
	if scan.outside.count == 0 {
		return nil
	}
	t := &scan.outside
	s.findAs(r, severity, s.answers(r, over...), "%s = %s is outside%s, whose length is %s%s",
		s.position(t.at), t.value, s.axisNamed(t.axis), s.addressed()[t.axis], t.others(scan.total))
	return nil
}

// axisNamed names the axis of data that a component of an index tuple addresses;
// "" where it is unknown.
func (s *subject) axisNamed(component int) string {
	switch {
	case isWindows(s.operator):
		return s.windowAxis(component)
	case s.operator.Kind == operators.GatherND:
		return fmt.Sprintf(" axis %d of data", s.batch+component)
	case s.axisKnown:
		return fmt.Sprintf(" axis %d of data", s.axis)
	}
	return ""
}

// An index is the interval of one component of an index tuple, or of all indices.
type index struct {
	interval
	from *model.Value // what an open end comes from
	axis int          // the component
	dim  garner.Dim   // the extent that it addresses
}

// eachIndex calls look with the components of an index tuple, in order, until look
// returns true. Indices that are a constant are for scan, which says where in it a
// bad one is.
func (s *subject) eachIndex(look func(index) bool) error {
	if s.constant(s.indices) != nil || slices.Contains(s.indices.Spec.Dims, garner.Exactly(0)) { // or there is no index
		return nil
	}
	if d := s.indices.Spec.DType; d != garner.Invalid && !d.IsInteger() {
		return nil // as rule L.24 says
	}
	b, err := s.bounds(s.indices)
	if err != nil {
		return err
	}
	dims := s.addressed()
	if dims == nil {
		look(index{b.interval, b.from, 0, garner.AnyDim})
		return nil
	}
	for i, d := range dims {
		one := b.interval
		if s.operator.Kind == operators.GatherND && len(b.last) == len(dims) {
			one = b.last[i]
		}
		if look(index{one, b.from, i, d}) {
			return nil
		}
	}
	return nil
}

func uncheckedTuples(r *Rule, s *subject) error {
	return unchecked(r, s, anyIndex(s.operator.Name))
}

func uncheckedIndices(r *Rule, s *subject) error {
	return unchecked(r, s, !anyIndex(s.operator.Name))
}

// unchecked finds indices that may be outside, as far as the model shows: nothing
// bounds them, or what bounds them is further than the axis.
func unchecked(r *Rule, s *subject, concerned bool) error {
	if !concerned {
		return nil
	}
	g, err := s.guarded()
	if g == inside || g == refusal || err != nil {
		return err
	}
	return s.eachIndex(func(i index) bool {
		text, found := i.loose(s)
		switch {
		case !found:
		case g == outward:
			s.find(r, s.readOther(r), "the indices have a guard that makes bad ones the length of the axis; with one outside")
		default:
			s.find(r, s.answers(r), "%s; with one outside", text)
		}
		return found
	})
}

// readOther gives the answers of those runtimes for the model's format that read other memory by an index outside: a
// guard that leaves it to the runtime is none for them.
func (s *subject) readOther(r *Rule) []Evidence {
	return slices.DeleteFunc(slices.Clone(s.answers(r)), func(e Evidence) bool {
		return e.Answer != ReadsOther || !s.readBy(e.Runtime())
	})
}

// loose says in words how an index may be outside; false where it may not, or
// where only a length that is unknown bounds it.
func (i index) loose(s *subject) (string, bool) {
	from := 0.0
	if countsFromEnd(s.operator.Name) && (i.low.why != open || i.dim.Max != garner.Unbounded) {
		from = -float64(i.dim.Max)
	}
	below := (i.low.why == open || i.low.why == fixed) && i.low.at < from
	beyond := false
	switch i.high.why {
	case open:
		beyond = i.high.at >= float64(i.dim.Min)
	case fixed:
		beyond = i.dim.Max != garner.Unbounded && i.high.at >= float64(i.dim.Max)
	}
	if !below && !beyond || i.exact && i.low.at >= -float64(i.dim.Max) && i.high.at < float64(i.dim.Max) {
		return "", false
	}
	if i.exact && i.why() == fixed && i.dim.Max != garner.Unbounded {
		return "", false // as rules L.1 and L.2 say
	}
	openBelow, openBeyond := below && i.low.why == open, beyond && i.high.why == open
	if openBelow || openBeyond {
		side := ""
		switch {
		case !openBelow:
			side = " from above"
		case !openBeyond:
			side = " from below"
		}
		return fmt.Sprintf("the indices come from %s and nothing bounds them%s", s.comesFrom(i.from), side), true
	}
	return fmt.Sprintf("the indices may be %s to %s, and%s has %s", digits(i.low.at), digits(i.high.at), s.axisNamed(i.axis), i.dim), true
}

// comesFrom names the value that an open end comes from. What a loop computes from its
// own parameter comes from what the parameter takes.
func (s *subject) comesFrom(v *model.Value) string {
	if from := s.sources.Of(v); from != nil { // nil where parameters of a loop come from each other
		v = from
	}
	switch {
	case v == nil:
		return "a node"
	case v.Fixed() != nil:
		return unreadText(v.Constant)
	case v.From != nil:
		return fmt.Sprintf("the node %s (%.40s)", names.Quote(v.From.Name), names.Plain(v.From.Op))
	case s.inputs[v]:
		return "the input " + names.Quote(v.Name)
	}
	return "the parameter " + names.Quote(v.Name)
}

// sourcesOf follows what the open ends of parameters come from.
func (l *linter) sourcesOf() *trail.Trail[*model.Value] {
	return trail.New(func(v *model.Value) *model.Value {
		if from := l.ranges[v].from; len(v.Takes) > 0 && from != v {
			return from
		}
		return nil
	}, func(v *model.Value) *model.Value { return v }, nil)
}

// digits writes an end of an interval of integers.
func digits(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// countedPositions finds positions that are counted up to an unknown length, or down
// from it, which may be more than data has.
func countedPositions(r *Rule, s *subject) error {
	if g, err := s.guarded(); g != unguarded || err != nil {
		return err
	}
	return s.eachIndex(func(i index) bool {
		if !s.dynamic || i.dim.Max == garner.Unbounded {
			return false
		}
		least := 0.0
		if countsFromEnd(s.operator.Name) {
			least = -float64(i.dim.Max)
		}
		up := i.high.why == counted && i.high.at >= float64(i.dim.Max)
		down := i.low.why == counted && i.low.at < least
		if !up && !down {
			return false
		}
		direct := s.indices.From != nil && s.indices.From.Op == "Range" && s.indices.From.Domain == ""
		evidence := slices.DeleteFunc(slices.Clone(s.answers(r)), func(e Evidence) bool { return e.Runtime() == ONNXRuntime && direct == (e.Run == "") })
		s.find(r, evidence, "the indices are counted up to a length that only a run knows, and%s has %s; with one more", s.axisNamed(i.axis), i.dim)
		return true
	})
}

// asTFLite finds indices of a TFLite model that LiteRT refuses and OpenVINO does
// not, which reads the model with its own operators.
func asTFLite(r *Rule, s *subject) error {
	if runtimeOf(s.operator.Name) != LiteRT {
		return nil
	}
	return s.eachIndex(func(i index) bool {
		text, found := i.loose(s)
		if found {
			s.find(r, s.answers(r), "%s; with one below 0 or outside", text)
		}
		return found
	})
}

// slicedRange finds a Gather of a Range one of whose ends is negative while the other
// is not: ONNX Runtime makes a Slice of both.
func slicedRange(r *Rule, s *subject) error {
	from := s.indices.From
	if !s.dynamic || s.operator.Kind != operators.Gather || !s.readBy(ONNXRuntime) || from == nil || from.Op != "Range" || from.Domain != "" || len(from.Inputs) != 3 {
		return nil
	}
	constants := 0
	var ends [2]interval
	for i, v := range from.Inputs {
		if v == nil {
			return nil
		}
		if s.constant(v) != nil {
			constants++
		}
		if i < len(ends) {
			b, err := s.bounds(v)
			if err != nil {
				return err
			}
			ends[i] = b.interval
		}
	}
	below := func(e interval) bool { return e.low.at < 0 && e.low.why != open }
	above := func(e interval) bool { return e.high.at >= 0 }
	if constants < 3 && (below(ends[0]) && above(ends[1]) || below(ends[1]) && above(ends[0])) {
		s.find(r, s.answers(r), "the indices are a Range of which one end is below 0 and the other is not")
	}
	return nil
}
