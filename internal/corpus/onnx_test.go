package corpus

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// message encodes a protobuf message: numbers as varints, bytes and strings
// with their length, float32 as fixed 32 bits.
func message(parts ...any) (m []byte) {
	for i := 0; i < len(parts); i += 2 {
		field := protowire.Number(parts[i].(int))
		switch v := parts[i+1].(type) {
		case int:
			m = protowire.AppendTag(m, field, protowire.VarintType)
			m = protowire.AppendVarint(m, uint64(v))
		case uint64:
			m = protowire.AppendTag(m, field, protowire.VarintType)
			m = protowire.AppendVarint(m, v)
		case string:
			m = protowire.AppendTag(m, field, protowire.BytesType)
			m = protowire.AppendString(m, v)
		case []byte:
			m = protowire.AppendTag(m, field, protowire.BytesType)
			m = protowire.AppendBytes(m, v)
		case fixed32:
			m = protowire.AppendTag(m, field, protowire.Fixed32Type)
			m = protowire.AppendFixed32(m, uint32(v))
		case fixed64:
			m = protowire.AppendTag(m, field, protowire.Fixed64Type)
			m = protowire.AppendFixed64(m, uint64(v))
		}
	}
	return m
}

type (
	fixed32 uint32
	fixed64 uint64
)

// madeModel is a model of one node for a test to change.
type madeModel struct {
	ir                     int
	opset                  int
	domain, nodeDomain, op string
	inputs, outputs        []string
	nodeInputs             []string
	attributes             [][]byte
	initializers           [][]byte
}

func plainModel() madeModel {
	return madeModel{ir: 8, opset: 13, op: "Gather", inputs: []string{"d", "i"}, outputs: []string{"o"}, nodeInputs: []string{"d", "i"}}
}

func (m madeModel) bytes() []byte {
	var node, graph []byte
	for _, n := range m.nodeInputs {
		node = append(node, message(1, n)...)
	}
	node = append(node, message(2, "o", 4, m.op, 7, m.nodeDomain)...)
	for _, a := range m.attributes {
		node = append(node, message(5, a)...)
	}
	graph = message(1, node)
	for _, t := range m.initializers {
		graph = append(graph, message(5, t)...)
	}
	for _, n := range m.inputs {
		graph = append(graph, message(11, message(1, n))...)
	}
	for _, n := range m.outputs {
		graph = append(graph, message(12, message(1, n))...)
	}
	b := message(1, m.ir, 7, graph)
	if m.opset != 0 {
		b = append(b, message(8, message(1, m.domain, 2, m.opset))...)
	}
	return b
}

