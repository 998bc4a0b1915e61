// Values prints what garner knows of every value of models, one JSON object a line for each model.
// The scripts beside it hold that against runtimes.
package main

import (
	"encoding/json"
	"os"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/model"
)

// A value is one value of a model. Dims are ranges; a high end of -1 is none.
type value struct {
	Name  string    `json:"name"`
	DType string    `json:"dtype"`
	Rank  [2]int    `json:"rank"`
	Dims  *[][2]int `json:"dims"`
	Names []string  `json:"names"`
	Op    string    `json:"op"`
	Near  bool      `json:"near"`  // an operand or a result of a gather
	Inner bool      `json:"inner"` // of a sub-graph
}

func main() {
	out := json.NewEncoder(os.Stdout)
	for _, path := range os.Args[1:] {
		m, err := files.OpenModel(path, files.ModelOptions{})
		if err != nil {
			out.Encode(map[string]string{"path": path, "error": err.Error()})
			continue
		}
		out.Encode(map[string]any{"path": path, "values": valuesOf(m)})
		m.Close()
	}
}

func bound(n int) int {
	if n == garner.Unbounded {
		return -1
	}
	return n
}

func valuesOf(m *model.Model) []value {
	var list []value
	seen, near := map[*model.Value]bool{}, map[*model.Value]bool{}
	for n := range m.Gathers() {
		for _, v := range append(n.Inputs, n.Outputs...) {
			if v != nil {
				near[v] = true
			}
		}
	}
	add := func(v *model.Value, inner bool) {
		if v == nil || seen[v] {
			return
		}
		seen[v] = true
		one := value{Name: v.Name, Rank: [2]int{v.Spec.Rank.Min, bound(v.Spec.Rank.Max)}, Names: v.DimNames, Near: near[v], Inner: inner}
		if v.From != nil {
			one.Op = v.From.Op
		}
		if v.Spec.DType != garner.Invalid {
			one.DType = v.Spec.DType.String()
		}
		if v.Spec.Rank.Known() {
			dims := make([][2]int, len(v.Spec.Dims))
			for i, d := range v.Spec.Dims {
				dims[i] = [2]int{d.Min, bound(d.Max)}
			}
			one.Dims = &dims
		}
		list = append(list, one)
	}
	var walk func(g *model.Graph, inner bool)
	walk = func(g *model.Graph, inner bool) {
		for _, v := range g.Inputs {
			add(v, inner)
		}
		for _, n := range g.Nodes {
			for _, v := range append(n.Inputs, n.Outputs...) {
				add(v, inner)
			}
			for _, s := range n.Graphs {
				walk(s.Graph, true)
			}
		}
	}
	walk(m.Graph, false)
	return list
}
