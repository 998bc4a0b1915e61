package shapes

import (
	"math"
	"math/bits"

	"github.com/garner-go/garner"
)

// A number is what is known of an integer of every run: an extent, or an element of a small
// integer tensor. It lies in low…high.
type number struct {
	low, high int64
	is        symbol
}

// A symbol is the name of an integer that only a run knows: the extent of one dim of one value.
// Numbers of a symbol are equal in each run in which that extent is not 0. Reshape makes the
// exception: it takes a 0 of its shape as "the extent of data". 0 is no symbol.
type symbol int32

// whole is a number of which nothing is known.
var whole = number{low: math.MinInt64, high: math.MaxInt64}

// anyExtent is an extent of which nothing is known.
var anyExtent = number{high: math.MaxInt64}

func exactly(n int64) number { return number{low: n, high: n} }

func (n number) known() bool         { return n.low == n.high }
func (n number) equals(v int64) bool { return n.low == v && n.high == v }
func (n number) has(v int64) bool    { return n.low <= v && v <= n.high }

// union is a number that is n or m.
func (n number) union(m number) number {
	is := n.is
	if n.is != m.is {
		is = 0
	}
	return number{min(n.low, m.low), max(n.high, m.high), is}
}

// meet is a number that is n and m; n where none is both.
func (n number) meet(m number) number {
	low, high := max(n.low, m.low), min(n.high, m.high)
	if low > high {
		return n
	}
	if n.is == 0 {
		n.is = m.is
	}
	return number{low, high, n.is}
}

// extent is a number that a runtime takes as an extent: one below 0 it refuses.
func (n number) extent() number {
	if n.high < 0 {
		return anyExtent // there is no run
	}
	return n.meet(anyExtent)
}

// plain is n without its symbol.
func (n number) plain() number { return number{low: n.low, high: n.high} }

// plus adds; a sum that wraps is whole.
func (n number) plus(m number) number {
	switch {
	case m.equals(0):
		return n
	case n.equals(0):
		return m
	}
	low, ok1 := sum(n.low, m.low)
	high, ok2 := sum(n.high, m.high)
	if !ok1 || !ok2 {
		return whole
	}
	return number{low: low, high: high}
}

func (n number) negated() number {
	if n.low == math.MinInt64 {
		return whole
	}
	return number{low: -n.high, high: -n.low}
}

func (n number) minus(m number) number {
	if m.equals(0) {
		return n
	}
	return n.plus(m.negated())
}

// times multiplies; a product that wraps is whole.
func (n number) times(m number) number {
	switch {
	case m.equals(1):
		return n
	case n.equals(1):
		return m
	}
	made := number{low: math.MaxInt64, high: math.MinInt64}
	for _, a := range [2]int64{n.low, n.high} {
		for _, b := range [2]int64{m.low, m.high} {
			p, ok := product(a, b)
			if !ok {
				return whole
			}
			made.low, made.high = min(made.low, p), max(made.high, p)
		}
	}
	return made
}

// over divides by a positive divisor and cuts the fraction off; whole where the divisor may be
// something else.
func (n number) over(m number) number {
	switch {
	case m.equals(1):
		return n
	case m.low < 1:
		return whole
	}
	made := number{low: math.MaxInt64, high: math.MinInt64}
	for _, a := range [2]int64{n.low, n.high} {
		for _, b := range [2]int64{m.low, m.high} {
			made.low, made.high = min(made.low, a/b), max(made.high, a/b)
		}
	}
	return made
}

func sum(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0)
}

func product(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	if a == math.MinInt64 || b == math.MinInt64 {
		return 0, false
	}
	high, low := bits.Mul64(uint64(max(a, -a)), uint64(max(b, -b)))
	if high != 0 || low > math.MaxInt64 {
		return 0, false
	}
	if (a < 0) != (b < 0) {
		return -int64(low), true
	}
	return int64(low), true
}

// add and multiply are of extents of one tensor: a runtime refuses those above an int64.
func (n number) add(m number) number {
	switch {
	case m.equals(0):
		return n
	case n.equals(0):
		return m
	}
	s := n.plus(m)
	if s == whole {
		s = number{low: saturated(sum(n.low, m.low)), high: saturated(sum(n.high, m.high))}
	}
	return s
}

func (n number) multiply(m number) number {
	switch {
	case m.equals(1):
		return n
	case n.equals(1):
		return m
	}
	return number{low: saturated(product(n.low, m.low)), high: saturated(product(n.high, m.high))}
}

func saturated(n int64, ok bool) int64 {
	if !ok {
		return math.MaxInt64
	}
	return n
}

// volume is the number of elements of dims.
func volume(dims []number) number {
	n := exactly(1)
	for _, d := range dims {
		if d.equals(0) {
			return exactly(0)
		}
		n = n.multiply(d)
	}
	return n
}

// numberOf is a Dim as a number.
func numberOf(d garner.Dim) number {
	n := number{low: int64(d.Min), high: int64(d.Max)}
	if d.Max == garner.Unbounded {
		n.high = math.MaxInt64
	}
	return n
}

// dim is an extent as a Dim. On a 32-bit machine a larger one has no bound.
func (n number) dim() garner.Dim {
	d := garner.Dim{Min: int(min(n.low, garner.Unbounded)), Max: garner.Unbounded}
	if n.high < garner.Unbounded {
		d.Max = int(n.high)
	}
	return d
}

// rangeOf is the range of the elements of a dtype: whole for those that are no integers or
// that an int64 does not hold.
func rangeOf(d garner.DType) number {
	bits := d.Bits()
	switch {
	case d == garner.Bool:
		return number{low: 0, high: 1}
	case !d.IsInteger() || bits >= 64:
		return whole
	case !d.IsUnsigned():
		return number{low: -1 << (bits - 1), high: 1<<(bits-1) - 1}
	}
	return number{low: 0, high: 1<<bits - 1}
}
