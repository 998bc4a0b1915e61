package webnn_test

import (
	"strings"
	"testing"

	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/webnn"
)

const data = "[[1,2,3],[4,5,6]]"

// deep is one element, 0, of rank 64, the maximum.
var deep = strings.Repeat("[", 64) + "0" + strings.Repeat("]", 64)

func TestRulesOfGather(t *testing.T) {
	ruletest.Run(t, []ruletest.Case{
		{Rule: "WG.1", Op: webnn.Gather{}, Data: data, Indices: "1", Want: "[4,5,6]"},
		{Rule: "WG.1", Op: webnn.Gather{}, Data: "5", Indices: "[0]", Refuse: "rank", Message: "needs 1 or more"},

		{Rule: "WG.2", Op: webnn.Gather{Axis: 1}, Data: data, Indices: "[2,0]", Want: "[[3,1],[6,4]]"},
		{Rule: "WG.2", Op: webnn.Gather{Axis: 2}, Data: data, Indices: "[0]", Refuse: "axis-out-of-range", Message: "it may be -2…1"},

		{Rule: "WG.3", Op: webnn.Gather{Axis: 1}, Data: "iota i64[2,3,2]", Indices: "[[2],[0]]", Want: "[[[[4,5]],[[0,1]]],[[[10,11]],[[6,7]]]]"},
		{Rule: "WG.3", Op: webnn.Gather{}, Data: deep, Indices: "[[0]]", Refuse: "rank", Message: "has 65 dims"},

		{Rule: "WG.4", Op: webnn.Gather{Axis: 1}, Data: data, Indices: "[-1,-4,3]", Want: "[[3,1,3],[6,4,6]]"},
		{Rule: "WG.4", Op: webnn.Gather{Axis: 1}, Data: "zeros f32[2,0]", Indices: "[0]", Refuse: "index-out-of-range", Message: "which is empty"},
	})
}

func TestRulesOfGatherElements(t *testing.T) {
	ruletest.Run(t, []ruletest.Case{
		{Rule: "WE.1", Op: webnn.GatherElements{}, Data: "[7,8]", Indices: "[1]", Want: "[8]"},
		{Rule: "WE.1", Op: webnn.GatherElements{}, Data: "5", Indices: "0", Refuse: "rank", Message: "needs 1 or more"},
		{Rule: "WE.1", Op: webnn.GatherElements{}, Data: data, Indices: "[0]", Refuse: "rank", Message: "they must be equal"},

		{Rule: "WE.2", Op: webnn.GatherElements{Axis: -1}, Data: data, Indices: "[[2],[0]]", Want: "[[3],[4]]"},
		{Rule: "WE.2", Op: webnn.GatherElements{Axis: 2}, Data: data, Indices: "[[2],[0]]", Refuse: "axis-out-of-range", Message: "axis 2 of data"},

		{Rule: "WE.3", Op: webnn.GatherElements{Axis: 1}, Data: data, Indices: "[[2,0,0,1],[1,1,2,0]]", Want: "[[3,1,1,2],[5,5,6,4]]"},
		{Rule: "WE.3", Op: webnn.GatherElements{Axis: 1}, Data: data, Indices: "[[2,0]]", Refuse: "shape-mismatch", Message: "they must be equal"},

		{Rule: "WE.4", Op: webnn.GatherElements{Axis: 1}, Data: data, Indices: "[[-1],[9]]", Want: "[[3],[6]]"},
		{Rule: "WE.4", Op: webnn.GatherElements{Axis: 1}, Data: "zeros f32[2,0]", Indices: "[[0],[0]]", Refuse: "index-out-of-range", Message: "which is empty"},
	})
}

func TestRulesOfGatherND(t *testing.T) {
	ruletest.Run(t, []ruletest.Case{
		{Rule: "WN.1", Op: webnn.GatherND{}, Data: "[1,2,3]", Indices: "[2]", Want: "3"},
		{Rule: "WN.1", Op: webnn.GatherND{}, Data: data, Indices: "0", Refuse: "rank", Message: "indices i64[] have rank 0"},

		{Rule: "WN.2", Op: webnn.GatherND{}, Data: data, Indices: "[[1,2]]", Want: "[6]"},
		{Rule: "WN.2", Op: webnn.GatherND{}, Data: data, Indices: "[[1,2,0]]", Refuse: "rank", Message: "tuples of 3"},

		{Rule: "WN.3", Op: webnn.GatherND{}, Data: data, Indices: "[[[1]],[[0]]]", Want: "[[[4,5,6]],[[1,2,3]]]"},
		{Rule: "WN.3", Op: webnn.GatherND{}, Data: deep, Indices: "[[[0]]]", Refuse: "rank", Message: "has 65 dims"},

		{Rule: "WN.4", Op: webnn.GatherND{}, Data: data, Indices: "[[-1,9],[-9,-3]]", Want: "[6,1]"},
		{Rule: "WN.4", Op: webnn.GatherND{}, Data: "zeros f32[2,0]", Indices: "[[0,0]]", Refuse: "index-out-of-range", Message: "indices[0,1] = 0 is outside axis 1 of data, which is empty"},
	})
}
