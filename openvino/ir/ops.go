package ir

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner/operators"
)

// newestOpset is the newest opset that the reader knows.
const newestOpset = 16

// dialect begins the names that package operators has for OpenVINO's gathers.
const dialect = "openvino."

// kinds has OpenVINO's spelling of the layer types that the reader treats
// specially, by their names in lower case: the case of a type does not matter.
var kinds = func() map[string]string {
	m := make(map[string]string)
	for _, kind := range []string{"Parameter", "Const", "Result", "Assign", "TensorIterator", "Loop", "If"} {
		m[strings.ToLower(kind)] = kind
	}
	for _, o := range operators.All() {
		if name, ok := strings.CutPrefix(o.Name, dialect); ok && o.Version() > 0 {
			kind, _, _ := strings.Cut(name, "-")
			m[strings.ToLower(kind)] = kind
		}
	}
	m["constant"] = "Const"
	return m
}()

// kindOf gives a layer's type in OpenVINO's spelling.
func kindOf(l *layer) string {
	if kind, ok := kinds[strings.ToLower(l.kind)]; ok {
		return kind
	}
	return l.kind
}

// opset gives the number in a version such as "opset8"; false for other text.
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
	versions := operators.Versions(dialect + kinds[strings.ToLower(kind)])
	if len(versions) == 0 {
		return `; write one, such as version="opset1"`
	}
	first := versions[0]
	text := fmt.Sprintf(`; write version="opset%d" if %s is meant`, first.Version(), first.Name)
	for _, o := range versions[1:] {
		text += fmt.Sprintf(`, "opset%d" if %s`, o.Version(), o.Name)
	}
	return text
}

// operator finds the operator of a layer that is a gather, which is nil for any
// other layer, and the layer's opset. A layer without a version, which only a
// lenient reader accepts, means the first opset that has it.
func (p *parser) operator(l *layer) (*operators.Operator, int, error) {
	kind := kindOf(l)
	versions := operators.Versions(dialect + kind)
	if len(versions) == 0 || versions[0].Version() == 0 { // or it is the pattern of several layers: see operators.CallOf
		return nil, l.opset, nil
	}
	first, n := versions[0].Version(), l.opset
	if l.version == "" {
		if !p.lenient {
			return nil, 0, p.errorf(l.place, l, nil, `it has version=""%s%s`, oneVersion(kind), p.orLenient())
		}
		n = first
	}
	if n < first || n > newestOpset {
		return nil, 0, p.errorf(l.place, l, nil, "it has version=%q; %s is in opset%d to opset%d%s", clip(l.version), kind, first, newestOpset, oneVersion(kind))
	}
	for i := len(versions) - 1; ; i-- {
		if versions[i].Version() <= n {
			return &versions[i], n, nil
		}
	}
}

// The attributes of operators around a gather that are parsed, by their type; all
// others stay text.
var (
	integers = []string{"axis", "batch_dims", "batch_axis", "num_splits"}
	bools    = []string{"special_zero", "m_pythondiv", "keep_dims", "transpose_a", "transpose_b", "allow_axis_skip", "exclusive", "reverse", "stable"}
	lists    = []string{"begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask"}
)

// attributes reads the attributes of a layer. Those of a gather are numbers and words;
// a gather's unknown attributes are ignored, as OpenVINO does.
func (p *parser) attributes(l *layer, operator *operators.Operator) (map[string]any, error) {
	if l.data == nil {
		return nil, nil
	}
	attributes := make(map[string]any)
	if operator != nil {
		for _, name := range operator.Attributes() {
			text, ok := l.data.get(name)
			if !ok {
				continue
			}
			if len(operator.Values(name)) > 0 {
				attributes[name] = strings.ToLower(text) // OpenVINO ignores the case of words
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

// attribute parses an attribute of an operator that is no gather.
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
