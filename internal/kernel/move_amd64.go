//go:build !purego

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// The files _amd64.go declare the assembly functions, each with the Go loop that it equals.
// In a loop, the fields of the argument struct are variables; a pointer field is
// the slice that begins there. prefetch(b, at, n) stands for the prefetch of the
// cache lines of n bytes from b[at] on. A prefetch cannot fault, so those bytes
// need not lie in b. "Non-temporal" marks a store that bypasses the caches. single
// and half stand for float.Float16's Decode and Round, of bits.

// forms lists the forms that this machine can run, in the order of formNames.
var forms = func() []string {
	list := []string{"Generic", "AMD64"}
	if cpu.X86.HasAVX2 {
		list = append(list, "AVX2")
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ {
		list = append(list, "AVX512")
		if cpu.X86.HasAVX512VBMI && cpu.X86.HasBMI2 {
			list = append(list, "AVX512VBMI")
		}
	}
	return list
}()

// rows1 moves slices of 1 byte:
//
//	for j, row := range rows {
//		copy(dst[at+j*step:][:1], src[int(row)+bias:])
//	}
//
//go:noescape
func rows1(a *rowsArgs)

// rows1Ahead is rows1 with a prefetch of later slices:
//
//	for j, row := range rows {
//		prefetch(src, int(later[j])+laterBias, 1)
//		copy(dst[at+j*step:][:1], src[int(row)+bias:])
//	}
//
//go:noescape
func rows1Ahead(a *rowsArgs)

// rows2 moves slices of 2 and 3 bytes, by two loads and two stores that overlap:
//
//	for j, row := range rows {
//		copy(dst[at+j*step:][:size], src[int(row)+bias:])
//	}
//
//go:noescape
func rows2(a *rowsArgs)

// rows2Ahead is rows2 with a prefetch of later slices:
//
//	for j, row := range rows {
//		prefetch(src, int(later[j])+laterBias, size)
//		copy(dst[at+j*step:][:size], src[int(row)+bias:])
//	}
//
//go:noescape
func rows2Ahead(a *rowsArgs)

// rows4 moves slices of 4 bytes:
//
//	for j, row := range rows {
//		copy(dst[at+j*step:][:4], src[int(row)+bias:])
//	}
//
//go:noescape
func rows4(a *rowsArgs)

// rows4Ahead is rows4 with a prefetch of later slices:
//
//	for j, row := range rows {
//		prefetch(src, int(later[j])+laterBias, 1)
//		copy(dst[at+j*step:][:4], src[int(row)+bias:])
//	}
//
//go:noescape
func rows4Ahead(a *rowsArgs)

// rows5 moves slices of 5 to 7 bytes, by two loads and two stores that overlap:
//
//	for j, row := range rows {
//		copy(dst[at+j*step:][:size], src[int(row)+bias:])
//	}
//
//go:noescape
func rows5(a *rowsArgs)

// rows5Ahead is rows5 with a prefetch of later slices:
//
//	for j, row := range rows {
//		prefetch(src, int(later[j])+laterBias, size)
//		copy(dst[at+j*step:][:size], src[int(row)+bias:])
//	}
//
//go:noescape
func rows5Ahead(a *rowsArgs)

// rows8 moves slices of 8 bytes:
//
//	for j, row := range rows {
//		copy(dst[at+j*step:][:8], src[int(row)+bias:])
//	}
//
//go:noescape
func rows8(a *rowsArgs)

// rows8Ahead is rows8 with a prefetch of later slices:
//
//	for j, row := range rows {
//		prefetch(src, int(later[j])+laterBias, 1)
//		copy(dst[at+j*step:][:8], src[int(row)+bias:])
//	}
//
//go:noescape
func rows8Ahead(a *rowsArgs)

// rows9 moves slices of 9 to 15 bytes, by two loads and two stores that overlap:
//
//	for j, row := range rows {
//		copy(dst[at+j*step:][:size], src[int(row)+bias:])
//	}
//
//go:noescape
func rows9(a *rowsArgs)

// rows9Ahead is rows9 with a prefetch of later slices:
//
//	for j, row := range rows {
//		prefetch(src, int(later[j])+laterBias, size)
//		copy(dst[at+j*step:][:size], src[int(row)+bias:])
//	}
//
//go:noescape
func rows9Ahead(a *rowsArgs)

// rows16 moves slices of 16 bytes:
//
//	for j, row := range rows {
//		copy(dst[at+j*step:][:16], src[int(row)+bias:])
//	}
//
//go:noescape
func rows16(a *rowsArgs)

// rows16Ahead is rows16 with a prefetch of later slices:
//
//	for j, row := range rows {
//		prefetch(src, int(later[j])+laterBias, 1)
//		copy(dst[at+j*step:][:16], src[int(row)+bias:])
//	}
//
//go:noescape
func rows16Ahead(a *rowsArgs)

// rows17 moves slices of 17 to 32 bytes, by two loads and two stores that overlap:
//
//	for j, row := range rows {
//		copy(dst[at+j*step:][:size], src[int(row)+bias:])
//	}
//
//go:noescape
func rows17(a *rowsArgs)

// rows17Ahead is rows17 with a prefetch of later slices:
//
//	for j, row := range rows {
//		prefetch(src, int(later[j])+laterBias, size)
//		copy(dst[at+j*step:][:size], src[int(row)+bias:])
//	}
//
//go:noescape
func rows17Ahead(a *rowsArgs)

// rows33AVX2 moves slices of 33 to 63 bytes, by two loads and two stores that overlap:
//
//	for j, row := range rows {
//		copy(dst[at+j*step:][:size], src[int(row)+bias:])
//	}
//
//go:noescape
func rows33AVX2(a *rowsArgs)

// rows33AheadAVX2 is rows33AVX2 with a prefetch of later slices:
//
//	for j, row := range rows {
//		prefetch(src, int(later[j])+laterBias, size)
//		copy(dst[at+j*step:][:size], src[int(row)+bias:])
//	}
//
//go:noescape
func rows33AheadAVX2(a *rowsArgs)

// rows64AVX2 moves slices of 64 bytes and more:
//
//	for j, row := range rows {
//		copy(dst[at+j*step:][:size], src[int(row)+bias:])
//	}
//
//go:noescape
func rows64AVX2(a *rowsArgs)

// rows64AheadAVX2 is rows64AVX2 with a prefetch of later slices. In slices of 512
// bytes and more it prefetches most lines a second time, shortly before their turn:
//
//	for j, row := range rows {
//		prefetch(src, int(later[j])+laterBias, size)
//		copy(dst[at+j*step:][:size], src[int(row)+bias:])
//	}
//
//go:noescape
func rows64AheadAVX2(a *rowsArgs)

// rows64AVX512 moves slices of 64 bytes and more:
//
//	for j, row := range rows {
//		copy(dst[at+j*step:][:size], src[int(row)+bias:])
//	}
//
//go:noescape
func rows64AVX512(a *rowsArgs)

// rows64AheadAVX512 is rows64AVX512 with a prefetch of later slices. In slices of 512
// bytes and more it prefetches most lines a second time, shortly before their turn:
//
//	for j, row := range rows {
//		prefetch(src, int(later[j])+laterBias, size)
//		copy(dst[at+j*step:][:size], src[int(row)+bias:])
//	}
//
//go:noescape
func rows64AheadAVX512(a *rowsArgs)

// stream16 moves adjacent slices of 16 bytes; the first place in dst is aligned to
// 64 bytes:
//
//	for j, row := range rows {
//		prefetch(src, int(later[j])+laterBias, 1)
//		copy(dst[at+j*step:][:16], src[int(row)+bias:]) // non-temporal
//	}
//
//go:noescape
func stream16(a *rowsArgs)

// stream32AVX2 moves adjacent slices of 32 bytes; the first place in dst is aligned
// to 64 bytes:
//
//	for j, row := range rows {
//		prefetch(src, int(later[j])+laterBias, 1)
//		copy(dst[at+j*step:][:32], src[int(row)+bias:]) // non-temporal
//	}
//
//go:noescape
func stream32AVX2(a *rowsArgs)

// stream64AVX2 moves slices of whole cache lines: size, step and the first place
// in dst are multiples of 64 bytes:
//
//	for j, row := range rows {
//		prefetch(src, int(later[j])+laterBias, size)
//		copy(dst[at+j*step:][:size], src[int(row)+bias:]) // non-temporal
//	}
//
//go:noescape
func stream64AVX2(a *rowsArgs)

// stream64AVX512 moves slices of whole cache lines: size, step and the first place
// in dst are multiples of 64 bytes:
//
//	for j, row := range rows {
//		prefetch(src, int(later[j])+laterBias, size)
//		copy(dst[at+j*step:][:size], src[int(row)+bias:]) // non-temporal
//	}
//
//go:noescape
func stream64AVX512(a *rowsArgs)

// stream17AVX512VBMI moves adjacent slices of 17 to 32 bytes to any place; step
// is size. It joins the parts of a cache line that slices share in a register, and
// stores the first and the last line of all through the caches:
//
//	for j, row := range rows {
//		prefetch(src, int(later[j])+laterBias, size)
//		copy(dst[at+j*step:][:size], src[int(row)+bias:]) // non-temporal
//	}
//
//go:noescape
func stream17AVX512VBMI(a *rowsArgs)

// stream33AVX512VBMI moves adjacent slices of 33 to 63 bytes to any place; step
// is size. It joins the parts of a cache line that slices share in a register, and
// stores the first and the last line of all through the caches:
//
//	for j, row := range rows {
//		prefetch(src, int(later[j])+laterBias, size)
//		copy(dst[at+j*step:][:size], src[int(row)+bias:]) // non-temporal
//	}
//
//go:noescape
func stream33AVX512VBMI(a *rowsArgs)

// streamAVX512VBMI moves adjacent slices of 64 bytes and more to any place; step
// is size. It joins the parts of a cache line that slices share in a register, and
// stores the first and the last line of all through the caches:
//
//	for j, row := range rows {
//		prefetch(src, int(later[j])+laterBias, size)
//		copy(dst[at+j*step:][:size], src[int(row)+bias:]) // non-temporal
//	}
//
//go:noescape
func streamAVX512VBMI(a *rowsArgs)

// slices2 moves slices of 2 and 3 bytes by values of 8 bytes:
//
//	for j := range n {
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[size*j:][:size], src[size*v:])
//	}
//	return n
//
//go:noescape
func slices2(a *slicesArgs) (moved int)

