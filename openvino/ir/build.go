package ir

import (
	"errors"
	"fmt"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/model"
)

// A builder makes a model of what a parser has read.
type builder struct {
	*parser
	weights *weights
}

// An output is a value, and whether its spec follows from the inputs and the
// constants alone. What a port says of itself may be stale.
type output struct {
	*model.Value
	sure bool
}

// graph makes the graph of a net. The parameters of an inner one are what its
// layer gives them, whatever they say: outer has those that it hands on as they
// are, by the parameter's id.
func (b *builder) graph(n *net, inner bool, outer map[uint64]output) (*model.Graph, error) {
	k, err := b.link(n)
	if err != nil {
		return nil, err
	}
	g := &model.Graph{Name: n.name}
	values := make([][]output, len(n.layers))
	for _, i := range k.order {
		l := &n.layers[i]
		switch kindOf(l) {
		case "Parameter":
			v, err := b.parameter(l)
			if err != nil {
				return nil, err
			}
			values[i] = []output{{v, !inner}}
			if o, ok := outer[l.id]; ok {
				v.Spec, v.Constant = o.Spec, o.Constant
				values[i][0].sure = o.sure
			}
		case "Const":
			v, err := b.constantValue(l)
			if err != nil {
				return nil, err
			}
			values[i] = []output{{v, true}}
		case "Result":
			if len(l.inputs) != 1 {
				return nil, b.errorf(l.place, l, nil, "it has %d input ports; a Result has one", len(l.inputs))
			}
			// It hands on what it gets, where it has a port for that.
			from := k.from[i][0]
			values[i] = slices.Repeat(values[from.layer][from.port:from.port+1], len(l.outputs))
		default:
			node, outputs, err := b.node(l, k, i, values)
			if err != nil {
				return nil, err
			}
			values[i] = outputs
			g.Nodes = append(g.Nodes, node)
		}
	}
	inputs(g, n, values)
	results(g, n, k, values)
	return g, nil
}

// unique gives names that each stand for one thing only.
type unique map[string]bool

// of is the first of some names that is free, or the layer's.
func (u unique) of(l *layer, wanted []string) string {
	name := fmt.Sprintf("%s_%d", l.name, l.id)
	for _, w := range append(slices.Clone(wanted), l.name) {
		if w != "" && !u[w] {
			name = w
			break
		}
	}
	for u[name] {
		name += "_"
	}
	u[name] = true
	return name
}

// inputs are a graph's parameters, in the order of the file.
func inputs(g *model.Graph, n *net, values [][]output) {
	taken := unique{}
	for i := range n.layers {
		l := &n.layers[i]
		if kindOf(l) != "Parameter" {
			continue
		}
		v := values[i][0].Value
		v.Name = taken.of(l, l.outputs[0].names)
		v.Aliases = slices.DeleteFunc(v.Aliases, func(name string) bool { return name == v.Name })
		g.Inputs = append(g.Inputs, v)
	}
}

// results are a graph's, in the order of the file, by the names that OpenVINO
// gives them.
func results(g *model.Graph, n *net, k *links, values [][]output) {
	taken := unique{}
	for i := range n.layers {
		l := &n.layers[i]
		if kindOf(l) != "Result" {
			continue
		}
		from := k.from[i][0]
		source := &n.layers[from.layer]
		wanted := names(l.outputNames)
		switch {
		case len(wanted) > 0:
		case len(source.outputs[from.port].names) > 0:
			wanted = source.outputs[from.port].names
		case n.version == 10 && len(source.outputs) == 1:
			wanted = []string{source.name} // what results were called then
		case n.version == 10:
			wanted = []string{fmt.Sprintf("%s.%d", source.name, from.port)}
		}
		g.Outputs = append(g.Outputs, model.Result{Name: taken.of(l, wanted), Value: values[from.layer][from.port].Value})
	}
}

// single is a layer's one output port.
func (b *builder) single(l *layer) (*port, error) {
	if len(l.outputs) != 1 {
		return nil, b.errorf(l.place, l, nil, "it has %d output ports; a %s has one", len(l.outputs), kindOf(l))
	}
	return &l.outputs[0], nil
}

