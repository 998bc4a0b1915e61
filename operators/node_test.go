package operators

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// gatherNode is a node of openvino.Gather-8 with the axis as an input.
func gatherNode(data, indices garner.Spec, axis *model.Value, attributes map[string]any) *model.Node {
	n := &model.Node{Name: "g", At: "layer 3", Operator: "openvino.Gather-8", Attributes: attributes}
	n.Inputs = []*model.Value{{Spec: data}, {Spec: indices}, axis}
	n.Outputs = []*model.Value{{Name: "y", Spec: model.Unknown, From: n}}
	return n
}

func constantOf(t garner.Tensor) *model.Value {
	return &model.Value{Spec: garner.SpecOf(t.DType(), t.Shape()...), Constant: model.NewConstant("c", garner.SpecOf(t.DType(), t.Shape()...), func() (garner.Tensor, error) { return t, nil })}
}

func TestOfNode(t *testing.T) {
	data, indices := garner.SpecOf(garner.F32, 3), garner.SpecOf(garner.I64, 1)
	broken := &model.Value{Spec: garner.SpecOf(garner.I64), Constant: model.NewConstant("c", garner.SpecOf(garner.I64), func() (garner.Tensor, error) {
		return garner.Tensor{}, garner.Errorf(garner.ErrFault, "it is gone")
	})}
	huge := &model.Value{Spec: garner.SpecOf(garner.I64, 1<<20), Constant: model.NewConstant("c", garner.SpecOf(garner.I64, 1<<20), func() (garner.Tensor, error) {
		t.Error("a table was read for an axis")
		return garner.Tensor{}, nil
	})}
	for _, tt := range []struct {
		node  *model.Node
		class error
		want  string
	}{
		{gatherNode(data, indices, constantOf(garner.Of([]float32{0})), nil), garner.ErrDType, `node "g" (layer 3): openvino.Gather-8's axis is f32; it must be an integer`},
		{gatherNode(data, indices, huge, nil), garner.ErrShape, "must be"},
		{gatherNode(data, indices, broken, nil), garner.ErrFault, `node "g" (layer 3): it is gone`},
		{gatherNode(data, indices, nil, nil), garner.ErrAttribute, "openvino.Gather-8 needs its input axis; it takes data, indices and axis, and the node lacks one of its inputs"},
		{&model.Node{Name: "g", Operator: "openvino.Gather-8"}, garner.ErrAttribute, "lacks one of its inputs"},
		{&model.Node{Name: "g", Operator: "com.microsoft.GatherBlockQuantized-1", Inputs: []*model.Value{{}, {}, nil, {}}}, garner.ErrAttribute, "needs its input scales"},
		{&model.Node{Name: "g", Operator: "openvino.Gather-9"}, garner.ErrAttribute, "no operator openvino.Gather-9"},
	} {
		_, _, err := OfNode(tt.node)
		if !errors.Is(err, tt.class) || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "garner: ") {
			t.Errorf("%v; want %s", err, tt.want)
		}
	}
}

