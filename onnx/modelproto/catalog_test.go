package modelproto_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/garner-go/garner/onnx/modelproto"
	"github.com/garner-go/garner/operators"
)

// oneNode is a model of one node, by hand: what is in a file, whatever the
// package thinks of it.
//
// inputs are those behind data and indices.
func oneNode(domain, op string, opset int, inputs ...string) []byte {
	text := func(b []byte, field protowire.Number, s string) []byte {
		return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
	}
	var node, graph, imports, m []byte
	node = text(text(text(node, 2, "o"), 4, op), 7, domain)
	for _, name := range append([]string{"d", "i"}, inputs...) {
		if node = text(node, 1, name); name != "" {
			graph = text(graph, 11, "\x0a\x01"+name)
		}
	}
	graph = text(text(graph, 1, string(node)), 12, "\x0a\x01o")
	imports = protowire.AppendVarint(protowire.AppendTag(text(imports, 1, domain), 2, protowire.VarintType), uint64(opset))
	m = protowire.AppendVarint(protowire.AppendTag(m, 1, protowire.VarintType), 8)
	return text(text(m, 7, string(graph)), 8, string(imports))
}

// TestEveryOperator holds that every operator of ONNX that garner has is found
// in models, from its version on until the next.
func TestEveryOperator(t *testing.T) {
	found := 0
	for _, o := range operators.All() {
		name, version, _ := strings.Cut(o.Name, "-")
		domain, op := "", ""
		var ok bool
		if op, ok = strings.CutPrefix(name, "onnx."); !ok {
			if op, ok = strings.CutPrefix(name, "com.microsoft."); !ok {
				continue
			}
			domain = "com.microsoft"
		}
		var needed []string
		for i := range o.Needs() {
			needed = append(needed, string(rune('p'+i)))
		}
		since, err := strconv.Atoi(version)
		if err != nil {
			t.Fatal(err)
		}
		found++
		for opset := since; opset < 60; opset++ {
			m, err := modelproto.FromBytes(oneNode(domain, op, opset, needed...))
			if err != nil {
				t.Fatalf("%s of opset %d: %v", op, opset, err)
			}
			n := m.Graph.Nodes[0]
			want, err := operators.Find(name, opset)
			if err != nil || n.Operator != want.Name || n.Version != opset {
				t.Errorf("%s of opset %d is read as %s; want %s, %v", op, opset, n.Operator, want.Name, err)
			}
			if _, _, err := operators.OfNode(n); err != nil {
				t.Error(err)
			}
		}
		m, err := modelproto.FromBytes(oneNode(domain, op, since-1, needed...))
		if err == nil && (since == 1 || m.Graph.Nodes[0].Operator == o.Name) {
			t.Errorf("%s is found in opset %d", o.Name, since-1)
		}
	}
	if found != 10 {
		t.Errorf("%d operators", found)
	}
}

// TestOptionalInputs holds which inputs a gather may leave out: those at the end, or by an
// empty name.
func TestOptionalInputs(t *testing.T) {
	for _, tt := range []struct {
		op     string
		inputs []string
		want   string // the inputs; or the error
	}{
		{"GatherBlockQuantized", []string{"s"}, "[d i s]"},
		{"GatherBlockQuantized", []string{"s", ""}, "[d i s -]"},
		{"GatherBlockQuantized", []string{"s", "z"}, "[d i s z]"},
		{"GatherBlockQuantized", nil, `it has the inputs ["d" "i"] and the outputs ["o"]; com.microsoft.GatherBlockQuantized-1 has the inputs data, indices, scales and, optionally, zero_points, and one output`},
		{"GatherBlockQuantized", []string{"", "z"}, `it has the inputs ["d" "i" "" "z"]`},
		{"GatherBlockQuantized", []string{"s", "z", "t"}, `it has the inputs ["d" "i" "s" "z" "t"]`},
		{"GatherND", []string{"s"}, "com.microsoft.GatherND-1 has two and one: data and indices, and the result"},
	} {
		m, err := modelproto.FromBytes(oneNode("com.microsoft", tt.op, 1, tt.inputs...))
		if err != nil {
			if !strings.HasPrefix(tt.want, "[") && strings.Contains(err.Error(), tt.want) {
				continue
			}
			t.Errorf("%s %q: %v; want %s", tt.op, tt.inputs, err, tt.want)
			continue
		}
		var got []string
		for _, v := range m.Graph.Nodes[0].Inputs {
			name := "-"
			if v != nil {
				name = v.Name
			}
			got = append(got, name)
		}
		if text := fmt.Sprint(got); text != tt.want || !m.Graph.Nodes[0].IsGather() {
			t.Errorf("%s %q: %s; want %s", tt.op, tt.inputs, text, tt.want)
		}
	}
}
