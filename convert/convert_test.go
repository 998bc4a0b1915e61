package convert_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/convert"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/format/npz"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/lint/fix"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/openvino/ir"
)

const models = "../testdata/models/"

func open(t *testing.T, path string) *model.Model {
	t.Helper()
	m, err := files.OpenModel(path, files.ModelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// same compares two tensors bit for bit.
func same(t *testing.T, a, b garner.Tensor) bool {
	t.Helper()
	if a.DType() != b.DType() || !a.Shape().Equal(b.Shape()) {
		return false
	}
	if a.DType() == garner.String {
		return a.Text() == b.Text()
	}
	bits := func(x garner.Tensor) []byte {
		c, err := x.Clone()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := c.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	return bytes.Equal(bits(a), bits(b))
}

// TestModels converts the models of testdata/models to both formats, in every way, and holds what garner
// run makes of the result against what the source's own runtime answered, bit for bit. Models that
// are not converted are named.
func TestModels(t *testing.T) {
	refused := map[string]string{
		"mlp.onnx": "MatMul is not converted", "mlp.xml": "MatMul is not converted", "mix.xml": "ScatterUpdate is not converted",
		"compressed.xml": "a cast of f8e4m3fn to f32 is not converted", "compressed_others.xml": "a cast of f8e5m2 to f16 is not converted",
		"lite_control.tflite": "the condition of IF is computed by the model", "lite_made_sparse.tflite": "EMBEDDING_LOOKUP_SPARSE is not converted", "lite_made_lookups.tflite": "hybrid-embedding-lookup",
	}
	var paths []string
	for _, pattern := range []string{"*.onnx", "*.xml", "*.tflite"} {
		found, err := filepath.Glob(models + pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	results, guarded := 0, 0
	for _, path := range paths {
		base := filepath.Base(path)
		t.Run(base, func(t *testing.T) {
			stem := strings.TrimSuffix(path, filepath.Ext(path))
			m := open(t, path)
			for _, extension := range convert.Extensions() {
				for _, outside := range []convert.Outside{convert.Keep, convert.Clamp, convert.AsIs} {
					out := filepath.Join(t.TempDir(), "out"+extension)
					report, err := convert.File(t.Context(), m, out, convert.Options{Outside: outside, Lossy: true})
					want, ok := refused[base]
					if !ok {
						want, ok = refused[base+" to "+extension]
					}
					if ok {
						if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, convert.ErrUnsupported) && !errors.Is(err, garner.ErrDType) {
							t.Errorf("to %s: %v; want %q", extension, err, want)
						}
						continue
					}
					if (base == "lite_strings.tflite" || base == "evaluate.onnx") && extension == ".xml" { // they have strings
						if !errors.Is(err, garner.ErrDType) {
							t.Errorf("to %s: %v", extension, err)
						}
						continue
					}
					if err != nil {
						t.Errorf("to %s, %s: %v", extension, outside, err)
						continue
					}
					if report.Nodes == 0 || report.Files[0] != out {
						t.Errorf("%+v", report)
					}
					results += held(t, m, out, stem)
					if outside != convert.AsIs {
						guarded += guardsHold(t, report, out)
					}
				}
			}
		})
	}
	if len(paths) < 30 || results < 300 || guarded < 80 {
		t.Errorf("%d models, %d results, %d guards", len(paths), results, guarded)
	}
}

// held runs a converted model on the recorded inputs of its source, and compares each result with what
// the source's runtime answered. It returns how many were compared.
func held(t *testing.T, source *model.Model, out, stem string) (n int) {
	t.Helper()
	made := open(t, out)
	inputs := recorded(t, stem+".inputs.npz")
	runtime := map[string]string{"ONNX": ".onnxruntime.npz", "OpenVINO IR": ".openvino.npz", "TFLite": ".litert.npz"}[source.Format]
	want := recorded(t, stem+runtime)
	given := make(map[*model.Value]garner.Tensor)
	for i, v := range source.Graph.Inputs {
		for _, name := range append([]string{v.Name}, v.Aliases...) {
			if a, err := inputs.Array(strings.ReplaceAll(name, "/", "_")); err == nil {
				given[made.Graph.Inputs[i]] = a.Tensor
			} else if a, err := inputs.Array(name); err == nil {
				given[made.Graph.Inputs[i]] = a.Tensor
			}
		}
	}
	for i, o := range made.Graph.Outputs {
		name := source.Graph.Outputs[i].Name
		a, err := want.Array(name)
		if err != nil {
			a, err = want.Array(strings.ReplaceAll(name, "/", "_"))
		}
		if err != nil {
			continue // recorded by another name
		}
		got, err := run.Values(t.Context(), made, []*model.Value{o.Value}, given, math.MaxInt, asRun)
		var bad *run.Unsupported
		if errors.As(err, &bad) {
			continue
		}
		if err != nil {
			t.Errorf("%s of %s: %v", o.Name, out, err)
			continue
		}
		if !same(t, got[0], a.Tensor) {
			t.Errorf("%s of %s is %v; %s answered %v", o.Name, out, got[0], runtime, a.Tensor)
		}
		n++
	}
	return n
}

func recorded(t *testing.T, path string) *npz.File {
	t.Helper()
	f, err := npz.Open(path, npz.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// asRun gives gathers of OpenVINO the policies of its CPU plugin.
var asRun = run.Amend(func(g run.Gather) (garner.Op, error) {
	switch g.Node.Operator {
	case "openvino.Gather-1", "openvino.Gather-7":
		return garner.WithOutside(g.Op, garner.Zero), nil
	case "openvino.GatherND-5", "openvino.GatherND-8", "openvino.GatherElements-6":
		return garner.WithNegative(g.Op, garner.FromEnd), nil
	}
	return g.Op, nil
})

// small is the text of an IR with one gather of its inputs x and i; the axis is in the .bin.
func small(kind, version, data, x, i, out string) string {
	dims := func(shape string) string {
		var b strings.Builder
		for d := range strings.SplitSeq(shape, ",") {
			if d == "?" {
				d = "-1"
			}
			fmt.Fprintf(&b, "<dim>%s</dim>", d)
		}
		return b.String()
	}
	parameter := func(id int, name, dtype, shape string) string {
		precision := map[string]string{"f32": "FP32", "i64": "I64", "boolean": "BOOL", "bf16": "BF16", "u64": "U64"}[dtype]
		return fmt.Sprintf(`<layer id="%d" name="%s" type="Parameter" version="opset1"><data element_type="%s" shape="%s"/><output><port id="0" precision="%s" names="%s">%s</port></output></layer>`, id, name, dtype, shape, precision, name, dims(shape))
	}
	dtype, shape, _ := strings.Cut(x, " ")
	port := `<port id="2"/>`
	constant, edge := "", ""
	if kind == "Gather" {
		constant = `<layer id="2" name="axis" type="Const" version="opset1"><data element_type="i64" shape="" offset="0" size="8"/><output><port id="0" precision="I64"/></output></layer>`
		edge = `<edge from-layer="2" from-port="0" to-layer="3" to-port="2"/>`
	} else {
		port = ""
	}
	return `<net name="g" version="11"><layers>` + parameter(0, "x", dtype, shape) + parameter(1, "i", "i64", i) + constant +
		fmt.Sprintf(`<layer id="3" name="gather" type="%s" version="%s"><data %s/><input><port id="0"/><port id="1"/>%s</input><output><port id="3" names="y">%s</port></output></layer>`, kind, version, data, port, dims(out)) +
		`<layer id="4" name="result" type="Result" version="opset1"><input><port id="0"/></input></layer></layers><edges><edge from-layer="0" from-port="0" to-layer="3" to-port="0"/><edge from-layer="1" from-port="0" to-layer="3" to-port="1"/>` + edge +
		`<edge from-layer="3" from-port="3" to-layer="4" to-port="0"/></edges></net>`
}

// TestKeep converts gathers of OpenVINO to ONNX and to itself, and ONNX's to OpenVINO, and holds
// their answers to random feeds, valid and bad, against each other: what the source answers the target
// answers, and what it refuses the target refuses.
func TestKeep(t *testing.T) {
	for _, tt := range []struct {
		name, kind, version, data string
		x, i, out                 string // dtype and shapes as declared
		axis                      int
		dims, indices             []int // of a feed
		bound                     int   // length of the axis
	}{
		{"Gather-8", "Gather", "opset8", "", "f32 ?,4", "?,2", "?,2,4", 0, []int{3, 4}, []int{2, 2}, 3},
		{"Gather-8 static", "Gather", "opset8", "", "f32 3,4", "2,2", "2,2,4", 0, []int{3, 4}, []int{2, 2}, 3},
		{"Gather-8 axis 1", "Gather", "opset8", "", "boolean ?,?,2", "?", "?,?,2", 1, []int{2, 3, 2}, []int{4}, 3},
		{"Gather-8 bf16", "Gather", "opset8", "", "bf16 ?,4", "?", "?,4", 0, []int{3, 4}, []int{4}, 3},
		{"Gather-8 u64", "Gather", "opset8", "", "u64 3,4", "?", "?,4", 0, []int{3, 4}, []int{4}, 3},
		{"Gather-8 empty", "Gather", "opset8", "", "f32 ?,4", "?", "?,4", 0, []int{0, 4}, []int{4}, 0},
		{"Gather-8 batch 1", "Gather", "opset8", `batch_dims="1"`, "f32 2,?,4", "2,?", "2,?,4", 1, []int{2, 3, 4}, []int{2, 5}, 3},
		{"Gather-8 batch 1 axis 2", "Gather", "opset8", `batch_dims="1"`, "f32 2,5,3", "2,?", "2,5,?", 2, []int{2, 5, 3}, []int{2, 4}, 3},
		{"Gather-8 batch -1", "Gather", "opset8", `batch_dims="-1"`, "f32 2,?,4", "2,?", "2,?,4", 1, []int{2, 3, 4}, []int{2, 5}, 3},
		{"Gather-7", "Gather", "opset7", "", "f32 ?,4", "?,2", "?,2,4", 0, []int{3, 4}, []int{2, 2}, 3},
		{"Gather-7 batch 1", "Gather", "opset7", `batch_dims="1"`, "f32 2,3,4", "2,5", "2,5,4", 1, []int{2, 3, 4}, []int{2, 5}, 3},
		{"Gather-1", "Gather", "opset1", "", "f32 3,4", "?", "?,4", 0, []int{3, 4}, []int{5}, 3},
		{"GatherND-8", "GatherND", "opset8", "", "f32 ?,4", "?,1", "?,4", 0, []int{3, 4}, []int{5, 1}, 3},
		{"GatherND-8 batch 1", "GatherND", "opset8", `batch_dims="1"`, "f32 2,3,4", "2,?,1", "2,?,4", 0, []int{2, 3, 4}, []int{2, 2, 1}, 3},
		{"GatherND-5 batch 2", "GatherND", "opset5", `batch_dims="2"`, "f32 ?,2,3", "?,2,1", "?", 0, []int{2, 2, 3}, []int{2, 2, 1}, 3},
		{"GatherElements-6", "GatherElements", "opset6", `axis="1"`, "f32 ?,?", "?,?", "?,?", 0, []int{2, 3}, []int{2, 5}, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bin := make([]byte, 8)
			bin[0] = byte(tt.axis)
			source, err := ir.Read("source.xml", strings.NewReader(small(tt.kind, tt.version, tt.data, tt.x, tt.i, tt.out)), bin, ir.Options{})
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			chain := []*model.Model{source}
			for k, extension := range []string{".onnx", ".xml", ".onnx"} {
				from := chain[len(chain)-1]
				out := filepath.Join(dir, fmt.Sprint("out", k)+extension)
				report, err := convert.File(t.Context(), from, out, convert.Options{})
				if err != nil {
					t.Fatalf("%s: %v", extension, err)
				}
				if k == 0 && len(report.Notes) == 0 && tt.name != "GatherElements-6" {
					t.Error("nothing was guarded")
				}
				guardsHold(t, report, out)
				chain = append(chain, open(t, out))
			}
			rng := rand.New(rand.NewPCG(1, 1))
			answered, refused := 0, 0
			for n := range 200 {
				x, err := garner.New(source.Graph.Inputs[0].Spec.DType, tt.dims...)
				if err != nil {
					t.Fatal(err)
				}
				b, err := x.Bytes()
				if err != nil {
					t.Fatal(err)
				}
				for i := range b {
					switch b[i] = byte(rng.IntN(100)); {
					case x.DType() == garner.Bool:
						b[i] &= 1
					case x.DType() == garner.U64 && i%8 > 3: // what OpenVINO does not hold
						b[i] = 0
					}
				}
				count := 1
				for _, d := range tt.indices {
					count *= d
				}
				list := make([]int64, count)
				for i := range list {
					if list[i] = int64(rng.IntN(max(tt.bound, 1))); n%2 == 1 {
						list[i] = int64(rng.IntN(2*tt.bound+4) - tt.bound - 2)
					}
				}
				at := garner.Of(list, tt.indices...)
				var want garner.Tensor
				var failed error
				for k, m := range chain {
					given := map[*model.Value]garner.Tensor{m.Graph.Inputs[0]: x, m.Graph.Inputs[1]: at}
					got, err := run.Values(context.Background(), m, []*model.Value{m.Graph.Outputs[0].Value}, given, math.MaxInt, asRun)
					switch {
					case k == 0:
						if failed = err; err == nil {
							want = got[0]
							answered++
						} else {
							refused++
						}
					case (err == nil) != (failed == nil):
						t.Fatalf("step %d, indices %v: %v; the source: %v", k, list, err, failed)
					case err == nil && !same(t, got[0], want):
						t.Fatalf("step %d, indices %v: %v; the source gives %v", k, list, got[0], want)
					}
				}
			}
			if answered < 90 && tt.bound > 0 || strings.HasPrefix(tt.kind, "Gather") && tt.kind != "Gather" && refused < 20 {
				t.Errorf("%d answered, %d refused", answered, refused)
			}
		})
	}
}

// TestLongAxis holds that the guards of an axis of more than 2^24 elements tell its last indices from those
// behind it in OpenVINO, which compares integers as f32.
func TestLongAxis(t *testing.T) {
	const n = 1<<24 + 5
	bin := make([]byte, 8)
	source, err := ir.Read("source.xml", strings.NewReader(small("Gather", "opset8", "", "boolean ?", "?", "?")), bin, ir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	m := source
	for _, name := range []string{"m.onnx", "m.xml"} {
		if _, err := convert.File(t.Context(), m, filepath.Join(dir, name), convert.Options{}); err != nil {
			t.Fatal(err)
		}
		m = open(t, filepath.Join(dir, name))
	}
	list := make([]bool, n)
	list[n-1], list[n-4] = true, true
	given := map[*model.Value]garner.Tensor{m.Graph.Inputs[0]: garner.Of(list, n), m.Graph.Inputs[1]: garner.Of([]int64{n - 1, n - 2, -1, n, n + 1, n - 4}, 6)}
	got, err := run.Values(t.Context(), m, []*model.Value{m.Graph.Outputs[0].Value}, given, math.MaxInt)
	if err != nil || got[0].String() != "bool[6] [true, false, true, false, false, true]" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestRecorded holds GATHER_ND of LiteRT, converted to both formats, against what its Interpreter answered to single tuples, and the
// recorded answers of OpenVINO that guards rest on.
func TestRecorded(t *testing.T) {
	var have struct {
		LiteRT   struct{ Answers [][]any }
		OpenVINO map[string]any
	}
	b, err := os.ReadFile("testdata/recorded.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &have); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"GatherElements of [0] by 0, 1": "[[0] <nil>]", "Divide, m_pythondiv, of -7 by 2": "[-3]", "Divide of 50331651 by 3": "[1.6777218e+07]",
		"Add of lengths 3 and 2: start_async of 1 thread, infer and start_async of 2": "[error error error]",
		"Add of u8 250 and 50": "[255]", "Convert to u8 of i64 300": "[44]", "Gather-8 of [5, 6] by 2^32+1": "[6]",
	} {
		if got := fmt.Sprint(have.OpenVINO[name]); got != want {
			t.Errorf("%s: %s; want %s", name, got, want)
		}
	}
	source := open(t, "testdata/gather_nd.tflite")
	x := make([]float32, 12)
	for i := range x {
		x[i] = float32(i)
	}
	for _, extension := range convert.Extensions() {
		out := filepath.Join(t.TempDir(), "out"+extension)
		if _, err := convert.File(t.Context(), source, out, convert.Options{}); err != nil {
			t.Fatal(err)
		}
		m := open(t, out)
		for _, a := range have.LiteRT.Answers {
			given := make(map[*model.Value]garner.Tensor)
			for _, v := range m.Graph.Inputs {
				if given[v] = garner.Of(x, 3, 4); v.Spec.DType == garner.I32 {
					given[v] = garner.Of([]int32{int32(a[0].(float64)), int32(a[1].(float64))}, 1, 2)
				}
			}
			got, err := run.Values(t.Context(), m, []*model.Value{m.Graph.Outputs[0].Value}, given, math.MaxInt)
			want, ok := a[2].(float64)
			if (err == nil) != ok || ok && !same(t, got[0], garner.Of([]float32{float32(want)}, 1)) {
				t.Errorf("%s: tuple %v: %v, %v", extension, a, got, err)
			}
		}
	}
	if len(have.LiteRT.Answers) != 17*17 {
		t.Errorf("%d answers", len(have.LiteRT.Answers))
	}
}

// TestClamp holds that valid indices are answered alike where indices are clamped, and that others are
// answered too.
func TestClamp(t *testing.T) {
	for _, path := range []string{"../testdata/onnx/gather_13_axis0/model.onnx", "../testdata/onnx/gathernd_13_elements/model.onnx", "../testdata/onnx/gatherelements_13_axis0/model.onnx"} {
		source := open(t, path)
		for _, extension := range convert.Extensions() {
			out := filepath.Join(t.TempDir(), "out"+extension)
			report, err := convert.File(t.Context(), source, out, convert.Options{Outside: convert.Clamp})
			if err != nil {
				t.Fatal(err)
			}
			guardsHold(t, report, out)
			made := open(t, out)
			rng := rand.New(rand.NewPCG(1, 1))
			for n := range 50 {
				given, also := make(map[*model.Value]garner.Tensor), make(map[*model.Value]garner.Tensor)
				for i, v := range source.Graph.Inputs {
					shape, ok := v.Spec.Shape()
					if !ok {
						t.Fatal(v)
					}
					x, err := garner.New(v.Spec.DType, shape...)
					if err != nil {
						t.Fatal(err)
					}
					if list, err := garner.Values[int64](x); err == nil && i == 1 {
						for j := range list {
							if list[j] = int64(rng.IntN(2)); n%2 == 1 {
								list[j] = int64(rng.IntN(2000) - 1000)
							}
						}
					}
					given[v], also[made.Graph.Inputs[i]] = x, x
				}
				want, failed := run.Values(t.Context(), source, []*model.Value{source.Graph.Outputs[0].Value}, given, math.MaxInt)
				got, err := run.Values(t.Context(), made, []*model.Value{made.Graph.Outputs[0].Value}, also, math.MaxInt)
				if err != nil {
					t.Fatalf("%s to %s: %v", path, extension, err)
				}
				if failed == nil && !same(t, got[0], want[0]) {
					t.Fatalf("%s to %s: %v; the source gives %v", path, extension, got[0], want[0])
				}
			}
		}
	}
}

// TestRefused holds what is refused by name, before anything is written.
func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		path, extension string
		o               convert.Options
		class           error
		text            string
	}{
		{"../testdata/onnx/gather_13_double/model.onnx", ".xml", convert.Options{}, convert.ErrLossy, `node "Gather_0" (graph.node[0]): OpenVINO computes f64 as f32`},
		{"../testdata/onnx/gather_13_double/model.onnx", ".xml", convert.Options{Lossy: true}, nil, ""},
		{"../testdata/onnx/gather_13_string/model.onnx", ".xml", convert.Options{}, garner.ErrDType, "OpenVINO has no Gather of string"},
		{"../testdata/onnx/gather_13_string/model.onnx", ".onnx", convert.Options{}, nil, ""},
		{"../testdata/onnx/gather_13_complex64/model.onnx", ".onnx", convert.Options{}, garner.ErrDType, "ONNX Runtime has no Gather of complex64"},
		{models + "mlp.onnx", ".xml", convert.Options{}, convert.ErrUnsupported, `MatMul is not converted; gathers are`},
		{models + "hash.onnx", ".npy", convert.Options{}, garner.ErrAttribute, "there are .onnx and .xml"},
		{"../tensorflow/graphdef/testdata/keras", ".onnx", convert.Options{}, nil, ""},
		{"../tensorflow/graphdef/testdata/keras", ".xml", convert.Options{}, nil, ""},
		{"../tensorflow/graphdef/testdata/gathers", ".onnx", convert.Options{}, nil, ""},
		{"../tensorflow/graphdef/testdata/gathers", ".xml", convert.Options{}, garner.ErrDType, "OpenVINO has no Gather of string"},
		{models + "evaluate.onnx", ".xml", convert.Options{}, convert.ErrLossy, "OpenVINO divides floats"},
	} {
		dir := t.TempDir()
		_, err := convert.File(t.Context(), open(t, tt.path), filepath.Join(dir, "out"+tt.extension), tt.o)
		if !errors.Is(err, tt.class) || tt.class != nil && !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s to %s: %v; want %q", tt.path, tt.extension, err, tt.text)
		}
		left, err := os.ReadDir(dir)
		if err != nil || tt.class != nil && len(left) > 0 {
			t.Errorf("%s to %s left %v (%v)", tt.path, tt.extension, left, err)
		}
	}
}

// TestPlace holds that an output is no file of the source, no link, replaces an old pair whole, and leaves
// nothing behind where it fails.
func TestPlace(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"bert.xml", "bert.bin"} {
		b, err := os.ReadFile(models + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m := open(t, filepath.Join(dir, "bert.xml"))
	if _, err := convert.File(t.Context(), m, filepath.Join(dir, "bert.xml"), convert.Options{}); err == nil || !strings.Contains(err.Error(), "it is the input") {
		t.Errorf("onto itself: %v", err)
	}
	if err := os.Symlink(filepath.Join(dir, "bert.bin"), filepath.Join(dir, "other.bin")); err == nil {
		if _, err := convert.File(t.Context(), m, filepath.Join(dir, "other.xml"), convert.Options{}); err == nil {
			t.Error("the elements were written through a link onto the input")
		}
		os.Remove(filepath.Join(dir, "other.bin"))
	}
	out := filepath.Join(dir, "out.xml")
	for _, o := range []convert.Options{{}, {Outside: convert.AsIs}, {}} {
		if _, err := convert.File(t.Context(), m, out, o); err != nil {
			t.Fatal(err)
		}
	}
	was, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := convert.File(ctx, m, out, convert.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if is, err := os.ReadFile(out); err != nil || !bytes.Equal(is, was) {
		t.Errorf("a cancelled conversion changed the output: %v", err)
	}
	if _, err := convert.File(t.Context(), m, filepath.Join(dir, "missing", "out.onnx"), convert.Options{}); err == nil {
		t.Error("a folder that is not there was written to")
	}
	var names []string
	left, err := os.ReadDir(dir)
	for _, e := range left {
		names = append(names, e.Name())
	}
	if want := []string{"bert.bin", "bert.xml", "out.bin", "out.xml"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%v, %v; want %v", names, err, want)
	}
}

// TestNames holds that names of inputs and outputs are kept, with commas too, and made ones that the format
// has and no other bears where they cannot be.
func TestNames(t *testing.T) {
	text := strings.NewReplacer(`names="x"`, `names="a\,b"`, `names="y"`, `names="&lt;y&gt; &amp; é"`).Replace(small("Gather", "opset8", "", "f32 ?,4", "?", "?,4"))
	source, err := ir.Read("source.xml", strings.NewReader(text), make([]byte, 8), ir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, extension := range convert.Extensions() {
		out := filepath.Join(t.TempDir(), "out"+extension)
		if _, err := convert.File(t.Context(), source, out, convert.Options{}); err != nil {
			t.Fatal(err)
		}
		m := open(t, out)
		if a, b := m.Graph.Inputs[0].Name, m.Graph.Outputs[0].Name; a != "a,b" || b != "<y> & é" {
			t.Errorf("%s: %q and %q", extension, a, b)
		}
		if got := m.Graph.Inputs[0].Spec.String(); got != "f32[?,4]" {
			t.Error(got)
		}
	}
	// Control characters, which XML does not have, and a name that two have then.
	source.Graph.Inputs[0].Name, source.Graph.Inputs[1].Name = "a\x01", "a_"
	out := filepath.Join(t.TempDir(), "out.xml")
	report, err := convert.File(t.Context(), source, out, convert.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := open(t, out)
	if a, b := m.Graph.Inputs[0].Name, m.Graph.Inputs[1].Name; a != "a_" || b != "a__1" {
		t.Errorf("%q and %q", a, b)
	}
	if n := slices.IndexFunc(report.Notes, func(n convert.Note) bool { return n.Kind == "renamed" }); n < 0 {
		t.Errorf("%v", report.Notes)
	}
}

// TestUnrelated holds that elements never replace a file that no old model refers to, and that those of an
// old model go with it.
func TestUnrelated(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	hash, bias := open(t, models+"hash.onnx"), open(t, models+"bias.onnx")
	if err := os.WriteFile(at("own.bin"), []byte("a letter"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "no model", `<net name="g" version="11"><layers></layers></net>`} {
		if text != "" {
			if err := os.WriteFile(at("own.xml"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := convert.File(t.Context(), hash, at("own.xml"), convert.Options{}); err == nil || !strings.Contains(err.Error(), "own.bin, which is there, and no old own.xml refers to it") {
			t.Errorf("%q: %v", text, err)
		}
		if b, err := os.ReadFile(at("own.bin")); err != nil || string(b) != "a letter" {
			t.Fatalf("%q: own.bin is %q, %v", text, b, err)
		}
	}
	for _, m := range []*model.Model{hash, bias, hash} {
		if _, err := convert.File(t.Context(), m, at("out.xml"), convert.Options{}); err != nil {
			t.Fatal(err)
		}
		held(t, m, at("out.xml"), strings.TrimSuffix(m.Path, ".onnx"))
	}
}

// TestTogether converts two models to one place at the same time. One of them is there at the end, whole.
func TestTogether(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.xml")
	var all sync.WaitGroup
	done := make([]int, 2)
	for i, name := range []string{"hash", "bias"} {
		m := open(t, models+name+".onnx")
		all.Go(func() {
			for range 10 {
				_, err := convert.File(t.Context(), m, out, convert.Options{})
				switch {
				case err == nil:
					done[i]++
				case !strings.Contains(err.Error(), "another garner is writing it"):
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if done[0]+done[1] == 0 {
		t.Fatal("none was written")
	}
	name := map[int]string{1: "hash", 2: "bias"}[len(open(t, out).Graph.Inputs)]
	if n := held(t, open(t, models+name+".onnx"), out, models+name); n == 0 {
		t.Error("nothing was compared")
	}
}

// TestDimNames holds that a note says which names of dims OpenVINO IR lacks.
func TestDimNames(t *testing.T) {
	m := oneNode(onnxModel, "Abs", 13, nil, 1, in(garner.F32, -1, -1))
	m.Graph.Inputs[0].DimNames = []string{"batch", ""}
	for extension, want := range map[string]string{".xml": "[dropped: OpenVINO IR has no names of dims; the input \"x0\" had batch]", ".onnx": "[]"} {
		report, err := convert.File(t.Context(), m, filepath.Join(t.TempDir(), "out"+extension), convert.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(report.Notes); got != want {
			t.Errorf("%s: %s; want %s", extension, got, want)
		}
	}
}

// TestDefaults converts an input with a default, in every way, and an old model whose constants are
// among its inputs.
func TestDefaults(t *testing.T) {
	for _, tt := range []struct {
		name, extension string
		defaults        convert.Defaults
		inputs          int
		byDefault       bool
		want            string // of the notes, or the error
	}{
		{"default", ".onnx", convert.DefaultsKept, 2, true, ""},
		{"default", ".xml", convert.DefaultsKept, 0, false, `the input "w" has a default, which OpenVINO IR does not hold; say with the option defaults`},
		{"default", ".onnx", convert.DefaultsInput, 2, false, `replaced: the input "w" has a default, and becomes one that every caller gives`},
		{"default", ".xml", convert.DefaultsInput, 2, false, `replaced: the input "w" has a default, and becomes one that every caller gives`},
		{"default", ".onnx", convert.DefaultsConstant, 1, false, `replaced: the input "w" has a default, and becomes that constant`},
		{"default", ".xml", convert.DefaultsConstant, 1, false, `replaced: the input "w" has a default, and becomes that constant`},
		{"default_ir3", ".onnx", convert.DefaultsKept, 1, false, ""},
		{"default_ir3", ".xml", convert.DefaultsKept, 1, false, ""},
	} {
		out := filepath.Join(t.TempDir(), "out"+tt.extension)
		report, err := convert.File(t.Context(), open(t, "testdata/"+tt.name+".onnx"), out, convert.Options{Defaults: tt.defaults})
		if tt.inputs == 0 {
			if !errors.Is(err, convert.ErrUnsupported) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v: %v", tt, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", tt, err)
			continue
		}
		if got := fmt.Sprint(report.Notes); !strings.Contains(got, tt.want) || report.Compared.Answered == 0 {
			t.Errorf("%v: %s, %v", tt, got, report.Compared)
		}
		m := open(t, out)
		if n := len(m.Graph.Inputs); n != tt.inputs || m.Graph.Inputs[n-1].Default != tt.byDefault {
			t.Errorf("%v: its inputs are %v", tt, m.Graph.Inputs)
		}
		x := garner.Of([]float32{0, 1, 2, 3, 4, 5}, 3, 2)
		for _, given := range []bool{false, true} {
			feed, want := map[*model.Value]garner.Tensor{m.Graph.Inputs[0]: x}, "[[0.0, 1.0], [4.0, 5.0]]"
			if given {
				if tt.inputs == 1 {
					continue
				}
				feed[m.Graph.Inputs[1]], want = garner.Of([]int64{1, -1}, 2), "[[2.0, 3.0], [4.0, 5.0]]"
			} else if tt.inputs == 2 && !tt.byDefault {
				continue
			}
			got, err := run.Values(t.Context(), m, []*model.Value{m.Graph.Outputs[0].Value}, feed, math.MaxInt)
			if err != nil || got[0].Text() != want {
				t.Errorf("%v, given %v: %v, %v", tt, given, got, err)
			}
		}
	}
	if _, err := convert.ParseDefaults("none"); !errors.Is(err, garner.ErrAttribute) {
		t.Error(err)
	}
	for _, o := range []convert.Options{{Outside: 9}, {Defaults: 9}} {
		if _, err := convert.File(t.Context(), open(t, "testdata/default.onnx"), filepath.Join(t.TempDir(), "out.onnx"), o); !errors.Is(err, garner.ErrAttribute) || !strings.Contains(err.Error(), "(9)") {
			t.Errorf("%v: %v", o, err)
		}
	}
}

// TestShared holds that elements to which a copy refers, such as that of lint --fix, are neither replaced nor
// removed.
func TestShared(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	text := strings.Replace(small("Gather", "opset8", "", "f32 ?,2", "?", "?,2"),
		`<layer id="0" name="x" type="Parameter" version="opset1"><data element_type="f32" shape="?,2"/>`,
		`<layer id="0" name="x" type="Const" version="opset1"><data element_type="f32" shape="10000,2" offset="64" size="80000"/>`, 1)
	for name, b := range map[string]string{"source.xml": text, "source.bin": strings.Repeat("\x00", 64) + strings.Repeat("\x07", 80000)} {
		if err := os.WriteFile(at(name), []byte(b), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	source := open(t, at("source.xml"))
	if _, err := convert.File(t.Context(), source, at("out.onnx"), convert.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := fix.File(t.Context(), at("out.onnx"), at("copy.onnx"), fix.Options{}); err != nil {
		t.Fatal(err)
	}
	was, err := os.ReadFile(at("out.onnx.data"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = convert.File(t.Context(), source, at("out.onnx"), convert.Options{})
	if err == nil || !strings.Contains(err.Error(), "out.onnx.data, to which "+at("copy.onnx")+" refers too") {
		t.Errorf("%v", err)
	}
	if _, err := convert.File(t.Context(), open(t, models+"hash.onnx"), at("out.onnx"), convert.Options{}); err != nil {
		t.Errorf("%v", err)
	}
	if is, err := os.ReadFile(at("out.onnx.data")); err != nil || !bytes.Equal(is, was) {
		t.Errorf("what the copy refers to is not what it was: %v", err)
	}
	open(t, at("copy.onnx"))
}
