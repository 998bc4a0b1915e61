package modelproto

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/protofile"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto/internal/onnxpb"
	"github.com/garner-go/garner/operators"
)

// A scope is the scope of names of values: a graph, or one call of a function.
type scope struct {
	*reader
	outer  *scope // the enclosing scope of a sub-graph; nil in a function
	depth  int    // number of enclosing graphs and calls
	place  string // for messages
	prefix string // of the names that the reader makes for its nodes
	opsets *imported

	values   map[string]*model.Value
	aliases  map[string]alias // names for values of another scope
	resolved map[string]*model.Value
	made     *model.Graph // the graph that holds the constants of the scope
	infos    []*onnxpb.ValueInfoProto

	calls      *calls           // the enclosing calls; nil outside of functions
	attributes map[string]given // of the call; nil outside of functions
}

// An alias is a name in another scope; the zero alias is an input that a call
// leaves out.
type alias struct {
	scope *scope
	name  string
}

// pending is a node whose inputs are not resolved yet.
type pending struct {
	*model.Node
	proto *onnxpb.NodeProto
	scope *scope
}

// inside makes the scope of a sub-graph or of a call in s.
func (s *scope) inside(place, prefix string) (*scope, error) {
	if s.depth >= maxGraphs {
		return nil, &model.Error{At: place, Err: fmt.Errorf("graphs and calls of functions stand in each other more than %d deep; flatten the model", maxGraphs)}
	}
	return &scope{
		reader: s.reader, outer: s, depth: s.depth + 1, place: place, prefix: prefix, made: s.made,
		opsets: s.opsets, calls: s.calls, attributes: s.attributes,
	}, nil
}

// graph reads a graph. Its nodes may be in any order, as in ONNX Runtime.
func (s *scope) graph(g *onnxpb.GraphProto) (*model.Graph, error) {
	made := &model.Graph{Name: g.GetName()}
	s.infos, s.made = g.ValueInfo, made
	if err := s.Spend(protofile.ScopeBytes + len(s.place) + len(s.prefix)); err != nil {
		return nil, err
	}
	if err := s.initializers(g); err != nil {
		return nil, err
	}
	var err error
	if made.Inputs, err = s.inputs(g.Input); err != nil {
		return nil, err
	}
	var list []pending
	if err := s.expand(g.Node, &list); err != nil {
		return nil, err
	}
	if err := s.describe(); err != nil {
		return nil, err
	}
	for _, p := range list {
		if err := p.finish(); err != nil {
			return nil, err
		}
		made.Nodes = append(made.Nodes, p.Node)
	}
	seen := make(map[string]bool, len(g.Output))
	for i, o := range g.Output {
		name := o.GetName()
		if name == "" || seen[name] {
			return nil, s.errorf(fmt.Sprintf(".output[%d]", i), "output %.200q has no name, or one that another has; name it", name)
		}
		seen[name] = true
		v, ok, err := s.resolve(name)
		if err != nil {
			return nil, err
		}
		if !ok || v == nil {
			return nil, s.errorf(fmt.Sprintf(".output[%d]", i), "output %.200q is made by no node, and is neither an input nor an initializer; add what makes it", name)
		}
		if err := s.typed(v, o); err != nil {
			return nil, err
		}
		made.Outputs = append(made.Outputs, model.Result{Name: name, Value: v})
	}
	made.Nodes, err = model.Sort(made.Nodes)
	return made, err
}

// errorf makes an error at a part of the scope.
func (s *scope) errorf(part, format string, args ...any) error {
	return &model.Error{At: s.place + part, Err: fmt.Errorf(format, args...)}
}

// free refuses a name that is taken in this scope.
func (s *scope) free(name string) error {
	_, twice := s.values[name]
	if _, also := s.aliases[name]; twice || also {
		return fmt.Errorf("two values are named %.200q; name one anew", name)
	}
	return nil
}

// define gives a name to a value of this scope.
func (s *scope) define(name string, v *model.Value) error {
	if err := s.free(name); err != nil {
		return err
	}
	if s.values == nil {
		s.values = make(map[string]*model.Value)
	}
	s.values[name] = v
	return nil
}

// hold is define of a constant.
func (s *scope) hold(name string, v *model.Value) error {
	s.made.Constants = append(s.made.Constants, v)
	return s.define(name, v)
}

