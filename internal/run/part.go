package run

import (
	"context"
	"errors"

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

// errEnough ends a gather of which only a part is wanted.
var errEnough = errors.New("garner: the rest of the result is not wanted")

// Part gathers n elements of a result of a dtype in row-major order, from first on, in
// rank 1. further are the operands behind the indices. It reads the rows that these need, and little more. Errors are those of
// source.Gather.
func Part(ctx context.Context, op garner.Op, data, indices source.Array, dtype garner.DType, first, n int, further ...source.Array) (garner.Tensor, error) {
	bits := dtype.Bits()
	skip := 0 // elements of the same byte before the first
	if bits < 8 {
		skip = first % (8 / bits)
	}
	t, err := garner.New(dtype, skip+n)
	if err != nil {
		return garner.Tensor{}, err
	}
	b, err := t.Bytes()
	if err != nil {
		return garner.Tensor{}, err
	}
	part := &partWriter{left: b}
	err = source.Gather(ctx, op, data, indices, part, source.Options{Memory: partMemory, Further: further, From: int64(first-skip)/8*int64(bits) + int64(first-skip)%8*int64(bits)/8})
	if err != nil && !errors.Is(err, errEnough) {
		return garner.Tensor{}, err
	}
	return t.Slice(0, skip, skip+n, 1)
}

// A partWriter keeps the first bytes that are written.
type partWriter struct{ left []byte }

func (p *partWriter) Write(b []byte) (int, error) {
	n := copy(p.left, b)
	if p.left = p.left[n:]; len(p.left) == 0 {
		return n, errEnough
	}
	return n, nil
}
