package gguf

import (
	"encoding/binary"
	"math"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/float"
	"github.com/garner-go/garner/source"
)

// A kind is a storage type of the format: a number of elements per block and a
// number of bytes per block.
type kind struct {
	name         string
	dtype        garner.DType // of the elements read; Invalid where only blocks can be read
	block, bytes int
	codec        *source.Codec // nil where a block is an element, or is not dequantised
}

// kinds are the kinds of the reference (gguf 0.19.0, GGML_QUANT_SIZES), by the
// format's numbers.
var kinds = map[uint32]kind{
	0:  {"F32", garner.F32, 1, 4, nil},
	1:  {"F16", garner.F16, 1, 2, nil},
	2:  quantised("Q4_0", false, 16, q4_0),
	3:  quantised("Q4_1", true, 16, q4_1),
	6:  quantised("Q5_0", false, 4+16, q5_0),
	7:  quantised("Q5_1", true, 4+16, q5_1),
	8:  quantised("Q8_0", false, 32, q8_0),
	9:  {"Q8_1", garner.Invalid, 32, 40, nil},
	10: {"Q2_K", garner.Invalid, 256, 84, nil},
	11: {"Q3_K", garner.Invalid, 256, 110, nil},
	12: {"Q4_K", garner.Invalid, 256, 144, nil},
	13: {"Q5_K", garner.Invalid, 256, 176, nil},
	14: {"Q6_K", garner.Invalid, 256, 210, nil},
	15: {"Q8_K", garner.Invalid, 256, 292, nil},
	16: {"IQ2_XXS", garner.Invalid, 256, 66, nil},
	17: {"IQ2_XS", garner.Invalid, 256, 74, nil},
	18: {"IQ3_XXS", garner.Invalid, 256, 98, nil},
	19: {"IQ1_S", garner.Invalid, 256, 50, nil},
	20: {"IQ4_NL", garner.Invalid, 32, 18, nil},
	21: {"IQ3_S", garner.Invalid, 256, 110, nil},
	22: {"IQ2_S", garner.Invalid, 256, 82, nil},
	23: {"IQ4_XS", garner.Invalid, 256, 136, nil},
	24: {"I8", garner.I8, 1, 1, nil},
	25: {"I16", garner.I16, 1, 2, nil},
	26: {"I32", garner.I32, 1, 4, nil},
	27: {"I64", garner.I64, 1, 8, nil},
	28: {"F64", garner.F64, 1, 8, nil},
	29: {"IQ1_M", garner.Invalid, 256, 56, nil},
	30: {"BF16", garner.BF16, 1, 2, nil},
	34: {"TQ1_0", garner.Invalid, 256, 54, nil},
	35: {"TQ2_0", garner.Invalid, 256, 66, nil},
	39: {"MXFP4", garner.Invalid, 32, 17, nil},
	40: {"NVFP4", garner.Invalid, 64, 36, nil},
	41: {"Q1_0", garner.Invalid, 128, 18, nil},
}

// blockSize is the number of elements per block of the dequantised kinds.
const blockSize = 32

// quantised returns a kind whose blocks hold a scale d, for some kinds a minimum m
// (both f16), and blockSize integers q in the given bytes: d·q, or d·q + m.
func quantised(name string, minimum bool, bytes int, integers func(q *[blockSize]int8, src []byte)) kind {
	from := 2
	if minimum {
		from = 4
	}
	bytes += from
	return kind{name, garner.F32, blockSize, bytes, &source.Codec{
		Elements: blockSize,
		Bytes:    bytes,
		Decode: func(dst, src []byte) {
			var q [blockSize]int8
			for ; len(src) > 0; src, dst = src[bytes:], dst[4*blockSize:] {
				integers(&q, src[from:bytes])
				if to, d := (*[4 * blockSize]byte)(dst), half(src); minimum {
					affine(to, d, half(src[2:]), &q)
				} else {
					scale(to, d, &q)
				}
			}
		},
	}}
}

// The functions below read the integers of one block.

func q8_0(q *[blockSize]int8, src []byte) {
	for i, b := range src[:blockSize] {
		q[i] = int8(b)
	}
}

// q4_1 reads integers of 4 bits: first the low halves of all bytes, then the high.
func q4_1(q *[blockSize]int8, src []byte) {
	for i, b := range src[:blockSize/2] {
		q[i], q[i+blockSize/2] = int8(b&15), int8(b>>4)
	}
}

func q4_0(q *[blockSize]int8, src []byte) {
	for i, b := range src[:blockSize/2] {
		q[i], q[i+blockSize/2] = int8(b&15)-8, int8(b>>4)-8
	}
}

// q5_1 reads the fifth bits of all integers, and then their other four bits.
func q5_1(q *[blockSize]int8, src []byte) {
	q4_1(q, src[4:])
	high := binary.LittleEndian.Uint32(src)
	for i := range q {
		q[i] |= int8(high & 1 << 4)
		high >>= 1
	}
}

func q5_0(q *[blockSize]int8, src []byte) {
	q4_1(q, src[4:])
	high := ^binary.LittleEndian.Uint32(src)
	for i := range q {
		q[i] -= int8(high & 1 << 4) // minus 16 where the fifth bit is not set
		high >>= 1
	}
}

// scale writes d·q, each product rounded to f32 as the reference does.
func scale(dst *[4 * blockSize]byte, d float32, q *[blockSize]int8) {
	if d-d == 0 { // finite, and so are all products
		for i, v := range q {
			binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(d*float32(v)))
		}
		return
	}
	for i, v := range q {
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(scaled(d, float32(v))))
	}
}

// affine writes d·q + m, each product and each sum rounded to f32 as the reference
// does. A fused multiply-add would round once.
func affine(dst *[4 * blockSize]byte, d, m float32, q *[blockSize]int8) {
	if d-d == 0 && m-m == 0 {
		for i, v := range q {
			binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(float32(d*float32(v))+m))
		}
		return
	}
	for i, v := range q {
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(sum(scaled(d, float32(v)), m)))
	}
}

// half reads an f16. A NaN keeps its payload and becomes quiet.
func half(src []byte) float32 {
	return float.Float16.Decode(uint64(binary.LittleEndian.Uint16(src)))
}

// indefinite is the NaN of an invalid operation on x86, where the reference's values
// were recorded. Other processors produce another NaN; garner produces this one on
// all of them.
const indefinite = 0xffc00000

// scaled returns d·q, rounded. d may be infinite or NaN, q is finite.
func scaled(d, q float32) float32 {
	p := float32(d * q) // the conversion rounds here and prevents a fused multiply-add
	if p != p {
		if d != d {
			return d
		}
		return math.Float32frombits(indefinite) // infinity times zero
	}
	return p
}

// sum returns p + m, rounded. Both may be infinite or NaN; of two NaNs it returns
// the first.
func sum(p, m float32) float32 {
	s := p + m
	if s != s {
		switch {
		case p != p:
			return p
		case m != m:
			return m
		}
		return math.Float32frombits(indefinite) // infinity minus infinity
	}
	return s
}
