package onnx_test

import (
	"fmt"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/onnx"
)

func ExampleGatherND13() {
	data := garner.Of([]int32{0, 1, 2, 3, 4, 5, 6, 7}, 2, 2, 2)
	at := garner.Of([]int64{0, 1, -1, 0}, 2, 2) // -1 is the last
	fmt.Println(garner.Gather(onnx.GatherND13{}, data, at))
	// Output: i32[2,2] [[2, 3], [4, 5]] <nil>
}

func ExampleGatherElements13() {
	data := garner.Of([]float32{1, 2, 3, 4}, 2, 2)
	at := garner.Of([]int64{0, 0, 1, 0}, 2, 2)
	fmt.Println(garner.Gather(onnx.GatherElements13{Axis: 1}, data, at))
	// Output: f32[2,2] [[1.0, 1.0], [4.0, 3.0]] <nil>
}
