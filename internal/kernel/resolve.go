// Package kernel resolves index values to rows and moves rows. It works on bytes
// and numbers, not on tensors.
//
// Every kernel has a generic form in Go, which defines it, and may have forms in
// assembly for the instruction sets of the machine ([Forms]). Tests compare each
// form with the generic one.
package kernel

import (
	"math"
	"unsafe"
)

// Filled marks a row under construction that has an index outside its axis. It is
// so negative that adding the other components' offsets leaves it negative.
const Filled = math.MinInt64 / 2

// A Policy says how Resolve interprets index values.
type Policy struct {
	FromEnd bool    // -dim … -1 are valid and count from the end
	Outside Outside // treatment of all other values outside 0 … dim-1
}

// Outside is the treatment of an index value outside its axis.
type Outside uint8

const (
	Error Outside = iota // count it
	Fill                 // count it and set its row to Filled
	Clamp                // replace it by the nearest end of the axis
	Wrap                 // replace it by its value modulo dim
)

// Start sets rows[j] = base + j·step for all j.
func Start(rows []int64, base, step int64) {
	if step == 0 {
		for j := range rows {
			rows[j] = base
		}
		return
	}
	for j := range rows {
		rows[j] = base
		base += step
	}
}

// Resolve adds one component of the index tuples to rows under construction:
//
//	rows[j] += stride · position(values[j], dim)
//
// It returns how many values have no position. Their rows become Filled, except
// where dim is 0 under Clamp or Wrap: then all values have none and rows keep
// their values. Under Clamp and Wrap it moves the values themselves, as [Settle] does.
func Resolve(rows, values []int64, dim, stride int64, p Policy) (outside int) {
	values = values[:len(rows)]
	udim := uint64(dim)
	if p.Outside == Error || p.Outside == Fill {
		for j, v := range values {
			if p.FromEnd && v < 0 {
				v += dim
			}
			if uint64(v) < udim {
				rows[j] += v * stride
			} else {
				outside++
				rows[j] = Filled
			}
		}
		return outside
	}
	if dim == 0 {
		return len(values)
	}
	Settle(values, values, dim, p)
	for j, v := range values {
		rows[j] += v * stride
	}
	return 0
}

// Finish sets every negative row, as Filled makes them, to -1.
func Finish(rows []int64) {
	for j, row := range rows {
		if row < 0 {
			rows[j] = -1
		}
	}
}

// A Width is the integer type of index values in memory.
type Width struct {
	Bits     int  // 1, 2, 4, 8, 16, 32 or 64; values below 8 bits are packed, low bits first
	Unsigned bool // zero-extended, not sign-extended
}

// Load widens index values to int64: values[j] becomes element at+j·step of src.
//
// An unsigned value of 2^63 or more does not fit. Load replaces it by the least
// value in dim … 2·dim-1 that is congruent to it modulo dim, which is outside the
// axis too and wraps to the same position. If dim is 0, or 2^62 or more, Load
// replaces it by the largest int64.
//
// Load panics if an element lies outside src.
func Load(values []int64, src []byte, at, step int, w Width, dim int64) {
	if n, widen := len(values)&^7, widenForm(w); widen != nil && step == 1 && n > 0 {
		widen(noescape(&values[0]), noescape(unsafe.SliceData(src[at*w.Bits/8:(at+n)*w.Bits/8])), n)
		values, at = values[n:], at+n
	}
	switch {
	case w.Bits < 8:
		loadPacked(values, src, at, step, w)
	case w == Width{8, false}:
		load[int8](values, src, at, step)
	case w == Width{16, false}:
		load[int16](values, src, at, step)
	case w == Width{32, false}:
		load[int32](values, src, at, step)
	case w == Width{64, false} && step == 1:
		copy(Bytes(values), src[at*8:(at+len(values))*8])
	case w == Width{64, false}:
		load[int64](values, src, at, step)
	case w == Width{8, true}:
		load[uint8](values, src, at, step)
	case w == Width{16, true}:
		load[uint16](values, src, at, step)
	case w == Width{32, true}:
		load[uint32](values, src, at, step)
	default:
		load[int64](values, src, at, step)
		for j, v := range values {
			if v < 0 {
				values[j] = narrow(uint64(v), dim)
			}
		}
	}
}

// A widenFunc is a form of Load in assembly for n adjacent values; n is a positive
// multiple of 8.
type widenFunc func(values *int64, src *byte, n int)

// narrow returns Load's replacement of a value of 2^63 or more.
func narrow(v uint64, dim int64) int64 {
	if dim <= 0 || dim > math.MaxInt64/2 {
		return math.MaxInt64
	}
	return int64(v%uint64(dim)) + dim
}

func load[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32](values []int64, src []byte, at, step int) {
	if len(values) == 0 {
		return
	}
	var zero T
	size := int(unsafe.Sizeof(zero))
	// All elements lie between the first and the last, so this slice expression
	// checks all of them.
	last := at + (len(values)-1)*step
	lo, hi := min(at, last), max(at, last)
	src = src[lo*size : (hi+1)*size]
	p := unsafe.Pointer(unsafe.SliceData(src))
	if uintptr(p)%unsafe.Alignof(zero) == 0 {
		if step == 1 {
			for j, v := range unsafe.Slice((*T)(p), len(values)) {
				values[j] = int64(v)
			}
			return
		}
		all := unsafe.Slice((*T)(p), hi-lo+1)
		i := at - lo
		for len(values) >= 4 {
			values[0], values[1] = int64(all[i]), int64(all[i+step])
			values[2], values[3] = int64(all[i+2*step]), int64(all[i+3*step])
			values, i = values[4:], i+4*step
		}
		for j := range values {
			values[j] = int64(all[i])
			i += step
		}
		return
	}
	for j := range values {
		var v T
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&v)), size), src[(at-lo+j*step)*size:])
		values[j] = int64(v)
	}
}

func loadPacked(values []int64, src []byte, at, step int, w Width) {
	per := 8 / w.Bits
	for j := range values {
		i := at + j*step
		v := int64(src[i/per] >> (i % per * w.Bits) & (1<<w.Bits - 1))
		if !w.Unsigned && v>>(w.Bits-1) != 0 {
			v -= 1 << w.Bits
		}
		values[j] = v
	}
}
