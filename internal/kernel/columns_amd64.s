//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// The forms of Gather: eight columns per iteration; a mask selects the columns that
// remain at the end of a tuple. They stop before the eight columns that contain an
// invalid value, and return how many elements precede those.
//
//	DI  tuple's place in dst             Z8   dim
//	SI  tuple's base in src              Z9   added to negative values: dim, or 0
//	DX  tuple's values                   Z10  stride
//	CX  columns that are done            Z7   j·lane of the eight columns; Z5 of the first eight, Z6 is 8·lane
//	BX  the arguments                    Z11  largest offset from SI for a read of 4 bytes, Z12 data
//	R8  columns, rounded down to eights  Z13  mask that rounds down to a multiple of 4
//	R9  remaining tuples                 K5   all eight columns, K4 the remaining columns of a tuple
//	R12 dim                              R10  prefetch distance in bytes of values
//	R13 next line to prefetch            R15  lines still to prefetch with this tuple
//	R14 first line to prefetch with the next tuple
//
// VPGATHER leaves lanes outside its mask unchanged, and so depends on its
// destination register. Clearing the register first breaks that dependency.

DATA lanes<>+0(SB)/8, $0
DATA lanes<>+8(SB)/8, $1
DATA lanes<>+16(SB)/8, $2
DATA lanes<>+24(SB)/8, $3
DATA lanes<>+32(SB)/8, $4
DATA lanes<>+40(SB)/8, $5
DATA lanes<>+48(SB)/8, $6
DATA lanes<>+56(SB)/8, $7
GLOBL lanes<>(SB), RODATA|NOPTR, $64

// CARGS loads the arguments that stay in registers.
#define CARGS \
	MOVQ a+0(FP), BX; \
	MOVQ columnsArgs_dst(BX), DI; \
	MOVQ columnsArgs_src(BX), SI; \
	MOVQ columnsArgs_values(BX), DX; \
	MOVQ columnsArgs_n(BX), CX; \
	MOVQ CX, R8; \
	ANDQ $~7, R8; \
	ANDQ $7, CX; \
	MOVL $1, AX; \
	SHLL CX, AX; \
	DECL AX; \
	KMOVB AX, K4; \
	MOVQ columnsArgs_tuples(BX), R9; \
	VPBROADCASTQ columnsArgs_dim(BX), Z8; \
	VPBROADCASTQ columnsArgs_fromEnd(BX), Z9; \
	VPBROADCASTQ columnsArgs_stride(BX), Z10; \
	VPBROADCASTQ columnsArgs_lane(BX), Z6; \
	VPMULLQ lanes<>(SB), Z6, Z5; \
	VPSLLQ $3, Z6, Z6; \
	MOVQ columnsArgs_dim(BX), R12; \
	MOVQ columnsArgs_ahead(BX), R10; \
	MOVQ columnsArgs_line(BX), R14; \
	ADDQ SI, R14; \
	VPBROADCASTQ columnsArgs_limit(BX), Z11; \
	VPBROADCASTQ columnsArgs_data(BX), Z12; \
	MOVQ $~3, AX; \
	VPBROADCASTQ AX, Z13; \
	KXNORB K5, K5, K5

// The argument MANY of COLUMNS moves eight columns whose values are all in
// 0 … dim-1. SINGLY moves them one by one, which is faster than VPGATHER. Each
// value is loaded once, so that the value that is checked is the value that is
// used, even if another goroutine writes to it. If a value is negative or too
// large, MANY jumps to hard, which loads all eight again and moves them with
// VPGATHER, or stops.
#define INDEX8(k, to) MOVQ (k*8)(DX)(CX*8), to
#define INDEX4(k, to) MOVLQSX (k*4)(DX)(CX*4), to

#define PAIR(INDEX, k, l, move, size) \
	INDEX(k, AX); \
	INDEX(l, R11); \
	CMPQ AX, R12; \
	JCC  hard; \
	CMPQ R11, R12; \
	JCC  hard; \
	move (SI)(AX*size), AX; \
	move (SI)(R11*size), R11; \
	move AX, (k*size)(DI)(CX*size); \
	move R11, (l*size)(DI)(CX*size)

