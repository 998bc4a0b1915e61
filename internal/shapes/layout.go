package shapes

import (
	"math"
	"slices"

	"github.com/garner-go/garner"
)

// shapeOf is the rule of an operator that gives the dims of its input from start to end, as a
// list of a dtype.
func (c *call) shapeOf(d garner.DType, start, end int64) {
	f := c.at(0)
	if !f.ranked() {
		c.set(0, of(d, number{low: 0, high: int64(min(f.rank.Max, garner.MaxRank))}))
		return
	}
	rank := int64(len(f.dims))
	clamped := func(n int64) int64 {
		if n < 0 {
			n += rank
		}
		return min(max(n, 0), rank)
	}
	start, end = clamped(start), clamped(end)
	dims := f.dims[start:max(start, end)]
	c.set(0, asList(d, dims))
}

// asList is a tensor of one dim with such elements.
func asList(d garner.DType, elems []number) fact {
	made := of(d, exactly(int64(len(elems))))
	if len(elems) > mostElements {
		return made
	}
	all := rangeOf(d)
	narrow := make([]number, len(elems))
	for i, e := range elems {
		narrow[i] = e.meet(all) // a runtime refuses what the dtype does not hold
	}
	return made.with(narrow)
}

// sizeOf is the rule of an operator that counts the elements of its input.
func (c *call) sizeOf(d garner.DType) {
	made := scalar(d)
	if f := c.at(0); f.ranked() {
		made = made.with([]number{volume(f.dims).meet(rangeOf(d))})
	}
	c.set(0, made)
}

// A reshaping says what numbers of a shape mean.
type reshaping struct {
	zeroCopies bool // 0 is the extent of data at this position
	minusOne   bool // -1 is what the others leave
}

// reshape is the rule of an operator that gives its first input a shape; nil is one that is not known.
func (c *call) reshape(shape []number, how reshaping) {
	f := c.at(0)
	if shape == nil {
		made := fact{dtype: f.dtype, rank: garner.AnyDim}
		if s := c.at(1); s.ranked() && len(s.dims) == 1 {
			made = ofUnknown(f.dtype, garner.Dim{Min: int(min(s.dims[0].low, garner.MaxRank)), Max: int(min(s.dims[0].high, garner.MaxRank))})
		}
		c.set(0, made)
		return
	}
	dims := make([]number, len(shape))
	rest := slices.Clone(f.dims) // what is left of data for a -1
	left, open := exactly(1), -1 // what the others take of it; where the -1 is
	maybe := 0                   // numbers that may be -1
	for i, n := range shape {
		copies := how.zeroCopies && n.has(0)
		var same number
		if copies {
			same = anyExtent
			if f.ranked() && i < len(f.dims) {
				same = f.dims[i]
			}
		}
		switch {
		case how.minusOne && n.equals(-1):
			dims[i], open = anyExtent, i
			continue
		case how.minusOne && n.low < 0:
			dims[i] = anyExtent
			maybe++
		case copies && n.equals(0):
			dims[i] = same
		case copies && same.is != 0 && same.is == n.is:
			dims[i] = same.union(n.extent())
		case copies:
			dims[i] = number{low: max(n.low, 1), high: max(n.high, 1), is: n.is}.union(same.plain())
			dims[i].is = n.is
		default:
			dims[i] = n.extent()
		}
		// A number that is an extent of data takes that of it, where both are equal also at 0.
		j := -1
		if f.ranked() {
			switch {
			case i < len(rest) && copies && (n.equals(0) || same.is != 0 && same.is == n.is):
				j = i
			case dims[i].is != 0 && n.low >= 0 && (dims[i].low >= 1 || !how.zeroCopies):
				j = slices.IndexFunc(rest, func(d number) bool { return d.is == dims[i].is })
			}
		}
		if j >= 0 && !(rest[j].known() && !dims[i].known()) {
			rest[j] = exactly(1)
		} else {
			left = left.multiply(dims[i])
		}
	}
	if open >= 0 && f.ranked() && maybe == 0 {
		dims[open] = quotient(rest, left)
	}
	made := of(f.dtype, dims...)
	if open < 0 && maybe == 0 {
		made.dims = completed(made.dims, f)
	}
	if f.elems != nil {
		made = made.with(f.elems)
	}
	c.set(0, made)
}

