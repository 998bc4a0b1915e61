package graphdef

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/tensorflow/graphdef/internal/tfpb"
)

// objects are those of a SavedModel of TensorFlow 2, by their numbers.
type objects struct {
	nodes []*tfpb.SavedObject
	bound map[string][]int32 // the objects that the last arguments of a function are
	keys  map[int32]string   // of variables in the checkpoint
}

// variableValue is the name of the attribute of an object that is the variable's elements.
const variableValue = "VARIABLE_VALUE"

// readObjects reads the objects, and finds the variables among them in the checkpoint: as
// TensorFlow does, by the names of the edges from the root on, in both graphs of objects.
func (r *reader) readObjects(p *tfpb.SavedObjectGraph) error {
	if len(p.GetNodes()) == 0 {
		return nil
	}
	o := &objects{p.Nodes, map[string][]int32{}, map[int32]string{}}
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
	saved, err := r.savedObjects()
	if err != nil {
		return err
	}
	type pair struct{ saved, stored int32 }
	stored := map[int32]int32{0: 0}
	todo := []pair{{0, 0}}
	for len(todo) > 0 && len(saved.Nodes) > 0 {
		at := todo[0]
		todo = todo[1:]
		there := map[string]int32{}
		for _, child := range saved.Nodes[at.stored].Children {
			there[child.LocalName] = child.NodeId
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

// methods lists the functions that objects have, by the path of names from the root,
// breadth first; deep includes those of inner objects.
func (o *objects) methods(deep bool) (paths []string, functions [][]string) {
	if o == nil {
		return nil, nil
	}
	type at struct {
		id   int32
		path string
	}
	seen := map[int32]bool{0: true}
	todo := []at{{0, ""}}
	bytes := 0
	for len(todo) > 0 {
		here := todo[0]
		todo = todo[1:]
		for _, child := range o.nodes[here.id].Children {
			if seen[child.NodeId] || here.id == 0 && child.LocalName == "signatures" {
				continue
			}
			seen[child.NodeId] = true
			path := strings.TrimPrefix(here.path+"."+child.LocalName, ".")
			if list := callable(o.nodes[child.NodeId]); len(list) > 0 {
				paths, functions = append(paths, path), append(functions, list)
			} else if bytes += len(path); deep && bytes < 1<<20 { // a chain of objects has long paths
				todo = append(todo, at{child.NodeId, path})
			}
		}
	}
	return paths, functions
}

// method finds the function of a path of names; false where there is none.
func (r *reader) method(path string) (function string, ok bool, err error) {
	paths, functions := r.objects.methods(true)
	i := slices.Index(paths, path)
	if i < 0 {
		return "", false, nil
	}
	if list := functions[i]; len(list) > 1 {
		return "", true, errorf("%s is %d functions for inputs of several kinds: %.1000s; name one of them", path, len(list), strings.Join(list[:min(len(list), 8)], ", "))
	}
	if r.functions[functions[i][0]] == nil {
		return "", true, errors.New("object_graph_def: function " + path + " is not in the library: the file is corrupt; get it again")
	}
	return functions[i][0], true, nil
}
