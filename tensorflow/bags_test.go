package tensorflow_test

import (
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/tensorflow"
)

func number(n int) *int { return &n }

// lookupRules are the rules that both lookups share.
func lookupRules(prefix string, op func(combiner string) garner.Op) []ruletest.Case {
	const table = "f32[[1,2],[3,4],[5,6]]"
	return ruletest.Of(prefix, []ruletest.Case{
		{Rule: "TES.1 TSS.1", Op: op("sum"), Data: "i32[[1],[2]]", Indices: "[0,1]", More: []string{"[[0,0],[0,1]]"}, Want: "i32[[3]]"},
		{Rule: "TES.1 TSS.1", Op: op("sqrtn"), Data: "i32[[1],[2]]", Indices: "[0,1]", More: []string{"[[0,0],[0,1]]"}, Refuse: "dtype", Message: "data must be a float"},
		{Rule: "TES.1 TSS.1", Op: op("sqrtn"), Data: "i32[[1],[2]]", Indices: "[0]", More: []string{"[[0,0]]", "i32[1]"}, Refuse: "dtype", Message: "data must be a float"},
		{Rule: "TES.1 TSS.1", Op: op("mean"), Data: "i32[[1,5],[-3,-7]]", Indices: "[0,1]", More: []string{"[[0,0],[0,1]]", "i32[2,3]"}, Want: "i32[[-1,-2]]"},

		{Rule: "TES.2 TSS.2", Op: op(""), Data: table, Indices: "[0,1]", More: []string{"[[0,0],[0,1]]"}, Want: "f32[[2,3]]"},
		{Rule: "TES.2 TSS.2", Op: op("max"), Data: table, Indices: "[0,1]", More: []string{"[[0,0],[0,1]]"}, Refuse: "attribute", Message: `combiner "max"; there are sum, mean and sqrtn`},

		{Rule: "TES.3 TSS.3", Op: op("sum"), Data: "f64[5,7]", Indices: "[0,1]", More: []string{"[[0,0],[0,1]]"}, Want: "f64[12]"},
		{Rule: "TES.3 TSS.3", Op: op("sum"), Data: table, Indices: "0", More: []string{"[[0,0]]"}, Refuse: "rank", Message: "indices i64[] have rank 0"},
		{Rule: "TES.3 TSS.3", Op: op("sum"), Data: table, Indices: "[[0]]", More: []string{"[[0,0]]"}, Refuse: "rank", Message: "bags of them need 1"},

		{Rule: "TES.4 TSS.4", Op: op("sum"), Data: table, Indices: "[2]", More: []string{"i32[[0,5]]"}, Want: "f32[[5,6]]"},
		{Rule: "TES.4 TSS.4", Op: op("sum"), Data: table, Indices: "[2]", More: []string{"[0]"}, Refuse: "shape-mismatch", Message: "ids_indices i64[1] have rank 1"},
		{Rule: "TES.4 TSS.4", Op: op("sum"), Data: table, Indices: "[2]", More: []string{"zeros i64[1,0]"}, Refuse: "shape-mismatch", Message: "have no column"},
		{Rule: "TES.4 TSS.4", Op: op("sum"), Data: table, Indices: "[2,1]", More: []string{"[[1,0],[0,0]]"}, Refuse: "shape-mismatch", Message: "ids_indices[1,0] = 0, and the one before is 1"},
		{Rule: "TES.4 TSS.4", Op: op("sum"), Data: table, Indices: "[2]", More: []string{"[[-1,0]]"}, Refuse: "index-out-of-range", Message: "ids_indices[0,0] = -1 is outside the result"},

		{Rule: "TES.5 TSS.5", Op: op("sum"), Data: "f32[[-0.0]]", Indices: "[0,0]", More: []string{"[[0,0],[0,1]]"}, Want: "f32[[-0.0]]"}, // as TensorFlow 2.21 gives
		{Rule: "TES.5 TSS.5", Op: op("sum"), Data: "f32[[-0.0]]", Indices: "[0,0]", More: []string{"[[0,0],[0,1]]", "f32[1,1]"}, Want: "f32[[0]]"},
		{Rule: "TES.5 TSS.5", Op: op("mean"), Data: "f32[1,2,4]", Indices: "[0,1]", More: []string{"[[0,0],[0,1]]", "f32[1,3]"}, Want: "f32[1.75]"},
		{Rule: "TES.5 TSS.5", Op: op("sqrtn"), Data: "f32[1,2,4]", Indices: "[0,1]", More: []string{"[[0,0],[0,1]]", "f32[3,4]"}, Want: "f32[2.2]"},
		{Rule: "TES.5 TSS.5", Op: op("sum"), Data: "f16[2048,1]", Indices: "[0,1,1]", More: []string{"[[0,0],[0,1],[0,2]]"}, Want: "f16[2050]"},
		{Rule: "TES.5", Op: tensorflow.EmbeddingLookupSparse{Combiner: "mean"}, Data: "f16[[1,-1],[2,0]]", Indices: "[0,1,0,1]", More: []string{"[[0,0],[0,1],[1,2],[1,3]]", "f16[0.001,0.003,0.1,0.2]"}, Want: "f16[[1.75,-0.25],[1.6669921875,-0.333251953125]]"},
		{Rule: "TES.5", Op: tensorflow.EmbeddingLookupSparse{Combiner: "mean"}, Data: "f32[[1,-1],[2,0]]", Indices: "[0,1,0,1]", More: []string{"[[0,0],[0,1],[1,2],[1,3]]", "f32[1,-1,2,2]"}, Want: "f32[[0,0],[1.5,-0.5]]"},
		{Rule: "TES.5", Op: tensorflow.EmbeddingLookupSparse{Combiner: "mean"}, Data: "f64[[1,-1],[2,nan]]", Indices: "[0,1]", More: []string{"[[0,0],[0,1]]", "f64[0,-0.0]"}, Want: "f64[[0,0]]"},
		{Rule: "TES.5", Op: tensorflow.EmbeddingLookupSparse{Combiner: "mean"}, Data: "i64[9007199254740993]", Indices: "[0]", More: []string{"[[0,0]]", "i64[1]"}, Want: "i64[9007199254740992]"},
		{Rule: "TES.5", Op: tensorflow.EmbeddingLookupSparse{Combiner: "mean"}, Data: "i64[9223372036854775807]", Indices: "[0]", More: []string{"[[0,0]]", "i64[1]"}, Want: "i64[-9223372036854775808]"},
		{Rule: "TES.5", Op: tensorflow.EmbeddingLookupSparse{Combiner: "mean"}, Data: "i64[-9223372036854775808]", Indices: "[0]", More: []string{"[[0,0]]", "i64[-1]"}, Want: "i64[-9223372036854775808]"},
		{Rule: "TES.5", Op: tensorflow.EmbeddingLookupSparse{Combiner: "mean"}, Data: "i64[3074457345618258602,9]", Indices: "[0,1]", More: []string{"[[0,0],[0,1]]", "i64[3,-7]"}, Want: "i64[-2305843009213693952]"},
		{Rule: "TES.5", Op: tensorflow.EmbeddingLookupSparse{Combiner: "mean"}, Data: "i64[4611686018427387905]", Indices: "[0]", More: []string{"[[0,0]]", "i64[3]"}, Want: "i64[-1537228672809129216]"},
		{Rule: "TES.5", Op: tensorflow.EmbeddingLookupSparse{Combiner: "mean"}, Data: "u64[18446744073709551615]", Indices: "[0]", More: []string{"[[0,0]]", "u64[1]"}, Want: "u64[9223372036854775808]"},
		{Rule: "TES.5", Op: tensorflow.EmbeddingLookupSparse{Combiner: "mean"}, Data: "u64[18446744073709551615]", Indices: "[0]", More: []string{"[[0,0]]", "u64[3]"}, Want: "u64[6148914691236516864]"},
		{Rule: "TES.5", Op: tensorflow.EmbeddingLookupSparse{Combiner: "mean"}, Data: "u64[18446744073709549568]", Indices: "[0]", More: []string{"[[0,0]]", "u64[1]"}, Want: "u64[18446744073709549568]"},
		{Rule: "TES.5", Op: tensorflow.EmbeddingLookupSparse{Combiner: "mean"}, Data: "u64[18446744073709551615,18446744073709551613]", Indices: "[0,1]", More: []string{"[[0,0],[0,1]]", "u64[3,5]"}, Want: "u64[2305843009213693952]"},
		{Rule: "TES.5", Op: tensorflow.EmbeddingLookupSparse{Combiner: "mean"}, Data: "i32[-2147483648]", Indices: "[0]", More: []string{"[[0,0]]", "i32[-1]"}, Want: "i32[-2147483648]"},
		{Rule: "TES.5", Op: tensorflow.EmbeddingLookupSparse{Combiner: "sqrtn"}, Data: "f16[1,2]", Indices: "[0,1]", More: []string{"[[0,0],[0,1]]", "f16[0,0]"}, Want: "f16[0]"},
		{Rule: "TES.5", Op: tensorflow.EmbeddingLookupSparse{Combiner: "sqrtn"}, Data: "bf16[1,2]", Indices: "[0,1]", More: []string{"[[0,0],[0,1]]", "bf16[1e-30,0]"}, Want: "bf16[0]"},
		{Rule: "TSS.5", Op: op("sqrtn"), Data: "f32[1,2]", Indices: "[0,1]", More: []string{"[[0,0],[0,1]]", "f32[1e-30,1e-30]"}, Want: "f32[0]"},
		{Rule: "TES.5 TSS.5", Op: op("mean"), Data: "f32[1]", Indices: "[0,0,0]", More: []string{"[[0,0],[0,1],[0,2]]"}, Want: "f32[1]"},
		{Rule: "TES.5 TSS.5", Op: op("sum"), Data: table, Indices: "[2]", More: []string{"[[0,0]]", "f32[[1]]"}, Refuse: "shape-mismatch", Message: "weights f32[1,1] have rank 2"},

		{Rule: "TES.6 TSS.6", Op: op("sum"), Data: "f64[5,7]", Indices: "[1]", More: []string{"[[0,0]]"}, Want: "f64[7]"},
		{Rule: "TES.6 TSS.6", Op: op("sum"), Data: "f64[5,7]", Indices: "[2]", More: []string{"[[0,0]]"}, Refuse: "index-out-of-range", Message: "indices[0] = 2 is outside axis 0 of data, which has 0…1"},
	})
}

