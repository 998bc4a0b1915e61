package webnn_test

import (
	"fmt"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/webnn"
)

// An index outside is clamped to its axis.
func ExampleGather() {
	input := garner.Of([]int64{1, 2, 3, 4, 5, 6}, 2, 3)
	at := garner.Of([]int64{-1, 9, -9}, 3)
	fmt.Println(garner.Gather(webnn.Gather{Axis: 1}, input, at))
	// Output: i64[2,3] [[3, 3, 1], [6, 6, 4]] <nil>
}
