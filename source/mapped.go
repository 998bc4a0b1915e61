package source

import (
	"context"
	"errors"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
)

// view returns the array's bytes in the mapped file. It is nil where a codec
// stores them or segments divide them.
func (f *File) view() []byte {
	if f.codec != nil {
		return nil
	}
	return f.storedView()
}

// storedView returns the bytes in the mapped file that store the array. It is nil where
// segments divide them.
func (f *File) storedView() []byte {
	if len(f.parts) != 1 || !f.real() {
		return nil
	}
	p := f.parts[0]
	m, n := p.file.mapping(), (p.to-p.from)/f.block*f.stored
	if m == nil || int64(m.Size()) < p.offset+n {
		return nil
	}
	return m.Bytes()[p.offset : p.offset+n]
}

// willNeed asks the kernel to begin reading the pages of all rows. It is false
// where the system has no posix_fadvise.
func (f *File) willNeed(ctx context.Context, rows Rows) (bool, error) {
	const page = 4096
	q := newRequests(f, rows)
	for {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		r, ok := q.next()
		if !ok {
			return true, nil
		}
		offset, n := f.storedRange(r)
		n += offset % page
		offset -= offset % page
		if !mapped.WillNeed(r.part.file.file, offset, (n+page-1)/page*page) {
			return false, nil
		}
	}
}

// fetchMapped copies or decodes rows from the mapped files, on up to threads cores.
func (f *File) fetchMapped(ctx context.Context, rows Rows, threads int) error {
	q := newRequests(f, rows)
	q.gap = 0
	err := f.serve(ctx, q, max(1, min(threads, len(rows.Dst)>>20)), func(r request, scratch []byte) error {
		offset, n := f.storedRange(r)
		err := mapped.Guard(func() error {
			b := r.part.file.mapping().Bytes()
			if offset+n > int64(len(b)) {
				return mapped.CutShort(errCut, r.part.file.begin.Size, int64(len(b)))
			}
			if b = b[offset : offset+n]; f.codec == nil {
				scatter(rows, r, b)
				return nil
			}
			out := scratch[:r.to-r.from]
			if r.direct(rows) {
				out = r.target(rows)
				f.codec.Decode(out, b)
				return nil
			}
			f.codec.Decode(out, b)
			scatter(rows, r, out)
			return nil
		})
		if errors.Is(err, garner.ErrFault) {
			// A read names the file and the row, where the fault persists.
			return f.answer(rows, r, scratch)
		}
		return err
	})
	if err != nil {
		return err
	}
	if f.cut(rows) {
		return f.fetchPread(ctx, rows, threads) // it names the row
	}
	return nil
}

// cut reports whether a file ends before the last byte of some of the rows.
func (f *File) cut(rows Rows) bool {
	size := int64(rows.Size)
	for i := f.partAt(rows.At[0]); i < len(f.parts); i++ {
		p := &f.parts[i]
		next, _ := slices.BinarySearch(rows.At, p.to) // the first row behind the part
		end := min(rows.At[max(next-1, 0)]+size, p.to)
		if end > p.from {
			offset, n := f.storedRange(request{part: p, from: p.from, to: p.from + (end-p.from+f.block-1)/f.block*f.block})
			if p.file.mapping().CheckTo(int(offset+n)) != nil {
				return true
			}
		}
		if next == len(rows.At) && rows.At[next-1]+size <= p.to {
			return false
		}
	}
	return false
}
