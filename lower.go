package garner

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// An Op is one operator of one framework, in that framework's terms. It
// describes how the axes of its operands become the axes of the output, and
// what a bad index means; it moves no data. An Op is an immutable value and
// safe for concurrent use.
type Op interface {
	// Lower calls the Lowering's methods so that they spend every axis of both
	// operands once, in the order of the output's axes.
	Lower(*Lowering)
}

// An Operander is an Op that takes further operands. An Op that is no Operander
// takes data and indices alone.
type Operander interface {
	Op

	// Operands returns the further operands, in the order in which calls take
	// them. It depends on the type of the operator alone.
	Operands() []Operand
}

// OperandsOf returns the further operands of an operator; nil if it takes none.
func OperandsOf(op Op) []Operand {
	if o, ok := op.(Operander); ok {
		return o.Operands()
	}
	return nil
}

// An Unindexed is an Op over data alone, such as one that decodes a table whole. Its
// calls take the zero Tensor, or the zero Spec, for the indices, and its Lower gathers
// no axis.
type Unindexed interface {
	Op

	// Unindexed does nothing.
	Unindexed()
}

// TakesIndices reports whether an operator takes indices: all do but an Unindexed.
func TakesIndices(op Op) bool {
	if a, ok := op.(interface{ amends() Op }); ok {
		return TakesIndices(a.amends())
	}
	_, none := op.(Unindexed)
	return !none
}

// Copies reports whether an operator copies elements of data, or the fill, bit for bit: it
// neither reduces rows nor decodes stored elements. It asks Lower, and needs no operand.
func Copies(op Op) bool {
	l := &Lowering{data: SpecOfRank(U8, AnyDim), indices: SpecOfRank(I64, AnyDim), takes: OperandsOf(op), component: -1, partial: true}
	l.given, l.further = l.indices, make([]Spec, len(l.takes))
	if op != nil {
		op.Lower(l)
	}
	return !l.computes
}

// noIndices stands for the indices of an Unindexed: a plan without gathered axes reads
// none.
var noIndices = Of([]int64{0})

// indicesOf returns the spec of the indices that a plan of op has, given those of the
// call.
func (l *Lowering) indicesOf(op Op, given Spec) Spec {
	if TakesIndices(op) {
		return given
	}
	if given.DType != Invalid { // R.36
		l.FailAttribute("indices %s are given; the operator takes data alone", given)
	}
	return SpecOf(I64)
}

// NewPlan lowers op for operands whose dims are all known. A broken rule of the
// operator's specification is an ErrDType, an ErrAttribute or an ErrShape,
// checked in that order; the message names the remedy. NewPlan takes a few
// microseconds and reads no element. further are the specs of the operands that the
// operator takes behind the indices, in its order; the zero Spec is one that is not given.
func NewPlan(op Op, data, indices Spec, further ...Spec) (*Plan, error) {
	l, _, err := lower(op, data, indices, further, nil)
	if err != nil {
		return nil, err
	}
	return l.needWhole(data, indices)
}

// needWhole returns the plan of operands whose dims are all known.
func (l *Lowering) needWhole(data, indices Spec) (*Plan, error) {
	if l.open || l.partial { // R.24
		return nil, l.unknown(data, indices)
	}
	return l.plan()
}

// unknown is the error of a plan of operands that are known in part: it names them.
func (l *Lowering) unknown(data, indices Spec) error {
	if l.open {
		return unknownNumber()
	}
	_, dataKnown := data.Shape()
	if _, ok := l.given.Shape(); ok && dataKnown {
		for i, s := range l.further {
			if _, ok := s.Shape(); !ok && s.DType != Invalid {
				return shapeError(KindRank, "a plan needs every dim of %s %s; Infer does without", l.takes[i].Name, s)
			}
		}
		if l.ended {
			return shapeError(KindRank, "the last element of %s, which is not known here, says how many bags there are; Prepare with FurtherTensors, or give the operator their number if it takes one; Infer does without", l.takes[l.bag.EndsAt.At].Name)
		}
	}
	return shapeError(KindRank, "a plan needs every dim of data %s and of indices %s; Infer does without", data, indices)
}

// unknownNumber is the error of an operator one of whose numbers is Unknown.
func unknownNumber() error {
	return shapeError(KindRank, "a number of the operator, such as its axis, is not known; a plan needs them all, Infer does without")
}

// Infer returns the dtype and shape of op's result, as far as the operands'
// specs determine them. It reads no element. Its errors are those of NewPlan. A
// rule that some value of an unknown dim satisfies counts as satisfied.
func Infer(op Op, data, indices Spec, further ...Spec) (Spec, error) {
	l, out, err := lower(op, data, indices, further, nil)
	if err != nil {
		return Spec{}, err
	}
	if !l.partial {
		if _, err := l.plan(); err != nil {
			return Spec{}, err
		}
	}
	return out, nil
}

