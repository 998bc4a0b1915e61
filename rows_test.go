package garner_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/openvino"
	"github.com/garner-go/garner/strict"
)

// TestRowsInOrder writes results from their beginning to their end, a few rows
// at a time, and holds them against the definition.
func TestRowsInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for turn := range 300 {
		dims := []int{1 + r.IntN(3), 1 + r.IntN(4), 1 + r.IntN(3), 1 + r.IntN(3)}
		axis := r.IntN(4)
		var op garner.Op
		var shape []int
		switch turn % 4 {
		case 0:
			batch := r.IntN(axis + 1)
			op, shape = openvino.Gather8{Axis: axis, BatchDims: batch}, append(append([]int{}, dims[:batch]...), r.IntN(4), 2)
		case 1:
			op, shape = onnx.GatherElements13{Axis: axis}, append([]int{}, dims...)
			shape[axis] = 1 + r.IntN(5)
		case 2:
			op, shape = onnx.GatherND13{BatchDims: 1}, []int{dims[0], 3, r.IntN(4)}
		default:
			op, shape = garner.WithOutside(onnx.Gather13{Axis: axis}, garner.Clamp), []int{4, 2}
		}
		base, err := garner.New(garner.F32, dims[1], dims[0], dims[3], dims[2])
		if err != nil {
			t.Fatal(err)
		}
		elements, _ := garner.Values[float32](base)
		for i := range elements {
			elements[i] = float32(i + 1)
		}
		data, err := base.Transpose(1, 0, 3, 2)
		if turn%3 == 0 {
			data, err = base.Reshape(dims...)
		}
		if err != nil {
			t.Fatal(err)
		}
		indices, _ := garner.New(garner.I64, shape...)
		at, _ := garner.Values[int64](indices)
		for i := range at {
			at[i] = int64(r.IntN(6)) - 1
		}
		plan, err := garner.NewPlan(op, data.Spec(), indices.Spec())
		if err != nil {
			t.Fatal(err)
		}
		about := fmt.Sprintf("%T %v at %v", op, data.Spec(), indices)
		want, wantErr := garner.Reference(op, data, indices)
		if err := plan.Check(t.Context(), indices); fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%s: Check says %v, want %v", about, err, wantErr)
		}
		o := plan.InOrder()
		total, _ := plan.Out.Len()
		flat := make([]float32, 0, total)
		rows := make([]int64, 1+r.IntN(5))
		for first, n := 0, total/max(o.Slice, 1); first < n; first += len(rows) {
			part := rows[:min(len(rows), n-first)]
			filled, err := o.Rows(part, indices, first)
			if err != nil {
				if wantErr == nil || !errors.Is(err, garner.ErrIndex) {
					t.Fatalf("%s: %v", about, err)
				}
				break
			}
			for _, row := range part {
				if row < 0 {
					filled--
					flat = append(flat, make([]float32, o.Slice)...)
					continue
				}
				flat = append(flat, elements[row:row+int64(o.Slice)]...)
			}
			if filled != 0 {
				t.Fatalf("%s: %d rows more are filled than are", about, filled)
			}
		}
		if wantErr == nil {
			got, err := garner.FromSlice(flat, plan.Out...)
			if err != nil || !gathertest.Equal(got, want) {
				t.Fatalf("%s: %v, want %v", about, got, want)
			}
		}
	}
}