func (s *scope) initializers(g *onnxpb.GraphProto) error {
	add := func(name string, make func() (*model.Constant, error)) error {
		if name == "" {
			return errors.New("an initializer has no name; name it")
		}
		c, err := make()
		switch {
		case err != nil:
		case s.absent[c]:
			err = s.define(name, &model.Value{Name: name, Spec: c.Spec})
		default:
			err = s.hold(name, &model.Value{Name: name, Spec: c.Spec, Constant: c})
		}
		if err != nil {
			return &model.Error{At: tensorNamed(name), Err: err}
		}
		return nil
	}
	for i, t := range g.Initializer {
		if err := add(t.GetName(), func() (*model.Constant, error) { return s.constant(t, t.GetName()) }); err != nil {
			return s.at(fmt.Sprintf(".initializer[%d]", i), err)
		}
	}
	for i, t := range g.SparseInitializer {
		name := t.GetValues().GetName()
		if err := add(name, func() (*model.Constant, error) { return s.sparse(t, name) }); err != nil {
			return s.at(fmt.Sprintf(".sparse_initializer[%d]", i), err)
		}
	}
	return nil
}

// at adds a part of the scope to err, unless err has a place.
func (s *scope) at(part string, err error) error {
	if e, ok := err.(*model.Error); ok && e.At != "" {
		return err
	}
	return &model.Error{At: s.place + part, Err: err}
}

// sparse makes a constant with a type whose elements cannot be read.
func (s *scope) sparse(t *onnxpb.SparseTensorProto, name string) (*model.Constant, error) {
	if err := s.Spend(protofile.ConstantBytes); err != nil {
		return nil, err
	}
	shape, err := shapeOf(t.Dims)
	if err != nil {
		return nil, err
	}
	dtype, err := dtypeOf(t.GetValues().GetDataType())
	if err != nil {
		return nil, err
	}
	return s.unreadable(name, garner.SpecOf(dtype, shape...), "it is sparse, which garner does not read; write it as a dense tensor"), nil
}

func (s *scope) inputs(list []*onnxpb.ValueInfoProto) ([]*model.Value, error) {
	if err := s.Spend(protofile.ValueBytes * len(list)); err != nil {
		return nil, err
	}
	made := make([]*model.Value, 0, len(list))
	seen := make(map[string]bool, len(list))
	for i, info := range list {
		name := info.GetName()
		if name == "" || seen[name] {
			return nil, s.errorf(fmt.Sprintf(".input[%d]", i), "input %.200q has no name, or one that another has; name it", name)
		}
		seen[name] = true
		v, ok := s.values[name] // an initializer is the default of the input
		if ok {
			v.Default = v.Constant != nil && s.irVersion >= 4 // before, every initializer was an input, and no caller gives one
		} else {
			v = &model.Value{Name: name, Spec: model.Unknown}
			if err := s.define(name, v); err != nil {
				return nil, err
			}
		}
		spec, names, err := s.typeOf(info)
		if err != nil {
			return nil, err
		}
		if !isUnknown(spec) {
			v.Spec, v.DimNames = spec, names
		}
		made = append(made, v)
	}
	return made, nil
}

func isUnknown(s garner.Spec) bool { return s.DType == garner.Invalid && !s.Rank.Known() }

// describe gives values the types that value_info declares, and ignores entries
// for missing values.
func (s *scope) describe() error {
	for _, info := range s.infos {
		v, ok, err := s.resolveHere(info.GetName())
		if err != nil {
			return err
		}
		if !ok || v == nil {
			continue
		}
		if err := s.typed(v, info); err != nil {
			return err
		}
	}
	return nil
}

// typed gives a value the type that info declares, where it has none.
func (s *scope) typed(v *model.Value, info *onnxpb.ValueInfoProto) error {
	spec, names, err := s.typeOf(info)
	if err == nil && (isUnknown(v.Spec) || !v.Spec.Rank.Known() && v.Spec.DType == spec.DType) {
		v.Spec, v.DimNames = spec, names
	}
	return err
}

// typeOf reads a declared type. A sequence or a map is Unknown.
func (s *scope) typeOf(info *onnxpb.ValueInfoProto) (garner.Spec, []string, error) {
	t := info.GetType().GetTensorType()
	if t == nil {
		return model.Unknown, nil, nil
	}
	fail := func(err error) (garner.Spec, []string, error) {
		return garner.Spec{}, nil, s.errorf("", "value %.200q: %w", info.GetName(), err)
	}
	dtype, err := dtypeOf(t.GetElemType())
	if err != nil {
		return fail(err)
	}
	if t.Shape == nil {
		return garner.SpecOfRank(dtype, garner.AnyDim), nil, nil
	}
	if len(t.Shape.Dim) > garner.MaxRank {
		return fail(fmt.Errorf("it has %d dims; there may be %d", len(t.Shape.Dim), garner.MaxRank))
	}
	if err := s.Spend(protofile.DimBytes * (1 + len(t.Shape.Dim))); err != nil {
		return fail(err)
	}
	dims := make([]garner.Dim, len(t.Shape.Dim))
	var names []string
	for i, d := range t.Shape.Dim {
		dims[i] = garner.AnyDim
		switch v := d.GetValue().(type) {
		case *onnxpb.TensorShapeProto_Dimension_DimValue:
			// Old exporters write -1 for an unknown dim.
			if v.DimValue < -1 {
				return fail(fmt.Errorf("its dim %d is %d; a dim is 0 or more, or not said", i, v.DimValue))
			}
			if v.DimValue >= 0 && v.DimValue < math.MaxInt {
				dims[i] = garner.Exactly(int(v.DimValue))
			}
		case *onnxpb.TensorShapeProto_Dimension_DimParam:
			if names == nil {
				names = make([]string, len(dims))
			}
			names[i] = v.DimParam
		}
	}
	return garner.SpecOfDims(dtype, dims...), names, nil
}

