package run_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// linesOf reads the lines of recordings, one after the other.
func linesOf(t *testing.T, paths ...string) *bufio.Scanner {
	t.Helper()
	var all []io.Reader
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, z)
	}
	lines := bufio.NewScanner(io.MultiReader(all...))
	lines.Buffer(nil, 1<<22)
	return lines
}

// TestModelsOfOne holds that models of one operator give what TensorFlow, LiteRT and ONNX Runtime answered, bit for bit, or are refused.
func TestModelsOfOne(t *testing.T) {
	equal := map[string]int{}
	dir := t.TempDir()
	lines := linesOf(t, "testdata/models.jsonl.gz", "testdata/if.jsonl.gz")
	for lines.Scan() {
		var l struct {
			Runtime, Kind, File, Model string
			Input, Want                recordedTensor
		}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		raw, err := base64.StdEncoding.DecodeString(l.Model)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, l.File)
		if err := os.WriteFile(path, raw, 0o666); err != nil {
			t.Fatal(err)
		}
		m := open(t, path)
		given := map[*model.Value]garner.Tensor{m.Graph.Inputs[0]: l.Input.tensor(t)}
		got, err := run.Values(context.Background(), m, []*model.Value{m.Graph.Outputs[0].Value}, given, 1<<24)
		if err != nil {
			if !errors.Is(err, garner.ErrDType) && l.Kind != "around" {
				t.Errorf("%s %s: %v", l.Runtime, l.Kind, err)
			}
			t.Logf("%s %s: %v", l.Runtime, l.Kind, err)
			equal[l.Kind+" refused"]++
			continue
		}
		if want := l.Want.tensor(t); !same(t, got[0], want) {
			t.Errorf("%s %s: %v; want %v", l.Runtime, l.Kind, got[0], want)
		}
		equal[l.Kind+" "+filepath.Ext(l.File)]++
		if l.Kind == "bags" { // the last row is a long bag
			ends, err := run.Values(t.Context(), m, []*model.Value{m.Graph.Outputs[0].Value}, given, 1<<24, run.Accept(func(int, garner.Spec) (int, error) { return 3, nil }))
			want, e := run.EndsOf(got[0], 3)
			if err != nil || e != nil || !same(t, ends[0], want) {
				t.Errorf("%s: the ends are %v, %v; want %v, %v", l.Runtime, ends, err, want, e)
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	t.Log(equal)
	for kind, least := range map[string]int{
		"pads .pb": 40, "pads .tflite": 10, "choices .pb": 8, "choices .onnx": 5, "where .pb": 23, "where .tflite": 15, "quotients .pb": 8, "around .pb": 88, "around .tflite": 75, "tops .pb": 49, "tops .tflite": 42, "bags .pb": 9, "negations .pb": 2, "negations .tflite": 3,
	} {
		if equal[kind] < least {
			t.Errorf("%d of %s are equal; want %d", equal[kind], kind, least)
		}
	}
}

// TestGivenBranch runs the branch that a given condition chooses, of LiteRT and of OpenVINO: make_branch.py has
// what they answered.
func TestGivenBranch(t *testing.T) {
	for path, want := range map[string]map[bool]string{
		"testdata/branch.tflite": {true: "f32[2,2] [[4.0, 5.0], [0.0, 1.0]]", false: "f32[2,2] [[1.0, 2.0], [5.0, 6.0]]"},
		"testdata/branch.xml":    {true: "f32[2,2] [[4.0, 5.0], [0.0, 1.0]]", false: "f32[2,2] [[8.0, 10.0], [0.0, 2.0]]"},
	} {
		m := open(t, path)
		for c, answer := range want {
			given := map[*model.Value]garner.Tensor{}
			for _, v := range m.Graph.Inputs {
				switch {
				case v.Spec.DType == garner.Bool:
					given[v] = garner.Of([]bool{c})
				case v.Spec.DType == garner.F32:
					given[v] = garner.Of([]float32{0, 1, 2, 3, 4, 5}, 3, 2)
				case v.Spec.DType == garner.I32:
					given[v] = garner.Of([]int32{2, 0}, 2)
				default:
					given[v] = garner.Of([]int64{2, 0}, 2)
				}
			}
			got, err := run.Values(t.Context(), m, []*model.Value{m.Graph.Outputs[0].Value}, given, 1<<24)
			if err != nil || got[0].String() != answer {
				t.Errorf("%s of %t: %v, %v; want %s", path, c, got, err, answer)
			}
		}
	}
}
