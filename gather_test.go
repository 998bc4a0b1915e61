package garner_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
)

func prepared(options ...garner.PrepareOption) gathertest.Executor {
	return func(ctx context.Context, op garner.Op, data, indices garner.Tensor) (garner.Tensor, error) {
		p, err := garner.Prepare(op, data.Spec(), indices.Spec(), options...)
		if err != nil {
			return garner.Tensor{}, err
		}
		out, err := garner.New(p.Plan().DType, p.Plan().Out...)
		if err != nil {
			return garner.Tensor{}, err
		}
		return out, p.Run(ctx, data, indices, out)
	}
}

func TestExecutors(t *testing.T) {
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
		gathertest.Against(t, prepared(garner.Threads(3), garner.Cut(8, 16, 1<<20)), seed)
	})
}

// No operator is an error, not a panic.
func TestNoOperator(t *testing.T) {
	data, at := garner.Of([]int8{1, 2}, 2), garner.Of([]int64{0}, 1)
	for _, op := range []garner.Op{nil, garner.WithNegative(nil, garner.FromEnd), garner.WithOutside(nil, garner.Zero), garner.WithFill(nil, garner.Of([]int8{1}, 1))} {
		if _, err := garner.Gather(op, data, at); !errors.Is(err, garner.ErrAttribute) || !strings.Contains(err.Error(), "there is no operator") {
			t.Errorf("%#v: %v", op, err)
		}
	}
}
