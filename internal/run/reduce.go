package run

import (
	"math"
	"slices"

	"github.com/garner-go/garner"
)

// reduced returns the first input with the axes that a node reduces behind the others, in
// row-major order: n rows of each elements. shape is that of the result.
func (c *call) reduced(t garner.Tensor, axes []int64, keep bool) (rows garner.Tensor, n, each int, shape garner.Shape, err error) {
	drop, err := axisSet(axes, t.Rank())
	if err != nil {
		return garner.Tensor{}, 0, 0, nil, err
	}
	var first, last []int
	n, each = 1, 1
	for i, d := range t.Shape() {
		if drop[i] {
			last = append(last, i)
			each *= d
			if keep {
				shape = append(shape, 1)
			}
			continue
		}
		first = append(first, i)
		n *= d
		shape = append(shape, d)
	}
	if order := append(first, last...); len(order) > 0 {
		if t, err = t.Transpose(order...); err != nil {
			return garner.Tensor{}, 0, 0, nil, err
		}
	}
	rows, err = c.runner.reshape(t, garner.Shape{n, each})
	return rows, n, each, shape, err
}

// reduction returns the axes of a node that reduces and whether it keeps them as dims of 1;
// done where the result is the input.
func (c *call) reduction(rank int) (axes []int64, keep, done bool, err error) {
	if axes, err = c.list("axes", 1); err != nil {
		return nil, false, false, err
	}
	name, without := "keep_dims", int64(0)
	if c.onnx() {
		name, without = "keepdims", 1
	}
	kept, err := c.number(name, without)
	if err != nil {
		return nil, false, false, err
	}
	if len(axes) == 0 {
		noop, err := c.number("noop_with_empty_axes", 0)
		if err != nil {
			return nil, false, false, err
		}
		if noop != 0 || !c.onnx() {
			return nil, false, true, nil
		}
		for i := range rank {
			axes = append(axes, int64(i))
		}
	}
	return axes, kept != 0, false, nil
}

// reduceSum is ReduceSum where every order of its additions gives one result.
func reduceSum(c *call) (garner.Tensor, error) {
	return c.reduce(func(t garner.Tensor) (func(row []float64) (float64, string), string) {
		d := t.DType()
		// Whole numbers below most are added without rounding.
		most := 0x1p53
		switch {
		case d == garner.F32 || c.openvino():
			most = 0x1p24
		case d == garner.F64:
		case d != garner.I32 && d != garner.I64 && c.onnx():
			return nil, "ONNX Runtime adds i32, i64 and floats"
		}
		low, high := math.Inf(-1), math.Inf(1)
		if d.IsInteger() {
			low, high = integerBounds(d)
		}
		if c.openvino() && d.IsInteger() && d.Bits() >= 32 {
			low, high = math.MinInt32, math.MaxInt32+1
		}
		return func(row []float64) (float64, string) {
			if d.IsInteger() && slices.ContainsFunc(row, func(v float64) bool { return math.Abs(v) >= 0x1p53 }) {
				return 0, "ONNX Runtime adds integers in f64"
			}
			sum, exact := exactSum(row, most)
			if !exact {
				return 0, "it rounds, and its result depends on the order of the additions"
			}
			if sum < low || sum >= high {
				return 0, "its sum is beyond the dtype"
			}
			return sum, ""
		}, ""
	})
}

// exactSum returns a sum and whether every order of additions gives it: all numbers are
// multiples of one power of 2, and their sum is below most times that. All of them being -0
// is none.
func exactSum(row []float64, most float64) (float64, bool) {
	unit, total, sum, minus := math.Inf(1), 0.0, 0.0, 0
	for _, v := range row {
		if v == 0 {
			if math.Signbit(v) {
				minus++
			}
			continue
		}
		if v != v || math.IsInf(v, 0) {
			return 0, false
		}
		bits := math.Float64bits(v)
		fraction := bits & (1<<52 - 1)
		exponent := int(bits>>52) & 0x7ff
		if exponent > 0 {
			fraction |= 1 << 52
			exponent--
		}
		unit = min(unit, math.Ldexp(float64(fraction&-fraction), exponent-1074))
		total += math.Abs(v)
		sum += v
	}
	if minus > 0 && minus == len(row) {
		return 0, false
	}
	return sum, total == 0 || total/unit < most
}

