package convert_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/convert"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

type attributes map[string]any

// in is an input of a model: a dtype, and dims of which -1 is unknown.
func in(d garner.DType, dims ...int) garner.Spec {
	list := make([]garner.Dim, len(dims))
	for i, n := range dims {
		if list[i] = garner.AnyDim; n >= 0 {
			list[i] = garner.Exactly(n)
		}
	}
	return garner.SpecOfDims(d, list...)
}

// anyRank is an input whose rank is not known.
func anyRank(d garner.DType) garner.Spec { return garner.SpecOfRank(d, garner.AnyDim) }

// whole is a constant vector of i64, number a scalar.
func whole(list ...int64) garner.Tensor { return garner.Of(list, len(list)) }
func number(n int64) garner.Tensor      { return garner.Of([]int64{n}) }

// many is a constant vector of n numbers below high.
func many(n int, high int64) garner.Tensor {
	list := make([]int64, n)
	for i := range list {
		list[i] = int64(i) % high
	}
	return whole(list...)
}

// oneNode is a model of one node. Operands are specs of inputs, tensors of constants, and nil
// where one is left out.
func oneNode(format, op string, version int, a attributes, outputs int, operands ...any) *model.Model {
	n := &model.Node{Name: "it", At: "node 0", Op: op, Version: version, Attributes: a}
	g := &model.Graph{Name: "g", Nodes: []*model.Node{n}}
	for i, operand := range operands {
		v := &model.Value{Name: fmt.Sprint("x", i)}
		switch o := operand.(type) {
		case nil:
			v = nil
		case garner.Spec:
			v.Spec = o
			g.Inputs = append(g.Inputs, v)
		case garner.Tensor:
			v.Spec = garner.SpecOf(o.DType(), o.Shape()...)
			v.Constant = model.NewConstant(v.Name, v.Spec, func() (garner.Tensor, error) { return o, nil })
			g.Constants = append(g.Constants, v)
		}
		n.Inputs = append(n.Inputs, v)
	}
	for i := range outputs {
		v := &model.Value{Name: fmt.Sprint("y", i), From: n, Spec: garner.SpecOfRank(garner.Invalid, garner.AnyDim)}
		n.Outputs = append(n.Outputs, v)
		g.Outputs = append(g.Outputs, model.Result{Name: v.Name, Value: v})
	}
	return &model.Model{Path: "source", Format: format, Opsets: map[string]int{"": version}, Graph: g}
}

// oneGather is oneNode of a gather.
func oneGather(format, op string, version int, a attributes, operands ...any) *model.Model {
	m := oneNode(format, op, version, a, 1, operands...)
	prefix := map[string]string{onnxModel: "onnx", irModel: "openvino"}[format]
	m.Graph.Nodes[0].Operator = fmt.Sprintf("%s.%s-%d", prefix, op, version)
	return m
}

const onnxModel, irModel, tensorflowModel, liteModel = "ONNX", "OpenVINO IR", "TensorFlow", "TFLite"

// computed has a node before that of the model add 0 to an input.
func computed(m *model.Model, i int) *model.Model {
	n := m.Graph.Nodes[0]
	of := n.Inputs[i]
	zero := &model.Value{Name: "zero", Spec: garner.SpecOf(of.Spec.DType)}
	zero.Constant = model.NewConstant(zero.Name, zero.Spec, func() (garner.Tensor, error) { return garner.New(of.Spec.DType) })
	add := &model.Node{Name: "before", At: "node -1", Op: "Add", Version: 14, Inputs: []*model.Value{of, zero}}
	sum := &model.Value{Name: "sum", From: add, Spec: of.Spec}
	add.Outputs, n.Inputs[i] = []*model.Value{sum}, sum
	m.Graph.Nodes = []*model.Node{add, n}
	return m
}

