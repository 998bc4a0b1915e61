package garner

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/garner-go/garner/internal/kernel"
)

// tuning is how work is cut up. Tests cut it small, so that few elements see
// every way through.
type tuning struct {
	tileRows    int // rows that are moved at once, a multiple of 8
	unitBytes   int // about what is moved at once
	unitTiles   int // up to how many tiles one core takes together
	sharedRows  int // up to how many tuples are resolved before anything moves, where their rows are wanted more than once
	aloneBytes  int // up to which size of result a run stays on the caller's goroutine
	nearBytes   int // up to which size data is taken to be in the caches: nothing is prefetched
	aheadLines  int // how many cache lines are asked for before their turn
	streamBytes int // from which size on a result, per core up to two, is written past the caches
	stripBytes  int // how wide the strips are in which the columns of far data are visited
}

// tuned keeps a tile's rows and index values, 8 KiB each, in the first-level
// cache; moving a tile takes some 20 to 60 µs, so that the context is looked at
// often. Waking a goroutine costs about 100 µs, which is what moving aloneBytes
// takes. docs/kernels.md has the measurements.
var tuned = tuning{
	tileRows: 1024, unitBytes: 256 << 10, unitTiles: 16, sharedRows: 64 << 10, aloneBytes: 512 << 10,
	nearBytes: 1 << 20, aheadLines: 64, streamBytes: 24 << 20, stripBytes: 256,
}

// Gather runs op on all cores and returns a new, row-major result of data's
// dtype. data and indices may be any views and are only read.
//
// Errors are those of NewPlan, an *IndexError, and ErrFault for Volatile
// operands. Nothing is kept from one call to the next; Prepare saves the
// lowering and the scratch where a gather is repeated.
func Gather(op Op, data, indices Tensor) (Tensor, error) {
	return GatherContext(context.Background(), op, data, indices)
}

// GatherContext is Gather that ends early, within 10 ms, with the context's
// cause where ctx is cancelled.
func GatherContext(ctx context.Context, op Op, data, indices Tensor) (Tensor, error) {
	p, err := Prepare(op, data.Spec(), indices.Spec())
	if err != nil {
		return Tensor{}, err
	}
	out, err := New(p.plan.DType, p.plan.Out...)
	if err != nil {
		return Tensor{}, err
	}
	return out, p.run(ctx, data, indices, out)
}

// GatherInto is GatherContext into memory of the caller's: out has the dtype
// and shape that Infer says, may be any view whose elements are apart, and must
// not share memory with data or indices (ErrOverlap). After an error its
// contents are unspecified; nothing beyond it is ever touched.
func GatherInto(ctx context.Context, op Op, data, indices, out Tensor) error {
	p, err := Prepare(op, data.Spec(), indices.Spec())
	if err != nil {
		return err
	}
	return p.Run(ctx, data, indices, out)
}

// A PrepareOption changes how a Prepared runs, never what it answers.
type PrepareOption func(*Prepared)

// Threads is how many cores a run may use; all of GOMAXPROCS where it is not
// given or not positive.
func Threads(n int) PrepareOption {
	return func(p *Prepared) { p.threads = n }
}

// A Prepared is a plan with the scratch to run it: a run allocates nothing, on
// one core or on all. It serves one goroutine at a time, and keeps no result and
// no resolved rows from one run to the next.
type Prepared struct {
	op            Op
	data, indices Spec
	threads       int
	progress      func(done, total int64)
	tuning        tuning
	plan          *Plan
	outStrides    []int

	normal   normal
	resolver resolver
	layout   layout
	fill     []byte
	workers  []worker
	shared   []int64 // every tuple's row, where rows are wanted more than once
	straight []int64 // places of data from end to end, where those are prefetched instead of rows
	strips   *strips // nil where columns are not visited in strips
	start    []func()

	met [3]met // data, indices and the output of the last run

	// The run that is under way.
	ctx     context.Context
	src     Tensor
	at      Tensor
	dst     Tensor
	next    atomic.Int64 // the next unit that nobody has taken
	limit   int64
	phase   phase
	stop    atomic.Bool
	refuse  atomic.Bool // an index was refused
	outside atomic.Bool // a tuple of shared is outside, and filled
	fault   atomic.Bool
	done    sync.WaitGroup
}

