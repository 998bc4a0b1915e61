package convert

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
)

// joins is for a sum, a difference or a product of floats with a constant, of one element or of several. OpenVINO joins it
// with another such node before it, of which it computes the constants first: (x-a)+b is x+(b-a) there, (x+a)·b is x·b+a·b,
// and (x·a)·b is x·(a·b). A Broadcast and a Negative may stand between; what moves elements ends that, but for a product
// and a sum with one number. OpenVINO leaves out a sum with zeros, which makes 0 of -0.
func (p *program) joins(o op, a, b *value) {
	if !p.crosses(openVINO) || o != opAdd && o != opSub && o != opMul {
		return
	}
	x, c := operands(a, b)
	if c == nil {
		return
	}
	z := &zeroScan{others: true}
	if o != opMul {
		z = p.zerosOf(c)
	}
	switch {
	case o == opSub && c == a && !c.oneConstant() && (z.negative || z.positive):
		p.lossy("0 less 0 may be -0 in OpenVINO, and is 0 elsewhere")
	case !z.others && (o == opAdd && z.positive || o == opSub && c == b && z.negative):
		if !z.known {
			p.lossy("OpenVINO leaves out a sum with zeros, and -0 stays -0 there; whether its constants are zeros is not known")
			return
		}
		p.lossy("OpenVINO leaves out a sum with zeros, and -0 stays -0 there")
	case p.joined(o, x, c):
		p.lossy("OpenVINO joins two sums or products with constants, which rounds elsewhere")
	case o != opMul && c.oneConstant() && moved(x).by(opMul):
		p.lossy("OpenVINO may compute a product and a sum in one step, which rounds once")
	}
}

// operands gives the operand that depends on an input, and the one that depends on none; nil where both do, or none.
func operands(a, b *value) (x, c *value) {
	switch v, w := a.varies(), b.varies(); {
	case v == w:
		return nil, nil
	case v:
		return a, b
	}
	return b, a
}

// joined reports whether x is such a sum or product as OpenVINO joins with one of c. What one of them leaves as it
// is rounds nothing.
func (p *program) joined(o op, x, c *value) bool {
	if p.leavesAll(o, c) {
		return false
	}
	for x.from != nil {
		switch n := x.from; n.op {
		case opAdd, opSub, opMul:
			y, k := operands(n.in[0], n.in[1])
			switch {
			case k == nil:
				return false
			case !p.leavesAll(n.op, k):
				return true
			}
			x = y
		case opNeg, opExpand, opIdentity:
			x = n.in[0]
		case opCast:
			if !n.in[0].spec.DType.IsFloat() {
				return false
			}
			x = n.in[0]
		default:
			return false
		}
	}
	return false
}

// leavesAll reports whether a sum with c, or a product, is what it is of, but for the signs of zeros and of all numbers.
func (p *program) leavesAll(o op, c *value) bool {
	if o != opMul {
		z := p.zerosOf(c)
		return z.known && !z.others
	}
	if !c.small {
		return false
	}
	for i := range c.tensor.Len() {
		if x, err := c.tensor.Float64(i); err != nil || x != 1 && x != -1 {
			return false
		}
	}
	return true
}

// moved gives the value whose elements v has, in other places.
func moved(v *value) *value {
	for v.from != nil {
		switch v.from.op {
		case opGather, opReshape, opSqueeze, opUnsqueeze, opTranspose, opIdentity:
			v = v.from.in[0]
		default:
			return v
		}
	}
	return v
}

func (v *value) by(o op) bool { return v.from != nil && v.from.op == o }

// A zeroScan says which elements a value has that depends on no input.
type zeroScan struct{ known, negative, positive, others bool } // without known, all may be zeros of either sign

// zerosOf looks at c once, up to a zero and another element.
func (p *program) zerosOf(c *value) *zeroScan {
	if c.zeros != nil {
		return c.zeros
	}
	c.zeros = &zeroScan{negative: true, positive: true}
	held := moved(p.folded(c))
	if !held.held() || !held.spec.DType.IsFloat() {
		return c.zeros
	}
	z := &zeroScan{known: true}
	size := held.spec.DType.Bits() / 8
	enough := errors.New("enough")
	err := held.each(context.Background(), func(_ int64, b []byte) error {
		for ; size > 0 && len(b) >= size; b = b[size:] {
			sign := b[size-1]
			switch rest := sign & 0x7f; {
			case rest != 0 || !isZero(b[:size-1]):
				z.others = true
			case sign != 0:
				z.negative = true
			default:
				z.positive = true
			}
			if z.others && (z.negative || z.positive) {
				return enough
			}
		}
		return nil
	})
	if err != nil && err != enough && p.err == nil {
		p.err = err
	}
	c.zeros = z
	return z
}

