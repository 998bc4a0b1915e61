package operators

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/openvino"
)

// TestNewOfJSON makes operators of what encoding/json decodes.
func TestNewOfJSON(t *testing.T) {
	for _, number := range []bool{false, true} {
		for text, want := range map[string]garner.Op{
			`{"axis": 1, "batch_dims": -1}`: openvino.Gather8{Axis: 1, BatchDims: -1},
			`{"axis": 1.5}`:                 nil,
			`{"axis": "1"}`:                 nil,
			`{"axis": 1e300}`:               nil,
		} {
			var values map[string]any
			d := json.NewDecoder(strings.NewReader(text))
			if number {
				d.UseNumber()
			}
			if err := d.Decode(&values); err != nil {
				t.Fatal(err)
			}
			got, err := Parse("openvino.Gather-8", values)
			if got != want || (err == nil) != (want != nil) || err != nil && !errors.Is(err, garner.ErrAttribute) {
				t.Errorf("%s: %v, %v; want %v", text, got, err, want)
			}
		}
	}
	a, err := Parse("jax.lax.gather", map[string]any{"slice_sizes": []any{1.0, 2.0}, "start_index_map": []any{0.0}, "collapsed_slice_dims": []any{0.0}, "offset_dims": []any{1.0}})
	b, _ := Parse("jax.lax.gather", map[string]any{"slice_sizes": []int64{1, 2}, "start_index_map": []int64{0}, "collapsed_slice_dims": []int64{0}, "offset_dims": []int64{1}})
	if err != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("%v, %v; want %v", a, err, b)
	}
	if op, err := Parse("torch.gather", map[string]any{"axis": 1, "dim": 0}); !errors.Is(err, garner.ErrAttribute) {
		t.Errorf("axis and dim: %v, %v", op, err)
	}
}

// TestTypeOf holds the types of attributes and inputs, and their defaults.
func TestTypeOf(t *testing.T) {
	for _, tt := range []struct {
		operator, name, kind string
		otherwise            any
	}{
		{"onnx.Gather-13", "axis", "int", 0},
		{"openvino.Gather-8", "axis", "int", 0},
		{"numpy.take", "axis", "int", nil},
		{"numpy.take_along_axis", "axis", "int", -1},
		{"numpy.take", "mode", "string", nil},
		{"torch.gather", "sparse_grad", "bool", false},
		{"jax.numpy.take_along_axis", "wrap_negative_indices", "bool", nil},
		{"stablehlo.dynamic_gather", "slice_sizes", "ints", nil},
		{"openvino.EmbeddingSegmentsSum-3", "num_segments", "int", nil},
		{"openvino.EmbeddingSegmentsSum-3", "segment_ids", "", nil},
		{"onnx.Gather-13", "mode", "", nil},
	} {
		o, err := Find(tt.operator, 0)
		if err != nil {
			t.Fatal(err)
		}
		if kind, otherwise := o.TypeOf(tt.name); kind != tt.kind || otherwise != tt.otherwise {
			t.Errorf("%s's %s is %q, %v; want %q, %v", tt.operator, tt.name, kind, otherwise, tt.kind, tt.otherwise)
		}
	}
}
