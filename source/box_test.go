package source

import (
	"math/rand/v2"
	"testing"

	"github.com/garner-go/garner"
)

// A turn is one turn of a nest: its offsets in data and in the indices.
type turn struct{ data, index int }

// turnsOf lists the turns of a nest, outermost loop first, shifted by a base.
func turnsOf(loops []garner.Loop, base turn) []turn {
	list := []turn{base}
	for _, l := range loops {
		var next []turn
		for _, at := range list {
			for c := range l.Extent {
				next = append(next, turn{at.data + c*l.Data, at.index + c*l.Index})
			}
		}
		list = next
	}
	return list
}

// FuzzBoxes checks the law of boxes: together they cover every turn of a range once,
// in order, and none has more turns than most.
func FuzzBoxes(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 6))
		loops := make([]garner.Loop, r.IntN(5))
		for i := range loops {
			loops[i] = garner.Loop{Extent: 1 + r.IntN(6), Data: r.IntN(50) - 10, Index: r.IntN(50) - 10}
		}
		all := turnsOf(loops, turn{})
		first := r.IntN(len(all) + 1)
		n := r.IntN(len(all) - first + 1)
		most := 1 + r.IntN(len(all)+3)
		done := first
		for b := range boxes(loops, first, n, most) {
			list := turnsOf(b.loops, turn{b.data, b.index})
			if len(list) != b.count || b.count < 1 || b.count > most || done+b.count > first+n {
				t.Fatalf("seed %d: a box of %d turns that counts %d, from turn %d on, of %d … %d and at most %d", seed, len(list), b.count, done, first, first+n-1, most)
			}
			for i, at := range list {
				if at != all[done+i] {
					t.Fatalf("seed %d: turn %d is %v, want %v", seed, done+i, at, all[done+i])
				}
			}
			done += b.count
		}
		if done != first+n {
			t.Fatalf("seed %d: the boxes end at turn %d, not %d", seed, done, first+n)
		}
	})
}

// TestBoxesOfALargeNest counts turns whose product is near the largest int.
func TestBoxesOfALargeNest(t *testing.T) {
	const side = 1 << 15
	loops := []garner.Loop{{Extent: side, Data: 3}, {Extent: side - 1, Data: 1, Index: 5}}
	total := side * (side - 1)
	count, last := 0, box{}
	for b := range boxes(loops, total-side, side, total) {
		count, last = count+b.count, b
	}
	if count != side || last.count != side-1 || last.data != 3*(side-1) || last.index != 0 {
		t.Errorf("%d turns, the last box %+v", count, last)
	}
}
