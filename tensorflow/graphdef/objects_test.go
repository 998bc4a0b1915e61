package graphdef

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/tensorflow/graphdef/internal/bundle"
	"github.com/garner-go/garner/tensorflow/graphdef/internal/tfpb"
)

// saved writes a SavedModel's file of a graph.
func saved(t testing.TB, meta *tfpb.MetaGraphDef) []byte {
	t.Helper()
	if meta.MetaInfoDef == nil {
		meta.MetaInfoDef = &tfpb.MetaGraphDef_MetaInfoDef{}
	}
	meta.MetaInfoDef.Tags = []string{"serve"}
	return append([]byte{8, 1}, marshaled(t, &tfpb.SavedModel{MetaGraphs: []*tfpb.MetaGraphDef{meta}})...)
}

// edges are children of an object: names and numbers, which alternate.
func edges(list ...any) (all []*tfpb.TrackableObjectGraph_TrackableObject_ObjectReference) {
	for i := 0; i < len(list); i += 2 {
		all = append(all, &tfpb.TrackableObjectGraph_TrackableObject_ObjectReference{LocalName: list[i].(string), NodeId: int32(list[i+1].(int))})
	}
	return all
}

// calling is an object with functions.
func calling(functions ...string) *tfpb.SavedObject {
	return &tfpb.SavedObject{Kind: &tfpb.SavedObject_Function{Function: &tfpb.SavedFunction{ConcreteFunctions: functions}}}
}

// boundModel is a model of objects: embed, a function of x and a variable, a constant of the graph and a
// table; inner.deep, the same; two functions at twice; and gone, whose function the library lacks.
func boundModel() *tfpb.MetaGraphDef {
	arg := func(name string) *tfpb.OpDef_ArgDef { return &tfpb.OpDef_ArgDef{Name: name, Type: i32} }
	f := &tfpb.FunctionDef{
		Signature: &tfpb.OpDef{Name: "F", InputArg: []*tfpb.OpDef_ArgDef{arg("x"), arg("v"), arg("c"), arg("t")}, OutputArg: []*tfpb.OpDef_ArgDef{arg("y")}},
		NodeDef: []*tfpb.NodeDef{
			def("rows", "ResourceGather", []string{"v", "x"}, "dtype", tfpb.DataType_DT_FLOAT),
			def("more", "GatherV2", []string{"c", "x", "t"}),
			def("pack", "Bar", []string{"rows:output:0", "more:output:0"}),
		},
		Ret: map[string]string{"y": "pack:z:0"},
	}
	return &tfpb.MetaGraphDef{
		GraphDef: graph([]*tfpb.FunctionDef{f}, def("k", "Const", nil, "value", ints(5, 6, 7))),
		ObjectGraphDef: &tfpb.SavedObjectGraph{
			Nodes: []*tfpb.SavedObject{
				{Children: edges("embed", 1, "signatures", 7, "inner", 5, "twice", 6, "gone", 8)},
				calling("F"),
				{Kind: &tfpb.SavedObject_Variable{Variable: &tfpb.SavedVariable{Name: "table", Dtype: tfpb.DataType_DT_FLOAT, Shape: dimsOf(9, 2)}}},
				{Kind: &tfpb.SavedObject_Constant{Constant: &tfpb.SavedConstant{Operation: "k"}}},
				{}, // a hash table
				{Children: edges("deep", 9, "again", 0)},
				calling("F", "G"),
				{Children: edges("serving", 1)},
				calling("H"),
				{Kind: &tfpb.SavedObject_BareConcreteFunction{BareConcreteFunction: &tfpb.SavedBareConcreteFunction{ConcreteFunctionName: "F"}}},
			},
			ConcreteFunctions: map[string]*tfpb.SavedConcreteFunction{"F": {BoundInputs: []int32{2, 3, 4}}},
		},
	}
}

