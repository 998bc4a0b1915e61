package catalog

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner/operators"
)

const onnxModels = "../../onnx/modelproto/testdata"

func TestOpenModel(t *testing.T) {
	m, err := OpenModel(filepath.Join(onnxModels, "opset13.onnx"), ModelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var got []string
	for n := range m.Gathers() {
		operator, op, err := operators.OfNode(n)
		if err != nil || operator.Name != n.Operator {
			t.Errorf("%v, %v, %v", operator.Name, op, err)
		}
		got = append(got, n.Operator+" "+n.Outputs[0].Type())
	}
	want := []string{"onnx.Gather-13 f32[2,2,4]", "onnx.GatherElements-13 f32[2,3,1]", "onnx.GatherND-13 f32[2,2,4]"}
	if !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
	for _, name := range []string{"model.txt", "model", "none.onnx"} {
		if _, err := OpenModel(name, ModelOptions{}); err == nil || !strings.HasPrefix(err.Error(), "garner: ") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, f := range ModelFormats() {
		if f.Name == "" || !strings.HasPrefix(f.Extension, ".") || f.Extension != strings.ToLower(f.Extension) {
			t.Errorf("%+v", f)
		}
	}
}
