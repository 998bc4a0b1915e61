// Package tflite implements the gathers of LiteRT (TensorFlow Lite): GATHER,
// GATHER_ND and EMBEDDING_LOOKUP. Every index outside is an error, also a negative one.
//
// The operators take data of any dtype and indices of any integer dtype, also
// where the specification lists fewer.
package tflite
