package convert

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto"
	"github.com/garner-go/garner/operators"
	"github.com/garner-go/garner/tflite/flatbuffer"
)

// gathering is a model of one gather, whose result nodes of other operators read.
func gathering(format, operator string, attributes map[string]any, data, indices garner.Spec, behind ...string) *model.Model {
	x, i := &model.Value{Name: "x", Spec: data}, &model.Value{Name: "i", Spec: indices}
	_, name, _ := strings.Cut(operator, ".")
	op, _, _ := strings.Cut(name, "-")
	g := &model.Graph{Name: "g", Inputs: []*model.Value{x, i}}
	add := func(op string, in ...*model.Value) *model.Value {
		n := &model.Node{Name: op, At: op, Op: op, Version: 13, Attributes: map[string]any{}, Inputs: in}
		out := &model.Value{Name: "of " + op, From: n, Spec: model.Unknown}
		n.Outputs = []*model.Value{out}
		g.Nodes = append(g.Nodes, n)
		return out
	}
	last := add(op, x, i)
	n := g.Nodes[0]
	n.Operator = operator
	for name, a := range attributes {
		n.Attributes[name] = a
	}
	if spec, err := operators.InferNode(n); err == nil {
		last.Spec = spec
	}
	for _, op := range behind {
		last = add(op, last)
	}
	g.Outputs = []model.Result{{Name: "y", Value: last}}
	return &model.Model{Path: "source", Format: format, Opsets: map[string]int{"": 13}, Graph: g}
}

// find gives the last node of an operator.
func find(t *testing.T, p *program, o op) *node {
	t.Helper()
	for _, n := range slices.Backward(p.nodes) {
		if n.op == o {
			return n
		}
	}
	t.Fatalf("there is no %s", o)
	return nil
}

