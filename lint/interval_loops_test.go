package lint

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// A body is a graph in which nodes are made.
type body struct{ *model.Graph }

// add makes the scalar result of a node.
func (b body) add(op string, in ...*model.Value) *model.Value {
	return b.keep(made(op, "i64[]", in...))
}

// keep adds the node of a value.
func (b body) keep(v *model.Value) *model.Value {
	v.Name = fmt.Sprint(v.From.Op, len(b.Nodes))
	b.Nodes = append(b.Nodes, v.From)
	return v
}

// gather gathers a row of a table of some rows.
func (b body) gather(name string, rows int, at *model.Value) {
	n := &model.Node{Name: name, Op: "GatherND", Operator: "onnx.GatherND-13"}
	n.Inputs = []*model.Value{given(fmt.Sprintf("f32[%d]", rows)), b.keep(made("Unsqueeze", "i64[1]", at, i64([]int{1}, 0)))}
	n.Outputs = []*model.Value{{Name: name, Spec: model.Unknown, From: n}}
	b.Nodes = append(b.Nodes, n)
}

// loop makes a Loop whose body makes what it carries on of what it carries. It gives the
// outputs.
func (b body) loop(name string, inits []*model.Value, of func(b body, p []*model.Value) []*model.Value) []*model.Value {
	inner := body{&model.Graph{}}
	n := &model.Node{Name: name, Op: "Loop", Inputs: inits, Graphs: []model.Subgraph{{Name: "body", Graph: inner.Graph}}}
	for i, v := range inits {
		inner.Inputs = append(inner.Inputs, &model.Value{Name: fmt.Sprint(name, i), Spec: v.Spec, Takes: []*model.Value{v}})
	}
	for i, end := range of(inner, inner.Inputs) {
		if p := inner.Inputs[i]; end != p {
			p.Takes = append(p.Takes, end)
		}
		inner.Outputs = append(inner.Outputs, model.Result{Name: end.Name, Value: end})
		n.Outputs = append(n.Outputs, &model.Value{Name: fmt.Sprint(name, "_", i), Spec: inits[i].Spec, From: n, Takes: []*model.Value{end, inits[i]}})
	}
	b.Nodes = append(b.Nodes, n)
	return n.Outputs
}

// counting makes a Loop that counts by one, modulo some number.
func (b body) counting(name string, from *model.Value, modulo int64) *model.Value {
	return b.loop(name, []*model.Value{from}, func(b body, p []*model.Value) []*model.Value {
		return []*model.Value{b.add("Mod", b.add("Add", p[0], i64(nil, 1)), i64(nil, modulo))}
	})[0]
}

// shuffled gives the nodes of a graph and of its sub-graphs another order, in which each
// still comes after those that it reads.
func shuffled(r *rand.Rand, g *model.Graph) {
	r.Shuffle(len(g.Nodes), func(i, j int) { g.Nodes[i], g.Nodes[j] = g.Nodes[j], g.Nodes[i] })
	sorted, err := model.Sort(g.Nodes)
	if err != nil {
		panic(err)
	}
	g.Nodes = sorted
	for _, n := range sorted {
		for _, s := range n.Graphs {
			shuffled(r, s.Graph)
		}
	}
}

