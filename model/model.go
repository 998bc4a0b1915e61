// Package model is what every reader of model files returns: a graph of nodes,
// the values between them, and the constants in its files. It knows no
// framework. A [Node] keeps the words of its own, and where it is a gather it
// also has the name of the operator that garner knows.
//
//	m, err := modelproto.Open("model.onnx") // or ir.Open("model.xml")
//	defer m.Close()
//	for n := range m.Gathers() {
//		fmt.Println(n.Name, n.Operator, n.Inputs[0].Spec, n.Inputs[1].Spec)
//	}
//
// Constants stay in their files, which are mapped: a model of 10 GB opens in
// milliseconds and holds a few MB. A model is read-only, and safe for several
// goroutines until it is closed.
package model

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
)

// Unknown is the Spec of a value of which nothing is known, not even the dtype
// (which is garner.Invalid) or the rank.
var Unknown = garner.SpecOfRank(garner.Invalid, garner.AnyDim)

// A Model is one model file, with the files beside it that hold its constants.
type Model struct {
	Path     string         // as it was opened
	Format   string         // "ONNX", "OpenVINO IR"
	Producer string         // the program that wrote it; "" where the file does not say
	Opsets   map[string]int // the version of each domain's operators, where one holds for the whole file; "" is ONNX's own domain
	Graph    *Graph

	closers []func() error
}

// OnClose has Close call f; the last given is called first. It is for readers.
func (m *Model) OnClose(f func() error) { m.closers = append(m.closers, f) }

// Close gives the mapped files back. No constant, and no tensor of one, may be
// looked at afterwards. Closing twice does nothing.
func (m *Model) Close() error {
	var all []error
	for len(m.closers) > 0 {
		last := len(m.closers) - 1
		f := m.closers[last]
		m.closers = m.closers[:last]
		all = append(all, f())
	}
	return errors.Join(all...)
}

// A Graph is nodes and what they read and write.
type Graph struct {
	Name    string
	Inputs  []*Value // what a caller gives, in order; one with a Constant may be left out, which then stands for it
	Outputs []Result // what comes out, in order
	Nodes   []*Node  // each after those whose values it reads
}

// A Result is a value under the name by which a caller asks for it. Two results
// may be the same value.
type Result struct {
	Name  string
	Value *Value
}

// A Node is one operator at work. What only gives a value is none: a parameter
// is an input of its Graph, a result is an output, a constant is a Value.
type Node struct {
	Name string // as it is written, or made of Op and the place where it is not; Model.Find tells equal ones apart
	At   string // where it stands: "line 12, column 5", "node 3 of graph.then_branch"

	Domain  string // of Op, "" being the framework's own (ai.onnx)
	Op      string // the operator in its framework's word: "Gather", "ShapeOf"
	Version int    // the opset of Domain that the node means; 0 where it is not known

	// Operator is the name under which garner's list has the operator, where it is
	// a gather: "onnx.Gather-13", "openvino.GatherND-8", "com.microsoft.GatherND-1".
	Operator string

	// Attributes are an int64, a bool, a float64, a string, a list of one of them
	// ([]int64, []bool, []float64, []string) or a *Constant each. Those of a gather
	// are what operators.Operator.Bind takes. Graphs are in Graphs.
	Attributes map[string]any

	Inputs  []*Value // nil: one that may be left out, and is
	Outputs []*Value // nil: one that nobody asked for

	Graphs []Subgraph // of If, Loop, Scan, TensorIterator
}

// IsGather reports whether the node is an operator that garner knows.
func (n *Node) IsGather() bool { return n.Operator != "" }

// A Subgraph is a graph that is part of a node, under the framework's name for
// it: "then_branch", "body". Its nodes may read values of the graphs around it.
type Subgraph struct {
	Name  string
	Graph *Graph
}

// A Value is one edge: a tensor that a node, a caller or the file itself gives.
type Value struct {
	Name    string
	Aliases []string // other names that the file has for it

	// Spec is what the file says of the tensor, or what follows from it; Unknown
	// where that is nothing.
	Spec     garner.Spec
	DimNames []string // of dims that are not known but have a name, "" for the others; nil where none has

	From     *Node     // the node whose output it is; nil for an input of a graph and for a constant
	Constant *Constant // its elements, where they stand in the file: for an input, those it has if no others are given
}

// String is the name and the type: input_ids i64[batch,?].
func (v *Value) String() string { return strings.TrimSpace(v.Name + " " + v.Type()) }

// Type is Spec.String with the names of dims: i64[batch,?].
func (v *Value) Type() string {
	if v.DimNames == nil || !v.Spec.Rank.Known() {
		return v.Spec.String()
	}
	dims := make([]string, len(v.Spec.Dims))
	for i, d := range v.Spec.Dims {
		dims[i] = d.String()
		if i < len(v.DimNames) && v.DimNames[i] != "" && !d.Known() {
			dims[i] = v.DimNames[i]
		}
	}
	head, _, _ := strings.Cut(v.Spec.String(), "[")
	return head + "[" + strings.Join(dims, ",") + "]"
}

