package convert

import (
	"errors"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// An origin is a format that models are converted from: what its operators are in the
// neutral form.
type origin struct {
	runtime string                   // whose answers the conversion keeps
	nodes   map[string]func(c *call) // by the operator's name
	gathers map[string]func(c *call) // by the name in package operators

	// folds reports whether the runtime knows a node's result of the shape of its input, which it
	// then does not compute; nil: of no node.
	folds func(n *model.Node) bool

	// unread reports whether the runtime may run a gather that no result reads; nil: none.
	unread func(n *model.Node) bool
}

var sources = map[string]*origin{"ONNX": onnxSource, "OpenVINO IR": irSource, "TFLite": liteSource, "TensorFlow": tensorflowSource}

// A call is the conversion of one node. It sets made, one value for each output.
type call struct {
	*program
	node *model.Node
	made []*value
}

func (c *call) set(v ...*value) { c.made = v }

// has reports whether the node has an i-th input.
func (c *call) has(i int) bool { return i < len(c.node.Inputs) && c.node.Inputs[i] != nil }

// in gives the i-th input.
func (c *call) in(i int) *value {
	if !c.has(i) {
		c.fail(garner.ErrAttribute, "it has no input %d, which %s needs", i, c.node.Op)
		return c.number(garner.I64, 0)
	}
	return c.value(c.node.Inputs[i])
}

// attribute gives an integer attribute, or without where the node has none.
func (c *call) attribute(name string, without int64) int64 {
	switch v := c.node.Attributes[name].(type) {
	case nil:
		return without
	case int64:
		return v
	case bool:
		if v {
			return 1
		}
		return 0
	default:
		c.fail(garner.ErrAttribute, "its %s is %v; it must be an integer", name, v)
		return without
	}
}

// list gives integers that an attribute or a constant input has; ok is false where
// the node has neither.
func (c *call) list(name string, i int) (list []int64, ok bool) {
	switch v := c.node.Attributes[name].(type) {
	case []int64:
		return v, true
	case nil:
	default:
		c.fail(garner.ErrAttribute, "its %s is %v; it must be a list of integers", name, v)
		return nil, false
	}
	if !c.has(i) {
		return nil, false
	}
	list, ok = c.in(i).integers()
	if !ok {
		c.fail(ErrUnsupported, "its %s are computed by the model; a conversion needs constant ones", name)
	}
	return list, ok
}

// vector gives a list as a value: of an attribute, or an input; nil where the node has neither.
func (c *call) vector(name string, i int) *value {
	if v, ok := c.node.Attributes[name].([]int64); ok {
		return c.of(v...)
	}
	if !c.has(i) {
		return nil
	}
	return c.in(i)
}

// value gives what a value of the source is in the program. Constants come into it where
// they are used first.
func (p *program) value(v *model.Value) *value {
	if have := p.values[v]; have != nil {
		return have
	}
	if v.Constant == nil {
		made := &value{wanted: v.Name, spec: v.Spec, dimNames: v.DimNames}
		p.fail(ErrUnsupported, "%s is made by no node that is converted", made.label())
		p.values[v] = made
		return made
	}
	p.values[v] = p.heldBy(v)
	return p.values[v]
}

// heldBy gives the constant of a value of the source.
func (p *program) heldBy(v *model.Value) *value {
	c := v.Constant
	made := &value{wanted: v.Name, spec: c.Spec, constant: c}
	if n, ok := c.Bytes(); ok && n <= 16*garner.MaxRank && c.Spec.DType != garner.String {
		err := mapped.Guard(func() error {
			t, err := c.Tensor()
			if err == nil {
				made.tensor, err = t.Clone()
			}
			return err
		})
		if err != nil && p.err == nil {
			p.err = err
		}
		made.small = err == nil
	}
	return made
}

// read makes the program of a model.
func (p *program) read(m *model.Model, from *origin) error {
	g := m.Graph
	p.source, p.name = m, g.Name
	p.values = make(map[*model.Value]*value)
	p.numbers = make(map[string]*value)
	for _, v := range g.Inputs {
		if v.Fixed() != nil {
			continue // an old model lists its constants among the inputs
		}
		var fallback *value
		switch {
		case !v.Default:
		case p.options.Defaults == DefaultsConstant:
			p.note("replaced", "the input %.200q has a default, and becomes that constant", v.Name)
			continue
		case p.options.Defaults == DefaultsInput:
			p.note("replaced", "the input %.200q has a default, and becomes one that every caller gives", v.Name)
		case p.target != onnxTarget:
			return garner.Errorf(ErrUnsupported, "the input %.200q has a default, which %s does not hold; say with the option defaults whether it becomes an input that every caller gives, or a constant", v.Name, p.target.name)
		default:
			fallback = p.heldBy(v)
		}
		if v.Spec.DType == garner.Invalid {
			return garner.Errorf(garner.ErrDType, "the dtype of the input %.200q is not known, or garner lacks it; declare it", v.Name)
		}
		made := &value{wanted: v.Name, spec: v.Spec, dimNames: v.DimNames, fallback: fallback}
		p.values[v] = made
		p.inputs = append(p.inputs, made)
	}
	if p.quantisedEnds(g); p.err != nil {
		return p.err
	}
	p.branches = run.BranchesOf(m)
	p.live = p.needed(g, nil)
	p.inNodes = make(map[*model.Value]bool)
	for n := range p.live {
		for _, v := range p.takes(n) {
			p.inNodes[v] = true
		}
	}
	if p.runsIn = p.live; from.folds != nil {
		if p.runsIn = p.needed(g, from.folds); len(p.runsIn) < len(p.live) {
			p.insideOnly = from.runtime + " does not compute what only known shapes are taken of, and garner's run does"
		}
	}
	p.untaken(g, from)
	if p.graph(g, from); p.err != nil {
		return model.AtNode(p.at, p.err)
	}
	p.at = nil
	for _, o := range g.Outputs {
		p.outputs = append(p.outputs, result{o.Name, p.value(o.Value)})
	}
	return p.err
}

// ofShape is origin.folds of a runtime that knows the results of some operators where the dims of the
// input are known.
func ofShape(ops ...string) func(n *model.Node) bool {
	return func(n *model.Node) bool {
		if n.Domain != "" || len(n.Inputs) == 0 || n.Inputs[0] == nil || !slices.Contains(ops, n.Op) {
			return false
		}
		_, known := n.Inputs[0].Spec.Shape()
		return known || n.Op == "Rank"
	}
}

// graph converts the nodes of a graph that results need. An error is at the node that p.at has then.
func (p *program) graph(g *model.Graph, from *origin) {
	for _, n := range g.Nodes {
		if p.live[n] && p.err == nil {
			p.at = n
			p.node(n, from)
		}
	}
}

// needed lists the nodes that results need, those of branches that constants choose among them. Those that
// only nodes need that folds reports are none of them; folds may be nil.
func (p *program) needed(g *model.Graph, folds func(*model.Node) bool) map[*model.Node]bool {
	live, parameters := make(map[*model.Node]bool), make(map[*model.Value]bool)
	var todo []*model.Value
	for _, o := range g.Outputs {
		todo = append(todo, o.Value)
	}
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if v != nil && v.From == nil && !parameters[v] { // of a branch
			parameters[v] = true
			todo = append(todo, v.Takes...)
		}
		if v == nil || v.From == nil || live[v.From] {
			continue
		}
		live[v.From] = true
		if branch := p.branches.Of(v.From); branch != nil {
			for _, o := range branch.Outputs {
				todo = append(todo, o.Value)
			}
			continue // what the other branches read is not needed
		}
		if folds == nil || !folds(v.From) {
			todo = append(todo, p.takes(v.From)...)
		}
	}
	return live
}