// TestNodes converts models of one node to both formats. Those that are converted give what the
// source gives to random feeds, where garner runs both; the others are refused by name.
func TestNodes(t *testing.T) {
	f32, f64, f16, i32, i64, i8, u8, boolean := garner.F32, garner.F64, garner.F16, garner.I32, garner.I64, garner.I8, garner.U8, garner.Bool
	compared := 0
	for _, tt := range []struct {
		m    *model.Model
		want string // of the error; "" where it is converted
		xml  string // of the error for OpenVINO IR without Lossy
	}{
		// Constant indices, which need no guard, and which OpenVINO does not load behind one.
		{oneGather(onnxModel, "Gather", 13, nil, in(f32, 5, 4), garner.Of([]int64{0, -1, 1, 2}, 2, 2)), "", ""},
		{oneGather(onnxModel, "Gather", 13, attributes{"axis": int64(1)}, in(f32, -1, 4), many(200, 4)), "", ""},
		{oneGather(onnxModel, "Gather", 13, nil, in(f32, 5, 4), garner.Of([]int32{0, -6}, 1, 2)), "", "its constant indices have -6, which is outside of an axis of 5"},
		{oneGather(onnxModel, "Gather", 13, nil, in(f32, 5, 4), many(200, 6)), "", "its constant indices have 5, which is outside of an axis of 5"},
		{oneGather(onnxModel, "Gather", 13, nil, in(f32, 5, 4), number(5)), "", "its constant indices have 5, which is outside"},
		{oneGather(onnxModel, "Gather", 13, nil, in(f32, -1, 4), number(1)), "", ""},
		{oneGather(onnxModel, "Gather", 13, nil, in(f32, 5, 4), garner.Of([]int64{}, 2, 0)), "", ""},
		{oneGather(onnxModel, "Gather", 13, nil, garner.Of([]int32{1, 2, 3}, 3), garner.Of([]int64{0, 2}, 1, 2)), "", ""},
		{oneGather(onnxModel, "GatherND", 13, nil, in(f32, 5, 4), garner.Of([]int64{0, -1, 4, 2}, 2, 2)), "", ""},
		{oneGather(onnxModel, "GatherND", 13, nil, in(f32, 5, 4), garner.Of([]int64{0, 1, 0, 4}, 2, 2)), "", "its constant indices have 4, which is outside of an axis of 4"},
		{oneGather(onnxModel, "GatherND", 13, nil, in(f32, 5, 4), in(i64, 2, 0)), "", "its tuples have no components"},
		{oneGather(onnxModel, "GatherElements", 13, nil, in(f32, 5, 4), garner.Of([]int64{0, -1, 4, 2}, 2, 2)), "", ""},
		{oneGather(onnxModel, "GatherElements", 13, nil, in(f32, 5, 4), garner.Of([]int64{0, 5, 4, 2}, 2, 2)), "", "its constant indices have 5, which is outside of an axis of 5"},
		{oneGather(onnxModel, "GatherElements", 13, nil, in(f32, 5, -1), garner.Of([]int64{0, -1, 4, 2}, 2, 2)), "", ""},
		{oneGather(irModel, "GatherElements", 6, attributes{"axis": int64(0)}, in(f32, 5), whole(0, -1, 4)), "", ""},
		{computed(oneGather(onnxModel, "Gather", 13, nil, in(f32, 5, 4), garner.Of([]int64{0, -1, 1, 2}, 2, 2)), 1), "", ""},
		{computed(oneGather(onnxModel, "GatherElements", 13, nil, in(f32, 5, 4), garner.Of([]int32{0, -1, 1, 2}, 2, 2)), 1), "", ""},
		{computed(oneGather(onnxModel, "Gather", 13, nil, in(f32, 5, 4), whole(1, 5)), 1), "", "its constant indices have 5, which is outside of an axis of 5"},
		{computed(oneGather(onnxModel, "Gather", 13, nil, in(f32, 9), many(1<<17+1, 9)), 1), "", "nodes compute its indices of constants"},
		{computed(oneNode(onnxModel, "ScatterElements", 18, nil, 1, in(f32, 4), whole(1, -1), in(f32, 2)), 1), "", ""},
		// Parts of an axis.
		{oneNode(onnxModel, "Split", 13, attributes{"axis": int64(1)}, 3, in(f32, 2, 7), whole(3, 0, 4)), "", ""},
		{oneNode(onnxModel, "Split", 11, attributes{"axis": int64(-1), "split": []int64{1, 6}}, 2, in(f32, -1, 7)), "", ""},
		{oneNode(onnxModel, "Split", 13, attributes{}, 2, in(i64, 4)), "", ""},
		{oneNode(onnxModel, "Split", 18, attributes{"num_outputs": int64(3)}, 3, in(i32, 7, 2)), "", ""},
		{oneNode(onnxModel, "Split", 18, attributes{"num_outputs": int64(2)}, 3, in(i32, 7, 2)), "its num_outputs is 2, and it has 3 outputs", ""},
		{oneNode(onnxModel, "Split", 13, attributes{}, 3, in(f32, 7)), "an axis of 7 has no 3 parts of one length", ""},
		{oneNode(onnxModel, "Split", 13, attributes{}, 2, in(f32, 7), whole(3, 5)), "its parts [3 5] do not make up the 7", ""},
		{oneNode(onnxModel, "Split", 13, attributes{}, 3, in(f32, 7), whole(3, 4)), "for 3 outputs", ""},
		{oneNode(onnxModel, "Split", 13, attributes{}, 2, in(f32, -1), whole(3, 4)), "the length of axis 0 of its input \"x0\" is not known", ""},
		{oneNode(onnxModel, "Split", 13, attributes{}, 2, in(f32, 7), in(i64, 2)), "its split are computed by the model", ""},
		{oneNode(onnxModel, "Split", 13, attributes{"axis": int64(2)}, 2, in(f32, 7)), "its axis is 2, and there are 1 dims", ""},
		{oneNode(onnxModel, "Split", 13, attributes{}, 2, anyRank(f32)), "the rank of its input \"x0\" is not known", ""},
		{oneNode(irModel, "Split", 1, attributes{"num_splits": int64(2)}, 2, in(f32, 3, 6), number(1)), "", ""},
		{oneNode(irModel, "Split", 1, attributes{"num_splits": int64(4)}, 4, in(f32, 3, 6), number(1)), "has no 4 parts", ""},
		{oneNode(irModel, "VariadicSplit", 1, nil, 3, in(i32, 3, 6), number(-1), whole(2, -1, 1)), "", ""},
		{oneNode(irModel, "VariadicSplit", 1, nil, 2, in(i32, 3, 6), number(1), whole(7, -1)), "do not make up", ""},
		// Numbers along an axis.
		{oneNode(onnxModel, "CumSum", 14, attributes{"exclusive": int64(1)}, 1, in(i64, 3, 5), number(-1)), "", ""},
		{oneNode(onnxModel, "CumSum", 14, attributes{"reverse": int64(1)}, 1, in(f32, -1, 5), number(0)), "", ""},
		{oneNode(onnxModel, "CumSum", 14, nil, 1, in(f16, 5), number(0)), "CumSum of f16 is not converted", ""},
		{oneNode(onnxModel, "CumSum", 14, nil, 1, in(f32, 5), in(i64)), "its input 1 is computed by the model", ""},
		{oneNode(irModel, "CumSum", 3, attributes{"exclusive": true, "reverse": true}, 1, in(i32, 4, 3), number(1)), "", ""},
		{oneNode(irModel, "CumSum", 3, nil, 1, in(i32, 4)), "", ""},
		{oneNode(irModel, "NonZero", 3, nil, 1, in(f32, 3, -1)), "", ""},
		{oneNode(irModel, "NonZero", 3, attributes{"output_type": "i32"}, 1, in(i32, 5)), "", ""},
		{oneNode(irModel, "NonZero", 3, nil, 1, in(f32)), "NonZero of one number is not converted", ""},
		{oneNode(onnxModel, "ReduceSum", 13, nil, 1, in(f32, 3, 5), whole(1)), "", "OpenVINO adds in f32"},
		{oneNode(onnxModel, "ReduceSum", 13, attributes{"keepdims": int64(0)}, 1, in(i32, -1, 5)), "", "OpenVINO adds in f32"},
		{oneNode(onnxModel, "ReduceSum", 13, attributes{"noop_with_empty_axes": int64(1)}, 1, in(i32, 5)), "", ""},
		{oneNode(onnxModel, "ReduceSum", 13, nil, 1, in(u8, 5)), "ReduceSum of u8 is not converted", ""},
		{oneNode(onnxModel, "ReduceSum", 13, nil, 1, in(f32, 3, 5), whole(1, -1)), "name axis 1 twice", ""},
		{oneNode(onnxModel, "ReduceProd", 18, nil, 1, in(i64, 3, 5)), "", ""},
		{oneNode(onnxModel, "ReduceProd", 18, attributes{"noop_with_empty_axes": int64(1)}, 1, in(i64, 3)), "", ""},
		{oneNode(onnxModel, "ReduceProd", 18, nil, 1, in(f32, 3)), "ReduceProd of f32 is not converted", ""},
		// Numbers of their own.
		{oneNode(onnxModel, "Abs", 13, nil, 1, in(f32, 3)), "", ""},
		{oneNode(onnxModel, "Abs", 13, nil, 1, in(i64, -1)), "", ""},
		{oneNode(onnxModel, "Abs", 13, nil, 1, in(i8, 3)), "", ""},
		{oneNode(onnxModel, "Abs", 13, nil, 1, in(u8, 3)), "", ""},
		{oneNode(onnxModel, "Abs", 13, nil, 1, in(f16, 3)), "", ""},
		{oneNode(onnxModel, "Abs", 13, nil, 1, garner.Of([]float32{-1}, 1)), "", "OpenVINO leaves it out"},
		{oneNode(irModel, "Abs", 1, nil, 1, in(f32, 3)), "", ""},
		{oneNode(onnxModel, "Neg", 13, nil, 1, in(f16, 3)), "", "the negative of 0"},
		{oneNode(onnxModel, "Neg", 13, nil, 1, in(i8, 3)), "", ""},
		{oneNode(onnxModel, "Clip", 13, nil, 1, in(f32, 4), garner.Of([]float32{-0.5}), garner.Of([]float32{0.5})), "a Clip of floats becomes Max and Min", ""},
		{oneNode(onnxModel, "Clip", 6, attributes{"min": 0.5}, 1, in(f32, 4)), "Clip of opset 6 is not converted", ""},
		{oneNode(onnxModel, "Clip", 13, nil, 1, in(f16, 4)), "Clip of f16 is not converted", ""},
		{oneNode(onnxModel, "Clip", 13, nil, 1, in(i64, 4), number(-1), number(1)), "", ""},
		{oneNode(onnxModel, "Clip", 13, nil, 1, in(i64, 4)), "", ""},
		{oneNode(onnxModel, "Min", 13, nil, 1, in(f32, 4), in(f32, 1)), "", "least and greatest of floats"},
		{oneNode(onnxModel, "Max", 13, nil, 1, in(i64, 4), in(i64, 1), number(1)), "", ""},
		{oneNode(onnxModel, "Add", 14, nil, 1, in(f16, 4), in(f16, 4)), "", ""},
		{oneNode(onnxModel, "Max", 14, nil, 1, in(f16, 4), in(f16, 4)), "", "least and greatest of floats"},
		{oneNode(onnxModel, "Add", 14, nil, 1, in(garner.BF16, 4), in(garner.BF16, 4)), "Add of bf16 is not converted: ONNX Runtime has none", ""},
		{oneNode(onnxModel, "Equal", 14, nil, 1, in(garner.BF16, 4), in(garner.BF16, 4)), "Equal of bf16 is not converted", ""},
		{oneNode(onnxModel, "Abs", 14, nil, 1, in(garner.BF16, 4)), "Abs of bf16 is not converted", ""},
		{oneNode(onnxModel, "Neg", 14, nil, 1, in(garner.BF16, 4)), "Neg of bf16 is not converted", ""},
		{oneNode(irModel, "Multiply", 1, nil, 1, in(f16, 4), in(f16, 4)), "", ""},
		{oneNode(irModel, "GreaterEqual", 1, nil, 1, in(f16, 4), in(f16, 4)), "", ""},
		{oneNode(onnxModel, "Add", 14, nil, 1, in(f32, 4), in(f64, 4)), "which differ in dtype", ""},
		{oneNode(onnxModel, "Add", 6, attributes{"broadcast": int64(1)}, 1, in(f32, 4), in(f32, 4)), "Add of opset 6 with broadcast=1", ""},
		{oneNode(onnxModel, "Mod", 13, nil, 1, in(f32, 4), in(f32, 4)), "is not converted", ""},
		{oneNode(onnxModel, "And", 13, nil, 1, in(i32, 4), in(i32, 4)), "And of i32 is not converted", ""},
		{oneNode(onnxModel, "Less", 13, nil, 1, in(f16, 4), in(f16, 4)), "", ""},
		{oneNode(onnxModel, "Add", 14, nil, 1, in(garner.U32, 4), in(garner.U32, 4)), "", "OpenVINO computes u32 as i32"},
		{oneNode(onnxModel, "Less", 14, nil, 1, in(garner.U32, 4), in(garner.U32, 4)), "", "OpenVINO computes u32 as i32"},
		{oneNode(onnxModel, "Div", 14, nil, 1, in(f32, 4), in(f32, 4)), "", "OpenVINO divides floats"},
		// Extremes, signs and NaNs.
		{oneNode(onnxModel, "ReduceMax", 18, nil, 1, in(f32, 3, 5), whole(1)), "", "least and greatest of floats may differ for a NaN"},
		{oneNode(onnxModel, "ReduceMin", 18, attributes{"keepdims": int64(0)}, 1, in(i8, 3, 5), whole(-1)), "", ""},
		{oneNode(onnxModel, "ReduceMin", 18, nil, 1, in(u8, 3, 5)), "", ""},
		{oneNode(onnxModel, "ReduceMax", 18, nil, 1, in(i64, 3, 5)), "", "OpenVINO compares integers as f32"},
		{oneNode(onnxModel, "ReduceMax", 18, nil, 1, in(i8, -1, 5), whole(0)), "", "ReduceMax of no elements differs"},
		{oneNode(onnxModel, "ReduceMax", 18, attributes{"noop_with_empty_axes": int64(1)}, 1, in(f32, 5)), "", ""},
		{oneNode(onnxModel, "ReduceMax", 18, nil, 1, in(f16, 5)), "ReduceMax of f16 is not converted", ""},
		{oneNode(irModel, "ReduceMax", 1, attributes{"keep_dims": true}, 1, in(garner.I16, 3, 5), whole(1)), "", ""},
		{oneNode(irModel, "ReduceMin", 1, nil, 1, in(garner.U16, 3, 5), whole(0)), "", ""},
		{oneNode(onnxModel, "ArgMax", 13, attributes{"axis": int64(-1)}, 1, in(i8, 3, 5)), "", ""},
		{oneNode(onnxModel, "ArgMin", 13, attributes{"axis": int64(0), "keepdims": int64(0), "select_last_index": int64(1)}, 1, in(u8, 4, 3)), "", ""},
		{oneNode(onnxModel, "ArgMax", 13, nil, 1, in(f32, 3, 5)), "a NaN is equal to none", ""},
		{oneNode(onnxModel, "ArgMax", 13, nil, 1, in(u8, -1, 5)), "ArgMax of no elements is refused", ""},
		{oneNode(onnxModel, "ArgMin", 13, nil, 1, in(u8, 0, 5)), "axis 0 of u8[0,5] has no elements", ""},
		{oneNode(onnxModel, "ArgMax", 13, attributes{"axis": int64(2)}, 1, in(i8, 3, 5)), "its axis is 2", ""},
		{oneNode(onnxModel, "IsNaN", 13, nil, 1, in(f32, 3)), "", ""},
		{oneNode(onnxModel, "IsNaN", 13, nil, 1, in(f16, 3)), "", ""},
		{oneNode(onnxModel, "IsNaN", 13, nil, 1, in(i32, 3)), "IsNaN of i32 is not converted", ""},
		{oneNode(irModel, "IsNaN", 10, nil, 1, in(f32, 3)), "", ""},
		{oneNode(onnxModel, "Sign", 13, nil, 1, in(f32, 3)), "", ""},
		{oneNode(onnxModel, "Sqrt", 13, nil, 1, in(f32, 3)), "", ""},
		{oneNode(onnxModel, "Sqrt", 13, nil, 1, in(f16, 3)), "Sqrt of f16 is not converted", ""},
		{oneNode(onnxModel, "Sign", 13, nil, 1, in(i64, -1)), "", ""},
		{oneNode(onnxModel, "Sign", 13, nil, 1, in(u8, 3)), "", ""},
		{oneNode(onnxModel, "Sign", 13, nil, 1, in(garner.U32, 3)), "", "OpenVINO computes u32 as i32"},
		{oneNode(onnxModel, "Sign", 13, nil, 1, in(f16, 3)), "Sign of f16 is not converted", ""},
		{oneNode(irModel, "Sign", 1, nil, 1, in(i32, 3)), "", ""},
		{oneNode(irModel, "Greater", 1, nil, 1, in(f32, 3), in(f32, 3)), "", ""},
		{oneNode(irModel, "GreaterEqual", 1, nil, 1, in(i64, 3), in(i64, 3)), "", ""},
		{oneNode(onnxModel, "GreaterOrEqual", 16, nil, 1, in(f32, 3), in(f32, 3)), "", ""},
		{oneNode(onnxModel, "LessOrEqual", 16, nil, 1, in(i64, 3), in(i64, 3)), "", ""},
		{oneNode(onnxModel, "Greater", 13, nil, 1, in(i32, 3), in(i32, 3)), "", ""},
		{oneNode(onnxModel, "Equal", 13, nil, 1, in(i64, 3), number(2)), "", ""},
		// Positions.
		{oneNode(onnxModel, "NonZero", 13, nil, 1, in(f32, 3, -1)), "", ""},
		{oneNode(onnxModel, "NonZero", 13, nil, 1, in(f32)), "NonZero of one number is not converted", ""},
		{oneNode(onnxModel, "NonZero", 13, nil, 1, in(f16, 3)), "has no NonZero of f16", ""},
		{oneNode(onnxModel, "Compress", 11, attributes{"axis": int64(1)}, 1, in(f32, 3, 5), in(boolean, 4)), "", ""},
		{oneNode(onnxModel, "Compress", 11, nil, 1, in(i8, -1, 5), in(boolean, -1)), "", ""},
		{oneNode(onnxModel, "Compress", 11, attributes{"axis": int64(0)}, 1, in(f32, 2, 3), garner.Of([]bool{false, true}, 2)), "", ""},
		{oneNode(onnxModel, "Compress", 11, attributes{"axis": int64(1)}, 1, in(f32, 2, 3), garner.Of([]bool{false, false, false, true}, 4)), "", ""},
		{oneNode(onnxModel, "Compress", 11, nil, 1, in(f32, 3, 5), in(boolean, 4, 1)), "it must be a vector of bool", ""},
		{oneNode(onnxModel, "EyeLike", 9, attributes{"k": int64(1), "dtype": int64(7)}, 1, in(f32, 3, -1)), "", ""},
		{oneNode(onnxModel, "EyeLike", 9, nil, 1, in(f32, 3)), "it must have two dims", ""},
		{oneNode(onnxModel, "Trilu", 14, nil, 1, in(f32, 2, 3, -1), number(1)), "", ""},
		{oneNode(onnxModel, "Trilu", 14, attributes{"upper": int64(0)}, 1, in(boolean, 3, 4), in(i64, 1)), "", ""},
		{oneNode(onnxModel, "Trilu", 14, nil, 1, in(f32, 3)), "it must have two dims and more", ""},
		{oneNode(onnxModel, "Trilu", 14, nil, 1, in(garner.String, 3, 3)), "Trilu of string is not converted", ""},
		{oneNode(onnxModel, "OneHot", 11, attributes{"axis": int64(0)}, 1, in(i64, 3, -1), whole(5), garner.Of([]float32{-1, 2}, 2)), "", ""},
		{oneNode(onnxModel, "OneHot", 11, nil, 1, in(i32, 3), number(0), whole(0, 1)), "both must be 1 and more", ""},
		{oneNode(onnxModel, "OneHot", 11, nil, 1, in(i32, 3), in(i64), whole(0, 1)), "its input 1 is computed by the model", ""},
		{oneNode(onnxModel, "OneHot", 11, nil, 1, in(f32, 3), number(3), whole(0, 1)), "OneHot of indices of f32 is not converted", ""},
		{oneNode(liteModel, "BROADCAST_ARGS", 1, nil, 1, in(i32, 3), in(i32, 2)), "", ""},
		{oneNode(liteModel, "BROADCAST_ARGS", 1, nil, 1, in(i32, 3), in(i32, -1)), "are not known to be vectors", ""},
		{oneNode(liteModel, "SPLIT_V", 1, nil, 3, in(f32, 2, 6), whole(1, -1, 2), number(1)), "", ""},
		// Pads.
		{oneNode(onnxModel, "Pad", 13, nil, 1, in(f32, 2, 3), whole(1, -1, 0, 2)), "", ""},
		{oneNode(onnxModel, "Pad", 13, nil, 1, in(f32, -1, 3), in(i64, 4), garner.Of([]float32{2.5})), "", ""},
		{oneNode(onnxModel, "Pad", 18, nil, 1, in(i64, -1, 3), whole(2, 1), number(7), whole(-1)), "", ""},
		{oneNode(onnxModel, "Pad", 18, nil, 1, in(i64, -1, 3), in(i64, 2), nil, whole(1)), "", ""},
		{oneNode(onnxModel, "Pad", 2, attributes{"pads": []int64{0, 1, 1, 0}, "mode": "edge"}, 1, in(f32, -1, 3)), "", ""},
		{oneNode(onnxModel, "Pad", 2, attributes{"pads": []int64{0, 1}, "value": 1.5}, 1, in(f32, 3)), "Pad of opset 2 with the value 1.5", ""},
		{oneNode(onnxModel, "Pad", 13, attributes{"mode": "reflect"}, 1, in(f32, 2, 3), whole(1, 2, 0, 0)), "", ""},
		{oneNode(onnxModel, "Pad", 13, attributes{"mode": "reflect"}, 1, in(f32, -1, 3), whole(1, 2, 0, 0)), "", "is not known to have the 2 elements that it reflects"},
		{oneNode(onnxModel, "Pad", 13, attributes{"mode": "reflect"}, 1, in(f32, 2, 3), whole(-1, 2, 0, 0)), "and reflects; that is not converted", ""},
		{oneNode(onnxModel, "Pad", 13, attributes{"mode": "reflect"}, 1, in(f32, 2, 3), in(i64, 4)), "the mode reflect needs constant ones", ""},
		{oneNode(onnxModel, "Pad", 19, attributes{"mode": "wrap"}, 1, in(f32, 3), whole(1, 1)), "its mode is \"wrap\"", ""},
		{oneNode(onnxModel, "Pad", 13, nil, 1, in(f32, 3), whole(1)), "it has 1 pads", ""},
		{oneNode(onnxModel, "Pad", 18, nil, 1, in(f32, 3), whole(1), nil, whole(0)), "two pads for each of its 1 axes", ""},
		{oneNode(onnxModel, "Pad", 13, nil, 1, in(f32, 3), whole(1, 1), number(1)), "it pads", ""},
		{oneNode(onnxModel, "Pad", 13, nil, 1, in(i64, 3), whole(1, 1), in(i64)), "", "OpenVINO pads with 0, or with the value of its first run"},
		{oneNode(onnxModel, "Pad", 13, nil, 1, in(u8, 3), whole(1, 1), in(u8, 1)), "", "make it a constant"},
		{oneNode(irModel, "Pad", 12, attributes{"pad_mode": "constant"}, 1, in(f32, 3), whole(1), whole(1), in(f32)), "make it a constant", ""},
		{oneNode(irModel, "Pad", 12, attributes{"pad_mode": "constant"}, 1, in(garner.I16, 3), whole(1), whole(1), garner.Of([]int16{-3})), "", ""},
		{oneNode(irModel, "Pad", 12, attributes{"pad_mode": "symmetric"}, 1, in(f32, 2, 3), whole(2, 0), whole(0, 3)), "", ""},
		{oneNode(irModel, "Pad", 1, attributes{"pad_mode": "constant"}, 1, in(garner.U16, 2, 3), whole(2, 0), whole(0, 3)), "", ""},
		{oneNode(tensorflowModel, "Pad", 0, nil, 1, in(f32, -1), garner.Of([]int32{1, 2}, 1, 2)), "", ""},
		{oneNode(tensorflowModel, "PadV2", 0, nil, 1, in(i32, 3), garner.Of([]int32{1, 2}, 1, 2), garner.Of([]int32{5})), "", ""},
		{oneNode(tensorflowModel, "Pad", 0, nil, 1, in(f32, 3), garner.Of([]int32{-1, 2}, 1, 2)), "they must be two of 0 and more", ""},
		{oneNode(tensorflowModel, "Pad", 0, nil, 1, in(f32, 3), in(i32, 1, 2)), "TensorFlow refuses a negative one", ""},
		{oneNode(tensorflowModel, "MirrorPad", 0, attributes{"mode": "SYMMETRIC"}, 1, in(f32, 3), garner.Of([]int32{3, 2}, 1, 2)), "", ""},
		{oneNode(tensorflowModel, "MirrorPad", 0, attributes{"mode": "REFLECT"}, 1, in(f32, 3), garner.Of([]int32{3, 2}, 1, 2)), "it reflects; declare it", ""},
		{oneNode(liteModel, "MIRROR_PAD", 0, attributes{"mode": int64(1)}, 1, in(f32, 3), garner.Of([]int32{1, 2}, 1, 2)), "", ""},
		{oneNode(liteModel, "MIRROR_PAD", 0, attributes{"mode": int64(2)}, 1, in(f32, 3), garner.Of([]int32{1, 2}, 1, 2)), "its mode is 2", ""},
		{oneNode(liteModel, "PAD", 0, nil, 1, in(f32, 3), garner.Of([]int32{1, 2}, 1, 2)), "", ""},
		// TensorFlow's arithmetic.
		{oneNode(tensorflowModel, "Div", 0, nil, 1, in(i32, 3), in(i32, 3)), "", ""},
		{oneNode(tensorflowModel, "RealDiv", 0, nil, 1, in(f32, 3), in(f32, 3)), "TensorFlow's optimiser makes a product", ""},
		{oneNode(tensorflowModel, "Invert", 0, nil, 1, in(i32, 3)), "", ""},
		{oneNode(tensorflowModel, "OnesLike", 0, nil, 1, in(f32, -1, 3)), "", ""},
		// Shapes.
		{oneNode(onnxModel, "Flatten", 13, attributes{"axis": int64(2)}, 1, in(f32, 2, 3, 4)), "", ""},
		{oneNode(onnxModel, "Flatten", 13, attributes{"axis": int64(2)}, 1, in(f32, -1, 3)), "", ""},
		{oneNode(onnxModel, "Flatten", 13, attributes{"axis": int64(3)}, 1, in(f32, 2, 3)), "its axis is 3", ""},
		{oneNode(onnxModel, "Shape", 15, attributes{"start": int64(1), "end": int64(-1)}, 1, in(f32, -1, 3, 4)), "", ""},
		{oneNode(onnxModel, "Reshape", 5, attributes{"shape": []int64{-1, 2}}, 1, in(f32, 4, 3)), "", ""},
		{oneNode(onnxModel, "Reshape", 13, nil, 1, in(f32, 4)), "it has no input 1, which Reshape needs", ""},
		{oneNode(onnxModel, "Tile", 13, nil, 1, in(f32, 2, 3), whole(2, 1)), "", ""},
		{oneNode(onnxModel, "Tile", 13, nil, 1, in(f32, 1, 1, 3, -1, -1), whole(2, 2, 2, 2, 2)), "", ""},
		{oneNode(onnxModel, "Tile", 13, nil, 1, in(f32, 1, -1, 3), in(i64, 3)), "", ""},
		{oneNode(onnxModel, "Tile", 13, nil, 1, in(f32), in(i64, 0)), "", ""},
		{oneNode(onnxModel, "Tile", 13, nil, 1, in(f32, 3), whole(-1)), "", "its repeats are [-1]; they must be 0 and more"},
		{oneNode(onnxModel, "Tile", 13, nil, 1, anyRank(f32), in(i64, -1)), "", "the rank of its input"},
		{oneNode(onnxModel, "Tile", 1, nil, 1, in(f32, 2, 3), whole(2), whole(1)), "Tile of opset 1 is not converted", ""},
		{oneNode(onnxModel, "Range", 11, nil, 1, number(0), in(i64), number(2)), "", ""},
		{oneNode(onnxModel, "Range", 11, nil, 1, number(5), in(i64), number(1)), "", ""},
		{oneNode(onnxModel, "Range", 11, nil, 1, in(i64), number(9), number(-1)), "", ""},
		{oneNode(onnxModel, "Range", 11, nil, 1, in(i64), number(2), in(i64)), "", ""},
		{oneNode(onnxModel, "Range", 11, nil, 1, in(f32), in(f32), in(f32)), "a range of f32 is not converted", ""},
		{oneNode(onnxModel, "Range", 11, nil, 1, in(i32), in(i64), in(i32)), "which differ in dtype", ""},
		{oneNode(onnxModel, "Expand", 13, nil, 1, in(boolean, 3, 1), whole(3, 4)), "", ""},
		{oneNode(onnxModel, "ConstantOfShape", 9, nil, 1, in(i64, 2)), "", ""},
		{oneNode(onnxModel, "ConstantOfShape", 9, nil, 1, in(i64, -1)), "", "the rank of what it makes is not known"},
		{oneNode(onnxModel, "Expand", 13, nil, 1, in(f32, 3), in(i64, -1)), "", "the rank of what it makes is not known"},
		{oneNode(onnxModel, "Reshape", 13, nil, 1, in(f32, 3), in(i64, -1)), "", "the rank of what it makes is not known"},
		{oneNode(onnxModel, "Squeeze", 13, nil, 1, in(f32, -1, 3)), "", "the rank of what it makes is not known"},
		{oneNode(onnxModel, "ConstantOfShape", 9, attributes{"value": int64(3)}, 1, in(i64, 2)), "its value is 3; it must be a tensor of one element", ""},
		{oneNode(onnxModel, "Transpose", 13, nil, 1, in(f32, 2, 3)), "", ""},
		{oneNode(onnxModel, "Transpose", 13, attributes{"perm": []int64{0, 0}}, 1, in(f32, 2, 3)), "is no order of the 2 dims", ""},
		{oneNode(onnxModel, "Concat", 13, attributes{"axis": int64(-1)}, 1, in(f32, 2, 3), in(f32, 2, 1)), "", ""},
		{oneNode(onnxModel, "Concat", 13, attributes{"axis": int64(2)}, 1, in(f32, 2, 3), in(f32, 2, 1)), "its axis is 2", ""},
		{oneNode(onnxModel, "Concat", 13, attributes{"axis": int64(0)}, 1, in(f32, 2), in(i64, 2)), "which differ in dtype", ""},
		{oneNode(onnxModel, "Concat", 13, attributes{"axis": "first"}, 1, in(f32, 2)), "its axis is first; it must be an integer", ""},
		{oneNode(onnxModel, "Unsqueeze", 13, nil, 1, in(f32, 2), whole(0, 2)), "", ""},
		{oneNode(onnxModel, "Unsqueeze", 13, nil, 1, in(f32, 2)), "it has no axes", ""},
		{oneNode(onnxModel, "Unsqueeze", 11, attributes{"axes": int64(1)}, 1, in(f32, 2)), "its axes is 1; it must be a list", ""},
		{oneNode(onnxModel, "Squeeze", 13, nil, 1, in(f32, 1, 2, 1)), "", ""},
		{oneNode(onnxModel, "Squeeze", 13, nil, 1, in(f32, 1, 2, 1), whole()), "", ""},
		{oneNode(onnxModel, "Squeeze", 13, nil, 1, in(f32, 1, 2, 1), whole(-1)), "", ""},
		{oneNode(onnxModel, "Slice", 13, nil, 1, in(f32, 6, 5), whole(1), whole(-1), nil, nil), "", ""},
		{oneNode(onnxModel, "Slice", 13, nil, 1, in(f32, 6, 5), whole(4), whole(-7), whole(0), whole(-2)), "", ""},
		{oneNode(onnxModel, "Slice", 13, nil, 1, in(f32, 6, 5)), "it has no starts or no ends", ""},
		{oneNode(onnxModel, "Slice", 13, nil, 1, in(f32, 6, 5), in(i64, -1), in(i64, -1)), "how many axes it slices is not known", ""},
		{oneNode(onnxModel, "Where", 13, nil, 1, in(f32, 3), in(f32, 3), in(f32, 3)), "its condition is f32", ""},
		{oneNode(onnxModel, "Where", 13, nil, 1, in(boolean, 3), in(f32, 3), in(f32, 3)), "", "ONNX Runtime's Where makes 0 of a -0"},
		{oneNode(onnxModel, "Slice", 13, nil, 1, in(f32, 6), whole(4), whole(math.MaxInt64), whole(0), whole(-1)), "", ""},
		{oneNode(onnxModel, "Slice", 13, nil, 1, in(f32, 6), whole(4), in(i64, 1), whole(0), whole(-1)), "", "means the first element in ONNX"},
		{oneNode(irModel, "Slice", 8, nil, 1, in(f32, 6), whole(2), whole(math.MaxInt32), whole(-1), whole(0)), "", ""},
		{oneNode(onnxModel, "Where", 13, nil, 1, in(boolean, 3), in(f32, 3), in(f64, 3)), "which differ in dtype", ""},
		{oneNode(onnxModel, "Where", 13, nil, 1, in(boolean, 3), in(boolean, 3), in(boolean, 1)), "", ""},
		{oneNode(onnxModel, "Where", 13, nil, 1, in(boolean, 3), in(garner.I16, 3), in(garner.I16, 1)), "", ""},
		{oneNode(onnxModel, "Cast", 13, nil, 1, in(f32, 3)), "it does not say what to cast to", ""},
		{oneNode(onnxModel, "Cast", 5, attributes{"to": "f32"}, 1, in(i32, 3)), "", ""},
		{oneNode(onnxModel, "Cast", 13, attributes{"to": int64(8)}, 1, in(f32, 3)), "a cast of f32 to string is not converted", ""},
		{oneNode(onnxModel, "Cast", 13, attributes{"to": int64(1)}, 1, in(garner.Complex64, 3)), "is not converted", ""},
		{oneNode(onnxModel, "Size", 13, nil, 1, in(f32, -1, 3)), "", ""},
		{oneNode(onnxModel, "Softmax", 13, nil, 1, in(f32, 3)), "Softmax is not converted", ""},
		{oneNode(onnxModel, "TopK", 11, nil, 2, in(f32, 3), whole(1)), "", "a NaN in TopK"},
		{oneNode(onnxModel, "TopK", 11, attributes{"axis": int64(0)}, 2, in(i64, 4, 3), whole(2)), "", ""},
		{oneNode(onnxModel, "TopK", 11, attributes{"largest": int64(0)}, 1, in(i8, -1, -1), whole(2)), "", ""},
		{oneNode(onnxModel, "TopK", 9, attributes{"k": int64(2)}, 2, in(i64, 3)), "", ""},
		{oneNode(onnxModel, "TopK", 11, attributes{"sorted": int64(0)}, 2, in(i32, 4), whole(1)), "", ""},
		{oneNode(onnxModel, "TopK", 11, attributes{"sorted": int64(0)}, 2, in(i32, 4), whole(2)), "it is not sorted", ""},
		{oneNode(onnxModel, "TopK", 11, nil, 2, in(i32, 4), whole(5)), "its k is 5, and axis 0 has 4 elements", ""},
		{oneNode(onnxModel, "TopK", 11, nil, 2, in(i32, 4), whole(-1)), "its k is -1", ""},
		{oneNode(onnxModel, "TopK", 11, nil, 2, in(i32, 4), whole(0)), "", "its k is 0; it must be positive in OpenVINO"},
		{oneNode(onnxModel, "TopK", 11, nil, 2, in(i32, 4), in(i64, 1)), "", "its k is computed by the model"},
		{oneNode(onnxModel, "TopK", 11, nil, 2, in(garner.U32, 4), whole(1)), "has no TopK of u32", ""},
		{oneNode(irModel, "TopK", 11, attributes{"axis": int64(1), "mode": "max", "sort": "value", "stable": true}, 2, in(i32, 2, 4), number(2)), "", ""},
		{oneNode(irModel, "TopK", 11, attributes{"axis": int64(1), "mode": "min", "sort": "value", "stable": true, "index_element_type": "i64"}, 2, in(i64, 2, 4), number(2)), "", ""},
		{oneNode(irModel, "TopK", 3, attributes{"axis": int64(0), "mode": "max", "sort": "value"}, 2, in(i32, 4), number(2)), "where TopK is not stable", ""},
		{oneNode(irModel, "TopK", 11, attributes{"axis": int64(0), "mode": "max", "sort": "index", "stable": true}, 2, in(i32, 4), number(2)), "with sort=index is not converted", ""},
		{oneNode(irModel, "TopK", 11, attributes{"axis": int64(0), "mode": "max", "sort": "none"}, 2, in(i32, 4), number(2)), "it is not sorted", ""},
		{oneNode(irModel, "TopK", 11, attributes{"axis": int64(0), "mode": "most", "sort": "value"}, 2, in(i32, 4), number(2)), "its mode is most", ""},
		{oneNode(irModel, "TopK", 11, attributes{"axis": int64(0), "mode": "max", "sort": "value", "stable": true, "index_element_type": "f32"}, 2, in(i32, 4), number(2)), "its index_element_type is", ""},
		{oneNode(tensorflowModel, "TopKV2", 0, attributes{"sorted": true}, 2, in(i32, 2, 4), number(2)), "", ""},
		{oneNode(tensorflowModel, "TopKV2", 0, attributes{"sorted": false}, 2, in(i32, 2, 4), number(2)), "it is not sorted", ""},
		{oneNode(liteModel, "TOPK_V2", 0, nil, 2, in(i32, 2, 4), number(2)), "", ""},
		{oneNode(onnxModel, "ScatterElements", 18, attributes{"axis": int64(1)}, 1, in(f32, 2, 3), in(i64, 2, 4), in(f32, 2, 4)), "", ""},
		{oneNode(onnxModel, "Scatter", 9, attributes{"axis": int64(-1)}, 1, in(boolean, -1, -1), in(i32, -1, -1), in(boolean, -1, -1)), "", ""},
		{oneNode(onnxModel, "ScatterElements", 18, attributes{"reduction": "add"}, 1, in(f32, 3), in(i64, 1), in(f32, 1)), "ScatterElements with reduction=add", ""},
		{oneNode(onnxModel, "ScatterElements", 18, attributes{"axis": int64(1)}, 1, in(f32, 3), in(i64, 1), in(f32, 1)), "its axis is 1", ""},
		{oneNode(onnxModel, "ScatterElements", 18, nil, 1, in(f32, 3), in(i8, 1), in(f32, 1)), "its indices are i8[1]", ""},
		{oneNode(onnxModel, "ScatterElements", 18, nil, 1, in(f32, 3), in(i64, 1), in(f64, 1)), "which differ in dtype", ""},
		{oneNode(irModel, "ScatterElementsUpdate", 3, nil, 1, in(f32, 3), in(i64, 4), in(f32, 4), number(0)), "", ""},
		{oneNode(irModel, "ScatterElementsUpdate", 12, attributes{"reduction": "none", "use_init_val": true}, 1, in(i32, 3), in(i32, 4), in(i32, 4), number(-1)), "", ""},
		{oneNode(irModel, "ScatterElementsUpdate", 12, attributes{"reduction": "sum"}, 1, in(i32, 3), in(i32, 4), in(i32, 4), number(0)), "with reduction=sum", ""},
		{oneNode(irModel, "ScatterElementsUpdate", 3, nil, 1, in(f32, 3), in(i64, 4), in(f32, 4), in(i64)), "its input 3 is computed", ""},
		{oneNode(onnxModel, "ScatterElements", 18, attributes{"axis": int64(1)}, 1, in(f32, 2, 3), garner.Of([]int64{0, -3, 2, 1}, 2, 2), in(f32, 2, 2)), "", ""},
		{oneNode(onnxModel, "ScatterElements", 18, nil, 1, in(f32, -1, 3), garner.Of([]int64{0, -1}, 1, 2), in(f32, 1, 2)), "", ""},
		{oneNode(onnxModel, "ScatterElements", 18, nil, 1, in(f32, 2, 3), garner.Of([]int64{0, 2}, 1, 2), in(f32, 1, 2)), "", "its constant indices have 2, which is outside of an axis of 2"},
		{oneNode(irModel, "ScatterElementsUpdate", 3, nil, 1, in(f32, 3), whole(0, -1, 1), in(f32, 3), number(0)), "", ""},
		{oneNode(onnxModel, "Identity", 13, nil, 1, garner.SpecOfRank(garner.Invalid, garner.AnyDim)), "the dtype of the input \"x0\" is not known", ""},
		// OpenVINO.
		{oneNode(irModel, "Broadcast", 3, attributes{"mode": "explicit"}, 1, in(f32, 3), whole(2, 3), whole(1)), "", ""},
		{oneNode(irModel, "Broadcast", 3, attributes{"mode": "explicit"}, 1, in(f32, 3, 2), whole(3, 2), whole(1, 0)), "its axes_mapping must be constant", ""},
		{oneNode(irModel, "Broadcast", 3, attributes{"mode": "pdpd"}, 1, in(f32, 3), whole(2, 3)), "its mode is \"pdpd\"", ""},
		{oneNode(irModel, "Tile", 1, nil, 1, in(f32, 2, 3), whole(2)), "", ""},
		{oneNode(irModel, "Tile", 1, nil, 1, in(f32, 3), whole(2, 1)), "", ""},
		{oneNode(irModel, "Tile", 1, nil, 1, in(f32, 3), in(i64, -1)), "how many repeats it has is not known", ""},
		{oneNode(irModel, "Range", 4, attributes{"output_type": "f32"}, 1, in(i32), in(i32), in(i32)), "a range of f32 is not converted", ""},
		{oneNode(irModel, "Range", 4, attributes{"output_type": "what"}, 1, in(i32), in(i32), in(i32)), "which is no type", ""},
		{oneNode(irModel, "Range", 4, attributes{"output_type": "i32"}, 1, in(f32), in(f32), in(f32)), "a range of f32 is not converted", ""},
		{oneNode(irModel, "Range", 4, attributes{"output_type": "i32"}, 1, garner.Of([]int64{0}, 1), in(i64), number(1)), "", ""},
		{oneNode(irModel, "Clamp", 1, attributes{"min": "-1.5", "max": "2"}, 1, in(i64, 4)), "", ""},
		{oneNode(irModel, "Clamp", 1, attributes{"min": "-1e9", "max": "1e9"}, 1, in(i8, 4)), "", ""},
		{oneNode(irModel, "Clamp", 1, attributes{"min": "0", "max": "7"}, 1, in(u8, 4)), "", ""},
		{oneNode(irModel, "Clamp", 1, attributes{"min": "high"}, 1, in(i64, 4)), "it must be a number", ""},
		{oneNode(irModel, "Clamp", 1, attributes{"min": "300"}, 1, in(i8, 4)), "which leaves no number of i8", ""},
		{oneNode(irModel, "Clamp", 1, attributes{"min": "0"}, 1, in(f32, 4)), "Clamp of f32 is not converted", ""},
		{oneNode(irModel, "Floor", 1, nil, 1, in(i32, 4)), "", ""},
		{oneNode(irModel, "Ceiling", 1, nil, 1, in(garner.I16, 4)), "", ""},
		{oneNode(onnxModel, "ReduceProd", 18, nil, 1, in(i32, 4)), "", "a product that leaves i32"},
		{oneNode(irModel, "Abs", 1, nil, 1, in(i8, 4)), "Abs of -128 is 127 in OpenVINO", "stays"},
		{oneNode(irModel, "Negative", 1, nil, 1, in(i8, 4)), "Negative of -128 is 127 in OpenVINO", "stays"},
		{oneNode(irModel, "Subtract", 1, nil, 1, garner.Of([]float32{0}), in(f32, 4)), "", ""},
		{oneNode(irModel, "Subtract", 1, nil, 1, garner.Of([]float32{1}), in(f32, 4)), "", ""},
		{oneNode(onnxModel, "Mul", 14, nil, 1, in(f32, -1), garner.Of([]float32{2}, 1)), "", "a product with one number that is -0 becomes 0"},
		{oneNode(onnxModel, "Mul", 14, nil, 1, in(f32, 4), garner.Of([]float32{2})), "", ""},
		{oneNode(onnxModel, "Mul", 14, nil, 1, in(f32, -1), garner.Of([]float32{2, 3}, 2)), "", ""},
		{oneNode(irModel, "StridedSlice", 1, attributes{"begin_mask": []int64{1}, "end_mask": []int64{0}, "shrink_axis_mask": []int64{1}}, 1, in(f32, 4), whole(-2), whole(4), whole(1)), "", ""},
		{oneNode(irModel, "Floor", 1, nil, 1, in(f32, 4)), "Floor of f32 is not converted", ""},
		{oneNode(irModel, "Add", 1, attributes{"auto_broadcast": "pdpd"}, 1, in(i32, 4), in(i32, 4)), "its auto_broadcast is \"pdpd\"", ""},
		{oneNode(irModel, "Add", 1, nil, 1, in(u8, 4), in(u8, 4)), "Add of u8 saturates in OpenVINO", "stays"},
		{oneNode(irModel, "Divide", 1, attributes{"m_pythondiv": true}, 1, in(i64, 3), whole(2, -2, 3)), "", ""},
		{oneNode(irModel, "Divide", 1, attributes{"m_pythondiv": true}, 1, whole(-7, 7, 7), whole(2, -2, 2)), "", ""},
		{oneNode(irModel, "Divide", 1, attributes{"m_pythondiv": false}, 1, whole(-7, 7, 7), whole(2, -2, 2)), "", ""},
		{oneNode(irModel, "Divide", 1, nil, 1, in(i8, 3), in(i8, 3)), "OpenVINO rounds a quotient of i8 to the nearest where it knows no dims", "stays"},
		{oneNode(onnxModel, "Equal", 16, nil, 1, whole(math.MinInt32, -1<<24-1, 1<<24, 1<<24+1, math.MaxInt32, 7), whole(math.MaxInt32, -1<<24, 1<<24+1, 1<<24, math.MaxInt32, 9)), "", ""},
		{oneNode(onnxModel, "Less", 16, nil, 1, whole(math.MinInt32, -1<<24-1, 1<<24, 1<<24+1, math.MaxInt32, 7), whole(math.MaxInt32, -1<<24, 1<<24+1, 1<<24, math.MaxInt32, 9)), "", ""},
		{oneNode(onnxModel, "LessOrEqual", 16, nil, 1, whole(math.MinInt32, -1<<24-1, 1<<24, 1<<24+1, math.MaxInt32, 7), whole(math.MaxInt32, -1<<24, 1<<24+1, 1<<24, math.MaxInt32, 9)), "", ""},
		{oneNode(onnxModel, "Greater", 16, nil, 1, whole(math.MinInt32, -1<<24-1, 1<<24, 1<<24+1, math.MaxInt32, 7), whole(math.MaxInt32, -1<<24, 1<<24+1, 1<<24, math.MaxInt32, 9)), "", ""},
		{oneNode(onnxModel, "GreaterOrEqual", 16, nil, 1, whole(math.MinInt32, -1<<24-1, 1<<24, 1<<24+1, math.MaxInt32, 7), whole(math.MaxInt32, -1<<24, 1<<24+1, 1<<24, math.MaxInt32, 9)), "", ""},
		{oneNode(irModel, "NotEqual", 1, nil, 1, in(i32, 4), in(i32, 4)), "", ""},
		{oneNode(irModel, "BitwiseAnd", 13, nil, 1, in(boolean, 4), in(boolean, 4)), "", ""},
		{oneNode(irModel, "BitwiseXor", 13, nil, 1, in(i32, 4), in(i32, 4)), "", ""},
		{oneNode(irModel, "BitwiseNot", 13, nil, 1, in(i32, 4)), "", ""},
		{oneNode(irModel, "BitwiseNot", 13, nil, 1, in(boolean, 4)), "", ""},
		{oneNode(irModel, "LogicalNot", 1, nil, 1, in(f32, 4)), "LogicalNot of f32 is not converted", ""},
		{oneNode(irModel, "Convert", 1, attributes{"destination_type": "what"}, 1, in(f32, 4)), "its destination_type is \"what\"", ""},
		{oneNode(irModel, "Convert", 1, attributes{"destination_type": "f32"}, 1, in(f32, 4)), "", ""},
		{oneNode(irModel, "ShapeOf", 3, attributes{"output_type": "i32"}, 1, in(f32, -1, 4)), "", ""},
		{oneNode(irModel, "StridedSlice", 1, attributes{"begin_mask": []int64{1, 0}, "end_mask": []int64{0, 0}}, 1, in(f32, 4, 5), whole(0, 1), whole(2, 4), whole(1, 2)), "", ""},
		{oneNode(irModel, "StridedSlice", 1, attributes{"begin_mask": []int64{0}, "end_mask": []int64{0}}, 1, in(f32, 4), whole(0), whole(2), whole(0)), "its stride along axis 0 is 0", ""},
		{oneNode(irModel, "StridedSlice", 1, attributes{"begin_mask": []int64{0, 0}, "end_mask": []int64{0, 0}}, 1, in(f32, 4), whole(0, 1), whole(2, 3)), "it slices 2 axes", ""},
		{oneNode(irModel, "StridedSlice", 1, attributes{"begin_mask": []int64{0}, "end_mask": []int64{0}}, 1, in(f32, 4), whole(0), whole(2, 3)), "they must be as many", ""},
		// TensorFlow and LiteRT.
		{oneNode(tensorflowModel, "Cast", 0, attributes{"DstT": "i32"}, 1, in(i64, 4)), "", ""},
		{oneNode(tensorflowModel, "Cast", 0, attributes{"DstT": "what"}, 1, in(i64, 4)), "its DstT is \"what\"", ""},
		{oneNode(tensorflowModel, "Cast", 0, attributes{"DstT": "i32", "Truncate": true}, 1, in(i64, 4)), "a cast with Truncate", ""},
		{oneNode(tensorflowModel, "Squeeze", 0, attributes{"squeeze_dims": []int64{-1}}, 1, in(f32, 4, 1)), "", ""},
		{oneNode(tensorflowModel, "Squeeze", 0, nil, 1, in(f32, 4, 1)), "", ""},
		{oneNode(tensorflowModel, "ExpandDims", 0, nil, 1, in(f32, 4), number(-1)), "", ""},
		{oneNode(tensorflowModel, "Transpose", 0, nil, 1, in(f32, 4, 1), whole(1, 0)), "", ""},
		{oneNode(tensorflowModel, "Transpose", 0, nil, 1, in(f32, 4, 1), whole(0)), "has not the 2 dims of its input", ""},
		{oneNode(tensorflowModel, "ConcatV2", 0, nil, 1, in(f32, 4, 1), in(f32, 4, 2), number(-1)), "", ""},
		{oneNode(tensorflowModel, "ConcatV2", 0, nil, 1, number(0)), "it has no inputs, or no axis", ""},
		{oneNode(tensorflowModel, "ConcatV2", 0, nil, 1, in(f32, 4, 1), in(f64, 4, 2), number(-1)), "which differ in dtype", ""},
		{oneNode(tensorflowModel, "Pack", 0, attributes{"axis": int64(1)}, 1, in(f32, 4), in(f32, 4)), "", ""},
		{oneNode(tensorflowModel, "Pack", 0, nil, 1, in(f32, 4), in(i32, 4)), "which differ in dtype", ""},
		{oneNode(tensorflowModel, "Unpack", 0, attributes{"axis": int64(1)}, 2, in(f32, 4, 2)), "", ""},
		{oneNode(tensorflowModel, "Unpack", 0, nil, 2, in(f32, 3)), "is not known to have 2 parts", ""},
		{oneNode(tensorflowModel, "Slice", 0, nil, 1, in(f32, 4, 5), whole(1, 0), whole(-1, 2)), "", ""},
		{oneNode(tensorflowModel, "Slice", 0, nil, 1, in(f32, 4, 5), whole(1), whole(-1)), "it has 1 begins and 1 sizes", ""},
		{oneNode(tensorflowModel, "Slice", 0, nil, 1, in(f32, 4), whole(-1), whole(1)), "they are 0 and more", ""},
		{oneNode(onnxModel, "Slice", 13, nil, 1, in(f32, 4), whole(1), in(i64, 1)), "", "the greatest i64 becomes -1"},
		{oneNode(onnxModel, "Slice", 13, nil, 1, in(f32, 4), in(i32, 1), whole(3)), "", ""},
		{oneNode(tensorflowModel, "Shape", 0, attributes{"out_type": "i64"}, 1, in(f32, -1)), "", ""},
		{oneNode(tensorflowModel, "Shape", 0, attributes{"out_type": "what"}, 1, in(f32, -1)), "its out_type is \"what\"", ""},
		{oneNode(tensorflowModel, "Size", 0, nil, 1, in(f32, -1)), "", ""},
		{oneNode(tensorflowModel, "Rank", 0, nil, 1, in(f32, -1)), "", ""},
		{oneNode(tensorflowModel, "Tile", 0, nil, 1, in(f32, 3), whole(2)), "", ""},
		{oneNode(tensorflowModel, "Fill", 0, nil, 1, whole(2, 3), in(f32)), "", ""},
		{oneNode(tensorflowModel, "ZerosLike", 0, nil, 1, in(f32, -1, 3)), "", ""},
		{oneNode(tensorflowModel, "ZerosLike", 0, nil, 1, in(garner.String, 3)), "zeros of string are not converted", ""},
		{oneNode(tensorflowModel, "Select", 0, nil, 1, in(boolean, 3), in(f32, 3), in(f32, 3)), "", ""},
		{oneNode(tensorflowModel, "Select", 0, nil, 1, in(boolean, 3), in(f32, 3, 2), in(f32, 3, 2)), "is not known to have the shape of", ""},
		{oneNode(tensorflowModel, "FloorDiv", 0, nil, 1, in(f32, 3), in(f32, 3)), "FloorDiv of f32 is not converted", ""},
		{oneNode(tensorflowModel, "NotEqual", 0, nil, 1, in(i32, 3), in(i32, 3)), "", ""},
		{oneNode(tensorflowModel, "LogicalNot", 0, nil, 1, in(boolean, 3)), "", ""},
		{oneNode(tensorflowModel, "BroadcastTo", 0, nil, 1, in(f32, 3), whole(2, 3)), "", ""},
		{oneNode(tensorflowModel, "StridedSlice", 0, attributes{"shrink_axis_mask": int64(1)}, 1, in(f32, 4, 5), whole(-1), whole(0), whole(1)), "", ""},
		{oneNode(tensorflowModel, "StridedSlice", 0, nil, 1, in(f32, 4, 5), whole(-9), whole(0), whole(-1)), "where that is before the axis runtimes differ", ""},
		{oneNode(liteModel, "NO_SUCH", 0, nil, 1, in(f32, 4)), "NO_SUCH is not converted", ""},
		{oneNode("StableHLO", "add", 0, nil, 1, in(f32, 4)), "a model of StableHLO is not converted", ""},
	} {
		n := tt.m.Graph.Nodes[0]
		name := fmt.Sprintf("%s %s-%d %v of %d", tt.m.Format, n.Op, n.Version, n.Attributes, len(n.Inputs))
		for _, extension := range convert.Extensions() {
			dir := t.TempDir()
			out := filepath.Join(dir, "out"+extension)
			_, err := convert.File(t.Context(), tt.m, out, convert.Options{})
			want := tt.want
			switch {
			case extension != ".xml":
			case tt.xml == "stays": // from OpenVINO to OpenVINO
				want = ""
			case want == "":
				want = tt.xml
			}
			if want != "" {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s to %s: %v; want %q", name, extension, err, want)
				}
				if !slices.ContainsFunc([]error{convert.ErrUnsupported, convert.ErrLossy, garner.ErrAttribute, garner.ErrDType, garner.ErrShape}, func(class error) bool { return errors.Is(err, class) }) {
					t.Errorf("%s to %s: %v has no class", name, extension, err)
				}
				if left, failed := os.ReadDir(dir); failed != nil || len(left) > 0 {
					t.Errorf("%s to %s left %v", name, extension, left)
				}
			}
			if errors.Is(err, convert.ErrLossy) {
				_, err = convert.File(t.Context(), tt.m, out, convert.Options{Lossy: true})
			} else if want != "" {
				continue
			}
			if err != nil {
				t.Errorf("%s to %s: %v", name, extension, err)
				continue
			}
			compared += alike(t, name, tt.m, open(t, out))
		}
	}
	if compared < 300 {
		t.Errorf("only %d feeds were compared", compared)
	}
}

