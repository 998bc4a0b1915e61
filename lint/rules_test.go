package lint

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/shapes"
	"github.com/garner-go/garner/model"
)

// A gather describes the model of a test.
type gather struct {
	op            string
	node          string // the name of the node's operator in a model of TensorFlow
	data, indices *model.Value
	axis          *model.Value // input of OpenVINO's Gather
	further       []*model.Value
	attributes    map[string]any
}

// model returns the model. Values without a node or a constant are its inputs.
func (g gather) model() *model.Model {
	m := &model.Model{Path: "m.onnx", Format: "ONNX", Graph: &model.Graph{}}
	switch {
	case strings.HasPrefix(g.op, "openvino."):
		m.Path, m.Format = "m.xml", "OpenVINO IR"
	case strings.HasPrefix(g.op, "tflite."):
		m.Path, m.Format = "m.tflite", "TFLite"
	case strings.HasPrefix(g.op, "tensorflow.") && g.node != "":
		m.Path, m.Format = "m", "TensorFlow"
	case strings.HasPrefix(g.op, "stablehlo."):
		m.Path, m.Format = "m.mlir", "StableHLO"
	}
	n := &model.Node{Name: "g", At: "line 3, column 7", Op: "Gather", Operator: g.op, Attributes: g.attributes}
	if g.node != "" {
		n.Op = g.node
	}
	n.Inputs = []*model.Value{g.data, g.indices}
	if g.axis != nil {
		n.Inputs = append(n.Inputs, g.axis)
	} else if strings.HasPrefix(g.op, "openvino.Gather-") {
		n.Inputs = append(n.Inputs, held(garner.Of([]int64{0})))
	}
	n.Inputs = append(n.Inputs, g.further...)
	n.Outputs = []*model.Value{{Name: "out", From: n, Spec: model.Unknown}}
	var add func(v *model.Value)
	add = func(v *model.Value) {
		if v == nil {
			return
		}
		for _, in := range v.Takes {
			add(in)
		}
		if v.From != nil {
			for _, in := range v.From.Inputs {
				add(in)
			}
			m.Graph.Nodes = append(m.Graph.Nodes, v.From)
		} else if v.Constant == nil && v.Takes == nil {
			m.Graph.Inputs = append(m.Graph.Inputs, v)
		}
	}
	for _, v := range n.Inputs {
		add(v)
	}
	m.Graph.Nodes = append(m.Graph.Nodes, n)
	return m
}

// held returns a constant.
func held(t garner.Tensor) *model.Value {
	return &model.Value{Name: "c", Spec: t.Spec(), Constant: model.NewConstant("c", t.Spec(), func() (garner.Tensor, error) { return t, nil })}
}

func i64(shape []int, values ...int64) *model.Value { return held(garner.Of(values, shape...)) }

// given returns an input of the model.
func given(spec string) *model.Value {
	s, err := garner.ParseSpec(spec)
	if err != nil {
		panic(err)
	}
	return &model.Value{Name: "in", Spec: s}
}

// huge returns a constant that must not be read.
func huge(spec string) *model.Value {
	v := given(spec)
	v.Constant = model.NewConstant("huge", v.Spec, func() (garner.Tensor, error) { return garner.Tensor{}, errors.New("it is read") })
	return v
}

// made returns the output of an operator.
func made(op, spec string, of ...*model.Value) *model.Value {
	v := given(spec)
	v.From = &model.Node{Name: op, At: "node 0", Op: op, Inputs: of, Outputs: []*model.Value{v}}
	return v
}

// bounded returns indices of unknown values that the model bounds.
func bounded(spec string) *model.Value {
	return made("Clip", spec, given(spec), i64(nil, 0), i64(nil, 0))
}

// everywhere are the runtimes of a finding of loose.
const everywhere = "openvino onnxruntime tensorflow jax webnn torch"

// loose gathers rows of five.
func loose(indices *model.Value) gather {
	return gather{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: indices}
}

func clip(spec string, low, high int64) *model.Value {
	return made("Clip", spec, given(spec), i64(nil, low), i64(nil, high))
}

// part makes an operator of the positions of a matrix of 5 by 7 that are not 0.
func part(op string, more ...*model.Value) *model.Value {
	at := made("Transpose", "i64[?,2]", made("NonZero", "i64[2,?]", given("bool[5,7]")))
	return made(op, "i64[...]", append([]*model.Value{at}, more...)...)
}

// columnOf gathers a column of them.
func columnOf(n int64) *model.Value {
	v := part("Gather", i64(nil, n))
	v.From.Operator = "onnx.Gather-13"
	return with(v, axis(1))
}

// fromEnd counts negative indices from the end, as exporters do.
func fromEnd(x *model.Value, n int64) *model.Value {
	return made("Where", "i64[?]", made("Less", "bool[?]", x, i64(nil, 0)), made("Add", "i64[?]", x, i64(nil, n)), x)
}

// dims names the dims of a value.
func dims(v *model.Value, names ...string) *model.Value {
	v.DimNames = names
	return v
}

// parameter returns a parameter of a sub-graph that takes a value.
func parameter(spec string, of ...*model.Value) *model.Value {
	v := given(spec)
	v.Name, v.Takes = "p", of
	return v
}

// counts returns a Range of constants.
func counts(start, limit, step int64) *model.Value {
	return made("Range", "i64[?]", i64(nil, start), i64(nil, limit), i64(nil, step))
}

// with returns a value whose node has attributes.
func with(v *model.Value, attributes map[string]any) *model.Value {
	v.From.Attributes = attributes
	return v
}

// blocks gathers rows, or columns, of a table of codes with a scale for each 16 of a row.
func blocks(indices *model.Value, attributes map[string]any) gather {
	scales := made("Identity", "f32[5,2]", given("f32[5,2]"))
	return gather{op: "com.microsoft.GatherBlockQuantized-1", data: given("u4[5,32]"), indices: indices, further: []*model.Value{scales, nil}, attributes: attributes}
}

func blockSize(n int64, more ...any) map[string]any {
	attributes := map[string]any{"block_size": n}
	for i := 0; i < len(more); i += 2 {
		attributes[more[i].(string)] = more[i+1]
	}
	return attributes
}

