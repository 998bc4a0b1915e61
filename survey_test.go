package garner_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/openvino"
	"github.com/garner-go/garner/stablehlo"
	"github.com/garner-go/garner/strict"
	"github.com/garner-go/garner/torch"
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

// TestSurveyOfBags holds that Check and Survey say what a gather into bags does: of terms
// that count nowhere (R.29), of ends (R.31, R.32) and of the row of empty bags (R.33).
func TestSurveyOfBags(t *testing.T) {
	data := garner.Of([]float32{1, 2, 3, 4}, 2, 2)
	weights := func(w ...float32) garner.Tensor { return garner.Of(w, len(w)) }
	ids := func(v ...int64) garner.Tensor { return garner.Of(v, len(v)) }
	first := garner.PositionAt(0)
	for name, c := range map[string]struct {
		bag              garner.Bag
		negative         garner.Negative
		indices          garner.Tensor
		ends, weights    garner.Tensor
		leftOut, refused int
		want             string
	}{
		"weightless":         {garner.Bag{Ends: garner.Starts, EndsAt: garner.PositionAt(0), WeightsAt: garner.PositionAt(1), SkipWeightless: true}, garner.Reject, ids(0, 9, 1), ids(0, 2), weights(1, 0, 1), 1, 0, ""},
		"one that counts":    {garner.Bag{Ends: garner.Starts, EndsAt: garner.PositionAt(0), WeightsAt: garner.PositionAt(1), SkipWeightless: true}, garner.Reject, ids(0, 9, 1), ids(0, 2), weights(0, 1, 1), 1, 1, "indices[1] = 9 is outside axis 0 of data, which has 0…1"},
		"no weights":         {garner.Bag{Ends: garner.Starts, EndsAt: garner.PositionAt(0), SkipWeightless: true}, garner.Reject, ids(0, 1), ids(0, 2), garner.Tensor{}, 0, 0, ""},
		"negative":           {garner.Bag{Ends: garner.Starts, EndsAt: garner.PositionAt(0), SkipNegative: true}, garner.Reject, ids(0, -5, 1), ids(0, 2), garner.Tensor{}, 1, 0, ""},
		"negative, from end": {garner.Bag{Ends: garner.Starts, EndsAt: garner.PositionAt(0), SkipNegative: true}, garner.FromEnd, ids(0, -1, 1), ids(0, 2), garner.Tensor{}, 1, 0, ""},
		"padding":            {garner.Bag{Ends: garner.Starts, EndsAt: garner.PositionAt(0), Padding: garner.PositionAt(1)}, garner.Reject, ids(0, 1, 1), ids(0, 2), garner.Tensor{}, 2, 0, ""},
		"ends too far":       {garner.Bag{Ends: garner.Starts, EndsAt: garner.PositionAt(0)}, garner.Reject, ids(0, 9, 1), ids(0, 9), garner.Tensor{}, 0, 1, "ends[1] = 9 passes the end; there are 3 indices"},
		"ends that fall":     {garner.Bag{Ends: garner.Bounds, EndsAt: garner.PositionAt(0)}, garner.Reject, ids(0, 1, 1), ids(0, 2, 1), garner.Tensor{}, 0, 0, "ends[2] = 1, and the one before is 2; they must not fall"},
		"a bag outside":      {garner.Bag{Ends: garner.Segments, EndsAt: garner.PositionAt(0)}, garner.Reject, ids(0, 1, 1), ids(0, 1, 7), garner.Tensor{}, 0, 0, "ends[2] = 7 is outside the result, which has bags 0…3"},
		"an empty bag":       {garner.Bag{Ends: garner.Segments, EndsAt: garner.PositionAt(0), Empty: garner.PositionAt(5), EmptyOnUse: true}, garner.Reject, ids(0, 1, 1), ids(0, 1, 3), garner.Tensor{}, 0, 0, "default = 5 is outside axis 0 of data, which has 0…1"},
		"bags that are full": {garner.Bag{Ends: garner.Segments, EndsAt: garner.PositionAt(0), Empty: first, EmptyOnUse: true}, garner.Reject, ids(0, 1, 1), ids(0, 1, 3), garner.Tensor{}, 0, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var op garner.Op = bagsOf{c.bag}
			if c.bag.Ends == garner.Segments {
				op = segmentsOf{c.bag}
			}
			op = garner.WithNegative(op, c.negative)
			more := []garner.Tensor{c.ends, c.weights}
			_, want := garner.Gather(op, data, c.indices, more...)
			if got := fmt.Sprint(want); c.want == "" && want != nil || c.want != "" && got != "garner: "+c.want {
				t.Fatalf("a gather gives %v, want %q", want, c.want)
			}
			p, err := garner.Prepare(op, data.Spec(), c.indices.Spec(), garner.FurtherTensors(more...))
			if err != nil {
				t.Fatal(err)
			}
			plan := p.Plan()
			if err := plan.Check(t.Context(), c.indices, more...); fmt.Sprint(err) != fmt.Sprint(want) {
				t.Errorf("Check gives %v, the gather %v", err, want)
			}
			s, err := plan.Survey(t.Context(), c.indices, more...)
			if err != nil || fmt.Sprint(s.Err()) != fmt.Sprint(want) || s.LeftOut != c.leftOut || s.Refused != c.refused || s.Filled+s.FromEnd+s.Moved != 0 {
				t.Errorf("Survey gives %+v, %v; the gather %v", s, err, want)
			}
			left := 0
			for i := range c.indices.Len() {
				m, err := plan.Meaning(c.indices, i, more...)
				if err != nil {
					t.Fatal(err)
				}
				if m.LeftOut {
					left++
					if m.At != -1 || m.Outside || m.Refused {
						t.Errorf("index %d: %+v", i, m)
					}
				}
			}
			if left != c.leftOut {
				t.Errorf("%d indices are left out, want %d", left, c.leftOut)
			}
			// Operands that the plan was not made for are refused.
			for i, bad := range []garner.Tensor{garner.Of([]float32{1}, 1), garner.Of([]string{"a", "b", "c"}, 3), ids(1, 2, 3, 4, 5, 6, 7)} {
				if !c.bag.WeightsAt.Given && i > 0 {
					continue
				}
				others := []garner.Tensor{bad}
				if i > 0 {
					others = []garner.Tensor{{}, bad}
				}
				if _, err := plan.Survey(t.Context(), c.indices, others...); !errors.Is(err, garner.ErrShape) && !errors.Is(err, garner.ErrDType) {
					t.Errorf("operands %v: %v", others, err)
				}
			}
		})
	}
}

