package garner_test

import (
	"context"
	"errors"
	"io/fs"
	"sync/atomic"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/strict"
)

// counted is a Keeper that counts.
type counted struct {
	gone, cut           error
	holds, checks, open atomic.Int64
	most                atomic.Int64 // bytes of the last Check
}

func (c *counted) Hold() error {
	if c.gone != nil {
		return c.gone
	}
	c.holds.Add(1)
	c.open.Add(1)
	return nil
}

func (c *counted) Check(read []byte) error {
	c.checks.Add(1)
	if c.open.Load() < 1 {
		return errors.New("a check of memory that is not held")
	}
	c.most.Store(int64(len(read)))
	return c.cut
}

func (c *counted) Release() { c.open.Add(-1) }

// reading are all calls that read elements of a tensor of 4 x 6 i64, whose elements
// are 0 and 1.
func reading(t *testing.T, x garner.Tensor) map[string]func() error {
	t.Helper()
	ctx := context.Background()
	zero, flat := garner.Of([]int64{0, 1}, 2), garner.Of([]int64{5, 6}, 2)
	into := garner.Of(make([]int64, 12), 2, 6)
	prepared := prepare(t, strict.Gather{}, x, zero)
	tiny, err := x.Slice(0, 0, 2, 1) // [2,2], whose run is a few rows
	if err == nil {
		tiny, err = tiny.Slice(1, 0, 2, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	few := prepare(t, strict.Gather{}, tiny, zero)
	batches, err := garner.Prepare(onnx.Gather13{}, x.Spec(), garner.SpecOfDims(garner.I64, garner.AnyDim))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := garner.NewPlan(strict.Gather{}, flat.Spec(), x.Spec())
	if err != nil {
		t.Fatal(err)
	}
	turned, err := x.Transpose()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]func() error{
		"Gather":       func() error { _, err := garner.Gather(strict.Gather{}, x, zero); return err },
		"Gather by it": func() error { _, err := garner.Gather(strict.Gather{}, flat, x); return err },
		"both":         func() error { _, err := garner.Gather(strict.Gather{}, x, x); return err },
		"GatherInto":   func() error { return garner.GatherInto(ctx, strict.Gather{}, x, zero, into) },
		"Run":          func() error { return prepared.Run(ctx, x, zero, into) },
		"Run of few":   func() error { return few.Run(ctx, tiny, zero, garner.Of(make([]int64, 4), 2, 2)) },
		"Run of batch": func() error { return batches.Run(ctx, x, zero, into) },
		"Reference":    func() error { _, err := garner.Reference(strict.Gather{}, x, zero); return err },
		"Copy":         func() error { return garner.Copy(garner.Of(make([]int64, 24), 4, 6), x) },
		"Clone":        func() error { _, err := turned.Clone(); return err },
		"ToRows":       func() error { _, err := garner.ToRows[int64](x); return err },
		"Int":          func() error { _, err := x.Int(3); return err },
		"Float64":      func() error { _, err := turned.Float64(3); return err },
		"At":           func() error { _, err := x.At(1, 1); return err },
		"SetText":      func() error { return x.SetText(3, "1") },
		"Check":        func() error { return plan.Check(ctx, x) },
		"Survey":       func() error { _, err := plan.Survey(ctx, x); return err },
		"Meaning":      func() error { _, err := plan.Meaning(x, 3); return err },
		"Rows":         func() error { _, err := plan.Rows(make([]int64, 24), x, 0); return err },
		"Guard":        func() error { return x.Guard(func(held garner.Tensor) error { _, err := held.Bytes(); return err }) },
		"Guard, Clone": func() error { return x.Guard(func(held garner.Tensor) error { _, err := held.Clone(); return err }) },
		"Guard of view": func() error {
			return turned.Guard(func(held garner.Tensor) error { _, err := held.At(0, 0); return err })
		},
	}
}

// TestKeeper holds that every call that reads elements holds the memory once, looks at
// it again before it answers, and releases it, whatever comes of it.
func TestKeeper(t *testing.T) {
	values := make([]int64, 24)
	for i := range values {
		values[i] = int64(i % 2)
	}
	base := garner.Of(values, 4, 6)
	cut, gone := errors.New("cut"), errors.New("gone")
	for _, tt := range []struct {
		name      string
		gone, cut error
	}{{"there", nil, nil}, {"cut", nil, cut}, {"gone", gone, nil}} {
		k := &counted{gone: tt.gone, cut: tt.cut}
		for name, call := range reading(t, base.KeptBy(k)) {
			k.holds.Store(0)
			k.checks.Store(0)
			err := call()
			want := errors.Join(tt.gone, tt.cut)
			if want == nil && err != nil || want != nil && err != tt.gone && err != tt.cut {
				t.Errorf("%s, %s: %v", name, tt.name, err)
			}
			if n := k.open.Load(); n != 0 {
				t.Errorf("%s, %s: %d holds are open", name, tt.name, n)
			}
			if tt.gone == nil && (k.holds.Load() == 0 || k.checks.Load() == 0) {
				t.Errorf("%s, %s: %d holds, %d checks", name, tt.name, k.holds.Load(), k.checks.Load())
			}
		}
	}
	k := new(counted)
	// Views of it are kept too, and Check gets the bytes of the view.
	row, err := base.KeptBy(k).Slice(0, 2, 3, 1)
	if err == nil {
		row, err = row.Reshape(6)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := row.Clone(); err != nil || row.Keeper() != garner.Keeper(k) || k.most.Load() != 48 {
		t.Errorf("%v, %d bytes are checked, want 48", err, k.most.Load())
	}
	if x := row.KeptBy(nil); x.Keeper() != nil {
		t.Error("it is kept")
	}
	// A fill is copied when the operator is lowered.
	fill := garner.WithFill(strict.Gather{}, garner.Of([]int64{7}).KeptBy(k))
	if out, err := garner.Gather(fill, base, garner.Of([]int64{-1}, 1)); err != nil || out.Text() != "[[7, 7, 7, 7, 7, 7]]" {
		t.Error(out, err)
	}
	if _, err := garner.NewPlan(garner.WithFill(strict.Gather{}, garner.Of([]int64{7}).KeptBy(&counted{gone: gone})), base.Spec(), garner.SpecOf(garner.I64, 1)); err != gone {
		t.Errorf("%v, want the error of a fill that is gone", err)
	}
	// A text has no error beside it.
	if text := base.KeptBy(&counted{gone: gone}).Text(); text != "<gone>" {
		t.Error(text)
	}
	if text := row.String(); text != "i64[6] [0, 1, 0, 1, 0, 1]" {
		t.Error(text)
	}
	// A panic ends the hold.
	func() {
		defer func() { _ = recover() }()
		_ = row.Guard(func(garner.Tensor) error { panic("on purpose") })
	}()
	if n := k.open.Load(); n != 0 {
		t.Errorf("%d holds are open after a panic", n)
	}
	// Refused indices that may be zeros of a file that was cut.
	k.cut = cut
	if _, err := garner.Gather(strict.Gather{}, garner.Of([]int64{}, 0), base.KeptBy(k)); err != cut {
		t.Errorf("%v, want the cut", err)
	}
	// An index outside of data that was cut is still one.
	if _, err := garner.Gather(strict.Gather{}, base.KeptBy(k), garner.Of([]int64{9}, 1)); !errors.Is(err, garner.ErrIndex) {
		t.Errorf("%v, want an ErrIndex", err)
	}
}

// TestKeptAllocatesNothing holds that a run over kept memory allocates nothing.
func TestKeptAllocatesNothing(t *testing.T) {
	data, indices, out := large(t, 1000, 5000)
	k := new(counted)
	data, indices = data.KeptBy(k), indices.KeptBy(k)
	p := prepare(t, strict.Gather{}, data, indices)
	if n := testing.AllocsPerRun(50, func() {
		if err := p.Run(context.Background(), data, indices, out); err != nil {
			t.Fatal(err)
		}
	}); n != 0 && !raceEnabled {
		t.Errorf("a run makes %v allocations", n)
	}
}

// TestZeroPrepared holds that the zero Prepared is an error.
func TestZeroPrepared(t *testing.T) {
	var p garner.Prepared
	x := garner.Of([]int64{0}, 1)
	if err := p.Run(context.Background(), x, x, x); err == nil || errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	if p.Plan() != nil || p.Regime().String() == "" {
		t.Error("it has a plan")
	}
}

// TestPanics holds that a panic of Progress, or of a context on any core, is one of the
// caller, and that the next run is right.
func TestPanics(t *testing.T) {
	data, indices, out := large(t, 1000, 300_000)
	for name, run := range map[string]func() error{
		"Progress": func() error {
			p := prepare(t, strict.Gather{}, data, indices, garner.Threads(4), garner.Progress(func(done, total int64) { panic("on purpose") }))
			return p.Run(context.Background(), data, indices, out)
		},
		"context": func() error {
			p := prepare(t, strict.Gather{}, data, indices, garner.Threads(4))
			c := &panicky{Context: context.Background()}
			c.left.Store(5)
			return p.Run(c, data, indices, out)
		},
	} {
		for range 20 {
			func() {
				defer func() {
					if r := recover(); r != "on purpose" {
						t.Errorf("%s: recovered %v", name, r)
					}
				}()
				t.Errorf("%s: no panic: %v", name, run())
			}()
		}
	}
	if err := prepare(t, strict.Gather{}, data, indices, garner.Threads(4)).Run(context.Background(), data, indices, out); err != nil {
		t.Error(err)
	}
}

// panicky is a context that panics after some looks at it, on whichever goroutine.
type panicky struct {
	context.Context
	left atomic.Int64
}

func (p *panicky) Err() error {
	if p.left.Add(-1) < 0 {
		panic("on purpose")
	}
	return nil
}
