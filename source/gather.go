package source

import (
	"context"
	"io"
	"runtime"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
)

// Options say how a Gather runs. They do not change the result.
type Options struct {
	// Memory is the most bytes that the run holds: blocks of the result, rows in
	// flight and indices together. A budget that is too small for a few elements
	// is exceeded by them. With a budget no file is mapped, so that resident
	// memory stays within it and the program's own. 0 is no budget: rows in the
	// page cache are then copied from mapped files, whose pages count as resident
	// memory.
	Memory int64

	// Threads is the number of cores that copy. GOMAXPROCS where it is 0 or less.
	Threads int

	// Progress receives the bytes that are written and those that the run writes,
	// before the first block and after each. A GatherInto that is one run calls it
	// during the run.
	Progress func(done, total int64)

	// Range is what the run makes of the result; nil is all of it. So runs share a
	// result, and one goes on behind what another has written. A run of less than the
	// result looks at the indices that it needs; where it refuses one, it looks at all,
	// and its error is that of the whole.
	Range *Range

	// Further are the operands that op takes after the indices, in its order; nil is
	// one that is not given. Scales and zero points are read row by row, as data is.
	Further []Array
}

// Gather runs op over arrays that need not fit in memory, and writes the result
// to out in blocks, in order: row-major, little-endian, packed types without
// padding. Of an operator that takes no indices, indices is nil.
//
// Gather reads the rows of a block in the order in which data stores them, each
// distinct row once, while it writes the block before. Where the indices fit into
// a quarter of the budget, it checks all of them before it reads data; else it
// checks those of a block before it writes the block. The error is the one of
// garner.Gather in either case.
//
// Bags are reduced, and stored elements decoded, from the rows of a block. The indices of
// bags, their ends and their weights are held whole: those that are not in memory, and have
// more than half of the budget, are refused. A bag may have more terms, and a row more bytes, than the budget.
//
// Errors are those of garner.NewPlan, a *garner.IndexError, a *ReadError, and
// out's. A file that changed during the run is an ErrChanged at the end, and the
// bytes in out are then invalid. A Close of data or indices during the run takes
// effect behind it; one before it is an fs.ErrClosed. A cancelled ctx ends the run with its cause
// within 10 ms, plus the time of a Write that has begun. No goroutine outlives
// the call.
func Gather(ctx context.Context, op garner.Op, data, indices Array, out io.Writer, o Options) error {
	indices = indicesOf(op, indices)
	h, err := held(o.given(data, indices)...)
	if err != nil {
		return err
	}
	defer h.Release()
	return gatherHeld(ctx, h, op, data, indices, out, o)
}

// gatherHeld is Gather for callers that hold data and indices by h.
func gatherHeld(ctx context.Context, h *mapped.Holds, op garner.Op, data, indices Array, out io.Writer, o Options) error {
	g, err := newGather(ctx, op, data, indices, o)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !g.piece() && g.inPlace() && g.size <= wholeBytes && (o.Memory == 0 || g.size <= o.Memory/2) {
		done, err := g.writeWhole(ctx, op, out)
		if err == nil {
			err = h.Check()
		}
		if done {
			return err
		}
	}
	defer g.free()
	if err := g.begin(ctx); err != nil {
		return err
	}
	if err := g.allocate(); err != nil {
		return err
	}
	if err := g.run(ctx, out); err != nil {
		return err
	}
	return h.Check()
}

// unbudgeted is the bytes that a run without a budget holds beside the indices, unless it
// makes the result in one piece (wholeBytes).
// unbudgetedDecoded is that of a blockwise run, whose rows are many times longer than what
// is read for them: the disk waits at the end of each block.
const unbudgeted, unbudgetedDecoded = 96 << 20, 192 << 20

// gather is a run of Gather.
type gather struct {
	data, indices Array
	o             Options
	threads       int
	elements      Array        // data, or what it decodes to, from begin on; without mapping where there is a budget
	plan          *garner.Plan // in the order of the result
	bits          int          // of an element of the result
	fill          []byte       // one element, as the kernels take it
	Range                      // of the result that the run makes
	size          int64        // bytes of the range
	dataBytes     int64        // of the elements

	indicesFit bool // the budget holds every index
	resolver   *Resolver
	fetcher    fetcher

	block     int64      // elements of a block of the result
	warm      *warm      // nil where data can only be read
	warmBlock int64      // elements of a block of warm rows
	lastWarm  bool       // the block before was of warm rows
	rows      int        // the most rows of a block
	buffers   [2][]byte  // one is made while the other is written
	row       []int64    // where the rows of a block begin in data
	direct    *direct    // nil where rows are not decoded, or only within a budget
	bags      *bags      // nil where rows are not reduced
	blockwise *blockwise // nil where rows are not decoded, or no whole blocks

	held  int64           // bytes of the operands that are held whole
	whole []garner.Tensor // those of the further operands
}

