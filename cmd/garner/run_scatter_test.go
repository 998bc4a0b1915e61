package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/convert"
	"github.com/garner-go/garner/model"
)

// TestScatterHasNoPolicy holds that the error of an index that a ScatterElements refuses offers no flag, as none applies to it.
func TestScatterHasNoPolicy(t *testing.T) {
	n := &model.Node{Name: "scatter", At: "node 0", Op: "ScatterElements", Version: 18}
	for _, name := range []string{"x", "indices", "updates"} {
		n.Inputs = append(n.Inputs, &model.Value{Name: name, Spec: garner.SpecOf(garner.F32, 2)})
	}
	n.Inputs[1].Spec = garner.SpecOf(garner.I64, 2)
	n.Outputs = []*model.Value{{Name: "y", Spec: n.Inputs[0].Spec, From: n}}
	g := &model.Graph{Name: "g", Nodes: []*model.Node{n}, Inputs: n.Inputs, Outputs: []model.Result{{Name: "y", Value: n.Outputs[0]}}}
	path := filepath.Join(t.TempDir(), "scatter.onnx")
	if _, err := convert.File(t.Context(), &model.Model{Path: "source", Format: "ONNX", Opsets: map[string]int{"": 18}, Graph: g}, path, convert.Options{}); err != nil {
		t.Fatal(err)
	}
	status, _, text := garnerRun("run", path, "--input", "x=[1,2]", "--input", "indices=[0,5]", "--input", "updates=[3,4]")
	if status != 1 || !strings.HasSuffix(strings.TrimSpace(text), "indices[1] = 5 is outside axis 0 of data, which has -2…1") {
		t.Errorf("status %d, %s", status, text)
	}
}
