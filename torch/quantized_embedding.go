package torch

import "github.com/garner-go/garner"

// QuantizedEmbedding is torch.ops.quantized.embedding_byte and embedding_4bit: rows
// of a table of FBGEMM, decoded. data is u8; a row has the codes of its columns and
// then their scale and bias.
//
//	out[i…j, :] = unpack(data[indices[i…j], :])
//
// A negative index is an error.
//
// Spec: https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/quantized/cpu/qembeddingbag.cpp
type QuantizedEmbedding struct {
	Bits int `attr:"bits"` // of a code: 8 or 4
}

// Lower spends the operands' axes; see garner.Op.
func (q QuantizedEmbedding) Lower(l *garner.Lowering) {
	if q.Bits == 2 { // RQ.1
		l.FailAttribute("bits 2; torch's quantized embedding takes 8 or 4, its bags and unpack also 2")
	}
	l.StoredRows(q.Bits) // RQ.1, RQ.2
	l.NeedRanks(2, 0)    // RQ.3
	if l.Data().Rank.Min > 2 {
		l.Fail(garner.KindRank, "data has rank %d; an embedding's table is a matrix", l.Data().Rank.Min)
	}
	l.LimitRanks(2, garner.Unbounded)
	l.Gather()                // the rows
	l.Tuples()                // i … j
	l.Copy()                  // the columns
	l.Negative(garner.Reject) // RQ.4
	l.Outside(garner.Error)   // RQ.4
}
