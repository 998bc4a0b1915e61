package run

import (
	"context"
	"fmt"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/convert"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
	"github.com/garner-go/garner/source"
)

// inFile is the size in bytes from which on the rows of a constant are read by
// package source. Below it, page faults on the mapped file take at most 20 ms.
const inFile = 1 << 20

// unbudgeted is the memory in bytes that lets a gather from a file do without a budget
// of its own. Package source then takes up to 96 MiB beside the indices.
const unbudgeted = 256 << 20

// readInPlace reports whether a constant is a large one with its elements in several places of files: a gather
// reads rows there, and whatever else reads it joins all.
func readInPlace(c *model.Constant) bool {
	size, _ := c.Bytes()
	return c.Encoded && size >= inFile && c.Spec.DType.Bits()%8 == 0 && (c.File != "" || len(c.Tiles) > 0)
}

// arrays are the constants that gathers have opened, by their shape and strides.
type arrays map[arrayKey]model.Array

type arrayKey struct {
	constant *model.Constant
	form     string
}

// open opens a constant as an array of the shape and strides of t.
func (a arrays) open(c *model.Constant, t garner.Tensor) (model.Array, error) {
	spec := garner.SpecOf(t.DType(), t.Shape()...)
	if !t.Contiguous() {
		spec.Strides = t.Strides()
	}
	return a.once(arrayKey{c, fmt.Sprint(t.Shape(), spec.Strides)}, func() (model.Array, error) { return c.OpenAs(spec) })
}

// once opens an array that is not open yet.
func (a arrays) once(key arrayKey, open func() (model.Array, error)) (model.Array, error) {
	if have := a[key]; have != nil {
		return have, nil
	}
	file, err := open()
	if err == nil {
		a[key] = file
	}
	return file, err
}

func (a arrays) close() {
	for _, file := range a {
		file.Close() // it was only read
	}
}

// constantOf returns the constant that the result of a node still views as a whole,
// with another shape or order of dims: that of its input.
func (r *runner) constantOf(n *model.Node, made garner.Tensor) *model.Constant {
	effect, inputs := operators.EffectOf(n)
	if effect == operators.Opaque || effect > operators.Permuted || len(inputs) != 1 {
		return nil
	}
	from := r.values[inputs[0]]
	if from == nil || from.constant == nil || from.tensor.Len() != made.Len() {
		return nil
	}
	return from.constant
}

// A gathering is a gather with the tensors that it takes.
type gathering struct {
	op      garner.Op
	data    *value
	indices garner.Tensor
	further []garner.Tensor // the operands of the call behind the indices; the zero Tensor is one that is not given
	known   bool            // the survey has the elements of the indices
	vague   bool            // a further operand is a stand-in
	decode  *model.Node     // the DEQUANTIZE that makes the table of data, which are codes; nil where data are the table

	// computes says that the operator computes with the elements of data, so that a pending
	// cast precedes it.
	computes bool
}

// specs returns the specs of the further operands.
func (g *gathering) specs() []garner.Spec {
	list := make([]garner.Spec, len(g.further))
	for i, t := range g.further {
		list[i] = t.Spec()
	}
	return list
}

// prepare lowers the gather for the tensors that it takes. It leaves to the run a gather whose
// shape follows from elements that the survey does not have, such as the last segment.
func (g *gathering) prepare() (*garner.Prepared, error) {
	data := g.data.tensor.Spec()
	if g.data.apart != nil {
		data = g.data.apart.Spec
	}
	if g.computes {
		data.DType = g.data.dtype()
	}
	further := garner.FurtherTensors(g.further...)
	if g.vague {
		further = garner.Further(g.specs()...)
	}
	p, err := garner.Prepare(g.op, data, g.indices.Spec(), further)
	if err == nil && p.Plan() == nil {
		err = errLeft
	}
	return p, err
}

