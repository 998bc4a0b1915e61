package lint

import (
	"fmt"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// hloSteps are the operators of StableHLO whose results are bounded, by their names.
var hloSteps = map[string]step{
	"add": steps["Add"], "subtract": steps["Sub"], "multiply": steps["Mul"], "divide": steps["Div"],
	"remainder": ofAll(leftToRight(truncatedRemainder)), "minimum": steps["Min"], "maximum": steps["Max"],
	"clamp": ofAll(hloClamped), "negate": steps["Neg"], "abs": steps["Abs"], "sign": steps["Sign"],
	"floor": steps["Floor"], "ceil": steps["Ceil"],
	"and": steps["BitwiseAnd"], "or": steps["BitwiseOr"], "xor": steps["BitwiseXor"],

	"select": {[]int{0, 1, 2}, hloChosen, conditioned}, "compare": ofAll(hloCompared),

	"broadcast_in_dim": of(hloBroadcast, 0), "dynamic_broadcast_in_dim": of(hloBroadcast, 0), "dynamic_reshape": of(reshaped, 0),
	"iota": ofNone(hloIota), "concatenate": ofAll(func(c *operation) bounds { return concatenatedAlong(c, c.number("dimension", 0)) }),
	"slice": of(elementsOf, 0), "dynamic_slice": of(elementsOf, 0), "reverse": of(elementsOf, 0),
	"pad": ofAll(hloPadded), "dynamic_update_slice": of(hloPadded, 0, 1),
	"get_dimension_size": ofNone(hloDimension),
}

// hloCompared is compare. Where the bounds of integers decide it, it has one value.
func hloCompared(c *operation) bounds {
	made := bounds{interval: span(0, 1), dtype: garner.Bool, rank: -1}
	x, ok := c.input(0)
	y, also := c.input(1)
	if !ok || !also || !x.dtype.IsInteger() || !y.dtype.IsInteger() {
		return made
	}
	if holds, known := compares(direction(c.node), x.interval, y.interval); known {
		made.interval = span(holds, holds)
	}
	return made
}

// direction is what a compare asks: LT, LE, GT, GE, EQ or NE.
func direction(n *model.Node) string {
	d, _ := n.Attributes["comparison_direction"].(string)
	return d
}

// opposites are the directions that hold where others do not; swapped are those of the operands the other way round.
var (
	opposites = map[string]string{"LT": "GE", "GE": "LT", "GT": "LE", "LE": "GT", "EQ": "NE", "NE": "EQ"}
	swapped   = map[string]string{"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "EQ": "EQ", "NE": "NE"}
)

// compares gives 1 where a comparison holds for all values of two intervals, 0 where it holds for none.
func compares(direction string, x, y interval) (holds float64, known bool) {
	switch direction {
	case "LT":
		return toNumber(x.high.at < y.low.at), x.high.at < y.low.at || x.low.at >= y.high.at
	case "LE":
		return toNumber(x.high.at <= y.low.at), x.high.at <= y.low.at || x.low.at > y.high.at
	case "EQ":
		same := x.point() && y.point() && x.low.at == y.low.at
		return toNumber(same), same || x.high.at < y.low.at || y.high.at < x.low.at
	case "GT", "GE":
		return compares(swapped[direction], y, x)
	case "NE":
		holds, known = compares("EQ", x, y)
		return 1 - holds, known
	}
	return 0, false
}

func toNumber(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// mostConditions bounds the nodes of one condition that lint follows.
const mostConditions = 32

// conditioned lists what the condition of a select compares, and what its branches add.
func conditioned(n *model.Node) []*model.Value {
	var list []*model.Value
	left := []*model.Value{input(n, 0)}
	for range mostConditions {
		if len(left) == 0 {
			break
		}
		list = append(list, left[0])
		if from := left[0].From; from != nil && from.Domain == "" && slices.Contains([]string{"and", "or", "not", "compare"}, from.Op) {
			left = append(left, from.Inputs...)
		}
		left = left[1:]
	}
	for _, i := range []int{1, 2} {
		list = append(list, operandsOf(input(n, i), "Add")...)
	}
	return slices.DeleteFunc(list, func(v *model.Value) bool { return v == nil })
}

// hloChosen is select. Where the condition compares what a branch is, or what it adds to, the branch is bounded by
// that: this is how JAX counts negative indices from the end, and computes the modulus of its mode wrap.
func hloChosen(c *operation) bounds {
	condition, _ := c.input(0)
	branch := func(i int) (made bounds, never bool) {
		v, holds := input(c.node, i), i == 1
		made, _ = c.input(i)
		if condition.point() && (condition.low.at == 1) != holds {
			return made, true
		}
		left := mostConditions
		narrow := c.within(input(c.node, 0), holds, v, made.interval, &left)
		if in := operandsOf(v, "Add"); in != nil && made.dtype.IsInteger() {
			a := c.within(input(c.node, 0), holds, in[0], c.of(in[0]).interval, &left)
			b := c.within(input(c.node, 0), holds, in[1], c.of(in[1]).interval, &left)
			if a.low.at > a.high.at || b.low.at > b.high.at {
				return made, true
			}
			narrow = meet(narrow, sum(made.dtype, a, b))
		}
		if narrow.low.at > narrow.high.at {
			return made, true
		}
		if narrow.low != made.low || narrow.high != made.high {
			made.interval, made.last = narrow, nil
		}
		return made.settled(), false
	}
	a, notA := branch(1)
	b, notB := branch(2)
	switch {
	case notA && !notB:
		return b
	case notB && !notA:
		return a
	}
	made := both(typeOf(a, b), a, b, func(x, y interval) interval {
		i := union(x, y)
		i.exact = false
		return i
	})
	if rank := rankOf(c.spec(1)); made.rank < rank {
		made.rank = rank
	}
	return made
}

// meet is the interval of values that are in two.
func meet(x, y interval) interval {
	return interval{innermost(low, x.low, y.low), innermost(high, x.high, y.high), false}
}

// within narrows the interval of x to those values for which a condition holds, or does not.
func (c *operation) within(v *model.Value, holds bool, x *model.Value, i interval, left *int) interval {
	n := v.From
	if *left--; *left < 0 || n == nil || n.Domain != "" || !c.of(x).dtype.IsInteger() {
		return i
	}
	a, b := input(n, 0), input(n, 1)
	switch n.Op {
	case "not":
		return c.within(a, !holds, x, i, left)
	case "and", "or":
		one, other := c.within(a, holds, x, i, left), c.within(b, holds, x, i, left)
		if holds == (n.Op == "and") {
			return meet(one, other)
		}
		switch { // one of both does; a narrower one that is empty adds nothing
		case one.low.at > one.high.at:
			return other
		case other.low.at > other.high.at:
			return one
		}
		return union(one, other)
	case "compare":
	default:
		return i
	}
	asks := direction(n)
	if !holds {
		asks = opposites[asks]
	}
	if c.of(a).dtype == garner.Bool {
		for _, pair := range [][2]*model.Value{{a, b}, {b, a}} {
			if known := c.of(pair[1]).interval; known.point() && (asks == "EQ" || asks == "NE") {
				return c.within(pair[0], (asks == "EQ") == (known.low.at == 1), x, i, left)
			}
		}
		return i
	}
	if b == x && a != x {
		a, b, asks = b, a, swapped[asks]
	}
	if a != x {
		return i
	}
	k := c.of(b).interval
	switch asks {
	case "LT":
		k.high.at--
		fallthrough
	case "LE":
		return interval{i.low, innermost(high, i.high, k.high), false}
	case "GT":
		k.low.at++
		fallthrough
	case "GE":
		return interval{innermost(low, i.low, k.low), i.high, false}
	case "EQ":
		return meet(i, k)
	}
	return i
}

// hloClamped is clamp of the least, the operand and the greatest.
func hloClamped(c *operation) bounds {
	least0, ok := c.input(0)
	made, also := c.input(1)
	most0, too := c.input(2)
	if !ok || !also || !too {
		return anything(c.result)
	}
	if len(made.last) != len(least0.last) || len(made.last) != len(most0.last) {
		least0, most0 = least0.flat(), most0.flat()
	}
	made = both(made.dtype, made, least0, most)
	return both(made.dtype, made, most0, least)
}

// hloBroadcast repeats elements. It keeps the positions of the last axis where that stays the last.
func hloBroadcast(c *operation) bounds {
	b, _ := c.input(0)
	dims, from := c.result.Spec.Dims, c.spec(0).Dims
	to, _ := c.node.Attributes["broadcast_dimensions"].([]int64)
	switch last := len(dims) - 1; {
	case last < 0 || dims[last] == garner.Exactly(1):
		b.last = []interval{b.interval}
	case len(to) == len(from) && len(from) > 0 && to[len(to)-1] == int64(last) && from[len(from)-1] == dims[last] && len(b.last) > 1:
	default:
		b = b.flat()
	}
	b.rank, b.one, b.exact = rankOf(c.result.Spec), false, b.exact && b.point()
	return b
}

// hloIota counts along a dim.
func hloIota(c *operation) bounds {
	along := c.number("iota_dimension", -1)
	dims := c.result.Spec.Dims
	if along < 0 || along >= int64(len(dims)) {
		return anything(c.result)
	}
	made := c.ranged(upTo(dims[along], -1, counted))
	if d := dims[along]; along == int64(len(dims))-1 && d.Known() && 0 < d.Min && d.Min <= mostPositions {
		for i := range d.Min {
			made.last = append(made.last, number(float64(i)))
		}
	}
	return made
}

// hloPadded is elements of the first two inputs.
func hloPadded(c *operation) bounds {
	a, ok := c.input(0)
	b, also := c.input(1)
	if !ok || !also {
		return anything(c.result)
	}
	made := join([]bounds{a.flat(), b.flat()}).flat()
	made.exact = false
	return made
}

func hloDimension(c *operation) bounds {
	n := lengthOf(c.dim(0, c.number("dimension", -1)), counted)
	return bounds{interval: n, last: []interval{n}, dtype: garner.I32, rank: 0, one: true}.each(garner.I32, func(i interval) interval { return cast(garner.I32, i) })
}

// A window says where the starts of a gather of StableHLO lie, and what they address.
type window struct {
	axes  []int // of data, one for each component of a start
	sizes []int64
	along int // the dim of the starts along which their components lie; their rank where each is one component
}

// windowOf reads the attributes of a gather of StableHLO; false where they are not known.
func (l *linter) windowOf(n *model.Node) (window, bool) {
	var w window
	axes, ok := n.Attributes["start_index_map"].([]int64)
	along, also := n.Attributes["index_vector_dim"].(int64)
	sizes, known := (&operation{linter: l, node: n}).list("slice_sizes", 2)
	data, starts := input(n, 0).Spec.Rank, input(n, 1).Spec.Rank
	if !ok || !also || !known || !data.Known() || !starts.Known() || len(sizes) != data.Min || along < 0 || along > int64(starts.Min) {
		return w, false
	}
	for _, a := range axes {
		if a < 0 || a >= int64(data.Min) {
			return w, false
		}
		w.axes = append(w.axes, int(a))
	}
	w.sizes, w.along = sizes, int(along)
	return w, true
}

// unjudgedWindows says why lint does not look at constant starts of a gather of StableHLO: their
// components do not lie along the last dim.
func unjudgedWindows(n *model.Node) string {
	along, ok := n.Attributes["index_vector_dim"].(int64)
	axes, _ := n.Attributes["start_index_map"].([]int64)
	rank := input(n, 1).Spec.Rank
	if runtimeOf(n.Operator) != XLA || ok && rank.Known() && (len(axes) < 2 || along >= int64(rank.Min)-1) {
		return ""
	}
	return "the components of a start do not lie along the last dim, so lint does not compare them with the dims that they address"
}

// starts gives how many starts a window has along the dim of each component; nil where the components do not
// lie along the last dim of the indices.
func (s *subject) starts() []garner.Dim {
	w, ok := s.windowOf(s.node)
	if !ok || len(w.axes) > 1 && w.along < s.indices.Spec.Rank.Min-1 {
		return nil
	}
	dims := make([]garner.Dim, len(w.axes))
	for i, axis := range w.axes {
		d, size := s.data.Spec.Dims[axis], int(min(max(w.sizes[axis], 0), 1<<31-1))
		d.Min = max(d.Min-size+1, 0)
		if d.Max != garner.Unbounded {
			d.Max = max(d.Max-size+1, 0)
		}
		dims[i] = d
	}
	return dims
}

// movedStarts finds starts of windows that XLA moves inside, unless a mask replaces what they read.
func movedStarts(r *Rule, s *subject) error {
	if runtimeOf(s.operator.Name) != XLA {
		return nil
	}
	if masked, err := s.masked(); masked || err != nil {
		return err
	}
	scan, err := s.scan()
	if err != nil {
		return err
	}
	if scan != nil {
		bad := scan.negative
		bad.add(scan.outside)
		if bad.count == 0 {
			return nil
		}
		s.find(r, s.answers(r), "%s = %s is outside%s, which has %s such starts%s", s.position(bad.at), bad.value, s.axisNamed(bad.axis), s.addressed()[bad.axis], bad.others(scan.total))
		return nil
	}
	return s.eachIndex(func(i index) bool {
		if i.exact && (i.low.at < 0 || i.dim.Max != garner.Unbounded && i.high.at >= float64(i.dim.Max)) {
			s.find(r, s.answers(r), "the indices are computed from constants and are %s to %s, and%s has %s starts", digits(i.low.at), digits(i.high.at), s.axisNamed(i.axis), i.dim)
			return true
		}
		text, found := i.loose(s)
		if found {
			s.findAs(r, Note, s.answers(r), "%s; with one outside", text)
		}
		return found
	})
}

// masked reports whether each use of a gather's result is a Select that takes it only where
// Compare finds all components of the start inside: what JAX makes of its mode fill.
func (s *subject) masked() (bool, error) {
	if len(s.node.Outputs) != 1 || s.node.Outputs[0] == nil {
		return false, nil
	}
	dims := s.starts()
	uses := s.usesOf(s.node.Outputs[0])
	for _, n := range uses {
		if n == nil || n.Op != "select" || n.Domain != "" || len(n.Inputs) != 3 || n.Inputs[1] != s.node.Outputs[0] || n.Inputs[2] == n.Inputs[1] || n.Inputs[0] == nil {
			return false, nil
		}
		if inside, err := s.isInside(n.Inputs[0], dims); !inside || err != nil {
			return false, err
		}
	}
	return len(uses) > 0 && dims != nil, nil
}

// usesOf lists the nodes that read the result of a gather of StableHLO, with nil for a graph whose result it is.
func (l *linter) usesOf(v *model.Value) []*model.Node {
	if l.uses != nil {
		return l.uses[v]
	}
	l.uses = map[*model.Value][]*model.Node{}
	add := func(v *model.Value, n *model.Node) {
		if v != nil && v.From != nil && runtimeOf(v.From.Operator) == XLA {
			l.uses[v] = append(l.uses[v], n)
		}
	}
	results := func(g *model.Graph) {
		for _, o := range g.Outputs {
			add(o.Value, nil)
		}
	}
	if l.model.Graph != nil {
		results(l.model.Graph)
	}
	for n := range l.model.Nodes() {
		for _, v := range n.Inputs {
			add(v, n)
		}
		for _, g := range n.Graphs {
			results(g.Graph)
		}
	}
	return l.uses[v]
}

// isInside reports whether a condition of the shape of a gather's result is true only where each component of the
// start is inside.
func (s *subject) isInside(v *model.Value, dims []garner.Dim) (bool, error) {
	w, ok := s.windowOf(s.node)
	if !ok {
		return false, nil
	}
	// The condition broadcasts from the dims of the starts, in their order, to those of the result.
	offsets, _ := s.node.Attributes["offset_dims"].([]int64)
	if n := v.From; n != nil && n.Op == "broadcast_in_dim" && n.Domain == "" {
		to, _ := n.Attributes["broadcast_dimensions"].([]int64)
		var batch []int64
		for i := range s.node.Outputs[0].Spec.Dims {
			if !slices.Contains(offsets, int64(i)) {
				batch = append(batch, int64(i))
			}
		}
		if !slices.Equal(to, batch) {
			return false, nil
		}
		v = input(n, 0)
	} else if len(offsets) > 0 {
		return false, nil
	}
	if n := v.From; n != nil && n.Op == "reduce" && n.Domain == "" {
		over, _ := n.Attributes["dimensions"].([]int64)
		if !appliesAnd(n) || !slices.Equal(over, []int64{int64(w.along)}) || len(n.Inputs) != 2 {
			return false, nil
		}
		v = input(n, 0)
	} else if n != nil && n.Op == "reshape" && n.Domain == "" && len(dims) == 1 && w.along < s.indices.Spec.Rank.Min {
		v = input(n, 0)
	} else if w.along < s.indices.Spec.Rank.Min {
		return false, nil
	}
	below, beyond := make([]bool, len(dims)), make([]bool, len(dims))
	if s.indices.Spec.DType.IsUnsigned() {
		for i := range below {
			below[i] = true
		}
	}
	left := []*model.Value{v}
	const most = 32 // conditions that and joins
	for range most {
		if len(left) == 0 {
			break
		}
		n := left[0].From
		left = left[1:]
		switch {
		case n == nil || n.Domain != "" || len(n.Inputs) != 2 || n.Inputs[0] == nil || n.Inputs[1] == nil:
		case n.Op == "and":
			left = append(left, n.Inputs...)
		case n.Op == "compare" && n.Inputs[0] == s.indices:
			b, err := s.bounds(n.Inputs[1])
			if err != nil {
				return false, err
			}
			direction, _ := n.Attributes["comparison_direction"].(string)
			for i, d := range dims {
				k := b.interval
				if len(b.last) == len(dims) {
					k = b.last[i]
				}
				switch direction {
				case "GE":
					below[i] = below[i] || k.low.at >= 0
				case "GT":
					below[i] = below[i] || k.low.at >= -1
				case "LE":
					beyond[i] = beyond[i] || k.high.at < float64(d.Min)
				case "LT":
					beyond[i] = beyond[i] || k.high.at <= float64(d.Min)
				}
			}
		}
	}
	return !slices.Contains(below, false) && !slices.Contains(beyond, false), nil
}

// appliesAnd reports whether a reduce applies stablehlo.and, in either syntax.
func appliesAnd(n *model.Node) bool {
	if len(n.Graphs) == 0 {
		return n.Attributes["applies"] == "stablehlo.and"
	}
	body := n.Graphs[0].Graph
	if len(n.Graphs) != 1 || body == nil || len(body.Inputs) != 2 || len(body.Outputs) != 1 || body.Outputs[0].Value == nil {
		return false
	}
	from := body.Outputs[0].Value.From
	return from != nil && from.Op == "and" && from.Domain == "" && len(from.Inputs) == 2 &&
		(slices.Equal(from.Inputs, body.Inputs) || from.Inputs[0] == body.Inputs[1] && from.Inputs[1] == body.Inputs[0])
}

// windowAxis names the dim of data that a component of a start addresses, and the size of the window.
func (s *subject) windowAxis(component int) string {
	w, ok := s.windowOf(s.node)
	if !ok || component >= len(w.axes) {
		return ""
	}
	axis := w.axes[component]
	if w.sizes[axis] == 1 {
		return fmt.Sprintf(" axis %d of data", axis)
	}
	return fmt.Sprintf(" axis %d of data in windows of %d", axis, w.sizes[axis])
}

// isWindows reports whether a gather is of StableHLO.
func isWindows(o operators.Operator) bool { return runtimeOf(o.Name) == XLA }
