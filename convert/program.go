package convert

import (
	"fmt"
	"math"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// An op is an operator of the neutral form. Each means what NumPy's of the name does;
// integers wrap, and a division cuts off towards 0.
type op string

// The operators of the neutral form. Those of gathers have the policy of the target,
// around which guards stand.
const (
	opGather         op = "Gather"               // data, indices; axis, batch
	opGatherND       op = "GatherND"             // data, indices; batch
	opGatherElements op = "GatherElements"       // data, indices; axis
	opBlocks         op = "GatherBlockQuantized" // codes, indices, scales, perhaps zero points; axis; list: the axis of blocks, their length, bits of a code

	opCast       op = "Cast" // to the dtype of the output
	opIdentity   op = "Identity"
	opReshape    op = "Reshape"   // x, dims; flag: a dim of 0 is that of x
	opSqueeze    op = "Squeeze"   // list: axes; nil: all dims of 1
	opUnsqueeze  op = "Unsqueeze" // list: axes
	opTranspose  op = "Transpose" // list: the order; nil: reversed
	opConcat     op = "Concat"    // axis
	opSlice      op = "Slice"     // x, starts, ends, axes, steps
	opShape      op = "Shape"     // i64
	opExpand     op = "Expand"    // x, shape; both broadcast
	opTile       op = "Tile"      // x, repeats, one for each dim
	opRange      op = "Range"     // start, stop, step
	opReduceProd op = "ReduceProd"
	opReduceSum  op = "ReduceSum"
	opReduceMax  op = "ReduceMax"
	opReduceMin  op = "ReduceMin"
	opPad        op = "Pad"                // x, begins and ends (in ONNX one vector), in the mode constant the value; mode; list: both where constant
	opNonZero    op = "NonZero"            // i64: a row of positions for each dim
	opCumSum     op = "CumSum"             // axis; flag: without the element itself; batch 1: from the end
	opSelect     op = "Select"             // condition, x, y
	opTopK       op = "TopK"               // x, k; axis; flag: the least; equal ones by their positions; a second output: i64 positions
	opScatter    op = "ScatterElements"    // data, indices, updates; axis; the last update stays
	opScatterAdd op = "ScatterElementsAdd" // data, indices, updates, along axis 0; one update after the other is added

	opAsIs op = "AsIs" // the operator that the source's node has, of inputs that broadcast; for kept nodes

	opBag op = "EmbeddingBag" // of OpenVINO, mode: data, indices and what its kind has; flag: the mean

	opAdd      op = "Add"
	opSub      op = "Sub"
	opMul      op = "Mul"
	opDiv      op = "Div"
	opMod      op = "Mod"      // the sign of the dividend
	opFloorMod op = "FloorMod" // the sign of the divisor

	opFloorDiv op = "FloorDiv" // rounds down; compute makes it of others
	opMin      op = "Min"
	opMax      op = "Max"
	opNeg      op = "Neg"
	opAbs      op = "Abs"
	opSqrt     op = "Sqrt"
	opEqual    op = "Equal"
	opLess     op = "Less"
	opLessEq   op = "LessOrEqual"
	opGreater  op = "Greater"
	opGreatEq  op = "GreaterOrEqual"
	opAnd      op = "And"
	opOr       op = "Or"
	opXor      op = "Xor"
	opNot      op = "Not"
	opBitAnd   op = "BitwiseAnd"
	opBitOr    op = "BitwiseOr"
	opBitXor   op = "BitwiseXor"
	opBitNot   op = "BitwiseNot"
)

// A value is an input, a constant, or what a node computes.
type value struct {
	name     string // as the target's file has it; "" until names are given
	wanted   string // name of the source's value
	spec     garner.Spec
	dimNames []string
	from     *node
	constant *model.Constant // of the source
	tensor   garner.Tensor   // of a constant that the conversion makes, and of a small one of the source
	small    bool            // tensor is there
	fallback *value          // of an input: the constant that it is where a caller does not give it; nil: none
	wide     scan            // of a constant, for 64-bit integers that i32 does not hold
	denormal scan            // of a constant of floats, for a denormal one
	shrinks  scan            // of a constant of f64, for one that is denormal in f32
	zeros    *zeroScan       // of what depends on no input: what zerosOf found; nil: it was not asked
}

// A scan is what a look at all elements of a constant found. It is made once, and only where a node makes it matter.
type scan struct{ made, found bool }

// by makes the scan where that was not done, and reports whether it found an element.
func (s *scan) by(look func() (bool, error)) (bool, error) {
	if !s.made {
		found, err := look()
		if err != nil {
			return false, err
		}
		*s = scan{true, found}
	}
	return s.found, nil
}

func (v *value) held() bool { return v.constant != nil || v.small }

func (v *value) rank() (int, bool) { return v.spec.Rank.Min, v.spec.Rank.Known() }

// hasOne reports whether a value is known to have one element.
func (v *value) hasOne() bool {
	for _, d := range v.spec.Dims {
		if !d.Known() || d.Min != 1 {
			return false
		}
	}
	return v.spec.Rank.Known()
}

// finds walks from a value to those that it is made of, and looks at each once. Of one, next reports whether it is what is
// looked for, or else gives those behind it that may be.
func (v *value) finds(next func(*value) (found bool, behind []*value)) bool {
	seen, todo := make(map[*value]bool), []*value{v}
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[v] {
			continue
		}
		seen[v] = true
		found, behind := next(v)
		if found {
			return true
		}
		todo = append(todo, behind...)
	}
	return false
}

