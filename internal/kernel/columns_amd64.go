//go:build !purego

package kernel

import "math"

// Each function is declared with the Go loop that it equals; move_amd64.go says how
// to read the loops. A function processes eight columns of a tuple at a time. It
// checks all eight values before it returns, so it may have moved some elements
// of the eight that contain an invalid value. A prefetch or a non-temporal store
// does not change the result, so the loops leave them out.

// columns1of8AVX512 moves elements of 1 byte by values of 8 bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(binary.LittleEndian.Uint64(values[t*from+8*j:]))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+j:][:1], src[t*data+v*stride+j*lane:])
//		}
//	}
//	return tuples * n
//
//go:noescape
func columns1of8AVX512(a *columnsArgs) (moved int)

// flat1of8AVX512 is columns1of8AVX512 for stride 1 and lane 0:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(binary.LittleEndian.Uint64(values[t*from+8*j:]))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+j:][:1], src[t*data+v:])
//		}
//	}
//	return tuples * n
//
//go:noescape
func flat1of8AVX512(a *columnsArgs) (moved int)

// flat1of8AheadAVX512 is flat1of8AVX512 with a prefetch of later elements: with
// every eight values, it prefetches the elements of the eight values at a distance
// of ahead bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(binary.LittleEndian.Uint64(values[t*from+8*j:]))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+j:][:1], src[t*data+v:])
//		}
//	}
//	return tuples * n
//
//go:noescape
func flat1of8AheadAVX512(a *columnsArgs) (moved int)

// columns2of8AVX512 moves elements of 2 bytes by values of 8 bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(binary.LittleEndian.Uint64(values[t*from+8*j:]))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+2*j:][:2], src[t*data+2*(v*stride+j*lane):])
//		}
//	}
//	return tuples * n
//
//go:noescape
func columns2of8AVX512(a *columnsArgs) (moved int)

// flat2of8AVX512 is columns2of8AVX512 for stride 1 and lane 0:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(binary.LittleEndian.Uint64(values[t*from+8*j:]))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+2*j:][:2], src[t*data+2*v:])
//		}
//	}
//	return tuples * n
//
//go:noescape
func flat2of8AVX512(a *columnsArgs) (moved int)

// flat2of8AheadAVX512 is flat2of8AVX512 with a prefetch of later elements: with
// every eight values, it prefetches the elements of the eight values at a distance
// of ahead bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(binary.LittleEndian.Uint64(values[t*from+8*j:]))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+2*j:][:2], src[t*data+2*v:])
//		}
//	}
//	return tuples * n
//
//go:noescape
func flat2of8AheadAVX512(a *columnsArgs) (moved int)

// columns4of8AVX512 moves elements of 4 bytes by values of 8 bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(binary.LittleEndian.Uint64(values[t*from+8*j:]))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+4*j:][:4], src[t*data+4*(v*stride+j*lane):])
//		}
//	}
//	return tuples * n
//
//go:noescape
func columns4of8AVX512(a *columnsArgs) (moved int)

// columns4of8StreamAVX512 is columns4of8AVX512 with non-temporal stores; dst and to
// are multiples of 64 bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(binary.LittleEndian.Uint64(values[t*from+8*j:]))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+4*j:][:4], src[t*data+4*(v*stride+j*lane):])
//		}
//	}
//	return tuples * n
//
//go:noescape
func columns4of8StreamAVX512(a *columnsArgs) (moved int)

// flat4of8AVX512 is columns4of8AVX512 for stride 1 and lane 0:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(binary.LittleEndian.Uint64(values[t*from+8*j:]))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+4*j:][:4], src[t*data+4*v:])
//		}
//	}
//	return tuples * n
//
//go:noescape
func flat4of8AVX512(a *columnsArgs) (moved int)

// flat4of8AheadAVX512 is flat4of8AVX512 with a prefetch of later elements: with
// every eight values, it prefetches the elements of the eight values at a distance
// of ahead bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(binary.LittleEndian.Uint64(values[t*from+8*j:]))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+4*j:][:4], src[t*data+4*v:])
//		}
//	}
//	return tuples * n
//
//go:noescape
func flat4of8AheadAVX512(a *columnsArgs) (moved int)

// flat4of8StreamAVX512 is flat4of8AVX512 with non-temporal stores; dst and to
// are multiples of 64 bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(binary.LittleEndian.Uint64(values[t*from+8*j:]))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+4*j:][:4], src[t*data+4*v:])
//		}
//	}
//	return tuples * n
//
//go:noescape
func flat4of8StreamAVX512(a *columnsArgs) (moved int)

