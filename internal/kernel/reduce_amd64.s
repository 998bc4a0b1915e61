//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// The forms of Bags. A strip is the part of a row that the accumulators hold: eight
// registers, or fewer in the first strip of a bag, whose last register has a mask. A
// strip goes through all terms of the bag before the next one begins.
//
//	AX  the term             R8   the arguments; in loops scratch
//	BX  the end of the bag   R9   the ends, from this bag on
//	CX  rows                 R10  weights
//	DX  bytes of the bag     R11  the last row that is prefetched
//	      from the strip on  R12  the prefetch distance in rows; negative: none
//	DI  the strip in dst     R13  the strip in a row
//	SI  the strip in the     R14  the bytes of the strip
//	      row at offset 0    R15  what is prefetched of the row at offset 0
//
//	Z0 … Z7, K1    accumulators, and the mask of the last      (with AVX2 Y0 … Y7, Y12)
//	Z31, Z30       weight, product or element                  (with AVX2 Y10, Y9)

// bits are the bits of a mask, for lanes of 32 and of 64 bits.
DATA bits<>+0(SB)/8, $0x0000000200000001
DATA bits<>+8(SB)/8, $0x0000000800000004
DATA bits<>+16(SB)/8, $0x0000002000000010
DATA bits<>+24(SB)/8, $0x0000008000000040
DATA bits<>+32(SB)/8, $1
DATA bits<>+40(SB)/8, $2
DATA bits<>+48(SB)/8, $4
DATA bits<>+56(SB)/8, $8
GLOBL bits<>(SB), RODATA|NOPTR, $64

// OVERn calls full for all registers of a strip but the last, and last for that.
#define OVER1Z(full, last) last(0, Z0)
#define OVER2Z(full, last) full(0, Z0); last(64, Z1)
#define OVER3Z(full, last) full(0, Z0); full(64, Z1); last(128, Z2)
#define OVER4Z(full, last) full(0, Z0); full(64, Z1); full(128, Z2); last(192, Z3)
#define OVER5Z(full, last) full(0, Z0); full(64, Z1); full(128, Z2); full(192, Z3); last(256, Z4)
#define OVER6Z(full, last) full(0, Z0); full(64, Z1); full(128, Z2); full(192, Z3); full(256, Z4); last(320, Z5)
#define OVER7Z(full, last) full(0, Z0); full(64, Z1); full(128, Z2); full(192, Z3); full(256, Z4); full(320, Z5); last(384, Z6)
#define OVER8Z(full, last) full(0, Z0); full(64, Z1); full(128, Z2); full(192, Z3); full(256, Z4); full(320, Z5); full(384, Z6); last(448, Z7)

#define OVER1Y(full, last) last(0, Y0)
#define OVER2Y(full, last) full(0, Y0); last(32, Y1)
#define OVER3Y(full, last) full(0, Y0); full(32, Y1); last(64, Y2)
#define OVER4Y(full, last) full(0, Y0); full(32, Y1); full(64, Y2); last(96, Y3)
#define OVER5Y(full, last) full(0, Y0); full(32, Y1); full(64, Y2); full(96, Y3); last(128, Y4)
#define OVER6Y(full, last) full(0, Y0); full(32, Y1); full(64, Y2); full(96, Y3); full(128, Y4); last(160, Y5)
#define OVER7Y(full, last) full(0, Y0); full(32, Y1); full(64, Y2); full(96, Y3); full(128, Y4); full(160, Y5); last(192, Y6)
#define OVER8Y(full, last) full(0, Y0); full(32, Y1); full(64, Y2); full(96, Y3); full(128, Y4); full(160, Y5); full(192, Y6); last(224, Y7)

// LINESn prefetches the lines of a strip: those of its registers, and the one of its
// last byte.
#define LINES1 PREFETCHT0 (R8); PREFETCHT0 -1(R8)(R14*1)
#define LINES2 PREFETCHT0 64(R8); LINES1
#define LINES3 PREFETCHT0 128(R8); LINES2
#define LINES4 PREFETCHT0 192(R8); LINES3
#define LINES5 PREFETCHT0 256(R8); LINES4
#define LINES6 PREFETCHT0 320(R8); LINES5
#define LINES7 PREFETCHT0 384(R8); LINES6
#define LINES8 PREFETCHT0 448(R8); LINES7

// STRIP reduces a strip of all terms of a bag. load, row and store work on one register
// each, …M on the last one; weight reads the weight of a term.
#define STRIP(over, lines, load, loadM, row, rowM, store, storeM, weight, begin, ahead, near, end) \
begin: \
	over(load, loadM); \
	CMPQ AX, BX; \
	JGE end; \
	TESTQ R12, R12; \
	JLT near; \
ahead: \
	LEAQ (AX)(R12*1), R8; \
	CMPQ R8, R11; \
	CMOVQGT R11, R8; \
	MOVQ (CX)(R8*8), R8; \
	ADDQ R15, R8; \
	lines; \
	MOVQ (CX)(AX*8), R13; \
	ADDQ SI, R13; \
	weight; \
	over(row, rowM); \
	INCQ AX; \
	CMPQ AX, BX; \
	JLT ahead; \
	JMP end; \
