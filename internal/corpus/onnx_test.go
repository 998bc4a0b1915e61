package corpus

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// message writes a message of fields: a number is a varint, bytes and strings
// have a length, and a float32 stands for itself.
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

// TestTensorProtos reads messages that say something wrong, and some that are
// right in an unusual way.
func TestTensorProtos(t *testing.T) {
	const dims, dataType, floats, int32s, strs, int64s, raw, doubles, uint64s = 1, 2, 4, 5, 6, 7, 9, 10, 11
	for _, tt := range []struct {
		message []byte
		want    string // the tensor, or a part of the error
	}{
		{message(dims, 2, dataType, 7, int64s, 5, int64s, -1), "i64[2] [5, -1]"},
		{message(dims, "\x01\x02", dataType, 7, int64s, "\x05\x06"), "i64[1,2] [[5, 6]]"},
		{message(dims, 2, dataType, 1, floats, fixed32(0x3f800000), floats, "\x00\x00\x00\x40"), "f32[2] [1.0, 2.0]"},
		{message(dataType, 11, doubles, fixed64(0x3ff0000000000000)), "f64[] 1.0"},
		{message(dims, 1, dataType, 14, floats, "\x00\x00\x80\x3f\x00\x00\x00\x40"), "complex64[1] [1.0+2.0i]"},
		{message(dims, 1, dataType, 12, uint64s, uint64(1<<32-1)), "u32[1] [4294967295]"},
		{message(dims, 2, dataType, 3, int32s, -128, int32s, 127), "i8[2] [-128, 127]"},
		{message(dims, 3, dataType, 22, int32s, 0x87, int32s, 0xff), "i4[3] [7, -8, -1]"},
		{message(dims, 3, dataType, 22, raw, "\x87\xff"), "i4[3] [7, -8, -1]"},
		{message(dims, 5, dataType, 25, raw, "\xe4\x03"), "u2[5] [0, 1, 2, 3, 3]"},
		{message(dims, 0, dataType, 1), "f32[0] []"},
		{message(dims, 0, dataType, 1, floats, "", raw, ""), "f32[0] []"},
		{message(dims, 2, dataType, 8, strs, "", strs, "é"), `string[2] ["", "é"]`},
		{message(dims, 1, dataType, 9, int32s, 1, 99, "unknown", 98, fixed32(1), 97, fixed64(1)), "bool[1] [true]"},

		{message(dims, 1, dataType, 0, raw, "a"), "no data type 0"},
		{message(dims, 1, dataType, 99, raw, "a"), "no data type 99"},
		{message(dims, 1, raw, "a"), "no data type 0"},
		{message(dims, -1, dataType, 2, raw, "a"), "dim 0 is -1"},
		{message(dims, 1<<30, dims, 1<<30, dims, 1<<30, dataType, 2, raw, "a"), "more elements than an int"},
		{message(dims, strings.Repeat("\x01", 33), dataType, 2, raw, "a"), "more than 32 dims"},
		{message(dims, 2, dataType, 2, raw, "a"), "1 bytes are no u8[2]"},
		{message(dims, 2, dataType, 2), "no elements"},
		{message(dims, 1, dataType, 2, raw, "a", int32s, 1), "field 9 and in field 5"},
		{message(dims, 1, dataType, 2, int64s, 1), "stand in field 7; those of u8 stand in 5"},
		{message(dims, 1, dataType, 7, int32s, 1), "those of i64 stand in 7"},
		{message(dims, 1, dataType, 2, int32s, 256), "256, which is no u8"},
		{message(dims, 1, dataType, 2, int32s, -1), "-1, which is no u8"},
		{message(dims, 1, dataType, 3, int32s, 128), "128, which is no i8"},
		{message(dims, 1, dataType, 9, int32s, 2), "2, which is no bool"},
		{message(dims, 1, dataType, 10, int32s, 1<<16), "no f16"},
		{message(dims, 1, dataType, 12, uint64s, uint64(1<<32)), "no u32"},
		{message(dims, 1, dataType, 8, raw, "a"), "no [1]"},
		{message(dims, 2, dataType, 8, strs, "a"), "1 strings are no [2]"},
		{message(dims, 1, dataType, 14, floats, fixed32(1)), "4 bytes are no complex64[1]"},
		{message(dims, 1, dataType, 7, int64s, "\xff"), "field 7"},
		{message(dims, 1, dataType, 1, floats, "\x00\x00"), "field 4"},
		{message(dims, 1, dataType, 11, doubles, "\x00\x00"), "field 10"},
		{message(dims, fixed32(1), dataType, 2, raw, "a"), "field 1 is not written as its type is"},
		{message(dims, 1, dataType, "x", raw, "a"), "field 2 is not written as its type is"},
		{message(dims, 1, dataType, 2, raw, 1), "field 9 is not written as its type is"},
		{message(dims, 1, dataType, 8, strs, 1), "field 6 is not written as its type is"},
		{message(3, "segment"), "segment"},
		{message(13, "external"), "another file"},
		{message(14, 1), "another file"},
		{[]byte{0xff}, "tensor"},
		{[]byte{9<<3 | 2, 200, 1, 'a'}, "field 9"},
		{message(8, "its name", dataType, 99), `tensor "its name"`},
	} {
		_, got, err := parseTensorProto(tt.message)
		if err != nil {
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%q: error %q; want %s", tt.message, err, tt.want)
			}
		} else if got.String() != tt.want {
			t.Errorf("%q is %s; want %s", tt.message, got, tt.want)
		}
	}
}

