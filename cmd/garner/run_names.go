package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/model"
)

// A wanted is a value to compute, and the name that asked for it.
type wanted struct {
	name  string
	value *model.Value
}

// values finds the values of a name: among the graph's inputs, else among those
// of its nodes, constants included, else those that have it as another name.
func (r *modelRun) values(name string) []*model.Value {
	var found, other []*model.Value
	look := func(v *model.Value) {
		switch {
		case v == nil:
		case v.Name == name && !slices.Contains(found, v):
			found = append(found, v)
		case v.Name != name && slices.Contains(v.Aliases, name) && !slices.Contains(other, v):
			other = append(other, v)
		}
	}
	for _, v := range r.model.Graph.Inputs {
		look(v)
	}
	if inputs := append(found, other...); len(inputs) > 0 {
		return inputs
	}
	for _, v := range r.model.Graph.Constants {
		look(v)
	}
	for n := range r.model.Nodes() {
		for _, v := range n.Outputs {
			look(v)
		}
		for _, v := range n.Inputs {
			look(v)
		}
		for _, s := range n.Graphs {
			for _, v := range s.Graph.Inputs {
				look(v)
			}
		}
	}
	if len(found) > 0 {
		return found
	}
	return other
}

// value finds the value that a flag names. None, or several, is an error.
func (r *modelRun) value(flag, name string) (*model.Value, error) {
	if r.node != nil {
		for i, v := range r.node.Inputs {
			if v != nil && roleOf(r.node, i) == name {
				return v, nil
			}
		}
		for _, v := range r.node.Inputs {
			if v != nil && (v.Name == name || slices.Contains(v.Aliases, name)) {
				return v, nil
			}
		}
	}
	switch found := r.values(name); len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, cmdline.Wrong("%s %s: the model has no such value; %s", flag, name, r.names(flag))
	default:
		return nil, cmdline.Wrong("%s %s: %d values of the model have that name; give another name of the one that you mean, or --node", flag, name, len(found))
	}
}

// names lists the names that a flag accepts, for a message.
func (r *modelRun) names(flag string) string {
	const most = 12
	var list []string
	what := "its inputs are "
	switch {
	case flag == "--result":
		what = "its results are "
		for _, o := range r.model.Graph.Outputs {
			list = append(list, plain(o.Name))
		}
	case r.node != nil:
		what = "the node takes "
		for i, v := range r.node.Inputs {
			if v != nil {
				list = append(list, fmt.Sprintf("%s (%s)", roleOf(r.node, i), plain(v.Name)))
			}
		}
	default:
		for _, v := range r.model.Graph.Inputs {
			list = append(list, plain(v.Name))
		}
	}
	if len(list) == 0 {
		return "it has none"
	}
	if more := len(list) - most; more > 0 {
		list = append(list[:most], fmt.Sprintf("%d more", more))
	}
	return what + strings.Join(list, ", ")
}

// goals lists the values to compute.
func (r *modelRun) goals(results []string) ([]wanted, error) {
	var goals []wanted
	switch {
	case r.node != nil:
		v := r.node.Outputs[0]
		name := v.Name
		if name == "" {
			name = r.node.Name
		}
		return []wanted{{name, v}}, nil
	case len(results) == 0:
		for _, o := range r.model.Graph.Outputs {
			goals = append(goals, wanted{o.Name, o.Value})
		}
		if len(goals) == 0 {
			return nil, garner.Errorf(nil, "%s has no results; name a value of it with --result, or a gather with --node", r.model.Path)
		}
		return goals, nil
	}
	for _, name := range results {
		if slices.ContainsFunc(goals, func(g wanted) bool { return g.name == name }) {
			return nil, cmdline.Wrong("--result %s is given twice; give it once", name)
		}
		at := slices.IndexFunc(r.model.Graph.Outputs, func(o model.Result) bool { return o.Name == name })
		if at >= 0 {
			goals = append(goals, wanted{name, r.model.Graph.Outputs[at].Value})
			continue
		}
		v, err := r.value("--result", name)
		if err != nil {
			return nil, err
		}
		goals = append(goals, wanted{name, v})
	}
	return goals, nil
}
