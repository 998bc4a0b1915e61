//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// The forms of Decode, Affine and Scale. Each operation rounds, as package codec's
// definition does; only Affine's are fused. Where two operands are NaNs an instruction
// gives the first, and so does the definition; the first is the second to last here.
//
//	DI  next byte of dst       Z0 … Z15   scratch
//	SI  next byte of src       Z16 … Z31  constants, or of the block
//	CX  remaining blocks       R8         64 bytes of the frame, aligned: the products of a block's
//	AX, BX, DX, R9             scratch         scale and minimum with the factors of its groups
//	R15, R10  row, last row    R11, R13   where rows lie, the start of src
//
// With AVX2, Y9 … Y15 are the constants.

// The 16 values of codes of 4 bits: 0 … 15.
DATA numbers<>+0(SB)/8, $0x0706050403020100
DATA numbers<>+8(SB)/8, $0x0f0e0d0c0b0a0908
GLOBL numbers<>(SB), RODATA|NOPTR, $16

// eighths are the places in a dword of 8 codes of 4 bits, twice.
DATA eighths<>+0(SB)/4, $0
DATA eighths<>+4(SB)/4, $4
DATA eighths<>+8(SB)/4, $8
DATA eighths<>+12(SB)/4, $12
DATA eighths<>+16(SB)/4, $16
DATA eighths<>+20(SB)/4, $20
DATA eighths<>+24(SB)/4, $24
DATA eighths<>+28(SB)/4, $28
DATA eighths<>+32(SB)/4, $0
DATA eighths<>+36(SB)/4, $4
DATA eighths<>+40(SB)/4, $8
DATA eighths<>+44(SB)/4, $12
DATA eighths<>+48(SB)/4, $16
DATA eighths<>+52(SB)/4, $20
DATA eighths<>+56(SB)/4, $24
DATA eighths<>+60(SB)/4, $28
GLOBL eighths<>(SB), RODATA|NOPTR, $64

// alternate brings 8 scales and 8 minimums, which lie in fours, into turns.
DATA alternate<>+0(SB)/8, $0x0703060205010400
DATA alternate<>+8(SB)/8, $0x0f0b0e0a0d090c08
GLOBL alternate<>(SB), RODATA|NOPTR, $16

// masks are the parts of the factors of Q4_K: their lowest 4, 6 bits, and bits 4 and 5.
DATA masks<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA masks<>+8(SB)/8, $0x3f3f3f3f3f3f3f3f
DATA masks<>+16(SB)/8, $0x3030303030303030
GLOBL masks<>(SB), RODATA|NOPTR, $24

// words are constants of 32 bits: masks of the low 4, 5 and 6 bits; 2^23, whose last
// 23 bits are an integer; 2^23 + 32; bits 4, and 4 and 5; 16; 32.
DATA words<>+0(SB)/4, $0x0f
DATA words<>+4(SB)/4, $0x1f
DATA words<>+8(SB)/4, $0x3f
DATA words<>+12(SB)/4, $0x4b000000
DATA words<>+16(SB)/4, $0x4b000020
DATA words<>+20(SB)/4, $0x10
DATA words<>+24(SB)/4, $0x30
DATA words<>+28(SB)/4, $16
DATA words<>+32(SB)/4, $32
GLOBL words<>(SB), RODATA|NOPTR, $36

// LINES prefetches the lines of so many bytes from at on.
#define LINES(at, bytes, counter, label) \
	MOVQ bytes, counter; \
label: \
	PREFETCHT0 -1(at)(counter*1); \
	SUBQ $64, counter; \
	JGT label; \
	PREFETCHT0 (at)

// DARGS loads the arguments of Decode, and BLOCKS begins the loops over rows and their
// blocks: it prefetches a later row.
#define DARGS \
	MOVQ a+0(FP), AX; \
	MOVQ decodeArgs_dst(AX), DI; \
	MOVQ decodeArgs_src(AX), R13; \
	MOVQ decodeArgs_at(AX), R11; \
	MOVQ decodeArgs_rows(AX), R10; \
	DECQ R10; \
	XORL R15, R15

#define BLOCKS \
row: \
	MOVQ a+0(FP), DX; \
	MOVQ decodeArgs_ahead(DX), AX; \
	ADDQ R15, AX; \
	CMPQ AX, R10; \
	CMOVQGT R10, AX; \
	MOVQ (R11)(AX*8), AX; \
	ADDQ R13, AX; \
	LINES(AX, decodeArgs_touched(DX), CX, line); \
	MOVQ (R11)(R15*8), SI; \
	ADDQ R13, SI; \
	MOVQ decodeArgs_n(DX), CX; \
loop:

// SCRATCH sets R8 to 64 aligned bytes of a frame of 120.
#define SCRATCH \
	LEAQ 63(SP), R8; \
	ANDQ $-64, R8

// NEXT closes the loops over blocks and rows and returns.
#define NEXT(bytes, elements) \
	ADDQ $bytes, SI; \
	ADDQ $(4*elements), DI; \
	DECQ CX; \
	JNZ loop; \
	INCQ R15; \
	CMPQ R15, R10; \
	JLE row; \
	VZEROUPPER; \
	RET

