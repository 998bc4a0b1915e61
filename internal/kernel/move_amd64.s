//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// Every function here moves n ≥ 1 slices; see Rows for what it means. In all:
//
//	DI  where the next slice goes        R8   size of a slice, in bytes
//	SI  what rows count from             R9   step from one place to the next
//	DX  the next row, in bytes           R10  how far the row to prefetch stands from DX, in bytes
//	CX  slices that are left             R11  what rows to prefetch count from
//	AX  where the slice is read          BX   what is prefetched
//	                                     R15  what is prefetched once more
//
// A prefetch never faults, whatever its address.

#define ARGS \
	MOVQ a+0(FP), AX; \
	MOVQ rowsArgs_dst(AX), DI; \
	MOVQ rowsArgs_src(AX), SI; \
	MOVQ rowsArgs_rows(AX), DX; \
	MOVQ rowsArgs_later(AX), R10; \
	SUBQ DX, R10; \
	MOVQ rowsArgs_n(AX), CX; \
	MOVQ rowsArgs_size(AX), R8; \
	MOVQ rowsArgs_step(AX), R9; \
	MOVQ rowsArgs_laterBias(AX), R11; \
	ADDQ SI, R11; \
	ADDQ rowsArgs_at(AX), DI; \
	ADDQ rowsArgs_bias(AX), SI

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

#define STEP(loop) \
	ADDQ R9, DI; \
	DECQ CX; \
	JNZ  loop

// Slices of less than 64 bytes, four a turn: MOVE moves one, FIND finds the k-th
// from DX on.
#define SHORT(FIND, MOVE, END) \
	ARGS; \
	SUBQ $4, CX; \
	JLT  rest; \
	PCALIGN $32; \
four: \
	FIND(0); \
	MOVE; \
	ADDQ R9, DI; \
	FIND(1); \
	MOVE; \
	ADDQ R9, DI; \
	FIND(2); \
	MOVE; \
	ADDQ R9, DI; \
	FIND(3); \
	MOVE; \
	ADDQ R9, DI; \
	ADDQ $32, DX; \
	SUBQ $4, CX; \
	JGE  four; \
rest: \
	ADDQ $4, CX; \
	JZ   end; \
one: \
	FIND(0); \
	MOVE; \
	ADDQ $8, DX; \
	STEP(one); \
end: \
	END; \
	RET

#define KTH(k) \
	MOVQ (k*8)(DX), AX; \
	ADDQ SI, AX

// ASKKTH asks for the slice of another row too, which may begin in one line and
// end in the next; ASKONE for one of 1, 4, 8 or 16 bytes, which seldom does.
#define ASKKTH(k) \
	MOVQ (k*8)(DX)(R10*1), BX; \
	MOVQ (k*8)(DX), AX; \
	ADDQ R11, BX; \
	ADDQ SI, AX; \
	PREFETCHT0 (BX); \
	PREFETCHT0 -1(BX)(R8*1)

#define ASKONE(k) \
	MOVQ (k*8)(DX)(R10*1), BX; \
	MOVQ (k*8)(DX), AX; \
	PREFETCHT0 (R11)(BX*1); \
	ADDQ SI, AX

#define MOVE1 \
	MOVB (AX), R12; \
	MOVB R12, (DI)

#define MOVE2 \
	MOVW (AX), R12; \
	MOVW -2(AX)(R8*1), R13; \
	MOVW R12, (DI); \
	MOVW R13, -2(DI)(R8*1)

#define MOVE4 \
	MOVL (AX), R12; \
	MOVL R12, (DI)

#define MOVE5 \
	MOVL (AX), R12; \
	MOVL -4(AX)(R8*1), R13; \
	MOVL R12, (DI); \
	MOVL R13, -4(DI)(R8*1)

#define MOVE8 \
	MOVQ (AX), R12; \
	MOVQ R12, (DI)

#define MOVE9 \
	MOVQ (AX), R12; \
	MOVQ -8(AX)(R8*1), R13; \
	MOVQ R12, (DI); \
	MOVQ R13, -8(DI)(R8*1)

#define MOVE16 \
	MOVOU (AX), X0; \
	MOVOU X0, (DI)

#define MOVE17 \
	MOVOU (AX), X0; \
	MOVOU -16(AX)(R8*1), X1; \
	MOVOU X0, (DI); \
	MOVOU X1, -16(DI)(R8*1)

#define MOVE33 \
	VMOVDQU (AX), Y0; \
	VMOVDQU -32(AX)(R8*1), Y1; \
	VMOVDQU Y0, (DI); \
	VMOVDQU Y1, -32(DI)(R8*1)

