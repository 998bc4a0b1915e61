package modelproto

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/protofile"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto/internal/onnxpb"
)

// A function is the key of a local function, which nodes call by operator name.
type function struct{ domain, name, overload string }

func (f function) String() string {
	text := f.name
	if f.domain != "" {
		text = f.domain + "." + f.name
	}
	if f.overload != "" {
		text += ":" + f.overload
	}
	return text
}

// given is an attribute's value, and the scope of the graph in it.
type given struct {
	proto *onnxpb.AttributeProto
	kind  onnxpb.AttributeProto_AttributeType
	scope *scope
}

// declared is a function of the model.
type declared struct {
	*onnxpb.FunctionProto
	read    bool // opset_import, on the first call
	opsets  map[string]int
	refused error // why its opset_import is
}

// imports gives the function's own opsets.
func (f *declared) imports() (map[string]int, error) {
	if !f.read {
		f.read = true
		f.opsets, f.refused = imports(f.OpsetImport)
	}
	return f.opsets, f.refused
}

// imported is the opsets that are in force in a scope: its own, and those of the
// scopes around it.
type imported struct {
	versions map[string]int
	outer    *imported
}

// of gives the opset of a domain.
func (o *imported) of(domain string) (int, bool) {
	for ; o != nil; o = o.outer {
		if version, ok := o.versions[domain]; ok {
			return version, true
		}
	}
	return 0, false
}

// calls is a list of calls that stand in each other, the innermost first.
type calls struct {
	function
	outer *calls
}

func (c *calls) contain(f function) bool {
	for ; c != nil; c = c.outer {
		if c.function == f {
			return true
		}
	}
	return false
}

// declare collects the model's functions.
func (r *reader) declare(list []*onnxpb.FunctionProto) error {
	r.functions = make(map[function]*declared, len(list))
	for i, f := range list {
		key := function{plain(f.GetDomain()), f.GetName(), f.GetOverload()}
		if _, twice := r.functions[key]; twice || key.name == "" {
			return fmt.Errorf("functions[%d]: function %.200q has no name, or one that another has; name it", i, key)
		}
		r.functions[key] = &declared{FunctionProto: f}
	}
	return nil
}

// call inlines a function: its nodes replace the node that calls it.
func (s *scope) call(f *declared, p *onnxpb.NodeProto, n *model.Node, list *[]pending) error {
	key := function{n.Domain, n.Op, p.GetOverload()}
	if s.calls.contain(key) {
		return fmt.Errorf("function %.200q calls itself; remove the call", key)
	}
	if len(p.Input) > len(f.Input) || len(p.Output) > len(f.Output) {
		return fmt.Errorf("it gives function %.200q %d inputs and takes %d outputs; there are %d and %d", key, len(p.Input), len(p.Output), len(f.Input), len(f.Output))
	}
	size := protofile.ScopeBytes + protofile.AttributeBytes*(len(p.Attribute)+len(f.AttributeProto)) + protofile.InputBytes*len(f.ValueInfo)
	for _, names := range [][]string{f.Input, f.Output} {
		for _, name := range names {
			size += protofile.InputBytes + len(name)
		}
	}
	if err := s.Spend(size); err != nil {
		return err
	}
	inner, err := s.inside(fmt.Sprintf("%s, function %.200s", n.At, key), n.Name+"/")
	if err != nil {
		return err
	}
	inner.outer = nil // a function cannot read values of its caller
	inner.calls = &calls{key, s.calls}
	if err := s.Spend(len(inner.place) + len(inner.prefix)); err != nil {
		return err
	}
	inner.infos = f.ValueInfo
	own, err := f.imports()
	if err != nil {
		return fmt.Errorf("function %.200q: %w", key, err)
	}
	if len(own) > 0 {
		inner.opsets = &imported{own, s.opsets}
	}
	if inner.attributes, err = s.pass(f, p); err != nil {
		return err
	}
	inner.aliases = make(map[string]alias, len(f.Input))
	for i, name := range f.Input {
		if _, twice := inner.aliases[name]; twice || name == "" {
			return fmt.Errorf("function %.200q: input %.200q has no name, or one that another has; name it", key, name)
		}
		var of alias
		if i < len(p.Input) && p.Input[i] != "" {
			of = alias{s, p.Input[i]}
		}
		inner.aliases[name] = of
	}
	if err := inner.expand(f.Node, list); err != nil {
		return err
	}
	for i, name := range p.Output {
		if name == "" {
			continue
		}
		inside := f.Output[i]
		_, made := inner.values[inside]
		if _, passed := inner.aliases[inside]; !made && !passed {
			return fmt.Errorf("function %.200q: its output %.200q is made by no node and is no input; add what makes it", key, inside)
		}
		if err := s.free(name); err != nil {
			return err
		}
		if s.aliases == nil {
			s.aliases = make(map[string]alias)
		}
		s.aliases[name] = alias{inner, inside}
		v, _, err := inner.resolveHere(inside)
		if err != nil {
			return err
		}
		if v != nil && strings.HasPrefix(v.Name, inner.prefix) {
			v.Name = s.own(name) // the caller's name for it
		}
	}
	return inner.describe()
}