// func q8_0AVX512(a *decodeArgs)
TEXT ·q8_0AVX512(SB), NOSPLIT, $0-8
	DARGS
	BLOCKS
	VPBROADCASTW (SI), Y0
	VCVTPH2PS Y0, Z0
	VPMOVSXBD 2(SI), Z1
	VPMOVSXBD 18(SI), Z2
	VCVTDQ2PS Z1, Z1
	VCVTDQ2PS Z2, Z2
	VMULPS Z1, Z0, Z1
	VMULPS Z2, Z0, Z2
	VMOVUPS Z1, (DI)
	VMOVUPS Z2, 64(DI)
	NEXT(34, 32)

// SIGNED8 writes 8 integers times Y0.
#define SIGNED8(from, to) \
	VPMOVSXBD from, Y1; \
	VCVTDQ2PS Y1, Y1; \
	VMULPS Y1, Y0, Y1; \
	VMOVUPS Y1, to(DI)

// func q8_0AVX2(a *decodeArgs)
TEXT ·q8_0AVX2(SB), NOSPLIT, $0-8
	DARGS
	BLOCKS
	VPBROADCASTW (SI), X0
	VCVTPH2PS X0, Y0
	SIGNED8(2(SI), 0)
	SIGNED8(10(SI), 32)
	SIGNED8(18(SI), 64)
	SIGNED8(26(SI), 96)
	NEXT(34, 32)

// HALFSCALE sets Z0 or Y0 to the scale of f16 that begins a block, and POWERSCALE to
// that of MXFP4.
#define HALFSCALE512 \
	VPBROADCASTW (SI), Y0; \
	VCVTPH2PS Y0, Z0

#define HALFSCALE2 \
	VPBROADCASTW (SI), X0; \
	VCVTPH2PS X0, Y0

#define POWERSCALE512 \
	MOVBLZX (SI), AX; \
	VBROADCASTSS (R9)(AX*4), Z0

#define POWERSCALE2 \
	MOVBLZX (SI), AX; \
	VBROADCASTSS (R9)(AX*4), Y0

// NIBBLES512 decodes blocks of 32 codes of 4 bits behind a scale: the products of the
// scale with all 16 values are a table, of which VPERMPS selects by the lowest 4 bits.
#define NIBBLES512(scale, at, bytes) \
	DARGS; \
	MOVQ decodeArgs_values(AX), BX; \
	MOVQ decodeArgs_powers(AX), R9; \
	VPMOVSXBD (BX), Z31; \
	VCVTDQ2PS Z31, Z31; \
	BLOCKS; \
	scale; \
	VMULPS Z31, Z0, Z0; \
	VPMOVZXBD at(SI), Z1; \
	VPERMPS Z0, Z1, Z2; \
	VPSRLD $4, Z1, Z1; \
	VPERMPS Z0, Z1, Z1; \
	VMOVUPS Z2, (DI); \
	VMOVUPS Z1, 64(DI); \
	NEXT(bytes, 32)

// NIBBLES2 selects values of 8 bits by PSHUFB.
#define NIBBLES2(scale, at, bytes) \
	DARGS; \
	MOVQ decodeArgs_values(AX), BX; \
	MOVQ decodeArgs_powers(AX), R9; \
	VMOVDQU (BX), X15; \
	VPBROADCASTQ masks<>(SB), X14; \
	BLOCKS; \
	scale; \
	VMOVDQU at(SI), X2; \
	VPSRLW $4, X2, X3; \
	VPAND X14, X2, X2; \
	VPAND X14, X3, X3; \
	VPSHUFB X2, X15, X2; \
	VPSHUFB X3, X15, X3; \
	VPSRLDQ $8, X2, X4; \
	VPSRLDQ $8, X3, X5; \
	SIGNED8(X2, 0); \
	SIGNED8(X4, 32); \
	SIGNED8(X3, 64); \
	SIGNED8(X5, 96); \
	NEXT(bytes, 32)

// func nibblesAVX512(a *decodeArgs)
TEXT ·nibblesAVX512(SB), NOSPLIT, $0-8
	NIBBLES512(HALFSCALE512, 2, 18)

// func nibblesAVX2(a *decodeArgs)
TEXT ·nibblesAVX2(SB), NOSPLIT, $0-8
	NIBBLES2(HALFSCALE2, 2, 18)

// func mxfp4AVX512(a *decodeArgs)
TEXT ·mxfp4AVX512(SB), NOSPLIT, $0-8
	NIBBLES512(POWERSCALE512, 1, 17)

// func mxfp4AVX2(a *decodeArgs)
TEXT ·mxfp4AVX2(SB), NOSPLIT, $0-8
	NIBBLES2(POWERSCALE2, 1, 17)

// FACTORS sets X0 to the 8 scales and 8 minimums of Q4_K and Q5_K in turns, 6 bits each
// in a byte. X15 … X11 are the constants that FACTORSINIT loads.
#define FACTORSINIT \
	VPBROADCASTQ masks<>+8(SB), X15; \
	VPBROADCASTQ masks<>(SB), X14; \
	VPBROADCASTQ masks<>+16(SB), X13; \
	VMOVQ eighths<>(SB), X12; \
	VMOVDQU alternate<>(SB), X11

