// Package run evaluates values of a model: its gathers, by package operators,
// and the few operators that exporters put around them, see glue.go. It
// is no graph executor: there are no kernels for anything else, no fusion and no
// plan of memory, and a model with a convolution in it is refused by the
// convolution's name.
package run

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// An Unsupported is a node that a wanted value needs and that is not run.
type Unsupported struct {
	Node    *model.Node
	Others  int      // how many more such nodes are needed
	Results []string // the model's results that need no such node
	Gathers []string // the gathers that need none, where fewer results than gathers say so
}

func (e *Unsupported) Error() string {
	var b strings.Builder
	op := e.Node.Op
	if e.Node.Domain != "" {
		op = e.Node.Domain + "." + op
	}
	fmt.Fprintf(&b, "garner: garner does not run %.100s", op)
	if e.Others > 0 {
		fmt.Fprintf(&b, ", nor %d more of the nodes that are needed", e.Others)
	}
	b.WriteString("; it runs gathers and what stands around their indices. ")
	switch {
	case len(e.Results) > 0 && len(e.Gathers) > 0:
		fmt.Fprintf(&b, "These results run: %s; and these gathers: %s", some(e.Results), some(e.Gathers))
	case len(e.Results) > 0:
		fmt.Fprintf(&b, "These results run: %s", some(e.Results))
	case len(e.Gathers) > 0:
		fmt.Fprintf(&b, "No result runs, but these gathers do: %s", some(e.Gathers))
	default:
		b.WriteString("No result runs without it, and no gather")
	}
	return b.String()
}

