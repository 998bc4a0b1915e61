package run

import (
	"context"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/strict"
)

// broadcastShape returns the shape that shapes broadcast to.
func broadcastShape(shapes ...garner.Shape) (garner.Shape, error) {
	rank := 0
	for _, s := range shapes {
		rank = max(rank, len(s))
	}
	shape := slices.Repeat(garner.Shape{1}, rank)
	for _, s := range shapes {
		for i, d := range s {
			switch at := &shape[rank-len(s)+i]; {
			case *at == 1:
				*at = d
			case d != 1 && d != *at:
				return nil, mismatch("%v do not broadcast", shapes)
			}
		}
	}
	return shape, nil
}

// broadcastStrides returns the strides, in elements, of a row-major tensor of
// shape from that is broadcast to shape: 0 along each broadcast dim.
func broadcastStrides(from, shape garner.Shape) []int {
	made := make([]int, len(shape))
	own := from.Strides()
	for i, d := range from {
		if d != 1 {
			made[len(shape)-len(from)+i] = own[i]
		}
	}
	return made
}

// lastStride returns the stride of the last dim, 0 for a scalar.
func lastStride(strides []int) int {
	if len(strides) == 0 {
		return 0
	}
	return strides[len(strides)-1]
}

// eachRow calls row for each row of a shape, that is for each position of all
// dims but the last. n is the length of a row, in elements; at has the position
// of its first element under each of the strides. A scalar is one row of one
// element.
func eachRow(shape garner.Shape, strides [][]int, row func(n int, at []int)) {
	total, _ := shape.Len()
	if total == 0 {
		return
	}
	n, outer := 1, shape
	if len(shape) > 0 {
		n, outer = shape[len(shape)-1], shape[:len(shape)-1]
	}
	at, c := make([]int, len(strides)), make([]int, len(outer))
	for range total / n {
		row(n, at)
		for axis := len(outer) - 1; axis >= 0; axis-- {
			c[axis]++
			for k, s := range strides {
				at[k] += s[axis]
			}
			if c[axis] < outer[axis] {
				break
			}
			for k, s := range strides {
				at[k] -= s[axis] * c[axis]
			}
			c[axis] = 0
		}
	}
}

// narrow returns a tensor without what broadcasting added: of a dim with a stride of
// 0 it has the first element alone. It broadcasts to all that t broadcasts to.
func narrow(t garner.Tensor) (garner.Tensor, error) {
	for axis, stride := range t.Strides() {
		if stride == 0 && t.Shape()[axis] > 1 {
			var err error
			if t, err = t.Slice(axis, 0, 1, 1); err != nil {
				return garner.Tensor{}, err
			}
		}
	}
	return t, nil
}

// elements narrows a tensor that is broadcast, and returns it with its elements in
// row-major order, copied only where they are not stored so. Those of a stand-in mean
// nothing.
func elements[T garner.Element](r *runner, t garner.Tensor) (garner.Tensor, []T, error) {
	t, err := narrow(t)
	if err != nil {
		return garner.Tensor{}, nil, err
	}
	return dense[T](r, t)
}

// dense returns a tensor with its elements in row-major order, copied only where they are
// not stored so: a view, or a constant at an address where its type cannot be read. Those
// of a stand-in mean nothing.
func dense[T garner.Element](r *runner, t garner.Tensor) (garner.Tensor, []T, error) {
	if v, err := garner.Values[T](t); err == nil {
		return t, v, nil
	}
	t, err := r.clone(t)
	if err != nil || r.bare {
		return t, nil, err
	}
	v, err := garner.Values[T](t)
	return t, v, err
}

// elementwise computes f of the elements of a and b, both broadcast to shape.
func elementwise[T, R garner.Element](r *runner, a, b garner.Tensor, shape garner.Shape, f func(x, y T) R) (garner.Tensor, error) {
	a, x, err := elements[T](r, a)
	if err != nil {
		return garner.Tensor{}, err
	}
	b, y, err := elements[T](r, b)
	if err != nil {
		return garner.Tensor{}, err
	}
	made, err := r.new(garner.DTypeOf[R](), shape)
	if err != nil || r.bare {
		return made, err
	}
	out, err := garner.Values[R](made)
	if err != nil {
		return garner.Tensor{}, err
	}
	strides := [][]int{broadcastStrides(a.Shape(), shape), broadcastStrides(b.Shape(), shape)}
	dx, dy := lastStride(strides[0]), lastStride(strides[1])
	eachRow(shape, strides, func(n int, at []int) {
		for i := range n {
			out[i] = f(x[at[0]+i*dx], y[at[1]+i*dy])
		}
		out = out[n:]
	})
	return made, nil
}

