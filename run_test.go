package garner_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/strict"
)

// large is a gather that several cores share: 64-byte rows of f32.
func large(tb testing.TB, rows, n int) (data, indices, out garner.Tensor) {
	tb.Helper()
	values := make([]float32, rows*16)
	for i := range values {
		values[i] = float32(i)
	}
	at := make([]int64, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range at {
		at[i] = int64(r.IntN(rows))
	}
	return garner.Of(values, rows, 16), garner.Of(at, n), garner.Of(make([]float32, n*16), n, 16)
}

func prepare(tb testing.TB, op garner.Op, data, indices garner.Tensor, options ...garner.PrepareOption) *garner.Prepared {
	tb.Helper()
	p, err := garner.Prepare(op, data.Spec(), indices.Spec(), options...)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func TestRunAllocatesNothing(t *testing.T) {
	data, indices, out := large(t, 1000, 50000)
	tiny := garner.Of([]int32{1, 2, 3, 4}, 2, 2)
	tuples := garner.Of([]int64{0, 0, 1, 0}, 2, 2)
	ctx := context.Background()
	for _, tt := range []struct {
		name               string
		op                 garner.Op
		data, indices, out garner.Tensor
		threads            int
	}{
		{"rows on one core", strict.Gather{}, data, indices, out, 1},
		{"rows on four", strict.Gather{}, data, indices, out, 4},
		{"tiny", strict.GatherND{}, tiny, tuples, garner.Of(make([]int32, 2), 2), 0},
		{"columns", strict.Gather{Axis: 1}, data, garner.Of([]int64{3, 1}, 2), garner.Of(make([]float32, 2000), 1000, 2), 2},
		{"volatile", strict.Gather{}, data.Volatile(), indices, out, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := prepare(t, tt.op, tt.data, tt.indices, garner.Threads(tt.threads))
			if n := testing.AllocsPerRun(50, func() {
				if err := p.Run(ctx, tt.data, tt.indices, tt.out); err != nil {
					t.Fatal(err)
				}
			}); n != 0 && !raceEnabled {
				t.Errorf("a run makes %v allocations", n)
			}
		})
	}
}

// looks is a context that ends after some number of looks at it.
type looks struct {
	context.Context
	seen, end atomic.Int64
}

func (l *looks) Err() error {
	if l.seen.Add(1) > l.end.Load() {
		return context.Canceled
	}
	return nil
}

// TestRunLooksAtItsContext holds that a run looks at its context at least once
// per megabyte that it moves, which takes less than a millisecond, and stops at
// once when the context has ended.
func TestRunLooksAtItsContext(t *testing.T) {
	const mb = 1 << 20
	for _, tt := range []struct {
		name          string
		data, indices garner.Spec
		op            garner.Op
		bytes         int
	}{
		{"short rows", garner.SpecOf(garner.F32, 1000, 16), garner.SpecOf(garner.I64, 500_000), strict.Gather{}, 32 * mb},
		{"long rows", garner.SpecOf(garner.U8, 2, 16*mb), garner.SpecOf(garner.I64, 2), strict.Gather{}, 32 * mb},
		{"columns", garner.SpecOf(garner.I64, 4096, 1024), garner.SpecOf(garner.I64, 1024), strict.Gather{Axis: 1}, 32 * mb},
		{"elements", garner.SpecOf(garner.I64, 2, mb), garner.SpecOf(garner.I64, 4, mb), strict.GatherElements{}, 32 * mb},
		{"a copy", garner.SpecOf(garner.U8, 16*mb), garner.SpecOf(garner.I64, 2, 0), strict.GatherND{}, 32 * mb},
		{"only indices", garner.SpecOf(garner.U8, 8, 0), garner.SpecOf(garner.I64, 4*mb), strict.Gather{}, 32 * mb},
	} {
		for _, threads := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s on %d", tt.name, threads), func(t *testing.T) {
				ds, _ := tt.data.Shape()
				is, _ := tt.indices.Shape()
				data, _ := garner.New(tt.data.DType, ds...)
				indices, _ := garner.New(tt.indices.DType, is...)
				p := prepare(t, tt.op, data, indices, garner.Threads(threads))
				out, err := garner.New(p.Plan().DType, p.Plan().Out...)
				if err != nil {
					t.Fatal(err)
				}
				ctx := &looks{Context: context.Background()}
				ctx.end.Store(math.MaxInt64)
				if err := p.Run(ctx, data, indices, out); err != nil {
					t.Fatal(err)
				}
				if n := ctx.seen.Load(); n < int64(tt.bytes/mb) {
					t.Errorf("%d MB were moved with %d looks at the context", tt.bytes/mb, n)
				}
				ctx.seen.Store(0)
				ctx.end.Store(5)
				if err := p.Run(ctx, data, indices, out); err == nil {
					t.Error("a context that ended under way went unseen")
				}
				if n := ctx.seen.Load(); n > 5+2*int64(threads) {
					t.Errorf("%d looks at a context that had ended", n-5)
				}
			})
		}
	}
}

