package graphdef

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/protofile"
	"github.com/garner-go/garner/tensorflow/graphdef/internal/tfpb"
)

// objects are those of a SavedModel of TensorFlow 2, by their numbers.
type objects struct {
	nodes []*tfpb.SavedObject
	bound map[string][]int32 // the objects that the last arguments of a function are
	keys  map[int32]string   // of variables in the checkpoint

	stored bool // the checkpoint has objects, too
}

// variableValue is the name of the attribute of an object that is the variable's elements.
const variableValue = "VARIABLE_VALUE"

// readObjects reads the objects, and finds the variables among them in the checkpoint: as
// TensorFlow does, by the names of the edges from the root on, in both graphs of objects.
func (r *reader) readObjects(p *tfpb.SavedObjectGraph) error {
	if len(p.GetNodes()) == 0 {
		return nil
	}
	o := &objects{nodes: p.Nodes, bound: map[string][]int32{}, keys: map[int32]string{}}
	for name, f := range p.ConcreteFunctions {
		for _, id := range f.BoundInputs {
			if id < 0 || int(id) >= len(o.nodes) {
				return fmt.Errorf("object_graph_def: function %.200q is bound to object %d, and there are %d: the file is corrupt; get it again", name, id, len(o.nodes))
			}
		}
		o.bound[name] = f.BoundInputs
	}
	for i, n := range o.nodes {
		for _, child := range n.Children {
			if child.NodeId < 0 || int(child.NodeId) >= len(o.nodes) {
				return fmt.Errorf("object_graph_def.nodes[%d]: its child %.200q is object %d, and there are %d: the file is corrupt; get it again", i, child.LocalName, child.NodeId, len(o.nodes))
			}
		}
	}
	r.objects = o
	if r.checkpoint == nil {
		return nil
	}
	e := r.checkpoint.index.Find(objectGraph)
	if e == nil {
		return nil // of variables of TensorFlow 1
	}
	o.stored = true
	saved, err := r.savedObjects()
	if err != nil {
		return err
	}
	type pair struct{ saved, stored int32 }
	stored := map[int32]int32{0: 0}
	children := map[int32]map[string]int32{} // of an object of the checkpoint, by name: many objects may be that one
	todo := []pair{{0, 0}}
	for len(todo) > 0 && len(saved.Nodes) > 0 {
		at := todo[0]
		todo = todo[1:]
		there, ok := children[at.stored]
		if !ok {
			list := saved.Nodes[at.stored].Children
			if err := r.Spend(protofile.InputBytes * len(list)); err != nil {
				return err
			}
			there = make(map[string]int32, len(list))
			for _, child := range list {
				there[child.LocalName] = child.NodeId
			}
			children[at.stored] = there
		}
		for _, child := range o.nodes[at.saved].Children {
			to, ok := there[child.LocalName]
			if _, seen := stored[child.NodeId]; ok && !seen {
				stored[child.NodeId] = to
				todo = append(todo, pair{child.NodeId, to})
			}
		}
	}
	for id, n := range o.nodes {
		if n.GetVariable() == nil {
			continue
		}
		to, ok := stored[int32(id)]
		if !ok {
			to = int32(id) // no edge leads to it in the checkpoint; it is saved under its own number
		}
		if int(to) >= len(saved.Nodes) {
			continue
		}
		for _, a := range saved.Nodes[to].Attributes {
			if a.Name == variableValue {
				o.keys[int32(id)] = a.CheckpointKey
				r.names[a.CheckpointKey] = n.GetVariable().Name
			}
		}
	}
	return nil
}

// savedObjects reads the objects that the checkpoint has, and the names of their variables.
func (r *reader) savedObjects() (*tfpb.TrackableObjectGraph, error) {
	saved, err := r.objectsOfCheckpoint()
	if err != nil {
		return nil, r.checkpoint.inIndex(objectGraph, err)
	}
	for _, n := range saved.Nodes {
		for _, a := range n.Attributes {
			if a.Name == variableValue {
				r.names[a.CheckpointKey] = a.FullName
			}
		}
	}
	return saved, nil
}