// dim gives a dim that is known.
func (v *value) dim(axis int) (int, bool) {
	if axis >= len(v.spec.Dims) || !v.spec.Dims[axis].Known() {
		return 0, false
	}
	return v.spec.Dims[axis].Min, true
}

// integers gives the elements of a small constant of integers.
func (v *value) integers() ([]int64, bool) {
	if !v.small || !v.tensor.DType().IsInteger() || v.tensor.Rank() > 1 {
		return nil, false
	}
	list := make([]int64, v.tensor.Len())
	for i := range list {
		n, err := v.tensor.Int(i)
		if err != nil {
			return nil, false
		}
		list[i] = int64(n.Bits)
		if n.Unsigned && n.Bits > math.MaxInt64 {
			list[i] = math.MaxInt64
		}
	}
	return list, true
}

// A node is one use of an operator. It has one output; a TopK has another.
type node struct {
	op          op
	in          []*value
	out, also   *value
	axis, batch int
	list        []int64
	flag        bool
	mode        string
	kept        bool        // OpenVINO IR has it as the source's node is, attributes and all
	guards      bool        // it is a part of a gather: its guard, or what the target makes of it
	varies      bool        // it depends on an input of the model
	waits       bool        // it is behind the guard of a gather, or its repeat: see value.waits
	origin      *model.Node // the source's node that it is for
}

// A result is an output of the graph.
type result struct {
	name string
	*value
}

// A program is a model in the neutral form, made for one target. The first error ends
// it: what comes after does nothing.
type program struct {
	target  *target
	options Options

	source  *model.Model
	name    string
	inputs  []*value
	outputs []result
	nodes   []*node
	notes   []Note
	noted   map[Note]bool

	at          *model.Node                 // the source's node that is converted
	live        map[*model.Node]bool        // those that results need
	inNodes     map[*model.Value]bool       // values that nodes read that results need
	tables      map[*model.Node]*compressed // those of gathers that OpenVINO decodes the rows of; nil for any other node
	zeroed      map[*model.Node]bool        // gathers of OpenVINO whose result may have zeros of indices outside
	branches    *run.Branches               // those that constants choose
	values      map[*model.Value]*value
	numbers     map[string]*value    // constants that the conversion made, by their text
	resultNames []string             // of the layers of OpenVINO IR that are results
	lookups     []*lookup            // the gathers of the source
	runsIn      map[*model.Node]bool // nodes that the source's runtime runs
	insideOnly  string               // why garner's own run of the source answers, of indices outside, other ones than its runtime
	inexact     map[*model.Node]bool // nodes that the target computes less exactly
	guarding    bool                 // a gather is made
	err         error
}

// fail keeps the first error.
func (p *program) fail(class error, format string, args ...any) {
	if p.err == nil {
		p.err = garner.Errorf(class, format, args...)
	}
}

// note adds to the report, at the node that is converted.
func (p *program) note(kind, format string, args ...any) {
	n := Note{Kind: kind, Text: fmt.Sprintf(format, args...)}
	if p.at != nil {
		n.Node, n.Op = p.at.Name, p.at.Op
	}
	if !p.noted[n] {
		p.noted[n] = true
		p.notes = append(p.notes, n)
	}
}

// lossy notes that the target computes something less exactly, or refuses it without the option.
func (p *program) lossy(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !p.options.Lossy {
		p.fail(ErrLossy, "%s; accept that with the option lossy", text)
		return
	}
	p.note("lossy", "%s", text)
	p.inexact[p.at] = true
}

// moves reports whether an operator gives elements of its inputs as they are.
func (o op) moves() bool {
	switch o {
	case opGather, opGatherND, opGatherElements, opIdentity, opReshape, opSqueeze, opUnsqueeze, opTranspose, opConcat, opSlice, opShape, opExpand, opTile:
		return true
	}
	return false
}

