package convert_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/convert"
	"github.com/garner-go/garner/model"
)

// TestOpenVINOLimits refuses what OpenVINO's CPU plugin answers wrongly or ends its process at, and writes what it runs in
// another form.
func TestOpenVINOLimits(t *testing.T) {
	f32, i32, i64, boolean := garner.F32, garner.I32, garner.I64, garner.Bool
	ops := func(m *model.Model) string {
		var list []string
		for _, n := range m.Graph.Nodes {
			var in []string
			for _, v := range n.Inputs {
				in = append(in, v.Spec.String())
			}
			list = append(list, n.Op+" "+strings.Join(in, " "))
		}
		return strings.Join(list, "; ")
	}
	empty, err := garner.FromBytes(i64, nil, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	few, err := garner.FromBytes(i64, nil, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	gather := oneNode(onnxModel, "Gather", 13, nil, 1, in(f32, -1, -1), empty)
	gather.Graph.Nodes[0].Operator = "onnx.Gather-13"
	loads := oneNode(onnxModel, "Gather", 13, nil, 1, in(f32, -1, 4), few)
	loads.Graph.Nodes[0].Operator = "onnx.Gather-13"
	row := oneNode(onnxModel, "Gather", 13, nil, 1, in(f32, -1, 0, -1), in(i64))
	row.Graph.Nodes[0].Operator = "onnx.Gather-13"
	elements := func(data garner.Spec, indices any) *model.Model {
		return oneGather(onnxModel, "GatherElements", 13, attributes{"axis": int64(1)}, data, indices)
	}
	beside := func(op string, dims ...int) *model.Model { // x transposed, and one number
		m := computed(oneNode(irModel, op, 1, nil, 1, in(i32, -1, 4), garner.Of([]int32{3}, dims...)), 0)
		m.Graph.Nodes[0].Op, m.Graph.Nodes[0].Inputs = "Transpose", m.Graph.Nodes[0].Inputs[:1]
		return m
	}
	bytes := func(n int, dims ...int) garner.Tensor {
		list := make([]uint8, n)
		for i := range list {
			list[i] = uint8(i % 40)
		}
		return garner.Of(list, dims...)
	}

	decoded := func(codes garner.Tensor, dims ...int) *model.Model { // (codes - 3)·scales
		n := 1
		for _, d := range dims {
			n *= d
		}
		m := oneNode(onnxModel, "Cast", 13, attributes{"to": int64(1)}, 1, codes)
		g := m.Graph
		for i, by := range []garner.Tensor{garner.Of([]float32{3}), garner.Of(make([]float32, n), dims...)} {
			next := oneNode(onnxModel, []string{"Sub", "Mul"}[i], 14, nil, 1, nil, by).Graph
			last := g.Outputs[0].Value
			last.Name = fmt.Sprint("between", i)
			next.Nodes[0].Inputs[0], next.Nodes[0].Name, next.Constants[0].Name = last, fmt.Sprint("then", i), fmt.Sprint("by", i)
			g.Nodes, g.Constants, g.Outputs = append(g.Nodes, next.Nodes...), append(g.Constants, next.Constants...), next.Outputs
		}
		return m
	}
	unread := oneNode(tensorflowModel, "Shape", 0, nil, 1, in(f32, 3))
	unread.Graph.Nodes = append(unread.Graph.Nodes,
		&model.Node{Name: "alone", At: "alone", Op: "ResourceGather", Operator: "tensorflow.Gather", Awaited: true},
		&model.Node{Name: "pruned", At: "pruned", Op: "ResourceGather", Operator: "tensorflow.Gather"})
	for _, tt := range []struct {
		m    *model.Model
		want string // of the error, or behind = of the layers with their operands
	}{
		{gather, "its constant indices i64[0,2] have no elements"},
		{loads, "="},
		{row, "= Gather f32[?,0,?] i64[1] i64[]; ShapeOf f32[1,0,?]; Slice i64[3] i64[1] i64[1] i64[1] i64[1]; Concat i64[1] i64[1]; Reshape"},
		{elements(in(f32, 5, 3), empty), "= Broadcast f32[] i64[2]"},
		{elements(in(f32, 5, 3), in(i64, 0, 3)), "= Broadcast f32[] i64[2]"},
		{elements(in(f32, -1, 3), empty), "its indices i64[0,2] have no elements"},
		{elements(in(f32, -1, 3), in(i64, 0, 3)), "its indices i64[0,3] have no elements"},
		{oneNode(onnxModel, "Slice", 13, nil, 1, in(f32, 3, 2), whole(0), whole(1), in(i64, 1), whole(1)), "the axes of its Slice are computed"},
		{oneNode(onnxModel, "Expand", 13, nil, 1, in(f32, 1, 4), whole(2, 0, 4)), "which has no elements"},
		{oneNode(onnxModel, "Equal", 13, nil, 1, in(i64, 0, 1), whole(1, 2, 3)), "which has no elements"},
		{oneNode(onnxModel, "NonZero", 13, nil, 1, in(boolean, 0)), "it looks for what is not 0 in bool[0]"},
		{oneNode(onnxModel, "Add", 14, nil, 1, in(i32, 1, 2, 1, 2, 1, 2, 1), in(i32, 2, 1, 2, 1, 2, 1, 2)), "it broadcasts integers to 7 dims"},
		{oneNode(onnxModel, "Add", 14, nil, 1, in(f32, 1, 2, 1, 2, 1, 2, 1), in(f32, 2, 1, 2, 1, 2, 1, 2)), "= Add f32"},
		{oneNode(onnxModel, "Add", 14, nil, 1, in(i32, 1, 2, 1, 2, 1, 2), in(i32, 2, 1, 2, 1, 2, 1)), "= Add i32"},
		{oneNode(onnxModel, "Add", 14, nil, 1, in(f32), garner.Of([]float32{3}, 1, 1)), "= Add f32[] f32[]; Unsqueeze f32[] i64[2]"},
		{oneNode(onnxModel, "Mul", 14, nil, 1, garner.Of([]int32{3}, 1, 1), in(i32, 4)), "= Multiply i32[] i32[4]; Unsqueeze i32[4] i64[1]"},
		{computed(oneNode(onnxModel, "Add", 14, nil, 1, in(f32), garner.Of([]float32{3}, 1, 1)), 1), "= Add f32[1,1] f32[]; Reshape f32[1,1] i64[0]; Add f32[] f32[]; Unsqueeze f32[] i64[2]"},
		{oneNode(onnxModel, "Tile", 13, nil, 1, in(f32, 2, 3), in(i64, -1)), "= Reshape i64[?] i64[1]; Maximum i64[2] i64[]; Tile f32[2,3] i64[2]"},
		{oneNode(onnxModel, "Tile", 13, nil, 1, in(i32, 2, -1, 3), whole(1, 2, 1)), "= Unsqueeze i32[2,?,3] i64[1]; Broadcast i32[2,1,?,3] i64[4]; ShapeOf i32[2,?,3]; Multiply i64[3] i64[3]; Reshape i32[2,2,?,3] i64[3]"},
		{oneNode(onnxModel, "Reshape", 13, nil, 1, garner.Of([]float32{1, 2}, 2, 1), in(i64, 2)), "= Equal i64[2] i64[]; Convert bool[2]; Convert i32[2]; Select bool[2] i64[2] i64[2]; Reshape f32[2,1] i64[2]"},
		{oneNode(onnxModel, "Squeeze", 13, nil, 1, in(f32, 1, 3, 1)), "= Squeeze f32[1,3,1] i64[2]"},
		{oneNode(onnxModel, "Squeeze", 13, nil, 1, in(f32, 2, 3)), "= Reshape f32[2,3] i64[2]"},
		{oneNode(onnxModel, "Slice", 13, nil, 1, in(f32, -1), whole(-5), whole(-5), whole(0), whole(-1)), "goes backward from -5 to -5"},
		{oneNode(onnxModel, "Slice", 13, nil, 1, in(f32, -1, -1), whole(-5), whole(-5), whole(-5), whole(-1)), "its axis is -5, and there are 2 dims"},
		{oneNode(onnxModel, "Identity", 13, nil, 1, in(f32)), "= Reshape f32[] i64[0]"},
		{oneNode(onnxModel, "Mul", 14, nil, 1, bytes(1, 1, 1), bytes(100, 5, 5, 4)), "= Convert u8[5,5,4]; Multiply i32[1,1] i32[5,5,4]; Convert i32[5,5,4]"},
		{oneNode(onnxModel, "Mul", 14, nil, 1, bytes(100, 5, 5, 4), bytes(20, 5, 4)), "= Multiply i32[5,5,4] i32[5,4]; Convert i32[5,5,4]"},
		{oneNode(onnxModel, "Mul", 14, nil, 1, bytes(100, 5, 5, 4), bytes(100, 5, 5, 4)), "= Convert u8[5,5,4]; Convert u8[5,5,4]; Multiply"},
		{oneNode(onnxModel, "Mul", 14, nil, 1, bytes(20, 5, 4), in(garner.U8, 5, 5, 4)), "= Convert u8[5,4]; Convert u8[5,5,4]; Multiply"},
		{decoded(bytes(20, 5, 4), 2, 5, 4), "= Subtract f32[5,4] f32[]; Multiply f32[5,4] f32[2,5,4]"},
		{decoded(bytes(20, 5, 4), 5, 4), "= Convert u8[5,4]; Subtract f32[5,4] f32[]; Multiply f32[5,4] f32[5,4]"},
		{decoded(bytes(100, 5, 5, 4), 5, 1, 4), "= Subtract f32[5,5,4] f32[]; Multiply f32[5,5,4] f32[5,1,4]"},
		{decoded(bytes(100, 5, 5, 4), 5, 1, 1), "= Convert u8[5,5,4]; Subtract f32[5,5,4] f32[]; Multiply f32[5,5,4] f32[5,1,1]"},
		{oneNode(onnxModel, "Mul", 14, nil, 1, bytes(1<<20+4, 1<<18+1, 4), bytes(2, 2, 1, 1)), "it is a product of constants of which one of u8 is i32[262145,4], the other i32[2,1,1] and the product i32[2,262145,4]"},
		{beside("Maximum", 1, 1, 1), "its second input is one number of 3 dims, and its first has 2"},
		{beside("Less", 1, 1, 1), "="},
		{beside("Maximum", 1, 1), "="},
		{unread, "note no result reads it"},
	} {
		out := filepath.Join(t.TempDir(), "out.xml")
		name := tt.m.Graph.Nodes[0].Op
		report, err := convert.File(t.Context(), tt.m, out, convert.Options{Lossy: true})
		layers, written := strings.CutPrefix(tt.want, "=")
		note, noted := strings.CutPrefix(tt.want, "note ")
		switch {
		case (written || noted) && err != nil:
			t.Errorf("%s: %v", name, err)
		case noted:
			found := false
			for _, n := range report.Notes {
				found = found || strings.Contains(n.Text, note) && n.Node == "alone"
				if n.Node == "pruned" {
					t.Errorf("%s: TensorFlow does not run it, and a note is of it: %v", name, n)
				}
			}
			if !found {
				t.Errorf("%s: %v; want %q", name, report.Notes, note)
			}
		case written:
			if made := ops(open(t, out)); !strings.Contains(" "+made, layers) {
				t.Errorf("%s is %s; want %s", name, made, layers)
			}
		case err == nil || !strings.Contains(err.Error(), tt.want):
			t.Errorf("%s: %v; want %q", name, err, tt.want)
		}
	}
}
