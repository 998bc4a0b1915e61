//go:build !purego

#include "textflag.h"

// Every function here moves n ≥ 1 slices; see Rows for what it means. In all:
//
//	DI  where the next slice goes        R8   size of a slice, in bytes
//	SI  what rows count from             R9   step from one place to the next
//	DX  the next row, in bytes           R10  how far the row to prefetch stands from DX, in bytes
//	CX  slices that are left             R11  what rows to prefetch count from
//	AX  where the slice is read          BX   what is prefetched
//
// A prefetch never faults, whatever its address.

#define ARGS \
	MOVQ dst+0(FP), DI; \
	MOVQ src+8(FP), SI; \
	MOVQ rows+16(FP), DX; \
	MOVQ n+24(FP), CX; \
	MOVQ size+32(FP), R8; \
	MOVQ step+40(FP), R9; \
	MOVQ later+48(FP), R10; \
	MOVQ next+72(FP), R11; \
	ADDQ SI, R11; \
	ADDQ at+56(FP), DI; \
	ADDQ bias+64(FP), SI

// NEXT finds the slice and what to prefetch, and steps over the row.
#define NEXT \
	MOVQ (DX), AX; \
	MOVQ (DX)(R10*1), BX; \
	ADDQ SI, AX; \
	ADDQ R11, BX; \
	ADDQ $8, DX

// FOUND is NEXT without anything to prefetch.
#define FOUND \
	MOVQ (DX), AX; \
	ADDQ SI, AX; \
	ADDQ $8, DX

// A slice may begin in one line and end in the next: both are asked for.
#define BOTH \
	PREFETCHT0 (BX); \
	PREFETCHT0 -1(BX)(R8*1)

#define STEP(loop) \
	ADDQ R9, DI; \
	DECQ CX; \
	JNZ  loop

// func rows1(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
TEXT ·rows1(SB), NOSPLIT, $0-80
	ARGS
loop:
	FOUND
	MOVB (AX), R12
	MOVB R12, (DI)
	STEP(loop)
	RET

// func rows1Ahead(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
TEXT ·rows1Ahead(SB), NOSPLIT, $0-80
	ARGS
loop:
	NEXT
	PREFETCHT0 (BX)
	MOVB (AX), R12
	MOVB R12, (DI)
	STEP(loop)
	RET

// func rows2(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
// for slices of 2 and 3 bytes
TEXT ·rows2(SB), NOSPLIT, $0-80
	ARGS
loop:
	FOUND
	MOVW (AX), R12
	MOVW -2(AX)(R8*1), R13
	MOVW R12, (DI)
	MOVW R13, -2(DI)(R8*1)
	STEP(loop)
	RET

// func rows2Ahead(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
TEXT ·rows2Ahead(SB), NOSPLIT, $0-80
	ARGS
loop:
	NEXT
	BOTH
	MOVW (AX), R12
	MOVW -2(AX)(R8*1), R13
	MOVW R12, (DI)
	MOVW R13, -2(DI)(R8*1)
	STEP(loop)
	RET

// func rows4(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
TEXT ·rows4(SB), NOSPLIT, $0-80
	ARGS
loop:
	FOUND
	MOVL (AX), R12
	MOVL R12, (DI)
	STEP(loop)
	RET

// func rows4Ahead(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
TEXT ·rows4Ahead(SB), NOSPLIT, $0-80
	ARGS
loop:
	NEXT
	PREFETCHT0 (BX)
	MOVL (AX), R12
	MOVL R12, (DI)
	STEP(loop)
	RET

// func rows5(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
// for slices of 5 to 7 bytes
TEXT ·rows5(SB), NOSPLIT, $0-80
	ARGS
loop:
	FOUND
	MOVL (AX), R12
	MOVL -4(AX)(R8*1), R13
	MOVL R12, (DI)
	MOVL R13, -4(DI)(R8*1)
	STEP(loop)
	RET

// func rows5Ahead(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
TEXT ·rows5Ahead(SB), NOSPLIT, $0-80
	ARGS
