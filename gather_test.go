package garner_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/strict"
)

// specsOf returns the specs of further operands; the zero Tensor has the zero Spec.
func specsOf(more []garner.Tensor) []garner.Spec {
	all := make([]garner.Spec, len(more))
	for i, t := range more {
		if t.DType().Valid() {
			all[i] = t.Spec()
		}
	}
	return all
}

// with returns options and the one that gives the specs of further operands.
func with(options []garner.PrepareOption, more []garner.Tensor) []garner.PrepareOption {
	return append(slices.Clip(options), garner.Further(specsOf(more)...))
}

// resultOf returns the dtype and the shape of p's result, which of some bags only the
// elements of the further operands tell.
func resultOf(p *garner.Prepared, op garner.Op, data, indices garner.Tensor, more []garner.Tensor) (garner.DType, garner.Shape, error) {
	if p != nil && p.Plan() != nil {
		return p.Plan().DType, p.Plan().Out, nil
	}
	out, err := garner.Reference(op, data, indices, more...)
	return out.DType(), out.Shape(), err
}

func prepared(options ...garner.PrepareOption) gathertest.Executor {
	return func(ctx context.Context, op garner.Op, data, indices garner.Tensor, more ...garner.Tensor) (garner.Tensor, error) {
		p, err := garner.Prepare(op, data.Spec(), indices.Spec(), with(options, more)...)
		if err != nil {
			return garner.Tensor{}, err
		}
		dtype, shape, err := resultOf(p, op, data, indices, more)
		if err != nil {
			return garner.Tensor{}, err
		}
		out, err := garner.New(dtype, shape...)
		if err != nil {
			return garner.Tensor{}, err
		}
		return out, p.Run(ctx, data, indices, out, more...)
	}
}

// batches prepares for indices and further operands of which no dim is known, where the
// operator can be lowered so, and runs twice: for the first time, and again.
func batches(options ...garner.PrepareOption) gathertest.Executor {
	return func(ctx context.Context, op garner.Op, data, indices garner.Tensor, more ...garner.Tensor) (garner.Tensor, error) {
		return batchesOf(data.Spec(), data, options...)(ctx, op, data, indices, more...)
	}
}

// batchesOf is batches of data that is prepared for by a spec, and passed to a run in
// another form.
func batchesOf(spec garner.Spec, in garner.Tensor, options ...garner.PrepareOption) gathertest.Executor {
	return func(ctx context.Context, op garner.Op, data, indices garner.Tensor, more ...garner.Tensor) (garner.Tensor, error) {
		var dtype garner.DType
		var shape garner.Shape
		plan, err := garner.NewPlan(op, data.Spec(), indices.Spec(), specsOf(more)...)
		if err == nil {
			dtype, shape = plan.DType, plan.Out
		} else if len(more) > 0 {
			dtype, shape, err = resultOf(nil, op, data, indices, more)
		}
		if err != nil {
			return garner.Tensor{}, err
		}
		dims := slices.Repeat([]garner.Dim{garner.AnyDim}, indices.Rank())
		unknown := specsOf(more)
		for i, s := range unknown {
			if s.DType.Valid() {
				unknown[i] = garner.SpecOfDims(s.DType, slices.Repeat([]garner.Dim{garner.AnyDim}, s.Rank.Min)...)
			}
		}
		p, err := garner.Prepare(op, spec, garner.SpecOfDims(indices.DType(), dims...), append(slices.Clone(options), garner.Further(unknown...))...)
		if err != nil {
			p, err = garner.Prepare(op, spec, garner.SpecOfDims(indices.DType(), dims...), with(options, more)...)
		}
		if err != nil && len(dims) > 0 { // the tuples lie along the last dim
			last := len(dims) - 1
			dims[last] = garner.Exactly(indices.Shape()[last])
			p, err = garner.Prepare(op, spec, garner.SpecOfDims(indices.DType(), dims...), with(options, more)...)
		}
		if err != nil {
			p, err = garner.Prepare(op, spec, indices.Spec(), with(options, more)...)
		}
		if err != nil {
			return garner.Tensor{}, err
		}
		out, err := garner.New(dtype, shape...)
		if err != nil {
			return garner.Tensor{}, err
		}
		if err := p.Run(ctx, in, indices, out, more...); err != nil {
			return garner.Tensor{}, err
		}
		out, err = garner.New(dtype, shape...)
		if err != nil {
			return garner.Tensor{}, err
		}
		return out, p.Run(ctx, in, indices, out, more...)
	}
}

