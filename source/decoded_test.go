package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/gguf"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/openvino"
	"github.com/garner-go/garner/torch"
)

// A watched is an Array whose Fetch first calls before, with the number of the call.
type watched struct {
	Array
	calls  atomic.Int64
	before func(ctx context.Context, n int, rows Rows) error
}

func (w *watched) Fetch(ctx context.Context, rows Rows) error {
	if err := w.before(ctx, int(w.calls.Add(1)), rows); err != nil {
		return err
	}
	return w.Array.Fetch(ctx, rows)
}

// limited is the test's context, which ends where a Fetch waits for one that never comes.
func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// await returns when done is closed, or with the cause where ctx ends.
func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// storedTables are tables of stored rows whose elements are finite, with operators that
// gather from them.
func storedTables(t *testing.T, rows int) map[string]storedCase {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 8))
	numbers := func(width int, fixed string, at int) garner.Tensor {
		table := tensor(r, garner.U8, rows, width)
		b, err := table.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		for row := range rows {
			copy(b[row*width+at:], fixed)
		}
		return table
	}
	return map[string]storedCase{
		"Q4_K":   {op: gguf.GetRows{Type: "Q4_K"}, data: numbers(2*144, "\x00\x3c\x00\x3c", 0)},
		"FBGEMM": {op: torch.QuantizedEmbedding{Bits: 8}, data: numbers(40, "\x00\x00\x80\x3f\x00\x00\x00\x3f", 32)},
	}
}

// TestStoredRowsAreReadAhead holds that rows of stored data are read while those before are
// decoded, and that each is decoded from the bytes that were read to its place: nothing but
// stored bytes is staged.
func TestStoredRowsAreReadAhead(t *testing.T) {
	const each = leastPiece + 30 // rows of a part
	const rows = pieces * each
	ids := make([]int64, 2*rows)
	for i := range ids {
		ids[i] = int64(i % rows)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	at := garner.Of(ids, len(ids))
	for name, c := range storedTables(t, rows) {
		noLeak(t)
		want, err := garner.Gather(c.op, c.data, at)
		if err != nil {
			t.Fatal(err)
		}
		var begun [pieces]chan struct{}
		for i := range begun {
			begun[i] = make(chan struct{})
		}
		// The Fetch of a part ends once that of the next has begun.
		fetched, width := &counted{Array: Memory(c.data)}, int64(c.data.Shape()[1])
		data := &watched{Array: fetched, before: func(ctx context.Context, _ int, rows Rows) error {
			part := rows.At[0] / width / each
			if close(begun[part]); part == pieces-1 {
				return nil
			}
			return await(ctx, begun[part+1])
		}}
		ctx := limited(t)
		g, err := newGather(ctx, c.op, data, Memory(at), Options{})
		if err != nil {
			t.Fatal(err)
		}
		h, err := held(data)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, g.size)
		err = g.all(ctx, h, got)
		staged := len(g.fetcher.stage)
		g.free()
		if err != nil || !bytes.Equal(got, bytesOf(t, want)) {
			t.Fatalf("%s: %v", name, err)
		}
		stored := len(bytesOf(t, c.data))
		if n := data.calls.Load(); n != pieces || fetched.bytes != stored {
			t.Errorf("%s: %d bytes were read by %d Fetches; the rows have %d, and are read in %d parts", name, fetched.bytes, n, stored, pieces)
		}
		if most := (2*stored + pageBytes) &^ (pageBytes - 1); staged > most {
			t.Errorf("%s: %d bytes were staged; the rows of the result, with repeats, are stored in %d", name, staged, 2*stored)
		}
	}
}

// TestStoredRowsFail ends a run at each of its reads of stored rows: by an error, by a
// panic, by its context.
func TestStoredRowsFail(t *testing.T) {
	const rows = pieces * leastPiece
	bad := errors.New("bad")
	for name, c := range storedTables(t, rows) {
		for n := 1; n <= pieces; n++ {
			for how, fail := range map[string]func(cancel context.CancelCauseFunc, ctx context.Context) error{
				"an error": func(context.CancelCauseFunc, context.Context) error { return bad },
				"a panic":  func(context.CancelCauseFunc, context.Context) error { panic(bad) },
				"its context": func(cancel context.CancelCauseFunc, ctx context.Context) error {
					cancel(bad)
					return ctx.Err()
				},
			} {
				noLeak(t)
				ctx, cancel := context.WithCancelCause(limited(t))
				size, _ := sizeOf(c.data.Spec())
				data := &watched{Array: Memory(c.data), before: func(ctx context.Context, _ int, r Rows) error {
					switch part := int(r.At[0]*pieces/size) + 1; {
					case part == n:
						return fail(cancel, ctx)
					case part > n: // is ended by the one before
						<-ctx.Done()
						return ctx.Err()
					}
					return nil
				}}
				err := caught(func() error {
					return Gather(ctx, c.op, data, Memory(every(rows)), io.Discard, Options{})
				})
				cancel(nil)
				if !errors.Is(err, bad) && !(how == "its context" && errors.Is(err, context.Canceled)) {
					t.Errorf("%s, %s at read %d: %v", name, how, n, err)
				}
			}
		}
	}
}

// caught is f, or the error that it panics with.
func caught(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = v.(error)
		}
	}()
	return f()
}

