//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// The forms of Rows. In all of them:
//
//	DI  next place in dst                R8   size of a slice, in bytes
//	SI  src + bias                       R9   bytes between two places in dst
//	DX  next row in rows                 R10  later - rows, in bytes
//	CX  remaining rows                   R11  src + laterBias
//	AX  the slice in src                 BX   the slice to prefetch
//	                                     R15  the slice to prefetch a second time
//
// A prefetch cannot fault, whatever its address.

// ARGS loads the arguments.
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

// NEXT sets AX to the next slice and BX to the slice to prefetch, and advances DX.
#define NEXT \
	MOVQ (DX), AX; \
	MOVQ (DX)(R10*1), BX; \
	ADDQ SI, AX; \
	ADDQ R11, BX; \
	ADDQ $8, DX

// FOUND is NEXT without a slice to prefetch.
#define FOUND \
	MOVQ (DX), AX; \
	ADDQ SI, AX; \
	ADDQ $8, DX

// STEP advances DI and closes the loop.
#define STEP(loop) \
	ADDQ R9, DI; \
	DECQ CX; \
	JNZ  loop

// SHORT is the loop over slices of less than 64 bytes, four per iteration. FIND(k)
// sets AX to the slice of the k-th row from DX on, MOVE moves it, and END ends the
// function.
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

// KTH is FIND without a prefetch.
#define KTH(k) \
	MOVQ (k*8)(DX), AX; \
	ADDQ SI, AX

// ASKKTH also prefetches the slice of a later row: the lines of its first and of
// its last byte. ASKONE prefetches one line, for slices of 1, 4, 8 or 16 bytes,
// which seldom cross a line.
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

#define MOVE65 \
	VMOVDQU (AX), Y0; \
	VMOVDQU 32(AX), Y1; \
	VMOVDQU -64(AX)(R8*1), Y2; \
	VMOVDQU -32(AX)(R8*1), Y3; \
	VMOVDQU Y0, (DI); \
	VMOVDQU Y1, 32(DI); \
	VMOVDQU Y2, -64(DI)(R8*1); \
	VMOVDQU Y3, -32(DI)(R8*1)

#define PLAIN

// The forms of Slices move short slices straight from index values of 8 bytes. They
// use the registers of Rows, but
//
//	DX  next value       R9   slices of src
//	SI  src              CX   remaining values
//	R14 prefetch distance in bytes of values
//
// SLICE moves the slice of one checked value. FROMVALUES is the loop over the values, four
// per iteration; it ends at the first value outside 0 … R9-1. ASK prefetches the slice
// of a later value, which no one has checked: a prefetch of an address without memory
// does nothing.
#define SLICE(value, MOVE) \
	IMULQ R8, value; \
	LEAQ (SI)(value*1), AX; \
	MOVE; \
	ADDQ R8, DI

// NOASK is ASK of the forms without a prefetch. ASKLINE prefetches one line, for
// slices that seldom cross a line, ASKENDS the lines of a slice's first and last
// byte, ASKWHOLE those of slices of 65 to 128 bytes.
#define NOASK(k)

#define ASKLINE(k) \
	MOVQ (k*8)(DX)(R14*1), AX; \
	IMULQ R8, AX; \
	PREFETCHT0 (SI)(AX*1)

#define ASKENDS(k) \
	ASKLINE(k); \
	ADDQ R8, AX; \
	PREFETCHT0 -1(SI)(AX*1)

#define ASKWHOLE(k) \
	ASKENDS(k); \
	PREFETCHT0 -65(SI)(AX*1)

#define FROMVALUES(ASK, MOVE, END) \
	MOVQ a+0(FP), AX; \
	MOVQ slicesArgs_dst(AX), DI; \
	MOVQ slicesArgs_src(AX), SI; \
	MOVQ slicesArgs_values(AX), DX; \
	MOVQ slicesArgs_n(AX), CX; \
	MOVQ slicesArgs_size(AX), R8; \
	MOVQ slicesArgs_dim(AX), R9; \
	MOVQ slicesArgs_ahead(AX), R14; \
	SUBQ $4, CX; \
	JLT  rest; \
	PCALIGN $32; \
four: \
	MOVQ (DX), R10; \
	MOVQ 8(DX), R11; \
	MOVQ 16(DX), BX; \
	MOVQ 24(DX), R15; \
	PREFETCHT0 VALUES(DX); \
	ASK(0); \
	ASK(1); \
	ASK(2); \
	ASK(3); \
	CMPQ R10, R9; \
	JCC  rest; \
	CMPQ R11, R9; \
	JCC  rest; \
	CMPQ BX, R9; \
	JCC  rest; \
	CMPQ R15, R9; \
	JCC  rest; \
	SLICE(R10, MOVE); \
	SLICE(R11, MOVE); \
	SLICE(BX, MOVE); \
	SLICE(R15, MOVE); \
	ADDQ $32, DX; \
	SUBQ $4, CX; \
	JGE  four; \
