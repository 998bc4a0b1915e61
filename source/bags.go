package source

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/exec"
	"github.com/garner-go/garner/internal/kernel"
)

// NewPlan lowers op for arrays, with further as Options has them, and returns the plan in
// the order of its result: see garner.Plan.InOrder. It reads the operands that say where
// bags end, on which the shape of the result can depend, and no other. Errors are those
// of garner.NewPlan and *ReadErrors.
func NewPlan(ctx context.Context, op garner.Op, data, indices Array, further ...Array) (*garner.Plan, error) {
	indices = indicesOf(op, indices)
	g := &gather{data: data, indices: indices, o: Options{Further: further}, threads: 1}
	h, err := held(g.o.given(data, indices)...)
	if err != nil {
		return nil, err
	}
	defer h.Release()
	if err := g.lower(ctx, op); err != nil {
		return nil, err
	}
	return g.plan, h.Check()
}

// indicesOf returns the indices of a call: of an operator that takes none they may be nil.
func indicesOf(op garner.Op, indices Array) Array {
	if indices == nil && !garner.TakesIndices(op) {
		return Memory(garner.Tensor{})
	}
	return indices
}

// given returns the Arrays of a call.
func (o *Options) given(data, indices Array) []Array {
	return append([]Array{data, indices}, slices.DeleteFunc(slices.Clone(o.Further), func(a Array) bool { return a == nil })...)
}

// further returns a further operand of the call; nil for one that is not given.
func (g *gather) further(at int) Array {
	if at < 0 || at >= len(g.o.Further) {
		return nil
	}
	return g.o.Further[at]
}

// lower lowers op. It reads the operands that may say where bags end, on which the shape
// of the result can depend.
func (g *gather) lower(ctx context.Context, op garner.Op) error {
	data, indices := g.data.Spec(), g.indices.Spec()
	if len(g.o.Further) == 0 {
		plan, err := garner.NewPlan(op, data, indices)
		if err != nil {
			return err
		}
		g.plan = plan.InOrder()
		return nil
	}
	operands := garner.OperandsOf(op)
	specs, values := make([]garner.Spec, len(g.o.Further)), make([]garner.Tensor, len(g.o.Further))
	g.whole = make([]garner.Tensor, len(g.o.Further))
	for i, a := range g.o.Further {
		if a != nil {
			specs[i] = a.Spec()
		}
	}
	// Only of bags that the last segment counts, the plan needs the elements of an operand. An
	// operator that does not say which operands are integers may have any tell.
	tells := [...]garner.OperandTypes{garner.IntegerTypes, garner.AnyTypes}
	for read := 0; ; read++ {
		p, err := garner.Prepare(op, data, indices, garner.Threads(1), garner.Further(specs...), garner.FurtherValues(values...))
		if err != nil {
			return err
		}
		if plan := p.Plan(); plan != nil {
			g.plan = plan.InOrder()
			return nil
		}
		if read == len(tells) {
			_, err := garner.NewPlan(op, data, indices, specs...)
			return err
		}
		for i, a := range g.o.Further {
			if a == nil || i >= len(operands) || operands[i].Types != tells[read] || !specs[i].DType.IsInteger() {
				continue
			}
			if values[i], err = g.valuesOf(ctx, i); err != nil {
				return err
			}
		}
	}
}

// valuesOf returns a further operand with its elements. It holds those that a budget does
// not let a mapping have.
func (g *gather) valuesOf(ctx context.Context, at int) (t garner.Tensor, err error) {
	a := g.o.Further[at]
	if g.o.Memory == 0 || inMemory(a) {
		if t, here := tensorOf(a); here {
			return t, nil
		}
	}
	g.whole[at], err = g.hold(ctx, a)
	return g.whole[at], err
}

// hold returns an operand in memory, for the whole run: it reads one that the caller does
// not have there.
func (g *gather) hold(ctx context.Context, a Array) (garner.Tensor, error) {
	if inCaller(a) {
		return a.(*memory).tensor, nil
	}
	size, err := sizeOf(a.Spec())
	if err != nil {
		return garner.Tensor{}, err
	}
	if g.held += size; g.o.Memory > 0 && g.held > g.o.Memory/2 {
		all := max(g.heldWhole(), g.held)
		return garner.Tensor{}, garner.Errorf(nil, "the indices, ends and weights of bags, and operands that are not row-major, are held whole: %d bytes, where half of the budget has room for %d; gather fewer bags at a time, or give %d bytes more", all, g.o.Memory/2, 2*all-g.o.Memory)
	}
	t, _, err := loaded(ctx, fetches(a, g.o.Memory > 0, g.threads))
	return t, err
}

// inCaller reports whether an operand is in memory of the caller that stays as it is.
func inCaller(a Array) bool {
	m, ok := a.(*memory)
	return ok && !m.sparse && !m.tensor.CanVanish()
}

