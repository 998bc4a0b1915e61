package lint

import (
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/tensorflow/graphdef"
)

// TestTensorFlowNames bounds indices by operators of TensorFlow, and not by those that bear
// the name of another framework's operator and mean something else.
func TestTensorFlowNames(t *testing.T) {
	scalar := func(name string, n int32) *model.Value {
		c := model.NewConstant(name, garner.SpecOf(garner.I32), func() (garner.Tensor, error) { return garner.Of([]int32{n}), nil })
		return &model.Value{Name: name, Spec: c.Spec, Constant: c}
	}
	for chain, bounded := range map[string]bool{"Minimum Maximum": true, "FloorMod": true, "Min Max": false, "Where": false, "Slice": false, "": false} {
		ids := &model.Value{Name: "ids", Spec: garner.SpecOfDims(garner.I32, garner.AnyDim)}
		m := &model.Model{Path: "m", Format: "TensorFlow", Graph: &model.Graph{Inputs: []*model.Value{ids}}}
		at := ids
		for _, op := range strings.Fields(chain) {
			limit := scalar("limit", map[string]int32{"Minimum": 2, "Min": 2, "FloorMod": 3}[op])
			made := &model.Value{Name: op, Spec: ids.Spec}
			made.From = &model.Node{Name: op, At: "node 1", Op: op, Inputs: []*model.Value{at, limit}, Outputs: []*model.Value{made}}
			m.Graph.Nodes = append(m.Graph.Nodes, made.From)
			at = made
		}
		table := model.NewConstant("table", garner.SpecOf(garner.F32, 3, 2), func() (garner.Tensor, error) { return garner.New(garner.F32, 3, 2) })
		n := &model.Node{Name: "g", At: "node 2", Op: "GatherV2", Operator: "tensorflow.GatherV2", Inputs: []*model.Value{{Name: "table", Spec: table.Spec, Constant: table}, at, scalar("axis", 0)}}
		n.Outputs = []*model.Value{{Name: "rows", Spec: model.Unknown, From: n}}
		m.Graph.Nodes = append(m.Graph.Nodes, n)
		findings, err := Model(t.Context(), m, Options{})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range findings {
			found = found || f.Rule.ID == "L.4"
		}
		if found == bounded {
			t.Errorf("behind %q the indices are bounded: %v", chain, !found)
		}
	}
}

// TestTensorFlowModels judges models that TensorFlow wrote. TensorFlow and OpenVINO read them, so that what
// only other runtimes do is a note.
func TestTensorFlowModels(t *testing.T) {
	for _, name := range []string{"gathers", "old", "keras", "around", "frozen.pb"} {
		m, err := graphdef.Open("../tensorflow/graphdef/testdata/"+name, graphdef.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		findings, err := Model(t.Context(), m, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range findings {
			own := strings.Contains(f.Message, "TensorFlow") || strings.Contains(f.Message, "OpenVINO")
			if f.Severity > Note && !own {
				t.Errorf("%s: %s %s: %s", name, f.Severity, f.Rule.ID, f.Message)
			}
			if f.Node.Attributes["bad_indices_policy"] == "IGNORE" && strings.Contains(f.Message, "TensorFlow refuses") {
				t.Errorf("%s: %s: %s", name, f.Rule.ID, f.Message)
			}
		}
		if name == "gathers" && len(findings) < 5 {
			t.Errorf("%d findings", len(findings))
		}
		for _, u := range NotJudged(m) {
			if !strings.Contains(u.Operator, "Dynamic") {
				t.Errorf("%s: %s is not judged", name, u.Operator)
			}
		}
	}
}
