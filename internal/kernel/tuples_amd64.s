//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// The forms of Tuples: eight tuples per iteration; n is a positive multiple of 8. The
// sign bits of the values are the mask of the addition that makes negative values
// count from the end. A tuple with an invalid component gets the row -1.
//
//	DI  next row                         Z16, Z17, Z18  the axes' dims
//	SI  next value                       Z19, Z20, Z21  added to negative values: the dims, or 0
//	CX  remaining rows                   Z22, Z23, Z24  the axes' strides
//	DX  the axes                         Z31, Z30       base + j·step of the eight rows; 8 steps
//	BX  count of invalid tuples          Z29, Z28       -1; -1 if negative values count from the end, else 0
//	AX  the arguments, then scratch      K3             invalid tuples of the eight

DATA counts<>+0(SB)/8, $0
DATA counts<>+8(SB)/8, $1
DATA counts<>+16(SB)/8, $2
DATA counts<>+24(SB)/8, $3
DATA counts<>+32(SB)/8, $4
DATA counts<>+40(SB)/8, $5
DATA counts<>+48(SB)/8, $6
DATA counts<>+56(SB)/8, $7
GLOBL counts<>(SB), RODATA|NOPTR, $64

// pairs selects the first components of eight pairs from the 16 values of two
// registers. The second components are at these positions + 1.
DATA pairs<>+0(SB)/8, $0
DATA pairs<>+8(SB)/8, $2
DATA pairs<>+16(SB)/8, $4
DATA pairs<>+24(SB)/8, $6
DATA pairs<>+32(SB)/8, $8
DATA pairs<>+40(SB)/8, $10
DATA pairs<>+48(SB)/8, $12
DATA pairs<>+56(SB)/8, $14
GLOBL pairs<>(SB), RODATA|NOPTR, $64

// triples selects the c-th components of eight triples from the first 16 of their
// 24 values, in two registers; these fill five or six lanes. thirds then keeps
// those lanes and fills the others from the third register (positions 8 … 15).
DATA triples<>+0(SB)/8, $0
DATA triples<>+8(SB)/8, $3
DATA triples<>+16(SB)/8, $6
DATA triples<>+24(SB)/8, $9
DATA triples<>+32(SB)/8, $12
DATA triples<>+40(SB)/8, $15
DATA triples<>+48(SB)/8, $0
DATA triples<>+56(SB)/8, $0
DATA triples<>+64(SB)/8, $1
DATA triples<>+72(SB)/8, $4
DATA triples<>+80(SB)/8, $7
DATA triples<>+88(SB)/8, $10
DATA triples<>+96(SB)/8, $13
DATA triples<>+104(SB)/8, $0
DATA triples<>+112(SB)/8, $0
DATA triples<>+120(SB)/8, $0
DATA triples<>+128(SB)/8, $2
DATA triples<>+136(SB)/8, $5
DATA triples<>+144(SB)/8, $8
DATA triples<>+152(SB)/8, $11
DATA triples<>+160(SB)/8, $14
DATA triples<>+168(SB)/8, $0
DATA triples<>+176(SB)/8, $0
DATA triples<>+184(SB)/8, $0
GLOBL triples<>(SB), RODATA|NOPTR, $192

DATA thirds<>+0(SB)/8, $0
DATA thirds<>+8(SB)/8, $1
DATA thirds<>+16(SB)/8, $2
DATA thirds<>+24(SB)/8, $3
DATA thirds<>+32(SB)/8, $4
DATA thirds<>+40(SB)/8, $5
DATA thirds<>+48(SB)/8, $10
DATA thirds<>+56(SB)/8, $13
DATA thirds<>+64(SB)/8, $0
DATA thirds<>+72(SB)/8, $1
DATA thirds<>+80(SB)/8, $2
DATA thirds<>+88(SB)/8, $3
DATA thirds<>+96(SB)/8, $4
DATA thirds<>+104(SB)/8, $8
DATA thirds<>+112(SB)/8, $11
DATA thirds<>+120(SB)/8, $14
DATA thirds<>+128(SB)/8, $0
DATA thirds<>+136(SB)/8, $1
DATA thirds<>+144(SB)/8, $2
DATA thirds<>+152(SB)/8, $3
DATA thirds<>+160(SB)/8, $4
DATA thirds<>+168(SB)/8, $9
DATA thirds<>+176(SB)/8, $12
DATA thirds<>+184(SB)/8, $15
GLOBL thirds<>(SB), RODATA|NOPTR, $192

