package run

import (
	"math"
	"slices"

	"github.com/garner-go/garner"
)

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

// join concatenates tensors along an axis.
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
	if err != nil || r.bare {
		return made, err
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

// sliceAxis is Python's slice of one axis: a negative end counts from the back,
// and ends outside the axis move to its first or last element. It differs from
// Python in one case, as ONNX Runtime and OpenVINO do: a slice with a negative
// step that starts before the axis begins with the first element.
func sliceAxis(t garner.Tensor, axis int, start, stop, step int64) (garner.Tensor, error) {
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
	if step < 0 && ends[0] < 0 { // the axis is empty and has no last element to start from
		return t.Slice(axis, 0, 0, 1)
	}
	return t.Slice(axis, int(ends[0]), int(ends[1]), int(step))
}

func slice(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	// The order of inputs: ONNX has axes before steps, OpenVINO steps before axes.
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
	if _, err := axisSet(axes, t.Rank()); err != nil {
		return garner.Tensor{}, err
	}
	for i, a := range axes {
		axis, err := axisOf(a, t.Rank())
		if err != nil {
			return garner.Tensor{}, err
		}
		stop := stops[i]
		if c.onnx() && steps[i] < 0 && (stop == math.MaxInt32 || stop == math.MaxInt64) {
			stop = math.MinInt64 // ONNX Runtime takes both as the end in the direction of the step, OpenVINO as numbers
		}
		if t, err = sliceAxis(t, axis, starts[i], stop, steps[i]); err != nil {
			return garner.Tensor{}, err
		}
	}
	return t, nil
}

// stridedSlice is NumPy's indexing by slices, integers, newaxis and an ellipsis;
// masks say which of them each entry is.
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
	// An ellipsis stands for the axes that no other entry takes.
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
			from := begin[i]
			if c.openvino() && marked("begin_mask", i) { // which the other runtimes do not look at here
				from = 0
			}
			at, err := axisOf(from, t.Shape()[axis])
			if err != nil {
				return garner.Tensor{}, mismatch("it takes element %d of axis %d of %s", from, axis, t.Shape())
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
			if t, err = sliceAxis(t, axis, from, to, steps[i]); err != nil {
				return garner.Tensor{}, err
			}
			keep(1)
		}
	}
	keep(t.Rank() - axis)
	return c.runner.reshape(t, shape)
}