// resolve finds the value of a name in this scope and the enclosing ones, whose
// names are all defined by now. The value is nil for an input that a call leaves
// out; false means that there is none.
func (s *scope) resolve(name string) (*model.Value, bool, error) {
	for at := s; at != nil; at = at.outer {
		v, ok, err := at.resolveHere(name)
		if err != nil {
			return nil, false, err
		}
		if ok {
			if at != s {
				s.remember(name, v) // the next search of it begins and ends here
			}
			return v, true, nil
		}
	}
	return nil, false, nil
}

func (s *scope) remember(name string, v *model.Value) {
	if s.resolved == nil {
		s.resolved = make(map[string]*model.Value)
	}
	s.resolved[name] = v
}

// resolveHere finds the value of a name in this scope only.
func (s *scope) resolveHere(name string) (*model.Value, bool, error) {
	first := alias{s, name}
	var way []alias
	var found *model.Value
	marked, next := alias{}, 1 // Brent's algorithm: a cycle of aliases comes back to the marked one
	for at := first; ; {
		if v, ok := at.scope.values[at.name]; ok {
			found = v
			break
		}
		if v, ok := at.scope.resolved[at.name]; ok {
			found = v
			break
		}
		to, ok := at.scope.aliases[at.name]
		if !ok {
			if at == first {
				return nil, false, nil
			}
			// The alias names a value of a scope that encloses at.scope, or none.
			v, ok, err := at.scope.outer.resolveFrom(at.name)
			if err != nil || !ok {
				return nil, false, err
			}
			found = v
			break
		}
		way = append(way, at)
		if to.scope == nil {
			break
		}
		at = to
		if len(way) == next {
			marked, next = at, 2*next
		} else if at == marked {
			return nil, false, s.errorf("", "value %.200q is made of itself, through functions that give back what they are given; remove one of the calls", name)
		}
	}
	for _, at := range way {
		at.scope.remember(at.name, found)
	}
	return found, true, nil
}

// resolveFrom is resolve; it gives false for a nil scope.
func (s *scope) resolveFrom(name string) (*model.Value, bool, error) {
	if s == nil {
		return nil, false, nil
	}
	return s.resolve(name)
}

// expand makes nodes of messages and inlines calls of functions. Inputs are
// resolved later, when every name is defined.
func (s *scope) expand(protos []*onnxpb.NodeProto, list *[]pending) error {
	for i, p := range protos {
		n := &model.Node{Name: p.GetName(), Domain: plain(p.GetDomain()), Op: p.GetOpType()}
		n.At = fmt.Sprintf("%s.node[%d]", s.place, i)
		switch {
		case n.Name == "":
			n.Name = fmt.Sprintf("%s%s_%d", s.prefix, n.Op, i)
		case s.calls != nil: // every call has a node of this name
			n.Name = s.prefix + n.Name
		}
		size := protofile.NodeBytes + protofile.AttributeBytes*len(p.Attribute) + len(n.At) + len(n.Name) + len(n.Op) + len(n.Domain) + len(p.GetOverload())
		for _, names := range [][]string{p.Input, p.Output} {
			for _, name := range names {
				size += protofile.InputBytes + len(name)
			}
		}
		if err := s.Spend(size); err != nil {
			return err
		}
		if err := s.node(p, n, list); err != nil {
			return model.AtNode(n, err)
		}
	}
	return nil
}

