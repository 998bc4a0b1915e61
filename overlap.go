package garner

import (
	"slices"
	"unsafe"
)

// overlap reports whether the memory between the first and the last element of
// both tensors meets.
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

// span is where the elements of t lie in memory; ok is false where it has none.
func (t *Tensor) span() (from, to uintptr, ok bool) {
	if n, _ := t.shape.Len(); n == 0 {
		return 0, 0, false
	}
	lo, hi, _ := t.extent()
	from, to = t.between(lo, hi)
	return from, to, true
}

// between is where the elements at two positions and those between them lie in
// memory.
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

// apart reports whether no two elements of t stand in the same place, as far as
// sorting its strides tells.
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
