package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

func report(t *testing.T, m *model.Model) *Report {
	t.Helper()
	all, err := Model(context.Background(), m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &Report{Model: m, Version: "1.2.3", Findings: all, Unjudged: NotJudged(m)}
}

func written(t *testing.T, write func(r *Report, b *bytes.Buffer) error, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(r, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func text(r *Report, b *bytes.Buffer) error   { return r.WriteText(b) }
func asJSON(r *Report, b *bytes.Buffer) error { return r.WriteJSON(b) }
func sarif(r *Report, b *bytes.Buffer) error  { return r.WriteSARIF(b) }

// stretching has an error in text, at a line and a column.
func stretching(op string) *model.Model {
	return gather{op: op, data: given("f32[1,3]"), indices: bounded("i64[4,1]"), attributes: batch(1)}.model()
}

func TestText(t *testing.T) {
	m := stretching("openvino.GatherND-8")
	got := written(t, text, report(t, m))
	want := `m.xml:3:7: error L.6: "g" (openvino.GatherND-8): batch dim 0 is 1 in data and 4 in the indices: OpenVINO refuses it, ONNX Runtime stretches data's batch dim of 1, TensorFlow refuses it
	remedy: Decide which batch of data each of the indices means, and expand data to the batch dims of the indices.
	evidence: openvino-gathernd-8-batch-broadcast-data, onnx-gathernd-13-batch-broadcast-data, tf-gather-nd-batch-broadcast-data
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	m = stretching("onnx.GatherND-13")
	n := m.Graph.Nodes[len(m.Graph.Nodes)-1]
	n.Name, n.At, m.Path = "a\n\x1b[2J", "node 3 of graph.\x1b", "dir/m\x07.onnx"
	if got := written(t, text, report(t, m)); !strings.HasPrefix(got, `"dir/m\a.onnx": error L.6: "a\n\x1b[2J" (onnx.GatherND-13, "node 3 of graph.\x1b"): batch dim 0`) {
		t.Error(got)
	}
	n.At, m.Path = "", "m.onnx"
	if got := written(t, text, report(t, m)); !strings.HasPrefix(got, `m.onnx: error L.6: "a\n\x1b[2J" (onnx.GatherND-13): batch`) {
		t.Error(got)
	}
	clean := gather{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: i64([]int{2}, 0, 4)}.model()
	if got := written(t, text, report(t, clean)); got != "" {
		t.Error(got)
	}
}

// TestCauses holds that findings of one cause are one line of text with a count, and
// one finding each in the other formats.
func TestCauses(t *testing.T) {
	m := gather{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: i64(nil, -1)}.model()
	for range 3 {
		again := *m.Graph.Nodes[len(m.Graph.Nodes)-1]
		m.Graph.Nodes = append(m.Graph.Nodes, &again)
	}
	other := gather{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: i64(nil, -2)}.model()
	m.Graph.Nodes = append(m.Graph.Nodes, other.Graph.Nodes...)
	r := report(t, m)
	got := written(t, text, r)
	lines := strings.Count(got, "\n")
	if lines != 6 || !strings.HasPrefix(got, `m.onnx:3:7: note L.1: "g" (onnx.Gather-13) and 3 more gathers: indices = -1 is negative: `) ||
		!strings.Contains(got, `"g" (onnx.Gather-13): indices = -2 is negative: `) {
		t.Errorf("%d lines:\n%s", lines, got)
	}
	if log := written(t, sarif, r); strings.Count(log, `"ruleId"`) != 5 {
		t.Error(log)
	}
	if log := written(t, asJSON, r); strings.Count(log, `"rule"`) != 5 || !strings.Contains(log, `"notes":5`) {
		t.Error(log)
	}
}

// TestNotJudged holds that what gathers and is not judged is named in every format,
// and is no finding.
func TestNotJudged(t *testing.T) {
	table := huge("u8[5,16]")
	blocks := &model.Node{Name: "blocks\x1b", At: "node 1", Domain: "ai.onnx.ml", Op: "ArrayFeatureExtractor", Inputs: []*model.Value{table, given("i64[?]")}}
	again := *blocks
	dequantised := made("DequantizeLinear", "f32[5,16]", table, held(garner.Of([]float32{1})))
	g := gather{op: "onnx.Gather-13", data: dequantised, indices: bounded("i64[1]")}
	m := g.model()
	m.Graph.Nodes = append([]*model.Node{blocks, &again}, m.Graph.Nodes...)
	r := report(t, m)
	want := `m.onnx: not judged: "blocks\x1b" (ai.onnx.ml.ArrayFeatureExtractor, node 1) and 1 more node: lint has no rules for this operator; compare what the runtimes document of its indices
m.onnx:3:7: not judged: "g" (onnx.Gather-13): its table is dequantised before it; lint judges the indices, and not how runtimes compute the table's values
`
	if got := written(t, text, r); got != want || len(r.Findings) != 0 || r.AtLeast(Note) != 0 {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	log := written(t, sarif, r)
	var v any
	if err := json.Unmarshal([]byte(log), &v); err != nil {
		t.Fatal(err)
	}
	if err := fits(v, sarifSchema); err != nil || strings.Count(log, "is not judged: ") != 3 {
		t.Errorf("%v\n%s", err, log)
	}
	var got jsonReport
	if err := json.Unmarshal([]byte(written(t, asJSON, r)), &got); err != nil || len(got.Unjudged) != 3 || got.Unjudged[2].Line != 3 || got.Unjudged[0].Operator != "ai.onnx.ml.ArrayFeatureExtractor" {
		t.Errorf("%v, %+v", err, got.Unjudged)
	}
}

func TestJSON(t *testing.T) {
	var got struct {
		jsonReport
		Findings []struct {
			jsonFinding
			Runtimes []Runtime
			Evidence []jsonEvidence
		} `json:"findings"`
	}
	m := gather{op: "openvino.Gather-8", data: huge("f32[65536,32768]"), indices: i64([]int{1}, 70000)}.model()
	if err := json.Unmarshal([]byte(written(t, asJSON, report(t, m))), &got); err != nil {
		t.Fatal(err)
	}
	if got.Model != "m.xml" || got.Format != "OpenVINO IR" || len(got.Findings) != 3 || got.Errors != 0 || got.Warnings != 0 || got.Notes != 3 {
		t.Errorf("%+v", got)
	}
	f := got.Findings[1]
	if f.Rule != "L.22" || f.Line != 3 || f.Column != 7 || f.Node != "g" || f.Severity != "note" || f.Evidence[0].Case != "" || f.Evidence[0].Source == "" || f.Runtimes[0] != ONNXRuntime {
		t.Errorf("%+v", f)
	}
	clean := gather{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: i64([]int{2}, 0, 4)}.model()
	if got := written(t, asJSON, report(t, clean)); !strings.Contains(got, `"findings":[]`) {
		t.Error(got)
	}
}

// TestSARIF holds a log against what SARIF 2.1.0's schema requires and allows of
// the parts that it has.
func TestSARIF(t *testing.T) {
	for _, m := range []*model.Model{
		stretching("openvino.GatherND-8"),
		stretching("onnx.GatherND-13"),
		gather{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: i64([]int{2}, 0, 4)}.model(),
	} {
		m.Path = "models/a b:c.xml"
		r := report(t, m)
		log := written(t, sarif, r)
		var v any
		if err := json.Unmarshal([]byte(log), &v); err != nil {
			t.Fatal(err)
		}
		if err := fits(v, sarifSchema); err != nil {
			t.Error(err)
		}
		if !strings.Contains(log, `"results":[`) || len(r.Findings) > 0 && !strings.Contains(log, `"uri":"models/a%20b:c.xml"`) {
			t.Error(log)
		}
		hasPlace := strings.Contains(log, `"startLine":3`)
		if hasPlace != (len(r.Findings) > 0) {
			t.Error(log)
		}
	}
	absolute := map[bool][2]string{false: {"/x/%41.xml", "file:///x/%2541.xml"}, true: {`C:\x\a.xml`, "file:///C:/x/a.xml"}}[runtime.GOOS == "windows"]
	for path, want := range map[string]string{"m.onnx": "m.onnx", "a:b.onnx": "./a:b.onnx", absolute[0]: absolute[1]} {
		if got := fileURI(path); got != want {
			t.Errorf("%s is %s; want %s", path, got, want)
		}
	}
	// The schema is no rubber stamp.
	for _, bad := range []string{`{"version":"2.1.0"}`, `{"version":"2.0.0","runs":[]}`, `{"version":"2.1.0","runs":[{"tool":{"driver":{}},"results":[]}]}`, `{"version":"2.1.0","runs":[],"more":1}`} {
		var v any
		if err := json.Unmarshal([]byte(bad), &v); err != nil {
			t.Fatal(err)
		}
		if fits(v, sarifSchema) == nil {
			t.Errorf("%s fits", bad)
		}
	}
}

// A schema is as much of JSON schema as SARIF's parts need here: an object with
// its fields, those that it must have marked with "!", a list of one schema, a
// pattern, or a number of at least some value. Any other field is refused, as
// SARIF's own schema does nearly everywhere.
type schema map[string]any

var sarifMessage = schema{"!text": `.+`}

var sarifPlace = schema{
	"physicalLocation": schema{
		"artifactLocation": schema{"uri": `^[-A-Za-z0-9._~:/?#@!$&'()*+,;=%]+$`},
		"region":           schema{"startLine": 1, "startColumn": 1},
	},
	"logicalLocations": []any{schema{"name": ``, "fullyQualifiedName": ``, "kind": ``}},
}

var sarifSchema = schema{
	"$schema": `^https://`, "!version": `^2\.1\.0$`,
	"!runs": []any{schema{
		"!tool": schema{"!driver": schema{
			"!name": `.+`, "version": `.+`, "informationUri": `^https://`,
			"rules": []any{schema{
				"!id": `.+`, "shortDescription": sarifMessage, "fullDescription": sarifMessage, "help": sarifMessage,
				"defaultConfiguration": schema{"level": `^(none|note|warning|error)$`},
			}},
		}},
		"invocations": []any{schema{
			"!executionSuccessful": nil,
			"toolExecutionNotifications": []any{schema{
				"level": `^(none|note|warning|error)$`, "!message": sarifMessage, "locations": []any{sarifPlace},
			}},
		}},
		"results": []any{schema{
			"ruleId": `.+`, "ruleIndex": 0, "level": `^(none|note|warning|error)$`, "!message": sarifMessage,
			"locations":  []any{sarifPlace},
			"properties": nil, // anything
		}},
	}},
}

func fits(v, s any) error {
	switch s := s.(type) {
	case nil:
		return nil
	case string:
		text, ok := v.(string)
		if !ok || !regexp.MustCompile(s).MatchString(text) {
			return fmt.Errorf("%v is no %s", v, s)
		}
	case int:
		if n, ok := v.(float64); !ok || n < float64(s) {
			return fmt.Errorf("%v is below %d", v, s)
		}
	case []any:
		list, ok := v.([]any)
		if !ok {
			return fmt.Errorf("%v is no list", v)
		}
		for _, e := range list {
			if err := fits(e, s[0]); err != nil {
				return err
			}
		}
	case schema:
		fields, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("%v is no object", v)
		}
		for name, of := range s {
			must := strings.HasPrefix(name, "!")
			name = strings.TrimPrefix(name, "!")
			value, ok := fields[name]
			if !ok && must {
				return fmt.Errorf("%s is missing", name)
			}
			if ok {
				if err := fits(value, of); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
		for name := range fields {
			if _, ok := s[name]; !ok {
				if _, ok := s["!"+name]; !ok {
					return fmt.Errorf("there is no %s", name)
				}
			}
		}
	}
	return nil
}

// TestUnread holds that a table of which nobody asks is not read.
func TestUnread(t *testing.T) {
	m := gather{op: "onnx.Gather-13", data: huge("i64[5]"), indices: bounded("i64[1]")}.model()
	if all, err := Model(context.Background(), m, Options{Runtimes: []Runtime{Torch}}); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := Model(context.Background(), m, Options{}); err == nil {
		t.Error("it is not read for OpenVINO")
	}
}
