package kernel

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/garner-go/garner/internal/float"
)

// A Conversion is one of floating-point elements to those of another width.
type Conversion uint8

// The conversions that have a form in assembly.
const (
	F16ToF32     Conversion = iota
	F16BitsToF32            // a signalling NaN stays one, as NumPy converts it
	BF16ToF32
	F32ToF16 // to the nearest value, of two as near the even one
	F32ToBF16
)

// conversions has the bytes of an element before and after each conversion.
var conversions = [...]struct{ from, to int }{F16ToF32: {2, 4}, F16BitsToF32: {2, 4}, BF16ToF32: {2, 4}, F32ToF16: {4, 2}, F32ToBF16: {4, 2}}

const (
	// convertTurn is the number of elements that a turn of the assembly converts.
	convertTurn = 16

	// convertMost is the most elements of one call of the assembly, which a goroutine
	// cannot be stopped in: some 50 µs from memory.
	convertMost = 1 << 17
)

// A convertFunc is a form of Convert in assembly, of n elements; n is a positive
// multiple of convertTurn.
type convertFunc func(dst, src *byte, n int)

// Convert converts the elements of src, little-endian, to dst, which shares no byte
// with src: see ConvertGeneric. It panics where dst is shorter than they are.
func Convert(dst, src []byte, c Conversion) {
	from, to := conversions[c].from, conversions[c].to
	n := len(src) / from
	src, dst = src[:n*from], dst[:n*to:len(dst)]
	f := convertForm(c)
	if n < convertTurn || f == nil {
		ConvertGeneric(dst, src, c)
		return
	}
	for at := 0; at < n; {
		turn := min(n-at, convertMost) / convertTurn * convertTurn
		if turn == 0 { // the last elements, and some before them once more
			at, turn = n-convertTurn, convertTurn
		}
		f(noescape(unsafe.SliceData(dst[at*to:])), noescape(unsafe.SliceData(src[at*from:])), turn)
		at += turn
	}
}

// ConvertGeneric is the definition of Convert. A NaN keeps its sign and what fits of its
// payload; it becomes quiet, but by F16BitsToF32.
func ConvertGeneric(dst, src []byte, c Conversion) {
	switch c {
	case F16ToF32:
		convertToSingle(dst, src, float.Float16)
	case F16BitsToF32:
		for i := range len(src) / 2 {
			binary.LittleEndian.PutUint32(dst[4*i:], f16Bits(binary.LittleEndian.Uint16(src[2*i:])))
		}
	case BF16ToF32:
		convertToSingle(dst, src, float.BFloat16)
	case F32ToF16:
		convertFromSingle(dst, src, float.Float16)
	case F32ToBF16:
		convertFromSingle(dst, src, float.BFloat16)
	}
}

// f16Bits returns the bits of the f32 that an f16 is; those of a signalling NaN are of one.
func f16Bits(h uint16) uint32 {
	bits := math.Float32bits(float.Float16.Decode(uint64(h)))
	if h&0x7fff > 0x7c00 {
		bits ^= uint32(^h&0x200) << 13 // Decode has set the quiet bit
	}
	return bits
}

func convertToSingle(dst, src []byte, f *float.Format) {
	for i := range len(src) / 2 {
		v := f.Decode(uint64(binary.LittleEndian.Uint16(src[2*i:])))
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(v))
	}
}

func convertFromSingle(dst, src []byte, f *float.Format) {
	for i := range len(src) / 4 {
		v := math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		binary.LittleEndian.PutUint16(dst[2*i:], uint16(f.Round(v)))
	}
}
