// Package onnx has the gathers of ONNX, every version of each: Gather,
// GatherElements, GatherND, and GatherND of the domain com.microsoft.
//
// Types are not narrowed: data of any dtype, indices of any integer dtype,
// also where the specification names fewer.
package onnx
