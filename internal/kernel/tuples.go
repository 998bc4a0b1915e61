package kernel

import (
	"math/bits"
	"unsafe"
)

// MaxTuple is the longest tuple that Tuples resolves.
const MaxTuple = 6

// A Component is what Tuples must know of one component of the index tuples.
type Component struct {
	Dim    int64 // it lies in 0 … Dim-1
	Stride int64
}

// Tuples resolves whole tuples that lie one after the other, in the integers of
// width bytes, 8 or 4, at values:
//
//	rows[j] = base + j·step + Σ_c v(j,c)·axes[c].Stride
//
// A tuple with a component outside has the row -1; Tuples returns how many
// there are. Negative components count from the end where fromEnd is set. There
// are at most MaxTuple components, and values is aligned.
func Tuples(rows []int64, values []byte, width int, base, step int64, axes []Component, fromEnd bool) (outside int) {
	if len(rows) == 0 {
		return 0
	}
	n := len(rows) * len(axes)
	_ = values[: n*width : n*width]
	at := unsafe.Pointer(unsafe.SliceData(values))
	if wide := tuplesForm(width, len(axes)); wide != nil && len(rows) >= tuplesWide {
		all, whole, has := int64(0), len(rows)&^7, &axes[0]
		if fromEnd {
			all = -1
		}
		if k := len(axes); 3 < k && k < MaxTuple {
			// The form for many looks at the components that there could be.
			six := [MaxTuple]Component{4: {Dim: 1}, 5: {Dim: 1}}
			copy(six[:], axes)
			has = &six[0]
		}
		outside = wide(&rows[0], (*byte)(at), whole, base, step, has, all, len(axes))
		rows, base = rows[whole:], base+int64(whole)*step
		if len(rows) == 0 {
			return outside // and at would point behind the values
		}
		at, n = unsafe.Add(at, whole*len(axes)*width), len(rows)*len(axes)
	}
	if width == 4 {
		return outside + tuples(rows, unsafe.Slice((*int32)(at), n), base, step, axes, fromEnd)
	}
	return outside + tuples(rows, unsafe.Slice((*int64)(at), n), base, step, axes, fromEnd)
}

// tuplesWide is from how many tuples on eight at once are worth the call.
const tuplesWide = 16

// A tuplesFunc is a form of Tuples for n tuples, a multiple of 8, of k
// components; fromEnd is -1 where negative ones count from the end, else 0.
type tuplesFunc func(rows *int64, values *byte, n int, base, step int64, axes *Component, fromEnd int64, k int) int

// TuplesOf is Tuples of values that were loaded.
func TuplesOf(rows, values []int64, base, step int64, axes []Component, fromEnd bool) (outside int) {
	return Tuples(rows, Bytes(values), 8, base, step, axes, fromEnd)
}

// Aligned reports whether integers of width bytes may be read from b as such.
func Aligned(b []byte, width int) bool {
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))%uintptr(width) == 0
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
