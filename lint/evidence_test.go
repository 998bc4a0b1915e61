package lint

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/operators"
)

// A line is a case of testdata/conformance, with what it says of the runtime.
type line struct {
	Name, Source, Op, Error, Note string
	Attributes                    map[string]any
	Inputs, Outputs, Observed     []values
	Policy                        struct{ Negative, Outside string }
	Recorded                      *struct {
		Error, Note string
		Undefined   bool
		Outputs     []values
	}
	Also []struct {
		Run, Error, Note string
		Undefined        bool
		Outputs          []values
	}
}

type values struct {
	DType  string
	Shape  []int
	Values []any
}

// cases reads the corpora, by the names of their cases.
func cases(t *testing.T) map[string]line {
	t.Helper()
	files, err := filepath.Glob("../testdata/conformance/*.jsonl")
	if err != nil || len(files) < 7 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	all := map[string]line{}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var c line
			if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			all[c.Name] = c
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// A record is a case of testdata/recorded.jsonl, which testdata/record.py makes.
type record struct {
	Name   string
	Rules  []string
	Op     string
	Remedy bool
	Want   *values
	Runs   []struct {
		Runtime, Mode, Shapes, Error string
		Signal                       int
		Output                       *values
	}
}

// records reads the cases of testdata, by their names.
func records(t *testing.T) map[string]record {
	t.Helper()
	recorded, err := os.Open("testdata/recorded.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer recorded.Close()
	readers, err := os.Open("testdata/readers.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer readers.Close()
	all := map[string]record{}
	lines := bufio.NewScanner(io.MultiReader(recorded, readers))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c record
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if _, twice := all[c.Name]; twice || len(c.Runs) == 0 || !strings.HasPrefix(c.Name, "lint-") {
			t.Errorf("case %q is there twice, or has no run", c.Name)
		}
		all[c.Name] = c
	}
	if err := lines.Err(); err != nil || len(all) < 50 {
		t.Fatalf("%d cases, %v", len(all), err)
	}
	return all
}

// recordedRuntimes are the runtimes of records, as they name them.
var recordedRuntimes = map[Runtime]string{OpenVINO: "openvino 2026.4.1 CPU", ONNXRuntime: "onnxruntime 1.31.1", LiteRT: "tf.lite 2.21.0 CPU", TensorFlow: "tensorflow 2.21.0 CPU", XLA: "xla of jax 0.10.2 CPU"}

// shows holds a claim against the runs of a record.
func (c record) shows(e Evidence) error {
	// OpenVINO reads other formats with its own operators; the versions of ONNX's are one here.
	if runtimeOf(c.Op) == OpenVINO && c.Op != e.Operator {
		return fmt.Errorf("it is of %s", c.Op)
	}
	tried := 0
	var wrong error
	some := false
	for _, r := range c.Runs {
		if r.Runtime != recordedRuntimes[e.Runtime()] {
			continue
		}
		switch e.Run {
		case static:
			if r.Shapes != static {
				continue
			}
		case byDefault, unoptimised: // with static dims the positions are a constant at every level
			if r.Mode != e.Run || r.Shapes == static {
				continue
			}
		case fromTFLite, fromTF, folding:
			if r.Mode != e.Run {
				return fmt.Errorf("a run is in mode %q", r.Mode)
			}
		}
		tried++
		equal := c.Want != nil && reflect.DeepEqual(r.Output, c.Want)
		ok := false
		switch e.Answer {
		case Refuses:
			ok = r.Error != ""
		case Ends:
			ok = r.Signal != 0
		case ReadsOther: // or crashes, or finds zeros there; some run shows that it does
			some = some || !equal
			ok = r.Error == ""
		case Zeros, Counts, Clamps, Stretches, Sorts, OtherBatch:
			ok = equal
		case Halts:
			ok = r.Error != ""
			if r.Mode == "one thread" { // some elements are as before, or the sum that stops lacks terms
				ok = r.Output != nil && (slices.Contains(r.Output.Values, any(77.0)) || reflect.DeepEqual(r.Output.Values, []any{1.0, 2.0}))
				some = some || ok
			}
		case Spreads:
			ok = r.Output != nil && !equal
		case Slices, GivesElements:
			ok = r.Output != nil && !equal
		case Shortens:
			ok = r.Output != nil && r.Output.Shape[0] < c.Want.Shape[0]
		default:
			return fmt.Errorf("the test does not know the answer")
		}
		if !ok {
			wrong = fmt.Errorf("%s %s %s: %+v", r.Runtime, r.Mode, r.Shapes, r)
		}
	}
	return errors.Join(wrong, when(tried > 0 && (e.Answer != ReadsOther && e.Answer != Halts || some), "no run shows it"))
}

// TestRemedies holds that each remedy that changes the model was run in ONNX Runtime
// at every level and in OpenVINO, and that every run gave what is wanted; and that
// the other remedies say that a person decides.
func TestRemedies(t *testing.T) {
	tried := map[string]map[string]bool{} // by rule: runtimes with their modes
	for _, c := range records(t) {
		if !c.Remedy {
			continue
		}
		for _, r := range c.Runs {
			if c.Want == nil || !reflect.DeepEqual(r.Output, c.Want) {
				t.Errorf("%s, %s %s %s: %+v; want %+v", c.Name, r.Runtime, r.Mode, r.Shapes, r, c.Want)
			}
			for _, id := range c.Rules {
				if tried[id] == nil {
					tried[id] = map[string]bool{}
				}
				name, _, _ := strings.Cut(r.Runtime, " ")
				if !slices.Contains(slices.Collect(maps.Values(recordedRuntimes)), r.Runtime) {
					t.Errorf("%s is of %s, a runtime without a name", c.Name, r.Runtime)
				}
				tried[id][strings.TrimSpace(name+" "+r.Mode)] = true
			}
		}
	}
	for _, r := range rules {
		if !r.Changes {
			if !strings.HasPrefix(r.Remedy, "Decide ") {
				t.Errorf("%s changes no model and leaves nothing to a person: %s", r.ID, r.Remedy)
			}
			continue
		}
		want := []string{"onnxruntime no optimisation", "onnxruntime basic level", "onnxruntime extended level", "onnxruntime default level", "openvino"}
		switch r.ID {
		case "L.15", "L.35": // of types and tables that ONNX Runtime does not have
			want = []string{"openvino"}
		case "L.30":
			want = []string{"tf.lite", "openvino reading TFLite"}
		case "L.36":
			want = []string{"tensorflow", "openvino reading TensorFlow"}
		}
		for _, w := range want {
			if !tried[r.ID][w] {
				t.Errorf("%s: no run of its remedy in %s", r.ID, w)
			}
		}
	}
	// L.8: only the rank of data must be known.
	for _, name := range []string{"lint-unknown-rank-of-indices", "lint-unknown-rank-of-neither"} {
		if c := records(t)[name]; len(c.Runs) != 1 || !reflect.DeepEqual(c.Runs[0].Output, c.Want) {
			t.Errorf("%+v", c)
		}
	}
	// What was L.21's remedy before: OpenVINO drops the Slice.
	for _, r := range records(t)["lint-sliced-elements"].Runs {
		if refused := r.Error != ""; refused != strings.HasPrefix(r.Runtime, "openvino") {
			t.Errorf("%+v", r)
		}
	}
}

// TestEvidence holds that every rule's evidence exists, and says what the rule
// claims of that operator and that runtime.
func TestEvidence(t *testing.T) {
	all, own := cases(t), records(t)
	answers := map[Answer]int{}
	for _, r := range rules {
		if len(r.Evidence) == 0 {
			t.Errorf("%s has no evidence", r.ID)
		}
		for _, e := range r.Evidence {
			answers[e.Answer]++
			if _, err := operators.Find(e.Operator, 0); err != nil || e.Runtime() == "" {
				t.Errorf("%s: %s of %q: %v", r.ID, e.Operator, e.Runtime(), err)
			}
			if e.Case == "" {
				if !strings.HasPrefix(e.Source, "https://") || !strings.HasPrefix(e.String(), "not recorded") {
					t.Errorf("%s: %s has neither a case nor a source", r.ID, e.Operator)
				}
				continue
			}
			if c, ok := own[e.Case]; ok {
				if err := c.shows(e); err != nil {
					t.Errorf("%s: %s does not show that %s %s: %v", r.ID, e.Case, e.Who(), e.Answer, err)
				}
				continue
			}
			c, ok := all[e.Case]
			if !ok {
				t.Errorf("%s: there is no case %s", r.ID, e.Case)
				continue
			}
			if c.Op != e.Operator {
				t.Errorf("%s: %s is of %s, not of %s", r.ID, e.Case, c.Op, e.Operator)
			}
			if by := e.Runtime().Recorded(); by != "" && !strings.Contains(c.Source+" "+c.Note, by) {
				t.Errorf("%s: %s was recorded of %q, not of %s", r.ID, e.Case, c.Source, by)
			}
			if err := says(c, e); err != nil {
				t.Errorf("%s: %s does not say that %s %s: %v", r.ID, e.Case, e.Who(), e.Answer, err)
			}
		}
	}
	for _, a := range []Answer{Takes, Refuses, Counts, Zeros, Fills, Clamps, ReadsOther, LeavesUnset, Narrows, Misplaces, Ends, Cuts, Stretches, Repeats, Flattens, Keeps, Shortens, Slices, GivesElements, Halts, Sorts, Spreads} {
		if answers[a] == 0 {
			t.Errorf("no rule says that a runtime %s", a)
		}
	}
}

// says holds a claim against a case.
func says(c line, e Evidence) error {
	if e.DType != garner.Invalid {
		of := 0
		if strings.Contains(c.Name, "-indices-") {
			of = 1
		}
		if d, err := garner.ParseDType(c.Inputs[of].DType); err != nil || d != e.DType {
			return fmt.Errorf("its input %d is %s, not %s", of, c.Inputs[of].DType, e.DType)
		}
	}
	if e.Run != "" && e.Run != openRank { // the models of the corpora leave ranks open
		for _, also := range c.Also {
			if also.Run != e.Run {
				continue
			}
			switch e.Answer {
			case Refuses:
				return when(also.Error != "", "it is no error in %s", e.Run)
			case ReadsOther:
				return when(also.Undefined && strings.Contains(also.Note, "other memory"), "%s has the note %q", e.Run, also.Note)
			case Clamps, Fills:
				return computes(c, also.Outputs, e.Answer)
			}
		}
		return fmt.Errorf("it has no such run %s", e.Run)
	}
	note := c.Note
	refused := c.Error != "" && c.Recorded == nil && c.Policy.Negative == "" && c.Policy.Outside == ""
	if c.Recorded != nil {
		note += c.Recorded.Note
		refused = c.Recorded.Error != ""
	}
	own := c.Error == "" && c.Recorded == nil && len(c.Outputs) == 1 // the runtime's own answer, or what the policy makes of it
	switch e.Answer {
	case Takes, Keeps:
		b := 0
		if n, ok := c.Attributes["batch_dims"].(float64); ok {
			b = int(n)
		}
		return when(own && len(c.Outputs[0].Shape) >= b && slices.Equal(c.Outputs[0].Shape[:b], c.Inputs[0].Shape[:b]), "the result is %v", c.Outputs)
	case Refuses:
		failed := strings.Contains(note, "usual run:") && (strings.Contains(note, "FAIL") || strings.Contains(note, "failed"))
		return when(refused || failed, "it is no error; note %q", note)
	case Counts:
		below := slices.ContainsFunc(c.Inputs[1].Values, func(v any) bool { return v.(float64) < 0 })
		return when(own && below && (c.Policy.Negative == "from-end" || c.Policy.Outside == ""), "policy %v", c.Policy)
	case Zeros:
		return when(own && (c.Policy.Outside == "zero" || strings.Contains(note, "writes zero") || zeroRow(c)), "policy %v, note %q", c.Policy, note)
	case Fills, Clamps:
		if !own {
			return fmt.Errorf("it has no outputs")
		}
		return computes(c, c.Outputs, e.Answer)
	case LeavesUnset:
		return when(c.Recorded != nil && c.Recorded.Undefined && (strings.Contains(note, "leaves the output memory as it was") || strings.Contains(note, "memory nobody wrote")), "recorded %+v", c.Recorded)
	case ReadsOther, Narrows, Misplaces:
		want := map[Answer]string{ReadsOther: "reads other memory", Narrows: "in 32 bits", Misplaces: "mis-addresses"}[e.Answer]
		return when(c.Recorded != nil && c.Recorded.Undefined && strings.Contains(note, want), "recorded %+v", c.Recorded)
	case Ends:
		return when(strings.Contains(note, "process ended by signal"), "note %q", note)
	case Cuts:
		return when(len(c.Observed) == 1 && slices.Contains(c.Observed[0].Values, any("")) && strings.Contains(note, "wrong result"), "observed %v", c.Observed)
	case Stretches:
		return when(c.Error == "batch-dims" && c.Recorded != nil && len(c.Recorded.Outputs) == 1 && c.Inputs[0].Shape[0] == 1 && c.Inputs[1].Shape[0] > 1, "recorded %+v", c.Recorded)
	case Repeats:
		return when(c.Error == "rank" && c.Recorded != nil && len(c.Recorded.Outputs) == 1 && len(c.Inputs[0].Shape) == 0, "recorded %+v", c.Recorded)
	case Flattens:
		in := c.Inputs[1].Shape
		return when(own && c.Attributes["batch_dims"] == 2.0 && c.Outputs[0].Shape[0] == in[0]*in[1], "the result is %v", c.Outputs)
	}
	return fmt.Errorf("the test does not know the answer")
}

// zeroRow reports whether a case of rows by indices has zeros where an index is outside.
func zeroRow(c line) bool {
	width := len(c.Outputs[0].Values) / len(c.Inputs[1].Values)
	found := false
	for i, at := range c.Inputs[1].Values {
		if rows := float64(c.Inputs[0].Shape[0]); at.(float64) >= -rows && at.(float64) < rows {
			continue
		}
		found = true
		if slices.ContainsFunc(c.Outputs[0].Values[i*width:(i+1)*width], func(v any) bool { return v != 0.0 }) {
			return false
		}
	}
	return found
}

func when(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// computes holds a result against what garner makes of the operands where an
// index outside is clamped, or filled with NaN.
func computes(c line, results []values, a Answer) error {
	if len(results) != 1 {
		return fmt.Errorf("%d results", len(results))
	}
	o, err := operators.Find(c.Op, 0)
	if err != nil {
		return err
	}
	numbers := map[string]any{}
	for name, v := range c.Attributes {
		numbers[name] = int64(v.(float64))
	}
	if len(c.Inputs) > 2 {
		numbers["axis"] = int64(c.Inputs[2].Values[0].(float64))
	}
	op, err := o.New(numbers)
	if err != nil {
		return err
	}
	if a == Clamps {
		op = garner.WithOutside(op, garner.Clamp)
	} else {
		nan := garner.Of([]float32{0})
		if err := nan.SetText(0, "NaN"); err != nil {
			return err
		}
		op = garner.WithFill(op, nan)
	}
	data, err := tensor(c.Inputs[0])
	if err != nil {
		return err
	}
	indices := make([]int64, len(c.Inputs[1].Values))
	for i, v := range c.Inputs[1].Values {
		indices[i] = int64(v.(float64))
	}
	got, err := garner.Gather(op, data, garner.Of(indices, c.Inputs[1].Shape...))
	if err != nil {
		return err
	}
	want, err := tensor(results[0])
	if err != nil {
		return err
	}
	return when(got.Text() == want.Text(), "it has %s, where garner has %s", want.Text(), got.Text())
}

func tensor(v values) (garner.Tensor, error) {
	t, err := garner.New(garner.F32, v.Shape...)
	if err != nil || v.DType != "float32" {
		return t, fmt.Errorf("%s: %v", v.DType, err)
	}
	for i, e := range v.Values {
		if err := t.SetText(i, fmt.Sprint(e)); err != nil {
			return t, err
		}
	}
	return t, nil
}

// TestMeanings holds what the rules take for an operator's own meaning against
// the operators.
func TestMeanings(t *testing.T) {
	for _, e := range slices.Concat(outsideAnswers, negativeAnswers) {
		o, err := operators.Find(e.Operator, 0)
		if err != nil {
			t.Fatal(err)
		}
		if r := e.Runtime(); r != OpenVINO && r != ONNXRuntime {
			continue // models have these operators alone
		}
		values := map[string]any{}
		if slices.Contains(o.Inputs(), "num_segments") {
			values["num_segments"] = 1
		}
		op, err := o.New(values)
		if err != nil {
			t.Fatal(err)
		}
		data, indices, further := garner.SpecOf(garner.F32, 3), garner.SpecOf(garner.I64, 1), []garner.Spec(nil)
		if bags(e.Operator) {
			switch o.Further()[0] {
			case "per_sample_weights": // of rows of the indices
				indices = garner.SpecOf(garner.I64, 1, 1)
			default:
				further = []garner.Spec{garner.SpecOf(garner.I64, 1)}
			}
		} else if combines(o) { // a table of codes
			data, further = garner.SpecOf(garner.U4, 3, 2), []garner.Spec{garner.SpecOf(garner.F32, 3, 1)}
		}
		plan, err := garner.NewPlan(op, data, indices, further...)
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Negative == garner.FromEnd; got != countsFromEnd(e.Operator) {
			t.Errorf("%s counts from the end: %t", e.Operator, got)
		}
		if got := plan.Outside == garner.Zero; got != zeroesOutside(e.Operator) {
			t.Errorf("%s zeroes what is outside: %t", e.Operator, got)
		}
	}
}