// alike runs a model and what it was converted to on random feeds of small whole numbers, which no
// way of adding rounds. It returns how many feeds both answered.
func alike(t *testing.T, name string, source, made *model.Model) (n int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	results := func(m *model.Model) (list []*model.Value) {
		for _, o := range m.Graph.Outputs {
			list = append(list, o.Value)
		}
		return list
	}
	for range 5 {
		given, also := make(map[*model.Value]garner.Tensor), make(map[*model.Value]garner.Tensor)
		for i, v := range source.Graph.Inputs {
			shape := make(garner.Shape, len(v.Spec.Dims))
			for i, d := range v.Spec.Dims {
				if shape[i] = 3; d.Known() {
					shape[i] = d.Min
				}
			}
			whole := make([]int64, max(1, count(shape)))
			for i := range whole {
				whole[i] = int64(1 + rng.IntN(4))
			}
			x, err := garner.New(v.Spec.DType, shape...)
			if err != nil {
				t.Fatal(err)
			}
			for i := range count(shape) {
				setInt(t, x, i, whole[i])
			}
			given[v], also[made.Graph.Inputs[i]] = x, x
		}
		want, err := run.Values(t.Context(), source, results(source), given, math.MaxInt, asRun)
		if err != nil {
			var not *run.Unsupported
			if !errors.As(err, &not) {
				t.Logf("%s: the source: %v", name, err)
			}
			return n
		}
		got, err := run.Values(t.Context(), made, results(made), also, math.MaxInt, asRun)
		if err != nil {
			var not *run.Unsupported
			if errors.As(err, &not) {
				return n
			}
			t.Errorf("%s: %v", name, err)
			return n
		}
		for i := range want {
			if !same(t, got[i], want[i]) {
				t.Errorf("%s: output %d is %v; the source gives %v", name, i, got[i], want[i])
			}
		}
		n++
	}
	return n
}

