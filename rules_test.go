package garner_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/numpy"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/openvino"
	"github.com/garner-go/garner/stablehlo"
	"github.com/garner-go/garner/strict"
	"github.com/garner-go/garner/tensorflow"
	"github.com/garner-go/garner/torch"
)

// nested is one element under n dims.
func nested(n int, element string) string {
	return strings.Repeat("[", n) + element + strings.Repeat("]", n)
}

// TestRules tries the rules that every operator shares. The rules of inference,
// which take no operands, are in TestInferenceRules.
func TestRules(t *testing.T) {
	const data = "[[1,2,3],[4,5,6]]"
	gather := strict.Gather{Axis: 1}
	ruletest.Run(t, []ruletest.Case{
		{Rule: "R.1", Op: gather, Data: data, Indices: "u1[1,0]", Want: "[[2,1],[5,4]]"},
		{Rule: "R.1", Op: gather, Data: data, Indices: "bool[true]", Refuse: "dtype", Message: "indices are bool; they must be integers"},
		{Rule: "R.1", Op: gather, Data: data, Indices: "f32[1]", Refuse: "dtype", Message: "indices are f32"},
		{Rule: "R.1", Op: gather, Data: data, Indices: "complex64[1]", Refuse: "dtype", Message: "indices are complex64"},
		{Rule: "R.1", Op: gather, Data: data, Indices: `["1"]`, Refuse: "dtype", Message: "indices are string"},

		{Rule: "R.3", Op: gather, Data: data, Indices: "u64[2]", Want: "[[3],[6]]"},
		{Rule: "R.3", Op: gather, Data: data, Indices: "i64[0,4294967297]", Refuse: "index-out-of-range", Message: "indices[1] = 4294967297 is outside axis 1"},
		{Rule: "R.3", Op: gather, Data: data, Indices: "i64[9223372036854775807]", Refuse: "index-out-of-range", Message: "indices[0] = 9223372036854775807"},
		{Rule: "R.3", Op: gather, Data: data, Indices: "i64[-9223372036854775808]", Refuse: "index-out-of-range", Message: "indices[0] = -9223372036854775808"},
		{Rule: "R.3", Op: garner.WithNegative(gather, garner.FromEnd), Data: data, Indices: "u64[18446744073709551615]", Refuse: "index-out-of-range", Message: "indices[0] = 18446744073709551615"},

		{Rule: "R.4", Op: strict.Gather{}, Data: nested(64, "7"), Indices: "[0]", Want: nested(64, "7")},
		{Rule: "R.4", Op: openvino.GatherND5{BatchDims: 62}, Data: nested(62, "[[7,8],[5,6]]"), Indices: nested(63, "1"), Want: "[[5,6]]"},
		{Rule: "R.4", Op: onnx.GatherElements13{Axis: 63}, Data: nested(63, "[7,8]"), Indices: nested(63, "[1,-2,1]"), Want: nested(63, "[8,7,8]")},
		{Rule: "R.4", Op: torch.TakeAlongDim{}, Data: nested(63, "[7,8]"), Indices: nested(63, "[1,0,1]"), Want: "[8,7,8]"},
		{Rule: "R.4", Op: strict.Gather{}, Data: nested(64, "7"), Indices: "[[0]]", Refuse: "rank", Message: "has 65 dims; there may be 64"},

		{Rule: "R.5", Op: strict.Gather{}, Data: "zeros u8[1,0]", Indices: "zeros i64[2,3]", Want: "zeros u8[2,3,0]"},
		{Rule: "R.5", Op: strict.Gather{}, Data: "zeros u8[0,1048576,1048576,1048576,1048576]", Indices: "[0]", Refuse: "shape-mismatch", Message: "larger than an int can count"},

		// One call breaks a rule of every class. Each error in turn is mended,
		// and the next class is reported.
		{Rule: "R.6", Op: tensorflow.GatherNd{BadIndicesPolicy: "?"}, Data: "5", Indices: "f32[[9]]", Refuse: "dtype", Message: "indices are f32"},
		{Rule: "R.6", Op: tensorflow.GatherNd{BadIndicesPolicy: "?"}, Data: "5", Indices: "[[9]]", Refuse: "attribute", Message: "bad_indices_policy"},
		{Rule: "R.6", Op: tensorflow.GatherNd{}, Data: "5", Indices: "[[9]]", Refuse: "rank", Message: "data i64[] has rank 0"},
		{Rule: "R.6", Op: tensorflow.GatherNd{}, Data: "[5]", Indices: "[[9]]", Refuse: "index-out-of-range", Message: "indices[0,0] = 9"},
		{Rule: "R.6", Op: tensorflow.GatherNd{}, Data: "[5]", Indices: "[[0]]", Want: "[5]"},

		{Rule: "R.7", Op: strict.Gather{}, Data: "zeros f32[2,0]", Indices: "[1]", Want: "zeros f32[1,0]"},
		{Rule: "R.7", Op: strict.Gather{}, Data: "zeros f32[2,0]", Indices: "[1,2]", Refuse: "index-out-of-range", Message: "indices[1] = 2 is outside axis 0 of data, which has 0…1"},
		{Rule: "R.7", Op: gather, Data: "zeros f32[0,3]", Indices: "[3]", Refuse: "index-out-of-range", Message: "indices[0] = 3 is outside axis 1"},

		{Rule: "R.8", Op: gather, Data: data, Indices: "[[0,1],[2,0]]", Want: "[[[1,2],[3,1]],[[4,5],[6,4]]]"},
		{Rule: "R.8", Op: gather, Data: data, Indices: "[[0,1],[8,9],[-1,0]]", Refuse: "index-out-of-range", Message: "indices[1,0] = 8 is outside axis 1 of data, which has 0…2 (2 more of 6 indices are outside)"},
		{Rule: "R.8", Op: strict.GatherND{}, Data: data, Indices: "[[0,7],[5,0]]", Refuse: "index-out-of-range", Message: "indices[0,1] = 7 is outside axis 1 of data, which has 0…2 (1 more of 4 indices is outside)"},

		{Rule: "R.9", Op: garner.WithNegative(gather, garner.FromEnd), Data: data, Indices: "i8[-1,-3]", Want: "[[3,1],[6,4]]"},
		{Rule: "R.9", Op: garner.WithNegative(gather, garner.FromEnd), Data: data, Indices: "[-4]", Refuse: "index-out-of-range", Message: "indices[0] = -4 is outside axis 1 of data, which has -3…2"},
		{Rule: "R.9", Op: garner.WithNegative(onnx.Gather13{Axis: 1}, garner.Reject), Data: data, Indices: "[-1]", Refuse: "index-out-of-range", Message: "which has 0…2"},

		{Rule: "R.10", Op: garner.WithOutside(openvino.Gather8{Axis: 1}, garner.Error), Data: data, Indices: "[2,-3]", Want: "[[3,1],[6,4]]"},
		{Rule: "R.10", Op: garner.WithOutside(openvino.Gather8{Axis: 1}, garner.Error), Data: data, Indices: "[2,3]", Refuse: "index-out-of-range", Message: "indices[1] = 3"},

		{Rule: "R.11", Op: garner.WithOutside(gather, garner.Zero), Data: data, Indices: "[-1,0,3]", Want: "[[0,1,0],[0,4,0]]"},
		{Rule: "R.11", Op: garner.WithOutside(strict.Gather{}, garner.Zero), Data: "[true,true]", Indices: "[2,1]", Want: "[false,true]"},
		{Rule: "R.11", Op: garner.WithOutside(strict.Gather{}, garner.Zero), Data: "i4[-8,7,-1]", Indices: "[1,5,0]", Want: "i4[7,0,-8]"},
		{Rule: "R.11", Op: garner.WithOutside(strict.Gather{}, garner.Zero), Data: "nf4[-1.0,1.0]", Indices: "[0]", Want: "nf4[-1.0]"},
		{Rule: "R.11", Op: garner.WithOutside(strict.Gather{}, garner.Zero), Data: "nf4[-1.0,1.0]", Indices: "[0,-1]", Refuse: "index-out-of-range", Message: "nf4 has no zero to put in its place; name a fill"},
		{Rule: "R.11", Op: garner.WithOutside(strict.Gather{}, garner.Zero), Data: "f8e8m0[1.0,2.0]", Indices: "[1]", Want: "f8e8m0[2.0]"},
		{Rule: "R.11", Op: garner.WithOutside(strict.Gather{}, garner.Zero), Data: "f8e8m0[1.0,2.0]", Indices: "[2]", Refuse: "index-out-of-range", Message: "f8e8m0 has no zero"},
		{Rule: "R.11", Op: openvino.Gather8{}, Data: "nf4[-1.0,1.0]", Indices: "[-1]", Want: "nf4[1.0]"},
		{Rule: "R.11", Op: openvino.Gather8{}, Data: "nf4[-1.0,1.0]", Indices: "[2]", Refuse: "index-out-of-range", Message: "nf4 has no zero to put in its place; name a fill"},

		{Rule: "R.12", Op: garner.WithFill(gather, ruletest.Tensor(t, "9")), Data: data, Indices: "[-1,0,3]", Want: "[[9,1,9],[9,4,9]]"},
		{Rule: "R.12", Op: garner.WithFill(strict.Gather{}, ruletest.Tensor(t, "nf4[1.0]")), Data: "nf4[-1.0,0.0]", Indices: "[2,0]", Want: "nf4[1.0,-1.0]"},
		{Rule: "R.12", Op: garner.WithFill(gather, ruletest.Tensor(t, "i32(9)")), Data: data, Indices: "[0]", Refuse: "dtype", Message: "the fill is i32 and data i64; they must be equal"},
		{Rule: "R.12", Op: garner.WithFill(gather, ruletest.Tensor(t, "[8,9]")), Data: data, Indices: "[0]", Refuse: "rank", Message: "a fill of 2 elements; it must be one"},
		{Rule: "R.12", Op: garner.WithFillText(gather, "9"), Data: data, Indices: "[-1,0,3]", Want: "[[9,1,9],[9,4,9]]"},
		{Rule: "R.12", Op: garner.WithFillText(gather, "9.5"), Data: data, Indices: "[0]", Refuse: "attribute", Message: `the fill "9.5" is no i64`},
		{Rule: "R.12", Op: garner.WithFillText(tensorflow.GatherNd{}, "x"), Data: "5", Indices: "[[9]]", Refuse: "attribute", Message: `the fill "x" is no i64`}, // R.6: before the rank
		{Rule: "R.12", Op: garner.WithFillText(openvino.Gather8{}, "0"), Data: "f8e8m0[1.0,2.0]", Indices: "[1]", Want: "f8e8m0[2.0]"},
		{Rule: "R.12", Op: garner.WithFillText(openvino.Gather8{}, "0"), Data: "f8e8m0[1.0,2.0]", Indices: "[1,2]", Refuse: "index-out-of-range", Message: "indices[1] = 2 is outside axis 0 of data, which has -2…1; f8e8m0 has no 0 to put in its place; name another fill"},
		{Rule: "R.12", Op: garner.WithFillText(openvino.Gather8{}, "NaN"), Data: "nf4[1.0]", Indices: "[1]", Refuse: "index-out-of-range", Message: "nf4 has no NaN to put"},
		{Rule: "R.12", Op: garner.WithOutside(garner.WithFillText(openvino.Gather8{}, "NaN"), garner.Clamp), Data: "nf4[1.0]", Indices: "[1]", Want: "nf4[1.0]"},
		{Rule: "R.12", Op: garner.WithOutside(gather, garner.Fill), Data: data, Indices: "[0]", Refuse: "attribute", Message: "use WithFill"},

		{Rule: "R.13", Op: garner.WithOutside(gather, garner.Clamp), Data: data, Indices: "[-5,1,3,9223372036854775807]", Want: "[[1,2,3,3],[4,5,6,6]]"},
		{Rule: "R.13", Op: garner.WithNegative(garner.WithOutside(gather, garner.Clamp), garner.FromEnd), Data: data, Indices: "[-1,-4]", Want: "[[3,1],[6,4]]"},
		{Rule: "R.13", Op: garner.WithOutside(gather, 9), Data: data, Indices: "[0]", Refuse: "attribute", Message: "there are error, zero, fill, clamp and wrap"},

		{Rule: "R.14", Op: garner.WithOutside(gather, garner.Wrap), Data: data, Indices: "[-1,3,7,-7]", Want: "[[3,1,2,3],[6,4,5,6]]"},
		{Rule: "R.14", Op: garner.WithOutside(gather, garner.Wrap), Data: data, Indices: "u64[18446744073709551615]", Want: "[[1],[4]]"},
		{Rule: "R.14", Op: garner.WithOutside(gather, garner.Wrap), Data: "zeros i64[2,0]", Indices: "[0]", Refuse: "index-out-of-range", Message: "which is empty"},

		{Rule: "R.15", Op: garner.WithOutside(gather, garner.Clamp), Data: "zeros i64[2,0]", Indices: "zeros i64[0]", Want: "zeros i64[2,0]"},
		{Rule: "R.15", Op: garner.WithOutside(gather, garner.Clamp), Data: "zeros i64[2,0]", Indices: "[0]", Refuse: "index-out-of-range", Message: "indices[0] = 0 is outside axis 1 of data, which is empty"},

		{Rule: "R.16", Op: gather, Data: `[["a","b"],["c","d"]]`, Indices: "[1,1]", Want: `[["b","b"],["d","d"]]`},
		{Rule: "R.16", Op: garner.WithFill(gather, ruletest.Tensor(t, `["-"]`)), Data: `[["a","b"],["c","d"]]`, Indices: "[2,0]", Want: `[["-","a"],["-","c"]]`},
		{Rule: "R.16", Op: gather, Data: `[["a","b"],["c","d"]]`, Indices: "[2]", Refuse: "index-out-of-range", Message: "indices[0] = 2"},

		{Rule: "R.18", Op: strict.GatherND{}, Data: data, Indices: "zeros i64[2,0]", Want: "[[[1,2,3],[4,5,6]],[[1,2,3],[4,5,6]]]"},
		{Rule: "R.18", Op: strict.GatherND{BatchDims: 1}, Data: data, Indices: "zeros i64[2,0]", Want: data},
		{Rule: "R.18", Op: gather, Data: "zeros f32[0,3]", Indices: "[2,0]", Want: "zeros f32[0,2]"},
		{Rule: "R.18", Op: gather, Data: "zeros f32[2,0]", Indices: "[0]", Refuse: "index-out-of-range", Message: "which is empty"},
	})
}

