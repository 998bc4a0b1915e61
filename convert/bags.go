package convert

import (
	"github.com/garner-go/garner"
)

// Bags of OpenVINO stay what they are in OpenVINO IR. ONNX has none: there a ScatterElements adds the rows. ONNX Runtime
// adds updates one after the other, each rounded, as OpenVINO adds the rows of a bag. Sums begin at -0, to which a first row is added as it is.

// A bag has the operands of a node of bags.
type bag struct {
	*call
	data, indices *value
	ends          *value // the bag of each index, as a vector; bags where it is none
	count         *value // how many bags, as a vector of one
	bad           *value // ends that are refused; nil: none
	weights       *value // nil: none
	row           *value // of a bag without indices
	mean          bool
}

// irOffsets converts EmbeddingBagOffsetsSum and EmbeddingBagOffsets, whose bags begin at offsets.
func irOffsets(g *call) {
	g.endsOf(g.in(2), g.in(1))
	b := newBag(g, 3, 4)
	if b == nil {
		return
	}
	indices, offsets := b.indices, g.cast(g.in(2), garner.I64)
	n := g.dims(indices, 0, 1, garner.I64)
	b.count = g.dims(offsets, 0, 1, garner.I64)
	g.note("differs", "OpenVINO's CPU plugin refuses an offset that is the number of indices, and the target has a bag without indices there, as OpenVINO's page says; an index outside before the first bag, which OpenVINO does not look at, the target refuses")
	length := g.two(opAdd, n, g.of(1))
	if g.options.Outside == Keep { // OpenVINO refuses offsets that fall, and those outside: so does a ScatterElements, of one behind its data
		before := g.concat(0, g.of(0), g.cut(offsets, 0, 0, -1))
		bad := g.two(opOr, g.two(opLess, offsets, before), g.two(opGreater, offsets, n))
		g.note("guarded", "offsets that fall or that are outside are refused, by a ScatterElements")
		offsets = g.choose(bad, length, offsets)
	} else {
		g.note("guarded", "offsets outside are clamped")
		offsets = g.two(opMin, g.two(opMax, offsets, g.of(0)), n)
	}
	ones := g.expand(g.number(garner.I64, 1), b.count)
	marks := g.scatterAdd(g.expand(g.number(garner.I64, 0), length), offsets, ones)
	sums := g.add(&node{op: opCumSum, in: []*value{marks}}, garner.I64)
	b.ends = g.two(opSub, g.slice(sums, g.of(0), n, g.of(0), nil), g.of(1))
	b.sum()
}

// irPacked converts EmbeddingBagPackedSum and EmbeddingBagPacked, whose bags are the rows of the indices.
func irPacked(g *call) {
	b := newBag(g, -1, 2)
	if b == nil {
		return
	}
	b.count = g.dims(b.indices, 0, 1, garner.I64)
	each := g.iota(g.length(b.indices, 0, garner.I64))
	b.ends = g.reshape(g.expand(g.unsqueeze(each, 1), g.shape(b.indices)), g.of(-1), false)
	b.indices = g.reshape(b.indices, g.of(-1), false)
	if b.weights != nil {
		b.weights = g.reshape(b.weights, g.of(-1), false)
	}
	b.sum()
}

// irSegments converts EmbeddingSegmentsSum, which has the bag of each index.
func irSegments(g *call) {
	count := g.cast(g.in(3), garner.I64)
	g.endsOf(g.in(2), g.bags(count))
	b := newBag(g, 4, 5)
	if b == nil {
		return
	}
	g.note("differs", "OpenVINO's page has segments that do not fall, each one of the bags, and its CPU plugin takes others; with keep the target refuses them, by a ScatterElements, and else leaves out those of no bag")
	b.ends = g.cast(g.in(2), garner.I64)
	b.count = g.reshape(count, g.of(1), false)
	if g.options.Outside == Keep {
		zero := g.of(0)
		before := g.concat(0, zero, g.cut(b.ends, 0, 0, -1))
		b.bad = g.two(opOr, g.two(opLess, b.ends, g.two(opMax, before, zero)), g.two(opGreatEq, b.ends, b.count))
	}
	b.sum()
}

