package source

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/kernel"
)

// maxRows is the most rows of a block of the result, and of a box of indices.
// Sorting 2^18 rows takes a few milliseconds, and a cancelled run ends within 10.
const maxRows = 1 << 18

// A Resolver finds the rows of a plan whose indices are an Array, for executors
// that move rows themselves: on a cluster, in a server, on a device. It reads only
// the part of the indices that a range of rows needs. It is safe for concurrent
// use. After Close of the Array its methods are an fs.ErrClosed.
type Resolver struct {
	plan    *garner.Plan
	indices Array
	fetches Array         // indices for callers that hold them, without mapping where there is a budget
	steps   []int         // the Index of each of the plan's axes
	axes    []garner.Axis // the plan's axes, for tuples whose components are contiguous
	fills   bool          // a row may be a fill
	most    int           // rows resolved at a time

	inMemory bool          // tensor has every index
	tensor   garner.Tensor // in memory, or mapped
	bytes    []byte        // its elements as the array stores them
	scratch  sync.Pool     // free list of *indexScratch
}

// indexScratch is the memory that a box of indices takes.
type indexScratch struct {
	bytes   []byte // the box's indices, in order
	places  []int64
	shifts  []uint8
	fetcher fetcher
}

// NewResolver makes a Resolver for a plan that was made for the Spec of indices.
// Rows count in the order of plan.Loops; with plan.InOrder() that is the order of
// the result. A plan without rows has indices all the same, which a gather checks:
// call Survey for it.
//
// budget is the most bytes that one call holds for indices and for sorting them;
// one row's are the least. 0 is no budget: indices that are in memory or in a
// mapped file are then read in place, others in boxes of up to 2^18 rows. With a
// budget no file is mapped.
//
// Indices of another type or shape than the plan's are an ErrDType or an
// ErrShape, and so are loops with more rows than an int counts. Nothing is read.
func NewResolver(plan *garner.Plan, indices Array, budget int64) (*Resolver, error) {
	h, err := held(indices)
	if err != nil {
		return nil, err
	}
	defer h.Release()
	spec := indices.Spec()
	if _, err := sizeOf(spec); err != nil {
		return nil, err
	}
	if spec.DType != plan.IndexType {
		return nil, garner.Errorf(garner.ErrDType, "indices are %s; the plan was made for %s", spec.DType, plan.IndexType)
	}
	if shape, _ := spec.Shape(); !shape.Equal(plan.Indices) {
		return nil, garner.Errorf(garner.ErrShape, "indices are %s; the plan was made for %s%s", spec, plan.IndexType, plan.Indices)
	}
	if _, ok := rowsOf(plan); !ok {
		return nil, garner.Errorf(garner.ErrShape, "the plan's loops have a negative extent, or more rows than an int can count")
	}
	if !within(plan, spec) {
		return nil, garner.Errorf(garner.ErrShape, "the plan's loops leave the indices %s; it was made for others", spec)
	}
	if budget < 0 {
		return nil, garner.Errorf(nil, "a budget of %d bytes; give 0 for none", budget)
	}
	most := maxRows
	if budget > 0 {
		most = int(min(budget/resolvedBytes(plan, spec.DType), maxRows))
	}
	r := newResolver(plan, indices, budget > 0, most)
	if _, ok := indices.(*memory); ok || budget == 0 {
		r.view()
	}
	return r, nil
}

// within reports whether a plan's loops and tuples stay inside dense indices.
func within(plan *garner.Plan, spec garner.Spec) bool {
	if rows, _ := rowsOf(plan); rows == 0 || len(plan.Axes) == 0 {
		return true
	}
	n := 1
	for _, d := range plan.Indices {
		n *= d // as many elements as an int counts: sizeOf
	}
	low, high := 0, 0 // of a tuple's first component
	reach := func(turns, stride int) bool {
		if stride != 0 && turns > (n-1)/max(stride, -stride) || stride == math.MinInt {
			return turns == 0
		}
		low, high = low+min(turns*stride, 0), high+max(turns*stride, 0)
		return high-low < n
	}
	for _, l := range plan.Loops {
		if !reach(l.Extent-1, l.Index) {
			return false
		}
	}
	for _, a := range plan.Axes {
		if a.Index < -low || a.Index >= n-high {
			return false
		}
	}
	return low >= 0
}

// rowsOf returns the number of rows of a plan; false where an int does not count
// it.
func rowsOf(plan *garner.Plan) (int, bool) {
	extents := make(garner.Shape, len(plan.Loops))
	for i, l := range plan.Loops {
		extents[i] = l.Extent
	}
	return extents.Len()
}

