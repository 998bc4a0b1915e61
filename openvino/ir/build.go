package ir

import (
	"errors"
	"fmt"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// A builder makes a model of a parsed net.
type builder struct {
	*parser
	weights *weights
	names   int64 // bytes of the names that were made, see spend
}

// spend counts bytes of names that the reader makes of a layer's name, and those
// that a list of gathers has, one for each use: a long name that is used often
// makes much of a small file.
func (b *builder) spend(l *layer, bytes int) error {
	if b.names += int64(bytes); b.names > freeNames+namesPerByte*b.in.total {
		return b.errorf(l.place, l, nil, "with the names of its ports and inputs the model's names take more than %d MiB, in a file of %d bytes; no real model's do: shorten them",
			(freeNames+namesPerByte*b.in.total)>>20, b.in.total)
	}
	return nil
}

// Names may take freeNames and namesPerByte for each byte of the file.
const (
	freeNames    = 8 << 20
	namesPerByte = 8
)

// An output is a value. It is sure where its spec follows from the model's inputs
// and constants alone, without the dims that ports declare, which may be stale.
type output struct {
	*model.Value
	sure bool
}

// graph makes the graph of a net. The parameters of an inner net, the body of a
// layer, have the types that the layer gives them. outer has the inputs that the
// layer passes on unchanged, by the parameter's id. The second result has the
// values of the parameters and of the results, by the layer's id.
func (b *builder) graph(n *net, inner bool, outer map[uint64]output) (*model.Graph, map[uint64]*model.Value, error) {
	k, err := b.link(n)
	if err != nil {
		return nil, nil, err
	}
	ends := make(map[uint64]*model.Value)
	g := &model.Graph{Name: n.name}
	values := make([][]output, len(n.layers))
	for _, i := range k.order {
		l := &n.layers[i]
		switch kindOf(l) {
		case "Parameter":
			v, err := b.parameter(l)
			if err != nil {
				return nil, nil, err
			}
			values[i] = []output{{v, !inner}}
			if o, ok := outer[l.id]; ok {
				v.Spec, v.Constant = o.Spec, o.Constant
				values[i][0].sure = o.sure
			}
			ends[l.id] = v
		case "Const":
			v, err := b.constantValue(l)
			if err != nil {
				return nil, nil, err
			}
			values[i] = []output{{v, true}}
			g.Constants = append(g.Constants, v)
		case "Result":
			if len(l.inputs) != 1 {
				return nil, nil, b.errorf(l.place, l, nil, "it has %d input ports; a Result has one", len(l.inputs))
			}
			// A Result with an output port passes its input on.
			from := k.from[i][0]
			ends[l.id] = values[from.layer][from.port].Value
			values[i] = slices.Repeat(values[from.layer][from.port:from.port+1], len(l.outputs))
		default:
			node, outputs, err := b.node(l, k, i, values)
			if err != nil {
				return nil, nil, err
			}
			values[i] = outputs
			g.Nodes = append(g.Nodes, node)
		}
	}
	inputs(g, n, values)
	results(g, n, k, values)
	return g, ends, nil
}

// unique is the set of names that are taken.
type unique struct {
	taken map[string]bool
	next  map[*string]int // by list of wanted names: those before are taken
}

func newUnique() unique { return unique{make(map[string]bool), make(map[*string]int)} }

// of takes the first free name of wanted and the layer's name; where none is free,
// a name made of the layer's name and id.
func (u unique) of(l *layer, wanted []string) string {
	name := ""
	if len(wanted) > 0 {
		// Many results may want the names of one port.
		list := &wanted[0]
		i := u.next[list]
		for i < len(wanted) && (wanted[i] == "" || u.taken[wanted[i]]) {
			i++
		}
		if u.next[list] = i; i < len(wanted) {
			name = wanted[i]
		}
	}
	if name == "" {
		if name = l.name; name == "" || u.taken[name] {
			name = fmt.Sprintf("%s_%d", l.name, l.id)
		}
	}
	for u.taken[name] {
		name += "_"
	}
	u.taken[name] = true
	return name
}

// inputs adds a graph's parameters, in the order of the file.
func inputs(g *model.Graph, n *net, values [][]output) {
	taken := newUnique()
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

// results adds a graph's results, in the order of the file, with the names that
// OpenVINO gives them.
func results(g *model.Graph, n *net, k *links, values [][]output) {
	taken := newUnique()
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
			wanted = []string{source.name} // the names of results in version 10
		case n.version == 10:
			wanted = []string{fmt.Sprintf("%s.%d", source.name, from.port)}
		}
		g.Outputs = append(g.Outputs, model.Result{Name: taken.of(l, wanted), Value: values[from.layer][from.port].Value})
	}
}

