package garner

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Unbounded is the Max of a Dim without an upper bound.
const Unbounded = math.MaxInt

// Unknown stands for an axis, or another number of an operator, that is known
// only when the model runs. Infer accepts it; NewPlan and Prepare refuse it.
const Unknown = math.MinInt

// A Dim is the range of extents that a dim can have: Min…Max, both included.
type Dim struct{ Min, Max int }

// Exactly returns the Dim of a known extent.
func Exactly(n int) Dim { return Dim{n, n} }

// AnyDim is the Dim of an unknown extent.
var AnyDim = Dim{0, Unbounded}

// Known reports whether the Dim allows only one extent.
func (d Dim) Known() bool { return d.Min == d.Max }

// String returns "3", "1..8", "1.." or "?".
func (d Dim) String() string {
	switch {
	case d.Known():
		return strconv.Itoa(d.Min)
	case d == AnyDim:
		return "?"
	case d.Max == Unbounded:
		return strconv.Itoa(d.Min) + ".."
	}
	return strconv.Itoa(d.Min) + ".." + strconv.Itoa(d.Max)
}

// intersect returns the extents that both d and e allow; false if there is none.
func (d Dim) intersect(e Dim) (Dim, bool) {
	m := Dim{max(d.Min, e.Min), min(d.Max, e.Max)}
	return m, m.Min <= m.Max
}

// product returns the product of dims, 1 if there are none; ok is false if even
// the least product overflows an int.
func product(dims []Dim) (total Dim, ok bool) {
	low, high := make(Shape, len(dims)), make(Shape, len(dims))
	unbounded := false
	for i, d := range dims {
		low[i], high[i] = d.Min, d.Max
		unbounded = unbounded || d.Max == Unbounded
	}
	total.Min, ok = low.Len()
	fits := false
	if total.Max, fits = high.Len(); !fits || unbounded && total.Max > 0 {
		total.Max = Unbounded
	}
	return total, ok
}

// A Spec describes a tensor that need not exist yet: its dtype, and its dims as
// far as they are known.
type Spec struct {
	DType   DType
	Rank    Dim   // number of dims; Known for every tensor in memory
	Dims    []Dim // one per dim if Rank is Known, else nil
	Strides []int // of a tensor in memory, in elements; nil means row-major
}

// SpecOf returns the Spec of a row-major tensor.
func SpecOf(dtype DType, shape ...int) Spec {
	s := Spec{DType: dtype, Rank: Exactly(len(shape)), Dims: make([]Dim, len(shape))}
	for i, d := range shape {
		s.Dims[i] = Exactly(d)
	}
	return s
}

// SpecOfDims returns the Spec of a tensor of known rank whose extents may be
// unknown. It keeps dims.
func SpecOfDims(dtype DType, dims ...Dim) Spec {
	return Spec{DType: dtype, Rank: Exactly(len(dims)), Dims: dims}
}

// SpecOfRank returns the Spec of a tensor with known bounds of the rank alone.
// AnyDim means an unknown rank.
func SpecOfRank(dtype DType, rank Dim) Spec {
	if rank.Known() {
		return Spec{DType: dtype, Rank: rank, Dims: slices.Repeat([]Dim{AnyDim}, rank.Min)}
	}
	return Spec{DType: dtype, Rank: rank}
}

// Spec returns the dtype, shape and strides of t. The zero Tensor has the zero Spec.
func (t Tensor) Spec() Spec {
	if t.dtype == Invalid {
		return Spec{}
	}
	s := SpecOf(t.dtype, t.shape...)
	s.Strides = t.strides
	return s
}

// Shape returns the extents; false unless all are known.
func (s Spec) Shape() (Shape, bool) {
	if !s.Rank.Known() {
		return nil, false
	}
	shape := make(Shape, len(s.Dims))
	for i, d := range s.Dims {
		if !d.Known() {
			return nil, false
		}
		shape[i] = d.Min
	}
	return shape, true
}