type phase uint8

const (
	moveTiles  phase = iota // a unit is a tile of tuples: resolved, then moved for every free turn
	resolveAll              // a unit is a tile of tuples: resolved into shared
	moveShared              // a unit is a tile of tuples and some free turns
	moveStrips              // a unit is a strip of columns
)

// layout is how a plan's work is cut into units.
type layout struct {
	tile    int // tuples per tile
	tiles   int
	unit    int // tiles per unit, in phase moveTiles
	free    int // turns of the free loops times chunks
	chunks  int // pieces of a slice
	chunk   int // elements per piece but the last
	group   int // free turns per unit, in phase moveShared
	share   bool
	alone   bool // one goroutine only
	whole   bool // the tuples' places in the result are evenly spaced
	step    int  // their distance, in elements, where whole
	ahead   int  // how many rows before its turn a row is prefetched; 0: data is near
	turning bool // what is prefetched is the next free turn, not the next tile
	linear  bool // what is prefetched is the data of the next tile from end to end, not its rows
	stream  bool // the result is written past the caches
	direct  int  // bytes of an element that goes straight from its index; 0: by rows
	little  bool // so few rows that starting to run is most of the time
}

type worker struct {
	rows, values []int64
	strip        []byte
}

// Prepare lowers op for operands of known shape and allocates what running it
// takes: about 16 KiB a core, and 8 bytes a tuple up to 512 KiB. The strides in
// the specs are those that a run is fastest with; a run with others lowers
// anew. Errors are those of NewPlan.
func Prepare(op Op, data, indices Spec, options ...PrepareOption) (*Prepared, error) {
	p := &Prepared{op: op, data: data, indices: indices, tuning: tuned}
	for _, o := range options {
		o(p)
	}
	if p.threads <= 0 {
		p.threads = runtime.GOMAXPROCS(0)
	}
	return p, p.lower(nil)
}

// Plan is the plan that is run.
func (p *Prepared) Plan() *Plan { return p.plan }

// lower makes the plan for the strides in p.data, p.indices and out, nil for
// row-major, and the scratch.
func (p *Prepared) lower(out []int) error {
	l, _, err := lower(p.op, p.data, p.indices)
	if err != nil {
		return err
	}
	if l.partial {
		return shapeError(KindRank, "a plan needs every dim of data %s and of indices %s; Infer does without", p.data, p.indices)
	}
	plan, err := l.plan()
	if err != nil {
		return err
	}
	if p.outStrides = plan.Out.Strides(); out != nil {
		p.outStrides = slices.Clone(out)
		l.restride(plan, p.outStrides)
	}
	// Lowering may read operands as of another rank; those that come to run are
	// compared with these.
	p.data.Strides, p.indices.Strides = p.data.strides(), p.indices.strides()
	p.prepare(plan)
	return nil
}