// A Lowering turns an operator into a plan. Op.Lower calls its methods in two
// steps: first those that check the operator's numbers (NeedRanks, Axis,
// BatchDims …), in the order in which errors take precedence; then those that
// spend the operands' axes (Batch, Outer, Gather, Tuples, Components, Copy),
// outermost first. A Lowering keeps the first broken rule and ignores every
// later call, so an operator checks no error itself.
//
// The same calls infer shapes: a dim that depends on an unknown dim is unknown.
// If a rank, an axis or the length of the tuples is unknown, the calls only
// count axes.
type Lowering struct {
	data, indices Spec
	given         Spec // the indices as the caller passed them
	takes         []Operand
	further       []Spec // of the operands behind the indices, as takes has them; the zero Spec is one that is not given
	dataStride    []int  // nil where a dim is unknown
	indexStride   []int
	flat          []Part // the dims that FlattenData joined, if no single stride describes them
	nextData      int    // the next axis to spend
	nextIndex     int
	nest          []nestLoop
	axes          []Axis
	bag           *Bag
	emptyName     string   // what the operator calls bag.Empty
	values        []Tensor // the further operands, where lower has them
	joined        int      // how many dims of the result are factors of the dim before
	component     int
	negative      Negative
	outside       Outside
	fill          Tensor
	stored        *Stored // how data holds the elements that are gathered; nil: as they are
	computes      bool    // rows are reduced, or elements decoded
	err           error
	lacking       string // the fill that the dtype lacks, where Outside is Error for that reason
	partial       bool   // a dim is unknown
	open          bool   // a number of the operator is unknown
	ended         bool   // the last segment says how many bags there are
	odd           bool   // some loop or gathered axis differs from every axis of the operands as passed, and is no number of bags
	scalar        bool   // data whose rank is unknown counts as a vector if it is a scalar
	vague         bool   // the axis, the batch dims or the length of the tuples are unknown
	whole         bool   // also while axes are only counted, nest holds every dim of the result; without one, its rank is that of the indices
	spent         Dim    // how many axes of both operands the result lacks
}

// A nestLoop is a Loop whose stride in the result is not known yet.
type nestLoop struct {
	extent      Dim
	data, index int
	written     written

	// The axes of the operands that the loop walks, counted from 1; 0 means none.
	dataAxis, indexAxis int
	within              bool // the extent is that of the indices; data's may be larger
	counted             bool // the extent is what the ends of bags say: see Bag.count
}

// written says how a loop appears in the result's shape.
type written uint8

const (
	asDim   written = iota // as a dim of its own
	joined                 // as a factor of the dim before
	hidden                 // not at all; its extent is 1
	reduced                // not at all: it walks the terms of a bag
)

// lower runs op over the operands and returns what is known of the result.
// values are the further operands; nil if they are not known.
func lower(op Op, data, indices Spec, further []Spec, values []Tensor) (*Lowering, Spec, error) {
	l := &Lowering{data: data, values: values, component: -1}
	if op == nil {
		return nil, Spec{}, errorf(ErrAttribute, "there is no operator; name one, such as onnx.Gather13{}")
	}
	indices = l.indicesOf(op, indices)
	l.indices, l.given = indices, indices
	// R.6: dtype errors take precedence.
	if !data.DType.Valid() { // R.2
		return nil, Spec{}, errorf(ErrDType, "data has no dtype")
	}
	if !indices.DType.IsInteger() { // R.1
		return nil, Spec{}, errorf(ErrDType, "indices are %s; they must be integers, such as i64", indices.DType)
	}
	if takes := OperandsOf(op); len(takes) > 0 || len(further) > 0 {
		if err := l.operands(takes, further); err != nil {
			return nil, Spec{}, err
		}
	}
	if values != nil {
		l.values = make([]Tensor, len(l.takes))
		copy(l.values, values)
	}
	var err error
	if l.dataStride, err = l.measure("data", data); err == nil {
		l.indexStride, err = l.measure("indices", indices)
	}
	if err != nil && l.err == nil {
		return nil, Spec{}, err
	}
	op.Lower(l) // may find an ErrDType, which precedes R.27
	if l.err != nil {
		return nil, Spec{}, l.err
	}
	if l.stored != nil {
		l.stored.specs = l.stored.operands(placed([]Spec{data})[0], placed(l.further))
	}
	out, err := l.result()
	return l, out, err
}

