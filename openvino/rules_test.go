package openvino_test

import (
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/openvino"
	"github.com/garner-go/garner/operators"
)

const data = "[[1,2,3],[4,5,6]]"

// deep is one element, 0, of rank 64, the maximum.
var deep = strings.Repeat("[", 64) + "0" + strings.Repeat("]", 64)

// bind makes the operator of a model's node with a given third input.
func bind(t *testing.T, name, axis string) func() (garner.Op, error) {
	return func() (garner.Op, error) {
		op, err := operators.Find(name, 0)
		if err != nil {
			t.Fatal(err)
		}
		value := ruletest.Tensor(t, axis)
		return op.Bind(nil, operators.Input{Spec: value.Spec(), Value: value})
	}
}

func TestRulesOfGather1(t *testing.T) {
	ruletest.Run(t, []ruletest.Case{
		{Rule: "OG1.1", Op: openvino.Gather1{}, Data: data, Indices: "1", Want: "[4,5,6]"},
		{Rule: "OG1.1", Op: openvino.Gather1{}, Data: "5", Indices: "[0]", Refuse: "rank", Message: "needs 1 or more"},

		{Rule: "OG1.2", Op: openvino.Gather1{Axis: 1}, Data: data, Indices: "[2,0]", Want: "[[3,1],[6,4]]"},
		{Rule: "OG1.2", Op: openvino.Gather1{Axis: -2}, Data: data, Indices: "[1]", Want: "[[4,5,6]]"},
		{Rule: "OG1.2", Bind: bind(t, "openvino.Gather-1", "u8(1)"), Data: data, Indices: "[2,0]", Want: "[[3,1],[6,4]]"},
		{Rule: "OG1.2", Bind: bind(t, "openvino.Gather-1", "i32[-1]"), Data: data, Indices: "[2,0]", Want: "[[3,1],[6,4]]"},
		{Rule: "OG1.2", Op: openvino.Gather1{Axis: 2}, Data: data, Indices: "[0]", Refuse: "axis-out-of-range", Message: "axis 2 of data i64[2,3]; it may be -2…1"},
		{Rule: "OG1.2", Bind: bind(t, "openvino.Gather-1", "[0,1]"), Refuse: "rank", Message: "it must be one element"},
		{Rule: "OG1.2", Bind: bind(t, "openvino.Gather-1", "[[1]]"), Refuse: "rank", Message: "a scalar or one element"},
		{Rule: "OG1.2", Bind: bind(t, "openvino.Gather-1", "f32(1)"), Refuse: "dtype", Message: "axis is f32"},

		{Rule: "OG1.3", Op: openvino.Gather1{Axis: 1}, Data: "iota i64[2,3,2]", Indices: "[[2],[0]]", Want: "[[[[4,5]],[[0,1]]],[[[10,11]],[[6,7]]]]"},
		{Rule: "OG1.3", Op: openvino.Gather1{}, Data: deep, Indices: "[[0]]", Refuse: "rank", Message: "has 65 dims"},

		{Rule: "OG1.4", Op: openvino.Gather1{Axis: 1}, Data: data, Indices: "[0,2]", Want: "[[1,3],[4,6]]"},
		{Rule: "OG1.4", Op: openvino.Gather1{Axis: 1}, Data: data, Indices: "[0,3]", Refuse: "index-out-of-range", Message: "indices[1] = 3 is outside axis 1 of data, which has 0…2"},
		{Rule: "OG1.4", Op: openvino.Gather1{Axis: 1}, Data: data, Indices: "[0,-1]", Refuse: "index-out-of-range", Message: "indices[1] = -1"},
	})
}

// gather7Rules are the rules that Gather of opset7 and of opset8 share, each with
// both numbers.
func gather7Rules(prefix string, op func(axis, batchDims int) garner.Op) []ruletest.Case {
	return ruletest.Of(prefix, []ruletest.Case{
		{Rule: "OG7.1 OG8.1", Op: op(0, 0), Data: data, Indices: "1", Want: "[4,5,6]"},
		{Rule: "OG7.1 OG8.1", Op: op(0, 0), Data: "5", Indices: "[0]", Refuse: "rank", Message: "needs 1 or more"},

		{Rule: "OG7.2 OG8.2", Op: op(-1, 0), Data: data, Indices: "[2,0]", Want: "[[3,1],[6,4]]"},
		{Rule: "OG7.2 OG8.2", Op: op(-3, 0), Data: data, Indices: "[0]", Refuse: "axis-out-of-range", Message: "axis -3 of data"},

		{Rule: "OG7.3 OG8.3", Op: op(1, 1), Data: data, Indices: "[[2],[0]]", Want: "[[3],[4]]"},
		{Rule: "OG7.3 OG8.3", Op: op(1, -1), Data: data, Indices: "[[2],[0]]", Want: "[[3],[4]]"},
		{Rule: "OG7.3 OG8.3", Op: op(1, -2), Data: data, Indices: "[[2],[0]]", Want: "[[[3],[1]],[[6],[4]]]"},
		{Rule: "OG7.3 OG8.3", Op: op(1, 3), Data: data, Indices: "[[2],[0]]", Refuse: "batch-dims", Message: "it may be -2…2"},
		{Rule: "OG7.3 OG8.3", Op: op(1, -3), Data: data, Indices: "[[2],[0]]", Refuse: "batch-dims", Message: "batch_dims -3"},
		{Rule: "OG7.3 OG8.3", Op: op(0, 1), Data: data, Indices: "[[1],[0]]", Refuse: "batch-dims", Message: "above axis 0"},

		{Rule: "OG7.4 OG8.4", Op: op(2, 1), Data: "iota i64[2,2,2]", Indices: "[[1,0,0],[0,1,1]]", Want: "[[[1,0,0],[3,2,2]],[[4,5,5],[6,7,7]]]"},
		{Rule: "OG7.4 OG8.4", Op: op(1, 1), Data: data, Indices: "[[2],[0],[1]]", Refuse: "batch-dims", Message: "they must be equal"},
	})
}

