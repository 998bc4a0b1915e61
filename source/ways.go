package source

import (
	"context"
	"errors"
	"io"
	"runtime"

	"github.com/garner-go/garner"
)

// A Way is a way of reading rows of a file. All ways give the same bytes. Which
// one is fastest depends on the disk, on which pages are in the page cache, and
// on the system.
type Way uint8

// The ways of reading.
const (
	Auto     Way = iota // Fetch chooses one of the others by what is in the page cache
	Mapped              // copies from the mapped file; fastest where every page is in the page cache
	WillNeed            // asks for all pages by posix_fadvise, then copies from the mapped file
	Pread               // system calls on many threads; maps no page
	Ring                // io_uring, hundreds of requests in flight from one thread; maps no page
)

var wayNames = [...]string{"auto", "mapped", "willneed", "pread", "ring"}

// String returns the name of the constant in lower case.
func (w Way) String() string {
	if int(w) < len(wayNames) {
		return wayNames[w]
	}
	return "?"
}

// Ways returns the ways that this system has for the file, without Auto, in the
// order of the constants. There are none after Close.
func (f *File) Ways() []Way {
	if f.enter(0) != nil {
		return nil
	}
	defer f.leave(0)
	var ways []Way
	if f.mappable() {
		ways = append(ways, Mapped)
		if f.real() && runtime.GOOS == "linux" {
			ways = append(ways, WillNeed)
		}
	}
	ways = append(ways, Pread)
	if r := f.ring(); r != nil {
		f.putRing(r)
		ways = append(ways, Ring)
	}
	return ways
}

// real reports whether reads go to the files themselves, not to a test's
// replacement.
func (f *File) real() bool {
	for _, h := range f.files {
		if h.read != io.ReaderAt(h.file) {
			return false
		}
	}
	return true
}

// mappable reports whether every file is mapped.
func (f *File) mappable() bool {
	for _, h := range f.files {
		if h.mapping() == nil {
			return false
		}
	}
	return f.real()
}

// Way returns the way in which Fetch would read rows now; Pread after Close. It
// ignores rows.Dst.
func (f *File) Way(rows Rows) Way {
	if f.enter(0) != nil {
		return Pread
	}
	defer f.leave(0)
	return f.choose(rows, true)
}

// FetchBy is Fetch in a given way. A way that this system does not have is an
// error that wraps errors.ErrUnsupported.
func (f *File) FetchBy(ctx context.Context, way Way, rows Rows) error {
	if err := f.enter(0); err != nil {
		return err
	}
	defer f.leave(0)
	return f.fetchBy(ctx, way, rows, runtime.GOMAXPROCS(0))
}

