package garner_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/strict"
)

// A sharedTurn is one call of a shared Prepared and its only right answer.
type sharedTurn struct {
	name               string
	ctx                context.Context
	data, indices, out garner.Tensor
	memory             garner.Tensor // contiguous, and out is a view of it
	want               garner.Tensor // the result, where err is nil
	err                error
}

// run calls p and returns the difference from the right answer; "" if there is
// none.
func (s *sharedTurn) run(p *garner.Prepared) (wrong string) {
	defer func() {
		if r := recover(); r != nil {
			wrong = fmt.Sprintf("%s: panic: %v", s.name, r)
		}
	}()
	if err := overwrite(s.memory); err != nil {
		return err.Error()
	}
	err := p.Run(s.ctx, s.data, s.indices, s.out)
	switch {
	case s.err != nil && err == nil:
		return fmt.Sprintf("%s: no error, want %q", s.name, s.err)
	case s.err != nil && err.Error() != s.err.Error():
		return fmt.Sprintf("%s: %q, want %q", s.name, err, s.err)
	case s.err != nil:
		return ""
	case err != nil:
		return fmt.Sprintf("%s: %v", s.name, err)
	case !gathertest.Equal(s.out, s.want):
		return s.name + ": wrong rows with a nil error"
	}
	return ""
}

// overwrite fills the memory of a contiguous tensor, so that a row that a run
// leaves out is detected.
func overwrite(t garner.Tensor) error {
	if t.DType() == garner.String {
		values, err := garner.Values[string](t)
		for i := range values {
			values[i] = "left over"
		}
		return err
	}
	b, err := t.Bytes()
	for n := copy(b, "left over"); n > 0 && n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
	return err
}

