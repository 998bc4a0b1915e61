package flatbuffer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/model"
)

// subgraphTables are the parts of a subgraph.
type subgraphTables struct {
	number          int
	name            string
	tensors         vector
	inputs, outputs vector // of numbers of tensors
	operators       vector
}

func (s *subgraphTables) String() string {
	if s.name == "" {
		return fmt.Sprint("subgraph ", s.number)
	}
	return fmt.Sprintf("subgraph %d (%s)", s.number, names.Quote(s.name))
}

// readSubgraphs reads where the parts of every subgraph are, and refuses subgraphs that
// refer to each other in a circle, or that stand in too many others.
func (r *reader) readSubgraphs(root table) error {
	all := root.vector(2, "SubGraph", 4)
	r.spend(scopeBytes * all.n)
	if all.n == 0 && r.err == nil {
		r.failf("it has no subgraph: it is no model, or damaged; get it again")
	}
	for i := 0; i < all.n && r.err == nil; i++ {
		t := all.tableAt(i)
		r.subgraphs = append(r.subgraphs, subgraphTables{
			number: i, name: r.string(t, 4), tensors: t.vector(0, "Tensor", 4), operators: t.vector(3, "Operator", 4),
			inputs: t.vector(1, "list of inputs", 4), outputs: t.vector(2, "list of outputs", 4),
		})
	}
	return r.err
}

// refers lists for each subgraph those that its operators refer to, each once.
func (r *reader) refers() [][]int {
	all := make([][]int, len(r.subgraphs))
	for i := range r.subgraphs {
		s := &r.subgraphs[i]
		seen := make(map[int]bool)
		// The same vector may be that of many subgraphs.
		r.spend(inputBytes * s.operators.n)
		for k := 0; k < s.operators.n && r.err == nil; k++ {
			o := s.operators.tableAt(k)
			for _, to := range r.references(o, r.codeOf(o).op) {
				if to.number >= len(r.subgraphs) {
					r.failf("operator %d of %s refers to subgraph %d, and there are %d", k, s, to.number, len(r.subgraphs))
				} else if !seen[to.number] {
					seen[to.number] = true
					all[i] = append(all[i], to.number)
				}
			}
		}
	}
	return all
}

// codeOf gives the operator code of an operator.
func (r *reader) codeOf(o table) code {
	n := o.index(0)
	if r.err == nil && int64(n) >= int64(len(r.codes)) {
		r.failf("an operator has the operator code %d, and there are %d: the file is damaged; get it again", n, len(r.codes))
	}
	if r.err != nil {
		return code{}
	}
	return r.codes[n]
}

// mostNested is the most subgraphs that one may stand in.
const mostNested = 64

// acyclic refuses subgraphs that refer to each other in a circle or too deep.
func (r *reader) acyclic(refers [][]int) {
	const (
		unseen = iota
		open
		done
	)
	state, depth := make([]byte, len(refers)), make([]int, len(refers))
	var visit func(i, level int)
	visit = func(i, level int) {
		if level > mostNested {
			r.failf("%s stands in %d others; no real model nests more than %d", &r.subgraphs[i], level, mostNested)
		}
		if r.err != nil {
			return
		}
		state[i] = open
		for _, to := range refers[i] {
			switch {
			case state[to] == open:
				r.failf("%s refers to itself, by its operators or by those of subgraphs that it refers to; a run of it has no end", &r.subgraphs[to])
			case state[to] == unseen:
				visit(to, level+1)
			}
			if r.err != nil {
				return
			}
			depth[i] = max(depth[i], depth[to]+1)
		}
		if state[i] = done; depth[i] > mostNested {
			r.failf("%s has sub-graphs in sub-graphs, %d deep; no real model nests more than %d", &r.subgraphs[i], depth[i], mostNested)
		}
	}
	for i := range refers {
		if state[i] == unseen {
			visit(i, 0)
		}
	}
}

// A signature is how programs call a subgraph.
type signature struct {
	key             string
	inputs, outputs []endpoint
}

// An endpoint is a signature's name of a tensor.
type endpoint struct {
	name   string
	tensor int64
}

