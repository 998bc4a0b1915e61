package garner

import (
	"math/bits"
	"sync"

	"github.com/garner-go/garner/internal/pages"
)

// A Pool recycles the memory of outputs. The page faults of a new output of many
// megabytes cost more than the gather that fills it; a recycled output has none.
// A Pool allocates on huge pages where the system has them.
//
// A tensor of New is valid until Release. Close returns the memory of released
// tensors to the system. A Pool is safe for concurrent use. The zero Pool is
// ready to use.
type Pool struct {
	mu   sync.Mutex
	free map[int][][]byte // by size class, the exponent of a power of two
	lent map[*byte][]byte // by first byte: the memory of tensors that are not released
}

// New returns a row-major tensor for a gather to write into. Its elements are
// unspecified: zeros, or those of a released tensor. Strings are not recycled.
// Errors are those of the function New, and the system's if it is out of memory.
func (p *Pool) New(dtype DType, shape ...int) (Tensor, error) {
	if dtype == String {
		return New(dtype, shape...)
	}
	t := Tensor{dtype: dtype, shape: append(Shape{}, shape...)}
	n, err := t.checkShape()
	if err != nil {
		return Tensor{}, err
	}
	if !dtype.Valid() {
		return Tensor{}, errorf(ErrDType, "a tensor needs a dtype")
	}
	size, ok := numBytes(dtype, n)
	if !ok || size > 1<<(bits.UintSize-2) {
		return Tensor{}, shapeError(KindMismatch, "a tensor %s%s has more bytes than an int can count", dtype, t.shape)
	}
	t.strides = t.shape.Strides()
	if size == 0 {
		return t, nil
	}
	class := max(12, bits.Len(uint(size-1))) // whole pages
	p.mu.Lock()
	defer p.mu.Unlock()
	var b []byte
	if kept := p.free[class]; len(kept) > 0 {
		b, p.free[class] = kept[len(kept)-1], kept[:len(kept)-1]
	} else if b, err = pages.Alloc(1 << class); err != nil {
		return Tensor{}, err
	}
	if p.lent == nil {
		p.free, p.lent = make(map[int][][]byte), make(map[*byte][]byte)
	}
	p.lent[&b[0]] = b
	t.mem.Buf = b[:size:size]
	return t, nil
}

// Release recycles the memory of a tensor of New, or of a view that begins at its
// first element. The caller must no longer use the tensor or any view of it. For
// any other tensor Release does nothing.
func (p *Pool) Release(t Tensor) {
	if len(t.mem.Buf) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if b, ok := p.lent[&t.mem.Buf[0]]; ok {
		delete(p.lent, &t.mem.Buf[0])
		class := bits.Len(uint(len(b) - 1))
		p.free[class] = append(p.free[class], b)
	}
}

// Close returns the memory of released tensors to the system. Tensors that are
// not released stay valid and may be released afterwards.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var first error
	for class, kept := range p.free {
		for _, b := range kept {
			if err := pages.Free(b); err != nil && first == nil {
				first = err
			}
		}
		delete(p.free, class)
	}
	return first
}
