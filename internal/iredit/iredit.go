// Package iredit replaces layers in the text of an OpenVINO IR, an .xml file: it inserts
// layers and edges, and changes where an edge begins or ends. Every other byte of the text
// stays as it is. It knows layers by their places, and no operator.
//
// Spec: https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets.html
package iredit

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A Place is where a layer's tag begins: line and column from 1, in bytes.
type Place struct{ Line, Column int }

// A span is a part of the text, in bytes.
type span struct{ from, to int }

// A File is the text of an IR whose layers and edges were found.
type File struct {
	text []byte
	at   map[Place]*layer
	used map[string]bool // names of layers
}

type net struct {
	layers []*layer
	edges  []*edge
	end    int // where </edges> begins; 0 without one
	last   uint64
}

type layer struct {
	net     *net
	whole   span
	id      uint64
	tag     span
	data    span // the tag of <data>; 0 … 0 without one
	inputs  []uint64
	output  span // <output> with its ports
	port    span // the tag of the first port in it
	outputs []uint64
}

type edge struct {
	tag, whole                  span
	from, fromPort              uint64
	to, toPort                  uint64
	newFrom, newFromPort, newTo uint64
	gone                        bool
}

// errNot is for a text that the model's reader would have refused.
var errNot = errors.New("the text is no IR, or was changed")

// Parse finds the layers and edges of a text that a reader has accepted, and that is XML
// as it stands. It keeps text.
func Parse(text []byte) (*File, error) {
	f := &File{text: text, at: map[Place]*layer{}, used: map[string]bool{}}
	dec := xml.NewDecoder(bytes.NewReader(text))
	var path []string
	var nets []*net
	var layers []*layer // those that are open
	within := func(name string) bool { return len(path) > 0 && path[len(path)-1] == name }
	for {
		line, column := dec.InputPos()
		from := int(dec.InputOffset())
		t, err := dec.RawToken()
		if err == io.EOF {
			return f, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errNot, err)
		}
		here := span{from, int(dec.InputOffset())}
		switch t := t.(type) {
		case xml.StartElement:
			name := t.Name.Local
			switch {
			case name == "net" && len(path) == 0, len(layers) > 0 && within("layer") && (name == "body" || name == "then_body" || name == "else_body"):
				nets = append(nets, &net{})
			case len(nets) == 0:
				return nil, errNot
			case name == "layer" && within("layers"):
				l := &layer{net: nets[len(nets)-1], whole: span{from: from}, tag: here}
				if l.id, err = number(t.Attr, "id"); err != nil {
					return nil, err
				}
				l.net.last = max(l.net.last, l.id)
				l.net.layers = append(l.net.layers, l)
				f.at[Place{line, column}] = l
				f.used[attribute(t.Attr, "name")] = true
				layers = append(layers, l)
			case name == "data" && within("layer") && layers[len(layers)-1].data.to == 0:
				layers[len(layers)-1].data = here
			case name == "output" && within("layer"):
				layers[len(layers)-1].output.from = from
			case name == "port" && (within("input") || within("output")) && len(path) > 1 && path[len(path)-2] == "layer":
				l := layers[len(layers)-1]
				id, err := number(t.Attr, "id")
				if err != nil {
					return nil, err
				}
				if within("input") {
					l.inputs = append(l.inputs, id)
				} else {
					if len(l.outputs) == 0 {
						l.port = here
					}
					l.outputs = append(l.outputs, id)
				}
			case name == "edge" && within("edges"):
				e := &edge{tag: here, whole: span{from: from}}
				for _, n := range []struct {
					name string
					to   *uint64
				}{{"from-layer", &e.from}, {"from-port", &e.fromPort}, {"to-layer", &e.to}, {"to-port", &e.toPort}} {
					if *n.to, err = number(t.Attr, n.name); err != nil {
						return nil, err
					}
				}
				e.newFrom, e.newFromPort, e.newTo = e.from, e.fromPort, e.to
				nets[len(nets)-1].edges = append(nets[len(nets)-1].edges, e)
			}
			path = append(path, name)
		case xml.EndElement:
			name := t.Name.Local
			if len(path) == 0 || path[len(path)-1] != name {
				return nil, errNot
			}
			path = path[:len(path)-1]
			switch {
			case name == "layer" && within("layers"):
				layers[len(layers)-1].whole.to = here.to
				layers = layers[:len(layers)-1]
			case name == "output" && within("layer"):
				layers[len(layers)-1].output.to = here.to
			case name == "edge" && within("edges"):
				edges := nets[len(nets)-1].edges
				edges[len(edges)-1].whole.to = here.to
			case name == "edges" && (within("net") || within("body") || within("then_body") || within("else_body")) && here.from < here.to:
				nets[len(nets)-1].end = here.from
			case len(path) == 0, within("layer") && (name == "body" || name == "then_body" || name == "else_body"):
				nets = nets[:len(nets)-1]
			}
		}
	}
}

