package gguf

import (
	"encoding/binary"
	"math"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/source"
)

// A kind is how the format stores numbers: so many in blocks of so many bytes.
type kind struct {
	name         string
	dtype        garner.DType // of what is read of it; Invalid where only blocks can be had
	block, bytes int
	codec        *source.Codec // nil where blocks are elements, or not dequantised
}

// kinds are those that the reference knows (gguf 0.19.0, GGML_QUANT_SIZES), by
// the format's numbers.
var kinds = map[uint32]kind{
	0:  {"F32", garner.F32, 1, 4, nil},
	1:  {"F16", garner.F16, 1, 2, nil},
	2:  quantised("Q4_0", 2+16, q4_0),
	3:  quantised("Q4_1", 2+2+16, q4_1),
	6:  quantised("Q5_0", 2+4+16, q5_0),
	7:  quantised("Q5_1", 2+2+4+16, q5_1),
	8:  quantised("Q8_0", 2+32, q8_0),
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

// blockSize is how many numbers a block of the kinds that are dequantised holds.
const blockSize = 32

// quantised is a kind whose blocks of blockSize numbers are dequantised by
// decode.
func quantised(name string, bytes int, decode func(dst, src []byte)) kind {
	return kind{name, garner.F32, blockSize, bytes, &source.Codec{
		Elements: blockSize,
		Bytes:    bytes,
		Decode: func(dst, src []byte) {
			for ; len(src) > 0; src, dst = src[bytes:], dst[4*blockSize:] {
				decode(dst[:4*blockSize:4*blockSize], src[:bytes:bytes])
			}
		},
	}}
}

// The decoders below read one block. Each number is made of products and sums
// of f32 that are rounded one by one, as the reference does; a fused
// multiplication would round once.

// q8_0 reads a scale d and 32 signed bytes: d·q.
func q8_0(dst, src []byte) {
	d := half(src)
	for i, q := range src[2:] {
		put(dst, i, scaled(d, float32(int8(q))))
	}
}

// q4_0 reads a scale d and 32 numbers of 4 bits, of which the low halves of the
// bytes come first: d·(q-8).
func q4_0(dst, src []byte) {
	d := half(src)
	for i, q := range src[2:] {
		put(dst, i, scaled(d, float32(int(q&15)-8)))
		put(dst, i+16, scaled(d, float32(int(q>>4)-8)))
	}
}

// q4_1 reads a scale d, a minimum m and 32 numbers of 4 bits: d·q + m.
func q4_1(dst, src []byte) {
	d, m := half(src), half(src[2:])
	for i, q := range src[4:] {
		put(dst, i, sum(scaled(d, float32(q&15)), m))
		put(dst, i+16, sum(scaled(d, float32(q>>4)), m))
	}
}

// q5_0 reads a scale d, the fifth bits of 32 numbers and their other four:
// d·(q-16).
func q5_0(dst, src []byte) {
	d, high := half(src), binary.LittleEndian.Uint32(src[2:])
	for i, q := range src[6:] {
		put(dst, i, scaled(d, float32(int(q&15|fifth(high, i))-16)))
		put(dst, i+16, scaled(d, float32(int(q>>4|fifth(high, i+16))-16)))
	}
}

// q5_1 reads a scale d, a minimum m, the fifth bits of 32 numbers and their
// other four: d·q + m.
func q5_1(dst, src []byte) {
	d, m, high := half(src), half(src[2:]), binary.LittleEndian.Uint32(src[4:])
	for i, q := range src[8:] {
		put(dst, i, sum(scaled(d, float32(q&15|fifth(high, i))), m))
		put(dst, i+16, sum(scaled(d, float32(q>>4|fifth(high, i+16))), m))
	}
}

func fifth(high uint32, i int) byte { return byte(high>>i&1) << 4 }

func put(dst []byte, i int, v float32) {
	binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(v))
}

// half is an f16 as an f32, which holds all of them exactly. A NaN keeps its
// payload and becomes a quiet one.
func half(src []byte) float32 {
	h := uint32(binary.LittleEndian.Uint16(src))
	sign, exponent, fraction := h>>15<<31, h>>10&31, h&1023
	switch {
	case exponent == 31 && fraction != 0:
		return math.Float32frombits(sign | 0x7fc00000 | fraction<<13)
	case exponent == 31:
		return math.Float32frombits(sign | 0x7f800000)
	case exponent == 0:
		// A multiple of 2^-24, of which f32 has the normal form.
		return math.Float32frombits(math.Float32bits(float32(fraction)*0x1p-24) | sign)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}

// indefinite is the NaN that x86, where the reference's values were recorded,
// makes of an operation without a value. Other processors make others; here it
// is this one on all of them.
const indefinite = 0xffc00000

// scaled is d·q, rounded; q is finite.
func scaled(d, q float32) float32 {
	p := float32(d * q) // rounded here, whatever is made of it next
	if p != p {
		if d != d {
			return d
		}
		return math.Float32frombits(indefinite) // infinity times zero
	}
	return p
}

// sum is p + m, rounded. Of two NaNs it is the first.
func sum(p, m float32) float32 {
	s := p + m
	if s != s {
		switch {
		case p != p:
			return p
		case m != m:
			return m
		}
		return math.Float32frombits(indefinite) // infinity less itself
	}
	return s
}
