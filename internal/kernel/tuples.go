package kernel

import (
	"math/bits"
	"unsafe"
)

// MaxTuple is how many components a tuple may have for Tuples.
const MaxTuple = 6

// A Component describes the axis of one component of the index tuples.
type Component struct {
	Dim    int64 // the valid values are 0 … Dim-1
	Stride int64 // between two positions of the axis, in the unit of the rows
}

// Tuples resolves contiguous index tuples to rows:
//
//	rows[j] = base + j·step + Σ_c v(j,c)·axes[c].Stride
//
// The values are signed integers of width bytes, 8 or 4, aligned to width. There
// are one to MaxTuple axes, one per component. If fromEnd is set, -Dim … -1 are
// valid too and count from the end. A tuple with an invalid component gets the row
// -1; Tuples returns how many such tuples there are. It panics if values holds
// fewer than len(rows) tuples. It allocates nothing.
func Tuples(rows []int64, values []byte, width int, base, step int64, axes []Component, fromEnd bool) (outside int) {
	if len(rows) == 0 {
		return 0
	}
	n := len(rows) * len(axes)
	_ = values[: n*width : n*width]
	at := unsafe.Pointer(unsafe.SliceData(values))
	if wide := tuplesForm(width, len(axes)); wide != nil && len(rows) >= tuplesWide {
		all, whole, first := int64(0), len(rows)&^7, &axes[0]
		if fromEnd {
			all = -1
		}
		if k := len(axes); 3 < k && k < MaxTuple {
			// The form for long tuples reads MaxTuple axes; a missing component reads
			// as 0, which is valid in an axis of Dim 1.
			six := [MaxTuple]Component{4: {Dim: 1}, 5: {Dim: 1}}
			copy(six[:], axes)
			first = &six[0]
		}
		outside = wide.call(&tuplesArgs{
			rows: &rows[0], values: (*byte)(at), n: whole, base: base, step: step, axes: first, fromEnd: all, k: len(axes),
		})
		rows, base = rows[whole:], base+int64(whole)*step
		if len(rows) == 0 {
			return outside // at must not point past the end of values
		}
		at, n = unsafe.Add(at, whole*len(axes)*width), len(rows)*len(axes)
	}
	if width == 4 {
		return outside + tuples(rows, unsafe.Slice((*int32)(at), n), base, step, axes, fromEnd)
	}
	return outside + tuples(rows, unsafe.Slice((*int64)(at), n), base, step, axes, fromEnd)
}

// tuplesWide is the smallest number of tuples for which a call of assembly is
// faster than Go.
const tuplesWide = 16

// tuplesArgs are the arguments of a tuplesFunc.
type tuplesArgs struct {
	rows       *int64
	values     *byte
	n          int        // tuples, a positive multiple of 8
	base, step int64      // of the rows
	axes       *Component // k axes; MaxTuple where k is above 3
	fromEnd    int64      // -1 where negative values count from the end, else 0
	k          int        // components of a tuple
}

// A tuplesFunc is a form of Tuples in assembly, for one width of value and one or
// more lengths of tuple. It returns how many tuples have an invalid component.
type tuplesFunc func(*tuplesArgs) (outside int)

// call runs the form.
func (f tuplesFunc) call(a *tuplesArgs) int { return f(noescape(a)) }

// TuplesOf is Tuples for values of 8 bytes in a slice of integers.
func TuplesOf(rows, values []int64, base, step int64, axes []Component, fromEnd bool) (outside int) {
	return Tuples(rows, Bytes(values), 8, base, step, axes, fromEnd)
}

// Aligned reports whether b begins at a multiple of width bytes, a power of two. A
// mask takes less than the division, which was a tenth of a gather of two rows.
func Aligned(b []byte, width int) bool {
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))&uintptr(width-1) == 0
}

func tuples[V int32 | int64](rows []int64, values []V, base, step int64, axes []Component, fromEnd bool) (outside int) {
	var add [MaxTuple]int64
	if fromEnd {
		for c, axis := range axes {
			add[c] = axis.Dim
		}
	}
	switch len(axes) {
	case 1:
		d0, s0 := uint64(axes[0].Dim), axes[0].Stride
		for j, value := range values[:len(rows)] {
			v := int64(value)
			v += v >> 63 & add[0]
			row := base + v*s0
			if uint64(v) >= d0 {
				row = -1
				outside++
			}
			rows[j] = row
			base += step
		}
	case 2:
		d0, s0, d1, s1 := uint64(axes[0].Dim), axes[0].Stride, uint64(axes[1].Dim), axes[1].Stride
		a0, a1 := add[0], add[1]
		for j := range rows {
			t := values[2*j : 2*j+2 : 2*j+2]
			v, w := int64(t[0]), int64(t[1])
			v += v >> 63 & a0
			w += w >> 63 & a1
			row := base + v*s0 + w*s1
			if uint64(v) >= d0 || uint64(w) >= d1 {
				row = -1
				outside++
			}
			rows[j] = row
			base += step
		}
	case 3:
		d0, s0, d1, s1, d2, s2 := uint64(axes[0].Dim), axes[0].Stride, uint64(axes[1].Dim), axes[1].Stride, uint64(axes[2].Dim), axes[2].Stride
		a0, a1, a2 := add[0], add[1], add[2]
		for j := range rows {
			t := values[3*j : 3*j+3 : 3*j+3]
			v, w, x := int64(t[0]), int64(t[1]), int64(t[2])
			v += v >> 63 & a0
			w += w >> 63 & a1
			x += x >> 63 & a2
			row := base + v*s0 + w*s1 + x*s2
			if uint64(v) >= d0 || uint64(w) >= d1 || uint64(x) >= d2 {
				row = -1
				outside++
			}
			rows[j] = row
			base += step
		}
	case 4:
		d0, s0, d1, s1 := uint64(axes[0].Dim), axes[0].Stride, uint64(axes[1].Dim), axes[1].Stride
		d2, s2, d3, s3 := uint64(axes[2].Dim), axes[2].Stride, uint64(axes[3].Dim), axes[3].Stride
		a0, a1, a2, a3 := add[0], add[1], add[2], add[3]
		for j := range rows {
			t := values[4*j : 4*j+4 : 4*j+4]
			v, w, x, y := int64(t[0]), int64(t[1]), int64(t[2]), int64(t[3])
			v += v >> 63 & a0
			w += w >> 63 & a1
			x += x >> 63 & a2
			y += y >> 63 & a3
			row := base + v*s0 + w*s1 + x*s2 + y*s3
			if uint64(v) >= d0 || uint64(w) >= d1 || uint64(x) >= d2 || uint64(y) >= d3 {
				row = -1
				outside++
			}
			rows[j] = row
			base += step
		}
	default:
		k := len(axes)
		for j := range rows {
			row, inside := base, uint64(1)
			for c, value := range values[j*k : j*k+k] {
				axis := &axes[c]
				v := int64(value)
				v += v >> 63 & add[c]
				_, below := bits.Sub64(uint64(v), uint64(axis.Dim), 0)
				inside &= below
				row += v * axis.Stride
			}
			if inside == 0 {
				row = -1
				outside++
			}
			rows[j] = row
			base += step
		}
	}
	return outside
}
