package run

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/strict"
)

// What stands around gathers in real exports: the shape of things and the
// arithmetic of indices, each operator by its definition alone, which is
// NumPy's, with the differences that its framework makes. Integers wrap.

// A glue runs a node.
type glue func(c *call) (garner.Tensor, error)

// glueOf is what runs a node that is no gather; nil where nothing does.
func glueOf(m *model.Model, n *model.Node) glue {
	table := onnxGlue
	if m.Format != "ONNX" {
		table = irGlue
	}
	if n.Domain != "" || len(n.Outputs) != 1 || len(n.Graphs) > 0 {
		return nil
	}
	return table[n.Op]
}

var onnxGlue, irGlue map[string]glue

func init() { // the operators look at tables themselves
	onnxGlue = map[string]glue{
		"Identity":        identity,
		"Cast":            onnxCast,
		"CastLike":        castLike,
		"Reshape":         reshape,
		"Flatten":         flatten,
		"Squeeze":         squeeze,
		"Unsqueeze":       unsqueeze,
		"Transpose":       transpose,
		"Concat":          concat,
		"Slice":           slice,
		"Shape":           shapeOf,
		"Size":            size,
		"Expand":          expand,
		"ConstantOfShape": constantOfShape,
		"Range":           arange,
		"ReduceProd":      product,
		"Where":           choose,
		"Clip":            clip,
		"Neg":             negate,
		"Add":             arithmetic("add"), "Sub": arithmetic("sub"), "Mul": arithmetic("mul"), "Div": arithmetic("div"),
		"Mod": mod, "Min": arithmetic("min"), "Max": arithmetic("max"),
		"Equal": comparison("="), "Less": comparison("<"), "LessOrEqual": comparison("<="),
		"Greater": comparison(">"), "GreaterOrEqual": comparison(">="),
		"And": logic("and"), "Or": logic("or"), "Xor": logic("xor"), "Not": not,
	}
	irGlue = map[string]glue{
		"Convert":      convert,
		"ConvertLike":  castLike,
		"Reshape":      reshape,
		"Squeeze":      squeeze,
		"Unsqueeze":    unsqueeze,
		"Transpose":    transpose,
		"Concat":       concat,
		"Slice":        slice,
		"StridedSlice": stridedSlice,
		"ShapeOf":      shapeOf,
		"Broadcast":    expand,
		"Range":        arange,
		"ReduceProd":   product,
		"Select":       choose,
		"Clamp":        clip,
		"Floor":        integral,
		"Ceiling":      integral,
		"Negative":     negate,
		"Add":          arithmetic("add"),
		"Subtract":     arithmetic("sub"),
		"Multiply":     arithmetic("mul"),
		"Divide":       divide,
		"Mod":          arithmetic("truncated mod"),
		"FloorMod":     arithmetic("mod"),
		"Minimum":      arithmetic("min"),
		"Maximum":      arithmetic("max"),
		"Equal":        comparison("="),
		"NotEqual":     comparison("!="),
		"Less":         comparison("<"),
		"LessEqual":    comparison("<="),
		"Greater":      comparison(">"),
		"GreaterEqual": comparison(">="),
		"LogicalAnd":   logic("and"),
		"LogicalOr":    logic("or"),
		"LogicalXor":   logic("xor"),
		"LogicalNot":   not,
		"BitwiseAnd":   logic("and"),
		"BitwiseOr":    logic("or"),
		"BitwiseXor":   logic("xor"),
		"BitwiseNot":   not,
	}
}

// A call is one node that runs.
type call struct {
	*runner
	node *model.Node
	as   garner.DType // what the answer is yet to be cast to
}

func (c *call) onnx() bool { return c.model.Format == "ONNX" }

// before reports whether the node is of an older opset of ONNX.
func (c *call) before(opset int) bool {
	return c.onnx() && c.node.Version > 0 && c.node.Version < opset
}

// has reports whether an input is given.
func (c *call) has(i int) bool { return i < len(c.node.Inputs) && c.node.Inputs[i] != nil }

// input is the i-th input.
func (c *call) input(i int) (garner.Tensor, error) {
	if !c.has(i) {
		return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "%s needs an input %d, and the node has none", c.node.Op, i)
	}
	return c.tensor(c.node.Inputs[i])
}

// inputs are the first n.
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

// number is an attribute that is an integer, or what it is without.
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

// most is how many numbers an input has that says something of axes or dims.
const most = garner.MaxRank

