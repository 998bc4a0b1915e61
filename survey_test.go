package garner_test

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/openvino"
	"github.com/garner-go/garner/stablehlo"
	"github.com/garner-go/garner/strict"
)

// TestSurvey holds the counts of Survey against the result of a gather.
func TestSurvey(t *testing.T) {
	data := garner.Of([]int32{0, 1, 2, 3, 4, 5}, 2, 3)
	at := garner.Of([]int64{0, -1, 1, 5, -3, 2}, 3, 2) // tuples (0,-1) (1,5) (-3,2)
	nd := strict.GatherND{}
	for _, tt := range []struct {
		name string
		op   garner.Op
		want garner.Survey
	}{
		{"strict", nd, garner.Survey{Indices: 6, Refused: 3}},
		{"from-end", garner.WithNegative(nd, garner.FromEnd), garner.Survey{Indices: 6, FromEnd: 1, Refused: 2}},
		{"zero", garner.WithOutside(nd, garner.Zero), garner.Survey{Indices: 6, Filled: 3}},
		{"fill", garner.WithNegative(garner.WithFill(nd, garner.Of([]int32{7})), garner.FromEnd), garner.Survey{Indices: 6, FromEnd: 1, Filled: 2}},
		{"clamp", garner.WithOutside(nd, garner.Clamp), garner.Survey{Indices: 6, Moved: 3}},
		{"wrap", garner.WithOutside(nd, garner.Wrap), garner.Survey{Indices: 6, Moved: 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan, err := garner.NewPlan(tt.op, data.Spec(), at.Spec())
			if err != nil {
				t.Fatal(err)
			}
			got, err := plan.Survey(context.Background(), at)
			if err != nil {
				t.Fatal(err)
			}
			_, failed := garner.Gather(tt.op, data, at)
			if (got.First != nil) != (failed != nil) || failed != nil && got.First.Error() != failed.Error() {
				t.Errorf("the survey ends with %v and the gather with %v", got.First, failed)
			}
			if got.First = nil; got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}

	plan, err := garner.NewPlan(nd, data.Spec(), at.Spec())
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	if _, err := plan.Survey(ctx, at); !errors.Is(err, cause) {
		t.Errorf("a survey that was cancelled ends with %v", err)
	}
	if _, err := plan.Survey(context.Background(), data); !errors.Is(err, garner.ErrDType) {
		t.Errorf("indices of another dtype: %v", err)
	}
	if _, err := plan.Survey(context.Background(), garner.Of([]int64{0})); !errors.Is(err, garner.ErrShape) {
		t.Errorf("indices of another shape: %v", err)
	}
	for _, i := range []int{-1, 6} {
		if _, err := plan.Meaning(at, i); !errors.Is(err, garner.ErrShape) {
			t.Errorf("Meaning of index %d: %v", i, err)
		}
	}
}

// TestMeaning holds the meaning of single indices against the policies.
func TestMeaning(t *testing.T) {
	data := garner.Of([]int32{0, 1, 2, 3, 4, 5}, 2, 3)
	at := garner.Of([]int64{0, -1, 1, 5}, 2, 2)
	for _, tt := range []struct {
		op   garner.Op
		i    int
		want garner.Meaning
	}{
		{strict.GatherND{}, 0, garner.Meaning{At: 0}},
		{strict.GatherND{}, 1, garner.Meaning{Component: 1, At: -1, Outside: true, Refused: true}},
		{garner.WithNegative(strict.GatherND{}, garner.FromEnd), 1, garner.Meaning{Component: 1, At: 2}},
		{garner.WithOutside(strict.GatherND{}, garner.Zero), 3, garner.Meaning{Component: 1, At: -1, Outside: true}},
		{garner.WithOutside(strict.GatherND{}, garner.Clamp), 3, garner.Meaning{Component: 1, At: 2, Outside: true}},
		{garner.WithOutside(strict.GatherND{}, garner.Clamp), 1, garner.Meaning{Component: 1, At: 0, Outside: true}},
		{garner.WithOutside(strict.GatherND{}, garner.Wrap), 3, garner.Meaning{Component: 1, At: 2, Outside: true}},
	} {
		plan, err := garner.NewPlan(tt.op, data.Spec(), at.Spec())
		if err != nil {
			t.Fatal(err)
		}
		got, err := plan.Meaning(at, tt.i)
		if err != nil {
			t.Fatal(err)
		}
		if tt.want.Value, err = at.Int(tt.i); err != nil {
			t.Fatal(err)
		}
		if got != tt.want {
			t.Errorf("index %d of %v: %+v, want %+v", tt.i, tt.op, got, tt.want)
		}
	}
}

// TestNormalizeKeepsRows walks plans before and after Normalize: each element
// of the result comes from the same positions in data and in the indices.
func TestNormalizeKeepsRows(t *testing.T) {
	f := garner.SpecOf(garner.F32, 2, 3, 4, 5)
	transposed, err := garner.Of(make([]float32, 120), 5, 4, 3, 2).Transpose(3, 2, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name          string
		op            garner.Op
		data, indices garner.Spec
		loops, slice  int // after
	}{
		{"slices", openvino.Gather8{Axis: 2, BatchDims: 1}, f, garner.SpecOf(garner.I64, 2, 6), 3, 5},
		{"rows alone", openvino.Gather8{}, f, garner.SpecOf(garner.I64, 6, 7), 1, 60},
		{"a view", openvino.Gather8{Axis: 2, BatchDims: 1}, transposed.Spec(), garner.SpecOf(garner.I64, 2, 6), 4, 1},
		{"tuples", strict.GatherND{BatchDims: 1}, f, garner.SpecOf(garner.I64, 2, 1, 6, 2), 2, 5},
		{"the whole", strict.GatherND{}, f, garner.SpecOf(garner.I64, 6, 0), 1, 120},
		{"elements", strict.GatherElements{Axis: 3}, f, garner.SpecOf(garner.I64, 2, 3, 4, 6), 2, 1},
		{"windows", stablehlo.Gather{OffsetDims: []int{0, 1, 2, 3}, StartIndexMap: []int{1}, IndexVectorDim: 0, SliceSizes: []int{2, 2, 4, 5}},
			f, garner.SpecOf(garner.I64, 1), 1, 40},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan, err := garner.NewPlan(tt.op, tt.data, tt.indices)
			if err != nil {
				t.Fatal(err)
			}
			walked := plan.Normalize()
			if len(walked.Loops) != tt.loops || walked.Slice != tt.slice {
				t.Errorf("%d loops around slices of %d, want %d around %d: %+v", len(walked.Loops), walked.Slice, tt.loops, tt.slice, walked.Loops)
			}
			if !maps.Equal(places(plan), places(walked)) {
				t.Error("an element of the result came from elsewhere")
			}
		})
	}
}

// places returns, for each element of the result, its positions in data and in
// the indices.
func places(p *garner.Plan) map[int][2]int {
	m := map[int][2]int{}
	var walk func(loops []garner.Loop, out, data, index int)
	walk = func(loops []garner.Loop, out, data, index int) {
		if len(loops) == 0 {
			for e := range p.Slice {
				m[out+e] = [2]int{data + e, index}
			}
			return
		}
		l := loops[0]
		for c := range l.Extent {
			walk(loops[1:], out+c*l.Out, data+c*l.Data, index+c*l.Index)
		}
	}
	walk(p.Loops, 0, 0, 0)
	return m
}
