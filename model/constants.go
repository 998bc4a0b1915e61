package model

import (
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strconv"

	"github.com/garner-go/garner"
)

// Constants ranges over the constants that the model's nodes, inputs and results
// read, each once, with a name that Constant takes: its own, or NAME#0, NAME#1 …
// for constants that share one. Tensors among the attributes are not constants.
func (m *Model) Constants() iter.Seq2[string, *Constant] {
	return func(yield func(string, *Constant) bool) {
		all := m.constants()
		count, seen := make(map[string]int), make(map[string]int)
		for _, v := range all {
			count[v.Constant.Name]++
		}
		for _, v := range all {
			name := v.Constant.Name
			if count[name] > 1 {
				seen[name]++
				name += "#" + strconv.Itoa(seen[name]-1)
			}
			if !yield(name, v.Constant) {
				return
			}
		}
	}
}

// Constant finds a constant by a name of Constants, or by the name of its value or
// an alias of that. A name that the model does not have is an fs.ErrNotExist; one
// that several constants have is a garner.ErrAttribute.
func (m *Model) Constant(name string) (*Constant, error) {
	byValue := func(v *Value) bool { return v.Name == name || slices.Contains(v.Aliases, name) }
	byName := func(v *Value) bool { return v.Constant.Name == name }
	all := m.constants()
	for _, has := range []func(*Value) bool{byName, byValue} {
		var found []*Constant
		for _, v := range all {
			if has(v) {
				found = append(found, v.Constant)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return nil, garner.Errorf(garner.ErrAttribute, "%s has %d constants named %s; name one of them as %s#0 to %s#%d",
				m.Path, len(found), quote(name), fmt.Sprintf("%.200s", name), fmt.Sprintf("%.200s", name), len(found)-1)
		}
	}
	for unique, c := range m.Constants() {
		if unique == name {
			return c, nil
		}
	}
	return nil, garner.Errorf(fs.ErrNotExist, "%s: it has no constant %s; it has %d of other names", m.Path, quote(name), len(all))
}

// constants lists a value of each constant, in the order in which the model reads
// them.
func (m *Model) constants() []*Value {
	var all []*Value
	seen := make(map[*Constant]bool)
	look := func(v *Value) {
		if v != nil && v.Constant != nil && !seen[v.Constant] {
			seen[v.Constant] = true
			all = append(all, v)
		}
	}
	var walk func(g *Graph)
	walk = func(g *Graph) {
		if g == nil {
			return
		}
		for _, v := range g.Inputs {
			look(v)
		}
		for _, n := range g.Nodes {
			for _, v := range n.Inputs {
				look(v)
			}
			for _, s := range n.Graphs {
				walk(s.Graph)
			}
		}
		for _, r := range g.Outputs {
			look(r.Value)
		}
	}
	walk(m.Graph)
	return all
}
