package ir

import (
	"fmt"
	"slices"
	"strings"
)

// A link says where the value of an input comes from.
type link struct {
	layer, port int // index of the layer in the net and of its output; layer is -1 without an edge
	edge        place
}

// links has the edges of a net by layer and input port, and a topological order of
// the layers: the order of the file where that is topological.
type links struct {
	from  [][]link
	order []int
	live  []bool // by layer: whether a result needs it
}

// link finds both ends of every edge. It refuses missing layers and ports, two
// edges into one port, cycles, and an input without an edge of a layer that a
// result needs.
func (p *parser) link(n *net) (*links, error) {
	k := &links{from: make([][]link, len(n.layers))}
	ids := make(map[uint64]int, len(n.layers))
	inputs, outputs := make(map[portID]int), make(map[portID]int)
	for i := range n.layers {
		l := &n.layers[i]
		ids[l.id] = i
		k.from[i] = make([]link, len(l.inputs))
		for j, o := range l.inputs {
			k.from[i][j].layer = -1
			inputs[portID{i, o.id}] = j
		}
		for j, o := range l.outputs {
			outputs[portID{i, o.id}] = j
		}
	}
	for _, e := range n.edges {
		from, ok := ids[e.fromLayer]
		if !ok {
			return nil, p.errorf(e.place, nil, nil, "an edge comes from layer %d, which is not there; correct from-layer, or take the edge out", e.fromLayer)
		}
		to, ok := ids[e.toLayer]
		if !ok {
			return nil, p.errorf(e.place, nil, nil, "an edge leads to layer %d, which is not there; correct to-layer, or take the edge out", e.toLayer)
		}
		source, sink := &n.layers[from], &n.layers[to]
		out, ok := outputs[portID{from, e.fromPort}]
		if !ok {
			return nil, p.errorf(e.place, nil, nil, "an edge comes from output port %d of %s, which has %s; correct from-port", e.fromPort, source, portNames(source.outputs))
		}
		in, ok := inputs[portID{to, e.toPort}]
		if !ok {
			return nil, p.errorf(e.place, nil, nil, "an edge leads to input port %d of %s, which has %s; correct to-port", e.toPort, sink, portNames(sink.inputs))
		}
		if at := &k.from[to][in]; at.layer >= 0 {
			return nil, p.errorf(e.place, nil, nil, "a second edge leads to input port %d of %s, beside that of line %d; take one out", e.toPort, sink, at.edge.line)
		}
		k.from[to][in] = link{from, out, e.place}
	}
	k.needed(n)
	for i, live := range k.live {
		if in := slices.IndexFunc(k.from[i], func(l link) bool { return l.layer < 0 }); live && in >= 0 {
			l := &n.layers[i]
			return nil, p.errorf(l.inputs[in].place, l, nil, "no edge leads to its input port %d; write one, or take the port out", l.inputs[in].id)
		}
	}
	return k, p.sort(n, k)
}

// portID names a port of a layer by the id that edges use.
type portID struct {
	layer int
	id    uint64
}

func portNames(ports []port) string {
	if len(ports) == 0 {
		return "none"
	}
	var list []string
	for _, o := range ports[:min(len(ports), 8)] {
		list = append(list, fmt.Sprint(o.id))
	}
	if len(ports) > 8 {
		list = append(list, "…")
	}
	return strings.Join(list, ", ")
}

// needed marks the layers that a result or the assignment of a variable needs.
func (k *links) needed(n *net) {
	k.live = make([]bool, len(n.layers))
	var todo []int
	for i := range n.layers {
		if kind := kindOf(&n.layers[i]); kind == "Result" || kind == "Assign" {
			k.live[i] = true
			todo = append(todo, i)
		}
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, l := range k.from[i] {
			if l.layer >= 0 && !k.live[l.layer] {
				k.live[l.layer] = true
				todo = append(todo, l.layer)
			}
		}
	}
}

// sort orders the layers topologically.
func (p *parser) sort(n *net, k *links) error {
	const (
		unseen = iota
		open   // on the path
		done
	)
	state := make([]uint8, len(n.layers))
	next := make([]int, len(n.layers)) // by layer: the input to follow next
	var path []int
	for first := range n.layers {
		if state[first] != unseen {
			continue
		}
		path = append(path[:0], first)
		state[first] = open
		for len(path) > 0 {
			i := path[len(path)-1]
			if next[i] == len(k.from[i]) {
				state[i] = done
				k.order = append(k.order, i)
				path = path[:len(path)-1]
				continue
			}
			from := k.from[i][next[i]]
			next[i]++
			switch {
			case from.layer < 0 || state[from.layer] == done:
			case state[from.layer] == open:
				return p.cycle(n, path[slices.Index(path, from.layer):], from.edge)
			default:
				state[from.layer] = open
				path = append(path, from.layer)
			}
		}
	}
	return nil
}

// cycle makes the error for a cycle: each layer needs the next, and the last needs
// the first.
func (p *parser) cycle(n *net, layers []int, edge place) error {
	if len(layers) == 1 {
		return p.errorf(edge, nil, nil, "the edge leads from %s to itself; take it out", &n.layers[layers[0]])
	}
	var names []string
	for _, i := range layers[:min(len(layers), 6)] {
		names = append(names, clip(n.layers[i].name))
	}
	if len(layers) > 6 {
		names = append(names, fmt.Sprintf("%d more", len(layers)-6))
	}
	return p.errorf(edge, nil, nil, "the edge closes a cycle: %s needs %s; take one of its edges out", &n.layers[layers[0]], strings.Join(append(names[1:], names[0]), ", which needs "))
}
