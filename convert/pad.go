package convert

import (
	"math"
	"slices"
	"strings"

	"github.com/garner-go/garner"
)

// onnxPad is Pad of ONNX, whose pads are those before all axes and then those behind, or of the
// axes that an input names.
func onnxPad(c *call) {
	x, pads := c.in(0), c.vector("pads", 1)
	rank := c.needRank(x)
	if pads == nil {
		c.fail(garner.ErrAttribute, "it has no pads")
	}
	if c.err != nil {
		return
	}
	if n, ok := pads.dim(0); ok && !c.has(3) && n != 2*rank {
		c.fail(garner.ErrShape, "it has %d pads; there must be two for each of %d dims", n, rank)
		return
	}
	begin, end := make([]int64, rank), make([]int64, rank) // where in pads they stand
	for i := range begin {
		begin[i], end[i] = int64(i), int64(rank+i)
	}
	if c.has(3) {
		axes, _ := c.list("axes", 3)
		c.distinct(axes, rank)
		if n, ok := pads.dim(0); !ok || n != 2*len(axes) {
			c.fail(garner.ErrShape, "it has not two pads for each of its %d axes", len(axes))
		}
		if c.err != nil {
			return
		}
		none := int64(2 * len(axes)) // where a 0 is put
		begin, end = slices.Repeat([]int64{none}, rank), slices.Repeat([]int64{none}, rank)
		for i, a := range axes {
			at := c.axisOf(a, rank)
			begin[at], end[at] = int64(i), int64(len(axes)+i)
		}
	}
	value := c.zero(x.spec.DType)
	if v, ok := c.node.Attributes["value"].(float64); ok && v != 0 { // before opset 11
		c.fail(ErrUnsupported, "Pad of opset %d with the value %v is not converted; convert the model to opset 11 first", c.node.Version, v)
		return
	}
	if c.has(2) {
		value = c.in(2)
	}
	mode, _ := c.node.Attributes["mode"].(string)
	c.set(c.pad(x, c.picked(pads, begin), c.picked(pads, end), value, mode))
}

// picked gives elements of a vector with a 0 behind it.
func (c *call) picked(v *value, at []int64) *value {
	list, ok := v.integers()
	if !ok {
		return c.bare(opGather, c.concat(0, c.cast(v, garner.I64), c.of(0)), c.of(at...), 0, 0)
	}
	list = append(slices.Clone(list), 0)
	made := make([]int64, len(at))
	for i, a := range at {
		made[i] = list[a]
	}
	return c.of(made...)
}

// irPad is Pad of OpenVINO.
func irPad(c *call) {
	x := c.in(0)
	value := c.zero(x.spec.DType)
	if c.has(3) {
		value = c.in(3)
	}
	mode, _ := c.node.Attributes["pad_mode"].(string)
	c.set(c.pad(x, c.cast(c.in(1), garner.I64), c.cast(c.in(2), garner.I64), value, mode))
}

// padRows is Pad, PadV2 and MirrorPad of TensorFlow, and those of LiteRT: paddings has a row of
// two for each axis.
func padRows(mode func(c *call) string) func(c *call) {
	return func(c *call) {
		x, paddings := c.in(0), c.in(1)
		rank := c.needRank(x)
		if c.err != nil {
			return
		}
		var list []int64
		ok := paddings.small && paddings.tensor.Rank() == 2
		if ok {
			flat, err := paddings.tensor.Reshape(paddings.tensor.Len())
			if err != nil {
				c.fail(garner.ErrAttribute, "%v", err)
				return
			}
			list, ok = (&value{spec: garner.SpecOf(flat.DType(), flat.Len()), tensor: flat, small: true}).integers()
		}
		if !ok {
			c.fail(ErrUnsupported, "its paddings are computed by the model; a conversion needs constant ones, because %s refuses a negative one and the target takes elements away", c.options.runtime)
			return
		}
		if len(list) != 2*rank || slices.ContainsFunc(list, func(n int64) bool { return n < 0 }) {
			c.fail(garner.ErrShape, "its paddings are %v; they must be two of 0 and more for each of %d dims", list, rank)
			return
		}
		var begin, end []int64
		for i := 0; i < len(list); i += 2 {
			begin, end = append(begin, list[i]), append(end, list[i+1])
		}
		value := c.zero(x.spec.DType)
		if c.has(2) {
			value = c.in(2)
		}
		c.set(c.pad(x, c.of(begin...), c.of(end...), value, mode(c)))
	}
}

func constantMode(*call) string { return "constant" }

func tensorflowMode(c *call) string {
	mode, _ := c.node.Attributes["mode"].(string)
	return mode
}

func liteMode(c *call) string {
	switch mode := c.attribute("mode", 0); mode {
	case 0:
		return "reflect"
	case 1:
		return "symmetric"
	default:
		c.fail(garner.ErrAttribute, "its mode is %d; there are 0 (REFLECT) and 1 (SYMMETRIC)", mode)
		return ""
	}
}

// litePad refuses codes: LiteRT pads with the zero point.
func litePad(c *call) {
	if len(c.node.Outputs) > 0 && c.node.Outputs[0] != nil && c.node.Outputs[0].Quantised != nil {
		c.fail(ErrUnsupported, "PAD of a quantised value (%s) is not converted", c.node.Outputs[0].Quantised)
		return
	}
	padRows(constantMode)(c)
}