// signatures reads the signatures by the numbers of their subgraphs: all, or the one that is asked for.
func (r *reader) signatures(root table) (map[int][]signature, error) {
	defs := root.vector(7, "SignatureDef", 4)
	all := make(map[int][]signature)
	var keys []string
	r.spend(scopeBytes * defs.n)
	for i := 0; i < defs.n && r.err == nil; i++ {
		t := defs.tableAt(i)
		s := signature{key: r.string(t, 2)}
		of := t.index(4)
		if int64(of) >= int64(len(r.subgraphs)) {
			r.failf("the signature %s is of subgraph %d, and there are %d", names.Quote(s.key), of, len(r.subgraphs))
			break
		}
		for field, list := range []*[]endpoint{&s.inputs, &s.outputs} {
			maps := t.vector(field, "TensorMap", 4)
			r.spend(inputBytes * maps.n)
			for k := 0; k < maps.n && r.err == nil; k++ {
				e := maps.tableAt(k)
				*list = append(*list, endpoint{r.string(e, 0), int64(e.index(1))})
			}
		}
		if keys = append(keys, s.key); r.signature == "" || s.key == r.signature && len(all) == 0 {
			all[int(of)] = append(all[int(of)], s)
		}
	}
	if r.signature != "" && len(all) == 0 && r.err == nil {
		return nil, garner.Errorf(garner.ErrAttribute, "it has no signature %s; %s", names.Quote(r.signature), names.Near(r.signature, keys))
	}
	if r.signature == "" && len(keys) > 1 {
		r.several = keys
	}
	return all, r.err
}

// whole makes the model's graph: of the first subgraph, of those of signatures, and of those to
// which no operator refers; or of that of the signature that is asked for.
func (r *reader) whole(root table) (*model.Graph, error) {
	signatures, err := r.signatures(root)
	if err != nil {
		return nil, err
	}
	refers := r.refers()
	if r.err == nil {
		r.acyclic(refers)
	}
	if r.err != nil {
		return nil, r.err
	}
	inside := make([]bool, len(refers))
	for _, list := range refers {
		for _, i := range list {
			inside[i] = true
		}
	}
	var entries []int
	for i := range r.subgraphs {
		if len(signatures[i]) > 0 || r.signature == "" && (i == 0 || !inside[i]) {
			entries = append(entries, i)
		}
	}
	g := &model.Graph{Name: r.subgraphs[entries[0]].name}
	taken := endNames{make(map[string]bool), make(map[string]bool)}
	for _, i := range entries {
		s := &r.subgraphs[i]
		made, err := r.graph(s)
		if err != nil {
			return nil, err
		}
		prefix := ""
		if len(entries) > 1 {
			prefix = cmp.Or(s.name, fmt.Sprint("subgraph", i)) + "/"
			if list := signatures[i]; len(list) > 0 && list[0].key != "" {
				prefix = list[0].key + "/"
			}
		}
		if r.name(g, made, s, signatures[i], prefix, taken); r.err != nil {
			return nil, r.err
		}
		g.Nodes = append(g.Nodes, made.Nodes...)
		g.Constants = append(g.Constants, made.Constants...)
	}
	return g, r.err
}

// endNames are the names that the inputs and the results of the model have so far.
type endNames struct{ inputs, results map[string]bool }

