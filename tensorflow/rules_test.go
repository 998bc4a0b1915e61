package tensorflow_test

import (
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/operators"
	"github.com/garner-go/garner/tensorflow"
)

const params = "[[1,2,3],[4,5,6]]"

// deep is one element, 0, of rank 64, the maximum.
var deep = strings.Repeat("[", 64) + "0" + strings.Repeat("]", 64)

func TestRulesOfGatherNd(t *testing.T) {
	op := func(policy string) garner.Op { return tensorflow.GatherNd{BadIndicesPolicy: policy} }
	ruletest.Run(t, []ruletest.Case{
		{Rule: "TNd.1", Op: op(""), Data: "[1,2,3]", Indices: "[2]", Want: "3"},
		{Rule: "TNd.1", Op: op(""), Data: "5", Indices: "[0]", Refuse: "rank", Message: "data i64[] has rank 0"},
		{Rule: "TNd.1", Op: op(""), Data: params, Indices: "0", Refuse: "rank", Message: "indices i64[] have rank 0"},

		{Rule: "TNd.2", Op: op(""), Data: params, Indices: "[[1,2]]", Want: "[6]"},
		{Rule: "TNd.2", Op: op(""), Data: params, Indices: "[[1,2,0]]", Refuse: "rank", Message: "tuples of 3"},

		{Rule: "TNd.3", Op: op(""), Data: params, Indices: "[[[1]],[[0]]]", Want: "[[[4,5,6]],[[1,2,3]]]"},
		{Rule: "TNd.3", Op: op(""), Data: deep, Indices: "[[[0]]]", Refuse: "rank", Message: "has 65 dims"},

		{Rule: "TNd.4", Op: op(""), Data: params, Indices: "[[0,2]]", Want: "[3]"},
		{Rule: "TNd.4", Op: garner.WithOutside(op(""), garner.Zero), Data: params, Indices: "[[0,3],[-1,0],[1,0]]", Want: "[0,0,4]"},
		{Rule: "TNd.4", Op: op(""), Data: params, Indices: "[[0,3]]", Refuse: "index-out-of-range", Message: "indices[0,1] = 3 is outside axis 1 of data, which has 0…2"},
		{Rule: "TNd.4", Op: op(""), Data: params, Indices: "[[-1,0]]", Refuse: "index-out-of-range", Message: "indices[0,0] = -1"},

		{Rule: "TNd.5", Op: op("IGNORE"), Data: params, Indices: "[[0,3],[1,0]]", Want: "[0,4]"},
		{Rule: "TNd.5", Op: op("DEFAULT"), Data: params, Indices: "[[0,3]]", Refuse: "index-out-of-range", Message: "indices[0,1] = 3"},
		{Rule: "TNd.5", Op: op("ERROR"), Data: params, Indices: "[[0,3]]", Refuse: "index-out-of-range", Message: "indices[0,1] = 3"},
		{Rule: "TNd.5", Op: op("ignore"), Data: params, Indices: "[[0,3]]", Refuse: "attribute", Message: `bad_indices_policy "ignore"; there are DEFAULT, ERROR and IGNORE`},
	})
}

func TestRulesOfGatherNdFunc(t *testing.T) {
	op := func(batchDims int) garner.Op { return tensorflow.GatherNdFunc{BatchDims: batchDims} }
	ruletest.Run(t, []ruletest.Case{
		{Rule: "Tnd.1", Op: op(0), Data: "[1,2,3]", Indices: "[2]", Want: "3"},
		{Rule: "Tnd.1", Op: op(0), Data: "5", Indices: "[0]", Refuse: "rank", Message: "data i64[] has rank 0"},

		{Rule: "Tnd.2", Op: op(1), Data: params, Indices: "[[2],[0]]", Want: "[3,4]"},
		{Rule: "Tnd.2", Op: op(-1), Data: params, Indices: "[[2],[0]]", Refuse: "batch-dims", Message: "it may be 0…1"},
		{Rule: "Tnd.2", Op: op(2), Data: params, Indices: "[[2],[0]]", Refuse: "batch-dims", Message: "batch_dims 2"},

		{Rule: "Tnd.3", Op: op(1), Data: "iota i64[2,2,2]", Indices: "[[1,0],[0,1]]", Want: "[2,5]"},
		{Rule: "Tnd.3", Op: op(1), Data: params, Indices: "[[1,0],[0,1]]", Refuse: "rank", Message: "1 axes to address after batch_dims 1"},

		{Rule: "Tnd.4", Op: op(2), Data: "iota i64[2,2,3]", Indices: "[[[2],[0]],[[1],[1]]]", Want: "[[2,3],[7,10]]"},
		{Rule: "Tnd.4", Op: op(1), Data: params, Indices: "[[2],[0],[1]]", Refuse: "batch-dims", Message: "they must be equal"},

		{Rule: "Tnd.5", Op: op(1), Data: params, Indices: "[[0],[2]]", Want: "[1,6]"},
		{Rule: "Tnd.5", Op: op(1), Data: params, Indices: "[[0],[-1]]", Refuse: "index-out-of-range", Message: "indices[1,0] = -1 is outside axis 1 of data, which has 0…2"},

		{Rule: "Tnd.6", Op: tensorflow.GatherNdFunc{BatchDims: 1, BadIndicesPolicy: "IGNORE"}, Data: params, Indices: "[[0],[-1]]", Want: "[1,0]"},
		{Rule: "Tnd.6", Op: tensorflow.GatherNdFunc{BadIndicesPolicy: "CLAMP"}, Data: params, Indices: "[[0]]", Refuse: "attribute", Message: `bad_indices_policy "CLAMP"`},
	})
}

