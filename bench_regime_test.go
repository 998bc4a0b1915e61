package garner_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/strict"
)

// The benchmarks of the engine, one turn of each being a whole run into memory
// that was used before. Names are key=value, for benchstat.

// benchThreads are how many cores a run may use.
var benchThreads = []int{1, 2}

// A bench is a gather with random indices.
type bench struct {
	op            garner.Op
	dtype         garner.DType
	data, indices []int
	index         garner.DType
	view          func(data garner.Tensor) (garner.Tensor, error) // nil: as it is
	options       []garner.PrepareOption
}

// run times a bench with this many threads. way is the way that the run must
// take; "" allows any.
func (t bench) run(b *testing.B, threads int, way string) {
	b.Helper()
	var pool garner.Pool
	defer pool.Close()
	take := func(dtype garner.DType, shape []int) garner.Tensor {
		x, err := pool.New(dtype, shape...)
		if err != nil {
			b.Fatal(err)
		}
		return x
	}
	data, indices := take(t.dtype, t.data), take(t.index, t.indices)
	defer pool.Release(data)
	defer pool.Release(indices) // before the pool is closed
	if t.dtype != garner.String {
		memory, err := data.Bytes()
		if err != nil {
			b.Fatal(err)
		}
		for i := range memory {
			memory[i] = byte(i)
		}
	}
	var err error
	if t.view != nil {
		if data, err = t.view(data); err != nil {
			b.Fatal(err)
		}
	}
	prepared, err := garner.Prepare(t.op, data.Spec(), indices.Spec(), append(t.options, garner.Threads(threads))...)
	if err != nil {
		b.Fatal(err)
	}
	plan := prepared.Plan()
	if got := prepared.Regime().Way; way != "" && got != way {
		b.Fatalf("runs as %s, not as %s", got, way)
	}
	draw(b, indices, plan)
	out := take(plan.DType, plan.Out)
	defer pool.Release(out)
	ctx := context.Background()
	if err := prepared.Run(ctx, data, indices, out); err != nil {
		b.Fatal(err)
	}
	size := out.Len() * 16
	if plan.DType != garner.String {
		size = out.Len() * plan.DType.Bits() / 8
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if err := prepared.Run(ctx, data, indices, out); err != nil {
			b.Fatal(err)
		}
	}
	// Size of a row as Regime reports it: in bytes, bits or strings.
	total := size
	switch bits := plan.DType.Bits(); {
	case bits == 0:
		total = out.Len()
	case bits < 8:
		total = out.Len() * bits
	}
	rows := total / prepared.Regime().SliceSize
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}

// draw fills indices with numbers that the plan's axes have.
func draw(b *testing.B, indices garner.Tensor, plan *garner.Plan) {
	b.Helper()
	memory, err := indices.Bytes()
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(21, 22))
	width := indices.DType().Bits() / 8
	for i := range indices.Len() {
		var v [8]byte
		binary.LittleEndian.PutUint64(v[:], r.Uint64N(uint64(plan.Axes[i%len(plan.Axes)].Dim)))
		copy(memory[i*width:(i+1)*width], v[:])
	}
}

// both runs a bench with one thread and with two.
func (t bench) both(b *testing.B, name, way string) {
	for _, threads := range benchThreads {
		b.Run(fmt.Sprintf("%s/threads=%d", name, threads), func(b *testing.B) { t.run(b, threads, way) })
	}
}

// one runs a bench with one thread.
func (t bench) one(b *testing.B, name string) {
	b.Run(name, func(b *testing.B) { t.run(b, 1, "") })
}

// BenchmarkTiny times the overhead of a run.
func BenchmarkTiny(b *testing.B) {
	bench{op: strict.GatherND{}, dtype: garner.I64, data: []int{2, 2}, indices: []int{2, 2}, index: garner.I64}.both(b, "nd", "")
	bench{op: strict.Gather{}, dtype: garner.F32, data: []int{10, 4}, indices: []int{3}, index: garner.I64}.both(b, "rows", "near")
}

