package codec

import (
	"strconv"

	"github.com/garner-go/garner/internal/kernel"
)

// Rows returns the codec of a row of FBGEMM, the form in which FBGEMM and
// torch.ops.quantized keep tables: a block is a row. It holds the codes of the
// columns, each of bits bits, the first in the lowest bits of a byte; then a scale and
// a bias, two f32 for codes of 8 bits, two f16 for codes of 4 and 2. It is false for
// codes of another width.
//
// An element is code·scale + bias, rounded once (QB.6): torch 2.15 and FBGEMM compute
// it with a fused multiply-add.
func Rows(bits, columns int) (*Codec, bool) {
	number, width := half, 2 // of the scale and of the bias
	switch bits {
	case 8:
		number, width = single, 4
	case 4, 2:
	default:
		return nil, false
	}
	each := 8 / bits // codes of a byte
	codes := columns / each
	if columns%each > 0 {
		codes++
	}
	mask, size := byte(1<<bits-1), codes+2*width
	tail := func(dst, src []byte, first int) { // the elements from first on
		scale, bias := number(src[codes:]), number(src[codes+width:])
		for i := first; i < columns; i++ {
			code := src[i/each] >> (i % each * bits) & mask
			put(dst[4*i:], fused(float32(code), scale, bias))
		}
	}
	c := &Codec{Name: "rows of " + strconv.Itoa(bits) + " bits", Elements: columns, Bytes: size}
	c.Scattered = func(dst, src []byte, at []int64) {
		for len(at) > 0 {
			n := kernel.Affine(dst, src, at, columns, bits)
			if columns%16 > 0 {
				for j, at := range at[:n] {
					tail(dst[4*j*columns:], src[at:], columns&^15)
				}
			}
			if n < len(at) { // the processor's NaN may be another, or there is no kernel
				tail(dst[4*n*columns:], src[at[n]:], 0)
				n++
			}
			dst, at = dst[4*n*columns:], at[n:]
		}
	}
	c.Decode = func(dst, src []byte) {
		for ; len(src) > 0; dst, src = dst[4*columns:], src[size:] {
			c.Scattered(dst, src, begin)
		}
	}
	c.Sum = func(dst, src []byte, t kernel.Terms, b kernel.Bags) bool {
		return b.Size == 4*columns && kernel.SumAffine(dst, src, bits, t, b)
	}
	return c, true
}

// begin is the place of one block.
var begin = []int64{0}