func TestRulesOfGather(t *testing.T) {
	ruletest.Run(t, []ruletest.Case{
		{Rule: "TG.1", Op: tensorflow.Gather{}, Data: params, Indices: "1", Want: "[4,5,6]"},
		{Rule: "TG.1", Op: tensorflow.Gather{}, Data: "5", Indices: "[0]", Refuse: "rank", Message: "needs 1 or more"},

		{Rule: "TG.2", Op: tensorflow.Gather{}, Data: params, Indices: "[[1],[0]]", Want: "[[[4,5,6]],[[1,2,3]]]"},
		{Rule: "TG.2", Op: tensorflow.Gather{}, Data: deep, Indices: "[[0]]", Refuse: "rank", Message: "has 65 dims"},

		{Rule: "TG.3", Op: tensorflow.Gather{ValidateIndices: true}, Data: params, Indices: "[0]", Want: "[[1,2,3]]"},
		{Rule: "TG.3", Op: tensorflow.Gather{}, Data: params, Indices: "[2]", Refuse: "index-out-of-range", Message: "indices[0] = 2 is outside axis 0 of data, which has 0…1"},
		{Rule: "TG.3", Op: tensorflow.Gather{ValidateIndices: true}, Data: params, Indices: "[-1]", Refuse: "index-out-of-range", Message: "indices[0] = -1"},
	})
}

// axisRules are the rules that GatherV2 and the function gather share.
func axisRules(prefix string, op func(axis, batchDims int) garner.Op) []ruletest.Case {
	return ruletest.Of(prefix, []ruletest.Case{
		{Rule: "TG2.1 Tg.1", Op: op(0, 0), Data: params, Indices: "1", Want: "[4,5,6]"},
		{Rule: "TG2.1 Tg.1", Op: op(0, 0), Data: "5", Indices: "[0]", Refuse: "rank", Message: "needs 1 or more"},

		{Rule: "TG2.2 Tg.2", Op: op(-1, 0), Data: params, Indices: "[2,0]", Want: "[[3,1],[6,4]]"},
		{Rule: "TG2.2 Tg.2", Op: op(2, 0), Data: params, Indices: "[2,0]", Refuse: "axis-out-of-range", Message: "it may be -2…1"},

		{Rule: "TG2.3 Tg.3", Op: op(1, 1), Data: params, Indices: "[[2],[0]]", Want: "[[3],[4]]"},
		{Rule: "TG2.3 Tg.3", Op: op(1, -1), Data: params, Indices: "[[2],[0]]", Want: "[[3],[4]]"},
		{Rule: "TG2.3 Tg.3", Op: op(1, -3), Data: params, Indices: "[[2],[0]]", Refuse: "batch-dims", Message: "it may be -2…2"},
		{Rule: "TG2.3 Tg.3", Op: op(0, 1), Data: params, Indices: "[[1],[0]]", Refuse: "batch-dims", Message: "above axis 0"},

		{Rule: "TG2.4 Tg.4", Op: op(2, 1), Data: "iota i64[2,2,2]", Indices: "[[1,0,0],[0,1,1]]", Want: "[[[1,0,0],[3,2,2]],[[4,5,5],[6,7,7]]]"},
		{Rule: "TG2.4 Tg.4", Op: op(1, 1), Data: params, Indices: "[[2],[0],[1]]", Refuse: "batch-dims", Message: "they must be equal"},

		{Rule: "TG2.5 Tg.5", Op: op(1, 0), Data: params, Indices: "[0,2]", Want: "[[1,3],[4,6]]"},
		{Rule: "TG2.5 Tg.5", Op: op(1, 0), Data: params, Indices: "[0,-1]", Refuse: "index-out-of-range", Message: "indices[1] = -1 is outside axis 1 of data, which has 0…2"},
		{Rule: "TG2.5 Tg.5", Op: op(1, 0), Data: params, Indices: "[3]", Refuse: "index-out-of-range", Message: "indices[0] = 3"},
	})
}

