package run_test

import (
	"context"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// TestUnsupported holds that Values names a node that it does not evaluate, and
// the results and gathers that need none such, before it evaluates anything.
func TestUnsupported(t *testing.T) {
	x := i64([]int{2, 3}, 1, 2, 3, 4, 5, 6)
	gather := node("onnx.Gather-13", 13, nil, x, vec[int64](9)) // evaluating it would be an error
	gather.Name = "g"
	conv := node("Conv", 13, nil, gather.Outputs[0])
	custom := node("Add", 1, nil, conv.Outputs[0], conv.Outputs[0])
	custom.Domain = "com.example"
	free := node("Shape", 13, nil, x)
	m := of("ONNX", gather, conv, custom, free)
	_, err := run.Values(context.Background(), m, []*model.Value{custom.Outputs[0], free.Outputs[0]}, nil, 1<<20)
	const want = `garner: m: node "n" (node 0): garner does not run Conv, nor 1 more of the nodes that are needed; it runs gathers and what stands around their indices. These results run: "onnx.Gather-13", "Shape"; and these gathers: "g"`
	if err == nil || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
	given := map[*model.Value]garner.Tensor{custom.Outputs[0]: x}
	if got, err := run.Values(context.Background(), m, []*model.Value{custom.Outputs[0]}, given, 1<<20); err != nil || got[0].String() != x.String() {
		t.Errorf("%v, %v", got, err)
	}
	loop := node("Identity", 13, nil, x)
	loop.Graphs = []model.Subgraph{{Name: "body", Graph: &model.Graph{}}}
	if run.Runs(m, loop) {
		t.Error("a node with a graph of its own runs")
	}
}

func TestNeeds(t *testing.T) {
	in := &model.Value{Name: "in", Spec: garner.SpecOf(garner.I64, 2)}
	given := &model.Value{Name: "given", Spec: model.Unknown}
	byDefault := constant(vec[int64](1, 2))
	add := node("Add", 13, nil, in, byDefault)
	mul := node("Mul", 13, nil, add.Outputs[0], given)
	m := of("ONNX", add, mul)
	have := map[*model.Value]garner.Tensor{given: vec[int64](3, 4)}
	missing, err := run.Needs(m, []*model.Value{mul.Outputs[0]}, have)
	if err != nil || len(missing) != 1 || missing[0] != in {
		t.Errorf("%v, %v", missing, err)
	}
	if _, err := run.Values(context.Background(), m, []*model.Value{mul.Outputs[0]}, have, 1<<20); err == nil || !strings.Contains(err.Error(), "in i64[2] is not given") {
		t.Error(err)
	}
	have[in], have[byDefault] = vec[int64](1, 1), vec[int64](5, 6) // a given tensor replaces a default
	got, err := run.Values(context.Background(), m, []*model.Value{mul.Outputs[0]}, have, 1<<20)
	if err != nil || got[0].String() != "i64[2] [18, 28]" {
		t.Errorf("%v, %v", got, err)
	}
}
