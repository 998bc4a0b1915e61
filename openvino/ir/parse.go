package ir

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// A place is a position in the text. Lines and columns count from 1, columns in
// bytes.
type place struct{ line, column int }

// The elements of a <net>, as the file has them.
type (
	net struct {
		place
		name     string
		version  int // of the format; 0 where it is missing
		producer string
		layers   []layer
		edges    []edge
	}
	layer struct {
		place
		id          uint64
		name        string // from the file, or made of type and id
		kind        string // its type
		version     string
		opset       int // the number in version; 0 where version is no opset
		data        *data
		inputs      []port
		outputs     []port
		outputNames string
		bodies      []body
		maps        map[string][]portMap // by the body's name
		changed     map[uint64]uint64    // the result whose value a parameter gets in the next iteration, by its id
	}
	// data is a layer's attributes.
	data struct {
		place
		attrs []xml.Attr
	}
	port struct {
		place
		id    uint64
		dtype garner.DType // Invalid where it is missing
		dims  []garner.Dim
		names []string
	}
	edge struct {
		place
		fromLayer, fromPort, toLayer, toPort uint64
	}
	// body is a sub-graph: name is body, then_body or else_body.
	body struct {
		name string
		net  *net
	}
	// portMap maps a parameter of a body to an input of its layer, or a result of
	// the body to an output.
	portMap struct {
		output bool
		port   uint64 // number of the input, id of the output
		layer  uint64 // id of the parameter or the result
		sliced bool   // each iteration has a slice of the input or the output
		turn   bool   // the parameter is the number of the iteration; it has no port
	}
)

// get finds an attribute, the first of two with one name.
func (d *data) get(name string) (string, bool) {
	if d == nil {
		return "", false
	}
	return find(d.attrs, name)
}

func find(attrs []xml.Attr, name string) (string, bool) {
	i := slices.IndexFunc(attrs, func(a xml.Attr) bool { return a.Name.Local == name && a.Name.Space == "" })
	if i < 0 {
		return "", false
	}
	return attrs[i].Value, true
}

// String names a layer in messages.
func (l *layer) String() string {
	return fmt.Sprintf("layer %q (%s, id %d)", clip(l.name), clip(l.kind), l.id)
}

// A parser reads the text of one file.
type parser struct {
	path    string // for messages
	lenient bool
	most    limits
	in      *textReader
	dec     *xml.Decoder
	depth   int
	at      place // of the last token
}

// errorf makes an error at a place in the file and at a layer, which may be nil.
func (p *parser) errorf(at place, l *layer, class error, format string, args ...any) error {
	return p.wrap(at, l, garner.Errorf(class, format, args...))
}

// wrap adds the place to err.
func (p *parser) wrap(at place, l *layer, err error) error {
	e := &model.Error{Path: p.path, Line: at.line, Column: at.column, Err: err}
	if l != nil {
		e.At = l.String()
	}
	return e
}

var errCharset = errors.New("charset")

// parse reads a whole file.
func (p *parser) parse(in io.Reader) (*net, error) {
	p.in = newTextReader(in, p.most, p.lenient)
	p.dec = xml.NewDecoder(p.in)
	p.dec.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errCharset }
	if mark, err := p.in.in.Peek(2); err == nil && (string(mark) == "\xff\xfe" || string(mark) == "\xfe\xff") {
		return nil, p.errorf(place{1, 1}, nil, nil, "the text is UTF-16; save it as UTF-8")
	}
	root, ok, err := p.child(nil)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, p.errorf(p.at, nil, nil, "there is no <net>: the file is empty, or no OpenVINO IR")
	}
	if root.Name.Local != "net" {
		return nil, p.errorf(p.at, nil, nil, "the file begins with <%s>; an OpenVINO IR begins with <net>", clip(root.Name.Local))
	}
	version := uint64(0)
	if text, ok := find(root.Attr, "version"); ok {
		if version, ok = natural(text); !ok || version != 10 && version != 11 {
			return nil, p.errorf(p.at, nil, nil, "<net> is of IR version %q; garner reads 10 and 11, which OpenVINO from 2020 on writes: convert the model again", clip(text))
		}
	}
	n, err := p.net(root)
	if err != nil {
		return nil, err
	}
	n.version = int(version)
	if after, ok, err := p.child(nil); err != nil {
		return nil, err
	} else if ok {
		return nil, p.errorf(p.at, nil, nil, "<%s> follows </net>; a file holds one <net>", clip(after.Name.Local))
	}
	return n, nil
}