func TestRulesOfGatherV2(t *testing.T) {
	op := func(axis, batchDims int) garner.Op { return tensorflow.GatherV2{Axis: axis, BatchDims: batchDims} }
	bind := func(axis string) func() (garner.Op, error) {
		return func() (garner.Op, error) {
			op, err := operators.Find("tensorflow.GatherV2", 0)
			if err != nil {
				t.Fatal(err)
			}
			value := ruletest.Tensor(t, axis)
			return op.Bind(nil, operators.Input{Spec: value.Spec(), Value: value})
		}
	}
	ruletest.Run(t, append(axisRules("TG2", op), []ruletest.Case{
		{Rule: "TG2.2", Bind: bind("i32(1)"), Data: params, Indices: "[2,0]", Want: "[[3,1],[6,4]]"},
		{Rule: "TG2.2", Bind: bind("i32[1]"), Refuse: "rank", Message: "it must be a scalar"},
		{Rule: "TG2.2", Bind: bind("f32(1)"), Refuse: "dtype", Message: "axis is f32"},
	}...))
}

func TestRulesOfGatherFunc(t *testing.T) {
	op := func(axis, batchDims int) garner.Op {
		return tensorflow.GatherFunc{Axis: &axis, BatchDims: batchDims}
	}
	ruletest.Run(t, append(axisRules("Tg", op), []ruletest.Case{
		{Rule: "Tg.6", Op: tensorflow.GatherFunc{}, Data: params, Indices: "[1]", Want: "[[4,5,6]]"},
		{Rule: "Tg.6", Op: tensorflow.GatherFunc{BatchDims: 1}, Data: params, Indices: "[[2],[0]]", Want: "[[3],[4]]"},
		{Rule: "Tg.6", Op: tensorflow.GatherFunc{BatchDims: -1}, Data: params, Indices: "[[2],[0]]", Want: "[[3],[4]]"},
		{Rule: "Tg.6", Op: tensorflow.GatherFunc{BatchDims: -1}, Data: "iota i64[2,2,2]", Indices: "[[1],[0]]", Want: "[[[1],[3]],[[4],[6]]]"},
		{Rule: "Tg.6", Op: tensorflow.GatherFunc{BatchDims: 2}, Data: params, Indices: "[[2,0,1],[0,1,2]]", Refuse: "axis-out-of-range", Message: "axis 2 of data"},
	}...))
}

func TestRulesOfBatchGather(t *testing.T) {
	ruletest.Run(t, []ruletest.Case{
		{Rule: "TB.1", Op: tensorflow.BatchGather{}, Data: "[7,8]", Indices: "[1,1,0]", Want: "[8,8,7]"},
		{Rule: "TB.1", Op: tensorflow.BatchGather{}, Data: "[7,8]", Indices: "1", Refuse: "rank", Message: "indices i64[] have rank 0"},

		{Rule: "TB.2", Op: tensorflow.BatchGather{}, Data: params, Indices: "[[2,0],[0,1]]", Want: "[[3,1],[4,5]]"},
		{Rule: "TB.2", Op: tensorflow.BatchGather{}, Data: "[7,8]", Indices: "[[0],[1]]", Refuse: "axis-out-of-range", Message: "axis 1 of data"},
		{Rule: "TB.2", Op: tensorflow.BatchGather{}, Data: params, Indices: "[[2]]", Refuse: "batch-dims", Message: "they must be equal"},

		{Rule: "TB.3", Op: tensorflow.BatchGather{}, Data: "iota i64[2,3,2]", Indices: "[[2],[0]]", Want: "[[[4,5]],[[6,7]]]"},
		{Rule: "TB.3", Op: tensorflow.BatchGather{}, Data: params, Indices: "[[2],[-1]]", Refuse: "index-out-of-range", Message: "indices[1,0] = -1 is outside axis 1 of data, which has 0…2"},
	})
	// Where the rank of the indices is not known, neither is the axis.
	got, err := garner.Infer(tensorflow.BatchGather{}, garner.SpecOf(garner.F32, 2, 3), garner.SpecOfRank(garner.I64, garner.AnyDim))
	if err != nil || got.String() != "f32[...]" {
		t.Errorf("indices of unknown rank give %v, %v", got, err)
	}
}
