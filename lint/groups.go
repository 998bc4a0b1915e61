package lint

import (
	"math"

	"github.com/garner-go/garner/model"
)

// visited is the number of a value that groups has visited: above every other.
const visited = math.MaxInt32

// groups calls visit with a value and those that it depends on: values that depend on
// each other are one group, and each group comes after those that it reads. reads lists
// what a value depends on; nil is none. Which values are a group does not depend on
// where the walk begins.
//
// number is empty before the first call, and tells later calls what was visited. Each
// value is visited once, in time linear in what reads lists. The stack is explicit,
// because chains of nodes are long. This is Tarjan's algorithm.
func groups(v *model.Value, number map[*model.Value]int32, reads func(*model.Value) []*model.Value, visit func([]*model.Value) error) error {
	type step struct { // small, because chains are long
		value *model.Value
		next  int32 // which of what it reads is to be looked at
		low   int32 // the least number of a value that it reaches
	}
	var way []step
	var begun []*model.Value // in no group yet
	enter := func(v *model.Value) {
		n := int32(len(number) + 1)
		number[v] = n
		way, begun = append(way, step{v, 0, n}), append(begun, v)
	}
	if number[v] == 0 {
		enter(v)
	}
	for len(way) > 0 {
		at := &way[len(way)-1]
		if from := reads(at.value); int(at.next) < len(from) {
			from := from[at.next]
			at.next++
			if n := number[from]; from == nil {
				continue
			} else if n == 0 {
				enter(from)
			} else {
				at.low = min(at.low, n)
			}
			continue
		}
		done := *at
		if way = way[:len(way)-1]; len(way) > 0 {
			before := &way[len(way)-1]
			before.low = min(before.low, done.low)
		}
		if done.low < number[done.value] {
			continue // its group has an earlier value
		}
		first := len(begun) - 1
		for begun[first] != done.value {
			first--
		}
		group := begun[first:]
		for _, v := range group {
			number[v] = visited
		}
		if err := visit(group); err != nil {
			return err
		}
		begun = begun[:first]
	}
	return nil
}