func count(s garner.Shape) int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

// setInt sets an element to a small whole number.
func setInt(t *testing.T, x garner.Tensor, i int, n int64) {
	t.Helper()
	b, err := x.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	size := x.DType().Bits() / 8
	bits := uint64(n)
	switch x.DType() {
	case garner.F32:
		bits = uint64(math.Float32bits(float32(n)))
	case garner.F64:
		bits = math.Float64bits(float64(n))
	case garner.F16:
		bits = [...]uint64{0, 0x3c00, 0x4000, 0x4200, 0x4400}[n]
	case garner.BF16:
		bits = uint64(math.Float32bits(float32(n)) >> 16)
	case garner.Bool:
		bits = uint64(n & 1)
	}
	for j := range max(size, 1) {
		b[i*max(size, 1)+j] = byte(bits >> (8 * j))
	}
}

// TestGathersRefused refuses gathers whose result no target keeps.
func TestGathersRefused(t *testing.T) {
	number := garner.Of([]int64{0})
	for _, tt := range []struct {
		operator, extension, want string
		m                         *model.Model
	}{
		{"openvino.Gather-7", ".onnx", "counts a negative one from the end where it folds that", oneNode(irModel, "Gather", 7, nil, 1, garner.Of([]float32{1, 2, 3}, 3), garner.Of([]int64{-1}, 1), number)},
		{"openvino.Gather-1", ".onnx", "", oneNode(irModel, "Gather", 1, nil, 1, garner.Of([]float32{1, 2, 3}, 3), garner.Of([]int64{1}, 1), number)},
		{"openvino.EmbeddingBagPackedSum-3", ".xml", "", oneNode(irModel, "EmbeddingBagPackedSum", 3, nil, 1, in(garner.F32, 3, 4), in(garner.I64, 2, 2))},
		{"openvino.EmbeddingBagPackedSum-3", ".onnx", "", oneNode(irModel, "EmbeddingBagPackedSum", 3, nil, 1, in(garner.F32, -1, 4), in(garner.I64, -1, -1))},
		{"openvino.EmbeddingBagPackedSum-3", ".onnx", "EmbeddingBagPackedSum of f16 is not converted", oneNode(irModel, "EmbeddingBagPackedSum", 3, nil, 1, in(garner.F16, 3, 4), in(garner.I64, 2, 2))},
		{"openvino.EmbeddingBagOffsetsSum-3", ".onnx", "", oneNode(irModel, "EmbeddingBagOffsetsSum", 3, nil, 1, in(garner.I32, 3, 4), in(garner.I64, -1), in(garner.I32, -1), garner.Of([]int64{2}))},
		{"openvino.EmbeddingBagOffsetsSum-3", ".onnx", "its default_index is 1, which is not known to be a row", oneNode(irModel, "EmbeddingBagOffsetsSum", 3, nil, 1, in(garner.F32, -1, 4), in(garner.I64, 2), in(garner.I64, 1), garner.Of([]int64{1}))},
		{"openvino.EmbeddingSegmentsSum-3", ".onnx", "", oneNode(irModel, "EmbeddingSegmentsSum", 3, nil, 1, in(garner.F32, 3), in(garner.I64, 4), in(garner.I64, 4), garner.Of([]int64{2}))},
		{"openvino.EmbeddingSegmentsSum-3", ".onnx", "its default_index is -1", oneNode(irModel, "EmbeddingSegmentsSum", 3, nil, 1, in(garner.F32, 3), in(garner.I64, 4), in(garner.I64, 4), garner.Of([]int64{2}), garner.Of([]int64{-1}))},
		{"tensorflow.sparse_segment_sum", ".onnx", "", oneNode(tensorflowModel, "SparseSegmentSum", 0, nil, 1, in(garner.F32, 5, 3), in(garner.I32, -1), in(garner.I32, -1))},
		{"tensorflow.sparse_segment_mean", ".xml", "", oneNode(tensorflowModel, "SparseSegmentMean", 0, nil, 1, in(garner.F32, -1), in(garner.I64, 30), in(garner.I64, 30))},
		{"onnx.GatherND-13", ".xml", "the last dim of its indices", oneNode(onnxModel, "GatherND", 13, nil, 1, garner.SpecOf(garner.F32, 3, 4), garner.SpecOfDims(garner.I64, garner.Exactly(2), garner.AnyDim))},
	} {
		tt.m.Graph.Nodes[0].Operator = tt.operator
		for _, outside := range []convert.Outside{convert.Keep, convert.Clamp, convert.AsIs} {
			_, err := convert.File(t.Context(), tt.m, filepath.Join(t.TempDir(), "out"+tt.extension), convert.Options{Outside: outside})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%s --outside %s: %v; want %q", tt.operator, outside, err, tt.want)
			}
		}
	}
}