// prepare cuts the plan's work into units.
func (p *Prepared) prepare(plan *Plan) {
	p.plan, p.normal = plan, plan.normalize()
	n := &p.normal
	if len(plan.Axes) == 0 {
		// Without indices every turn is a row of its own.
		n.index, n.free = n.free, nil
	}
	t := p.tuning
	if p.strips = newStrips(plan, n, t); p.strips == nil {
		n.index = columns(n.index, plan, n.slice, t)
	}
	p.resolver = newResolver(plan, n.index)
	r := &p.resolver
	if p.strips != nil && !r.tuples {
		p.strips = nil
	}

	l := layout{tile: t.tileRows}
	bytes := n.slice
	switch bits := plan.DType.Bits(); {
	case bits == 0:
		bytes *= 16 // a string's header
	case bits >= 8:
		bytes *= bits / 8
	default:
		bytes = max(1, bytes/(8/bits))
	}
	bytes = max(bytes, 1)
	l.chunk, l.chunks = max(n.slice, 1), 1
	if bytes > t.unitBytes {
		l.chunk = max(64, n.slice/(bytes/t.unitBytes+1)&^63) // whole lines, and whole bytes of a packed type
		l.chunks = (n.slice + l.chunk - 1) / l.chunk
		bytes = max(bytes/l.chunks, 1)
	}
	if bytes*t.tileRows > t.unitBytes {
		l.tile = max(8, t.unitBytes/bytes&^7)
	}
	l.tiles = (r.total + l.tile - 1) / l.tile
	l.free = turns(n.free) * l.chunks
	l.share = l.free > 1 && r.total <= t.sharedRows
	perTurn := max(1, min(r.total, l.tile)*bytes)
	l.group = max(1, min(l.free, t.unitBytes/perTurn))
	l.whole, l.step = evenly(n.index, n.slice)
	size := math.MaxInt
	if n, ok := mul(max(r.total, 1), max(l.free, 1)); ok {
		if n, ok = mul(n, bytes); ok {
			size = n
		}
	}
	l.alone = p.threads == 1 || size <= t.aloneBytes && r.total <= t.sharedRows
	if plan.DType.Packed() {
		// Two units must not meet inside a byte of the result.
		l.alone = l.alone || l.free > 1 || !l.whole || l.step != n.slice
	}
	threads := p.threads
	if l.alone {
		threads = 1
	}
	l.unit = max(1, min(t.unitTiles, l.tiles/(4*threads)))
	if reach := p.reach(); plan.DType.Bits() >= 8 && reach > t.nearBytes && !n.empty {
		lines := (bytes + 63) / 64
		if bytes%64 != 0 && 64%bytes != 0 {
			lines++ // most begin and end inside one
		}
		l.ahead = max(4, t.aheadLines/lines)
		// Where the axes reach less than what the tiles hold, the lines that
		// are far are those of the next turn.
		l.turning = l.share && l.chunks == 1 && span(plan)*r.unit <= t.unitBytes
	}
	p.straighten(&l)
	l.stream = size >= t.streamBytes*min(p.threads, 2) && bytes > 16
	l.direct = direct(plan, n, r)
	l.little = l.alone && l.free == 1 && l.whole && l.tiles == 1 && !n.empty && plan.DType.Bits() >= 8 && p.strips == nil && p.progress == nil
	p.layout = l

	p.fill = nil
	if plan.Outside == Fill && plan.DType != String {
		p.fill = plan.Fill.scalar()
	}
	for len(p.workers) < threads {
		i := len(p.workers)
		p.workers = append(p.workers, worker{})
		p.start = append(p.start, func() {
			defer p.done.Done()
			p.work(i)
		})
	}
	scratch := min(l.tile+l.ahead, r.total)
	for i := range p.workers[:threads] {
		if w := &p.workers[i]; len(w.rows) < scratch {
			w.rows, w.values = make([]int64, scratch), make([]int64, scratch)
		}
	}
	if p.strips != nil {
		for i := range p.workers[:threads] {
			if w := &p.workers[i]; len(w.strip) < p.strips.bytes() {
				w.strip = make([]byte, p.strips.bytes())
			}
		}
	}
	if l.share && len(p.shared) < r.total {
		p.shared = make([]int64, r.total)
	}
}

// reach is about how many bytes of data the plan can read.
func (p *Prepared) reach() int {
	n := 1
	for _, d := range p.data.Dims {
		n *= max(d.Min, 1)
	}
	return n * p.plan.DType.Bits() / 8
}

// span is how far the gathered axes reach, in elements.
func span(p *Plan) int {
	n := 1
	for _, a := range p.Axes {
		n += max(a.Dim-1, 0) * max(a.Data, -a.Data)
	}
	return n
}

// direct is the bytes of an element where elements go straight from their
// indices: one gathered axis whose positions are neighbours, and nothing else.
func direct(p *Plan, n *normal, r *resolver) int {
	if !r.tuples || len(r.axes) != 1 || len(n.index) != 1 || len(n.free) > 0 || n.slice != 1 || r.policy.Outside != kernel.Error {
		return 0
	}
	if l := n.index[0]; l.Data != 0 || l.Out != 1 || p.Axes[0].Data != 1 || p.DType.Bits() < 8 || r.unit > 8 {
		return 0
	}
	return r.unit
}

