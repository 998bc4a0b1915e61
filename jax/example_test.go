package jax_test

import (
	"fmt"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/jax"
)

// An index outside reads as NaN by default, and -1 is the last element.
func ExampleNumpyTake() {
	a := garner.Of([]float32{1, 2, 3}, 3)
	at := garner.Of([]int32{-1, 3}, 2)
	fmt.Println(garner.Gather(jax.NumpyTake{}, a, at))
	fmt.Println(garner.Gather(jax.NumpyTake{FillValue: "-1"}, a, at))
	fmt.Println(garner.Gather(jax.NumpyTake{Mode: "clip"}, a, at))
	// Output:
	// f32[2] [3.0, NaN] <nil>
	// f32[2] [3.0, -1.0] <nil>
	// f32[2] [1.0, 3.0] <nil>
}

// A window with any part outside is filled whole.
func ExampleLaxGather() {
	operand := garner.Of([]int64{1, 2, 3, 4, 5}, 5)
	starts := garner.Of([]int64{1, 4}, 2, 1)
	pairs := jax.LaxGather{OffsetDims: []int{1}, StartIndexMap: []int{0}, SliceSizes: []int{2}, FillValue: "0"}
	fmt.Println(garner.Gather(pairs, operand, starts))
	pairs.Mode = "clip"
	fmt.Println(garner.Gather(pairs, operand, starts))
	// Output:
	// i64[2,2] [[2, 3], [0, 0]] <nil>
	// i64[2,2] [[2, 3], [4, 5]] <nil>
}
