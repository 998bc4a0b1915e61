package torch_test

import (
	"testing"

	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/torch"
)

// byteRows is [[0.5,1],[7,9]] in codes of 8 bits: scales 0.5 and 2, biases 0 and 1.
const byteRows = "u8[[1,2,0,0,0,63,0,0,0,0],[3,4,0,0,0,64,0,0,128,63]]"

func TestRulesOfQuantizedEmbedding(t *testing.T) {
	op := torch.QuantizedEmbedding{Bits: 8}
	ruletest.Run(t, []ruletest.Case{
		{Rule: "RQ.1", Op: torch.QuantizedEmbedding{Bits: 4}, Data: "u8[[33,0,60,0,0]]", Indices: "[0]", Want: "f32[[1,2]]"},
		{Rule: "RQ.1", Op: torch.QuantizedEmbedding{Bits: 2}, Data: byteRows, Indices: "[0]", Refuse: "attribute", Message: "bits 2; torch's quantized embedding takes 8 or 4"},
		{Rule: "RQ.1", Op: torch.QuantizedEmbedding{}, Data: byteRows, Indices: "[0]", Refuse: "attribute", Message: "bits is 0 or not given; rows of FBGEMM have codes of 8, 4 or 2"},

		{Rule: "RQ.2", Op: op, Data: byteRows, Indices: "[1]", Want: "f32[[7,9]]"},
		{Rule: "RQ.2", Op: op, Data: "i8[[1]]", Indices: "[0]", Refuse: "dtype", Message: "data is i8; blocks of FBGEMM are bytes"},
		{Rule: "RQ.2", Op: op, Data: "zeros u8[2,7]", Indices: "[0]", Refuse: "shape-mismatch", Message: "rows of data have 7 bytes; the scale and the bias of a row alone take 8"},

		{Rule: "RQ.3", Op: op, Data: byteRows, Indices: "[[1],[0]]", Want: "f32[[[7,9]],[[0.5,1]]]"},
		{Rule: "RQ.3", Op: op, Data: byteRows, Indices: "1", Want: "f32[7,9]"},
		{Rule: "RQ.3", Op: op, Data: "zeros u8[9]", Indices: "[0]", Refuse: "rank", Message: "needs 2 or more"},
		{Rule: "RQ.3", Op: op, Data: "zeros u8[1,1,9]", Indices: "[0]", Refuse: "rank", Message: "data has rank 3; an embedding's table is a matrix"},

		{Rule: "RQ.4", Op: op, Data: byteRows, Indices: "[0]", Want: "f32[[0.5,1]]"},
		{Rule: "RQ.4", Op: op, Data: byteRows, Indices: "[-1]", Refuse: "index-out-of-range", Message: "indices[0] = -1 is outside axis 0 of data, which has 0…1"},
	})
}