// TestExecutors holds every way to run gathers, bags (R.29 to R.35, R.30, R.31, R.32, R.33
// and R.34 among them) and gathers of stored data against the definition.
func TestExecutors(t *testing.T) {
	t.Run("batches", func(t *testing.T) { gathertest.Run(t, batches(garner.Threads(2))) })
	t.Run("batches, cut small", func(t *testing.T) { gathertest.Run(t, batches(garner.Threads(3), garner.Cut(8, 16, 64))) })
	t.Run("all cores", func(t *testing.T) { gathertest.Run(t, garner.GatherContext) })
	t.Run("one core", func(t *testing.T) { gathertest.Run(t, prepared(garner.Threads(1))) })
	t.Run("tiles", func(t *testing.T) { gathertest.Run(t, prepared(garner.Threads(3), garner.Cut(8, 16, 0))) })
	t.Run("shared rows", func(t *testing.T) { gathertest.Run(t, prepared(garner.Threads(3), garner.Cut(8, 16, 1<<20))) })
	t.Run("long units", func(t *testing.T) { gathertest.Run(t, prepared(garner.Threads(2), garner.Cut(16, 1000, 50))) })
}

func FuzzGather(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		gathertest.Against(t, garner.GatherContext, seed)
		gathertest.Against(t, prepared(garner.Threads(3), garner.Cut(8, 16, 0)), seed)
		gathertest.Against(t, batches(garner.Threads(2), garner.Cut(8, 16, 64)), seed)
		gathertest.Against(t, prepared(garner.Threads(3), garner.Cut(8, 16, 1<<20)), seed)
	})
}

// TestNoOperator holds that a missing operator is an error, not a panic.
func TestNoOperator(t *testing.T) {
	data, at := garner.Of([]int8{1, 2}, 2), garner.Of([]int64{0}, 1)
	for _, op := range []garner.Op{nil, garner.WithNegative(nil, garner.FromEnd), garner.WithOutside(nil, garner.Zero), garner.WithFill(nil, garner.Of([]int8{1}, 1))} {
		if _, err := garner.Gather(op, data, at); !errors.Is(err, garner.ErrAttribute) || !strings.Contains(err.Error(), "there is no operator") {
			t.Errorf("%#v: %v", op, err)
		}
	}
	if _, err := garner.Gather(garner.WithNegative(strict.Gather{}, 77), data, at); !errors.Is(err, garner.ErrAttribute) {
		t.Errorf("negative policy 77: %v", err)
	}
}

// TestHugeResultOfNothing gathers rows of 2 GiB from data that has none. No index is
// inside, and that is found before the result's memory is taken.
func TestHugeResultOfNothing(t *testing.T) {
	data, err := garner.New(garner.U8, 0, math.MaxInt32)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = garner.Gather(strict.Gather{}, data, garner.Of([]int64{0}, 1))
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, garner.ErrIndex) || took > 1<<20 {
		t.Errorf("%v, %d bytes were allocated", err, took)
	}
}

// TestNoIndices holds that a gather reads no index of empty indices, whatever
// their strides and memory.
func TestNoIndices(t *testing.T) {
	memory := make([]byte, 12)
	for _, tt := range []struct {
		op             garner.Op
		data           garner.Tensor
		offset         int
		shape, strides []int
		want           garner.Shape
	}{
		{strict.Gather{}, garner.Of(make([]float32, 16), 4, 4), 2, []int{0, 3}, []int{0, -1}, garner.Shape{0, 3, 4}},
		{strict.Gather{}, garner.Of(make([]float32, 16), 4, 4), 0, []int{0, 3000}, []int{0, 1}, garner.Shape{0, 3000, 4}},
		{strict.Gather{}, garner.Of(make([]float32, 16), 4, 4), 0, []int{3, 0}, []int{1, 0}, garner.Shape{3, 0, 4}},
		{strict.Gather{}, garner.Of(make([]float32, 16), 16), 0, []int{3, 0}, []int{1, 0}, garner.Shape{3, 0}},
		{strict.GatherND{}, garner.Of(make([]float32, 16), 4, 4), 0, []int{0, 3000, 2}, []int{0, 1, 1}, garner.Shape{0, 3000}},
		{strict.GatherElements{Axis: 1}, garner.Of([]float32{}, 0, 4), 0, []int{0, 300}, []int{0, 1}, garner.Shape{0, 300}},
	} {
		at, err := garner.FromStrided(garner.I32, memory, tt.offset, tt.shape, tt.strides)
		if err != nil {
			t.Fatal(err)
		}
		out, err := garner.Gather(tt.op, tt.data, at)
		if err != nil || !slices.Equal(out.Shape(), tt.want) {
			t.Errorf("%#v by %v with strides %v: %v, %v", tt.op, tt.shape, tt.strides, out.Shape(), err)
		}
	}
}
