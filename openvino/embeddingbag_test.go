package openvino_test

import (
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/openvino"
)

// table has the emb_table of the specification's examples.
const table = "f32[[-0.2,-0.6],[-0.1,-0.4],[-1.9,-1.8],[-1.0,1.5],[0.8,-0.7]]"

func row(n int) *int { return &n }

// offsetRules are the rules that both operators of offsets share.
func offsetRules(prefix string, op func(defaultIndex *int) garner.Op) []ruletest.Case {
	return ruletest.Of(prefix, []ruletest.Case{
		{Rule: "OBO.1 OBN.1", Op: op(nil), Data: "u8[[200],[100]]", Indices: "[0,1]", More: []string{"[0]"}, Want: "u8[[44]]"},
		{Rule: "OBO.1 OBN.1", Op: op(nil), Data: "u4[[2],[1]]", Indices: "[0,1]", More: []string{"[0]"}, Refuse: "dtype", Message: "data is u4"},

		{Rule: "OBO.2 OBN.3", Op: op(nil), Data: "[5,7]", Indices: "[0,1,1]", More: []string{"[0,2]"}, Want: "[12,7]"},
		{Rule: "OBO.2 OBN.3", Op: op(nil), Data: "5", Indices: "[0]", More: []string{"[0]"}, Refuse: "rank", Message: "data i64[] has rank 0"},
		{Rule: "OBO.2 OBN.3", Op: op(nil), Data: table, Indices: "[[0]]", More: []string{"[0]"}, Refuse: "rank", Message: "indices i64[1,1] have rank 2; bags of them need 1"},

		{Rule: "OBO.3 OBN.4", Op: op(nil), Data: "[5,7]", Indices: "[0,1,1]", More: []string{"u8[1,2]"}, Want: "[7,7]"},
		{Rule: "OBO.3 OBN.4", Op: op(nil), Data: table, Indices: "[0,1]", More: []string{"[[0]]"}, Refuse: "rank", Message: "offsets i64[1,1] have rank 2; they must be a vector"},
		{Rule: "OBO.3 OBN.4", Op: op(nil), Data: table, Indices: "[0,1]", More: []string{"[1,0]"}, Refuse: "shape-mismatch", Message: "offsets[1] = 0, and the one before is 1; they must not fall"},
		{Rule: "OBO.3 OBN.4", Op: op(nil), Data: table, Indices: "[0,1]", More: []string{"[0,3]"}, Refuse: "shape-mismatch", Message: "offsets[1] = 3 passes the end; there are 2 indices"},
		{Rule: "OBO.3 OBN.4", Op: op(nil), Data: table, Indices: "[0,9]", More: []string{"[-1]"}, Refuse: "shape-mismatch", Message: "offsets[0] = -1"},

		// The specification's example: sums of rows 0 and 2, of row 0, which is the default, and of rows 3 and 4.
		{Rule: "OBO.4 OBN.5", Op: op(row(0)), Data: table, Indices: "[0,2,3,4]", More: []string{"[0,2,2]", "f32[0.5,0.5,0.5,0.5]"}, Want: "f32[[-1.05,-1.2],[-0.2,-0.6],[-0.099999994,0.4]]"},
		{Rule: "OBO.4 OBN.5", Op: op(nil), Data: "f32[[-0.0]]", Indices: "[0]", More: []string{"[0]"}, Want: "f32[[-0.0]]"},
		{Rule: "OBO.4 OBN.5", Op: op(nil), Data: table, Indices: "[0,1]", More: []string{"[0]", "f32[1,2,3]"}, Refuse: "shape-mismatch", Message: "per_sample_weights"},
		{Rule: "OBO.4 OBN.5", Op: op(nil), Data: table, Indices: "[0,1]", More: []string{"[0]", "[1,2]"}, Refuse: "dtype", Message: "per_sample_weights is i64 and the elements of data f32"},

		{Rule: "OBO.5 OBN.6", Op: op(row(-1)), Data: "[5,7]", Indices: "[0]", More: []string{"[0,1]"}, Want: "[5,0]"},
		{Rule: "OBO.5 OBN.6", Op: op(row(2)), Data: "[5,7]", Indices: "[0]", More: []string{"[0]"}, Refuse: "index-out-of-range", Message: "default_index = 2 is outside axis 0 of data, which has 0…1"},
		{Rule: "OBO.5 OBN.6", Op: op(row(-2)), Data: "[5,7]", Indices: "[0]", More: []string{"[0]"}, Refuse: "index-out-of-range", Message: "default_index = -2"},

		{Rule: "OBO.6 OBN.7", Op: op(nil), Data: "[5,7]", Indices: "[0,1]", More: []string{"[0]"}, Want: "[12]"},
		{Rule: "OBO.6 OBN.7", Op: op(nil), Data: "[5,7]", Indices: "[2,1]", More: []string{"[1]"}, Refuse: "index-out-of-range", Message: "indices[0] = 2"}, // of no bag
		{Rule: "OBO.6 OBN.7", Op: op(row(9)), Data: "[5,7]", Indices: "[-1,1]", More: []string{"[1]"}, Refuse: "index-out-of-range", Message: "indices[0] = -1"},
	})
}