// pad puts elements before and behind each axis, as many as begin and end say: the value, the edge,
// or elements mirrored without it (reflect) or with it (symmetric). A negative number takes
// elements away.
func (p *program) pad(x, begin, end, with *value, mode string) *value {
	dtype := x.spec.DType
	switch mode = strings.ToLower(mode); mode {
	case "", "constant":
		mode = "constant"
		if with.spec.DType != dtype {
			p.fail(garner.ErrDType, "it pads %s with %s", x.spec, with.spec)
		}
		p.padsAlike(with)
	case "edge":
	case "reflect":
		p.reflects(x, begin, end)
	case "symmetric":
		if p.target == onnxTarget {
			return p.symmetric(x, begin, end)
		}
	default:
		p.fail(ErrUnsupported, "its mode is %.40q; constant, edge, reflect and symmetric are converted", mode)
		return x
	}
	if rank, ok := with.rank(); ok && rank == 1 {
		with = p.reshape(with, p.of(), false)
	}
	if wide, ok := wider[dtype]; ok && !p.target.takes(opPad, dtype) {
		return p.cast(p.pad(p.cast(x, wide), begin, end, p.cast(with, wide), mode), dtype)
	}
	n := &node{op: opPad, in: []*value{x, begin, end}, mode: mode}
	before, ok := begin.integers()
	behind, also := end.integers()
	if ok && also {
		n.list = slices.Concat(before, behind)
	}
	if p.target == onnxTarget { // whose pads are one vector
		pads := p.of(n.list...)
		if !ok || !also {
			pads = p.concat(0, begin, end)
		}
		n.in = []*value{x, pads}
	}
	if mode == "constant" {
		n.in = append(n.in, with)
	}
	return p.add(n, dtype)
}

// reflects refuses a reflection that runtimes may not refuse alike: of an axis that elements are taken
// from, which ONNX Runtime asks for two that are left; and for OpenVINO of an axis whose length is not
// known, because there a run that is refused spoils the next.
func (p *program) reflects(x, begin, end *value) {
	before, ok := begin.integers()
	behind, also := end.integers()
	rank := p.needRank(x)
	if !ok || !also || len(before) != rank || len(behind) != rank {
		p.fail(ErrUnsupported, "its pads are computed by the model; a conversion of the mode reflect needs constant ones, two for each dim")
		return
	}
	for i := range rank {
		d, known := x.dim(i)
		switch most := max(before[i], behind[i]); {
		case before[i] < 0 || behind[i] < 0:
			p.fail(garner.ErrShape, "it takes elements of axis %d away, and reflects; that is not converted", i)
		case most > 0 && (known && most >= int64(d) || !known && p.crosses(openVINO)):
			p.fail(garner.ErrShape, "axis %d of %s is not known to have the %d elements that it reflects; declare it", i, x.spec, most+1)
		}
	}
}

// padsAlike is for a value with which OpenVINO pads: it goes through f32, without the sign of a 0.
func (p *program) padsAlike(with *value) {
	if !p.crosses(openVINO) && !p.keeps() {
		return
	}
	if with.varies() {
		p.fail(ErrUnsupported, "its value is computed or given by a caller, and OpenVINO pads with 0, or with the value of its first run; make it a constant")
		return
	}
	dtype := with.spec.DType
	alike := dtype == garner.Bool || dtype.IsInteger() && dtype.Bits() <= 16
	switch {
	case alike:
	case with.plusZero():
		alike = true
	case with.small && with.tensor.Len() == 1 && (dtype.IsInteger() || dtype.IsFloat()):
		n, err := with.tensor.Float64(0)
		alike = err == nil && n == float64(float32(n)) && (dtype.IsFloat() || math.Abs(n) <= 1<<24) && (n != 0 || !math.Signbit(n))
	}
	if !alike && p.crosses(openVINO) {
		p.lossy("OpenVINO pads with a value as f32, and without the sign of a zero")
	}
}

// symmetric mirrors elements with the edge, which ONNX has no mode for.
func (p *program) symmetric(x, begin, end *value) *value {
	before, ok := begin.integers()
	behind, also := end.integers()
	if !ok || !also {
		p.fail(ErrUnsupported, "its pads are computed by the model; a conversion of the mode symmetric to ONNX needs constant ones")
		return x
	}
	for i := range p.needRank(x) {
		if i >= len(before) || i >= len(behind) {
			p.fail(garner.ErrShape, "it has %d and %d pads for %s", len(before), len(behind), x.spec)
			return x
		}
		b, e, axis := before[i], behind[i], p.of(int64(i))
		if b < 0 || e < 0 {
			p.fail(garner.ErrShape, "it takes elements of axis %d away, and mirrors; that is not converted", i)
			return x
		}
		if b == 0 && e == 0 {
			continue
		}
		d, known := x.dim(i)
		if !known || b > int64(d) || e > int64(d) {
			p.fail(garner.ErrShape, "axis %d of %s is not known to have the %d elements that it mirrors; declare it", i, x.spec, max(b, e))
			return x
		}
		parts := []*value{x}
		if b > 0 {
			parts = append([]*value{p.slice(x, p.of(b-1), p.of(math.MinInt32), axis, p.of(-1))}, parts...)
		}
		if e > 0 {
			parts = append(parts, p.slice(x, p.of(-1), p.of(-1-e), axis, p.of(-1)))
		}
		x = p.concat(i, parts...)
	}
	return p.one(opIdentity, x)
}
