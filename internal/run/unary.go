package run

import (
	"math"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// absolute is Abs. The least integer stays as it is in ONNX Runtime, as in C.
func absolute(c *call) (garner.Tensor, error) {
	in, err := c.widened(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	t := in[0]
	if err := c.openvinoHolds(t); err != nil {
		return garner.Tensor{}, err
	}
	if c.openvino() && foldable(c.node.Inputs[0]) {
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "%s of what nodes compute of constants is not run: OpenVINO 2026.4 leaves it out; make it a constant", c.node.Op)
	}
	switch d := t.DType(); {
	case d == garner.F32:
		return elementwise(c.runner, t, t, t.Shape(), func(x, _ float32) float32 {
			return math.Float32frombits(math.Float32bits(x) &^ (1 << 31))
		})
	case d == garner.F64:
		return elementwise(c.runner, t, t, t.Shape(), func(x, _ float64) float64 { return math.Abs(x) })
	case d.IsUnsigned():
		return t, nil
	case d.IsInteger():
		zero, err := c.cast(garner.Of([]int64{0}), d)
		if err != nil {
			return garner.Tensor{}, err
		}
		minus, err := c.binary("sub", zero, t)
		if err != nil {
			return garner.Tensor{}, err
		}
		// The least integer and its negative are equal where integers wrap.
		return c.binary("max", t, minus)
	}
	return garner.Tensor{}, c.unsupportedType(t.DType())
}

// foldable reports whether nodes of the model compute a value of constants alone, as far
// as a look at some of them tells.
func foldable(v *model.Value) bool {
	if v.From == nil {
		return false
	}
	seen := map[*model.Value]bool{v: true}
	for left := []*model.Value{v}; len(left) > 0; {
		v := left[len(left)-1]
		left = left[:len(left)-1]
		if v.Constant != nil {
			continue
		}
		if v.From == nil || len(seen) > 64 {
			return false
		}
		for _, in := range v.From.Inputs {
			if in != nil && !seen[in] {
				seen[in] = true
				left = append(left, in)
			}
		}
	}
	return true
}

func (c *call) isGiven(v *model.Value) bool {
	_, ok := c.given[v]
	return ok
}

// sign is Sign: -1, 0 or 1.
func sign(c *call) (garner.Tensor, error) {
	c.strict = true
	in, err := c.widened(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	t := in[0]
	if err := c.openvinoHolds(t); err != nil {
		return garner.Tensor{}, err
	}
	if t.DType().IsInteger() {
		var ends [2]garner.Tensor
		for i, v := range []int64{-1, 1} {
			if t.DType().IsUnsigned() {
				v = int64(i)
			}
			if ends[i], err = c.cast(garner.Of([]int64{v}), t.DType()); err != nil {
				return garner.Tensor{}, err
			}
		}
		if t, err = c.binary("max", t, ends[0]); err != nil {
			return garner.Tensor{}, err
		}
		return c.binary("min", t, ends[1])
	}
	switch t.DType() {
	case garner.F32:
		return signOf[float32](c, t)
	case garner.F64:
		return signOf[float64](c, t)
	}
	return garner.Tensor{}, c.unsupportedType(t.DType())
}

func signOf[T interface {
	real
	garner.Element
}](c *call, t garner.Tensor) (garner.Tensor, error) {
	var bad refusal
	made, err := elementwise(c.runner, t, t, t.Shape(), func(x, _ T) T {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		case x != x:
			bad.of("of NaN")
		case c.openvino() && math.Signbit(float64(x)):
			bad.of("of -0, which OpenVINO gives with either sign")
		}
		return 0
	})
	return c.unless(&bad, made, err)
}

// squareRoot is Sqrt of f32, which processors round to the nearest.
func squareRoot(c *call) (garner.Tensor, error) {
	in, err := c.widened(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	t := in[0]
	if t.DType() != garner.F32 {
		return garner.Tensor{}, c.unsupportedType(t.DType())
	}
	var bad refusal
	made, err := elementwise(c.runner, t, t, t.Shape(), func(x, _ float32) float32 {
		if x < 0 || x != x {
			bad.of("of NaN, or of a number below 0")
		}
		return float32(math.Sqrt(float64(x)))
	})
	return c.unless(&bad, made, err)
}

// isNaN is IsNaN.
func isNaN(c *call) (garner.Tensor, error) {
	c.strict = true
	in, err := c.widened(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	if !in[0].DType().IsFloat() {
		return garner.Tensor{}, c.unsupportedType(in[0].DType())
	}
	return c.binary("!=", in[0], in[0])
}
