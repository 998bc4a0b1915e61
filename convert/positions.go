package convert

import (
	"context"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/operators"
)

// Operators of ONNX that are about the positions of elements, and one of LiteRT.

// nonZeroOf converts NonZero, which both targets have.
func nonZeroOf(c *call) {
	x := c.in(0)
	if c.needRank(x) == 0 {
		c.fail(garner.ErrShape, "NonZero of one number is not converted, because runtimes give it different shapes")
	}
	c.set(c.cast(c.nonZero(x), c.outputType(garner.I64)))
}

// whereTrue converts Where and WHERE of one input, the positions that are not zero, a row for each.
func whereTrue(c *call) {
	x := c.in(0)
	if c.needRank(x) == 0 {
		c.fail(garner.ErrShape, "%s of one number is not converted", c.node.Op)
	}
	if x.spec.DType.IsFloat() {
		c.lossy("%s takes denormal numbers for zero, and the target's NonZero may not", c.options.runtime)
	}
	c.set(c.transpose(c.nonZero(x), []int64{1, 0}))
}

func (p *program) nonZero(x *value) *value {
	return p.add(&node{op: opNonZero, in: []*value{x}}, garner.I64)
}

// compressOf converts Compress: a gather of the positions at which the condition is true. Of a
// condition longer than its axis, ONNX Runtime leaves the rest alone.
func compressOf(c *call) {
	x, condition := c.in(0), c.in(1)
	if rank, ok := condition.rank(); condition.spec.DType != garner.Bool || !ok || rank != 1 {
		c.fail(garner.ErrDType, "its condition is %s; it must be a vector of bool", condition.spec)
		return
	}
	axis := 0
	if c.node.Attributes["axis"] == nil {
		x = c.reshape(x, c.of(-1), false)
	} else {
		axis = c.axisOf(c.attribute("axis", 0), c.needRank(x))
	}
	if c.err != nil {
		return
	}
	length, known := x.dim(axis)
	if c.target == irTarget && known && !condition.varies() {
		c.set(c.bare(opGather, x, c.truths(condition, length), axis, 0))
		return
	}
	if n, ok := condition.dim(0); !ok || !known || n > length {
		positions := c.iota(c.length(condition, 0, garner.I64))
		condition = c.two(opAnd, condition, c.two(opLess, positions, c.length(x, axis, garner.I64)))
	}
	c.set(c.bare(opGather, x, c.squeeze(c.nonZero(condition), []int64{0}), axis, 0))
}

// truths gives the positions at which a constant condition is true, those below length, as a constant:
// OpenVINO ends its process where it finds out that there are none.
func (c *call) truths(condition *value, length int) *value {
	if !condition.held() {
		c.fail(ErrUnsupported, "nodes compute its condition of constants; make it a constant")
		return c.of()
	}
	var list []int64
	err := condition.each(context.Background(), func(at int64, b []byte) error {
		for i, v := range b {
			if n := at + int64(i); v != 0 && n < int64(length) {
				list = append(list, n)
			}
		}
		return nil
	})
	if err != nil && c.err == nil {
		c.err = err
	}
	return c.hold(garner.Of(list, len(list)))
}

// diagonal gives, for each element of the last two dims of x, its column without its row.
func (c *call) diagonal(x *value, rank int) *value {
	columns, rows := c.iota(c.length(x, rank-1, garner.I64)), c.iota(c.length(x, rank-2, garner.I64))
	return c.two(opSub, c.unsqueeze(columns, 0), c.unsqueeze(rows, 1))
}

// eyeLikeOf converts EyeLike: 1 along a diagonal.
func eyeLikeOf(c *call) {
	x := c.in(0)
	to := x.spec.DType
	if code := c.attribute("dtype", -1); code != -1 {
		to = operators.ONNXType(code)
	}
	if rank := c.needRank(x); c.err == nil && rank != 2 {
		c.fail(garner.ErrShape, "its input is %s; it must have two dims", x.spec)
	}
	if c.err == nil {
		c.set(c.castTo(c.two(opEqual, c.diagonal(x, 2), c.number(garner.I64, c.attribute("k", 0))), to))
	}
}