// quotient is the volume of dims divided by one that a runtime refuses unless it divides it.
func quotient(dims []number, by number) number {
	open := slices.DeleteFunc(slices.Clone(dims), func(d number) bool { return d.equals(1) })
	if len(open) == 1 && by.equals(1) {
		return open[0]
	}
	// Of one open extent and equal factors beside it, that extent is left.
	if i := slices.IndexFunc(open, func(d number) bool { return !d.known() }); i >= 0 && by.known() && by.low > 0 {
		others := slices.Delete(slices.Clone(open), i, i+1)
		if v := volume(others); v == by.plain() {
			return open[i]
		}
	}
	all := volume(dims)
	switch {
	case all.known() && by.known() && by.low > 0 && all.low < math.MaxInt64:
		return exactly(all.low / by.low)
	case by.low >= 1:
		made := number{low: all.low / by.high, high: math.MaxInt64}
		if by.high == math.MaxInt64 {
			made.low = 0
			if all.low >= 1 {
				made.low = 1
			}
		} else if all.low > 0 {
			made.low = max(made.low, 1)
		}
		if all.high < math.MaxInt64 {
			made.high = all.high / by.low
		}
		return made
	}
	if all.high < math.MaxInt64 {
		return number{low: 0, high: all.high}
	}
	return anyExtent
}

// completed are dims of a result with as many elements as a value, where that leaves one of them open.
func completed(dims []number, f fact) []number {
	if !f.ranked() {
		return dims
	}
	all := volume(f.dims)
	if !all.known() || all.low == 0 || all.low == math.MaxInt64 {
		return dims
	}
	open, others := -1, exactly(1)
	for i, d := range dims {
		switch {
		case d.known():
			others = others.multiply(d)
		case open >= 0:
			return dims
		default:
			open = i
		}
	}
	if open < 0 || others.low < 1 || all.low%others.low != 0 {
		return dims
	}
	dims = slices.Clone(dims)
	dims[open] = dims[open].meet(exactly(all.low / others.low))
	return dims
}

// flatten is the rule of ONNX's Flatten: two dims, cut at an axis.
func flatten(c *call) {
	f := c.at(0)
	made := of(f.dtype, anyExtent, anyExtent)
	axis := c.number("axis", 1)
	if f.ranked() {
		if axis < 0 {
			axis += int64(len(f.dims))
		}
		if axis >= 0 && axis <= int64(len(f.dims)) {
			made = of(f.dtype, whole1(f.dims[:axis]), whole1(f.dims[axis:]))
		}
	}
	c.set(0, made)
}

// whole1 is the volume of dims; of one that is not 1 it is that one.
func whole1(dims []number) number {
	made := exactly(1)
	for _, d := range dims {
		made = made.multiply(d)
	}
	return made
}

// unsqueeze is the rule of an operator that gives its input new dims of 1.
func (c *call) unsqueeze(axes []number) {
	f := c.at(0)
	if axes == nil || !f.ranked() {
		if axes != nil {
			c.set(0, ofUnknown(f.dtype, plusRank(f.rank, len(axes))))
		} else {
			c.set(0, fact{dtype: f.dtype, rank: garner.Dim{Min: f.rank.Min, Max: garner.Unbounded}})
		}
		return
	}
	rank := len(f.dims) + len(axes)
	made := make([]number, rank)
	new := make([]bool, rank)
	for _, a := range axes {
		at, ok := axisOf(a.low, rank)
		if !a.known() || !ok || new[at] {
			c.set(0, ofRank(f.dtype, garner.Exactly(rank)))
			return
		}
		made[at], new[at] = exactly(1), true
	}
	next := f.dims
	for i := range made {
		if !new[i] {
			made[i], next = next[0], next[1:]
		}
	}
	c.set(0, of(f.dtype, made...).with(f.elems))
}

func plusRank(rank garner.Dim, n int) garner.Dim {
	if rank.Max <= garner.MaxRank {
		rank.Max += n
	}
	rank.Min += n
	return rank
}

