package corpus

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestIR spoils a case that has a model, and then the model, and holds that
// each fails. Where the text is refused, it spoils the meaning for the lenient
// reader.
func TestIR(t *testing.T) {
	text, err := os.ReadFile("../../testdata/conformance/openvino-ir.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := make(map[string]string)
	for line := range bytes.Lines(text) {
		var c struct{ Name string }
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		lines[strings.TrimPrefix(c.Name, "openvino-ir-")] = string(line)
	}
	for _, tt := range []struct{ name, old, new, want string }{
		{"gather-opset8", `"openvino.Gather-8"`, `"openvino.Gather-7"`, "g is read as openvino.Gather-8; want openvino.Gather-7"},
		{"gather-opset8", `version=\"opset8\"`, `version=\"opset7\"`, "g is read as openvino.Gather-7; want openvino.Gather-8"},
		{"gather-opset8", `"attributes":{}`, `"attributes":{"batch_dims":1}`, "batch_dims=0 is read; want 1"},
		{"gather-opset8", `"weights":"01`, `"weights":"00`, "answered"},
		{"gather-opset8", `"weights":"01`, `"weights":"0`, "no case: weights: encoding/hex"},
		{"gather-opset8", `"weights":"0100000000000000"`, `"weights":"01"`, "the .bin has 1 bytes"},
		{"gather-opset8", `"weights":"0100000000000000"`, `"weights":1`, "no case: weights: json"},
		{"gather-opset8", `"ir":`, `"note":`, "no case: it has weights and no ir"},
		{"gather-opset8", `"ir":"`, `"ir":1,"note":"`, "no case: ir: json"},
		{"gather-opset8", `shape=\"2,3\"`, `shape=\"2,4\"`, "input 0 is read as f32[2,4]; want f32[2,3]"},
		{"gather-opset8", `type=\"Gather\"`, `type=\"Foo\"`, "the model has 0 gathers; want one"},
		{"gathernd-version-opset8", `<data batch_dims=\"2\"/>`, "", "batch_dims=0 is read; want 2"},
		{"gathernd-negative-batch-dims", `batch_dims=\"-1\"`, `batch_dims=\"x\"`, "model-format"},
		{"gathernd-version-absent", `"model-format"`, `"batch-dims"`, "is not of class shape"},
		{"gathernd-version-absent", `type=\"GatherND\"`, `type=\"GatherND\" version=\"opset5\"`, "want an error of class model-format"},
		{"gathernd-version-absent", `"openvino.GatherND-5"`, `"openvino.GatherND-8"`, "the model, lenient: error"},
		{"gathernd-version-absent", `"ir":"`, `"note":"`, `no case: error class "model-format", and no model`},
		{"opset5-unquoted-layer-30x2x100x35-batch2", `batch_dims=2`, `batch_dims=1`, "the model, lenient: error"},
	} {
		line := lines[tt.name]
		for c := range Load(strings.NewReader(line)) {
			if r := c.Run(); r.Status != Pass {
				t.Errorf("%s: %s", tt.name, r.Detail)
			}
		}
		spoiled := strings.Replace(line, tt.old, tt.new, 1)
		if spoiled == line {
			t.Errorf("%s has no %s", tt.name, tt.old)
		}
		for c := range Load(strings.NewReader(spoiled)) {
			if r := c.Run(); r.Status != Fail || !strings.Contains(r.Detail, tt.want) {
				t.Errorf("%s with %s: %s %s; want %s", tt.name, tt.new, r.Status, r.Detail, tt.want)
			}
		}
	}
}