// TestLoops bounds what loops carry, and finds the same whatever the order of nodes and
// of gathers is.
func TestLoops(t *testing.T) {
	zero, one := i64(nil, 0), i64(nil, 1)
	for _, tt := range []struct {
		name string
		want []string // findings of L.3, sorted
		make func(b body)
	}{
		{"Mod bounds what is carried", nil, func(b body) {
			b.loop("l", []*model.Value{zero}, func(b body, p []*model.Value) []*model.Value {
				s := b.add("Add", p[0], one)
				q := b.add("Mod", s, i64(nil, 8))
				b.gather("p", 8, p[0])
				b.gather("s", 9, s)
				b.gather("q", 8, q)
				return []*model.Value{q}
			})
		}},
		{"and not within a shorter table", []string{"p: the indices may be 0 to 7, and axis 0 of data has 7", "q: the indices may be 0 to 7, and axis 0 of data has 7", "s: the indices may be 1 to 8, and axis 0 of data has 8"}, func(b body) {
			b.loop("l", []*model.Value{zero}, func(b body, p []*model.Value) []*model.Value {
				s := b.add("Add", p[0], one)
				q := b.add("Mod", s, i64(nil, 8))
				b.gather("p", 7, p[0])
				b.gather("s", 8, s)
				b.gather("q", 7, q)
				return []*model.Value{q}
			})
		}},
		{"Min bounds a sum that would leave the type", nil, func(b body) {
			out := b.loop("l", []*model.Value{zero}, func(b body, p []*model.Value) []*model.Value {
				b.gather("p", 50, p[0])
				return []*model.Value{b.add("Min", b.add("Add", p[0], i64(nil, 3)), i64(nil, 49))}
			})
			b.gather("out", 50, out[0])
		}},
		{"Where begins anew", nil, func(b body) {
			b.loop("l", []*model.Value{zero}, func(b body, p []*model.Value) []*model.Value {
				b.gather("p", 11, p[0])
				less := b.keep(made("Less", "bool[]", p[0], i64(nil, 10)))
				return []*model.Value{b.add("Where", less, b.add("Add", p[0], one), zero)}
			})
		}},
		{"a quotient only falls", nil, func(b body) {
			b.loop("l", []*model.Value{i64(nil, 100)}, func(b body, p []*model.Value) []*model.Value {
				b.gather("p", 101, p[0])
				return []*model.Value{b.add("Div", p[0], i64(nil, 2))}
			})
		}},
		{"a counter is not bounded", []string{`p: the indices come from the parameter "l0" and nothing bounds them`, `q: the indices come from the parameter "l0" and nothing bounds them`}, func(b body) {
			b.loop("l", []*model.Value{zero}, func(b body, p []*model.Value) []*model.Value {
				b.gather("p", 8, p[0])
				q := b.add("Add", p[0], one)
				b.gather("q", 8, q)
				return []*model.Value{q}
			})
		}},
		{"the first turn has the input", []string{`p: the indices come from the input "in" and nothing bounds them`}, func(b body) {
			b.Inputs = append(b.Inputs, given("i64[]"))
			b.loop("l", b.Inputs, func(b body, p []*model.Value) []*model.Value {
				b.gather("p", 8, p[0])
				q := b.add("Mod", p[0], i64(nil, 8))
				b.gather("q", 8, q)
				return []*model.Value{q}
			})
		}},
		{"carried unchanged", nil, func(b body) {
			b.loop("l", []*model.Value{i64(nil, 7)}, func(b body, p []*model.Value) []*model.Value {
				q := p[0]
				for range 20 {
					q = b.add("Identity", q)
				}
				b.gather("p", 8, p[0])
				b.gather("q", 8, q)
				return []*model.Value{q}
			})
		}},
		{"values change places", nil, func(b body) {
			b.loop("l", []*model.Value{zero, i64(nil, 7), i64(nil, 3), one, one}, func(b body, p []*model.Value) []*model.Value {
				for i, v := range p {
					b.gather(fmt.Sprint("p", i), 8, v)
				}
				return append(slices.Clone(p[1:]), b.add("Mod", p[0], i64(nil, 5)))
			})
		}},
		{"one that changes places with an input", []string{`a: the indices come from the input "in" and nothing bounds them`, `b: the indices come from the input "in" and nothing bounds them`}, func(b body) {
			b.Inputs = append(b.Inputs, given("i64[]"))
			b.loop("l", []*model.Value{zero, b.Inputs[0]}, func(b body, p []*model.Value) []*model.Value {
				b.gather("a", 8, p[0])
				b.gather("b", 8, p[1])
				return []*model.Value{p[1], p[0]}
			})
		}},
		{"loops in loops", nil, func(b body) {
			b.loop("l", []*model.Value{zero}, func(b body, p []*model.Value) []*model.Value {
				b.gather("p", 8, p[0])
				out := b.loop("m", p, func(b body, q []*model.Value) []*model.Value {
					b.gather("q", 8, q[0])
					at := b.counting("n", q[0], 8)
					b.gather("at", 8, at)
					return []*model.Value{at}
				})
				return []*model.Value{b.counting("o", b.counting("k", out[0], 6), 7)}
			})
		}},
		{"an outer value that grows in the inner loop", []string{`q: the indices come from the parameter "l0" and nothing bounds them`}, func(b body) {
			b.loop("l", []*model.Value{zero}, func(b body, p []*model.Value) []*model.Value {
				return b.loop("m", p, func(b body, q []*model.Value) []*model.Value {
					b.gather("q", 8, q[0])
					return []*model.Value{b.add("Add", q[0], one)}
				})
			})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for seed := range uint64(40) {
				m := &model.Model{Path: "m.onnx", Format: "ONNX", Graph: &model.Graph{}}
				tt.make(body{m.Graph})
				if seed > 0 {
					shuffled(rand.New(rand.NewPCG(seed, 0)), m.Graph)
				}
				var got []string
				for _, f := range findings(t, m, "L.3", Options{}) {
					text, _, _ := strings.Cut(f.Message, "; with one outside")
					got = append(got, f.Node.Name+": "+text)
				}
				slices.Sort(got)
				if !slices.Equal(got, tt.want) {
					t.Fatalf("order %d: %q, not %q", seed, got, tt.want)
				}
			}
		})
	}
}