// own names a value of this scope in the model. In a call, a prefix makes the name
// differ from those of other calls.
func (s *scope) own(name string) string {
	if s.calls != nil {
		return s.prefix + name
	}
	return name
}

// pass gives the attributes of a call: those of the node, and the function's
// defaults for the others.
func (s *scope) pass(f *declared, p *onnxpb.NodeProto) (map[string]given, error) {
	attributes := make(map[string]given, len(p.Attribute)+len(f.AttributeProto))
	for _, list := range [][]*onnxpb.AttributeProto{f.AttributeProto, p.Attribute} {
		for _, a := range list {
			g, ok, err := s.attribute(a)
			if err != nil {
				return nil, fmt.Errorf("attribute %.200q: %w", a.GetName(), err)
			}
			if ok {
				attributes[a.GetName()] = g
			}
		}
	}
	return attributes, nil
}

// attribute gives the value of an attribute, which may refer to an attribute of
// the enclosing function; false where that is not given.
func (s *scope) attribute(a *onnxpb.AttributeProto) (given, bool, error) {
	kind := a.GetType()
	for _, p := range present(a) {
		if !p.there {
			continue
		}
		seen := p.kind
		if kind == onnxpb.AttributeProto_UNDEFINED {
			kind = seen
		}
		if kind != seen {
			return given{}, false, fmt.Errorf("it is of type %s and has a value of type %s; leave one", kind, seen)
		}
	}
	if name := a.GetRefAttrName(); name != "" {
		if s.attributes == nil {
			return given{}, false, fmt.Errorf("it refers to a function's attribute %.200q, and stands in no function; write its value", name)
		}
		g, ok := s.attributes[name]
		if ok && kind != onnxpb.AttributeProto_UNDEFINED && g.kind != kind {
			return given{}, false, fmt.Errorf("it is of type %s and refers to attribute %.200q, which is of type %s", kind, name, g.kind)
		}
		return g, ok, nil
	}
	switch {
	case kind == onnxpb.AttributeProto_UNDEFINED:
		return given{}, false, errors.New("it has no value; write one, or leave it out")
	case kind == onnxpb.AttributeProto_TENSOR && a.T == nil, kind == onnxpb.AttributeProto_GRAPH && a.G == nil:
		return given{}, false, fmt.Errorf("it is of type %s and has no value; write one, or leave it out", kind)
	}
	return given{a, kind, s}, true, nil
}

type presence struct {
	kind  onnxpb.AttributeProto_AttributeType
	there bool
}

// present reports for each type whether an attribute has a value of it.
func present(a *onnxpb.AttributeProto) [14]presence {
	return [...]presence{
		{onnxpb.AttributeProto_FLOAT, a.F != nil}, {onnxpb.AttributeProto_INT, a.I != nil}, {onnxpb.AttributeProto_STRING, a.S != nil},
		{onnxpb.AttributeProto_TENSOR, a.T != nil}, {onnxpb.AttributeProto_GRAPH, a.G != nil}, {onnxpb.AttributeProto_SPARSE_TENSOR, a.SparseTensor != nil},
		{onnxpb.AttributeProto_TYPE_PROTO, a.Tp != nil}, {onnxpb.AttributeProto_FLOATS, len(a.Floats) > 0}, {onnxpb.AttributeProto_INTS, len(a.Ints) > 0},
		{onnxpb.AttributeProto_STRINGS, len(a.Strings) > 0}, {onnxpb.AttributeProto_TENSORS, len(a.Tensors) > 0}, {onnxpb.AttributeProto_GRAPHS, len(a.Graphs) > 0},
		{onnxpb.AttributeProto_SPARSE_TENSORS, len(a.SparseTensors) > 0}, {onnxpb.AttributeProto_TYPE_PROTOS, len(a.TypeProtos) > 0},
	}
}

