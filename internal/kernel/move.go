package kernel

import (
	"sync"
	"unsafe"
)

// A Move says where slices lie in dst and in src. All quantities are in bytes for
// Rows, and in bits for Bits.
type Move struct {
	At     int   // offset of the first slice in dst
	Step   int   // distance between two slices in dst; may be negative
	Bias   int   // added to every row: shifts all slices in src
	Size   int   // of a slice
	Elem   int   // of an element; Bits repeats its fill at this distance
	Filled bool  // rows may contain negative values, which stand for the fill
	Stream bool  // use non-temporal stores where a form has them: dst is larger than the caches
	Ahead  Ahead // slices to prefetch
}

// Ahead lists the slices that a move prefetches: with its j-th slice, the one at
// Rows[j]+Bias. Rows may be shorter than the rows that are moved. Values that lie
// outside src are harmless.
type Ahead struct {
	Rows []int64 // in bytes
	Bias int     // in bytes
}

// Rows moves one slice per row; a row is an offset in src, in bytes:
//
//	dst[At+j·Step : +Size] = src[rows[j]+Bias : +Size], or fill where rows[j] < 0
//
// The fill is one element, repeated over the slice; a nil fill is all zero bits.
// The caller has checked that every slice lies in src. Rows panics, before it
// moves anything, if a slice would lie outside dst. With fills, it takes 8 KiB of
// scratch from a pool; otherwise it allocates nothing.
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

// rowsArgs are the arguments of a rowsFunc. All quantities but n are in bytes.
// The offsets at, bias and laterBias are apart from the pointers, because a Go
// pointer must not point outside its object.
type rowsArgs struct {
	dst, src  *byte
	rows      *int64 // n rows
	later     *int64 // n rows whose slices are prefetched
	n         int    // rows, at least 1
	size      int    // of a slice
	step      int    // distance between two slices in dst
	at        int    // offset of the first slice in dst
	bias      int    // added to rows
	laterBias int    // added to later
}

// A rowsFunc is a form of Rows in assembly, for some sizes of slice and for rows
// without fills. Forms that prefetch read later; the others ignore it.
type rowsFunc func(*rowsArgs)

// call runs the form.
func (f rowsFunc) call(a *rowsArgs) { f(noescape(a)) }

// noescape returns p, hidden from escape analysis, so that *p stays on the stack:
// the compiler moves what a function value gets to the heap. This is safe for the
// forms: assembly keeps no pointer, and neither it nor its ABI wrapper, both
// NOSPLIT, can move the stack. Across other calls it is not: what it returns is a
// number to the compiler, which stays as it is when the stack moves.
//
//go:nocheckptr
func noescape[T any](p *T) *T { return (*T)(unsafe.Add(nil, uintptr(unsafe.Pointer(p)))) }

// rowsFast runs one form for the rows that have a slice to prefetch, and then
// one for the remaining rows.
func rowsFast(dst, src []byte, rows []int64, m Move, move, ahead rowsFunc) {
	to, from := unsafe.SliceData(dst), unsafe.SliceData(src)
	if m.Stream {
		if stream := streamForm(m.Size, m.Step, (int(uintptr(unsafe.Pointer(to)))+m.At)%64 == 0); stream != nil {
			move, ahead = stream, stream
		}
	}
	n := min(len(rows), len(m.Ahead.Rows))
	// The arguments are local variables, so that the compiler does not clear the
	// structs first.
	size, step, at, bias := m.Size, m.Step, m.At, m.Bias
	if n > 0 {
		first, later, laterBias := &rows[0], &m.Ahead.Rows[0], m.Ahead.Bias
		ahead.call(&rowsArgs{
			dst: to, src: from, rows: first, later: later, n: n,
			size: size, step: step, at: at, bias: bias, laterBias: laterBias,
		})
	}
	if n < len(rows) {
		// A streaming form always prefetches: here each row itself.
		first, left := &rows[n], len(rows)-n
		at += n * step
		move.call(&rowsArgs{
			dst: to, src: from, rows: first, later: first, n: left,
			size: size, step: step, at: at, bias: bias, laterBias: bias,
		})
	}
}

// A patch is the scratch of rowsPatched.
type patch struct {
	rows, later [256]int64
	slice       [patchBytes]byte // one slice of fill
}

// patchBytes is the largest slice that rowsPatched fills. For longer slices, the
// generic loop's call per slice costs little.
const patchBytes = 4096

var patches = sync.Pool{New: func() any { return new(patch) }}

