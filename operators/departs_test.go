package operators_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// TestDropsDims has nodes behind which OpenVINO 2026.4.1 gave dims [4] for [1,1,4], of x + constant of [1,1,1] where nodes
// make x, from the last to the first; and such where it gave all.
func TestDropsDims(t *testing.T) {
	for _, tt := range []struct {
		op, made string
		want     bool
	}{
		{"Add", "Gather", true}, {"Multiply", "Reshape", true}, {"Subtract", "Transpose", true}, {"Divide", "Squeeze", true}, {"Maximum", "Unsqueeze", true},
		{"Mod", "Abs Gather", true}, {"FloorMod", "Convert Gather", true}, {"Minimum", "ReduceMax Transpose", true}, {"Power", "Select Transpose", true}, {"SquaredDifference", "Broadcast Transpose", true},
		{"Add", "", false}, {"Add", "ReduceMax", false}, {"Add", "Concat", false}, {"Add", "GatherElements", false}, {"Add", "Tile Slice", false},
		{"Less", "Gather", false}, {"Select", "Gather", false}, {"BitwiseAnd", "Gather", false}, {"PRelu", "Gather", false},
	} {
		x := &model.Value{}
		ops := strings.Fields(tt.made)
		slices.Reverse(ops)
		for _, op := range ops {
			x = &model.Value{From: &model.Node{Op: op, Inputs: []*model.Value{nil, x}}}
		}
		n := &model.Node{Op: tt.op, Inputs: []*model.Value{x, {}}}
		if got := operators.DropsDims(n); got != tt.want || n.Inputs[0] != x {
			t.Errorf("%s behind %q: %t", tt.op, tt.made, got)
		}
		if operators.DropsDims(&model.Node{Op: tt.op, Inputs: []*model.Value{{}, x}}) {
			t.Errorf("%s in front of %q", tt.op, tt.made)
		}
	}
}

// TestDropsDimsOnce holds that DropsDims looks at a node once, however many ways lead to it: 2^60 here.
func TestDropsDimsOnce(t *testing.T) {
	x := &model.Value{}
	for range 60 {
		x = &model.Value{From: &model.Node{Op: "Add", Inputs: []*model.Value{x, x}}}
	}
	if operators.DropsDims(&model.Node{Op: "Add", Inputs: []*model.Value{x, {}}}) {
		t.Error("no node moves elements")
	}
}
