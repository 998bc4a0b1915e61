package run_test

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/convert"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// TestFed holds that garner run names the index that was fed where a guard of a converted model refuses it, and knows
// that no other policy can be applied behind a guard.
func TestFed(t *testing.T) {
	for _, tt := range []struct {
		path, extension string
		input           string
		indices         garner.Tensor
		want            string // the error; "" where an index outside yields zeros
	}{
		{"../../testdata/onnx/gather_13_axis0/model.onnx", ".xml", "indices", garner.Of([]int64{0, 1, 9, -9}, 4), "indices[2] = 9 is outside axis 0 of data, which has -5…4 (1 more of 4 indices is outside)"},
		{"../../testdata/onnx/gathernd_13_elements/model.onnx", ".xml", "indices", garner.Of([]int64{0, 0, 1, -6, 0, 0}, 3, 2), "indices[1,1] = -6 is outside axis 1 of data"},
		{"../../testdata/onnx/gatherelements_13_axis0/model.onnx", ".xml", "indices", garner.Of([]int64{0, 0, 0, 0, 1, 2, -4, 0}, 2, 4), "indices[1,2] = -4 is outside axis 0 of data, which has -3…2"},
		{models + "lite_half.tflite", ".onnx", "ids", garner.Of([]int32{1, -1, 0, 0}, 4), "indices[1] = -1 is outside axis 0 of data, which has 0…"},
		{models + "lite_half.tflite", ".xml", "ids", garner.Of([]int32{1, -1, 0, 0}, 4), "indices[1] = -1 is outside axis 0 of data, which has 0…"},
		{models + "half.xml", ".onnx", "ids", garner.Of([]int64{1, -99, 0, 1}, 2, 2), ""},
	} {
		t.Run(filepath.Base(filepath.Dir(tt.path))+" "+filepath.Base(tt.path)+" to "+tt.extension, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out"+tt.extension)
			if _, err := convert.File(t.Context(), open(t, tt.path), out, convert.Options{}); err != nil {
				t.Fatal(err)
			}
			m := open(t, out)
			given := make(map[*model.Value]garner.Tensor)
			for _, v := range m.Graph.Inputs {
				if v.Name == tt.input {
					given[v] = tt.indices
				} else if shape, ok := v.Spec.Shape(); ok {
					x, err := garner.New(v.Spec.DType, shape...)
					if err != nil {
						t.Fatal(err)
					}
					given[v] = x
				}
			}
			wanted := []*model.Value{m.Graph.Outputs[0].Value}
			_, err := run.Values(t.Context(), m, wanted, given, math.MaxInt)
			if (err != nil) != (tt.want != "") || err != nil && (!strings.Contains(err.Error(), tt.want) || !errors.Is(err, garner.ErrIndex)) {
				t.Errorf("%v; want %s", err, tt.want)
			}
			guarded := 0
			_, err = run.Values(t.Context(), m, wanted, given, math.MaxInt, run.Amend(func(g run.Gather) (garner.Op, error) {
				if g.Guarded {
					guarded++
				}
				return g.Op, nil
			}))
			if guarded == 0 {
				t.Errorf("no gather is guarded; %v", err)
			}
		})
	}
}

// inMemory makes a model of ONNX out of nodes, each the operator and what it reads; the last one's output is the
// result. Values that nodes do not make and that have no constant are inputs.
func inMemory(nodes ...*model.Node) *model.Model {
	g := &model.Graph{Name: "g"}
	for _, n := range nodes {
		n.Name, n.At, n.Version = n.Op, n.Op, 18
		for _, v := range n.Inputs {
			if v.From == nil && v.Constant == nil && !slices.Contains(g.Inputs, v) {
				g.Inputs = append(g.Inputs, v)
			}
		}
	}
	g.Nodes = nodes
	g.Outputs = []model.Result{{Name: "y", Value: nodes[len(nodes)-1].Outputs[0]}}
	return &model.Model{Path: "m.onnx", Format: "ONNX", Graph: g}
}

func makes(op string, spec garner.Spec, in ...*model.Value) *model.Node {
	n := &model.Node{Op: op, Attributes: map[string]any{}, Inputs: in}
	n.Outputs = []*model.Value{{Name: op, Spec: spec, From: n}}
	return n
}

func constantOf(x garner.Tensor) *model.Value {
	return &model.Value{Name: "c", Spec: x.Spec(), Constant: model.NewConstant("c", x.Spec(), func() (garner.Tensor, error) { return x, nil })}
}

// TestFedOrdinary holds that garner run takes a Where before indices for a guard where it compares with the length of
// the gather's own axis, or leads there, and for none where an ordinary model maps indices to others.
func TestFedOrdinary(t *testing.T) {
	table := constantOf(garner.Of(make([]float32, 20), 5, 4))
	for _, tt := range []struct {
		op             string
		bound, instead int64
		want           string
		guarded        bool
	}{
		{"GreaterOrEqual", 3, 1, "indices[2] = -500 is outside axis 0 of data, which has -5…4", false},
		{"GreaterOrEqual", 10, 1, "indices[2] = -500 is outside axis 0 of data, which has -5…4", false},
		{"GreaterOrEqual", 5, 1, "indices[2] = -500 is outside axis 0 of data, which has -5…4", false},
		{"Less", 0, 4, "indices[0] = 150 is outside axis 0 of data, which has -5…4", false},
		{"Less", 1, 5, "indices[0] = 150 is outside axis 0 of data, which has -5…4", false},
		{"Less", 0, 5, "indices[0] = 150 is outside axis 0 of data, which has 0…4 (1 more of 3 indices is outside); a guard in the model refuses it", true},
	} {
		of := garner.SpecOf(garner.I64, 3)
		ids := &model.Value{Name: "ids", Spec: of}
		condition := makes(tt.op, garner.SpecOf(garner.Bool, 3), ids, constantOf(garner.Of([]int64{tt.bound})))
		where := makes("Where", of, condition.Outputs[0], constantOf(garner.Of([]int64{tt.instead})), ids)
		gather := makes("Gather", garner.SpecOf(garner.F32, 3, 4), table, where.Outputs[0])
		gather.Operator = "onnx.Gather-13"
		m := inMemory(condition, where, gather)
		err := holdsFed(t, m, tt.guarded, asIs, garner.Of([]int64{150, 0, -500}, 3))
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "guard") != tt.guarded {
			t.Errorf("%s %d, %d: %v; want %s", tt.op, tt.bound, tt.instead, err, tt.want)
		}
	}
}