// single gives the one output port of a layer.
func (b *builder) single(l *layer) (*port, error) {
	if len(l.outputs) != 1 {
		return nil, b.errorf(l.place, l, nil, "it has %d output ports; a %s has one", len(l.outputs), kindOf(l))
	}
	return &l.outputs[0], nil
}

// value makes the value of an output port. Its name is the port's first tensor
// name, or the layer's name.
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
	text, _ := l.data.get("shape") // no shape means a scalar
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
	if b.weights.alone {
		return value(l, o, garner.SpecOf(c.dtype, c.shape...)), nil
	}
	held, err := b.weights.hold(b.parser, l, c)
	if err != nil {
		return nil, err
	}
	v := value(l, o, held.Spec)
	v.Constant = held
	return v, nil
}

// bodies lists the sub-graphs that a layer of each type must have.
var bodies = map[string][]string{"TensorIterator": {"body"}, "Loop": {"body"}, "If": {"then_body", "else_body"}}

// node makes a node of a layer. The values of its inputs exist by now.
func (b *builder) node(l *layer, k *links, i int, values [][]output) (*model.Node, []output, error) {
	operator, version, err := b.operator(l)
	if err != nil {
		return nil, nil, err
	}
	n := &model.Node{
		Name: l.name, At: fmt.Sprintf("line %d, column %d", l.line, l.column),
		Op: kindOf(l), Version: version,
	}
	if operator != nil {
		n.Operator = operator.Name
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
			// An input without an edge has the type that its port declares.
			v := &model.Value{Name: fmt.Sprintf("%s.%d", l.name, o.id), Spec: garner.SpecOfDims(o.dtype, o.dims...)}
			if err := b.spend(l, len(v.Name)); err != nil {
				return nil, nil, err
			}
			in[j] = output{v, false}
		} else {
			in[j] = values[from.layer][from.port]
		}
		n.Inputs = append(n.Inputs, in[j].Value)
		if operator != nil {
			if err := b.spend(l, len(in[j].Name)); err != nil {
				return nil, nil, err
			}
		}
		known = known && in[j].Spec.Rank.Known()
	}
	var ends []map[uint64]*model.Value // by body
	for _, body := range l.bodies {
		outer := make(map[uint64]output)
		for _, m := range l.maps[body.name] {
			_, changed := l.changed[m.layer]
			if !m.output && !m.sliced && !m.turn && !changed && m.port < uint64(len(in)) {
				outer[m.layer] = in[m.port]
			}
		}
		g, inside, err := b.graph(body.net, true, outer)
		if err != nil {
			return nil, nil, err
		}
		ends = append(ends, inside)
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
			// A port writes a scalar and an unknown rank alike. An operator with an
			// input of unknown rank seldom has a scalar result.
			spec = garner.SpecOfRank(o.dtype, garner.AnyDim)
		}
		v := value(l, o, spec)
		if err := b.spend(l, len(v.Name)); err != nil {
			return nil, nil, err
		}
		outputs = append(outputs, output{v, false})
	}
	if operator != nil {
		if _, err := b.single(l); err != nil {
			return nil, nil, err
		}
		least, most := 2+operator.Needs(), 2+len(operator.Inputs())
		if len(in) < least || len(in) > most {
			want := fmt.Sprint(least)
			if most > least {
				want += fmt.Sprintf(" to %d", most)
			}
			return nil, nil, b.errorf(l.place, l, nil, "it has %d input ports; %s has %s", len(in), operator.Name, want)
		}
		if err := b.infer(l, n, in, &outputs[0], k.live[i]); err != nil {
			return nil, nil, err
		}
	}
	for _, o := range outputs {
		o.From = n
		n.Outputs = append(n.Outputs, o.Value)
	}
	for j, body := range l.bodies {
		takes(l, n, body.name, ends[j])
	}
	return n, outputs, nil
}

