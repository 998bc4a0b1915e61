package convert

import (
	"context"
	"math"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
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
func (p *program) gather(o op, data, indices *value, axis, batch int, from policy) (made *value) {
	return p.gatherBy(o, data, indices, axis, batch, from, p.target.policies[o], nil)
}

// gatherBy is gather where the target's own gather is what take makes, of a policy of its own; nil: bare. data is the
// table then.
func (p *program) gatherBy(o op, data, indices *value, axis, batch int, from, to policy, take func(indices *value) *value) (made *value) {
	if p.err != nil {
		return p.add(&node{op: o, in: []*value{data, indices}}, data.spec.DType)
	}
	indices = p.folded(indices)
	p.guarding = true
	defer func() { p.guarding = false }()
	noted := p.looksUp(o, data, indices, axis, batch)
	refuses, given := from.outside == refused, indices
	switch dtype := indices.spec.DType; {
	case !dtype.IsInteger() || dtype.Packed():
		p.fail(garner.ErrDType, "its indices are %s; they are integers of 8 bits and more", indices.spec)
	case dtype != garner.I64 && (dtype != garner.I32 || o == opGatherND):
		indices = p.cast(indices, garner.I64)
	}
	if from.outside == undefined {
		p.note("differs", "an index outside reads other memory in %s; it is %s here", p.options.runtime, map[Outside]string{Keep: "refused", Clamp: "clamped", AsIs: "what the target makes of it"}[p.options.Outside])
		from.outside = refused
	}
	if take == nil {
		take = func(indices *value) *value { return p.bare(o, data, indices, axis, batch) }
	}
	g := &guard{program: p, op: o, data: data, indices: indices, axis: axis, batch: batch, from: from, take: take}
	if inside := g.inside(given); inside != nil {
		return take(inside)
	}
	p.emptyIndices(o, given)
	if refuses && p.options.Outside == Keep {
		noted.guard = g
		defer func() { noted.made = made }()
	}
	switch {
	case p.options.Outside == AsIs:
		if from != to {
			p.note("unguarded", "in the source, %s; in the target, %s", from, to)
		}
		return take(indices)
	case p.options.Outside == Clamp:
		p.note("guarded", "indices outside are clamped")
		return take(g.clamped())
	case from == to && (o == opGather || p.target == onnxTarget):
		return take(indices)
	case from.outside == zeros && to.outside == zeros:
		p.note("guarded", "negative indices become the axis's length, and yield zeros")
		return take(p.choose(g.negative(), g.length(), indices))
	case from.outside == zeros:
		p.note("guarded", "indices outside yield zeros")
		return g.zeroed()
	case p.target == onnxTarget:
		p.note("guarded", "negative indices become the axis's length, which is refused")
		return take(p.choose(g.negative(), g.length(), indices))
	default:
		p.note("guarded", "indices outside are refused, by a GatherElements of one element; with one thread OpenVINO reports that by start_async and wait alone: its infer call loses every error of a node, and leaves the result as it was")
		return g.asserted()
	}
}

// inside gives constant indices of known axes that are all inside, as the target counts them: they
// need no guard. It gives nil for others, and refuses one outside where the target
// would be a model that OpenVINO does not load, because it knows all of its guard.
func (g *guard) inside(given *value) *value {
	lengths := g.lengths()
	dtype := given.spec.DType
	switch {
	case lengths == nil:
		return nil
	case g.op == opGatherElements && empty(given.spec):
		return g.indices
	case !given.held():
		return nil
	}
	negative, within := false, true
	size, last := dtype.Bits()/8, len(lengths)-1
	component := -1
	err := given.each(context.Background(), func(_ int64, b []byte) error {
		for ; len(b) >= size && within; b = b[size:] {
			if component++; component > last {
				component = 0
			}
			i, length := integerOf(dtype, b), int64(lengths[component])
			less := i < 0 && g.from.fromEnd
			negative = negative || less
			if less {
				i += length
			}
			if within = i >= 0 && i < length; !within && g.target == irTarget && g.from.outside == refused && g.options.Outside == Keep {
				g.fail(garner.ErrShape, "its constant indices have %d, which is outside of an axis of %d: every run is refused; mend the model, or set Outside to Clamp", integerOf(dtype, b), length)
			}
		}
		return nil
	})
	switch {
	case err != nil:
		if g.err == nil {
			g.err = err
		}
		return g.indices
	case !within:
		return nil
	case negative && (g.op == opGatherElements || g.target != onnxTarget):
		return g.positive()
	}
	return g.indices
}

// foldMost is how many bytes a run may take that folds indices.
const foldMost = 1 << 20

// folded gives indices that nodes compute of constants as one constant, as garner's own run of the
// source has them. Those that it does not run, or that take more than foldMost, stay as they are.
func (p *program) folded(indices *value) *value {
	if p.err != nil || p.at == nil || indices.held() || indices.varies() {
		return indices
	}
	for _, v := range p.at.Inputs {
		if v == nil || p.values[v] != indices {
			continue
		}
		made, err := run.Values(context.Background(), p.source, []*model.Value{v}, nil, foldMost)
		if err == nil {
			made[0], err = made[0].Clone()
		}
		if err != nil || made[0].DType() != indices.spec.DType {
			return indices
		}
		constant := p.hold(made[0])
		constant.wanted = v.Name
		return constant
	}
	return indices
}

// lengths gives the axes that indices are of, those of a tuple of GatherND one after the other; nil where one is not known.
func (g *guard) lengths() []int {
	first, n := g.axis, 1
	switch rank, _ := g.indices.rank(); g.op {
	case opGatherND:
		if first, n = g.batch, g.components(); n == 0 {
			return nil
		}
	case opGatherElements, opScatter:
		for i := range rank {
			d, ok := g.data.dim(i)
			if e, also := g.indices.dim(i); i != g.axis && (!ok || !also || e > d) {
				return nil
			}
		}
	}
	list := make([]int, n)
	for i := range list {
		d, ok := g.data.dim(first + i)
		if !ok {
			return nil
		}
		list[i] = d
	}
	return list
}

// integerOf reads a little-endian integer; one of u64 that i64 does not hold is the greatest of i64.
func integerOf(dtype garner.DType, b []byte) int64 {
	bits := dtype.Bits()
	var n uint64
	for i := range bits / 8 {
		n |= uint64(b[i]) << (8 * i)
	}
	switch {
	case !dtype.IsUnsigned():
		return int64(n<<(64-bits)) >> (64 - bits)
	case n > math.MaxInt64:
		return math.MaxInt64
	}
	return int64(n)
}

// A guard has the operands of a gather, and what is computed of them once.
type guard struct {
	*program
	op            op
	data, indices *value
	axis, batch   int
	from          policy
	take          func(indices *value) *value // makes the target's own gather

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
	if ok && n == 0 && g.target == irTarget {
		g.fail(ErrUnsupported, "its tuples have no components, which OpenVINO does not load")
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

// vast reports whether an axis is known to have more rows than OpenVINO's comparisons tell apart.
func (g *guard) vast() bool {
	return slices.ContainsFunc(g.data.spec.Dims, func(d garner.Dim) bool { return d.Known() && d.Min >= 1<<24 })
}

// selected is choose of indices.
func (g *guard) selected(condition, x, y *value) *value {
	if g.vast() {
		return g.choose(condition, x, y)
	}
	return g.add(&node{op: opSelect, in: []*value{condition, x, y}}, x.spec.DType)
}

// positive gives w.
func (g *guard) positive() *value {
	if g.w == nil {
		if g.w = g.indices; g.from.fromEnd {
			g.w = g.selected(g.negative(), g.two(opAdd, g.indices, g.length()), g.indices)
		}
	}
	return g.w
}

func (g *guard) bad() *value {
	if g.outside == nil {
		compare := g.two
		if g.vast() {
			compare = g.ordered
		}
		g.outside = g.two(opOr, compare(opLess, g.positive(), g.number(0)), compare(opGreatEq, g.positive(), g.length()))
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
	scalar := g.needRank(g.indices) == 0
	made := g.certain(g.refuses())
	taken := g.take(made)
	if scalar {
		return g.squeeze(taken, []int64{int64(g.axis)})
	}
	return taken
}

// certain gives w, clamped, that OpenVINO has only where nothing is bad; a vector of one where it is a scalar.
func (g *guard) certain(bad *value) *value {
	zero := g.zeroUnless(bad)
	w := g.two(opMin, g.two(opMax, g.positive(), g.number(0)), g.two(opSub, g.length(), g.number(1)))
	rank := g.needRank(w)
	if rank == 0 {
		w = g.reshape(w, g.of(1), false)
	}
	made := g.add(&node{op: opTile, in: []*value{w, g.two(opAdd, g.of(slices.Repeat([]int64{1}, max(rank, 1))...), zero)}}, w.spec.DType)
	if g.op == opGatherND { // OpenVINO wants to know how long a tuple is
		made = g.reshape(made, g.of(append(make([]int64, max(rank, 1)-1), int64(g.components()))...), true)
	}
	if made.from != nil {
		made.spec.Rank, made.spec.Dims = w.spec.Rank, w.spec.Dims
	}
	return made
}

// refuses tells the indices that the source refuses, those of GatherElements and ScatterElements that are longer than their data among them.
func (g *guard) refuses() *value {
	bad := g.bad()
	if g.op == opGatherElements || g.op == opScatter {
		bad = g.longer(bad)
	}
	return bad
}

// zeroUnless gives [0] where nothing is bad, and is refused else, by a GatherElements that looks up an
// element behind it.
func (g *guard) zeroUnless(bad *value) *value {
	if !bad.varies() {
		g.fail(ErrUnsupported, "nodes compute its indices of constants, and OpenVINO does not load a guard of these; make the indices one constant, or set Outside to Clamp")
	}
	bad = g.reshape(g.cast(bad, garner.I64), g.of(-1), false)
	good := g.reduceProd(g.two(opSub, g.of(1), bad), []int64{0}, true)
	return g.add(&node{op: opGatherElements, in: []*value{g.of(0), g.two(opSub, g.of(1), good)}}, garner.I64)
}

// proven has results wait for gathers that no result reads in the target and that refuse indices in
// the source all the same, as that of Size(Gather(x, i)): the first result that can be tiled is
// tiled once, a number of times that depends on the proof of each.
func (p *program) proven(read map[*value]bool) {
	for _, l := range p.lookups {
		if l.guard == nil || read[l.made] || !p.runsIn[l.node] {
			continue
		}
		p.at, p.guarding = l.node, true
		i := slices.IndexFunc(p.outputs, func(o result) bool { return p.target.takes(opTile, o.spec.DType) })
		if i < 0 {
			p.fail(ErrUnsupported, "it refuses indices, and no result can be made to wait for that")
			return
		}
		o := &p.outputs[i]
		x, rank := o.value, p.needRank(o.value)
		times := p.two(opAdd, p.of(slices.Repeat([]int64{1}, max(rank, 1))...), l.guard.zeroUnless(l.guard.refuses()))
		var made *value
		if rank == 0 {
			made = p.squeeze(p.tile(p.reshape(x, p.of(1), false), times), []int64{0})
		} else {
			made = p.tile(x, times)
		}
		made.spec, made.dimNames = x.spec, x.dimNames
		o.value = made
		p.note("guarded", "no result reads its elements, and indices outside are refused all the same")
		p.at, p.guarding = nil, false
	}
}

// longer is bad too where indices of GatherElements or ScatterElements are longer than data off the axis: the
// rows that OpenVINO is given of data are as many as those of indices.
func (g *guard) longer(bad *value) *value {
	for i := range g.needRank(g.data) {
		d, ok := g.data.dim(i)
		e, also := g.indices.dim(i)
		if i != g.axis && (!ok || !also || e > d) {
			more := g.ordered(opGreater, g.program.length(g.indices, i, garner.I64), g.program.length(g.data, i, garner.I64))
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
	taken := g.take(g.selected(g.bad(), g.number(0), g.positive()))
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
	case o == opGather && p.target == irTarget && (indices.from == nil || indices.from.op != opTile): // no guard
		// OpenVINO divides by 0 where it prepares a Gather that it knows to have no elements.
		if made := inferGather(&node{op: o, in: []*value{data, indices}, axis: axis, batch: batch}); empty(made) {
			return p.empty(dtype, made)
		}
	case o == opGatherND && p.target == irTarget:
		// OpenVINO compiles no result of unknown rank.
		(&guard{program: p, op: o, data: data, indices: indices, batch: batch}).components()
	case o == opGatherElements && p.target == irTarget:
		if data = p.narrowed(data, indices, axis); empty(indices.spec) { // as of a Gather, which cuts data for it
			return p.empty(dtype, indices.spec)
		}
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

// empty reports whether all dims of s are known and one is 0.
func empty(s garner.Spec) bool {
	dims, ok := s.Shape()
	return ok && slices.Contains(dims, 0)
}

// empty makes a value of known dims without elements.
func (p *program) empty(dtype garner.DType, s garner.Spec) *value {
	list := make([]int64, len(s.Dims))
	for i, d := range s.Dims {
		list[i] = int64(d.Min)
	}
	return p.expand(p.zero(dtype), p.of(list...))
}