// Refine gives the value the spec that follows from the operands of its node.
// What the file says fills in where that leaves something open: the dtype, the
// rank and each dim, unless it contradicts. The names of dims go with a rank that
// was wrong.
func (v *Value) Refine(inferred garner.Spec) {
	said := v.Spec
	if inferred.DType == garner.Invalid {
		inferred.DType = said.DType
	}
	if !inferred.Rank.Known() {
		if said.Rank.Known() && inferred.Rank.Min <= said.Rank.Min && said.Rank.Min <= inferred.Rank.Max {
			inferred.Rank, inferred.Dims = said.Rank, said.Dims
		}
	} else if said.Rank == inferred.Rank {
		dims := slices.Clone(inferred.Dims)
		for i, d := range said.Dims {
			low, high := max(d.Min, dims[i].Min), min(d.Max, dims[i].Max)
			if low <= high {
				dims[i] = garner.Dim{Min: low, Max: high}
			}
		}
		inferred.Dims = dims
	}
	if said.Rank != inferred.Rank {
		v.DimNames = nil
	}
	v.Spec = inferred
}

// A Constant is a tensor that stands in the model's files. Nothing of it is
// read before Tensor.
type Constant struct {
	Name string      // of the initializer, layer or node that holds it
	Spec garner.Spec // every dim is known

	// Where its elements lie as they are, row-major and little-endian: Size bytes
	// from Offset on of a file. File is "" where they are written in another form.
	File         string
	Offset, Size int64

	load func() (garner.Tensor, error)
}

// NewConstant makes a constant of what reads it. The load function is called
// for every Tensor, perhaps by several goroutines at once; its errors name the
// file and the constant.
func NewConstant(name string, spec garner.Spec, load func() (garner.Tensor, error)) *Constant {
	return &Constant{Name: name, Spec: spec, load: load}
}

// Tensor is the elements. Those that lie in a mapped file as they are are not
// copied: the tensor is garner.Tensor.Volatile, and gone once the model is
// closed. Others (ONNX's typed fields, strings) are decoded on each call.
func (c *Constant) Tensor() (garner.Tensor, error) { return c.load() }

// Bytes is how much memory the elements take, 0 for strings; false where int64
// cannot count it.
func (c *Constant) Bytes() (int64, bool) {
	if c.Spec.DType == garner.String {
		return 0, true
	}
	return c.Spec.Bytes()
}

// Nodes are all nodes, those of sub-graphs right after the node that they are
// part of.
func (m *Model) Nodes() iter.Seq[*Node] {
	return func(yield func(*Node) bool) { m.Graph.walk(yield) }
}

// Gathers are the nodes that garner knows, in the order of Nodes.
func (m *Model) Gathers() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		m.Graph.walk(func(n *Node) bool { return !n.IsGather() || yield(n) })
	}
}

func (g *Graph) walk(yield func(*Node) bool) bool {
	if g == nil {
		return true
	}
	for _, n := range g.Nodes {
		if !yield(n) {
			return false
		}
		for _, s := range n.Graphs {
			if !s.Graph.walk(yield) {
				return false
			}
		}
	}
	return true
}

// Find finds a node by its name. Of several with one name it finds none: each
// can be asked for as NAME#0, NAME#1 …, in the order of Nodes. The error, an
// ErrAttribute, names them, or the gathers where no node has the name.
func (m *Model) Find(name string) (*Node, error) {
	var found []*Node
	for n := range m.Nodes() {
		if n.Name == name {
			found = append(found, n)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	if len(found) > 1 {
		return nil, garner.Errorf(garner.ErrAttribute, "%s has %d nodes named %s; ask for one of them as %s#0 to %s#%d",
			m.Path, len(found), quote(name), name, name, len(found)-1)
	}
	if at := strings.LastIndexByte(name, '#'); at >= 0 {
		if i, err := strconv.Atoi(name[at+1:]); err == nil {
			for n := range m.Nodes() {
				if n.Name == name[:at] {
					if i == 0 {
						return n, nil
					}
					i--
				}
			}
		}
	}
	return nil, garner.Errorf(garner.ErrAttribute, "%s has no node %s; %s", m.Path, quote(name), m.gathers())
}

// gathers says which gathers there are.
func (m *Model) gathers() string {
	const most = 8
	var names []string
	more := 0
	for n := range m.Gathers() {
		if len(names) < most {
			names = append(names, quote(n.Name))
		} else {
			more++
		}
	}
	switch {
	case len(names) == 0:
		return "it has no gather"
	case more > 0:
		return fmt.Sprintf("its gathers are %s and %d more", strings.Join(names, ", "), more)
	}
	return "its gathers are " + strings.Join(names, ", ")
}

// quote is a name of a file that nobody need trust, in a message.
func quote(name string) string { return fmt.Sprintf("%.200q", name) }