#define FACTORS \
	VMOVQ 4(SI), X0; \
	VPBROADCASTD 12(SI), X1; \
	VPSRLVD X12, X1, X1; \
	VPAND X14, X1, X1; \
	VPSRLD $2, X0, X2; \
	VPAND X13, X2, X2; \
	VPOR X2, X1, X1; \
	VPAND X15, X0, X0; \
	VPUNPCKLQDQ X1, X0, X0; \
	VPSHUFB X11, X0, X0

// PRODUCTS512 stores the products of X0's factors with the scale and the minimum.
#define PRODUCTS512 \
	FACTORS; \
	VPMOVZXBD X0, Z0; \
	VCVTDQ2PS Z0, Z0; \
	VPBROADCASTD (SI), Y1; \
	VCVTPH2PS Y1, Z1; \
	VMULPS Z0, Z1, Z0; \
	VMOVAPS Z0, (R8)

#define PRODUCTS2 \
	FACTORS; \
	VPMOVZXBD X0, Y2; \
	VPSRLDQ $8, X0, X0; \
	VPMOVZXBD X0, Y3; \
	VCVTDQ2PS Y2, Y2; \
	VCVTDQ2PS Y3, Y3; \
	VPBROADCASTD (SI), X1; \
	VCVTPH2PS X1, Y1; \
	VMULPS Y2, Y1, Y2; \
	VMULPS Y3, Y1, Y3; \
	VMOVAPS Y2, (R8); \
	VMOVAPS Y3, 32(R8)

// GROUP512 sets table to the elements of group j by their codes, given those of values.
#define GROUP512(j, values, table) \
	VMULPS.BCST (8*j)(R8), values, table; \
	VSUBPS.BCST (8*j+4)(R8), table, table

// PAIR512 decodes groups 2g and 2g+1 of Q4_K.
#define PAIR512(g) \
	GROUP512((2*g), Z31, Z0); \
	GROUP512((2*g+1), Z31, Z1); \
	VPMOVZXBD (16+32*g)(SI), Z2; \
	VPMOVZXBD (32+32*g)(SI), Z3; \
	VPERMPS Z0, Z2, Z4; \
	VPERMPS Z0, Z3, Z5; \
	VPSRLD $4, Z2, Z2; \
	VPSRLD $4, Z3, Z3; \
	VPERMPS Z1, Z2, Z2; \
	VPERMPS Z1, Z3, Z3; \
	VMOVUPS Z4, (256*g)(DI); \
	VMOVUPS Z5, (256*g+64)(DI); \
	VMOVUPS Z2, (256*g+128)(DI); \
	VMOVUPS Z3, (256*g+192)(DI)

// func q4_kAVX512(a *decodeArgs)
TEXT ·q4_kAVX512(SB), NOSPLIT, $120-8
	DARGS
	SCRATCH
	FACTORSINIT
	VPMOVZXBD numbers<>(SB), Z31
	VCVTDQ2PS Z31, Z31
	BLOCKS
	PRODUCTS512
	PAIR512(0)
	PAIR512(1)
	PAIR512(2)
	PAIR512(3)
	NEXT(144, 256)

// AFFINE8 writes 8 integers times scale, less minimum.
#define AFFINE8(q, scale, minimum, to) \
	VCVTDQ2PS q, q; \
	VMULPS q, scale, q; \
	VSUBPS minimum, q, q; \
	VMOVUPS q, to(DI)

// GROUPS2 loads the products of groups 2g and 2g+1.
#define GROUPS2(g) \
	VBROADCASTSS (16*g)(R8), Y0; \
	VBROADCASTSS (16*g+4)(R8), Y1; \
	VBROADCASTSS (16*g+8)(R8), Y2; \
	VBROADCASTSS (16*g+12)(R8), Y3

// PAIR2 decodes 8 codes at at of each of the groups 2g and 2g+1 of Q4_K.
#define EIGHT2(at, to) \
	VPMOVZXBD at(SI), Y4; \
	VPAND Y10, Y4, Y5; \
	VPSRLD $4, Y4, Y4; \
	AFFINE8(Y5, Y0, Y1, to); \
	AFFINE8(Y4, Y2, Y3, (to+128))

#define PAIR2(g) \
	GROUPS2(g); \
	EIGHT2((16+32*g), (256*g)); \
	EIGHT2((24+32*g), (256*g+32)); \
	EIGHT2((32+32*g), (256*g+64)); \
	EIGHT2((40+32*g), (256*g+96))

// func q4_kAVX2(a *decodeArgs)
TEXT ·q4_kAVX2(SB), NOSPLIT, $120-8
	DARGS
	SCRATCH
	FACTORSINIT
	VPBROADCASTD words<>(SB), Y10
	BLOCKS
	PRODUCTS2
	PAIR2(0)
	PAIR2(1)
	PAIR2(2)
	PAIR2(3)
	NEXT(144, 256)

// FIVE512 decodes 16 codes of Q5_K: low has their lowest 4 bits, high their fifth in bit
// 4+j. Z16 and Z17 have the elements by codes of 5 bits.
#define FIVE512(j, low, high, to) \
	VPSRLD $j, high, Z4; \
	VPTERNLOGD $0xd8, Z29, low, Z4; \
	VPERMI2PS Z17, Z16, Z4; \
	VMOVUPS Z4, to(DI)

