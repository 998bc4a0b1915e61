package convert

import (
	"github.com/garner-go/garner"
)

// compute converts a binary operator: what the source's runtime answers, from operators
// of the target.
func (p *program) compute(o op, a, b *value) *value {
	dtype := a.spec.DType
	if dtype != b.spec.DType {
		p.fail(garner.ErrDType, "its inputs are %s and %s, which differ in dtype", a.spec, b.spec)
		return a
	}
	switch o {
	case opAnd, opOr, opXor:
		if dtype != garner.Bool {
			p.fail(garner.ErrDType, "%s of %s is not converted; that of bool is", o, dtype)
		}
		return p.two(o, a, b)
	case opEqual, opLess, opLessEq, opGreater, opGreatEq:
		if dtype == garner.Bool && o != opEqual || dtype == garner.F16 || dtype == garner.BF16 {
			p.fail(garner.ErrDType, "%s of %s is not converted", o, dtype)
		}
		if dtype == garner.U32 || dtype == garner.U64 {
			p.narrows(dtype)
		}
		return p.two(o, a, b)
	}
	switch {
	case dtype == garner.Bool || dtype == garner.F16 || dtype == garner.BF16 || !dtype.IsInteger() && dtype != garner.F32 && dtype != garner.F64:
		p.fail(garner.ErrDType, "%s of %s is not converted; arithmetic is of integers, f32 and f64", o, dtype)
		return a
	case dtype.IsFloat():
		return p.real(o, a, b)
	}
	switch o {
	case opBitAnd, opBitOr, opBitXor:
		return p.two(o, a, b)
	}
	if dtype == garner.U32 || dtype == garner.U64 {
		p.narrows(dtype)
	}
	saturates := dtype.Bits() == 8 && (o == opAdd || o == opSub || o == opMul)
	if saturates && p.options.runtime == openVINO {
		p.fail(garner.ErrDType, "%s of %s saturates in OpenVINO, and wraps elsewhere; convert to i32 around it", o, dtype)
	}
	wide := a.spec.DType
	if p.target == irTarget && dtype.Bits() < 32 || o != opFloorDiv && !p.target.takes(o, dtype) && dtype.Bits() < 32 {
		wide = garner.I32 // which wraps, and whose conversion back cuts bits off
	}
	x, y := p.cast(a, wide), p.cast(b, wide)
	made := x
	switch {
	case p.target == irTarget && (o == opDiv || o == opMod || o == opFloor || o == opFloorDiv):
		made = p.divide(o, x, y)
	case o == opFloorDiv:
		made = p.two(opDiv, p.two(opSub, x, p.two(opFloor, x, y)), y)
	default:
		made = p.two(o, x, y)
	}
	return p.cast(made, dtype)
}

// narrows is for integers that OpenVINO computes as i32.
func (p *program) narrows(dtype garner.DType) {
	if p.target == irTarget {
		p.lossy("OpenVINO computes %s as i32, which changes numbers from 2^31 on", dtype)
	}
}

// real converts arithmetic of floats.
func (p *program) real(o op, a, b *value) *value {
	ir := p.target == irTarget || p.options.runtime == openVINO
	switch o {
	case opAdd, opSub:
		if ir {
			for _, v := range []*value{a, b} {
				if v.from != nil && v.from.op == opMul {
					p.lossy("OpenVINO may compute a product and a sum in one step, which rounds once")
				}
			}
		}
	case opMul:
	case opMin, opMax:
		if ir {
			p.lossy("OpenVINO's least and greatest of floats may differ for a NaN, and in the sign of a zero")
		}
	case opDiv:
		if ir {
			p.lossy("OpenVINO divides floats by a product with the reciprocal, which may differ in the last bit")
		}
	default:
		p.fail(garner.ErrDType, "%s of %s is not converted", o, a.spec.DType)
	}
	return p.two(o, a, b)
}

// divide makes a division of integers, or its remainder, that is exact in OpenVINO: its CPU plugin
// computes one in f32, so that a quotient of numbers beyond 2^24 is a little off. Two
// steps leave a quotient that is off by one at most; two more mend that.
func (p *program) divide(o op, x, y *value) *value {
	zero, one := p.number(x.spec.DType, 0), p.number(x.spec.DType, 1)
	rest := func(q *value) *value { return p.two(opSub, x, p.two(opMul, q, y)) }
	q := p.two(opDiv, x, y)
	q = p.two(opAdd, q, p.two(opDiv, rest(q), y))
	r := rest(q)
	below := p.two(opLess, y, zero)
	differs := func(v *value) *value { return p.two(opXor, p.two(opLess, v, zero), below) }
	isZero := func(v *value) *value { return p.two(opEqual, v, zero) }
	// Floor: the remainder has the divisor's sign.
	less := p.two(opAnd, p.one(opNot, isZero(r)), differs(r))
	q, r = p.choose(less, p.two(opSub, q, one), q), p.choose(less, p.two(opAdd, r, y), r)
	m := p.two(opSub, r, y)
	more := p.two(opOr, isZero(m), p.one(opNot, differs(m)))
	q, r = p.choose(more, p.two(opAdd, q, one), q), p.choose(more, m, r)
	switch o {
	case opFloor:
		return r
	case opFloorDiv:
		return q
	}
	up := p.two(opAnd, p.one(opNot, isZero(r)), differs(x)) // towards 0
	if o == opMod {
		return p.choose(up, p.two(opSub, r, y), r)
	}
	return p.choose(up, p.two(opAdd, q, one), q)
}

// castTo converts a cast of the source.
func (p *program) castTo(x *value, to garner.DType) *value {
	from := x.spec.DType
	switch to {
	case from:
		return p.one(opIdentity, x)
	case garner.Bool, garner.I8, garner.I16, garner.I32, garner.I64, garner.U8, garner.U16, garner.U32, garner.U64,
		garner.F16, garner.BF16, garner.F32, garner.F64:
	default:
		p.fail(garner.ErrDType, "a cast of %s to %s is not converted", from, to)
		return x
	}
	if from != garner.Bool && !from.IsInteger() && (!from.IsFloat() || from.Bits() < 16) {
		p.fail(garner.ErrDType, "a cast of %s to %s is not converted", from, to)
		return x
	}
	if from.Packed() && p.target == onnxTarget && !p.target.takes(opCast, from) {
		p.fail(garner.ErrDType, "a cast of %s to %s is not converted", from, to)
	}
	if from.IsFloat() && to.IsInteger() {
		p.note("replaced", "a float that %s does not hold converts to another number in another runtime", to)
	}
	return p.add(&node{op: opCast, in: []*value{x}}, to)
}
