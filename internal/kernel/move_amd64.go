//go:build !purego

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// The forms that this machine has, from the plainest on.
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

//go:noescape
func rows1(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func rows1Ahead(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func rows2(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func rows2Ahead(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func rows4(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func rows4Ahead(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func rows5(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func rows5Ahead(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func rows8(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func rows8Ahead(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func rows9(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func rows9Ahead(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func rows16(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func rows16Ahead(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func stream16(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func rows17(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func rows17Ahead(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func stream32AVX2(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func rows33AVX2(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func rows33AheadAVX2(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func rows64AVX2(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func rows64AheadAVX2(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func rows64AVX512(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func rows64AheadAVX512(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func stream64AVX2(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func stream64AVX512(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func elements1of8(dst, src, values *byte, n, dim, fromEnd, later int) int

//go:noescape
func elements2of8(dst, src, values *byte, n, dim, fromEnd, later int) int

//go:noescape
func elements4of8(dst, src, values *byte, n, dim, fromEnd, later int) int

//go:noescape
func elements8of8(dst, src, values *byte, n, dim, fromEnd, later int) int

//go:noescape
func elements1of4(dst, src, values *byte, n, dim, fromEnd, later int) int

//go:noescape
func elements2of4(dst, src, values *byte, n, dim, fromEnd, later int) int

//go:noescape
func elements4of4(dst, src, values *byte, n, dim, fromEnd, later int) int

//go:noescape
func elements8of4(dst, src, values *byte, n, dim, fromEnd, later int) int

//go:noescape
func elements1of8Ahead(dst, src, values *byte, n, dim, fromEnd, later int) int

//go:noescape
func elements2of8Ahead(dst, src, values *byte, n, dim, fromEnd, later int) int

//go:noescape
func elements4of8Ahead(dst, src, values *byte, n, dim, fromEnd, later int) int

//go:noescape
func elements8of8Ahead(dst, src, values *byte, n, dim, fromEnd, later int) int

//go:noescape
func elements1of4Ahead(dst, src, values *byte, n, dim, fromEnd, later int) int

//go:noescape
func elements2of4Ahead(dst, src, values *byte, n, dim, fromEnd, later int) int

//go:noescape
func elements4of4Ahead(dst, src, values *byte, n, dim, fromEnd, later int) int

//go:noescape
func elements8of4Ahead(dst, src, values *byte, n, dim, fromEnd, later int) int

//go:noescape
func streamAVX512VBMI(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func stream33AVX512VBMI(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

//go:noescape
func stream17AVX512VBMI(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

// rowsForm picks the form of Rows for a size of slice: which one moves, and
// which one moves and prefetches; nil where there is none.
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

// streamForm picks the form of Rows that writes past the caches, for a size of
// slice and a step from one place to the next; nil where there is none. lined is
// that the first place begins a line.
func streamForm(size, step int, lined bool) rowsFunc {
	dense := size == step
	switch {
	case form < formAMD64 || size < 16:
		return nil
	case lined && dense && size == 16:
		return stream16
	case form < formAVX2:
		return nil
	case lined && dense && size == 32:
		return stream32AVX2
	case lined && size%64 == 0 && step%64 == 0 && form < formAVX512:
		return stream64AVX2
	case lined && size%64 == 0 && step%64 == 0:
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

// elementsForm picks the form of Elements for a size of element and a width of
// index value, both in bytes: without and with prefetching.
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

//go:noescape
func tuples1of8AVX512(rows *int64, values *byte, n int, base, step int64, axes *Component, fromEnd int64, k int) int

//go:noescape
func tuples2of8AVX512(rows *int64, values *byte, n int, base, step int64, axes *Component, fromEnd int64, k int) int

//go:noescape
func tuples3of8AVX512(rows *int64, values *byte, n int, base, step int64, axes *Component, fromEnd int64, k int) int

//go:noescape
func tuplesOf8AVX512(rows *int64, values *byte, n int, base, step int64, axes *Component, fromEnd int64, k int) int

//go:noescape
func tuples1of4AVX512(rows *int64, values *byte, n int, base, step int64, axes *Component, fromEnd int64, k int) int

//go:noescape
func tuples2of4AVX512(rows *int64, values *byte, n int, base, step int64, axes *Component, fromEnd int64, k int) int

//go:noescape
func tuples3of4AVX512(rows *int64, values *byte, n int, base, step int64, axes *Component, fromEnd int64, k int) int

//go:noescape
func tuplesOf4AVX512(rows *int64, values *byte, n int, base, step int64, axes *Component, fromEnd int64, k int) int

// tuplesForm picks the form of Tuples for a width of value, in bytes, and a
// number of components; nil where there is none.
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

//go:noescape
func widenI8AVX2(values *int64, src *byte, n int)

//go:noescape
func widenU8AVX2(values *int64, src *byte, n int)

//go:noescape
func widenI16AVX2(values *int64, src *byte, n int)

//go:noescape
func widenU16AVX2(values *int64, src *byte, n int)

// widenForm picks what widens values of a kind that lie next to each other, eight
// at once; nil where there is nothing.
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
	}
	return nil
}

//go:noescape
func prefetchLines(p *byte, n int)

// Prefetch asks the memory for what is read soon.
func Prefetch[T any](s []T) {
	if form >= formAMD64 && len(s) > 0 {
		from := unsafe.Pointer(unsafe.SliceData(s))
		prefetchLines((*byte)(from), (int(uintptr(from)%64)+len(s)*int(unsafe.Sizeof(s[0]))+63)/64)
	}
}