// untaken notes gathers that the source's runtime runs and the target has not: those that only branches read that no
// condition chooses, and those that nothing reads, as in a function of TensorFlow.
func (p *program) untaken(g *model.Graph, from *origin) {
	reads := make(map[*model.Node]bool)
	var todo []*model.Node
	for n := range p.live {
		if p.branches.Of(n) != nil {
			todo = append(todo, n)
		}
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if reads[n] {
			continue
		}
		reads[n] = true
		values := slices.Clone(p.takes(n))
		for _, branch := range n.Graphs {
			for _, v := range branch.Graph.Inputs {
				values = append(values, v.Takes...)
			}
			for _, o := range branch.Graph.Outputs {
				values = append(values, o.Value)
			}
			todo = append(todo, branch.Graph.Nodes...)
		}
		for _, v := range values {
			if v != nil && v.From != nil {
				todo = append(todo, v.From)
			}
		}
	}
	for _, n := range g.Nodes {
		switch p.at = n; {
		case p.live[n] || !n.IsGather():
		case reads[n]:
			p.note("dropped", "only a branch that is not taken reads it, and an index outside, which the source refuses there, is not looked at")
		case from.unread != nil && from.unread(n):
			p.note("dropped", "no result reads it, and an index outside, which the source may refuse all the same, is not looked at")
		}
	}
	p.at = nil
}

