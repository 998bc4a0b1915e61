package pages

import (
	"math"
	"strconv"
	"testing"
)

func TestAlloc(t *testing.T) {
	for _, n := range []int{0, 1, 4095, 4096, Huge - 1, Huge, 3*Huge + 5} {
		b, err := Alloc(n)
		if err != nil || len(b) != n {
			t.Fatalf("%d bytes: %d, %v", n, len(b), err)
		}
		for i, v := range b {
			if v != 0 {
				t.Fatalf("byte %d of %d is %d", i, n, v)
			}
		}
		for i := range b {
			b[i] = 1
		}
		if err := Free(b); err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if _, err := Alloc(math.MaxInt &^ (Huge - 1)); strconv.IntSize == 64 && err == nil {
		t.Error("more than there is was given")
	}
}