#define TAKE(INDEX, move, size) \
	PAIR(INDEX, 0, 1, move, size); \
	PAIR(INDEX, 2, 3, move, size); \
	PAIR(INDEX, 4, 5, move, size); \
	PAIR(INDEX, 6, 7, move, size)

#define SINGLY1(load, width, INDEX, FIND, GATHER, STORE) TAKE(INDEX, MOVB, 1)
#define SINGLY2(load, width, INDEX, FIND, GATHER, STORE) TAKE(INDEX, MOVW, 2)
#define SINGLY4(load, width, INDEX, FIND, GATHER, STORE) TAKE(INDEX, MOVL, 4)
#define SINGLY8(load, width, INDEX, FIND, GATHER, STORE) TAKE(INDEX, MOVQ, 8)

// ATONCE is MANY with VPGATHER: for positions that must be multiplied by a stride,
// and for non-temporal stores, which take whole registers.
#define ATONCE(load, width, INDEX, FIND, GATHER, STORE) \
	load       (DX)(CX*width), Z1; \
	VPCMPUQ    $5, Z8, Z1, K2; \
	KORTESTB   K2, K2; \
	JNZ        hard; \
	FIND; \
	KMOVB  K5, K3; \
	VPXORQ Z0, Z0, Z0; \
	GATHER; \
	STORE

// FROMEND adds dim to negative values, if they count from the end, and jumps to out
// if a value under the mask is then outside 0 … dim-1.
#define FROMEND(mask) \
	VPMOVQ2M   Z1, K1; \
	VPADDQ     Z9, Z1, K1, Z1; \
	VPCMPUQ    $5, Z8, Z1, mask, K2; \
	KORTESTB   K2, K2; \
	JNZ        out; \
	KMOVB      mask, K3; \
	VPXORQ     Z0, Z0, Z0

// ELEMENT turns positions into element numbers, v·stride + j·lane. SELF replaces
// it for stride 1 and lane 0, where they are equal.
#define ELEMENT \
	VPMULUDQ   Z10, Z1, Z1; \
	VPADDQ     Z7, Z1, Z1; \
	VPADDQ     Z6, Z7, Z7

#define SELF

// NARROW gathers elements of 1 and 2 bytes, as VPGATHER loads at least 4. It rounds
// the offset down to a multiple of 4, so that the load stays in the element's
// cache line, and to limit, so that it stays in src; a shift moves the element to
// the low bits.
#define NARROW \
	VPANDQ     Z13, Z1, Z2; \
	VPMINSQ    Z11, Z2, Z2; \
	VPSUBQ     Z2, Z1, Z4; \
	VPSLLQ     $3, Z4, Z4; \
	VPMOVQD    Z4, Y4; \
	VPGATHERQD (SI)(Z2*1), K3, Y0; \
	VPSRLVD    Y4, Y0, Y0

#define GATHER1 NARROW
#define GATHER2 \
	VPADDQ Z1, Z1, Z1; \
	NARROW
#define GATHER4 VPGATHERQD (SI)(Z1*4), K3, Y0
#define GATHER8 VPGATHERQQ (SI)(Z1*8), K3, Z0

#define STORE1 VPMOVDB Y0, (DI)(CX*1)
#define STORE2 VPMOVDW Y0, (DI)(CX*2)
#define STORE4 VMOVDQU Y0, (DI)(CX*4)
#define STORE8 VMOVDQU64 Z0, (DI)(CX*8)
#define STREAM4 VMOVNTDQ Y0, (DI)(CX*4)
#define STREAM8 VMOVNTDQ Z0, (DI)(CX*8)

// LEFT stores the remaining columns of a tuple, under the mask K4.
#define LEFT1 VPMOVDB Y0, K4, (DI)(CX*1)
#define LEFT2 VPMOVDW Y0, K4, (DI)(CX*2)
#define LEFT4 VMOVDQU32 Y0, K4, (DI)(CX*4)
#define LEFT8 VMOVDQU64 Z0, K4, (DI)(CX*8)

