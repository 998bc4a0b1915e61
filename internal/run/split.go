package run

import "github.com/garner-go/garner"

// onnxSplit is ONNX's Split. Its parts are split, an input since opset 13, or as many of one
// length as there are outputs; since opset 18 the last of them may be shorter.
func onnxSplit(c *call) ([]garner.Tensor, error) {
	a, err := c.number("axis", 0)
	if err != nil {
		return nil, err
	}
	n := len(c.node.Outputs)
	parts, err := c.longList("split", 1, n)
	if err != nil {
		return nil, err
	}
	if parts != nil {
		return c.split(a, parts)
	}
	count, err := c.number("num_outputs", int64(n))
	if err != nil {
		return nil, err
	}
	if count != int64(n) {
		return nil, garner.Errorf(garner.ErrAttribute, "its num_outputs is %d, and it has %d outputs", count, n)
	}
	return c.splitEvenly(a, n, !c.beforeOpset(18))
}

// irSplit is OpenVINO's Split, into parts of one length.
func irSplit(c *call) ([]garner.Tensor, error) {
	axis, err := c.scalar(1, "axis")
	if err != nil {
		return nil, err
	}
	n := len(c.node.Outputs)
	count, err := c.number("num_splits", int64(n))
	if err != nil {
		return nil, err
	}
	if count != int64(n) {
		return nil, garner.Errorf(garner.ErrAttribute, "its num_splits is %d, and it has %d outputs", count, n)
	}
	return c.splitEvenly(axis, n, false)
}

// variadicSplit is OpenVINO's VariadicSplit: one length may be -1 and is then what the
// others leave.
func variadicSplit(c *call) ([]garner.Tensor, error) {
	axis, err := c.scalar(1, "axis")
	if err != nil {
		return nil, err
	}
	parts, err := c.longList("split_lengths", 2, len(c.node.Outputs))
	if err != nil {
		return nil, err
	}
	if parts == nil {
		_, err := c.input(2)
		return nil, err
	}
	return c.split(axis, parts)
}

// scalar returns the one integer of the i-th input.
func (c *call) scalar(i int, name string) (int64, error) {
	if _, err := c.input(i); err != nil {
		return 0, err
	}
	list, err := c.longList(name, i, 1)
	if err != nil {
		return 0, err
	}
	if len(list) != 1 {
		return 0, mismatch("its %s has %d numbers; it must be one", name, len(list))
	}
	return list[0], nil
}

// splitEvenly splits the first input into n parts of one length, the last perhaps shorter.
func (c *call) splitEvenly(axis int64, n int, shorter bool) ([]garner.Tensor, error) {
	v, err := c.unjoinedInput()
	if err != nil {
		return nil, err
	}
	at, err := axisOf(axis, v.tensor.Rank())
	if err != nil {
		return nil, err
	}
	d := v.tensor.Shape()[at]
	length := (d-1)/n + 1
	if d == 0 {
		length = 0
	}
	rest := d - length*(n-1)
	if rest < 0 || rest != length && !shorter {
		return nil, mismatch("axis %d of %s has no %d parts of one length", at, v.tensor.Shape(), n)
	}
	parts := make([]int64, n)
	for i := range parts {
		parts[i] = int64(length)
	}
	parts[n-1] = int64(rest)
	return c.split(axis, parts)
}

// split splits the first input along an axis into views of the given lengths. One may be -1
// in OpenVINO.
func (c *call) split(axis int64, parts []int64) ([]garner.Tensor, error) {
	v, err := c.unjoinedInput()
	if err != nil {
		return nil, err
	}
	at, err := axisOf(axis, v.tensor.Rank())
	if err != nil {
		return nil, err
	}
	d := int64(v.tensor.Shape()[at])
	left, open := d, -1
	for i, n := range parts {
		switch {
		case n == -1 && open < 0 && !c.onnx():
			open = i
		case n < 0 || n > left:
			return nil, mismatch("its %d lengths do not make up axis %d of %s", len(parts), at, v.tensor.Shape())
		default:
			left -= n
		}
	}
	if open < 0 && left != 0 {
		return nil, mismatch("its %d lengths do not make up axis %d of %s", len(parts), at, v.tensor.Shape())
	}
	t, err := c.sameElements()
	if err != nil {
		return nil, err
	}
	made := make([]garner.Tensor, len(parts))
	from := 0
	for i, n := range parts {
		if i == open {
			n = left
		}
		if made[i], err = t.Slice(at, from, from+int(n), 1); err != nil {
			return nil, err
		}
		from += int(n)
	}
	return made, nil
}
