package source

import (
	"context"
	"io"
	"os"
	"syscall"

	"github.com/garner-go/garner/internal/ring"
)

// ringDepth is the most requests of a ring in flight, and flyingBytes the most
// bytes that they ask for together. A cancelled run waits for those.
const (
	ringDepth   = 256
	flyingBytes = 4 << 20
)

// ring takes an io_uring from the free list, or creates one. It is nil where the
// system has none, where a test replaces the reads, and where a codec's block is
// larger than a request.
func (f *File) ring() *ring.Ring {
	if f.stored > readBytes || !f.real() {
		return nil
	}
	f = f.opened()
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

// putRing puts an io_uring back on the free list.
func (f *File) putRing(r *ring.Ring) {
	f = f.opened()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rings = append(f.rings, r)
}

// A flight is a request in flight.
type flight struct {
	request request
	buf     []byte // the kernel reads into it
	done    int    // bytes of buf that have been read
	scratch []byte // the buffer that holds buf; nil where buf lies in the destination
}

// fetchRing reads rows through r, and puts r back on the free list.
func (f *File) fetchRing(ctx context.Context, rows Rows, r *ring.Ring) error {
	q := newRequests(f, rows)
	buffers := ringBuffers{f: f}
	defer buffers.release()
	var decoded []byte
	if f.codec != nil {
		decoded = f.scratch()
		defer f.release(decoded)
	}
	flying, bytes := 0, 0
	broken := false
	defer func() {
		// Also where a codec panics: the kernel writes into buffers until their reads
		// have completed.
		for flying > 0 && !broken {
			broken = r.Wait(flying, func(ring.Read) { flying-- }) != nil
		}
		if broken {
			r.Close() // a ring that failed is not used again
		} else {
			f.putRing(r)
		}
	}()
	flights := make([]flight, min(r.Depth(), q.most()))
	free := make([]int, len(flights))
	for i := range free {
		free[i] = i
	}
	var failed error
	var again []int           // flights whose read was short or interrupted
	var completed []ring.Read // since the last Wait
	push := func(i int) {
		t := &flights[i]
		offset, _ := f.storedRange(t.request)
		r.Push(t.request.part.file.file, t.buf[t.done:], offset+int64(t.done), i)
		flying++
		bytes += len(t.buf)
	}
	land := func(read ring.Read) {
		flying--
		completed = append(completed, read)
	}
	ended := func(read ring.Read) {
		t := &flights[read.Tag]
		bytes -= len(t.buf)
		t.done += read.N
		interrupted := read.Err == syscall.EINTR || read.Err == syscall.EAGAIN
		switch {
		case read.Err == nil && t.done == len(t.buf):
			f.complete(rows, t, decoded)
		case failed != nil || ctx.Err() != nil:
		case interrupted || read.Err == nil && read.N > 0:
			again = append(again, read.Tag)
			return
		case read.Err != nil:
			failed = f.flightFailed(t, os.NewSyscallError("read", read.Err))
		default:
			failed = f.flightFailed(t, io.EOF)
		}
		buffers.put(t.scratch)
		*t = flight{}
		free = append(free, read.Tag)
	}
	var next request
	more, held := true, false // q has more requests; next waits for a buffer
	for {
		for _, i := range again {
			push(i)
		}
		again = again[:0]
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
				_, n := f.storedRange(next)
				t.scratch = buffers.get(int(n))
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
				buffers.reset() // every buffer is free, and may be divided differently
				continue
			}
			break
		}
		completed = completed[:0]
		if err := r.Wait(max(1, min(flying/2, ringDepth/8)), land); err != nil {
			broken = true
			return f.flightFailed(&flights[0], err)
		}
		for _, read := range completed {
			ended(read)
		}
	}
	if failed == nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return failed
}

// complete puts a flight's bytes into Dst.
func (f *File) complete(rows Rows, t *flight, decoded []byte) {
	switch {
	case t.scratch == nil: // the kernel read into Dst
	case f.codec == nil:
		scatter(rows, t.request, t.buf)
	case t.request.direct(rows):
		f.codec.Decode(t.request.target(rows), t.buf)
	default:
		b := decoded[:t.request.to-t.request.from]
		f.codec.Decode(b, t.buf)
		scatter(rows, t.request, b)
	}
}

// flightFailed is the error of a flight; of the file where the flight is empty.
func (f *File) flightFailed(t *flight, err error) error {
	if t.request.part == nil {
		return &ReadError{Path: f.files[0].path, Row: -1, Err: err}
	}
	offset, n := f.storedRange(t.request)
	if err == io.EOF {
		err = ended(t.request.part.file, offset+int64(t.done))
	}
	return f.failed(t.request, offset, offset+n, err)
}

// ringBuffers divides the file's scratch into smaller buffers, so that hundreds
// of short requests hold little memory.
type ringBuffers struct {
	f     *File
	large [][]byte // every scratch that was taken
	free  [][]byte // those of large that are free
	small [][]byte // free pieces of smallBuffer bytes
}

const smallBuffer = 16 << 10

// get returns a buffer of n bytes or more. It is nil where a request in flight
// must end first.
func (r *ringBuffers) get(n int) []byte {
	if n <= smallBuffer {
		if k := len(r.small); k > 0 {
			b := r.small[k-1]
			r.small = r.small[:k-1]
			return b
		}
	}
	var b []byte
	if k := len(r.free); k > 0 {
		b = r.free[k-1]
		r.free = r.free[:k-1]
	} else {
		if len(r.large) == readers {
			return nil
		}
		b = r.f.scratch()
		r.large = append(r.large, b)
	}
	if n > smallBuffer || len(b) < 2*smallBuffer {
		return b
	}
	for len(b) >= 2*smallBuffer {
		r.small = append(r.small, b[:smallBuffer:smallBuffer])
		b = b[smallBuffer:]
	}
	return b
}

// put makes a buffer free.
func (r *ringBuffers) put(b []byte) {
	switch {
	case b == nil:
	case cap(b) <= smallBuffer || len(b) < 2*smallBuffer:
		r.small = append(r.small, b)
	default:
		r.free = append(r.free, b)
	}
}

// reset joins the pieces into whole buffers again. All must be free.
func (r *ringBuffers) reset() { r.small, r.free = r.small[:0], append(r.free[:0], r.large...) }

// release gives every scratch back to the file.
func (r *ringBuffers) release() {
	for _, b := range r.large {
		r.f.release(b)
	}
}
