package run_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// TestRandomGraphs evaluates random graphs of views, arithmetic and gathers with
// surveys that leave all, some and none of their tensors to the run: all answer alike.
func TestRandomGraphs(t *testing.T) {
	refused, done := 0, 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 16))
		m := randomGraph(r)
		wanted := []*model.Value{m.Graph.Outputs[len(m.Graph.Outputs)-1].Value, m.Graph.Outputs[r.IntN(len(m.Graph.Outputs))].Value}
		answer := func(surveyed float64) string {
			defer run.SetSurveyed(surveyed)()
			got, err := run.Values(context.Background(), m, wanted, nil, 1<<20)
			if err != nil {
				return "refused" // a survey may find another of several reasons first
			}
			return got[0].DType().String() + got[0].Text() + got[1].Text()
		}
		want := answer(math.MaxInt)
		for _, surveyed := range []float64{-1, 16, 100} {
			if got := answer(surveyed); got != want {
				t.Errorf("seed %d, %v: %s; want %s", seed, surveyed, got, want)
			}
		}
		if done++; want == "refused" {
			refused++
		}
	}
	if refused > done/2 {
		t.Errorf("%d of %d graphs are refused", refused, done)
	}
}

// randomGraph is a chain of nodes, each of which reads results before it.
func randomGraph(r *rand.Rand) *model.Model {
	var nodes []*model.Node
	values := []any{i64([]int{2, 3}, 1, -2, 3, 4, 5, 6), i64([]int{3}, 0, 1, 2), i64(nil, 7)}
	pick := func() any { return values[len(values)-1-r.IntN(min(len(values), 4))] }
	small := func(n int) garner.Tensor { // numbers of a shape or of axes
		list := make([]int64, n)
		for i := range list {
			list[i] = int64(1 + r.IntN(3))
		}
		return vec(list...)
	}
	for range 2 + r.IntN(8) {
		var n *model.Node
		switch r.IntN(13) {
		case 0:
			n = node("Expand", 13, nil, pick(), small(1+r.IntN(3)))
		case 1:
			n = node("Transpose", 13, nil, pick())
		case 2:
			n = node("Slice", 13, nil, pick(), vec(int64(-1)), vec(int64(math.MinInt64)), vec(int64(0)), vec(int64(-1)))
		case 3, 4:
			n = node([]string{"Add", "Sub", "Mul", "Max"}[r.IntN(4)], 13, nil, pick(), pick())
		case 5:
			less := node("Less", 13, nil, pick(), pick())
			nodes = append(nodes, less)
			n = node("Where", 16, nil, less.Outputs[0], pick(), pick())
		case 6:
			p := pick()
			n = node("Concat", 13, attrs{"axis": int64(0)}, p, p)
		case 7:
			n = node("Reshape", 13, nil, pick(), vec(int64(-1)))
		case 8:
			n = node("Shape", 13, nil, pick())
		case 9: // in -6 … 5, inside an axis of 6
			low := node("Clip", 13, nil, pick(), i64(nil, -6), i64(nil, 5))
			nodes = append(nodes, low)
			n = node("onnx.Gather-13", 13, nil, i64([]int{6}, 10, 11, 12, 13, 14, 15), low.Outputs[0])
		case 10:
			n = node("Range", 11, nil, i64(nil, 0), i64(nil, int64(r.IntN(20))), i64(nil, 2))
		case 11:
			n = node("Unsqueeze", 13, nil, pick(), vec(int64(0)))
		case 12:
			n = node("Identity", 13, nil, pick())
		}
		nodes = append(nodes, n)
		values = append(values, n.Outputs[0])
	}
	return of("ONNX", nodes...)
}
