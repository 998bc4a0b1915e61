package run_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// bagOf is one bag of a table of TensorFlow.
func bagOf(reduction string, table garner.Tensor, ids ...int64) *model.Node {
	return node("tensorflow.sparse_segment_"+reduction, 1, nil, table, vec(ids...), vec(make([]int64, len(ids))...))
}

// TestAmendedBags gives bags of TensorFlow another policy: it is that of those of ten terms and more, which are added
// in eights, too.
func TestAmendedBags(t *testing.T) {
	half, err := garner.FromBytes(garner.F16, []byte{0, 0x3c, 0, 0x40, 0, 0x44}, 3, 1) // 1, 2, 4
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		policy func(op garner.Op) garner.Op
		bad    int64
		text   string // what the row is
	}{
		{func(op garner.Op) garner.Op { return garner.WithOutside(op, garner.Clamp) }, 7, "4"},
		{func(op garner.Op) garner.Op { return garner.WithOutside(op, garner.Wrap) }, 7, "2"},
		{func(op garner.Op) garner.Op { return garner.WithOutside(op, garner.Zero) }, 7, "0"},
		{func(op garner.Op) garner.Op { return garner.WithFillText(op, "8") }, 7, "8"},
		{func(op garner.Op) garner.Op { return garner.WithNegative(op, garner.FromEnd) }, -2, "2"},
	} {
		for _, table := range []garner.Tensor{half, garner.Of([]float32{1, 2, 4}, 3, 1), garner.Of([]float64{1, 2, 4}, 3, 1)} {
			for _, terms := range []int{8, 16, 32} {
				ids := make([]int64, terms)
				ids[3], ids[terms-1] = tt.bad, tt.bad
				row, err := garner.New(garner.F32)
				if err == nil {
					err = row.SetText(0, tt.text)
				}
				if err != nil {
					t.Fatal(err)
				}
				value, err := row.Float64(0)
				if err != nil {
					t.Fatal(err)
				}
				for reduction, by := range map[string]float64{"sum": 1, "mean": float64(terms)} {
					n := bagOf(reduction, table, ids...)
					got, err := run.Values(context.Background(), of("TensorFlow", n), n.Outputs, nil, 1<<20, run.Amend(func(g run.Gather) (garner.Op, error) { return tt.policy(g.Op), nil }))
					if err != nil {
						t.Errorf("%s of %d terms of %s: %v", reduction, terms, table.DType(), err)
						continue
					}
					if v, err := got[0].Float64(0); err != nil || v != (float64(terms-2)+2*value)/by {
						t.Errorf("%s of %d terms of %s, two of %s: %v, %v", reduction, terms, table.DType(), tt.text, v, err)
					}
				}
			}
		}
	}
}

// TestDenormalBags refuses bags of which TensorFlow takes a term, a sum or a mean for 0.
func TestDenormalBags(t *testing.T) {
	const least = 0x1p-126
	brain, err := garner.FromBytes(garner.BF16, []byte{0x10, 0, 0x80, 0x3f}, 2, 1) // 2⁻¹³¹, 1
	if err != nil {
		t.Fatal(err)
	}
	half, err := garner.FromBytes(garner.F16, []byte{1, 0}, 1, 1) // 2⁻²⁴
	if err != nil {
		t.Fatal(err)
	}
	single := func(v ...float32) garner.Tensor { return garner.Of(v, len(v), 1) }
	for _, tt := range []struct {
		reduction string
		table     garner.Tensor
		ids       []int64
		refused   bool
	}{
		{"sum", single(1e-40), []int64{0}, false}, // a copy
		{"sum", single(1e-40), []int64{0, 0}, true},
		{"sum", single(1e-40), make([]int64, 12), true},
		{"sum", single(1e-40, 1), []int64{1, 1}, false},
		{"mean", single(1e-40), make([]int64, 4), true},
		{"sqrtn", garner.Of([]float64{1e-310}, 1, 1), make([]int64, 4), true},
		{"sum", garner.Of([]float64{1e-300}, 1, 1), make([]int64, 12), false},
		{"sum", brain, []int64{0, 1}, true},
		{"sum", brain, []int64{1, 1}, false},
		{"sum", half, make([]int64, 12), false},
		{"sum", single(1.5*least, -least, least), []int64{0, 1, 2}, true}, // the sum of the first two
		{"sum", single(1.5*least, -least, least), []int64{0, 2, 1}, false},
		{"sum", single(1.5*least, -least, 1), append(slices.Repeat([]int64{2}, 8), 0, 1, 2, 2, 2, 2, 2, 2), true}, // in the second eight
		{"sum", single(1.5*least, least, -least), append(slices.Repeat([]int64{0}, 8), slices.Repeat([]int64{2}, 8)...), false},
		{"sum", single(least, -least, -1.25*least), []int64{0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 2, 0, 0}, true},
		{"mean", single(least, 0), []int64{0, 1}, true}, // the quotient
		{"sum", single(least, 0), []int64{0, 1}, false},
	} {
		_, err := last(of("TensorFlow", bagOf(tt.reduction, tt.table, tt.ids...)), 1<<20)
		if tt.refused != errors.Is(err, garner.ErrDType) || err != nil && !strings.Contains(err.Error(), "a denormal number, which the runtime takes for 0") {
			t.Errorf("%s of %s at %v: %v", tt.reduction, tt.table.Text(), tt.ids, err)
		}
	}
}
