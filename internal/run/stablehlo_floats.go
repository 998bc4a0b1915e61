package run

import (
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// XLA on a CPU computes floats of f32 and f64 as IEEE 754 says, but for what its compiler and its threads change:
//
//   - subnormal numbers are 0, as operands and as results, and in comparisons;
//   - a product and a sum become one operation, which rounds once, wherever XLA finds both in one computation;
//   - a quotient by a constant becomes a product with its reciprocal, and a sum with 0 is left out;
//   - which NaN a result is depends on the processor, and so do Maximum and Minimum of NaN, or of 0 and -0.
//
// So arithmetic is run of operands that no other arithmetic of floats makes, and of which none is a constant where
// that matters; and refused for those numbers. Arithmetic of f16 and bf16 is refused: XLA computes it in f32 between
// operators.

// hloArithmetic are the operators of StableHLO that round.
var hloArithmetic = []string{"add", "subtract", "multiply", "divide"}

// isHLO reports whether the model is of StableHLO.
func (c *call) isHLO() bool { return c.model.Format == "StableHLO" }

// ofFloatsToo evaluates an operator of integers, and of floats as XLA does.
func ofFloatsToo(f evaluator) evaluator {
	return func(c *call) (garner.Tensor, error) {
		v, err := c.unjoinedInput()
		if err != nil {
			return garner.Tensor{}, err
		}
		if !v.dtype().IsFloat() {
			return ofIntegers(f)(c)
		}
		in, err := c.inputs(len(c.node.Inputs))
		if err != nil {
			return garner.Tensor{}, err
		}
		if err := c.hloFloats(in...); err != nil {
			return garner.Tensor{}, err
		}
		if slices.Contains(hloArithmetic, c.node.Op) {
			for i, v := range c.node.Inputs {
				switch o := c.originOf(v); {
				case o.made:
					return garner.Tensor{}, garner.Errorf(garner.ErrDType, "%s of floats that are sums, products or quotients is not run, because XLA joins both; give what the first makes", c.node.Op)
				case !o.varies && (c.node.Op == "divide" && i == 1 || c.node.Op == "add" || c.node.Op == "subtract"):
					return garner.Tensor{}, garner.Errorf(garner.ErrDType, "%s of floats and a constant is not run, because XLA computes it otherwise; give the constant", c.node.Op)
				}
			}
		}
		made, err := f(c)
		if err == nil && !c.bare {
			err = c.usual(made, true)
		}
		return made, err
	}
}

// hloFloats refuses operands whose arithmetic is not run.
func (c *call) hloFloats(in ...garner.Tensor) error {
	c.mayRefuse()
	for _, t := range in {
		if d := t.DType(); d != garner.F32 && d != garner.F64 {
			return c.unsupportedType(d)
		}
		if !c.bare {
			if err := c.usual(t, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// An origin is what makes a value, at any distance.
type origin struct {
	made    bool // arithmetic of floats
	varies  bool // something that is no constant
	narrows bool // a convert of floats to narrower ones
}

// originOf finds the origin of a value. It visits each value of the model once.
func (c *call) originOf(v *model.Value) origin {
	if c.origins == nil {
		c.origins = make(map[*model.Value]origin)
	}
	v = c.aliases.of(v)
	left := []*model.Value{v}
	for len(left) > 0 {
		v := left[len(left)-1]
		if _, ok := c.origins[v]; ok {
			left = left[:len(left)-1]
			continue
		}
		if _, given := c.given[v]; given || v.Constant != nil || v.From == nil {
			c.origins[v] = origin{varies: given || v.Constant == nil}
			left = left[:len(left)-1]
			continue
		}
		waits := false
		var o origin
		for _, from := range v.From.Inputs {
			if from = c.aliases.of(from); from == nil {
				continue
			}
			of, ok := c.origins[from]
			if !ok {
				left, waits = append(left, from), true
			}
			o.made, o.varies, o.narrows = o.made || of.made, o.varies || of.varies, o.narrows || of.narrows
			from, to := from.Spec.DType, v.Spec.DType
			o.narrows = o.narrows || v.From.Op == "convert" && from.IsFloat() && to.IsFloat() && to.Bits() < from.Bits()
		}
		if waits {
			continue
		}
		o.made = o.made || slices.Contains(hloArithmetic, v.From.Op) && !v.Spec.DType.IsInteger()
		c.origins[v] = o
		left = left[:len(left)-1]
	}
	return c.origins[v]
}

// hloConvertFloats is convert of floats, or to floats. A float converts to an integer towards 0.
func hloConvertFloats(c *call, to garner.DType) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	if err := castable(t.DType(), to); err != nil {
		return garner.Tensor{}, err
	}
	if t.DType().IsFloat() && to.IsFloat() && to.Bits() > t.DType().Bits() && c.originOf(c.node.Inputs[0]).narrows {
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "convert of floats to wider ones behind one to narrower ones is not run, because XLA leaves both out; give what the first makes")
	}
	c.mayRefuse()
	made, err := c.cast(t, to)
	if err != nil || c.bare {
		return made, err
	}
	for _, one := range []garner.Tensor{t, made} {
		if one.DType().IsFloat() && (isNarrow(one.DType()) || isNarrow(to)) { // XLA goes through f32
			if one, err = c.cast(one, garner.F32); err != nil {
				return garner.Tensor{}, err
			}
		}
		if err := c.usual(one, true); err != nil {
			return garner.Tensor{}, err
		}
	}
	return made, nil
}