// resolvedBytes is the most memory that a row's tuple takes while it is resolved.
// Each component takes its bytes as read and in order, its place and shift, and
// two keys and a position of the sorter.
func resolvedBytes(plan *garner.Plan, dtype garner.DType) int64 {
	component := 2*(int64(dtype.Bits())/8+1) + 8 + 1 + 2*16 + 8
	return component * int64(max(len(plan.Axes), 1))
}

// newResolver makes a Resolver that reads the indices of at most most rows at a
// time.
func newResolver(plan *garner.Plan, indices Array, unmapped bool, most int) *Resolver {
	r := &Resolver{plan: plan, indices: indices, most: max(most, 1), steps: make([]int, len(plan.Axes))}
	r.fills = plan.Outside == garner.Zero || plan.Outside == garner.Fill
	r.fetches = fetches(indices, unmapped, runtime.GOMAXPROCS(0))
	for i, a := range plan.Axes {
		r.steps[i] = a.Index
		a.Index = i
		r.axes = append(r.axes, a)
	}
	r.scratch.New = func() any { return new(indexScratch) }
	return r
}

// view takes the indices in place where they are in memory or mapped.
func (r *Resolver) view() {
	if r.tensor, r.inMemory = tensorOf(r.indices); r.inMemory {
		r.bytes, _ = viewOf(r.indices)
	}
}

// load reads all indices into memory.
func (r *Resolver) load(ctx context.Context) (err error) {
	r.tensor, r.bytes, err = loaded(ctx, r.fetches)
	r.inMemory = err == nil
	return err
}

// loaded reads an array into memory: a tensor, and its elements as the array stores
// them.
func loaded(ctx context.Context, a Array) (t garner.Tensor, b []byte, err error) {
	spec := a.Spec()
	size, err := sizeOf(spec)
	if err != nil {
		return t, nil, err
	}
	b = make([]byte, size)
	if size > 0 {
		if err := a.Fetch(ctx, Rows{At: []int64{0}, Size: int(size), Dst: b}); err != nil {
			return t, nil, err
		}
	}
	shape, _ := spec.Shape()
	t, err = garner.FromStrided(spec.DType, b, 0, shape, stridesOf(spec))
	return t, b, err
}

// stridesOf returns a spec's strides, in elements.
func stridesOf(spec garner.Spec) []int {
	if spec.Strides != nil {
		return spec.Strides
	}
	shape, _ := spec.Shape()
	return shape.Strides()
}

// Rows finds where the rows first … first+len(rows)-1 of the plan begin in data:
// in elements from data's first one, or -1 where the plan's Fill, or zeros, stand
// for a row. filled is the number of those.
//
// It reads the indices of these rows alone, in boxes that stay within the budget,
// and takes about a nanosecond a row beside the reads. An index that is refused is
// a *garner.IndexError: the first of all indices in row-major order, with the
// count of the others, as garner.Gather reports it. Finding it takes the time of
// Survey. Rows that the plan does not have are an ErrShape, as are negative
// strides of data in a plan with fills, whose rows cannot be told from -1. Indices
// that cannot be read are a *ReadError. After an error rows are unspecified.
func (r *Resolver) Rows(ctx context.Context, rows []int64, first int) (filled int, err error) {
	h, err := held(r.indices)
	if err != nil {
		return 0, err
	}
	defer h.Release()
	filled, err = r.resolve(ctx, rows, first)
	if cut := r.cut(err); cut != nil {
		return 0, cut
	}
	return filled, err
}

// cut is the error of indices that were read in place, and may have read as zeros
// because their file was cut short; err is what came of them.
func (r *Resolver) cut(err error) error {
	if !r.inMemory || err != nil && !errors.Is(err, garner.ErrIndex) {
		return nil
	}
	switch a := r.indices.(type) {
	case *File:
		if cut := a.parts[0].file.mapping().Check(r.bytes); cut != nil {
			return r.vanished(cut)
		}
	case *memory:
		return a.check(len(r.bytes))
	}
	return nil
}

// resolve is Rows for callers that hold the indices, and check them afterwards.
func (r *Resolver) resolve(ctx context.Context, rows []int64, first int) (filled int, err error) {
	if total, _ := rowsOf(r.plan); first < 0 || first > total || len(rows) > total-first {
		return 0, garner.Errorf(garner.ErrShape, "%d rows from row %d on; the plan has %d", len(rows), first, total)
	}
	if filled, err = r.rows(ctx, rows, first); errors.Is(err, garner.ErrIndex) {
		// It is nil where the indices have changed since.
		if bad := r.check(ctx); bad != nil {
			err = bad
		}
	}
	return filled, err
}