// ints reads the numbers of a tensor, a scalar or a vector.
func ints(t garner.Tensor, what string) ([]int64, error) {
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

// list is an attribute that is a list, or the i-th input; nil where there is
// neither.
func (c *call) list(name string, i int) ([]int64, error) {
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
	return ints(t, name)
}

// axisOf counts an axis from the front.
func axisOf(axis int64, rank int) (int, error) {
	if axis < -int64(rank) || axis >= int64(rank) {
		return 0, &garner.ShapeError{Kind: garner.KindAxis, Message: "its axis is " + strconv.FormatInt(axis, 10) + ", and there are " + strconv.Itoa(rank) + " dims"}
	}
	if axis < 0 {
		axis += int64(rank)
	}
	return int(axis), nil
}

// axesOf marks axes.
func axesOf(axes []int64, rank int) ([]bool, error) {
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

func mismatch(format string, args ...any) error {
	return garner.Errorf(garner.ErrShape, format, args...)
}

// extents makes a shape of numbers.
func extents(dims []int64) (garner.Shape, error) {
	shape := make(garner.Shape, len(dims))
	for i, d := range dims {
		if d < 0 || d > math.MaxInt {
			return nil, mismatch("%v is no shape: dim %d is %d", dims, i, d)
		}
		shape[i] = int(d)
	}
	return shape, nil
}

// as gives a tensor another shape, and copies it only where a view cannot be.
func (r *runner) as(t garner.Tensor, shape garner.Shape) (garner.Tensor, error) {
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

func (r *runner) clone(t garner.Tensor) (garner.Tensor, error) {
	made, err := r.new(t.DType(), t.Shape())
	if err != nil {
		return garner.Tensor{}, err
	}
	return made, garner.Copy(made, t)
}

func identity(c *call) (garner.Tensor, error) {
	v, err := c.lazyInput()
	if err != nil {
		return garner.Tensor{}, err
	}
	c.as = v.as
	return v.tensor, nil
}

// lazyInput is the first input as it is.
func (c *call) lazyInput() (*value, error) {
	if !c.has(0) {
		_, err := c.input(0)
		return nil, err
	}
	return c.lazy(c.node.Inputs[0])
}

// Shapes.

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
	zeros, err := c.number("allowzero", 0) // a 0 is a 0
	if !c.onnx() {
		var special int64 // a 0 is the dim of the input
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
	shape, err := extents(dims)
	if err != nil {
		return garner.Tensor{}, err
	}
	return c.runner.as(t, shape)
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
	return c.runner.as(t, garner.Shape{left, right})
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
	// OpenVINO takes no axes and an empty list of them alike.
	all := axes == nil || len(axes) == 0 && !c.onnx()
	drop, err := axesOf(axes, t.Rank())
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
	return c.runner.as(t, shape)
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
	added, err := axesOf(axes, rank)
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
	return c.runner.as(t, shape)
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
		if p < 0 || p >= most {
			return garner.Tensor{}, mismatch("%v is no order of the dims of %s", order, t.Shape())
		}
		perm[i] = int(p)
	}
	return t.Transpose(perm...)
}

func concat(c *call) (garner.Tensor, error) {
	parts, err := c.inputs(len(c.node.Inputs))
	if err != nil {
		return garner.Tensor{}, err
	}
	if len(parts) == 0 {
		_, err := c.input(0)
		return garner.Tensor{}, err
	}
	a, err := c.number("axis", 1)
	if err != nil {
		return garner.Tensor{}, err
	}
	axis, err := axisOf(a, parts[0].Rank())
	if err != nil {
		return garner.Tensor{}, err
	}
	return c.join(parts, axis)
}

// join puts tensors one after the other along an axis.
func (r *runner) join(parts []garner.Tensor, axis int) (garner.Tensor, error) {
	shape := slices.Clone(parts[0].Shape())
	for _, p := range parts[1:] {
		if p.DType() != parts[0].DType() {
			return garner.Tensor{}, garner.Errorf(garner.ErrDType, "%s and %s cannot be one tensor; cast one", parts[0].DType(), p.DType())
		}
		for i, d := range p.Shape() {
			if p.Rank() != len(shape) || i != axis && d != shape[i] {
				return garner.Tensor{}, mismatch("%s and %s cannot be joined along axis %d", parts[0].Shape(), p.Shape(), axis)
			}
		}
		if p.Rank() != len(shape) || p.Shape()[axis] > math.MaxInt-shape[axis] {
			return garner.Tensor{}, mismatch("%s and %s cannot be joined along axis %d", parts[0].Shape(), p.Shape(), axis)
		}
		shape[axis] += p.Shape()[axis]
	}
	made, err := r.new(parts[0].DType(), shape)
	if err != nil {
		return garner.Tensor{}, err
	}
	at := 0
	for _, p := range parts {
		to, err := made.Slice(axis, at, at+p.Shape()[axis], 1)
		if err != nil {
			return garner.Tensor{}, err
		}
		if err := garner.Copy(to, p); err != nil {
			return garner.Tensor{}, err
		}
		at += p.Shape()[axis]
	}
	return made, nil
}

// bounded is Python's slice of an axis of d: ends count from the back where they
// are negative, and are moved into the axis. Unlike Python's, one that goes back
// from before the axis begins with the axis's first element.
func bounded(t garner.Tensor, axis int, start, stop, step int64) (garner.Tensor, error) {
	d := int64(t.Shape()[axis])
	low, high := int64(0), d
	if step < 0 {
		low, high = -1, d-1
	}
	ends := [2]int64{start, stop}
	for i, e := range ends {
		if e < 0 {
			e += d
		}
		ends[i] = min(max(e, low), high)
	}
	if d > 0 {
		ends[0] = max(ends[0], 0)
	}
	switch {
	case step == 0:
		return garner.Tensor{}, mismatch("its step along axis %d is 0", axis)
	case step > 0:
		ends[1] = max(ends[1], ends[0])
		step = min(step, max(d, 1))
	default:
		ends[1] = min(ends[1], ends[0])
		step = max(step, -max(d, 1))
	}
	if step < 0 && ends[0] < 0 { // an empty axis, which has no last element to begin from
		return t.Slice(axis, 0, 0, 1)
	}
	return t.Slice(axis, int(ends[0]), int(ends[1]), int(step))
}

func slice(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	// The two orders of inputs: axes come before steps in ONNX and last in
	// OpenVINO.
	axesAt, stepsAt := 3, 4
	if !c.onnx() {
		axesAt, stepsAt = 4, 3
	}
	var lists [4][]int64
	for i, l := range []struct {
		name string
		at   int
	}{{"starts", 1}, {"ends", 2}, {"axes", axesAt}, {"steps", stepsAt}} {
		if lists[i], err = c.list(l.name, l.at); err != nil {
			return garner.Tensor{}, err
		}
	}
	starts, stops, axes, steps := lists[0], lists[1], lists[2], lists[3]
	if axes == nil {
		for i := range starts {
			axes = append(axes, int64(i))
		}
	}
	if steps == nil {
		steps = slices.Repeat([]int64{1}, len(starts))
	}
	if n := len(starts); len(stops) != n || len(axes) != n || len(steps) != n {
		return garner.Tensor{}, mismatch("it has %d starts, %d ends, %d axes and %d steps; there must be as many", len(starts), len(stops), len(axes), len(steps))
	}
	if _, err := axesOf(axes, t.Rank()); err != nil {
		return garner.Tensor{}, err
	}
	for i, a := range axes {
		axis, err := axisOf(a, t.Rank())
		if err != nil {
			return garner.Tensor{}, err
		}
		if t, err = bounded(t, axis, starts[i], stops[i], steps[i]); err != nil {
			return garner.Tensor{}, err
		}
	}
	return t, nil
}

// stridedSlice is NumPy's indexing with slices, numbers, newaxis and an
// ellipsis, each of which a mask marks.
func stridedSlice(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	var lists [3][]int64
	for i, name := range []string{"begin", "end", "strides"} {
		if lists[i], err = c.list(name, 1+i); err != nil {
			return garner.Tensor{}, err
		}
	}
	begin, end, steps := lists[0], lists[1], lists[2]
	if steps == nil {
		steps = slices.Repeat([]int64{1}, len(begin))
	}
	if len(end) != len(begin) || len(steps) != len(begin) {
		return garner.Tensor{}, mismatch("it has %d begins, %d ends and %d strides; there must be as many", len(begin), len(end), len(steps))
	}
	masks := make(map[string][]int64)
	for _, name := range []string{"begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask"} {
		if masks[name], err = c.list(name, math.MaxInt); err != nil {
			return garner.Tensor{}, err
		}
	}
	marked := func(mask string, i int) bool { return i < len(masks[mask]) && masks[mask][i] != 0 }
	// How many axes an ellipsis stands for.
	taken, ellipses := 0, 0
	for i := range begin {
		switch {
		case marked("ellipsis_mask", i):
			ellipses++
		case !marked("new_axis_mask", i):
			taken++
		}
	}
	if taken > t.Rank() || ellipses > 1 {
		return garner.Tensor{}, mismatch("it slices %d axes with %d ellipses; %s has %d", taken, ellipses, t.Shape(), t.Rank())
	}
	axis := 0
	var shape garner.Shape
	keep := func(n int) {
		shape = append(shape, t.Shape()[axis:axis+n]...)
		axis += n
	}
	for i := range begin {
		switch {
		case marked("ellipsis_mask", i):
			keep(t.Rank() - taken)
		case marked("new_axis_mask", i):
			shape = append(shape, 1)
		case marked("shrink_axis_mask", i):
			at, err := axisOf(begin[i], t.Shape()[axis])
			if err != nil {
				return garner.Tensor{}, mismatch("it takes element %d of axis %d of %s", begin[i], axis, t.Shape())
			}
			if t, err = t.Slice(axis, at, at+1, 1); err != nil {
				return garner.Tensor{}, err
			}
			axis++
		default:
			from, to := begin[i], end[i]
			if marked("begin_mask", i) {
				if from = 0; steps[i] < 0 {
					from = math.MaxInt64
				}
			}
			if marked("end_mask", i) {
				if to = math.MaxInt64; steps[i] < 0 {
					to = math.MinInt64
				}
			}
			if t, err = bounded(t, axis, from, to, steps[i]); err != nil {
				return garner.Tensor{}, err
			}
			keep(1)
		}
	}
	keep(t.Rank() - axis)
	return c.runner.as(t, shape)
}

func shapeOf(c *call) (garner.Tensor, error) {
	v, err := c.lazyInput()
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

// typed casts what is i64 to the output_type, where the operator has that.
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
	v, err := c.lazyInput()
	if err != nil {
		return garner.Tensor{}, err
	}
	return garner.Of([]int64{int64(v.tensor.Len())}), nil
}

// product is of integers along one axis alone: what becomes of a shape.
func product(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	axes, err := c.list("axes", 1)
	if err != nil {
		return garner.Tensor{}, err
	}
	if _, err := axesOf(axes, t.Rank()); err != nil {
		return garner.Tensor{}, err
	}
	noop, err := c.number("noop_with_empty_axes", 0)
	if err != nil || noop != 0 && len(axes) == 0 {
		return t, err
	}
	list, err := ints(t, "input")
	if err != nil || t.Rank() != 1 {
		return garner.Tensor{}, mismatch("%s of %s%s is not run; it is of a vector of integers, such as a shape", c.node.Op, t.DType(), t.Shape())
	}
	n := int64(1)
	for _, v := range list {
		n *= v
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

// Broadcasting.

// together is the shape that shapes broadcast to.
func together(shapes ...garner.Shape) (garner.Shape, error) {
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

// strides are those with which a row-major tensor stands still along the dims
// in which it is broadcast to shape.
func strides(from, shape garner.Shape) []int {
	made := make([]int, len(shape))
	own := from.Strides()
	for i, d := range from {
		if d != 1 {
			made[len(shape)-len(from)+i] = own[i]
		}
	}
	return made
}

// walk goes over the rows of a shape, those along its last dim, and gives the
// place where each begins under some strides. A scalar is a row of one.
func walk(shape garner.Shape, under [][]int, row func(n int, at []int)) {
	total, _ := shape.Len()
	if total == 0 {
		return
	}
	n, outer := 1, shape
	if len(shape) > 0 {
		n, outer = shape[len(shape)-1], shape[:len(shape)-1]
	}
	at, c := make([]int, len(under)), make([]int, len(outer))
	for range total / n {
		row(n, at)
		for axis := len(outer) - 1; axis >= 0; axis-- {
			c[axis]++
			for k, s := range under {
				at[k] += s[axis]
			}
			if c[axis] < outer[axis] {
				break
			}
			for k, s := range under {
				at[k] -= s[axis] * c[axis]
			}
			c[axis] = 0
		}
	}
}

// inner is the stride along the last dim.
func inner(strides []int) int {
	if len(strides) == 0 {
		return 0
	}
	return strides[len(strides)-1]
}

// values are a tensor's elements, in memory of their own where they must be.
func values[T garner.Element](r *runner, t garner.Tensor) ([]T, error) {
	if v, err := garner.Values[T](t); err == nil {
		return v, nil
	}
	t, err := r.clone(t)
	if err != nil {
		return nil, err
	}
	return garner.Values[T](t)
}

// zip is f of the elements of a and b, broadcast to shape.
func zip[T, R garner.Element](r *runner, a, b garner.Tensor, shape garner.Shape, f func(x, y T) R) (garner.Tensor, error) {
	x, err := values[T](r, a)
	if err != nil {
		return garner.Tensor{}, err
	}
	y, err := values[T](r, b)
	if err != nil {
		return garner.Tensor{}, err
	}
	made, err := r.new(garner.DTypeOf[R](), shape)
	if err != nil {
		return garner.Tensor{}, err
	}
	out, err := garner.Values[R](made)
	if err != nil {
		return garner.Tensor{}, err
	}
	under := [][]int{strides(a.Shape(), shape), strides(b.Shape(), shape)}
	dx, dy := inner(under[0]), inner(under[1])
	walk(shape, under, func(n int, at []int) {
		for i := range n {
			out[i] = f(x[at[0]+i*dx], y[at[1]+i*dy])
		}
		out = out[n:]
	})
	return made, nil
}

// spread broadcasts a tensor to shape. Nothing is copied but strings, which have
// no such views.
func (r *runner) spread(t garner.Tensor, shape garner.Shape) (garner.Tensor, error) {
	if full, err := together(t.Shape(), shape); err != nil || !full.Equal(shape) {
		return garner.Tensor{}, mismatch("%s does not broadcast to %s", t.Shape(), shape)
	}
	if t.Shape().Equal(shape) {
		return t, nil
	}
	if t.DType() == garner.String {
		from := strides(t.Shape(), shape)
		flat, err := r.as(t, garner.Shape{t.Len()})
		if err != nil {
			return garner.Tensor{}, err
		}
		return r.pick(flat, shape, [][]int{from}, func(at []int, i int) int { return at[0] + i*inner(from) })
	}
	if err := r.fits(t.DType(), shape); err != nil {
		return garner.Tensor{}, err
	}
	b, err := t.Bytes()
	if err != nil {
		if t, err = r.clone(t); err != nil {
			return garner.Tensor{}, err
		}
		if b, err = t.Bytes(); err != nil {
			return garner.Tensor{}, err
		}
	}
	made, err := garner.FromStrided(t.DType(), b, 0, shape, strides(t.Shape(), shape))
	return made.Volatile(), err // it may be of a mapped constant
}

// pick gathers the elements of a flat tensor that of names, row by row of shape.
func (r *runner) pick(flat garner.Tensor, shape garner.Shape, under [][]int, of func(at []int, i int) int) (garner.Tensor, error) {
	indices, err := r.new(garner.I64, shape)
	if err != nil {
		return garner.Tensor{}, err
	}
	list, err := garner.Values[int64](indices)
	if err != nil {
		return garner.Tensor{}, err
	}
	walk(shape, under, func(n int, at []int) {
		for i := range n {
			list[i] = int64(of(at, i))
		}
		list = list[n:]
	})
	if err := r.fits(flat.DType(), shape); err != nil {
		return garner.Tensor{}, err
	}
	return garner.Gather(strict.Gather{}, flat, indices)
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
	shape, err := extents(dims)
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
		if shape, err = together(t.Shape(), shape); err != nil {
			return garner.Tensor{}, err
		}
	case "explicit", "none": // by one name or the other in the files

		axes, err := c.list("axes_mapping", 2)
		if err != nil {
			return garner.Tensor{}, err
		}
		if len(axes) != t.Rank() || !slices.IsSorted(axes) {
			return garner.Tensor{}, mismatch("its axes_mapping %v must name an axis for each dim of %s, in their order", axes, t.Shape())
		}
		if _, err := axesOf(axes, len(shape)); err != nil {
			return garner.Tensor{}, err
		}
		wide := slices.Repeat(garner.Shape{1}, len(shape))
		for i, a := range axes {
			if a < 0 {
				return garner.Tensor{}, mismatch("its axes_mapping %v is negative", axes)
			}
			wide[a] = t.Shape()[i]
		}
		if t, err = c.runner.as(t, wide); err != nil {
			return garner.Tensor{}, err
		}
	default:
		return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "its mode is %.40q; numpy, bidirectional and explicit are run", mode)
	}
	return c.spread(t, shape)
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
	shape, err := extents(dims)
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
	return c.spread(t, shape)
}

// choose is Where and Select: x where the condition holds, else y.
func choose(c *call) (garner.Tensor, error) {
	in, err := c.inputs(3)
	if err != nil {
		return garner.Tensor{}, err
	}
	if err := c.numpyBroadcast(); err != nil {
		return garner.Tensor{}, err
	}
	if in[0].DType() != garner.Bool {
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "its condition is %s; it must be bool", in[0].DType())
	}
	shape, err := together(in[0].Shape(), in[1].Shape(), in[2].Shape())
	if err != nil {
		return garner.Tensor{}, err
	}
	conditions, err := values[bool](c.runner, in[0])
	if err != nil {
		return garner.Tensor{}, err
	}
	under := make([][]int, 3)
	flat := make([]garner.Tensor, 2)
	for i, t := range in {
		under[i] = strides(t.Shape(), shape)
		if i > 0 {
			if flat[i-1], err = c.runner.as(t, garner.Shape{t.Len()}); err != nil {
				return garner.Tensor{}, err
			}
		}
	}
	both, err := c.join(flat, 0)
	if err != nil {
		return garner.Tensor{}, err
	}
	dc, dx, dy, n := inner(under[0]), inner(under[1]), inner(under[2]), in[1].Len()
	return c.pick(both, shape, under, func(at []int, i int) int {
		if conditions[at[0]+i*dc] {
			return at[1] + i*dx
		}
		return n + at[2] + i*dy
	})
}

// numpyBroadcast refuses a broadcast that is not NumPy's.
func (c *call) numpyBroadcast() error {
	mode, _ := c.node.Attributes["auto_broadcast"].(string)
	switch strings.ToLower(mode) {
	case "", "numpy":
		return nil
	case "none":
		if !slices.ContainsFunc(c.node.Inputs, func(v *model.Value) bool { return c.unlike(v) }) {
			return nil
		}
		return mismatch("its inputs differ in shape, and its auto_broadcast is none")
	}
	return garner.Errorf(garner.ErrAttribute, "its auto_broadcast is %.40q; numpy and none are run", mode)
}

// unlike reports whether a value differs in shape from the first input.
func (c *call) unlike(v *model.Value) bool {
	a, err := c.lazy(c.node.Inputs[0])
	b, also := c.lazy(v)
	return err == nil && also == nil && !a.tensor.Shape().Equal(b.tensor.Shape())
}

// Arithmetic.

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type float interface{ float32 | float64 }

// pairs is an operator of the elements of a and b, broadcast. What is not run of
// their type is refused.
func (c *call) pairs(op string, a, b garner.Tensor) (garner.Tensor, error) {
	if a.DType() != b.DType() {
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "%s of %s and %s; cast one", c.node.Op, a.DType(), b.DType())
	}
	shape, err := together(a.Shape(), b.Shape())
	if err != nil {
		return garner.Tensor{}, err
	}
	switch a.DType() {
	case garner.Bool:
		return onBools(c, op, a, b, shape)
	case garner.I8:
		return onIntegers[int8](c, op, a, b, shape)
	case garner.I16:
		return onIntegers[int16](c, op, a, b, shape)
	case garner.I32:
		return onIntegers[int32](c, op, a, b, shape)
	case garner.I64:
		return onIntegers[int64](c, op, a, b, shape)
	case garner.U8:
		return onIntegers[uint8](c, op, a, b, shape)
	case garner.U16:
		return onIntegers[uint16](c, op, a, b, shape)
	case garner.U32:
		return onIntegers[uint32](c, op, a, b, shape)
	case garner.U64:
		return onIntegers[uint64](c, op, a, b, shape)
	case garner.F32:
		return onFloats[float32](c, op, a, b, shape)
	case garner.F64:
		return onFloats[float64](c, op, a, b, shape)
	}
	return garner.Tensor{}, c.notOf(a.DType())
}

func (c *call) notOf(d garner.DType) error {
	return garner.Errorf(garner.ErrDType, "%s of %s is not run; arithmetic is of integers, and that of f32 and f64 as far as every machine rounds alike", c.node.Op, d)
}

func onIntegers[T interface {
	integer
	garner.Element
}](c *call, op string, a, b garner.Tensor, shape garner.Shape) (garner.Tensor, error) {
	var f func(x, y T) T
	switch op {
	case "add":
		f = func(x, y T) T { return x + y }
	case "sub":
		f = func(x, y T) T { return x - y }
	case "mul":
		f = func(x, y T) T { return x * y }
	case "min":
		f = func(x, y T) T { return min(x, y) }
	case "max":
		f = func(x, y T) T { return max(x, y) }
	case "and":
		f = func(x, y T) T { return x & y }
	case "or":
		f = func(x, y T) T { return x | y }
	case "xor":
		f = func(x, y T) T { return x ^ y }
	case "div":
		f = func(x, y T) T { return x / y }
	case "floor div":
		f = func(x, y T) T {
			q := x / y
			if r := x % y; r != 0 && (r < 0) != (y < 0) {
				q--
			}
			return q
		}
	case "truncated mod":
		f = func(x, y T) T { return x % y }
	case "mod":
		f = func(x, y T) T {
			r := x % y
			if r != 0 && (r < 0) != (y < 0) {
				r += y
			}
			return r
		}
	default:
		return compare[T](c, op, a, b, shape)
	}
	if strings.HasSuffix(op, "div") || strings.HasSuffix(op, "mod") {
		divisors, err := values[T](c.runner, b)
		if err != nil {
			return garner.Tensor{}, err
		}
		if n, _ := shape.Len(); n > 0 && slices.Contains(divisors, 0) {
			return garner.Tensor{}, garner.Errorf(nil, "%s by 0, at element %d of %s; give an input that makes none", c.node.Op, slices.Index(divisors, 0), b.Shape())
		}
	}
	return zip(c.runner, a, b, shape, f)
}

func onFloats[T interface {
	float
	garner.Element
}](c *call, op string, a, b garner.Tensor, shape garner.Shape) (garner.Tensor, error) {
	var f func(x, y T) T
	switch op {
	case "add":
		f = func(x, y T) T { return x + y }
	case "sub":
		f = func(x, y T) T { return x - y }
	case "mul":
		f = func(x, y T) T { return x * y }
	case "div":
		f = func(x, y T) T { return x / y }
	default:
		return compare[T](c, op, a, b, shape)
	}
	return zip(c.runner, a, b, shape, f)
}

func compare[T interface {
	cmp.Ordered
	garner.Element
}](c *call, op string, a, b garner.Tensor, shape garner.Shape) (garner.Tensor, error) {
	var f func(x, y T) bool
	switch op {
	case "=":
		f = func(x, y T) bool { return x == y }
	case "!=":
		f = func(x, y T) bool { return x != y }
	case "<":
		f = func(x, y T) bool { return x < y }
	case "<=":
		f = func(x, y T) bool { return x <= y }
	case ">":
		f = func(x, y T) bool { return x > y }
	case ">=":
		f = func(x, y T) bool { return x >= y }
	default:
		return garner.Tensor{}, c.notOf(a.DType())
	}
	return zip(c.runner, a, b, shape, f)
}

func onBools(c *call, op string, a, b garner.Tensor, shape garner.Shape) (garner.Tensor, error) {
	var f func(x, y bool) bool
	switch op {
	case "=":
		f = func(x, y bool) bool { return x == y }
	case "!=", "xor":
		f = func(x, y bool) bool { return x != y }
	case "and":
		f = func(x, y bool) bool { return x && y }
	case "or":
		f = func(x, y bool) bool { return x || y }
	default:
		return garner.Tensor{}, c.notOf(garner.Bool)
	}
	return zip(c.runner, a, b, shape, f)
}

// arithmetic is an operator of two operands, or of more, from the left to the
// right, as ONNX's Min and Max.
func arithmetic(op string) glue {
	return func(c *call) (garner.Tensor, error) {
		n := 2
		if c.onnx() && (op == "min" || op == "max") {
			n = max(len(c.node.Inputs), 1)
		}
		in, err := c.operands(n)
		if err != nil {
			return garner.Tensor{}, err
		}
		made := in[0]
		for _, t := range in[1:] {
			if made, err = c.pairs(op, made, t); err != nil {
				return garner.Tensor{}, err
			}
		}
		return made, nil
	}
}

// operands are the inputs of an operator that broadcasts. Before its opset 7
// ONNX had a way of its own: the second operand begins at an axis of the first.
func (c *call) operands(n int) ([]garner.Tensor, error) {
	in, err := c.inputs(n)
	if err != nil {
		return nil, err
	}
	if !c.before(7) || n != 2 {
		return in, c.numpyBroadcast()
	}
	wide, err := c.number("broadcast", 0)
	if err != nil {
		return nil, err
	}
	a, b := in[0].Shape(), in[1].Shape()
	axis, err := c.number("axis", int64(len(a)-len(b)))
	if err != nil {
		return nil, err
	}
	switch {
	case wide == 0 && !a.Equal(b), axis < 0, axis > int64(len(a)-len(b)):
		return nil, mismatch("%s and %s do not broadcast with broadcast=%d and axis=%d, in opset %d", a, b, wide, axis, c.node.Version)
	}
	shape := slices.Concat(b, slices.Repeat(garner.Shape{1}, len(a)-len(b)-int(axis)))
	if in[1], err = c.runner.as(in[1], shape); err != nil {
		return nil, err
	}
	if full, err := together(a, shape); err != nil || !full.Equal(a) {
		return nil, mismatch("%s does not broadcast to %s, in opset %d", b, a, c.node.Version)
	}
	return in, nil
}

func comparison(op string) glue {
	return func(c *call) (garner.Tensor, error) {
		in, err := c.operands(2)
		if err != nil {
			return garner.Tensor{}, err
		}
		return c.pairs(op, in[0], in[1])
	}
}

func logic(op string) glue { return comparison(op) }

// not is the logical one of bools and the bitwise one of integers.
func not(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	if t.DType() == garner.Bool {
		return c.pairs("=", t, garner.Of([]bool{false}))
	}
	ones, err := c.cast(garner.Of([]int64{-1}), t.DType())
	if err != nil {
		return garner.Tensor{}, err
	}
	return c.pairs("xor", t, ones)
}

func negate(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	// Of a float, 0-x would lose the sign of a zero.
	minus, err := c.cast(garner.Of([]int64{-1}), t.DType())
	if err != nil {
		return garner.Tensor{}, err
	}
	return c.pairs("mul", t, minus)
}

// mod is ONNX's Mod: Python's, or C's where fmod says so.
func mod(c *call) (garner.Tensor, error) {
	fmod, err := c.number("fmod", 0)
	if err != nil {
		return garner.Tensor{}, err
	}
	if fmod != 0 {
		return arithmetic("truncated mod")(c)
	}
	return arithmetic("mod")(c)
}

// divide is OpenVINO's Divide, which rounds integers down, or to 0.
func divide(c *call) (garner.Tensor, error) {
	python, err := c.number("m_pythondiv", 1)
	if err != nil {
		return garner.Tensor{}, err
	}
	in, err := c.operands(2)
	if err != nil {
		return garner.Tensor{}, err
	}
	if python != 0 && in[0].DType().IsInteger() {
		return c.pairs("floor div", in[0], in[1])
	}
	return c.pairs("div", in[0], in[1])
}

// integral is Floor and Ceiling of what is whole already.
func integral(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err == nil && !t.DType().IsInteger() {
		err = c.notOf(t.DType())
	}
	return t, err
}

// clip is Clip and Clamp, of integers.
func clip(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	if !t.DType().IsInteger() {
		return garner.Tensor{}, c.notOf(t.DType())
	}
	for i, op := range []string{"max", "min"} {
		name := []string{"min", "max"}[i]
		var end garner.Tensor
		switch bound := c.node.Attributes[name].(type) {
		case nil:
			if !c.has(1 + i) {
				continue
			}
			if end, err = c.input(1 + i); err != nil {
				return garner.Tensor{}, err
			}
		case string: // OpenVINO's, which rounds it into the interval
			v, bad := strconv.ParseFloat(strings.TrimSpace(bound), 64)
			if bad != nil || math.IsNaN(v) {
				return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "its %s is %.40q; it must be a number", name, bound)
			}
			if op == "min" {
				v = math.Floor(v)
			} else {
				v = math.Ceil(v)
			}
			low, high := span(t.DType())
			if v <= low && op == "max" || v >= high && op == "min" {
				continue // every value of the type is good
			}
			if end, err = c.cast(garner.Of([]float64{v}), t.DType()); err != nil {
				return garner.Tensor{}, err
			}
		default:
			return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "its %s is %v; of integers it must be an input", name, bound)
		}
		if end.Len() != 1 {
			return garner.Tensor{}, mismatch("its %s is %s%s; it must be one element", name, end.DType(), end.Shape())
		}
		if end, err = end.Reshape(); err != nil {
			return garner.Tensor{}, err
		}
		if t, err = c.pairs(op, t, end); err != nil {
			return garner.Tensor{}, err
		}
	}
	return t, nil
}

