package fix

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/lint"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto"
	"github.com/garner-go/garner/openvino/ir"
)

// open opens a model of either format.
func open(t *testing.T, path string) *model.Model {
	t.Helper()
	var m *model.Model
	var err error
	if filepath.Ext(path) == ".onnx" {
		m, err = modelproto.Open(path)
	} else {
		m, err = ir.Open(path, ir.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// models lists the models of testdata with a line of held.jsonl each: hold_fixes.py has run
// each mend of them in ONNX Runtime and in OpenVINO.
func models(t *testing.T) map[string]heldLine {
	t.Helper()
	b, err := os.ReadFile("testdata/held.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]heldLine{}
	for i, text := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		var line heldLine
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if line.Feeds == 0 {
				t.Fatal("the first line has no number of feeds")
			}
			made[""] = line
			continue
		}
		path := "testdata/" + line.Name + ".onnx"
		if _, err := os.Stat(path); err != nil {
			path = "testdata/" + line.Name + ".xml"
		}
		made[path] = line
	}
	return made
}

type heldLine struct {
	Name             string
	Feeds            int
	Rules, Remaining []string
	ORT              *int `json:"onnxruntime valid"`
	ORTBad           *int `json:"onnxruntime bad"`
	OV               *int `json:"openvino valid"`
	OVBad            *int `json:"openvino bad"`
}

// TestHeld holds that each rule either has a mend or says what a person must decide, that
// testdata has a model for each mend, and that every recorded run of it held.
func TestHeld(t *testing.T) {
	all := models(t)
	feeds := all[""].Feeds
	delete(all, "")
	tried := map[string]bool{}
	for path, line := range all {
		for _, n := range []*int{line.ORT, line.ORTBad, line.OV, line.OVBad} {
			if n != nil && *n != feeds {
				t.Errorf("%s: %d of %d feeds held", path, *n, feeds)
			}
		}
		if line.ORT == nil && line.OV == nil {
			t.Errorf("%s was run in no runtime", path)
		}
		for _, rule := range line.Rules {
			tried[rule] = true
		}
	}
	for _, r := range lint.Rules() {
		if (r.Mend == "") == (r.Decide == "") {
			t.Errorf("%s has a mend %q and leaves to a person %q; it must have one of them", r.ID, r.Mend, r.Decide)
		}
		if strings.Contains(r.Mend+r.Decide, "\n") {
			t.Errorf("%s: more than a line", r.ID)
		}
		if (r.Mend != "") != tried[r.ID] {
			t.Errorf("%s: mended by the rules %v, by testdata %v", r.ID, r.Mend != "", tried[r.ID])
		}
	}
}

// notRun are operators of mends and of models of testdata that package run does not run.
var notRun = []string{"ReduceSum", "If", "Loop", "Max of f32", "Min of f32", "Relu"}

// TestMends mends every model of testdata. The mended one has none of the findings, each
// other node and weight byte for byte, and gives what the model gives, by garner's own
// run.
func TestMends(t *testing.T) {
	ran := 0
	all := models(t)
	for path, line := range all {
		if path == "" {
			continue
		}
		t.Run(line.Name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "mended"+filepath.Ext(path))
			report, err := File(t.Context(), path, out, Options{})
			if err != nil {
				t.Fatal(err)
			}
			mended := map[string]bool{}
			for _, m := range report.Mends {
				if len(m.Words) == 0 || len(m.Diff()) < 2 {
					t.Errorf("%s: %q, %q", m.Node.Name, m.Words, m.Diff())
				}
				for _, r := range m.Rules {
					mended[r.ID] = true
				}
			}
			for _, f := range report.Remaining {
				if f.Why == "" {
					t.Errorf("%s remains without a reason", f.Finding.Rule.ID)
				}
			}
			if got := sortedRules(mended); !slices.Equal(got, line.Rules) {
				t.Errorf("mended %q; recorded is %q: run testdata/hold_fixes.py again", got, line.Rules)
			}
			old, now := open(t, path), open(t, out)
			after, err := lint.Model(t.Context(), now, lint.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range after {
				if mended[f.Rule.ID] && !slices.Contains(line.Remaining, f.Rule.ID) {
					t.Errorf("%s is still there: %s", f.Rule.ID, f.Message)
				}
			}
			untouched(t, path, out, report.Mends)
			again := filepath.Join(filepath.Dir(out), "again"+filepath.Ext(path))
			if second, err := File(t.Context(), out, again, Options{}); err != nil || len(second.Mends) != 0 {
				t.Errorf("mended again: %v, %v", second, err)
			} else if a, b := read(t, out), read(t, again); !bytes.Equal(a, b) {
				t.Error("a model without mends is another file")
			}
			for seed := range uint64(3) {
				want, err := evaluate(t, old, seed)
				if err != nil {
					if slices.ContainsFunc(notRun, func(op string) bool { return strings.Contains(err.Error(), op) }) || errors.Is(err, garner.ErrShape) || errors.Is(err, garner.ErrAttribute) || errors.Is(err, garner.ErrIndex) {
						return // what the finding is about: the operator refuses the model as it was
					}
					t.Fatal(err)
				}
				got, err := evaluate(t, now, seed)
				if err != nil {
					if slices.ContainsFunc(notRun, func(op string) bool { return strings.Contains(err.Error(), op) }) {
						return
					}
					t.Fatal(err)
				}
				if ran++; got != want {
					t.Errorf("%s; it was %s", got, want)
				}
			}
		})
	}
	if ran < 200 {
		t.Errorf("%d runs", ran)
	}
}

func sortedRules(m map[string]bool) []string {
	list := []string{}
	for id := range m {
		list = append(list, id)
	}
	slices.Sort(list)
	return list
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// evaluate runs a model on feeds whose indices every gather of it takes.
func evaluate(t *testing.T, m *model.Model, seed uint64) (string, error) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	given := map[*model.Value]garner.Tensor{}
	least := 4 // length of an axis that is gathered along
	for _, v := range m.Graph.Inputs {
		if v.Name == "d" {
			for _, d := range v.Spec.Dims {
				if d.Known() {
					least = min(least, d.Min)
				}
			}
		}
	}
	for _, v := range m.Graph.Inputs {
		shape := garner.Shape{}
		for _, d := range v.Spec.Dims {
			n := 4
			if d.Known() {
				n = d.Min
			}
			shape = append(shape, n)
		}
		values, err := garner.New(garner.I64, shape...)
		if err != nil {
			t.Fatal(err)
		}
		list := make([]int64, values.Len())
		for i := range list {
			if list[i] = int64(r.IntN(100)); v.Name != "d" && v.Name != "ids" {
				list[i] = int64(r.IntN(max(least, 1)))
			}
		}
		d := v.Spec.DType
		switch {
		case d == garner.String:
			words := make([]string, len(list))
			for i, n := range list {
				words[i] = "s" + string(rune('a'+n%26))
			}
			given[v] = garner.Of(words, shape...)
			continue
		case d == garner.I64:
			given[v] = garner.Of(list, shape...)
			continue
		}
		b := make([]byte, 0, len(list)*d.Bits()/8)
		for _, n := range list {
			if d.IsFloat() {
				n += 0x3c00 // a number, in every float type
			} else if d == garner.Bool {
				n %= 2
			}
			for i := range d.Bits() / 8 {
				b = append(b, byte(n>>(8*i)))
			}
		}
		made, err := garner.FromBytes(d, b, shape...)
		if err != nil {
			t.Fatal(err)
		}
		given[v] = made
	}
	got, err := run.Values(t.Context(), m, []*model.Value{m.Graph.Outputs[0].Value}, given, 1<<24)
	if err != nil {
		return "", err
	}
	return got[0].DType().String() + got[0].Shape().String() + " " + got[0].Text(), nil
}

// untouched holds that all of the old file is in the new one, byte for byte and in its
// order, but for the mended nodes: nodes and other fields of the graph, or lines of
// text.
func untouched(t *testing.T, path, out string, mends []lint.Mend) {
	t.Helper()
	old, now := read(t, path), read(t, out)
	var was, is [][]byte
	missing := 0
	if filepath.Ext(path) == ".onnx" {
		was, is = fieldsOf(t, old), fieldsOf(t, now)
	} else {
		was, is = bytes.Split(old, []byte("\n")), bytes.Split(now, []byte("\n"))
	}
	for _, part := range was {
		i := slices.IndexFunc(is, func(p []byte) bool { return bytes.Equal(p, part) })
		if i < 0 {
			missing++
			continue
		}
		is = is[i+1:]
	}
	// Of an IR, a layer that gets another id has a line and the dims of its result changed,
	// and edges, a line each, lead elsewhere; one that goes has its lines too.
	most := len(mends)
	if filepath.Ext(path) != ".onnx" {
		most *= 30
	} else if depth := slices.ContainsFunc(mends, func(m lint.Mend) bool { return strings.Count(m.Node.At, ".node[") > 1 }); depth {
		most = 1 // the node of the graph itself that holds them
	}
	if missing > most {
		t.Errorf("%d parts of the file are not as they were, for %d mends", missing, len(mends))
	}
	if filepath.Ext(path) != ".onnx" {
		stem := func(p string) string { return strings.TrimSuffix(p, ".xml") + ".bin" }
		if _, err := os.Stat(stem(path)); err == nil && !bytes.Equal(read(t, stem(path)), read(t, stem(out))) {
			t.Error("the .bin is another")
		}
	}
}

// fieldsOf lists the fields of the model, and in the place of its graph those of the
// graph.
func fieldsOf(t *testing.T, b []byte) [][]byte {
	t.Helper()
	var list [][]byte
	var walk func(b []byte, inGraph bool)
	walk = func(b []byte, inGraph bool) {
		for len(b) > 0 {
			number, wire, n := protowire.ConsumeTag(b)
			size := protowire.ConsumeFieldValue(number, wire, b[n:])
			if n < 0 || size < 0 {
				t.Fatal("no message")
			}
			if !inGraph && number == 7 {
				content, _ := protowire.ConsumeBytes(b[n:])
				walk(content, true)
			} else {
				list = append(list, b[:n+size])
			}
			b = b[n+size:]
		}
	}
	walk(b, false)
	return list
}

// TestUnknownFields keeps what no schema knows, at every level.
func TestUnknownFields(t *testing.T) {
	unknown := func(text string) []byte {
		return protowire.AppendString(protowire.AppendTag(nil, 4000, protowire.BytesType), text)
	}
	var model, graph []byte
	whole := read(t, "testdata/rows-18.onnx")
	for b := whole; len(b) > 0; {
		number, wire, n := protowire.ConsumeTag(b)
		size := protowire.ConsumeFieldValue(number, wire, b[n:])
		if number == 7 {
			content, _ := protowire.ConsumeBytes(b[n:])
			for c := content; len(c) > 0; {
				number, wire, n := protowire.ConsumeTag(c)
				size := protowire.ConsumeFieldValue(number, wire, c[n:])
				if number == 1 {
					node, _ := protowire.ConsumeBytes(c[n:])
					graph = protowire.AppendBytes(protowire.AppendTag(append(graph, unknown("before the node")...), 1, protowire.BytesType), append(slices.Clone(node), unknown("in the node")...))
				} else {
					graph = append(graph, c[:n+size]...)
				}
				c = c[n+size:]
			}
			// The length of the graph in more bytes than it needs, which protobuf allows.
			model = protowire.AppendTag(model, 7, protowire.BytesType)
			model = append(model, byte(len(graph))|0x80, byte(len(graph)>>7)|0x80, 0x80, 0)
			model = append(model, graph...)
		} else {
			model = append(model, b[:n+size]...)
		}
		b = b[n+size:]
	}
	model = append(model, unknown("in the model")...)
	dir := t.TempDir()
	path, out := filepath.Join(dir, "old.onnx"), filepath.Join(dir, "new.onnx")
	if err := os.WriteFile(path, model, 0o666); err != nil {
		t.Fatal(err)
	}
	report, err := File(t.Context(), path, out, Options{})
	if err != nil || len(report.Mends) != 1 {
		t.Fatal(report, err)
	}
	for _, text := range []string{"in the node", "before the node", "in the model"} {
		if !bytes.Contains(read(t, out), unknown(text)) {
			t.Errorf("the field %q is gone", text)
		}
	}
}

func put(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestRefused holds what is refused, and that then nothing is written.
func TestRefused(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"rows-18.onnx", "ir-rows-7.xml", "ir-rows-7.bin"} {
		put(t, at(name), read(t, "testdata/"+name))
	}
	for _, name := range []string{"torch_embedding_external.onnx", "torch_embedding_external.data", "functions.onnx"} {
		put(t, at(name), read(t, "../../onnx/modelproto/testdata/"+name))
	}
	put(t, at("taken.bin"), []byte("other weights"))
	put(t, at("cut.onnx"), read(t, at("rows-18.onnx"))[:50])
	if err := os.Link(at("rows-18.onnx"), at("link.onnx")); err != nil {
		t.Skip(err)
	}
	for _, tt := range []struct {
		in, out string
		rules   []string
		want    string
	}{
		{at("rows-18.onnx"), at("rows-18.onnx"), nil, "it is the input"},
		{at("rows-18.onnx"), at("link.onnx"), nil, "it is the input"},
		{at("rows-18.onnx"), at("new.xml"), nil, "name a file that ends in .onnx"},
		{at("rows-18.onnx"), at("new.onnx"), []string{"L.99"}, `there is no rule "L.99"`},
		{at("taken.bin"), at("new.bin"), nil, "is no model that can be mended: those are .onnx and .xml (OpenVINO IR); convert one of TensorFlow or LiteRT to one of these first"},
		{at("taken.tflite"), at("new.onnx"), nil, "is no model that can be mended: those are .onnx and .xml (OpenVINO IR); convert one of TensorFlow or LiteRT to one of these first"},
		{at("taken"), at("new.onnx"), nil, "is no model that can be mended: those are .onnx and .xml (OpenVINO IR); convert one of TensorFlow or LiteRT to one of these first"},
		{at("none.onnx"), at("new.onnx"), nil, "there is no file"},
		{at("cut.onnx"), at("new.onnx"), nil, "cut short"},
		{at("rows-18.onnx"), at("none/new.onnx"), nil, "make it first"},
		{at("torch_embedding_external.onnx"), filepath.Join(other, "new.onnx"), nil, "write into the same folder, " + dir},
		{at("ir-rows-7.xml"), at("taken.xml"), nil, "its weights would be in " + at("taken.bin") + ", which is there, and no old taken.xml refers to it"},
	} {
		report, err := File(t.Context(), tt.in, tt.out, Options{Rules: tt.rules})
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "garner: ") && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s to %s: %v, %v; want %s", tt.in, tt.out, report, err, tt.want)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := File(stopped, at("rows-18.onnx"), at("new.onnx"), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "cut.onnx functions.onnx ir-rows-7.bin ir-rows-7.xml link.onnx rows-18.onnx taken.bin torch_embedding_external.data torch_embedding_external.onnx" {
		t.Errorf("the folder holds %s", got)
	}
	// Weights beside an ONNX file stay where they are.
	if report, err := File(t.Context(), at("torch_embedding_external.onnx"), at("mended.onnx"), Options{}); err != nil || len(report.Mends) != 1 {
		t.Fatal(report, err)
	}
	for range 2 { // the .bin is there the second time
		report, err := File(t.Context(), at("ir-rows-7.xml"), filepath.Join(other, "mended.xml"), Options{})
		if err != nil || len(report.Mends) != 1 || report.Weights == "" {
			t.Fatal(report, err)
		}
	}
	// Only some rules.
	if report, err := File(t.Context(), at("rows-18.onnx"), at("mended.onnx"), Options{Rules: []string{"L.1"}}); err != nil || len(report.Mends) != 0 || report.Remaining[0].Why != "its rule is not among those to mend" {
		t.Fatal(report, err)
	}
}