// squeeze is the rule of an operator that takes dims of 1 away: those along axes, or every one.
func (c *call) squeeze(axes []number, every bool) {
	f := c.at(0)
	if !f.ranked() || axes == nil && !every {
		c.set(0, ofUnknown(f.dtype, garner.Dim{Max: f.rank.Max}))
		return
	}
	gone := make([]bool, len(f.dims))
	if every {
		least := 0
		for i, d := range f.dims {
			gone[i] = d.equals(1)
			if !d.has(1) {
				least++
			} else if !gone[i] { // perhaps
				axes = append(axes, number{})
			}
		}
		if len(axes) > 0 {
			c.set(0, ofUnknown(f.dtype, garner.Dim{Min: least, Max: least + len(axes)}))
			return
		}
	}
	for _, a := range axes {
		at, ok := axisOf(a.low, len(f.dims))
		if !a.known() || !ok {
			c.set(0, ofUnknown(f.dtype, garner.Dim{Min: max(len(f.dims)-len(axes), 0), Max: max(len(f.dims)-min(len(axes), 1), 0)}))
			return
		}
		gone[at] = true
	}
	made := []number{}
	for i, d := range f.dims {
		if !gone[i] {
			made = append(made, d)
		}
	}
	c.set(0, of(f.dtype, made...).with(f.elems))
}

// transpose is the rule of an operator that permutes dims; nil reverses them where that is the default.
func (c *call) transpose(order []number, reverses bool) {
	f := c.at(0)
	if !f.ranked() {
		if len(order) > 0 {
			f = ofRank(f.dtype, garner.Exactly(len(order)))
		}
		c.set(0, f.bare())
		return
	}
	made := slices.Repeat([]number{anyExtent}, len(f.dims))
	switch {
	case order == nil && reverses:
		copy(made, f.dims)
		slices.Reverse(made)
	case len(order) == len(made):
		for i, from := range order {
			if at, ok := axisOf(from.low, len(made)); ok && from.known() {
				made[i] = f.dims[at]
			}
		}
	}
	out := of(f.dtype, made...)
	if len(made) <= 1 {
		out = out.with(f.elems)
	}
	c.set(0, out)
}

// concat is the rule of an operator that joins the inputs list along an axis.
func (c *call) concat(axis int64, known bool, list []fact) {
	if len(list) == 0 {
		return
	}
	d := garner.Invalid
	rank := garner.AnyDim
	for _, f := range list {
		if d == garner.Invalid {
			d = f.dtype
		}
		rank = garner.Dim{Min: max(rank.Min, f.rank.Min), Max: min(rank.Max, f.rank.Max)}
	}
	if rank.Min > rank.Max {
		c.set(0, fact{dtype: d, rank: garner.AnyDim})
		return
	}
	made := ofUnknown(d, rank)
	at, ok := axisOf(axis, len(made.dims))
	if !made.ranked() || !known || !ok {
		c.set(0, made)
		return
	}
	dims := slices.Clone(made.dims)
	dims[at] = exactly(0)
	elems := []number{}
	for _, f := range list {
		if !f.ranked() {
			dims[at] = dims[at].add(anyExtent)
			elems = nil
			continue
		}
		for i := range dims {
			if i == at {
				dims[i] = dims[i].add(f.dims[i])
			} else {
				dims[i] = f.dims[i].meet(dims[i])
			}
		}
		if f.elems == nil || elems == nil || len(elems)+len(f.elems) > mostElements || len(dims) != 1 {
			elems = nil
		} else {
			elems = append(elems, f.elems...)
		}
	}
	c.set(0, of(d, dims...).with(elems))
}

