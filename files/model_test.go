package files

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/operators"
)

const onnxModels = "../onnx/modelproto/testdata"

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
	half, err := OpenModel("../testdata/models/bert.xml", ModelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer half.Close()
	tables := 0
	for n := range half.Gathers() {
		if from := n.Inputs[0].From; from == nil || from.Op != "Convert" || from.Inputs[0].Constant == nil {
			_, err := Table(t.Context(), half, n.Inputs[0], 1<<20)
			refused(t, err, nil, "is not given")
			continue
		}
		tables++
		table, err := Table(t.Context(), half, n.Inputs[0], 1<<20)
		stored := n.Inputs[0].From.Inputs[0].Constant // before its Convert
		if err != nil || table.DType() != garner.F32 || table.Len() == 0 || stored.Spec.DType != garner.F16 {
			t.Errorf("%s: %v of %v, %v", n.Name, table, stored.Spec, err)
		}
		if _, err := Table(t.Context(), half, n.Inputs[0], 8); !errors.Is(err, garner.ErrShape) {
			t.Errorf("%s: %v", n.Name, err)
		}
	}
	if tables != 3 {
		t.Errorf("%d tables", tables)
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
