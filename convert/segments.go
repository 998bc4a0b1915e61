package convert

import (
	"context"
	"math"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/departures"
)

// Bags of TensorFlow, whose CPU adds floats in an order of its own: the terms of a short segment one after the other, those of a
// long one as departures.BagHead says, and to that the sum of each group that follows. So the target adds
// twice: the rows of a group, and the groups of a segment. f16 and bf16 are added in f32, and rounded once.

// segments has the operands of a SparseSegmentSum, Mean or SqrtN.
type segments struct {
	*call
	ids   *value // the segment of each index, then count, that of a row of zeros
	count *value // how many segments, as a vector of one
	known int    // the same, where it is constant, or -1

	first *value // where the segment of an index begins, that of each term
	terms *value // how many terms it has
}

// segmentReduction converts a SparseSegmentSum, Mean or SqrtN, with a number of segments or without.
func segmentReduction(how garner.Reduction) func(g *call) {
	return func(g *call) {
		data := g.in(0)
		dtype := data.spec.DType
		switch {
		case dtype == garner.F32 || dtype == garner.F16 || dtype == garner.I32 && how == garner.Sum:
		case g.target == irTarget:
			g.fail(garner.ErrDType, "%s of %s is not converted to %s; that of f32 and f16 is, and the sum of i32", g.node.Op, dtype, g.target.name)
			return
		case dtype != garner.BF16 && (dtype != garner.I64 || how != garner.Sum):
			g.fail(garner.ErrDType, "%s of %s is not converted; that of f32, f16 and bf16 is, and the sum of i32 and i64", g.node.Op, dtype)
			return
		}
		if how == garner.SqrtN && g.target == irTarget {
			g.fail(ErrUnsupported, "OpenVINO divides by a product with the reciprocal, which differs from TensorFlow's quotient by a root")
		}
		if rank := g.needRank(data); rank == 0 || g.err != nil {
			return
		}
		g.needColumns(data)
		for _, v := range []*value{g.in(1), g.in(2)} {
			if n, ok := v.dim(0); ok && n == 0 && g.target == irTarget {
				g.fail(ErrUnsupported, "it has no indices, and OpenVINO does not load what nodes compute of none; declare them of any length")
			}
		}
		if g.err != nil {
			return
		}
		rows := g.gather(opGather, data, g.in(1), 0, 0, tensorflowGather)
		s := g.segments()
		if g.err != nil {
			return
		}
		if dtype.IsFloat() {
			rows = g.cast(rows, garner.F32)
			if dtype != garner.F16 { // whose denormals are none of f32
				g.note("differs", "TensorFlow takes denormal terms, sums and means of two terms and more for 0, and %s does not", g.target.runtime)
			}
		}
		g.set(g.cast(s.reduce(rows, how), dtype))
	}
}

// needColumns refuses a table whose rows are known to have no elements: ScatterElements refuses those, or looks at no segment.
func (g *call) needColumns(table *value) {
	for axis, d := range table.spec.Dims {
		if axis > 0 && d.Known() && d.Min == 0 {
			g.fail(ErrUnsupported, "the rows of its table %s have no elements, and %s does not refuse of such a bag what %s refuses", table.spec, g.target.name, g.options.runtime)
		}
	}
}