func TestRulesOfEmbeddingBagOffsetsSum3(t *testing.T) {
	ruletest.Run(t, offsetRules("OBO", func(d *int) garner.Op { return openvino.EmbeddingBagOffsetsSum3{DefaultIndex: d} }))
}

func TestRulesOfEmbeddingBagOffsets15(t *testing.T) {
	mean := openvino.EmbeddingBagOffsets15{Reduction: "mean"}
	cases := offsetRules("OBN", func(d *int) garner.Op { return openvino.EmbeddingBagOffsets15{DefaultIndex: d} })
	ruletest.Run(t, append(cases, []ruletest.Case{
		{Rule: "OBN.2", Op: mean, Data: "[[-3],[0]]", Indices: "[0,1]", More: []string{"[0]"}, Want: "[[-1]]"},
		{Rule: "OBN.2", Op: mean, Data: table, Indices: "[0,1]", More: []string{"[0]", "f32[1,2]"}, Refuse: "attribute", Message: "the reduction is mean"},
		{Rule: "OBN.2", Op: openvino.EmbeddingBagOffsets15{Reduction: "max"}, Data: table, Indices: "[0,1]", More: []string{"[0]"}, Refuse: "attribute", Message: `reduction "max"; there are sum and mean`},
	}...))
}

// packedRules are the rules that both operators of packed bags share.
func packedRules(prefix string, op garner.Op) []ruletest.Case {
	return ruletest.Of(prefix, []ruletest.Case{
		{Rule: "OBP.1 OBK.1", Op: op, Data: "i16[[-2],[1]]", Indices: "[[0,1]]", Want: "i16[[-1]]"},
		{Rule: "OBP.1 OBK.1", Op: op, Data: `[["a"]]`, Indices: "[[0]]", Refuse: "dtype", Message: "data is string"},

		{Rule: "OBP.2 OBK.3", Op: op, Data: "[5,7]", Indices: "[[0,1],[1,1]]", Want: "[12,14]"},
		{Rule: "OBP.2 OBK.3", Op: op, Data: table, Indices: "[0]", Refuse: "rank", Message: "indices i64[1] have rank 1; bags of them need 2"},

		{Rule: "OBP.3 OBK.4", Op: op, Data: table, Indices: "[[0,2],[1,2],[3,4]]", More: []string{"f32[[0.5,0.5],[0.5,0.5],[0.5,0.5]]"}, Want: "f32[[-1.05,-1.2],[-1.0,-1.1],[-0.099999994,0.4]]"},
		{Rule: "OBP.3 OBK.4", Op: op, Data: table, Indices: "zeros i64[2,0]", Want: "f32[[0,0],[0,0]]"},
		{Rule: "OBP.3 OBK.4", Op: op, Data: table, Indices: "[[0,2]]", More: []string{"f32[0.5,0.5]"}, Refuse: "shape-mismatch", Message: "per_sample_weights f32[2] have rank 1"},

		{Rule: "OBP.4 OBK.5", Op: op, Data: "[5,7]", Indices: "[[1]]", Want: "[7]"},
		{Rule: "OBP.4 OBK.5", Op: op, Data: "[5,7]", Indices: "[[1],[2]]", Refuse: "index-out-of-range", Message: "indices[1,0] = 2 is outside axis 0 of data, which has 0…1"},
	})
}

func TestRulesOfEmbeddingBagPackedSum3(t *testing.T) {
	ruletest.Run(t, packedRules("OBP", openvino.EmbeddingBagPackedSum3{}))
}

func TestRulesOfEmbeddingBagPacked15(t *testing.T) {
	mean := openvino.EmbeddingBagPacked15{Reduction: "mean"}
	ruletest.Run(t, append(packedRules("OBK", openvino.EmbeddingBagPacked15{}), []ruletest.Case{
		{Rule: "OBK.2", Op: mean, Data: "[[-3],[0]]", Indices: "[[0,1]]", Want: "[[-1]]"},
		{Rule: "OBK.2", Op: mean, Data: table, Indices: "[[0,1]]", More: []string{"f32[[1,2]]"}, Refuse: "attribute", Message: "the reduction is mean"},
	}...))
}

