package model

import (
	"io/fs"
	"iter"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/source"
)

// Constants ranges over the constants of the model, those of each graph in the order
// in which it reads them and then those that nothing reads. Each has a name that
// Constant takes: its own, or NAME#0, NAME#1 … for constants that share one, without
// those that are the own name of a constant. Tensors among the attributes are not
// constants.
func (m *Model) Constants() iter.Seq2[string, *Constant] {
	return func(yield func(string, *Constant) bool) {
		for name, v := range m.ConstantValues() {
			if !yield(name, v.Constant) {
				return
			}
		}
	}
}

// ConstantValues is Constants with a value of each, which also says how the elements are quantised.
func (m *Model) ConstantValues() iter.Seq2[string, *Value] {
	return func(yield func(string, *Value) bool) {
		all, made := m.constants()
		for i, v := range all {
			if !yield(made[i], v) {
				return
			}
		}
	}
}

// Constant finds a constant by a name of Constants, or by the name of its value or
// an alias of that. A name that the model does not have is an fs.ErrNotExist; one
// that several constants have is a garner.ErrAttribute.
func (m *Model) Constant(name string) (*Constant, error) {
	all, made := m.constants()
	if i := slices.Index(made, name); i >= 0 {
		return all[i].Constant, nil
	}
	byValue := func(v *Value) bool { return v.Name == name || slices.Contains(v.Aliases, name) }
	byName := func(v *Value) bool { return v.Constant.Name == name }
	for _, has := range []func(*Value) bool{byName, byValue} {
		var found []int
		for i, v := range all {
			if has(v) {
				found = append(found, i)
			}
		}
		switch n := len(found); {
		case n == 1:
			return all[found[0]].Constant, nil
		case n > 1:
			return nil, garner.Errorf(garner.ErrAttribute, "%s has %d constants named %s; name one of them as %.200s to %.200s",
				m.Path, n, names.Quote(name), made[found[0]], made[found[n-1]])
		}
	}
	return nil, garner.Errorf(fs.ErrNotExist, "%s: it has no constant %s; it has %d of other names", m.Path, names.Quote(name), len(all))
}

// constants lists a value of each constant, with its name, in the order of Constants.
func (m *Model) constants() (all []*Value, made []string) {
	all = m.holders()
	for _, v := range all {
		made = append(made, v.Constant.Name)
	}
	return all, unique(made)
}

// holders lists a value of each constant, in the order of Constants.
func (m *Model) holders() (all []*Value) {
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
		for _, v := range g.Constants {
			look(v)
		}
	}
	walk(m.Graph)
	return all
}

// Changed is a source.ErrChanged where a file that constants of the model lie in is another than it was when the model was
// opened: elements that were read of a view of it, such as that of Constant.Tensor, may then be of two states. It looks at
// each file once, and reads none.
func (m *Model) Changed() error {
	seen := make(map[string]bool)
	for _, v := range m.holders() {
		parts := []*Constant{v.Constant}
		for _, t := range v.Constant.Tiles {
			parts = append(parts, t.Constant)
		}
		for _, c := range parts {
			for _, r := range c.ranges() {
				if r.State == (source.FileState{}) || seen[r.File] {
					continue
				}
				seen[r.File] = true
				file, err := r.open()
				if err != nil {
					return err
				}
				file.Close() // nothing was read
			}
		}
	}
	return nil
}
