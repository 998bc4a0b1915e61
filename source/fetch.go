package source

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/pages"
)

// FetchRows reads rows of an array in any order, with repeats, and reads each
// distinct row once.
//
//	rows  positions at which rows begin, in bytes from the array's first element
//	size  bytes of each row; rows may overlap
//	dst   len(rows)·size bytes: row i goes to dst[i·size : (i+1)·size]
//
// A negative position leaves its row of dst unchanged, so that a caller may write
// fills there. A Resolver's rows are such positions, after multiplication by the
// bytes of an element.
//
// Rows that ascend strictly are read straight into dst. Others are sorted and
// read into scratch of size bytes for each distinct row, and copied from there
// on all cores. Scratch comes from a free list. Any number of goroutines may call
// FetchRows at once. rows and dst that do not fit together, and a nil Array, are an
// ErrShape; other errors are those of a.Fetch. After an error dst is unspecified.
func FetchRows(ctx context.Context, a Array, rows []int64, size int, dst []byte) error {
	if n := len(rows); size < 0 || n > 0 && len(dst)/n != size || n*size != len(dst) {
		return garner.Errorf(garner.ErrShape, "%d rows of %d bytes into %d bytes; the destination must hold them exactly", n, size, len(dst))
	}
	h, err := held(a)
	if err != nil {
		return err
	}
	defer h.Release()
	if size == 0 {
		return nil // as many rows as are wanted have no byte
	}
	f := fetchers.Get().(*fetcher)
	f.rows = append(f.rows[:0], rows...)
	threads := runtime.GOMAXPROCS(0)
	err = f.fetch(ctx, fetches(a, false, threads), threads, dst, f.rows, size, 1, false, nil)
	fetchers.Put(f)
	return err
}

// fetchers is the free list of FetchRows and of Tables.
var fetchers = sync.Pool{New: func() any { return new(fetcher) }}

// A fetcher reads rows in any order. It serves one goroutine at a time.
type fetcher struct {
	order sorter
	known known
	rows  []int64 // for callers whose rows must not change
	stage []byte  // distinct rows, one behind the other

	// paged takes stage from internal/pages instead of the heap. free must then
	// give it back. usual is the bytes that most calls need; the first call
	// allocates them, up to four times its own need.
	paged bool
	usual int64
}

// fetch reads rows of size bytes, of elements of width bytes, to dst, one after
// the other. A negative row is the fill where filled is set, and leaves its place
// in dst unchanged elsewhere. fetch overwrites rows.
func (f *fetcher) fetch(ctx context.Context, a Array, threads int, dst []byte, rows []int64, size, width int, filled bool, fill []byte) error {
	if ascending(rows) {
		return a.Fetch(ctx, Rows{At: rows, Size: size, Dst: dst[:len(rows)*size]})
	}
	src, err := f.fetchDistinct(ctx, a, rows, size)
	if err != nil {
		return err
	}
	if filled {
		return moveKnown(ctx, &f.known, threads, dst, src, 0, rows, size, 8*width, true, fill)
	}
	for first := 0; first < len(rows); {
		end := first
		for end < len(rows) && rows[end] >= 0 {
			end++
		}
		if first < end {
			if err := moveKnown(ctx, &f.known, threads, dst, src, first*size, rows[first:end], size, 8*width, false, nil); err != nil {
				return err
			}
		}
		first = end + 1
	}
	return nil
}

// fetchDistinct reads each distinct row once. rows[i] becomes the position in
// src at which its row begins; negative ones stay. src is valid until the next
// call.
func (f *fetcher) fetchDistinct(ctx context.Context, a Array, rows []int64, size int) (src []byte, err error) {
	at, err := f.order.distinct(ctx, rows, size)
	if err != nil {
		return nil, err
	}
	if src, err = f.room(len(at) * size); err != nil || len(at) == 0 {
		return src, err
	}
	return src, a.Fetch(ctx, Rows{At: at, Size: size, Dst: src})
}

// errPanicked ends the work on rows whose Fetch, on another goroutine, did not return.
// That of the caller panics in its place.
var errPanicked = errors.New("a Fetch panicked")

// room returns n bytes of stage.
func (f *fetcher) room(n int) ([]byte, error) {
	switch {
	case n <= len(f.stage):
	case f.paged:
		if err := f.free(); err != nil {
			return nil, err
		}
		b, err := pages.Alloc(max(n, int(min(f.usual, 4*int64(n)))))
		if err != nil {
			return nil, err
		}
		f.stage = b
	default:
		f.stage = make([]byte, n)
	}
	return f.stage[:n], nil
}

// free gives stage back.
func (f *fetcher) free() error {
	b := f.stage
	f.stage = nil
	if f.paged {
		return pages.Free(b)
	}
	return nil
}
