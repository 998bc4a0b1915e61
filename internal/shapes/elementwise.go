package shapes

import (
	"slices"

	"github.com/garner-go/garner"
)

// first is the rule of an operator whose result is like its first input, with other elements.
func first(c *call) { c.set(0, c.at(0).bare()) }

// copied is the rule of an operator whose result is its first input.
func copied(c *call) { c.set(0, c.at(0)) }

// firstAs is first with a dtype that the operator always has.
func firstAs(d garner.DType) rule { return func(c *call) { c.set(0, c.at(0).as(d)) } }

// broadcastDim is the extent of a dim of two operands that broadcast: equal, or one of them is 1.
func broadcastDim(a, b number) number {
	switch {
	case a.equals(1):
		return b
	case b.equals(1):
		return a
	case a == b:
		return a
	case !a.has(1) && !b.has(1):
		return a.meet(b)
	case !a.has(1): // b is as a, or 1
		return a
	case !b.has(1):
		return b
	}
	return a.union(b)
}

// broadcastDims is the dims of two operands that broadcast, aligned at the last. It gives one of
// them where the result is the same.
func broadcastDims(a, b []number) []number {
	if len(a) < len(b) {
		a, b = b, a
	}
	made := a
	for i, d := range b {
		at := len(a) - len(b) + i
		if e := broadcastDim(a[at], d); e != made[at] {
			if &made[0] == &a[0] {
				made = slices.Clone(a)
			}
			made[at] = e
		}
	}
	if len(a) == len(b) && slices.Equal(made, b) {
		return b
	}
	return made
}

// broadcastFacts is the dims of operands that broadcast, of a dtype.
func broadcastFacts(d garner.DType, list ...fact) fact {
	made := scalar(d)
	for i, f := range list {
		switch {
		case i == 0:
			made = f.as(d)
		case made.ranked() && f.ranked():
			made.dims = broadcastDims(made.dims, f.dims)
			made.rank = garner.Exactly(len(made.dims))
		default:
			made = ofUnknown(d, garner.Dim{Min: max(made.rank.Min, f.rank.Min), Max: max(made.rank.Max, f.rank.Max)})
		}
	}
	return made
}

// ofUnknown is a fact of a rank in bounds.
func ofUnknown(d garner.DType, rank garner.Dim) fact {
	if rank.Known() {
		return ofRank(d, rank)
	}
	return fact{dtype: d, rank: rank}
}

// element gives the i-th of n elements of an operand that broadcasts, where it has as many or one.
func element(list []number, i, n int) (number, bool) {
	switch len(list) {
	case n:
		return list[i], true
	case 1:
		return list[0], true
	}
	return number{}, false
}

// eachOf gives the elements of a result that broadcasts its operands, where those are followed.
func eachOf(made fact, do func(e []number) number, operands ...fact) []number {
	n, ok := made.len()
	if !ok {
		return nil
	}
	list := make([]number, n)
	e := make([]number, len(operands))
	for i := range list {
		for j, f := range operands {
			if f.elems == nil || len(f.elems) == n && len(made.dims) != len(f.dims) && slices.ContainsFunc(made.dims, func(d number) bool { return d.low > 1 && d.low < int64(n) }) {
				return nil // it does not count through the result in its own order
			}
			if e[j], ok = element(f.elems, i, n); !ok {
				return nil
			}
		}
		list[i] = do(e)
	}
	return list
}

// elementwise is the rule of arithmetic on operands that broadcast. The result has the dtype of the
// first whose dtype is known. do is what it does to elements, nil where that is not followed.
func elementwise(do func(e []number) number) rule {
	return func(c *call) {
		d := garner.Invalid
		for i := range c.in {
			if c.has(i) && d == garner.Invalid {
				d = c.in[i].dtype
			}
		}
		c.broadcast(d, do)
	}
}

// compare is the rule of a comparison, whose result is bool.
func compare(do func(e []number) number) rule {
	return func(c *call) { c.broadcast(garner.Bool, do) }
}

func (c *call) broadcast(d garner.DType, do func(e []number) number) {
	var list []fact
	for i := range c.in {
		if c.has(i) {
			list = append(list, c.in[i])
		}
	}
	if len(list) == 0 {
		return
	}
	made := broadcastFacts(d, list...)
	if do != nil {
		made = made.with(eachOf(made, do, list...))
	}
	c.set(0, made)
}

