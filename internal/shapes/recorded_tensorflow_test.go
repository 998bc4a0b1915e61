package shapes_test

import (
	"bufio"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/garner-go/garner/internal/shapes"
	"github.com/garner-go/garner/tensorflow/graphdef"
)

// notRecordedTensorFlow are operators with a rule that stand in loops, read what a file beside the graph has, or
// print; and old names of others.
var notRecordedTensorFlow = []string{
	"DebugIdentityV2", "Enter", "Exit", "LookupTableFind", "LookupTableFindV2", "LoopCond", "Merge", "NextIteration", "Placeholder", "PlaceholderWithDefault", "Print",
	"QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4", "ReadVariableOp", "RefEnter", "RefExit", "StatelessRandomNormalV2", "StatelessRandomUniformV2", "TensorListStack", "TopK", "VariableShape",
}

// TestRecordedTensorFlow holds what is inferred against what TensorFlow has made of small graphs, as TestRecorded
// does for ONNX.
func TestRecordedTensorFlow(t *testing.T) {
	f, err := os.Open("testdata/tensorflow.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	ops := map[string]int{}
	graphs, values := 0, 0
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for ; lines.Scan(); graphs++ {
		var r recording
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("graph %d: %v", graphs, err)
		}
		b, err := hex.DecodeString(r.Model)
		if err != nil {
			t.Fatalf("graph %d: %v", graphs, err)
		}
		m, err := graphdef.FromBytes(b, false, graphdef.Options{})
		if err != nil {
			t.Errorf("graph %d: %v", graphs, err)
			continue
		}
		countOps(m.Graph, ops)
		var known knowledge
		made := valuesOf(m.Graph)
		for _, v := range made {
			if v.From != nil {
				known.add(v)
			}
		}
		for i, k := range known {
			if k < r.Known[i] {
				t.Errorf("graph %d, %s: less is inferred than was recorded: %v, %v", graphs, opsOf(m.Graph), known, r.Known)
				break
			}
		}
		for _, run := range r.Runs {
			values += heldIn(t, graphs, made, run)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if graphs < 300 || values < 8000 {
		t.Errorf("%d graphs with %d values in runs: the recording has more", graphs, values)
	}
	for _, op := range shapes.RuledTensorFlowOps() {
		if (ops[op] == 0) != slices.Contains(notRecordedTensorFlow, op) {
			t.Errorf("%s: %d recorded nodes; notRecordedTensorFlow has those that are none", op, ops[op])
		}
	}
	t.Logf("%d graphs, %d values", graphs, values)
}
