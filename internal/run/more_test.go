package run_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// TestEvaluateMore holds refusals by name, and results at edges, of operators whose answers
// testdata/operators.jsonl.gz has.
func TestEvaluateMore(t *testing.T) {
	const onnx, ir = "ONNX", "OpenVINO IR"
	nan, zero := float32(math.NaN()), float32(math.Copysign(0, -1))
	half := func(v ...float32) garner.Tensor {
		list := make([]garner.Float16, len(v))
		made := garner.Of(list, len(v))
		for i, x := range v {
			if err := made.SetText(i, garner.Of([]float32{x}).Text()); err != nil {
				t.Fatal(err)
			}
		}
		return made
	}
	x := i64([]int{2, 3}, 1, 5, 3, 4, 2, 6)
	for _, tt := range []struct {
		format string
		node   *model.Node
		want   string
	}{
		{onnx, node("Max", 13, nil, vec[float32](1, nan), vec[float32](2, 3)), "f32[2] [2.0, NaN]"},
		{ir, node("Maximum", 1, nil, vec[float32](1, nan), vec[float32](2, 3)), "of which processors give either"},
		{onnx, node("Min", 13, nil, vec[float32](0), vec(zero)), "0 and -0, of which processors give either"},
		{onnx, node("Clip", 13, nil, vec[float32](1, nan, -9), garner.Of([]float32{-2}), garner.Of([]float32{3})), "f32[3] [1.0, NaN, -2.0]"},
		{onnx, node("Clip", 13, nil, vec(float32(math.Inf(1)))), "f32[1] [3.4028235e+38]"},
		{onnx, node("Clip", 13, nil, vec[float32](7), garner.Of([]float32{5}), garner.Of([]float32{2})), "f32[1] [2.0]"},
		{onnx, node("Clip", 6, attrs{"min": 5.0, "max": 2.0}, vec[float32](7)), "its bounds are 5 and 2"},
		{onnx, node("Mod", 13, attrs{"fmod": int64(1)}, vec[float32](-7.5, 7.5), vec[float32](2, -2)), "f32[2] [-1.5, 1.5]"},
		{onnx, node("Mod", 13, attrs{"fmod": int64(1)}, vec[float32](1), vec[float32](0)), "is NaN, whose sign differs"},
		{onnx, node("Mod", 13, nil, vec[float32](1), vec[float32](2)), "Mod of f32 is not run"},
		{ir, node("Mod", 1, nil, vec[float32](1), vec[float32](2)), "Mod of f32 is not run"},
		{ir, node("FloorMod", 1, nil, vec[int32](1<<24), vec[int32](3)), "OpenVINO divides i32 in f32"},
		{ir, node("Add", 1, nil, vec[int8](127), vec[int8](1)), "beyond those in which OpenVINO computes i8"},
		{ir, node("Multiply", 1, nil, vec[int64](1<<20), vec[int64](1<<20)), "beyond those in which OpenVINO computes i64"},
		{ir, node("Divide", 1, nil, vec[float32](5), vec[float32](49)), "OpenVINO gives the quotient or the product"},
		{onnx, node("ReduceSum", 13, nil, vec[float32](1, 2, 3), vec[int64](0)), "f32[1] [6.0]"},
		{onnx, node("ReduceSum", 13, nil, vec[float32](1e8, 1, 2), vec[int64](0)), "its result depends on the order"},
		{onnx, node("ReduceSum", 13, nil, vec(zero, zero), vec[int64](0)), "its result depends on the order"},
		{onnx, node("ReduceSum", 13, nil, vec[int32](math.MaxInt32, 1), vec[int64](0)), "its sum is beyond the dtype"},
		{onnx, node("ReduceSum", 13, attrs{"keepdims": int64(0)}, x, vec[int64](-1)), "i64[2] [9, 12]"},
		{onnx, node("ReduceSum", 13, attrs{"noop_with_empty_axes": int64(1)}, x), "i64[2,3] [[1, 5, 3], [4, 2, 6]]"},
		{onnx, node("ReduceMax", 18, nil, vec(nan, 1)), "it has NaN"},
		{onnx, node("CumSum", 14, attrs{"exclusive": int64(1), "reverse": int64(1)}, x, i64(nil, 1)), "i64[2,3] [[8, 3, 0], [8, 6, 0]]"},
		{onnx, node("CumSum", 14, nil, i64(nil, 1), i64(nil, 0)), "its axis is 0, and there are 0 dims"},
		{onnx, node("Abs", 13, nil, vec[int8](-128, -1)), "i8[2] [-128, 1]"},
		{onnx, node("Sqrt", 13, nil, vec(2, 17, zero)), "f32[3] [1.4142135, 4.1231055, -0.0]"},
		{onnx, node("Sqrt", 13, nil, vec[float32](-1)), "Sqrt: of NaN, or of a number below 0"},
		{onnx, node("ScatterElements", 18, attrs{"axis": int64(1)}, x, i64([]int{1, 2}, -1, 2), i64([]int{1, 2}, 7, 8)), "i64[2,3] [[1, 5, 8], [4, 2, 6]]"},
		{onnx, node("ScatterElements", 18, nil, x, i64([]int{1, 1}, 2), i64([]int{1, 1}, 7)), "indices[0,0] = 2 is outside axis 0 of data, which has -2…1"},
		{onnx, node("ScatterElements", 18, attrs{"axis": int64(1)}, x, i64([]int{1, 3}, 0, -4, 3), i64([]int{1, 3}, 7, 8, 9)), "indices[0,1] = -4 is outside axis 1 of data, which has -3…2 (1 more of 3 indices is outside)"},
		{onnx, node("ScatterElements", 18, attrs{"reduction": "mul"}, x, x, x), "its reduction is \"mul\""},
		{onnx, node("ScatterElements", 18, attrs{"reduction": "add"}, x, i64([]int{3, 1}, 1, 1, -1), i64([]int{3, 1}, 7, 8, 9)), "i64[2,3] [[1, 5, 3], [28, 2, 6]]"},
		{onnx, node("ScatterElements", 18, attrs{"reduction": "add"}, vec[float32](1e8, zero), vec[int64](0, 0, 0, 1), vec(1, 1, -1e8, zero)), "f32[2] [0.0, -0.0]"},
		{onnx, node("ScatterElements", 18, attrs{"reduction": "add"}, vec[int32](math.MaxInt32), vec[int64](0), vec[int32](1)), "i32[1] [-2147483648]"},
		{onnx, node("ScatterElements", 18, attrs{"reduction": "add"}, vec[uint8](1), vec[int64](0), vec[uint8](1)), "with reduction=add of u8 is not run"},
		{ir, node("ScatterElementsUpdate", 12, attrs{"reduction": "add"}, x, x, x, i64(nil, 0)), "its reduction is \"add\""},
		{onnx, node("ScatterElements", 18, nil, x, i64([]int{1, 4}, 0, 0, 0, 0), i64([]int{1, 4}, 0, 0, 0, 0)), "has fewer elements along axis 1"},
		{onnx, manyNode(2, "TopK", 11, attrs{"axis": int64(0)}, vec[int64](3, 1, 3, 2), vec[int64](3)), "i64[3] [3, 3, 2]; i64[3] [0, 2, 3]"},
		{onnx, manyNode(2, "TopK", 11, attrs{"largest": int64(0)}, vec[uint64](math.MaxUint64, 1), vec[int64](2)), "u64[2] [1, 18446744073709551615]; i64[2] [1, 0]"},
		{onnx, manyNode(2, "TopK", 11, nil, vec[int64](3, 1), vec[int64](3)), "its k is 3, and axis 0 of [2] has 2 elements"},
		{onnx, manyNode(2, "TopK", 11, nil, vec(1, nan), vec[int64](1)), "is not run of NaN"},
		{onnx, manyNode(2, "TopK", 11, attrs{"sorted": int64(0)}, vec[int64](3, 1), vec[int64](2)), "it is not sorted"},
		{ir, manyNode(2, "TopK", 3, attrs{"axis": int64(0), "mode": "max", "sort": "value"}, vec[int32](3, 3, 1), i64(nil, 2)), "it has equal numbers"},
		{ir, manyNode(2, "TopK", 11, attrs{"axis": int64(0), "mode": "max", "sort": "value", "stable": true}, vec[int32](3, 3, 1), i64(nil, 2)), "i32[2] [3, 3]; i32[2] [0, 1]"},
		{onnx, node("ArgMax", 13, attrs{"select_last_index": int64(1)}, vec[int64](3, 3, 1)), "i64[1] [1]"},
		{onnx, node("NonZero", 13, nil, x), "i64[2,6] [[0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2]]"},
		// As OpenVINO 2026.4.1 answered, of dims that it knew and of others.
		{ir, node("NonZero", 3, attrs{"output_type": "i64"}, garner.Of([]float32{0, 1, 2, zero, .5, 0}, 2, 3)), "i64[2,3] [[0, 0, 1], [1, 2, 1]]"},
		{ir, node("NonZero", 3, attrs{"output_type": "i32"}, vec[uint8](0, 1, 2, 0, 1, 0)), "i32[1,3] [[1, 2, 4]]"},
		{ir, node("NonZero", 3, nil, garner.Of([]int32{1})), "i64[1,1] [[0]]"},
		{ir, node("NonZero", 3, nil, vec(nan, zero, float32(math.Inf(1)))), "i64[1,2] [[0, 2]]"},
		{ir, node("NonZero", 3, nil, vec[uint32](1<<31-1, 1, 0)), "i64[1,2] [[0, 1]]"},
		{ir, node("NonZero", 3, nil, vec[float32](0, 0)), "i64[1,0] [[]]"},
		{ir, node("NonZero", 3, nil, garner.Of([]float32{}, 3, 0)), "i64[2,0] [[], []]"},
		{ir, node("NonZero", 3, nil, vec[float32](1, 1e-40)), "NonZero of element 1"}, // 0 of constants alone
		{ir, node("NonZero", 3, nil, vec[int64](1<<32)), "OpenVINO holds i64, u32 and u64 in i32"},
		{ir, node("NonZero", 3, nil, vec[float64](1e-300)), "OpenVINO holds i64, u32 and u64 in i32, and f64 in f32"},
		{onnx, node("Pad", 18, attrs{"mode": "reflect"}, vec[int64](1, 2, 3), vec[int64](2, 1)), "i64[6] [3, 2, 1, 2, 3, 2]"},
		{onnx, node("Pad", 18, attrs{"mode": "wrap"}, vec[int64](1, 2, 3), vec[int64](2, 1)), "its mode is \"wrap\""},
		{onnx, node("Pad", 18, nil, vec[int64](1, 2, 3), vec[int64](-2, 1)), "i64[2] [3, 0]"},
		{onnx, node("Pad", 18, nil, vec[int64](1, 2, 3), vec[int64](-2, -2)), "it takes 4 elements of axis 0"},
		{onnx, node("OneHot", 11, nil, vec[int64](-1, 5), i64(nil, 2), vec[int64](0, 1)), "i64[2,2] [[0, 1], [0, 0]]"},
		{onnx, node("OneHot", 11, nil, vec[int64](-1), i64(nil, -2), vec[int64](0, 1)), "its depth is -2"},
		{onnx, node("Compress", 11, nil, x, vec(false, true, true)), "i64[2] [5, 3]"},
		{onnx, node("Trilu", 14, nil, x, i64(nil, 1)), "i64[2,3] [[0, 5, 3], [0, 0, 6]]"},
		{onnx, node("EyeLike", 9, attrs{"k": int64(1), "dtype": int64(1)}, i64([]int{2, 2}, 1, 2, 3, 4)), "f32[2,2] [[0.0, 1.0], [0.0, 0.0]]"},
		{onnx, node("Add", 14, nil, half(1, 2048), half(0.5, 1)), "f16[2] [1.5, 2048.0]"},
		{onnx, node("Add", 14, nil, half(1), vec[float32](1)), "Add of f16 and f32; cast one"},
		{onnx, node("Less", 13, nil, half(1), half(2)), "bool[1] [true]"},
		{onnx, node("Add", 14, nil, vec[garner.BFloat16](0x3f80), vec[garner.BFloat16](0x3f80)), "bf16[1] [2.0]"},
		{onnx, node("Add", 14, nil, vec[garner.BFloat16](0x3f80), vec[garner.BFloat16](0x3b80)), "Add of bf16 is not run where it rounds"},
	} {
		t.Run(tt.format+" "+tt.node.Op, func(t *testing.T) {
			if got := texts(all(t, of(tt.format, tt.node))); !strings.Contains(got, tt.want) {
				t.Errorf("%s %v %v: %s; want %s", tt.node.Op, tt.node.Attributes, tt.node.Version, got, tt.want)
			}
		})
	}
}

