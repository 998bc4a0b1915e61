package graphdef

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/internal/protofile"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/tensorflow/graphdef/internal/tfpb"
)

// An asked is the part of a model that is read: a signature, a function, or the whole graph.
type asked struct {
	signature *tfpb.SignatureDef
	function  string
}

// choose finds what is asked for.
func (r *reader) choose(meta *tfpb.MetaGraphDef, o Options) (asked, error) {
	signatures := slices.Sorted(maps.Keys(meta.SignatureDef))
	signatures = slices.DeleteFunc(signatures, func(key string) bool { return strings.HasPrefix(key, "__saved_model_") })
	if o.Signature != "" {
		if s := meta.SignatureDef[o.Signature]; s != nil {
			return asked{signature: s}, nil
		}
		if f, ok, err := r.method(o.Signature); ok {
			return asked{function: f}, err
		}
		if r.functions[o.Signature] != nil {
			return asked{function: o.Signature}, nil
		}
		others := slices.DeleteFunc(paths(r.objects.methods(true)), func(path string) bool { return meta.SignatureDef[path] != nil })
		all := append(signatures, others...)
		return asked{}, errorf("it has no signature and no function %s; %s", names.Quote(o.Signature), names.Near(o.Signature, all))
	}
	if s := meta.SignatureDef["serving_default"]; s != nil {
		return asked{signature: s}, nil
	}
	if len(signatures) == 1 {
		return asked{signature: meta.SignatureDef[signatures[0]]}, nil
	}
	methods := r.objects.methods(false)
	switch {
	case len(signatures) > 1:
		return asked{}, unnamed("it has %d signatures and none is serving_default; name one with Options.Signature; %s", len(signatures), names.First(signatures))
	case len(methods) == 1 && len(methods[0].functions) == 1:
		f, _, err := r.method(methods[0].name)
		return asked{function: f}, err
	case len(methods) > 0:
		return asked{}, unnamed("it has no signature; name one of its functions with Options.Signature; %s", names.First(paths(methods)))
	case r.objects != nil:
		return asked{}, errorf("it has no signature and no function; it has constants alone")
	}
	return asked{}, nil
}

// build makes the graph of the model.
func (r *reader) build(meta *tfpb.MetaGraphDef, o Options) error {
	r.main = &scope{reader: r, graph: r.top, place: "graph_def"}
	if err := r.main.add(meta.GraphDef.Node); err != nil {
		return err
	}
	if err := r.readRestores(meta.GetSaverDef().GetRestoreOpName()); err != nil {
		return err
	}
	is, err := r.choose(meta, o)
	if err != nil {
		if o.Constants && o.Signature == "" && errors.Is(err, garner.ErrAttribute) {
			return r.literals("", meta.GraphDef.Node)
		}
		return err
	}
	var results []named
	switch {
	case is.signature != nil:
		results, err = r.bySignature(is.signature, meta.GraphDef.Node)
	case is.function != "":
		results, err = r.byFunction(is.function)
	default:
		results, err = r.whole(meta.GraphDef.Node)
	}
	if err != nil {
		return err
	}
	for i := 0; i < len(r.pending); i++ {
		n := r.pending[i]
		if err := n.finish(); err != nil {
			if e, ok := err.(*model.Error); ok && e.At != "" {
				return err
			}
			return &model.Error{At: n.place(), Err: err}
		}
	}
	for _, result := range results {
		v, err := r.resolve(result.ref)
		if err != nil {
			return err
		}
		r.top.Outputs = append(r.top.Outputs, model.Result{Name: result.name, Value: v})
	}
	for _, b := range slices.Backward(r.ifs) {
		if err := b.finish(); err != nil {
			return err
		}
	}
	for _, l := range slices.Backward(r.loops) {
		if err := l.finish(); err != nil {
			return err
		}
	}
	r.unbind()
	return sorted(r.top)
}