// inexactly reports whether v is computed of what the target computes less exactly. A node that moves elements is none of
// that: both runs of a comparison move the same ones. Nor is a guard.
func (p *program) inexactly(v *value) bool {
	return v.finds(func(v *value) (bool, []*value) {
		n := v.from
		if n == nil {
			return false, nil
		}
		return p.inexact[n.origin] && !n.guards && !n.op.moves(), n.in
	})
}

// crosses reports whether exactly one of source and target is run by a runtime: what it answers otherwise than others
// then changes. Where it runs both, the answers stay what they are.
func (p *program) crosses(runtime string) bool {
	return (p.options.runtime == runtime) != (p.target.runtime == runtime)
}

// keeps reports whether OpenVINO runs source and target, and so answers alike what is the same node in both.
func (p *program) keeps() bool { return p.target == irTarget && !p.crosses(openVINO) }

// waits reports whether a value is behind the guard of a gather in OpenVINO IR, where OpenVINO knows no dims.
func (v *value) waits() bool { return v.from != nil && v.from.waits }

// add makes a node, with the dtype of its output.
func (p *program) add(n *node, dtype garner.DType) *value {
	n.origin, n.guards = p.at, p.guarding
	n.varies = slices.ContainsFunc(n.in, func(v *value) bool { return v != nil && v.varies() })
	n.waits = n.guards && n.op == opTile || slices.ContainsFunc(n.in, func(v *value) bool { return v != nil && v.waits() })
	n.out = &value{from: n}
	if p.err != nil {
		n.out.spec = garner.SpecOfRank(dtype, garner.AnyDim)
		return n.out
	}
	n.out.spec = inferred(n)
	n.out.spec.DType = dtype
	p.nodes = append(p.nodes, n)
	return n.out
}

// of makes a constant vector of i64.
func (p *program) of(list ...int64) *value { return p.whole(garner.I64, true, list...) }

// number makes a constant scalar of an integer dtype.
func (p *program) number(dtype garner.DType, n int64) *value { return p.whole(dtype, false, n) }

// whole makes a constant of integers: a vector or a scalar. Equal ones are one value.
func (p *program) whole(dtype garner.DType, vector bool, list ...int64) *value {
	key := fmt.Sprint(dtype, vector, list)
	if v := p.numbers[key]; v != nil {
		return v
	}
	shape := garner.Shape{}
	if vector {
		shape = garner.Shape{len(list)}
	}
	b := make([]byte, 0, 8*len(list))
	for _, n := range list {
		for i := range dtype.Bits() / 8 {
			b = append(b, byte(uint64(n)>>(8*i)))
		}
	}
	t, err := garner.FromBytes(dtype, b, shape...)
	if err != nil {
		p.fail(err, "%v", err)
	}
	v := p.hold(t)
	p.numbers[key] = v
	return v
}

// zero makes a constant scalar whose bits are 0.
func (p *program) zero(dtype garner.DType) *value {
	key := "zero " + dtype.String()
	if v := p.numbers[key]; v != nil {
		return v
	}
	t, err := garner.New(dtype)
	if err != nil {
		p.fail(err, "%v", err)
	}
	v := p.hold(t)
	p.numbers[key] = v
	return v
}

func (p *program) hold(t garner.Tensor) *value {
	return &value{spec: garner.SpecOf(t.DType(), t.Shape()...), tensor: t, small: true}
}

// one makes a node of one input and its dtype.
func (p *program) one(o op, x *value) *value {
	if o == opIdentity {
		return x // a result that needs a name of its own gets a node when names are given
	}
	return p.add(&node{op: o, in: []*value{x}}, x.spec.DType)
}

// two makes a node of two inputs that broadcast.
func (p *program) two(o op, a, b *value) *value {
	if a.spec.DType != b.spec.DType {
		p.fail(garner.ErrDType, "its inputs are %s and %s, which differ in dtype", a.spec, b.spec)
	}
	dtype := a.spec.DType
	switch o {
	case opEqual, opLess, opLessEq, opGreater, opGreatEq:
		dtype = garner.Bool
	default:
		if p.target == irTarget {
			a, b = p.plain(o, a, b)
			return p.raised(a, b, func(a, b *value) *value { return p.add(&node{op: o, in: []*value{a, b}}, dtype) })
		}
	}
	return p.add(&node{op: o, in: []*value{a, b}}, dtype)
}