// TestHalfChains holds that arithmetic on f16 keeps f32 between two nodes, that a node which
// moves elements keeps it in OpenVINO alone, and that what would differ is refused.
func TestHalfChains(t *testing.T) {
	big, one := vec[garner.Float16](0x6800), vec[garner.Float16](0x3c00) // 2048 and 1
	for _, tt := range []struct {
		format, between, behind string
		want                    string
	}{
		{"ONNX", "", "Add", "f16[1] [2050.0]"}, // and not 2048, as with a rounding between
		{"ONNX", "Reshape", "Add", "Add of f16 is not run behind arithmetic that rounds"},
		{"ONNX", "Clip", "Add", "Clip of f16 is not run behind arithmetic that rounds"},
		{"OpenVINO IR", "", "Add", "not run behind another such node"},
		{"OpenVINO IR", "Reshape", "Less", "bool[1] [false]"}, // 2049 < 2048 + 1 in f32
	} {
		sum := node("Add", 14, nil, big, one)
		nodes := []*model.Node{sum}
		v := sum.Outputs[0]
		if tt.between != "" {
			middle := node(tt.between, 14, nil, v, vec[int64](1))
			if tt.between == "Clip" {
				middle = node("Clip", 13, nil, v)
			}
			nodes, v = append(nodes, middle), middle.Outputs[0]
		}
		x := one
		if tt.behind == "Less" {
			x = big
		}
		nodes = append(nodes, node(tt.behind, 14, nil, v, x))
		if tt.format == "OpenVINO IR" && tt.between == "" { // of an input, so that nothing folds
			in := &model.Value{Name: "in", Spec: big.Spec()}
			sum.Inputs[0] = in
			_, err := run.Values(context.Background(), of(tt.format, nodes...), nodes[1].Outputs, map[*model.Value]garner.Tensor{in: big}, 1<<20)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Error(err)
			}
			continue
		}
		if got := texts(all(t, of(tt.format, nodes...))); !strings.Contains(got, tt.want) {
			t.Errorf("%s %s %s: %s; want %s", tt.format, tt.between, tt.behind, got, tt.want)
		}
	}
}

