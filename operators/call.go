package operators

import (
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/openvino"
)

// A Call says how a node of a model gathers: by which operator, and from which values.
// It is what the node says, unless OpenVINO's chain of nodes computes the table of a
// constant before it: a compressed table. A Gather of one is openvino.compressed-gather of
// the constant, and the Call of another operator has a Table. Both decode only the rows
// that they take.
type Call struct {
	Operator   Operator
	Attributes map[string]any
	Inputs     []*model.Value       // data, indices, those of Operator.Inputs, and those of Table; nil for one that is left out
	Table      *openvino.Compressed // how the operator's table is computed from data, without its Op; nil: data is the table
}

// CallOf gives the call of a node that is a gather. replaced, unless it is nil, reports
// values for which the caller has others than the model; a chain with one of those is no
// compressed table. CallOf reads the constants that are an axis or a shape. Errors are
// those of [Find] and of [Operator.Complete], and name the node.
func CallOf(n *model.Node, replaced func(v *model.Value) bool) (Call, error) {
	o, err := Find(n.Operator, 0)
	if err == nil {
		err = o.Complete(n.Inputs)
	}
	if err != nil {
		return Call{}, model.AtNode(n, err)
	}
	if c, passed, ok := compressed(n, o); ok && (replaced == nil || !slices.ContainsFunc(passed, replaced)) {
		return c, nil
	}
	return Call{Operator: o, Attributes: n.Attributes, Inputs: n.Inputs}, nil
}

// Role names the i-th of Inputs: data, indices, axis.
func (c Call) Role(i int) string {
	roles := append([]string{"data", "indices"}, c.Operator.Inputs()...)
	if c.Table != nil {
		roles = append(roles, ofTable...)
	}
	if i < len(roles) {
		return roles[i]
	}
	return ""
}

// Bind makes the operator of Inputs behind data and indices, as [Operator.Bind] does.
func (c Call) Bind(inputs ...Input) (garner.Op, error) {
	own, _ := c.split(inputs)
	op, err := c.Operator.Bind(c.Attributes, own...)
	if err != nil || c.Table == nil {
		return op, err
	}
	table := *c.Table
	table.Op = op
	return table, nil
}

// Operands picks, of Inputs behind data and indices, the further operands of the
// operator that Bind makes, as [Operator.Operands] does.
func (c Call) Operands(inputs []Input) []Input {
	own, table := c.split(inputs)
	return append(c.Operator.Operands(own), table...)
}

// split separates the inputs of Operator from those of Table.
func (c Call) split(inputs []Input) (own, table []Input) {
	if c.Table == nil {
		return inputs, nil
	}
	n := len(c.Operator.places())
	return inputs[:n:n], inputs[n:]
}

// ofTable are the inputs of a Table.
var ofTable = []string{"scale", "zero_point"}

// compressedGather is the operator of a Gather of a compressed table.
var compressedGather = func() Operator {
	o, err := Find("openvino.compressed-gather", 0)
	if err != nil {
		panic(err)
	}
	return o
}()

