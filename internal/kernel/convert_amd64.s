//go:build !purego

#include "textflag.h"

// Each function converts 16 elements per iteration. n is a positive multiple of 16.
// No conversion depends on the rounding mode or on flushing of subnormals, which
// foreign code of the process may have set.

#define ARGS \
	MOVQ dst+0(FP), DI; \
	MOVQ src+8(FP), SI; \
	MOVQ n+16(FP), CX

#define NEXT(from, to) \
	ADDQ $from, SI; \
	ADDQ $to, DI; \
	SUBQ $16, CX; \
	JNZ  loop; \
	VZEROUPPER; \
	RET

// func f16ToF32AVX2(dst, src *byte, n int)
TEXT ·f16ToF32AVX2(SB), NOSPLIT, $0-24
	ARGS

loop:
	VCVTPH2PS (SI), Y0
	VCVTPH2PS 16(SI), Y1
	VMOVDQU   Y0, (DI)
	VMOVDQU   Y1, 32(DI)
	NEXT(32, 64)

// func f16ToF32AVX512(dst, src *byte, n int)
TEXT ·f16ToF32AVX512(SB), NOSPLIT, $0-24
	ARGS

loop:
	VCVTPH2PS (SI), Z0
	VMOVDQU32 Z0, (DI)
	NEXT(32, 64)

// BROADCAST fills a register with a constant of 32 bits.
#define BROADCAST(value, x, y) \
	MOVL         $value, AX; \
	VMOVD        AX, x; \
	VPBROADCASTD x, y

// func f16BitsToF32AVX2(dst, src *byte, n int)
TEXT ·f16BitsToF32AVX2(SB), NOSPLIT, $0-24
	ARGS
	BROADCAST(0x400000, X15, Y15) // the quiet bit

loop:
	VCVTPH2PS (SI), Y0
	VCVTPH2PS 16(SI), Y1
	VPMOVZXWD (SI), Y2
	VPMOVZXWD 16(SI), Y3
	VPSLLD    $13, Y2, Y2
	VPSLLD    $13, Y3, Y3
	VCMPPS    $3, Y0, Y0, Y4 // NaNs
	VCMPPS    $3, Y1, Y1, Y5
	VPANDN    Y15, Y2, Y2    // the quiet bit, where the f16 lacks it
	VPANDN    Y15, Y3, Y3
	VPAND     Y4, Y2, Y2
	VPAND     Y5, Y3, Y3
	VPXOR     Y2, Y0, Y0
	VPXOR     Y3, Y1, Y1
	VMOVDQU   Y0, (DI)
	VMOVDQU   Y1, 32(DI)
	NEXT(32, 64)

// func f16BitsToF32AVX512(dst, src *byte, n int)
TEXT ·f16BitsToF32AVX512(SB), NOSPLIT, $0-24
	ARGS
	BROADCAST(0x400000, X15, Z15) // the quiet bit

loop:
	VCVTPH2PS (SI), Z0
	VPMOVZXWD (SI), Z1
	VPSLLD    $13, Z1, Z1
	VCMPPS    $3, Z0, Z0, K1 // NaNs
	VPANDND   Z15, Z1, Z1    // the quiet bit, where the f16 lacks it
	VPXORD    Z1, Z0, K1, Z0
	VMOVDQU32 Z0, (DI)
	NEXT(32, 64)

// func f32ToF16AVX2(dst, src *byte, n int)
TEXT ·f32ToF16AVX2(SB), NOSPLIT, $0-24
	ARGS

loop:
	VMOVDQU   (SI), Y0
	VMOVDQU   32(SI), Y1
	VCVTPS2PH $0, Y0, X0 // to the nearest, ties to even
	VCVTPS2PH $0, Y1, X1
	VMOVDQU   X0, (DI)
	VMOVDQU   X1, 16(DI)
	NEXT(64, 32)

// func f32ToF16AVX512(dst, src *byte, n int)
TEXT ·f32ToF16AVX512(SB), NOSPLIT, $0-24
	ARGS

loop:
	VMOVDQU32 (SI), Z0
	VCVTPS2PH $0, Z0, Y0 // to the nearest, ties to even
	VMOVDQU   Y0, (DI)
	NEXT(64, 32)

