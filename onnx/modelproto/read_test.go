package modelproto

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto/internal/onnxpb"
)

func marshaled(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestElements holds tensors of every type, in every form, against what the
// package onnx reads in them.
func TestElements(t *testing.T) {
	const name = "testdata/constants.onnx"
	b := files(t)[name]
	s := newStripper()
	var p onnxpb.ModelProto
	if err := s.Strip(b, 0, p.ProtoReflect().Descriptor(), 0); err != nil {
		t.Fatal(err)
	}
	if err := unmarshal.Unmarshal(s.Out, &p); err != nil {
		t.Fatal(err)
	}
	sc := &scope{reader: &reader{elements: s.Found}, place: "graph", made: &model.Graph{}}
	if err := sc.initializers(p.Graph); err != nil {
		t.Fatal(err)
	}
	want := wants(t)["constants.onnx"].Initializers
	if len(want) != len(sc.values) || len(want) < 50 {
		t.Fatalf("%d initializers; want %d", len(sc.values), len(want))
	}
	read := map[garner.DType]bool{}
	for name, w := range want {
		v, ok := sc.values[name]
		if !ok {
			t.Errorf("there is no %s", name)
			continue
		}
		read[v.Spec.DType] = true
		checkInitializer(t, v.Constant, w.DType, w.Shape, w.Values)
	}
	for _, d := range garner.DTypes() {
		// ONNX has neither of these.
		if !read[d] && d != garner.U1 && d != garner.NF4 {
			t.Errorf("no tensor of %s was read", d)
		}
	}
}

func TestConstantNodes(t *testing.T) {
	m := open(t, "constants.onnx")
	want := []string{
		`value i64[2,1] [[5], [6]]`, `value_int i64[] -3`, `value_ints i64[2] [1, -1]`, `value_float f32[] 0.5`,
		`value_floats f32[2] [0.5, -2.0]`, `value_string string[] "é"`, `value_strings string[2] ["a", ""]`,
	}
	if len(m.Graph.Nodes) != 0 || len(m.Graph.Outputs) != len(want) {
		t.Fatalf("%d nodes and %d outputs", len(m.Graph.Nodes), len(m.Graph.Outputs))
	}
	for i, r := range m.Graph.Outputs {
		made, err := r.Value.Constant.Tensor()
		if got := r.Name + " " + made.String(); err != nil || got != want[i] {
			t.Errorf("%s, %v; want %s", got, err, want[i])
		}
	}
}

// TestConstantsOfFile lists every constant that the file holds, of whatever graph and
// call, by the name of its value, whether or not something reads it.
func TestConstantsOfFile(t *testing.T) {
	constantNode := func(node, value string) *onnxpb.NodeProto {
		kind, name := onnxpb.AttributeProto_INT, "value_int"
		one := int64(1)
		n := &onnxpb.NodeProto{OpType: proto.String("Constant"), Output: []string{value}, Attribute: []*onnxpb.AttributeProto{{Name: &name, Type: &kind, I: &one}}}
		if node != "" {
			n.Name = &node
		}
		return n
	}
	p := plainProto()
	p.OpsetImport = append(p.OpsetImport, opset("f", 1))
	call := node("F", nil, []string{"made"})
	call.Domain = proto.String("f")
	loop := node("Loop", []string{"", "", "made"}, []string{"z"}, graphOf(constantNode("", "in_body")))
	p.Graph.Node = append(p.Graph.Node, constantNode("", "val"), constantNode("node", "named"), call, loop)
	p.Graph.Initializer = append(p.Graph.Initializer, tensor("unread", 2, "a", 1))
	p.Functions = []*onnxpb.FunctionProto{{
		Name: proto.String("F"), Domain: proto.String("f"), Output: []string{"o"}, OpsetImport: []*onnxpb.OperatorSetIdProto{opset("", 13)},
		Node: []*onnxpb.NodeProto{constantNode("", "o"), constantNode("", "spare")},
	}}
	m, err := FromBytes(written(t, p))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for name, c := range m.Constants() {
		all = append(all, name)
		if found, err := m.Constant(name); err != nil || found != c {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
	if got := strings.Join(all, " "); got != "table F_3/o in_body unread val named F_3/spare" {
		t.Error(got)
	}
	if c, err := m.Constant("node"); err != nil || c.Name != "named" {
		t.Errorf("%v, %v", c, err)
	}
}

// describe is the nodes of a model, one a line.
func describe(m *model.Model) string {
	var b strings.Builder
	for n := range m.Nodes() {
		var in, out []string
		for _, v := range n.Inputs {
			switch {
			case v == nil:
				in = append(in, "-")
			case v.Constant != nil:
				in = append(in, "="+v.Name)
			default:
				in = append(in, v.Name)
			}
		}
		for _, v := range n.Outputs {
			out = append(out, v.String())
		}
		fmt.Fprintf(&b, "%s %s/%d %v(%s) -> %s at %s\n", n.Name, n.Op, n.Version, n.Attributes, strings.Join(in, ","), strings.Join(out, ","), n.At)
	}
	return b.String()
}

func TestGraphs(t *testing.T) {
	for name, want := range map[string]string{
		"subgraphs.onnx": `choose If/16 map[](c) -> y f32[2,4] at graph.node[0]
choose/else_branch/Gather_1 Gather/16 map[](x,=j) -> e f32[2,4] at graph.node[0].else_branch.node[1]
inner Gather/16 map[](x,=i) -> t f32[2,4] at graph.node[0].then_branch.node[0]
loop Loop/16 map[](turns,-,y) -> z f32[2,4] at graph.node[1]
loop/body/Identity_0 Identity/16 map[](cond) -> more bool[] at graph.node[1].body.node[0]
turn Gather/16 map[](carried,=i) -> next f32[2,4] at graph.node[1].body.node[1]
`,
		"functions.onnx": `call/first/pick Gather/13 map[axis:0](x,=i) -> call/one f32[2,3] at graph.node[0], function here.Twice.node[0], function here.Row.node[0]
call/second/pick Gather/13 map[axis:1](call/one,=i) -> y f32[2,2] at graph.node[0], function here.Twice.node[1], function here.Row.node[0]
call/Identity_3 Identity/16 map[](call/one) -> s f32[2,3] at graph.node[0], function here.Twice.node[3]
Twice_1/first/pick Gather/13 map[axis:0](y,=i) -> Twice_1/one f32[2,2] at graph.node[1], function here.Twice.node[0], function here.Row.node[0]
Twice_1/second/pick Gather/13 map[axis:1](Twice_1/one,=i) -> z f32[2,2] at graph.node[1], function here.Twice.node[1], function here.Row.node[0]
Twice_1/Identity_3 Identity/16 map[](Twice_1/one) -> Twice_1/same f32[2,2] at graph.node[1], function here.Twice.node[3]
`,
		"opset1.onnx": `g Gather/1 map[axis:1](x,=i) -> g f32[2,2,4] at graph.node[0]
`,
		"microsoft.onnx": `m GatherND/1 map[](x,i) -> y f32[n,4] at graph.node[0]
`,
	} {
		m := open(t, name)
		if got := describe(m); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

// TestTorch reads what torch exports.
func TestTorch(t *testing.T) {
	m := open(t, "torch_embedding.onnx")
	if len(m.Graph.Inputs) != 1 || m.Graph.Inputs[0].Type() != "i64[batch,3]" {
		t.Errorf("%v", m.Graph.Inputs)
	}
	if !strings.HasPrefix(m.Producer, "pytorch 2.") || m.Format != "ONNX" || m.Opsets[""] != 18 {
		t.Errorf("%s %s %v", m.Producer, m.Format, m.Opsets)
	}
	n := slices.Collect(m.Gathers())[0]
	table := n.Inputs[0]
	if table.Name != "words.weight" || table.Type() != "f32[50,8]" || table.Constant.File != "testdata/torch_embedding.onnx" || table.Constant.Size != 1600 {
		t.Errorf("%v of %s", table, table.Constant.File)
	}
	m = open(t, "torch_embedding_external.onnx")
	n = slices.Collect(m.Gathers())[0]
	if c := n.Inputs[0].Constant; c.File != "testdata/torch_embedding_external.data" || c.Size != 1600 {
		t.Errorf("%+v", c)
	}
}

// TestFunctionDefaults calls a function whose attribute has a default, leaves an
// input out, and passes a graph on.
func TestFunctionDefaults(t *testing.T) {
	p := plainProto()
	domain, name := "f", "Pick"
	axis := &onnxpb.AttributeProto{Name: proto.String("axis"), RefAttrName: proto.String("by"), Type: onnxpb.AttributeProto_INT.Enum()}
	none := &onnxpb.AttributeProto{Name: proto.String("hint"), RefAttrName: proto.String("none"), Type: onnxpb.AttributeProto_INT.Enum()}
	body := &onnxpb.AttributeProto{Name: proto.String("then_branch"), RefAttrName: proto.String("body"), Type: onnxpb.AttributeProto_GRAPH.Enum()}
	p.Functions = []*onnxpb.FunctionProto{{
		Domain: &domain, Name: &name, Input: []string{"a", "b", "c"}, Output: []string{"d", "e"},
		AttributeProto: []*onnxpb.AttributeProto{integer("by", 1)}, Attribute: []string{"none", "body"},
		Node: []*onnxpb.NodeProto{
			node("Gather", []string{"a", "b"}, []string{"d"}, axis),
			node("Clip", []string{"d", "c", "b"}, []string{"e"}, none),
			node("If", []string{"b"}, []string{"f"}, body),
		},
	}}
	call := node("Pick", []string{"table", "at"}, []string{"z", "w"}, graphOf(node("Identity", []string{"table"}, []string{"t"})))
	call.Domain = &domain
	p.Graph.Node = append(p.Graph.Node, call)
	m, err := FromBytes(written(t, p))
	if err != nil {
		t.Fatal(err)
	}
	const want = `pick Gather/13 map[axis:0](=table,at) -> y u8[3,2] at graph.node[0]
Pick_1/Gather_0 Gather/13 map[axis:1](=table,at) -> z u8[3,3] at graph.node[1], function f.Pick.node[0]
Pick_1/Clip_1 Clip/13 map[](z,-,at) -> w u8[3,3] at graph.node[1], function f.Pick.node[1]
Pick_1/If_2 If/13 map[](at) -> Pick_1/f [...] at graph.node[1], function f.Pick.node[2]
Pick_1/If_2/then_branch/Identity_0 Identity/13 map[](=table) -> t u8[3,2] at graph.node[1], function f.Pick.node[2].then_branch.node[0]
`
	if got := describe(m); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestInputsWithDefaults reads an initializer that stands among the inputs.
func TestInputsWithDefaults(t *testing.T) {
	m := open(t, "opset1.onnx")
	if v := m.Graph.Inputs[1]; v.Constant == nil || v.String() != "i i64[2]" || v != m.Graph.Nodes[0].Inputs[1] {
		t.Errorf("%v", v)
	}
	if v := m.Graph.Inputs[0]; v.Constant != nil {
		t.Errorf("%v has a default", v)
	}
}

// TestDefault holds that an initializer among the inputs is a default that a caller may replace, and in
// a model before IR version 4 a constant.
func TestDefault(t *testing.T) {
	for name, fixed := range map[string]bool{"default": false, "default_ir3": true} {
		m, err := Open("../../convert/testdata/" + name + ".onnx")
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		w := m.Graph.Inputs[1]
		if w.Name != "w" || w.Constant == nil || w.Default == fixed || (w.Fixed() != nil) != fixed {
			t.Errorf("%s: %s is a default: %v", name, w, w.Default)
		}
	}
}
