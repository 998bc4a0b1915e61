package strict_test

import (
	"strings"
	"testing"

	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/strict"
)

// deep is one element of rank 64, the maximum.
var deep = strings.Repeat("[", 64) + "7" + strings.Repeat("]", 64)

func TestRulesOfGather(t *testing.T) {
	const data = "[[1,2,3],[4,5,6]]"
	ruletest.Run(t, []ruletest.Case{
		{Rule: "SG.1", Op: strict.Gather{}, Data: data, Indices: "1", Want: "[4,5,6]"},
		{Rule: "SG.1", Op: strict.Gather{}, Data: "5", Indices: "[0]", Refuse: "rank", Message: "needs 1 or more"},

		{Rule: "SG.2", Op: strict.Gather{Axis: -1}, Data: data, Indices: "[2,0]", Want: "[[3,1],[6,4]]"},
		{Rule: "SG.2", Op: strict.Gather{Axis: -2}, Data: data, Indices: "[1]", Want: "[[4,5,6]]"},
		{Rule: "SG.2", Op: strict.Gather{Axis: 2}, Data: data, Indices: "[0]", Refuse: "axis-out-of-range", Message: "it may be -2…1"},
		{Rule: "SG.2", Op: strict.Gather{Axis: -3}, Data: data, Indices: "[0]", Refuse: "axis-out-of-range", Message: "axis -3 of data"},

		{Rule: "SG.3", Op: strict.Gather{Axis: 1, BatchDims: 1}, Data: data, Indices: "[[2],[0]]", Want: "[[3],[4]]"},
		{Rule: "SG.3", Op: strict.Gather{Axis: 1, BatchDims: 1}, Data: data, Indices: "[2,0]", Want: "[3,4]"},
		{Rule: "SG.3", Op: strict.Gather{Axis: 1, BatchDims: -1}, Data: data, Indices: "[[2],[0]]", Refuse: "batch-dims", Message: "may not be negative"},
		{Rule: "SG.3", Op: strict.Gather{BatchDims: 1}, Data: data, Indices: "[[1],[0]]", Refuse: "batch-dims", Message: "above axis 0"},
		{Rule: "SG.3", Op: strict.Gather{Axis: 1, BatchDims: 2}, Data: data, Indices: "[2,0]", Refuse: "batch-dims", Message: "batch_dims 2 of indices"},

		{Rule: "SG.4", Op: strict.Gather{Axis: 2, BatchDims: 1}, Data: "iota i64[2,3,2,2]", Indices: "[[1,0,0],[0,1,1]]",
			Want: "[[[[2,3],[0,1],[0,1]],[[6,7],[4,5],[4,5]],[[10,11],[8,9],[8,9]]],[[[12,13],[14,15],[14,15]],[[16,17],[18,19],[18,19]],[[20,21],[22,23],[22,23]]]]"},
		{Rule: "SG.4", Op: strict.Gather{Axis: 1, BatchDims: 1}, Data: data, Indices: "[[2],[0],[1]]", Refuse: "batch-dims", Message: "batch dim 0 is 2 in data"},

		{Rule: "SG.5", Op: strict.Gather{Axis: 1}, Data: data, Indices: "[2,0]", Want: "[[3,1],[6,4]]"},
		{Rule: "SG.5", Op: strict.Gather{Axis: 1}, Data: data, Indices: "[0,-1]", Refuse: "index-out-of-range", Message: "indices[1] = -1 is outside axis 1 of data, which has 0…2"},
		{Rule: "SG.5", Op: strict.Gather{Axis: 1}, Data: data, Indices: "[3]", Refuse: "index-out-of-range", Message: "indices[0] = 3 is outside axis 1"},
	})
}