// Bytes returns the size of the elements in memory, stored side by side:
// elements of packed types share bytes, and a partly used last byte counts
// whole. A spec with a dim of 0 takes 0 bytes, whatever its other dims. ok is
// false if the size is not known or not fixed (unknown dims, strings, no
// dtype), or if it is 2^61 bytes or more, whose bits overflow a uint64. Strides
// do not matter.
func (s Spec) Bytes() (n int64, ok bool) {
	if s.DType.Bits() == 0 || !s.Rank.Known() {
		return 0, false
	}
	size, known := uint64(s.DType.Bits()), true // in bits
	for _, d := range s.Dims {
		if d.Max == 0 {
			return 0, true
		}
		known = known && d.Known()
	}
	for _, d := range s.Dims {
		var high uint64
		if high, size = bits.Mul64(size, uint64(d.Min)); !known || high != 0 {
			return 0, false
		}
	}
	return int64(size/8 + (size%8+7)/8), true
}

// strides returns the strides of a spec whose dims are all known.
func (s Spec) strides() []int {
	if s.Strides != nil {
		return s.Strides
	}
	shape, _ := s.Shape()
	return shape.Strides()
}

// String returns the dtype and the dims: f32[2,?,1..8]; f32[...] for an unknown
// rank, f32[...2..4] for a rank with bounds.
func (s Spec) String() string {
	name := ""
	if s.DType != Invalid {
		name = s.DType.String()
	}
	if !s.Rank.Known() {
		if s.Rank == AnyDim {
			return name + "[...]"
		}
		return name + "[..." + s.Rank.String() + "]"
	}
	dims := make([]string, len(s.Dims))
	for i, d := range s.Dims {
		dims[i] = d.String()
	}
	return name + "[" + strings.Join(dims, ",") + "]"
}

// ParseSpec parses the text that String returns: a dtype and dims in brackets.
// A dim is a number, "?", "1..8" or "1..". An unknown dtype is an ErrDType, any
// other mistake an ErrShape.
func ParseSpec(text string) (Spec, error) {
	bad := func(why string) (Spec, error) {
		return Spec{}, shapeError(KindMismatch, "%q is no tensor type: %s; write it as f32[2,?,1..8], or f32[...] for an unknown rank", text, why)
	}
	name, dims, found := strings.Cut(strings.TrimSpace(text), "[")
	if !found || !strings.HasSuffix(dims, "]") {
		return bad("it has no [dims]")
	}
	dtype, err := ParseDType(strings.TrimSpace(name))
	if err != nil {
		return Spec{}, err
	}
	dims = strings.TrimSpace(strings.TrimSuffix(dims, "]"))
	if rank, ok := strings.CutPrefix(dims, "..."); ok {
		if rank == "" {
			return SpecOfRank(dtype, AnyDim), nil
		}
		d, ok := parseDim(rank)
		if !ok || d.Min > MaxRank {
			return bad("the rank " + rank + " is none")
		}
		return SpecOfRank(dtype, d), nil
	}
	if dims == "" {
		return SpecOfDims(dtype), nil
	}
	var list []Dim
	for part := range strings.SplitSeq(dims, ",") {
		d, ok := parseDim(strings.TrimSpace(part))
		if !ok {
			return bad(strconv.Quote(part) + " is no dim")
		}
		if list = append(list, d); len(list) > MaxRank {
			return bad("it has more than " + strconv.Itoa(MaxRank) + " dims")
		}
	}
	return SpecOfDims(dtype, list...), nil
}

func parseDim(text string) (Dim, bool) {
	if text == "?" {
		return AnyDim, true
	}
	low, high, ranged := strings.Cut(text, "..")
	d := Dim{}
	var err error
	if d.Min, err = strconv.Atoi(low); err != nil || d.Min < 0 {
		return Dim{}, false
	}
	d.Max = d.Min
	if ranged {
		d.Max = Unbounded
		if high != "" {
			if d.Max, err = strconv.Atoi(high); err != nil {
				return Dim{}, false
			}
		}
	}
	return d, d.Min <= d.Max
}