// TestBagsCompared converts bags to both formats, and holds that their comparison has feeds of every kind: with ends of bags that
// both run, bags of ten terms and more among them, and with indices that both refuse.
func TestBagsCompared(t *testing.T) {
	f32, f16, bf16, i32, i64 := garner.F32, garner.F16, garner.BF16, garner.I32, garner.I64
	reduction := func(kind, suffix string, operands ...any) *model.Model {
		m := oneNode(tensorflowModel, "SparseSegment"+kind+suffix, 0, nil, 1, operands...)
		m.Graph.Nodes[0].Operator = "tensorflow.sparse_segment_" + strings.ToLower(kind)
		return m
	}
	const counted = "WithNumSegments"
	bag := func(op string, version int, a attributes, operands ...any) *model.Model {
		return oneGather(irModel, op, version, a, operands...)
	}
	falls, constant := garner.Of([]int32{0, 2, 1}, 3), garner.Of([]int32{0, 0, 3}, 3)
	for _, tt := range []struct {
		name       string
		m          *model.Model
		toONNX, to string // what is refused, of both formats
	}{
		{"offsets", bag("EmbeddingBagOffsetsSum", 3, nil, in(f32, -1, 3), in(i64, -1), in(i64, -1)), "", ""},
		{"mean of offsets", bag("EmbeddingBagOffsets", 15, attributes{"reduction": "mean"}, in(f32, 7, 3), in(i32, -1), in(i32, 5)), "", ""},
		{"segments", bag("EmbeddingSegmentsSum", 3, nil, in(f32, -1, 3), in(i64, -1), in(i64, -1), number(4)), "", ""},
		{"packed halves", bag("EmbeddingBagPackedSum", 3, nil, in(f16, -1, 3), in(i64, -1, -1)), "EmbeddingBagPackedSum of f16 is not converted to ONNX", ""},
		{"sum", reduction("Sum", "", in(f32, -1, 3), in(i32, -1), in(i32, -1)), "", ""},
		{"mean", reduction("Mean", "", in(f32, 5, 2, 3), in(i64, 30), in(i64, 30)), "", ""},
		{"segments of a known number", reduction("Sum", "", in(f32, -1, 3), in(i32, -1), in(i32, 30)), "", ""},
		{"indices of a known number", reduction("Mean", "", in(f32, -1, 3), in(i32, 7), in(i32, -1)), "", ""},
		{"constant segments, any indices", reduction("Sum", "", in(f32, -1, 3), in(i32, -1), constant), "", ""},
		{"root", reduction("SqrtN", "", in(f32, -1, 3), in(i32, -1), in(i32, -1)), "", "OpenVINO divides by a product with the reciprocal"},
		{"root of integers", reduction("SqrtN", "", in(i32, -1, 3), in(i32, -1), in(i32, -1)), "data is i32", "data is i32"},
		{"sum of halves", reduction("Sum", counted, in(f16, -1), in(i32, -1), in(i32, -1), garner.Of([]int32{3})), "", ""},
		{"mean of bf16", reduction("Mean", "", in(bf16, -1, 3), in(i32, -1), in(i32, -1)), "", "SparseSegmentMean of bf16 is not converted to OpenVINO IR"},
		{"i64", reduction("Sum", "", in(i64, -1, 3), in(i32, -1), in(i32, -1)), "", "SparseSegmentSum of i64 is not converted to OpenVINO IR"},
		{"f64", reduction("Sum", "", in(garner.F64, -1, 3), in(i32, -1), in(i32, -1)), "SparseSegmentSum of f64 is not converted", "SparseSegmentSum of f64 is not converted"},
		{"constant segments", reduction("Sum", "", in(f32, -1, 3), in(i32, 3), constant), "", ""},
		{"no columns", reduction("Mean", "", in(f32, -1, 2, 0), in(i32, -1), in(i32, -1)), "the rows of its table f32[?,2,0] have no elements", "the rows of its table f32[?,2,0] have no elements"},
		{"no columns of offsets", bag("EmbeddingBagOffsetsSum", 3, nil, in(f32, -1, 0), in(i64, -1), in(i64, -1)), "the rows of its table f32[?,0] have no elements", ""},
		{"all constant", reduction("Sum", "", in(f32, 9, 3), constant, constant), "", "its segment ids and its indices are constant"},
		{"constant segments that fall", reduction("Sum", "", in(f32, -1, 3), in(i32, 3), falls), "its constant segment ids have 1, which falls", "its constant segment ids have 1, which falls"},
		{"a constant segment that is none", reduction("Sum", counted, in(f32, -1, 3), in(i32, 3), constant, garner.Of([]int32{3})), "its constant segment ids have 3", "its constant segment ids have 3"},
	} {
		for _, extension := range convert.Extensions() {
			want := tt.toONNX
			if extension == ".xml" {
				want = tt.to
			}
			report, err := convert.File(t.Context(), tt.m, filepath.Join(t.TempDir(), "out"+extension), convert.Options{})
			switch {
			case want != "" && (err == nil || !strings.Contains(err.Error(), want)), want == "" && err != nil:
				t.Errorf("%s to %s: %v; want %q", tt.name, extension, err, want)
			case err == nil && strings.Contains(fmt.Sprint(report.Notes), "TensorFlow takes denormal terms") != (strings.HasPrefix(tt.m.Graph.Nodes[0].Operator, "tensorflow.") && slices.Contains([]garner.DType{f32, bf16}, tt.m.Graph.Nodes[0].Inputs[0].Spec.DType)):
				t.Errorf("%s to %s: %v", tt.name, extension, report.Notes)
			case err == nil && (report.Compared.Answered < 9 || report.Compared.Refused < 18 && len(tt.m.Graph.Inputs) > 1 || len(report.Compared.Not) > 0):
				t.Errorf("%s to %s: %s", tt.name, extension, report.Compared)
			}
		}
	}
}

