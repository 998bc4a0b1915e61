package main

/*
#include "garner.h"

static inline void *garner_nowhere(void) { static char c; return &c; }
*/
import "C"

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/garner-go/garner"
)

// A dlType is the code and the bits of a DLDataType.
type dlType struct{ code, bits uint8 }

// The codes of DLPack.
const (
	dlInt, dlUInt, dlFloat, dlBfloat, dlComplex, dlBool = 0, 1, 2, 4, 5, 6
	dlE4M3FN, dlE4M3FNUZ, dlE5M2, dlE5M2FNUZ, dlE8M0FNU = 10, 11, 12, 13, 14
	dlE2M1FN                                            = 17
)

// dlTypes has the types that garner and DLPack both have.
var dlTypes = map[garner.DType]dlType{
	garner.Bool: {dlBool, 8},
	garner.U1:   {dlUInt, 1}, garner.I2: {dlInt, 2}, garner.U2: {dlUInt, 2}, garner.I4: {dlInt, 4}, garner.U4: {dlUInt, 4}, garner.F4E2M1: {dlE2M1FN, 4},
	garner.I8: {dlInt, 8}, garner.I16: {dlInt, 16}, garner.I32: {dlInt, 32}, garner.I64: {dlInt, 64},
	garner.U8: {dlUInt, 8}, garner.U16: {dlUInt, 16}, garner.U32: {dlUInt, 32}, garner.U64: {dlUInt, 64},
	garner.F16: {dlFloat, 16}, garner.BF16: {dlBfloat, 16}, garner.F32: {dlFloat, 32}, garner.F64: {dlFloat, 64},
	garner.F8E4M3FN: {dlE4M3FN, 8}, garner.F8E4M3FNUZ: {dlE4M3FNUZ, 8}, garner.F8E5M2: {dlE5M2, 8}, garner.F8E5M2FNUZ: {dlE5M2FNUZ, 8}, garner.F8E8M0: {dlE8M0FNU, 8},
	garner.Complex64: {dlComplex, 64}, garner.Complex128: {dlComplex, 128},
}

// types has the dtype of each code and bits.
var types = func() map[dlType]garner.DType {
	m := map[dlType]garner.DType{}
	for d, t := range dlTypes {
		m[t] = d
	}
	return m
}()

func typeOf(t C.DLDataType) (garner.DType, error) {
	d, ok := types[dlType{uint8(t.code), uint8(t.bits)}]
	if !ok || t.lanes > 1 {
		return d, garner.Errorf(garner.ErrDType, "DLPack's type of code %d, %d bits and %d lanes is none of garner's", t.code, t.bits, t.lanes)
	}
	return d, nil
}

func dlOf(d garner.DType) C.DLDataType {
	t := dlTypes[d]
	return C.DLDataType{code: C.uint8_t(t.code), bits: C.uint8_t(t.bits), lanes: 1}
}

// A view is the layout of an operand, and how far its elements reach from the first one.
type view struct {
	given      bool
	dtype      garner.DType
	shape      []int
	strides    []int
	first, end int // in bytes, from the first element to the lowest and behind the highest one
	offset     int // of the first element from the lowest one, in elements
}

// viewOf checks a tensor's layout; that of nil is the zero view.
func viewOf(t *C.DLTensor) (v view, err error) {
	if t == nil {
		return view{}, nil
	}
	if t.device.device_type != 1 {
		return v, garner.Errorf(garner.ErrAttribute, "a tensor is on device %d:%d; garner reads memory of the CPU: copy it there", t.device.device_type, t.device.device_id)
	}
	if v.dtype, err = typeOf(t.dtype); err != nil {
		return v, err
	}
	rank := int(t.ndim)
	if rank < 0 || rank > garner.MaxRank {
		return v, garner.Errorf(garner.ErrShape, "a tensor of rank %d; garner takes ranks up to %d", rank, garner.MaxRank)
	}
	if rank > 0 && t.shape == nil {
		return v, argumentf("a tensor of rank %d without a shape", rank)
	}
	v.given, v.shape = true, make([]int, rank)
	for i, n := range unsafe.Slice((*int64)(t.shape), rank) {
		v.shape[i] = int(n)
	}
	if _, ok := garner.Shape(v.shape).Len(); !ok { // Strides takes no others
		return v, v.noShape()
	}
	if t.strides != nil {
		v.strides = make([]int, rank)
		for i, n := range unsafe.Slice((*int64)(t.strides), rank) {
			v.strides[i] = int(n)
		}
	} else {
		v.strides = garner.Shape(v.shape).Strides()
	}
	return v, v.measure()
}