// heldWhole returns the bytes of all operands that hold reads; while the plan is not known,
// of all but data.
func (g *gather) heldWhole() (bytes int64) {
	count := func(a Array) {
		if a != nil && !inCaller(a) {
			size, _ := sizeOf(a.Spec())
			bytes += size
		}
	}
	if g.plan == nil || g.plan.Bag != nil {
		count(g.indices)
	}
	for at, a := range g.o.Further {
		if g.plan == nil || g.plan.Bag != nil && (at == g.plan.Bag.EndsAt || at == g.plan.Bag.WeightsAt) {
			count(a)
		}
	}
	if g.plan != nil && g.plan.Stored != nil {
		scales, zeros := g.plan.Stored.Operands()
		for _, a := range [...]Array{g.data, g.further(scales), g.further(zeros)} {
			if a != nil && !rowMajor(a.Spec()) {
				count(a)
			}
		}
	}
	return bytes
}

// bags makes blocks of a result of bags. It reads the rows of many terms at a time, each
// distinct one once, and reduces them in the order of the indices.
type bags struct {
	*gather
	*garner.BagTerms
	number  kernel.Number
	columns int // elements of a row of the result
	chunk   int // elements of a row that are reduced at a time, at most the plan's Slice
	most    int // terms, and bags, that are reduced at a time

	// Of the terms that are reduced.
	rows     []int64 // where each begins in data, then where in the stage; in bytes
	weights  []byte  // of each
	segments []segment
	carried  [2][]byte // of f16 and bf16: the f32 of the bag that goes on, from the stage before and for the next
	runner   exec.Runner
}

// A segment is consecutive terms of one bag.
type segment struct {
	bag         int
	first, end  int  // of the terms that are reduced
	begin, last bool // the bag's first segment, and its last
	row         bool // the bag has no term and is the row at first
	terms       int  // of the whole bag, in its last segment
	sum         float64
}

// newBags reads the operands of bags, and divides the budget: an eighth for each of two
// blocks of the result, and a half for the rows of terms.
func (g *gather) newBags(ctx context.Context) (*bags, error) {
	indices, err := g.hold(ctx, g.indices)
	if err != nil {
		return nil, err
	}
	for _, at := range []int{g.plan.Bag.EndsAt, g.plan.Bag.WeightsAt} {
		if at < 0 || g.whole[at].DType().Valid() {
			continue
		}
		if g.whole[at], err = g.hold(ctx, g.o.Further[at]); err != nil {
			return nil, err
		}
	}
	b := &bags{gather: g, BagTerms: g.plan.BagTerms(indices, g.whole...), columns: g.plan.Slice}
	b.number = b.Number()
	for _, l := range g.plan.Loops[2:] {
		b.columns *= l.Extent
	}
	budget, width := min(g.budget(), mostBudget), int64(g.bits/8)
	const leastRows = 16 // of a stage: of longer ones, a part is reduced at a time
	b.chunk = int(max(min(int64(g.plan.Slice), budget/2/leastRows/width), 1))
	g.block = max(budget/8/width, 1)
	if columns := int64(b.columns); g.block > columns {
		g.block -= g.block % max(columns, 1)
	}
	g.block = min(g.block, g.total)
	const perTerm = 2*16 + 2*8 + 8 + 72 // a sorter's keys and position, a row, a weight, a segment
	b.most = int(min(max(budget/2/(perTerm+width*int64(b.chunk+1)), 1), maxRows))
	b.most = min(b.most, max(indices.Len(), 1))
	b.rows, b.weights = make([]int64, 0, b.most), kernel.Bytes(make([]int64, b.most))[:0]
	g.fetcher.paged, g.fetcher.usual = true, budget/2
	return b, nil
}

// make writes the elements at … end-1 of the result to dst.
func (b *bags) make(ctx context.Context, dst []byte, at, end int64) error {
	width := b.bits / 8
	for e := at; e < end; {
		bag, column := int(e/int64(b.columns)), int(e%int64(b.columns))
		n, count := b.columns, int(end-e)/b.columns // of whole bags
		if column > 0 || count == 0 {
			n, count = min(b.columns-column, int(end-e)), 1
		}
		to := dst[int(e-at)*width:]
		for done := 0; done < n; {
			part := min(b.chunk, n-done, b.plan.Slice-(column+done)%b.plan.Slice)
			if err := b.reduce(ctx, to[done*width:], bag, count, column+done, part); err != nil {
				return err
			}
			done += part
		}
		e += int64(n) * int64(count)
	}
	return nil
}

// offset returns the distance of a column from the first element of its row of data, in
// elements.
func (b *bags) offset(column int) int {
	at := column % b.plan.Slice
	column /= b.plan.Slice
	for _, l := range slices.Backward(b.plan.Loops[2:]) {
		at += column % l.Extent * l.Data
		column /= l.Extent
	}
	return at
}

