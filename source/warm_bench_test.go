package source

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/onnx"
)

// warmFileBytes is the size of the file that BenchmarkWarm gathers from: 4096 × 8192
// f32, larger than the caches.
const warmFileBytes = 4096 * 8192 * 4

// warmCases are the gathers of BenchmarkWarm, all over the same bytes.
var warmCases = []struct {
	name    string
	op      garner.Op
	shape   []int // of data, f32
	indices []int
	dims    []int // an index of component i of a tuple lies in 0 … dims[i]-1
}{
	{"elements-axis0", onnx.GatherElements13{Axis: 0}, []int{4096, 8192}, []int{1024, 8192}, []int{4096}},
	{"elements-axis1", onnx.GatherElements13{Axis: 1}, []int{4096, 8192}, []int{4096, 2048}, []int{8192}},
	{"columns", onnx.Gather13{Axis: 1}, []int{8192, 4096}, []int{1024}, []int{4096}},
	{"single", onnx.Gather13{}, []int{4096 * 8192}, []int{2 << 20}, []int{4096 * 8192}},
	{"rows-64", onnx.Gather13{}, []int{warmFileBytes / 64, 16}, []int{1 << 18}, []int{warmFileBytes / 64}},
	{"rows-256", onnx.Gather13{}, []int{warmFileBytes / 256, 64}, []int{1 << 17}, []int{warmFileBytes / 256}},
	{"rows-3072", onnx.Gather13{}, []int{warmFileBytes / 3072, 768}, []int{1 << 14}, []int{warmFileBytes / 3072}},
	{"pairs", onnx.GatherND13{}, []int{4096, 8192}, []int{1 << 20, 2}, []int{4096, 8192}},
}

// BenchmarkWarm compares Gather and GatherInto from a file in the page cache with
// Prepared.Run over the file's mapping. Each iteration times, one after the other
// and in another order each time,
//
//	a plain copy of the result
//	Gather, to a Writer that copies into memory
//	GatherInto
//	Prepared.Run
//
// and the benchmark reports, of the medians,
//
//	gather/run   (Gather − copy) / Run
//	into/run     GatherInto / Run
//	run-ms, copy-ms
//
// GOMAXPROCS is the number of threads. Otherwise Gather with one thread would
// overlap its writes with its reads on a second core.
func BenchmarkWarm(b *testing.B) {
	path := warmFile(b)
	for _, tt := range warmCases {
		data := openWarm(b, path, tt.shape)
		view, ok := data.Tensor()
		if !ok {
			b.Skip("this system does not map the file")
		}
		indices := warmIndices(tt.indices, tt.dims)
		for _, threads := range []int{1, 2} {
			name := tt.name + "/threads-1"
			if threads == 2 {
				name = tt.name + "/threads-2"
			}
			b.Run(name, func(b *testing.B) {
				if runtime.NumCPU() < threads {
					b.Skipf("this machine has %d cores", runtime.NumCPU())
				}
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
				timeWarm(b, tt.op, data, view, indices, threads)
			})
		}
	}
}

// warmFile writes a file of random bytes, which is then in the page cache.
func warmFile(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "warm")
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	piece := noise(1 << 20)
	for n := 0; n < warmFileBytes; n += len(piece) {
		piece[0] = byte(n >> 20)
		if _, err := file.Write(piece); err != nil {
			b.Fatal(err)
		}
	}
	return path
}

func openWarm(b *testing.B, path string, shape []int) *File {
	b.Helper()
	spec := garner.SpecOf(garner.F32, shape...)
	size, err := sizeOf(spec)
	if err != nil {
		b.Fatal(err)
	}
	return open(b, spec, nil, Segment{path, 0, size})
}

// warmIndices are random, the components of a tuple in the last dim.
func warmIndices(shape, dims []int) garner.Tensor {
	r := rand.New(rand.NewPCG(15, 1))
	n, _ := garner.Shape(shape).Len()
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = int64(r.IntN(dims[i%len(dims)]))
	}
	return garner.Of(ids, shape...)
}

func timeWarm(b *testing.B, op garner.Op, data *File, view, at garner.Tensor, threads int) {
	indices, o, ctx := Memory(at), Options{Threads: threads}, context.Background()
	prepared, err := garner.Prepare(op, view.Spec(), at.Spec(), garner.Threads(threads))
	if err != nil {
		b.Fatal(err)
	}
	result, err := garner.Gather(op, view, at)
	if err != nil {
		b.Fatal(err)
	}
	from := bytesOf(b, result)
	out, err := garner.New(result.DType(), result.Shape()...)
	if err != nil {
		b.Fatal(err)
	}
	dst, err := out.Bytes()
	if err != nil {
		b.Fatal(err)
	}
	steps := []func() error{
		func() error { copy(dst, from); return nil },
		func() error { return Gather(ctx, op, data, indices, &into{dst}, o) },
		func() error { return GatherInto(ctx, op, data, indices, out, o) },
		func() error { return prepared.Run(ctx, view, at, out) },
	}
	times := make([][]time.Duration, len(steps))
	r := rand.New(rand.NewPCG(15, 2))
	once := func(keep bool) {
		for _, i := range r.Perm(len(steps)) {
			step := steps[i]
			if !keep {
				clear(dst)
			}
			begin := time.Now()
			err := step()
			took := time.Since(begin)
			if err != nil {
				b.Fatal(err)
			}
			if keep {
				times[i] = append(times[i], took)
			} else if !slices.Equal(dst, from) {
				b.Fatalf("step %d gave another result", i)
			}
		}
	}
	once(false) // checks the results, and touches every page
	for b.Loop() {
		once(true)
	}
	median := func(i int) float64 {
		slices.Sort(times[i])
		return times[i][len(times[i])/2].Seconds() * 1e3
	}
	copied, run := median(0), median(3)
	b.ReportMetric(0, "ns/op") // of all four steps together
	b.ReportMetric((median(1)-copied)/run, "gather/run")
	b.ReportMetric(median(2)/run, "into/run")
	b.ReportMetric(run, "run-ms")
	b.ReportMetric(copied, "copy-ms")
}