// segments reads the segment ids, with the guards that the option Outside asks for.
func (g *call) segments() *segments {
	s := &segments{call: g, known: -1}
	ids, given := g.in(1), g.folded(g.in(2))
	of := g.cast(given, garner.I64)
	zero, one := g.of(0), g.of(1)
	if g.has(3) {
		s.count = g.cast(g.in(3), garner.I64)
		if list, fixed := s.count.integers(); fixed {
			s.count = g.of(list...)
		} else {
			s.count = g.reshape(s.count, one, false)
		}
	} else if last, ok := g.lastOf(given); ok {
		s.count = g.of(max(last, -1) + 1) // OpenVINO knows it too, and what follows is written for dims that both know
	} else {
		s.count = g.two(opAdd, g.reshape(g.cut(g.concat(0, g.of(-1), of), 0, -1, math.MaxInt32), one, false), one)
	}
	if list, fixed := s.count.integers(); fixed && len(list) == 1 && list[0] <= math.MaxInt32 {
		s.known = int(max(list[0], 0))
	}
	g.endsOf(of, g.bags(s.count))
	if g.has(3) {
		g.looksUp(opGather, g.bags(s.count), s.count, 0, 0).ends = howMany
	}
	// One more segment, of a row of zeros, is cut off in the end: OpenVINO gives other memory where a bag has no indices at all.
	if g.options.Outside == Keep {
		var bad *value // nil: known to be none
		n, known := ids.dim(0)
		if m, also := of.dim(0); !known || !also || m != n {
			bad = g.one(opNot, g.two(opEqual, g.dims(ids, 0, 1, garner.I64), g.dims(of, 0, 1, garner.I64)))
		}
		if count, fixed := s.count.integers(); given.held() && (fixed || !g.has(3)) {
			if !g.has(3) {
				count = nil // the last of them and one more
			}
			g.rises(given, count)
		} else { // from 0 to the last of count
			all := g.concat(0, zero, of, g.two(opSub, s.count, g.two(opMin, g.dims(of, 0, 1, garner.I64), one)))
			falls := g.ordered(opLess, g.cut(all, 0, 1, math.MaxInt32), g.cut(all, 0, 0, -1))
			if bad != nil {
				falls = g.two(opOr, falls, bad)
			}
			bad = falls
		}
		s.count = g.two(opMax, s.count, zero)
		s.ids = g.concat(0, of, s.count)
		if bad != nil {
			g.note("guarded", "segment ids that fall, that are no segment, or that are not one for each index are refused")
			s.ids = g.unless(bad, s.ids)
		}
	} else {
		g.note("guarded", "segment ids that are no segment are left out")
		s.count = g.two(opMax, s.count, zero)
		outside := g.two(opOr, g.ordered(opLess, of, zero), g.ordered(opGreatEq, of, s.count))
		s.ids = g.concat(0, g.choose(outside, s.count, of), s.count)
	}
	if g.target == irTarget && !s.ids.varies() {
		if !ids.varies() {
			g.fail(ErrUnsupported, "its segment ids and its indices are constant, and OpenVINO does not load what nodes compute of these; make one an input")
		}
		// So they wait for the indices, by a guard that refuses none.
		none := g.number(ids.spec.DType, 0)
		s.ids = g.unless(g.two(opLess, g.two(opMax, ids, none), none), s.ids)
	}
	begins := g.one(opNot, g.two(opEqual, g.two(opSub, s.ids, g.concat(0, g.of(-1), g.cut(s.ids, 0, 0, -1))), zero))
	starts := g.positionsOf(begins)
	which := g.two(opSub, g.runningSum(begins), one)
	s.first = g.bare(opGather, starts, which, 0, 0)
	ends := g.concat(0, g.cut(starts, 0, 1, math.MaxInt32), g.dims(s.ids, 0, 1, garner.I64))
	s.terms = g.two(opSub, g.bare(opGather, ends, which, 0, 0), s.first)
	return s
}

// rises refuses constant segment ids that every run refuses. count is the number of segments; nil: any.
func (g *call) rises(of *value, count []int64) {
	dtype, least := of.spec.DType, int64(0)
	size := dtype.Bits() / 8
	err := of.each(context.Background(), func(_ int64, b []byte) error {
		for ; len(b) >= size; b = b[size:] {
			n := integerOf(dtype, b)
			if n < least || len(count) == 1 && n >= count[0] {
				g.fail(garner.ErrShape, "its constant segment ids have %d, which falls or is no segment: every run is refused; mend the model", n)
			}
			least = n
		}
		return nil
	})
	if err != nil && g.err == nil {
		g.err = err
	}
}

// lastOf gives the last of constant segment ids, -1 where there are none.
func (g *call) lastOf(of *value) (int64, bool) {
	last, dtype := int64(-1), of.spec.DType
	if !of.held() || of.spec.Rank.Min != 1 {
		return last, false
	}
	size := dtype.Bits() / 8
	err := of.each(context.Background(), func(_ int64, b []byte) error {
		if len(b) >= size {
			last = integerOf(dtype, b[len(b)-size:])
		}
		return nil
	})
	if err != nil && g.err == nil {
		g.err = err
	}
	return last, err == nil
}

