package run

import (
	"math"
	"slices"

	"github.com/garner-go/garner"
)

// reshape gives a tensor another shape. It copies the elements only where no
// view has that shape.
func (r *runner) reshape(t garner.Tensor, shape garner.Shape) (garner.Tensor, error) {
	if v, err := t.Reshape(shape...); err == nil {
		return v, nil
	}
	if n, ok := shape.Len(); !ok || n != t.Len() {
		return garner.Tensor{}, mismatch("%s has %d elements, and %s has not", t.Shape(), t.Len(), shape)
	}
	t, err := r.clone(t)
	if err != nil {
		return garner.Tensor{}, err
	}
	return t.Reshape(shape...)
}

// clone copies a tensor, row-major.
func (r *runner) clone(t garner.Tensor) (garner.Tensor, error) {
	made, err := r.new(t.DType(), t.Shape())
	if err != nil || r.bare {
		return made, err
	}
	return made, garner.Copy(made, t)
}

func identity(c *call) (garner.Tensor, error) { return c.sameElements() }

func reshape(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	dims, err := c.list("shape", 1)
	if err != nil {
		return garner.Tensor{}, err
	}
	if dims == nil {
		_, err := c.input(1)
		return garner.Tensor{}, err
	}
	zeros, err := c.number("allowzero", 0) // 1: a dim of 0 is 0
	if !c.onnx() {
		var special int64 // 1: a dim of 0 is the dim of the input
		if special, err = c.number("special_zero", 0); special == 0 {
			zeros = 1
		}
	}
	if err != nil {
		return garner.Tensor{}, err
	}
	dims = slices.Clone(dims)
	rest, known := -1, garner.Shape{}
	for i, d := range dims {
		switch {
		case d == 0 && zeros == 0 && i >= t.Rank():
			return garner.Tensor{}, mismatch("its shape %v asks for dim %d of %s", dims, i, t.Shape())
		case d == 0 && zeros == 0:
			dims[i] = int64(t.Shape()[i])
		case d == -1 && rest >= 0:
			return garner.Tensor{}, mismatch("its shape %v has more than one -1", dims)
		case d == -1:
			rest = i
			continue
		case d < 0 || d > math.MaxInt:
			return garner.Tensor{}, mismatch("%v is no shape: dim %d is %d", dims, i, d)
		}
		known = append(known, int(dims[i]))
	}
	if rest >= 0 {
		n, ok := known.Len()
		if !ok || n == 0 || t.Len()%n != 0 {
			return garner.Tensor{}, mismatch("its shape %v leaves no dim for -1: %s has %d elements", dims, t.Shape(), t.Len())
		}
		dims[rest] = int64(t.Len() / n)
	}
	shape, err := shapeOfDims(dims)
	if err != nil {
		return garner.Tensor{}, err
	}
	return c.runner.reshape(t, shape)
}

func flatten(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	axis, err := c.number("axis", 1)
	if err != nil {
		return garner.Tensor{}, err
	}
	if axis != int64(t.Rank()) {
		at, err := axisOf(axis, t.Rank())
		if err != nil {
			return garner.Tensor{}, err
		}
		axis = int64(at)
	}
	left, _ := t.Shape()[:axis].Len()
	right, _ := t.Shape()[axis:].Len()
	return c.runner.reshape(t, garner.Shape{left, right})
}

func squeeze(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	axes, err := c.list("axes", 1)
	if err != nil {
		return garner.Tensor{}, err
	}
	// For OpenVINO an empty list of axes means all, as no list does.
	all := axes == nil || len(axes) == 0 && !c.onnx()
	drop, err := axisSet(axes, t.Rank())
	if err != nil {
		return garner.Tensor{}, err
	}
	skip, err := c.number("allow_axis_skip", 0)
	if err != nil {
		return garner.Tensor{}, err
	}
	var shape garner.Shape
	for i, d := range t.Shape() {
		switch {
		case drop[i] && d != 1 && skip == 0:
			return garner.Tensor{}, mismatch("axis %d of %s cannot be dropped: it is not 1", i, t.Shape())
		case d == 1 && (all || drop[i]):
		default:
			shape = append(shape, d)
		}
	}
	return c.runner.reshape(t, shape)
}

func unsqueeze(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	axes, err := c.list("axes", 1)
	if err != nil {
		return garner.Tensor{}, err
	}
	rank := t.Rank() + len(axes)
	if axes == nil || rank > garner.MaxRank {
		return garner.Tensor{}, mismatch("its axes %v make a tensor of rank %d of %s; there may be %d", axes, rank, t.Shape(), garner.MaxRank)
	}
	added, err := axisSet(axes, rank)
	if err != nil {
		return garner.Tensor{}, err
	}
	shape := make(garner.Shape, 0, rank)
	from := t.Shape()
	for _, one := range added {
		if one {
			shape = append(shape, 1)
		} else {
			shape = append(shape, from[0])
			from = from[1:]
		}
	}
	return c.runner.reshape(t, shape)
}

func transpose(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	order, err := c.list("perm", 1)
	if err != nil {
		return garner.Tensor{}, err
	}
	perm := make([]int, len(order))
	for i, p := range order {
		if p < 0 || p >= maxNumbers {
			return garner.Tensor{}, mismatch("%v is no order of the dims of %s", order, t.Shape())
		}
		perm[i] = int(p)
	}
	return t.Transpose(perm...)
}

