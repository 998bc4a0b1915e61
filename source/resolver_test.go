package source

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/onnx"
)

// FuzzResolver compares a Resolver with Plan.Rows and Plan.Survey, for random ranges
// of rows of a plan in each of its forms, from files and memory, with random budgets.
func FuzzResolver(f *testing.F) {
	for seed := range uint64(80) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 7))
		op, data, at := randomGather(r)
		if r.IntN(4) == 0 {
			axis := r.IntN(data.Rank())
			var err error
			if data, err = data.Slice(axis, data.Shape()[axis]-1, -1, -1); err != nil {
				t.Fatal(err)
			}
		}
		first, err := garner.NewPlan(op, data.Spec(), at.Spec())
		if err != nil {
			t.Fatal(err)
		}
		for _, plan := range []*garner.Plan{first, first.InOrder(), first.Normalize()} {
			for name, indices := range map[string]Array{"file": stored(t, at), "memory": Memory(at), "plain": plain{Memory(at)}} {
				for _, budget := range []int64{0, 1, 1 + r.Int64N(3000), 1 << 20} {
					about := fmt.Sprintf("seed %d: %s, budget %d, %v of %v at %v", seed, name, budget, op, data.Spec(), at.Spec())
					resolves(t, r, about, plan, indices, at, budget)
				}
			}
		}
	})
}

// resolves compares a Resolver over indices with the plan over at, which has the
// same elements.
func resolves(t *testing.T, r *rand.Rand, about string, plan *garner.Plan, indices Array, at garner.Tensor, budget int64) {
	t.Helper()
	resolver, err := NewResolver(plan, indices, budget)
	if err != nil {
		t.Fatalf("%s: %v", about, err)
	}
	want, err := plan.Survey(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := resolver.Survey(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: survey %+v, %v, want %+v", about, got, err, want)
	}
	var parts garner.Survey
	for first := 0; first < at.Len() || first == 0; {
		n := r.IntN(at.Len() - first + 1)
		if len(plan.Axes) == 0 {
			n = at.Len() - first
		}
		part, err := resolver.SurveyPart(t.Context(), first, n)
		if err != nil {
			t.Fatalf("%s: indices %d … %d: %v", about, first, first+n-1, err)
		}
		parts.Add(part)
		if first += n; at.Len() == 0 {
			break
		}
	}
	if !reflect.DeepEqual(parts, want) {
		t.Fatalf("%s: parts %+v, want %+v", about, parts, want)
	}
	for _, bad := range [][2]int{{-1, 1}, {0, -1}, {0, at.Len() + 1}, {at.Len() + 1, 0}} {
		if _, err := resolver.SurveyPart(t.Context(), bad[0], bad[1]); !errors.Is(err, garner.ErrShape) {
			t.Fatalf("%s: %d indices from the %d-th on: %v", about, bad[1], bad[0], err)
		}
	}
	total, _ := rowsOf(plan)
	for range 3 {
		first := r.IntN(total + 1)
		n := r.IntN(total - first + 1)
		want, got := make([]int64, n), make([]int64, n)
		wantFilled, wantErr := plan.Rows(want, at, first)
		if errors.Is(wantErr, garner.ErrIndex) {
			wantErr = plan.Check(t.Context(), at)
		}
		filled, err := resolver.Rows(t.Context(), got, first)
		switch {
		case wantErr != nil:
			if errors.Is(wantErr, garner.ErrShape) && errors.Is(err, garner.ErrShape) {
				continue // of negative strides
			}
			if bad, ok := errors.AsType[*garner.IndexError](err); !ok || !reflect.DeepEqual(bad, wantErr) {
				t.Fatalf("%s: rows %d … %d: %v, want %v", about, first, first+n-1, err, wantErr)
			}
		case err != nil || filled != wantFilled || !slices.Equal(got, want):
			t.Fatalf("%s: rows %d … %d: %v, %d fills, %v, want %v, %d", about, first, first+n-1, got, filled, err, want, wantFilled)
		}
	}
}

// TestResolverAtOnce resolves from many goroutines with one Resolver.
func TestResolverAtOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	at := turned(r, garner.I32, 50, 60)
	fillIndices(r, at, 9, 0)
	plan, err := garner.NewPlan(onnx.Gather13{Axis: 1}, garner.SpecOf(garner.F32, 7, 9, 3), at.Spec())
	if err != nil {
		t.Fatal(err)
	}
	plan = plan.InOrder()
	total, _ := rowsOf(plan)
	want := make([]int64, total)
	if _, err := plan.Rows(want, at, 0); err != nil {
		t.Fatal(err)
	}
	for _, budget := range []int64{0, 2000} {
		resolver, err := NewResolver(plan, stored(t, at), budget)
		if err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		for worker := range 8 {
			wait.Go(func() {
				r := rand.New(rand.NewPCG(uint64(worker), 8))
				for range 50 {
					first := r.IntN(total)
					got := make([]int64, r.IntN(min(total-first, 500)+1))
					if _, err := resolver.Rows(t.Context(), got, first); err != nil || !slices.Equal(got, want[first:first+len(got)]) {
						t.Errorf("rows from %d on are wrong: %v", first, err)
						return
					}
				}
			})
		}
		wait.Wait()
	}
}

// fetched counts the bytes and rows that are read of an array.
type fetched struct {
	Array
	mu      sync.Mutex
	bytes   int
	largest int // bytes of one Fetch
	at      []int64
}

func (f *fetched) Fetch(ctx context.Context, rows Rows) error {
	f.mu.Lock()
	f.bytes += len(rows.Dst)
	f.largest = max(f.largest, len(rows.Dst))
	f.at = append(f.at, rows.At...)
	f.mu.Unlock()
	return f.Array.Fetch(ctx, rows)
}