// token reads the next token and sets at to its place.
func (p *parser) token() (xml.Token, error) {
	p.in.begin()
	p.at = p.here()
	t, err := p.dec.Token()
	if err == io.EOF {
		return nil, err
	}
	if err != nil {
		return nil, p.failed(err)
	}
	switch t := t.(type) {
	case xml.StartElement:
		if p.depth++; p.depth > p.most.depth {
			return nil, p.errorf(p.at, nil, nil, "<%s> stands in %d others; no model nests more than %d", clip(t.Name.Local), p.depth-1, p.most.depth)
		}
	case xml.EndElement:
		p.depth--
	case xml.Directive:
		return nil, p.errorf(p.at, nil, nil, "a <!%s> is not read, for what it may define; take it out", word(string(t)))
	}
	return t, nil
}

// here gives the place of the next byte.
func (p *parser) here() place {
	line, column := p.dec.InputPos()
	return place{line, max(column-p.in.added, 1)}
}

// failed puts a decoder's error into words, with its place and a remedy.
func (p *parser) failed(err error) error {
	at := p.here()
	var syntax *xml.SyntaxError
	switch {
	case errors.Is(err, errTooLong):
		return p.errorf(p.at, nil, nil, "a tag, a text or a comment here is longer than %d bytes; no model's is: is this the right file?", p.most.token)
	case errors.Is(err, errTooLarge):
		return p.errorf(at, nil, nil, "the file is longer than %d bytes; an IR keeps its weights in the .bin file", p.most.text)
	case errors.Is(err, errCharset) || strings.Contains(err.Error(), errCharset.Error()):
		return p.errorf(p.at, nil, nil, "the text says that it is not UTF-8; save it as UTF-8")
	case !errors.As(err, &syntax):
		if strings.HasPrefix(err.Error(), "xml: ") {
			return p.errorf(at, nil, nil, "%s; write it as XML 1.0", strings.TrimPrefix(err.Error(), "xml: "))
		}
		return p.errorf(at, nil, err, "the file cannot be read: %v", err)
	}
	// The decoder has read the byte that it refuses.
	if syntax.Msg != "unexpected EOF" {
		at.column = max(at.column-1, 1)
	}
	switch {
	case syntax.Msg == "unexpected EOF":
		return p.errorf(at, nil, nil, "the file ends early; copy it again")
	case syntax.Msg == "invalid UTF-8":
		return p.errorf(at, nil, nil, "the text is not UTF-8 here; save it as UTF-8")
	case strings.HasPrefix(syntax.Msg, "unquoted or missing attribute value"):
		return p.errorf(at, nil, nil, `an attribute's value has no quotes; write NAME="VALUE"%s`, p.orLenient())
	case syntax.Msg == "invalid XML name: ...":
		return p.errorf(at, nil, nil, `"..." stands for attributes that are left out; write them, or take it out%s`, p.orLenient())
	case strings.HasPrefix(syntax.Msg, "invalid character entity"):
		return p.errorf(at, nil, nil, "%s; XML itself has only &amp; &lt; &gt; &quot; &apos; and numbers", syntax.Msg)
	}
	return p.errorf(at, nil, nil, "%s; correct the text", syntax.Msg)
}

// orLenient ends a remedy with the option, unless it is in use.
func (p *parser) orLenient() string {
	if p.lenient {
		return ""
	}
	return ", or read the file with Options.Lenient"
}

// child gives the next child of an element; false after the last. It skips text
// between elements.
func (p *parser) child(in *xml.StartElement) (xml.StartElement, bool, error) {
	for {
		t, err := p.token()
		if err == io.EOF && in == nil {
			return xml.StartElement{}, false, nil
		}
		if err != nil {
			return xml.StartElement{}, false, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			return t, true, nil
		case xml.EndElement:
			return xml.StartElement{}, false, nil
		case xml.CharData:
			if in == nil && strings.Trim(string(t), spaces+"\ufeff") != "" {
				return xml.StartElement{}, false, p.errorf(p.at, nil, nil, "there is text outside of <net>: %q; take it out", clip(strings.Trim(string(t), spaces)))
			}
		}
	}
}