// spaced returns a view of the given type whose elements are k apart in memory.
func spaced(t *testing.T, dtype garner.DType, shape garner.Shape, k int) (view, memory garner.Tensor) {
	t.Helper()
	memory, err := garner.New(dtype, append(slices.Clone(shape), k)...)
	if err == nil {
		view, err = memory.Slice(len(shape), 0, 1, 1)
	}
	if err == nil {
		view, err = view.Reshape(shape...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return view, memory
}

// respaced returns a copy of a tensor whose elements are k apart in memory.
func respaced(t *testing.T, of garner.Tensor, k int) garner.Tensor {
	t.Helper()
	view, _ := spaced(t, of.DType(), of.Shape(), k)
	if err := garner.Copy(view, of); err != nil {
		t.Fatal(err)
	}
	return view
}

// numbered returns a tensor of distinct values, as far as its dtype has them.
func numbered(t *testing.T, dtype garner.DType, shape ...int) garner.Tensor {
	t.Helper()
	x, err := garner.New(dtype, shape...)
	if err != nil {
		t.Fatal(err)
	}
	switch dtype {
	case garner.String:
		values, _ := garner.Values[string](x)
		for i := range values {
			values[i] = strconv.Itoa(i)
		}
	case garner.F32:
		values, _ := garner.Values[float32](x)
		for i := range values {
			values[i] = float32(i)
		}
	default:
		b, err := x.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		for i := range b {
			b[i] = byte(i ^ i>>8)
		}
	}
	return x
}

// drawn returns random indices of any integer type: element i lies below
// bounds[i modulo len(bounds)].
func drawn[I garner.Integer](r *rand.Rand, bounds []int, shape ...int) []I {
	n := 1
	for _, d := range shape {
		n *= d
	}
	values := make([]I, n)
	for i := range values {
		values[i] = I(r.IntN(bounds[i%len(bounds)]))
	}
	return values
}

// TestPreparedShared runs one Prepared from eight goroutines at once, each with
// its own indices and outputs: with the strides that it was prepared for and
// with others, over memory that may vanish, with an index outside, with an
// output of another shape, and with a context that has ended. Every call
// returns what it returns alone.
func TestPreparedShared(t *testing.T) {
	const goroutines = 8
	i64 := func(r *rand.Rand, bounds []int, shape ...int) garner.Tensor {
		return garner.Of(drawn[int64](r, bounds, shape...), shape...)
	}
	for _, tt := range []struct {
		name    string
		op      garner.Op
		data    garner.Tensor
		indices func(r *rand.Rand) garner.Tensor
		refuses bool // an index outside is an error
	}{
		{"rows", strict.Gather{}, numbered(t, garner.F32, 4096, 64),
			func(r *rand.Rand) garner.Tensor { return i64(r, []int{4096}, 512) }, true},
		{"rows of 4 KiB", strict.Gather{}, numbered(t, garner.F32, 256, 1024),
			func(r *rand.Rand) garner.Tensor { return i64(r, []int{256}, 512) }, true},
		{"few rows", strict.GatherND{}, numbered(t, garner.F32, 2, 2),
			func(r *rand.Rand) garner.Tensor { return i64(r, []int{2, 2}, 2, 2) }, true},
		{"elements of one axis", strict.Gather{}, numbered(t, garner.F32, 1<<20),
			func(r *rand.Rand) garner.Tensor { return i64(r, []int{1 << 20}, 512) }, true},
		{"pairs, narrow indices", strict.GatherND{}, numbered(t, garner.F32, 64, 100, 8),
			func(r *rand.Rand) garner.Tensor { return garner.Of(drawn[int32](r, []int{64, 100}, 512, 2), 512, 2) }, true},
		{"columns", strict.Gather{Axis: 1}, numbered(t, garner.F32, 60, 700),
			func(r *rand.Rand) garner.Tensor { return i64(r, []int{700}, 512) }, true},
		{"middle axis", strict.Gather{Axis: 1}, numbered(t, garner.F32, 8, 100, 16),
			func(r *rand.Rand) garner.Tensor { return i64(r, []int{100}, 512) }, true},
		{"GatherElements along axis 0", strict.GatherElements{}, numbered(t, garner.F32, 300, 64),
			func(r *rand.Rand) garner.Tensor { return i64(r, []int{300}, 512, 64) }, true},
		{"GatherElements along axis 1", strict.GatherElements{Axis: 1}, numbered(t, garner.F32, 512, 80),
			func(r *rand.Rand) garner.Tensor { return i64(r, []int{80}, 512, 64) }, true},
		{"zeros outside", garner.WithOutside(strict.Gather{}, garner.Zero), numbered(t, garner.F32, 1000, 16),
			func(r *rand.Rand) garner.Tensor { return i64(r, []int{1000 + r.IntN(20)}, 512) }, false},
		{"wrapped, middle axis", garner.WithOutside(strict.Gather{Axis: 1}, garner.Wrap), numbered(t, garner.F32, 8, 100, 16),
			func(r *rand.Rand) garner.Tensor { return i64(r, []int{90 + r.IntN(20)}, 512) }, false},
		{"packed", strict.Gather{}, numbered(t, garner.U4, 1000, 5),
			func(r *rand.Rand) garner.Tensor { return i64(r, []int{1000}, 512) }, true},
		{"strings", strict.Gather{}, numbered(t, garner.String, 1000, 3),
			func(r *rand.Rand) garner.Tensor { return i64(r, []int{1000}, 512) }, true},
	} {
		// Each goroutine has turns of its own; they are the same for every number of threads.
		own := make([][]sharedTurn, goroutines)
		for g := range own {
			own[g] = sharedTurns(t, g, tt.op, tt.data, tt.indices, tt.refuses)
		}
		size := own[0][0].want.Len() * 4
		for _, threads := range []int{1, 4} {
			for _, mixed := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/threads=%d/mixed=%t", tt.name, threads, mixed), func(t *testing.T) {
					p, err := garner.Prepare(tt.op, tt.data.Spec(), own[0][0].indices.Spec(), garner.Threads(threads))
					if err != nil {
						t.Fatal(err)
					}
					out, kernel := p.Plan().Out.String(), p.Regime().Kernel
					wrong := together(goroutines, min(400, 16<<20/size), func(g int, r *rand.Rand) string {
						turns := own[g][:plainTurns]
						if mixed {
							turns = own[g]
						}
						if p.Plan().Out.String() != out || p.Regime().Kernel != kernel {
							return "Plan or Regime changed"
						}
						return turns[r.IntN(len(turns))].run(p)
					})
					for _, what := range slices.Sorted(maps.Keys(wrong)) {
						t.Errorf("%d times %s", wrong[what], what)
					}
				})
			}
		}
	}
}

