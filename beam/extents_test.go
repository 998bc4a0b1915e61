package beam

import (
	"math/rand/v2"
	"testing"

	"github.com/garner-go/garner/beam/internal/wire"
)

// TestUnion holds that extents have every byte that is wanted, once, in order, in the array, and
// that many short rows take the memory of their blocks alone.
func TestUnion(t *testing.T) {
	rng := rand.New(rand.NewPCG(30, 1))
	for _, c := range []struct {
		name           string
		size, requests int
		each           int64 // rows of a request
		unit, array    int64
		most           int // extents
	}{
		{"few, often", 4, 3, 100, 1 << 20, 5 << 20, 500},
		{"rows of a byte", 1, 8, 1 << 18, 1 << 20, 3<<20 + 5, 1<<20/blockBytes + 1},
		{"rows over blocks", 15, 40, 1 << 14, 1 << 20, 2 << 20, 1<<20/blockBytes + 1},
		{"rows of the last bytes", 7, 8, 1 << 16, 1 << 20, 1<<20 + 300, 300 / 7},
		{"rows that are not short", 16, 8, 1 << 16, 1 << 22, 4 << 22, 1 << 18},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := &union{base: c.unit, array: c.array}
			wanted := make(map[int64]bool)
			places := min(c.unit, c.array-c.unit-int64(c.size)+1) / int64(c.size)
			for range c.requests {
				var at []int64
				for k := range places {
					if rng.Int64N(places) < c.each {
						at = append(at, c.unit+k*int64(c.size))
						wanted[at[len(at)-1]] = true
					}
				}
				for range 1 + distinctAt/int(c.each*int64(c.requests)) { // of several shards
					u.add(wire.Rows{Size: c.size, At: at})
				}
			}
			all := u.extents()
			if len(all) > c.most {
				t.Errorf("%d extents", len(all))
			}
			for i, e := range all {
				if e.from < c.unit || e.to > c.array || e.from >= e.to || i > 0 && e.from < all[i-1].to {
					t.Fatalf("extent %d of %d is %+v", i, len(all), e)
				}
			}
			h := hold(all)
			for from := range wanted {
				if h.row(from, int64(c.size)) == nil {
					t.Fatalf("row at %d is not there", from)
				}
			}
		})
	}
}
