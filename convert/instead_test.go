package convert_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/convert"
	"github.com/garner-go/garner/model"
)

// TestInstead holds what is said of bags of TensorFlow that are not converted: for each combiner of
// tf.nn.embedding_lookup_sparse the function of the same answers, for the sums of gathered rows how
// far those of another function are the same, and nothing where nothing is known.
func TestInstead(t *testing.T) {
	// A lookup is Unique, Gather, perhaps Identity, and the bags, as TensorFlow writes it.
	lookup := func(bags, between string) *model.Model {
		m := oneNode(tensorflowModel, "Unique", 0, nil, 2, in(garner.I64, -1))
		unique := m.Graph.Nodes[0]
		table, segments := &model.Value{Name: "table", Spec: in(garner.F32, 5, 3)}, &model.Value{Name: "segments", Spec: in(garner.I32, -1)}
		m.Graph.Inputs = append(m.Graph.Inputs, table, segments)
		node := func(op, operator string, inputs ...*model.Value) *model.Value {
			v := &model.Value{Name: op, Spec: in(garner.F32, -1, 3)}
			n := &model.Node{Name: op, Op: op, Operator: operator, Inputs: inputs, Outputs: []*model.Value{v}}
			v.From = n
			m.Graph.Nodes = append(m.Graph.Nodes, n)
			return v
		}
		rows := node("Gather", "tensorflow.Gather", table, unique.Outputs[0])
		if between != "" {
			rows = node(between, "", rows)
		}
		m.Graph.Outputs = []model.Result{{Name: "bags", Value: node(bags, "", rows, unique.Outputs[1], segments)}}
		return m
	}
	sums := func(op, from string) *model.Model {
		m := oneNode(tensorflowModel, op, 0, nil, 1, in(garner.F32, -1, 3), in(garner.I32, -1))
		if from != "" {
			table, ids := &model.Value{Name: "table", Spec: in(garner.F32, 5, 3)}, &model.Value{Name: "ids", Spec: in(garner.I32, -1)}
			rows := m.Graph.Inputs[0]
			n := &model.Node{Name: from, Op: from, Operator: "tensorflow.Gather", Inputs: []*model.Value{table, ids}, Outputs: []*model.Value{rows}}
			rows.From = n
			m.Graph.Nodes = append([]*model.Node{n}, m.Graph.Nodes...)
			m.Graph.Inputs = append(m.Graph.Inputs[1:], table, ids)
		}
		return m
	}
	const inPlace = `; in the place of tf.nn.embedding_lookup_sparse with combiner=`
	for _, tt := range []struct {
		name, extension string
		m               *model.Model
		want            string // what the error says behind the operators that run; "" for nothing
	}{
		{"sum", ".onnx", lookup("SparseSegmentSum", ""), inPlace + `"sum" write tf.sparse.segment_sum(table, ids, segment_ids), whose answers are the same bit for bit: ids are the values of sp_ids, segment_ids the first column of its indices`},
		{"mean", ".xml", lookup("SparseSegmentMean", "Identity"), inPlace + `"mean" write tf.sparse.segment_mean(table, `},
		{"mean of a number of segments", ".xml", lookup("SparseSegmentMeanWithNumSegments", "Identity"), inPlace + `"mean" write tf.sparse.segment_mean(table, `},
		{"root", ".onnx", lookup("SparseSegmentSqrtN", "Identity"), inPlace + `"sqrtn" write tf.sparse.segment_sqrt_n(table, ids, segment_ids), whose answers are the same bit for bit: ids are the values of sp_ids, segment_ids the first column of its indices`},
		{"root to OpenVINO", ".xml", lookup("SparseSegmentSqrtN", ""), "of its indices; it is converted to ONNX alone"},
		{"rows that are changed", ".onnx", lookup("SparseSegmentMean", "Neg"), ""},
		{"weights", ".onnx", lookup("SegmentSum", ""), ""},
		{"Unique alone", ".onnx", oneNode(tensorflowModel, "Unique", 0, nil, 2, in(garner.I64, -1)), ""},
		{"Unique of ONNX", ".xml", oneNode(onnxModel, "Unique", 13, nil, 2, in(garner.I64, -1)), ""},
		{"dense sum", ".onnx", sums("SegmentSum", "Gather"), "its sums of integers are the same, and so are those of f32 of up to 9 rows; others may differ in their last bits"},
		{"dense mean", ".xml", sums("SegmentMean", "Gather"), "tf.sparse.segment_mean(table, ids, segment_ids) is converted: its means may differ in their last bits"},
		{"dense maximum", ".onnx", sums("SegmentMax", "Gather"), ""},
		{"dense sum of an input", ".onnx", sums("SegmentSum", ""), ""},
	} {
		_, err := convert.File(t.Context(), tt.m, filepath.Join(t.TempDir(), "out"+tt.extension), convert.Options{})
		const runs = ` is not converted; gathers are, and the operators around them that "garner run" runs`
		if err == nil || !strings.Contains(err.Error(), runs) || tt.want == "" && !strings.HasSuffix(err.Error(), runs) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v; want %q", tt.name, err, tt.want)
		}
	}
}

// TestNoGraph holds that a checkpoint alone is refused by what it is.
func TestNoGraph(t *testing.T) {
	m := open(t, "../tensorflow/graphdef/testdata/checkpoint/new.index")
	_, err := convert.File(t.Context(), m, filepath.Join(t.TempDir(), "out.onnx"), convert.Options{})
	if want := "it holds variables and no graph, so that there is nothing to convert; name the model that reads them"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %q", err, want)
	}
}
