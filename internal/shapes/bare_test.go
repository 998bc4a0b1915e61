package shapes_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/shapes"
	"github.com/garner-go/garner/model"
)

// TestBare takes the dims, and in TensorFlow the ranks, that files say of the results of nodes away, and holds what is inferred
// without them against them: it contradicts none, and little of it is less.
func TestBare(t *testing.T) {
	lists := map[string]int{ // how many values the rules know less of than the file
		"../../testdata/models/lite_*.tflite": 4, "../../tensorflow/graphdef/testdata/around": 0, "../../tensorflow/graphdef/testdata/gathers": 0,
		"../../tensorflow/graphdef/testdata/keras": 0, "../../tensorflow/graphdef/testdata/frozen.pb": 0,
		"../../tensorflow/graphdef/testdata/gathers@branches": 0, // If and While
	}
	for pattern, most := range lists {
		pattern, signature, _ := strings.Cut(pattern, "@")
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
		}
		less, count := 0, 0
		for _, path := range paths {
			m, err := files.OpenModel(path, files.ModelOptions{Signature: signature})
			if err != nil {
				t.Fatal(err)
			}
			said := map[*model.Value]garner.Spec{}
			var bare func(g *model.Graph)
			bare = func(g *model.Graph) {
				for _, n := range g.Nodes {
					for _, v := range n.Outputs {
						if v == nil {
							continue
						}
						said[v] = v.Spec
						if m.Format == "TensorFlow" || !v.Spec.Rank.Known() {
							v.Spec = garner.SpecOfRank(v.Spec.DType, garner.AnyDim)
						} else {
							v.Spec = garner.SpecOfRank(v.Spec.DType, v.Spec.Rank)
						}
					}
					for _, s := range n.Graphs {
						bare(s.Graph)
					}
				}
			}
			bare(m.Graph)
			shapes.Infer(m)
			for v, s := range said {
				count++
				if v.Spec.DType != s.DType || v.Spec.Rank.Max < s.Rank.Min || v.Spec.Rank.Min > s.Rank.Max {
					t.Errorf("%s: %s of %s is inferred as %s, and the file has %s", path, v.Name, v.From.Op, v.Spec, s)
					continue
				}
				known := v.Spec.Rank.Known() || !s.Rank.Known()
				if v.Spec.Rank.Known() && s.Rank.Known() {
					for i, d := range v.Spec.Dims {
						if d.Max < s.Dims[i].Min || s.Dims[i].Max < d.Min {
							t.Errorf("%s: %s of %s is inferred as %s, and the file has %s", path, v.Name, v.From.Op, v.Spec, s)
						}
						known = known && (d.Known() || !s.Dims[i].Known())
					}
				}
				if !known {
					less++
					if less > most {
						t.Errorf("%s: %s of %s is inferred as %s, which is less than the file's %s", path, v.Name, v.From.Op, v.Spec, s)
					}
				}
			}
			m.Close()
		}
		if count < 8 || strings.Contains(pattern, "around") && count < 400 {
			t.Errorf("%s: %d values", pattern, count)
		}
		t.Logf("%s: %d values, %d less", pattern, count, less)
	}
}
