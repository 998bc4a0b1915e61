// Package shapes infers what the values of a model are: the dtype, the rank and the dims of each,
// and the elements of the small integer tensors that shapes are computed with. It follows the
// graph from the inputs and the constants on, sub-graphs included, by a rule for each operator.
// Each format has a table of rules by the names of its framework's operators, and most rules
// serve several tables.
//
// What it infers holds in every run that the runtime of the format accepts, as far as the file
// is right about the values that no rule knows. A rule that is not sure leaves a dim open.
package shapes

import (
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/model"
)

// A rule sets what is known of a node's outputs by what is known of its inputs. A rule may rely
// on the runtime: an operand that the operator refuses makes no run.
type rule func(c *call)

// tables give the rule of a node by the format of its model; nil where it has none. A model of
// another format is as its file says.
var tables = map[string]func(n *model.Node) rule{
	"ONNX":       onnxRule,
	"TensorFlow": tensorflowRule,
	"TFLite":     liteRule,
	"StableHLO":  func(*model.Node) rule { return nil }, // the text has the type of each value, but what gathers give
}

// Infer refines the Spec and the DimNames of every value of a model. What follows from the
// operands of a node replaces what the file says of its result, which may be stale: see
// [model.Value.Refine]. What the file says fills in the rest, and what is inferred behind a value
// relies on both. A dim without a name takes the name of the dim that it is a copy of.
//
// Readers of model files call it, so their callers need not. It takes time and memory linear in
// the number of nodes, inputs and outputs: dims and elements beyond 8 for each value on average
// are not followed. It reads constants of at most 64 integers. A constant that cannot be read
// is one that is not known.
func Infer(m *model.Model) {
	table := tables[m.Format]
	if table == nil || m.Graph == nil {
		return
	}
	f := &inference{model: m, table: table, carried: map[*model.Value]*carried{}}
	// Each walk assumes something of what loops carry. It is right where the bodies keep it.
	for f.walk(); !f.kept(); f.walk() {
	}
	for v := range f.values {
		f.refine(v)
	}
}

// An inference is the state of Infer.
type inference struct {
	model   *model.Model
	table   func(n *model.Node) rule
	values  map[*model.Value]int // places in facts
	facts   []fact
	names   map[symbol]string
	last    symbol // the symbols so far are 1…last
	left    int    // how many more numbers may be kept; below 0: none
	walks   int
	carried map[*model.Value]*carried // what is assumed of the parameters that loops carry
	shared  map[*number][]garner.Dim  // the lists of numbers that are kept, with those of dims as a Spec has them
}

// walk infers every value anew.
func (f *inference) walk() {
	f.walks++
	f.values, f.facts, f.names, f.last = make(map[*model.Value]int, len(f.values)), f.facts[:0], map[symbol]string{}, 0
	f.shared = map[*number][]garner.Dim{}
	f.left = freeNumbers
	f.graph(f.model.Graph)
}

// The numbers that are kept: dims and elements. One takes 24 bytes. Real models have 3 to 5 for
// each value.
const (
	freeNumbers     = 1 << 14
	numbersPerValue = 8
)

// graph infers the values of a graph.
func (f *inference) graph(g *model.Graph) {
	if g == nil {
		return
	}
	for _, v := range g.Inputs {
		f.of(v)
	}
	for _, n := range g.Nodes {
		f.node(n)
	}
	for _, r := range g.Outputs {
		f.of(r.Value)
	}
}

// of gives what is known of a value. One that no node and no loop has set yet is what the file
// says it is.
func (f *inference) of(v *model.Value) fact {
	if v == nil {
		return nothing
	}
	if i, ok := f.values[v]; ok {
		return f.facts[i]
	}
	made := declared(v.Spec)
	if v.Fixed() != nil && v.Quantised == nil {
		made = made.with(elementsOf(v.Constant))
	}
	return f.set(v, made)
}

