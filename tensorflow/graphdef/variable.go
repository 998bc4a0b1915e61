package graphdef

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/protofile"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/tensorflow/graphdef/internal/bundle"
	"github.com/garner-go/garner/tensorflow/graphdef/internal/tfpb"
)

// A variable is one that nodes of the model read.
type variable struct {
	value    *model.Value
	resource bool // and not a reference, which any operator reads
	changed  bool // by a node
}

// changes reports whether an operator that has the variable as an input may change it.
func (x *variable) changes(op string) bool {
	if x.resource {
		return !reading[op]
	}
	return assigns(op)
}

// assigns reports whether an operator changes a variable that is a reference.
func assigns(op string) bool {
	for _, prefix := range []string{"Assign", "Scatter", "Apply", "SparseApply", "ResourceApply", "ResourceSparseApply", "ResourceScatter", "CountUpTo", "Restore"} {
		if strings.HasPrefix(op, prefix) && op != "ScatterNd" {
			return true
		}
	}
	return false
}

// hold makes a variable of a constant of the checkpoint, or of a spec where there is none.
func (r *reader) hold(name string, spec garner.Spec, c *model.Constant, resource bool, aliases ...string) *model.Value {
	v := &model.Value{Name: name, Spec: spec, Constant: c, Aliases: aliases}
	r.variables[v] = &variable{value: v, resource: resource}
	return v
}

// ofKey gives the variable of a key, once.
func (r *reader) ofKey(key string, resource bool) (*model.Value, error) {
	if x := r.byKey[key]; x != nil {
		return x.value, nil
	}
	e := r.checkpoint.index.Find(key)
	if e == nil {
		return nil, r.noTensor(key)
	}
	c, err := r.stored(e)
	if err != nil {
		return nil, err
	}
	if err := r.Spend(protofile.ValueBytes + 2*len(key)); err != nil {
		return nil, err
	}
	v := r.hold(key, c.Spec, c, resource, r.aliases(key)...)
	r.byKey[key] = r.variables[v]
	return v, nil
}

// noTensor is the error of a variable whose tensor the checkpoint lacks.
func (r *reader) noTensor(key string) error {
	return fmt.Errorf("its elements are tensor %.200q of %s, which has no such tensor: the model and the checkpoint do not belong together", key, r.checkpoint.path)
}

// lost gives a variable that the checkpoint lacks, once: a constant of which every read is err.
// It is for whoever asked for the constants alone, of which the others can be read.
func (r *reader) lost(key, name string, spec garner.Spec, resource bool, err error) (*model.Value, error) {
	if x := r.byKey[key]; x != nil {
		return x.value, nil
	}
	if err := r.Spend(protofile.ConstantBytes + protofile.ValueBytes + 2*len(name)); err != nil {
		return nil, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		err = garner.Errorf(fs.ErrNotExist, "%v", err)
	}
	v := r.hold(name, spec, model.NewUnread(name, spec, atConstant(r.checkpoint.path, name, err)), resource, r.aliases(key)...)
	r.byKey[key] = r.variables[v]
	return v, nil
}

// errNoVariables is the error of a variable of a folder that has no checkpoint.
func errNoVariables() error {
	return garner.Errorf(fs.ErrNotExist, "its elements are in a checkpoint, variables/variables.index, and there is no such file; get the whole folder")
}

// listLost lists the variables of the model's objects that the checkpoint lacks, and
// refuses a model with variables that has none.
func (r *reader) listLost() error {
	if r.objects == nil || !r.objects.stored && (r.checkpoint != nil || r.path == "") {
		return nil
	}
	for id, n := range r.objects.nodes {
		if n.GetVariable() == nil {
			continue
		}
		if r.checkpoint == nil { // all of them
			_, err := r.variableOfObject(int32(id))
			return err
		}
		if key, ok := r.objects.keys[int32(id)]; ok && r.checkpoint.index.Find(key) != nil {
			continue
		}
		v, err := r.variableOfObject(int32(id))
		if err != nil {
			return err
		}
		r.top.Constants = append(r.top.Constants, v)
	}
	return nil
}

// variableOfObject gives the variable that an object is.
func (r *reader) variableOfObject(id int32) (*model.Value, error) {
	p := r.objects.nodes[id].GetVariable()
	fail := func(err error) (*model.Value, error) {
		return nil, &model.Error{At: fmt.Sprintf("object_graph_def.nodes[%d], variable %.200q", id, p.Name), Err: err}
	}
	spec, _, err := r.specOf(p.Dtype, p.Shape)
	if err != nil {
		return fail(err)
	}
	if r.path == "" { // in memory, without its checkpoint
		key := fmt.Sprintf("object %d", id)
		if x := r.byKey[key]; x != nil {
			return x.value, nil
		}
		if err := r.Spend(protofile.ValueBytes + len(p.Name)); err != nil {
			return fail(err)
		}
		v := r.hold(p.Name, spec, nil, true)
		r.byKey[key] = r.variables[v]
		return v, nil
	}
	if r.checkpoint == nil {
		return fail(errNoVariables())
	}
	key, ok := r.objects.keys[id]
	if !ok {
		err := fmt.Errorf("the checkpoint %s does not have it; save the model again", r.checkpoint.path)
		if r.constants {
			return r.lost(fmt.Sprintf("object %d", id), p.Name, spec, true, err)
		}
		return fail(err)
	}
	if r.constants && r.checkpoint.index.Find(key) == nil {
		return r.lost(key, key, spec, true, r.noTensor(key))
	}
	v, err := r.ofKey(key, true)
	if err != nil {
		return fail(err)
	}
	if !fits(spec, v.Spec) {
		return fail(fmt.Errorf("it is %s in the model and %s in the checkpoint, as tensor %.200q: they do not belong together", spec, v.Spec, key))
	}
	return v, nil
}