// TestBroken breaks programs before they are written, each in a way that their text does not show, and
// holds that a run of source and target sees it. As they are, they are compared: with the counts that want
// has.
func TestBroken(t *testing.T) {
	free := garner.AnyDim
	f32 := func(dims ...garner.Dim) garner.Spec { return garner.SpecOfDims(garner.F32, dims...) }
	i64 := func(dims ...garner.Dim) garner.Spec { return garner.SpecOfDims(garner.I64, dims...) }
	long := garner.Exactly(1000)
	onnx := func(behind ...string) *model.Model {
		return gathering("ONNX", "onnx.Gather-13", nil, f32(long, garner.Exactly(2)), i64(garner.Exactly(40)), behind...)
	}
	dynamic := func(behind ...string) *model.Model {
		return gathering("ONNX", "onnx.Gather-13", nil, f32(free, free), i64(free), behind...)
	}
	lite, err := flatbuffer.Open("testdata/gather_nd.tflite", flatbuffer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lite.Close()
	number := func(p *program, was, is int64) {
		for _, n := range p.nodes {
			for i, v := range n.in {
				if list, ok := v.integers(); ok && len(list) == 1 && list[0] == was && v.spec.DType == garner.I64 {
					n.in[i] = p.whole(v.spec.DType, v.tensor.Rank() == 1, is)
				}
			}
		}
	}
	// scatters is a ScatterElements of one update in each row, whose elements nodes of other operators read.
	scatters := func(behind ...string) *model.Model {
		m := gathering("ONNX", "onnx.ScatterElements-13", map[string]any{"axis": int64(1)}, f32(garner.Exactly(4), long), i64(garner.Exactly(4), garner.Exactly(30)), behind...)
		n, u := m.Graph.Nodes[0], &model.Value{Name: "u", Spec: f32(garner.Exactly(4), garner.Exactly(30))}
		n.Operator, n.Inputs, n.Outputs[0].Spec = "", append(n.Inputs, u), n.Inputs[0].Spec
		m.Graph.Inputs = append(m.Graph.Inputs, u)
		return m
	}
	unguarded := func(t *testing.T, p *program) { find(t, p, opScatter).in[1] = p.inputs[1] }
	// lossy is a gather that OpenVINO computes less exactly.
	lossy := func(behind ...string) *model.Model {
		return gathering("ONNX", "onnx.Gather-13", nil, garner.SpecOfDims(garner.F64, long, garner.Exactly(2)), i64(garner.Exactly(4)), behind...)
	}
	for name, tt := range map[string]struct {
		m         *model.Model
		extension string
		options   Options
		refused   bool // some feeds are refused, or clamped
		spoil     func(t *testing.T, p *program)
		want      string
	}{
		"answers": {onnx("Abs"), ".onnx", Options{}, true, func(t *testing.T, p *program) { find(t, p, opAbs).op = opNeg }, "its elements differ"},
		"an axis that is longer than small indices": {onnx(), ".xml", Options{}, true, func(t *testing.T, p *program) { number(p, 1000, 900) }, "fails where the source gives results"},
		"negative indices": {onnx(), ".xml", Options{}, true, func(t *testing.T, p *program) {
			p.nodes[slices.IndexFunc(p.nodes, func(n *node) bool { return n.op == opAdd })].in[1] = p.number(garner.I64, 999)
		}, "its elements differ"},
		"no guard":              {onnx(), ".xml", Options{}, true, func(t *testing.T, p *program) { find(t, p, opTile).in[1] = p.of(1) }, "answers where the source refuses an index"},
		"an index past the end": {onnx(), ".xml", Options{}, true, func(t *testing.T, p *program) { find(t, p, opGreatEq).op = opGreater }, "answers where the source refuses an index"},
		"an index before 0":     {onnx(), ".xml", Options{}, true, func(t *testing.T, p *program) { find(t, p, opOr).in[0] = find(t, p, opGreatEq).out }, "answers where the source refuses an index"},
		"an index far behind":   {onnx(), ".xml", Options{}, true, func(t *testing.T, p *program) { find(t, p, opGreatEq).op = opEqual }, "answers where the source refuses an index"},
		"clamped":               {onnx(), ".onnx", Options{Outside: Clamp}, true, func(t *testing.T, p *program) { find(t, p, opGather).in[1] = p.inputs[1] }, "it refuses an index that is to be clamped"},
		"clamped, and valid":    {onnx(), ".onnx", Options{Outside: Clamp}, true, func(t *testing.T, p *program) { find(t, p, opMin).in[1] = p.number(garner.I64, 5) }, "its elements differ"},
		"as it is":              {onnx("Abs"), ".xml", Options{Outside: AsIs}, false, func(t *testing.T, p *program) { find(t, p, opAbs).op = opNeg }, "its elements differ"},
		"a Size":                {onnx("Size"), ".onnx", Options{}, true, func(t *testing.T, p *program) { find(t, p, opTile).in[1] = p.of(1) }, "answers where the source refuses an index"},
		"a Size in an IR":       {dynamic("Size"), ".xml", Options{}, true, func(t *testing.T, p *program) { find(t, p, opTile).in[1] = p.of(1) }, "answers where the source refuses an index"},
		"dims that are not known": {dynamic("Shape"), ".onnx", Options{}, true, func(t *testing.T, p *program) {
			p.outputs[0].value = p.of(2, 2)
			p.nodes = nil
		}, "source"},
		"zeros": {gathering("TensorFlow", "tensorflow.GatherNd", map[string]any{"bad_indices_policy": "IGNORE"}, f32(long, garner.Exactly(7)), i64(garner.Exactly(5), garner.Exactly(2))), ".onnx", Options{}, false,
			func(t *testing.T, p *program) { s := find(t, p, opSelect); s.in[1] = p.hold(garner.Of([]float32{1})) }, "its elements differ"},
		"tuples": {gathering("ONNX", "onnx.GatherND-13", nil, f32(long, garner.Exactly(7)), i64(garner.Exactly(5), garner.Exactly(2))), ".xml", Options{}, true,
			func(t *testing.T, p *program) {
				for _, n := range p.nodes {
					if n.op == opGreatEq {
						n.in[1] = p.of(1000, 1000)
					}
				}
			}, "answers where the source refuses an index"},
		"elements": {gathering("ONNX", "onnx.GatherElements-13", map[string]any{"axis": int64(1)}, f32(garner.Exactly(4), long), i64(garner.Exactly(4), garner.Exactly(30))), ".xml", Options{}, true,
			func(t *testing.T, p *program) { find(t, p, opTile).in[1] = p.of(1, 1) }, "answers where the source refuses an index"},
		"tuples, with no guard": {gathering("ONNX", "onnx.GatherND-13", nil, f32(long, garner.Exactly(7)), i64(garner.Exactly(5), garner.Exactly(2))), ".xml", Options{}, true,
			func(t *testing.T, p *program) { find(t, p, opGatherND).in[1] = p.inputs[1] }, "OpenVINO does not refuse an index where the source does"},
		"scatter":                              {scatters(), ".xml", Options{}, true, unguarded, "OpenVINO does not refuse an index where the source does"},
		"scatter, in no tile":                  {scatters(), ".xml", Options{}, true, func(t *testing.T, p *program) { find(t, p, opTile).in[1] = p.of(1, 1) }, "answers where the source refuses an index"},
		"scatter, clamped":                     {scatters(), ".onnx", Options{Outside: Clamp}, true, unguarded, "it refuses an index that is to be clamped"},
		"scatter, clamped, in an IR":           {scatters(), ".xml", Options{Outside: Clamp}, true, unguarded, "it refuses an index that is to be clamped"},
		"scatter that no result reads":         {scatters("Size"), ".xml", Options{}, true, func(t *testing.T, p *program) { p.outputs[0].value = p.number(garner.I64, 4000) }, "answers where the source refuses an index"},
		"tuples that count rows":               {lite, ".onnx", Options{}, false, func(t *testing.T, p *program) { find(t, p, opMul).op = opAdd }, "where the source gives results"},
		"a lossy one":                          {lossy(), ".xml", Options{Lossy: true}, true, func(t *testing.T, p *program) { find(t, p, opTile).in[1] = p.of(2) }, "it is f64[8,2]; the source gives f64[4,2]"},
		"a lossy one, with no guard":           {lossy(), ".xml", Options{Lossy: true}, true, func(t *testing.T, p *program) { find(t, p, opTile).in[1] = p.of(1) }, "answers where the source refuses an index"},
		"a lossy one, of row 0":                {lossy(), ".xml", Options{Lossy: true}, true, func(t *testing.T, p *program) { find(t, p, opTile).in[0] = p.of(0, 0, 0, 0) }, "its elements differ"},
		"behind it a lossy one, with no guard": {onnx("Neg"), ".xml", Options{Lossy: true}, true, func(t *testing.T, p *program) { find(t, p, opTile).in[1] = p.of(1) }, "answers where the source refuses an index"},
		"behind it a lossy one, in other memory": {gathering("ONNX", "onnx.GatherND-13", nil, f32(long, garner.Exactly(7)), i64(garner.Exactly(5), garner.Exactly(2)), "Neg"), ".xml", Options{Lossy: true}, true,
			func(t *testing.T, p *program) { find(t, p, opGatherND).in[1] = p.inputs[1] }, "OpenVINO does not refuse an index where the source does"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, broken := range []bool{false, true} {
				dir := t.TempDir()
				out := filepath.Join(dir, "out"+tt.extension)
				p, err := read(tt.m, out, tt.options)
				if err != nil {
					t.Fatal(err)
				}
				if broken {
					tt.spoil(t, p)
				}
				report, err := p.write(t.Context(), tt.m, out)
				if !broken {
					if err != nil {
						t.Fatal(err)
					}
					c := report.Compared
					if c.Answered == 0 || tt.refused != (c.Refused+c.Clamped > 0) || (c.Clamped > 0) != (tt.options.Outside == Clamp) {
						t.Errorf("%v", c)
					}
					continue
				}
				left, _ := os.ReadDir(dir)
				if !errors.Is(err, ErrReread) || !strings.Contains(err.Error(), tt.want) || len(left) > 0 {
					t.Errorf("%v, and %v is left; want %q", err, left, tt.want)
				}
			}
		})
	}
}

