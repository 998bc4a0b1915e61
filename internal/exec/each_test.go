package exec

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

// TestRunEach holds that each unit is called once, however many cores there are, that
// a repeated run allocates nothing, and that a context and a panic end it.
func TestRunEach(t *testing.T) {
	var u Runner
	var calls [100]atomic.Int32
	each := func(unit int) { calls[unit].Add(1) }
	for _, threads := range []int{0, 1, 2, 7, 200} {
		for _, units := range []int{0, 1, 2, len(calls)} {
			clear(calls[:])
			if how := u.RunEach(t.Context(), units, threads, each); how != Done {
				t.Errorf("%d units on %d: outcome %d", units, threads, how)
			}
			for i := range calls {
				if n := calls[i].Load(); n != 1 && i < units || n != 0 && i >= units {
					t.Errorf("%d units on %d: unit %d was called %d times", units, threads, i, n)
				}
			}
		}
	}
	if n := testing.AllocsPerRun(50, func() { u.RunEach(context.Background(), 1, 1, each) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	after := 0
	if how := u.RunEach(ctx, 1000, 1, func(unit int) {
		if after++; unit == 10 {
			cancel()
		}
	}); how != Stopped || after != 11 {
		t.Errorf("cancelled: outcome %d after %d calls", how, after)
	}
	if how := u.RunEach(ctx, 1, 1, each); how != Stopped {
		t.Errorf("cancelled before: outcome %d", how)
	}
	for _, threads := range []int{1, 3} {
		func() {
			defer func() {
				if err, _ := recover().(error); err == nil || err.Error() != "on purpose" {
					t.Errorf("recovered %v", err)
				}
			}()
			u.RunEach(t.Context(), 1000, threads, func(int) { panic(errors.New("on purpose")) })
		}()
	}
	// A panic of a helper beside one of the caller is not kept for the next run.
	for range 200 {
		func() {
			defer func() { recover() }()
			u.RunEach(t.Context(), 1000, 3, func(int) { panic("on purpose") })
		}()
		if how := u.RunEach(t.Context(), 3, 2, func(int) {}); how != Done {
			t.Fatalf("after a panic: outcome %d", how)
		}
	}
}
