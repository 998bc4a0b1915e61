package run_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// TestAsOpenVINO holds where OpenVINO's CPU plugin answers something else than the definitions of its
// operators have: each such element is refused, and others run.
func TestAsOpenVINO(t *testing.T) {
	const onnx, ir = "ONNX", "OpenVINO IR"
	minusZero := float32(math.Copysign(0, -1))
	one := garner.Of([]float32{1})
	gather := func(x *model.Value) *model.Node {
		return node("openvino.Gather-8", 8, nil, vec[float32](1, 2, 3), x, i64(nil, 0))
	}
	behind := func(nodes ...func(v *model.Value) *model.Node) func(x *model.Value) []*model.Node {
		return func(x *model.Value) (list []*model.Node) {
			for _, make := range nodes {
				n := make(x)
				list, x = append(list, n), n.Outputs[0]
			}
			return list
		}
	}
	with := func(op string, more ...any) func(v *model.Value) *model.Node {
		return func(v *model.Value) *model.Node { return node(op, 1, nil, append([]any{v}, more...)...) }
	}
	before := func(op string, first any) func(v *model.Value) *model.Node {
		return func(v *model.Value) *model.Node { return node(op, 1, nil, first, v) }
	}
	to := func(dtype string) func(v *model.Value) *model.Node {
		return func(v *model.Value) *model.Node { return node("Convert", 1, attrs{"destination_type": dtype}, v) }
	}
	twice := func(v *model.Value) *model.Node { return node("Add", 1, nil, v, v) }
	for name, tt := range map[string]struct {
		format   string
		nodes    func(x *model.Value) []*model.Node
		bad      garner.Tensor
		want     string
		good     garner.Tensor
		answered string
	}{
		"zeros":              {ir, behind(gather, with("Add", one)), vec[int64](0, 9), "OpenVINO may leave the zeros of that as they are in Add", vec[int64](0, -1), "[2.0, 4.0]"},
		"zeros moved":        {ir, behind(gather, with("Unsqueeze", vec[int64](0)), with("Subtract", one)), vec[int64](0, 9), "as they are in Subtract", vec[int64](2), "[[2.0]]"},
		"zeros clamped":      {ir, behind(gather, func(v *model.Value) *model.Node { return node("Clamp", 1, attrs{"min": "1", "max": "2"}, v) }), vec[int64](9), "as they are in Clamp", vec[int64](2), "[2.0]"},
		"zeros negated":      {ir, behind(gather, with("Negative")), vec[int64](9), "as they are in Negative", vec[int64](2), "[-3.0]"},
		"zeros by constants": {ir, behind(gather, with("Maximum", vec[float32](1))), vec[int64](9), "as they are in Maximum", vec[int64](2), "[3.0]"},
		"product":            {ir, behind(with("Multiply", garner.Of([]float32{2}))), vec(minusZero), "of which OpenVINO gives a zero of either sign", vec[float32](0, 1), "[0.0, 2.0]"},
		"quotient":           {ir, behind(with("Divide", garner.Of([]float32{2}))), vec(minusZero), "of which OpenVINO gives a zero of either sign", vec[float32](0, 1), "[0.0, 0.5]"},
		"difference":         {ir, behind(before("Subtract", garner.Of([]float32{0}))), vec[float32](0), "of which OpenVINO gives a zero of either sign", vec[float32](1), "[-1.0]"},
		"negative":           {ir, behind(with("Negative")), vec[float32](0), "of which OpenVINO gives a zero of either sign", vec[float32](1), "[-1.0]"},
		"zero left out":      {ir, behind(with("Add", garner.Of([]float32{0}))), vec(minusZero), "of -0 and 0, of which OpenVINO gives a zero of either sign", vec[float32](0, 1), "[0.0, 1.0]"},
		"zeros left out":     {ir, behind(before("Add", vec[float32](0, 0))), vec(1, minusZero), "of 0 and -0, of which OpenVINO gives a zero of either sign", vec[float32](0, 1), "[0.0, 1.0]"},
		"less 0":             {ir, behind(with("Subtract", garner.Of([]float32{0}))), garner.Tensor{}, "", vec(minusZero, 0), "[-0.0, 0.0]"},
		"-0 left out":        {ir, behind(with("Add", garner.Of([]float32{minusZero}))), vec[float32](0), "of 0 and -0, of which OpenVINO gives a zero of either sign", vec(minusZero, 1), "[-0.0, 1.0]"},
		"-0 less -0":         {ir, behind(with("Subtract", garner.Of([]float32{minusZero}))), vec(minusZero), "of -0 and -0, of which OpenVINO gives a zero of either sign", vec[float32](0, 1), "[0.0, 1.0]"},
		"0 less a vector":    {ir, behind(before("Subtract", vec[float32](0, 1))), vec[float32](0, 1), "of 0 and 0, of which OpenVINO gives a zero of either sign", vec[float32](1, 0), "[-1.0, 1.0]"},
		"0 of a vector":      {ir, behind(before("Subtract", vec(minusZero, 0))), vec[float32](0, 1), "of -0 and 0, of which OpenVINO gives a zero of either sign", vec(minusZero, 1), "[0.0, -1.0]"},
		"a sum of zeros":     {ir, behind(func(v *model.Value) *model.Node { return node("Subtract", 1, nil, v, v) }), garner.Tensor{}, "", vec(0, minusZero, 1), "[0.0, 0.0, 0.0]"},
		"i16 of i32":         {ir, behind(to("i16"), to("i32")), vec[int32](40000), "OpenVINO keeps it in i32", vec[int32](-32768, 32767), "[-32768, 32767]"},
		"u16 of i32":         {ir, behind(to("u16"), to("i32")), vec[int32](-1), "OpenVINO keeps it in i32", vec[int32](0, 65535), "[0, 65535]"},
		"sum of i16":         {ir, behind(twice, to("i32")), vec[int16](20000), "beyond those in which OpenVINO computes i16", vec[int16](16383), "[32766]"},
		"negative of i16":    {ir, behind(with("Negative"), to("i32")), vec[int16](-32768), "beyond those in which OpenVINO computes i16", vec[int16](32767), "[-32767]"},
		"Floor":              {ir, behind(with("Floor")), vec[int32](1<<24 + 1), "OpenVINO rounds i32 in f32", vec[int32](1<<24, 1<<25), "[16777216, 33554432]"},
		"Ceiling":            {ir, behind(with("Ceiling")), vec[int64](1<<24 + 1), "OpenVINO rounds i64 in f32", vec[int64](7), "[7]"},
		"LogicalNot":         {ir, behind(with("LogicalNot")), vec[int32](5), "LogicalNot of i32 is not run", vec(true, false), "[false, true]"},
		"BitwiseNot":         {ir, behind(with("BitwiseNot")), vec[uint16](5), "BitwiseNot of u16 is not run", vec[uint8](5), "[250]"},
		"ONNX":               {onnx, behind(with("Mul", vec[float32](2))), garner.Tensor{}, "", vec(minusZero), "[-0.0]"},
		"a vector":           {ir, behind(gather, with("Add", vec[float32](1, 2))), garner.Tensor{}, "", vec[int64](9, 0), "[1.0, 3.0]"},
		"zeros of 0":         {ir, behind(gather, with("Multiply", garner.Of([]float32{2}))), garner.Tensor{}, "", vec[int64](9, 0), "[0.0, 2.0]"},
	} {
		for _, x := range []garner.Tensor{tt.bad, tt.good} {
			if !x.DType().Valid() {
				continue
			}
			in := &model.Value{Name: "x", Spec: model.Unknown}
			m := of(tt.format, tt.nodes(in)...)
			last := m.Graph.Outputs[len(m.Graph.Outputs)-1].Value
			got, err := run.Values(context.Background(), m, []*model.Value{last}, map[*model.Value]garner.Tensor{in: x}, 1<<20)
			switch {
			case tt.want != "" && x.DType() == tt.bad.DType() && x.Text() == tt.bad.Text():
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s of %s: %v, %v; want %s", name, x.Text(), got, err, tt.want)
				}
			case err != nil || got[0].Text() != tt.answered:
				t.Errorf("%s of %s: %v, %v; want %s", name, x.Text(), got, err, tt.answered)
			}
		}
	}
}

