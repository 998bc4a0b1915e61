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
	tileRows   int // rows resolved before they are moved, a multiple of 8
	unitBytes  int // about what one unit of work moves
	sharedRows int // up to how many tuples are resolved before anything moves, where their rows are wanted more than once
	aloneBytes int // up to which size of result a run stays on the caller's goroutine
}

// tuned keeps a tile's rows and index values, 8 KiB each, in the first-level
// cache; a unit takes some 20 to 60 µs, so that the context is looked at often
// and no core waits long for the last one. Waking a goroutine costs about
// 100 µs, which is what moving aloneBytes takes.
var tuned = tuning{tileRows: 1024, unitBytes: 256 << 10, sharedRows: 64 << 10, aloneBytes: 512 << 10}

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
	start    []func()

	// The run that is under way.
	ctx    context.Context
	src    Tensor
	at     Tensor
	dst    Tensor
	next   atomic.Int64 // the next unit that nobody has taken
	limit  int64
	phase  phase
	stop   atomic.Bool
	refuse atomic.Bool // an index was refused
	fault  atomic.Bool
	done   sync.WaitGroup
}

type phase uint8

const (
	moveTiles  phase = iota // a unit is a tile of tuples: resolved, then moved for every free turn
	resolveAll              // a unit is a tile of tuples: resolved into shared
	moveShared              // a unit is a tile of tuples and some free turns
)

// layout is how a plan's work is cut into units.
type layout struct {
	tile   int // tuples per tile
	tiles  int
	free   int // turns of the free loops times chunks
	chunks int // pieces of a slice
	chunk  int // elements per piece but the last
	group  int // free turns per unit, in phase moveShared
	share  bool
	alone  bool // one goroutine only
	whole  bool // the tuples' places in the result are evenly spaced
	step   int  // their distance, in elements, where whole
}