// operands checks the further operands against what the operator takes, and keeps
// their specs.
func (l *Lowering) operands(operands []Operand, further []Spec) error {
	l.takes, l.further = operands, make([]Spec, len(operands))
	copy(l.further, further)
	for i, o := range operands { // R.26
		switch given := l.further[i].DType; {
		case given == Invalid:
		case o.Types == IntegerTypes && !given.IsInteger():
			return noInteger(o.Name, given)
		case o.Types == DataType && given != l.data.DType:
			return errorf(ErrDType, "%s is %s and data %s; they must be equal", o.Name, given, l.data.DType)
		}
	}
	if n := len(trimmed(further)); n > len(operands) { // R.27
		l.FailAttribute("the operator takes %d operands; %d were given", 2+len(operands), 2+n)
	}
	for i, o := range operands {
		if !o.Optional && l.further[i].DType == Invalid { // R.27
			l.lacks(i)
		}
	}
	for i, s := range l.further {
		if s.DType == Invalid || l.err != nil { // R.28
			continue
		}
		if _, err := l.measure(operands[i].Name, s); err != nil {
			return err
		}
	}
	return nil
}

// lacks records that a further operand is not given.
func (l *Lowering) lacks(at int) {
	l.FailAttribute("the operator needs its operand %s, number %d", l.takes[at].Name, 3+at)
}

// measure checks the size of an operand and returns its strides, nil if one of its
// dims is unknown.
func (l *Lowering) measure(name string, s Spec) ([]int, error) {
	if !s.Rank.Known() {
		l.partial = true
		return nil, nil
	}
	if len(s.Dims) != s.Rank.Min || s.Rank.Min > MaxRank { // R.4
		return nil, shapeError(KindRank, "%s has %d dims; there may be %d", name, len(s.Dims), MaxRank)
	}
	shape, ok := s.Shape()
	if !ok { // R.19
		l.partial = true
		return nil, nil
	}
	if n, ok := shape.Len(); !ok { // R.5
		return nil, shapeError(KindMismatch, "%s %s holds more elements than an int can count", name, s)
	} else if s.DType != String {
		if _, ok := numBytes(s.DType, n); !ok {
			return nil, shapeError(KindMismatch, "%s %s has more bytes than an int can count", name, s)
		}
	}
	return s.strides(), nil
}

// Fail records an ErrShape, unless an earlier rule is already broken.
func (l *Lowering) Fail(kind ShapeKind, format string, args ...any) {
	if l.err == nil {
		l.err = shapeError(kind, format, args...)
	}
}

// FailAttribute records an ErrAttribute: a value that the operator does not
// accept.
func (l *Lowering) FailAttribute(format string, args ...any) {
	if l.err == nil {
		l.err = errorf(ErrAttribute, format, args...)
	}
}

// FailDType records an ErrDType, unless one is recorded already: errors of dtypes
// precede all others.
func (l *Lowering) FailDType(format string, args ...any) {
	l.failDType(errorf(ErrDType, format, args...))
}

// failDType is FailDType of an error.
func (l *Lowering) failDType(err error) {
	if l.err == nil || !errors.Is(l.err, ErrDType) { // R.6
		l.err = err
	}
}

// Data returns what is known of data.
func (l *Lowering) Data() Spec { return l.data }

// Indices returns what is known of the indices.
func (l *Lowering) Indices() Spec { return l.indices }

// Operand returns what is known of the further operand of a name, which Operands
// of the operator lists; false if the call leaves it out.
func (l *Lowering) Operand(name string) (Spec, bool) {
	i := slices.IndexFunc(l.takes, func(o Operand) bool { return o.Name == name })
	if i < 0 {
		l.FailAttribute("the operator declares no operand %s", name)
		return Spec{}, false
	}
	return l.further[i], l.further[i].DType != Invalid
}

// NeedRanks checks that data and indices have at least these ranks.
func (l *Lowering) NeedRanks(data, indices int) *Lowering {
	if l.data.Rank.Max < data {
		l.Fail(KindRank, "data %s has rank %d; the operator needs %d or more", l.data, l.data.Rank.Max, data)
	}
	if l.indices.Rank.Max < indices {
		l.Fail(KindRank, "indices %s have rank %d; the operator needs %d or more", l.indices, l.indices.Rank.Max, indices)
	}
	l.narrow(&l.data, Dim{data, Unbounded})
	l.narrow(&l.indices, Dim{indices, Unbounded})
	return l
}

