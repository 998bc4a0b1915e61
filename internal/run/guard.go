package run

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/trail"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// A guard is what nodes before a gather or a scatter do about an index outside, as package convert writes them: they
// compare the indices with the length of the axis, and make bad ones such as the runtime refuses, or writes zeros for.
// The gather sees other numbers than those that were fed, so that no other policy can be applied to it. Package lint
// proves the same of the nodes alone; here the lengths are those of the run.
type guard struct {
	node    *model.Node  // whose indices are guarded; nil where it is not known
	refusal *model.Node  // the gather of one element that refuses; nil where the indices themselves are changed
	fed     *model.Value // the indices before the guard; nil where they are not known
	lengths []int64      // of the axes: one, or one for each component of a tuple; nil: those that bound has
	bound   *model.Value // what the indices are compared with
	below   *model.Value // what indices are below that something is added to
	added   *model.Value // to those; nil: nothing is
	rows    bool         // fed are the numbers of rows, computed of tuples, with a negative one for a tuple outside
}

// comparing is a comparison of indices with a number.
type comparing struct{ indices, with *model.Value }

// made gives the node that makes a value in this run; nil for one that is given.
func (r *runner) made(v *model.Value) *model.Node {
	if v == nil || v.From == nil || v.From.Domain != "" || len(v.From.Graphs) > 0 {
		return nil
	}
	if _, given := r.given[v]; given {
		return nil
	}
	return v.From
}

// inner gives what a value has the elements of, behind changes of shape and casts of integers and conditions.
func (r *runner) inner(v *model.Value) *model.Value {
	for n := r.made(v); n != nil && len(n.Inputs) > 0 && n.Inputs[0] != nil; n = r.made(v) {
		effect, _ := operators.EffectOf(n)
		if effect != operators.Reshaped && (effect != operators.Cast || n.Inputs[0].Spec.DType.IsFloat()) {
			break
		}
		v = n.Inputs[0]
	}
	return v
}

// guardAt finds the guard that a gather is, or that stands before its indices; nil where there is none.
func (r *runner) guardAt(ctx context.Context, n *model.Node) *guard {
	if len(n.Inputs) < 2 {
		return nil
	}
	if r.isRefusal(n) {
		return r.refusing(n, r.waiting(n))
	}
	if refusal := r.refusalBefore(n); refusal != nil {
		return r.refusing(refusal, n)
	}
	return r.changing(ctx, n)
}

// changing finds a Where before the indices of a gather that leaves none below 0, and none beyond the axis but what it
// makes of a bad one.
func (r *runner) changing(ctx context.Context, n *model.Node) *guard {
	where := r.made(r.inner(n.Inputs[1]))
	if where == nil || where.Op != "Where" && where.Op != "Select" || len(where.Inputs) != 3 {
		return nil
	}
	low, high := r.conditions(where.Inputs[0])
	good := r.inner(where.Inputs[2])
	if low.with == nil || r.inner(low.indices) != good || high.with != nil && r.inner(high.indices) != good {
		return nil
	}
	dims, ok := r.addressed(n)
	least, failed := r.lengths(ctx, low.with)
	if !ok || failed != nil || !each(least, []int64{0}, equal) {
		return nil
	}
	instead, failed := r.lengths(ctx, where.Inputs[1])
	if failed != nil {
		return nil
	}
	if high.with == nil {
		if !each(instead, dims, atLeast) {
			return nil
		}
		return r.entry(&guard{node: n, fed: good, lengths: dims})
	}
	bound, failed := r.lengths(ctx, high.with)
	if failed != nil || !each(instead, []int64{0}, atLeast) {
		return nil
	}
	if data := r.made(n.Inputs[0]); data != nil && data.Op == "Concat" && len(bound) == 1 && len(dims) == 1 && bound[0] == dims[0]-1 {
		return r.entry(&guard{node: n, fed: good, lengths: bound}) // a row of zeros stands behind the others
	}
	if !each(bound, dims, equal) {
		return nil
	}
	return r.entry(&guard{node: n, fed: good, lengths: dims})
}

func equal(a, b int64) bool   { return a == b }
func atLeast(a, b int64) bool { return a >= b }

// each reports whether a relation holds between all elements of two lists, of which one may have a single element.
func each(a, b []int64, holds func(a, b int64) bool) bool {
	n := max(len(a), len(b))
	if len(a) == 0 || len(b) == 0 || len(a) != n && len(a) != 1 || len(b) != n && len(b) != 1 {
		return false
	}
	for i := range n {
		if !holds(a[i%len(a)], b[i%len(b)]) {
			return false
		}
	}
	return true
}

