package garner_test

import (
	"math/rand/v2"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
)

// TestBags holds every way to run bags against the definition: R.29 to R.35, R.30, R.31, R.32, R.33 and R.34 among them.
func TestBags(t *testing.T) {
	t.Run("all cores", func(t *testing.T) { gathertest.RunBags(t, garner.GatherContext) })
	t.Run("one core", func(t *testing.T) { gathertest.RunBags(t, prepared(garner.Threads(1))) })
	t.Run("cut small", func(t *testing.T) { gathertest.RunBags(t, prepared(garner.Threads(3), garner.Cut(8, 16, 0))) })
	t.Run("views", func(t *testing.T) {
		gathertest.RunBags(t, into(rand.New(rand.NewPCG(1, 2)), garner.Threads(2), garner.Cut(8, 64, 0)))
	})
	t.Run("batches", func(t *testing.T) { gathertest.RunBags(t, batches(garner.Threads(2), garner.Cut(8, 16, 64))) })
}

func FuzzBags(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		gathertest.AgainstBags(t, garner.GatherContext, seed)
		gathertest.AgainstBags(t, prepared(garner.Threads(3), garner.Cut(8, 16, 0)), seed)
		gathertest.AgainstBags(t, batches(garner.Threads(2), garner.Cut(8, 16, 64)), seed)
	})
}

// TestBagsAllocateNothing holds that runs of a Prepared allocate nothing, also of
// another number of indices than the run before, on one core and on two.
func TestBagsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	data := garner.Of(make([]float32, 1000*64), 1000, 64)
	for _, threads := range []int{1, 2} {
		p, err := garner.Prepare(bagsOf{garner.Bag{Ends: garner.ZeroStart, WeightsAt: 1}}, data.Spec(), garner.SpecOfDims(garner.I64, garner.AnyDim), garner.Threads(threads),
			garner.Further(garner.SpecOf(garner.I64, 512), garner.SpecOfDims(garner.F32, garner.AnyDim)))
		if err != nil {
			t.Fatal(err)
		}
		out, err := garner.New(garner.F32, 512, 64)
		if err != nil {
			t.Fatal(err)
		}
		var calls []func()
		for _, n := range []int{10240, 5120} {
			ids, weights := garner.Of(make([]int64, n), n), garner.Of(make([]float32, n), n)
			offsets := make([]int64, 512)
			for b := range offsets {
				offsets[b] = int64(b * n / 512)
			}
			ends := garner.Of(offsets, 512)
			calls = append(calls, func() {
				if err := p.Run(t.Context(), data, ids, out, ends, weights); err != nil {
					t.Fatal(err)
				}
			})
		}
		if n := testing.AllocsPerRun(50, func() { calls[0](); calls[1]() }); n > 0.5 {
			t.Errorf("%d threads: %v allocations in two runs", threads, n)
		}
	}
}

// bagsOf reduces rows of a matrix.
type bagsOf struct{ bag garner.Bag }

func (bagsOf) Operands() []garner.Operand {
	return []garner.Operand{{Name: "ends", Types: garner.IntegerTypes, Optional: true}, {Name: "weights", Types: garner.DataType, Optional: true}}
}

func (b bagsOf) Lower(l *garner.Lowering) {
	l.NeedNumbers(true)
	l.NeedRanks(1, 1).Bags(b.bag, garner.AnyDim).Copy()
}

// TestBagsOnAnyThreads holds that sums whose order shows are the same bits on any
// number of threads, of few bags of long rows and of many of short ones.
func TestBagsOnAnyThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, tt := range []struct{ rows, columns, bags, terms int }{{500, 3000, 2, 200}, {5000, 33, 700, 20}, {64, 1, 3, 100000}} {
		values := make([]float32, tt.rows*tt.columns)
		for i := range values {
			values[i] = float32(r.NormFloat64())
		}
		ids := make([]int64, tt.bags*tt.terms)
		for i := range ids {
			ids[i] = r.Int64N(int64(tt.rows))
		}
		data, indices := garner.Of(values, tt.rows, tt.columns), garner.Of(ids, tt.bags, tt.terms)
		op := bagsOf{garner.Bag{Reduction: garner.Mean, EndsAt: -1, WeightsAt: -1, Reciprocal: true}}
		want, err := garner.Reference(op, data, indices)
		if err != nil {
			t.Fatal(err)
		}
		for threads := 1; threads <= 8; threads++ {
			got, err := prepared(garner.Threads(threads))(t.Context(), op, data, indices)
			if err != nil || !gathertest.Equal(got, want) {
				t.Errorf("%+v on %d threads differs from the definition: %v", tt, threads, err)
			}
		}
	}
}
