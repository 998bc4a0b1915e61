package run_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// constant returns a value that is a constant of the model.
func constant(t garner.Tensor) *model.Value {
	return &model.Value{Name: "constant", Spec: t.Spec(), Constant: model.NewConstant("constant", t.Spec(), func() (garner.Tensor, error) { return t, nil })}
}

// node returns a node with one output. Its inputs are tensors, which become
// constants, values, or nil.
func node(op string, version int, attributes map[string]any, inputs ...any) *model.Node {
	n := &model.Node{Name: "n", At: "node 0", Op: op, Version: version, Attributes: attributes}
	if strings.Contains(op, ".") {
		n.Operator = op
	}
	for _, in := range inputs {
		switch in := in.(type) {
		case garner.Tensor:
			n.Inputs = append(n.Inputs, constant(in))
		case *model.Value:
			n.Inputs = append(n.Inputs, in)
		default:
			n.Inputs = append(n.Inputs, nil)
		}
	}
	n.Outputs = []*model.Value{{Name: op, Spec: model.Unknown, From: n}}
	return n
}

// of returns a model of nodes, whose results are their outputs.
func of(format string, nodes ...*model.Node) *model.Model {
	m := &model.Model{Path: "m", Format: format, Graph: &model.Graph{Nodes: nodes}}
	for _, n := range nodes {
		m.Graph.Outputs = append(m.Graph.Outputs, model.Result{Name: n.Outputs[0].Name, Value: n.Outputs[0]})
	}
	return m
}

// last evaluates the output of a model's last node.
func last(m *model.Model, memory float64) (garner.Tensor, error) {
	v := m.Graph.Outputs[len(m.Graph.Outputs)-1].Value
	got, err := run.Values(context.Background(), m, []*model.Value{v}, nil, memory)
	if err != nil {
		return garner.Tensor{}, err
	}
	return got[0].Clone()
}

func i64(shape []int, v ...int64) garner.Tensor { return garner.Of(v, shape...) }

func vec[T garner.Element](v ...T) garner.Tensor { return garner.Of(v, len(v)) }

type attrs = map[string]any

// TestLargeTables holds that a gather reads only its rows of a table, also with a
// pending cast.
func TestLargeTables(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("a table of 32 TiB has no place in 32 bits")
	}
	const rows = math.MaxInt >> 22
	row, err := garner.FromStrided(garner.F16, []byte{0, 0x3c, 0, 0x40}, 0, []int{rows, 4, 2}, []int{0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	cast := node("Cast", 13, attrs{"to": int64(1)}, row)
	same := node("Identity", 13, nil, cast.Outputs[0])
	gather := node("onnx.Gather-13", 13, nil, same.Outputs[0], vec(int64(rows)-1, -1))
	m := of("ONNX", cast, same, node("Shape", 13, nil, cast.Outputs[0]), gather)
	got, err := last(m, 1<<10)
	if err != nil || got.DType() != garner.F32 || !strings.HasPrefix(got.Text(), "[[[1.0, 2.0], [1.0, 2.0]") {
		t.Errorf("%v, %v", got, err)
	}
	_, err = run.Values(context.Background(), m, []*model.Value{cast.Outputs[0]}, nil, 1<<30)
	if !errors.Is(err, garner.ErrShape) || !strings.Contains(err.Error(), "takes 64 TiB") {
		t.Error(err)
	}
	// f8e8m0 has no zero for an index outside; f32, the type of the pending cast, has.
	scales := vec[garner.Float8E8M0](127, 128)
	scale := node("Convert", 1, attrs{"destination_type": "f32"}, scales)
	outside := node("openvino.Gather-8", 8, nil, scale.Outputs[0], vec[int64](1, 7), i64(nil, 0))
	if got, err := last(of("OpenVINO IR", scale, outside), 1<<20); err != nil || got.String() != "f32[2] [2.0, 0.0]" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestCheck(t *testing.T) {
	v := &model.Value{Name: "ids", Spec: garner.SpecOfDims(garner.I64, garner.AnyDim, garner.Exactly(2)), DimNames: []string{"batch", ""}}
	for _, tt := range []struct {
		tensor garner.Tensor
		class  error
	}{
		{i64([]int{1, 2}, 1, 2), nil},
		{i64([]int{0, 2}), nil},
		{i64([]int{2, 1}, 1, 2), garner.ErrShape},
		{vec[int64](1, 2), garner.ErrShape},
		{garner.Of([]int32{1, 2}, 1, 2), garner.ErrDType},
	} {
		err := run.Check(v, tt.tensor)
		if !errors.Is(err, tt.class) || err != nil && !strings.HasSuffix(err.Error(), "the model wants i64[batch,2]") {
			t.Errorf("%v: %v", tt.tensor, err)
		}
	}
	if err := run.Check(&model.Value{Spec: model.Unknown}, vec("a")); err != nil {
		t.Error(err)
	}
}

// TestCanceled holds that Values returns the cause of its context.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("stop")
	cancel(stop)
	n := node("Identity", 13, nil, vec[int64](1))
	if _, err := run.Values(ctx, of("ONNX", n), n.Outputs, nil, 1<<20); err != stop {
		t.Error(err)
	}
}

// TestMemory holds that strings count by their headers, and that sizes beyond
// int64 are rounded, not refused.
func TestMemory(t *testing.T) {
	for _, tt := range []struct {
		spec garner.Spec
		want float64
	}{
		{garner.SpecOf(garner.F32, 2, 3), 24},
		{garner.SpecOf(garner.I4, 3), 2},
		{garner.SpecOf(garner.String, 3), 48},
		{garner.SpecOf(garner.F64, 1<<30, 1<<30, 1<<30), 0x1p93},
		{garner.SpecOf(garner.U1, 1<<30, 1<<30, 1<<30), 0x1p87},
		{garner.SpecOf(garner.F64, 1<<30, 1<<30, 1<<30, 0), 0},
	} {
		if got := run.Memory(tt.spec); got != tt.want {
			t.Errorf("%s takes %v bytes, want %v", tt.spec, got, tt.want)
		}
	}
}

// A cutKeeper keeps memory whose file was cut short.
type cutKeeper struct{}

func (cutKeeper) Hold() error        { return nil }
func (cutKeeper) Check([]byte) error { return garner.Errorf(garner.ErrFault, "cut") }
func (cutKeeper) Release()           {}

// TestCutOperands holds that a given tensor whose file was cut short is an ErrFault,
// also where its elements have no row-major order.
func TestCutOperands(t *testing.T) {
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		x, err := garner.Of([]float32{1, 2, 3, 4}, 2, 2).Transpose(order...)
		if err != nil {
			t.Fatal(err)
		}
		v := &model.Value{Name: "x", Spec: x.Spec()}
		m := &model.Model{Path: "m", Graph: &model.Graph{Inputs: []*model.Value{v}}}
		given := map[*model.Value]garner.Tensor{v: x.KeptBy(cutKeeper{})}
		if _, err := run.Values(t.Context(), m, []*model.Value{v}, given, 1e6); !errors.Is(err, garner.ErrFault) {
			t.Errorf("%v: %v", order, err)
		}
	}
}
