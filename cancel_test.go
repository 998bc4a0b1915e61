package garner_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/openvino"
	"github.com/garner-go/garner/tensorflow"
	"github.com/garner-go/garner/torch"
)

// A lookedAt context counts how often it is looked at, and ends at one of the looks.
type lookedAt struct {
	context.Context
	end   context.CancelCauseFunc
	at    int64 // 0: never
	looks atomic.Int64
}

var errEnded = errors.New("ended")

func (c *lookedAt) Err() error {
	if c.looks.Add(1) == c.at {
		c.end(errEnded)
	}
	return c.Context.Err()
}

// TestEveryLoopIsCancelled holds that each loop of a run over the operands looks at the
// context: also those that look for the first error. A look for each 4096 steps is within the 10 ms that Run says.
func TestEveryLoopIsCancelled(t *testing.T) {
	const n = 1 << 18
	zeros := func() []int64 { return make([]int64, n) }
	last := func(v int64) garner.Tensor {
		all := zeros()
		all[n-1] = v
		return garner.Of(all, n)
	}
	each := zeros()
	for i := range each {
		each[i] = int64(i)
	}
	ids := garner.Of(zeros(), n)
	one, without := garner.Of([]float32{1}, 1, 1), garner.Of([]float32{}, 1, 0)
	bags, missing := 1, -1
	for _, tt := range []struct {
		name  string
		op    garner.Op
		data  garner.Tensor
		ids   garner.Tensor
		ends  garner.Tensor
		looks int64 // at least
	}{
		{"segments that fall", tensorflow.SparseSegmentSum{NumSegments: &bags}, one, ids, last(-1), n/4096 - 1},
		{"a segment of no bag", tensorflow.SparseSegmentSum{NumSegments: &bags}, one, ids, last(7), 2*n/4096 - 1},
		{"offsets that pass the end", torch.EmbeddingBag{Mode: "sum"}, one, ids, last(n + 1), n/4096 - 1},
		{"a bag without terms", openvino.EmbeddingSegmentsSum3{NumSegments: n + 1, DefaultIndex: &missing}, one, ids, garner.Of(each, n), 4 * n / 4096},
		{"no bag without terms", openvino.EmbeddingSegmentsSum3{NumSegments: n, DefaultIndex: &missing}, without, ids, garner.Of(each, n), 4 * n / 4096},
	} {
		var more []garner.Tensor
		if tt.ends.DType().Valid() {
			more = append(more, tt.ends)
		}
		p, err := garner.Prepare(tt.op, tt.data.Spec(), tt.ids.Spec(), garner.Threads(1), garner.FurtherTensors(more...))
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		out, err := garner.New(p.Plan().DType, p.Plan().Out...)
		if err != nil {
			t.Fatal(err)
		}
		run := func(at int64) (int64, error) {
			ctx, end := context.WithCancelCause(t.Context())
			defer end(nil)
			c := &lookedAt{Context: ctx, end: end, at: at}
			if p.Plan().Bag != nil { // what a run that is refused does at its end
				err := p.Plan().BagTerms(tt.ids, more...).Check(c)
				return c.looks.Load(), err
			}
			err := p.Run(c, tt.data, tt.ids, out)
			return c.looks.Load(), err
		}
		looks, whole := run(0)
		if looks < tt.looks {
			t.Errorf("%s: a run looks %d times at its context, and must at least %d times (%v)", tt.name, looks, tt.looks, whole)
			continue
		}
		for _, at := range []int64{1, looks / 4, looks / 2, 3 * looks / 4} {
			// The helpers that a copy wakes look too; the run's own next look ends it.
			if n, err := run(at); !errors.Is(err, errEnded) || n > at+16 {
				t.Errorf("%s: a context that ends at look %d of %d gives %v after look %d", tt.name, at, looks, err, n)
			}
		}
	}
}