// LimitRanks checks that data and indices have at most these ranks.
func (l *Lowering) LimitRanks(data, indices int) {
	if l.data.Rank.Min > data {
		l.Fail(KindRank, "data %s has rank %d; the operator takes %d or less", l.data, l.data.Rank.Min, data)
	}
	if l.indices.Rank.Min > indices {
		l.Fail(KindRank, "indices %s have rank %d; the operator takes %d or less", l.indices, l.indices.Rank.Min, indices)
	}
	l.narrow(&l.data, Dim{0, data})
	l.narrow(&l.indices, Dim{0, indices})
}

// NeedVector reads indices of rank 0 as a vector of one index, and checks that
// others are a vector.
func (l *Lowering) NeedVector() {
	l.IndicesAsVector()
	if l.indices.Rank.Min > 1 {
		l.Fail(KindRank, "indices %s have rank %d; they must be a vector or a scalar", l.indices, l.indices.Rank.Min)
	}
	l.narrow(&l.indices, Exactly(1))
}

// narrow limits a rank that is not known to those that a rule allows, unless no
// tensor has one of them. Callers check that some rank remains.
func (l *Lowering) narrow(s *Spec, rank Dim) {
	if both, ok := s.Rank.intersect(rank); ok && both.Min <= MaxRank && l.err == nil && !s.Rank.Known() { // R.23
		*s = SpecOfRank(s.DType, both)
	}
}

// counted reports whether axes are only counted, to find the result's rank.
func (l *Lowering) counted() bool {
	return l.vague || !l.ranked()
}

// ranked reports whether both ranks are known.
func (l *Lowering) ranked() bool { return l.data.Rank.Known() && l.indices.Rank.Known() }

// Axis checks an axis of data in -r … r-1, r the rank of data, and returns it
// counted from the front. It returns Unknown for an Unknown axis, and for a
// negative one if the rank is unknown.
func (l *Lowering) Axis(axis int) int {
	if axis == Unknown { // R.22
		l.partial, l.vague, l.open = true, true, true
		return Unknown
	}
	if r := l.data.Rank; axis >= r.Max || axis < -r.Max {
		l.Fail(KindAxis, "axis %d of data %s; it may be %s", axis, l.data, between(-r.Max, r.Max-1))
		return Unknown
	}
	least := max(axis+1, -axis)
	if l.scalar && least == 1 {
		least = 0
	}
	l.narrow(&l.data, Dim{least, Unbounded})
	if axis < 0 {
		if !l.data.Rank.Known() {
			l.vague = true
			return Unknown
		}
		axis += l.data.Rank.Min
	}
	return axis
}

// between formats a range of allowed numbers for a message, including an empty
// range.
func between(low, high int) string {
	if low > high {
		return "none: there is no dimension"
	}
	return fmt.Sprintf("%d…%d", low, high)
}

// BatchDimsND checks GatherND's batch_dims: 0 ≤ b < min(ranks).
func (l *Lowering) BatchDimsND(b int) int {
	if top := min(l.data.Rank.Max, l.indices.Rank.Max); b < 0 || b >= top {
		l.Fail(KindBatch, "batch_dims %d of data %s and indices %s; it may be %s", b, l.data, l.indices, between(0, top-1))
	}
	l.narrow(&l.data, Dim{b + 1, Unbounded})
	l.narrow(&l.indices, Dim{b + 1, Unbounded})
	return b
}

// BatchDims checks Gather's batch_dims: -q … q, q the rank of the indices, and
// not above axis. It returns b counted from the front, or Unknown for a
// negative b if q is unknown.
func (l *Lowering) BatchDims(b, axis int) int {
	if q := l.indices.Rank; b > q.Max || b < -q.Max {
		l.Fail(KindBatch, "batch_dims %d of indices %s; it may be %s", b, l.indices, between(-q.Max, q.Max))
		return 0
	}
	l.narrow(&l.indices, Dim{max(b, -b), Unbounded})
	if b < 0 {
		if !l.indices.Rank.Known() {
			l.vague = true
			return Unknown
		}
		b += l.indices.Rank.Min
	}
	switch {
	case l.data.Rank.Max != Unbounded && b >= l.data.Rank.Max: // every axis of data is below b
		l.Fail(KindBatch, "batch_dims %d of data %s, which has rank %d; every batch dim lies before the axis", b, l.data, l.data.Rank.Max)
	case axis != Unknown && b > axis:
		l.Fail(KindBatch, "batch_dims %d is above axis %d; every batch dim lies before the axis", b, axis)
	}
	l.narrow(&l.data, Dim{b + 1, Unbounded})
	return b
}

// NotNegative refuses a negative batch_dims.
func (l *Lowering) NotNegative(b int) {
	if b < 0 {
		l.Fail(KindBatch, "batch_dims %d; it may not be negative here", b)
	}
}

