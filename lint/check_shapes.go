package lint

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

func longTuples(r *Rule, s *subject) error {
	const most = 7
	if k := s.k(); s.operator.Kind == operators.GatherND && s.batch >= 0 && k.Min > most-s.batch {
		with := ""
		if s.batch > 0 {
			with = fmt.Sprintf(", with %d batch dims", s.batch)
		}
		s.find(r, s.answers(r), "tuples have %s components%s", k, with)
	}
	return nil
}

// emptyTuplesOfScalar reports whether tuples without a component address a
// scalar: rule L.25.
func (s *subject) emptyTuplesOfScalar() bool {
	return s.operator.Kind == operators.GatherND && s.data.Spec.Rank == garner.Exactly(0) && s.k() == garner.Exactly(0) && s.batch == 0
}

func repeatedScalar(r *Rule, s *subject) error {
	if s.emptyTuplesOfScalar() {
		s.find(r, s.answers(r), "data is %s and the indices are %s", s.data.Type(), s.indices.Type())
	}
	return nil
}

func emptyTuples(r *Rule, s *subject) error {
	indices, err := s.declared.of(s.indices)
	n := len(indices) - 1
	if s.operator.Kind != operators.GatherND || err != nil || n < 0 || indices[n] != 0 || s.emptyTuplesOfScalar() {
		return err
	}
	data, err := s.declared.of(s.data)
	if err != nil || slices.Contains(indices[:n], 0) || slices.Contains(data, 0) { // there is no element to write
		return err
	}
	_, made, err := s.madeOfNothing(s.indices)
	if !made && err == nil {
		s.find(r, s.answers(r, Takes), "the indices are %s, whose tuples have no component", s.indices.Type())
	}
	return err
}

func emptyGather(r *Rule, s *subject) error {
	data, indices, err := s.staticShapes()
	if s.operator.Kind != operators.Gather || data == nil || indices == nil || !s.axisKnown || s.refused != nil {
		return err
	}
	b := s.batch
	if b < 0 || b > s.axis || b > len(indices) || s.axis >= len(data) {
		return nil
	}
	if !slices.Contains(data[b:s.axis], 0) && !slices.Contains(indices[b:], 0) && !slices.Contains(data[s.axis+1:], 0) {
		return nil
	}
	if replaced, err := s.replacedGather(data, indices); replaced || err != nil {
		return err
	}
	s.find(r, s.answers(r), "data is %s and the indices are %s, so that the result has no element", typeIn(s.data, data), typeIn(s.indices, indices))
	return nil
}

// staticShapes gives the shapes of data and of the indices where OpenVINO infers every dim; nil
// where it does not.
func (s *subject) staticShapes() (data, indices garner.Shape, err error) {
	for i, v := range []*model.Value{s.data, s.indices} {
		list, failed := s.inferred.of(v)
		if list == nil || failed != nil {
			return nil, nil, failed
		}
		shape := make(garner.Shape, len(list))
		for j, e := range list {
			if shape[j] = int(e); e < 0 {
				return nil, nil, nil
			}
		}
		if i == 0 {
			data = shape
		} else {
			indices = shape
		}
	}
	return data, indices, nil
}

// typeIn is the type of a value of a shape that the file may not say.
func typeIn(v *model.Value, shape garner.Shape) string {
	if known(v) {
		return v.Type()
	}
	return garner.SpecOf(v.Spec.DType, shape...).String()
}

// replacedGather reports whether OpenVINO runs no Gather for one of static shapes: it
// takes a view or a Squeeze of data in its place, or computes the constant that it
// gives.
func (s *subject) replacedGather(data, indices garner.Shape) (bool, error) {
	fixedIndices, fixedData := s.folded(s.indices), s.folded(s.data)
	isNot1 := func(n int) bool { return n != 1 }
	of := indices[s.batch:]
	switch {
	case fixedIndices && fixedData:
		return true, nil
	case fixedIndices && s.batch == 0 && !slices.ContainsFunc(indices, isNot1) && !slices.ContainsFunc(data[:s.axis], isNot1):
		return true, nil // one row, in place
	case fixedIndices && len(of) == 0 && s.batch < 2 && data[s.axis] == 1:
		at, err := s.bounds(s.indices)
		if only := at.point() && at.low.at == 0; only || err != nil {
			return only, err // the only row
		}
	}
	return fixedData && data[s.axis] == 1 && slices.Equal(of, garner.Shape{1}), nil // data itself
}

