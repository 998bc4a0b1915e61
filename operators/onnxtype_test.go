package operators_test

import (
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/operators"
)

// TestONNXType holds that each dtype has at most one number, and what has none.
func TestONNXType(t *testing.T) {
	seen := map[garner.DType]int64{}
	for number := range int64(64) {
		d := operators.ONNXType(number)
		if before, twice := seen[d]; twice && d != garner.Invalid {
			t.Errorf("%s is %d and %d", d, before, number)
		}
		seen[d] = number
	}
	if len(seen) != 27 { // with Invalid
		t.Errorf("%d dtypes have a number", len(seen)-1)
	}
	for number, want := range map[int64]garner.DType{-1: garner.Invalid, 0: garner.Invalid, 7: garner.I64, 22: garner.I4, 27: garner.Invalid} {
		if got := operators.ONNXType(number); got != want {
			t.Errorf("%d: %s; want %s", number, got, want)
		}
	}
}