func TestCancel(t *testing.T) {
	data, indices, out := large(t, 1000, 1_000_000)
	p := prepare(t, strict.Gather{}, data, indices, garner.Threads(4))
	before := runtime.NumGoroutine()
	why := errors.New("no longer wanted")
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		time.Sleep(2 * time.Millisecond)
		cancel(why)
	}()
	for {
		if err := p.Run(ctx, data, indices, out); err != nil {
			if !errors.Is(err, why) {
				t.Errorf("%v, want the cause", err)
			}
			break
		}
	}
	for try := 0; runtime.NumGoroutine() > before; try++ {
		if try == 6000 {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(10 * time.Millisecond)
	}
	// The Prepared still works.
	if err := p.Run(context.Background(), data, indices, out); err != nil {
		t.Fatal(err)
	}
	want, err := garner.Reference(strict.Gather{}, data, indices)
	if err != nil || !gathertest.Equal(out, want) {
		t.Errorf("after a cancelled run the next is wrong (%v)", err)
	}
}

func TestFirstBadIndex(t *testing.T) {
	data, indices, out := large(t, 1000, 300_000)
	at, _ := garner.Values[int64](indices)
	at[123_456], at[123_457], at[299_999], at[200_000] = 1000, -1, math.MaxInt64, math.MinInt64
	for threads := 1; threads <= 4; threads++ {
		p := prepare(t, strict.Gather{}, data, indices, garner.Threads(threads))
		for range 3 {
			err := p.Run(context.Background(), data, indices, out)
			var ie *garner.IndexError
			if !errors.As(err, &ie) || !errors.Is(err, garner.ErrIndex) {
				t.Fatalf("%d threads: %v", threads, err)
			}
			want := "garner: indices[123456] = 1000 is outside axis 0 of data, which has 0…999 (3 more of 300000 indices are outside)"
			if err.Error() != want || ie.Others != 3 || ie.Total != 300_000 || !slices.Equal(ie.Position, []int{123456}) {
				t.Errorf("%d threads: %v", threads, err)
			}
		}
	}
}