// operands evaluates what a gather takes.
func (r *runner) operands(n *model.Node) (*gathering, error) {
	call, err := callOf(n, r.given)
	if err != nil {
		return nil, err
	}
	if v, codes := operators.Misread(n); v != nil {
		return nil, mismatch("a scale or a zero point of its table is %s and its codes are %s, of which OpenVINO decodes another table than its nodes compute; write one that broadcasts to the codes", v.Spec, codes.Spec)
	}
	g := &gathering{decode: dequantised(n, r.given)}
	data := call.Inputs[0]
	if g.decode != nil {
		data = g.decode.Inputs[0]
	}
	if g.data, err = r.unjoined(data); err != nil {
		return nil, err
	}
	if g.indices, err = r.tensor(call.Inputs[1]); err != nil {
		return nil, err
	}
	g.known = !r.bare
	inputs := make([]operators.Input, len(call.Inputs)-2)
	for i, v := range call.Inputs[2:] {
		if v == nil {
			continue
		}
		t, err := r.tensor(v)
		if err != nil {
			return nil, err
		}
		if r.values[v].bare && call.Operator.Binds(i) {
			return nil, errLeft
		}
		g.vague = g.vague || r.values[v].bare
		inputs[i] = operators.Input{Spec: t.Spec(), Value: t}
	}
	for _, in := range call.Operands(inputs) {
		g.further = append(g.further, in.Value)
	}
	if g.op, err = call.Bind(inputs...); err != nil {
		return nil, err
	}
	g.computes = !garner.Copies(g.op)
	if !g.computes && g.data.wide && r.model.Format == "ONNX" {
		_, err = r.tensor(call.Inputs[0]) // see wide.go
	}
	if g.computes && g.data.apart == nil && (g.data.wide || !r.converts(g)) {
		// An operator that computes with data takes it as the model has it.
		if g.data.wide && g.data.bare {
			r.mayRefuse()
		}
		if _, err = r.tensor(call.Inputs[0]); err == nil && g.data.rounded {
			err = garner.Errorf(garner.ErrDType, "%s of %s is not run behind arithmetic that rounds to %s: the runtimes keep f32 between the two", n.Op, g.data.dtype(), g.data.dtype())
		}
	}
	return g, err
}

// converts reports whether the rows of data are cast as the gather reads them, and not
// the whole of it before: where source.Convert does what the cast does, the whole is
// large, and the budget of package source has room for the operands that it holds.
func (r *runner) converts(g *gathering) bool {
	from, to, shape := g.data.tensor.DType(), g.data.pending, g.data.tensor.Shape()
	if _, ok := convert.Between(from, to); !ok || from == garner.F64 && to != garner.F32 || r.castRefuses(from, to) { // see castFloats
		return false
	}
	large := Memory(garner.SpecOf(to, shape...)) >= inFile
	return large && (g.held() <= r.budget()/4 || !r.suffices(to, shape))
}

// held returns the bytes of the operands beside data.
func (g *gathering) held() float64 {
	size := Memory(g.indices.Spec())
	for _, t := range g.further {
		if t.DType().Valid() {
			size += Memory(t.Spec())
		}
	}
	return size
}

// budget returns the bytes that a run of package source may hold.
func (r *runner) budget() float64 { return max(r.memory-r.used, 1<<20) }

