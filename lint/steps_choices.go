package lint

import (
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// choiceSteps are the operators that choose between values, and those that compare.
var choiceSteps = map[string]step{
	"Where": {[]int{1, 2}, chosen, compared}, "Select": {[]int{1, 2}, chosen, compared},
	"OneHot": ofAll(oneHot),

	"Equal": truth, "NotEqual": truth,
	"Less": truth, "LessOrEqual": truth, "LessEqual": truth, "Greater": truth, "GreaterOrEqual": truth, "GreaterEqual": truth,
	"And": truth, "Or": truth, "Xor": truth, "Not": truth,
	"LogicalAnd": truth, "LogicalOr": truth, "LogicalXor": truth, "LogicalNot": truth,
	"IsNaN": truth, "IsInf": truth,
}

var truth = ofNone(func(c *operation) bounds {
	return bounds{interval: span(0, 1), dtype: garner.Bool, rank: -1}
})

// compared lists what a condition x < k compares, and what is added to x.
func compared(n *model.Node) []*model.Value {
	list := slices.Clone(operandsOf(input(n, 0), "Less", "GreaterOrEqual", "GreaterEqual"))
	for _, i := range []int{1, 2} {
		list = append(list, operandsOf(input(n, i), "Add")...)
	}
	return list
}

// operandsOf gives the two operands of the node that makes a value, if its operator
// is one of some.
func operandsOf(v *model.Value, ops ...string) []*model.Value {
	n := v.From
	if n == nil || n.Domain != "" || !slices.Contains(ops, plainOp(n)) || len(n.Inputs) != 2 || n.Inputs[0] == nil || n.Inputs[1] == nil {
		return nil
	}
	return n.Inputs
}

// chosen is the bounds of Where, whose condition broadcasts with the two values. It
// understands how exporters count negative indices from the end: x < 0 ? x + n : x.
func chosen(c *operation) bounds {
	a, _ := c.input(1)
	b, _ := c.input(2)
	if in := operandsOf(input(c.node, 0), "Less", "GreaterOrEqual", "GreaterEqual"); in != nil && c.of(in[0]).dtype.IsInteger() {
		if x, k := c.of(in[0]), c.of(in[1]); k.point() && k.why() == fixed {
			under, above := x, x
			under.interval = least(x.interval, number(k.low.at-1))
			above.interval = most(x.interval, number(k.low.at))
			if plainOp(input(c.node, 0).From) != "Less" {
				under, above = above, under
			}
			a, b = c.where(input(c.node, 1), in[0], under, a), c.where(input(c.node, 2), in[0], above, b)
			// A value that no element can choose adds nothing.
			switch less := plainOp(input(c.node, 0).From) == "Less"; {
			case x.low.at >= k.low.at && less, x.high.at < k.low.at && !less:
				a.interval, a.last = b.interval, b.stretched(len(a.last))
			case x.low.at >= k.low.at && !less, x.high.at < k.low.at && less:
				b.interval, b.last = a.interval, a.stretched(len(b.last))
			}
		}
	}
	made := both(typeOf(a, b), a, b, func(x, y interval) interval {
		i := union(x, y)
		i.exact = false // the condition may choose one, or have no element
		return i
	})
	condition := c.spec(0)
	if len(made.last) == 1 && condition.Rank != garner.Exactly(0) {
		made.last, made.one = nil, false
	}
	if rank := rankOf(condition); rank < 0 || made.rank < rank {
		made.rank = -1
	}
	return made
}

// stretched is the positions of bounds where a value has n of them.
func (b bounds) stretched(n int) []interval {
	if n == len(b.last) || n == 0 {
		return b.last[:n]
	}
	any := b.interval
	any.exact = any.exact && any.point()
	return slices.Repeat([]interval{any}, n)
}

// where gives the bounds of a value where x is within narrower ones: of x itself, and
// of a sum with x. Those of any other are as they were.
func (c *operation) where(v, x *model.Value, within, otherwise bounds) bounds {
	in := operandsOf(v, "Add")
	switch {
	case v == x:
		otherwise.interval, otherwise.last = within.interval, nil
	case in != nil && in[0] == x:
		otherwise.interval, otherwise.last = sum(within.dtype, within.interval, c.of(in[1]).interval), nil
	case in != nil && in[1] == x:
		otherwise.interval, otherwise.last = sum(within.dtype, within.interval, c.of(in[0]).interval), nil
	}
	return otherwise.settled()
}

// oneHot is the bounds of the two values that OneHot writes.
func oneHot(c *operation) bounds {
	at := []int{2}
	if c.wordsOf(OpenVINO) {
		at = []int{2, 3}
	}
	var list []bounds
	for _, i := range at {
		b, ok := c.input(i)
		if !ok {
			return anything(c.result)
		}
		list = append(list, b.flat())
	}
	made := join(list)
	made.exact, made.last = false, nil
	return made
}
