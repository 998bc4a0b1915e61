package garner_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
)

func TestDimString(t *testing.T) {
	for _, tt := range []struct {
		dim   garner.Dim
		want  string
		known bool
	}{
		{garner.Exactly(3), "3", true},
		{garner.Exactly(0), "0", true},
		{garner.AnyDim, "?", false},
		{garner.Dim{Min: 1, Max: 8}, "1..8", false},
		{garner.Dim{Min: 1, Max: garner.Unbounded}, "1..", false},
		{garner.Dim{Min: 0, Max: 4}, "0..4", false},
	} {
		if tt.dim.String() != tt.want || tt.dim.Known() != tt.known {
			t.Errorf("%#v is %s, known %v; want %s, %v", tt.dim, tt.dim, tt.dim.Known(), tt.want, tt.known)
		}
	}
}

// TestSpecBytes holds sizes in memory, and that a size that is not known or not
// fixed is not reported.
func TestSpecBytes(t *testing.T) {
	const huge = math.MaxInt32
	transposed, err := garner.Of(make([]float32, 6), 2, 3).Transpose()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		spec garner.Spec
		want int64
		ok   bool
	}{
		{garner.SpecOf(garner.F32), 4, true},
		{garner.SpecOf(garner.I64, 2, 3), 48, true},
		{garner.SpecOf(garner.Complex128, 3), 48, true},
		{garner.SpecOf(garner.Bool, 3), 3, true},
		{transposed.Spec(), 24, true},
		{garner.SpecOf(garner.U1, 8), 1, true},
		{garner.SpecOf(garner.U1, 9), 2, true},
		{garner.SpecOf(garner.I2, 2, 3), 2, true},
		{garner.SpecOf(garner.I4, 1, 3), 2, true},
		{garner.SpecOf(garner.I4), 1, true},
		{garner.SpecOf(garner.F64, 0), 0, true},
		{garner.SpecOf(garner.F64, huge, huge, huge, 0), 0, true},
		{garner.SpecOfDims(garner.F64, garner.AnyDim, garner.Exactly(0)), 0, true},
		{garner.SpecOfDims(garner.F64, garner.AnyDim), 0, false},
		{garner.SpecOfDims(garner.F64, garner.Dim{Min: 1, Max: 2}, garner.Exactly(3)), 0, false},
		{garner.SpecOfRank(garner.F64, garner.AnyDim), 0, false},
		{garner.SpecOf(garner.String, 2), 0, false},
		{garner.SpecOf(garner.String, 0), 0, false},
		{garner.SpecOf(garner.Invalid, 2), 0, false},
		{garner.Spec{}, 0, false},
		{garner.SpecOf(garner.U8, huge, 1<<29), huge << 29, true},
		{garner.SpecOf(garner.U8, huge, 1<<30, 2), 0, false},
		{garner.SpecOf(garner.U1, huge, huge, 3), (3*huge*huge + 7) / 8, true},
		{garner.SpecOf(garner.U1, huge, huge, 5), 0, false},
		{garner.SpecOf(garner.F64, huge, huge), 0, false},
		{garner.SpecOf(garner.Complex128, huge, 1<<26), huge << 30, true},
		{garner.SpecOf(garner.Complex128, huge, 1<<27), 0, false},
	} {
		if got, ok := tt.spec.Bytes(); ok != tt.ok || ok && got != tt.want {
			t.Errorf("%s takes %d bytes (%v), want %d (%v)", tt.spec, got, ok, tt.want, tt.ok)
		}
	}
}

// TestSpecText holds that ParseSpec reads the text that String returns.
func TestSpecText(t *testing.T) {
	for _, tt := range []struct {
		spec garner.Spec
		want string
	}{
		{garner.SpecOf(garner.F32), "f32[]"},
		{garner.SpecOf(garner.I64, 0), "i64[0]"},
		{garner.SpecOf(garner.F8E4M3FN, 2, 3), "f8e4m3fn[2,3]"},
		{garner.SpecOf(garner.U8, math.MaxInt32, math.MaxInt32, 9), "u8[2147483647,2147483647,9]"},
		{garner.SpecOfDims(garner.String, garner.Exactly(2), garner.AnyDim, garner.Dim{Min: 1, Max: 8}, garner.Dim{Min: 2, Max: garner.Unbounded}), "string[2,?,1..8,2..]"},
		{garner.SpecOfDims(garner.F16), "f16[]"},
		{garner.SpecOfRank(garner.BF16, garner.AnyDim), "bf16[...]"},
		{garner.SpecOfRank(garner.BF16, garner.Dim{Min: 2, Max: 4}), "bf16[...2..4]"},
		{garner.SpecOfRank(garner.BF16, garner.Dim{Min: 2, Max: garner.Unbounded}), "bf16[...2..]"},
		{garner.SpecOfRank(garner.BF16, garner.Exactly(3)), "bf16[?,?,?]"},
	} {
		if got := tt.spec.String(); got != tt.want {
			t.Errorf("prints as %s, want %s", got, tt.want)
		}
		got, err := garner.ParseSpec(tt.want)
		if err != nil || !sameSpec(got, tt.spec) {
			t.Errorf("%s reads as %#v (%v)", tt.want, got, err)
		}
	}
	if got := (garner.Spec{Rank: garner.Exactly(1), Dims: []garner.Dim{{Min: 2, Max: 2}}}).String(); got != "[2]" {
		t.Errorf("a spec without dtype prints as %s", got)
	}
}

