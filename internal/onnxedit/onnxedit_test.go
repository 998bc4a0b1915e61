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
