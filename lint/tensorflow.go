package lint

import (
	"slices"

	"github.com/garner-go/garner/model"
)

// tensorflowNames are the operators of TensorFlow that lint follows, by the names that its
// tables have for them. Other operators of TensorFlow bear names of those tables and mean
// something else, such as Where, Min, Max, Slice and Split, or have their attributes in other
// places, such as ArgMax and StridedSlice: their results may be anything.
var tensorflowNames = map[string]string{
	"Add": "Add", "AddV2": "Add", "Sub": "Sub", "Mul": "Mul", "FloorMod": "FloorMod", "Minimum": "Minimum", "Maximum": "Maximum",
	"Neg": "Neg", "Abs": "Abs", "Relu": "Relu", "ClipByValue": "Clip",
	"Range": "Range", "Select": "Select", "SelectV2": "Select", "Tile": "Tile",
	"Equal": "Equal", "NotEqual": "NotEqual", "Less": "Less", "LessEqual": "LessEqual", "Greater": "Greater", "GreaterEqual": "GreaterEqual",
	"LogicalAnd": "LogicalAnd", "LogicalOr": "LogicalOr", "LogicalNot": "LogicalNot",
}

// nameOf gives the name that lint's tables have for the operator of a node; "" where they have
// none.
func (l *linter) nameOf(n *model.Node) string {
	if l.wordsOf(TensorFlow) {
		return tensorflowNames[n.Op]
	}
	return n.Op
}

// ignores reports whether the node says of itself that it writes zeros for indices outside.
func (s *subject) ignores() bool { return s.node.Attributes["bad_indices_policy"] == "IGNORE" }

// ofBadIndices reports whether evidence is of an index that is outside or negative.
func ofBadIndices(e Evidence) bool {
	return slices.Contains(outsideAnswers, e) || slices.Contains(negativeAnswers, e)
}