// over2 makes a function of the elements of operands one of any two of them, from left to right.
func over2(do func(a, b number) number) func(e []number) number {
	return func(e []number) number {
		made := e[0]
		for _, n := range e[1:] {
			made = do(made, n)
		}
		return made
	}
}

var (
	plus  = over2(number.plus)
	minus = over2(number.minus)
	times = over2(number.times)
	least = over2(func(a, b number) number {
		return number{low: min(a.low, b.low), high: min(a.high, b.high), is: common(a, b)}
	})
	greater = over2(func(a, b number) number {
		return number{low: max(a.low, b.low), high: max(a.high, b.high), is: common(a, b)}
	})

	// Whole numbers are divided towards 0 by some operators and down by others: they agree from 0 on.
	divide = over2(func(a, b number) number {
		if a.low < 0 && !b.equals(1) {
			return whole
		}
		return a.over(b)
	})
	remainder = over2(func(a, b number) number {
		if a.low < 0 || b.low < 1 {
			return whole
		}
		if a.high < b.low {
			return a
		}
		return number{low: 0, high: min(a.high, b.high-1)}
	})

	isEqual = over2(func(a, b number) number {
		switch {
		case a.known() && b.known() && a.low == b.low:
			return exactly(1)
		case a.high < b.low || b.high < a.low:
			return exactly(0)
		}
		return number{low: 0, high: 1}
	})
	isLess = over2(func(a, b number) number {
		switch {
		case a.high < b.low:
			return exactly(1)
		case a.low >= b.high:
			return exactly(0)
		}
		return number{low: 0, high: 1}
	})
	isGreater = over2(func(a, b number) number { return isLess([]number{b, a}) })
	isAtMost  = over2(func(a, b number) number { return opposite([]number{isLess([]number{b, a})}) })
	isAtLeast = over2(func(a, b number) number { return opposite([]number{isLess([]number{a, b})}) })

	both  = over2(func(a, b number) number { return number{low: min(a.low, b.low), high: min(a.high, b.high)} })
	oneOf = over2(func(a, b number) number { return number{low: max(a.low, b.low), high: max(a.high, b.high)} })
)

// common is the symbol of both numbers, 0 where they have two.
func common(a, b number) symbol {
	if a.is == b.is {
		return a.is
	}
	return 0
}

// opposite is what is not.
func opposite(e []number) number { return number{low: 1 - e[0].high, high: 1 - e[0].low} }

// unary is the rule of an operator on each element of its one input.
func unary(do func(e []number) number) rule {
	return func(c *call) {
		made := c.at(0).bare()
		c.set(0, made.with(eachOf(made, do, c.at(0))))
	}
}

var (
	negative = func(e []number) number { return e[0].negated() }
	absolute = func(e []number) number {
		if e[0].low >= 0 {
			return e[0]
		}
		n := e[0].negated()
		return number{low: max(e[0].low, n.low, 0), high: max(e[0].high, n.high)}
	}
)

// choose is the rule of Where: of a condition and two operands.
func choose(c *call) {
	d := c.dtype(1)
	if d == garner.Invalid {
		d = c.dtype(2)
	}
	made := broadcastFacts(d, c.at(0), c.at(1), c.at(2))
	c.set(0, made.with(eachOf(made, func(e []number) number {
		switch {
		case e[0].equals(0):
			return e[2]
		case e[0].low >= 1:
			return e[1]
		}
		return e[1].union(e[2])
	}, c.at(0), c.at(1), c.at(2))))
}

// cast is the rule of an operator that changes the dtype of its first input.
func cast(to garner.DType) rule {
	return func(c *call) {
		f := c.at(0)
		made := f.as(to)
		if f.elems != nil && to == garner.Bool {
			made = made.with(eachOf(made, func(e []number) number {
				switch {
				case e[0].equals(0):
					return exactly(0)
				case !e[0].has(0):
					return exactly(1)
				}
				return number{low: 0, high: 1}
			}, f))
		} else if to.IsInteger() {
			made = made.with(f.elems)
		}
		c.set(0, made)
	}
}
