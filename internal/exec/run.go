package exec

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/garner-go/garner/internal/kernel"
)

// An Outcome is how a run ended.
type Outcome uint8

// The outcomes. Unless a run is Done, its result is undefined.
const (
	Done     Outcome = iota
	Refused          // an index is outside, and the policy is Error
	Vanished         // a page fault: volatile memory has vanished
	Stopped          // the context ended
)

type phase uint8

const (
	moveTiles   phase = iota // a unit is a tile of tuples: resolved, then moved for every free turn
	resolveAll               // a unit is a tile of tuples: resolved into shared
	moveShared               // a unit is a tile of tuples and some free turns
	moveColumns              // a unit is some columns of some tuples
	callEach                 // a unit is one call of a function
	checkEnds                // a unit is some ends of bags
	reduceBags               // a unit is some columns of some bags
)

// A Runner runs programs, one run at a time, and keeps its scratch. A run that
// needs no more scratch than earlier runs allocates nothing. The zero Runner is
// ready.
type Runner struct {
	// Progress receives about how many elements of the result were moved, and
	// their total, after every unit that the goroutine that called Run has
	// finished. That goroutine calls it. It may be nil.
	Progress func(done, total int64)

	workers []worker
	crew    *crew
	panics  Panics       // of helpers
	next    atomic.Int64 // the next unit that no worker has taken
	limit   int64
	phase   phase
	each    func(unit int) // of callEach
	state
}

// Run moves every row of p. data, indices and out are memory of the element
// sizes and strides that p was chosen for. The caller has checked that p's
// loops stay inside them for every index on its axes, and that out shares no
// byte with the others. Without axes Run does not read indices.
func (u *Runner) Run(ctx context.Context, p *Program, data, indices, out *Memory) Outcome {
	if ctx.Err() != nil {
		return Stopped
	}
	if len(p.nest.Axes) > 0 && p.nest.Idle {
		u.reportAll(p) // without an index there is no row
		return Done
	}
	u.program, u.ctx, u.src, u.at, u.dst = p, ctx, *data, *indices, *out
	u.stop.Store(false)
	u.refused.Store(false)
	u.outside.Store(false)
	u.fault.Store(false)
	u.reserve()
	l := &p.choice
	switch u.way = l.way; {
	case l.way.columnar() && l.columns.shared:
		u.phases(resolveAll, l.tiles)
		switch {
		case u.stop.Load():
		case u.outside.Load():
			u.way = l.byRows
			u.rowsOfPositions()
			u.phases(moveShared, l.tiles*((l.free+l.group-1)/l.group))
		default:
			if l.columns.fold > 0 {
				u.fold()
			}
			u.phases(moveColumns, l.columns.units())
		}
	case l.way.columnar() && kernel.Aligned(indices.Buf, p.resolver.width.Bits/8):
		u.phases(moveColumns, l.columns.units())
	default:
		u.way = l.byRows
		if l.way != Nothing && !l.shared {
			u.phases(moveTiles, (l.tiles+l.unitTiles-1)/l.unitTiles)
			break
		}
		// Every index is resolved, even if no row moves (R.7).
		u.phases(resolveAll, l.tiles)
		if !u.stop.Load() && l.way != Nothing {
			u.phases(moveShared, l.tiles*((l.free+l.group-1)/l.group))
		}
	}
	u.src, u.at, u.dst, u.ctx = Memory{}, Memory{}, Memory{}, nil
	how := u.ended()
	if how == Done {
		u.reportAll(p)
	}
	return how
}

// ended returns how the phases that ran ended.
func (u *Runner) ended() Outcome {
	switch {
	case u.fault.Load():
		return Vanished
	case u.refused.Load():
		return Refused
	case u.stop.Load():
		return Stopped
	}
	return Done
}