#define FIVES512(j) \
	GROUP512(j, Z31, Z16); \
	GROUP512(j, Z30, Z17); \
	FIVE512(j, Z2, Z18, (128*j)); \
	FIVE512(j, Z3, Z19, (128*j+64))

#define FIVEPAIR512(g) \
	VPMOVZXBD (48+32*g)(SI), Z2; \
	VPMOVZXBD (64+32*g)(SI), Z3; \
	FIVES512((2*g)); \
	VPSRLD $4, Z2, Z2; \
	VPSRLD $4, Z3, Z3; \
	FIVES512((2*g+1))

// func q5_kAVX512(a *decodeArgs)
TEXT ·q5_kAVX512(SB), NOSPLIT, $120-8
	DARGS
	SCRATCH
	FACTORSINIT
	VPBROADCASTD words<>(SB), Z29
	VPMOVZXBD numbers<>(SB), Z31
	VPBROADCASTD words<>+28(SB), Z30
	VPADDD Z30, Z31, Z30
	VCVTDQ2PS Z31, Z31
	VCVTDQ2PS Z30, Z30
	BLOCKS
	PRODUCTS512
	VPMOVZXBD 16(SI), Z18
	VPMOVZXBD 32(SI), Z19
	VPSLLD $4, Z18, Z18
	VPSLLD $4, Z19, Z19
	FIVEPAIR512(0)
	FIVEPAIR512(1)
	FIVEPAIR512(2)
	FIVEPAIR512(3)
	NEXT(176, 256)

// FIVE2 decodes 8 codes of each of the groups 2g and 2g+1 of Q5_K; their fifth bits are
// in the bytes at high.
#define FIVE2(g, high, at, to) \
	VPMOVZXBD high(SI), Y6; \
	VPSLLD $4, Y6, Y6; \
	VPSRLD $(2*g), Y6, Y6; \
	VPMOVZXBD at(SI), Y4; \
	VPAND Y10, Y4, Y5; \
	VPAND Y9, Y6, Y7; \
	VPOR Y7, Y5, Y5; \
	VPSRLD $4, Y4, Y4; \
	VPSRLD $1, Y6, Y6; \
	VPAND Y9, Y6, Y6; \
	VPOR Y6, Y4, Y4; \
	AFFINE8(Y5, Y0, Y1, to); \
	AFFINE8(Y4, Y2, Y3, (to+128))

#define FIVEPAIR2(g) \
	GROUPS2(g); \
	FIVE2(g, 16, (48+32*g), (256*g)); \
	FIVE2(g, 24, (56+32*g), (256*g+32)); \
	FIVE2(g, 32, (64+32*g), (256*g+64)); \
	FIVE2(g, 40, (72+32*g), (256*g+96))

// func q5_kAVX2(a *decodeArgs)
TEXT ·q5_kAVX2(SB), NOSPLIT, $120-8
	DARGS
	SCRATCH
	FACTORSINIT
	VPBROADCASTD words<>(SB), Y10
	VPBROADCASTD words<>+20(SB), Y9
	BLOCKS
	PRODUCTS2
	FIVEPAIR2(0)
	FIVEPAIR2(1)
	FIVEPAIR2(2)
	FIVEPAIR2(3)
	NEXT(176, 256)

// SIX512 decodes 16 codes of Q6_K, group k: low has their lowest 4 bits, high the
// others in bits 4+shift and 5+shift. Together they are the last bits of 2^23 + code.
#define SIX512(k, low, high, shift) \
	VPSRLD $shift, high, Z4; \
	VPTERNLOGD $0xd8, Z29, low, Z4; \
	VPTERNLOGD $0xea, Z27, Z28, Z4; \
	VSUBPS Z26, Z4, Z4; \
	VMULPS.BCST (4*k)(R8), Z4, Z4; \
	VMOVUPS Z4, (64*k)(DI)

#define SIXES512(h) \
	VPMOVZXBD (128+32*h)(SI), Z18; \
	VPMOVZXBD (144+32*h)(SI), Z19; \
	VPSLLD $4, Z18, Z18; \
	VPSLLD $4, Z19, Z19; \
	VPMOVZXBD (64*h)(SI), Z0; \
	VPMOVZXBD (64*h+16)(SI), Z1; \
	VPMOVZXBD (64*h+32)(SI), Z2; \
	VPMOVZXBD (64*h+48)(SI), Z3; \
	SIX512((8*h), Z0, Z18, 0); \
	SIX512((8*h+1), Z1, Z19, 0); \
	SIX512((8*h+2), Z2, Z18, 2); \
	SIX512((8*h+3), Z3, Z19, 2); \
	VPSRLD $4, Z0, Z0; \
	VPSRLD $4, Z1, Z1; \
	VPSRLD $4, Z2, Z2; \
	VPSRLD $4, Z3, Z3; \
	SIX512((8*h+4), Z0, Z18, 4); \
	SIX512((8*h+5), Z1, Z19, 4); \
	SIX512((8*h+6), Z2, Z18, 6); \
	SIX512((8*h+7), Z3, Z19, 6)