// slices2Ahead is slices2 with a prefetch of later slices:
//
//	for j := range n {
//		prefetch(src, size*int(binary.LittleEndian.Uint64(values[8*j+ahead:])), size)
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[size*j:][:size], src[size*v:])
//	}
//	return n
//
//go:noescape
func slices2Ahead(a *slicesArgs) (moved int)

// slices4 moves slices of 4 bytes by values of 8 bytes:
//
//	for j := range n {
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[size*j:][:size], src[size*v:])
//	}
//	return n
//
//go:noescape
func slices4(a *slicesArgs) (moved int)

// slices4Ahead is slices4 with a prefetch of later slices:
//
//	for j := range n {
//		prefetch(src, size*int(binary.LittleEndian.Uint64(values[8*j+ahead:])), size)
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[size*j:][:size], src[size*v:])
//	}
//	return n
//
//go:noescape
func slices4Ahead(a *slicesArgs) (moved int)

// slices5 moves slices of 5 to 7 bytes by values of 8 bytes:
//
//	for j := range n {
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[size*j:][:size], src[size*v:])
//	}
//	return n
//
//go:noescape
func slices5(a *slicesArgs) (moved int)

// slices5Ahead is slices5 with a prefetch of later slices:
//
//	for j := range n {
//		prefetch(src, size*int(binary.LittleEndian.Uint64(values[8*j+ahead:])), size)
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[size*j:][:size], src[size*v:])
//	}
//	return n
//
//go:noescape
func slices5Ahead(a *slicesArgs) (moved int)

