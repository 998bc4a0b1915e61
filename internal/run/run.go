// Package run evaluates values of a model: gathers, through package operators,
// and the operators that exporters put around them, which operators.go lists. It
// is no graph executor. It has no kernels for other operators, no fusion and no
// memory planning. It refuses a model with a convolution by the convolution's
// name.
package run

import (
	"context"
	"errors"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/model"
)

// An Option changes how Values evaluates.
type Option func(*runner)

// A Gather is a gather that runs, as Amend sees it.
type Gather struct {
	Node  *model.Node
	Op    garner.Op
	DType garner.DType // of its data

	// OfShapes says that the gather is part of the arithmetic on shapes that exporters
	// write, and gathers no data: its data and indices depend on shapes and constants
	// alone, and constants are taken at constant indices.
	OfShapes bool

	// Guarded says that nodes before the indices make what is outside another number, or that the
	// gather itself is such a guard, so that no policy is applied to what was fed: ErrGuarded says so.
	Guarded bool
}

// Amend replaces the operator of every gather by the one that amend returns for it, but for the guards of a
// scatter's indices, which no policy of gathers is for.
func Amend(amend func(Gather) (garner.Op, error)) Option {
	return func(r *runner) { r.amend = amend }
}

// Beside counts bytes of memory that the caller already has, such as inputs that were
// read whole, among those that tensors take.
func Beside(bytes float64) Option {
	return func(r *runner) { r.used += bytes }
}

// Accept calls accept once for each wanted value, with its number and its dtype and
// shape, as soon as these are known: before any large tensor is made where the shape
// does not depend on the elements of one, and else before the result of a gather is
// made. An error ends Values.
//
// ends asks for that many elements at either end of the value instead of all; 0 asks
// for all. The tensor of such a value has rank 1 and those elements: first the first,
// then the last. Where a gather makes the value, and nothing else reads it, only they
// are gathered; all indices are looked at. ends is at most half of the elements.
func Accept(accept func(i int, spec garner.Spec) (ends int, err error)) Option {
	return func(r *runner) { r.accept = accept }
}

// Values evaluates the wanted values. The given tensors must have the types of
// their values; see Check. Constants in mapped files are read in place, and only
// the rows of a table that are gathered. A result may be a view of a given tensor
// or of a mapped constant, which is valid until the model is closed.
//
// memory is how many bytes the tensors that Values makes may take together. A
// tensor for which it does not suffice is an ErrShape, found before any large tensor
// is made where the sizes do not depend on elements of one. Errors are *model.Error
// at the node.
func Values(ctx context.Context, m *model.Model, wanted []*model.Value, given map[*model.Value]garner.Tensor, memory float64, options ...Option) ([]garner.Tensor, error) {
	aliases := aliasesOf(m, given)
	nodes, missing, err := needs(m, wanted, given, aliases)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, model.InFile(m.Path, garner.Errorf(nil, "%s is not given", missing[0]))
	}
	wanted = aliases.all(wanted)
	arrays := make(arrays)
	defer arrays.close()
	var held mapped.Holds
	defer held.Release()
	found := &findings{values: make(map[*model.Value]garner.Tensor), left: make(map[*model.Node]bool)}
	var shapes map[*model.Value]dependence
	accepted := newAcceptance(wanted)
	pass := func(survey *findings) ([]garner.Tensor, error) {
		r := &runner{model: m, nodes: nodes, given: given, memory: memory, survey: survey, found: found, arrays: arrays, held: &held, accepted: accepted, aliases: aliases,
			values: make(map[*model.Value]*value), uses: make(map[*model.Value]int), readers: make(map[*model.Value]*model.Node)}
		for _, o := range options {
			o(r)
		}
		if (r.amend != nil || m.Format == irFormat || m.Format == tensorflowFormat) && shapes == nil {
			shapes = dependences(m, nodes, given)
		}
		r.depends = shapes
		return r.evaluate(ctx, wanted)
	}
	results, err := pass(found)
	if err != errLeft {
		return results, err
	}
	nodes = found.rest(nodes, wanted, given)
	return pass(nil)
}