// broadcast broadcasts a tensor to shape. The result is a view; strings, which
// have no views with a stride of 0, are copied.
func (r *runner) broadcast(t garner.Tensor, shape garner.Shape) (garner.Tensor, error) {
	if full, err := broadcastShape(t.Shape(), shape); err != nil || !full.Equal(shape) {
		return garner.Tensor{}, mismatch("%s does not broadcast to %s", t.Shape(), shape)
	}
	if t.Shape().Equal(shape) {
		return t, nil
	}
	if t.DType() == garner.String {
		from := broadcastStrides(t.Shape(), shape)
		flat, err := r.reshape(t, garner.Shape{t.Len()})
		if err != nil {
			return garner.Tensor{}, err
		}
		return r.gatherFlat(flat, shape, [][]int{from}, func(at []int, i int) int { return at[0] + i*lastStride(from) })
	}
	if err := r.fits(t.DType(), shape); err != nil {
		return garner.Tensor{}, err
	}
	if r.bare {
		return standIn(t.DType(), shape)
	}
	t, err := narrow(t)
	if err != nil {
		return garner.Tensor{}, err
	}
	b, err := t.Bytes()
	if err != nil {
		if t, err = r.clone(t); err != nil {
			return garner.Tensor{}, err
		}
		if r.bare {
			return standIn(t.DType(), shape)
		}
		if b, err = t.Bytes(); err != nil {
			return garner.Tensor{}, err
		}
	}
	made, err := garner.FromStrided(t.DType(), b, 0, shape, broadcastStrides(t.Shape(), shape))
	return made.KeptBy(t.Keeper()), err // its memory may be a mapped constant
}

// gatherFlat returns a tensor of shape whose elements are those of flat at the
// positions that of returns: of(at, i) for the i-th element of a row, at being as
// in eachRow.
func (r *runner) gatherFlat(flat garner.Tensor, shape garner.Shape, strides [][]int, of func(at []int, i int) int) (garner.Tensor, error) {
	made, err := r.new(flat.DType(), shape)
	if err != nil {
		return garner.Tensor{}, err
	}
	indices, err := r.new(garner.I64, shape)
	if err != nil || r.bare {
		return made, err
	}
	list, err := garner.Values[int64](indices)
	if err != nil {
		return garner.Tensor{}, err
	}
	eachRow(shape, strides, func(n int, at []int) {
		for i := range n {
			list[i] = int64(of(at, i))
		}
		list = list[n:]
	})
	return made, garner.GatherInto(context.Background(), strict.Gather{}, flat, indices, made)
}

func expand(c *call) (garner.Tensor, error) {
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
	shape, err := shapeOfDims(dims)
	if err != nil {
		return garner.Tensor{}, err
	}
	mode, _ := c.node.Attributes["mode"].(string)
	if mode = strings.ToLower(mode); c.onnx() {
		mode = "bidirectional"
	}
	switch mode {
	case "", "numpy":
	case "bidirectional":
		if shape, err = broadcastShape(t.Shape(), shape); err != nil {
			return garner.Tensor{}, err
		}
	case "explicit", "none": // files use either name
		axes, err := c.list("axes_mapping", 2)
		if err != nil {
			return garner.Tensor{}, err
		}
		if len(axes) != t.Rank() || !slices.IsSorted(axes) {
			return garner.Tensor{}, mismatch("its axes_mapping %v must name an axis for each dim of %s, in their order", axes, t.Shape())
		}
		if _, err := axisSet(axes, len(shape)); err != nil {
			return garner.Tensor{}, err
		}
		wide := slices.Repeat(garner.Shape{1}, len(shape))
		for i, a := range axes {
			if a < 0 {
				return garner.Tensor{}, mismatch("its axes_mapping %v is negative", axes)
			}
			wide[a] = t.Shape()[i]
		}
		if t, err = c.runner.reshape(t, wide); err != nil {
			return garner.Tensor{}, err
		}
	default:
		return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "its mode is %.40q; numpy, bidirectional and explicit are run", mode)
	}
	return c.broadcast(t, shape)
}

func constantOfShape(c *call) (garner.Tensor, error) {
	dims, err := c.list("input", 0)
	if err != nil {
		return garner.Tensor{}, err
	}
	if dims == nil {
		_, err := c.input(0)
		return garner.Tensor{}, err
	}
	shape, err := shapeOfDims(dims)
	if err != nil {
		return garner.Tensor{}, err
	}
	t := garner.Of([]float32{0})
	if v, ok := c.node.Attributes["value"]; ok {
		constant, ok := v.(*model.Constant)
		if !ok {
			return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "its value is %v; it must be a tensor of one element", v)
		}
		if t, err = constant.Tensor(); err != nil {
			return garner.Tensor{}, err
		}
		if t.Len() != 1 {
			return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "its value is %s%s; it must be one element", t.DType(), t.Shape())
		}
		if t, err = t.Reshape(); err != nil {
			return garner.Tensor{}, err
		}
	}
	return c.broadcast(t, shape)
}