// slices8 moves slices of 8 bytes by values of 8 bytes:
//
//	for j := range n {
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[size*j:][:size], src[size*v:])
//	}
//	return n
//
//go:noescape
func slices8(a *slicesArgs) (moved int)

// slices8Ahead is slices8 with a prefetch of later slices:
//
//	for j := range n {
//		prefetch(src, size*int(binary.LittleEndian.Uint64(values[8*j+ahead:])), size)
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[size*j:][:size], src[size*v:])
//	}
//	return n
//
//go:noescape
func slices8Ahead(a *slicesArgs) (moved int)

// slices9 moves slices of 9 to 15 bytes by values of 8 bytes:
//
//	for j := range n {
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[size*j:][:size], src[size*v:])
//	}
//	return n
//
//go:noescape
func slices9(a *slicesArgs) (moved int)

// slices9Ahead is slices9 with a prefetch of later slices:
//
//	for j := range n {
//		prefetch(src, size*int(binary.LittleEndian.Uint64(values[8*j+ahead:])), size)
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[size*j:][:size], src[size*v:])
//	}
//	return n
//
//go:noescape
func slices9Ahead(a *slicesArgs) (moved int)

// slices16 moves slices of 16 bytes by values of 8 bytes:
//
//	for j := range n {
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[size*j:][:size], src[size*v:])
//	}
//	return n
//
//go:noescape
func slices16(a *slicesArgs) (moved int)