// TestLoopOfConstants finds constants that a loop carries unchanged, as those that it
// does not carry.
func TestLoopOfConstants(t *testing.T) {
	m := &model.Model{Path: "m.onnx", Format: "ONNX", Graph: &model.Graph{}}
	body{m.Graph}.loop("l", []*model.Value{i64(nil, 9)}, func(b body, p []*model.Value) []*model.Value {
		b.gather("p", 8, p[0])
		return []*model.Value{b.add("Identity", p[0])}
	})
	if all := findings(t, m, "L.2", Options{}); len(all) != 1 || !strings.Contains(all[0].Message, "reach 9") {
		t.Errorf("%v", all)
	}
}

// TestNestsOfLoops holds how many values are computed for nested loops, and for loops behind loops
// in a loop: as often as loop says for each, however deep it stands.
func TestNestsOfLoops(t *testing.T) {
	var nest func(b body, p *model.Value, depth int) *model.Value
	nest = func(b body, p *model.Value, depth int) *model.Value {
		if depth == 0 {
			return b.add("Add", p, i64(nil, 1))
		}
		return b.loop(fmt.Sprint("l", depth), []*model.Value{p}, func(b body, q []*model.Value) []*model.Value {
			b.gather("at", 8, q[0])
			return []*model.Value{nest(b, q[0], depth-1)}
		})[0]
	}
	deep := &model.Graph{}
	nest(body{deep}, i64(nil, 0), 500)
	wide := &model.Graph{}
	body{wide}.loop("l", []*model.Value{i64(nil, 0)}, func(b body, p []*model.Value) []*model.Value {
		v := p[0]
		for range 3000 {
			v = b.counting("m", b.add("Sub", v, i64(nil, 1)), 8)
			b.gather("at", 8, v)
		}
		return []*model.Value{v}
	})
	ring := &model.Graph{}
	body{ring}.loop("l", slices.Repeat([]*model.Value{i64(nil, 0)}, 4000), func(b body, p []*model.Value) []*model.Value {
		var next []*model.Value
		for i, v := range p {
			b.gather("at", 8, v)
			next = append(next, b.add("Add", p[(i+1)%len(p)], i64(nil, 1)))
		}
		return next
	})
	for name, g := range map[string]*model.Graph{"deep": deep, "wide": wide, "ring": ring} {
		m := &model.Model{Path: "m.onnx", Format: "ONNX", Graph: g}
		l := newLinter(t.Context(), m)
		for n := range m.Gathers() {
			if _, err := l.bounds(n.Inputs[1]); err != nil {
				t.Error(err)
			}
		}
		t.Logf("%s: %d of %d values", name, l.computed, len(l.ranges))
		if most := (2 + upWalks + narrowWalks) * len(l.ranges); l.computed > most || l.computed < len(l.ranges) {
			t.Errorf("%s: %d values are computed %d times", name, len(l.ranges), l.computed)
		}
		if _, err := Model(t.Context(), m, Options{}); err != nil {
			t.Error(err)
		}
	}
}

