package tflite_test

import (
	"fmt"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/tflite"
)

// Each row of params has indices of its own.
func ExampleGather() {
	params := garner.Of([]int64{1, 2, 3, 4, 5, 6}, 2, 3)
	at := garner.Of([]int64{2, 0, 1, 1}, 2, 2)
	fmt.Println(garner.Gather(tflite.Gather{Axis: 1, BatchDims: 1}, params, at))
	// Output: i64[2,2] [[3, 1], [5, 5]] <nil>
}
