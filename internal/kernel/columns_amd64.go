//go:build !purego

package kernel

import "math"

//go:noescape
func columns1of8AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func flat1of8AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func flat1of8AheadAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func columns2of8AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func flat2of8AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func flat2of8AheadAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func columns4of8AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func columns4of8StreamAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func flat4of8AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func flat4of8AheadAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func flat4of8StreamAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func columns8of8AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func columns8of8StreamAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func flat8of8AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func flat8of8AheadAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func flat8of8StreamAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func columns1of4AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func flat1of4AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func flat1of4AheadAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func columns2of4AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func flat2of4AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func flat2of4AheadAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func columns4of4AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func columns4of4StreamAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func flat4of4AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func flat4of4AheadAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func flat4of4StreamAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func columns8of4AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func columns8of4StreamAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func flat8of4AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func flat8of4AheadAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

//go:noescape
func flat8of4StreamAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

// columnsForm picks the form of Gather for a size of element and a width of
// index value, both in bytes: the one that moves, and the one that writes past
// the caches; nil where there is none. They multiply 32 bits.
func columnsForm(size, width, dim, stride int) (move, stream columnsFunc) {
	if form < formAVX512 || uint64(dim) > math.MaxUint32 || uint64(stride) > math.MaxUint32 {
		return nil, nil
	}
	switch {
	case size == 1 && width == 8:
		return columns1of8AVX512, nil
	case size == 2 && width == 8:
		return columns2of8AVX512, nil
	case size == 4 && width == 8:
		return columns4of8AVX512, columns4of8StreamAVX512
	case size == 8 && width == 8:
		return columns8of8AVX512, columns8of8StreamAVX512
	case size == 1 && width == 4:
		return columns1of4AVX512, nil
	case size == 2 && width == 4:
		return columns2of4AVX512, nil
	case size == 4 && width == 4:
		return columns4of4AVX512, columns4of4StreamAVX512
	case size == 8 && width == 4:
		return columns8of4AVX512, columns8of4StreamAVX512
	}
	return nil, nil
}

// flatForm picks the form of Elements that moves eight at once: the one that
// moves, the one that asks for every element ahead, and the one that writes
// past the caches; nil where there is none.
func flatForm(size, width int) (move, ahead, stream columnsFunc) {
	if form < formAVX512 {
		return nil, nil, nil
	}
	switch {
	case size == 1 && width == 8:
		return flat1of8AVX512, flat1of8AheadAVX512, nil
	case size == 2 && width == 8:
		return flat2of8AVX512, flat2of8AheadAVX512, nil
	case size == 4 && width == 8:
		return flat4of8AVX512, flat4of8AheadAVX512, flat4of8StreamAVX512
	case size == 8 && width == 8:
		return flat8of8AVX512, flat8of8AheadAVX512, flat8of8StreamAVX512
	case size == 1 && width == 4:
		return flat1of4AVX512, flat1of4AheadAVX512, nil
	case size == 2 && width == 4:
		return flat2of4AVX512, flat2of4AheadAVX512, nil
	case size == 4 && width == 4:
		return flat4of4AVX512, flat4of4AheadAVX512, flat4of4StreamAVX512
	case size == 8 && width == 4:
		return flat8of4AVX512, flat8of4AheadAVX512, flat8of4StreamAVX512
	}
	return nil, nil, nil
}
