// Package webnn implements the gathers of the Web Neural Network API: gather,
// gatherElements and gatherND. Negative indices count from the end, and an index
// outside is clamped to its axis.
//
// The operators take data of any dtype and indices of any integer dtype, also
// where the specification lists fewer.
package webnn