// RunKnown moves rows that are already resolved: the second half of a run. p
// was set by SetKnown for len(rows) rows. rows count bytes from the start of
// data's memory, bits for packed types; a negative row is the fill. filled must
// be true if there are any.
func (u *Runner) RunKnown(ctx context.Context, p *Program, data, out *Memory, rows []int64, filled bool) Outcome {
	if ctx.Err() != nil {
		return Stopped
	}
	if p.nest.Empty {
		return Done
	}
	u.program, u.ctx, u.src, u.at, u.dst = p, ctx, *data, *data, *out
	u.stop.Store(false)
	u.refused.Store(false)
	u.fault.Store(false)
	u.outside.Store(filled)
	l, kept := &p.choice, u.shared
	u.shared, u.way = rows, l.byRows
	u.enlist(p.cores)
	u.phases(moveShared, l.tiles*((l.free+l.group-1)/l.group))
	u.shared = kept
	u.src, u.at, u.dst, u.ctx = Memory{}, Memory{}, Memory{}, nil
	return u.ended()
}

// RunEach calls each with the units 0 … units-1, on up to threads cores. It may read
// memory that vanishes. A function that the caller keeps costs no allocation.
func (u *Runner) RunEach(ctx context.Context, units, threads int, each func(unit int)) Outcome {
	if ctx.Err() != nil {
		return Stopped
	}
	u.ctx, u.each, u.src = ctx, each, Memory{Volatile: true}
	u.stop.Store(false)
	u.refused.Store(false)
	u.fault.Store(false)
	threads = max(min(threads, units), 1)
	u.enlist(threads)
	u.begin(callEach, units, threads)
	u.ctx, u.each, u.src = nil, nil, Memory{}
	return u.ended()
}

// Few reports whether p has so few rows that RunFew can run them.
func (p *Program) Few() bool { return p.choice.little }

// RunFew is Run for programs that are Few, over memory that is not volatile. It
// runs on the caller's goroutine, without a Runner.
func (p *Program) RunFew(ctx context.Context, data, indices, out *Memory) Outcome {
	if ctx.Err() != nil {
		return Stopped
	}
	if p.resolver.total <= onStack {
		var rows, values [onStack]int64
		return p.little(rows[:], values[:], data, indices, out)
	}
	s := slips.Get().(*slip)
	if n := p.resolver.total; len(s.rows) < n {
		s.rows, s.values = make([]int64, n), make([]int64, n)
	}
	how := p.little(s.rows, s.values, data, indices, out)
	slips.Put(s)
	return how
}

// onStack is the largest number of rows whose scratch RunFew takes from the
// stack. Clearing more stack takes longer than the free list.
const onStack = 8

// slips is the free list of RunFew's scratch.
var slips = sync.Pool{New: func() any { return new(slip) }}

type slip struct{ rows, values []int64 }

// little resolves and moves all rows in one piece.
func (p *Program) little(rows, values []int64, data, indices, out *Memory) Outcome {
	r := &p.resolver
	rows = rows[:r.total]
	outside := r.Rows(rows, values[:r.total], indices.Buf, data.Offset*r.elem, indices.Offset, 0)
	if r.Refused(outside) {
		return Refused
	}
	m := kernel.Move{At: out.Offset * r.elem, Step: p.choice.step * r.elem, Size: p.nest.Slice * r.elem, Elem: r.elem, Filled: outside > 0}
	kernel.Rows(out.Buf, data.Buf, rows, m, p.nest.Fill)
	return Done
}

// enlist makes the workers that so many cores still lack.
func (u *Runner) enlist(threads int) {
	for len(u.workers) < threads {
		u.workers = append(u.workers, worker{})
	}
	if threads > 1 && u.crew == nil {
		u.crew = newCrew(u.help, u.look)
	}
}

// reserve makes the scratch that the program still lacks.
func (u *Runner) reserve() {
	p, threads := u.program, u.program.cores
	u.enlist(threads)
	l, total := &p.choice, p.resolver.total
	rows := min(l.tile+l.ahead, total)
	if l.byRows == Across {
		rows = max(total, l.run)
	}
	for i := range u.workers[:threads] {
		w := &u.workers[i]
		if len(w.rows) < rows {
			w.rows, w.values = make([]int64, rows), make([]int64, rows)
		}
		if l.way == Strips && len(w.strip) < l.columns.bytes() {
			w.strip = make([]byte, l.columns.bytes())
		}
	}
	if l.shared && len(u.shared) < total {
		u.shared = make([]int64, total)
	}
}

