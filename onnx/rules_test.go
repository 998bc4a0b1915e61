package onnx_test

import (
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/operators"
)

const data = "[[1,2,3],[4,5,6]]"

// deep is one element, 0, of rank 64, the maximum.
var deep = strings.Repeat("[", 64) + "0" + strings.Repeat("]", 64)

func TestRulesOfGather(t *testing.T) {
	for version, op := range map[string]func(axis int) garner.Op{
		"1":  func(axis int) garner.Op { return onnx.Gather1{Axis: axis} },
		"11": func(axis int) garner.Op { return onnx.Gather11{Axis: axis} },
		"13": func(axis int) garner.Op { return onnx.Gather13{Axis: axis} },
	} {
		t.Run(version, func(t *testing.T) {
			ruletest.Run(t, []ruletest.Case{
				{Rule: "XG.1", Op: op(0), Data: data, Indices: "1", Want: "[4,5,6]"},
				{Rule: "XG.1", Op: op(0), Data: "5", Indices: "[0]", Refuse: "rank", Message: "needs 1 or more"},

				{Rule: "XG.2", Op: op(1), Data: data, Indices: "[2,0]", Want: "[[3,1],[6,4]]"},
				{Rule: "XG.2", Op: op(-2), Data: data, Indices: "[1]", Want: "[[4,5,6]]"},
				{Rule: "XG.2", Op: op(2), Data: data, Indices: "[0]", Refuse: "axis-out-of-range", Message: "it may be -2…1"},

				{Rule: "XG.3", Op: op(1), Data: "iota i64[2,3,2]", Indices: "[[2],[0]]", Want: "[[[[4,5]],[[0,1]]],[[[10,11]],[[6,7]]]]"},
				{Rule: "XG.3", Op: op(0), Data: deep, Indices: "[[0]]", Refuse: "rank", Message: "has 65 dims"},

				{Rule: "XG.4", Op: op(1), Data: data, Indices: "[-1,0,-3]", Want: "[[3,1,1],[6,4,4]]"},
				{Rule: "XG.4", Op: op(1), Data: data, Indices: "[0,-4]", Refuse: "index-out-of-range", Message: "indices[1] = -4 is outside axis 1 of data, which has -3…2"},
				{Rule: "XG.4", Op: op(1), Data: data, Indices: "[3]", Refuse: "index-out-of-range", Message: "indices[0] = 3"},
			})
		})
	}
}

func TestRulesOfGatherElements(t *testing.T) {
	for version, op := range map[string]func(axis int) garner.Op{
		"11": func(axis int) garner.Op { return onnx.GatherElements11{Axis: axis} },
		"13": func(axis int) garner.Op { return onnx.GatherElements13{Axis: axis} },
	} {
		t.Run(version, func(t *testing.T) {
			ruletest.Run(t, []ruletest.Case{
				{Rule: "XE.1", Op: op(0), Data: "[7,8]", Indices: "[1]", Want: "[8]"},
				{Rule: "XE.1", Op: op(0), Data: "5", Indices: "0", Refuse: "rank", Message: "needs 1 or more"},
				{Rule: "XE.1", Op: op(0), Data: data, Indices: "[0,1]", Refuse: "rank", Message: "they must be equal"},

				{Rule: "XE.2", Op: op(-1), Data: data, Indices: "[[2],[0]]", Want: "[[3],[4]]"},
				{Rule: "XE.2", Op: op(-3), Data: data, Indices: "[[2],[0]]", Refuse: "axis-out-of-range", Message: "it may be -2…1"},

				{Rule: "XE.3", Op: op(1), Data: data, Indices: "[[2,0,0,1]]", Want: "[[3,1,1,2]]"},
				{Rule: "XE.3", Op: op(1), Data: data, Indices: "[[2],[0],[0]]", Refuse: "shape-mismatch", Message: "no larger in indices"},

				{Rule: "XE.4", Op: op(1), Data: data, Indices: "[[-1],[-3]]", Want: "[[3],[4]]"},
				{Rule: "XE.4", Op: op(1), Data: data, Indices: "[[2],[-4]]", Refuse: "index-out-of-range", Message: "indices[1,0] = -4 is outside axis 1 of data, which has -3…2"},
				{Rule: "XE.4", Op: op(1), Data: data, Indices: "[[2],[3]]", Refuse: "index-out-of-range", Message: "indices[1,0] = 3"},
			})
		})
	}
}

