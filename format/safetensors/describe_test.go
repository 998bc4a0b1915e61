package safetensors

import (
	"bytes"
	"errors"
	"testing"

	"github.com/garner-go/garner"
)

// TestDescribe reads the header of a stream.
func TestDescribe(t *testing.T) {
	var file bytes.Buffer
	err := Write(&file, []Named{{"b", garner.Of([]float32{1, 2, 3}, 3)}, {"a", garner.Of([]int64{1, 2}, 2, 1)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := Describe(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, x := range list {
		whole := file.Bytes()[x.At:][:x.Bytes]
		switch {
		case x.Name == "a" && x.DType == garner.I64 && x.Shape.Equal(garner.Shape{2, 1}) && whole[8] == 2:
		case x.Name == "b" && x.DType == garner.F32 && x.Kind == "F32" && x.Path == "" && whole[3] == 0x3f:
		default:
			t.Errorf("a tensor %+v with bytes %v", x, whole)
		}
	}
	if _, err := Describe(bytes.NewReader(file.Bytes()), int64(file.Len())-1); !errors.Is(err, ErrFormat) {
		t.Errorf("a file that is a byte short: %v", err)
	}
	if _, err := Describe(bytes.NewReader(file.Bytes()[:20]), int64(file.Len())); !errors.Is(err, ErrFormat) {
		t.Errorf("a stream that ends: %v", err)
	}
}