// children calls do for every child of an element; do reads the child to its end.
func (p *parser) children(in xml.StartElement, do func(xml.StartElement) error) error {
	for {
		e, ok, err := p.child(&in)
		if err != nil || !ok {
			return err
		}
		if err := do(e); err != nil {
			return err
		}
	}
}

// skip skips the rest of an element.
func (p *parser) skip() error {
	for until := p.depth - 1; p.depth > until; {
		if _, err := p.token(); err != nil {
			return err
		}
	}
	return nil
}

// net reads <net>, or the body of a layer.
func (p *parser) net(root xml.StartElement) (*net, error) {
	n := &net{place: p.at}
	n.name, _ = find(root.Attr, "name")
	ids := make(map[uint64]place)
	seen := make(map[string]bool)
	err := p.children(root, func(e xml.StartElement) error {
		if name := e.Name.Local; name == "layers" || name == "edges" {
			if seen[name] {
				return p.errorf(p.at, nil, nil, "<%s> stands there twice; put the two together", name)
			}
			seen[name] = true
		}
		switch e.Name.Local {
		case "layers":
			return p.children(e, func(e xml.StartElement) error {
				if e.Name.Local != "layer" {
					return p.skip()
				}
				l, err := p.layer(e)
				if err != nil {
					return err
				}
				if first, twice := ids[l.id]; twice {
					return p.errorf(l.place, &l, nil, "it has the id of the layer in line %d; give each its own", first.line)
				}
				ids[l.id] = l.place
				n.layers = append(n.layers, l)
				return nil
			})
		case "edges":
			return p.children(e, func(e xml.StartElement) error {
				if e.Name.Local != "edge" {
					return p.skip()
				}
				ed := edge{place: p.at}
				for _, number := range [...]struct {
					name string
					to   *uint64
				}{{"from-layer", &ed.fromLayer}, {"from-port", &ed.fromPort}, {"to-layer", &ed.toLayer}, {"to-port", &ed.toPort}} {
					var err error
					if *number.to, err = p.natural(e, number.name, "edge"); err != nil {
						return err
					}
				}
				n.edges = append(n.edges, ed)
				return p.skip()
			})
		case "rt_info":
			return p.children(e, func(e xml.StartElement) error {
				name, _ := find(e.Attr, "name")
				if e.Name.Local == "Runtime_version" || name == "Runtime_version" || name == "OpenVINO Runtime" {
					if v, ok := find(e.Attr, "value"); ok {
						n.producer = "OpenVINO " + v
					}
				}
				return p.skip()
			})
		}
		return p.skip()
	})
	return n, err
}

// natural reads an attribute that must be a number from 0 on.
func (p *parser) natural(e xml.StartElement, name, of string) (uint64, error) {
	text, ok := find(e.Attr, name)
	if !ok {
		return 0, p.errorf(p.at, nil, nil, "<%s> has no %s; write one", of, name)
	}
	n, ok := natural(text)
	if !ok {
		return 0, p.errorf(p.at, nil, nil, "<%s> has %s=%q, which is no number from 0 on", of, name, clip(text))
	}
	return n, nil
}

func (p *parser) layer(e xml.StartElement) (layer, error) {
	l := layer{place: p.at}
	var err error
	if l.id, err = p.natural(e, "id", "layer"); err != nil {
		return l, err
	}
	var typed, versioned bool
	l.kind, typed = find(e.Attr, "type")
	l.name, _ = find(e.Attr, "name")
	l.version, versioned = find(e.Attr, "version")
	l.opset, _ = opset(l.version)
	l.outputNames, _ = find(e.Attr, "output_names")
	if l.name == "" {
		l.name = fmt.Sprintf("%s_%d", l.kind, l.id)
	}
	if !typed {
		return l, p.errorf(l.place, nil, nil, "layer %s (id %d) has no type; write one", clip(l.name), l.id)
	}
	if !versioned && !p.lenient {
		return l, p.errorf(l.place, &l, nil, `it has no version%s%s`, oneVersion(l.kind), p.orLenient())
	}
	seen := make(map[string]bool, 3)
	err = p.children(e, func(e xml.StartElement) error {
		name := e.Name.Local
		at := p.at
		switch name {
		case "input", "output", "body", "then_body", "else_body":
			if seen[name] {
				return p.errorf(at, &l, nil, "it has <%s> twice; put the two together", name)
			}
			seen[name] = true
		}
		switch name {
		case "data":
			if l.data == nil {
				l.data = &data{at, e.Attr}
			}
		case "input":
			l.inputs, err = p.ports(&l, e, false)
			return err
		case "output":
			l.outputs, err = p.ports(&l, e, true)
			return err
		case "port_map", "then_port_map", "else_port_map":
			return p.portMap(&l, e, strings.TrimSuffix(name, "port_map")+"body")
		case "back_edges":
			return p.children(e, func(e xml.StartElement) error {
				to, _ := find(e.Attr, "to-layer")
				if id, ok := natural(to); ok && e.Name.Local == "edge" {
					if l.changed == nil {
						l.changed = make(map[uint64]uint64)
					}
					from, _ := find(e.Attr, "from-layer")
					result, ok := natural(from)
					if !ok {
						result = math.MaxUint64 // no layer
					}
					l.changed[id] = result
				}
				return p.skip()
			})
		case "body", "then_body", "else_body":
			n, err := p.net(e)
			l.bodies = append(l.bodies, body{name, n})
			return err
		}
		return p.skip()
	})
	return l, err
}

