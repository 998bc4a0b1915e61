package garner_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/garner-go/garner"
)

// BenchmarkLookup copies a few rows of a table that is far, by new ids every
// time.
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
