package convert

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/source"
)

// block is how many bytes of a constant are read at a time.
const block = 1 << 20

func le64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// size gives the bytes of a constant's elements; 0 for strings.
func (v *value) size() int64 {
	n, ok := v.spec.Bytes()
	if v.spec.DType == garner.String || !ok {
		return 0
	}
	return n
}

// each calls do for the elements of a constant, block by block, with the offset of each.
func (v *value) each(ctx context.Context, do func(at int64, b []byte) error) error {
	if v.small {
		b, err := v.tensor.Bytes()
		if err != nil {
			return err
		}
		return do(0, b)
	}
	return eachOf(ctx, v.constant, do)
}

// eachOf is each of a constant of a model.
func eachOf(ctx context.Context, c *model.Constant, do func(at int64, b []byte) error) error {
	if c.File == "" || c.Size == 0 {
		return mapped.Guard(func() error {
			t, err := c.Tensor()
			if err != nil {
				return err
			}
			return t.Guard(func(t garner.Tensor) error {
				b, err := t.Bytes()
				for at := 0; err == nil && at < len(b); at += block {
					if err = context.Cause(ctx); err == nil {
						err = do(int64(at), b[at:min(at+block, len(b))])
					}
				}
				return err
			})
		})
	}
	a, err := c.Open()
	if err != nil {
		return err
	}
	defer a.Close() // it is only read
	buf := make([]byte, min(block, c.Size))
	for at := int64(0); at < c.Size; at += block {
		b := buf[:min(block, c.Size-at)]
		if err := a.Fetch(ctx, source.Rows{At: []int64{at}, Size: len(b), Dst: b}); err != nil {
			return err
		}
		if err := do(at, b); err != nil {
			return err
		}
	}
	return nil
}

// zeroBlock is for comparisons.
var zeroBlock [block]byte

// isZero reports whether all bytes are 0: a file leaves them out, as a hole.
func isZero(b []byte) bool { return bytes.Equal(b, zeroBlock[:len(b)]) }

// strings gives the elements of a constant of strings.
func (v *value) strings() ([]string, error) {
	t := v.tensor
	if !v.small {
		var err error
		if t, err = v.constant.Tensor(); err != nil {
			return nil, err
		}
	}
	return garner.Values[string](t)
}
