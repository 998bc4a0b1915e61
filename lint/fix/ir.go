package fix

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/iredit"
	"github.com/garner-go/garner/lint"
)

// irSteps is one mend on its way to layers of OpenVINO's IR. A Const has its elements in
// the .bin, which stays as it is, so a new number is computed: the shape of the shape of the
// shape of any value is [1], and Clamp makes any number of it. OpenVINO folds that when it
// compiles the model.
type irSteps struct {
	file    *iredit.File
	mend    *lint.Mend
	base    string
	layers  []iredit.Layer
	results []iredit.Source // of the steps
	one     *iredit.Source  // the vector [1] of i64
	names   added
}

// precision names a dtype as ports do, elementType as attributes do.
func precision(d garner.DType) string {
	switch d {
	case garner.F16:
		return "FP16"
	case garner.F32:
		return "FP32"
	case garner.F64:
		return "FP64"
	case garner.Bool:
		return "BOOL"
	case garner.U1:
		return "BIN"
	case garner.Invalid:
		return "UNSPECIFIED"
	}
	return strings.ToUpper(elementType(d))
}

func elementType(d garner.DType) string {
	switch d {
	case garner.Bool:
		return "boolean"
	case garner.F8E4M3FN:
		return "f8e4m3"
	}
	return d.String()
}

func portOf(s garner.Spec) (iredit.Port, error) {
	if !s.Rank.Known() {
		return iredit.Port{}, fmt.Errorf("the rank of an operand is not known; declare it in the model")
	}
	p := iredit.Port{Precision: precision(s.DType)}
	for _, d := range s.Dims {
		if d.Known() {
			p.Dims = append(p.Dims, int64(d.Min))
		} else {
			p.Dims = append(p.Dims, -1)
		}
	}
	return p, nil
}

// irReplacement makes the layers that stand in the place of a mend's layer.
func irReplacement(file *iredit.File, m *lint.Mend) (r iredit.Replacement, names added, err error) {
	if n, err := fmt.Sscanf(m.Node.At, "line %d, column %d", &r.At.Line, &r.At.Column); n != 2 || err != nil {
		return r, names, fmt.Errorf("the layer has no place in the text")
	}
	c := &irSteps{file: file, mend: m, base: m.Node.Name + "/mended", results: make([]iredit.Source, len(m.Steps))}
	r.Kept = -1
	last := len(m.Steps) - 1
	for i := range m.Steps {
		s := &m.Steps[i]
		if s.Kind != lint.Gathered {
			made, err := c.step(s)
			if err != nil {
				return r, names, err
			}
			c.results[i] = made
			continue
		}
		of, err := portOf(s.Spec)
		if err != nil && i < last {
			return r, names, err
		}
		l := iredit.Layer{Name: m.Node.Name, Result: of}
		for _, o := range s.Operands {
			from, err := c.of(o)
			if err != nil {
				return r, names, err
			}
			l.Inputs = append(l.Inputs, from)
		}
		if i < last {
			l.Name = file.Free(c.base)
			c.names.kept = l.Name
		}
		r.Kept = len(c.layers)
		r.Changes = map[string]string{}
		for name, v := range s.Attributes {
			r.Changes[name] = strconv.FormatInt(v, 10)
		}
		if s.Operator != "" {
			_, version, _ := strings.Cut(s.Operator, "-")
			r.Changes["version"] = "opset" + version
		}
		c.layers = append(c.layers, l)
		c.results[i] = iredit.Source{Layer: r.Kept, Of: of}
	}
	if m.Steps[last].Kind != lint.Gathered {
		l := &c.layers[len(c.layers)-1]
		c.names.all = slices.DeleteFunc(c.names.all, func(name string) bool { return name == l.Name })
		l.Name = m.Node.Name
		c.names.last = l.Name
	}
	r.Layers = c.layers
	return r, c.names, nil
}

// of gives where an operand comes from.
func (c *irSteps) of(o lint.Operand) (iredit.Source, error) {
	i, ok := o.Input()
	if !ok {
		return c.results[o], nil
	}
	of, err := portOf(c.mend.Node.Inputs[i].Spec)
	if err != nil {
		of = iredit.Port{Precision: precision(c.mend.Node.Inputs[i].Spec.DType)}
	}
	return iredit.Source{Input: i, Layer: -1, Of: of}, nil
}

// add adds a layer and gives its result.
func (c *irSteps) add(kind, version string, of iredit.Port, inputs []iredit.Source, data ...iredit.Attribute) iredit.Source {
	l := iredit.Layer{Name: c.file.Free(c.base + "/" + kind), Type: kind, Version: version, Data: data, Inputs: inputs, Result: of}
	c.names.all = append(c.names.all, l.Name)
	c.layers = append(c.layers, l)
	return iredit.Source{Layer: len(c.layers) - 1, Of: of}
}

// shapeOf is the shape of a value of known rank.
func (c *irSteps) shapeOf(x iredit.Source) iredit.Source {
	rank := int64(len(x.Of.Dims))
	return c.add("ShapeOf", "opset3", iredit.Port{Precision: "I64", Dims: []int64{rank}}, []iredit.Source{x}, iredit.Attribute{Name: "output_type", Value: "i64"})
}

// number is a vector of one number, and numbers a vector.
func (c *irSteps) number(v int64) (iredit.Source, error) {
	if c.one == nil {
		x, err := c.of(lint.Input(1))
		if err != nil {
			return x, err
		}
		x = c.shapeOf(c.shapeOf(c.shapeOf(x)))
		c.one = &x
	}
	text := strconv.FormatInt(v, 10)
	return c.add("Clamp", "opset1", c.one.Of, []iredit.Source{*c.one}, iredit.Attribute{Name: "min", Value: text}, iredit.Attribute{Name: "max", Value: text}), nil
}