// gather evaluates a gather.
func (r *runner) gather(ctx context.Context, n *model.Node) (value, error) {
	g, err := r.operands(n)
	if err != nil {
		return value{}, err
	}
	data := g.data
	if r.amend != nil {
		dtype := data.dtype()
		if g.computes {
			p, err := g.prepare()
			if err != nil {
				return value{}, err
			}
			dtype = p.Plan().DType // of the elements that are decoded
		}
		if g.decode != nil {
			dtype = garner.F32
		}
		if guard := r.guardAt(ctx, n); !guard.ofScatter() {
			if g.op, err = r.amend(Gather{n, g.op, dtype, r.ofShapes(n), guard != nil}); err != nil {
				return value{}, err
			}
		}
	}
	var made value
	if g.decode != nil {
		plan, err := garner.NewPlan(g.op, data.tensor.Spec(), g.indices.Spec())
		if err == nil && (plan.Outside == garner.Zero || plan.Outside == garner.Fill) {
			err = r.decodeWhole(g)
			data = g.data
		}
		if err != nil {
			return value{}, err
		}
	}
	if !g.computes && g.decode == nil {
		first, err := castsFirst(g.op, data, g.indices)
		if err != nil {
			return value{}, err
		}
		if first {
			if _, err := r.tensor(r.nodes[n][0]); err != nil {
				return value{}, err
			}
		}
		made.pending, made.cast, made.wide, made.rounded = data.pending, data.cast, data.wide, data.rounded
	}
	r.bare = r.bare || data.bare
	prepared, err := g.prepare()
	if err != nil {
		return value{}, err
	}
	plan := prepared.Plan()
	dtype := plan.DType
	if g.decode != nil {
		dtype = garner.F32
	}
	looked := false
	if g.known && plan.Bag == nil && (r.survey != nil || r.found.left[n]) && r.looksFirst(n, plan, g.indices) {
		if err := r.look(ctx, n, plan, g.indices); err != nil {
			return value{}, err
		}
		looked = true
	}
	if plan.Outside == garner.Zero {
		if err := r.checkZeros(n, g, func(p *garner.Plan) error { return r.look(ctx, n, p, g.indices) }); err != nil {
			return value{}, err
		}
	}
	if r.survey == nil || !r.suffices(dtype, plan.Out) { // the ends may be all that is made
		if err := r.shaped(n.Outputs[0], made.dtypeOf(dtype), plan.Out); err != nil {
			return value{}, err
		}
	}
	if ends := r.endsWanted(n.Outputs[0], made.dtypeOf(dtype)); ends > 0 && g.inParts(plan) && !r.asTensorFlow(plan) && !r.narrows(plan) {
		if r.survey != nil {
			r.bare = true
			if !looked {
				r.mayRefuse()
			}
			made.tensor, err = standIn(plan.DType, plan.Out)
			return made, err
		}
		made.ends = true
		made.tensor, err = r.gatherEnds(ctx, g, plan, ends)
		return made, err
	}
	if plan.Bag != nil { // one row may be the sum of all
		r.leave(Memory(g.indices.Spec()))
	}
	if made.tensor, err = r.new(dtype, plan.Out); err != nil {
		return value{}, err
	}
	if r.bare {
		if !looked {
			r.mayRefuse()
		}
		return made, nil
	}
	if g.decode != nil {
		return made, r.decodeRows(ctx, g, prepared, made.tensor)
	}
	err = r.move(ctx, g, prepared, made.tensor)
	switch {
	case err != nil:
	case r.narrows(plan):
		err = r.narrowBags(ctx, n, g, plan, made.tensor)
	case r.asTensorFlow(plan):
		err = r.bags(ctx, n, g, plan, made.tensor)
	}
	return made, err
}

// move runs a gather into its result.
func (r *runner) move(ctx context.Context, g *gathering, prepared *garner.Prepared, out garner.Tensor) error {
	needsMemory := prepared.Plan().Bag != nil && g.held() > r.budget()/4
	if g.data.apart != nil && needsMemory {
		if err := r.decode(g.data, g.data.apart); err != nil {
			return err
		}
	}
	if data := g.data.tensor; g.data.apart == nil && (prepared.Plan().Stored != nil || g.casts()) && !data.Contiguous() { // a run would make a copy that is not counted
		dense, err := r.clone(data)
		if err != nil || r.bare {
			return err
		}
		g.data = &value{tensor: dense, pending: g.data.pending}
		if prepared, err = g.prepare(); err != nil {
			return err
		}
	}
	c := g.data.constant
	if !g.casts() && g.data.apart == nil && (c == nil || c.Size < inFile || needsMemory) {
		return prepared.Run(ctx, g.data.tensor, g.indices, out, g.further...)
	}
	array, err := r.array(g)
	if err != nil {
		return err
	}
	indices := g.indices
	if !indices.Contiguous() { // package source would make a copy that is not counted
		if indices, err = r.clone(indices); err != nil {
			return err
		}
	}
	o := source.Options{Further: g.arrays()}
	if r.memory-r.used < unbudgeted {
		o.Memory = int64(r.budget())
	}
	return source.GatherInto(ctx, g.op, array, source.Memory(indices), out, o)
}

// casts reports whether the rows of data are cast as the gather reads them; see converts.
func (g *gathering) casts() bool { return g.computes && g.data.pending != garner.Invalid }