// benchOutput is about how many bytes the large benchmarks of rows write.
const benchOutput = 32 << 20

func BenchmarkRegimeRows(b *testing.B) {
	for _, size := range []int{3, 12, 20, 60, 64, 128, 768, 3072} {
		for _, table := range []struct {
			name  string
			bytes int
		}{{"near", 256 << 10}, {"far", 256 << 20}} {
			n := min(benchOutput/size, 1<<20)
			bench{op: strict.Gather{}, dtype: garner.U8, data: []int{table.bytes / size, size}, indices: []int{n}, index: garner.I64}.
				both(b, fmt.Sprintf("size=%d/table=%s", size, table.name), "")
		}
	}
}

// BenchmarkRegimeElements gathers elements straight from their indices.
func BenchmarkRegimeElements(b *testing.B) {
	for _, dtype := range []garner.DType{garner.U8, garner.F16, garner.F32, garner.F64} {
		size := dtype.Bits() / 8
		for _, index := range []garner.DType{garner.I32, garner.I64} {
			for _, table := range []struct {
				name  string
				bytes int
			}{{"near", 256 << 10}, {"far", 256 << 20}} {
				bench{op: strict.Gather{}, dtype: dtype, data: []int{table.bytes / size}, indices: []int{2 << 20}, index: index}.
					both(b, fmt.Sprintf("size=%d/index=%s/table=%s", size, index, table.name), map[string]string{"near": "direct", "far": "direct-ahead"}[table.name])
			}
		}
	}
}

// BenchmarkRegimeIndices gathers elements by indices of types that must be
// widened first.
func BenchmarkRegimeIndices(b *testing.B) {
	for _, index := range []garner.DType{garner.I8, garner.U16, garner.U32, garner.U64} {
		dim := 1 << min(16, index.Bits()-1)
		bench{op: strict.Gather{}, dtype: garner.F32, data: []int{dim}, indices: []int{2 << 20}, index: index}.
			both(b, fmt.Sprintf("index=%s/table=near", index), "")
	}
}

// BenchmarkRegimeTuples is GatherND of single elements.
func BenchmarkRegimeTuples(b *testing.B) {
	for k, dims := range [][]int{{1 << 26}, {8192, 8192}, {400, 400, 400}, {96, 80, 96, 80}, {36, 36, 36, 36, 36}, {20, 20, 20, 20, 20, 20}} {
		bench{op: strict.GatherND{}, dtype: garner.F32, data: dims, indices: []int{1 << 20, k + 1}, index: garner.I64}.
			both(b, fmt.Sprintf("k=%d/table=far", k+1), "")
	}
	bench{op: strict.GatherND{BatchDims: 1}, dtype: garner.F32, data: []int{256, 65536, 4}, indices: []int{256, 8192, 1}, index: garner.I64}.
		both(b, "k=1/batch_dims=1/size=16/table=far", "ahead")
}

// BenchmarkRegimeColumns gathers along axes other than the first, and elements
// whose data is near or is read in order.
func BenchmarkRegimeColumns(b *testing.B) {
	last := func(data []int, indices int, name string) {
		bench{op: strict.Gather{Axis: 1}, dtype: garner.F32, data: data, indices: []int{indices}, index: garner.I64}.both(b, name, "columns")
	}
	last([]int{8192, 4096}, 1024, "axis=last")
	last([]int{100000, 64}, 10, "axis=last/few")
	last([]int{64, 65536}, 16384, "axis=last/many")
	bench{op: strict.Gather{Axis: 1}, dtype: garner.F32, data: []int{512, 256, 256}, indices: []int{128}, index: garner.I64}.both(b, "axis=middle/size=1024", "")
	bench{op: strict.GatherElements{Axis: 1}, dtype: garner.F32, data: []int{4096, 8192}, indices: []int{4096, 1024}, index: garner.I64}.both(b, "axis=last/elements", "")
	bench{op: strict.GatherElements{Axis: 1}, dtype: garner.F32, data: []int{2000, 100}, indices: []int{2000, 300}, index: garner.I64}.both(b, "axis=last/elements/table=near", "")
	bench{op: strict.GatherElements{}, dtype: garner.F32, data: []int{200, 300}, indices: []int{2000, 300}, index: garner.I64}.both(b, "axis=first/elements/table=near", "")
	bench{op: strict.GatherElements{Axis: 1}, dtype: garner.F32, data: []int{64, 256, 512}, indices: []int{64, 128, 512}, index: garner.I64}.both(b, "axis=middle/elements", "")
}

