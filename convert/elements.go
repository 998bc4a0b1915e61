package convert

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/garner-go/garner"
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
	return v.constant.Pieces(ctx, do)
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
