package garner_test

import (
	"errors"
	"fmt"

	"github.com/garner-go/garner"
)

func ExampleOf() {
	values := []float32{1, 2, 3, 4, 5, 6}
	x := garner.Of(values, 2, 3)
	values[0] = 10 // shared, not copied
	fmt.Println(x)
	// Output: f32[2,3] [[10.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
}

func ExampleFromSlice() {
	_, err := garner.FromSlice([]int64{1, 2, 3}, 2, 2)
	fmt.Println(err)
	fmt.Println(errors.Is(err, garner.ErrShape))
	// Output:
	// garner: a slice of 3 elements is no tensor of shape [2,2], which holds 4
	// true
}

func ExampleFromBytes() {
	// Eight 4-bit integers lie in four bytes, low bits first.
	x, err := garner.FromBytes(garner.I4, []byte{0x10, 0x32, 0x54, 0xf6}, 2, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(x)
	// Output: i4[2,4] [[0, 1, 2, 3], [4, 5, 6, -1]]
}

func ExampleFromStrided() {
	// A matrix whose columns lie one after the other, as Fortran keeps it.
	x, err := garner.FromStrided(garner.U8, []byte{1, 2, 3, 4, 5, 6}, 0, []int{2, 3}, []int{1, 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(x)
	// Output: u8[2,3] [[1, 3, 5], [2, 4, 6]]
}

func ExampleValues() {
	x := garner.Of([]int64{1, 2, 3}, 3)
	values, err := garner.Values[int64](x)
	fmt.Println(values, err)
	_, err = garner.Values[int32](x)
	fmt.Println(err)
	// Output:
	// [1 2 3] <nil>
	// garner: a tensor of i64 does not read back as i32
}

func ExampleTensor_Slice() {
	x := garner.Of([]int32{0, 1, 2, 3, 4, 5}, 6)
	even, _ := x.Slice(0, 0, 6, 2)
	back, _ := x.Slice(0, 5, -1, -1)
	fmt.Println(even.Text(), back.Text())
	// Output: [0, 2, 4] [5, 4, 3, 2, 1, 0]
}

func ExampleTensor_Reshape() {
	x := garner.Of([]int32{1, 2, 3, 4, 5, 6}, 2, 3)
	flat, _ := x.Reshape(6)
	fmt.Println(flat.Text())

	turned, _ := x.Transpose()
	_, err := turned.Reshape(6)
	fmt.Println(err)
	copied, _ := turned.Clone()
	flat, _ = copied.Reshape(6)
	fmt.Println(flat.Text())
	// Output:
	// [1, 2, 3, 4, 5, 6]
	// garner: strides [1 3] of shape [3,2] do not allow a view of shape [6]; Clone it first
	// [1, 4, 2, 5, 3, 6]
}

func ExampleTensor_Transpose() {
	x := garner.Of([]string{"a", "b", "c", "d"}, 2, 2)
	y, _ := x.Transpose()
	fmt.Println(y.Text())
	// Output: [["a", "c"], ["b", "d"]]
}

func ExampleTensor_SetText() {
	x, _ := garner.New(garner.F16, 3)
	_ = x.SetText(0, "0.1")
	_ = x.SetText(1, "1e9")
	_ = x.SetText(2, "-0")
	fmt.Println(x)

	y, _ := garner.New(garner.U8, 1)
	fmt.Println(y.SetText(0, "256"))
	// Output:
	// f16[3] [0.1, Infinity, -0.0]
	// garner: "256" is outside u8, which holds 0…255
}

func ExampleTensor_At() {
	x := garner.Of([]garner.BFloat16{0x3f80, 0x4049}, 2)
	text, _ := x.At(1)
	fmt.Println(text)
	// Output: 3.14
}

func ExampleParseSpec() {
	s, err := garner.ParseSpec("float32[2, ?, 1..8]")
	fmt.Println(s, err)
	// Output: f32[2,?,1..8] <nil>
}
