// Package gguf implements what is done to the quantised tables of GGUF files:
// get_rows and dequantize.
//
// A table is a tensor of u8 whose last axis has the bytes of a row's blocks, which
// format/gguf reads with the option Blocks. Results are f32, bit for bit those of
// the Python package gguf.
package gguf