// A runner is one pass over the nodes.
type runner struct {
	model  *model.Model
	nodes  nodeSet // that are evaluated
	given  map[*model.Value]garner.Tensor
	amend  func(Gather) (garner.Op, error) // nil: gathers keep their operators
	accept func(int, garner.Spec) (int, error)
	memory float64   // bytes that tensors may take
	survey *findings // what the pass leaves to the run; nil in the run
	found  *findings // of the survey
	arrays arrays
	held   *mapped.Holds

	aliases  *aliasing                   // values that stand for others
	origins  map[*model.Value]origin     // as originOf found them
	depends  map[*model.Value]dependence // of the values of nodes, for amend, OpenVINO and TensorFlow; else nil
	accepted *acceptance                 // of both passes

	values  map[*model.Value]*value
	uses    map[*model.Value]int         // how many nodes and results still read each value
	readers map[*model.Value]*model.Node // one of the nodes that read each value

	changers map[*model.Node]*model.Node // a node that LeavesZeros, by its gather; nil: not looked for
	waits    map[*model.Node]*model.Node // what waits for each guard; nil: not looked for

	used    float64 // bytes that tensors take
	garbage float64 // bytes of tensors that are dropped and perhaps not collected

	// Of the node that is evaluated:
	fresh   []*allocation // what it made
	bare    bool          // its result is a stand-in
	refuses bool          // it may refuse elements that the survey does not have

	rehearses bool // the node is evaluated for its shape: a large tensor is a stand-in
}

// A heldTensor is a constant or a given tensor that a Keeper keeps: operators read its
// memory directly.
type heldTensor struct{ garner.Tensor }

func (t heldTensor) Hold() error  { return t.Keeper().Hold() }
func (t heldTensor) Release()     { t.Keeper().Release() }
func (t heldTensor) Check() error { return t.Guard(func(garner.Tensor) error { return nil }) }

// A value is a tensor, perhaps with a pending cast. OpenVINO's compressed models
// store a table in a narrow type and cast it before the gather. A pending cast
// lets the gather come first, so that only its rows are cast.
type value struct {
	tensor   garner.Tensor
	pending  garner.DType    // type that tensor is yet to be cast to; Invalid: to none
	cast     *model.Node     // node of the pending cast
	constant *model.Constant // whose elements in a file tensor views, all of them; nil: none
	apart    *model.Constant // whose elements are yet to be joined: tensor is a stand-in; nil: none
	views    []*allocation   // memory that tensor views
	bare     bool            // tensor is a stand-in
	unknown  bool            // there is no tensor: its shape is left to the run
	ends     bool            // tensor has the ends of the value alone
	wide     bool            // the pending cast is one that arithmetic leaves out; see wide.go
	rounded  bool            // a cast that arithmetic would leave out has rounded elements
}

// dtype returns the type after the pending cast.
func (v *value) dtype() garner.DType { return v.dtypeOf(v.tensor.DType()) }

// dtypeOf returns the type after the pending cast of a tensor of a dtype.
func (v *value) dtypeOf(dtype garner.DType) garner.DType {
	if v.pending != garner.Invalid {
		return v.pending
	}
	return dtype
}

