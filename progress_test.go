package garner_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/strict"
)

// TestProgress holds the numbers that Progress receives, on one core and on
// several, for a gather that resolves all rows first and for one that does not.
// The test stores them without a lock, so the race detector reports a call from
// another goroutine.
func TestProgress(t *testing.T) {
	data, indices, out := large(t, 1000, 50000)
	columns := garner.Of(make([]float32, 2000), 1000, 2)
	for _, tt := range []struct {
		name         string
		op           garner.Op
		indices, out garner.Tensor
		option       garner.PrepareOption
	}{
		{"rows", strict.Gather{}, indices, out, garner.Threads(0)},
		{"rows, small units", strict.Gather{}, indices, out, garner.Cut(8, 64, 0)},
		{"columns", strict.Gather{Axis: 1}, garner.Of([]int64{3, 1}, 2), columns, garner.Cut(8, 64, 1000)},
		{"nothing", strict.Gather{}, garner.Of([]int64{}, 0), garner.Of([]float32{}, 0, data.Shape()[1]), garner.Threads(0)},
	} {
		for _, threads := range []int{1, 3} {
			t.Run(fmt.Sprint(tt.name, " on ", threads), func(t *testing.T) {
				calls, last, of := 0, int64(0), int64(-1)
				p := prepare(t, tt.op, data, tt.indices, tt.option, garner.Threads(threads), garner.Progress(func(done, total int64) {
					if done < last || done > total || of >= 0 && total != of {
						t.Errorf("%d of %d after %d of %d", done, total, last, of)
					}
					calls, last, of = calls+1, done, total
				}))
				if err := p.Run(context.Background(), data, tt.indices, tt.out); err != nil {
					t.Fatal(err)
				}
				if want := int64(tt.out.Len()); last != want || of != want || calls == 0 {
					t.Errorf("%d calls end with %d of %d; want %d", calls, last, of, want)
				}
				if tt.name != "nothing" && threads == 1 && calls < 2 {
					t.Errorf("only %d calls", calls)
				}
			})
		}
	}
}

// TestProgressOfNone holds that Progress never receives the end of a refused
// run, and that Progress allocates nothing.
func TestProgressOfNone(t *testing.T) {
	data, indices, out := large(t, 1000, 50000)
	var last, of int64
	tell := garner.Progress(func(done, total int64) { last, of = done, total })
	p := prepare(t, strict.Gather{}, data, indices, tell)
	if n := testing.AllocsPerRun(20, func() {
		if err := p.Run(context.Background(), data, indices, out); err != nil {
			t.Fatal(err)
		}
	}); n != 0 && !raceEnabled {
		t.Errorf("a run makes %v allocations", n)
	}

	last, of = 0, 1
	bad := garner.Of([]int64{0, 1000}, 2)
	p = prepare(t, strict.Gather{}, data, bad, tell)
	err := p.Run(context.Background(), data, bad, garner.Of(make([]float32, 2*data.Shape()[1]), 2, data.Shape()[1]))
	if !errors.Is(err, garner.ErrIndex) || last == of {
		t.Errorf("%v after %d of %d", err, last, of)
	}
}

func ExampleProgress() {
	data := garner.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	at := garner.Of([]int64{2, 0}, 2)
	p, err := garner.Prepare(strict.Gather{}, data.Spec(), at.Spec(), garner.Progress(func(done, total int64) {
		fmt.Println(done, "of", total, "elements")
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	out := garner.Of(make([]float32, 4), 2, 2)
	fmt.Println(p.Run(context.Background(), data, at, out))
	// Output:
	// 4 of 4 elements
	// <nil>
}