func (s *scope) node(p *onnxpb.NodeProto, n *model.Node, list *[]pending) error {
	if n.Op == "" {
		return errors.New("it has no op_type; name its operator")
	}
	seen := map[string]bool{}
	for _, a := range p.Attribute {
		if a.GetName() == "" || seen[a.GetName()] {
			return fmt.Errorf("attribute %.200q has no name, or one that another has; name it", a.GetName())
		}
		seen[a.GetName()] = true
	}
	if f, ok := s.functions[function{n.Domain, n.Op, p.GetOverload()}]; ok {
		return s.call(f, p, n, list)
	}
	if err := s.version(n); err != nil {
		return err
	}
	if n.Domain == "" && n.Op == "Constant" {
		return s.constantNode(p, n)
	}
	for _, name := range p.Output {
		if name == "" {
			n.Outputs = append(n.Outputs, nil)
			continue
		}
		v := &model.Value{Name: s.own(name), Spec: model.Unknown, From: n}
		if err := s.Spend(protofile.ValueBytes + len(v.Name)); err != nil {
			return err
		}
		if err := s.define(name, v); err != nil {
			return err
		}
		n.Outputs = append(n.Outputs, v)
	}
	*list = append(*list, pending{n, p, s})
	return nil
}

// finish resolves a node's inputs and reads its attributes and sub-graphs.
func (p *pending) finish() error {
	if err := p.read(); err != nil {
		return model.AtNode(p.Node, err)
	}
	return nil
}

func (p *pending) read() error {
	for i, name := range p.proto.Input {
		if name == "" {
			p.Inputs = append(p.Inputs, nil)
			continue
		}
		v, ok, err := p.scope.resolve(name)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("its input %d, %.200q, is made by no node, and is neither an input nor an initializer of the graph; add what makes it", i, name)
		}
		p.Inputs = append(p.Inputs, v)
	}
	if p.IsGather() {
		// A list of the gathers names the operands of each.
		size := protofile.GatherBytes
		for _, v := range p.Inputs {
			if v != nil {
				size += len(v.Name)
				for _, name := range v.DimNames {
					size += len(name)
				}
			}
		}
		if err := p.scope.Spend(size); err != nil {
			return err
		}
		if err := p.complete(); err != nil {
			return err
		}
	}
	if len(p.proto.Attribute) > 0 {
		p.Attributes = make(map[string]any, len(p.proto.Attribute))
	}
	for _, a := range p.proto.Attribute {
		g, ok, err := p.scope.attribute(a)
		if err != nil {
			return fmt.Errorf("attribute %.200q: %w", a.GetName(), err)
		}
		if !ok {
			continue
		}
		if err := p.attribute(a.GetName(), g); err != nil {
			return err
		}
	}
	link(p.Node)
	return nil
}

// complete checks the number of a gather's inputs and outputs. An optional input may be
// left out, with an empty name where others follow it.
func (p *pending) complete() error {
	operator, err := operators.Find(p.Operator, 0)
	if err != nil {
		return err
	}
	roles := append([]string{"data", "indices"}, operator.Inputs()...)
	needs := 2 + operator.Needs()
	if len(p.Inputs) <= len(roles) && operator.Complete(p.Inputs) == nil && len(p.Outputs) == 1 && p.Outputs[0] != nil {
		return nil
	}
	text := "two and one: data and indices, and the result"
	if len(roles) > 2 {
		text = "the inputs " + strings.Join(roles[:needs], ", ") + " and, optionally, " + strings.Join(roles[needs:], ", ") + ", and one output"
	}
	return fmt.Errorf("it has the inputs %s and the outputs %s; %s has %s", some(p.proto.Input), some(p.proto.Output), p.Operator, text)
}

// some lists names for a message, the first eight.
func some(names []string) string {
	const most = 8
	if len(names) <= most {
		return fmt.Sprintf("%.200q", names)
	}
	return fmt.Sprintf("%.200q and %d more", names[:most], len(names)-most)
}

// attribute reads the value of an attribute.
func (p *pending) attribute(name string, g given) error {
	sub := func(name string, graph *onnxpb.GraphProto) error {
		place, prefix := p.At+"."+name, p.Name+"/"+name+"/"
		inner, err := g.scope.inside(place, prefix)
		if err != nil {
			return err
		}
		made, err := inner.graph(graph)
		if err != nil {
			return inner.at("", err)
		}
		p.Graphs = append(p.Graphs, model.Subgraph{Name: name, Graph: made})
		return nil
	}
	switch g.kind {
	case onnxpb.AttributeProto_GRAPH:
		return sub(name, g.proto.GetG())
	case onnxpb.AttributeProto_GRAPHS:
		for i, graph := range g.proto.Graphs {
			if err := sub(fmt.Sprintf("%s[%d]", name, i), graph); err != nil {
				return err
			}
		}
		return nil
	}
	value, err := g.scope.value(g, p.Name+"."+name)
	if err != nil {
		return fmt.Errorf("attribute %.200q: %w", name, err)
	}
	if value != nil {
		p.Attributes[name] = value
	}
	return nil
}