func attribute(attrs []xml.Attr, name string) string {
	for _, a := range attrs {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

func number(attrs []xml.Attr, name string) (uint64, error) {
	n, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimSpace(attribute(attrs, name)), "+"), 10, 63)
	if err != nil {
		return 0, errNot
	}
	return n, nil
}

// Free gives a name that begins with wanted and that no layer of the text has, nor one
// that was given before.
func (f *File) Free(wanted string) string {
	name := wanted
	for i := 1; f.used[name]; i++ {
		name = fmt.Sprintf("%s_%d", wanted, i)
	}
	f.used[name] = true
	return name
}

// A Layer is a new layer with one output.
type Layer struct {
	Name, Type, Version string
	Data                []Attribute // of <data>, in order; no tag without one
	Inputs              []Source
	Result              Port
}

// An Attribute is one of a tag.
type Attribute struct{ Name, Value string }

// A Port says what a port carries: its precision, "FP32", and its dims, -1 for unknown.
type Port struct {
	Precision string
	Dims      []int64
}

// A Source is where an input comes from: an input of the replaced layer, by its number, or
// the result of a layer of the list.
type Source struct {
	Input int
	Layer int // from 0 in Replacement.Layers; -1 for an input of the replaced layer
	Of    Port
}

// A Replacement is what stands in the place of a layer.
type Replacement struct {
	At     Place
	Layers []Layer // in order; the result of the last is what the layer's output was

	// Kept is the number of the layer in Layers that is the old one, with the Name and the
	// Inputs that it has in the list, and Changes; -1 where it is gone.
	Kept    int
	Changes map[string]string // attributes of its tag, such as version, or of <data>
}

// Replace gives the new text. The file must not be used afterwards.
func (f *File) Replace(all []Replacement) ([]byte, error) {
	t := &rewriting{File: f, added: map[*net]*strings.Builder{}}
	for _, r := range all {
		if err := t.replace(r); err != nil {
			return nil, err
		}
	}
	for n, text := range t.added {
		for _, e := range n.edges {
			t.redirect(e)
		}
		at := n.end
		for at > 0 && isSpace(f.text[at-1]) {
			at--
		}
		t.change(span{at, at}, text.String())
	}
	return t.apply()
}

// A rewriting collects changes of the text.
type rewriting struct {
	*File
	changes []change
	added   map[*net]*strings.Builder // edges
}

type change struct {
	span
	text string
}

func (t *rewriting) change(s span, text string) { t.changes = append(t.changes, change{s, text}) }

func (t *rewriting) apply() ([]byte, error) {
	slices.SortStableFunc(t.changes, func(a, b change) int { return a.from - b.from })
	made := make([]byte, 0, len(t.text)+len(t.text)/8)
	at := 0
	for _, c := range t.changes {
		if c.from < at {
			return nil, errors.New("one layer stands in another that is replaced")
		}
		made = append(append(made, t.text[at:c.from]...), c.text...)
		at = c.to
	}
	return append(made, t.text[at:]...), nil
}

