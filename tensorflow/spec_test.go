package tensorflow_test

import (
	"fmt"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/tensorflow"
)

// TestGatherNdSpec runs the examples of GatherNd's definition, in its order.
func TestGatherNdSpec(t *testing.T) {
	const (
		matrix = `[['a', 'b'], ['c', 'd']]`
		cube   = `[[['a0', 'b0'], ['c0', 'd0']],
		           [['a1', 'b1'], ['c1', 'd1']]]`
	)
	for i, tt := range []struct{ about, indices, params, want string }{
		{"simple indexing into a matrix", `[[0, 0], [1, 1]]`, matrix, `['a', 'd']`},
		{"slice indexing into a matrix", `[[1], [0]]`, matrix, `[['c', 'd'], ['a', 'b']]`},
		{"indexing into a 3-tensor", `[[1]]`, cube, `[[['a1', 'b1'], ['c1', 'd1']]]`},
		{"indexing into a 3-tensor", `[[0, 1], [1, 0]]`, cube, `[['c0', 'd0'], ['a1', 'b1']]`},
		{"indexing into a 3-tensor", `[[0, 0, 1], [1, 0, 1]]`, cube, `['b0', 'b1']`},
		{"batched indexing into a matrix", `[[[0, 0]], [[0, 1]]]`, matrix, `[['a'], ['b']]`},
		{"batched slice indexing into a matrix", `[[[1]], [[0]]]`, matrix, `[[['c', 'd']], [['a', 'b']]]`},
		{"batched indexing into a 3-tensor", `[[[1]], [[0]]]`, cube,
			`[[[['a1', 'b1'], ['c1', 'd1']]],
			  [[['a0', 'b0'], ['c0', 'd0']]]]`},
		{"batched indexing into a 3-tensor", `[[[0, 1], [1, 0]], [[0, 0], [1, 1]]]`, cube,
			`[[['c0', 'd0'], ['a1', 'b1']],
			  [['a0', 'b0'], ['c1', 'd1']]]`},
		{"batched indexing into a 3-tensor", `[[[0, 0, 1], [1, 0, 1]], [[0, 1, 1], [1, 1, 0]]]`, cube, `[['b0', 'b1'], ['d0', 'c1']]`},
	} {
		t.Run(fmt.Sprintf("example %d, %s", i+1, tt.about), func(t *testing.T) {
			params, indices, want := ruletest.Tensor(t, tt.params), ruletest.Tensor(t, tt.indices), ruletest.Tensor(t, tt.want)
			gathertest.Check(t, tensorflow.GatherNd{}, params, indices, want)
			gathertest.Check(t, tensorflow.GatherNdFunc{}, params, indices, want)
		})
	}
}

// TestGatherNdSpecBadIndex holds both policies for an index outside params.
func TestGatherNdSpecBadIndex(t *testing.T) {
	params, indices := ruletest.Tensor(t, "f32[[1,2],[3,4]]"), ruletest.Tensor(t, "i32[[1],[2],[0]]")
	t.Run("CPU", func(t *testing.T) {
		gathertest.CheckError(t, tensorflow.GatherNd{}, params, indices, garner.ErrIndex)
		_, err := garner.Gather(tensorflow.GatherNd{}, params, indices)
		ruletest.Refused(t, err, "index-out-of-range", "indices[1,0] = 2 is outside axis 0 of data, which has 0…1")
	})
	t.Run("GPU", func(t *testing.T) {
		op := garner.WithOutside(tensorflow.GatherNd{}, garner.Zero)
		gathertest.Check(t, op, params, indices, ruletest.Tensor(t, "f32[[3,4],[0,0],[1,2]]"))
		letters := ruletest.Tensor(t, `[['a', 'b'], ['c', 'd']]`)
		gathertest.Check(t, op, letters, indices, ruletest.Tensor(t, `[['c', 'd'], ['', ''], ['a', 'b']]`))
	})
}
