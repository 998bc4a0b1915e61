package source

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/exec"
	"github.com/garner-go/garner/internal/mapped"
)

// serve calls answer for every request, on up to workers goroutines, and waits
// for them. A panic of answer is one of the caller, and a page fault an ErrFault.
func (f *File) serve(ctx context.Context, q *requests, workers int, answer func(r request, scratch []byte) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := func() {
		var scratch []byte
		defer func() { f.release(scratch) }()
		for ctx.Err() == nil {
			r, ok := q.next()
			if !ok {
				return
			}
			if scratch == nil && (f.codec != nil || !r.direct(q.rows)) {
				scratch = f.scratch()
			}
			if err := answer(r, scratch); err != nil {
				cancel(err)
				return
			}
		}
	}
	var wait sync.WaitGroup
	var panics exec.Panics // of a codec, on a goroutine that the caller does not know
	defer func() {
		cancel(nil) // also where work panics here
		wait.Wait()
	}()
	guarded := func() {
		if exec.Guard(work) {
			cancel(garner.Vanished()) // rows.Dst may be a mapped file
		}
	}
	for range min(workers, q.most()) - 1 {
		wait.Go(func() {
			if !panics.Run(guarded) {
				cancel(nil)
			}
		})
	}
	guarded()
	wait.Wait()
	panics.Rethrow()
	return context.Cause(ctx)
}

// fetchPread reads rows by pread, on up to threads goroutines.
func (f *File) fetchPread(ctx context.Context, rows Rows, threads int) error {
	return f.serve(ctx, newRequests(f, rows), threads, func(r request, scratch []byte) error {
		return f.answer(rows, r, scratch)
	})
}

// answer reads a request and puts its rows into Dst.
func (f *File) answer(rows Rows, r request, scratch []byte) error {
	if f.codec == nil && r.direct(rows) {
		return f.readPart(r, r.target(rows))
	}
	n := r.to - r.from
	b := scratch[:n]
	if f.codec != nil {
		stored := scratch[n : n+f.at(n)]
		if err := f.readPart(r, stored); err != nil {
			return err
		}
		f.codec.Decode(b, stored)
	} else if err := f.readPart(r, b); err != nil {
		return err
	}
	scatter(rows, r, b)
	return nil
}

// readPart reads the stored bytes of a request into b.
func (f *File) readPart(r request, b []byte) error {
	h := r.part.file
	offset, _ := f.storedRange(r)
	for done := 0; done < len(b); {
		n, err := h.read.ReadAt(b[done:], offset+int64(done))
		done += n
		switch {
		case done == len(b):
			return nil
		case err == nil && n > 0:
			continue // a short read
		case err == nil:
			err = io.ErrNoProgress
		case errors.Is(err, io.EOF):
			err = ended(h, offset+int64(done))
		}
		return f.failed(r, offset, offset+int64(len(b)), err)
	}
	return nil
}

// ended is the error of a file that ends at byte at, before the end of a row.
func ended(h *handle, at int64) error {
	if now, err := h.file.Stat(); err == nil {
		at = min(at, now.Size())
	}
	return mapped.CutShort(errCut, h.begin.Size, at)
}

// failed is the error of a request whose stored bytes are from … to-1 of its file.
func (f *File) failed(r request, from, to int64, err error) error {
	e := &ReadError{Path: r.part.file.path, Row: -1, From: from, To: to, Err: err}
	if f.rowSize > 0 {
		e.Row = r.from / f.rowSize
	}
	return e
}

// scratch takes a buffer from the file's free list. It holds the bytes of one
// request, and with a codec the stored bytes behind them.
func (f *File) scratch() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.free); n > 0 {
		b := f.free[n-1]
		f.free = f.free[:n-1]
		return b
	}
	n := f.limit()
	if f.codec != nil {
		n += f.at(n)
	}
	return make([]byte, n)
}

// release puts scratch back on the free list.
func (f *File) release(b []byte) {
	if b == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.free = append(f.free, b)
}
