package fix

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/onnxedit"
	"github.com/garner-go/garner/lint"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// An onnxWriter writes mends as nodes of ONNX. A new number is a Constant node, which every
// graph may have; no initializer is added.
type onnxWriter struct {
	file  *onnxedit.File
	opset int // of ONNX's own domain
}

// onnxType gives ONNX's number of a dtype; 0 where it has none.
func onnxType(d garner.DType) int {
	for n := int64(1); n < 64; n++ {
		if d != garner.Invalid && operators.ONNXType(n) == d {
			return int(n)
		}
	}
	return 0
}

// A tooOld is a mend that needs a newer opset than the model has.
type tooOld struct{ has, needs int }

func (e *tooOld) Error() string {
	return fmt.Sprintf("the model has opset %d, and the mend needs operators of opset %d; raise the opset first (onnx.version_converter)", e.has, e.needs)
}

// replacement makes the nodes that stand in the place of a mend's node.
func (w *onnxWriter) replacement(m *lint.Mend) (made onnxedit.Replacement, names added, err error) {
	old := w.file.Node(m.Node.At)
	if old == nil {
		return made, names, fmt.Errorf("the node is not in the file at %s", m.Node.At)
	}
	base := "mended"
	if v := m.Node.Outputs[0]; v.Name != "" {
		base = v.Name + "/mended"
	}
	c := &onnxSteps{onnxWriter: w, mend: m, base: base, results: make([]string, len(m.Steps))}
	last := len(m.Steps) - 1
	output, err := outputOf(old)
	if err != nil {
		return made, names, err
	}
	for i := range m.Steps {
		if c.result = output; i < last {
			c.result = w.file.Free(base)
		}
		c.results[i] = c.result
		if m.Steps[i].Kind == lint.Gathered {
			node, err := c.gathered(old, &m.Steps[i], i == last)
			if err != nil {
				return made, names, err
			}
			c.made = append(c.made, node)
			c.types(&m.Steps[i])
			continue
		}
		if err := c.step(&m.Steps[i]); err != nil {
			return made, names, err
		}
		if i == last {
			c.names.last = c.names.all[len(c.names.all)-1]
		}
	}
	return onnxedit.Replacement{Nodes: c.made, Types: c.infos}, c.names, nil
}

// types declares the types of the operands that the node has got, as far as they are known:
// whoever reads the model may not infer them.
func (c *onnxSteps) types(s *lint.Step) {
	for _, o := range s.Operands {
		if _, old := o.Input(); old {
			continue
		}
		spec := c.mend.Steps[o].Spec
		if onnxType(spec.DType) == 0 || !spec.Rank.Known() {
			continue
		}
		var dims []int64
		for _, d := range spec.Dims {
			if !d.Known() {
				d.Min = -1
			}
			dims = append(dims, int64(d.Min))
		}
		c.infos = append(c.infos, onnxedit.Type(c.results[o], onnxType(spec.DType), dims))
	}
}

func outputOf(node []byte) (string, error) {
	outputs, err := onnxedit.Outputs(node)
	if err == nil && len(outputs) != 1 {
		err = fmt.Errorf("it has %d outputs", len(outputs))
	}
	if err != nil {
		return "", err
	}
	return outputs[0], nil
}

// onnxSteps is one mend on its way to nodes.
type onnxSteps struct {
	*onnxWriter
	mend    *lint.Mend
	base    string
	results []string // of the steps
	result  string   // of the step at hand
	made    [][]byte
	infos   [][]byte // types of values
	names   added
}

// of names an operand.
func (c *onnxSteps) of(o lint.Operand) (string, error) {
	i, ok := o.Input()
	if !ok {
		return c.results[o], nil
	}
	inputs, err := onnxedit.Inputs(c.file.Node(c.mend.Node.At))
	if err != nil || i >= len(inputs) {
		return "", fmt.Errorf("the node has no input %d", i)
	}
	return inputs[i], nil
}

// node adds a node that makes result.
func (c *onnxSteps) node(op, result string, inputs []string, attributes ...onnxedit.Attribute) {
	n := onnxedit.Node{Name: c.file.Free(c.base + "/" + op), Op: op, Inputs: inputs, Outputs: []string{result}, Attributes: attributes}
	if op != "Constant" { // which package modelproto gives as a value
		c.names.all = append(c.names.all, n.Name)
	} else {
		c.names.constants = append(c.names.constants, result)
	}
	c.made = append(c.made, n.Marshal())
}

// constant adds a constant.
func (c *onnxSteps) constant(result string, d garner.DType, scalar bool, values []int64) error {
	t := &onnxedit.Tensor{Type: onnxType(d)}
	if !scalar {
		t.Dims = []int64{int64(len(values))}
	}
	for _, v := range values {
		switch d {
		case garner.I64:
			t.Raw = binary.LittleEndian.AppendUint64(t.Raw, uint64(v))
		case garner.I32:
			t.Raw = binary.LittleEndian.AppendUint32(t.Raw, uint32(v))
		case garner.F32:
			t.Raw = binary.LittleEndian.AppendUint32(t.Raw, floatBits(v))
		default:
			return fmt.Errorf("no constant of %s is written", d)
		}
	}
	c.node("Constant", result, nil, onnxedit.Attribute{Name: "value", Tensor: t})
	return nil
}

// anonymous is constant with a name of its own.
func (c *onnxSteps) anonymous(d garner.DType, scalar bool, values ...int64) (string, error) {
	name := c.file.Free(c.base)
	return name, c.constant(name, d, scalar, values)
}

