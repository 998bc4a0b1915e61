package run_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/format/npz"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

const models = "../../testdata/models/"

// arrays opens a file of recorded tensors.
func arrays(t *testing.T, path string) *npz.File {
	t.Helper()
	f, err := npz.Open(path, npz.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// same reports whether two tensors are equal bit for bit.
func same(t *testing.T, a, b garner.Tensor) bool {
	t.Helper()
	if a.DType() != b.DType() || !a.Shape().Equal(b.Shape()) {
		return false
	}
	if a.DType() == garner.String {
		return a.Text() == b.Text()
	}
	bits := func(x garner.Tensor) []byte {
		c, err := x.Clone()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := c.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	return bytes.Equal(bits(a), bits(b))
}

func open(t *testing.T, path string) *model.Model {
	t.Helper()
	m, err := files.OpenModel(path, files.ModelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// inputs returns the recorded inputs of a model.
func inputs(t *testing.T, m *model.Model) map[*model.Value]garner.Tensor {
	t.Helper()
	recorded := arrays(t, strings.TrimSuffix(m.Path, filepath.Ext(m.Path))+".inputs.npz")
	given := make(map[*model.Value]garner.Tensor)
	for _, v := range m.Graph.Inputs {
		for _, name := range append([]string{v.Name}, v.Aliases...) {
			if a, err := recorded.Array(name); err == nil {
				given[v] = a.Tensor
				if err := run.Check(v, a.Tensor); err != nil {
					t.Error(err)
				}
			}
		}
	}
	return given
}

// TestModels evaluates every result of every model of testdata/models and holds
// it, bit for bit, against what the model's runtime answered. Four results need
// an operator that is not evaluated, and are refused.
func TestModels(t *testing.T) {
	var paths []string
	for extension := range map[string]bool{".onnx": true, ".xml": true, ".tflite": true} {
		found, err := filepath.Glob(models + "*" + extension)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	refused, results := 0, 0
	for _, path := range paths {
		if strings.HasSuffix(path, "lite_made_sparse.tflite") {
			continue // of nodes that are only named
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			m := open(t, path)
			runtime := map[string]string{".onnx": ".onnxruntime.npz", ".xml": ".openvino.npz", ".tflite": ".litert.npz"}[filepath.Ext(path)]
			want := arrays(t, strings.TrimSuffix(path, filepath.Ext(path))+runtime)
			if len(want.Names()) != len(m.Graph.Outputs) {
				t.Errorf("%d results; %d are recorded", len(m.Graph.Outputs), len(want.Names()))
			}
			given := inputs(t, m)
			for _, o := range m.Graph.Outputs {
				got, err := run.Values(context.Background(), m, []*model.Value{o.Value}, given, math.MaxInt)
				if bad := new(run.Unsupported); errors.As(err, &bad) {
					if bad.Node.Op != "ScatterUpdate" && bad.Node.Op != "MatMul" && bad.Node.Op != "Gemm" && bad.Node.Op != "IF" {
						t.Errorf("%s: %v", o.Name, err)
					}
					refused++
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", o.Name, err)
					continue
				}
				a, err := want.Array(o.Name)
				if err != nil {
					t.Error(err)
					continue
				}
				if !same(t, got[0], a.Tensor) {
					t.Errorf("%s is %v; %s answered %v", o.Name, got[0], runtime, a.Tensor)
				}
				results++
			}
		})
	}
	if len(paths) < 15 || results < 100 || refused != 4 {
		t.Errorf("%d models, %d results, %d refused", len(paths), results, refused)
	}
}

// TestOneSignature holds each signature of a file of two, opened alone, against what the runtime
// says of it and answers: its inputs, its outputs and their elements, bit for bit.
func TestOneSignature(t *testing.T) {
	const path = models + "lite_signatures"
	fed, want := arrays(t, path+".inputs.npz"), arrays(t, path+".litert.npz")
	for _, signature := range []string{"encode", "columns"} {
		m, err := files.OpenModel(path+".tflite", files.ModelOptions{Signature: signature})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		of := func(names []string) (list []string) {
			for _, name := range names {
				if name, is := strings.CutPrefix(name, signature+"/"); is {
					list = append(list, name)
				}
			}
			return list
		}
		given := make(map[*model.Value]garner.Tensor)
		var has []string
		for _, v := range m.Graph.Inputs {
			has = append(has, v.Name)
			a, err := fed.Array(signature + "/" + v.Name)
			if err != nil {
				t.Fatal(err)
			}
			given[v] = a.Tensor
		}
		if names := of(fed.Names()); !slices.Equal(has, names) {
			t.Errorf("%s: inputs %v; the runtime has %v", signature, has, names)
		}
		has = nil
		for _, o := range m.Graph.Outputs {
			has = append(has, o.Name)
			got, err := run.Values(t.Context(), m, []*model.Value{o.Value}, given, math.MaxInt)
			if err != nil {
				t.Fatal(err)
			}
			a, err := want.Array(signature + "/" + o.Name)
			if err != nil {
				t.Fatal(err)
			}
			if !same(t, got[0], a.Tensor) {
				t.Errorf("%s: %s is %v; the runtime answered %v", signature, o.Name, got[0], a.Tensor)
			}
		}
		if names := of(want.Names()); !slices.Equal(has, names) {
			t.Errorf("%s: outputs %v; the runtime has %v", signature, has, names)
		}
	}
}