// madeOfNothing reports whether OpenVINO has elements of a value of which ONNX has none,
// and gives the dims that OpenVINO infers of it: its reader of ONNX makes a scalar of a
// constant without elements, and computes with that, or refuses to.
func (s *subject) madeOfNothing(v *model.Value) (inferred []inferredDim, made bool, err error) {
	if !s.wordsOf(ONNXRuntime) {
		return nil, false, nil
	}
	wanted, err := s.declared.of(v)
	if err != nil || !slices.Contains(wanted, 0) {
		return nil, false, err
	}
	inferred, err = s.inferred.of(v)
	none := slices.ContainsFunc(inferred, func(e inferredDim) bool { return e <= 0 })
	return inferred, isUnread(inferred) || inferred != nil && !none, err
}

// emptyConstant finds data and indices that are a constant without elements, or are
// computed from one.
func emptyConstant(r *Rule, s *subject) error {
	what, v := "data is", s.data
	data, made, err := s.madeOfNothing(v)
	if err != nil {
		return err
	}
	indices, madeIndices, err := s.madeOfNothing(s.indices)
	switch {
	case err != nil || !made && !madeIndices:
		return err
	case !made:
		what, v = "the indices are", s.indices
		data, err = s.inferred.of(s.data)
	case !madeIndices:
		indices, err = s.inferred.of(s.indices)
	}
	if err != nil {
		return err
	}
	answer := GivesElements
	switch fits, known := s.fits(data, indices); {
	case known && !fits:
		answer = Refuses
	case !known || s.takesNone(data, indices):
		return nil
	}
	how := ""
	if s.constant(v) == nil {
		how = "computed from "
	}
	evidence := slices.DeleteFunc(slices.Clone(s.answers(r)), func(e Evidence) bool { return e.Answer != answer })
	s.find(r, evidence, "%s %s, %sa constant without elements", what, v.Type(), how)
	return nil
}

// fits reports whether OpenVINO takes data and indices of these dims; known is false where
// lint cannot tell.
func (s *subject) fits(data, indices []inferredDim) (fits, known bool) {
	if isUnread(data) || isUnread(indices) {
		return false, true
	}
	scalar := func(list []inferredDim) bool { return list != nil && len(list) == 0 }
	switch kind := s.operator.Kind; {
	case scalar(data), scalar(indices) && kind != operators.Gather:
		return false, true
	case data == nil || indices == nil:
		return false, false
	case kind == operators.Gather:
		axis, given := s.node.Attributes["axis"].(int64)
		return axisOf(axis, data) >= 0, given || s.node.Attributes["axis"] == nil
	case kind == operators.GatherND:
		k := indices[len(indices)-1]
		return int(k) <= len(data)-s.batch, k >= 0 && s.batch == 0
	}
	if len(data) != len(indices) {
		return false, true
	}
	for i, e := range indices {
		switch {
		case e == unclearDim || data[i] == unclearDim:
			return false, false
		case e == openDim || data[i] == openDim:
		case !s.axisKnown || i != s.axis && e != data[i]:
			return false, s.axisKnown
		}
	}
	return true, true
}

// takesNone reports whether a gather of data and indices of these dims, which fit, has no
// element.
func (s *subject) takesNone(data, indices []inferredDim) bool {
	switch s.operator.Kind {
	case operators.Gather:
		axis, _ := s.node.Attributes["axis"].(int64)
		data = slices.Delete(slices.Clone(data), axisOf(axis, data), axisOf(axis, data)+1)
	case operators.GatherND:
		n := len(indices) - 1
		data, indices = data[indices[n]:], indices[:n]
	default:
		data = nil
	}
	return slices.Contains(data, 0) || slices.Contains(indices, 0)
}

func computedAxis(r *Rule, s *subject) error {
	if !hasAxis(s.operator) || len(s.node.Inputs) < 3 || s.constant(input(s.node, 2)) != nil {
		return nil
	}
	if known(s.data) && known(s.indices) {
		s.find(r, s.answers(r), "the axis is %s, which is no constant", input(s.node, 2))
	}
	return nil
}

