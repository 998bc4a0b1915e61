package convert

import (
	"slices"

	"github.com/garner-go/garner"
)

// An outcome is what a runtime makes of an index outside of its axis.
type outcome uint8

const (
	refused   outcome = iota // an error
	zeros                    // zeros
	undefined                // other memory
)

func (o outcome) String() string {
	return [...]string{"it refuses an index outside", "an index outside yields zeros", "an index outside reads other memory"}[o]
}

// A policy is what a runtime makes of indices.
type policy struct {
	fromEnd bool // -1 is the last of the axis; else it is outside
	outside outcome
}

func (p policy) String() string {
	if p.fromEnd {
		return "a negative index counts from the end, and " + p.outside.String()
	}
	return "a negative index is outside, and " + p.outside.String()
}

// gather makes a gather of the source's policy out of the target's, with the guards
// that the option Outside asks for. axis and batch count from the front.
//
// A guard computes from the indices i and the length s of the axis:
//
//	w    i, or i+s where i is negative and counts from the end
//	bad  w < 0 or w ≥ s
//
// It then turns a bad index into one that the target refuses, into one that the target
// answers with zeros, or into 0 and the result into zeros.
func (p *program) gather(o op, data, indices *value, axis, batch int, from policy) *value {
	if p.err != nil {
		return p.add(&node{op: o, in: []*value{data, indices}}, data.spec.DType)
	}
	to := p.target.policies[o]
	switch dtype := indices.spec.DType; {
	case !dtype.IsInteger() || dtype.Packed():
		p.fail(garner.ErrDType, "its indices are %s; they are integers of 8 bits and more", indices.spec)
	case dtype != garner.I64 && (dtype != garner.I32 || o == opGatherND):
		indices = p.cast(indices, garner.I64)
	}
	if from.outside == undefined {
		p.note("replaced", "an index outside reads other memory in %s; it is %s here", p.options.runtime, map[Outside]string{Keep: "refused", Clamp: "clamped", AsIs: "what the target makes of it"}[p.options.Outside])
		from.outside = refused
	}
	if inside := p.inside(o, data, indices, axis, from); inside != nil {
		return p.bare(o, data, inside, axis, batch)
	}
	g := &guard{program: p, op: o, data: data, indices: indices, axis: axis, batch: batch, from: from}
	switch {
	case p.options.Outside == AsIs:
		if from != to {
			p.note("unguarded", "in the source, %s; in the target, %s", from, to)
		}
		return p.bare(o, data, indices, axis, batch)
	case p.options.Outside == Clamp:
		p.note("guarded", "indices outside are clamped")
		return p.bare(o, data, g.clamped(), axis, batch)
	case from == to && (o == opGather || p.target == onnxTarget):
		return p.bare(o, data, indices, axis, batch)
	case from.outside == zeros && to.outside == zeros:
		p.note("guarded", "negative indices become the axis's length, and yield zeros")
		return p.bare(o, data, p.choose(g.negative(), g.length(), indices), axis, batch)
	case from.outside == zeros:
		p.note("guarded", "indices outside yield zeros")
		return g.zeroed()
	case p.target == onnxTarget:
		p.note("guarded", "negative indices become the axis's length, which is refused")
		return p.bare(o, data, p.choose(g.negative(), g.length(), indices), axis, batch)
	default:
		p.note("guarded", "indices outside are refused, by a GatherElements of one element; with one thread OpenVINO reports that by start_async and wait alone: its infer call loses every error of a node, and leaves the result as it was")
		return g.asserted()
	}
}

// inside gives indices of a Gather that are constants inside of a known axis, counted from the
// front: they need no guard. It gives nil for others.
func (p *program) inside(o op, data, indices *value, axis int, from policy) *value {
	length, known := data.dim(axis)
	list, ok := indices.integers()
	if o != opGather || !ok || !known {
		return nil
	}
	list = slices.Clone(list)
	for i, n := range list {
		if n < 0 && from.fromEnd {
			list[i] += int64(length)
		}
		if list[i] < 0 || list[i] >= int64(length) {
			return nil
		}
	}
	return p.whole(indices.spec.DType, indices.tensor.Rank() == 1, list...)
}

// A guard has the operands of a gather, and what is computed of them once.
type guard struct {
	*program
	op            op
	data, indices *value
	axis, batch   int
	from          policy

	s, less, w, outside *value
}

// length gives the axis's length, for GatherND the lengths of the axes of a tuple.
func (g *guard) length() *value {
	if g.s == nil {
		dtype := g.indices.spec.DType
		if g.op == opGatherND {
			g.s = g.dims(g.data, g.batch, g.components(), dtype)
		} else {
			g.s = g.program.length(g.data, g.axis, dtype)
		}
	}
	return g.s
}

