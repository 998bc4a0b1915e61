package garner_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/torch"
)

// bagTable returns a table of about so many bytes that fits no cache, of f32 or of rows
// of FBGEMM with codes of some bits, and its number of rows. All of it is written, so
// that no two pages are one.
func bagTable(bits, columns, size int) (garner.Tensor, garner.Op, int) {
	if bits == 32 {
		rows := size / columns / 4
		values := make([]float32, rows*columns)
		for i := range values {
			values[i] = float32(i%1000) / 8
		}
		return garner.Of(values, rows, columns), torch.EmbeddingBag{Mode: "sum"}, rows
	}
	width := columns*bits/8 + bits
	rows := size / width
	raw := make([]byte, rows*width)
	for i := range raw {
		raw[i] = byte(i % 60) // every scale and bias is finite
	}
	return garner.Of(raw, rows, width), torch.QuantizedEmbeddingBag{Bits: bits}, rows
}

// BenchmarkBags sums 512 bags of terms at random, a row a metric; 26 tables are one call
// of RunAll.
func BenchmarkBags(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, tables := range []int{1, 26} {
		for _, bits := range []int{32, 8, 4} {
			for _, columns := range []int{64, 128, 256, 1024} {
				table, op, rows := bagTable(bits, columns, 64<<20)
				for _, each := range []int{1, 20, 100} {
					ids := make([]int64, tables*512*each)
					for i := range ids {
						ids[i] = r.Int64N(int64(rows))
					}
					for _, threads := range []int{1, 2} {
						b.Run(fmt.Sprintf("tables=%d/bits=%d/columns=%d/each=%d/threads=%d", tables, bits, columns, each, threads), func(b *testing.B) {
							calls := make([]garner.Call, tables)
							for i := range calls {
								indices := garner.Of(ids[i*512*each:(i+1)*512*each], 512, each)
								p, err := garner.Prepare(op, table.Spec(), indices.Spec(), garner.Threads(threads))
								if err != nil {
									b.Fatal(err)
								}
								out, err := garner.New(garner.F32, 512, columns)
								if err != nil {
									b.Fatal(err)
								}
								calls[i] = garner.Call{Prepared: p, Data: table, Indices: indices, Out: out}
							}
							b.ReportAllocs()
							for b.Loop() {
								if err := garner.RunAll(b.Context(), calls); err != nil {
									b.Fatal(err)
								}
							}
							b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(ids)), "ns/row")
						})
					}
				}
			}
		}
	}
}
