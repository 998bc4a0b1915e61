package main

import (
	"fmt"
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
		if _, ok := dataOf(n); ok {
			list = append(list, n)
		}
	}
	return list
}

// dataOf gives the number of the input that is a gather's data; false for a node
// that is no gather.
func dataOf(n *model.Node) (int, bool) {
	if n.IsGather() {
		return 0, len(n.Inputs) > 0
	}
	r, ok := operators.RelatedOf(n)
	return r.Data, ok
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

// roleOf is the name of a gather's i-th input: data, indices, axis.
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
	roles := []string{"data", "indices"}
	if o, err := operators.Find(n.Operator, 0); err == nil {
		roles = append(roles, o.Inputs()...)
	}
	if i < len(roles) {
		return roles[i]
	}
	return fmt.Sprintf("input %d", i)
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
		cells := []string{plain(names[n]), operatorText(n), "", "", ""}
		for i, v := range n.Inputs {
			if v == nil {
				continue
			}
			switch roleOf(n, i) {
			case "data":
				table, _, _ := origins.table(v)
				cells[2] = v.Type() + " " + origins.of(v).String() + table
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

// operatorText is a gather's operator with its attributes, and with its constant
// inputs behind data and indices.
func operatorText(n *model.Node) string {
	text := n.Operator
	if r, ok := operators.RelatedOf(n); ok {
		text = plain(r.Name)
	}
	for i := 2; n.IsGather() && i < len(n.Inputs); i++ {
		value := "?"
		if v := n.Inputs[i]; v != nil && v.Constant != nil {
			if size, ok := v.Constant.Bytes(); ok && size <= 64 {
				if t, err := v.Constant.Tensor(); err == nil {
					if c, err := t.Clone(); err == nil {
						value = c.Text()
					}
				}
			}
		}
		text += fmt.Sprintf(" %s=%s", roleOf(n, i), value)
	}
	names := make([]string, 0, len(n.Attributes))
	for name := range n.Attributes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		text += fmt.Sprintf(" %s=%.40s", plain(name), plain(fmt.Sprint(n.Attributes[name])))
	}
	return text
}