// columns cuts the innermost loop where it runs along data while a loop around
// it jumps about in it, as along any axis of GatherElements but the last: in
// pieces, the lines of one are still near when the next jump comes to them.
func columns(loops []Loop, p *Plan, slice int, t tuning) []Loop {
	last := len(loops) - 1
	width := p.DType.Bits() / 8
	if last < 1 || width == 0 || slice != 1 || len(p.Axes) == 0 {
		return loops
	}
	inner, around := loops[last], loops[last-1]
	wide := t.stripBytes / width
	if inner.Data != 1 || around.Data != 0 || wide < 2 || inner.Extent < 16*wide || span(p)*width <= t.nearBytes {
		return loops
	}
	// What is left over of the last piece would be a nest of its own: the width
	// is one that leaves nothing, if there is one near.
	for inner.Extent%wide != 0 && wide > t.stripBytes/width/2 {
		wide--
	}
	if inner.Extent%wide != 0 {
		return loops
	}
	piece := Loop{Extent: inner.Extent / wide, Data: inner.Data * wide, Index: inner.Index * wide, Out: inner.Out * wide}
	inner.Extent = wide
	return append(append(loops[:last-1:last-1], piece), around, inner)
}

// straighten finds whether the data that a tile, or a turn, can read is so
// little that it is prefetched from end to end, which memory likes better than
// row by row; and makes the list of places that asks for it.
func (p *Prepared) straighten(l *layout) {
	n, r := &p.normal, &p.resolver
	if l.ahead == 0 || len(p.plan.Axes) != 1 || n.slice != 1 {
		return
	}
	reach, count := span(p.plan)*r.unit, r.total // bytes, and rows that read them
	if !l.turning {
		last := len(n.index) - 1
		if l.share || len(n.free) > 0 || last < 1 || p.strips != nil {
			return
		}
		inner, around := n.index[last], n.index[last-1]
		if inner.Data != 0 || around.Data <= 0 || inner.Extent > 8*p.tuning.tileRows {
			return
		}
		runs := max(1, p.tuning.tileRows/inner.Extent)
		count = runs * inner.Extent
		reach = runs * around.Data * r.unit
	}
	if count*64 < reach {
		return // most lines are not read
	}
	l.linear = true
	if !l.turning {
		l.tile = count
		l.tiles = (r.total + count - 1) / count
	}
	p.straight = p.straight[:0]
	for j := range count {
		p.straight = append(p.straight, int64(j*reach/count))
	}
}

// evenly reports whether a nest's places in the result are evenly spaced, and
// how far apart.
func evenly(loops []Loop, slice int) (bool, int) {
	if len(loops) == 0 {
		return true, slice
	}
	for i := range len(loops) - 1 {
		if loops[i].Out != loops[i+1].Out*loops[i+1].Extent {
			return false, 0
		}
	}
	return true, loops[len(loops)-1].Out
}

// Run runs the plan on tensors of the dtypes and shapes that it was prepared
// for; another is an ErrDType or an ErrShape. See GatherInto for out and the
// errors. A cancelled ctx ends it within 10 ms with the context's cause; no
// goroutine outlives the call.
func (p *Prepared) Run(ctx context.Context, data, indices, out Tensor) error {
	if !p.known(&data, &indices, &out) {
		if err := p.accept(data, indices, out); err != nil {
			return err
		}
		if !apart(out) {
			p.met = [3]met{}
			return errorf(ErrOverlap, "the output's strides %v let its own elements overlap; gather into a tensor without", out.strides)
		}
		p.meet(&data, &indices, &out)
	}
	from, to, ok := p.met[2].span(&out)
	for i, t := range [...]*Tensor{&data, &indices} {
		if f, e, has := p.met[i].span(t); ok && has && f < to && from < e { // R.17
			return errorf(ErrOverlap, "the output shares memory with an input; gather into memory of its own")
		}
	}
	if p.layout.little && !data.volatile && !indices.volatile {
		return p.runLittle(ctx, &data, &indices, &out)
	}
	return p.run(ctx, data, indices, out)
}

// met is what was found out about the shape and the strides of an operand, and
// whose they were: Tensors are immutable, so that what has the same slices needs
// no second look.
type met struct {
	dtype          DType
	shape, strides *int
	rank           int
	any            bool // it has elements
	low, high      int  // from its offset to its first and its last element
}