// rowsPatched is rowsFast for rows with fills. It replaces every negative row by
// the distance from src to a slice of fill, so that a form without fills moves
// it. It patches a copy, because other goroutines may read rows.
func rowsPatched(dst, src []byte, rows []int64, m Move, fill []byte, move, ahead rowsFunc) {
	p := patches.Get().(*patch)
	Repeat(p.slice[:m.Size], fill)
	filled := int64(uintptr(unsafe.Pointer(&p.slice))-uintptr(unsafe.Pointer(unsafe.SliceData(src)))) - int64(m.Bias)
	later := m.Ahead.Rows
	for len(rows) > 0 {
		n := min(len(rows), len(p.rows))
		replaceFills(p.rows[:n], rows, filled)
		m.Ahead.Rows = p.later[:copy(p.later[:n], later)]
		rowsFast(dst, src, p.rows[:n], m, move, ahead)
		rows, later = rows[n:], later[len(m.Ahead.Rows):]
		m.At += n * m.Step
	}
	patches.Put(p)
}

// replaceFills copies rows to dst, with filled in place of every negative row. It
// is not inlined: in rowsPatched, the compiler would spill the loop's variables.
//
//go:noinline
func replaceFills(dst, rows []int64, filled int64) {
	rows = rows[:len(dst)]
	for j, row := range rows {
		mask := row >> 63 // all ones for a fill; a branch would be mispredicted
		dst[j] = row&^mask | filled&mask
	}
}

// RowsGeneric is the definition of Rows, against which its forms are tested.
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

// rowsFixed moves slices of some fixed sizes to adjacent places in dst; it
// reports whether m.Size is one of them. Go copies an array of a fixed size
// without a call of memmove.
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

// Repeat fills dst with copies of one element; a nil element is all zero bits.
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

// Values are index values in memory, for the kernels that gather single elements
// without computing rows first.
type Values struct {
	Bytes   []byte // the values, little-endian, aligned to Width
	Width   int    // bytes of a value, a signed integer: 8 or 4
	Dim     int    // the valid values are 0 … Dim-1
	FromEnd bool   // -Dim … -1 are valid too and count from the end
	Ahead   int    // prefetch distance in values, as far as Bytes has values; 0 turns prefetching off
	Stream  bool   // use non-temporal stores where a form has them: dst is larger than the caches
}

// elementsArgs are the arguments of an elementsFunc.
type elementsArgs struct {
	dst, src, values *byte
	n                int // values, at least 1
	dim              int // elements of src
	fromEnd          int // added to negative values: dim, or 0
	ahead            int // prefetch distance in bytes of values; forms that do not prefetch ignore it
}

// An elementsFunc is a form of Elements in assembly, for one size of element and
// one width of value. It stops at the first value outside 0 … dim-1 and returns
// how many elements it has moved.
type elementsFunc func(*elementsArgs) (moved int)

// call runs the form.
func (f elementsFunc) call(a *elementsArgs) int { return f(noescape(a)) }

// Elements moves n elements of size bytes, 1, 2, 4 or 8, selected by index
// values:
//
//	dst[j·size : +size] = src[v_j·size : +size]        v_j the j-th value
//
// It stops at the first invalid value and returns how many elements it has moved.
// It panics if dst has no room for n elements, if src has fewer than v.Dim
// elements, or if v.Bytes has fewer than n values. It allocates nothing.
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
		whole := true // all values so far are valid
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
		// The form stops before the eight values that contain an invalid one; the
		// scalar form below finds which one it is.
		to, at, n, ahead = unsafe.Add(to, moved*size), unsafe.Add(at, moved*width), n-moved, 0
	}
	if move, prefetch := elementsForm(size, width); move != nil {
		whole := 0
		if first := min(n, len(values)/width-moved-ahead); ahead > 0 && first > 0 {
			whole = prefetch.call(&elementsArgs{
				dst: (*byte)(to), src: from, values: (*byte)(at), n: first, dim: dim, fromEnd: add, ahead: ahead * width,
			})
			if whole < first {
				return moved + whole
			}
		}
		if whole == n {
			return moved + n
		}
		return moved + whole + move.call(&elementsArgs{
			dst: (*byte)(unsafe.Add(to, whole*size)), src: from, values: (*byte)(unsafe.Add(at, whole*width)),
			n: n - whole, dim: dim, fromEnd: add,
		})
	}
	if width == 4 {
		return elementsOf(unsafe.Slice((*int32)(at), n), to, unsafe.Pointer(from), size, dim, int64(add))
	}
	return elementsOf(unsafe.Slice((*int64)(at), n), to, unsafe.Pointer(from), size, dim, int64(add))
}