func (t *rewriting) replace(r Replacement) error {
	l := t.at[r.At]
	if l == nil || len(l.outputs) != 1 || len(r.Layers) == 0 || l.net.end == 0 {
		return fmt.Errorf("there is no layer with one output in line %d, column %d", r.At.Line, r.At.Column)
	}
	if t.added[l.net] == nil {
		t.added[l.net] = &strings.Builder{}
	}
	in := make([]*edge, len(l.inputs)) // by the number of the input
	for _, e := range l.net.edges {
		if i := slices.Index(l.inputs, e.toPort); e.to == l.id && i >= 0 {
			in[i] = e
		}
	}
	if slices.Contains(in, nil) {
		return fmt.Errorf("an input of the layer in line %d has no edge", r.At.Line)
	}
	// The last layer has the id of the old one, so that no edge behind it changes.
	last := len(r.Layers) - 1
	ids := make([]uint64, len(r.Layers))
	for i := range ids {
		if ids[i] = l.id; i < last {
			l.net.last++
			ids[i] = l.net.last
		}
	}
	port := func(i int) uint64 { // of the output
		if i == r.Kept || i == last {
			return l.outputs[0]
		}
		return uint64(len(r.Layers[i].Inputs))
	}
	indent, edgeIndent := t.indent(l.whole.from), ""
	if len(in) > 0 {
		edgeIndent = t.indent(in[0].tag.from)
	}
	var before, behind strings.Builder
	for i, made := range r.Layers {
		for j, s := range made.Inputs {
			var from, fromPort uint64
			switch {
			case s.Layer >= 0:
				from, fromPort = ids[s.Layer], port(s.Layer)
			case s.Input < len(in):
				from, fromPort = in[s.Input].from, in[s.Input].fromPort
			default:
				return fmt.Errorf("the layer in line %d has no input %d", r.At.Line, s.Input)
			}
			if i == r.Kept {
				in[j].newFrom, in[j].newFromPort, in[j].newTo = from, fromPort, ids[i]
			} else {
				fmt.Fprintf(t.added[l.net], "%s<edge from-layer=\"%d\" from-port=\"%d\" to-layer=\"%d\" to-port=\"%d\" />", edgeIndent, from, fromPort, ids[i], j)
			}
		}
		if i == r.Kept {
			continue
		}
		names := ""
		if i == last {
			names, _ = t.attribute(l.port, "names")
		}
		switch {
		case r.Kept >= 0 && i > r.Kept:
			behind.WriteString(indent)
			made.write(&behind, indent, ids[i], port(i), names)
		default:
			made.write(&before, indent, ids[i], port(i), names)
			if r.Kept >= 0 || i < last {
				before.WriteString(indent)
			}
		}
	}
	if r.Kept < 0 {
		t.change(l.whole, before.String())
		for _, e := range in {
			t.change(t.alone(e.whole), "")
			e.gone = true
		}
		return nil
	}
	t.change(span{l.whole.from, l.whole.from}, before.String())
	set := map[string]string{}
	for name, v := range r.Changes {
		set[name] = v
	}
	if kept := r.Layers[r.Kept]; r.Kept < last {
		set["id"], set["name"] = strconv.FormatUint(ids[r.Kept], 10), kept.Name
		var port strings.Builder
		port.WriteString("<output>")
		kept.Result.write(&port, indent+"\t\t", l.outputs[0], "")
		port.WriteString(indent + "\t</output>")
		t.change(l.output, port.String())
		t.change(span{l.whole.to, l.whole.to}, behind.String())
	}
	for _, tag := range []span{l.tag, l.data} {
		for _, a := range t.attributes(tag) {
			if v, ok := set[a.name]; ok {
				t.change(a.value, escape(v))
				delete(set, a.name)
			}
		}
	}
	for name := range set {
		return fmt.Errorf("the layer in line %d has no attribute %s to change", r.At.Line, name)
	}
	return nil
}

// redirect writes where an edge begins and ends now.
func (t *rewriting) redirect(e *edge) {
	if e.gone {
		return
	}
	for _, a := range t.attributes(e.tag) {
		switch {
		case a.name == "from-layer" && e.newFrom != e.from:
			t.change(a.value, strconv.FormatUint(e.newFrom, 10))
		case a.name == "from-port" && e.newFromPort != e.fromPort:
			t.change(a.value, strconv.FormatUint(e.newFromPort, 10))
		case a.name == "to-layer" && e.newTo != e.to:
			t.change(a.value, strconv.FormatUint(e.newTo, 10))
		}
	}
}

