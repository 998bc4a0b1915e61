package garner

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// MaxRank is the largest number of dimensions of a tensor: NumPy's.
const MaxRank = 64

// A Shape is the extents of a tensor, outermost first. A scalar has the empty
// shape.
type Shape []int

// Len returns the number of elements. ok is false if an extent is negative or
// the product does not fit an int.
func (s Shape) Len() (n int, ok bool) {
	n = 1
	empty := false
	for _, d := range s {
		if d < 0 {
			return 0, false
		}
		empty = empty || d == 0
	}
	if empty {
		return 0, true
	}
	for _, d := range s {
		if n, ok = mul(n, d); !ok {
			return 0, false
		}
	}
	return n, true
}

// Strides returns the row-major strides of the shape, in elements. They are
// meaningful only if Len is ok.
func (s Shape) Strides() []int {
	strides := make([]int, len(s))
	n := 1
	for i := len(s) - 1; i >= 0; i-- {
		strides[i] = n
		n *= max(s[i], 1)
	}
	return strides
}

// Equal reports whether both shapes have the same extents.
func (s Shape) Equal(t Shape) bool {
	if len(s) != len(t) {
		return false
	}
	for i := range s {
		if s[i] != t[i] {
			return false
		}
	}
	return true
}

// String returns the extents in brackets: [2,3].
func (s Shape) String() string {
	var b strings.Builder
	b.WriteByte('[')
	for i, d := range s {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(d))
	}
	b.WriteByte(']')
	return b.String()
}

// mul multiplies two extents; ok is false if the product does not fit an int.
func mul(a, b int) (product int, ok bool) {
	hi, lo := bits.Mul(uint(a), uint(b))
	return int(lo), hi == 0 && lo <= math.MaxInt
}
