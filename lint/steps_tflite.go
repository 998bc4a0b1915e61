package lint

import (
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// tfliteSteps are the operators of LiteRT whose results are bounded, by their names.
var tfliteSteps = map[string]step{
	"MAXIMUM": ofAll(leftToRight(ofAnyType(most))), "MINIMUM": ofAll(leftToRight(ofAnyType(least))),
	"ADD": ofAll(leftToRight(sum)), "SUB": ofAll(leftToRight(difference)), "MUL": ofAll(leftToRight(product)),
	"DIV": ofAll(leftToRight(truncatedQuotient)), "FLOOR_DIV": ofAll(divided), "FLOOR_MOD": ofAll(leftToRight(remainder)),
	"NEG": of(unary(negative), 0), "ABS": of(unary(absolute), 0),
	"FLOOR": steps["Floor"], "CEIL": steps["Ceil"],

	"SELECT": {[]int{1, 2}, chosen, compared}, "SELECT_V2": {[]int{1, 2}, chosen, compared},
	"EQUAL": truth, "NOT_EQUAL": truth, "LESS": truth, "LESS_EQUAL": truth, "GREATER": truth, "GREATER_EQUAL": truth,
	"LOGICAL_AND": truth, "LOGICAL_OR": truth, "LOGICAL_NOT": truth,

	"CONCATENATION": ofAll(concatenated), "PACK": ofAll(packed),
	"SLICE": of(elementsOf, 0), "STRIDED_SLICE": of(elementsOf, 0), "TILE": of(elementsOf, 0), "REVERSE_V2": of(elementsOf, 0),
	"REVERSE_SEQUENCE": of(elementsOf, 0), "UNPACK": of(elementsOf, 0), "SPLIT_V": of(elementsOf, 0), "BROADCAST_TO": of(expanded, 0),
	"SPLIT": of(func(c *operation) bounds { return c.someOf(1) }, 1),
	"FILL":  of(func(c *operation) bounds { return c.someOf(1) }, 1),

	"SHAPE": ofNone(tfliteShape), "RANGE": ofAll(counting),
	"ARG_MAX": ofNone(tfliteArgument), "ARG_MIN": ofNone(tfliteArgument), "ZEROS_LIKE": within(0, 0),
}

// plainOp gives the name that a node's operator has in OpenVINO, of those whose names lint compares.
func plainOp(n *model.Node) string {
	switch n.Op {
	case "LESS":
		return "Less"
	case "GREATER_EQUAL":
		return "GreaterEqual"
	case "ADD", "add":
		return "Add"
	case "compare": // of StableHLO
		switch n.Attributes["comparison_direction"] {
		case "LT":
			return "Less"
		case "GE":
			return "GreaterEqual"
		}
	}
	return n.Op
}

// computesCodes reports whether a node of LiteRT computes other elements than its name says:
// codes of a quantised tensor, or those of an activation function behind it. A node may have as many
// results as asks for it, so that what was found is kept.
func (l *linter) computesCodes(n *model.Node) (made bool) {
	if made, ok := l.codes[n]; ok {
		return made
	}
	defer func() { l.codes[n] = made }()
	quantised := func(v *model.Value) bool { return v != nil && v.Quantised != nil }
	return n.Attributes["fused_activation_function"] != nil || slices.ContainsFunc(n.Inputs, quantised) || slices.ContainsFunc(n.Outputs, quantised)
}

// someOf is the bounds of elements of the i-th input.
func (c *operation) someOf(i int) bounds {
	b, _ := c.input(i)
	b.exact = false
	return b.flat()
}

// packed is the bounds of PACK, which joins tensors along a new axis. Scalars are the components of
// a tuple.
func packed(c *operation) bounds {
	list := make([]bounds, 0, len(c.node.Inputs))
	for i := range c.node.Inputs {
		if b, ok := c.input(i); ok {
			list = append(list, b)
		}
	}
	if len(list) == 0 {
		return anything(c.result)
	}
	made := join(list)
	rank := rankOf(c.result.Spec)
	made.last, made.rank, made.one = nil, rank, false
	if axis := c.number("axis", 0); rank > 0 && (axis == -1 || axis == int64(rank)-1) && len(list) <= mostPositions && len(list) == len(c.node.Inputs) {
		for _, b := range list {
			made.last = append(made.last, b.interval)
		}
	}
	return made
}

// tfliteShape is the bounds of SHAPE, whose result has the type that the file says.
func tfliteShape(c *operation) bounds {
	b := shapeOf(c)
	if to := c.result.Spec.DType; to.Valid() && to.IsInteger() {
		b = b.each(to, func(i interval) interval { return cast(to, i) })
	}
	return b
}

// tfliteArgument is the bounds of positions along the axis that is the second input.
func tfliteArgument(c *operation) bounds {
	d := garner.AnyDim
	if axes, ok := c.list("", 1); ok && len(axes) == 1 {
		d = c.dim(0, axes[0])
	}
	made := bounds{interval: upTo(d, -1, position), dtype: garner.I64, rank: -1}
	if c.result.Spec.DType.IsInteger() {
		made.dtype = c.result.Spec.DType
	}
	return made
}
