package flatbuffer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/flattest"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/model"
)

const models = "../../testdata/models/"

// A dumped is a subgraph as TensorFlow's own reader of the schema finds it.
type dumped struct {
	Name    string
	Inputs  []int
	Outputs []int
	Tensors []struct {
		Name, Type       string
		Shape, Signature []int
		Scales           []float64
		Zeros            []int64
		Axis             int
		Sha256           string
	}
	Operators []struct {
		Op              string
		Inputs, Outputs []int
		Axis            *int64
		BatchDims       *int64 `json:"batch_dims"`
	}
}

var typeNames = map[string]garner.DType{
	"FLOAT32": garner.F32, "FLOAT16": garner.F16, "INT32": garner.I32, "UINT8": garner.U8, "INT64": garner.I64, "STRING": garner.String, "BOOL": garner.Bool,
	"INT8": garner.I8, "INT4": garner.I4,
}

// TestSchema holds the models of testdata/models against what TensorFlow's reader of the schema found in
// them: operators, their attributes and operands, types, shapes, scales and elements.
func TestSchema(t *testing.T) {
	b, err := os.ReadFile("testdata/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]dumped{}
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	gathered := 0
	for name, graphs := range all {
		t.Run(name, func(t *testing.T) {
			m, err := Open(models+name+".tflite", Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			seen := map[string]bool{} // subgraphs
			at := map[string]*model.Node{}
			for n := range m.Nodes() {
				at[n.At] = n
			}
			for i, g := range graphs {
				for k, o := range g.Operators {
					n := at[fmt.Sprintf("operator %d of subgraph %d", k, i)]
					if n == nil {
						t.Errorf("operator %d of %d is missing", k, i)
						continue
					}
					seen[g.Name] = true
					if n.Op != o.Op {
						t.Errorf("%s is %s; want %s", n.At, n.Op, o.Op)
					}
					in := slices.Clone(o.Inputs)
					if o.Op == "EMBEDDING_LOOKUP" {
						slices.Reverse(in)
					}
					if isGather := n.IsGather(); isGather != slices.Contains([]string{"GATHER", "GATHER_ND", "EMBEDDING_LOOKUP"}, o.Op) {
						t.Errorf("%s: it is a gather: %t", n.At, isGather)
					} else if isGather {
						gathered++
					}
					if o.Axis != nil && (n.Attributes["axis"] != *o.Axis || n.Attributes["batch_dims"] != *o.BatchDims) {
						t.Errorf("%s: %v", n.At, n.Attributes)
					}
					if len(n.Inputs) < len(in) || len(n.Outputs) != len(o.Outputs) {
						t.Fatalf("%s has %d inputs and %d outputs", n.At, len(n.Inputs), len(n.Outputs))
					}
					for j, v := range slices.Concat(n.Inputs[:len(in)], n.Outputs) {
						number := slices.Concat(in, o.Outputs)[j]
						want := g.Tensors[number]
						if v.Name != want.Name && !slices.Contains(v.Aliases, want.Name) {
							t.Errorf("%s: value %d is %s %v; want %s", n.At, j, v.Name, v.Aliases, want.Name)
						}
						if v.Spec.DType != typeNames[want.Type] && !n.IsGather() {
							t.Errorf("%s: %s is %s; want %s", n.At, v.Name, v.Spec, want.Type)
						}
						dims := want.Shape
						if len(want.Signature) == len(dims) {
							dims = want.Signature
						}
						for axis, d := range v.Spec.Dims {
							if len(v.Spec.Dims) != len(dims) || d.Known() != (dims[axis] >= 0) || d.Known() && d.Min != dims[axis] {
								t.Errorf("%s: %s is %s; want %v", n.At, v.Name, v.Spec, dims)
							}
						}
						if (v.Quantised != nil) != (len(want.Scales) > 0) {
							t.Errorf("%s: %s is quantised: %v; want %v", n.At, v.Name, v.Quantised, want.Scales)
						} else if q := v.Quantised; q != nil {
							for s, scale := range want.Scales {
								if float64(q.Scales[s]) != scale || q.Zeros[s] != want.Zeros[s] || q.Axis != want.Axis {
									t.Errorf("%s: %s has %v %v; want %v %v", n.At, v.Name, q.Scales, q.Zeros, want.Scales, want.Zeros)
								}
							}
						}
						if got := digest(t, v.Constant); got != want.Sha256 && want.Type != "STRING" {
							t.Errorf("%s: the elements of %s have the digest %q; want %q", n.At, v.Name, got, want.Sha256)
						}
					}
				}
			}
			if len(seen) != len(graphs) {
				t.Errorf("%d subgraphs are seen of %d", len(seen), len(graphs))
			}
		})
	}
	if gathered != 36 {
		t.Errorf("%d gathers", gathered)
	}
}

// digest is that of a constant's bytes in the file; "" for none.
func digest(t *testing.T, c *model.Constant) string {
	t.Helper()
	if c == nil || c.Spec.DType == garner.String || c.Size == 0 {
		return ""
	}
	b, err := os.ReadFile(c.File)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b[c.Offset : c.Offset+c.Size])
	return hex.EncodeToString(sum[:])
}

// look looks at all of a model.
func look(m *model.Model) error {
	var all []error
	for _, c := range m.Constants() {
		made, err := c.Tensor()
		if err == nil {
			err = mapped.Guard(func() error {
				if made.Len() > 0 {
					_ = made.Text()
				}
				return nil
			})
		}
		all = append(all, err)
	}
	for n := range m.Nodes() {
		for _, v := range slices.Concat(n.Inputs, n.Outputs) {
			if v != nil {
				_ = v.String()
			}
		}
	}
	return errors.Join(all...)
}

// TestDamaged truncates models, those of up to 3000 bytes at every byte, and changes bytes of it. What is read is a
// model or an error that says what to do; nothing panics.
func TestDamaged(t *testing.T) {
	paths, err := filepath.Glob(models + "*.tflite")
	if err != nil || len(paths) < 9 {
		t.Fatalf("%v, %v", paths, err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		end := 0
		step := 1
		if len(b) > 3000 {
			step = 7
		}
		for n := 0; n < len(b); n += step {
			m, err := FromBytes(b[:n])
			if err == nil {
				if end == 0 {
					end = n // what is behind may be text that nothing needs
				}
				_ = look(m)
			} else if end > 0 || !strings.Contains(err.Error(), ";") {
				t.Fatalf("%s cut at %d: %v", path, n, err)
			}
		}
		if end > 0 && end < len(b)-64 {
			t.Errorf("%s is a model after %d of %d bytes", path, end, len(b))
		}
		for range 400 {
			c := slices.Clone(b)
			for range 1 + rng.IntN(3) {
				c[rng.IntN(len(c))] = byte(rng.Uint32())
			}
			if m, err := FromBytes(c); err == nil {
				_ = look(m)
			}
		}
	}
}

// FuzzModel holds that no bytes make the reader panic, or a model that cannot be looked at.
func FuzzModel(f *testing.F) {
	paths, err := filepath.Glob(models + "*.tflite")
	if err != nil || len(paths) == 0 {
		f.Fatal(paths, err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(flattest.Plain())
	f.Fuzz(func(_ *testing.T, b []byte) {
		if m, err := FromBytes(b); err == nil {
			_ = look(m)
		}
	})
}

// TestRefused reads models that contradict themselves.
func TestRefused(t *testing.T) {
	gather := flattest.Op(0, []int{0, 1}, []int{2}, 23, 0, 0)
	tensors := []flattest.Tensor{flattest.Make("table", 0, []int{3, 2}, 1, nil), flattest.Make("ids", 2, []int{2}, 0, nil), flattest.Make("y", 0, []int{2, 2}, 0, nil)}
	of := func(change func(g *flattest.Graph)) []byte {
		g := flattest.Graph{Name: "main", Tensors: slices.Clone(tensors), Operators: []flattest.Operator{gather}, In: []int{1}, Out: []int{2}}
		change(&g)
		return flattest.Build([]int{36, 118, 119}, [][]byte{make([]byte, 24)}, []flattest.Graph{g}, nil)
	}
	several := func(codes []int, graphs ...flattest.Graph) []byte { return flattest.Build(codes, nil, graphs, nil) }
	calls := func(to ...int) flattest.Graph { // by CALL
		g := flattest.Graph{Name: "g"}
		for _, n := range to {
			g.Operators = append(g.Operators, flattest.Op(0, nil, nil, 16, n))
		}
		return g
	}
	deep := []flattest.Graph{}
	for i := range 70 {
		deep = append(deep, calls(i+1))
	}
	deep = append(deep, calls())
	wide := []flattest.Graph{}
	for i := range 40 {
		wide = append(wide, calls(i+1, i+1))
	}
	wide = append(wide, calls())
	for name, tt := range map[string]struct {
		b    []byte
		want string
	}{
		"empty":                       {nil, "the file is empty"},
		"another kind":                {[]byte("PK\x03\x04 and more"), "no TFLite model"},
		"an older schema":             {[]byte("\x00\x00\x00\x00TFL2    "), "schema is"},
		"a tensor not there":          {of(func(g *flattest.Graph) { g.Operators[0].In = []int{0, 7} }), "tensor 7, and there are 3"},
		"an input below":              {of(func(g *flattest.Graph) { g.Operators[0].In = []int{0, -2} }), "tensor -2"},
		"an output not there":         {of(func(g *flattest.Graph) { g.Operators[0].Out = []int{9} }), "tensor 9"},
		"one input":                   {of(func(g *flattest.Graph) { g.Operators[0].In = []int{0} }), "it has 1 inputs and 1 outputs; GATHER has 2 and 1"},
		"no data":                     {of(func(g *flattest.Graph) { g.Operators[0].In = []int{-1, 1} }), "it has 2 inputs and 1 outputs"},
		"a code not there":            {of(func(g *flattest.Graph) { g.Operators[0].Code = 5 }), "operator code 5, and there are 3"},
		"a buffer not there":          {of(func(g *flattest.Graph) { g.Tensors[0].Buffer = 9 }), "buffer 9, and there are 2"},
		"a buffer of other size":      {of(func(g *flattest.Graph) { g.Tensors[0].Shape = []int{3, 3} }), "its buffer has 24 bytes; f32[3,3] takes 36"},
		"too many elements":           {of(func(g *flattest.Graph) { g.Tensors[0].Shape = []int{1 << 30, 1 << 30, 1 << 30} }), "elements than an int can count"},
		"a dim below":                 {of(func(g *flattest.Graph) { g.Tensors[0].Shape = []int{-7} }), "dim 0 of tensor \"table\" is -7"},
		"a constant of unknown shape": {of(func(g *flattest.Graph) { g.Tensors[0].Shape = []int{-1, 2} }), "a dim that is unknown"},
		"many dims":                   {of(func(g *flattest.Graph) { g.Tensors[0].Shape = make([]int, 65) }), "65 dims; there may be 64"},
		"read before made": {of(func(g *flattest.Graph) {
			g.Operators = append(g.Operators, gather)
			g.Operators[0].In = []int{0, 3}
			g.Operators[1].Out = []int{3}
			g.Tensors = append(g.Tensors, flattest.Make("i", 2, []int{2}, 0, nil))
		}), "which operator 1 makes after it"},
		"a subgraph not there": {of(func(g *flattest.Graph) {
			g.Operators = append(g.Operators, flattest.Op(1, []int{1}, nil, 92, 1, 2))
		}), "refers to subgraph 1, and there are 1"},
		"a subgraph in itself":     {several([]int{31}, calls(0)), "refers to itself"},
		"subgraphs in a circle":    {several([]int{31}, calls(), calls(2), calls(1)), "refers to itself"},
		"deep subgraphs":           {several([]int{31}, deep...), "no real model nests more than 64"},
		"subgraphs twice each":     {several([]int{31}, wide...), "no real model's do"},
		"no subgraph":              {several([]int{31}), "it has no subgraph"},
		"another number of values": {several([]int{118}, flattest.Graph{Name: "g", Tensors: tensors[1:], Operators: []flattest.Operator{flattest.Op(0, []int{0, 0, 0}, nil, 92, 1, 1)}}, flattest.Graph{Name: "then"}), "passes 2 values to a subgraph of 0 inputs"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := FromBytes(tt.b)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v; want %s", err, tt.want)
			}
		})
	}
	if m, err := FromBytes(flattest.Plain()); err != nil || len(m.Graph.Nodes) != 1 || m.Graph.Nodes[0].Operator != "tflite.GATHER" {
		t.Errorf("%v, %v", m, err)
	}
}

// TestExternal reads elements in a file beside the model, and refuses files elsewhere.
func TestExternal(t *testing.T) {
	dir := t.TempDir()
	values := garner.Of([]float32{0, 1, 2, 3, 4, 5}, 3, 2)
	raw, err := values.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "weights.bin"), append([]byte("head"), raw...), 0o666); err != nil {
		t.Fatal(err)
	}
	of := func(file, packing string, group, id int, offset, size uint64) []byte {
		return flattest.Build([]int{36}, nil, []flattest.Graph{{
			Name:      "main",
			Tensors:   []flattest.Tensor{flattest.Make("table", 0, []int{3, 2}, 0, map[int]any{10: id}), flattest.Make("ids", 2, []int{2}, 0, nil), flattest.Make("y", 0, []int{2, 2}, 0, nil)},
			Operators: []flattest.Operator{flattest.Op(0, []int{0, 1}, []int{2}, 23, 0, 0)}, In: []int{1}, Out: []int{2},
		}}, func(w *flattest.Writer, fields []any) func() {
			groups, buffers, one, other, name, kind := &flattest.Place{}, &flattest.Place{}, &flattest.Place{}, &flattest.Place{}, &flattest.Place{}, &flattest.Place{}
			fields[8], fields[9] = groups, buffers
			return func() {
				w.Refs(groups, one)
				w.Table(one, name)
				w.Bytes(name, []byte(file))
				w.Refs(buffers, other)
				w.Table(other, 7, group, offset, size, kind)
				w.Bytes(kind, []byte(packing))
			}
		})
	}
	path := filepath.Join(dir, "m.tflite")
	for name, tt := range map[string]struct {
		b    []byte
		want string
	}{
		"good":            {of("weights.bin", "unpacked", 0, 7, 4, 24), ""},
		"no packing":      {of("weights.bin", "", 0, 7, 4, 24), ""},
		"no such id":      {of("weights.bin", "", 0, 8, 4, 24), "the external buffer 8, and there is none of that id"},
		"no such group":   {of("weights.bin", "", 3, 7, 4, 24), "in file 3, and there are 1"},
		"packed":          {of("weights.bin", "zip", 0, 7, 4, 24), `packed as "zip"`},
		"short":           {of("weights.bin", "", 0, 7, 5, 24), "which has 28 bytes"},
		"far":             {of("weights.bin", "", 0, 7, 1<<63, 24), "which has 28 bytes"},
		"another size":    {of("weights.bin", "", 0, 7, 4, 20), "its buffer has 20 bytes"},
		"another folder":  {of("../weights.bin", "", 0, 7, 4, 24), "not in the model's folder"},
		"no such file":    {of("other.bin", "", 0, 7, 4, 24), "there is no such file"},
		"an absolute one": {of("/etc/passwd", "", 0, 7, 4, 24), "not in the model's folder"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, tt.b, 0o666); err != nil {
				t.Fatal(err)
			}
			m, err := Open(path, Options{})
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v; want %s", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			c := m.Graph.Nodes[0].Inputs[0].Constant
			made, err := c.Tensor()
			if err != nil || made.Text() != values.Text() || c.Offset != 4 || len(m.Files) != 2 {
				t.Errorf("%v, %v, %v", made, err, m.Files)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			if _, err := c.Tensor(); err == nil {
				t.Error("a constant is read from a closed model")
			}
		})
	}
}

// TestSignature reads a file of two signatures whole, and each signature alone.
func TestSignature(t *testing.T) {
	for signature, want := range map[string]string{
		"":        "columns/at encode/ids > columns/out encode/rows of [columns encode]",
		"encode":  "ids > rows of []",
		"columns": "at > out of []",
	} {
		m, err := Open(models+"lite_signatures.tflite", Options{Signature: signature})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range m.Graph.Inputs {
			got = append(got, v.Name)
		}
		got = append(got, ">")
		for _, o := range m.Graph.Outputs {
			got = append(got, o.Name)
		}
		if got := fmt.Sprintf("%s of %v", strings.Join(got, " "), m.Signatures); got != want {
			t.Errorf("%q: %s; want %s", signature, got, want)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	_, err := Open(models+"lite_signatures.tflite", Options{Signature: "nix"})
	if !errors.Is(err, garner.ErrAttribute) || !strings.Contains(err.Error(), `no signature "nix"; it has "columns", "encode"`) {
		t.Errorf("%v", err)
	}
}
