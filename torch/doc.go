// Package torch has PyTorch's gathers: gather, index_select, embedding, take
// and take_along_dim.
//
// Types are not narrowed: data of any dtype, indices of any integer dtype.
package torch