#define PLAIN

// func rows1(a *rowsArgs)
TEXT ·rows1(SB), NOSPLIT, $0-8
	SHORT(KTH, MOVE1, PLAIN)

// func rows1Ahead(a *rowsArgs)
TEXT ·rows1Ahead(SB), NOSPLIT, $0-8
	SHORT(ASKONE, MOVE1, PLAIN)

// func rows2(a *rowsArgs)
// for slices of 2 and 3 bytes
TEXT ·rows2(SB), NOSPLIT, $0-8
	SHORT(KTH, MOVE2, PLAIN)

// func rows2Ahead(a *rowsArgs)
TEXT ·rows2Ahead(SB), NOSPLIT, $0-8
	SHORT(ASKKTH, MOVE2, PLAIN)

// func rows4(a *rowsArgs)
TEXT ·rows4(SB), NOSPLIT, $0-8
	SHORT(KTH, MOVE4, PLAIN)

// func rows4Ahead(a *rowsArgs)
TEXT ·rows4Ahead(SB), NOSPLIT, $0-8
	SHORT(ASKONE, MOVE4, PLAIN)

// func rows5(a *rowsArgs)
// for slices of 5 to 7 bytes
TEXT ·rows5(SB), NOSPLIT, $0-8
	SHORT(KTH, MOVE5, PLAIN)

// func rows5Ahead(a *rowsArgs)
TEXT ·rows5Ahead(SB), NOSPLIT, $0-8
	SHORT(ASKKTH, MOVE5, PLAIN)

// func rows8(a *rowsArgs)
TEXT ·rows8(SB), NOSPLIT, $0-8
	SHORT(KTH, MOVE8, PLAIN)

// func rows8Ahead(a *rowsArgs)
TEXT ·rows8Ahead(SB), NOSPLIT, $0-8
	SHORT(ASKONE, MOVE8, PLAIN)

// func rows9(a *rowsArgs)
// for slices of 9 to 15 bytes
TEXT ·rows9(SB), NOSPLIT, $0-8
	SHORT(KTH, MOVE9, PLAIN)

// func rows9Ahead(a *rowsArgs)
TEXT ·rows9Ahead(SB), NOSPLIT, $0-8
	SHORT(ASKKTH, MOVE9, PLAIN)

// func rows16(a *rowsArgs)
TEXT ·rows16(SB), NOSPLIT, $0-8
	SHORT(KTH, MOVE16, PLAIN)

// func rows16Ahead(a *rowsArgs)
TEXT ·rows16Ahead(SB), NOSPLIT, $0-8
	SHORT(ASKONE, MOVE16, PLAIN)

#define PAST16 \
	MOVOU (AX), X0; \
	MOVNTO X0, (DI)

// func stream16(a *rowsArgs)
TEXT ·stream16(SB), NOSPLIT, $0-8
	SHORT(ASKONE, PAST16, SFENCE)

// func rows17(a *rowsArgs)
// for slices of 17 to 32 bytes
TEXT ·rows17(SB), NOSPLIT, $0-8
	SHORT(KTH, MOVE17, PLAIN)

// func rows17Ahead(a *rowsArgs)
TEXT ·rows17Ahead(SB), NOSPLIT, $0-8
	SHORT(ASKKTH, MOVE17, PLAIN)

#define PAST32 \
	VMOVDQU (AX), Y0; \
	VMOVNTDQ Y0, (DI)

// func stream32AVX2(a *rowsArgs)
TEXT ·stream32AVX2(SB), NOSPLIT, $0-8
	SHORT(ASKONE, PAST32, SFENCE; VZEROUPPER)

// func rows33AVX2(a *rowsArgs)
// for slices of 33 to 63 bytes
TEXT ·rows33AVX2(SB), NOSPLIT, $0-8
	SHORT(KTH, MOVE33, VZEROUPPER)

// func rows33AheadAVX2(a *rowsArgs)
TEXT ·rows33AheadAVX2(SB), NOSPLIT, $0-8
	SHORT(ASKKTH, MOVE33, VZEROUPPER)

// Slices of 64 bytes and more: whole lines of 64 bytes, and then, over what they
// moved of it, the last 64 bytes. One instruction that walks through a row would
// teach the processor, which looks at the steps of each, to fetch what lies
// behind the row too. So the lines of a row below 2048 bytes are moved by one
// instruction each, sixteen, eight, four, two and one of them as the bits of the
// size say; in a longer row what is fetched in vain no longer counts, and what
// is learned serves. R12 is how much of the row is moved, R13 what is left of it.

