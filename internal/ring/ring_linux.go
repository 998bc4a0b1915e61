package ring

import (
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Ring is an io_uring. Push queues requests; Wait submits them together and reaps
// completions. A Ring serves one goroutine at a time.
type Ring struct {
	fd     int
	rings  []byte // memory shared with the kernel: heads, tails and the completions
	slots  []byte // the submissions
	sqes   []submission
	cqes   []completion
	array  []uint32
	sqTail *uint32
	cqHead *uint32
	cqTail *uint32
	sqMask uint32
	cqMask uint32

	pushed int // requests pushed since the last Wait
	flying int // requests submitted and not completed
	held   []held
	free   []int32
}

// held keeps the buffer and the file of a request alive for the garbage collector.
type held struct {
	file *os.File
	buf  []byte
	tag  int
}

// A submission is a struct io_uring_sqe, a completion a struct io_uring_cqe.
type submission struct {
	op, flags uint8
	prio      uint16
	fd        int32
	offset    uint64
	address   uint64
	length    uint32
	rw        uint32
	user      uint64
	_         [3]uint64
}

type completion struct {
	user   uint64
	result int32
	flags  uint32
}

// params is struct io_uring_params.
type params struct {
	sqEntries, cqEntries, flags, cpu, idle, features, workers uint32
	_                                                         [3]uint32
	sq                                                        struct {
		head, tail, mask, entries, flags, dropped, array, _ uint32
		_                                                   uint64
	}
	cq struct {
		head, tail, mask, entries, overflow, cqes, flags, _ uint32
		_                                                   uint64
	}
}

const (
	featSingleMap = 1 << 0 // both rings share one mapping (Linux 5.4)
	enterGetEvent = 1 << 0
	opRead        = 22 // IORING_OP_READ (Linux 5.6)
	offsetSlots   = 0x10000000
)

// New makes a Ring for up to depth requests in flight; depth is a power of two. The
// error is an ErrNone if the kernel is too old or forbids io_uring, as many
// containers do.
func New(depth int) (*Ring, error) {
	var p params
	fd, _, e := unix.Syscall(unix.SYS_IO_URING_SETUP, uintptr(depth), uintptr(unsafe.Pointer(&p)), 0)
	if e != 0 {
		return nil, fmt.Errorf("%w: %w", ErrNone, e)
	}
	r := &Ring{fd: int(fd)}
	if p.features&featSingleMap == 0 {
		r.Close()
		return nil, fmt.Errorf("%w: the kernel is too old", ErrNone)
	}
	unix.CloseOnExec(r.fd)
	size := max(p.sq.array+4*p.sqEntries, p.cq.cqes+p.cqEntries*uint32(unsafe.Sizeof(completion{})))
	var err error
	if r.rings, err = unix.Mmap(r.fd, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE); err == nil {
		r.slots, err = unix.Mmap(r.fd, offsetSlots, int(p.sqEntries)*int(unsafe.Sizeof(submission{})), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	at := func(offset uint32) *uint32 { return (*uint32)(unsafe.Pointer(&r.rings[offset])) }
	r.sqes = unsafe.Slice((*submission)(unsafe.Pointer(&r.slots[0])), p.sqEntries)
	r.cqes = unsafe.Slice((*completion)(unsafe.Pointer(&r.rings[p.cq.cqes])), p.cqEntries)
	r.array = unsafe.Slice(at(p.sq.array), p.sqEntries)
	r.sqTail, r.cqHead, r.cqTail = at(p.sq.tail), at(p.cq.head), at(p.cq.tail)
	r.sqMask, r.cqMask = *at(p.sq.mask), *at(p.cq.mask)
	r.held = make([]held, p.sqEntries)
	for i := range r.held {
		r.free = append(r.free, int32(i))
	}
	return r, nil
}

// Depth returns the maximum number of requests in flight.
func (r *Ring) Depth() int { return len(r.held) }

// Push queues a request for len(buf) > 0 bytes of file from offset on. The next Wait
// submits it, and the kernel may write into buf until it completes. At most Depth
// requests may be incomplete.
func (r *Ring) Push(file *os.File, buf []byte, offset int64, tag int) {
	slot := r.free[len(r.free)-1]
	r.free = r.free[:len(r.free)-1]
	r.held[slot] = held{file, buf, tag}
	tail := *r.sqTail + uint32(r.pushed)
	i := tail & r.sqMask
	r.sqes[i] = submission{
		op: opRead, fd: int32(file.Fd()), offset: uint64(offset),
		address: uint64(uintptr(unsafe.Pointer(&buf[0]))), length: uint32(len(buf)), user: uint64(slot),
	}
	r.array[i] = i
	r.pushed++
}

// Wait submits the pushed requests, waits until at least least requests (or all of
// them) have completed, and calls ended for each completed one. An error means that
// the kernel accepted no further requests. Wait then waits for those in flight; the
// others never complete.
func (r *Ring) Wait(least int, ended func(Read)) error {
	atomic.AddUint32(r.sqTail, uint32(r.pushed))
	r.flying += r.pushed
	left := r.pushed
	r.pushed = 0
	for {
		got := r.reap(ended)
		least -= got
		if left == 0 && (least <= 0 || r.flying == 0) {
			return nil
		}
		n, _, e := unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(r.fd), uintptr(left), uintptr(max(0, min(least, r.flying))), enterGetEvent, 0, 0)
		switch e {
		case 0:
			left -= int(n)
		case unix.EINTR, unix.EAGAIN, unix.EBUSY:
		default:
			r.flying -= left
			for r.flying > 0 {
				if r.reap(ended) == 0 {
					unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(r.fd), 0, 1, enterGetEvent, 0, 0)
				}
			}
			return os.NewSyscallError("io_uring_enter", e)
		}
	}
}

// reap calls ended for the completed requests and returns their number.
func (r *Ring) reap(ended func(Read)) (n int) {
	head := *r.cqHead
	for tail := atomic.LoadUint32(r.cqTail); head != tail; head++ {
		c := r.cqes[head&r.cqMask]
		slot := int32(c.user)
		read := Read{Tag: r.held[slot].tag, N: int(c.result)}
		if c.result < 0 {
			read.N, read.Err = 0, syscall.Errno(-c.result)
		}
		r.held[slot] = held{}
		r.free = append(r.free, slot)
		r.flying--
		n++
		atomic.StoreUint32(r.cqHead, head+1)
		ended(read)
	}
	return n
}

// Close releases the Ring. No request may be in flight.
func (r *Ring) Close() error {
	for _, m := range [][]byte{r.rings, r.slots} {
		if m != nil {
			if err := unix.Munmap(m); err != nil {
				return os.NewSyscallError("munmap", err)
			}
		}
	}
	r.rings, r.slots = nil, nil
	return os.NewSyscallError("close", unix.Close(r.fd))
}
