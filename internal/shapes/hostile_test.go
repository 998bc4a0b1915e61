package shapes

import (
	"runtime"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// TestWideNodes infers nodes with as many outputs and inputs as a reader accepts, of values of the greatest rank, each
// with memory in proportion to them.
func TestWideNodes(t *testing.T) {
	const wide = 1 << 16
	dims := make([]garner.Dim, garner.MaxRank-1)
	for i := range dims {
		dims[i] = garner.AnyDim
	}
	for _, op := range []string{"Unpack", "Split", "SplitV", "DynamicPartition", "Pack", "AddN", "ConcatV2", "DynamicStitch", "IdentityN", "ShapeN", "Merge"} {
		x := &model.Value{Spec: garner.SpecOfDims(garner.F32, dims...)}
		in := []*model.Value{x}
		for len(in) < wide && (op == "Pack" || op == "AddN" || op == "ConcatV2" || op == "DynamicStitch" || op == "IdentityN" || op == "ShapeN" || op == "Merge") {
			in = append(in, x)
		}
		if op == "Split" {
			in = []*model.Value{constant(0), x}
		}
		n := &model.Node{Op: op, Inputs: in, Outputs: make([]*model.Value, wide), Attributes: map[string]any{"axis": int64(0), "num_split": int64(wide)}}
		n.Outputs[0] = &model.Value{Spec: model.Unknown, From: n}
		n.Outputs[wide-1] = &model.Value{Spec: model.Unknown, From: n}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Infer(&model.Model{Format: "TensorFlow", Graph: &model.Graph{Inputs: []*model.Value{x}, Nodes: []*model.Node{n}}})
		runtime.ReadMemStats(&after)
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > wide*600 {
			t.Errorf("%s: %d bytes a place", op, bytes/wide)
		}
	}
}