// name adds the inputs and the results of a subgraph to the model's graph, under the names
// of its signatures.
func (r *reader) name(g *model.Graph, made *instance, s *subgraphTables, signatures []signature, prefix string, taken endNames) {
	said := make(map[*model.Value][]string) // what signatures call each input
	for _, sig := range signatures {
		for _, e := range sig.inputs {
			if e.tensor >= 0 && e.tensor < int64(len(made.values)) && e.name != "" {
				if v := made.values[e.tensor]; made.given[v] {
					said[v] = append(said[v], e.name)
				}
			}
		}
	}
	seen := make(map[*model.Value]bool, len(made.given))
	for i, v := range made.Inputs {
		if seen[v] {
			continue // one tensor twice
		}
		seen[v] = true
		own := v.Name
		v.Name = ""
		for _, name := range append(said[v], own) {
			if r.spend(len(prefix) + len(name)); r.err != nil {
				return
			}
			if name = prefix + name; v.Name == "" && !taken.inputs[name] {
				v.Name = name
				taken.inputs[name] = true
			} else if name != v.Name && len(v.Aliases) < 8 && !slices.Contains(v.Aliases, name) {
				v.Aliases = append(v.Aliases, name)
			}
		}
		if own != v.Name && !slices.Contains(v.Aliases, own) {
			v.Aliases = append(v.Aliases, own)
		}
		if v.Name == "" {
			r.spend(len(prefix) + len(own))
			v.Name = fmt.Sprintf("%s%s_%d", prefix, own, i)
			taken.inputs[v.Name] = true
		}
		g.Inputs = append(g.Inputs, v)
	}
	add := func(name string, v *model.Value) {
		r.spend(inputBytes + len(prefix) + len(name))
		if name = prefix + name; r.err == nil && !taken.results[name] {
			taken.results[name] = true
			g.Outputs = append(g.Outputs, model.Result{Name: name, Value: v})
		}
	}
	called := make(map[*model.Value]bool)
	for _, sig := range signatures {
		for _, e := range sig.outputs {
			if r.err != nil {
				return
			}
			if v := made.at(r, s, e.tensor, "an output of its signature"); v != nil {
				called[v] = true
				add(e.name, v)
			}
		}
	}
	if r.signature != "" {
		return // what else the subgraph computes is of other signatures
	}
	for _, o := range made.Outputs {
		if r.err != nil {
			return
		}
		if !called[o.Value] {
			add(o.Name, o.Value)
		}
	}
}

// An instance is a subgraph where an operator refers to it, or by itself.
type instance struct {
	*model.Graph
	values []*model.Value        // by number of the tensor: the last that was made of it; nil where nothing has read it
	given  map[*model.Value]bool // the inputs
}

// at gives the value that a tensor has now; nil for a number of -1, which is an operand
// that is left out.
func (g *instance) at(r *reader, s *subgraphTables, number int64, what string) *model.Value {
	if number == -1 || r.err != nil {
		return nil
	}
	if number < 0 || number >= int64(len(g.values)) {
		r.failf("%s of %s is tensor %d, and there are %d: the file is damaged; get it again", what, s, number, len(g.values))
		return nil
	}
	if v := g.values[number]; v != nil {
		return v
	}
	t := r.tensor(s.tensors, int(number))
	if t == nil {
		return nil
	}
	v := r.value(t)
	v.Constant = r.constant(t)
	g.values[number] = v
	return v
}

// value makes a value of a tensor.
func (r *reader) value(t *tensor) *model.Value {
	r.spend(valueBytes)
	return &model.Value{Name: t.name, Spec: t.spec, Quantised: t.quantised}
}

// graph makes an instance of a subgraph.
func (r *reader) graph(s *subgraphTables) (*instance, error) {
	r.spend(scopeBytes + 8*s.tensors.n)
	if r.err != nil {
		return nil, r.err
	}
	g := &instance{&model.Graph{Name: s.name}, make([]*model.Value, s.tensors.n), make(map[*model.Value]bool)}
	r.spend(inputBytes * (s.inputs.n + s.outputs.n))
	for i := 0; i < s.inputs.n && r.err == nil; i++ {
		number := int64(s.inputs.i32(i))
		v := g.at(r, s, number, "an input")
		if v == nil {
			continue
		}
		v.Constant = nil // it is given
		g.given[v] = true
		g.Inputs = append(g.Inputs, v)
	}
	makers, err := r.makers(s)
	if err != nil {
		return nil, err
	}
	for i := 0; i < s.operators.n && r.err == nil; i++ {
		n, err := r.node(s, g, i, makers)
		if err != nil {
			return nil, err
		}
		g.Nodes = append(g.Nodes, n)
	}
	for i := 0; i < s.outputs.n && r.err == nil; i++ {
		if v := g.at(r, s, int64(s.outputs.i32(i)), "an output"); v != nil {
			g.Outputs = append(g.Outputs, model.Result{Name: v.Name, Value: v})
		}
	}
	if r.err != nil {
		return nil, model.InFile("", r.err)
	}
	// What nothing reads is in the file too.
	for i := 0; i < s.tensors.n && r.err == nil; i++ {
		if makers[i] > 0 {
			continue
		}
		if v := g.at(r, s, int64(i), "a tensor"); v != nil && v.Constant != nil {
			g.Constants = append(g.Constants, v)
		}
	}
	return g, r.err
}

