package model_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/source"
	"github.com/garner-go/garner/strict"
)

// chain is nodes that read each other as reads says, by number.
func chain(reads ...[]int) []*model.Node {
	nodes := make([]*model.Node, len(reads))
	for i := range nodes {
		n := &model.Node{Name: fmt.Sprint("n", i), At: fmt.Sprint("node ", i), Op: "Op"}
		n.Outputs = []*model.Value{{Name: fmt.Sprint("v", i), From: n}}
		nodes[i] = n
	}
	for i, from := range reads {
		for _, j := range from {
			nodes[i].Inputs = append(nodes[i].Inputs, nodes[j].Outputs[0])
		}
	}
	return nodes
}

func names(nodes []*model.Node) string {
	var list []string
	for _, n := range nodes {
		list = append(list, n.Name)
	}
	return strings.Join(list, " ")
}

func TestSort(t *testing.T) {
	inside := chain(nil, nil, nil)
	inside[0].Graphs = []model.Subgraph{{Name: "body", Graph: &model.Graph{
		Nodes:   []*model.Node{{Inputs: []*model.Value{nil, inside[2].Outputs[0]}}},
		Outputs: []model.Result{{Value: inside[1].Outputs[0]}},
	}}}
	for _, tt := range []struct {
		nodes []*model.Node
		want  string
	}{
		{nil, ""},
		{chain(nil, []int{0}, []int{1, 0}), "n0 n1 n2"},
		{chain([]int{1}, []int{2}, nil, nil), "n2 n1 n0 n3"},
		{inside, "n2 n1 n0"},
	} {
		sorted, err := model.Sort(tt.nodes)
		if got := names(sorted); err != nil || got != tt.want {
			t.Errorf("%s %v; want %s", got, err, tt.want)
		}
	}
	for _, nodes := range [][]*model.Node{chain([]int{0}), chain(nil, []int{3}, []int{1}, []int{2})} {
		_, err := model.Sort(nodes)
		var at *model.Error
		if !errors.As(err, &at) || !strings.Contains(err.Error(), "in a circle") || !strings.HasPrefix(at.At, `node "n`) {
			t.Errorf("%v", err)
		}
	}
	const many = 1 << 18
	reads := make([][]int, many)
	for i := range many - 1 {
		reads[i] = []int{i + 1}
	}
	if sorted, err := model.Sort(chain(reads...)); err != nil || len(sorted) != many || sorted[0].Name != fmt.Sprint("n", many-1) {
		t.Errorf("%d nodes, %v", len(sorted), err)
	}
}

func TestErrors(t *testing.T) {
	n := &model.Node{Name: "g", At: "node 3"}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{model.Errorf(nil, "it is %d", 1), "garner: it is 1"},
		{model.Errorf(n, "it is %d", 1), `garner: node "g" (node 3): it is 1`},
		{model.AtNode(n, errors.New("it is")), `garner: node "g" (node 3): it is`},
		{model.AtNode(n, model.Errorf(nil, "it is")), `garner: node "g" (node 3): it is`},
		{model.AtNode(n, &model.Error{At: "layer 1", Err: errors.New("it is")}), "garner: layer 1: it is"},
		{model.AtNode(nil, errors.New("it is")), "garner: it is"},
		{model.InFile("m.onnx", model.Errorf(n, "it is")), `garner: m.onnx: node "g" (node 3): it is`},
		{model.InFile("m.onnx", model.InFile("m.data", model.Errorf(n, "it is"))), `garner: m.data: node "g" (node 3): it is`},
		{model.InFile("m.xml", &model.Error{Line: 2, Column: 7, At: "layer 1", Err: errors.New("it is")}), "garner: m.xml:2:7: layer 1: it is"},
		{model.InFile("m.xml", &model.Error{Line: 2, Err: errors.New("it is")}), "garner: m.xml:2: it is"},
		{&model.Error{Line: 2, Column: 7, Err: errors.New("it is")}, "garner: line 2, column 7: it is"},
	} {
		if tt.err.Error() != tt.want {
			t.Errorf("%q; want %q", tt.err, tt.want)
		}
	}
	if model.InFile("m", nil) != nil {
		t.Error("nil is an error")
	}
	if err := model.InFile("m", garner.Errorf(garner.ErrShape, "it is")); !errors.Is(err, garner.ErrShape) {
		t.Errorf("%v is no ErrShape", err)
	}
}