// func q6_kAVX512(a *decodeArgs)
TEXT ·q6_kAVX512(SB), NOSPLIT, $120-8
	DARGS
	SCRATCH
	VPBROADCASTD words<>(SB), Z29
	VPBROADCASTD words<>+8(SB), Z28
	VPBROADCASTD words<>+12(SB), Z27
	VPBROADCASTD words<>+16(SB), Z26
	BLOCKS
	VPMOVSXBD 192(SI), Z0
	VCVTDQ2PS Z0, Z0
	VPBROADCASTW 208(SI), Y1
	VCVTPH2PS Y1, Z1
	VMULPS Z0, Z1, Z0
	VMOVAPS Z0, (R8)
	SIXES512(0)
	SIXES512(1)
	NEXT(210, 256)

// SIX2 decodes 8 codes of Q6_K of group k, as SIX512.
#define SIX2(k, low, shift, to) \
	VPSRLD $shift, Y6, Y4; \
	VPAND Y9, Y4, Y4; \
	VPAND Y10, low, Y5; \
	VPOR Y5, Y4, Y4; \
	VPSUBD Y11, Y4, Y4; \
	VCVTDQ2PS Y4, Y4; \
	VBROADCASTSS (4*k)(R8), Y5; \
	VMULPS Y4, Y5, Y4; \
	VMOVUPS Y4, to(DI)

// SIXES2 decodes 8 codes, x to x+7, of each of four runs of 32; k is the group of the
// first.
#define SIXES2(h, x, k) \
	VPMOVZXBD (128+32*h+x)(SI), Y6; \
	VPSLLD $4, Y6, Y6; \
	VPMOVZXBD (64*h+x)(SI), Y2; \
	VPMOVZXBD (64*h+32+x)(SI), Y3; \
	SIX2(k, Y2, 0, (512*h+4*x)); \
	SIX2((k+2), Y3, 2, (512*h+4*x+128)); \
	VPSRLD $4, Y2, Y2; \
	VPSRLD $4, Y3, Y3; \
	SIX2((k+4), Y2, 4, (512*h+4*x+256)); \
	SIX2((k+6), Y3, 6, (512*h+4*x+384))

// func q6_kAVX2(a *decodeArgs)
TEXT ·q6_kAVX2(SB), NOSPLIT, $120-8
	DARGS
	SCRATCH
	VPBROADCASTD words<>(SB), Y10
	VPBROADCASTD words<>+24(SB), Y9
	VPBROADCASTD words<>+32(SB), Y11
	BLOCKS
	VPMOVSXBD 192(SI), Y0
	VPMOVSXBD 200(SI), Y2
	VCVTDQ2PS Y0, Y0
	VCVTDQ2PS Y2, Y2
	VPBROADCASTW 208(SI), X1
	VCVTPH2PS X1, Y1
	VMULPS Y0, Y1, Y0
	VMULPS Y2, Y1, Y2
	VMOVAPS Y0, (R8)
	VMOVAPS Y2, 32(R8)
	SIXES2(0, 0, 0)
	SIXES2(0, 8, 0)
	SIXES2(0, 16, 1)
	SIXES2(0, 24, 1)
	SIXES2(1, 0, 8)
	SIXES2(1, 8, 8)
	SIXES2(1, 16, 9)
	SIXES2(1, 24, 9)
	NEXT(210, 256)

// AARGS loads the arguments of Affine, and AROWS begins the loop over rows: it
// prefetches a later row and goes on with one whose scale and bias, of the given bits at
// SI+DX, have no exponent of all ones.
//
//	SI  the next codes       R9   where rows lie       R13  the start of src
//	DI  the next elements    R10  the last row         R12  elements of a row to decode
//	CX  remaining elements   R11  bytes of a row that  R15  from one row's elements to the next
//	DX  bytes of codes            are prefetched       AX   the row
//	                         R8   the prefetch distance; in the loop the later row
#define AARGS \
	MOVQ a+0(FP), AX; \
	MOVQ affineArgs_dst(AX), DI; \
	MOVQ affineArgs_src(AX), R13; \
	MOVQ affineArgs_at(AX), R9; \
	MOVQ affineArgs_rows(AX), R10; \
	DECQ R10; \
	MOVQ affineArgs_codes(AX), DX; \
	MOVQ affineArgs_touched(AX), R11; \
	MOVQ affineArgs_n(AX), R12; \
	MOVQ affineArgs_step(AX), R15; \
	XORL AX, AX

#define AROWS \
row: \
	MOVQ a+0(FP), R8; \
	MOVQ affineArgs_ahead(R8), R8; \
	ADDQ AX, R8; \
	CMPQ R8, R10; \
	CMOVQGT R10, R8; \
	MOVQ (R9)(R8*8), R8; \
	ADDQ R13, R8; \
	LINES(R8, R11, CX, line); \
	MOVQ (R9)(AX*8), SI; \
	ADDQ R13, SI; \
	MOVQ R12, CX

#define FINITE8 \
	MOVL (SI)(DX*1), BX; \
	NOTL BX; \
	TESTL $0x7f800000, BX; \
	JEQ done; \
	MOVL 4(SI)(DX*1), BX; \
	NOTL BX; \
	TESTL $0x7f800000, BX; \
	JEQ done

#define FINITE4 \
	MOVL (SI)(DX*1), BX; \
	NOTL BX; \
	TESTL $0x7c00, BX; \
	JEQ done; \
	TESTL $0x7c000000, BX; \
	JEQ done