// TestResolverReadsItsPart counts the bytes of the indices that a range of rows
// reads, and holds one read of them to the budget.
func TestResolverReadsItsPart(t *testing.T) {
	ids := make([]int64, 100*1000)
	for i := range ids {
		ids[i] = int64(i % 7)
	}
	at := garner.Of(ids, 100, 1000)
	plan, err := garner.NewPlan(onnx.Gather13{}, garner.SpecOf(garner.F32, 7, 5), at.Spec())
	if err != nil {
		t.Fatal(err)
	}
	indices := &fetched{Array: plain{Memory(at)}}
	for _, budget := range []int64{0, 10000} {
		resolver, err := NewResolver(plan.InOrder(), indices, budget)
		if err != nil {
			t.Fatal(err)
		}
		rows := make([]int64, 1234)
		if _, err := resolver.Rows(t.Context(), rows, 4321); err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			if want := int64((4321+i)%1000+(4321+i)/1000*1000) % 7 * 5; row != want {
				t.Fatalf("row %d is %d, want %d", 4321+i, row, want)
			}
		}
		if indices.bytes != 8*1234 {
			t.Errorf("budget %d: %d bytes of indices were read for %d rows", budget, indices.bytes, len(rows))
		}
		indices.bytes = 0
		if _, err := resolver.Survey(t.Context()); err != nil || indices.bytes != 8*len(ids) {
			t.Errorf("budget %d: %v after %d bytes", budget, err, indices.bytes)
		}
		if budget > 0 && indices.largest > int(budget) {
			t.Errorf("budget %d: one Fetch read %d bytes", budget, indices.largest)
		}
		indices.bytes, indices.largest = 0, 0
	}
}

func TestResolverRefuses(t *testing.T) {
	at := garner.Of([]int64{0, 1, 2, 9, 1, -8}, 2, 3)
	plan, err := garner.NewPlan(onnx.Gather13{}, garner.SpecOf(garner.F32, 7, 5), at.Spec())
	if err != nil {
		t.Fatal(err)
	}
	plan = plan.InOrder()
	for name, tt := range map[string]struct {
		change  func(*garner.Plan)
		indices Array
		budget  int64
		want    error
	}{
		"dtype":           {nil, Memory(garner.Of(make([]int32, 6), 2, 3)), 0, garner.ErrDType},
		"shape":           {nil, Memory(garner.Of(make([]int64, 6), 3, 2)), 0, garner.ErrShape},
		"strings":         {nil, Memory(garner.Of([]string{"a"}, 1)), 0, garner.ErrDType},
		"budget":          {nil, Memory(at), -1, nil},
		"negative extent": {func(p *garner.Plan) { p.Loops[0].Extent = -1 }, Memory(at), 0, garner.ErrShape},
		"many rows":       {func(p *garner.Plan) { p.Loops = slices.Repeat([]garner.Loop{{Extent: 1 << 20}}, 4) }, Memory(at), 0, garner.ErrShape},
	} {
		changed := *plan
		changed.Loops = slices.Clone(plan.Loops)
		if tt.change != nil {
			tt.change(&changed)
		}
		if _, err := NewResolver(&changed, tt.indices, tt.budget); err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	cause := errors.New("enough")
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for name, indices := range map[string]Array{"memory": Memory(at), "plain": plain{Memory(at)}} {
		resolver, err := NewResolver(plan, indices, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct{ first, n int }{{-1, 2}, {0, 100}, {math.MaxInt, 1}} {
			if _, err := resolver.Rows(t.Context(), make([]int64, tt.n), tt.first); !errors.Is(err, garner.ErrShape) {
				t.Errorf("%s: rows from %d on: %v", name, tt.first, err)
			}
		}
		if _, err := resolver.Rows(t.Context(), make([]int64, 2), 0); err != nil {
			t.Errorf("%s: rows whose indices are good: %v", name, err)
		}
		const want = "garner: indices[1,0] = 9 is outside axis 0 of data, which has -7…6 (1 more of 6 indices is outside)"
		if _, err := resolver.Rows(t.Context(), make([]int64, 6), 0); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := resolver.Rows(cancelled, make([]int64, 2), 0); err != cause {
			t.Errorf("%s: cancelled: %v", name, err)
		}
	}
	// Loops that address other indices than the plan's.
	for _, stride := range []int{-1, 100, 2, 1 << (bits.UintSize - 6), 1 << (bits.UintSize - 4), math.MaxInt, math.MinInt} {
		for _, budget := range []int64{0, 1, 1 << 20} {
			beside := *plan
			beside.Loops = []garner.Loop{{Extent: 6, Index: stride}}
			if _, err := NewResolver(&beside, plain{Memory(at)}, budget); !errors.Is(err, garner.ErrShape) {
				t.Errorf("stride %d, budget %d: %v", stride, budget, err)
			}
			beside = *plan
			beside.Axes = []garner.Axis{plan.Axes[0]}
			beside.Axes[0].Index = stride * 6
			if _, err := NewResolver(&beside, plain{Memory(at)}, budget); stride != 2 && !errors.Is(err, garner.ErrShape) && stride*6 != 0 {
				t.Errorf("an axis at %d, budget %d: %v", stride*6, budget, err)
			}
		}
	}
	// Indices that cannot be read.
	file := stored(t, at)
	file.files[0].read = &faulty{ReaderAt: file.files[0].file, fail: 1}
	resolver, err := NewResolver(plan, file, 1)
	if err != nil {
		t.Fatal(err)
	}
	var lost *ReadError
	if _, err := resolver.Rows(t.Context(), make([]int64, 2), 0); !errors.As(err, &lost) || !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
}
