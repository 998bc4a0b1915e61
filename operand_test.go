package garner_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
)

// shifted gathers along axis 0 and takes further operands, whose ranks it checks.
type shifted struct{}

func (shifted) Operands() []garner.Operand {
	return []garner.Operand{
		{Name: "ends", Types: garner.IntegerTypes},
		{Name: "scale", Types: garner.DataType, Optional: true},
		{Name: "any", Optional: true},
	}
}

func (shifted) Lower(l *garner.Lowering) {
	l.NeedRanks(1, 0)
	if ends, ok := l.Operand("ends"); ok && ends.Rank.Min > 1 {
		l.Fail(garner.KindRank, "ends %s have rank %d", ends, ends.Rank.Min)
	}
	if scale, ok := l.Operand("scale"); ok && scale.Rank.Min > 0 {
		l.Fail(garner.KindRank, "scale %s is no scalar", scale)
	}
	l.Gather().Tuples().Copy()
}

// TestFurtherOperands holds that every way to run an operator takes its further
// operands alike.
func TestFurtherOperands(t *testing.T) {
	data, at := garner.Of([]float32{1, 2, 3}, 3), garner.Of([]int64{2, 0}, 2)
	ends, scale := garner.Of([]int32{1}, 1), garner.Of([]float32{2})
	want := garner.Of([]float32{3, 1}, 2)
	none := garner.Tensor{}
	for _, more := range [][]garner.Tensor{{ends}, {ends, scale}, {ends, none, scale}, {ends, none, none, none}} { // R.28
		gathertest.Check(t, shifted{}, data, at, want, more...)
		gathertest.Check(t, garner.WithOutside(shifted{}, garner.Zero), data, at, want, more...)
		part, err := garner.ReferenceParts(shifted{}, data, at, more...)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := part(1, 1); err != nil || got.Text() != "[1.0]" {
			t.Errorf("a part: %v, %v", got, err)
		}
		out := garner.Of([]float32{0, 0}, 2)
		if err := garner.GatherInto(t.Context(), shifted{}, data, at, out, more...); err != nil || !gathertest.Equal(out, want) {
			t.Errorf("GatherInto: %v, %v", out, err)
		}
	}
	for _, tt := range []struct {
		more    []garner.Tensor
		class   error
		message string
	}{
		{[]garner.Tensor{scale}, garner.ErrDType, "ends is f32; it must be an integer type"},                                            // R.26
		{[]garner.Tensor{ends, ends}, garner.ErrDType, "scale is i32 and data f32; they must be equal"},                                 // R.26
		{[]garner.Tensor{scale, none, none, ends}, garner.ErrDType, "ends is f32"},                                                      // R.26 before R.27
		{nil, garner.ErrAttribute, "the operator needs its operand ends, number 3"},                                                     // R.27
		{[]garner.Tensor{none, scale}, garner.ErrAttribute, "the operator needs its operand ends"},                                      // R.27
		{[]garner.Tensor{ends, none, none, ends}, garner.ErrAttribute, "the operator takes 5 operands; 6 were given"},                   // R.27
		{[]garner.Tensor{garner.Of([]int32{1}, 1, 1)}, garner.ErrShape, "ends i32[1,1] have rank 2"},                                    // the operator's own
		{[]garner.Tensor{garner.Of([]int32{1}, 1, 1), garner.Of([]float32{1}, 1), none, ends}, garner.ErrAttribute, "takes 5 operands"}, // R.27 before shapes
		{[]garner.Tensor{ends, garner.Of([]float32{1}, 1)}, garner.ErrShape, "scale f32[1] is no scalar"},                               // the operator's own
		{[]garner.Tensor{ends, garner.Of([]float32{1, 2}, 2)}, garner.ErrShape, "scale f32[2] is no scalar"},                            // the operator's own
	} {
		if message := gathertest.CheckError(t, shifted{}, data, at, tt.class, tt.more...); !strings.Contains(message, tt.message) {
			t.Errorf("%q does not say %q", message, tt.message)
		}
	}
	// An operator that takes none.
	if _, err := garner.Gather(plain{}, data, at, ends); !errors.Is(err, garner.ErrAttribute) || !strings.Contains(err.Error(), "takes 2 operands; 3 were given") {
		t.Errorf("one too many: %v", err)
	}
	if _, err := garner.Gather(plain{}, data, at, none, none); err != nil { // R.28
		t.Errorf("zero tensors: %v", err)
	}
}

// plain gathers along axis 0 and takes no further operand.
type plain struct{}

func (plain) Lower(l *garner.Lowering) { l.NeedRanks(1, 0).Gather().Tuples().Copy() }