// slices16Ahead is slices16 with a prefetch of later slices:
//
//	for j := range n {
//		prefetch(src, size*int(binary.LittleEndian.Uint64(values[8*j+ahead:])), size)
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[size*j:][:size], src[size*v:])
//	}
//	return n
//
//go:noescape
func slices16Ahead(a *slicesArgs) (moved int)

// slices17 moves slices of 17 to 32 bytes by values of 8 bytes:
//
//	for j := range n {
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[size*j:][:size], src[size*v:])
//	}
//	return n
//
//go:noescape
func slices17(a *slicesArgs) (moved int)

// slices17Ahead is slices17 with a prefetch of later slices:
//
//	for j := range n {
//		prefetch(src, size*int(binary.LittleEndian.Uint64(values[8*j+ahead:])), size)
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[size*j:][:size], src[size*v:])
//	}
//	return n
//
//go:noescape
func slices17Ahead(a *slicesArgs) (moved int)

// slices33AVX2 moves slices of 33 to 64 bytes by values of 8 bytes:
//
//	for j := range n {
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[size*j:][:size], src[size*v:])
//	}
//	return n
//
//go:noescape
func slices33AVX2(a *slicesArgs) (moved int)

// slices33AheadAVX2 is slices33AVX2 with a prefetch of later slices:
//
//	for j := range n {
//		prefetch(src, size*int(binary.LittleEndian.Uint64(values[8*j+ahead:])), size)
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[size*j:][:size], src[size*v:])
//	}
//	return n
//
//go:noescape
func slices33AheadAVX2(a *slicesArgs) (moved int)

// slices65AVX2 moves slices of 65 to 128 bytes by values of 8 bytes:
//
//	for j := range n {
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[size*j:][:size], src[size*v:])
//	}
//	return n
//
//go:noescape
func slices65AVX2(a *slicesArgs) (moved int)

// slices65AheadAVX2 is slices65AVX2 with a prefetch of later slices:
//
//	for j := range n {
//		prefetch(src, size*int(binary.LittleEndian.Uint64(values[8*j+ahead:])), size)
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[size*j:][:size], src[size*v:])
//	}
//	return n
//
//go:noescape
func slices65AheadAVX2(a *slicesArgs) (moved int)

// elements1of8 moves elements of 1 byte by values of 8 bytes:
//
//	for j := range n {
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[j:][:1], src[v:])
//	}
//	return n
//
//go:noescape
func elements1of8(a *elementsArgs) (moved int)

// elements2of8 moves elements of 2 bytes by values of 8 bytes:
//
//	for j := range n {
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[2*j:][:2], src[2*v:])
//	}
//	return n
//
//go:noescape
func elements2of8(a *elementsArgs) (moved int)

// elements4of8 moves elements of 4 bytes by values of 8 bytes:
//
//	for j := range n {
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[4*j:][:4], src[4*v:])
//	}
//	return n
//
//go:noescape
func elements4of8(a *elementsArgs) (moved int)

// elements8of8 moves elements of 8 bytes by values of 8 bytes:
//
//	for j := range n {
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[8*j:][:8], src[8*v:])
//	}
//	return n
//
//go:noescape
func elements8of8(a *elementsArgs) (moved int)

// elements1of4 moves elements of 1 byte by values of 4 bytes:
//
//	for j := range n {
//		v := int(int32(binary.LittleEndian.Uint32(values[4*j:])))
//		if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[j:][:1], src[v:])
//	}
//	return n
//
//go:noescape
func elements1of4(a *elementsArgs) (moved int)

