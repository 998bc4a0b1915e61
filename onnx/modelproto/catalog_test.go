package modelproto_test

import (
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/garner-go/garner/onnx/modelproto"
	"github.com/garner-go/garner/operators"
)

// oneNode is a model of one node, by hand: what is in a file, whatever the
// package thinks of it.
func oneNode(domain, op string, opset int) []byte {
	text := func(b []byte, field protowire.Number, s string) []byte {
		return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
	}
	var node, graph, imports, m []byte
	node = text(text(text(text(text(node, 1, "d"), 1, "i"), 2, "o"), 4, op), 7, domain)
	graph = text(text(text(text(graph, 1, string(node)), 11, "\x0a\x01d"), 11, "\x0a\x01i"), 12, "\x0a\x01o")
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
		if len(o.Further()) > 0 { // the model has the node, and no gather
			m, err := modelproto.FromBytes(oneNode(domain, op, 1))
			if err != nil || m.Graph.Nodes[0].IsGather() {
				t.Errorf("%s: %v, or it is read as a gather", o.Name, err)
			}
			continue
		}
		since, err := strconv.Atoi(version)
		if err != nil {
			t.Fatal(err)
		}
		found++
		for opset := since; opset < 60; opset++ {
			m, err := modelproto.FromBytes(oneNode(domain, op, opset))
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
		m, err := modelproto.FromBytes(oneNode(domain, op, since-1))
		if err == nil && (since == 1 || m.Graph.Nodes[0].Operator == o.Name) {
			t.Errorf("%s is found in opset %d", o.Name, since-1)
		}
	}
	if found != 9 {
		t.Errorf("%d operators", found)
	}
}