// TestSegmentsForOpenVINO holds what a bag of TensorFlow is in OpenVINO IR: of constant segments it has a known length, a row of -0 is
// broadcast in the mode that keeps its sign, and none is of no indices.
func TestSegmentsForOpenVINO(t *testing.T) {
	f32, i32 := garner.F32, garner.I32
	m := oneNode(tensorflowModel, "SparseSegmentMean", 0, nil, 1, in(f32, -1, -1), in(i32, 3), garner.Of([]int32{0, 0, 3}, 3))
	m.Graph.Nodes[0].Operator = "tensorflow.sparse_segment_mean"
	out := filepath.Join(t.TempDir(), "out.xml")
	if _, err := convert.File(t.Context(), m, out, convert.Options{}); err != nil {
		t.Fatal(err)
	}
	made := open(t, out)
	if got := made.Graph.Outputs[0].Value.Spec.String(); got != "f32[4,?]" {
		t.Errorf("the result is %s; want f32[4,?]", got)
	}
	signs := 0
	for _, n := range made.Graph.Nodes {
		if n.Op != "Broadcast" || n.Inputs[0].Fixed() == nil || n.Inputs[0].Spec.DType != f32 {
			continue
		}
		if signs++; n.Attributes["mode"] != "numpy" {
			t.Errorf("%s has the mode %v, in which a zero loses its sign", n.Name, n.Attributes["mode"])
		}
	}
	if signs == 0 {
		t.Error("no row is broadcast")
	}
	m = oneNode(tensorflowModel, "SparseSegmentSum", 0, nil, 1, in(f32, 4, 3), in(i32, 0), in(i32, 0))
	m.Graph.Nodes[0].Operator = "tensorflow.sparse_segment_sum"
	if _, err := convert.File(t.Context(), m, out, convert.Options{}); err == nil || !strings.Contains(err.Error(), "it has no indices") {
		t.Errorf("%v; it has no indices", err)
	}
}

// TestDiffers holds that a note tells answers that differ from another form with the same ones, and that none is made where the runtime stays.
func TestDiffers(t *testing.T) {
	toInteger := oneNode(onnxModel, "Cast", 13, attributes{"to": int64(6)}, 1, in(garner.F32, 3))
	ofIR := oneNode(irModel, "Convert", 1, attributes{"destination_type": "i32"}, 1, in(garner.F32, 3))
	nan := oneNode(irModel, "Greater", 1, nil, 1, in(garner.F32, 3), in(garner.F32, 3))
	less := oneNode(irModel, "Less", 1, nil, 1, in(garner.I32, 3), in(garner.I32, 3))
	tile := oneNode(tensorflowModel, "Tile", 0, nil, 1, in(garner.F32, -1), in(garner.I32, 1))
	offsets := oneGather(irModel, "EmbeddingBagOffsetsSum", 3, nil, in(garner.F32, -1, 3), in(garner.I64, -1), in(garner.I64, -1))
	sum := oneNode(tensorflowModel, "SparseSegmentSum", 0, nil, 1, in(garner.F32, -1, 3), in(garner.I32, -1), in(garner.I32, -1))
	sum.Graph.Nodes[0].Operator = "tensorflow.sparse_segment_sum"
	for name, tt := range map[string]struct {
		m         *model.Model
		onnx, xml string // the kinds of its notes but "guarded"
	}{
		"ONNX to integers":      {toInteger, "", "differs"},
		"IR to integers":        {ofIR, "differs", ""},
		"Greater of a NaN":      {nan, "replaced", ""},
		"integers beyond 2^24":  {less, "differs", ""},
		"repeats":               {tile, "", "differs"},
		"offsets":               {offsets, "differs", ""},
		"denormals of segments": {sum, "differs", "differs"},
	} {
		for extension, want := range map[string]string{".onnx": tt.onnx, ".xml": tt.xml} {
			report, err := convert.File(t.Context(), tt.m, filepath.Join(t.TempDir(), "out"+extension), convert.Options{})
			if err != nil {
				t.Errorf("%s to %s: %v", name, extension, err)
				continue
			}
			var kinds []string
			for _, n := range report.Notes {
				if n.Kind != "guarded" {
					kinds = append(kinds, n.Kind)
				}
			}
			if got := strings.Join(kinds, " "); got != want {
				t.Errorf("%s to %s: %q; want %q: %v", name, extension, got, want, report.Notes)
			}
		}
	}
}

