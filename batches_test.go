package garner_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/numpy"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/openvino"
	"github.com/garner-go/garner/strict"
)

// A batchCase is an operator prepared for indices whose leading dim is a range.
type batchCase struct {
	name    string
	op      garner.Op
	data    garner.Tensor
	indices string // the Spec in ParseSpec's form
	low     int    // the lengths that it has
	high    int
}

func batchCases(t *testing.T) []batchCase {
	t.Helper()
	rows := numbered(t, garner.F32, 1000, 16)
	narrow := numbered(t, garner.F32, 3, 50)
	cube := numbered(t, garner.F32, 20, 30, 40, 2)
	words := numbered(t, garner.String, 100)
	return []batchCase{
		{"Gather-13 of any length", onnx.Gather13{}, rows, "i64[?]", 0, garner.Unbounded},
		{"Gather-13 of 1 to 4096", onnx.Gather13{}, rows, "i64[1..4096]", 1, 4096},
		{"Gather-13 of triples", onnx.Gather13{}, rows, "i64[?,3]", 0, garner.Unbounded},
		{"Gather-13 along axis 1", onnx.Gather13{Axis: 1}, narrow, "i64[?]", 0, garner.Unbounded},
		{"Gather-13 of strings", onnx.Gather13{}, words, "i64[?]", 0, garner.Unbounded},
		{"Gather-8 of any length", openvino.Gather8{}, rows, "i64[?]", 0, garner.Unbounded},
		{"Gather-8 of 1 to 4096", openvino.Gather8{}, rows, "i64[1..4096]", 1, 4096},
		{"Gather-8 of triples", openvino.Gather8{}, rows, "i64[?,3]", 0, garner.Unbounded},
		{"Gather-8, narrow indices", openvino.Gather8{}, rows, "i32[?]", 0, garner.Unbounded},
		{"GatherND of rows of 2", strict.GatherND{}, cube, "i64[?,3]", 0, garner.Unbounded},
		{"GatherND of 1 to 4096", strict.GatherND{}, cube, "i64[1..4096,3]", 1, 4096},
	}
}

// draw returns n index tuples that lie on the axes of data. For Gather-8 some
// lie outside, which gives zeros.
func (c batchCase) draw(t *testing.T, r *rand.Rand, n int) garner.Tensor {
	t.Helper()
	spec, err := garner.ParseSpec(c.indices)
	if err != nil {
		t.Fatal(err)
	}
	shape := []int{n}
	for _, d := range spec.Dims[1:] {
		shape = append(shape, d.Min)
	}
	bounds := []int{c.data.Shape()[0]}
	switch op := c.op.(type) {
	case onnx.Gather13:
		bounds[0] = c.data.Shape()[op.Axis]
	case openvino.Gather8:
		bounds[0] += 5
	case strict.GatherND:
		bounds = c.data.Shape()[:shape[1]]
	}
	if spec.DType == garner.I32 {
		return garner.Of(drawn[int32](r, bounds, shape...), shape...)
	}
	return garner.Of(drawn[int64](r, bounds, shape...), shape...)
}

func (c batchCase) prepare(t *testing.T, threads int) *garner.Prepared {
	t.Helper()
	spec, err := garner.ParseSpec(c.indices)
	if err != nil {
		t.Fatal(err)
	}
	p, err := garner.Prepare(c.op, c.data.Spec(), spec, garner.Threads(threads))
	if err != nil {
		t.Fatalf("Prepare for indices %s: %v", c.indices, err)
	}
	return p
}

// output returns an output for a batch, filled with values that differ from the
// result.
func (c batchCase) output(t *testing.T, indices garner.Tensor) garner.Tensor {
	t.Helper()
	spec, err := garner.Infer(c.op, c.data.Spec(), indices.Spec())
	if err != nil {
		t.Fatal(err)
	}
	shape, _ := spec.Shape()
	out, err := garner.New(spec.DType, shape...)
	if err == nil {
		err = overwrite(out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// lengths are those of lens that the case has.
func (c batchCase) lengths(lens ...int) []int {
	return slices.DeleteFunc(lens, func(n int) bool { return n < c.low || n > c.high })
}

// TestPreparedBatches holds that one Prepared for indices whose leading dim is
// unknown or a range serves batches of every allowed length.
func TestPreparedBatches(t *testing.T) {
	ctx := context.Background()
	for _, c := range batchCases(t) {
		for _, threads := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s/threads=%d", c.name, threads), func(t *testing.T) {
				t.Run("results", func(t *testing.T) { c.results(ctx, t, threads) })
				t.Run("allocations", func(t *testing.T) { c.allocations(ctx, t, threads) })
				t.Run("refused", func(t *testing.T) { c.refused(ctx, t, threads) })
				t.Run("shared", func(t *testing.T) { c.shared(ctx, t, threads) })
			})
		}
	}
}

