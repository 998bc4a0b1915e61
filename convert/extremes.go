package convert

import (
	"slices"

	"github.com/garner-go/garner"
)

// extremeOf converts ReduceMax and ReduceMin along constant axes.
func extremeOf(o op, keep string, without int64) func(c *call) {
	return func(c *call) {
		x := c.in(0)
		axes, none := c.reducedAxes(x, keep)
		if none {
			c.set(x)
			return
		}
		c.distinct(axes, c.needRank(x))
		if c.err == nil {
			c.set(c.extreme(o, x, axes, c.attribute(keep, without) != 0))
		}
	}
}

// extreme takes the greatest or the least element along axes.
func (c *call) extreme(o op, x *value, axes []int64, keep bool) *value {
	ir := c.crosses(openVINO)
	dtype := x.spec.DType
	wide := dtype
	switch {
	case dtype == garner.F32 || dtype == garner.F64:
		if ir {
			c.lossy("OpenVINO's least and greatest of floats may differ for a NaN, and in the sign of a zero")
		}
	case !dtype.IsInteger() || dtype.Packed() || dtype == garner.U64:
		c.fail(garner.ErrDType, "%s of %s is not converted; that of integers but u64, f32 and f64 is", c.node.Op, dtype)
		return x
	case dtype.Bits() >= 32:
		if ir && !x.ofBool() {
			c.lossy("OpenVINO compares integers as f32, which does not tell those beyond 2^24 apart")
		}
		if dtype == garner.U32 {
			wide = garner.I64
		}
	default:
		wide = garner.I32
	}
	if ir {
		for _, a := range axes {
			if d, ok := x.dim(c.axisOf(a, c.needRank(x))); !ok || d == 0 {
				c.lossy("the %s of no elements differs, and axis %d of %s may have none", c.node.Op, a, x.spec)
				break
			}
		}
	}
	if c.keeps() {
		wide = dtype
	}
	made := c.add(&node{op: o, in: []*value{c.cast(x, wide)}, list: slices.Clone(axes), flag: keep, kept: c.keeps()}, wide)
	return c.cast(made, dtype)
}

// ofBool reports whether v is a conversion of bool, whose 0 and 1 f32 tells apart.
func (v *value) ofBool() bool {
	return v.from != nil && v.from.op == opCast && v.from.in[0].spec.DType == garner.Bool
}

// argExtremeOf converts ArgMax and ArgMin: of the positions of elements that are equal to the
// extreme, the first or the last. That keeps ties in every runtime.
func argExtremeOf(o op) func(c *call) {
	return func(c *call) {
		x := c.in(0)
		rank := c.needRank(x)
		axis := c.axisOf(c.attribute("axis", 0), rank)
		if c.err != nil {
			return
		}
		switch d, ok := x.dim(axis); {
		case !ok:
			c.lossy("%s of no elements is refused, and axis %d of %s may have none", c.node.Op, axis, x.spec)
		case d == 0:
			c.fail(garner.ErrShape, "axis %d of %s has no elements, and no position", axis, x.spec)
			return
		}
		if x.spec.DType.IsFloat() {
			c.lossy("%s becomes the position of an element that is equal to the extreme, and a NaN is equal to none", c.node.Op)
		}
		if d, ok := x.dim(axis); c.target == irTarget && (!ok || d > 1<<24) {
			c.lossy("OpenVINO compares positions as f32, and axis %d of %s may have more than 2^24", axis, x.spec)
		}
		best := c.extreme(o, x, []int64{int64(axis)}, true)
		length := c.length(x, axis, garner.I64)
		positions := c.along(c.iota(length), axis, rank)
		first, none := opReduceMin, length
		if c.attribute("select_last_index", 0) != 0 {
			first, none = opReduceMax, c.number(garner.I64, -1)
		}
		found := c.choose(c.two(opEqual, x, best), positions, none)
		c.set(c.add(&node{op: first, in: []*value{found}, list: []int64{int64(axis)}, flag: c.attribute("keepdims", 1) != 0}, garner.I64))
	}
}

// iota gives the numbers from 0 to a length as a vector of i64.
func (p *program) iota(length *value) *value {
	return p.add(&node{op: opRange, in: []*value{p.number(garner.I64, 0), length, p.number(garner.I64, 1)}}, garner.I64)
}

// along gives a vector dims of 1 around it, so that it lies along an axis of rank dims.
func (p *program) along(v *value, axis, rank int) *value {
	var ones []int64
	for i := range rank {
		if i != axis {
			ones = append(ones, int64(i))
		}
	}
	return p.unsqueeze(v, ones...)
}

// isNaNOf converts IsNaN: a NaN alone differs from itself.
func isNaNOf(c *call) {
	x := c.in(0)
	switch x.spec.DType {
	case garner.F32, garner.F64:
	case garner.F16, garner.BF16:
		x = c.cast(x, garner.F32)
	default:
		c.fail(garner.ErrDType, "%s of %s is not converted; that of f16, bf16, f32 and f64 is", c.node.Op, x.spec.DType)
		return
	}
	c.set(c.one(opNot, c.two(opEqual, x, x)))
}

// sqrtOf converts Sqrt of f32, which both runtimes round to the nearest.
func sqrtOf(c *call) {
	x := c.in(0)
	if x.spec.DType != garner.F32 {
		c.fail(garner.ErrDType, "Sqrt of %s is not converted; that of f32 is", x.spec.DType)
	}
	c.set(c.one(opSqrt, x))
}

// signOf converts Sign: -1, 0, 1, and NaN of a NaN.
func signOf(c *call) {
	x := c.in(0)
	dtype := x.spec.DType
	if dtype.IsInteger() && !dtype.Packed() {
		if dtype == garner.U32 || dtype == garner.U64 {
			c.narrows(dtype)
		}
		zero := c.number(dtype, 0)
		made := c.cast(c.two(opGreater, x, zero), garner.I32)
		if !dtype.IsUnsigned() {
			made = c.two(opSub, made, c.cast(c.two(opLess, x, zero), garner.I32))
		}
		c.set(c.cast(made, dtype))
		return
	}
	if dtype != garner.F32 && dtype != garner.F64 {
		c.fail(garner.ErrDType, "%s of %s is not converted; that of integers, f32 and f64 is", c.node.Op, dtype)
		return
	}
	zero := c.zero(dtype)
	one := c.cast(c.number(garner.I32, 1), dtype)
	minus := c.cast(c.number(garner.I32, -1), dtype)
	// A zero of either sign becomes 0, and a NaN stays.
	kept := c.choose(c.two(opEqual, x, x), zero, x)
	c.set(c.choose(c.two(opLess, zero, x), one, c.choose(c.two(opLess, x, zero), minus, kept)))
}
