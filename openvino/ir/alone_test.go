package ir_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/garner-go/garner/openvino/ir"
)

// TestAlone reads a model without its .bin: constants are values of known type.
func TestAlone(t *testing.T) {
	b, err := os.ReadFile("../../testdata/models/half.xml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ir.Read("half.xml", bytes.NewReader(b), nil, ir.Options{}); err == nil {
		t.Error("it is read without the .bin, and Alone is not said")
	}
	m, err := ir.Read("half.xml", bytes.NewReader(b), nil, ir.Options{Alone: true})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	gathers := 0
	for n := range m.Gathers() {
		gathers++
		if data, axis := n.Inputs[0], n.Inputs[2]; data.Type() != "f16[40,8]" || data.Constant != nil || axis.Type() != "i32[]" || axis.Constant != nil {
			t.Errorf("data is %s, axis %s", data, axis)
		}
	}
	if gathers != 1 {
		t.Errorf("%d gathers", gathers)
	}
}