// TestBound reads a function by its path and by its name: its variable and its constant are what is
// bound, and the table and the argument that is free are inputs.
func TestBound(t *testing.T) {
	b := saved(t, boundModel())
	for i, signature := range []string{"embed", "inner.deep", "F", "F"} {
		m, err := FromBytes(b, false, Options{Signature: signature})
		if i == 3 { // a MetaGraphDef alone
			m, err = FromBytes(marshaled(t, boundModel()), true, Options{Signature: signature})
		}
		if err != nil {
			t.Errorf("%s: %v", signature, err)
			continue
		}
		var inputs []string
		for _, v := range m.Graph.Inputs {
			inputs = append(inputs, v.Name)
		}
		if !slices.Equal(inputs, []string{"x", "t"}) {
			t.Errorf("%s: inputs %v", signature, inputs)
		}
		data := map[string]string{}
		for n := range m.Gathers() {
			v := n.Inputs[0]
			data[n.Name] = fmt.Sprint(v.Name, " ", v.Spec, " ", v.Constant != nil)
		}
		if want := map[string]string{"rows": "table f32[9,2] false", "more": "k i32[3] true"}; !maps.Equal(data, want) {
			t.Errorf("%s: %v; want %v", signature, data, want)
		}
	}
	for signature, want := range map[string]string{
		"twice":      "twice is 2 functions for inputs of several kinds: F, G; name one of them",
		"gone":       "function gone is not in the library",
		"inner":      `it has no signature and no function "inner"`,
		"inner.deap": `"inner.deep"`,
		"deep":       "no signature and no function",
		"signatures": "no signature and no function",
		"":           "name one of its functions with Options.Signature; it has embed, twice, gone",
	} {
		if _, err := FromBytes(b, false, Options{Signature: signature}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", signature, err, want)
		}
	}
}

// TestBoundRefused changes the model of TestBound, and holds what is said of it.
func TestBoundRefused(t *testing.T) {
	for _, tt := range []struct {
		about  string
		change func(m *tfpb.MetaGraphDef)
		want   string
	}{
		{"one function", func(m *tfpb.MetaGraphDef) { m.ObjectGraphDef.Nodes[0].Children = edges("embed", 1) }, ""},
		{"no function", func(m *tfpb.MetaGraphDef) { m.ObjectGraphDef.Nodes[0].Children = nil }, "it has no signature and no function; it has constants alone"},
		{"a child beyond", func(m *tfpb.MetaGraphDef) { m.ObjectGraphDef.Nodes[0].Children[0].NodeId = 10 }, `nodes[0]: its child "embed" is object 10, and there are 10`},
		{"a child before", func(m *tfpb.MetaGraphDef) { m.ObjectGraphDef.Nodes[0].Children[0].NodeId = -1 }, `its child "embed" is object -1`},
		{"bound beyond", func(m *tfpb.MetaGraphDef) { m.ObjectGraphDef.ConcreteFunctions["F"].BoundInputs[0] = 10 }, `function "F" is bound to object 10, and there are 10`},
		{"more than arguments", func(m *tfpb.MetaGraphDef) {
			m.ObjectGraphDef.ConcreteFunctions["F"].BoundInputs = []int32{2, 2, 2, 2, 2}
		}, `function "F" is bound to 5 objects, and takes 4 inputs`},
		{"no such constant", func(m *tfpb.MetaGraphDef) { m.ObjectGraphDef.Nodes[3].GetConstant().Operation = "q" }, `nodes[3]: its constant is node "q", which the graph does not have`},
		{"a bad constant", func(m *tfpb.MetaGraphDef) { m.GraphDef.Node[1].Attr = nil }, "it has no value"},
		{"dims of a variable", func(m *tfpb.MetaGraphDef) { m.ObjectGraphDef.Nodes[2].GetVariable().Shape = dimsOf(-2) }, `variable "table": its dim 0 is -2`},
		{"many dims", func(m *tfpb.MetaGraphDef) {
			m.ObjectGraphDef.Nodes[2].GetVariable().Shape = dimsOf(make([]int64, 65)...)
		}, "its shape has 65 dims; there may be 64"},
		{"an argument's shape", func(m *tfpb.MetaGraphDef) {
			m.GraphDef.Library.Function[0].ArgAttr = map[uint32]*tfpb.FunctionDef_ArgAttrs{0: {Attr: map[string]*tfpb.AttrValue{"_output_shapes": {Value: &tfpb.AttrValue_List{
				List: &tfpb.AttrValue_ListValue{Shape: []*tfpb.TensorShapeProto{dimsOf(-3)}}}}}}}
		}, "its dim 0 is -3"},
		{"a list as an argument", func(m *tfpb.MetaGraphDef) { m.GraphDef.Library.Function[0].Signature.InputArg[0].NumberAttr = "N" }, `argument "x" of function "F" is a list of tensors`},
		{"two arguments of a name", func(m *tfpb.MetaGraphDef) { m.GraphDef.Library.Function[0].Signature.InputArg[1].Name = "x" }, `argument 1 of function "F", "x", has no name, or one that another has`},
		{"a list as a result", func(m *tfpb.MetaGraphDef) { m.GraphDef.Library.Function[0].Signature.OutputArg[0].TypeListAttr = "T" }, `result "y" of function "F" is a list of tensors`},
		{"a result of nothing", func(m *tfpb.MetaGraphDef) { m.GraphDef.Library.Function[0].Ret = nil }, `result "y" of function "F" is made by nothing`},
	} {
		m := boundModel()
		m.ObjectGraphDef.Nodes[0].Children = edges("embed", 1)
		tt.change(m)
		_, err := FromBytes(saved(t, m), false, Options{})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v; want %q", tt.about, err, tt.want)
		}
	}
}

