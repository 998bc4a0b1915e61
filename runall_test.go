package garner_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/strict"
)

// manyCalls returns calls with enough to do for several cores. Each looks rows up in a
// table of its own.
func manyCalls(t testing.TB, n, threads int) (calls []garner.Call, want []garner.Tensor) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, uint64(n)))
	for i := range n {
		rows, columns := 50+i, 64
		values, ids := make([]float32, rows*columns), make([]int64, 512)
		for j := range values {
			values[j] = float32(i*1000 + j)
		}
		for j := range ids {
			ids[j] = r.Int64N(int64(rows))
		}
		c := garner.Call{Data: garner.Of(values, rows, columns), Indices: garner.Of(ids, len(ids))}
		var err error
		if c.Prepared, err = garner.Prepare(strict.Gather{}, c.Data.Spec(), c.Indices.Spec(), garner.Threads(threads)); err != nil {
			t.Fatal(err)
		}
		if c.Out, err = garner.New(garner.F32, len(ids), columns); err != nil {
			t.Fatal(err)
		}
		w, err := garner.Reference(strict.Gather{}, c.Data, c.Indices)
		if err != nil {
			t.Fatal(err)
		}
		calls, want = append(calls, c), append(want, w)
	}
	return calls, want
}

// TestRunAllTogether runs calls that share the cores: on any number of threads, more of
// them than run together, into the columns of one matrix, without an allocation.
func TestRunAllTogether(t *testing.T) {
	for threads := 1; threads <= 4; threads++ {
		calls, want := manyCalls(t, 70, threads)
		matrix, err := garner.New(garner.F32, 512, 64*len(calls))
		if err != nil {
			t.Fatal(err)
		}
		for i := range calls {
			if i%3 > 0 {
				if calls[i].Out, err = matrix.Slice(1, 64*i, 64*(i+1), 1); err != nil {
					t.Fatal(err)
				}
			}
		}
		run := func() {
			if err := garner.RunAll(t.Context(), calls); err != nil {
				t.Fatal(err)
			}
		}
		run()
		for i, c := range calls {
			if !gathertest.Equal(c.Out, want[i]) {
				t.Errorf("%d threads: call %d differs from the definition", threads, i)
			}
		}
		if n := testing.AllocsPerRun(20, run); n > 0.5 && !raceEnabled {
			t.Errorf("%d threads: %v allocations", threads, n)
		}
	}
}

// TestRunAllInOrder runs calls that use what others write: each sees the results of the
// calls before it, and none of those behind it.
func TestRunAllInOrder(t *testing.T) {
	calls, _ := manyCalls(t, 40, 4)
	for i := 1; i < len(calls); i++ {
		var err error
		switch i % 3 {
		case 0: // the rows of the call before
			calls[i].Data = calls[i-1].Out
			calls[i].Prepared, err = garner.Prepare(strict.Gather{}, calls[i].Data.Spec(), calls[i].Indices.Spec())
		case 1: // over the result of the call before
			calls[i].Out = calls[i-1].Out
		case 2: // into data that the call before has read
			values := make([]float32, 512*64)
			for j := range values {
				values[j] = float32(-i*100000 - j)
			}
			calls[i-1].Data = garner.Of(values, 512, 64)
			calls[i].Out = calls[i-1].Data
			calls[i-1].Prepared, err = garner.Prepare(strict.Gather{}, calls[i-1].Data.Spec(), calls[i-1].Indices.Spec())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	state := func() (all []garner.Tensor) {
		for _, c := range calls {
			for _, t := range []garner.Tensor{c.Data, c.Out} {
				kept, _ := t.Clone()
				all = append(all, kept)
			}
		}
		return all
	}
	begin := state()
	for _, c := range calls {
		if err := c.Prepared.Run(t.Context(), c.Data, c.Indices, c.Out); err != nil {
			t.Fatal(err)
		}
	}
	want := state()
	for range 20 {
		for i, c := range calls {
			if err := garner.Copy(c.Data, begin[2*i]); err != nil {
				t.Fatal(err)
			}
			if err := garner.Copy(c.Out, begin[2*i+1]); err != nil {
				t.Fatal(err)
			}
		}
		if err := garner.RunAll(t.Context(), calls); err != nil {
			t.Fatal(err)
		}
		for i, got := range state() {
			if !gathertest.Equal(got, want[i]) {
				t.Fatalf("operand %d of call %d is another than after one call after the other", i%2, i/2)
			}
		}
	}
}

// TestRunAllNamesTheFirst holds that the error is that of the first call that fails,
// whichever ends first, and that a context that has ended names a call too.
func TestRunAllNamesTheFirst(t *testing.T) {
	calls, _ := manyCalls(t, 40, 4)
	for _, bad := range []int{5, 6, 30} {
		if err := calls[bad].Indices.SetText(500, "-1"); err != nil {
			t.Fatal(err)
		}
	}
	for range 50 {
		if err := garner.RunAll(t.Context(), calls); !errors.Is(err, garner.ErrIndex) || !strings.Contains(err.Error(), "call 5 of 40") {
			t.Fatalf("call 5 is bad: %v", err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := garner.RunAll(ended, calls); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "call 0 of 40") {
		t.Errorf("an ended context: %v", err)
	}
}