near: \
	MOVQ (CX)(AX*8), R13; \
	ADDQ SI, R13; \
	weight; \
	over(row, rowM); \
	INCQ AX; \
	CMPQ AX, BX; \
	JLT near; \
end: \
	over(store, storeM); \
	JMP next

// BAGS is the loops over bags and strips, up to the strip itself. width is the bytes of a
// strip of eight registers, mask loads the mask of the first strip and ones that of the
// others; a register has 2^shift bytes. first chooses what the accumulators begin with
// where that is the first term. All strips but the last prefetch the next strip of the
// same row, and the last one the first of a later row: of one in the next bag, where
// there are several strips.
#define BAGS(width, shift, mask, ones, first, tenth, stored, on, back) \
	MOVQ a+0(FP), R8; \
	MOVQ bagsArgs_dst(R8), DI; \
	MOVQ bagsArgs_src(R8), SI; \
	ADDQ bagsArgs_bias(R8), SI; \
	MOVQ bagsArgs_rows(R8), CX; \
	MOVQ tenth(R8), R10; \
	MOVQ bagsArgs_ends(R8), R9; \
	MOVQ bagsArgs_last(R8), R11; \
bag: \
	MOVQ bagsArgs_size(R8), DX; \
	MOVQ bagsArgs_strip(R8), R14; \
	mask; \
strip: \
	MOVQ (R9), AX; \
	MOVQ 8(R9), BX; \
	SUBQ bagsArgs_first(R8), AX; \
	SUBQ bagsArgs_first(R8), BX; \
	MOVQ bagsArgs_ahead(R8), R12; \
	MOVQ SI, R15; \
	TESTQ R12, R12; \
	JLT from; \
	CMPQ R14, bagsArgs_size(R8); \
	JEQ from; \
	LEAQ -const_stripTerms(BX), R13; \
	CMPQ AX, R13; \
	JGT from; \
	XORL R12, R12; \
	MOVQ R14, R13; \
	stored(R13); \
	ADDQ R13, R15; \
	CMPQ DX, R14; \
	JNE from; \
	MOVQ bagsArgs_size(R8), R13; \
	stored(R13); \
	SUBQ R13, R15; \
	MOVQ BX, R12; \
	SUBQ AX, R12; \
from: \
	MOVQ DI, R13; \
	MOVQ bagsArgs_begin(R8), R8; \
	TESTQ R8, R8; \
	JEQ chosen; \
	MOVQ a+0(FP), R13; \
	MOVQ bagsArgs_positive(R13), R13; \
	CMPQ R8, $const_beginZero; \
	JEQ chosen; \
	CMPQ AX, BX; \
	JGE chosen; \
	first; \
chosen: \
	LEAQ ((1<<shift)-1)(R14), R8; \
	SHRQ $shift, R8; \
	CMPQ R8, $4; \
	JEQ begin4; \
	CMPQ R8, $8; \
	JEQ begin8; \
	CMPQ R8, $1; \
	JEQ begin1; \
	CMPQ R8, $2; \
	JEQ begin2; \
	CMPQ R8, $3; \
	JEQ begin3; \
	CMPQ R8, $5; \
	JEQ begin5; \
	CMPQ R8, $6; \
	JEQ begin6; \
	JMP begin7; \
next: \
	MOVQ a+0(FP), R8; \
	MOVQ R14, R13; \
	stored(R13); \
	ADDQ R13, SI; \
	on; \
	ADDQ R14, DI; \
	SUBQ R14, DX; \
	JEQ ended; \
	MOVQ $width, R14; \
	ones; \
	JMP strip; \
ended: \
	MOVQ bagsArgs_size(R8), R13; \
	SUBQ R13, DI; \
	stored(R13); \
	SUBQ R13, SI; \
	back; \
	ADDQ bagsArgs_step(R8), DI; \
	ADDQ $8, R9; \
	DECQ bagsArgs_bags(R8); \
	JNE bag; \
	VZEROUPPER; \
	RET


// STRIPS is STRIP for every number of registers. Those of AVX-512 are a line each.
#define STRIPSZ(load, loadM, row, rowM, store, storeM, weight) \
	STRIP(OVER1Z, LINES1, load, loadM, row, rowM, store, storeM, weight, begin1, ahead1, near1, end1); \
	STRIP(OVER2Z, LINES2, load, loadM, row, rowM, store, storeM, weight, begin2, ahead2, near2, end2); \
	STRIP(OVER3Z, LINES3, load, loadM, row, rowM, store, storeM, weight, begin3, ahead3, near3, end3); \
	STRIP(OVER4Z, LINES4, load, loadM, row, rowM, store, storeM, weight, begin4, ahead4, near4, end4); \
	STRIP(OVER5Z, LINES5, load, loadM, row, rowM, store, storeM, weight, begin5, ahead5, near5, end5); \
	STRIP(OVER6Z, LINES6, load, loadM, row, rowM, store, storeM, weight, begin6, ahead6, near6, end6); \
	STRIP(OVER7Z, LINES7, load, loadM, row, rowM, store, storeM, weight, begin7, ahead7, near7, end7); \
	STRIP(OVER8Z, LINES8, load, loadM, row, rowM, store, storeM, weight, begin8, ahead8, near8, end8)