// compressed gives the call of a node of an operator of OpenVINO whose table is the chain
// Convert, Subtract, Multiply, Reshape, Convert of a constant: OC.7. It gives false for any
// other node, and where the chain computes another table than openvino.compressed-gather
// decodes. passed are the values that the call does without.
func compressed(n *model.Node, o Operator) (made Call, passed []*model.Value, ok bool) {
	if !strings.HasPrefix(o.Name, "openvino.") {
		return made, nil, false
	}
	c := chain{}
	t, ok := c.over(n.Inputs[0])
	if !ok {
		return made, nil, false
	}
	further := []*model.Value{t.scale}
	if t.zero != nil {
		further = append(further, t.zero)
	}
	if version, gathers := strings.CutPrefix(o.Name, "openvino.Gather-"); gathers {
		if len(n.Inputs) != 3 {
			return made, nil, false
		}
		axis, known := fewIntegers(n.Inputs[2])
		if !known || len(axis) != 1 {
			return made, nil, false
		}
		c.passed = append(c.passed, n.Inputs[2])
		made = Call{Operator: compressedGather, Attributes: map[string]any{"axis": axis[0], "output": t.decoder.Output}, Inputs: append([]*model.Value{t.codes, n.Inputs[1]}, further...)}
		if t.decoder.Reshape != nil {
			made.Attributes["reshape"] = t.decoder.Reshape
		}
		if b, given := n.Attributes["batch_dims"]; given && b != int64(0) {
			made.Attributes["batch_dims"] = b
		}
		if version != "8" {
			made.Attributes["version"], _ = strconv.ParseInt(version, 10, 64)
		}
		op, err := made.Operator.Bind(made.Attributes)
		if err == nil {
			_, err = Infer(op, t.codes.Spec, n.Inputs[1].Spec, t.specs()...)
		}
		return made, c.passed, err == nil
	}
	if len(n.Inputs) > 2+len(o.places()) {
		return made, nil, false // which Bind refuses
	}
	inputs := make([]*model.Value, 2+len(o.places()))
	copy(inputs, n.Inputs)
	inputs[0] = t.codes
	table := t.decoder
	return Call{Operator: o, Attributes: n.Attributes, Inputs: append(inputs, further...), Table: &table}, c.passed, true
}

// A chain follows the values that make a compressed table.
type chain struct {
	passed []*model.Value
}

// node gives the node that makes v where it is of an operator that broadcasts as NumPy
// does, with the inputs that the operator has; nil for another.
func (c *chain) node(v *model.Value, op string) *model.Node {
	inputs := map[string]int{"Convert": 1, "Reshape": 2, "Subtract": 2, "Multiply": 2}[op]
	if v == nil || v.Constant != nil || v.From == nil || v.From.Op != op || v.From.Domain != "" ||
		len(v.From.Inputs) != inputs || slices.Contains(v.From.Inputs, nil) {
		return nil
	}
	if b, _ := v.From.Attributes["auto_broadcast"].(string); b != "" && !strings.EqualFold(b, "numpy") {
		return nil
	}
	c.passed = append(c.passed, v)
	return v.From
}

// behind gives the first input of the node that makes v, if it is of the operator, and the
// node; else v.
func (c *chain) behind(v *model.Value, op string) (*model.Value, *model.Node) {
	if n := c.node(v, op); n != nil {
		return n.Inputs[0], n
	}
	return v, nil
}

// A compressedTable is a table (codes - zero)·scale whose operands are constants.
type compressedTable struct {
	codes, scale, zero *model.Value        // zero is nil where nothing is subtracted
	computed           garner.DType        // of the nodes that compute the table
	decoder            openvino.Compressed // without its Op
}

// specs gives those of the scale and the zero point.
func (t *compressedTable) specs() []garner.Spec {
	list := []garner.Spec{t.scale.Spec}
	if t.zero != nil {
		list = append(list, t.zero.Spec)
	}
	return list
}

// over finds the compressed table that a value is.
func (c *chain) over(v *model.Value) (t compressedTable, ok bool) {
	t, last, reshape, ok := c.product(v)
	if !ok {
		return t, false
	}
	out := t.computed
	if last != nil {
		if out = CastType(last); out != t.computed && out != garner.F32 && t.computed != garner.F32 {
			return t, false
		}
	}
	t.decoder = openvino.Compressed{Output: out.String()}
	if reshape != nil {
		dims, ok := c.reshape(reshape, t.codes.Spec.Dims)
		if !ok {
			return t, false
		}
		for _, d := range dims {
			t.decoder.Reshape = append(t.decoder.Reshape, int(fit(d)))
		}
	}
	// A row of any table is one that the decoder takes, or none is.
	one := t.decoder
	one.Op = openvino.Gather8{}
	_, err := Infer(one, t.codes.Spec, garner.SpecOf(garner.I64), t.specs()...)
	return t, err == nil
}