func TestRulesOfGatherND(t *testing.T) {
	for version, op := range map[string]func(batchDims int) garner.Op{
		"12": func(batchDims int) garner.Op { return onnx.GatherND12{BatchDims: batchDims} },
		"13": func(batchDims int) garner.Op { return onnx.GatherND13{BatchDims: batchDims} },
	} {
		t.Run(version, func(t *testing.T) {
			ruletest.Run(t, []ruletest.Case{
				{Rule: "XN.1", Op: op(0), Data: "[1,2,3]", Indices: "[2]", Want: "3"},
				{Rule: "XN.1", Op: op(0), Data: "5", Indices: "[0]", Refuse: "rank", Message: "data i64[] has rank 0"},
				{Rule: "XN.1", Op: op(0), Data: data, Indices: "0", Refuse: "rank", Message: "indices i64[] have rank 0"},

				{Rule: "XN.2", Op: op(1), Data: data, Indices: "[[2],[0]]", Want: "[3,4]"},
				{Rule: "XN.2", Op: op(2), Data: data, Indices: "[[2],[0]]", Refuse: "batch-dims", Message: "it may be 0…1"},
				{Rule: "XN.2", Op: op(-1), Data: data, Indices: "[[2],[0]]", Refuse: "batch-dims", Message: "batch_dims -1"},

				{Rule: "XN.3", Op: op(0), Data: data, Indices: "[[1,2]]", Want: "[6]"},
				{Rule: "XN.3", Op: op(0), Data: data, Indices: "[[1,2,0]]", Refuse: "rank", Message: "tuples of 3"},

				{Rule: "XN.4", Op: op(2), Data: "iota i64[2,2,3]", Indices: "[[[2],[0]],[[1],[1]]]", Want: "[[2,3],[7,10]]"},
				{Rule: "XN.4", Op: op(1), Data: data, Indices: "[[2],[0],[1]]", Refuse: "batch-dims", Message: "they must be equal"},

				{Rule: "XN.5", Op: op(0), Data: data, Indices: "[[-1,-3]]", Want: "[4]"},
				{Rule: "XN.5", Op: op(0), Data: data, Indices: "[[0,0],[-3,0]]", Refuse: "index-out-of-range", Message: "indices[1,0] = -3 is outside axis 0 of data, which has -2…1"},
				{Rule: "XN.5", Op: op(0), Data: data, Indices: "[[0,3]]", Refuse: "index-out-of-range", Message: "indices[0,1] = 3 is outside axis 1"},
			})
		})
	}
}

func TestRulesOfGatherND11(t *testing.T) {
	ruletest.Run(t, []ruletest.Case{
		{Rule: "XN.6", Op: onnx.GatherND11{}, Data: data, Indices: "[[1],[-2]]", Want: "[[4,5,6],[1,2,3]]"},
		{Rule: "XN.6", Bind: func() (garner.Op, error) {
			op, err := operators.Find("onnx.GatherND", 11)
			if err != nil {
				t.Fatal(err)
			}
			return op.Bind(map[string]any{"batch_dims": 0})
		}, Refuse: "attribute", Message: "onnx.GatherND-11 has no attribute batch_dims"},
	})
}

func TestRulesOfMicrosoftGatherND1(t *testing.T) {
	op := func(batchDims int) garner.Op { return onnx.MicrosoftGatherND1{BatchDims: batchDims} }
	ruletest.Run(t, []ruletest.Case{
		{Rule: "MN.1", Op: op(0), Data: "[1,2,3]", Indices: "[2]", Want: "3"},
		{Rule: "MN.1", Op: op(0), Data: "5", Indices: "[0]", Refuse: "rank", Message: "data i64[] has rank 0"},
		{Rule: "MN.1", Op: op(0), Data: data, Indices: "0", Refuse: "rank", Message: "indices i64[] have rank 0"},

		{Rule: "MN.2", Op: op(0), Data: data, Indices: "[[[1]],[[0]]]", Want: "[[[4,5,6]],[[1,2,3]]]"},
		{Rule: "MN.2", Op: op(0), Data: data, Indices: "[[1,2,0]]", Refuse: "rank", Message: "tuples of 3"},

		{Rule: "MN.3", Op: op(0), Data: data, Indices: "[[-1,-3]]", Want: "[4]"},
		{Rule: "MN.3", Op: op(0), Data: data, Indices: "[[0,-4]]", Refuse: "index-out-of-range", Message: "indices[0,1] = -4 is outside axis 1 of data, which has -3…2"},
		{Rule: "MN.3", Op: op(0), Data: data, Indices: "[[2,0]]", Refuse: "index-out-of-range", Message: "indices[0,0] = 2"},

		{Rule: "MN.4", Op: op(1), Data: data, Indices: "[[2],[0]]", Want: "[3,4]"},
		{Rule: "MN.4", Op: op(2), Data: data, Indices: "[[2],[0]]", Refuse: "batch-dims", Message: "it may be 0…1"},
	})
}
