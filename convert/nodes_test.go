package convert_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
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

const onnxModel, irModel, tensorflowModel, liteModel = "ONNX", "OpenVINO IR", "TensorFlow", "TFLite"

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
		{oneNode(onnxModel, "Abs", 13, nil, 1, in(f16, 3)), "Abs of f16 is not converted", ""},
		{oneNode(onnxModel, "Abs", 13, nil, 1, garner.Of([]float32{-1}, 1)), "", "OpenVINO leaves it out"},
		{oneNode(irModel, "Abs", 1, nil, 1, in(f32, 3)), "", ""},
		{oneNode(onnxModel, "Neg", 13, nil, 1, in(f16, 3)), "Neg of f16 is not converted", ""},
		{oneNode(onnxModel, "Neg", 13, nil, 1, in(i8, 3)), "", ""},
		{oneNode(onnxModel, "Clip", 13, nil, 1, in(f32, 4), garner.Of([]float32{-0.5}), garner.Of([]float32{0.5})), "a Clip of floats becomes Max and Min", ""},
		{oneNode(onnxModel, "Clip", 6, attributes{"min": 0.5}, 1, in(f32, 4)), "Clip of opset 6 is not converted", ""},
		{oneNode(onnxModel, "Clip", 13, nil, 1, in(f16, 4)), "Clip of f16 is not converted", ""},
		{oneNode(onnxModel, "Clip", 13, nil, 1, in(i64, 4), number(-1), number(1)), "", ""},
		{oneNode(onnxModel, "Clip", 13, nil, 1, in(i64, 4)), "", ""},
		{oneNode(onnxModel, "Min", 13, nil, 1, in(f32, 4), in(f32, 1)), "", "least and greatest of floats"},
		{oneNode(onnxModel, "Max", 13, nil, 1, in(i64, 4), in(i64, 1), number(1)), "", ""},
		{oneNode(onnxModel, "Add", 14, nil, 1, in(f16, 4), in(f16, 4)), "Add of f16 is not converted", ""},
		{oneNode(onnxModel, "Add", 14, nil, 1, in(f32, 4), in(f64, 4)), "which differ in dtype", ""},
		{oneNode(onnxModel, "Add", 6, attributes{"broadcast": int64(1)}, 1, in(f32, 4), in(f32, 4)), "Add of opset 6 with broadcast=1", ""},
		{oneNode(onnxModel, "Mod", 13, nil, 1, in(f32, 4), in(f32, 4)), "is not converted", ""},
		{oneNode(onnxModel, "And", 13, nil, 1, in(i32, 4), in(i32, 4)), "And of i32 is not converted", ""},
		{oneNode(onnxModel, "Less", 13, nil, 1, in(f16, 4), in(f16, 4)), "Less of f16 is not converted", ""},
		{oneNode(onnxModel, "Add", 14, nil, 1, in(garner.U32, 4), in(garner.U32, 4)), "", "OpenVINO computes u32 as i32"},
		{oneNode(onnxModel, "Less", 14, nil, 1, in(garner.U32, 4), in(garner.U32, 4)), "", "OpenVINO computes u32 as i32"},
		{oneNode(onnxModel, "Div", 14, nil, 1, in(f32, 4), in(f32, 4)), "", "OpenVINO divides floats"},
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
		{oneNode(onnxModel, "Tile", 1, nil, 1, in(f32, 2, 3), whole(2), whole(1)), "Tile of opset 1 is not converted", ""},
		{oneNode(onnxModel, "Range", 11, nil, 1, number(0), in(i64), number(2)), "", ""},
		{oneNode(onnxModel, "Range", 11, nil, 1, in(f32), in(f32), in(f32)), "a range of f32 is not converted", ""},
		{oneNode(onnxModel, "Range", 11, nil, 1, in(i32), in(i64), in(i32)), "which differ in dtype", ""},
		{oneNode(onnxModel, "Expand", 13, nil, 1, in(boolean, 3, 1), whole(3, 4)), "", ""},
		{oneNode(onnxModel, "ConstantOfShape", 9, nil, 1, in(i64, 2)), "", ""},
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
		{oneNode(onnxModel, "TopK", 11, nil, 2, in(f32, 3), whole(1)), "TopK is not converted", ""},
		{oneNode(onnxModel, "ScatterElements", 18, nil, 1, in(f32, 3), in(i64, 1), in(f32, 1)), "ScatterElements is not converted", ""},
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
		{oneNode(irModel, "Floor", 1, nil, 1, in(f32, 4)), "Floor of f32 is not converted", ""},
		{oneNode(irModel, "Add", 1, attributes{"auto_broadcast": "pdpd"}, 1, in(i32, 4), in(i32, 4)), "its auto_broadcast is \"pdpd\"", ""},
		{oneNode(irModel, "Add", 1, nil, 1, in(u8, 4), in(u8, 4)), "Add of u8 saturates in OpenVINO", ""},
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
			if extension == ".xml" && want == "" {
				want = tt.xml
			}
			if want != "" {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s to %s: %v; want %q", name, extension, err, want)
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
	case garner.F16, garner.BF16:
		bits = 0
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