// TARGS loads the arguments that all forms use.
#define TARGS \
	MOVQ a+0(FP), AX; \
	MOVQ tuplesArgs_rows(AX), DI; \
	MOVQ tuplesArgs_values(AX), SI; \
	MOVQ tuplesArgs_n(AX), CX; \
	VMOVDQU64 counts<>(SB), Z31; \
	VPBROADCASTQ tuplesArgs_step(AX), Z30; \
	VPMULLQ Z30, Z31, Z31; \
	VPSLLQ $3, Z30, Z30; \
	VPBROADCASTQ tuplesArgs_base(AX), Z0; \
	VPADDQ Z0, Z31, Z31; \
	VPTERNLOGQ $255, Z29, Z29, Z29; \
	MOVQ tuplesArgs_axes(AX), DX; \
	VPBROADCASTQ tuplesArgs_fromEnd(AX), Z28; \
	XORL BX, BX

// AXIS broadcasts the dim and the stride of the c-th axis.
#define AXIS(c, dim, add, stride) \
	VPBROADCASTQ (c*Component__size+Component_Dim)(DX), dim; \
	VPBROADCASTQ (c*Component__size+Component_Stride)(DX), stride; \
	VPANDQ dim, Z28, add

// BEGIN sets Z0 to base + j·step of eight rows.
#define BEGIN \
	VMOVDQA64 Z31, Z0; \
	VPADDQ Z30, Z31, Z31

// COMPONENT checks one component of eight tuples and adds its offset to their rows.
#define COMPONENT(value, dim, add, stride) \
	VPMOVQ2M value, K1; \
	VPADDQ add, value, K1, value; \
	VPCMPUQ $5, dim, value, K2; \
	VPMULLQ stride, value, value; \
	KORB K2, K3, K3; \
	VPADDQ value, Z0, Z0

// END stores eight rows, counts the invalid ones and closes the loop.
#define END \
	VMOVDQA64 Z29, K3, Z0; \
	KMOVB K3, AX; \
	POPCNTL AX, AX; \
	ADDQ AX, BX; \
	VMOVDQU64 Z0, (DI); \
	ADDQ $64, DI; \
	SUBQ $8, CX; \
	JNZ loop; \
	VZEROUPPER; \
	MOVQ BX, outside+8(FP); \
	RET

#define TUPLES1(load, size) \
	TARGS; \
	AXIS(0, Z16, Z19, Z22); \
loop: \
	load (SI), Z1; \
	BEGIN; \
	KXORB K3, K3, K3; \
	COMPONENT(Z1, Z16, Z19, Z22); \
	ADDQ $(8*size), SI; \
	END

#define TUPLES2(load, size) \
	TARGS; \
	AXIS(0, Z16, Z19, Z22); \
	AXIS(1, Z17, Z20, Z23); \
	VMOVDQU64 pairs<>(SB), Z9; \
	VPSUBQ Z29, Z9, Z10; \
loop: \
	load (SI), Z3; \
	load 8*size(SI), Z4; \
	BEGIN; \
	KXORB K3, K3, K3; \
	VMOVDQA64 Z9, Z1; \
	VPERMI2Q Z4, Z3, Z1; \
	VPERMT2Q Z4, Z10, Z3; \
	COMPONENT(Z1, Z16, Z19, Z22); \
	COMPONENT(Z3, Z17, Z20, Z23); \
	ADDQ $(16*size), SI; \
	END

#define TUPLES3(load, size) \
	TARGS; \
	AXIS(0, Z16, Z19, Z22); \
	AXIS(1, Z17, Z20, Z23); \
	AXIS(2, Z18, Z21, Z24); \
	VMOVDQU64 triples<>(SB), Z9; \
	VMOVDQU64 triples<>+64(SB), Z10; \
	VMOVDQU64 triples<>+128(SB), Z11; \
	VMOVDQU64 thirds<>(SB), Z12; \
	VMOVDQU64 thirds<>+64(SB), Z13; \
	VMOVDQU64 thirds<>+128(SB), Z14; \
loop: \
	load (SI), Z3; \
	load 8*size(SI), Z4; \
	load 16*size(SI), Z5; \
	BEGIN; \
	KXORB K3, K3, K3; \
	VMOVDQA64 Z9, Z1; \
	VPERMI2Q Z4, Z3, Z1; \
	VMOVDQA64 Z10, Z2; \
	VPERMI2Q Z4, Z3, Z2; \
	VPERMT2Q Z4, Z11, Z3; \
	VPERMT2Q Z5, Z12, Z1; \
	VPERMT2Q Z5, Z13, Z2; \
	VPERMT2Q Z5, Z14, Z3; \
	COMPONENT(Z1, Z16, Z19, Z22); \
	COMPONENT(Z2, Z17, Z20, Z23); \
	COMPONENT(Z3, Z18, Z21, Z24); \
	ADDQ $(24*size), SI; \
	END

// TUPLES takes tuples of four to six components. Eight tuples are the rows of an
// 8 × 8 matrix; its transpose has one component of all eight in a register. A
// masked load sets components that the tuples do not have to 0, which is valid in
// the axes that the caller adds for them.
#define EVEN(a, b, to) VSHUFI64X2 $0x88, b, a, to
#define ODD(a, b, to)  VSHUFI64X2 $0xdd, b, a, to