// node converts one node.
func (p *program) node(n *model.Node, from *origin) {
	c := &call{program: p, node: n}
	switch {
	case len(n.Graphs) > 0:
		c.branch(from)
	case n.IsGather():
		convert := from.gathers[n.Operator]
		if convert == nil {
			p.fail(ErrUnsupported, "%s is not converted to %s%s", n.Operator, p.target.name, p.instead(n))
			return
		}
		if _, err := operators.InferNode(n); err != nil { // a call that its operator refuses
			var at *model.Error // node adds it again
			if errors.As(err, &at) {
				err = at.Err
			}
			p.err = err
			return
		}
		convert(c)
	case n.Domain != "" || from.nodes[n.Op] == nil:
		p.fail(ErrUnsupported, "%s is not converted; gathers are, and the operators around them that \"garner run\" runs%s", names(n), p.instead(n))
		return
	default:
		if g := run.LeavesZeros(n); g != nil && from.runtime == openVINO && p.crosses(openVINO) && p.zeroed[g] {
			p.lossy("OpenVINO leaves the zeros of an index outside as they are in arithmetic with constants of one element behind a Gather, and the target computes with them")
		}
		from.nodes[n.Op](c)
	}
	if p.err != nil {
		return
	}
	if len(n.Outputs) > len(c.made) {
		p.fail(ErrUnsupported, "it has %d outputs, of which %d are converted", len(n.Outputs), len(c.made))
		return
	}
	for i, v := range n.Outputs {
		if v == nil {
			continue
		}
		made := c.made[i]
		p.values[v] = made
		if made.wanted == "" {
			made.wanted = v.Name
		}
		if !made.spec.Rank.Known() && v.Spec.Rank.Known() && made.from != nil {
			made.spec.Rank, made.spec.Dims = v.Spec.Rank, v.Spec.Dims
		}
		if made.spec.Rank == v.Spec.Rank && made.from != nil {
			made.spec.Dims = slices.Clone(made.spec.Dims)
			for i, d := range v.Spec.Dims { // the reader may know more
				if d.Known() && !made.spec.Dims[i].Known() {
					made.spec.Dims[i] = d
				}
			}
		}
		if made.spec.Rank == v.Spec.Rank && made.dimNames == nil && made.from != nil {
			made.dimNames = v.DimNames
		}
	}
}

func names(n *model.Node) string {
	if n.Domain != "" {
		return n.Domain + "." + n.Op
	}
	return n.Op
}

// Converters that several formats share.

// pair converts an operator of two inputs.
func pair(o op) func(c *call) {
	return func(c *call) { c.set(c.compute(o, c.in(0), c.in(1))) }
}