func TestRulesOfGatherND(t *testing.T) {
	const data = "[[1,2,3],[4,5,6]]"
	ruletest.Run(t, []ruletest.Case{
		{Rule: "SN.1", Op: strict.GatherND{}, Data: "[1,2,3]", Indices: "[2]", Want: "3"},
		{Rule: "SN.1", Op: strict.GatherND{}, Data: "5", Indices: "[0]", Refuse: "rank", Message: "data i64[] has rank 0"},
		{Rule: "SN.1", Op: strict.GatherND{}, Data: data, Indices: "0", Refuse: "rank", Message: "indices i64[] have rank 0"},

		{Rule: "SN.2", Op: strict.GatherND{BatchDims: 1}, Data: data, Indices: "[[2],[0]]", Want: "[3,4]"},
		{Rule: "SN.2", Op: strict.GatherND{BatchDims: 2}, Data: data, Indices: "[[2],[0]]", Refuse: "batch-dims", Message: "it may be 0…1"},
		{Rule: "SN.2", Op: strict.GatherND{BatchDims: -1}, Data: data, Indices: "[[2],[0]]", Refuse: "batch-dims", Message: "batch_dims -1"},

		{Rule: "SN.3", Op: strict.GatherND{}, Data: data, Indices: "[[1,2]]", Want: "[6]"},
		{Rule: "SN.3", Op: strict.GatherND{}, Data: data, Indices: "[[1,2,0]]", Refuse: "rank", Message: "tuples of 3"},
		{Rule: "SN.3", Op: strict.GatherND{BatchDims: 1}, Data: data, Indices: "[[1,2],[1,2]]", Refuse: "rank", Message: "1 axes to address after batch_dims 1"},

		{Rule: "SN.4", Op: strict.GatherND{BatchDims: 1}, Data: "iota i64[2,3,2]", Indices: "[[[2],[0]],[[1],[1]]]", Want: "[[[4,5],[0,1]],[[8,9],[8,9]]]"},
		{Rule: "SN.4", Op: strict.GatherND{BatchDims: 1}, Data: data, Indices: "[[2],[0],[1]]", Refuse: "batch-dims", Message: "they must be equal"},

		{Rule: "SN.5", Op: strict.GatherND{}, Data: data, Indices: "[[1,2],[0,0]]", Want: "[6,1]"},
		{Rule: "SN.5", Op: strict.GatherND{}, Data: data, Indices: "[[1,2],[0,-1]]", Refuse: "index-out-of-range", Message: "indices[1,1] = -1 is outside axis 1 of data, which has 0…2"},
		{Rule: "SN.5", Op: strict.GatherND{}, Data: data, Indices: "[[2,0]]", Refuse: "index-out-of-range", Message: "indices[0,0] = 2 is outside axis 0"},
	})
}

func TestRulesOfGatherElements(t *testing.T) {
	const data = "[[1,2,3],[4,5,6]]"
	ruletest.Run(t, []ruletest.Case{
		{Rule: "SE.1", Op: strict.GatherElements{}, Data: deep, Indices: strings.ReplaceAll(deep, "7", "0"), Want: deep},
		{Rule: "SE.1", Op: strict.GatherElements{}, Data: "5", Indices: "0", Refuse: "rank", Message: "needs 1 or more"},
		{Rule: "SE.1", Op: strict.GatherElements{}, Data: data, Indices: "[0,1]", Refuse: "rank", Message: "they must be equal"},

		{Rule: "SE.2", Op: strict.GatherElements{Axis: -2}, Data: data, Indices: "[[1,0,1]]", Want: "[[4,2,6]]"},
		{Rule: "SE.2", Op: strict.GatherElements{Axis: 2}, Data: data, Indices: "[[1,0,1]]", Refuse: "axis-out-of-range", Message: "axis 2 of data"},

		{Rule: "SE.3", Op: strict.GatherElements{Axis: 1}, Data: data, Indices: "[[2,0,0,1],[1,1,2,0]]", Want: "[[3,1,1,2],[5,5,6,4]]"},
		{Rule: "SE.3", Op: strict.GatherElements{Axis: 1}, Data: data, Indices: "[[2,0]]", Refuse: "shape-mismatch", Message: "off axis 1 they must be equal"},

		{Rule: "SE.4", Op: strict.GatherElements{Axis: 1}, Data: data, Indices: "[[2],[0]]", Want: "[[3],[4]]"},
		{Rule: "SE.4", Op: strict.GatherElements{Axis: 1}, Data: data, Indices: "[[2],[-1]]", Refuse: "index-out-of-range", Message: "indices[1,0] = -1 is outside axis 1 of data, which has 0…2"},
		{Rule: "SE.4", Op: strict.GatherElements{Axis: 1}, Data: data, Indices: "[[2],[3]]", Refuse: "index-out-of-range", Message: "indices[1,0] = 3"},
	})
}