// elements2of4 moves elements of 2 bytes by values of 4 bytes:
//
//	for j := range n {
//		v := int(int32(binary.LittleEndian.Uint32(values[4*j:])))
//		if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[2*j:][:2], src[2*v:])
//	}
//	return n
//
//go:noescape
func elements2of4(a *elementsArgs) (moved int)

// elements4of4 moves elements of 4 bytes by values of 4 bytes:
//
//	for j := range n {
//		v := int(int32(binary.LittleEndian.Uint32(values[4*j:])))
//		if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[4*j:][:4], src[4*v:])
//	}
//	return n
//
//go:noescape
func elements4of4(a *elementsArgs) (moved int)

// elements8of4 moves elements of 8 bytes by values of 4 bytes:
//
//	for j := range n {
//		v := int(int32(binary.LittleEndian.Uint32(values[4*j:])))
//		if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[8*j:][:8], src[8*v:])
//	}
//	return n
//
//go:noescape
func elements8of4(a *elementsArgs) (moved int)

// elements1of8Ahead is elements1of8 with a prefetch of later elements:
//
//	for j := range n {
//		prefetch(src, int(binary.LittleEndian.Uint64(values[ahead+8*j:])), 1)
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[j:][:1], src[v:])
//	}
//	return n
//
//go:noescape
func elements1of8Ahead(a *elementsArgs) (moved int)

// elements2of8Ahead is elements2of8 with a prefetch of later elements:
//
//	for j := range n {
//		prefetch(src, 2*int(binary.LittleEndian.Uint64(values[ahead+8*j:])), 1)
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[2*j:][:2], src[2*v:])
//	}
//	return n
//
//go:noescape
func elements2of8Ahead(a *elementsArgs) (moved int)

// elements4of8Ahead is elements4of8 with a prefetch of later elements:
//
//	for j := range n {
//		prefetch(src, 4*int(binary.LittleEndian.Uint64(values[ahead+8*j:])), 1)
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[4*j:][:4], src[4*v:])
//	}
//	return n
//
//go:noescape
func elements4of8Ahead(a *elementsArgs) (moved int)

// elements8of8Ahead is elements8of8 with a prefetch of later elements:
//
//	for j := range n {
//		prefetch(src, 8*int(binary.LittleEndian.Uint64(values[ahead+8*j:])), 1)
//		v := int(binary.LittleEndian.Uint64(values[8*j:]))
//		if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[8*j:][:8], src[8*v:])
//	}
//	return n
//
//go:noescape
func elements8of8Ahead(a *elementsArgs) (moved int)

// elements1of4Ahead is elements1of4 with a prefetch of later elements:
//
//	for j := range n {
//		prefetch(src, int(int32(binary.LittleEndian.Uint32(values[ahead+4*j:]))), 1)
//		v := int(int32(binary.LittleEndian.Uint32(values[4*j:])))
//		if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[j:][:1], src[v:])
//	}
//	return n
//
//go:noescape
func elements1of4Ahead(a *elementsArgs) (moved int)

// elements2of4Ahead is elements2of4 with a prefetch of later elements:
//
//	for j := range n {
//		prefetch(src, 2*int(int32(binary.LittleEndian.Uint32(values[ahead+4*j:]))), 1)
//		v := int(int32(binary.LittleEndian.Uint32(values[4*j:])))
//		if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[2*j:][:2], src[2*v:])
//	}
//	return n
//
//go:noescape
func elements2of4Ahead(a *elementsArgs) (moved int)

// elements4of4Ahead is elements4of4 with a prefetch of later elements:
//
//	for j := range n {
//		prefetch(src, 4*int(int32(binary.LittleEndian.Uint32(values[ahead+4*j:]))), 1)
//		v := int(int32(binary.LittleEndian.Uint32(values[4*j:])))
//		if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[4*j:][:4], src[4*v:])
//	}
//	return n
//
//go:noescape
func elements4of4Ahead(a *elementsArgs) (moved int)