// The argument ASK of COLUMNS prefetches. LINES prefetches the values of a later
// tuple, and the next lines of src.
#define LINES(load, width, size) \
	LEAQ       (DX)(CX*width), AX; \
	PREFETCHT0 (AX)(R10*1); \
	TESTQ      R15, R15; \
	JLE        asked; \
	MOVQ       columnsArgs_perEight(BX), AX; \
	SUBQ       AX, R15; \
ask: \
	PREFETCHT0 (R13); \
	ADDQ       $64, R13; \
	DECQ       AX; \
	JNZ        ask; \
asked:

// VALUES prefetches later values only.
#define VALUES(load, width, size) \
	PREFETCHT0 4096(DX)(CX*width)

// PASTLINES is LINES without lines of src, for the forms with non-temporal stores.
#define PASTLINES(load, width, size) \
	LEAQ       (DX)(CX*width), AX; \
	PREFETCHT0 (AX)(R10*1)

// ASK2 prefetches the elements of two later values.
#define ASK2(load, width, size, k) \
	load       (k*width)(AX), R13; \
	load       (k*width+width)(AX), R15; \
	PREFETCHT0 (SI)(R13*size); \
	PREFETCHT0 (SI)(R15*size)

// ASK2FROMEND is ASK2 for values of which negative ones count from the end: R14 is dim.
#define ASK2FROMEND(load, width, size, k) \
	load       (k*width)(AX), R13; \
	load       (k*width+width)(AX), R15; \
	MOVQ       R13, R11; \
	SARQ       $63, R11; \
	ANDQ       R14, R11; \
	ADDQ       R11, R13; \
	MOVQ       R15, R11; \
	SARQ       $63, R11; \
	ANDQ       R14, R11; \
	ADDQ       R11, R15; \
	PREFETCHT0 (SI)(R13*size); \
	PREFETCHT0 (SI)(R15*size)

// EACH prefetches the elements of eight later values, and the values 4 KiB behind
// those.
#define EACH(load, width, size) \
	LEAQ       (DX)(CX*width), AX; \
	ADDQ       R10, AX; \
	PREFETCHT0 4096(AX); \
	MOVQ       columnsArgs_fromEnd(BX), R14; \
	TESTQ      R14, R14; \
	JNZ        fromend; \
	ASK2(load, width, size, 0); \
	ASK2(load, width, size, 2); \
	ASK2(load, width, size, 4); \
	ASK2(load, width, size, 6); \
	JMP        asked; \
fromend: \
	ASK2FROMEND(load, width, size, 0); \
	ASK2FROMEND(load, width, size, 2); \
	ASK2FROMEND(load, width, size, 4); \
	ASK2FROMEND(load, width, size, 6); \
asked:

// COLUMNS is the loop over tuples and eights of columns.
#define COLUMNS(load, loadleft, scalar, width, size, ASK, MANY, INDEX, FIND, GATHER, STORE, LEFT, FENCE) \
	CARGS; \
row: \
	VMOVDQA64  Z5, Z7; \
	MOVQ       R14, R13; \
	ADDQ       columnsArgs_lineStep(BX), R14; \
	MOVQ       columnsArgs_lines(BX), R15; \
	XORL       CX, CX; \
	CMPQ       CX, R8; \
	JGE        left; \
turn: \
	ASK(scalar, width, size); \
	MANY(load, width, INDEX, FIND, GATHER, STORE); \
next: \
	ADDQ       $8, CX; \
	CMPQ       CX, R8; \
	JLT        turn; \
left: \
	KTESTB     K4, K4; \
	JZ         none; \
	loadleft   (DX)(CX*width), K4, Z1; \
	FROMEND(K4); \
	FIND; \
	GATHER; \
	LEFT; \
none: \
	XORL       CX, CX; \
	ADDQ       columnsArgs_from(BX), DX; \
	ADDQ       columnsArgs_to(BX), DI; \
	ADDQ       columnsArgs_data(BX), SI; \
	VPSUBQ     Z12, Z11, Z11; \
	DECQ       R9; \
	JNZ        row; \
	JMP        out; \
hard: \
	load       (DX)(CX*width), Z1; \
	FROMEND(K5); \
	FIND; \
	GATHER; \
	STORE; \
	JMP        next; \
