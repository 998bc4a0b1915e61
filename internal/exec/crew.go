package exec

import (
	"sync/atomic"
	"time"
)

// A crew is the goroutines that help with the phases of a Runner's runs. At the
// end of a phase Run waits only for helpers that have started; a late one joins
// the next phase or exits. So a machine whose cores are all busy never makes a
// run wait for a helper that the scheduler has not begun.
type crew struct {
	help func() // what a helper does, once
	step func() // the goroutine that makes the helpers stealable

	state   atomic.Uint64 // free places; above them, helpers at work, and whether end waits for them
	coming  atomic.Int32  // helpers that were started and have not begun
	stepped chan struct{}
	left    chan struct{} // the last helper that end waits for has left
	without int           // how many phases to begin without a step
}

const (
	free    = 1<<31 - 1
	atWork  = 1 << 31
	awaited = 1 << 63
)

// newCrew has helpers that call work with places of their own, from 1 on.
func newCrew(work func(place int)) *crew {
	c := &crew{stepped: make(chan struct{}, 1), left: make(chan struct{}, 1)}
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

// begin opens n places, and starts helpers for those that none is coming for.
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

// slowStep is about what a step costs that makes two threads change places.
const slowStep = 30 * time.Microsecond

// join takes a place; 0 where there is none.
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

// end closes the places that are free and waits for the helpers at work.
func (c *crew) end() {
	for {
		s := c.state.Load()
		rest := s &^ free
		if rest != 0 {
			rest |= awaited
		}
		if c.state.CompareAndSwap(s, rest) {
			if rest != 0 {
				<-c.left
			}
			return
		}
	}
}
