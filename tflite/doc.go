// Package tflite has the gathers of LiteRT (TensorFlow Lite): GATHER and
// GATHER_ND. A bad index, a negative one too, is an error.
//
// Types are not narrowed: data of any dtype, indices of any integer dtype.
package tflite