// QUIET16 loads 16 elements of bf16 and makes NaNs quiet. Y13 is the magnitude's
// bits, Y14 that of Infinity, Y15 the quiet bit; 16 bits each.
#define QUIET16 \
	VMOVDQU  (SI), Y0; \
	VPAND    Y13, Y0, Y1; \
	VPCMPGTW Y14, Y1, Y1; \
	VPAND    Y15, Y1, Y1; \
	VPOR     Y1, Y0, Y0

// func bf16ToF32AVX2(dst, src *byte, n int)
TEXT ·bf16ToF32AVX2(SB), NOSPLIT, $0-24
	ARGS
	BROADCAST(0x7fff7fff, X13, Y13)
	BROADCAST(0x7f807f80, X14, Y14)
	BROADCAST(0x00400040, X15, Y15)

loop:
	QUIET16
	VEXTRACTI128 $1, Y0, X1
	VPMOVZXWD    X0, Y0
	VPMOVZXWD    X1, Y1
	VPSLLD       $16, Y0, Y0
	VPSLLD       $16, Y1, Y1
	VMOVDQU      Y0, (DI)
	VMOVDQU      Y1, 32(DI)
	NEXT(32, 64)

// func bf16ToF32AVX512(dst, src *byte, n int)
TEXT ·bf16ToF32AVX512(SB), NOSPLIT, $0-24
	ARGS
	BROADCAST(0x7fff7fff, X13, Y13)
	BROADCAST(0x7f807f80, X14, Y14)
	BROADCAST(0x00400040, X15, Y15)

loop:
	QUIET16
	VPMOVZXWD Y0, Z0
	VPSLLD    $16, Z0, Z0
	VMOVDQU32 Z0, (DI)
	NEXT(32, 64)

// ROUND8 converts 8 elements of f32 in y to bf16, 32 bits each. Y11 is 1, Y12 half of
// the last place less 1, Y13 the magnitude's bits, Y14 that of Infinity, Y15 the
// quiet bit of bf16; a and b are scratch.
#define ROUND8(y, a, b) \
	VPSRLD    $16, y, a; \
	VPAND     Y13, y, b; \
	VPCMPGTD  Y14, b, b; \
	VPADDD    Y12, y, y; \
	VPAND     Y11, a, Y10; \
	VPADDD    Y10, y, y; \
	VPSRLD    $16, y, y; \
	VPOR      Y15, a, a; \
	VPBLENDVB b, a, y, y

// func f32ToBF16AVX2(dst, src *byte, n int)
TEXT ·f32ToBF16AVX2(SB), NOSPLIT, $0-24
	ARGS
	BROADCAST(1, X11, Y11)
	BROADCAST(0x7fff, X12, Y12)
	BROADCAST(0x7fffffff, X13, Y13)
	BROADCAST(0x7f800000, X14, Y14)
	BROADCAST(0x40, X15, Y15)

loop:
	VMOVDQU   (SI), Y0
	VMOVDQU   32(SI), Y1
	ROUND8(Y0, Y2, Y3)
	ROUND8(Y1, Y4, Y5)
	VPACKUSDW Y1, Y0, Y0
	VPERMQ    $0xd8, Y0, Y0 // VPACKUSDW packs each half by itself
	VMOVDQU   Y0, (DI)
	NEXT(64, 32)

// func f32ToBF16AVX512(dst, src *byte, n int)
TEXT ·f32ToBF16AVX512(SB), NOSPLIT, $0-24
	ARGS
	BROADCAST(1, X11, Z11)
	BROADCAST(0x7fff, X12, Z12)
	BROADCAST(0x7fffffff, X13, Z13)
	BROADCAST(0x7f800000, X14, Z14)
	BROADCAST(0x40, X15, Z15)

loop:
	VMOVDQU32 (SI), Z0
	VPSRLD    $16, Z0, Z1
	VPANDD    Z13, Z0, Z2
	VPCMPGTD  Z14, Z2, K1  // a NaN
	VPANDD    Z11, Z1, Z3
	VPADDD    Z12, Z0, Z0
	VPADDD    Z3, Z0, Z0
	VPSRLD    $16, Z0, Z0
	VPORD     Z15, Z1, K1, Z0
	VPMOVDW   Z0, Y0
	VMOVDQU   Y0, (DI)
	NEXT(64, 32)
