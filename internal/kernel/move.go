package kernel

import (
	"sync"
	"unsafe"
)

// A Move says how slices lie on both sides, in bytes.
type Move struct {
	At     int   // where the first slice goes in dst
	Step   int   // from one slice to the next in dst
	Bias   int   // what every row is shifted by in src
	Size   int   // of a slice
	Elem   int   // of an element: what a fill repeats
	Filled bool  // some rows may be below zero: the fill
	Stream bool  // dst is larger than the caches: write past them where that is possible
	Ahead  Ahead // what to prefetch meanwhile
}

// Ahead is what a move asks the memory for while it moves: with the j-th slice,
// the row Rows[j]+Bias. Rows may be shorter than the rows that are moved.
type Ahead struct {
	Rows []int64
	Bias int
}

// Rows moves one slice for every row, which counts bytes:
//
//	dst[At+j·Step : +Size] = src[rows[j]+Bias : +Size], or fill where rows[j] < 0
//
// fill is one element, repeated over the slice; nil is all bits zero. The rows
// were resolved: a slice lies in src. A place outside dst panics before
// anything is moved.
func Rows(dst, src []byte, rows []int64, m Move, fill []byte) {
	if len(rows) == 0 || m.Size == 0 {
		return
	}
	last := m.At + (len(rows)-1)*m.Step
	_, _ = dst[min(m.At, last):][:m.Size], dst[max(m.At, last):][:m.Size]
	move, ahead := rowsForm(m.Size)
	switch {
	case move != nil && !m.Filled:
		rowsFast(dst, src, rows, m, move, ahead)
	case move != nil && m.Size <= patchBytes:
		rowsPatched(dst, src, rows, m, fill, move, ahead)
	case m.Filled || m.Step != m.Size || !rowsFixed(dst, src, rows, m):
		RowsGeneric(dst, src, rows, m, fill)
	}
}

// A rowsFunc is a form of Rows: n slices go to dst+at and on, from src+bias and
// what rows say. With each row, the one that stands later bytes behind it in
// memory is prefetched, counted from src+next.
type rowsFunc func(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)

// rowsFast calls a form: first for the rows that something is prefetched with,
// then for the others.
func rowsFast(dst, src []byte, rows []int64, m Move, move, ahead rowsFunc) {
	to, from := unsafe.SliceData(dst), unsafe.SliceData(src)
	if m.Stream {
		if stream := streamForm(m.Size, m.Step, (int(uintptr(unsafe.Pointer(to)))+m.At)%64 == 0); stream != nil {
			move, ahead = stream, stream
		}
	}
	n := min(len(rows), len(m.Ahead.Rows))
	if n > 0 {
		later := int(uintptr(unsafe.Pointer(&m.Ahead.Rows[0])) - uintptr(unsafe.Pointer(&rows[0])))
		ahead(to, from, &rows[0], n, m.Size, m.Step, later, m.At, m.Bias, m.Ahead.Bias)
	}
	if n < len(rows) {
		move(to, from, &rows[n], len(rows)-n, m.Size, m.Step, 0, m.At+n*m.Step, m.Bias, m.Bias)
	}
}

// A patch stands in for rows that are fills: they are read from slice.
type patch struct {
	rows, later [256]int64
	slice       [patchBytes]byte
}

// patchBytes is up to which size slices are filled as if they were moved. The
// longer they are, the less a call for each of them costs.
const patchBytes = 4096

var patches = sync.Pool{New: func() any { return new(patch) }}

// rowsPatched is rowsFast where some rows are the fill: it moves them from a
// slice of fills, whose distance from src is their row. Rows themselves are left
// as they are, for others may read them.
func rowsPatched(dst, src []byte, rows []int64, m Move, fill []byte, move, ahead rowsFunc) {
	p := patches.Get().(*patch)
	Repeat(p.slice[:m.Size], fill)
	filled := int64(uintptr(unsafe.Pointer(&p.slice))-uintptr(unsafe.Pointer(unsafe.SliceData(src)))) - int64(m.Bias)
	later := m.Ahead.Rows
	for len(rows) > 0 {
		n := min(len(rows), len(p.rows))
		for j, row := range rows[:n] {
			mask := row >> 63 // all ones where the row is a fill, which no branch foretells
			p.rows[j] = row&^mask | filled&mask
		}
		m.Ahead.Rows = p.later[:copy(p.later[:n], later)]
		rowsFast(dst, src, p.rows[:n], m, move, ahead)
		rows, later = rows[n:], later[len(m.Ahead.Rows):]
		m.At += n * m.Step
	}
	patches.Put(p)
}

// RowsGeneric is the definition of Rows.
func RowsGeneric(dst, src []byte, rows []int64, m Move, fill []byte) {
	at := m.At
	for _, row := range rows {
		slice := dst[at : at+m.Size]
		if row >= 0 {
			from := int(row) + m.Bias
			copy(slice, src[from:from+m.Size])
		} else {
			Repeat(slice, fill)
		}
		at += m.Step
	}
}

// rowsFixed moves slices of some widths that lie next to each other; it reports
// whether this is one of them. The copy of an array needs no call.
func rowsFixed(dst, src []byte, rows []int64, m Move) bool {
	out := dst[m.At:]
	switch m.Size {
	case 1:
		fixed[[1]byte](out, src, rows, m.Bias)
	case 2:
		fixed[[2]byte](out, src, rows, m.Bias)
	case 4:
		fixed[[4]byte](out, src, rows, m.Bias)
	case 8:
		fixed[[8]byte](out, src, rows, m.Bias)
	case 12:
		fixed[[12]byte](out, src, rows, m.Bias)
	case 16:
		fixed[[16]byte](out, src, rows, m.Bias)
	case 32:
		fixed[[32]byte](out, src, rows, m.Bias)
	case 64:
		fixed[[64]byte](out, src, rows, m.Bias)
	default:
		return false
	}
	return true
}

