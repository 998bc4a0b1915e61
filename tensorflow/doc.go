// Package tensorflow implements TensorFlow's gathers: the raw operators GatherNd,
// Gather and GatherV2 under their own names, the functions gather_nd and gather
// as GatherNdFunc and GatherFunc, and batch_gather as BatchGather.
//
// An index outside is an error, as in TensorFlow on a CPU. On a GPU TensorFlow
// stores zeros, and garner.WithOutside(op, garner.Zero) does the same.
//
// The operators take data of any dtype and indices of any integer dtype, also
// where the specification lists fewer.
package tensorflow