// SameRank checks that both operands have the same rank.
func (l *Lowering) SameRank() {
	both, ok := l.data.Rank.intersect(l.indices.Rank)
	if !ok {
		l.Fail(KindRank, "data %s has rank %s and indices %s rank %s; they must be equal", l.data, l.data.Rank, l.indices, l.indices.Rank)
	}
	l.narrow(&l.data, both)
	l.narrow(&l.indices, both)
}

// TupleLen returns k, the length of the index tuples, which lie along the last
// dim of the indices. It checks k against the r-b axes of data that tuples can
// address after b batch dims, and returns Unknown if k is not known.
func (l *Lowering) TupleLen(b int) int {
	if !l.indices.Rank.Known() || l.err != nil {
		return Unknown
	}
	k := l.indices.Dims[len(l.indices.Dims)-1]
	if top := l.data.Rank.Max; top != Unbounded && k.Min > top-b {
		l.Fail(KindRank, "indices %s hold tuples of %s; data %s has %d axes to address after batch_dims %d", l.indices, k, l.data, top-b, b)
	}
	l.narrow(&l.data, Dim{b + k.Min, Unbounded})
	if !k.Known() { // R.21
		l.partial, l.vague = true, true
		return Unknown
	}
	return k.Min
}

// count records n axes that the result lacks, while axes are only counted.
func (l *Lowering) count(n int) {
	if n == Unknown || l.spent.Max == Unbounded {
		l.spent = AnyDim
		return
	}
	l.spent.Min += n
	l.spent.Max += n
}

func (l *Lowering) idle() bool { return l.err != nil || l.counted() }

func (l *Lowering) dataAxis() (extent Dim, stride int) {
	extent = l.data.Dims[l.nextData]
	if l.dataStride != nil {
		stride = l.dataStride[l.nextData]
	}
	l.nextData++
	return extent, stride
}

func (l *Lowering) indexAxis() (extent Dim, stride int) {
	extent = l.indices.Dims[l.nextIndex]
	if l.indexStride != nil {
		stride = l.indexStride[l.nextIndex]
	}
	l.nextIndex++
	return extent, stride
}

// Batch spends the next n axes of both operands together: one loop each, which
// moves both. Their extents must be equal.
func (l *Lowering) Batch(n int) *Lowering {
	l.count(n)
	if l.err != nil || n == Unknown || !l.ranked() {
		return l
	}
	for range n { // R.22: also where the axis is unknown
		at := l.nextData
		d, ds := l.dataAxis()
		q, qs := l.indexAxis()
		both, ok := d.intersect(q) // R.20
		if !ok {
			l.Fail(KindBatch, "batch dim %d is %s in data %s and %s in indices %s; they must be equal", at, d, l.data, q, l.indices)
			return l
		}
		l.nest = append(l.nest, nestLoop{extent: both, data: ds, index: qs, dataAxis: l.nextData, indexAxis: l.nextIndex})
	}
	return l
}

// Outer spends the next n axes of data: one loop each, which reuses the
// indices.
func (l *Lowering) Outer(n int) *Lowering {
	if l.idle() {
		return l
	}
	for range n {
		d, ds := l.dataAxis()
		l.nest = append(l.nest, nestLoop{extent: d, data: ds, dataAxis: l.nextData})
	}
	return l
}

// Gather spends the next axis of data as the gathered axis: each element of the
// indices is a tuple of one component.
func (l *Lowering) Gather() *Lowering {
	l.count(1)
	if l.idle() {
		return l
	}
	l.gathered(0)
	return l
}

func (l *Lowering) gathered(index int) {
	number := l.nextData
	d, ds := l.dataAxis()
	axis := Axis{Number: number, Dim: d.Min, Data: ds, Index: index}
	if l.flat != nil {
		axis.Number, axis.Parts = -1, l.flat
	}
	l.axes = append(l.axes, axis)
}

// Components spends the last axis of the indices, along which the tuples lie,
// and the next k axes of data, which the tuples address.
func (l *Lowering) Components(k int) *Lowering {
	l.count(k)
	l.count(1)
	if l.idle() {
		return l
	}
	l.component = len(l.indices.Dims) - 1
	step := 0
	if l.indexStride != nil {
		step = l.indexStride[l.component]
	}
	for j := range k { // R.18
		l.gathered(j * step)
	}
	return l
}

// Tuples spends the remaining axes of the indices: one loop each, which reuses
// data.
func (l *Lowering) Tuples() *Lowering {
	if l.idle() {
		return l
	}
	for l.nextIndex < l.indexEnd() {
		q, qs := l.indexAxis()
		l.nest = append(l.nest, nestLoop{extent: q, index: qs, indexAxis: l.nextIndex})
	}
	return l
}

