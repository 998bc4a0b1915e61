package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// What --json prints; modelHelp describes it.
type (
	modelJSON struct {
		Path     string         `json:"path"`
		Format   string         `json:"format"`
		Producer string         `json:"producer"`
		Opsets   map[string]int `json:"opsets"`
		Inputs   []valueJSON    `json:"inputs"`
		Results  []valueJSON    `json:"results"`
		Gathers  []gatherJSON   `json:"gathers"`
	}
	gatherJSON struct {
		Name       string         `json:"name"`
		At         string         `json:"at"`
		Domain     string         `json:"domain"`
		Op         string         `json:"op"`
		Version    int            `json:"version"`
		Operator   string         `json:"operator"`
		Attributes map[string]any `json:"attributes"`
		Inputs     []inputJSON    `json:"inputs"`
		Outputs    []valueJSON    `json:"outputs"`
		TableBytes *int64         `json:"table_bytes"`
	}
	inputJSON struct {
		Role string `json:"role"`
		valueJSON
		From     string        `json:"from"`
		Via      []string      `json:"via"`
		Constant *constantJSON `json:"constant,omitempty"`
		Node     *nodeJSON     `json:"node,omitempty"`

		Quantised *quantisedJSON `json:"quantised,omitempty"`
	}
	quantisedJSON struct {
		Scales []float32 `json:"scales"`
		Zeros  []int64   `json:"zeros"`
		Axis   int       `json:"axis"`
	}
	valueJSON struct {
		Name  string `json:"name"`
		Type  string `json:"type"`
		DType string `json:"dtype"`
		Dims  []*int `json:"dims"`

		Default bool `json:"default,omitempty"`
	}
	constantJSON struct {
		Name   string `json:"name"`
		Type   string `json:"type"`
		Bytes  int64  `json:"bytes"`
		File   string `json:"file"`
		Offset int64  `json:"offset"`
	}
	nodeJSON struct {
		Name string `json:"name"`
		Op   string `json:"op"`
	}
)

// writeModelJSON writes what --json prints, one gather at a time: all of them
// together take several times as much memory as the model.
func writeModelJSON(w io.Writer, m *model.Model) error {
	encode := func(v any) ([]byte, error) {
		var b bytes.Buffer
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		err := encoder.Encode(v)
		return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
	}
	b, err := encode(describeModel(m))
	if err != nil {
		return err
	}
	const end = "]}" // of the list of gathers, which is empty, and of the object
	if _, err := w.Write(bytes.TrimSuffix(b, []byte(end))); err != nil {
		return err
	}
	between := ""
	err = eachGather(m, func(g gatherJSON) error {
		b, err := encode(g)
		if err == nil {
			_, err = fmt.Fprintf(w, "%s%s", between, b)
			between = ","
		}
		return err
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, end+"\n")
	return err
}

// cut shortens a name that a hostile model has many references to.
func cut(name string) string {
	const most = 1000
	if len(name) > most {
		return strings.ToValidUTF8(name[:most], "") + "…"
	}
	return name
}

// describeModel describes a model without its gathers.
func describeModel(m *model.Model) modelJSON {
	made := modelJSON{
		Path: m.Path, Format: m.Format, Producer: m.Producer, Opsets: m.Opsets,
		Inputs: []valueJSON{}, Results: []valueJSON{}, Gathers: []gatherJSON{},
	}
	if made.Opsets == nil {
		made.Opsets = map[string]int{}
	}
	for _, v := range m.Graph.Inputs {
		made.Inputs = append(made.Inputs, describeValue(v.Name, v))
	}
	for _, r := range m.Graph.Outputs {
		made.Results = append(made.Results, describeValue(r.Name, r.Value))
	}
	return made
}

// eachGather calls do with the description of each gather of a model, until it
// returns an error.
func eachGather(m *model.Model, do func(gatherJSON) error) error {
	names, origins := nodeNames(m), originsOf(m)
	for _, n := range listed(m) {
		l := entryOf(n)
		g := gatherJSON{
			Name: names[n], At: n.At, Domain: n.Domain, Op: n.Op, Version: n.Version, Operator: l.operator,
			Attributes: map[string]any{}, Inputs: []inputJSON{}, Outputs: []valueJSON{},
		}
		for name, v := range l.attributes {
			switch v := v.(type) {
			case *model.Constant:
				g.Attributes[name] = v.Spec.String()
			case float64:
				if g.Attributes[name] = v; math.IsNaN(v) || math.IsInf(v, 0) { // which JSON does not have
					g.Attributes[name] = fmt.Sprint(v)
				}
			case []float64:
				g.Attributes[name] = fmt.Sprint(v)
			default:
				g.Attributes[name] = v
			}
		}
		for i, v := range l.inputs {
			if v == nil {
				continue
			}
			o := origins.of(v)
			name := v.Name
			if !slices.Contains(n.Inputs, v) { // the reader limits how often the names of those are printed
				name = cut(name)
			}
			in := inputJSON{Role: l.role(i), valueJSON: describeValue(name, v), From: o.kind()}
			in.Default = o.constant == nil && o.value.From == nil && o.value.Default
			if q := v.Quantised; q != nil && len(q.Scales) <= mostScales {
				in.Quantised = &quantisedJSON{q.Scales, q.Zeros, q.Axis}
			}
			in.Via, _ = o.via.last(mostVia)
			switch {
			case o.constant != nil:
				size, _ := o.constant.Bytes()
				in.Constant = &constantJSON{cut(o.constant.Name), o.constant.Spec.String(), size, o.constant.File, o.constant.Offset}
				if in.Role == "data" {
					g.TableBytes = &size
				}
			case o.value.From != nil:
				in.Node = &nodeJSON{cut(names[o.value.From]), o.value.From.Op}
				if _, size, ok := origins.table(v); ok && in.Role == "data" {
					g.TableBytes = &size
				}
			}
			g.Inputs = append(g.Inputs, in)
		}
		for _, v := range n.Outputs {
			if v != nil {
				g.Outputs = append(g.Outputs, describeValue(v.Name, v))
			}
		}
		if err := do(g); err != nil {
			return err
		}
	}
	return nil
}

// mostScales is the most scales that are listed, as of an axis of a table; the file has the others.
const mostScales = 64

func describeValue(name string, v *model.Value) valueJSON {
	made := valueJSON{Name: name, Type: v.Type(), Default: v.Default}
	if v.Spec.DType != garner.Invalid {
		made.DType = v.Spec.DType.String()
	}
	if v.Spec.Rank.Known() {
		made.Dims = make([]*int, len(v.Spec.Dims))
		for i, d := range v.Spec.Dims {
			if d.Known() {
				made.Dims[i] = &v.Spec.Dims[i].Min
			}
		}
	}
	return made
}
