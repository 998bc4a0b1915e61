package main

import (
	"bytes"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/garner-go/garner/internal/corpus"
	"github.com/garner-go/garner/internal/play/recorded"
	"github.com/garner-go/garner/operators"
)

const folder = "../../testdata/conformance"

// loaded gives the entries, which take a second to make.
var loaded = sync.OnceValues(func() ([]recorded.Entry, error) { return entriesOf(folder) })

// TestUpToDate holds the table against the recordings, and its size.
func TestUpToDate(t *testing.T) {
	entries, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	want, err := text(entries)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../play/recorded/answers.json")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("answers.json is not what \"go generate ./internal/play/recorded\" writes (%v)", err)
	}
	if len(want) > 100_000 {
		t.Errorf("the table has %d bytes; a page carries it", len(want))
	}
}

// TestEntries holds that each entry's recording exists, is of its operator, and that
// each framework's operators have entries.
func TestEntries(t *testing.T) {
	entries, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	cases, err := corpus.Recordings(folder)
	if err != nil {
		t.Fatal(err)
	}
	operatorOf := map[string]string{}
	for _, r := range cases {
		operatorOf[r.Name] = r.Operator.Name
	}
	covered := map[string]bool{}
	for _, e := range entries {
		covered[e.Operator] = true
		if of := operatorOf[e.Case]; of != e.Operator && !bytes.HasPrefix([]byte(e.Case), []byte("lint-")) {
			t.Errorf("%s: the recording %s is of %q", e.Operator, e.Case, of)
		}
		if e.Runtime == "" || e.Answer.Answer == "" {
			t.Errorf("%s, %s: an entry without runtime or answer", e.Operator, e.Case)
		}
	}
	for _, o := range operators.All() {
		if own := slices.Contains([]string{"garner.Gather", "garner.GatherND", "garner.GatherElements"}, o.Name); covered[o.Name] == own {
			t.Errorf("%s: recorded %v", o.Name, covered[o.Name])
		}
	}
}

// TestClasses holds what some recordings are known to show.
func TestClasses(t *testing.T) {
	entries, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		operator string
		kind     recorded.Kind
		answer   string
		follows  bool
		when     string // an attribute
	}{
		{"onnx.Gather-13", recorded.Negative, recorded.FromEnd, true, ""},
		{"onnx.Gather-13", recorded.PastEnd, recorded.Refused, true, ""},
		{"openvino.Gather-1", recorded.Negative, recorded.Zero, false, ""},
		{"openvino.Gather-8", recorded.PastEnd, recorded.Zero, true, ""},
		{"openvino.Gather-8", recorded.Negative, recorded.FromEnd, true, ""},
		{"openvino.GatherND-8", recorded.PastEnd, recorded.Garbage, false, ""},
		{"torch.take_along_dim", recorded.PastEnd, recorded.Wrapped, false, ""},
		{"torch.index_select", recorded.Negative, recorded.Refused, true, ""},
		{"jax.numpy.take", recorded.PastEnd, recorded.NaN, true, ""},
		{"jax.numpy.take", recorded.PastEnd, recorded.LastRow, true, "clip"},
		{"jax.numpy.take", recorded.Below, recorded.FirstRow, true, "clip"},
		{"numpy.take", recorded.PastEnd, recorded.Wrapped, true, "wrap"},
		{"webnn.gather", recorded.PastEnd, recorded.LastRow, true, ""},
		{"tensorflow.GatherNd", recorded.Negative, recorded.Refused, true, ""},
		{"tflite.GATHER", recorded.PastEnd, recorded.Refused, true, ""},
		{"openvino.EmbeddingBagOffsets-15", recorded.PastEnd, recorded.Garbage, false, ""},
	} {
		if !slices.ContainsFunc(entries, func(e recorded.Entry) bool {
			return e.Operator == want.operator && e.Kind == want.kind && e.Answer.Answer == want.answer && e.Follows == want.follows &&
				e.Attributes["mode"] == want.when && len(e.Data)+len(e.Indices) == 0 && e.Run == ""
		}) {
			t.Errorf("%s, %s: no entry %q", want.operator, want.kind, want.answer)
		}
	}
}
