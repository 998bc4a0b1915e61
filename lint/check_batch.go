package lint

import (
	"math"
	"slices"
	"strings"

	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

func flattenedBatch(r *Rule, s *subject) error {
	if s.operator.Name == "openvino.GatherND-5" && s.batch > 1 {
		s.find(r, s.answers(r), "batch_dims is %d", s.batch)
	}
	return nil
}

// A stretch says how the batches of data and of the indices of GatherND differ
// where ONNX Runtime takes them: the indices have n times as many, in all.
type stretch struct {
	dim   int  // the first batch dim that differs
	ones  bool // data has 1 wherever they differ, so that broadcasting is defined
	plain bool // what ONNX Runtime does is broadcasting
}

// stretched compares the batch dims of data and indices; false where all are equal,
// one is unknown, or ONNX Runtime refuses them too. ONNX Runtime counts batches in
// row-major order and takes each batch of data for as many of the indices in a row.
func (s *subject) stretched() (stretch, bool) {
	data, indices := s.data.Spec.Dims, s.indices.Spec.Dims
	if s.operator.Kind != operators.GatherND || s.batch < 1 || s.batch > min(len(data), len(indices)) {
		return stretch{}, false
	}
	made := stretch{dim: -1, ones: true, plain: true}
	have, want := 1, 1
	for i := range s.batch {
		d, n := data[i], indices[i]
		if !d.Known() || !n.Known() || d.Min == 0 || n.Min == 0 || want > math.MaxInt32/n.Min || have > math.MaxInt32/d.Min {
			return stretch{}, false
		}
		have, want = have*d.Min, want*n.Min
		if d != n {
			if made.dim < 0 {
				made.dim = i
			}
			made.ones = made.ones && d.Min == 1
		} else if made.dim >= 0 && d.Min > 1 {
			made.plain = false // a dim of several behind one that is stretched
		}
	}
	made.plain = made.plain && made.ones
	return made, made.dim >= 0 && want%have == 0
}

func stretchedBatch(r *Rule, s *subject) error {
	made, ok := s.stretched()
	if !ok {
		return nil
	}
	evidence := slices.DeleteFunc(slices.Clone(s.answers(r)), func(e Evidence) bool {
		switch e.Runtime() {
		case OpenVINO:
			return (e.Answer == Stretches) != (s.wordsOf(ONNXRuntime) && made.ones)
		case ONNXRuntime:
			return (e.Answer == Stretches) != made.plain
		}
		return false
	})
	i := made.dim
	s.find(r, evidence, "batch dim %d is %s in data and %s in the indices", i, s.data.Spec.Dims[i], s.indices.Spec.Dims[i])
	return nil
}

func unknownBatch(r *Rule, s *subject) error {
	if s.operator.Kind != operators.Gather || s.batch == 0 {
		return nil
	}
	data, indices := s.data.Spec.Dims, s.indices.Spec.Dims
	if s.batch > 0 && s.batch <= min(len(data), len(indices)) {
		open := -1
		for i := s.batch - 1; i >= 0; i-- {
			if !data[i].Known() || !indices[i].Known() {
				open = i
			}
		}
		if open >= 0 {
			s.find(r, s.answers(r), "batch dim %d is %s in data and %s in the indices; where they differ", open, data[open], indices[open])
		}
		return nil
	}
	if !s.data.Spec.Rank.Known() || !s.indices.Spec.Rank.Known() {
		s.find(r, s.answers(r), "the batch dims are not known; where they differ")
	}
	return nil
}

func unknownRank(r *Rule, s *subject) error {
	if s.operator.Kind != operators.GatherND || s.batch == 0 {
		return nil
	}
	if !s.data.Spec.Rank.Known() {
		s.find(r, s.answers(r), "batch_dims is %d and the rank of data is not known", s.batch)
	}
	return nil
}

func microsoftBatch(r *Rule, s *subject) error {
	if b, ok := s.node.Attributes["batch_dims"]; ok && runtimeOf(s.operator.Name) == ONNXRuntime && strings.HasPrefix(s.operator.Name, "com.microsoft.") {
		s.find(r, s.answers(r), "batch_dims is %v", b)
	}
	return nil
}

// batchBelowRank reports whether batch_dims is below −q, q being the rank of the
// indices: rule L.26.
func (s *subject) batchBelowRank() bool {
	return s.operator.Kind == operators.Gather && s.batch < 0 && s.indices.Spec.Rank.Known()
}

func lowBatch(r *Rule, s *subject) error {
	if s.batchBelowRank() {
		s.find(r, s.answers(r), "batch_dims is %v and the indices are %s", s.node.Attributes["batch_dims"], s.indices.Type())
	}
	return nil
}

// loneBatch finds Gather with batch dims whose dims before the axis are all 1.
func loneBatch(r *Rule, s *subject) error {
	data, indices, err := s.staticShapes()
	if err != nil || s.operator.Kind != operators.Gather || s.batch < 1 || !s.axisKnown || data == nil || indices == nil || s.refused != nil || s.axis >= len(data) || s.batch > min(s.axis, len(indices)) {
		return err
	}
	isNot1 := func(n int) bool { return n != 1 }
	if slices.ContainsFunc(data[:s.axis], isNot1) || slices.ContainsFunc(indices[:s.batch], isNot1) {
		return nil
	}
	if replaced, err := s.replacedGather(data, indices); replaced || err != nil {
		return err
	}
	s.find(r, s.answers(r), "batch_dims is %d and the axis is %d, data is %s and the indices are %s", s.batch, s.axis, typeIn(s.data, data), typeIn(s.indices, indices))
	return nil
}

// unknownRanks finds gathers of operands whose rank is unknown to OpenVINO: only a run
// knows it, or an input of the model leaves the length of a tuple open. An input of the
// model without a rank is enough, whatever reads it.
func unknownRanks(r *Rule, s *subject) error {
	evidence := s.answers(r)
	if own := s.operator.Name; (own == blockQuantized || runtimeOf(own) == OpenVINO && bags(own)) && slices.Contains(s.runtimes, OpenVINO) { // which refuses such a model whatever gathers in it
		evidence = answersOf(r.Evidence, func(operator string) bool { return operator == "openvino.Gather-8" })
	}
	for i, v := range []*model.Value{s.data, s.indices} {
		if s.rankless(v) {
			s.find(r, evidence, "the rank of %s is not known", []string{"data", "the indices"}[i])
			return nil
		}
	}
	var tuples []inferredDim
	if s.operator.Kind == operators.GatherND {
		var err error
		if tuples, err = s.inferred.of(s.indices); err != nil {
			return err
		}
	}
	if n := len(tuples); n > 0 && tuples[n-1] == openDim {
		s.find(r, evidence, "the indices are %s, so that the length of a tuple is not known", s.indices.Type())
	} else if s.openInput != nil {
		s.find(r, evidence, "the rank of %s of the model is not known", s.comesFrom(s.openInput))
	}
	return nil
}

// rankless reports whether only a run knows the rank of a value: that of an input is
// open, or a shape of unknown length gives it. A rank that the file merely does not
// say, OpenVINO infers.
func (l *linter) rankless(v *model.Value) bool {
	reads := func(v *model.Value) []*model.Value {
		_, from := l.ranks(v)
		return from
	}
	_ = groups(v, l.ranked, reads, func(group []*model.Value) error { // which has no error
		for _, v := range group {
			open, from := l.ranks(v)
			if open || slices.ContainsFunc(from, func(v *model.Value) bool { return l.withoutRank[v] }) {
				for _, v := range group {
					l.withoutRank[v] = true
				}
			}
		}
		return nil
	})
	return l.withoutRank[v]
}

// ranks reports whether a value makes a rank that only a run knows, or else lists
// the values that its rank depends on.
func (l *linter) ranks(v *model.Value) (open bool, from []*model.Value) {
	if v.Constant != nil {
		return false, nil
	}
	if n := v.From; n != nil && n.Domain == "" {
		if at, ok := rankOperands[l.nameOf(n)]; ok && at < len(n.Inputs) && n.Inputs[at] != nil && !l.folded(n.Inputs[at]) {
			dims := n.Inputs[at].Spec.Dims
			switch length, err := l.inferred.of(n.Inputs[at]); {
			case n.Op == "Squeeze", n.Op == "Unsqueeze", !v.Spec.Rank.Known() && len(dims) == 1 && !dims[0].Known():
				return true, nil
			case err == nil && len(length) == 1 && length[0] == openDim:
				return true, nil // whatever the file says of the rank: OpenVINO infers it
			}
		}
	}
	if v.Spec.Rank.Known() {
		return false, nil
	}
	if len(v.Takes) > 0 {
		return false, v.Takes
	}
	if l.inputs[v] || v.From == nil {
		return l.inputs[v], nil
	}
	n := v.From
	if !isFirst(v) { // it has the rank of the first
		return false, n.Outputs[:1]
	}
	if at, ok := rankOperands[l.nameOf(n)]; ok && at < len(n.Inputs) && n.Op != "Squeeze" && n.Op != "Unsqueeze" && n.Op != "Tile" {
		return false, nil // the length of that operand is the rank
	}
	_, bounded := l.stepOf(v)
	switch {
	case n.Op == "Squeeze" && len(n.Inputs) < 2 && n.Attributes["axes"] == nil && input(n, 0).Spec.Rank.Known():
		return !known(input(n, 0)), nil
	case bounded:
		return false, n.Inputs
	}
	return false, nil
}

// rankOperands are the operators whose results have a rank that an operand gives: by its
// length, or, of Squeeze and Unsqueeze, by its elements. Their number is that of the operand.
var rankOperands = map[string]int{"Reshape": 1, "Expand": 1, "Broadcast": 1, "Tile": 1, "ConstantOfShape": 0, "Squeeze": 1, "Unsqueeze": 1}
