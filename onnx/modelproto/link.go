package modelproto

import "github.com/garner-go/garner/model"

// link gives the parameters of a node's sub-graphs, and the node's outputs, the
// values that they take: see model.Value.Takes. A node of another operator, or
// with other numbers of inputs and outputs than its operator has, keeps none.
func link(n *model.Node) {
	if n.Domain != "" || len(n.Graphs) == 0 {
		return
	}
	body := n.Graphs[0].Graph
	switch n.Op {
	case "If":
		for _, branch := range n.Graphs {
			for i, v := range n.Outputs {
				take(v, result(branch.Graph, i))
			}
		}
	case "Loop":
		// Inputs: how many turns, whether to begin, and the carried values. Parameters: the
		// turn, the condition, and the carried values. Results: the condition, the
		// carried values, and what the outputs collect.
		carried := len(n.Inputs) - 2
		if carried < 0 || len(body.Inputs) != len(n.Inputs) {
			return
		}
		body.Inputs[0].Turn = true
		take(body.Inputs[0], n.Inputs[0])
		take(body.Inputs[1], n.Inputs[1])
		take(body.Inputs[1], result(body, 0))
		for i := range carried {
			take(body.Inputs[2+i], n.Inputs[2+i])
			take(body.Inputs[2+i], result(body, 1+i))
		}
		for i, v := range n.Outputs {
			take(v, result(body, 1+i))
			if i < carried { // after no turn
				take(v, n.Inputs[2+i])
			}
		}
	case "Scan":
		inputs := n.Inputs
		if n.Version < 9 && len(inputs) > 0 {
			inputs = inputs[1:] // the first is the lengths of the sequences
		}
		scanned, _ := n.Attributes["num_scan_inputs"].(int64)
		states := int64(len(inputs)) - scanned
		if scanned < 0 || states < 0 || len(body.Inputs) != len(inputs) {
			return
		}
		for i, v := range inputs {
			take(body.Inputs[i], v)
			if int64(i) < states {
				take(body.Inputs[i], result(body, i))
			}
		}
		for i, v := range n.Outputs {
			take(v, result(body, i))
			if int64(i) < states {
				take(v, inputs[i])
			}
		}
	case "SequenceMap":
		if len(body.Inputs) != len(n.Inputs) {
			return
		}
		for i, v := range n.Inputs {
			take(body.Inputs[i], v)
		}
		for i, v := range n.Outputs {
			take(v, result(body, i))
		}
	}
}

// take adds a value that v takes; either may be nil.
func take(v, from *model.Value) {
	if v != nil && from != nil && from != v {
		v.Takes = append(v.Takes, from)
	}
}

// result returns the i-th result of a graph; nil where there is none.
func result(g *model.Graph, i int) *model.Value {
	if i >= len(g.Outputs) {
		return nil
	}
	return g.Outputs[i].Value
}