// keep makes the bag that the source has, for OpenVINO IR.
func (b *bag) keep() {
	in := make([]*value, len(b.node.Inputs))
	for i := range in {
		in[i] = b.in(i)
	}
	same := policy{outside: refused}
	b.set(b.gatherBy(opGather, b.data, b.indices, 0, 0, same, same, func(indices *value) *value {
		in[1] = b.cast(indices, b.indices.spec.DType)
		return b.add(&node{op: opBag, mode: b.node.Op, flag: b.mean, in: in}, b.data.spec.DType)
	}))
}

// newBag reads what all bags have; nil where one is made, or not converted. empty and weights are the inputs of the row of a
// bag without indices, -1 where there is none, and of the weights.
func newBag(g *call, empty, weights int) *bag {
	b := &bag{call: g, data: g.in(0), indices: g.in(1)}
	if how, ok := g.node.Attributes["reduction"].(string); ok {
		b.mean = how == "mean"
	}
	dtype := b.data.spec.DType
	switch {
	case g.target == irTarget:
		b.keep()
		return nil
	case dtype != garner.F32 && dtype != garner.I32:
		g.fail(garner.ErrDType, "%s of %s is not converted to ONNX; that of f32 and i32 is", g.node.Op, dtype)
	}
	if g.has(weights) {
		b.weights = g.in(weights)
	}
	b.row = g.zero(dtype)
	if empty >= 0 && g.has(empty) {
		at, rows := g.constantInteger(empty), 0
		if d, ok := b.data.dim(0); ok {
			rows = d
		}
		switch {
		case at == -1 && g.node.Op != "EmbeddingSegmentsSum":
		case at < 0 || at >= int64(rows):
			g.fail(ErrUnsupported, "its default_index is %d, which is not known to be a row of its table", at)
		default:
			b.row = g.bare(opGather, b.data, g.number(garner.I64, at), 0, 0)
		}
	}
	g.needColumns(b.data)
	if g.needRank(b.data); g.err != nil {
		return nil
	}
	return b
}

// scatterAdd adds updates to data along the first axis.
func (p *program) scatterAdd(data, indices, updates *value) *value {
	return p.add(&node{op: opScatterAdd, in: []*value{data, indices, updates}}, data.spec.DType)
}

// sum adds the rows of each bag. Indices of no bag go to one more, which is cut off.
func (b *bag) sum() {
	rank := b.needRank(b.data)
	dtype := b.data.spec.DType
	var columns []int64
	for i := range int64(rank - 1) {
		columns = append(columns, i+1)
	}
	rows := b.gather(opGather, b.data, b.indices, 0, 0, policy{outside: refused})
	if b.weights != nil {
		rows = b.two(opMul, rows, b.unsqueeze(b.weights, columns...))
	}
	zero := b.number(garner.I64, 0)
	none := b.two(opOr, b.two(opLess, b.ends, zero), b.two(opGreatEq, b.ends, b.count))
	ends, more := b.choose(none, b.count, b.ends), b.two(opAdd, b.count, b.of(1))
	if b.bad != nil {
		ends = b.choose(b.bad, more, ends)
	}
	ones := b.expand(b.number(garner.I64, 1), b.shape(ends))
	terms := b.slice(b.scatterAdd(b.expand(zero, more), ends, ones), b.of(0), b.count, b.of(0), nil)
	// The row of a bag without indices is one more term, and of other bags one of none.
	empty := b.two(opEqual, terms, zero)
	ends = b.concat(0, ends, b.choose(empty, b.iota(b.squeeze(b.count, []int64{0})), b.count))
	shape := func(rows *value) *value {
		if rank == 1 {
			return rows
		}
		return b.concat(0, rows, b.dims(b.data, 1, rank-1, garner.I64))
	}
	rows = b.concat(0, rows, b.expand(b.row, shape(b.count)))
	start := b.zero(dtype)
	if dtype == garner.F32 {
		start = b.minusZero()
	}
	made := b.scatterAdd(b.expand(start, shape(more)), b.expand(b.unsqueeze(ends, columns...), b.shape(rows)), rows)
	made = b.slice(made, b.of(0), b.count, b.of(0), nil)
	if b.mean {
		n := b.cast(b.two(opMax, terms, b.number(garner.I64, 1)), dtype)
		made = b.two(opDiv, made, b.unsqueeze(n, columns...))
	}
	b.set(made)
}