func TestRulesOfQuantizedEmbeddingBag(t *testing.T) {
	op := torch.QuantizedEmbeddingBag{Bits: 8}
	ruletest.Run(t, []ruletest.Case{
		{Rule: "RQB.1", Op: torch.QuantizedEmbeddingBag{Bits: 2}, Data: "u8[[228,0,60,0,0]]", Indices: "[[0,0]]", Want: "f32[[0,2,4,6]]"},
		{Rule: "RQB.1", Op: torch.QuantizedEmbeddingBag{}, Data: byteRows, Indices: "[0]", More: []string{"[0]", "f32[1]"}, Refuse: "attribute", Message: "bits is 0 or not given"},
		{Rule: "RQB.1", Op: torch.QuantizedEmbeddingBag{Bits: 3}, Data: byteRows, Indices: "[[0]]", Refuse: "attribute", Message: "bits 3; rows of FBGEMM"},

		{Rule: "RQB.2", Op: op, Data: byteRows, Indices: "[[0,1],[1,1]]", Want: "f32[[7.5,10],[14,18]]"},
		// Recorded with torch 2.15: sums of decoded rows are others.
		{Rule: "RQB.2", Op: op, Data: "u8[[195,0,16,118,62,192,32,12,64],[207,0,66,227,63,128,67,144,63]]", Indices: "[[0,1]]", Want: "f32[[417.6926574707031]]"},
		{Rule: "RQB.2", Op: op, Data: "u8[[195,0,16,118,62,192,32,12,64],[207,0,66,227,63,128,67,144,63]]", Indices: "[[0,1]]", More: []string{"", "f32[[1.611328125,1.22265625]]"}, Want: "f32[[529.7577514648438]]"},
		{Rule: "RQB.2", Op: torch.QuantizedEmbeddingBag{Bits: 4}, Data: "u8[[99,176,31,255,76],[200,6,75,35,62]]", Indices: "[[0,1]]", More: []string{"", "f32[[0.513671875,0.384765625]]"}, Want: "f32[[54.105316162109375,75.73590087890625]]"},
		{Rule: "RQB.2", Op: torch.QuantizedEmbeddingBag{Bits: 2}, Data: "u8[[239,18,56,150,45],[214,132,72,37,44]]", Indices: "[[0,1]]", More: []string{"", "f32[[1.86328125,0.904296875]]"}, Want: "f32[[19.39910125732422,11.232171058654785,10.284153938293457,27.56603240966797]]"},
		{Rule: "RQB.2", Op: op, Data: "[[1]]", Indices: "[[0]]", Refuse: "dtype", Message: "data is i64; blocks of FBGEMM are bytes"},
		{Rule: "RQB.2", Op: op, Data: "zeros u8[2,7]", Indices: "[[0]]", Refuse: "shape-mismatch", Message: "rows of data have 7 bytes"},

		{Rule: "RQB.3", Op: op, Data: byteRows, Indices: "[[0,1]]", More: []string{"", "f32[[2,0.5]]"}, Want: "f32[[4.5,6.5]]"},
		{Rule: "RQB.3", Op: op, Data: byteRows, Indices: "[[0,1]]", More: []string{"", "u8[[2,1]]"}, Refuse: "dtype", Message: "per_sample_weights is u8 and the elements of data f32; they must be equal"},
		{Rule: "RQB.3", Op: op, Data: byteRows, Indices: "[[0,1]]", More: []string{"", "f32[[2]]"}, Refuse: "shape-mismatch", Message: "per_sample_weights"},

		{Rule: "RQB.4", Op: op, Data: byteRows, Indices: "[[1]]", Want: "f32[[7,9]]"},
		{Rule: "RQB.4", Op: op, Data: "zeros u8[1,1,9]", Indices: "[[0]]", Refuse: "rank", Message: "has rank 3"},

		{Rule: "RQB.5", Op: op, Data: byteRows, Indices: "[1,0,1]", More: []string{"[0,2,2]"}, Want: "f32[[7.5,10],[0,0],[7,9]]"},
		{Rule: "RQB.5", Op: torch.QuantizedEmbeddingBag{Bits: 8, IncludeLastOffset: true}, Data: byteRows, Indices: "[1,0,1]", More: []string{"[0,2,3]"}, Want: "f32[[7.5,10],[7,9]]"},
		{Rule: "RQB.5", Op: op, Data: byteRows, Indices: "[1,0]", Refuse: "rank", Message: "offsets are not given"},

		{Rule: "RQB.6", Op: op, Data: byteRows, Indices: "[[1]]", Want: "f32[[7,9]]"},
		{Rule: "RQB.6", Op: op, Data: byteRows, Indices: "[[0,2]]", Refuse: "index-out-of-range", Message: "indices[0,1] = 2 is outside axis 0 of data, which has 0…1"},
	})
}

func TestRulesOfQuantizedEmbeddingUnpack(t *testing.T) {
	op := torch.QuantizedEmbeddingUnpack{Bits: 8}
	ruletest.Run(t, []ruletest.Case{
		{Rule: "RU.1", Op: torch.QuantizedEmbeddingUnpack{Bits: 2}, Data: "u8[[228,0,60,0,0]]", Want: "f32[[0,1,2,3]]"},
		{Rule: "RU.1", Op: torch.QuantizedEmbeddingUnpack{Bits: 16}, Data: byteRows, Refuse: "attribute", Message: "bits 16; rows of FBGEMM"},

		{Rule: "RU.2", Op: op, Data: byteRows, Want: "f32[[0.5,1],[7,9]]"},
		{Rule: "RU.2", Op: op, Data: "f32[1]", Refuse: "dtype", Message: "data is f32; blocks of FBGEMM are bytes"},
		{Rule: "RU.2", Op: op, Data: "zeros u8[7]", Refuse: "shape-mismatch", Message: "rows of data have 7 bytes"},

		{Rule: "RU.3", Op: op, Data: byteRows, Want: "f32[[0.5,1],[7,9]]"},
		{Rule: "RU.3", Op: op, Data: byteRows, Indices: "0", Refuse: "attribute", Message: "indices i64[] are given; the operator takes data alone"},

		// Recorded with torch 2.15. Rounded once the element is 15661.7861328125.
		{Rule: "RU.2", Op: op, Data: "u8[[24,195,36,35,68,6,16,202,38]]", Want: "f32[[15661.78515625]]"},
	})
}
