package source

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
)

// Memory returns the Array over a tensor. The first Fetch copies a tensor whose
// elements are not dense. The tensor's Keeper keeps it for every call that reads it;
// see garner.Tensor.KeptBy.
func Memory(t garner.Tensor) Array {
	m := &memory{tensor: t, spec: t.Spec()}
	if dense(m.spec) != nil || t.DType().Packed() && t.Offset()*t.DType().Bits()%8 != 0 {
		m.spec, m.sparse = garner.SpecOf(t.DType(), t.Shape()...), true
	}
	return m
}

type memory struct {
	tensor garner.Tensor
	spec   garner.Spec
	sparse bool // the tensor's elements are not dense; spec is row-major

	once sync.Once
	data []byte // the elements in the order of spec
	err  error
}

// Spec returns the dtype and shape of the tensor, and its strides where its
// elements are dense.
func (m *memory) Spec() garner.Spec { return m.spec }

// Tensor returns the tensor, or a copy where its elements are not dense.
func (m *memory) Tensor() (garner.Tensor, bool) {
	if !m.sparse {
		return m.tensor, true
	}
	b, err := m.bytes()
	if err != nil {
		return garner.Tensor{}, false
	}
	t, err := garner.FromBytes(m.tensor.DType(), b, m.tensor.Shape()...)
	return t, err == nil
}

// keeper keeps the tensor's memory; nil where nothing does, or where m has a copy.
func (m *memory) keeper() garner.Keeper {
	if m.sparse {
		return nil
	}
	return m.tensor.Keeper()
}

// hold keeps the tensor's memory until release.
func (m *memory) hold() error {
	if k := m.keeper(); k != nil {
		return k.Hold()
	}
	return nil
}

func (m *memory) release() {
	if k := m.keeper(); k != nil {
		k.Release()
	}
}

// check looks at the memory again after the first n bytes, or some of them, were
// read.
func (m *memory) check(n int) error {
	if k := m.keeper(); k != nil {
		return k.Check(m.data[:n])
	}
	return nil
}

// bytes returns the elements in the order in which they are stored.
func (m *memory) bytes() ([]byte, error) {
	m.once.Do(func() {
		t := m.tensor
		if m.sparse {
			if t, m.err = t.Clone(); m.err != nil {
				return
			}
		} else if n := t.Len(); n > 0 {
			// With the dims in the order of storage the tensor is contiguous.
			order := make([]int, t.Rank())
			for i := range order {
				order[i] = i
			}
			strides := t.Strides()
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(strides[b], strides[a]) })
			if t, m.err = t.Transpose(order...); m.err != nil {
				return
			}
		}
		m.data, m.err = t.Bytes()
	})
	return m.data, m.err
}

// Fetch copies rows.
func (m *memory) Fetch(ctx context.Context, rows Rows) error {
	if err := m.hold(); err != nil {
		return err
	}
	defer m.release()
	return m.fetch(ctx, rows)
}

// fetch is Fetch for callers that hold the memory.
func (m *memory) fetch(ctx context.Context, rows Rows) error {
	b, err := m.bytes()
	if err != nil {
		return err
	}
	if err := checkRows(rows, int64(len(b))); err != nil || len(rows.At) == 0 {
		return err
	}
	// The tensor may be a view of a mapped file, which faults where the file was
	// cut short.
	if err := mapped.Guard(func() error { return copyRows(ctx, rows, b) }); err != nil {
		return err
	}
	return m.check(int(rows.At[len(rows.At)-1]) + rows.Size)
}

// A heldMemory is a memory whose callers hold it.
type heldMemory struct{ *memory }

// Fetch copies rows.
func (m heldMemory) Fetch(ctx context.Context, rows Rows) error { return m.fetch(ctx, rows) }

