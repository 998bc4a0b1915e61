package files

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/source"
)

// TestConstants opens every constant of the models of testdata as an array, in place
// where its elements lie in a file as they are, and holds it against the tensor of the
// model, after the model is closed.
func TestConstants(t *testing.T) {
	inPlace, whole, unread := 0, 0, 0
	for _, pattern := range []string{"../testdata/models/*.onnx", "../testdata/models/*.xml", onnxModels + "/*.onnx"} {
		paths := must(filepath.Glob(pattern))
		if len(paths) == 0 {
			t.Fatal(pattern)
		}
		for _, path := range paths {
			m, err := OpenModel(path, ModelOptions{})
			if err != nil {
				t.Fatal(err)
			}
			texts := map[string]string{}
			var order []string
			for name, c := range m.Constants() {
				order = append(order, name)
				if v, err := c.Tensor(); err == nil {
					texts[name] = v.DType().String() + must(v.Clone()).Text()
				}
			}
			m.Close()
			list := must(List(t.Context(), path, Options{}))
			if len(list) != len(order) {
				t.Errorf("%s lists %d constants; it has %d", path, len(list), len(order))
				continue
			}
			for i, a := range list {
				if a.Name != order[i] {
					t.Errorf("%s: constant %d is %s; want %s", path, i, a.Name, order[i])
				}
				operand := path + "#" + a.Name
				v, done, err := Tensor(t.Context(), operand, Options{})
				want, readable := texts[a.Name]
				if (err == nil) != readable || readable != (a.DType != garner.Invalid) {
					t.Errorf("%s: %v; it is listed as %s", operand, err, a.DType)
				}
				if err != nil {
					unread++
					continue
				}
				if got := v.DType().String() + must(v.Clone()).Text(); got != want {
					t.Errorf("%s is %s; want %s", operand, got, want)
				}
				if err := done(); err != nil {
					t.Error(err)
				}
				array, err := Open(t.Context(), operand, Options{InPlace: true})
				switch {
				case err == nil:
					if _, ok := array.(*source.File); !ok || a.Note != "" {
						t.Errorf("%s is a %T, %s", operand, array, a.Note)
					}
					inPlace++
					array.Close()
				case !errors.Is(err, ErrMemory):
					t.Errorf("%s: %v", operand, err)
				default:
					whole++
				}
			}
		}
	}
	if inPlace < 40 || whole < 5 {
		t.Errorf("%d constants in place, %d whole, %d not read", inPlace, whole, unread)
	}
}

