package source

import (
	"context"
	"sync"

	"github.com/garner-go/garner/internal/kernel"
	"github.com/garner-go/garner/internal/mapped"
)

// moveBytes is the most bytes that are copied between two looks at the context.
const moveBytes = 1 << 20

// aheadBytes is the prefetch distance: 128 cache lines, as in garner's own moves.
const aheadBytes = 128 * 64

// moveRows runs kernel.Rows on up to threads goroutines, a goroutine for each
// moveBytes/2 at most, and waits for them. src may be mapped memory; a page fault
// without a page is an ErrFault.
func moveRows(ctx context.Context, threads int, dst, src []byte, rows []int64, m kernel.Move, fill []byte) error {
	distance := 1 + aheadBytes/max(m.Size, 1)  // rows
	each := max(1, moveBytes/2/max(m.Size, 1)) // rows of a step
	step := func(first int) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		part := m
		part.At += first * m.Step
		end := min(first+each, len(rows))
		ahead := min(end+distance, len(rows))
		part.Ahead.Rows = rows[min(first+distance, ahead):ahead]
		if m.Filled {
			part.Ahead.Rows = nil
		}
		kernel.Rows(dst, src, rows[first:end], part, fill)
		return nil
	}
	threads = min(threads, (len(rows)+each-1)/each)
	if threads <= 1 {
		return mapped.Guard(func() error {
			for first := 0; first < len(rows); first += each {
				if err := step(first); err != nil {
					return err
				}
			}
			return nil
		})
	}
	var mu sync.Mutex
	next := 0
	var failed error
	work := func() {
		err := mapped.Guard(func() error {
			for {
				mu.Lock()
				first := next
				next += each
				stop := failed != nil
				mu.Unlock()
				if stop || first >= len(rows) {
					return nil
				}
				if err := step(first); err != nil {
					return err
				}
			}
		})
		if err != nil {
			mu.Lock()
			failed = err
			mu.Unlock()
		}
	}
	var wait sync.WaitGroup
	for range threads - 1 {
		wait.Go(work)
	}
	work()
	wait.Wait()
	return failed
}
