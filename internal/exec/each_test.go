package exec

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
)

// TestEach holds that every unit is called once on any number of cores, without an
// allocation in later calls, and how a call ends.
func TestEach(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	var u Runner
	const most = 1000
	var called [most]atomic.Int32
	each := func(unit int) { called[unit].Add(1) }
	for _, threads := range []int{0, 1, 2, 4} {
		for _, units := range []int{0, 1, 3, most} {
			if how := u.Each(t.Context(), threads, units, each); how != Done {
				t.Fatalf("%d units on %d cores: outcome %d", units, threads, how)
			}
			for i := range called {
				want := int32(0)
				if i < units {
					want = 1
				}
				if n := called[i].Swap(0); n != want {
					t.Errorf("unit %d of %d was called %d times on %d cores", i, units, n, threads)
				}
			}
		}
	}
	if n := testing.AllocsPerRun(20, func() { u.Each(context.Background(), 1, 10, each) }); n != 0 {
		t.Errorf("%v allocations", n)
	}

	ctx, cancel := context.WithCancel(t.Context())
	if how := u.Each(ctx, 2, most, func(int) { cancel() }); how != Stopped {
		t.Errorf("the context ended: outcome %d", how)
	}
	if how := u.Each(ctx, 2, most, func(int) { t.Error("called after the end") }); how != Stopped {
		t.Errorf("the context had ended: outcome %d", how)
	}
	for _, threads := range []int{1, 4} {
		func() {
			defer func() {
				if r := recover(); r != "enough" {
					t.Errorf("on %d cores: recovered %v", threads, r)
				}
			}()
			u.Each(t.Context(), threads, most, func(unit int) {
				if unit == 500 {
					panic("enough")
				}
			})
		}()
		if how := u.Each(t.Context(), threads, most, each); how != Done {
			t.Errorf("after a panic: outcome %d", how)
		}
	}
}
