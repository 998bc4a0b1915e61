package strict_test

import (
	"fmt"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/strict"
)

var data = garner.Of([]int64{1, 2, 3, 4, 5, 6}, 2, 3)

// Columns 2 and 0.
func ExampleGather() {
	at := garner.Of([]int64{2, 0}, 2)
	fmt.Println(garner.Gather(strict.Gather{Axis: 1}, data, at))
	// Output: i64[2,2] [[3, 1], [6, 4]] <nil>
}

// One element of each row: the rows are a batch.
func ExampleGatherND() {
	at := garner.Of([]int64{2, 0}, 2, 1)
	fmt.Println(garner.Gather(strict.GatherND{BatchDims: 1}, data, at))
	// Output: i64[2] [3, 4] <nil>
}

// One element per index, along the rows.
func ExampleGatherElements() {
	at := garner.Of([]int64{2, 2, 0, 1}, 2, 2)
	fmt.Println(garner.Gather(strict.GatherElements{Axis: 1}, data, at))
	// Output: i64[2,2] [[3, 3], [4, 5]] <nil>
}
