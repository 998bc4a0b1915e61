package codec

import (
	"strconv"

	"github.com/garner-go/garner/internal/float"
	"github.com/garner-go/garner/internal/kernel"
)

// Rows returns the codec of a row of FBGEMM, the form in which FBGEMM and
// torch.ops.quantized keep tables: a block is a row. It holds the codes of the
// columns, each of bits bits, the first in the lowest bits of a byte; then a scale and
// a bias, two f32 for codes of 8 bits, two f16 for codes of 4 and 2. It is false for
// codes of another width.
//
// An element is code·scale + bias, rounded once (QB.6): torch 2.15 and FBGEMM compute
// it with a fused multiply-add. A row times a weight makes a sum a into
// fma(scale·weight, code, a + bias·weight), where the products and the inner sum are
// rounded (RQB.2).
func Rows(bits, columns int) (*Codec, bool) { return rows(bits, columns, columns) }

// Unpacked is Rows as torch 2.15 unpacks a table: of codes of 8 bits, the columns from
// 8·⌊columns/8⌋ on are computed in f64 (RU.2), so that they are rounded twice.
func Unpacked(bits, columns int) (*Codec, bool) {
	if bits == 8 {
		return rows(bits, columns, columns&^7)
	}
	return Rows(bits, columns)
}

// rows is Rows, with the columns from double on computed in f64.
func rows(bits, columns, double int) (*Codec, bool) {
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
	codeOf := func(row []byte, i int) float32 { return float32(row[i/each] >> (i % each * bits) & mask) }
	one := func(dst, src []byte, from, to, first int) { // the elements from … to-1, where dst has those from first on
		scale, bias := number(src[codes:]), number(src[codes+width:])
		for i := from; i < to; i++ {
			code := codeOf(src, i)
			v := fused(code, scale, bias)
			if i >= double && v-v == 0 {
				v = float32(float64(code)*float64(scale) + float64(bias)) // the product is exact
			}
			put(dst[4*(i-first):], v)
		}
	}
	c := &Codec{Name: "rows of " + strconv.Itoa(bits) + " bits", Elements: columns, Bytes: size}
	c.Scattered = func(dst, src []byte, at []int64, first, n int) {
		end, from := first+n, first/each // the byte of the first code
		for len(at) > 0 {
			rows := 0
			if first%each == 0 {
				rows = kernel.Affine(dst, src[from:], at, n, codes-from, bits)
			}
			if rest := min(first+n&^15, max(double, first)); rest < end {
				for j, at := range at[:rows] {
					one(dst[4*j*n:], src[at:], rest, end, first)
				}
			}
			if rows < len(at) { // the processor's NaN may be another, or there is no kernel
				one(dst[4*rows*n:], src[at[rows]:], first, end, first)
				rows++
			}
			dst, at = dst[4*rows*n:], at[rows:]
		}
	}
	c.Decode = func(dst, src []byte) {
		for ; len(src) > 0; dst, src = dst[4*columns:], src[size:] {
			c.Scattered(dst, src, begin, 0, columns)
		}
	}
	c.DecodeRows = func(dst, src []byte, at []int64, blocks int) {
		if blocks == 1 {
			c.Scattered(dst, src, at, 0, columns)
			return
		}
		for j, at := range at {
			c.Decode(dst[4*columns*blocks*j:][:4*columns*blocks], src[at:][:blocks*size])
		}
	}
	c.Add = func(dst, row []byte, first int, weight float32) {
		scale, bias := float32(number(row[codes:])*weight), float32(number(row[codes+width:])*weight)
		for i := range len(dst) / 4 {
			sum := dst[4*i:]
			put(sum, float.FMA(codeOf(row, first+i), scale, float32(single(sum)+bias)))
		}
	}
	c.Sum = func(dst, src []byte, t kernel.Terms, b kernel.Bags, first int) {
		from := first / each
		if first%each > 0 || len(t.Rows) == 0 || !kernel.SumAffine(dst, src[from:], bits, codes-from, t, b) {
			kernel.AddEach(dst, t, b, func(sums []byte, row int, weight float32) {
				c.Add(sums, src[row:row+size], first, weight)
			})
		}
	}
	return c, true
}

// begin is the place of one block.
var begin = []int64{0}