// phases shares the units of a phase among the cores.
func (u *Runner) phases(ph phase, units int) {
	p := u.program
	threads := min(p.cores, units)
	bits := p.nest.Bits
	if 0 < bits && bits < 8 && u.dst.Offset*bits%8 != 0 {
		threads = min(threads, 1) // two units could write into one byte of the result
	}
	u.begin(ph, units, threads)
}

// begin runs the units of a phase on so many cores.
func (u *Runner) begin(ph phase, units, threads int) {
	u.phase, u.limit = ph, int64(units)
	u.next.Store(0)
	switch {
	case threads > 1:
		u.share(threads - 1)
	case threads == 1:
		u.work(0)
	}
}

// share takes and runs units beside helpers, until none are left.
func (u *Runner) share(helpers int) {
	u.crew.begin(helpers)
	returned := false
	defer func() {
		if !returned {
			u.stop.Store(true) // Progress, the context or the caller's unit panicked
		}
		u.crew.end()
		if !returned {
			u.panics.forget() // of helpers: the next run would rethrow it
		}
		if returned {
			u.panics.Rethrow()
		}
	}()
	u.work(0)
	returned = true
}

// look ends the run where its context has ended while this goroutine waits for helpers.
func (u *Runner) look() {
	if !u.panics.Run(func() { u.stopped() }) {
		u.stop.Store(true)
	}
}

// help is work on a helper's goroutine.
func (u *Runner) help(worker int) {
	if !u.panics.Run(func() { u.work(worker) }) {
		u.stop.Store(true)
	}
}

// work takes and runs units until none are left.
func (u *Runner) work(worker int) {
	if u.src.Volatile || u.at.Volatile {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer u.recoverFault()
	}
	w := &u.workers[worker]
	for !u.stopped() {
		unit := u.next.Add(1) - 1
		if unit >= u.limit {
			return
		}
		switch u.phase {
		case moveTiles:
			u.moveUnit(w, int(unit))
		case resolveAll:
			u.resolveTile(w, int(unit))
		case moveShared:
			u.moveGroup(w, int(unit))
		case moveColumns:
			u.moveColumns(w, int(unit))
		case callEach:
			u.each(int(unit))
		case checkEnds:
			u.checkUnit(w, int(unit))
		case reduceBags:
			u.reduceUnit(w, int(unit))
		}
		if worker == 0 && u.Progress != nil && u.phase != callEach {
			u.report(unit + 1)
		}
	}
}

// report calls Progress for the units taken so far. A phase that only resolves
// counts none.
func (u *Runner) report(units int64) {
	if u.phase == resolveAll || u.phase == checkEnds || units >= u.limit {
		return // reportAll reports the end, once every core is done
	}
	total := u.program.elements
	u.Progress(int64(float64(total)/float64(u.limit)*float64(units)), total)
}

func (u *Runner) reportAll(p *Program) {
	if u.Progress != nil {
		u.Progress(p.elements, p.elements)
	}
}

func (u *Runner) recoverFault() {
	if r := recover(); r != nil {
		if !IsFault(r) {
			panic(r)
		}
		u.fault.Store(true)
		u.stop.Store(true)
	}
}

// IsFault reports whether a recovered panic is a page fault, which
// runtime/debug.SetPanicOnFault turns into a panic.
func IsFault(r any) bool {
	_, ok := r.(interface {
		runtime.Error
		Addr() uintptr
	})
	return ok
}

// Guard calls look, which reads volatile memory, and reports whether that
// memory vanished.
func Guard(look func()) (vanished bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if !IsFault(r) {
				panic(r)
			}
			vanished = true
		}
	}()
	look()
	return false
}