// arange is Range, of integers.
func arange(c *call) (garner.Tensor, error) {
	in, err := c.inputs(3)
	if err != nil {
		return garner.Tensor{}, err
	}
	var ends [3]int64
	for i, t := range in {
		if !t.DType().IsInteger() || t.DType() == garner.U64 {
			return garner.Tensor{}, c.notOf(t.DType())
		}
		if t.Len() != 1 {
			return garner.Tensor{}, mismatch("its input %d is %s%s; it must be one number", i, t.DType(), t.Shape())
		}
		v, err := t.Int(0)
		if err != nil {
			return garner.Tensor{}, err
		}
		ends[i] = int64(v.Bits)
	}
	start, stop, step := ends[0], ends[1], ends[2]
	if step == 0 {
		return garner.Tensor{}, mismatch("its step is 0")
	}
	// The distances of two int64 and the sizes of steps are uint64.
	var n uint64
	if step > 0 && stop > start {
		n = (uint64(stop)-uint64(start)-1)/uint64(step) + 1
	} else if step < 0 && stop < start {
		n = (uint64(start)-uint64(stop)-1)/(-uint64(step)) + 1
	}
	if n > math.MaxInt {
		return garner.Tensor{}, mismatch("it has %d elements, more than an int can count", n)
	}
	made, err := c.new(garner.I64, garner.Shape{int(n)})
	if err != nil {
		return garner.Tensor{}, err
	}
	list, err := garner.Values[int64](made)
	if err != nil {
		return garner.Tensor{}, err
	}
	for i := range list {
		list[i] = start + int64(i)*step
	}
	if c.onnx() || c.node.Attributes["output_type"] == nil {
		return c.cast(made, in[0].DType())
	}
	return c.typed(made)
}

