package openvino_test

import (
	"testing"

	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/openvino"
)

func TestRulesOfCompressedGather(t *testing.T) {
	const codes, scale = "u4[[1,2],[3,15]]", "f32[[0.5],[2]]"
	op := openvino.CompressedGather{}
	ruletest.Run(t, []ruletest.Case{
		{Rule: "OC.1", Op: openvino.CompressedGather{Output: "f16"}, Data: codes, Indices: "[1]", More: []string{scale}, Want: "f16[[6,30]]"},
		{Rule: "OC.1", Op: op, Data: codes, Indices: "[1]", More: []string{"bf16[[0.5],[2]]"}, Want: "bf16[[6,30]]"},
		{Rule: "OC.1", Op: openvino.CompressedGather{Output: "i32"}, Data: codes, Indices: "[1]", More: []string{scale}, Refuse: "attribute", Message: `output "i32"; it may be f32, f16 or bf16`},

		{Rule: "OC.2", Op: op, Data: "f8e4m3fn[[1],[2]]", Indices: "[1]", More: []string{"f16[[0.5],[2]]"}, Want: "f16[[4]]"},
		{Rule: "OC.2", Op: op, Data: "i16[[1]]", Indices: "[0]", More: []string{scale}, Refuse: "dtype", Message: "data must be one of i2, u2, i4, u4, nf4, f4e2m1, i8, u8, "},
		{Rule: "OC.2", Op: op, Data: codes, Indices: "[0]", More: []string{"i8[[1],[2]]"}, Refuse: "dtype", Message: "scale must be f32, f16 or bf16, not i8"},

		{Rule: "OC.3", Op: op, Data: codes, Indices: "[1,0]", More: []string{scale, "u4(1)"}, Want: "f32[[4,28],[0,0.5]]"},
		{Rule: "OC.3", Op: op, Data: codes, Indices: "[1,0]", More: []string{"f32[2,10]", "u4[[1],[3]]"}, Want: "f32[[0,120],[0,10]]"},
		{Rule: "OC.3", Op: op, Data: codes, Indices: "[0]", More: []string{"f32[[1],[2],[3]]"}, Refuse: "shape-mismatch", Message: "scale f32[3,1] have 3 along axis 0; data u4[2,2] has codes for 2 there"},
		{Rule: "OC.3", Op: op, Data: codes, Indices: "[0]", More: []string{scale, "u4[1,2,3]"}, Refuse: "shape-mismatch", Message: "zero_point u4[3] have 3 along axis 1"},
		{Rule: "OC.3", Op: op, Data: codes, Indices: "[0]", More: []string{"f32[[[1]]]"}, Refuse: "shape-mismatch", Message: "scale f32[1,1,1] do not fit data"},

		{Rule: "OC.4 R.39", Op: openvino.CompressedGather{Reshape: []int{4}}, Data: codes, Indices: "[3,0]", More: []string{scale}, Want: "f32[30,0.5]"},
		{Rule: "OC.4 R.39", Op: openvino.CompressedGather{Reshape: []int{-1, 1, 2}}, Data: codes, Indices: "[1]", More: []string{scale}, Want: "f32[[[6,30]]]"},
		{Rule: "OC.4 R.39", Op: openvino.CompressedGather{Reshape: []int{3}}, Data: codes, Indices: "[0]", More: []string{scale}, Refuse: "shape-mismatch", Message: "reshape [3] has not the 4 elements of data"},
		{Rule: "OC.4 R.39", Op: openvino.CompressedGather{Reshape: []int{-1, -1}}, Data: codes, Indices: "[0]", More: []string{scale}, Refuse: "attribute", Message: "reshape [-1 -1]; its dims are 0 or more, and one may be -1"},

		{Rule: "OC.5", Op: openvino.CompressedGather{Axis: -1}, Data: codes, Indices: "[[1]]", More: []string{scale}, Want: "f32[[[1]],[[30]]]"},
		{Rule: "OC.5", Op: openvino.CompressedGather{Axis: 2}, Data: codes, Indices: "[0]", More: []string{scale}, Refuse: "axis-out-of-range", Message: "axis 2 of data f32[2,2]; it may be -2…1"},

		{Rule: "OC.6", Op: op, Data: codes, Indices: "[-1,2,-3]", More: []string{scale}, Want: "f32[[6,30],[0,0],[0,0]]"},
		{Rule: "OC.6", Op: op, Data: codes, Indices: "f32[0]", More: []string{scale}, Refuse: "dtype", Message: "indices are f32"},
		{Rule: "OC.6", Op: openvino.CompressedGather{Version: 8}, Data: codes, Indices: "[-1]", More: []string{scale}, Want: "f32[[6,30]]"},
		{Rule: "OC.6", Op: openvino.CompressedGather{Version: 7}, Data: codes, Indices: "[1]", More: []string{scale}, Want: "f32[[6,30]]"},
		{Rule: "OC.6", Op: openvino.CompressedGather{Version: 7}, Data: codes, Indices: "[0,-1]", More: []string{scale}, Refuse: "index-out-of-range", Message: "indices[1] = -1"},
		{Rule: "OC.6", Op: openvino.CompressedGather{Version: 1}, Data: codes, Indices: "[0,2]", More: []string{scale}, Refuse: "index-out-of-range", Message: "indices[1] = 2 is outside axis 0 of data, which has 0…1"},

		{Rule: "OC.8", Op: openvino.CompressedGather{Axis: 1, BatchDims: 1}, Data: codes, Indices: "[[1,-2,7],[0,0,1]]", More: []string{scale}, Want: "f32[[1,0.5,0],[6,6,30]]"},
		{Rule: "OC.8", Op: openvino.CompressedGather{Axis: 1, BatchDims: -1, Version: 7, Reshape: []int{2, 2, 1}}, Data: codes, Indices: "[[1],[0]]", More: []string{scale}, Want: "f32[[[1]],[[6]]]"},
		{Rule: "OC.8", Op: openvino.CompressedGather{Axis: 1, BatchDims: 1}, Data: codes, Indices: "[[1]]", More: []string{scale}, Refuse: "batch-dims", Message: "batch"},
		{Rule: "OC.8", Op: openvino.CompressedGather{BatchDims: 1}, Data: codes, Indices: "[[1]]", More: []string{scale}, Refuse: "batch-dims", Message: "batch"},
		{Rule: "OC.8", Op: openvino.CompressedGather{Axis: 1, BatchDims: 1, Version: 1}, Data: codes, Indices: "[[1],[0]]", More: []string{scale}, Refuse: "attribute", Message: "batch_dims 1; version 1 has none"},
		{Rule: "OC.8", Op: openvino.CompressedGather{Version: 2}, Data: codes, Indices: "[1]", More: []string{scale}, Refuse: "attribute", Message: "version 2; there are 1, 7 and 8"},
	})
}