// BenchmarkRegimeStrips is GatherElements along an axis that is not the last.
func BenchmarkRegimeStrips(b *testing.B) {
	bench{op: strict.GatherElements{}, dtype: garner.F32, data: []int{8192, 4096}, indices: []int{1024, 4096}, index: garner.I64}.both(b, "size=4", "strips")
	bench{op: strict.GatherElements{}, dtype: garner.U8, data: []int{8192, 4096}, indices: []int{1024, 4096}, index: garner.I32}.both(b, "size=1", "strips")
}

// BenchmarkRegimeStrided gathers out of a view: columns of a transposed matrix.
func BenchmarkRegimeStrided(b *testing.B) {
	transposed := func(t garner.Tensor) (garner.Tensor, error) { return t.Transpose(1, 0) }
	bench{op: strict.Gather{}, dtype: garner.F32, data: []int{4096, 4096}, indices: []int{1024}, index: garner.I64, view: transposed}.both(b, "transposed", "")
	every := func(t garner.Tensor) (garner.Tensor, error) { return t.Slice(0, 0, t.Shape()[0], 2) }
	bench{op: strict.Gather{}, dtype: garner.F32, data: []int{1 << 20, 16}, indices: []int{1 << 18}, index: garner.I64, view: every}.both(b, "every_other_row", "")
}

// BenchmarkRegimeOther gathers packed elements and strings, for which there is
// no kernel.
func BenchmarkRegimeOther(b *testing.B) {
	bench{op: strict.Gather{}, dtype: garner.U4, data: []int{1 << 16, 32}, indices: []int{1 << 17}, index: garner.I64}.both(b, "dtype=u4/size=16", "bits")
	bench{op: strict.Gather{}, dtype: garner.String, data: []int{1 << 14}, indices: []int{1 << 18}, index: garner.I64}.both(b, "dtype=string", "strings")
}

// BenchmarkStripBytes times widths of strips; 0: no strips.
func BenchmarkStripBytes(b *testing.B) {
	for _, dtype := range []garner.DType{garner.U8, garner.F32} {
		for _, wide := range []int{0, 64, 128, 256, 512} {
			bench{op: strict.GatherElements{}, dtype: dtype, data: []int{8192, 4096}, indices: []int{1024, 4096}, index: garner.I64,
				options: []garner.PrepareOption{garner.StripBytes(wide)}}.
				one(b, fmt.Sprintf("dtype=%s/wide=%d", dtype, wide))
		}
	}
}

// BenchmarkStraight times prefetching the next row of data while the current
// one is gathered from.
func BenchmarkStraight(b *testing.B) {
	for _, tt := range []struct {
		name    string
		op      garner.Op
		data    []int
		indices []int
	}{
		{"gather", strict.Gather{Axis: 1}, []int{8192, 4096}, []int{1024}},
		{"elements", strict.GatherElements{Axis: 1}, []int{4096, 8192}, []int{4096, 1024}},
	} {
		bench{op: tt.op, dtype: garner.F32, data: tt.data, indices: tt.indices, index: garner.I64}.one(b, "of="+tt.name+"/ahead=true")
		bench{op: tt.op, dtype: garner.F32, data: tt.data, indices: tt.indices, index: garner.I64, options: []garner.PrepareOption{garner.AllNear()}}.
			one(b, "of="+tt.name+"/ahead=false")
	}
}