out: \
	FENCE; \
	VZEROUPPER; \
	MOVQ columnsArgs_tuples(BX), AX; \
	SUBQ R9, AX; \
	IMULQ columnsArgs_n(BX), AX; \
	ADDQ CX, AX; \
	MOVQ AX, moved+8(FP); \
	RET

#define NOFENCE

// func columns1of8AVX512(a *columnsArgs) (moved int)
TEXT ·columns1of8AVX512(SB), NOSPLIT, $0-16
	COLUMNS(VMOVDQU64, VMOVDQU64.Z, MOVQ, 8, 1, LINES, ATONCE, INDEX8, ELEMENT, GATHER1, STORE1, LEFT1, NOFENCE)

// func flat1of8AVX512(a *columnsArgs) (moved int)
TEXT ·flat1of8AVX512(SB), NOSPLIT, $0-16
	COLUMNS(VMOVDQU64, VMOVDQU64.Z, MOVQ, 8, 1, VALUES, SINGLY1, INDEX8, SELF, GATHER1, STORE1, LEFT1, NOFENCE)

// func flat1of8AheadAVX512(a *columnsArgs) (moved int)
TEXT ·flat1of8AheadAVX512(SB), NOSPLIT, $0-16
	COLUMNS(VMOVDQU64, VMOVDQU64.Z, MOVQ, 8, 1, EACH, SINGLY1, INDEX8, SELF, GATHER1, STORE1, LEFT1, NOFENCE)

// func columns2of8AVX512(a *columnsArgs) (moved int)
TEXT ·columns2of8AVX512(SB), NOSPLIT, $0-16
	COLUMNS(VMOVDQU64, VMOVDQU64.Z, MOVQ, 8, 2, LINES, ATONCE, INDEX8, ELEMENT, GATHER2, STORE2, LEFT2, NOFENCE)

// func flat2of8AVX512(a *columnsArgs) (moved int)
TEXT ·flat2of8AVX512(SB), NOSPLIT, $0-16
	COLUMNS(VMOVDQU64, VMOVDQU64.Z, MOVQ, 8, 2, VALUES, SINGLY2, INDEX8, SELF, GATHER2, STORE2, LEFT2, NOFENCE)

// func flat2of8AheadAVX512(a *columnsArgs) (moved int)
TEXT ·flat2of8AheadAVX512(SB), NOSPLIT, $0-16
	COLUMNS(VMOVDQU64, VMOVDQU64.Z, MOVQ, 8, 2, EACH, SINGLY2, INDEX8, SELF, GATHER2, STORE2, LEFT2, NOFENCE)

// func columns4of8AVX512(a *columnsArgs) (moved int)
TEXT ·columns4of8AVX512(SB), NOSPLIT, $0-16
	COLUMNS(VMOVDQU64, VMOVDQU64.Z, MOVQ, 8, 4, LINES, ATONCE, INDEX8, ELEMENT, GATHER4, STORE4, LEFT4, NOFENCE)

// func columns4of8StreamAVX512(a *columnsArgs) (moved int)
TEXT ·columns4of8StreamAVX512(SB), NOSPLIT, $0-16
	COLUMNS(VMOVDQU64, VMOVDQU64.Z, MOVQ, 8, 4, PASTLINES, ATONCE, INDEX8, ELEMENT, GATHER4, STREAM4, LEFT4, SFENCE)

// func flat4of8AVX512(a *columnsArgs) (moved int)
TEXT ·flat4of8AVX512(SB), NOSPLIT, $0-16
	COLUMNS(VMOVDQU64, VMOVDQU64.Z, MOVQ, 8, 4, VALUES, SINGLY4, INDEX8, SELF, GATHER4, STORE4, LEFT4, NOFENCE)

// func flat4of8AheadAVX512(a *columnsArgs) (moved int)
TEXT ·flat4of8AheadAVX512(SB), NOSPLIT, $0-16
	COLUMNS(VMOVDQU64, VMOVDQU64.Z, MOVQ, 8, 4, EACH, SINGLY4, INDEX8, SELF, GATHER4, STORE4, LEFT4, NOFENCE)

// func flat4of8StreamAVX512(a *columnsArgs) (moved int)
TEXT ·flat4of8StreamAVX512(SB), NOSPLIT, $0-16
	COLUMNS(VMOVDQU64, VMOVDQU64.Z, MOVQ, 8, 4, VALUES, ATONCE, INDEX8, SELF, GATHER4, STREAM4, LEFT4, SFENCE)

