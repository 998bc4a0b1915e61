// Package onnx implements every version of ONNX's gathers: Gather,
// GatherElements, GatherND, and GatherND of the domain com.microsoft.
//
// The operators take data of any dtype and indices of any integer dtype, also
// where the specification lists fewer.
package onnx