// raised computes of two inputs, of which one may be a constant of one element with more dims than the other has, or one
// that OpenVINO makes of what nodes compute of constants: it leaves these dims away where it joins the computation with a
// gather. A scalar takes its place.
func (p *program) raised(a, b *value, compute func(a, b *value) *value) *value {
	m, known := a.rank()
	n, also := b.rank()
	raises := func(v, other *value) bool { return v.oneConstant() && !(v.held() && other.held()) }
	first := func(n int) (axes []int64) {
		for i := range int64(n) {
			axes = append(axes, i)
		}
		return axes
	}
	switch {
	case !known || !also:
	case m > n && raises(a, b):
		return p.unsqueeze(compute(p.scalar(a), b), first(m-n)...)
	case n > m && raises(b, a):
		return p.unsqueeze(compute(a, p.scalar(b)), first(n-m)...)
	}
	return compute(a, b)
}

// oneConstant reports whether v has one element, and depends on no input of the model.
func (v *value) oneConstant() bool {
	shape, known := v.spec.Shape()
	n, _ := shape.Len()
	return known && n == 1 && !v.varies()
}

// scalar gives the one element of v.
func (p *program) scalar(v *value) *value {
	if !v.small {
		return p.reshape(v, p.of(), false)
	}
	b, err := v.tensor.Bytes()
	if err != nil {
		p.fail(err, "%v", err)
		return v
	}
	t, err := garner.FromBytes(v.tensor.DType(), b)
	if err != nil {
		p.fail(err, "%v", err)
		return v
	}
	return p.hold(t)
}

func (p *program) cast(x *value, to garner.DType) *value {
	if x.spec.DType == to {
		return x
	}
	if list, ok := x.integers(); ok && (to == garner.I64 || to == garner.I32 && !slices.ContainsFunc(list, func(n int64) bool { return n != int64(int32(n)) })) {
		return p.whole(to, x.tensor.Rank() == 1, list...)
	}
	return p.add(&node{op: opCast, in: []*value{x}}, to)
}

func (p *program) reshape(x, dims *value, copies bool) *value {
	shape, known := x.spec.Shape()
	n, also := dims.dim(0)
	if copies && p.target == irTarget && known && also && n <= garner.MaxRank && dims.varies() && !x.varies() {
		// OpenVINO refuses dims of 0 alone for what it knows when it loads the model: the dims stand in their places.
		kept := make([]int64, n)
		for i := range min(n, len(shape)) {
			kept[i] = int64(shape[i])
		}
		dims = p.cast(dims, garner.I64)
		dims, copies = p.choose(p.two(opEqual, dims, p.number(garner.I64, 0)), p.of(kept...), dims), false
	}
	return p.add(&node{op: opReshape, in: []*value{x, p.cast(dims, garner.I64)}, flag: copies}, x.spec.DType)
}

func (p *program) unsqueeze(x *value, axes ...int64) *value {
	if len(axes) == 0 {
		return x
	}
	return p.add(&node{op: opUnsqueeze, in: []*value{x}, list: axes}, x.spec.DType)
}

func (p *program) squeeze(x *value, axes []int64) *value {
	if dims, ok := x.spec.Shape(); ok && axes == nil && p.target == irTarget { // OpenVINO may know fewer dims, behind a guard
		for i, d := range dims {
			if d == 1 {
				axes = append(axes, int64(i))
			}
		}
		if axes == nil {
			return p.one(opIdentity, x)
		}
	}
	if rank, ok := x.rank(); ok && p.target == irTarget && slices.Contains(x.spec.Dims, garner.Exactly(0)) && slices.ContainsFunc(x.spec.Dims, func(d garner.Dim) bool { return !d.Known() }) {
		// Behind a guard, OpenVINO's Squeeze makes 0 of every dim beside one of 0 that it knows: a Reshape takes its place.
		var parts []*value
		for i := range rank {
			if !slices.Contains(axes, int64(i)) && !slices.Contains(axes, int64(i-rank)) {
				parts = append(parts, p.dims(x, i, 1, garner.I64))
			}
		}
		return p.reshape(x, p.concat(0, parts...), false)
	}
	return p.add(&node{op: opSqueeze, in: []*value{x}, list: axes}, x.spec.DType)
}

func (p *program) transpose(x *value, order []int64) *value {
	return p.add(&node{op: opTranspose, in: []*value{x}, list: order}, x.spec.DType)
}

func (p *program) concat(axis int, in ...*value) *value {
	if len(in) == 1 {
		return in[0]
	}
	return p.add(&node{op: opConcat, in: in, axis: axis}, in[0].spec.DType)
}

// slice takes the elements from starts to ends of axes. steps may be nil.
func (p *program) slice(x, starts, ends, axes, steps *value) *value {
	if steps == nil {
		n, ok := starts.dim(0)
		if !ok || n > garner.MaxRank {
			p.fail(garner.ErrShape, "how many axes it slices is not known, or more than %d", garner.MaxRank)
			n = 1
		}
		steps = p.of(slices.Repeat([]int64{1}, n)...)
	} else {
		ends = p.ends(ends, steps)
	}
	in := []*value{x}
	for _, v := range []*value{starts, ends, axes, steps} {
		in = append(in, p.cast(v, garner.I64))
	}
	return p.add(&node{op: opSlice, in: in}, x.spec.DType)
}

