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

// TestModelsOfOne holds that models of one operator give what TensorFlow, LiteRT and ONNX Runtime answered, bit for bit, or are refused.
func TestModelsOfOne(t *testing.T) {
	var all []io.Reader
	for _, name := range []string{"models", "if"} {
		f, err := os.Open("testdata/" + name + ".jsonl.gz")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, z)
	}
	equal := map[string]int{}
	dir := t.TempDir()
	lines := bufio.NewScanner(io.MultiReader(all...))
	lines.Buffer(nil, 1<<22)
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
			if !errors.Is(err, garner.ErrDType) {
				t.Errorf("%s %s: %v", l.Runtime, l.Kind, err)
			}
			equal[l.Kind+" refused"]++
			continue
		}
		if want := l.Want.tensor(t); !same(t, got[0], want) {
			t.Errorf("%s %s: %v; want %v", l.Runtime, l.Kind, got[0], want)
		}
		equal[l.Kind+" "+filepath.Ext(l.File)]++
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	t.Log(equal)
	if equal["pads .pb"] < 40 || equal["pads .tflite"] < 10 || equal["choices .pb"] < 8 || equal["choices .onnx"] != 5 {
		t.Error(equal)
	}
}
