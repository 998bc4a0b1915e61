// Package convert converts runs of floating-point elements from one type to
// another. Package float defines each conversion; this package runs it by a kernel,
// by a table of the type's codes, or element by element.
package convert

import (
	"encoding/binary"
	"math"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/float"
	"github.com/garner-go/garner/internal/kernel"
)

// A Run converts elements as tensors store them.
type Run struct {
	Elements int // of a block: 2 of 4 bits, which share a byte, else 1
	From, To int // bytes of a block before and after it is converted

	// Convert writes the elements of whole blocks to dst, little-endian. src holds the
	// blocks; dst is as long as the elements, and shares no byte with src. It
	// allocates nothing, and many goroutines may call it at once.
	Convert func(dst, src []byte)
}

// Between returns the Run from one dtype to another: from any float to f32, f16,
// bf16 or f64. It is false for other dtypes, and where they are the same.
//
// A value that the result has is exact; others round to the nearest, of two as near
// the even one, once, and beyond the greatest finite value to infinity. A NaN
// becomes quiet, and keeps its sign and what fits of its payload.
func Between(from, to garner.DType) (Run, bool) {
	if from == to || !from.IsFloat() {
		return Run{}, false
	}
	switch to {
	case garner.F32, garner.F16, garner.BF16, garner.F64:
	default:
		return Run{}, false
	}
	r := Run{Elements: max(8/from.Bits(), 1)}
	r.From, r.To = r.Elements*from.Bits()/8, r.Elements*to.Bits()/8
	switch {
	case from.Bits() <= 8:
		r.Convert = byTable(from, to)
	case from == garner.F64 && to == garner.F32:
		r.Convert = doublesToSingles
	case from == garner.F64:
		r.Convert = doublesTo(float.Formats[to.String()])
	case from == garner.F32 && to == garner.F64:
		r.Convert = singlesToDoubles
	case from == garner.F32:
		r.Convert = byKernel(narrowing[to])
	case to == garner.F32:
		r.Convert = byKernel(widening[from])
	default:
		r.Convert = throughSingles(widening[from], to)
	}
	return r, true
}

// Into converts as many elements as dst has. src has their blocks, the last of which
// may have an element more.
func (r Run) Into(dst, src []byte) {
	n := len(dst) / r.To
	r.Convert(dst[:n*r.To], src[:n*r.From])
	if rest := dst[n*r.To:]; len(rest) > 0 {
		block := make([]byte, r.To)
		r.Convert(block, src[n*r.From:][:r.From])
		copy(rest, block)
	}
}

var (
	widening  = map[garner.DType]kernel.Conversion{garner.F16: kernel.F16ToF32, garner.BF16: kernel.BF16ToF32}
	narrowing = map[garner.DType]kernel.Conversion{garner.F16: kernel.F32ToF16, garner.BF16: kernel.F32ToBF16}
)

func byKernel(c kernel.Conversion) func(dst, src []byte) {
	return func(dst, src []byte) { kernel.Convert(dst, src, c) }
}

// throughSingles converts to f32 and on to another dtype, a piece at a time.
func throughSingles(widen kernel.Conversion, to garner.DType) func(dst, src []byte) {
	const piece = 512 // elements
	narrow, narrows := narrowing[to]
	size := to.Bits() / 8
	return func(dst, src []byte) {
		var single [4 * piece]byte
		for len(src) > 0 {
			n := min(len(src)/2, piece)
			kernel.Convert(single[:4*n], src[:2*n], widen)
			if narrows {
				kernel.Convert(dst[:n*size], single[:4*n], narrow)
			} else {
				singlesToDoubles(dst[:n*size], single[:4*n])
			}
			src, dst = src[2*n:], dst[n*size:]
		}
	}
}

func singlesToDoubles(dst, src []byte) {
	for i := range len(src) / 4 {
		binary.LittleEndian.PutUint64(dst[8*i:], float.Double(binary.LittleEndian.Uint32(src[4*i:])))
	}
}

func doublesToSingles(dst, src []byte) {
	for i := range len(src) / 8 {
		binary.LittleEndian.PutUint32(dst[4*i:], float.Single(binary.LittleEndian.Uint64(src[8*i:])))
	}
}