// makers gives for each tensor the number of the last operator that makes it, from 1 on; 0
// where none does.
func (r *reader) makers(s *subgraphTables) ([]int32, error) {
	r.spend(4 * s.tensors.n)
	if r.err != nil {
		return nil, r.err
	}
	all := make([]int32, s.tensors.n)
	for i := 0; i < s.operators.n && r.err == nil; i++ {
		outputs := s.operators.tableAt(i).vector(2, "list of outputs", 4)
		r.spend(inputBytes * outputs.n)
		for k := 0; k < outputs.n && r.err == nil; k++ {
			if at := outputs.i32(k); at >= 0 && int(at) < len(all) {
				all[at] = int32(i + 1)
			}
		}
	}
	return all, r.err
}

// node makes a node of the i-th operator of a subgraph.
func (r *reader) node(s *subgraphTables, g *instance, i int, makers []int32) (*model.Node, error) {
	o := s.operators.tableAt(i)
	c := r.codeOf(o)
	n := &model.Node{Op: c.op, Domain: c.domain, Version: c.version, At: fmt.Sprintf("operator %d of subgraph %d", i, s.number)}
	r.spend(nodeBytes)
	inputs, outputs := o.vector(1, "list of inputs", 4), o.vector(2, "list of outputs", 4)
	r.spend(inputBytes * (inputs.n + outputs.n))
	if r.err == nil && c.domain == "" {
		n.Attributes = r.attributes(o, c.op)
	}
	for k := 0; k < inputs.n && r.err == nil; k++ {
		number := int64(inputs.i32(k))
		v := g.at(r, s, number, "an input of an operator")
		if v != nil && v.Constant == nil && v.From == nil && makers[number] > int32(i) && !g.given[v] && !r.variable(s, int(number)) {
			return nil, r.atNode(n, garner.Errorf(nil, "it reads tensor %d, %s, which operator %d makes after it; operators run in the order of the file", number, names.Quote(v.Name), makers[number]-1))
		}
		n.Inputs = append(n.Inputs, v)
	}
	for k := 0; k < outputs.n && r.err == nil; k++ {
		number := int64(outputs.i32(k))
		if number == -1 {
			n.Outputs = append(n.Outputs, nil)
			continue
		}
		if number < 0 || number >= int64(s.tensors.n) {
			r.failf("an output of an operator of %s is tensor %d, and there are %d: the file is damaged; get it again", s, number, s.tensors.n)
			break
		}
		t := r.tensor(s.tensors, int(number))
		if t == nil {
			break
		}
		v := r.value(t)
		v.From = n
		g.values[number] = v
		n.Outputs = append(n.Outputs, v)
		if n.Name == "" {
			n.Name = v.Name
		}
	}
	if n.Name == "" {
		n.Name = fmt.Sprintf("%s_%d", c.op, i)
	}
	if r.err != nil {
		return nil, r.atNode(n, r.err)
	}
	if err := r.gather(n); err != nil {
		return nil, r.atNode(n, err)
	}
	if c.domain == "" {
		if err := r.bodies(o, n); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// atNode adds the node to an error; the error keeps its place where it has one.
func (r *reader) atNode(n *model.Node, err error) error { return model.AtNode(n, err) }

// gathers are the operators that gather, by their names.
var gathers = map[string]string{
	"GATHER": "tflite.GATHER", "GATHER_ND": "tflite.GATHER_ND", "EMBEDDING_LOOKUP": "tflite.EMBEDDING_LOOKUP",
}

// gather makes a node that is a gather one of package operators.
func (r *reader) gather(n *model.Node) error {
	name := gathers[n.Op]
	if name == "" || n.Domain != "" {
		return nil
	}
	if len(n.Inputs) != 2 || len(n.Outputs) != 1 || slices.Contains(n.Inputs, nil) || n.Outputs[0] == nil {
		return garner.Errorf(nil, "it has %d inputs and %d outputs; %s has 2 and 1", len(n.Inputs), len(n.Outputs), n.Op)
	}
	if n.Op == "EMBEDDING_LOOKUP" {
		n.Inputs[0], n.Inputs[1] = n.Inputs[1], n.Inputs[0] // ids come first
		hybrid, err := r.scaled(n)
		if err != nil {
			return err
		}
		if hybrid {
			name = "tflite.hybrid-embedding-lookup"
		}
	}
	n.Operator = name
	r.spend(gatherBytes)
	for _, v := range n.Inputs {
		r.spend(len(v.Name))
	}
	return r.err
}

// scaled gives an EMBEDDING_LOOKUP that decodes its table the table's scales as an input;
// false for one that moves rows.
func (r *reader) scaled(n *model.Node) (bool, error) {
	table, q := n.Inputs[0], n.Inputs[0].Quantised
	if to := n.Outputs[0].Spec.DType; to == table.Spec.DType {
		return false, nil
	} else if to != garner.F32 || q == nil || q.Blocks {
		return false, garner.Errorf(nil, "its table is %s and its result %s; LiteRT makes f32 of a table that has scales; convert the model again", table.Type(), n.Outputs[0].Type())
	}
	shape := garner.Shape{}
	if len(q.Scales) > 1 {
		shape = slices.Repeat(garner.Shape{1}, len(table.Spec.Dims))
		shape[0] = len(q.Scales)
	}
	if len(q.Scales) > 1 && q.Axis != 0 || slices.ContainsFunc(q.Zeros, func(z int64) bool { return z != 0 }) {
		return false, garner.Errorf(nil, "its table has %s; LiteRT takes one scale, or one for each row, and zero points of 0", q)
	}
	t, err := garner.FromSlice(q.Scales, shape...)
	if err != nil {
		return false, err
	}
	name := table.Name + ".scale"
	r.spend(valueBytes + constantBytes + len(name))
	c := model.NewConstant(name, t.Spec(), func() (garner.Tensor, error) { return t, nil })
	n.Inputs = append(n.Inputs, &model.Value{Name: name, Spec: t.Spec(), Constant: c})
	return true, nil
}

// bodies makes the sub-graphs of a node, and says which values pass between them.
func (r *reader) bodies(o table, n *model.Node) error {
	take := func(v, from *model.Value) {
		if v != nil && from != nil && v != from {
			v.Takes = append(v.Takes, from)
		}
	}
	loops := n.Op == "WHILE" || n.Op == "STABLEHLO_WHILE"
	var body *instance
	var all []*instance
	for _, to := range r.references(o, n.Op) {
		made, err := r.graph(&r.subgraphs[to.number])
		if err != nil {
			return err
		}
		all = append(all, made)
		n.Graphs = append(n.Graphs, model.Subgraph{Name: to.name, Graph: made.Graph})
		if strings.HasPrefix(to.name, "body") {
			body = made
		}
	}
	given := n.Inputs
	switch n.Op {
	case "IF", "STABLEHLO_CASE":
		given = given[min(len(given), 1):]
	case "WHILE", "STABLEHLO_WHILE", "CALL", "STABLEHLO_COMPOSITE":
	default:
		return r.err // their subgraphs take elements, or nothing
	}
	for _, g := range all {
		if len(g.Inputs) != len(given) {
			return r.atNode(n, garner.Errorf(nil, "it passes %d values to a subgraph of %d inputs", len(given), len(g.Inputs)))
		}
		for i, v := range g.Inputs {
			take(v, given[i])
			if loops && body != nil && i < len(body.Outputs) {
				take(v, body.Outputs[i].Value)
			}
		}
		if loops && g != body {
			continue // the condition
		}
		for i, v := range n.Outputs {
			if i < len(g.Outputs) {
				take(v, g.Outputs[i].Value)
			}
			if loops && i < len(given) {
				take(v, given[i])
			}
		}
	}
	return r.err
}
