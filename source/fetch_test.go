package source

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/garner-go/garner"
)

// FuzzFetchRows fetches rows in random order, with repeats and negative positions,
// from arrays of every kind on several goroutines, and compares them with the
// array's bytes. No row is read twice, and negative positions leave dst unchanged.
func FuzzFetchRows(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		arrays, all := tables(t)
		for name, a := range arrays {
			var wait sync.WaitGroup
			for worker := range 2 {
				wait.Go(func() {
					r := rand.New(rand.NewPCG(seed, 9+uint64(worker)))
					for range 4 {
						counted := &fetched{Array: a}
						size := 4 * r.IntN(50)
						rows := make([]int64, r.IntN(1+1<<r.IntN(10)))
						for i := range rows {
							rows[i] = int64(r.IntN((len(all)-size)/16+1) * 16)
							if r.IntN(9) == 0 {
								rows[i] = -1 - r.Int64N(2)
							}
						}
						if r.IntN(4) == 0 {
							slices.Sort(rows)
							rows = slices.Compact(rows)
						}
						before := slices.Clone(rows)
						dst := bytes.Repeat([]byte{0xa5}, len(rows)*size)
						if err := FetchRows(t.Context(), counted, rows, size, dst); err != nil {
							t.Errorf("seed %d: %s: %v", seed, name, err)
							return
						}
						for i, row := range rows {
							want := bytes.Repeat([]byte{0xa5}, size)
							if row >= 0 {
								want = all[row:][:size]
							}
							if !bytes.Equal(dst[i*size:][:size], want) {
								t.Errorf("seed %d: %s: row %d of %d bytes at %d is wrong", seed, name, i, size, row)
								return
							}
						}
						if slices.Sort(counted.at); len(slices.Compact(slices.Clone(counted.at))) != len(counted.at) || !slices.Equal(rows, before) {
							t.Errorf("seed %d: %s: a row was read twice, or rows changed", seed, name)
						}
					}
				})
			}
			wait.Wait()
		}
	})
}

// TestFetchRowsMany fetches a batch that is large enough for all cores.
func TestFetchRowsMany(t *testing.T) {
	arrays, all := tables(t)
	r := rand.New(rand.NewPCG(3, 9))
	rows := make([]int64, 100000)
	for i := range rows {
		rows[i] = r.Int64N(300) * 32
	}
	dst := make([]byte, len(rows)*32)
	for name, a := range arrays {
		clear(dst)
		if err := FetchRows(t.Context(), a, rows, 32, dst); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, row := range rows {
			if !bytes.Equal(dst[i*32:][:32], all[row:][:32]) {
				t.Fatalf("%s: row %d is wrong", name, i)
			}
		}
	}
}

func TestFetchRowsRefuses(t *testing.T) {
	arrays, all := tables(t)
	cause := errors.New("enough")
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for name, a := range arrays {
		for about, tt := range map[string]struct {
			rows []int64
			size int
			dst  int
		}{
			"short":         {[]int64{4, 0}, 8, 15},
			"long":          {[]int64{4, 0}, 8, 17},
			"none":          {nil, 8, 8},
			"negative size": {[]int64{4}, -8, 0},
			"overflow":      {[]int64{4, 0}, math.MaxInt, 0},
			"behind":        {[]int64{int64(len(all)) - 7, 0}, 8, 16},
			"far behind":    {[]int64{1 << 62, 0}, 8, 16},
		} {
			if err := FetchRows(t.Context(), a, tt.rows, tt.size, make([]byte, tt.dst)); !errors.Is(err, garner.ErrShape) {
				t.Errorf("%s: %s: %v", name, about, err)
			}
		}
		if err := FetchRows(t.Context(), a, nil, 8, nil); err != nil {
			t.Errorf("%s: no rows: %v", name, err)
		}
		if err := FetchRows(t.Context(), a, []int64{-1, -1}, 8, make([]byte, 16)); err != nil {
			t.Errorf("%s: negative rows: %v", name, err)
		}
		if err := FetchRows(cancelled, a, []int64{32, 0}, 32, make([]byte, 64)); err != cause {
			t.Errorf("%s: cancelled: %v", name, err)
		}
	}
}

// TestFetchNothing fetches rows without a byte, as a gather of rows without an
// element does.
func TestFetchNothing(t *testing.T) {
	data := Memory(garner.Of([]float32{}, 5, 0))
	if err := FetchRows(t.Context(), data, []int64{0, 8}, 0, nil); err != nil {
		t.Error(err)
	}
}
