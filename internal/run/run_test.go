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

// constant is a value that stands in the model.
func constant(t garner.Tensor) *model.Value {
	return &model.Value{Name: "constant", Spec: t.Spec(), Constant: model.NewConstant("constant", t.Spec(), func() (garner.Tensor, error) { return t, nil })}
}

// node is a node with one result. Its inputs are tensors, which become
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

// of is a model of nodes, whose results are theirs.
func of(format string, nodes ...*model.Node) *model.Model {
	m := &model.Model{Path: "m", Format: format, Graph: &model.Graph{Nodes: nodes}}
	for _, n := range nodes {
		m.Graph.Outputs = append(m.Graph.Outputs, model.Result{Name: n.Outputs[0].Name, Value: n.Outputs[0]})
	}
	return m
}

// last runs a model's last node.
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

// TestGlue tries what the models of testdata do not have: old opsets, and
// answers of which runtimes make their own.
func TestGlue(t *testing.T) {
	x := i64([]int{2, 3}, 1, 2, 3, 4, 5, 6)
	const onnx, ir = "ONNX", "OpenVINO IR"
	for _, tt := range []struct {
		format string
		node   *model.Node
		want   string
	}{
		// ONNX before opset 7 broadcasts where it is told to, from an axis on.
		{onnx, node("Add", 6, attrs{"broadcast": int64(1), "axis": int64(0)}, x, vec[int64](10, 20)), "i64[2,3] [[11, 12, 13], [24, 25, 26]]"},
		{onnx, node("Add", 6, attrs{"broadcast": int64(1)}, x, vec[int64](10, 20, 30)), "i64[2,3] [[11, 22, 33], [14, 25, 36]]"},
		{onnx, node("Add", 6, nil, x, x), "i64[2,3] [[2, 4, 6], [8, 10, 12]]"},
		{onnx, node("Add", 7, nil, x, vec[int64](10, 20, 30)), "i64[2,3] [[11, 22, 33], [14, 25, 36]]"},
		// Numbers that are inputs now were attributes.
		{onnx, node("Slice", 9, attrs{"starts": []int64{-2}, "ends": []int64{math.MaxInt64}, "axes": []int64{1}}, x), "i64[2,2] [[2, 3], [5, 6]]"},
		{onnx, node("Reshape", 1, attrs{"shape": []int64{3, -1}}, x), "i64[3,2] [[1, 2], [3, 4], [5, 6]]"},
		{onnx, node("Unsqueeze", 11, attrs{"axes": []int64{0}}, vec[int64](1)), "i64[1,1] [[1]]"},
		{onnx, node("Squeeze", 11, attrs{"axes": []int64{0}}, i64([]int{1, 2, 1}, 1, 2)), "i64[2,1] [[1], [2]]"},
		{onnx, node("Concat", 1, nil, x, x), "i64[2,6] [[1, 2, 3, 1, 2, 3], [4, 5, 6, 4, 5, 6]]"},
		{onnx, node("Cast", 1, attrs{"to": "INT32"}, vec[float32](1.9, -1.9)), "i32[2] [1, -1]"},
		{onnx, node("ReduceProd", 18, attrs{"noop_with_empty_axes": int64(1)}, x), "i64[2,3] [[1, 2, 3], [4, 5, 6]]"},
		// Integers wrap; the least one by -1 is itself.
		{onnx, node("Mul", 14, nil, vec[int8](100, -128), vec[int8](2, -1)), "i8[2] [-56, -128]"},
		{onnx, node("Div", 14, nil, vec[int64](-7, math.MinInt64), vec[int64](2, -1)), "i64[2] [-3, -9223372036854775808]"},
		{onnx, node("Mod", 13, nil, vec[uint8](250), vec[uint8](7)), "u8[1] [5]"},
		{onnx, node("Cast", 13, attrs{"to": int64(3)}, vec[int64](300, -129)), "i8[2] [44, 127]"},
		{onnx, node("Cast", 13, attrs{"to": int64(13)}, vec[float64](1e19)), "u64[1] [10000000000000000000]"},
		{onnx, node("Cast", 13, attrs{"to": int64(11)}, vec[uint64](math.MaxUint64)), "f64[1] [1.8446744073709552e+19]"},
		{onnx, node("Cast", 13, attrs{"to": int64(9)}, vec[float64](math.NaN(), 0, -0.5)), "bool[3] [true, false, true]"},
		{onnx, node("Cast", 13, attrs{"to": int64(16)}, vec[float32](1.00390625, 1.01171875)), "bf16[2] [1.0, 1.016]"},
		// By its specification, and OpenVINO's own evaluate, it rounds down.
		{ir, node("Divide", 1, attrs{"m_pythondiv": true}, vec[int64](-7, 7, 7), vec[int64](2, -2, 2)), "i64[3] [-4, -4, 3]"},
		{ir, node("Divide", 1, attrs{"m_pythondiv": false}, vec[int64](-7, 7, 7), vec[int64](2, -2, 2)), "i64[3] [-3, -3, 3]"},
		{ir, node("Divide", 1, nil, vec[float32](-7), vec[float32](2)), "f32[1] [-3.5]"},
		{ir, node("Floor", 1, nil, x), "i64[2,3] [[1, 2, 3], [4, 5, 6]]"},
		{ir, node("Clamp", 1, attrs{"min": "-1e30", "max": "1e30"}, x), "i64[2,3] [[1, 2, 3], [4, 5, 6]]"},
		{ir, node("Transpose", 1, nil, x, garner.Of([]int64{}, 0)), "i64[3,2] [[1, 4], [2, 5], [3, 6]]"},
		{ir, node("Squeeze", 15, attrs{"allow_axis_skip": true}, i64([]int{1, 2}, 1, 2), vec[int64](0, 1)), "i64[2] [1, 2]"},
		{ir, node("ShapeOf", 1, nil, x), "i64[2] [2, 3]"},
		{ir, node("Add", 1, attrs{"auto_broadcast": "none"}, x, x), "i64[2,3] [[2, 4, 6], [8, 10, 12]]"},
		{ir, node("StridedSlice", 1, attrs{"begin_mask": []int64{1}, "end_mask": []int64{1}}, x, vec[int64](0), vec[int64](0), vec[int64](-1)), "i64[2,3] [[4, 5, 6], [1, 2, 3]]"},
		{onnx, node("Where", 16, nil, vec(true, false), vec("a", "b"), vec("c", "d")), `string[2] ["a", "d"]`},
		{onnx, node("Expand", 13, nil, vec("a", "b"), vec[int64](2, 2)), `string[2,2] [["a", "b"], ["a", "b"]]`},
		{onnx, node("Slice", 13, nil, garner.Of([]int64{}, 0), vec[int64](3), vec[int64](-9), vec[int64](0), vec[int64](-1)), "i64[0] []"},
		// What ONNX Runtime 1.31 and OpenVINO 2026.4 answered, where Python's slice is empty.
		{onnx, node("Slice", 13, nil, x, vec[int64](-9), vec[int64](-9), vec[int64](0), vec[int64](-1)), "i64[1,3] [[1, 2, 3]]"},
		{onnx, node("Slice", 13, nil, x, vec[int64](-3), vec[int64](-4), vec[int64](0), vec[int64](-1)), "i64[1,3] [[1, 2, 3]]"},
		{onnx, node("Slice", 13, nil, x, vec[int64](-3), vec[int64](-1), vec[int64](0), vec[int64](-1)), "i64[0,3] []"},
		{ir, node("StridedSlice", 1, nil, x, vec[int64](-9), vec[int64](-9), vec[int64](-1)), "i64[1,3] [[1, 2, 3]]"},
		{onnx, node("Range", 11, nil, garner.Of([]int64{math.MinInt64}), garner.Of([]int64{math.MaxInt64}), garner.Of([]int64{math.MaxInt64})), "i64[3] [-9223372036854775808, -1, 9223372036854775806]"},
	} {
		t.Run(tt.format+" "+tt.node.Op, func(t *testing.T) {
			got, err := last(of(tt.format, tt.node), 1<<30)
			if err != nil || got.String() != tt.want {
				t.Errorf("%v %v %v: %v, %v; want %s", tt.node.Op, tt.node.Attributes, tt.node.Version, got, err, tt.want)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	x := i64([]int{2, 3}, 1, 2, 3, 4, 5, 6)
	const onnx, ir = "ONNX", "OpenVINO IR"
	for _, tt := range []struct {
		format string
		node   *model.Node
		want   string
	}{
		{onnx, node("Add", 6, nil, x, vec[int64](1, 2, 3)), "do not broadcast with broadcast=0"},
		{onnx, node("Add", 14, nil, x, vec[int64](1, 2)), "do not broadcast"},
		{onnx, node("Add", 14, nil, x, vec[int32](1)), "Add of i64 and i32; cast one"},
		{onnx, node("Add", 14, nil, x), "needs an input 1"},
		{onnx, node("Add", 14, nil, x, nil), "needs an input 1"},
		{onnx, node("Max", 13, nil, vec[float32](1), vec[float32](1)), "Max of f32 is not run"},
		{onnx, node("Div", 14, nil, x, vec[int64](1, 0, 1)), "Div by 0, at element 1 of [3]"},
		{onnx, node("Mod", 13, nil, x, i64(nil, 0)), "Mod by 0"},
		{onnx, node("Cast", 13, attrs{"to": int64(6)}, vec[float32](1, 3e9)), "element 1 is 3e+09, which i32 does not hold"},
		{onnx, node("Cast", 13, attrs{"to": int64(7)}, vec(math.NaN())), "element 0 is NaN"},
		{onnx, node("Cast", 13, attrs{"to": int64(8)}, x), "a cast of i64 to string is not run"},
		{onnx, node("Cast", 13, attrs{"to": int64(17)}, x), "element type 17 is not run"},
		{onnx, node("Cast", 13, nil, x), "does not say what to cast to"},
		{onnx, node("Reshape", 14, nil, x, vec[int64](4, -1)), "leaves no dim for -1"},
		{onnx, node("Reshape", 14, nil, x, vec[int64](-1, -1)), "more than one -1"},
		{onnx, node("Reshape", 14, nil, x, vec[int64](2, 2)), "has 6 elements"},
		{onnx, node("Reshape", 14, nil, x, vec[int64](1, 1, 0)), "asks for dim 2"},
		{onnx, node("Reshape", 14, nil, x, vec[float32](6)), "its shape is f32[1]"},
		{onnx, node("Squeeze", 13, nil, x, vec[int64](0)), "axis 0 of [2,3] cannot be dropped"},
		{onnx, node("Unsqueeze", 13, nil, x, vec[int64](0, -4)), "name axis 0 twice"},
		{onnx, node("Transpose", 13, attrs{"perm": []int64{0, 0}}, x), "no permutation"},
		{onnx, node("Concat", 13, attrs{"axis": int64(2)}, x, x), "its axis is 2, and there are 2 dims"},
		{onnx, node("Concat", 13, attrs{"axis": int64(0)}, x, i64([]int{1, 2}, 1, 2)), "cannot be joined"},
		{onnx, node("Concat", 13, attrs{"axis": "0"}, x, x), "its axis is 0; it must be an integer"},
		{onnx, node("Slice", 13, nil, x, vec[int64](0), vec[int64](1), vec[int64](0), vec[int64](0)), "its step along axis 0 is 0"},
		{onnx, node("Slice", 13, nil, x, vec[int64](0), vec[int64](1, 2)), "1 starts, 2 ends"},
		{onnx, node("Slice", 13, nil, x, vec[int64](0, 0), vec[int64](1, 2), vec[int64](0, -2)), "name axis 0 twice"},
		{onnx, node("Where", 16, nil, x, x, x), "its condition is i64"},
		{onnx, node("Range", 11, nil, i64(nil, 0), i64(nil, 1), i64(nil, 0)), "its step is 0"},
		{onnx, node("Range", 11, nil, i64(nil, 0), i64(nil, math.MaxInt), i64(nil, 1)), "and there are 0.0009766 GiB"},
		{onnx, node("Expand", 13, nil, x, vec[int64](1<<14, 1<<14, 2, 3)), "and there are 0.0009766 GiB"},
		{onnx, node("Expand", 13, nil, x, vec[int64](-1)), "is no shape"},
		{ir, node("Broadcast", 1, attrs{"mode": "pdpd"}, x, vec[int64](2, 3)), "its mode is \"pdpd\""},
		{ir, node("Add", 1, attrs{"auto_broadcast": "pdpd"}, x, x), "its auto_broadcast is \"pdpd\""},
		{ir, node("Add", 1, attrs{"auto_broadcast": "none"}, x, vec[int64](1)), "its inputs differ in shape"},
		{ir, node("StridedSlice", 1, attrs{"shrink_axis_mask": []int64{1}}, x, vec[int64](2), vec[int64](3)), "takes element 2 of axis 0"},
		{ir, node("StridedSlice", 1, nil, x, vec[int64](0, 0, 0), vec[int64](1, 1, 1)), "slices 3 axes"},
		{ir, node("Clamp", 1, attrs{"min": "low", "max": "1"}, x), "its min is \"low\""},
		{ir, node("ReduceProd", 1, nil, x, vec[int64](0)), "ReduceProd of i64[2,3] is not run"},
		{onnx, node("onnx.Gather-13", 13, nil, x, vec[int64](2)), "indices[0] = 2 is outside axis 0"},
		{onnx, node("onnx.Gather-13", 13, attrs{"axis": int64(2)}, x, vec[int64](0)), "axis 2 of data"},
		{onnx, node("onnx.Gather-13", 13, nil, x), "takes data and indices"},
		{ir, node("openvino.Gather-8", 8, nil, x, vec[int64](0)), "needs its input axis"},
	} {
		t.Run(tt.format+" "+tt.node.Op, func(t *testing.T) {
			got, err := last(of(tt.format, tt.node), 1<<20)
			var at *model.Error
			if !errors.As(err, &at) || at.Path != "m" || at.At != `node "n" (node 0)` || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v: %v, %v; want %s", tt.node.Op, got, err, tt.want)
			}
		})
	}
}

// TestUnsupported holds that what is not run is refused by its name, with what
// runs without it, before anything runs.
func TestUnsupported(t *testing.T) {
	x := i64([]int{2, 3}, 1, 2, 3, 4, 5, 6)
	gather := node("onnx.Gather-13", 13, nil, x, vec[int64](9)) // which would be refused
	gather.Name = "g"
	conv := node("Conv", 13, nil, gather.Outputs[0])
	custom := node("Add", 1, nil, conv.Outputs[0], conv.Outputs[0])
	custom.Domain = "com.example"
	free := node("Shape", 13, nil, x)
	m := of("ONNX", gather, conv, custom, free)
	_, err := run.Values(context.Background(), m, []*model.Value{custom.Outputs[0], free.Outputs[0]}, nil, 1<<20)
	const want = `garner: m: node "n" (node 0): garner does not run Conv, nor 1 more of the nodes that are needed; it runs gathers and what stands around their indices. These results run: "onnx.Gather-13", "Shape"; and these gathers: "g"`
	if err == nil || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
	given := map[*model.Value]garner.Tensor{custom.Outputs[0]: x}
	if got, err := run.Values(context.Background(), m, []*model.Value{custom.Outputs[0]}, given, 1<<20); err != nil || got[0].String() != x.String() {
		t.Errorf("%v, %v", got, err)
	}
	loop := node("Identity", 13, nil, x)
	loop.Graphs = []model.Subgraph{{Name: "body", Graph: &model.Graph{}}}
	if run.Runs(m, loop) {
		t.Error("a node with a graph of its own runs")
	}
}

func TestNeeds(t *testing.T) {
	in := &model.Value{Name: "in", Spec: garner.SpecOf(garner.I64, 2)}
	given := &model.Value{Name: "given", Spec: model.Unknown}
	byDefault := constant(vec[int64](1, 2))
	add := node("Add", 13, nil, in, byDefault)
	mul := node("Mul", 13, nil, add.Outputs[0], given)
	m := of("ONNX", add, mul)
	have := map[*model.Value]garner.Tensor{given: vec[int64](3, 4)}
	missing, err := run.Needs(m, []*model.Value{mul.Outputs[0]}, have)
	if err != nil || len(missing) != 1 || missing[0] != in {
		t.Errorf("%v, %v", missing, err)
	}
	if _, err := run.Values(context.Background(), m, []*model.Value{mul.Outputs[0]}, have, 1<<20); err == nil || !strings.Contains(err.Error(), "in i64[2] is not given") {
		t.Error(err)
	}
	have[in], have[byDefault] = vec[int64](1, 1), vec[int64](5, 6) // what an input has by default gives way
	got, err := run.Values(context.Background(), m, []*model.Value{mul.Outputs[0]}, have, 1<<20)
	if err != nil || got[0].String() != "i64[2] [18, 28]" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestLargeTables holds that of a table only the rows are looked at that are
// gathered, also where it is cast first.
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
	if !errors.Is(err, garner.ErrShape) || !strings.Contains(err.Error(), "takes 6.554e+04 GiB") {
		t.Error(err)
	}
	// A zero outside is one of the type that is cast to, which has one.
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

// TestCanceled holds that a run ends with its context.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("stop")
	cancel(stop)
	n := node("Identity", 13, nil, vec[int64](1))
	if _, err := run.Values(ctx, of("ONNX", n), n.Outputs, nil, 1<<20); err != stop {
		t.Error(err)
	}
}
