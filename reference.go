package garner

import "context"

// Reference runs op as its plan defines it, one element after the other: slow,
// obvious, and what every executor is held against. The result is new and
// row-major; errors are those of NewPlan and an IndexError.
func Reference(op Op, data, indices Tensor) (Tensor, error) {
	p, err := NewPlan(op, data.Spec(), indices.Spec())
	if err != nil {
		return Tensor{}, err
	}
	if err := p.check(context.Background(), indices); err != nil {
		return Tensor{}, err
	}
	out, err := New(p.DType, p.Out...)
	if err != nil {
		return Tensor{}, err
	}
	if out.Len() > 0 { // an empty result can have more turns than a day has time for
		p.define(out, data, indices, 0, out.offset, data.offset, indices.offset)
	}
	return out, nil
}

// define is the plan's sentence, word for word, over loops that need not be
// normalised: at is the loop it has come to, and out, row and tuple are where it
// stands in each operand.
func (p *Plan) define(dst, data, indices Tensor, at, out, row, tuple int) {
	if at < len(p.Loops) {
		l := p.Loops[at]
		for c := range l.Extent {
			p.define(dst, data, indices, at+1, out+c*l.Out, row+c*l.Data, tuple+c*l.Index)
		}
		return
	}
	for _, axis := range p.Axes {
		i, _ := p.position(indices.index(tuple+axis.Index), axis.Dim)
		if i < 0 {
			if p.Outside == Fill {
				for e := range p.Slice {
					copyElement(dst, out+e, p.Fill, p.Fill.offset)
				}
			}
			return // the result is made of zeros
		}
		row += axis.offset(i)
	}
	for e := range p.Slice {
		copyElement(dst, out+e, data, row+e)
	}
}

// position is where the i-th element in row-major order stands, in elements.
func (t *Tensor) position(i int) int {
	at := t.offset
	for axis := len(t.shape) - 1; axis >= 0; axis-- {
		d := t.shape[axis]
		at += i % d * t.strides[axis]
		i /= d
	}
	return at
}

// copyElement copies one element between tensors of one dtype, by its bits.
func copyElement(dst Tensor, to int, src Tensor, from int) {
	switch bits := src.dtype.Bits(); {
	case src.dtype == String:
		dst.strs[to] = src.strs[from]
	case bits < 8:
		setPacked(dst.buf, to, bits, packed(src.buf, from, bits))
	default:
		w := bits / 8
		copy(dst.buf[to*w:(to+1)*w], src.buf[from*w:(from+1)*w])
	}
}

// packed reads element i of a packed type of the given width.
func packed(b []byte, i, bits int) byte {
	per := 8 / bits
	return b[i/per] >> (i % per * bits) & (1<<bits - 1)
}

// setPacked writes element i of a packed type and leaves its neighbours alone.
func setPacked(b []byte, i, bits int, v byte) {
	per := 8 / bits
	shift := i % per * bits
	mask := byte(1<<bits-1) << shift
	b[i/per] = b[i/per]&^mask | v<<shift&mask
}