func (r *reader) objectsOfCheckpoint() (*tfpb.TrackableObjectGraph, error) {
	c, err := r.stored(r.checkpoint.index.Find(objectGraph))
	if err != nil {
		return nil, err
	}
	t, err := c.Tensor()
	if err != nil {
		return nil, err
	}
	list, err := garner.Values[string](t)
	if err != nil || len(list) != 1 {
		return nil, fmt.Errorf("it is %s; it must be one string, the checkpoint's objects", c.Spec)
	}
	r.Structure += int64(len(list[0]))
	if err := r.Spend(40 * len(list[0])); err != nil {
		return nil, err
	}
	var saved tfpb.TrackableObjectGraph
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal([]byte(list[0]), &saved); err != nil {
		return nil, fmt.Errorf("it is no graph of objects: %w", err)
	}
	for i, n := range saved.Nodes {
		for _, child := range n.Children {
			if child.NodeId < 0 || int(child.NodeId) >= len(saved.Nodes) {
				return nil, fmt.Errorf("nodes[%d]: its child %.200q is object %d, and there are %d: the checkpoint is corrupt; get it again", i, child.LocalName, child.NodeId, len(saved.Nodes))
			}
		}
	}
	return &saved, nil
}

// callable lists the functions of an object: the concrete ones.
func callable(o *tfpb.SavedObject) []string {
	if f := o.GetFunction(); f != nil {
		return f.ConcreteFunctions
	}
	if f := o.GetBareConcreteFunction(); f != nil {
		return []string{f.ConcreteFunctionName}
	}
	return nil
}

// A method is an object with functions, or one on the way to others, by its place below the
// root. Its path is made where it is needed: 20,000 objects may stand below one of a long name.
type method struct {
	parent    *method // nil of the root and of what stands in it
	name      string
	id        int32
	size      int // bytes of the path
	functions []string
}

// path is the names from the root on: encoder.embed.
func (m *method) path() string {
	b := make([]byte, m.size)
	for end := m.size; m != nil; m = m.parent {
		end -= len(m.name)
		copy(b[end:], m.name)
		if m.parent != nil {
			end--
			b[end] = '.'
		}
	}
	return string(b)
}

// is reports whether the path of a method is the given one.
func (m *method) is(path string) bool {
	if m.size != len(path) {
		return false
	}
	for ; m.parent != nil; m = m.parent {
		var ok bool
		if path, ok = strings.CutSuffix(path, m.name); !ok {
			return false
		}
		if path, ok = strings.CutSuffix(path, "."); !ok {
			return false
		}
	}
	return path == m.name
}

// methods lists the functions that objects have, breadth first; deep includes those of inner
// objects.
func (o *objects) methods(deep bool) (list []*method) {
	if o == nil {
		return nil
	}
	seen := map[int32]bool{0: true}
	root := &method{}
	for todo := []*method{root}; len(todo) > 0; {
		here := todo[0]
		todo = todo[1:]
		for _, child := range o.nodes[here.id].Children {
			if seen[child.NodeId] || here.id == 0 && child.LocalName == "signatures" {
				continue
			}
			seen[child.NodeId] = true
			m := &method{name: child.LocalName, id: child.NodeId, size: len(child.LocalName), functions: callable(o.nodes[child.NodeId])}
			if here != root {
				m.parent, m.size = here, here.size+1+m.size
			}
			if len(m.functions) > 0 {
				list = append(list, m)
			} else if deep && m.size < mostPaths {
				todo = append(todo, m)
			}
		}
	}
	return list
}

// mostPaths is the most bytes of the paths that a message chooses from, and of one to an
// object whose inner objects are looked at.
const mostPaths = 1 << 20

// paths lists the paths of methods, up to mostPaths.
func paths(list []*method) (made []string) {
	size := 0
	for _, m := range list {
		if size += m.size; size > mostPaths {
			break
		}
		made = append(made, m.path())
	}
	return made
}

// method finds the function of a path of names; false where there is none.
func (r *reader) method(path string) (function string, ok bool, err error) {
	all := r.objects.methods(true)
	i := slices.IndexFunc(all, func(m *method) bool { return m.is(path) })
	if i < 0 {
		return "", false, nil
	}
	list := all[i].functions
	if len(list) > 1 {
		return "", true, errorf("%.200s is %d functions for inputs of several kinds: %.1000s; name one of them", path, len(list), strings.Join(list[:min(len(list), 8)], ", "))
	}
	if r.functions[list[0]] == nil {
		return "", true, fmt.Errorf("object_graph_def: function %.200s is not in the library: the file is corrupt; get it again", path)
	}
	return list[0], true, nil
}