// ends gives ends of a Slice that mean in the target what they mean in the source. With a negative
// step ONNX takes the greatest i32 and the greatest i64 for one before the first
// element; elsewhere they are numbers, and the axis has no element behind them.
func (p *program) ends(ends, steps *value) *value {
	from := p.options.runtime == onnxRuntime
	by, stepped := steps.integers()
	if stepped && !slices.ContainsFunc(by, func(n int64) bool { return n < 0 }) {
		return ends
	}
	list, ok := ends.integers()
	if !ok || !stepped || len(list) != len(by) {
		if from != (p.target == onnxTarget) {
			p.lossy("its ends or its steps are computed, and with a negative step an end of %d or %d means the first element in ONNX and a number elsewhere", math.MaxInt32, int64(math.MaxInt64))
		}
		return ends
	}
	list = slices.Clone(list)
	for i, n := range list {
		switch {
		case by[i] >= 0 || n != math.MaxInt32 && n != math.MaxInt64:
		case from:
			list[i] = math.MinInt32
		default:
			list[i] = math.MaxInt32 - 1
		}
	}
	return p.whole(garner.I64, true, list...)
}

// cut takes the elements from start to end of one axis.
func (p *program) cut(x *value, axis, start, end int64) *value {
	return p.slice(x, p.of(start), p.of(end), p.of(axis), nil)
}

// shape gives the dims of x as a vector of i64: a constant where all are known.
func (p *program) shape(x *value) *value {
	if dims, ok := x.spec.Shape(); ok {
		list := make([]int64, len(dims))
		for i, d := range dims {
			list[i] = int64(d)
		}
		return p.of(list...)
	}
	return p.add(&node{op: opShape, in: []*value{x}}, garner.I64)
}

// dims gives the dims of x from an axis on, n of them, as a vector of dtype.
func (p *program) dims(x *value, axis, n int, dtype garner.DType) *value {
	var list []int64
	for i := range n {
		d, ok := x.dim(axis + i)
		if !ok || d > math.MaxInt32 {
			return p.cast(p.cut(p.shape(x), 0, int64(axis), int64(axis+n)), dtype)
		}
		list = append(list, int64(d))
	}
	return p.whole(dtype, true, list...)
}

// length gives one dim of x as a scalar of dtype.
func (p *program) length(x *value, axis int, dtype garner.DType) *value {
	if d, ok := x.dim(axis); ok && d <= math.MaxInt32 {
		return p.number(dtype, int64(d))
	}
	return p.squeeze(p.dims(x, axis, 1, dtype), []int64{0})
}

func (p *program) expand(x, shape *value) *value {
	if wide, ok := wider[x.spec.DType]; ok && !p.target.takes(opExpand, x.spec.DType) {
		return p.cast(p.expand(p.cast(x, wide), shape), x.spec.DType)
	}
	return p.add(&node{op: opExpand, in: []*value{x, p.cast(shape, garner.I64)}}, x.spec.DType)
}

// tiled is tile of repeats of a model. OpenVINO ends its process where one is negative, or where there are none.
func (p *program) tiled(x, repeats *value) *value {
	if p.target != irTarget {
		return p.tile(x, repeats)
	}
	switch rank, ok := x.rank(); {
	case ok && rank == 0:
		return p.one(opIdentity, x)
	case ok && len(repeats.spec.Dims) == 1 && !repeats.spec.Dims[0].Known():
		repeats = p.reshape(repeats, p.of(int64(rank)), false) // one for each dim: OpenVINO takes the rank of its Tile from both
	}
	if list, ok := repeats.integers(); !ok {
		repeats = p.two(opMax, repeats, p.number(repeats.spec.DType, 0))
		if p.options.runtime != openVINO {
			p.note("differs", "a repeat below 0, which %s refuses, is 0 here", p.options.runtime)
		}
	} else if slices.ContainsFunc(list, func(n int64) bool { return n < 0 }) {
		p.fail(garner.ErrShape, "its repeats are %v; they must be 0 and more", list)
	}
	return p.tile(x, repeats)
}

