package garner

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/garner-go/garner/internal/exec"
)

// A Call is one run of a Prepared.
type Call struct {
	Prepared *Prepared
	Data     Tensor
	Indices  Tensor
	Out      Tensor
	Further  []Tensor // the operands behind the indices
}

// RunAll runs calls, such as the tables of a recommender. The results are those of the
// same runs one after the other. Calls none of which writes to memory of another share the
// cores of their Prepareds: each goroutine takes the next call; those with Progress run
// alone. RunAll ends with the first error, which names the call by its number, from 0,
// and wraps that of Prepared.Run; calls after it may have run. It allocates nothing where
// the runs do not.
func RunAll(ctx context.Context, calls []Call) error {
	for i := range calls {
		if calls[i].Prepared == nil {
			return errorf(ErrAttribute, "call %d has no Prepared; make one by Prepare", i)
		}
	}
	s := sharedCalls.Get().(*sharing)
	var err error
	for first := 0; first < len(calls) && err == nil; {
		n := s.apart(calls[first:])
		err = s.run(ctx, calls, first, n)
		first += n
	}
	s.release()
	return err
}

// sharing is the memory of a RunAll.
type sharing struct {
	runner        exec.Runner
	reads, writes []memorySpan // of the calls that run together

	ctx    context.Context
	calls  []Call // those that run together
	errs   []error
	done   []bool
	failed atomic.Int64 // the first of them that failed
	each   func(call int)
}

// A memorySpan is a range of memory.
type memorySpan struct {
	of       *Tensor
	from, to uintptr
}

// sharedCalls is the free list of RunAll's memory.
var sharedCalls = sync.Pool{New: func() any {
	s := new(sharing)
	s.each = s.runOne
	return s
}}

// release returns s to the free list, without the caller's memory.
func (s *sharing) release() {
	clear(s.reads[:cap(s.reads)])
	clear(s.writes[:cap(s.writes)])
	clear(s.errs[:cap(s.errs)])
	s.ctx, s.calls = nil, nil
	sharedCalls.Put(s)
}

// togetherMost is the most calls that run together: each is held against all before it.
const togetherMost = 64

// apart returns how many of the first calls can run together: none writes to memory that
// another uses. It is 1 where they have too little to do for several cores.
func (s *sharing) apart(calls []Call) (n int) {
	s.reads, s.writes = s.reads[:0], s.writes[:0]
	work := 0
	for n < min(len(calls), togetherMost) {
		c := &calls[n]
		if c.Prepared.progress != nil || !s.add(c) {
			break
		}
		work += c.work()
		n++
	}
	if work <= exec.Tuned.AloneBytes {
		return 1
	}
	return max(n, 1)
}

// work is about how many bytes a call moves.
func (c *Call) work() int {
	rows, size := 1, c.Out.dtype.Bits()/8
	if len(c.Out.shape) > 0 {
		rows = max(c.Out.shape[0], 1)
	}
	n := c.Out.Len()
	if c.Prepared.lowered != nil && c.Prepared.lowered.bag != nil {
		n = c.Indices.Len() * (n / rows)
	}
	return n * size
}

// add adds a call to those that run together. It returns false where it uses memory that
// one of them writes to, or writes to memory that one uses.
func (s *sharing) add(c *Call) bool {
	reads := len(s.reads)
	for i := range 2 + len(c.Further) {
		t := &c.Data
		if i == 1 {
			t = &c.Indices
		} else if i > 1 {
			t = &c.Further[i-2]
		}
		from, to, any := t.span()
		if !any {
			continue
		}
		for _, w := range s.writes {
			if from < w.to && w.from < to {
				return false
			}
		}
		s.reads = append(s.reads, memorySpan{t, from, to})
	}
	from, to, any := c.Out.span()
	if !any {
		return true
	}
	for _, r := range s.reads[:reads] { // Run holds a call's own operands against its output
		if from < r.to && r.from < to {
			return false
		}
	}
	for _, w := range s.writes {
		if from < w.to && w.from < to && !interleaved(&c.Out, w.of) {
			return false
		}
	}
	s.writes = append(s.writes, memorySpan{&c.Out, from, to})
	return true
}

// interleaved reports whether two tensors are columns of one matrix that they do not
// share: their rows along axis 0 have one distance, and lie between each other.
func interleaved(a, b *Tensor) bool {
	size := a.dtype.Bits() / 8
	if len(a.shape) == 0 || len(b.shape) == 0 || a.dtype != b.dtype || size == 0 || a.strides[0] != b.strides[0] || a.strides[0] <= 0 {
		return false
	}
	rowOf := func(t *Tensor) (from uintptr, width int) {
		for i, d := range t.shape[1:] {
			if t.strides[1+i] < 0 {
				return 0, a.strides[0] + 1
			}
			width += t.strides[1+i] * (d - 1)
		}
		from, _ = t.between(t.mem.Offset, t.mem.Offset)
		return from, width + 1
	}
	fromA, widthA := rowOf(a)
	fromB, widthB := rowOf(b)
	if fromA > fromB {
		fromA, widthA, fromB, widthB = fromB, widthB, fromA, widthA
	}
	step := a.strides[0] * size
	between := int(fromB-fromA) % step
	return widthA*size <= between && between+widthB*size <= step
}

// run runs the calls first … first+n-1.
func (s *sharing) run(ctx context.Context, calls []Call, first, n int) error {
	threads := 0
	for i := range calls[first : first+n] {
		threads = max(threads, calls[first+i].Prepared.threads)
	}
	if n == 1 || threads <= 1 {
		for i := first; i < first+n; i++ {
			if err := calls[i].run(ctx); err != nil {
				return &callError{i, len(calls), err}
			}
		}
		return nil
	}
	if len(s.errs) < n {
		s.errs, s.done = make([]error, togetherMost), make([]bool, togetherMost)
	}
	clear(s.errs[:n])
	clear(s.done[:n])
	s.ctx, s.calls = ctx, calls[first:first+n]
	s.failed.Store(int64(n))
	how := s.runner.RunEach(ctx, n, threads, s.each)
	for i := range n {
		switch err := s.errs[i]; {
		case err != nil:
			return &callError{first + i, len(calls), err}
		case s.done[i]:
		case how == exec.Vanished:
			return &callError{first + i, len(calls), Vanished()}
		default:
			return &callError{first + i, len(calls), context.Cause(ctx)}
		}
	}
	return nil
}

// runOne runs one of the calls that run together, unless one before it has failed.
func (s *sharing) runOne(i int) {
	if s.failed.Load() < int64(i) {
		return
	}
	if s.errs[i] = s.calls[i].run(s.ctx); s.errs[i] == nil {
		s.done[i] = true
		return
	}
	for {
		before := s.failed.Load()
		if before <= int64(i) || s.failed.CompareAndSwap(before, int64(i)) {
			return
		}
	}
}

func (c *Call) run(ctx context.Context) error {
	return c.Prepared.Run(ctx, c.Data, c.Indices, c.Out, c.Further...)
}

// A callError is the error of one of several calls.
type callError struct {
	number, of int
	err        error
}

func (e *callError) Error() string {
	return fmt.Sprintf("garner: call %d of %d: %s", e.number, e.of, strings.TrimPrefix(e.err.Error(), "garner: "))
}

func (e *callError) Unwrap() error { return e.err }
