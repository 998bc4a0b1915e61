//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// Tuples of neighbouring columns, straight from their index values: the j-th value
// v of the t-th tuple, checked against dim, means element v·stride + j·lane of
// src + t·data. They stop before the eight columns that have a value outside,
// and say how many elements came before those. Eight columns a turn; what is left
// of a tuple is masked.
//
//	DI  where the tuple goes             Z8   dim
//	SI  what the tuple counts from       Z9   what is added to a negative value: dim, or 0
//	DX  the tuple's values               Z10  stride
//	CX  columns that are done            Z7   j·lane of this turn; Z5 of the first, Z6 from one to the next
//	                                     Z11  the last 4 bytes of src, Z13 a multiple of 4: for narrow elements
//	R8  columns in whole turns           K5   eight columns, K4 those that are left of a tuple
//	R9  tuples that are left             R10  how far the values that are asked for stand from DX
//	R12 dim
//	R13 the line that is asked for       R15  lines of this tuple that are still to be asked for
//	R14 the first line that is asked for with this tuple
//
// A gather keeps what its mask leaves out, so that it waits for what the
// register held: it is cleared first.

DATA lanes<>+0(SB)/8, $0
DATA lanes<>+8(SB)/8, $1
DATA lanes<>+16(SB)/8, $2
DATA lanes<>+24(SB)/8, $3
DATA lanes<>+32(SB)/8, $4
DATA lanes<>+40(SB)/8, $5
DATA lanes<>+48(SB)/8, $6
DATA lanes<>+56(SB)/8, $7
GLOBL lanes<>(SB), RODATA|NOPTR, $64

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

// MANY is how eight columns are usually moved: one by one, each value looked at
// once and checked, which takes less time than a processor's own gather. Where
// one counts from the end, or is outside, all eight of its turn are looked at
// again, at once: what was moved of them is moved once more, or is anything.
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

// ATONCE is MANY where elements are more than positions, or written past the
// caches, which takes whole registers.
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

// FROMEND counts negative values from the end, as far as a mask leaves them, and
// looks for one that is outside. ELEMENT finds the elements that positions mean;
// where stride is 1 and lane 0, they are that already.
#define FROMEND(mask) \
	VPMOVQ2M   Z1, K1; \
	VPADDQ     Z9, Z1, K1, Z1; \
	VPCMPUQ    $5, Z8, Z1, mask, K2; \
	KORTESTB   K2, K2; \
	JNZ        out; \
	KMOVB      mask, K3; \
	VPXORQ     Z0, Z0, Z0

#define ELEMENT \
	VPMULUDQ   Z10, Z1, Z1; \
	VPADDQ     Z7, Z1, Z1; \
	VPADDQ     Z6, Z7, Z7

#define SELF

// Elements of 1 and 2 bytes are gathered as 4, which must not reach behind src,
// and should not into the next line: they are read where a multiple of 4 is, or
// the end, and shifted.
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

#define LEFT1 VPMOVDB Y0, K4, (DI)(CX*1)
#define LEFT2 VPMOVDW Y0, K4, (DI)(CX*2)
#define LEFT4 VMOVDQU32 Y0, K4, (DI)(CX*4)
#define LEFT8 VMOVDQU64 Z0, K4, (DI)(CX*8)

// LINES asks for the values of a later tuple, and for so many lines of src in
// order.
#define LINES(load, width, size) \
	LEAQ       (DX)(CX*width), AX; \
	PREFETCHT0 (AX)(R10*1); \
	TESTQ      R15, R15; \
	JLE        asked; \
	MOVQ       columnsArgs_perTurn(BX), AX; \
	SUBQ       AX, R15; \
ask: \
	PREFETCHT0 (R13); \
	ADDQ       $64, R13; \
	DECQ       AX; \
	JNZ        ask; \
asked:

// VALUES asks for later values only.
#define VALUES(load, width, size) \
	PREFETCHT0 4096(DX)(CX*width)

// PASTLINES is LINES where no line of src is asked for, as in forms that stream.
#define PASTLINES(load, width, size) \
	LEAQ       (DX)(CX*width), AX; \
	PREFETCHT0 (AX)(R10*1)

// EACH asks for the elements of eight later values, and for values that come
// some 4 KiB behind those.
#define EACH(load, width, size) \
	LEAQ       (DX)(CX*width), AX; \
	ADDQ       R10, AX; \
	PREFETCHT0 4096(AX); \
	load       (0*width)(AX), R13; \
	load       (1*width)(AX), R15; \
	PREFETCHT0 (SI)(R13*size); \
	PREFETCHT0 (SI)(R15*size); \
	load       (2*width)(AX), R13; \
	load       (3*width)(AX), R15; \
	PREFETCHT0 (SI)(R13*size); \
	PREFETCHT0 (SI)(R15*size); \
	load       (4*width)(AX), R13; \
	load       (5*width)(AX), R15; \
	PREFETCHT0 (SI)(R13*size); \
	PREFETCHT0 (SI)(R15*size); \
	load       (6*width)(AX), R13; \
	load       (7*width)(AX), R15; \
	PREFETCHT0 (SI)(R13*size); \
	PREFETCHT0 (SI)(R15*size)

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