// fetchBy is FetchBy for callers inside enter and leave, as all functions below are.
// It copies and decodes on up to threads cores.
func (f *File) fetchBy(ctx context.Context, way Way, rows Rows, threads int) error {
	if err := checkRows(rows, f.size); err != nil || len(rows.At) == 0 || rows.Size == 0 {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	chosen := way == Auto
	if chosen {
		way = f.choose(rows, true)
	}
	none := garner.Errorf(errors.ErrUnsupported, "this system does not read %s by way of %s", f.parts[0].file.path, way)
	switch way {
	case Mapped, WillNeed:
		if !f.mappable() {
			return none
		}
		if way == WillNeed {
			if ok, err := f.willNeed(ctx, rows); err != nil {
				return err
			} else if !ok {
				return none
			}
		}
		return f.fetchMapped(ctx, rows, threads)
	case Pread:
		return f.fetchPread(ctx, rows, readers)
	case Ring:
		r := f.ring()
		if r == nil && chosen { // another Fetch has the only one
			return f.fetchPread(ctx, rows, readers)
		} else if r == nil {
			return none
		}
		return f.fetchRing(ctx, rows, r)
	}
	return none
}

// Fetch reads rows; see Array. It copies rows that are in the page cache from
// the mapped file. It reads others in the order of the file, hundreds of
// requests at a time, and joins rows that lie close together into one request.
func (f *File) Fetch(ctx context.Context, rows Rows) error { return f.FetchBy(ctx, Auto, rows) }

// fetchUnmapped is Fetch that touches no mapped page, so that resident memory
// does not grow, and decodes on up to threads cores.
func (f *File) fetchUnmapped(ctx context.Context, rows Rows, threads int) error {
	if err := checkRows(rows, f.size); err != nil || len(rows.At) == 0 || rows.Size == 0 {
		return err
	}
	switch f.choose(rows, false) {
	case Ring:
		if r := f.ring(); r != nil { // else another Fetch has the only one
			return f.fetchRing(ctx, rows, r)
		}
	case Mapped:
		// Every page is in the page cache: more threads than cores would only wait.
		return f.fetchPread(ctx, rows, threads)
	}
	return f.fetchPread(ctx, rows, readers)
}

// A fetching File is one whose Fetch keeps to some cores, and to system calls
// where it is unmapped. Its callers are inside enter and leave.
type fetching struct {
	*File
	unmapped bool
	threads  int
}

// Fetch is fetchBy or fetchUnmapped.
func (f fetching) Fetch(ctx context.Context, rows Rows) error {
	if f.unmapped {
		return f.fetchUnmapped(ctx, rows, f.threads)
	}
	return f.fetchBy(ctx, Auto, rows, f.threads)
}

// fetches returns the array for callers that hold it: a File as fetching.
func fetches(a Array, unmapped bool, threads int) Array {
	switch a := a.(type) {
	case *File:
		return fetching{a, unmapped, threads}
	case *memory:
		return heldMemory{a}
	case *converted:
		return heldConverted{a, fetches(a.of, unmapped, threads)}
	}
	return a
}

// choose returns the fastest way for rows. Without mapping, Mapped means only
// that the rows are in the page cache.
func (f *File) choose(rows Rows, mapping bool) Way {
	if len(rows.At) == 1 && int64(rows.Size) <= f.limit() {
		return Pread // one request takes no longer than a look at the page cache
	}
	if f.resident(rows.At, rows.Size, samples) {
		return Mapped
	}
	if r := f.ring(); r != nil {
		f.putRing(r)
		return Ring
	}
	if mapping && f.mappable() && runtime.GOOS == "linux" && f.reportsResidency() {
		return WillNeed
	}
	return Pread
}

// reportsResidency reports whether the kernel tells which pages of the file are
// in the page cache.
func (f *File) reportsResidency() bool {
	if len(f.parts) == 0 {
		return false
	}
	p := f.parts[0]
	_, known := p.file.mapping().Resident(int(p.offset), int(p.offset)+1)
	return known
}

// samples is the number of places of a batch at which resident looks for the
// page. A place takes 1.2 µs, so 64 take as long as one page fault that reads the
// disk (docs/tables.md). Where all 64 are in the page cache, at most 1 row in 21
// is missing, with 95 % confidence: (1 − 1/21)^64 is below 5 %. A missing row
// costs a page fault that reads one page, since the mapping is advised as
// random. fewSamples is for small blocks that follow a warm one.
const (
	samples    = 64
	fewSamples = 4
)

// resident reports whether rows are in the page cache, judged by a sample of
// places. It is false where the kernel does not tell. Negative rows are skipped.
func (f *File) resident(rows []int64, size, places int) bool {
	if len(rows) == 0 || len(f.parts) == 0 || !f.mappable() {
		return false
	}
	n := min(places, (len(rows)*size+4095)/4096+len(rows))
	for i := range n {
		row, inside := 0, int64(0)
		if len(rows) >= n {
			row = int(int64(i) * int64(len(rows)) / int64(n))
			inside = int64(i&1) * int64(size-1) // the first byte, or the last
		} else {
			at := int64(i) * int64(len(rows)) * (int64(size) / int64(n))
			row, inside = min(int(at/int64(size)), len(rows)-1), at%int64(size)
		}
		if rows[row] < 0 {
			continue
		}
		h, at := f.locate(rows[row] + inside)
		if in, known := h.mapping().Resident(int(at), int(at)+1); !in || !known {
			return false
		}
	}
	return true
}
