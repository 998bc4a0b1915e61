package stablehlo_test

import (
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/operators"
	"github.com/garner-go/garner/stablehlo"
)

// data is 3 rows of 4 columns, 0 … 11.
const data = "iota i64[3,4]"

// windows is a gather of one window per tuple, 2 rows of 2 columns. Each rule below
// changes one part of it.
func windows(change func(g *stablehlo.Gather)) garner.Op {
	g := stablehlo.Gather{OffsetDims: []int{1, 2}, StartIndexMap: []int{0, 1}, IndexVectorDim: 1, SliceSizes: []int{2, 2}}
	if change != nil {
		change(&g)
	}
	return g
}

// batches is a gather in which dim 0 of both operands is a batch.
func batches(change func(g *stablehlo.Gather)) garner.Op {
	g := stablehlo.Gather{OperandBatchingDims: []int{0}, StartIndicesBatchingDims: []int{0}, OffsetDims: []int{1}, StartIndexMap: []int{1}, IndexVectorDim: 1, SliceSizes: []int{1, 2}}
	if change != nil {
		change(&g)
	}
	return g
}

func TestRulesOfGather(t *testing.T) {
	const two = "[[0,0],[1,2]]" // starts of two windows
	ruletest.Run(t, []ruletest.Case{
		{Rule: "HG.1", Op: windows(nil), Data: data, Indices: two, Want: "[[[0,1],[4,5]],[[6,7],[10,11]]]"},
		{Rule: "HG.1", Op: stablehlo.Gather{OffsetDims: []int{1}, CollapsedSliceDims: []int{0}, StartIndexMap: []int{0}, IndexVectorDim: 1, SliceSizes: []int{1, 4}}, Data: data, Indices: "[2,0]", Want: "[[8,9,10,11],[0,1,2,3]]"},
		{Rule: "HG.1", Op: windows(func(g *stablehlo.Gather) { g.IndexVectorDim = 3 }), Data: data, Indices: two, Refuse: "axis-out-of-range", Message: "index_vector_dim 3 of indices i64[2,2]; it may be 0…2"},

		{Rule: "HG.2", Op: windows(func(g *stablehlo.Gather) { g.OffsetDims = []int{0, 2} }), Data: data, Indices: two, Want: "[[[0,1],[6,7]],[[4,5],[10,11]]]"},
		{Rule: "HG.2", Op: windows(func(g *stablehlo.Gather) { g.OffsetDims = []int{1, 3} }), Data: data, Indices: two, Refuse: "axis-out-of-range", Message: "offset_dims [1 3] names dim 3; it may be 0…2"},
		{Rule: "HG.2", Op: windows(func(g *stablehlo.Gather) { g.StartIndexMap = []int{0, 2} }), Data: data, Indices: two, Refuse: "axis-out-of-range", Message: "start_index_map [0 2] names dim 2"},

		{Rule: "HG.3", Op: windows(func(g *stablehlo.Gather) { g.StartIndexMap = []int{1, 0} }), Data: data, Indices: "[[0,0],[2,1]]", Want: "[[[0,1],[4,5]],[[6,7],[10,11]]]"},
		{Rule: "HG.3", Op: windows(func(g *stablehlo.Gather) { g.StartIndexMap = []int{1, 1} }), Data: data, Indices: two, Refuse: "shape-mismatch", Message: "start_index_map [1 1] names a dim twice"},

		{Rule: "HG.4", Op: windows(func(g *stablehlo.Gather) { g.OffsetDims = []int{0, 1} }), Data: data, Indices: two, Want: "[[[0,6],[1,7]],[[4,10],[5,11]]]"},
		{Rule: "HG.4", Op: windows(func(g *stablehlo.Gather) { g.OffsetDims = []int{2, 1} }), Data: data, Indices: two, Refuse: "shape-mismatch", Message: "offset_dims [2 1] must ascend"},

		{Rule: "HG.5", Op: batches(nil), Data: data, Indices: "[[2],[0],[1]]", Want: "[[2,3],[4,5],[9,10]]"},
		{Rule: "HG.5", Op: batches(func(g *stablehlo.Gather) { g.StartIndexMap = []int{0} }), Data: data, Indices: "[[2],[0],[1]]", Refuse: "shape-mismatch", Message: "a batching dim is also collapsed, addressed"},

		{Rule: "HG.6", Op: batches(nil), Data: data, Indices: "[[1],[1],[1]]", Want: "[[1,2],[5,6],[9,10]]"},
		{Rule: "HG.6", Op: batches(func(g *stablehlo.Gather) { g.StartIndicesBatchingDims = nil }), Data: data, Indices: "[[1],[1],[1]]", Refuse: "shape-mismatch", Message: "must be as many"},

		{Rule: "HG.7", Op: windows(func(g *stablehlo.Gather) {
			g.OffsetDims, g.CollapsedSliceDims, g.SliceSizes = []int{1}, []int{0}, []int{1, 2}
		}), Data: data, Indices: two, Want: "[[0,1],[6,7]]"},
		{Rule: "HG.7", Op: windows(func(g *stablehlo.Gather) { g.OffsetDims = []int{1} }), Data: data, Indices: two, Refuse: "shape-mismatch", Message: "not as many as the dims of data"},

		{Rule: "HG.8", Op: windows(func(g *stablehlo.Gather) { g.StartIndexMap = []int{1} }), Data: data, Indices: "[[1],[2]]", Want: "[[[1,2],[5,6]],[[2,3],[6,7]]]"},
		{Rule: "HG.8", Op: windows(func(g *stablehlo.Gather) { g.StartIndexMap = []int{1} }), Data: data, Indices: two, Refuse: "shape-mismatch", Message: "start_index_map [1] has 1 dims"},

		{Rule: "HG.9", Op: batches(nil), Data: data, Indices: "[[0],[0],[0]]", Want: "[[0,1],[4,5],[8,9]]"},
		{Rule: "HG.9", Op: batches(nil), Data: data, Indices: "[[0],[0]]", Refuse: "shape-mismatch", Message: "batching dim 0 of data"},

		{Rule: "HG.10", Op: windows(func(g *stablehlo.Gather) { g.SliceSizes = []int{1, 3} }), Data: data, Indices: two, Want: "[[[0,1,2]],[[5,6,7]]]"},
		{Rule: "HG.10", Op: windows(func(g *stablehlo.Gather) { g.SliceSizes = []int{2} }), Data: data, Indices: two, Refuse: "shape-mismatch", Message: "slice_sizes [2] are not as many as the dims of data"},

		{Rule: "HG.11", Op: windows(func(g *stablehlo.Gather) { g.SliceSizes = []int{3, 1} }), Data: data, Indices: two, Want: "[[[0],[4],[8]],[[2],[6],[10]]]"},
		{Rule: "HG.11", Op: windows(func(g *stablehlo.Gather) { g.SliceSizes = []int{4, 1} }), Data: data, Indices: two, Refuse: "shape-mismatch", Message: "slice_sizes [4 1] along dim 0 of data i64[3,4]; it may be 0…3"},
		{Rule: "HG.11", Op: batches(func(g *stablehlo.Gather) { g.SliceSizes = []int{2, 2} }), Data: data, Indices: "[[0],[0],[0]]", Refuse: "shape-mismatch", Message: "it may be 0…1"},

		{Rule: "HG.12", Op: windows(nil), Data: data, Indices: "[[-5,9],[9,-1]]", Want: "[[[2,3],[6,7]],[[4,5],[8,9]]]"},
		{Rule: "HG.12", Op: stablehlo.Gather{OffsetDims: []int{1}, CollapsedSliceDims: []int{0}, StartIndexMap: []int{0}, IndexVectorDim: 1, SliceSizes: []int{0, 4}}, Data: "zeros i64[0,4]", Indices: "[[0]]", Refuse: "index-out-of-range", Message: "which is empty"},

		{Rule: "HG.13", Op: windows(func(g *stablehlo.Gather) {
			g.OffsetDims, g.CollapsedSliceDims, g.StartIndexMap, g.SliceSizes = []int{1}, []int{0}, []int{1}, []int{0, 2}
		}), Data: data, Indices: "[[1],[2]]", Want: "[[1,2],[2,3]]"},
		{Rule: "HG.13", Op: windows(func(g *stablehlo.Gather) {
			g.OffsetDims, g.CollapsedSliceDims, g.StartIndexMap, g.SliceSizes = []int{1}, []int{0}, []int{1}, []int{0, 2}
		}), Data: "zeros i64[0,4]", Indices: "zeros i64[0,1]", Want: "zeros i64[0,2]"},
		{Rule: "HG.13", Op: windows(func(g *stablehlo.Gather) {
			g.OffsetDims, g.CollapsedSliceDims, g.StartIndexMap, g.SliceSizes = []int{1}, []int{0}, []int{1}, []int{0, 2}
		}), Data: "zeros i64[0,4]", Indices: "[[1],[2]]", Refuse: "shape-mismatch", Message: "collapsed dim 0 of data i64[0,4] is empty; a window has no position along it"},
	})
}

