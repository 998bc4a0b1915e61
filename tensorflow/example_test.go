package tensorflow_test

import (
	"fmt"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/tensorflow"
)

// An index outside params is an error on a CPU and a zero on a GPU.
func ExampleGatherNd() {
	params := garner.Of([]string{"a", "b", "c", "d"}, 2, 2)
	at := garner.Of([]int32{0, 0, 1, 2}, 2, 2)
	_, err := garner.Gather(tensorflow.GatherNd{}, params, at)
	fmt.Println(err)
	fmt.Println(garner.Gather(garner.WithOutside(tensorflow.GatherNd{}, garner.Zero), params, at))
	// Output:
	// garner: indices[1,1] = 2 is outside axis 1 of data, which has 0…1
	// string[2] ["a", ""] <nil>
}

// Without an axis, gather's axis is its batch_dims.
func ExampleGatherFunc() {
	params := garner.Of([]int64{1, 2, 3, 4}, 2, 2)
	at := garner.Of([]int64{1, 1, 0}, 1, 3)
	fmt.Println(garner.Gather(tensorflow.GatherFunc{}, params, at))
	at, axis := garner.Of([]int64{1, 0}, 2, 1), 1
	fmt.Println(garner.Gather(tensorflow.GatherFunc{Axis: &axis, BatchDims: -1}, params, at))
	// Output:
	// i64[1,3,2] [[[3, 4], [3, 4], [1, 2]]] <nil>
	// i64[2,1] [[2], [3]] <nil>
}