// Casts.

// onnxTypes are ONNX's numbers of element types.
var onnxTypes = map[int64]garner.DType{
	1: garner.F32, 2: garner.U8, 3: garner.I8, 4: garner.U16, 5: garner.I16, 6: garner.I32, 7: garner.I64, 8: garner.String,
	9: garner.Bool, 10: garner.F16, 11: garner.F64, 12: garner.U32, 13: garner.U64, 16: garner.BF16,
}

func onnxCast(c *call) (garner.Tensor, error) {
	switch to := c.node.Attributes["to"].(type) {
	case int64:
		if d, ok := onnxTypes[to]; ok {
			return c.castTo(d)
		}
		return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "a cast to element type %d is not run", to)
	case string: // before opset 6
		d, err := garner.ParseDType(to)
		if err != nil {
			return garner.Tensor{}, err
		}
		return c.castTo(d)
	}
	return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "it does not say what to cast to; set its attribute to")
}

func convert(c *call) (garner.Tensor, error) {
	name, _ := c.node.Attributes["destination_type"].(string)
	d, err := garner.ParseDType(name)
	if err != nil {
		return garner.Tensor{}, err
	}
	return c.castTo(d)
}

func castLike(c *call) (garner.Tensor, error) {
	if !c.has(1) {
		return c.input(1)
	}
	like, err := c.lazy(c.node.Inputs[1])
	if err != nil {
		return garner.Tensor{}, err
	}
	if like.as != garner.Invalid {
		return c.castTo(like.as)
	}
	return c.castTo(like.tensor.DType())
}