// rows is Rows whose ErrIndex does not name the index.
func (r *Resolver) rows(ctx context.Context, rows []int64, first int) (filled int, err error) {
	for r.inMemory && len(rows) > 0 {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		piece := rows[:min(len(rows), maxRows)]
		n, err := r.plan.Rows(piece, r.tensor, first)
		if err != nil {
			return 0, r.vanished(err)
		}
		rows, first, filled = rows[len(piece):], first+len(piece), filled+n
	}
	if len(rows) == 0 {
		return filled, nil
	}
	if r.fills && backwards(r.plan) {
		return 0, garner.Errorf(garner.ErrShape, "data's strides are negative, so that a row may begin before its first element, where its number could be a fill's; Clone data")
	}
	s := r.scratch.Get().(*indexScratch)
	defer r.scratch.Put(s)
	for b := range boxes(r.plan.Loops, first, len(rows), r.most) {
		n, err := r.box(ctx, s, rows[:b.count], b)
		if err != nil {
			return 0, err
		}
		rows, filled = rows[b.count:], filled+n
	}
	return filled, nil
}

// backwards reports whether a row may begin before data's first element.
func backwards(plan *garner.Plan) bool {
	if slices.ContainsFunc(plan.Axes, func(a garner.Axis) bool { return a.Dim == 0 }) {
		return false // there is no row
	}
	return slices.ContainsFunc(plan.Loops, func(l garner.Loop) bool { return l.Data < 0 }) ||
		slices.ContainsFunc(plan.Axes, func(a garner.Axis) bool { return a.Data < 0 })
}

// box finds the rows of one box: those of a smaller plan over the box's indices,
// shifted by where the box begins in data.
func (r *Resolver) box(ctx context.Context, s *indexScratch, rows []int64, b box) (filled int, err error) {
	if len(r.axes) == 0 {
		for i := range b.loops {
			b.loops[i].Index = 0 // no index is read
		}
	}
	indices, err := r.read(ctx, s, b, r.steps)
	if err != nil {
		return 0, err
	}
	part := *r.plan
	part.Loops, part.Axes, part.Indices = b.loops, r.axes, indices.Shape()
	stride := max(len(r.axes), 1)
	for i := len(b.loops) - 1; i >= 0; i-- {
		if l := &b.loops[i]; l.Index != 0 {
			l.Index = stride
			stride *= l.Extent
		}
	}
	if filled, err = part.Rows(rows, indices, 0); err != nil || b.data == 0 {
		return filled, err
	}
	for i, row := range rows {
		if row >= 0 || !r.fills {
			rows[i] = row + int64(b.data)
		}
	}
	return filled, nil
}

// Survey counts what the plan makes of all indices, and finds the first that is
// refused in row-major order, with the count of the others: see
// garner.Plan.Survey. It reads the indices in pieces that stay within the budget,
// and takes some 25 ns an index beside the reads, on one core. Errors are
// *ReadErrors and the context's cause; a refused index is Survey.First.
func (r *Resolver) Survey(ctx context.Context) (garner.Survey, error) {
	h, err := held(r.indices)
	if err != nil {
		return garner.Survey{}, err
	}
	defer h.Release()
	s, err := r.survey(ctx)
	if cut := r.cut(err); cut != nil {
		return garner.Survey{}, cut
	}
	return s, err
}

// survey is Survey for callers that hold the indices, and check them afterwards.
func (r *Resolver) survey(ctx context.Context) (garner.Survey, error) {
	if r.inMemory {
		s, err := r.plan.Survey(ctx, r.tensor)
		return s, r.vanished(err)
	}
	total, _ := r.plan.Indices.Len()
	return r.surveyPart(ctx, 0, total)
}

// SurveyPart surveys n indices from the first-th on in row-major order, for executors that
// share the work: the surveys of all parts, added in order, equal Survey. It reads these
// indices alone. Indices that there are not are an ErrShape; other errors are those of
// Survey.
func (r *Resolver) SurveyPart(ctx context.Context, first, n int) (garner.Survey, error) {
	if total, _ := r.plan.Indices.Len(); first < 0 || n < 0 || first > total-n {
		return garner.Survey{}, garner.Errorf(garner.ErrShape, "there are no %d indices from the %d-th on: the indices %s are %d", n, first, r.plan.Indices, total)
	}
	h, err := held(r.indices)
	if err != nil {
		return garner.Survey{}, err
	}
	defer h.Release()
	s, err := r.surveyPart(ctx, first, n)
	if cut := r.cut(err); cut != nil {
		return garner.Survey{}, cut
	}
	return s, err
}

// surveyPart is SurveyPart for callers that hold the indices, and check them afterwards.
func (r *Resolver) surveyPart(ctx context.Context, first, n int) (garner.Survey, error) {
	if n == 0 || len(r.axes) == 0 {
		return garner.Survey{}, nil
	}
	shape := r.plan.Indices
	loops := make([]garner.Loop, len(shape))
	for i, stride := range stridesOf(r.indices.Spec()) {
		loops[i] = garner.Loop{Extent: shape[i], Index: stride}
	}
	scratch := r.scratch.Get().(*indexScratch)
	defer r.scratch.Put(scratch)
	var all garner.Survey
	for b := range boxes(loops, first, n, r.most) {
		part, err := r.read(ctx, scratch, b, []int{0})
		if err != nil {
			return garner.Survey{}, err
		}
		s, err := r.plan.SurveyPart(ctx, part, first)
		if err != nil {
			return garner.Survey{}, err
		}
		all.Add(s)
		first += b.count
	}
	return all, nil
}

