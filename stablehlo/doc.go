// Package stablehlo implements StableHLO's gather and dynamic_gather with all
// dimension numbers. The start of a window is clamped so that the window lies
// inside the operand.
//
// The operators take data of any dtype and indices of any integer dtype, also
// where the specification lists fewer.
package stablehlo