// TestShortNames holds that each other name of a constant lists what the name that it is listed by
// does, its bytes among that.
func TestShortNames(t *testing.T) {
	n := map[string]int{}
	for _, pattern := range []string{
		"../testdata/models/*.onnx", "../testdata/models/*.xml", "../testdata/models/*.tflite", onnxModels + "/*.onnx",
		"../tensorflow/graphdef/testdata/*/saved_model.pb", "../tensorflow/graphdef/testdata/*/variables/*.index", "../tensorflow/graphdef/testdata/*/*.index", "../tensorflow/graphdef/testdata/*/*.meta",
	} {
		for _, path := range must(filepath.Glob(pattern)) {
			m, err := openModel(path, ModelOptions{constants: true})
			if err != nil {
				t.Fatal(err)
			}
			listed := map[string]Info{}
			for _, a := range must(List(t.Context(), path, Options{})) {
				listed[a.Name] = a
			}
			asked := 0 // of this model: each opens it anew
			for name, v := range m.ConstantValues() {
				for _, other := range append([]string{v.Name}, v.Aliases...) {
					if c, err := m.Constant(other); err != nil || c != v.Constant || other == "" || other == name || asked == 3 {
						continue // a name of several, or the one of the list
					}
					asked++
					list, err := List(t.Context(), path+"#"+other, Options{})
					if err != nil || len(list) != 1 || !reflect.DeepEqual(list[0], listed[name]) {
						t.Errorf("%s#%s: %+v, %v; want %+v", path, other, list, err, listed[name])
					}
					n[filepath.Ext(path)]++
				}
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	for _, extension := range []string{".onnx", ".pb", ".index"} {
		if n[extension] == 0 {
			t.Errorf("%v: no model %s has a constant of two names", n, extension)
		}
	}
	t.Log(n)
}

func TestConstantRefuses(t *testing.T) {
	const path = "../testdata/models/mlp.onnx"
	for _, tt := range []struct {
		operand string
		o       Options
		class   error
		want    string
	}{
		{path, Options{}, garner.ErrAttribute, "names no array: write " + path + "#NAME; it has emb.weight, val_0, lin.bias"},
		{path + "#emb", Options{}, fs.ErrNotExist, `it has no constant "emb"; it has "emb.weight", "val_0", "lin.bias"`},
		{path + "#emb.weight", Options{DType: garner.F16}, garner.ErrDType, "is f32 itself and the dtype asked for is f16"},
		{path + "#emb.weight", Options{Raw: true}, garner.ErrAttribute, "has no quantised blocks"},
		{path + "#emb.weight", Options{Shape: []int{40}}, garner.ErrAttribute, "says itself what its shape is"},
		{"nosuch.onnx#a", Options{}, fs.ErrNotExist, "there is no file nosuch.onnx"},
		{"../testdata/models/*.onnx#emb.weight", Options{}, garner.ErrAttribute, "those of format onnx are read one at a time"},
	} {
		_, err := Open(context.Background(), tt.operand, tt.o)
		refused(t, err, tt.class, tt.want)
	}
	if _, err := OutputFormat("a.onnx"); err == nil || !strings.Contains(err.Error(), "garner reads .onnx files and does not write them") {
		t.Error(err)
	}
}

// TestConstantMemory opens a constant that is encoded in varints in the memory of its elements.
func TestConstantMemory(t *testing.T) {
	const n = 1 << 17
	field := func(tag byte, b []byte) []byte {
		return append(binary.AppendUvarint([]byte{tag}, uint64(len(b))), b...)
	}
	var numbers []byte
	for i := range uint64(n) {
		numbers = binary.AppendUvarint(numbers, i)
	}
	tensor := append(binary.AppendUvarint([]byte{0x08}, n), 0x10, 7) // dims, data_type
	tensor = append(append(tensor, field(0x3a, numbers)...), field(0x42, []byte("w"))...)
	made := append([]byte{0x08, 8}, field(0x42, []byte{0x10, 13})...) // ir_version, opset_import
	made = append(made, field(0x3a, append(field(0x12, []byte("g")), field(0x2a, tensor)...))...)
	path := filepath.Join(t.TempDir(), "m.onnx")
	if err := os.WriteFile(path, made, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), path+"#w", Options{Memory: 8*n - 1})
	refused(t, err, ErrTooLarge, `"w" i64[131072] takes 1 MiB of memory while it is read`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, done, err := Tensor(t.Context(), path+"#w", Options{Memory: 8 * n})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if v, err := got.Int(n - 1); err != nil || v.Bits != n-1 {
		t.Errorf("%v, %v", v, err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 8*n*3/2 {
		t.Errorf("a constant of %d bytes took %d", 8*n, took)
	}
}

// Options of models go to their readers, and are refused for other files.
func TestConstantsOfOptions(t *testing.T) {
	t.Chdir(t.TempDir())
	const text = `<net name="n" version="11"><layers>
<layer id="0" name="p" type="Parameter" version="opset1"><data shape="2" element_type=f32/><output><port id="0" precision="FP32"><dim>2</dim></port></output></layer>
<layer id="1" name="r" type="Result" version="opset1"><input><port id="0" precision="FP32"><dim>2</dim></port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>`
	if err := os.WriteFile("m.xml", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("t.raw", make([]byte, 8), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := List(t.Context(), "m.xml", Options{}); err == nil || !strings.Contains(err.Error(), "Options.Lenient") {
		t.Errorf("%v; it is to name Options.Lenient", err)
	}
	if list, err := List(t.Context(), "m.xml", Options{Lenient: true}); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	for _, o := range []Options{{Lenient: true}, {Signature: "s"}} {
		_, err := List(t.Context(), "t.raw", o)
		refused(t, err, garner.ErrAttribute, "t.raw is no model; Options.")
		_, err = Open(t.Context(), "t.raw", Options{DType: garner.U8, Lenient: o.Lenient, Signature: o.Signature})
		refused(t, err, garner.ErrAttribute, "t.raw is no model; Options.")
	}
	_, err := List(t.Context(), "m.xml", Options{Lenient: true, Signature: "s"})
	refused(t, err, garner.ErrAttribute, "Options.Signature is for those of")
}