rest: \
	ADDQ $4, CX; \
	JZ   out; \
one: \
	MOVQ (DX), R10; \
	CMPQ R10, R9; \
	JCC  out; \
	SLICE(R10, MOVE); \
	ADDQ $8, DX; \
	DECQ CX; \
	JNZ  one; \
out: \
	END; \
	MOVQ a+0(FP), AX; \
	MOVQ slicesArgs_n(AX), AX; \
	SUBQ CX, AX; \
	MOVQ AX, moved+8(FP); \
	RET

// VALUES is the prefetch distance of the values, in bytes: see STREAM.
#define VALUES 4096

// func rows1(a *rowsArgs)
TEXT ·rows1(SB), NOSPLIT, $0-8
	SHORT(KTH, MOVE1, PLAIN)

// func rows1Ahead(a *rowsArgs)
TEXT ·rows1Ahead(SB), NOSPLIT, $0-8
	SHORT(ASKONE, MOVE1, PLAIN)

// func rows2(a *rowsArgs)
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
TEXT ·rows33AVX2(SB), NOSPLIT, $0-8
	SHORT(KTH, MOVE33, VZEROUPPER)

// func rows33AheadAVX2(a *rowsArgs)
TEXT ·rows33AheadAVX2(SB), NOSPLIT, $0-8
	SHORT(ASKKTH, MOVE33, VZEROUPPER)

// func slices2(a *slicesArgs) (moved int)
TEXT ·slices2(SB), NOSPLIT, $0-16
	FROMVALUES(NOASK, MOVE2, PLAIN)

// func slices2Ahead(a *slicesArgs) (moved int)
TEXT ·slices2Ahead(SB), NOSPLIT, $0-16
	FROMVALUES(ASKENDS, MOVE2, PLAIN)

// func slices4(a *slicesArgs) (moved int)
TEXT ·slices4(SB), NOSPLIT, $0-16
	FROMVALUES(NOASK, MOVE4, PLAIN)

// func slices4Ahead(a *slicesArgs) (moved int)
TEXT ·slices4Ahead(SB), NOSPLIT, $0-16
	FROMVALUES(ASKLINE, MOVE4, PLAIN)

// func slices5(a *slicesArgs) (moved int)
TEXT ·slices5(SB), NOSPLIT, $0-16
	FROMVALUES(NOASK, MOVE5, PLAIN)

// func slices5Ahead(a *slicesArgs) (moved int)
TEXT ·slices5Ahead(SB), NOSPLIT, $0-16
	FROMVALUES(ASKENDS, MOVE5, PLAIN)

// func slices8(a *slicesArgs) (moved int)
TEXT ·slices8(SB), NOSPLIT, $0-16
	FROMVALUES(NOASK, MOVE8, PLAIN)

// func slices8Ahead(a *slicesArgs) (moved int)
TEXT ·slices8Ahead(SB), NOSPLIT, $0-16
	FROMVALUES(ASKLINE, MOVE8, PLAIN)

// func slices9(a *slicesArgs) (moved int)
TEXT ·slices9(SB), NOSPLIT, $0-16
	FROMVALUES(NOASK, MOVE9, PLAIN)

// func slices9Ahead(a *slicesArgs) (moved int)
TEXT ·slices9Ahead(SB), NOSPLIT, $0-16
	FROMVALUES(ASKENDS, MOVE9, PLAIN)

// func slices16(a *slicesArgs) (moved int)
TEXT ·slices16(SB), NOSPLIT, $0-16
	FROMVALUES(NOASK, MOVE16, PLAIN)

// func slices16Ahead(a *slicesArgs) (moved int)
TEXT ·slices16Ahead(SB), NOSPLIT, $0-16
	FROMVALUES(ASKLINE, MOVE16, PLAIN)

// func slices17(a *slicesArgs) (moved int)
TEXT ·slices17(SB), NOSPLIT, $0-16
	FROMVALUES(NOASK, MOVE17, PLAIN)

// func slices17Ahead(a *slicesArgs) (moved int)
TEXT ·slices17Ahead(SB), NOSPLIT, $0-16
	FROMVALUES(ASKENDS, MOVE17, PLAIN)

// func slices33AVX2(a *slicesArgs) (moved int)
TEXT ·slices33AVX2(SB), NOSPLIT, $0-16
	FROMVALUES(NOASK, MOVE33, VZEROUPPER)