// STRIPS is STRIP for every number of registers. Two of those of AVX2 are a line.
#define STRIPSY(load, loadM, row, rowM, store, storeM, weight) \
	STRIP(OVER1Y, LINES1, load, loadM, row, rowM, store, storeM, weight, begin1, ahead1, near1, end1); \
	STRIP(OVER2Y, LINES1, load, loadM, row, rowM, store, storeM, weight, begin2, ahead2, near2, end2); \
	STRIP(OVER3Y, LINES2, load, loadM, row, rowM, store, storeM, weight, begin3, ahead3, near3, end3); \
	STRIP(OVER4Y, LINES2, load, loadM, row, rowM, store, storeM, weight, begin4, ahead4, near4, end4); \
	STRIP(OVER5Y, LINES3, load, loadM, row, rowM, store, storeM, weight, begin5, ahead5, near5, end5); \
	STRIP(OVER6Y, LINES3, load, loadM, row, rowM, store, storeM, weight, begin6, ahead6, near6, end6); \
	STRIP(OVER7Y, LINES4, load, loadM, row, rowM, store, storeM, weight, begin7, ahead7, near7, end7); \
	STRIP(OVER8Y, LINES4, load, loadM, row, rowM, store, storeM, weight, begin8, ahead8, near8, end8)

// The first term, and what a sum of products begins with that is no +0: −0, which leaves
// a product as it is.
#define FIRST MOVQ (CX)(AX*8), R13; ADDQ SI, R13; INCQ AX
#define MINUS MOVQ a+0(FP), R13; MOVQ bagsArgs_negative(R13), R13
#define NOWEIGHT
#define NONE
#define SAME(bytes)

#define MASK32Z MOVQ bagsArgs_mask(R8), R13; KMOVW R13, K1
#define MASK32Y VPBROADCASTD bagsArgs_mask(R8), Y12; VPAND bits<>+0(SB), Y12, Y12; VPCMPEQD bits<>+0(SB), Y12, Y12
#define WEIGHT32Z VBROADCASTSS (R10)(AX*4), Z31
#define WEIGHT32Y VBROADCASTSS (R10)(AX*4), Y10
#define LOAD32Z(at, z) VMOVUPS at(R13), z
#define LOADM32Z(at, z) VMOVUPS.Z at(R13), K1, z
#define LOAD32Y(at, y) VMOVUPS at(R13), y
#define LOADM32Y(at, y) VMASKMOVPS at(R13), Y12, y
#define STORE32Z(at, z) VMOVUPS z, at(DI)
#define STOREM32Z(at, z) VMOVUPS z, K1, at(DI)
#define STORE32Y(at, y) VMOVUPS y, at(DI)
#define STOREM32Y(at, y) VMASKMOVPS y, Y12, at(DI)
#define ADD32Z(at, z) VADDPS at(R13), z, z
#define ADDM32Z(at, z) VADDPS at(R13), z, K1, z
#define ADD32Y(at, y) VADDPS at(R13), y, y
#define ADDM32Y(at, y) VMASKMOVPS at(R13), Y12, Y9; VADDPS Y9, y, y
#define WEIGH32Z(at, z) VMULPS at(R13), Z31, Z30; VADDPS Z30, z, z
#define WEIGHM32Z(at, z) VMULPS.Z at(R13), Z31, K1, Z30; VADDPS Z30, z, z
#define WEIGH32Y(at, y) VMULPS at(R13), Y10, Y9; VADDPS Y9, y, y
#define WEIGHM32Y(at, y) VMASKMOVPS at(R13), Y12, Y9; VMULPS Y9, Y10, Y9; VADDPS Y9, y, y
#define FUSE32Z(at, z) VFMADD231PS at(R13), Z31, z
#define FUSEM32Z(at, z) VFMADD231PS at(R13), Z31, K1, z
#define FUSE32Y(at, y) VFMADD231PS at(R13), Y10, y
#define FUSEM32Y(at, y) VMASKMOVPS at(R13), Y12, Y9; VFMADD231PS Y9, Y10, y
#define MAX32Z(at, z) VMOVUPS at(R13), Z30; VMAXPS z, Z30, z
#define MAXM32Z(at, z) VMOVUPS.Z at(R13), K1, Z30; VMAXPS z, Z30, z
#define MAX32Y(at, y) VMOVUPS at(R13), Y9; VMAXPS y, Y9, y
#define MAXM32Y(at, y) VMASKMOVPS at(R13), Y12, Y9; VMAXPS y, Y9, y