func TestRulesOfGather7(t *testing.T) {
	op := func(axis, batchDims int) garner.Op { return openvino.Gather7{Axis: axis, BatchDims: batchDims} }
	ruletest.Run(t, append(gather7Rules("OG7", op), []ruletest.Case{
		{Rule: "OG7.5", Op: op(1, 0), Data: data, Indices: "[0,2]", Want: "[[1,3],[4,6]]"},
		{Rule: "OG7.5", Op: op(1, 0), Data: data, Indices: "[0,-1]", Refuse: "index-out-of-range", Message: "indices[1] = -1 is outside axis 1 of data, which has 0…2"},
		{Rule: "OG7.5", Op: op(1, 0), Data: data, Indices: "[3,0]", Refuse: "index-out-of-range", Message: "indices[0] = 3"},
	}...))
}

func TestRulesOfGather8(t *testing.T) {
	op := func(axis, batchDims int) garner.Op { return openvino.Gather8{Axis: axis, BatchDims: batchDims} }
	ruletest.Run(t, append(gather7Rules("OG8", op), []ruletest.Case{
		{Rule: "OG8.5", Op: op(1, 0), Data: data, Indices: "[-1,-3]", Want: "[[3,1],[6,4]]"},
		{Rule: "OG8.5", Op: garner.WithOutside(op(1, 0), garner.Error), Data: data, Indices: "[-1,-4]", Refuse: "index-out-of-range", Message: "which has -3…2"},
		{Rule: "OG8.6", Op: op(1, 0), Data: data, Indices: "[3,0,-4]", Want: "[[0,1,0],[0,4,0]]"},
		{Rule: "OG8.6", Op: op(0, 0), Data: `["a","b"]`, Indices: "[7,-1]", Want: `["","b"]`},
		{Rule: "OG8.6", Op: op(0, 0), Data: "f8e8m0[1,2]", Indices: "[0,2]", Refuse: "index-out-of-range", Message: "f8e8m0 has no zero"},
	}...))
}

// gatherNDRules are the rules that GatherND of opset5 and of opset8 share.
func gatherNDRules(prefix string, op func(batchDims int) garner.Op) []ruletest.Case {
	return ruletest.Of(prefix, []ruletest.Case{
		{Rule: "ON5.1 ON8.1", Op: op(0), Data: "[1,2,3]", Indices: "[2]", Want: "3"},
		{Rule: "ON5.1 ON8.1", Op: op(0), Data: "5", Indices: "[0]", Refuse: "rank", Message: "data i64[] has rank 0"},
		{Rule: "ON5.1 ON8.1", Op: op(0), Data: data, Indices: "0", Refuse: "rank", Message: "indices i64[] have rank 0"},

		{Rule: "ON5.2 ON8.2", Op: op(1), Data: data, Indices: "[[2],[0]]", Want: "[3,4]"},
		{Rule: "ON5.2 ON8.2", Op: op(2), Data: data, Indices: "[[2],[0]]", Refuse: "batch-dims", Message: "it may be 0…1"},
		{Rule: "ON5.2 ON8.2", Op: op(-1), Data: data, Indices: "[[2],[0]]", Refuse: "batch-dims", Message: "batch_dims -1"},

		{Rule: "ON5.3 ON8.3", Op: op(0), Data: data, Indices: "[[1,2]]", Want: "[6]"},
		{Rule: "ON5.3 ON8.3", Op: op(0), Data: data, Indices: "[[1,2,0]]", Refuse: "rank", Message: "tuples of 3"},
		{Rule: "ON5.3 ON8.3", Op: op(1), Data: data, Indices: "[[1,2],[0,0]]", Refuse: "rank", Message: "1 axes to address after batch_dims 1"},

		{Rule: "ON5.4 ON8.4", Op: op(1), Data: "iota i64[2,3,2]", Indices: "[[[2],[0]],[[1],[1]]]", Want: "[[[4,5],[0,1]],[[8,9],[8,9]]]"},
		{Rule: "ON5.4 ON8.4", Op: op(1), Data: data, Indices: "[[2]]", Refuse: "batch-dims", Message: "batch dim 0 is 2 in data i64[2,3] and 1 in indices"},

		{Rule: "ON5.6 ON8.6", Op: op(0), Data: data, Indices: "[[1,2],[0,0]]", Want: "[6,1]"},
		{Rule: "ON5.6 ON8.6", Op: op(0), Data: data, Indices: "[[0,3]]", Refuse: "index-out-of-range", Message: "indices[0,1] = 3 is outside axis 1 of data, which has 0…2"},
		{Rule: "ON5.6 ON8.6", Op: op(0), Data: data, Indices: "[[-1,0]]", Refuse: "index-out-of-range", Message: "indices[0,0] = -1 is outside axis 0"},
	})
}