func TestRowsRefuse(t *testing.T) {
	data, indices := garner.SpecOf(garner.F32, 5, 3), garner.Of([]int64{4, 0, 2, 1}, 2, 2)
	plan, err := garner.NewPlan(onnx.Gather13{}, data, indices.Spec())
	if err != nil {
		t.Fatal(err)
	}
	o := plan.InOrder()
	rows := make([]int64, 4)
	if n, err := o.Rows(nil, garner.Tensor{}, 4); n != 0 || err != nil {
		t.Error(n, err)
	}
	for _, first := range []int{-1, 1, 5} {
		if _, err := o.Rows(rows, indices, first); !errors.Is(err, garner.ErrShape) {
			t.Errorf("from %d on: %v", first, err)
		}
	}
	if _, err := o.Rows(rows, garner.Of([]int32{4, 0, 2, 1}, 2, 2), 0); !errors.Is(err, garner.ErrDType) {
		t.Error(err)
	}
	turned, _ := indices.Transpose()
	backwards, _ := indices.Slice(0, 1, -1, -1)
	if _, err := o.Rows(rows, backwards, 0); !errors.Is(err, garner.ErrShape) {
		t.Error(err)
	}
	if err := o.Check(t.Context(), garner.Of([]int64{1}, 1)); !errors.Is(err, garner.ErrShape) {
		t.Error(err)
	}
	if err := o.Check(t.Context(), turned); err != nil && !errors.Is(err, garner.ErrShape) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if err := o.Check(ctx, indices); err != cause {
		t.Error(err)
	}
	if _, err := o.SurveyPart(ctx, indices, 0); err != cause {
		t.Error(err)
	}
	if _, err := o.SurveyPart(t.Context(), indices, 1); !errors.Is(err, garner.ErrShape) {
		t.Error(err)
	}
	if _, err := o.SurveyPart(t.Context(), garner.Of([]int32{4}, 1), 1); !errors.Is(err, garner.ErrDType) {
		t.Error(err)
	}
}

// TestSurveyParts adds the surveys of parts.
func TestSurveyParts(t *testing.T) {
	values := []int64{1, -2, 9, 0, 4, -7, 3, 8, 9, 9}
	indices := garner.Of(values, 5, 2)
	for _, op := range []garner.Op{
		onnx.Gather13{}, onnx.GatherND13{}, openvino.Gather8{}, garner.WithOutside(onnx.Gather13{}, garner.Clamp),
	} {
		plan, err := garner.NewPlan(op, garner.SpecOf(garner.U8, 4, 9), indices.Spec())
		if err != nil {
			t.Fatal(err)
		}
		want, err := plan.Survey(t.Context(), indices)
		if err != nil {
			t.Fatal(err)
		}
		for size := 1; size <= len(values); size++ {
			var all garner.Survey
			for first := 0; first < len(values); first += size {
				part := values[first:min(first+size, len(values))]
				s, err := plan.SurveyPart(t.Context(), garner.Of(part, len(part)), first)
				if err != nil {
					t.Fatal(err)
				}
				all.Add(s)
			}
			say := func(s garner.Survey) string {
				return fmt.Sprint(s.Indices, s.FromEnd, s.Moved, s.Filled, s.Refused, s.First)
			}
			if say(all) != say(want) {
				t.Errorf("%T in parts of %d: %s, want %s", op, size, say(all), say(want))
			}
		}
	}
	none, err := garner.NewPlan(onnx.GatherND13{BatchDims: 1}, garner.SpecOf(garner.U8, 5, 9), garner.SpecOf(garner.I64, 5, 0))
	if err != nil {
		t.Fatal(err)
	}
	empty, _ := garner.New(garner.I64, 5, 0)
	if s, err := none.SurveyPart(t.Context(), empty, 0); err != nil || s.Indices != 0 {
		t.Error(s, err)
	}
	if err := none.Check(t.Context(), empty); err != nil {
		t.Error(err)
	}
	rows := make([]int64, 5)
	if _, err := none.Rows(rows[:5], empty, 0); err != nil && !strings.Contains(err.Error(), "rows") {
		t.Error(err)
	}
}

