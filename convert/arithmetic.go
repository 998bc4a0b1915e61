package convert

import (
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/departures"
	"github.com/garner-go/garner/model"
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
		if dtype == garner.Bool && o != opEqual {
			p.fail(garner.ErrDType, "%s of %s is not converted", o, dtype)
		}
		p.rounds(string(o), a, b)
		if dtype.IsFloat() {
			return p.compared(o, a, b)
		}
		if dtype == garner.U32 || dtype == garner.U64 {
			p.narrows(dtype)
		}
		if p.options.runtime == openVINO && departures.ComparesInF32(dtype) {
			p.note("differs", "OpenVINO compares integers as f32, and takes some beyond 2^24 for equal; the target is exact")
		}
		return p.ordered(o, a, b)
	}
	switch {
	case dtype == garner.Bool || !dtype.IsInteger() && dtype != garner.F16 && dtype != garner.BF16 && dtype != garner.F32 && dtype != garner.F64:
		p.fail(garner.ErrDType, "%s of %s is not converted; arithmetic is of integers, f16, f32 and f64", o, dtype)
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
	switch o {
	case opAdd, opSub, opMul, opDiv, opFloorDiv:
		p.leaves(dtype)
	}
	wide := a.spec.DType
	if p.target == irTarget && dtype.Bits() < 32 || o != opFloorDiv && !p.target.takes(o, dtype) && dtype.Bits() < 32 {
		wide = garner.I32 // which wraps, and whose conversion back cuts bits off
	}
	x, y := p.cast(a, wide), p.cast(b, wide)
	made := x
	switch {
	case p.target == irTarget && (o == opDiv || o == opMod || o == opFloorMod || o == opFloorDiv):
		made = p.divide(o, x, y)
	case o == opFloorDiv:
		made = p.two(opDiv, p.two(opSub, x, p.two(opFloorMod, x, y)), y)
	default:
		made = p.two(o, x, y)
	}
	return p.cast(made, dtype)
}

// compared converts a comparison of floats. Greater and GreaterEqual of OpenVINO's CPU plugin are true where
// an operand is NaN, and everywhere else they are false; Less, LessEqual and Equal of a NaN are false in all.
func (p *program) compared(o op, a, b *value) *value {
	turned, inverse := opLess, opLessEq
	switch o {
	case opGreater:
	case opGreatEq:
		turned, inverse = opLessEq, opLess
	default:
		return p.two(o, a, b)
	}
	switch {
	case p.options.runtime == openVINO && departures.TrueOfNaN(irLayers[o].kind):
		p.note("replaced", "%s of a NaN is true in OpenVINO: so it is in the target", o)
		return p.one(opNot, p.two(inverse, a, b))
	case p.target == irTarget:
		return p.two(turned, b, a)
	}
	return p.two(o, a, b)
}

// ordered converts a comparison of integers. OpenVINO's CPU plugin compares them as f32, which does not
// tell those beyond 2^24 apart, and computes what it compares in the same step. It subtracts exactly,
// and wraps, takes the lesser of two exactly, and a Convert between ends the step.
func (p *program) ordered(o op, a, b *value) *value {
	dtype := a.spec.DType
	if p.target != irTarget || dtype != garner.I32 && dtype != garner.I64 || b.spec.DType != dtype {
		return p.two(o, a, b)
	}
	if a.near0() || b.near0() {
		if a.from == nil && b.from == nil {
			return p.two(o, a, b)
		}
		return p.two(o, p.cast(a, garner.F32), p.cast(b, garner.F32))
	}
	a, b = p.cast(a, garner.I32), p.cast(b, garner.I32) // in which OpenVINO computes i64, and which wraps
	equal := func(x, y *value) *value {
		return p.two(opEqual, p.cast(p.two(opSub, x, y), garner.F32), p.zero(garner.F32))
	}
	atMost := func(x, y *value) *value { return equal(x, p.two(opMin, x, y)) }
	switch o {
	case opLess:
		return p.one(opNot, atMost(b, a))
	case opLessEq:
		return atMost(a, b)
	case opGreater:
		return p.one(opNot, atMost(a, b))
	case opGreatEq:
		return atMost(b, a)
	}
	return equal(a, b)
}