// fits reports whether a tensor is of the type and the shape that are declared.
func fits(declared, is garner.Spec) bool {
	if declared.DType != is.DType || !declared.Rank.Known() {
		return declared.DType == is.DType
	}
	if len(declared.Dims) != len(is.Dims) {
		return false
	}
	for i, d := range declared.Dims {
		if is.Dims[i].Min < d.Min || is.Dims[i].Max > d.Max {
			return false
		}
	}
	return true
}

// variableOf gives the variable of a node of the main graph that holds one: what the graph
// itself would restore into it, or else the tensor of its name.
func (r *reader) variableOf(n *node) (*model.Value, error) {
	resource := n.def.Op == "VarHandleOp"
	name := n.def.Name
	if shared := string(n.def.Attr["shared_name"].GetS()); shared != "" {
		name = shared
	}
	is, ok := r.restores[n.def.Name]
	if !ok {
		is = restored{key: name}
	}
	spec, _, err := r.spec(n.def.Attr["dtype"].GetType(), n.def.Attr["shape"], 0)
	if err != nil {
		return nil, err
	}
	if r.constants && r.checkpoint.index.Find(is.key) == nil {
		return r.lost(n.name(), n.name(), spec, resource, r.noTensor(is.key))
	}
	var v *model.Value
	if is.slice == nil {
		v, err = r.ofKey(is.key, resource)
	} else {
		v, err = r.ofSlice(n, is, resource)
	}
	if r.constants && errors.Is(err, fs.ErrNotExist) { // a file of its slices
		return r.lost(n.name(), n.name(), spec, resource, err)
	}
	if err != nil {
		return nil, err
	}
	if !fits(spec, v.Spec) {
		return nil, fmt.Errorf("it is %s in the graph and %s in the checkpoint, as tensor %.200q: they do not belong together", spec, v.Spec, is.key)
	}
	return v, nil
}

// ofSlice gives a variable that is a slice of a tensor.
func (r *reader) ofSlice(n *node, is restored, resource bool) (*model.Value, error) {
	e := r.checkpoint.index.Find(is.key)
	if e == nil {
		return nil, fmt.Errorf("its elements are a slice of tensor %.200q of %s, which has no such tensor: the model and the checkpoint do not belong together", is.key, r.checkpoint.path)
	}
	if !slices.Equal(e.Shape, is.whole) {
		return nil, fmt.Errorf("its elements are a slice of tensor %.200q of dims %v, which has %v in the checkpoint: they do not belong together", is.key, is.whole, e.Shape)
	}
	c, err := r.part(e, *is.slice, n.name())
	if err != nil {
		return nil, err
	}
	if err := r.Spend(protofile.ValueBytes); err != nil {
		return nil, err
	}
	c.Whole = is.key
	v := r.hold(n.name(), c.Spec, c, resource)
	r.top.Constants = append(r.top.Constants, &model.Value{Name: v.Name, Spec: c.Spec, Constant: c})
	return v, nil
}

// A restored is a tensor of the checkpoint, or a slice of one, that the graph restores into
// a variable.
type restored struct {
	key   string
	whole []int64 // the dims of the tensor; nil without a slice
	slice *bundle.Slice
}