// doublesTo rounds once: through f32 it would round twice.
func doublesTo(f *float.Format) func(dst, src []byte) {
	return func(dst, src []byte) {
		for i := range len(src) / 8 {
			bits := binary.LittleEndian.Uint64(src[8*i:])
			var code uint64
			if v := math.Float64frombits(bits); v == v {
				code = f.Encode(v, nil)
			} else {
				code = f.Round(math.Float32frombits(float.Single(bits)))
			}
			binary.LittleEndian.PutUint16(dst[2*i:], uint16(code))
		}
	}
}

// byTable converts a dtype of 4 or 8 bits by the results of all bytes.
func byTable(from, to garner.DType) func(dst, src []byte) {
	var first, second [256]uint64 // the elements of a byte; those of 8 bits have no second
	each, value := 8/from.Bits(), float.Values(from.String())
	for b := range uint64(256) {
		first[b] = bitsOf(to, value(b&(1<<from.Bits()-1)))
		if each == 2 {
			second[b] = bitsOf(to, value(b>>4))
		}
	}
	switch size := each * to.Bits(); size {
	case 16:
		table := joined[uint16](&first, &second, 16)
		return func(dst, src []byte) {
			dst = dst[:2*len(src)]
			for i, b := range src {
				binary.LittleEndian.PutUint16(dst[2*i:], table[b])
			}
		}
	case 32:
		table := joined[uint32](&first, &second, to.Bits())
		return func(dst, src []byte) {
			dst = dst[:4*len(src)]
			for len(src) >= 8 && len(dst) >= 32 { // half the time of a byte a turn
				b := binary.LittleEndian.Uint64(src)
				binary.LittleEndian.PutUint64(dst, uint64(table[b&0xff])|uint64(table[b>>8&0xff])<<32)
				binary.LittleEndian.PutUint64(dst[8:], uint64(table[b>>16&0xff])|uint64(table[b>>24&0xff])<<32)
				binary.LittleEndian.PutUint64(dst[16:], uint64(table[b>>32&0xff])|uint64(table[b>>40&0xff])<<32)
				binary.LittleEndian.PutUint64(dst[24:], uint64(table[b>>48&0xff])|uint64(table[b>>56])<<32)
				src, dst = src[8:], dst[32:]
			}
			for i, b := range src {
				binary.LittleEndian.PutUint32(dst[4*i:], table[b])
			}
		}
	case 64:
		table := joined[uint64](&first, &second, to.Bits())
		return func(dst, src []byte) {
			dst = dst[:8*len(src)]
			for len(src) >= 4 && len(dst) >= 32 {
				b := binary.LittleEndian.Uint32(src)
				binary.LittleEndian.PutUint64(dst, table[b&0xff])
				binary.LittleEndian.PutUint64(dst[8:], table[b>>8&0xff])
				binary.LittleEndian.PutUint64(dst[16:], table[b>>16&0xff])
				binary.LittleEndian.PutUint64(dst[24:], table[b>>24])
				src, dst = src[4:], dst[32:]
			}
			for i, b := range src {
				binary.LittleEndian.PutUint64(dst[8*i:], table[b])
			}
		}
	}
	return func(dst, src []byte) { // pairs of f64
		for i, b := range src {
			binary.LittleEndian.PutUint64(dst[16*i:], first[b])
			binary.LittleEndian.PutUint64(dst[16*i+8:], second[b])
		}
	}
}

// joined returns the two elements of each byte as one number; shift is the bits of
// an element.
func joined[T uint16 | uint32 | uint64](first, second *[256]uint64, shift int) *[256]T {
	var table [256]T
	for b := range table {
		table[b] = T(first[b] | second[b]<<shift)
	}
	return &table
}

// bitsOf returns the bits of an f32 in another dtype.
func bitsOf(to garner.DType, v float32) uint64 {
	switch to {
	case garner.F32:
		return uint64(math.Float32bits(v))
	case garner.F64:
		return float.Double(math.Float32bits(v))
	}
	return float.Formats[to.String()].Round(v)
}
