package torch_test

import (
	"fmt"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/torch"
)

// One element per index, along dim 1.
func ExampleGather() {
	input := garner.Of([]int64{1, 2, 3, 4}, 2, 2)
	at := garner.Of([]int64{0, 0, 1, 0}, 2, 2)
	fmt.Println(garner.Gather(torch.Gather{Dim: 1}, input, at))
	// Output: i64[2,2] [[1, 1], [4, 3]] <nil>
}

// The words of a sentence, by their numbers.
func ExampleEmbedding() {
	weight := garner.Of([]float32{0, 0, .5, 1, .25, 2}, 3, 2)
	fmt.Println(garner.Gather(torch.Embedding{}, weight, garner.Of([]int32{2, 1, 2}, 3)))
	// Output: f32[3,2] [[0.25, 2.0], [0.5, 1.0], [0.25, 2.0]] <nil>
}

// A negative index counts from the end in take, and is an error in
// index_select.
func ExampleIndexSelect() {
	input := garner.Of([]int64{1, 2, 3, 4, 5, 6}, 2, 3)
	last := garner.Of([]int64{-1}, 1)
	fmt.Println(garner.Gather(torch.Take{}, input, last))
	_, err := garner.Gather(torch.IndexSelect{Dim: 1}, input, last)
	fmt.Println(err)
	// Output:
	// i64[1] [6] <nil>
	// garner: indices[0] = -1 is outside axis 1 of data, which has 0…2
}

// Bags [2, 0] and [1]: the offsets are a further operand, behind the indices.
func ExampleEmbeddingBag() {
	weight := garner.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	at, offsets := garner.Of([]int64{2, 0, 1}, 3), garner.Of([]int64{0, 2}, 2)
	fmt.Println(garner.Gather(torch.EmbeddingBag{Mode: "sum"}, weight, at, offsets))
	// Output: f32[2,2] [[6.0, 8.0], [3.0, 4.0]] <nil>
}
