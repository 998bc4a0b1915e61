package numpy_test

import (
	"testing"

	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/numpy"
)

const data = "[[1,2,3],[4,5,6]]"

func at(axis int) *int { return &axis }

func TestRulesOfTake(t *testing.T) {
	ruletest.Run(t, []ruletest.Case{
		{Rule: "NT.1", Op: numpy.Take{Axis: at(0)}, Data: "5", Indices: "[0,-1]", Want: "[5,5]"},
		{Rule: "NT.1", Op: numpy.Take{Axis: at(1)}, Data: "5", Indices: "[0]", Refuse: "axis-out-of-range", Message: "it may be -1…0"},

		{Rule: "NT.2", Op: numpy.Take{}, Data: data, Indices: "[[5],[-6]]", Want: "[[6],[1]]"},
		{Rule: "NT.2", Op: numpy.Take{}, Data: data, Indices: "[6]", Refuse: "index-out-of-range", Message: "indices[0] = 6 is outside data, taken flat, which has -6…5"},

		{Rule: "NT.3", Op: numpy.Take{Axis: at(-1)}, Data: data, Indices: "[2,0]", Want: "[[3,1],[6,4]]"},
		{Rule: "NT.3", Op: numpy.Take{Axis: at(2)}, Data: data, Indices: "[0]", Refuse: "axis-out-of-range", Message: "it may be -2…1"},

		{Rule: "NT.4", Op: numpy.Take{Axis: at(1), Mode: "raise"}, Data: data, Indices: "[-1]", Want: "[[3],[6]]"},
		{Rule: "NT.4", Op: numpy.Take{Axis: at(1), Mode: "wrap"}, Data: data, Indices: "[-1,4]", Want: "[[3,2],[6,5]]"},
		{Rule: "NT.4", Op: numpy.Take{Axis: at(1), Mode: "clip"}, Data: data, Indices: "[-1,4]", Want: "[[1,3],[4,6]]"},
		{Rule: "NT.4", Op: numpy.Take{Axis: at(1)}, Data: data, Indices: "[-4]", Refuse: "index-out-of-range", Message: "which has -3…2"},
		{Rule: "NT.4", Op: numpy.Take{Mode: "clamp"}, Data: data, Indices: "[0]", Refuse: "attribute", Message: `mode "clamp"; there are raise, wrap and clip`},
	})
}

func TestRulesOfTakeAlongAxis(t *testing.T) {
	ruletest.Run(t, []ruletest.Case{
		{Rule: "NA.1", Op: numpy.TakeAlongAxis{}, Data: data, Indices: "[5,-6]", Want: "[6,1]"},
		{Rule: "NA.1", Op: numpy.TakeAlongAxis{}, Data: data, Indices: "[[5]]", Refuse: "rank", Message: "they must be equal"},

		{Rule: "NA.2", Op: numpy.TakeAlongAxis{Axis: at(0)}, Data: "[7,8]", Indices: "[1]", Want: "[8]"},
		{Rule: "NA.2", Op: numpy.TakeAlongAxis{Axis: at(0)}, Data: data, Indices: "[1]", Refuse: "rank", Message: "they must be equal"},
		{Rule: "NA.2", Op: numpy.TakeAlongAxis{Axis: at(0)}, Data: "5", Indices: "0", Refuse: "rank", Message: "needs 1 or more"},

		{Rule: "NA.3", Op: numpy.TakeAlongAxis{Axis: at(-1)}, Data: data, Indices: "[[2],[0]]", Want: "[[3],[4]]"},
		{Rule: "NA.3", Op: numpy.TakeAlongAxis{Axis: at(2)}, Data: data, Indices: "[[2],[0]]", Refuse: "axis-out-of-range", Message: "axis 2 of data"},

		{Rule: "NA.4", Op: numpy.TakeAlongAxis{Axis: at(1)}, Data: data, Indices: "[[2,0]]", Want: "[[3,1],[6,4]]"},
		{Rule: "NA.4", Op: numpy.TakeAlongAxis{Axis: at(1)}, Data: "[[1,2,3]]", Indices: "[[2],[0]]", Want: "[[3],[1]]"},
		{Rule: "NA.4", Op: numpy.TakeAlongAxis{Axis: at(1)}, Data: data, Indices: "[[2],[0],[1]]", Refuse: "shape-mismatch", Message: "equal, or 1 in either"},

		{Rule: "NA.5", Op: numpy.TakeAlongAxis{Axis: at(1)}, Data: data, Indices: "[[-1],[-3]]", Want: "[[3],[4]]"},
		{Rule: "NA.5", Op: numpy.TakeAlongAxis{Axis: at(1)}, Data: data, Indices: "[[-1],[3]]", Refuse: "index-out-of-range", Message: "indices[1,0] = 3 is outside axis 1 of data, which has -3…2"},
	})
}