// TestPreparedFurtherOperands holds what a Prepared accepts in place of the
// operands that it was prepared for.
func TestPreparedFurtherOperands(t *testing.T) {
	data, at := garner.Of([]float32{1, 2, 3}, 3), garner.Of([]int64{2, 0}, 2)
	out := garner.Of([]float32{0, 0, 0, 0}, 4)
	half, err := out.Slice(0, 0, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	other, err := out.Slice(0, 1, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	overlapping, err := other.Reshape()
	if err != nil {
		t.Fatal(err)
	}
	ends := garner.Of([]int32{1}, 1)
	p, err := garner.Prepare(shifted{}, data.Spec(), at.Spec(), garner.Further(garner.SpecOfDims(garner.I32, garner.Exactly(1)), garner.SpecOf(garner.F32)))
	if err != nil {
		t.Fatal(err)
	}
	scale, none := garner.Of([]float32{2}), garner.Tensor{}
	for _, tt := range []struct {
		more  []garner.Tensor
		class error
	}{
		{[]garner.Tensor{ends, scale}, nil},
		{[]garner.Tensor{ends, scale, none, none}, nil},
		{[]garner.Tensor{ends}, garner.ErrAttribute},
		{nil, garner.ErrAttribute},
		{[]garner.Tensor{ends, scale, ends}, garner.ErrAttribute},
		{[]garner.Tensor{ends, scale, none, ends}, garner.ErrAttribute},
		{[]garner.Tensor{garner.Of([]int64{1}, 1), scale}, garner.ErrDType},
		{[]garner.Tensor{garner.Of([]int32{1, 2}, 2), scale}, garner.ErrShape},
		{[]garner.Tensor{ends, overlapping}, garner.ErrOverlap}, // R.17
	} {
		if err := p.Run(context.Background(), data, at, half, tt.more...); !errors.Is(err, tt.class) {
			t.Errorf("%v: %v, want %v", tt.more, err, tt.class)
		}
	}
	// Indices of any length, of which one is outside.
	batches, err := garner.Prepare(shifted{}, data.Spec(), garner.SpecOfDims(garner.I64, garner.AnyDim), garner.Further(ends.Spec()))
	if err != nil {
		t.Fatal(err)
	}
	if err := batches.Run(t.Context(), data, at, half, ends); err != nil {
		t.Error(err)
	}
	if err := batches.Run(t.Context(), data, garner.Of([]int64{2, 3}, 2), half, ends); !errors.Is(err, garner.ErrIndex) {
		t.Errorf("an index outside: %v", err)
	}
	if err := batches.Run(t.Context(), data, at, out, ends); !errors.Is(err, garner.ErrShape) || !strings.Contains(err.Error(), "the output is") {
		t.Errorf("an output of another shape: %v", err)
	}
	run := func() {
		if err := p.Run(context.Background(), data, at, half, ends, scale); err != nil {
			t.Error(err)
		}
	}
	if n := testing.AllocsPerRun(100, run); n > 0 && !raceEnabled {
		t.Errorf("%v allocations a run", n)
	}
}

// whole copies data: an Unindexed that decodes nothing.
type whole struct{}

func (whole) Lower(l *garner.Lowering) { l.Copy() }
func (whole) Unindexed()               {}

// TestUnindexed holds that every way to run takes an operator over data alone, and that
// none takes indices (R.36).
func TestUnindexed(t *testing.T) {
	data := garner.Of([]int32{1, 2, 3, 4, 5, 6}, 2, 3)
	turned, err := data.Transpose(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	none, one := garner.Tensor{}, garner.Of([]int64{0})
	for name, data := range map[string]garner.Tensor{"dense": data, "turned": turned} {
		for name, op := range map[string]garner.Op{name: whole{}, name + ", with a policy": garner.WithOutside(whole{}, garner.Zero)} {
			gathertest.Check(t, op, data, none, data)
			if spec, err := garner.Infer(op, data.Spec(), garner.Spec{}); err != nil || spec.String() != garner.SpecOf(garner.I32, data.Shape()...).String() {
				t.Errorf("%s: Infer gives %v, %v", name, spec, err)
			}
			p, err := garner.Prepare(op, data.Spec(), garner.Spec{})
			if err != nil {
				t.Fatal(err)
			}
			out, err := garner.New(garner.I32, data.Shape()...)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Run(t.Context(), data, none, out); err != nil || !gathertest.Equal(out, data) {
				t.Errorf("%s: Run gives %v, %v", name, out, err)
			}
			if err := garner.RunAll(t.Context(), []garner.Call{{Prepared: p, Data: data, Out: out}}); err != nil {
				t.Errorf("%s: RunAll: %v", name, err)
			}
			if err := p.Run(t.Context(), data, one, out); !errors.Is(err, garner.ErrAttribute) {
				t.Errorf("%s, with indices: %v", name, err)
			}
			if err := p.Plan().Check(t.Context(), none); err != nil {
				t.Errorf("%s: Check: %v", name, err)
			}
			if s, err := p.Plan().Survey(t.Context(), none); err != nil || s.Err() != nil {
				t.Errorf("%s: Survey: %v, %v", name, s, err)
			}
		}
	}
}