// TestTestDirectory writes valid and invalid test directories and reads them.
func TestTestDirectory(t *testing.T) {
	data := message(1, 3, 2, 7, 7, "\x05\x06\x07", 8, "d")
	indices := message(1, 1, 2, 7, 7, "\x01", 8, "i")
	output := message(1, 1, 2, 7, 7, "\x06")
	good := map[string][]byte{"input_0.pb": data, "input_1.pb": indices, "output_0.pb": output}
	without := func(names ...string) map[string][]byte {
		set := map[string][]byte{}
		for name, b := range good {
			if !slices.Contains(names, name) {
				set[name] = b
			}
		}
		return set
	}
	with := func(name string, b []byte) map[string][]byte {
		set := without()
		set[name] = b
		return set
	}
	for _, tt := range []struct {
		name   string
		change func(*madeModel)
		set    map[string][]byte
		op     string
		detail string // empty: the case passes
	}{
		{"good", func(*madeModel) {}, good, "onnx.Gather-13", ""},
		{"long name of the domain", func(m *madeModel) { m.domain, m.nodeDomain = "ai.onnx", "ai.onnx" }, good, "onnx.Gather-13", ""},
		{"no opset, old", func(m *madeModel) { m.opset, m.ir = 0, 2 }, good, "onnx.Gather-1", ""},
		{"no opset", func(m *madeModel) { m.opset = 0 }, good, "", "imports no opset"},
		{"another domain", func(m *madeModel) { m.nodeDomain = "org.example" }, good, "org.example.Gather", "no operator"},
		{"no such domain", func(m *madeModel) { m.domain, m.nodeDomain = "org.example", "org.example" }, good, "org.example.Gather", "no operator"},
		{"no gather", func(m *madeModel) { m.op = "Add" }, good, "onnx.Add", "no operator onnx.Add"},
		{"no op_type", func(m *madeModel) { m.op = "" }, good, "", "no op_type"},
		{"too old", func(m *madeModel) { m.op, m.opset = "GatherND", 10 }, good, "", "onnx.GatherND is there since opset 11"},
		{"attribute", func(m *madeModel) { m.attributes = [][]byte{message(1, "axis", 3, 0, 20, 2)} }, good, "onnx.Gather-13", ""},
		{"attribute twice", func(m *madeModel) {
			m.attributes = [][]byte{message(1, "axis", 3, 0, 20, 2), message(1, "axis", 3, 1, 20, 2)}
		}, good, "", "one that another has"},
		{"unknown attribute", func(m *madeModel) { m.attributes = [][]byte{message(1, "batch_dims", 3, 0, 20, 2)} }, good, "onnx.Gather-13", "no attribute batch_dims"},
		{"attribute of another type", func(m *madeModel) { m.attributes = [][]byte{message(1, "axis", 2, fixed32(0), 20, 1)} }, good, "onnx.Gather-13", "cannot be 0"},
		{"table", func(m *madeModel) { m.initializers, m.inputs = [][]byte{data}, []string{"i"} }, map[string][]byte{"input_0.pb": indices, "output_0.pb": output}, "onnx.Gather-13", ""},
		{"table among the inputs", func(m *madeModel) { m.initializers = [][]byte{data} }, map[string][]byte{"input_0.pb": indices, "output_0.pb": output}, "onnx.Gather-13", ""},
		{"table replaced", func(m *madeModel) { m.initializers = [][]byte{message(1, 1, 2, 7, 7, "\x09", 8, "d")} }, good, "onnx.Gather-13", ""},
		{"table twice", func(m *madeModel) { m.initializers = [][]byte{data, data} }, good, "", "two values are named"},
		{"broken table", func(m *madeModel) { m.initializers = [][]byte{message(2, 99, 8, "t")} }, good, "", "no element type 99"},
		{"input twice", func(m *madeModel) { m.inputs = []string{"d", "d"} }, good, "", "one that another has"},
		{"input from nowhere", func(m *madeModel) { m.nodeInputs = []string{"d", "x"} }, good, "", `"x", is made by no node`},
		{"one input", func(m *madeModel) { m.nodeInputs = []string{"d"} }, good, "", "two and one"},
		{"three inputs", func(m *madeModel) { m.nodeInputs = []string{"d", "i", "i"} }, good, "", "two and one"},
		{"another output", func(m *madeModel) { m.outputs = []string{"p"} }, good, "", `output "p" is made by no node`},
		{"no input_1", func(*madeModel) {}, without("input_1.pb"), "onnx.Gather-13", "1 inputs and the model 2"},
		{"no input_0", func(*madeModel) {}, without("input_0.pb"), "onnx.Gather-13", "lacks input_0.pb"},
		{"no output", func(*madeModel) {}, without("output_0.pb"), "onnx.Gather-13", "0 outputs"},
		{"two outputs", func(*madeModel) {}, with("output_1.pb", output), "onnx.Gather-13", "2 outputs"},
		{"bad number", func(*madeModel) {}, with("input_01.pb", output), "onnx.Gather-13", "not numbered"},
		{"broken input", func(*madeModel) {}, with("input_1.pb", []byte("no tensor")), "onnx.Gather-13", "input_1.pb"},
		{"broken output", func(*madeModel) {}, with("output_0.pb", []byte{0xff}), "onnx.Gather-13", "output_0.pb"},
		{"wrong output", func(*madeModel) {}, with("output_0.pb", message(1, 1, 2, 7, 7, "\x07")), "onnx.Gather-13", "element [0] is 6; want 7"},
		{"other files", func(*madeModel) {}, with("notes.txt", nil), "onnx.Gather-13", ""},
		{"nothing", func(*madeModel) {}, map[string][]byte{}, "onnx.Gather-13", "0 outputs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			m := plainModel()
			tt.change(&m)
			set := filepath.Join(dir, "test_data_set_0")
			if err := os.Mkdir(set, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, modelFile), m.bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			for name, b := range tt.set {
				if err := os.WriteFile(filepath.Join(set, name), b, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			cases, err := Dir(dir)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for c := range cases {
				n++
				r := c.Run()
				if r.Op != tt.op {
					t.Errorf("op %q; want %q", r.Op, tt.op)
				}
				if tt.detail == "" && r.Status != Pass || tt.detail != "" && (r.Status != Fail || !strings.Contains(r.Detail, tt.detail)) {
					t.Errorf("%s %q; want %q", r.Status, r.Detail, tt.detail)
				}
			}
			if n != 1 {
				t.Errorf("%d cases", n)
			}
		})
	}
}

// TestChecksums holds results against checksums from other programs, and fills
// a tensor of strings, which has no bytes.
func TestChecksums(t *testing.T) {
	d, err := parseTensor([]byte(`{"dtype":"string","shape":[2,1],"fill":"a"}`), inputFields)
	if err != nil {
		t.Fatal(err)
	}
	made, err := d.tensor()
	if err != nil || made.String() != `string[2,1] [["a"], ["a"]]` {
		t.Errorf("%v, %v", made, err)
	}
	const line = `{"name":"n","op":"onnx.Gather-13","inputs":[{"dtype":"u8","shape":[3],"values":[97,98,99]},{"dtype":"u1","shape":[2],"values":[1,0]}],"outputs":[{"dtype":"u8","shape":[2],SUM}]}`
	const crc, sha = "2ca74a14", "970f519c2cadbcefb1e81694f904bc6229dd2a8300e98c6d0d4fc4bfca584140" // of "ba"
	for _, tt := range []struct {
		sum    string
		status Status
	}{
		{`"crc32":"` + crc + `","bytes":2`, Pass},
		{`"crc32":"` + crc + `","bytes":3`, Fail},
		{`"crc32":"00000000","bytes":2`, Fail},
		{`"sha256":"` + sha + `"`, Pass},
		{`"sha256":"00` + sha[2:] + `"`, Fail},
	} {
		r := parseLine([]byte(strings.Replace(line, "SUM", tt.sum, 1))).Run()
		if r.Status != tt.status || strings.Contains(r.Detail, "no case") {
			t.Errorf("%s: %s %q", tt.sum, r.Status, r.Detail)
		}
	}
}
