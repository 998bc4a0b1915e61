//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// The scalar forms of Elements: one index value of 8 or 4 bytes per iteration.
// They stop at the first value outside 0 … dim-1 and return how many elements they
// have moved.
//
//	DI  next place in dst                R8   dim
//	SI  src                              R9   added to negative values: dim, or 0
//	DX  next value                       R10  prefetch distance in bytes of values
//	CX  remaining values

#define EARGS \
	MOVQ a+0(FP), AX; \
	MOVQ elementsArgs_dst(AX), DI; \
	MOVQ elementsArgs_src(AX), SI; \
	MOVQ elementsArgs_values(AX), DX; \
	MOVQ elementsArgs_n(AX), CX; \
	MOVQ elementsArgs_dim(AX), R8; \
	MOVQ elementsArgs_fromEnd(AX), R9; \
	MOVQ elementsArgs_ahead(AX), R10

// STREAM is the prefetch distance of the values themselves, in bytes. They are
// read in order, but the hardware prefetcher starts too late on each block.
#define STREAM 4096

// CHECK turns the value in AX into a position, and leaves the loop if it is
// outside 0 … dim-1.
#define CHECK \
	MOVQ AX, R12; \
	SARQ $63, R12; \
	ANDQ R9, R12; \
	ADDQ R12, AX; \
	CMPQ AX, R8; \
	JCC  out

// DONE returns how many elements were moved.
#define DONE \
	MOVQ a+0(FP), AX; \
	MOVQ elementsArgs_n(AX), AX; \
	SUBQ CX, AX; \
	MOVQ AX, moved+8(FP); \
	RET

#define ELEMENTS(load, width, move, size) \
loop: \
	load (DX), AX; \
	PREFETCHT0 STREAM(DX); \
	CHECK; \
	move (SI)(AX*size), R13; \
	move R13, (DI); \
	ADDQ $width, DX; \
	ADDQ $size, DI; \
	DECQ CX; \
	JNZ  loop; \
out: \
	DONE

#define ELEMENTSAHEAD(load, width, move, size) \
loop: \
	load (DX), AX; \
	load (DX)(R10*1), BX; \
	PREFETCHT0 STREAM(DX)(R10*1); \
	MOVQ BX, R13; \
	SARQ $63, R13; \
	ANDQ R9, R13; \
	ADDQ R13, BX; \
	CHECK; \
	PREFETCHT0 (SI)(BX*size); \
	move (SI)(AX*size), R13; \
	move R13, (DI); \
	ADDQ $width, DX; \
	ADDQ $size, DI; \
	DECQ CX; \
	JNZ  loop; \
out: \
	DONE

// func elements1of8(a *elementsArgs) (moved int)
TEXT ·elements1of8(SB), NOSPLIT, $0-16
	EARGS
	ELEMENTS(MOVQ, 8, MOVB, 1)

// func elements1of8Ahead(a *elementsArgs) (moved int)
TEXT ·elements1of8Ahead(SB), NOSPLIT, $0-16
	EARGS
	ELEMENTSAHEAD(MOVQ, 8, MOVB, 1)

// func elements2of8(a *elementsArgs) (moved int)
TEXT ·elements2of8(SB), NOSPLIT, $0-16
	EARGS
	ELEMENTS(MOVQ, 8, MOVW, 2)

// func elements2of8Ahead(a *elementsArgs) (moved int)
TEXT ·elements2of8Ahead(SB), NOSPLIT, $0-16
	EARGS
	ELEMENTSAHEAD(MOVQ, 8, MOVW, 2)

// func elements4of8(a *elementsArgs) (moved int)
TEXT ·elements4of8(SB), NOSPLIT, $0-16
	EARGS
	ELEMENTS(MOVQ, 8, MOVL, 4)

// func elements4of8Ahead(a *elementsArgs) (moved int)
TEXT ·elements4of8Ahead(SB), NOSPLIT, $0-16
	EARGS
	ELEMENTSAHEAD(MOVQ, 8, MOVL, 4)

// func elements8of8(a *elementsArgs) (moved int)
TEXT ·elements8of8(SB), NOSPLIT, $0-16
	EARGS
	ELEMENTS(MOVQ, 8, MOVQ, 8)

// func elements8of8Ahead(a *elementsArgs) (moved int)
TEXT ·elements8of8Ahead(SB), NOSPLIT, $0-16
	EARGS
	ELEMENTSAHEAD(MOVQ, 8, MOVQ, 8)

// func elements1of4(a *elementsArgs) (moved int)
TEXT ·elements1of4(SB), NOSPLIT, $0-16
	EARGS
	ELEMENTS(MOVLQSX, 4, MOVB, 1)

// func elements1of4Ahead(a *elementsArgs) (moved int)
TEXT ·elements1of4Ahead(SB), NOSPLIT, $0-16
	EARGS
	ELEMENTSAHEAD(MOVLQSX, 4, MOVB, 1)

// func elements2of4(a *elementsArgs) (moved int)
TEXT ·elements2of4(SB), NOSPLIT, $0-16
	EARGS
	ELEMENTS(MOVLQSX, 4, MOVW, 2)

// func elements2of4Ahead(a *elementsArgs) (moved int)
TEXT ·elements2of4Ahead(SB), NOSPLIT, $0-16
	EARGS
	ELEMENTSAHEAD(MOVLQSX, 4, MOVW, 2)

// func elements4of4(a *elementsArgs) (moved int)
TEXT ·elements4of4(SB), NOSPLIT, $0-16
	EARGS
	ELEMENTS(MOVLQSX, 4, MOVL, 4)

// func elements4of4Ahead(a *elementsArgs) (moved int)
TEXT ·elements4of4Ahead(SB), NOSPLIT, $0-16
	EARGS
	ELEMENTSAHEAD(MOVLQSX, 4, MOVL, 4)

// func elements8of4(a *elementsArgs) (moved int)
TEXT ·elements8of4(SB), NOSPLIT, $0-16
	EARGS
	ELEMENTS(MOVLQSX, 4, MOVQ, 8)

// func elements8of4Ahead(a *elementsArgs) (moved int)
TEXT ·elements8of4Ahead(SB), NOSPLIT, $0-16
	EARGS
	ELEMENTSAHEAD(MOVLQSX, 4, MOVQ, 8)

// func prefetchLines(p *byte, n int)
TEXT ·prefetchLines(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX
loop:
	PREFETCHT0 (SI)
	ADDQ $64, SI
	DECQ CX
	JNZ  loop
	RET