func smallerElements(r *Rule, s *subject) error {
	data, indices := s.data.Spec.Dims, s.indices.Spec.Dims
	if s.operator.Kind != operators.Elements || runtimeOf(s.operator.Name) != ONNXRuntime || len(data) != len(indices) || !s.axisKnown {
		return nil
	}
	for i := range data {
		switch {
		case i == s.axis:
			continue
		case indices[i].Max < data[i].Min:
			s.find(r, s.answers(r, Takes), "dim %d is %s in data and %s in the indices", i, data[i], indices[i])
			return nil
		case s.named(i):
			s.findAs(r, Warning, s.answers(r, Takes), "dim %d is %s in data and %s in the indices; where they differ", i, dimText(s.data, i), dimText(s.indices, i))
			return nil
		}
	}
	return nil
}

// named reports whether the model has different names for a dim of data and for one
// of the indices, or a name for one and a number for the other. Dims that it leaves
// open without a name may be equal.
func (s *subject) named(i int) bool {
	data, indices := dimText(s.data, i), dimText(s.indices, i)
	open := garner.AnyDim.String()
	return data != indices && data != open && indices != open && (!s.data.Spec.Dims[i].Known() || !s.indices.Spec.Dims[i].Known())
}

// dimText gives a dim as a number or by its name; ? where it has none.
func dimText(v *model.Value, i int) string {
	if d := v.Spec.Dims[i]; d.Known() || i >= len(v.DimNames) || v.DimNames[i] == "" {
		return d.String()
	}
	return v.DimNames[i]
}

func refusedOperands(r *Rule, s *subject) error {
	err := s.refused
	_, stretched := s.stretched()
	switch {
	case err != nil || stretched || s.emptyTuplesOfScalar() || s.batchBelowRank():
	case combines(s.operator):
		_, err = operators.Infer(s.op, s.data.Spec, s.indices.Spec, operators.FurtherOf(s.operator, s.node)...)
	default:
		data, indices := s.data.Spec, s.indices.Spec
		// An extent that this machine's int cannot hold breaks no rule of the
		// operator. So Infer sees only extents that a rule compares and that differ.
		data.Dims, indices.Dims = slices.Clone(data.Dims), slices.Clone(indices.Dims)
		for i := range data.Dims {
			paired := i < s.batch || s.operator.Kind == operators.Elements && i != s.axis
			switch {
			case !paired || i >= len(indices.Dims):
				data.Dims[i] = garner.AnyDim
			case data.Dims[i] == indices.Dims[i]:
				data.Dims[i], indices.Dims[i] = garner.AnyDim, garner.AnyDim
			}
		}
		if _, err = operators.Infer(s.op, data, indices); err != nil {
			if _, whole := operators.Infer(s.op, s.data.Spec, s.indices.Spec); whole != nil {
				err = whole // the same, with the dims that the model has
			}
		}
	}
	if err == nil {
		return nil
	}
	var at *model.Error
	if errors.As(err, &at) {
		err = at.Err // the finding names the node
	}
	evidence := slices.Clone(s.answers(r))
	if s.operator.Kind != operators.GatherND || s.batch >= 0 {
		evidence = slices.DeleteFunc(evidence, func(e Evidence) bool { return e.Answer == Ends })
	}
	s.find(r, evidence, "%s", strings.TrimPrefix(err.Error(), "garner: "))
	return nil
}

// leastElements returns the least number of elements that a value can have,
// math.MaxInt64 where int64 cannot count them.
func leastElements(v *model.Value) int64 {
	n := int64(1)
	for _, d := range v.Spec.Dims {
		if d.Min == 0 {
			return 0
		}
	}
	for _, d := range v.Spec.Dims {
		if n > math.MaxInt64/int64(d.Min) {
			return math.MaxInt64
		}
		n *= int64(d.Min)
	}
	return n
}

func hugeData(r *Rule, s *subject) error {
	n := leastElements(s.data)
	if !s.data.Spec.Rank.Known() || n <= math.MaxInt32 {
		return nil
	}
	evidence := slices.DeleteFunc(slices.Clone(s.answers(r)), func(e Evidence) bool { return e.DType != garner.Invalid && e.DType != s.indices.Spec.DType })
	s.find(r, evidence, "data is %s, %d elements", s.data.Type(), n)
	return nil
}

func hugeTable(r *Rule, s *subject) error {
	if s.wordsOf(ONNXRuntime) {
		return nil
	}
	c := s.constant(s.data)
	if c == nil {
		return nil
	}
	if size, ok := c.Bytes(); !ok || size > math.MaxInt32 {
		s.find(r, s.answers(r), "the constant %s is %s, %d bytes", names.Quote(c.Name), c.Spec, size)
	}
	return nil
}