// CODES decodes so many codes, a multiple of 16: one decodes 16 of them, which lie in so
// many bytes, to out bytes.
#define CODES(counter, one, bytes, out, four, few, loop, none) \
	CMPQ counter, $64; \
	JLT few; \
four: \
	one(0, 0); \
	one(bytes, out); \
	one((2*bytes), (2*out)); \
	one((3*bytes), (3*out)); \
	ADDQ $(4*bytes), SI; \
	ADDQ $(4*out), DI; \
	SUBQ $64, counter; \
	CMPQ counter, $64; \
	JGE four; \
few: \
	TESTQ counter, counter; \
	JEQ none; \
loop: \
	one(0, 0); \
	ADDQ $bytes, SI; \
	ADDQ $out, DI; \
	SUBQ $16, counter; \
	JNZ loop; \
none:

// AFFINE is a form of Affine, whose result is then in AX. init loads constants, factors those of a row, and one
// decodes 16 codes of so many bytes.
#define AFFINE(init, finite, factors, one, bytes) \
	AARGS; \
	init; \
	AROWS; \
	finite; \
	factors; \
	CODES(CX, one, bytes, 64, four, few, loop, none); \
	LEAQ (R12*4), BX; \
	SUBQ BX, DI; \
	ADDQ R15, DI; \
	INCQ AX; \
	CMPQ AX, R10; \
	JLE row; \
done: \
	VZEROUPPER

// Of 8 bits: Z0 and Z1 (Y0 and Y1) are the scale and the bias.
#define NOTHING
#define FACTORS8Z VBROADCASTSS (SI)(DX*1), Z0; VBROADCASTSS 4(SI)(DX*1), Z1
#define FACTORS8Y VBROADCASTSS (SI)(DX*1), Y0; VBROADCASTSS 4(SI)(DX*1), Y1
#define ONE8Z(from, to) VPMOVZXBD from(SI), Z2; VCVTDQ2PS Z2, Z2; VFMADD213PS Z1, Z0, Z2; VMOVUPS Z2, to(DI)
#define HALF8Y(from, to) VPMOVZXBD from(SI), Y2; VCVTDQ2PS Y2, Y2; VFMADD213PS Y1, Y0, Y2; VMOVUPS Y2, to(DI)
#define ONE8Y(from, to) HALF8Y(from, to); HALF8Y((from+8), (to+32))

// LOOKUP512 sets Z2 to 16 elements by their codes of 4 bits, side by side in 8 bytes.
// Z0 has the elements by their codes, Z30 eighths, K1 the upper 8 lanes.
#define LOOKUPINIT512 \
	VMOVDQU32 eighths<>(SB), Z30; \
	MOVL $0xff00, BX; \
	KMOVW BX, K1

#define LOOKUP512(at) \
	VPBROADCASTD at(SI), Z2; \
	VPBROADCASTD (at+4)(SI), K1, Z2; \
	VPSRLVD Z30, Z2, Z2; \
	VPERMPS Z0, Z2, Z2

// LOOKUP2 does so for 8 elements in 4 bytes. Y0 and Y1 have the elements of the codes
// below 8, and of the others; bit 3 of a code selects. Y15 has eighths.
#define LOOKUP2(at, to) \
	VPBROADCASTD at(SI), to; \
	VPSRLVD Y15, to, to; \
	VPERMPS Y0, to, Y4; \
	VPERMPS Y1, to, Y5; \
	VPSLLD $28, to, to; \
	VBLENDVPS to, Y5, Y4, to

#define INIT4Z \
	LOOKUPINIT512; \
	VPMOVZXBD numbers<>(SB), Z29; \
	VCVTDQ2PS Z29, Z29

#define FACTORS4Z \
	VPBROADCASTW (SI)(DX*1), Y0; \
	VPBROADCASTW 2(SI)(DX*1), Y1; \
	VCVTPH2PS Y0, Z0; \
	VCVTPH2PS Y1, Z1; \
	VFMADD213PS Z1, Z29, Z0

#define INIT4Y \
	VMOVDQU eighths<>(SB), Y15; \
	VPMOVZXBD numbers<>(SB), Y13; \
	VPMOVZXBD numbers<>+8(SB), Y14; \
	VCVTDQ2PS Y13, Y13; \
	VCVTDQ2PS Y14, Y14

#define FACTORS4Y \
	VPBROADCASTW (SI)(DX*1), X2; \
	VPBROADCASTW 2(SI)(DX*1), X3; \
	VCVTPH2PS X2, Y2; \
	VCVTPH2PS X3, Y3; \
	VMOVAPS Y13, Y0; \
	VMOVAPS Y14, Y1; \
	VFMADD213PS Y3, Y2, Y0; \
	VFMADD213PS Y3, Y2, Y1

#define ONE4Z(from, to) LOOKUP512(from); VMOVUPS Z2, to(DI)
#define ONE4Y(from, to) LOOKUP2(from, Y6); LOOKUP2((from+4), Y7); VMOVUPS Y6, to(DI); VMOVUPS Y7, (to+32)(DI)

// func affine8AVX512(a *affineArgs) (done int)
TEXT ·affine8AVX512(SB), NOSPLIT, $0-16
	AFFINE(NOTHING, FINITE8, FACTORS8Z, ONE8Z, 16)
	MOVQ AX, done+8(FP)
	RET

