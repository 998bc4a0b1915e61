package exec

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// TestCrew holds that each helper has its own place, and that none is at work
// once end returns, however late it started.
func TestCrew(t *testing.T) {
	for _, procs := range []int{1, 2, 8} {
		for _, locked := range []bool{false, true} {
			t.Run(fmt.Sprintf("procs=%d/locked=%t", procs, locked), func(t *testing.T) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				if locked {
					runtime.LockOSThread()
					defer runtime.UnlockOSThread()
				}
				const places = 4
				rounds := 500
				if locked {
					rounds = 50 // threads change places, which takes long
				}
				var open, helped atomic.Int64
				var taken [places + 1]atomic.Bool
				var work func(place int)
				c := newCrew(func(place int) { work(place) }, func() {})
				for i := range rounds {
					var within atomic.Int64
					work = func(place int) {
						if place < 1 || place > places || taken[place].Swap(true) {
							t.Errorf("place %d is taken or out of range", place)
						}
						within.Add(1)
						for range i % 50 {
							if open.Load() != int64(i) {
								t.Errorf("at work on %d in phase %d", i, open.Load())
							}
						}
						helped.Add(1)
						taken[place].Store(false)
						within.Add(-1)
					}
					open.Store(int64(i))
					c.begin(places)
					if n := c.coming.Load(); n < 0 || n > places {
						t.Fatalf("%d helpers are coming", n)
					}
					for range i % 70 {
						runtime.Gosched()
					}
					c.end()
					if n := within.Load(); n != 0 {
						t.Fatalf("%d helpers are at work after the end", n)
					}
					open.Store(-1)
				}
				if helped.Load() == 0 {
					t.Error("no helper worked")
				}
				for try := 0; c.coming.Load() > 0; try++ {
					if try > 60_000 {
						t.Fatalf("%d helpers never came", c.coming.Load())
					}
					time.Sleep(time.Millisecond)
				}
			})
		}
	}
}

// TestCrewComesLate holds that end does not wait for a helper that has not
// started, and that a helper that starts after the end does nothing.
func TestCrewComesLate(t *testing.T) {
	worked := 0
	c := newCrew(func(int) { worked++ }, func() {})
	c.coming.Store(2) // created in an earlier run, not started yet
	c.begin(2)
	c.end()
	c.help()
	if worked != 0 || c.coming.Load() != 1 {
		t.Errorf("%d worked after the end, and %d are to come", worked, c.coming.Load())
	}
	c.begin(1)
	c.help()
	if worked != 1 {
		t.Errorf("%d worked in the phase that came next", worked)
	}
	c.end()
}

// TestCrewLooks holds that a wait for a helper that is late looks, and that a short one does not.
func TestCrewLooks(t *testing.T) {
	var looked atomic.Int64
	var wait atomic.Int64
	c := newCrew(func(int) {
		for began := time.Now(); time.Since(began) < time.Duration(wait.Load()); {
			runtime.Gosched()
		}
	}, func() { looked.Add(1); wait.Store(0) })
	wait.Store(int64(10 * time.Second)) // unless somebody looks
	c.begin(1)
	for c.state.Load()&free > 0 {
		runtime.Gosched() // until the helper has begun
	}
	c.end()
	if looked.Load() == 0 {
		t.Error("no look")
	}
}
