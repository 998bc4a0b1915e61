package stablehlo_test

import (
	"fmt"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/stablehlo"
)

// Two windows of 2 rows and 2 columns. The second would reach beyond the operand,
// so its start is clamped.
func ExampleGather() {
	operand := garner.Of([]int64{
		1, 2, 3, 4,
		5, 6, 7, 8,
		9, 10, 11, 12,
	}, 3, 4)
	starts := garner.Of([]int64{0, 1, 9, 9}, 2, 2)
	windows := stablehlo.Gather{
		OffsetDims:     []int{1, 2},
		StartIndexMap:  []int{0, 1},
		IndexVectorDim: 1,
		SliceSizes:     []int{2, 2},
	}
	fmt.Println(garner.Gather(windows, operand, starts))
	// Output: i64[2,2,2] [[[2, 3], [6, 7]], [[7, 8], [11, 12]]] <nil>
}