// components gives the length of a tuple of GatherND.
func (g *guard) components() int {
	rank := g.needRank(g.indices)
	if rank == 0 {
		g.fail(garner.ErrShape, "its indices are a scalar; they are tuples")
		return 0
	}
	n, ok := g.indices.dim(rank - 1)
	if most := g.needRank(g.data) - g.batch; ok && n > most {
		g.fail(garner.ErrShape, "its tuples have %d components, and its data %d dims behind its batch dims", n, most)
		return 0
	}
	if !ok {
		g.fail(garner.ErrShape, "the last dim of its indices %s is not known, and a GatherND needs it for the rank of its result; declare it", g.indices.label())
	}
	return n
}

func (g *guard) number(n int64) *value { return g.program.number(g.indices.spec.DType, n) }

func (g *guard) negative() *value {
	if g.less == nil {
		g.less = g.two(opLess, g.indices, g.number(0))
	}
	return g.less
}

// positive gives w.
func (g *guard) positive() *value {
	if g.w == nil {
		if g.w = g.indices; g.from.fromEnd {
			g.w = g.choose(g.negative(), g.two(opAdd, g.indices, g.length()), g.indices)
		}
	}
	return g.w
}

func (g *guard) bad() *value {
	if g.outside == nil {
		g.outside = g.two(opOr, g.two(opLess, g.positive(), g.number(0)), g.two(opGreatEq, g.positive(), g.length()))
	}
	return g.outside
}

// clamped gives indices that the target has: those outside become the nearest.
func (g *guard) clamped() *value {
	low, i := g.number(0), g.indices
	switch {
	case !g.from.fromEnd:
	case g.target == onnxTarget:
		low = g.two(opSub, low, g.length())
	default: // OpenVINO has no negative indices everywhere
		i = g.positive()
	}
	return g.two(opMin, g.two(opMax, i, low), g.two(opSub, g.length(), g.number(1)))
}

// asserted makes a gather that OpenVINO refuses where an index is bad. Its GatherElements refuses to
// look up an element of [0] beyond 0. With one thread the infer call of OpenVINO loses that error, as
// it loses the error of any node, and leaves the result as it was; start_async and wait
// report it (testdata/record.py). w is clamped behind the guard, and no run reads other memory.
//
// Where dims are dynamic, a run that OpenVINO refuses leaves nodes behind that have been
// prepared for its shapes and have not run, and that the next run takes for those of the run
// before: it then answers with rows of another axis. So the shape of w is made to depend on the
// element that is looked up, by a Tile: OpenVINO prepares no node behind that before it has the
// element. A Reshape or a Broadcast in its place is taken for a node that does nothing, and dropped.
// Nor does OpenVINO then fold the gather of an axis of length 1, and the guard with it: a scalar
// index stays a vector until behind the gather.
func (g *guard) asserted() *value {
	bad := g.bad()
	if g.op == opGatherElements {
		bad = g.longer(bad)
	}
	bad = g.reshape(g.cast(bad, garner.I64), g.of(-1), false)
	w := g.two(opMin, g.two(opMax, g.positive(), g.number(0)), g.two(opSub, g.length(), g.number(1)))
	rank := g.needRank(w)
	scalar := rank == 0
	if scalar {
		w = g.reshape(w, g.of(1), false)
	}
	good := g.reduceProd(g.two(opSub, g.of(1), bad), []int64{0}, true)
	zero := g.add(&node{op: opGatherElements, in: []*value{g.of(0), g.two(opSub, g.of(1), good)}}, garner.I64)
	made := g.add(&node{op: opTile, in: []*value{w, g.two(opAdd, g.of(slices.Repeat([]int64{1}, max(rank, 1))...), zero)}}, w.spec.DType)
	if g.op == opGatherND { // OpenVINO wants to know how long a tuple is
		made = g.reshape(made, g.of(append(make([]int64, max(rank, 1)-1), int64(g.components()))...), true)
	}
	if made.from != nil {
		made.spec.Rank, made.spec.Dims = w.spec.Rank, w.spec.Dims
	}
	taken := g.bare(g.op, g.data, made, g.axis, g.batch)
	if scalar {
		return g.squeeze(taken, []int64{int64(g.axis)})
	}
	return taken
}

// longer is bad too where indices of GatherElements are longer than data off the axis: the
// rows that OpenVINO is given of data are as many as those of indices.
func (g *guard) longer(bad *value) *value {
	for i := range g.needRank(g.data) {
		d, ok := g.data.dim(i)
		e, also := g.indices.dim(i)
		if i != g.axis && (!ok || !also || e > d) {
			more := g.two(opGreater, g.program.length(g.indices, i, garner.I64), g.program.length(g.data, i, garner.I64))
			bad = g.two(opOr, bad, more)
		}
	}
	return bad
}