// indexEnd returns the end of the indices' axes that are loops.
func (l *Lowering) indexEnd() int {
	if l.component >= 0 {
		return l.component
	}
	return len(l.indices.Dims)
}

// Copy spends the remaining axes of data, which are copied whole.
func (l *Lowering) Copy() *Lowering {
	if l.idle() {
		return l
	}
	return l.Outer(len(l.data.Dims) - l.nextData)
}

// An Alignment says how the extents of GatherElements' indices relate to
// data's, off the gathered axis. The ranks are equal: see SameRank.
type Alignment uint8

const (
	Equal         Alignment = iota // equal extents
	Within                         // extents of the indices may be smaller; the rest of data is not read
	Broadcast                      // an extent of 1 is repeated along the other operand's
	WithinOrEmpty                  // as Within, and indices without elements may have any rank and any extents: Elements checks the ranks
)

// Elements spends every axis of both operands: the gathered one as a tuple
// loop, each other one as a batch loop whose extents align must allow.
func (l *Lowering) Elements(axis int, align Alignment) *Lowering {
	if l.err != nil {
		return l
	}
	if align == WithinOrEmpty {
		return l.withinOrEmpty(axis)
	}
	l.odd = l.odd || align == Broadcast
	if l.counted() || axis == Unknown {
		// The result has the indices' dims, and all axes of data are spent: off
		// the axis, only the indices' extents are known.
		l.alone()
		for i := range l.nest {
			if q := &l.nest[i].extent; align == Broadcast && i != axis && q.Min < 2 {
				*q = AnyDim
			}
		}
		return l
	}
	for i := range l.data.Dims {
		if i == axis {
			l.gathered(0)
			q, qs := l.indexAxis()
			l.nest = append(l.nest, nestLoop{extent: q, index: qs, indexAxis: l.nextIndex})
			continue
		}
		d, ds := l.dataAxis()
		q, qs := l.indexAxis()
		both, ok := d.intersect(q)
		want := "equal"
		switch {
		case align == Within:
			both, ok, want = q, q.Min <= d.Max, "no larger in indices"
			if !l.given.Rank.Known() {
				both.Max = d.Max
			}
		case align == Broadcast:
			want = "equal, or 1 in either"
			if both, ok = broadcast(d, q); d == Exactly(1) && q != d {
				ds = 0
			} else if q == Exactly(1) && d != q {
				qs = 0
			}
		}
		if !ok {
			l.Fail(KindMismatch, "dim %d is %s in data %s and %s in indices %s; off axis %d they must be %s", i, d, l.data, q, l.indices, axis, want)
			return l
		}
		l.nest = append(l.nest, nestLoop{extent: both, data: ds, index: qs, dataAxis: l.nextData, indexAxis: l.nextIndex, within: align == Within})
	}
	return l
}

// withinOrEmpty is Elements for indices that may be any if they have no element.
func (l *Lowering) withinOrEmpty(axis int) *Lowering {
	before := *l
	l.SameRank()
	l.Elements(axis, Within)
	if before.indices.Rank.Known() && (l.err == nil || !slices.ContainsFunc(before.indices.Dims, func(d Dim) bool { return d.Min == 0 })) {
		return l
	}
	// The indices can be of another shape than data allows, so they alone tell
	// the result's.
	*l = before
	l.odd = true
	l.alone()
	return l
}

// alone makes the result have the rank and the dims of the indices, as far as
// they are known, and spends every axis.
func (l *Lowering) alone() {
	l.whole = true
	for l.nextIndex < len(l.indices.Dims) {
		q, qs := l.indexAxis()
		l.nest = append(l.nest, nestLoop{extent: q, index: qs, indexAxis: l.nextIndex})
	}
	l.nextData = len(l.data.Dims)
}

// broadcast returns the extent of two dims under NumPy's broadcasting rule;
// false if they do not broadcast.
func broadcast(d, q Dim) (Dim, bool) {
	switch {
	case d == Exactly(1):
		return q, true
	case q == Exactly(1):
		return d, true
	case d.Min > 1 && q.Min > 1 || d.Max == 0 || q.Max == 0 || d.Known() && q.Known():
		both, ok := d.intersect(q)
		if !ok && (d.Min <= 1 && d.Max >= 1 || q.Min <= 1 && q.Max >= 1) {
			return AnyDim, true // the dim that can be 1 must be 1
		}
		return both, ok
	case d.Min > 1:
		return d, true // the other is 1 or equal
	case q.Min > 1:
		return q, true
	}
	return AnyDim, true
}