// castTo leaves the cast to whoever wants the elements.
func (c *call) castTo(to garner.DType) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	if err := castable(t.DType(), to); err != nil {
		return garner.Tensor{}, err
	}
	if t.DType() != to {
		c.as = to
	}
	return t, nil
}

// castable refuses casts that are not run.
func castable(from, to garner.DType) error {
	switch to {
	case from:
		return nil
	case garner.Bool, garner.I8, garner.I16, garner.I32, garner.I64, garner.U8, garner.U16, garner.U32, garner.U64,
		garner.F16, garner.BF16, garner.F32, garner.F64:
		if from == garner.Bool || from.IsInteger() || from.IsFloat() {
			return nil
		}
	}
	return garner.Errorf(garner.ErrDType, "a cast of %s to %s is not run; numbers and bools are cast, to those of a byte and more and not to 8-bit floats", from, to)
}

// span is what a number may be, cut to an integer, to fit an integer type.
func span(d garner.DType) (low, high float64) {
	if d.IsUnsigned() {
		return 0, math.Ldexp(1, d.Bits())
	}
	return -math.Ldexp(1, d.Bits()-1), math.Ldexp(1, d.Bits()-1)
}

// cast makes numbers of another type: integers wrap, floats round to the
// nearest, ties to even, those narrower than f32 by way of it, as the runtimes
// do; a float becomes the integer towards 0, and one that has none is refused,
// because every machine makes something else of it. A number is true where it is
// not 0.
func (r *runner) cast(t garner.Tensor, to garner.DType) (garner.Tensor, error) {
	from := t.DType()
	if from == to {
		return t, nil
	}
	if err := castable(from, to); err != nil {
		return garner.Tensor{}, err
	}
	made, err := r.new(to, t.Shape())
	if err != nil {
		return garner.Tensor{}, err
	}
	flat, err := r.as(t, garner.Shape{t.Len()})
	if err != nil {
		return garner.Tensor{}, err
	}
	out, err := made.Bytes()
	if err != nil {
		return garner.Tensor{}, err
	}
	const block = 1 << 12
	whole, real := make([]int64, block), make([]float64, block)
	for at := 0; at < t.Len(); at += block {
		n := min(block, t.Len()-at)
		part, err := flat.Slice(0, at, at+n, 1)
		if err != nil {
			return garner.Tensor{}, err
		}
		if from.IsFloat() {
			if err := reals(part, real[:n]); err != nil {
				return garner.Tensor{}, err
			}
			if to.IsInteger() {
				low, high := span(to)
				for i, v := range real[:n] {
					if v = math.Trunc(v); !(low <= v && v < high) {
						return garner.Tensor{}, garner.Errorf(garner.ErrDType, "element %d is %v, which %s does not hold; give an input that makes none such", at+i, real[i], to)
					}
					if whole[i] = int64(v); v >= math.MaxInt64 {
						whole[i] = int64(uint64(v))
					}
				}
			}
		} else if err := wholes(part, whole[:n]); err != nil {
			return garner.Tensor{}, err
		}
		size := to.Bits() / 8
		for i := range n {
			put(out[(at+i)*size:], code(from, to, whole[i], real[i]), size)
		}
	}
	return made, nil
}

