package run_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// TestEvaluate holds operators against their definitions where the models of
// testdata do not: in old opsets, and where runtimes disagree.
func TestEvaluate(t *testing.T) {
	x := i64([]int{2, 3}, 1, 2, 3, 4, 5, 6)
	const onnx, ir = "ONNX", "OpenVINO IR"
	for _, tt := range []struct {
		format string
		node   *model.Node
		want   string
	}{
		// ONNX before opset 7 broadcasts with broadcast=1, from an axis on.
		{onnx, node("Add", 6, attrs{"broadcast": int64(1), "axis": int64(0)}, x, vec[int64](10, 20)), "i64[2,3] [[11, 12, 13], [24, 25, 26]]"},
		{onnx, node("Add", 6, attrs{"broadcast": int64(1)}, x, vec[int64](10, 20, 30)), "i64[2,3] [[11, 22, 33], [14, 25, 36]]"},
		{onnx, node("Add", 6, nil, x, x), "i64[2,3] [[2, 4, 6], [8, 10, 12]]"},
		{onnx, node("Add", 7, nil, x, vec[int64](10, 20, 30)), "i64[2,3] [[11, 22, 33], [14, 25, 36]]"},
		// Inputs of today were attributes.
		{onnx, node("Slice", 9, attrs{"starts": []int64{-2}, "ends": []int64{math.MaxInt64}, "axes": []int64{1}}, x), "i64[2,2] [[2, 3], [5, 6]]"},
		{onnx, node("Reshape", 1, attrs{"shape": []int64{3, -1}}, x), "i64[3,2] [[1, 2], [3, 4], [5, 6]]"},
		{onnx, node("Unsqueeze", 11, attrs{"axes": []int64{0}}, vec[int64](1)), "i64[1,1] [[1]]"},
		{onnx, node("Squeeze", 11, attrs{"axes": []int64{0}}, i64([]int{1, 2, 1}, 1, 2)), "i64[2,1] [[1], [2]]"},
		{onnx, node("Concat", 1, nil, x, x), "i64[2,6] [[1, 2, 3, 1, 2, 3], [4, 5, 6, 4, 5, 6]]"},
		{onnx, node("Cast", 1, attrs{"to": "INT32"}, vec[float32](1.9, -1.9)), "i32[2] [1, -1]"},
		{onnx, node("ReduceProd", 18, attrs{"noop_with_empty_axes": int64(1)}, x), "i64[2,3] [[1, 2, 3], [4, 5, 6]]"},
		// Integers wrap: the least one times or by -1 is itself.
		{onnx, node("Mul", 14, nil, vec[int8](100, -128), vec[int8](2, -1)), "i8[2] [-56, -128]"},
		{onnx, node("Div", 14, nil, vec[int64](-7, math.MinInt64), vec[int64](2, -1)), "i64[2] [-3, -9223372036854775808]"},
		{onnx, node("Mod", 13, nil, vec[uint8](250), vec[uint8](7)), "u8[1] [5]"},
		{onnx, node("Cast", 13, attrs{"to": int64(3)}, vec[int64](300, -129)), "i8[2] [44, 127]"},
		{onnx, node("Cast", 13, attrs{"to": int64(13)}, vec[float64](1e19)), "u64[1] [10000000000000000000]"},
		{onnx, node("Cast", 13, attrs{"to": int64(11)}, vec[uint64](math.MaxUint64)), "f64[1] [1.8446744073709552e+19]"},
		{onnx, node("Cast", 13, attrs{"to": int64(9)}, vec[float64](math.NaN(), 0, -0.5)), "bool[3] [true, false, true]"},
		{onnx, node("Cast", 13, attrs{"to": int64(16)}, vec[float32](1.00390625, 1.01171875)), "bf16[2] [1.0, 1.016]"},
		{onnx, node("Cast", 13, attrs{"to": int64(10)}, vec[float64](1+0x1p-11+0x1p-40, 65520, -1e-8)), "f16[3] [1.0, Infinity, -0.0]"}, // through f32
		{onnx, node("Cast", 13, attrs{"to": int64(16)}, vec[int64](257, -259)), "bf16[2] [256.0, -260.0]"},
		// OpenVINO rounds down where it computes a node of constants; see TestRecordedElements.
		{ir, node("Divide", 1, attrs{"m_pythondiv": true}, vec[int64](-7, 7, 7), vec[int64](2, -2, 2)), "i64[3] [-4, -4, 3]"},
		{ir, node("Divide", 1, attrs{"m_pythondiv": false}, vec[int64](-7, 7, 7), vec[int64](2, -2, 2)), "i64[3] [-3, -3, 3]"},
		{ir, node("Divide", 1, nil, vec[float32](-7), vec[float32](2)), "f32[1] [-3.5]"},
		{ir, node("Floor", 1, nil, x), "i64[2,3] [[1, 2, 3], [4, 5, 6]]"},
		{ir, node("Clamp", 1, attrs{"min": "-1e30", "max": "1e30"}, x), "i64[2,3] [[1, 2, 3], [4, 5, 6]]"},
		{ir, node("Transpose", 1, nil, x, garner.Of([]int64{}, 0)), "i64[3,2] [[1, 4], [2, 5], [3, 6]]"},
		{ir, node("Squeeze", 15, attrs{"allow_axis_skip": true}, i64([]int{1, 2}, 1, 2), vec[int64](0, 1)), "i64[2] [1, 2]"},
		{ir, node("ShapeOf", 1, nil, x), "i64[2] [2, 3]"},
		{ir, node("Add", 1, attrs{"auto_broadcast": "none"}, x, x), "i64[2,3] [[2, 4, 6], [8, 10, 12]]"},
		{ir, node("StridedSlice", 1, attrs{"begin_mask": []int64{1}, "end_mask": []int64{1}}, x, vec[int64](0), vec[int64](0), vec[int64](-1)), "i64[2,3] [[4, 5, 6], [1, 2, 3]]"},
		{onnx, node("Where", 16, nil, vec(true, false), vec("a", "b"), vec("c", "d")), `string[2] ["a", "d"]`},
		{onnx, node("Expand", 13, nil, vec("a", "b"), vec[int64](2, 2)), `string[2,2] [["a", "b"], ["a", "b"]]`},
		{onnx, node("Slice", 13, nil, garner.Of([]int64{}, 0), vec[int64](3), vec[int64](-9), vec[int64](0), vec[int64](-1)), "i64[0] []"},
		// ONNX Runtime 1.31 and OpenVINO 2026.4 answer so where Python's slice is empty.
		{onnx, node("Slice", 13, nil, x, vec[int64](-9), vec[int64](-9), vec[int64](0), vec[int64](-1)), "i64[1,3] [[1, 2, 3]]"},
		{onnx, node("Slice", 13, nil, x, vec[int64](-3), vec[int64](-4), vec[int64](0), vec[int64](-1)), "i64[1,3] [[1, 2, 3]]"},
		{onnx, node("Slice", 13, nil, x, vec[int64](-3), vec[int64](-1), vec[int64](0), vec[int64](-1)), "i64[0,3] []"},
		{ir, node("StridedSlice", 1, attrs{"begin_mask": []int64{1}, "shrink_axis_mask": []int64{1}}, x, vec[int64](-1), vec[int64](2), vec[int64](1)), "i64[3] [1, 2, 3]"},
		{ir, node("StridedSlice", 1, nil, x, vec[int64](-9), vec[int64](-9), vec[int64](-1)), "i64[1,3] [[1, 2, 3]]"},
		{onnx, node("Range", 11, nil, garner.Of([]int64{math.MinInt64}), garner.Of([]int64{math.MaxInt64}), garner.Of([]int64{math.MaxInt64})), "i64[3] [-9223372036854775808, -1, 9223372036854775806]"},
	} {
		t.Run(tt.format+" "+tt.node.Op, func(t *testing.T) {
			got, err := last(of(tt.format, tt.node), 1<<30)
			if err != nil || got.String() != tt.want {
				t.Errorf("%v %v %v: %v, %v; want %s", tt.node.Op, tt.node.Attributes, tt.node.Version, got, err, tt.want)
			}
		})
	}
}