// split is the rule of an operator that cuts its input along an axis. sizes is nil where the
// parts are as equal as they can be, the last one smaller.
func (c *call) split(input int, axis int64, known bool, sizes []number, parts int64, equal bool) {
	f := c.at(input)
	at, ok := axisOf(axis, len(f.dims))
	for i := range c.out {
		switch {
		case c.node.Outputs[i] == nil: // which nothing reads
			continue
		case !f.ranked():
			c.set(i, f.bare())
			continue
		case !known || !ok:
			c.set(i, ofRank(f.dtype, f.rank))
			continue
		}
		dims := slices.Clone(f.dims)
		size := number{low: 0, high: f.dims[at].high}
		var elems []number
		switch d := f.dims[at]; {
		case i < len(sizes) && sizes[i].low >= 0:
			size = sizes[i].extent()
			if n := before(sizes, i); n >= 0 && size.known() && len(f.dims) == 1 && f.elems != nil && n+size.low <= int64(len(f.elems)) {
				elems = f.elems[n : n+size.low]
			}
		case sizes != nil || parts < 1:
		case parts == 1:
			size, elems = d, f.elems
		case equal && d.low == d.high:
			size = exactly(d.low / parts)
			if n := int64(i) * size.low; len(f.dims) == 1 && f.elems != nil && n+size.low <= int64(len(f.elems)) {
				elems = f.elems[n : n+size.low]
			}
		case equal:
			size = number{low: d.low / parts, high: d.high}
			if d.high < math.MaxInt64 {
				size.high = d.high / parts
			}
		case d.known():
			each := (d.low + parts - 1) / parts
			size = exactly(min(max(d.low-int64(i)*each, 0), each))
		}
		dims[at] = size
		c.set(i, of(f.dtype, dims...).with(elems))
	}
}

// before is the sum of the sizes before the i-th; -1 where one is not known.
func before(sizes []number, i int) int64 {
	n := int64(0)
	for _, s := range sizes[:i] {
		if !s.known() || s.low < 0 || s.low > mostElements {
			return -1
		}
		n += s.low
	}
	return n
}

// A cut is a slice of one axis.
type cut struct {
	start, stop, step number
	from, to          bool // from the first on, and to the last, whatever start and stop are
}

// length is how many elements a cut takes of an extent.
func (s cut) length(d number) number {
	most := number{low: 0, high: d.high}
	if !s.step.known() || s.step.low == 0 {
		return most
	}
	step := s.step.low
	start, stop := s.start, s.stop
	if step < 0 {
		if s.from {
			start = exactly(math.MaxInt64)
		}
		if s.to {
			stop = exactly(math.MinInt64)
		}
	} else {
		if s.from {
			start = exactly(0)
		}
		if s.to {
			stop = exactly(math.MaxInt64)
		}
	}
	if start.known() && stop.known() {
		if d.known() {
			return exactly(taken(d.low, start.low, stop.low, step))
		}
		all := step == 1 && (start.low == 0 || start.low <= -d.high && start.low < 0) && stop.low >= d.high
		if all || step == -1 && (start.low == -1 || start.low >= d.high-1) && stop.low < -d.high {
			return d
		}
		if start.low < 0 && stop.low >= 0 && stop.low < d.high || step < 0 {
			return number{low: 0, high: min(d.high, most.high)}
		}
		// Of a longer axis it takes as many or more.
		made := number{low: taken(d.low, start.low, stop.low, step), high: math.MaxInt64}
		if d.high < math.MaxInt64 {
			made.high = taken(d.high, start.low, stop.low, step)
		} else {
			made.high = taken(math.MaxInt64/4, start.low, stop.low, step)
			if made.high > math.MaxInt64/8/step {
				made.high = math.MaxInt64
			}
		}
		return made
	}
	if step == 1 && start.equals(0) && stop.low >= 0 {
		if stop.is != 0 && stop.is == d.is {
			return number{low: min(stop.low, d.low), high: min(stop.high, d.high), is: d.is}
		}
		return number{low: min(stop.low, d.low), high: min(stop.high, d.high)}
	}
	if step >= 1 && start.low >= 0 && stop.high >= 0 && stop.low >= 0 {
		most.high = min(most.high, max(stop.high-start.low, 0))
	}
	return most
}

