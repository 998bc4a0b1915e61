package codec

import (
	"encoding/binary"
	"math"

	"github.com/garner-go/garner/internal/float"
)

// Each function below decodes one block of the kind that it is named after; see
// blocks. They do what gguf.quants.dequantize of the Python package gguf 0.19.0
// does, in its order (QB.2). d is the block's scale and m its minimum, both f16; "low" and "high" are the
// halves of a byte.

// bf16 shifts: the bits of a NaN stay as they are.
func bf16(dst, src []byte) {
	for ; len(src) > 0; dst, src = dst[4:], src[2:] {
		binary.LittleEndian.PutUint32(dst, uint32(binary.LittleEndian.Uint16(src))<<16)
	}
}

// lowHigh reads integers of 4 bits: first the low halves of all bytes, then the
// high ones. q has two for each byte.
func lowHigh(q []int8, src []byte) {
	for i, b := range src {
		q[i], q[i+len(src)] = int8(b&15), int8(b>>4)
	}
}

// subtract subtracts n from all integers.
func subtract(q []int8, n int8) {
	for i := range q {
		q[i] -= n
	}
}

// fifth adds 16 to each integer whose bit in high is set.
func fifth(q *[32]int8, high uint32) {
	for i := range q {
		q[i] |= int8(high >> i & 1 << 4)
	}
}

// lookUp replaces each integer by the value of a table.
func lookUp(q []int8, table *[16]int8) {
	for i, v := range q {
		q[i] = table[v&15]
	}
}

// lessEight is the sixteen values of Q4_0.
var lessEight = [16]int8{-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7}

// q4_0 is d, 16 bytes of integers: d·(q − 8).
func q4_0(dst, src []byte) {
	var q [32]int8
	lowHigh(q[:], src[2:])
	lookUp(q[:], &lessEight)
	scaled(dst, half(src), q[:])
}

// q4_1 is d, m, 16 bytes of integers: d·q + m.
func q4_1(dst, src []byte) {
	var q [32]int8
	lowHigh(q[:], src[4:])
	affine(dst, half(src), half(src[2:]), q[:])
}

// q5_0 is d, the fifth bits of all integers, 16 bytes of their other bits:
// d·(q − 16).
func q5_0(dst, src []byte) {
	var q [32]int8
	lowHigh(q[:], src[6:])
	fifth(&q, binary.LittleEndian.Uint32(src[2:]))
	subtract(q[:], 16)
	scaled(dst, half(src), q[:])
}

// q5_1 is d, m, and then as q5_0: d·q + m.
func q5_1(dst, src []byte) {
	var q [32]int8
	lowHigh(q[:], src[8:])
	fifth(&q, binary.LittleEndian.Uint32(src[4:]))
	affine(dst, half(src), half(src[2:]), q[:])
}

// q8_0 is d, 32 integers: d·q.
func q8_0(dst, src []byte) {
	var q [32]int8
	for i, b := range src[2:] {
		q[i] = int8(b)
	}
	scaled(dst, half(src), q[:])
}

// q2_k is 16 bytes of scales (low) and minimums (high), 64 bytes of integers of 2
// bits, d, m. Sixteen elements share a scale s and a minimum t: (d·s)·q − m·t. A run
// of 32 bytes holds 128 elements: the first 32 in the lowest bits of its bytes.
func q2_k(dst, src []byte) {
	d, m := half(src[80:]), half(src[82:])
	for k, s := range src[:16] {
		codes := src[16+k/8*32+k%2*16:][:16]
		shift := k / 2 % 4 * 2
		var q [16]int8
		for i, b := range codes {
			q[i] = int8(b >> shift & 3)
		}
		dst = affine(dst, product(d, float32(s&15)), negative(product(m, float32(s>>4))), q[:])
	}
}

// q3_k is 32 bytes of third bits, 64 bytes of integers of 2 bits as those of q2_k,
// 12 bytes of scales, d. Sixteen elements share a scale s of 6 bits: (d·(s − 32))·q,
// where q is less by 4 if the third bit is not set.
func q3_k(dst, src []byte) {
	third, scales, d := src[:32], src[96:108], half(src[108:])
	for k := range 16 {
		s := scales[k%8] >> (k / 8 * 4) & 15
		s |= scales[8+k%4] >> (k / 4 * 2) & 3 << 4
		codes := src[32+k/8*32+k%2*16:][:16]
		shift := k / 2 % 4 * 2
		var q [16]int8
		for i, b := range codes {
			q[i] = int8(b>>shift&3) - 4 + int8(third[k%2*16+i]>>(k/2)&1<<2)
		}
		dst = scaled(dst, product(d, float32(int8(s)-32)), q[:])
	}
}

// scaleMin returns the j-th of 8 scales and minimums of 6 bits each, packed in 12
// bytes: the first four of both lie in the lowest bits of 8 bytes, the others in the
// 4 bytes after them (scales low) and the 2 bits left above the first four.
func scaleMin(packed []byte, j int) (scale, minimum float32) {
	if j < 4 {
		return float32(packed[j] & 63), float32(packed[j+4] & 63)
	}
	return float32(packed[j+4]&15 | packed[j-4]>>6<<4), float32(packed[j+4]>>4 | packed[j]>>6<<4)
}

// q4_k is d, m, 12 bytes of scales and minimums, 128 bytes of integers of 4 bits. 32
// elements share a scale s and a minimum t: (d·s)·q − m·t. A run of 32 bytes holds 64
// elements, the first 32 low.
func q4_k(dst, src []byte) {
	d, m := half(src), half(src[2:])
	for j := range 8 {
		codes := src[16+j/2*32:][:32]
		shift := j % 2 * 4
		var q [32]int8
		for i, b := range codes {
			q[i] = int8(b >> shift & 15)
		}
		s, t := scaleMin(src[4:16], j)
		dst = affine(dst, product(d, s), negative(product(m, t)), q[:])
	}
}