// segmentsOf reduces rows of a matrix into four bags.
type segmentsOf struct{ bag garner.Bag }

func (segmentsOf) Operands() []garner.Operand { return bagsOf{}.Operands() }

func (b segmentsOf) Lower(l *garner.Lowering) {
	l.NeedNumbers(true)
	l.NeedRanks(1, 1).Bags(b.bag, garner.Exactly(4)).NameEmpty("default").Copy()
}

// unnamed reduces rows, and has no name for the row of bags without terms.
type unnamed struct{ bag garner.Bag }

func (unnamed) Operands() []garner.Operand { return bagsOf{}.Operands() }

func (u unnamed) Lower(l *garner.Lowering) { l.Bags(u.bag, garner.AnyDim).Copy() }

// TestEmptyWithoutName holds that the error of an empty row says what it is where the
// operator has no name for it (R.33).
func TestEmptyWithoutName(t *testing.T) {
	op := unnamed{garner.Bag{Ends: garner.Starts, EndsAt: garner.PositionAt(0), Empty: garner.PositionAt(5)}}
	_, err := garner.Gather(op, garner.Of([]float32{1, 2}, 2, 1), garner.Of([]int64{0}, 1), garner.Of([]int64{0}, 1))
	if want := "garner: the row of empty bags = 5 is outside axis 0 of data, which has 0…1"; !errors.Is(err, garner.ErrIndex) || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}