// decoded is what a gather of a table of codes from 0 to 3 gives.
func decoded() *model.Value {
	v := made("GatherBlockQuantized", "f32[?,16]", held(garner.Of([]uint8{0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 1, 16)), i64([]int{1}, 0), held(garner.Of([]float32{100}, 1, 1)))
	v.From.Domain, v.From.Operator = "com.microsoft", "com.microsoft.GatherBlockQuantized-1"
	return with(v, blockSize(16, "bits", int64(8)))
}

// compressed is a table of OpenVINO that is computed from codes.
func compressed() *model.Value { return scaled([]int{5, 2}, 5, 1) }

// scaled is a table of codes of a shape with a scale of another.
func scaled(shape []int, scale ...int) *model.Value {
	spec := garner.SpecOf(garner.F32, shape...).String()
	codes, _ := garner.New(garner.I8, shape...)
	factor, _ := garner.New(garner.F32, scale...)
	return made("Multiply", spec, with(made("Convert", spec, held(codes)), map[string]any{"destination_type": "f32"}), held(factor))
}

// flattened is a value of another shape.
func flattened(v *model.Value, shape ...int64) *model.Value {
	return made("Reshape", "f32[...]", v, i64([]int{len(shape)}, shape...))
}

// bagOf is a bag of OpenVINO of rows of five, with its inputs behind the indices.
func bagOf(op string, indices *model.Value, further ...*model.Value) gather {
	return gather{op: "openvino." + op, data: given("f32[5,2]"), indices: indices, further: further}
}

func batch(n int64) map[string]any { return map[string]any{"batch_dims": n} }
func axis(n int64) map[string]any  { return map[string]any{"axis": n} }

// tests has, for each rule, models with its finding and models without.
var tests = []struct {
	rule string
	has  []meets
	none []gather
}{
	{"L.1", []meets{
		{bagOf("EmbeddingBagOffsetsSum-3", i64([]int{3}, 0, -1, 4), given("i32[3]")), Error, "openvino", "indices[1] = -1 is negative: OpenVINO refuses it; on one thread it stops there"},
		{gather{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: i64([]int{2, 2}, 0, 1, -1, -5)}, Note, "tensorflow torch",
			"indices[1,0] = -1 is negative (and 1 more of 4): TensorFlow refuses it"},
		{gather{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: i64(nil, -1)}, Note, "tensorflow torch", "indices = -1 is negative: TensorFlow refuses it, PyTorch refuses it"},
		{gather{op: "openvino.Gather-7", data: given("f32[5,2]"), indices: i64([]int{1}, -1)}, Error, "openvino onnxruntime tensorflow torch jax", "OpenVINO writes zeros, ONNX Runtime counts it from the end"},
		{gather{op: "openvino.Gather-8", data: given("f32[?,2]"), indices: i64([]int{1}, -1)}, Note, "tensorflow torch", "TensorFlow refuses"},
		{gather{op: "openvino.GatherND-8", data: given("f32[5,2]"), indices: i64([]int{1, 2}, 0, -2)}, Error, "openvino onnxruntime tensorflow webnn", "indices[0,1] = -2 is negative: OpenVINO counts it from the end"},
		// Through operators that keep the order, and a cast to a type that holds every value.
		{gather{op: "onnx.GatherElements-13", data: given("f32[5]"), indices: made("Reshape", "i64[2]", made("Cast", "i64[2,1]", held(garner.Of([]int32{0, -1}, 2, 1))), i64([]int{1}, 2))},
			Note, "torch", "indices[1] = -1 is negative: PyTorch refuses it"},
		// Computed from constants.
		{gather{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: made("Transpose", "i64[1,2]", i64([]int{2, 1}, -1, 0))}, Note, "tensorflow torch", "computed from constants, and their least is -1, which is negative"},
		{gather{op: "openvino.Gather-7", data: given("f32[5,2]"), indices: made("Subtract", "i64[2]", i64([]int{2}, 0, 3), i64(nil, 1))}, Error, "openvino onnxruntime tensorflow torch jax", "their least is -1"},
		{gather{op: "openvino.Gather-7", data: given("i64[5]"), indices: i64([]int{1}, -1)}, Error, "openvino onnxruntime tensorflow torch jax", "OpenVINO (a vector of up to 64 integers) reads other memory, ONNX Runtime"},
		{gather{op: "openvino.GatherElements-6", data: given("f32[5]"), indices: held(garner.Of([]int8{0, -1}, 2))}, Error, "openvino onnxruntime torch jax webnn", "counts it from the end"},
		// What OpenVINO computes before the first run.
		{gather{op: "openvino.Gather-7", data: i64([]int{5}, 1, 2, 3, 4, 5), indices: i64([]int{1}, -1)}, Error, "openvino onnxruntime tensorflow torch jax", "OpenVINO (all operands constant) counts it from the end, ONNX Runtime"},
		{gather{op: "tensorflow.batch_gather", data: given("f32[5,2]"), indices: i64([]int{5, 1}, 0, -1, 0, 0, 0)}, Error, "openvino tensorflow", "indices[1,0] = -1 is negative: OpenVINO counts it from the end, TensorFlow reads a row of another batch, TensorFlow refuses it"},
	}, []gather{
		{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: i64([]int{2}, 0, 4)},
		{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: i64([]int{1}, -6)}, // outside, which is L.2
		{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: made("Cast", "u8[1]", i64([]int{1}, -1))},
		{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: held(garner.Of([]uint64{0, 4}, 2))},
		{op: "onnx.GatherND-13", data: given("f32[5,2]"), indices: bounded("i64[3,1]")},
	}},
	{"L.2", []meets{
		{gather{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: i64([]int{3}, 0, 5, -6)}, Error, "openvino onnxruntime tensorflow torch jax webnn",
			"indices[1] = 5 is outside axis 0 of data, whose length is 5 (and 1 more of 3): OpenVINO writes zeros, ONNX Runtime refuses it, TensorFlow refuses it, TensorFlow (XLA) takes the nearest position"},
		{gather{op: "openvino.Gather-8", data: given("f32[5,2]"), indices: i64([]int{1}, 2), axis: i64(nil, -1)}, Note, "onnxruntime tensorflow torch jax webnn", "axis 1 of data, whose length is 2"},
		{gather{op: "onnx.GatherND-13", data: given("f32[5,2,3]"), indices: i64([]int{5, 2}, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0), attributes: batch(1)}, Error, "openvino onnxruntime tensorflow",
			"indices[3,1] = 3 is outside axis 2 of data, whose length is 3: OpenVINO reads other memory"},
		{gather{op: "onnx.GatherElements-13", data: given("f32[1..4]"), indices: held(garner.Of([]uint64{0, math.MaxUint64}, 2))}, Error, "openvino onnxruntime torch jax", "indices[1] = 18446744073709551615 is outside"},
		{gather{op: "onnx.Gather-13", data: given("f32[0]"), indices: held(garner.Of([]int32{0}, 1))}, Error, "openvino onnxruntime tensorflow torch jax webnn", "whose length is 0"},
		// OpenVINO's path for short vectors of integers.
		{gather{op: "openvino.Gather-8", data: given("i64[5]"), indices: i64([]int{1}, 5)}, Error, "openvino onnxruntime tensorflow torch jax webnn", "whose length is 5: OpenVINO (a vector of up to 64 integers) reads other memory, ONNX Runtime"},
		{gather{op: "openvino.Gather-7", data: i64([]int{5}, 1, 2, 3, 4, 5), indices: i64([]int{1}, 5)}, Error, "openvino onnxruntime tensorflow torch jax webnn", "whose length is 5: OpenVINO (all operands constant) writes zeros, ONNX Runtime"},
		{gather{op: "tensorflow.batch_gather", data: given("f32[5,2]"), indices: i64([]int{5, 1}, 0, 1, 2, 0, 1)}, Error, "openvino tensorflow", "indices[2,0] = 2 is outside axis 1 of data, whose length is 2: OpenVINO writes zeros, TensorFlow reads a row of another batch"},
		{gather{op: "openvino.GatherElements-6", data: given("f32[5]"), indices: i64([]int{1}, 5)}, Error, "openvino onnxruntime torch jax", "OpenVINO refuses it; on one thread it stops there without an error"},
		// Computed from constants.
		{gather{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: counts(0, 6, 1)}, Error, "openvino onnxruntime tensorflow torch jax webnn", "computed from constants and reach 5, which is outside axis 0 of data, whose length is 5"},
		{gather{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: made("Add", "i64[5]", counts(0, 5, 1), i64(nil, 3))}, Error, "openvino onnxruntime tensorflow torch jax webnn", "reach 7, which"},
		{gather{op: "onnx.GatherND-13", data: given("f32[5,2]"), indices: made("Mul", "i64[2,2]", i64([]int{2, 2}, 0, 1, 4, 0), i64(nil, 2))}, Error, "openvino onnxruntime tensorflow webnn", "reach 8, which is outside axis 0 of data"},
		{gather{op: "openvino.Gather-8", data: compressed(), indices: i64([]int{1}, 5)}, Error, "openvino onnxruntime tensorflow torch jax webnn", "OpenVINO leaves the result's memory as it was, ONNX Runtime"},
		{bagOf("EmbeddingBagPackedSum-3", i64([]int{2, 2}, 0, 1, 5, 4)), Error, "openvino", "indices[1,0] = 5 is outside axis 0 of data, whose length is 5: OpenVINO refuses it; on one thread it stops there"},
		{bagOf("EmbeddingBagOffsets-15", counts(0, 6, 1), given("i64[1]")), Error, "openvino", "reach 5, which is outside axis 0 of data"},
		// Zeros are what the operator means.
		{blocks(i64([]int{2}, 4, 5), blockSize(16)), Note, "onnxruntime", "indices[1] = 5 is outside axis 0 of data, whose length is 5: ONNX Runtime writes zeros"},
		{blocks(i64([]int{2}, 31, 32), blockSize(16, "gather_axis", int64(-1))), Note, "onnxruntime", "indices[1] = 32 is outside axis 1 of data, whose length is 32: ONNX Runtime writes zeros"},
		{blocks(counts(0, 6, 1), blockSize(16)), Note, "onnxruntime", "reach 5, which is outside axis 0 of data, whose length is 5: ONNX Runtime writes zeros"},
	}, []gather{
		blocks(i64([]int{3}, 0, 4, -5), blockSize(16)),
		blocks(i64([]int{1}, 31), blockSize(16, "gather_axis", int64(1))),
		{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: made("Add", "i64[4]", counts(0, 4, 1), i64(nil, 1))},
		{op: "onnx.Gather-13", data: given("f32[?,2]"), indices: i64([]int{3}, 0, 1<<40, -6)},
		{op: "onnx.Gather-13", data: given("f32[...]"), indices: i64([]int{3}, 0, 1<<40, -6)},
		{op: "onnx.GatherND-13", data: given("f32[5,9]"), indices: i64([]int{1, 2}, 4, 8)},
		{op: "onnx.GatherND-13", data: given("f32[5,9]"), indices: i64([]int{2, 0})},
	}},
	{"L.3", []meets{
		{bagOf("EmbeddingBagOffsetsSum-3", given("i32[?]"), given("i32[3]")), Warning, "openvino", `the indices come from the input "in" and nothing bounds them; with one outside: OpenVINO refuses it; on one thread it stops there`},
		{bagOf("EmbeddingBagPacked-15", clip("i32[?,2]", 0, 5)), Warning, "openvino", "the indices may be 0 to 5, and axis 0 of data has 5"},
		{bagOf("EmbeddingSegmentsSum-3", clip("i32[?]", -1, 4), given("i32[?]"), i64(nil, 2)), Warning, "openvino", "the indices may be -1 to 4, and axis 0 of data has 5"},
		{gather{op: "onnx.GatherND-13", data: given("f32[5,2]"), indices: given("i64[?,2]")}, Warning, "openvino onnxruntime tensorflow webnn",
			`the indices come from the input "in" and nothing bounds them; with one outside: OpenVINO reads other memory`},
		{gather{op: "openvino.GatherND-8", data: given("f32[5,2]"), indices: made("Concat", "i64[?,2]", made("Add", "i64[?,1]", i64(nil, 1), given("i64[?,1]")), bounded("i64[?,1]"))},
			Warning, "openvino onnxruntime tensorflow webnn", "OpenVINO reads other memory"},
		// The second component is bounded, the first is not.
		{gather{op: "onnx.GatherND-13", data: given("f32[5,2]"), indices: with(made("Concat", "i64[?,2]", given("i64[?,1]"), bounded("i64[?,1]")), axis(-1))}, Warning, "openvino onnxruntime tensorflow webnn", `the input "in"`},
		{gather{op: "onnx.GatherND-13", data: given("f32[5,2]"), indices: clip("i64[?,2]", 0, 4)}, Warning, "openvino onnxruntime tensorflow webnn", "the indices may be 0 to 4, and axis 1 of data has 2"},
	}, []gather{
		bagOf("EmbeddingSegmentsSum-3", clip("i32[?]", 0, 4), given("i32[?]"), i64(nil, 2)),
		{op: "onnx.GatherND-13", data: given("f32[5,2]"), indices: bounded("i64[?,2]")},
		{op: "onnx.GatherND-13", data: given("f32[5,2]"), indices: made("Min", "i64[?,2]", made("Max", "i64[?,2]", given("i64[?,2]"), i64([]int{1}, 0)), i64([]int{2}, 4, 1))},
		{op: "onnx.GatherND-13", data: given("f32[2,5]"), indices: with(made("Concat", "i64[...]",
			with(made("Unsqueeze", "i64[...]", clip("i64[?]", 0, 1), i64([]int{1}, -1)), nil), made("Unsqueeze", "i64[...]", clip("i64[?]", 0, 4), i64([]int{1}, -1))), axis(-1))},
		{op: "onnx.GatherND-13", data: given("f32[?,?]"), indices: made("Transpose", "i64[?,2]", made("NonZero", "i64[2,?]", given("bool[?,?]")))},
		{op: "onnx.GatherND-13", data: given("f32[5,3]"), indices: made("Transpose", "i64[?,2]", made("NonZero", "i64[2,?]", given("bool[5,3]")))},
		{op: "onnx.GatherND-13", data: given("f32[5,2]"), indices: i64([]int{1, 1}, 0)},
		{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: given("i64[?]")}, // L.4
		{op: "onnx.GatherND-13", data: given("f32[5,2]"), indices: given("i64[?,0]")},
	}},
	{"L.4", []meets{
		{gather{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: made("Where", "i64[?]", given("bool[?]"), given("i64[?]"), i64(nil, 0))}, Note,
			"openvino onnxruntime tensorflow jax webnn torch", "OpenVINO writes zeros, ONNX Runtime refuses it"},
		{gather{op: "openvino.GatherElements-6", data: given("f32[5]"), indices: given("i32[2]"), attributes: axis(0)}, Note, "openvino onnxruntime torch jax", "OpenVINO refuses it"},
		{gather{op: "onnx.Gather-13", data: given("i64[5]"), indices: given("i64[?]")}, Note, "openvino onnxruntime tensorflow jax webnn torch", "OpenVINO (a vector of up to 64 integers) reads other memory, ONNX Runtime refuses it"},
		// What bounds nothing.
		{loose(made("CumSum", "i64[?]", given("i64[?]"), i64(nil, 0))), Note, everywhere, "nothing bounds them"},
		{loose(made("ReduceSum", "i64[?]", given("i64[?,?]"), i64([]int{1}, 1))), Note, everywhere, "nothing bounds them"},
		{loose(made("Abs", "i64[?]", given("i64[?]"))), Note, everywhere, "nothing bounds them"},
		{loose(made("Pad", "i64[?]", given("i64[?]"), i64([]int{2}, 1, 1))), Note, everywhere, "nothing bounds them"},
		{loose(made("Max", "i64[?]", given("i64[?]"), i64(nil, 0))), Note, everywhere, "nothing bounds them from above"},
		{loose(made("Min", "i64[?]", given("i64[?]"), i64(nil, 4))), Note, everywhere, "nothing bounds them from below"},
		{loose(made("Clip", "i64[?]", given("i64[?]"), i64(nil, 0))), Note, everywhere, "nothing bounds them from above"},
		// The greatest of no element is the type's least value.
		{loose(made("ReduceMax", "i64[]", clip("i64[0]", 0, 2))), Note, everywhere, "the indices may be -9223372036854776000 to -9223372036854776000, and axis 0 of data has 5"},
		{loose(made("ReduceMin", "i32[2]", clip("i32[2,0]", 0, 2), i64([]int{1}, -1))), Note, everywhere, "the indices may be 2147483647 to 2147483647"},
		{loose(made("MatMul", "i64[?]", given("i64[?]"), given("i64[?]"))), Note, everywhere, `the node "MatMul" (MatMul) and nothing bounds them`},
		// What bounds them further than the axis.
		{loose(clip("i64[?]", 0, 5)), Note, everywhere, "the indices may be 0 to 5, and axis 0 of data has 5; with one outside"},
		{loose(clip("i64[?]", -6, 4)), Note, everywhere, "the indices may be -6 to 4"},
		{loose(with(made("ArgMax", "i64[?]", given("f32[?,6]")), axis(1))), Note, everywhere, "may be 0 to 5"},
		{loose(made("Mod", "i64[?]", given("i64[?]"), i64(nil, 7))), Note, everywhere, "may be 0 to 6"},
		{loose(made("Add", "i64[?]", clip("i64[?]", 0, 4), i64(nil, 1))), Note, everywhere, "may be 1 to 5"},
		{loose(fromEnd(clip("i64[?]", -5, 5), 5)), Note, everywhere, "may be 0 to 5"},
		{loose(columnOf(1)), Note, everywhere, "may be 0 to 6"},
		{loose(given("u8[?]")), Note, everywhere, "nothing bounds them from above"},
		{loose(parameter("i64[?]", given("i64[?]"))), Note, everywhere, `the input "in"`},
		{gather{op: "openvino.Gather-8", data: compressed(), indices: given("i64[?]")}, Note, everywhere, "with one outside: OpenVINO leaves the result's memory as it was, ONNX Runtime"},
		{blocks(given("i64[?]"), blockSize(16)), Note, "onnxruntime", `the indices come from the input "in" and nothing bounds them; with one outside: ONNX Runtime writes zeros`},
		{blocks(clip("i64[?]", -5, 5), blockSize(16)), Note, "onnxruntime", "the indices may be -5 to 5, and axis 0 of data has 5"},
		// What is decoded is none of the codes.
		{loose(made("Cast", "i64[?,?]", decoded())), Note, everywhere, "nothing bounds them"},
	}, []gather{
		bagOf("EmbeddingBagOffsetsSum-3", given("i32[?]"), given("i32[3]")), // L.3
		loose(made("ReduceMax", "i64[]", clip("i64[?]", 0, 2))),             // as long as a run has an element
		loose(made("ReduceMin", "i64[0]", clip("i64[0]", 0, 2))),
		loose(clip("i64[?]", 0, 4)), loose(clip("i64[?]", -5, 4)),
		blocks(clip("i64[?]", -5, 4), blockSize(16)),
		blocks(clip("i64[?]", 0, 31), blockSize(16, "gather_axis", int64(1))),
		loose(made("Mod", "i64[?]", given("i64[?]"), i64(nil, 5))),
		loose(with(made("ArgMax", "i64[?]", given("f32[?,5]")), axis(1))),
		loose(made("Min", "i64[?]", made("Max", "i64[?]", given("i64[?]"), i64(nil, 0)), i64(nil, 4))),
		loose(made("Cast", "i64[?]", made("Floor", "f32[?]", made("Clip", "f32[?]", given("f32[?]"), held(garner.Of([]float32{0})), held(garner.Of([]float32{4.5})))))),
		loose(made("Div", "i64[?]", clip("i64[?]", 0, 9), i64(nil, 2))),
		loose(given("u2[?]")),
		loose(fromEnd(with(made("ArgMax", "i64[?]", given("f32[?,5]")), axis(1)), 5)),
		loose(fromEnd(clip("i64[?]", -5, 4), 5)),
		// A column of positions in a matrix of seven columns.
		loose(with(made("Squeeze", "i64[?]", part("Slice", i64([]int{1}, 0), i64([]int{1}, 1), i64([]int{1}, 1)), i64([]int{1}, 1)), nil)),
		loose(columnOf(0)),
		loose(parameter("i64[?]", clip("i64[?]", 0, 4))),
		// A length of the same model bounds them.
		{op: "onnx.Gather-13", data: given("f32[?,2]"), indices: made("Clip", "i64[?]", given("i64[?]"), i64(nil, 0), made("Sub", "i64[]", lengthOfInput(), i64(nil, 1)))},
		{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: made("ArgMax", "i64[?]", given("f32[?,5]"))},
		{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: made("Where", "i64[?]", given("bool[?]"), i64(nil, 1), i64(nil, 0))}, // indices come from the constants; the input is the condition
		{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: made("Shape", "i64[2]", given("f32[?,5]"))},
		{op: "onnx.GatherND-13", data: given("f32[5,2]"), indices: given("i64[?,1]")}, // L.3
	}},
	{"L.5", []meets{
		{gather{op: "openvino.GatherND-5", data: given("f32[2,3,4]"), indices: bounded("i64[2,3,1]"), attributes: batch(2)}, Error, "openvino onnxruntime tensorflow",
			"batch_dims is 2: OpenVINO multiplies the batch dims into one, ONNX Runtime keeps every batch dim"},
	}, []gather{
		{op: "openvino.GatherND-5", data: given("f32[2,3,4]"), indices: bounded("i64[2,3,1]"), attributes: batch(1)},
		{op: "openvino.GatherND-8", data: given("f32[2,3,4]"), indices: bounded("i64[2,3,1]"), attributes: batch(2)},
	}},
	{"L.6", []meets{
		{gather{op: "onnx.GatherND-13", data: given("f32[1,3]"), indices: bounded("i64[4,1]"), attributes: batch(1)}, Error, "openvino onnxruntime tensorflow",
			"batch dim 0 is 1 in data and 4 in the indices: OpenVINO (reading ONNX) stretches data's batch dim of 1, ONNX Runtime stretches data's batch dim of 1, TensorFlow refuses it"},
		{gather{op: "openvino.GatherND-8", data: given("f32[1,3]"), indices: bounded("i64[4,1]"), attributes: batch(1)}, Error, "openvino onnxruntime tensorflow", "OpenVINO refuses it, ONNX Runtime stretches"},
		{gather{op: "onnx.GatherND-13", data: given("f32[2,1,3]"), indices: bounded("i64[2,4,1]"), attributes: batch(2)}, Error, "openvino onnxruntime tensorflow",
			"batch dim 1 is 1 in data and 4 in the indices: OpenVINO (reading ONNX) stretches data's batch dim of 1, ONNX Runtime stretches"},
		{gather{op: "onnx.GatherND-13", data: given("f32[1,2,3]"), indices: bounded("i64[4,2,1]"), attributes: batch(2)}, Error, "openvino onnxruntime tensorflow",
			"OpenVINO (reading ONNX) stretches data's batch dim of 1, ONNX Runtime takes each batch of data for as many batches of the indices in a row"},
		{gather{op: "onnx.GatherND-13", data: given("f32[2,3]"), indices: bounded("i64[4,1]"), attributes: batch(1)}, Error, "openvino onnxruntime tensorflow",
			"batch dim 0 is 2 in data and 4 in the indices: OpenVINO refuses it, ONNX Runtime takes each batch"},
		{gather{op: "onnx.GatherND-13", data: given("f32[2,4,3]"), indices: bounded("i64[4,2,1]"), attributes: batch(2)}, Error, "openvino onnxruntime tensorflow", "OpenVINO refuses it, ONNX Runtime takes each"},
	}, []gather{
		{op: "onnx.GatherND-13", data: given("f32[4,3]"), indices: bounded("i64[4,1]"), attributes: batch(1)},
		{op: "onnx.GatherND-13", data: given("f32[3,3]"), indices: bounded("i64[4,1]"), attributes: batch(1)}, // L.24
		{op: "onnx.GatherND-13", data: given("f32[4,3]"), indices: bounded("i64[1,1]"), attributes: batch(1)}, // L.24
		{op: "onnx.GatherND-13", data: given("f32[?,3]"), indices: bounded("i64[4,1]"), attributes: batch(1)},
		{op: "onnx.GatherND-13", data: given("f32[1,3]"), indices: bounded("i64[4,1]")},
	}},
	{"L.7", []meets{
		{gather{op: "openvino.Gather-8", data: given("f32[2,?,3]"), indices: bounded("i64[2,4,1]"), axis: i64(nil, 2), attributes: batch(2)}, Warning, "openvino",
			"batch dim 1 is ? in data and 4 in the indices; where they differ: OpenVINO (dynamic dimensions) reads other memory"},
		{gather{op: "openvino.Gather-7", data: given("f32[...]"), indices: bounded("i64[2,4]"), axis: i64(nil, 1), attributes: batch(-1)}, Warning, "openvino", "the batch dims are not known"},
	}, []gather{
		{op: "openvino.Gather-8", data: given("f32[2,4,3]"), indices: bounded("i64[2,4,?]"), axis: i64(nil, 2), attributes: batch(2)},
		{op: "openvino.Gather-8", data: given("f32[?,4,3]"), indices: bounded("i64[2,4,?]")},
	}},
	{"L.8", []meets{
		{gather{op: "onnx.GatherND-13", data: given("f32[...]"), indices: bounded("i64[2,1]"), attributes: batch(1)}, Note, "tensorflow",
			"batch_dims is 1 and the rank of data is not known: TensorFlow (unknown shapes) refuses it"},
	}, []gather{
		{op: "openvino.GatherND-8", data: given("f32[?,?]"), indices: bounded("i64[...]"), attributes: batch(1)}, // TensorFlow takes it
		{op: "onnx.GatherND-13", data: given("f32[?,?]"), indices: bounded("i64[?,1]"), attributes: batch(1)},
		{op: "onnx.GatherND-13", data: given("f32[...]"), indices: bounded("i64[2,1]")},
	}},
	{"L.9", []meets{
		{gather{op: "com.microsoft.GatherND-1", data: given("f32[2,2]"), indices: bounded("i64[2,1]"), attributes: batch(1)}, Error, "onnxruntime", "batch_dims is 1: ONNX Runtime refuses it"},
	}, []gather{
		{op: "com.microsoft.GatherND-1", data: given("f32[2,2]"), indices: bounded("i64[2,1]")},
		{op: "onnx.GatherND-13", data: given("f32[2,2]"), indices: bounded("i64[2,1]"), attributes: batch(1)},
	}},
	{"L.10", []meets{
		{gather{op: "onnx.Gather-13", data: i64([]int{3}, 1, math.MinInt32, math.MaxInt32+1), indices: bounded("i64[1]")}, Error, "openvino",
			`element 2 of the constant "c" is 2147483648, which 32 bits do not hold: OpenVINO computes it in 32 bits`},
		{gather{op: "openvino.GatherND-5", data: held(garner.Of([]uint64{1, 1 << 31}, 2)), indices: bounded("i64[1,1]")}, Error, "openvino", "element 1"},
		{gather{op: "openvino.GatherElements-6", data: held(garner.Of([]float64{0.5, 0.1}, 2)), indices: bounded("i64[1]")}, Error, "openvino", "is 0.1, which"},
	}, []gather{
		{op: "onnx.Gather-13", data: i64([]int{3}, 1, math.MinInt32, math.MaxInt32), indices: bounded("i64[1]")},
		{op: "onnx.Gather-13", data: held(garner.Of([]float64{0.5, math.NaN(), math.Inf(1)}, 3)), indices: bounded("i64[1]")},
		{op: "onnx.Gather-13", data: held(garner.Of([]float32{0.1}, 1)), indices: bounded("i64[1]")},
		{op: "onnx.Gather-13", data: given("i64[3]"), indices: bounded("i64[1]")},
	}},
	{"L.11", []meets{
		{gather{op: "onnx.Gather-13", data: given("f64[3]"), indices: bounded("i64[1]")}, Warning, "openvino", "data is f64[3]: OpenVINO computes it in 32 bits"},
	}, []gather{
		{op: "onnx.Gather-13", data: given("f32[3]"), indices: bounded("i64[1]")},
		{op: "onnx.Gather-13", data: held(garner.Of([]float64{0.1}, 1)), indices: bounded("i64[1]")}, // L.10
	}},
	{"L.12", []meets{
		{gather{op: "onnx.Gather-13", data: given("i64[3]"), indices: bounded("i64[1]")}, Note, "openvino", "data is i64[3]: OpenVINO computes it in 32 bits"},
		{gather{op: "openvino.GatherND-8", data: made("TopK", "u64[3]", given("u64[9]")), indices: bounded("i64[1,1]")}, Note, "openvino", "data is u64[3]"},
	}, []gather{
		{op: "onnx.Gather-13", data: made("Shape", "i64[3]", given("f32[?,?,?]")), indices: bounded("i64[1]")},
		{op: "onnx.Gather-13", data: made("Concat", "i64[4]", made("Shape", "i64[3]", given("f32[?,?,?]")), i64([]int{1}, 2)), indices: bounded("i64[1]")},
		{op: "onnx.Gather-13", data: given("i32[3]"), indices: bounded("i64[1]")},
	}},
	{"L.13", []meets{
		{gather{op: "onnx.GatherND-13", data: given("f32[1,1,1,1,1,1,1,1]"), indices: bounded("i64[2,8]")}, Note, "tensorflow", "tuples have 8 components: TensorFlow refuses it"},
		{gather{op: "onnx.GatherND-13", data: given("f32[2,1,1,1,1,1,1,1]"), indices: bounded("i64[2,7]"), attributes: batch(1)}, Note, "tensorflow", "7 components, with 1 batch dims"},
	}, []gather{
		{op: "onnx.GatherND-13", data: given("f32[1,1,1,1,1,1,1,1]"), indices: bounded("i64[2,7]")},
		{op: "onnx.GatherND-13", data: given("f32[1,1,1,1,1,1,1,1]"), indices: bounded("i64[2,?]")},
	}},
	{"L.14", []meets{
		{gather{op: "onnx.GatherND-13", data: given("string[4]"), indices: bounded("i64[2,1]")}, Error, "openvino", "data is string: OpenVINO refuses it"},
		{gather{op: "onnx.Gather-13", data: given("i4[4]"), indices: bounded("i64[2]")}, Error, "onnxruntime tensorflow", "data is i4: ONNX Runtime refuses it, TensorFlow refuses it"},
		{gather{op: "openvino.Gather-8", data: given("i4[4]"), indices: bounded("i64[2]")}, Note, "onnxruntime tensorflow", "data is i4"},
		{gather{op: "openvino.Gather-7", data: given("u1[4]"), indices: bounded("i64[2]")}, Error, "openvino", "OpenVINO refuses"},
		{gather{op: "onnx.GatherElements-11", data: given("bf16[4]"), indices: bounded("i64[2]")}, Error, "onnxruntime", "data is bf16"},
	}, []gather{
		{op: "onnx.GatherElements-13", data: given("bf16[4]"), indices: bounded("i64[2]")},
		{op: "onnx.Gather-13", data: given("string[4]"), indices: bounded("i64[2]")},
		{op: "onnx.Gather-13", data: &model.Value{Name: "in", Spec: model.Unknown}, indices: bounded("i64[2]")},
	}},
	{"L.15", []meets{
		{gather{op: "openvino.Gather-8", data: given("u2[4]"), indices: bounded("i64[2]")}, Error, "openvino", "data is u2: OpenVINO reads the wrong elements"},
		{gather{op: "openvino.GatherND-8", data: given("f4e2m1[4]"), indices: bounded("i64[2,1]")}, Error, "openvino", "data is f4e2m1"},
	}, []gather{{op: "openvino.Gather-8", data: given("u4[4]"), indices: bounded("i64[2]")}}},
	{"L.16", []meets{
		{gather{op: "onnx.GatherND-13", data: given("f32[4]"), indices: bounded("i32[2,1]")}, Error, "onnxruntime", "the indices are i32: ONNX Runtime refuses it"},
		{gather{op: "openvino.Gather-8", data: given("f32[4]"), indices: bounded("u8[2]")}, Note, "onnxruntime tensorflow torch", "the indices are u8"},
	}, []gather{
		{op: "onnx.GatherND-13", data: given("f32[4]"), indices: bounded("i64[2,1]")},
		{op: "onnx.Gather-13", data: given("f32[4]"), indices: bounded("i32[2]")},
	}},
	{"L.17", []meets{
		{gather{op: "onnx.Gather-13", data: given("string[3,4]"), indices: bounded("i64[2]"), attributes: axis(0)}, Error, "onnxruntime",
			"data is string[3,4], and a slice of it may have several strings: ONNX Runtime loses every string of a slice but the first"},
		{gather{op: "onnx.Gather-13", data: given("string[3,?]"), indices: bounded("i64[2]"), attributes: axis(-2)}, Error, "onnxruntime", "string[3,?]"},
	}, []gather{
		{op: "onnx.Gather-13", data: given("string[3,4]"), indices: bounded("i64[2]"), attributes: axis(-1)},
		{op: "onnx.Gather-13", data: given("string[3,1]"), indices: bounded("i64[2]")},
		{op: "onnx.GatherND-13", data: given("string[3,4]"), indices: bounded("i64[2,1]")},
	}},
	{"L.18", []meets{
		{gather{op: "onnx.GatherND-13", data: given("f32[3,4]"), indices: bounded("i64[2,0]")}, Error, "openvino", "the indices are i64[2,0], whose tuples have no component: OpenVINO leaves the result's memory as it was"},
	}, []gather{
		{op: "onnx.GatherND-13", data: given("f32[3,4]"), indices: bounded("i64[2,?]")},
		{op: "onnx.GatherND-13", data: given("f32[]"), indices: bounded("i64[2,0]")}, // L.25
		{op: "onnx.GatherND-13", data: given("f32[3,4]"), indices: i64([]int{2, 0})}, // L.32
		{op: "onnx.Gather-13", data: given("f32[3,4]"), indices: bounded("i64[2,0]")},
	}},
	{"L.19", []meets{
		{gather{op: "onnx.Gather-13", data: given("f32[3,4]"), indices: bounded("i64[0]")}, Error, "openvino", "so that the result has no element: OpenVINO ends the process"},
		{gather{op: "openvino.Gather-8", data: given("f32[3,4]"), indices: i64([]int{0})}, Error, "openvino", "so that the result has no element"},
		{gather{op: "openvino.Gather-8", data: given("f32[1,0,3]"), indices: bounded("i64[2,1]"), axis: i64(nil, 2), attributes: batch(0)}, Error, "openvino", "f32[1,0,3]"},
		{gather{op: "openvino.Gather-7", data: given("f32[2,3]"), indices: bounded("i64[2,0]"), axis: i64(nil, 1), attributes: batch(1)}, Error, "openvino", "i64[2,0]"},
		{gather{op: "openvino.Gather-1", data: given("f32[3,0]"), indices: bounded("i64[2]")}, Error, "openvino", "f32[3,0]"},
	}, []gather{
		{op: "onnx.Gather-13", data: given("f32[3,?]"), indices: i64([]int{0})},
		{op: "onnx.Gather-13", data: given("f32[3,4]"), indices: i64([]int{0})}, // L.32
		{op: "onnx.Gather-13", data: given("f32[1,0,3]"), indices: made("Sub", "i64[]", i64(nil, 1), i64(nil, 1))},
		{op: "openvino.Gather-8", data: i64([]int{3, 0}), indices: i64([]int{2}, 0, 1)},
		{op: "openvino.Gather-8", data: i64([]int{4, 1, 0}), indices: given("i64[1]"), axis: i64(nil, 1)},
		{op: "openvino.Gather-8", data: given("f32[2,1,0]"), indices: i64([]int{2}, 0, 0), axis: i64(nil, 1), attributes: batch(1)},
		{op: "openvino.Gather-8", data: given("f32[0,3]"), indices: bounded("i64[0,2]"), axis: i64(nil, 1), attributes: batch(1)},
		{op: "onnx.Gather-13", data: given("f32[3,4]"), indices: bounded("i64[2]")},
	}},
	{"L.20", []meets{
		{gather{op: "openvino.Gather-8", data: given("f32[3,4]"), indices: bounded("i64[2]"), axis: given("i64[]")}, Error, "openvino", "the axis is in i64[], which is no constant: OpenVINO refuses it"},
	}, []gather{
		{op: "openvino.Gather-8", data: given("f32[3,4]"), indices: bounded("i64[2]"), axis: i64(nil, 1)},
		{op: "openvino.Gather-8", data: given("f32[3,?]"), indices: bounded("i64[2]"), axis: given("i64[]")},
		{op: "onnx.Gather-13", data: given("f32[3,4]"), indices: bounded("i64[2]")},
	}},
	{"L.21", []meets{
		{gather{op: "onnx.GatherElements-13", data: given("f32[3,4]"), indices: bounded("i64[2,2]"), attributes: axis(0)}, Error, "openvino jax",
			"dim 1 is 4 in data and 2 in the indices: OpenVINO refuses it, JAX refuses it"},
		{gather{op: "onnx.GatherElements-13", data: dims(given("f32[?,?]"), "n", "d"), indices: dims(bounded("i64[?,?]"), "k", "e"), attributes: axis(0)}, Warning, "openvino jax",
			"dim 1 is d in data and e in the indices; where they differ: OpenVINO refuses it"},
		{gather{op: "onnx.GatherElements-13", data: dims(given("f32[?,?]"), "n", "d"), indices: bounded("i64[?,2]"), attributes: axis(0)}, Warning, "openvino jax", "dim 1 is d in data and 2 in the indices"},
	}, []gather{
		{op: "onnx.GatherElements-13", data: dims(given("f32[?,?]"), "n", "d"), indices: dims(bounded("i64[?,?]"), "k", "d"), attributes: axis(0)},
		{op: "onnx.GatherElements-13", data: dims(given("f32[?,?]"), "n", "d"), indices: bounded("i64[?,?]"), attributes: axis(0)},
		{op: "onnx.GatherElements-13", data: given("f32[3,4]"), indices: bounded("i64[2,4]"), attributes: axis(0)},
		{op: "onnx.GatherElements-13", data: given("f32[3,?]"), indices: bounded("i64[2,2]"), attributes: axis(0)},
	}},
	{"L.22", []meets{
		{gather{op: "onnx.Gather-13", data: huge("f32[262144,8960]"), indices: bounded("i64[1]")}, Warning, "onnxruntime", "data is f32[262144,8960], 2348810240 elements: ONNX Runtime (CUDA) reads other memory"},
		{gather{op: "openvino.GatherND-8", data: given("u8[65536,32768]"), indices: bounded("i32[1,1]")}, Note, "tensorflow", "2147483648 elements"},
	}, []gather{
		{op: "onnx.Gather-13", data: huge("f32[65535,32768]"), indices: bounded("i64[1]")},
		{op: "openvino.GatherND-8", data: given("u8[65536,32768]"), indices: bounded("i64[1,1]")},
	}},
	{"L.23", []meets{
		{gather{op: "openvino.Gather-8", data: huge("f32[65536,8192]"), indices: bounded("i64[1]")}, Note, "onnxruntime", `the constant "huge" is f32[65536,8192], 2147483648 bytes`},
	}, []gather{
		{op: "onnx.Gather-13", data: huge("f32[65536,8192]"), indices: bounded("i64[1]")}, // an ONNX model already
		{op: "openvino.Gather-8", data: huge("f32[65536,8191]"), indices: bounded("i64[1]")},
		{op: "openvino.Gather-8", data: given("f32[65536,8192]"), indices: bounded("i64[1]")},
	}},
	{"L.24", []meets{
		{gather{op: "onnx.Gather-13", data: given("f32[3,4]"), indices: bounded("i64[2]"), attributes: axis(2)}, Error, "openvino onnxruntime", "axis"},
		{gather{op: "onnx.GatherND-13", data: given("f32[3,4]"), indices: bounded("i64[2,3]")}, Error, "openvino onnxruntime", "OpenVINO refuses it, ONNX Runtime refuses it"},
		{blocks(bounded("i64[2]"), blockSize(24)), Error, "onnxruntime", "block_size 24"},
		{blocks(bounded("i64[2]"), blockSize(32)), Error, "onnxruntime", "scales f32[5,2] have 2 along axis 1"},
		{blocks(bounded("i64[2]"), blockSize(16, "gather_axis", int64(2))), Error, "onnxruntime", "axis 2 of data"},
		{gather{op: "onnx.GatherND-13", data: given("f32[4,3]"), indices: bounded("i64[1,1]"), attributes: batch(1)}, Error, "openvino onnxruntime", "batch"},
		{gather{op: "onnx.GatherND-12", data: given("f32[3]"), indices: bounded("i64[0]"), attributes: batch(-1)}, Error, "openvino onnxruntime", "batch_dims -1 of data f32[3] and indices i64[0]; it may be 0…0: "},
		{gather{op: "onnx.GatherND-13", data: given("f32[3,2]"), indices: bounded("i64[2,1]"), attributes: batch(-2147483592)}, Error, "openvino onnxruntime", "ONNX Runtime refuses it, ONNX Runtime ends the process"},
		{gather{op: "onnx.GatherND-13", data: given("f32[4,3]"), indices: bounded("i64[2,1]"), attributes: batch(1)}, Error, "openvino onnxruntime", "f32[4,3]"},
		{gather{op: "onnx.GatherND-11", data: given("f32[4,3]"), indices: bounded("i64[4,1]"), attributes: batch(1)}, Error, "openvino onnxruntime", "has no attribute batch_dims"},
		{gather{op: "onnx.Gather-13", data: given("f32[4,3]")}, Error, "openvino onnxruntime", "lacks one of its inputs"},
		{gather{op: "onnx.Gather-13", data: given("f32[4,3]"), indices: bounded("f32[2]")}, Error, "openvino onnxruntime", "f32"},
	}, []gather{
		{op: "onnx.Gather-13", data: given("f32[3,4]"), indices: bounded("i64[2]"), attributes: axis(-2)},
		{op: "onnx.Gather-13", data: &model.Value{Name: "a", Spec: model.Unknown}, indices: &model.Value{Name: "b", Spec: model.Unknown}},
		{op: "onnx.GatherND-13", data: given("f32[1,3]"), indices: bounded("i64[4,1]"), attributes: batch(1)}, // L.6
		{op: "onnx.GatherND-13", data: given("f32[]"), indices: bounded("i64[4,0]")},                          // L.25
		{op: "openvino.Gather-8", data: given("f32[2,3]"), indices: bounded("i64[2,2]"), axis: i64(nil, 1), attributes: batch(-3)},
		// Sizes beyond an int of 32 bits.
		{op: "onnx.Gather-13", data: huge("f32[262144,89600]"), indices: bounded("i64[70000]")},
		{op: "onnx.GatherND-13", data: huge("f32[262144,8960,3]"), indices: bounded("i64[262144,1]"), attributes: batch(1)},
		{op: "onnx.GatherElements-13", data: huge("f32[262144,89600]"), indices: bounded("i64[262144,3]"), attributes: axis(1)},
	}},
	{"L.25", []meets{
		{gather{op: "onnx.GatherND-13", data: given("f32[]"), indices: bounded("i64[4,0]")}, Error, "openvino onnxruntime tensorflow",
			"data is f32[] and the indices are i64[4,0]: OpenVINO refuses it, ONNX Runtime refuses it, ONNX Runtime (data of open rank) repeats it, TensorFlow refuses it"},
	}, []gather{
		{op: "onnx.GatherND-13", data: given("f32[]"), indices: bounded("i64[4,1]")}, // L.24
		{op: "onnx.GatherND-13", data: given("f32[3]"), indices: bounded("i64[4,0]")},
		{op: "onnx.GatherND-13", data: given("f32[]"), indices: bounded("i64[0]"), attributes: batch(-1)}, // L.24
	}},
	{"L.26", []meets{
		{gather{op: "openvino.Gather-8", data: given("f32[2,3]"), indices: bounded("i64[2,2]"), axis: i64(nil, 1), attributes: batch(-3)}, Error, "openvino tensorflow",
			"batch_dims is -3 and the indices are i64[2,2]: OpenVINO reads other memory, TensorFlow refuses it"},
	}, []gather{
		{op: "openvino.Gather-8", data: given("f32[2,3]"), indices: bounded("i64[2,2]"), axis: i64(nil, 1), attributes: batch(-2)},
		{op: "openvino.Gather-8", data: given("f32[2,3]"), indices: bounded("i64[...]"), axis: i64(nil, 1), attributes: batch(-3)},
	}},
	{"L.27", []meets{
		{loose(made("Range", "i64[?]", i64(nil, 0), lengthOfInput(), i64(nil, 1))), Warning, everywhere,
			"the indices are counted up to a length that only a run knows, and axis 0 of data has 5; with one more: OpenVINO writes zeros, ONNX Runtime (default level) gives only the rows that there are, ONNX Runtime (no optimisation) refuses it"},
		{loose(made("Add", "i64[?]", made("Range", "i64[?]", i64(nil, 0), lengthOfInput(), i64(nil, 1)), i64(nil, 2))), Warning, everywhere, "OpenVINO writes zeros, ONNX Runtime refuses it"},
		{loose(made("Unsqueeze", "i64[1,?]", made("Range", "i64[?]", i64(nil, 0), lengthOfInput(), i64(nil, 1)), i64([]int{1}, 0))), Warning, everywhere, "counted up to"},
		{loose(made("CumSum", "i64[?,?]", made("Expand", "i64[?,?]", i64(nil, 1), made("Shape", "i64[2]", given("i64[?,?]"))), i64(nil, 1))), Warning, everywhere, "counted up to"},
		{loose(made("NonZero", "i64[1,?]", with(made("ConstantOfShape", "i64[?]", made("Shape", "i64[1]", given("i64[?]"))), map[string]any{"value": i64([]int{1}, 1).Constant}))), Warning, everywhere, "counted up to"},
	}, []gather{
		loose(made("NonZero", "i64[1,?]", given("bool[?]"))),
		loose(made("Range", "i64[?]", i64(nil, 0), i64(nil, 5), i64(nil, 1))),
		loose(made("Min", "i64[?]", made("Range", "i64[?]", i64(nil, 0), lengthOfInput(), i64(nil, 1)), i64(nil, 4))),
		{op: "onnx.Gather-13", data: given("f32[?,2]"), indices: made("Range", "i64[?]", i64(nil, 0), lengthOfInput(), i64(nil, 1))},
		loose(made("ArgMax", "i64[?]", given("f32[?,?]"))),
	}},
	{"L.31", []meets{
		{flipped(made("Add", "i64[]", lengthOfInput(), i64(nil, -1)), i64(nil, -1), i64(nil, -1)), Error, "onnxruntime",
			"the indices are a Range of which one end is below 0"},
		{flipped(made("Neg", "i64[]", lengthOfInput()), i64(nil, 0), i64(nil, 1)), Error, "onnxruntime", "of which one end is below 0 and the other is not: ONNX Runtime (default level) takes a slice whose end counts from the end"},
	}, []gather{
		flipped(i64(nil, 0), lengthOfInput(), i64(nil, 1)),
		flipped(i64(nil, 4), i64(nil, -1), i64(nil, -1)),     // folded
		flipped(given("i64[]"), given("i64[]"), i64(nil, 1)), // L.4
		{op: "onnx.Gather-13", data: given("f32[?,2]"), indices: made("Clip", "i64[?]", made("Range", "i64[?]", lengthOfInput(), i64(nil, -1), i64(nil, -1)), i64(nil, 0), i64(nil, 9))},
	}},
	{"L.28", []meets{
		{gather{op: "onnx.GatherND-13", data: given("f32[5,2]"), indices: made("Cast", "i64[...]", given("i32[...]"))}, Error, "openvino", "the rank of the indices is not known: OpenVINO refuses it"},
		{gather{op: "openvino.GatherND-8", data: given("f32[...]"), indices: bounded("i64[?,2]")}, Error, "openvino", "the rank of data is not known"},
		{gather{op: "onnx.GatherND-13", data: given("f32[5,2]"), indices: given("i64[?,?]")}, Error, "openvino", "the indices are i64[?,?], so that the length of a tuple is not known"},
		{gather{op: "onnx.GatherND-13", data: given("f32[5,2]"), indices: made("Cast", "i64[...]", made("Reshape", "i32[...]", given("i32[?]"), given("i64[?]")))}, Error, "openvino", "the rank of the indices is not known"},
		{gather{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: given("i64[...]")}, Error, "openvino", "the rank of the indices is not known: OpenVINO refuses it"},
		{gather{op: "openvino.Gather-1", data: given("f32[...]"), indices: bounded("i64[2]")}, Error, "openvino", "the rank of data is not known: OpenVINO refuses it"},
		{gather{op: "openvino.Gather-7", data: given("f32[...]"), indices: bounded("i64[2]")}, Error, "openvino", "the rank of data"},
		{gather{op: "onnx.GatherElements-13", data: given("f32[5,2]"), indices: given("i64[...]")}, Error, "openvino", "the rank of the indices"},
		{gather{op: "onnx.GatherElements-13", data: given("f32[...]"), indices: bounded("i64[2,2]")}, Error, "openvino", "the rank of data"},
		{gather{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: made("Reshape", "i64[...]", given("i64[?]"), given("i64[?]"))}, Error, "openvino", "the rank of the indices"},
		{gather{op: "onnx.Gather-13", data: parameter("f32[...]", made("Relu", "f32[...]", given("f32[...]"))), indices: bounded("i64[2]")}, Error, "openvino", "the rank of data"},
		{gather{op: "onnx.GatherND-13", data: given("f32[5,2]"), indices: clip("i64[?,?]", 0, 1)}, Error, "openvino", "the indices are i64[?,?], so that the length of a tuple is not known"},
		{gather{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: made("Tile", "i64[...]", bounded("i64[2]"), given("i64[?]"))}, Error, "openvino", "the rank of the indices"},
		{blocks(made("Cast", "i64[...]", given("i32[...]")), blockSize(16)), Error, "openvino", "the rank of the indices is not known: OpenVINO refuses it"},
		{gather{op: "openvino.EmbeddingBagOffsetsSum-3", data: given("f32[...]"), indices: bounded("i64[2]"), further: []*model.Value{i64([]int{1}, 0)}}, Error, "openvino", "the rank of data is not known: OpenVINO refuses it"},
		// An input that no gather reads.
		{gather{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: made("Reshape", "i64[1]", given("i64[...]"), i64([]int{1}, 1))}, Error, "openvino", `the rank of the input "in" of the model is not known`},
	}, []gather{
		{op: "onnx.GatherND-13", data: given("f32[5,2]"), indices: made("Unsqueeze", "i64[...]", given("i64[?]"), i64([]int{1}, 1))}, // OpenVINO infers it
		{op: "onnx.GatherND-13", data: given("f32[5,2]"), indices: made("Reshape", "i64[...]", given("i64[?]"), given("i64[2]"))},
		{op: "onnx.GatherND-13", data: given("f32[5,2]"), indices: given("i64[?,2]")},
		{op: "onnx.GatherND-13", data: given("f32[5,2]"), indices: made("Transpose", "i64[?,?]", given("i64[2,?]"))}, // OpenVINO infers more than the file says
		{op: "onnx.Gather-13", data: given("f32[?,?]"), indices: given("i64[?,?]")},
		{op: "onnx.GatherElements-13", data: given("f32[?,?]"), indices: made("Relu", "i64[...]", given("i64[?,?]"))},
	}},
	{"L.29", []meets{
		{gather{op: "openvino.Gather-8", data: given("f32[1,2]"), indices: bounded("i64[1,2]"), axis: i64(nil, 1), attributes: batch(1)}, Error, "openvino",
			"batch_dims is 1 and the axis is 1, data is f32[1,2] and the indices are i64[1,2]: OpenVINO (static dims) ends the process"},
		{gather{op: "openvino.Gather-7", data: given("f32[1,1,3,4]"), indices: bounded("i64[1,1,2]"), axis: i64(nil, 2), attributes: batch(-1)}, Error, "openvino", "batch_dims is 2 and the axis is 2"},
		{gather{op: "openvino.Gather-7", data: given("f32[1,1,2]"), indices: bounded("i64[1,2]"), axis: i64(nil, 2), attributes: batch(1)}, Error, "openvino", "batch_dims is 1 and the axis is 2"},
	}, []gather{
		{op: "openvino.Gather-8", data: given("f32[?,2]"), indices: bounded("i64[1,2]"), axis: i64(nil, 1), attributes: batch(1)},
		{op: "openvino.Gather-8", data: given("f32[2,2]"), indices: bounded("i64[2,2]"), axis: i64(nil, 1), attributes: batch(1)},
		{op: "openvino.Gather-8", data: given("f32[1,2,3]"), indices: bounded("i64[1,2]"), axis: i64(nil, 2), attributes: batch(1)},
		{op: "openvino.Gather-8", data: given("f32[1,1,2]"), indices: i64([]int{1}, 0), axis: i64(nil, 1), attributes: batch(1)},
	}},
	{"L.32", []meets{
		{gather{op: "onnx.Gather-13", data: given("f32[3,4]"), indices: i64([]int{0})}, Error, "openvino",
			"the indices are i64[0], a constant without elements: OpenVINO (reading ONNX) makes a scalar 0 of it, and gives elements where there are none"},
		{gather{op: "onnx.Gather-13", data: i64([]int{3, 0}), indices: bounded("i64[2]")}, Error, "openvino", "data is i64[3,0], a constant without elements: OpenVINO (reading ONNX) refuses it"},
		{gather{op: "onnx.Gather-13", data: given("f32[3,4]"), indices: made("Cast", "i64[0]", held(garner.Of([]int32{}, 0)))}, Error, "openvino", "gives elements where there are none"},
		{gather{op: "onnx.GatherND-13", data: given("f32[3,4]"), indices: i64([]int{2, 0})}, Error, "openvino", "refuses it"},
		{gather{op: "onnx.Gather-13", data: given("f32[3,4]"), indices: made("Reshape", "i64[0,3]", i64([]int{0}), i64([]int{2}, 0, 3))}, Error, "openvino", "a constant without elements: OpenVINO (reading ONNX) refuses it"},
		{gather{op: "onnx.GatherND-13", data: given("f32[3,4]"), indices: made("Add", "i64[2,0]", i64([]int{2, 0}), i64(nil, 1))}, Error, "openvino", "the indices are i64[2,0], computed from a constant without elements: OpenVINO (reading ONNX) refuses it"},
		{gather{op: "onnx.Gather-13", data: made("Mul", "i64[3,0]", i64([]int{3, 0}), i64(nil, 2)), indices: bounded("i64[2]")}, Error, "openvino", "data is i64[3,0], computed from a constant without elements: OpenVINO (reading ONNX) refuses it"},
		{gather{op: "onnx.GatherElements-13", data: given("f32[3,4]"), indices: made("Identity", "i64[0,4]", i64([]int{0, 4}))}, Error, "openvino", "the indices are i64[0,4], a constant without elements: OpenVINO (reading ONNX) refuses it"},
	}, []gather{
		{op: "onnx.Gather-13", data: given("f32[3,0]"), indices: bounded("i64[0]")},
		{op: "onnx.Gather-13", data: given("f32[3,4]"), indices: i64([]int{1}, 0)},
		{op: "onnx.Gather-13", data: given("f32[3,4]"), indices: made("Expand", "i64[0]", i64([]int{0}), i64([]int{1}, 0))}, // L.19
		{op: "openvino.Gather-8", data: given("f32[3,4]"), indices: i64([]int{0})},
	}},
	{"L.33", []meets{
		{bagOf("EmbeddingBagOffsetsSum-3", given("i32[3]"), i64([]int{3}, 0, 2, 1)), Error, "openvino",
			"offsets[2] = 1 falls: the one before is 2: OpenVINO refuses it; on one thread it stops there without an error, the rest unset"},
		{bagOf("EmbeddingBagOffsets-15", bounded("i32[3]"), i64([]int{2}, 0, 4)), Error, "openvino", "offsets[1] = 4 passes the end: there are 3 indices"},
		{bagOf("EmbeddingBagOffsets-15", bounded("i32[?]"), i64([]int{2}, -1, 4)), Error, "openvino", "offsets[0] = -1 is negative"},
		{bagOf("EmbeddingBagOffsets-15", bounded("i32[3]"), held(garner.Of([]uint64{1 << 63}, 1))), Error, "openvino", "offsets[0] = 9223372036854775808 passes the end"},
		{bagOf("EmbeddingSegmentsSum-3", given("i32[3]"), i64([]int{3}, 1, 0, 2), i64(nil, 3)), Warning, "openvino", "segment_ids[1] = 0 falls: the one before is 1: OpenVINO adds each term to its segment"},
		{bagOf("EmbeddingSegmentsSum-3", given("i32[3]"), i64([]int{3}, 0, 1, 3), i64(nil, 3)), Warning, "openvino", "segment_ids[2] = 3 is no segment: there are 3"},
		{bagOf("EmbeddingSegmentsSum-3", given("i32[3]"), i64([]int{3}, -1, 1, 3), given("i64[]")), Warning, "openvino", "segment_ids[0] = -1 is negative"},
	}, []gather{
		bagOf("EmbeddingBagOffsetsSum-3", given("i32[3]"), i64([]int{3}, 0, 2, 3)),
		bagOf("EmbeddingBagOffsetsSum-3", given("i32[?]"), i64([]int{3}, 0, 2, 1<<40)),
		bagOf("EmbeddingBagOffsetsSum-3", given("i32[3]"), given("i64[2]")),
		bagOf("EmbeddingBagOffsetsSum-3", given("i32[3]"), made("Add", "i64[2]", i64([]int{2}, 2, 1), given("i64[2]"))),
		bagOf("EmbeddingSegmentsSum-3", given("i32[3]"), i64([]int{3}, 0, 1, 1), i64(nil, 2)),
		bagOf("EmbeddingSegmentsSum-3", given("i32[3]"), i64([]int{3}, 0, 1, 9), given("i64[]")),
		bagOf("EmbeddingBagPackedSum-3", given("i32[3,1]")),
		{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: given("i32[3]")},
	}},
	{"L.34", []meets{
		{bagOf("EmbeddingBagOffsetsSum-3", given("i32[3]"), given("i32[2]"), i64(nil, 5)), Warning, "openvino", "default_index = 5 is outside axis 0 of data, whose length is 5; where a bag has no indices: OpenVINO refuses it"},
		{bagOf("EmbeddingBagOffsets-15", given("i32[3]"), given("i32[2]"), i64(nil, -2)), Warning, "openvino", "default_index = -2 is outside"},
		{bagOf("EmbeddingSegmentsSum-3", given("i32[3]"), given("i32[3]"), i64(nil, 2), i64(nil, -1)), Warning, "openvino", "default_index = -1 is outside"},
	}, []gather{
		bagOf("EmbeddingBagOffsetsSum-3", given("i32[3]"), given("i32[2]"), i64(nil, -1)),
		bagOf("EmbeddingBagOffsetsSum-3", given("i32[3]"), given("i32[2]"), i64(nil, 4)),
		bagOf("EmbeddingBagOffsetsSum-3", given("i32[3]"), given("i32[2]"), given("i64[]")),
		bagOf("EmbeddingBagOffsetsSum-3", given("i32[3]"), given("i32[2]")),
		{op: "openvino.EmbeddingBagOffsetsSum-3", data: given("f32[?,2]"), indices: given("i32[3]"), further: []*model.Value{given("i32[2]"), i64(nil, 9)}},
		{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: given("i32[3]")},
	}},
	{"L.35", []meets{
		{gather{op: "openvino.Gather-8", data: scaled([]int{5, 8}, 1, 8), indices: bounded("i32[2]")}, Error, "openvino",
			"scale of the compressed table is f32[1,8] and its codes are i8[5,8]: each is of several positions along axis 0, and differs along axis 1: OpenVINO reads other memory, OpenVINO ends the process"},
		{gather{op: "openvino.Gather-8", data: scaled([]int{5, 8}, 8), indices: bounded("i32[2]")}, Error, "openvino", "f32[8]"},
		{gather{op: "openvino.Gather-8", data: flattened(scaled([]int{5, 2, 4}, 5, 1, 4), 5, 8), indices: bounded("i32[2]")}, Error, "openvino", "along axis 1, and differs along axis 2"},
		{gather{op: "openvino.Gather-8", data: scaled([]int{5, 2, 4}, 2, 1), indices: bounded("i32[2]")}, Error, "openvino", "along axis 0, and differs along axis 1"},
	}, []gather{
		{op: "openvino.Gather-8", data: compressed(), indices: bounded("i32[2]")},
		{op: "openvino.Gather-8", data: scaled([]int{5, 8}, 1), indices: bounded("i32[2]")},
		{op: "openvino.Gather-8", data: scaled([]int{5, 8}, 5, 8), indices: bounded("i32[2]")},
		{op: "openvino.Gather-8", data: scaled([]int{1, 8}, 1, 8), indices: bounded("i32[2]")},
		{op: "openvino.Gather-8", data: flattened(scaled([]int{5, 2, 4}, 5, 2, 1), 5, 8), indices: bounded("i32[2]")},
		{op: "openvino.Gather-8", data: flattened(scaled([]int{5, 8}, 1, 8), 10, 4), indices: bounded("i32[2]")},
		{op: "openvino.Gather-7", data: scaled([]int{5, 8}, 1, 8), indices: bounded("i32[2]")},
		{op: "openvino.Gather-8", data: scaled([]int{5, 2, 2, 2}, 1, 1, 1, 2), indices: bounded("i32[2]")},
		bagOf("EmbeddingBagPackedSum-3", given("i32[3,1]")),
	}},
	{"L.30", []meets{
		{gather{op: "tflite.GATHER", data: given("f32[5,2]"), indices: given("i32[3]")}, Warning, "litert openvino",
			`the indices come from the input "in" and nothing bounds them; with one below 0 or outside: OpenVINO (reading TFLite) counts it from the end, OpenVINO (reading TFLite) writes zeros, LiteRT refuses it`},
		{gather{op: "tflite.GATHER_ND", data: given("f32[5,2]"), indices: clip("i32[3,1]", -5, 4)}, Warning, "litert openvino", "the indices may be -5 to 4, and axis 0 of data has 5"},
		{gather{op: "tflite.EMBEDDING_LOOKUP", data: given("f32[5,2]"), indices: given("i32[3]")}, Warning, "litert openvino", "OpenVINO (reading TFLite) writes zeros, LiteRT refuses it"},
		{gather{op: "tflite.hybrid-embedding-lookup", data: given("i8[5,2]"), indices: given("i32[3]"), further: []*model.Value{given("f32[]")}}, Warning, "litert openvino", "nothing bounds them"},
		{gather{op: "tflite.GATHER", data: given("f32[5,2]"), indices: lite("MINIMUM", "i32[3]", given("i32[3]"), i32of(4))}, Warning, "litert openvino", "nothing bounds them from below"},
		{gather{op: "tflite.GATHER_ND", data: given("f32[5,2]"), indices: lite("PACK", "i32[2]", lite("FLOOR_MOD", "i32[]", given("i32[]"), i32of(5)), lite("FLOOR_MOD", "i32[]", given("i32[]"), i32of(3)))}, Warning, "litert openvino", "the indices may be 0 to 2, and axis 1 of data has 2"},
	}, []gather{
		{op: "tflite.EMBEDDING_LOOKUP", data: given("f32[5,2]"), indices: lite("MAXIMUM", "i32[3]", lite("MINIMUM", "i32[3]", given("i32[3]"), i32of(4)), i32of(0))},
		{op: "tflite.GATHER", data: given("f32[5,2]"), indices: lite("CAST", "i64[3]", lite("FLOOR_MOD", "i32[3]", given("i32[3]"), i32of(5)))},
		{op: "tflite.GATHER", data: given("f32[5,2]"), indices: lite("RESHAPE", "i32[3,1]", lite("ARG_MAX", "i32[3]", given("f32[3,5]"), i32of(1)), given("i32[2]"))},
		{op: "tflite.GATHER_ND", data: given("f32[5,3]"), indices: lite("PACK", "i32[2]", lite("FLOOR_MOD", "i32[]", given("i32[]"), i32of(5)), lite("FLOOR_MOD", "i32[]", given("i32[]"), i32of(3)))},
		{op: "tflite.GATHER", data: given("f32[5,2]"), indices: clip("i32[3]", 0, 4)},
		{op: "onnx.Gather-13", data: given("f32[5,2]"), indices: given("i32[3]")},
	}},
	{"L.36", []meets{
		{gather{op: "tensorflow.GatherV2", node: "GatherV2", data: given("f32[5,2]"), indices: given("i32[3]"), axis: i64(nil, 0)}, Warning, "tensorflow openvino",
			`the indices come from the input "in" and nothing bounds them; with one below 0 or outside: OpenVINO (reading TensorFlow) counts it from the end, OpenVINO (reading TensorFlow) writes zeros, TensorFlow refuses it`},
		{gather{op: "tensorflow.Gather", node: "ResourceGather", data: given("f32[5,2]"), indices: given("i32[3]")}, Warning, "tensorflow openvino", "OpenVINO (reading TensorFlow) writes zeros"},
		{gather{op: "tensorflow.GatherNd", node: "GatherNd", data: given("f32[5,2]"), indices: made("Minimum", "i32[3,1]", given("i32[3,1]"), i32of(4))}, Warning, "tensorflow openvino", "nothing bounds them from below"},
		{gather{op: "tensorflow.GatherNd", node: "GatherNd", data: given("f32[5,2]"), indices: given("i32[3,1]"), attributes: map[string]any{"bad_indices_policy": "IGNORE"}}, Warning, "tensorflow openvino",
			"OpenVINO (reading TensorFlow) reads other memory, TensorFlow (bad_indices_policy IGNORE) writes zeros"},
	}, []gather{
		{op: "tensorflow.GatherV2", node: "GatherV2", data: given("f32[5,2]"), indices: made("Maximum", "i32[3]", made("Minimum", "i32[3]", given("i32[3]"), i32of(4)), i32of(0)), axis: i64(nil, 0)},
		{op: "tensorflow.GatherV2", data: given("f32[5,2]"), indices: given("i32[3]"), axis: i64(nil, 0)}, // of another format
		{op: "tensorflow.sparse_segment_mean", node: "SparseSegmentMean", data: given("f32[5,2]"), indices: given("i32[3]"), further: []*model.Value{given("i32[3]")}},
	}},
	{"L.37", []meets{
		{segmentsOf("sum", "SparseSegmentSum"), Warning, "openvino", "the node is a SparseSegmentSum: OpenVINO (reading TensorFlow) refuses it"},
		{segmentsOf("mean", "SparseSegmentMeanWithNumSegments"), Warning, "openvino", "the node is a SparseSegmentMeanWithNumSegments"},
	}, []gather{segmentsOf("mean", "SparseSegmentMean"), segmentsOf("sqrtn", "SparseSegmentSqrtN"), {op: "tensorflow.GatherNd", node: "GatherNd", data: given("f32[5,2]"), indices: given("i32[3,1]")}}},
	{"L.38", []meets{
		{windows(given("i32[3,1]"), 1), Note, "xla", `the indices come from the input "in" and nothing bounds them; with one outside: XLA takes the nearest position`},
		{windows(held(garner.Of([]int32{0, -1, 5}, 3, 1)), 1), Warning, "xla", "indices[1,0] = -1 is outside axis 0 of data, which has 5 such starts (and 1 more of 3): XLA takes the nearest position"},
		{windows(held(garner.Of([]int32{0, 4, 3}, 3, 1)), 2), Warning, "xla", "indices[1,0] = 4 is outside axis 0 of data in windows of 2, which has 4 such starts"},
		{windows(hlo("clamp", "i32[3,1]", nil, i32of(0), given("i32[3,1]"), i32of(4)), 2), Note, "xla", "the indices may be 0 to 4, and axis 0 of data in windows of 2 has 4"},
		{windows(hlo("add", "i32[1]", nil, held(garner.Of([]int32{3}, 1)), held(garner.Of([]int32{4}, 1))), 1), Warning, "xla", "the indices are computed from constants and are 7 to 7, and axis 0 of data has 5 starts"},
		{windows(hlo("remainder", "i32[3,1]", nil, given("i32[3,1]"), i32of(5)), 1), Note, "xla", "the indices may be -4 to 4"},
		{gather{op: "stablehlo.dynamic_gather", data: given("f32[5,2]"), indices: given("i32[3,1]"), further: []*model.Value{i64([]int{2}, 1, 2)}, attributes: windows(nil, 1).attributes}, Note, "xla", "nothing bounds them"},
		{windows(hlo("concatenate", "i32[3,2]", map[string]any{"dimension": int64(1)}, hlo("iota", "i32[3,1]", map[string]any{"iota_dimension": int64(0)}), held(garner.Of([]int32{0, 2, 0}, 3, 1))), 1, 0, 1), Note, "xla", "the indices may be 0 to 2, and axis 1 of data has 2"},
	}, []gather{
		windows(held(garner.Of([]int32{0, 4, 3}, 3, 1)), 1),
		windows(hlo("clamp", "i32[3,1]", nil, i32of(0), given("i32[3,1]"), i32of(3)), 2),
		windows(hlo("convert", "i32[3,1]", nil, hlo("iota", "i64[3,1]", map[string]any{"iota_dimension": int64(0)})), 1),
		windows(hlo("broadcast_in_dim", "i32[3,1]", map[string]any{"broadcast_dimensions": []int64{0}}, hlo("reverse", "i32[3]", nil, hlo("iota", "i32[3]", map[string]any{"iota_dimension": int64(0)}))), 1),
		windows(hlo("select", "i32[3,1]", nil, given("bool[3,1]"), held(garner.Of([]int32{1, 2, 3}, 3, 1)), hlo("negate", "i32[3,1]", nil, held(garner.Of([]int32{-1, -2, -3}, 3, 1)))), 1),
		windows(hlo("pad", "i32[3,1]", nil, held(garner.Of([]int32{1, 2}, 2, 1)), i32of(4)), 1),
		windows(hlo("get_dimension_size", "i32[1]", map[string]any{"dimension": int64(1)}, given("f32[3,4]")), 1),
		{op: "onnx.GatherND-13", data: given("f32[5,2]"), indices: given("i64[3,1]")},
	}},
}

// segmentsOf returns a bag of TensorFlow with segments from an input.
func segmentsOf(kind, node string) gather {
	return gather{op: "tensorflow.sparse_segment_" + kind, node: node, data: given("f32[5,2]"), indices: given("i32[3]"), further: []*model.Value{given("i32[3]")}}
}

// windows returns a gather of StableHLO of f32[5,2] by windows of so many rows; their starts address the given axes, or 0.
func windows(starts *model.Value, rows int64, axes ...int64) gather {
	along, sizes := int64(1), []int64{rows, 2}
	if len(axes) == 0 {
		axes = []int64{0}
	} else {
		sizes[1] = 1
	}
	if starts != nil {
		along = int64(starts.Spec.Rank.Min) - 1
	}
	return gather{op: "stablehlo.gather", data: given("f32[5,2]"), indices: starts, attributes: map[string]any{
		"offset_dims": []int64{1, 2}, "collapsed_slice_dims": []int64{}, "start_index_map": axes, "index_vector_dim": along, "slice_sizes": sizes}}
}

// hlo returns the output of an operator of StableHLO.
func hlo(op, spec string, attributes map[string]any, of ...*model.Value) *model.Value {
	v := made(op, spec, of...)
	v.From.Attributes = attributes
	return v
}

// i32of returns a constant i32.
func i32of(v int32) *model.Value { return held(garner.Of([]int32{v})) }

// lite returns the output of an operator of LiteRT; of PACK along the last axis.
func lite(op, spec string, of ...*model.Value) *model.Value {
	v := made(op, spec, of...)
	v.From.Attributes = map[string]any{"axis": int64(-1)}
	return v
}

// lengthOfInput returns the second dim of an input.
func lengthOfInput() *model.Value {
	v := made("Gather", "i64[]", made("Shape", "i64[2]", given("i64[?,?]")), i64(nil, 1))
	v.From.Operator = "onnx.Gather-13"
	return v
}

// meets is a model with a finding of a rule, and the finding.
type meets struct {
	gather   gather
	severity Severity
	runtimes string
	message  string
}

// findings returns the findings of one rule in a model.
func findings(t *testing.T, m *model.Model, rule string, o Options) []Finding {
	t.Helper()
	all, err := Model(context.Background(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(f Finding) bool { return f.Rule.ID != rule })
}

func words(list []Runtime) string {
	slices.Sort(list)
	return fmt.Sprint(list)
}

// TestRules holds each rule against models with and without its finding.
func TestRules(t *testing.T) {
	tried := map[string]bool{}
	for _, tt := range tests {
		tried[tt.rule] = true
		for i, has := range tt.has {
			t.Run(fmt.Sprintf("%s has %d", tt.rule, i), func(t *testing.T) {
				found := findings(t, has.gather.model(), tt.rule, Options{})
				if len(found) != 1 {
					t.Fatalf("%d findings", len(found))
				}
				f := found[0]
				var want []Runtime
				for r := range strings.FieldsSeq(has.runtimes) {
					want = append(want, Runtime(r))
				}
				if f.Severity != has.severity || words(f.Runtimes()) != words(want) || !strings.Contains(f.Message, has.message) || f.Node.Name != "g" {
					t.Errorf("%v of %v: %s\nwant %v of %v: %s", f.Severity, words(f.Runtimes()), f.Message, has.severity, words(want), has.message)
				}
			})
		}
		for i, not := range tt.none {
			t.Run(fmt.Sprintf("%s has none %d", tt.rule, i), func(t *testing.T) {
				for _, f := range findings(t, not.model(), tt.rule, Options{}) {
					t.Errorf("%v: %s", f.Severity, f.Message)
				}
			})
		}
		if len(tt.has) == 0 || len(tt.none) == 0 {
			t.Errorf("%s is not tried both ways", tt.rule)
		}
	}
	numbers := map[string]bool{}
	for i, r := range Rules() {
		if !tried[r.ID] {
			t.Errorf("%s is not tried", r.ID)
		}
		if r.ID != fmt.Sprint("L.", i+1) || numbers[r.ID] || r.Title == "" || r.About == "" || r.Remedy == "" {
			t.Errorf("rule %d is %+v", i, r)
		}
		numbers[r.ID] = true
	}
}

// TestEnding holds L.19 and L.29 against the runs of OpenVINO: they find the gathers that
// end the process.
func TestEnding(t *testing.T) {
	rows := func(data string, indices *model.Value) gather {
		return gather{op: "onnx.Gather-13", data: given(data), indices: indices}
	}
	only := func(n int64) gather {
		g := rows("f32[4,1,0]", i64(nil, n))
		g.attributes = axis(1)
		return g
	}
	batches := func(op, data string, indices *model.Value, axis, b int64) gather {
		return gather{op: "openvino.Gather-" + op, data: given(data), indices: indices, axis: i64(nil, axis), attributes: batch(b)}
	}
	zeros := i64([]int{2}, 0, 0)
	all := map[string]gather{
		"nothing-by-scalar": rows("f32[1,0,3]", bounded("i64[]")), "nothing-by-constant-scalar": rows("f32[1,0,3]", i64(nil, 0)), "nothing-by-constant-row": rows("f32[2,0,3]", i64([]int{1}, 1)),
		"nothing-by-constant-rows": rows("f32[1,0,3]", zeros), "nothing-of-the-only-row": only(0), "nothing-of-the-last-row": only(-1),
		"nothing-of-empty-batch-of-nothing":      batches("8", "f32[0,2,0]", bounded("i64[0,1]"), 1, 1),
		"nothing-of-empty-batch-before-axis":     batches("8", "f32[0,0,2]", bounded("i64[0,2]"), 2, 1),
		"nothing-of-empty-batch-without-indices": batches("8", "f32[0,2,2]", bounded("i64[0,0]"), 1, 1),
		"nothing-of-empty-batch":                 batches("8", "f32[0,2]", bounded("i64[0,1]"), 1, 1),
		"nothing-of-empty-batch-of-rows":         batches("8", "f32[0,2,3]", bounded("i64[0,1]"), 1, 1),
		"nothing-of-row-of-a-batch":              batches("8", "f32[2,1,0]", zeros, 1, 1),
		"nothing-of-row-of-two-batches":          batches("8", "f32[2,1,1,0]", i64([]int{2, 1}, 0, 0), 2, 2),
		"nothing-of-constant":                    rows("f32[5,2]", given("i64[0]")),
		"nothing-by-empty-tuples":                {op: "openvino.GatherND-8", data: given("f32[5,2]"), indices: given("i64[0,0]")},
		"batch-of-one-only-row-from-end-8":       batches("8", "f32[1,1,3]", i64([]int{1}, -1), 1, 1),
	}
	for _, op := range []string{"7", "8"} {
		all["batch-of-one-only-row-"+op] = batches(op, "f32[1,1,3]", bounded("i64[1]"), 1, 1)
		all["batch-of-one-only-row-by-constant-"+op] = batches(op, "f32[1,1,3]", i64([]int{1}, 0), 1, 1)
		all["batch-of-one-only-row-of-two-"+op] = batches(op, "f32[1,1,1,3]", i64([]int{1, 1}, 0), 2, 2)
		folded := batches(op, "f32[1,3]", i64([]int{1, 2}, 1, 1), 1, 1)
		folded.data = made("Add", "f32[1,3]", held(garner.Of([]float32{1, 2, 3}, 1, 3)), held(garner.Of([]float32{0})))
		all["batch-of-one-row-of-folded-"+op] = folded
		rolled := folded
		rolled.data = made("Roll", "f32[1,3]", held(garner.Of([]float32{1, 2, 3}, 1, 3)), i64([]int{1}, 3), i64([]int{1}, 1)) // which OpenVINO does not fold
		all["batch-of-one-row-of-rolled-"+op] = rolled
		for name, one := range map[string]garner.Tensor{"sums": garner.Of([]float32{1, 1, 1}, 1, 3), "sums-of-integers": garner.Of([]int64{1, 1, 1}, 1, 3)} {
			sums := folded // of floats alone, OpenVINO folds them
			sums.data = made("CumSum", one.Spec().String(), held(one), i64(nil, 0))
			all["batch-of-one-row-of-"+name+"-"+op] = sums
		}
	}
	constant := all["nothing-of-constant"]
	constant.data = held(garner.Of(make([]float32, 10), 5, 2))
	all["nothing-of-constant"] = constant
	own, held := records(t), 0
	for name, c := range own {
		name = strings.TrimPrefix(name, "lint-")
		g, ok := all[name]
		if !ok {
			continue
		}
		held++
		ends := false
		for _, r := range c.Runs {
			ends = ends || r.Shapes == static && r.Signal != 0
		}
		if found := len(findings(t, g.model(), c.Rules[0], Options{})) > 0; found != ends {
			t.Errorf("%s: %s found %t, ends the process %t", name, c.Rules[0], found, ends)
		}
	}
	if held != len(all) {
		t.Errorf("%d of %d gathers are recorded", held, len(all))
	}
}

// TestBehindCasts finds what depends on dims that the file says of an operand of Cast or
// of Identity, and not of its result: as the reader of ONNX infers them.
func TestBehindCasts(t *testing.T) {
	wide := map[string]any{"to": int64(7)}
	untold := func(op, from string, c *model.Value) *model.Value {
		v := made(op, from, c)
		v.Spec = model.Unknown
		return v
	}
	for rule, g := range map[string]gather{
		"L.32": {op: "onnx.Gather-13", data: given("f32[3,4]"), indices: with(untold("Cast", "i64[0]", untold("Identity", "i32[0]", held(garner.Of([]int32{}, 0)))), wide)},
		"L.19": {op: "onnx.Gather-13", data: untold("Identity", "f32[2,2]", given("f32[2,2]")), indices: with(untold("Cast", "i64[2,0]", given("i32[2,0]")), wide)},
	} {
		m := g.model()
		shapes.Infer(m)
		if len(findings(t, m, rule, Options{})) != 1 {
			t.Errorf("%s is not found", rule)
		}
	}
}

// TestVast holds what the page says of ONNX Runtime's Clip, Min and Max: with indices of
// i64 beyond 2^31, none of its runs gives the rows that the bounds say.
func TestVast(t *testing.T) {
	own := records(t)
	for _, name := range []string{"lint-vast-clip", "lint-vast-clip-from-end", "lint-vast-max-min"} {
		c := own[name]
		if len(c.Runs) != 10 || !strings.Contains(rules[3].About, name) {
			t.Errorf("%s has %d runs, or L.4 does not name it", name, len(c.Runs))
		}
		for _, r := range c.Runs {
			outside := strings.Contains(r.Error, "out of data bounds")
			if r.Signal != 0 || r.Output == nil && !outside || reflect.DeepEqual(r.Output, c.Want) {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
}

// flipped is a gather of rows by a Range.
func flipped(start, limit, step *model.Value) gather {
	return gather{op: "onnx.Gather-13", data: given("f32[?,2]"), indices: made("Range", "i64[?]", start, limit, step)}
}
