package lint

import (
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/trail"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// A guard is what the nodes before a gather do about an index outside. Intervals do not show it: they
// bound values by numbers, and a guard compares the indices with the length of an axis that only a run knows.
type guard uint8

const (
	unguarded guard = iota
	inside          // each index is of the axis, whatever a run is given
	outward         // a bad index becomes one that is outside on purpose, for the runtime to refuse it or to write zeros
	refusal         // the gather itself is a guard: it looks up a condition in a table of one element, and so refuses where it holds
)

// guarded finds what guards the indices, by the nodes alone: names say nothing. The node may be one that package
// convert has made, or any other that computes the same.
func (s *subject) guarded() (guard, error) {
	if s.hasGuard == nil {
		g := &guarding{subject: s, search: &search{left: trail.MostGuarding}}
		made := g.find()
		if g.err != nil {
			return unguarded, g.err
		}
		s.hasGuard = &made
	}
	return *s.hasGuard, nil
}

// A fact is what a condition says of two values where it decides which element is chosen: x < y, or x ≤ y.
type fact struct {
	x, y  *model.Value
	equal bool // x ≤ y
}

// A guarding follows the indices of one gather.
type guarding struct {
	*subject
	axes  []int // of data, that the components of an index address
	dims  []garner.Dim
	facts []fact
	*search
}

// A search is what all guardings of one gather share.
type search struct {
	left int // values that may still be looked at
	err  error
}

func (g *guarding) find() guard {
	if !formats[g.format].written || combines(g.operator) || g.constant(g.indices) != nil {
		return unguarded
	}
	if g.refuses() {
		return refusal
	}
	if g.dims = g.addressed(); len(g.dims) == 0 || g.operator.Kind != operators.GatherND && !g.axisKnown || !g.data.Spec.Rank.Known() {
		return unguarded
	}
	first := g.axis
	if g.operator.Kind == operators.GatherND {
		first = g.batch
	}
	for i := range g.dims {
		g.axes = append(g.axes, first+i)
	}
	if most, ok := g.above(g.indices); ok && most < 0 && g.notBelow(g.indices) {
		return inside
	}
	if g.outward() {
		return outward
	}
	return unguarded
}

// refuses reports whether the gather looks up a condition in a constant of one element, in an operator that refuses
// what is beyond.
func (g *guarding) refuses() bool {
	table := g.constant(g.data)
	return g.operator.Kind == operators.Elements && table != nil && table.Spec.Rank == garner.Exactly(1) &&
		table.Spec.Dims[0] == garner.Exactly(1) && g.isCondition(g.indices)
}

// isCondition reports whether a number is computed of comparisons and constants alone, and of at least one comparison.
func (g *guarding) isCondition(v *model.Value) bool {
	compares := false
	for left := []*model.Value{v}; len(left) > 0; left = left[1:] {
		if g.left--; g.left < 0 || left[0] == nil {
			return false
		}
		if g.constant(left[0]) != nil {
			continue
		}
		n := left[0].From
		if n == nil || n.Domain != "" || len(n.Graphs) > 0 {
			return false
		}
		switch effect, _ := operators.EffectOf(n); {
		case effect == operators.Cast || effect == operators.Reshaped || effect == operators.Permuted, n.Op == "ReduceProd", n.Op == "ReduceMax", n.Op == "ReduceMin":
			left = append(left, input(n, 0))
		case slices.Contains(comparisons, n.Op):
			compares = true
		case slices.Contains([]string{"Sub", "Subtract", "Mul", "Multiply", "Or", "And", "Not", "LogicalOr", "LogicalAnd", "LogicalNot", "Min", "Max", "Minimum", "Maximum"}, n.Op):
			left = append(left, n.Inputs...)
		default:
			return false
		}
	}
	return compares
}

var comparisons = []string{"Equal", "Less", "LessOrEqual", "LessEqual", "Greater", "GreaterOrEqual", "GreaterEqual"}

// enter says whether one more value may be looked at, and gives the node that makes it; nil where none does that
// guards have.
func (g *guarding) enter(v *model.Value) *model.Node {
	if g.left--; g.left < 0 || g.err != nil || v == nil || v.From == nil || v.From.Domain != "" || len(v.From.Graphs) > 0 {
		return nil
	}
	if how, ok := v.From.Attributes["auto_broadcast"].(string); ok && how == "pdpd" {
		return nil // positions do not stand below each other from the last dim on
	}
	return v.From
}

// above gives the most that v exceeds the lengths of the axes by: -1 where each component is at most the last
// position. It is false where nothing is known.
func (g *guarding) above(v *model.Value) (most int64, ok bool) {
	least := func(n int64, also bool) {
		if also && (!ok || n < most) {
			most, ok = n, true
		}
	}
	if g.left < 0 || g.err != nil || v == nil {
		return 0, false
	}
	least(g.farthest(v))
	if plus, _, same := g.lengthOf(v); same {
		least(-plus, true)
	}
	for _, f := range g.facts {
		if f.x == v && f.y != v {
			n, also := g.without(f).above(f.y)
			if !f.equal {
				n--
			}
			least(n, also)
		}
	}
	n := g.enter(v)
	if n == nil {
		return most, ok
	}
	a, b := input(n, 0), input(n, 1)
	switch name := n.Op; name {
	case "Min", "Minimum":
		for _, x := range n.Inputs {
			least(g.above(x))
		}
	case "Max", "Maximum":
		least(g.all(n.Inputs))
	case "Clip":
		if len(n.Inputs) == 3 && n.Inputs[2] != nil {
			least(g.above(n.Inputs[2]))
		}
	case "Sub", "Subtract":
		x, also := g.above(a)
		if by := g.interval(b); also && by.low.at >= 0 && by.low.at < exactFloat {
			least(x-int64(by.low.at), true)
		}
	case "Add":
		for _, pair := range [][2]*model.Value{{a, b}, {b, a}} {
			if most := g.most(pair[1]); most <= 0 && most > -exactFloat {
				x, also := g.above(pair[0])
				least(x+int64(most), also)
			}
		}
	case "Where", "Select":
		if len(n.Inputs) == 3 {
			x, both := g.chosen(n, 1, g.above)
			y, also := g.chosen(n, 2, g.above)
			least(max(x, y), both && also)
		}
	default:
		if x, facts := g.passes(n, v); x != nil {
			least(facts.above(x))
		}
	}
	return most, ok
}

// all gives what all values are above by at most.
func (g *guarding) all(list []*model.Value) (most int64, ok bool) {
	for i, v := range list {
		n, also := g.above(v)
		if !also {
			return 0, false
		}
		if most = max(most, n); i == 0 {
			most = n
		}
	}
	return most, len(list) > 0
}

// chosen calls look with a branch of a Where, where its condition is known.
func (g *guarding) chosen(n *model.Node, branch int, look func(*model.Value) (int64, bool)) (int64, bool) {
	before := g.facts
	g.facts = g.assume(slices.Clip(before), input(n, 0), branch == 1)
	defer func() { g.facts = before }()
	return look(input(n, branch))
}

// assume adds what a condition says where it is true, or where it is not.
func (g *guarding) assume(facts []fact, v *model.Value, holds bool) []fact {
	n := g.enter(v)
	if n == nil {
		return facts
	}
	a, b := input(n, 0), input(n, 1)
	switch n.Op {
	case "Not", "LogicalNot":
		return g.assume(facts, a, !holds)
	case "And", "LogicalAnd", "Or", "LogicalOr":
		if holds == (n.Op == "And" || n.Op == "LogicalAnd") {
			return g.assume(g.assume(facts, a, holds), b, holds)
		}
	case "Less", "GreaterOrEqual", "GreaterEqual":
		if holds == (n.Op == "Less") {
			return append(facts, fact{a, b, false})
		}
		return append(facts, fact{b, a, true})
	case "Greater", "LessOrEqual", "LessEqual":
		if holds == (n.Op == "Greater") {
			return append(facts, fact{b, a, false})
		}
		return append(facts, fact{a, b, true})
	}
	return facts
}

// without is g without a fact, so that no fact is followed twice.
func (g *guarding) without(f fact) *guarding {
	return &guarding{g.subject, g.axes, g.dims, slices.DeleteFunc(slices.Clone(g.facts), func(x fact) bool { return x == f }), g.search}
}

// passes gives what the elements of v are, in the same order of components, where v is a cast of it, or it in another
// shape, or repeated. Facts of positions hold behind a cast alone.
func (g *guarding) passes(n *model.Node, v *model.Value) (*model.Value, *guarding) {
	x := input(n, 0)
	effect, _ := operators.EffectOf(n)
	switch {
	case n.Op == "Identity" || g.copies(n):
		return x, g
	case effect == operators.Cast:
		if to := operators.CastType(n); to != garner.Invalid && !holds(to, x.Spec.DType) && (to.Bits() < 32 || !isPart(x)) {
			return nil, nil
		}
		return x, g
	case effect != operators.Reshaped && n.Op != "Tile" && n.Op != "Expand" && n.Op != "Broadcast":
		return nil, nil
	}
	last := func(v *model.Value) garner.Dim {
		for v.From != nil && g.copies(v.From) {
			v = input(v.From, 0)
		}
		if d := v.Spec.Dims; len(d) > 0 {
			return d[len(d)-1]
		}
		return garner.AnyDim
	}
	if k := garner.Exactly(len(g.axes)); len(g.axes) > 1 && (last(v) != k || last(x) != k) {
		return nil, nil
	}
	return x, &guarding{g.subject, g.axes, g.dims, nil, g.search}
}

// copies reports whether a Tile repeats its input once along each dim, as one does whose repeats wait for a guard.
func (g *guarding) copies(n *model.Node) bool {
	if n.Op != "Tile" || n.Domain != "" || len(n.Inputs) != 2 {
		return false
	}
	times := g.interval(input(n, 1))
	return times.point() && times.low.at == 1
}

// isPart reports whether a value is of the shape of another, which 32 bits hold.
func isPart(v *model.Value) bool {
	for range garner.MaxRank {
		n := v.From
		if n == nil || n.Domain != "" {
			return false
		}
		if n.Op == "Shape" || n.Op == "ShapeOf" {
			return true
		}
		v = input(n, 0)
	}
	return false
}

// notBelow reports whether no component is below 0, or what the operator counts from the end. An axis without
// elements has no index that is inside, so any length is taken to be above 0.
func (g *guarding) notBelow(v *model.Value) bool {
	if g.left < 0 || g.err != nil || v == nil {
		return false
	}
	from := 0.0
	if countsFromEnd(g.operator.Name) {
		for i, d := range g.dims {
			if n := -float64(d.Min); i == 0 || n > from {
				from = n
			}
		}
	}
	if low := g.interval(v).low.at; low >= from {
		return true
	}
	if plus, exact, same := g.lengthOf(v); same && exact && plus == 0 {
		return true
	}
	for _, f := range g.facts {
		if f.y == v && f.x != v && (g.without(f).notBelow(f.x) || !f.equal && g.interval(f.x).low.at >= from-1) {
			return true
		}
	}
	n := g.enter(v)
	if n == nil {
		return false
	}
	a, b := input(n, 0), input(n, 1)
	branch := func(v *model.Value) (int64, bool) { return 0, g.notBelow(v) }
	switch n.Op {
	case "Max", "Maximum":
		return slices.ContainsFunc(n.Inputs, g.notBelow)
	case "Min", "Minimum":
		return len(n.Inputs) > 0 && !slices.ContainsFunc(n.Inputs, func(v *model.Value) bool { return !g.notBelow(v) })
	case "Clip":
		return len(n.Inputs) == 3 && g.notBelow(n.Inputs[1]) && (n.Inputs[2] == nil || g.notBelow(n.Inputs[2]))
	case "Sub", "Subtract":
		switch plus, exact, same := g.lengthOf(a); {
		case same && exact && plus == 0: // the length, less 1
			return g.most(b) <= 1
		case countsFromEnd(g.operator.Name) && g.interval(a).low.at >= 0: // 0 less the length
			plus, _, same = g.lengthOf(b)
			return same && plus >= 0
		}
		return false
	case "Where", "Select":
		if len(n.Inputs) != 3 {
			return false
		}
		_, x := g.chosen(n, 1, branch)
		_, y := g.chosen(n, 2, branch)
		return x && y
	}
	x, facts := g.passes(n, v)
	return x != nil && facts.notBelow(x)
}

// outward reports whether a Where makes bad indices the length of the axis, or what is beyond, and leaves others from
// 0 on as they are.
func (g *guarding) outward() bool {
	v, at := g.indices, g
	for at != nil {
		n := at.enter(v)
		if n == nil {
			return false
		}
		if n.Op == "Where" || n.Op == "Select" {
			return len(n.Inputs) == 3 && (at.sends(n, 1, 2) || at.sends(n, 2, 1))
		}
		v, at = at.passes(n, v)
	}
	return false
}

// sends reports whether a Where takes one branch, beyond the axis, where a condition finds the other below 0. A
// condition of anything else may be a mask, whose padding is a fault.
func (g *guarding) sends(n *model.Node, bad, good int) bool {
	_, left := g.chosen(n, good, func(v *model.Value) (int64, bool) {
		return 0, slices.ContainsFunc(g.facts, func(f fact) bool {
			than := g.interval(f.x)
			return f.y == v && than.point() && (than.low.at == 0 && f.equal || than.low.at == -1 && !f.equal)
		})
	})
	return left && g.isBeyond(input(n, bad))
}

// isBeyond reports whether v is the length of the axis, or more.
func (g *guarding) isBeyond(v *model.Value) bool {
	if plus, exact, same := g.lengthOf(v); same {
		return exact && plus == 0
	}
	low := g.interval(v).low.at
	return !slices.ContainsFunc(g.dims, func(d garner.Dim) bool { return d.Max == garner.Unbounded || low < float64(d.Max) })
}

// interval gives the bounds of a value as numbers.
func (g *guarding) interval(v *model.Value) interval {
	b, err := g.bounds(v)
	if err != nil {
		g.err = err
	}
	return b.interval
}

// most gives the greatest number that v may be, as far as intervals and facts say.
func (g *guarding) most(v *model.Value) float64 {
	most := g.interval(v).high.at
	for _, f := range g.facts {
		if f.x == v {
			high := g.interval(f.y).high.at
			if !f.equal {
				high--
			}
			most = min(most, high)
		}
	}
	return most
}

// farthest is above by numbers alone, where the lengths are known.
func (g *guarding) farthest(v *model.Value) (most int64, ok bool) {
	b, err := g.bounds(v)
	if err != nil {
		g.err = err
		return 0, false
	}
	for i, d := range g.dims {
		high := b.high.at
		if len(b.last) == len(g.dims) {
			high = b.last[i].high.at
		}
		if d.Min == 0 || high >= exactFloat || high <= -exactFloat {
			return 0, false
		}
		if n := int64(high) - int64(d.Min); i == 0 || n > most {
			most = n
		}
	}
	return most, true
}

// lengthOf reports whether v is the dims of a tensor that the axes of data have too, less plus positions. They are
// exactly those, unless other rows stand beside them.
func (g *guarding) lengthOf(v *model.Value) (plus int64, exact, ok bool) {
	of, axes, ok := g.partOf(v)
	if !ok {
		return 0, false, false
	}
	return g.sameDims(g.data, g.axes, of, axes)
}

// partOf gives the tensor whose dims v has, and which of them.
func (g *guarding) partOf(v *model.Value) (of *model.Value, axes []int, ok bool) {
	n := g.enter(v)
	if n == nil {
		return nil, nil, false
	}
	c := &operation{linter: g.linter, node: n, result: v}
	defer func() {
		if c.err != nil {
			g.err = c.err
		}
	}()
	from := input(n, 0)
	if n.Op == "Shape" || n.Op == "ShapeOf" {
		if !from.Spec.Rank.Known() {
			return nil, nil, false
		}
		for i := range from.Spec.Rank.Min {
			axes = append(axes, i)
		}
		start, end, ok := span64(c.number("start", 0), c.number("end", int64(len(axes))), len(axes))
		return from, axes[start:end], ok
	}
	effect, _ := operators.EffectOf(n)
	gathers := n.IsGather() && c.gathersAlong()
	if effect != operators.Cast && effect != operators.Reshaped && n.Op != "Slice" && !gathers {
		return nil, nil, false
	}
	if of, axes, ok = g.partOf(from); !ok {
		return nil, nil, false
	}
	switch {
	case effect == operators.Cast:
		return of, axes, v.Spec.DType == garner.Invalid || v.Spec.DType.IsInteger() && v.Spec.DType.Bits() >= 32
	case effect == operators.Reshaped:
		return of, axes, len(axes) == 1 || n.Op == "Identity"
	case gathers:
		at, known := c.list("", 1)
		var picked []int
		for _, i := range at {
			if i < 0 {
				i += int64(len(axes))
			}
			if i < 0 || i >= int64(len(axes)) {
				return nil, nil, false
			}
			picked = append(picked, axes[i])
		}
		return of, picked, known && len(picked) > 0
	}
	steps := 4
	if g.wordsOf(OpenVINO) {
		steps = 3
	}
	starts, a := c.list("starts", 1)
	ends, b := c.list("ends", 2)
	if by, known := c.list("steps", steps); !a || !b || len(starts) != 1 || len(ends) != 1 || len(n.Inputs) > steps && (!known || !slices.Equal(by, []int64{1})) {
		return nil, nil, false
	}
	start, end, ok := span64(starts[0], ends[0], len(axes))
	return of, axes[start:end], ok
}

// span64 brings the ends of a slice of n positions into 0 … n; false where it has none.
func span64(start, end int64, n int) (int, int, bool) {
	for _, e := range []*int64{&start, &end} {
		if *e < 0 {
			*e += int64(n)
		}
		*e = min(max(*e, 0), int64(n))
	}
	return int(start), int(max(start, end)), start < end
}

// sameDims reports whether the dims of data at axes are those of another tensor, and how many positions more they
// have at least: nodes between them keep dims, or add rows.
func (g *guarding) sameDims(data *model.Value, axes []int, of *model.Value, at []int) (plus int64, exact, ok bool) {
	if data == of && slices.Equal(axes, at) {
		return 0, true, true
	}
	if cast := castOf(of); cast != nil {
		return g.sameDims(data, axes, cast, at)
	}
	n := g.enter(data)
	if n == nil {
		return 0, false, false
	}
	c := &operation{linter: g.linter, node: n, result: data}
	defer func() {
		if c.err != nil {
			g.err = c.err
		}
	}()
	from, rank := input(n, 0), len(data.Spec.Dims)
	inside := func(axis int) bool { return slices.Contains(axes, axis) }
	effect, _ := operators.EffectOf(n)
	switch {
	case effect == operators.Cast || n.Op == "Identity":
		return g.sameDims(from, axes, of, at)
	case effect == operators.Permuted:
		order, known := c.list("perm", 1)
		if !known || len(order) != rank {
			return 0, false, false
		}
		before := make([]int, len(axes))
		for i, a := range axes {
			if a >= rank || order[a] < 0 {
				return 0, false, false
			}
			before[i] = int(order[a])
		}
		return g.sameDims(from, before, of, at)
	case n.Op == "Concat":
		axis := c.number("axis", 0)
		if axis < 0 {
			axis += int64(rank)
		}
		if !inside(int(axis)) {
			return g.sameDims(from, axes, of, at)
		}
		if len(axes) > 1 || len(n.Inputs) > mostPositions {
			return 0, false, false
		}
		for i, v := range n.Inputs {
			plus, exact, ok := g.sameDims(v, axes, of, at)
			for j, other := range n.Inputs {
				if d := other.Spec.Dims; ok && j != i && int(axis) < len(d) {
					plus += int64(d[axis].Min)
					exact = exact && d[axis] == garner.Exactly(0)
				} else if j != i {
					exact = false
				}
			}
			if ok {
				return plus, exact, true
			}
		}
	case n.IsGather() && c.gathersAlong() && input(n, 1).Spec.Rank == garner.Exactly(1):
		axis := c.number("axis", 0)
		if list, known := c.list("axis", 2); known && len(list) == 1 {
			axis = list[0]
		}
		if axis < 0 {
			axis += int64(rank)
		}
		if !inside(int(axis)) && c.number("batch_dims", 0) == 0 {
			return g.sameDims(from, axes, of, at)
		}
	}
	return 0, false, false
}

// castOf gives what a value is a cast of; nil where it is none.
func castOf(v *model.Value) *model.Value {
	if v.From == nil || v.From.Domain != "" || len(v.From.Inputs) == 0 {
		return nil
	}
	if effect, _ := operators.EffectOf(v.From); effect == operators.Cast {
		return v.From.Inputs[0]
	}
	return nil
}
