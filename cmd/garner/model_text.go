package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// listed lists the gathers of a model, and the operators that are related to them.
func listed(m *model.Model) []*model.Node {
	var list []*model.Node
	for n := range m.Nodes() {
		if _, related := operators.RelatedOf(n); related || n.IsGather() {
			list = append(list, n)
		}
	}
	return list
}

// dataOf gives the data of a gather, which is nil where the node leaves it out; false
// for a node that is no gather.
func dataOf(n *model.Node) (*model.Value, bool) {
	if !n.IsGather() {
		r, ok := operators.RelatedOf(n)
		if !ok {
			return nil, false
		}
		return n.Inputs[r.Data], true
	}
	if inputs := callOf(n).Inputs; len(inputs) > 0 {
		return inputs[0], true
	}
	return nil, true
}

// callOf gives the call of a gather; what the node says where it lacks an operand.
func callOf(n *model.Node) operators.Call {
	c, err := operators.CallOf(n, nil)
	if err != nil {
		c.Attributes, c.Inputs = n.Attributes, n.Inputs
		c.Operator.Name = n.Operator
	}
	return c
}

// plain makes an untrusted name fit for a list.
var plain = names.Plain

// nodeNames lists the names by which Model.Find finds nodes.
func nodeNames(m *model.Model) map[*model.Node]string {
	names := make(map[*model.Node]string)
	for name, n := range m.Names() {
		names[n] = name
	}
	return names
}

// roleOf is the name of a gather's i-th input in the model: data, indices, axis.
func roleOf(n *model.Node, i int) string {
	if r, ok := operators.RelatedOf(n); ok {
		switch i {
		case r.Data:
			return "data"
		case r.Indices:
			return "indices"
		}
		return fmt.Sprintf("input %d", i)
	}
	o, _ := operators.Find(n.Operator, 0)
	return roleIn(operators.Call{Operator: o}, i)
}

// roleIn is the name of the i-th input of a call.
func roleIn(c operators.Call, i int) string {
	if c.Operator.Zero != nil {
		if role := c.Role(i); role != "" {
			return role
		}
	}
	return fmt.Sprintf("input %d", i)
}

// A gatherEntry is what a list says of a gather: its call, or the inputs of a related
// operator.
type gatherEntry struct {
	operator   string // "" for a related operator
	attributes map[string]any
	inputs     []*model.Value
	role       func(i int) string
}

func entryOf(n *model.Node) gatherEntry {
	if !n.IsGather() {
		return gatherEntry{"", n.Attributes, n.Inputs, func(i int) string { return roleOf(n, i) }}
	}
	c := callOf(n)
	attributes := c.Attributes
	if c.Table != nil {
		if attributes = maps.Clone(attributes); attributes == nil {
			attributes = make(map[string]any)
		}
		if attributes["output"] = c.Table.Output; c.Table.Reshape != nil {
			attributes["reshape"] = c.Table.Reshape
		}
	}
	return gatherEntry{c.Operator.Name, attributes, c.Inputs, func(i int) string { return roleIn(c, i) }}
}

// modelText is the list of a model's gathers, as model prints it.
func modelText(m *model.Model) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", plain(m.Path), m.Format)
	domains := make([]string, 0, len(m.Opsets))
	for domain := range m.Opsets {
		domains = append(domains, domain)
	}
	slices.Sort(domains)
	for _, domain := range domains {
		if domain == "" {
			fmt.Fprintf(&b, ", opset %d", m.Opsets[domain])
		} else {
			fmt.Fprintf(&b, ", %s %d", plain(domain), m.Opsets[domain])
		}
	}
	if m.Producer != "" {
		fmt.Fprintf(&b, ", written by %s", plain(m.Producer))
	}
	gathers := listed(m)
	switch len(gathers) {
	case 0:
		b.WriteString("; it has no gather\n")
		return b.String()
	case 1:
		b.WriteString("; 1 gather\n")
	default:
		fmt.Fprintf(&b, "; %d gathers\n", len(gathers))
	}
	names, origins := nodeNames(m), originsOf(m)
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "NAME\tOPERATOR\tDATA\tINDICES\tRESULT")
	for _, n := range gathers {
		l := entryOf(n)
		cells := []string{plain(names[n]), operatorText(n, l), "", "", ""}
		for i, v := range l.inputs {
			if v == nil {
				continue
			}
			switch l.role(i) {
			case "data":
				table, _, _ := origins.table(v)
				cells[2] = v.Type() + " " + origins.of(v).String() + table
				if v.Quantised != nil {
					cells[2] += ", " + v.Quantised.String()
				}
			case "indices":
				cells[3] = v.Type() + " " + origins.of(v).String()
			}
		}
		if len(n.Outputs) > 0 && n.Outputs[0] != nil {
			cells[4] = n.Outputs[0].Type()
		}
		for i, c := range cells {
			cells[i] = terminal.Printable(c) // the name of a dim may have any character
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	w.Flush()
	return b.String()
}

// operatorText is a gather's operator with its attributes and its inputs behind data and
// indices: the value of a small constant that is part of the operator, and else the type.
func operatorText(n *model.Node, l gatherEntry) string {
	text := l.operator
	if r, ok := operators.RelatedOf(n); ok {
		text = plain(r.Name)
	}
	o, err := operators.Find(l.operator, 0)
	for i := 2; err == nil && i < len(l.inputs); i++ {
		v := l.inputs[i]
		if v == nil {
			continue
		}
		text += fmt.Sprintf(" %s=", l.role(i))
		if o.Binds(i - 2) {
			text += smallText(v)
		} else {
			text += v.Type()
		}
	}
	names := make([]string, 0, len(l.attributes))
	for name := range l.attributes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		text += fmt.Sprintf(" %s=%.40s", plain(name), plain(fmt.Sprint(l.attributes[name])))
	}
	return text
}

// smallText is a small constant as text; "?" for another value.
func smallText(v *model.Value) string {
	if c := v.Fixed(); c != nil {
		if size, ok := c.Bytes(); ok && size <= 64 {
			if t, err := c.Tensor(); err == nil {
				if c, err := t.Clone(); err == nil {
					return c.Text()
				}
			}
		}
	}
	return "?"
}
