package convert

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// reread opens a model that was written, and compares it with what was to be written: inputs,
// results, nodes with their attributes and edges, and every constant. Then both models
// run on feeds.
func (p *program) reread(ctx context.Context, source *model.Model, path string, layers []*layer) (Comparison, error) {
	m, err := p.target.open(path)
	if err != nil {
		return Comparison{}, err
	}
	defer m.Close() // it was only read
	if err := p.compare(ctx, m, layers); err != nil {
		return Comparison{}, err
	}
	return p.runs(ctx, source, m)
}

func (p *program) compare(ctx context.Context, m *model.Model, layers []*layer) error {
	g := m.Graph
	if len(g.Inputs) != len(p.inputs) || len(g.Outputs) != len(p.outputs) || len(g.Nodes) != len(layers) {
		return fmt.Errorf("it has %d inputs, %d outputs and %d nodes; %d, %d and %d were written", len(g.Inputs), len(g.Outputs), len(g.Nodes), len(p.inputs), len(p.outputs), len(layers))
	}
	is := make(map[*value]*model.Value) // what was read, by what was written
	for i, v := range p.inputs {
		got := g.Inputs[i]
		if got.Name != v.name || got.Spec.DType != v.spec.DType || got.Spec.Rank != v.spec.Rank || (got.Constant == nil) != (v.fallback == nil) {
			return fmt.Errorf("its input %d is %s; %.200q %s was written", i, got, v.name, v.spec)
		}
		for j, d := range v.spec.Dims {
			if e := got.Spec.Dims[j]; e != d && (p.target != onnxTarget || d.Known() || e != garner.AnyDim) {
				return fmt.Errorf("its input %d is %s; %.200q %s was written", i, got, v.name, v.spec)
			}
		}
		if v.fallback != nil {
			if err := sameElements(ctx, v.fallback, got.Constant); err != nil {
				return fmt.Errorf("the default of its input %.200q: %w", v.name, err)
			}
		}
		is[v] = got
	}
	nodes := make(map[string]*model.Node, len(g.Nodes))
	for _, n := range g.Nodes {
		if nodes[n.Name] != nil {
			return fmt.Errorf("two nodes are named %.200q", n.Name)
		}
		nodes[n.Name] = n
	}
	for _, l := range layers {
		n := nodes[l.name]
		if n == nil {
			return fmt.Errorf("it has no node %.200q", l.name)
		}
		outs := []*value{l.out}
		if l.also != nil {
			outs = append(outs, l.also)
		}
		if n.Op != l.op || n.Domain != l.domain || len(n.Outputs) != len(outs) || slices.Contains(n.Outputs, nil) || len(n.Inputs) != len(l.in) || len(n.Graphs) > 0 {
			return fmt.Errorf("node %.200q is a %s of %d inputs; a %s of %d was written", l.name, n.Op, len(n.Inputs), l.op, len(l.in))
		}
		if p.target == irTarget && n.Version != l.version || p.target == onnxTarget && n.Version < l.version {
			return fmt.Errorf("node %.200q is of opset %d; opset %d was written", l.name, n.Version, l.version)
		}
		for _, a := range l.attributes {
			if got := n.Attributes[a.name]; fmt.Sprint(got) != fmt.Sprint(a.value) && !(p.target == irTarget && n.IsGather() && a.name == "auto_broadcast") {
				return fmt.Errorf("attribute %s of node %.200q is %v; %v was written", a.name, l.name, got, a.value)
			}
		}
		for i, v := range outs {
			if is[v] = n.Outputs[i]; n.Outputs[i].From != n {
				return fmt.Errorf("the output of node %.200q is another's", l.name)
			}
		}
	}
	same := func(v *value, got *model.Value, what string) error {
		if got == nil {
			return fmt.Errorf("%s is missing", what)
		}
		if !v.held() {
			if is[v] != got {
				return fmt.Errorf("%s is %s; it is not the one that was written", what, got)
			}
			return nil
		}
		if is[v] == got {
			return nil
		}
		if is[v] != nil || got.Constant == nil {
			return fmt.Errorf("%s is %s; it is not the constant that was written", what, got)
		}
		is[v] = got
		if err := sameElements(ctx, v, got.Constant); err != nil {
			return fmt.Errorf("%s, the constant %.200q: %w", what, v.name, err)
		}
		return nil
	}
	for _, l := range layers {
		for i, v := range l.in {
			if err := same(v, nodes[l.name].Inputs[i], fmt.Sprintf("input %d of node %.200q", i, l.name)); err != nil {
				return err
			}
		}
	}
	for i, o := range p.outputs {
		got := g.Outputs[i]
		if got.Name != o.name {
			return fmt.Errorf("its output %d is named %.200q; %.200q was written", i, got.Name, o.name)
		}
		if err := same(o.value, got.Value, fmt.Sprintf("output %.200q", o.name)); err != nil {
			return err
		}
	}
	return nil
}

// sameElements compares a constant with the one that was read, a piece of each at a time.
func sameElements(ctx context.Context, v *value, c *model.Constant) error {
	shape, ok := v.spec.Shape()
	read, also := c.Spec.Shape()
	if !ok || !also || c.Spec.DType != v.spec.DType || !shape.Equal(read) {
		return fmt.Errorf("it is %s; %s was written", c.Spec, v.spec)
	}
	if v.spec.DType == garner.String {
		want, err := v.strings()
		if err != nil {
			return err
		}
		t, err := c.Tensor()
		if err != nil {
			return err
		}
		got, err := garner.Values[string](t)
		if err == nil && !slices.Equal(got, want) {
			err = errors.New("its strings differ")
		}
		return err
	}
	want := v.constant
	if v.small {
		want = model.NewConstant(v.name, v.spec, func() (garner.Tensor, error) { return v.tensor, nil })
	}
	equal, err := model.EqualPieces(ctx, want, c)
	if err == nil && !equal {
		err = errors.New("its elements differ")
	}
	return err
}
