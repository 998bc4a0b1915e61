package torch_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/torch"
)

const data = "[[1,2,3],[4,5,6]]"

// deep is one element, 0, of rank 64, the maximum.
var deep = strings.Repeat("[", 64) + "0" + strings.Repeat("]", 64)

func at(dim int) *int { return &dim }

func TestRulesOfGather(t *testing.T) {
	ruletest.Run(t, []ruletest.Case{
		{Rule: "RG.1", Op: torch.Gather{}, Data: "[7,8]", Indices: "1", Want: "8"},
		{Rule: "RG.1", Op: torch.Gather{}, Data: "7", Indices: "[0,0]", Want: "[7,7]"},
		{Rule: "RG.1", Op: torch.Gather{}, Data: data, Indices: "1", Refuse: "rank", Message: "they must be equal"},

		{Rule: "RG.2", Op: torch.Gather{}, Data: data, Indices: "[[1]]", Want: "[[4]]"},
		{Rule: "RG.2", Op: torch.Gather{}, Data: data, Indices: "[1]", Refuse: "rank", Message: "they must be equal"},

		{Rule: "RG.3", Op: torch.Gather{Dim: -1}, Data: data, Indices: "[[2],[0]]", Want: "[[3],[4]]"},
		{Rule: "RG.3", Op: torch.Gather{Dim: 2}, Data: data, Indices: "[[2],[0]]", Refuse: "axis-out-of-range", Message: "axis 2 of data"},

		{Rule: "RG.4", Op: torch.Gather{Dim: 1}, Data: data, Indices: "[[2,0,0,1]]", Want: "[[3,1,1,2]]"},
		{Rule: "RG.4", Op: torch.Gather{Dim: 1}, Data: data, Indices: "[[2],[0],[0]]", Refuse: "shape-mismatch", Message: "no larger in indices"},

		{Rule: "RG.5", Op: torch.Gather{Dim: 1, SparseGrad: true}, Data: data, Indices: "[[2]]", Want: "[[3]]"},
		{Rule: "RG.5", Op: torch.Gather{}, Data: "[7,8]", Indices: "2", Refuse: "index-out-of-range", Message: "indices = 2 is outside axis 0 of data, which has 0…1"},
		{Rule: "RG.5", Op: torch.Gather{Dim: 1}, Data: data, Indices: "[[-1]]", Refuse: "index-out-of-range", Message: "indices[0,0] = -1 is outside axis 1 of data, which has 0…2"},

		{Rule: "RG.6", Op: torch.Gather{}, Data: "zeros i64[5]", Indices: "zeros i64[2,0]", Want: "zeros i64[2,0]"},
		{Rule: "RG.6", Op: torch.Gather{Dim: -1}, Data: data, Indices: "zeros i64[0]", Want: "zeros i64[0]"},
		{Rule: "RG.6", Op: torch.Gather{Dim: 1}, Data: data, Indices: "zeros i64[0,7]", Want: "zeros i64[0,7]"},
		{Rule: "RG.6", Op: torch.Gather{}, Data: data, Indices: "zeros i64[5,0,4]", Want: "zeros i64[5,0,4]"},
		{Rule: "RG.6", Op: torch.Gather{}, Data: "7", Indices: "zeros i64[3,0]", Want: "zeros i64[3,0]"},
		{Rule: "RG.6", Op: torch.Gather{}, Data: "zeros i64[0,3]", Indices: "zeros i64[0,9]", Want: "zeros i64[0,9]"},
		{Rule: "RG.6", Op: torch.Gather{}, Data: data, Indices: "zeros i64[5,1,4]", Refuse: "rank", Message: "they must be equal"},
		{Rule: "RG.6", Op: torch.Gather{Dim: 2}, Data: data, Indices: "zeros i64[0]", Refuse: "axis-out-of-range", Message: "axis 2 of data"},
	})
}

// TestEmptyBatches holds RG.6 for a Prepared that serves indices of any length:
// those without elements may have extents that others may not.
func TestEmptyBatches(t *testing.T) {
	for _, tt := range []struct {
		indices string
		shape   garner.Shape
		fails   bool
	}{
		{"i64[?,7]", garner.Shape{0, 7}, false},
		{"i64[?,7]", garner.Shape{1, 7}, true},
		{"i64[?,3]", garner.Shape{0, 3}, false},
		{"i64[?,3]", garner.Shape{2, 3}, false},
		{"i64[?,?]", garner.Shape{0, 9}, false},
		{"i64[?,?]", garner.Shape{1, 9}, true},
		{"i64[?]", garner.Shape{0}, false},
		{"i64[?]", garner.Shape{2}, true},
	} {
		spec, err := garner.ParseSpec(tt.indices)
		if err != nil {
			t.Fatal(err)
		}
		table := ruletest.Tensor(t, data)
		p, err := garner.Prepare(torch.Gather{}, table.Spec(), spec)
		if err != nil {
			t.Fatal(err)
		}
		at, err := garner.New(garner.I64, tt.shape...)
		if err != nil {
			t.Fatal(err)
		}
		out, err := garner.New(garner.I64, tt.shape...)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Run(t.Context(), table, at, out); tt.fails != errors.Is(err, garner.ErrShape) || !tt.fails && err != nil {
			t.Errorf("%s with %v: %v", tt.indices, tt.shape, err)
		}
		got, err := garner.Infer(torch.Gather{}, table.Spec(), spec)
		if err != nil || got.String() != tt.indices {
			t.Errorf("%s: %v, %v", tt.indices, got, err)
		}
	}
}

