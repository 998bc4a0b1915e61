package operators

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// parts are those of a chain that makes a table, as a test changes them.
type parts struct {
	codes, scale, zero, shape *model.Value // zero and shape may be nil
	computed                  string       // the type of the chain
	out                       string       // of the last Convert; "" without one
	swapped                   bool         // the scale is on the left
	early                     bool         // the last Convert precedes Reshape
	subtract, multiply        map[string]any
	reshape                   map[string]any
	gather                    *model.Node // Gather-8 along axis 0 of the chain
	indices                   garner.Spec // i32[?] where it is not given
	passed                    []*model.Value
}

// made is the result of a node of OpenVINO.
func made(op, dtype string, attributes map[string]any, inputs ...*model.Value) *model.Value {
	d, _ := garner.ParseDType(dtype)
	v := &model.Value{Name: op, Spec: garner.SpecOfRank(d, garner.AnyDim)}
	v.From = &model.Node{Op: op, Version: 1, Attributes: attributes, Inputs: inputs, Outputs: []*model.Value{v}}
	return v
}

// convert is a Convert to a type.
func convert(to string, v *model.Value) *model.Value {
	return made("Convert", to, map[string]any{"destination_type": to}, v)
}

// chain makes the nodes.
func (p *parts) chain() *model.Node {
	v := convert(p.computed, p.codes)
	p.passed = append(p.passed, p.codes, p.scale, v)
	if p.zero != nil {
		v = made("Subtract", p.computed, p.subtract, v, p.zero)
	}
	if p.swapped {
		v = made("Multiply", p.computed, p.multiply, p.scale, v)
	} else {
		v = made("Multiply", p.computed, p.multiply, v, p.scale)
	}
	p.passed = append(p.passed, v)
	if p.early {
		v = convert(p.out, v)
	}
	if p.shape != nil {
		v = made("Reshape", p.computed, p.reshape, v, p.shape)
		p.passed = append(p.passed, p.shape)
	}
	if p.out != "" && !p.early {
		v = convert(p.out, v)
	}
	p.passed = append(p.passed, v)
	indices := &model.Value{Name: "ids", Spec: p.indices}
	if p.indices.DType == garner.Invalid {
		indices.Spec = garner.SpecOfDims(garner.I32, garner.AnyDim)
	}
	n := &model.Node{Name: "g", Op: "Gather", Version: 8, Operator: "openvino.Gather-8", Inputs: []*model.Value{v, indices, constantOf(garner.Of([]int64{0}))}}
	if p.gather != nil {
		n.Operator = p.gather.Operator
		n.Attributes = p.gather.Attributes
		if len(p.gather.Inputs) > 0 {
			n.Inputs[2] = p.gather.Inputs[0]
		} else if o, err := Find(n.Operator, 0); err == nil && len(o.Inputs()) == 0 {
			n.Inputs = n.Inputs[:2]
		}
	}
	return n
}

// usual is u8[4,2,3] with a scale for each group, of f16.
func usual() *parts {
	return &parts{codes: zeros(garner.U8, 4, 2, 3), scale: zeros(garner.F16, 4, 2, 1), computed: "f16"}
}

func zeros(dtype garner.DType, shape ...int) *model.Value {
	t, err := garner.New(dtype, shape...)
	if err != nil {
		panic(err)
	}
	return constantOf(t)
}

