package source

import (
	"errors"
	"io"
	"sync"

	"github.com/garner-go/garner"
)

const (
	// gapBytes is how many bytes between two rows are read for nothing rather
	// than asked for around. Random reads, 64 at once, of a virtual disk on
	// solid-state memory took 14 µs each of 4 KiB, 19 of 8, 32 of 16, 55 of 32, 88
	// of 64 and 152 of 128: 10 µs a request, and 1.1 µs a KiB. So a gap costs less
	// than a request up to 9 KiB.
	gapBytes = 8 << 10

	// readBytes is the most that one request asks for: larger ones were hardly
	// faster, and what is under way is what a cancelled run waits for.
	readBytes = 128 << 10

	// readers is how many system calls are under way at once; 64 were no faster.
	readers = 32
)

// limit is how many bytes of the array a request asks for at most: whole blocks.
func (f *File) limit() int64 { return max(1, readBytes/max(f.block, f.stored)) * f.block }

// scratch is room for what a request reads, and for what a codec makes of it.
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
		n += n / f.block * f.stored
	}
	return make([]byte, n)
}

// release keeps scratch for another reader.
func (f *File) release(b []byte) {
	if b == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.free = append(f.free, b)
}

// checkRows holds rows against an array of so many bytes.
func checkRows(rows Rows, size int64) error {
	n := len(rows.At)
	if rows.Size < 0 || n > 0 && rows.Size > len(rows.Dst)/n || n*rows.Size != len(rows.Dst) {
		return garner.Errorf(garner.ErrShape, "%d rows of %d bytes into %d bytes; the destination must hold them exactly", n, rows.Size, len(rows.Dst))
	}
	last := int64(-1)
	for _, at := range rows.At {
		if at < 0 || at > size-int64(rows.Size) {
			return garner.Errorf(garner.ErrShape, "%d bytes from byte %d on lie outside the array's %d", rows.Size, at, size)
		}
		if at <= last {
			return garner.Errorf(garner.ErrShape, "rows must ascend, and one at byte %d follows one at byte %d", at, last)
		}
		last = at
	}
	return nil
}

// A request is a range of the array, in one part of it, and the rows that it
// serves.
type request struct {
	part        *part
	from, to    int64 // bytes of the array
	first, last int   // rows that begin before to and end after from
}

// requests cuts rows into requests, one after the other.
type requests struct {
	mu    sync.Mutex
	f     *File
	rows  Rows
	row   int   // the first that is not wholly asked for
	at    int64 // up to where of the array was asked for
	part  int
	limit int64 // bytes of a request, a whole number of blocks
	gap   int64
}

func newRequests(f *File, rows Rows) *requests {
	q := &requests{f: f, rows: rows, at: -1}
	q.limit = f.limit()
	q.gap = gapBytes / f.stored * f.block
	q.part = f.partAt(rows.At[0])
	return q
}

// most is how many requests there can be, counted generously.
func (q *requests) most() int {
	each := int64(q.rows.Size)/q.limit + 2
	return int(min(int64(len(q.rows.At))*each+int64(len(q.f.parts)), 1<<20))
}

// next is the next request; false where all was asked for.
func (q *requests) next() (request, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	f, at, size := q.f, q.rows.At, int64(q.rows.Size)
	for q.row < len(at) && at[q.row]+size <= q.at {
		q.row++
	}
	if q.row == len(at) {
		return request{}, false
	}
	from := max(q.at, at[q.row])
	for f.parts[q.part].to <= from {
		q.part++
	}
	p := &f.parts[q.part]
	from -= (from - p.from) % f.block
	end := min(from+q.limit, p.to)
	r := request{part: p, from: from, first: q.row, last: q.row + 1}
	r.to = min(at[q.row]+size, end)
	for r.last < len(at) && r.to < end && at[r.last] <= r.to+q.gap && at[r.last] < end {
		// A row that would be cut begins the next request, unless it was begun.
		if at[r.last] >= r.to && at[r.last]+size > end {
			break
		}
		r.to = min(at[r.last]+size, end)
		r.last++
	}
	if over := (r.to - p.from) % f.block; over > 0 {
		r.to += f.block - over
	}
	for r.last < len(at) && at[r.last] < r.to {
		r.last++
	}
	q.at = r.to
	return r, true
}

// direct reports whether what a request reads goes to one place as it is.
func (r *request) direct(rows Rows) bool {
	size := int64(rows.Size)
	for i := r.first + 1; i < r.last; i++ {
		if rows.At[i] != rows.At[i-1]+size {
			return false
		}
	}
	return r.to <= rows.At[r.last-1]+size && r.from >= rows.At[r.first]
}

// target is that place.
func (r *request) target(rows Rows) []byte {
	at := int64(r.first)*int64(rows.Size) + r.from - rows.At[r.first]
	return rows.Dst[at : at+r.to-r.from]
}

// answer reads what a request is for.
func (f *File) answer(rows Rows, r request, scratch []byte) error {
	if f.codec == nil && r.direct(rows) {
		return f.readPart(r, r.target(rows))
	}
	n := r.to - r.from
	b := scratch[:n]
	if f.codec != nil {
		stored := scratch[n : n+n/f.block*f.stored]
		if err := f.readPart(r, stored); err != nil {
			return err
		}
		f.codec.Decode(b, stored)
	} else if err := f.readPart(r, b); err != nil {
		return err
	}
	place(rows, r, b)
	return nil
}

// place copies what rows want of a request's bytes to where they want it.
func place(rows Rows, r request, b []byte) {
	size := int64(rows.Size)
	for i := r.first; i < r.last; i++ {
		from, to := max(r.from, rows.At[i]), min(r.to, rows.At[i]+size)
		if from < to {
			at := int64(i)*size + from - rows.At[i]
			copy(rows.Dst[at:at+to-from], b[from-r.from:])
		}
	}
}

// readPart reads the stored bytes of a request.
func (f *File) readPart(r request, b []byte) error {
	h := r.part.file
	offset, _ := f.place(r)
	for done := 0; done < len(b); {
		n, err := h.read.ReadAt(b[done:], offset+int64(done))
		done += n
		switch {
		case done == len(b):
			return nil
		case err == nil && n > 0:
			continue // a short read: the rest is asked for again
		case err == nil:
			err = io.ErrNoProgress
		case errors.Is(err, io.EOF):
			err = ended(h, offset+int64(done))
		}
		return f.failed(r, offset, offset+int64(len(b)), err)
	}
	return nil
}

// ended is the error of a file that ends too early.
func ended(h *handle, at int64) error {
	if now, err := h.file.Stat(); err == nil {
		at = min(at, now.Size())
	}
	return garner.Errorf(io.ErrUnexpectedEOF, "the file ends at byte %d; it was cut short after it was opened with %d", at, h.begin.Size())
}

func (f *File) failed(r request, from, to int64, err error) error {
	e := &ReadError{Path: r.part.file.path, Row: -1, From: from, To: to, Err: err}
	if f.rowSize > 0 {
		e.Row = r.from / f.rowSize
	}
	return e
}