func TestRulesOfIndexSelect(t *testing.T) {
	ruletest.Run(t, []ruletest.Case{
		{Rule: "RS.1", Op: torch.IndexSelect{}, Data: data, Indices: "1", Want: "[[4,5,6]]"},
		{Rule: "RS.1", Op: torch.IndexSelect{}, Data: data, Indices: "[[1]]", Refuse: "rank", Message: "they must be a vector or a scalar"},

		{Rule: "RS.2", Op: torch.IndexSelect{Dim: -2}, Data: data, Indices: "[1]", Want: "[[4,5,6]]"},
		{Rule: "RS.2", Op: torch.IndexSelect{Dim: 2}, Data: data, Indices: "[1]", Refuse: "axis-out-of-range", Message: "axis 2 of data"},

		{Rule: "RS.3", Op: torch.IndexSelect{Dim: 1}, Data: data, Indices: "[2,0,2]", Want: "[[3,1,3],[6,4,6]]"},
		{Rule: "RS.3", Op: torch.IndexSelect{Dim: 1}, Data: data, Indices: "[2,0,3]", Refuse: "index-out-of-range", Message: "indices[2] = 3"},

		{Rule: "RS.4", Op: torch.IndexSelect{}, Data: "5", Indices: "[0]", Want: "5"},
		{Rule: "RS.4", Op: torch.IndexSelect{}, Data: "5", Indices: "[0,0]", Refuse: "shape-mismatch", Message: "exactly one goes with data"},

		{Rule: "RS.5", Op: torch.IndexSelect{}, Data: data, Indices: "[0]", Want: "[[1,2,3]]"},
		{Rule: "RS.5", Op: torch.IndexSelect{}, Data: data, Indices: "[0,-1]", Refuse: "index-out-of-range", Message: "indices[1] = -1 is outside axis 0 of data, which has 0…1"},
	})
}

func TestRulesOfEmbedding(t *testing.T) {
	ruletest.Run(t, []ruletest.Case{
		{Rule: "RE.1", Op: torch.Embedding{}, Data: data, Indices: "1", Want: "[4,5,6]"},
		{Rule: "RE.1", Op: torch.Embedding{}, Data: "[7,8]", Indices: "[1]", Refuse: "rank", Message: "needs 2 or more"},
		{Rule: "RE.1", Op: torch.Embedding{}, Data: "[[[7,8]]]", Indices: "[0]", Refuse: "rank", Message: "an embedding's table is a matrix"},

		{Rule: "RE.2", Op: torch.Embedding{}, Data: data, Indices: "[[1],[0]]", Want: "[[[4,5,6]],[[1,2,3]]]"},
		{Rule: "RE.2", Op: torch.Embedding{}, Data: data, Indices: deep, Refuse: "rank", Message: "has 65 dims"},

		{Rule: "RE.3", Op: torch.Embedding{PaddingIdx: at(0)}, Data: data, Indices: "[0]", Want: "[[1,2,3]]"},
		{Rule: "RE.3", Op: torch.Embedding{PaddingIdx: at(-1)}, Data: data, Indices: "[-1]", Refuse: "index-out-of-range", Message: "indices[0] = -1 is outside axis 0 of data, which has 0…1"},
	})
}

func TestRulesOfTake(t *testing.T) {
	ruletest.Run(t, []ruletest.Case{
		{Rule: "RT.1", Op: torch.Take{}, Data: data, Indices: "[3,0]", Want: "[4,1]"},
		{Rule: "RT.1", Op: torch.Take{}, Data: data, Indices: "[6]", Refuse: "index-out-of-range", Message: "is outside data, taken flat"},

		{Rule: "RT.2", Op: torch.Take{}, Data: data, Indices: "[[5],[1]]", Want: "[[6],[2]]"},
		{Rule: "RT.2", Op: torch.Take{}, Data: data, Indices: "[[5],[9]]", Refuse: "index-out-of-range", Message: "indices[1,0] = 9"},

		{Rule: "RT.3", Op: torch.Take{}, Data: data, Indices: "[-1,-6]", Want: "[6,1]"},
		{Rule: "RT.3", Op: torch.Take{}, Data: data, Indices: "[-7]", Refuse: "index-out-of-range", Message: "which has -6…5"},
	})
}