// TestFedScatter holds that the guard before a scatter names the index that was fed, and keeps its policy, and that one
// which is converted there and back names no number that was never fed.
func TestFedScatter(t *testing.T) {
	x, i, u := &model.Value{Name: "x", Spec: garner.SpecOf(garner.F32, 2)}, &model.Value{Name: "i", Spec: garner.SpecOf(garner.I64, 2)}, &model.Value{Name: "u", Spec: garner.SpecOf(garner.F32, 2)}
	scatter := makes("ScatterElements", x.Spec, x, i, u)
	out := filepath.Join(t.TempDir(), "out.xml")
	if _, err := convert.File(t.Context(), inMemory(scatter), out, convert.Options{}); err != nil {
		t.Fatal(err)
	}
	f := garner.Of([]float32{1, 2}, 2)
	m := open(t, out)
	err := holdsFed(t, m, false, zeroed, f, garner.Of([]int64{0, 5}, 2), f)
	if want := "indices[1] = 5 is outside axis 0 of data, which has -2…1; a guard in the model refuses it"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %s", err, want)
	}

	ids := &model.Value{Name: "ids", Spec: garner.SpecOf(garner.I32, 2)}
	gather := makes("Gather", garner.SpecOf(garner.F32, 2, 4), constantOf(garner.Of(make([]float32, 20), 5, 4)), ids)
	gather.Operator = "onnx.Gather-13"
	back := filepath.Join(t.TempDir(), "back.onnx")
	if _, err := convert.File(t.Context(), inMemory(gather), out, convert.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := convert.File(t.Context(), open(t, out), back, convert.Options{}); err != nil {
		t.Fatal(err)
	}
	err = holdsFed(t, open(t, back), true, zeroed, garner.Of([]int32{0, 9}, 2))
	if want := "a guard in the model refuses an index"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v; want %s", err, want)
	}
}

// TestFedSegments holds that the guard of a bag of TensorFlow in ONNX, which makes all segments too great where one is bad,
// names no number that was never fed.
func TestFedSegments(t *testing.T) {
	ids, segments := &model.Value{Name: "ids", Spec: garner.SpecOf(garner.I32, 2)}, &model.Value{Name: "segments", Spec: garner.SpecOf(garner.I32, 2)}
	bag := makes("SparseSegmentMean", garner.SpecOfDims(garner.F32, garner.AnyDim, garner.Exactly(4)), constantOf(garner.Of(make([]float32, 20), 5, 4)), ids, segments)
	bag.Operator = "tensorflow.sparse_segment_mean"
	source := inMemory(bag)
	source.Format = "TensorFlow"
	out := filepath.Join(t.TempDir(), "out.onnx")
	if _, err := convert.File(t.Context(), source, out, convert.Options{}); err != nil {
		t.Fatal(err)
	}
	m := open(t, out)
	for _, falls := range [][]int32{{1, 0}, {0, -1}} {
		err := holdsFed(t, m, true, asIs, garner.Of([]int32{0, 1}, 2), garner.Of(falls, 2))
		var index *garner.IndexError
		if err == nil || !strings.HasSuffix(err.Error(), ": a guard in the model refuses segment ids that fall, that are no segment, or that are not one for each index") {
			t.Errorf("%v: %v", falls, err)
		}
		if !errors.As(err, &index) || index.Hint == "" {
			t.Errorf("%v: no policy can be applied, and the error has no hint: %#v", falls, index)
		}
	}
}

func asIs(op garner.Op) garner.Op   { return op }
func zeroed(op garner.Op) garner.Op { return garner.WithOutside(op, garner.Zero) }

// holdsFed runs a model on its inputs in order, with another policy for the gathers that have no guard, and returns its
// error, an index error, after it has held whether a gather has one.
func holdsFed(t *testing.T, m *model.Model, guarded bool, amended func(garner.Op) garner.Op, inputs ...garner.Tensor) error {
	t.Helper()
	given := make(map[*model.Value]garner.Tensor)
	for i, x := range inputs {
		given[m.Graph.Inputs[i]] = x
	}
	isGuarded := false
	_, err := run.Values(t.Context(), m, []*model.Value{m.Graph.Outputs[0].Value}, given, math.MaxInt, run.Amend(func(g run.Gather) (garner.Op, error) {
		if isGuarded = isGuarded || g.Guarded; g.Guarded {
			return g.Op, nil
		}
		return amended(g.Op), nil
	}))
	if isGuarded != guarded || !errors.Is(err, garner.ErrIndex) {
		t.Errorf("guarded %t, %v", isGuarded, err)
	}
	return err
}