// where is ONNX's Where and OpenVINO's Select: x where the condition is true, else
// y.
func where(c *call) (garner.Tensor, error) {
	in, err := c.inputs(3)
	if err != nil {
		return garner.Tensor{}, err
	}
	if err := c.checkBroadcast(); err != nil {
		return garner.Tensor{}, err
	}
	for _, t := range in[1:] {
		if err := c.openvinoHolds(t); err != nil {
			return garner.Tensor{}, err
		}
	}
	return c.choose(in)
}

// choose makes a tensor of elements of in[1] where in[0] is true, else of in[2]; all three
// broadcast.
func (c *call) choose(in []garner.Tensor) (garner.Tensor, error) {
	if in[0].DType() != garner.Bool {
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "its condition is %s; it must be bool", in[0].DType())
	}
	shape, err := broadcastShape(in[0].Shape(), in[1].Shape(), in[2].Shape())
	if err != nil {
		return garner.Tensor{}, err
	}
	shapes := make([]garner.Shape, len(in))
	for i := range in {
		shapes[i] = in[i].Shape()
		if in[i], err = narrow(in[i]); err != nil {
			return garner.Tensor{}, err
		}
	}
	_, conditions, err := elements[bool](c.runner, in[0])
	if err != nil {
		return garner.Tensor{}, err
	}
	strides := make([][]int, 3)
	flat := make([]garner.Tensor, 2)
	for i, t := range in {
		strides[i] = broadcastStrides(t.Shape(), shape)
		if i > 0 {
			if flat[i-1], err = c.runner.reshape(t, garner.Shape{t.Len()}); err != nil {
				return garner.Tensor{}, err
			}
		}
	}
	both, err := c.join(flat, 0)
	if err != nil {
		return garner.Tensor{}, err
	}
	n := in[1].Len()
	if c.onnx() && !c.bare {
		if err := whereZeros(both, n, shapes); err != nil {
			return garner.Tensor{}, err
		}
	}
	dc, dx, dy := lastStride(strides[0]), lastStride(strides[1]), lastStride(strides[2])
	return c.gatherFlat(both, shape, strides, func(at []int, i int) int {
		if conditions[at[0]+i*dc] {
			return at[1] + i*dx
		}
		return n + at[2] + i*dy
	})
}

// whereZeros makes 0 of the −0 that ONNX Runtime's Where loses. It takes what x gives where
// the condition is true, else 0, and the like of y, and then the one of both that is not 0:
// of two zeros the one of y, or of x where along the innermost axis y is broadcast and x is
// not. both holds the n elements of x, and behind them those of y.
func whereZeros(both garner.Tensor, n int, in []garner.Shape) error {
	wide := func(s garner.Shape) bool { // along the innermost axis
		return len(s) > 0 && s[len(s)-1] > 1
	}
	first, end := 0, n
	if wide(in[1]) && !wide(in[0]) && !wide(in[2]) {
		first, end = n, both.Len()
	}
	switch both.DType() {
	case garner.F16:
		v, err := garner.Values[garner.Float16](both)
		if err != nil {
			return err
		}
		for i, x := range v[first:end] {
			if x == 1<<15 {
				v[first+i] = 0
			}
		}
		return nil
	case garner.F32:
		return plusZeros[float32](both, first, end)
	case garner.F64:
		return plusZeros[float64](both, first, end)
	}
	return nil
}

// plusZeros takes the sign of zeros.
func plusZeros[T interface {
	float32 | float64
	garner.Element
}](t garner.Tensor, first, end int) error {
	v, err := garner.Values[T](t)
	if err != nil {
		return err
	}
	for i, x := range v[first:end] {
		if x == 0 {
			v[first+i] = 0
		}
	}
	return nil
}

// checkBroadcast refuses an auto_broadcast other than NumPy's, unless all inputs
// have one shape and it is none.
func (c *call) checkBroadcast() error {
	mode, _ := c.node.Attributes["auto_broadcast"].(string)
	switch strings.ToLower(mode) {
	case "", "numpy":
		return nil
	case "none":
		if !slices.ContainsFunc(c.node.Inputs, func(v *model.Value) bool { return c.differsFromFirst(v) }) {
			return nil
		}
		return mismatch("its inputs differ in shape, and its auto_broadcast is none")
	}
	return garner.Errorf(garner.ErrAttribute, "its auto_broadcast is %.40q; numpy and none are run", mode)
}

// differsFromFirst reports whether a value and the first input differ in shape.
func (c *call) differsFromFirst(v *model.Value) bool {
	a, err := c.lazy(c.node.Inputs[0])
	b, also := c.lazy(v)
	return err == nil && also == nil && !a.tensor.Shape().Equal(b.tensor.Shape())
}