// known reports whether the operands of a run were those of the run before, as
// far as shapes and strides go.
func (p *Prepared) known(data, indices, out *Tensor) bool {
	return p.met[2].is(out) && p.met[0].is(data) && p.met[1].is(indices)
}

func (m *met) is(t *Tensor) bool {
	return m.dtype == t.dtype && m.dtype != Invalid && m.rank == len(t.shape) && m.shape == first(t.shape) && m.strides == first(t.strides)
}

// first is where a slice lies; nil where it is empty.
func first(s []int) *int {
	if len(s) == 0 {
		return nil
	}
	return &s[0]
}

// meet remembers operands that were accepted.
func (p *Prepared) meet(operands ...*Tensor) {
	for i, t := range operands {
		m := met{dtype: t.dtype, rank: len(t.shape), shape: first(t.shape), strides: first(t.strides)}
		if n, _ := t.shape.Len(); n > 0 {
			low, high, _ := t.extent()
			m.any, m.low, m.high = true, low-t.offset, high-t.offset
		}
		p.met[i] = m
	}
}

// span is where the elements of t, which m is of, lie in memory.
func (m *met) span(t *Tensor) (from, to uintptr, ok bool) {
	if !m.any {
		return 0, 0, false
	}
	from, to = t.between(t.offset+m.low, t.offset+m.high)
	return from, to, true
}

// runLittle is a run of few rows: on the caller's goroutine, without anything
// that many cores would need.
func (p *Prepared) runLittle(ctx context.Context, data, indices, out *Tensor) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r, w := &p.resolver, &p.workers[0]
	rows := w.rows[:r.total]
	outside := r.rows(rows, w.values[:r.total], indices.buf, data.offset*r.unit, indices.offset, 0)
	if r.refused(outside) {
		return p.explain(ctx, *indices)
	}
	m := kernel.Move{At: out.offset * r.unit, Step: p.layout.step * r.unit, Size: p.normal.slice * r.unit, Elem: r.unit, Filled: outside > 0}
	kernel.Rows(out.buf, data.buf, rows, m, p.fill)
	return nil
}

// accept checks the operands of a run, and lowers anew where strides changed.
func (p *Prepared) accept(data, indices, out Tensor) error {
	for i, t := range [...]*Tensor{&data, &indices} {
		s, name := &p.data, "data"
		if i == 1 {
			s, name = &p.indices, "indices"
		}
		if t.dtype != s.DType {
			return errorf(ErrDType, "%s is %s; the plan was prepared for %s", name, t.dtype, s.DType)
		}
		if !sameDims(t.shape, s.Dims) {
			return shapeError(KindMismatch, "%s is %s%s; the plan was prepared for %s", name, t.dtype, t.shape, *s)
		}
	}
	if out.dtype != p.plan.DType {
		return errorf(ErrDType, "the output is %s; the result is %s", out.dtype, p.plan.DType)
	}
	if !out.shape.Equal(p.plan.Out) {
		return shapeError(KindMismatch, "the output is %s%s; the result is %s%s", out.dtype, out.shape, p.plan.DType, p.plan.Out)
	}
	if !slices.Equal(data.strides, p.data.Strides) || !slices.Equal(indices.strides, p.indices.Strides) || !slices.Equal(out.strides, p.outStrides) {
		p.data.Strides, p.indices.Strides = slices.Clone(data.strides), slices.Clone(indices.strides)
		return p.lower(out.strides)
	}
	return nil
}

func sameDims(shape Shape, dims []Dim) bool {
	if len(shape) != len(dims) {
		return false
	}
	for i, d := range dims {
		if shape[i] != d.Min {
			return false
		}
	}
	return true
}