// check returns the *garner.IndexError of the first refused index; nil where
// there is none.
func (r *Resolver) check(ctx context.Context) error {
	if r.inMemory {
		return r.vanished(r.plan.Check(ctx, r.tensor))
	}
	s, err := r.survey(ctx)
	if err == nil && s.First != nil {
		err = s.First
	}
	return err
}

// vanished names the file where the page of mapped indices could not be read.
func (r *Resolver) vanished(err error) error {
	f, ok := r.indices.(*File)
	if !ok || !errors.Is(err, garner.ErrFault) {
		return err
	}
	if changed := f.changed(); changed != nil {
		return changed
	}
	return &ReadError{Path: f.files[0].path, Row: -1, Err: err}
}

// read reads the indices of a box into a row-major tensor: a dim for each loop
// that moves the indices, and a last one for the steps, which are offsets from a
// tuple's first component, in elements. The tensor is valid until s is used again.
func (r *Resolver) read(ctx context.Context, s *indexScratch, b box, steps []int) (garner.Tensor, error) {
	spec := r.indices.Spec()
	width := int64(spec.DType.Bits())
	var shape garner.Shape
	var strides []int
	for _, l := range b.loops {
		if l.Index != 0 {
			shape, strides = append(shape, l.Extent), append(strides, l.Index)
		}
	}
	shape = append(shape, max(len(steps), 1))
	count, ok := shape.Len()
	if !ok {
		return garner.Tensor{}, garner.Errorf(garner.ErrShape, "a part %s of the indices holds more elements than an int can count", shape)
	}
	if len(steps) == 0 || count == 0 {
		return garner.New(spec.DType, shape...)
	}
	if !contiguous(shape, strides, steps) {
		return r.readScattered(ctx, s, b, steps, shape, strides)
	}
	from, to := int64(b.index)*width/8, (int64(b.index+count)*width+7)/8
	dst := s.room(int(to - from))
	if err := r.fetches.Fetch(ctx, Rows{At: []int64{from}, Size: len(dst), Dst: dst}); err != nil {
		return garner.Tensor{}, err
	}
	return garner.FromStrided(spec.DType, dst, int((int64(b.index)*width-from*8)/width), shape, shape.Strides())
}

// contiguous reports whether the loops' strides and the steps visit elements that
// are stored one behind the other, in that order.
func contiguous(shape garner.Shape, strides, steps []int) bool {
	for i, s := range steps {
		if s != i {
			return false
		}
	}
	return slices.Equal(strides, shape.Strides()[:len(strides)])
}

// room returns n bytes.
func (s *indexScratch) room(n int) []byte {
	if n > len(s.bytes) {
		s.bytes = make([]byte, n+8)
	}
	return s.bytes[:n]
}

// readScattered is read for indices that are stored in another order: it fetches
// the bytes that hold them, each once, and puts their bits in order.
func (r *Resolver) readScattered(ctx context.Context, s *indexScratch, b box, steps []int, shape garner.Shape, strides []int) (garner.Tensor, error) {
	dtype := r.indices.Spec().DType
	width := int64(dtype.Bits())
	places := s.places[:0] // in bits
	var walk func(axis, at int)
	walk = func(axis, at int) {
		if axis == len(strides) {
			for _, step := range steps {
				places = append(places, int64(at+step)*width)
			}
			return
		}
		for i := range shape[axis] {
			walk(axis+1, at+i*strides[axis])
		}
	}
	walk(0, b.index)
	shifts := s.shifts[:0]
	for i, place := range places {
		places[i] = place >> 3
		shifts = append(shifts, uint8(place&7))
	}
	s.places, s.shifts = places, shifts
	if slices.Min(places) < 0 {
		return garner.Tensor{}, garner.Errorf(garner.ErrShape, "the plan addresses indices before the first; it was made for other indices than %s", r.indices.Spec())
	}
	src, err := s.fetcher.fetchDistinct(ctx, r.fetches, places, int(max(1, width/8)))
	if err != nil {
		return garner.Tensor{}, err
	}
	for i, place := range places {
		places[i] = place*8 + int64(shifts[i])
	}
	dst := s.room(int((int64(len(places))*width + 7) / 8))
	kernel.Bits(dst, src, places, kernel.Move{Step: int(width), Size: int(width), Elem: int(width)}, 0)
	return garner.FromBytes(dtype, dst, shape...)
}