// tile repeats x along each dim. OpenVINO's Tile answers wrongly where some of the dims of x are
// known and some are not, as of [1,1,3,?,?]: there, axis by axis, a Broadcast of a dim before it, and a
// Reshape, take its place.
func (p *program) tile(x, repeats *value) *value {
	rank, ok := x.rank()
	unknown := func(d garner.Dim) bool { return !d.Known() }
	if p.target != irTarget || ok && (rank < 3 || rank >= broadcastRank || !slices.ContainsFunc(x.spec.Dims, unknown) || !slices.ContainsFunc(x.spec.Dims, garner.Dim.Known)) {
		return p.add(&node{op: opTile, in: []*value{x, repeats}}, x.spec.DType)
	}
	list, _ := repeats.integers()
	for i := range p.needRank(x) {
		if i < len(list) && list[i] == 1 {
			continue
		}
		at := func(length int) *value { // ones, and how often axis i is repeated
			ones := slices.Repeat([]int64{1}, length)
			if i < len(list) {
				ones[i] = list[i]
				return p.of(ones...)
			}
			in := []*value{p.cast(p.cut(repeats, 0, int64(i), int64(i+1)), garner.I64)}
			if i > 0 {
				in = slices.Insert(in, 0, p.of(ones[:i]...))
			}
			if after := ones[i+1:]; len(after) > 0 {
				in = append(in, p.of(after...))
			}
			return p.concat(0, in...)
		}
		wide := p.expand(p.unsqueeze(x, int64(i)), at(rank+1))
		x = p.reshape(wide, p.two(opMul, p.shape(x), at(rank)), false)
	}
	return x
}

func (p *program) reduceProd(x *value, axes []int64, keep bool) *value {
	return p.add(&node{op: opReduceProd, in: []*value{x}, list: axes, flag: keep}, x.spec.DType)
}

// wider is the dtype in which Where selects elements of one that it does not take.
var wider = map[garner.DType]garner.DType{garner.I16: garner.I32, garner.U16: garner.I32, garner.U64: garner.I64, garner.BF16: garner.F32}

// choose takes x where the condition is true, else y.
func (p *program) choose(condition, x, y *value) *value {
	dtype := x.spec.DType
	if y.spec.DType != dtype {
		p.fail(garner.ErrDType, "its inputs are %s and %s, which differ in dtype", x.spec, y.spec)
	}
	if !p.target.takes(opSelect, dtype) {
		if dtype == garner.Bool {
			return p.two(opOr, p.two(opAnd, condition, x), p.two(opAnd, p.one(opNot, condition), y))
		}
		if wide, ok := wider[dtype]; ok {
			return p.cast(p.choose(condition, p.cast(x, wide), p.cast(y, wide)), dtype)
		}
	}
	if p.target == irTarget && dtype.IsInteger() && dtype.Bits() >= 32 && condition.from != nil {
		condition = p.apart(condition)
	}
	return p.add(&node{op: opSelect, in: []*value{condition, x, y}}, dtype)
}

// apart keeps what computes a condition apart from a Select of integers: OpenVINO's CPU plugin makes one
// step of both, which computes in f32, and changes integers beyond 2^24. A Convert of the
// condition there and back ends that.
func (p *program) apart(condition *value) *value {
	return p.cast(p.cast(condition, garner.I32), garner.Bool)
}

// needRank gives the rank of x, or fails.
func (p *program) needRank(x *value) int {
	rank, ok := x.rank()
	if !ok {
		p.fail(garner.ErrShape, "the rank of its input %s is not known, and its conversion needs it; declare the shape of the model's inputs", x.label())
	}
	return rank
}

// label names a value for a message.
func (v *value) label() string {
	if v.wanted != "" {
		return fmt.Sprintf("%.200q", v.wanted)
	}
	return v.spec.String()
}

// axisOf brings an axis into 0 … rank-1.
func (p *program) axisOf(axis int64, rank int) int {
	if axis < -int64(rank) || axis >= int64(rank) {
		p.fail(garner.ErrShape, "its axis is %d, and there are %d dims", axis, rank)
		return 0
	}
	if axis < 0 {
		axis += int64(rank)
	}
	return int(axis)
}