// run moves every row. The operands are those that the plan was lowered for.
func (p *Prepared) run(ctx context.Context, data, indices, out Tensor) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	p.ctx, p.src, p.at, p.dst = ctx, data, indices, out
	p.stop.Store(false)
	p.refuse.Store(false)
	p.outside.Store(false)
	p.fault.Store(false)
	if l := &p.layout; p.strips != nil && !p.normal.empty && kernel.Aligned(indices.buf, p.resolver.width.Bits/8) {
		p.spread(moveStrips, p.strips.units())
	} else if p.normal.empty || l.share {
		// Where nothing moves, every index is looked at all the same (R.7).
		p.spread(resolveAll, l.tiles)
		if !p.stop.Load() && !p.normal.empty {
			p.spread(moveShared, l.tiles*((l.free+l.group-1)/l.group))
		}
	} else {
		p.spread(moveTiles, (l.tiles+l.unit-1)/l.unit)
	}
	p.src, p.at, p.dst, p.ctx = Tensor{}, Tensor{}, Tensor{}, nil
	switch {
	case p.fault.Load():
		return errorf(ErrFault, "a mapped file was cut short while it was read; nothing can be said of the result")
	case p.refuse.Load():
		return p.explain(ctx, indices)
	case p.stop.Load():
		return context.Cause(ctx)
	}
	if p.progress != nil {
		p.reportAll()
	}
	return nil
}

// explain finds the first refused index in row-major order.
func (p *Prepared) explain(ctx context.Context, indices Tensor) (err error) {
	if indices.volatile {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			if r := recover(); r != nil {
				if !isFault(r) {
					panic(r)
				}
				err = errorf(ErrFault, "a mapped file was cut short while it was read; nothing can be said of the result")
			}
		}()
	}
	if err := p.plan.check(ctx, indices); err != nil {
		return err
	}
	return errorf(ErrIndex, "an index was refused, but stands no longer in indices: they changed while they were read")
}

// spread hands out units on as many cores as serve.
func (p *Prepared) spread(ph phase, units int) {
	p.phase, p.limit = ph, int64(units)
	p.next.Store(0)
	threads := min(len(p.workers), units)
	if p.layout.alone || p.plan.DType.Packed() && p.dst.offset*p.plan.DType.Bits()%8 != 0 {
		threads = min(threads, 1) // two units would meet inside a byte of the result
	}
	for i := 1; i < threads; i++ {
		p.done.Add(1)
		go p.start[i]()
	}
	if threads > 0 {
		p.work(0)
	}
	p.done.Wait()
}

// work takes units until there are none.
func (p *Prepared) work(worker int) {
	if p.src.volatile || p.at.volatile {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer p.recoverFault()
	}
	w := &p.workers[worker]
	for !p.stop.Load() {
		if p.ctx.Err() != nil {
			p.stop.Store(true)
			return
		}
		unit := p.next.Add(1) - 1
		if unit >= p.limit {
			return
		}
		switch p.phase {
		case moveTiles:
			p.moveUnit(w, int(unit))
		case resolveAll:
			p.resolveTile(w, int(unit))
		case moveShared:
			p.moveGroup(int(unit))
		case moveStrips:
			p.moveStrip(w, int(unit))
		}
		if worker == 0 && p.progress != nil {
			p.report(unit + 1)
		}
	}
}

func (p *Prepared) recoverFault() {
	if r := recover(); r != nil {
		if !isFault(r) {
			panic(r)
		}
		p.fault.Store(true)
		p.stop.Store(true)
	}
}

// isFault reports whether a panic is that of a memory access.
func isFault(r any) bool {
	_, ok := r.(interface {
		runtime.Error
		Addr() uintptr
	})
	return ok
}

// resolve turns tuples into rows; it reports how many are outside, and false
// where that makes the run fail.
func (p *Prepared) resolve(rows, values []int64, first int) (outside int, ok bool) {
	r := &p.resolver
	outside = r.rows(rows, values, p.at.buf, p.src.offset*r.unit, p.at.offset, first)
	if r.refused(outside) {
		p.refuse.Store(true)
		p.stop.Store(true)
		return outside, false
	}
	return outside, true
}

func (p *Prepared) resolveTile(w *worker, tile int) {
	first := tile * p.layout.tile
	n := min(p.layout.tile, p.resolver.total-first)
	rows := w.rows[:n]
	if p.layout.share {
		rows = p.shared[first : first+n]
	}
	if outside, _ := p.resolve(rows, w.values[:n], first); outside > 0 {
		p.outside.Store(true)
	}
}