// TestEveryIndexType holds R.1 for every integer type.
func TestEveryIndexType(t *testing.T) {
	data, want := ruletest.Tensor(t, "[7,8]"), ruletest.Tensor(t, "[8,7,8]")
	integers := 0
	for _, d := range garner.DTypes() {
		if !d.IsInteger() || d == garner.I2 {
			continue
		}
		integers++
		gathertest.Check(t, strict.Gather{}, data, ruletest.Tensor(t, d.String()+"[1,0,1]"), want)
	}
	gathertest.Check(t, strict.Gather{}, data, ruletest.Tensor(t, "i2[1,0,1]"), want)
	if integers != 12 {
		t.Errorf("%d integer types, want 12 beside i2", integers)
	}
}

// TestBitsArrive holds R.2: bytes arrive unchanged, whatever their type, and
// data without a type is refused.
func TestBitsArrive(t *testing.T) {
	for _, d := range garner.DTypes() {
		if d == garner.String {
			continue
		}
		t.Run("R.2/"+d.String(), func(t *testing.T) {
			// 16 rows of 8 elements; among the bytes are NaNs, infinities and codes
			// that no arithmetic would leave.
			bits := make([]byte, 16*8*d.Bits()/8)
			for i := range bits {
				bits[i] = byte(i*167 + i>>8*13 + 255)
			}
			data, err := garner.FromBytes(d, bits, 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			at := ruletest.Tensor(t, "[15,0,7,7]")
			out, err := garner.Gather(strict.Gather{}, data, at)
			if err != nil {
				t.Fatal(err)
			}
			got, err := out.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			row := len(bits) / 16
			for i, index := range []int{15, 0, 7, 7} {
				if have, want := got[i*row:(i+1)*row], bits[index*row:(index+1)*row]; string(have) != string(want) {
					t.Errorf("row %d is % x, want % x", i, have, want)
				}
			}
		})
	}
	_, err := garner.Gather(strict.Gather{}, garner.Tensor{}, ruletest.Tensor(t, "[0]"))
	ruletest.Refused(t, err, "dtype", "data has no dtype")
}

// TestFirstBadIndexOnManyCores holds R.8 on indices that many threads share.
func TestFirstBadIndexOnManyCores(t *testing.T) {
	const n = 300_000
	at := make([]int32, n)
	data := ruletest.Tensor(t, "iota i64[10]")
	run := func(threads int) error {
		indices := garner.Of(at, n/10, 10)
		p, err := garner.Prepare(strict.Gather{}, data.Spec(), indices.Spec(), garner.Threads(threads))
		if err != nil {
			t.Fatal(err)
		}
		out, err := garner.New(garner.I64, n/10, 10)
		if err != nil {
			t.Fatal(err)
		}
		return p.Run(context.Background(), data, indices, out)
	}
	for _, threads := range []int{1, 2, 7} {
		if err := run(threads); err != nil {
			t.Fatal(err)
		}
	}
	at[123_456], at[250_000], at[299_999] = 10, -1, 11
	for _, threads := range []int{1, 2, 7} {
		err := run(threads)
		ruletest.Refused(t, err, "index-out-of-range", "indices[12345,6] = 10 is outside axis 0 of data, which has 0…9 (2 more of 300000 indices are outside)")
		var bad *garner.IndexError
		if !errors.As(err, &bad) {
			t.Fatalf("%v is no IndexError", err)
		}
		if bad.Others != 2 || bad.Total != n || bad.Axis != 0 || bad.Dim != 10 || bad.FromEnd || fmt.Sprint(bad.Position) != "[12345 6]" {
			t.Errorf("%d threads: %+v", threads, *bad)
		}
	}
}

// TestOverlap holds R.17.
func TestOverlap(t *testing.T) {
	ctx := context.Background()
	memory := []int64{0, 1, 2, 3, 4, 5}
	part := func(from, to int) garner.Tensor { return garner.Of(memory[from:to], to-from) }
	apart := func() garner.Tensor { return ruletest.Tensor(t, "zeros i64[2]") }
	at := ruletest.Tensor(t, "[1,0]")

	out := part(4, 6)
	if err := garner.GatherInto(ctx, strict.Gather{}, part(0, 4), at, out); err != nil {
		t.Fatal(err)
	}
	if !gathertest.Equal(out, ruletest.Tensor(t, "[1,0]")) {
		t.Errorf("next to data: %v", out)
	}
	ruletest.Refused(t, garner.GatherInto(ctx, strict.Gather{}, part(0, 4), at, part(3, 5)), "overlap", "shares memory with an input")
	ruletest.Refused(t, garner.GatherInto(ctx, strict.Gather{}, apart(), part(0, 2), part(1, 3)), "overlap", "gather into memory of its own")

	same, err := garner.FromStrided(garner.I64, make([]byte, 16), 0, []int{2}, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	ruletest.Refused(t, garner.GatherInto(ctx, strict.Gather{}, part(0, 4), at, same), "overlap", "let its own elements overlap")
}

// TestInferenceRules tries R.19 to R.24, and R.5 for shapes larger than any
// tensor.
func TestInferenceRules(t *testing.T) {
	huge := fmt.Sprint(math.MaxInt/2 + 1)
	window := stablehlo.Gather{OffsetDims: []int{1, 2}, StartIndexMap: []int{0, 1}, IndexVectorDim: 1, SliceSizes: []int{2, 1}}
	for _, tt := range []struct {
		rule          string
		op            garner.Op
		data, indices string
		want          string // what Infer says, or
		refuse        string
		message       string
	}{
		{"R.5", strict.Gather{}, "u8[2]", "u1[" + fmt.Sprint(math.MaxInt/8-8) + "]", "u8[" + fmt.Sprint(math.MaxInt/8-8) + "]", "", ""},
		{"R.5", strict.Gather{}, "f32[2," + huge + "]", "i64[1]", "", "shape-mismatch", "data f32[2," + huge + "] holds more elements than an int can count"},
		{"R.5", strict.Gather{}, "f32[" + huge + "]", "i64[1]", "", "shape-mismatch", "more bytes than an int can count"},

		{"R.19", strict.Gather{Axis: 1}, "f32[?,3,2..4]", "i64[5,?]", "f32[?,5,?,2..4]", "", ""},
		{"R.19", strict.GatherND{}, "f32[?,?]", "i64[7,2]", "f32[7]", "", ""},
		{"R.19", strict.GatherElements{Axis: 1}, "f32[2..5,?]", "i64[3..9,4]", "f32[3..5,4]", "", ""},
		{"R.19", onnx.GatherElements13{Axis: 1}, "f32[2,?]", "i64[1..9,4]", "f32[1..9,4]", "", ""},
		{"R.19", strict.GatherElements{Axis: 1}, "f32[2..5,?]", "i64[6..,4]", "", "shape-mismatch", "off axis 1 they must be equal"},
		{"R.19", strict.GatherND{}, "f32[?]", "i64[?,2..]", "", "rank", "tuples of 2.."},

		{"R.20", strict.Gather{Axis: 1, BatchDims: 1}, "f32[?,3]", "i64[2,4]", "f32[2,4]", "", ""},
		{"R.20", strict.GatherND{BatchDims: 1}, "f32[1..6,3]", "i64[4..8,1]", "f32[4..6]", "", ""},
		{"R.20", strict.GatherND{BatchDims: 1}, "f32[1..3,3]", "i64[4..8,1]", "", "batch-dims", "batch dim 0 is 1..3 in data"},

		{"R.21", strict.GatherND{}, "f32[2,3]", "i64[5,?]", "f32[...]", "", ""},
		{"R.21", strict.GatherND{}, "f32[2,3]", "i64[5,3..]", "", "rank", "tuples of 3.."},
		{"R.21", strict.GatherND{BatchDims: 1}, "f32[2,3]", "i64[5,?]", "", "batch-dims", "batch dim 0 is 2 in data"},

		{"R.22", openvino.Gather8{Axis: garner.Unknown}, "f32[2,3]", "i64[5,6]", "f32[?,?,?]", "", ""},
		{"R.22", openvino.Gather8{Axis: garner.Unknown, BatchDims: 3}, "f32[2,3]", "i64[5,6]", "", "batch-dims", "batch_dims 3"},

		{"R.22", openvino.Gather8{Axis: garner.Unknown, BatchDims: 1}, "f32[2,3]", "i64[2,7]", "f32[2,?]", "", ""},
		{"R.22", openvino.Gather7{Axis: garner.Unknown, BatchDims: -1}, "f32[?,3,4]", "i64[2..5,7]", "f32[2..5,?,?]", "", ""},
		{"R.22", tensorflow.GatherV2{Axis: garner.Unknown, BatchDims: 2}, "f32[4,?,4]", "i64[4,7]", "f32[4,7]", "", ""},
		{"R.22", openvino.Gather8{Axis: garner.Unknown, BatchDims: 1}, "f32[...]", "i64[2,7]", "f32[...]", "", ""},
		{"R.22", openvino.Gather8{Axis: garner.Unknown, BatchDims: 1}, "f32[...1..3]", "i64[2,7]", "f32[...2..3]", "", ""},
		{"R.22", openvino.Gather8{Axis: -1, BatchDims: 1}, "f32[...1..2]", "i64[2,7]", "f32[2,?]", "", ""},
		{"R.22", openvino.Gather8{Axis: garner.Unknown, BatchDims: 1}, "f32[2,3]", "i64[5,7]", "", "batch-dims", "batch dim 0 is 2 in data"},
		{"R.22", openvino.Gather8{Axis: garner.Unknown, BatchDims: 2}, "f32[2,3]", "i64[2,3]", "", "batch-dims", "batch_dims 2 of data f32[2,3], which has rank 2"},
		{"R.22", openvino.Gather7{Axis: garner.Unknown, BatchDims: -1}, "f32[2]", "i64[2,3]", "", "batch-dims", "batch_dims 1 of data f32[2], which has rank 1"},

		{"R.23", strict.Gather{}, "f32[2,3]", "i64[...1..4]", "f32[...2..5]", "", ""},
		{"R.23", openvino.Gather1{Axis: 4}, "f32[...3..5]", "i64[]", "f32[?,?,?,?]", "", ""},
		{"R.23", openvino.Gather1{Axis: -4}, "f32[...3..5]", "i64[]", "f32[...3..4]", "", ""},
		{"R.23", openvino.Gather1{}, "f32[...0..1]", "i64[7]", "f32[7]", "", ""},
		{"R.23", strict.GatherND{BatchDims: 2}, "f32[...1..4]", "i64[2,2,2]", "f32[2,2]", "", ""},
		{"R.23", strict.GatherND{BatchDims: 1}, "f32[2,3]", "i64[...0..2]", "f32[...]", "", ""},
		{"R.23", strict.GatherND{BatchDims: 1}, "f32[2,3]", "i64[...1]", "", "batch-dims", "it may be 0…0"},
		{"R.23", torch.Embedding{}, "f32[...]", "i64[7,8]", "f32[7,8,?]", "", ""},
		{"R.23", torch.IndexSelect{Dim: 1}, "f32[2,3]", "i64[...]", "f32[2,?]", "", ""},
		{"R.23", torch.IndexSelect{}, "f32[...0..2]", "i64[...]", "f32[...0..2]", "", ""},
		{"R.23", openvino.GatherElements6{Axis: 1}, "f32[2,3,4]", "i64[...]", "f32[2,?,4]", "", ""},
		{"R.23", openvino.GatherElements6{Axis: 1}, "f32[...]", "i64[2,3,?]", "f32[2,3,?]", "", ""},
		{"R.23", openvino.GatherElements6{Axis: -1}, "f32[...]", "i64[2,3,?]", "f32[2,3,?]", "", ""},
		{"R.23", openvino.GatherElements6{}, "f32[...2..4]", "i64[...3..7]", "f32[...3..4]", "", ""},
		{"R.23", openvino.GatherElements6{}, "f32[...2..4]", "i64[...]", "f32[...2..4]", "", ""},
		{"R.23", openvino.GatherElements6{}, "f32[...]", "i64[...]", "f32[...]", "", ""},
		{"R.23", openvino.GatherElements6{}, "f32[...2..4]", "i64[...5..7]", "", "rank", "they must be equal"},
		{"R.23", onnx.GatherElements13{Axis: 1}, "f32[2,3,3..4]", "i64[...]", "f32[0..2,?,0..4]", "", ""},
		{"R.23", numpy.TakeAlongAxis{Axis: new(int)}, "f32[2,3,1]", "i64[...]", "f32[?,3,?]", "", ""},
		{"R.23", numpy.TakeAlongAxis{}, "f32[2,3,1]", "i64[...]", "f32[?]", "", ""},
		{"R.23", window, "f32[...]", "i64[5,2]", "f32[5,2,1]", "", ""},
		{"R.23", window, "f32[...1..3]", "i64[?,2]", "f32[?,2,1]", "", ""},
		{"R.23", window, "f32[...3..4]", "i64[5,2]", "f32[...]", "", ""},
		{"R.23", stablehlo.DynamicGather{OffsetDims: window.OffsetDims, StartIndexMap: window.StartIndexMap, IndexVectorDim: 1}, "f32[...]", "i64[5,2]", "f32[5,?,?]", "", ""},
		{"R.23", openvino.Gather8{Axis: math.MinInt + 1, BatchDims: math.MinInt + 1}, "f32[...]", "i64[...]", "f32[...]", "", ""},
		{"R.23", openvino.Gather8{Axis: math.MaxInt - 1, BatchDims: math.MaxInt}, "f32[...]", "i64[...]", "", "batch-dims", "above axis"},
		{"R.23", openvino.Gather8{Axis: garner.Unknown, BatchDims: math.MaxInt}, "f32[...]", "i64[...]", "f32[...]", "", ""},
		{"R.23", strict.GatherND{BatchDims: math.MaxInt - 1}, "f32[...]", "i64[...]", "f32[...]", "", ""},
		{"R.23", torch.Gather{}, "f32[2,3]", "i64[...]", "f32[...]", "", ""}, // RG.6
		{"R.23", torch.Gather{}, "f32[2,3]", "i64[...1..4]", "f32[...1..4]", "", ""},
		{"R.23", torch.Gather{Dim: -1}, "f32[...]", "i64[4,?]", "f32[4,?]", "", ""},
		{"R.23", strict.Gather{}, "f32[...]", "i64[2]", "f32[...]", "", ""},
		{"R.23", strict.Gather{Axis: 3}, "f32[...1..3]", "i64[2]", "", "axis-out-of-range", "axis 3 of data"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			data, err := garner.ParseSpec(tt.data)
			if err != nil {
				t.Fatal(err)
			}
			indices, err := garner.ParseSpec(tt.indices)
			if err != nil {
				t.Fatal(err)
			}
			got, err := garner.Infer(tt.op, data, indices)
			if tt.refuse != "" {
				ruletest.Refused(t, err, tt.refuse, tt.message)
			} else if err != nil || got.String() != tt.want {
				t.Errorf("%v, %v; want %s", got, err, tt.want)
			}
		})
	}
	t.Run("R.24", func(t *testing.T) {
		known, unknown := garner.SpecOf(garner.F32, 2, 3), garner.SpecOfDims(garner.F32, garner.AnyDim, garner.Exactly(3))
		at := garner.SpecOf(garner.I64, 2)
		if p, err := garner.NewPlan(strict.Gather{}, known, at); err != nil || !p.Out.Equal(garner.Shape{2, 3}) {
			t.Errorf("%v, %v", p, err)
		}
		_, err := garner.NewPlan(strict.Gather{}, unknown, at)
		ruletest.Refused(t, err, "rank", "needs every dim of data f32[?,3] and of indices i64[2]; Infer does without")
		_, err = garner.Prepare(strict.Gather{}, known, garner.SpecOfRank(garner.I64, garner.AnyDim))
		ruletest.Refused(t, err, "rank", "needs every dim")
		// What is not known is named: an operand, or the number of bags.
		_, err = garner.NewPlan(openvino.EmbeddingBagOffsetsSum3{}, known, at, garner.SpecOfDims(garner.I64, garner.AnyDim))
		ruletest.Refused(t, err, "rank", "a plan needs every dim of offsets i64[?]; Infer does without")
		for _, op := range []garner.Op{tensorflow.SparseSegmentSum{}, tensorflow.SparseSegmentMean{}, tensorflow.SparseSegmentSqrtN{}} {
			_, err = garner.NewPlan(op, known, at, at)
			ruletest.Refused(t, err, "rank", "the last element of segment_ids, which is not known here, says how many bags there are; Prepare with FurtherTensors")
		}
		_, err = garner.NewPlan(tensorflow.EmbeddingLookupSparse{}, known, at, garner.SpecOf(garner.I64, 2, 1))
		ruletest.Refused(t, err, "rank", "the last element of ids_indices")
		_, err = garner.NewPlan(tensorflow.EmbeddingLookupSparse{}, unknown, at, garner.SpecOf(garner.I64, 2, 1))
		ruletest.Refused(t, err, "rank", "needs every dim of data f32[?,3]")
	})
}
