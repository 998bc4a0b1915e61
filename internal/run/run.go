// Package run evaluates values of a model: gathers, through package operators,
// and the operators that exporters put around them, which operators.go lists. It
// is no graph executor. It has no kernels for other operators, no fusion and no
// memory planning. It refuses a model with a convolution by the convolution's
// name.
package run

import (
	"context"
	"errors"
	"runtime"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// Values evaluates the wanted values. The given tensors must have the types of
// their values; see Check. Constants in mapped files are read in place, and only
// the rows of a table that are gathered. A result may be a view of a given tensor
// or of a mapped constant, which is valid until the model is closed.
//
// memory is how many bytes the tensors may take together. A tensor for which it
// does not suffice is an ErrShape. Errors are *model.Error at the node.
func Values(ctx context.Context, m *model.Model, wanted []*model.Value, given map[*model.Value]garner.Tensor, memory float64) ([]garner.Tensor, error) {
	nodes, missing, err := needs(m, wanted, given)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, model.InFile(m.Path, garner.Errorf(nil, "%s is not given", missing[0]))
	}
	r := &runner{model: m, given: given, values: make(map[*model.Value]*value), uses: make(map[*model.Value]int), memory: memory}
	defer r.release()
	for _, v := range wanted {
		r.uses[v]++
	}
	for n := range nodes {
		for _, v := range n.Inputs {
			r.uses[v]++
		}
	}
	for n := range m.Nodes() {
		if !nodes[n] {
			continue
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		// A mapped file may be cut short while an operator reads it.
		if err := mapped.Guard(func() error { return r.node(ctx, n) }); err != nil {
			if cause := context.Cause(ctx); cause != nil && errors.Is(err, cause) {
				return nil, err
			}
			if cut := r.cut(); cut != nil {
				err = cut
			}
			return nil, model.InFile(m.Path, model.AtNode(n, err))
		}
	}
	results := make([]garner.Tensor, len(wanted))
	for i, v := range wanted {
		if err := mapped.Guard(func() (err error) {
			results[i], err = r.tensor(v)
			return err
		}); err != nil {
			return nil, model.InFile(m.Path, err)
		}
	}
	if err := r.cut(); err != nil {
		return nil, model.InFile(m.Path, err)
	}
	return results, nil
}

// A runner is one evaluation.
type runner struct {
	model  *model.Model
	given  map[*model.Value]garner.Tensor
	values map[*model.Value]*value
	uses   map[*model.Value]int // how many nodes and results still read each value
	memory float64              // bytes that tensors may take
	used   float64              // bytes that tensors take, at most
	held   []garner.Tensor      // constants and given tensors that a Keeper keeps; operators read their memory directly
}

// release ends the holds of the run.
func (r *runner) release() {
	for _, t := range r.held {
		t.Keeper().Release()
	}
}

// cut is the error of the first held tensor whose file was cut short: its elements
// may have read as zeros.
func (r *runner) cut() error {
	for _, t := range r.held {
		if b, err := t.Bytes(); err == nil {
			if err := t.Keeper().Check(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// A value is a tensor, perhaps with a pending cast. OpenVINO's compressed models
// store a table in a narrow type and cast it before the gather. A pending cast
// lets the gather come first, so that only its rows are cast.
type value struct {
	tensor  garner.Tensor
	pending garner.DType // type that tensor is yet to be cast to; Invalid: to none
	cast    *model.Node  // node of the pending cast
}

// lazy returns a value, a pending cast not done.
func (r *runner) lazy(v *model.Value) (*value, error) {
	if have, ok := r.values[v]; ok {
		return have, nil
	}
	t, ok := r.given[v]
	if !ok {
		if v.Constant == nil {
			return nil, garner.Errorf(nil, "%s is not there", v)
		}
		var err error
		if t, err = v.Constant.Tensor(); err != nil {
			return nil, err
		}
	}
	if k := t.Keeper(); k != nil {
		if err := k.Hold(); err != nil {
			return nil, err
		}
		r.held = append(r.held, t)
	}
	have := &value{tensor: t}
	r.values[v] = have
	return have, nil
}

// tensor returns a value, a pending cast done.
func (r *runner) tensor(v *model.Value) (garner.Tensor, error) {
	have, err := r.lazy(v)
	if err != nil {
		return garner.Tensor{}, err
	}
	if have.pending == garner.Invalid {
		return have.tensor, nil
	}
	t, err := r.cast(have.tensor, have.pending)
	if err != nil {
		return garner.Tensor{}, model.AtNode(have.cast, err)
	}
	*have = value{tensor: t}
	return t, nil
}

// node evaluates a node and drops the values that no later node reads.
func (r *runner) node(ctx context.Context, n *model.Node) error {
	if len(n.Outputs) == 0 || n.Outputs[0] == nil {
		return nil
	}
	made := &value{}
	var err error
	if n.IsGather() {
		*made, err = r.gather(ctx, n)
	} else {
		c := &call{runner: r, node: n}
		made.tensor, err = evaluatorOf(r.model, n)(c)
		if c.pending != garner.Invalid {
			made.pending, made.cast = c.pending, n
		}
	}
	if err != nil {
		return err
	}
	r.values[n.Outputs[0]] = made
	for _, v := range n.Inputs {
		if r.uses[v]--; r.uses[v] == 0 {
			delete(r.values, v)
		}
	}
	return nil
}

// gather evaluates a gather.
func (r *runner) gather(ctx context.Context, n *model.Node) (value, error) {
	operator, err := operators.Find(n.Operator, 0)
	if err != nil {
		return value{}, err
	}
	if len(n.Inputs) < 2 || n.Inputs[0] == nil || n.Inputs[1] == nil {
		return value{}, garner.Errorf(garner.ErrAttribute, "%s takes data and indices; it has %d inputs", operator.Name, len(n.Inputs))
	}
	data, err := r.lazy(n.Inputs[0])
	if err != nil {
		return value{}, err
	}
	made := value{pending: data.pending, cast: data.cast}
	from := data.tensor
	if data.pending != garner.Invalid && !from.DType().HasZero() {
		// The stored type has no zero for an index outside; the type of the
		// pending cast may have one.
		if from, err = r.tensor(n.Inputs[0]); err != nil {
			return value{}, err
		}
		made = value{}
	}
	indices, err := r.tensor(n.Inputs[1])
	if err != nil {
		return value{}, err
	}
	var inputs []operators.Input
	for _, v := range n.Inputs[2:] {
		if v == nil {
			return value{}, garner.Errorf(garner.ErrAttribute, "%s takes no empty input", operator.Name)
		}
		t, err := r.tensor(v)
		if err != nil {
			return value{}, err
		}
		inputs = append(inputs, operators.Input{Spec: t.Spec(), Value: t})
	}
	op, err := operator.Bind(n.Attributes, inputs...)
	if err != nil {
		return value{}, err
	}
	prepared, err := garner.Prepare(op, from.Spec(), indices.Spec())
	if err != nil {
		return value{}, err
	}
	plan := prepared.Plan()
	if made.tensor, err = r.new(plan.DType, plan.Out); err != nil {
		return value{}, err
	}
	return made, prepared.Run(ctx, from, indices, made.tensor)
}

// fits refuses a tensor for which memory does not suffice. Allocating it would
// end the process.
func (r *runner) fits(dtype garner.DType, shape garner.Shape) error {
	_, ok := shape.Len()
	size := Memory(garner.SpecOf(dtype, shape...))
	if ok && r.used+size > r.memory {
		// Tensors that were counted may be garbage by now.
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		r.used = float64(stats.HeapAlloc)
	}
	if !ok || r.used+size > r.memory {
		const gib = 1 << 30
		return garner.Errorf(garner.ErrShape, "a tensor %s%s takes %.4g GiB, beside %.4g GiB that are in use, and there are %.4g GiB; give less at a time",
			dtype, shape, size/gib, r.used/gib, r.memory/gib)
	}
	r.used += size
	return nil
}

// Memory returns how many bytes a tensor takes in memory, 16 for each string
// without its text. All dims of spec are known. Beyond int64 the number is rounded.
func Memory(spec garner.Spec) float64 {
	if spec.DType == garner.String {
		spec.DType = garner.Complex128 // as wide as the header of a string
	}
	if n, ok := spec.Bytes(); ok {
		return float64(n)
	}
	size := float64(spec.DType.Bits()) / 8
	for _, d := range spec.Dims {
		size *= float64(d.Min)
	}
	return size
}

// new returns a tensor of zeros.
func (r *runner) new(dtype garner.DType, shape garner.Shape) (garner.Tensor, error) {
	if err := r.fits(dtype, shape); err != nil {
		return garner.Tensor{}, err
	}
	return garner.New(dtype, shape...)
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