// value converts an attribute's value for model.Node; nil for types that no gather
// needs, such as a TypeProto.
func (s *scope) value(g given, name string) (any, error) {
	a := g.proto
	switch g.kind {
	case onnxpb.AttributeProto_FLOAT:
		return float64(a.GetF()), nil
	case onnxpb.AttributeProto_INT:
		return a.GetI(), nil
	case onnxpb.AttributeProto_STRING:
		return string(a.GetS()), nil
	case onnxpb.AttributeProto_TENSOR:
		return s.constant(a.T, name)
	case onnxpb.AttributeProto_SPARSE_TENSOR:
		return s.sparse(a.SparseTensor, name)
	case onnxpb.AttributeProto_FLOATS:
		list := make([]float64, len(a.Floats))
		for i, v := range a.Floats {
			list[i] = float64(v)
		}
		return list, s.Spend(8 * len(list))
	case onnxpb.AttributeProto_INTS:
		return slices.Clip(a.Ints), s.Spend(8 * len(a.Ints)) // no copy, and yet each use is printed
	case onnxpb.AttributeProto_STRINGS:
		list := make([]string, len(a.Strings))
		bytes := 0
		for i, v := range a.Strings {
			list[i] = string(v)
			bytes += len(v)
		}
		return list, s.Spend(16*len(list) + bytes)
	}
	return nil, nil
}

// constantNode makes a value of a Constant node.
func (s *scope) constantNode(p *onnxpb.NodeProto, n *model.Node) error {
	if len(p.Output) != 1 || p.Output[0] == "" || len(p.Input) != 0 {
		return fmt.Errorf("it has %d inputs and %d outputs; a Constant has 0 and 1", len(p.Input), len(p.Output))
	}
	name := p.Output[0]
	own := s.own(name)
	var c *model.Constant
	for _, a := range p.Attribute {
		g, ok, err := s.attribute(a)
		if err == nil && ok {
			var made *model.Constant
			if made, err = s.constantOf(a.GetName(), g, own); err == nil && made != nil && c != nil {
				err = errors.New("it has another value too; leave one")
			} else if made != nil {
				c = made
			}
		}
		if err != nil {
			return fmt.Errorf("attribute %.200q: %w", a.GetName(), err)
		}
	}
	if c == nil {
		return errors.New("it has no value; set value, value_int, value_ints, value_float, value_floats, value_string or value_strings")
	}
	v := &model.Value{Name: own, Spec: c.Spec, Constant: c}
	if p.GetName() != "" && n.Name != own {
		v.Aliases = []string{n.Name}
	}
	return s.hold(name, v)
}

// constantOf makes a constant of an attribute of a Constant node; nil where the
// attribute holds no value.
func (s *scope) constantOf(attribute string, g given, name string) (*model.Constant, error) {
	want, ok := map[string]onnxpb.AttributeProto_AttributeType{
		"value": onnxpb.AttributeProto_TENSOR, "sparse_value": onnxpb.AttributeProto_SPARSE_TENSOR,
		"value_int": onnxpb.AttributeProto_INT, "value_ints": onnxpb.AttributeProto_INTS,
		"value_float": onnxpb.AttributeProto_FLOAT, "value_floats": onnxpb.AttributeProto_FLOATS,
		"value_string": onnxpb.AttributeProto_STRING, "value_strings": onnxpb.AttributeProto_STRINGS,
	}[attribute]
	if !ok {
		return nil, nil
	}
	if g.kind != want {
		return nil, fmt.Errorf("it is of type %s; it must be of type %s", g.kind, want)
	}
	var t garner.Tensor
	a := g.proto
	switch attribute {
	case "value":
		return s.constant(a.T, name)
	case "sparse_value":
		return s.sparse(a.SparseTensor, name)
	case "value_int":
		t = garner.Of([]int64{a.GetI()})
	case "value_ints":
		t = garner.Of(a.Ints, len(a.Ints))
	case "value_float":
		t = garner.Of([]float32{a.GetF()})
	case "value_floats":
		t = garner.Of(a.Floats, len(a.Floats))
	case "value_string":
		t = garner.Of([]string{string(a.GetS())})
	case "value_strings":
		list := make([]string, len(a.Strings))
		for i, v := range a.Strings {
			list[i] = string(v)
		}
		t = garner.Of(list, len(list))
	}
	return model.NewConstant(name, garner.SpecOf(t.DType(), t.Shape()...), func() (garner.Tensor, error) { return t, nil }), nil
}