// unless gives a vector that the target has only where nothing is bad.
func (p *program) unless(bad, x *value) *value {
	if p.target == irTarget {
		guard := &guard{program: p}
		made := p.add(&node{op: opTile, in: []*value{x, p.two(opAdd, p.of(1), guard.zeroUnless(bad))}}, x.spec.DType)
		made.spec = x.spec
		return made
	}
	// A bad one makes all of them too great for the ScatterElements that adds them.
	any := p.add(&node{op: opReduceMax, in: []*value{p.cast(bad, garner.I64)}, list: []int64{0}, flag: true}, garner.I64)
	return p.two(opAdd, x, p.two(opMul, any, p.of(math.MaxInt32)))
}

// positionsOf gives the positions at which a vector is true, once at least: the last one too.
func (p *program) positionsOf(x *value) *value {
	zero := p.number(garner.I64, 0)
	places := p.runningSum(x)
	room := p.reshape(p.two(opAdd, p.cut(places, 0, -1, math.MaxInt32), p.of(1)), p.of(1), false) // the first is for those at which it is not
	at := p.choose(x, places, zero)
	made := p.add(&node{op: opScatter, in: []*value{p.expand(zero, room), at, p.iota(p.length(x, 0, garner.I64))}}, garner.I64)
	return p.cut(made, 0, 1, math.MaxInt32)
}

// ofGroup gives the remainders of a division by the terms of a group.
func (p *program) ofGroup(x *value) *value {
	if p.target == irTarget { // which divides in f32
		return p.two(opBitAnd, x, p.number(garner.I64, departures.BagGroup-1))
	}
	return p.two(opFloorMod, x, p.number(garner.I64, departures.BagGroup))
}

// runningSum tells of each element of a vector how many are true up to it.
func (p *program) runningSum(x *value) *value {
	return p.add(&node{op: opCumSum, in: []*value{p.cast(x, garner.I64)}}, garner.I64)
}

// reduce adds the rows of each segment, and divides the sum by the number of them, or by its root.
func (s *segments) reduce(rows *value, how garner.Reduction) *value {
	zero, one := s.number(garner.I64, 0), s.number(garner.I64, 1)
	rows = s.concat(0, rows, s.rowOf(s.zero(rows.spec.DType), rows))
	more := s.two(opAdd, s.count, s.of(1))
	if !rows.spec.DType.IsFloat() {
		return s.kept(s.addRows(rows, s.ids, more))
	}
	// Term k of a segment begins a group where it is the first, the first behind the head, or a group behind such a one.
	at := s.two(opSub, s.iota(s.length(s.ids, 0, garner.I64)), s.first)
	rest := s.ofGroup(s.terms)
	few := s.cast(s.two(opLess, rest, s.number(garner.I64, departures.LongBag-departures.BagGroup)), garner.I64)
	behind := s.two(opSub, at, s.two(opAdd, rest, s.two(opMul, few, s.number(garner.I64, departures.BagGroup))))
	long := s.two(opGreatEq, s.terms, s.number(garner.I64, departures.LongBag))
	later := s.two(opAnd, s.two(opGreatEq, behind, zero), s.two(opEqual, s.ofGroup(behind), zero))
	begins := s.two(opOr, s.two(opEqual, at, zero), s.two(opAnd, long, later))
	groups, group := s.positionsOf(begins), s.two(opSub, s.runningSum(begins), one)
	sums := s.addRows(rows, group, s.dims(groups, 0, 1, garner.I64))
	var columns []int64
	for i := range int64(s.needRank(rows) - 1) {
		columns = append(columns, i+1)
	}
	if how != garner.Sum { // of few terms, whose sum is one group: a product with the rounded reciprocal
		terms := s.two(opMin, s.bare(opGather, s.terms, groups, 0, 0), s.number(garner.I64, departures.LongBag))
		sums = s.two(opMul, sums, s.unsqueeze(s.bare(opGather, s.reciprocals(how), terms, 0, 0), columns...))
	}
	if s.target == irTarget && how == garner.Mean {
		return s.kept(s.meanOfLong(sums, begins, long, group, groups, more))
	}
	made := s.kept(s.addRows(sums, s.bare(opGather, s.ids, groups, 0, 0), more))
	if s.target == irTarget {
		return made
	}
	// A sum begins at -0, and that of no terms is 0.
	ones := s.expand(one, s.shape(s.ids))
	terms := s.kept(s.scatterAdd(s.expand(zero, more), s.ids, ones))
	if how != garner.Sum {
		n := s.cast(s.choose(s.two(opLess, terms, s.number(garner.I64, departures.LongBag)), one, terms), garner.F32)
		if how == garner.SqrtN {
			n = s.one(opSqrt, n)
		}
		made = s.two(opDiv, made, s.unsqueeze(n, columns...))
	}
	return s.choose(s.unsqueeze(s.two(opEqual, terms, zero), columns...), s.zero(garner.F32), made)
}