func TestRulesOfEmbeddingLookupSparse(t *testing.T) {
	op := func(combiner string) garner.Op { return tensorflow.EmbeddingLookupSparse{Combiner: combiner} }
	cases := append(lookupRules("TES", op), []ruletest.Case{
		// TensorFlow 2.21's answers: products, sums and sums of weights wrap.
		{Rule: "TES.5", Op: op("mean"), Data: "i8[[1,5],[-30,-70],[-9,4]]", Indices: "[0,1,2,1,0]", More: []string{"[[0,0],[0,1],[1,0],[2,0],[2,1]]", "i8[100,3,100,100,100]"}, Want: "i8[[0,0],[1,-1],[1,1]]"},
		{Rule: "TES.5", Op: op("mean"), Data: "i64[[1,5],[-3,-7],[-9,4]]", Indices: "[0,1,2,1,0]", More: []string{"[[0,0],[0,1],[1,0],[2,0],[2,1]]", "[2,3,2,1,-4]"}, Want: "[[-1,-2],[-9,4],[2,9]]"},
		{Rule: "TES.5", Op: op("mean"), Data: "i16[[1,5],[-3,-7],[-9,4]]", Indices: "[0,1,2,1,0]", More: []string{"[[0,0],[0,1],[1,0],[2,0],[2,1]]", "i16[2,3,2,1,-1]"}, Want: "i16[[-1,-2],[-9,4],[0,0]]"},
		{Rule: "TES.5", Op: op("mean"), Data: "u8[[1,5],[3,7],[9,4]]", Indices: "[0,1,2,1,0]", More: []string{"[[0,0],[0,1],[1,0],[2,0],[2,1]]", "u8[200,100,2,0,0]"}, Want: "u8[[5,3],[9,4],[0,0]]"},
		{Rule: "TES.6", Op: op("sum"), Data: "f64[5,7]", Indices: "[-1]", More: []string{"[[0,0]]"}, Refuse: "index-out-of-range", Message: "indices[0] = -1"},
	}...)
	runOpen(t, cases)
}