// portMap reads what the parameters and results of a body are outside of it. It
// leaves out the condition of a loop, which has port -1.
func (p *parser) portMap(l *layer, e xml.StartElement, body string) error {
	return p.children(e, func(e xml.StartElement) error {
		outside, _ := find(e.Attr, "external_port_id")
		inside, _ := find(e.Attr, "internal_layer_id")
		purpose, _ := find(e.Attr, "purpose")
		m := portMap{output: e.Name.Local == "output", turn: e.Name.Local == "input" && purpose == "current_iteration"}
		_, m.sliced = find(e.Attr, "axis")
		var ok, known bool
		m.port, ok = natural(outside)
		m.layer, known = natural(inside)
		if (m.output || e.Name.Local == "input") && (ok || m.turn) && known {
			if l.maps == nil {
				l.maps = make(map[string][]portMap)
			}
			l.maps[body] = append(l.maps[body], m)
		}
		return p.skip()
	})
}

// ports reads the ports of a layer's input or output.
func (p *parser) ports(l *layer, e xml.StartElement, output bool) ([]port, error) {
	var list []port
	side := e.Name.Local
	seen := make(map[uint64]bool)
	err := p.children(e, func(e xml.StartElement) error {
		if e.Name.Local != "port" {
			return p.skip()
		}
		o := port{place: p.at}
		var err error
		if o.id, err = p.natural(e, "id", "port"); err != nil {
			return err
		}
		if seen[o.id] {
			return p.errorf(o.place, l, nil, "it has two %s ports with id %d; give each its own", side, o.id)
		}
		seen[o.id] = true
		if text, ok := find(e.Attr, "precision"); ok {
			if o.dtype, ok = precision(text); !ok && output { // an input's precision is not used
				return p.errorf(o.place, l, garner.ErrDType, "port %d has precision=%q, which is no element type; FP32 and I64 are some", o.id, clip(text))
			}
		}
		if text, ok := find(e.Attr, "names"); ok {
			o.names = names(text)
		}
		err = p.children(e, func(e xml.StartElement) error {
			if e.Name.Local != "dim" {
				return p.skip()
			}
			at := p.at
			text, err := p.text()
			if err != nil {
				return err
			}
			d, ok := portDim(text)
			if !ok {
				return p.errorf(at, l, garner.ErrShape, "port %d has the dim %q; one is a number from 0 on, or -1 where it is not known", o.id, clip(text))
			}
			if len(o.dims) == garner.MaxRank {
				return p.errorf(at, l, garner.ErrShape, "port %d has more than %d dims", o.id, garner.MaxRank)
			}
			o.dims = append(o.dims, d)
			return nil
		})
		list = append(list, o)
		return err
	})
	return list, err
}

// text reads an element to its end and gives the text before the first comment or
// child in it.
func (p *parser) text() (string, error) {
	text, first := "", true
	for until := p.depth - 1; p.depth > until; {
		t, err := p.token()
		if err != nil {
			return "", err
		}
		if c, ok := t.(xml.CharData); ok && first {
			text = string(c)
		}
		first = false
	}
	return text, nil
}

// word gives the first word of a text.
func word(s string) string {
	if list := strings.Fields(s); len(list) > 0 {
		return clip(list[0])
	}
	return ""
}

// clip shortens text from the file for a message.
func clip(s string) string {
	const most = 60
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