func sameSpec(a, b garner.Spec) bool {
	return a.DType == b.DType && a.Rank == b.Rank && slices.Equal(a.Dims, b.Dims) && slices.Equal(a.Strides, b.Strides)
}

func TestParseSpec(t *testing.T) {
	for text, want := range map[string]string{
		" float32 [ 2 , ? , 1..8 ] ":             "f32[2,?,1..8]",
		"F32[]":                                  "f32[]",
		"i64[ ]":                                 "i64[]",
		"f32[...?]":                              "f32[...]",
		"f32[...3]":                              "f32[?,?,?]",
		"f32[0..]":                               "f32[?]",
		"f32[3..3]":                              "f32[3]",
		"u4[" + strings.Repeat("1,", 63) + "1]":  "u4[" + strings.Repeat("1,", 63) + "1]",
		fmt.Sprintf("u4[%d]", math.MaxInt):       fmt.Sprintf("u4[%d]", math.MaxInt),
		fmt.Sprintf("u4[...%d]", garner.MaxRank): "u4[" + strings.Repeat("?,", 63) + "?]",
		fmt.Sprintf("u4[...1..%d]", math.MaxInt): "u4[...1..]",
		fmt.Sprintf("u4[1..%d]", garner.Unbounded-1): fmt.Sprintf("u4[1..%d]", math.MaxInt-1),
	} {
		if got, err := garner.ParseSpec(text); err != nil || got.String() != want {
			t.Errorf("%q reads as %s (%v), want %s", text, got, err, want)
		}
	}
	const remedy = "; write it as f32[2,?,1..8], or f32[...] for an unknown rank"
	for _, tt := range []struct{ text, why string }{
		{"", "it has no [dims]"},
		{"f32", "it has no [dims]"},
		{"f32[2", "it has no [dims]"},
		{"f32[2]x", "it has no [dims]"},
		{"f32[2]]", `"2]" is no dim`},
		{"f32[-1]", `"-1" is no dim`},
		{"f32[2,]", `"" is no dim`},
		{"f32[a]", `"a" is no dim`},
		{"f32[2.5]", `"2.5" is no dim`},
		{"f32[5..2]", `"5..2" is no dim`},
		{"f32[..2]", `"..2" is no dim`},
		{"f32[1..x]", `"1..x" is no dim`},
		{"f32[1..2..3]", `"1..2..3" is no dim`},
		{"f32[99999999999999999999]", `"99999999999999999999" is no dim`},
		{"f32[...65]", "the rank 65 is none"},
		{"f32[...x]", "the rank x is none"},
		{"f32[" + strings.Repeat("1,", 64) + "1]", "it has more than 64 dims"},
	} {
		_, err := garner.ParseSpec(tt.text)
		checkShapeError(t, err, garner.KindMismatch, fmt.Sprintf("garner: %q is no tensor type: %s%s", tt.text, tt.why, remedy))
	}
	for _, text := range []string{"[2]", "f33[2]", "f32 f32[2]"} {
		if _, err := garner.ParseSpec(text); !errors.Is(err, garner.ErrDType) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestSpecShape(t *testing.T) {
	for _, tt := range []struct {
		spec  garner.Spec
		shape garner.Shape
		ok    bool
	}{
		{garner.SpecOf(garner.F32, 2, 0, 3), garner.Shape{2, 0, 3}, true},
		{garner.SpecOf(garner.F32), garner.Shape{}, true},
		{garner.SpecOfDims(garner.F32, garner.Exactly(2), garner.AnyDim), nil, false},
		{garner.SpecOfRank(garner.F32, garner.AnyDim), nil, false},
	} {
		if shape, ok := tt.spec.Shape(); ok != tt.ok || !shape.Equal(tt.shape) {
			t.Errorf("%s has shape %s, %v", tt.spec, shape, ok)
		}
	}
	x, err := garner.Of([]int32{1, 2, 3, 4, 5, 6}, 2, 3).Transpose()
	if err != nil {
		t.Fatal(err)
	}
	want := garner.SpecOf(garner.I32, 3, 2)
	want.Strides = []int{1, 3}
	if got := x.Spec(); !sameSpec(got, want) {
		t.Errorf("the spec of a view is %#v", got)
	}
}

func FuzzParseSpec(f *testing.F) {
	for _, seed := range []string{"f32[2,?,1..8]", "f32[...]", "i64[...2..4]", "u4[]", "string[0,1..]", "f32[...65]", "f32[1,]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		spec, err := garner.ParseSpec(text)
		if err != nil {
			if !errors.Is(err, garner.ErrShape) && !errors.Is(err, garner.ErrDType) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		again, err := garner.ParseSpec(spec.String())
		if err != nil || !sameSpec(again, spec) {
			t.Fatalf("%q is %s, which reads as %s (%v)", text, spec, again, err)
		}
	})
}

// TestSpecOfNothing holds that the zero Tensor, which stands for an operand that is left
// out, has the Spec that does.
func TestSpecOfNothing(t *testing.T) {
	if s := (garner.Tensor{}).Spec(); s.DType != garner.Invalid || s.Dims != nil || s.Rank != (garner.Spec{}).Rank || s.Strides != nil {
		t.Errorf("the zero Tensor has the Spec %#v", s)
	}
}