func TestRulesOfSafeEmbeddingLookupSparse(t *testing.T) {
	safe := func(s tensorflow.SafeEmbeddingLookupSparse, bags int) garner.Op {
		s.DenseShape = []int{bags, 9}
		return s
	}
	cases := lookupRules("TSS", func(combiner string) garner.Op {
		return safe(tensorflow.SafeEmbeddingLookupSparse{Combiner: combiner}, 1)
	})
	ruletest.Run(t, append(cases, []ruletest.Case{
		{Rule: "TSS.4", Op: safe(tensorflow.SafeEmbeddingLookupSparse{}, 3), Data: "f64[5,7]", Indices: "[1]", More: []string{"[[1,0]]"}, Want: "f64[0,7,0]"},
		{Rule: "TSS.4", Op: safe(tensorflow.SafeEmbeddingLookupSparse{}, 3), Data: "f64[5,7]", Indices: "[1]", More: []string{"[[3,0]]"}, Refuse: "index-out-of-range", Message: "ids_indices[0,0] = 3"},

		{Rule: "TSS.7", Op: safe(tensorflow.SafeEmbeddingLookupSparse{}, 1), Data: "f64[5,7]", Indices: "[-1,1,99]", More: []string{"[[0,0],[0,1],[0,2]]", "f64[1,2,0]"}, Want: "f64[7]"},
		{Rule: "TSS.7", Op: safe(tensorflow.SafeEmbeddingLookupSparse{Combiner: "sum"}, 1), Data: "f64[5,7]", Indices: "[-1,1,0]", More: []string{"[[0,0],[0,1],[0,2]]", "f64[1,2,-1]"}, Want: "f64[9]"},
		{Rule: "TSS.7", Op: safe(tensorflow.SafeEmbeddingLookupSparse{Combiner: "sum"}, 1), Data: "f64[5,7]", Indices: "[-1,1,99]", More: []string{"[[0,0],[0,1],[0,2]]", "f64[1,2,0]"}, Refuse: "index-out-of-range", Message: "indices[2] = 99"},

		{Rule: "TSS.8", Op: safe(tensorflow.SafeEmbeddingLookupSparse{DefaultID: number(1)}, 2), Data: "f64[5,7]", Indices: "[-1]", More: []string{"[[0,0]]"}, Want: "f64[7,7]"},
		{Rule: "TSS.8", Op: safe(tensorflow.SafeEmbeddingLookupSparse{DefaultID: number(9)}, 1), Data: "f64[5,7]", Indices: "[0]", More: []string{"[[0,0]]"}, Want: "f64[5]"},
		{Rule: "TSS.8", Op: safe(tensorflow.SafeEmbeddingLookupSparse{DefaultID: number(9)}, 2), Data: "f64[5,7]", Indices: "[0]", More: []string{"[[0,0]]"}, Refuse: "index-out-of-range", Message: "default_id = 9 is outside axis 0 of data, which has 0…1"},
	}...))
}