// inferred gives the rank and the dims of a node's output, as far as they follow from
// its inputs.
func inferred(n *node) garner.Spec {
	unknown := garner.SpecOfRank(garner.Invalid, garner.AnyDim)
	of := func(dims []garner.Dim) garner.Spec {
		if len(dims) > garner.MaxRank {
			return unknown
		}
		return garner.SpecOfDims(garner.Invalid, dims...)
	}
	x := garner.SpecOfDims(garner.Invalid)
	if len(n.in) > 0 {
		x = n.in[0].spec
	}
	known := x.Rank.Known()
	rank := x.Rank.Min
	at := func(axis int64) int { // -1 where there is no such axis
		if axis < 0 {
			axis += int64(rank)
		}
		if axis < 0 || axis >= int64(rank) {
			return -1
		}
		return int(axis)
	}
	// vector gives how many elements an input of dims has, and those that are constant.
	vector := func(i int) (int, []int64, bool) {
		if list, ok := n.in[i].integers(); ok {
			return len(list), list, true
		}
		d, ok := n.in[i].dim(0)
		return d, nil, ok && d <= garner.MaxRank
	}
	anyDims := func(n int) []garner.Dim { return slices.Repeat([]garner.Dim{garner.AnyDim}, n) }
	switch n.op {
	case opCast, opIdentity, opNot, opBitNot, opNeg, opAbs, opSqrt, opCumSum, opScatter, opScatterAdd:
		return x
	case opGather, opGatherND, opGatherElements:
		return inferGather(n)
	case opBlocks:
		return unknown
	case opBag:
		if !known || rank == 0 {
			return unknown
		}
		dims := slices.Clone(x.Dims)
		dims[0] = garner.AnyDim
		if bags := n.in[1]; n.mode == "EmbeddingBagPackedSum" || n.mode == "EmbeddingBagPacked" {
			dims[0] = bags.spec.Dims[0]
		}
		return of(dims)
	case opReshape:
		length, list, ok := vector(1)
		if !ok {
			return unknown
		}
		dims := anyDims(length)
		total, rest := 1, -1
		for i, d := range list {
			switch {
			case d == 0 && n.flag:
				if known && i < rank {
					dims[i] = x.Dims[i]
				}
			case d >= 0 && d <= math.MaxInt:
				dims[i] = garner.Exactly(int(d))
			default:
				rest = i
				continue
			}
			if !dims[i].Known() {
				total = 0
			} else if total > 0 && dims[i].Min > 0 && total <= math.MaxInt/dims[i].Min {
				total *= dims[i].Min
			} else {
				total = 0
			}
		}
		if shape, ok := x.Shape(); ok && rest >= 0 && total > 0 {
			if all, ok := shape.Len(); ok && all%total == 0 {
				dims[rest] = garner.Exactly(all / total)
			}
		}
		return of(dims)
	case opSqueeze:
		if _, all := x.Shape(); !known || n.list == nil && !all {
			return unknown
		}
		var dims []garner.Dim
		drop := make([]bool, rank)
		for i, d := range x.Dims {
			drop[i] = n.list == nil && d.Min == 1
		}
		for _, a := range n.list {
			if i := at(a); i >= 0 {
				drop[i] = true
			}
		}
		for i, d := range x.Dims {
			if !drop[i] {
				dims = append(dims, d)
			}
		}
		return of(dims)
	case opUnsqueeze:
		if !known || rank+len(n.list) > garner.MaxRank {
			return unknown
		}
		total := rank + len(n.list)
		ones := make([]bool, total)
		for _, a := range n.list {
			if a < 0 {
				a += int64(total)
			}
			if a >= 0 && a < int64(total) {
				ones[a] = true
			}
		}
		var dims []garner.Dim
		left := x.Dims
		for _, one := range ones {
			if one || len(left) == 0 {
				dims = append(dims, garner.Exactly(1))
			} else {
				dims, left = append(dims, left[0]), left[1:]
			}
		}
		return of(dims)
	case opTranspose:
		if !known {
			return unknown
		}
		dims := slices.Clone(x.Dims)
		if n.list == nil {
			slices.Reverse(dims)
			return of(dims)
		}
		for i, a := range n.list {
			if j := at(a); i < len(dims) && j >= 0 {
				dims[i] = x.Dims[j]
			}
		}
		return of(dims)
	case opConcat:
		if !known {
			return unknown
		}
		axis := at(int64(n.axis))
		dims := slices.Clone(x.Dims)
		for _, v := range n.in[1:] {
			if v.spec.Rank != x.Rank || axis < 0 {
				continue
			}
			d, e := dims[axis], v.spec.Dims[axis]
			if d.Known() && e.Known() && e.Min <= math.MaxInt-d.Min {
				dims[axis] = garner.Exactly(d.Min + e.Min)
			} else {
				dims[axis] = garner.AnyDim
			}
			for i := range dims {
				if i != axis && !dims[i].Known() {
					dims[i] = v.spec.Dims[i]
				}
			}
		}
		return of(dims)
	case opSlice:
		if !known {
			return unknown
		}
		dims := slices.Clone(x.Dims)
		lists := make([][]int64, 4)
		all := true
		for i := range lists {
			var ok bool
			lists[i], ok = n.in[1+i].integers()
			all = all && ok
		}
		if lists[2] == nil {
			return of(anyDims(rank))
		}
		for i, a := range lists[2] {
			axis := at(a)
			if axis < 0 {
				continue
			}
			d := dims[axis]
			dims[axis] = garner.AnyDim
			if all && d.Known() && i < len(lists[0]) && i < len(lists[1]) && i < len(lists[3]) && lists[3][i] > 0 {
				length := int64(d.Min)
				ends := [2]int64{lists[0][i], lists[1][i]}
				for j, e := range ends {
					if e < 0 {
						e += length
					}
					ends[j] = min(max(e, 0), length)
				}
				count := max(ends[1]-ends[0], 0)
				step := min(lists[3][i], max(length, 1))
				dims[axis] = garner.Exactly(int((count + step - 1) / step))
			}
		}
		return of(dims)
	case opShape:
		if !known {
			return of(anyDims(1))
		}
		return of([]garner.Dim{garner.Exactly(rank)})
	case opExpand:
		length, list, ok := vector(1)
		if !ok || !known {
			return unknown
		}
		dims := anyDims(length)
		for i, d := range list {
			if d >= 0 && d <= math.MaxInt {
				dims[i] = garner.Exactly(int(d))
			}
		}
		return of(broadcast(x.Dims, dims))
	case opTile:
		if !known {
			return unknown
		}
		dims := anyDims(rank)
		if list, ok := n.in[1].integers(); ok && len(list) == rank {
			for i, times := range list {
				if d := x.Dims[i]; d.Known() && times >= 0 && (d.Min == 0 || times <= int64(math.MaxInt/d.Min)) {
					dims[i] = garner.Exactly(d.Min * int(times))
				}
			}
		}
		return of(dims)
	case opTopK:
		if !known {
			return unknown
		}
		dims := slices.Clone(x.Dims)
		dims[n.axis] = garner.AnyDim
		if list, ok := n.in[1].integers(); ok && len(list) == 1 && list[0] >= 0 && list[0] <= math.MaxInt {
			dims[n.axis] = garner.Exactly(int(list[0]))
		}
		return of(dims)
	case opRange:
		return of(anyDims(1))
	case opNonZero:
		if !known {
			return of(anyDims(2))
		}
		return of([]garner.Dim{garner.Exactly(rank), garner.AnyDim})
	case opPad:
		if !known {
			return unknown
		}
		dims := anyDims(rank)
		for i := range dims {
			if len(n.list) != 2*rank || !x.Dims[i].Known() {
				continue
			}
			if d := int64(x.Dims[i].Min) + n.list[i] + n.list[rank+i]; d >= 0 && d <= math.MaxInt32 {
				dims[i] = garner.Exactly(int(d))
			}
		}
		return of(dims)
	case opReduceProd, opReduceSum, opReduceMax, opReduceMin:
		if !known {
			return unknown
		}
		drop := make([]bool, rank)
		for _, a := range n.list {
			if i := at(a); i >= 0 {
				drop[i] = true
			}
		}
		var dims []garner.Dim
		for i, d := range x.Dims {
			switch {
			case !drop[i]:
				dims = append(dims, d)
			case n.flag:
				dims = append(dims, garner.Exactly(1))
			}
		}
		return of(dims)
	}
	// What is left broadcasts its inputs.
	var dims []garner.Dim
	for i, v := range n.in {
		switch {
		case !v.spec.Rank.Known():
			return unknown
		case i == 0:
			dims = v.spec.Dims
		default:
			dims = broadcast(dims, v.spec.Dims)
		}
	}
	return of(dims)
}