// code is the bits of a number in another type.
func code(from, to garner.DType, whole int64, real float64) uint64 {
	switch {
	case to == garner.Bool && (from.IsFloat() && real != 0 || !from.IsFloat() && whole != 0):
		return 1
	case to == garner.Bool:
		return 0
	case to.IsInteger():
		return uint64(whole)
	case to == garner.F64 && from.IsFloat():
		return math.Float64bits(real)
	case to == garner.F64 && from == garner.U64:
		return math.Float64bits(float64(uint64(whole)))
	case to == garner.F64:
		return math.Float64bits(float64(whole))
	}
	single := float32(real)
	if !from.IsFloat() {
		if single = float32(whole); from == garner.U64 {
			single = float32(uint64(whole))
		}
	}
	switch to {
	case garner.F16:
		return uint64(half(single))
	case garner.BF16:
		b := math.Float32bits(single)
		if single != single {
			return uint64(b>>16 | 0x40)
		}
		return uint64((b + 0x7fff + b>>16&1) >> 16)
	}
	return uint64(math.Float32bits(single))
}

// put writes the low bytes of v, size of them.
func put(b []byte, v uint64, size int) {
	switch size {
	case 1:
		b[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(v))
	default:
		binary.LittleEndian.PutUint64(b, v)
	}
}

