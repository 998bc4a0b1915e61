// Package torch implements PyTorch's gathers: gather, index_select, embedding,
// take and take_along_dim; bags: embedding_bag; and the rows of 8, 4 and 2 bits of FBGEMM:
// quantized_embedding, quantized_embedding_bag and quantized_embedding_unpack.
//
// Gathers take data of any dtype, and all operators indices of any integer dtype, also
// where the specification lists fewer. Bags take f16, bf16, f32, f64 and integers of
// 8 bits or more, and rows of FBGEMM are u8.
package torch