#define MASK64Z MOVQ bagsArgs_mask(R8), R13; KMOVW R13, K1
#define MASK64Y VPBROADCASTQ bagsArgs_mask(R8), Y12; VPAND bits<>+32(SB), Y12, Y12; VPCMPEQQ bits<>+32(SB), Y12, Y12
#define WEIGHT64Z VBROADCASTSD (R10)(AX*8), Z31
#define WEIGHT64Y VBROADCASTSD (R10)(AX*8), Y10
#define LOAD64Z(at, z) VMOVUPD at(R13), z
#define LOADM64Z(at, z) VMOVUPD.Z at(R13), K1, z
#define LOAD64Y(at, y) VMOVUPD at(R13), y
#define LOADM64Y(at, y) VMASKMOVPD at(R13), Y12, y
#define STORE64Z(at, z) VMOVUPD z, at(DI)
#define STOREM64Z(at, z) VMOVUPD z, K1, at(DI)
#define STORE64Y(at, y) VMOVUPD y, at(DI)
#define STOREM64Y(at, y) VMASKMOVPD y, Y12, at(DI)
#define ADD64Z(at, z) VADDPD at(R13), z, z
#define ADDM64Z(at, z) VADDPD at(R13), z, K1, z
#define ADD64Y(at, y) VADDPD at(R13), y, y
#define ADDM64Y(at, y) VMASKMOVPD at(R13), Y12, Y9; VADDPD Y9, y, y
#define WEIGH64Z(at, z) VMULPD at(R13), Z31, Z30; VADDPD Z30, z, z
#define WEIGHM64Z(at, z) VMULPD.Z at(R13), Z31, K1, Z30; VADDPD Z30, z, z
#define WEIGH64Y(at, y) VMULPD at(R13), Y10, Y9; VADDPD Y9, y, y
#define WEIGHM64Y(at, y) VMASKMOVPD at(R13), Y12, Y9; VMULPD Y9, Y10, Y9; VADDPD Y9, y, y
#define MAX64Z(at, z) VMOVUPD at(R13), Z30; VMAXPD z, Z30, z
#define MAXM64Z(at, z) VMOVUPD.Z at(R13), K1, Z30; VMAXPD z, Z30, z
#define MAX64Y(at, y) VMOVUPD at(R13), Y9; VMAXPD y, Y9, y
#define MAXM64Y(at, y) VMASKMOVPD at(R13), Y12, Y9; VMAXPD y, Y9, y

// The masks of strips behind the first: all lanes.
#define ONESZ KXNORW K1, K1, K1
#define ONESY VPCMPEQD Y12, Y12, Y12

// func sum32AVX512(a *bagsArgs)
TEXT ·sum32AVX512(SB), NOSPLIT, $0-8
	BAGS(512, 6, MASK32Z, ONESZ, FIRST, bagsArgs_weights, SAME, NONE, NONE)
	STRIPSZ(LOAD32Z, LOADM32Z, ADD32Z, ADDM32Z, STORE32Z, STOREM32Z, NOWEIGHT)

// func sum32AVX2(a *bagsArgs)
TEXT ·sum32AVX2(SB), NOSPLIT, $0-8
	BAGS(256, 5, MASK32Y, ONESY, FIRST, bagsArgs_weights, SAME, NONE, NONE)
	STRIPSY(LOAD32Y, LOADM32Y, ADD32Y, ADDM32Y, STORE32Y, STOREM32Y, NOWEIGHT)

// func sum64AVX512(a *bagsArgs)
TEXT ·sum64AVX512(SB), NOSPLIT, $0-8
	BAGS(512, 6, MASK64Z, ONESZ, FIRST, bagsArgs_weights, SAME, NONE, NONE)
	STRIPSZ(LOAD64Z, LOADM64Z, ADD64Z, ADDM64Z, STORE64Z, STOREM64Z, NOWEIGHT)

// func sum64AVX2(a *bagsArgs)
TEXT ·sum64AVX2(SB), NOSPLIT, $0-8
	BAGS(256, 5, MASK64Y, ONESY, FIRST, bagsArgs_weights, SAME, NONE, NONE)
	STRIPSY(LOAD64Y, LOADM64Y, ADD64Y, ADDM64Y, STORE64Y, STOREM64Y, NOWEIGHT)

// func weigh32AVX512(a *bagsArgs)
TEXT ·weigh32AVX512(SB), NOSPLIT, $0-8
	BAGS(512, 6, MASK32Z, ONESZ, MINUS, bagsArgs_weights, SAME, NONE, NONE)
	STRIPSZ(LOAD32Z, LOADM32Z, WEIGH32Z, WEIGHM32Z, STORE32Z, STOREM32Z, WEIGHT32Z)

// func weigh32AVX2(a *bagsArgs)
TEXT ·weigh32AVX2(SB), NOSPLIT, $0-8
	BAGS(256, 5, MASK32Y, ONESY, MINUS, bagsArgs_weights, SAME, NONE, NONE)
	STRIPSY(LOAD32Y, LOADM32Y, WEIGH32Y, WEIGHM32Y, STORE32Y, STOREM32Y, WEIGHT32Y)