func TestRulesOfDynamicGather(t *testing.T) {
	bind := func(sizes string) func() (garner.Op, error) {
		return func() (garner.Op, error) {
			op, err := operators.Find("stablehlo.dynamic_gather", 0)
			if err != nil {
				t.Fatal(err)
			}
			value := ruletest.Tensor(t, sizes)
			return op.Bind(map[string]any{"offset_dims": []int64{1, 2}, "start_index_map": []int64{0, 1}, "index_vector_dim": 1},
				operators.Input{Spec: value.Spec(), Value: value})
		}
	}
	ruletest.Run(t, []ruletest.Case{
		{Rule: "HD.1", Bind: bind("i32[2,2]"), Data: data, Indices: "[[0,0],[9,2]]", Want: "[[[0,1],[4,5]],[[6,7],[10,11]]]"},
		{Rule: "HD.1", Bind: bind("i32[4,2]"), Data: data, Indices: "[[0,0]]", Refuse: "shape-mismatch", Message: "slice_sizes [4 2] along dim 0"},
		{Rule: "HD.1", Bind: bind("f32[2,2]"), Refuse: "dtype", Message: "slice_sizes is f32"},
	})
	unknown, err := operators.Find("stablehlo.dynamic_gather", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, sizes := range []garner.Spec{garner.SpecOf(garner.I64, 2), garner.SpecOfDims(garner.I64, garner.AnyDim), garner.SpecOfRank(garner.I64, garner.AnyDim)} {
		op, err := unknown.Bind(map[string]any{"offset_dims": []int64{1, 2}, "start_index_map": []int64{0, 1}, "index_vector_dim": 1}, operators.Input{Spec: sizes})
		if err != nil {
			t.Fatal(err)
		}
		got, err := garner.Infer(op, garner.SpecOf(garner.I64, 3, 4), garner.SpecOf(garner.I64, 5, 2))
		if err != nil || got.String() != "i64[5,?,?]" {
			t.Errorf("sizes %v that are not known give %v, %v", sizes, got, err)
		}
	}
	got, err := garner.Infer(stablehlo.DynamicGather{OffsetDims: []int{1, 2}, StartIndexMap: []int{0, 1}, IndexVectorDim: 1}, garner.SpecOf(garner.I64, 3, 4), garner.SpecOf(garner.I64, 5, 2))
	if err != nil || got.String() != "i64[5,?,?]" {
		t.Errorf("sizes that are not known give %v, %v", got, err)
	}
}
