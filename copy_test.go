package garner_test

import (
	"testing"

	"github.com/garner-go/garner"
)

// TestCopyNothing copies tensors without elements whose other extents are beyond any loop.
func TestCopyNothing(t *testing.T) {
	for _, shape := range [][]int{{1 << 29, 1 << 29, 0}, {0, 1 << 29}, {1 << 29, 0, 3}, {1 << 29, 1 << 29, 1 << 29, 0}} {
		a, err := garner.New(garner.F32, shape...)
		if err != nil {
			t.Fatal(err)
		}
		for axis := range shape {
			if a, err = a.Slice(axis, 0, shape[axis], 1); err != nil {
				t.Fatal(err)
			}
		}
		made, err := a.Clone()
		if err != nil || !made.Shape().Equal(shape) {
			t.Errorf("%v: %v, %v", shape, made.Shape(), err)
		}
	}
}
