//go:build !purego

package kernel

import "math"

//go:noescape
func strip1of8AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int

//go:noescape
func strip2of8AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int

//go:noescape
func strip4of8AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int

//go:noescape
func strip8of8AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int

//go:noescape
func strip4of8StreamAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int

//go:noescape
func strip8of8StreamAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int

//go:noescape
func strip1of4AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int

//go:noescape
func strip2of4AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int

//go:noescape
func strip4of4AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int

//go:noescape
func strip8of4AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int

//go:noescape
func strip4of4StreamAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int

//go:noescape
func strip8of4StreamAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int

// stripForm picks the form of Strip that moves eight columns at once, and the
// one that writes past the caches; nil where there is none. They multiply 32
// bits.
func stripForm(size, width, dim, stride int) (move, stream stripFunc) {
	if form < formAVX512 || dim > math.MaxUint32 || stride > math.MaxUint32 {
		return nil, nil
	}
	switch {
	case size == 1 && width == 8:
		return strip1of8AVX512, nil
	case size == 2 && width == 8:
		return strip2of8AVX512, nil
	case size == 4 && width == 8:
		return strip4of8AVX512, strip4of8StreamAVX512
	case size == 8 && width == 8:
		return strip8of8AVX512, strip8of8StreamAVX512
	case size == 1 && width == 4:
		return strip1of4AVX512, nil
	case size == 2 && width == 4:
		return strip2of4AVX512, nil
	case size == 4 && width == 4:
		return strip4of4AVX512, strip4of4StreamAVX512
	case size == 8 && width == 4:
		return strip8of4AVX512, strip8of4StreamAVX512
	}
	return nil, nil
}
