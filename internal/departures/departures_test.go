package departures_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/departures"
	"github.com/garner-go/garner/operators"
)

// TestShortVector has the bounds at which OpenVINO 2026.4.1 gave zeros for an index past the end, and
// below which it gave what stands in memory: 64 elements of data, and of indices, of which a scalar is
// one, and integers of 16 bits.
func TestShortVector(t *testing.T) {
	vector := func(d garner.DType, n int) garner.Spec { return garner.SpecOf(d, n) }
	open := func(d garner.DType) garner.Spec { return garner.SpecOfDims(d, garner.AnyDim) }
	for _, tt := range []struct {
		data, indices garner.Spec
		want          bool
	}{
		{vector(garner.I32, 64), vector(garner.I64, 64), true},
		{vector(garner.I32, 65), vector(garner.I64, 64), false},
		{vector(garner.I32, 64), vector(garner.I64, 65), false},
		{vector(garner.I32, 5), vector(garner.I64, 100), false},
		{vector(garner.I32, 64), garner.SpecOf(garner.I64), true},
		{vector(garner.I32, 65), garner.SpecOf(garner.I64), false},
		{vector(garner.I8, 5), vector(garner.I64, 7), false},
		{vector(garner.U8, 5), vector(garner.I64, 7), false},
		{vector(garner.I16, 5), vector(garner.I64, 7), true},
		{vector(garner.U64, 5), vector(garner.I32, 7), true},
		{vector(garner.F32, 5), vector(garner.I64, 7), false},
		{open(garner.I32), open(garner.I64), true}, // as a run may have it
		{garner.SpecOf(garner.I32, 5, 1), vector(garner.I64, 7), false},
		{vector(garner.I32, 5), garner.SpecOf(garner.I64, 7, 1), false},
		{vector(garner.I32, 5), garner.SpecOfRank(garner.I64, garner.AnyDim), false},
	} {
		if got := departures.ShortVector(tt.data, tt.indices); got != tt.want {
			t.Errorf("data %v, indices %v: %t", tt.data, tt.indices, got)
		}
	}
}

// TestGathers runs each gather by its policy: OpenVINO 2026.4.1 answered so for five numbers, at the
// indices 0 and one more.
func TestGathers(t *testing.T) {
	data := garner.Of([]float32{1, 2, 3, 4, 5}, 5)
	zeros := [2]string{"f32[2] [1.0, 0.0] <nil>", "f32[2] [1.0, 0.0] <nil>"}
	counted := [2]string{"f32[2] [1.0, 5.0] <nil>", ""} // of GatherND it is whatever stands in memory; the others refuse it
	want := map[string][2]string{
		"openvino.Gather-1": zeros, "openvino.Gather-7": zeros,
		"openvino.GatherND-5": counted, "openvino.GatherND-8": counted, "openvino.GatherElements-6": counted,
	}
	for _, g := range departures.Gathers {
		o, err := operators.Find(g.Operator, 0)
		if err != nil {
			t.Fatal(err)
		}
		op, err := o.New(map[string]any{"axis": 0})
		if o.Kind == operators.GatherND {
			op, err = o.New(nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, index := range []int64{-1, 5} {
			at := garner.Of([]int64{0, index}, 2)
			if o.Kind == operators.GatherND {
				at = garner.Of([]int64{0, index}, 2, 1)
			}
			if _, err := garner.Gather(op, data, at); !errors.Is(err, garner.ErrIndex) {
				t.Errorf("%s takes %d as its page has it: %v", g.Operator, index, err)
			}
			made, err := garner.Gather(g.Op(op), data, at)
			if text := fmt.Sprint(made, err); want[g.Operator][i] == "" && !errors.Is(err, garner.ErrIndex) || want[g.Operator][i] != "" && text != want[g.Operator][i] {
				t.Errorf("%s of %d: %s", g.Operator, index, text)
			}
		}
		if found, ok := departures.OfGather(g.Operator); !ok || found != g {
			t.Errorf("%s is %v", g.Operator, found)
		}
		if g.NegativeAtLoad != departures.Counted { // as OpenVINO did with each, of constants
			t.Errorf("%s of constants does not count from the end", g.Operator)
		}
		if (g.NegativeAtLoadCase != "") != (g.NegativeAtLoad != g.Negative) {
			t.Errorf("%s has the recording %q", g.Operator, g.NegativeAtLoadCase)
		}
	}
	if g, ok := departures.OfGather("openvino.Gather-8"); ok {
		t.Errorf("Gather-8, which runs as its page has it, departs: %v", g)
	}
}

// TestQuotients has what OpenVINO 2026.4.1 made of -7 divided by 2, and of 7 for u8: in a run, and of
// constants. Of dims that it did not know, u8 was 4 and i8 -4.
func TestQuotients(t *testing.T) {
	for _, tt := range []struct {
		dtype         garner.DType
		x             float64
		inRun, atLoad float64
	}{
		{garner.I16, -7, -3, -4},
		{garner.I32, -7, -3, -4},
		{garner.I64, -7, -3, -4},
		{garner.U8, 7, 3, 4},
		{garner.I8, -7, -3, -4},
	} {
		of := map[departures.Rounding][]func(float64) float64{
			departures.TowardsZero:       {math.Trunc},
			departures.Down:              {math.Floor},
			departures.DownOrTowardsZero: {math.Floor, math.Trunc},
			departures.Any:               {math.Floor, math.Trunc, math.Ceil},
		}
		for when, want := range map[departures.Moment][]float64{departures.InRun: {tt.inRun}, departures.AtLoad: {tt.atLoad}, departures.Unknown: {tt.inRun, tt.atLoad}} {
			var may []float64
			for _, f := range of[departures.Quotient(tt.dtype, true, when)] {
				may = append(may, f(tt.x/2))
			}
			var all []float64
			for _, f := range departures.Quotients(tt.dtype) {
				all = append(all, f(tt.x/2))
			}
			for _, w := range want {
				if !slices.Contains(may, w) || !slices.Contains(all, w) {
					t.Errorf("%s, moment %d: %v of %v and %v", tt.dtype, when, w, may, all)
				}
			}
		}
		if tt.dtype.Bits() > 8 && departures.Quotient(tt.dtype, false, departures.AtLoad) != departures.TowardsZero {
			t.Errorf("%s without m_pythondiv", tt.dtype)
		}
	}
}

// TestHeld has what OpenVINO 2026.4.1 gave back: 3 of 2^40 + 3 in i64, the f32 of 0.1 in f64, and 16777216
// equal to 16777217 in i32, i64 and u32, where i16 tells 32766 from 32767.
func TestHeld(t *testing.T) {
	for d, want := range map[garner.DType]struct {
		held   garner.DType
		single bool
	}{
		garner.I64: {garner.I32, true}, garner.U64: {garner.I32, true}, garner.U32: {garner.I32, true}, garner.I32: {garner.I32, true},
		garner.I16: {garner.I16, false}, garner.F64: {garner.F32, false}, garner.F32: {garner.F32, false},
	} {
		if got := departures.Held(d); got != want.held || departures.ComparesInF32(d) != want.single {
			t.Errorf("%s is held as %s, compared in f32: %t", d, got, departures.ComparesInF32(d))
		}
	}
	for _, name := range []string{"Greater", "GreaterEqual", "Less", "LessEqual", "Equal"} { // of a NaN
		if got := departures.TrueOfNaN(name); got != strings.HasPrefix(name, "Greater") {
			t.Errorf("%s of a NaN is %t", name, got)
		}
	}
}