// broadcast gives the dims that two lists of dims broadcast to.
func broadcast(a, b []garner.Dim) []garner.Dim {
	if len(a) < len(b) {
		a, b = b, a
	}
	made := slices.Clone(a)
	for i, e := range b {
		d := &made[len(a)-len(b)+i]
		switch one := garner.Exactly(1); {
		case *d == one:
			*d = e
		case e == one:
		case d.Known():
		case e.Known():
			*d = e
		default:
			*d = garner.AnyDim
		}
	}
	return made
}

// inferGather is inferred of a gather.
func inferGather(n *node) garner.Spec {
	unknown := garner.SpecOfRank(garner.Invalid, garner.AnyDim)
	data, indices := n.in[0].spec, n.in[1].spec
	if n.op == opGatherElements {
		return indices
	}
	if !data.Rank.Known() || !indices.Rank.Known() {
		return unknown
	}
	d, i := data.Dims, indices.Dims
	var dims []garner.Dim
	if n.op == opGather {
		if n.axis >= len(d) || n.batch > len(i) {
			return unknown
		}
		dims = slices.Concat(d[:n.axis], i[n.batch:], d[n.axis+1:])
	} else {
		if len(i) == 0 || !i[len(i)-1].Known() || n.batch+i[len(i)-1].Min > len(d) {
			return unknown
		}
		dims = slices.Concat(i[:len(i)-1], d[n.batch+i[len(i)-1].Min:])
	}
	if len(dims) > garner.MaxRank {
		return unknown
	}
	return garner.SpecOfDims(garner.Invalid, dims...)
}
