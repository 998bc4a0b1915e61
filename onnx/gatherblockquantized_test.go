package onnx_test

import (
	"testing"

	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/onnx"
)

func TestRulesOfGatherBlockQuantized(t *testing.T) {
	const codes, scales = "i4[[1,2],[3,-4]]", "f32[[0.5],[2]]"
	n := func(v int) *int { return &v }
	op := onnx.MicrosoftGatherBlockQuantized1{}
	ruletest.Run(t, []ruletest.Case{
		{Rule: "MB.1", Op: op, Data: codes, Indices: "[1]", More: []string{"f16[[0.5],[2]]"}, Want: "f16[[6,-8]]"},
		{Rule: "MB.1", Op: op, Data: "i8[[1]]", Indices: "[0]", More: []string{scales}, Refuse: "dtype", Message: "data is i8; it may be i4, u4, u8, a type of f8 or f4e2m1"},
		{Rule: "MB.1", Op: op, Data: codes, Indices: "[0]", More: []string{"f64[[1],[2]]"}, Refuse: "dtype", Message: "scales must be f32, f16 or bf16, not f64"},

		{Rule: "MB.2", Op: onnx.MicrosoftGatherBlockQuantized1{Bits: n(2)}, Data: "u8[[228]]", Indices: "[0]", More: []string{"f32[[1]]"}, Want: "f32[[-2,-1,0,1]]"},
		{Rule: "MB.2", Op: op, Data: "u8[[33],[67]]", Indices: "[1]", More: []string{scales, "u8[[1],[2]]"}, Want: "f32[[2,4]]"},
		{Rule: "MB.2", Op: onnx.MicrosoftGatherBlockQuantized1{Bits: n(3)}, Data: "u8[[1]]", Indices: "[0]", More: []string{"f32[[1]]"}, Refuse: "attribute", Message: "bits 3; it may be 8, 4 or 2"},
		{Rule: "MB.2", Op: onnx.MicrosoftGatherBlockQuantized1{Bits: n(8)}, Data: codes, Indices: "[0]", More: []string{scales}, Refuse: "attribute", Message: "bits 8 of data i4, whose codes have 4"},

		{Rule: "MB.3", Op: onnx.MicrosoftGatherBlockQuantized1{BlockSize: n(16)}, Data: "zeros i4[1,17]", Indices: "[0]", More: []string{"f32[[1,2]]"}, Want: "zeros f32[1,17]"},
		{Rule: "MB.3", Op: onnx.MicrosoftGatherBlockQuantized1{BlockSize: n(0)}, Data: "f8e5m2[[1,2],[3,4]]", Indices: "[1]", More: []string{scales}, Want: "f32[[6,8]]"},
		{Rule: "MB.3", Op: onnx.MicrosoftGatherBlockQuantized1{BlockSize: n(24)}, Data: codes, Indices: "[0]", More: []string{scales}, Refuse: "attribute", Message: "block_size 24; it may be a power of two from 16 on"},
		{Rule: "MB.3", Op: onnx.MicrosoftGatherBlockQuantized1{BlockSize: n(0)}, Data: codes, Indices: "[0]", More: []string{scales}, Refuse: "attribute", Message: "block_size 0"},

		{Rule: "MB.4", Op: onnx.MicrosoftGatherBlockQuantized1{GatherAxis: -1, QuantizeAxis: n(-2)}, Data: codes, Indices: "[1]", More: []string{"f32[[0.5,2]]"}, Want: "f32[[4],[-8]]"},
		{Rule: "MB.4", Op: onnx.MicrosoftGatherBlockQuantized1{QuantizeAxis: n(0)}, Data: "i4(1)", Indices: "[0]", More: []string{"f32(1)"}, Refuse: "rank", Message: "has rank 0; the operator needs 1 or more"},
		{Rule: "MB.4", Op: onnx.MicrosoftGatherBlockQuantized1{QuantizeAxis: n(2)}, Data: codes, Indices: "[0]", More: []string{scales}, Refuse: "axis-out-of-range", Message: "axis 2 of data"},
		{Rule: "MB.4", Op: onnx.MicrosoftGatherBlockQuantized1{GatherAxis: -3}, Data: codes, Indices: "[0]", More: []string{scales}, Refuse: "axis-out-of-range", Message: "axis -3 of data"},

		{Rule: "MB.5", Op: onnx.MicrosoftGatherBlockQuantized1{Bits: n(8), QuantizeAxis: n(0)}, Data: "u8[[129],[126]]", Indices: "[1]", More: []string{"f32[[2]]"}, Want: "f32[[-4]]"},
		{Rule: "MB.5", Op: onnx.MicrosoftGatherBlockQuantized1{GatherAxis: 1}, Data: "u8[[1]]", Indices: "[0]", More: []string{"f32[[1]]"}, Refuse: "attribute", Message: "gather_axis 1; data of u8 is gathered along axis 0"},
		{Rule: "MB.5", Op: onnx.MicrosoftGatherBlockQuantized1{QuantizeAxis: n(0)}, Data: "u8[[1]]", Indices: "[0]", More: []string{"f32[[1]]"}, Refuse: "attribute", Message: "gather_axis and quantize_axis are both 0"},

		{Rule: "MB.6 R.38", Op: op, Data: "f4e2m1[[1,2],[3,4]]", Indices: "[1,0]", More: []string{"f32[[2]]"}, Want: "f32[[6,8],[2,4]]"},
		{Rule: "MB.6 R.38", Op: op, Data: codes, Indices: "[0]", More: []string{"f32[[1]]"}, Refuse: "shape-mismatch", Message: "scales f32[1,1] have 1 along axis 0; data i4[2,2] has codes for 2 there"},
		{Rule: "MB.6 R.38", Op: op, Data: codes, Indices: "[0]", More: []string{"f32[[1,1],[2,2]]"}, Refuse: "shape-mismatch", Message: "scales f32[2,2] have 2 along axis 1"},
		{Rule: "MB.6 R.38", Op: op, Data: codes, Indices: "[0]", More: []string{"f32[1,2]"}, Refuse: "shape-mismatch", Message: "scales f32[2] do not fit data"},

		{Rule: "MB.7", Op: op, Data: codes, Indices: "[1]", More: []string{scales, "i4[[1],[-1]]"}, Want: "f32[[8,-6]]"},
		{Rule: "MB.7", Op: op, Data: codes, Indices: "[1]", More: []string{scales, "u4[[1],[1]]"}, Refuse: "dtype", Message: "zero_points is u4 and data i4"},
		{Rule: "MB.7", Op: op, Data: codes, Indices: "[1]", More: []string{scales, "i4[[1],[1],[1]]"}, Refuse: "shape-mismatch", Message: "zero_points i4[3,1] have 3 along axis 0"},
		{Rule: "MB.7", Op: op, Data: "f8e5m2[[1]]", Indices: "[0]", More: []string{"f32[[1]]", "f8e5m2[[1]]"}, Refuse: "attribute", Message: "zero_points are given; codes of f8e5m2 have none"},

		{Rule: "MB.8", Op: op, Data: codes, Indices: "[-1,2,-3]", More: []string{scales}, Want: "f32[[6,-8],[0,0],[0,0]]"},
		{Rule: "MB.8", Op: op, Data: codes, Indices: "f32[0]", More: []string{scales}, Refuse: "dtype", Message: "indices are f32"},
	})
}