// TestFarIndices holds that index values are neither narrowed nor wrapped.
func TestFarIndices(t *testing.T) {
	data := garner.Of([]int8{1, 2, 3}, 3)
	for _, tt := range []struct {
		indices garner.Tensor
		value   string
	}{
		{garner.Of([]int64{1 << 32}, 1), "4294967296"},
		{garner.Of([]int64{1<<32 + 1}, 1), "4294967297"},
		{garner.Of([]int64{math.MaxInt64}, 1), "9223372036854775807"},
		{garner.Of([]int64{math.MinInt64}, 1), "-9223372036854775808"},
		{garner.Of([]uint64{math.MaxUint64}, 1), "18446744073709551615"},
		{garner.Of([]uint64{1 << 63}, 1), "9223372036854775808"},
		{garner.Of([]uint32{math.MaxUint32}, 1), "4294967295"},
		{garner.Of([]int8{-128}, 1), "-128"},
		{garner.Of([]uint8{255}, 1), "255"},
		{garner.Of([]int16{-4}, 1), "-4"},
	} {
		for _, negative := range []garner.Negative{garner.Reject, garner.FromEnd} {
			message := gathertest.CheckError(t, garner.WithNegative(strict.Gather{}, negative), data, tt.indices, garner.ErrIndex)
			if !strings.Contains(message, "indices[0] = "+tt.value+" is outside axis 0 of data") {
				t.Errorf("%s: %s", tt.value, message)
			}
		}
	}
	u := garner.Of([]uint64{math.MaxUint64, 1 << 63, 4, 2}, 4)
	gathertest.Check(t, garner.WithOutside(strict.Gather{}, garner.Wrap), data, u, garner.Of([]int8{1, 3, 2, 3}, 4)) // 2^64-1 = 0, 2^63 = 2, 4 = 1 modulo 3
	gathertest.Check(t, garner.WithOutside(strict.Gather{}, garner.Clamp), data, u, garner.Of([]int8{3, 3, 3, 3}, 4))
	gathertest.Check(t, garner.WithOutside(strict.Gather{}, garner.Zero), data, u, garner.Of([]int8{0, 0, 0, 3}, 4))
	i := garner.Of([]int64{math.MinInt64, math.MaxInt64, -1, -3, -4}, 5)
	gathertest.Check(t, garner.WithOutside(strict.Gather{}, garner.Wrap), data, i, garner.Of([]int8{2, 2, 3, 1, 3}, 5)) // -2^63 = 1, 2^63-1 = 1 modulo 3
	gathertest.Check(t, garner.WithOutside(strict.Gather{}, garner.Clamp), data, i, garner.Of([]int8{1, 3, 1, 1, 1}, 5))
	fromEnd := garner.WithNegative(garner.WithOutside(strict.Gather{}, garner.Clamp), garner.FromEnd)
	gathertest.Check(t, fromEnd, data, i, garner.Of([]int8{1, 3, 3, 1, 1}, 5))
}

func TestOutputIsRefused(t *testing.T) {
	ctx := context.Background()
	mem := []int32{1, 2, 3, 4, 5, 6, 7, 8}
	data, at := garner.Of(mem[:4], 4), garner.Of([]int64{3, 0}, 2)
	p := prepare(t, strict.Gather{}, data, at)
	view := func(shape, strides []int, b []int32) garner.Tensor {
		bytes, _ := garner.Of(b, len(b)).Bytes()
		v, err := garner.FromStrided(garner.I32, bytes, 0, shape, strides)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, tt := range []struct {
		name               string
		data, indices, out garner.Tensor
		class              error
		message            string
	}{
		{"an input", data, at, garner.Of(mem[2:4], 2), garner.ErrOverlap, "shares memory with an input"},
		{"its own elements", data, at, view([]int{2}, []int{0}, mem[4:]), garner.ErrOverlap, "let its own elements overlap"},
		{"dtype", data, at, garner.Of([]int64{0, 0}, 2), garner.ErrDType, "the output is i64; the result is i32"},
		{"shape", data, at, garner.Of([]int32{0, 0, 0}, 3), garner.ErrShape, "the output is i32[3]; the result is i32[2]"},
		{"data of another dtype", garner.Of([]int64{1, 2, 3, 4}, 4), at, garner.Of(mem[4:6], 2), garner.ErrDType, "data is i64; the plan was prepared for i32"},
		{"data of another shape", garner.Of(mem[:3], 3), at, garner.Of(mem[4:6], 2), garner.ErrShape, "data is i32[3]; the plan was prepared for i32[4]"},
		{"indices of another shape", data, garner.Of([]int64{3}, 1), garner.Of(mem[4:6], 2), garner.ErrShape, "indices is i64[1]"},
		{"no tensor", data, at, garner.Tensor{}, garner.ErrDType, "the output is invalid"},
	} {
		err := p.Run(ctx, tt.data, tt.indices, tt.out)
		if !errors.Is(err, tt.class) || !strings.Contains(err.Error(), tt.message) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.message)
		}
	}
	if !slices.Equal(mem, []int32{1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Errorf("a refused run wrote: %v", mem)
	}
	// Adjacent memory is accepted, and so are strings.
	if err := p.Run(ctx, data, at, garner.Of(mem[4:6], 2)); err != nil || mem[4] != 4 || mem[5] != 1 {
		t.Error(err, mem)
	}
	s := []string{"a", "b", "c"}
	if err := garner.GatherInto(ctx, strict.Gather{}, garner.Of(s, 3), garner.Of([]int64{1}, 1), garner.Of(s[2:], 1)); !errors.Is(err, garner.ErrOverlap) {
		t.Errorf("strings: %v", err)
	}
}