func ints(name string, values ...int64) onnxedit.Attribute {
	return onnxedit.Attribute{Name: name, Ints: values}
}

func integer(name string, value int64) onnxedit.Attribute {
	return onnxedit.Attribute{Name: name, Int: &value}
}

// simple are the kinds of steps that are one operator of the operands, and the opset from
// which that takes them, integers and broadcasting included.
var simple = map[lint.StepKind]struct {
	op    string
	since int
}{
	lint.Added: {"Add", 7}, lint.Taken: {"Sub", 7}, lint.Times: {"Mul", 7}, lint.Greatest: {"Max", 12}, lint.Least: {"Min", 12},
	lint.IsLess: {"Less", 9}, lint.Either: {"Or", 7}, lint.Chosen: {"Where", 9},
	lint.Shaped: {"Reshape", 5}, lint.Expanded: {"Expand", 8},
}

func (c *onnxSteps) needs(opset int) error {
	if c.opset < opset {
		return &tooOld{c.opset, opset}
	}
	return nil
}

func (c *onnxSteps) step(s *lint.Step) error {
	var inputs []string
	for _, o := range s.Operands {
		name, err := c.of(o)
		if err != nil {
			return err
		}
		inputs = append(inputs, name)
	}
	if one, ok := simple[s.Kind]; ok {
		c.node(one.op, c.result, inputs)
		return c.needs(one.since)
	}
	switch s.Kind {
	case lint.Numbers:
		return c.constant(c.result, s.Spec.DType, s.Scalar, s.Numbers)
	case lint.Casted:
		c.node("Cast", c.result, inputs, integer("to", int64(onnxType(s.Spec.DType))))
		return c.needs(6)
	case lint.Lengths:
		shape := c.file.Free(c.base)
		c.node("Shape", shape, inputs)
		at, err := c.anonymous(garner.I64, s.Scalar, s.Numbers...)
		if err != nil {
			return err
		}
		c.node("Gather", c.result, []string{shape, at})
		return nil
	case lint.Clamped:
		return c.clamp(s, inputs[0])
	case lint.Permuted:
		c.node("Transpose", c.result, inputs, ints("perm", s.Numbers...))
		return nil
	case lint.Joined:
		c.node("Concat", c.result, inputs, integer("axis", 0))
		return c.needs(4)
	case lint.Rows:
		c.node("Gather", c.result, inputs, integer("axis", s.Numbers[0]))
		return nil
	case lint.Unsqueeze:
		return c.withAxes("Unsqueeze", inputs, s.Numbers)
	case lint.Squeezed:
		return c.withAxes("Squeeze", inputs, s.Numbers)
	case lint.SumOfLast:
		return c.withAxes("ReduceSum", inputs, []int64{int64(len(s.Spec.Dims) - 1)})
	}
	return fmt.Errorf("no step %q is written", s.Kind)
}

// withAxes adds an operator whose axes are an input from opset 13 on, and an attribute
// before.
func (c *onnxSteps) withAxes(op string, inputs []string, axes []int64) error {
	if c.opset < 13 {
		c.node(op, c.result, inputs, ints("axes", axes...))
		return nil
	}
	name, err := c.anonymous(garner.I64, false, axes...)
	c.node(op, c.result, append(inputs, name))
	return err
}

// mostInFloat is up to where f32 holds every integer.
const mostInFloat = 1 << 24

// clamp adds Max and Min, which take integers from opset 12 on. Before that they take f32,
// which holds every position of an axis that is short enough; a number beyond is rounded,
// and stays beyond.
func (c *onnxSteps) clamp(s *lint.Step, x string) error {
	k := len(s.Numbers) / 2
	d := s.Spec.DType
	low, high := s.Numbers[:k], s.Numbers[k:]
	result := c.result
	if c.opset < 12 {
		if err := c.needs(8); err != nil {
			return err
		}
		if slices.Max(high) >= mostInFloat {
			return &tooOld{c.opset, 12}
		}
		asFloat := c.file.Free(c.base)
		c.node("Cast", asFloat, []string{x}, integer("to", int64(onnxType(garner.F32))))
		x, d, result = asFloat, garner.F32, c.file.Free(c.base)
	}
	for _, end := range []struct {
		op, result string
		values     []int64
	}{{"Max", c.file.Free(c.base), low}, {"Min", result, high}} {
		if !slices.ContainsFunc(end.values, func(v int64) bool { return v != end.values[0] }) {
			end.values = end.values[:1]
		}
		name, err := c.anonymous(d, len(end.values) == 1, end.values...)
		if err != nil {
			return err
		}
		c.node(end.op, end.result, []string{x, name})
		x = end.result
	}
	if d != s.Spec.DType {
		c.node("Cast", c.result, []string{x}, integer("to", int64(onnxType(s.Spec.DType))))
	}
	return nil
}

// gathered gives the node itself with its changes.
func (c *onnxSteps) gathered(old []byte, s *lint.Step, last bool) ([]byte, error) {
	change := onnxedit.Changes{Inputs: map[int]string{}, Attributes: s.Attributes, OwnDomain: s.Operator != ""}
	for i, o := range s.Operands {
		if _, same := o.Input(); !same {
			change.Inputs[i] = c.results[o]
		}
	}
	if !last {
		change.Outputs = map[int]string{0: c.result}
	}
	return onnxedit.Change(old, change)
}

// opsetOf gives the opset of ONNX's own domain.
func opsetOf(m *model.Model) int { return m.Opsets[""] }
