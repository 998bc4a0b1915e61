package source

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
	"syscall"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/ring"
)

// A Way is a way of reading rows of a file. All give the same; which is fastest
// depends on the disk, on what of the file is in the page cache, and on the
// system.
type Way uint8

// The ways of reading.
const (
	Auto     Way = iota // one of the others, chosen by what is in the page cache
	Mapped              // copied from the mapped file: best where all of it is in the page cache
	WillNeed            // asked for all at once by posix_fadvise, then copied from the mapped file
	Pread               // read by system calls on many threads: no page is mapped
	Ring                // read by io_uring, hundreds of requests under way on one thread: no page is mapped
)

var wayNames = [...]string{"auto", "mapped", "willneed", "pread", "ring"}

// String is the name of the constant in lower case.
func (w Way) String() string {
	if int(w) < len(wayNames) {
		return wayNames[w]
	}
	return "?"
}

// Ways are those that this system has for the file, Auto left out, in the order
// of the constants.
func (f *File) Ways() []Way {
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

// real reports whether what is read are the files themselves.
func (f *File) real() bool {
	for _, h := range f.files {
		if h.read != io.ReaderAt(h.file) {
			return false
		}
	}
	return true
}

// mappable reports whether all files are mapped.
func (f *File) mappable() bool {
	for _, h := range f.files {
		if h.mapping() == nil {
			return false
		}
	}
	return f.real()
}

// Way is the way in which Fetch would read rows, of which Dst does not matter.
func (f *File) Way(rows Rows) Way { return f.choose(rows, true) }

// FetchBy is Fetch in a given way; one that this system does not have is an
// error that wraps errors.ErrUnsupported.
func (f *File) FetchBy(ctx context.Context, way Way, rows Rows) error {
	if err := checkRows(rows, f.size); err != nil || len(rows.At) == 0 || rows.Size == 0 {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if way == Auto {
		way = f.choose(rows, true)
	}
	none := garner.Errorf(errors.ErrUnsupported, "this system does not read %s by way of %s", f.parts[0].file.path, way)
	switch way {
	case Mapped, WillNeed:
		if !f.mappable() {
			return none
		}
		if way == WillNeed {
			if ok, err := f.ask(ctx, rows); err != nil {
				return err
			} else if !ok {
				return none
			}
		}
		return f.fetchMapped(ctx, rows)
	case Pread:
		return f.fetchPread(ctx, rows, readers)
	case Ring:
		r := f.ring()
		if r == nil {
			return none
		}
		return f.fetchRing(ctx, rows, r)
	}
	return none
}

// Fetch reads rows; see Array. Rows in the page cache are copied from the mapped
// file; others are read in the order of the file, those that lie near each other
// at once, hundreds at a time.
func (f *File) Fetch(ctx context.Context, rows Rows) error { return f.FetchBy(ctx, Auto, rows) }

// fetchUnmapped is Fetch that looks at no mapped page.
func (f *File) fetchUnmapped(ctx context.Context, rows Rows) error {
	if err := checkRows(rows, f.size); err != nil || len(rows.At) == 0 || rows.Size == 0 {
		return err
	}
	switch f.choose(rows, false) {
	case Ring:
		return f.FetchBy(ctx, Ring, rows)
	case Mapped:
		// Everything is in memory: more threads than cores would only wait.
		return f.fetchPread(ctx, rows, runtime.GOMAXPROCS(0))
	}
	return f.fetchPread(ctx, rows, readers)
}

// choose finds the best way; without mapping, Mapped says that rows are in the
// page cache.
func (f *File) choose(rows Rows, mapping bool) Way {
	if len(rows.At) == 1 && int64(rows.Size) <= f.limit() {
		return Pread // one request: it takes no longer than to ask what is in memory
	}
	if f.resident(rows.At, rows.Size, samples) {
		return Mapped
	}
	if r := f.ring(); r != nil {
		f.putRing(r)
		return Ring
	}
	if mapping && f.mappable() && runtime.GOOS == "linux" && f.known() {
		return WillNeed
	}
	return Pread
}

// known reports whether the kernel says what is in the page cache.
func (f *File) known() bool {
	if len(f.parts) == 0 {
		return false
	}
	p := f.parts[0]
	_, known := p.file.mapping().Resident(int(p.offset), int(p.offset)+1)
	return known
}

// samples is at how many places of a batch the page cache is looked at: they
// are soon looked at, and where all of 64 are there, one row in 50 may be
// missing at most, as a rule. A mapping tells the kernel that it is scattered,
// so that one that is missing costs a page. Each place takes a microsecond.
const (
	samples    = 64
	fewSamples = 4
)

// resident reports whether rows are in the page cache, as far as a look at some
// of them tells; false where the kernel does not tell. Those below zero are
// none.
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

// locate is where a byte of the array is stored: that of its block's first.
func (f *File) locate(at int64) (*handle, int64) {
	p := &f.parts[f.partAt(at)]
	return p.file, p.offset + (at-p.from)/f.block*f.stored
}

// partAt is the number of the part that a byte of the array lies in.
func (f *File) partAt(at int64) int {
	low, high := 0, len(f.parts)-1
	for low < high {
		if mid := (low + high) / 2; f.parts[mid].to > at {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// view is the array's bytes in the mapped file; nil where they do not lie there
// as they are.
func (f *File) view() []byte {
	if f.codec != nil || len(f.parts) != 1 || !f.real() {
		return nil
	}
	p := f.parts[0]
	m := p.file.mapping()
	if m == nil || int64(m.Size()) < p.offset+f.size {
		return nil
	}
	return m.Bytes()[p.offset : p.offset+f.size]
}

// ask has the kernel begin to read all rows.
func (f *File) ask(ctx context.Context, rows Rows) (bool, error) {
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
		offset, n := f.place(r)
		n += offset % page
		offset -= offset % page
		if !mapped.WillNeed(r.part.file.file, offset, (n+page-1)/page*page) {
			return false, nil
		}
	}
}

// place is where a request's bytes are stored, and how many.
func (f *File) place(r request) (offset, n int64) {
	return r.part.offset + (r.from-r.part.from)/f.block*f.stored, (r.to - r.from) / f.block * f.stored
}

// fetchMapped copies rows from the mapped files.
func (f *File) fetchMapped(ctx context.Context, rows Rows) error {
	q := newRequests(f, rows)
	q.gap = 0
	return f.serve(ctx, q, max(1, min(runtime.GOMAXPROCS(0), len(rows.Dst)>>20)), func(r request, scratch []byte) error {
		offset, n := f.place(r)
		err := mapped.Guard(func() error {
			b := r.part.file.mapping().Bytes()
			if offset+n > int64(len(b)) {
				return garner.Errorf(garner.ErrFault, "the file was cut short before it was mapped")
			}
			if b = b[offset : offset+n]; f.codec == nil {
				place(rows, r, b)
				return nil
			}
			out := scratch[:r.to-r.from]
			if whole := r.direct(rows); whole {
				out = r.target(rows)
				f.codec.Decode(out, b)
				return nil
			}
			f.codec.Decode(out, b)
			place(rows, r, out)
			return nil
		})
		if errors.Is(err, garner.ErrFault) {
			// Reading it says what is the matter, if it still is.
			return f.answer(rows, r, scratch)
		}
		return err
	})
}

// serve answers requests on so many goroutines, all of which end before it does.
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
	for range min(workers, q.most()) - 1 {
		wait.Go(work)
	}
	work()
	wait.Wait()
	return context.Cause(ctx)
}

// fetchPread reads rows by system calls on so many threads.
func (f *File) fetchPread(ctx context.Context, rows Rows, threads int) error {
	return f.serve(ctx, newRequests(f, rows), threads, func(r request, scratch []byte) error {
		return f.answer(rows, r, scratch)
	})
}

// ringDepth is how many requests of a ring are under way at once, and flyingBytes
// how much they ask for together: what a cancelled run waits for.
const (
	ringDepth   = 256
	flyingBytes = 4 << 20
)

// ring is an io_uring that nobody uses; nil where there are none, or where they
// do not serve: where a test reads, or a codec's blocks are larger than a
// request.
func (f *File) ring() *ring.Ring {
	if f.stored > readBytes || !f.real() {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.rings); n > 0 {
		r := f.rings[n-1]
		f.rings = f.rings[:n-1]
		return r
	}
	if f.noRing {
		return nil
	}
	r, err := ring.New(ringDepth)
	f.noRing = err != nil
	if err != nil {
		return nil
	}
	return r
}

func (f *File) putRing(r *ring.Ring) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rings = append(f.rings, r)
}

// A flight is a request that a ring has.
type flight struct {
	request request
	buf     []byte // what the kernel reads into
	done    int    // bytes of it that were read
	scratch []byte // what buf was cut from, where it is none of the destination
}

// fetchRing reads rows through a ring, which it gives back.
func (f *File) fetchRing(ctx context.Context, rows Rows, r *ring.Ring) error {
	q := newRequests(f, rows)
	room := rooms{f: f}
	defer room.release()
	var decoded []byte
	if f.codec != nil {
		decoded = f.scratch()
		defer f.release(decoded)
	}
	flights := make([]flight, min(r.Depth(), q.most()))
	free := make([]int, len(flights))
	for i := range free {
		free[i] = i
	}
	var failed error
	flying, bytes := 0, 0
	push := func(i int) {
		t := &flights[i]
		offset, _ := f.place(t.request)
		r.Push(t.request.part.file.file, t.buf[t.done:], offset+int64(t.done), i)
		flying++
		bytes += len(t.buf)
	}
	ended := func(read ring.Read) {
		t := &flights[read.Tag]
		flying--
		bytes -= len(t.buf)
		t.done += read.N
		again := read.Err == syscall.EINTR || read.Err == syscall.EAGAIN
		switch {
		case read.Err == nil && t.done == len(t.buf):
			f.land(rows, t, decoded)
		case failed != nil || ctx.Err() != nil:
		case again || read.Err == nil && read.N > 0:
			room.again = append(room.again, read.Tag)
			return
		case read.Err != nil:
			failed = f.lost(t, os.NewSyscallError("read", read.Err))
		default:
			failed = f.lost(t, io.EOF)
		}
		room.put(t.scratch)
		*t = flight{}
		free = append(free, read.Tag)
	}
	var next request
	more, held := true, false // requests that are not asked for; one that waits for room
	for {
		for _, i := range room.again {
			push(i)
		}
		room.again = room.again[:0]
		for more && len(free) > 0 && bytes < flyingBytes && failed == nil && ctx.Err() == nil {
			if !held {
				if next, more = q.next(); !more {
					break
				}
			}
			t := flight{request: next}
			if f.codec == nil && next.direct(rows) {
				t.buf = next.target(rows)
			} else {
				_, n := f.place(next)
				t.scratch = room.get(int(n))
				if held = t.scratch == nil; held {
					break
				}
				t.buf = t.scratch[:n]
			}
			held = false
			i := free[len(free)-1]
			free = free[:len(free)-1]
			flights[i] = t
			push(i)
		}
		if flying == 0 {
			if held && failed == nil && ctx.Err() == nil {
				room.reset() // all of it is free: it may be cut otherwise
				continue
			}
			break
		}
		if err := r.Wait(max(1, min(flying/2, ringDepth/8)), ended); err != nil {
			r.Close() // it is of no use any more
			return f.lost(&flights[0], err)
		}
	}
	f.putRing(r)
	if failed == nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return failed
}

// land puts what was read where rows want it.
func (f *File) land(rows Rows, t *flight, decoded []byte) {
	switch {
	case t.scratch == nil: // it is there
	case f.codec == nil:
		place(rows, t.request, t.buf)
	case t.request.direct(rows):
		f.codec.Decode(t.request.target(rows), t.buf)
	default:
		b := decoded[:t.request.to-t.request.from]
		f.codec.Decode(b, t.buf)
		place(rows, t.request, b)
	}
}

// lost is the error of a flight.
func (f *File) lost(t *flight, err error) error {
	if t.request.part == nil {
		return &ReadError{Path: f.files[0].path, Row: -1, Err: err}
	}
	offset, n := f.place(t.request)
	if err == io.EOF {
		err = ended(t.request.part.file, offset+int64(t.done))
	}
	return f.failed(t.request, offset, offset+n, err)
}

// rooms cuts scratch into pieces that fit small requests, so that many of them
// take little.
type rooms struct {
	f     *File
	large [][]byte // all that was taken
	whole [][]byte // that nobody uses
	small [][]byte
	again []int // requests of which a part was read
}

const smallRoom = 16 << 10

// get is room for n bytes; nil where others must end before.
func (r *rooms) get(n int) []byte {
	if n <= smallRoom {
		if k := len(r.small); k > 0 {
			b := r.small[k-1]
			r.small = r.small[:k-1]
			return b
		}
	}
	var b []byte
	if k := len(r.whole); k > 0 {
		b = r.whole[k-1]
		r.whole = r.whole[:k-1]
	} else {
		if len(r.large) == readers {
			return nil
		}
		b = r.f.scratch()
		r.large = append(r.large, b)
	}
	if n > smallRoom || len(b) < 2*smallRoom {
		return b
	}
	for len(b) >= 2*smallRoom {
		r.small = append(r.small, b[:smallRoom:smallRoom])
		b = b[smallRoom:]
	}
	return b
}

func (r *rooms) put(b []byte) {
	switch {
	case b == nil:
	case cap(b) <= smallRoom || len(b) < 2*smallRoom:
		r.small = append(r.small, b)
	default:
		r.whole = append(r.whole, b)
	}
}

// reset joins all pieces, of which nobody uses one.
func (r *rooms) reset() { r.small, r.whole = r.small[:0], append(r.whole[:0], r.large...) }

func (r *rooms) release() {
	for _, b := range r.large {
		r.f.release(b)
	}
}
