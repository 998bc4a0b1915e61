package garner_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/garner-go/garner"
)

// BenchmarkBags sums bags of 20 rows, 512 of them, from a table that fits no cache.
func BenchmarkBags(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, columns := range []int{64, 256, 1024} {
		rows := 64 << 20 / columns / 4
		data := garner.Of(make([]float32, rows*columns), rows, columns)
		ids := make([]int64, 512*20)
		for i := range ids {
			ids[i] = r.Int64N(int64(rows))
		}
		indices := garner.Of(ids, 512, 20)
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("columns-%d/threads-%d", columns, threads), func(b *testing.B) {
				p, err := garner.Prepare(bagsOf{garner.Bag{EndsAt: -1, WeightsAt: -1, FromZero: true}}, data.Spec(), indices.Spec(), garner.Threads(threads))
				if err != nil {
					b.Fatal(err)
				}
				out, err := garner.New(garner.F32, 512, columns)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(ids) * columns * 4))
				for b.Loop() {
					if err := p.Run(b.Context(), data, indices, out); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