// plainTurns is how many turns at the front of sharedTurns succeed and have the
// strides that Prepare was given.
const plainTurns = 3

// sharedTurns are the turns of goroutine g. What each must answer comes from a
// Prepared that nothing else uses, which gathertest compares with Reference.
func sharedTurns(t *testing.T, g int, op garner.Op, data garner.Tensor, indices func(*rand.Rand) garner.Tensor, refuses bool) []sharedTurn {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(g), 5))
	ctx := context.Background()
	var turns []sharedTurn
	// add makes a turn with an output whose elements stand k apart; 1 is row-major.
	add := func(name string, ctx context.Context, data, indices garner.Tensor, k int) {
		t.Helper()
		s := sharedTurn{name: name, ctx: ctx, data: data, indices: indices}
		spec, err := garner.Infer(op, data.Spec(), indices.Spec())
		if err != nil {
			t.Fatal(err)
		}
		shape, _ := spec.Shape()
		if k == 1 {
			s.memory, err = garner.New(spec.DType, shape...)
			s.out = s.memory
		} else {
			s.out, s.memory = spaced(t, spec.DType, shape, k)
		}
		if err != nil {
			t.Fatal(err)
		}
		s.want, s.err = garner.GatherContext(ctx, op, data, indices)
		turns = append(turns, s)
	}
	for range plainTurns {
		add("own indices", ctx, data, indices(r), 1)
	}
	for _, s := range turns {
		if s.err != nil {
			t.Fatal(s.err)
		}
	}
	add("strides of data", ctx, respaced(t, data, 1+g%3), indices(r), 1)
	add("strides of the indices", ctx, data, respaced(t, indices(r), 2+g%2), 1)
	add("strides of the output", ctx, data, indices(r), 2+g%3)
	add("all strides", ctx, respaced(t, data, 2), respaced(t, indices(r), 3), 2)
	if data.DType() != garner.String {
		add("volatile data", ctx, data.Volatile(), indices(r), 1)
	}
	for _, s := range turns {
		if s.err != nil {
			t.Fatal(s.err)
		}
	}
	if refuses {
		bad, err := indices(r).Clone()
		if err == nil {
			err = bad.SetText(r.IntN(bad.Len()), strconv.Itoa(1<<30+g))
		}
		if err != nil {
			t.Fatal(err)
		}
		add("an index outside", ctx, data, bad, 1)
		if s := turns[len(turns)-1]; !errors.Is(s.err, garner.ErrIndex) {
			t.Fatalf("an index outside: %v", s.err)
		}
	}
	ended, cancel := context.WithCancelCause(ctx)
	cancel(fmt.Errorf("goroutine %d no longer wants it", g))
	add("an ended context", ended, data, indices(r), 1)
	if s := turns[len(turns)-1]; s.err != context.Cause(ended) {
		t.Fatalf("an ended context: %v", s.err)
	}
	// An output one row too long.
	add("an output of another shape", ctx, data, indices(r), 1)
	s := &turns[len(turns)-1]
	longer := slices.Clone(s.out.Shape())
	longer[0]++
	var err error
	if s.out, err = garner.New(s.out.DType(), longer...); err != nil {
		t.Fatal(err)
	}
	s.memory = s.out
	if s.err = garner.GatherInto(ctx, op, s.data, s.indices, s.out); !errors.Is(s.err, garner.ErrShape) {
		t.Fatalf("an output of another shape: %v", s.err)
	}
	return turns
}

// together runs turn the given number of times on each of the goroutines, which
// start together, and counts its messages.
func together(goroutines, times int, turn func(g int, r *rand.Rand) string) map[string]int {
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		wrong = map[string]int{}
		begin = make(chan struct{})
	)
	for g := range goroutines {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 6))
			<-begin
			for range times {
				if what := turn(g, r); what != "" {
					mu.Lock()
					wrong[what]++
					mu.Unlock()
				}
			}
		})
	}
	close(begin)
	all.Wait()
	return wrong
}
