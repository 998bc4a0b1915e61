// Package garner gathers slices of tensors.
//
// Every gather operator of every framework is one sentence:
//
//	out[b, o, n, :] = data[b, o, i_1(b,n) … i_k(b,n), :]
//
// for each batch b, each outer position o and each index tuple n, copy one
// slice of data. An [Op] knows the words that its framework puts around that
// sentence. It lowers them to a [Plan], which knows no framework. Whatever can
// move rows can execute a plan.
//
//	data := garner.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
//	at := garner.Of([]int64{2, 0}, 2)
//	out, err := garner.Gather(openvino.Gather8{Axis: 0}, data, at)
//	// out is [[5 6] [1 2]]
package garner
