package text

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/model"
)

// A function is one of the module's.
type function struct {
	name    string
	public  bool
	results []string // the names that JAX gives them
	*region          // nil for a declaration
	called  bool     // something refers to it
}

// collect lists the functions, and finds which of them others refer to.
func (r *reader) collect(all []*operation, depth int) {
	for _, o := range all {
		switch o.name {
		case "module", "builtin.module":
			for _, in := range o.regions {
				r.collect(in.body, depth+1)
			}
			continue
		case "func.func":
		default:
			continue
		}
		f := &function{public: true}
		switch name := o.attributes["sym_name"].(type) {
		case string:
			f.name = name
		default:
			r.failAt(o.at, "a function has no name")
			return
		}
		if v, ok := o.attributes["sym_visibility"].(string); ok && v != "public" {
			f.public = false
		}
		f.results, _ = o.attributes["results"].([]string)
		if len(o.regions) > 0 {
			f.region = o.regions[0]
		}
		if r.byName[f.name] != nil {
			r.failAt(o.at, "there are two functions %s", names.Quote(f.name))
			return
		}
		r.byName[f.name] = f
		r.functions = append(r.functions, f)
	}
	if depth > 0 {
		return
	}
	for _, f := range r.functions {
		if f.region != nil {
			r.mark(f.body)
		}
	}
}

// mark finds the functions that operators refer to.
func (r *reader) mark(all []*operation) {
	for _, o := range all {
		for _, name := range o.symbols {
			if f := r.byName[name]; f != nil {
				f.called = true
			}
		}
		for _, in := range o.regions {
			r.mark(in.body)
		}
	}
}

// whole makes the model's graph.
func (r *reader) whole(g *model.Graph) {
	if r.err != nil {
		return
	}
	main := r.byName["main"]
	if main == nil || main.region == nil {
		main = nil
		for _, f := range r.functions {
			if f.region != nil && (main == nil || f.public && !main.public) {
				main = f
			}
		}
	}
	if main == nil {
		r.failf("none of its functions has a body; garner reads those that have one")
		return
	}
	g.Name = main.name
	entries := []*function{main}
	for _, f := range r.functions {
		if f != main && f.region != nil && (f.public || !f.called) {
			entries = append(entries, f)
		}
	}
	// Where functions refer to each other in a circle from no other, none of them is here; a
	// circle is refused wherever it is.
	r.acyclic()
	for i, f := range entries {
		prefix := ""
		if i > 0 {
			prefix = f.name + "/"
		}
		s := &scope{values: map[string][]*model.Value{}, graph: g, prefix: prefix}
		for _, a := range f.arguments {
			v := r.input(s, a)
			g.Inputs = append(g.Inputs, v)
		}
		returned := r.body(s, f.body)
		for k, v := range returned {
			name := ""
			if k < len(f.results) {
				name = f.results[k]
			}
			same := func(o model.Result) bool { return o.Name == prefix+name }
			if name == "" || slices.ContainsFunc(g.Outputs[max(0, len(g.Outputs)-100):], same) {
				name = fmt.Sprint("result", k)
			}
			r.spend(inputBytes + len(prefix) + len(name))
			g.Outputs = append(g.Outputs, model.Result{Name: prefix + name, Value: v})
		}
	}
}

// acyclic refuses functions that call themselves, by others too.
func (r *reader) acyclic() {
	const (
		unseen = iota
		open
		done
	)
	state := make(map[*function]int)
	var visit func(f *function, level int)
	var walk func(all []*operation, level int)
	walk = func(all []*operation, level int) {
		for _, o := range all {
			for _, name := range o.symbols {
				f := r.byName[name]
				if f == nil || f.region == nil || state[f] == done || r.err != nil {
					continue
				}
				if state[f] == open {
					r.failAt(o.at, "function %s calls itself, or others that call it; a run of it has no end", names.Quote(name))
					return
				}
				visit(f, level+1)
			}
			for _, in := range o.regions {
				walk(in.body, level)
			}
		}
	}
	visit = func(f *function, level int) {
		if level > mostNested {
			r.failf("function %s is called %d deep; no real model nests calls deeper than %d", names.Quote(f.name), level, mostNested)
		}
		if state[f] = open; r.err == nil {
			walk(f.body, level)
		}
		state[f] = done
	}
	for _, f := range r.functions {
		if f.region != nil && state[f] == unseen {
			visit(f, 0)
		}
	}
}

