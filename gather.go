package garner

import "context"

// Gather runs op on all cores and returns a new, row-major result of data's
// dtype. data and indices may be any views and are only read.
//
// Errors are those of NewPlan, an *IndexError, and ErrFault for Volatile
// operands. Nothing is kept from one call to the next; Prepare saves the
// lowering and the scratch where a gather is repeated.
func Gather(op Op, data, indices Tensor) (Tensor, error) {
	return GatherContext(context.Background(), op, data, indices)
}

// GatherContext is Gather that ends early, within 10 ms, with the context's
// cause where ctx is cancelled.
func GatherContext(ctx context.Context, op Op, data, indices Tensor) (Tensor, error) {
	p, err := Prepare(op, data.Spec(), indices.Spec())
	if err != nil {
		return Tensor{}, err
	}
	out, err := New(p.plan.DType, p.plan.Out...)
	if err != nil {
		return Tensor{}, err
	}
	if err := p.Run(ctx, data, indices, out); err != nil {
		return Tensor{}, err
	}
	return out, nil
}

// GatherInto is GatherContext into memory of the caller's: out has the dtype
// and shape that Infer says, may be any view whose elements are apart, and must
// not share memory with data or indices (ErrOverlap). After an error its
// contents are unspecified; nothing beyond it is ever touched.
func GatherInto(ctx context.Context, op Op, data, indices, out Tensor) error {
	p, err := Prepare(op, data.Spec(), indices.Spec())
	if err != nil {
		return err
	}
	return p.Run(ctx, data, indices, out)
}