// TestDropsDims refuses arithmetic whose one number OpenVINO takes for a scalar, where that has more dims than x.
func TestDropsDims(t *testing.T) {
	x := vec[int64](1, 2)
	for _, tt := range []struct {
		format, op string
		number     garner.Tensor
		fed        bool // it is an input
		want       string
	}{
		{"OpenVINO IR", "Add", i64([]int{1, 1}, 3), false, "its second input is one number of 2 dims, and its first has 1"},
		{"OpenVINO IR", "Divide", i64([]int{1, 1}, 3), false, "its second input is one number of 2 dims, and its first has 1"},
		{"OpenVINO IR", "Add", i64([]int{1, 1}, 3), true, "i64[1,2] [[4, 5]]"},
		{"OpenVINO IR", "Add", i64([]int{1}, 3), false, "i64[2] [4, 5]"},
		{"OpenVINO IR", "Less", i64([]int{1, 1}, 2), false, "bool[1,2] [[true, false]]"},
		{"ONNX", "Add", i64([]int{1, 1}, 3), false, "i64[1,2] [[4, 5]]"},
	} {
		in := &model.Value{Name: "in", Spec: x.Spec()}
		given := map[*model.Value]garner.Tensor{in: x}
		number := any(tt.number)
		if tt.fed {
			v := &model.Value{Name: "number", Spec: tt.number.Spec()}
			given[v], number = tt.number, v
		}
		moved := node("Reshape", 13, nil, in, vec[int64](-1))
		n := node(tt.op, 13, nil, moved.Outputs[0], number)
		made, err := run.Values(t.Context(), of(tt.format, moved, n), n.Outputs, given, 1<<20)
		got := fmt.Sprint(err)
		if err == nil {
			got = made[0].String()
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s %s of %s: %s; want %s", tt.format, tt.op, tt.number.Spec(), got, tt.want)
		}
	}
}