// takes gives the parameters of a body, and the outputs of its layer, the values
// that they take. A parameter of a loop takes its input and what the back edge
// brings. An output that a back edge brings too is, after no turn, the input. The
// first input is the number of turns.
func takes(l *layer, n *model.Node, body string, ends map[uint64]*model.Value) {
	take := func(v, from *model.Value) {
		if v != nil && from != nil && v != from {
			v.Takes = append(v.Takes, from)
		}
	}
	outputs := make(map[uint64]*model.Value, len(n.Outputs)) // by port
	for j, o := range l.outputs {
		outputs[o.id] = n.Outputs[j]
	}
	collects := make(map[uint64]*model.Value) // outputs by the result
	for _, m := range l.maps[body] {
		if m.output {
			take(outputs[m.port], ends[m.layer])
			collects[m.layer] = outputs[m.port]
		}
	}
	for _, m := range l.maps[body] {
		v := ends[m.layer]
		switch {
		case m.output || v == nil || v.From != nil:
		case m.turn && len(n.Inputs) > 0:
			v.Turn = true
			take(v, n.Inputs[0])
		case !m.turn && m.port < uint64(len(n.Inputs)):
			take(v, n.Inputs[m.port])
			if from, ok := l.changed[m.layer]; ok {
				take(v, ends[from])
				take(collects[from], n.Inputs[m.port])
			}
		}
	}
}

// infer infers the result of a gather, as OpenVINO does, which does not look at
// what the port says. Where a result of the model needs the layer and the layer's
// inputs are sure, it refuses what the operator refuses whatever the extents are.
// Extents that disagree it accepts, as some runtimes do: see agreeing.
func (b *builder) infer(l *layer, n *model.Node, in []output, out *output, live bool) error {
	sure := live && !slices.ContainsFunc(in, func(o output) bool { return !o.sure })
	refused := func(err error) error {
		if !sure {
			return nil
		}
		var at *model.Error
		if errors.As(err, &at) {
			err = at.Err // wrap says where
		}
		return b.wrap(l.place, l, err)
	}
	operator, op, err := operators.OfNode(n)
	if err != nil {
		return refused(err)
	}
	spec, err := operators.Infer(op, agreeing(operator.Kind, n, in[0].Spec, in[1].Spec), in[1].Spec, operators.FurtherOf(operator, n)...)
	if shape := (*garner.ShapeError)(nil); errors.As(err, &shape) && shape.Kind == garner.KindMismatch {
		return nil // more elements than an int counts, in a file that need not hold them
	}
	if err != nil {
		return refused(err)
	}
	// What the port declares fills in the dtype only where data comes from a layer
	// without inference, and dims only where the rank is inferred.
	if in[0].sure {
		out.Spec.DType = spec.DType
	}
	if !spec.Rank.Known() {
		out.Spec = garner.SpecOfRank(out.Spec.DType, garner.AnyDim)
	}
	out.Refine(spec)
	out.sure = sure
	return nil
}

// agreeing gives the spec of a gather's data with the extents unknown that the
// gather compares with those of the indices, and that differ.
func agreeing(kind operators.Kind, n *model.Node, data, indices garner.Spec) garner.Spec {
	number := func(name string, from int) int { // from: what a negative one counts from
		v, _ := n.Attributes[name].(int64)
		if v < 0 {
			v += int64(from)
		}
		return int(min(max(v, -1), garner.MaxRank))
	}
	compared := func(i int) bool { return i < number("batch_dims", len(indices.Dims)) }
	if kind == operators.Elements {
		if len(data.Dims) != len(indices.Dims) {
			return data
		}
		compared = func(i int) bool { return i != number("axis", len(data.Dims)) }
	}
	data.Dims = slices.Clone(data.Dims)
	for i := range min(len(data.Dims), len(indices.Dims)) {
		if d, at := data.Dims[i], indices.Dims[i]; compared(i) && (d.Max < at.Min || at.Max < d.Min) {
			data.Dims[i] = garner.AnyDim
		}
	}
	return data
}