// func columns8of8AVX512(a *columnsArgs) (moved int)
TEXT ·columns8of8AVX512(SB), NOSPLIT, $0-16
	COLUMNS(VMOVDQU64, VMOVDQU64.Z, MOVQ, 8, 8, LINES, ATONCE, INDEX8, ELEMENT, GATHER8, STORE8, LEFT8, NOFENCE)

// func columns8of8StreamAVX512(a *columnsArgs) (moved int)
TEXT ·columns8of8StreamAVX512(SB), NOSPLIT, $0-16
	COLUMNS(VMOVDQU64, VMOVDQU64.Z, MOVQ, 8, 8, PASTLINES, ATONCE, INDEX8, ELEMENT, GATHER8, STREAM8, LEFT8, SFENCE)

// func flat8of8AVX512(a *columnsArgs) (moved int)
TEXT ·flat8of8AVX512(SB), NOSPLIT, $0-16
	COLUMNS(VMOVDQU64, VMOVDQU64.Z, MOVQ, 8, 8, VALUES, SINGLY8, INDEX8, SELF, GATHER8, STORE8, LEFT8, NOFENCE)

// func flat8of8AheadAVX512(a *columnsArgs) (moved int)
TEXT ·flat8of8AheadAVX512(SB), NOSPLIT, $0-16
	COLUMNS(VMOVDQU64, VMOVDQU64.Z, MOVQ, 8, 8, EACH, SINGLY8, INDEX8, SELF, GATHER8, STORE8, LEFT8, NOFENCE)

// func flat8of8StreamAVX512(a *columnsArgs) (moved int)
TEXT ·flat8of8StreamAVX512(SB), NOSPLIT, $0-16
	COLUMNS(VMOVDQU64, VMOVDQU64.Z, MOVQ, 8, 8, VALUES, ATONCE, INDEX8, SELF, GATHER8, STREAM8, LEFT8, SFENCE)

// func columns1of4AVX512(a *columnsArgs) (moved int)
TEXT ·columns1of4AVX512(SB), NOSPLIT, $0-16
	COLUMNS(VPMOVSXDQ, VPMOVSXDQ.Z, MOVLQSX, 4, 1, LINES, ATONCE, INDEX4, ELEMENT, GATHER1, STORE1, LEFT1, NOFENCE)

// func flat1of4AVX512(a *columnsArgs) (moved int)
TEXT ·flat1of4AVX512(SB), NOSPLIT, $0-16
	COLUMNS(VPMOVSXDQ, VPMOVSXDQ.Z, MOVLQSX, 4, 1, VALUES, SINGLY1, INDEX4, SELF, GATHER1, STORE1, LEFT1, NOFENCE)

// func flat1of4AheadAVX512(a *columnsArgs) (moved int)
TEXT ·flat1of4AheadAVX512(SB), NOSPLIT, $0-16
	COLUMNS(VPMOVSXDQ, VPMOVSXDQ.Z, MOVLQSX, 4, 1, EACH, SINGLY1, INDEX4, SELF, GATHER1, STORE1, LEFT1, NOFENCE)

// func columns2of4AVX512(a *columnsArgs) (moved int)
TEXT ·columns2of4AVX512(SB), NOSPLIT, $0-16
	COLUMNS(VPMOVSXDQ, VPMOVSXDQ.Z, MOVLQSX, 4, 2, LINES, ATONCE, INDEX4, ELEMENT, GATHER2, STORE2, LEFT2, NOFENCE)

// func flat2of4AVX512(a *columnsArgs) (moved int)
TEXT ·flat2of4AVX512(SB), NOSPLIT, $0-16
	COLUMNS(VPMOVSXDQ, VPMOVSXDQ.Z, MOVLQSX, 4, 2, VALUES, SINGLY2, INDEX4, SELF, GATHER2, STORE2, LEFT2, NOFENCE)

