package model

import (
	"strings"

	"github.com/garner-go/garner/internal/names"
)

// Sort sorts nodes topologically: each node comes after the nodes whose values it
// reads, itself or in its sub-graphs. Nodes that do not depend on each other keep
// their order as far as that allows. The From of every value must be set. A cycle
// is an *Error at one of its nodes, without a Path.
//
// Sort takes time and memory linear in the number of nodes and inputs.
func Sort(nodes []*Node) ([]*Node, error) {
	at := make(map[*Node]int, len(nodes))
	for i, n := range nodes {
		at[n] = i
	}
	const (
		untouched = iota
		open      // on the path
		done
	)
	state := make([]byte, len(nodes))
	listed := make([]*Node, len(nodes)) // by node: the last one whose needs it is among
	sorted := make([]*Node, 0, len(nodes))
	// An explicit stack: recursion would be as deep as the longest chain of nodes.
	type step struct {
		node  int
		needs []int
	}
	var way []step
	enter := func(i int) {
		state[i] = open
		way = append(way, step{i, needs(nodes[i], at, listed)})
	}
	for i := range nodes {
		if state[i] != untouched {
			continue
		}
		enter(i)
		for len(way) > 0 {
			last := &way[len(way)-1]
			if len(last.needs) == 0 {
				state[last.node] = done
				sorted = append(sorted, nodes[last.node])
				way = way[:len(way)-1]
				continue
			}
			next := last.needs[0]
			last.needs = last.needs[1:]
			switch state[next] {
			case untouched:
				enter(next)
			case open:
				var circle []string
				for k := len(way) - 1; k >= 0; k-- {
					circle = append(circle, names.Quote(nodes[way[k].node].Name))
					if way[k].node == next {
						break
					}
				}
				const most = 8
				more := ""
				if len(circle) > most {
					circle, more = circle[:most], " …"
				}
				n := nodes[next]
				return nil, Errorf(n, "its input is made of its own output: %s%s read each other in a circle; remove one of the edges", strings.Join(circle, ", "), more)
			}
		}
	}
	return sorted, nil
}

// needs lists the nodes in at whose values n reads, each once. listed[i] is n for
// those.
func needs(n *Node, at map[*Node]int, listed []*Node) []int {
	var list []int
	read := func(v *Value) {
		if v != nil && v.From != nil {
			if i, ok := at[v.From]; ok && listed[i] != n {
				listed[i] = n
				list = append(list, i)
			}
		}
	}
	for _, v := range n.Inputs {
		read(v)
	}
	var inside func(g *Graph)
	inside = func(g *Graph) {
		for _, n := range g.Nodes {
			for _, v := range n.Inputs {
				read(v)
			}
			for _, s := range n.Graphs {
				inside(s.Graph)
			}
		}
		for _, r := range g.Outputs {
			read(r.Value)
		}
	}
	for _, s := range n.Graphs {
		inside(s.Graph)
	}
	return list
}