// near0 reports whether a value is constant integers that stay apart from all others in f32.
func (v *value) near0() bool {
	list, ok := v.integers()
	return ok && !slices.ContainsFunc(list, func(n int64) bool { return n <= -1<<24 || n >= 1<<24 })
}

// leaves is for an operator that may leave a dtype of 16 bits, where a node reads its result: inside
// OpenVINO that is i32, which is cut off where it is a result of the model alone.
func (p *program) leaves(dtype garner.DType) {
	if dtype != garner.I16 && dtype != garner.U16 || !p.crosses(openVINO) {
		return
	}
	if p.at == nil || slices.ContainsFunc(p.at.Outputs, func(v *model.Value) bool { return p.inNodes[v] }) {
		p.lossy("OpenVINO computes %s as i32, and does not cut it off between nodes", dtype)
	}
}

// zeros is for a product, a quotient or a difference of floats of which one is a constant of one element. OpenVINO's
// CPU plugin makes a product and a sum of it where it does not know all dims, in which -0 becomes 0; 0 less
// 0 is -0 where it knows them.
func (p *program) zeros(o op, a, b *value) {
	_, known := inferred(&node{op: o, in: []*value{a, b}}).Shape()
	waits := p.target == irTarget && (a.waits() || b.waits())
	difference, product := o == opSub && a.oneConstant() && !a.nonZero(), (o == opMul || o == opDiv) && (a.oneConstant() || b.oneConstant())
	switch {
	case !p.crosses(openVINO):
		if p.target == irTarget && known && waits && (difference || product) {
			p.lossy("OpenVINO knows no dims behind the guard of a gather, where a zero may have another sign")
		}
	case difference:
		p.lossy("0 less 0 may be -0 in OpenVINO, and is 0 elsewhere")
	case product && (!known || waits):
		p.lossy("a product with one number that is -0 becomes 0 in OpenVINO, which does not know all dims")
	}
}

// nonZero reports whether v is a constant of one number that is not 0.
func (v *value) nonZero() bool {
	if !v.small || v.tensor.Len() != 1 || !v.tensor.DType().IsFloat() {
		return false
	}
	x, err := v.tensor.Float64(0)
	return err == nil && x != 0
}

// narrows is for integers that OpenVINO computes as i32.
func (p *program) narrows(dtype garner.DType) {
	if p.target == irTarget && p.crosses(openVINO) {
		p.lossy("OpenVINO computes %s as i32, which changes numbers from 2^31 on", dtype)
	}
}

// real converts arithmetic of floats.
func (p *program) real(o op, a, b *value) *value {
	p.rounds(string(o), a, b)
	p.zeros(o, a, b)
	p.joins(o, a, b)
	ir := p.crosses(openVINO)
	if p.options.runtime == tensorFlow && (a.sums() || b.sums()) {
		p.lossy("TensorFlow's optimiser changes the order of sums and of products of floats")
	}
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

// sums reports whether arithmetic makes a value, or one of other dims that it is.
func (v *value) sums() bool {
	for v.from != nil {
		switch v.from.op {
		case opAdd, opSub, opMul:
			return true
		case opReshape, opSqueeze, opUnsqueeze, opTranspose, opExpand, opTile, opSlice, opIdentity:
			v = v.from.in[0]
		default:
			return false
		}
	}
	return false
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
	case opFloorMod:
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
	if fits := from == garner.U8 || from == garner.I8 && to == garner.I16; from.IsInteger() && !fits {
		p.leaves(to)
	}
	if from == garner.F16 {
		p.rounds("a cast", x)
	}
	if from.IsFloat() && to.IsInteger() && p.options.runtime != p.target.runtime {
		p.note("differs", "a float that %s does not hold converts to another number in another runtime", to)
	}
	return p.add(&node{op: opCast, in: []*value{x}}, to)
}
