package graphdef

import (
	"errors"
	"fmt"
	"strings"

	"github.com/garner-go/garner/internal/protofile"
	"github.com/garner-go/garner/model"
)

// enter makes the scope of a call of a function, and expands its nodes into a graph. args are
// what its arguments are; a nil one is set by the caller.
func (s *scope) enter(function, place, prefix string, graph *model.Graph, args []*ref) (*scope, error) {
	f := s.functions[function]
	switch {
	case f == nil:
		return nil, fmt.Errorf("it calls function %.200q, which the file does not have; get it again", function)
	case s.calls.contains(function):
		return nil, fmt.Errorf("function %.200q calls itself, which garner does not follow; remove the call", function)
	case s.depth >= maxCalls:
		return nil, fmt.Errorf("calls of functions stand in each other more than %d deep; flatten the model", maxCalls)
	case len(args) != len(f.GetSignature().GetInputArg()):
		return nil, fmt.Errorf("it gives function %.200q %d inputs; it takes %d", function, len(args), len(f.GetSignature().GetInputArg()))
	}
	size := protofile.ScopeBytes + len(place) + len(prefix)
	for _, a := range f.Signature.InputArg {
		size += protofile.InputBytes + len(a.Name)
	}
	if err := s.Spend(size); err != nil {
		return nil, err
	}
	inner := &scope{reader: s.reader, graph: graph, function: f, place: place, prefix: prefix, depth: s.depth + 1, calls: &chain{function, s.calls}}
	inner.nodes = make(map[string]*node, len(f.NodeDef)+len(args))
	for i, a := range f.Signature.InputArg {
		if a.NumberAttr != "" || a.TypeListAttr != "" {
			return nil, fmt.Errorf("argument %.200q of function %.200q is a list of tensors, which garner does not follow", a.Name, function)
		}
		if a.Name == "" || inner.nodes[a.Name] != nil {
			return nil, fmt.Errorf("argument %d of function %.200q, %.200q, has no name, or one that another has; name it", i, function, a.Name)
		}
		inner.nodes[a.Name] = &node{scope: inner, at: i, from: args[i]}
	}
	if err := inner.add(f.NodeDef); err != nil {
		return nil, err
	}
	return inner, inner.expand(f.NodeDef)
}

// result finds the output that the k-th result of the scope's function is.
func (s *scope) result(k int) (ref, error) {
	list := s.function.GetSignature().GetOutputArg()
	name := s.function.GetSignature().GetName()
	if k >= len(list) {
		return ref{}, fmt.Errorf("result %d is read of function %.200q, which has %d", k, name, len(list))
	}
	if a := list[k]; a.NumberAttr != "" || a.TypeListAttr != "" {
		return ref{}, fmt.Errorf("result %.200q of function %.200q is a list of tensors, which garner does not follow", a.Name, name)
	}
	from, ok := s.function.Ret[list[k].Name]
	if !ok {
		return ref{}, fmt.Errorf("result %.200q of function %.200q is made by nothing; the file is corrupt: get it again", list[k].Name, name)
	}
	to, err := s.lookup(from)
	if err != nil {
		return ref{}, fmt.Errorf("result %.200q of function %.200q: %w", list[k].Name, name, err)
	}
	return to, nil
}

// called is the name of the function that an attribute of a node names.
func (n *node) called(attribute string) (string, error) {
	name := n.def.Attr[attribute].GetFunc().GetName()
	if name == "" {
		return "", fmt.Errorf("its attribute %s names no function: the file is corrupt; get it again", attribute)
	}
	return name, nil
}

// call puts the nodes of a function in the place of a node that calls it.
func (n *node) call() error {
	s := n.scope
	function := n.def.Op
	if attribute := calls[function]; attribute != "" {
		var err error
		if function, err = n.called(attribute); err != nil {
			return err
		}
	}
	inputs, err := n.inputs()
	if err != nil {
		return err
	}
	args := make([]*ref, len(inputs))
	for i := range inputs {
		args[i] = &inputs[i]
	}
	if s.function == nil && s.objects != nil {
		if err := s.bind(function, args); err != nil {
			return err
		}
	}
	n.body, err = s.enter(function, fmt.Sprintf("%s, function %.200s", n.where(), function), n.name()+"/", s.graph, args)
	return err
}

