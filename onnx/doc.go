// Package onnx implements every version of ONNX's gathers: Gather,
// GatherElements, GatherND, and of the domain com.microsoft GatherND and
// GatherBlockQuantized, whose data are codes with scales and zero points.
//
// Gathers take data of any dtype, and all operators indices of any integer dtype, also
// where the specification lists fewer. Codes are i4, u4, u8 of 8, 4 or 2 bits, f8 or
// f4e2m1.
package onnx
