package torch

import "github.com/garner-go/garner"

// QuantizedEmbeddingBag is torch.ops.quantized.embedding_bag_byte_rowwise_offsets,
// embedding_bag_4bit_rowwise_offsets and embedding_bag_2bit_rowwise_offsets: rows of a
// table of FBGEMM, decoded and added, bag by bag. Bags are those of [EmbeddingBag].
//
//	out[b, :] = Σ unpack(data[input[i], :]) · per_sample_weights[i] for each i of bag b
//
// Spec: https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/quantized/cpu/qembeddingbag.cpp
type QuantizedEmbeddingBag struct {
	Bits              int  `attr:"bits"`                // of a code: 8, 4 or 2
	IncludeLastOffset bool `attr:"include_last_offset"` // offsets has one element more, the end of the last bag
}

// Operands returns offsets and per_sample_weights.
func (QuantizedEmbeddingBag) Operands() []garner.Operand { return EmbeddingBag{}.Operands() }

// Lower spends the operands' axes; see garner.Op.
func (q QuantizedEmbeddingBag) Lower(l *garner.Lowering) {
	l.StoredRows(q.Bits) // RQB.1, RQB.2
	// RQB.3, RQB.4, RQB.5, RQB.6
	EmbeddingBag{Mode: "sum", IncludeLastOffset: q.IncludeLastOffset}.Lower(l)
}