// TestMisreadTable refuses a compressed table of which OpenVINO decodes another than its nodes compute.
func TestMisreadTable(t *testing.T) {
	codes := garner.Of([]uint8{1, 2, 3, 4}, 2, 2)
	for _, tt := range []struct {
		operator    string
		scale, zero garner.Tensor
		want        string
	}{
		{"openvino.Gather-8", garner.Of([]float32{2, 3}, 1, 2, 1), garner.Tensor{}, "is f32[1,2,1] and its codes are u8[2,2]"},
		{"openvino.Gather-8", garner.Of([]float32{2, 3}, 2, 1), garner.Of([]float32{1, 1}, 1, 2, 1), "is f32[1,2,1] and its codes are u8[2,2]"},
		{"openvino.Gather-8", garner.Of([]float32{2, 3}, 2, 1), garner.Of([]float32{1}, 1, 1), "f32[1,2] [[6.0, 9.0]]"},
		{"openvino.Gather-7", garner.Of([]float32{2, 3}, 1, 2, 1), garner.Tensor{}, "f32[1,2,2] [[[2.0, 4.0], [9.0, 12.0]]]"},
	} {
		nodes := []*model.Node{node("Convert", 1, attrs{"destination_type": "f32"}, codes)}
		last := func() *model.Value { return nodes[len(nodes)-1].Outputs[0] }
		at := int64(0)
		if tt.zero.DType() == garner.F32 {
			nodes = append(nodes, node("Subtract", 1, nil, last(), tt.zero))
			at = 1
		}
		nodes = append(nodes, node("Multiply", 1, nil, last(), tt.scale))
		nodes = append(nodes, node(tt.operator, 8, nil, last(), vec(at), i64(nil, 0)))
		made, err := run.Values(t.Context(), of("OpenVINO IR", nodes...), nodes[len(nodes)-1].Outputs, nil, 1<<20)
		got := fmt.Sprint(err)
		if err == nil {
			got = made[0].String()
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s of scales %s: %s; want %s", tt.operator, tt.scale.Spec(), got, tt.want)
		}
	}
}
