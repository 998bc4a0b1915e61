package lint

import (
	"errors"
	"fmt"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// A subject is a gather that the rules are applied to.
type subject struct {
	*linter
	node     *model.Node
	operator operators.Operator
	op       garner.Op // nil where refused is not
	refused  error     // why the operator refuses the node's attributes or axis

	call          operators.Call
	compressed    bool         // OpenVINO decodes rows of the constant that data is computed from
	data, indices *model.Value // never nil; model.Unknown where the node lacks them
	axis          int          // of Gather and GatherElements, counted from 0
	axisKnown     bool
	batch         int    // batch_dims; a negative one of Gather is counted from the rank of the indices where that is known
	hasGuard      *guard // what guarded found; nil before it is asked
}

func (l *linter) subject(n *model.Node) (*subject, error) {
	operator, err := operators.Find(n.Operator, 0)
	if err != nil {
		return nil, model.AtNode(n, err)
	}
	s := &subject{linter: l, node: n, operator: operator}
	if _, s.op, s.refused = operators.OfNode(n); s.refused != nil && !ofRules(s.refused) {
		return nil, s.refused
	}
	if call, err := operators.CallOf(n, nil); err == nil {
		s.call, s.compressed = call, n.Operator == "openvino.Gather-8" && decodesRows(call)
	}
	s.data, s.indices = input(n, 0), input(n, 1)
	b, _ := n.Attributes["batch_dims"].(int64)
	if rank := s.indices.Spec.Rank; b < 0 && rank.Known() && operator.Kind == operators.Gather {
		b += int64(rank.Min)
	}
	s.batch = int(min(max(b, -garner.MaxRank), garner.MaxRank)) // any value beyond is refused
	axis, known := int64(0), true
	if a, ok := n.Attributes["axis"].(int64); ok {
		axis = a
	} else if a, ok := n.Attributes["gather_axis"].(int64); ok { // of GatherBlockQuantized
		axis = a
	} else if hasAxis(operator) {
		if axis, known, err = l.number(input(n, 2)); err != nil {
			return nil, err
		}
	}
	if rank := s.indices.Spec.Rank; operator.AxisOfIndices() {
		axis, known = max(int64(rank.Min)-1, 0), rank.Known()
		s.batch = int(axis)
	}
	if rank := s.data.Spec.Rank; axis < 0 {
		known = known && rank.Known()
		axis += int64(rank.Min)
	}
	if s.axisKnown = known && 0 <= axis && axis < garner.MaxRank; s.axisKnown {
		s.axis = int(axis)
	}
	return s, nil
}

// decodesRows reports whether OpenVINO decodes the rows of a compressed table, given the
// call of a Gather-8. It computes any other table before.
func decodesRows(call operators.Call) bool {
	if call.Operator.Name != compressedGather || call.Attributes["batch_dims"] != nil {
		return false
	}
	rank := len(call.Inputs[0].Spec.Dims)
	if shape, ok := call.Attributes["reshape"].([]int); ok {
		return rank == 3 && len(shape) == 2
	}
	return rank <= 3
}

// hasAxis reports whether the input of an operator behind data and indices is the axis.
func hasAxis(o operators.Operator) bool { return slices.Contains(o.Inputs(), "axis") }

// combines reports whether a gather computes its result of several operands: it decodes
// its data, or adds up rows.
func combines(o operators.Operator) bool { return len(o.Further()) > 0 }

// ofRules reports whether an error comes from an operator's rules, and not from
// reading a constant.
func ofRules(err error) bool {
	return errors.Is(err, garner.ErrDType) || errors.Is(err, garner.ErrAttribute) || errors.Is(err, garner.ErrShape)
}

// lacking is what input gives for every input that a node lacks. It is one value, because
// lint asks each output of a node for such inputs.
var lacking = &model.Value{Spec: model.Unknown}

// input gives the i-th input, or an unknown value where the node lacks it.
func input(n *model.Node, i int) *model.Value {
	if i < len(n.Inputs) && n.Inputs[i] != nil {
		return n.Inputs[i]
	}
	return lacking
}

// number gives the value of an operand that is one constant integer.
func (l *linter) number(v *model.Value) (n int64, known bool, err error) {
	c := l.constant(v)
	if c == nil || !c.Spec.DType.IsInteger() {
		return 0, false, nil
	}
	for _, d := range c.Spec.Dims {
		if d.Min != 1 {
			return 0, false, nil
		}
	}
	err = mapped.Guard(func() error {
		t, err := c.Tensor()
		if err != nil {
			return err
		}
		i, err := t.Int(0)
		n = int64(i.Bits)
		return err
	})
	return n, err == nil, err
}

// constants returns a function that gives the constant whose elements a value has in the
// same row-major order; nil where there is none.
func constants() func(*model.Value) *model.Constant {
	return operators.Constants(func(to, from *model.Value) bool { return holds(to.Spec.DType, from.Spec.DType) })
}

// holds reports whether wide can represent every value of narrow, both integers.
func holds(wide, narrow garner.DType) bool {
	if !wide.IsInteger() || !narrow.IsInteger() {
		return false
	}
	switch {
	case wide.IsUnsigned() == narrow.IsUnsigned():
		return wide.Bits() >= narrow.Bits()
	case narrow.IsUnsigned():
		return wide.Bits() > narrow.Bits()
	}
	return false
}

// k gives the length of an index tuple of GatherND; AnyDim where it is unknown.
func (s *subject) k() garner.Dim {
	dims := s.indices.Spec.Dims
	if s.operator.Kind != operators.GatherND || len(dims) == 0 {
		return garner.AnyDim
	}
	return dims[len(dims)-1]
}

// addressed gives the dims of data that the components of an index tuple address,
// in order; nil where the length of a tuple is unknown. Of windows it gives how many
// starts they have.
func (s *subject) addressed() []garner.Dim {
	if isWindows(s.operator) {
		return s.starts()
	}
	first, n := s.axis, 1
	if s.operator.Kind == operators.GatherND {
		k := s.k()
		if !k.Known() || k.Min > garner.MaxRank || s.batch < 0 {
			return nil
		}
		first, n = s.batch, k.Min
	} else if !s.axisKnown {
		return []garner.Dim{garner.AnyDim}
	}
	dims := slices.Repeat([]garner.Dim{garner.AnyDim}, n)
	for i := range dims {
		if first+i < len(s.data.Spec.Dims) {
			dims[i] = s.data.Spec.Dims[first+i]
		}
	}
	return dims
}

// known reports whether every dim of a value is known.
func known(v *model.Value) bool {
	_, ok := v.Spec.Shape()
	return ok
}

// position names the index with row-major number at: indices[2,0].
func (s *subject) position(at int64) string {
	shape, ok := s.indices.Spec.Shape()
	if !ok || len(shape) == 0 {
		if at == 0 {
			return "indices"
		}
		return fmt.Sprintf("element %d of the indices", at)
	}
	position := make(garner.Shape, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] > 0 {
			position[i] = int(at % int64(shape[i]))
			at /= int64(shape[i])
		}
	}
	return "indices" + position.String()
}
