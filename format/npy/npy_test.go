package npy

import (
	"bytes"
	"testing"

	"github.com/garner-go/garner"
)

func TestSmoke(t *testing.T) {
	x := garner.Of([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	y, _ := x.Transpose()
	var b bytes.Buffer
	if err := Write(&b, y); err != nil {
		t.Fatal(err)
	}
	z, err := Read(&b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := garner.Values[float32](z)
	if err != nil || v[1] != 4 {
		t.Fatal(v, err)
	}
}
