package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/corpus"
	"github.com/garner-go/garner/internal/play/recorded"
	"github.com/garner-go/garner/operators"
)

const folder, lintFolder = "../../testdata/conformance", "../../lint/testdata"

// loaded gives the entries, which take seconds to make.
var loaded = sync.OnceValues(func() ([]recorded.Entry, error) { return entriesOf(folder, lintFolder) })

// TestUpToDate holds the table against the recordings, and its size; and that it is read
// as it was written.
func TestUpToDate(t *testing.T) {
	entries, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	want := text(entries)
	got, err := os.ReadFile("../play/recorded/answers.tsv")
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("answers.tsv is not what \"go generate ./internal/play/recorded\" writes (%v)", err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(want); err != nil || w.Close() != nil || packed.Len() > 50_000 {
		t.Errorf("the table has %d bytes by gzip, and a page carries it (%v)", packed.Len(), err)
	}
	read := recorded.Entries()
	if len(read) != len(entries) {
		t.Fatalf("%d entries are read of %d", len(read), len(entries))
	}
	for i, e := range entries {
		if !reflect.DeepEqual(read[i], e) {
			t.Fatalf("%+v is read as %+v", e, read[i])
		}
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
	callOf := map[[3]string]bool{} // names, operators and dtypes of data: a name is unique in its file alone
	for _, r := range cases {
		callOf[[3]string{r.Name, r.Operator.Name, r.Data.DType().String()}] = true
	}
	covered := map[string]bool{}
	for _, e := range entries {
		covered[e.Operator] = true
		for i, name := range e.Cases {
			if _, ofLint := lintCalls[name]; !ofLint && !callOf[[3]string{name, e.Operator, e.Data[i]}] {
				t.Errorf("%s of %s: the recording %s is of another call", e.Operator, e.Data[i], name)
			}
		}
	}
	for _, o := range operators.All() {
		if own := strings.HasPrefix(o.Name, "garner."); covered[o.Name] == own {
			t.Errorf("%s: recorded %v", o.Name, covered[o.Name])
		}
	}
}

// TestOne holds that a runtime has one answer to a call by one way of running, but for
// memory that differs each time, and processes that end.
func TestOne(t *testing.T) {
	entries, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range entries {
		for _, b := range entries[i+1:] {
			if a.Operator != b.Operator || a.Reach != b.Reach {
				break
			}
			wild := a.Class == recorded.Garbage || a.Class == recorded.Ends || b.Class == recorded.Garbage || b.Class == recorded.Ends
			if !wild && a.Like.Equal(b.Like) && a.Runtime == b.Runtime && a.Run == b.Run && slices.ContainsFunc(a.Data, func(d string) bool { return slices.Contains(b.Data, d) }) {
				t.Errorf("%+v\n%+v", a, b)
			}
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
		reach    recorded.Reach
		answer   string
		follows  bool
		mode     string
		where    string
	}{
		{"onnx.Gather-13", recorded.Negative, recorded.FromEnd, true, "", ""},
		{"onnx.Gather-13", recorded.PastEnd, recorded.Refused, true, "", ""},
		{"onnx.Gather-13", recorded.Inside, recorded.Cut, false, "", "slices of several strings"},
		{"openvino.Gather-1", recorded.Negative, recorded.Zero, false, "", ""},
		{"openvino.Gather-8", recorded.PastEnd, recorded.Zero, true, "", ""},
		{"openvino.Gather-8", recorded.PastEnd, recorded.Memory, false, "", "a vector of up to 64 integers;an index far outside"},
		{"openvino.Gather-8", recorded.PastEnd, recorded.Memory, false, "", "a vector of up to 64 integers"},
		{"openvino.Gather-8", recorded.Below, recorded.Memory, false, "", "a vector of up to 64 integers"},
		{"openvino.Gather-8", recorded.Inside, recorded.Ends, false, "", "a batch of one"},
		{"openvino.Gather-8", recorded.Negative, recorded.FromEnd, true, "", ""},
		{"openvino.GatherND-8", recorded.PastEnd, recorded.Memory, false, "", ""},
		{"torch.take_along_dim", recorded.PastEnd, recorded.Wrapped, false, "", ""},
		{"torch.index_select", recorded.Negative, recorded.Refused, true, "", ""},
		{"jax.numpy.take", recorded.PastEnd, recorded.NaN, true, "", ""},
		{"jax.numpy.take", recorded.PastEnd, recorded.Fill, true, "", ""},
		{"jax.numpy.take", recorded.PastEnd, recorded.LastRow, true, "clip", ""},
		{"jax.numpy.take", recorded.Below, recorded.FirstRow, true, "clip", ""},
		{"numpy.take", recorded.PastEnd, recorded.Wrapped, true, "wrap", ""},
		{"webnn.gather", recorded.PastEnd, recorded.LastRow, true, "", ""},
		{"tensorflow.GatherNd", recorded.Negative, recorded.Refused, true, "", ""},
		{"tflite.GATHER", recorded.PastEnd, recorded.Refused, true, "", ""},
		{"openvino.EmbeddingBagOffsets-15", recorded.PastEnd, recorded.Varies, false, "", ""},
	} {
		if !slices.ContainsFunc(entries, func(e recorded.Entry) bool {
			return e.Operator == want.operator && e.Reach == want.reach && e.Class == want.answer && e.Follows == want.follows &&
				e.Attributes["mode"] == want.mode && strings.Join(e.Where, ";") == want.where && e.Run == ""
		}) {
			t.Errorf("%s, %s: no entry %q", want.operator, want.reach, want.answer)
		}
	}
}

// TestUnknown holds that a line whose words nobody has given a meaning is an error that
// names it, and is not guessed; and so are recordings that contradict each other.
func TestUnknown(t *testing.T) {
	const call = `"op":"openvino.Gather-7","attributes":{"batch_dims":0},"inputs":[{"dtype":"f32","shape":[3],"values":[1,2,3]},{"dtype":"i64","shape":[1],"values":[7]},{"dtype":"i64","shape":[],"values":[0]}],`
	zeros := func(name string) string {
		return `{"name":"` + name + `",` + call + `"error":"index-out-of-range","source":"specification; openvino 1 CPU","recorded":{"outputs":[{"dtype":"f32","shape":[1],"values":[0]}]}}` + "\n"
	}
	for _, tt := range []struct{ lines, disputed, want string }{
		{`{"name":"a-line",` + call + `"error":"index-out-of-range","source":"specification; openvino 1 CPU","recorded":{"undefined":true,"note":"the peer did not answer within 60 s"}}`, "", "a.jsonl: a-line: say in genrecorded what this note means: \"the peer did not answer within 60 s\""},
		{`{"name":"a-line",` + call + `"error":"index-out-of-range","source":"openvino 1 CPU","note":"openvino 1 CPU, usual run: it was late"}`, "", "a.jsonl: a-line: say in genrecorded what this note means: \"it was late\""},
		{zeros("a"), "a.jsonl a | it is wrong | {}\n", "a: say in genrecorded what its evidence means: it is wrong"},
		{zeros("a") + `{"name":"b",` + call + `"error":"index-out-of-range","source":"openvino 1 CPU"}`, "", "0, which follows: false (a) error, which follows: true (b)"},
	} {
		root := t.TempDir()
		if err := os.Mkdir(filepath.Join(root, "conformance"), 0o777); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"conformance/a.jsonl": tt.lines, "disputed.txt": tt.disputed} {
			if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := entriesOf(filepath.Join(root, "conformance"), lintFolder); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v; want %s", err, tt.want)
		}
	}
	if _, err := entriesOf(folder, t.TempDir()); err == nil {
		t.Error("a folder without the recordings of lint is read")
	}
}

// TestChecksum holds that a result of which only a checksum is known tells nothing.
func TestChecksum(t *testing.T) {
	op, err := operators.Parse("openvino.Gather-7", nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := garner.NewPlan(op, garner.SpecOf(garner.F32, 3), garner.SpecOf(garner.I64, 1))
	if err != nil {
		t.Fatal(err)
	}
	if class, err := judge(corpus.Recording{}, recorded.PastEnd, plan, corpus.Run{Unread: true, Departs: true}); class != "" || err != nil {
		t.Errorf("%q, %v", class, err)
	}
}
