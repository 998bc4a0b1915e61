package bundle

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// box makes a slice of starts and lengths, which alternate.
func box(numbers ...int64) Slice {
	var s Slice
	for i := 0; i < len(numbers); i += 2 {
		s.Start, s.Length = append(s.Start, numbers[i]), append(s.Length, numbers[i+1])
	}
	return s
}

// TestTiled holds which slices make a tensor.
func TestTiled(t *testing.T) {
	// Five slices in a whirl around the one in the middle: no cut parts them.
	whirl := []Slice{box(0, 1, 0, 2), box(0, 2, 2, 1), box(2, 1, 1, 2), box(1, 2, 0, 1), box(1, 1, 1, 1)}
	var many []Slice
	for i := range int64(100) {
		many = append(many, box(i*i, 2*i+1, 0, Whole))
	}
	// A spiral of slices, each of which is cut off what the one before left.
	var spiral []Slice
	from, to := [2]int64{}, [2]int64{200, 200}
	for i := 0; from != to && len(spiral) < 300; i++ {
		axis := i % 2
		s := box(from[0], to[0]-from[0], from[1], to[1]-from[1])
		s.Length[axis] = 1
		spiral = append(spiral, s)
		from[axis]++
	}
	// The whirl, 300 times as large, and the one in the middle cut into columns.
	var large []Slice
	for _, s := range whirl[:4] {
		large = append(large, box(300*s.Start[0], 300*s.Length[0], 300*s.Start[1], 300*s.Length[1]))
	}
	for i := range int64(300) {
		large = append(large, box(300, 300, 300+i, 1))
	}
	for _, tt := range []struct {
		shape []int64
		list  []Slice
		want  string
	}{
		{[]int64{900, 900}, large, "not cut along one axis after the other"},
		{nil, []Slice{{}}, ""},
		{nil, []Slice{{}, {}}, "slices 0 and 1 have elements in common"},
		{[]int64{0}, []Slice{box(0, 0)}, ""},
		{[]int64{0}, []Slice{box(0, Whole), box(0, Whole)}, ""}, // without elements
		{[]int64{4}, []Slice{box(0, Whole)}, ""},
		{[]int64{4}, []Slice{box(1, 3), box(0, 1)}, ""},
		{[]int64{4}, []Slice{box(1, 3), box(0, 0), box(0, 1), box(4, 0)}, ""},
		{[]int64{4}, []Slice{box(0, 2), box(0, 2)}, "slices 0 and 1 have elements in common"},
		{[]int64{4}, []Slice{box(0, 2), box(3, 1)}, "its slices have 3 elements, and its shape [4] has 4"},
		{[]int64{4}, []Slice{box(2, 2), box(1, 2)}, "slices 0 and 1 have elements in common"},
		{[]int64{4}, []Slice{box(0, Whole), box(0, Whole), box(0, Whole)}, "slices 0 and 1 have elements in common"},
		{[]int64{2, 2}, []Slice{box(0, 1, 0, 1), box(1, 1, 0, 1), box(0, 1, 1, 1), box(1, 1, 1, 1)}, ""},
		{[]int64{2, 2}, []Slice{box(0, 1, 0, 1), box(1, 1, 0, 1), box(0, 1, 1, 1), box(1, 1, 0, 1)}, "slices 1 and 3 have elements in common"},
		{[]int64{3, 3}, whirl, ""},
		{[]int64{3, 3}, append(whirl[:4:4], box(1, 1, 0, 1)), "slices 3 and 4 have elements in common"},
		{[]int64{3, 3}, whirl[:4], "its slices have 8 elements, and its shape [3 3] has 9"},
		{[]int64{10000, 1 << 40}, many, ""},
		{[]int64{200, 200}, spiral, "not cut along one axis after the other"},
		{[]int64{math.MaxInt64, 2}, []Slice{box(0, Whole, 0, Whole)}, "more elements than can be counted"},
		{[]int64{math.MaxInt64}, []Slice{box(0, Whole), box(0, Whole), box(0, Whole)}, "slices 0 and 1 have elements in common"},
		{[]int64{math.MaxInt64, 0}, []Slice{box(0, Whole, 0, Whole)}, ""},
	} {
		err := tiled(tt.shape, tt.list)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%v %.200v: %v; want %q", tt.shape, tt.list, err, tt.want)
		}
	}
}

// TestTiledRandom holds tiled against a count of every element.
func TestTiledRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	kinds := map[bool]int{}
	for range 20000 {
		shape := []int64{1 + r.Int64N(4), 1 + r.Int64N(4)}
		list := cutUp(r, []int64{0, 0}, shape, 0)
		if r.IntN(2) == 0 { // change one
			s := &list[r.IntN(len(list))]
			axis := r.IntN(2)
			s.Start[axis] = r.Int64N(shape[axis])
			s.Length[axis] = r.Int64N(shape[axis] - s.Start[axis] + 1)
		}
		counts, good := map[[2]int64]int{}, true
		for _, s := range list {
			for i := range s.Length[0] {
				for k := range s.Length[1] {
					counts[[2]int64{s.Start[0] + i, s.Start[1] + k}]++
				}
			}
		}
		for _, n := range counts {
			good = good && n == 1
		}
		good = good && int64(len(counts)) == shape[0]*shape[1]
		if err := tiled(shape, list); (err == nil) != good {
			t.Fatalf("%v %v: %v; whole: %v", shape, list, err, good)
		}
		kinds[good]++
	}
	if kinds[true] < 1000 || kinds[false] < 1000 {
		t.Errorf("%v", kinds)
	}
}

// cutUp cuts a slice again and again.
func cutUp(r *rand.Rand, from, size []int64, depth int) []Slice {
	axis := r.IntN(2)
	if depth > 3 || size[axis] < 2 || r.IntN(4) == 0 {
		return []Slice{box(from[0], size[0], from[1], size[1])}
	}
	at := 1 + r.Int64N(size[axis]-1)
	first, second, begin := []int64{size[0], size[1]}, []int64{size[0], size[1]}, []int64{from[0], from[1]}
	first[axis], second[axis] = at, size[axis]-at
	begin[axis] += at
	return append(cutUp(r, from, first, depth+1), cutUp(r, begin, second, depth+1)...)
}

// TestTiledCost checks many slices, whether they are apart or not. What compares each with each
// does not end.
func TestTiledCost(t *testing.T) {
	n := 1 << 20
	if testing.Short() {
		n >>= 4 // which an emulator, or the race detector, runs soon
	}
	apart, bricks, same := make([]Slice, n), make([]Slice, 0, n), make([]Slice, n)
	for i := range int64(n) {
		apart[int64(n)-1-i] = box(0, Whole, i, 1)
		same[i] = box(0, 1, 0, Whole)
		// Two rows of bricks whose joints are above the middles of others: no cut goes through.
		if i%2 == 0 {
			bricks = append(bricks, box(0, 1, i, 2))
		} else {
			bricks = append(bricks, box(1, 1, i, 2))
		}
	}
	if err := tiled([]int64{3, int64(n)}, apart); err != nil {
		t.Error(err)
	}
	if err := tiled([]int64{2, int64(n) + 2}, bricks); err == nil { // two halves of bricks are missing
		t.Error("bricks")
	}
	if err := tiled([]int64{1 << 20, 4}, same); err == nil || !strings.Contains(err.Error(), "in common") {
		t.Error(err)
	}
}
