// Package tensorflow has the gathers of TensorFlow: the raw operators GatherNd,
// Gather and GatherV2 under their own names, and the functions gather_nd,
// gather and batch_gather as Func types.
//
// A bad index is an error, which is the operators' meaning on a CPU; on a GPU
// TensorFlow stores zeros: garner.WithOutside(op, garner.Zero) gives that.
package tensorflow
