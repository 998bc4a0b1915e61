package operators_test

import (
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

func TestRelatedOf(t *testing.T) {
	in := []*model.Value{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	for _, tt := range []struct {
		node model.Node
		want operators.Related
	}{
		{model.Node{Domain: "com.microsoft", Op: "EmbedLayerNormalization", Inputs: in}, operators.Related{Name: "com.microsoft.EmbedLayerNormalization", Data: 2, Indices: 0}},
		{model.Node{Domain: "ai.onnx.ml", Op: "ArrayFeatureExtractor", Inputs: in}, operators.Related{Name: "ai.onnx.ml.ArrayFeatureExtractor", Data: 0, Indices: 1}},
		{model.Node{Op: "EmbeddingBagOffsetsSum", Inputs: in}, operators.Related{Name: "EmbeddingBagOffsetsSum", Data: 0, Indices: 1}},
		{model.Node{Op: "EmbeddingBagPacked", Inputs: in}, operators.Related{Name: "EmbeddingBagPacked", Data: 0, Indices: 1}},
		{model.Node{Op: "EmbeddingBagPacked", Operator: "openvino.EmbeddingBagPacked-15", Inputs: in}, operators.Related{}},
		{model.Node{Domain: "org.pytorch.aten", Op: "ATen", Attributes: map[string]any{"operator": "embedding_bag"}, Inputs: in}, operators.Related{Name: "org.pytorch.aten.ATen", Data: 0, Indices: 1}},
		{model.Node{Domain: "org.pytorch.aten", Op: "ATen", Attributes: map[string]any{"operator": "index"}, Inputs: in}, operators.Related{}},
		{model.Node{Op: "Gather", Operator: "onnx.Gather-13", Inputs: in}, operators.Related{}},
		{model.Node{Op: "GatherBlockQuantized", Inputs: in}, operators.Related{}},
		{model.Node{Domain: "ai.onnx.ml", Op: "ArrayFeatureExtractor", Inputs: in[:1]}, operators.Related{}},
	} {
		if got, ok := operators.RelatedOf(&tt.node); got != tt.want || ok != (tt.want.Name != "") {
			t.Errorf("%s.%s: %+v, %t; want %+v", tt.node.Domain, tt.node.Op, got, ok, tt.want)
		}
	}
}

func TestDequantised(t *testing.T) {
	constant := func(d garner.DType) *model.Value {
		s := garner.SpecOf(d, 3)
		return &model.Value{Spec: s, Constant: model.NewConstant("q", s, nil)}
	}
	made := func(op string, inputs ...*model.Value) *model.Value {
		return &model.Value{From: &model.Node{Op: op, Inputs: inputs}}
	}
	many := func(v *model.Value) *model.Value {
		for range 1000 {
			v = made("Identity", v)
		}
		return v
	}
	q, scale := constant(garner.I8), constant(garner.F32)
	dequantised := operators.Dequantised()
	for _, tt := range []struct {
		value *model.Value
		want  *model.Constant
	}{
		{made("DequantizeLinear", q, scale), q.Constant},
		{made("Reshape", made("DequantizeLinear", made("Transpose", q), scale)), q.Constant},
		{made("Multiply", made("Subtract", made("Convert", q), made("Convert", constant(garner.U4))), scale), q.Constant},
		{many(made("DequantizeLinear", many(q), scale)), q.Constant},
		{made("Multiply", many(made("Convert", q)), many(scale)), q.Constant},
		{made("Convert", q), nil},
		{made("Multiply", scale, scale), nil},
		{made("DequantizeLinear", &model.Value{}, scale), nil},
		{made("Concat", made("DequantizeLinear", q, scale), scale), nil},
		{q, nil},
		{nil, nil},
	} {
		if got := dequantised(tt.value); got != tt.want {
			t.Errorf("%+v: %v; want %v", tt.value, got, tt.want)
		}
	}
}
