package run

import (
	"context"
	"errors"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/source"
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

// endsWanted returns how many elements of either end of a value are wanted where nothing
// else of it is; 0 where all are.
func (r *runner) endsWanted(v *model.Value) int {
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

// endsOf returns the first n and the last n elements of a tensor.
func endsOf(t garner.Tensor, n int) (garner.Tensor, error) {
	made, err := garner.New(t.DType(), 2*n)
	if err != nil {
		return garner.Tensor{}, err
	}
	for i := range 2 * n {
		at := i
		if i >= n {
			at = t.Len() - 2*n + i
		}
		element := t
		for axis := t.Rank() - 1; axis >= 0 && err == nil; axis-- {
			d := t.Shape()[axis]
			element, err = element.Slice(axis, at%d, at%d+1, 1)
			at /= d
		}
		if err == nil {
			element, err = element.Reshape(1)
		}
		if err != nil {
			return garner.Tensor{}, err
		}
		to, err := made.Slice(0, i, i+1, 1)
		if err == nil {
			err = garner.Copy(to, element)
		}
		if err != nil {
			return garner.Tensor{}, err
		}
	}
	return made, nil
}

// partMemory is the budget of Part in bytes; a small one makes small blocks.
const partMemory = 1 << 20

// errEnough ends a gather of which only a part is wanted.
var errEnough = errors.New("garner: the rest of the result is not wanted")

// Part gathers n elements of a result of a dtype in row-major order, from first on, in
// rank 1. It reads the rows that these need, and little more. Errors are those of
// source.Gather.
func Part(ctx context.Context, op garner.Op, data, indices source.Array, dtype garner.DType, first, n int) (garner.Tensor, error) {
	bits := dtype.Bits()
	skip := 0 // elements of the same byte before the first
	if bits < 8 {
		skip = first % (8 / bits)
	}
	t, err := garner.New(dtype, skip+n)
	if err != nil {
		return garner.Tensor{}, err
	}
	b, err := t.Bytes()
	if err != nil {
		return garner.Tensor{}, err
	}
	part := &partWriter{left: b}
	err = source.Gather(ctx, op, data, indices, part, source.Options{Memory: partMemory, From: int64(first-skip)/8*int64(bits) + int64(first-skip)%8*int64(bits)/8})
	if err != nil && !errors.Is(err, errEnough) {
		return garner.Tensor{}, err
	}
	return t.Slice(0, skip, skip+n, 1)
}

// A partWriter keeps the first bytes that are written.
type partWriter struct{ left []byte }

func (p *partWriter) Write(b []byte) (int, error) {
	n := copy(p.left, b)
	if p.left = p.left[n:]; len(p.left) == 0 {
		return n, errEnough
	}
	return n, nil
}