// func fuse32AVX512(a *bagsArgs)
TEXT ·fuse32AVX512(SB), NOSPLIT, $0-8
	BAGS(512, 6, MASK32Z, ONESZ, MINUS, bagsArgs_weights, SAME, NONE, NONE)
	STRIPSZ(LOAD32Z, LOADM32Z, FUSE32Z, FUSEM32Z, STORE32Z, STOREM32Z, WEIGHT32Z)

// func fuse32AVX2(a *bagsArgs)
TEXT ·fuse32AVX2(SB), NOSPLIT, $0-8
	BAGS(256, 5, MASK32Y, ONESY, MINUS, bagsArgs_weights, SAME, NONE, NONE)
	STRIPSY(LOAD32Y, LOADM32Y, FUSE32Y, FUSEM32Y, STORE32Y, STOREM32Y, WEIGHT32Y)

// func weigh64AVX512(a *bagsArgs)
TEXT ·weigh64AVX512(SB), NOSPLIT, $0-8
	BAGS(512, 6, MASK64Z, ONESZ, MINUS, bagsArgs_weights, SAME, NONE, NONE)
	STRIPSZ(LOAD64Z, LOADM64Z, WEIGH64Z, WEIGHM64Z, STORE64Z, STOREM64Z, WEIGHT64Z)

// func weigh64AVX2(a *bagsArgs)
TEXT ·weigh64AVX2(SB), NOSPLIT, $0-8
	BAGS(256, 5, MASK64Y, ONESY, MINUS, bagsArgs_weights, SAME, NONE, NONE)
	STRIPSY(LOAD64Y, LOADM64Y, WEIGH64Y, WEIGHM64Y, STORE64Y, STOREM64Y, WEIGHT64Y)

// func max32AVX512(a *bagsArgs)
TEXT ·max32AVX512(SB), NOSPLIT, $0-8
	BAGS(512, 6, MASK32Z, ONESZ, FIRST, bagsArgs_weights, SAME, NONE, NONE)
	STRIPSZ(LOAD32Z, LOADM32Z, MAX32Z, MAXM32Z, STORE32Z, STOREM32Z, NOWEIGHT)

// func max32AVX2(a *bagsArgs)
TEXT ·max32AVX2(SB), NOSPLIT, $0-8
	BAGS(256, 5, MASK32Y, ONESY, FIRST, bagsArgs_weights, SAME, NONE, NONE)
	STRIPSY(LOAD32Y, LOADM32Y, MAX32Y, MAXM32Y, STORE32Y, STOREM32Y, NOWEIGHT)

// func max64AVX512(a *bagsArgs)
TEXT ·max64AVX512(SB), NOSPLIT, $0-8
	BAGS(512, 6, MASK64Z, ONESZ, FIRST, bagsArgs_weights, SAME, NONE, NONE)
	STRIPSZ(LOAD64Z, LOADM64Z, MAX64Z, MAXM64Z, STORE64Z, STOREM64Z, NOWEIGHT)

// func max64AVX2(a *bagsArgs)
TEXT ·max64AVX2(SB), NOSPLIT, $0-8
	BAGS(256, 5, MASK64Y, ONESY, FIRST, bagsArgs_weights, SAME, NONE, NONE)
	STRIPSY(LOAD64Y, LOADM64Y, MAX64Y, MAXM64Y, STORE64Y, STOREM64Y, NOWEIGHT)

// Rows of FBGEMM: codes, then a scale and a bias, of which each row has one for all codes.
// R10 is the distance from the strip to the scale. Full strips come first, so that each
// begins with a byte; of the last one, the last register has the mask. Lanes beyond the
// codes of a row read its scale and its bias, or nothing.
//
//	Z29, Z28  scale and bias, times the weight       (with AVX2 Y10, Y11)
//	Z24       the numbers of the codes of 4 or 2 bits (with AVX2 Y14: their bits)
//	Z23       their places in a dword                (with AVX2 Y15)
//	K2, K3    lanes 8 … 15, and those that have codes
#define STORED8(bytes) SHRQ $2, bytes
#define STORED4(bytes) SHRQ $3, bytes
#define STORED2(bytes) SHRQ $4, bytes
#define ON SUBQ R13, R10
#define BACK ADDQ R13, R10

// PART is the next strip, as far as DX has bytes, and its mask.
#define PART(width) MOVQ $width, R14; CMPQ R14, DX; CMOVQGT DX, R14; MOVQ $-1, R13; CMPQ R14, DX; CMOVQEQ bagsArgs_mask(R8), R13
#define PARTZ PART(512); KMOVW R13, K1; KANDW K1, K2, K3
#define PARTY PART(256); VMOVQ R13, X12; VPBROADCASTD X12, Y12; VPAND bits<>+0(SB), Y12, Y12; VPCMPEQD bits<>+0(SB), Y12, Y12