func (v *view) noShape() error {
	return garner.Errorf(garner.ErrShape, "a tensor of shape %v: its extents are negative, or have no product", garner.Shape(v.shape))
}

// measure finds how far the elements of a view reach.
func (v *view) measure() error {
	elements, ok := garner.Shape(v.shape).Len()
	if !ok {
		return v.noShape()
	}
	low, high := 0, 0 // in elements
	bits := v.dtype.Bits()
	if elements > 0 {
		room := math.MaxInt / max(bits, 8) / 2 // to both sides; no sum below overflows
		for i, n := range v.shape {
			if n == 1 {
				continue
			}
			stride := v.strides[i]
			if stride == math.MinInt || max(stride, -stride) > room/(n-1) {
				return garner.Errorf(garner.ErrShape, "a tensor of shape %v with strides %v: its elements lie further apart than memory reaches", garner.Shape(v.shape), v.strides)
			}
			by := (n - 1) * stride
			if room -= max(by, -by); by < 0 {
				low += by
			} else {
				high += by
			}
		}
		high++
	}
	if bits < 8 && low < 0 {
		return garner.Errorf(garner.ErrShape, "a view of %s with negative strides; copy it first", v.dtype)
	}
	v.offset, v.first, v.end = -low, low*bits/8, (high*bits+7)/8
	return nil
}

func (v *view) spec() garner.Spec {
	if !v.given {
		return garner.Spec{}
	}
	s := garner.SpecOf(v.dtype, v.shape...)
	s.Strides = v.strides
	return s
}

// bytes returns the memory of a view whose first element lies at p.
func (v *view) bytes(p unsafe.Pointer) ([]byte, error) {
	if v.end <= v.first {
		return nil, nil
	}
	if p == nil {
		return nil, argumentf("an operand of %d bytes has no memory", v.end-v.first)
	}
	return unsafe.Slice((*byte)(unsafe.Add(p, v.first)), v.end-v.first), nil
}

// at returns the tensor of a view whose first element lies at p. It is volatile, so that a page
// of a file that is gone is an error.
func (v *view) at(p unsafe.Pointer) (garner.Tensor, error) {
	if !v.given {
		return garner.Tensor{}, nil
	}
	b, err := v.bytes(p)
	if err != nil {
		return garner.Tensor{}, err
	}
	t, err := garner.FromStrided(v.dtype, b, v.offset, v.shape, v.strides)
	return t.Volatile(), err
}

// A known is a view whose tensors share their shape and strides, which a Prepared then need
// not compare. What it keeps of them is over no memory.
type known struct {
	view
	seen atomic.Pointer[garner.Tensor]
}

func (k *known) at(p unsafe.Pointer) (garner.Tensor, error) {
	if t := k.seen.Load(); t != nil {
		b, err := k.view.bytes(p)
		if err != nil {
			return garner.Tensor{}, err
		}
		return t.Over(b)
	}
	t, err := k.view.at(p)
	if err != nil || !k.given {
		return t, err
	}
	seen, err := nowhere(t, k.view.end-k.view.first)
	if err == nil {
		k.seen.CompareAndSwap(nil, &seen)
	}
	return t, err
}

// nowhere returns a tensor of n bytes over an address that is no memory of the caller's: what outlives a run is such a
// tensor, for Over. A slice over the caller's memory would outlive that memory, and Go's collector ends the process where it
// finds one whose address is, by then, in a part of its own heap that is free.
func nowhere(t garner.Tensor, n int) (garner.Tensor, error) {
	if n <= 0 {
		return t.Over(nil)
	}
	return t.Over(unsafe.Slice((*byte)(C.garner_nowhere()), n))
}

// tensorAt returns the tensor that a DLTensor describes, and its view.
func tensorAt(t *C.DLTensor) (view, garner.Tensor, error) {
	v, err := viewOf(t)
	if err != nil || !v.given || t.data == nil {
		return v, garner.Tensor{}, err
	}
	of, err := v.at(unsafe.Add(t.data, uintptr(t.byte_offset)))
	return v, of, err
}

// listed returns a list of operands of C.
func listed(operands **C.DLTensor, count C.int32_t) ([]*C.DLTensor, error) {
	if count < 0 || count > 64 || count > 0 && operands == nil {
		return nil, argumentf("%d operands", count)
	}
	return unsafe.Slice(operands, count), nil
}