func (c *irSteps) numbers(values []int64) (iredit.Source, error) {
	if len(values) == 0 { // the shape of a scalar
		x, err := c.scalar(0)
		return c.shapeOf(x), err
	}
	var parts []iredit.Source
	for _, v := range values {
		x, err := c.number(v)
		if err != nil {
			return x, err
		}
		parts = append(parts, x)
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return c.add("Concat", "opset1", iredit.Port{Precision: "I64", Dims: []int64{int64(len(parts))}}, parts, iredit.Attribute{Name: "axis", Value: "0"}), nil
}

func (c *irSteps) scalar(v int64) (iredit.Source, error) {
	x, err := c.number(v)
	return c.asScalar(x), err
}

func (c *irSteps) asScalar(x iredit.Source) iredit.Source {
	return c.add("Squeeze", "opset1", iredit.Port{Precision: x.Of.Precision}, []iredit.Source{x})
}

func (c *irSteps) convert(x iredit.Source, to garner.DType) iredit.Source {
	of := iredit.Port{Precision: precision(to), Dims: x.Of.Dims}
	if x.Of.Precision == of.Precision {
		return x
	}
	return c.add("Convert", "opset1", of, []iredit.Source{x}, iredit.Attribute{Name: "destination_type", Value: elementType(to)})
}

// irSimple are the kinds of steps that are one layer of the operands.
var irSimple = map[lint.StepKind]struct {
	kind, version string
	data          []iredit.Attribute
}{
	lint.Added: {"Add", "opset1", numpy}, lint.Taken: {"Subtract", "opset1", numpy}, lint.Times: {"Multiply", "opset1", numpy},
	lint.Greatest: {"Maximum", "opset1", numpy}, lint.Least: {"Minimum", "opset1", numpy}, lint.IsLess: {"Less", "opset1", numpy},
	lint.Either: {"LogicalOr", "opset1", numpy}, lint.Chosen: {"Select", "opset1", numpy},
	lint.Shaped:   {"Reshape", "opset1", []iredit.Attribute{{Name: "special_zero", Value: "false"}}},
	lint.Expanded: {"Broadcast", "opset3", []iredit.Attribute{{Name: "mode", Value: "numpy"}}},
	lint.Joined:   {"Concat", "opset1", []iredit.Attribute{{Name: "axis", Value: "0"}}},
}

var numpy = []iredit.Attribute{{Name: "auto_broadcast", Value: "numpy"}}

func (c *irSteps) step(s *lint.Step) (iredit.Source, error) {
	var inputs []iredit.Source
	for _, o := range s.Operands {
		x, err := c.of(o)
		if err != nil {
			return x, err
		}
		inputs = append(inputs, x)
	}
	of, err := portOf(s.Spec)
	if err != nil {
		return iredit.Source{}, err
	}
	if one, ok := irSimple[s.Kind]; ok {
		return c.add(one.kind, one.version, of, inputs, one.data...), nil
	}
	withNumbers := func(kind string, values []int64, data ...iredit.Attribute) (iredit.Source, error) {
		x, err := c.numbers(values)
		return c.add(kind, "opset1", of, append(inputs, x), data...), err
	}
	switch s.Kind {
	case lint.Numbers:
		x, err := c.numbers(s.Numbers)
		if s.Scalar {
			x = c.asScalar(x)
		}
		return c.convert(x, s.Spec.DType), err
	case lint.Casted:
		return c.convert(inputs[0], s.Spec.DType), nil
	case lint.Lengths:
		at, err := c.numbers(s.Numbers)
		shape := c.shapeOf(inputs[0])
		x := c.add("GatherElements", "opset6", at.Of, []iredit.Source{shape, at}, iredit.Attribute{Name: "axis", Value: "0"})
		if s.Scalar {
			x = c.asScalar(x)
		}
		return x, err
	case lint.Clamped:
		return c.clamp(s, of, inputs[0])
	case lint.Permuted:
		return withNumbers("Transpose", s.Numbers)
	case lint.Unsqueeze:
		return withNumbers("Unsqueeze", s.Numbers)
	case lint.Squeezed:
		return withNumbers("Squeeze", s.Numbers)
	case lint.SumOfLast:
		return withNumbers("ReduceSum", []int64{int64(len(s.Spec.Dims) - 1)}, iredit.Attribute{Name: "keep_dims", Value: "true"})
	}
	return iredit.Source{}, fmt.Errorf("no step %q is written", s.Kind)
}

// clamp is Clamp where all components have the same ends.
func (c *irSteps) clamp(s *lint.Step, of iredit.Port, x iredit.Source) (iredit.Source, error) {
	k := len(s.Numbers) / 2
	if k == 1 {
		return c.add("Clamp", "opset1", of, []iredit.Source{x}, iredit.Attribute{Name: "min", Value: strconv.FormatInt(s.Numbers[0], 10)}, iredit.Attribute{Name: "max", Value: strconv.FormatInt(s.Numbers[1], 10)}), nil
	}
	for i, kind := range []string{"Maximum", "Minimum"} {
		end, err := c.numbers(s.Numbers[i*k : (i+1)*k])
		if err != nil {
			return x, err
		}
		x = c.add(kind, "opset1", of, []iredit.Source{x, c.convert(end, s.Spec.DType)}, numpy...)
	}
	return x, nil
}
