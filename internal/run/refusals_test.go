package run_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// quantised gives a node's inputs and its result scales.
func quantised(n *model.Node) *model.Node {
	for _, v := range slices.Concat(n.Inputs, n.Outputs) {
		v.Quantised = &model.Quantised{Scales: []float32{.5}, Zeros: []int64{0}}
		v.Spec.DType = garner.I8
	}
	return n
}

// typed gives a node's result a dtype, as LiteRT's files do.
func typed(d garner.DType, n *model.Node) *model.Node {
	n.Outputs[0].Spec.DType = d
	return n
}

// TestRefusals holds what is refused of each operator, by its words: attributes and inputs that
// contradict each other, and what runtimes answer differently.
func TestRefusals(t *testing.T) {
	x, f, halves := i64([]int{2, 3}, 1, 2, 3, 4, 5, 6), garner.Of([]float32{1, 2, 3, 4, 5, 6}, 2, 3), filled(t, garner.F16, []int{2}, "0.5")
	nan, scalar := float32(math.NaN()), garner.Of([]float32{1})
	bools, none := vec(true, false), i64([]int{0})
	deep := filled(t, garner.I32, slices.Repeat([]int{1}, garner.MaxRank), "1")
	const onnx, ir, tf, lite, hlo = "ONNX", "OpenVINO IR", "TensorFlow", "TFLite", "StableHLO"
	for _, tt := range []struct {
		format string
		node   *model.Node
		want   string
	}{
		{onnx, node("TopK", 11, nil, bools, vec[int64](1)), "TopK of bool is not run"},
		{onnx, node("TopK", 11, attrs{"axis": "0"}, f, vec[int64](1)), "its axis is 0; it must be an integer"},
		{onnx, node("TopK", 11, attrs{"largest": "1"}, f, vec[int64](1)), "its largest is 1; it must be an integer"},
		{onnx, node("TopK", 11, attrs{"sorted": "1"}, f, vec[int64](1)), "its sorted is 1; it must be an integer"},
		{ir, node("TopK", 11, attrs{"mode": "most"}, f, i64(nil, 1)), "its mode is \"most\"; it must be min or max"},
		{ir, node("TopK", 11, attrs{"mode": "max", "sort": "name"}, f, i64(nil, 1)), "its sort is \"name\""},
		{ir, node("TopK", 11, attrs{"mode": "max", "sort": "value", "stable": "1"}, f, i64(nil, 1)), "its stable is 1; it must be an integer"},
		{onnx, node("ArgMax", 13, nil, bools), "ArgMax of bool is not run"},
		{onnx, node("ArgMax", 13, nil, vec(1, nan)), "ArgMax is not run of NaN"},
		{onnx, node("Max", 13, nil, f, x), "Max of f32 and i64; cast one"},
		{onnx, node("Clip", 13, nil, bools, bools), "Clip of bool is not run"},
		{onnx, node("Clip", 13, nil, x, vec[int64](1, 2)), "its min is i64[2]; it must be one element"},
		{ir, node("Clamp", 1, attrs{"min": "1.5", "max": "3"}, x), "its min is 1.5; OpenVINO rounds it to 1 or 2"},
		{ir, node("Clamp", 1, attrs{"min": "16777217", "max": "3e9"}, x), "its min is 1.6777217e+07, which f32 does not have"},
		{ir, node("Clamp", 1, attrs{"min": int64(1)}, x), "its min is 1; of integers it must be an input"},
		{onnx, node("Clip", 6, attrs{"min": "1"}, f), ""},
		{onnx, node("Clip", 6, attrs{"min": []int64{1}}, f), "its min is [1]; it must be a number"},
		{onnx, node("Clip", 13, nil, f, vec[float32](1, 2)), "it must be one element of the dtype of the first"},
		{onnx, node("Clip", 11, nil, f, scalar, vec(nan)), "its bounds are 1 and NaN"},
		{onnx, node("Clip", 11, nil, vec(float32(math.Copysign(0, -1))), garner.Of([]float32{0})), "-0 at the bound 0"},
		{ir, node("Clamp", 1, attrs{"min": "0", "max": "1"}, vec(.1)), "0.1; OpenVINO computes f64 in f32"},
		{onnx, node("Range", 11, nil, f, f, f), "Range of f32 is not run"},
		{onnx, node("Range", 11, nil, x, i64(nil, 1), i64(nil, 1)), "its input 0 is i64[2,3]; it must be one number"},
		{onnx, node("Expand", 13, nil, x), "needs an input 1"},
		{ir, node("Broadcast", 3, attrs{"mode": "explicit"}, f, vec[int64](2, 2, 3), vec[int64](2, 1)), "its axes_mapping [2 1] must name an axis for each dim"},
		{ir, node("Broadcast", 3, attrs{"mode": "explicit"}, vec[float32](1, 2), vec[int64](2, 2), vec[int64](-1)), "its axes_mapping [-1] is negative"},
		{onnx, node("ConstantOfShape", 9, nil), "needs an input 0"},
		{onnx, node("ConstantOfShape", 9, attrs{"value": int64(3)}, vec[int64](2)), "its value is 3; it must be a tensor of one element"},
		{onnx, node("ConstantOfShape", 9, attrs{"value": constant(vec[int64](1, 2)).Constant}, vec[int64](2)), "its value is i64[2]; it must be one element"},
		{onnx, node("Unsqueeze", 11, attrs{"axes": slices.Repeat([]int64{0}, 99)}, x), "its axes has 99 numbers"},
		{onnx, node("Unsqueeze", 11, attrs{"axes": "0"}, x), "its axes is 0; it must be a list of integers"},
		{onnx, node("Unsqueeze", 11, attrs{"axes": []int64{0}}, deep), "there may be"},
		{onnx, node("Reshape", 14, nil, x), "needs an input 1"},
		{onnx, node("Reshape", 14, nil, x, vec[uint64](7)), "has 6 elements"},
		{onnx, node("CastLike", 15, nil, x), "needs an input 1"},
		{onnx, node("Transpose", 13, attrs{"perm": []int64{0}}, x), "a permutation of 1 dimensions for a tensor of rank 2"},
		{onnx, node("Tile", 1, nil, x), "without repeats is not run"},
		{onnx, node("Concat", 13, attrs{"axis": int64(0)}), "needs an input 0"},
		{onnx, node("Concat", 13, attrs{"axis": int64(0)}, x, f), "cannot be one tensor; cast one"},
		{onnx, node("Pad", 13, nil, x, vec[int64](1, 1, -4, 0)), "it takes 4 elements of axis 0 of [2,3]"},
		{onnx, node("Pad", 13, attrs{"mode": "edge"}, i64([]int{0, 3}), vec[int64](1, 0, 0, 0)), "has no edge"},
		{ir, node("Pad", 1, attrs{"pad_mode": "constant"}, f, vec[int64](1), vec[int64](1, 1)), "there must be one for each of 2 dims"},
		{onnx, node("Pad", 13, nil, x, vec[int64](1, 1)), "there must be two for each of 2 axes"},
		{onnx, node("Pad", 13, nil, x, vec[int64](1, 1, 1, 1), vec[float32](1)), "it must be one element of that dtype"},
		{onnx, node("ReduceMax", 13, nil, bools), "ReduceMax of bool is not run"},
		{onnx, node("ReduceMax", 13, nil, vec(float32(0), float32(math.Copysign(0, -1)))), "it is of 0 and -0"},
		{onnx, node("ReduceSum", 13, nil, bools), "ReduceSum of bool is not run"},
		{onnx, node("ReduceSum", 13, attrs{"keepdims": "1"}, x), "its keepdims is 1"},
		{onnx, node("ScatterElements", 18, attrs{"reduction": "max"}, f, x, f), "its reduction is \"max\"; it is run without one"},
		{onnx, node("ScatterElements", 18, nil, f, x, x), "its data is f32 and its updates are i64; cast one"},
		{onnx, node("ScatterElements", 18, nil, x, f, x), "its indices are f32; they must be i32 or i64"},
		{onnx, node("ScatterElements", 18, nil, x, x, vec[int64](1)), "its indices are [2,3] and its updates [1]; they must have one shape"},
		{onnx, node("Trilu", 14, nil, vec[int64](1)), "it must have two dims"},
		{onnx, node("Trilu", 14, nil, filled(t, garner.String, []int{2, 2}, "a")), "Trilu of string is not run"},
		{onnx, node("EyeLike", 9, nil, vec[int64](1)), "it must have two dims"},
		{onnx, node("Compress", 11, attrs{"axis": int64(0)}, vec[int64](1), vec(true, true)), "its condition has 2 elements, and axis 0"},
		{onnx, node("OneHot", 11, nil, vec[int64](1), i64(nil, 3), vec[float32](1)), "its values are [1]; they must be two"},
		{onnx, node("OneHot", 11, nil, vec[float32](1), i64(nil, 3), vec[float32](0, 1)), "of indices of f32 is not run"},
		{onnx, node("IsNaN", 13, nil, x), "IsNaN of i64 is not run"},
		{onnx, node("Sign", 13, nil, bools), "Sign of bool is not run"},
		{onnx, node("Abs", 13, nil, bools), "Abs of bool is not run"},
		{onnx, node("Sqrt", 13, nil, x), "Sqrt of i64 is not run"},
		{ir, node("Split", 1, attrs{"num_splits": int64(2)}, f, i64(nil, 0)), "its num_splits is 2, and it has 1 outputs"},
		{ir, node("Split", 1, nil, f, vec[int64](0, 1)), "its axis is i64[2]; it must be up to 1 integers"},
		{ir, node("StridedSlice", 1, nil, x, vec[int64](0), vec[int64](1, 2), vec[int64](1)), "there must be as many"},
		{ir, node("Subtract", 1, nil, vec(.1), vec(.2)), "OpenVINO computes f64 in f32"},
		{ir, node("Equal", 1, nil, vec(.1), vec(.2)), "OpenVINO computes f64 in f32"},
		{ir, node("Convert", 1, attrs{"destination_type": "u32"}, vec[int32](-1)), "OpenVINO saturates it in a constant"},

		{tf, node("Neg", 0, nil, f), "Neg of f32 is not run"},
		{tf, node("AddV2", 0, nil, vec[float32](1e-40), scalar), "a denormal number, which the runtime takes for 0"},
		{tf, node("AddV2", 0, nil, vec(1e-310), vec(1.)), "a denormal number, which the runtime takes for 0"},
		{tf, node("Sub", 0, nil, vec(float32(math.Inf(1))), vec(float32(math.Inf(1)))), "NaN, whose bits depend on the processor"},
		{tf, node("Sub", 0, nil, vec(math.Inf(1)), vec(math.Inf(1))), "NaN, whose bits depend on the processor"},
		{tf, node("RealDiv", 0, nil, vec[int32](1), vec[int32](1)), "RealDiv of i32 and i32 is not run; it is of two f32 or f64"},
		{tf, node("RealDiv", 0, nil, halves, halves), "RealDiv of f16 and f16 is not run"},
		{tf, node("RealDiv", 0, nil, vec[float32](1), vec[float32](10)), ""},
		{tf, node("RealDiv", 0, nil, vec[float32](.17068355), vec[float32](3)), "by 3, a constant: TensorFlow gives the quotient or the product with 1/3"},
		{tf, node("Where", 0, nil, scalar), "it looks for elements of a scalar"},
		{tf, node("Where", 0, nil, halves), "Where of f16[2] is not run, because TensorFlow does not run it"},
		{tf, node("Where", 0, nil, vec[float32](1e-40)), "a denormal number, which the runtime takes for 0"},
		{tf, node("Cast", 0, attrs{"DstT": "f17"}, f), "f17"},
		{tf, node("Cast", 0, attrs{"DstT": "i32", "Truncate": true}, f), "a cast with Truncate is not run"},
		{tf, node("Cast", 0, attrs{"DstT": "f16"}, vec[float32](1e-5)), "a cast that makes a denormal f16 is not run"},
		{tf, node("Cast", 0, attrs{"DstT": "bf16"}, vec[float64](1e-40)), "a cast that makes a denormal bf16 is not run"},
		{tf, node("Cast", 0, attrs{"DstT": "string"}, f), "a cast of f32 to string is not run"},
		{tf, node("ExpandDims", 0, nil, x, vec[int64](0, 1)), "its axis has 2 numbers; it must be one"},
		{tf, node("ExpandDims", 0, nil, x, vec[int64](4)), "its axis is 4, and there are 3 dims"},
		{tf, node("Squeeze", 0, attrs{"squeeze_dims": []int64{0}}, x), "axis 0 of [2,3] cannot be dropped"},
		{tf, node("Transpose", 0, nil, x, vec[int32](0)), "is no order of the dims of [2,3]"},
		{tf, node("Transpose", 0, nil, x, vec[int32](0, 0)), "name axis 0 twice"},
		{tf, node("ConcatV2", 0, nil, x), "needs an input 1"},
		{tf, node("ConcatV2", 0, nil, x, x, i64(nil, 2)), "its axis is 2, and there are 2 dims"},
		{tf, node("Slice", 0, nil, x, vec[int64](0), vec[int64](1)), "it has 1 begins and 1 sizes"},
		{tf, node("Slice", 0, nil, x, vec[int64](0, 3), vec[int64](1, 1)), "it takes 1 elements from 3 on of axis 1"},
		{tf, node("StridedSlice", 0, nil, x, vec[int64](0), vec[int64](0, 1), vec[int64](1)), "there must be as many"},
		{tf, node("StridedSlice", 0, nil, x, vec[int64](0, 0, 0), vec[int64](1, 1, 1), vec[int64](1, 1, 1)), "it slices 3 axes with 0 ellipses"},
		{tf, node("StridedSlice", 0, attrs{"shrink_axis_mask": int64(1)}, x, vec[int64](2), vec[int64](3), vec[int64](1)), "it takes element 2 of axis 0"},
		{tf, node("StridedSlice", 0, attrs{"begin_mask": "1"}, x, vec[int64](2), vec[int64](3), vec[int64](1)), "its begin_mask is 1; it must be an integer"},
		{tf, node("StridedSlice", 0, nil, x, vec[int64](-9), vec[int64](0), vec[int64](-1)), ""},
		{tf, node("Shape", 0, attrs{"out_type": "i0"}, x), "i0"},
		{tf, node("Range", 0, nil, i64(nil, 3), i64(nil, 1), i64(nil, 1)), "it counts from 3 to 1 in steps of 1, which never ends"},
		{tf, node("Range", 0, nil, i64(nil, 3), i64(nil, 3), i64(nil, 1)), ""},
		{tf, node("Tile", 0, nil, x, vec[int64](2)), "it has 1 multiples for [2,3]"},
		{tf, node("Fill", 0, nil, vec[int64](-1), scalar), "is no shape"},
		{tf, node("Fill", 0, nil, vec[int64](2), f), "its value is f32[2,3]; it must be one element"},
		{tf, node("BroadcastTo", 0, nil, x, vec[int64](-1)), "is no shape"},
		{tf, node("BroadcastTo", 0, nil, x, vec[int64](2, 2)), "[2,3] does not broadcast to [2,2]"},
		{tf, node("Prod", 0, nil, vec[int64](1, 2), vec[int64](0, 0)), "Prod along 2 axes is not run"},
		{tf, node("Select", 0, nil, bools, x, vec[int64](1)), "it chooses between [2,3] and [1], which differ"},
		{tf, node("Select", 0, nil, vec(true), x, x), "its condition is [1], and it chooses between [2,3]"},
		{tf, node("Pack", 0, nil, x, vec[int64](1)), "[2,3] and [1] cannot be packed: they differ"},
		{tf, node("Pack", 0, nil, deep), "cannot be packed: there may be no more"},
		{tf, node("Unpack", 0, attrs{"num": int64(3)}, x), "axis 0 of [2,3] does not have 3 parts"},
		{tf, node("MirrorPad", 0, attrs{"mode": "MIRROR"}, x, i64([]int{2, 2}, 1, 1, 1, 1)), "its mode is"},

		{lite, node("ADD", 1, attrs{"fused_activation_function": "RELU"}, x, x), "with the activation RELU behind it is not run"},
		{lite, node("ADD", 1, nil, bools, bools), "ADD of bool and bool is not run; it is of two i32, i64 or f32"},
		{lite, node("DIV", 1, nil, x, x), "DIV of i64 and i64 is not run"},
		{lite, node("ADD", 1, nil, vec(float32(math.Inf(1))), scalar), "takes or gives +Inf, of which LiteRT makes different numbers"},
		{lite, quantised(node("ADD", 1, nil, vec[int8](1), vec[int8](1))), "ADD of a quantised value"},
		{lite, quantised(node("PAD", 1, nil, vec[int8](1), i64([]int{1, 2}, 1, 1))), "PAD of a quantised value"},
		{lite, node("NEG", 1, nil, vec[float32](0)), "NEG takes or gives -0, of which LiteRT makes different numbers"},
		{lite, node("SQUEEZE", 1, attrs{"squeeze_dims": []int64{0}}, x), "axis 0 of [2,3] cannot be dropped"},
		{lite, node("SQUEEZE", 1, nil, i64([]int{1, 2}, 3, 4)), ""},
		{lite, node("RESHAPE", 1, attrs{"new_shape": []int64{0}}, i64([]int{1}, 3)), "RESHAPE to the option new_shape [0] is not run"},
		{lite, node("RESHAPE", 1, attrs{"new_shape": []int64{3, 2}}, x), ""},
		{lite, node("RESHAPE", 1, nil, x, vec[int64](4)), "has 6 elements"},
		{lite, node("TRANSPOSE", 1, nil, x, vec[int64](0)), "its order [0] has not the dims of [2,3]"},
		{lite, node("TRANSPOSE", 1, nil, x, vec[int64](0, 2)), "its axis is 2, and there are 2 dims"},
		{lite, node("SLICE", 1, nil, x, vec[int64](0), vec[int64](1)), "must have a number for each dim of [2,3]"},
		{lite, node("SLICE", 1, nil, x, vec[int64](-1, 0), vec[int64](1, 1)), "it takes 1 elements from -1 on of axis 0"},
		{lite, node("STRIDED_SLICE", 1, attrs{"offset": true}, x, vec[int64](0), vec[int64](1), vec[int64](1)), "STRIDED_SLICE with offset is not run"},
		{lite, node("STRIDED_SLICE", 1, nil, x, vec[int64](-9), vec[int64](0), vec[int64](-1)), "its begin -9 lies before the axis, and its step is -1"},
		{lite, node("STRIDED_SLICE", 1, attrs{"end_mask": "1"}, x, vec[int64](0), vec[int64](1), vec[int64](1)), "its end_mask is 1; it must be an integer"},
		{lite, node("FILL", 1, nil, vec[int64](2), f), "its value is f32[2,3]; it must be a scalar"},
		{lite, node("FILL", 1, nil, nil, garner.Of([]float32{1})), "needs an input 0"},
		{lite, node("RANGE", 1, nil, i64(nil, 3), i64(nil, 1), i64(nil, 1)), "its step leads away from its end"},
		{lite, node("SELECT", 1, nil, bools, x, vec[int64](1)), "SELECT of [2,3] and [1]; they must have one shape"},
		{lite, node("SELECT", 1, nil, vec(true), x, x), "SELECT by [1] of [2,3]"},
		{lite, node("SELECT", 1, nil, bools, x, x), "SELECT of rows is not run; SELECT_V2 is"},
		{lite, node("WHERE", 1, nil, none), "it looks for elements of i64[0], which has none"},
		{lite, node("WHERE", 1, nil, halves), "WHERE of f16 is not run, because LiteRT does not run it"},
		{lite, node("WHERE", 1, nil, garner.Of([]float32{1})), "it looks for elements of a scalar"},
		{lite, node("BROADCAST_ARGS", 1, nil, vec[int64](2), vec[int64](3)), "do not broadcast"},
		{lite, typed(garner.F16, node("DEQUANTIZE", 1, nil, vec[int8](1))), "DEQUANTIZE to f16 is not run; to f32 it is"},
		{lite, typed(garner.F32, node("DEQUANTIZE", 1, nil, vec[int64](1))), "DEQUANTIZE of i64 is not run"},
		{lite, typed(garner.F32, node("DEQUANTIZE", 1, nil, vec[int8](1))), "DEQUANTIZE of a value without scales is not run"},

		{hlo, node("reshape", 0, nil, x), "its result is"},
		{hlo, node("convert", 0, nil, vec("a")), "is not run"},
		{hlo, node("select", 0, nil, bools, x, x), "they have one shape, or the first is a scalar"},
		{hlo, node("clamp", 0, nil, vec[int64](1, 2), x, x), "a bound is a scalar or has that shape"},
		{hlo, node("compare", 0, attrs{"comparison_direction": "ABOUT"}, x, x), "its comparison_direction is \"ABOUT\""},
		{hlo, node("get_dimension_size", 0, attrs{"dimension": int64(2)}, x), "its dimension is 2, and its input is [2,3]"},
	} {
		t.Run(tt.format+" "+tt.node.Op, func(t *testing.T) {
			got, err := last(of(tt.format, tt.node), 1<<20)
			if tt.want == "" {
				if err != nil {
					t.Errorf("%v: %v", tt.node.Attributes, err)
				}
				return
			}
			var at *model.Error
			if !errors.As(err, &at) || !strings.HasPrefix(at.At, `node "n"`) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v: %v, %v; want %s", tt.node.Attributes, got, err, tt.want)
			}
		})
	}
}