// TestAttributes reads attributes of every type that a node may be given.
func TestAttributes(t *testing.T) {
	const name, float, integer, text, integers, kind, reference = 1, 2, 3, 4, 8, 20, 21
	for _, tt := range []struct {
		message []byte
		want    any // a string that begins with "error" is a part of one
	}{
		{message(name, "a", integer, -1, kind, 2), int64(-1)},
		{message(name, "a", integer, 5), int64(5)},
		{message(name, "a", kind, 2), int64(0)},
		{message(name, "a", float, fixed32(0x3fc00000), kind, 1), 1.5},
		{message(name, "a", text, "x", kind, 3), "x"},
		{message(name, "a", integers, 1, integers, "\x02\x03", kind, 7), []int64{1, 2, 3}},
		{message(name, "a", integers, fixed32(1), kind, 7), "error not written"},
		{message(name, "a", integer, "x"), "error not written"},
		{message(name, "a", integer, 1, kind, 1), "error it is of type 1 and has a value of type 2"},
		{message(name, "a", kind, 4), "error no gather has"},
		{message(name, "a"), "error no gather has"},
		{message(name, "a", reference, "b"), "error function"},
	} {
		got, value, err := parseAttribute(tt.message)
		text, _ := tt.want.(string)
		part, isError := strings.CutPrefix(text, "error ")
		list, isList := tt.want.([]int64)
		switch {
		case isError:
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %v; want %s", tt.message, err, part)
			}
		case err != nil || got != "a":
			t.Errorf("%q: %q, %v", tt.message, got, err)
		case isList:
			if v, ok := value.([]int64); !ok || !slices.Equal(v, list) {
				t.Errorf("%q is %v; want %v", tt.message, value, list)
			}
		case value != tt.want:
			t.Errorf("%q is %v; want %v", tt.message, value, tt.want)
		}
	}
}

// madeModel is a model of one node, which a test changes.
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