// results holds that every batch equals garner.Gather's, while the length
// grows, shrinks and grows again.
func (c batchCase) results(ctx context.Context, t *testing.T, threads int) {
	p := c.prepare(t, threads)
	r := rand.New(rand.NewPCG(7, uint64(threads)))
	lengths := c.lengths(0, 1, 7, 4096, 100_000, 7, 0, 4095, 1, 4096)
	if len(lengths) < 7 {
		t.Fatalf("only lengths %v are tried", lengths)
	}
	for _, n := range lengths {
		indices := c.draw(t, r, n)
		want, err := garner.Gather(c.op, c.data, indices)
		if err != nil {
			t.Fatal(err)
		}
		out := c.output(t, indices)
		if err := p.Run(ctx, c.data, indices, out); err != nil {
			t.Errorf("length %d: %v", n, err)
			continue
		}
		if !gathertest.Equal(out, want) {
			t.Errorf("length %d: differs from garner.Gather", n)
		}
		if n == 0 {
			continue
		}
		// An index outside a batch is an error too, or gives zeros.
		bad, err := indices.Clone()
		if err == nil {
			err = bad.SetText(bad.Len()-1, "1000000")
		}
		if err != nil {
			t.Fatal(err)
		}
		want, wantErr := garner.Gather(c.op, c.data, bad)
		err = p.Run(ctx, c.data, bad, out)
		switch {
		case (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error():
			t.Errorf("length %d, an index outside: %v, want %v", n, err, wantErr)
		case err == nil && !gathertest.Equal(out, want):
			t.Errorf("length %d, an index outside: differs from garner.Gather", n)
		}
	}
}

// allocations: a length that was seen before and one that is not longer than
// the longest allocate nothing.
func (c batchCase) allocations(ctx context.Context, t *testing.T, threads int) {
	// A collection takes what lies in a sync.Pool, and may end in the middle of a count.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	p := c.prepare(t, threads)
	r := rand.New(rand.NewPCG(8, uint64(threads)))
	type batch struct{ indices, out garner.Tensor }
	of := func(lengths []int) []batch {
		var batches []batch
		for _, n := range lengths {
			indices := c.draw(t, r, n)
			batches = append(batches, batch{indices, c.output(t, indices)})
		}
		return batches
	}
	run := func(b batch) {
		if err := p.Run(ctx, c.data, b.indices, b.out); err != nil {
			t.Fatal(err)
		}
	}
	longest := c.lengths(4096)
	seen := of(append(longest, c.lengths(1, 7, 512)...))
	for _, b := range seen {
		run(b)
	}
	for _, b := range seen {
		if n := testing.AllocsPerRun(20, func() { run(b) }); n != 0 && !raceEnabled {
			t.Errorf("length %d, seen before: %v allocations a run", b.indices.Shape()[0], n)
		}
	}
	for _, b := range of(c.lengths(2, 3, 100, 1000, 4095)) {
		if n := testing.AllocsPerRun(20, func() { run(b) }); n != 0 && !raceEnabled {
			t.Errorf("length %d: %v allocations a run", b.indices.Shape()[0], n)
		}
	}
	// Each run has a length that no run had before. AllocsPerRun makes one run
	// more than it counts.
	var next int
	changing := of(c.lengths(5, 4000, 17, 2048, 300, 33, 1024, 6, 3333, 64))
	if n := testing.AllocsPerRun(len(changing)-1, func() { run(changing[next]); next++ }); n != 0 && !raceEnabled {
		t.Errorf("changing lengths: %v allocations a run", n)
	}
}

// refused: operands that the Prepared is not for are an ErrShape or an
// ErrDType, and leave it as it was.
func (c batchCase) refused(ctx context.Context, t *testing.T, threads int) {
	p := c.prepare(t, threads)
	r := rand.New(rand.NewPCG(9, uint64(threads)))
	indices := c.draw(t, r, 7)
	want, err := garner.Gather(c.op, c.data, indices)
	if err != nil {
		t.Fatal(err)
	}
	out := c.output(t, indices)
	other := c.draw(t, r, 8)
	// One more dim, and another extent of the second dim if there is one.
	deeper, err := indices.Reshape(append(slices.Clone(indices.Shape()), 1)...)
	if err != nil {
		t.Fatal(err)
	}
	type refusal struct {
		name         string
		indices, out garner.Tensor
		class        error
	}
	refusals := []refusal{
		{"out of a longer batch", indices, c.output(t, other), garner.ErrShape},
		{"out of a shorter batch", other, out, garner.ErrShape},
		{"indices of another rank", deeper, out, garner.ErrShape},
		{"indices of another dtype", garner.Of(make([]uint8, indices.Len()), indices.Shape()...), out, garner.ErrDType},
	}
	if len(indices.Shape()) > 1 {
		narrower, err := indices.Slice(1, 0, 2, 1)
		if err != nil {
			t.Fatal(err)
		}
		refusals = append(refusals, refusal{"another extent of a known dim", narrower, out, garner.ErrShape})
	}
	if c.low > 0 {
		short := c.draw(t, r, c.low-1)
		refusals = append(refusals, refusal{"a length below the range", short, c.output(t, short), garner.ErrShape})
		for _, n := range []int{c.high + 1, 100_000} {
			long := c.draw(t, r, n)
			refusals = append(refusals, refusal{fmt.Sprintf("length %d, above the range", n), long, c.output(t, long), garner.ErrShape})
		}
	}
	for _, tt := range refusals {
		if err := p.Run(ctx, c.data, tt.indices, tt.out); !errors.Is(err, tt.class) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.class)
		}
		if err := overwrite(out); err != nil {
			t.Fatal(err)
		}
		if err := p.Run(ctx, c.data, indices, out); err != nil || !gathertest.Equal(out, want) {
			t.Errorf("after %s: the result is wrong (%v)", tt.name, err)
		}
	}
}

