package garner

import (
	"context"
	"runtime"
	"sync"

	"github.com/garner-go/garner/internal/exec"
)

// Copy copies the elements of src into dst on all cores. Both may be any views
// of one dtype (ErrDType) and one shape (ErrShape). The elements of dst must
// not overlap, and dst must not share memory with src (ErrOverlap). Volatile
// memory that has vanished is an ErrFault.
func Copy(dst, src Tensor) error {
	switch {
	case dst.dtype != src.dtype || !dst.dtype.Valid():
		return errorf(ErrDType, "%s cannot be copied into %s", src.dtype, dst.dtype)
	case !dst.shape.Equal(src.shape):
		return shapeError(KindMismatch, "%s%s cannot be copied into %s%s", src.dtype, src.shape, dst.dtype, dst.shape)
	case overlap(dst, src):
		return errorf(ErrOverlap, "a tensor cannot be copied into memory that it shares")
	case !apart(&dst):
		return errorf(ErrOverlap, "the strides %v let elements overlap; copy into a tensor without", dst.strides)
	}
	if src.keeper != nil {
		return src.Guard(func(held Tensor) error { return Copy(dst, held) })
	}
	if dst.Len() == 0 {
		return nil // the loops around an empty extent may have any number of turns
	}
	loops := make([]exec.Loop, len(dst.shape))
	for i, d := range dst.shape {
		loops[i] = exec.Loop{Extent: d, Data: src.strides[i], Out: dst.strides[i]}
	}
	nest := exec.Nest{Bits: dst.dtype.Bits()}
	nest.Walk(loops, 1)
	r := runners.Get().(*exec.Runner)
	defer runners.Put(r)
	r.Progress = nil
	if r.Run(context.Background(), exec.NewProgram(nest, &exec.Tuned, runtime.GOMAXPROCS(0)), &src.mem, &exec.Memory{}, &dst.mem) == exec.Vanished {
		return Vanished()
	}
	return nil
}

// runners is the free list of scratch for runs.
var runners = sync.Pool{New: func() any { return new(exec.Runner) }}

// Clone copies the elements into a new row-major tensor. Errors are those of
// New and Copy.
func (t Tensor) Clone() (Tensor, error) {
	c, err := New(t.dtype, t.shape...)
	if err != nil {
		return Tensor{}, err
	}
	return c, Copy(c, t)
}
