package trail_test

import (
	"testing"

	"github.com/garner-go/garner/internal/trail"
	"github.com/garner-go/garner/model"
)

// TestTrail holds that each value of a chain is visited once, whichever is asked for
// first, and that a value of itself ends.
func TestTrail(t *testing.T) {
	const n = 1000
	values := []*model.Value{{}}
	for range n {
		last := values[len(values)-1]
		values = append(values, &model.Value{From: &model.Node{Inputs: []*model.Value{last}}})
	}
	visits := 0
	lengths := trail.New(func(v *model.Value) *model.Value {
		visits++
		if v.From == nil {
			return nil
		}
		return v.From.Inputs[0]
	}, func(*model.Value) int { return 1 }, func(_ *model.Value, before int) int { return before + 1 })
	for _, i := range []int{n / 2, n, 0, n - 1, n / 4} {
		if got := lengths.Of(values[i]); got != i+1 {
			t.Errorf("value %d: %d", i, got)
		}
	}
	if visits != n+1 {
		t.Errorf("%d visits of %d values", visits, n+1)
	}
	itself := &model.Value{}
	itself.From = &model.Node{Inputs: []*model.Value{itself}}
	if a, b := lengths.Of(itself), lengths.Of(nil); a != 1 || b != 0 {
		t.Errorf("%d, %d", a, b)
	}
}