// Flatten joins the first n dims of the result into one dim, their product. It
// changes nothing for n < 2.
func (l *Lowering) Flatten(n int) *Lowering {
	if l.counted() {
		l.joined = max(0, n-1)
		return l
	}
	for i := 1; i < n && i < len(l.nest); i++ {
		l.nest[i].written = joined
	}
	return l
}

// FlattenAll joins all dims of the result into one dim.
func (l *Lowering) FlattenAll() *Lowering {
	if l.err != nil {
		return l
	}
	if l.counted() {
		l.nest, l.whole = []nestLoop{{extent: AnyDim}}, true
		return l
	}
	if len(l.nest) == 0 {
		l.Unit()
	}
	return l.Flatten(len(l.nest))
}

// Unit adds a dim of extent 1 to the result.
func (l *Lowering) Unit() *Lowering {
	l.count(-1)
	if !l.idle() {
		l.nest = append(l.nest, nestLoop{extent: Exactly(1)})
	}
	return l
}

// Hide leaves the last dim out of the result's shape. Its extent must be 1.
func (l *Lowering) Hide() *Lowering {
	l.count(1)
	if l.err != nil || l.counted() && !l.whole || len(l.nest) == 0 {
		return l
	}
	l.odd = true
	last := &l.nest[len(l.nest)-1]
	if last.extent.Min > 1 || last.extent.Max < 1 {
		l.Fail(KindMismatch, "indices %s hold %s indices; exactly one goes with data %s", l.indices, last.extent, l.data)
		return l
	}
	last.extent, last.written = Exactly(1), hidden
	return l
}

// DataAsVector reads data of rank 0 as a vector of one element. It returns
// false and changes nothing for other ranks.
func (l *Lowering) DataAsVector() bool {
	l.scalar = !l.data.Rank.Known() && l.data.Rank.Min == 0
	return l.asVector(&l.data, &l.dataStride)
}

// IndicesAsVector reads indices of rank 0 as a vector of one index. It returns
// false and changes nothing for other ranks.
func (l *Lowering) IndicesAsVector() bool { return l.asVector(&l.indices, &l.indexStride) }

func (l *Lowering) asVector(s *Spec, strides *[]int) bool {
	if s.Rank != Exactly(0) {
		return false
	}
	l.odd = true
	*s = Spec{DType: s.DType, Rank: Exactly(1), Dims: []Dim{Exactly(1)}}
	if *strides != nil {
		*strides = []int{1}
	}
	return true
}

// FlattenData reads data as a vector of its elements in row-major order,
// whatever its strides.
func (l *Lowering) FlattenData() *Lowering {
	if l.err != nil {
		return l
	}
	l.odd = true
	if !l.data.Rank.Known() {
		l.data = SpecOfDims(l.data.DType, AnyDim)
		return l
	}
	total, ok := product(l.data.Dims)
	if !ok {
		l.Fail(KindMismatch, "data %s, taken flat, holds more elements than an int can count", l.data)
		return l
	}
	if l.dataStride != nil {
		shape, _ := l.data.Shape()
		if strides, ok := reshapeStrides(shape, l.dataStride, Shape{total.Min}); ok {
			l.dataStride = strides
			l.flat = []Part{}
		} else {
			for i, d := range shape {
				l.flat = append(l.flat, Part{Extent: d, Data: l.dataStride[i]})
			}
			l.dataStride = []int{1}
		}
	}
	l.data = SpecOfDims(l.data.DType, total)
	return l
}

// Negative sets what a negative index means. The default is Reject.
func (l *Lowering) Negative(n Negative) *Lowering {
	l.negative = n
	return l
}

// Outside sets what an index outside its axis means. The default is Error.
func (l *Lowering) Outside(o Outside) *Lowering {
	l.outside, l.lacking = o, ""
	return l
}

// FillText sets Outside to Fill with a value of data's dtype, given as text.
// Text that is no such value is an ErrAttribute. A number that a float type
// lacks, such as 0 in f8e8m0 and NaN in nf4, is refused only where an index is
// outside: Outside is then Error.
func (l *Lowering) FillText(text string) *Lowering {
	fill, err := New(l.data.DType)
	if err == nil {
		err = fill.SetText(0, text)
	}
	switch {
	case err == nil:
		l.outside, l.fill = Fill, fill
	case l.data.DType.IsFloat() && isDecimal(text): // R.12
		l.outside, l.lacking = Error, text
	default:
		l.FailAttribute("the fill %q is no %s", text, l.data.DType)
	}
	return l
}