// columns8of8AVX512 moves elements of 8 bytes by values of 8 bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(binary.LittleEndian.Uint64(values[t*from+8*j:]))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+8*j:][:8], src[t*data+8*(v*stride+j*lane):])
//		}
//	}
//	return tuples * n
//
//go:noescape
func columns8of8AVX512(a *columnsArgs) (moved int)

// columns8of8StreamAVX512 is columns8of8AVX512 with non-temporal stores; dst and to
// are multiples of 64 bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(binary.LittleEndian.Uint64(values[t*from+8*j:]))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+8*j:][:8], src[t*data+8*(v*stride+j*lane):])
//		}
//	}
//	return tuples * n
//
//go:noescape
func columns8of8StreamAVX512(a *columnsArgs) (moved int)

// flat8of8AVX512 is columns8of8AVX512 for stride 1 and lane 0:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(binary.LittleEndian.Uint64(values[t*from+8*j:]))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+8*j:][:8], src[t*data+8*v:])
//		}
//	}
//	return tuples * n
//
//go:noescape
func flat8of8AVX512(a *columnsArgs) (moved int)

// flat8of8AheadAVX512 is flat8of8AVX512 with a prefetch of later elements: with
// every eight values, it prefetches the elements of the eight values at a distance
// of ahead bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(binary.LittleEndian.Uint64(values[t*from+8*j:]))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+8*j:][:8], src[t*data+8*v:])
//		}
//	}
//	return tuples * n
//
//go:noescape
func flat8of8AheadAVX512(a *columnsArgs) (moved int)

// flat8of8StreamAVX512 is flat8of8AVX512 with non-temporal stores; dst and to
// are multiples of 64 bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(binary.LittleEndian.Uint64(values[t*from+8*j:]))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+8*j:][:8], src[t*data+8*v:])
//		}
//	}
//	return tuples * n
//
//go:noescape
func flat8of8StreamAVX512(a *columnsArgs) (moved int)

// columns1of4AVX512 moves elements of 1 byte by values of 4 bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(int32(binary.LittleEndian.Uint32(values[t*from+4*j:])))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+j:][:1], src[t*data+v*stride+j*lane:])
//		}
//	}
//	return tuples * n
//
//go:noescape
func columns1of4AVX512(a *columnsArgs) (moved int)

// flat1of4AVX512 is columns1of4AVX512 for stride 1 and lane 0:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(int32(binary.LittleEndian.Uint32(values[t*from+4*j:])))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+j:][:1], src[t*data+v:])
//		}
//	}
//	return tuples * n
//
//go:noescape
func flat1of4AVX512(a *columnsArgs) (moved int)

// flat1of4AheadAVX512 is flat1of4AVX512 with a prefetch of later elements: with
// every eight values, it prefetches the elements of the eight values at a distance
// of ahead bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(int32(binary.LittleEndian.Uint32(values[t*from+4*j:])))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+j:][:1], src[t*data+v:])
//		}
//	}
//	return tuples * n
//
//go:noescape
func flat1of4AheadAVX512(a *columnsArgs) (moved int)

// columns2of4AVX512 moves elements of 2 bytes by values of 4 bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(int32(binary.LittleEndian.Uint32(values[t*from+4*j:])))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+2*j:][:2], src[t*data+2*(v*stride+j*lane):])
//		}
//	}
//	return tuples * n
//
//go:noescape
func columns2of4AVX512(a *columnsArgs) (moved int)

// flat2of4AVX512 is columns2of4AVX512 for stride 1 and lane 0:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(int32(binary.LittleEndian.Uint32(values[t*from+4*j:])))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+2*j:][:2], src[t*data+2*v:])
//		}
//	}
//	return tuples * n
//
//go:noescape
func flat2of4AVX512(a *columnsArgs) (moved int)

// flat2of4AheadAVX512 is flat2of4AVX512 with a prefetch of later elements: with
// every eight values, it prefetches the elements of the eight values at a distance
// of ahead bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(int32(binary.LittleEndian.Uint32(values[t*from+4*j:])))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+2*j:][:2], src[t*data+2*v:])
//		}
//	}
//	return tuples * n
//
//go:noescape
func flat2of4AheadAVX512(a *columnsArgs) (moved int)