// TestShortVectors notes where OpenVINO reads other memory by an index outside, and the target does not.
func TestShortVectors(t *testing.T) {
	for _, tt := range []struct {
		data, indices any
		want          bool
	}{
		{in(garner.I32, 5), in(garner.I64, 64), true},
		{in(garner.I32, 5), in(garner.I64, 100), false},
		{in(garner.I32, 65), in(garner.I64, 5), false},
		{garner.Of([]int32{1, 2, 3}, 3), in(garner.I64, 5), true},
		{garner.Of([]int32{1, 2, 3}, 3), garner.Of([]int64{5}, 1), false}, // which OpenVINO computes when it loads the model
	} {
		m := oneNode(irModel, "Gather", 8, nil, 1, tt.data, tt.indices, garner.Of([]int64{0}))
		m.Graph.Nodes[0].Operator = "openvino.Gather-8"
		report, err := convert.File(t.Context(), m, filepath.Join(t.TempDir(), "out.onnx"), convert.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(fmt.Sprint(report.Notes), "other memory"); got != tt.want {
			t.Errorf("data %v, indices %v: %v", tt.data, tt.indices, report.Notes)
		}
	}
}

// TestBranches takes the branch of an If that a constant chooses into the graph, and refuses other sub-graphs.
func TestBranches(t *testing.T) {
	f, err := os.Open("../internal/run/testdata/if.jsonl.gz") // models of ONNX, whose answers are recorded there
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	models := 0
	for lines := json.NewDecoder(z); ; models++ {
		var line struct{ Model []byte }
		if err := lines.Decode(&line); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "if.onnx")
		if err := os.WriteFile(path, line.Model, 0o666); err != nil {
			t.Fatal(err)
		}
		m := open(t, path)
		for _, extension := range convert.Extensions() {
			out := filepath.Join(t.TempDir(), "out"+extension)
			if _, err := convert.File(t.Context(), m, out, convert.Options{}); err != nil {
				t.Errorf("model %d to %s: %v", models, extension, err)
			} else if alike(t, fmt.Sprint("model ", models, " to ", extension), m, open(t, out)) == 0 {
				t.Errorf("model %d to %s: nothing was compared", models, extension)
			}
		}
	}
	if models < 5 {
		t.Errorf("there are %d models", models)
	}
	branch := func(name string, node string, inputs ...*model.Value) model.Subgraph {
		g := &model.Graph{Name: name, Inputs: inputs}
		n := &model.Node{Name: name, At: name, Op: node, Inputs: inputs}
		v := &model.Value{Name: name + "_y", From: n, Spec: in(garner.F32, 3)}
		n.Outputs = []*model.Value{v}
		g.Nodes, g.Outputs = []*model.Node{n}, []model.Result{{Name: v.Name, Value: v}}
		return model.Subgraph{Name: name, Graph: g}
	}
	yes, no := garner.Of([]bool{true}), garner.Of([]bool{false})
	for _, tt := range []struct {
		m            *model.Model
		first, other string
		want         string // of the error; "" where it is converted
	}{
		{oneNode(irModel, "If", 8, nil, 1, yes, in(garner.F32, 3)), "then_body Abs", "else_body NoSuch", ""},
		{oneNode(irModel, "If", 8, nil, 1, no, in(garner.F32, 3)), "then_body Abs", "else_body NoSuch", "node \"else_body\" (else_body): NoSuch is not converted"},
		{oneNode(irModel, "If", 8, nil, 1, in(garner.Bool), in(garner.F32, 3)), "then_body Abs", "else_body Abs", "the condition of If is computed"},
		{oneNode(tensorflowModel, "StatelessIf", 0, nil, 1, yes, in(garner.F32, 3)), "then_branch ZerosLike", "else_branch NoSuch", ""},
		{oneNode(tensorflowModel, "Case", 0, nil, 1, number(0), in(garner.F32, 3)), "branches ZerosLike", "branches NoSuch", ""},
		{oneNode(tensorflowModel, "Case", 0, nil, 1, number(-5), in(garner.F32, 3)), "branches NoSuch", "branches ZerosLike", ""},
		{oneNode(tensorflowModel, "While", 0, nil, 1, number(0), in(garner.F32, 3)), "cond Neg", "body Neg", "While has sub-graphs"},
		{oneNode(liteModel, "IF", 0, nil, 1, no, in(garner.F32, 3)), "then_subgraph NoSuch", "else_subgraph ZEROS_LIKE", ""},
		{oneNode(onnxModel, "If", 16, nil, 1, garner.Of([]float32{1}), in(garner.F32, 3)), "then_branch Neg", "else_branch Neg", "the condition of If is computed"},
	} {
		n := tt.m.Graph.Nodes[0]
		for i, of := range []string{tt.first, tt.other} {
			name, op, _ := strings.Cut(of, " ")
			n.Graphs = append(n.Graphs, branch(name, op, &model.Value{Name: fmt.Sprint("parameter", i), Spec: in(garner.F32, 3), Takes: n.Inputs[1:2]}))
		}
		for _, extension := range convert.Extensions() {
			report, err := convert.File(t.Context(), tt.m, filepath.Join(t.TempDir(), "out"+extension), convert.Options{})
			if err == nil && report.Compared.Answered == 0 {
				t.Errorf("%s %s to %s: no feed was compared: %v", tt.m.Format, n.Op, extension, report.Compared)
			}
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%s %s to %s: %v; want %q", tt.m.Format, n.Op, extension, err, tt.want)
			}
		}
	}

	// A gather that only the branch reads that is not taken.
	m := oneNode(onnxModel, "If", 16, nil, 1, yes, in(garner.F32, 3), in(garner.I64, 2))
	x, i := m.Graph.Inputs[0], m.Graph.Inputs[1]
	n := &model.Node{Name: "looked up", At: "node 0", Op: "Gather", Operator: "onnx.Gather-13", Version: 13, Inputs: []*model.Value{x, i}}
	v := &model.Value{Name: "v", From: n, Spec: in(garner.F32, 2)}
	n.Outputs = []*model.Value{v}
	m.Graph.Nodes = append([]*model.Node{n}, m.Graph.Nodes...)
	it := m.Graph.Nodes[1]
	it.Inputs = it.Inputs[:1]
	it.Graphs = []model.Subgraph{branch("then_branch", "Abs", x), branch("else_branch", "Abs", v)}
	for _, s := range it.Graphs { // values from outside are no inputs of a branch in ONNX
		s.Graph.Inputs = nil
	}
	report, err := convert.File(t.Context(), m, filepath.Join(t.TempDir(), "out.onnx"), convert.Options{})
	if err != nil || !strings.Contains(fmt.Sprint(report.Notes), "dropped: looked up (Gather): only a branch that is not taken reads it") {
		t.Errorf("%v, %v", report, err)
	}
}

// TestHalves refuses, without Lossy, a second step of f16 behind one that rounds, also behind nodes that move elements.
func TestHalves(t *testing.T) {
	for _, tt := range []struct {
		ops  []string
		want string // of the error; "" where it is converted
	}{
		{[]string{"Div"}, "OpenVINO divides floats"},
		{[]string{"Add", "Transpose"}, ""},
		{[]string{"Abs", "Add"}, ""},
		{[]string{"Add", "Add"}, "Add computes with f16 that a node before computed"},
		{[]string{"Mul", "Transpose", "Sub"}, "Sub computes with f16 that a node before computed"},
		{[]string{"Sub", "Abs"}, "Abs computes with f16"},
		{[]string{"Sub", "Less"}, "Less computes with f16"},
		{[]string{"Add", "Cast"}, "a cast computes with f16"},
	} {
		m := oneNode(onnxModel, tt.ops[0], 14, nil, 1, in(garner.F16, 3), in(garner.F16, 3))
		if tt.ops[0] == "Abs" {
			m.Graph.Nodes[0].Inputs = m.Graph.Nodes[0].Inputs[:1]
		}
		last := m.Graph.Nodes[0].Outputs[0]
		for i, op := range tt.ops[1:] {
			n := &model.Node{Name: fmt.Sprint("n", i), At: fmt.Sprint("node ", i+1), Op: op, Version: 14, Inputs: []*model.Value{last}, Attributes: attributes{}}
			switch op {
			case "Cast":
				n.Attributes["to"] = int64(1)
			case "Add", "Sub", "Less":
				n.Inputs = append(n.Inputs, m.Graph.Inputs[1])
			}
			last = &model.Value{Name: fmt.Sprint("z", i), From: n, Spec: garner.SpecOfRank(garner.Invalid, garner.AnyDim)}
			n.Outputs = []*model.Value{last}
			m.Graph.Nodes = append(m.Graph.Nodes, n)
		}
		m.Graph.Outputs = []model.Result{{Name: last.Name, Value: last}}
		for _, lossy := range []bool{false, true} {
			out := filepath.Join(t.TempDir(), "out.xml")
			_, err := convert.File(t.Context(), m, out, convert.Options{Lossy: lossy})
			want := tt.want
			if lossy {
				want = ""
			}
			if want == "" && err != nil || want != "" && (!errors.Is(err, convert.ErrLossy) || !strings.Contains(err.Error(), want)) {
				t.Errorf("%v, lossy %v: %v; want %q", tt.ops, lossy, err, want)
			} else if tt.want == "" && alike(t, fmt.Sprint(tt.ops), m, open(t, out)) == 0 {
				t.Errorf("%v: nothing was compared", tt.ops)
			}
		}
	}
}

// TestHalvesOfCodes refuses, without Lossy, arithmetic with f16 that a gather decodes or a cast rounds, and takes that of integers of 8 bits.
func TestHalvesOfCodes(t *testing.T) {
	f16 := attributes{"destination_type": "f16"}
	table := func(d garner.DType, zero any) *model.Model {
		return compressedModel("f16", "f16", 0, in(garner.I64, -1), codes(t, d, 5, 20), scales(garner.F16, 5, 1), zero, nil)
	}
	const second = "Add computes with f16 that a node before computed"
	for name, tt := range map[string]struct {
		m    *model.Model
		want string
	}{
		"4 bits":            {table(garner.U4, garner.Of([]uint8{8})), second},
		"4 bits with signs": {table(garner.I4, nil), second},
		"8 bits":            {table(garner.U8, nil), second},
		"of f32":            {oneNode(irModel, "Convert", 1, f16, 1, in(garner.F32, 3)), second},
		"of i16":            {oneNode(irModel, "Convert", 1, f16, 1, in(garner.I16, 3)), second},
		"of i8":             {oneNode(irModel, "Convert", 1, f16, 1, in(garner.I8, 3)), ""},
	} {
		g := tt.m.Graph
		last, out := g.Outputs[0].Value, &model.Value{Name: "sum", Spec: garner.SpecOfRank(garner.Invalid, garner.AnyDim)}
		out.From = &model.Node{Name: "add", At: "node add", Op: "Add", Version: 1, Inputs: []*model.Value{last, last}, Outputs: []*model.Value{out}}
		g.Nodes, g.Outputs[0].Value = append(g.Nodes, out.From), out
		_, err := convert.File(t.Context(), tt.m, filepath.Join(t.TempDir(), "out.onnx"), convert.Options{})
		if tt.want == "" && err != nil || tt.want != "" && (!errors.Is(err, convert.ErrLossy) || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v; want %q", name, err, tt.want)
		}
	}
}

