package shapes

import (
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// A carried says what is assumed of a parameter that a loop carries from turn to turn: it is
// as the input of the loop, and where a turn has changed it, wider.
type carried struct {
	widened bool   // no elements, and of the dims only those that are not open
	open    []bool // the dims that a turn has changed
	none    bool   // a turn has changed the rank, or the dims change for too long
	now     fact   // what this walk assumes
}

// mostWalks is how often the values are walked. Each walk but the last two widens only what a
// turn was seen to change; the last one but one assumes nothing, so the last finds it kept.
const mostWalks = 4

// assumed is what a walk assumes of a parameter whose first value is first.
func (a *carried) assumed(first fact) fact {
	switch {
	case a.none:
		return fact{dtype: first.dtype, rank: garner.AnyDim}
	case !a.widened:
		return first
	}
	first = first.bare()
	if first.ranked() && len(first.dims) == len(a.open) {
		first.dims = slices.Clone(first.dims)
		for i, open := range a.open {
			if open {
				first.dims[i] = anyExtent
			}
		}
	}
	return first
}

// kept reports whether the last walk has found that each turn keeps what was assumed. Where
// one does not, less is assumed of the next walk.
func (f *inference) kept() bool {
	kept := true
	for v, a := range f.carried {
		have := a.now
		if a.none {
			continue
		}
		for _, from := range v.Takes {
			found := f.of(from)
			if have.dtype == found.dtype && have.holds(found) {
				continue
			}
			kept = false
			switch {
			case f.walks >= mostWalks || !have.ranked() || have.rank != found.rank:
				a.none = true
			default:
				if !a.widened {
					a.widened, a.open = true, make([]bool, len(have.dims))
				}
				for i := range have.dims {
					if !have.dims[i].holds(found.dims[i]) {
						a.open[i] = true
					}
				}
			}
		}
	}
	if !kept && f.walks > mostWalks {
		for _, a := range f.carried {
			a.none = true
		}
	}
	return kept
}

// choices are the operators that give what one of their sub-graphs gives, or their only one, and repeats those
// that give what they are given after any number of turns.
var (
	choices = map[string]bool{
		"If": true, "StatelessIf": true, "Case": true, "StatelessCase": true, "IF": true, "CALL": true, "STABLEHLO_CASE": true, "STABLEHLO_COMPOSITE": true,
	}
	repeats = map[string]bool{"While": true, "StatelessWhile": true, "WHILE": true, "STABLEHLO_WHILE": true}
)

// parameters sets the parameters of a sub-graph that the format's rules for its node know. Others
// are what the file says.
func (f *inference) parameters(n *model.Node, g *model.Graph) {
	set := func(v *model.Value, made fact) { f.set(v, made.refined(v.Spec)) }
	switch {
	case f.model.Format != "ONNX" && (choices[n.Op] || repeats[n.Op]):
		for _, v := range g.Inputs {
			switch len(v.Takes) {
			case 1:
				set(v, f.of(v.Takes[0]))
			case 2: // before the first turn, and after any
				f.carry(v, v.Takes[0])
			}
		}
	case f.model.Format != "ONNX" || n.Domain != "":
	case n.Op == "Loop" && len(g.Inputs) == len(n.Inputs) && len(n.Inputs) >= 2:
		set(g.Inputs[0], fact{dtype: garner.I64, rank: garner.Dim{Max: 1}})
		set(g.Inputs[1], fact{dtype: garner.Bool, rank: garner.Dim{Max: 1}})
		for i, v := range g.Inputs[2:] {
			f.carry(v, n.Inputs[2+i])
		}
	case n.Op == "Scan" && n.Version >= 9 && len(g.Inputs) == len(n.Inputs):
		scan, ok := scanOf(n)
		for i, v := range n.Inputs {
			switch {
			case !ok:
			case i < scan.states:
				f.carry(g.Inputs[i], v)
			default:
				each, _ := without(f.of(v), scan.axis("scan_input_axes", i-scan.states))
				set(g.Inputs[i], each)
			}
		}
	}
}

// carry sets a parameter that takes first, and then what a turn makes of it.
func (f *inference) carry(v, first *model.Value) {
	a := f.carried[v]
	if a == nil {
		a = &carried{}
		f.carried[v] = a
	}
	a.now = a.assumed(f.of(first))
	f.set(v, a.now.refined(v.Spec))
}

// graphs infers the outputs of a node with sub-graphs, whose values are inferred. Those of
// symbols above before belong to one turn.
func (c *call) graphs(before symbol) {
	n := c.node
	switch {
	case slices.ContainsFunc(n.Graphs, func(s model.Subgraph) bool { return s.Graph == nil }):
	case n.Domain == "" && (choices[n.Op] || repeats[n.Op]):
		from := len(n.Graphs)
		if repeats[n.Op] {
			from = 2
		}
		for i, v := range n.Outputs {
			if v != nil && len(v.Takes) == from {
				made := c.of(v.Takes[0])
				for _, from := range v.Takes[1:] {
					made = made.either(c.of(from))
				}
				c.out[i] = outside(made, before)
			}
		}
	case c.model.Format != "ONNX" || n.Domain != "":
	case n.Op == "Loop" && len(n.Graphs) == 1 && len(n.Inputs) >= 2:
		body := n.Graphs[0].Graph
		states := len(n.Inputs) - 2
		if len(body.Inputs) != len(n.Inputs) || len(body.Outputs) < 1+len(n.Outputs) {
			return
		}
		turns := anyExtent
		if m := c.elems(0); len(m) == 1 {
			turns = m[0].meet(anyExtent).plain()
		}
		always := n.Inputs[1] == nil
		if begin := c.elems(1); len(begin) == 1 && begin[0].equals(1) {
			always = true
		}
		for i := range n.Outputs {
			made := outside(c.of(body.Outputs[1+i].Value), before)
			switch {
			case i < states:
				c.out[i] = made.either(c.in[2+i])
			case turns.low < 1 || !always:
				// After no turn, ONNX Runtime makes an empty tensor of the rank that it has inferred itself.
				c.out[i] = fact{dtype: made.dtype, rank: garner.AnyDim}
			case made.ranked():
				c.out[i] = of(made.dtype, append([]number{{low: 0, high: turns.high}}, made.dims...)...)
			default:
				c.out[i] = fact{dtype: made.dtype, rank: garner.AnyDim}
			}
		}
	case n.Op == "Scan" && n.Version >= 9 && len(n.Graphs) == 1:
		body := n.Graphs[0].Graph
		scan, ok := scanOf(n)
		if !ok || len(body.Inputs) != len(n.Inputs) || len(body.Outputs) < len(n.Outputs) {
			return
		}
		turns := anyExtent
		for i := scan.states; i < len(n.Inputs); i++ {
			if _, d := without(c.in[i], scan.axis("scan_input_axes", i-scan.states)); turns.is == 0 && !turns.known() {
				turns = d
			}
		}
		for i := range n.Outputs {
			made := outside(c.of(body.Outputs[i].Value), before)
			if i < scan.states {
				c.out[i] = made.either(c.in[i])
				continue
			}
			axis := scan.axis("scan_output_axes", i-scan.states)
			if c.out[i] = made.as(made.dtype); !made.ranked() {
				continue
			}
			at, ok := axisOf(axis, len(made.dims)+1)
			if !ok {
				c.out[i] = nothing
				continue
			}
			dims := slices.Insert(slices.Clone(made.dims), at, turns)
			if turns.low < 1 { // after no turn, an extent that is known only then is 0
				for j := range dims {
					if j != at {
						dims[j] = dims[j].plain().union(exactly(0))
					}
				}
			}
			c.out[i] = of(made.dtype, dims...)
		}
	}
}

// outside is f with numbers of its own in the place of those that each turn has anew.
func outside(f fact, before symbol) fact {
	f.dims, f.elems = plainAbove(f.dims, before), plainAbove(f.elems, before)
	return f
}

func plainAbove(list []number, before symbol) []number {
	if !slices.ContainsFunc(list, func(n number) bool { return n.is > before }) {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		if list[i].is > before {
			list[i].is = 0
		}
	}
	return list
}

// A scanning is how a Scan of ONNX takes its inputs.
type scanning struct {
	node   *model.Node
	states int
}

func scanOf(n *model.Node) (scanning, bool) {
	scanned, _ := n.Attributes["num_scan_inputs"].(int64)
	states := int64(len(n.Inputs)) - scanned
	return scanning{n, int(states)}, scanned >= 1 && states >= 0
}

// axis gives the axis of a scanned input or output.
func (s scanning) axis(name string, i int) int64 {
	if list, ok := s.node.Attributes[name].([]int64); ok && i < len(list) {
		return list[i]
	}
	return 0
}

// without is a value without an axis, and the extent of the axis.
func without(f fact, axis int64) (fact, number) {
	at, ok := axisOf(axis, len(f.dims))
	if !f.ranked() || !ok {
		return fact{dtype: f.dtype, rank: garner.AnyDim}, anyExtent
	}
	return of(f.dtype, slices.Delete(slices.Clone(f.dims), at, at+1)...), f.dims[at]
}