// OpenVINO's CPU plugin takes a Multiply by a Convert of a constant of 8 bits, or less, or by a Subtract of one, for
// a compressed table of which a Gather decodes rows: of a constant that is not as long as the product it decodes other
// rows, or ends its process. Which operand it takes depends on both.

// plain gives the operands of a product, or of a difference that may be an operand of one, so that none is such a Convert
// with other dims than the result's: a constant of the wide dtype takes its place.
func (p *program) plain(o op, a, b *value) (*value, *value) {
	if p.err != nil || p.options.runtime == openVINO || o != opMul && o != opSub || a.varies() || b.varies() {
		return a, b
	}
	made := inferred(&node{op: o, in: []*value{a, b}})
	x, y := a, b
	if o == opMul {
		y = p.widened(b, a, made)
	}
	return p.widened(x, b, made), y
}

// codesOf gives the Convert of few bits that v is or subtracts from; nil: none.
func codesOf(v *value) *value {
	for v.by(opSub) {
		v = v.from.in[0]
	}
	if !v.by(opCast) || v.varies() {
		return nil
	}
	if d := v.from.in[0].spec.DType; !d.IsInteger() || d.Bits() > 8 {
		return nil
	}
	return v
}

// unlike reports whether a Convert of codes may have other dims than what is made of it, or whether the factor by which
// that is made is not one of a run of codes that lie side by side, as OpenVINO reads it: of the codes' dims, of which the last are 1.
func unlike(codes, factor *value, made garner.Spec) bool {
	own, known := codes.spec.Shape()
	dims, also := made.Shape()
	by, ofFactor := factor.spec.Shape()
	if !known || !also || !ofFactor || !own.Equal(dims) {
		return true
	}
	if n, ok := by.Len(); ok && n == 1 && len(by) <= len(dims) {
		return false
	}
	if len(by) != len(dims) {
		return true
	}
	i := 0
	for i < len(by) && by[i] == dims[i] {
		i++
	}
	return slices.ContainsFunc(by[i:], func(d int) bool { return d != 1 })
}

func (p *program) widened(v, factor *value, made garner.Spec) *value {
	codes := codesOf(v)
	if codes == nil || !unlike(codes, factor, made) {
		return v
	}
	if v != codes {
		return p.add(&node{op: opSub, in: []*value{p.widened(v.from.in[0], factor, made), v.from.in[1]}}, v.spec.DType)
	}
	from, to := codes.from.in[0], codes.spec.DType
	if !from.small {
		if from.constant == nil {
			return v // which limits refuses
		}
		if n, ok := from.constant.Bytes(); !ok || n > foldMost {
			return v
		}
		err := mapped.Guard(func() error {
			t, err := from.constant.Tensor()
			if err == nil {
				t, err = t.Clone()
			}
			from = &value{wanted: from.wanted, spec: from.spec, tensor: t, small: true}
			return err
		})
		if err != nil {
			p.fail(err, "%v", err)
			return v
		}
	}
	return p.widely(from, to)
}

// widely gives a constant of integers of up to 8 bits as one of a wider dtype; v in a Convert where that is none of 32 or 64 bits.
func (p *program) widely(v *value, to garner.DType) *value {
	bits := to.Bits()
	if bits != 32 && bits != 64 || !to.IsInteger() && !to.IsFloat() {
		return p.add(&node{op: opCast, in: []*value{v}}, to)
	}
	b := make([]byte, 0, v.tensor.Len()*bits/8)
	for i := range v.tensor.Len() {
		n, err := v.tensor.Int(i)
		if err != nil {
			p.fail(err, "%v", err)
			return v
		}
		code := n.Bits
		switch to {
		case garner.F32:
			code = uint64(math.Float32bits(float32(int64(n.Bits))))
		case garner.F64:
			code = math.Float64bits(float64(int64(n.Bits)))
		}
		for at := 0; at < bits; at += 8 {
			b = append(b, byte(code>>at))
		}
	}
	t, err := garner.FromBytes(to, b, v.tensor.Shape()...)
	if err != nil {
		p.fail(err, "%v", err)
		return v
	}
	return p.hold(t)
}

// codes refuses a product whose table OpenVINO may take another operand for.
func (p *program) codes(n *node) {
	if p.options.runtime == openVINO || n.in[0].varies() || n.in[1].varies() {
		return
	}
	for i, v := range n.in {
		if codes := codesOf(v); codes != nil && unlike(codes, n.in[1-i], n.out.spec) {
			p.fail(ErrUnsupported, "it is a product of constants of which one of %s is %s, the other %s and the product %s; OpenVINO may gather other rows; make the product one constant", codes.from.in[0].spec.DType, codes.spec, n.in[1-i].spec, n.out.spec)
			return
		}
	}
}
