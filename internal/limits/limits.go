// Package limits measures the two limits of a machine that bound a gather: the
// bandwidth of a contiguous copy, and the rate of random cache line reads. Its loops
// do nothing else, so a gather's time can be compared with them. Memory says how much
// memory the process can have.
package limits

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/garner-go/garner/internal/kernel"
	"github.com/garner-go/garner/internal/pages"
)

// Line is the size of a cache line, in bytes.
const Line = 64

// Each way is repeated for about wayTime, in rounds of at least roundTime. The
// shortest round counts, because other work only adds time.
const (
	wayTime   = 60 * time.Millisecond
	roundTime = 2 * time.Millisecond
)

// Copy returns the bandwidth of a copy between two blocks of memory in bytes per
// second. The blocks are on huge pages where the system has them, and each thread
// copies its own part. It is the best of three ways: the runtime's copy, and the
// kernels' with ordinary and with non-temporal stores. Copy takes twice the bytes of
// memory and about 0.2 s. Errors are those of the allocation.
func Copy(threads, bytes int) (perSecond float64, err error) {
	const slice = 4096
	part := (max(bytes, 1)/max(threads, 1) + slice - 1) / slice * slice
	total := part * threads
	src, err := pages.Alloc(total)
	if err != nil {
		return 0, err
	}
	defer func() { err = first(err, pages.Free(src)) }()
	dst, err := pages.Alloc(total)
	if err != nil {
		return 0, err
	}
	defer func() { err = first(err, pages.Free(dst)) }()
	// Pages that were never written may all be one shared page of zeros.
	for i := range src {
		src[i], dst[i] = byte(i), 1
	}

	rows := make([]int64, part/slice)
	kernel.Start(rows, 0, slice)
	ways := []func(worker int){
		func(worker int) {
			// Copy in pieces, so that no call is longer than a millisecond.
			const piece = 4 << 20
			for at := worker * part; at < (worker+1)*part; at += piece {
				end := min(at+piece, (worker+1)*part)
				copy(dst[at:end], src[at:end])
			}
		},
	}
	for _, stream := range []bool{false, true} {
		ways = append(ways, func(worker int) {
			for at := 0; at < len(rows); at += 256 {
				m := kernel.Move{At: worker*part + at*slice, Step: slice, Bias: worker * part, Size: slice, Elem: 1, Stream: stream}
				kernel.Rows(dst, src, rows[at:min(at+256, len(rows))], m, nil)
			}
		})
	}
	for _, way := range ways {
		perSecond = max(perSecond, float64(total)/rounds(threads, way))
	}
	return perSecond, nil
}

// RandomLines returns the rate of cache line reads from table in random order, in
// lines per second; it reads one byte of each line. It is the best of the prefetch
// distances 0, 32, 64 and 128 lines. For a table below one line it returns 0.
// RandomLines takes up to 16 MiB of memory and about 0.25 s.
func RandomLines(threads int, table []byte) (perSecond float64) {
	const (
		block    = 1024    // rows per call
		farthest = 128     // rows ahead
		most     = 2 << 20 // rows: they touch more lines than the caches hold
	)
	lines := len(table) / Line
	if lines == 0 {
		return 0
	}
	n := min(max(2*lines, 4*block), most) &^ (block - 1)
	rows := make([]int64, n+farthest)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		rows[i] = int64(r.IntN(lines) * Line)
	}
	copy(rows[n:], rows) // the last prefetches are those of the first rows

	type state struct {
		next int
		out  [block]byte
		_    [2 * Line]byte // keeps the states of two threads in separate cache lines
	}
	states := make([]state, threads)
	for worker := range states {
		states[worker].next = n / block * worker / threads * block
	}
	const calls = 16
	for _, ahead := range []int{0, 32, 64, farthest} {
		took := rounds(threads, func(worker int) {
			s := &states[worker]
			for range calls {
				m := kernel.Move{Step: 1, Size: 1, Elem: 1}
				if ahead > 0 {
					m.Ahead.Rows = rows[s.next+ahead:][:block]
				}
				kernel.Rows(s.out[:], table, rows[s.next:s.next+block], m, nil)
				if s.next += block; s.next == n {
					s.next = 0
				}
			}
		})
		perSecond = max(perSecond, float64(threads*calls*block)/took)
	}
	return perSecond
}

// rounds returns the time in seconds in which every thread does work once. It takes
// the shortest of several rounds. In a round all threads start together and repeat
// work so often that starting and ending cost nothing in comparison. Threads spin
// instead of sleeping, because waking one would cost more than a short round.
func rounds(threads int, work func(worker int)) float64 {
	var round, done atomic.Int64
	var repeats atomic.Int64 // 0: exit
	var workers sync.WaitGroup
	for worker := 1; worker < threads; worker++ {
		workers.Go(func() {
			for last := int64(0); ; last++ {
				for round.Load() == last {
					runtime.Gosched()
				}
				n := repeats.Load()
				if n == 0 {
					return
				}
				for range n {
					work(worker)
				}
				done.Add(1)
			}
		})
	}
	once := func(n int64) time.Duration {
		repeats.Store(n)
		done.Store(0)
		start := time.Now()
		round.Add(1)
		for range n {
			work(0)
		}
		for done.Load() < int64(threads-1) {
			runtime.Gosched()
		}
		return time.Since(start)
	}
	// The first rounds also warm the caches.
	n := int64(1)
	for once(n) < roundTime && n < 1<<30 {
		n *= 2
	}
	least := once(n)
	for end := time.Now().Add(wayTime); time.Now().Before(end); {
		least = min(least, once(n))
	}
	repeats.Store(0)
	round.Add(1)
	workers.Wait()
	return least.Seconds() / float64(n)
}

func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