// nested is a model with a gather in a sub-graph, and two nodes of one name.
func nested() *model.Model {
	inner := &model.Graph{Nodes: []*model.Node{{Name: "inner", Operator: "onnx.Gather-13"}}}
	return &model.Model{Path: "m.onnx", Graph: &model.Graph{Nodes: []*model.Node{
		{Name: "twice", Operator: "onnx.Gather-13"},
		{Name: "if", Graphs: []model.Subgraph{{Name: "then_branch", Graph: inner}, {Name: "else_branch"}}},
		{Name: "twice"},
	}}}
}

func TestWalk(t *testing.T) {
	m := nested()
	if got := names(slices.Collect(m.Nodes())); got != "twice if inner twice" {
		t.Error(got)
	}
	if got := names(slices.Collect(m.Gathers())); got != "twice inner" {
		t.Error(got)
	}
	for n := range m.Nodes() {
		if n.Name == "inner" {
			break // a walk may end inside
		}
	}
	for range (&model.Model{}).Nodes() {
		t.Error("a model without a graph has a node")
	}
}

func TestFind(t *testing.T) {
	m := nested()
	for _, name := range []string{"if", "inner", "inner#0"} {
		if n, err := m.Find(name); err != nil || n.Name != strings.TrimSuffix(name, "#0") {
			t.Errorf("%s: %v, %v", name, n, err)
		}
	}
	if n, err := m.Find("twice#1"); err != nil || n != m.Graph.Nodes[2] {
		t.Errorf("%v, %v", n, err)
	}
	for name, want := range map[string]string{
		"twice":   "2 nodes named \"twice\"; ask for one of them as twice#0 to twice#1",
		"twice#2": `no node "twice#2"; its gathers are "twice", "inner"`,
		"none":    "no node",
	} {
		if _, err := m.Find(name); !errors.Is(err, garner.ErrAttribute) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", name, err, want)
		}
	}
	many := &model.Model{Graph: &model.Graph{}}
	if _, err := many.Find("x"); !strings.HasSuffix(err.Error(), "it has no gather") {
		t.Error(err)
	}
	for range 20 {
		many.Graph.Nodes = append(many.Graph.Nodes, &model.Node{Name: "g", Operator: "onnx.Gather-13"})
	}
	if _, err := many.Find("x"); !strings.HasSuffix(err.Error(), "and 12 more") {
		t.Error(err)
	}
}