// TestIntervalsOfLoops holds the law of bounds in loops: whatever a turn computes lies
// in its interval.
func TestIntervalsOfLoops(t *testing.T) {
	turns := 0
	for seed := range uint64(4000) {
		turns += checkLoop(t, seed)
		if t.Failed() {
			return
		}
	}
	if turns < 4000 {
		t.Errorf("%d turns", turns)
	}
}

// FuzzIntervalsOfLoops is TestIntervalsOfLoops with other seeds.
func FuzzIntervalsOfLoops(f *testing.F) {
	f.Add(uint64(1 << 40))
	f.Fuzz(func(t *testing.T, seed uint64) { checkLoop(t, seed) })
}

// checkLoop makes a random body, carries some of its values, and runs it. It gives the
// number of turns after the first.
func checkLoop(t *testing.T, seed uint64) (turns int) {
	g := &graphMaker{
		Rand:  rand.New(rand.NewPCG(seed, 5)),
		Model: &model.Model{Path: "m", Format: []string{"ONNX", "OpenVINO IR"}[seed%2], Graph: &model.Graph{}},
		given: map[*model.Value]garner.Tensor{}, results: map[*model.Value]garner.Tensor{}, tried: map[string]int{},
	}
	for range 4 + g.IntN(3) {
		g.leaf()
	}
	for range 4 + g.IntN(10) {
		g.node()
	}
	// A parameter takes its first value, and one of the same type and shape.
	type carry struct{ to, from *model.Value }
	var carries []carry
	for _, p := range g.Graph.Inputs {
		like := slices.DeleteFunc(slices.Clone(g.values), func(v *model.Value) bool {
			return v == p || v.Constant != nil || g.results[v].DType() != g.results[p].DType() || !slices.Equal(g.results[v].Shape(), g.results[p].Shape())
		})
		if len(like) == 0 || g.IntN(5) == 0 {
			continue
		}
		from := like[g.IntN(len(like))]
		p.Takes = []*model.Value{held(g.given[p]), from}
		carries = append(carries, carry{p, from})
	}
	l := newLinter(context.Background(), g.Model)
	now := g.results
	for range 12 {
		for _, v := range g.values {
			b, err := l.bounds(v)
			if err != nil {
				t.Fatal(err)
			}
			if err := contains(b, now[v]); err != nil {
				t.Fatalf("seed %d, turn %d: %v of %s\n%s", seed, turns, err, v.Name, g)
			}
		}
		if len(carries) == 0 {
			return turns
		}
		for _, c := range carries {
			g.given[c.to] = now[c.from]
		}
		var computed []*model.Value
		next := map[*model.Value]garner.Tensor{}
		for _, v := range g.values {
			if v.From != nil {
				computed = append(computed, v)
			} else if next[v] = now[v]; v.Constant == nil {
				next[v] = g.given[v]
			}
		}
		results, err := run.Values(context.Background(), g.Model, computed, g.given, 1<<20)
		if err != nil {
			return turns // such as an index outside
		}
		for i, v := range computed {
			if next[v] = results[i]; !slices.Equal(results[i].Shape(), now[v].Shape()) {
				return turns // what the model says of shapes held for the first turn
			}
		}
		now = next
		turns++
	}
	return turns
}