loop:
	NEXT
	BOTH
	MOVL (AX), R12
	MOVL -4(AX)(R8*1), R13
	MOVL R12, (DI)
	MOVL R13, -4(DI)(R8*1)
	STEP(loop)
	RET

// func rows8(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
TEXT ·rows8(SB), NOSPLIT, $0-80
	ARGS
loop:
	FOUND
	MOVQ (AX), R12
	MOVQ R12, (DI)
	STEP(loop)
	RET

// func rows8Ahead(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
TEXT ·rows8Ahead(SB), NOSPLIT, $0-80
	ARGS
loop:
	NEXT
	PREFETCHT0 (BX)
	MOVQ (AX), R12
	MOVQ R12, (DI)
	STEP(loop)
	RET

// func rows9(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
// for slices of 9 to 15 bytes
TEXT ·rows9(SB), NOSPLIT, $0-80
	ARGS
loop:
	FOUND
	MOVQ (AX), R12
	MOVQ -8(AX)(R8*1), R13
	MOVQ R12, (DI)
	MOVQ R13, -8(DI)(R8*1)
	STEP(loop)
	RET

// func rows9Ahead(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
TEXT ·rows9Ahead(SB), NOSPLIT, $0-80
	ARGS
loop:
	NEXT
	BOTH
	MOVQ (AX), R12
	MOVQ -8(AX)(R8*1), R13
	MOVQ R12, (DI)
	MOVQ R13, -8(DI)(R8*1)
	STEP(loop)
	RET

// func rows16(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
TEXT ·rows16(SB), NOSPLIT, $0-80
	ARGS
loop:
	FOUND
	MOVOU (AX), X0
	MOVOU X0, (DI)
	STEP(loop)
	RET

// func rows16Ahead(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
TEXT ·rows16Ahead(SB), NOSPLIT, $0-80
	ARGS
loop:
	NEXT
	BOTH
	MOVOU (AX), X0
	MOVOU X0, (DI)
	STEP(loop)
	RET

// func rows17(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
// for slices of 17 to 32 bytes
TEXT ·rows17(SB), NOSPLIT, $0-80
	ARGS
loop:
	FOUND
	MOVOU (AX), X0
	MOVOU -16(AX)(R8*1), X1
	MOVOU X0, (DI)
	MOVOU X1, -16(DI)(R8*1)
	STEP(loop)
	RET

// func rows17Ahead(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
TEXT ·rows17Ahead(SB), NOSPLIT, $0-80
	ARGS
loop:
	NEXT
	BOTH
	MOVOU (AX), X0
	MOVOU -16(AX)(R8*1), X1
	MOVOU X0, (DI)
	MOVOU X1, -16(DI)(R8*1)
	STEP(loop)
	RET

// func rows33AVX2(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
// for slices of 33 to 64 bytes
TEXT ·rows33AVX2(SB), NOSPLIT, $0-80
	ARGS
loop:
	FOUND
	VMOVDQU (AX), Y0
	VMOVDQU -32(AX)(R8*1), Y1
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, -32(DI)(R8*1)
	STEP(loop)
	VZEROUPPER
	RET

// func rows33AheadAVX2(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
TEXT ·rows33AheadAVX2(SB), NOSPLIT, $0-80
	ARGS
loop:
	NEXT
	BOTH
	VMOVDQU (AX), Y0
	VMOVDQU -32(AX)(R8*1), Y1
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, -32(DI)(R8*1)
	STEP(loop)
	VZEROUPPER
	RET

// Slices of 64 bytes and more: whole pieces of 64, then the last 64 bytes, over
// what the pieces moved of them. R12 is the piece, R13 the last one.

// func rows64AVX2(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
TEXT ·rows64AVX2(SB), NOSPLIT, $0-80
	ARGS
	LEAQ -64(R8), R13
loop:
	FOUND
	XORL R12, R12
	JMP  last
piece:
	VMOVDQU (AX)(R12*1), Y0
	VMOVDQU 32(AX)(R12*1), Y1
	VMOVDQU Y0, (DI)(R12*1)
	VMOVDQU Y1, 32(DI)(R12*1)
	ADDQ $64, R12
