package source

import (
	"sync"

	"github.com/garner-go/garner"
)

const (
	// gapBytes is the widest gap between two rows that one request reads and
	// drops. Random reads of a virtual disk on an SSD, 64 at once, took 14 µs for
	// 4 KiB, 19 for 8, 32 for 16, 55 for 32, 88 for 64 and 152 for 128: 10 µs a
	// request and 1.1 µs a KiB. So a gap of up to 9 KiB costs less than a second
	// request.
	gapBytes = 8 << 10

	// readBytes is the longest request. Longer ones were hardly faster, and a
	// cancelled run waits for those in flight.
	readBytes = 128 << 10

	// readers is the number of preads in flight; 64 were no faster (docs/tables.md).
	readers = 32
)

// limit returns the most bytes of the array that one request covers: whole
// blocks of the codec.
func (f *File) limit() int64 { return max(1, readBytes/max(f.block, f.stored)) * f.block }

// checkRows refuses rows that do not ascend, lie outside an array of size bytes,
// or do not fill Dst exactly.
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

// A request is a range of the array inside one part, and the rows that overlap
// it.
type request struct {
	part        *part
	from, to    int64 // bytes of the array
	first, last int   // rows first … last-1 begin before to and end after from
}

// requests divides rows into requests. Any number of goroutines may take them.
type requests struct {
	mu    sync.Mutex
	f     *File
	rows  Rows
	row   int   // the first row that no request covers whole
	at    int64 // the byte of the array at which the last request ends
	part  int   // the part of the last request
	limit int64 // bytes of a request, a whole number of blocks
	gap   int64 // bytes of the array between two rows that one request may bridge
}

func newRequests(f *File, rows Rows) *requests {
	q := &requests{f: f, rows: rows, at: -1}
	q.limit = f.limit()
	q.gap = gapBytes / f.stored * f.block
	q.part = f.partAt(rows.At[0])
	return q
}

// most is an upper bound of the number of requests.
func (q *requests) most() int {
	each := int64(q.rows.Size)/q.limit + 2
	return int(min(int64(len(q.rows.At))*each+int64(len(q.f.parts)), 1<<20))
}

// next returns the next request; false after the last.
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
		// A row that this request would cut begins the next one, unless this one
		// covers its first bytes already.
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

// direct reports whether the request's bytes are one contiguous range of Dst.
func (r *request) direct(rows Rows) bool {
	size := int64(rows.Size)
	for i := r.first + 1; i < r.last; i++ {
		if rows.At[i] != rows.At[i-1]+size {
			return false
		}
	}
	return r.to <= rows.At[r.last-1]+size && r.from >= rows.At[r.first]
}

// target returns that range of Dst.
func (r *request) target(rows Rows) []byte {
	at := int64(r.first)*int64(rows.Size) + r.from - rows.At[r.first]
	return rows.Dst[at : at+r.to-r.from]
}

// scatter copies a request's bytes to their rows in Dst.
func scatter(rows Rows, r request, b []byte) {
	size := int64(rows.Size)
	for i := r.first; i < r.last; i++ {
		from, to := max(r.from, rows.At[i]), min(r.to, rows.At[i]+size)
		if from < to {
			at := int64(i)*size + from - rows.At[i]
			copy(rows.Dst[at:at+to-from], b[from-r.from:])
		}
	}
}

// storedRange returns the offset in the part's file of a request's stored bytes,
// and their number.
func (f *File) storedRange(r request) (offset, n int64) {
	return f.offset(r.part, r.from), f.at(r.to - r.from)
}
