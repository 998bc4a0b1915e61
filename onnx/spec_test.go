package onnx_test

import (
	"testing"

	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/onnx"
)

// TestMicrosoftGatherND1Spec runs the examples and the tests of the page of
// com.microsoft.GatherND-1, under the page's names. The examples name no element
// type.
func TestMicrosoftGatherND1Spec(t *testing.T) {
	for _, tt := range []struct {
		name                string
		batchDims           int
		data, indices, want string
	}{
		{"example 1", 0, "[[0,1],[2,3]]", "[[0,0],[1,1]]", "[0,3]"},
		{"example 2", 0, "[[0,1],[2,3]]", "[[1],[0]]", "[[2,3],[0,1]]"},
		{"example 3", 0, "[[[0,1],[2,3]],[[4,5],[6,7]]]", "[[0,1],[1,0]]", "[[2,3],[4,5]]"},
		{"example 4", 0, "[[[0,1],[2,3]],[[4,5],[6,7]]]", "[[[0,1]],[[1,0]]]", "[[[2,3]],[[4,5]]]"},
		{"int32", 0, "i32[[0, 1], [2, 3]]", "i64[[0, 0], [1, 1]]", "i32[0, 3]"},
		{"float32", 0, "f32[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]", "i64[[[0, 1]], [[1, 0]]]", "f32[[[2, 3]], [[4, 5]]]"},
		{"int32_batchdim_1", 1, "i32[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]", "i64[[1], [0]]", "i32[[2, 3], [4, 5]]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			op := onnx.MicrosoftGatherND1{BatchDims: tt.batchDims}
			gathertest.Check(t, op, ruletest.Tensor(t, tt.data), ruletest.Tensor(t, tt.indices), ruletest.Tensor(t, tt.want))
		})
	}
}
