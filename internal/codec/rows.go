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
	mask := byte(1<<bits - 1)
	return blocks("rows of "+strconv.Itoa(bits)+" bits", columns, codes+2*width, func(dst, src []byte) {
		scale, bias := number(src[codes:]), number(src[codes+width:])
		first := 0
		if finite(scale) && finite(bias) { // else the processor's NaN may be another
			first = kernel.Affine(dst, src[:codes], columns, bits, scale, bias)
		}
		for i := first; i < columns; i++ {
			code := src[i/each] >> (i % each * bits) & mask
			put(dst[4*i:], fused(float32(code), scale, bias))
		}
	}), true
}
