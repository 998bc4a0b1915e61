// Package webnn has the gathers of the Web Neural Network API: gather,
// gatherElements and gatherND. Negative indices count from the end, and an
// index outside means the nearest position that there is.
//
// Types are not narrowed: data of any dtype, indices of any integer dtype.
package webnn