// moveUnit resolves and moves some tiles, one after the other. The rows that are
// prefetched while a tile is moved are resolved before it is.
func (p *Prepared) moveUnit(w *worker, unit int) {
	l := &p.layout
	first := unit * l.unit * l.tile
	end := min(first+l.unit*l.tile, p.resolver.total)
	if l.direct > 0 && p.moveDirect(first, end) {
		return
	}
	have, filled := 0, 0 // rows that are resolved, and how many of them are fills
	for first < end {
		if have > 0 && (p.stop.Load() || p.ctx.Err() != nil) {
			p.stop.Store(true)
			return
		}
		want := min(l.tile+l.ahead, end-first)
		if l.linear {
			want = min(l.tile, end-first)
		}
		outside, ok := p.resolve(w.rows[have:want], w.values[have:want], first+have)
		if !ok {
			return
		}
		filled += outside
		n := min(l.tile, want)
		later := w.rows[min(l.ahead, want):want]
		if l.ahead == 0 {
			later = nil
		}
		if l.linear {
			later = p.straight
		}
		p.move(w.rows[:n], later, filled > 0, first, 0, l.free)
		have = copy(w.rows, w.rows[n:want])
		first += n
		if filled > 0 {
			filled = 0
			for _, row := range w.rows[:have] {
				if row < 0 {
					filled++
				}
			}
		}
	}
}

// moveDirect moves elements straight from their indices, a tile at a time. It
// reports false where memory is not aligned for that.
func (p *Prepared) moveDirect(first, end int) bool {
	l, r := &p.layout, &p.resolver
	size, width := l.direct, r.width.Bits/8
	dst, src := p.dst.buf[p.dst.offset*size:], p.src.buf[p.src.offset*size:]
	values := p.at.buf[p.at.offset*width:]
	if !kernel.Aligned(dst, size) || !kernel.Aligned(src, size) || !kernel.Aligned(values, width) {
		return false
	}
	ahead := 0
	if l.ahead > 0 {
		ahead = l.ahead
	}
	const most = 16 << 10 // elements; not a millisecond, wherever they lie
	for first < end {
		if p.stop.Load() || p.ctx.Err() != nil {
			p.stop.Store(true)
			return true
		}
		n := min(most, end-first)
		if kernel.Elements(dst[first*size:], src, values[first*width:], n, size, width, r.axes[0].Dim, r.policy.FromEnd, ahead) < n {
			p.refuse.Store(true)
			p.stop.Store(true)
			return true
		}
		first += n
	}
	return true
}

func (p *Prepared) moveGroup(unit int) {
	l := &p.layout
	groups := (l.free + l.group - 1) / l.group
	first := unit / groups * l.tile
	from := unit % groups * l.group
	last := min(first+l.tile, p.resolver.total)
	rows := p.shared[first:last]
	var later []int64
	switch {
	case l.linear:
		later = p.straight[first:last]
	case l.turning:
		later = rows
	case l.ahead > 0:
		later = p.shared[min(first+l.ahead, p.resolver.total):min(last+l.ahead, p.resolver.total)]
	}
	p.move(rows, later, p.outside.Load(), first, from, min(from+l.group, l.free))
}

// move moves the rows of the tuples from first on, for the free turns from …
// to-1.
func (p *Prepared) move(rows, later []int64, filled bool, first, from, to int) {
	l, n := &p.layout, &p.normal
	for turn := from; turn < to; turn++ {
		if turn > from && (turn-from)%l.group == 0 && (p.stop.Load() || p.ctx.Err() != nil) {
			p.stop.Store(true)
			return
		}
		bias, out := p.turn(turn)
		size := n.slice
		if l.chunks > 1 {
			skip := turn % l.chunks * l.chunk
			bias, out, size = bias+skip, out+skip, min(l.chunk, size-skip)
		}
		next := bias
		switch {
		case l.turning && turn+1 < l.free:
			next, _ = p.turn(turn + 1)
			if l.linear {
				next += p.src.offset
			}
		case l.linear && !l.turning:
			next = p.src.offset + dataAt(n.index, first+len(rows))
		}
		if l.whole {
			p.moveRun(rows, later, filled, out+first*l.step, l.step, bias, next, size)
			continue
		}
		walk(n.index, first, len(rows), func(at, run, place, _, _ int, inner Loop) {
			p.moveRun(rows[at:at+run], later[min(at, len(later)):min(at+run, len(later))], filled, out+place, inner.Out, bias, next, size)
		})
	}
}