// TestInexact holds that a comparison excuses what the target computes less exactly, and nothing else: another result, or
// a refusal of indices that are not computed of it.
func TestInexact(t *testing.T) {
	// Of the indices i, one result is the negative of rows of x, and one is rows of it.
	m := gathering("ONNX", "onnx.Gather-13", nil, garner.SpecOf(garner.F32, 9, 2), garner.SpecOf(garner.I64, 4), "Neg")
	g := m.Graph
	g.Outputs = append(g.Outputs, model.Result{Name: "rows", Value: g.Nodes[0].Outputs[0]})
	// Its indices are the negative of i16, which OpenVINO does not cut off.
	computed := gathering("ONNX", "onnx.Gather-13", nil, garner.SpecOf(garner.F32, 9, 2), garner.SpecOf(garner.I16, 4))
	indices := computed.Graph.Inputs[1]
	less := &model.Node{Name: "less", At: "less", Op: "Neg", Version: 13, Inputs: []*model.Value{indices}}
	of := &model.Value{Name: "of less", From: less, Spec: indices.Spec}
	wide := &model.Node{Name: "wide", At: "wide", Op: "Cast", Version: 13, Attributes: map[string]any{"to": int64(7)}, Inputs: []*model.Value{of}}
	less.Outputs, wide.Outputs = []*model.Value{of}, []*model.Value{{Name: "of wide", From: wide, Spec: garner.SpecOf(garner.I64, 4)}}
	computed.Graph.Nodes = append([]*model.Node{less, wide}, computed.Graph.Nodes...)
	computed.Graph.Nodes[2].Inputs[1] = wide.Outputs[0]
	for name, tt := range map[string]struct {
		m       *model.Model
		spoil   func(p *program)
		excused bool
		want    string // of the error; "" for none
	}{
		"as it is":              {m, func(*program) {}, false, ""},
		"computed otherwise":    {m, func(p *program) { find(t, p, opNeg).op = opAbs }, true, ""},
		"moved otherwise":       {m, func(p *program) { p.outputs[1].value = p.one(opAbs, p.outputs[1].value) }, false, "rows"},
		"a refusal":             {m, func(p *program) { find(t, p, opTile).in[1] = p.of(1) }, false, "answers where the source refuses"},
		"indices, as they are":  {computed, func(*program) {}, false, ""},
		"a refusal of computed": {computed, func(p *program) { find(t, p, opTile).in[1] = p.of(1) }, true, ""},
	} {
		out := filepath.Join(t.TempDir(), "out.xml")
		p, err := read(tt.m, out, Options{Lossy: true})
		if err != nil {
			t.Fatal(err)
		}
		tt.spoil(p)
		report, err := p.write(t.Context(), tt.m, out)
		switch {
		case tt.want != "":
			if !errors.Is(err, ErrReread) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v; want %q", name, err, tt.want)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case strings.Contains(report.Compared.String(), "less exactly") != tt.excused:
			t.Errorf("%s: %s", name, report.Compared)
		}
	}
}