// into runs a gather into a view in the middle of memory that must stay as it
// is around it.
func into(r *rand.Rand, options ...garner.PrepareOption) gathertest.Executor {
	return func(ctx context.Context, op garner.Op, data, indices garner.Tensor, more ...garner.Tensor) (garner.Tensor, error) {
		p, err := garner.Prepare(op, data.Spec(), indices.Spec(), with(options, more)...)
		if err != nil {
			return garner.Tensor{}, err
		}
		dtype, shape, err := resultOf(p, op, data, indices, more)
		if err != nil {
			return garner.Tensor{}, err
		}
		perm := r.Perm(len(shape))
		wide := make([]int, len(shape))
		lead := r.IntN(4)
		for i, n := range perm {
			wide[n] = shape[i]
		}
		if len(wide) > 0 {
			wide[0] += lead + r.IntN(4)
		}
		memory, err := garner.New(dtype, wide...)
		if err != nil {
			return garner.Tensor{}, err
		}
		b, packed := []byte(nil), dtype == garner.String
		if !packed {
			b, _ = memory.Bytes()
			for i := range b {
				b[i] = 0xa5
			}
		}
		v := memory
		if len(wide) > 0 {
			n := shape[slices.Index(perm, 0)]
			if v, err = v.Slice(0, lead, lead+n, 1); err != nil {
				return garner.Tensor{}, err
			}
		}
		if v, err = v.Transpose(perm...); err != nil {
			return garner.Tensor{}, err
		}
		before := slices.Clone(b)
		if err := p.Run(ctx, data, indices, v, more...); err != nil {
			return garner.Tensor{}, err
		}
		got, err := v.Clone()
		if err != nil || packed {
			return got, err
		}
		// With the view's elements restored, nothing differs.
		fresh, err := garner.FromBytes(dtype, before, wide...)
		if err != nil {
			return garner.Tensor{}, err
		}
		w := fresh
		if len(wide) > 0 {
			w, _ = w.Slice(0, lead, lead+shape[slices.Index(perm, 0)], 1)
		}
		w, _ = w.Transpose(perm...)
		if err := garner.Copy(v, w); err != nil {
			return garner.Tensor{}, err
		}
		if !slices.Equal(b, before) {
			return garner.Tensor{}, errors.New("wrote outside the output")
		}
		return got, nil
	}
}

func TestIntoViews(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	t.Run("whole", func(t *testing.T) { gathertest.Run(t, into(r)) })
	t.Run("cut small", func(t *testing.T) { gathertest.Run(t, into(r, garner.Threads(3), garner.Cut(8, 16, 64))) })
}

// TestPreparedAgain holds that a Prepared runs any strides, any number of
// times.
func TestPreparedAgain(t *testing.T) {
	values := make([]int16, 60)
	for i := range values {
		values[i] = int16(i)
	}
	data := garner.Of(values, 6, 10)
	turned, _ := garner.Of(values, 10, 6).Transpose()
	at := garner.Of([]int64{5, 0, 3}, 3)
	p := prepare(t, strict.Gather{}, data, at)
	for i := range 6 {
		d := data
		if i%2 == 1 {
			d = turned
		}
		out, _ := garner.New(garner.I16, 3, 10)
		if i > 3 {
			out, _ = garner.New(garner.I16, 10, 3)
			out, _ = out.Transpose()
		}
		if err := p.Run(context.Background(), d, at, out); err != nil {
			t.Fatal(err)
		}
		if want, _ := garner.Reference(strict.Gather{}, d, at); !gathertest.Equal(out, want) {
			t.Errorf("run %d: %v, want %v", i, out, want)
		}
	}
}