DATA sixteen<>+0(SB)/8, $0x0706050403020100
DATA sixteen<>+8(SB)/8, $0x0f0e0d0c0b0a0908
GLOBL sixteen<>(SB), RODATA|NOPTR, $16
DATA nibble<>+0(SB)/8, $0x1c1814100c080400
DATA nibble<>+8(SB)/8, $0x1c1814100c080400
GLOBL nibble<>(SB), RODATA|NOPTR, $16
DATA four<>+0(SB)/8, $0x0302010003020100
DATA four<>+8(SB)/8, $0x0302010003020100
GLOBL four<>(SB), RODATA|NOPTR, $16
DATA pair<>+0(SB)/8, $0x0e0c0a0806040200
DATA pair<>+8(SB)/8, $0x1e1c1a1816141210
GLOBL pair<>(SB), RODATA|NOPTR, $16

#define CODESZ(numbers, places) VPMOVZXBD numbers<>(SB), Z24; VCVTDQ2PS Z24, Z24; VPMOVZXBD places<>(SB), Z23; MOVL $0xff00, AX; KMOVW AX, K2
#define CODESY(mask, places) MOVL $mask, AX; VMOVD AX, X14; VPBROADCASTD X14, Y14; VPMOVZXBD places<>(SB), Y15

#define SCALE8Z VBROADCASTSS (R13)(R10*1), Z29; VBROADCASTSS 4(R13)(R10*1), Z28
#define SCALE8Y VBROADCASTSS (R13)(R10*1), Y10; VBROADCASTSS 4(R13)(R10*1), Y11
#define SCALE4Z VPBROADCASTW (R13)(R10*1), Y29; VPBROADCASTW 2(R13)(R10*1), Y28; VCVTPH2PS Y29, Z29; VCVTPH2PS Y28, Z28
#define SCALE4Y VPBROADCASTW (R13)(R10*1), X10; VPBROADCASTW 2(R13)(R10*1), X11; VCVTPH2PS X10, Y10; VCVTPH2PS X11, Y11
#define TIMESZ MOVQ a+0(FP), R8; MOVQ bagsArgs_weights(R8), R8; VBROADCASTSS (R8)(AX*4), Z31; VMULPS Z31, Z29, Z29; VMULPS Z31, Z28, Z28
#define TIMESY MOVQ a+0(FP), R8; MOVQ bagsArgs_weights(R8), R8; VBROADCASTSS (R8)(AX*4), Y9; VMULPS Y9, Y10, Y10; VMULPS Y9, Y11, Y11
#define WEIGHT8Z SCALE8Z; TIMESZ
#define WEIGHT8Y SCALE8Y; TIMESY
#define WEIGHT4Z SCALE4Z; TIMESZ
#define WEIGHT4Y SCALE4Y; TIMESY

#define TERMZ(z) VADDPS Z28, z, z; VFMADD231PS Z29, Z30, z
#define TERMY(y) VADDPS Y11, y, y; VFMADD231PS Y10, Y9, y
#define AFFINE8Z(at, z) VPMOVZXBD (at/4)(R13), Z30; VCVTDQ2PS Z30, Z30; TERMZ(z)
#define AFFINEM8Z(at, z) VPMOVZXBD.Z (at/4)(R13), K1, Z30; VCVTDQ2PS Z30, Z30; TERMZ(z)
#define AFFINE8Y(at, y) VPMOVZXBD (at/4)(R13), Y9; VCVTDQ2PS Y9, Y9; TERMY(y)
#define AFFINE4Z(at, z) VPBROADCASTD (at/8)(R13), Z30; VPBROADCASTD (at/8+4)(R13), K2, Z30; VPSRLVD Z23, Z30, Z30; VPERMPS Z24, Z30, Z30; TERMZ(z)
#define AFFINEM4Z(at, z) VPBROADCASTD (at/8)(R13), Z30; VPBROADCASTD (at/8+4)(R13), K3, Z30; VPSRLVD Z23, Z30, Z30; VPERMPS Z24, Z30, Z30; TERMZ(z)
#define AFFINE4Y(at, y) VPBROADCASTD (at/8)(R13), Y9; VPSRLVD Y15, Y9, Y9; VPAND Y14, Y9, Y9; VCVTDQ2PS Y9, Y9; TERMY(y)
#define AFFINE2Z(at, z) VPBROADCASTD (at/16)(R13), Z30; VPSRLVD Z23, Z30, Z30; VPERMPS Z24, Z30, Z30; TERMZ(z)
#define AFFINE2Y(at, y) VPBROADCASTD (at/16)(R13), Y9; VPSRLVD Y15, Y9, Y9; VPAND Y14, Y9, Y9; VCVTDQ2PS Y9, Y9; TERMY(y)

// The lines of a strip's codes, and that of the scale and the bias.
#define CODES1(tail) PREFETCHT0 (R8); PREFETCHT0 (tail-1)(R8)(R10*1)
#define CODES2(tail) PREFETCHT0 64(R8); CODES1(tail)

