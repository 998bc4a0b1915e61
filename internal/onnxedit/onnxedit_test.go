package onnxedit

import (
	"bytes"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// message makes a field of a message.
func message(field protowire.Number, content ...[]byte) []byte {
	return appendMessage(nil, field, bytes.Join(content, nil))
}

// whole gives the bytes of segments.
func whole(old []byte, list []Segment) []byte {
	var made []byte
	for _, s := range list {
		if s.Bytes != nil {
			made = append(made, s.Bytes...)
		} else {
			made = append(made, old[s.From:s.To]...)
		}
	}
	return made
}

// TestReplace replaces a node in a branch of a branch, and holds every other byte.
func TestReplace(t *testing.T) {
	one := Node{Name: "one", Op: "Abs", Inputs: []string{"x"}, Outputs: []string{"y"}}.Marshal()
	nested := func(inner []byte) []byte { // If, of a branch with nodes around
		a := bytes.Join([][]byte{appendText(nil, attributeName, "then_branch"), message(attributeGraph, message(graphNode, one), message(graphNode, inner), message(2, []byte("g")))}, nil)
		return bytes.Join([][]byte{appendText(nil, nodeOpType, "If"), message(nodeAttribute, a)}, nil)
	}
	model := func(inner []byte) []byte {
		return bytes.Join([][]byte{appendNumber(nil, 1, 8), message(modelGraph, message(graphNode, one), message(graphNode, nested(nested(inner))), message(13, appendText(nil, 1, "kept"))), message(4000, []byte("unknown"))}, nil)
	}
	old := model(Node{Op: "Old"}.Marshal())
	f, err := Parse(old)
	if err != nil {
		t.Fatal(err)
	}
	const at = "graph.node[1].then_branch.node[1].then_branch.node[1]"
	if name := f.Free("one"); name != "one_1" {
		t.Errorf("the free name is %s", name)
	}
	if name := f.Free("kept"); name != "kept_1" {
		t.Errorf("the free name is %s", name)
	}
	fresh := Node{Op: "New"}.Marshal()
	list, err := f.Replace(map[string]Replacement{at: {Nodes: [][]byte{fresh}}})
	if err != nil || !bytes.Equal(whole(old, list), model(fresh)) {
		t.Errorf("%q, %v", whole(old, list), err)
	}
	if list, err := f.Replace(nil); err != nil || len(list) != 1 || !bytes.Equal(whole(old, list), old) {
		t.Errorf("%v, %v", list, err)
	}
	for _, with := range []map[string]Replacement{{"graph.node[7]": {}}, {at: {}, "graph.node[1]": {}}} {
		if _, err := f.Replace(with); err == nil {
			t.Errorf("%v is replaced", with)
		}
	}
	for n := range old {
		if f, err := Parse(old[:n]); err == nil {
			if _, err := f.Replace(nil); err != nil {
				t.Errorf("cut at %d: %v", n, err)
			}
		}
	}
}

// TestChange holds what Change changes, and that all else stays in its place.
func TestChange(t *testing.T) {
	axis, other := int64(1), int64(2)
	old := Node{Name: "n", Op: "Gather", Inputs: []string{"d", "i"}, Outputs: []string{"y"}, Attributes: []Attribute{{Name: "axis", Int: &axis}, {Name: "list", Ints: []int64{1, 2}}}}.Marshal()
	old = append(append(message(4000, []byte("first")), old...), appendText(nil, nodeDomain, "com.microsoft")...)
	got, err := Change(old, Changes{Inputs: map[int]string{1: "j"}, Outputs: map[int]string{0: "z"}, Attributes: map[string]int64{"axis": 2, "batch_dims": 1}, OwnDomain: true})
	if err != nil {
		t.Fatal(err)
	}
	want := Node{Name: "n", Op: "Gather", Inputs: []string{"d", "j"}, Outputs: []string{"z"}, Attributes: []Attribute{{Name: "axis", Int: &other}, {Name: "list", Ints: []int64{1, 2}}, {Name: "batch_dims", Int: &axis}}}.Marshal()
	if want = append(message(4000, []byte("first")), want...); !bytes.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
	if same, err := Change(old, Changes{}); err != nil || !bytes.Equal(same, old) {
		t.Errorf("%q, %v", same, err)
	}
	if inputs, err := Inputs(got); err != nil || !slices.Equal(inputs, []string{"d", "j"}) {
		t.Errorf("%q, %v", inputs, err)
	}
}

// TestMarshal holds the bytes of attributes of each kind and of a type, by what a reader of protobuf
// finds in them.
func TestMarshal(t *testing.T) {
	n := Node{Name: "c", Op: "Constant", Outputs: []string{"y"}, Attributes: []Attribute{{Name: "value", Tensor: &Tensor{Type: 7, Dims: []int64{1}, Raw: []byte{5, 0, 0, 0, 0, 0, 0, 0}}}}}.Marshal()
	tensor := message(attributeTensor, appendNumber(nil, 1, 1), appendNumber(nil, 2, 7), message(9, []byte{5, 0, 0, 0, 0, 0, 0, 0}))
	want := bytes.Join([][]byte{appendText(nil, nodeOutput, "y"), appendText(nil, nodeName, "c"), appendText(nil, nodeOpType, "Constant"),
		message(nodeAttribute, appendText(nil, attributeName, "value"), tensor, appendNumber(nil, attributeType, typeTensor))}, nil)
	if !bytes.Equal(n, want) {
		t.Errorf("%q; want %q", n, want)
	}
	got := Type("v", 1, []int64{2, -1})
	want = bytes.Join([][]byte{appendText(nil, 1, "v"), message(2, message(1, appendNumber(nil, 1, 1), message(2, message(1, appendNumber(nil, 1, 2)), message(1))))}, nil)
	if !bytes.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}

// TestNames holds that the names of sparse initializers and of values are taken, and that a
// replacement brings the types of its values behind the graph's.
func TestNames(t *testing.T) {
	node := Node{Op: "Gather", Outputs: []string{"y"}}.Marshal()
	graph := [][]byte{message(graphNode, node), message(5, appendText(nil, 8, "weight")), message(15, message(1, appendText(nil, 8, "sparse"))), message(graphValueInfo, appendText(nil, 1, "info")), message(11, appendText(nil, 1, "in"))}
	old := message(modelGraph, graph...)
	f, err := Parse(old)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"y", "weight", "sparse", "info", "in"} {
		if got := f.Free(name); got != name+"_1" {
			t.Errorf("%s is free for %s", got, name)
		}
	}
	if got := f.Node("graph.node[0]"); !bytes.Equal(got, node) {
		t.Errorf("%q", got)
	}
	if f.Node("graph.node[1]") != nil {
		t.Error("there is a second node")
	}
	if outputs, err := Outputs(node); err != nil || !slices.Equal(outputs, []string{"y"}) {
		t.Errorf("%q, %v", outputs, err)
	}
	info := Type("z", 1, nil)
	list, err := f.Replace(map[string]Replacement{"graph.node[0]": {Nodes: [][]byte{node, node}, Types: [][]byte{info}}})
	if want := message(modelGraph, slices.Concat([][]byte{message(graphNode, node)}, graph, [][]byte{message(graphValueInfo, info)})...); err != nil || !bytes.Equal(whole(old, list), want) {
		t.Errorf("%q, %v; want %q", whole(old, list), err, want)
	}
}

