package run

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/units"
)

// Memory returns how many bytes a tensor takes in memory, 16 for each string
// without its text. All dims of spec are known. Beyond int64 the number is rounded.
func Memory(spec garner.Spec) float64 {
	if spec.DType == garner.String {
		spec.DType = garner.Complex128 // as wide as the header of a string
	}
	if n, ok := spec.Bytes(); ok {
		return float64(n)
	}
	size := float64(spec.DType.Bits()) / 8
	for _, d := range spec.Dims {
		size *= float64(d.Min)
	}
	return size
}

// An allocation is memory of a tensor that new made. It is counted until no value
// views it.
type allocation struct {
	tensor garner.Tensor
	size   float64 // bytes
	values int     // that view it
}

// suffices reports whether there is memory for a tensor.
func (r *runner) suffices(dtype garner.DType, shape garner.Shape) bool {
	_, ok := shape.Len()
	return ok && r.used+Memory(garner.SpecOf(dtype, shape...)) <= r.memory
}

// fits refuses a tensor for which memory does not suffice. Allocating it would
// end the process.
func (r *runner) fits(dtype garner.DType, shape garner.Shape) error {
	if r.suffices(dtype, shape) {
		return nil
	}
	return &MemoryError{dtype, shape, r.used, r.memory}
}

// A MemoryError is a tensor for which memory does not suffice. errors.Is(err,
// garner.ErrShape) is true for it.
type MemoryError struct {
	DType        garner.DType
	Shape        garner.Shape
	Used, Memory float64 // bytes that other tensors take, and that all may take
}

func (e *MemoryError) Error() string {
	text := func(bytes float64) string { return units.Of(bytes).Text(bytes) }
	beside := ""
	if e.Used > 0 {
		beside = fmt.Sprintf(" beside the %s in use", text(e.Used))
	}
	return fmt.Sprintf("garner: a tensor %s%s takes %s%s, and there are %s for all; give less at a time",
		e.DType, e.Shape, text(Memory(garner.SpecOf(e.DType, e.Shape...))), beside, text(e.Memory))
}

// Unwrap makes errors.Is(err, garner.ErrShape) true.
func (e *MemoryError) Unwrap() error { return garner.ErrShape }

// uncollected is the garbage in bytes for which a run does not wait for the garbage
// collector: a collection takes some 30 ms beside a model of 40,000 nodes.
const uncollected = 16 << 20

// new returns a tensor of zeros. In the survey it returns a stand-in where the
// elements are left to the run.
func (r *runner) new(dtype garner.DType, shape garner.Shape) (t garner.Tensor, err error) {
	if err := r.fits(dtype, shape); err != nil {
		return garner.Tensor{}, err
	}
	size := Memory(garner.SpecOf(dtype, shape...))
	if r.leave(size); r.bare {
		t, err = standIn(dtype, shape)
	} else {
		if r.garbage > uncollected && r.used+r.garbage+size > r.memory {
			runtime.GC()
			r.garbage = 0
		}
		t, err = garner.New(dtype, shape...)
	}
	if err == nil {
		r.used += size
		r.fresh = append(r.fresh, &allocation{tensor: t, size: size})
	}
	return t, err
}

// settle gives the allocations of a node to the values that it made: those that the
// tensor of a value views, or else those of the first input, whose view it is. It releases
// the others.
func (r *runner) settle(first *value, made ...*value) {
	for _, v := range made {
		for _, a := range r.fresh {
			if views(v.tensor, a.tensor) {
				v.views = append(v.views, a)
			}
		}
		if len(v.views) == 0 && first != nil {
			v.views = slices.Clone(first.views)
		}
		for _, a := range v.views {
			a.values++
		}
	}
	for _, a := range r.fresh {
		if a.values == 0 {
			r.drop(a)
		}
	}
	clear(r.fresh) // so that the memory can be collected
	r.fresh = r.fresh[:0]
}

// forget drops the memory that a value views.
func (r *runner) forget(v *value) {
	for _, a := range v.views {
		if a.values--; a.values == 0 {
			r.drop(a)
		}
	}
	v.views = nil
}

// drop makes an allocation garbage.
func (r *runner) drop(a *allocation) {
	r.used -= a.size
	r.garbage += a.size
}

// views reports whether a tensor views the memory of one that new made; true
// where that cannot be told.
func views(t, made garner.Tensor) bool {
	if t.DType() != made.DType() || t.Len() == 0 {
		return false
	}
	if t.DType() == garner.String {
		return true
	}
	whole, err := made.Bytes()
	if err != nil { // a stand-in, whose elements are all the first one
		if whole, err = element(made); err != nil {
			return true
		}
	}
	first, err := element(t)
	return err != nil || mapped.Overlap(whole, first)
}

// element returns the memory of a tensor's first element.
func element(t garner.Tensor) ([]byte, error) {
	for axis := range t.Rank() {
		var err error
		if t, err = t.Slice(axis, 0, 1, 1); err != nil {
			return nil, err
		}
	}
	return t.Bytes()
}