// TestCompressed holds which chains are a compressed table. OC.7
func TestCompressed(t *testing.T) {
	bag := &model.Node{Operator: "openvino.EmbeddingBagOffsetsSum-3", Inputs: []*model.Value{{Spec: garner.SpecOf(garner.I64, 9)}}}
	for want, changes := range map[string][]func(p *parts){
		"data u8[4,2,3], scale f16[4,2,1], axis 0, output f16 -> f16[?,2,3]": {
			func(p *parts) {},
			func(p *parts) { p.swapped = true },
			func(p *parts) { p.multiply = map[string]any{"auto_broadcast": "NUMPY"} },
			func(p *parts) {
				p.gather = &model.Node{Operator: "openvino.Gather-8", Attributes: map[string]any{"batch_dims": int64(0)}}
			},
		},
		"data u8[4,2,3], scale f16[4,2,1], axis 0, output f32 -> f32[?,2,3]": {
			func(p *parts) { p.out = "f32" },
			func(p *parts) { p.computed, p.scale = "f32", convert("f32", p.scale) },
		},
		"data u8[4,2,3], scale f16[4,2,1], zero_point u8[1], axis 0, output f32 -> f32[?,2,3]": {
			func(p *parts) { p.out, p.zero = "f32", convert("f16", zeros(garner.U8, 1)) },
		},
		"data u8[4,2,3], scale f16[4,2,1], zero_point f16[], axis 0, output f16 -> f16[?,2,3]": {
			func(p *parts) { p.zero = zeros(garner.F16) },
		},
		"data u8[4,2,3], scale f16[4,2,1], axis 0, output f32, reshape [4 -1] -> f32[?,6]": {
			func(p *parts) { p.out, p.shape = "f32", constantOf(garner.Of([]int64{4, -1}, 2)) },
			func(p *parts) { p.out, p.early, p.shape = "f32", true, constantOf(garner.Of([]int32{4, -1}, 2)) },
			func(p *parts) {
				p.out, p.shape, p.reshape = "f32", constantOf(garner.Of([]int64{0, -1}, 2)), map[string]any{"special_zero": true}
			},
		},
		"data u8[4,2,3], scale f16[4,2,1], axis -1, output f16 -> f16[4,2,?]": {
			func(p *parts) {
				p.gather = &model.Node{Operator: "openvino.Gather-8", Inputs: []*model.Value{constantOf(garner.Of([]int64{-1}, 1))}}
			},
		},
		"data nf4[4,2,3], scale f16[4,2,1], axis 0, output f16 -> f16[?,2,3]":    {func(p *parts) { p.codes = zeros(garner.NF4, 4, 2, 3) }},
		"data i4[4,2,3], scale f16[4,2,1], axis 0, output f16 -> f16[?,2,3]":     {func(p *parts) { p.codes = zeros(garner.I4, 4, 2, 3) }},
		"data f8e5m2[4,2,3], scale f16[4,2,1], axis 0, output f16 -> f16[?,2,3]": {func(p *parts) { p.codes = zeros(garner.F8E5M2, 4, 2, 3) }},
		"data f8e4m3fn[4,2,3], scale f32[4,2,1], axis 0, output f16 -> f16[?,2,3]": {func(p *parts) {
			p.codes, p.scale, p.computed, p.out = zeros(garner.F8E4M3FN, 4, 2, 3), zeros(garner.F32, 4, 2, 1), "f32", "f16"
		}},
		"data u8[4,2,3], scale f16[4,2,1], axis 0, output f16, version 7 -> f16[?,2,3]": {
			func(p *parts) { p.gather = &model.Node{Operator: "openvino.Gather-7"} },
		},
		"data u8[4,2,3], scale f16[4,2,1], axis 1, output f16, version 1 -> f16[4,?,3]": {
			func(p *parts) {
				p.gather = &model.Node{Operator: "openvino.Gather-1", Inputs: []*model.Value{constantOf(garner.Of([]int64{1}))}}
			},
		},
		"data u8[4,2,3], scale f16[4,2,1], axis 1, batch_dims 1, output f16 -> f16[4,3]": {
			func(p *parts) {
				p.gather = &model.Node{Operator: "openvino.Gather-8", Attributes: map[string]any{"batch_dims": int64(1)}, Inputs: []*model.Value{constantOf(garner.Of([]int64{1}))}}
			},
		},
		"data u8[4,2,3], scale f16[4,2,1], axis 0, batch_dims -1, output f16, version 7, reshape [-1 3] -> f16[?,3]": {
			func(p *parts) {
				p.shape = constantOf(garner.Of([]int64{-1, 3}, 2))
				p.gather = &model.Node{Operator: "openvino.Gather-7", Attributes: map[string]any{"batch_dims": int64(-1)}, Inputs: []*model.Value{constantOf(garner.Of([]int64{0}))}}
			},
		},
		"openvino.EmbeddingBagOffsetsSum-3: data u8[4,2,3], offsets i64[9], scale f16[4,2,1] -> f16[9,2,3]": {
			func(p *parts) { p.gather = bag },
			func(p *parts) { p.swapped, p.gather = true, bag },
		},
		"openvino.EmbeddingBagOffsetsSum-3: data u8[4,2,3], offsets i64[9], scale f16[4,2,1], zero_point u8[1] -> f32[9,6]": {
			func(p *parts) {
				p.out, p.zero, p.gather = "f32", convert("f16", zeros(garner.U8, 1)), bag
				p.shape = constantOf(garner.Of([]int64{4, -1}, 2))
			},
		},
		"openvino.GatherND-8: data u8[4,2,3], scale f16[4,2,1] -> f16[2,3]": {
			func(p *parts) {
				p.gather, p.indices = &model.Node{Operator: "openvino.GatherND-8"}, garner.SpecOf(garner.I64, 1)
			},
		},
		"as it is": {
			func(p *parts) { p.codes = &model.Value{Spec: p.codes.Spec} },
			func(p *parts) { p.scale = &model.Value{Spec: p.scale.Spec} },
			func(p *parts) { p.zero = &model.Value{Spec: garner.SpecOf(garner.F16)} },
			func(p *parts) { p.codes = zeros(garner.I16, 4, 2, 3) },
			func(p *parts) { p.codes = zeros(garner.F8E8M0, 4, 2, 3) },                 // f16 has no 2^127
			func(p *parts) { p.scale = convert("f16", zeros(garner.F32, 4, 2, 1)) },    // is rounded
			func(p *parts) { p.zero = convert("f16", zeros(garner.F32)) },              // is rounded
			func(p *parts) { p.scale = zeros(garner.F32, 4, 2, 1) },                    // of another type than the chain
			func(p *parts) { p.scale = zeros(garner.F16, 2, 4, 2, 1) },                 // makes the table larger
			func(p *parts) { p.computed, p.scale = "f64", zeros(garner.F64, 4, 2, 1) }, // of more than f32
			func(p *parts) { p.out = "bf16" },                                          // rounds twice
			func(p *parts) { p.out = "i32" },
			func(p *parts) { p.computed, p.scale, p.out = "f32", zeros(garner.F32, 4, 2, 1), "f64" },
			func(p *parts) {
				p.codes, p.computed, p.scale = zeros(garner.NF4, 4, 2, 3), "f32", convert("f32", p.scale)
			},
			func(p *parts) { p.multiply = map[string]any{"auto_broadcast": "pdpd"} },
			func(p *parts) { p.zero, p.subtract = zeros(garner.F16), map[string]any{"auto_broadcast": "none"} },
			func(p *parts) { p.shape = &model.Value{Spec: garner.SpecOf(garner.I64, 2)} },
			func(p *parts) { p.shape = constantOf(garner.Of([]int64{5, -1}, 2)) },
			func(p *parts) { p.shape = constantOf(garner.Of([]int64{0, -1}, 2)) }, // of no elements
			func(p *parts) { // more batch dims than the axis has before it
				p.gather = &model.Node{Operator: "openvino.Gather-8", Attributes: map[string]any{"batch_dims": int64(1)}}
			},
			func(p *parts) {
				p.gather = &model.Node{Operator: "openvino.Gather-1", Attributes: map[string]any{"batch_dims": int64(1)}, Inputs: []*model.Value{constantOf(garner.Of([]int64{1}))}}
			},
			func(p *parts) { p.codes, p.gather = &model.Value{Spec: p.codes.Spec}, bag },
			func(p *parts) { p.scale, p.gather = zeros(garner.F32, 4, 2, 1), bag },
			func(p *parts) { p.scale, p.gather = zeros(garner.F16, 5, 2, 1), bag },
			func(p *parts) { p.gather = &model.Node{Operator: "onnx.Gather-13"} }, // of another framework
			func(p *parts) {
				p.gather = &model.Node{Operator: "openvino.Gather-8", Inputs: []*model.Value{{Spec: garner.SpecOf(garner.I64)}}}
			},
			func(p *parts) {
				p.gather = &model.Node{Operator: "openvino.Gather-8", Inputs: []*model.Value{constantOf(garner.Of([]int64{3}))}}
			},
		},
	} {
		for i, change := range changes {
			p := usual()
			change(p)
			if got := callText(t, p.chain(), nil); got != want {
				t.Errorf("%d: %s; want %s", i, got, want)
			}
		}
	}
}

