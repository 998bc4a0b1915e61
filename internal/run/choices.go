package run

import (
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/trail"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// choices are the operators that take the results of one of their sub-graphs, by format: those that a condition
// chooses of two, and those that a number chooses of several, the last where it is outside.
var choices = map[string]struct{ two, several []string }{
	"ONNX":           {two: []string{"If"}},
	"OpenVINO IR":    {two: []string{"If"}},
	"TFLite":         {two: []string{"IF"}},
	tensorflowFormat: {two: []string{"If", "StatelessIf"}, several: []string{"Case", "StatelessCase"}},
	"StableHLO":      {two: []string{"if"}, several: []string{"case"}},
}

// An aliasing finds the values that stand for others: the result of a branch for that of its node, where a
// constant or a given tensor chooses the branch, an input of the node for a parameter of the branch, and a
// constant that lies apart for its copies, so that a gather of a copy reads rows of it too.
type aliasing struct {
	model  *model.Model
	given  map[*model.Value]garner.Tensor
	known  map[*model.Value]*model.Value // the next, one step on
	taken  map[*model.Node]*model.Graph  // the branches that were asked for; nil for a node without a constant choice
	copies *trail.Trail[*model.Value]    // the constant in several places that a value copies; nil for others
}

func aliasesOf(m *model.Model, given map[*model.Value]garner.Tensor) *aliasing {
	return &aliasing{m, given, make(map[*model.Value]*model.Value), make(map[*model.Node]*model.Graph), trail.New(func(v *model.Value) *model.Value {
		if _, ok := given[v]; ok {
			return nil
		}
		return v.Copied()
	}, func(v *model.Value) *model.Value {
		if _, ok := given[v]; ok || v.Constant == nil || !readInPlace(v.Constant) {
			return nil
		}
		return v
	}, nil)}
}

// of gives the value that stands for another; itself where none does.
func (a *aliasing) of(v *model.Value) *model.Value {
	for v != nil && v.Constant == nil {
		if _, ok := a.given[v]; ok {
			break
		}
		to, ok := a.known[v]
		if !ok && v.From != nil && len(v.From.Graphs) > 0 {
			i := slices.Index(v.From.Outputs, v)
			if g := a.branch(v.From); g != nil && i < len(g.Outputs) && g.Outputs[i].Value != nil {
				to, ok = g.Outputs[i].Value, true
				a.known[v] = to
			}
		}
		if v.Copied() != nil {
			if whole := a.copies.Of(v); whole != nil {
				to, ok = whole, true
			}
		}
		if !ok || to == v {
			break
		}
		v = to
	}
	return v
}

// all gives the values that stand for a list, which is not changed.
func (a *aliasing) all(list []*model.Value) []*model.Value {
	for i, v := range list {
		if to := a.of(v); to != v {
			list = slices.Clone(list)
			for j := i; j < len(list); j++ {
				list[j] = a.of(list[j])
			}
			break
		}
	}
	return list
}

// Branches finds the sub-graphs whose results nodes take. A node inside of a branch is asked for after the
// node of that branch.
type Branches struct{ aliases *aliasing }

// BranchesOf finds those of a model that constants choose.
func BranchesOf(m *model.Model) *Branches { return &Branches{aliasesOf(m, nil)} }

// Of gives the sub-graph whose results a node takes, nil where no constant chooses one.
func (b *Branches) Of(n *model.Node) *model.Graph { return b.aliases.branch(n) }

// Choosing reports whether a node takes the results of one of its sub-graphs, by a condition or a number.
func (b *Branches) Choosing(n *model.Node) bool {
	ops := choices[b.aliases.model.Format]
	return n.Domain == "" && (slices.Contains(ops.two, n.Op) || slices.Contains(ops.several, n.Op))
}

// branch gives the sub-graph whose results a node takes, where that is known before the run.
func (a *aliasing) branch(n *model.Node) *model.Graph {
	if g, ok := a.taken[n]; ok {
		return g
	}
	a.taken[n] = nil // a condition that depends on the node itself is not known
	g := a.choose(n)
	a.taken[n] = g
	if g == nil {
		return nil
	}
	for _, p := range g.Inputs {
		if p.From == nil && p.Constant == nil && len(p.Takes) == 1 && !p.Turn {
			a.known[p] = p.Takes[0]
		}
	}
	return g
}

func (a *aliasing) choose(n *model.Node) *model.Graph {
	ops := choices[a.model.Format]
	two := slices.Contains(ops.two, n.Op)
	if n.Domain != "" || len(n.Inputs) == 0 || n.Inputs[0] == nil || !two && !slices.Contains(ops.several, n.Op) || two && len(n.Graphs) != 2 {
		return nil
	}
	number, ok := a.scalar(n.Inputs[0])
	if !ok {
		return nil
	}
	if !two {
		if number < 0 || number >= int64(len(n.Graphs)) {
			number = int64(len(n.Graphs)) - 1
		}
		return n.Graphs[number].Graph
	}
	at := 0
	if strings.HasPrefix(n.Graphs[1].Name, "then") {
		at = 1
	}
	if number == 0 {
		at = 1 - at
	}
	return n.Graphs[at].Graph
}

// scalar reads a bool or an integer that is constant or given, also behind nodes that leave elements as they are.
func (a *aliasing) scalar(v *model.Value) (number int64, ok bool) {
	const most = 64
	for range most {
		if v = a.of(v); v == nil {
			return 0, false
		}
		t, given := a.given[v]
		if !given && v.Constant == nil {
			if v.From == nil {
				return 0, false
			}
			effect, inputs := operators.EffectOf(v.From)
			if effect != operators.Reshaped || len(inputs) == 0 {
				return 0, false
			}
			v = inputs[0]
			continue
		}
		err := mapped.Guard(func() (err error) {
			if !given {
				shape, known := v.Constant.Spec.Shape()
				if n, fits := shape.Len(); !known || !fits || n != 1 {
					return nil
				}
				if t, err = v.Constant.Tensor(); err != nil {
					return err
				}
			}
			if t.Len() != 1 || t.Rank() > 0 && a.model.Format == tensorflowFormat { // which asks whether such a tensor is empty
				return nil
			}
			return t.Guard(func(t garner.Tensor) error {
				if t, err = t.Reshape(1); err != nil {
					return err
				}
				if t.DType() == garner.Bool {
					list, err := garner.Values[bool](t)
					if ok = err == nil; ok && list[0] {
						number = 1
					}
					return err
				}
				if !t.DType().IsInteger() {
					return nil
				}
				i, err := t.Int(0)
				number, ok = int64(i.Bits), err == nil
				return err
			})
		})
		return number, ok && err == nil
	}
	return 0, false
}