// TestMoreMemory holds that new operators ask for memory before a large tensor is made.
func TestMoreMemory(t *testing.T) {
	large := func(d garner.DType) garner.Tensor { return wide(t, d, 1<<14, 1<<14) }
	k := vec[int64](1)
	for _, n := range []*model.Node{
		node("Abs", 13, nil, large(garner.F32)), node("CumSum", 14, nil, large(garner.I64), i64(nil, 1)),
		node("Clip", 13, nil, large(garner.F32), garner.Of([]float32{1})), node("Max", 13, nil, large(garner.F32), vec[float32](1)),
		manyNode(2, "TopK", 11, nil, large(garner.F32), vec[int64](1<<14)), node("OneHot", 11, nil, wide(t, garner.I64, 1<<14), i64(nil, 1<<14), vec[int64](0, 1)),
		node("ScatterElements", 18, nil, large(garner.F32), i64([]int{1, 1}, 0), garner.Of([]float32{1}, 1, 1)),
		node("Pad", 18, nil, vec[float32](1), vec[int64](1<<30, 0)), node("Trilu", 14, nil, large(garner.F32)), node("EyeLike", 9, nil, large(garner.F32)),
		node("Add", 14, nil, large(garner.F16), vec[garner.Float16](0)), node("ReduceSum", 13, attrs{"noop_with_empty_axes": int64(1)}, node("Neg", 13, nil, large(garner.I64)).Outputs[0], k),
	} {
		nodes := []*model.Node{n}
		if from := n.Inputs[0].From; from != nil {
			nodes = []*model.Node{from, n}
		}
		var err error
		bytes := allocated(func() { _, err = run.Values(context.Background(), of("ONNX", nodes...), n.Outputs, nil, 32<<20) })
		var memory *run.MemoryError
		if !errors.As(err, &memory) || bytes > 4<<20 {
			t.Errorf("%s: %v; %d bytes were allocated", n.Op, err, bytes)
		}
	}
}
