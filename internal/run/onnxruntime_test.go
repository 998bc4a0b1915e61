package run_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// TestSliceToTheEnd holds that the greatest i32 and the greatest i64 are the end in the
// direction of a step in ONNX, and numbers in OpenVINO. The answers are those of ONNX Runtime
// 1.31.1 and OpenVINO 2026.4.1.
func TestSliceToTheEnd(t *testing.T) {
	x := vec[int64](1, 2, 3, 4)
	for _, tt := range []struct {
		start, end, step int64
		onnx, openvino   string
	}{
		{2, math.MaxInt32, -1, "[3, 2, 1]", "[]"},
		{3, math.MaxInt64, -2, "[4, 2]", "[]"},
		{-1, math.MaxInt32, -3, "[4, 1]", "[]"},
		{0, math.MaxInt32, -1, "[1]", "[]"},
		{2, math.MaxInt32 - 1, -1, "[]", "[]"},
		{2, math.MaxInt32 + 1, -1, "[]", "[]"},
		{1, math.MaxInt64, 1, "[2, 3, 4]", "[2, 3, 4]"},
	} {
		start, end, step, axis := vec(tt.start), vec(tt.end), vec(tt.step), vec[int64](0)
		for format, n := range map[string]*model.Node{
			"ONNX":        node("Slice", 13, nil, x, start, end, axis, step),
			"OpenVINO IR": node("Slice", 8, nil, x, start, end, step, axis),
		} {
			want := tt.onnx
			if format != "ONNX" {
				want = tt.openvino
			}
			got, err := last(of(format, n), 1<<20)
			if err != nil || !strings.HasSuffix(got.String(), " "+want) {
				t.Errorf("%s, from %d to %d by %d: %v, %v; want %s", format, tt.start, tt.end, tt.step, got, err, want)
			}
		}
	}
}

// TestWhereZeros holds which −0 ONNX Runtime's Where loses: one of the first branch, or of
// the second where the second alone is broadcast along the innermost axis. OpenVINO's Select
// loses none. The answers are those of ONNX Runtime 1.31.1 for all shapes of each kind.
func TestWhereZeros(t *testing.T) {
	shapes := [][]int{{}, {1}, {4}, {3, 1}, {1, 4}, {3, 4}}
	wide := func(s []int) bool { return len(s) > 0 && s[len(s)-1] > 1 }
	for _, d := range []garner.DType{garner.F16, garner.F32, garner.F64} {
		for _, c := range shapes {
			for _, x := range shapes {
				for _, y := range shapes {
					for _, condition := range []bool{true, false} {
						keeps := !wide(c) && wide(x) && !wide(y)
						if !condition {
							keeps = !keeps
						}
						for format, op := range map[string]string{"ONNX": "Where", "OpenVINO IR": "Select"} {
							want := "-0.0"
							if format == "ONNX" && !keeps {
								want = "0.0"
							}
							got, err := last(of(format, node(op, 16, nil, filled(t, garner.Bool, c, fmt.Sprint(condition)), filled(t, d, x, "-0"), filled(t, d, y, "-0"))), 1<<20)
							if err != nil {
								t.Fatal(err)
							}
							flat, err := got.Reshape(got.Len())
							if err != nil {
								t.Fatal(err)
							}
							for i := range got.Len() {
								if text, _ := flat.At(i); text != want {
									t.Fatalf("%s of %v, %s%v and %v, where all are %v: %s, want %s", op, c, d, x, y, condition, text, want)
								}
							}
						}
					}
				}
			}
		}
	}
}

// filled is a tensor of one number.
func filled(t *testing.T, d garner.DType, shape []int, text string) garner.Tensor {
	t.Helper()
	made, err := garner.New(d, shape...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range made.Len() {
		if err := made.SetText(i, text); err != nil {
			t.Fatal(err)
		}
	}
	return made
}

// TestUnalignedConstants holds that the bytes of a constant lie anywhere in a file.
func TestUnalignedConstants(t *testing.T) {
	bytes := make([]byte, 64)
	for shift := range 8 {
		copy(bytes[shift:], []byte{2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
		indices, err := garner.FromStrided(garner.I64, bytes[shift:], 0, []int{2}, []int{1})
		if err != nil {
			t.Fatal(err)
		}
		got, err := last(of("ONNX", node("ScatterElements", 18, nil, vec[float32](1, 2, 3), indices, vec[float32](8, 9))), 1<<20)
		if err != nil || got.String() != "f32[3] [9.0, 2.0, 8.0]" {
			t.Errorf("at byte %d: %v, %v", shift, got, err)
		}
	}
}

// TestModOfRounded holds that Mod of f16 takes what arithmetic before it rounds to f16, as
// ONNX Runtime 1.31.1 does; it gives 0.758 here, and of the unrounded sum 0.759.
func TestModOfRounded(t *testing.T) {
	a, b, z := filled(t, garner.F16, []int{1}, "3.91015625"), filled(t, garner.F16, []int{1}, "-1.0810546875"), filled(t, garner.F16, []int{}, "2.07")
	sum := node("Add", 14, nil, a, b)
	got, err := last(of("ONNX", sum, node("Mod", 13, attrs{"fmod": int64(1)}, sum.Outputs[0], z)), 1<<20)
	if err != nil || got.String() != "f16[1] [0.758]" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestOneHotOfANumber holds that OneHot refuses indices of rank 0, as ONNX Runtime does.
func TestOneHotOfANumber(t *testing.T) {
	_, err := last(of("ONNX", node("OneHot", 11, nil, i64(nil, 1), i64(nil, 3), vec[float32](0, 1))), 1<<20)
	if !errors.Is(err, garner.ErrShape) || !strings.Contains(err.Error(), "takes a vector") {
		t.Error(err)
	}
}
