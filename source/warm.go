package source

import (
	"context"
	"errors"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/exec"
)

// firstBytes is the size of a block of a warm result: it stays in the second-level
// cache until it is written. warmBytes is that of a run that follows another: its
// stores are non-temporal where those of the whole result would be, and its
// buffers are there already. To a writer that copies into memory, blocks of 32 MiB
// then took 0.8 to 1.1 times as long as one run of everything, and blocks of 2 to
// 16 MiB up to 1.5 times (BenchmarkWarm/rows, bench/tables.py's engine); but a
// command that gathers once took a tenth to a quarter longer with them, for the
// page faults over two such buffers. wholeBytes is up to which a result is one
// block where that is faster.
const (
	firstBytes = 1 << 20
	warmBytes  = 32 << 20
	wholeBytes = 256 << 20
)

// A warm run moves rows of data that is in memory, or in a mapped file whose
// rows are in the page cache: each block of the result is a smaller nest over
// the same bytes, which package exec moves in all its ways.
type warm struct {
	plan    *garner.Plan // in the order of the result
	threads int
	nest    exec.Nest // the whole plan's policies and axes
	data    exec.Memory
	indices exec.Memory

	runner   exec.Runner
	programs [4]warmProgram // of boxes that were moved before
	oldest   int            // the number in programs of the next one to replace
	loops    []exec.Loop
	sampler  *exec.Resolver
}

// A warmProgram is the program for boxes of some extents.
type warmProgram struct {
	extents []int
	slice   int
	program exec.Program
}

// newWarm is nil where data or the indices are not there to be looked at.
func (g *gather) newWarm() *warm {
	if g.plan.Stored != nil || g.o.Memory > 0 && !inMemory(g.data) {
		return nil
	}
	data, ok := viewOf(g.data)
	if !ok || g.resolver.bytes == nil || g.First == g.End || g.plan.Slice == 0 {
		return nil
	}
	w := &warm{plan: g.plan, threads: g.threads, nest: g.plan.Nest(int(g.dataBytes))}
	// Memory may be a mapping too, that the caller made a tensor of.
	w.data = exec.Memory{Buf: data, Volatile: true}
	w.indices = exec.Memory{Buf: g.resolver.bytes, Volatile: true}
	w.sampler = exec.NewResolver(&w.nest, w.loopsOf(g.plan.Loops))
	return w
}

// loopsOf converts loops, into memory that the next call overwrites.
func (w *warm) loopsOf(loops []garner.Loop) []exec.Loop {
	w.loops = w.loops[:0]
	for _, l := range loops {
		w.loops = append(w.loops, exec.Loop(l))
	}
	return w.loops
}

// inOnePiece reports whether the result is best moved in one piece: where a way reads
// data again for each piece, or where looking at every index before the first
// piece would be a good part of the work.
func (w *warm) inOnePiece(indexBytes, resultBytes int64) bool {
	return 2*indexBytes >= resultBytes || w.program(w.plan.Loops, w.plan.Slice).Reread() > 0
}

// resident reports whether rows first … first+n-1 of the plan are in the page
// cache, as far as a look at some of them tells. Rows that are fills, or refused,
// count as there.
func (w *warm) resident(f *File, first, n, slice int, places int) bool {
	size := (slice*w.nest.Bits + 7) / 8
	each := 1 // places of a row: of a few long rows, several
	if n < places {
		each = min((places+n-1)/n, size/pageBytes+1)
	}
	places = min(places, n) * each
	in := true
	look := func() {
		var row, value [1]int64
		for i := range places {
			at := first + int(int64(i/each)*int64(n)/int64(places/each))
			if outside := w.sampler.Rows(row[:], value[:], w.indices.Buf, 0, w.indices.Offset, at); outside > 0 || row[0] < 0 {
				continue
			}
			from := row[0]
			if w.nest.Bits < 8 {
				from /= 8
			}
			// Of a short row now its first byte, now its last; of a long one, bytes
			// that lie evenly apart.
			inside := int64(i&1) * int64(max(size-1, 0))
			if each > 1 {
				inside = int64(i%each) * int64(size) / int64(each)
			}
			h, offset := f.locate(min(from+inside, f.size-1))
			if there, known := h.mapping().Resident(int(offset), int(offset)+1); !there || !known {
				in = false
				return
			}
		}
	}
	return !exec.Guard(look) && in
}

// move writes the rows first … first+n-1 of the plan to out, from element to on,
// or size elements of each from element from on. done is false where the pages
// of data vanished: reading says why.
func (w *warm) move(ctx context.Context, out []byte, to, first, n, from, size int) (done bool, err error) {
	for b := range boxes(w.plan.Loops, first, n, n) {
		p := w.program(b.loops, size)
		data, indices, dst := w.data, w.indices, exec.Memory{Buf: out, Offset: to}
		data.Offset += b.data + from
		indices.Offset += b.index
		switch w.runner.Run(ctx, p, &data, &indices, &dst) {
		case exec.Stopped:
			return true, context.Cause(ctx)
		case exec.Refused:
			return true, errRefused
		case exec.Vanished:
			return false, nil
		}
		to += b.count * size
	}
	return true, nil
}

// errRefused says that an index is outside; the Resolver says which.
var errRefused = errors.New("an index is outside")

// program is the program for a box of these loops, whose rows are size elements.
func (w *warm) program(loops []garner.Loop, size int) *exec.Program {
	for i := range w.programs {
		if p := &w.programs[i]; p.slice == size && sameExtents(p.extents, loops) {
			return &p.program
		}
	}
	p := &w.programs[w.oldest]
	w.oldest = (w.oldest + 1) % len(w.programs)
	p.slice, p.extents = size, p.extents[:0]
	for _, l := range loops {
		p.extents = append(p.extents, l.Extent)
	}
	p.program.SetLoops(&w.nest, w.nest.Axes, w.loopsOf(loops), size, false, &exec.Tuned, w.threads)
	return &p.program
}

func sameExtents(extents []int, loops []garner.Loop) bool {
	if len(extents) != len(loops) {
		return false
	}
	for i, l := range loops {
		if l.Extent != extents[i] {
			return false
		}
	}
	return true
}