// elements8of4Ahead is elements8of4 with a prefetch of later elements:
//
//	for j := range n {
//		prefetch(src, 8*int(int32(binary.LittleEndian.Uint32(values[ahead+4*j:]))), 1)
//		v := int(int32(binary.LittleEndian.Uint32(values[4*j:])))
//		if v += v >> 63 & fromEnd; uint(v) >= uint(dim) {
//			return j
//		}
//		copy(dst[8*j:][:8], src[8*v:])
//	}
//	return n
//
//go:noescape
func elements8of4Ahead(a *elementsArgs) (moved int)

// rowsForm returns the forms of Rows for slices of size bytes, without and with
// prefetching, or nil where the generic form runs.
func rowsForm(size int) (move, ahead rowsFunc) {
	switch {
	case form < formAMD64 || size == 0:
		return nil, nil
	case size == 1:
		return rows1, rows1Ahead
	case size < 4:
		return rows2, rows2Ahead
	case size == 4:
		return rows4, rows4Ahead
	case size < 8:
		return rows5, rows5Ahead
	case size == 8:
		return rows8, rows8Ahead
	case size < 16:
		return rows9, rows9Ahead
	case size == 16:
		return rows16, rows16Ahead
	case size <= 32:
		return rows17, rows17Ahead
	case form < formAVX2:
		return nil, nil
	case size < 64:
		return rows33AVX2, rows33AheadAVX2
	case form < formAVX512:
		return rows64AVX2, rows64AheadAVX2
	}
	return rows64AVX512, rows64AheadAVX512
}

// streamForm returns the form of Rows with non-temporal stores for slices of size
// bytes at a distance of step bytes in dst, or nil where there is none. aligned
// reports whether the first place in dst is at a multiple of 64 bytes.
func streamForm(size, step int, aligned bool) rowsFunc {
	dense := size == step
	switch {
	case form < formAMD64 || size < 16:
		return nil
	case aligned && dense && size == 16:
		return stream16
	case form < formAVX2:
		return nil
	case aligned && dense && size == 32:
		return stream32AVX2
	case aligned && size%64 == 0 && step%64 == 0 && form < formAVX512:
		return stream64AVX2
	case aligned && size%64 == 0 && step%64 == 0:
		return stream64AVX512
	case form < formVBMI || !dense || size == 16:
		return nil
	case size <= 32:
		return stream17AVX512VBMI
	case size < 64:
		return stream33AVX512VBMI
	}
	return streamAVX512VBMI
}

// elementsForm returns the scalar forms of Elements for a size of element and a
// width of index value, both in bytes, without and with prefetching, or nil where
// the generic form runs.
func elementsForm(size, width int) (move, ahead elementsFunc) {
	if form < formAMD64 {
		return nil, nil
	}
	switch {
	case size == 1 && width == 8:
		return elements1of8, elements1of8Ahead
	case size == 2 && width == 8:
		return elements2of8, elements2of8Ahead
	case size == 4 && width == 8:
		return elements4of8, elements4of8Ahead
	case size == 8 && width == 8:
		return elements8of8, elements8of8Ahead
	case size == 1 && width == 4:
		return elements1of4, elements1of4Ahead
	case size == 2 && width == 4:
		return elements2of4, elements2of4Ahead
	case size == 4 && width == 4:
		return elements4of4, elements4of4Ahead
	case size == 8 && width == 4:
		return elements8of4, elements8of4Ahead
	}
	return nil, nil
}

// slicesForm returns the forms of Slices for slices of size bytes, the second with a
// prefetch of later slices, or nil where there are none.
func slicesForm(size int) (move, ahead slicesFunc) {
	switch {
	case form < formAMD64 || size < 2:
		return nil, nil
	case size < 4:
		return slices2, slices2Ahead
	case size == 4:
		return slices4, slices4Ahead
	case size < 8:
		return slices5, slices5Ahead
	case size == 8:
		return slices8, slices8Ahead
	case size < 16:
		return slices9, slices9Ahead
	case size == 16:
		return slices16, slices16Ahead
	case size <= 32:
		return slices17, slices17Ahead
	case form < formAVX2 || size > SlicesMost:
		return nil, nil
	case size <= 64:
		return slices33AVX2, slices33AheadAVX2
	}
	return slices65AVX2, slices65AheadAVX2
}