// segmentRules are the rules that the reductions of segments share.
func segmentRules(prefix string, op func(numSegments *int) garner.Op) []ruletest.Case {
	return ruletest.Of(prefix, []ruletest.Case{
		{Rule: "TSG.1 TSM.1 TSQ.1", Op: op(number(1)), Data: "f16[[2]]", Indices: "[0]", More: []string{"[0]"}, Want: "f16[[2]]"},
		{Rule: "TSG.1 TSM.1 TSQ.1", Op: op(number(1)), Data: "complex64[[2]]", Indices: "[0]", More: []string{"[0]"}, Refuse: "dtype", Message: "data is complex64"},

		{Rule: "TSG.2 TSM.2 TSQ.2", Op: op(number(1)), Data: "f32[5]", Indices: "[0]", More: []string{"[0]"}, Want: "f32[5]"},
		{Rule: "TSG.2 TSM.2 TSQ.2", Op: op(number(1)), Data: "f32[5]", Indices: "[[0]]", More: []string{"[0]"}, Refuse: "rank", Message: "bags of them need 1"},

		{Rule: "TSG.3 TSM.3 TSQ.3", Op: op(number(3)), Data: "f32[5,-0.0]", Indices: "[0,1]", More: []string{"[0,2]"}, Want: "f32[5,0,-0.0]"},
		{Rule: "TSG.3 TSM.3 TSQ.3", Op: op(number(3)), Data: "f32[5]", Indices: "[0]", More: []string{"[3]"}, Refuse: "index-out-of-range", Message: "segment_ids[0] = 3"},
		{Rule: "TSG.3 TSM.3 TSQ.3", Op: op(number(3)), Data: "f32[5]", Indices: "[0]", More: []string{"[[1]]"}, Refuse: "shape-mismatch", Message: "segment_ids i64[1,1] have rank 2"},

		{Rule: "TSG.4 TSM.4 TSQ.4", Op: op(number(0)), Data: "f32[5]", Indices: "zeros i64[0]", More: []string{"zeros i64[0]"}, Want: "zeros f32[0]"},
		{Rule: "TSG.4 TSM.4 TSQ.4", Op: op(number(-1)), Data: "f32[5]", Indices: "[0]", More: []string{"[0]"}, Refuse: "attribute", Message: "num_segments -1"},

		{Rule: "TSG.5 TSM.5 TSQ.5", Op: op(number(1)), Data: "f32[5,6]", Indices: "[1]", More: []string{"[0]"}, Want: "f32[6]"},
		{Rule: "TSG.5 TSM.5 TSQ.5", Op: op(number(1)), Data: "f32[5,6]", Indices: "[-1]", More: []string{"[0]"}, Refuse: "index-out-of-range", Message: "indices[0] = -1"},
	})
}