#define TUPLES(load, size) \
	TARGS; \
	AXIS(0, Z9, Z10, Z11); \
	AXIS(1, Z12, Z13, Z14); \
	AXIS(2, Z15, Z16, Z17); \
	AXIS(3, Z18, Z19, Z20); \
	AXIS(4, Z21, Z22, Z23); \
	AXIS(5, Z24, Z25, Z26); \
	MOVQ CX, R9; \
	MOVQ tuplesArgs_k(AX), CX; \
	MOVL $1, AX; \
	SHLL CX, AX; \
	DECL AX; \
	KMOVB AX, K4; \
	IMULQ $size, CX; \
	MOVQ CX, R10; \
	LEAQ (R10)(R10*2), R11; \
	LEAQ (R10)(R10*4), R12; \
	LEAQ (R11)(R10*4), R13; \
	MOVQ R9, CX; \
loop: \
	load (SI), K4, Z1; \
	load (SI)(R10*1), K4, Z2; \
	load (SI)(R10*2), K4, Z3; \
	load (SI)(R11*1), K4, Z4; \
	load (SI)(R10*4), K4, Z5; \
	load (SI)(R12*1), K4, Z6; \
	load (SI)(R11*2), K4, Z7; \
	load (SI)(R13*1), K4, Z8; \
	BEGIN; \
	KXORB K3, K3, K3; \
	VPUNPCKLQDQ Z2, Z1, Z27; \
	VPUNPCKHQDQ Z2, Z1, Z1; \
	VPUNPCKLQDQ Z4, Z3, Z2; \
	VPUNPCKHQDQ Z4, Z3, Z3; \
	VPUNPCKLQDQ Z6, Z5, Z4; \
	VPUNPCKHQDQ Z6, Z5, Z5; \
	VPUNPCKLQDQ Z8, Z7, Z6; \
	VPUNPCKHQDQ Z8, Z7, Z7; \
	EVEN(Z27, Z2, Z8); \
	ODD(Z27, Z2, Z27); \
	EVEN(Z4, Z6, Z2); \
	ODD(Z4, Z6, Z4); \
	EVEN(Z8, Z2, Z6); \
	COMPONENT(Z6, Z9, Z10, Z11); \
	ODD(Z8, Z2, Z8); \
	COMPONENT(Z8, Z21, Z22, Z23); \
	EVEN(Z27, Z4, Z27); \
	COMPONENT(Z27, Z15, Z16, Z17); \
	EVEN(Z1, Z3, Z8); \
	ODD(Z1, Z3, Z1); \
	EVEN(Z5, Z7, Z3); \
	ODD(Z5, Z7, Z5); \
	EVEN(Z8, Z3, Z7); \
	COMPONENT(Z7, Z12, Z13, Z14); \
	ODD(Z8, Z3, Z8); \
	COMPONENT(Z8, Z24, Z25, Z26); \
	EVEN(Z1, Z5, Z1); \
	COMPONENT(Z1, Z18, Z19, Z20); \
	LEAQ (SI)(R10*8), SI; \
	END

// func tuples1of8AVX512(a *tuplesArgs) (outside int)
TEXT ·tuples1of8AVX512(SB), NOSPLIT, $0-16
	TUPLES1(VMOVDQU64, 8)

// func tuples2of8AVX512(a *tuplesArgs) (outside int)
TEXT ·tuples2of8AVX512(SB), NOSPLIT, $0-16
	TUPLES2(VMOVDQU64, 8)

// func tuples3of8AVX512(a *tuplesArgs) (outside int)
TEXT ·tuples3of8AVX512(SB), NOSPLIT, $0-16
	TUPLES3(VMOVDQU64, 8)

// func tuplesOf8AVX512(a *tuplesArgs) (outside int)
TEXT ·tuplesOf8AVX512(SB), NOSPLIT, $0-16
	TUPLES(VMOVDQU64.Z, 8)

// func tuples1of4AVX512(a *tuplesArgs) (outside int)
TEXT ·tuples1of4AVX512(SB), NOSPLIT, $0-16
	TUPLES1(VPMOVSXDQ, 4)

// func tuples2of4AVX512(a *tuplesArgs) (outside int)
TEXT ·tuples2of4AVX512(SB), NOSPLIT, $0-16
	TUPLES2(VPMOVSXDQ, 4)

// func tuples3of4AVX512(a *tuplesArgs) (outside int)
TEXT ·tuples3of4AVX512(SB), NOSPLIT, $0-16
	TUPLES3(VPMOVSXDQ, 4)

// func tuplesOf4AVX512(a *tuplesArgs) (outside int)
TEXT ·tuplesOf4AVX512(SB), NOSPLIT, $0-16
	TUPLES(VPMOVSXDQ.Z, 4)
