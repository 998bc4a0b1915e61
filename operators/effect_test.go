package operators_test

import (
	"slices"
	"testing"

	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

func TestEffectOf(t *testing.T) {
	a, b := &model.Value{Name: "a"}, &model.Value{Name: "b"}
	for _, tt := range []struct {
		node   model.Node
		effect operators.Effect
		inputs []*model.Value
	}{
		{model.Node{Op: "Reshape", Inputs: []*model.Value{a, b}}, operators.Reshaped, []*model.Value{a}},
		{model.Node{Op: "Convert", Inputs: []*model.Value{a}}, operators.Cast, []*model.Value{a}},
		{model.Node{Op: "Transpose", Inputs: []*model.Value{a, b}}, operators.Permuted, []*model.Value{a}},
		{model.Node{Op: "Add", Inputs: []*model.Value{a, b}}, operators.Computed, []*model.Value{a, b}},
		{model.Node{Op: "Add", Inputs: []*model.Value{a, nil, b}}, operators.Computed, []*model.Value{a, b}},
		{model.Node{Op: "Reshape"}, operators.Reshaped, nil},
		{model.Node{Op: "Identity", Inputs: []*model.Value{nil}}, operators.Reshaped, nil},
		{model.Node{Op: "Clip", Inputs: []*model.Value{a}}, operators.Opaque, nil},
		{model.Node{Op: "Concat", Inputs: []*model.Value{a, b}}, operators.Opaque, nil},
		{model.Node{Op: "Reshape", Domain: "here", Inputs: []*model.Value{a, b}}, operators.Opaque, nil},
	} {
		if effect, inputs := operators.EffectOf(&tt.node); effect != tt.effect || !slices.Equal(inputs, tt.inputs) {
			t.Errorf("%q.%s of %v: %d of %v; want %d of %v", tt.node.Domain, tt.node.Op, tt.node.Inputs, effect, inputs, tt.effect, tt.inputs)
		}
	}
}