// evaluate runs the nodes and returns the wanted values; errLeft from a survey that
// does not have their elements.
func (r *runner) evaluate(ctx context.Context, wanted []*model.Value) ([]garner.Tensor, error) {
	for _, v := range wanted {
		r.uses[v]++
	}
	for n, reads := range r.nodes {
		for _, v := range reads {
			r.uses[v]++
			r.readers[v] = n
		}
	}
	if r.survey == nil {
		for v, t := range r.found.values {
			r.values[v] = &value{tensor: t}
		}
	}
	for n := range r.model.Nodes() {
		if _, ok := r.nodes[n]; !ok {
			continue
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		// A mapped file may be cut short while an operator reads it.
		if err := mapped.Guard(func() error { return r.node(ctx, n) }); err != nil {
			if r.accepted.refused != nil {
				return nil, r.accepted.refused
			}
			if cause := context.Cause(ctx); cause != nil && errors.Is(err, cause) {
				return nil, err
			}
			if cut := r.held.Check(); cut != nil {
				err = cut
			}
			at, err := r.fed(ctx, n, err)
			return nil, model.InFile(r.model.Path, model.AtNode(at, err))
		}
	}
	results := make([]garner.Tensor, len(wanted))
	r.bare = false
	for i, v := range wanted {
		err := mapped.Guard(func() (err error) {
			have, err := r.unjoined(v)
			if err == nil && !have.unknown {
				err = r.shaped(v, have.dtype(), have.tensor.Shape())
			}
			if n := r.accepted.ends[i]; err == nil && n > 0 && !have.ends && !have.bare && !have.unknown {
				// Something else made the value; a pending cast may refuse any element.
				if to := have.pending; to != garner.Invalid && !r.castRefuses(have.tensor.DType(), to) {
					if results[i], err = endsOf(have.tensor, n); err == nil {
						results[i], err = r.cast(results[i], to)
					}
					return err
				}
				if results[i], err = r.tensor(v); err == nil {
					results[i], err = endsOf(results[i], n)
				}
				return err
			}
			if err == nil {
				results[i], err = r.tensor(v)
			}
			return err
		})
		if err == errLeft {
			r.bare = true
		} else if r.accepted.refused != nil {
			return nil, r.accepted.refused
		} else if err != nil {
			return nil, model.InFile(r.model.Path, err)
		}
	}
	if r.bare || r.survey != nil && len(r.survey.left) > 0 {
		return nil, errLeft
	}
	if err := r.held.Check(); err != nil {
		return nil, model.InFile(r.model.Path, err)
	}
	return results, nil
}

// lazy returns a value, a pending cast not done.
func (r *runner) lazy(v *model.Value) (*value, error) {
	have, err := r.unjoined(v)
	if err == nil && have.apart != nil {
		err = r.decode(have, have.apart)
	}
	return have, err
}

// unjoined is lazy for what reads the elements of a constant where they lie apart.
func (r *runner) unjoined(v *model.Value) (*value, error) {
	v = r.aliases.of(v)
	if have, ok := r.values[v]; ok {
		return have, nil
	}
	have := &value{}
	if t, ok := r.given[v]; ok {
		have.tensor = t
	} else if c := v.Constant; c == nil {
		return nil, garner.Errorf(nil, "%s is not there", v)
	} else if err := r.read(have, c); err != nil {
		return nil, err
	}
	if have.tensor.Keeper() != nil {
		if err := r.held.Add(heldTensor{have.tensor}); err != nil {
			return nil, err
		}
	}
	r.values[v] = have
	return have, nil
}

// read gives a value the elements of a constant, but for those that lie apart.
func (r *runner) read(have *value, c *model.Constant) (err error) {
	switch {
	case readInPlace(c):
		shape, _ := c.Spec.Shape()
		have.apart = c
		have.tensor, err = standIn(c.Spec.DType, shape)
	case c.Encoded:
		err = r.decode(have, c)
	default:
		if have.tensor, err = c.Tensor(); c.File != "" {
			have.constant = c
		}
	}
	return err
}

// decode gives a value the elements of an encoded constant in memory.
func (r *runner) decode(have *value, c *model.Constant) (err error) {
	shape, _ := c.Spec.Shape()
	if err := r.fits(c.Spec.DType, shape); err != nil {
		return err
	}
	if have.tensor, err = c.Tensor(); err != nil {
		return err
	}
	decoded := &allocation{tensor: have.tensor, size: Memory(c.Spec), values: 1}
	have.apart, have.views = nil, []*allocation{decoded}
	r.used += decoded.size
	return nil
}

// tensor returns a value, a pending cast done.
func (r *runner) tensor(v *model.Value) (garner.Tensor, error) {
	have, err := r.lazy(v)
	if err != nil {
		return garner.Tensor{}, err
	}
	if have.unknown {
		return garner.Tensor{}, errLeft
	}
	if have.pending != garner.Invalid {
		fresh, bare, rehearses := r.fresh, r.bare, r.rehearses
		r.fresh, r.bare, r.rehearses = nil, have.bare, false
		t, err := r.cast(have.tensor, have.pending)
		if err == nil {
			err = r.checkConvert(have.cast, have.tensor, have.pending)
		}
		if err != nil {
			return garner.Tensor{}, model.AtNode(have.cast, err)
		}
		before := *have
		exact := true
		if have.wide {
			if exact, err = r.same(t, have.tensor); err != nil {
				return garner.Tensor{}, model.AtNode(have.cast, err)
			}
		}
		*have = value{tensor: t, bare: r.bare, ends: before.ends, rounded: !exact}
		r.settle(nil, have)
		r.forget(&before)
		r.fresh, r.bare, r.rehearses = fresh, bare, rehearses
	}
	r.bare = r.bare || have.bare
	return have.tensor, nil
}

// node evaluates a node and drops the values that no later node reads.
func (r *runner) node(ctx context.Context, n *model.Node) error {
	if !slices.ContainsFunc(n.Outputs, func(v *model.Value) bool { return v != nil }) {
		return nil
	}
	r.fresh, r.bare, r.refuses = r.fresh[:0], false, false
	made := make([]*value, len(n.Outputs))
	for i := range made {
		made[i] = &value{}
	}
	var err error
	switch {
	case slices.ContainsFunc(r.nodes[n], func(v *model.Value) bool { return r.values[v] != nil && r.values[v].unknown }):
		err = errLeft
	case n.IsGather():
		made = made[:1]
		*made[0], err = r.gather(ctx, n)
	default:
		if r.survey == nil && slices.ContainsFunc(n.Outputs, r.asks) {
			if err := r.rehearse(n); err != nil {
				return err
			}
		}
		var ends bool
		if *made[0], ends, err = r.endsOfNode(n); ends {
			break
		}
		c := &call{runner: r, node: n}
		var tensors []garner.Tensor
		if tensors, err = c.evaluate(); err != nil {
			break
		}
		for i, t := range tensors {
			made[i].tensor = t
			if c.pending != garner.Invalid {
				made[i].pending, made[i].cast, made[i].wide = c.pending, n, c.wide
			}
			made[i].rounded = c.rounded && isNarrow(made[i].dtype())
		}
		if len(r.fresh) == 0 && len(made) == 1 {
			made[0].constant = r.constantOf(n, made[0].tensor)
		}
	}
	for _, v := range made {
		v.bare = r.bare
	}
	if r.survey != nil {
		err = r.note(n, made, err)
	}
	if err == nil && r.survey == nil {
		for i, v := range made {
			if out := n.Outputs[i]; err == nil && out != nil && !v.ends {
				err = r.shaped(out, v.dtype(), v.tensor.Shape())
			}
		}
	}
	if err != nil {
		return err
	}
	var first *value
	if reads := r.nodes[n]; len(reads) > 0 {
		first = r.values[reads[0]]
	}
	r.settle(first, made...)
	for i, v := range made {
		if out := n.Outputs[i]; out != nil && r.uses[out] > 0 {
			r.values[out] = v
		} else {
			r.forget(v)
		}
	}
	for _, v := range r.nodes[n] {
		if r.uses[v]--; r.uses[v] == 0 && r.values[v] != nil {
			r.forget(r.values[v])
			delete(r.values, v)
		}
	}
	return nil
}

// rehearse evaluates a node of which a result is wanted for the result's shape, and asks
// whether that is accepted before the result is made. The survey did not have it.
func (r *runner) rehearse(n *model.Node) error {
	r.rehearses = true
	c := &call{runner: r, node: n}
	made, err := c.evaluate()
	r.rehearses = false
	r.settle(nil)
	r.bare = false
	if err != nil {
		return nil // the run finds it again
	}
	for i, t := range made {
		v := value{tensor: t, pending: c.pending}
		if out := n.Outputs[i]; out != nil {
			if err := r.shaped(out, v.dtype(), t.Shape()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Check refuses a tensor whose dtype (ErrDType) or shape (ErrShape) contradicts
// the type that the model gives a value. Where the model leaves them open, it
// accepts any.
func Check(v *model.Value, t garner.Tensor) error {
	class, spec := garner.ErrDType, v.Spec
	ok := spec.DType == garner.Invalid || spec.DType == t.DType()
	if ok {
		class = garner.ErrShape
		ok = spec.Rank.Min <= t.Rank() && t.Rank() <= spec.Rank.Max
		for i, d := range spec.Dims {
			ok = ok && d.Min <= t.Shape()[i] && t.Shape()[i] <= d.Max
		}
	}
	if ok {
		return nil
	}
	return garner.Errorf(class, "%.200q is %s%s; the model wants %s", v.Name, t.DType(), t.Shape(), v.Type())
}
