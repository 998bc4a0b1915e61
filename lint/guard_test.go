package lint

import (
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/convert"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/format/npz"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// chooses makes a model of rows of f32[5,4] at indices that a Where replaces where a condition holds.
func chooses(op string, bound, instead int64) *model.Model {
	ids := given("i64[2]")
	n := made("Where", "i64[2]", made(op, "bool[2]", ids, i64(nil, bound)), i64(nil, instead), ids)
	for _, v := range []*model.Value{n, n.From.Inputs[0]} {
		v.From.Version = 18
	}
	m := gather{op: "onnx.Gather-13", data: held(garner.Of(make([]float32, 20), 5, 4)), indices: n}.model()
	m.Graph.Outputs = []model.Result{{Name: "out", Value: m.Graph.Nodes[len(m.Graph.Nodes)-1].Outputs[0]}}
	return m
}

// TestGuardsAgree holds the guards that package run finds of lengths, as it meets them, against the proofs of this
// package: what is a guard for run is one here, and what refuses or leads outside here is one for run. Where all
// indices are inside, run may take any policy.
func TestGuardsAgree(t *testing.T) {
	found := make(map[guard]int)
	agree := func(what string, m *model.Model, given map[*model.Value]garner.Tensor) {
		l := newLinter(t.Context(), m)
		for _, o := range m.Graph.Outputs {
			_, err := run.Values(t.Context(), m, []*model.Value{o.Value}, given, math.MaxInt, run.Amend(func(g run.Gather) (garner.Op, error) {
				s, err := l.subject(g.Node)
				if err != nil {
					return nil, err
				}
				here, err := s.guarded()
				if g.Guarded && here == unguarded || !g.Guarded && (here == outward || here == refusal) {
					t.Errorf("%s: %s: run says %t, lint %d", what, g.Node.Name, g.Guarded, here)
				}
				if g.Guarded {
					found[here]++
				}
				return g.Op, err
			}))
			var unsupported *run.Unsupported
			if err != nil && !errors.As(err, &unsupported) {
				t.Errorf("%s: %s: %v", what, o.Name, err)
			}
		}
	}
	for _, m := range []*model.Model{chooses("GreaterOrEqual", 3, 1), chooses("GreaterOrEqual", 10, 1), chooses("Less", 0, 4), chooses("Less", 0, 5)} {
		agree("Where", m, map[*model.Value]garner.Tensor{m.Graph.Inputs[0]: garner.Of([]int64{0, 4}, 2)})
	}
	if found[outward] == 0 {
		t.Error("a Where that makes negative indices the length is no guard")
	}
	paths, err := filepath.Glob("../testdata/models/*.*")
	if err != nil {
		t.Fatal(err)
	}
	open := func(path string) *model.Model {
		m, err := files.OpenModel(path, files.ModelOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		return m
	}
	for _, path := range paths {
		if !slices.Contains([]string{".onnx", ".xml", ".tflite"}, filepath.Ext(path)) {
			continue
		}
		m := open(path)
		inputs, err := npz.Open(strings.TrimSuffix(path, filepath.Ext(path))+".inputs.npz", npz.Options{})
		if errors.Is(err, fs.ErrNotExist) {
			continue // a model that has no run
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { inputs.Close() })
		given := func(of *model.Model) map[*model.Value]garner.Tensor {
			all := make(map[*model.Value]garner.Tensor)
			for i, v := range m.Graph.Inputs {
				for _, name := range append([]string{v.Name, strings.ReplaceAll(v.Name, "/", "_")}, v.Aliases...) {
					if a, err := inputs.Array(name); err == nil {
						all[of.Graph.Inputs[i]] = a.Tensor
					}
				}
			}
			return all
		}
		agree(path, m, given(m))
		for _, extension := range convert.Extensions() {
			out := filepath.Join(t.TempDir(), "out"+extension)
			if _, err := convert.File(t.Context(), m, out, convert.Options{Lossy: true}); err != nil {
				continue // TestModels of package convert names those
			}
			made := open(out)
			agree(path+" to "+extension, made, given(made))
		}
	}
	if found[inside] < 20 || found[outward] < 10 || found[refusal] < 20 {
		t.Errorf("%v gathers are guarded for run: too few to tell", found)
	}
}