func TestEmptyIsCheckedToo(t *testing.T) {
	for _, tt := range []struct {
		op            garner.Op
		data, indices garner.Spec
	}{
		{strict.Gather{}, garner.SpecOf(garner.F32, 3, 0), garner.SpecOf(garner.I64, 1)},
		{strict.Gather{Axis: 1}, garner.SpecOf(garner.F32, 0, 3), garner.SpecOf(garner.I64, 2)},
		{strict.GatherND{}, garner.SpecOf(garner.String, 3, 0), garner.SpecOf(garner.I8, 2, 1)},
		{strict.GatherND{}, garner.SpecOf(garner.U4, 0), garner.SpecOf(garner.I8, 1)},
		{strict.Gather{}, garner.SpecOf(garner.F32, 0), garner.SpecOf(garner.I64, 3)},
		{strict.GatherElements{Axis: 1}, garner.SpecOf(garner.F32, 2, 0), garner.SpecOf(garner.I64, 2, 3)},
		{strict.GatherElements{}, garner.SpecOf(garner.F32, 0, 600), garner.SpecOf(garner.I64, 3, 600)},
	} {
		ds, _ := tt.data.Shape()
		is, _ := tt.indices.Shape()
		data, _ := garner.New(tt.data.DType, ds...)
		indices, _ := garner.New(tt.indices.DType, is...)
		if err := indices.SetText(0, "3"); err != nil {
			t.Fatal(err)
		}
		gathertest.CheckError(t, tt.op, data, indices, garner.ErrIndex)
		for _, o := range []garner.Outside{garner.Clamp, garner.Wrap} {
			if len(ds) == 1 {
				gathertest.CheckError(t, garner.WithOutside(tt.op, o), data, indices, garner.ErrIndex)
			}
		}
	}
}

func TestPlanNeedsKnownDims(t *testing.T) {
	some := garner.SpecOfDims(garner.F32, garner.AnyDim, garner.Exactly(2))
	at := garner.SpecOf(garner.I64, 2)
	if _, err := garner.NewPlan(strict.Gather{}, some, at); !errors.Is(err, garner.ErrShape) {
		t.Error(err)
	}
	if _, err := garner.Prepare(strict.Gather{}, some, at); !errors.Is(err, garner.ErrShape) {
		t.Error(err)
	}
}

func BenchmarkRun(b *testing.B) {
	data, indices, out := large(b, 1<<16, 1<<20)
	for _, threads := range []int{1, runtime.GOMAXPROCS(0)} {
		b.Run(fmt.Sprintf("rows-64/threads-%d", threads), func(b *testing.B) {
			p := prepare(b, strict.Gather{}, data, indices, garner.Threads(threads))
			b.SetBytes(int64(64 * indices.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Run(context.Background(), data, indices, out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("tiny", func(b *testing.B) {
		data, at, out := garner.Of([]int32{1, 2, 3, 4}, 2, 2), garner.Of([]int64{0, 0, 1, 0}, 2, 2), garner.Of(make([]int32, 2), 2)
		p := prepare(b, strict.GatherND{}, data, at)
		b.ReportAllocs()
		for b.Loop() {
			if err := p.Run(context.Background(), data, at, out); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestPreparedWithin holds both results of a run that begins during another run
// of the same Prepared, even inside it and over other strides.
func TestPreparedWithin(t *testing.T) {
	data, indices, out := large(t, 1000, 100_000)
	want, err := garner.Reference(strict.Gather{}, data, indices)
	if err != nil {
		t.Fatal(err)
	}
	turned, err := garner.Of(make([]float32, 16*1000), 16, 1000).Transpose()
	if err != nil {
		t.Fatal(err)
	}
	if err := garner.Copy(turned, data); err != nil {
		t.Fatal(err)
	}
	other := garner.Of(make([]float32, out.Len()), out.Shape()...)
	var p *garner.Prepared
	within := false
	p = prepare(t, strict.Gather{}, data, indices, garner.Threads(2), garner.Progress(func(done, total int64) {
		if within {
			return
		}
		within = true
		defer func() { within = false }()
		operand := turned
		if done == total {
			operand = data
		}
		if err := p.Run(context.Background(), operand, indices, other); err != nil || !gathertest.Equal(other, want) {
			t.Errorf("a run within a run: %v, or its result is wrong", err)
		}
	}))
	for range 2 {
		if err := p.Run(context.Background(), data, indices, out); err != nil || !gathertest.Equal(out, want) {
			t.Errorf("%v, or the result is wrong", err)
		}
	}
}
