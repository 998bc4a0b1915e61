package graphdef

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/protofile"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
	"github.com/garner-go/garner/tensorflow/graphdef/internal/tfpb"
)

// A scope is the scope of names of nodes: the main graph, or one call of a function.
type scope struct {
	*reader
	graph    *model.Graph      // which its nodes go to
	function *tfpb.FunctionDef // nil for the main graph
	nodes    map[string]*node
	place    string // for messages
	prefix   string // of the names of its nodes
	depth    int    // number of enclosing calls
	calls    *chain // the enclosing calls
}

// A chain is a list of functions that call each other.
type chain struct {
	function string
	outer    *chain
}

func (c *chain) contains(function string) bool {
	for ; c != nil; c = c.outer {
		if c.function == function {
			return true
		}
	}
	return false
}

// A node is a node of a scope, or an argument of its function.
type node struct {
	scope *scope
	def   *tfpb.NodeDef // nil for an argument
	at    int           // its number in the scope

	model *model.Node  // nil for a constant, a variable, a call and an argument
	value *model.Value // of a constant, of a variable once it is found, and of an argument that is a parameter
	from  *ref         // what an argument is in the calling scope
	body  *scope       // of a call: the function
	loop  *loop        // of While

	layout *layout        // of its outputs; nil where nothing describes its operator
	named  map[string]int // then, see output
}

// A ref is an output of a node.
type ref struct {
	node   *node
	output int
}

// maxCalls is how many calls of functions may stand in each other.
const maxCalls = 64

// add enters nodes by their names. What they are is found by expand, once all are there.
func (s *scope) add(list []*tfpb.NodeDef) error {
	if s.nodes == nil {
		s.nodes = make(map[string]*node, len(list))
	}
	for i, def := range list {
		n := &node{scope: s, def: def, at: i}
		if err := s.Spend(protofile.NodeBytes / 4); err != nil {
			return err
		}
		if def.Name == "" || def.Op == "" {
			return s.errorf(i, "it has no name or no operator: the file is corrupt; get it again")
		}
		if s.nodes[def.Name] != nil {
			return s.errorf(i, "two nodes are named %.200q; name one anew", def.Name)
		}
		if err := n.lay(); err != nil {
			return err
		}
		s.nodes[def.Name] = n
	}
	return nil
}

// errorf is an error at the i-th node of a scope.
func (s *scope) errorf(i int, format string, args ...any) error {
	return &model.Error{At: fmt.Sprintf("%s.node[%d]", s.place, i), Err: fmt.Errorf(format, args...)}
}

// lookup finds the output that an input of a node names: NODE or NODE:K in the main graph,
// NODE:OUTPUT:K or an argument's name in a function.
func (s *scope) lookup(input string) (ref, error) {
	name, rest, more := strings.Cut(input, ":")
	n := s.nodes[name]
	if n == nil {
		return ref{}, fmt.Errorf("its input %.200q is made by no node, and is no argument; add what makes it", input)
	}
	k := 0
	if more {
		arg, last, named := strings.Cut(rest, ":")
		if !named {
			arg, last = "", rest
		}
		v, err := strconv.Atoi(last)
		if err != nil || v < 0 || v >= mostOutputs {
			return ref{}, fmt.Errorf("its input %.200q is no NODE:OUTPUT:NUMBER; the file is corrupt: get it again", input)
		}
		k = v
		if named && n.def != nil && !n.calls() {
			if k, more = n.output(arg, v); !more || k >= mostOutputs {
				return ref{}, fmt.Errorf("its input %.200q is an output that %.200s does not have", input, n.def.Op)
			}
		} else if named && n.def != nil && n.scope.functions[n.def.Op] != nil {
			if k, more = n.output(arg, v); !more {
				return ref{}, fmt.Errorf("its input %.200q is a result that function %.200q does not have", input, n.def.Op)
			}
		}
	}
	return ref{n, k}, nil
}

// calls reports whether a node calls a function whose nodes replace it.
func (n *node) calls() bool {
	return calls[n.def.Op] != "" || n.scope.functions[n.def.Op] != nil
}

// inputs finds the outputs that a node reads, without those that it only waits for.
func (n *node) inputs() ([]ref, error) {
	list := make([]ref, 0, len(n.def.Input))
	for _, input := range n.def.Input {
		if strings.HasPrefix(input, "^") {
			continue
		}
		to, err := n.scope.lookup(input)
		if err != nil {
			return nil, err
		}
		list = append(list, to)
	}
	return list, n.scope.Spend(protofile.InputBytes * len(list))
}

