package run_test

import (
	"context"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// TestPadsThatAreRefused holds what pads of TensorFlow and LiteRT refuse.
func TestPadsThatAreRefused(t *testing.T) {
	x, rows := garner.Of([]int32{1, 2, 3}, 3), garner.Of([]int32{1, 2}, 1, 2)
	for _, c := range []struct {
		format, op string
		attributes map[string]any
		inputs     []any
		want       string
	}{
		{"TensorFlow", "Pad", nil, []any{x, rows}, "i32[6] [0, 1, 2, 3, 0, 0]"},
		{"TensorFlow", "Pad", nil, []any{x, garner.Of([]int32{1, 2}, 2)}, "its paddings are i32[2]; they must have a row of two for each dim of [3]"},
		{"TensorFlow", "Pad", nil, []any{x, garner.Of([]int32{-1, 2}, 1, 2)}, "it pads axis 0 by -1 and 2"},
		{"TensorFlow", "PadV2", nil, []any{x, rows, garner.Of([]float32{1})}, "it must be one element of that dtype"},
		{"TensorFlow", "MirrorPad", map[string]any{"mode": "REFLECT"}, []any{x, garner.Of([]int32{0, 3}, 1, 2)}, "it reflects 3 elements of axis 0 of [3], which has 2"},
		{"TensorFlow", "MirrorPad", map[string]any{"mode": "SYMMETRIC"}, []any{x, garner.Of([]int32{0, 3}, 1, 2)}, "[1, 2, 3, 3, 2, 1]"},
		{"TensorFlow", "MirrorPad", map[string]any{"mode": "WRAP"}, []any{x, rows}, `its mode is "wrap"`},
		{"TFLite", "MIRROR_PAD", map[string]any{"mode": int64(1)}, []any{x, rows}, "i32[6] [1, 1, 2, 3, 3, 2]"},
		{"TFLite", "MIRROR_PAD", map[string]any{"mode": int64(2)}, []any{x, rows}, "its mode is 2"},
		{"TFLite", "PAD", nil, []any{x}, "PAD needs an input 1"},
	} {
		n := node(c.op, 0, c.attributes, c.inputs...)
		n.Outputs = []*model.Value{{Name: "y", From: n, Spec: model.Unknown}}
		m := &model.Model{Path: "m", Format: c.format, Graph: &model.Graph{Nodes: []*model.Node{n}}}
		got := ""
		if made, err := run.Values(context.Background(), m, n.Outputs, nil, 1<<20); err != nil {
			got = err.Error()
		} else {
			got = made[0].String()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s %v: %s; want %s", c.op, c.attributes, got, c.want)
		}
	}
}