// TestSignatureEnds holds the names of a signature's inputs and results, and what is said of ends that
// are not there.
func TestSignatureEnds(t *testing.T) {
	end := func(name string, dims ...int64) *tfpb.TensorInfo {
		return &tfpb.TensorInfo{Encoding: &tfpb.TensorInfo_Name{Name: name}, Dtype: i32, TensorShape: dimsOf(dims...)}
	}
	of := func(in, out map[string]*tfpb.TensorInfo) []byte {
		return saved(t, &tfpb.MetaGraphDef{GraphDef: graph(nil, def("a", "Identity", []string{"in"})), SignatureDef: map[string]*tfpb.SignatureDef{"s": {Inputs: in, Outputs: out}}})
	}
	m, err := FromBytes(of(map[string]*tfpb.TensorInfo{"ids": end("in:0", -1, 2), "same": end("in:0", -1, 2)}, map[string]*tfpb.TensorInfo{"y": end("a:0")}), false, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if in := m.Graph.Inputs; len(in) != 1 || in[0].Name != "ids" || !slices.Equal(in[0].Aliases, []string{"in", "same"}) || in[0].Spec.String() != "i32[?,2]" {
		t.Errorf("%+v", in)
	}
	if out := m.Graph.Outputs; len(out) != 1 || out[0].Name != "y" || out[0].Value.From.Inputs[0] != m.Graph.Inputs[0] {
		t.Errorf("%+v", out)
	}
	for want, b := range map[string][]byte{
		`signature_def: input "ids": its input "q:0" is made by no node`: of(map[string]*tfpb.TensorInfo{"ids": end("q:0")}, nil),
		`signature_def: input "ids": its dim 0 is -4`:                    of(map[string]*tfpb.TensorInfo{"ids": end("in:0", -4)}, nil),
		`signature_def: output "y": its input "q:0" is made by no node`:  of(nil, map[string]*tfpb.TensorInfo{"y": end("q:0")}),
	} {
		if _, err := FromBytes(b, false, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// TestAttributes holds attributes of each kind.
func TestAttributes(t *testing.T) {
	list := func(l *tfpb.AttrValue_ListValue) *tfpb.AttrValue {
		return &tfpb.AttrValue{Value: &tfpb.AttrValue_List{List: l}}
	}
	n := def("a", "Foo", []string{"in"}, "T", i32, "f", "F", "i", 7)
	more := map[string]*tfpb.AttrValue{
		"s": {Value: &tfpb.AttrValue_S{S: []byte("text")}}, "x": {Value: &tfpb.AttrValue_F{F: 0.5}}, "b": {Value: &tfpb.AttrValue_B{B: true}},
		"shape": {Value: &tfpb.AttrValue_Shape{Shape: dimsOf(3, -1)}}, "unknown": {Value: &tfpb.AttrValue_Shape{Shape: &tfpb.TensorShapeProto{UnknownRank: true}}},
		"half": {Value: &tfpb.AttrValue_Type{Type: tfpb.DataType_DT_HALF}}, "ref": {Value: &tfpb.AttrValue_Type{Type: 101}}, "handle": {Value: &tfpb.AttrValue_Type{Type: tfpb.DataType_DT_RESOURCE}},
		"floats": list(&tfpb.AttrValue_ListValue{F: []float32{1, 2}}), "flags": list(&tfpb.AttrValue_ListValue{B: []bool{true}}), "numbers": list(&tfpb.AttrValue_ListValue{I: []int64{-1}}),
		"texts": list(&tfpb.AttrValue_ListValue{S: [][]byte{[]byte("a"), []byte("b")}}), "types": list(&tfpb.AttrValue_ListValue{Type: []tfpb.DataType{i32, tfpb.DataType_DT_DOUBLE}}),
		"functions": list(&tfpb.AttrValue_ListValue{Func: []*tfpb.NameAttrList{{Name: "F"}}}), "shapes": list(&tfpb.AttrValue_ListValue{Shape: []*tfpb.TensorShapeProto{dimsOf(1)}}),
		"nothing": list(&tfpb.AttrValue_ListValue{}), "_own": {Value: &tfpb.AttrValue_I{I: 1}},
	}
	maps.Copy(n.Attr, more)
	m, err := FromBytes(marshaled(t, graph(nil, n)), false, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"T": "int32", "f": "F", "i": int64(7), "s": "text", "x": 0.5, "b": true, "shape": []int64{3, -1}, "half": "float16", "ref": "float32", "handle": "resource",
		"floats": []float64{1, 2}, "flags": []bool{true}, "numbers": []int64{-1}, "texts": []string{"a", "b"}, "types": []string{"int32", "float64"}, "functions": []string{"F"}, "nothing": []int64{},
	}
	got := m.Graph.Nodes[0].Attributes
	for name, v := range want {
		if has := got[name]; name == "ref" && has == "float32" {
			continue
		} else if !reflect.DeepEqual(has, v) {
			t.Errorf("%s is %#v; want %#v", name, has, v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%v", slices.Sorted(maps.Keys(got)))
	}
	for want, a := range map[string]*tfpb.AttrValue{
		`attribute "bad": it stands for an attribute of its function, "T"`: {Value: &tfpb.AttrValue_Placeholder{Placeholder: "T"}},
		`attribute "bad": it has`: {Value: &tfpb.AttrValue_Tensor{Tensor: &tfpb.TensorProto{Dtype: i32, IntVal: []int32{1, 2}}}},
	} {
		n := def("a", "Foo", []string{"in"})
		n.Attr["bad"] = a
		if _, err := FromBytes(marshaled(t, graph(nil, n)), false, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// TestOutputs holds which output a name means, of operators that the file describes, with lists too, of
// operators that garner knows, and of others.
func TestOutputs(t *testing.T) {
	ops := &tfpb.OpList{Op: []*tfpb.OpDef{{Name: "Foo", OutputArg: []*tfpb.OpDef_ArgDef{
		{Name: "none", NumberAttr: "N0", TypeAttr: "T"}, {Name: "some", NumberAttr: "N2", TypeAttr: "T"}, {Name: "mixed", TypeListAttr: "L"}, {Name: "last", Type: tfpb.DataType_DT_BOOL},
	}}, {Name: "Quiet"}}}
	foo := def("foo", "Foo", []string{"x"}, "N0", 0, "N2", 2, "T", tfpb.DataType_DT_HALF)
	foo.Attr["L"] = &tfpb.AttrValue{Value: &tfpb.AttrValue_List{List: &tfpb.AttrValue_ListValue{Type: []tfpb.DataType{i32, tfpb.DataType_DT_INT64}}}}
	of := func(result string) *tfpb.MetaGraphDef {
		f := function("F", result, foo, def("top", "TopKV2", []string{"x", "x"}), def("odd", "Odd", []string{"x"}), def("quiet", "Quiet", nil), def("call", "F0", []string{"x"}),
			def("a", "Identity", []string{"odd:first:0"}), def("b", "Identity", []string{"odd:second:0"}))
		m := &tfpb.MetaGraphDef{GraphDef: graph([]*tfpb.FunctionDef{f, function("F0", "x")}), MetaInfoDef: &tfpb.MetaGraphDef_MetaInfoDef{StrippedOpList: ops}}
		m.GraphDef.Node = append(m.GraphDef.Node, def("run", "PartitionedCall", []string{"in"}, "f", "F"), def("end", "Identity", []string{"run"}))
		return m
	}
	for result, want := range map[string]string{
		"foo:some:0": "run/foo f16[...]", "foo:some:1": "run/foo:1 f16[...]", "foo:mixed:0": "run/foo:2 i32[...]", "foo:mixed:1": "run/foo:3 i64[...]", "foo:last:0": "run/foo:4 bool[...]",
		"top:values:0": "run/top", "top:indices:0": "run/top:1", "odd:first:0": "run/odd", "odd:second:0": "run/odd:1", "call:y:0": "in i32[...]", "x": "in i32[...]",
	} {
		m, err := FromBytes(saved(t, of(result)), false, Options{})
		if err != nil {
			t.Errorf("%s: %v", result, err)
			continue
		}
		from := m.Graph.Outputs[0].Value.From.Inputs[0]
		if got := from.Name + " " + from.Spec.String(); !strings.HasPrefix(got, want) {
			t.Errorf("%s is %s; want %s", result, got, want)
		}
	}
	for result, want := range map[string]string{
		"foo:none:0": "is an output that Foo does not have", "foo:some:2": "is an output that Foo does not have", "foo:other:0": "is an output that Foo does not have",
		"quiet:x:0": "is an output that Quiet does not have", "quiet": "output 0 is read of it, and Quiet has 0", "call:z:0": `is a result that function "F0" does not have`,
		"odd:first:65536": "is no NODE:OUTPUT:NUMBER", "odd:first:-1": "is no NODE:OUTPUT:NUMBER", "foo:5": "output 5 is read of it, and Foo has 5", "x:1": "output 1 of an argument is read",
	} {
		if _, err := FromBytes(saved(t, of(result)), false, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", result, err, want)
		}
	}
}

// TestCase reads a Case and a While, whose values come from constants and arguments.
func TestCase(t *testing.T) {
	pass, other := function("F", "a:output:0", def("a", "Identity", []string{"x"})), function("G", "a:output:0", def("a", "Neg", []string{"x"}))
	names := func(list ...string) *tfpb.AttrValue {
		l := &tfpb.AttrValue_ListValue{}
		for _, name := range list {
			l.Func = append(l.Func, &tfpb.NameAttrList{Name: name})
		}
		return &tfpb.AttrValue{Value: &tfpb.AttrValue_List{List: l}}
	}
	which := def("which", "Case", []string{"in", "in"})
	which.Attr["branches"] = names("F", "G")
	m, err := FromBytes(marshaled(t, graph([]*tfpb.FunctionDef{pass, other}, which,
		def("loop", "While", []string{"in"}, "cond", "G", "body", "F"), def("turn", "While", []string{"loop"}, "cond", "F", "body", "G"))), false, Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := m.Graph.Inputs[0]
	for _, n := range m.Graph.Nodes {
		switch n.Name {
		case "which":
			if len(n.Graphs) != 2 || n.Graphs[0].Name != "branches[0]" || n.Graphs[1].Name != "branches[1]" || len(n.Outputs[0].Takes) != 2 {
				t.Errorf("%+v", n)
			}
		case "turn":
			// The loop before gives back what it takes, so this one begins with the input.
			if n.Inputs[0] != in || len(n.Graphs[1].Graph.Inputs) != 1 || len(n.Graphs[1].Graph.Inputs[0].Takes) != 2 {
				t.Errorf("%+v", n)
			}
		}
	}
	for want, g := range map[string]*tfpb.GraphDef{
		`function "H", which the file does not have`: graph([]*tfpb.FunctionDef{pass}, func() *tfpb.NodeDef {
			n := def("which", "Case", []string{"in", "in"})
			n.Attr["branches"] = names("H")
			return n
		}()),
		"its body has 1 results, and the loop carries 0 values": graph([]*tfpb.FunctionDef{{Signature: &tfpb.OpDef{Name: "Z", OutputArg: pass.Signature.OutputArg}, NodeDef: []*tfpb.NodeDef{def("a", "Foo", nil)}, Ret: map[string]string{"y": "a:z:0"}}},
			def("loop", "While", nil, "cond", "Z", "body", "Z")),
		`result "y" of function "G": its input "q:0" is made by no node`: graph([]*tfpb.FunctionDef{pass, function("G", "q:0")}, def("loop", "While", []string{"in"}, "cond", "F", "body", "G")),
		`its input "q:output:0" is made by no node`:                      graph([]*tfpb.FunctionDef{pass, function("G", "a:output:0", def("a", "Identity", []string{"q:output:0"}))}, def("loop", "While", []string{"in"}, "cond", "F", "body", "G")),
	} {
		if _, err := FromBytes(marshaled(t, g), false, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	// A circle of Identity in a body is no value that passes through it.
	circle := function("G", "a:output:0", def("a", "Identity", []string{"b:output:0"}), def("b", "Identity", []string{"a:output:0"}))
	if _, err := FromBytes(marshaled(t, graph([]*tfpb.FunctionDef{pass, circle}, def("loop", "While", []string{"in"}, "cond", "F", "body", "G"))), false, Options{}); err == nil || !strings.Contains(err.Error(), "in a circle") {
		t.Errorf("%v", err)
	}
}

// TestConstants holds what is said of constants whose type or shape is none.
func TestConstants(t *testing.T) {
	for _, tt := range []struct {
		p    *tfpb.TensorProto
		want string
	}{
		{&tfpb.TensorProto{Dtype: i32, TensorShape: &tfpb.TensorShapeProto{UnknownRank: true}}, "its shape is not said"},
		{&tfpb.TensorProto{Dtype: i32, TensorShape: dimsOf(make([]int64, 65)...)}, "it has 65 dims; there may be 64"},
		{&tfpb.TensorProto{Dtype: i32, TensorShape: dimsOf(1<<30, 1<<30, 1<<30)}, "holds more elements than an int can count"},
		{&tfpb.TensorProto{Dtype: tfpb.DataType_DT_STRING, TensorContent: []byte("a")}, "its strings stand in tensor_content"},
		{&tfpb.TensorProto{Dtype: tfpb.DataType_DT_RESOURCE}, "its elements are DT_RESOURCE, which garner does not read"},
		{&tfpb.TensorProto{Dtype: tfpb.DataType_DT_INT4, TensorContent: []byte{1}}, "its elements are DT_INT4"},
	} {
		m, err := FromBytes(marshaled(t, graph(nil, def("c", "Const", nil, "value", tt.p), def("a", "Identity", []string{"c"}))), false, Options{})
		if err == nil {
			for _, c := range m.Constants() {
				_, err = c.Tensor()
			}
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v; want %q", err, tt.want)
		}
	}
}

// TestRestoreRefused holds what is said of a graph of TensorFlow 1 whose restoring part is damaged, or
// whose checkpoint is another's.
func TestRestoreRefused(t *testing.T) {
	texts := func(list ...string) *tfpb.TensorProto {
		p := &tfpb.TensorProto{Dtype: tfpb.DataType_DT_STRING, TensorShape: dimsOf(int64(len(list)))}
		for _, s := range list {
			p.StringVal = append(p.StringVal, []byte(s))
		}
		return p
	}
	shaped := def("p", "VariableV2", nil, "dtype", i32)
	shaped.Attr["shape"] = &tfpb.AttrValue{Value: &tfpb.AttrValue_Shape{Shape: dimsOf(8, 3)}}
	minus := def("p", "VariableV2", nil, "dtype", i32)
	minus.Attr["shape"] = &tfpb.AttrValue{Value: &tfpb.AttrValue_Shape{Shape: dimsOf(-9)}}
	shared := def("p", "VarHandleOp", nil, "dtype", i32)
	shared.Attr["shared_name"] = &tfpb.AttrValue{Value: &tfpb.AttrValue_S{S: []byte("v")}}
	parts := []*tfpb.NodeDef{
		def("p", "VariableV2", nil, "dtype", i32), def("file", "Const", nil, "value", texts("")), def("names", "Const", nil, "value", texts("v")), def("slices", "Const", nil, "value", texts("")),
		def("read", "RestoreV2", []string{"file", "names", "slices"}), def("assign", "Assign", []string{"p", "read"}), def("restore", "NoOp", []string{"^assign"}),
		def("axis", "Const", nil, "value", ints(0)), def("rows", "GatherV2", []string{"p", "in", "axis"}),
	}
	for _, tt := range []struct {
		about string
		with  []*tfpb.NodeDef // in the place of those of their names
		want  string
	}{
		{"as it is", nil, ""},
		{"assigned to nothing", []*tfpb.NodeDef{def("assign", "Assign", []string{"q", "read"})}, `its input "q" is made by no node`},
		{"nothing assigned", []*tfpb.NodeDef{def("assign", "Assign", []string{"p", "q"})}, `its input "q" is made by no node`},
		{"a circle", []*tfpb.NodeDef{def("assign", "Assign", []string{"p", "same"}), def("same", "Identity", []string{"same"})}, `tensor "p" of`},
		{"another assigned", []*tfpb.NodeDef{def("assign", "Assign", []string{"p", "axis"})}, `tensor "p" of`},
		{"a restore of one input", []*tfpb.NodeDef{def("read", "RestoreV2", []string{"file"})}, "it has no input 1"},
		{"names of nothing", []*tfpb.NodeDef{def("read", "RestoreV2", []string{"file", "q", "slices"})}, `its input "q" is made by no node`},
		{"names that are computed", []*tfpb.NodeDef{def("names", "Identity", []string{"file"})}, "its input 1 is no constant of strings"},
		{"names that are numbers", []*tfpb.NodeDef{def("names", "Const", nil, "value", ints(1))}, "its input 1 is no constant of strings"},
		{"one name, no list", []*tfpb.NodeDef{def("names", "Const", nil, "value", &tfpb.TensorProto{Dtype: tfpb.DataType_DT_STRING, StringVal: [][]byte{[]byte("v")}})}, "its input 1 is string[]; it must be a list of strings"},
		{"names without a shape", []*tfpb.NodeDef{def("names", "Const", nil, "value", &tfpb.TensorProto{Dtype: tfpb.DataType_DT_STRING, TensorShape: &tfpb.TensorShapeProto{UnknownRank: true}})}, "its shape is not said"},
		{"more names than slices", []*tfpb.NodeDef{def("names", "Const", nil, "value", texts("v", "w"))}, "it reads 2 tensors in 1 slices, and output 0 of it is assigned"},
		{"no such tensor", []*tfpb.NodeDef{def("names", "Const", nil, "value", texts("w"))}, `its elements are tensor "w" of`},
		{"no such tensor to cut", []*tfpb.NodeDef{def("names", "Const", nil, "value", texts("w")), def("slices", "Const", nil, "value", texts("7 3 -:-"))}, `its elements are a slice of tensor "w" of`},
		{"another shape", []*tfpb.NodeDef{shaped}, `it is i32[8,3] in the graph and i32[7,3] in the checkpoint, as tensor "v"`},
		{"another type", []*tfpb.NodeDef{def("p", "VariableV2", nil, "dtype", tfpb.DataType_DT_FLOAT)}, "it is f32[...] in the graph and i32[7,3] in the checkpoint"},
		{"a shape of less than nothing", []*tfpb.NodeDef{minus}, "its dim 0 is -9"},
		{"by its shared name", []*tfpb.NodeDef{shared, def("assign", "NoOp", nil), def("rows", "ResourceGather", []string{"p", "in"}, "dtype", i32)}, ""},
	} {
		index := sliced(t, []int64{7, 3}, rows, nil)
		list := slices.Clone(parts)
		for _, n := range tt.with {
			if i := slices.IndexFunc(list, func(has *tfpb.NodeDef) bool { return has.Name == n.Name }); i >= 0 {
				list[i] = n
			} else {
				list = append(list, n)
			}
		}
		meta := &tfpb.MetaGraphDef{MetaInfoDef: &tfpb.MetaGraphDef_MetaInfoDef{TensorflowVersion: "1.15"}, SaverDef: &tfpb.SaverDef{RestoreOpName: "restore"}, GraphDef: graph(nil, list...)}
		path := strings.TrimSuffix(index, ".index") + ".meta"
		if err := os.WriteFile(path, marshaled(t, meta), 0o644); err != nil {
			t.Fatal(err)
		}
		m, err := Open(path, Options{})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v; want %q", tt.about, err, tt.want)
		}
		if err == nil {
			for n := range m.Gathers() {
				if v := n.Inputs[0]; v.Constant == nil || v.Spec.String() != "i32[7,3]" {
					t.Errorf("%s: %+v", tt.about, v)
				}
			}
			m.Close()
		}
	}
}

// TestObjectsOfCheckpoint holds what is said of a checkpoint's graph of objects that is none.
func TestObjectsOfCheckpoint(t *testing.T) {
	text := func(b []byte) (content []byte, sum uint32) {
		lengths := []byte{byte(len(b)), 0, 0, 0}
		of := bundle.Sum(lengths)
		check := []byte{byte(of), byte(of >> 8), byte(of >> 16), byte(of >> 24)}
		return slices.Concat([]byte{byte(len(b))}, check, b), bundle.Sum(lengths, check, b)
	}
	for _, tt := range []struct {
		objects []byte
		change  func(e *tfpb.BundleEntryProto)
		want    string
	}{
		{marshaled(t, &tfpb.TrackableObjectGraph{}), nil, ""},
		{[]byte{0xff}, nil, "it is no graph of objects"},
		{marshaled(t, &tfpb.TrackableObjectGraph{Nodes: []*tfpb.TrackableObjectGraph_TrackableObject{{Children: edges("a", 1)}}}), nil, `nodes[0]: its child "a" is object 1, and there are 1`},
		{nil, func(e *tfpb.BundleEntryProto) { e.Crc32C++ }, "its checksum differs"},
		{nil, func(e *tfpb.BundleEntryProto) { e.Shape = dimsOf(2) }, "do not agree"},
		{nil, func(e *tfpb.BundleEntryProto) { e.Shape = dimsOf(200) }, "bytes for 200 strings"},
		{nil, func(e *tfpb.BundleEntryProto) { e.Dtype = i32 }, "takes 4"},
		{make([]byte, 4), func(e *tfpb.BundleEntryProto) { e.Dtype, e.Size = tfpb.DataType_DT_UINT8, 1 }, "it must be one string"},
		{nil, func(e *tfpb.BundleEntryProto) { e.Shape = dimsOf(math.MaxInt64, 2) }, "than"},
	} {
		content, sum := text(tt.objects)
		e := &tfpb.BundleEntryProto{Dtype: tfpb.DataType_DT_STRING, Size: int64(len(content)), Crc32C: sum}
		if tt.change != nil {
			tt.change(e)
		}
		if e.Dtype == tfpb.DataType_DT_UINT8 {
			e.Crc32C = bundle.Sum(content[:1])
		}
		dir := folder(t, map[string][]byte{
			"m.index":               indexOf(t, map[string]proto.Message{"": &tfpb.BundleHeaderProto{NumShards: 1}, objectGraph: e}),
			"m.data-00000-of-00001": content,
		})
		m, err := Open(filepath.Join(dir, "m.index"), Options{})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%v; want %q", err, tt.want)
		}
		if err == nil {
			m.Close()
		}
	}
}

// TestSameName holds that a name which two variables bear finds neither, and that their keys find
// both.
func TestSameName(t *testing.T) {
	var p tfpb.SavedModel
	if err := proto.Unmarshal(contents(t, "testdata/gathers/"+SavedModel), &p); err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, n := range p.MetaGraphs[0].ObjectGraphDef.Nodes {
		if v := n.GetVariable(); v != nil && v.Dtype == tfpb.DataType_DT_FLOAT {
			v.Name = "same"
			named++
		}
	}
	all := parts(t, "gathers")
	all[SavedModel] = append([]byte{8, 1}, marshaled(t, &p)...)
	m, err := Open(folder(t, all), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, err := m.Constant("same"); err == nil || named < 2 || !strings.Contains(err.Error(), fmt.Sprintf(`has %d constants named "same"; name one of them as`, named)) {
		t.Errorf("%v", err)
	}
	want := describedModels(t)["gathers"].Variables
	for _, key := range []string{"first/.ATTRIBUTES/VARIABLE_VALUE", "second/.ATTRIBUTES/VARIABLE_VALUE"} {
		if _, ok := want[key]; !ok {
			t.Fatalf("no %s", key)
		}
		constant(t, m, key, want[key])
	}
}

// TestFits holds which tensors are of a declared type and shape.
func TestFits(t *testing.T) {
	is := garner.SpecOf(garner.F32, 3, 4)
	for _, tt := range []struct {
		declared garner.Spec
		want     bool
	}{
		{is, true}, {garner.SpecOf(garner.F32, 3, 5), false}, {garner.SpecOf(garner.F32, 3), false}, {garner.SpecOf(garner.I32, 3, 4), false},
		{garner.SpecOfDims(garner.F32, garner.AnyDim, garner.Exactly(4)), true}, {garner.SpecOfRank(garner.F32, garner.AnyDim), true}, {garner.SpecOfRank(garner.I32, garner.AnyDim), false},
	} {
		if got := fits(tt.declared, is); got != tt.want {
			t.Errorf("%s of %s: %v", is, tt.declared, got)
		}
	}
}

// TestSmallDamaged cuts a small SavedModel and a small graph of TensorFlow 1 short at every byte, and
// changes each of their bytes: what is still a model can be used, and what is none is an error that
// names the file.
func TestSmallDamaged(t *testing.T) {
	index := sliced(t, []int64{7, 3}, rows, nil)
	m, err := restoredSlice(t, index, "7 3 4,3:-")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	dir := folder(t, map[string][]byte{SavedModel: saved(t, boundModel())})
	for _, path := range []string{filepath.Join(dir, SavedModel), strings.TrimSuffix(index, ".index") + ".meta"} {
		good := contents(t, path)
		try := func(b []byte) {
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			for _, o := range []Options{{}, {Signature: "embed"}} {
				m, err := Open(path, o)
				if err != nil {
					if !strings.HasPrefix(err.Error(), "garner: ") || !strings.Contains(err.Error(), dir) && !strings.Contains(err.Error(), filepath.Dir(index)) {
						t.Errorf("%v", err)
					}
					continue
				}
				use(t, m)
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			}
		}
		for n := range good {
			try(good[:n])
			for _, flip := range []byte{1, 0x10, 0x80} {
				changed := bytes.Clone(good)
				changed[n] ^= flip
				try(changed)
			}
		}
	}
}