// value is what comes out of a port. It goes by its first tensor name, or the
// layer's.
func value(l *layer, o *port, spec garner.Spec) *model.Value {
	v := &model.Value{Name: l.name, Spec: spec}
	if len(l.outputs) > 1 {
		v.Name = fmt.Sprintf("%s.%d", l.name, o.id)
	}
	if len(o.names) > 0 {
		v.Aliases = slices.Clone(o.names[1:])
		if !slices.Contains(o.names, v.Name) {
			v.Aliases = append(v.Aliases, v.Name)
		}
		v.Name = o.names[0]
	}
	return v
}

func (b *builder) parameter(l *layer) (*model.Value, error) {
	o, err := b.single(l)
	if err != nil {
		return nil, err
	}
	if l.data == nil {
		return nil, b.errorf(l.place, l, nil, "it has no <data>, which says its type and shape; write it")
	}
	dtype := garner.Invalid
	if text, ok := l.data.get("element_type"); ok {
		if dtype, ok = elementType(text); !ok {
			return nil, b.errorf(l.data.place, l, garner.ErrDType, "it has element_type=%q, which is none; f32 and i64 are some", clip(text))
		}
	}
	text, _ := l.data.get("shape") // without one it is a scalar
	spec, why := partialShape(dtype, text)
	if why != "" {
		return nil, b.errorf(l.data.place, l, garner.ErrShape, "it has shape=%q: %s", clip(text), clip(why))
	}
	v := value(l, o, spec)
	if !slices.Contains(v.Aliases, l.name) {
		v.Aliases = append(v.Aliases, l.name)
	}
	v.Aliases = append(v.Aliases, v.Name) // inputs chooses one of them
	return v, nil
}

func (b *builder) constantValue(l *layer) (*model.Value, error) {
	o, err := b.single(l)
	if err != nil {
		return nil, err
	}
	c, err := b.constant(l)
	if err != nil {
		return nil, err
	}
	held, err := b.weights.hold(b.parser, l, c)
	if err != nil {
		return nil, err
	}
	v := value(l, o, held.Spec)
	v.Constant = held
	return v, nil
}

// bodies are the sub-graphs that a layer must have.
var bodies = map[string][]string{"TensorIterator": {"body"}, "Loop": {"body"}, "If": {"then_body", "else_body"}}

// node makes a node of a layer whose inputs' values are there.
func (b *builder) node(l *layer, k *links, i int, values [][]output) (*model.Node, []output, error) {
	operator, version, err := b.operator(l)
	if err != nil {
		return nil, nil, err
	}
	n := &model.Node{
		Name: l.name, At: fmt.Sprintf("line %d, column %d", l.line, l.column),
		Op: kindOf(l), Version: version, Operator: operator,
	}
	if version == 0 {
		n.Domain = l.version // "extension", or a plugin's own
	}
	if n.Attributes, err = b.attributes(l, operator); err != nil {
		return nil, nil, err
	}
	in := make([]output, len(l.inputs))
	known := true // the rank of every input
	for j, from := range k.from[i] {
		if o := &l.inputs[j]; from.layer < 0 {
			// What nobody gives has only the port to tell of it.
			in[j] = output{&model.Value{Name: fmt.Sprintf("%s.%d", l.name, o.id), Spec: garner.SpecOfDims(o.dtype, o.dims...)}, false}
		} else {
			in[j] = values[from.layer][from.port]
		}
		n.Inputs = append(n.Inputs, in[j].Value)
		known = known && in[j].Spec.Rank.Known()
	}
	for _, body := range l.bodies {
		outer := make(map[uint64]output)
		for _, m := range l.maps[body.name] {
			if m.input < uint64(len(in)) && !l.changed[m.layer] {
				outer[m.layer] = in[m.input]
			}
		}
		g, err := b.graph(body.net, true, outer)
		if err != nil {
			return nil, nil, err
		}
		n.Graphs = append(n.Graphs, model.Subgraph{Name: body.name, Graph: g})
	}
	for _, name := range bodies[n.Op] {
		if !slices.ContainsFunc(l.bodies, func(b body) bool { return b.name == name }) {
			return nil, nil, b.errorf(l.place, l, nil, "it has no <%s>; write one, or take the layer out", name)
		}
	}
	var outputs []output
	for j := range l.outputs {
		o := &l.outputs[j]
		spec := garner.SpecOfDims(o.dtype, o.dims...)
		if len(o.dims) == 0 && !known {
			// A port writes a scalar and an unknown rank alike, and of an unknown
			// rank seldom comes a scalar.
			spec = garner.SpecOfRank(o.dtype, garner.AnyDim)
		}
		outputs = append(outputs, output{value(l, o, spec), false})
	}
	if operator != "" {
		if _, err := b.single(l); err != nil {
			return nil, nil, err
		}
		if err := b.infer(l, n, in, &outputs[0], k.live[i]); err != nil {
			return nil, nil, err
		}
	}
	for _, o := range outputs {
		o.From = n
		n.Outputs = append(n.Outputs, o.Value)
	}
	return n, outputs, nil
}