func TestRulesOfGatherND5(t *testing.T) {
	op := func(batchDims int) garner.Op { return openvino.GatherND5{BatchDims: batchDims} }
	ruletest.Run(t, append(gatherNDRules("ON5", op), []ruletest.Case{
		{Rule: "ON5.5", Op: op(2), Data: "iota i64[2,2,3]", Indices: "[[[2],[0]],[[1],[1]]]", Want: "[2,3,7,10]"},
		{Rule: "ON5.5", Op: op(2), Data: "iota i64[2,1,3]", Indices: "[[[[2],[0]]],[[[1],[1]]]]", Want: "[[2,0],[4,4]]"},
		{Rule: "ON5.5", Op: op(2), Data: "iota i64[2,2,3]", Indices: "[[[3],[0]],[[1],[1]]]", Refuse: "index-out-of-range", Message: "indices[0,0,0] = 3 is outside axis 2"},
	}...))
}

// TestFlattenedOverflow holds ON5.5 where the product of the batch dims overflows
// an int. No tensor is that large, so the test infers from specs.
func TestFlattenedOverflow(t *testing.T) {
	half := garner.Exactly(1 << 30) // the product of three overflows 64 bits, that of two 32 bits
	data := garner.SpecOfDims(garner.Bool, half, half, half, garner.AnyDim)
	indices := garner.SpecOfDims(garner.I64, half, half, half, garner.Exactly(1))
	_, err := garner.Infer(openvino.GatherND5{BatchDims: 3}, data, indices)
	ruletest.Refused(t, err, "shape-mismatch", "more elements than an int can count")
}

func TestRulesOfGatherND8(t *testing.T) {
	op := func(batchDims int) garner.Op { return openvino.GatherND8{BatchDims: batchDims} }
	ruletest.Run(t, append(gatherNDRules("ON8", op), []ruletest.Case{
		{Rule: "ON8.5", Op: op(2), Data: "iota i64[2,2,3]", Indices: "[[[2],[0]],[[1],[1]]]", Want: "[[2,3],[7,10]]"},
		{Rule: "ON8.5", Op: op(0), Data: deep, Indices: "[[[0]]]", Refuse: "rank", Message: "has 65 dims"},
		{Rule: "ON8.6", Op: garner.WithNegative(op(0), garner.FromEnd), Data: data, Indices: "[[-1,-3]]", Want: "[4]"},
	}...))
}

func TestRulesOfGatherElements6(t *testing.T) {
	op := func(axis int) garner.Op { return openvino.GatherElements6{Axis: axis} }
	ruletest.Run(t, []ruletest.Case{
		{Rule: "OE6.1", Op: op(0), Data: "[7,8]", Indices: "[1]", Want: "[8]"},
		{Rule: "OE6.1", Op: op(0), Data: "5", Indices: "0", Refuse: "rank", Message: "needs 1 or more"},
		{Rule: "OE6.1", Op: op(0), Data: data, Indices: "[0,1]", Refuse: "rank", Message: "they must be equal"},

		{Rule: "OE6.2", Op: op(-1), Data: data, Indices: "[[2],[0]]", Want: "[[3],[4]]"},
		{Rule: "OE6.2", Op: op(2), Data: data, Indices: "[[2],[0]]", Refuse: "axis-out-of-range", Message: "it may be -2…1"},

		{Rule: "OE6.3", Op: op(1), Data: data, Indices: "[[2,0,0,1],[1,1,2,0]]", Want: "[[3,1,1,2],[5,5,6,4]]"},
		{Rule: "OE6.3", Op: op(1), Data: data, Indices: "[[2,0]]", Refuse: "shape-mismatch", Message: "off axis 1 they must be equal"},

		{Rule: "OE6.4", Op: op(1), Data: data, Indices: "[[2],[0]]", Want: "[[3],[4]]"},
		{Rule: "OE6.4", Op: op(1), Data: data, Indices: "[[2],[-1]]", Refuse: "index-out-of-range", Message: "indices[1,0] = -1 is outside axis 1 of data, which has 0…2"},
		{Rule: "OE6.4", Op: op(1), Data: data, Indices: "[[2],[3]]", Refuse: "index-out-of-range", Message: "indices[1,0] = 3"},
	})
}