// dims returns the dims of the result's shape.
func (l *Lowering) dims() ([]Dim, error) {
	dims := make([]Dim, 0, len(l.nest))
	var factors []Dim
	ok := true
	for i, n := range l.nest {
		if n.written >= hidden {
			continue
		}
		factors = append(factors, n.extent)
		if i+1 < len(l.nest) && l.nest[i+1].written == joined {
			continue
		}
		d := n.extent
		if len(factors) > 1 {
			d, ok = product(factors)
		}
		if !ok {
			return nil, shapeError(KindMismatch, "dims of the result that are written as one hold more elements than an int can count")
		}
		dims, factors = append(dims, d), factors[:0]
	}
	return dims, nil
}

// result returns what is known of the output.
func (l *Lowering) result() (Spec, error) {
	if l.counted() && (!l.whole || l.nest == nil) { // R.23
		rank := AnyDim
		switch r, q := l.data.Rank, l.indices.Rank; {
		case l.whole && q.Max != Unbounded:
			rank = q
		case !l.whole && r.Max != Unbounded && q.Max != Unbounded && l.spent.Max != Unbounded:
			rank = Dim{max(0, r.Min+q.Min-l.spent.Max-l.joined), r.Max + q.Max - l.spent.Min - l.joined}
		}
		if rank.Min > MaxRank { // R.4
			return Spec{}, l.tooMany(rank.Min)
		}
		out := SpecOfRank(l.data.DType, rank)
		if rank.Known() { // R.22
			for i, n := range l.nest {
				out.Dims[i] = n.extent
			}
		}
		return out, nil
	}
	if !l.counted() && (l.nextData != len(l.data.Dims) || l.nextIndex != l.indexEnd()) {
		return Spec{}, shapeError(KindRank, "the operator left axes of data %s or indices %s unspent", l.data, l.indices)
	}
	dims, err := l.dims()
	if err != nil {
		return Spec{}, err
	}
	if len(dims) > MaxRank { // R.4
		return Spec{}, l.tooMany(len(dims))
	}
	return SpecOfDims(l.data.DType, dims...), nil
}

func (l *Lowering) tooMany(dims int) error {
	return shapeError(KindRank, "the result of data %s and indices %s has %d dims; there may be %d", l.data, l.indices, dims, MaxRank)
}

// plan returns the lowered operator, with the strides of a row-major result.
func (l *Lowering) plan() (*Plan, error) {
	dims, err := l.dims()
	if err != nil {
		return nil, err
	}
	p := &Plan{
		DType: l.data.DType, IndexType: l.indices.DType,
		Out: make(Shape, len(dims)), Indices: make(Shape, len(l.given.Dims)),
		Loops: make([]Loop, len(l.nest)), Axes: l.axes, Slice: 1, Bag: l.bag,
		Negative: l.negative, Outside: l.outside, Fill: l.fill, Stored: l.stored, operands: l.takes, emptyName: cmp.Or(l.emptyName, "the row of empty bags"), lacking: l.lacking, component: l.component, indexStrides: l.given.Strides,
	}
	for i, d := range dims {
		p.Out[i] = d.Min
	}
	for i, d := range l.given.Dims {
		p.Indices[i] = d.Min
	}
	if p.indexStrides == nil {
		p.indexStrides = p.Indices.Strides()
	}
	n, ok := p.Out.Len()
	if ok && p.DType != String {
		_, ok = numBytes(p.DType, n)
	}
	if !ok { // R.5
		return nil, shapeError(KindMismatch, "the result %s%s is larger than an int can count", p.DType, p.Out)
	}
	out := 1
	for i := len(l.nest) - 1; i >= 0; i-- {
		nl := l.nest[i]
		if p.Loops[i] = (Loop{Extent: nl.extent.Min, Data: nl.data, Index: nl.index}); nl.written != reduced {
			p.Loops[i].Out = out
			out *= max(nl.extent.Min, 1)
		}
	}
	return p, nil
}

// policies returns a plan that holds the dtypes and the policies alone.
func (l *Lowering) policies() *Plan {
	return &Plan{DType: l.data.DType, IndexType: l.indices.DType, Negative: l.negative, Outside: l.outside, Fill: l.fill, Stored: l.stored, component: -1}
}

// restride sets the Out strides of loops, which are l's in order, from the
// strides of the result's dims.
func (l *Lowering) restride(loops []Loop, strides []int) {
	at, inner := len(strides)-1, 1
	for i := len(loops) - 1; i >= 0; i-- {
		switch l.nest[i].written {
		case hidden, reduced:
			loops[i].Out = 0
		case joined:
			loops[i].Out = strides[at] * inner
			inner *= max(loops[i].Extent, 1)
		default:
			loops[i].Out = strides[at] * inner
			at, inner = at-1, 1
		}
	}
}
