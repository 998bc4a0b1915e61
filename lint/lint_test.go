package lint

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto"
	"github.com/garner-go/garner/operators"
)

func TestRuntimes(t *testing.T) {
	m := gather{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: i64(nil, -1)}.model()
	for _, tt := range []struct {
		runtimes []Runtime
		severity Severity
		found    bool
	}{
		{nil, Note, true},
		{[]Runtime{TensorFlow}, Error, true}, // what is asked for counts as the model's own
		{[]Runtime{OpenVINO, ONNXRuntime, JAX}, 0, false},
	} {
		found := findings(t, m, "L.1", Options{Runtimes: tt.runtimes})
		if len(found) > 0 != tt.found || tt.found && found[0].Severity != tt.severity {
			t.Errorf("%v: %v", tt.runtimes, found)
		}
	}
}

// TestClean judges a model against which nothing can be said.
func TestClean(t *testing.T) {
	for _, g := range []gather{
		{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: i64([]int{2}, 0, 4)},
		{op: "onnx.GatherElements-13", data: given("f16[5,2]"), indices: bounded("i64[5,2]")},
		{op: "openvino.GatherND-8", data: given("i32[5,2]"), indices: bounded("i64[?,2]")},
		{op: "openvino.Gather-8", data: given("bool[5,2]"), indices: bounded("i64[5,?]"), axis: i64(nil, 1), attributes: batch(1)},
	} {
		all, err := Model(context.Background(), g.model(), Options{})
		if err != nil || len(all) != 0 {
			t.Errorf("%s: %v, %v", g.op, all, err)
		}
	}
	if all, err := Model(context.Background(), &model.Model{}, Options{}); err != nil || len(all) != 0 {
		t.Errorf("a model of nothing: %v, %v", all, err)
	}
}

// TestOrder holds the order of findings, and that sub-graphs are judged.
func TestOrder(t *testing.T) {
	inner := gather{op: "onnx.GatherND-13", data: given("i4[3]"), indices: bounded("i32[1,1]")}.model()
	m := gather{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: i64([]int{2}, -1, 7)}.model()
	m.Graph.Nodes = append(m.Graph.Nodes, &model.Node{Name: "if", Graphs: []model.Subgraph{{Name: "then_branch", Graph: inner.Graph}}})
	all, err := Model(context.Background(), m, Options{})
	var got []string
	for _, f := range all {
		got = append(got, f.Rule.ID)
	}
	if want := "L.1 L.2 L.14 L.16"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("%v, %v; want %s", got, err, want)
	}
}

// TestPieces reads constants of several pieces, and each of them once.
func TestPieces(t *testing.T) {
	const n = 2*pieceElements + 3
	values := make([]int64, n)
	values[n-1], values[pieceElements], values[n-2] = 1<<40, -1, -1
	read := 0
	v := i64([]int{n}, values...)
	v.Constant = model.NewConstant("c", v.Spec, func() (garner.Tensor, error) { read++; return garner.Of(values, n).Volatile(), nil })
	m := gather{op: "onnx.Gather-13", data: given("f32[5]"), indices: v}.model()
	again := *m.Graph.Nodes[0]
	m.Graph.Nodes = append(m.Graph.Nodes, &again)
	all, err := Model(context.Background(), m, Options{Runtimes: []Runtime{TensorFlow}})
	if err != nil || len(all) != 4 || read != 1 {
		t.Fatalf("%d findings, %v; read %d times", len(all), err, read)
	}
	for i, want := range []string{
		fmt.Sprintf("indices[%d] = -1 is negative (and 1 more of %d)", pieceElements, n),
		fmt.Sprintf("indices[%d] = 1099511627776 is outside axis 0 of data, whose length is 5", n-1),
	} {
		if !strings.HasPrefix(all[i].Message, want) {
			t.Errorf("%s; want %s", all[i].Message, want)
		}
	}
	data := gather{op: "onnx.Gather-13", data: v, indices: bounded("i64[1]")}.model()
	if all := findings(t, data, "L.10", Options{}); len(all) != 1 || !strings.HasPrefix(all[0].Message, fmt.Sprintf("element %d of", n-1)) {
		t.Errorf("%v", all)
	}
}

