package lint

import (
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

// stretchedDim returns the first batch dim that is 1 in data and more in the
// indices, or -1 where there is none or where another pair of batch dims differs.
func (s *subject) stretchedDim() int {
	data, indices := s.data.Spec.Dims, s.indices.Spec.Dims
	first := -1
	if s.operator.Kind != operators.GatherND || s.batch > min(len(data), len(indices)) {
		return first
	}
	for i := range s.batch {
		switch d, n := data[i], indices[i]; {
		case !d.Known() || !n.Known() || d == n:
		case d.Min != 1:
			return -1
		case first < 0:
			first = i
		}
	}
	return first
}

func stretchedBatch(r *Rule, s *subject) error {
	if i := s.stretchedDim(); i >= 0 {
		evidence := slices.DeleteFunc(s.answers(r), func(e Evidence) bool {
			return e.Runtime() == OpenVINO && (e.Run == fromONNX) != (s.format == "ONNX")
		})
		s.find(r, evidence, "batch dim %d is 1 in data and %s in the indices", i, s.indices.Spec.Dims[i])
	}
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
	for i, v := range []*model.Value{s.data, s.indices} {
		if !v.Spec.Rank.Known() {
			s.find(r, s.answers(r), "batch_dims is %d and the rank of %s is not known", s.batch, []string{"data", "the indices"}[i])
			return nil
		}
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
