package gathertest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/strict"
)

// One line of a test holds an executor against the definition.
func ExampleRun() {
	test := func(t *testing.T) { gathertest.Run(t, garner.GatherContext) }
	_ = test // go test calls it
}

// Random returns the gather of a seed, to inspect one that failed.
func ExampleRandom() {
	c := gathertest.Random(7)
	out, err := garner.Reference(c.Op, c.Data, c.Indices, c.Further...)
	again, errAgain := garner.Gather(c.Op, c.Data, c.Indices, c.Further...)
	fmt.Println(gathertest.Equal(out, again), fmt.Sprint(err) == fmt.Sprint(errAgain))
	// Output: true true
}

func ExampleEqual() {
	a := garner.Of([]int32{1, 2, 3, 4}, 2, 2)
	b := garner.Of([]int32{1, 3, 2, 4}, 2, 2)
	turned, _ := b.Transpose()
	fmt.Println(gathertest.Equal(a, b), gathertest.Equal(a, turned))
	// Output: false true
}

// recorder is a test that only records whether it failed.
type recorder struct {
	testing.TB
	failed int
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed++ }
func (r *recorder) Fatalf(string, ...any) { r.failed++; panic(r) }
func (r *recorder) Fatal(...any)          { r.failed++; panic(r) }

// try runs a check and reports whether it failed.
func try(check func(testing.TB)) (failed bool) {
	r := &recorder{}
	defer func() {
		if p := recover(); p != nil && p != any(r) {
			panic(p)
		}
		failed = r.failed > 0
	}()
	check(r)
	return
}

// TestWrongExecutorsAreCaught holds that the checks fail executors that are
// wrong in one way each.
func TestWrongExecutorsAreCaught(t *testing.T) {
	flip := func(ctx context.Context, op garner.Op, data, indices garner.Tensor, more ...garner.Tensor) (garner.Tensor, error) {
		out, err := garner.GatherContext(ctx, op, data, indices, more...)
		if err == nil && out.Len() > 0 && out.DType() != garner.String {
			b, _ := out.Bytes()
			b[0] ^= 1
		}
		return out, err
	}
	silent := func(ctx context.Context, op garner.Op, data, indices garner.Tensor, more ...garner.Tensor) (garner.Tensor, error) {
		return garner.GatherContext(ctx, garner.WithOutside(op, garner.Clamp), data, indices, more...)
	}
	broken := func(context.Context, garner.Op, garner.Tensor, garner.Tensor, ...garner.Tensor) (garner.Tensor, error) {
		return garner.Tensor{}, errors.New("broken")
	}
	for name, run := range map[string]gathertest.Executor{"flips a bit": flip, "lets indices through": silent, "always fails": broken} {
		for kind, random := range map[string]func(uint64) gathertest.Case{
			"elements": gathertest.RandomElements, "bags": gathertest.RandomBags, "stored data": gathertest.RandomStored,
		} {
			caught := 0
			for seed := range uint64(200) {
				if try(func(tb testing.TB) { random(seed).Hold(tb, run) }) {
					caught++
				}
			}
			if caught == 0 {
				t.Errorf("an executor that %s passes with %s", name, kind)
			}
		}
	}
	for seed, c := range map[uint64]gathertest.Case{0: gathertest.RandomElements(0), 3: gathertest.RandomBags(3), 4: gathertest.RandomStored(4)} {
		if got := gathertest.Random(seed); got.About != c.About {
			t.Errorf("seed %d: %s; want %s", seed, got.About, c.About)
		}
	}
	for _, law := range gathertest.Laws {
		if try(func(tb testing.TB) { law.Hold(tb, garner.GatherContext, 1) }) {
			t.Errorf("%s does not hold", law.Name)
		}
		caught := false
		for seed := range uint64(50) {
			caught = caught || try(func(tb testing.TB) { law.Hold(tb, broken, seed) })
		}
		if !caught {
			t.Errorf("%s holds for an executor that always fails", law.Name)
		}
	}
}

func TestChecks(t *testing.T) {
	data, at := garner.Of([]int32{1, 2, 3}, 3), garner.Of([]int64{2, 0}, 2)
	want := garner.Of([]int32{3, 1}, 2)
	gathertest.Check(t, strict.Gather{}, data, at, want)
	for name, check := range map[string]func(testing.TB){
		"other values":        func(tb testing.TB) { gathertest.Check(tb, strict.Gather{}, data, at, data) },
		"another shape":       func(tb testing.TB) { gathertest.Check(tb, strict.Gather{}, data, at, garner.Of([]int32{3, 1}, 1, 2)) },
		"an error":            func(tb testing.TB) { gathertest.Check(tb, strict.Gather{Axis: 1}, data, at, want) },
		"no error":            func(tb testing.TB) { gathertest.CheckError(tb, strict.Gather{}, data, at, garner.ErrIndex) },
		"an error of another": func(tb testing.TB) { gathertest.CheckError(tb, strict.Gather{Axis: 1}, data, at, garner.ErrIndex) },
	} {
		if !try(check) {
			t.Errorf("%s: it was not seen", name)
		}
	}
	a, b := garner.Of([]string{"x", "y"}, 2), garner.Of([]string{"x", "z"}, 2)
	if gathertest.Equal(a, b) || !gathertest.Equal(a, a) {
		t.Error("strings")
	}
}