// TestErrors holds what stops judging: a constant that cannot be read, and the
// context.
func TestErrors(t *testing.T) {
	gone := errors.New("it is gone")
	v := i64([]int{3}, 1, 2, 3)
	v.Constant = model.NewConstant("c", v.Spec, func() (garner.Tensor, error) { return garner.Tensor{}, gone })
	for _, g := range []gather{
		{op: "onnx.Gather-13", data: given("f32[5]"), indices: v},
		{op: "onnx.Gather-13", data: v, indices: bounded("i64[1]")},
		{op: "openvino.Gather-8", data: given("f32[5]"), indices: bounded("i64[1]"), axis: &model.Value{Spec: garner.SpecOf(garner.I64), Constant: model.NewConstant("c", garner.SpecOf(garner.I64), func() (garner.Tensor, error) { return garner.Tensor{}, gone })}},
	} {
		m := g.model()
		all, err := Model(context.Background(), m, Options{})
		if !errors.Is(err, gone) || !strings.HasPrefix(err.Error(), "garner: "+m.Path+`: node "g" (line 3, column 7): `) {
			t.Errorf("%v, %v", all, err)
		}
	}
	// A constant that indices are computed from may be one that garner does not read. One whose read fails stops judging.
	if _, err := Model(context.Background(), loose(made("Add", "i64[3]", bounded("i64[3]"), v)).model(), Options{}); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
	v.Constant = model.NewUnread("c", v.Spec, gone)
	m := loose(made("Add", "i64[3]", bounded("i64[3]"), v)).model()
	if all := findings(t, m, "L.4", Options{}); len(all) != 1 || !strings.Contains(all[0].Message, "nothing bounds them") {
		t.Errorf("%v", all)
	}
	fault := garner.Errorf(garner.ErrFault, "it is cut short")
	cut := i64([]int{3}, 1, 2, 3)
	cut.Constant = model.NewConstant("c", v.Spec, func() (garner.Tensor, error) { return garner.Tensor{}, fault })
	for _, at := range []*model.Value{made("Add", "i64[3]", bounded("i64[3]"), cut), made("ReduceSum", "i64[3]", bounded("i64[3]"), cut)} {
		if _, err := Model(context.Background(), loose(at).model(), Options{}); !errors.Is(err, garner.ErrFault) {
			t.Errorf("%v", err)
		}
	}
	if _, err := Model(context.Background(), gather{op: "onnx.Gather-99", data: given("f32[5]"), indices: bounded("i64[1]")}.model(), Options{}); err == nil {
		t.Error("an operator that there is not is judged")
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(gone)
	if _, err := Model(ctx, gather{op: "onnx.Gather-13", data: given("f32[5]"), indices: given("i64[1]")}.model(), Options{}); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
	// It ends between pieces.
	ctx, cancel = context.WithCancelCause(context.Background())
	v.Constant = model.NewConstant("c", v.Spec, func() (garner.Tensor, error) { cancel(gone); return garner.Of([]int64{1, 2, 3}, 3), nil })
	if _, err := Model(ctx, gather{op: "onnx.Gather-13", data: given("f32[5]"), indices: v}.model(), Options{}); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
}

// TestLong judges indices behind a chain of nodes that is longer than any stack, and
// a value of itself, which readers refuse.
func TestLong(t *testing.T) {
	v := given("i64[1]")
	for range 1 << 17 {
		v = made("Identity", "i64[1]", v)
	}
	if all := findings(t, gather{op: "onnx.Gather-13", data: given("f32[5]"), indices: v}.model(), "L.4", Options{}); len(all) != 1 {
		t.Errorf("%v", all)
	}
	v = given("i64[1]")
	v.From = &model.Node{Op: "Identity", Inputs: []*model.Value{v}}
	m := &model.Model{Graph: &model.Graph{Nodes: []*model.Node{{Name: "g", Operator: "onnx.Gather-13", Inputs: []*model.Value{v, v}}}}}
	if all := findings(t, m, "L.1", Options{}); len(all) != 0 {
		t.Errorf("%v", all)
	}
}

// TestRankOfAnyOrder finds an unknown rank far behind a gather, whichever of two
// gathers is judged first.
func TestRankOfAnyOrder(t *testing.T) {
	v := given("f32[...]")
	m := &model.Model{Format: "ONNX", Graph: &model.Graph{Inputs: []*model.Value{v}}}
	var gathers []*model.Node
	for i := range 1 << 12 {
		if i == 20 || i == 80 || i == 1<<12-1 {
			n := &model.Node{Name: fmt.Sprint(i), Op: "GatherND", Operator: "onnx.GatherND-13", Inputs: []*model.Value{v, bounded("i64[2,1]")}}
			n.Outputs = []*model.Value{{From: n, Spec: model.Unknown}}
			gathers = append(gathers, n)
		}
		v = made("Relu", "f32[...]", v)
	}
	for range len(gathers) {
		m.Graph.Nodes = gathers
		if all := findings(t, m, "L.28", Options{}); len(all) != len(gathers) {
			t.Errorf("%d findings, the first gather is %s", len(all), gathers[0].Name)
		}
		gathers = append(gathers[1:], gathers[0])
	}
}

// TestQuantisedFar finds a quantised table behind many nodes.
func TestQuantisedFar(t *testing.T) {
	v := made("DequantizeLinear", "f32[5,2]", held(garner.Of(make([]int8, 10), 5, 2)), held(garner.Of([]float32{1})))
	for range 1 << 12 {
		v = made("Identity", "f32[5,2]", v)
	}
	if list := NotJudged(gather{op: "onnx.Gather-13", data: v, indices: bounded("i64[1]")}.model()); len(list) != 1 {
		t.Errorf("%v", list)
	}
}

// TestOriginFar names the input that indices are computed from behind any number of
// loops and casts.
func TestOriginFar(t *testing.T) {
	v := given("i64[1]")
	for i := range 20 {
		v = &model.Value{Name: fmt.Sprint("p", i), Spec: v.Spec, Takes: []*model.Value{v}}
	}
	if all := findings(t, loose(v).model(), "L.4", Options{}); len(all) != 1 || !strings.Contains(all[0].Message, `the input "in"`) {
		t.Errorf("%v", all)
	}
	v = given("i64[?,?]")
	for range 20 {
		v = made("Cast", "i64[?,?]", v)
	}
	if all := findings(t, gather{op: "onnx.GatherND-13", data: given("f32[5,2]"), indices: v}.model(), "L.28", Options{}); len(all) != 1 {
		t.Errorf("%v", all)
	}
}

// TestCasts bounds indices behind a cast to each type of integers that ONNX numbers.
func TestCasts(t *testing.T) {
	for number := range int64(64) {
		d := operators.ONNXType(number)
		if d == garner.Invalid || !d.IsInteger() {
			continue
		}
		narrow := with(made("Cast", "i64[1]", clip("i64[1]", 0, 1)), map[string]any{"to": number})
		narrow.Spec.DType = garner.Invalid // the file does not say it
		at := with(made("Cast", "i64[1]", narrow), map[string]any{"to": int64(7)})
		if all := findings(t, loose(at).model(), "L.4", Options{}); len(all) != 0 {
			t.Errorf("%s: %s", d, all[0].Message)
		}
	}
}

// TestStepsBesideEffects holds that steps repeats no operator that package operators
// says the effect of.
func TestStepsBesideEffects(t *testing.T) {
	for op := range steps {
		if effect, _ := operators.EffectOf(&model.Node{Op: op}); effect != operators.Opaque && effect != operators.Computed {
			t.Errorf("%s has a step and an effect", op)
		}
	}
}

func TestSeverities(t *testing.T) {
	for _, s := range []Severity{Note, Warning, Error} {
		if got, err := ParseSeverity(s.String()); err != nil || got != s {
			t.Errorf("%v: %v, %v", s, got, err)
		}
	}
	if _, err := ParseSeverity("fatal"); err == nil || !strings.Contains(err.Error(), "there are note, warning, error") {
		t.Error(err)
	}
	if !slices.Equal(AllRuntimes(), []Runtime{OpenVINO, ONNXRuntime, TensorFlow, Torch, JAX, WebNN, LiteRT, XLA}) || Runtime("x").Name() != "x" || Runtime("x").Recorded() != "" {
		t.Error(AllRuntimes())
	}
}

// TestSharedBytes reads constants of the same bytes of a file once, and of those whose
// bytes overlap as many as together have 64 MiB; the others are named as not judged.
func TestSharedBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.bin")
	const n = 1 << 18
	if err := os.WriteFile(path, make([]byte, 8*n+800), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, step := range map[string]int64{"same": 0, "overlapping": 8} {
		read, values := 0, make([]int64, n)
		var m *model.Model
		for k := range int64(100) {
			v := i64([]int{n}, values...)
			v.Constant = model.NewConstant(fmt.Sprint("c", k), v.Spec, func() (garner.Tensor, error) { read++; return garner.Of(values, n), nil })
			v.Constant.File, v.Constant.Offset, v.Constant.Size, v.Constant.State.Size = path, k*step, 8*n, 8*n+800
			one := gather{op: "onnx.Gather-13", data: given("f32[5]"), indices: v}.model()
			if m == nil {
				m = one
			} else {
				m.Graph.Nodes = append(m.Graph.Nodes, one.Graph.Nodes...)
			}
		}
		want, unjudged := 1, 0
		if step > 0 {
			want, unjudged = mostRead/(8*n), 100-mostRead/(8*n)
		}
		if _, err := Model(t.Context(), m, Options{}); err != nil || read != want || len(NotJudged(m)) != unjudged {
			t.Errorf("%s: read %d times, %d not judged, %v", name, read, len(NotJudged(m)), err)
		}
	}
}

// TestDefault holds that indices with a default are not those of every run: a caller may give others.
func TestDefault(t *testing.T) {
	for name, want := range map[string]string{"default": `L.4 the indices come from the input "w" and nothing bounds them`, "default_ir3": ""} {
		m, err := modelproto.Open("../convert/testdata/" + name + ".onnx")
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		findings, err := Model(t.Context(), m, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range findings {
			got += f.Rule.ID + " " + f.Message
		}
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q; want %q", name, got, want)
		}
	}
}

// TestFormats holds that the table of formats is whole: the runtime whose operators a format has reads it.
func TestFormats(t *testing.T) {
	for name, f := range formats {
		if !slices.Contains(f.readers, f.words) || !slices.Contains(AllRuntimes(), f.words) {
			t.Errorf("%s: %v, %v", name, f.readers, f.words)
		}
	}
	for run, words := range readingOf {
		if !strings.HasPrefix(run, "reading ") || !slices.ContainsFunc(slices.Collect(maps.Values(formats)), func(f format) bool {
			return f.words == words && slices.Contains(f.readers, OpenVINO)
		}) {
			t.Errorf("%s: %s", run, words)
		}
	}
}
