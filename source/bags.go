package source

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/exec"
	"github.com/garner-go/garner/internal/kernel"
)

// bags makes blocks of a result of bags. It reads the rows of many terms at a time, each
// distinct one once, and reduces them in the order of the indices.
type bags struct {
	*gather
	*garner.BagTerms
	number  kernel.Number
	sums    Array // of bytes: the rows as they are stored, which are summed without decoding them first; else nil
	element int   // with sums, the first element of the part of a row that is reduced, of some term
	columns int   // elements of a row of the result
	chunk   int   // elements of a row that are reduced at a time, at most the plan's Slice
	most    int   // terms, and bags, that are reduced at a time

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
	first, end  int    // of the terms that are reduced
	begin, last bool   // the bag's first segment, and its last
	row         bool   // the bag has no term and is the row at first
	element     int    // of which this is the first element
	terms       int    // of the whole bag, in its last segment
	sum         uint64 // of its weights, as AddWeights gives
}

// newBags reads the operands of bags, and divides the budget: an eighth for each of two
// blocks of the result, and a half for the rows of terms.
func (g *gather) newBags(ctx context.Context) (*bags, error) {
	indices, err := g.hold(ctx, g.indices)
	if err != nil {
		return nil, err
	}
	for _, at := range []garner.Position{g.plan.Bag.EndsAt, g.plan.Bag.WeightsAt} {
		if !at.Given || g.whole[at.At].DType().Valid() {
			continue
		}
		if g.whole[at.At], err = g.hold(ctx, g.o.Further[at.At]); err != nil {
			return nil, err
		}
	}
	b := &bags{gather: g, BagTerms: g.plan.BagTerms(indices, g.whole...), columns: g.plan.Slice}
	b.number = b.Number()
	if g.plan.Sums() {
		b.sums = g.elements.(*decoded).of[0]
	}
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
	g.block = min(g.block, g.End-g.First)
	const perTerm = 2*16 + 2*8 + 8 + 80 // a sorter's keys and position, a row, a weight, a segment
	size := width * int64(b.chunk+1)
	if b.sums != nil && g.plan.Slice > 0 {
		size = b.span(0, 1).Len() + b.span(0, b.chunk).Len()
	}
	b.most = int(min(max(budget/2/(perTerm+size), 1), maxRows))
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
	weighted := b.plan.Bag.WeightsAt.Given
	quotient := b.plan.Bag.Reduction == garner.Mean || b.plan.Bag.Reduction == garner.SqrtN
	bag := first
	t, end := b.Bag(bag)
	terms, sum := 0, uint64(0) // of bag, so far
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
				at := int64(-1)
				if row >= 0 {
					at = b.place(row+bias, n)
				}
				b.rows = append(b.rows, at)
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
					s.row, s.element = true, row+bias
					b.rows = append(b.rows, b.place(s.element, n))
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

// place returns where a row of n elements, from one on, begins in what is fetched, in bytes.
func (b *bags) place(element, n int) int64 {
	if b.sums == nil {
		return int64(element) * int64(b.bits/8)
	}
	b.element = element
	return b.span(element, n).From
}

// span returns the bytes of n stored elements.
func (b *bags) span(first, n int) exec.Span { return b.plan.Stored.Spans(first, n)[0] }

// sum is kernel.Reduce of stored rows. The row at fill is elements.
func (b *bags) sum(dst, src []byte, t kernel.Terms, fill int64) {
	rows, weights := t.Rows, t.Weights
	for len(rows) > 0 {
		n, filled := 1, rows[0] == fill
		for n < len(rows) && (rows[n] == fill) == filled {
			n++
		}
		if t.Rows, rows = rows[:n], rows[n:]; weights != nil {
			t.Weights, weights = weights[:4*n], weights[4*n:]
		}
		if filled {
			kernel.Reduce(dst, src, b.number, t)
		} else {
			b.plan.Stored.SumParts(dst, src, t, kernel.Bags{Ends: []int64{0, int64(n)}, Size: len(dst), Step: len(dst)}, b.element)
		}
		t.Begin = false
	}
}

// reduceStage reads the rows of the terms, and reduces n columns of each segment.
func (b *bags) reduceStage(ctx context.Context, dst []byte, n int) error {
	width, bag := b.bits/8, b.plan.Bag
	size := n * width
	each, from := size, b.elements // bytes of a row that is fetched, and where they are
	if b.sums != nil {
		each, from = int(b.span(b.element, n).Len()), b.sums
	}
	at, err := b.fetcher.order.distinct(ctx, b.rows, each)
	if err != nil {
		return err
	}
	fill := (len(at)*each + 7) &^ 7 // where the last row begins, that of terms whose index is outside; aligned for its elements
	src, err := b.fetcher.room(fill + size)
	if err != nil {
		return err
	}
	if len(at) > 0 {
		if err := from.Fetch(ctx, Rows{At: at, Size: each, Dst: src[:len(at)*each]}); err != nil {
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
			case s.row && b.sums != nil:
				parts := exec.Stored{src[b.rows[s.first]:][:each]}
				b.plan.Stored.DecodeParts(to, &parts, &[3]int64{b.span(s.element, n).From}, s.element, n)
			case s.row:
				copy(to, src[b.rows[s.first]:])
			case s.last && s.terms == 0:
				clear(to)
			case s.end > s.first:
				terms := kernel.Terms{Rows: b.rows[s.first:s.end], Max: bag.Reduction == garner.Max, Begin: s.begin, Zero: bag.FromZero, Fused: bag.Fused}
				if bag.WeightsAt.Given {
					terms.Weights = b.weights[s.first*width : s.end*width]
				}
				if b.sums != nil {
					b.sum(to, src, terms, int64(fill))
				} else {
					kernel.Reduce(to, src, b.number, terms)
				}
			}
			if s.last && s.terms > 0 && (bag.Reduction == garner.Mean || bag.Reduction == garner.SqrtN) {
				kernel.Divide(to, b.number, kernel.Quotient{
					Terms: s.terms, Weights: s.sum, Weighted: bag.WeightsAt.Given, Root: bag.Reduction == garner.SqrtN, Reciprocal: bag.Reciprocal, Rounded: bag.Rounded, Away: bag.Away,
				})
			}
			if wide == nil || &to[0] != &wide[0] {
				continue
			}
			if s.last {
				kernel.Store(out, to, b.number, bag.Away && bag.Reduction == garner.Sum)
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
