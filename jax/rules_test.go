package jax_test

import (
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/jax"
)

const data = "[[1,2,3],[4,5,6]]"

func at(n int) *int { return &n }

// lax is a gather of one window per tuple, 1 row of 2 columns.
func lax(change func(g *jax.LaxGather)) garner.Op {
	g := jax.LaxGather{OffsetDims: []int{1}, CollapsedSliceDims: []int{0}, StartIndexMap: []int{0, 1}, SliceSizes: []int{1, 2}}
	if change != nil {
		change(&g)
	}
	return g
}

func TestRulesOfLaxGather(t *testing.T) {
	ruletest.Run(t, []ruletest.Case{
		{Rule: "JG.1", Op: lax(nil), Data: data, Indices: "[[0,1],[1,0]]", Want: "[[2,3],[4,5]]"},
		{Rule: "JG.1", Op: lax(func(g *jax.LaxGather) { g.IndexVectorDim = at(1) }), Data: data, Indices: "[[0,1],[1,0]]", Want: "[[2,3],[4,5]]"},
		{Rule: "JG.1", Op: lax(nil), Data: data, Indices: "0", Refuse: "rank", Message: "needs 1 or more"},
		{Rule: "JG.1", Op: lax(func(g *jax.LaxGather) { g.IndexVectorDim = at(0) }), Data: data, Indices: "[[0,1],[1,0]]", Refuse: "shape-mismatch", Message: "it must be the last, 1"},

		{Rule: "JG.2", Op: lax(func(g *jax.LaxGather) { g.SliceSizes = []int{1, 9} }), Data: data, Indices: "zeros i64[0,2]", Want: "zeros i64[0,9]"},
		{Rule: "JG.2", Op: lax(func(g *jax.LaxGather) { g.SliceSizes = []int{1, 9} }), Data: data, Indices: "[[0,0]]", Refuse: "shape-mismatch", Message: "slice_sizes [1 9] along dim 1"},

		{Rule: "JG.2", Op: lax(func(g *jax.LaxGather) { g.StartIndexMap = nil }), Data: data, Indices: "zeros i64[2,0]", Want: "[[1,2],[1,2]]"},
		{Rule: "JG.2", Op: lax(func(g *jax.LaxGather) { g.StartIndexMap, g.SliceSizes = nil, []int{1, 9} }), Data: data, Indices: "zeros i64[2,0]", Refuse: "shape-mismatch", Message: "slice_sizes [1 9] along dim 1"},

		{Rule: "JG.3", Op: lax(func(g *jax.LaxGather) { g.Mode, g.FillValue = "fill", "9" }), Data: data, Indices: "[[0,2],[0,-1],[1,1]]", Want: "[[9,9],[9,9],[5,6]]"},
		{Rule: "JG.3", Op: lax(func(g *jax.LaxGather) { g.Mode = "clip" }), Data: data, Indices: "[[0,2],[-3,-1]]", Want: "[[2,3],[1,2]]"},
		{Rule: "JG.3", Op: lax(func(g *jax.LaxGather) { g.Mode = "wrap" }), Data: data, Indices: "[[0,2]]", Refuse: "attribute", Message: `mode "wrap"; there are fill, clip and promise_in_bounds`},

		{Rule: "JG.4", Op: lax(nil), Data: "f32[[1,2,3]]", Indices: "[[0,2]]", Want: "f32[[NaN,NaN]]"},
		{Rule: "JG.4", Op: lax(nil), Data: "complex64[[1,2,3]]", Indices: "[[0,2]]", Want: "complex64[[NaN+0i,NaN+0i]]"},
		{Rule: "JG.4", Op: lax(nil), Data: "i8[[1,2,3]]", Indices: "[[0,2]]", Want: "i8[[-128,-128]]"},
		{Rule: "JG.4", Op: lax(nil), Data: "u64[[1,2,3]]", Indices: "[[0,2]]", Want: "u64[[18446744073709551615,18446744073709551615]]"},
		{Rule: "JG.4", Op: lax(nil), Data: "[[false,false]]", Indices: "[[0,1]]", Want: "[[true,true]]"},
		{Rule: "JG.4", Op: lax(nil), Data: `[["a","b"]]`, Indices: "[[0,1]]", Want: `[["",""]]`},
		{Rule: "JG.4", Op: lax(nil), Data: "f4e2m1[[1,2]]", Indices: "[[0,1]]", Refuse: "index-out-of-range", Message: "indices[0,1] = 1"},
		{Rule: "JG.4", Op: lax(func(g *jax.LaxGather) { g.FillValue = "0" }), Data: "f8e8m0[[1,2,4]]", Indices: "[[0,1]]", Want: "f8e8m0[[2,4]]"},
		{Rule: "JG.4", Op: lax(func(g *jax.LaxGather) { g.FillValue = "0" }), Data: "f8e8m0[[1,2,4]]", Indices: "[[0,2]]", Refuse: "index-out-of-range", Message: "indices[0,1] = 2"},
		{Rule: "JG.4", Op: lax(func(g *jax.LaxGather) { g.FillValue = "18446744073709551615" }), Data: "u64[[1,2,3]]", Indices: "[[0,2]]", Want: "u64[[18446744073709551615,18446744073709551615]]"},
		{Rule: "JG.4", Op: lax(func(g *jax.LaxGather) { g.FillValue = "many" }), Data: data, Indices: "[[0,0]]", Refuse: "attribute", Message: `the fill "many" is no i64`},

		{Rule: "JG.5", Op: lax(func(g *jax.LaxGather) { g.SliceSizes = []int{1, 0} }), Data: data, Indices: "[[0,1]]", Want: "zeros i64[1,0]"},
		{Rule: "JG.5", Op: lax(func(g *jax.LaxGather) { g.SliceSizes = []int{0, 2} }), Data: data, Indices: "[[0,1]]", Refuse: "shape-mismatch", Message: "slice_sizes [0 2] has 0 along the collapsed dim 0; it must be 1"},
		{Rule: "JG.5", Op: lax(func(g *jax.LaxGather) { g.SliceSizes = []int{0, 2} }), Data: data, Indices: "zeros i64[0,2]", Refuse: "shape-mismatch", Message: "it must be 1"},
	})
}