// expand makes model nodes of nodes, and follows their calls. Inputs are resolved later.
func (s *scope) expand(list []*tfpb.NodeDef) error {
	for _, def := range list {
		n := s.nodes[def.Name]
		if err := n.expand(); err != nil {
			if e, ok := err.(*model.Error); ok && e.At != "" {
				return err
			}
			return &model.Error{At: n.place(), Err: err}
		}
	}
	for _, def := range list {
		for _, input := range def.Input {
			if name, waits := strings.CutPrefix(input, "^"); waits {
				if n := s.nodes[name]; n != nil && n.model != nil {
					n.model.Awaited = true
				}
			}
		}
	}
	return nil
}

// name is the name of a node in the model, where calls put it.
func (n *node) name() string { return n.scope.prefix + n.def.Name }

func (n *node) where() string { return fmt.Sprintf("%s.node[%d]", n.scope.place, n.at) }

// place names a node for a message.
func (n *node) place() string { return fmt.Sprintf("node %.200q (%s)", n.name(), n.where()) }

func (n *node) expand() error {
	s, op := n.scope, n.def.Op
	size := protofile.NodeBytes + protofile.AttributeBytes*len(n.def.Attr) + len(s.place) + len(s.prefix) + 2*len(n.def.Name) + len(op)
	for _, input := range n.def.Input {
		size += len(input)
	}
	if err := s.Spend(size); err != nil {
		return err
	}
	switch {
	case op == "Const" || op == "HostConst":
		t := n.def.Attr["value"].GetTensor()
		if t == nil {
			return errors.New("it has no value: the file is corrupt; get it again")
		}
		c, err := s.constant(t, n.name())
		if err != nil {
			return err
		}
		n.value = &model.Value{Name: n.name(), Spec: c.Spec, Constant: c}
		s.graph.Constants = append(s.graph.Constants, n.value)
		return s.Spend(protofile.ValueBytes)
	case variables[op] && s.function == nil && s.checkpoint != nil:
		return nil // resolve finds it
	case variables[op] && s.function == nil && s.saved:
		return errNoVariables()
	case n.calls():
		return n.call()
	case op == "NoOp":
		return nil
	}
	n.model = &model.Node{Name: n.name(), At: n.where(), Op: op}
	if g, ok := gatherOf(n.def); ok {
		if b := n.def.Attr["batch_dims"].GetI(); b < 0 && op == "ResourceGather" {
			return fmt.Errorf("its batch_dims is %d; of a variable it is 0 or more: correct it", b)
		}
		n.model.Operator = g.name
	}
	if def := n.definition(); def == nil && !silent[op] || def != nil && len(def.OutputArg) > 0 {
		if _, err := n.make(0); err != nil {
			return err
		}
	}
	s.graph.Nodes = append(s.graph.Nodes, n.model)
	s.pending = append(s.pending, n)
	switch {
	case choices[op] != nil:
		return n.choose()
	case loops[op]:
		return n.repeat()
	}
	return nil
}

// make gives an output of a node that is one of the model, once.
func (n *node) make(output int) (*model.Value, error) {
	s := n.scope
	if have := n.model.Outputs; output >= len(have) {
		if err := s.Spend(8 * (output + 1 - len(have))); err != nil {
			return nil, err
		}
		n.model.Outputs = append(have, make([]*model.Value, output+1-len(have))...)
	}
	if v := n.model.Outputs[output]; v != nil {
		return v, nil
	}
	if l := n.layout; l != nil {
		if most := l.starts[len(l.arguments)]; output >= most {
			return nil, fmt.Errorf("output %d is read of it, and %.200s has %d; the file is corrupt: get it again", output, n.def.Op, most)
		}
	}
	name := n.name()
	if output > 0 {
		name += ":" + strconv.Itoa(output)
	}
	if err := s.Spend(protofile.ValueBytes + len(name)); err != nil {
		return nil, err
	}
	shapes := n.def.Attr[outputShapes]
	if shapes == nil {
		shapes = n.def.Attr["output_shapes"]
	}
	spec, dims, err := s.spec(n.typeOf(output), shapes, output)
	if err != nil {
		return nil, err
	}
	v := &model.Value{Name: name, Spec: spec, DimNames: dims, From: n.model}
	n.model.Outputs[output] = v
	return v, nil
}

// spec gives the type and the shape of a value: shapes has those of several.
func (r *reader) spec(t tfpb.DataType, shapes *tfpb.AttrValue, i int) (garner.Spec, []string, error) {
	var shape *tfpb.TensorShapeProto
	if list := shapes.GetList().GetShape(); i < len(list) {
		shape = list[i]
	} else if i == 0 {
		shape = shapes.GetShape()
	}
	return r.specOf(t, shape)
}

