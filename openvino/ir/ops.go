package ir

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/openvino"
)

// newestOpset is the newest in which every operator of the ones before it is.
const newestOpset = 16

// kinds are the types that the reader knows by name, in OpenVINO's spelling. In
// a file upper and lower case are one.
var kinds = func() map[string]string {
	m := make(map[string]string)
	for _, kind := range []string{"Parameter", "Const", "Result", "Assign", "Gather", "GatherND", "GatherElements", "TensorIterator", "Loop", "If"} {
		m[strings.ToLower(kind)] = kind
	}
	m["constant"] = "Const"
	return m
}()

// kindOf is a layer's type in OpenVINO's spelling.
func kindOf(l *layer) string {
	if kind, ok := kinds[strings.ToLower(l.kind)]; ok {
		return kind
	}
	return l.kind
}

// A gather is an operator of the catalog, from an opset on.
type gather struct {
	name  string // in the catalog
	since int
}

// gathers are OpenVINO's, the newest of a type last.
var gathers = map[string][]gather{
	"Gather":         {{"openvino.Gather-1", 1}, {"openvino.Gather-7", 7}, {"openvino.Gather-8", 8}},
	"GatherND":       {{"openvino.GatherND-5", 5}, {"openvino.GatherND-8", 8}},
	"GatherElements": {{"openvino.GatherElements-6", 6}},
}

// opset is the number of a version "opset8"; 0 and false where it is another.
func opset(version string) (int, bool) {
	text, ok := strings.CutPrefix(version, "opset")
	n, err := strconv.Atoi(text)
	if !ok || err != nil || n < 1 || strconv.Itoa(n) != text {
		return 0, false
	}
	return n, true
}

// oneVersion is the remedy for a layer without a version.
func oneVersion(kind string) string {
	versions, ok := gathers[kinds[strings.ToLower(kind)]]
	if !ok {
		return `; write one, such as version="opset1"`
	}
	first := versions[0]
	text := fmt.Sprintf(`; write version="opset%d" if %s is meant`, first.since, first.name)
	for _, g := range versions[1:] {
		text += fmt.Sprintf(`, "opset%d" if %s`, g.since, g.name)
	}
	return text
}

// operator is the name in the catalog of a layer that is a gather, and its
// opset; "" for any other layer. A layer without a version, which only a lenient
// reader gets to see, means the first opset that has it.
func (p *parser) operator(l *layer) (string, int, error) {
	kind := kindOf(l)
	versions, ok := gathers[kind]
	if !ok {
		return "", l.opset, nil
	}
	n := l.opset
	if l.version == "" {
		if !p.lenient {
			return "", 0, p.errorf(l.place, l, nil, `it has version=""%s%s`, oneVersion(kind), p.orLenient())
		}
		n = versions[0].since
	}
	if n < versions[0].since || n > newestOpset {
		return "", 0, p.errorf(l.place, l, nil, "it has version=%q; %s is in opset%d to opset%d%s", clip(l.version), kind, versions[0].since, newestOpset, oneVersion(kind))
	}
	name := ""
	for _, g := range versions {
		if n >= g.since {
			name = g.name
		}
	}
	return name, n, nil
}

// How the attributes of the operators around a gather are read; all others are
// kept as text.
var (
	integers = []string{"axis", "batch_dims", "batch_axis", "num_splits"}
	bools    = []string{"special_zero", "m_pythondiv", "keep_dims", "transpose_a", "transpose_b", "allow_axis_skip"}
	lists    = []string{"begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask"}
)

// attributes are those of a layer. A gather has only its operator's own, each a
// number; what is not known is passed over, as OpenVINO does.
func (p *parser) attributes(l *layer, operator string) (map[string]any, error) {
	if l.data == nil {
		return nil, nil
	}
	attributes := make(map[string]any)
	if operator != "" {
		for _, name := range gatherAttributes[operator] {
			text, ok := l.data.get(name)
			if !ok {
				continue
			}
			n, ok := number(text, p.lenient)
			if !ok {
				hint := ""
				if _, mended := number(text, true); mended {
					hint = p.orLenient()
				}
				return nil, p.errorf(l.data.place, l, nil, `it has %s=%q, which is no number; write one, such as %s="0"%s`, name, clip(text), name, hint)
			}
			attributes[name] = n
		}
		return attributes, nil
	}
	for _, a := range l.data.attrs {
		name := a.Name.Local
		if _, twice := attributes[name]; twice || a.Name.Space != "" {
			continue
		}
		attributes[name] = attribute(name, a.Value)
	}
	return attributes, nil
}

// attribute is the value of an attribute of an operator that is no gather.
func attribute(name, text string) any {
	switch {
	case slices.Contains(integers, name):
		if n, ok := number(text, false); ok {
			return n
		}
	case slices.Contains(bools, name):
		switch strings.ToLower(text) {
		case "true", "1":
			return true
		case "false", "0":
			return false
		}
	case slices.Contains(lists, name):
		list := []int64{}
		for part := range strings.SplitSeq(text, ",") {
			n, ok := number(part, false)
			if !ok && strings.Trim(text, spaces) != "" {
				return text
			}
			if ok {
				list = append(list, n)
			}
		}
		return list
	}
	return text
}

// gatherAttributes are the attributes of the catalog's operators.
var gatherAttributes = map[string][]string{
	"openvino.Gather-7":         {"batch_dims"},
	"openvino.Gather-8":         {"batch_dims"},
	"openvino.GatherND-5":       {"batch_dims"},
	"openvino.GatherND-8":       {"batch_dims"},
	"openvino.GatherElements-6": {"axis"},
}

// gatherOp is the operator itself, of what attributes has read and of the value
// of the axis, where that is an input.
func gatherOp(operator string, attributes map[string]any, axis int) garner.Op {
	number := func(name string) int {
		n, _ := attributes[name].(int64)
		return int(min(max(n, math.MinInt+1), math.MaxInt)) // the least int means that it is not known
	}
	switch operator {
	case "openvino.Gather-1":
		return openvino.Gather1{Axis: axis}
	case "openvino.Gather-7":
		return openvino.Gather7{Axis: axis, BatchDims: number("batch_dims")}
	case "openvino.Gather-8":
		return openvino.Gather8{Axis: axis, BatchDims: number("batch_dims")}
	case "openvino.GatherND-5":
		return openvino.GatherND5{BatchDims: number("batch_dims")}
	case "openvino.GatherND-8":
		return openvino.GatherND8{BatchDims: number("batch_dims")}
	}
	return openvino.GatherElements6{Axis: number("axis")}
}

// inputsOf is how many inputs a gather has.
func inputsOf(kind string) int {
	if kind == "Gather" {
		return 3 // data, indices and the axis
	}
	return 2
}