func TestRulesOfSparseSegmentSum(t *testing.T) {
	ruletest.Run(t, append(segmentRules("TSG", func(n *int) garner.Op { return tensorflow.SparseSegmentSum{NumSegments: n} }), []ruletest.Case{
		{Rule: "TSG.3", Op: tensorflow.SparseSegmentSum{NumSegments: number(2)}, Data: "[5,6]", Indices: "[1,1,0]", More: []string{"[0,0,1]"}, Want: "[12,5]"},
	}...))
}

func TestRulesOfSparseSegmentMean(t *testing.T) {
	ruletest.Run(t, append(segmentRules("TSM", func(n *int) garner.Op { return tensorflow.SparseSegmentMean{NumSegments: n} }), []ruletest.Case{
		{Rule: "TSM.3", Op: tensorflow.SparseSegmentMean{NumSegments: number(2)}, Data: "f32[5,7]", Indices: "[1,0,0]", More: []string{"[0,0,1]"}, Want: "f32[6,5]"},
	}...))
}

func TestRulesOfSparseSegmentSqrtN(t *testing.T) {
	ruletest.Run(t, append(segmentRules("TSQ", func(n *int) garner.Op { return tensorflow.SparseSegmentSqrtN{NumSegments: n} }), []ruletest.Case{
		{Rule: "TSQ.1", Op: tensorflow.SparseSegmentSqrtN{NumSegments: number(1)}, Data: "[5]", Indices: "[0]", More: []string{"[0]"}, Refuse: "dtype", Message: "must be a float"},
		{Rule: "TSQ.3", Op: tensorflow.SparseSegmentSqrtN{NumSegments: number(1)}, Data: "f32[5,7]", Indices: "[0,0,0,1]", More: []string{"[0,0,0,0]"}, Want: "f32[11]"},
	}...))
}

