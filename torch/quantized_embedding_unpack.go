package torch

import "github.com/garner-go/garner"

// QuantizedEmbeddingUnpack is torch.ops.quantized.embedding_bag_byte_unpack,
// embedding_bag_4bit_unpack and embedding_bag_2bit_unpack: a table of FBGEMM, decoded
// whole. It takes no indices.
//
// Spec: https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/quantized/cpu/qembeddingbag_unpack.cpp
type QuantizedEmbeddingUnpack struct {
	Bits int `attr:"bits"` // of a code: 8, 4 or 2
}

// Lower spends the operands' axes; see garner.Op.
func (q QuantizedEmbeddingUnpack) Lower(l *garner.Lowering) {
	l.UnpackedRows(q.Bits) // RU.1, RU.2
	l.Copy()
}

// Unindexed says that there are no indices; see garner.Unindexed.
func (QuantizedEmbeddingUnpack) Unindexed() {} // RU.3