// literals lists the constants of the main graph, by the names of their nodes, and those of all
// functions, by the name of the function before that.
func (r *reader) literals(prefix string, nodes []*tfpb.NodeDef) error {
	for _, def := range nodes {
		t := def.Attr["value"].GetTensor()
		if def.Op != "Const" || t == nil {
			continue
		}
		name := prefix + def.Name
		c, err := r.constant(t, name)
		if err == nil {
			err = r.Spend(protofile.ValueBytes + len(name))
		}
		if err != nil {
			return &model.Error{At: tensorNamed(name), Err: err}
		}
		r.top.Constants = append(r.top.Constants, &model.Value{Name: name, Spec: c.Spec, Constant: c})
	}
	if prefix != "" {
		return nil
	}
	for _, function := range slices.Sorted(maps.Keys(r.functions)) {
		if err := r.literals(function+"/", r.functions[function].NodeDef); err != nil {
			return err
		}
	}
	return nil
}

// A named is a result.
type named struct {
	name string
	ref  ref
}

// bySignature reads the nodes of the main graph that the results of a signature need.
func (r *reader) bySignature(p *tfpb.SignatureDef, nodes []*tfpb.NodeDef) ([]named, error) {
	at := func(part, key string, err error) error {
		return &model.Error{At: fmt.Sprintf("signature_def: %s %.200q", part, key), Err: err}
	}
	for _, key := range slices.Sorted(maps.Keys(p.Inputs)) {
		info := p.Inputs[key]
		to, err := r.main.lookup(info.GetName())
		if err != nil {
			return nil, at("input", key, err)
		}
		spec, dims, err := r.specOf(info.GetDtype(), info.GetTensorShape())
		if err != nil {
			return nil, at("input", key, err)
		}
		if v := r.resolved[to]; v != nil {
			v.Aliases = append(v.Aliases, key)
			continue
		}
		v := &model.Value{Name: key, Spec: spec, DimNames: dims}
		if name := to.node.name(); name != key {
			v.Aliases = []string{name}
		}
		r.resolved[to] = v
		r.top.Inputs = append(r.top.Inputs, v)
	}
	var results []named
	ends := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(p.Outputs)) {
		to, err := r.main.lookup(p.Outputs[key].GetName())
		if err != nil {
			return nil, at("output", key, err)
		}
		results = append(results, named{key, to})
		ends[to.node.def.Name] = true
	}
	return results, r.main.expand(r.needed(nodes, ends))
}

// needed lists the nodes of the main graph that some need, those that they wait for included,
// but what inputs stand for.
func (r *reader) needed(nodes []*tfpb.NodeDef, ends map[string]bool) []*tfpb.NodeDef {
	todo := slices.Sorted(maps.Keys(ends))
	seen := maps.Clone(ends)
	for len(todo) > 0 {
		n := r.main.nodes[todo[len(todo)-1]]
		todo = todo[:len(todo)-1]
		if n == nil || r.resolved[ref{node: n}] != nil {
			continue
		}
		for _, input := range n.def.Input {
			name, _, _ := strings.Cut(strings.TrimPrefix(input, "^"), ":")
			if !seen[name] {
				seen[name] = true
				todo = append(todo, name)
			}
		}
	}
	var list []*tfpb.NodeDef
	for _, def := range nodes {
		if seen[def.Name] && r.resolved[ref{node: r.main.nodes[def.Name]}] == nil {
			list = append(list, def)
		}
	}
	return list
}

// byFunction reads a function: its arguments that are bound to no object are the inputs.
func (r *reader) byFunction(function string) ([]named, error) {
	f := r.functions[function]
	list := f.GetSignature().GetInputArg()
	args := make([]*ref, len(list))
	var bound []int32
	if r.objects != nil {
		bound = r.objects.bound[function]
	}
	if len(bound) > len(list) {
		return nil, fmt.Errorf("function %.200q is bound to %d objects, and takes %d inputs: the file is corrupt; get it again", function, len(bound), len(list))
	}
	for i, a := range list {
		at := &node{scope: r.main}
		args[i] = &ref{node: at}
		if k := i - (len(list) - len(bound)); k >= 0 {
			to, err := r.object(bound[k])
			if err != nil {
				return nil, err
			}
			if to != nil {
				args[i] = to
				continue
			}
		}
		spec, dims, err := r.spec(a.Type, f.ArgAttr[uint32(i)].GetAttr()[outputShapes], 0)
		if err != nil {
			return nil, err
		}
		if err := r.Spend(protofile.ValueBytes + len(a.Name)); err != nil {
			return nil, err
		}
		at.value = &model.Value{Name: a.Name, Spec: spec, DimNames: dims}
		r.top.Inputs = append(r.top.Inputs, at.value)
	}
	s, err := r.main.enter(function, fmt.Sprintf("function %.200s", function), "", r.top, args)
	if err != nil {
		return nil, err
	}
	var results []named
	for k, a := range f.Signature.OutputArg {
		to, err := s.result(k)
		if err != nil {
			return nil, err
		}
		results = append(results, named{a.Name, to})
	}
	return results, nil
}