// TestQuotientOfShapes holds that a quotient of lengths, which OpenVINO folds where it knows the dims,
// is run where both roundings give the same.
func TestQuotientOfShapes(t *testing.T) {
	for _, tt := range []struct {
		less int64
		want string
	}{
		{1, "i64[2] [0, 1]"},
		{10, "of -7 and 2; OpenVINO rounds the quotient down or towards 0"},
	} {
		shape := node("ShapeOf", 3, nil, i64([]int{2, 3}, 1, 2, 3, 4, 5, 6))
		less := node("Subtract", 1, nil, shape.Outputs[0], vec(tt.less))
		got, err := last(of("OpenVINO IR", shape, less, node("Divide", 1, nil, less.Outputs[0], vec[int64](2))), 1<<20)
		if err == nil && got.String() != tt.want || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, %v; want %s", got, err, tt.want)
		}
	}
}

// TestEvaluateRefuses holds that a refusal names the node and what is wrong.
func TestEvaluateRefuses(t *testing.T) {
	x := i64([]int{2, 3}, 1, 2, 3, 4, 5, 6)
	const onnx, ir = "ONNX", "OpenVINO IR"
	for _, tt := range []struct {
		format string
		node   *model.Node
		want   string
	}{
		{onnx, node("Add", 6, nil, x, vec[int64](1, 2, 3)), "do not broadcast with broadcast=0"},
		{onnx, node("Add", 14, nil, x, vec[int64](1, 2)), "do not broadcast"},
		{onnx, node("Add", 14, nil, x, vec[int32](1)), "Add of i64 and i32; cast one"},
		{onnx, node("Add", 14, nil, x), "needs an input 1"},
		{onnx, node("Add", 14, nil, x, nil), "needs an input 1"},
		{onnx, node("Max", 13, nil, vec[float32](1, 0), vec[float32](1, float32(math.Copysign(0, -1)))), "Max: 0 and -0, of which processors give either"},
		{onnx, node("Div", 14, nil, x, vec[int64](1, 0, 1)), "Div by 0, at element 1 of [3]"},
		{onnx, node("Mod", 13, nil, x, i64(nil, 0)), "Mod by 0"},
		{onnx, node("Cast", 13, attrs{"to": int64(6)}, vec[float32](1, 3e9)), "element 1 is 3e+09, which i32 does not hold"},
		{onnx, node("Cast", 13, attrs{"to": int64(7)}, vec(math.NaN())), "element 0 is NaN"},
		{onnx, node("Cast", 13, attrs{"to": int64(8)}, x), "a cast of i64 to string is not run"},
		{onnx, node("Cast", 13, attrs{"to": int64(17)}, x), "a cast of i64 to f8e4m3fn is not run"},
		{onnx, node("Cast", 13, attrs{"to": int64(22)}, x), "a cast of i64 to i4 is not run"},
		{onnx, node("Cast", 13, attrs{"to": int64(27)}, x), "element type 27 is not run"},
		{onnx, node("Cast", 13, nil, x), "does not say what to cast to"},
		{onnx, node("Reshape", 14, nil, x, vec[int64](4, -1)), "leaves no dim for -1"},
		{onnx, node("Reshape", 14, nil, x, vec[int64](-1, -1)), "more than one -1"},
		{onnx, node("Reshape", 14, nil, x, vec[int64](2, 2)), "has 6 elements"},
		{onnx, node("Reshape", 14, nil, x, vec[int64](1, 1, 0)), "asks for dim 2"},
		{onnx, node("Reshape", 14, nil, x, vec[float32](6)), "its shape is f32[1]"},
		{onnx, node("Squeeze", 13, nil, x, vec[int64](0)), "axis 0 of [2,3] cannot be dropped"},
		{onnx, node("Unsqueeze", 13, nil, x, vec[int64](0, -4)), "name axis 0 twice"},
		{onnx, node("Transpose", 13, attrs{"perm": []int64{0, 0}}, x), "no permutation"},
		{onnx, node("Concat", 13, attrs{"axis": int64(2)}, x, x), "its axis is 2, and there are 2 dims"},
		{onnx, node("Concat", 13, attrs{"axis": int64(0)}, x, i64([]int{1, 2}, 1, 2)), "cannot be joined"},
		{onnx, node("Concat", 13, attrs{"axis": "0"}, x, x), "its axis is 0; it must be an integer"},
		{onnx, node("Slice", 13, nil, x, vec[int64](0), vec[int64](1), vec[int64](0), vec[int64](0)), "its step along axis 0 is 0"},
		{onnx, node("Slice", 13, nil, x, vec[int64](0), vec[int64](1, 2)), "1 starts, 2 ends"},
		{onnx, node("Slice", 13, nil, x, vec[int64](0, 0), vec[int64](1, 2), vec[int64](0, -2)), "name axis 0 twice"},
		{onnx, node("Where", 16, nil, x, x, x), "its condition is i64"},
		{onnx, node("Range", 11, nil, i64(nil, 0), i64(nil, 1), i64(nil, 0)), "its step is 0"},
		{ir, node("Range", 4, nil, i64(nil, 5), i64(nil, 2), i64(nil, 1)), "its limit 2 lies on the other side of its start 5"},
		{ir, node("Range", 4, nil, i64(nil, 2), i64(nil, 5), i64(nil, -1)), "its limit 5 lies on the other side of its start 2"},
		{onnx, node("Range", 11, nil, i64(nil, 0), i64(nil, math.MaxInt), i64(nil, 1)), "and there are 1 MiB for all"},
		{onnx, node("Expand", 13, nil, x, vec[int64](1<<14, 1<<14, 2, 3)), "and there are 1 MiB for all"},
		{onnx, node("Expand", 13, nil, x, vec[int64](-1)), "is no shape"},
		{ir, node("Broadcast", 1, attrs{"mode": "pdpd"}, x, vec[int64](2, 3)), "its mode is \"pdpd\""},
		{ir, node("Add", 1, attrs{"auto_broadcast": "pdpd"}, x, x), "its auto_broadcast is \"pdpd\""},
		{ir, node("Add", 1, attrs{"auto_broadcast": "none"}, x, vec[int64](1)), "its inputs differ in shape"},
		{ir, node("StridedSlice", 1, attrs{"shrink_axis_mask": []int64{1}}, x, vec[int64](2), vec[int64](3)), "takes element 2 of axis 0"},
		{ir, node("StridedSlice", 1, nil, x, vec[int64](0, 0, 0), vec[int64](1, 1, 1)), "slices 3 axes"},
		{ir, node("Clamp", 1, attrs{"min": "low", "max": "1"}, x), "its min is \"low\""},
		{ir, node("ReduceProd", 1, nil, x, vec[int64](0)), "ReduceProd of i64[2,3] is not run"},
		{ir, node("Mod", 1, nil, vec[float32](5), vec[float32](3)), "Mod of f32 is not run"},
		{ir, node("FloorMod", 1, nil, vec[float32](5), vec[float32](3)), "FloorMod of f32 is not run"},
		{ir, node("Select", 1, nil, vec(true), vec[int64](1<<40), vec[int64](0)), "OpenVINO holds i64, u32 and u64 in i32"},
		{ir, node("Less", 1, nil, vec[int32](1<<24), vec[int32](1<<24+1)), "which OpenVINO compares in f32"},
		{ir, node("Greater", 1, nil, vec[int64](1<<40), vec[int64](0)), "beyond those in which OpenVINO computes i64"},
		{ir, node("Convert", 1, attrs{"destination_type": "i32"}, vec[int64](1, 1<<40)), "Convert of element 1, 1.099511627776e+12, to i32: OpenVINO holds i64, u32 and u64 in i32"},
		{onnx, node("onnx.Gather-13", 13, nil, x, vec[int64](2)), "indices[0] = 2 is outside axis 0"},
		{onnx, node("onnx.Gather-13", 13, attrs{"axis": int64(2)}, x, vec[int64](0)), "axis 2 of data"},
		{onnx, node("onnx.Gather-13", 13, nil, x), "takes data and indices"},
		{ir, node("openvino.Gather-8", 8, nil, x, vec[int64](0)), "needs its input axis"},
	} {
		t.Run(tt.format+" "+tt.node.Op, func(t *testing.T) {
			got, err := last(of(tt.format, tt.node), 1<<20)
			var at *model.Error
			if !errors.As(err, &at) || at.Path != "m" || at.At != `node "n" (node 0)` || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v: %v, %v; want %s", tt.node.Op, got, err, tt.want)
			}
		})
	}
}
