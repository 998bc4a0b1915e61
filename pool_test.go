package garner_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/strict"
)

func TestPool(t *testing.T) {
	var pool garner.Pool
	a, err := pool.New(garner.F32, 1000, 16)
	if err != nil {
		t.Fatal(err)
	}
	b, err := pool.New(garner.F32, 1000, 16)
	if err != nil {
		t.Fatal(err)
	}
	va, _ := garner.Values[float32](a)
	vb, _ := garner.Values[float32](b)
	if len(va) != 16000 || &va[0] == &vb[0] {
		t.Fatal("two tensors share memory")
	}
	va[0] = 7
	pool.Release(a)
	pool.Release(a) // a second Release does nothing
	pool.Release(garner.Of([]int8{1}, 1))
	c, err := pool.New(garner.U8, 60000)
	if err != nil {
		t.Fatal(err)
	}
	vc, _ := garner.Values[uint8](c)
	d, _ := pool.New(garner.U8, 60000)
	vd, _ := garner.Values[uint8](d)
	if &vc[3] == &vd[3] {
		t.Fatal("memory that was released twice is lent twice")
	}
	if vc[2] != 0xe0 || vc[3] != 0x40 {
		t.Errorf("released memory was not lent again: % x", vc[:4])
	}
	pool.Release(c)
	pool.Release(d)
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	vb[15999] = 3 // a tensor that is not released stays valid
	pool.Release(b)
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		dtype garner.DType
		shape []int
		class error
	}{{garner.Invalid, []int{1}, garner.ErrDType}, {garner.I64, []int{1 << 30, 1 << 30}, garner.ErrShape}, {garner.I8, []int{-1}, garner.ErrShape}} {
		if _, err := pool.New(tt.dtype, tt.shape...); !errors.Is(err, tt.class) {
			t.Errorf("%v%v: %v", tt.dtype, tt.shape, err)
		}
	}
	if e, err := pool.New(garner.I8, 0); err != nil || e.Len() != 0 {
		t.Error(e, err)
	}
	if s, err := pool.New(garner.String, 2); err != nil || s.Len() != 2 {
		t.Error(s, err)
	}
}

func TestPoolTogether(t *testing.T) {
	var pool garner.Pool
	data, indices, _ := large(t, 100, 2000)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 50 {
				out, err := pool.New(garner.F32, 2000, 16)
				if err == nil {
					err = garner.GatherInto(context.Background(), strict.Gather{}, data, indices, out)
				}
				if err != nil {
					t.Error(err)
					return
				}
				at, _ := garner.Values[int64](indices)
				v, _ := garner.Values[float32](out)
				for i, row := range at {
					if v[16*i] != float32(16*row) {
						t.Errorf("row %d is %v", i, v[16*i])
						return
					}
				}
				pool.Release(out)
			}
		})
	}
	group.Wait()
	if err := pool.Close(); err != nil {
		t.Error(err)
	}
}
