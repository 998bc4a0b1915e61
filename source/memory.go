package source

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
)

// Memory is the Array over a tensor. A tensor whose elements do not lie side by
// side is copied when it is first fetched from.
func Memory(t garner.Tensor) Array {
	m := &memory{tensor: t, spec: t.Spec()}
	if dense(m.spec) != nil || t.DType().Packed() && t.Offset()*t.DType().Bits()%8 != 0 {
		m.spec, m.loose = garner.SpecOf(t.DType(), t.Shape()...), true
	}
	return m
}

type memory struct {
	tensor garner.Tensor
	spec   garner.Spec
	loose  bool // the elements do not lie side by side

	once sync.Once
	data []byte // the elements as spec says
	err  error
}

// Spec is the tensor's.
func (m *memory) Spec() garner.Spec { return m.spec }

// Tensor is the tensor, or the copy of one whose elements do not lie side by
// side.
func (m *memory) Tensor() (garner.Tensor, bool) {
	if !m.loose {
		return m.tensor, true
	}
	b, err := m.bytes()
	if err != nil {
		return garner.Tensor{}, false
	}
	t, err := garner.FromBytes(m.tensor.DType(), b, m.tensor.Shape()...)
	return t, err == nil
}

// bytes are the elements in the order of storage.
func (m *memory) bytes() ([]byte, error) {
	m.once.Do(func() {
		t := m.tensor
		if m.loose {
			if t, m.err = t.Clone(); m.err != nil {
				return
			}
		} else if n := t.Len(); n > 0 {
			// As it lies in memory it is of one dim.
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
	b, err := m.bytes()
	if err != nil {
		return err
	}
	if err := checkRows(rows, int64(len(b))); err != nil {
		return err
	}
	// A view of a mapped file may vanish.
	return mapped.Guard(func() error { return copyRows(ctx, rows, b) })
}

// copyRows copies rows out of all the bytes that there are.
func copyRows(ctx context.Context, rows Rows, b []byte) error {
	const piece = 1 << 20 // bytes between looks at the context
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

// view is the elements in the order of storage; nil where there are none.
func (m *memory) view() []byte {
	b, _ := m.bytes()
	return b
}