// half is the f16 nearest to v, ties to even.
func half(v float32) uint16 {
	b := math.Float32bits(v)
	sign := uint16(b >> 16 & 0x8000)
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000: // NaN, which stays one
		return sign | 0x7e00 | uint16(b>>13&0x3ff)
	case b >= 0x477ff000: // what rounds to 65536 or more
		return sign | 0x7c00
	case b < 0x38800000: // subnormal: counted in units of 2^-24
		if b < 0x33000000 {
			return sign
		}
		shift := 126 - b>>23
		m := b&0x7fffff | 0x800000
		q := m >> shift
		if rest, tie := m&(1<<shift-1), uint32(1)<<(shift-1); rest > tie || rest == tie && q&1 == 1 {
			q++
		}
		return sign | uint16(q)
	}
	return sign | uint16((b+0xfff+b>>13&1-0x38000000)>>13)
}

// reals reads floats.
func reals(t garner.Tensor, to []float64) error {
	if v, err := garner.Values[float32](t); err == nil {
		for i, x := range v {
			to[i] = float64(x)
		}
		return nil
	}
	for i := range to {
		var err error
		if to[i], err = t.Float64(i); err != nil {
			return err
		}
	}
	return nil
}

// wholes reads integers and bools; those of u64 by their bits.
func wholes(t garner.Tensor, to []int64) error {
	if t.DType() == garner.Bool {
		v, err := garner.Values[bool](t)
		if err != nil {
			if t, err = t.Clone(); err == nil {
				v, err = garner.Values[bool](t)
			}
		}
		for i, b := range v {
			to[i] = 0
			if b {
				to[i] = 1
			}
		}
		return err
	}
	if v, err := garner.Values[int64](t); err == nil {
		copy(to, v)
		return nil
	}
	for i := range to {
		v, err := t.Int(i)
		if err != nil {
			return err
		}
		to[i] = int64(v.Bits)
	}
	return nil
}
