package lint

import (
	"math"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/departures"
)

// arithmeticSteps are the operators that compute.
var arithmeticSteps = map[string]step{
	"Add": ofAll(leftToRight(sum)), "Sum": ofAll(leftToRight(sum)),
	"Sub": ofAll(leftToRight(difference)), "Subtract": ofAll(leftToRight(difference)),
	"Mul": ofAll(leftToRight(product)), "Multiply": ofAll(leftToRight(product)),
	"Div": ofAll(leftToRight(truncatedQuotient)), "Divide": ofAll(divided),
	"Mod": ofAll(modulo), "FloorMod": ofAll(leftToRight(remainder)),
	"Min": ofAll(leftToRight(ofAnyType(least))), "Minimum": ofAll(leftToRight(ofAnyType(least))),
	"Max": ofAll(leftToRight(ofAnyType(most))), "Maximum": ofAll(leftToRight(ofAnyType(most))),
	"Clip": ofAll(clipped), "Clamp": ofAll(clipped),
	"BitwiseAnd": ofAll(leftToRight(bitwise(true))),
	"BitwiseOr":  ofAll(leftToRight(bitwise(false))), "BitwiseXor": ofAll(leftToRight(bitwise(false))),

	"Neg": of(unary(negative), 0), "Negative": of(unary(negative), 0),
	"Abs":  of(unary(absolute), 0),
	"Relu": of(unary(rectified), 0), "ReLU": of(unary(rectified), 0), // of OpenVINO
	"Floor": of(unary(rounded(math.Floor)), 0),
	"Ceil":  of(unary(rounded(math.Ceil)), 0), "Ceiling": of(unary(rounded(math.Ceil)), 0),
	"Round": of(toNearest, 0),

	"Sign": within(-1, 1), "Tanh": within(-1, 1), "Sin": within(-1, 1), "Cos": within(-1, 1), "Erf": within(-1, 1),
	"Sigmoid": within(0, 1), "HardSigmoid": within(0, 1), "Softmax": within(0, 1), "SoftMax": within(0, 1), "Hardmax": within(0, 1),

	"ReduceSum": of(summed, 0), "ReduceMean": of(mean, 0), "ReduceProd": of(multiplied, 0),
	"CumSum": of(cumulated, 0),
}

// within is a step of results in an interval.
func within(low, high float64) step {
	return ofNone(func(c *operation) bounds { return c.ranged(span(low, high)) })
}

// unary makes the bounds of a function of one operand.
func unary(f func(d garner.DType, x interval) interval) func(c *operation) bounds {
	return func(c *operation) bounds {
		b, _ := c.input(0)
		return b.each(b.dtype, func(i interval) interval { return f(b.dtype, i) })
	}
}

// leftToRight makes the bounds of a function of all operands, from left to right.
func leftToRight(f func(d garner.DType, x, y interval) interval) func(c *operation) bounds {
	return func(c *operation) bounds {
		made, ok := c.input(0)
		for i := 1; ok && i < len(c.node.Inputs); i++ {
			var b bounds
			if b, ok = c.input(i); ok {
				d := typeOf(made, b)
				made = both(d, made, b, func(x, y interval) interval { return f(d, x, y) })
			}
		}
		if !ok {
			return anything(c.result)
		}
		return made
	}
}

func ofAnyType(f func(x, y interval) interval) func(d garner.DType, x, y interval) interval {
	return func(_ garner.DType, x, y interval) interval { return f(x, y) }
}

func negative(d garner.DType, x interval) interval {
	return fit(d, interval{end{-x.high.at, x.high.why}, end{-x.low.at, x.low.why}, x.exact})
}

func rectified(_ garner.DType, x interval) interval { return most(x, number(0)) }

func rounded(f func(float64) float64) func(d garner.DType, x interval) interval {
	return func(_ garner.DType, x interval) interval {
		x.low.at, x.high.at = f(x.low.at), f(x.high.at)
		return x
	}
}

