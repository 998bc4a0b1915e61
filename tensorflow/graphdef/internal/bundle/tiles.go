package bundle

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// A tile is a slice with its ends, and its number in the list of them.
type tile struct {
	from, to []int64
	number   int
}

const (
	// mostCuts is how often slices may be cut into groups: a partitioner of TensorFlow cuts
	// one axis, and a grid has two groups an axis.
	mostCuts = 64

	// mostPairs is the most slices of a group that no cut parts, which are compared with each
	// other.
	mostPairs = 256
)

// tiled refuses slices of a tensor that have elements in common, or that leave some out. Each
// is inside the tensor. It sorts n slices once for each axis that they are cut along.
func tiled(shape []int64, list []Slice) error {
	all, ok := elements(shape)
	if !ok {
		return fmt.Errorf("its shape %v holds more elements than can be counted", shape)
	}
	tiles := make([]tile, 0, len(list))
	have := uint64(0)
	for i, s := range list {
		t := tile{slices.Clone(s.Start), make([]int64, len(shape)), i}
		lengths := slices.Clone(s.Length)
		for axis := range lengths {
			if lengths[axis] == Whole {
				lengths[axis] = shape[axis]
			}
			t.to[axis] = t.from[axis] + lengths[axis]
		}
		if n, _ := elements(lengths); n > 0 {
			tiles = append(tiles, t)
			if have += n; have > all { // both are int64s: it does not wrap
				break // two have elements in common, which apart finds
			}
		}
	}
	if err := apart(tiles, len(shape), 0); err != nil {
		return err
	}
	if have != all {
		return fmt.Errorf("its slices have %d elements, and its shape %v has %d: the index is corrupt; get it again", have, shape, all)
	}
	return nil
}

// elements is the number of elements of a shape; false where it is beyond the int64 ones.
func elements(shape []int64) (n uint64, ok bool) {
	n = 1
	if slices.Contains(shape, 0) {
		return 0, true
	}
	for _, d := range shape {
		high, low := bits.Mul64(n, uint64(d))
		if high > 0 || low > math.MaxInt64 {
			return 0, false
		}
		n = low
	}
	return n, true
}

// apart refuses tiles that have elements in common. It cuts them into groups along an axis,
// and each group along another, down to single ones.
func apart(list []tile, rank, cuts int) error {
	if len(list) < 2 {
		return nil
	}
	for axis := range rank {
		slices.SortFunc(list, func(a, b tile) int { return cmp.Compare(a.from[axis], b.from[axis]) })
		var groups [][]tile
		first, end := 0, list[0].to[axis]
		for i, t := range list {
			if t.from[axis] >= end {
				groups = append(groups, list[first:i])
				first = i
			}
			end = max(end, t.to[axis])
		}
		if groups = append(groups, list[first:]); len(groups) == 1 {
			continue
		}
		for _, g := range groups {
			if len(g) > 1 && cuts == mostCuts {
				return errCuts
			}
			if err := apart(g, rank, cuts+1); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range list[:min(len(list), mostPairs)] {
		for k := range i {
			a, b := list[k], list[i]
			common := true
			for axis := range rank {
				common = common && a.from[axis] < b.to[axis] && b.from[axis] < a.to[axis]
			}
			if common {
				return fmt.Errorf("its slices %d and %d have elements in common: the index is corrupt; get it again", min(a.number, b.number), max(a.number, b.number))
			}
		}
	}
	if len(list) > mostPairs {
		return errCuts
	}
	return nil
}

var errCuts = fmt.Errorf("its slices are not cut along one axis after the other, as TensorFlow cuts them; save the tensor whole")