// lengths evaluates integers that guards compare with, such as lengths.
func (r *runner) lengths(ctx context.Context, v *model.Value) ([]int64, error) {
	have, err := Values(ctx, r.model, []*model.Value{v}, r.given, r.memory)
	if err != nil {
		return nil, err
	}
	return integers(have[0])
}

func integers(t garner.Tensor) ([]int64, error) {
	list := make([]int64, min(t.Len(), garner.MaxRank))
	for i := range list {
		n, err := t.Int(i)
		if err != nil {
			return nil, err
		}
		list[i] = int64(n.Bits)
	}
	return list, nil
}

// addressed gives the lengths of the axes of data that a gather's indices address, as this run has them.
func (r *runner) addressed(n *model.Node) ([]int64, bool) {
	data, err := r.unjoined(n.Inputs[0])
	if err != nil || data.unknown {
		return nil, false
	}
	shape := data.tensor.Shape()
	axis, err := indexedAxis(n, len(shape))
	count := 1
	if o, failed := operators.Find(n.Operator, 0); failed == nil && o.Kind == operators.GatherND {
		indices, failed := r.lazy(n.Inputs[1])
		if failed != nil || indices.unknown || len(indices.tensor.Shape()) == 0 {
			return nil, false
		}
		count = indices.tensor.Shape()[len(indices.tensor.Shape())-1]
	}
	if err != nil || axis < 0 || axis+count > len(shape) {
		return nil, false
	}
	dims := make([]int64, count)
	for i := range dims {
		dims[i] = int64(shape[axis+i])
	}
	return dims, true
}

// indexedAxis gives the first axis of data that the indices of a gather or a scatter address.
func indexedAxis(n *model.Node, rank int) (int, error) {
	at := 2
	if n.Op == "ScatterElementsUpdate" {
		at = 3
	}
	axis, _ := n.Attributes["axis"].(int64)
	if o, err := operators.Find(n.Operator, 0); n.IsGather() && err == nil && o.Kind == operators.GatherND {
		axis, _ = n.Attributes["batch_dims"].(int64)
	} else if c := input(n, at); c != nil && c.Constant != nil && n.Op != "ScatterElements" {
		t, err := c.Constant.Tensor()
		if err != nil {
			return 0, err
		}
		i, err := t.Int(0)
		if err != nil {
			return 0, err
		}
		axis = int64(i.Bits)
	}
	if axis < 0 {
		axis += int64(rank)
	}
	return int(axis), nil
}

// isRefusal reports whether a gather is a guard: it looks up a condition in a constant of one element, and so refuses
// where the condition holds.
func (r *runner) isRefusal(n *model.Node) bool {
	if n.Op != "GatherElements" || !n.IsGather() || len(n.Inputs) < 2 || !isOne(n.Inputs[0]) {
		return false
	}
	compares, left := false, []*model.Value{n.Inputs[1]}
	for range trail.MostGuarding {
		if len(left) == 0 {
			return compares
		}
		v := left[0]
		left = left[1:]
		if v == nil {
			return false
		}
		if v.Constant != nil {
			continue
		}
		n := r.made(v)
		if n == nil || len(n.Inputs) == 0 {
			return false
		}
		switch effect, _ := operators.EffectOf(n); {
		case effect == operators.Cast || effect == operators.Reshaped || effect == operators.Permuted, n.Op == "ReduceProd", n.Op == "ReduceMax", n.Op == "ReduceMin":
			left = append(left, n.Inputs[0])
		case slices.Contains([]string{"Equal", "Less", "LessOrEqual", "LessEqual", "Greater", "GreaterOrEqual", "GreaterEqual"}, n.Op):
			compares = true
		case slices.Contains([]string{"Sub", "Subtract", "Mul", "Multiply", "Or", "And", "Not", "LogicalOr", "LogicalAnd", "LogicalNot", "Min", "Max", "Minimum", "Maximum"}, n.Op):
			left = append(left, n.Inputs...)
		default:
			return false
		}
	}
	return false
}

// isOne reports whether a value is a constant vector of one element.
func isOne(v *model.Value) bool {
	return v != nil && v.Constant != nil && v.Constant.Spec.Rank == garner.Exactly(1) && v.Constant.Spec.Dims[0] == garner.Exactly(1)
}