// columns4of4AVX512 moves elements of 4 bytes by values of 4 bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(int32(binary.LittleEndian.Uint32(values[t*from+4*j:])))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+4*j:][:4], src[t*data+4*(v*stride+j*lane):])
//		}
//	}
//	return tuples * n
//
//go:noescape
func columns4of4AVX512(a *columnsArgs) (moved int)

// columns4of4StreamAVX512 is columns4of4AVX512 with non-temporal stores; dst and to
// are multiples of 64 bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(int32(binary.LittleEndian.Uint32(values[t*from+4*j:])))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+4*j:][:4], src[t*data+4*(v*stride+j*lane):])
//		}
//	}
//	return tuples * n
//
//go:noescape
func columns4of4StreamAVX512(a *columnsArgs) (moved int)

// flat4of4AVX512 is columns4of4AVX512 for stride 1 and lane 0:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(int32(binary.LittleEndian.Uint32(values[t*from+4*j:])))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+4*j:][:4], src[t*data+4*v:])
//		}
//	}
//	return tuples * n
//
//go:noescape
func flat4of4AVX512(a *columnsArgs) (moved int)

// flat4of4AheadAVX512 is flat4of4AVX512 with a prefetch of later elements: with
// every eight values, it prefetches the elements of the eight values at a distance
// of ahead bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(int32(binary.LittleEndian.Uint32(values[t*from+4*j:])))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+4*j:][:4], src[t*data+4*v:])
//		}
//	}
//	return tuples * n
//
//go:noescape
func flat4of4AheadAVX512(a *columnsArgs) (moved int)

// flat4of4StreamAVX512 is flat4of4AVX512 with non-temporal stores; dst and to
// are multiples of 64 bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(int32(binary.LittleEndian.Uint32(values[t*from+4*j:])))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+4*j:][:4], src[t*data+4*v:])
//		}
//	}
//	return tuples * n
//
//go:noescape
func flat4of4StreamAVX512(a *columnsArgs) (moved int)

// columns8of4AVX512 moves elements of 8 bytes by values of 4 bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(int32(binary.LittleEndian.Uint32(values[t*from+4*j:])))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+8*j:][:8], src[t*data+8*(v*stride+j*lane):])
//		}
//	}
//	return tuples * n
//
//go:noescape
func columns8of4AVX512(a *columnsArgs) (moved int)

// columns8of4StreamAVX512 is columns8of4AVX512 with non-temporal stores; dst and to
// are multiples of 64 bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(int32(binary.LittleEndian.Uint32(values[t*from+4*j:])))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+8*j:][:8], src[t*data+8*(v*stride+j*lane):])
//		}
//	}
//	return tuples * n
//
//go:noescape
func columns8of4StreamAVX512(a *columnsArgs) (moved int)

// flat8of4AVX512 is columns8of4AVX512 for stride 1 and lane 0:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(int32(binary.LittleEndian.Uint32(values[t*from+4*j:])))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+8*j:][:8], src[t*data+8*v:])
//		}
//	}
//	return tuples * n
//
//go:noescape
func flat8of4AVX512(a *columnsArgs) (moved int)

// flat8of4AheadAVX512 is flat8of4AVX512 with a prefetch of later elements: with
// every eight values, it prefetches the elements of the eight values at a distance
// of ahead bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(int32(binary.LittleEndian.Uint32(values[t*from+4*j:])))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+8*j:][:8], src[t*data+8*v:])
//		}
//	}
//	return tuples * n
//
//go:noescape
func flat8of4AheadAVX512(a *columnsArgs) (moved int)

// flat8of4StreamAVX512 is flat8of4AVX512 with non-temporal stores; dst and to
// are multiples of 64 bytes:
//
//	for t := range tuples {
//		for j := range n {
//			v := int(int32(binary.LittleEndian.Uint32(values[t*from+4*j:])))
//			if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//				return t*n + j&^7
//			}
//			copy(dst[t*to+8*j:][:8], src[t*data+8*v:])
//		}
//	}
//	return tuples * n
//
//go:noescape
func flat8of4StreamAVX512(a *columnsArgs) (moved int)

// columnsForm returns the forms of Gather for a size of element and a width of
// index value, both in bytes, without and with non-temporal stores, or nil where
// there is none. The forms multiply numbers of 32 bits, so dim and stride must fit.
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

// flatForm returns the forms of Gather for stride 1 and lane 0, which Elements uses
// too: the plain one, one that prefetches every element, and one with
// non-temporal stores, or nil where there is none.
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
