package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/lint"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/operators"
	"github.com/garner-go/garner/source"
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

// TestClosed holds that constants of every format answer alike behind the close of their model, by several goroutines
// at once: a read is an fs.ErrClosed, and an array that was opened before is good.
func TestClosed(t *testing.T) {
	formats := map[string]bool{}
	for _, path := range []string{
		"../testdata/models/last.onnx", "../testdata/models/bert.xml", "../testdata/models/lite_around.tflite", "../stablehlo/text/testdata/arithmetic.mlir",
		"../tensorflow/graphdef/testdata/frozen.pb", "../tensorflow/graphdef/testdata/gathers", "../onnx/modelproto/testdata/opset13.onnx",
	} {
		m, err := OpenModel(path, ModelOptions{})
		if err != nil {
			t.Fatal(err)
		}
		formats[m.Format] = true
		before := map[*model.Constant]model.Array{}
		for _, c := range m.Constants() {
			if a, err := c.Open(); err == nil && c.File != "" {
				before[c] = a
			}
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := m.Close(); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			})
		}
		all.Wait()
		n := 0
		for name, c := range m.Constants() {
			n++
			_, first := c.Tensor()
			_, second := c.Open()
			_, third := c.Array()
			for i, err := range []error{first, second, third} {
				if !errors.Is(err, fs.ErrClosed) || !strings.Contains(err.Error(), "its model was closed") {
					t.Errorf("%s: %s, read %d: %v", path, name, i, err)
				}
			}
		}
		if n == 0 {
			t.Errorf("%s has no constant", path)
		}
		for c, a := range before {
			if a.Spec().DType != c.Spec.DType {
				t.Errorf("%s: %s: %v", path, c.Name, a.Spec())
			}
			if n, ok := c.Spec.Bytes(); ok && n > 0 && len(c.Spec.Dims) > 0 && c.Spec.Dims[0].Min > 0 {
				if err := source.Gather(t.Context(), onnx.Gather13{}, a, source.Memory(garner.Of([]int64{0}, 1)), io.Discard, source.Options{}); err != nil && !errors.Is(err, garner.ErrDType) {
					t.Errorf("%s: %s: %v", path, c.Name, err)
				}
			}
			a.Close()
		}
		if _, err := lint.Model(t.Context(), m, lint.Options{}); err != nil && !errors.Is(err, os.ErrClosed) || err == nil && (path == "../testdata/models/last.onnx" || path == "../testdata/models/lite_around.tflite") {
			t.Errorf("%s: lint judges a closed model: %v", path, err)
		}
	}
	if len(formats) != 5 {
		t.Errorf("%v", formats)
	}
}

// TestTensorFlow opens the variables of a SavedModel by its folder and by its file, and those of
// a checkpoint alone, in place; and refuses a signature of a model that has none.
func TestTensorFlow(t *testing.T) {
	const dir = "../tensorflow/graphdef/testdata/"
	for _, operand := range []string{dir + "gathers#second", dir + "gathers/saved_model.pb#second/.ATTRIBUTES/VARIABLE_VALUE", dir + "gathers/variables/variables.index#second"} {
		a, err := Open(t.Context(), operand, Options{InPlace: true})
		if err != nil {
			t.Errorf("%s: %v", operand, err)
			continue
		}
		if a.Spec().String() != "f32[6,4]" {
			t.Errorf("%s is %s", operand, a.Spec())
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		list, err := List(t.Context(), operand, Options{})
		if err != nil || len(list) != 1 {
			t.Errorf("%s: %v, %v", operand, list, err)
		}
	}
	words, close, err := Tensor(t.Context(), dir+"checkpoint/new.index#words", Options{})
	if err != nil || words.Text() != `["a", "", "ccc"]` {
		t.Errorf("%v, %v", words, err)
	} else if err := close(); err != nil {
		t.Error(err)
	}
	parts, err := Open(t.Context(), dir+"checkpoint/old.ckpt.index#parts", Options{InPlace: true}) // in slices of its columns
	if err != nil {
		t.Fatal(err)
	}
	first, ok, err := Identify(parts)
	again, _, _ := Identify(parts)
	if err != nil || !ok || first != again || !strings.HasPrefix(first, "f32[6,4] in 2 tiles with SHA-256 ") {
		t.Errorf("%q, %v, %v", first, ok, err)
	}
	if err := parts.Close(); err != nil {
		t.Error(err)
	}
	_, err = Open(t.Context(), dir+"checkpoint/new.index#words", Options{InPlace: true})
	refused(t, err, ErrMemory, "encoded")
	_, err = OpenModel("../testdata/models/bert.xml", ModelOptions{Signature: "f"})
	refused(t, err, garner.ErrAttribute, "Options.Signature is for those of TensorFlow")
	m, err := OpenModel(dir+"gathers", ModelOptions{Signature: "inner"})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(m.Files); n != 3 {
		t.Errorf("%d files: %v", n, m.Files)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
