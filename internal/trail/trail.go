// Package trail follows values of a model back to where their elements come from.
package trail

import (
	"slices"

	"github.com/garner-go/garner/model"
)

// MostGuarding bounds the values that run and lint look at for the guards of one gather, because a model may branch there
// as often as it likes.
const MostGuarding = 256

// A Trail finds a T for each value of a model: that of the value before it, or its
// own at the end. It keeps what it found, so it visits each value once; and it has no
// limit, because chains of nodes are long.
type Trail[T any] struct {
	before func(v *model.Value) *model.Value
	end    func(v *model.Value) T
	pass   func(v *model.Value, found T) T
	found  map[*model.Value]T
}

// New makes a trail. before gives the value that v comes from, nil at an end; end
// gives the T of an end; pass makes the T of v of that of the value before it, nil
// leaves it as it is.
func New[T any](before func(v *model.Value) *model.Value, end func(v *model.Value) T, pass func(v *model.Value, found T) T) *Trail[T] {
	return &Trail[T]{before, end, pass, map[*model.Value]T{}}
}

// Of gives the T of a value: the zero T where v is nil, or comes from itself.
func (t *Trail[T]) Of(v *model.Value) T {
	var found, none T
	var way []*model.Value // from v towards its end
	for v != nil {
		have, ok := t.found[v]
		if ok {
			found = have
			break
		}
		from := t.before(v)
		if from == nil {
			found = t.end(v)
			t.found[v] = found
			break
		}
		t.found[v] = none // of a value of itself, which readers refuse
		way = append(way, v)
		v = from
	}
	for _, v := range slices.Backward(way) {
		if t.pass != nil {
			found = t.pass(v, found)
		}
		t.found[v] = found
	}
	return found
}
