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
		p.define(out, data, indices, 0, out.mem.Offset, data.mem.Offset, indices.mem.Offset)
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
					copyElement(dst, out+e, p.Fill, p.Fill.mem.Offset)
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
