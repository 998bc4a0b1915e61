package run_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// TestSpoiled takes one input after another from the nodes of recorded models, and spoils one attribute
// after another. Where that is not refused at the node, the input or the attribute is one that the
// operator may lack or does not read.
func TestSpoiled(t *testing.T) {
	dir := t.TempDir()
	tried, refused := 0, 0
	seen := make(map[string]bool)
	for _, name := range []string{"operators", "models", "if"} {
		lines := linesOf(t, "testdata/"+name+".jsonl.gz")
		for lines.Scan() {
			var l struct {
				Runtime, File, Model, Weights string
				Input                         recordedTensor
				Inputs                        map[string]recordedTensor
			}
			if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
				t.Fatal(err)
			}
			if l.File == "" {
				l.File = map[bool]string{true: "m.xml", false: "m.onnx"}[l.Runtime == "openvino"]
			}
			for name, text := range map[string]string{l.File: l.Model, "m.bin": l.Weights} {
				raw, err := base64.StdEncoding.DecodeString(text)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), raw, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			m := open(t, filepath.Join(dir, l.File))
			given := make(map[*model.Value]garner.Tensor)
			for _, v := range m.Graph.Inputs {
				if in, ok := l.Inputs[v.Name]; ok {
					given[v] = in.tensor(t)
				} else if l.Inputs == nil {
					given[v] = l.Input.tensor(t)
				}
			}
			var wanted []*model.Value
			for _, o := range m.Graph.Outputs {
				wanted = append(wanted, o.Value)
			}
			try := func(n *model.Node) {
				tried++
				_, err := run.Values(context.Background(), m, wanted, given, math.MaxInt)
				if err == nil {
					return
				}
				refused++
				var at *model.Error
				if !errors.As(err, &at) {
					t.Errorf("%s %s: %v, which is at no node", l.Runtime, n.Op, err)
				}
			}
			for n := range m.Nodes() {
				if !run.Runs(m, n) || len(n.Inputs) == 0 || seen[m.Format+n.Op+attributeNames(n)] {
					continue
				}
				seen[m.Format+n.Op+attributeNames(n)] = true
				inputs, attributes := n.Inputs, n.Attributes
				for i := range inputs {
					n.Inputs = slices.Clone(inputs)
					n.Inputs[i] = nil
					try(n)
					n.Inputs = inputs[:i]
					try(n)
				}
				n.Inputs = inputs
				for name := range attributes {
					n.Attributes = maps.Clone(attributes)
					n.Attributes[name] = []string{"spoiled"}
					try(n)
				}
				n.Attributes = attributes
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if t.Logf("%d of %d refused", refused, tried); tried == 0 || refused < tried/2 {
		t.Errorf("%d of %d are refused", refused, tried)
	}
}

// attributeNames lists the attributes of a node.
func attributeNames(n *model.Node) string {
	b, _ := json.Marshal(slices.Sorted(maps.Keys(n.Attributes)))
	return string(b)
}
