package garner_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/strict"
)

// Token ids become the vectors that a model is fed with, in its own memory.
func ExampleLookup() {
	const width = 2
	table := []float32{0, 0.5, 1, 1.5, 2, 2.5} // three rows of two
	tokens := []int32{2, 0, 2}
	batch := make([]float32, len(tokens)*width)
	if err := garner.Lookup(table, width, tokens, batch); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(batch)

	fmt.Println(garner.Lookup(table, width, []int32{0, 3, 1}, batch))
	// Output:
	// [2 2.5 0 0.5 2 2.5]
	// garner: indices[1] = 3 is outside axis 0 of data, which has 0…2
}

func ExampleLookupRows() {
	type vector []float32
	table := []vector{{0, 0.5}, {1, 1.5}, {2, 2.5}}
	rows, err := garner.LookupRows(table, []int{2, 0})
	fmt.Println(rows, err)

	// The rows of a flat table, without copying it.
	flat := []float32{0, 0.5, 1, 1.5, 2, 2.5}
	fmt.Println(garner.LookupRows(slices.Collect(slices.Chunk(flat, 2)), []int{1}))
	// Output:
	// [[2 2.5] [0 0.5]] <nil>
	// [[1 1.5]] <nil>
}

func ExampleRows() {
	data := garner.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	out, err := garner.Gather(strict.Gather{}, data, garner.Of([]int64{2, 0}, 2))
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := garner.Rows[float32](out)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, row := range rows {
		fmt.Println(i, row)
	}
	// Output:
	// 0 [5 6]
	// 1 [1 2]
}

func ExampleToRows() {
	x := garner.Of([]int32{1, 2, 3, 4, 5, 6}, 2, 3)
	turned, err := x.Transpose()
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := garner.ToRows[int32](turned)
	fmt.Println(rows, err)
	// Output: [[1 4] [2 5] [3 6]] <nil>
}

func ExampleFromRows() {
	x, err := garner.FromRows([][]float32{{1, 2}, {3, 4}})
	fmt.Println(x, err)
	_, err = garner.FromRows([][]float32{{1, 2}, {3}})
	fmt.Println(err)
	// Output:
	// f32[2,2] [[1.0, 2.0], [3.0, 4.0]] <nil>
	// garner: row 1 has 1 elements and row 0 has 2; a matrix has rows of one length
}

// Rows of one gonum matrix are gathered into another: a and b stand for
// a.RawMatrix() and b.RawMatrix() of two mat.Dense, whose memory they share.
func ExampleFromMatrix() {
	type general struct { // as gonum's blas64.General
		Rows, Cols int
		Data       []float64
		Stride     int
	}
	a := general{Rows: 3, Cols: 2, Data: []float64{1, 2, 3, 4, 5, 6}, Stride: 2}
	b := general{Rows: 2, Cols: 2, Data: make([]float64, 4), Stride: 2}

	data, err := garner.FromMatrix(a.Data, a.Rows, a.Cols, a.Stride)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := garner.FromMatrix(b.Data, b.Rows, b.Cols, b.Stride)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = garner.GatherInto(context.Background(), strict.Gather{}, data, garner.Of([]int{2, 0}, 2), out)
	fmt.Println(b.Data, err)
	// Output: [5 6 1 2] <nil>
}
