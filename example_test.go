package garner_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/openvino"
	"github.com/garner-go/garner/strict"
	"github.com/garner-go/garner/torch"
)

func Example() {
	data := garner.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	at := garner.Of([]int64{2, 0}, 2)
	out, err := garner.Gather(openvino.Gather8{Axis: 0}, data, at)
	fmt.Println(out, err)
	// Output: f32[2,2] [[5.0, 6.0], [1.0, 2.0]] <nil>
}

func ExampleGather() {
	data := garner.Of([]int64{1, 2, 3, 4}, 2, 2)
	tuples := garner.Of([]int32{0, 0, 1, 0}, 2, 2)
	out, err := garner.Gather(strict.GatherND{}, data, tuples)
	if err != nil {
		fmt.Println(err)
		return
	}
	values, err := garner.Values[int64](out)
	fmt.Println(values, err)
	// Output: [1 3] <nil>
}

// A bad index is told with its place, its value and what would have been good.
func ExampleIndexError() {
	data := garner.Of([]float32{1, 2, 3}, 3)
	at := garner.Of([]int64{0, 3, -1}, 3)
	_, err := garner.Gather(strict.Gather{}, data, at)
	fmt.Println(err)

	var bad *garner.IndexError
	if errors.As(err, &bad) {
		fmt.Println(bad.Position, bad.Value, bad.Dim)
	}
	// Output:
	// garner: indices[1] = 3 is outside axis 0 of data, which has 0…2 (1 more of 3 indices is outside)
	// [1] 3 3
}

// A gather that is repeated is prepared once; its runs allocate nothing.
func ExamplePrepare() {
	data := garner.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	at := garner.Of([]int64{2, 0}, 2)
	p, err := garner.Prepare(onnx.Gather13{}, data.Spec(), at.Spec())
	if err != nil {
		fmt.Println(err)
		return
	}
	rows := make([]float32, 4)
	out := garner.Of(rows, 2, 2)
	for range 2 {
		if err := p.Run(context.Background(), data, at, out); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(rows)
	}
	// Output:
	// [5 6 1 2]
	// [5 6 1 2]
}

// Shapes are known before the tensors are.
func ExampleInfer() {
	data, err := garner.ParseSpec("f32[30,2,100,35]")
	if err != nil {
		fmt.Println(err)
		return
	}
	at, err := garner.ParseSpec("i64[30,2,?,1]")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(garner.Infer(openvino.GatherND8{BatchDims: 2}, data, at))
	fmt.Println(garner.Infer(openvino.GatherND5{BatchDims: 2}, data, at))
	// Output:
	// f32[30,2,?,35] <nil>
	// f32[60,?,35] <nil>
}

func ExampleWithOutside() {
	data := garner.Of([]int64{10, 20, 30}, 3)
	at := garner.Of([]int64{-1, 1, 5}, 3)
	for _, outside := range []garner.Outside{garner.Zero, garner.Clamp, garner.Wrap} {
		out, err := garner.Gather(garner.WithOutside(strict.Gather{}, outside), data, at)
		fmt.Println(outside, out.Text(), err)
	}
	// Output:
	// zero [0, 20, 0] <nil>
	// clamp [10, 20, 30] <nil>
	// wrap [30, 20, 30] <nil>
}

func ExampleWithNegative() {
	data := garner.Of([]int64{10, 20, 30}, 3)
	at := garner.Of([]int64{-1, 0}, 2)
	fmt.Println(garner.Gather(garner.WithNegative(strict.Gather{}, garner.FromEnd), data, at))
	// Output: i64[2] [30, 10] <nil>
}

func ExampleWithFill() {
	data := garner.Of([]string{"ant", "bee"}, 2)
	at := garner.Of([]int64{1, 7}, 2)
	fmt.Println(garner.Gather(garner.WithFill(strict.Gather{}, garner.Of([]string{"none"})), data, at))
	// Output: string[2] ["bee", "none"] <nil>
}

// A Prepared of bags: Further gives the specs of the operands behind the indices, of
// which any run has as many as it needs.
func ExampleFurther() {
	weight := garner.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	some := garner.SpecOfDims(garner.I64, garner.AnyDim)
	bags, err := garner.Prepare(torch.EmbeddingBag{Mode: "sum"}, weight.Spec(), some, garner.Further(some))
	if err != nil {
		fmt.Println(err)
		return
	}
	at, offsets := garner.Of([]int64{2, 0, 1}, 3), garner.Of([]int64{0, 2}, 2)
	out := garner.Of(make([]float32, 4), 2, 2)
	err = bags.Run(context.Background(), weight, at, out, offsets)
	fmt.Println(out, err)
	// Output: f32[2,2] [[6.0, 8.0], [3.0, 4.0]] <nil>
}

// The tables of a recommender, each with its bags, in one call.
func ExampleRunAll() {
	some := garner.SpecOfDims(garner.I64, garner.AnyDim)
	features := garner.Of(make([]float32, 4), 1, 4) // each table has two columns
	var calls []garner.Call
	for i, weight := range []garner.Tensor{garner.Of([]float32{1, 2, 3, 4}, 2, 2), garner.Of([]float32{5, 6, 7, 8}, 2, 2)} {
		bags, err := garner.Prepare(torch.EmbeddingBag{Mode: "sum"}, weight.Spec(), some, garner.Further(some))
		if err != nil {
			fmt.Println(err)
			return
		}
		out, err := features.Slice(1, 2*i, 2*i+2, 1)
		if err != nil {
			fmt.Println(err)
			return
		}
		calls = append(calls, garner.Call{
			Prepared: bags, Data: weight, Indices: garner.Of([]int64{0, 1}, 2), Out: out,
			Further: []garner.Tensor{garner.Of([]int64{0}, 1)},
		})
	}
	err := garner.RunAll(context.Background(), calls)
	fmt.Println(features, err)
	// Output: f32[1,4] [[4.0, 6.0, 12.0, 14.0]] <nil>
}
