//go:build !purego

#include "textflag.h"

// Strips: tuples of neighbouring columns, each from a row of its own. The j-th
// value v of a tuple, checked against dim, means element v·stride + j. They stop
// at the first tuple that has a value outside and say how many came before it.
// Eight columns a turn; n, the columns, is a multiple of 8.
//
//	DI  where the tuple goes             Z8   dim
//	SI  the strip                        Z9   what is added to a negative value: dim, or 0
//	DX  the tuple's values               Z10  stride
//	CX  columns that are done            Z7   the columns of this turn
//	R8  columns                          R10  from one tuple's values to the next's, in bytes
//	R9  tuples that are left             R11  from one tuple's place to the next's
//	R12 the values that are asked for    BX   the place that is asked for

DATA lanes<>+0(SB)/8, $0
DATA lanes<>+8(SB)/8, $1
DATA lanes<>+16(SB)/8, $2
DATA lanes<>+24(SB)/8, $3
DATA lanes<>+32(SB)/8, $4
DATA lanes<>+40(SB)/8, $5
DATA lanes<>+48(SB)/8, $6
DATA lanes<>+56(SB)/8, $7
DATA lanes<>+64(SB)/8, $8
GLOBL lanes<>(SB), RODATA|NOPTR, $72

#define SARGS \
	MOVQ dst+0(FP), DI; \
	MOVQ src+8(FP), SI; \
	MOVQ values+16(FP), DX; \
	MOVQ n+24(FP), R8; \
	MOVQ tuples+32(FP), R9; \
	VPBROADCASTQ dim+40(FP), Z8; \
	VPBROADCASTQ fromEnd+48(FP), Z9; \
	VPBROADCASTQ stride+56(FP), Z10; \
	MOVQ from+64(FP), R10; \
	MOVQ to+72(FP), R11; \
	MOVQ ahead+80(FP), BX; \
	MOVQ BX, R12; \
	IMULQ R10, R12; \
	ADDQ DX, R12; \
	IMULQ R11, BX; \
	ADDQ DI, BX; \
	VMOVDQU64 lanes<>(SB), Z5; \
	VPBROADCASTQ lanes<>+64(SB), Z6

// A gather keeps what its mask leaves out, so that it waits for what the
// register held: it is cleared first.
#define STRIP(load, width, ASK, gather, to, size, STORE, FENCE) \
	SARGS; \
row: \
	VMOVDQA64  Z5, Z7; \
	XORL       CX, CX; \
turn: \
	load       (DX)(CX*width), Z1; \
	PREFETCHT0 (R12)(CX*width); \
	ASK(size); \
	VPMOVQ2M   Z1, K1; \
	VPADDQ     Z9, Z1, K1, Z1; \
	VPCMPUQ    $5, Z8, Z1, K2; \
	KORTESTB   K2, K2; \
	JNZ        out; \
	VPMULUDQ   Z10, Z1, Z2; \
	VPADDQ     Z7, Z2, Z2; \
	VPADDQ     Z6, Z7, Z7; \
	KXNORB     K3, K3, K3; \
	VPXORQ     Z0, Z0, Z0; \
	gather     (SI)(Z2*size), K3, to; \
	STORE; \
	ADDQ       $8, CX; \
	CMPQ       CX, R8; \
	JLT        turn; \
	ADDQ       R10, DX; \
	ADDQ       R10, R12; \
	ADDQ       R11, DI; \
	ADDQ       R11, BX; \
	DECQ       R9; \
	JNZ        row; \
out: \
	FENCE; \
	VZEROUPPER; \
	MOVQ tuples+32(FP), AX; \
	SUBQ R9, AX; \
	MOVQ AX, ret+88(FP); \
	RET

#define PLACE(size) \
	PREFETCHT0 (BX)(CX*size)

// A place that is written past the caches is not brought into them.
#define NOPLACE(size)
#define NOFENCE

#define STORE1 VPMOVDB Y0, (DI)(CX*1)
#define STORE2 VPMOVDW Y0, (DI)(CX*2)
#define STORE4 VMOVDQU Y0, (DI)(CX*4)
#define STORE8 VMOVDQU64 Z0, (DI)(CX*8)
#define STREAM4 VMOVNTDQ Y0, (DI)(CX*4)
#define STREAM8 VMOVNTDQ Z0, (DI)(CX*8)

// func strip1of8AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int
// reads three bytes behind an element
TEXT ·strip1of8AVX512(SB), NOSPLIT, $0-96
	STRIP(VMOVDQU64, 8, PLACE, VPGATHERQD, Y0, 1, STORE1, NOFENCE)

// func strip2of8AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int
// reads two bytes behind an element
TEXT ·strip2of8AVX512(SB), NOSPLIT, $0-96
	STRIP(VMOVDQU64, 8, PLACE, VPGATHERQD, Y0, 2, STORE2, NOFENCE)

// func strip4of8AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int
TEXT ·strip4of8AVX512(SB), NOSPLIT, $0-96
	STRIP(VMOVDQU64, 8, PLACE, VPGATHERQD, Y0, 4, STORE4, NOFENCE)

// func strip8of8AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int
TEXT ·strip8of8AVX512(SB), NOSPLIT, $0-96
	STRIP(VMOVDQU64, 8, PLACE, VPGATHERQQ, Z0, 8, STORE8, NOFENCE)

// func strip4of8StreamAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int
TEXT ·strip4of8StreamAVX512(SB), NOSPLIT, $0-96
	STRIP(VMOVDQU64, 8, NOPLACE, VPGATHERQD, Y0, 4, STREAM4, SFENCE)

// func strip8of8StreamAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int
TEXT ·strip8of8StreamAVX512(SB), NOSPLIT, $0-96
	STRIP(VMOVDQU64, 8, NOPLACE, VPGATHERQQ, Z0, 8, STREAM8, SFENCE)

// func strip1of4AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int
// reads three bytes behind an element
TEXT ·strip1of4AVX512(SB), NOSPLIT, $0-96
	STRIP(VPMOVSXDQ, 4, PLACE, VPGATHERQD, Y0, 1, STORE1, NOFENCE)

// func strip2of4AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int
// reads two bytes behind an element
TEXT ·strip2of4AVX512(SB), NOSPLIT, $0-96
	STRIP(VPMOVSXDQ, 4, PLACE, VPGATHERQD, Y0, 2, STORE2, NOFENCE)

// func strip4of4AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int
TEXT ·strip4of4AVX512(SB), NOSPLIT, $0-96
	STRIP(VPMOVSXDQ, 4, PLACE, VPGATHERQD, Y0, 4, STORE4, NOFENCE)

// func strip8of4AVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int
TEXT ·strip8of4AVX512(SB), NOSPLIT, $0-96
	STRIP(VPMOVSXDQ, 4, PLACE, VPGATHERQQ, Z0, 8, STORE8, NOFENCE)

// func strip4of4StreamAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int
TEXT ·strip4of4StreamAVX512(SB), NOSPLIT, $0-96
	STRIP(VPMOVSXDQ, 4, NOPLACE, VPGATHERQD, Y0, 4, STREAM4, SFENCE)

// func strip8of4StreamAVX512(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int
TEXT ·strip8of4StreamAVX512(SB), NOSPLIT, $0-96
	STRIP(VPMOVSXDQ, 4, NOPLACE, VPGATHERQQ, Z0, 8, STREAM8, SFENCE)