// reduce writes n columns, from one on, of count bags to dst, in which bags lie a row of
// the result apart. Between two of the stages it keeps what it knows of the bag that
// both have terms of: dst holds its sum.
func (b *bags) reduce(ctx context.Context, dst []byte, first, count, column, n int) error {
	width, bias := b.bits/8, b.offset(column)
	weighted := b.plan.Bag.WeightsAt >= 0
	quotient := b.plan.Bag.Reduction == garner.Mean || b.plan.Bag.Reduction == garner.SqrtN
	bag := first
	t, end := b.Bag(bag)
	terms, sum := 0, 0.0 // of bag, so far
	var bits [8]byte
	for bag < first+count {
		b.rows, b.weights, b.segments = b.rows[:0], b.weights[:0], b.segments[:0]
		for bag < first+count && len(b.rows) < b.most && len(b.segments) < b.most {
			s := segment{bag: bag - first, first: len(b.rows), begin: terms == 0}
			for ; t < end && len(b.rows) < b.most; t++ {
				if t%4096 == 0 && ctx.Err() != nil {
					return context.Cause(ctx)
				}
				row, weight, counts := b.Term(t)
				if !counts {
					continue
				}
				if row >= 0 {
					row = (row + bias) * width
				}
				b.rows = append(b.rows, int64(row))
				if weighted {
					binary.LittleEndian.PutUint64(bits[:], weight)
					b.weights = append(b.weights, bits[:width]...)
				}
			}
			s.end = len(b.rows)
			terms += s.end - s.first
			if weighted && quotient {
				sum = kernel.AddWeights(sum, b.weights[s.first*width:], b.number, b.plan.Bag.Reduction == garner.SqrtN)
			}
			if t == end {
				s.last, s.terms, s.sum = true, terms, sum
				if row, given := b.Empty(); given && terms == 0 {
					s.row = true
					b.rows = append(b.rows, int64((row+bias)*width))
					if weighted {
						b.weights = append(b.weights, bits[:width]...) // of no use
					}
				}
				terms, sum = 0, 0
				if bag++; bag < first+count {
					t, end = b.Bag(bag)
				}
			}
			b.segments = append(b.segments, s)
		}
		if err := b.reduceStage(ctx, dst, n); err != nil {
			return err
		}
	}
	return nil
}

// reduceStage reads the rows of the terms, and reduces n columns of each segment.
func (b *bags) reduceStage(ctx context.Context, dst []byte, n int) error {
	width, bag := b.bits/8, b.plan.Bag
	size := n * width
	at, err := b.fetcher.order.distinct(ctx, b.rows, size)
	if err != nil {
		return err
	}
	src, err := b.fetcher.room((len(at) + 1) * size)
	if err != nil {
		return err
	}
	fill := len(at) * size // the last row, of terms whose index is outside
	if len(at) > 0 {
		if err := b.stored.Fetch(ctx, Rows{At: at, Size: size, Dst: src[:fill]}); err != nil {
			return err
		}
	}
	kernel.Repeat(src[fill:], b.fill)
	for i, row := range b.rows {
		if row < 0 {
			b.rows[i] = int64(fill)
		}
	}
	threads := b.threads
	if len(b.rows)*size <= exec.Tuned.AloneBytes {
		threads = 1
	}
	unit := len(b.segments)/(8*threads) + 1
	reduce := func(u int) {
		var wide []byte
		if b.number.Wide() > width {
			wide = kernel.Bytes(make([]float32, n))
		}
		for _, s := range b.segments[u*unit : min((u+1)*unit, len(b.segments))] {
			out := dst[s.bag*b.columns*width:][:size]
			to := out
			if wide != nil && s.terms+s.end-s.first > 0 && !s.row {
				if to = wide; !s.begin {
					copy(to, b.carried[0])
				}
			}
			switch {
			case s.row:
				copy(to, src[b.rows[s.first]:])
			case s.last && s.terms == 0:
				clear(to)
			case s.end > s.first:
				terms := kernel.Terms{Rows: b.rows[s.first:s.end], Max: bag.Reduction == garner.Max, Begin: s.begin, Zero: bag.FromZero}
				if bag.WeightsAt >= 0 {
					terms.Weights = b.weights[s.first*width : s.end*width]
				}
				kernel.Reduce(to, src, b.number, terms)
			}
			if s.last && s.terms > 0 && (bag.Reduction == garner.Mean || bag.Reduction == garner.SqrtN) {
				kernel.Divide(to, b.number, kernel.Quotient{
					Terms: s.terms, Weights: s.sum, Weighted: bag.WeightsAt >= 0, Root: bag.Reduction == garner.SqrtN, Reciprocal: bag.Reciprocal, Rounded: bag.Rounded,
				})
			}
			if wide == nil || &to[0] != &wide[0] {
				continue
			}
			if s.last {
				kernel.Store(out, to, b.number)
			} else {
				b.carried[1] = append(b.carried[1][:0], to...)
			}
		}
	}
	if b.runner.RunEach(ctx, (len(b.segments)+unit-1)/unit, threads, reduce) == exec.Stopped {
		return context.Cause(ctx)
	}
	b.carried[0], b.carried[1] = b.carried[1], b.carried[0]
	return nil
}