func TestRulesOfTakeAlongDim(t *testing.T) {
	ruletest.Run(t, []ruletest.Case{
		{Rule: "RA.1", Op: torch.TakeAlongDim{}, Data: data, Indices: "[[5],[0]]", Want: "[6,1]"},
		{Rule: "RA.1", Op: torch.TakeAlongDim{}, Data: data, Indices: "0", Want: "[1]"},
		{Rule: "RA.1", Op: torch.TakeAlongDim{}, Data: data, Indices: "[6]", Refuse: "index-out-of-range", Message: "is outside data, taken flat"},

		{Rule: "RA.2", Op: torch.TakeAlongDim{Dim: at(0)}, Data: "[7,8]", Indices: "[1]", Want: "[8]"},
		{Rule: "RA.2", Op: torch.TakeAlongDim{Dim: at(0)}, Data: "7", Indices: "0", Refuse: "rank", Message: "needs 1 or more"},
		{Rule: "RA.2", Op: torch.TakeAlongDim{Dim: at(0)}, Data: data, Indices: "[1]", Refuse: "rank", Message: "they must be equal"},

		{Rule: "RA.3", Op: torch.TakeAlongDim{Dim: at(-1)}, Data: data, Indices: "[[2],[0]]", Want: "[[3],[4]]"},
		{Rule: "RA.3", Op: torch.TakeAlongDim{Dim: at(-3)}, Data: data, Indices: "[[2],[0]]", Refuse: "axis-out-of-range", Message: "axis -3 of data"},

		{Rule: "RA.4", Op: torch.TakeAlongDim{Dim: at(1)}, Data: data, Indices: "[[2,0]]", Want: "[[3,1],[6,4]]"},
		{Rule: "RA.4", Op: torch.TakeAlongDim{Dim: at(1)}, Data: data, Indices: "[[2],[0],[1]]", Refuse: "shape-mismatch", Message: "equal, or 1 in either"},

		{Rule: "RA.5", Op: torch.TakeAlongDim{Dim: at(1)}, Data: data, Indices: "[[-1],[-3]]", Want: "[[3],[4]]"},
		{Rule: "RA.5", Op: torch.TakeAlongDim{Dim: at(1)}, Data: data, Indices: "[[-4],[0]]", Refuse: "index-out-of-range", Message: "indices[0,0] = -4 is outside axis 1 of data, which has -3…2"},

		{Rule: "RA.6", Op: torch.TakeAlongDim{}, Data: data, Indices: "[[5,0]]", Want: "[6,1]"},
		{Rule: "RA.6", Op: torch.TakeAlongDim{}, Data: data, Indices: "[[5],[-6]]", Refuse: "index-out-of-range", Message: "indices[1,0] = -6 is outside data, taken flat, which has 0…5"},
	})
}

// TestFlatInference holds RT.2 and RA.1 where ranks are unknown: a flattened
// operand has one axis.
func TestFlatInference(t *testing.T) {
	anything := garner.SpecOfRank(garner.F32, garner.AnyDim)
	for _, tt := range []struct {
		op            garner.Op
		data, indices garner.Spec
		want          string
	}{
		{torch.Take{}, anything, garner.SpecOf(garner.I64, 2, 3), "f32[2,3]"},
		{torch.Take{}, garner.SpecOf(garner.F32, 4, 5), garner.SpecOfRank(garner.I64, garner.Dim{Min: 2, Max: 3}), "f32[...2..3]"},
		{torch.TakeAlongDim{}, anything, garner.SpecOf(garner.I64, 2, 3), "f32[6]"},
		{torch.TakeAlongDim{}, garner.SpecOf(garner.F32, 4, 5), garner.SpecOfRank(garner.I64, garner.Dim{Min: 2, Max: 3}), "f32[?]"},
		{torch.TakeAlongDim{}, garner.SpecOf(garner.F32, 4, 5), garner.SpecOfDims(garner.I64, garner.Dim{Min: 2, Max: 3}, garner.Exactly(4)), "f32[8..12]"},
	} {
		if got, err := garner.Infer(tt.op, tt.data, tt.indices); err != nil || got.String() != tt.want {
			t.Errorf("%T over %v and %v: %v, %v; want %s", tt.op, tt.data, tt.indices, got, err, tt.want)
		}
	}
}

// TestEmptyBesideHuge holds RT.1 for data without elements whose other dims have a
// product that overflows an int.
func TestEmptyBesideHuge(t *testing.T) {
	const data = "zeros u8[1048576,1048576,1048576,1048576,0]"
	ruletest.Run(t, []ruletest.Case{
		{Rule: "RT.1", Op: torch.Take{}, Data: data, Indices: "zeros i64[0]", Want: "zeros u8[0]"},
		{Rule: "RT.1", Op: torch.Take{}, Data: data, Indices: "[0]", Refuse: "index-out-of-range", Message: "is outside data, taken flat, which is empty"},
		{Rule: "RA.1", Op: torch.TakeAlongDim{}, Data: "[7]", Indices: "zeros i64[1048576,1048576,1048576,1048576,0]", Want: "zeros i64[0]"},
		{Rule: "RA.1", Op: torch.TakeAlongDim{}, Data: data, Indices: "[[0]]", Refuse: "index-out-of-range", Message: "which is empty"},
	})
}
