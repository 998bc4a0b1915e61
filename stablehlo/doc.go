// Package stablehlo has StableHLO's gather and dynamic_gather, with full
// dimension numbers. A window's start is moved so that the window lies inside
// the operand.
//
// Types are not narrowed: data of any dtype, indices of any integer dtype.
package stablehlo