// TestTestDirectory writes test directories that are right and wrong, and reads
// them.
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
		detail string // empty: it passes
	}{
		{"good", func(*madeModel) {}, good, "onnx.Gather", ""},
		{"long name of the domain", func(m *madeModel) { m.domain, m.nodeDomain = "ai.onnx", "ai.onnx" }, good, "onnx.Gather", ""},
		{"no opset, old", func(m *madeModel) { m.opset, m.ir = 0, 2 }, good, "onnx.Gather", ""},
		{"no opset", func(m *madeModel) { m.opset = 0 }, good, "onnx.Gather", "imports no opset"},
		{"another domain", func(m *madeModel) { m.nodeDomain = "org.example" }, good, "org.example.Gather", "imports no opset"},
		{"no such domain", func(m *madeModel) { m.domain, m.nodeDomain = "org.example", "org.example" }, good, "org.example.Gather", "no operator"},
		{"no gather", func(m *madeModel) { m.op = "Add" }, good, "onnx.Add", "no operator onnx.Add"},
		{"no op_type", func(m *madeModel) { m.op = "" }, good, "", "no op_type"},
		{"too old", func(m *madeModel) { m.op, m.opset = "GatherND", 10 }, good, "onnx.GatherND", "no operator"},
		{"attribute", func(m *madeModel) { m.attributes = [][]byte{message(1, "axis", 3, 0, 20, 2)} }, good, "onnx.Gather", ""},
		{"attribute twice", func(m *madeModel) {
			m.attributes = [][]byte{message(1, "axis", 3, 0, 20, 2), message(1, "axis", 3, 1, 20, 2)}
		}, good, "", "stands twice"},
		{"unknown attribute", func(m *madeModel) { m.attributes = [][]byte{message(1, "batch_dims", 3, 0, 20, 2)} }, good, "onnx.Gather", "no attribute batch_dims"},
		{"attribute of another type", func(m *madeModel) { m.attributes = [][]byte{message(1, "axis", 2, fixed32(0), 20, 1)} }, good, "onnx.Gather", "cannot be 0"},
		{"table", func(m *madeModel) { m.initializers, m.inputs = [][]byte{data}, []string{"i"} }, map[string][]byte{"input_0.pb": indices, "output_0.pb": output}, "onnx.Gather", ""},
		{"table among the inputs", func(m *madeModel) { m.initializers = [][]byte{data} }, map[string][]byte{"input_0.pb": indices, "output_0.pb": output}, "onnx.Gather", ""},
		{"table replaced", func(m *madeModel) { m.initializers = [][]byte{message(1, 1, 2, 7, 7, "\x09", 8, "d")} }, good, "onnx.Gather", ""},
		{"table twice", func(m *madeModel) { m.initializers = [][]byte{data, data} }, good, "", "or one that another has"},
		{"broken table", func(m *madeModel) { m.initializers = [][]byte{message(2, 99)} }, good, "", "no data type"},
		{"input twice", func(m *madeModel) { m.inputs = []string{"d", "d"} }, good, "", "two inputs"},
		{"input from nowhere", func(m *madeModel) { m.nodeInputs = []string{"d", "x"} }, good, "onnx.Gather", `"x" is neither`},
		{"one input", func(m *madeModel) { m.nodeInputs = []string{"d"} }, good, "onnx.Gather", "1 inputs"},
		{"three inputs", func(m *madeModel) { m.nodeInputs = []string{"d", "i", "i"} }, good, "onnx.Gather", "takes 2 inputs"},
		{"another output", func(m *madeModel) { m.outputs = []string{"p"} }, good, "onnx.Gather", "outputs"},
		{"no input_1", func(*madeModel) {}, without("input_1.pb"), "onnx.Gather", "1 inputs and the model 2"},
		{"no input_0", func(*madeModel) {}, without("input_0.pb"), "onnx.Gather", "lacks input_0.pb"},
		{"no output", func(*madeModel) {}, without("output_0.pb"), "onnx.Gather", "0 outputs"},
		{"two outputs", func(*madeModel) {}, with("output_1.pb", output), "onnx.Gather", "2 outputs"},
		{"bad number", func(*madeModel) {}, with("input_01.pb", output), "onnx.Gather", "not numbered"},
		{"broken input", func(*madeModel) {}, with("input_1.pb", []byte("no tensor")), "onnx.Gather", "input_1.pb"},
		{"broken output", func(*madeModel) {}, with("output_0.pb", []byte{0xff}), "onnx.Gather", "output_0.pb"},
		{"wrong output", func(*madeModel) {}, with("output_0.pb", message(1, 1, 2, 7, 7, "\x07")), "onnx.Gather", "element [0] is 6; want 7"},
		{"other files", func(*madeModel) {}, with("notes.txt", nil), "onnx.Gather", ""},
		{"nothing", func(*madeModel) {}, map[string][]byte{}, "onnx.Gather", "0 outputs"},
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

// TestChecksums holds results against checksums that were computed elsewhere,
// and fills a tensor of strings, which have no bytes.
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
