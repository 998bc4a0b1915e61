package model

import "strings"

// Sort puts nodes in an order in which each comes after those whose values it
// reads, itself or in its sub-graphs, and otherwise leaves them as they are. The
// Froms of their values must be set. Where values go in a circle there is no
// such order: an *Error whose At is that of a node in it, without a Path.
//
// It takes time and memory in proportion to the nodes and what they read.
func Sort(nodes []*Node) ([]*Node, error) {
	at := make(map[*Node]int, len(nodes))
	for i, n := range nodes {
		at[n] = i
	}
	const (
		untouched = iota
		open      // on the way
		done
	)
	state := make([]byte, len(nodes))
	sorted := make([]*Node, 0, len(nodes))
	// The way from a node to what it reads, as a list: a chain of a million nodes
	// is no reason for a million calls.
	type step struct {
		node  int
		needs []int
	}
	var way []step
	enter := func(i int) {
		state[i] = open
		way = append(way, step{i, needs(nodes[i], at)})
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
					circle = append(circle, quote(nodes[way[k].node].Name))
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

// needs are the nodes whose values n reads, as far as at has them.
func needs(n *Node, at map[*Node]int) []int {
	var list []int
	read := func(v *Value) {
		if v != nil && v.From != nil {
			if i, ok := at[v.From]; ok {
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
