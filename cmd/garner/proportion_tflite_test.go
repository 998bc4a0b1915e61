package main

import (
	"fmt"
	"strings"

	"github.com/garner-go/garner/internal/flattest"
)

// costlyTFLite lists models as costlyONNX does. Parts of a flatbuffer refer to each other by
// offsets of 4 bytes, so one part may be that of a million others.
func costlyTFLite(size int) map[string][]byte {
	const gather, call, cast, other = 0, 1, 2, 3
	codes := []int{36, 31, 53, 98}
	f32 := func(name string, shape ...int) flattest.Tensor { return flattest.Make(name, 0, shape, 0, nil) }
	of := func(tensors []flattest.Tensor, operators []flattest.Operator, in, out []int) []byte {
		return flattest.Build(codes, nil, []flattest.Graph{{Name: "main", Tensors: tensors, Operators: operators, In: in, Out: out}}, nil)
	}
	ids := flattest.Make("ids", 2, []int{2}, 0, nil)
	gathers := func(n, data, at int, tensors []flattest.Tensor) ([]flattest.Tensor, []flattest.Operator) {
		var list []flattest.Operator
		for i := range n {
			list = append(list, flattest.Op(gather, []int{data, at}, []int{len(tensors)}, 23, 0, 0))
			tensors = append(tensors, f32(fmt.Sprint("g", i), 2, 3))
		}
		return tensors, list
	}
	all := map[string][]byte{}
	tensors, operators := gathers(size/130, 0, 1, []flattest.Tensor{f32("x", 5, 3), ids})
	all["gathers"] = of(tensors, operators, []int{0, 1}, []int{2})
	tensors, operators = gathers(size/260, 0, 1, []flattest.Tensor{f32(strings.Repeat("n", size/2), 5, 3), ids})
	all["gathers of one long name"] = of(tensors, operators, []int{0, 1}, []int{2})
	tensors, operators = []flattest.Tensor{f32("x", 5, 3), ids}, nil
	for i := range size / 260 {
		operators = append(operators, flattest.Op(cast, []int{i + 1}, []int{i + 2}, 37, uint8(2), uint8(2)))
		tensors = append(tensors, flattest.Make(fmt.Sprint("c", i), 2, []int{2}, 0, nil))
	}
	n := len(tensors)
	tensors, more := gathers(size/260, 0, n-1, tensors)
	all["gathers at the end of a chain"] = of(tensors, append(operators, more...), []int{0, 1}, []int{n})
	many := make([]int, size/8)
	all["an operator of many inputs and outputs"] = of([]flattest.Tensor{f32("x", 2)}, []flattest.Operator{flattest.Op(other, many, many, 0)}, []int{0}, nil)
	all["many dims"] = of([]flattest.Tensor{f32("x", make([]int, size/4)...)}, nil, nil, nil)

	shared := func(write func(w *flattest.Writer, root *flattest.Place)) []byte {
		w, root := flattest.New(), &flattest.Place{}
		write(w, root)
		return w.Done(root)
	}
	repeat := func(p *flattest.Place, n int) []*flattest.Place {
		list := make([]*flattest.Place, n)
		for i := range list {
			list[i] = p
		}
		return list
	}
	// A model whose subgraphs, tensors and operators are one each, many times.
	parts := func(subgraphs, tensors, operators, inputs, name int) []byte {
		return shared(func(w *flattest.Writer, root *flattest.Place) {
			codes, graphs, code, graph := &flattest.Place{}, &flattest.Place{}, &flattest.Place{}, &flattest.Place{}
			ts, os, t, o, in, nm, shape, ends := &flattest.Place{}, &flattest.Place{}, &flattest.Place{}, &flattest.Place{}, &flattest.Place{}, &flattest.Place{}, &flattest.Place{}, &flattest.Place{}
			w.Table(root, 3, codes, graphs)
			w.Refs(codes, code)
			w.Table(code, uint8(98), nil, 1, 98)
			w.Refs(graphs, repeat(graph, subgraphs)...)
			w.Table(graph, ts, ends, ends, os, nm)
			w.Refs(ts, repeat(t, tensors)...)
			w.Table(t, shape, uint8(0), 0, nm)
			w.Refs(os, repeat(o, operators)...)
			w.Table(o, 0, in, in)
			w.Numbers(in, make([]int, inputs)...)
			w.Bytes(nm, []byte(strings.Repeat("n", name)))
			w.Numbers(shape, 2, 2)
			w.Numbers(ends, 0)
		})
	}
	all["one subgraph many times"] = parts(size/8, size/8, 1, 1, 9)
	all["one tensor many times"] = parts(1, size/4, 1, 1, 9)
	all["one tensor of a long name many times"] = parts(1, size/8, 1, 1, size/2)
	all["one operator many times"] = parts(1, 4, size/4, 1, 9)
	all["one operator of many inputs many times"] = parts(1, 4, size/8, size/8, 9)
	all["one of everything many times"] = parts(size/20, size/20, size/20, size/20, size/20)
	var nested []flattest.Graph
	for i := range 60 {
		nested = append(nested, flattest.Graph{Name: "g", Operators: []flattest.Operator{flattest.Op(call, nil, nil, 16, i+1), flattest.Op(call, nil, nil, 16, i+1)}})
	}
	all["subgraphs that double"] = flattest.Build(codes, nil, append(nested, flattest.Graph{Name: "g", Tensors: []flattest.Tensor{f32(strings.Repeat("n", size), 1)}}), nil)
	var calls []flattest.Operator
	for range size / 100 {
		calls = append(calls, flattest.Op(call, nil, nil, 16, 1))
	}
	tensors, operators = gathers(size/260, 0, 1, []flattest.Tensor{f32("x", 5, 3), ids})
	all["gathers in a subgraph of many calls"] = flattest.Build(codes, nil, []flattest.Graph{{Name: "g", Operators: calls}, {Name: "h", Tensors: tensors, Operators: operators}}, nil)
	inputs := make([]int, size/4)
	tensors = nil
	for i := range 10 {
		tensors = append(tensors, f32(fmt.Sprint("t", i), 1))
		inputs[i] = i
	}
	for i := 10; i < len(inputs); i++ {
		inputs[i] = 9
	}
	all["one input many times"] = of(tensors, nil, inputs, nil)
	// Both ends of a signature are one, many times, beside inputs of which each has a name.
	some := make([]int, size/100)
	tensors = nil
	for i := range some {
		tensors = append(tensors, f32(fmt.Sprint("t", i), 1))
		some[i] = i
	}
	all["inputs of a signature of one end many times"] = flattest.Build(codes, nil, []flattest.Graph{{Name: "main", Tensors: tensors, In: some, Out: []int{0}}}, func(w *flattest.Writer, fields []any) func() {
		defs, def, ends, end, name := &flattest.Place{}, &flattest.Place{}, &flattest.Place{}, &flattest.Place{}, &flattest.Place{}
		fields[7] = defs
		return func() {
			w.Refs(defs, def)
			w.Table(def, ends, ends, name, nil, 0)
			w.Refs(ends, repeat(end, size/8)...)
			w.Table(end, name, 1)
			w.Bytes(name, []byte("e"))
		}
	})
	all["entries of one input"] = shared(func(w *flattest.Writer, root *flattest.Place) {
		codes, graphs, graph, ts, t, in, nm, shape := &flattest.Place{}, &flattest.Place{}, &flattest.Place{}, &flattest.Place{}, &flattest.Place{}, &flattest.Place{}, &flattest.Place{}, &flattest.Place{}
		w.Table(root, 3, codes, graphs)
		w.Refs(codes)
		w.Refs(graphs, repeat(graph, size/16)...)
		w.Table(graph, ts, in, in, nil, nm)
		w.Refs(ts, t)
		w.Table(t, shape, uint8(0), 0, nm)
		w.Numbers(in, 0)
		w.Bytes(nm, []byte("n"))
		w.Numbers(shape, 2)
	})
	return all
}