// q5_k is as q4_k, with 32 bytes of fifth bits before the integers: bit j of byte i
// belongs to integer i of the j-th 32.
func q5_k(dst, src []byte) {
	d, m, high := half(src), half(src[2:]), src[16:48]
	for j := range 8 {
		codes := src[48+j/2*32:][:32]
		shift := j % 2 * 4
		var q [32]int8
		for i, b := range codes {
			q[i] = int8(b>>shift&15 | high[i]>>j&1<<4)
		}
		s, t := scaleMin(src[4:16], j)
		dst = affine(dst, product(d, s), negative(product(m, t)), q[:])
	}
}

// q6_k is 128 bytes of the lowest 4 bits of all integers, 64 bytes of their highest
// 2, 16 scales of 8 bits, d. Sixteen elements share a scale s: (d·s)·(q − 32). 64
// bytes of low bits and 32 of high ones hold 128 elements.
func q6_k(dst, src []byte) {
	d := half(src[208:])
	for k, s := range src[192:208] {
		low, high := src[k/8*64+k/2%2*32+k%2*16:][:16], src[128+k/8*32+k%2*16:][:16]
		lowShift, highShift := k/4%2*4, k/2%4*2
		var q [16]int8
		for i, b := range low {
			q[i] = int8(b>>lowShift&15|high[i]>>highShift&3<<4) - 32
		}
		dst = scaled(dst, product(d, float32(int8(s))), q[:])
	}
}

// iq4 is the sixteen values of IQ4_NL and IQ4_XS.
var iq4 = [16]int8{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}

// iq4_nl is d, 16 bytes of codes: d·iq4[code].
func iq4_nl(dst, src []byte) {
	var q [32]int8
	lowHigh(q[:], src[2:])
	lookUp(q[:], &iq4)
	scaled(dst, half(src), q[:])
}

// iq4_xs is d, 2 bytes of the highest 2 bits of 8 scales, 4 bytes of their lowest 4,
// 128 bytes of codes. 32 elements share a scale s: (d·(s − 32))·iq4[code].
func iq4_xs(dst, src []byte) {
	d, high := half(src), binary.LittleEndian.Uint16(src[2:])
	for j := range 8 {
		s := src[4+j/2]>>(j%2*4)&15 | byte(high>>(2*j)&3<<4)
		var q [32]int8
		lowHigh(q[:], src[8+16*j:][:16])
		lookUp(q[:], &iq4)
		dst = scaled(dst, product(d, float32(int8(s)-32)), q[:])
	}
}

// ternary writes d·(q − 1) for the n-th digit q of every byte, of base 3: a byte b
// is the fraction b/256, and its first digit the integer part of 3·b/256.
func ternary(dst []byte, d float32, src []byte, n int) []byte {
	power := [5]byte{1, 3, 9, 27, 81}[n]
	var q [32]int8
	for i, b := range src {
		q[i] = int8(uint16(b*power)*3>>8) - 1 // b*power without its integer part
	}
	return scaled(dst, d, q[:len(src)])
}

// tq1_0 is 48 bytes of five digits each, 4 bytes of four digits each, d. A run of
// 32, 16 or 4 bytes holds first the first digits of all its bytes.
func tq1_0(dst, src []byte) {
	d := half(src[52:])
	for n := range 5 {
		dst = ternary(dst, d, src[:32], n)
	}
	for n := range 5 {
		dst = ternary(dst, d, src[32:48], n)
	}
	for n := range 4 {
		dst = ternary(dst, d, src[48:52], n)
	}
}

// tq2_0 is 64 bytes of integers of 2 bits, in the order of q2_k's, and d: d·(q − 1).
func tq2_0(dst, src []byte) {
	d := half(src[64:])
	for j := range 8 {
		codes := src[j/4*32:][:32]
		shift := j % 4 * 2
		var q [32]int8
		for i, b := range codes {
			q[i] = int8(b>>shift&3) - 1
		}
		dst = scaled(dst, d, q[:])
	}
}

// twiceE2M1 is the values of E2M1 by their codes, doubled. −0 is 0, because the
// reference reads them as integers.
var twiceE2M1 = [16]int8{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}

// mxfp4 is an exponent e, 16 bytes of codes of E2M1: 2^(e−128)·twiceE2M1[code].
// Every e is a number, 255 too (QB.4).
func mxfp4(dst, src []byte) {
	var q [32]int8
	lowHigh(q[:], src[1:])
	lookUp(q[:], &twiceE2M1)
	scaled(dst, float32(math.Ldexp(1, int(src[0])-128)), q[:])
}

// nvfp4 is 4 scales of 8 bits, 32 bytes of codes of E2M1. Sixteen elements share a
// scale: scale/2·twiceE2M1[code].
func nvfp4(dst, src []byte) {
	for k, s := range src[:4] {
		var q [16]int8
		lowHigh(q[:], src[4+8*k:][:8])
		lookUp(q[:], &twiceE2M1)
		dst = scaled(dst, unsignedE4M3(s)/2, q[:])
	}
}

// unsignedE4M3 returns the value of a scale of NVFP4: E4M3 without its sign bit, with
// which 127 is 0 and 255 is 480 (QB.5).
func unsignedE4M3(code byte) float32 {
	switch magnitude := uint64(code & 127); {
	case code == 127:
		return 0
	case magnitude == 127:
		return 480
	default:
		return float.E4M3FN.Decode(magnitude)
	}
}