// A scope is the values that operators may read.
type scope struct {
	values map[string][]*model.Value
	outer  *scope // of the region around; nil in a function
	graph  *model.Graph
	prefix string // of names
}

// input makes a value of an argument.
func (r *reader) input(s *scope, a argument) *model.Value {
	r.spend(valueBytes + len(s.prefix) + len(a.name))
	v := &model.Value{Name: s.prefix + a.name, Spec: a.spec}
	if a.alias != "" && a.alias != a.name {
		v.Aliases = []string{s.prefix + a.alias}
	}
	s.values[a.name] = []*model.Value{v}
	return v
}

// find gives the value of an operand.
func (r *reader) find(s *scope, o *operation, want operand) *model.Value {
	for in := s; in != nil; in = in.outer {
		if list, ok := in.values[want.name]; ok {
			if want.n >= len(list) {
				r.failAt(o.at, "%s reads %%%.100s#%d, and there are %d of it", o.name, want.name, want.n, len(list))
				return nil
			}
			return list[want.n]
		}
	}
	r.failAt(o.at, "%s reads %%%.100s, which nothing before it makes", o.name, want.name)
	return nil
}

// last reports whether an operator ends a region, and gives its results.
func last(name string) bool {
	return name == "return" || name == "func.return" || name == "stablehlo.return"
}

// body makes the nodes of operators, and gives what they return.
func (r *reader) body(s *scope, all []*operation) (returned []*model.Value) {
	for _, o := range all {
		if r.err != nil {
			return nil
		}
		var in []*model.Value
		for _, want := range o.operands {
			in = append(in, r.find(s, o, want))
		}
		if r.spend(inputBytes * len(in)); r.err != nil {
			return nil
		}
		switch {
		case last(o.name):
			returned = in
		case o.name == "call" || o.name == "func.call":
			r.call(s, o, in)
		case o.elements != nil && len(o.results) == 1 && o.results[0].n == 1:
			v := r.made(s, o, nil)[0]
			v.Constant = r.constantOf(o, v)
			s.graph.Constants = append(s.graph.Constants, v)
		default:
			r.node(s, o, in)
		}
	}
	return returned
}

// made makes the values that an operator gives.
func (r *reader) made(s *scope, o *operation, n *model.Node) []*model.Value {
	var all []*model.Value
	for _, res := range o.results {
		var list []*model.Value
		for i := range res.n {
			name := s.prefix + res.name
			if res.n > 1 {
				name = fmt.Sprint(name, "#", i)
			}
			r.spend(valueBytes + len(name))
			v := &model.Value{Name: name, Spec: o.types[len(all)], From: n}
			list, all = append(list, v), append(all, v)
		}
		s.values[res.name] = list
	}
	return all
}

