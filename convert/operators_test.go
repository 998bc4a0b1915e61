package convert

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// TestOperators holds the operators that are converted to be those that "garner run" runs, as the message,
// the help and the comment of the package say.
func TestOperators(t *testing.T) {
	for format, from := range sources {
		runs := run.Operators(format)
		if len(runs) < 20 {
			t.Errorf("%s: run has %v alone", format, runs)
		}
		for _, name := range runs {
			if from.nodes[name] == nil {
				t.Errorf("%s: %s is run, and not converted", format, name)
			}
		}
		for name := range from.nodes {
			if !slices.Contains(runs, name) {
				t.Errorf("%s: %s is converted, and not run", format, name)
			}
		}
	}
}

// TestLeftOut converts each operator with inputs and outputs that the file leaves out: that is an error or a model, and
// never a panic.
func TestLeftOut(t *testing.T) {
	dir, tries := t.TempDir(), 0
	try := func(format, op, operator, extension string, in, out, left int) (err error) {
		defer func() {
			if r := recover(); r != nil {
				t.Errorf("%s %s%s to %s with %d inputs without that at %d, and %d outputs: panic: %v", format, op, operator, extension, in, left, out, r)
			}
		}()
		n := &model.Node{Name: "it", At: "node 0", Op: op, Operator: operator, Version: 13, Attributes: map[string]any{}}
		g := &model.Graph{Name: "g", Nodes: []*model.Node{n}}
		for i := range in {
			var v *model.Value
			if i != left {
				v = &model.Value{Name: fmt.Sprint("x", i), Spec: garner.SpecOf(garner.F32, 3, 4)}
				if i > 0 {
					v.Spec = garner.SpecOf(garner.I64, 2)
				}
				g.Inputs = append(g.Inputs, v)
			}
			n.Inputs = append(n.Inputs, v)
		}
		for i := range out {
			v := &model.Value{Name: fmt.Sprint("y", i), From: n, Spec: garner.SpecOfRank(garner.F32, garner.AnyDim)}
			n.Outputs = append(n.Outputs, v)
			g.Outputs = append(g.Outputs, model.Result{Name: v.Name, Value: v})
		}
		m := &model.Model{Path: "source", Format: format, Opsets: map[string]int{"": 13}, Graph: g}
		tries++
		_, err = File(t.Context(), m, filepath.Join(dir, fmt.Sprint("out", tries, extension)), Options{Lossy: true})
		return err
	}
	for format, from := range sources {
		names := map[string]string{}
		for op := range from.nodes {
			names[op] = ""
		}
		for operator := range from.gathers {
			names[" "+operator] = operator
		}
		for op, operator := range names {
			for _, extension := range Extensions() {
				for in := range 5 {
					for left := range in {
						try(format, op, operator, extension, in, 1, left)
					}
					for out := range 3 {
						try(format, op, operator, extension, in, out, in)
					}
				}
			}
		}
	}
	if err := try("TFLite", "DEQUANTIZE", "", ".onnx", 1, 1, 0); err == nil || !strings.Contains(err.Error(), "it has no input 0, which DEQUANTIZE needs") {
		t.Errorf("DEQUANTIZE without its input: %v", err)
	}
}