// runOpen runs the rules of an operator whose result's shape depends on elements.
// Infer leaves it open, so gathertest.Check does not serve.
func runOpen(t *testing.T, cases []ruletest.Case) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Rule, func(t *testing.T) {
			data, indices, more := ruletest.Tensor(t, c.Data), ruletest.Tensor(t, c.Indices), []garner.Tensor(nil)
			for _, text := range c.More {
				more = append(more, ruletest.Tensor(t, text))
			}
			for way, run := range map[string]func(garner.Op, garner.Tensor, garner.Tensor, ...garner.Tensor) (garner.Tensor, error){"Gather": garner.Gather, "Reference": garner.Reference} {
				got, err := run(c.Op, data, indices, more...)
				switch {
				case c.Refuse != "":
					ruletest.Refused(t, err, c.Refuse, c.Message)
				case err != nil || !gathertest.Equal(got, ruletest.Tensor(t, c.Want)):
					t.Errorf("%s: %v, %v; want %s", way, got, err, c.Want)
				}
			}
		})
	}
}

// TestBagsOfAHostileSegment holds that a last segment which no memory has room for is
// an error.
func TestBagsOfAHostileSegment(t *testing.T) { // R.32
	data, indices := ruletest.Tensor(t, "f32[[5],[6]]"), ruletest.Tensor(t, "[1,0]")
	for _, segments := range []string{"[0,1099511627776]", "[0,9223372036854775807]", "u64[0,18446744073709551615]"} {
		gathertest.CheckError(t, tensorflow.SparseSegmentSum{NumSegments: number(3)}, data, indices, garner.ErrIndex, ruletest.Tensor(t, segments))
		_, err := garner.Gather(tensorflow.SparseSegmentSum{}, data, indices, ruletest.Tensor(t, segments))
		ruletest.Refused(t, err, "shape-mismatch", "fewer than 2^40")
	}
	_, err := garner.Gather(tensorflow.SparseSegmentSum{}, data, indices, ruletest.Tensor(t, "[-2,-1]"))
	ruletest.Refused(t, err, "index-out-of-range", "segment_ids[0] = -2 is outside the result, which is empty")
}

// TestBagsWithoutACount holds what follows where only the last segment tells the
// number of bags: Infer leaves it open, and a Prepared reads the last segment in each run.
func TestBagsWithoutACount(t *testing.T) { // TSG.4, TSM.4, TSQ.4
	data, indices, segments := ruletest.Tensor(t, "f32[[5],[6]]"), ruletest.Tensor(t, "[1,0]"), ruletest.Tensor(t, "[0,2]")
	for _, op := range []garner.Op{tensorflow.SparseSegmentSum{}, tensorflow.SparseSegmentMean{}, tensorflow.SparseSegmentSqrtN{}} {
		if got, err := garner.Infer(op, data.Spec(), indices.Spec(), segments.Spec()); err != nil || got.String() != "f32[?,1]" {
			t.Errorf("Infer: %v, %v", got, err)
		}
		got, err := garner.Gather(op, data, indices, segments)
		if err != nil || got.Text() != "[[6.0], [0.0], [5.0]]" {
			t.Errorf("Gather: %v, %v", got, err)
		}
		p, err := garner.Prepare(op, data.Spec(), indices.Spec(), garner.Further(segments.Spec()))
		if err != nil {
			t.Fatal(err)
		}
		for bags, right := range map[int]bool{2: false, 3: true, 4: false} {
			out, err := garner.New(garner.F32, bags, 1)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Run(t.Context(), data, indices, out, segments); (err == nil) != right || right && !gathertest.Equal(out, got) {
				t.Errorf("%d bags: %v, %v", bags, out, err)
			}
		}
	}
}