// TestFunctions leaves a gather in a local function to a person, by its name.
func TestFunctions(t *testing.T) {
	report, err := File(t.Context(), "testdata/function.onnx", filepath.Join(t.TempDir(), "new.onnx"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Remaining) == 0 || !slices.ContainsFunc(report.Remaining, func(r lint.Remaining) bool { return strings.Contains(r.Why, "inline the model's functions first") }) {
		t.Errorf("%+v", report.Remaining)
	}
}

// TestTruncated mends each model cut at every byte: each is refused, or a whole model.
func TestTruncated(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"tuples-open.onnx", "ir-zeros-batch.xml"} {
		whole := read(t, "testdata/"+name)
		in, out := filepath.Join(dir, name), filepath.Join(dir, "new"+filepath.Ext(name))
		if filepath.Ext(name) == ".xml" {
			put(t, filepath.Join(dir, "ir-zeros-batch.bin"), read(t, "testdata/ir-zeros-batch.bin"))
		}
		for n := 0; n < len(whole); n += 1 + n/400 {
			put(t, in, whole[:n])
			if _, err := File(t.Context(), in, out, Options{}); err == nil {
				open(t, out).Close()
			} else if !strings.HasPrefix(err.Error(), "garner: ") {
				t.Errorf("%s cut at %d: %v", name, n, err)
			}
		}
	}
}