// readRestores finds what the graph restores into the variables of a model of TensorFlow 1:
// the nodes that assign what RestoreV2 reads, among those that the restoring node needs.
func (r *reader) readRestores(op string) error {
	if op == "" || r.checkpoint == nil || r.objects != nil {
		return nil
	}
	r.restores = map[string]restored{}
	var defs []*tfpb.NodeDef
	todo, seen := []string{op}, map[string]bool{op: true}
	for len(todo) > 0 {
		n := r.main.nodes[todo[len(todo)-1]]
		todo = todo[:len(todo)-1]
		if n == nil {
			continue
		}
		defs = append(defs, n.def)
		for _, input := range n.def.Input {
			name, _, _ := strings.Cut(strings.TrimPrefix(input, "^"), ":")
			if !seen[name] {
				seen[name] = true
				todo = append(todo, name)
			}
		}
	}
	lists, passed := map[*node][]string{}, passes{} // the strings of constants, each read once
	for _, def := range defs {
		if (def.Op != "Assign" && def.Op != "AssignVariableOp") || len(def.Input) < 2 {
			continue
		}
		to, err := r.main.lookup(def.Input[0])
		if err != nil {
			return &model.Error{At: r.main.nodes[def.Name].place(), Err: err}
		}
		from, err := r.main.lookup(def.Input[1])
		if err == nil {
			from, err = passed.origin(from)
		}
		if err != nil {
			return &model.Error{At: r.main.nodes[def.Name].place(), Err: err}
		}
		if from.node.def.Op != "RestoreV2" {
			continue
		}
		var both [2][]string // names of tensors, and their slices
		for i := range both {
			if both[i], err = r.texts(from.node, 1+i, lists); err != nil {
				return &model.Error{At: from.node.place(), Err: err}
			}
		}
		if from.output >= len(both[0]) || len(both[0]) != len(both[1]) {
			return &model.Error{At: from.node.place(), Err: fmt.Errorf("it reads %d tensors in %d slices, and output %d of it is assigned: the file is corrupt; get it again", len(both[0]), len(both[1]), from.output)}
		}
		is, err := parseSlice(both[0][from.output], both[1][from.output])
		if err != nil {
			return &model.Error{At: from.node.place(), Err: err}
		}
		r.restores[to.node.def.Name] = is
	}
	return nil
}

// texts reads the strings that are the i-th input of a node, a constant. had are those of the
// constants that were read before.
func (r *reader) texts(n *node, i int, had map[*node][]string) ([]string, error) {
	if i >= len(n.def.Input) {
		return nil, fmt.Errorf("it has no input %d: the file is corrupt; get it again", i)
	}
	from, err := r.main.lookup(n.def.Input[i])
	if err != nil {
		return nil, err
	}
	if list, ok := had[from.node]; ok {
		return list, nil
	}
	t := from.node.def.Attr["value"].GetTensor()
	if from.node.def.Op != "Const" || t == nil || t.Dtype != tfpb.DataType_DT_STRING {
		return nil, fmt.Errorf("its input %d is no constant of strings, so that what it restores is not known", i)
	}
	c, err := r.constant(t, from.node.name())
	if err != nil {
		return nil, err
	}
	if shape, _ := c.Spec.Shape(); len(shape) != 1 || int64(shape[0]) > r.Structure {
		return nil, fmt.Errorf("its input %d is %s; it must be a list of strings", i, c.Spec)
	} else if err := r.Spend(textBytes * shape[0]); err != nil {
		return nil, err
	}
	made, err := c.Tensor()
	if err != nil {
		return nil, err
	}
	list, err := garner.Values[string](made)
	had[from.node] = list
	return list, err
}

// textBytes is what a string takes in a tensor and in a list, beside its own bytes.
const textBytes = 32

// parseSlice reads how TensorFlow 1 names a slice of a tensor: "7 2 0,3:-" is 3 rows from 0
// on of a tensor of 7 rows of 2. "" is the whole.
func parseSlice(key, text string) (restored, error) {
	if text == "" {
		return restored{key: key}, nil
	}
	bad := fmt.Errorf("%.200q is no slice of a tensor, such as \"7 2 0,3:-\": the file is corrupt; get it again", text)
	words := strings.Split(text, " ")
	axes := strings.Split(words[len(words)-1], ":")
	if len(axes) != len(words)-1 {
		return restored{}, bad
	}
	is := restored{key: key, slice: &bundle.Slice{}}
	for i, axis := range axes {
		d, err := strconv.ParseInt(words[i], 10, 64)
		if err != nil || d < 0 || d > math.MaxInt {
			return restored{}, bad
		}
		is.whole = append(is.whole, d)
		start, length := int64(0), int64(bundle.Whole)
		if axis != "-" {
			a, b, ok := strings.Cut(axis, ",")
			from, err := strconv.ParseInt(a, 10, 64)
			n, also := strconv.ParseInt(b, 10, 64)
			if !ok || err != nil || also != nil || from < 0 || n < 0 || from > d || n > d-from {
				return restored{}, bad
			}
			start, length = from, n
		}
		is.slice.Start, is.slice.Length = append(is.slice.Start, start), append(is.slice.Length, length)
	}
	return is, nil
}

// unbind makes the variables that a node changes no constants: each is what a node of the
// graph makes, which garner does not run.
func (r *reader) unbind() {
	all := slices.SortedFunc(maps.Values(r.variables), func(a, b *variable) int { return strings.Compare(a.value.Name, b.value.Name) })
	var made []*model.Node
	for _, x := range all {
		if !x.changed || x.value.From != nil {
			continue
		}
		op := "VariableV2"
		if x.resource {
			op = "VarHandleOp"
		}
		n := &model.Node{Name: x.value.Name, At: "graph_def", Op: op, Outputs: []*model.Value{x.value}}
		x.value.From, x.value.Constant = n, nil
		made = append(made, n)
	}
	r.top.Nodes = append(made, r.top.Nodes...)
}