last:
	CMPQ R12, R13
	JLT  piece
	VMOVDQU (AX)(R13*1), Y0
	VMOVDQU 32(AX)(R13*1), Y1
	VMOVDQU Y0, (DI)(R13*1)
	VMOVDQU Y1, 32(DI)(R13*1)
	STEP(loop)
	VZEROUPPER
	RET

// func rows64AheadAVX2(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
TEXT ·rows64AheadAVX2(SB), NOSPLIT, $0-80
	ARGS
	LEAQ -64(R8), R13
loop:
	NEXT
	XORL R12, R12
	JMP  last
piece:
	VMOVDQU (AX)(R12*1), Y0
	VMOVDQU 32(AX)(R12*1), Y1
	PREFETCHT0 (BX)(R12*1)
	VMOVDQU Y0, (DI)(R12*1)
	VMOVDQU Y1, 32(DI)(R12*1)
	ADDQ $64, R12
last:
	CMPQ R12, R13
	JLT  piece
	VMOVDQU (AX)(R13*1), Y0
	VMOVDQU 32(AX)(R13*1), Y1
	PREFETCHT0 (BX)(R13*1)
	PREFETCHT0 63(BX)(R13*1)
	VMOVDQU Y0, (DI)(R13*1)
	VMOVDQU Y1, 32(DI)(R13*1)
	STEP(loop)
	VZEROUPPER
	RET

// func rows64AVX512(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
TEXT ·rows64AVX512(SB), NOSPLIT, $0-80
	ARGS
	LEAQ -64(R8), R13
loop:
	FOUND
	XORL R12, R12
	JMP  last
piece:
	VMOVDQU64 (AX)(R12*1), Z0
	VMOVDQU64 Z0, (DI)(R12*1)
	ADDQ $64, R12
last:
	CMPQ R12, R13
	JLT  piece
	VMOVDQU64 (AX)(R13*1), Z0
	VMOVDQU64 Z0, (DI)(R13*1)
	STEP(loop)
	VZEROUPPER
	RET

// func rows64AheadAVX512(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
TEXT ·rows64AheadAVX512(SB), NOSPLIT, $0-80
	ARGS
	LEAQ -64(R8), R13
loop:
	NEXT
	XORL R12, R12
	JMP  last
piece:
	VMOVDQU64 (AX)(R12*1), Z0
	PREFETCHT0 (BX)(R12*1)
	VMOVDQU64 Z0, (DI)(R12*1)
	ADDQ $64, R12
last:
	CMPQ R12, R13
	JLT  piece
	VMOVDQU64 (AX)(R13*1), Z0
	PREFETCHT0 (BX)(R13*1)
	PREFETCHT0 63(BX)(R13*1)
	VMOVDQU64 Z0, (DI)(R13*1)
	STEP(loop)
	VZEROUPPER
	RET

// The streaming forms write past the caches. Sizes and places are multiples of
// 64 (of 32 for AVX2's stores).

// func stream64AVX2(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
TEXT ·stream64AVX2(SB), NOSPLIT, $0-80
	ARGS
loop:
	NEXT
	XORL R12, R12
piece:
	VMOVDQU (AX)(R12*1), Y0
	VMOVDQU 32(AX)(R12*1), Y1
	PREFETCHT0 (BX)(R12*1)
	VMOVNTDQ Y0, (DI)(R12*1)
	VMOVNTDQ Y1, 32(DI)(R12*1)
	ADDQ $64, R12
	CMPQ R12, R8
	JLT  piece
	STEP(loop)
	SFENCE
	VZEROUPPER
	RET

// func stream64AVX512(dst, src *byte, rows *int64, n, size, step, later, at, bias, next int)
TEXT ·stream64AVX512(SB), NOSPLIT, $0-80
	ARGS
loop:
	NEXT
	XORL R12, R12
piece:
	VMOVDQU64 (AX)(R12*1), Z0
	PREFETCHT0 (BX)(R12*1)
	VMOVNTDQ Z0, (DI)(R12*1)
	ADDQ $64, R12
	CMPQ R12, R8
	JLT  piece
	STEP(loop)
	SFENCE
	VZEROUPPER
	RET
