package lint

import (
	"cmp"
	"math"
	"slices"

	"github.com/garner-go/garner/model"
)

// How often loop computes the values of a loop, nests included: each costs as much as
// computing them once outside of a loop.
const (
	nearWalks   = 4 // widen to the next end that something sets
	upWalks     = 9 // all that widen; then what the loop may do at most stands
	narrowWalks = 2 // narrow what was widened too far
)

// A cycle is values that depend on each other: what loops carry, and what their bodies
// compute from it.
type cycle struct {
	*linter
	values []*model.Value // in the order in which a run computes them
	back   []bool         // by value: it takes what the turn before computed
	taken  []*model.Value // what the next turn takes so
	ends   []float64      // where intervals of the loop and of its constants end, sorted
}

// loop gives the bounds of values that depend on each other.
//
// A carried value begins with what the first turn has. Each walk through the loop adds
// what the turn before computed, and widens an end that moves: first to an end that the
// loop itself sets, such as that of a Mod, later beyond. When nothing moves, the intervals
// contain every turn. The last walks compute each value from what it reads, which
// narrows what was widened too far.
//
// A walk follows the order of the model, where only what a turn takes of the turn before
// stands behind its reader. So the result does not depend on the order in which the model
// lists independent nodes, nor on the gather that asks first.
func (l *linter) loop(values []*model.Value) error {
	c := l.cycle(values)
	// What is sound whatever the turns before computed also shows where intervals may end.
	if err := c.fromAbove(); err != nil {
		return err
	}
	c.compact()
	for _, v := range c.taken {
		delete(l.ranges, v) // the first turn has none
	}
	moved := true
	for n := 0; moved && n < upWalks; n++ {
		moved = false
		err := c.walk(func(i int, now bounds) bounds {
			if !c.back[i] {
				return now
			}
			if n == 0 {
				moved = true
				return now.flat()
			}
			was := l.ranges[c.values[i]]
			now = c.widen(n, c.values[i], was, now)
			moved = moved || !was.like(now)
			return now
		})
		if err != nil {
			return err
		}
	}
	if moved {
		if err := c.fromAbove(); err != nil {
			return err
		}
	}
	for range narrowWalks {
		if err := c.walk(func(_ int, now bounds) bounds { return now }); err != nil {
			return err
		}
	}
	return nil
}

// cycle puts values into the order of the model.
func (l *linter) cycle(values []*model.Value) *cycle {
	if l.places == nil {
		l.places = placesOf(l.model.Graph)
	}
	c := &cycle{linter: l, values: slices.Clone(values), back: make([]bool, len(values)), ends: []float64{0}}
	slices.SortStableFunc(c.values, func(a, b *model.Value) int { return cmp.Compare(l.places[a], l.places[b]) })
	for i, v := range c.values {
		for _, from := range l.reads(v) {
			if b, outside := l.ranges[from]; outside {
				c.add(b)
			} else if from != nil && l.places[from] >= l.places[v] {
				c.back[i], c.taken = true, append(c.taken, from)
			}
		}
	}
	return c
}

// placesOf numbers the values of a graph in the order in which a run computes them. The
// values of a node's sub-graphs come before its outputs.
func placesOf(g *model.Graph) map[*model.Value]int32 {
	places := map[*model.Value]int32{}
	number := func(list []*model.Value) {
		for _, v := range list {
			if v != nil && places[v] == 0 {
				places[v] = int32(len(places) + 1)
			}
		}
	}
	var walk func(g *model.Graph)
	walk = func(g *model.Graph) {
		if g == nil {
			return
		}
		number(g.Inputs)
		for _, n := range g.Nodes {
			for _, s := range n.Graphs {
				walk(s.Graph)
			}
			number(n.Outputs)
		}
	}
	walk(g)
	return places
}

// walk computes each value once, and keeps what hold makes of it.
func (c *cycle) walk(hold func(i int, now bounds) bounds) error {
	for i, v := range c.values {
		now, err := c.compute(v)
		if err != nil {
			return err
		}
		c.ranges[v] = hold(i, now)
	}
	return nil
}

// fromAbove computes each value with carried ones that may be anything.
func (c *cycle) fromAbove() error {
	return c.walk(func(i int, now bounds) bounds {
		if c.back[i] {
			return anything(c.values[i])
		}
		c.add(now)
		return now
	})
}

// compact sorts the ends and drops those that are there twice.
func (c *cycle) compact() {
	slices.Sort(c.ends)
	c.ends = slices.Compact(c.ends)
}

// add adds the ends of intervals to those that widen knows.
func (c *cycle) add(b bounds) {
	if len(c.ends) == cap(c.ends) {
		c.compact() // most are there already
	}
	ends := func(i interval) {
		for _, at := range [...]float64{i.low.at, i.high.at} {
			if math.Abs(at) < exactFloat {
				c.ends = append(c.ends, at)
			}
		}
	}
	ends(b.interval)
	for _, i := range b.last {
		ends(i)
	}
}

// like reports whether two bounds say the same of a value's elements.
func (b bounds) like(other bounds) bool {
	return b.interval == other.interval && b.dtype == other.dtype && b.rank == other.rank
}

// widen is the bounds of a carried value that was in some bounds before the walk of a
// number, and may now be in others.
func (c *cycle) widen(walk int, v *model.Value, was, now bounds) bounds {
	made := join([]bounds{was.flat(), now.flat()})
	if was.rank == now.rank {
		made.rank = was.rank
	}
	made.exact = made.exact && was.interval == now.interval
	limit := whole(made.dtype, open)
	if made.low.at < was.low.at {
		made.low = c.beyond(low, made.low, walk, limit.low)
	}
	if made.high.at > was.high.at {
		made.high = c.beyond(high, made.high, walk, limit.high)
	}
	if made.why() == open && made.from == nil {
		made.from = v
	}
	return made.settled()
}

// beyond is the end that a moving end is widened to: one that something sets, then
// large ones of which arithmetic does not leave the type at once, then the type's.
func (c *cycle) beyond(sign float64, e end, walk int, limit end) end {
	n := len(c.ends)
	i, exactly := slices.BinarySearch(c.ends, e.at)
	switch {
	case walk > nearWalks: // no end of the loop
		i = -1
	case walk == nearWalks && sign == low:
		i = 0
	case walk == nearWalks:
		i = n - 1
	case sign == low && !exactly:
		i--
	}
	try := make([]end, 0, 3)
	if 0 <= i && i < n {
		try = append(try, end{c.ends[i], e.why})
	}
	if walk <= nearWalks+1 {
		try = append(try, end{-sign * (1 << 24), open})
	}
	if walk <= nearWalks+2 {
		try = append(try, end{-sign * longest, open})
	}
	for _, to := range try {
		if sign*to.at <= sign*e.at && sign*to.at >= sign*limit.at {
			return to
		}
	}
	return limit
}
