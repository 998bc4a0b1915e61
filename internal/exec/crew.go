package exec

import (
	"sync/atomic"
	"time"
)

// A crew is the goroutines that help with the phases of a Runner's runs. At the
// end of a phase Run waits only for helpers that have started; a late one joins
// the next phase or exits. So on a busy machine, no run waits for a helper that
// the scheduler has not started.
type crew struct {
	help func() // the body of a helper goroutine
	look func() // what a long wait calls
	step func() // the body of the goroutine that makes helpers stealable

	state   atomic.Uint64 // number of free places (bits 0 … 30), of helpers at work (31 … 62), and whether end waits (63)
	coming  atomic.Int32  // helpers that were created and have not started
	stepped chan struct{}
	left    chan struct{} // signals that the last helper that end waits for has left
	timer   *time.Timer   // of wait
	without int           // number of phases to begin without a step
}

const (
	free    = 1<<31 - 1
	atWork  = 1 << 31
	awaited = 1 << 63
)

// newCrew returns a crew whose helpers call work, each with its own place, from
// 1 on; a long wait for them calls look, which does not panic.
func newCrew(work func(place int), look func()) *crew {
	c := &crew{look: look, stepped: make(chan struct{}, 1), left: make(chan struct{}, 1)}
	c.help = func() {
		c.coming.Add(-1)
		if place := c.join(); place > 0 {
			defer c.leave()
			work(place)
		}
	}
	c.step = func() { c.stepped <- struct{}{} }
	return c
}

// begin opens n places, and creates the helpers that are missing for them.
func (c *crew) begin(n int) {
	c.state.Store(uint64(n))
	missing := n - int(c.coming.Load())
	if missing <= 0 {
		return
	}
	c.coming.Add(int32(missing))
	for range missing {
		go c.help()
	}
	// Go puts the newest goroutine into the current P's runnext, which idle Ps
	// steal only after a delay of some 60 µs. One more goroutine, which ends at
	// once on this P, takes that place and leaves the helpers stealable. It costs
	// a microsecond, unless this goroutine is locked to its thread.
	if c.without > 0 {
		c.without--
		return
	}
	before := time.Now()
	go c.step()
	<-c.stepped
	if time.Since(before) > slowStep {
		c.without = 16
	}
}

// slowStep is the least duration of a step that switches threads.
const slowStep = 30 * time.Microsecond

// join takes a place; 0 if none is free.
func (c *crew) join() int {
	for {
		s := c.state.Load()
		if s&free == 0 {
			return 0
		}
		if c.state.CompareAndSwap(s, s-1+atWork) {
			return int(s & free)
		}
	}
}

func (c *crew) leave() {
	if c.state.Add(^uint64(atWork-1)) == awaited {
		c.left <- struct{}{}
	}
}

// lookEach is the time between two looks of a wait for helpers.
const lookEach = 5 * time.Millisecond

// end closes the free places and waits for the helpers at work. A long wait calls look each
// lookEach: some contexts find their end only where this goroutine asks.
func (c *crew) end() {
	for {
		s := c.state.Load()
		rest := s &^ free
		if rest != 0 {
			rest |= awaited
		}
		if c.state.CompareAndSwap(s, rest) {
			if rest != 0 {
				c.wait()
			}
			return
		}
	}
}

// wait waits for the last helper.
func (c *crew) wait() {
	if c.timer == nil {
		c.timer = time.NewTimer(lookEach) // kept: a run allocates nothing
	} else {
		c.timer.Reset(lookEach)
	}
	defer c.timer.Stop()
	for {
		select {
		case <-c.left:
			return
		case <-c.timer.C:
			c.look()
			c.timer.Reset(lookEach)
		}
	}
}
