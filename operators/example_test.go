package operators_test

import (
	"fmt"
	"log"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// A name from a configuration, and all its values in one map: attributes, and
// inputs such as the axis of OpenVINO's Gather.
func ExampleParse() {
	data := garner.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	indices := garner.Of([]int64{-1, 0}, 2)
	for _, name := range []string{"onnx.Gather-13", "openvino.Gather-8", "torch.index_select"} {
		op, err := operators.Parse(name, map[string]any{"axis": 1})
		if err != nil {
			log.Fatal(err)
		}
		out, err := garner.Gather(op, data, indices)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(out.Text())
	}
	_, err := operators.Parse("onnx.Gather-13", map[string]any{"axes": 1})
	fmt.Println(err)
	// Output:
	// [[2.0, 1.0], [4.0, 3.0], [6.0, 5.0]]
	// [[2.0, 1.0], [4.0, 3.0], [6.0, 5.0]]
	// garner: indices[0] = -1 is outside axis 1 of data, which has 0…1
	// garner: onnx.Gather-13 has no attribute axes; did you mean axis?
}

// What an operator is, and what it takes.
func ExampleFind() {
	o, err := operators.Find("numpy.take", 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(o.Kind, o.Spec)
	for _, name := range o.Attributes() {
		fmt.Println(name, o.Values(name))
	}
	old, err := operators.Find("onnx.Gather", 12) // the version that opset 12 has
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(old.Name)
	// Output:
	// gather https://numpy.org/doc/stable/reference/generated/numpy.take.html
	// axis []
	// mode [raise wrap clip]
	// onnx.Gather-11
}

// Every operator that reads index tuples.
func ExampleAll() {
	for _, o := range operators.All() {
		if o.Kind == operators.GatherND && len(o.Inputs()) > 0 {
			fmt.Println(o.Name, o.Inputs())
		}
	}
	// Output:
	// stablehlo.dynamic_gather [slice_sizes]
}

// The shape that follows from a node of a model, here of one with an unknown
// batch size.
func ExampleInferNode() {
	n := &model.Node{Name: "embed", Op: "Gather", Operator: "onnx.Gather-13", Inputs: []*model.Value{
		{Name: "table", Spec: garner.SpecOf(garner.F16, 32000, 4096)},
		{Name: "ids", Spec: garner.SpecOfDims(garner.I64, garner.AnyDim, garner.Exactly(512))},
	}}
	spec, err := operators.InferNode(n)
	fmt.Println(spec, err)
	// Output:
	// f16[?,512,4096] <nil>
}