// TestInferFurther holds what follows from the operands of gathers that decode and of
// bags, those in the middle left out too.
func TestInferFurther(t *testing.T) {
	spec := func(text string) *model.Value {
		text, untyped := strings.CutPrefix(text, "-")
		s, err := garner.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		if untyped {
			s.DType = garner.Invalid
		}
		return &model.Value{Spec: s}
	}
	blocks := map[string]any{"block_size": int64(16), "bits": int64(8)}
	nibbles := map[string]any{"block_size": int64(16)}
	table, ids := spec("f32[5,3]"), spec("i64[?]")
	one := constantOf(garner.Of([]int64{4}))
	for _, tt := range []struct {
		operator   string
		attributes map[string]any
		inputs     []*model.Value
		want       string
	}{
		{"com.microsoft.GatherBlockQuantized-1", blocks, []*model.Value{spec("u8[8,32]"), ids, spec("f16[8,2]")}, "f16[?,32]"},
		{"com.microsoft.GatherBlockQuantized-1", nibbles, []*model.Value{spec("u8[8,16]"), ids, spec("f16[8,2]"), nil}, "f16[?,32]"},
		{"com.microsoft.GatherBlockQuantized-1", nibbles, []*model.Value{spec("u8[8,16]"), ids, spec("f16[8,2]"), spec("u8[8,1]")}, "f16[?,32]"},
		{"com.microsoft.GatherBlockQuantized-1", nibbles, []*model.Value{spec("u8[8,16]"), ids, spec("-u8[8,2]"), spec("-u8[8,1]")}, "[?,32]"},
		{"com.microsoft.GatherBlockQuantized-1", nibbles, []*model.Value{spec("-u8[8,16]"), ids, spec("f16[8,2]")}, "[...]"},
		{"com.microsoft.GatherBlockQuantized-1", nibbles, []*model.Value{spec("u8[8,16]"), ids, spec("f16[8,3]")}, "garner: node \"g\" (layer 3): scales f16[8,3] have 3 along axis 1"},
		{"openvino.EmbeddingBagOffsetsSum-3", nil, []*model.Value{table, ids, spec("i32[7]")}, "f32[7,3]"},
		{"openvino.EmbeddingBagOffsetsSum-3", nil, []*model.Value{table, ids, spec("i32[?]"), one}, "f32[?,3]"},
		{"openvino.EmbeddingBagOffsetsSum-3", nil, []*model.Value{table, ids, spec("i32[7]"), spec("i64[]"), spec("f32[?]")}, "f32[7,3]"},
		{"openvino.EmbeddingBagOffsetsSum-3", nil, []*model.Value{spec("-f32[5,3]"), ids, spec("-i32[7]"), nil, spec("-f32[?]")}, "[7,3]"},
		{"openvino.EmbeddingBagOffsets-15", map[string]any{"reduction": "mean"}, []*model.Value{table, ids, spec("i32[7]")}, "f32[7,3]"},
		{"openvino.EmbeddingBagPackedSum-3", nil, []*model.Value{table, spec("i64[2,?]")}, "f32[2,3]"},
		{"openvino.EmbeddingBagPacked-15", nil, []*model.Value{table, spec("i64[?,2]"), spec("f32[?,2]")}, "f32[?,3]"},
		{"openvino.EmbeddingSegmentsSum-3", nil, []*model.Value{table, ids, spec("i64[?]"), one}, "f32[4,3]"},
		{"openvino.EmbeddingSegmentsSum-3", nil, []*model.Value{table, ids, spec("i64[?]"), spec("i64[]"), one, spec("f32[?]")}, "f32[?,3]"},
	} {
		n := &model.Node{Name: "g", At: "layer 3", Operator: tt.operator, Attributes: tt.attributes, Inputs: tt.inputs}
		got := ""
		if s, err := InferNode(n); err != nil {
			got = err.Error()
		} else {
			got = s.String()
		}
		if got != tt.want && !(strings.HasPrefix(tt.want, "garner: ") && strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s of %v: %s; want %s", tt.operator, tt.inputs, got, tt.want)
		}
	}
}

// TestNeeds holds how many inputs models must give.
func TestNeeds(t *testing.T) {
	for name, want := range map[string]string{
		"onnx.Gather-13":                       "0 of []",
		"openvino.Gather-8":                    "1 of [axis]",
		"com.microsoft.GatherBlockQuantized-1": "1 of [scales zero_points]",
		"openvino.EmbeddingBagOffsetsSum-3":    "1 of [offsets default_index per_sample_weights]",
		"openvino.EmbeddingBagPacked-15":       "0 of [per_sample_weights]",
		"openvino.EmbeddingSegmentsSum-3":      "2 of [segment_ids num_segments default_index per_sample_weights]",
		"openvino.compressed-gather":           "1 of [scale zero_point]",
	} {
		o, err := Find(name, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(o.Needs(), " of ", o.Inputs()); got != want {
			t.Errorf("%s: %s; want %s", name, got, want)
		}
	}
}