// AFFINES is STRIP for every number of registers, of which five and more have a second
// line of codes of 8 bits with AVX-512.
#define AFFINESZ(few, many, row, rowM, weight) \
	STRIP(OVER1Z, few, LOAD32Z, LOADM32Z, row, rowM, STORE32Z, STOREM32Z, weight, begin1, ahead1, near1, end1); \
	STRIP(OVER2Z, few, LOAD32Z, LOADM32Z, row, rowM, STORE32Z, STOREM32Z, weight, begin2, ahead2, near2, end2); \
	STRIP(OVER3Z, few, LOAD32Z, LOADM32Z, row, rowM, STORE32Z, STOREM32Z, weight, begin3, ahead3, near3, end3); \
	STRIP(OVER4Z, few, LOAD32Z, LOADM32Z, row, rowM, STORE32Z, STOREM32Z, weight, begin4, ahead4, near4, end4); \
	STRIP(OVER5Z, many, LOAD32Z, LOADM32Z, row, rowM, STORE32Z, STOREM32Z, weight, begin5, ahead5, near5, end5); \
	STRIP(OVER6Z, many, LOAD32Z, LOADM32Z, row, rowM, STORE32Z, STOREM32Z, weight, begin6, ahead6, near6, end6); \
	STRIP(OVER7Z, many, LOAD32Z, LOADM32Z, row, rowM, STORE32Z, STOREM32Z, weight, begin7, ahead7, near7, end7); \
	STRIP(OVER8Z, many, LOAD32Z, LOADM32Z, row, rowM, STORE32Z, STOREM32Z, weight, begin8, ahead8, near8, end8)
#define AFFINESY(lines, row, weight) \
	STRIP(OVER1Y, lines, LOAD32Y, LOADM32Y, row, row, STORE32Y, STOREM32Y, weight, begin1, ahead1, near1, end1); \
	STRIP(OVER2Y, lines, LOAD32Y, LOADM32Y, row, row, STORE32Y, STOREM32Y, weight, begin2, ahead2, near2, end2); \
	STRIP(OVER3Y, lines, LOAD32Y, LOADM32Y, row, row, STORE32Y, STOREM32Y, weight, begin3, ahead3, near3, end3); \
	STRIP(OVER4Y, lines, LOAD32Y, LOADM32Y, row, row, STORE32Y, STOREM32Y, weight, begin4, ahead4, near4, end4); \
	STRIP(OVER5Y, lines, LOAD32Y, LOADM32Y, row, row, STORE32Y, STOREM32Y, weight, begin5, ahead5, near5, end5); \
	STRIP(OVER6Y, lines, LOAD32Y, LOADM32Y, row, row, STORE32Y, STOREM32Y, weight, begin6, ahead6, near6, end6); \
	STRIP(OVER7Y, lines, LOAD32Y, LOADM32Y, row, row, STORE32Y, STOREM32Y, weight, begin7, ahead7, near7, end7); \
	STRIP(OVER8Y, lines, LOAD32Y, LOADM32Y, row, row, STORE32Y, STOREM32Y, weight, begin8, ahead8, near8, end8)

// func affineSum8AVX512(a *bagsArgs)
TEXT ·affineSum8AVX512(SB), NOSPLIT, $0-8
	BAGS(512, 6, PARTZ, PARTZ, MINUS, bagsArgs_codes, STORED8, ON, BACK)
	AFFINESZ(CODES1(8), CODES2(8), AFFINE8Z, AFFINEM8Z, SCALE8Z)

// func affineSum8AVX2(a *bagsArgs)
TEXT ·affineSum8AVX2(SB), NOSPLIT, $0-8
	BAGS(256, 5, PARTY, PARTY, MINUS, bagsArgs_codes, STORED8, ON, BACK)
	AFFINESY(CODES1(8), AFFINE8Y, SCALE8Y)

// func affineWeigh8AVX512(a *bagsArgs)
TEXT ·affineWeigh8AVX512(SB), NOSPLIT, $0-8
	BAGS(512, 6, PARTZ, PARTZ, MINUS, bagsArgs_codes, STORED8, ON, BACK)
	AFFINESZ(CODES1(8), CODES2(8), AFFINE8Z, AFFINEM8Z, WEIGHT8Z)

// func affineWeigh8AVX2(a *bagsArgs)
TEXT ·affineWeigh8AVX2(SB), NOSPLIT, $0-8
	BAGS(256, 5, PARTY, PARTY, MINUS, bagsArgs_codes, STORED8, ON, BACK)
	AFFINESY(CODES1(8), AFFINE8Y, WEIGHT8Y)

// func affineSum4AVX512(a *bagsArgs)
TEXT ·affineSum4AVX512(SB), NOSPLIT, $0-8
	CODESZ(sixteen, nibble)
	BAGS(512, 6, PARTZ, PARTZ, MINUS, bagsArgs_codes, STORED4, ON, BACK)
	AFFINESZ(CODES1(4), CODES1(4), AFFINE4Z, AFFINEM4Z, SCALE4Z)

// func affineSum4AVX2(a *bagsArgs)
TEXT ·affineSum4AVX2(SB), NOSPLIT, $0-8
	CODESY(15, nibble)
	BAGS(256, 5, PARTY, PARTY, MINUS, bagsArgs_codes, STORED4, ON, BACK)
	AFFINESY(CODES1(4), AFFINE4Y, SCALE4Y)