// shared: eight goroutines run batches of their own lengths at once.
func (c batchCase) shared(ctx context.Context, t *testing.T, threads int) {
	p := c.prepare(t, threads)
	const goroutines = 8
	own := make([][]sharedTurn, goroutines)
	for g := range own {
		r := rand.New(rand.NewPCG(uint64(g), 10))
		for range 4 {
			n := max(c.low, r.IntN(600))
			if g == 0 {
				n = 4096
			}
			indices := c.draw(t, r, n)
			want, err := garner.Gather(c.op, c.data, indices)
			if err != nil {
				t.Fatal(err)
			}
			out := c.output(t, indices)
			own[g] = append(own[g], sharedTurn{name: "a batch", ctx: ctx, data: c.data, indices: indices, out: out, memory: out, want: want})
		}
	}
	wrong := together(goroutines, 50, func(g int, r *rand.Rand) string { return own[g][r.IntN(4)].run(p) })
	for what, n := range wrong {
		t.Errorf("%d times %s", n, what)
	}
}

// TestPrepareNeedsOtherDims holds that Prepare refuses any other unknown dim of
// the operands, although Infer accepts it.
func TestPrepareNeedsOtherDims(t *testing.T) {
	for _, tt := range []struct {
		name          string
		op            garner.Op
		data, indices string
	}{
		{"the length of the tuples", strict.GatherND{}, "f32[1000,16]", "i64[?,1..2]"},
		{"the only dim of tuples", strict.GatherND{}, "f32[1000,16]", "i64[?]"},
		{"the rank of the indices", onnx.Gather13{}, "f32[1000,16]", "i64[...]"},
		{"the rows of data", onnx.Gather13{}, "f32[?,16]", "i64[7]"},
		{"the width of data", onnx.Gather13{}, "f32[1000,?]", "i64[?]"},
		{"the rank of data", onnx.Gather13{}, "f32[...]", "i64[?]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data, err := garner.ParseSpec(tt.data)
			if err != nil {
				t.Fatal(err)
			}
			indices, err := garner.ParseSpec(tt.indices)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := garner.Infer(tt.op, data, indices); err != nil {
				t.Errorf("Infer: %v", err)
			}
			if p, err := garner.Prepare(tt.op, data, indices); !errors.Is(err, garner.ErrShape) {
				t.Errorf("Prepare: %v, %v, want an ErrShape", p, err)
			}
		})
	}
}