// chain converts an operator of one input and more, from left to right.
func chain(o op) func(c *call) {
	return func(c *call) {
		made := c.in(0)
		for i := 1; i < len(c.node.Inputs); i++ {
			made = c.compute(o, made, c.in(i))
		}
		c.set(made)
	}
}

func transposeOf(c *call) {
	list, _ := c.list("perm", 1)
	if len(list) == 0 {
		list = nil
		for i := range c.needRank(c.in(0)) {
			list = append([]int64{int64(i)}, list...)
		}
	}
	if rank, ok := c.in(0).rank(); ok {
		seen := make([]bool, rank)
		for _, a := range list {
			if len(list) != rank || a < 0 || a >= int64(rank) || seen[a] {
				c.fail(garner.ErrShape, "%v is no order of the %d dims of its input", list, rank)
				break
			}
			seen[a] = true
		}
	}
	c.set(c.transpose(c.in(0), list))
}

func concatOf(c *call) {
	in := make([]*value, len(c.node.Inputs))
	for i := range in {
		in[i] = c.in(i)
		if in[i].spec.DType != in[0].spec.DType {
			c.fail(garner.ErrDType, "its inputs are %s and %s, which differ in dtype", in[0].spec, in[i].spec)
		}
	}
	if len(in) == 0 {
		in = append(in, c.in(0))
	}
	axis := c.attribute("axis", 1)
	if axis < 0 {
		axis = int64(c.axisOf(axis, c.needRank(in[0])))
	}
	if rank, ok := in[0].rank(); ok && axis >= int64(rank) || axis > garner.MaxRank {
		c.fail(garner.ErrShape, "its axis is %d, and there are %d dims", axis, rank)
		axis = 0
	}
	c.set(c.concat(int(axis), in...))
}

func unsqueezeOf(c *call) {
	axes, ok := c.list("axes", 1)
	if !ok {
		c.fail(garner.ErrAttribute, "it has no axes")
	}
	x := c.in(0)
	if rank, ok := x.rank(); ok {
		c.distinct(axes, rank+len(axes))
	}
	c.set(c.unsqueeze(x, axes...))
}

func squeezeOf(emptyIsAll bool) func(c *call) {
	return func(c *call) {
		axes, ok := c.list("axes", 1)
		x := c.in(0)
		switch {
		case !ok || len(axes) == 0 && emptyIsAll:
			axes = nil
		case len(axes) == 0:
			c.set(x)
			return
		default:
			if rank, ok := x.rank(); ok {
				c.distinct(axes, rank)
			}
		}
		c.set(c.squeeze(x, axes))
	}
}

// distinct refuses axes that a rank does not have, or that occur twice.
func (p *program) distinct(axes []int64, rank int) {
	seen := make([]bool, rank)
	for _, a := range axes {
		i := p.axisOf(a, rank)
		if p.err != nil {
			return
		}
		if seen[i] {
			p.fail(garner.ErrShape, "its axes %v name axis %d twice", axes, i)
			return
		}
		seen[i] = true
	}
}

func castLikeOf(c *call) { c.set(c.castTo(c.in(0), c.in(1).spec.DType)) }

func sliceOf(axesAt, stepsAt int) func(c *call) {
	return func(c *call) {
		x, starts, ends, axes, steps := c.in(0), c.vector("starts", 1), c.vector("ends", 2), c.vector("axes", axesAt), c.vector("steps", stepsAt)
		if starts == nil || ends == nil {
			c.fail(garner.ErrAttribute, "it has no starts or no ends")
			return
		}
		if axes == nil {
			n, ok := starts.dim(0)
			if !ok || n > garner.MaxRank {
				c.fail(garner.ErrShape, "how many axes it slices is not known")
				return
			}
			list := make([]int64, n)
			for i := range list {
				list[i] = int64(i)
			}
			axes = c.of(list...)
		}
		c.set(c.slice(x, starts, ends, axes, steps))
	}
}