// triluOf converts Trilu: zeros below a diagonal, or above it.
func triluOf(c *call) {
	x := c.in(0)
	rank := c.needRank(x)
	if c.err == nil && rank < 2 {
		c.fail(garner.ErrShape, "its input is %s; it must have two dims and more", x.spec)
	}
	if d := x.spec.DType; !d.HasZero() || d == garner.String {
		c.fail(garner.ErrDType, "Trilu of %s is not converted", d)
	}
	if c.err != nil {
		return
	}
	k := c.number(garner.I64, 0)
	if c.has(1) {
		if k = c.in(1); k.spec.Rank != garner.Exactly(0) {
			k = c.reshape(k, c.of(), false)
		}
	}
	outside := opLess
	if c.attribute("upper", 1) == 0 {
		outside = opGreater
	}
	c.set(c.choose(c.two(outside, c.diagonal(x, rank), k), c.zero(x.spec.DType), x))
}

// oneHotOf converts OneHot: a gather of its two values.
func oneHotOf(c *call) {
	indices, values := c.in(0), c.in(2)
	depth := c.constantInteger(1)
	rank := c.needRank(indices)
	if c.err != nil {
		return
	}
	if d := indices.spec.DType; !d.IsInteger() || d.Packed() || d == garner.U64 {
		c.fail(garner.ErrDType, "OneHot of indices of %s is not converted; that of integers but u64 is", d)
	}
	if c.target == irTarget && depth > 1<<24 {
		c.lossy("OpenVINO compares integers as f32, and its depth is %d", depth)
	}
	if rank == 0 || depth < 1 {
		c.fail(garner.ErrShape, "its indices have %d dims, and its depth is %d; both must be 1 and more", rank, depth)
	}
	axis := c.axisOf(c.attribute("axis", -1), rank+1)
	if c.err != nil {
		return
	}
	i := c.cast(indices, garner.I64)
	n := c.number(garner.I64, depth)
	i = c.choose(c.two(opLess, i, c.number(garner.I64, 0)), c.two(opAdd, i, n), i)
	hot := c.two(opEqual, c.unsqueeze(i, int64(axis)), c.along(c.iota(n), axis, rank+1))
	c.set(c.bare(opGather, values, c.cast(hot, garner.I64), 0, 0))
}

// broadcastArgsOf converts BROADCAST_ARGS, the shape that two shapes broadcast to. A gather of its
// dims refuses shapes that do not.
func broadcastArgsOf(c *call) {
	a, b := c.in(0), c.in(1)
	n, ok := a.dim(0)
	m, also := b.dim(0)
	if !ok || !also || n > garner.MaxRank || m > garner.MaxRank || a.spec.DType != b.spec.DType {
		c.fail(garner.ErrShape, "its shapes %s and %s are not known to be vectors of one dtype, of up to %d dims", a.spec, b.spec, garner.MaxRank)
		return
	}
	dtype := a.spec.DType
	longer := func(v *value, by int) *value {
		if by <= 0 {
			return v
		}
		ones := make([]int64, by)
		for i := range ones {
			ones[i] = 1
		}
		return c.concat(0, c.whole(dtype, true, ones...), v)
	}
	a, b = longer(a, m-n), longer(b, n-m)
	one := c.number(dtype, 1)
	isOne := c.compute(opEqual, a, one)
	fits := c.two(opOr, c.two(opOr, isOne, c.compute(opEqual, b, one)), c.compute(opEqual, a, b))
	count := int64(max(n, m))
	positions := make([]int64, count)
	for i := range positions {
		positions[i] = int64(i)
	}
	was := c.options.Outside
	c.options.Outside = Keep // these are no indices of the model
	c.set(c.gather(opGather, c.choose(isOne, b, a), c.choose(fits, c.of(positions...), c.number(garner.I64, count)), 0, 0, policy{outside: refused}))
	c.options.Outside = was
}
