package garner_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/tensorflow"
)

// A segmentsCall is a run of bags whose number the last segment says.
type segmentsCall struct {
	segments garner.Tensor
	rows     int // of the output
}

func (c segmentsCall) run(p *garner.Prepared, data, ids garner.Tensor) (garner.Tensor, error) {
	out, err := garner.New(garner.F32, c.rows, 2)
	if err == nil {
		err = p.Run(context.Background(), data, ids, out, c.segments)
	}
	return out, err
}

// same returns what differs between the answers of two runs.
func same(got garner.Tensor, err error, want garner.Tensor, wantErr error) error {
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		return fmt.Errorf("error %v, want %v", err, wantErr)
	}
	if err == nil && !gathertest.Equal(got, want) {
		return fmt.Errorf("%s, want %s", got.Text(), want.Text())
	}
	return nil
}

// TestPreparedForgets holds that a run of bags whose number the last segment says (R.32)
// answers as that of a new Prepared: whatever ran before, beside other goroutines, and
// whatever the garbage collector has taken, with segments given to Prepare or not.
func TestPreparedForgets(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 1))
	data, ids := garner.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2), garner.Of([]int64{0, 1, 2}, 3)
	matrix := func(segments []int64) garner.Tensor { // as the ids of a sparse tensor
		at := make([]int64, 0, 2*len(segments))
		for _, s := range segments {
			at = append(at, s, 0)
		}
		return garner.Of(at, len(segments), 2)
	}
	for _, tt := range []struct {
		op     garner.Op
		matrix bool
	}{
		{op: tensorflow.SparseSegmentSum{}}, {op: tensorflow.SparseSegmentMean{}}, {op: tensorflow.SparseSegmentSqrtN{}},
		{op: tensorflow.EmbeddingLookupSparse{Combiner: "sum", DenseShape: []int{6, 1}}, matrix: true},
	} {
		var calls []segmentsCall
		for range 60 {
			segments := []int64{r.Int64N(2), r.Int64N(4), r.Int64N(6)}
			if r.IntN(4) > 0 {
				slices.Sort(segments)
			}
			if r.IntN(10) == 0 {
				segments[2] = -1
			}
			if r.IntN(10) == 0 {
				segments[2] = 1 << 41
			}
			c := segmentsCall{garner.Of(segments, 3), r.IntN(7)}
			if tt.matrix {
				c.segments = matrix(segments)
			}
			calls = append(calls, c)
		}
		spec := calls[0].segments.Spec()
		prepare := func(options ...garner.PrepareOption) *garner.Prepared {
			p, err := garner.Prepare(tt.op, data.Spec(), ids.Spec(), options...)
			if err != nil {
				t.Fatalf("%T: %v", tt.op, err)
			}
			return p
		}
		want, wantErr := make([]garner.Tensor, len(calls)), make([]error, len(calls))
		done := 0
		for i, c := range calls {
			if want[i], wantErr[i] = c.run(prepare(garner.Further(spec)), data, ids); wantErr[i] == nil {
				done++
				ref, err := garner.Reference(tt.op, data, ids, c.segments)
				if err = same(want[i], nil, ref, err); err != nil {
					t.Errorf("%T of %s: a new Prepared says %v", tt.op, c.segments.Text(), err)
				}
			}
		}
		if done == 0 || done == len(calls) {
			t.Errorf("%T: %d of %d calls succeed; some must, and some must not", tt.op, done, len(calls))
		}
		given := calls[slices.Index(wantErr, nil)].segments
		for _, p := range []*garner.Prepared{prepare(garner.Further(spec)), prepare(garner.FurtherTensors(given))} {
			var wg sync.WaitGroup
			for g := range 8 {
				wg.Go(func() {
					r := rand.New(rand.NewPCG(17, uint64(g)))
					for k := range 300 {
						if k%100 == 50 {
							runtime.GC()
						}
						i := r.IntN(len(calls))
						got, err := calls[i].run(p, data, ids)
						if err := same(got, err, want[i], wantErr[i]); err != nil {
							t.Errorf("%T of %s into %d rows: %v", tt.op, calls[i].segments.Text(), calls[i].rows, err)
							return
						}
					}
				})
			}
			wg.Wait()
		}
	}
}

// TestPreparedNamesOtherSegments holds that a segment that a run refuses is named, where
// the segments given to Prepare said another number of bags.
func TestPreparedNamesOtherSegments(t *testing.T) {
	data, ids := garner.Of([]float32{1, 2, 3}, 3, 1), garner.Of([]int64{0, 1, 2}, 3)
	p, err := garner.Prepare(tensorflow.SparseSegmentSum{}, data.Spec(), ids.Spec(), garner.FurtherTensors(garner.Of([]int64{0, 0, 1}, 3)))
	if err != nil {
		t.Fatal(err)
	}
	out := garner.Of(make([]float32, 3), 3, 1)
	err = p.Run(t.Context(), data, garner.Of([]int64{0, 7, 2}, 3), out, garner.Of([]int64{0, 1, 2}, 3))
	var bad *garner.IndexError
	if !errors.As(err, &bad) || bad.Operand != "" || bad.Value.Bits != 7 {
		t.Errorf("index 7 of 3 rows: %v", err)
	}
}
