package run_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// manyNode returns a node of n outputs.
func manyNode(n int, op string, version int, attributes map[string]any, inputs ...any) *model.Node {
	made := node(op, version, attributes, inputs...)
	for i := 1; i < n; i++ {
		made.Outputs = append(made.Outputs, &model.Value{Name: fmt.Sprint(op, i), Spec: model.Unknown, From: made})
	}
	return made
}

// all evaluates the outputs of a model's last node, in passes of every kind, which must
// answer alike.
func all(t *testing.T, m *model.Model) ([]garner.Tensor, error) {
	t.Helper()
	n := m.Graph.Nodes[len(m.Graph.Nodes)-1]
	var wanted []*model.Value
	for _, v := range n.Outputs {
		if v != nil {
			wanted = append(wanted, v)
		}
	}
	got, err := run.Values(context.Background(), m, wanted, nil, 1<<30)
	for _, surveyed := range []float64{-1, 16, math.MaxInt} {
		restore := run.SetSurveyed(surveyed)
		accept := run.Accept(func(int, garner.Spec) (int, error) { return 0, nil })
		again, bad := run.Values(context.Background(), m, wanted, nil, 1<<30, accept)
		restore()
		if fmt.Sprint(bad) != fmt.Sprint(err) {
			t.Errorf("surveyed %v: %v; want %v", surveyed, bad, err)
			continue
		}
		for i := range again {
			if !same(t, again[i], got[i]) {
				t.Errorf("surveyed %v: result %d is %v; want %v", surveyed, i, again[i], got[i])
			}
		}
	}
	return got, err
}

// texts are the outputs of a node, or its error.
func texts(got []garner.Tensor, err error) string {
	if err != nil {
		return err.Error()
	}
	var list []string
	for _, g := range got {
		list = append(list, g.String())
	}
	return strings.Join(list, "; ")
}

func TestSplit(t *testing.T) {
	x := i64([]int{2, 3}, 1, 2, 3, 4, 5, 6)
	const onnx, ir = "ONNX", "OpenVINO IR"
	for _, tt := range []struct {
		format string
		node   *model.Node
		want   string
	}{
		{onnx, manyNode(2, "Split", 11, nil, x), "i64[1,3] [[1, 2, 3]]; i64[1,3] [[4, 5, 6]]"},
		{onnx, manyNode(2, "Split", 2, attrs{"axis": int64(-1), "split": []int64{1, 2}}, x), "i64[2,1] [[1], [4]]; i64[2,2] [[2, 3], [5, 6]]"},
		{onnx, manyNode(2, "Split", 13, attrs{"axis": int64(1)}, x, vec[int64](3, 0)), "i64[2,3] [[1, 2, 3], [4, 5, 6]]; i64[2,0] [[], []]"},
		{onnx, manyNode(2, "Split", 18, attrs{"axis": int64(1), "num_outputs": int64(2)}, x), "i64[2,2] [[1, 2], [4, 5]]; i64[2,1] [[3], [6]]"},
		{onnx, manyNode(2, "Split", 13, attrs{"axis": int64(1)}, x), "axis 1 of [2,3] has no 2 parts of one length"},
		{onnx, manyNode(3, "Split", 18, attrs{"num_outputs": int64(2)}, x), "its num_outputs is 2, and it has 3 outputs"},
		{onnx, manyNode(2, "Split", 13, nil, x, vec[int64](2)), "it has 2 outputs; Split makes 1 of its inputs"},
		{onnx, manyNode(2, "Split", 13, nil, x, vec[int64](1, 1, 0)), "its split is i64[3]; it must be up to 2 integers"},
		{onnx, manyNode(2, "Split", 13, nil, x, vec[int64](-1, 2)), "its 2 lengths do not make up axis 0 of [2,3]"},
		{onnx, manyNode(2, "Split", 13, nil, x, vec[int64](1, math.MaxInt64)), "its 2 lengths do not make up axis 0 of [2,3]"},
		{onnx, manyNode(2, "Split", 13, nil, x, vec[int64](1, 0)), "its 2 lengths do not make up axis 0 of [2,3]"},
		{onnx, manyNode(1, "Split", 13, nil, i64(nil, 1)), "its axis is 0, and there are 0 dims"},
		{onnx, manyNode(2, "Split", 13, nil), "needs an input 0"},
		{ir, manyNode(3, "Split", 1, attrs{"num_splits": int64(3)}, x, i64(nil, 1)), "i64[2,1] [[1], [4]]; i64[2,1] [[2], [5]]; i64[2,1] [[3], [6]]"},
		{ir, manyNode(2, "Split", 1, nil, x, i64(nil, 1)), "axis 1 of [2,3] has no 2 parts of one length"},
		{ir, manyNode(2, "VariadicSplit", 1, nil, x, vec[int64](1), vec[int64](-1, 1)), "i64[2,2] [[1, 2], [4, 5]]; i64[2,1] [[3], [6]]"},
		{ir, manyNode(2, "VariadicSplit", 1, nil, x, i64(nil, 1), vec[int64](-1, -1)), "its 2 lengths do not make up axis 1 of [2,3]"},
		{ir, manyNode(1, "VariadicSplit", 1, nil, x), "needs an input 1"},
		{ir, manyNode(1, "VariadicSplit", 1, nil, x, vec[int64](1)), "needs an input 2"},
	} {
		t.Run(tt.format, func(t *testing.T) {
			if got := texts(all(t, of(tt.format, tt.node))); !strings.Contains(got, tt.want) {
				t.Errorf("%s %v %v: %s; want %s", tt.node.Op, tt.node.Attributes, tt.node.Version, got, tt.want)
			}
		})
	}
}