// toNearest is Round: to the even one of two integers that are as near, unless the mode
// of OpenVINO says away from 0.
func toNearest(c *operation) bounds {
	f := math.RoundToEven
	if mode, _ := c.node.Attributes["mode"].(string); strings.EqualFold(mode, "half_away_from_zero") {
		f = math.Round
	}
	return unary(rounded(f))(c)
}

func bitwise(and bool) func(d garner.DType, x, y interval) interval {
	return func(d garner.DType, x, y interval) interval { return bits(d, x, y, and) }
}

func truncatedQuotient(d garner.DType, x, y interval) interval { return quotient(d, x, y, math.Trunc) }

// divided is OpenVINO's Divide, which rounds as departures.Quotients says.
func divided(c *operation) bounds {
	return leftToRight(func(d garner.DType, x, y interval) interval {
		roundings := departures.Quotients(d)
		i := quotient(d, x, y, roundings[0])
		for _, f := range roundings[1:] {
			i = union(i, quotient(d, x, y, f))
		}
		i.exact = i.exact && i.point()
		return i
	})(c)
}

// modulo is Mod: of ONNX with the sign of the divisor unless fmod is set, of
// OpenVINO with that of the dividend.
func modulo(c *operation) bounds {
	if !c.wordsOf(ONNXRuntime) || c.number("fmod", 0) != 0 {
		return leftToRight(truncatedRemainder)(c)
	}
	return leftToRight(remainder)(c)
}

// clipped is Clip with its bounds as inputs or attributes, and Clamp.
func clipped(c *operation) bounds {
	made, _ := c.input(0)
	for i, f := range []func(x, y interval) interval{most, least} {
		name := []string{"min", "max"}[i]
		by, ok := c.input(1 + i)
		if !ok {
			var v float64
			switch a := c.node.Attributes[name].(type) {
			case float64:
				v = a
			case int64:
				v = float64(a)
			case string: // of OpenVINO, which rounds towards the inside
				n, err := strconv.ParseFloat(strings.TrimSpace(a), 64)
				if v = n; err != nil {
					continue
				}
			default:
				continue
			}
			if made.dtype.IsInteger() {
				v = []func(float64) float64{math.Ceil, math.Floor}[i](v)
			}
			by = bounds{interval: number(v), last: []interval{number(v)}, dtype: made.dtype}
		}
		if len(by.last) > 1 {
			by = by.flat()
		}
		made = both(typeOf(made, by), made, by, f)
	}
	return made
}

// summed is ReduceSum.
func summed(c *operation) bounds {
	b, _ := c.input(0)
	n := c.count(c.list("axes", 1))
	made := b.flat().each(b.dtype, func(i interval) interval { return total(b.dtype, i, n) })
	made.last = nil
	return made
}

func mean(c *operation) bounds {
	b := elementsOf(c)
	return b.each(b.dtype, func(i interval) interval { return fit(b.dtype, i) })
}

func cumulated(c *operation) bounds {
	b, _ := c.input(0)
	n := garner.AnyDim
	if axis, ok := c.list("axis", 1); ok && len(axis) == 1 {
		n = c.dim(0, axis[0])
	}
	made := b.flat().each(b.dtype, func(i interval) interval { return total(b.dtype, i, n) })
	made.last = nil
	return made
}

// multiplied is ReduceProd. It multiplies the positions of a vector, such as a shape.
func multiplied(c *operation) bounds {
	b, _ := c.input(0)
	if b.rank == 1 && len(b.last) > 0 && c.number("noop_with_empty_axes", 0) == 0 {
		made := number(1)
		for _, i := range b.last {
			made = product(b.dtype, made, i)
		}
		made.exact = made.exact && made.point()
		return bounds{interval: made, last: []interval{made}, dtype: b.dtype, rank: -1, one: true, from: b.from}.settled()
	}
	if 0 <= b.low.at && b.high.at <= 1 { // as of conditions; of no element it is 1
		return bounds{interval: span(0, 1), dtype: b.dtype, rank: -1}
	}
	made := bounds{interval: whole(b.dtype, max(b.why(), counted)), dtype: b.dtype, rank: -1, from: b.from}
	return made.settled()
}