// product finds the operands of a table, and the nodes Convert and Reshape behind their product; nil where there are none.
func (c *chain) product(v *model.Value) (t compressedTable, last, reshape *model.Node, ok bool) {
	at, last := c.behind(v, "Convert")
	at, reshape = c.behind(at, "Reshape")
	if last == nil {
		at, last = c.behind(at, "Convert") // before Reshape
	}
	product := c.node(at, "Multiply")
	if product == nil {
		return t, nil, nil, false
	}
	if t, ok = c.table(product.Inputs[0], product.Inputs[1]); !ok {
		t, ok = c.table(product.Inputs[1], product.Inputs[0])
	}
	return t, last, reshape, ok
}

// table finds the operands of a product.
func (c *chain) table(numbers, factor *model.Value) (t compressedTable, ok bool) {
	if subtract := c.node(numbers, "Subtract"); subtract != nil {
		numbers, t.zero = subtract.Inputs[0], subtract.Inputs[1]
	}
	convert := c.node(numbers, "Convert")
	if convert == nil || convert.Inputs[0].Fixed() == nil {
		return t, false
	}
	t.codes, t.computed = convert.Inputs[0], CastType(convert)
	c.passed = append(c.passed, t.codes)
	if t.computed != garner.F32 && t.computed != garner.F16 && t.computed != garner.BF16 || t.codes.Spec.DType.Bits() > 8 {
		return t, false
	}
	if t.scale, ok = c.operand(factor, t.computed); !ok {
		return t, false
	}
	if t.zero != nil {
		if t.zero, ok = c.operand(t.zero, t.computed); !ok {
			return t, false
		}
	}
	if t.codes.Spec.DType == garner.NF4 {
		return t, t.scale.Spec.DType == t.computed // to which a code is rounded: QB.8
	}
	return t, exactly(t.codes.Spec.DType, t.computed)
}

// operand gives the constant that a scale or a zero point is, or that it is an exact
// conversion of.
func (c *chain) operand(v *model.Value, computed garner.DType) (*model.Value, bool) {
	if convert := c.node(v, "Convert"); convert != nil && CastType(convert) == computed && exactly(convert.Inputs[0].Spec.DType, computed) {
		v = convert.Inputs[0]
	} else if v.Spec.DType != computed {
		return nil, false
	}
	c.passed = append(c.passed, v)
	return v, v.Fixed() != nil
}

// exactly reports whether every number of a dtype is one of another, a float.
func exactly(from, to garner.DType) bool {
	switch from {
	case to:
		return true
	case garner.F16, garner.BF16:
		return to == garner.F32
	case garner.NF4:
		return false
	case garner.F8E4M3FN, garner.F8E5M2, garner.F8E4M3FNUZ, garner.F8E5M2FNUZ, garner.F4E2M1:
		return true
	case garner.F8E8M0:
		return to != garner.F16
	}
	return from.IsInteger() && from.Bits() <= 8
}

// reshape gives the dims that a Reshape makes of those of a table; false where they are
// no constant.
func (c *chain) reshape(n *model.Node, table []garner.Dim) ([]int64, bool) {
	c.passed = append(c.passed, n.Inputs[1])
	dims, ok := fewIntegers(n.Inputs[1])
	if copies, _ := n.Attributes["special_zero"].(bool); ok && copies {
		for i, d := range dims {
			if d == 0 && i >= len(table) {
				return nil, false
			} else if d == 0 {
				dims[i] = int64(table[i].Min)
			}
		}
	}
	return dims, ok
}

// fewIntegers reads a constant of integers, of at most one per axis; false for any other
// value.
func fewIntegers(v *model.Value) (list []int64, ok bool) {
	c := v.Fixed()
	if c == nil || !c.Spec.DType.IsInteger() {
		return nil, false
	}
	if size, ok := c.Bytes(); !ok || size > 8*garner.MaxRank {
		return nil, false
	}
	err := mapped.Guard(func() error {
		t, err := c.Tensor()
		if err != nil {
			return err
		}
		list = make([]int64, t.Len())
		for i := range list {
			if list[i], err = near(t, i); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err == nil
}