// bind gives the last arguments of a function of the main graph the variables that are bound
// to them, by their objects.
func (s *scope) bind(function string, args []*ref) error {
	ids := s.objects.bound[function]
	if len(ids) > len(args) {
		return fmt.Errorf("function %.200q is bound to %d objects, and is given %d inputs: the file is corrupt; get it again", function, len(ids), len(args))
	}
	for i, id := range ids {
		if s.objects.nodes[id].GetVariable() == nil {
			continue // a table, a constant: as the main graph has it
		}
		v, err := s.variableOfObject(id)
		if err != nil {
			return err
		}
		args[len(args)-len(ids)+i] = &ref{node: &node{scope: s, value: v}}
	}
	return nil
}

// branches are the functions that a node chooses from.
type branches struct {
	node   *node
	scopes []*scope
}

// choose makes graphs of the functions of If and Case. They read the values of the graph
// around the node.
func (n *node) choose() error {
	inputs, err := n.inputs()
	if err != nil {
		return err
	}
	if len(inputs) == 0 {
		return errors.New("it has no input to choose by: the file is corrupt; get it again")
	}
	args := make([]*ref, len(inputs)-1)
	for i := range args {
		args[i] = &inputs[1+i]
	}
	var names, functions []string
	for _, attribute := range choices[n.def.Op] {
		if attribute == "branches" {
			for i, f := range n.def.Attr[attribute].GetList().GetFunc() {
				names, functions = append(names, fmt.Sprintf("branches[%d]", i)), append(functions, f.GetName())
			}
			continue
		}
		function, err := n.called(attribute)
		if err != nil {
			return err
		}
		names, functions = append(names, attribute), append(functions, function)
	}
	b := &branches{node: n}
	for i, function := range functions {
		own := make([]*ref, len(args)) // a scope keeps its own
		copy(own, args)
		inner, err := n.subgraph(names[i], function, own)
		if err != nil {
			return err
		}
		b.scopes = append(b.scopes, inner)
	}
	n.scope.ifs = append(n.scope.ifs, b)
	return nil
}

// subgraph makes a graph of a function that a node calls.
func (n *node) subgraph(name, function string, args []*ref) (*scope, error) {
	g := &model.Graph{Name: function}
	inner, err := n.scope.enter(function, fmt.Sprintf("%s.%s, function %.200s", n.where(), name, function), n.name()+"/"+name+"/", g, args)
	if err != nil {
		return nil, err
	}
	n.model.Graphs = append(n.model.Graphs, model.Subgraph{Name: name, Graph: g})
	return inner, nil
}

// finish gives the graphs their results, and the node's outputs what they take.
func (b *branches) finish() error {
	for i, s := range b.scopes {
		g := b.node.model.Graphs[i].Graph
		for k, a := range s.function.Signature.OutputArg {
			v, err := s.resolved1(k)
			if err != nil {
				return err
			}
			g.Outputs = append(g.Outputs, model.Result{Name: a.Name, Value: v})
			if k < len(b.node.model.Outputs) && b.node.model.Outputs[k] != nil {
				take(b.node.model.Outputs[k], v)
			}
		}
		if err := sorted(g); err != nil {
			return err
		}
	}
	return nil
}

// resolved1 is the value of the k-th result.
func (s *scope) resolved1(k int) (*model.Value, error) {
	at, err := s.result(k)
	if err != nil {
		return nil, &model.Error{At: s.place, Err: err}
	}
	if err := s.Spend(protofile.InputBytes); err != nil {
		return nil, err
	}
	return s.resolve(at)
}

// take adds a value that v takes.
func take(v, from *model.Value) {
	if v != nil && from != nil && from != v {
		v.Takes = append(v.Takes, from)
	}
}

// A loop is a While.
type loop struct {
	node       *node
	inputs     []ref
	kept       []bool // the values that the body gives back as it takes them, such as variables
	cond, body *scope
}