func fixed[T [1]byte | [2]byte | [4]byte | [8]byte | [12]byte | [16]byte | [32]byte | [64]byte](out, src []byte, rows []int64, bias int) {
	var array T
	size := len(array)
	dst := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(out[:len(rows)*size]))), len(rows))
	for j, row := range rows {
		from := int(row) + bias
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

// Values are index values that elements are moved straight from.
type Values struct {
	Bytes   []byte
	Width   int  // of a value, a signed integer of 8 or 4 bytes
	Dim     int  // a value lies in 0 … Dim-1
	FromEnd bool // a negative one counts from Dim
	Ahead   int  // how many values before its turn an element is prefetched, as far as there are values; 0: not at all
	Stream  bool // dst is larger than the caches: write past them where that is possible
}

// An elementsFunc is a form of Elements: it stops at the first of n values that
// is outside.
type elementsFunc func(dst, src, values *byte, n, dim, fromEnd, later int) int

// Elements moves n elements of size bytes, 1, 2, 4 or 8, straight from index
// values, which needs no rows:
//
//	dst[j·size : +size] = src[v_j·size : +size]        v_j the j-th value
//
// It stops at the first value outside and returns how many were moved. dst holds
// n elements and src v.Dim.
func Elements(dst, src []byte, n, size int, v Values) (moved int) {
	if n == 0 {
		return 0
	}
	values, width, dim, ahead := v.Bytes, v.Width, v.Dim, v.Ahead
	_, _, _ = dst[:n*size], src[:dim*size], values[:n*width]
	add := 0
	if v.FromEnd {
		add = dim
	}
	to, from, at := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.SliceData(src), unsafe.Pointer(unsafe.SliceData(values))
	if move, prefetch, stream := flatForm(size, width); move != nil && dim*size >= 4 {
		if v.Stream && stream != nil && ahead == 0 && uintptr(to)%64 == 0 {
			move = stream
		}
		whole := true // so far none is outside
		if first := min(n, len(values)/width-ahead); ahead > 0 && first > 0 {
			moved = prefetch.flat(to, from, at, first, size, dim, add, ahead*width)
			whole = moved == first
		}
		if whole && moved < n {
			moved += move.flat(unsafe.Add(to, moved*size), from, unsafe.Add(at, moved*width), n-moved, size, dim, add, 0)
		}
		if moved == n {
			return n
		}
		// It stopped before the turn with a value outside; the plain form finds which.
		to, at, n, ahead = unsafe.Add(to, moved*size), unsafe.Add(at, moved*width), n-moved, 0
	}
	if move, prefetch := elementsForm(size, width); move != nil {
		whole := 0
		if first := min(n, len(values)/width-moved-ahead); ahead > 0 && first > 0 {
			if whole = prefetch((*byte)(to), from, (*byte)(at), first, dim, add, ahead*width); whole < first {
				return moved + whole
			}
		}
		if whole == n {
			return moved + n
		}
		return moved + whole + move((*byte)(unsafe.Add(to, whole*size)), from, (*byte)(unsafe.Add(at, whole*width)), n-whole, dim, add, 0)
	}
	if width == 4 {
		return elementsOf(unsafe.Slice((*int32)(at), n), to, unsafe.Pointer(from), size, dim, int64(add))
	}
	return elementsOf(unsafe.Slice((*int64)(at), n), to, unsafe.Pointer(from), size, dim, int64(add))
}

// flat runs a form on one tuple whose elements are the positions themselves.
func (f columnsFunc) flat(dst unsafe.Pointer, src *byte, values unsafe.Pointer, n, size, dim, fromEnd, later int) int {
	return f((*byte)(dst), src, (*byte)(values), n, 1, dim, fromEnd, 1, 0, 0, 0, 0, later, 0, 0, 0, 0, dim*size-4)
}

func elementsOf[V int32 | int64](values []V, dst, src unsafe.Pointer, size, dim int, add int64) int {
	n := len(values)
	switch size {
	case 1:
		return elements(unsafe.Slice((*uint8)(dst), n), unsafe.Slice((*uint8)(src), dim), values, add)
	case 2:
		return elements(unsafe.Slice((*uint16)(dst), n), unsafe.Slice((*uint16)(src), dim), values, add)
	case 4:
		return elements(unsafe.Slice((*uint32)(dst), n), unsafe.Slice((*uint32)(src), dim), values, add)
	}
	return elements(unsafe.Slice((*uint64)(dst), n), unsafe.Slice((*uint64)(src), dim), values, add)
}

func elements[E uint8 | uint16 | uint32 | uint64, V int32 | int64](dst, src []E, values []V, add int64) int {
	dst = dst[:len(values)]
	for j, value := range values {
		v := int64(value)
		v += v >> 63 & add
		if uint64(v) >= uint64(len(src)) {
			return j
		}
		dst[j] = src[v]
	}
	return len(values)
}

// Bits moves slices of packed elements, as Rows does for whole bytes; rows,
// places and sizes are in bits, and neighbouring bits keep their values.
func Bits(dst, src []byte, rows []int64, m Move, fill byte) {
	at := m.At
	for _, row := range rows {
		if row >= 0 {
			CopyBits(dst, at, src, int(row)+m.Bias, m.Size)
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