// some are the first names of a list.
func some(names []string) string {
	const most = 8
	var b strings.Builder
	for i, name := range names[:min(len(names), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%.100q", name)
	}
	if more := len(names) - most; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String()
}

// Runs reports whether a node of the model is one that is run.
func Runs(m *model.Model, n *model.Node) bool { return n.IsGather() || glueOf(m, n) != nil }

// Needs are the graph's inputs, and what else nothing makes, that the wanted
// values need beside those that are given, in the order in which they are met.
// An input that has a value of its own is none of them. Where a node is needed
// that is not run, the error is a *model.Error at it, of an *Unsupported.
func Needs(m *model.Model, wanted []*model.Value, given map[*model.Value]garner.Tensor) ([]*model.Value, error) {
	_, missing, err := needs(m, wanted, given)
	return missing, err
}

// needs also says which nodes must run.
func needs(m *model.Model, wanted []*model.Value, given map[*model.Value]garner.Tensor) (map[*model.Node]bool, []*model.Value, error) {
	nodes := make(map[*model.Node]bool)
	seen := make(map[*model.Value]bool)
	var missing []*model.Value
	// A list of what is left to look at: a chain of a million nodes is no reason
	// for a million calls.
	var left []*model.Value
	push := func(values []*model.Value) {
		for i := len(values) - 1; i >= 0; i-- {
			if v := values[i]; v != nil && !seen[v] {
				left = append(left, v)
			}
		}
	}
	for push(wanted); len(left) > 0; {
		v := left[len(left)-1]
		left = left[:len(left)-1]
		if seen[v] {
			continue
		}
		seen[v] = true
		if _, ok := given[v]; ok || v.Constant != nil {
			continue
		}
		if v.From == nil {
			missing = append(missing, v)
			continue
		}
		if !nodes[v.From] {
			nodes[v.From] = true
			push(v.From.Inputs)
		}
	}
	// The first in the order of the model, whatever the order of the search.
	var bad *Unsupported
	for n := range m.Nodes() {
		if !nodes[n] || Runs(m, n) {
			continue
		}
		if bad == nil {
			bad = &Unsupported{Node: n}
		} else {
			bad.Others++
		}
	}
	if bad == nil {
		return nodes, missing, nil
	}
	bad.Results, bad.Gathers = runnable(m, given)
	return nil, nil, model.InFile(m.Path, model.AtNode(bad.Node, bad))
}

// runnable are the results and the gathers that need no node that is not run.
func runnable(m *model.Model, given map[*model.Value]garner.Tensor) (results, gathers []string) {
	stuck := make(map[*model.Value]bool)
	for n := range m.Nodes() {
		stops := !Runs(m, n)
		for _, v := range n.Inputs {
			stops = stops || v != nil && stuck[v]
		}
		for _, v := range n.Outputs {
			if _, ok := given[v]; !ok && stops && v != nil {
				stuck[v] = true
			}
		}
		if n.IsGather() && !stops {
			gathers = append(gathers, n.Name)
		}
	}
	for _, r := range m.Graph.Outputs {
		if !stuck[r.Value] {
			results = append(results, r.Name)
		}
	}
	return results, gathers
}

// Values evaluates the wanted values of what is given for others, which must be
// of the values' types; see Check. Constants that lie in mapped files are looked
// at there, and of a table only the rows that are gathered: what comes back may
// be such a constant or a view of it, which is gone once the model is closed, or
// of what is given.
//
// A tensor for which memory, in bytes, does not suffice is an ErrShape. Errors
// are *model.Error at the node.
func Values(ctx context.Context, m *model.Model, wanted []*model.Value, given map[*model.Value]garner.Tensor, memory float64) ([]garner.Tensor, error) {
	nodes, missing, err := needs(m, wanted, given)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, model.InFile(m.Path, garner.Errorf(nil, "%s is not given", missing[0]))
	}
	r := &runner{model: m, given: given, values: make(map[*model.Value]*value), uses: make(map[*model.Value]int), memory: memory}
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
		// Mapped memory may vanish while an operator looks at it.
		if err := mapped.Guard(func() error { return r.node(ctx, n) }); err != nil {
			if cause := context.Cause(ctx); cause != nil && errors.Is(err, cause) {
				return nil, err
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
	return results, nil
}

// A runner is one evaluation.
type runner struct {
	model  *model.Model
	given  map[*model.Value]garner.Tensor
	values map[*model.Value]*value
	uses   map[*model.Value]int // how often each value is still looked at
	memory float64              // bytes that may be in use
	used   float64              // bytes that are in use at most
}

// A value is a tensor, perhaps one that is yet to be cast. A table that is
// stored in a narrower type and cast before the gather, as OpenVINO's compressed
// models have it, is gathered first: its rows are cast, not the table.
type value struct {
	tensor garner.Tensor
	as     garner.DType // Invalid: it is what it is
	cast   *model.Node  // where as stands
}

// lazy is a value as it is.
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
	have := &value{tensor: t}
	r.values[v] = have
	return have, nil
}

// tensor is a value, cast.
func (r *runner) tensor(v *model.Value) (garner.Tensor, error) {
	have, err := r.lazy(v)
	if err != nil || have.as == garner.Invalid {
		if err != nil {
			return garner.Tensor{}, err
		}
		return have.tensor, nil
	}
	t, err := r.cast(have.tensor, have.as)
	if err != nil {
		return garner.Tensor{}, model.AtNode(have.cast, err)
	}
	*have = value{tensor: t}
	return t, nil
}

// node runs a node, and forgets what nobody needs any more.
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
		made.tensor, err = glueOf(r.model, n)(c)
		if c.as != garner.Invalid {
			made.as, made.cast = c.as, n
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

// gather runs a gather.
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
	made := value{as: data.as, cast: data.cast}
	from := data.tensor
	if data.as != garner.Invalid && !from.DType().HasZero() {
		// What an index outside reads as is a zero of the type that is cast to.
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

// fits refuses a tensor for which there is not enough memory: to ask for it
// would end the process.
func (r *runner) fits(dtype garner.DType, shape garner.Shape) error {
	const header = 16 // bytes of a string without its text
	bits := dtype.Bits()
	if dtype == garner.String {
		bits = 8 * header
	}
	n, ok := shape.Len()
	// Not exact, which does not matter to a machine's size.
	size := float64(n) / 8 * float64(bits)
	if ok && r.used+size > r.memory {
		// What was counted may be gone by now.
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

// new makes a tensor of zeros.
func (r *runner) new(dtype garner.DType, shape garner.Shape) (garner.Tensor, error) {
	if err := r.fits(dtype, shape); err != nil {
		return garner.Tensor{}, err
	}
	return garner.New(dtype, shape...)
}

// Check refuses a tensor that is not what the model says of a value: of another
// dtype (ErrDType) or shape (ErrShape). What the model does not say it takes.
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