// tuples1of8AVX512 resolves tuples of 1 component in values of 8 bytes:
//
//	for j := range n {
//		axis := axes[0]
//		v := int64(binary.LittleEndian.Uint64(values[8*j:]))
//		v += v >> 63 & fromEnd & axis.Dim
//		rows[j] = base + int64(j)*step + v*axis.Stride
//		if uint64(v) >= uint64(axis.Dim) {
//			rows[j] = -1
//			outside++
//		}
//	}
//	return outside
//
//go:noescape
func tuples1of8AVX512(a *tuplesArgs) (outside int)

// tuples2of8AVX512 resolves tuples of 2 components in values of 8 bytes:
//
//	for j := range n {
//		rows[j] = base + int64(j)*step
//		valid := true
//		for c, axis := range axes[:2] {
//			v := int64(binary.LittleEndian.Uint64(values[8*(2*j+c):]))
//			v += v >> 63 & fromEnd & axis.Dim
//			rows[j] += v * axis.Stride
//			valid = valid && uint64(v) < uint64(axis.Dim)
//		}
//		if !valid {
//			rows[j] = -1
//			outside++
//		}
//	}
//	return outside
//
//go:noescape
func tuples2of8AVX512(a *tuplesArgs) (outside int)

// tuples3of8AVX512 resolves tuples of 3 components in values of 8 bytes:
//
//	for j := range n {
//		rows[j] = base + int64(j)*step
//		valid := true
//		for c, axis := range axes[:3] {
//			v := int64(binary.LittleEndian.Uint64(values[8*(3*j+c):]))
//			v += v >> 63 & fromEnd & axis.Dim
//			rows[j] += v * axis.Stride
//			valid = valid && uint64(v) < uint64(axis.Dim)
//		}
//		if !valid {
//			rows[j] = -1
//			outside++
//		}
//	}
//	return outside
//
//go:noescape
func tuples3of8AVX512(a *tuplesArgs) (outside int)

// tuplesOf8AVX512 resolves tuples of 4 to 6 components in values of 8 bytes:
//
//	for j := range n {
//		rows[j] = base + int64(j)*step
//		valid := true
//		for c, axis := range axes[:k] {
//			v := int64(binary.LittleEndian.Uint64(values[8*(k*j+c):]))
//			v += v >> 63 & fromEnd & axis.Dim
//			rows[j] += v * axis.Stride
//			valid = valid && uint64(v) < uint64(axis.Dim)
//		}
//		if !valid {
//			rows[j] = -1
//			outside++
//		}
//	}
//	return outside
//
//go:noescape
func tuplesOf8AVX512(a *tuplesArgs) (outside int)

// tuples1of4AVX512 resolves tuples of 1 component in values of 4 bytes:
//
//	for j := range n {
//		axis := axes[0]
//		v := int64(int32(binary.LittleEndian.Uint32(values[4*j:])))
//		v += v >> 63 & fromEnd & axis.Dim
//		rows[j] = base + int64(j)*step + v*axis.Stride
//		if uint64(v) >= uint64(axis.Dim) {
//			rows[j] = -1
//			outside++
//		}
//	}
//	return outside
//
//go:noescape
func tuples1of4AVX512(a *tuplesArgs) (outside int)

// tuples2of4AVX512 resolves tuples of 2 components in values of 4 bytes:
//
//	for j := range n {
//		rows[j] = base + int64(j)*step
//		valid := true
//		for c, axis := range axes[:2] {
//			v := int64(int32(binary.LittleEndian.Uint32(values[4*(2*j+c):])))
//			v += v >> 63 & fromEnd & axis.Dim
//			rows[j] += v * axis.Stride
//			valid = valid && uint64(v) < uint64(axis.Dim)
//		}
//		if !valid {
//			rows[j] = -1
//			outside++
//		}
//	}
//	return outside
//
//go:noescape
func tuples2of4AVX512(a *tuplesArgs) (outside int)

// tuples3of4AVX512 resolves tuples of 3 components in values of 4 bytes:
//
//	for j := range n {
//		rows[j] = base + int64(j)*step
//		valid := true
//		for c, axis := range axes[:3] {
//			v := int64(int32(binary.LittleEndian.Uint32(values[4*(3*j+c):])))
//			v += v >> 63 & fromEnd & axis.Dim
//			rows[j] += v * axis.Stride
//			valid = valid && uint64(v) < uint64(axis.Dim)
//		}
//		if !valid {
//			rows[j] = -1
//			outside++
//		}
//	}
//	return outside
//
//go:noescape
func tuples3of4AVX512(a *tuplesArgs) (outside int)

