package torch_test

import (
	"testing"

	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/torch"
)

func TestRulesOfEmbeddingBag(t *testing.T) {
	const table = "f32[[1,2],[3,4],[5,6]]"
	sum := torch.EmbeddingBag{Mode: "sum"}
	ruletest.Run(t, []ruletest.Case{
		{Rule: "REB.1", Op: sum, Data: "i8[[100,-1],[100,-2]]", Indices: "[[0,1]]", Want: "i8[[-56,-3]]"},
		{Rule: "REB.1", Op: torch.EmbeddingBag{}, Data: "[[-3,4],[0,1]]", Indices: "[[0,1]]", Want: "[[-1,2]]"},
		{Rule: "REB.1", Op: sum, Data: "[[true,false]]", Indices: "[[0]]", Refuse: "dtype", Message: "data is bool"},
		{Rule: "REB.1", Op: sum, Data: "[[true,false]]", Indices: "[[0]]", More: []string{"", "", "1"}, Refuse: "dtype", Message: "data is bool"},

		{Rule: "REB.2", Op: torch.EmbeddingBag{}, Data: table, Indices: "[[0,1]]", Want: "f32[[2,3]]"},
		{Rule: "REB.2", Op: torch.EmbeddingBag{Mode: "max"}, Data: "f32[[1],[NaN],[-2]]", Indices: "[[0,1],[2,0]]", Want: "f32[[1],[1]]"},
		{Rule: "REB.2", Op: torch.EmbeddingBag{Mode: "min"}, Data: table, Indices: "[[0,1]]", Refuse: "attribute", Message: `mode "min"; there are sum, mean and max`},

		{Rule: "REB.3", Op: sum, Data: table, Indices: "[[0,1]]", More: []string{"", "f32[[2,-1]]"}, Want: "f32[[-1,0]]"},
		{Rule: "REB.3", Op: torch.EmbeddingBag{}, Data: table, Indices: "[[0,1]]", More: []string{"", "f32[[2,-1]]"}, Refuse: "attribute", Message: "the mode is mean"},

		{Rule: "REB.4", Op: torch.EmbeddingBag{PaddingIdx: at(-1)}, Data: table, Indices: "[[0,2],[2,2]]", Want: "f32[[1,2],[0,0]]"},
		{Rule: "REB.4", Op: torch.EmbeddingBag{PaddingIdx: at(3)}, Data: table, Indices: "[[0,2]]", Refuse: "attribute", Message: "padding_idx 3 of data f32[3,2]; it may be -3…2"},

		{Rule: "REB.5", Op: sum, Data: table, Indices: "[2,0]", More: []string{"[0]"}, Want: "f32[[6,8]]"},
		{Rule: "REB.5", Op: sum, Data: "f32[1,2]", Indices: "[[0]]", Refuse: "rank", Message: "data f32[2] has rank 1"},
		{Rule: "REB.5", Op: sum, Data: table, Indices: "[[[0]]]", Refuse: "rank", Message: "indices i64[1,1,1] have rank 3"},

		{Rule: "REB.6", Op: torch.EmbeddingBag{Mode: "sum", IncludeLastOffset: true}, Data: table, Indices: "[2,0,1]", More: []string{"i32[0,1,2]"}, Want: "f32[[5,6],[1,2]]"},
		{Rule: "REB.6", Op: sum, Data: table, Indices: "[2,0]", Refuse: "rank", Message: "offsets are not given"},
		{Rule: "REB.6", Op: sum, Data: table, Indices: "[[2,0]]", More: []string{"[0]"}, Refuse: "rank", Message: "indices i64[1,2] have rank 2 and offsets are given; leave them out"},
		{Rule: "REB.6", Op: sum, Data: table, Indices: "[2,0]", More: []string{"[1]"}, Refuse: "shape-mismatch", Message: "offsets[0] = 1; the first bag must begin at 0"},
		{Rule: "REB.6", Op: torch.EmbeddingBag{IncludeLastOffset: true}, Data: table, Indices: "[2,0]", More: []string{"zeros i64[0]"}, Refuse: "shape-mismatch", Message: "have no element"},

		// The results that follow were recorded with torch 2.15.
		{Rule: "REB.7", Op: sum, Data: "f16[[2048],[1]]", Indices: "[0,1,1]", More: []string{"[0]"}, Want: "f16[[2050]]"},
		{Rule: "REB.7", Op: sum, Data: "bf16[[256],[1]]", Indices: "[0,1,1]", More: []string{"[0]"}, Want: "bf16[[258]]"},
		{Rule: "REB.7", Op: torch.EmbeddingBag{}, Data: "f16[[-0.195556640625],[-0.9658203125],[0.42236328125]]", Indices: "[0,1,2]", More: []string{"[0]"}, Want: "f16[[-0.2464599609375]]"},
		{Rule: "REB.7", Op: torch.EmbeddingBag{}, Data: "bf16[[0.326171875],[-0.478515625],[1.3828125]]", Indices: "[0,1,2]", More: []string{"[0]"}, Want: "bf16[[0.412109375]]"},
		{Rule: "REB.7", Op: sum, Data: "f32[[-0.0]]", Indices: "[0]", More: []string{"[0,0,1]"}, Want: "f32[[0],[0],[0]]"},
		{Rule: "REB.7", Op: sum, Data: table, Indices: "[0,1]", More: []string{"[0]", "f32[1]"}, Refuse: "shape-mismatch", Message: "per_sample_weights f32[1] and 2 in indices i64[2]"},

		// Recorded with torch 2.15: the sums that are rounded twice are others.
		{Rule: "REB.7", Op: sum, Data: "f32[[4.807861328125],[3.205078125]]", Indices: "[[0,1]]", More: []string{"", "f32[[0.98443603515625,1.02740478515625]]"}, Want: "f32[[8.025944709777832]]"},
		{Rule: "REB.7", Op: torch.EmbeddingBag{Mode: "sum", PaddingIdx: at(2)}, Data: "f32[[4.807861328125],[3.205078125],[0]]", Indices: "[[0,1]]", More: []string{"", "f32[[0.98443603515625,1.02740478515625]]"}, Want: "f32[[8.025943756103516]]"},
		{Rule: "REB.7", Op: sum, Data: "bf16[[256,-256],[1,-1]]", Indices: "[[0,1]]", Want: "bf16[[258,-258]]"},
		{Rule: "REB.7", Op: torch.EmbeddingBag{}, Data: "bf16[[256],[1]]", Indices: "[[0,1]]", Want: "bf16[[129]]"},
		{Rule: "REB.7", Op: torch.EmbeddingBag{Mode: "sum", PaddingIdx: at(2)}, Data: "bf16[[256],[1],[0]]", Indices: "[[0,1]]", Want: "bf16[[256]]"},

		{Rule: "REB.8", Op: sum, Data: table, Indices: "[0,2]", More: []string{"[0]"}, Want: "f32[[6,8]]"},
		{Rule: "REB.8", Op: sum, Data: table, Indices: "[0,-1]", More: []string{"[0]"}, Refuse: "index-out-of-range", Message: "indices[1] = -1 is outside axis 0 of data, which has 0…2"},
		{Rule: "REB.8", Op: torch.EmbeddingBag{IncludeLastOffset: true}, Data: table, Indices: "[0,3]", More: []string{"[0,1]"}, Refuse: "index-out-of-range", Message: "indices[1] = 3"}, // also of no bag
	})
}