// specOf converts a type and a shape; a nil shape is unknown. That of a resource is unknown.
func (r *reader) specOf(t tfpb.DataType, shape *tfpb.TensorShapeProto) (garner.Spec, []string, error) {
	dtype, _ := dtypeOf(t)
	if dtype == garner.Invalid && t != tfpb.DataType_DT_INVALID { // a resource, a variant
		return model.Unknown, nil, nil
	}
	if shape == nil || shape.UnknownRank {
		return garner.SpecOfRank(dtype, garner.AnyDim), nil, nil
	}
	if len(shape.Dim) > garner.MaxRank {
		return garner.Spec{}, nil, fmt.Errorf("its shape has %d dims; there may be %d", len(shape.Dim), garner.MaxRank)
	}
	if err := r.Spend(protofile.DimBytes * (1 + len(shape.Dim))); err != nil {
		return garner.Spec{}, nil, err
	}
	dims := make([]garner.Dim, len(shape.Dim))
	var names []string
	for i, d := range shape.Dim {
		dims[i] = garner.AnyDim
		if d.Size < -1 {
			return garner.Spec{}, nil, fmt.Errorf("its dim %d is %d; a dim is 0 or more, or -1 where it is not known", i, d.Size)
		}
		if d.Size >= 0 && d.Size < math.MaxInt {
			dims[i] = garner.Exactly(int(d.Size))
		} else if d.Name != "" {
			if names == nil {
				names = make([]string, len(dims))
			}
			names[i] = d.Name
		}
	}
	return garner.SpecOfDims(dtype, dims...), names, nil
}

// resolve finds the value of an output, through the calls that it comes from and goes into.
func (r *reader) resolve(at ref) (*model.Value, error) {
	first := at
	var way []ref
	marked, next := ref{}, 1 // Brent's algorithm: a cycle of calls comes back to the marked one
	var found *model.Value
	for found == nil {
		if v, ok := r.resolved[at]; ok {
			found = v
			break
		}
		to, err := at.node.leads(at.output)
		if err != nil {
			return nil, err
		}
		if to == nil {
			if found, err = at.node.own(at.output); err != nil {
				return nil, &model.Error{At: at.node.describe(), Err: err}
			}
			break
		}
		way = append(way, at)
		if at = *to; len(way) == next {
			marked, next = at, 2*next
		} else if at == marked {
			return nil, &model.Error{At: first.node.describe(), Err: errors.New("its value is made of itself, through functions that give back what they are given; remove one of the calls")}
		}
	}
	r.resolved[at] = found
	for _, at := range way {
		r.resolved[at] = found
	}
	return found, nil
}

// describe names a node for a message.
func (n *node) describe() string {
	if n.def == nil {
		return n.scope.place
	}
	return n.place()
}

// leads gives the output that an output of a node is, in another scope; nil where the node
// makes it.
func (n *node) leads(output int) (*ref, error) {
	switch {
	case n.from != nil:
		if output > 0 {
			return nil, fmt.Errorf("%s: output %d of an argument is read, which has one", n.scope.place, output)
		}
		return n.from, nil
	case n.body != nil:
		to, err := n.body.result(output)
		if err != nil {
			return nil, &model.Error{At: n.describe(), Err: err}
		}
		return &to, nil
	case n.loop != nil && output < len(n.loop.kept) && n.loop.kept[output]:
		return &n.loop.inputs[output], nil
	}
	return nil, nil
}

// own gives an output of a node that makes it.
func (n *node) own(output int) (*model.Value, error) {
	switch {
	case n.value != nil:
		if output > 0 {
			return nil, fmt.Errorf("output %d is read of it, and it has one", output)
		}
		return n.value, nil
	case n.model != nil:
		return n.make(output)
	case variables[n.def.Op] && n.scope.function == nil && output == 0:
		v, err := n.scope.variableOf(n)
		n.value = v
		return v, err
	}
	return nil, errors.New("its output is read, and it has none")
}