// TestNotCompared holds that a report says why feeds were not compared.
func TestNotCompared(t *testing.T) {
	i64 := garner.SpecOf(garner.I64, 2)
	f32 := func(dims ...int) garner.Spec { return garner.SpecOf(garner.F32, dims...) }
	shape := gathering("ONNX", "onnx.Gather-13", nil, f32(5, 2), i64, "Shape")
	reshape := gathering("ONNX", "onnx.Gather-13", nil, f32(5, 2), i64, "Abs")
	n := reshape.Graph.Nodes[1]
	to := garner.Of([]int64{3, 3}, 2)
	n.Op, n.Inputs = "Reshape", append(n.Inputs, &model.Value{Name: "to", Spec: i64, Constant: model.NewConstant("to", i64, func() (garner.Tensor, error) { return to, nil })})
	for name, tt := range map[string]struct {
		m    *model.Model
		want string
	}{
		"a large input":       {gathering("ONNX", "onnx.Gather-13", nil, f32(1<<19, 2), i64), `not compared: 12 feeds, the input "x" takes more than 1 MiB`},
		"a known Shape":       {shape, "compared on 9 feeds: 9 answered alike, 0 refused alike; not compared: ONNX Runtime does not compute what only known shapes are taken of, and garner's run does"},
		"a source that fails": {reshape, "not compared: 12 feeds, the source fails: [2,2] has 4 elements, and [3,3] has not"},
		"a target that fails": {gathering("ONNX", "onnx.Gather-13", nil, garner.SpecOf(garner.F32, 50, 2), garner.SpecOf(garner.I64, 2)), "compared on 27 feeds: 12 answered alike, 15 refused alike; not compared: 3 feeds, garner does not run the target: Add: of 2147483643 and 50, beyond those in which OpenVINO computes i64"},
	} {
		extension := ".onnx"
		if name == "a target that fails" {
			extension = ".xml"
		}
		report, err := File(t.Context(), tt.m, filepath.Join(t.TempDir(), "out"+extension), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := report.Compared.String(); !strings.HasPrefix(got, tt.want) || strings.Contains(got, "give an input") {
			t.Errorf("%s: %s; want %s", name, got, tt.want)
		}
	}
}

// TestCompared holds that models of real exporters are compared, both answered and refused.
func TestCompared(t *testing.T) {
	for _, name := range []string{"hash", "bias", "last13", "mix"} {
		m, err := modelproto.Open("../testdata/models/" + name + ".onnx")
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		for _, extension := range Extensions() {
			report, err := File(t.Context(), m, filepath.Join(t.TempDir(), "out"+extension), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if c := report.Compared; c.Answered == 0 {
				t.Errorf("%s to %s: %v", name, extension, c)
			} else {
				t.Logf("%s to %s: %v", name, extension, c)
			}
		}
	}
}