// taken counts the elements of a slice, as ONNX Runtime, OpenVINO and Python do.
func taken(d, start, stop, step int64) int64 {
	low, high := int64(0), d
	if step < 0 {
		low, high = -1, d-1
	}
	ends := [2]int64{start, stop}
	for i, e := range ends {
		if e < 0 {
			e += d
		}
		ends[i] = min(max(e, low), high)
	}
	if step < 0 && d > 0 {
		ends[0] = max(ends[0], 0)
	}
	switch {
	case step > 0 && ends[1] > ends[0]:
		return (ends[1]-ends[0]-1)/step + 1
	case step < 0 && ends[0] > ends[1] && d > 0:
		if step == math.MinInt64 {
			return 1
		}
		return (ends[0]-ends[1]-1)/-step + 1
	}
	return 0
}

// slice is the rule of a slice along axes: cuts by axis. A nil map is one of axes that are not known.
func (c *call) slice(cuts map[int]cut) {
	f := c.at(0)
	if !f.ranked() {
		c.set(0, f.bare())
		return
	}
	dims := slices.Clone(f.dims)
	for i, d := range f.dims {
		s, ok := cuts[i]
		switch {
		case cuts == nil:
			dims[i] = number{low: 0, high: d.high}
		case ok:
			dims[i] = s.length(d)
		}
	}
	made := of(f.dtype, dims...)
	if s, ok := cuts[0]; ok && len(dims) == 1 && f.elems != nil {
		made = made.with(s.of(f.elems))
	} else if cuts != nil && len(cuts) == 0 {
		made = made.with(f.elems)
	}
	c.set(0, made)
}

// of gives the elements of a list that a cut takes; nil where that is not known.
func (s cut) of(elems []number) []number {
	n := s.length(exactly(int64(len(elems))))
	start, step, d := s.start, s.step, int64(len(elems))
	if s.from {
		if start = exactly(0); step.low < 0 {
			start = exactly(d - 1)
		}
	}
	if !n.known() || !start.known() || !step.known() {
		return nil
	}
	at := start.low
	if at < 0 {
		at += d
	}
	at = min(max(at, 0), max(d-1, 0))
	if step.low > 0 && start.low >= d {
		at = d
	}
	made := make([]number, n.low)
	for i := range made {
		if at < 0 || at >= d {
			return nil
		}
		made[i] = elems[at]
		if next, ok := sum(at, step.low); ok {
			at = next
		} else {
			at = -1
		}
	}
	return made
}

// expand is the rule of an operator that broadcasts its first input to a shape.
func (c *call) expand(shape []number) {
	f := c.at(0)
	if shape == nil {
		c.set(0, fact{dtype: f.dtype, rank: garner.Dim{Min: f.rank.Min, Max: garner.Unbounded}})
		return
	}
	to := make([]number, len(shape))
	for i, n := range shape {
		to[i] = n.extent()
	}
	if !f.ranked() {
		c.set(0, fact{dtype: f.dtype, rank: garner.Dim{Min: max(f.rank.Min, len(to)), Max: max(f.rank.Max, len(to))}})
		return
	}
	made := of(f.dtype, broadcastDims(f.dims, to)...)
	if n, ok := made.len(); ok && len(f.elems) == 1 {
		made = made.with(slices.Repeat(f.elems, n))
	}
	c.set(0, made)
}

// tile is the rule of an operator that repeats its first input along each axis.
func (c *call) tile(repeats []number, pads bool) {
	f := c.at(0)
	dims := f.dims
	if f.ranked() && pads && len(repeats) > len(dims) {
		dims = append(slices.Repeat([]number{exactly(1)}, len(repeats)-len(dims)), dims...)
	}
	if f.ranked() && pads && repeats != nil && len(repeats) < len(dims) {
		repeats = append(slices.Repeat([]number{exactly(1)}, len(dims)-len(repeats)), repeats...)
	}
	switch {
	case !f.ranked() && repeats == nil, f.ranked() && repeats == nil && pads:
		c.set(0, fact{dtype: f.dtype, rank: garner.AnyDim})
	case !f.ranked() && pads:
		c.set(0, fact{dtype: f.dtype, rank: garner.Dim{Min: len(repeats), Max: garner.Unbounded}})
	case !f.ranked():
		c.set(0, ofRank(f.dtype, garner.Exactly(len(repeats))))
	case len(repeats) != len(dims):
		c.set(0, ofRank(f.dtype, f.rank))
	default:
		made := make([]number, len(dims))
		same := true
		for i, n := range repeats {
			made[i] = dims[i].multiply(n.extent())
			same = same && n.equals(1)
		}
		out := of(f.dtype, made...)
		if same {
			out = out.with(f.elems)
		} else if n, ok := out.len(); ok && len(f.elems) == 1 {
			out = out.with(slices.Repeat(f.elems, n))
		}
		c.set(0, out)
	}
}