// finish resolves the inputs of a node and reads its attributes.
func (n *node) finish() error {
	refs, err := n.inputs()
	if err != nil {
		return err
	}
	r, m := n.scope.reader, n.model
	for _, at := range refs {
		if m.Op == "Merge" && at.node.def != nil && at.node.def.Op == "NextIteration" {
			m.Inputs = append(m.Inputs, nil) // which closes a loop
			continue
		}
		v, err := r.resolve(at)
		if err != nil {
			return err
		}
		m.Inputs = append(m.Inputs, v)
		if x := r.variables[v]; x != nil && x.changes(m.Op) {
			x.changed = true
		}
	}
	if m.IsGather() {
		size := protofile.GatherBytes
		for _, v := range m.Inputs {
			size += len(v.Name)
		}
		if err := r.Spend(size); err != nil {
			return err
		}
		o, err := operators.Find(m.Operator, 0)
		if err != nil {
			return err
		}
		if err := o.Complete(m.Inputs); err != nil {
			return err
		}
		if most := 2 + len(o.Inputs()); len(m.Inputs) > most {
			return fmt.Errorf("it has %d inputs; %s has %d: the file is corrupt; get it again", len(m.Inputs), m.Op, most)
		}
	}
	return n.attributes()
}

// attributes reads those that the model's node has: of a gather those that its operator has.
func (n *node) attributes() error {
	g, gathers := gatherOf(n.def)
	for name, a := range n.def.Attr {
		if strings.HasPrefix(name, "_") || name == "output_shapes" {
			continue
		}
		if gathers {
			own := false
			for _, has := range g.attributes {
				own = own || has == name
			}
			if !own {
				continue
			}
		}
		value, err := n.scope.attribute(a, n.name()+"."+name)
		if err != nil {
			return fmt.Errorf("attribute %.200q: %w", name, err)
		}
		if value == nil {
			continue
		}
		if n.model.Attributes == nil {
			n.model.Attributes = make(map[string]any)
		}
		n.model.Attributes[name] = value
	}
	return nil
}

// attribute converts the value of an attribute. That of a type is its name in Python, such as
// float32; that of a function is its name. It gives nil for a value that no node needs.
func (r *reader) attribute(a *tfpb.AttrValue, name string) (any, error) {
	switch v := a.GetValue().(type) {
	case *tfpb.AttrValue_S:
		return string(v.S), r.Spend(len(v.S))
	case *tfpb.AttrValue_I:
		return v.I, nil
	case *tfpb.AttrValue_F:
		return float64(v.F), nil
	case *tfpb.AttrValue_B:
		return v.B, nil
	case *tfpb.AttrValue_Type:
		return typeName(v.Type), nil
	case *tfpb.AttrValue_Shape:
		if v.Shape.GetUnknownRank() {
			return nil, nil
		}
		list := make([]int64, len(v.Shape.GetDim()))
		for i, d := range v.Shape.GetDim() {
			list[i] = d.Size
		}
		return list, r.Spend(8 * len(list))
	case *tfpb.AttrValue_Tensor:
		if v.Tensor == nil {
			return nil, errors.New("it has no value")
		}
		return r.constant(v.Tensor, name)
	case *tfpb.AttrValue_Func:
		return v.Func.GetName(), nil
	case *tfpb.AttrValue_List:
		return r.listed(v.List)
	case *tfpb.AttrValue_Placeholder:
		return nil, fmt.Errorf("it stands for an attribute of its function, %.200q, which garner does not follow", v.Placeholder)
	}
	return nil, nil
}

// listed converts a list; one of shapes is left out, and one without elements is of integers.
func (r *reader) listed(l *tfpb.AttrValue_ListValue) (any, error) {
	var texts []string
	switch {
	case len(l.GetF()) > 0:
		list := make([]float64, len(l.F))
		for i, v := range l.F {
			list[i] = float64(v)
		}
		return list, r.Spend(8 * len(list))
	case len(l.GetB()) > 0:
		return l.B, r.Spend(len(l.B))
	case len(l.GetShape()) > 0:
		return nil, nil
	case len(l.GetS()) > 0:
		for _, s := range l.S {
			texts = append(texts, string(s))
		}
	case len(l.GetType()) > 0:
		for _, t := range l.Type {
			texts = append(texts, typeName(t))
		}
	case len(l.GetFunc()) > 0:
		for _, f := range l.Func {
			texts = append(texts, f.GetName())
		}
	default:
		return append([]int64{}, l.GetI()...), r.Spend(8 * len(l.GetI()))
	}
	size := 0
	for _, s := range texts {
		size += 16 + len(s)
	}
	return texts, r.Spend(size)
}

// typeName is the name of a type in Python: float32 for DT_FLOAT.
func typeName(t tfpb.DataType) string {
	if d, _ := dtypeOf(t); d != garner.Invalid {
		if name, ok := pythonNames[d]; ok {
			return name
		}
	}
	return strings.ToLower(strings.TrimPrefix(t.String(), "DT_"))
}

// pythonNames are the names of dtypes in Python, where TensorFlow's own differ.
var pythonNames = map[garner.DType]string{
	garner.F32: "float32", garner.F64: "float64", garner.F16: "float16",
}
