package garner

import "context"

// Reference runs op as its plan defines it, one element after another, on one
// core: the definition that every executor is tested against. The result is new
// and row-major. Errors are those of NewPlan, an *IndexError for a refused index,
// and those of Guard.
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
	if out.Len() > 0 { // the loops of an empty result can turn 2^60 times
		err = data.Guard(func(data Tensor) error {
			return indices.Guard(func(indices Tensor) error {
				p.define(out, data, indices, 0, out.mem.Offset, data.mem.Offset, indices.mem.Offset)
				return nil
			})
		})
	}
	return out, err
}

// define evaluates the formula in Plan's comment over its loops from at on,
// normalised or not. out, row and tuple are the positions in dst, data and
// indices that the loops outside at have reached.
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
			return // dst is new, so it holds zeros
		}
		row += axis.offset(i)
	}
	for e := range p.Slice {
		copyElement(dst, out+e, data, row+e)
	}
}