// refusalBefore gives the gather of one element that the indices of a node wait for: they are tiled once, and the
// number of times is a sum of ones and of what it looks up.
func (r *runner) refusalBefore(n *model.Node) *model.Node {
	if len(n.Inputs) < 2 {
		return nil
	}
	tile := r.made(r.inner(n.Inputs[1]))
	if tile == nil || tile.Op != "Tile" || len(tile.Inputs) != 2 {
		return nil
	}
	sum := r.made(tile.Inputs[1])
	if sum == nil || sum.Op != "Add" {
		return nil
	}
	for _, v := range sum.Inputs {
		if from := r.made(v); from != nil && r.isRefusal(from) {
			return from
		}
	}
	return nil
}

// waiting gives a gather whose indices wait for a gather of one element, or else a scatter; nil where neither does.
func (r *runner) waiting(refusal *model.Node) *model.Node {
	if r.waits == nil { // found once for all: a model may have many of each
		r.waits = make(map[*model.Node]*model.Node)
		for n := range r.model.Nodes() {
			if scatter := scatters(n); scatter || n.IsGather() {
				before := r.refusalBefore(n)
				if found := r.waits[before]; before != nil && (found == nil || scatters(found)) {
					r.waits[before] = n
				}
			}
		}
	}
	return r.waits[refusal]
}

func scatters(n *model.Node) bool {
	return n.Domain == "" && (n.Op == "ScatterElements" || n.Op == "ScatterElementsUpdate")
}

// ofScatter reports whether a guard stands before a scatter, whose indices no policy of gathers is for.
func (g *guard) ofScatter() bool { return g != nil && g.node != nil && scatters(g.node) }

// refusing is the guard of a gather of one element, for which a node waits.
func (r *runner) refusing(refusal, node *model.Node) *guard {
	g := &guard{node: node, refusal: refusal}
	if _, high := r.conditions(refusal.Inputs[1]); high.with != nil {
		g.fed, g.bound = r.inner(high.indices), high.with
		return r.entry(g)
	}
	return g
}

// entry goes back to the indices before those that count from the end are positions.
func (r *runner) entry(g *guard) *guard {
	n := r.made(g.fed)
	if n == nil || n.Op != "Where" && n.Op != "Select" || len(n.Inputs) != 3 {
		return g
	}
	if row := r.made(r.inner(n.Inputs[2])); row != nil && row.Op == "Add" && n.Inputs[1] != nil && n.Inputs[1].Constant != nil {
		t, err := n.Inputs[1].Constant.Tensor()
		if err == nil {
			list, failed := integers(t)
			g.rows = failed == nil && each([]int64{-1}, list, atLeast)
		}
	}
	low, _ := r.conditions(n.Inputs[0])
	sum := r.made(n.Inputs[1])
	if low.indices == nil || low.indices != n.Inputs[2] || sum == nil || sum.Op != "Add" || len(sum.Inputs) != 2 {
		return g
	}
	if i := slices.Index(sum.Inputs, low.indices); i >= 0 {
		g.fed, g.below, g.added = r.inner(low.indices), low.with, sum.Inputs[1-i]
	}
	return g
}

// conditions finds what a condition, or a number that is made of it, compares: indices below a number, and at one or
// beyond.
func (r *runner) conditions(v *model.Value) (low, high comparing) {
	left := []*model.Value{v}
	const most = 32
	for range most {
		if len(left) == 0 {
			break
		}
		n := r.made(r.inner(left[0]))
		left = left[1:]
		if n == nil || len(n.Inputs) == 0 {
			continue
		}
		switch n.Op {
		case "Less":
			low = comparing{n.Inputs[0], n.Inputs[1]}
		case "GreaterOrEqual", "GreaterEqual":
			high = comparing{n.Inputs[0], n.Inputs[1]}
		case "Or", "LogicalOr", "Sub", "Subtract", "ReduceProd":
			left = append(left, n.Inputs...)
		}
	}
	return low, high
}

// ErrGuarded refuses another policy for a gather whose indices are guarded.
var ErrGuarded = garner.Errorf(garner.ErrAttribute, "nodes before its indices decide what one outside gives, as package convert writes them, so that no other policy can be applied; run the model that this one was converted from")

// errRefused is of a guard that refuses an index which cannot be named.
var errRefused = garner.Errorf(garner.ErrIndex, "a guard in the model refuses an index")

// A segmentsError is of the guard of a bag. index gives the class and the hint: its number was never fed.
type segmentsError struct{ index garner.IndexError }

func (e *segmentsError) Error() string {
	return "garner: a guard in the model refuses segment ids that fall, that are no segment, or that are not one for each index"
}

func (e *segmentsError) Unwrap() error { return &e.index }