// func affine8AVX2(a *affineArgs) (done int)
TEXT ·affine8AVX2(SB), NOSPLIT, $0-16
	AFFINE(NOTHING, FINITE8, FACTORS8Y, ONE8Y, 16)
	MOVQ AX, done+8(FP)
	RET

// func affine4AVX512(a *affineArgs) (done int)
TEXT ·affine4AVX512(SB), NOSPLIT, $0-16
	AFFINE(INIT4Z, FINITE4, FACTORS4Z, ONE4Z, 8)
	MOVQ AX, done+8(FP)
	RET

// func affine4AVX2(a *affineArgs) (done int)
TEXT ·affine4AVX2(SB), NOSPLIT, $0-16
	AFFINE(INIT4Y, FINITE4, FACTORS4Y, ONE4Y, 8)
	MOVQ AX, done+8(FP)
	RET

// SCALE is a form of Scale. init loads constants, factors those of a run, and one
// decodes 16 codes of so many bytes to out bytes. A row begins where its place says; a
// later one is prefetched, unless that is of 0 bytes.
//
//	R8  the arguments                    R9   the place of the row
//	R10, R11  next scale and zero point  R15  that of the last row
//	R12, R13  steps between them         CX   remaining runs; DX, AX  codes of one
#define SCALE(init, factors, one, bytes, out) \
	MOVQ a+0(FP), R8; \
	MOVQ scaleArgs_dst(R8), DI; \
	MOVQ scaleArgs_length(R8), DX; \
	MOVQ scaleArgs_scaleStep(R8), R12; \
	MOVQ scaleArgs_zeroStep(R8), R13; \
	MOVQ scaleArgs_places(R8), R9; \
	MOVQ scaleArgs_rows(R8), R15; \
	LEAQ (R15)(R15*2), R15; \
	LEAQ -Place__size(R9)(R15*8), R15; \
	init; \
row: \
	MOVQ scaleArgs_ahead(R8), BX; \
	LEAQ (BX)(BX*2), BX; \
	LEAQ (R9)(BX*8), BX; \
	CMPQ BX, R15; \
	CMOVQGT R15, BX; \
	CMPQ scaleArgs_touched(R8), $0; \
	JEQ ready; \
	MOVQ Place_Codes(BX), SI; \
	ADDQ scaleArgs_src(R8), SI; \
	LINES(SI, scaleArgs_touched(R8), CX, codes); \
	MOVQ Place_Scale(BX), SI; \
	SHLQ $2, SI; \
	ADDQ scaleArgs_scales(R8), SI; \
	LINES(SI, scaleArgs_scalesTouched(R8), CX, scales); \
	MOVQ Place_Zero(BX), SI; \
	SHLQ $2, SI; \
	ADDQ scaleArgs_zeros(R8), SI; \
	LINES(SI, scaleArgs_zerosTouched(R8), CX, zeros); \
ready: \
	MOVQ Place_Codes(R9), SI; \
	ADDQ scaleArgs_src(R8), SI; \
	MOVQ Place_Scale(R9), R10; \
	SHLQ $2, R10; \
	ADDQ scaleArgs_scales(R8), R10; \
	MOVQ Place_Zero(R9), R11; \
	SHLQ $2, R11; \
	ADDQ scaleArgs_zeros(R8), R11; \
	MOVQ scaleArgs_runs(R8), CX; \
run: \
	factors; \
	MOVQ DX, AX; \
	CODES(AX, one, bytes, out, four, few, loop, none); \
	ADDQ R12, R10; \
	ADDQ R13, R11; \
	DECQ CX; \
	JNZ run; \
	ADDQ $Place__size, R9; \
	CMPQ R9, R15; \
	JLE row; \
	VZEROUPPER; \
	RET

#define STORE512(to) VMOVUPS Z2, to(DI)
#define STOREHALF512(to) VCVTPS2PH $0, Z2, to(DI)

// Codes of 4 bits: Z31 (Y14 and Y13) has the values of all, Z0 (Y0 and Y1) the elements.
#define VALUES4Z LOOKUPINIT512; MOVQ scaleArgs_values(R8), AX; VMOVUPS (AX), Z31
#define TABLE4Z VSUBPS.BCST (R11), Z31, Z0; VMULPS.BCST (R10), Z0, Z0
#define SCALED4Z(from, to) LOOKUP512(from); STORE512(to)
#define SCALEDHALF4Z(from, to) LOOKUP512(from); STOREHALF512(to)

// Codes of 8 bits: Z0 and Z1 (Y0 and Y1) are the zero point and the scale.
#define RUN8Z VBROADCASTSS (R11), Z0; VBROADCASTSS (R10), Z1
#define SCALED8Z(load, from) load from(SI), Z2; VCVTDQ2PS Z2, Z2; VSUBPS Z0, Z2, Z2; VMULPS Z1, Z2, Z2
#define SCALEDI8Z(from, to) SCALED8Z(VPMOVSXBD, from); STORE512(to)
#define SCALEDU8Z(from, to) SCALED8Z(VPMOVZXBD, from); STORE512(to)
#define SCALEDHALFI8Z(from, to) SCALED8Z(VPMOVSXBD, from); STOREHALF512(to)
#define SCALEDHALFU8Z(from, to) SCALED8Z(VPMOVZXBD, from); STOREHALF512(to)

