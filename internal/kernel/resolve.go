// Package kernel moves rows and resolves index values: bytes and numbers, no
// tensors. Every function here has a definition that is written to be read; the
// forms that are written to be fast are held against it.
package kernel

import (
	"math"
	"unsafe"
)

// Filled is what a row under construction is set to when one of its indices is
// outside and the plan has a fill: so far below zero that the other components'
// shares cannot bring it back.
const Filled = math.MinInt64 / 2

// A Policy says what Resolve does with an index value.
type Policy struct {
	FromEnd bool // -dim … -1 count from the end
	Outside Outside
}

// Outside says what becomes of an index outside 0 … dim-1.
type Outside uint8

const (
	Error Outside = iota // it is counted
	Fill                 // its row becomes Filled
	Clamp                // it is moved to the nearest end
	Wrap                 // it is taken modulo dim
)

// Start sets rows[j] = base + j·step.
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
// and returns how many values are outside and have no position: their rows are
// Filled, or of no meaning where dim is 0 and the policy would move them.
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
	for j, v := range values {
		if p.FromEnd && v < 0 && v >= -dim {
			v += dim
		}
		if uint64(v) >= udim {
			if p.Outside == Wrap {
				if v %= dim; v < 0 {
					v += dim
				}
			} else {
				v = min(max(v, 0), dim-1)
			}
		}
		rows[j] += v * stride
	}
	return 0
}

// Finish turns every Filled row into -1.
func Finish(rows []int64) {
	for j, row := range rows {
		if row < 0 {
			rows[j] = -1
		}
	}
}

// A Width is how index values lie in memory.
type Width struct {
	Bits     int // 1, 2, 4, 8, 16, 32 or 64; the narrow ones packed, low bits first
	Unsigned bool
}

// Load widens index values: values[j] is element at+j·step of src. A value of
// 2^63 or more becomes the least value that is congruent to it modulo dim and
// still not below dim, or the greatest int64 where dim does not matter (dim 0):
// it stays outside every axis, and wraps as it should.
func Load(values []int64, src []byte, at, step int, w Width, dim int64) {
	if n, widen := len(values)&^7, widenForm(w); widen != nil && step == 1 && n > 0 {
		widen(&values[0], unsafe.SliceData(src[at*w.Bits/8:(at+n)*w.Bits/8]), n)
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

// A widenFunc is a form of Load for n values, a multiple of 8 and not 0.
type widenFunc func(values *int64, src *byte, n int)

// narrow is Load's answer to a value of 2^63 or more.
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
	// The first and the last element bound all others; the slice expressions
	// panic where either lies outside src.
	last := at + (len(values)-1)*step
	lo, hi := min(at, last), max(at, last)
	src = src[lo*size : (hi+1)*size]
	p := unsafe.Pointer(unsafe.SliceData(src))
	if step == 1 {
		if uintptr(p)%unsafe.Alignof(zero) == 0 {
			for j, v := range unsafe.Slice((*T)(p), len(values)) {
				values[j] = int64(v)
			}
			return
		}
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
