package convert

import (
	"math"

	"github.com/garner-go/garner"
)

// topK makes a TopK whose equal elements are in the order of their positions, as ONNX Runtime,
// TensorFlow and LiteRT have them, and OpenVINO where it is told to be stable. It gives
// the elements and their positions, of i64.
func (p *program) topK(x, k *value, axis int, least bool) (elements, positions *value) {
	if x.spec.DType.IsFloat() && p.options.runtime != p.target.runtime {
		p.lossy("runtimes put a NaN in TopK in places of their own; what has no NaN is equal")
	}
	list, ok := k.integers()
	switch {
	case !ok && p.target == irTarget || ok && len(list) != 1:
		p.fail(ErrUnsupported, "its k is computed by the model, or is not one number; a conversion needs a constant")
	case ok && (list[0] < 0 || list[0] == 0 && p.target == irTarget):
		p.fail(garner.ErrAttribute, "its k is %d; it must be positive in %s", list[0], p.target.runtime)
	}
	if d, known := x.dim(axis); known && ok && p.err == nil && list[0] > int64(d) {
		p.fail(garner.ErrShape, "its k is %d, and axis %d has %d elements", list[0], axis, d)
	}
	switch { // OpenVINO has k without dims, and ONNX as a vector of one
	case p.target == onnxTarget && !ok:
		k = p.reshape(p.cast(k, garner.I64), p.of(1), false)
	case p.err != nil:
	case p.target == onnxTarget:
		k = p.of(list[0])
	default:
		k = p.number(garner.I64, list[0])
	}
	n := &node{op: opTopK, in: []*value{x, k}, axis: axis, flag: least}
	elements = p.add(n, x.spec.DType)
	n.also = &value{from: n, spec: elements.spec}
	n.also.spec.DType = garner.I64
	return elements, n.also
}

// unordered refuses a TopK of several elements in an order that is the runtime's own.
func (c *call) unordered(k *value) {
	if list, ok := k.integers(); !ok || len(list) != 1 || list[0] > 1 {
		c.fail(ErrUnsupported, "it is not sorted, and each runtime gives an order of its own; have it sorted")
	}
}

func onnxTopK(c *call) {
	x := c.in(0)
	var k *value
	if c.before(10) {
		k = c.of(c.attribute("k", 0))
	} else {
		k = c.in(1)
	}
	if c.attribute("sorted", 1) == 0 {
		c.unordered(k)
	}
	c.set(c.topK(x, k, c.axisOf(c.attribute("axis", -1), c.needRank(x)), c.attribute("largest", 1) == 0))
}

func irTopK(c *call) {
	x, k := c.in(0), c.in(1)
	switch sort := c.node.Attributes["sort"]; sort {
	case "value":
	case "none":
		c.unordered(k)
	default:
		c.fail(ErrUnsupported, "a TopK with sort=%v is not converted; one with sort=value is", sort)
	}
	if mode := c.node.Attributes["mode"]; mode != "max" && mode != "min" {
		c.fail(garner.ErrAttribute, "its mode is %v; it must be max or min", mode)
	}
	if c.attribute("stable", 0) == 0 {
		c.lossy("OpenVINO gives equal elements in an order of its own where TopK is not stable")
	}
	to := garner.I32
	if name, ok := c.node.Attributes["index_element_type"].(string); ok {
		var err error
		if to, err = garner.ParseDType(name); err != nil || to != garner.I32 && to != garner.I64 {
			c.fail(garner.ErrAttribute, "its index_element_type is %.40q; it must be i32 or i64", name)
		}
	}
	elements, positions := c.topK(x, k, c.axisOf(c.attribute("axis", math.MaxInt32), c.needRank(x)), c.node.Attributes["mode"] == "min")
	c.set(elements, c.cast(positions, to))
}

// lastTopK is that of TensorFlow and LiteRT: the greatest along the last axis, with positions of i32.
func lastTopK(c *call) {
	x, k := c.in(0), c.in(1)
	if c.attribute("sorted", 1) == 0 {
		c.unordered(k)
	}
	to := garner.I32
	if len(c.node.Outputs) > 1 && c.node.Outputs[1] != nil && c.node.Outputs[1].Spec.DType == garner.I64 {
		to = garner.I64
	}
	elements, positions := c.topK(x, k, c.axisOf(-1, c.needRank(x)), false)
	c.set(elements, c.cast(positions, to))
}