// TestNames finds nodes whose made names others have as their own.
func TestNames(t *testing.T) {
	m := &model.Model{Graph: &model.Graph{}}
	for _, name := range []string{"x", "x#0", "x", "y", "x#2", "x"} {
		m.Graph.Nodes = append(m.Graph.Nodes, &model.Node{Name: name})
	}
	var all []string
	for name, n := range m.Names() {
		all = append(all, name)
		if found, err := m.Find(name); err != nil || found != n {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
	if got := strings.Join(all, " "); got != "x#1 x#0 x#3 y x#2 x#4" {
		t.Error(got)
	}
	if _, err := m.Find("x"); err == nil || !strings.Contains(err.Error(), "ask for one of them as x#1 to x#4") {
		t.Error(err)
	}
	for range m.Names() {
		break
	}
}

func TestValue(t *testing.T) {
	dims := garner.SpecOfDims(garner.I64, garner.AnyDim, garner.Exactly(3), garner.AnyDim)
	for _, tt := range []struct {
		v    model.Value
		want string
	}{
		{model.Value{Name: "x", Spec: dims}, "x i64[?,3,?]"},
		{model.Value{Name: "x", Spec: dims, DimNames: []string{"batch", "not this"}}, "x i64[batch,3,?]"},
		{model.Value{Name: "x", Spec: model.Unknown, DimNames: []string{"batch"}}, "x [...]"},
		{model.Value{Spec: garner.SpecOf(garner.F32)}, "f32[]"},
	} {
		if got := tt.v.String(); got != tt.want {
			t.Errorf("%s; want %s", got, tt.want)
		}
	}
}

func TestConstant(t *testing.T) {
	c := model.NewConstant("c", garner.SpecOf(garner.I64, 2), func() (garner.Tensor, error) { return garner.Of([]int64{1, 2}, 2), nil })
	if got, err := c.Tensor(); err != nil || got.String() != "i64[2] [1, 2]" {
		t.Errorf("%v, %v", got, err)
	}
	for _, tt := range []struct {
		spec garner.Spec
		want int64
		ok   bool
	}{
		{garner.SpecOf(garner.I64, 2, 3), 48, true},
		{garner.SpecOf(garner.U4, 3), 2, true},
		{garner.SpecOf(garner.F32), 4, true},
		{garner.SpecOf(garner.String, 7), 0, true},
		{garner.SpecOf(garner.F32, math.MaxInt32, 0, math.MaxInt32, math.MaxInt32, math.MaxInt32), 0, true},
		{garner.SpecOf(garner.F32, math.MaxInt32, math.MaxInt32, math.MaxInt32), 0, false},
	} {
		c.Spec = tt.spec
		if got, ok := c.Bytes(); got != tt.want || ok != tt.ok {
			t.Errorf("%v: %d, %t; want %d, %t", tt.spec, got, ok, tt.want, tt.ok)
		}
	}
}

// TestConstantArray hands constants to package source: one that is a view of
// memory, one of a packed dtype, and those that have no array.
func TestConstantArray(t *testing.T) {
	for _, table := range []garner.Tensor{
		garner.Of([]float32{0, 1, 10, 11, 20, 21}, 3, 2),
		must(model.View(garner.U4, []byte{0x21, 0x43, 0xf5}, 5)),
	} {
		c := model.NewConstant("c", table.Spec(), func() (garner.Tensor, error) { return table.Volatile(), nil })
		array, err := c.Array()
		if err != nil {
			t.Fatal(err)
		}
		indices := garner.Of([]int64{2, 0, 2, 1}, 4)
		want, err := garner.Gather(strict.Gather{}, table, indices)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := source.Gather(t.Context(), strict.Gather{}, array, source.Memory(indices), &out, source.Options{}); err != nil {
			t.Fatal(err)
		}
		if b, err := want.Bytes(); err != nil || !bytes.Equal(b, out.Bytes()) {
			t.Errorf("%s: % x; want % x, %v", table.Spec(), out.Bytes(), b, err)
		}
	}
	gone := errors.New("it is gone")
	for _, tt := range []struct {
		spec garner.Spec
		want error
	}{
		{garner.SpecOf(garner.F32, 2), gone},
		{garner.SpecOf(garner.String, 2), garner.ErrDType},
	} {
		c := model.NewConstant("c", tt.spec, func() (garner.Tensor, error) { return garner.Tensor{}, gone })
		if _, err := c.Array(); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v; want %v", tt.spec, err, tt.want)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestView holds that bits to spare are 0 in the tensor, whatever the file has,
// and that the bytes are not copied where they are.
func TestView(t *testing.T) {
	for _, tt := range []struct {
		dtype  garner.DType
		stored []byte
		len    int
		want   []byte
	}{
		{garner.U4, []byte{0x21, 0xf3}, 3, []byte{0x21, 0x03}},
		{garner.U4, []byte{0x21, 0x03}, 3, nil},
		{garner.U4, []byte{0x21, 0xf3}, 4, nil},
		{garner.U1, []byte{0xff}, 1, []byte{1}},
		{garner.U8, []byte{0xff}, 1, nil},
		{garner.I2, nil, 0, nil},
	} {
		x, err := model.View(tt.dtype, tt.stored, tt.len)
		if err != nil {
			t.Fatal(err)
		}
		b, err := x.Bytes()
		viewed := tt.want == nil
		if viewed {
			tt.want = tt.stored
		}
		if err != nil || !bytes.Equal(b, tt.want) || viewed && len(b) > 0 && &b[0] != &tt.stored[0] {
			t.Errorf("%s of % x: % x, %v; want % x", tt.dtype, tt.stored, b, err, tt.want)
		}
	}
	if _, err := model.View(garner.U4, []byte{1}, 3); !errors.Is(err, garner.ErrShape) {
		t.Errorf("%v", err)
	}
}

func TestClose(t *testing.T) {
	var m model.Model
	var order []int
	m.OnClose(func() error { order = append(order, 1); return nil })
	m.OnClose(func() error { order = append(order, 2); return fs.ErrClosed })
	if err := m.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("%v", err)
	}
	if err := m.Close(); err != nil || !slices.Equal(order, []int{2, 1}) {
		t.Errorf("%v, %v", err, order)
	}
}

// TestFixed holds that a default is no constant of every run.
func TestFixed(t *testing.T) {
	c := model.NewConstant("c", garner.SpecOf(garner.I8), nil)
	for _, tt := range []struct {
		v    *model.Value
		want *model.Constant
	}{{nil, nil}, {&model.Value{}, nil}, {&model.Value{Constant: c}, c}, {&model.Value{Constant: c, Default: true}, nil}} {
		if got := tt.v.Fixed(); got != tt.want {
			t.Errorf("%v: %v", tt.v, got)
		}
	}
}