type worker struct {
	rows, values []int64
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
	p.resolver = newResolver(plan, n.index)

	t := p.tuning
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
		l.chunk = max(8, n.slice/(bytes/t.unitBytes+1)&^7) // whole bytes of a packed type
		l.chunks = (n.slice + l.chunk - 1) / l.chunk
		bytes = max(bytes/l.chunks, 1)
	}
	if bytes*t.tileRows > t.unitBytes {
		l.tile = max(8, t.unitBytes/bytes&^7)
	}
	l.tiles = (p.resolver.total + l.tile - 1) / l.tile
	l.free = turns(n.free) * l.chunks
	l.share = l.free > 1 && p.resolver.total <= t.sharedRows
	perTurn := max(1, min(p.resolver.total, l.tile)*bytes)
	l.group = max(1, min(l.free, t.unitBytes/perTurn))
	l.whole, l.step = evenly(n.index, n.slice)
	size := math.MaxInt
	if n, ok := mul(max(p.resolver.total, 1), max(l.free, 1)); ok {
		if n, ok = mul(n, bytes); ok {
			size = n
		}
	}
	l.alone = p.threads == 1 || size <= t.aloneBytes && p.resolver.total <= t.sharedRows
	if plan.DType.Packed() {
		// Two units must not meet inside a byte of the result.
		l.alone = l.alone || l.free > 1 || !l.whole || l.step != n.slice
	}
	p.layout = l

	p.fill = nil
	if plan.Outside == Fill && plan.DType != String {
		p.fill = plan.Fill.scalar()
	}
	threads := p.threads
	if l.alone {
		threads = 1
	}
	for len(p.workers) < threads {
		i := len(p.workers)
		p.workers = append(p.workers, worker{})
		p.start = append(p.start, func() {
			defer p.done.Done()
			p.work(i)
		})
	}
	scratch := min(l.tile, p.resolver.total)
	for i := range p.workers[:threads] {
		if w := &p.workers[i]; len(w.rows) < scratch {
			w.rows, w.values = make([]int64, scratch), make([]int64, scratch)
		}
	}
	if l.share && len(p.shared) < p.resolver.total {
		p.shared = make([]int64, p.resolver.total)
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
	if err := p.accept(data, indices, out); err != nil {
		return err
	}
	if overlap(out, data) || overlap(out, indices) { // R.17
		return errorf(ErrOverlap, "the output shares memory with an input; gather into memory of its own")
	}
	if !apart(out) {
		return errorf(ErrOverlap, "the output's strides %v let its own elements overlap; gather into a tensor without", out.strides)
	}
	return p.run(ctx, data, indices, out)
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
	p.fault.Store(false)
	if l := &p.layout; p.normal.empty || l.share {
		// Where nothing moves, every index is looked at all the same (R.7).
		p.spread(resolveAll, l.tiles)
		if !p.stop.Load() && !p.normal.empty {
			p.spread(moveShared, l.tiles*((l.free+l.group-1)/l.group))
		}
	} else {
		p.spread(moveTiles, l.tiles)
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
			p.moveTile(w, int(unit))
		case resolveAll:
			p.resolveTile(w, int(unit))
		case moveShared:
			p.moveGroup(int(unit))
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

// resolve turns the tuples of one tile into rows.
func (p *Prepared) resolve(rows, values []int64, first int) bool {
	if !p.resolver.rows(rows, values, p.at.buf, p.src.offset, p.at.offset, first) {
		p.refuse.Store(true)
		p.stop.Store(true)
		return false
	}
	return true
}

func (p *Prepared) resolveTile(w *worker, tile int) {
	first := tile * p.layout.tile
	n := min(p.layout.tile, p.resolver.total-first)
	rows := w.rows[:n]
	if p.layout.share {
		rows = p.shared[first : first+n]
	}
	p.resolve(rows, w.values[:n], first)
}

func (p *Prepared) moveTile(w *worker, tile int) {
	first := tile * p.layout.tile
	n := min(p.layout.tile, p.resolver.total-first)
	rows := w.rows[:n]
	if p.resolve(rows, w.values[:n], first) {
		p.move(rows, first, 0, p.layout.free)
	}
}

func (p *Prepared) moveGroup(unit int) {
	l := &p.layout
	groups := (l.free + l.group - 1) / l.group
	first := unit / groups * l.tile
	from := unit % groups * l.group
	rows := p.shared[first:min(first+l.tile, p.resolver.total)]
	p.move(rows, first, from, min(from+l.group, l.free))
}

// move moves the rows of the tuples from first on, for the free turns from …
// to-1.
func (p *Prepared) move(rows []int64, first, from, to int) {
	l, n := &p.layout, &p.normal
	for turn := from; turn < to; turn++ {
		if turn > from && (turn-from)%l.group == 0 && (p.stop.Load() || p.ctx.Err() != nil) {
			p.stop.Store(true)
			return
		}
		bias, out := 0, p.dst.offset
		rest := turn / l.chunks
		for i := len(n.free) - 1; i >= 0; i-- {
			f := n.free[i]
			c := rest % f.Extent
			rest /= f.Extent
			bias += c * f.Data
			out += c * f.Out
		}
		size := n.slice
		if l.chunks > 1 {
			skip := turn % l.chunks * l.chunk
			bias, out, size = bias+skip, out+skip, min(l.chunk, size-skip)
		}
		if l.whole {
			p.moveRun(rows, out+first*l.step, l.step, bias, size)
			continue
		}
		walk(n.index, first, len(rows), func(at, run, place, _, _ int, inner Loop) {
			p.moveRun(rows[at:at+run], out+place, inner.Out, bias, size)
		})
	}
}

// moveRun moves evenly spaced rows: places, step, bias and size are in elements.
func (p *Prepared) moveRun(rows []int64, place, step, bias, size int) {
	bits := p.plan.DType.Bits()
	switch {
	case bits == 0:
		p.moveStrings(rows, place, step, bias, size)
	case bits < 8:
		m := kernel.Move{At: place * bits, Step: step * bits, Bias: bias * bits, Elem: bits, Size: size * bits}
		fill := byte(0)
		if p.fill != nil {
			fill = p.fill[0]
		}
		kernel.Bits(p.dst.buf, p.src.buf, rows, m, fill)
	default:
		w := bits / 8
		m := kernel.Move{At: place * w, Step: step * w, Bias: bias * w, Elem: w, Size: size * w}
		kernel.Rows(p.dst.buf, p.src.buf, rows, m, p.fill)
	}
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