// copyRows copies rows from b, which holds the whole array.
func copyRows(ctx context.Context, rows Rows, b []byte) error {
	const piece = 1 << 20 // bytes between two looks at the context
	since := 0
	for i, at := range rows.At {
		dst, src := rows.Dst[i*rows.Size:(i+1)*rows.Size], b[at:]
		for len(dst) > 0 {
			if since <= 0 {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				since = piece
			}
			n := copy(dst[:min(len(dst), piece)], src)
			dst, src, since = dst[n:], src[n:], since-n-64
		}
	}
	return nil
}

// Close does nothing, as the memory is the caller's; an Array of a file has one.
func (m *memory) Close() error { return nil }

// view returns the elements in the order in which they are stored; nil where there
// are none.
func (m *memory) view() []byte {
	b, _ := m.bytes()
	return b
}

// inMemory reports whether an array is in memory: Memory gave it.
func inMemory(a Array) bool {
	_, ok := a.(*memory)
	return ok
}

// viewOf returns the bytes of an array that is in memory or in a mapped file, as
// the array stores them, to callers that hold the array. An Array of another type
// answers by Fetch alone, also where it embeds a File.
func viewOf(a Array) ([]byte, bool) {
	var b []byte
	switch a := a.(type) {
	case *memory:
		b = a.view()
	case *File:
		b = a.view()
	}
	return b, b != nil
}

// tensorOf returns the tensor of an array that is in memory or in a mapped file,
// without a Keeper; see viewOf.
func tensorOf(a Array) (garner.Tensor, bool) {
	switch a := a.(type) {
	case *memory:
		t, ok := a.Tensor()
		if t.Keeper() != nil {
			t = t.KeptBy(nil)
		}
		return t, ok
	case *File:
		return a.tensor()
	}
	return garner.Tensor{}, false
}

// blocksOf returns the blocks of an array whose elements a codec decodes, as a vector of
// bytes without a Keeper, where they are in memory or lie side by side in a mapped file;
// see viewOf.
func blocksOf(a Array) (blocks garner.Tensor, codec *Codec, ok bool) {
	var b []byte
	switch a := a.(type) {
	case *converted:
		m, ok := a.of.(*memory)
		if !ok {
			return blocks, nil, false
		}
		b, codec = m.view(), a.codec
	case *File:
		b, codec = a.storedView(), a.codec
	}
	if b == nil || codec == nil {
		return blocks, nil, false
	}
	return garner.Of(b, len(b)).Volatile(), codec, true
}

// held keeps arrays open and mapped, so that a call that has begun ends as if Close
// came after it. Check is the error of the first array that is no longer what it was
// when it was opened. Arrays of other packages hold their memory in their Fetch. It is
// an error where an array is nil, or was closed.
func held(arrays ...Array) (*mapped.Holds, error) {
	h := make(mapped.Holds, 0, len(arrays))
	for _, a := range arrays {
		var err error
		if c, ok := a.(*converted); ok {
			a = c.of
		}
		switch a := a.(type) {
		case nil:
			err = garner.Errorf(garner.ErrShape, "an array is nil; open one, or make one of a tensor by Memory")
		case *File:
			err = h.Add(heldFile{a})
		case *memory:
			err = h.Add(wholeMemory{a})
		case changer:
			err = h.Add(heldArray{a})
		}
		if err != nil {
			h.Release()
			return nil, err
		}
	}
	return &h, nil
}

type heldFile struct{ *File }

func (f heldFile) Hold() error  { return f.enter(0) }
func (f heldFile) Check() error { return f.changed() }
func (f heldFile) Release()     { f.leave(0) }

type wholeMemory struct{ *memory }

func (m wholeMemory) Hold() error { return m.hold() }
func (m wholeMemory) Release()    { m.release() }

func (m wholeMemory) Check() error {
	b, err := m.bytes()
	if err != nil {
		return nil // nothing was read
	}
	return m.check(len(b))
}

// A changer is an Array of another package that knows whether it changed.
type changer interface{ Changed() error }

type heldArray struct{ changer }

func (heldArray) Hold() error    { return nil }
func (a heldArray) Check() error { return a.Changed() }
func (heldArray) Release()       {}