func TestRulesOfTake(t *testing.T) {
	ruletest.Run(t, []ruletest.Case{
		{Rule: "JT.1", Op: jax.NumpyTake{Axis: at(0)}, Data: data, Indices: "1", Want: "[4,5,6]"},
		{Rule: "JT.1", Op: jax.NumpyTake{Axis: at(0)}, Data: "5", Indices: "[0]", Refuse: "rank", Message: "needs 1 or more"},

		{Rule: "JT.2", Op: jax.NumpyTake{}, Data: data, Indices: "[[5],[-6]]", Want: "[[6],[1]]"},
		{Rule: "JT.2", Op: jax.NumpyTake{}, Data: "nf4[[1.0]]", Indices: "[1]", Refuse: "index-out-of-range", Message: "is outside data, taken flat"},

		{Rule: "JT.3", Op: jax.NumpyTake{Axis: at(-1)}, Data: data, Indices: "[2,0]", Want: "[[3,1],[6,4]]"},
		{Rule: "JT.3", Op: jax.NumpyTake{Axis: at(2)}, Data: data, Indices: "[0]", Refuse: "axis-out-of-range", Message: "it may be -2…1"},

		{Rule: "JT.4", Op: jax.NumpyTake{Axis: at(1), FillValue: "9"}, Data: data, Indices: "[-1,3,-4]", Want: "[[3,9,9],[6,9,9]]"},
		{Rule: "JT.4", Op: jax.NumpyTake{Axis: at(1), Mode: "clip"}, Data: data, Indices: "[-1,3]", Want: "[[1,3],[4,6]]"},
		{Rule: "JT.4", Op: jax.NumpyTake{Axis: at(1), Mode: "promise_in_bounds"}, Data: data, Indices: "[0]", Refuse: "attribute", Message: `mode "promise_in_bounds"; there are fill, clip and wrap`},
		{Rule: "JT.4", Op: jax.NumpyTake{Axis: at(1), Mode: "wrap"}, Data: data, Indices: "[-1,3]", Want: "[[3,1],[6,4]]"},
		{Rule: "JT.4", Op: jax.NumpyTake{Mode: "raise"}, Data: data, Indices: "[0]", Refuse: "attribute", Message: `mode "raise"`},

		{Rule: "JT.5", Op: jax.NumpyTake{Axis: at(1)}, Data: "zeros f32[2,0]", Indices: "zeros i64[0]", Want: "zeros f32[2,0]"},
		{Rule: "JT.5", Op: jax.NumpyTake{Axis: at(1)}, Data: "zeros f32[2,0]", Indices: "[0]", Refuse: "index-out-of-range", Message: "which is empty"},
		{Rule: "JT.5", Op: jax.NumpyTake{Mode: "wrap"}, Data: "zeros f32[2,0]", Indices: "[0]", Refuse: "index-out-of-range", Message: "is outside data, taken flat, which is empty"},
	})
}

