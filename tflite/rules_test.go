package tflite_test

import (
	"strings"
	"testing"

	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/tflite"
)

const params = "[[1,2,3],[4,5,6]]"

// deep is one element, 0, of rank 64, the maximum.
var deep = strings.Repeat("[", 64) + "0" + strings.Repeat("]", 64)

func TestRulesOfGather(t *testing.T) {
	op := func(axis, batchDims int) tflite.Gather { return tflite.Gather{Axis: axis, BatchDims: batchDims} }
	ruletest.Run(t, []ruletest.Case{
		{Rule: "LG.1", Op: op(0, 0), Data: params, Indices: "1", Want: "[4,5,6]"},
		{Rule: "LG.1", Op: op(0, 0), Data: "5", Indices: "[0]", Refuse: "rank", Message: "needs 1 or more"},

		{Rule: "LG.2", Op: op(-1, 0), Data: params, Indices: "[2,0]", Want: "[[3,1],[6,4]]"},
		{Rule: "LG.2", Op: op(2, 0), Data: params, Indices: "[2,0]", Refuse: "axis-out-of-range", Message: "it may be -2…1"},

		{Rule: "LG.3", Op: op(1, -1), Data: params, Indices: "[[2],[0]]", Want: "[[3],[4]]"},
		{Rule: "LG.3", Op: op(1, -3), Data: params, Indices: "[[2],[0]]", Refuse: "batch-dims", Message: "it may be -2…2"},
		{Rule: "LG.3", Op: op(0, 1), Data: params, Indices: "[[1],[0]]", Refuse: "batch-dims", Message: "above axis 0"},

		{Rule: "LG.4", Op: op(2, 1), Data: "iota i64[2,2,2]", Indices: "[[1,0,0],[0,1,1]]", Want: "[[[1,0,0],[3,2,2]],[[4,5,5],[6,7,7]]]"},
		{Rule: "LG.4", Op: op(1, 1), Data: params, Indices: "[[2],[0],[1]]", Refuse: "batch-dims", Message: "they must be equal"},

		{Rule: "LG.5", Op: op(1, 0), Data: params, Indices: "[0,2]", Want: "[[1,3],[4,6]]"},
		{Rule: "LG.5", Op: op(1, 0), Data: params, Indices: "[0,-1]", Refuse: "index-out-of-range", Message: "indices[1] = -1 is outside axis 1 of data, which has 0…2"},
	})
}

func TestRulesOfGatherND(t *testing.T) {
	ruletest.Run(t, []ruletest.Case{
		{Rule: "LN.1", Op: tflite.GatherND{}, Data: "[1,2,3]", Indices: "[2]", Want: "3"},
		{Rule: "LN.1", Op: tflite.GatherND{}, Data: params, Indices: "0", Refuse: "rank", Message: "indices i64[] have rank 0"},

		{Rule: "LN.2", Op: tflite.GatherND{}, Data: params, Indices: "[[1,2]]", Want: "[6]"},
		{Rule: "LN.2", Op: tflite.GatherND{}, Data: params, Indices: "[[1,2,0]]", Refuse: "rank", Message: "tuples of 3"},

		{Rule: "LN.3", Op: tflite.GatherND{}, Data: params, Indices: "[[[1]],[[0]]]", Want: "[[[4,5,6]],[[1,2,3]]]"},
		{Rule: "LN.3", Op: tflite.GatherND{}, Data: deep, Indices: "[[[0]]]", Refuse: "rank", Message: "has 65 dims"},

		{Rule: "LN.4", Op: tflite.GatherND{}, Data: params, Indices: "[[0,2]]", Want: "[3]"},
		{Rule: "LN.4", Op: tflite.GatherND{}, Data: params, Indices: "[[0,3]]", Refuse: "index-out-of-range", Message: "indices[0,1] = 3 is outside axis 1 of data, which has 0…2"},
		{Rule: "LN.4", Op: tflite.GatherND{}, Data: params, Indices: "[[-1,0]]", Refuse: "index-out-of-range", Message: "indices[0,0] = -1"},
	})
}

func TestRulesOfEmbeddingLookup(t *testing.T) {
	op := tflite.EmbeddingLookup{}
	ruletest.Run(t, []ruletest.Case{
		{Rule: "LE.1", Op: op, Data: params, Indices: "[1]", Want: "[[4,5,6]]"},
		{Rule: "LE.1", Op: op, Data: "[[[1],[2]],[[3],[4]]]", Indices: "[1,1,0]", Want: "[[[3],[4]],[[3],[4]],[[1],[2]]]"},
		{Rule: "LE.1", Op: op, Data: "[1,2,3]", Indices: "[1]", Refuse: "rank", Message: "needs 2 or more"},
		{Rule: "LE.1", Op: op, Data: params, Indices: "[[1]]", Refuse: "rank", Message: "indices i64[1,1] have rank 2"},

		{Rule: "LE.2", Op: op, Data: params, Indices: "[0,1]", Want: "[[1,2,3],[4,5,6]]"},
		{Rule: "LE.2", Op: op, Data: params, Indices: "[0,2]", Refuse: "index-out-of-range", Message: "indices[1] = 2 is outside axis 0 of data, which has 0…1"},
		{Rule: "LE.2", Op: op, Data: params, Indices: "[-1]", Refuse: "index-out-of-range", Message: "indices[0] = -1"},
	})
}

func TestRulesOfHybridEmbeddingLookup(t *testing.T) {
	op := tflite.HybridEmbeddingLookup{}
	ruletest.Run(t, []ruletest.Case{
		{Rule: "LH.1", Op: op, Data: "i8[[1,-128],[3,127]]", Indices: "[1,0]", More: []string{"f32(0.5)"}, Want: "f32[[1.5,63.5],[0.5,-64]]"},
		{Rule: "LH.1", Op: op, Data: "u8[[1,2],[3,4]]", Indices: "[1,0]", More: []string{"f32(0.1)"}, Refuse: "dtype", Message: "codes may be i8, i4 or i2"},

		{Rule: "LH.2", Op: op, Data: "i4[[1,-8],[3,7]]", Indices: "[1,0]", More: []string{"f32[[2],[0.5]]"}, Want: "f32[[1.5,3.5],[2,-16]]"},
		{Rule: "LH.2", Op: op, Data: "i8[[1,-8],[3,7]]", Indices: "[1,0]", More: []string{"f32[[2],[0.5],[1]]"}, Refuse: "shape-mismatch", Message: "scale"},

		{Rule: "LH.3", Op: op, Data: "i2[[1,-2]]", Indices: "[0]", More: []string{"f32(1)"}, Want: "f32[[1,-2]]"},
		{Rule: "LH.3", Op: op, Data: "i8[[1,2],[3,4]]", Indices: "[[1,0]]", More: []string{"f32(1)"}, Refuse: "rank", Message: "have rank 2"},
		{Rule: "LH.3", Op: op, Data: "i8[[1,2],[3,4]]", Indices: "[-1]", More: []string{"f32(1)"}, Refuse: "index-out-of-range", Message: "indices[0] = -1"},
	})
}