// newGather lowers op and checks the options.
func newGather(ctx context.Context, op garner.Op, data, indices Array, o Options) (*gather, error) {
	g := &gather{data: data, indices: indices, o: o, threads: o.Threads}
	if g.threads <= 0 {
		g.threads = runtime.GOMAXPROCS(0)
	}
	if err := g.lower(ctx, op); err != nil {
		return nil, err
	}
	if g.indices.Spec().DType == garner.Invalid {
		g.indices = Memory(garner.Of([]int64{0})) // those of an operator that takes none
	}
	var err error
	plan := g.plan
	g.bits = plan.DType.Bits()
	elements := data.Spec()
	if plan.Stored != nil {
		elements = plan.Stored.Elements()
	}
	if g.dataBytes, err = sizeOf(elements); err != nil {
		return nil, err
	}
	n, _ := plan.Out.Len()
	if _, err = sizeOf(garner.SpecOf(plan.DType, n)); err != nil {
		return nil, err
	}
	g.Range = Range{0, int64(n)}
	if o.Range != nil {
		if r := *o.Range; r.First < 0 || r.First > r.End || r.End > int64(n) {
			return nil, garner.Errorf(garner.ErrShape, "a range from element %d up to %d of a result of %d elements; give 0 ≤ First ≤ End ≤ %d", r.First, r.End, n, n)
		}
		g.Range = *o.Range
	}
	if g.size, err = sizeOf(garner.SpecOf(plan.DType, int(g.End-g.First))); err != nil {
		return nil, err
	}
	if plan.Outside == garner.Fill {
		if g.fill, err = fillBytes(plan.Fill); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// begin makes what reads the elements, divides the budget and checks the indices.
func (g *gather) begin(ctx context.Context) (err error) {
	g.elements = fetches(g.data, g.o.Memory > 0, g.threads)
	if g.plan.Stored != nil {
		if g.elements, err = g.newDecoded(ctx); err != nil {
			return err
		}
	} else if g.o.Memory == 0 {
		g.direct = newDirect(g.data)
	}
	if g.plan.Bag != nil {
		if g.bags, err = g.newBags(ctx); err != nil {
			return err
		}
		if columns := int64(g.bags.columns); g.piece() && columns > 0 && g.First < g.End {
			return g.bags.CheckBags(ctx, int(g.First/columns), int((g.End+columns-1)/columns))
		}
		return g.bags.Check(ctx)
	}
	g.blockwise = g.newBlockwise()
	if err := g.divide(); err != nil {
		return err
	}
	return g.check(ctx)
}

// piece reports whether the run makes less than the result.
func (g *gather) piece() bool {
	n, _ := g.plan.Out.Len()
	return g.End-g.First < int64(n)
}

// fillBytes returns a scalar as the kernels take it: little-endian, a packed type
// in the low bits.
func fillBytes(fill garner.Tensor) ([]byte, error) {
	c, err := fill.Clone()
	if err != nil {
		return nil, err
	}
	return c.Bytes()
}

// check makes the Resolver. Where the budget holds every index, it checks them
// all; else the blocks do.
func (g *gather) check(ctx context.Context) error {
	g.resolver = newResolver(g.plan, g.indices, g.o.Memory > 0, g.rows)
	g.resolver.fetches = fetches(g.indices, g.o.Memory > 0, g.threads)
	if !g.indicesFit {
		if n, _ := g.plan.Out.Len(); n == 0 {
			return g.resolver.check(ctx) // R.7
		}
		return nil
	}
	if _, ok := g.indices.(*memory); ok || g.o.Memory == 0 {
		g.resolver.view()
	}
	if !g.resolver.inMemory {
		if err := g.resolver.load(ctx); err != nil {
			return err
		}
	}
	if g.heat(); g.lastWarm && g.warmBlock >= g.End-g.First {
		return nil // one block holds the range, and is checked before it is written
	}
	if g.piece() {
		return nil // its blocks are checked: the other pieces check theirs
	}
	return g.resolver.check(ctx)
}
