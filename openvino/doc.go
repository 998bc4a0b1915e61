// Package openvino implements the gathers of OpenVINO's operation sets: Gather-1,
// Gather-7, Gather-8, GatherND-5, GatherND-8 and GatherElements-6; the bags
// EmbeddingBagOffsetsSum-3, EmbeddingBagOffsets-15, EmbeddingBagPackedSum-3,
// EmbeddingBagPacked-15 and EmbeddingSegmentsSum-3; and the gather of compressed
// constants, which its models spell as Convert, Subtract, Multiply and Gather. Where
// OpenVINO's plugins depart from the specification, the package follows the
// specification.
//
// Gathers take data of any dtype, and all operators indices of any integer dtype, also
// where the specification lists fewer. Bags take f16, bf16, f32, f64 and integers of
// 8 bits or more, and compressed constants are integers of 4 or 8 bits, nf4 or f8.
package openvino
