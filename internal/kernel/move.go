package kernel

import "unsafe"

// A Move says how slices lie on both sides, in bytes.
type Move struct {
	At   int // where the first slice goes in dst
	Step int // from one slice to the next in dst
	Bias int // what every row is shifted by in src
	Elem int // bytes of an element: rows count elements
	Size int // bytes of a slice
}

// Rows moves one slice for every row:
//
//	dst[At+j·Step : +Size] = src[rows[j]·Elem+Bias : +Size], or fill where rows[j] < 0
//
// fill is one element, repeated over the slice; nil is all bits zero. A row or
// a place outside src or dst panics and moves nothing outside either.
func Rows(dst, src []byte, rows []int64, m Move, fill []byte) {
	if len(rows) == 0 || m.Size == 0 {
		return
	}
	if m.Step == m.Size {
		out := dst[m.At : m.At+len(rows)*m.Size]
		switch m.Size {
		case 1:
			fixed[[1]byte](out, src, rows, m, fill)
			return
		case 2:
			fixed[[2]byte](out, src, rows, m, fill)
			return
		case 4:
			fixed[[4]byte](out, src, rows, m, fill)
			return
		case 8:
			fixed[[8]byte](out, src, rows, m, fill)
			return
		case 16:
			fixed[[16]byte](out, src, rows, m, fill)
			return
		case 32:
			fixed[[32]byte](out, src, rows, m, fill)
			return
		case 64:
			fixed[[64]byte](out, src, rows, m, fill)
			return
		}
	}
	RowsGeneric(dst, src, rows, m, fill)
}

// RowsGeneric is the definition of Rows.
func RowsGeneric(dst, src []byte, rows []int64, m Move, fill []byte) {
	at := m.At
	for _, row := range rows {
		slice := dst[at : at+m.Size]
		if row >= 0 {
			from := int(row)*m.Elem + m.Bias
			copy(slice, src[from:from+m.Size])
		} else {
			Repeat(slice, fill)
		}
		at += m.Step
	}
}

// fixed is Rows for slices of one width that lie next to each other: the copy
// of a whole array needs no call.
func fixed[T [1]byte | [2]byte | [4]byte | [8]byte | [16]byte | [32]byte | [64]byte](out, src []byte, rows []int64, m Move, fill []byte) {
	var filling T
	size := len(filling)
	Repeat(unsafe.Slice((*byte)(unsafe.Pointer(&filling)), size), fill)
	dst := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(out))), len(rows))
	for j, row := range rows {
		if row < 0 {
			dst[j] = filling
			continue
		}
		from := int(row)*m.Elem + m.Bias
		dst[j] = *(*T)(unsafe.Pointer(unsafe.SliceData(src[from : from+size])))
	}
}

// Repeat fills dst with copies of one element; nil is all bits zero.
func Repeat(dst, elem []byte) {
	if len(elem) == 0 {
		clear(dst)
		return
	}
	n := copy(dst, elem)
	for n > 0 && n < len(dst) {
		n += copy(dst[n:], dst[:n])
	}
}

// Bits moves slices of packed elements, as Rows does for whole bytes; places
// and sizes are in bits, and neighbouring bits keep their values.
func Bits(dst, src []byte, rows []int64, m Move, fill byte) {
	at := m.At
	for _, row := range rows {
		if row >= 0 {
			CopyBits(dst, at, src, int(row)*m.Elem+m.Bias, m.Size)
		} else {
			RepeatBits(dst, at, m.Size, m.Elem, fill)
		}
		at += m.Step
	}
}

// CopyBits copies n bits from bit position from of src to bit position at of
// dst.
func CopyBits(dst []byte, at int, src []byte, from, n int) {
	// Bit by bit up to a byte border of dst, then byte by byte.
	for ; n > 0 && at%8 != 0; n-- {
		PutBits(dst, at, 1, src[from/8]>>(from%8)&1)
		at++
		from++
	}
	whole := n / 8
	if shift := from % 8; shift == 0 {
		copy(dst[at/8:at/8+whole], src[from/8:from/8+whole])
	} else {
		for i := range whole {
			dst[at/8+i] = src[from/8+i]>>shift | src[from/8+i+1]<<(8-shift)
		}
	}
	at, from, n = at+8*whole, from+8*whole, n-8*whole
	for ; n > 0; n-- {
		PutBits(dst, at, 1, src[from/8]>>(from%8)&1)
		at++
		from++
	}
}

// RepeatBits fills n bits of dst from bit position at on with copies of an
// element of elem bits.
func RepeatBits(dst []byte, at, n, elem int, v byte) {
	for ; n > 0 && at%8 != 0; n -= elem {
		PutBits(dst, at, elem, v)
		at += elem
	}
	v &= 1<<elem - 1
	for bits := elem; bits < 8; bits *= 2 {
		v |= v << bits
	}
	Repeat(dst[at/8:(at+n)/8], []byte{v})
	for at, n = at+n&^7, n&7; n > 0; n -= elem {
		PutBits(dst, at, elem, v)
		at += elem
	}
}

// PutBits writes the low n bits of v, n at most 8 and not across a byte border,
// at bit position at.
func PutBits(dst []byte, at, n int, v byte) {
	mask := byte(1<<n-1) << (at % 8)
	dst[at/8] = dst[at/8]&^mask | v<<(at%8)&mask
}