// reduceExtreme is ReduceMax and ReduceMin.
func reduceExtreme(greatest bool) evaluator {
	return func(c *call) (garner.Tensor, error) {
		return c.reduce(func(t garner.Tensor) (func(row []float64) (float64, string), string) {
			d := t.DType()
			most := math.Inf(1)
			if d.IsInteger() {
				most = 0x1p53 // beyond, a float64 does not tell them apart
				if c.openvino() {
					most = 0x1p24 // it compares in f32
				}
			}
			switch d {
			case garner.F32, garner.F64, garner.I8, garner.I32, garner.I64, garner.U8:
			default:
				if c.onnx() {
					return nil, "ONNX Runtime takes the extremes of i8, u8, i32, i64 and floats"
				}
			}
			return func(row []float64) (float64, string) {
				best, zeros := row[0], [2]bool{}
				for _, v := range row {
					if v != v {
						return 0, "it has NaN, which runtimes ignore at some places"
					}
					if math.Abs(v) >= most {
						return 0, "it has integers that its float type does not tell apart"
					}
					if v == 0 && math.Signbit(v) {
						zeros[1] = true
					} else if v == 0 {
						zeros[0] = true
					}
					if v > best == greatest && v != best {
						best = v
					}
				}
				if best == 0 && zeros[0] && zeros[1] {
					return 0, "it is of 0 and -0, of which processors give either"
				}
				return best, ""
			}, ""
		})
	}
}

// reduce reduces rows of numbers, each to the one that of returns, or to a refusal. prepare
// gets the input as it is computed.
func (c *call) reduce(prepare func(t garner.Tensor) (of func(row []float64) (float64, string), refuses string)) (garner.Tensor, error) {
	c.strict = true
	in, err := c.widened(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	t := in[0]
	if !t.DType().IsInteger() && !t.DType().IsFloat() {
		return garner.Tensor{}, c.unsupportedType(t.DType())
	}
	if err := c.openvinoHolds(t); err != nil {
		return garner.Tensor{}, err
	}
	of, refuses := prepare(t)
	if refuses != "" {
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "%s of %s is not run; %s", c.node.Op, t.DType(), refuses)
	}
	axes, keep, done, err := c.reduction(t.Rank())
	if err != nil || done {
		return t, err
	}
	if t.Len() == 0 {
		return garner.Tensor{}, mismatch("%s of %s is not run: ONNX Runtime gives results of no elements other shapes", c.node.Op, t.Shape())
	}
	if castable(garner.F64, t.DType()) != nil { // as the results are cast
		return garner.Tensor{}, c.unsupportedType(t.DType())
	}
	c.mayRefuse()
	rows, n, each, shape, err := c.reduced(t, axes, keep)
	if err != nil {
		return garner.Tensor{}, err
	}
	made, err := c.new(garner.F64, garner.Shape{n})
	if err != nil {
		return garner.Tensor{}, err
	}
	scratch, err := c.new(garner.F64, garner.Shape{each})
	if err != nil {
		return garner.Tensor{}, err
	}
	if !c.bare {
		out, err := garner.Values[float64](made)
		if err != nil {
			return garner.Tensor{}, err
		}
		row, err := garner.Values[float64](scratch)
		if err != nil {
			return garner.Tensor{}, err
		}
		err = eachRowOf(rows, func(i int, part garner.Tensor) error {
			if err := c.numbers(part, row); err != nil {
				return err
			}
			v, why := of(row)
			if why != "" {
				return garner.Errorf(garner.ErrDType, "%s of %s is not run for result %d: %s", c.node.Op, t.DType(), i, why)
			}
			out[i] = v
			return nil
		})
		if err != nil {
			return garner.Tensor{}, err
		}
	}
	if made, err = made.Reshape(shape...); err != nil {
		return garner.Tensor{}, err
	}
	return c.cast(made, t.DType())
}

// eachRowOf calls f for each row of a matrix, a tensor of rank 1.
func eachRowOf(rows garner.Tensor, f func(i int, row garner.Tensor) error) error {
	for i := range rows.Shape()[0] {
		row, err := rows.Slice(0, i, i+1, 1)
		if err == nil {
			row, err = row.Reshape(rows.Shape()[1])
		}
		if err == nil {
			err = f(i, row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// numbers reads integers and floats as float64. Integers of more than 53 bits are ±2^63 or
// more, so that whoever limits them sees them.
func (r *runner) numbers(t garner.Tensor, to []float64) error {
	if t.DType().IsFloat() {
		return readFloats(t, to)
	}
	for i := range to {
		v, err := t.Int(i)
		if err != nil {
			return err
		}
		if v.Unsigned {
			to[i] = float64(v.Bits)
		} else {
			to[i] = float64(int64(v.Bits))
		}
	}
	return nil
}