// func affineWeigh4AVX512(a *bagsArgs)
TEXT ·affineWeigh4AVX512(SB), NOSPLIT, $0-8
	CODESZ(sixteen, nibble)
	BAGS(512, 6, PARTZ, PARTZ, MINUS, bagsArgs_codes, STORED4, ON, BACK)
	AFFINESZ(CODES1(4), CODES1(4), AFFINE4Z, AFFINEM4Z, WEIGHT4Z)

// func affineWeigh4AVX2(a *bagsArgs)
TEXT ·affineWeigh4AVX2(SB), NOSPLIT, $0-8
	CODESY(15, nibble)
	BAGS(256, 5, PARTY, PARTY, MINUS, bagsArgs_codes, STORED4, ON, BACK)
	AFFINESY(CODES1(4), AFFINE4Y, WEIGHT4Y)

// func affineSum2AVX512(a *bagsArgs)
TEXT ·affineSum2AVX512(SB), NOSPLIT, $0-8
	CODESZ(four, pair)
	BAGS(512, 6, PARTZ, PARTZ, MINUS, bagsArgs_codes, STORED2, ON, BACK)
	AFFINESZ(CODES1(4), CODES1(4), AFFINE2Z, AFFINE2Z, SCALE4Z)

// func affineSum2AVX2(a *bagsArgs)
TEXT ·affineSum2AVX2(SB), NOSPLIT, $0-8
	CODESY(3, pair)
	BAGS(256, 5, PARTY, PARTY, MINUS, bagsArgs_codes, STORED2, ON, BACK)
	AFFINESY(CODES1(4), AFFINE2Y, SCALE4Y)

// func affineWeigh2AVX512(a *bagsArgs)
TEXT ·affineWeigh2AVX512(SB), NOSPLIT, $0-8
	CODESZ(four, pair)
	BAGS(512, 6, PARTZ, PARTZ, MINUS, bagsArgs_codes, STORED2, ON, BACK)
	AFFINESZ(CODES1(4), CODES1(4), AFFINE2Z, AFFINE2Z, WEIGHT4Z)

// func affineWeigh2AVX2(a *bagsArgs)
TEXT ·affineWeigh2AVX2(SB), NOSPLIT, $0-8
	CODESY(3, pair)
	BAGS(256, 5, PARTY, PARTY, MINUS, bagsArgs_codes, STORED2, ON, BACK)
	AFFINESY(CODES1(4), AFFINE2Y, WEIGHT4Y)

// QUOTIENT divides or multiplies the elements at DI by one, a register at a time.
#define QUOTIENT(load, move, op, v, with, register, each) \
	MOVQ a+0(FP), AX; \
	MOVQ quotientArgs_dst(AX), DI; \
	MOVQ quotientArgs_by(AX), SI; \
	MOVQ quotientArgs_n(AX), CX; \
	load (SI), with; \
loop: \
	move (DI), v; \
	op with, v, v; \
	move v, (DI); \
	ADDQ $register, DI; \
	SUBQ $each, CX; \
	JNZ loop; \
	VZEROUPPER; \
	RET

// func divide32AVX512(a *quotientArgs)
TEXT ·divide32AVX512(SB), NOSPLIT, $0-8
	QUOTIENT(VBROADCASTSS, VMOVUPS, VDIVPS, Z0, Z1, 64, 16)

// func divide32AVX2(a *quotientArgs)
TEXT ·divide32AVX2(SB), NOSPLIT, $0-8
	QUOTIENT(VBROADCASTSS, VMOVUPS, VDIVPS, Y0, Y1, 32, 8)

// func divide64AVX512(a *quotientArgs)
TEXT ·divide64AVX512(SB), NOSPLIT, $0-8
	QUOTIENT(VBROADCASTSD, VMOVUPD, VDIVPD, Z0, Z1, 64, 8)

// func divide64AVX2(a *quotientArgs)
TEXT ·divide64AVX2(SB), NOSPLIT, $0-8
	QUOTIENT(VBROADCASTSD, VMOVUPD, VDIVPD, Y0, Y1, 32, 4)

// func times32AVX512(a *quotientArgs)
TEXT ·times32AVX512(SB), NOSPLIT, $0-8
	QUOTIENT(VBROADCASTSS, VMOVUPS, VMULPS, Z0, Z1, 64, 16)

// func times32AVX2(a *quotientArgs)
TEXT ·times32AVX2(SB), NOSPLIT, $0-8
	QUOTIENT(VBROADCASTSS, VMOVUPS, VMULPS, Y0, Y1, 32, 8)

// func times64AVX512(a *quotientArgs)
TEXT ·times64AVX512(SB), NOSPLIT, $0-8
	QUOTIENT(VBROADCASTSD, VMOVUPD, VMULPD, Z0, Z1, 64, 8)

// func times64AVX2(a *quotientArgs)
TEXT ·times64AVX2(SB), NOSPLIT, $0-8
	QUOTIENT(VBROADCASTSD, VMOVUPD, VMULPD, Y0, Y1, 32, 4)