// TestSplitIsViews holds that the parts of a large tensor are views, that a pending cast
// stays pending, that memory is counted while any part lives, and that a part may be left out.
func TestSplitIsViews(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("a table of 2 TiB has no place in 32 bits")
	}
	table := wide(t, garner.F16, 1<<30, 1<<10)
	cast := node("Cast", 13, attrs{"to": int64(1)}, table)
	parts := manyNode(3, "Split", 13, attrs{"axis": int64(1)}, cast.Outputs[0], vec[int64](1, 2, 1<<10-3))
	parts.Outputs[0] = nil
	gather := node("onnx.Gather-13", 13, nil, parts.Outputs[1], vec[int64](1<<30-1))
	m := &model.Model{Path: "m", Format: "ONNX", Graph: &model.Graph{Nodes: []*model.Node{cast, parts, gather}}}
	got, err := run.Values(context.Background(), m, gather.Outputs, nil, 1<<20)
	if text := texts(got, err); text != "f32[1,2] [[0.0, 0.0]]" {
		t.Error(text)
	}
	_, err = run.Values(context.Background(), m, parts.Outputs[2:], nil, 1<<20)
	if err == nil || !strings.Contains(err.Error(), "a tensor f32[1073741824,1021] takes") {
		t.Error(err)
	}

	const n = 1 << 20 // 8 MiB of i64
	x := node("Range", 11, nil, i64(nil, 0), i64(nil, n), i64(nil, 1))
	halves := manyNode(2, "Split", 13, nil, x.Outputs[0])
	one := node("Neg", 13, nil, halves.Outputs[0])
	more := node("Range", 11, nil, i64(nil, 0), i64(nil, n), i64(nil, 1))
	two := node("Neg", 13, nil, halves.Outputs[1])
	for _, tt := range []struct {
		nodes  []*model.Node
		memory float64
		fits   bool
	}{
		{[]*model.Node{x, halves, one, more, two}, 20<<20 - 1, false}, // the second half keeps x
		{[]*model.Node{x, halves, one, more, two}, 24 << 20, true},
		{[]*model.Node{x, halves, one, two, more}, 16 << 20, true},
	} {
		m := &model.Model{Path: "m", Format: "ONNX", Graph: &model.Graph{Nodes: tt.nodes}}
		wanted := []*model.Value{one.Outputs[0], two.Outputs[0], more.Outputs[0]}
		if _, err := run.Values(context.Background(), m, wanted, nil, tt.memory); (err == nil) != tt.fits {
			t.Errorf("%v: %v", tt.memory, err)
		}
	}
}

// TestUnknownFormat holds that a format without a table has gathers alone.
func TestUnknownFormat(t *testing.T) {
	gather := node("onnx.Gather-13", 13, nil, vec[int64](1, 2), vec[int64](1))
	same := node("Identity", 13, nil, gather.Outputs[0])
	m := of("another", gather, same)
	if _, err := run.Values(context.Background(), m, gather.Outputs, nil, 1<<20); err != nil {
		t.Error(err)
	}
	if _, err := run.Values(context.Background(), m, same.Outputs, nil, 1<<20); err == nil || !strings.Contains(err.Error(), "garner does not run Identity") {
		t.Error(err)
	}
}
