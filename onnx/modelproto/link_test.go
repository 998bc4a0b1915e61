package modelproto

import (
	"context"
	"strings"
	"testing"

	"github.com/garner-go/garner/lint"
	"github.com/garner-go/garner/onnx/modelproto/internal/onnxpb"
)

// TestLinks judges a gather in the body of each operator that has one, in a function,
// and behind a loop: the indices are an input of the model, or what bounds them in
// the body does.
func TestLinks(t *testing.T) {
	body := func(name string, inputs, outputs []string, nodes ...*onnxpb.NodeProto) *onnxpb.AttributeProto {
		a := graphOf(nodes...)
		a.Name = &name
		for _, in := range inputs {
			a.G.Input = append(a.G.Input, in1(in))
		}
		for _, out := range outputs {
			a.G.Output = append(a.G.Output, in1(out))
		}
		return a
	}
	names := func(text string) []string { return strings.Fields(text) }
	one := func(op, inputs, output string, attributes ...*onnxpb.AttributeProto) *onnxpb.NodeProto {
		return node(op, names(inputs), names(output), attributes...)
	}
	gather := func(indices string) *onnxpb.NodeProto { return one("Gather", "table "+indices, "y") }
	keep := one("Identity", "c", "again")
	for _, tt := range []struct {
		name  string
		nodes []*onnxpb.NodeProto
		found bool
	}{
		{"If", []*onnxpb.NodeProto{one("If", "cond", "r", body("then_branch", nil, names("y"), gather("at")), body("else_branch", nil, names("table")))}, true},
		{"the result of If", []*onnxpb.NodeProto{
			one("If", "cond", "r", body("then_branch", nil, names("two")), body("else_branch", nil, names("a"), one("Identity", "at", "a"))), gather("r"),
		}, true},
		{"a bounded result of If", []*onnxpb.NodeProto{
			one("If", "cond", "r", body("then_branch", nil, names("two")), body("else_branch", nil, names("a"), one("Clip", "at zero two", "a"))), gather("r"),
		}, false},
		{"a carried value of Loop", []*onnxpb.NodeProto{one("Loop", "two cond at", "last rows", body("body", names("i c index"), names("again index y"), keep, gather("index")))}, true},
		{"a bounded value of Loop", []*onnxpb.NodeProto{
			one("Clip", "at zero two", "start"),
			one("Loop", "two cond start", "last rows", body("body", names("i c index"), names("again next y"), keep, gather("index"), one("Add", "index two", "n"), one("Clip", "n zero two", "next"))),
		}, false},
		{"a value that Loop makes", []*onnxpb.NodeProto{
			one("Loop", "two cond zero", "last rows", body("body", names("i c index"), names("again next y"), keep, gather("index"), one("Add", "index at", "next"))),
		}, true},
		{"a turn of Loop", []*onnxpb.NodeProto{one("Loop", "two cond at", "last rows", body("body", names("i c index"), names("again index y"), keep, gather("i")))}, false},
		{"a turn up to an input", []*onnxpb.NodeProto{one("Loop", "at cond at", "last rows", body("body", names("i c index"), names("again index y"), keep, gather("i")))}, true},
		{"the result of Loop", []*onnxpb.NodeProto{one("Loop", "two cond at", "last rows", body("body", names("i c index"), names("again index y"), keep, one("Identity", "index", "y"))), one("Gather", "table rows", "z")}, true},
		{"a slice of Scan", []*onnxpb.NodeProto{one("Scan", "two at", "state rows", integer("num_scan_inputs", 1), body("body", names("s index"), names("s y"), gather("index")))}, true},
		{"a state of Scan", []*onnxpb.NodeProto{one("Scan", "at two", "state rows", integer("num_scan_inputs", 1), body("body", names("s index"), names("s y"), gather("s")))}, true},
		{"the other input of Scan", []*onnxpb.NodeProto{one("Scan", "at two", "state rows", integer("num_scan_inputs", 1), body("body", names("s index"), names("s y"), gather("index")))}, false},
		{"a function", []*onnxpb.NodeProto{one("Pick", "at table", "y")}, true},
		{"a function of bounded indices", []*onnxpb.NodeProto{one("Clip", "at zero two", "safe"), one("Pick", "safe table", "y")}, false},
		{"a body in a function", []*onnxpb.NodeProto{one("Choose", "at table cond", "y")}, true},
		{"a body in a body", []*onnxpb.NodeProto{one("If", "cond", "r",
			body("then_branch", nil, names("l"), one("Loop", "two cond at", "l q", body("body", names("i c index"), names("again index y"), keep, gather("index")))), body("else_branch", nil, names("two")))}, true},
	} {
		m := plainProto()
		m.OpsetImport[0] = opset("", 18)
		local := "local"
		m.OpsetImport = append(m.OpsetImport, opset(local, 1))
		m.Graph.Node = tt.nodes
		for _, n := range m.Graph.Node {
			if n.GetOpType() == "Pick" || n.GetOpType() == "Choose" {
				n.Domain = &local
			}
		}
		pick, choose := "Pick", "Choose"
		m.Functions = []*onnxpb.FunctionProto{
			{Name: &pick, Domain: &local, Input: names("index table"), Output: names("y"), OpsetImport: m.OpsetImport, Node: []*onnxpb.NodeProto{gather("index")}},
			{Name: &choose, Domain: &local, Input: names("index table cond"), Output: names("r"), OpsetImport: m.OpsetImport, Node: []*onnxpb.NodeProto{
				one("If", "cond", "r", body("then_branch", nil, names("y"), gather("index")), body("else_branch", nil, names("index"))),
			}},
		}
		m.Graph.Input = []*onnxpb.ValueInfoProto{typedValue("at", 7, 1), typedValue("cond", 9)}
		m.Graph.Output = []*onnxpb.ValueInfoProto{in1(tt.nodes[len(tt.nodes)-1].Output[0])}
		m.Graph.Initializer = []*onnxpb.TensorProto{tensor("table", 1, strings.Repeat("\x00", 12), 3, 1), tensor("zero", 7, strings.Repeat("\x00", 8)), tensor("two", 7, "\x02"+strings.Repeat("\x00", 7))}
		read, err := FromBytes(written(t, m))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		all, err := lint.Model(context.Background(), read, lint.Options{})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range all {
			if f.Rule.ID == "L.4" {
				if found = true; !strings.Contains(f.Message, `the input "at"`) {
					t.Errorf("%s: %s", tt.name, f.Message)
				}
			}
		}
		if found != tt.found {
			t.Errorf("%s: found is %t", tt.name, found)
		}
	}
}
