package run

import (
	"math"
	"strconv"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// A call evaluates one node.
type call struct {
	*runner
	node    *model.Node
	pending garner.DType // the outputs are yet to be cast to this type; Invalid: to none
	wide    bool         // the pending cast is one that further arithmetic leaves out; see wide.go
	strict  bool         // the node neither takes nor makes wide values
	rounded bool         // an output of f16 or bf16 may be rounded; see wide.go
}

func (c *call) onnx() bool { return c.model.Format == "ONNX" }

// openvino reports whether the runtime of the model is OpenVINO.
func (c *call) openvino() bool { return c.model.Format == irFormat }

// irFormat is the Format of models of OpenVINO.
const irFormat = "OpenVINO IR"

// evaluate computes the outputs of the node.
func (c *call) evaluate() ([]garner.Tensor, error) {
	made, err := evaluatorOf(c.model, c.node)(c)
	if err == nil && len(made) != len(c.node.Outputs) {
		return nil, garner.Errorf(garner.ErrAttribute, "it has %d outputs; %s makes %d of its inputs", len(c.node.Outputs), c.node.Op, len(made))
	}
	if err != nil {
		return nil, err
	}
	return c.narrowed(made)
}

// beforeOpset reports whether the node is of an older opset of ONNX.
func (c *call) beforeOpset(opset int) bool {
	return c.onnx() && c.node.Version > 0 && c.node.Version < opset
}

// has reports whether the node has an i-th input.
func (c *call) has(i int) bool { return i < len(c.node.Inputs) && c.node.Inputs[i] != nil }

// input returns the i-th input.
func (c *call) input(i int) (garner.Tensor, error) {
	if !c.has(i) {
		return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "%s needs an input %d, and the node has none", c.node.Op, i)
	}
	return c.takes(i)
}

// inputs returns the first n inputs.
func (c *call) inputs(n int) ([]garner.Tensor, error) {
	list := make([]garner.Tensor, n)
	for i := range list {
		var err error
		if list[i], err = c.input(i); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// unjoinedInput returns the first input, a pending cast not done, for its dtype and its shape: where its elements lie apart,
// its tensor is a stand-in.
func (c *call) unjoinedInput() (*value, error) {
	if !c.has(0) {
		_, err := c.input(0)
		return nil, err
	}
	return c.unjoined(c.node.Inputs[0])
}

// number returns an integer attribute, or the default where the node has none.
func (c *call) number(name string, without int64) (int64, error) {
	switch v := c.node.Attributes[name].(type) {
	case nil:
		return without, nil
	case int64:
		return v, nil
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	default:
		return 0, garner.Errorf(garner.ErrAttribute, "its %s is %v; it must be an integer", name, v)
	}
}

// list returns an attribute that is a list or, without one, the i-th input; nil
// where the node has neither.
func (c *call) list(name string, i int) ([]int64, error) { return c.longList(name, i, maxNumbers) }

// longList is a list of up to most numbers.
func (c *call) longList(name string, i, most int) ([]int64, error) {
	switch v := c.node.Attributes[name].(type) {
	case nil:
	case []int64:
		if len(v) > most {
			return nil, garner.Errorf(garner.ErrAttribute, "its %s has %d numbers; there may be %d", name, len(v), most)
		}
		return v, nil
	default:
		return nil, garner.Errorf(garner.ErrAttribute, "its %s is %v; it must be a list of integers", name, v)
	}
	if !c.has(i) {
		return nil, nil
	}
	t, err := c.input(i)
	if err != nil {
		return nil, err
	}
	if err := c.known(i); err != nil {
		return nil, err
	}
	return integersOf(t, name, most)
}

// maxNumbers is the most numbers that an input of axes or dims may have.
const maxNumbers = garner.MaxRank

// integersOf reads a scalar or a vector of up to most integers. A u64 beyond int64 becomes
// the greatest int64.
func integersOf(t garner.Tensor, what string, most int) ([]int64, error) {
	if t.Rank() > 1 || t.Len() > most || !t.DType().IsInteger() {
		return nil, garner.Errorf(garner.ErrShape, "its %s is %s%s; it must be up to %d integers", what, t.DType(), t.Shape(), most)
	}
	list := make([]int64, t.Len())
	for i := range list {
		v, err := t.Int(i)
		if err != nil {
			return nil, err
		}
		list[i] = int64(v.Bits)
		if v.Unsigned && v.Bits > math.MaxInt64 {
			list[i] = math.MaxInt64
		}
	}
	return list, nil
}

// axisOf converts an axis, which may count from the end, to 0 … rank-1.
func axisOf(axis int64, rank int) (int, error) {
	if axis < -int64(rank) || axis >= int64(rank) {
		return 0, &garner.ShapeError{Kind: garner.KindAxis, Message: "its axis is " + strconv.FormatInt(axis, 10) + ", and there are " + strconv.Itoa(rank) + " dims"}
	}
	if axis < 0 {
		axis += int64(rank)
	}
	return int(axis), nil
}

// axisSet converts axes to a set over 0 … rank-1. An axis that occurs twice is
// refused.
func axisSet(axes []int64, rank int) ([]bool, error) {
	marked := make([]bool, rank)
	for _, a := range axes {
		axis, err := axisOf(a, rank)
		if err != nil {
			return nil, err
		}
		if marked[axis] {
			return nil, garner.Errorf(garner.ErrShape, "its axes %v name axis %d twice", axes, axis)
		}
		marked[axis] = true
	}
	return marked, nil
}

// shapeOfDims converts numbers to a shape.
func shapeOfDims(dims []int64) (garner.Shape, error) {
	shape := make(garner.Shape, len(dims))
	for i, d := range dims {
		if d < 0 || d > math.MaxInt {
			return nil, mismatch("%v is no shape: dim %d is %d", dims, i, d)
		}
		shape[i] = int(d)
	}
	return shape, nil
}

// mismatch returns an ErrShape.
func mismatch(format string, args ...any) error {
	return garner.Errorf(garner.ErrShape, format, args...)
}