// array returns the data of a gather: in its file, or in memory.
func (r *runner) array(g *gathering) (source.Array, error) {
	if c := g.data.apart; c != nil {
		return r.arrays.once(arrayKey{constant: c}, c.Open)
	}
	array := source.Memory(g.data.tensor)
	if c := g.data.constant; c != nil && c.Size >= inFile {
		file, err := r.arrays.open(c, g.data.tensor)
		if err != nil {
			return nil, err
		}
		array = file
	}
	if g.casts() {
		return source.Convert(array, g.data.pending)
	}
	return array, nil
}

// arrays returns the further operands.
func (g *gathering) arrays() []source.Array {
	var list []source.Array
	for _, t := range g.further {
		var a source.Array // nil: not given
		if t.DType().Valid() {
			a = source.Memory(t)
		}
		list = append(list, a)
	}
	return list
}

// inParts reports whether Part gathers a part of a result and copies no operand.
func (g *gathering) inParts(plan *garner.Plan) bool {
	switch {
	case plan.DType == garner.String, g.decode != nil:
		return false
	case (plan.Stored != nil || g.casts()) && !g.data.tensor.Contiguous():
		return false
	}
	return plan.Bag == nil || 4*g.held() <= partMemory
}

// gatherEnds looks at all indices and gathers the ends of a result.
func (r *runner) gatherEnds(ctx context.Context, g *gathering, plan *garner.Plan, n int) (garner.Tensor, error) {
	if err := plan.Check(ctx, g.indices, g.further...); err != nil {
		return garner.Tensor{}, err
	}
	array, err := r.array(g)
	if err != nil {
		return garner.Tensor{}, err
	}
	total, _ := plan.Out.Len()
	made, err := garner.New(plan.DType, 2*n)
	if err != nil {
		return garner.Tensor{}, err
	}
	for i, first := range []int{0, total - n} {
		part, err := Part(ctx, g.op, array, source.Memory(g.indices), plan.DType, first, n, g.arrays()...)
		if err != nil {
			return garner.Tensor{}, err
		}
		to, err := made.Slice(0, i*n, (i+1)*n, 1)
		if err == nil {
			err = garner.Copy(to, part)
		}
		if err != nil {
			return garner.Tensor{}, err
		}
	}
	return made, nil
}

// inParts is the size in bytes of a constant above which a look at its elements reads
// so many at a time, so that a mapped file does not fill the memory.
const inParts = 64 << 20

// look returns the error of the first index that the plan refuses.
func (r *runner) look(ctx context.Context, n *model.Node, plan *garner.Plan, indices garner.Tensor) error {
	array, budget := source.Memory(indices), int64(0)
	if c := r.values[r.nodes[n][1]].constant; c != nil && c.Size > inParts {
		file, err := r.arrays.open(c, indices)
		if err != nil {
			return err
		}
		array, budget = file, inParts
	}
	resolver, err := source.NewResolver(plan, array, budget)
	if err != nil {
		return err
	}
	found, err := resolver.Survey(ctx)
	if err == nil && found.First != nil {
		err = found.First
	}
	return err
}

// castsFirst reports whether the pending cast of data must be done before the
// gather: where an index outside gives a zero or a fill that the stored type does
// not have.
func castsFirst(op garner.Op, data *value, indices garner.Tensor) (bool, error) {
	if data.pending == garner.Invalid {
		return false, nil
	}
	if !data.tensor.DType().HasZero() {
		return true, nil
	}
	plan, err := garner.NewPlan(op, garner.SpecOf(data.pending, data.tensor.Shape()...), indices.Spec())
	return err == nil && plan.Outside == garner.Fill, err
}

// looksFirst reports whether a gather looks at all indices before memory is asked
// for the result. To look at an index takes some 25 ns, about as long as to move a
// row of 256 bytes: where rows are longer, looking costs little beside the gather.
// Where memory does not suffice, an index outside is the better error if it is found
// within 25 ms; so it is where the result may not be accepted.
func (r *runner) looksFirst(node *model.Node, plan *garner.Plan, indices garner.Tensor) bool {
	n := float64(indices.Len())
	if !r.suffices(plan.DType, plan.Out) || r.asks(node.Outputs[0]) {
		return n <= 1<<20
	}
	size := Memory(garner.SpecOf(plan.DType, plan.Out...))
	return size > surveyed && 256*n <= size
}