// TestRowsCountsFillsOnce holds that a tuple with several components outside
// counts as one fill, and that Rows refuses negative strides of data under a
// fill.
func TestRowsCountsFillsOnce(t *testing.T) {
	data, at := garner.Of(make([]float32, 12), 2, 2, 3), garner.Of([]uint32{9, 9, 1, 1, 0, 9}, 3, 2)
	p, err := garner.Prepare(garner.WithOutside(strict.GatherND{}, garner.Zero), data.Spec(), at.Spec())
	if err != nil {
		t.Fatal(err)
	}
	plan := p.Plan().InOrder()
	rows := make([]int64, 3)
	if filled, err := plan.Rows(rows, at, 0); err != nil || filled != 2 || !slices.Equal(rows, []int64{-1, 9, -1}) {
		t.Errorf("%v, %d filled, %v", rows, filled, err)
	}
	back, err := garner.Of([]int16{10, 11, 12, 13}, 4).Slice(0, 3, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	one := garner.Of([]int64{1}, 1)
	if p, err = garner.Prepare(strict.Gather{}, back.Spec(), one.Spec()); err != nil {
		t.Fatal(err)
	}
	run, err := garner.New(garner.I16, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(context.Background(), back, one, run); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Plan().Rows(rows[:1], one, 0); err != nil || rows[0] != -1 {
		t.Errorf("%v, %v", rows, err) // there are no fills
	}
	if p, err = garner.Prepare(garner.WithOutside(strict.Gather{}, garner.Zero), back.Spec(), one.Spec()); err != nil {
		t.Fatal(err)
	}
	if err := p.Run(context.Background(), back, one, run); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Plan().Rows(rows[:1], one, 0); !errors.Is(err, garner.ErrShape) {
		t.Errorf("%v, want an ErrShape", err)
	}
	if err := p.Plan().Check(context.Background(), one); err != nil {
		t.Error(err)
	}
}

// TestPlansByHand holds that plans which were written or changed by hand answer
// with an error where they make no sense, and never panic.
func TestPlansByHand(t *testing.T) {
	made, err := garner.NewPlan(onnx.GatherND13{}, garner.SpecOf(garner.I32, 3, 3), garner.SpecOf(garner.I64, 4, 2))
	if err != nil {
		t.Fatal(err)
	}
	changed := *made
	changed.Loops, changed.Indices = nil, garner.Shape{2}
	bare := garner.Plan{DType: garner.I32, IndexType: garner.I64, Out: garner.Shape{2}, Indices: garner.Shape{2}, Slice: 1,
		Loops: []garner.Loop{{Extent: 2, Index: 1, Out: 1}}, Axes: []garner.Axis{{Dim: 3, Data: 1}}}
	two := bare
	two.Axes = []garner.Axis{{Dim: 3, Data: 1}, {Dim: 3, Data: 3}}
	fill := bare
	fill.Outside = garner.Fill
	deep := bare
	deep.Loops = slices.Repeat([]garner.Loop{{Extent: 1}}, 1000)
	flat := bare
	flat.Axes = []garner.Axis{{Dim: 3, Data: 1, Parts: []garner.Part{{}}}}
	hollow := bare
	hollow.Axes = []garner.Axis{{Dim: -3, Data: 1}}
	for name, p := range map[string]garner.Plan{"changed": changed, "bare": bare, "two": two, "fill": fill, "deep": deep, "flat": flat, "hollow": hollow} {
		for _, values := range [][]int64{{1, 2}, {9, -9}} {
			indices := garner.Of(values, 2)
			n := 1
			for _, l := range p.Loops {
				n *= l.Extent
			}
			rows := make([]int64, n)
			if filled, err := p.Rows(rows, indices, 0); name == "fill" && (err != nil || filled != 0 && values[0] == 1) {
				t.Errorf("%s: %d rows are fills, %v", name, filled, err)
			} else if err == nil && name != "fill" && values[0] == 9 {
				t.Errorf("%s: an index outside is accepted", name)
			}
			p.Check(t.Context(), indices)
			p.Survey(t.Context(), indices)
			p.Meaning(indices, 1)
			p.Normalize()
		}
	}
	var bad *garner.IndexError
	if err := bare.Check(t.Context(), garner.Of([]int64{1, 9}, 2)); !errors.As(err, &bad) || bad.Position[0] != 1 {
		t.Errorf("%v, want index 1", err)
	}
}