// elementsOf reads the elements of a constant of few integers or bools; nil for any other.
func elementsOf(c *model.Constant) []number {
	d := c.Spec.DType
	if !d.IsInteger() && d != garner.Bool {
		return nil
	}
	if _, ok := declared(c.Spec).len(); !ok {
		return nil
	}
	var list []number
	err := mapped.Guard(func() error {
		t, err := c.Tensor()
		if err != nil {
			return err
		}
		list = make([]number, t.Len())
		if d == garner.Bool {
			b, err := t.Bytes()
			for i := range b {
				list[i] = exactly(int64(min(b[i], 1)))
			}
			return err
		}
		for i := range list {
			e, err := t.Int(i)
			if err != nil {
				return err
			}
			list[i] = exactly(int64(e.Bits))
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return list
}

// set keeps what is known of a value. Each open dim has a symbol from then on.
func (f *inference) set(v *model.Value, made fact) fact {
	f.left += numbersPerValue
	if slices.ContainsFunc(made.dims, func(d number) bool { return d.is == 0 && !d.known() }) {
		made.dims = slices.Clone(made.dims)
		for i, d := range made.dims {
			if d.is != 0 || d.known() {
				continue
			}
			f.last++
			made.dims[i].is = f.last
			if i < len(v.DimNames) && v.DimNames[i] != "" {
				f.names[f.last] = v.DimNames[i]
			}
		}
	}
	if f.spend(made.dims); f.left < 0 {
		made.rank, made.dims, made.elems = garner.AnyDim, nil, nil
	}
	if f.spend(made.elems); f.left < 0 {
		made.elems = nil
	}
	f.values[v] = len(f.facts)
	f.facts = append(f.facts, made)
	return made
}

// spend counts numbers that no value had before. Where they are too many, it takes none.
func (f *inference) spend(list []number) {
	if len(list) == 0 {
		return
	}
	if _, ok := f.shared[&list[0]]; !ok && len(list) <= f.left {
		f.left -= len(list)
		f.shared[&list[0]] = nil
	} else if !ok {
		f.left = -1
	}
}

// node infers the outputs of a node.
func (f *inference) node(n *model.Node) {
	before := f.last
	for _, s := range n.Graphs {
		if s.Graph != nil {
			f.parameters(n, s.Graph)
			f.graph(s.Graph)
		}
	}
	c := &call{inference: f, node: n, in: make([]fact, len(n.Inputs)), out: make([]fact, len(n.Outputs))}
	for i, v := range n.Inputs {
		c.in[i] = f.of(v)
	}
	for i := range c.out {
		c.out[i] = nothing
	}
	switch {
	case len(n.Graphs) > 0:
		c.graphs(before)
	case n.IsGather():
		gather(c)
	default:
		if r := f.table(n); r != nil {
			r(c)
		}
	}
	fused := n.Attributes["fused_activation_function"] != nil
	for i, v := range n.Outputs {
		if v == nil {
			continue
		}
		made := c.out[i].refined(v.Spec)
		if fused || v.Quantised != nil { // the rules know the numbers of plain integers
			made.elems = nil
		}
		f.set(v, made)
	}
}

// refine writes what is inferred of a value into it.
func (f *inference) refine(v *model.Value) {
	made := f.of(v)
	if v.From == nil && len(v.Takes) == 0 {
		return // an input or a constant
	}
	rank := v.Spec.Rank
	v.Spec.DType, v.Spec.Rank, v.Spec.Dims, v.Spec.Strides = made.dtype, made.rank, nil, nil
	if rank != v.Spec.Rank {
		v.DimNames = nil
	}
	if !made.ranked() {
		return
	}
	v.Spec.Dims = []garner.Dim{}
	if len(made.dims) > 0 {
		if v.Spec.Dims = f.shared[&made.dims[0]]; v.Spec.Dims == nil {
			v.Spec.Dims = make([]garner.Dim, len(made.dims))
			for i, d := range made.dims {
				v.Spec.Dims[i] = d.dim()
			}
			f.shared[&made.dims[0]] = v.Spec.Dims
		}
	}
	var names []string
	for i, d := range made.dims {
		if name := f.names[d.is]; name != "" && !d.known() && (i >= len(v.DimNames) || v.DimNames[i] == "") {
			if names == nil {
				names = make([]string, len(made.dims))
				copy(names, v.DimNames)
			}
			names[i] = name
		}
	}
	if names != nil {
		v.DimNames = names
	}
}
