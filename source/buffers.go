package source

import (
	"sync"
	"time"

	"github.com/garner-go/garner/internal/pages"
)

// kept are buffers of blocks that wait for the next run without a budget: page
// faults over new memory can cost as much as the gather. They are freed once no
// run has taken or given one for keptFor.
var kept struct {
	sync.Mutex
	free  [][]byte
	timer *time.Timer
	given time.Time // when a run gave a buffer back
}

// keptFor is how long buffers are kept, and keptMost how many: those of a run.
const (
	keptFor  = time.Second
	keptMost = 2
)

// take is a buffer of n bytes or more, outside the heap.
func (g *gather) take(n int) ([]byte, error) {
	if g.o.Memory == 0 {
		kept.Lock()
		defer kept.Unlock()
		for i, b := range kept.free {
			if n <= len(b) {
				kept.free = append(kept.free[:i], kept.free[i+1:]...)
				return b, nil
			}
		}
	}
	return pages.Alloc(n)
}

// again reports whether another run has just ended: this one then finds buffers,
// or makes them for the next one.
func again() bool {
	kept.Lock()
	defer kept.Unlock()
	return !kept.given.IsZero() && time.Since(kept.given) < keptFor
}

// give gives a buffer back.
func (g *gather) give(b []byte) {
	if len(b) == 0 {
		return
	}
	if g.o.Memory == 0 {
		kept.Lock()
		defer kept.Unlock()
		kept.given = time.Now()
		if len(kept.free) == keptMost {
			// The smaller one goes.
			least := 0
			if len(kept.free[1]) < len(kept.free[0]) {
				least = 1
			}
			if len(kept.free[least]) < len(b) {
				b, kept.free[least] = kept.free[least], b
			}
		} else {
			kept.free = append(kept.free, b)
			b = nil
		}
		if kept.timer == nil {
			kept.timer = time.AfterFunc(keptFor, dropKept)
		} else {
			kept.timer.Reset(keptFor)
		}
	}
	_ = pages.Free(b) // an error leaves the memory allocated, and the result is as good
}

// dropKept frees all buffers that are kept.
func dropKept() {
	kept.Lock()
	defer kept.Unlock()
	for _, b := range kept.free {
		_ = pages.Free(b)
	}
	kept.free = nil
}