// pad is the rule of an operator that adds to the ends of axes.
func (c *call) pad(begin, end []number, axes []int64) {
	f := c.at(0)
	if !f.ranked() {
		c.set(0, f.bare())
		return
	}
	made := slices.Repeat([]number{anyExtent}, len(f.dims))
	if axes == nil && len(begin) == len(made) && len(end) == len(made) {
		for i, d := range f.dims {
			made[i] = padded(d, begin[i], end[i])
		}
	} else if axes != nil && len(begin) == len(axes) && len(end) == len(axes) {
		copy(made, f.dims)
		for i, a := range axes {
			at, ok := axisOf(a, len(made))
			if !ok {
				c.set(0, ofRank(f.dtype, f.rank))
				return
			}
			made[at] = padded(f.dims[at], begin[i], end[i])
		}
	}
	c.set(0, of(f.dtype, made...))
}

func padded(d, begin, end number) number {
	if begin.equals(0) && end.equals(0) {
		return d
	}
	all := d.plus(begin).plus(end)
	if all == whole {
		if begin.low >= 0 && end.low >= 0 {
			return number{low: d.low, high: math.MaxInt64}
		}
		if low, ok := sum(d.low, min(begin.low, 0)); ok {
			if low, ok = sum(low, min(end.low, 0)); ok {
				return number{low: max(low, 0), high: math.MaxInt64}
			}
		}
	}
	return all.extent()
}

// filled is the rule of an operator that makes a tensor of a shape. value is an element of it.
func (c *call) filled(d garner.DType, shape []number, value number) {
	if shape == nil {
		made := fact{dtype: d, rank: garner.AnyDim}
		if s := c.at(0); s.ranked() && len(s.dims) == 1 {
			made = ofUnknown(d, s.dims[0].dim())
		}
		c.set(0, made)
		return
	}
	dims := make([]number, len(shape))
	for i, n := range shape {
		dims[i] = n.extent()
	}
	made := of(d, dims...)
	if n, ok := made.len(); ok && value != whole {
		made = made.with(slices.Repeat([]number{value}, n))
	}
	c.set(0, made)
}

// countUp is the rule of an operator that counts from start to limit by delta.
func (c *call) countUp(d garner.DType, start, limit, delta number) {
	n := anyExtent
	switch {
	case start.equals(0) && delta.equals(1):
		if n = limit; n.low < 0 {
			n = number{low: 0, high: max(limit.high, 0)}
		}
	case delta.known() && delta.low != 0:
		steps := func(start, limit int64) (int64, bool) {
			way, ok := sum(limit, -start)
			if start == math.MinInt64 || !ok {
				return 0, false
			}
			if delta.low < 0 {
				if way == math.MinInt64 || delta.low == math.MinInt64 {
					return 0, false
				}
				way = -way
			}
			by := max(delta.low, -delta.low)
			if way <= 0 {
				return 0, true
			}
			return (way-1)/by + 1, true
		}
		a, b := [2]int64{start.high, limit.low}, [2]int64{start.low, limit.high}
		if delta.low < 0 {
			a, b = [2]int64{start.low, limit.high}, [2]int64{start.high, limit.low}
		}
		low, ok1 := steps(a[0], a[1])
		high, ok2 := steps(b[0], b[1])
		if !ok1 {
			low = 0
		}
		if !ok2 {
			high = math.MaxInt64
		}
		n = number{low: low, high: high}
	}
	made := of(d, n)
	if k, ok := made.len(); ok && start.known() && delta.known() {
		elems := make([]number, k)
		for i := range elems {
			elems[i] = start.plus(exactly(int64(i)).times(delta))
		}
		made = made.with(elems)
	}
	c.set(0, made)
}