// FuzzFix mends mutated models: nothing panics, and what is written reads back.
func FuzzFix(f *testing.F) {
	for path := range models(&testing.T{}) {
		if path != "" {
			b, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b, filepath.Ext(path) == ".onnx")
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, onnx bool) {
		extension := ".xml"
		if onnx {
			extension = ".onnx"
		}
		dir := t.TempDir()
		in, out := filepath.Join(dir, "old"+extension), filepath.Join(dir, "new"+extension)
		put(t, in, b)
		if !onnx {
			put(t, filepath.Join(dir, "old.bin"), make([]byte, 256))
		}
		report, err := File(t.Context(), in, out, Options{})
		if err != nil {
			if strings.Contains(err.Error(), "does not read it back equal") {
				t.Fatal(err)
			}
			return
		}
		var text bytes.Buffer
		if err := errors.Join(report.WriteText(&text), report.WriteJSON(&text)); err != nil {
			t.Fatal(err)
		}
		open(t, out)
	})
}

func product(s garner.Shape) int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

// TestCountedAsRun holds that a mend keeps what OpenVINO makes of an index below 0 where the operator
// refuses it: hold_fixes.py has run these models in OpenVINO with such indices, before and after.
func TestCountedAsRun(t *testing.T) {
	for _, tt := range []struct {
		name    string
		data    garner.Shape
		lengths []int64 // of the axes that the components of an index address
		indices garner.Shape
	}{
		{"ir-elements-int32", garner.Shape{5, 3}, []int64{5}, garner.Shape{4, 3}},
		{"ir-elements-int64", garner.Shape{5, 3}, []int64{5}, garner.Shape{4, 3}},
		{"ir-tuples-5-int64", garner.Shape{5, 3}, []int64{5, 3}, garner.Shape{6, 2}},
		{"ir-tuples-8-int64", garner.Shape{5, 3}, []int64{5, 3}, garner.Shape{6, 2}},
		{"ir-tuples-open", garner.Shape{5, 3, 2}, []int64{5, 3}, garner.Shape{6, 2}},
		{"ir-tuples-batch", garner.Shape{3, 4, 2}, []int64{4}, garner.Shape{3, 6, 1}},
	} {
		out := filepath.Join(t.TempDir(), "mended.xml")
		path := "testdata/" + tt.name + ".xml"
		if _, err := File(t.Context(), path, out, Options{}); err != nil {
			t.Fatal(err)
		}
		numbers := make([]float32, product(tt.data))
		for i := range numbers {
			numbers[i] = float32(i)
		}
		positive := make([]int64, product(tt.indices))
		negative, beyond, first := slices.Clone(positive), slices.Clone(positive), slices.Clone(positive)
		for i := range positive {
			n := tt.lengths[i%len(tt.lengths)]
			negative[i] = -1 - int64(i)%n
			positive[i] = n + negative[i]
			beyond[i] = -n - 1 - int64(i)
		}
		evaluate := func(path string, indices []int64) string {
			m := open(t, path)
			at := garner.Of(indices, tt.indices...)
			if m.Graph.Inputs[1].Spec.DType == garner.I32 {
				narrow := make([]int32, len(indices))
				for i, n := range indices {
					narrow[i] = int32(n)
				}
				at = garner.Of(narrow, tt.indices...)
			}
			given := map[*model.Value]garner.Tensor{m.Graph.Inputs[0]: garner.Of(numbers, tt.data...), m.Graph.Inputs[1]: at}
			got, err := run.Values(t.Context(), m, []*model.Value{m.Graph.Outputs[0].Value}, given, 1<<24)
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			return got[0].Text()
		}
		if got, want := evaluate(out, negative), evaluate(path, positive); got != want {
			t.Errorf("%s of %d: %s; OpenVINO gives %s", tt.name, negative, got, want)
		}
		if got, want := evaluate(out, beyond), evaluate(path, first); got != want {
			t.Errorf("%s of %d: %s, which the clamp makes %s", tt.name, beyond, got, want)
		}
	}
}
