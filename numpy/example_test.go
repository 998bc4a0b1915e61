package numpy_test

import (
	"fmt"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/numpy"
)

// Without an axis, data is flattened. The mode is the policy for indices outside.
func ExampleTake() {
	a := garner.Of([]int64{4, 3, 5, 7, 6, 8}, 2, 3)
	at := garner.Of([]int64{0, -1, 7}, 3)
	fmt.Println(garner.Gather(numpy.Take{Mode: "wrap"}, a, at))
	fmt.Println(garner.Gather(numpy.Take{Mode: "clip"}, a, at))

	axis := 1
	fmt.Println(garner.Gather(numpy.Take{Axis: &axis}, a, garner.Of([]int64{-1, 0}, 2)))
	// Output:
	// i64[3] [4, 8, 3] <nil>
	// i64[3] [4, 4, 8] <nil>
	// i64[2,2] [[5, 4], [8, 7]] <nil>
}

// One index serves every row: the dims off the axis broadcast.
func ExampleTakeAlongAxis() {
	arr := garner.Of([]int64{10, 30, 20, 60, 40, 50}, 2, 3)
	axis := 1
	fmt.Println(garner.Gather(numpy.TakeAlongAxis{Axis: &axis}, arr, garner.Of([]int64{-1, 0}, 1, 2)))
	// Output: i64[2,2] [[20, 10], [50, 60]] <nil>
}
