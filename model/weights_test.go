package model

import (
	"slices"
	"testing"
)

func TestWeights(t *testing.T) {
	in := func(file string) *Value { return &Value{Constant: &Constant{File: file}} }
	body := &Graph{Constants: []*Value{in("b"), in("c")}}
	m := &Model{Graph: &Graph{Constants: []*Value{in("a"), in(""), {}, in("b")}, Nodes: []*Node{{Graphs: []Subgraph{{Graph: body}}}}}}
	if got := m.Weights(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Error(got)
	}
	if got := (&Model{}).Weights(); got != nil {
		t.Error(got)
	}
}