// func slices33AheadAVX2(a *slicesArgs) (moved int)
TEXT ·slices33AheadAVX2(SB), NOSPLIT, $0-16
	FROMVALUES(ASKENDS, MOVE33, VZEROUPPER)

// func slices65AVX2(a *slicesArgs) (moved int)
TEXT ·slices65AVX2(SB), NOSPLIT, $0-16
	FROMVALUES(NOASK, MOVE65, VZEROUPPER)

// func slices65AheadAVX2(a *slicesArgs) (moved int)
TEXT ·slices65AheadAVX2(SB), NOSPLIT, $0-16
	FROMVALUES(ASKWHOLE, MOVE65, VZEROUPPER)

// Slices of 64 bytes and more are moved in blocks of 64 bytes. If the size is no
// multiple of 64, the last 64 bytes of the slice are moved too, and overlap a block.
//
// The hardware prefetcher watches the strides of each load instruction. One load
// in a loop over the blocks of a slice would train it to fetch memory behind the
// slice. So below 2048 bytes each block has its own load instruction: 16, 8, 4, 2
// and 1 blocks, by the bits of the size. In longer slices the useless lines are
// few and the useful ones many, so a loop moves two blocks per iteration.
//
// R12 is the number of bytes of the slice that are moved, R13 of those that remain.
// LINE(at) moves the block at offset at + R12.

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

// SOON prefetches a line of the slice in R15 a second time, shortly before its
// turn: its first prefetch may have been dropped. AGAIN(rows, none) sets R15 to the
// slice that comes that many rows later, or to the current one near the end.
#define SOON(at) PREFETCHT0 at(R15)(R12*1)
#define NOTSOON(at)

#define AGAIN(rows, none) \
	MOVQ AX, R15; \
	CMPQ CX, $rows; \
	JLE  none; \
	MOVQ (rows*8-8)(DX), R15; \
	ADDQ SI, R15; \
none:

// ROW moves all blocks of a slice.
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

// FEW is ROW for slices below 256 bytes. For them, testing the higher bits of the
// size would take longer than the move.
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

// LAST moves the last 64 bytes of a slice whose size is no multiple of 64.
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

// SLICES is the loop over slices of 64 bytes and more. FIND sets AX to the next
// slice, LINE moves a block, ASK and SOON prefetch.
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

// ASKEND prefetches the last line of a slice, which unaligned slices have in
// addition to one line per block.
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

// The forms of whole lines with non-temporal stores. Sizes and places are multiples
// of 64. They test all bits of the size, also for short slices: a tighter loop was
// a third slower, because it issues prefetches faster than memory serves them. The
// alignment of the loop is worth a tenth of its time.

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

// Adjacent slices of any size of 64 bytes and more, at any place, with non-temporal
// stores. A line that two slices share is joined in a register and stored once.
// The first and the last line of all are stored through the caches and under a
// mask, because other goroutines may write their other bytes.
//
//	DI  current line in dst              Z0  its bytes so far
//	R9  number of those bytes            Z2  VPERMB control that rotates a register by R9 bytes
//	R12 all ones                         Z3  0, 1, … 63
//	                                     K1  bytes from R9 on
//
// No byte outside a slice is loaded, not even under a mask: its line could be a
// cache miss.

DATA places<>+0(SB)/8, $0x0706050403020100
DATA places<>+8(SB)/8, $0x0f0e0d0c0b0a0908
DATA places<>+16(SB)/8, $0x1716151413121110
DATA places<>+24(SB)/8, $0x1f1e1d1c1b1a1918
DATA places<>+32(SB)/8, $0x2726252423222120
DATA places<>+40(SB)/8, $0x2f2e2d2c2b2a2928
DATA places<>+48(SB)/8, $0x3736353433323130
DATA places<>+56(SB)/8, $0x3f3e3d3c3b3a3938
GLOBL places<>(SB), RODATA|NOPTR, $64

// SHARED sets Z2 and K1 for R9. VPERMB takes the control's bytes modulo 64.
#define SHARED \
	VPBROADCASTB R9, Z2; \
	VPSUBB Z2, Z3, Z2; \
	SHLXQ R9, R12, R13; \
	KMOVQ R13, K1

// HEAD appends the first bytes of a slice to the line.
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

// SHARE is the loop over shorter slices. LOAD loads the first HALF and the last HALF
// bytes of a slice into Z1; Z4 maps a byte of the slice to its position there. TURNED
// rotates the slice by R9, so that its first byte follows the line's bytes; the
// bytes that do not fit wrap around to the beginning of the next line.
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

// TURNED loads and rotates the next slice and appends it to the line.
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
