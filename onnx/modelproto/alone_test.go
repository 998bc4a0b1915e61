package modelproto_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner/onnx/modelproto"
)

// TestFromBytesAlone reads a model whose table is in another file.
func TestFromBytesAlone(t *testing.T) {
	b, err := os.ReadFile("testdata/torch_embedding_external.onnx")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := modelproto.FromBytes(b); err == nil || !strings.Contains(err.Error(), "is not read here") {
		t.Errorf("FromBytes reads it: %v", err)
	}
	m, err := modelproto.FromBytesAlone(b)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"torch_embedding_external.data"}; !slices.Equal(m.Files, want) {
		t.Errorf("it wants %v, not %v", m.Files, want)
	}
	gathers := 0
	for n := range m.Gathers() {
		gathers++
		if data := n.Inputs[0]; data.Constant != nil || data.Type() != "f32[50,8]" {
			t.Errorf("its table is %s, a constant: %t", data, data.Constant != nil)
		}
	}
	if gathers != 1 {
		t.Errorf("%d gathers", gathers)
	}

	whole, err := os.ReadFile("../../testdata/models/bert.onnx")
	if err != nil {
		t.Fatal(err)
	}
	if m, err = modelproto.FromBytesAlone(whole); err != nil || m.Files != nil {
		t.Errorf("a model without other files wants %v, %v", m.Files, err)
	}
	if _, err := modelproto.FromBytesAlone(whole[:100]); err == nil {
		t.Error("half a model is read")
	}
}