// callText is a call in words.
func callText(t *testing.T, n *model.Node, replaced func(*model.Value) bool) string {
	t.Helper()
	c, err := CallOf(n, replaced)
	if err != nil {
		t.Fatal(err)
	}
	if c.Operator.Name == n.Operator && c.Table == nil {
		if !slices.Equal(c.Inputs, n.Inputs) {
			t.Errorf("%v; the node has %v", c.Inputs, n.Inputs)
		}
		return "as it is"
	}
	var text []string
	var inputs []Input
	for i, v := range c.Inputs {
		if i != 1 && v != nil {
			text = append(text, c.Role(i)+" "+v.Spec.String())
		}
		if i > 1 && v == nil {
			inputs = append(inputs, Input{})
		} else if i > 1 {
			inputs = append(inputs, Input{Spec: v.Spec})
		}
	}
	for _, name := range []string{"axis", "batch_dims", "output", "version", "reshape"} {
		if v, ok := c.Attributes[name]; ok {
			text = append(text, fmt.Sprint(name, " ", v))
		}
	}
	if c.Table != nil {
		text[0] = c.Operator.Name + ": " + text[0]
	}
	op, err := c.Bind(inputs...)
	if err != nil {
		t.Fatal(err)
	}
	var more []garner.Spec
	for _, in := range c.Operands(inputs) {
		more = append(more, in.Spec)
	}
	out, err := Infer(op, c.Inputs[0].Spec, c.Inputs[1].Spec, more...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(text, ", ") + " -> " + out.String()
}

// TestReplaced holds that a chain of which the caller has a value is computed. OC.7
func TestReplaced(t *testing.T) {
	for _, gather := range []*model.Node{nil, {Operator: "openvino.EmbeddingBagOffsetsSum-3", Inputs: []*model.Value{{Spec: garner.SpecOf(garner.I64, 9)}}}} {
		checkReplaced(t, gather)
	}
}

func checkReplaced(t *testing.T, gather *model.Node) {
	p := usual()
	p.zero, p.shape, p.gather = convert("f16", zeros(garner.U8)), constantOf(garner.Of([]int64{8, 3}, 2)), gather
	n := p.chain()
	if got := callText(t, n, func(v *model.Value) bool { return v == n.Inputs[1] }); got == "as it is" {
		t.Error("a chain whose indices are given is computed")
	}
	all := append(p.passed, p.zero, p.zero.From.Inputs[0])
	if gather == nil {
		all = append(all, n.Inputs[2]) // the axis
	}
	for _, v := range all {
		if got := callText(t, n, func(other *model.Value) bool { return v == other }); got != "as it is" {
			t.Errorf("with another value for %v: %s", v, got)
		}
	}
}
