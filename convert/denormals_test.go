package convert_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/convert"
	"github.com/garner-go/garner/model"
)

// TestDenormals finds constants with a denormal f32, which OpenVINO takes for 0, between its format and the others, where
// the model reads them as floats.
func TestDenormals(t *testing.T) {
	tiny := math.Float32frombits(1)
	most := math.Float32frombits(1<<23 - 1)
	negative := float32(math.Copysign(0, -1))
	f32 := func(list ...float32) garner.Tensor { return garner.Of(list, len(list)) }
	table := f32(1, 2, 3, tiny)
	long := make([]float32, 1<<19+3)
	long[len(long)-1] = -most
	gather := func(format string, table garner.Tensor) *model.Model {
		if format == irModel {
			return oneGather(format, "Gather", 8, nil, table, in(garner.I64, -1), number(0))
		}
		return oneGather(format, "Gather", 13, nil, table, in(garner.I64, -1))
	}
	direct := oneNode(onnxModel, "Cast", 13, attributes{"to": int64(1)}, 1, in(garner.I32, 3))
	held := &model.Value{Name: "x9", Spec: garner.SpecOf(garner.F32, 4), Constant: model.NewConstant("x9", garner.SpecOf(garner.F32, 4), func() (garner.Tensor, error) { return table, nil })}
	direct.Graph.Constants = append(direct.Graph.Constants, held)
	direct.Graph.Outputs = append(direct.Graph.Outputs, model.Result{Name: "x9", Value: held})
	for name, tt := range map[string]struct {
		m    *model.Model
		want string // of the error; "" where it is converted
	}{
		"the first of two":  {gather(onnxModel, f32(most, 1, 2)), `"x0"`},
		"the second of two": {gather(onnxModel, f32(1, -tiny, 2)), `"x0"`},
		"the last of three": {gather(onnxModel, f32(1, 2, tiny)), `"x0"`},
		"a later piece":     {gather(onnxModel, f32(long...)), `"x0"`},
		"of IR":             {gather(irModel, table), `"x0"`},
		"no denormal":       {gather(onnxModel, f32(0, negative, 0x1p-126, -0x1p-126, 1, float32(math.Inf(1)), float32(math.NaN()), math.MaxFloat32)), ""},
		"f16":               {gather(onnxModel, garner.Of([]garner.Float16{1, 2, 3, 4}, 4)), ""},
		"bf16":              {gather(onnxModel, garner.Of([]garner.BFloat16{1, 2, 3, 4}, 4)), ""},
		"integers":          {gather(onnxModel, garner.Of([]int32{1, 2, 3, 4}, 4)), ""},
		"a shape":           {oneNode(onnxModel, "Shape", 15, nil, 1, table), ""},
		"to bool":           {oneNode(onnxModel, "Cast", 13, attributes{"to": int64(9)}, 1, table), ""},
		"to f16":            {oneNode(onnxModel, "Cast", 13, attributes{"to": int64(10)}, 1, table), `"x0"`},
		"a Pad's value":     {oneNode(onnxModel, "Pad", 18, nil, 1, in(garner.F32, 3), whole(1, 1), garner.Of([]float32{tiny})), ""},
		"a Pad's elements":  {oneNode(onnxModel, "Pad", 18, nil, 1, table, whole(1, 1)), `"x0"`},
		"a result":          {direct, `"x9"`},
	} {
		for _, extension := range convert.Extensions() {
			want := tt.want
			if (tt.m.Format == irModel) == (extension == ".xml") { // the format stays
				want = ""
			}
			out := filepath.Join(t.TempDir(), "out"+extension)
			_, err := convert.File(t.Context(), tt.m, out, convert.Options{})
			if want == "" {
				if err != nil {
					t.Errorf("%s to %s: %v", name, extension, err)
				}
				continue
			}
			want = "takes a denormal f32 of a constant for 0, and its constant " + want + " has one"
			if !errors.Is(err, convert.ErrLossy) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s to %s: %v; want %q", name, extension, err, want)
			}
			report, err := convert.File(t.Context(), tt.m, out, convert.Options{Lossy: true})
			if err != nil {
				t.Fatal(name, err)
			}
			if note := report.Notes[len(report.Notes)-1]; note.Kind != "lossy" || !strings.Contains(note.Text, want) {
				t.Errorf("%s to %s: %s", name, extension, note)
			}
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	m := gather(onnxModel, table)
	bad := errors.New("bad")
	m.Graph.Constants[0].Constant = model.NewConstant("x0", m.Graph.Constants[0].Spec, func() (garner.Tensor, error) { return garner.Tensor{}, bad })
	if _, err := convert.File(t.Context(), m, filepath.Join(t.TempDir(), "out.xml"), convert.Options{}); !errors.Is(err, bad) {
		t.Error(err)
	}
	if _, err := convert.File(ctx, gather(onnxModel, f32(long...)), filepath.Join(t.TempDir(), "out.xml"), convert.Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestDenormalsOfTensorFlow finds constants with a denormal number that TensorFlow takes for 0 where it computes with them, in
// bags too, and leaves those that it moves as they are.
func TestDenormalsOfTensorFlow(t *testing.T) {
	tiny := math.Float32frombits(1)
	table := garner.Of([]float32{1, 2, 3, -tiny}, 4)
	narrow := garner.Of([]garner.BFloat16{0x3f80, 0x8000, 0x0080, 0x807f}, 4)
	gather := func(table garner.Tensor) *model.Model {
		m := oneNode(tensorflowModel, "GatherV2", 0, nil, 1, table, in(garner.I32, -1), garner.Of([]int32{0}))
		m.Graph.Nodes[0].Operator = "tensorflow.GatherV2"
		return m
	}
	bag := func(table garner.Tensor) *model.Model {
		m := oneNode(tensorflowModel, "SparseSegmentMean", 0, nil, 1, table, in(garner.I32, -1), in(garner.I32, -1))
		m.Graph.Nodes[0].Operator = "tensorflow.sparse_segment_mean"
		return m
	}
	// then has a node read the result, and after it the other inputs.
	then := func(m *model.Model, op string, a attributes, others ...*model.Value) *model.Model {
		g := m.Graph
		last := g.Outputs[0].Value
		n := &model.Node{Name: fmt.Sprint(op, len(g.Nodes)), At: fmt.Sprint("node ", len(g.Nodes)), Op: op, Attributes: a, Inputs: append([]*model.Value{last}, others...)}
		v := &model.Value{Name: "of " + n.Name, From: n, Spec: garner.SpecOfRank(garner.Invalid, garner.AnyDim)}
		n.Outputs, g.Outputs[0].Value = []*model.Value{v}, v
		g.Nodes = append(g.Nodes, n)
		return m
	}
	held := func(x garner.Tensor) *model.Value {
		spec := garner.SpecOf(x.DType(), x.Shape()...)
		return &model.Value{Name: "held", Spec: spec, Constant: model.NewConstant("held", spec, func() (garner.Tensor, error) { return x, nil })}
	}
	one, small := garner.Of([]float32{1}, 1), garner.Of([]float32{tiny}, 1)
	cast := func(to string) attributes { return attributes{"DstT": to} }
	for name, tt := range map[string]struct {
		m    *model.Model
		want string // the constant
	}{
		"a bag":                      {bag(table), `"x0"`},
		"a bag of bf16":              {bag(narrow), `"x0"`},
		"a bag of none":              {bag(garner.Of([]float32{1, 0, 0x1p-126}, 3)), ""},
		"a bag of f16":               {bag(garner.Of([]garner.Float16{1, 2, 3, 4}, 4)), ""},
		"a bag of bf16 without":      {bag(garner.Of([]garner.BFloat16{0x3f80, 0x8000, 0x0080}, 3)), ""},
		"a gather":                   {gather(table), ""},
		"moved alone":                {then(then(gather(table), "Neg", nil), "Reshape", nil, held(garner.Of([]int32{-1, 1}, 2))), ""},
		"added, behind a gather":     {then(then(gather(table), "Neg", nil), "AddV2", nil, held(one)), `"x0"`},
		"added":                      {then(gather(garner.Of([]float32{1, 2}, 2)), "AddV2", nil, held(small)), `"held"`},
		"compared":                   {then(gather(garner.Of([]float32{1, 2}, 2)), "Less", nil, held(small)), `"held"`},
		"of f64":                     {then(gather(garner.Of([]float64{1, 5e-324}, 2)), "Mul", nil, held(garner.Of([]float64{1}, 1))), `"x0"`},
		"of f64, that f32 has not":   {then(gather(garner.Of([]float64{1, 1e-300}, 2)), "Mul", nil, held(garner.Of([]float64{1}, 1))), ""},
		"to bool":                    {then(gather(table), "Cast", cast("bool")), `"x0"`},
		"to f64":                     {then(gather(table), "Cast", cast("f64")), `"x0"`},
		"to i32":                     {then(gather(table), "Cast", cast("i32")), ""},
		"small f64 to f32":           {then(then(gather(garner.Of([]float64{1, -1e-40}, 2)), "Neg", nil), "Cast", cast("f32")), `"x0"`},
		"small f64 to bf16":          {then(gather(garner.Of([]float64{1, 1e-40}, 2)), "Cast", cast("bf16")), `"x0"`},
		"f64 to f32":                 {then(gather(garner.Of([]float64{1, 0, 0x1p-126}, 3)), "Cast", cast("f32")), ""},
		"of bf16 to f32":             {then(gather(narrow), "Cast", cast("f32")), ""},
		"of bf16 to f32, then added": {then(then(gather(narrow), "Cast", cast("f32")), "AddV2", nil, held(one)), `"x0"`},
	} {
		out := filepath.Join(t.TempDir(), "out.onnx")
		_, err := convert.File(t.Context(), tt.m, out, convert.Options{})
		if tt.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		want := "TensorFlow takes a denormal number for 0 where it computes with it, and its constant " + tt.want + " has one"
		if strings.HasPrefix(name, "small") {
			want = "TensorFlow makes 0 of a number that is denormal where it is cast to, and its constant " + tt.want + " has one"
		}
		if !errors.Is(err, convert.ErrLossy) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", name, err, want)
		}
		report, err := convert.File(t.Context(), tt.m, out, convert.Options{Lossy: true})
		if err != nil {
			t.Fatal(name, err)
		}
		if note := report.Notes[len(report.Notes)-1]; note.Kind != "lossy" || note.Text != want {
			t.Errorf("%s: %s", name, note)
		}
	}
	bad := errors.New("bad")
	m := bag(narrow)
	m.Graph.Constants[0].Constant = model.NewConstant("x0", m.Graph.Constants[0].Spec, func() (garner.Tensor, error) { return garner.Tensor{}, bad })
	if _, err := convert.File(t.Context(), m, filepath.Join(t.TempDir(), "out.onnx"), convert.Options{}); !errors.Is(err, bad) {
		t.Error(err)
	}
}
