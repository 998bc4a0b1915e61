// Package torch implements PyTorch's gathers: gather, index_select, embedding,
// take and take_along_dim.
//
// The operators take data of any dtype and indices of any integer dtype, also
// where the specification lists fewer.
package torch
