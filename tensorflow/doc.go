// Package tensorflow implements TensorFlow's gathers: the raw operators GatherNd,
// Gather and GatherV2 under their own names, the functions gather_nd and gather
// as GatherNdFunc and GatherFunc, and batch_gather as BatchGather. Its bags are
// embedding_lookup_sparse, safe_embedding_lookup_sparse, and sparse_segment_sum, _mean
// and _sqrtn.
//
// An index outside is an error, as in TensorFlow on a CPU. On a GPU TensorFlow
// stores zeros, and garner.WithOutside(op, garner.Zero) does the same.
//
// Gathers take data of any dtype, and all operators indices of any integer dtype, also
// where the specification lists fewer. Bags take f16, bf16, f32, f64 and, but for sqrtn,
// integers of 8 bits or more.
package tensorflow
