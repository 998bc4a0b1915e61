package layout

import (
	"context"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/source"
)

// Read reads a whole array into memory, in its stored order.
func Read(ctx context.Context, a source.Array) (garner.Tensor, error) {
	spec := a.Spec()
	shape, ok := spec.Shape()
	if !ok {
		return garner.Tensor{}, garner.Errorf(garner.ErrShape, "an array of %s cannot be read: not all of its dims are known", spec)
	}
	t, err := garner.New(spec.DType, shape...)
	if err != nil {
		return garner.Tensor{}, err
	}
	b, err := t.Bytes()
	if err != nil {
		return garner.Tensor{}, err
	}
	const piece = 8 << 20 // a fetch may need memory of its own
	for at := 0; at < len(b); {
		n := min(piece, len(b)-at)
		if err := a.Fetch(ctx, source.Rows{At: []int64{int64(at)}, Size: n, Dst: b[at : at+n]}); err != nil {
			return garner.Tensor{}, err
		}
		at += n
	}
	if spec.Strides == nil || t.Len() == 0 {
		return t, nil
	}
	return garner.FromStrided(spec.DType, b, 0, shape, spec.Strides)
}
