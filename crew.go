package garner

import (
	"sync/atomic"
	"time"
)

// A crew is the goroutines that help whoever runs a phase of a Prepared. He waits
// for those only who have begun: where all cores are busy with other work he has
// done everything himself by the time they would come, and who comes then helps
// with the next phase, or goes.
type crew struct {
	help func() // what a helper does, once
	step func() // what pushes it to where other cores may take it

	state   atomic.Uint64 // free places, and above them helpers at work and awaited
	coming  atomic.Int32  // helpers that were started and are not here yet
	stepped chan struct{}
	left    chan struct{} // the last of those who were awaited has
	without int           // how often to begin without a step
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
	// What was started last is kept for the core that started it; another one that
	// has nothing to do sleeps some 60 µs before it takes even that. So something
	// else is started after the helpers, which is done at once, on this core. That
	// takes a microsecond, unless the goroutine is locked to its thread.
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

// slowStep is about what a step costs for which two threads must change places.
const slowStep = 30 * time.Microsecond

// join takes a place; 0: there is none.
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

// end lets nobody in any more, and waits for those who are at work.
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
