package garner

import "context"

// Gather runs op on all cores and returns a new row-major tensor of the dtype and
// the shape that Infer returns. data and indices may be any views;
// Gather only reads them. further are the operands of op behind the indices, in its
// order, such as the offsets of bags; the zero Tensor is one that is not given.
//
// Errors are those of NewPlan, an *IndexError for a refused index, and ErrFault
// for Volatile operands. Each call lowers op; Prepare lowers it once
// for a gather that is repeated.
func Gather(op Op, data, indices Tensor, further ...Tensor) (Tensor, error) {
	return GatherContext(context.Background(), op, data, indices, further...)
}

// GatherContext is Gather with a context: a cancelled ctx ends it within 10 ms
// with the context's cause.
func GatherContext(ctx context.Context, op Op, data, indices Tensor, further ...Tensor) (Tensor, error) {
	p, err := Prepare(op, data.Spec(), indices.Spec(), FurtherTensors(further...))
	if err != nil {
		return Tensor{}, err
	}
	// Data without elements may have a result of any size, and then no index is
	// inside: they are looked at before the result's memory is taken.
	if n, _ := p.plan.Out.Len(); n > 0 && data.Len() == 0 {
		if err := p.plan.check(ctx, indices, further); err != nil {
			return Tensor{}, err
		}
	}
	out, err := New(p.plan.DType, p.plan.Out...)
	if err != nil {
		return Tensor{}, err
	}
	if err := p.Run(ctx, data, indices, out, further...); err != nil {
		return Tensor{}, err
	}
	return out, nil
}

// GatherInto is GatherContext with an output of the caller's. out must have the
// dtype and shape that Infer returns. It may be any view whose elements do not
// overlap, and must not share memory with an operand (ErrOverlap). After
// an error its contents are unspecified. No memory outside the view changes.
func GatherInto(ctx context.Context, op Op, data, indices, out Tensor, further ...Tensor) error {
	p, err := Prepare(op, data.Spec(), indices.Spec(), Further(specs(further)...))
	if err != nil {
		return err
	}
	return p.Run(ctx, data, indices, out, further...)
}