// call makes the nodes of the function that is called.
func (r *reader) call(s *scope, o *operation, in []*model.Value) {
	if len(o.symbols) == 0 {
		r.failAt(o.at, "a call names no function")
		return
	}
	f := r.byName[o.symbols[0]]
	if f == nil || f.region == nil {
		if f == nil {
			r.failAt(o.at, "it calls %s, which the module does not have", names.Quote(o.symbols[0]))
			return
		}
		r.node(s, o, in) // a declaration
		return
	}
	if len(f.arguments) != len(in) {
		r.failAt(o.at, "it calls %s with %d values; the function takes %d", names.Quote(f.name), len(in), len(f.arguments))
		return
	}
	r.spend(scopeBytes)
	if r.deeper(); r.err != nil {
		return
	}
	defer r.shallower()
	inner := &scope{values: map[string][]*model.Value{}, graph: s.graph, prefix: f.name + "/"}
	for i, a := range f.arguments {
		inner.values[a.name] = []*model.Value{in[i]}
	}
	returned := r.body(inner, f.body)
	if r.err != nil {
		return
	}
	at := 0
	for _, res := range o.results {
		if len(returned)-at < res.n {
			r.failAt(o.at, "it takes more results of %s than the %d that the function gives", names.Quote(f.name), len(returned))
			return
		}
		s.values[res.name] = returned[at : at+res.n]
		at += res.n
	}
}

// node makes a node of an operator.
func (r *reader) node(s *scope, o *operation, in []*model.Value) {
	n := &model.Node{Inputs: in, Attributes: map[string]any{}, At: fmt.Sprintf("line %d", r.line(o.at))}
	n.Domain, n.Op = dialectOf(o.name)
	r.spend(nodeBytes + len(s.prefix))
	for name, v := range o.attributes {
		r.attribute(n, o, name, v)
	}
	n.Outputs = r.made(s, o, n)
	if len(n.Outputs) > 0 {
		n.Name = s.prefix + o.results[0].name
	} else {
		n.Name = fmt.Sprintf("%s%s_%d", s.prefix, n.Op, len(s.graph.Nodes))
	}
	r.gather(n, o)
	if r.err != nil {
		return
	}
	s.graph.Nodes = append(s.graph.Nodes, n)
	r.regions(s, o, n)
}

// line gives the line of a place.
func (r *reader) line(at int) int {
	if r.lines == nil {
		r.lines = make([]int, 0, 1+bytes.Count(r.b, []byte("\n")))
		r.lines = append(r.lines, 0)
		for i, c := range r.b {
			if c == '\n' {
				r.lines = append(r.lines, i+1)
			}
		}
	}
	n, found := slices.BinarySearch(r.lines, at)
	if found {
		n++
	}
	return n
}

// attribute adds an attribute to a node, as the types of model.Node.Attributes.
func (r *reader) attribute(n *model.Node, o *operation, name string, v any) {
	r.spend(attributeBytes)
	if a, ok := v.(alias); ok {
		if v, ok = r.aliases[string(a)]; !ok {
			v = raw("#" + string(a))
		}
		if _, again := v.(alias); again {
			v = raw("#" + string(a))
		}
	}
	switch v := v.(type) {
	case fields:
		for key, v := range v {
			if _, nested := v.(fields); !nested {
				r.attribute(n, o, key, v)
			}
		}
	case *elements:
		n.Attributes[name] = r.attributeOf(name, v)
	case raw:
		n.Attributes[name] = string(v)
	case alias:
		n.Attributes[name] = "#" + string(v)
	case symbol:
		n.Attributes[name] = "@" + string(v)
	case nil:
	default:
		n.Attributes[name] = v
	}
}

// gathers are the operators that gather, by their names, and how many inputs they have.
var gathers = map[string]int{"gather": 2, "dynamic_gather": 3}

