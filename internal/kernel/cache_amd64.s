//go:build !purego

#include "textflag.h"

// func cpuid(r *uint32, leaf, subleaf uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-16
	MOVQ r+0(FP), DI
	MOVL leaf+8(FP), AX
	MOVL subleaf+12(FP), CX
	CPUID
	MOVL AX, 0(DI)
	MOVL BX, 4(DI)
	MOVL CX, 8(DI)
	MOVL DX, 12(DI)
	RET
