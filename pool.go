package garner

import (
	"math/bits"
	"sync"

	"github.com/garner-go/garner/internal/pages"
)

// A Pool recycles the memory of outputs. A new output of many megabytes costs
// more in page faults than the gather that fills it; one that was used before
// costs nothing, and a Pool's stand on huge pages where the system has them.
//
// The caller owns it: what New gave is good until Release, and the memory that
// a Pool keeps is given back to the system by Close. A Pool is safe for
// concurrent use. The zero Pool is ready.
type Pool struct {
	mu   sync.Mutex
	free map[int][][]byte // by size class, the exponent of a power of two
	lent map[*byte][]byte
}

// New is a row-major tensor whose elements are unspecified: zeros, or what was
// in a tensor that was released. It is meant to be gathered into. Strings are
// not recycled. Errors are those of the function New, and the system's where it
// has no more memory.
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

// Release takes back a tensor that New gave, or a view of it from its first
// element on; the caller must not touch it any more, nor what views it. Another
// tensor is left alone.
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

// Close gives the memory of released tensors back to the system. Those that
// are still lent stay good, and may be released to the Pool after it.
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