// TestGraphs replaces a node of a graph in a list of graphs, and refuses what is nested too deep or cut.
func TestGraphs(t *testing.T) {
	inner := Node{Op: "Old"}.Marshal()
	model := func(inner []byte) []byte {
		attribute := bytes.Join([][]byte{appendText(nil, attributeName, "bodies"), message(attributeGraphs, message(graphNode, Node{Op: "Abs"}.Marshal())), message(attributeGraphs, message(graphNode, inner))}, nil)
		return message(modelGraph, message(graphNode, appendText(nil, nodeOpType, "Many"), message(nodeAttribute, attribute)))
	}
	f, err := Parse(model(inner))
	if err != nil {
		t.Fatal(err)
	}
	fresh := Node{Op: "New"}.Marshal()
	list, err := f.Replace(map[string]Replacement{"graph.node[0].bodies[1].node[0]": {Nodes: [][]byte{fresh}}})
	if err != nil || !bytes.Equal(whole(model(inner), list), model(fresh)) {
		t.Errorf("%q, %v", whole(model(inner), list), err)
	}
	deep := inner
	for range maxDepth + 2 {
		deep = bytes.Join([][]byte{message(nodeAttribute, appendText(nil, attributeName, "a"), message(attributeGraph, message(graphNode, deep)))}, nil)
	}
	if _, err := Parse(message(modelGraph, message(graphNode, deep))); err == nil {
		t.Error("graphs of any depth are parsed")
	}
	node := Node{Op: "Gather", Inputs: []string{"d", "i"}, Outputs: []string{"y"}, Attributes: []Attribute{{Name: "list", Ints: []int64{1, 2}}}}.Marshal()
	for n := range node {
		_, changed := Change(node[:n], Changes{})
		_, inputs := Inputs(node[:n])
		if (changed == nil) != (inputs == nil) {
			t.Errorf("cut at %d: %v, %v", n, changed, inputs)
		}
	}
	if _, err := Change(message(nodeAttribute, []byte{0xff}), Changes{}); err == nil {
		t.Error("a cut attribute is changed")
	}
}