// repeat makes graphs of the condition and the body of While. What the body gives back as it
// takes it is the value of the graph around the node; any other is a parameter of both.
func (n *node) repeat() error {
	inputs, err := n.inputs()
	if err != nil {
		return err
	}
	l := &loop{node: n, inputs: inputs, kept: make([]bool, len(inputs))}
	for i, attribute := range []string{"cond", "body"} {
		function, err := n.called(attribute)
		if err != nil {
			return err
		}
		args := make([]*ref, len(inputs))
		for k := range inputs {
			args[k] = &l.inputs[k]
		}
		inner, err := n.subgraph(attribute, function, args)
		if err != nil {
			return err
		}
		if i == 0 {
			l.cond = inner
		} else {
			l.body = inner
		}
	}
	if have := len(l.body.function.GetSignature().GetOutputArg()); have != len(inputs) {
		return fmt.Errorf("its body has %d results, and the loop carries %d values: the file is corrupt; get it again", have, len(inputs))
	}
	passed := passes{}
	for k := range l.kept {
		if l.kept[k], err = l.keeps(k, passed); err != nil {
			return err
		}
		if l.kept[k] {
			continue
		}
		for i, inner := range []*scope{l.cond, l.body} {
			arg := inner.function.Signature.InputArg[k]
			spec, dims, err := inner.spec(arg.Type, inner.function.ArgAttr[uint32(k)].GetAttr()[outputShapes], 0)
			if err != nil {
				return err
			}
			if err := inner.Spend(protofile.ValueBytes + len(inner.prefix) + len(arg.Name)); err != nil {
				return err
			}
			v := &model.Value{Name: inner.prefix + arg.Name, Spec: spec, DimNames: dims}
			n.model.Graphs[i].Graph.Inputs = append(n.model.Graphs[i].Graph.Inputs, v)
			at := inner.nodes[arg.Name]
			at.from, at.value = nil, v
		}
	}
	n.loop = l
	n.scope.loops = append(n.scope.loops, l)
	return nil
}

// passes are what Identity nodes pass on: each of a chain is walked once.
type passes map[*node]ref

// origin follows Identity nodes from an output to the one that they pass on. A circle of them
// ends at one of its own.
func (p passes) origin(at ref) (ref, error) {
	var way []*node
	for {
		n := at.node
		if to, ok := p[n]; ok {
			at = to
			break
		}
		if n.def == nil || n.def.Op != "Identity" || len(n.def.Input) == 0 || strings.HasPrefix(n.def.Input[0], "^") {
			break
		}
		p[n] = at
		way = append(way, n)
		var err error
		if at, err = n.scope.lookup(n.def.Input[0]); err != nil {
			return ref{}, err
		}
	}
	for _, n := range way {
		p[n] = at
	}
	return at, nil
}

// keeps reports whether the body gives its k-th value back as it takes it.
func (l *loop) keeps(k int, p passes) (bool, error) {
	at, err := l.body.result(k)
	if err != nil {
		return false, err
	}
	at, err = p.origin(at)
	return err == nil && at.node == l.body.nodes[l.body.function.Signature.InputArg[k].Name], err
}

// finish gives the graphs their results, and the parameters and outputs what they take.
func (l *loop) finish() error {
	graphs := l.node.model.Graphs
	stays, err := l.cond.resolved1(0)
	if err != nil {
		return err
	}
	graphs[0].Graph.Outputs = []model.Result{{Name: l.cond.function.Signature.OutputArg[0].Name, Value: stays}}
	at := 0
	for k, a := range l.body.function.Signature.OutputArg {
		if l.kept[k] {
			continue
		}
		first, err := l.body.resolve(l.inputs[k])
		if err != nil {
			return err
		}
		again, err := l.body.resolved1(k)
		if err != nil {
			return err
		}
		graphs[1].Graph.Outputs = append(graphs[1].Graph.Outputs, model.Result{Name: a.Name, Value: again})
		for _, g := range graphs {
			take(g.Graph.Inputs[at], first)
			take(g.Graph.Inputs[at], again)
		}
		if have := l.node.model.Outputs; k < len(have) {
			take(have[k], first)
			take(have[k], again)
		}
		at++
	}
	for _, g := range graphs {
		if err := sorted(g.Graph); err != nil {
			return err
		}
	}
	return nil
}

// sorted puts the nodes of a graph in their order.
func sorted(g *model.Graph) (err error) {
	g.Nodes, err = model.Sort(g.Nodes)
	return err
}