#define LINES2(LINE) \
	LINE(0); \
	LINE(64)

#define LINES4(LINE) \
	LINES2(LINE); \
	LINE(128); \
	LINE(192)

#define LINES8(LINE) \
	LINES4(LINE); \
	LINE(256); \
	LINE(320); \
	LINE(384); \
	LINE(448)

// SOON asks once more for a line of the row that AGAIN found: one that is moved
// soon, or this one if there is none. What was asked for long before may have been
// dropped.
#define SOON(at) PREFETCHT0 at(R15)(R12*1)
#define NOTSOON(at)

#define AGAIN(rows, none) \
	MOVQ AX, R15; \
	CMPQ CX, $rows; \
	JLE  none; \
	MOVQ (rows*8-8)(DX), R15; \
	ADDQ SI, R15; \
none:

// ROW moves all whole lines of a row.
#define ROW(LINE, SOON) \
	XORL  R12, R12; \
	CMPQ  R8, $2048; \
	JLT   fit16; \
	MOVQ  R8, R13; \
	AGAIN(1, long); \
	SOON(0); \
	SOON(64); \
	LINES2(LINE); \
	ADDQ  $128, R12; \
	SUBQ  $128, R13; \
	CMPQ  R13, $128; \
	JGE   long; \
	JMP   fit1; \
fit16: \
	TESTQ $1024, R8; \
	JZ    fit8; \
	AGAIN(1, again16); \
	LINES8(SOON); \
	LINES8(LINE); \
	ADDQ  $512, R12; \
	LINES8(SOON); \
	LINES8(LINE); \
	ADDQ  $512, R12; \
fit8: \
	TESTQ $512, R8; \
	JZ    fit4; \
	AGAIN(3, again8); \
	LINES8(SOON); \
	LINES8(LINE); \
	ADDQ  $512, R12; \
fit4: \
	TESTQ $256, R8; \
	JZ    fit2; \
	LINES4(LINE); \
	ADDQ  $256, R12; \
fit2: \
	TESTQ $128, R8; \
	JZ    fit1; \
	LINES2(LINE); \
	ADDQ  $128, R12; \
fit1: \
	TESTQ $64, R8; \
	JZ    fit0; \
	LINE(0); \
fit0:

// FEW is ROW for slices below 256 bytes, of which many are moved in the time that
// the other bits would take to be looked at.
#define FEW(LINE) \
	XORL  R12, R12; \
	TESTQ $128, R8; \
	JZ    few1; \
	LINES2(LINE); \
	ADDQ  $128, R12; \
few1: \
	TESTQ $64, R8; \
	JZ    few0; \
	LINE(0); \
few0:

// LAST moves the end of a row that is no multiple of 64.
#define LAST(LINE, none) \
	TESTQ $63, R8; \
	JZ    none; \
	LEAQ  -64(R8), R12; \
	LINE(0); \
none:

#define LINEY(at) \
	VMOVDQU at(AX)(R12*1), Y0; \
	VMOVDQU at+32(AX)(R12*1), Y1; \
	VMOVDQU Y0, at(DI)(R12*1); \
	VMOVDQU Y1, at+32(DI)(R12*1)

#define LINEYAHEAD(at) \
	VMOVDQU at(AX)(R12*1), Y0; \
	VMOVDQU at+32(AX)(R12*1), Y1; \
	PREFETCHT0 at(BX)(R12*1); \
	VMOVDQU Y0, at(DI)(R12*1); \
	VMOVDQU Y1, at+32(DI)(R12*1)

#define LINEZ(at) \
	VMOVDQU64 at(AX)(R12*1), Z0; \
	VMOVDQU64 Z0, at(DI)(R12*1)

#define LINEZAHEAD(at) \
	VMOVDQU64 at(AX)(R12*1), Z0; \
	PREFETCHT0 at(BX)(R12*1); \
	VMOVDQU64 Z0, at(DI)(R12*1)

// SLICES is a form of whole lines and a last one: how a row is found, how a line is
// moved, and what else is asked for with a row.
#define SLICES(FIND, LINE, ASK, SOON) \
	ARGS; \
	CMPQ R8, $256; \
	JLT  short; \
loop: \
	FIND; \
	ROW(LINE, SOON); \
	LAST(LINE, whole); \
	ASK; \
	STEP(loop); \
	JMP  end; \
short: \
	XORL R12, R12; \
	CMPQ R8, $64; \
	JEQ  one; \
