package lint

import (
	"slices"

	"github.com/garner-go/garner/model"
)

// asTensorFlow finds indices of a TensorFlow model that TensorFlow refuses and OpenVINO does
// not, which reads the model with its own operators.
func asTensorFlow(r *Rule, s *subject) error {
	if !s.wordsOf(TensorFlow) || combines(s.operator) {
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

// segmentsAsBags reports whether OpenVINO reads a bag of TensorFlow, as bags with segments.
func segmentsAsBags(n *model.Node) bool {
	return n.Op == "SparseSegmentMean" || n.Op == "SparseSegmentSqrtN"
}

// unreadBag finds bags of TensorFlow that OpenVINO's reader lacks.
func unreadBag(r *Rule, s *subject) error {
	if !s.wordsOf(TensorFlow) || !bags(s.operator.Name) || segmentsAsBags(s.node) || !slices.Contains(s.runtimes, OpenVINO) {
		return nil
	}
	s.find(r, r.Evidence, "the node is a %.40s", s.node.Op)
	return nil
}