// gather makes a node that is a gather one of package operators.
func (r *reader) gather(n *model.Node, o *operation) {
	takes := gathers[n.Op]
	if takes == 0 || n.Domain != "" || r.err != nil {
		return
	}
	r.spend(gatherBytes)
	if len(n.Inputs) != takes || len(n.Outputs) != 1 {
		r.failAt(o.at, "it has %d inputs and %d outputs; stablehlo.%s has %d and 1", len(n.Inputs), len(n.Outputs), n.Op, takes)
		return
	}
	n.Operator = "stablehlo." + n.Op
	kept := map[string]any{}
	for name, v := range n.Attributes {
		switch name {
		case "offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims", "start_index_map", "slice_sizes":
			if _, ok := v.([]int64); !ok {
				r.failAt(o.at, "%s of %s is no list of integers", name, n.Operator)
			}
			kept[name] = v
		case "index_vector_dim":
			if _, ok := v.(int64); !ok {
				r.failAt(o.at, "%s of %s is no integer", name, n.Operator)
			}
			kept[name] = v
		case "indices_are_sorted":
			if _, ok := v.(bool); !ok {
				r.failAt(o.at, "%s of %s is neither true nor false", name, n.Operator)
			}
			kept[name] = v
		case "dimension_numbers":
			r.failAt(o.at, "dimension_numbers of %s are not #stablehlo.gather<…>", n.Operator)
		}
	}
	if _, ok := kept["slice_sizes"]; !ok && n.Op == "gather" {
		r.failAt(o.at, "stablehlo.gather has no slice_sizes")
	}
	n.Attributes = kept
}

// regions makes the sub-graphs of a node: of its regions, and of the functions that it
// names.
func (r *reader) regions(s *scope, o *operation, n *model.Node) {
	var all []*model.Graph
	for i, in := range o.regions {
		name := fmt.Sprint("region", i)
		if o.name == "stablehlo.while" && i < 2 {
			name = []string{"cond", "body"}[i]
		}
		all = append(all, r.inside(s, o, n, name, in))
	}
	for _, name := range o.symbols {
		if f := r.byName[name]; f != nil && f.region != nil && r.err == nil {
			r.inside(nil, o, n, f.name, f.region)
		}
	}
	if r.err != nil {
		return
	}
	switch o.name {
	case "stablehlo.while":
		if len(all) != 2 || len(n.Outputs) != len(n.Inputs) || len(all[1].Outputs) != len(n.Inputs) ||
			len(all[0].Inputs) != len(n.Inputs) || len(all[1].Inputs) != len(n.Inputs) {
			r.failAt(o.at, "stablehlo.while of %d values has regions or results that do not fit", len(n.Inputs))
			return
		}
		for i, v := range n.Outputs {
			next := all[1].Outputs[i].Value
			v.Takes = []*model.Value{n.Inputs[i], next}
			for _, g := range all {
				g.Inputs[i].Takes = []*model.Value{n.Inputs[i], next}
				if g.Inputs[i].Spec.DType == garner.Invalid {
					g.Inputs[i].Spec = v.Spec
				}
			}
		}
	case "stablehlo.case", "stablehlo.if":
		for _, g := range all {
			for i, v := range n.Outputs {
				if i < len(g.Outputs) {
					v.Takes = append(v.Takes, g.Outputs[i].Value)
				}
			}
		}
	}
}

// inside makes a sub-graph of a node; outer is nil for a function, which sees no values
// around it.
func (r *reader) inside(outer *scope, o *operation, n *model.Node, name string, in *region) *model.Graph {
	r.at = o.at // of errors
	if r.deeper(); r.err != nil {
		return nil
	}
	defer r.shallower()
	prefix := strings.TrimSuffix(n.Name, "/") + "/" + name + "/"
	r.spend(scopeBytes + 2*len(prefix))
	g := &model.Graph{Name: name}
	s := &scope{values: map[string][]*model.Value{}, outer: outer, graph: g, prefix: prefix}
	for i, a := range in.arguments {
		if o.name == "stablehlo.while" && a.spec.DType == garner.Invalid && i < len(o.types) {
			a.spec = o.types[i]
		}
		g.Inputs = append(g.Inputs, r.input(s, a))
	}
	for k, v := range r.body(s, in.body) {
		r.spend(inputBytes)
		g.Outputs = append(g.Outputs, model.Result{Name: fmt.Sprint("result", k), Value: v})
	}
	n.Graphs = append(n.Graphs, model.Subgraph{Name: name, Graph: g})
	return g
}
