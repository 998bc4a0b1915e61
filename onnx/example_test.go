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

// Codes of 4 bits whose scales are a further operand: one for each block of a row.
func ExampleMicrosoftGatherBlockQuantized1() {
	codes, err := garner.New(garner.I4, 2, 16)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 32 {
		if err := codes.SetText(i, fmt.Sprint(i%4-2)); err != nil {
			fmt.Println(err)
			return
		}
	}
	scales := garner.Of([]float32{.5, 2}, 2, 1)
	rows, err := garner.Gather(onnx.MicrosoftGatherBlockQuantized1{BlockSize: new(16), QuantizeAxis: new(1)}, codes, garner.Of([]int64{1}, 1), scales)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rows.Slice(1, 0, 4, 1))
	// Output: f32[1,4] [[-4.0, -2.0, 0.0, 2.0]] <nil>
}
