package garner

import (
	"slices"
	"unsafe"
)

// overlap reports whether the memory ranges of both tensors, each from its
// lowest element to its highest, overlap.
func overlap(a, b Tensor) bool {
	aFrom, aTo, ok := a.span()
	bFrom, bTo, also := b.span()
	return ok && also && aFrom < bTo && bFrom < aTo
}

// sharesMemory reports whether two slices share memory.
func sharesMemory[A, B any](a []A, b []B) bool {
	var ofA A
	var ofB B
	from, at := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return len(a) > 0 && len(b) > 0 &&
		from < at+uintptr(len(b))*unsafe.Sizeof(ofB) && at < from+uintptr(len(a))*unsafe.Sizeof(ofA)
}

// span returns the memory range of the elements of t; ok is false if it has
// none.
func (t *Tensor) span() (from, to uintptr, ok bool) {
	if n, _ := t.shape.Len(); n == 0 || !t.dtype.Valid() {
		return 0, 0, false
	}
	lo, hi, _ := t.extent()
	from, to = t.between(lo, hi)
	return from, to, true
}

// between returns the memory range of the elements at positions lo … hi.
func (t *Tensor) between(lo, hi int) (from, to uintptr) {
	if t.dtype == String {
		return uintptr(unsafe.Pointer(&t.mem.Strs[lo])), uintptr(unsafe.Pointer(&t.mem.Strs[hi])) + unsafe.Sizeof("")
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(t.mem.Buf)))
	w := t.dtype.Bits()
	if w < 8 {
		per := 8 / w
		return start + uintptr(lo/per), start + uintptr(hi/per) + 1
	}
	return start + uintptr(lo*(w/8)), start + uintptr((hi+1)*(w/8))
}

// apart reports whether no two elements of t share a position, as far as its
// sorted strides prove it.
func apart(t *Tensor) bool {
	if t.Contiguous() {
		return true
	}
	var order [MaxRank]int
	n := 0
	for i, d := range t.shape {
		if d == 0 {
			return true
		}
		if d > 1 {
			order[n] = i
			n++
		}
	}
	axes := order[:n]
	slices.SortFunc(axes, func(i, j int) int {
		return max(t.strides[i], -t.strides[i]) - max(t.strides[j], -t.strides[j])
	})
	reach := 0
	for _, i := range axes {
		s := max(t.strides[i], -t.strides[i])
		if s <= reach {
			return false
		}
		reach += s * (t.shape[i] - 1)
	}
	return true
}

// An operand is the shape and the strides of a tensor that bind has accepted,
// and the range of its elements.
type operand struct {
	dtype     DType
	shape     Shape
	strides   []int
	any       bool // it has at least one element
	bytes     int  // size of an element; 0 for strings, packed types and tensors without elements
	low, high int  // positions of the lowest and the highest element in memory, from the first, in elements
}

func (o *operand) set(dtype DType, shape Shape, strides []int) {
	o.dtype, o.shape, o.strides = dtype, append(o.shape[:0], shape...), append(o.strides[:0], strides...)
	n, _ := shape.Len()
	o.bytes = 0
	if n > 0 {
		o.bytes = dtype.Bits() / 8
	}
	if o.any, o.low, o.high = n > 0, 0, 0; o.any {
		for i, d := range shape {
			if s := strides[i] * (d - 1); s < 0 {
				o.low += s
			} else {
				o.high += s
			}
		}
	}
}

func (o *operand) is(t *Tensor) bool {
	if o.dtype != t.dtype || o.dtype == Invalid || len(o.shape) != len(t.shape) {
		return false
	}
	for i, d := range o.shape {
		if t.shape[i] != d || t.strides[i] != o.strides[i] {
			return false
		}
	}
	return true
}

// span returns the memory range of t, which has o's shape and strides; an empty
// range if t has no element.
func (o *operand) span(t *Tensor) (from, to uintptr) {
	if o.bytes == 0 {
		return o.slowSpan(t)
	}
	first := uintptr(unsafe.Pointer(unsafe.SliceData(t.mem.Buf))) + uintptr(t.mem.Offset*o.bytes)
	return first + uintptr(o.low*o.bytes), first + uintptr((o.high+1)*o.bytes)
}

// slowSpan is span for strings, packed types and tensors without elements.
func (o *operand) slowSpan(t *Tensor) (from, to uintptr) {
	if !o.any {
		return 0, 0
	}
	return t.between(t.mem.Offset+o.low, t.mem.Offset+o.high)
}
