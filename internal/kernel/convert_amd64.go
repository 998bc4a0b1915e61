//go:build !purego

package kernel

import "golang.org/x/sys/cpu"

// f16ToF32AVX2 converts f16 to f32, by F16C; n is a positive multiple of 16:
//
//	for i := range n {
//		v := single(binary.LittleEndian.Uint16(src[2*i:]))
//		binary.LittleEndian.PutUint32(dst[4*i:], v)
//	}
//
//go:noescape
func f16ToF32AVX2(dst, src *byte, n int)

// f16ToF32AVX512 is f16ToF32AVX2 in registers of 64 bytes:
//
//	for i := range n {
//		v := single(binary.LittleEndian.Uint16(src[2*i:]))
//		binary.LittleEndian.PutUint32(dst[4*i:], v)
//	}
//
//go:noescape
func f16ToF32AVX512(dst, src *byte, n int)

// f16BitsToF32AVX2 is f16ToF32AVX2 with signalling NaNs that stay signalling; n is a
// positive multiple of 16. It flips the quiet bit of those NaNs:
//
//	for i := range n {
//		h := binary.LittleEndian.Uint16(src[2*i:])
//		v := single(h)
//		if h&0x7fff > 0x7c00 {
//			v ^= uint32(^h&0x200) << 13
//		}
//		binary.LittleEndian.PutUint32(dst[4*i:], v)
//	}
//
//go:noescape
func f16BitsToF32AVX2(dst, src *byte, n int)

// f16BitsToF32AVX512 is f16BitsToF32AVX2 in registers of 64 bytes:
//
//	for i := range n {
//		h := binary.LittleEndian.Uint16(src[2*i:])
//		v := single(h)
//		if h&0x7fff > 0x7c00 {
//			v ^= uint32(^h&0x200) << 13
//		}
//		binary.LittleEndian.PutUint32(dst[4*i:], v)
//	}
//
//go:noescape
func f16BitsToF32AVX512(dst, src *byte, n int)

// bf16ToF32AVX2 converts bf16 to f32, whose upper half it is; n is a positive
// multiple of 16:
//
//	for i := range n {
//		v := binary.LittleEndian.Uint16(src[2*i:])
//		if v&0x7fff > 0x7f80 {
//			v |= 0x40
//		}
//		binary.LittleEndian.PutUint32(dst[4*i:], uint32(v)<<16)
//	}
//
//go:noescape
func bf16ToF32AVX2(dst, src *byte, n int)

// bf16ToF32AVX512 is bf16ToF32AVX2 with stores of 64 bytes:
//
//	for i := range n {
//		v := binary.LittleEndian.Uint16(src[2*i:])
//		if v&0x7fff > 0x7f80 {
//			v |= 0x40
//		}
//		binary.LittleEndian.PutUint32(dst[4*i:], uint32(v)<<16)
//	}
//
//go:noescape
func bf16ToF32AVX512(dst, src *byte, n int)

// f32ToF16AVX2 converts f32 to f16, by F16C; n is a positive multiple of 16:
//
//	for i := range n {
//		v := half(binary.LittleEndian.Uint32(src[4*i:]))
//		binary.LittleEndian.PutUint16(dst[2*i:], v)
//	}
//
//go:noescape
func f32ToF16AVX2(dst, src *byte, n int)

// f32ToF16AVX512 is f32ToF16AVX2 in registers of 64 bytes:
//
//	for i := range n {
//		v := half(binary.LittleEndian.Uint32(src[4*i:]))
//		binary.LittleEndian.PutUint16(dst[2*i:], v)
//	}
//
//go:noescape
func f32ToF16AVX512(dst, src *byte, n int)

// f32ToBF16AVX2 converts f32 to bf16; n is a positive multiple of 16. It adds half
// of the last place, or one less where the result would else be odd:
//
//	for i := range n {
//		v := binary.LittleEndian.Uint32(src[4*i:])
//		if v&0x7fffffff > 0x7f800000 {
//			v |= 0x400000
//		} else {
//			v += 0x7fff + v>>16&1
//		}
//		binary.LittleEndian.PutUint16(dst[2*i:], uint16(v>>16))
//	}
//
//go:noescape
func f32ToBF16AVX2(dst, src *byte, n int)

// f32ToBF16AVX512 is f32ToBF16AVX2 in registers of 64 bytes:
//
//	for i := range n {
//		v := binary.LittleEndian.Uint32(src[4*i:])
//		if v&0x7fffffff > 0x7f800000 {
//			v |= 0x400000
//		} else {
//			v += 0x7fff + v>>16&1
//		}
//		binary.LittleEndian.PutUint16(dst[2*i:], uint16(v>>16))
//	}
//
//go:noescape
func f32ToBF16AVX512(dst, src *byte, n int)

// convertForm returns the form of a conversion, or nil where the generic form runs.
func convertForm(c Conversion) convertFunc {
	switch {
	case form >= formAVX512:
		return [...]convertFunc{F16ToF32: f16ToF32AVX512, F16BitsToF32: f16BitsToF32AVX512, BF16ToF32: bf16ToF32AVX512, F32ToF16: f32ToF16AVX512, F32ToBF16: f32ToBF16AVX512}[c]
	case form < formAVX2 || !cpu.X86.HasF16C && (c == F16ToF32 || c == F16BitsToF32 || c == F32ToF16):
		return nil
	}
	return [...]convertFunc{F16ToF32: f16ToF32AVX2, F16BitsToF32: f16BitsToF32AVX2, BF16ToF32: bf16ToF32AVX2, F32ToF16: f32ToF16AVX2, F32ToBF16: f32ToBF16AVX2}[c]
}
