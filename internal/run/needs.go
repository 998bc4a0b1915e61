package run

import (
	"fmt"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// An Unsupported is a node that a wanted value needs and that this package does
// not evaluate.
type Unsupported struct {
	Node    *model.Node
	Others  int      // how many more such nodes the wanted values need
	Results []string // names of the model's results that need no such node
	Gathers []string // names of the gathers that need no such node
}

func (e *Unsupported) Error() string {
	var b strings.Builder
	op := e.Node.Op
	if e.Node.Domain != "" {
		op = e.Node.Domain + "." + op
	}
	fmt.Fprintf(&b, "garner: garner does not run %.100s", op)
	if e.Others > 0 {
		fmt.Fprintf(&b, ", nor %d more of the nodes that are needed", e.Others)
	}
	b.WriteString("; it runs gathers and what stands around their indices. ")
	switch {
	case len(e.Results) > 0 && len(e.Gathers) > 0:
		fmt.Fprintf(&b, "These results run: %s; and these gathers: %s", some(e.Results), some(e.Gathers))
	case len(e.Results) > 0:
		fmt.Fprintf(&b, "These results run: %s", some(e.Results))
	case len(e.Gathers) > 0:
		fmt.Fprintf(&b, "No result runs, but these gathers do: %s", some(e.Gathers))
	default:
		b.WriteString("No result runs without it, and no gather")
	}
	return b.String()
}

// some lists the first names.
func some(names []string) string {
	const most = 8
	var b strings.Builder
	for i, name := range names[:min(len(names), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%.100q", name)
	}
	if more := len(names) - most; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String()
}

// Runs reports whether Values evaluates a node of the model.
func Runs(m *model.Model, n *model.Node) bool { return n.IsGather() || evaluatorOf(m, n) != nil }

// Reads lists the values that a node reads when given values stand for those of the
// model: its inputs, or the operands of its gather, which takes rows of the constant of a
// compressed table, or of codes behind DEQUANTIZE, in place of the table. A value may be nil.
func Reads(n *model.Node, given map[*model.Value]garner.Tensor) []*model.Value {
	if n.IsGather() {
		if c, err := callOf(n, given); err == nil {
			if d := dequantised(n, given); d != nil {
				return append([]*model.Value{d.Inputs[0]}, c.Inputs[1:]...)
			}
			return c.Inputs
		}
	}
	return n.Inputs
}

// callOf returns the call of a gather.
func callOf(n *model.Node, given map[*model.Value]garner.Tensor) (operators.Call, error) {
	return operators.CallOf(n, func(v *model.Value) bool {
		_, ok := given[v]
		return ok
	})
}

// A nodeSet is nodes that run, with the values that each reads.
type nodeSet map[*model.Node][]*model.Value

// Needs returns the values without a node or a constant, mostly inputs of the
// graph, that the wanted values need and that are not given, in the order of a
// depth-first search. An input with a default is not among them. A needed node
// that is not evaluated is a *model.Error at that node, wrapping an *Unsupported.
func Needs(m *model.Model, wanted []*model.Value, given map[*model.Value]garner.Tensor) ([]*model.Value, error) {
	_, missing, err := needs(m, wanted, given, aliasesOf(m, given))
	return missing, err
}

// needs also returns the nodes that must run.
func needs(m *model.Model, wanted []*model.Value, given map[*model.Value]garner.Tensor, aliases *aliasing) (nodeSet, []*model.Value, error) {
	nodes := make(nodeSet)
	seen := make(map[*model.Value]bool)
	var missing []*model.Value
	// An explicit stack: a chain of a million nodes must not be a million calls
	// deep.
	var left []*model.Value
	push := func(values []*model.Value) {
		for i := len(values) - 1; i >= 0; i-- {
			if v := values[i]; v != nil && !seen[v] {
				left = append(left, v)
			}
		}
	}
	for push(aliases.all(wanted)); len(left) > 0; {
		v := left[len(left)-1]
		left = left[:len(left)-1]
		if seen[v] {
			continue
		}
		seen[v] = true
		if _, ok := given[v]; ok || v.Constant != nil {
			continue
		}
		if v.From == nil {
			missing = append(missing, v)
			continue
		}
		if _, ok := nodes[v.From]; !ok {
			nodes[v.From] = aliases.all(Reads(v.From, given))
			push(nodes[v.From])
		}
	}
	// Report the first in the order of the model, not of the search.
	var bad *Unsupported
	for n := range m.Nodes() {
		if _, ok := nodes[n]; !ok || Runs(m, n) {
			continue
		}
		if bad == nil {
			bad = &Unsupported{Node: n}
		} else {
			bad.Others++
		}
	}
	if bad == nil {
		return nodes, missing, nil
	}
	bad.Results, bad.Gathers = runnable(m, given)
	return nil, nil, model.InFile(m.Path, model.AtNode(bad.Node, bad))
}

// runnable returns the results and the gathers that need only nodes that are
// evaluated.
func runnable(m *model.Model, given map[*model.Value]garner.Tensor) (results, gathers []string) {
	stuck := make(map[*model.Value]bool)
	for n := range m.Nodes() {
		stops := !Runs(m, n)
		for _, v := range Reads(n, given) {
			stops = stops || v != nil && stuck[v]
		}
		for _, v := range n.Outputs {
			if _, ok := given[v]; !ok && stops && v != nil {
				stuck[v] = true
			}
		}
		if n.IsGather() && !stops {
			gathers = append(gathers, n.Name)
		}
	}
	for _, r := range m.Graph.Outputs {
		if !stuck[r.Value] {
			results = append(results, r.Name)
		}
	}
	return results, gathers
}
