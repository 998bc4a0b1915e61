package shapes

import (
	"slices"

	"github.com/garner-go/garner"
)

// reduced is the dims of a value without those along axes, or with 1 in their places. A nil list
// is axes that are not known; every: along all dims.
func reduced(f fact, d garner.DType, axes []number, every, keeps bool) fact {
	if every && !keeps {
		return scalar(d)
	}
	if !f.ranked() {
		switch {
		case keeps:
			return fact{dtype: d, rank: f.rank}
		case axes != nil:
			return ofUnknown(d, garner.Dim{Min: max(f.rank.Min-len(axes), 0), Max: f.rank.Max})
		}
		return fact{dtype: d, rank: garner.Dim{Max: f.rank.Max}}
	}
	gone := make([]bool, len(f.dims))
	sure := axes != nil || every
	for _, a := range axes {
		at, ok := axisOf(a.low, len(f.dims))
		if !a.known() || !ok {
			sure = false
			break
		}
		gone[at] = true
	}
	if !sure {
		if !keeps {
			rank := garner.Dim{Max: len(f.dims)}
			if axes != nil {
				rank = garner.Dim{Min: max(len(f.dims)-len(axes), 0), Max: max(len(f.dims)-1, 0)}
			}
			return ofUnknown(d, rank)
		}
		made := slices.Clone(f.dims)
		for i, e := range made {
			made[i] = e.union(exactly(1))
		}
		return of(d, made...)
	}
	made := []number{}
	for i, e := range f.dims {
		switch {
		case !gone[i] && !every:
			made = append(made, e)
		case keeps:
			made = append(made, exactly(1))
		}
	}
	return of(d, made...)
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// reducedElements gives the one element that a reduction of a list makes.
func reducedElements(made fact, f fact, do func(e []number) number, none number) fact {
	if n, ok := made.len(); do == nil || f.elems == nil || !ok || n != 1 || len(f.dims) > 1 || made.dtype != f.dtype {
		return made
	}
	if len(f.elems) == 0 {
		return made.with([]number{none})
	}
	return made.with([]number{do(f.elems)})
}

// extreme is the rule of the position of the greatest or least element along an axis.
func (c *call) extreme(d garner.DType, axis []number, keeps bool) {
	c.set(0, reduced(c.at(0), d, axis, false, keeps))
}

// topK is the rule of the k greatest elements along an axis, and of their positions.
func (c *call) topK(axis, k number, positions garner.DType) {
	f := c.at(0)
	made := f.bare()
	if f.ranked() {
		dims := slices.Clone(f.dims)
		at, ok := axisOf(axis.low, len(dims))
		if axis.known() && ok {
			dims[at] = k.extent()
			if !k.known() {
				dims[at] = number{low: max(k.low, 0), high: min(dims[at].high, f.dims[at].high), is: k.is}
			}
		} else {
			for i := range dims {
				dims[i] = anyExtent
			}
		}
		made = of(f.dtype, dims...)
	}
	c.set(0, made)
	c.set(1, made.as(positions))
}

// nonZero is the rule of the positions of what is not 0: one column for each, or one row.
func (c *call) nonZero(d garner.DType, columns bool) {
	f := c.at(0)
	count, rank := anyExtent, number{low: int64(f.rank.Min), high: int64(min(f.rank.Max, garner.MaxRank))}
	if f.ranked() {
		count = number{low: 0, high: volume(f.dims).high}
		if len(f.dims) == 0 { // runtimes differ in what a scalar has
			rank = number{low: 0, high: 1}
		}
	} else {
		rank.low = min(rank.low, 1)
		rank.high = max(rank.high, 1)
	}
	if columns {
		c.set(0, of(d, rank, count))
	} else {
		c.set(0, of(d, count, rank))
	}
}

// oneHot is the rule of a new axis of depth positions.
func (c *call) oneHot(d garner.DType, axis int64, depth number) {
	f := c.at(0)
	if !f.ranked() {
		c.set(0, ofUnknown(d, plusRank(f.rank, 1)))
		return
	}
	at, ok := axisOf(axis, len(f.dims)+1)
	if !ok {
		c.set(0, ofRank(d, garner.Exactly(len(f.dims)+1)))
		return
	}
	c.set(0, of(d, slices.Insert(slices.Clone(f.dims), at, depth.extent())...))
}

// compress is the rule of an operator that keeps some of the elements, along an axis or of all.
func (c *call) compress(axis int64, along bool) {
	f := c.at(0)
	if !along {
		n := anyExtent
		if f.ranked() {
			n = number{low: 0, high: volume(f.dims).high}
		}
		c.set(0, of(f.dtype, n))
		return
	}
	made := f.bare()
	if at, ok := axisOf(axis, len(f.dims)); ok && f.ranked() {
		dims := slices.Clone(f.dims)
		dims[at] = number{low: 0, high: dims[at].high}
		made = of(f.dtype, dims...)
	}
	c.set(0, made)
}

// totals is the rule of running sums: the dims of its input.
func totals(c *call) { c.set(0, c.at(0).bare()) }