// TestAsOpenVINO converts nodes behind which a node reads what OpenVINO's CPU plugin makes other numbers of: that
// is lossy, and it is not where no number differs.
func TestAsOpenVINO(t *testing.T) {
	i16, i32, i64 := garner.I16, garner.I32, garner.I64
	table := garner.Of([]int64{1, 2, 3, 4, 5, 6}, 3, 2)
	gather := func(indices any) *model.Model {
		m := oneNode(irModel, "Gather", 8, nil, 1, table, indices, number(0))
		m.Graph.Nodes[0].Operator = "openvino.Gather-8"
		return m
	}
	then := func(m *model.Model, op string, version int, a attributes, more ...any) *model.Model {
		g, next := m.Graph, oneNode(m.Format, op, version, a, 1, append([]any{nil}, more...)...).Graph
		n, last := next.Nodes[0], g.Outputs[0].Value
		last.Name = fmt.Sprint("between", len(g.Nodes))
		for _, v := range next.Constants {
			v.Name = last.Name + v.Name
		}
		n.Inputs[0], n.Name = last, fmt.Sprint("then", len(g.Nodes))
		g.Nodes, g.Constants, g.Outputs = append(g.Nodes, n), append(g.Constants, next.Constants...), next.Outputs
		return m
	}
	to := func(dtype string) attributes { return attributes{"destination_type": dtype} }
	const zeros, wide = "OpenVINO leaves the zeros of an index outside", "OpenVINO computes i16 as i32"
	const joined, leftOut = "OpenVINO joins two sums or products with constants", "OpenVINO leaves out a sum with zeros"
	minusZero := float32(math.Copysign(0, -1))
	single := func(x ...float32) garner.Tensor {
		if len(x) == 1 {
			return garner.Of(x)
		}
		return garner.Of(x, len(x))
	}
	with := func(op string, more ...any) *model.Model { // f32[4,3] and a constant
		return oneNode(onnxModel, op, 14, nil, 1, append([]any{in(garner.F32, 4, 3)}, more...)...)
	}
	made := then(oneNode(onnxModel, "Add", 14, nil, 1, single(.6), single(34)), "Add", 14, nil, in(garner.F32, 4, 3)) // a constant that a node computes, and an input
	made.Graph.Inputs = append(made.Graph.Inputs, made.Graph.Nodes[1].Inputs[1])
	rows := oneGather(onnxModel, "Gather", 13, nil, in(garner.F32, 4, 3), in(i64, 2))
	rows.Graph.Outputs[0].Value.Spec = in(garner.F32, 2, 3)
	for _, tt := range []struct {
		m         *model.Model
		onnx, xml string
	}{
		{then(gather(in(i64, -1)), "Add", 1, nil, number(1)), zeros, ""},
		{then(then(gather(in(i64, -1)), "Unsqueeze", 1, nil, whole(0)), "Subtract", 1, nil, number(1)), zeros, ""},
		{then(gather(in(i64, -1)), "Multiply", 1, nil, number(2)), "", ""},
		{then(gather(in(i64, -1)), "Add", 1, nil, whole(1, 2)), "", ""},
		{then(gather(whole(0, 2, -1)), "Add", 1, nil, number(1)), "", ""},
		{then(oneNode(onnxModel, "Shape", 15, nil, 1, in(i16, -1, 3)), "ReduceProd", 18, nil), "", ""},
		{then(then(oneNode(onnxModel, "Shape", 15, nil, 1, in(i16, -1, 3)), "Cast", 13, attributes{"to": int64(6)}), "ReduceProd", 18, nil), "", ""},
		{oneNode(onnxModel, "Add", 14, nil, 1, in(i16, 3), in(i16, 3)), "", ""},
		{then(oneNode(onnxModel, "Add", 14, nil, 1, in(i16, 3), in(i16, 3)), "Cast", 13, attributes{"to": int64(6)}), "", wide},
		{then(oneNode(onnxModel, "Cast", 13, attributes{"to": int64(5)}, 1, in(i32, 3)), "Cast", 13, attributes{"to": int64(6)}), "", wide},
		{then(oneNode(onnxModel, "Abs", 13, nil, 1, in(i16, 3)), "Cast", 13, attributes{"to": int64(6)}), "", wide},
		{then(oneNode(irModel, "Convert", 1, to("i16"), 1, in(i32, 3)), "Convert", 1, to("f32")), wide, ""},
		{then(oneNode(irModel, "Negative", 1, nil, 1, in(i16, 3)), "Convert", 1, to("i32")), wide, ""},
		{then(oneNode(irModel, "Convert", 1, to("i16"), 1, in(garner.U8, 3)), "Convert", 1, to("f32")), "", ""},

		{then(with("Sub", single(.6)), "Add", 14, nil, single(34)), "", joined},
		{then(made, "Add", 14, nil, single(34)), "", joined},
		{then(with("Add", single(1, 2, 3)), "Sub", 14, nil, single(3, 4, 5)), "", joined},
		{then(with("Mul", single(.6)), "Mul", 14, nil, single(34)), "", joined},
		{then(with("Mul", single(1, 2, 3)), "Add", 14, nil, single(1, 2, 3)), "", joined},
		{then(then(with("Add", single(.6)), "Expand", 13, nil, whole(2, 4, 3)), "Add", 14, nil, single(34)), "", joined},
		{then(then(with("Add", single(.6)), "Add", 14, nil, single(minusZero)), "Add", 14, nil, single(34)), "", joined},
		{then(then(with("Add", single(.6)), "Transpose", 13, attributes{"perm": []int64{1, 0}}), "Add", 14, nil, single(34)), "", ""},
		{then(with("Mul", single(-1)), "Mul", 14, nil, single(34)), "", ""},
		{then(with("Add", single(.6)), "Mul", 14, nil, single(1)), "", ""},
		{then(with("Add", in(garner.F32, 4, 3)), "Add", 14, nil, single(34)), "", ""},
		{then(with("Mul", in(garner.F32, 4, 3)), "Add", 14, nil, single(34)), "", "a product and a sum in one step"},
		{then(then(with("Mul", in(garner.F32, 4, 3)), "Transpose", 13, attributes{"perm": []int64{1, 0}}), "Add", 14, nil, single(34)), "", "a product and a sum in one step"},
		{with("Add", single(0)), "", leftOut},
		{with("Add", single(0, minusZero, 0)), "", leftOut},
		{with("Sub", single(minusZero)), "", leftOut},
		{with("Add", single(minusZero)), "", ""},
		{with("Sub", single(0)), "", ""},
		{with("Add", single(0, 1, 0)), "", ""},
		{oneNode(onnxModel, "Sub", 14, nil, 1, single(0, 1, 2), in(garner.F32, 4, 3)), "", "0 less 0 may be -0 in OpenVINO"},
		{then(rows, "Mul", 14, nil, single(34)), "", "a product with one number that is -0 becomes 0"},
		{with("Mul", single(34)), "", ""},
	} {
		for extension, want := range map[string]string{".onnx": tt.onnx, ".xml": tt.xml} {
			_, err := convert.File(t.Context(), tt.m, filepath.Join(t.TempDir(), "out"+extension), convert.Options{})
			if want == "" && err != nil || want != "" && (!errors.Is(err, convert.ErrLossy) || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s, %v: %v; want %q", extension, tt.m.Graph.Nodes, err, want)
			}
		}
	}
	// What the target answers as the source does is the source's node, with its attributes.
	f32, f64 := garner.F32, garner.F64
	tenth := garner.Of([]float32{0.1})
	python := attributes{"auto_broadcast": "numpy", "m_pythondiv": true}
	for _, m := range []*model.Model{
		oneNode(irModel, "Less", 1, nil, 1, in(i32, 3), in(i32, 3)),
		oneNode(irModel, "Greater", 1, nil, 1, in(f32, 3), in(f32, 3)),
		oneNode(irModel, "NotEqual", 1, nil, 1, in(i32, 3), in(i32, 3)),
		oneNode(irModel, "Select", 1, nil, 1, in(garner.Bool, 3), in(f32, 3), in(f32, 3)),
		oneNode(irModel, "Add", 1, nil, 1, in(f64, 3), in(f64, 3)),
		oneNode(irModel, "Add", 1, nil, 1, in(i64, 3), number(1<<40)),
		oneNode(irModel, "Add", 1, nil, 1, in(garner.I8, 3), in(garner.I8, 3)),
		oneNode(irModel, "Divide", 1, python, 1, in(f32, 3), tenth),
		oneNode(irModel, "Divide", 1, python, 1, in(i32, 3), in(i32, 3)),
		oneNode(irModel, "Divide", 1, python, 1, in(garner.U8, 3), in(garner.U8, 3)),
		oneNode(irModel, "FloorMod", 1, nil, 1, in(i32, 3), in(i32, 3)),
		oneNode(irModel, "Maximum", 1, nil, 1, in(f32, 3), tenth),
		oneNode(irModel, "Multiply", 1, nil, 1, in(f32, -1, 3), tenth),
		oneNode(irModel, "Negative", 1, nil, 1, in(f32, 3)),
		oneNode(irModel, "Negative", 1, nil, 1, in(garner.I8, 3)),
		oneNode(irModel, "Abs", 1, nil, 1, in(garner.I8, 3)),
		oneNode(irModel, "Floor", 1, nil, 1, in(i32, 3)),
		oneNode(irModel, "ReduceMax", 1, attributes{"keep_dims": true}, 1, in(f32, 3), whole(0)),
		oneNode(irModel, "ReduceMax", 1, nil, 1, in(i32, -1), whole(0)),
		oneNode(irModel, "ReduceMin", 1, nil, 1, in(garner.U8, 3), whole(0)),
		oneNode(irModel, "ReduceSum", 1, nil, 1, in(f32, 3), whole(0)),
	} {
		n, out := m.Graph.Nodes[0], filepath.Join(t.TempDir(), "out.xml")
		if _, err := convert.File(t.Context(), m, out, convert.Options{}); err != nil {
			t.Errorf("%s of %s: %v", n.Op, n.Inputs[0].Spec, err)
			continue
		}
		made := open(t, out).Graph.Nodes
		if len(made) != 1 || made[0].Op != n.Op || made[0].Outputs[0].Spec.DType == garner.Invalid {
			t.Errorf("%s of %s became %v", n.Op, n.Inputs[0].Spec, made)
			continue
		}
		for name, v := range n.Attributes {
			if got := made[0].Attributes[name]; fmt.Sprint(got) != fmt.Sprint(v) {
				t.Errorf("%s of %s: its %s became %v", n.Op, n.Inputs[0].Spec, name, got)
			}
		}
	}
	// OpenVINO knows no dims behind a guard, which the source has not.
	pairs := func(dtype garner.DType) *model.Model {
		m := oneNode(irModel, "GatherND", 8, nil, 1, in(dtype, 5, 4), in(i64, 3, 1))
		m.Graph.Nodes[0].Operator, m.Graph.Outputs[0].Value.Spec = "openvino.GatherND-8", in(dtype, 3, 4)
		return m
	}
	for _, tt := range []struct {
		m    *model.Model
		want string
	}{
		{then(pairs(f32), "Negative", 1, nil), "the negative of 0 is 0 or -0"},
		{then(pairs(f32), "Multiply", 1, nil, tenth), "where a zero may have another sign"},
		{then(then(pairs(f32), "Multiply", 1, nil, garner.Of([]float32{1, 2, 3, 4}, 4)), "Add", 1, nil, garner.Of([]float32{1, 2, 3, 4}, 4)), "a product and a sum in one step"},
		{then(pairs(garner.U8), "Divide", 1, nil, garner.Of([]uint8{3})), "a quotient of u8 to the nearest"},
		{then(pairs(garner.U8), "Multiply", 1, nil, garner.Of([]uint8{3})), "cuts off numbers of u8 otherwise"},
		{then(pairs(i32), "Multiply", 1, nil, garner.Of([]int32{3})), ""},
		{then(pairs(f32), "Add", 1, nil, tenth), ""},
		{then(pairs(f32), "ReduceSum", 1, nil, whole(0)), ""},
	} {
		_, err := convert.File(t.Context(), tt.m, filepath.Join(t.TempDir(), "out.xml"), convert.Options{})
		if tt.want == "" && err != nil || tt.want != "" && (!errors.Is(err, convert.ErrLossy) || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s behind a guard: %v; want %q", tt.m.Graph.Nodes[1].Op, err, tt.want)
		}
	}
	// 0 and 1 are within 2^24.
	flags := then(oneNode(onnxModel, "Cast", 13, attributes{"to": int64(7)}, 1, in(garner.Bool, 3)), "ReduceMax", 18, nil, whole(0))
	if _, err := convert.File(t.Context(), flags, filepath.Join(t.TempDir(), "out.xml"), convert.Options{}); err != nil {
		t.Errorf("ReduceMax of a cast of bool: %v", err)
	}
}

// TestComparesWhatStays holds that a comparison of OpenVINO IR with OpenVINO IR feeds indices that a node which stays makes of
// a constant and an input, in either order.
func TestComparesWhatStays(t *testing.T) {
	for _, at := range []int{0, 1} {
		inputs := []any{whole(-9), in(garner.I64, -1)}
		if at == 0 {
			slices.Reverse(inputs)
		}
		m, made := oneGather(irModel, "Gather", 8, nil, in(garner.F32, 5, 2), in(garner.I64, -1), number(0)), oneNode(irModel, "Maximum", 1, nil, 1, inputs...).Graph
		n := made.Nodes[0]
		n.Name, n.Inputs[at].Name, n.Inputs[1-at].Name, n.Outputs[0].Name = "greatest", "ids", "least", "made"
		m.Graph.Nodes[0].Inputs[1] = n.Outputs[0]
		m.Graph.Inputs = []*model.Value{m.Graph.Inputs[0], n.Inputs[at]}
		m.Graph.Nodes, m.Graph.Constants = append([]*model.Node{n}, m.Graph.Nodes...), append(m.Graph.Constants, made.Constants...)
		report, err := convert.File(t.Context(), m, filepath.Join(t.TempDir(), "out.xml"), convert.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c := report.Compared; c.Answered+c.Refused < 25 {
			t.Errorf("the constant %d: %s", 1-at, c)
		}
	}
}
