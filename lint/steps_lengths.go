package lint

import (
	"math"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// lengthSteps are the operators that give lengths, and positions within them.
var lengthSteps = map[string]step{
	"Shape": ofNone(shapeOf), "ShapeOf": ofNone(shapeOf), "Size": ofNone(sizeOf),
	"ArgMax": ofNone(argument), "ArgMin": ofNone(argument), "TopK": of(topK, 0),
	"NonZero": of(nonZero, 0), "NonMaxSuppression": ofNone(boxes), "Bucketize": ofNone(bucketized),
	"Range": ofAll(counting), "ConstantOfShape": ofNone(constantOfShape),
}

// shapeOf is the bounds of the dims of a shape.
func shapeOf(c *operation) bounds {
	s := c.spec(0)
	made := bounds{interval: interval{low: end{0, fixed}, high: end{longest, counted}}, dtype: garner.I64, rank: 1}
	if name, ok := c.node.Attributes["output_type"].(string); ok {
		made.dtype, _ = garner.ParseDType(name)
	}
	if s.Rank.Known() && len(s.Dims) > 0 {
		dims := s.Dims
		n := int64(len(dims))
		from, to := c.number("start", 0), c.number("end", n)
		if from < 0 {
			from += n
		}
		if to < 0 {
			to += n
		}
		from, to = min(max(from, 0), n), min(max(to, 0), n)
		if dims = dims[from:max(from, to)]; len(dims) == 0 {
			return bounds{interval: span(0, 0), dtype: made.dtype, rank: 1}
		}
		list := make([]interval, len(dims))
		for i, d := range dims {
			list[i] = lengthOf(d, counted)
		}
		made = made.positions(list)
	}
	return made.each(made.dtype, func(i interval) interval { return cast(made.dtype, i) })
}

func sizeOf(c *operation) bounds {
	n := lengthOf(c.count(nil, false), counted)
	return bounds{interval: n, last: []interval{n}, dtype: garner.I64, rank: 0, one: true}
}

// argument is the bounds of positions along an axis.
func argument(c *operation) bounds {
	return bounds{interval: upTo(c.dim(0, c.number("axis", 0)), -1, position), dtype: garner.I64, rank: -1}
}

// topK has values, and their positions.
func topK(c *operation) bounds {
	if c.output == 0 {
		return elementsOf(c)
	}
	made := c.ranged(upTo(c.dim(0, c.number("axis", -1)), -1, position))
	if c.wordsOf(ONNXRuntime) {
		made.dtype = garner.I64
	}
	return made
}

// nonZero is the bounds of positions; transposed knows more of them. Where no element
// is 0, the positions are counted up to the length.
func nonZero(c *operation) bounds {
	why := position
	if b, ok := c.input(0); ok && (b.low.at > 0 || b.high.at < 0) {
		why = counted
	}
	s := c.spec(0)
	made := bounds{interval: interval{low: end{0, fixed}, high: end{longest, why}}, dtype: c.result.Spec.DType, rank: 2}
	if s.Rank.Known() {
		made.high = end{0, fixed}
		for _, d := range s.Dims {
			made.interval = union(made.interval, upTo(d, -1, why))
		}
	}
	if c.wordsOf(ONNXRuntime) {
		made.dtype = garner.I64
	}
	return made
}

// boxes is NonMaxSuppression: its first result has batch, class and box; OpenVINO
// fills the rest of it with -1.
func boxes(c *operation) bounds {
	if c.output != 0 {
		return anything(c.result)
	}
	made := c.ranged(span(0, 0))
	for i, d := range []garner.Dim{c.dim(0, 0), c.dim(1, 1), c.dim(0, 1)} {
		one := upTo(d, -1, position)
		if c.wordsOf(OpenVINO) {
			one.low.at = -1
		}
		if made.last = append(made.last, one); i == 0 {
			made.interval = one
		} else {
			made.interval = union(made.interval, one)
		}
	}
	return made
}

func bucketized(c *operation) bounds {
	return c.ranged(upTo(c.dim(1, 0), 0, position))
}

// counting is Range.
func counting(c *operation) bounds {
	var in [3]bounds
	for i := range in {
		var ok bool
		if in[i], ok = c.input(i); !ok {
			return anything(c.result)
		}
	}
	d := typeOf(in[:]...)
	start, stop, by := in[0].interval, in[1].interval, in[2].interval
	under := 1.0 // the last integer is one below stop, or further
	if !d.IsInteger() {
		under = 0
	}
	made := bounds{dtype: d, rank: 1, from: source(in[:]...)}
	up := interval{start.low, end{max(stop.high.at-under, start.low.at), stop.high.why}, false}
	down := interval{end{min(stop.low.at+under, start.high.at), stop.low.why}, start.high, false}
	settled := d.IsInteger()
	for _, i := range [...]interval{start, stop, by} {
		settled = settled && i.exact && i.point() && math.Abs(i.low.at) < math.MaxInt32
	}
	switch {
	case by.low.at > 0:
		made.interval = up
		if n := math.Ceil((stop.low.at - start.low.at) / by.low.at); settled && n > 0 {
			made.high, made.exact = end{start.low.at + (n-1)*by.low.at, fixed}, true
		}
	case by.high.at < 0:
		made.interval = down
		if n := math.Ceil((stop.low.at - start.low.at) / by.low.at); settled && n > 0 {
			made.low, made.exact = end{start.low.at + (n-1)*by.low.at, fixed}, true
		}
	default:
		made.interval = union(up, down)
	}
	made.interval = fit(d, made.interval)
	if to, ok := c.node.Attributes["output_type"].(string); ok {
		if made.dtype, _ = garner.ParseDType(to); !made.dtype.Valid() {
			return anything(c.result)
		}
		made.interval = cast(made.dtype, made.interval)
	}
	return made.settled()
}

func constantOfShape(c *operation) bounds {
	value, ok := c.node.Attributes["value"].(*model.Constant)
	if !ok {
		return bounds{interval: number(0), dtype: garner.F32, rank: -1}
	}
	b, err := c.constantBounds(&model.Value{Spec: value.Spec, Constant: value})
	if err != nil {
		c.err = err
	}
	b.last, b.rank, b.exact = nil, -1, false
	return b
}
