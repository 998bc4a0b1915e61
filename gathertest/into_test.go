package gathertest

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/garner-go/garner"
)

// TestResultsIntoViews holds gathers into views (with gaps, permuted,
// backwards) against the definition, and runs of one Prepared whose operands
// change their strides.
func TestResultsIntoViews(t *testing.T) {
	for seed := range uint64(3000) {
		c := Random(2_000_000 + seed)
		want, err := garner.Reference(c.Op, c.Data, c.Indices, c.Further...)
		if err != nil {
			continue // Against covers refusals
		}
		p, err := garner.Prepare(c.Op, c.Data.Spec(), c.Indices.Spec(), garner.Further(specs(c.Further)...))
		if err != nil {
			t.Fatal(err)
		}
		data, err := c.Data.Clone()
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(seed, 3))
		for turn, from := range []garner.Tensor{c.Data, data, c.Data} {
			out := tensor(r, want.DType(), want.Shape())
			if err := p.Run(context.Background(), from, c.Indices, out, c.Further...); err != nil {
				t.Fatalf("seed %d, turn %d: %s: %v", seed, turn, c.About, err)
			}
			if !Equal(out, want) && !(c.Computes && equalNumbers(out, want)) {
				t.Fatalf("seed %d, turn %d: %s into strides %v: differs from the definition", seed, turn, c.About, out.Strides())
			}
		}
	}
}
