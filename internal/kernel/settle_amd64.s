//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// The forms of Settle: eight values per iteration; n is a positive multiple
// of 8. The sign bits of the values are the mask of the addition.
//
//	DI  to                R8  from
//	CX  n                 DX  settled values
//	                      Z16, Y8   dim - 1
//	                      Z17, Y9   dim
//	                      Z18, Y10  added to negative values
//	                      Z19, Y11  0

// STREAM is the prefetch distance of the values, in bytes, as that of Elements.
#define STREAM 4096

#define SARGS \
	MOVQ a+0(FP), AX; \
	MOVQ settleArgs_to(AX), DI; \
	MOVQ settleArgs_from(AX), R8; \
	MOVQ settleArgs_n(AX), CX; \
	MOVQ settleArgs_dim(AX), BX; \
	MOVQ settleArgs_add(AX), SI; \
	XORL DX, DX

#define SDONE \
	VZEROUPPER; \
	MOVQ DX, settled+8(FP); \
	RET

// SETTLE512 broadcasts the arguments.
#define SETTLE512 \
	VPBROADCASTQ BX, Z17; \
	VPBROADCASTQ SI, Z18; \
	DECQ BX; \
	VPBROADCASTQ BX, Z16; \
	VPXORQ Z19, Z19, Z19

// func clampAVX512(a *settleArgs) (settled int)
TEXT ·clampAVX512(SB), NOSPLIT, $0-16
	SARGS
	SETTLE512
loop:
	VMOVDQU64 (R8)(DX*8), Z0
	PREFETCHT0 STREAM(R8)(DX*8)
	VPMOVQ2M  Z0, K1
	VPADDQ    Z18, Z0, K1, Z0
	VPMAXSQ   Z19, Z0, Z0
	VPMINSQ   Z16, Z0, Z0
	VMOVDQU64 Z0, (DI)(DX*8)
	ADDQ      $8, DX
	CMPQ      DX, CX
	JB        loop
	SDONE

// func wrapAVX512(a *settleArgs) (settled int)
TEXT ·wrapAVX512(SB), NOSPLIT, $0-16
	SARGS
	SETTLE512
loop:
	VMOVDQU64 (R8)(DX*8), Z0
	PREFETCHT0 STREAM(R8)(DX*8)
	VPMOVQ2M  Z0, K1
	VPADDQ    Z18, Z0, K1, Z0
	VPCMPQ    $5, Z17, Z0, K1      // at least dim
	VPSUBQ    Z17, Z0, K1, Z0
	VPCMPUQ   $5, Z17, Z0, K2
	KORTESTB  K2, K2
	JNZ       out
	VMOVDQU64 Z0, (DI)(DX*8)
	ADDQ      $8, DX
	CMPQ      DX, CX
	JB        loop
out:
	SDONE

// SETTLE2 broadcasts the arguments.
#define SETTLE2 \
	VMOVQ        BX, X9; \
	VPBROADCASTQ X9, Y9; \
	VMOVQ        SI, X10; \
	VPBROADCASTQ X10, Y10; \
	DECQ         BX; \
	VMOVQ        BX, X8; \
	VPBROADCASTQ X8, Y8; \
	VPXOR        Y11, Y11, Y11

// CLAMP2 settles the four values of v: the compares are the masks of what is added,
// and of what is kept.
#define CLAMP2(v, mask) \
	VPCMPGTQ  v, Y11, mask; \
	VPAND     Y10, mask, mask; \
	VPADDQ    mask, v, v; \
	VPCMPGTQ  v, Y11, mask; \
	VPANDN    v, mask, v; \
	VPCMPGTQ  Y8, v, mask; \
	VPBLENDVB mask, Y8, v, v

// func clampAVX2(a *settleArgs) (settled int)
TEXT ·clampAVX2(SB), NOSPLIT, $0-16
	SARGS
	SETTLE2
loop:
	VMOVDQU (R8)(DX*8), Y0
	VMOVDQU 32(R8)(DX*8), Y1
	PREFETCHT0 STREAM(R8)(DX*8)
	CLAMP2(Y0, Y2)
	CLAMP2(Y1, Y3)
	VMOVDQU Y0, (DI)(DX*8)
	VMOVDQU Y1, 32(DI)(DX*8)
	ADDQ    $8, DX
	CMPQ    DX, CX
	JB      loop
	SDONE

// WRAP2 settles the four values of v; the sign bits of bad are those that remain
// outside.
#define WRAP2(v, bad) \
	VPCMPGTQ v, Y11, bad; \
	VPAND    Y10, bad, bad; \
	VPADDQ   bad, v, v; \
	VPCMPGTQ Y8, v, bad; \
	VPAND    Y9, bad, bad; \
	VPSUBQ   bad, v, v; \
	VPCMPGTQ Y8, v, bad; \
	VPOR     v, bad, bad

// func wrapAVX2(a *settleArgs) (settled int)
TEXT ·wrapAVX2(SB), NOSPLIT, $0-16
	SARGS
	SETTLE2
loop:
	VMOVDQU   (R8)(DX*8), Y0
	VMOVDQU   32(R8)(DX*8), Y1
	PREFETCHT0 STREAM(R8)(DX*8)
	WRAP2(Y0, Y2)
	WRAP2(Y1, Y3)
	VPOR      Y2, Y3, Y2
	VMOVMSKPD Y2, AX
	TESTL     AX, AX
	JNZ       out
	VMOVDQU   Y0, (DI)(DX*8)
	VMOVDQU   Y1, 32(DI)(DX*8)
	ADDQ      $8, DX
	CMPQ      DX, CX
	JB        loop
out:
	SDONE
