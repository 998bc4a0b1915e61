package graphdef

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/source"
	"github.com/garner-go/garner/tensorflow/graphdef/internal/tfpb"
)

// A plainTensor is a tensor in want.json.
type plainTensor struct {
	DType   string
	Shape   []int
	Hex     string
	Strings []string
}

// tensor makes the tensor.
func (p plainTensor) tensor(t testing.TB) garner.Tensor {
	t.Helper()
	if p.DType == "string" {
		made, err := garner.FromSlice(p.Strings, p.Shape...)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	d, err := garner.ParseDType(p.DType)
	if err != nil {
		t.Fatal(err)
	}
	b, err := hex.DecodeString(p.Hex)
	if err != nil {
		t.Fatal(err)
	}
	made, err := garner.FromBytes(d, b, p.Shape...)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// A described is what TensorFlow says of a model: see testdata/walk.py.
type described struct {
	Signatures map[string]struct {
		Gathers []struct {
			Op, Name   string
			Attributes map[string]any
		}
		Feeds, Results map[string]plainTensor
	}
	Variables map[string]plainTensor
}

func describedModels(t testing.TB) map[string]described {
	t.Helper()
	b, err := os.ReadFile("testdata/want.json")
	if err != nil {
		t.Fatal(err)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		t.Fatal(err)
	}
	delete(raw, "checkpoint")
	delete(raw, "saved")
	all := map[string]described{}
	for name, text := range raw {
		var d described
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		all[name] = d
	}
	return all
}

// fileOf is the path of a model in testdata.
func fileOf(name string) string {
	if name == "frozen" {
		name += ".pb"
	}
	return filepath.Join("testdata", name)
}

// equal holds two tensors against each other, bit for bit.
func equal(t *testing.T, what string, got, want garner.Tensor) {
	t.Helper()
	if got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) {
		t.Errorf("%s is %s%s; TensorFlow has %s%s", what, got.DType(), got.Shape(), want.DType(), want.Shape())
		return
	}
	got, err := got.Clone()
	if err != nil {
		t.Fatal(err)
	}
	if want.DType() != garner.String {
		a, err := got.Bytes()
		b, also := want.Bytes()
		if err != nil || also != nil || !bytes.Equal(a, b) {
			t.Errorf("%s is %s, %v; TensorFlow has %s", what, got.Text(), err, want.Text())
		}
		return
	}
	if a, b := got.Text(), want.Text(); a != b {
		t.Errorf("%s is %s; TensorFlow has %s", what, a, b)
	}
}

// notRun are the results that garner does not run, with a part of what it says.
var notRun = map[string]string{
	"frozen Identity_1": "does not run Sum", "old w": "does not run Enter", "old u": "does not run Switch", "old z": "does not run DynamicPartition",
	"gathers/branches total": "does not run While",
	"around fdiv":            "TensorFlow gives the quotient or the product", "around fchain": "changes the order of both", "around odd": "a denormal number", "around odd_lt": "a denormal number",
	"around nan": "NaN, whose bits", "around tohalf_odd": "makes a denormal f16", "around reshape0": "leaves no dim for -1", "around trunc_odd": "which i32 does not hold",
}

// TestModels holds the reader and run against TensorFlow's own walk and results: the gathers
// with their attributes, in its order; the variables; and every result that garner runs.
func TestModels(t *testing.T) {
	for name, want := range describedModels(t) {
		for signature, of := range want.Signatures {
			t.Run(name+" "+signature, func(t *testing.T) {
				m, err := Open(fileOf(name), Options{Signature: signature})
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				var gathers []*model.Node
				for n := range m.Gathers() {
					gathers = append(gathers, n)
				}
				if len(gathers) != len(of.Gathers) {
					t.Fatalf("it has %d gathers; TensorFlow has %d", len(gathers), len(of.Gathers))
				}
				// Topological order may differ from the order of the graph.
				left := slices.Clone(of.Gathers)
				for _, n := range gathers {
					i := slices.IndexFunc(left, func(g struct {
						Op, Name   string
						Attributes map[string]any
					}) bool {
						return g.Op == n.Op && (n.Name == g.Name || strings.HasSuffix(n.Name, "/"+g.Name))
					})
					if i < 0 {
						t.Errorf("TensorFlow has no %s (%s)", n.Name, n.Op)
						continue
					}
					for key, value := range left[i].Attributes {
						if v, ok := value.(float64); ok {
							value = int64(v)
						}
						if n.Attributes[key] != value {
							t.Errorf("%s: %s is %v; TensorFlow has %v", n.Name, key, n.Attributes[key], value)
						}
					}
					left = slices.Delete(left, i, i+1)
				}
				given := map[*model.Value]garner.Tensor{}
				for _, v := range m.Graph.Inputs {
					feed, ok := of.Feeds[v.Name]
					if !ok {
						t.Fatalf("input %s is not fed", v)
					}
					given[v] = feed.tensor(t)
				}
				if len(m.Graph.Outputs) != len(of.Results) {
					t.Errorf("it has %d results; TensorFlow has %d", len(m.Graph.Outputs), len(of.Results))
				}
				for _, r := range m.Graph.Outputs {
					made, err := run.Values(t.Context(), m, []*model.Value{r.Value}, given, 1<<30)
					which := name
					if signature == "branches" {
						which += "/" + signature
					}
					if not, ok := notRun[which+" "+r.Name]; ok {
						if err == nil || !strings.Contains(err.Error(), not) {
							t.Errorf("result %s: %v; want %q", r.Name, err, not)
						}
						continue
					}
					if err != nil {
						t.Errorf("result %s: %v", r.Name, err)
						continue
					}
					equal(t, "result "+r.Name, made[0], of.Results[r.Name].tensor(t))
				}
			})
		}
		t.Run(name+" variables", func(t *testing.T) {
			m, err := Open(fileOf(name), Options{Constants: true})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			for key, v := range want.Variables {
				constant(t, m, key, v)
			}
		})
	}
}

// constant holds a constant against TensorFlow's.
func constant(t *testing.T, m *model.Model, key string, want plainTensor) {
	t.Helper()
	c, err := m.Constant(key)
	if err != nil {
		t.Errorf("%s: %v", key, err)
		return
	}
	made, err := c.Tensor()
	if err != nil {
		t.Errorf("%s: %v", key, err)
		return
	}
	equal(t, key, made, want.tensor(t))
	if c.Verify != nil {
		if err := c.Verify(t.Context()); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	if c.File == "" {
		return
	}
	a, err := c.Open()
	if err != nil {
		t.Errorf("%s: %v", key, err)
		return
	}
	defer a.Close()
	if a.Spec().String() != c.Spec.String() {
		t.Errorf("%s opens as %s; it is %s", key, a.Spec(), c.Spec)
	}
	b := make([]byte, c.Size)
	if err := a.Fetch(t.Context(), source.Rows{At: []int64{0}, Size: len(b), Dst: b}); err != nil {
		t.Errorf("%s: %v", key, err)
		return
	}
	if made, err = garner.FromBytes(c.Spec.DType, b, made.Shape()...); err != nil {
		t.Errorf("%s: %v", key, err)
		return
	}
	equal(t, key+" by offset", made, want.tensor(t))
}

// TestCheckpoints holds checkpoints alone against TensorFlow's load_checkpoint.
func TestCheckpoints(t *testing.T) {
	b, err := os.ReadFile("testdata/want.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Checkpoint map[string]map[string]plainTensor
	}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	if len(want.Checkpoint) != 2 {
		t.Fatalf("%d checkpoints", len(want.Checkpoint))
	}
	for name, variables := range want.Checkpoint {
		m, err := Open("testdata/checkpoint/"+name+".index", Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		n := 0
		for range m.Constants() {
			n++
		}
		if n != len(variables) {
			t.Errorf("%s has %d tensors; TensorFlow has %d", name, n, len(variables))
		}
		for key, v := range variables {
			constant(t, m, key, v)
		}
	}
}

// TestSaved holds graphs that a Saver wrote beside their checkpoints, without a signature: what the
// Savers added is no result, whether the file describes the Saver or not, and the results are
// TensorFlow's.
func TestSaved(t *testing.T) {
	b, err := os.ReadFile("testdata/want.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct{ Saved described }
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	if len(want.Saved.Signatures) != 2 {
		t.Fatalf("%d graphs", len(want.Saved.Signatures))
	}
	for name, of := range want.Saved.Signatures {
		path := "testdata/saved/" + name + ".meta"
		m, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if len(m.Graph.Inputs) != 1 || len(m.Graph.Outputs) != len(of.Results) {
			t.Fatalf("%s: inputs %v, results %v; TensorFlow has %d", name, m.Graph.Inputs, m.Graph.Outputs, len(of.Results))
		}
		given := map[*model.Value]garner.Tensor{m.Graph.Inputs[0]: of.Feeds["ids"].tensor(t)}
		for _, r := range m.Graph.Outputs {
			made, err := run.Values(t.Context(), m, []*model.Value{r.Value}, given, 1<<20)
			if err != nil {
				t.Errorf("%s: result %s: %v", name, r.Name, err)
				continue
			}
			equal(t, name+": result "+r.Name, made[0], of.Results[r.Name].tensor(t))
		}
		for n := range m.Nodes() {
			if strings.HasPrefix(n.Name, "save") {
				t.Errorf("%s: node %s is of a Saver, and no result needs it", name, n.Name)
			}
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		meta := &tfpb.MetaGraphDef{}
		if err := proto.Unmarshal(b, meta); err != nil {
			t.Fatal(err)
		}
		if b, err = proto.Marshal(meta.GraphDef); err != nil {
			t.Fatal(err)
		}
		alone, err := FromBytes(b, false, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(alone.Graph.Outputs) != len(of.Results) {
			t.Errorf("%s: the graph alone has the results %v; TensorFlow has %d", name, alone.Graph.Outputs, len(of.Results))
		}
	}
}