// func scale4AVX512(a *scaleArgs)
TEXT ·scale4AVX512(SB), NOSPLIT, $0-8
	SCALE(VALUES4Z, TABLE4Z, SCALED4Z, 8, 64)

// func scale4HalfAVX512(a *scaleArgs)
TEXT ·scale4HalfAVX512(SB), NOSPLIT, $0-8
	SCALE(VALUES4Z, TABLE4Z, SCALEDHALF4Z, 8, 32)

// func scaleI8AVX512(a *scaleArgs)
TEXT ·scaleI8AVX512(SB), NOSPLIT, $0-8
	SCALE(NOTHING, RUN8Z, SCALEDI8Z, 16, 64)

// func scaleI8HalfAVX512(a *scaleArgs)
TEXT ·scaleI8HalfAVX512(SB), NOSPLIT, $0-8
	SCALE(NOTHING, RUN8Z, SCALEDHALFI8Z, 16, 32)

// func scaleU8AVX512(a *scaleArgs)
TEXT ·scaleU8AVX512(SB), NOSPLIT, $0-8
	SCALE(NOTHING, RUN8Z, SCALEDU8Z, 16, 64)

// func scaleU8HalfAVX512(a *scaleArgs)
TEXT ·scaleU8HalfAVX512(SB), NOSPLIT, $0-8
	SCALE(NOTHING, RUN8Z, SCALEDHALFU8Z, 16, 32)

#define STORE2(a, b, to) VMOVUPS a, to(DI); VMOVUPS b, (to+32)(DI)
#define STOREHALF2(a, b, to) VCVTPS2PH $0, a, to(DI); VCVTPS2PH $0, b, (to+16)(DI)

#define VALUES4Y VMOVDQU eighths<>(SB), Y15; MOVQ scaleArgs_values(R8), AX; VMOVUPS (AX), Y14; VMOVUPS 32(AX), Y13
#define TABLE4Y \
	VBROADCASTSS (R11), Y2; \
	VBROADCASTSS (R10), Y3; \
	VSUBPS Y2, Y14, Y0; \
	VSUBPS Y2, Y13, Y1; \
	VMULPS Y3, Y0, Y0; \
	VMULPS Y3, Y1, Y1
#define SCALED4Y(from, to) LOOKUP2(from, Y6); LOOKUP2((from+4), Y7); STORE2(Y6, Y7, to)
#define SCALEDHALF4Y(from, to) LOOKUP2(from, Y6); LOOKUP2((from+4), Y7); STOREHALF2(Y6, Y7, to)

#define RUN8Y VBROADCASTSS (R11), Y0; VBROADCASTSS (R10), Y1
#define SCALED8Y(load, from, y) load from(SI), y; VCVTDQ2PS y, y; VSUBPS Y0, y, y; VMULPS Y1, y, y
#define SCALEDI8Y(from, to) SCALED8Y(VPMOVSXBD, from, Y2); SCALED8Y(VPMOVSXBD, (from+8), Y3); STORE2(Y2, Y3, to)
#define SCALEDU8Y(from, to) SCALED8Y(VPMOVZXBD, from, Y2); SCALED8Y(VPMOVZXBD, (from+8), Y3); STORE2(Y2, Y3, to)
#define SCALEDHALFI8Y(from, to) SCALED8Y(VPMOVSXBD, from, Y2); SCALED8Y(VPMOVSXBD, (from+8), Y3); STOREHALF2(Y2, Y3, to)
#define SCALEDHALFU8Y(from, to) SCALED8Y(VPMOVZXBD, from, Y2); SCALED8Y(VPMOVZXBD, (from+8), Y3); STOREHALF2(Y2, Y3, to)

// func scale4AVX2(a *scaleArgs)
TEXT ·scale4AVX2(SB), NOSPLIT, $0-8
	SCALE(VALUES4Y, TABLE4Y, SCALED4Y, 8, 64)

// func scale4HalfAVX2(a *scaleArgs)
TEXT ·scale4HalfAVX2(SB), NOSPLIT, $0-8
	SCALE(VALUES4Y, TABLE4Y, SCALEDHALF4Y, 8, 32)

// func scaleI8AVX2(a *scaleArgs)
TEXT ·scaleI8AVX2(SB), NOSPLIT, $0-8
	SCALE(NOTHING, RUN8Y, SCALEDI8Y, 16, 64)

// func scaleI8HalfAVX2(a *scaleArgs)
TEXT ·scaleI8HalfAVX2(SB), NOSPLIT, $0-8
	SCALE(NOTHING, RUN8Y, SCALEDHALFI8Y, 16, 32)

// func scaleU8AVX2(a *scaleArgs)
TEXT ·scaleU8AVX2(SB), NOSPLIT, $0-8
	SCALE(NOTHING, RUN8Y, SCALEDU8Y, 16, 64)

// func scaleU8HalfAVX2(a *scaleArgs)
TEXT ·scaleU8HalfAVX2(SB), NOSPLIT, $0-8
	SCALE(NOTHING, RUN8Y, SCALEDHALFU8Y, 16, 32)