func TestRulesOfTakeAlongAxis(t *testing.T) {
	yes, no := true, false
	ruletest.Run(t, []ruletest.Case{
		{Rule: "JA.1", Op: jax.NumpyTakeAlongAxis{}, Data: data, Indices: "[5,-6]", Want: "[6,1]"},
		{Rule: "JA.1", Op: jax.NumpyTakeAlongAxis{}, Data: data, Indices: "[[5]]", Refuse: "rank", Message: "they must be equal"},

		{Rule: "JA.2", Op: jax.NumpyTakeAlongAxis{Axis: at(0)}, Data: "[7,8]", Indices: "[1]", Want: "[8]"},
		{Rule: "JA.2", Op: jax.NumpyTakeAlongAxis{Axis: at(0)}, Data: "7", Indices: "0", Refuse: "rank", Message: "needs 1 or more"},
		{Rule: "JA.2", Op: jax.NumpyTakeAlongAxis{Axis: at(0)}, Data: data, Indices: "[1]", Refuse: "rank", Message: "they must be equal"},

		{Rule: "JA.3", Op: jax.NumpyTakeAlongAxis{Axis: at(-1)}, Data: data, Indices: "[[2],[0]]", Want: "[[3],[4]]"},
		{Rule: "JA.3", Op: jax.NumpyTakeAlongAxis{Axis: at(2)}, Data: data, Indices: "[[2],[0]]", Refuse: "axis-out-of-range", Message: "axis 2 of data"},

		{Rule: "JA.4", Op: jax.NumpyTakeAlongAxis{Axis: at(1)}, Data: data, Indices: "[[2,0]]", Want: "[[3,1],[6,4]]"},
		{Rule: "JA.4", Op: jax.NumpyTakeAlongAxis{Axis: at(1)}, Data: data, Indices: "[[2],[0],[1]]", Refuse: "shape-mismatch", Message: "equal, or 1 in either"},

		{Rule: "JA.5", Op: jax.NumpyTakeAlongAxis{Axis: at(1), FillValue: "9"}, Data: data, Indices: "[[3],[-4]]", Want: "[[9],[9]]"},
		{Rule: "JA.5", Op: jax.NumpyTakeAlongAxis{Axis: at(1), Mode: "clip"}, Data: data, Indices: "[[3],[-4]]", Want: "[[3],[4]]"},
		{Rule: "JA.5", Op: jax.NumpyTakeAlongAxis{Axis: at(1), Mode: "wrap"}, Data: data, Indices: "[[3],[-4]]", Refuse: "attribute", Message: `mode "wrap"; there are fill, clip and promise_in_bounds`},
		{Rule: "JA.5", Op: jax.NumpyTakeAlongAxis{Mode: "raise"}, Data: data, Indices: "[0]", Refuse: "attribute", Message: `mode "raise"`},

		{Rule: "JA.6", Op: jax.NumpyTakeAlongAxis{Axis: at(0), Mode: "promise_in_bounds"}, Data: "[10,20,30]", Indices: "[-1,-3,-4,3]", Want: "[10,10,10,30]"},
		{Rule: "JA.6", Op: jax.NumpyTakeAlongAxis{Axis: at(0), Mode: "promise_in_bounds", WrapNegativeIndices: &yes}, Data: "[10,20,30]", Indices: "[-1,-3,-4,3]", Want: "[30,10,10,30]"},
		{Rule: "JA.6", Op: jax.NumpyTakeAlongAxis{Axis: at(0), Mode: "clip"}, Data: "[10,20,30]", Indices: "[-1,-3,-4,3]", Want: "[30,10,10,30]"},
		{Rule: "JA.6", Op: jax.NumpyTakeAlongAxis{Axis: at(0), Mode: "clip", WrapNegativeIndices: &no}, Data: "[10,20,30]", Indices: "[-1,-3,-4,3]", Want: "[10,10,10,30]"},
		{Rule: "JA.6", Op: jax.NumpyTakeAlongAxis{Axis: at(1)}, Data: data, Indices: "[[-1],[-3]]", Want: "[[3],[4]]"},
		{Rule: "JA.6", Op: jax.NumpyTakeAlongAxis{Axis: at(1), FillValue: "9", WrapNegativeIndices: &no}, Data: data, Indices: "[[-1],[2]]", Want: "[[9],[6]]"},
		{Rule: "JA.7", Op: jax.NumpyTakeAlongAxis{Axis: at(0)}, Data: "zeros f32[0,2]", Indices: "[[0,-3]]", Want: "zeros f32[1,2]"},
		{Rule: "JA.7", Op: jax.NumpyTakeAlongAxis{Axis: at(0), FillValue: "9"}, Data: "zeros f32[0,2]", Indices: "[[0,7]]", Want: "zeros f32[1,2]"},
		{Rule: "JA.7", Op: garner.WithOutside(jax.NumpyTakeAlongAxis{Axis: at(0)}, garner.Error), Data: "zeros f32[0,2]", Indices: "[[0,7]]", Refuse: "index-out-of-range", Message: "which is empty"},
		{Rule: "JA.7", Op: jax.NumpyTakeAlongAxis{Mode: "clip"}, Data: "zeros f32[2,0]", Indices: "[3]", Want: "zeros f32[1]"},
		{Rule: "JA.6", Op: garner.WithOutside(jax.NumpyTakeAlongAxis{Axis: at(1), WrapNegativeIndices: &no}, garner.Error), Data: data, Indices: "[[-1],[2]]", Refuse: "index-out-of-range", Message: "indices[0,0] = -1 is outside axis 1 of data, which has 0…2"},
	})
}