// func flat2of4AheadAVX512(a *columnsArgs) (moved int)
TEXT ·flat2of4AheadAVX512(SB), NOSPLIT, $0-16
	COLUMNS(VPMOVSXDQ, VPMOVSXDQ.Z, MOVLQSX, 4, 2, EACH, SINGLY2, INDEX4, SELF, GATHER2, STORE2, LEFT2, NOFENCE)

// func columns4of4AVX512(a *columnsArgs) (moved int)
TEXT ·columns4of4AVX512(SB), NOSPLIT, $0-16
	COLUMNS(VPMOVSXDQ, VPMOVSXDQ.Z, MOVLQSX, 4, 4, LINES, ATONCE, INDEX4, ELEMENT, GATHER4, STORE4, LEFT4, NOFENCE)

// func columns4of4StreamAVX512(a *columnsArgs) (moved int)
TEXT ·columns4of4StreamAVX512(SB), NOSPLIT, $0-16
	COLUMNS(VPMOVSXDQ, VPMOVSXDQ.Z, MOVLQSX, 4, 4, PASTLINES, ATONCE, INDEX4, ELEMENT, GATHER4, STREAM4, LEFT4, SFENCE)

// func flat4of4AVX512(a *columnsArgs) (moved int)
TEXT ·flat4of4AVX512(SB), NOSPLIT, $0-16
	COLUMNS(VPMOVSXDQ, VPMOVSXDQ.Z, MOVLQSX, 4, 4, VALUES, SINGLY4, INDEX4, SELF, GATHER4, STORE4, LEFT4, NOFENCE)

// func flat4of4AheadAVX512(a *columnsArgs) (moved int)
TEXT ·flat4of4AheadAVX512(SB), NOSPLIT, $0-16
	COLUMNS(VPMOVSXDQ, VPMOVSXDQ.Z, MOVLQSX, 4, 4, EACH, SINGLY4, INDEX4, SELF, GATHER4, STORE4, LEFT4, NOFENCE)

// func flat4of4StreamAVX512(a *columnsArgs) (moved int)
TEXT ·flat4of4StreamAVX512(SB), NOSPLIT, $0-16
	COLUMNS(VPMOVSXDQ, VPMOVSXDQ.Z, MOVLQSX, 4, 4, VALUES, ATONCE, INDEX4, SELF, GATHER4, STREAM4, LEFT4, SFENCE)

// func columns8of4AVX512(a *columnsArgs) (moved int)
TEXT ·columns8of4AVX512(SB), NOSPLIT, $0-16
	COLUMNS(VPMOVSXDQ, VPMOVSXDQ.Z, MOVLQSX, 4, 8, LINES, ATONCE, INDEX4, ELEMENT, GATHER8, STORE8, LEFT8, NOFENCE)

// func columns8of4StreamAVX512(a *columnsArgs) (moved int)
TEXT ·columns8of4StreamAVX512(SB), NOSPLIT, $0-16
	COLUMNS(VPMOVSXDQ, VPMOVSXDQ.Z, MOVLQSX, 4, 8, PASTLINES, ATONCE, INDEX4, ELEMENT, GATHER8, STREAM8, LEFT8, SFENCE)

// func flat8of4AVX512(a *columnsArgs) (moved int)
TEXT ·flat8of4AVX512(SB), NOSPLIT, $0-16
	COLUMNS(VPMOVSXDQ, VPMOVSXDQ.Z, MOVLQSX, 4, 8, VALUES, SINGLY8, INDEX4, SELF, GATHER8, STORE8, LEFT8, NOFENCE)

// func flat8of4AheadAVX512(a *columnsArgs) (moved int)
TEXT ·flat8of4AheadAVX512(SB), NOSPLIT, $0-16
	COLUMNS(VPMOVSXDQ, VPMOVSXDQ.Z, MOVLQSX, 4, 8, EACH, SINGLY8, INDEX4, SELF, GATHER8, STORE8, LEFT8, NOFENCE)

// func flat8of4StreamAVX512(a *columnsArgs) (moved int)
TEXT ·flat8of4StreamAVX512(SB), NOSPLIT, $0-16
	COLUMNS(VPMOVSXDQ, VPMOVSXDQ.Z, MOVLQSX, 4, 8, VALUES, ATONCE, INDEX4, SELF, GATHER8, STREAM8, LEFT8, SFENCE)