func whereOf(c *call) {
	if d := c.in(0).spec.DType; d != garner.Bool {
		c.fail(garner.ErrDType, "its condition is %s; it must be bool", d)
	}
	made := c.choose(c.in(0), c.in(1), c.in(2))
	if d := c.in(1).spec.DType; d.IsFloat() && c.crosses(onnxRuntime) && !c.in(1).plusZero() {
		c.lossy("ONNX Runtime's Where makes 0 of a -0 that it takes of its first branch, in some shapes of its second, and other runtimes keep it")
	}
	c.set(made)
}

// plusZero reports whether v is one constant whose bits are 0, as the branch of a guard is.
func (v *value) plusZero() bool {
	if !v.small || v.tensor.Len() != 1 {
		return false
	}
	b, err := v.tensor.Bytes()
	return err == nil && !slices.ContainsFunc(b, func(b byte) bool { return b != 0 })
}

func negOf(c *call) {
	x := c.in(0)
	c.rounds(c.node.Op, x)
	if x.spec.DType.IsFloat() && c.crosses(openVINO) {
		c.lossy("the negative of 0 is 0 in OpenVINO, and -0 elsewhere")
	}
	if x.spec.DType.IsUnsigned() || x.spec.DType.IsFloat() && x.spec.DType.Bits() < 16 {
		c.fail(garner.ErrDType, "%s of %s is not converted", c.node.Op, x.spec.DType)
	}
	c.leaves(x.spec.DType)
	if x.spec.DType == garner.I8 && c.options.runtime == openVINO {
		c.lossy("%s of -128 is 127 in OpenVINO, and -128 elsewhere", c.node.Op)
	}
	if c.target == irTarget && x.spec.DType.IsInteger() && x.spec.DType.Bits() < 32 {
		c.set(c.cast(c.one(opNeg, c.cast(x, garner.I32)), x.spec.DType))
		return
	}
	c.set(c.one(opNeg, x))
}

// constantInteger gives an input that must be a constant of one integer.
func (c *call) constantInteger(i int) int64 {
	if list, ok := c.in(i).integers(); ok && len(list) == 1 {
		return list[0]
	}
	c.fail(ErrUnsupported, "its input %d is computed by the model, or is not one integer; a conversion needs a constant", i)
	return 0
}

// reducedAxes gives the axes of a reduction, all where none is named; true where it then
// reduces nothing.
func (c *call) reducedAxes(x *value, keep string) (axes []int64, none bool) {
	axes, ok := c.list("axes", 1)
	if ok && len(axes) > 0 {
		return axes, false
	}
	if c.attribute("noop_with_empty_axes", 0) != 0 || ok && keep == "keep_dims" {
		return nil, true
	}
	axes = nil
	for i := range c.needRank(x) {
		axes = append(axes, int64(i))
	}
	return axes, false
}

// reduceProdOf multiplies integers along constant axes.
func reduceProdOf(keep string, without int64) func(c *call) {
	return func(c *call) {
		x := c.in(0)
		axes, none := c.reducedAxes(x, keep)
		if none {
			c.set(x)
			return
		}
		if d := x.spec.DType; d != garner.I32 && d != garner.I64 {
			c.fail(garner.ErrDType, "%s of %s is not converted; that of i32 and i64 is", c.node.Op, d)
		}
		c.distinct(axes, c.needRank(x))
		if c.crosses(openVINO) && c.crosses(onnxRuntime) && x.spec.DType == garner.I32 && x.reads() {
			c.lossy("a product that leaves i32 is the greatest or the least i32 in ONNX Runtime, and wraps in OpenVINO")
		}
		c.set(c.reduceProd(x, slices.Clone(axes), c.attribute(keep, without) != 0))
	}
}

// The runtimes, as messages name them.
const (
	onnxRuntime = "ONNX Runtime"
	openVINO    = "OpenVINO"
	liteRT      = "LiteRT"
	tensorFlow  = "TensorFlow"
)