// kept cuts off the segment that is one more.
func (s *segments) kept(x *value) *value {
	made := s.slice(x, s.of(0), s.count, s.of(0), nil)
	if s.known >= 0 && len(made.spec.Dims) > 0 {
		made.spec.Dims = slices.Clone(made.spec.Dims)
		made.spec.Dims[0] = garner.Exactly(s.known)
	}
	return made
}

// rowOf gives a row of one number for a table of rows.
func (p *program) rowOf(x, rows *value) *value {
	dims := p.of(1)
	if rank := p.needRank(rows); rank > 1 {
		dims = p.concat(0, dims, p.dims(rows, 1, rank-1, garner.I64))
	}
	return p.expand(x, dims)
}

// reciprocals are of 0 to departures.LongBag terms: 1 where the mean is a quotient.
func (p *program) reciprocals(how garner.Reduction) *value {
	list := make([]float32, departures.LongBag+1)
	for i := range list {
		switch list[i] = 1; {
		case i == 0 || i == departures.LongBag:
		case how == garner.SqrtN:
			list[i] = 1 / float32(math.Sqrt(float64(i)))
		default:
			list[i] = 1 / float32(i)
		}
	}
	return p.hold(garner.Of(list, len(list)))
}

// addRows adds the rows of each of n bags one after the other; of says whose each is, and does not fall.
func (p *program) addRows(rows, of, n *value) *value {
	dtype, rank := rows.spec.DType, p.needRank(rows)
	if p.target == irTarget {
		if rank == 1 {
			rows = p.unsqueeze(rows, 1)
		}
		made := p.add(&node{op: opBag, mode: "EmbeddingSegmentsSum", in: []*value{rows, p.iota(p.length(of, 0, garner.I64)), of, p.squeeze(n, []int64{0})}}, dtype)
		if rank == 1 {
			made = p.squeeze(made, []int64{1})
		}
		return made
	}
	start := p.zero(dtype)
	if dtype.IsFloat() {
		start = p.minusZero()
	}
	shape := n
	var columns []int64
	if rank > 1 {
		shape = p.concat(0, n, p.dims(rows, 1, rank-1, garner.I64))
	}
	for i := range int64(rank - 1) {
		columns = append(columns, i+1)
	}
	return p.scatterAdd(p.expand(start, shape), p.expand(p.unsqueeze(of, columns...), p.shape(rows)), rows)
}

// minusZero is the number to which a first term is added as it is.
func (p *program) minusZero() *value {
	return p.hold(garner.Of([]float32{float32(math.Copysign(0, -1))}))
}

// meanOfLong adds the sums of groups, and divides those of many terms by their number. OpenVINO divides by a product with the
// reciprocal, but in its bags: so a bag of many terms has as many here, of which those that begin no group are rows of -0.
func (s *segments) meanOfLong(sums, begins, long, group, groups, more *value) *value {
	rank := s.needRank(sums)
	terms := s.positionsOf(s.two(opOr, begins, long))
	which := s.choose(begins, group, s.dims(groups, 0, 1, garner.I64))
	of := s.bare(opGather, s.ids, terms, 0, 0)
	n := s.length(terms, 0, garner.I64)
	ones := s.expand(s.number(garner.I32, 1), s.reshape(n, s.of(1), false))
	offsets := s.add(&node{op: opCumSum, in: []*value{s.cast(s.addRows(ones, of, more), garner.I64)}, flag: true}, garner.I64)
	table := s.concat(0, sums, s.rowOf(s.minusZero(), sums))
	if rank == 1 {
		table = s.unsqueeze(table, 1)
	}
	made := s.add(&node{op: opBag, mode: "EmbeddingBagOffsets", flag: true, in: []*value{table, s.bare(opGather, which, terms, 0, 0), offsets}}, sums.spec.DType)
	if rank == 1 {
		made = s.squeeze(made, []int64{1})
	}
	return made
}