// scaledRows is a gather of codes whose scales and zero points lie apart, over Arrays that
// call before with the number of the operand and of the Fetch.
func scaledRows(t *testing.T, before func(ctx context.Context, operand, n int) error) (op garner.Op, operands [3]Array, indices, want garner.Tensor) {
	t.Helper()
	const rows, columns, block = 50, 64, 16
	size := block
	op = onnx.MicrosoftGatherBlockQuantized1{BlockSize: &size}
	r := rand.New(rand.NewPCG(5, 6))
	scales := tensor(r, garner.F32, rows, columns/block)
	for i := range scales.Len() {
		_ = scales.SetText(i, "0.5")
	}
	tensors := [3]garner.Tensor{tensor(r, garner.U4, rows, columns), scales, tensor(r, garner.U4, rows, columns/block)}
	for k, x := range tensors {
		operands[k] = &watched{Array: Memory(x), before: func(ctx context.Context, n int, _ Rows) error { return before(ctx, k, n) }}
	}
	indices = every(rows)
	want, err := garner.Gather(op, tensors[0], indices, tensors[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	return op, operands, indices, want
}

// TestScalesAreReadBesideCodes holds that codes, scales and zero points that lie apart are
// read side by side: a Fetch of one ends once those of the others have begun.
func TestScalesAreReadBesideCodes(t *testing.T) {
	noLeak(t)
	var begun sync.WaitGroup
	begun.Add(3)
	all := make(chan struct{})
	go func() {
		begun.Wait()
		close(all)
	}()
	op, operands, indices, want := scaledRows(t, func(ctx context.Context, operand, n int) error {
		if n == 1 {
			begun.Done()
		}
		return await(ctx, all)
	})
	var out bytes.Buffer
	if err := Gather(limited(t), op, operands[0], Memory(indices), &out, Options{Further: operands[1:]}); err != nil || !bytes.Equal(out.Bytes(), bytesOf(t, want)) {
		t.Fatal(err)
	}
	const budget = 64 << 20
	g, err := newGather(t.Context(), op, operands[0], Memory(indices), Options{Memory: budget, Further: operands[1:]})
	if err == nil {
		err = g.begin(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer g.free()
	if got := g.budget(); got != budget-decodedBytes-3*readers*readBytes {
		t.Errorf("%d bytes of a budget of %d are left to rows: scratch takes %d, and the requests of each of three Fetches %d", got, budget, decodedBytes, readers*readBytes)
	}
}

// TestScalesFail fails the reads of operands that are read side by side. The error is that
// of the first operand that fails, and ends the reads of those behind.
func TestScalesFail(t *testing.T) {
	errs := [3]error{errors.New("codes"), errors.New("scales"), errors.New("zero points")}
	for first := range errs {
		for second := first; second < len(errs); second++ {
			for _, panics := range []bool{false, true} {
				noLeak(t)
				failed := make(chan struct{})
				op, operands, indices, _ := scaledRows(t, func(ctx context.Context, operand, n int) error {
					switch {
					case operand == first:
						if second > first {
							if err := await(ctx, failed); err != nil {
								return err
							}
						}
						if panics {
							panic(errs[first])
						}
						return errs[first]
					case operand == second:
						close(failed)
						return errs[second]
					case operand > first:
						<-ctx.Done()
						return ctx.Err()
					}
					return nil
				})
				err := caught(func() error {
					return Gather(limited(t), op, operands[0], Memory(indices), io.Discard, Options{Further: operands[1:]})
				})
				if !errors.Is(err, errs[first]) {
					t.Errorf("%v and %v fail, panics %v: %v", errs[first], errs[second], panics, err)
				}
			}
		}
	}
	noLeak(t)
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(limited(t))
	op, operands, indices, _ := scaledRows(t, func(ctx context.Context, operand, n int) error {
		if operand == 1 {
			cancel(stop)
		}
		<-ctx.Done()
		return context.Cause(ctx)
	})
	if err := Gather(ctx, op, operands[0], Memory(indices), io.Discard, Options{Further: operands[1:]}); !errors.Is(err, stop) {
		t.Errorf("a run that was stopped: %v", err)
	}
}

// TestViewsAreNotCopied holds that stored data in memory which is not row-major is read in
// place by a run that needs no copy of it, in a budget without room for one.
func TestViewsAreNotCopied(t *testing.T) {
	const n = 1 << 10
	table := tensor(rand.New(rand.NewPCG(3, 4)), garner.U8, 1<<6, n)
	table, err := table.Transpose(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	op, ids := torch.QuantizedEmbedding{Bits: 8}, garner.Of([]int64{5, 3, n - 1}, 3)
	want, err := garner.Reference(op, table, ids)
	if err != nil {
		t.Fatal(err)
	}
	for _, budget := range []int64{0, 1 << 14} {
		for _, whole := range []bool{false, true} {
			var got garner.Tensor
			took := allocatedBytes(func() { got, err = cold(t, Memory, budget, whole)(t.Context(), op, table, ids) })
			if err != nil || !gathertest.Equal(got, want) || took > 1<<15 {
				t.Errorf("budget %d, into memory %v: %v; %d bytes were allocated, of a table of %d", budget, whole, err, took, 1<<6*n)
			}
		}
	}
}

// TestShortStoredRowsKeepTheBudget holds that what a run allocates for rows of a few stored
// bytes, their places and keys of each operand among it, stays within the budget.
func TestShortStoredRowsKeepTheBudget(t *testing.T) {
	const n, budget = 1 << 21, 16 << 20
	r := rand.New(rand.NewPCG(3, 4))
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = r.Int64N(n)
	}
	codes, scales, at := garner.Of(make([]byte, n), n, 1), garner.Of(make([]float32, n), n, 1), garner.Of(ids, n)
	var err error
	took := allocatedBytes(func() {
		err = Gather(t.Context(), openvino.CompressedGather{}, plain{Memory(codes)}, plain{Memory(at)}, io.Discard, Options{Memory: budget, Further: []Array{plain{Memory(scales)}, nil}})
	})
	if err != nil || took > budget {
		t.Errorf("%d bytes were allocated, %v", took, err)
	}
}
