package shapes

import (
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/model"
)

// A call is one node with what is known of its inputs, and a place for what follows of its outputs.
type call struct {
	*inference
	node *model.Node
	in   []fact // nothing for an input that the node leaves out
	out  []fact // nothing where no rule says more
}

// has reports whether the node has the i-th input.
func (c *call) has(i int) bool { return i >= 0 && i < len(c.node.Inputs) && c.node.Inputs[i] != nil }

// at gives what is known of the i-th input.
func (c *call) at(i int) fact {
	if !c.has(i) {
		return nothing
	}
	return c.in[i]
}

// dtype gives the dtype of the i-th input.
func (c *call) dtype(i int) garner.DType { return c.at(i).dtype }

// elems gives the elements of the i-th input; nil where they are not followed.
func (c *call) elems(i int) []number { return c.at(i).elems }

// set sets the i-th output, where the node has it.
func (c *call) set(i int, f fact) {
	if i < len(c.out) {
		c.out[i] = f
	}
}

// number gives an attribute that is an integer, in the form of any format.
func (c *call) number(name string, otherwise int64) int64 {
	switch v := c.node.Attributes[name].(type) {
	case int64:
		return v
	case bool:
		if v {
			return 1
		}
		return 0
	case string:
		if n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64); err == nil {
			return n
		}
		switch strings.ToLower(v) {
		case "true":
			return 1
		case "false":
			return 0
		}
	}
	return otherwise
}

// flag gives an attribute that is a bool, in the form of any format.
func (c *call) flag(name string, otherwise bool) bool {
	n := int64(0)
	if otherwise {
		n = 1
	}
	return c.number(name, n) != 0
}

// text gives an attribute that is a word.
func (c *call) text(name, otherwise string) string {
	if s, ok := c.node.Attributes[name].(string); ok {
		return s
	}
	return otherwise
}

// ints gives an attribute that is a list of integers, in the form of any format.
func (c *call) ints(name string) ([]int64, bool) {
	switch v := c.node.Attributes[name].(type) {
	case []int64:
		return v, len(v) <= mostElements
	case string:
		list := []int64{}
		if strings.Count(v, ",") >= mostElements {
			return nil, false
		}
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			n, err := strconv.ParseInt(part, 10, 64)
			if err != nil {
				return nil, false
			}
			list = append(list, n)
		}
		return list, true
	}
	return nil, false
}

// given reports whether the node has an attribute.
func (c *call) given(name string) bool { return c.node.Attributes[name] != nil }

// list gives integers that are an attribute in some versions of an operator and an input in
// others, as far as they are known; nil where they are not, even their count.
func (c *call) list(name string, i int) []number {
	if list, ok := c.ints(name); ok {
		made := make([]number, len(list))
		for i, n := range list {
			made[i] = exactly(n)
		}
		return made
	}
	f := c.at(i)
	switch {
	case f.elems != nil && len(f.dims) <= 1:
		return f.elems
	case f.ranked() && len(f.dims) == 1 && f.dims[0].known() && f.dims[0].low <= mostElements:
		made := make([]number, f.dims[0].low)
		for i := range made {
			made[i] = rangeOf(f.dtype)
		}
		return made
	}
	return nil
}

// constants is list where every number is known.
func (c *call) constants(name string, i int) ([]int64, bool) {
	list := c.list(name, i)
	if list == nil {
		return nil, false
	}
	made := make([]int64, len(list))
	for i, n := range list {
		if !n.known() {
			return nil, false
		}
		made[i] = n.low
	}
	return made, true
}

// one is a number that is an attribute in some versions of an operator, and the one element of
// an input in others.
func (c *call) one(name string, i int, otherwise number) number {
	switch {
	case name != "" && c.given(name):
		if n, ok := c.node.Attributes[name].(int64); ok {
			return exactly(n)
		}
		return whole
	case !c.has(i):
		return otherwise
	case len(c.elems(i)) == 1:
		return c.elems(i)[0]
	}
	return whole
}

// floats reads the elements of a constant input of few f32 or f64; nil where it is another.
func (c *call) floats(i int) []float64 {
	if !c.has(i) {
		return nil
	}
	v := c.node.Inputs[i]
	if v.Fixed() == nil || !v.Constant.Spec.DType.IsFloat() {
		return nil
	}
	if _, ok := declared(v.Constant.Spec).len(); !ok {
		return nil
	}
	var list []float64
	if mapped.Guard(func() error {
		t, err := v.Constant.Tensor()
		if err != nil {
			return err
		}
		list = floatsOf(t)
		return nil
	}) != nil {
		return nil
	}
	return list
}

// floatsOf gives the elements of a tensor of f32 or f64; nil of any other.
func floatsOf(t garner.Tensor) []float64 {
	if t.DType() == garner.F64 {
		list, _ := garner.Values[float64](t)
		return list
	}
	short, _ := garner.Values[float32](t)
	var list []float64
	for _, x := range short {
		list = append(list, float64(x))
	}
	return list
}

// axisOf counts an axis from 0; false where there is none such.
func axisOf(axis int64, rank int) (int, bool) {
	if axis < 0 {
		axis += int64(rank)
	}
	return int(axis), axis >= 0 && axis < int64(rank)
}
