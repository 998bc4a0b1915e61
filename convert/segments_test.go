package convert_test

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/convert"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// TestSegmentLengths holds segments of each number of terms at which TensorFlow begins to add in another order, and of one more and one
// less, against the source's: random ones seldom have it.
func TestSegmentLengths(t *testing.T) {
	lengths := []int{9, 10, 11, 1, 17, 18, 16, 8, 19, 2, 25, 26, 10}
	var ids []int32
	for id, n := range lengths {
		for range n {
			ids = append(ids, int32(id))
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	const rows, columns = 300, 4
	numbers, indices := make([]float32, rows*columns), make([]int32, len(ids))
	for i := range numbers {
		numbers[i] = float32(rng.NormFloat64())
	}
	for i := range indices {
		indices[i] = int32(rng.IntN(rows))
	}
	feed := []garner.Tensor{garner.Of(numbers, rows, columns), garner.Of(indices, len(ids)), garner.Of(ids, len(ids))}
	compared := 0
	for _, kind := range []string{"Sum", "Mean", "SqrtN"} {
		m := oneNode(tensorflowModel, "SparseSegment"+kind, 0, nil, 1, in(garner.F32, -1, columns), in(garner.I32, -1), in(garner.I32, -1))
		m.Graph.Nodes[0].Operator = "tensorflow.sparse_segment_" + strings.ToLower(kind)
		ask := func(m *model.Model) garner.Tensor {
			given := make(map[*model.Value]garner.Tensor)
			for i, v := range m.Graph.Inputs {
				given[v] = feed[i]
			}
			made, err := run.Values(t.Context(), m, []*model.Value{m.Graph.Outputs[0].Value}, given, 1<<20)
			if err != nil {
				t.Fatal(kind, err)
			}
			return made[0]
		}
		want := ask(m)
		for _, extension := range convert.Extensions() {
			if kind == "SqrtN" && extension == ".xml" {
				continue // refused
			}
			out := filepath.Join(t.TempDir(), "out"+extension)
			if _, err := convert.File(t.Context(), m, out, convert.Options{}); err != nil {
				t.Fatal(kind, extension, err)
			}
			got := ask(open(t, out))
			for id, n := range lengths {
				part := func(x garner.Tensor) garner.Tensor {
					row, err := x.Slice(0, id, id+1, 1)
					if err != nil {
						t.Fatal(err)
					}
					return row
				}
				if compared++; !same(t, part(got), part(want)) {
					t.Errorf("%s to %s: of %d terms %v; the source gives %v", kind, extension, n, part(got), part(want))
				}
			}
		}
	}
	if compared != 5*len(lengths) {
		t.Errorf("%d segments were compared", compared)
	}
}
