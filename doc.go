// Package garner gathers slices of tensors.
//
// Every gather operator of every framework is one sentence:
//
//	out[b, o, n, :] = data[b, o, i_1(b,n) … i_k(b,n), :]
//
// for each batch b, each outer position o and each index tuple n, copy one
// slice of data. An [Op] states that sentence in its framework's terms. It
// lowers to a [Plan], which knows no framework. Anything that can move rows can
// execute a plan.
//
//	data := garner.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
//	at := garner.Of([]int64{2, 0}, 2)
//	out, err := garner.Gather(openvino.Gather8{Axis: 0}, data, at)
//	// out is [[5 6] [1 2]]
//
// # The ways in
//
//   - Tensors in memory: [Of] and [FromBytes] make a [Tensor] that views your
//     memory, [Gather] runs an operator over it, and [Prepare] checks and plans a
//     gather that runs many times. A [Prepared] allocates nothing and is safe for
//     concurrent use.
//   - Bags and stored data: operators that reduce rows, or decode them, are run in
//     the same way. What they take after the indices, such as the offsets of bags or
//     the scales of codes, are the last arguments of [Gather] and [Prepared.Run], and
//     [Further] gives Prepare their specs. [RunAll] runs one Prepared for each table.
//   - Go slices: [Lookup] copies rows of one []T into another, and [Rows],
//     [ToRows] and [FromRows] convert between slices and tensors.
//   - Files: files.Open opens an array of any format without reading it, and
//     files.Create writes one. source.Gather and source.Table gather from arrays
//     that may be larger than memory.
//   - Models: files.OpenModel reads a model and infers its gathers, and package
//     lint reports those that other runtimes answer differently.
//
// The operators are types of the dialect packages openvino, onnx, tensorflow,
// numpy, torch, webnn, tflite, stablehlo, jax and gguf. Package strict has garner's
// own, which refuse every index outside. operators.Parse finds an operator by
// its name, such as "onnx.Gather-13".
package garner