few: \
	FIND; \
	FEW(LINE); \
	LAST(LINE, all); \
	ASK; \
	STEP(few); \
	JMP  end; \
one: \
	FIND; \
	LINE(0); \
	ASK; \
	STEP(one); \
end: \
	VZEROUPPER; \
	RET

// A slice may end in a line more than it has lines.
#define ASKEND \
	PREFETCHT0 -1(BX)(R8*1)

#define ASKNONE

// func rows64AVX2(a *rowsArgs)
TEXT ·rows64AVX2(SB), NOSPLIT, $0-8
	SLICES(FOUND, LINEY, ASKNONE, NOTSOON)

// func rows64AheadAVX2(a *rowsArgs)
TEXT ·rows64AheadAVX2(SB), NOSPLIT, $0-8
	SLICES(NEXT, LINEYAHEAD, ASKEND, SOON)

// func rows64AVX512(a *rowsArgs)
TEXT ·rows64AVX512(SB), NOSPLIT, $0-8
	SLICES(FOUND, LINEZ, ASKNONE, NOTSOON)

// func rows64AheadAVX512(a *rowsArgs)
TEXT ·rows64AheadAVX512(SB), NOSPLIT, $0-8
	SLICES(NEXT, LINEZAHEAD, ASKEND, SOON)

// The forms of whole lines that write past the caches. Sizes and places are multiples of
// 64 (of 32 for AVX2's stores). They look at every bit of the size, which costs
// nothing here: a tighter loop for short slices was slower by a third, for it
// asks faster than memory answers. Where the loop begins is a tenth of its time.

#define LINEYSTREAM(at) \
	VMOVDQU at(AX)(R12*1), Y0; \
	VMOVDQU at+32(AX)(R12*1), Y1; \
	PREFETCHT0 at(BX)(R12*1); \
	VMOVNTDQ Y0, at(DI)(R12*1); \
	VMOVNTDQ Y1, at+32(DI)(R12*1)

#define LINEZSTREAM(at) \
	VMOVDQU64 at(AX)(R12*1), Z0; \
	PREFETCHT0 at(BX)(R12*1); \
	VMOVNTDQ Z0, at(DI)(R12*1)

// func stream64AVX2(a *rowsArgs)
TEXT ·stream64AVX2(SB), NOSPLIT, $0-8
	ARGS
	PCALIGN $64
loop:
	NEXT
	ROW(LINEYSTREAM, SOON)
	STEP(loop)
	SFENCE
	VZEROUPPER
	RET

// func stream64AVX512(a *rowsArgs)
TEXT ·stream64AVX512(SB), NOSPLIT, $0-8
	ARGS
	PCALIGN $64
loop:
	NEXT
	ROW(LINEZSTREAM, SOON)
	STEP(loop)
	SFENCE
	VZEROUPPER
	RET

// Slices of 64 bytes and more that lie next to each other, of any size and from
// any place on: a line that two of them share is put together in a register, and
// written once. Only the first and the last line of all, which others may write
// too, are written through the caches, and in part.
//
//	DI  the line                         Z0  what there is of it
//	R9  how much that is, in bytes       Z2  the places from which its bytes come, if those of the
//	Z3  0, 1, … 63                           row before end with it and those of the next begin in it
//	R12 all ones
//
// Nothing outside a row is loaded, not even under a mask: it might be far away.

DATA places<>+0(SB)/8, $0x0706050403020100
DATA places<>+8(SB)/8, $0x0f0e0d0c0b0a0908
DATA places<>+16(SB)/8, $0x1716151413121110
DATA places<>+24(SB)/8, $0x1f1e1d1c1b1a1918
DATA places<>+32(SB)/8, $0x2726252423222120
DATA places<>+40(SB)/8, $0x2f2e2d2c2b2a2928
DATA places<>+48(SB)/8, $0x3736353433323130
DATA places<>+56(SB)/8, $0x3f3e3d3c3b3a3938
GLOBL places<>(SB), RODATA|NOPTR, $64

// SHARED says from where the bytes of a line come of which R9 are there. VPERMB
// takes places modulo 64.
#define SHARED \
	VPBROADCASTB R9, Z2; \
	VPSUBB Z2, Z3, Z2; \
	SHLXQ R9, R12, R13; \
	KMOVQ R13, K1

// HEAD adds the begin of a row to the line.
#define HEAD \
	VMOVDQU64 (AX), Z1; \
	PREFETCHT0 (BX); \
	PREFETCHT0 -65(BX)(R8*1); \
	PREFETCHT0 -1(BX)(R8*1); \
	VPERMB Z1, Z2, K1, Z0

