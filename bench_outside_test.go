package garner_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/numpy"
)

// benchRandom returns a tensor of bytes that are not all equal.
func benchRandom(b *testing.B, dtype garner.DType, shape ...int) garner.Tensor {
	b.Helper()
	t, err := garner.New(dtype, shape...)
	if err != nil {
		b.Fatal(err)
	}
	memory, err := t.Bytes()
	if err != nil {
		b.Fatal(err)
	}
	for i := range memory {
		memory[i] = byte(i * 7)
	}
	return t
}

// benchBelow returns n random indices below dim.
func benchBelow(n, dim int) []int64 {
	r := rand.New(rand.NewPCG(1, 2))
	v := make([]int64, n)
	for i := range v {
		v[i] = r.Int64N(int64(dim))
	}
	return v
}

// benchTurn times a gather into memory that was used before. Beside the mean it reports
// the least time of a turn, which other work on the machine changes least.
func benchTurn(b *testing.B, op garner.Op, data, indices garner.Tensor, options ...garner.PrepareOption) {
	b.Helper()
	p, err := garner.Prepare(op, data.Spec(), indices.Spec(), append(options, garner.Threads(1))...)
	if err != nil {
		b.Fatal(err)
	}
	out, err := garner.New(data.DType(), p.Plan().Out...)
	if err != nil {
		b.Fatal(err)
	}
	least := time.Duration(math.MaxInt64)
	for b.Loop() {
		start := time.Now()
		if err := p.Run(b.Context(), data, indices, out); err != nil {
			b.Fatal(err)
		}
		least = min(least, time.Since(start))
	}
	b.ReportMetric(float64(least.Nanoseconds()), "least-ns")
}

// BenchmarkOutside gathers from 1000 positions by indices of which some lie
// outside, by policy.
func BenchmarkOutside(b *testing.B) {
	const n = 1_000_000
	axis := 0
	modes := []struct {
		name string
		op   garner.Op
	}{
		{"clip", numpy.Take{Axis: &axis, Mode: "clip"}},
		{"wrap", numpy.Take{Axis: &axis, Mode: "wrap"}},
		{"zero", garner.WithOutside(numpy.Take{Axis: &axis}, garner.Zero)},
	}
	for _, width := range []int{1, 4, 64} {
		n := n / max(1, width/4)
		data := benchRandom(b, garner.F32, 1000, width)
		for _, of := range []int{0, 10, 170} { // of 1000
			values := benchBelow(n, 1000)
			r := rand.New(rand.NewPCG(3, 4))
			for i := range values {
				if r.IntN(1000) < of {
					values[i] = 1000 + r.Int64N(200)
				}
			}
			for _, mode := range modes {
				b.Run(fmt.Sprintf("mode=%s/row=%d/permille=%d", mode.name, 4*width, of), func(b *testing.B) {
					benchTurn(b, mode.op, data, garner.Of(values, n))
				})
			}
		}
	}
}

// BenchmarkSteps gathers by indices that do not lie side by side, and from data
// whose elements do not.
func BenchmarkSteps(b *testing.B) {
	axis := 0
	view := func(t garner.Tensor, err error) garner.Tensor {
		if err != nil {
			b.Fatal(err)
		}
		return t
	}
	at := func(i int) *int { return &i }
	small := benchRandom(b, garner.F32, 1000)
	halves := garner.Of(benchBelow(200_000, 1000), 200_000)
	corners := garner.Of(benchBelow(3_000_000, 1000), 1_000_000, 3)
	columns := garner.Of([]int64{0, 2}, 2)
	for _, c := range []struct {
		name          string
		op            garner.Op
		data, indices garner.Tensor
	}{
		{"every-second-index", numpy.Take{Axis: &axis}, small, view(halves.Slice(0, 0, 200_000, 2))},
		{"column-of-indices", numpy.Take{Axis: &axis}, small, view(view(corners.Slice(1, 1, 2, 1)).Reshape(1_000_000))},
		{"transposed-indices", numpy.Take{Axis: &axis}, small, view(garner.Of(benchBelow(120_000, 1000), 400, 300).Transpose(1, 0))},
		{"along-transposed-indices", numpy.TakeAlongAxis{Axis: at(1)}, benchRandom(b, garner.F32, 300, 300), view(garner.Of(benchBelow(90_000, 300), 300, 300).Transpose(1, 0))},
		{"channels", numpy.Take{Axis: at(2)}, benchRandom(b, garner.U8, 480, 640, 3), garner.Of([]int64{2, 1, 0}, 3)},
		{"two-of-four-columns", numpy.Take{Axis: at(1)}, benchRandom(b, garner.F32, 1_000_000, 4), columns},
		{"two-of-four-columns-near", numpy.Take{Axis: at(1)}, benchRandom(b, garner.F32, 100_000, 4), columns},
		{"five-of-sixteen-columns", numpy.Take{Axis: at(1)}, benchRandom(b, garner.F32, 100_000, 16), garner.Of([]int64{3, 1, 4, 15, 9}, 5)},
		{"every-second-column", numpy.Take{Axis: &axis}, view(benchRandom(b, garner.F32, 4000, 2000).Slice(1, 0, 2000, 2)), garner.Of(benchBelow(2000, 4000), 2000)},
		{"transposed-data", numpy.Take{Axis: &axis}, view(benchRandom(b, garner.F32, 500, 500).Transpose(1, 0)), garner.Of(benchBelow(500, 500), 500)},
		{"column-major-data", numpy.Take{Axis: &axis}, view(benchRandom(b, garner.F64, 100, 5000).Transpose(1, 0)), garner.Of(benchBelow(5000, 5000), 5000)},
		{"middle-axis-64", numpy.Take{Axis: at(1)}, benchRandom(b, garner.F32, 64, 64, 64), garner.Of(benchBelow(64, 64), 64)},
		{"middle-axis-4d", numpy.Take{Axis: at(2)}, benchRandom(b, garner.F32, 16, 16, 8, 128), garner.Of(benchBelow(8, 8), 8)},
		{"middle-axis-5d", numpy.Take{Axis: at(2)}, benchRandom(b, garner.F32, 16, 16, 8, 8, 16), garner.Of(benchBelow(8, 8), 8)},
	} {
		b.Run("of="+c.name, func(b *testing.B) { benchTurn(b, c.op, c.data, c.indices) })
	}
}