// TestPreparedOtherDims runs a Prepared whose unknown dims of the indices are not
// the leading one alone: each shape answers as garner.Gather does.
func TestPreparedOtherDims(t *testing.T) {
	values := make([]float32, 6*50*3)
	for i := range values {
		values[i] = float32(i)
	}
	data := garner.Of(values, 6, 50, 3)
	for _, tt := range []struct {
		op      garner.Op
		indices string
		shapes  [][]int
	}{
		{onnx.Gather13{}, "i64[4,?]", [][]int{{4, 0}, {4, 1}, {4, 9}}},
		{onnx.Gather13{Axis: 1}, "i64[?,?]", [][]int{{3, 2}, {2, 3}, {1, 1}, {0, 4}, {40, 30}}},
		{openvino.Gather8{Axis: 1, BatchDims: 1}, "i64[?,1..3]", [][]int{{6, 1}, {6, 3}}},
		{openvino.GatherND5{BatchDims: 2}, "i64[6,?,1]", [][]int{{6, 50, 1}}},
		{numpy.TakeAlongAxis{Axis: axisOf(1)}, "i64[?,?,?]", [][]int{{6, 4, 3}, {1, 4, 1}, {6, 1, 3}}},
	} {
		spec, err := garner.ParseSpec(tt.indices)
		if err != nil {
			t.Fatal(err)
		}
		p, err := garner.Prepare(tt.op, data.Spec(), spec, garner.Threads(2))
		if err != nil {
			t.Fatal(tt.indices, err)
		}
		for range 2 {
			for _, shape := range tt.shapes {
				indices, err := garner.New(garner.I64, shape...)
				if err != nil {
					t.Fatal(err)
				}
				ids, _ := garner.Values[int64](indices)
				for i := range ids {
					ids[i] = int64(i*7) % 3
				}
				want, err := garner.Gather(tt.op, data, indices)
				if err != nil {
					t.Fatal(err)
				}
				out, err := garner.New(garner.F32, want.Shape()...)
				if err != nil {
					t.Fatal(err)
				}
				if err := p.Run(context.Background(), data, indices, out); err != nil || !gathertest.Equal(out, want) {
					t.Errorf("%T, indices %v: %v, or the result is wrong", tt.op, shape, err)
				}
			}
		}
	}
	// A shape that the ranges allow and a rule forbids is that rule's error.
	spec, _ := garner.ParseSpec("i64[?,1..3]")
	p, err := garner.Prepare(openvino.Gather8{Axis: 1, BatchDims: 1}, data.Spec(), spec)
	if err != nil {
		t.Fatal(err)
	}
	indices, out := garner.Of(make([]int64, 10), 5, 2), garner.Of(make([]float32, 30), 5, 2, 3)
	var shape *garner.ShapeError
	if err := p.Run(context.Background(), data, indices, out); !errors.As(err, &shape) || shape.Kind != garner.KindBatch {
		t.Errorf("%v, want a batch-dims error", err)
	}
}

func axisOf(n int) *int { return &n }

// TestPrepareUnknownAxis holds that an operator whose axis is not known is refused
// for that, and not for the operands' dims.
func TestPrepareUnknownAxis(t *testing.T) {
	op, data, indices := openvino.Gather1{Axis: garner.Unknown}, garner.SpecOf(garner.F32, 3), garner.SpecOf(garner.I64, 2)
	_, planned := garner.NewPlan(op, data, indices)
	_, prepared := garner.Prepare(op, data, indices)
	for _, err := range []error{planned, prepared} {
		if !errors.Is(err, garner.ErrShape) || !strings.Contains(err.Error(), "such as its axis, is not known") {
			t.Errorf("%v, want that the axis is not known", err)
		}
	}
}
