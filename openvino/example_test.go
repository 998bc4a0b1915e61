package openvino_test

import (
	"fmt"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/openvino"
)

// In Gather-8 a negative index counts from the end, and an index outside the
// axis yields zeros.
func ExampleGather8() {
	data := garner.Of([]int64{1, 2, 3, 4, 5}, 5)
	at := garner.Of([]int64{3, -2, 10}, 3)
	fmt.Println(garner.Gather(openvino.Gather8{}, data, at))
	// Output: i64[3] [4, 4, 0] <nil>
}

// The versions of GatherND differ in the output shape for more than one batch
// dimension.
func ExampleGatherND5() {
	data := garner.SpecOf(garner.F32, 30, 2, 100, 35)
	at := garner.SpecOf(garner.I32, 30, 2, 3, 1)
	fmt.Println(garner.Infer(openvino.GatherND8{BatchDims: 2}, data, at))
	fmt.Println(garner.Infer(openvino.GatherND5{BatchDims: 2}, data, at))
	// Output:
	// f32[30,2,3,35] <nil>
	// f32[60,3,35] <nil>
}
