package ir_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner/lint"
	"github.com/garner-go/garner/openvino/ir"
)

// TestGathersInBodies judges gathers in the bodies of a Loop, a TensorIterator and an If, and
// one behind a Loop: their indices are inputs of the model, and only those that the
// body clamps are bounded.
func TestGathersInBodies(t *testing.T) {
	m, err := ir.Open("testdata/bodies.xml", ir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	all, err := lint.Model(context.Background(), m, lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range all {
		if f.Rule.ID == "L.4" {
			_, input, _ := strings.Cut(f.Message, "come from the ")
			input, _, _ = strings.Cut(input, " and")
			got = append(got, f.Node.Name+" "+input)
		}
	}
	slices.Sort(got)
	want := []string{`after_loop input "ids"`, `in_iterator input "steps"`, `in_loop input "ids"`, `in_then input "ids"`}
	if !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
	for n := range m.Nodes() {
		for _, g := range n.Graphs {
			for _, v := range g.Graph.Inputs {
				if v.Takes == nil || v.Turn != strings.Contains(v.Name, "turn") {
					t.Errorf("%s of %s takes %v, and is a turn: %t", v.Name, n.Name, v.Takes, v.Turn)
				}
			}
		}
	}
}