func TestRulesOfEmbeddingSegmentsSum3(t *testing.T) {
	op := func(n int, d *int) garner.Op { return openvino.EmbeddingSegmentsSum3{NumSegments: n, DefaultIndex: d} }
	ruletest.Run(t, []ruletest.Case{
		{Rule: "OBS.1", Op: op(1, nil), Data: "f16[[2],[1]]", Indices: "[0,1]", More: []string{"[0,0]"}, Want: "f16[[3]]"},
		{Rule: "OBS.1", Op: op(1, nil), Data: "f8e5m2[[2],[1]]", Indices: "[0,1]", More: []string{"[0,0]"}, Refuse: "dtype", Message: "data is f8e5m2"},

		{Rule: "OBS.2", Op: op(1, nil), Data: "[5,7]", Indices: "[0,1]", More: []string{"[0,0]"}, Want: "[12]"},
		{Rule: "OBS.2", Op: op(1, nil), Data: "[5,7]", Indices: "0", More: []string{"[0]"}, Refuse: "rank", Message: "indices i64[] have rank 0; bags of them need 1"},

		{Rule: "OBS.3", Op: op(4, nil), Data: "[5,7]", Indices: "[0,1]", More: []string{"i8[1,3]"}, Want: "[0,5,0,7]"},
		{Rule: "OBS.3", Op: op(3, nil), Data: "[5,7]", Indices: "[0,1]", More: []string{"[0]"}, Refuse: "shape-mismatch", Message: "segment_ids i64[1] and 2 in indices"},
		{Rule: "OBS.3", Op: op(3, nil), Data: "[5,7]", Indices: "[0,1]", More: []string{"[[0,0],[0,0]]"}, Refuse: "shape-mismatch", Message: "segment_ids i64[2,2] have rank 2"},
		{Rule: "OBS.3", Op: op(3, nil), Data: "[5,7]", Indices: "[0,9]", More: []string{"[2,1]"}, Refuse: "shape-mismatch", Message: "segment_ids[1] = 1, and the one before is 2; they must not fall"},
		{Rule: "OBS.3", Op: op(3, nil), Data: "[5,7]", Indices: "[0,1,1]", More: []string{"[0,3,4]"}, Refuse: "index-out-of-range", Message: "segment_ids[1] = 3 is outside the result, which has bags 0…2 (1 more of 3 indices is outside)"},
		{Rule: "OBS.3", Op: op(3, nil), Data: "[5,7]", Indices: "[0,1]", More: []string{"[-1,0]"}, Refuse: "index-out-of-range", Message: "segment_ids[0] = -1"},

		{Rule: "OBS.4", Op: op(3, row(0)), Data: table, Indices: "[0,2,3,4]", More: []string{"[0,0,2,2]", "f32[0.5,0.5,0.5,0.5]"}, Want: "f32[[-1.05,-1.2],[-0.2,-0.6],[-0.099999994,0.4]]"},
		{Rule: "OBS.4", Op: op(3, row(0)), Data: table, Indices: "[0,2]", More: []string{"[0,0]", "f32[[0.5,0.5]]"}, Refuse: "shape-mismatch", Message: "per_sample_weights f32[1,2] have rank 2"},

		{Rule: "OBS.5", Op: op(0, nil), Data: "[5,7]", Indices: "zeros i64[0]", More: []string{"zeros i64[0]"}, Want: "zeros i64[0]"},
		{Rule: "OBS.5", Op: op(-1, nil), Data: "[5,7]", Indices: "[0]", More: []string{"[0]"}, Refuse: "attribute", Message: "num_segments -1; it may be 0 or more"},

		{Rule: "OBS.6", Op: op(1, row(-1)), Data: "[5,7]", Indices: "[1]", More: []string{"[0]"}, Want: "[7]"},
		{Rule: "OBS.6", Op: op(2, row(-1)), Data: "[5,7]", Indices: "[1]", More: []string{"[0]"}, Refuse: "index-out-of-range", Message: "default_index = -1 is outside axis 0 of data"},
		{Rule: "OBS.6", Op: op(1, row(2)), Data: "[5,7]", Indices: "[1]", More: []string{"[0]"}, Refuse: "index-out-of-range", Message: "default_index = 2"},

		{Rule: "OBS.7", Op: op(1, nil), Data: "[5,7]", Indices: "[1]", More: []string{"[0]"}, Want: "[7]"},
		{Rule: "OBS.7", Op: op(1, nil), Data: "[5,7]", Indices: "[2]", More: []string{"[0]"}, Refuse: "index-out-of-range", Message: "indices[0] = 2"},
	})
}