// inPlace reports whether bags, or stored elements, are made by one run over operands that
// are all in memory, or in mapped files whose rows are in the page cache.
func (g *gather) inPlace() bool {
	if g.plan.Bag == nil && g.plan.Stored == nil {
		return false
	}
	for i, a := range g.o.given(g.data, g.indices) {
		_, ok := tensorOf(a)
		if i == 0 && !ok && g.plan.Stored == nil {
			_, _, ok = blocksOf(a) // bags decode their terms
		}
		if !ok || g.o.Memory > 0 && !inMemory(a) {
			return false
		}
	}
	return g.cached()
}

// cached reports whether the rows are in memory, or in the page cache, as far as a look at
// some of them tells.
func (g *gather) cached() bool {
	indices, ok := tensorOf(g.indices)
	if !ok {
		return false
	}
	of := [3]Array{g.data}
	if g.plan.Stored != nil {
		scales, zeros := g.plan.Stored.Operands()
		of[1], of[2] = g.further(scales), g.further(zeros)
	}
	terms := g.plan.Terms()
	total, _ := rowsOf(terms)
	n := min(total, int(min(max(g.size>>19, 2*fewSamples), samples)))
	for i := range n {
		var row [1]int64
		if _, err := terms.Rows(row[:], indices, int(int64(i)*int64(total)/int64(n))); err != nil || row[0] < 0 || terms.Slice == 0 {
			continue // the run says which index is refused
		}
		spans := [3]exec.Span{{From: row[0] * int64(g.bits) / 8, To: (row[0]+int64(terms.Slice))*int64(g.bits)/8 + 1}}
		if g.plan.Stored != nil {
			spans = g.plan.Stored.Spans(int(row[0]), terms.Slice)
		}
		for k, a := range of {
			if f, ok := a.(*File); ok && spans[k].To > spans[k].From && !f.resident([]int64{min(spans[k].From, f.size-1)}, 1, 1) {
				return false
			}
		}
	}
	return true
}

// runWhole makes the whole result in one run, and calls told, which may be nil, with the
// bytes of it that are made. out is the result; the zero Tensor makes one.
func (g *gather) runWhole(ctx context.Context, op garner.Op, out garner.Tensor, told func(done, total int64)) (garner.Tensor, error) {
	data, ok := tensorOf(g.data)
	spec := data.Spec()
	var codec *Codec
	if !ok {
		spec = g.data.Spec()
		data, codec, _ = blocksOf(g.data)
	}
	var indices garner.Tensor
	if garner.TakesIndices(op) {
		indices, _ = tensorOf(g.indices)
	}
	further := make([]garner.Tensor, len(g.o.Further))
	for i, a := range g.o.Further {
		if a != nil {
			further[i], _ = tensorOf(a)
		}
	}
	options := []garner.PrepareOption{garner.Threads(g.threads), garner.FurtherTensors(further...)}
	if told != nil {
		options = append(options, garner.Progress(func(done, _ int64) { told(done*int64(g.bits)/8, g.size) }))
	}
	if codec != nil {
		options = append(options, garner.Blocks(codec.Elements, codec.Bytes, codec.Decode))
	}
	p, err := garner.Prepare(op, spec, indices.Spec(), options...)
	if err != nil {
		return out, err
	}
	if !out.DType().Valid() {
		if out, err = garner.New(g.plan.DType, g.plan.Out...); err != nil {
			return out, err
		}
	}
	return out, p.Run(ctx, data, indices, out, further...)
}

// writeWhole writes the result of such a run. done is false where a page of a file
// vanished: reading says why.
func (g *gather) writeWhole(ctx context.Context, op garner.Op, to io.Writer) (done bool, err error) {
	out, err := g.runWhole(ctx, op, garner.Tensor{}, nil)
	if err != nil {
		return !errors.Is(err, garner.ErrFault), err
	}
	b, err := out.Bytes()
	if err != nil {
		return true, err
	}
	if g.o.Progress != nil {
		g.o.Progress(g.o.From, g.size)
	}
	if b = b[g.o.From:]; len(b) > 0 {
		if n, err := to.Write(b); err != nil {
			return true, err
		} else if n < len(b) {
			return true, io.ErrShortWrite
		}
		if g.o.Progress != nil {
			g.o.Progress(g.size, g.size)
		}
	}
	return true, nil
}
