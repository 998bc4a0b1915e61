package run

import (
	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// An acceptance is what the option Accept has answered.
type acceptance struct {
	numbers map[*model.Value][]int // of the wanted values
	asked   []bool
	ends    []int // elements wanted of either end; 0: all
	refused error // what accept returned
}

func newAcceptance(wanted []*model.Value) *acceptance {
	a := &acceptance{numbers: make(map[*model.Value][]int), asked: make([]bool, len(wanted)), ends: make([]int, len(wanted))}
	for i, v := range wanted {
		a.numbers[v] = append(a.numbers[v], i)
	}
	return a
}

// shaped asks whether a wanted value of a dtype and shape is accepted, unless that has
// been asked. Other values are.
func (r *runner) shaped(v *model.Value, dtype garner.DType, shape garner.Shape) error {
	if r.accept == nil {
		return nil
	}
	for _, i := range r.accepted.numbers[v] {
		if r.accepted.asked[i] {
			continue
		}
		r.accepted.asked[i] = true
		ends, err := r.accept(i, garner.SpecOf(dtype, shape...))
		if err != nil {
			r.accepted.refused = err
			return err
		}
		if n, _ := shape.Len(); ends > n/2 {
			return garner.Errorf(garner.ErrShape, "%d elements at either end of %s%s; it has %d", ends, dtype, shape, n)
		}
		r.accepted.ends[i] = ends
	}
	return nil
}

// asks reports whether a value is yet to be accepted.
func (r *runner) asks(v *model.Value) bool {
	numbers := r.accepted.numbers[v]
	return r.accept != nil && len(numbers) > 0 && !r.accepted.asked[numbers[0]]
}

// endsWanted returns how many elements of either end of a value of a dtype are wanted where
// nothing else of it is; 0 where all are. So it is of a wanted value, and of one that is
// made into a wanted value by nodes that change its shape alone, or that cast it and refuse
// no element.
func (r *runner) endsWanted(v *model.Value, dtype garner.DType) int {
	for {
		n, reader := r.endsAccepted(v), r.readers[v]
		if n > 0 || r.uses[v] != 1 || reader == nil {
			return n
		}
		effect, inputs := operators.EffectOf(reader)
		if effect == operators.Opaque || effect > operators.Cast || len(inputs) == 0 || inputs[0] != v {
			return 0
		}
		if effect == operators.Cast {
			to := operators.CastType(reader)
			if r.model.Format == tensorflowFormat && dtype.IsFloat() { // any element may be refused
				return 0
			}
			if r.castRefuses(dtype, to) || !to.IsFloat() && !to.IsInteger() {
				return 0
			}
			dtype = to
		}
		v = reader.Outputs[0]
	}
}

// endsAccepted is endsWanted of a wanted value.
func (r *runner) endsAccepted(v *model.Value) int {
	numbers := r.accepted.numbers[v]
	if len(numbers) == 0 || r.uses[v] > len(numbers) {
		return 0
	}
	most := 0
	for _, i := range numbers {
		n := r.accepted.ends[i]
		if n == 0 || most > 0 && n != most {
			return 0
		}
		most = n
	}
	return most
}

// endsOfNode makes the ends of the result of a node whose input is the ends of a value, all
// that is wanted of it; see endsWanted.
func (r *runner) endsOfNode(n *model.Node) (made value, ok bool, err error) {
	effect, inputs := operators.EffectOf(n)
	if len(inputs) == 0 || r.values[inputs[0]] == nil || !r.values[inputs[0]].ends {
		return value{}, false, nil
	}
	made = *r.values[inputs[0]]
	made.views = nil
	if effect == operators.Cast {
		if to, ok := made.wideCast(operators.CastType(n)); ok {
			made.pending, made.cast, made.wide = to, n, to == made.pending
			return made, true, nil
		}
		if made.tensor, err = r.tensor(inputs[0]); err != nil {
			return value{}, true, err
		}
		if made.pending, made.cast = operators.CastType(n), n; made.pending == made.tensor.DType() {
			made.pending, made.cast = garner.Invalid, nil
		}
	}
	return made, true, nil
}
