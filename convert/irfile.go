package convert

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
)

// irAlign is what the offset of the elements of a constant is a multiple of: a cache line.
const irAlign = 64

// irFile lays a program out as an OpenVINO IR: the text, and the .bin.
func (p *program) irFile(layers []*layer) (file, beside []piece, err error) {
	w := &irWriter{ids: make(map[*value][2]int)}
	fmt.Fprintf(&w.layers, "<?xml version=\"1.0\"?>\n<net name=%s version=\"11\">\n\t<layers>\n", quoted(p.graphName()))
	for _, v := range p.inputs {
		w.open("Parameter", v.name, 1, []attribute{{"shape", irShape(v.spec)}, {"element_type", irTypes[v.spec.DType].attribute}})
		w.close(nil, v, v.name, nil)
	}
	offset := int64(0)
	constants := p.constants(layers)
	for _, v := range constants {
		if pad := -offset & (irAlign - 1); pad > 0 {
			beside, offset = append(beside, piece{bytes: make([]byte, pad)}), offset+pad
		}
		size := v.size()
		w.open("Const", v.name, 1, []attribute{{"element_type", irTypes[v.spec.DType].attribute}, {"shape", irShape(v.spec)}, {"offset", offset}, {"size", size}})
		w.close(nil, v, "", nil)
		if size > 0 {
			beside, offset = append(beside, piece{elements: v}), offset+size
		}
	}
	if len(constants) > 0 && offset == 0 {
		beside = append(beside, piece{bytes: make([]byte, 1)}) // OpenVINO takes no empty file
	}
	for _, l := range layers {
		w.open(l.op, l.name, l.version, l.attributes)
		name := ""
		if l.out.wanted != "" {
			name = l.out.name
		}
		w.close(l.in, l.out, name, l.also)
	}
	for i, o := range p.outputs {
		fmt.Fprintf(&w.layers, "\t\t<layer id=\"%d\" name=%s type=\"Result\" version=\"opset1\" output_names=%s>\n", w.next, quoted(p.resultNames[i]), quoted(irName(o.name)))
		w.inputs([]*value{o.value})
		w.layers.WriteString("\t\t</layer>\n")
		w.next++
	}
	w.layers.WriteString("\t</layers>\n\t<edges>\n")
	w.edges.WriteString("\t</edges>\n</net>\n")
	return []piece{{bytes: append(w.layers.Bytes(), w.edges.Bytes()...)}}, beside, nil
}

// An irWriter writes layers one after the other, and the edges between them.
type irWriter struct {
	layers, edges bytes.Buffer
	next          int               // id of the next layer
	ids           map[*value][2]int // the layer and the port of each value
}

func (w *irWriter) open(kind, name string, opset int, attributes []attribute) {
	fmt.Fprintf(&w.layers, "\t\t<layer id=\"%d\" name=%s type=%s version=\"opset%d\">\n", w.next, quoted(name), quoted(kind), opset)
	if len(attributes) > 0 {
		w.layers.WriteString("\t\t\t<data")
		for _, a := range attributes {
			fmt.Fprintf(&w.layers, " %s=%s", a.name, quoted(fmt.Sprint(a.value)))
		}
		w.layers.WriteString(" />\n")
	}
}

// close writes the ports of a layer, and ends it. also is its second output, or nil.
func (w *irWriter) close(in []*value, out *value, name string, also *value) {
	w.inputs(in)
	w.layers.WriteString("\t\t\t<output>\n")
	w.port(len(in), out, name)
	w.ids[out] = [2]int{w.next, len(in)}
	if also != nil {
		name := ""
		if also.wanted != "" {
			name = also.name
		}
		w.port(len(in)+1, also, name)
		w.ids[also] = [2]int{w.next, len(in) + 1}
	}
	w.layers.WriteString("\t\t\t</output>\n\t\t</layer>\n")
	w.next++
}

func (w *irWriter) inputs(in []*value) {
	if len(in) == 0 {
		return
	}
	w.layers.WriteString("\t\t\t<input>\n")
	for i, v := range in {
		w.port(i, v, "")
		from := w.ids[v]
		fmt.Fprintf(&w.edges, "\t\t<edge from-layer=\"%d\" from-port=\"%d\" to-layer=\"%d\" to-port=\"%d\" />\n", from[0], from[1], w.next, i)
	}
	w.layers.WriteString("\t\t\t</input>\n")
}

func (w *irWriter) port(id int, v *value, name string) {
	fmt.Fprintf(&w.layers, "\t\t\t\t<port id=\"%d\" precision=\"%s\"", id, irTypes[v.spec.DType].port)
	if name != "" {
		fmt.Fprintf(&w.layers, " names=%s", quoted(irName(name)))
	}
	if len(v.spec.Dims) == 0 {
		w.layers.WriteString(" />\n")
		return
	}
	w.layers.WriteString(">\n")
	for _, d := range v.spec.Dims {
		n := -1
		if d.Known() {
			n = d.Min
		}
		fmt.Fprintf(&w.layers, "\t\t\t\t\t<dim>%d</dim>\n", n)
	}
	w.layers.WriteString("\t\t\t\t</port>\n")
}

// irName is the name of a tensor, where a comma is between two: one in it is \,.
func irName(name string) string { return strings.ReplaceAll(name, ",", `\,`) }

// irShape is the shape of a Parameter or of a Const.
func irShape(s garner.Spec) string {
	if !s.Rank.Known() {
		return "..."
	}
	dims := make([]string, len(s.Dims))
	for i, d := range s.Dims {
		switch {
		case d.Known():
			dims[i] = strconv.Itoa(d.Min)
		case d == garner.AnyDim:
			dims[i] = "?"
		case d.Max == garner.Unbounded:
			dims[i] = strconv.Itoa(d.Min) + ".."
		default:
			dims[i] = fmt.Sprintf("%d..%d", d.Min, d.Max)
		}
	}
	return strings.Join(dims, ",")
}

// quoted gives text as an attribute of XML.
func quoted(s string) string {
	var b bytes.Buffer
	b.WriteByte('"')
	_ = xml.EscapeText(&b, []byte(s)) // a Buffer takes everything
	b.WriteByte('"')
	return b.String()
}
