package operators

import (
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/model"
)

// OfNode gives the operator of a node that is a gather, and the same bound to the
// node's attributes and to those of its inputs beyond data and indices that are part
// of the operator, such as the axis; [FurtherOf] gives the others. Such an input that
// is no constant of the model leaves an operator for inference only.
//
// It reads the constants of those inputs, a few bytes each. Errors name the node:
// those of [Find] and [Operator.Bind], an ErrAttribute where the node lacks an
// input, and what reading a constant gave.
func OfNode(n *model.Node) (Operator, garner.Op, error) {
	fail := func(err error) (Operator, garner.Op, error) { return Operator{}, nil, model.AtNode(n, err) }
	operator, err := Find(n.Operator, 0)
	if err != nil {
		return fail(err)
	}
	if err := operator.Complete(n.Inputs); err != nil {
		return fail(err)
	}
	var op garner.Op
	// A constant may lie in a mapped file.
	err = mapped.Guard(func() error {
		inputs := make([]Input, len(n.Inputs)-2)
		for i, v := range n.Inputs[2:] {
			if v == nil {
				continue
			}
			inputs[i].Spec = typed(v.Spec, garner.I64)
			c := v.Fixed()
			if c == nil || !operator.Binds(i) {
				continue
			}
			// An input has at most one integer per axis. Bind refuses a larger one by
			// its shape, so it is not read.
			if size, ok := c.Bytes(); !ok || size > 16*garner.MaxRank {
				continue
			}
			t, err := c.Tensor()
			if err != nil {
				return err
			}
			inputs[i].Value = t
		}
		var err error
		op, err = operator.Bind(n.Attributes, inputs...)
		return err
	})
	if err != nil {
		return fail(err)
	}
	return operator, op, nil
}

// Complete is an ErrAttribute where inputs, as a model's node has them, lack one that
// the operator needs: data, indices, or one of the first Needs of Inputs.
func (o Operator) Complete(inputs []*model.Value) error {
	for i := range 2 + o.Needs() {
		if i >= len(inputs) || inputs[i] == nil {
			names := append([]string{"data", "indices"}, o.Inputs()...)
			last := 1 + o.Needs()
			return garner.Errorf(garner.ErrAttribute, "%s needs its input %s; it takes %s and %s, and the node lacks one of its inputs", o.Name, names[i], strings.Join(names[:last], ", "), names[last])
		}
	}
	return nil
}

// FurtherOf gives what is known of the operands that a gather's call takes after the
// indices, for [Infer]. An operand that the node leaves out is the zero Spec.
func FurtherOf(o Operator, n *model.Node) []garner.Spec {
	if len(o.Further()) == 0 {
		return nil
	}
	inputs := make([]Input, max(len(n.Inputs)-2, 0))
	for i := range inputs {
		if v := n.Inputs[2+i]; v != nil {
			inputs[i].Spec = v.Spec
		}
	}
	var list []garner.Spec
	for _, in := range o.Operands(inputs) {
		list = append(list, in.Spec)
	}
	return list
}

// typed gives a spec a dtype where it has none. Rules refuse dtypes, and an
// unknown one must not look like one that is refused.
func typed(s garner.Spec, dtype garner.DType) garner.Spec {
	if s.DType == garner.Invalid {
		s.DType = dtype
	}
	return s
}

// Infer is garner.Infer for operands whose dtype may be unknown, which is
// garner.Invalid: models leave dtypes out. No rule refuses an unknown dtype. The
// result's dtype is unknown where it follows from an unknown one, and all of the result
// is where its dims do: a byte holds several codes. more are the further operands; the
// zero Spec is one that is not given.
func Infer(op garner.Op, data, indices garner.Spec, more ...garner.Spec) (garner.Spec, error) {
	unknown := data.DType == garner.Invalid
	data = typed(data, garner.U8)
	if garner.TakesIndices(op) {
		indices = typed(indices, garner.I64)
	}
	own, untyped := slices.Clone(more), []int(nil) // the second: those of the elements' dtype
	for i, o := range garner.OperandsOf(op) {
		given := i < len(own) && !(Input{Spec: own[i]}).absent()
		switch {
		case o.Types == garner.AnyTypes && unknown:
			return model.Unknown, nil
		case !given:
		case o.Types == garner.IntegerTypes:
			own[i] = typed(own[i], garner.I64)
		case o.Types == garner.DataType:
			own[i] = typed(own[i], data.DType)
		case own[i].DType != garner.Invalid:
		case o.Types == garner.ElementType:
			untyped = append(untyped, i)
		default:
			own[i].DType, unknown = garner.F32, true
		}
	}
	if len(untyped) > 0 {
		without := slices.Clone(own)
		for _, i := range untyped {
			without[i] = garner.Spec{}
		}
		elements, err := garner.Infer(op, data, indices, without...)
		if err != nil {
			return elements, err
		}
		for _, i := range untyped {
			own[i].DType = elements.DType
		}
	}
	result, err := garner.Infer(op, data, indices, own...)
	if err == nil && unknown {
		result.DType = garner.Invalid
	}
	return result, err
}

// InferNode gives the dtype and the shape of a gather's result, as far as they
// follow from the node's attributes, from the specs of its inputs, and from the
// constants among them. It does not look at what the model says of the result,
// and changes nothing. Errors name the node: those of [OfNode], and those of
// garner.Infer where the operator's rules refuse the operands.
func InferNode(n *model.Node) (garner.Spec, error) {
	operator, op, err := OfNode(n)
	if err != nil {
		return garner.Spec{}, err
	}
	result, err := Infer(op, n.Inputs[0].Spec, n.Inputs[1].Spec, FurtherOf(operator, n)...)
	if err != nil {
		return garner.Spec{}, model.AtNode(n, err)
	}
	return result, nil
}

// CastType gives the dtype that a node casts to, by its attributes or by the value that
// it is to be like; garner.Invalid where neither says it, or garner lacks the type.
func CastType(n *model.Node) garner.DType {
	if strings.HasSuffix(n.Op, "Like") {
		if len(n.Inputs) > 1 && n.Inputs[1] != nil {
			return n.Inputs[1].Spec.DType
		}
		return garner.Invalid
	}
	if n.Op == "CAST" || n.Op == "DEQUANTIZE" { // of LiteRT, which looks at the result alone
		if len(n.Outputs) > 0 && n.Outputs[0] != nil {
			return n.Outputs[0].Spec.DType
		}
		return garner.Invalid
	}
	name, _ := n.Attributes["destination_type"].(string)
	if to, ok := n.Attributes["DstT"].(string); ok { // of TensorFlow
		name = to
	}
	switch to := n.Attributes["to"].(type) {
	case int64:
		return ONNXType(to)
	case string: // before opset 6
		name = to
	}
	d, _ := garner.ParseDType(name)
	return d
}
