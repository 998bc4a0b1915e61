package lint

import (
	"math"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// A reason says what sets an end of an interval.
type reason uint8

// The reasons, from the firmest to none.
const (
	fixed    reason = iota // constants, known lengths, and operators such as Clip
	position               // a position on an axis of unknown length: ArgMax, TopK, NonZero
	counted                // an unknown length, and what is counted up to it: Shape, Range
	open                   // nothing but the type
)

// An end is an end of an interval. Integers beyond 2^53 are rounded outwards.
type end struct {
	at  float64
	why reason
}

// An interval contains every value that some elements can have in a run. NaN is
// left out of account: a cast of one to an integer has no defined result.
type interval struct {
	low, high end
	exact     bool // there are elements, and both ends are attained, whatever a run is given
}

// bounds are the intervals of a value.
type bounds struct {
	interval              // of every element
	last     []interval   // by position along the last axis; nil where it is unknown or longer than mostPositions
	dtype    garner.DType // Invalid where it is unknown
	one      bool         // it has one element; last is then of one position
	rank     int          // -1 where it is unknown
	from     *model.Value // what an open end comes from; nil without one
}

const (
	// mostPositions bounds bounds.last: index tuples and shapes are short.
	mostPositions = 8

	// longest is the upper end of an unknown length: more elements than fit into the
	// address space of any machine that runs models.
	longest = 1 << 48

	// exactFloat is the largest power of two below which a float64 holds every
	// integer.
	exactFloat = 1 << 53
)

func (i interval) why() reason { return max(i.low.why, i.high.why) }

// point reports whether an interval has one value, which is known.
func (i interval) point() bool { return i.low.at == i.high.at }

// number is the interval of one number.
func number(v float64) interval { return interval{end{v, fixed}, end{v, fixed}, true} }

// span is an interval with constant ends that need not be attained.
func span(low, high float64) interval { return interval{low: end{low, fixed}, high: end{high, fixed}} }

// upTo is the interval from 0 to an extent plus delta; unknown is the reason where
// the extent is unknown.
func upTo(d garner.Dim, delta float64, unknown reason) interval {
	i := lengthOf(d, unknown)
	return interval{low: end{0, fixed}, high: end{max(i.high.at+delta, 0), i.high.why}}
}

// lengthOf is the interval of an extent.
func lengthOf(d garner.Dim, unknown reason) interval {
	i := interval{end{float64(d.Min), fixed}, end{float64(d.Max), fixed}, d.Known()}
	if d.Max == garner.Unbounded {
		i.high = end{max(longest, i.low.at), unknown}
	}
	return i
}

// rangeOf gives the least and the greatest value of a type; infinities for types
// that are no integers.
func rangeOf(d garner.DType) (low, high float64) {
	switch {
	case d == garner.Bool:
		return 0, 1
	case !d.IsInteger():
		return math.Inf(-1), math.Inf(1)
	case d.IsUnsigned():
		return 0, math.Ldexp(1, d.Bits()) - 1
	}
	return -math.Ldexp(1, d.Bits()-1), math.Ldexp(1, d.Bits()-1) - 1
}

// whole is the interval of every value of a type.
func whole(d garner.DType, why reason) interval {
	low, high := rangeOf(d)
	if d == garner.Bool {
		why = fixed
	}
	return interval{low: end{low, why}, high: end{high, why}}
}

// anything is the bounds of a value of which nothing is known.
func anything(v *model.Value) bounds {
	return bounds{interval: whole(v.Spec.DType, open), dtype: v.Spec.DType, rank: rankOf(v.Spec), from: v}
}

func rankOf(s garner.Spec) int {
	if s.Rank.Known() {
		return s.Rank.Min
	}
	return -1
}

// outermost gives the lower (sign 1) or the upper end (sign -1) of values that end
// at a or at b; innermost that of values that end at both. Of two ends at one
// place, outermost takes the weaker reason and innermost the firmer.
func outermost(sign float64, a, b end) end {
	if sign*a.at < sign*b.at || a.at == b.at && a.why > b.why {
		return a
	}
	return b
}

func innermost(sign float64, a, b end) end {
	// Both bound the value. A length says more of it than the end of a narrow type does,
	// which is nearer than the longest length.
	length := func(e end) bool { return e.why == counted || e.why == position }
	switch {
	case a.why == open && a.at != 0 && length(b):
		return b
	case b.why == open && b.at != 0 && length(a):
		return a
	}
	if sign*a.at > sign*b.at || a.at == b.at && a.why < b.why {
		return a
	}
	return b
}

const low, high = 1, -1 // signs

// union is the smallest interval around both.
func union(a, b interval) interval {
	return interval{outermost(low, a.low, b.low), outermost(high, a.high, b.high), a.exact && b.exact}
}

// least and most are the intervals of min(x, y) and max(x, y).
func least(x, y interval) interval {
	return interval{outermost(low, x.low, y.low), innermost(high, x.high, y.high), x.exact && y.exact && (x.point() || y.point())}
}

func most(x, y interval) interval {
	return interval{innermost(low, x.low, y.low), outermost(high, x.high, y.high), x.exact && y.exact && (x.point() || y.point())}
}

// fit makes an interval of the results of arithmetic in a type. An integer that
// the type does not hold wraps, so that any may be the result; a float is rounded.
func fit(d garner.DType, i interval) interval {
	if math.IsNaN(i.low.at) || math.IsNaN(i.high.at) {
		return whole(d, i.why())
	}
	if !d.IsInteger() {
		if i.low.at, i.high.at = roundDown(d, i.low.at), -roundDown(d, -i.high.at); d.IsFloat() {
			i.exact = i.exact && i.point()
			return i
		}
		return whole(d, i.why()) // of a type that no arithmetic is for, or of an unknown one
	}
	if math.Abs(i.low.at) >= exactFloat {
		i.low.at, i.exact = math.Nextafter(i.low.at, math.Inf(-1)), false
	}
	if math.Abs(i.high.at) >= exactFloat {
		i.high.at, i.exact = math.Nextafter(i.high.at, math.Inf(1)), false
	}
	return wrap(d, i)
}

// wrap is whole for integers that the type does not hold.
func wrap(d garner.DType, i interval) interval {
	if low, high := rangeOf(d); !(low <= i.low.at && i.high.at <= high) {
		return whole(d, i.why())
	}
	return i
}

// roundDown is the result of rounding to a float type, or less.
func roundDown(d garner.DType, v float64) float64 {
	if v == math.Trunc(v) && math.Abs(v) <= map[garner.DType]float64{garner.F64: exactFloat, garner.F32: 1 << 24, garner.F16: 1 << 11, garner.BF16: 1 << 8}[d] {
		return v
	}
	switch d {
	case garner.F64:
		return v // the same rounding as here
	case garner.F32:
		f := float32(v)
		if float64(f) > v {
			f = math.Nextafter32(f, float32(math.Inf(-1)))
		}
		return float64(f)
	case garner.F16:
		if v >= -65504 {
			return v - math.Abs(v)/(1<<10) - 1.0/(1<<24)
		}
	case garner.BF16:
		return v - math.Abs(v)/(1<<7) - 1.0/(1<<24)
	}
	return math.Inf(-1)
}

// cast is the interval of values cast to a type. Floats are cut to integers.
func cast(to garner.DType, i interval) interval {
	switch {
	case to == garner.Bool:
		return span(0, 1)
	case to.IsInteger():
		i.low.at, i.high.at = math.Trunc(i.low.at), math.Trunc(i.high.at)
		if math.IsNaN(i.low.at) || math.IsNaN(i.high.at) {
			return whole(to, i.why())
		}
		return wrap(to, i)
	}
	return fit(to, i)
}

// corners is the interval of a function of two values that is monotonic in each.
func corners(d garner.DType, x, y interval, f func(x, y float64) float64) interval {
	made := interval{end{math.Inf(1), x.low.why}, end{math.Inf(-1), x.high.why}, x.exact && y.exact && (x.point() || y.point())}
	for _, a := range [...]end{x.low, x.high} {
		for _, b := range [...]end{y.low, y.high} {
			v := f(a.at, b.at)
			if math.IsNaN(v) {
				return whole(d, max(x.why(), y.why()))
			}
			made.low.at, made.high.at = min(made.low.at, v), max(made.high.at, v)
		}
	}
	// Which ends make which is not tracked through products.
	made.low.why, made.high.why = max(x.why(), y.why()), max(x.why(), y.why())
	return fit(d, made)
}

func sum(d garner.DType, x, y interval) interval {
	return fit(d, interval{
		end{x.low.at + y.low.at, max(x.low.why, y.low.why)}, end{x.high.at + y.high.at, max(x.high.why, y.high.why)},
		x.exact && y.exact && (x.point() || y.point()),
	})
}

func difference(d garner.DType, x, y interval) interval {
	return sum(d, x, interval{end{-y.high.at, y.high.why}, end{-y.low.at, y.low.why}, y.exact})
}

func product(d garner.DType, x, y interval) interval {
	return corners(d, x, y, func(x, y float64) float64 {
		if x == 0 || y == 0 {
			return 0 // also by an infinite end, which no value attains
		}
		return x * y
	})
}

// quotient is the interval of x/y; round cuts a quotient of integers.
func quotient(d garner.DType, x, y interval, round func(float64) float64) interval {
	switch {
	case y.low.at == 0 && y.high.at == 0 && d.IsInteger():
		return span(0, 0) // division by 0 has no result
	case y.low.at == 0 && d.IsInteger():
		return quotient(d, x, interval{end{1, fixed}, y.high, false}, round)
	case y.high.at == 0 && d.IsInteger():
		return quotient(d, x, interval{y.low, end{-1, fixed}, false}, round)
	case y.low.at <= 0 && y.high.at >= 0 && d.IsInteger():
		// A quotient by an integer other than 0 is no further from 0 than x.
		far := max(math.Abs(x.low.at), math.Abs(x.high.at))
		if round(-0.5) < 0 {
			far = max(far, 1)
		}
		return fit(d, interval{low: end{-far, x.why()}, high: end{far, x.why()}})
	case y.low.at <= 0 && y.high.at >= 0:
		return whole(d, max(x.why(), y.why()))
	case !d.IsInteger():
		round = func(v float64) float64 { return v }
	}
	return corners(d, x, y, func(x, y float64) float64 { return round(x / y) })
}

// remainder is the interval of x mod y, with the sign of y.
func remainder(d garner.DType, x, y interval) interval {
	if y.low.at > 0 && x.low.at >= 0 && x.high.at < y.low.at {
		return x
	}
	under := 1.0 // a remainder of integers is one below y
	if !d.IsInteger() {
		under = 0
	}
	made := interval{low: end{0, fixed}, high: end{0, fixed}}
	if y.low.at < 0 {
		made.low = end{y.low.at + under, y.low.why}
	}
	if y.high.at > 0 {
		made.high = end{y.high.at - under, y.high.why}
	}
	return made
}

// truncatedRemainder is the interval of x mod y, with the sign of x.
func truncatedRemainder(d garner.DType, x, y interval) interval {
	far := outermost(high, end{math.Abs(y.low.at), y.low.why}, end{math.Abs(y.high.at), y.high.why})
	if d.IsInteger() {
		far.at = max(far.at-1, 0)
	}
	made := interval{low: end{0, fixed}, high: end{0, fixed}}
	if x.low.at < 0 {
		made.low = innermost(low, end{-far.at, far.why}, x.low)
	}
	if x.high.at > 0 {
		made.high = innermost(high, far, x.high)
	}
	return made
}

func absolute(d garner.DType, x interval) interval {
	far := outermost(high, end{math.Abs(x.low.at), x.low.why}, x.high)
	near := end{0, fixed}
	if x.low.at >= 0 {
		near = x.low
	} else if x.high.at < 0 {
		near = end{-x.high.at, x.high.why}
	}
	return fit(d, interval{near, far, x.exact && x.low.at >= 0})
}

// total is the interval of the sum of up to n elements.
func total(d garner.DType, x interval, n garner.Dim) interval {
	count := lengthOf(n, counted)
	far := count.high.at
	if d.IsFloat() { // each addition rounds
		if far *= 2; n.Max <= 1<<12 && (d == garner.F32 || d == garner.F64) {
			far *= 1.001 / 2
		}
	}
	made := interval{low: end{0, fixed}, high: end{0, fixed}}
	if x.low.at < 0 {
		made.low = end{x.low.at * far, max(x.low.why, count.high.why)}
	}
	if x.high.at > 0 {
		made.high = end{x.high.at * far, max(x.high.why, count.high.why)}
	}
	return fit(d, made)
}

// bits is the interval of a bitwise operator of integers of at least 0.
func bits(d garner.DType, x, y interval, and bool) interval {
	switch {
	case d == garner.Bool:
		return span(0, 1)
	case x.low.at < 0 || y.low.at < 0:
		return whole(d, max(x.why(), y.why()))
	case and:
		return interval{low: end{0, fixed}, high: innermost(high, x.high, y.high)}
	}
	far := outermost(high, x.high, y.high)
	_, power := math.Frexp(far.at) // far < 2^power
	return wrap(d, interval{low: end{0, fixed}, high: end{math.Ldexp(1, power) - 1, far.why}})
}

// each gives the bounds whose intervals are a function of those of b.
func (b bounds) each(d garner.DType, f func(interval) interval) bounds {
	made := bounds{interval: f(b.interval), dtype: d, rank: b.rank, one: b.one, from: b.from}
	for _, i := range b.last {
		made.last = append(made.last, f(i))
	}
	return made.settled()
}

// settled forgets what an open end comes from where there is none.
func (b bounds) settled() bounds {
	if b.why() < open {
		b.from = nil
	}
	return b
}

// both gives the bounds of an operator of two operands that broadcast.
func both(d garner.DType, a, b bounds, f func(x, y interval) interval) bounds {
	made := bounds{interval: f(a.interval, b.interval), dtype: d, rank: -1, one: a.one && b.one, from: source(a, b)}
	if a.rank >= 0 && b.rank >= 0 {
		made.rank = max(a.rank, b.rank)
	}
	n := max(len(a.last), len(b.last))
	at := func(b bounds, i int) (interval, bool) {
		switch len(b.last) {
		case n:
			return b.last[i], true
		case 1:
			return b.last[0], true
		}
		whole := b.interval
		whole.exact = whole.exact && whole.point() // another position may attain an end
		return whole, len(b.last) == 0 && n > 1    // its last dim is then 1 or n
	}
	for i := range n {
		x, ok := at(a, i)
		y, also := at(b, i)
		if !ok || !also {
			made.last = nil
			break
		}
		made.last = append(made.last, f(x, y))
	}
	return made.settled()
}

// source says what the open end of one of several operands comes from: rather an
// input or a node than a parameter of a loop.
func source(list ...bounds) *model.Value {
	var found *model.Value
	for _, b := range list {
		if b.from != nil && (found == nil || len(found.Takes) > 0) {
			found = b.from
		}
	}
	return found
}

// join gives the bounds of a value that may be any of several.
func join(list []bounds) bounds {
	made := list[0]
	for _, b := range list[1:] {
		last := made.last
		made = bounds{interval: union(made.interval, b.interval), dtype: typeOf(made, b), rank: made.rank, from: source(made, b)}
		if made.rank != b.rank {
			made.rank = -1
		}
		if len(last) == len(b.last) {
			for i := range last {
				made.last = append(made.last, union(last[i], b.last[i]))
			}
		}
	}
	return made.settled()
}

// typeOf gives the first dtype that is known.
func typeOf(list ...bounds) garner.DType {
	for _, b := range list {
		if b.dtype != garner.Invalid {
			return b.dtype
		}
	}
	return garner.Invalid
}

// flat drops the positions along the last axis.
func (b bounds) flat() bounds {
	b.last, b.rank, b.one = nil, -1, false
	return b
}

// bounds gives the intervals of a value. It is sound: a run computes no other
// value than they contain, except NaN, and except the end of the type that ReduceMax and
// ReduceMin give of an axis whose unknown length is 0 in that run: else each of them would
// be unbounded. An operator that is not in steps has every value of its type.
//
// It visits each value once per model, those of a loop a few times, and reads each
// constant on the way once.
func (l *linter) bounds(v *model.Value) (bounds, error) {
	err := groups(v, l.begun, l.reads, func(group []*model.Value) error {
		if len(group) > 1 {
			return l.loop(group)
		}
		b, err := l.compute(group[0])
		l.ranges[group[0]] = b
		return err
	})
	return l.ranges[v], err
}

// of gives the bounds of an operand.
func (l *linter) of(v *model.Value) bounds {
	if v == nil {
		return anything(&model.Value{Spec: model.Unknown})
	}
	if b, ok := l.ranges[v]; ok {
		return b
	}
	return anything(v)
}

// reads lists the values whose bounds compute needs.
func (l *linter) reads(v *model.Value) []*model.Value {
	switch {
	case v.Fixed() != nil:
		return nil
	case len(v.Takes) > 0:
		return v.Takes
	case v.From == nil:
		return nil
	}
	s, ok := l.stepOf(v)
	if !ok {
		return nil
	}
	return s.reads(v.From)
}

// compute gives the bounds of a value from those of what it reads.
func (l *linter) compute(v *model.Value) (bounds, error) {
	l.computed++
	switch {
	case v.Fixed() != nil:
		return l.constantBounds(v)
	case v.Turn:
		made := bounds{interval: interval{low: end{0, fixed}, high: end{longest, position}}, dtype: garner.I64, rank: -1}
		if len(v.Takes) > 0 {
			// A constant beyond any length means that the condition alone ends the loop.
			if turns := l.of(v.Takes[0]); turns.high.why == open || turns.high.at < longest {
				made.high, made.from = end{max(turns.high.at-1, 0), turns.high.why}, turns.from
			}
		}
		return made.settled(), nil
	case len(v.Takes) > 0:
		var list []bounds
		for _, from := range v.Takes {
			if b, ok := l.ranges[from]; ok { // else of the turn before, and this is the first
				list = append(list, b.flat())
			}
		}
		if len(list) == 0 {
			return anything(v), nil
		}
		made := join(list)
		for _, b := range list { // a run takes one branch, or no turn
			made.exact = made.exact && b.interval == made.interval
		}
		return made, nil
	case v.From == nil:
		return anything(v), nil
	}
	s, ok := l.stepOf(v)
	if !ok {
		return anything(v), nil
	}
	c := &l.at // one for all: loops compute many times
	*c = operation{linter: l, node: v.From, result: v, output: slices.Index(v.From.Outputs[:min(len(v.From.Outputs), mostPositions)], v)}
	made := s.bounds(c)
	if made.dtype == garner.Invalid {
		made.dtype = v.Spec.DType
	}
	if made.rank < 0 {
		made.rank = rankOf(v.Spec)
	}
	if len(made.last) != 1 {
		made.one = false
	}
	if len(made.last) > mostPositions {
		made.last = nil
	}
	if made.why() == open && made.from == nil {
		made.from = v
	}
	return made, c.err
}

// constantBounds reads a constant.
func (l *linter) constantBounds(v *model.Value) (bounds, error) {
	c := v.Constant
	if b, ok := l.held[stored(c)]; ok {
		return b, nil
	}
	made := bounds{interval: whole(c.Spec.DType, fixed), dtype: c.Spec.DType, rank: rankOf(c.Spec)}
	if !l.allowed.allows(c) {
		return anything(v).settled(), nil
	}
	if d := c.Spec.DType; d.IsInteger() || d == garner.Bool || d.IsFloat() {
		width := 1
		if n := len(c.Spec.Dims); n > 0 {
			width = c.Spec.Dims[n-1].Min
		}
		if 0 < width && width <= mostPositions {
			made.last = make([]interval, width)
		}
		if shape, ok := c.Spec.Shape(); ok {
			n, ok := shape.Len()
			made.one = ok && n == 1
		}
		empty := true
		err := l.pieces(c, func(t garner.Tensor, from int64) (bool, error) {
			return true, numbers(t, func(i int, n float64) {
				one := number(n)
				if math.Abs(n) >= exactFloat && d.IsInteger() { // n was rounded
					least, most := rangeOf(d)
					one = span(max(math.Nextafter(n, math.Inf(-1)), least), min(math.Nextafter(n, math.Inf(1)), most))
				}
				at := from + int64(i)
				if empty {
					made.interval = one
				} else {
					made.interval = union(made.interval, one)
				}
				empty = false
				if made.last != nil {
					p := &made.last[at%int64(width)]
					if at < int64(width) {
						*p = one
					} else {
						*p = union(*p, one)
					}
				}
			})
		})
		switch {
		case err != nil && c.Unread(): // such as a sparse tensor
			made, empty = anything(v), false
		case err != nil:
			return bounds{}, err
		}
		if empty {
			made.interval, made.last = span(0, 0), nil // no element has another value
		}
	}
	l.held[stored(c)] = made
	return made, nil
}

// numbers calls look with every element of a tensor of numbers or bools but NaN.
func numbers(t garner.Tensor, look func(i int, v float64)) error {
	if t.DType().IsInteger() {
		return integers(t, func(i int, v garner.Index) bool {
			if v.Unsigned {
				look(i, float64(v.Bits))
			} else {
				look(i, float64(int64(v.Bits)))
			}
			return true
		})
	}
	if t.DType() == garner.Bool {
		b, err := t.Bytes()
		for i, v := range b {
			look(i, float64(v))
		}
		return err
	}
	for i := range t.Len() {
		v, err := t.Float64(i)
		if err != nil {
			return err
		}
		if !math.IsNaN(v) {
			look(i, v)
		}
	}
	return nil
}
