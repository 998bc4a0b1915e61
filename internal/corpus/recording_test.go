package corpus_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/garner-go/garner/internal/corpus"
)

// TestRecordings reads what a runtime answered beside what its specification says.
func TestRecordings(t *testing.T) {
	line := func(fields string) string {
		return `{"op":"openvino.Gather-1","attributes":{},"inputs":[{"dtype":"f32","shape":[3],"values":[1,2,3]},{"dtype":"i64","shape":[1],"values":[-1]},{"dtype":"i64","shape":[],"values":[0]}],` + fields + "}\n"
	}
	name := filepath.Join(t.TempDir(), "a.jsonl")
	text := line(`"name":"departs","error":"index-out-of-range","source":"specification; openvino 1 CPU","recorded":{"outputs":[{"dtype":"f32","shape":[1],"values":[0]}],"note":"zeros"}`) +
		line(`"name":"follows","error":"index-out-of-range","source":"openvino 1 CPU","also":[{"run":"dynamic","agrees":false,"undefined":true},{"run":"static","agrees":true}]`) +
		line(`"name":"as-run","policy":{"outside":"zero"},"outputs":[{"dtype":"f32","shape":[1],"values":[0]}],"source":"openvino 1 CPU"`) +
		line(`"name":"inferred","output_shape":[1],"source":"openvino 1 CPU"`)
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := corpus.Recordings(name)
	if err != nil || len(got) != 2 {
		t.Fatalf("%d recordings, %v", len(got), err)
	}
	first, second := got[0], got[1]
	if first.File != "a.jsonl" || first.Source != "openvino 1 CPU" || first.Error != "index-out-of-range" || len(first.Runs) != 1 ||
		!first.Runs[0].Departs || first.Runs[0].Error != "" || first.Runs[0].Output.Text() != "[0.0]" || first.Runs[0].Note != "zeros" {
		t.Errorf("%+v", first)
	}
	if len(second.Runs) != 2 || second.Runs[0].Departs || second.Runs[0].Error != "index-out-of-range" || second.Runs[1].Way != "dynamic" || !second.Runs[1].Undefined || !second.Runs[1].Departs {
		t.Errorf("%+v", second)
	}
	for bad, want := range map[string]string{`{"name":"a","op":"none.Gather-1","inputs":[]}` + "\n": "a.jsonl: a:", "{\n": "a.jsonl"} {
		if err := os.WriteFile(name, []byte(bad), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := corpus.Recordings(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := corpus.Recordings(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a folder that does not exist is read")
	}
}
