package operators_test

import (
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gguf"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/openvino"
	"github.com/garner-go/garner/operators"
	"github.com/garner-go/garner/torch"
)

// TestInferOfStored holds that the result of an operator that decodes has the dtype of the
// elements, as in garner.Infer.
func TestInferOfStored(t *testing.T) {
	at := garner.SpecOf(garner.I64, 3)
	for _, c := range []struct {
		op   garner.Op
		data garner.Spec
		more []garner.Spec
		want string
	}{
		{gguf.GetRows{Type: "Q4_K"}, garner.SpecOf(garner.U8, 10, 144), nil, "f32[3,256]"},
		{torch.QuantizedEmbedding{Bits: 8}, garner.SpecOf(garner.U8, 10, 24), nil, "f32[3,16]"},
		{onnx.MicrosoftGatherBlockQuantized1{}, garner.SpecOf(garner.U4, 10, 128), []garner.Spec{garner.SpecOf(garner.F16, 10, 1)}, "f16[3,128]"},
		{openvino.CompressedGather{}, garner.SpecOf(garner.U4, 10, 128), []garner.Spec{garner.SpecOf(garner.F32, 10, 1)}, "f32[3,128]"},
	} {
		own, err := garner.Infer(c.op, c.data, at, c.more...)
		if err != nil || own.String() != c.want {
			t.Fatalf("%T: garner.Infer gives %v, %v", c.op, own, err)
		}
		if got, err := operators.Infer(c.op, c.data, at, c.more...); err != nil || got.String() != c.want {
			t.Errorf("%T: %v, %v; want %s", c.op, got, err, c.want)
		}
	}
	// An operator that takes data alone has no indices of an unknown dtype.
	if got, err := operators.Infer(gguf.Dequantize{Type: "F16"}, garner.SpecOf(garner.U8, 2, 2), garner.Spec{}); err != nil || got.String() != "f32[2,1]" {
		t.Errorf("%v, %v; want f32[2,1]", got, err)
	}

	// Weights of an unknown dtype have that of the elements.
	op := openvino.Compressed{Op: openvino.EmbeddingBagPackedSum3{}}
	untyped := garner.SpecOf(garner.F16, 2, 3)
	untyped.DType = garner.Invalid
	got, err := operators.Infer(op, garner.SpecOf(garner.U8, 10, 128), garner.SpecOf(garner.I64, 2, 3), untyped, garner.SpecOf(garner.F16, 10, 1))
	if want := "f16[2,128]"; err != nil || got.String() != want {
		t.Errorf("%v, %v; want %s", got, err, want)
	}
}