// TestChecksOfBagsStop holds that a context ends the checks of the ends of bags and the
// search for an empty one, and that the latter is one pass.
func TestChecksOfBagsStop(t *testing.T) {
	const n = 1 << 20
	segments := make([]int64, n)
	for i := range segments {
		segments[i] = int64(i)
	}
	data, indices := garner.Of(make([]float32, 4), 4, 1), garner.Of(make([]int8, n), n)
	for name, c := range map[string]struct {
		bag  garner.Bag
		last int64 // the last segment
		bags int
	}{
		"ends that fall": {garner.Bag{Ends: garner.Segments, EndsAt: garner.PositionAt(0)}, 0, n},
		"ends outside":   {garner.Bag{Ends: garner.Segments, EndsAt: garner.PositionAt(0)}, n, n},
		"no empty bag":   {garner.Bag{Ends: garner.Segments, EndsAt: garner.PositionAt(0), Empty: garner.PositionAt(9), EmptyOnUse: true}, n - 1, n},
	} {
		t.Run(name, func(t *testing.T) {
			segments[n-1] = c.last
			ends := garner.Of(segments, n)
			op := countedOf{segmentsOf{c.bag}, c.bags}
			p, err := garner.Prepare(op, data.Spec(), indices.Spec(), garner.FurtherTensors(ends))
			if err != nil {
				t.Fatal(err)
			}
			for after := int64(0); after < 2000; after += 100 {
				ctx := &lateContext{Context: t.Context(), after: after}
				err := p.Plan().Check(ctx, indices, ends)
				if ctx.asked.Load() < after {
					if after == 0 || (err == nil) != (c.last == n-1) {
						t.Errorf("after %d looks at the context: %v", ctx.asked.Load(), err)
					}
					break // the check ends sooner
				}
				// Each goroutine looks once more, and so does each function that it ends.
				if more := ctx.asked.Load() - after; !errors.Is(err, context.Canceled) || more > int64(8+4*runtime.GOMAXPROCS(0)) {
					t.Errorf("cancelled after %d looks, and %d more: %v", after, more, err)
				}
			}
		})
	}
}

// countedOf is segmentsOf into another number of bags.
type countedOf struct {
	segmentsOf
	bags int
}

func (c countedOf) Lower(l *garner.Lowering) {
	l.NeedNumbers(true)
	l.NeedRanks(1, 1).Bags(c.bag, garner.Exactly(c.bags)).Copy()
}

// A lateContext is cancelled once its Err was called so many times.
type lateContext struct {
	context.Context
	after int64
	asked atomic.Int64
}

func (c *lateContext) Err() error {
	if c.asked.Add(1) > c.after {
		return context.Canceled
	}
	return nil
}

// TestCheckOfOtherStrides holds that Check looks at the indices it is given, whatever
// strides the plan was made for: parts of wider indices, and columns of them.
func TestCheckOfOtherStrides(t *testing.T) {
	data := garner.Of(make([]float32, 10), 5, 2)
	for name, values := range map[string][]int64{
		"outside in the part":       {0, 1, 2, 3, 4, 0, 99, 98},
		"outside beside the part":   {0, 1, 2, 3, 77, 78, 0, 4},
		"outside in the first rows": {0, 1, 99, 3, 4, 0, 1, 2},
	} {
		wide := garner.Of(values, 2, 4)
		part, err := wide.Slice(1, 2, 4, 1)
		if err != nil {
			t.Fatal(err)
		}
		turned, err := garner.Of(values[4:], 2, 2).Transpose(1, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, indices := range []garner.Tensor{part, turned} {
			for _, op := range []garner.Op{onnx.Gather13{}, torch.EmbeddingBag{Mode: "sum"}} {
				p, err := garner.NewPlan(op, data.Spec(), garner.SpecOf(garner.I64, 2, 2))
				if err != nil {
					t.Fatal(err)
				}
				s, err := p.Survey(t.Context(), indices)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := p.Check(t.Context(), indices), s.Err(); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s, %T, strides %v: Check: %v; Survey: %v", name, op, indices.Strides(), got, want)
				}
			}
		}
	}
}
