package run

import (
	"strings"

	"github.com/garner-go/garner"
)

// padRows is Pad, PadV2 and MirrorPad of TensorFlow: paddings has a row for each axis, how many elements stand
// before it and how many behind it.
func padRows(c *call) (garner.Tensor, error) {
	mode, _ := c.node.Attributes["mode"].(string)
	if c.node.Op != "MirrorPad" {
		mode = "constant"
	}
	return c.padByRows(strings.ToLower(mode))
}

// tflitePad is PAD, PADV2 and MIRROR_PAD of LiteRT, as padRows. Of codes that have a zero point PAD is refused.
func tflitePad(c *call) (garner.Tensor, error) {
	if q := c.node.Outputs[0].Quantised; q != nil && c.node.Op == "PAD" {
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "PAD of a quantised value (%s) is not run", q)
	}
	if c.node.Op != "MIRROR_PAD" {
		return c.padByRows("constant")
	}
	mode, err := c.number("mode", 0)
	if err != nil {
		return garner.Tensor{}, err
	}
	switch mode {
	case 0:
		return c.padByRows("reflect")
	case 1:
		return c.padByRows("symmetric")
	}
	return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "its mode is %d; there are 0 (REFLECT) and 1 (SYMMETRIC)", mode)
}

// padByRows pads the first input by the second, with the third or 0 where the mode is constant.
func (c *call) padByRows(mode string) (garner.Tensor, error) {
	in, err := c.inputs(2)
	if err != nil {
		return garner.Tensor{}, err
	}
	if err := c.known(1); err != nil {
		return garner.Tensor{}, err
	}
	t, rows := in[0], in[1]
	if rows.Rank() != 2 || rows.Shape()[0] != t.Rank() || rows.Shape()[1] != 2 {
		return garner.Tensor{}, mismatch("its paddings are %s%s; they must have a row of two for each dim of %s", rows.DType(), rows.Shape(), t.Shape())
	}
	if rows, err = rows.Clone(); err == nil {
		rows, err = rows.Reshape(rows.Len())
	}
	if err != nil {
		return garner.Tensor{}, err
	}
	list, err := integersOf(rows, "paddings", 2*maxNumbers)
	if err != nil {
		return garner.Tensor{}, err
	}
	begin, end := make([]int64, t.Rank()), make([]int64, t.Rank())
	for i := range begin {
		if begin[i], end[i] = list[2*i], list[2*i+1]; begin[i] < 0 || end[i] < 0 {
			return garner.Tensor{}, mismatch("it pads axis %d by %d and %d; both must be 0 or more", i, begin[i], end[i])
		}
	}
	var value garner.Tensor
	switch {
	case mode != "constant":
	case c.has(2):
		if value, err = c.input(2); err != nil {
			return garner.Tensor{}, err
		}
		if value.DType() != t.DType() || value.Len() != 1 {
			return garner.Tensor{}, mismatch("it pads %s with %s%s; it must be one element of that dtype", t.DType(), value.DType(), value.Shape())
		}
		if value, err = c.runner.reshape(value, garner.Shape{}); err != nil {
			return garner.Tensor{}, err
		}
	default:
		if value, err = garner.New(t.DType()); err != nil {
			return garner.Tensor{}, err
		}
	}
	return c.padded(t, begin, end, mode, value)
}