// func streamAVX512VBMI(a *rowsArgs)
TEXT ·streamAVX512VBMI(SB), NOSPLIT, $0-8
	ARGS
	VMOVDQU64 places<>(SB), Z3
	MOVQ $-1, R12
	MOVQ DI, R9
	ANDQ $63, R9
	SUBQ R9, DI
	SHARED
	NEXT
	HEAD
	VMOVDQU8 Z0, K1, (DI)
	JMP  rest
	PCALIGN $64
loop:
	NEXT
	HEAD
	VMOVNTDQ Z0, (DI)
rest:
	SUBQ R9, AX
	ADDQ R8, R9
	SUBQ $64, R9
	CMPQ R9, $64
	JLT  tail
lines:
	ADDQ $64, AX
	ADDQ $64, DI
	ADDQ $64, BX
	VMOVDQU64 (AX), Z0
	PREFETCHT0 (BX)
	VMOVNTDQ Z0, (DI)
	SUBQ $64, R9
	CMPQ R9, $64
	JGE  lines
tail:
	ADDQ $64, DI
	VMOVDQU64 (AX)(R9*1), Z1
	SHARED
	VPERMB Z1, Z2, Z0
	DECQ CX
	JNZ  loop
	TESTQ R9, R9
	JZ   end
	KNOTQ K1, K1
	VMOVDQU8 Z0, K1, (DI)
end:
	SFENCE
	VZEROUPPER
	RET

// SHARE is a form for shorter slices: LOAD brings one into Z1, as its first HALF
// bytes and its last, of which Z4 says where each byte stands. The whole of it is
// turned about until it begins where the line goes on; what does not fit into the
// line is then where the next one begins.
#define SHARE(LOAD, HALF) \
	ARGS; \
	VMOVDQU64 places<>(SB), Z3; \
	MOVQ $-1, R12; \
	MOVL $(2*HALF), AX; \
	SUBQ R8, AX; \
	VPBROADCASTB AX, Z2; \
	MOVL $HALF, AX; \
	SHLXQ AX, R12, AX; \
	KMOVQ AX, K1; \
	VMOVDQU64 Z3, Z4; \
	VPADDB Z2, Z3, K1, Z4; \
	MOVQ DI, R9; \
	ANDQ $63, R9; \
	SUBQ R9, DI; \
	SHLXQ R9, R12, R13; \
	KMOVQ R13, K3; \
	VPXORQ Z0, Z0, Z0; \
first: \
	TURNED(LOAD); \
	CMPQ R9, $64; \
	JGE  begun; \
	DECQ CX; \
	JNZ  first; \
	JMP  end; \
begun: \
	VMOVDQU8 Z0, K3, (DI); \
	KMOVQ R12, K3; \
	JMP  full; \
	PCALIGN $64; \
loop: \
	TURNED(LOAD); \
	CMPQ R9, $64; \
	JLT  more; \
	VMOVNTDQ Z0, (DI); \
full: \
	ADDQ $64, DI; \
	SUBQ $64, R9; \
	VMOVDQU64 Z1, Z0; \
more: \
	DECQ CX; \
	JNZ  loop; \
end: \
	TESTQ R9, R9; \
	JZ   none; \
	BZHIQ R9, R12, R13; \
	KMOVQ R13, K1; \
	KANDQ K3, K1, K1; \
	VMOVDQU8 Z0, K1, (DI); \
none: \
	SFENCE; \
	VZEROUPPER; \
	RET

#define TURNED(LOAD) \
	NEXT; \
	LOAD; \
	PREFETCHT0 (BX); \
	PREFETCHT0 -1(BX)(R8*1); \
	SHARED; \
	VPERMB Z4, Z2, Z2; \
	VPERMB Z1, Z2, Z1; \
	VMOVDQU8 Z1, K1, Z0; \
	ADDQ R8, R9

#define LOAD33 \
	VMOVDQU (AX), Y1; \
	VINSERTI64X4 $1, -32(AX)(R8*1), Z1, Z1

#define LOAD17 \
	VMOVDQU (AX), X1; \
	VINSERTI128 $1, -16(AX)(R8*1), Y1, Y1

// func stream33AVX512VBMI(a *rowsArgs)
TEXT ·stream33AVX512VBMI(SB), NOSPLIT, $0-8
	SHARE(LOAD33, 32)

// func stream17AVX512VBMI(a *rowsArgs)
TEXT ·stream17AVX512VBMI(SB), NOSPLIT, $0-8
	SHARE(LOAD17, 16)
