//go:build !purego

#include "textflag.h"

// WIDEN extends eight narrow index values to 64 bits per iteration. n is a
// positive multiple of 8.

#define WIDEN(load, width) \
	MOVQ values+0(FP), DI; \
	MOVQ src+8(FP), SI; \
	MOVQ n+16(FP), CX; \
loop: \
	load    (SI), Y0; \
	load    (4*width)(SI), Y1; \
	VMOVDQU Y0, (DI); \
	VMOVDQU Y1, 32(DI); \
	ADDQ    $(8*width), SI; \
	ADDQ    $64, DI; \
	SUBQ    $8, CX; \
	JNZ     loop; \
	VZEROUPPER; \
	RET

// func widenI8AVX2(values *int64, src *byte, n int)
TEXT ·widenI8AVX2(SB), NOSPLIT, $0-24
	WIDEN(VPMOVSXBQ, 1)

// func widenU8AVX2(values *int64, src *byte, n int)
TEXT ·widenU8AVX2(SB), NOSPLIT, $0-24
	WIDEN(VPMOVZXBQ, 1)

// func widenI16AVX2(values *int64, src *byte, n int)
TEXT ·widenI16AVX2(SB), NOSPLIT, $0-24
	WIDEN(VPMOVSXWQ, 2)

// func widenU16AVX2(values *int64, src *byte, n int)
TEXT ·widenU16AVX2(SB), NOSPLIT, $0-24
	WIDEN(VPMOVZXWQ, 2)

// func widenI32AVX2(values *int64, src *byte, n int)
TEXT ·widenI32AVX2(SB), NOSPLIT, $0-24
	WIDEN(VPMOVSXDQ, 4)

// func widenU32AVX2(values *int64, src *byte, n int)
TEXT ·widenU32AVX2(SB), NOSPLIT, $0-24
	WIDEN(VPMOVZXDQ, 4)