// object finds what is bound to an argument: a variable, or a constant of the main graph; nil
// for any other object, such as a table, which is an input then.
func (r *reader) object(id int32) (*ref, error) {
	o := r.objects.nodes[id]
	switch {
	case o.GetVariable() != nil:
		v, err := r.variableOfObject(id)
		if err != nil {
			return nil, err
		}
		return &ref{node: &node{scope: r.main, value: v}}, nil
	case o.GetConstant() != nil:
		n := r.main.nodes[o.GetConstant().Operation]
		if n == nil {
			return nil, fmt.Errorf("object_graph_def.nodes[%d]: its constant is node %.200q, which the graph does not have; get the file again", id, o.GetConstant().Operation)
		}
		if n.value == nil && n.model == nil {
			if err := r.main.expand([]*tfpb.NodeDef{n.def}); err != nil {
				return nil, err
			}
		}
		return &ref{node: n}, nil
	}
	return nil, nil
}

// whole reads a graph without signatures: its placeholders are the inputs, and what no other
// node reads are the results, but what a Saver adds.
func (r *reader) whole(nodes []*tfpb.NodeDef) ([]named, error) {
	used := make(map[string]bool, len(nodes))
	for _, def := range nodes {
		for _, input := range def.Input {
			name, _, _ := strings.Cut(strings.TrimPrefix(input, "^"), ":")
			used[name] = true
		}
	}
	saves := afterSaving(nodes)
	var results []named
	ends := map[string]bool{}
	for _, def := range nodes {
		n := r.main.nodes[def.Name]
		if def.Op == "Placeholder" {
			spec, dims, err := r.specOf(def.Attr["dtype"].GetType(), def.Attr["shape"].GetShape())
			if err != nil {
				return nil, &model.Error{At: n.place(), Err: err}
			}
			if err := r.Spend(protofile.ValueBytes + len(def.Name)); err != nil {
				return nil, err
			}
			v := &model.Value{Name: def.Name, Spec: spec, DimNames: dims}
			r.resolved[ref{node: n}] = v
			r.top.Inputs = append(r.top.Inputs, v)
			continue
		}
		if used[def.Name] || saves[def.Name] || silent[def.Op] || asks[def.Op] || variables[def.Op] || assigns(def.Op) {
			continue
		}
		if op := n.definition(); op != nil && len(op.OutputArg) == 0 {
			continue
		}
		results = append(results, named{def.Name, ref{node: n}})
		ends[def.Name] = true
	}
	return results, r.main.expand(r.needed(nodes, ends))
}

// saving are the operators that write a checkpoint.
var saving = map[string]bool{"Save": true, "SaveSlices": true, "SaveV2": true, "MergeV2Checkpoints": true}

// afterSaving gives the nodes that write a checkpoint, and those that read such a node or wait for
// it. A tf.compat.v1.train.Saver ends in one of these: the Identity of the file's name that saver_def
// calls save_tensor_name. The operators find it also where a graph has several Savers, of which
// saver_def describes one, and in a GraphDef, which has no saver_def.
func afterSaving(nodes []*tfpb.NodeDef) map[string]bool {
	after := map[string]bool{}
	var todo []string
	readers := map[string][]string{}
	for _, def := range nodes {
		if saving[def.Op] {
			after[def.Name] = true
			todo = append(todo, def.Name)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	for _, def := range nodes {
		for _, input := range def.Input {
			name, _, _ := strings.Cut(strings.TrimPrefix(input, "^"), ":")
			readers[name] = append(readers[name], def.Name)
		}
	}
	for len(todo) > 0 {
		name := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, reader := range readers[name] {
			if !after[reader] {
				after[reader] = true
				todo = append(todo, reader)
			}
		}
	}
	return after
}