// tuplesOf4AVX512 resolves tuples of 4 to 6 components in values of 4 bytes:
//
//	for j := range n {
//		rows[j] = base + int64(j)*step
//		valid := true
//		for c, axis := range axes[:k] {
//			v := int64(int32(binary.LittleEndian.Uint32(values[4*(k*j+c):])))
//			v += v >> 63 & fromEnd & axis.Dim
//			rows[j] += v * axis.Stride
//			valid = valid && uint64(v) < uint64(axis.Dim)
//		}
//		if !valid {
//			rows[j] = -1
//			outside++
//		}
//	}
//	return outside
//
//go:noescape
func tuplesOf4AVX512(a *tuplesArgs) (outside int)

// tuplesForm returns the form of Tuples for values of width bytes and tuples of k
// components, or nil where the generic form runs.
func tuplesForm(width, k int) tuplesFunc {
	if form < formAVX512 {
		return nil
	}
	switch {
	case width == 8 && k == 1:
		return tuples1of8AVX512
	case width == 8 && k == 2:
		return tuples2of8AVX512
	case width == 8 && k == 3:
		return tuples3of8AVX512
	case width == 8:
		return tuplesOf8AVX512
	case k == 1:
		return tuples1of4AVX512
	case k == 2:
		return tuples2of4AVX512
	case k == 3:
		return tuples3of4AVX512
	}
	return tuplesOf4AVX512
}

// widenI8AVX2 widens int8; n is a positive multiple of 8:
//
//	for j := range n {
//		values[j] = int64(int8(src[j]))
//	}
//
//go:noescape
func widenI8AVX2(values *int64, src *byte, n int)

// widenU8AVX2 widens uint8; n is a positive multiple of 8:
//
//	for j := range n {
//		values[j] = int64(src[j])
//	}
//
//go:noescape
func widenU8AVX2(values *int64, src *byte, n int)

// widenI16AVX2 widens int16; n is a positive multiple of 8:
//
//	for j := range n {
//		values[j] = int64(int16(binary.LittleEndian.Uint16(src[2*j:])))
//	}
//
//go:noescape
func widenI16AVX2(values *int64, src *byte, n int)

// widenU16AVX2 widens uint16; n is a positive multiple of 8:
//
//	for j := range n {
//		values[j] = int64(binary.LittleEndian.Uint16(src[2*j:]))
//	}
//
//go:noescape
func widenU16AVX2(values *int64, src *byte, n int)

// widenI32AVX2 widens int32; n is a positive multiple of 8:
//
//	for j := range n {
//		values[j] = int64(int32(binary.LittleEndian.Uint32(src[4*j:])))
//	}
//
//go:noescape
func widenI32AVX2(values *int64, src *byte, n int)

// widenU32AVX2 widens uint32; n is a positive multiple of 8:
//
//	for j := range n {
//		values[j] = int64(binary.LittleEndian.Uint32(src[4*j:]))
//	}
//
//go:noescape
func widenU32AVX2(values *int64, src *byte, n int)

// widenForm returns the form of Load for adjacent values of a type, or nil where
// the generic form runs.
func widenForm(w Width) widenFunc {
	if form < formAVX2 {
		return nil
	}
	switch w {
	case Width{8, false}:
		return widenI8AVX2
	case Width{8, true}:
		return widenU8AVX2
	case Width{16, false}:
		return widenI16AVX2
	case Width{16, true}:
		return widenU16AVX2
	case Width{32, false}:
		return widenI32AVX2
	case Width{32, true}:
		return widenU32AVX2
	}
	return nil
}

// prefetchLines prefetches n cache lines, n at least 1:
//
//	for i := range n {
//		prefetch(p, 64*i, 1)
//	}
//
//go:noescape
func prefetchLines(p *byte, n int)

// Prefetch prefetches all cache lines of s. The generic form does nothing.
func Prefetch[T any](s []T) {
	if form >= formAMD64 && len(s) > 0 {
		from := unsafe.Pointer(unsafe.SliceData(s))
		prefetchLines((*byte)(from), (int(uintptr(from)%64)+len(s)*int(unsafe.Sizeof(s[0]))+63)/64)
	}
}
