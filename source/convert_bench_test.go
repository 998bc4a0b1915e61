package source

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/onnx"
)

// BenchmarkConverted looks up random rows of a table of 128 MiB in the page cache, to a
// result of 8 MiB of f32, and reports ns per row, the least of all iterations, of
//
//	lookup   LookupValues into float32 of rows of the dtype
//	into     GatherInto over the converted view
//	copy     Lookup of the same rows as they are stored
//	copy32   Lookup of as many rows, of f32, of a table of as many elements
//
// Each iteration times them one after the other, in another order each time.
// GOMAXPROCS is the number of threads.
func BenchmarkConverted(b *testing.B) {
	const elements, result = 64 << 20, 2 << 20
	r := rand.New(rand.NewPCG(3, 1))
	wide := open(b, garner.SpecOf(garner.F32, elements), nil, Segment{write(b, "wide", benchBytes(elements*4)), 0, elements * 4})
	for _, dtype := range []garner.DType{garner.F16, garner.BF16, garner.F8E4M3FN, garner.NF4} {
		size := int64(elements * dtype.Bits() / 8)
		path := write(b, dtype.String(), benchBytes(int(size)))
		for _, width := range []int{64, 256, 1024, 4096} {
			rows, n := elements/width, result/width
			narrow := open(b, garner.SpecOf(dtype, rows, width), nil, Segment{path, 0, size})
			same := open(b, garner.SpecOf(garner.F32, rows, width), nil, wide.Segments()...)
			table, err := NewTable(narrow)
			if err != nil {
				b.Fatal(err)
			}
			wideTable, err := NewTable(same)
			if err != nil {
				b.Fatal(err)
			}
			ids := make([]int64, n)
			for i := range ids {
				ids[i] = r.Int64N(int64(rows))
			}
			values, stored := make([]float32, result), make([]byte, result*dtype.Bits()/8)
			view, at, out := mustConvert(b, narrow, garner.F32), Memory(garner.Of(ids, n)), garner.Of(values, n, width)
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("dtype=%s/elements=%d/threads=%d", dtype, width, threads), func(b *testing.B) {
					if runtime.NumCPU() < threads {
						b.Skipf("this machine has %d cores", runtime.NumCPU())
					}
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
					ctx := context.Background()
					names := []string{"lookup", "into", "copy", "copy32"}
					steps := []func() error{
						func() error { return LookupValues(ctx, table, ids, values) },
						func() error {
							return GatherInto(ctx, onnx.Gather13{}, view, at, out, Options{Threads: threads})
						},
						func() error { return Lookup(ctx, table, ids, stored) },
						func() error { return LookupValues(ctx, wideTable, ids, values) },
					}
					least := make([]time.Duration, len(steps))
					for i := range least {
						least[i] = math.MaxInt64
						if err := steps[i](); err != nil { // every page is seen, and mapped
							b.Fatal(err)
						}
					}
					for b.Loop() {
						for _, i := range r.Perm(len(steps)) {
							begin := time.Now()
							if err := steps[i](); err != nil {
								b.Fatal(err)
							}
							least[i] = min(least[i], time.Since(begin))
						}
					}
					b.ReportMetric(0, "ns/op")
					for i, name := range names {
						b.ReportMetric(float64(least[i])/float64(n), name+"-ns/row")
					}
				})
			}
			narrow.Close()
			same.Close()
		}
	}
}

// benchBytes are random bytes without NaNs of f32, repeated.
func benchBytes(n int) []byte {
	b, piece := make([]byte, n), noise(1<<20)
	for i := range piece {
		piece[i] &= 0x3f
	}
	for at := 0; at < n; at += len(piece) {
		copy(b[at:], piece)
	}
	return b
}