// guardsSegments reports whether the indices of a scatter are those of segments, to which package convert adds the
// greatest i32 where one of them is bad.
func (r *runner) guardsSegments(scatter *model.Node) bool {
	if len(scatter.Inputs) < 3 {
		return false
	}
	v := scatter.Inputs[1]
	for range trail.MostGuarding {
		v = r.inner(v)
		n := r.made(v)
		switch {
		case n == nil || len(n.Inputs) < 2:
			return false
		case n.Op == "Expand" || n.Op == "Gather":
			v = n.Inputs[0]
			continue
		case n.Op != "Add":
			return false
		}
		for _, added := range n.Inputs {
			product := r.made(r.inner(added))
			if product == nil || product.Op != "Mul" || len(product.Inputs) != 2 {
				continue
			}
			if any, most := r.made(product.Inputs[0]), product.Inputs[1]; any != nil && any.Op == "ReduceMax" && isOne(most) {
				t, err := most.Constant.Tensor()
				if err != nil {
					return false
				}
				list, err := integers(t)
				return err == nil && list[0] == math.MaxInt32
			}
		}
		return false
	}
	return false
}

// fed replaces the error of an index that a guard has made by that of the index that was fed, at the node that is
// guarded. It evaluates what the guard reads once more.
func (r *runner) fed(ctx context.Context, n *model.Node, err error) (*model.Node, error) {
	var bad *garner.IndexError
	if !errors.As(err, &bad) || bad.Operand != "" {
		return n, err
	}
	if scatters(n) && r.guardsSegments(n) {
		refused := &segmentsError{*bad}
		refused.index.Hint = "a guard in the model refuses it"
		return n, refused
	}
	if !n.IsGather() {
		return n, err
	}
	g := r.guardAt(ctx, n)
	if g == nil {
		return n, err
	}
	told, failed := r.first(ctx, g)
	switch {
	case failed == nil && told != nil && g.rows:
		return g.node, garner.Errorf(garner.ErrIndex, "the tuple indices%s is outside data; a guard in the model refuses it", garner.Shape(told.Position))
	case failed == nil && told != nil:
		return g.node, told
	case failed == nil && g.node != nil && (g.node.Op == "GatherElements" || scatters(g.node)):
		return g.node, garner.Errorf(garner.ErrShape, "its indices are longer than its data along another axis than its own")
	}
	return n, errRefused
}

// errUnnamed says that the index which a guard refuses cannot be named.
var errUnnamed = errors.New("unnamed")

// first finds the first index that is outside; nil where there is none.
func (r *runner) first(ctx context.Context, g *guard) (*garner.IndexError, error) {
	if g.node == nil || g.fed == nil {
		return nil, errUnnamed
	}
	have, err := Values(ctx, r.model, []*model.Value{g.fed}, r.given, r.memory)
	if err != nil {
		return nil, err
	}
	indices, lengths := have[0], g.lengths
	if lengths == nil {
		if lengths, err = r.lengths(ctx, g.bound); err != nil {
			return nil, err
		}
	}
	if len(lengths) == 0 {
		return nil, errUnnamed
	}
	if g.added != nil {
		added, err := r.lengths(ctx, g.added)
		if err != nil {
			return nil, err
		}
		below, err := r.lengths(ctx, g.below)
		if err != nil || !each(added, lengths, equal) || !each(below, []int64{0}, equal) {
			return nil, errUnnamed
		}
	}
	rank := 0
	if data := g.node.Inputs[0]; data != nil {
		rank = data.Spec.Rank.Min
	}
	axis, err := indexedAxis(g.node, rank)
	if err != nil {
		return nil, err
	}
	var found *garner.IndexError
	for i := range indices.Len() {
		value, err := indices.Int(i)
		if err != nil {
			return nil, err
		}
		component := i % len(lengths)
		low, n := int64(0), lengths[component]
		if g.added != nil {
			low = -n
		}
		if v := int64(value.Bits); !value.Unsigned && low <= v && v < n || value.Unsigned && value.Bits < uint64(n) {
			continue
		}
		if found != nil {
			found.Others++
			continue
		}
		position := make([]int, len(indices.Shape()))
		for at, d := i, len(position)-1; d >= 0; d-- {
			position[d], at = at%indices.Shape()[d], at/indices.Shape()[d]
		}
		found = &garner.IndexError{Position: position, Value: value, Axis: axis + component, Dim: int(n), FromEnd: g.added != nil, Total: indices.Len(),
			Hint: "a guard in the model refuses it"}
	}
	return found, nil
}

func input(n *model.Node, i int) *model.Value {
	if i < len(n.Inputs) {
		return n.Inputs[i]
	}
	return nil
}