func shapeOf(c *call) (garner.Tensor, error) {
	v, err := c.unjoinedInput()
	if err != nil {
		return garner.Tensor{}, err
	}
	rank := int64(v.tensor.Rank())
	ends := [2]int64{0, rank}
	for i, name := range []string{"start", "end"} {
		if ends[i], err = c.number(name, ends[i]); err != nil {
			return garner.Tensor{}, err
		}
		if ends[i] < 0 {
			ends[i] += rank
		}
		ends[i] = min(max(ends[i], 0), rank)
	}
	dims := []int64{}
	for _, d := range v.tensor.Shape()[ends[0]:max(ends[0], ends[1])] {
		dims = append(dims, int64(d))
	}
	return c.typed(garner.Of(dims, len(dims)))
}

// typed casts an i64 tensor to the node's output_type, where it has one.
func (c *call) typed(t garner.Tensor) (garner.Tensor, error) {
	name, ok := c.node.Attributes["output_type"].(string)
	if !ok {
		return t, nil
	}
	d, err := garner.ParseDType(name)
	if err != nil {
		return garner.Tensor{}, err
	}
	return c.cast(t, d)
}

func size(c *call) (garner.Tensor, error) {
	v, err := c.unjoinedInput()
	if err != nil {
		return garner.Tensor{}, err
	}
	return garner.Of([]int64{int64(v.tensor.Len())}), nil
}

// reduceProd multiplies the integers of a vector, which is what exporters do to
// shapes. Other tensors are refused.
func reduceProd(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	axes, err := c.list("axes", 1)
	if err != nil {
		return garner.Tensor{}, err
	}
	if _, err := axisSet(axes, t.Rank()); err != nil {
		return garner.Tensor{}, err
	}
	noop, err := c.number("noop_with_empty_axes", 0)
	if err != nil || noop != 0 && len(axes) == 0 {
		return t, err
	}
	if err := c.known(0); err != nil {
		return garner.Tensor{}, err
	}
	list, err := integersOf(t, "input", max(maxNumbers, t.Len())) // a guard of package convert has one for each index
	if err != nil || t.Rank() != 1 {
		return garner.Tensor{}, mismatch("%s of %s%s is not run; it is of a vector of integers, such as a shape", c.node.Op, t.DType(), t.Shape())
	}
	n, size := int64(1), 1.0
	for _, v := range list {
		n *= v
		size *= math.Max(math.Abs(float64(v)), 1)
	}
	if low, high := integerBounds(t.DType()); size >= 0x1p53 || float64(n) < low || float64(n) >= high || c.openvino() && size >= 1<<24 {
		return garner.Tensor{}, mismatch("%s of %v is not run: the runtimes multiply %s in floats, which round it", c.node.Op, list, t.DType())
	}
	without := int64(0)
	if c.onnx() {
		without = 1
	}
	name := "keep_dims"
	if c.onnx() {
		name = "keepdims"
	}
	keep, err := c.number(name, without)
	if err != nil {
		return garner.Tensor{}, err
	}
	made := garner.Of([]int64{n}, 1)
	if keep == 0 {
		made = garner.Of([]int64{n})
	}
	return c.cast(made, t.DType())
}

// tile repeats a tensor along its axes.
func tile(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	repeats, err := c.list("repeats", 1)
	if err != nil {
		return garner.Tensor{}, err
	}
	if repeats == nil || c.beforeOpset(6) { // which had inputs for one axis
		return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "Tile of opset %d without repeats is not run; convert the model to a later opset", c.node.Version)
	}
	shape := slices.Clone(t.Shape())
	switch n := len(repeats) - len(shape); {
	case c.onnx() && n != 0:
		return garner.Tensor{}, mismatch("it has %d repeats for %s; there must be one for each dim", len(repeats), shape)
	case n > 0:
		shape = slices.Concat(slices.Repeat(garner.Shape{1}, n), shape)
	case n < 0:
		repeats = slices.Concat(slices.Repeat([]int64{1}, -n), repeats)
	}
	for axis, d := range slices.Backward(shape) {
		n := repeats[axis]
		if n < 0 || d > 0 && n > int64(math.MaxInt/d) {
			return garner.Tensor{}, mismatch("it repeats axis %d of %s %d times", axis, shape, n)
		}
		outer, _ := shape[:axis].Len()
		inner, ok := shape[axis:].Len()
		shape[axis] = d * int(n)
		if _, fits := shape.Len(); !ok || !fits {
			return garner.Tensor{}, mismatch("it makes a tensor %s, of more elements than an int can count", shape)
		}
		if n == 1 {
			continue
		}
		if t, err = c.runner.reshape(t, garner.Shape{outer, 1, inner}); err != nil {
			return garner.Tensor{}, err
		}
		if t, err = c.broadcast(t, garner.Shape{outer, int(n), inner}); err != nil {
			return garner.Tensor{}, err
		}
		if t, err = c.runner.reshape(t, shape); err != nil {
			return garner.Tensor{}, err
		}
	}
	return c.runner.reshape(t, shape)
}
