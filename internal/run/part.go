package run

import (
	"bytes"
	"context"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/source"
)

// endsOf returns the first n and the last n elements of a tensor.
func endsOf(t garner.Tensor, n int) (garner.Tensor, error) {
	made, err := garner.New(t.DType(), 2*n)
	if err != nil {
		return garner.Tensor{}, err
	}
	for i := range 2 * n {
		at := i
		if i >= n {
			at = t.Len() - 2*n + i
		}
		element := t
		for axis := t.Rank() - 1; axis >= 0 && err == nil; axis-- {
			d := t.Shape()[axis]
			element, err = element.Slice(axis, at%d, at%d+1, 1)
			at /= d
		}
		if err == nil {
			element, err = element.Reshape(1)
		}
		if err != nil {
			return garner.Tensor{}, err
		}
		to, err := made.Slice(0, i, i+1, 1)
		if err == nil {
			err = garner.Copy(to, element)
		}
		if err != nil {
			return garner.Tensor{}, err
		}
	}
	return made, nil
}

// partMemory is the budget of Part in bytes; a small one makes small blocks.
const partMemory = 1 << 20

// Part gathers n elements of a result of a dtype in row-major order, from first on, in
// rank 1. further are the operands behind the indices. It reads the rows that these need, and little more, and
// looks at no other index. Errors are those of source.Gather.
func Part(ctx context.Context, op garner.Op, data, indices source.Array, dtype garner.DType, first, n int, further ...source.Array) (garner.Tensor, error) {
	var b bytes.Buffer
	o := source.Options{Memory: partMemory, Further: further, Range: &source.Range{First: int64(first), End: int64(first + n)}}
	if err := source.Gather(ctx, op, data, indices, &b, o); err != nil {
		return garner.Tensor{}, err
	}
	return garner.FromBytes(dtype, b.Bytes(), n)
}
