package literal

import (
	"math"
	"testing"

	"github.com/garner-go/garner"
)

// TestLists counts what a text has, without the product of large dims.
func TestLists(t *testing.T) {
	for _, tt := range []struct {
		shape      garner.Shape
		most, want int
	}{
		{garner.Shape{}, 10, 1},
		{garner.Shape{10}, 10, 10},
		{garner.Shape{11}, 10, 11},
		{garner.Shape{2, 5}, 10, 10},
		{garner.Shape{2, 6}, 10, 11},
		{garner.Shape{0, 7}, 10, 1},
		{garner.Shape{3, 0, 7}, 10, 3},
		{garner.Shape{3, 4, 0}, 10, 11},
		{garner.Shape{1 << 16, math.MaxInt32, 2, 0}, 1 << 16, 1<<16 + 1},
		{garner.Shape{math.MaxInt32, math.MaxInt32}, 1 << 16, 1<<16 + 1},
	} {
		if got := Lists(tt.shape, tt.most); got != tt.want {
			t.Errorf("%v has %d, not %d, up to %d", tt.shape, got, tt.want, tt.most)
		}
	}
}
