package modelproto

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/protofile"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto/internal/onnxpb"
	"github.com/garner-go/garner/source"
)

// look looks at all of a model, and returns the errors of its constants.
func look(m *model.Model) error {
	var all []error
	seen := map[*model.Constant]bool{}
	value := func(v *model.Value) {
		if v == nil {
			return
		}
		_ = v.String()
		if c := v.Constant; c != nil && !seen[c] {
			seen[c] = true
			made, err := c.Tensor()
			if err == nil {
				err = mapped.Guard(func() error {
					if made.Len() > 0 { // the text of nothing, a billion times, is long
						_ = made.Text()
					}
					return nil
				})
			}
			all = append(all, err)
		}
	}
	for _, v := range m.Graph.Inputs {
		value(v)
	}
	for n := range m.Nodes() {
		for _, v := range n.Inputs {
			value(v)
		}
		for _, v := range n.Outputs {
			value(v)
		}
		for _, a := range n.Attributes {
			if c, ok := a.(*model.Constant); ok {
				value(&model.Value{Constant: c})
			}
		}
	}
	for _, r := range m.Graph.Outputs {
		value(r.Value)
	}
	return errors.Join(all...)
}

// files are the models of testdata.
func files(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/*.onnx")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d models, %v", len(names), err)
	}
	all := map[string][]byte{}
	for _, name := range names {
		if all[name], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestCutShort cuts models at every byte. Where a whole field ends it cannot be
// seen that others came after it; everywhere else it is.
func TestCutShort(t *testing.T) {
	for name, b := range files(t) {
		whole := map[int]bool{}
		for at := 0; at < len(b); {
			whole[at] = true
			_, _, n := protowire.ConsumeField(b[at:])
			at += n
		}
		for n := range b {
			m, err := FromBytes(b[:n])
			if err == nil {
				if !whole[n] {
					t.Fatalf("%s: the first %d bytes of %d are a model", name, n, len(b))
				}
				look(m)
				continue
			}
			if !strings.HasPrefix(err.Error(), "garner: ") {
				t.Fatalf("%s: %d bytes: %v", name, n, err)
			}
		}
	}
}

// TestCorrupt changes every byte of models, one at a time: a model or an error
// comes of it, and no panic.
func TestCorrupt(t *testing.T) {
	for name, b := range files(t) {
		for i := range b {
			for _, v := range []byte{b[i] ^ 1, b[i] ^ 0x80} {
				bad := slices.Clone(b)
				bad[i] = v
				m, err := FromBytes(bad)
				if err == nil {
					err = look(m)
				}
				if err != nil && !strings.HasPrefix(err.Error(), "garner: ") {
					t.Fatalf("%s: byte %d is %d: %v", name, i, v, err)
				}
			}
		}
	}
}

func node(op string, inputs, outputs []string, attributes ...*onnxpb.AttributeProto) *onnxpb.NodeProto {
	return &onnxpb.NodeProto{OpType: &op, Input: inputs, Output: outputs, Attribute: attributes}
}

func in1(name string) *onnxpb.ValueInfoProto { return &onnxpb.ValueInfoProto{Name: &name} }

func typedValue(name string, elem int32, dims ...int64) *onnxpb.ValueInfoProto {
	shape := &onnxpb.TensorShapeProto{}
	for _, d := range dims {
		shape.Dim = append(shape.Dim, &onnxpb.TensorShapeProto_Dimension{Value: &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: d}})
	}
	return &onnxpb.ValueInfoProto{Name: &name, Type: &onnxpb.TypeProto{Value: &onnxpb.TypeProto_TensorType{TensorType: &onnxpb.TypeProto_Tensor{ElemType: &elem, Shape: shape}}}}
}

func opset(domain string, version int64) *onnxpb.OperatorSetIdProto {
	return &onnxpb.OperatorSetIdProto{Domain: &domain, Version: &version}
}

func tensor(name string, dtype int32, raw string, dims ...int64) *onnxpb.TensorProto {
	return &onnxpb.TensorProto{Name: &name, DataType: &dtype, Dims: dims, RawData: []byte(raw)}
}

func graphOf(nodes ...*onnxpb.NodeProto) *onnxpb.AttributeProto {
	name, kind := "body", onnxpb.AttributeProto_GRAPH
	return &onnxpb.AttributeProto{Name: &name, Type: &kind, G: &onnxpb.GraphProto{Node: nodes}}
}

func integer(name string, v int64) *onnxpb.AttributeProto {
	kind := onnxpb.AttributeProto_INT
	return &onnxpb.AttributeProto{Name: &name, Type: &kind, I: &v}
}

// plainProto is a model of one Gather, whose table is an initializer.
func plainProto() *onnxpb.ModelProto {
	ir := int64(8)
	g := node("Gather", []string{"table", "at"}, []string{"y"}, integer("axis", 0))
	name := "pick"
	g.Name = &name
	return &onnxpb.ModelProto{
		IrVersion: &ir, OpsetImport: []*onnxpb.OperatorSetIdProto{opset("", 13)},
		Graph: &onnxpb.GraphProto{
			Node: []*onnxpb.NodeProto{g}, Input: []*onnxpb.ValueInfoProto{typedValue("at", 7, 3)}, Output: []*onnxpb.ValueInfoProto{in1("y")},
			Initializer: []*onnxpb.TensorProto{tensor("table", 2, "abcdef", 3, 2)},
		},
	}
}

func written(t testing.TB, m *onnxpb.ModelProto) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBad writes models that are wrong in one way, and reads what is said of
// it: the file, the node or tensor, and what stands there.
func TestBad(t *testing.T) {
	function := func(name string, inputs, outputs []string, nodes ...*onnxpb.NodeProto) *onnxpb.FunctionProto {
		domain := "f"
		return &onnxpb.FunctionProto{Name: &name, Domain: &domain, Input: inputs, Output: outputs, Node: nodes, OpsetImport: []*onnxpb.OperatorSetIdProto{opset("", 13), opset("f", 1)}}
	}
	call := func(name string, inputs, outputs []string, attributes ...*onnxpb.AttributeProto) *onnxpb.NodeProto {
		n, domain := node(name, inputs, outputs, attributes...), "f"
		n.Domain = &domain
		return n
	}
	reference := func(name, to string, kind onnxpb.AttributeProto_AttributeType) *onnxpb.AttributeProto {
		return &onnxpb.AttributeProto{Name: &name, RefAttrName: &to, Type: &kind}
	}
	for _, tt := range []struct {
		name   string
		change func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto)
		want   string // "": it is right
	}{
		{"plain", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {}, ""},
		{"no graph", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) { m.Graph = nil }, "it has no graph"},
		{"opset 0", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) { m.OpsetImport[0] = opset("", 0) }, "opset 0 of domain"},
		{"opset -1", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			m.OpsetImport[0] = opset("", -1)
		}, "opset -1 of domain"},
		{"huge opset", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			m.OpsetImport[0] = opset("", 1<<40)
		}, "opset 1099511627776"},
		{"two opsets", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			m.OpsetImport = append(m.OpsetImport, opset("ai.onnx", 12))
		}, `opsets 13 and 12 of domain`},
		{"no opset", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) { m.OpsetImport = nil }, `node "pick" (graph.node[0]): the model imports no opset of its domain ""`},
		{"before opsets", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			m.OpsetImport, *m.IrVersion = nil, 2
		}, ""},
		{"no opset of a gather", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			*n = *call("GatherND", n.Input, n.Output)
			*n.Domain = "com.microsoft"
		}, `imports no opset of its domain "com.microsoft"`},
		{"too old", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			*n.OpType, m.OpsetImport[0] = "GatherND", opset("", 10)
		}, "onnx.GatherND is there since opset 11"},
		{"no op_type", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) { n.OpType = nil }, `node "pick" (graph.node[0]): it has no op_type`},
		{"name no UTF-8", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) { *n.Name = "a\xff" }, `graph.node[0].name: "a\xff" is no UTF-8`},
		{"input no UTF-8", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) { n.Input[1] = "\x80" }, `graph.node[0].input: "\x80" is no UTF-8`},
		{"missing input", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) { n.Input[1] = "x" }, `node "pick" (graph.node[0]): its input 1, "x", is made by no node`},
		{"one input", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) { n.Input = n.Input[:1] }, "has two and one"},
		{"empty input", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) { n.Input[0] = "" }, "has two and one"},
		{"no output", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) { n.Output, g.Output = nil, nil }, "has two and one"},
		{"missing output", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Output = append(g.Output, in1("z"))
		}, `graph.output[1]: output "z" is made by no node`},
		{"output twice", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Output = append(g.Output, in1("y"))
		}, `graph.output[1]: output "y" has no name, or one that another has`},
		{"input twice", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Input = append(g.Input, in1("at"))
		}, `graph.input[1]: input "at" has no name, or one`},
		{"value twice", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Node = append(g.Node, node("Identity", []string{"at"}, []string{"y"}))
		}, `node "Identity_1" (graph.node[1]): two values are named "y"`},
		{"value like an input", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Node = append(g.Node, node("Identity", []string{"y"}, []string{"at"}))
		}, `two values are named "at"`},
		{"nodes of one name", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			other := node("Identity", []string{"y"}, []string{"z"})
			other.Name = n.Name
			g.Node = append(g.Node, other)
		}, ""},
		{"another order", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			n.Input[1] = "z"
			g.Node = append(g.Node, node("Identity", []string{"at"}, []string{"z"}))
		}, ""},
		{"circle", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			n.Input[1] = "z"
			g.Node = append(g.Node, node("Identity", []string{"y"}, []string{"z"}))
		}, "in a circle"},
		{"circle of one", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) { n.Input[1] = "y" }, `node "pick" (graph.node[0]): its input is made of its own output`},
		{"circle through a sub-graph", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			n.Input[1] = "z"
			g.Node = append(g.Node, node("If", nil, []string{"z"}, graphOf(node("Identity", []string{"y"}, []string{"t"}))))
		}, "in a circle"},
		{"attribute twice", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			n.Attribute = append(n.Attribute, integer("axis", 1))
		}, `attribute "axis" has no name, or one that another has`},
		{"attribute without a value", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			n.Attribute[0].I, n.Attribute[0].Type = nil, nil
		}, `attribute "axis": it has no value`},
		{"reference outside of a function", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			n.Attribute[0] = reference("axis", "axis", onnxpb.AttributeProto_INT)
		}, `"axis", and stands in no function`},
		{"tensor's dim negative", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) { g.Initializer[0].Dims[1] = -2 }, `tensor "table": its dim 1 is -2`},
		{"tensor too small", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) { g.Initializer[0].Dims[1] = 3 }, `tensor "table": it has 6 bytes; u8[3,3] takes 9`},
		{"size overflows", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Initializer[0].Dims = []int64{1 << 30, 1 << 30, 1 << 30}
		}, `tensor "table": its shape [1073741824,1073741824,1073741824] holds more elements`},
		{"size overflows to what is there", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Initializer[0].Dims = []int64{1 << 31, 1 << 31, 4, 6}
		}, `tensor "table": its`},
		{"65 dims", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Initializer[0].Dims = slices.Repeat([]int64{1}, 65)
		}, "65 dims; there may be 64"},
		{"tensor of no type", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) { *g.Initializer[0].DataType = 99 }, `tensor "table": there is no element type 99`},
		{"value of no type", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Input[0] = typedValue("at", 99)
		}, `graph: value "at": there is no element type 99`},
		{"value's dim negative", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Input[0] = typedValue("at", 7, 1, -2)
		}, `value "at": its dim 1 is -2`},
		{"value's dim -1", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Input[0] = typedValue("at", 7, -1)
		}, ""},
		{"value's dims too many", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Input[0] = typedValue("at", 7, slices.Repeat([]int64{1}, 65)...)
		}, `65 dims`},
		{"initializer without a name", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) { g.Initializer[0].Name = nil }, "graph.initializer[0]: an initializer has no name"},
		{"initializer twice", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Initializer = append(g.Initializer, g.Initializer[0])
		}, `tensor "table": two values are named "table"`},
		{"sparse", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.SparseInitializer = []*onnxpb.SparseTensorProto{{Values: g.Initializer[0], Dims: []int64{9, 2}}}
			g.Initializer = nil
		}, `tensor "table": it is sparse, which garner does not read`},
		{"external", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Initializer[0] = externalTensor("f", "", "")
		}, `tensor "table": its elements are in another file, "f", which is not read here`},

		{"Constant without a value", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Node = append(g.Node, node("Constant", nil, []string{"c"}))
		}, `node "Constant_1" (graph.node[1]): it has no value`},
		{"Constant with two", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Node = append(g.Node, node("Constant", nil, []string{"c"}, integer("value_int", 1), &onnxpb.AttributeProto{Name: proto.String("value_ints"), Ints: []int64{1}}))
		}, "it has another value too"},
		{"Constant of another type", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Node = append(g.Node, node("Constant", nil, []string{"c"}, integer("value_float", 1)))
		}, "it is of type INT; it must be of type FLOAT"},
		{"Constant with an input", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Node = append(g.Node, node("Constant", []string{"at"}, []string{"c"}, integer("value_int", 1)))
		}, "a Constant has 0 and 1"},
		{"Constant twice", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Node = append(g.Node, node("Constant", nil, []string{"at"}, integer("value_int", 1)))
		}, "two values are named"},
		{"attribute's tensor", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Node = append(g.Node, node("ConstantOfShape", []string{"at"}, []string{"c"}, &onnxpb.AttributeProto{Name: proto.String("value"), T: tensor("", 7, "short", 1)}))
		}, `node "ConstantOfShape_1" (graph.node[1]): attribute "value": it has 5 bytes; i64[1] takes 8`},

		{"sub-graph", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Node = append(g.Node, node("If", nil, []string{"z"}, graphOf(node("Gather", []string{"table", "nothing"}, []string{"t"}))))
		}, `node "If_1/body/Gather_0" (graph.node[1].body.node[0]): its input 1, "nothing"`},
		{"sub-graph's output", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			a := graphOf()
			a.G.Output = []*onnxpb.ValueInfoProto{in1("y"), in1("nothing")}
			g.Node = append(g.Node, node("If", nil, []string{"z"}, a))
		}, `graph.node[1].body.output[1]: output "nothing" is made by no node`},
		{"what a sub-graph makes is not seen outside", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Node = append(g.Node, node("If", nil, []string{"z"}, graphOf(node("Identity", []string{"at"}, []string{"t"}))), node("Identity", []string{"t"}, []string{"u"}))
		}, `its input 0, "t", is made by no node`},
		{"list of graphs", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			g.Node = append(g.Node, node("Switch", nil, []string{"z"}, &onnxpb.AttributeProto{Name: proto.String("cases"), Graphs: []*onnxpb.GraphProto{{}, {Node: []*onnxpb.NodeProto{node("", nil, nil)}}}}))
		}, `(graph.node[1].cases[1].node[0]): it has no op_type`},

		{"function calls itself", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			m.Functions = []*onnxpb.FunctionProto{function("A", []string{"a"}, []string{"b"}, call("B", []string{"a"}, []string{"b"})), function("B", []string{"a"}, []string{"b"}, call("A", []string{"a"}, []string{"b"}))}
			g.Node = append(g.Node, call("A", []string{"y"}, []string{"z"}))
		}, `function "f.A" calls itself`},
		{"function twice", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			m.Functions = []*onnxpb.FunctionProto{function("A", nil, nil), function("A", nil, nil)}
		}, `functions[1]: function "f.A" has no name, or one`},
		{"function without its output", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			m.Functions = []*onnxpb.FunctionProto{function("A", []string{"a"}, []string{"b"})}
			g.Node = append(g.Node, call("A", []string{"y"}, []string{"z"}))
		}, `its output "b" is made by no node and is no input`},
		{"function with too many inputs", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			m.Functions = []*onnxpb.FunctionProto{function("A", []string{"a"}, []string{"a"})}
			g.Node = append(g.Node, call("A", []string{"y", "y"}, []string{"z"}))
		}, `it gives function "f.A" 2 inputs and takes 1 outputs; there are 1 and 1`},
		{"function's inputs of one name", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			m.Functions = []*onnxpb.FunctionProto{function("A", []string{"a", "a"}, []string{"a"})}
			g.Node = append(g.Node, call("A", []string{"y", "y"}, []string{"z"}))
		}, `input "a" has no name, or one that another has`},
		{"function makes its input", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			m.Functions = []*onnxpb.FunctionProto{function("A", []string{"a"}, []string{"a"}, node("Identity", []string{"a"}, []string{"a"}))}
			g.Node = append(g.Node, call("A", []string{"y"}, []string{"z"}))
		}, `two values are named "a"`},
		{"function sees nothing around it", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			m.Functions = []*onnxpb.FunctionProto{function("A", nil, []string{"b"}, node("Identity", []string{"at"}, []string{"b"}))}
			g.Node = append(g.Node, call("A", nil, []string{"z"}))
		}, `node "A_1/Identity_0" (graph.node[1], function f.A.node[0]): its input 0, "at", is made by no node`},
		{"function gives back what it is given", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			m.Functions = []*onnxpb.FunctionProto{function("A", []string{"a"}, []string{"a"})}
			g.Node = append(g.Node, call("A", []string{"y"}, []string{"z"}), node("Identity", []string{"z"}, []string{"u"}))
		}, ""},
		{"functions give back each other's", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			m.Functions = []*onnxpb.FunctionProto{function("A", []string{"a"}, []string{"a"})}
			g.Node = append(g.Node, call("A", []string{"u"}, []string{"z"}), call("A", []string{"z"}, []string{"u"}))
			n.Input[1] = "u"
		}, `is made of itself`},
		{"function's output twice", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			m.Functions = []*onnxpb.FunctionProto{function("A", []string{"a"}, []string{"a"})}
			g.Node = append(g.Node, call("A", []string{"at"}, []string{"y"}))
		}, `two values are named "y"`},
		{"function's attribute of another type", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			m.Functions = []*onnxpb.FunctionProto{function("A", []string{"a", "b"}, []string{"c"}, node("Gather", []string{"a", "b"}, []string{"c"}, reference("axis", "by", onnxpb.AttributeProto_INT)))}
			g.Node = append(g.Node, call("A", []string{"table", "at"}, []string{"z"}, &onnxpb.AttributeProto{Name: proto.String("by"), S: []byte("x")}))
		}, `attribute "axis": it is of type INT and refers to attribute "by", which is of type STRING`},
		{"function's opset", func(m *onnxpb.ModelProto, g *onnxpb.GraphProto, n *onnxpb.NodeProto) {
			m.Functions = []*onnxpb.FunctionProto{function("A", nil, nil)}
			m.Functions[0].OpsetImport = []*onnxpb.OperatorSetIdProto{opset("", -3)}
			g.Node = append(g.Node, call("A", nil, nil))
		}, `function "f.A": it imports opset -3`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := plainProto()
			tt.change(p, p.Graph, p.Graph.Node[0])
			path := filepath.Join(t.TempDir(), "it.onnx")
			b := written(t, p)
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			m, inMemory := FromBytes(b)
			if inMemory == nil {
				inMemory = look(m)
			}
			m, err := Open(path)
			if err == nil {
				err = look(m)
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			}
			for i, err := range []error{inMemory, err} {
				switch {
				case tt.name == "external" && i == 1: // there it is read, see TestExternal
				case tt.want == "" && err != nil:
					t.Error(err)
				case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
					t.Errorf("%v; want %s", err, tt.want)
				case err != nil && i == 1 && !strings.HasPrefix(err.Error(), "garner: "+path+": "):
					t.Errorf("%v does not begin with the file", err)
				case err != nil && !strings.HasPrefix(err.Error(), "garner: "):
					t.Error(err)
				}
				var at *model.Error
				if err != nil && !errors.As(err, &at) {
					t.Errorf("%v is no model.Error", err)
				}
			}
		})
	}
}

// TestWrongFiles opens what is no model at all.
func TestWrongFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// A graph, in it a node, in it a name of 10 GB.
	long := protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.BytesType), 10<<30)
	long = protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), long)
	long = protowire.AppendBytes(protowire.AppendTag(nil, 7, protowire.BytesType), long)
	endless := protowire.AppendVarint(protowire.AppendTag(nil, 7, protowire.BytesType), math.MaxUint64)
	for path, want := range map[string]string{
		write("empty.onnx", ""):            "the file is empty",
		write("text.onnx", "no model"):     "corrupt or no ONNX model",
		write("png.onnx", "\x89PNG\r\n"):   "corrupt",
		write("long.onnx", string(long)):   "graph.node[0]: its field 3 has 10737418240 bytes by its own account, and 0 are left",
		write("max.onnx", string(endless)): "has 18446744073709551615 bytes by its own account",
		filepath.Join(dir, "none.onnx"):    "there is no file",
		dir:                                "is a folder",
		// A field that stands there twice would be two graphs in one.
		write("twice.onnx", "\x3a\x00\x3a\x00"): "graph: it stands there twice",
	} {
		_, err := Open(path)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) || !strings.HasPrefix(err.Error(), "garner: ") {
			t.Errorf("%s: %v; want %s", path, err, want)
		}
	}
}

// memory is how much f allocates in all.
func memory(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestBombs reads small files that mean large models.
func TestBombs(t *testing.T) {
	call := func(name string, inputs, outputs []string) *onnxpb.NodeProto {
		n := node(name, inputs, outputs)
		n.Domain = proto.String("f")
		return n
	}
	doubling := func(levels int, nodes ...*onnxpb.NodeProto) *onnxpb.ModelProto {
		p := plainProto()
		p.OpsetImport = append(p.OpsetImport, opset("f", 1))
		for i := range levels {
			f := &onnxpb.FunctionProto{Domain: proto.String("f"), Name: proto.String(fmt.Sprint("F", i)), Input: []string{"a"}, Output: []string{"c"}}
			f.Node = []*onnxpb.NodeProto{call(fmt.Sprint("F", i+1), []string{"a"}, []string{"b"}), call(fmt.Sprint("F", i+1), []string{"b"}, []string{"c"})}
			p.Functions = append(p.Functions, f)
		}
		p.Functions = append(p.Functions, &onnxpb.FunctionProto{Domain: proto.String("f"), Name: proto.String(fmt.Sprint("F", levels)), Input: []string{"a"}, Output: []string{"c"}, Node: nodes})
		p.Graph.Node = append(p.Graph.Node, call("F0", []string{"y"}, []string{"z"}))
		return p
	}
	longName := node("Identity", []string{"a"}, []string{"c"})
	longName.Name = proto.String(strings.Repeat("n", 1<<20))
	deep := plainProto()
	inner := node("Identity", []string{"at"}, []string{"t"})
	for range maxGraphs + 1 {
		inner = node("If", nil, []string{"t"}, graphOf(inner))
	}
	deep.Graph.Node = append(deep.Graph.Node, inner)
	deeper := plainProto()
	for range 2000 {
		inner = node("If", nil, []string{"t"}, graphOf(inner))
	}
	deeper.Graph.Node = append(deeper.Graph.Node, inner)
	optional := &onnxpb.TypeProto{}
	for range 5000 {
		optional = &onnxpb.TypeProto{Value: &onnxpb.TypeProto_OptionalType{OptionalType: &onnxpb.TypeProto_Optional{ElemType: optional}}}
	}
	types := plainProto()
	types.Graph.Input[0].Type = optional
	crowd := plainProto()
	crowd.Graph.Node = slices.Repeat([]*onnxpb.NodeProto{{Name: proto.String(strings.Repeat("n", 20))}}, schema.Messages)
	empty := plainProto()
	empty.Graph.Node = slices.Repeat([]*onnxpb.NodeProto{{}}, 1<<19)
	wide := plainProto()
	wide.Graph.Node[0].Input = slices.Repeat([]string{""}, 1<<20)
	name := plainProto()
	*name.Graph.Node[0].Name = strings.Repeat("n", protofile.MaxStructure)
	chain := plainProto()
	chain.OpsetImport = append(chain.OpsetImport, opset("f", 1))
	for i := range 1000 {
		chain.Functions = append(chain.Functions, &onnxpb.FunctionProto{Domain: proto.String("f"), Name: proto.String(fmt.Sprint("F", i)), Input: []string{"a"}, Output: []string{"c"},
			Node: []*onnxpb.NodeProto{call(fmt.Sprint("F", i+1), []string{"a"}, []string{"c"})}})
	}
	chain.Graph.Node = append(chain.Graph.Node, call("F0", []string{"y"}, []string{"z"}))
	for name, tt := range map[string]struct {
		p    *onnxpb.ModelProto
		want string
		most uint64 // bytes allocated, of MiB; generous
	}{
		"functions that call two": {doubling(40, node("Identity", []string{"a"}, []string{"c"})), "in the place of their calls the model has more than 12 MiB", 30},
		"functions of nothing":    {doubling(40), "function \"f.F40\": its output", 30},
		"long names":              {doubling(20, longName), "in the place of their calls the model has more than 72 MiB", 110},
		"deep functions":          {chain, "stand in each other more than 64 deep", 30},
		"deep graphs":             {deep, "stand in each other more than 64 deep", 10},
		"very deep graphs":        {deeper, "stand in each other more than 64 deep", 10},
		"deep types":              {types, "stand in each other more than 64 deep", 10},
		"many nodes":              {crowd, "more than 1048576 messages", 200},
		"empty nodes":             {empty, "in the place of their calls the model has more than", 100},
		"many inputs":             {wide, "it has the inputs [\"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\"] and 1048568 more", 140},
		"a long name":             {name, "graph.node[0].name: the model has more than 64 MiB", 10},
	} {
		t.Run(name, func(t *testing.T) {
			b := written(t, tt.p)
			var err error
			took := memory(func() { _, err = FromBytes(b) })
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("%.300v; want %s", err, tt.want)
			}
			if took > tt.most<<20 {
				t.Errorf("%d MiB were allocated; want at most %d", took>>20, tt.most)
			}
			if len(err.Error()) > 5000 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
		})
	}
}

// externalTensor is the table of plainProto in another file.
func externalTensor(location, offset, length string) *onnxpb.TensorProto {
	c := tensor("table", 2, "", 3, 2)
	c.RawData, c.DataLocation = nil, onnxpb.TensorProto_EXTERNAL.Enum()
	for key, value := range map[string]string{"location": location, "offset": offset, "length": length} {
		if value != "" {
			c.ExternalData = append(c.ExternalData, &onnxpb.StringStringEntryProto{Key: proto.String(key), Value: proto.String(value)})
		}
	}
	return c
}

// TestExternal reads elements from files beside the model, and from nowhere
// else.
func TestExternal(t *testing.T) {
	outside := t.TempDir()
	dir := filepath.Join(outside, "model")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(outside, "secret"), "abcdefgh")
	write(filepath.Join(dir, "data"), "abcdefgh")
	write(filepath.Join(dir, "sub", "data"), "ijklmnop")
	cases := []struct{ location, offset, length, want string }{
		{"data", "", "", "u8[3,2] [[97, 98], [99, 100], [101, 102]]"},
		{"data", "2", "6", "u8[3,2] [[99, 100], [101, 102], [103, 104]]"},
		{"sub/data", "0", "", "u8[3,2] [[105, 106], [107, 108], [109, 110]]"},
		{"./sub/../data", "", "", "u8[3,2] [[97, 98], [99, 100], [101, 102]]"},
		{"", "", "", "another file that is not named"},
		{"none", "", "", "there is no such file"},
		{"sub", "", "", "is no regular file"},
		{".", "", "", "is no regular file"},
		{"../secret", "", "", "which is not in the model's folder"},
		{"sub/../../secret", "", "", "which is not in the model's folder"},
		{filepath.ToSlash(filepath.Join(outside, "secret")), "", "", "which is not in the model's folder"},
		{"/etc/passwd", "", "", "which is not in the model's folder"},
		{"a\x00b", "", "", "garner: "},
		{"data", "3", "", "6 bytes from 3 on of " + filepath.Join(dir, "data") + ", which has 8 bytes"},
		{"data", "9", "", "which has 8 bytes"},
		{"data", "9223372036854775807", "", "which has 8 bytes"},
		{"data", "9223372036854775808", "", "its offset is \"9223372036854775808\", which is no number of bytes"},
		{"data", "-1", "", "its offset is \"-1\""},
		{"data", "x", "", "its offset is \"x\""},
		{"data", "", "-6", "its length is \"-6\""},
		{"data", "", "7", "it has 7 bytes in \"data\" by its own account; u8[3,2] takes 6"},
	}
	if runtime.GOOS != "windows" {
		for link, to := range map[string]string{"out": "../secret", "absolute": filepath.Join(outside, "secret"), "folder": "..", "inside": "sub/data", "circle": "circle"} {
			if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct{ location, want string }{
			{"out", "a file in the model's folder is wanted, not a link to another"},
			{"absolute", "a file in the model's folder is wanted, not a link to another"},
			{"folder/secret", "a file in the model's folder is wanted, not a link to another"},
			{"circle", "cannot be looked at"},
			{"inside", "u8[3,2] [[105, 106], [107, 108], [109, 110]]"},
		} {
			cases = append(cases, struct{ location, offset, length, want string }{c.location, "", "", c.want})
		}
	}
	path := filepath.Join(dir, "it.onnx")
	for _, tt := range cases {
		t.Run(fmt.Sprintf("%q %s %s", tt.location, tt.offset, tt.length), func(t *testing.T) {
			p := plainProto()
			p.Graph.Initializer[0] = externalTensor(tt.location, tt.offset, tt.length)
			write(path, string(written(t, p)))
			m, err := Open(path)
			if err != nil {
				if !strings.Contains(err.Error(), tt.want) || strings.HasPrefix(tt.want, "u8") ||
					!strings.HasPrefix(err.Error(), "garner: "+path+`: tensor "table": `) {
					t.Errorf("%v; want %s", err, tt.want)
				}
				return
			}
			defer m.Close()
			c := m.Graph.Nodes[0].Inputs[0].Constant
			made, err := c.Tensor()
			offset := int64(0)
			if tt.offset == "2" {
				offset = 2
			}
			if err != nil || made.String() != tt.want || c.Size != 6 || c.Offset != offset {
				t.Errorf("%v at %d of %s, %v; want %s", made, c.Offset, c.File, err, tt.want)
			}
		})
	}

	t.Run("changed", func(t *testing.T) {
		p := plainProto()
		p.Graph.Initializer[0] = externalTensor("changing", "", "")
		write(path, string(written(t, p)))
		for _, changed := range []string{"abc", "ghijkl"} { // cut short; rewritten
			write(filepath.Join(dir, "changing"), "abcdef")
			m, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond) // a file system's clock may be that coarse
			write(filepath.Join(dir, "changing"), changed)
			c := m.Graph.Nodes[0].Inputs[0].Constant
			if _, err := c.Tensor(); !errors.Is(err, source.ErrChanged) || !strings.Contains(err.Error(), "open the model again") {
				t.Errorf("%s: %v", changed, err)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			if _, err := c.Tensor(); err == nil || !strings.Contains(err.Error(), "was closed") {
				t.Error(err)
			}
		}
	})
	t.Run("strings", func(t *testing.T) {
		p := plainProto()
		p.Graph.Initializer[0] = externalTensor("data", "", "")
		*p.Graph.Initializer[0].DataType = 8
		write(path, string(written(t, p)))
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "where only numbers can be") {
			t.Error(err)
		}
	})
	t.Run("many of one file", func(t *testing.T) {
		p := plainProto()
		p.Graph.Initializer[0] = externalTensor("data", "", "")
		other := externalTensor("data", "1", "")
		*other.Name = "other"
		p.Graph.Initializer = append(p.Graph.Initializer, other)
		p.Graph.Node = append(p.Graph.Node, node("Identity", []string{"other"}, []string{"z"}))
		write(path, string(written(t, p)))
		m, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		for i, want := range []string{"[[97, 98], [99, 100], [101, 102]]", "[[98, 99], [100, 101], [102, 103]]"} {
			made, err := m.Graph.Nodes[i].Inputs[0].Constant.Tensor()
			if err != nil || made.Text() != want {
				t.Errorf("%v, %v", made, err)
			}
		}
	})
}

// TestFiles lists every file that a model names, also for tensors that nothing uses
// and those whose elements garner does not know, and no file that it cannot have.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"data", "unused", "training"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("abcdefgh"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := plainProto()
	p.Graph.Initializer[0] = externalTensor("data", "", "")
	for i, location := range []string{"unused", "data", "unknown", "../outside"} {
		other := externalTensor(location, "", "")
		*other.Name = fmt.Sprint("other", i)
		if i > 1 {
			*other.DataType = 0
			p.Functions = append(p.Functions, &onnxpb.FunctionProto{
				Name: proto.String(location), Domain: proto.String("uncalled"), Output: []string{"y"},
				Node: []*onnxpb.NodeProto{{OpType: proto.String("Constant"), Output: []string{"y"}, Attribute: []*onnxpb.AttributeProto{
					{Name: proto.String("value"), Type: onnxpb.AttributeProto_TENSOR.Enum(), T: other},
				}}},
			})
			continue
		}
		p.Graph.Initializer = append(p.Graph.Initializer, other)
	}
	// ModelProto.training_info is field 20, TrainingInfoProto.algorithm field 2. What
	// follows it is cut short, which a part that is not read may be.
	algorithm := marshaled(t, &onnxpb.GraphProto{Initializer: []*onnxpb.TensorProto{externalTensor("training", "", "")}})
	info := protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), algorithm)
	b := protowire.AppendBytes(protowire.AppendTag(written(t, p), 20, protowire.BytesType), append(info, 0xff))
	path := filepath.Join(dir, "it.onnx")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	m, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if want := []string{path, filepath.Join(dir, "data"), filepath.Join(dir, "training"), filepath.Join(dir, "unknown"), filepath.Join(dir, "unused")}; !slices.Equal(m.Files, want) {
		t.Errorf("%q, want %q", m.Files, want)
	}
}

// TestClosed asks for constants of a model that was closed.
func TestClosed(t *testing.T) {
	m, err := Open("testdata/opset13.onnx")
	if err != nil {
		t.Fatal(err)
	}
	c := m.Graph.Nodes[0].Inputs[1].Constant
	if made, err := c.Tensor(); err != nil || made.String() != "i64[2] [2, 0]" {
		t.Errorf("%v, %v", made, err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Tensor(); err == nil || !strings.Contains(err.Error(), `constant "i": its model was closed`) {
		t.Error(err)
	}
}

// FuzzOpen holds that no bytes make the reader do more than fail, and that what
// it reads holds together.
func FuzzOpen(f *testing.F) {
	for _, b := range files(f) {
		f.Add(b)
	}
	more, err := filepath.Glob("../../testdata/onnx/*/model.onnx")
	if err != nil || len(more) == 0 {
		f.Fatalf("%d models, %v", len(more), err)
	}
	for _, name := range more {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		m, err := FromBytes(b)
		if !bytes.Equal(before, b) {
			t.Fatal("the bytes were changed")
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "garner: ") {
				t.Error(err)
			}
			return
		}
		made := map[*model.Node]bool{}
		for n := range m.Nodes() {
			made[n] = true
		}
		earlier := map[*model.Node]bool{}
		for _, n := range m.Graph.Nodes {
			for _, v := range n.Inputs {
				if v != nil && v.From != nil && !earlier[v.From] {
					t.Errorf("%s reads what is made after it", n.Name)
				}
			}
			earlier[n] = true
		}
		for n := range made {
			if n.IsGather() && (len(n.Inputs) < 2 || n.Inputs[0] == nil || n.Inputs[1] == nil || len(n.Outputs) != 1) {
				t.Errorf("%s is a gather of %d inputs", n.Name, len(n.Inputs))
			}
			for _, v := range n.Inputs {
				if v == nil || v.Constant == nil {
					continue
				}
				c, err := v.Constant.Tensor()
				if err == nil && v.Constant.Spec.String() != garner.SpecOf(c.DType(), c.Shape()...).String() {
					t.Errorf("%v is said to be %v", c.Spec(), v.Constant.Spec)
				}
			}
		}
	})
}