// infer works out what comes of a gather, as OpenVINO does, which does not look
// at what the port says. It refuses what cannot be whatever the extents are,
// where a result needs the layer and its inputs are sure. Extents that disagree
// it lets stand, and data's are then not known: there are runtimes that take
// them.
func (b *builder) infer(l *layer, n *model.Node, in []output, out *output, live bool) error {
	if want := inputsOf(n.Op); len(in) != want {
		return b.errorf(l.place, l, nil, "it has %d input ports; %s has %d", len(in), n.Operator, want)
	}
	said := out.Spec
	data, indices := in[0].Spec, in[1].Spec
	sure := live && in[0].sure && in[1].sure
	axis := garner.Unknown
	if len(in) == 3 {
		sure = sure && in[2].sure
		var err error
		if axis, err = axisOf(in[2].Value); err != nil {
			if sure {
				return b.wrap(l.place, l, err)
			}
			return nil
		}
	}
	// A type that is not known is some type.
	if data.DType == garner.Invalid {
		data.DType = garner.U8
	}
	if indices.DType == garner.Invalid {
		indices.DType = garner.I64
	}
	op := gatherOp(n.Operator, n.Attributes, axis)
	spec, err := garner.Infer(op, data, indices)
	if errors.Is(err, garner.ErrShape) {
		if open, always := garner.Infer(op, garner.SpecOfRank(data.DType, data.Rank), indices); always == nil {
			spec, err = open, nil
		}
	}
	if err != nil && sure {
		return b.wrap(l.place, l, err)
	}
	if err != nil {
		return nil
	}
	if spec.DType = in[0].Spec.DType; spec.DType == garner.Invalid && !in[0].sure {
		spec.DType = said.DType
	}
	out.Spec, out.sure = narrow(spec, said), sure
	return nil
}

// axisOf is the value of an axis, garner.Unknown where it is none of the file's.
func axisOf(v *model.Value) (int, error) {
	if dtype := v.Spec.DType; dtype != garner.Invalid && !dtype.IsInteger() {
		return 0, garner.Errorf(garner.ErrDType, "its axis is %s; it must be an integer", dtype)
	}
	if v.Spec.Rank.Min > 1 || slices.ContainsFunc(v.Spec.Dims, func(d garner.Dim) bool { return d.Min > 1 || d.Max < 1 }) {
		return 0, garner.Errorf(garner.ErrShape, "its axis is %s; it must be a scalar or one element", v.Spec)
	}
	if v.Constant == nil {
		return garner.Unknown, nil
	}
	axis := garner.Unknown
	err := mapped.Guard(func() error {
		t, err := v.Constant.Tensor()
		if err != nil {
			return err
		}
		i, err := t.Int(0)
		if err != nil {
			return err
		}
		axis = nearest(i)
		return nil
	})
	return axis, err
}

// nearest is an index as an int; what that loses is outside before and after.
func nearest(i garner.Index) int {
	if i.Unsigned && i.Bits > uint64(garner.Unbounded) {
		return garner.Unbounded
	}
	return int(min(max(int64(i.Bits), garner.Unknown+1), garner.Unbounded))
}

// narrow is spec with what said adds to it, unless the two contradict each
// other.
func narrow(spec, said garner.Spec) garner.Spec {
	if !spec.Rank.Known() || !said.Rank.Known() || spec.Rank != said.Rank {
		return spec
	}
	dims := slices.Clone(spec.Dims)
	for i, d := range said.Dims {
		dims[i] = garner.Dim{Min: max(d.Min, dims[i].Min), Max: min(d.Max, dims[i].Max)}
		if dims[i].Min > dims[i].Max {
			return spec
		}
	}
	return garner.SpecOfDims(spec.DType, dims...)
}