// An attributeSpan is an attribute of a tag and the place of its value.
type attributeSpan struct {
	name  string
	value span
}

// attributes finds the attributes of a tag, which is XML.
func (f *File) attributes(tag span) []attributeSpan {
	var list []attributeSpan
	at := tag.from
	for at < tag.to && !isSpace(f.text[at]) { // the name of the element
		at++
	}
	for at < tag.to {
		from := at
		for at < tag.to && f.text[at] != '=' {
			at++
		}
		name := strings.TrimSpace(string(f.text[from:at]))
		for at < tag.to && f.text[at] != '"' && f.text[at] != '\'' {
			at++
		}
		if at >= tag.to {
			break
		}
		quote := f.text[at]
		at++
		from = at
		for at < tag.to && f.text[at] != quote {
			at++
		}
		list = append(list, attributeSpan{name, span{from, at}})
		at++
	}
	return list
}

// attribute gives the value of an attribute of a tag as the text has it, escapes
// included.
func (f *File) attribute(tag span, name string) (string, bool) {
	for _, a := range f.attributes(tag) {
		if a.name == name {
			return string(f.text[a.value.from:a.value.to]), true
		}
	}
	return "", false
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }

// indent gives the white space before a tag: the line break, and what the line begins
// with.
func (f *File) indent(at int) string {
	from := at
	for from > 0 && (f.text[from-1] == ' ' || f.text[from-1] == '\t') {
		from--
	}
	if from > 0 && f.text[from-1] == '\n' {
		return "\n" + string(f.text[from:at])
	}
	return ""
}

// alone is a tag with the white space before it, where it has a line of its own.
func (f *File) alone(s span) span {
	indent := f.indent(s.from)
	if s.to < len(f.text) && (f.text[s.to] == '\n' || f.text[s.to] == '\r') {
		s.from -= len(indent)
	}
	return s
}

// write writes a layer. Its lines begin with indent.
func (l *Layer) write(to *strings.Builder, indent string, id, port uint64, names string) {
	fmt.Fprintf(to, `<layer id="%d" name="%s" type="%s" version="%s">`, id, escape(l.Name), escape(l.Type), escape(l.Version))
	deeper := ""
	if indent != "" {
		deeper = indent + "\t"
	}
	if len(l.Data) > 0 {
		to.WriteString(deeper + "<data")
		for _, a := range l.Data {
			fmt.Fprintf(to, ` %s="%s"`, a.Name, escape(a.Value))
		}
		to.WriteString(" />")
	}
	inner := deeper
	if indent != "" {
		inner += "\t"
	}
	if len(l.Inputs) > 0 {
		to.WriteString(deeper + "<input>")
		for i, s := range l.Inputs {
			s.Of.write(to, inner, uint64(i), "")
		}
		to.WriteString(deeper + "</input>")
	}
	to.WriteString(deeper + "<output>")
	l.Result.write(to, inner, port, names)
	to.WriteString(deeper + "</output>" + indent + "</layer>")
}

// write writes a port. names is as in the text already.
func (p Port) write(to *strings.Builder, indent string, id uint64, names string) {
	fmt.Fprintf(to, `%s<port id="%d"`, indent, id)
	if p.Precision != "" {
		fmt.Fprintf(to, ` precision="%s"`, p.Precision)
	}
	if names != "" {
		// The value may stand in other quotes in the text.
		fmt.Fprintf(to, ` names="%s"`, strings.ReplaceAll(names, `"`, "&quot;"))
	}
	if len(p.Dims) == 0 {
		to.WriteString(" />")
		return
	}
	to.WriteString(">")
	for _, d := range p.Dims {
		if indent != "" {
			to.WriteString(indent + "\t")
		}
		fmt.Fprintf(to, "<dim>%d</dim>", d)
	}
	to.WriteString(indent + "</port>")
}

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder does not fail
	return b.String()
}
