package main

import (
	"context"
	"testing"
	"unsafe"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/numpy"
)

func BenchmarkRun(b *testing.B) {
	data, ids, out := make([]byte, 1000*16), make([]int64, 16), make([]byte, 16*16)
	zero := 0
	p := &prepared{}
	p.data.view = view{given: true, dtype: garner.I8, shape: []int{1000, 16}, strides: []int{16, 1}, end: len(data)}
	p.indices.view = view{given: true, dtype: garner.I64, shape: []int{16}, strides: []int{1}, end: 128}
	p.out.view = view{given: true, dtype: garner.I8, shape: []int{16, 16}, strides: []int{16, 1}, end: len(out)}
	p.p, _ = garner.Prepare(numpy.Take{Axis: &zero}, p.data.spec(), p.indices.spec(), garner.Threads(1))
	for b.Loop() {
		if err := p.run(context.Background(), unsafe.Pointer(&data[0]), unsafe.Pointer(&ids[0]), unsafe.Pointer(&out[0]), nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGuard(b *testing.B) {
	for b.Loop() {
		guard()
	}
}
func BenchmarkGet(b *testing.B) {
	h := put(&prepared{})
	for b.Loop() {
		get[*prepared](h)
	}
}
func BenchmarkSafely(b *testing.B) {
	for b.Loop() {
		tell(safely(func() error { return nil }))
	}
}