// zeroed gives the gather with zeros where an index is bad.
func (g *guard) zeroed() *value {
	dtype := g.data.spec.DType
	if !dtype.HasZero() {
		g.fail(garner.ErrDType, "%s has no zero, which an index outside yields", dtype)
	}
	rank := g.needRank(g.data)
	if g.op == opGather {
		if d, ok := g.data.dim(g.axis); !ok || d == 0 {
			// The axis may be empty, and have no row to take in a bad index's place: a row of
			// zeros is added to it.
			row := g.of(1)
			var parts []*value
			if g.axis > 0 {
				parts = append(parts, g.dims(g.data, 0, g.axis, garner.I64))
			}
			parts = append(parts, row)
			if g.axis+1 < rank {
				parts = append(parts, g.dims(g.data, g.axis+1, rank-g.axis-1, garner.I64))
			}
			row = g.expand(g.zero(dtype), g.concat(0, parts...))
			return g.bare(g.op, g.concat(g.axis, g.data, row), g.choose(g.bad(), g.length(), g.positive()), g.axis, g.batch)
		}
	}
	taken := g.bare(g.op, g.data, g.choose(g.bad(), g.number(0), g.positive()), g.axis, g.batch)
	bad := g.bad()
	switch g.op {
	case opGather:
		// The mask has the dims of indices, and the result those of data around them.
		var axes []int64
		indices := g.needRank(g.indices)
		for i := g.batch; i < g.axis; i++ {
			if g.batch > 0 {
				axes = append(axes, int64(i))
			}
		}
		first := indices
		if g.batch > 0 {
			first += g.axis - g.batch
		}
		for i := range rank - g.axis - 1 {
			axes = append(axes, int64(first+i))
		}
		bad = g.unsqueeze(bad, axes...)
	case opGatherND:
		k := g.components()
		last := int64(g.needRank(g.indices) - 1)
		var any *value // component of a tuple
		for j := range int64(k) {
			one := g.squeeze(g.cut(bad, last, j, j+1), []int64{last})
			if any == nil {
				any = one
			} else {
				any = g.two(opOr, any, one)
			}
		}
		if bad = any; k == 0 {
			return taken
		}
		var axes []int64
		for i := range rank - g.batch - k {
			axes = append(axes, last+int64(i))
		}
		bad = g.unsqueeze(bad, axes...)
	}
	if dtype == garner.Bool {
		return g.two(opAnd, taken, g.one(opNot, bad))
	}
	return g.choose(bad, g.zero(dtype), taken)
}

// bare makes the target's own gather.
func (p *program) bare(o op, data, indices *value, axis, batch int) *value {
	dtype := data.spec.DType
	switch {
	case o == opGather && batch > 0 && !p.target.batches:
		// GatherND has batch dims, of which the axis is the next: a later axis goes there.
		rank, q := p.needRank(data), p.needRank(indices)
		if p.err != nil {
			return data
		}
		if axis > batch {
			order := make([]int64, 0, rank)
			for i := range rank {
				if i == batch {
					order = append(order, int64(axis))
				}
				if i != axis {
					order = append(order, int64(i))
				}
			}
			data = p.transpose(data, order)
		}
		made := p.add(&node{op: opGatherND, in: []*value{data, p.cast(p.unsqueeze(indices, int64(q)), garner.I64)}, batch: batch}, dtype)
		if axis > batch {
			// batch, indices, middle, rest becomes batch, middle, indices, rest.
			order := make([]int64, 0, rank+q)
			span := func(from, n int) {
				for i := range n {
					order = append(order, int64(from+i))
				}
			}
			span(0, batch)
			span(q, axis-batch)
			span(batch, q-batch)
			span(q+axis-batch, rank-axis-1)
			made = p.transpose(made, order)
		}
		return made
	case o == opGatherND && p.target == irTarget:
		// OpenVINO compiles no result of unknown rank.
		(&guard{program: p, op: o, data: data, indices: indices, batch: batch}).components()
	case o == opGatherElements && p.target == irTarget:
		data = p.narrowed(data, indices, axis)
	}
	return p.add(&node{op: o, in: []*value{data, indices}, axis: axis, batch: batch}, dtype)
}

// narrowed cuts data to the dims of indices off the axis, as OpenVINO's GatherElements
// wants them. It gathers the rows: OpenVINO drops a Slice whose ends it does not know.
func (p *program) narrowed(data, indices *value, axis int) *value {
	rank := p.needRank(data)
	if q := p.needRank(indices); q != rank {
		p.fail(garner.ErrShape, "its data has %d dims and its indices %d", rank, q)
		return data
	}
	for i := range rank {
		d, ok := data.dim(i)
		e, also := indices.dim(i)
		if i == axis || ok && also && d == e {
			continue
		}
		if ok && also && d < e {
			p.fail(garner.ErrShape, "its indices %s are longer than data %s along axis %d", indices.spec, data.spec, i)
		}
		rows := p.add(&node{op: opRange, in: []*value{p.number(garner.I64, 0), p.length(indices, i, garner.I64), p.number(garner.I64, 1)}}, garner.I64)
		data = p.add(&node{op: opGather, in: []*value{data, rows}, axis: i}, data.spec.DType)
	}
	return data
}