// BenchmarkTileRows times numbers of rows per tile.
func BenchmarkTileRows(b *testing.B) {
	for _, rows := range []int{128, 512, 1024, 4096, 16384} {
		bench{op: strict.GatherND{}, dtype: garner.F32, data: []int{8192, 8192}, indices: []int{1 << 20, 2}, index: garner.I64,
			options: []garner.PrepareOption{garner.TileRows(rows)}}.one(b, fmt.Sprintf("k=2/rows=%d", rows))
	}
}

// BenchmarkAheadLines times prefetch distances in cache lines.
func BenchmarkAheadLines(b *testing.B) {
	for _, size := range []int{4, 64, 256, 3072} {
		for _, lines := range []int{16, 32, 64, 96, 128, 192} {
			dtype, shape := garner.U8, []int{256 << 20 / size, size}
			if size == 4 {
				dtype, shape = garner.F32, shape[:1]
			}
			bench{op: strict.Gather{}, dtype: dtype, data: shape, indices: []int{min(1<<20, 16<<20/size)}, index: garner.I64,
				options: []garner.PrepareOption{garner.AheadLines(lines)}}.one(b, fmt.Sprintf("size=%d/lines=%d", size, lines))
		}
	}
}

// BenchmarkAlone finds the size of a result from which other cores are worth
// waking.
func BenchmarkAlone(b *testing.B) {
	for _, output := range []int{64 << 10, 256 << 10, 512 << 10, 1 << 20, 4 << 20} {
		bench{op: strict.Gather{}, dtype: garner.F32, data: []int{1 << 20, 16}, indices: []int{output / 64}, index: garner.I64,
			options: []garner.PrepareOption{garner.NeverAlone()}}.both(b, fmt.Sprintf("size=64/output=%dK", output>>10), "")
	}
}

// BenchmarkOutput times a fresh output, from the Go heap and from a pool.
func BenchmarkOutput(b *testing.B) {
	data, indices := garner.Of(make([]float32, 1<<20), 1<<16, 16), garner.Of(make([]int64, 1<<20), 1<<20)
	prepared, err := garner.Prepare(strict.Gather{}, data.Spec(), indices.Spec())
	if err != nil {
		b.Fatal(err)
	}
	plan, ctx := prepared.Plan(), context.Background()
	var pool garner.Pool
	defer pool.Close()
	for _, from := range []struct {
		name    string
		take    func() (garner.Tensor, error)
		release func(garner.Tensor)
	}{
		{"make", func() (garner.Tensor, error) { return garner.New(plan.DType, plan.Out...) }, func(garner.Tensor) {}},
		{"pool", func() (garner.Tensor, error) { return pool.New(plan.DType, plan.Out...) }, pool.Release},
	} {
		b.Run("from="+from.name, func(b *testing.B) {
			b.SetBytes(64 << 20)
			for b.Loop() {
				out, err := from.take()
				if err != nil {
					b.Fatal(err)
				}
				if err := prepared.Run(ctx, data, indices, out); err != nil {
					b.Fatal(err)
				}
				from.release(out)
			}
		})
	}
}

// BenchmarkLookup copies a few rows of a far table, by new ids each time.
func BenchmarkLookup(b *testing.B) {
	table := make([]byte, 256<<20)
	for i := range table {
		table[i] = byte(i)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for _, width := range []int{64, 256, 1024} {
		for _, n := range []int{16, 512} {
			b.Run(fmt.Sprintf("width=%d/rows=%d", width, n), func(b *testing.B) {
				ids, out := make([]int32, 1<<16), make([]byte, n*width)
				for i := range ids {
					ids[i] = int32(r.IntN(len(table) / width))
				}
				at := 0
				for b.Loop() {
					if err := garner.Lookup(table, width, ids[at:at+n], out); err != nil {
						b.Fatal(err)
					}
					if at += n; at+n > len(ids) {
						at = 0
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/row")
			})
		}
	}
}
