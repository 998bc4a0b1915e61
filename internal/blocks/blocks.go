// Package blocks visits tensors of any strides as contiguous blocks, for writing.
package blocks

import (
	"io"

	"github.com/garner-go/garner"
)

// size limits a block in bytes. A packed element counts as one byte, a string as
// 16.
const size = 1 << 20

// Each calls f with the elements of t in row-major order, in contiguous tensors of
// up to 1 MiB. A block of a contiguous tensor is a view; of any other it is a copy.
// So t may exceed memory. Each stops at the first error. It reads t in a Guard: see
// garner.Tensor.Guard for files that are cut short or closed meanwhile.
func Each(t garner.Tensor, f func(block garner.Tensor) error) error {
	if t.Len() == 0 {
		return nil
	}
	if flat, err := t.Reshape(t.Len()); err == nil {
		t = flat // one axis makes fewer, larger blocks
	}
	width := max(1, t.DType().Bits()/8)
	if t.DType() == garner.String {
		width = 16
	}
	return t.Guard(func(held garner.Tensor) error { return each(held, size/width, f) })
}

// Write writes the elements of t in row-major order, block by block. t must not hold
// strings.
func Write(w io.Writer, t garner.Tensor) error {
	return Each(t, func(block garner.Tensor) error {
		b, err := block.Bytes()
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	})
}

func each(t garner.Tensor, most int, f func(garner.Tensor) error) error {
	n := t.Len()
	if n <= most {
		if bytesReady(t) {
			return f(t)
		}
		block, err := t.Clone()
		if err != nil {
			return err
		}
		return f(block)
	}
	rows := t.Shape()[0]
	inner := n / rows
	step := max(1, most/inner)
	for i := 0; i < rows; {
		end := i + min(step, rows-i)
		block, err := t.Slice(0, i, end, 1)
		if err != nil {
			return err
		}
		if step == 1 {
			if block, err = block.Reshape(t.Shape()[1:]...); err != nil {
				return err
			}
		}
		if err := each(block, most, f); err != nil {
			return err
		}
		i = end
	}
	return nil
}

// bytesReady reports whether t is contiguous and begins at a byte boundary.
func bytesReady(t garner.Tensor) bool {
	if !t.Contiguous() {
		return false
	}
	if d := t.DType(); d.Packed() {
		return t.Offset()%(8/d.Bits()) == 0
	}
	return true
}
