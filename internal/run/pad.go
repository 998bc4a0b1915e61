package run

import (
	"math"
	"slices"
	"strings"

	"github.com/garner-go/garner"
)

// pad is Pad with a constant, the edge or a reflection, axis by axis. A negative number of
// elements takes them away.
func pad(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	begin, end, err := c.pads(t.Rank())
	if err != nil {
		return garner.Tensor{}, err
	}
	mode, _ := c.node.Attributes["mode"].(string)
	if !c.onnx() {
		mode, _ = c.node.Attributes["pad_mode"].(string)
	}
	mode = strings.ToLower(mode)
	value, err := c.padValue(t.DType())
	if err != nil {
		return garner.Tensor{}, err
	}
	return c.padded(t, begin, end, mode, value)
}

// padded puts elements before and behind each axis: a constant, the edge, or elements mirrored
// without it (reflect) or with it (symmetric).
func (c *call) padded(t garner.Tensor, begin, end []int64, mode string, value garner.Tensor) (garner.Tensor, error) {
	var err error
	for axis := range t.Rank() {
		d := int64(t.Shape()[axis])
		from, to := max(-begin[axis], 0), d-max(-end[axis], 0)
		if from > to {
			return garner.Tensor{}, mismatch("it takes %d elements of axis %d of %s", from+d-to, axis, t.Shape())
		}
		if t, err = t.Slice(axis, int(from), int(to), 1); err != nil {
			return garner.Tensor{}, err
		}
		d = to - from
		before, behind := max(begin[axis], 0), max(end[axis], 0)
		if before == 0 && behind == 0 {
			continue
		}
		if before > math.MaxInt32 || behind > math.MaxInt32 {
			return garner.Tensor{}, mismatch("it pads axis %d by %d and %d", axis, before, behind)
		}
		var parts [2]garner.Tensor
		for i, n := range []int64{before, behind} {
			shape := slices.Clone(t.Shape())
			shape[axis] = int(n)
			switch mode {
			case "", "constant":
				parts[i], err = c.broadcast(value, shape)
			case "edge":
				if d == 0 {
					return garner.Tensor{}, mismatch("axis %d of %s has no edge", axis, t.Shape())
				}
				at := 0
				if i == 1 {
					at = int(d) - 1
				}
				if parts[i], err = t.Slice(axis, at, at+1, 1); err == nil {
					parts[i], err = c.broadcast(parts[i], shape)
				}
			case "reflect", "symmetric":
				edge := int64(1) // elements of it that are left out
				if mode == "symmetric" {
					edge = 0
				}
				if n > d-edge {
					return garner.Tensor{}, mismatch("it reflects %d elements of axis %d of %s, which has %d", n, axis, t.Shape(), max(d-edge, 0))
				}
				from, to := edge, edge+n
				if i == 1 {
					from, to = d-edge-n, d-edge
				}
				if n == 0 {
					from = to
				}
				if parts[i], err = t.Slice(axis, int(from), int(to), 1); err == nil {
					parts[i], err = sliceAxis(parts[i], axis, math.MaxInt64, math.MinInt64, -1)
				}
			default:
				return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "its mode is %.40q; constant, edge, reflect and symmetric are run", mode)
			}
			if err != nil {
				return garner.Tensor{}, err
			}
		}
		if t, err = c.join([]garner.Tensor{parts[0], t, parts[1]}, axis); err != nil {
			return garner.Tensor{}, err
		}
	}
	return t, nil
}

// pads returns how many elements are put before and behind each axis.
func (c *call) pads(rank int) (begin, end []int64, err error) {
	if !c.onnx() {
		if begin, err = c.list("pads_begin", 1); err == nil {
			end, err = c.list("pads_end", 2)
		}
		if err == nil && (len(begin) != rank || len(end) != rank) {
			err = mismatch("it has %d and %d pads; there must be one for each of %d dims", len(begin), len(end), rank)
		}
		return begin, end, c.checkPads(begin, end, err)
	}
	list, err := c.longList("pads", 1, 2*maxNumbers)
	if err != nil {
		return nil, nil, err
	}
	axes, err := c.list("axes", 3)
	if err != nil {
		return nil, nil, err
	}
	if axes == nil {
		for i := range rank {
			axes = append(axes, int64(i))
		}
	}
	if _, err := axisSet(axes, rank); err != nil {
		return nil, nil, err
	}
	if len(list) != 2*len(axes) {
		return nil, nil, mismatch("it has %d pads; there must be two for each of %d axes", len(list), len(axes))
	}
	begin, end = make([]int64, rank), make([]int64, rank)
	for i, a := range axes {
		axis, err := axisOf(a, rank)
		if err != nil {
			return nil, nil, err
		}
		begin[axis], end[axis] = list[i], list[len(axes)+i]
	}
	return begin, end, c.checkPads(begin, end, nil)
}

// checkPads refuses numbers that no axis has.
func (c *call) checkPads(begin, end []int64, err error) error {
	for _, n := range slices.Concat(begin, end) {
		if err == nil && (n < -math.MaxInt32 || n > math.MaxInt32) {
			err = mismatch("it pads an axis by %d", n)
		}
	}
	return err
}

// padValue returns the constant that a node pads with, in a dtype.
func (c *call) padValue(dtype garner.DType) (garner.Tensor, error) {
	at := 2
	if !c.onnx() {
		at = 3
	}
	if c.has(at) {
		v, err := c.input(at)
		if err != nil {
			return garner.Tensor{}, err
		}
		if v.DType() != dtype || v.Len() != 1 {
			return garner.Tensor{}, mismatch("it pads %s with %s%s; it must be one element of that dtype", dtype, v.DType(), v.Shape())
		}
		if c.openvino() && v.DType() != garner.Bool {
			if err := c.known(at); err != nil {
				return garner.Tensor{}, err
			}
			n, err := v.Float64(0)
			if err != nil {
				return garner.Tensor{}, err
			}
			if n != float64(float32(n)) || n == 0 && math.Signbit(n) || v.DType().IsInteger() && math.Abs(n) > 1<<24 {
				return garner.Tensor{}, mismatch("it pads with %v, which OpenVINO rounds to f32", n)
			}
		}
		return c.runner.reshape(v, garner.Shape{})
	}
	value := 0.0
	if v, ok := c.node.Attributes["value"].(float64); ok {
		value = v
	}
	return c.cast(garner.Of([]float64{value}), dtype)
}
