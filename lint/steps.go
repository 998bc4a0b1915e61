package lint

import (
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// steps are the operators whose results are bounded, by their names in ONNX and in
// OpenVINO, but those that package operators knows: they change only the shape, the
// type or the order.
var steps = func() map[string]step {
	all := map[string]step{}
	for _, some := range []map[string]step{elementSteps, choiceSteps, arithmeticSteps, lengthSteps} {
		maps.Copy(all, some)
	}
	return all
}()

// of is a step that needs the bounds of some inputs; ofAll needs those of all, and
// ofNone those of none.
func of(f func(c *operation) bounds, operands ...int) step { return step{operands, f, nil} }

func ofAll(f func(c *operation) bounds) step { return step{nil, f, nil} }

func ofNone(f func(c *operation) bounds) step { return step{[]int{}, f, nil} }

// An operation is one output of a node whose bounds are computed.
type operation struct {
	*linter
	node   *model.Node
	result *model.Value
	output int        // the number of the output; -1 behind the first mostPositions, of which no step asks
	err    error      // of reading a constant
	dims   *inference // of the dims, for what infers those
}

// A step says how an operator's results are bounded.
type step struct {
	operands []int // the inputs whose bounds it needs; nil means all
	bounds   func(c *operation) bounds
	more     func(n *model.Node) []*model.Value // further values whose bounds it needs
}

// reads lists the operands that a node has.
func (s step) reads(n *model.Node) []*model.Value {
	if s.operands == nil {
		return n.Inputs
	}
	if len(s.operands) == 1 && s.operands[0] == 0 && s.more == nil { // as of most, without allocation
		return n.Inputs[:min(len(n.Inputs), 1)]
	}
	var list []*model.Value
	for _, i := range s.operands {
		if i < len(n.Inputs) {
			list = append(list, n.Inputs[i])
		}
	}
	if s.more != nil {
		list = append(list, s.more(n)...)
	}
	return list
}

// isFirst reports whether a value is the first result of its node. Of the others, nothing asks
// for all inputs of the node, so that many results of many inputs cost no more than both.
func isFirst(v *model.Value) bool { return len(v.From.Outputs) == 0 || v.From.Outputs[0] == v }

// stepOf finds the step of the node that makes a value; false where the value may be anything.
func (l *linter) stepOf(v *model.Value) (step, bool) {
	n := v.From
	if n.IsGather() {
		if o, err := operators.Find(n.Operator, 0); err != nil || combines(o) {
			return step{}, false
		}
		return of(gathered, 0, 1), true
	}
	if n.Domain != "" || len(n.Graphs) > 0 {
		return step{}, false
	}
	if l.computesCodes(n) {
		return step{}, false
	}
	switch effect, _ := operators.EffectOf(n); effect {
	case operators.Reshaped:
		return of(reshaped, 0), true
	case operators.Cast:
		return of(castTo, 0), true
	case operators.Permuted:
		return of(transposed, 0), true
	}
	name := l.nameOf(n)
	s, ok := steps[name]
	if !ok {
		s, ok = tfliteSteps[name]
	}
	if l.wordsOf(XLA) {
		s, ok = hloSteps[name]
	}
	return s, ok && (s.operands != nil || isFirst(v)) // what needs all inputs has one result
}

// input gives the bounds of the i-th input; false where the node lacks it.
func (c *operation) input(i int) (bounds, bool) {
	if i < len(c.node.Inputs) && c.node.Inputs[i] != nil {
		return c.of(c.node.Inputs[i]), true
	}
	return anything(c.result), false
}

// spec gives what is known of the i-th input's shape.
func (c *operation) spec(i int) garner.Spec { return input(c.node, i).Spec }

// number gives an integer attribute.
func (c *operation) number(name string, without int64) int64 {
	switch v := c.node.Attributes[name].(type) {
	case int64:
		return v
	case string: // of OpenVINO's IR, whose reader leaves most of them text
		if n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64); err == nil {
			return n
		}
	}
	return without
}

// list gives integers that are an attribute or a constant input; false where they
// are neither, or are more than tensors have dims.
func (c *operation) list(name string, i int) ([]int64, bool) {
	if list, ok := c.node.Attributes[name].([]int64); ok {
		return list, true
	}
	from := c.constant(input(c.node, i))
	if from == nil || !from.Spec.DType.IsInteger() {
		return nil, false
	}
	if size, ok := from.Bytes(); !ok || size > 8*garner.MaxRank {
		return nil, false
	}
	if list, ok := c.lists[from]; ok { // a loop asks many times
		return list, true
	}
	var list []int64
	err := c.pieces(from, func(t garner.Tensor, _ int64) (bool, error) {
		return true, integers(t, func(_ int, v garner.Index) bool {
			list = append(list, int64(v.Bits))
			return true
		})
	})
	if err != nil {
		if !from.Unread() {
			c.err = err
		}
		return nil, false
	}
	c.lists[from] = list
	return list, true
}

// dim gives an extent of the i-th input by its axis, which may count from the end;
// AnyDim where it is unknown.
func (c *operation) dim(i int, axis int64) garner.Dim {
	s := c.spec(i)
	if axis < 0 {
		axis += int64(s.Rank.Min)
	}
	if !s.Rank.Known() || axis < 0 || axis >= int64(len(s.Dims)) {
		return garner.AnyDim
	}
	return s.Dims[axis]
}

// count gives the number of elements along some axes of the first input; along all
// where the axes are unknown.
func (c *operation) count(axes []int64, known bool) garner.Dim {
	s := c.spec(0)
	if !s.Rank.Known() {
		return garner.AnyDim
	}
	if !known || len(axes) == 0 {
		axes = nil
		for i := range s.Dims {
			axes = append(axes, int64(i))
		}
	}
	n := garner.Exactly(1)
	for _, a := range axes {
		d := c.dim(0, a)
		if d.Max == garner.Unbounded || n.Max > 0 && d.Max > math.MaxInt32/n.Max {
			return garner.AnyDim
		}
		n = garner.Dim{Min: n.Min * d.Min, Max: n.Max * d.Max}
	}
	return n
}

// ranged is the bounds of values in an interval, of the type that the model gives.
func (c *operation) ranged(i interval) bounds {
	return bounds{interval: i, dtype: c.result.Spec.DType, rank: -1}
}