// dataAt is where a nest stands in data at its i-th position.
func dataAt(loops []Loop, i int) (data int) {
	for k := len(loops) - 1; k >= 0; k-- {
		data += i % loops[k].Extent * loops[k].Data
		i /= loops[k].Extent
	}
	return data
}

// turn is where a free turn stands in data and in the result, in elements.
func (p *Prepared) turn(turn int) (data, out int) {
	out = p.dst.offset
	rest := turn / p.layout.chunks
	for i := len(p.normal.free) - 1; i >= 0; i-- {
		f := &p.normal.free[i]
		c := rest % f.Extent
		rest /= f.Extent
		data += c * f.Data
		out += c * f.Out
	}
	return data, out
}

// moveRun moves evenly spaced rows: places, step, bias and size are in
// elements, next is the bias of what is prefetched.
func (p *Prepared) moveRun(rows, later []int64, filled bool, place, step, bias, next, size int) {
	bits, unit := p.plan.DType.Bits(), p.resolver.unit
	if bits == 0 {
		p.moveStrings(rows, place, step, bias, size)
		return
	}
	m := kernel.Move{At: place * unit, Step: step * unit, Bias: bias * unit, Size: size * unit, Elem: unit, Filled: filled, Stream: p.layout.stream}
	if bits < 8 {
		fill := byte(0)
		if p.fill != nil {
			fill = p.fill[0]
		}
		kernel.Bits(p.dst.buf, p.src.buf, rows, m, fill)
		return
	}
	m.Ahead = kernel.Ahead{Rows: later, Bias: next * unit}
	kernel.Rows(p.dst.buf, p.src.buf, rows, m, p.fill)
}

// moveStrings moves by assignment: a string is a pointer, which the collector
// must see being written (R.16).
func (p *Prepared) moveStrings(rows []int64, place, step, bias, size int) {
	fill := ""
	if p.plan.Outside == Fill {
		fill = p.plan.Fill.strs[p.plan.Fill.offset]
	}
	for _, row := range rows {
		dst := p.dst.strs[place : place+size]
		if row >= 0 {
			from := int(row) + bias
			copy(dst, p.src.strs[from:from+size])
		} else {
			for i := range dst {
				dst[i] = fill
			}
		}
		place += step
	}
}

// scalar is the bytes of a scalar; of a packed one, its bits in the low bits.
func (t *Tensor) scalar() []byte {
	bits := t.dtype.Bits()
	if bits < 8 {
		return []byte{packed(t.buf, t.offset, bits)}
	}
	w := bits / 8
	return slices.Clone(t.buf[t.offset*w : (t.offset+1)*w])
}

// Copy copies the elements of src, any view, into dst, a view of the same dtype
// and shape whose elements are apart, on all cores. Another dtype is an
// ErrDType, another shape an ErrShape, shared memory an ErrOverlap.
func Copy(dst, src Tensor) error {
	switch {
	case dst.dtype != src.dtype || !dst.dtype.Valid():
		return errorf(ErrDType, "%s cannot be copied into %s", src.dtype, dst.dtype)
	case !dst.shape.Equal(src.shape):
		return shapeError(KindMismatch, "%s%s cannot be copied into %s%s", src.dtype, src.shape, dst.dtype, dst.shape)
	case overlap(dst, src):
		return errorf(ErrOverlap, "a tensor cannot be copied into memory that it shares")
	case !apart(dst):
		return errorf(ErrOverlap, "the strides %v let elements overlap; copy into a tensor without", dst.strides)
	}
	plan := &Plan{DType: dst.dtype, IndexType: I64, Out: dst.shape, Slice: 1, component: -1}
	for i, d := range dst.shape {
		plan.Loops = append(plan.Loops, Loop{Extent: d, Data: src.strides[i], Out: dst.strides[i]})
	}
	p := &Prepared{threads: runtime.GOMAXPROCS(0), tuning: tuned}
	p.prepare(plan)
	return p.run(context.Background(), src, Tensor{}, dst)
}
