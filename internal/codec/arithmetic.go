package codec

import (
	"encoding/binary"
	"math"

	"github.com/garner-go/garner/internal/float"
)

// The operations below round to f32 once each. The conversions are explicit, so
// that no compiler fuses two operations.
//
// A NaN operand comes out quiet, the first of two; an invalid operation gives
// indefinite (QB.3). So every processor gives the same bits.

// indefinite is the NaN of an invalid operation on x86, where the references'
// values were recorded.
const indefinite = 0xffc00000

func product(a, b float32) float32 {
	p := float32(a * b)
	if p != p {
		return nan(a, b)
	}
	return p
}

func sum(a, b float32) float32 {
	s := float32(a + b)
	if s != s {
		return nan(a, b)
	}
	return s
}

// nan returns the NaN that an operation on a and b gives.
func nan(a, b float32) float32 {
	const quiet = 1 << 22
	switch {
	case a != a:
		return math.Float32frombits(math.Float32bits(a) | quiet)
	case b != b:
		return math.Float32frombits(math.Float32bits(b) | quiet)
	}
	return math.Float32frombits(indefinite)
}

// negative returns −v, and a NaN as it is: a − NaN keeps the sign of the NaN.
func negative(v float32) float32 {
	if v != v {
		return v
	}
	return -v
}

// fused returns code·scale + bias, rounded once.
func fused(code, scale, bias float32) float32 {
	if v := float.FMA(code, scale, bias); v == v {
		return v
	}
	return sum(product(code, scale), bias)
}

// half reads an f16. A NaN keeps its payload and becomes quiet.
func half(src []byte) float32 {
	h := binary.LittleEndian.Uint16(src)
	if exponent := h >> 10 & 31; exponent-1 < 30 { // a normal number
		return math.Float32frombits(uint32(h&0x8000)<<16 | (uint32(h&0x7fff)<<13 + (127-15)<<23))
	}
	return float.Float16.Decode(uint64(h))
}

// single reads an f32.
func single(src []byte) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(src))
}

// put writes an f32.
func put(dst []byte, v float32) {
	binary.LittleEndian.PutUint32(dst, math.Float32bits(v))
}

// scaled writes d·q for every q and returns the rest of dst.
func scaled(dst []byte, d float32, q []int8) []byte {
	for _, v := range q {
		put(dst, product(d, float32(v)))
		dst = dst[4:]
	}
	return dst
}

// affine writes d·q + m for every q, each product and each sum rounded, and returns
// the rest of dst.
func affine(dst []byte, d, m float32, q []int8) []byte {
	for _, v := range q {
		put(dst, sum(product(d, float32(v)), m))
		dst = dst[4:]
	}
	return dst
}
