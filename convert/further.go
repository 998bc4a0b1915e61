package convert

import (
	"slices"

	"github.com/garner-go/garner"
)

// Operators that only some models have around their gathers.

// splitOf converts an operator whose outputs are parts of its input along an axis: slices.
// lengths gives them, for an axis as long as length.
func splitOf(axis func(c *call) int64, lengths func(c *call, length int) []int64) func(c *call) {
	return func(c *call) {
		x := c.in(0)
		at := c.axisOf(axis(c), c.needRank(x))
		length, ok := x.dim(at)
		if !ok {
			c.fail(garner.ErrShape, "the length of axis %d of its input %s is not known, and a conversion needs it: declare it", at, x.label())
		}
		if c.err != nil {
			return
		}
		list := lengths(c, length)
		left := int64(length)
		for _, n := range list {
			if n < 0 || n > left {
				left = -1
				break
			}
			left -= n
		}
		if c.err == nil && (left != 0 || len(list) != len(c.node.Outputs)) {
			c.fail(garner.ErrShape, "its parts %v do not make up the %d of axis %d for %d outputs", list, length, at, len(c.node.Outputs))
		}
		if c.err != nil {
			return
		}
		from := int64(0)
		for _, n := range list {
			c.made = append(c.made, c.cut(x, int64(at), from, from+n))
			from += n
		}
	}
}

// evenly gives n parts of one length; with shorter the last may have less.
func (c *call) evenly(length int, shorter bool) []int64 {
	n := len(c.node.Outputs)
	each := (length + n - 1) / n
	last := length - each*(n-1)
	if last != each && !shorter || last < 0 {
		c.fail(garner.ErrShape, "an axis of %d has no %d parts of one length", length, n)
		return nil
	}
	return append(slices.Repeat([]int64{int64(each)}, n-1), int64(last))
}

var onnxSplit = splitOf(func(c *call) int64 { return c.attribute("axis", 0) }, func(c *call, length int) []int64 {
	if list, ok := c.list("split", 1); ok {
		return list
	}
	if n := c.attribute("num_outputs", int64(len(c.node.Outputs))); n != int64(len(c.node.Outputs)) {
		c.fail(garner.ErrAttribute, "its num_outputs is %d, and it has %d outputs", n, len(c.node.Outputs))
	}
	return c.evenly(length, !c.before(18))
})

var irSplit = splitOf(func(c *call) int64 { return c.constantInteger(1) }, func(c *call, length int) []int64 {
	return c.evenly(length, false)
})

// irVariadicSplit has lengths, of which one may be -1: what the others leave.
var irVariadicSplit = splitOf(func(c *call) int64 { return c.constantInteger(1) }, variadicLengths("split_lengths", 2))

func variadicLengths(name string, i int) func(c *call, length int) []int64 {
	return func(c *call, length int) []int64 {
		list, _ := c.list(name, i)
		list = slices.Clone(list)
		if at := slices.Index(list, -1); at >= 0 {
			list[at] = int64(length)
			for i, n := range list {
				if i != at {
					list[at] -= min(max(n, 0), int64(length))
				}
			}
		}
		return list
	}
}

// liteSplitV has the axis as its last input.
var liteSplitV = splitOf(func(c *call) int64 { return c.constantInteger(2) }, variadicLengths("size_splits", 1))

// absOf converts Abs. Of integers it is a Select, because OpenVINO drops an Abs of what it
// folds.
func absOf(c *call) {
	x := c.in(0)
	switch d := x.spec.DType; {
	case d.IsUnsigned() && !d.Packed():
		c.set(c.one(opIdentity, x))
	case d.IsInteger() && !d.Packed():
		wide := x
		if d.Bits() < 32 {
			wide = c.cast(x, garner.I32) // which holds the number that the dtype lacks, and whose conversion back cuts bits off
		}
		c.leaves(d)
		if d == garner.I8 && c.options.runtime == openVINO {
			c.lossy("%s of -128 is 127 in OpenVINO, and -128 elsewhere", c.node.Op)
		}
		zero := c.number(wide.spec.DType, 0)
		c.set(c.cast(c.choose(c.two(opLess, wide, zero), c.one(opNeg, wide), wide), d))
	case d == garner.F32 || d == garner.F64 || d == garner.F16 || d == garner.BF16:
		c.rounds("Abs", x)
		if c.crosses(openVINO) && !x.varies() {
			c.fail(ErrUnsupported, "Abs of what nodes compute of constants is not converted: OpenVINO leaves it out; make it a constant")
		}
		c.set(c.one(opAbs, x))
	default:
		c.fail(garner.ErrDType, "Abs of %s is not converted; that of integers, f16, f32 and f64 is", d)
	}
}

// varies reports whether a value depends on an input of the model.
func (v *value) varies() bool {
	if v.from != nil {
		return v.from.varies
	}
	return !v.held()
}

// reads reports whether a value depends on elements of an input of the model.
func (v *value) reads() bool {
	return v.finds(func(v *value) (bool, []*value) {
		switch {
		case v.from == nil:
			return !v.held(), nil
		case v.from.op == opShape:
			return false, nil
		}
		return false, v.from.in
	})
}

// reduceSumOf adds along constant axes.
func reduceSumOf(keep string, without int64) func(c *call) {
	return func(c *call) {
		x := c.in(0)
		axes, none := c.reducedAxes(x, keep)
		if none {
			c.set(x)
			return
		}
		if d := x.spec.DType; !slices.Contains(signed, d) && !slices.Contains(reals, d) {
			c.fail(garner.ErrDType, "%s of %s is not converted; that of i32, i64, f32 and f64 is", c.node.Op, d)
		}
		c.distinct(axes, c.needRank(x))
		if c.crosses(openVINO) {
			c.lossy("OpenVINO adds in f32 and in an order of its own")
		}
		c.set(c.add(&node{op: opReduceSum, in: []*value{x}, list: slices.Clone(axes), flag: c.attribute(keep, without) != 0}, x.spec.DType))
	}
}

// cumSumOf adds along one constant axis, and gives every sum on the way.
func cumSumOf(c *call) {
	x := c.in(0)
	if d := x.spec.DType; !slices.Contains(signed, d) && !slices.Contains(reals, d) {
		c.fail(garner.ErrDType, "CumSum of %s is not converted; that of i32, i64, f32 and f64 is", d)
	}
	axis := int64(0)
	if c.has(1) {
		axis = c.constantInteger(1)
	}
	n := &node{op: opCumSum, in: []*value{x}, axis: c.axisOf(axis, c.needRank(x)), flag: c.attribute("exclusive", 0) != 0}
	if c.attribute("reverse", 0) != 0 {
		n.batch = 1
	}
	c.set(c.add(n, x.spec.DType))
}