// flat runs a flat form on a single tuple of n values; ahead is in bytes.
func (f columnsFunc) flat(dst unsafe.Pointer, src *byte, values unsafe.Pointer, n, size, dim, fromEnd, ahead int) int {
	return f.call(&columnsArgs{
		dst: (*byte)(dst), src: src, values: (*byte)(values), n: n, tuples: 1,
		dim: dim, fromEnd: fromEnd, stride: 1, ahead: ahead, limit: dim*size - 4,
	})
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

// SlicesMost is the size in bytes of the longest slices that Slices has forms for in
// assembly. Longer ones move by rows.
const SlicesMost = 128

// slicesArgs are the arguments of a slicesFunc.
type slicesArgs struct {
	dst, src, values *byte
	n                int // values, at least 1
	size             int // bytes of a slice
	dim              int // slices of src
	ahead            int // prefetch distance in bytes of values; forms that do not prefetch ignore it
}

// A slicesFunc is a form of Slices in assembly, for some sizes of slice.
type slicesFunc func(*slicesArgs) (moved int)

// call runs the form.
func (f slicesFunc) call(a *slicesArgs) int { return f(noescape(a)) }

// Slices moves n adjacent slices of size bytes, at least 1, selected by index values
// of 8 bytes, without computing rows first:
//
//	dst[j·size : +size] = src[v_j·size : +size]        v_j the j-th value
//
// It stops at the first value outside 0 … v.Dim-1 and returns how many slices it has
// moved. It reads no other fields of v than Bytes, Dim and Ahead; values are aligned. It
// panics if dst has no room for n slices, if src has fewer than v.Dim slices, or if
// v.Bytes has fewer than n values.
func Slices(dst, src []byte, n, size int, v Values) (moved int) {
	if n == 0 {
		return 0
	}
	dst, src, in := dst[:n*size], src[:v.Dim*size], v.Bytes[:n*8]
	if move, prefetch := slicesForm(size); move != nil {
		a := slicesArgs{src: unsafe.SliceData(src), size: size, dim: v.Dim, ahead: v.Ahead * 8}
		if first := min(n, len(v.Bytes)/8-v.Ahead); v.Ahead > 0 && first > 0 {
			a.dst, a.values, a.n = unsafe.SliceData(dst), unsafe.SliceData(in), first
			if moved = prefetch.call(&a); moved < first {
				return moved
			}
		}
		if moved < n {
			a.dst, a.values, a.n = unsafe.SliceData(dst[moved*size:]), unsafe.SliceData(in[moved*8:]), n-moved
			moved += move.call(&a)
		}
		return moved
	}
	values := unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(in))), n)
	switch size {
	case 2:
		return slicesOf[[2]byte](dst, src, values)
	case 4:
		return slicesOf[[4]byte](dst, src, values)
	case 8:
		return slicesOf[[8]byte](dst, src, values)
	case 12:
		return slicesOf[[12]byte](dst, src, values)
	case 16:
		return slicesOf[[16]byte](dst, src, values)
	case 32:
		return slicesOf[[32]byte](dst, src, values)
	case 64:
		return slicesOf[[64]byte](dst, src, values)
	}
	for j, at := range values {
		if uint64(at) >= uint64(v.Dim) {
			return j
		}
		copy(dst[j*size:(j+1)*size], src[int(at)*size:])
	}
	return n
}

// slicesOf is Slices in Go for a size that is assigned as an array.
func slicesOf[T [2]byte | [4]byte | [8]byte | [12]byte | [16]byte | [32]byte | [64]byte](dst, src []byte, values []int64) int {
	var array T
	to := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(dst))), len(values))
	from := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(src))), len(src)/len(array))
	for j, at := range values {
		if uint64(at) >= uint64(len(from)) {
			return j
		}
		to[j] = from[at]
	}
	return len(values)
}

// Bits is Rows for packed elements of 1, 2 or 4 bits. The rows and the fields of m
// are in bits; fill is one element, in the low bits. Bits of dst outside the
// slices keep their values. It ignores Filled, Stream and Ahead.
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
	// Bit by bit up to a byte boundary of dst, then byte by byte.
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

// RepeatBits fills n bits of dst, from bit position at on, with copies of the
// element v of elem bits.
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

// PutBits writes the low n bits of v at bit position at of dst. The n bits lie
// in one byte.
func PutBits(dst []byte, at, n int, v byte) {
	mask := byte(1<<n-1) << (at % 8)
	dst[at/8] = dst[at/8]&^mask | v<<(at%8)&mask
}
